"""What a file may not be written over."""

from __future__ import annotations

import os
from os import PathLike
from pathlib import Path

from diglot.errors import InvalidValueError

__all__ = ["check_output"]

# What the names of files end in that belong to the database whose name is before it.
_COMPANIONS = ("-wal", "-shm", "-journal", "-snapshot")

# Bytes that a database has at least.
_PAGE = 512


def check_output(path: str | PathLike[str], target_path: str | PathLike[str] | None = None) -> None:
    """Refuses to write files that would take the place of a database, or of each other.

    Args:
        path: A file that is to be written, or a link to it.
        target_path: Another one that is to be written with it.

    Raises:
        InvalidValueError: One of them is a SQLite database or belongs to one, or they are the same.
    """
    name = _checked("path", path)
    if target_path is not None and name == _checked("target_path", target_path):
        raise InvalidValueError(
            f"target_path is {os.fsdecode(target_path)}, the same file as that of the sources; "
            "give another one",
            field="target_path",
        )


def _checked(field: str, path: str | PathLike[str]) -> str:
    given = os.fsdecode(path)
    name = os.path.realpath(given)
    if _is_database(name):
        what = "is a SQLite database"
    elif any(name.endswith(end) and _is_database(name[: -len(end)]) for end in _COMPANIONS):
        what = "belongs to a SQLite database"
    else:
        return name
    raise InvalidValueError(
        f"{given} {what}, in whose place no file is written; give another name", field=field
    )


def _is_database(path: str) -> bool:
    # Before a file is written, sqlite3 would only be in the way of a fast start.
    import sqlite3

    if not os.path.isfile(path) or os.path.getsize(path) < _PAGE:
        return False
    # SQLite is asked, as it takes care of its locks: if this process has the database open, they
    # would be gone once the same file was opened and closed by anything else.
    connection = sqlite3.connect(f"{Path(path).as_uri()}?mode=ro&immutable=1", uri=True)
    try:
        connection.execute("PRAGMA schema_version")
    except sqlite3.Error as error:
        return "not a database" not in str(error)
    finally:
        connection.close()
    return True
