"""Importing and exporting files."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncGenerator, Collection, Iterator
from contextlib import ExitStack, aclosing, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from time import monotonic
from typing import Any, BinaryIO

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

# Imports at a time. Each has its file on the disk, and then an index of it in memory.
_MOST_IMPORTS = 4

# Problems that are in an answer, which is made in one go on the event loop.
_MOST_PROBLEMS = 1000

_LINES = "application/x-ndjson"


class _TooManyError(Exception):
    pass


async def import_file(call: Call) -> Any:
    query = call.query
    namespaces = call.access.namespaces_to_write(query.namespace)
    if query.format is not None:
        _check_format(query.format, schemas.READ)
    if query.duplicates != "keep" and not call.access.reads(namespaces):
        # The report says which entries are there.
        message = f"duplicates is {query.duplicates}, which needs the right to read, too; only keep"
        raise ApiError(403, "forbidden", f"{message} does not", field="duplicates")
    with ExitStack() as stack:
        path, file = stack.enter_context(_place(call))
        await _receive(call, file)
        call.guard.watch(call.receive)
        if _LINES in (call.header("accept") or ""):
            lines = _import_lines(call, path, namespaces, stack.pop_all())
            await anext(lines)
            return Stream(_LINES, lines)
        call.guard.restart(call.service.limits.max_import_time)
        return await _import(call, path, namespaces, None)


def _check_format(name: str, allowed: list[str]) -> None:
    if name not in allowed:
        message = f"format is {name!r}; allowed are {', '.join(allowed)}"
        raise ApiError(422, "invalid_value", message, field="format")


def _check_running(call: Call, what: str, running: Collection[str | None], most: int) -> None:
    """Raises `ApiError` if the key has an import or export under way, or all have too many."""
    if call.access.name is not None and call.access.name in running:
        message = f"this key has an {what} under way; begin the next when it has ended"
        raise ApiError(429, f"{what}_running", message, headers={"retry-after": "1"})
    if len(running) >= most:
        message = f"{most} {what}s are under way, which is all that there may be; try again"
        raise ApiError(503, "busy", message, headers={"retry-after": "1"})


@contextmanager
def _place(call: Call) -> Iterator[tuple[Path, BinaryIO]]:
    """Where the file of a request is for the time of its import."""
    running = call.service.imports
    _check_running(call, "import", running, _MOST_IMPORTS)
    running.append(call.access.name)
    try:
        with (
            # It has no name, so that the system takes it back even if the process is killed.
            TemporaryFile() as file,
            TemporaryDirectory(prefix="diglot-import-") as directory,
        ):
            path = Path(directory, _file_name(call.query.filename))
            # A thread that opens it when the import was given up already finds no link, rather than
            # what has the number of its descriptor by then.
            path.symlink_to(f"/dev/fd/{file.fileno()}")
            yield path, file
    finally:
        running.remove(call.access.name)


def _file_name(name: str) -> str:
    """A name for the file whose ending tells the format, as that of the client's file does."""
    return "import" + "".join(re.findall(r"\.[A-Za-z0-9]{1,8}(?=\.|$)", name)[-2:])


async def _receive(call: Call, file: BinaryIO) -> None:
    """Writes the body of a request to a file."""
    limits = call.service.limits
    until = monotonic() + limits.max_import_time
    pending = bytearray()
    async with aclosing(body_parts(call.scope, call.receive, limits.max_import)) as parts:
        async for part in parts:
            # A client may take long for a large file, but not make the server wait.
            call.guard.restart(min(limits.max_time, max(0.0, until - monotonic())))
            pending += part
            if len(pending) >= _PIECE:
                await asyncio.to_thread(file.write, bytes(pending))
                pending.clear()
    await asyncio.to_thread(file.write, bytes(pending))
    # This writes what is left. On some systems, who opens a descriptor goes on where it is.
    await asyncio.to_thread(file.seek, 0)


async def _import(
    call: Call,
    path: Path,
    namespaces: tuple[str, ...] | None,
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
            namespace=query.namespace,
            namespaces=namespaces,
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
        if error.field == "target_path":
            message = "filename is that of a text file, which needs another one beside it"
            raise ApiError(422, "invalid_value", message, field="filename") from None
        failure = _failure(error)
        message = failure.detail.message
        if error.field == "format":
            # None was given; pairs of text files, which need two files, are none that may be.
            message = f"{message.partition('; allowed')[0]}; allowed are {', '.join(schemas.READ)}"
        # The client knows its file by another name than the server does.
        failure.detail.message = message.replace(str(path), query.filename or "the file")
        raise failure from None
    problems = report.problems[:_MOST_PROBLEMS]
    return replace(report, path=query.filename, problems=problems).to_dict()


async def _import_lines(
    call: Call, path: Path, namespaces: tuple[str, ...] | None, stack: ExitStack
) -> AsyncGenerator[bytes, None]:
    """The progress of an import, and its report or what went wrong, a line each, after an empty
    piece. `stack` is left in the end.
    """
    changed = asyncio.Event()
    latest: dict[str, Any] = {}

    def told(done: int, total: int | None, entries: int) -> None:
        latest.update(bytes_read=done, bytes_total=total, entries=entries)
        changed.set()

    work = asyncio.ensure_future(_import(call, path, namespaces, told))
    work.add_done_callback(lambda _: changed.set())
    try:
        yield b""
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
        stack.close()


async def export_file(call: Call) -> Stream:
    query = call.query
    _check_format(query.format, schemas.WRITTEN)
    namespace = call.access.namespace_to_read(query.namespace)
    # Each keeps a thread for as long as its client takes to read it.
    _check_running(call, "export", call.service.exports.values(), _MOST_EXPORTS)
    call.guard.restart(call.service.limits.max_import_time)
    pieces = _export(call, namespace)
    # What is wrong from the start has to be said before the answer begins.
    await anext(pieces)
    # XLIFF 2 has no endings of its own, since those of XLIFF stand for what is written mostly.
    ending = next(iter(FORMATS[query.format]), "xlf")
    disposition = f'attachment; filename="export.{ending}"'
    headers = (("content-disposition", disposition),)
    return Stream("application/octet-stream", pieces, headers)


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
        raise _failure(error) from None


def _failure(error: DiglotError) -> ApiError:
    """As `from_diglot`, with the names that requests have for options of files."""
    failure = from_diglot(error)
    if error.field == "target_languages":
        failure.detail.field = "target_language"
        failure.detail.message = str(error).replace("target_languages", "target_language")
    return failure


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
        headers={"content-disposition": "A name for the file."},
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
