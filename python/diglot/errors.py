"""What diglot raises.

Every error is a `DiglotError` and has a `code` that stays the same from version to version, so that
programs can tell errors apart without reading messages:

| code | class | raised for |
| --- | --- | --- |
| `invalid_type` | `InvalidTypeError` | a value of a type that is not allowed there |
| `invalid_value` | `InvalidValueError` | a value out of range, or one that JSON cannot hold |
| `empty_text` | `InvalidValueError` | a source, target or query that is empty or white space |
| `lone_surrogate` | `InvalidValueError` | a string that UTF-8 cannot hold |
| `text_too_long` | `InvalidValueError` | a text of more than 16 MiB |
| `unknown_field` | `InvalidValueError` | a key or keyword that is not one of those allowed |
| `missing_field` | `InvalidValueError` | a key or keyword that is needed and not there |
| `unknown_entry` | `UnknownEntryError` | an id that no entry has |
| `unknown_record` | `UnknownRecordError` | an id that no record of a dual-language memory has |
| `duplicate_id` | `InvalidValueError` | a record whose id another record has |
| `inconsistent_fields` | `InvalidValueError` | fields of a record that do not agree |
| `invalid_format` | `FormatError` | a file that does not hold what it should |
| `missing_package` | `MissingPackageError` | a package of an extra that is not installed |
| `unusable_snapshot` | `SnapshotError` | a snapshot file that is damaged or of another version |
| `aborted` | `AbortedError` | an operation whose `signal` was set; nothing was changed |
| `store_busy` | `StoreBusyError` | another process kept the database of a store for too long |
| `store_full` | `StoreError` | a disk, or a quota, that has no room for a change |
| `store_read_only` | `StoreError` | a change of a store, or a file, that can only be read |
| `store_closed` | `StoreError` | a store that was closed, or was opened before the process forked |
| `store_failed` | `StoreError` | what else went wrong with the file of a store |
| `store_damaged` | `StoreDamagedError` | the database of a store does not hold what it should |
| `not_a_store` | `StoreFormatError` | a file that is no store, or a store of something else |
| `store_version` | `StoreFormatError` | a store of a version that this one of diglot cannot read |

An import with `strict` raises a `FormatError` with the code of what cannot be used, one of those in
`docs/formats.md`.
"""

from __future__ import annotations

__all__ = [
    "AbortedError",
    "DiglotError",
    "FormatError",
    "InvalidTypeError",
    "InvalidValueError",
    "MissingPackageError",
    "SnapshotError",
    "StoreBusyError",
    "StoreDamagedError",
    "StoreError",
    "StoreFormatError",
    "UnknownEntryError",
    "UnknownRecordError",
]


class DiglotError(Exception):
    """The base of all errors that diglot raises.

    Attributes:
        code: What kind of error it is; one of the codes in the module's table.
        field: The name of the argument or field at fault, with the path inside it
            (`metadata.a[3].b`), if there is one.
        position: The position of the item at fault in an argument that holds many (`add_many`,
            `search_many`), counted from 0.
    """

    code: str = "error"
    field: str | None = None
    position: int | None = None

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        field: str | None = None,
        position: int | None = None,
    ) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code
        self.field = field
        self.position = position


class InvalidValueError(DiglotError, ValueError):
    """A value that is not allowed."""

    code = "invalid_value"


class InvalidTypeError(DiglotError, TypeError):
    """A value of a type that is not allowed."""

    code = "invalid_type"


class UnknownEntryError(DiglotError, LookupError):
    """An id that no entry has: it was never given, or the entry was removed."""

    code = "unknown_entry"


class UnknownRecordError(DiglotError, LookupError):
    """An id that no record has: it was never given, or the record was removed."""

    code = "unknown_record"


class FormatError(DiglotError, ValueError):
    """A file does not hold what it should. Nothing of it was added.

    Attributes:
        path: The file, as it was given.
        line: The line at fault, counted from 1.
        field: The field at fault, if it is one.
    """

    code = "invalid_format"

    path: str | None = None
    line: int | None = None

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        path: str | None = None,
        line: int | None = None,
        field: str | None = None,
    ) -> None:
        super().__init__(message, code=code, field=field)
        self.path = path
        self.line = line


class MissingPackageError(DiglotError, ModuleNotFoundError):
    """A package that this part needs is not installed. The message names the extra that brings it.

    Attributes:
        name: The package's import name.
    """

    code = "missing_package"

    def __init__(self, message: str, *, name: str | None = None) -> None:
        super().__init__(message)
        self.name = name


class SnapshotError(DiglotError):
    """A snapshot file cannot be used: it is damaged, or was not written by a version of diglot that
    makes the same index. The memory has to be built from its source again.

    Attributes:
        path: The file, as it was given.
    """

    code = "unusable_snapshot"

    path: str | None = None

    def __init__(self, message: str, *, path: str | None = None) -> None:
        super().__init__(message)
        self.path = path


class AbortedError(DiglotError):
    """The operation's `signal` was set before the operation was done. Nothing was changed."""

    code = "aborted"


class StoreError(DiglotError):
    """A store cannot do what it was asked for. What it held before, it holds now.

    Attributes:
        path: The file of the store.
    """

    code = "store_failed"

    path: str | None = None

    def __init__(self, message: str, *, code: str | None = None, path: str | None = None) -> None:
        super().__init__(message, code=code)
        self.path = path


class StoreBusyError(StoreError):
    """Another process kept the database locked for longer than the store's `busy_timeout`. The same
    may succeed later.
    """

    code = "store_busy"


class StoreDamagedError(StoreError):
    """The database of a store does not hold what it should."""

    code = "store_damaged"


class StoreFormatError(StoreError):
    """A file is not a store that can be read here."""

    code = "not_a_store"
