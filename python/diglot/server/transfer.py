"""Importing and exporting files."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

import msgspec

from diglot.errors import DiglotError
from diglot.formats import FORMATS
from diglot.memory import Progress
from diglot.server import schemas
from diglot.server.errors import ApiError, from_diglot
from diglot.server.operation import API, Call, Operation, Stream, body_parts
from diglot.transfer import ExportReport

__all__ = ["OPERATIONS"]

# Bytes that are written to a file, or to a client, at a time.
_PIECE = 1 << 20

# Bytes of an export that wait for the client, half of them, besides what the system keeps.
_PIPED = 1 << 18

# Exports at a time: fewer than the threads that asyncio has, with one processor five.
_MOST_EXPORTS = 3

# Problems that are in an answer, which is made in one go on the event loop.
_MOST_PROBLEMS = 1000

_LINES = "application/x-ndjson"


class _TooManyError(Exception):
    pass


async def import_file(call: Call) -> Any:
    query = call.query
    namespace = call.access.namespace_to_write(query.namespace)
    directory = TemporaryDirectory(prefix="diglot-import-")
    try:
        path = Path(directory.name, _file_name(query.filename))
        await _receive(call, path)
        call.guard.watch(call.receive)
        if _LINES in call.header("accept"):
            return Stream(_LINES, _import_lines(call, path, namespace, directory))
        call.guard.restart(call.service.limits.max_import_time)
        return await _import(call, path, namespace, None)
    except BaseException:
        directory.cleanup()
        raise


def _file_name(name: str) -> str:
    """A name for the file whose ending tells the format, as that of the client's file does."""
    return "import" + "".join(re.findall(r"\.[A-Za-z0-9]{1,8}(?=\.|$)", name)[-2:])


async def _receive(call: Call, path: Path) -> None:
    """Writes the body of a request to a file."""
    limits = call.service.limits
    until = monotonic() + limits.max_import_time
    pending = bytearray()
    with path.open("wb", buffering=0) as file:
        async with aclosing(body_parts(call.scope, call.receive, limits.max_import)) as parts:
            async for part in parts:
                # A client may take long for a large file, but not make the server wait.
                call.guard.restart(min(limits.max_time, max(0.0, until - monotonic())))
                pending += part
                if len(pending) >= _PIECE:
                    await asyncio.to_thread(file.write, bytes(pending))
                    pending.clear()
        await asyncio.to_thread(file.write, bytes(pending))


async def _import(
    call: Call,
    path: Path,
    namespace: str | None,
    told: Progress | None,
) -> dict[str, Any]:
    """Adds the entries of a file. Returns the report."""
    query = call.query
    most = call.service.limits.max_import_entries

    def progress(done: int, total: int | None, entries: int) -> None:
        if entries > most:
            raise _TooManyError
        if told is not None:
            told(done, total, entries)

    options = {
        name: getattr(query, name)
        for name in ("source_language", "encoding", "delimiter", "fuzzy")
        if getattr(query, name) is not None
    }
    if query.target_language is not None:
        options["target_languages"] = query.target_language
    try:
        report = await call.service.store.import_file(
            path,
            format=query.format,
            domain=query.domain,
            namespace=namespace,
            duplicates=query.duplicates,
            strict=query.strict,
            dry_run=query.dry_run,
            progress=progress,
            **options,
        )
    except _TooManyError:
        message = f"the file has more than the {most:,} entries that are allowed"
        raise ApiError(422, "too_many", message) from None
    except DiglotError as error:
        failure = from_diglot(error)
        # The client knows its file by another name than the server does.
        failure.detail.message = str(error).replace(str(path), query.filename or "the file")
        raise failure from None
    problems = report.problems[:_MOST_PROBLEMS]
    return replace(report, path=query.filename, problems=problems).to_dict()


async def _import_lines(
    call: Call, path: Path, namespace: str | None, directory: TemporaryDirectory[str]
) -> AsyncGenerator[bytes, None]:
    """The progress of an import, and its report or what went wrong, a line each."""
    changed = asyncio.Event()
    latest: dict[str, Any] = {}

    def told(done: int, total: int | None, entries: int) -> None:
        latest.update(bytes_read=done, bytes_total=total, entries=entries)
        changed.set()

    work = asyncio.ensure_future(_import(call, path, namespace, told))
    work.add_done_callback(lambda _: changed.set())
    try:
        while not work.done():
            await changed.wait()
            changed.clear()
            if latest and not work.done():
                yield msgspec.json.encode({"progress": latest}) + b"\n"
        try:
            yield msgspec.json.encode({"report": work.result()}) + b"\n"
        except ApiError as error:
            yield error.body() + b"\n"
    finally:
        work.cancel()
        await asyncio.wait([work])
        directory.cleanup()


async def export_file(call: Call) -> Stream:
    query = call.query
    if query.format not in FORMATS:
        message = f"format is {query.format!r}; allowed are {', '.join(FORMATS)}"
        raise ApiError(422, "invalid_value", message, field="format")
    namespace = call.access.namespace_to_read(query.namespace)
    _check_exports(call)
    call.guard.restart(call.service.limits.max_import_time)
    pieces = _export(call, namespace)
    # What is wrong from the start has to be said before the answer begins.
    await anext(pieces)
    # XLIFF 2 has no endings of its own, since those of XLIFF stand for what is written mostly.
    ending = next(iter(FORMATS[query.format]), "xlf")
    disposition = f'attachment; filename="export.{ending}"'
    headers = (("content-disposition", disposition),)
    return Stream("application/octet-stream", pieces, headers)


def _check_exports(call: Call) -> None:
    """Each export keeps a thread for as long as its client takes to read it."""
    running = list(call.service.exports.values())
    if call.access.name is not None and call.access.name in running:
        message = "this key has an export under way; begin the next when it has ended"
        raise ApiError(429, "export_running", message, headers={"retry-after": "1"})
    if len(running) >= _MOST_EXPORTS:
        message = f"{len(running)} exports are under way, which is all that there may be; try again"
        raise ApiError(503, "busy", message, headers={"retry-after": "1"})


async def _export(call: Call, namespace: str | None) -> AsyncGenerator[bytes, None]:
    """The bytes of a file while it is written, after an empty piece when there are some.

    It is written into a pipe, which makes the writer wait for the client.
    """
    query = call.query
    end, start = os.pipe()
    work = asyncio.ensure_future(
        call.service.store.export_file(
            f"/dev/fd/{start}",
            format=query.format,
            source_language=query.source_language,
            target_language=query.target_language,
            domain=query.domain,
            namespace=namespace,
        )
    )
    call.service.exports[work] = call.access.name

    def ended(work: asyncio.Future[ExportReport]) -> None:
        os.close(start)
        del call.service.exports[work]
        # Nobody else asks for the error of an export whose client hung up.
        if not work.cancelled():
            work.exception()

    work.add_done_callback(ended)
    reader = asyncio.StreamReader(_PIPED)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(end, "rb", 0)
    )
    try:
        piece = await reader.read(_PIECE)
        if not piece:
            _check_export(work)
        yield b""
        while piece:
            yield piece
            piece = await reader.read(_PIECE)
        _check_export(work)
    finally:
        # This ends the writer, too, if it is not done: it can write no more.
        transport.close()


def _check_export(work: asyncio.Future[ExportReport]) -> None:
    try:
        work.result()
    except DiglotError as error:
        raise from_diglot(error) from None


async def formats(call: Call) -> list[dict[str, Any]]:
    return [{"name": name, "endings": endings} for name, endings in FORMATS.items()]


OPERATIONS = [
    Operation(
        method="POST",
        path=f"{API}/import",
        name="import_file",
        handler=import_file,
        summary="Adds the entries of a file, which is the body, or after an error none",
        right="write",
        upload=True,
        query=schemas.ImportRequest,
        response=schemas.ImportReport,
        lines=schemas.ImportLine,
    ),
    Operation(
        method="GET",
        path=f"{API}/export",
        name="export_file",
        handler=export_file,
        summary="The entries as a file",
        query=schemas.ExportRequest,
        media_type="application/octet-stream",
    ),
    Operation(
        method="GET",
        path=f"{API}/formats",
        name="formats",
        handler=formats,
        summary="The formats of files, with the endings of their names",
        response=list[schemas.Format],
    ),
]
