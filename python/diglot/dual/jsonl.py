"""Records as JSON Lines: one a line, UTF-8."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from os import PathLike
from typing import Any, TypeVar

from diglot.dual.record import MemoryRecord
from diglot.errors import DiglotError, FormatError
from diglot.store import WHITE_SPACE, check_path

__all__ = ["read_lines", "write_records"]

_GZIP = b"\x1f\x8b"

_T = TypeVar("_T")


@contextmanager
def read_lines(
    path: str | PathLike[str], make: Callable[[dict[str, Any]], _T]
) -> Iterator[Iterator[_T]]:
    """What is made of the objects of a JSON Lines file, plain or compressed with gzip.

    Raises:
        OSError: The file cannot be read.
        FormatError: A line is no JSON object, or nothing can be made of it; `line` and `field` say
            where.
    """
    check_path(path)
    name = os.fspath(path)

    def made(lines: Iterable[bytes]) -> Iterator[_T]:
        for number, values in _objects(name, lines):
            try:
                yield make(values)
            except DiglotError as error:
                raise _wrong(name, number, str(error), error.field) from None

    with open(name, "rb") as plain:
        compressed = plain.peek(2)[:2] == _GZIP
        with gzip.open(plain) if compressed else plain as lines:
            yield made(lines)


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


def write_records(
    path: str | PathLike[str], slices: Iterable[list[MemoryRecord]]
) -> Generator[None, Any, int]:
    """Writes records to a JSON Lines file, step by step. Returns how many.

    Raises:
        OSError: The file cannot be written; what was there before is still there.
    """
    check_path(path)
    name = os.fspath(path)
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


def _wrong(path: str, line: int, message: str, field: str | None = None) -> FormatError:
    return FormatError(f"{path}:{line}: {message}", path=path, line=line, field=field)
