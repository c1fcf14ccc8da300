"""Files of other programs: read entry by entry, and written so.

```python
from diglot import formats

for item in formats.read("memory.tmx"):
    if isinstance(item, formats.SkippedUnit):
        print(item)
    else:
        print(item.source, item.target)
```

A file of any size is read and written with little memory. gzip and Zstandard are unpacked, whatever
the file is called; a file is compressed if its name ends in `.gz` or `.zst`. How the fields of each
format become the fields of an entry, and the other way round, is in `docs/formats.md`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypedDict

from diglot import _engine
from diglot._output import check_output
from diglot._steps import iterator
from diglot.model import TranslationMemoryEntry
from diglot.store import check_optional, check_path

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["FORMATS", "ReadOptions", "SkippedUnit", "WriteOptions", "read", "write"]

# The names of the formats, each with the endings of its files' names in lower case, the usual one
# first.
FORMATS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {name: tuple(extensions) for name, extensions in _engine.file_formats()}
)

# Seconds for which entries are taken from an iterable at a time.
_SLICE = 0.05


@dataclass(frozen=True, slots=True)
class SkippedUnit:
    """Something that was left out of what was read or written.

    Attributes:
        line: The line of the file where it begins, counted from 1. For what could not be written,
            the number of the entry, counted from 1.
        unit: What it is called in the file (`tuid`, `id`), or the start of that; None if it has no
            name.
        code: What kind of problem it is; a word that stays the same from version to version.
        reason: What is wrong and what is allowed.
    """

    line: int
    unit: str | None
    code: str
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """The attributes."""
        return {name: getattr(self, name) for name in self.__slots__}

    def __str__(self) -> str:
        unit = "" if self.unit is None else f" ({self.unit})"
        return f"line {self.line}{unit}: {self.reason}"


class ReadOptions(TypedDict, total=False):
    """How a file is to be read, as far as it does not say so itself. None is the same as no option.

    All formats have use for the languages, and each for some of the others; one that a format has
    no use for is refused.

    Attributes:
        source_language: The language that the sources are to be in. In a file that names languages,
            a unit without a text in it is left out: `de` takes `de` and `de-DE`, `de-DE` takes only
            that. For a file that does not, this is the language of all its sources.
        target_languages: The languages that the targets are to be in, in the same way; none: all.
        fuzzy: PO: take translations that are marked as fuzzy, too.
        obsolete: PO: take messages that are obsolete, too.
        columns: CSV and TSV: for the fields of an entry, the name or the number of the column that
            has it; the first is 1. Without it, the names in the first row tell.
        header: CSV and TSV: whether the first row has the names of the columns. It has, if this is
            not given, unless all `columns` are numbers.
        delimiter: CSV and TSV: the character between two columns; a comma or a tab.
        quoting: CSV and TSV: whether quotation marks around a cell are no part of its text. They
            are not, if this is not given.
        escape: CSV and TSV: the character that makes a quotation mark within quotation marks a part
            of the text, such as a backslash. A second quotation mark does, if this is not given.
        encoding: CSV, TSV and text: the encoding of a file without a byte order mark; UTF-8.
        target_path: Text: the file with the translation of each line.
    """

    source_language: str | None
    target_languages: str | Iterable[str] | None
    fuzzy: bool | None
    obsolete: bool | None
    columns: Mapping[str, str | int] | None
    header: bool | None
    delimiter: str | None
    quoting: bool | None
    escape: str | None
    encoding: str | None
    target_path: str | PathLike[str] | None


class WriteOptions(TypedDict, total=False):
    """How a file is to be written. None is the same as no option.

    Attributes:
        source_language: The language that the file says its sources are in, for formats that say it
            once for the whole file. PO: only entries in it are written, and if it is not given, all
            must be in the same.
        target_languages: The language of the targets, in the same way.
        columns: CSV and TSV: the fields that are written, each with the name of its column; all,
            under their own names.
        delimiter: CSV and TSV: the character between two columns; a comma or a tab.
        target_path: Text: the file for the translation of each line.
    """

    source_language: str | None
    target_languages: str | Iterable[str] | None
    columns: Mapping[str, str] | None
    delimiter: str | None
    target_path: str | PathLike[str] | None


def read(
    path: str | PathLike[str], *, format: str | None = None, **options: Unpack[ReadOptions]
) -> Iterator[TranslationMemoryEntry | SkippedUnit]:
    """The entries of a file, and what had to be left out, in the order of the file.

    Args:
        path: The file. It may be compressed with gzip or Zstandard.
        format: One of `FORMATS`. If it is not given, the name of the file tells, or else its first
            bytes; with `target_path`, it is text.
        options: Those of `ReadOptions` that the format has use for.

    Raises:
        OSError: The file cannot be read.
        FormatError: The file is not what it is said to be. What is wrong further on in the file is
            raised by the iterator, after the entries before.
        InvalidTypeError: An argument has a wrong type.
        InvalidValueError: The format is not known, or has no use for one of the options.
    """
    check_path(path)
    check_optional("format", format)
    return _items(_engine.FileReader(path, format, {**options}))


def _items(reader: _engine.FileReader) -> Iterator[TranslationMemoryEntry | SkippedUnit]:
    more = True
    while more:
        items, more = reader.read()
        for item in items:
            yield SkippedUnit(*item) if isinstance(item, tuple) else item


def write(
    path: str | PathLike[str],
    entries: Iterable[TranslationMemoryEntry],
    *,
    format: str | None = None,
    **options: Unpack[WriteOptions],
) -> list[SkippedUnit]:
    """Writes entries to a file. It stands under its name when all of it is written, and then
    replaces what was there; after an error, what was there is as it was.

    Args:
        path: The file. It is compressed if its name ends in `.gz` or `.zst`.
        entries: The entries, taken one by one.
        format: One of `FORMATS`. If it is not given, the name of the file tells; with
            `target_path`, it is text.
        options: Those of `WriteOptions` that the format has use for.

    Returns:
        The entries that the format cannot hold; they were left out.

    Raises:
        OSError: The file cannot be written.
        InvalidTypeError: An argument has a wrong type, or an item is no entry (`position`).
        InvalidValueError: The format is not known, or has no use for one of the options; or the
            file, or what it is a link to, is a SQLite database or belongs to one.
    """
    items = iterator("entries", entries)
    check_path(path)
    check_optional("format", format)
    writer = _engine.FileWriter(path, format, {**options})
    skipped = []
    try:
        check_output(path, options.get("target_path"))
        done = False
        while not done:
            done = writer.extend(items, _SLICE)
            writer.absorb()
            skipped += [SkippedUnit(*problem) for problem in writer.take_problems()]
        writer.finish()
    finally:
        writer.abandon()
    return skipped
