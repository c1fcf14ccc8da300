"""What went wrong, as exit status and message."""

from __future__ import annotations

from diglot.errors import DiglotError, FormatError, MissingPackageError, StoreError

WRONG, USAGE, FILE, FORMAT, NOT_INSTALLED, STORE, INTERRUPTED = 1, 2, 3, 4, 5, 6, 130

# What commands expect to go wrong.
FAILURES = (DiglotError, OSError)


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
    return USAGE, str(error)
