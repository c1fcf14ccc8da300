"""The memory that a command works on: a store, or a file of entries."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from diglot import InMemoryTranslationMemoryStore, TranslationMemory, _engine
from diglot.cli.console import progress, warn
from diglot.errors import DiglotError, FormatError
from diglot.stores._files import is_store, known_file

if TYPE_CHECKING:
    from diglot._memory import SyncMemory
    from diglot.stores.sqlite import SqliteTranslationMemory
    from diglot.transfer import ImportReport


@contextmanager
def opened(path: str) -> Iterator[SyncMemory]:
    """A memory that is only read: a store, or a file in any format that can be read.

    What cannot be used of a file is left out, with a warning.

    Raises:
        OSError: The file cannot be read.
        FormatError: It is in no format that can be read, or nothing of it can be used.
        StoreError: The store cannot be used.
    """
    if is_store(path):
        with opened_store(path, read_only=True) as store:
            yield store
    else:
        yield read(path)


def read(path: str) -> TranslationMemory:
    """The memory of a file."""
    memory = TranslationMemory()
    with progress("Reading", "Indexing") as report, known_file(path):
        _check(memory.import_file(path, progress=report))
    return memory


async def read_async(path: str) -> InMemoryTranslationMemoryStore:
    """The same for asynchronous code."""
    memory = InMemoryTranslationMemoryStore()
    with known_file(path):
        report = await memory.import_file(path)
    _check(report)
    return memory


def _check(report: ImportReport) -> None:
    if not report.problems:
        return
    problem = report.problems[0]
    message = f"{report.path}, {problem}"
    if not report.added:
        raise FormatError(message, path=report.path, line=problem.line)
    warn(f"{message} ({report.skipped:,} left out; `diglot verify {report.path}` lists them)")


def language_pairs(memory: SyncMemory) -> list[tuple[str | None, str | None, int]]:
    """The pairs of languages that there are, with the number of their entries, most first. Tags
    that differ only in case are the same language, as in the reports of imports.
    """
    counts = memory.count_by("source_language", "target_language")
    folded = _engine.fold_pairs({(pair[0], pair[1]): count for pair, count in counts.items()})
    return sorted((outcome[:3] for outcome in folded), key=lambda pair: -pair[2])


@contextmanager
def opened_store(
    path: str, *, create: bool = False, read_only: bool = False
) -> Iterator[SqliteTranslationMemory]:
    """A store, closed at the end.

    Args:
        path: Where it is.
        create: Whether to make one where there is none.
        read_only: Whether it is only read.

    Raises:
        OSError: There is none, or it cannot be read.
        DiglotError: The file is not a store.
        StoreError: The store cannot be used.
    """
    from diglot.stores.sqlite import SqliteTranslationMemory

    if not is_store(path, create=create):
        raise DiglotError(
            f"{path} is a file of entries, which cannot be changed; make a store of it with: "
            f"diglot import STORE {path}"
        )
    file = Path(path)
    is_new = not file.exists() or not file.stat().st_size
    if is_new and (named := _format_of(path)):
        raise DiglotError(
            f"{path} is named like a file of the format {named}; give the store first, under a "
            "name like memory.db"
        )
    with SqliteTranslationMemory.open(path, read_only=read_only) as store:
        yield store


def _format_of(path: str) -> str | None:
    """The format that the name of a file tells."""
    from diglot.formats import FORMATS

    name = path.lower()
    for format, endings in FORMATS.items():
        if any(name.endswith((f".{end}", f".{end}.gz", f".{end}.zst")) for end in endings):
            return format
    return None
