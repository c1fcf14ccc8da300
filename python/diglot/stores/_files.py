"""Which files are stores."""

from __future__ import annotations

from pathlib import Path

__all__ = ["is_store"]

# How a database of SQLite begins.
_SQLITE = b"SQLite format 3\0"


def is_store(path: str, *, create: bool = False) -> bool:
    """Whether a file is a database rather than a file of entries; with `create`, whether one can be
    there: for SQLite, a file with nothing in it is a new database.

    Raises:
        OSError: It cannot be read.
    """
    if Path(path).is_fifo():
        # What were read of a pipe here, whoever reads it then would not get.
        return False
    try:
        with Path(path).open("rb") as file:
            head = file.read(len(_SQLITE))
    except FileNotFoundError:
        if not create:
            raise
        head = b""
    return head == _SQLITE or (create and not head)
