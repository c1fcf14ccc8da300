"""Records as JSON Lines: one a line, UTF-8."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from os import PathLike
from typing import Any

from diglot.dual.record import MemoryRecord
from diglot.errors import DiglotError, FormatError, InvalidTypeError
from diglot.store import WHITE_SPACE

__all__ = ["read_lines", "read_records", "write_records"]

_GZIP = b"\x1f\x8b"


@contextmanager
def read_lines(path: str | PathLike[str]) -> Iterator[Iterator[tuple[int, dict[str, Any]]]]:
    """The objects of a JSON Lines file, plain or compressed with gzip, with their line numbers.

    Raises:
        OSError: The file cannot be read.
        FormatError: A line is no JSON object; `line` says which.
    """
    name = os.fspath(_check_path(path))
    with open(name, "rb") as plain:
        compressed = plain.peek(2)[:2] == _GZIP
        with gzip.open(plain) if compressed else plain as lines:
            yield _objects(name, lines)


def _objects(name: str, lines: Iterable[bytes]) -> Iterator[tuple[int, dict[str, Any]]]:
    number = 0
    try:
        for number, line in enumerate(lines, start=1):
            text = line.decode()
            if not text.strip(WHITE_SPACE):
                continue
            value = json.loads(text)
            if not isinstance(value, dict):
                raise _wrong(name, number, f"a JSON object is needed, not {type(value).__name__}")
            yield number, {key: item for key, item in value.items() if item is not None}
    except UnicodeDecodeError as error:
        raise _wrong(name, number, f"byte {error.start} is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise _wrong(name, number, f"not JSON: {error.msg} at character {error.pos}") from None
    except RecursionError:
        raise _wrong(name, number, "the JSON is nested too deeply") from None
    except (EOFError, gzip.BadGzipFile) as error:
        raise _wrong(name, number + 1, f"the compressed data is damaged: {error}") from None


@contextmanager
def read_records(path: str | PathLike[str]) -> Iterator[Iterator[MemoryRecord]]:
    """The records of a JSON Lines file.

    Raises:
        OSError: The file cannot be read.
        FormatError: A line is no record; `line` and `field` say where.
    """
    name = os.fspath(_check_path(path))

    def records(lines: Iterable[tuple[int, dict[str, Any]]]) -> Iterator[MemoryRecord]:
        for number, values in lines:
            try:
                yield MemoryRecord.from_dict(values)
            except DiglotError as error:
                raise _wrong(name, number, str(error), error.field) from None

    with read_lines(path) as lines:
        yield records(lines)


def write_records(
    path: str | PathLike[str], slices: Iterable[list[MemoryRecord]]
) -> Generator[None, Any, int]:
    """Writes records to a JSON Lines file, step by step. Returns how many.

    Raises:
        OSError: The file cannot be written; what was there before is still there.
    """
    name = os.fspath(_check_path(path))
    count = 0
    unfinished = f"{name}.{os.getpid()}.unfinished"
    try:
        with open(unfinished, "x", encoding="utf-8", newline="\n") as file:
            for records in slices:
                file.writelines(
                    json.dumps(record.to_dict(), ensure_ascii=False) + "\n" for record in records
                )
                count += len(records)
                yield None
        os.replace(unfinished, name)
    except BaseException:
        if os.path.exists(unfinished):
            os.remove(unfinished)
        raise
    return count


def _check_path(path: str | PathLike[str]) -> str | PathLike[str]:
    if not isinstance(path, (str, PathLike)):
        raise InvalidTypeError(
            f"path must be a str or os.PathLike, not {type(path).__name__}", field="path"
        )
    return path


def _wrong(path: str, line: int, message: str, field: str | None = None) -> FormatError:
    return FormatError(f"{path}:{line}: {message}", path=path, line=line, field=field)
