"""Files in and out of a memory, and the reports of it.

Every memory has the methods `import_file`, `export_file` and `dedupe`, which are done here, step by
step. `diglot.formats` has the formats.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from diglot import _engine
from diglot._output import check_output
from diglot._steps import Steps
from diglot.errors import FormatError, InvalidTypeError, InvalidValueError
from diglot.formats import SkippedUnit
from diglot.store import (
    Signal,
    check_optional,
    check_options,
    check_path,
    check_progress,
    check_signal,
)

if TYPE_CHECKING:
    from diglot._memory import SyncMemory
    from diglot.formats import ReadOptions
    from diglot.memory import Progress

__all__ = [
    "DedupeReport",
    "Duplicates",
    "ExportOptions",
    "ExportReport",
    "ImportReport",
    "Outcome",
]

Duplicates = Literal["keep", "skip", "replace", "newest"]
"""What is done with an entry that is a duplicate of one that is there, or came before it in the
same file. Entries are duplicates if their sources, languages, domains and namespaces are the same,
and for `skip` their targets, too; languages are compared without regard to case, all else exactly.

- `keep`: it is added all the same.
- `skip`: it is left out.
- `replace`: it takes the place (the id, and so the place in the order) of the oldest of its
  duplicates, and the further ones are removed. If there is only one, and equal in every field, it
  is left out.
- `newest`: as `replace` if its date is later than those of all its duplicates; otherwise it is left
  out. Its date is `metadata["changed_at"]`, or else `created_at`. What has no date in ISO 8601,
  with year, month and day, is older than all that has one; a time without an offset is in UTC.
"""

_POLICIES = ("keep", "skip", "replace", "newest")

# Problems that a report keeps, so that its size is not that of the file.
_MOST_PROBLEMS = 100_000


class ExportOptions(TypedDict, total=False):
    """How a file is to be written: those of `diglot.formats.WriteOptions` that are no filters."""

    columns: Mapping[str, str] | None
    delimiter: str | None
    target_path: str | PathLike[str] | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of the entries with a pair of languages.

    Attributes:
        source_language: Language tag of their sources.
        target_language: Language tag of their targets.
        added: How many were added.
        duplicate: How many were left out because the memory has such an entry.
        replaced: How many took the place of another.
        removed: How many entries of the memory went without another in their place.
    """

    source_language: str | None
    target_language: str | None
    added: int
    duplicate: int
    replaced: int
    removed: int

    def to_dict(self) -> dict[str, Any]:
        """The attributes."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did, or a dry run would have done.

    Attributes:
        path: The file.
        format: The name of its format.
        duplicates: The policy for duplicates.
        dry_run: Whether nothing was changed.
        units: Units of the format that were read, such as lines of a table or the `tu` of a TMX
            file, each with any number of entries.
        skipped: How much was left out in all: units, or single entries of them.
        pairs: What became of the others, by pair of languages.
        problems: Why something was left out, in the order of the file; the first
            hundred thousand, which take about 30 MB.
    """

    path: str
    format: str
    duplicates: Duplicates
    dry_run: bool
    units: int
    skipped: int
    pairs: tuple[Outcome, ...]
    problems: tuple[SkippedUnit, ...]

    @property
    def read(self) -> int:
        """How many entries were read: those that were added, were duplicates, or replaced."""
        return self.added + self.duplicate + self.replaced

    @property
    def added(self) -> int:
        """How many entries were added."""
        return sum(pair.added for pair in self.pairs)

    @property
    def duplicate(self) -> int:
        """How many entries were left out because the memory has such an entry."""
        return sum(pair.duplicate for pair in self.pairs)

    @property
    def replaced(self) -> int:
        """How many entries took the place of another."""
        return sum(pair.replaced for pair in self.pairs)

    @property
    def removed(self) -> int:
        """How many entries of the memory went without another in their place."""
        return sum(pair.removed for pair in self.pairs)

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "path": self.path,
            "format": self.format,
            "duplicates": self.duplicates,
            "dry_run": self.dry_run,
            "units": self.units,
            "read": self.read,
            "added": self.added,
            "duplicate": self.duplicate,
            "replaced": self.replaced,
            "removed": self.removed,
            "skipped": self.skipped,
            "pairs": [pair.to_dict() for pair in self.pairs],
            "problems": [problem.to_dict() for problem in self.problems],
        }


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What an export did.

    Attributes:
        path: The file.
        format: The name of its format.
        written: How many entries are in it.
        skipped: How many the format cannot hold.
        problems: Why not, in order; the first hundred thousand.
    """

    path: str
    format: str
    written: int
    skipped: int
    problems: tuple[SkippedUnit, ...]

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "path": self.path,
            "format": self.format,
            "written": self.written,
            "skipped": self.skipped,
            "problems": [problem.to_dict() for problem in self.problems],
        }


@dataclass(frozen=True, slots=True)
class DedupeReport:
    """What a memory was rid of, or would be.

    Attributes:
        duplicates: The policy that says which entries are duplicates.
        dry_run: Whether nothing was changed.
        pairs: How many duplicates there were, by pair of languages; all of them were removed.
    """

    duplicates: Duplicates
    dry_run: bool
    pairs: tuple[Outcome, ...]

    @property
    def removed(self) -> int:
        """How many entries were removed."""
        return sum(pair.removed for pair in self.pairs)

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "duplicates": self.duplicates,
            "dry_run": self.dry_run,
            "removed": self.removed,
            "pairs": [
                {
                    "source_language": pair.source_language,
                    "target_language": pair.target_language,
                    "removed": pair.removed,
                }
                for pair in self.pairs
            ],
        }


def import_steps(
    memory: SyncMemory,
    path: str | PathLike[str],
    format: str | None,
    options: ReadOptions,
    *,
    domain: str | None,
    namespace: str | None,
    namespaces: Collection[str] | None,
    duplicates: Duplicates,
    strict: bool,
    dry_run: bool,
    progress: Progress | None,
    signal: Signal | None,
) -> Steps[ImportReport]:
    """What `import_file` does."""
    check_path(path)
    name = fspath(path)
    _check_policy(duplicates, _POLICIES)
    check_optional("format", format)
    check_progress(progress)
    check_signal(signal)
    check_optional("domain", domain)
    check_optional("namespace", namespace)
    allowed = None if namespaces is None else _names(namespaces)
    reader = yield lambda flag: _engine.FileReader(path, format, {**options})
    batch = _engine.Batch()
    only_counted = dry_run and duplicates == "keep"
    pairs: Counter[tuple[str | None, str | None]] = Counter()
    counted = skipped = 0
    problems: list[SkippedUnit] = []

    def read(flag: _engine.CancelFlag | None) -> bool:
        return reader.read_into(  # type: ignore[no-any-return]
            batch, domain, namespace, allowed, flag, signal
        )

    more = True
    while more:
        more = yield read
        found = reader.take_problems()
        if strict and found:
            line, _, code, message = found[0]
            message = f"{name}, line {line}: {message}"
            raise FormatError(message, code=code, path=name, line=line)
        skipped += len(found)
        problems += (SkippedUnit(*unit) for unit in found[: _MOST_PROBLEMS - len(problems)])
        if progress is not None:
            progress(reader.bytes_read, reader.bytes_total, counted + len(batch))
        if only_counted:
            # What is only counted need not fit into memory.
            pairs.update(_engine.count_pairs(batch))
            counted += len(batch)
            batch = _engine.Batch()
    if not dry_run:
        counts = yield from memory._merge(batch, duplicates, signal)
    elif only_counted:
        counts = _engine.fold_pairs(pairs)
    else:
        snapshot = (yield from memory._seen()).snapshot()
        resolved = yield lambda flag: _engine.resolve(batch, snapshot, duplicates, flag, signal)
        counts = resolved[2]
    return ImportReport(
        path=name,
        format=reader.format,
        duplicates=duplicates,
        dry_run=dry_run,
        units=reader.units_read,
        skipped=skipped,
        pairs=tuple(Outcome(*count) for count in counts),
        problems=tuple(problems),
    )


def export_steps(
    memory: SyncMemory,
    path: str | PathLike[str],
    format: str | None,
    options: ExportOptions,
    *,
    filters: tuple[str | None, str | None, str | None, str | None],
    progress: Callable[[int, int], object] | None,
    signal: Signal | None,
) -> Steps[ExportReport]:
    """What `export_file` does."""
    check_path(path)
    name = fspath(path)
    check_optional("format", format)
    check_progress(progress)
    check_signal(signal)
    check_options(*filters, 1, 0.0)
    snapshot = (yield from memory._seen()).snapshot()
    writer = yield lambda flag: _engine.FileWriter(path, format, {**options})
    skipped = 0
    problems: list[SkippedUnit] = []
    try:
        yield lambda flag: check_output(path, options.get("target_path"))
        more = True
        while more:
            more = yield lambda flag: writer.write_snapshot(snapshot, filters, flag, signal)
            found = writer.take_problems()
            skipped += len(found)
            problems += (SkippedUnit(*unit) for unit in found[: _MOST_PROBLEMS - len(problems)])
            if progress is not None:
                progress(writer.written, len(snapshot))
        check_signal(signal)
        yield lambda flag: writer.finish()
    finally:
        writer.abandon()
    return ExportReport(name, writer.format, writer.written, skipped, tuple(problems))


def dedupe_steps(
    memory: SyncMemory, duplicates: Duplicates, dry_run: bool, signal: Signal | None
) -> Steps[DedupeReport]:
    """What `dedupe` does."""
    _check_policy(duplicates, _POLICIES[1:])
    check_signal(signal)
    if dry_run:
        snapshot = (yield from memory._seen()).snapshot()
        found = yield lambda flag: _engine.find_duplicates(snapshot, duplicates, flag, signal)
        counts = found[1]
    else:
        counts = yield from memory._dedupe(duplicates, signal)
    return DedupeReport(duplicates, dry_run, tuple(Outcome(*count) for count in counts))


def _names(namespaces: object) -> list[str]:
    # A string is a collection of strings, too, and never meant so.
    if not isinstance(namespaces, str) and isinstance(namespaces, Collection):
        names = list(namespaces)
        if all(isinstance(name, str) for name in names):
            return names
    raise InvalidTypeError("namespaces must be a collection of str, or None", field="namespaces")


def _check_policy(policy: object, allowed: tuple[str, ...]) -> None:
    if not isinstance(policy, str):
        raise InvalidTypeError(
            f"duplicates must be a str, not {type(policy).__name__}", field="duplicates"
        )
    if policy not in allowed:
        raise InvalidValueError(
            f"duplicates is {policy!r}; allowed are {', '.join(allowed)}", field="duplicates"
        )
