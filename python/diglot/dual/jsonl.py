"""Records as JSON Lines: one a line, UTF-8."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from os import PathLike
from typing import Any, TypeVar

from diglot import _engine
from diglot._output import check_output
from diglot._steps import Steps
from diglot.dual.record import MemoryRecord
from diglot.errors import DiglotError, FormatError
from diglot.store import check_path

__all__ = ["read_lines", "write_records"]

_T = TypeVar("_T")


def read_lines(path: str | PathLike[str], make: Callable[[dict[str, Any]], _T]) -> Iterator[_T]:
    """What is made of the objects of a JSON Lines file, plain or compressed with gzip or Zstandard.

    Raises:
        OSError: The file cannot be read.
        FormatError: A line is no JSON object, or nothing can be made of it; `line` and `field` say
            where.
    """
    check_path(path)
    name = os.fspath(path)
    lines = _engine.JsonLines(name)
    while (block := lines.block()) is not None:
        for number, line in block:
            value = _parsed(name, number, line)
            if not isinstance(value, dict):
                raise _wrong(name, number, f"a JSON object is needed, not {type(value).__name__}")
            try:
                made = make({key: item for key, item in value.items() if item is not None})
            except DiglotError as error:
                raise _wrong(name, number, str(error), error.field) from None
            yield made


def _parsed(name: str, number: int, line: bytes) -> Any:
    try:
        return json.loads(line.decode())
    except UnicodeDecodeError as error:
        raise _wrong(name, number, f"byte {error.start} is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise _wrong(name, number, f"not JSON: {error.msg} at character {error.pos}") from None
    except RecursionError:
        raise _wrong(name, number, "the JSON is nested too deeply") from None
    except ValueError as error:
        # A number of thousands of digits.
        raise _wrong(name, number, f"not usable: {error}") from None


def write_records(path: str | PathLike[str], slices: Iterable[list[MemoryRecord]]) -> Steps[int]:
    """Writes records to a JSON Lines file, step by step. Returns how many.

    Raises:
        OSError: The file cannot be written; what was there before is still there.
        InvalidValueError: The file is a SQLite database or belongs to one.
    """
    check_path(path)
    yield lambda flag: check_output(path)
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
