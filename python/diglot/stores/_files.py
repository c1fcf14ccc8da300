"""Which files are stores, and which are files of entries."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from diglot.errors import FormatError, InvalidValueError
from diglot.formats import FORMATS

__all__ = ["is_store", "known_file"]

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


@contextmanager
def known_file(path: str) -> Iterator[None]:
    """Where nobody can give the format of a file that is read, says of one that does not tell it
    that the file is at fault, rather than that the format is missing.

    Raises:
        FormatError: The file does not tell its format.
    """
    try:
        yield
    except InvalidValueError as error:
        if error.field != "format":
            raise
        # What the file is, as far as its first bytes tell.
        kind = str(error).partition("by its name")[2].partition(";")[0]
        known = ", ".join(name for name in FORMATS if name != "text")
        message = f"{path} is no store and no file of a known format{kind}; known are {known}"
        raise FormatError(message, path=path) from None
