"""What went wrong, as exit status and message."""

from __future__ import annotations

from diglot.errors import DiglotError, FormatError, MissingPackageError, StoreError

WRONG, USAGE, FILE, FORMAT, NOT_INSTALLED, STORE, INTERRUPTED = 1, 2, 3, 4, 5, 6, 130

# What commands expect to go wrong.
FAILURES = (DiglotError, OSError)


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
        named = error.filename is not None
        return FILE, f"{error.filename}: {error.strerror}" if named else str(error)
    if isinstance(error, MissingPackageError):
        return NOT_INSTALLED, str(error)
    if isinstance(error, FormatError):
        return FORMAT, str(error)
    if isinstance(error, StoreError):
        return STORE, str(error)
    field, _, rest = str(error).partition(" ")
    return USAGE, f"{_OPTIONS.get(field, field)} {rest}" if field == error.field else str(error)
