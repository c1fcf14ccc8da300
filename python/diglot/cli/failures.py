"""What went wrong, as exit status and message."""

from __future__ import annotations

import errno
from typing import Any

from diglot.errors import DiglotError, FormatError, MissingPackageError, StoreError

WRONG, USAGE, FILE, FORMAT, NOT_INSTALLED, STORE, INTERRUPTED = 1, 2, 3, 4, 5, 6, 130

# What commands expect to go wrong.
FAILURES = (DiglotError, OSError)

# What the standard output, the only file without a name, says when it cannot take any more.
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)

# What fields of errors are called on the command line, where it has another word for them.
_OPTIONS = {
    "columns": "--column",
    "source_language": "--from",
    "target_language": "--to",
    "target_languages": "--to",
    "target_path": "--targets",
    **{
        name: f"--{name}"
        for name in ("delimiter", "encoding", "escape", "fuzzy", "header", "obsolete", "quoting")
    },
}


def failure(error: DiglotError | OSError) -> tuple[int, str]:
    """The exit status for an error, and what to say of it."""
    if isinstance(error, OSError):
        name = error.filename
        if name is None and error.errno in _NO_ROOM:
            name = "standard output"
        return FILE, str(error) if name is None else f"{name}: {error.strerror}"
    if isinstance(error, MissingPackageError):
        return NOT_INSTALLED, str(error)
    if isinstance(error, FormatError):
        return FORMAT, str(error)
    if isinstance(error, StoreError):
        return STORE, str(error)
    field, _, rest = str(error).partition(" ")
    return USAGE, f"{_OPTIONS.get(field, field)} {rest}" if field == error.field else str(error)


def detail(error: DiglotError | OSError, message: str) -> dict[str, Any]:
    """An error as JSON has it.

    Args:
        error: The error.
        message: What is said of it.
    """
    if isinstance(error, OSError):
        found = {"code": "system_error", "path": error.filename}
    else:
        places = ("field", "line", "path")
        found = {"code": error.code, **{name: getattr(error, name, None) for name in places}}
    return {name: value for name, value in found.items() if value is not None} | {
        "message": message
    }
