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
from typing import Any

from diglot import _engine
from diglot.errors import InvalidTypeError
from diglot.model import TranslationMemoryEntry

__all__ = ["FORMATS", "SkippedUnit", "read", "write"]

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
        unit: What it is called in the file (`tuid`, `id`), if it has a name.
        code: What kind of problem it is; a word that stays the same from version to version.
        reason: What is wrong and what is allowed.
    """

    line: int
    unit: str | None
    code: str
    reason: str

    def __str__(self) -> str:
        unit = "" if self.unit is None else f" ({self.unit})"
        return f"line {self.line}{unit}: {self.reason}"


def read(
    path: str | PathLike[str],
    *,
    format: str | None = None,
    source_language: str | None = None,
    target_languages: Iterable[str] = (),
) -> Iterator[TranslationMemoryEntry | SkippedUnit]:
    """The entries of a file, and what had to be left out, in the order of the file.

    Args:
        path: The file. It may be compressed with gzip or Zstandard.
        format: One of `FORMATS`. If it is not given, the name of the file tells, or else its first
            bytes.
        source_language: The language that the sources are to be in. In a file that names languages,
            a unit without a text in it is left out: `de` takes `de` and `de-DE`, `de-DE` takes only
            that. For a file that does not, this is the language of all its sources.
        target_languages: The languages that the targets are to be in, in the same way; none: all.

    Raises:
        OSError: The file cannot be read.
        FormatError: The file is not what it is said to be. What is wrong further on in the file is
            raised by the iterator, after the entries before.
        InvalidTypeError: An argument has a wrong type.
        InvalidValueError: The format is not known, or has no use for one of the options.
    """
    options = _options(source_language, target_languages)
    return _items(_engine.FileReader(_path(path), _name(format), options))


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
    source_language: str | None = None,
    target_languages: Iterable[str] = (),
) -> list[SkippedUnit]:
    """Writes entries to a file. It stands under its name when all of it is written, and then
    replaces what was there; after an error, what was there is as it was.

    Args:
        path: The file. It is compressed if its name ends in `.gz` or `.zst`.
        entries: The entries, taken one by one.
        format: One of `FORMATS`. If it is not given, the name of the file tells.
        source_language: The language that the file says its sources are in, for formats that say
            it once for the whole file.
        target_languages: The language of the targets, in the same way.

    Returns:
        The entries that the format cannot hold; they were left out.

    Raises:
        OSError: The file cannot be written.
        InvalidTypeError: An argument has a wrong type, or an item is no entry (`position`).
        InvalidValueError: The format is not known, or has no use for one of the options.
    """
    options = _options(source_language, target_languages)
    try:
        iterator = iter(entries)
    except TypeError:
        raise InvalidTypeError(
            f"entries must be an iterable, not {type(entries).__name__}", field="entries"
        ) from None
    writer = _engine.FileWriter(_path(path), _name(format), options)
    skipped = []
    try:
        done = False
        while not done:
            done = writer.extend(iterator, _SLICE)
            writer.absorb()
            skipped += [SkippedUnit(*problem) for problem in writer.take_problems()]
        writer.finish()
    finally:
        writer.abandon()
    return skipped


def _path(path: str | PathLike[str]) -> str | PathLike[str]:
    if not isinstance(path, (str, PathLike)):
        raise InvalidTypeError(
            f"path must be a str or os.PathLike, not {type(path).__name__}", field="path"
        )
    return path


def _name(format: str | None) -> str | None:
    if not isinstance(format, (str, type(None))):
        raise InvalidTypeError(
            f"format must be a str or None, not {type(format).__name__}", field="format"
        )
    return format


def _options(source_language: str | None, target_languages: Iterable[str]) -> dict[str, Any]:
    """The options of the engine's readers and writers, of the right types."""
    if not isinstance(source_language, (str, type(None))):
        raise InvalidTypeError(
            f"source_language must be a str or None, not {type(source_language).__name__}",
            field="source_language",
        )
    # A string is an iterable of strings, too, and never meant so.
    languages = [target_languages] if isinstance(target_languages, str) else list(target_languages)
    for language in languages:
        if not isinstance(language, str):
            raise InvalidTypeError(
                f"target_languages must hold strings, not {type(language).__name__}",
                field="target_languages",
            )
    return {"source_language": source_language, "target_languages": languages}
