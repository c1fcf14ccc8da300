"""The Rust side of diglot. Private: use the names that `diglot` itself exports."""

from collections.abc import Iterator
from os import PathLike
from typing import Any, Final, TypeAlias, final

from diglot.memory import Progress
from diglot.model import TranslationMemoryEntry, TranslationMemoryHit
from diglot.store import Signal

__all__ = [
    "Batch",
    "CancelFlag",
    "FileReader",
    "FileWriter",
    "Found",
    "Ids",
    "JsonLines",
    "Memory",
    "Queries",
    "Snapshot",
    "__version__",
    "check_entry",
    "containing",
    "count_by",
    "count_pairs",
    "dedupe",
    "file_formats",
    "find_duplicates",
    "fold_pairs",
    "merge",
    "normalize",
    "open_memories",
    "read_jsonl",
    "resolve",
    "save_snapshots",
    "similarity",
    "tokens",
    "trigrams",
]

__version__: Final[str]

# source_language, target_language, domain, namespace, max_hits, min_score; as
# `diglot.store.SearchOptions` has them.
_Options: TypeAlias = tuple[str | None, str | None, str | None, str | None, int, float]

# Source language, target language.
_Pair: TypeAlias = tuple[str | None, str | None]

# For a pair of languages (source, target), how many entries were added, were duplicates, took the
# place of others; and how many entries of the memory were removed.
_Counts: TypeAlias = tuple[str | None, str | None, int, int, int, int]

# A row of a database: the id of an entry and its fields, metadata as JSON text.
_Row: TypeAlias = tuple[
    int,
    str,
    str,
    str | None,
    str | None,
    str | None,
    str | None,
    str | None,
    str | None,
    str | None,
    str | None,
]

# The values of a row to insert: 0 in the place of None, which takes `sqlite3` many times as long.
_Values: TypeAlias = tuple[
    int,
    str,
    str,
    str | int,
    str | int,
    str | int,
    str | int,
    str | int,
    str | int,
    str | int,
    str | int,
]

def normalize(text: str, /) -> str:
    """The form in which texts are compared: NFKC, lower case, white space trimmed and folded.

    Raises:
        InvalidTypeError: `text` is no `str`.
        InvalidValueError: It has a lone surrogate.
    """

def tokens(text: str, /) -> list[str]:
    """The tokens of a text's normalized form, in order: its runs of letters and numbers.

    Raises:
        As `normalize`.
    """

def trigrams(text: str, /) -> list[str]:
    """The trigrams of a text's normalized form, in order: every three consecutive code points.

    A form of three or fewer is one trigram, the form itself.

    Raises:
        As `normalize`.
    """

def similarity(a: str, b: str, /) -> float:
    """How alike two texts are, from 0 to 1: the score that a search for one gives the other.

    It is 1 if their normalized forms are equal, otherwise the larger of two Dice coefficients over
    multisets, one of the tokens, one of the trigrams.

    Raises:
        As `normalize`.
    """

def check_entry(entry: TranslationMemoryEntry, position: int | None = None, /) -> str | None:
    """Checks the fields of an entry, and returns its metadata as JSON text. Errors name `position`.

    Raises:
        InvalidTypeError: A field has a wrong type.
        InvalidValueError: A field has a value that is not allowed.
    """

@final
class CancelFlag:
    """Tells a worker thread that nobody waits for it any more, or the waiting side that it is too
    late to say so.
    """

    def __new__(cls) -> CancelFlag: ...
    def set(self) -> bool:
        """Asks the operation to stop. Returns whether that came in time."""

    def is_set(self) -> bool:
        """Whether the operation was asked to stop in time."""

    def commit(self) -> None:
        """Makes it too late to ask the operation to stop.

        Raises:
            AbortedError: It was asked to before.
        """

@final
class Queries:
    """The queries of one `Memory.search_many`."""

    def __new__(cls) -> Queries: ...
    def extend(self, iterator: Iterator[str], seconds: float) -> bool:
        """Adds the strings of an iterator for at most about `seconds`. Returns whether there are no
        more.

        Raises:
            InvalidTypeError: An item is no `str`; `position` says which.
            InvalidValueError: An item has a lone surrogate.
        """

    def __len__(self) -> int: ...

@final
class Ids:
    """Ids of entries."""

    def __new__(cls) -> Ids: ...
    def extend(self, iterator: Iterator[int], seconds: float) -> bool:
        """Adds the ids of an iterator for at most about `seconds`. Returns whether there are no
        more.

        Raises:
            InvalidTypeError: An item is no integer; `position` says which.
            UnknownEntryError: An item is a number that no entry can have.
        """

    def ranges(self) -> list[tuple[int, int]]:
        """The ids as ranges, each with its first and last id, ascending."""

    def __len__(self) -> int: ...

@final
class Batch:
    """Entries on their way into a memory.

    `extend` copies them, `absorb` checks and analyses what was copied, `prepare` makes them
    searchable, and `Memory.publish` shows them, all at once.
    """

    def __new__(cls) -> Batch: ...
    def extend(self, iterator: Iterator[TranslationMemoryEntry], seconds: float) -> bool:
        """Copies entries for at most about `seconds`, or until it is time to `absorb` them.

        Returns:
            Whether there are no more.

        Raises:
            InvalidTypeError: An item is no entry; `position` says which.
            InvalidValueError: An entry's metadata was changed to something that is not allowed.
        """

    def extend_rows(self, iterator: Iterator[_Row], seconds: float) -> bool:
        """Copies the rows of a database, whose ids ascend, as `extend` does entries. The numbers of
        the entries are the ids.

        Raises:
            InvalidTypeError: An item is no such row.
            InvalidValueError: A text has a lone surrogate.
        """

    def push(self, entry: TranslationMemoryEntry) -> None:
        """Copies, checks and analyses one entry.

        Raises:
            InvalidTypeError: It is no entry.
            InvalidValueError: Its metadata was changed to something that is not allowed, or it is
                too long.
        """

    @staticmethod
    def joined(batches: list[Batch]) -> Batch:
        """A batch with the entries that others absorbed, in order. The others stay as they are."""

    def values(self, first: int, start: int, stop: int) -> list[_Values]:
        """The entries at some places, counted from 0, as values to insert into a database; those
        that were absorbed and not yet published. An id is `first` and the number of the entry.
        """

    @property
    def waiting(self) -> int:
        """Bytes that were copied and not yet absorbed."""

    def absorb(self, flag: CancelFlag | None = None, signal: Signal | None = None) -> None:
        """Checks and analyses what was copied, without the GIL.

        Raises:
            AbortedError: `flag` or `signal` was set. The batch is of no use any more.
            InvalidValueError: An entry is too long.
        """

    def prepare(self, flag: CancelFlag | None = None, signal: Signal | None = None) -> None:
        """Makes what was absorbed ready for `Memory.publish`, without the GIL.

        Raises:
            AbortedError: `flag` or `signal` was set. The batch is of no use any more.
        """

    def __len__(self) -> int: ...

@final
class Found:
    """The hits of one or many queries, turned into Python objects as far as they are asked for."""

    def __len__(self) -> int:
        """How many queries there were."""

    def count(self, query: int) -> int:
        """How many hits a query has."""

    def hits(self, query: int, start: int, stop: int) -> list[TranslationMemoryHit]:
        """Some hits of a query, best first."""

    def coverage(self, query: int, text: str) -> list[tuple[float, bool, bool]]:
        """How much of a text the source of each hit of a query has.

        Returns:
            For each hit, in order: the share of the text's trigrams (with multiplicity) that the
            source has, whether the source contains the text, and whether it is the text; all of
            normalized forms.
        """

    def arrays(self, start: int, stop: int, width: int) -> tuple[bytes, bytes]:
        """Ids (`int64`) and scores (`float64`) of the hits of some queries, `width` to a query, in
        native byte order.

        Where there is no hit, the id is −1 and the score 0.
        """

@final
class Memory:
    """A translation memory."""

    def __new__(cls) -> Memory: ...
    def __len__(self) -> int: ...
    def add(self, entry: TranslationMemoryEntry, flag: CancelFlag | None = None) -> int:
        """Adds an entry, and returns its id. `flag` is committed to before. The GIL is released."""

    def add_at_once(self, entry: TranslationMemoryEntry) -> int | None:
        """Adds an entry if it is short and nothing has to be waited for. Returns its id, or None if
        it is not added.
        """

    def has_room(self) -> bool:
        """Whether an add or a replacement would begin at once, not wait for background work."""

    def wait_for_room(self) -> None:
        """Waits until an add or a replacement would begin at once."""

    def publish(self, batch: Batch) -> tuple[int, int]:
        """Shows the entries of a prepared batch. Returns their first id and the one after their
        last.
        """

    def apply(self, seen: Snapshot, removed: Ids, first: int, batch: Batch) -> bool:
        """Removes entries and shows those of a prepared batch, in one step.

        The id of an entry is `first` and its number in the batch added to that: one that no entry
        has then, be it new or that of an entry that is removed. It says the place in the order.

        Returns:
            False if the memory changed since `seen`, or the batch is not prepared: then nothing was
            done. The batch is used up in any case.

        Raises:
            UnknownEntryError: No entry has one of the ids to remove, or one is given twice.
            InvalidValueError: An entry that is not removed has an id, or it is too high.
        """

    def reserve_ids(self, next_id: int) -> None:
        """Gives no id below this one to a new entry any more."""

    def replace(
        self, id: int, entry: TranslationMemoryEntry, flag: CancelFlag | None = None
    ) -> None:
        """Puts an entry in the place of another. `flag` is committed to before."""

    def remove(self, id: int) -> None:
        """Removes an entry."""

    def remove_many(self, ids: Ids, flag: CancelFlag | None = None) -> None:
        """Removes entries, all or none. `flag` is committed to before."""

    def search(
        self,
        query: str,
        options: _Options,
        flag: CancelFlag | None = None,
        signal: Signal | None = None,
    ) -> Found:
        """The best hits for a query, found without the GIL."""

    def search_within(self, seconds: float, query: str, options: _Options) -> Found | None:
        """The best hits for a query, found with the GIL held; None if that takes more than
        `seconds`.
        """

    def search_many(
        self,
        queries: Queries,
        options: _Options,
        threads: int | None = None,
        flag: CancelFlag | None = None,
        signal: Signal | None = None,
    ) -> Found:
        """The best hits for many queries over one state of the memory, found without the GIL."""

    def snapshot(self) -> Snapshot:
        """The state right now."""

    def stats(self) -> tuple[int, int, int, int, int, dict[str, int]]:
        """Counts (entries, rows, segments, live entries, removed entries) and the bytes of each
        part.
        """

    def settle(self) -> None:
        """Waits until background work has nothing left to do. For tests and benches."""

    def internal_validate(self) -> None:
        """Checks the invariants of every structure. For tests."""

@final
class Snapshot:
    """A memory's state at one moment."""

    def __len__(self) -> int: ...
    @property
    def next_id(self) -> int:
        """The id that the next entry gets: one more than the highest so far."""

    def search(
        self,
        query: str,
        options: _Options,
        flag: CancelFlag | None = None,
        signal: Signal | None = None,
    ) -> Found:
        """As `Memory.search`, in this state."""

    def search_within(self, seconds: float, query: str, options: _Options) -> Found | None:
        """As `Memory.search_within`, in this state."""

    def get(self, id: int) -> TranslationMemoryEntry:
        """An entry.

        Raises:
            UnknownEntryError: No entry has the id.
        """

    def entries(self, start: int, seconds: float) -> list[tuple[int, TranslationMemoryEntry]]:
        """Ids and entries in insertion order, from the first whose id is at least
        `start`.

        They are as many as can be read within about `seconds`, and at least one if there is one.
        """

    def source_ids(self, start: int, seconds: float) -> list[tuple[str, int]]:
        """The source ids of entries that have one, with their ids, in insertion order; as many as
        `entries` would read.
        """

    def check_ids(self, ids: Ids) -> None:
        """Whether there are entries with all these ids, each given once.

        Raises:
            UnknownEntryError: No entry has one of the ids, or it is given twice.
        """

    def ids_within(self, ranges: list[tuple[int, int]]) -> Ids:
        """The ids that entries have within some ranges, which are given by their first and last ids
        and do not overlap.
        """

    def rows(self, start: int, count: int) -> list[_Row]:
        """As `entries`, at most `count` of them, as rows of a database."""

# Line, unit, code, message.
_Skipped: TypeAlias = tuple[int, str | None, str, str]

def file_formats() -> list[tuple[str, list[str]]]:
    """The names of the file formats, each with the endings of its files' names in lower case, the
    usual one first.
    """

@final
class FileReader:
    """A file that is being read, a slice of some milliseconds at a time.

    After an error it is closed, and has nothing more to read.
    """

    def __new__(
        cls,
        path: str | PathLike[str],
        format: str | None = None,
        options: dict[str, Any] | None = None,
    ) -> FileReader:
        """Opens a file. Its format, if it is not given, is what its name or its first bytes tell.

        Raises:
            OSError: The file cannot be read.
            FormatError: It is not what it is said to be.
            InvalidValueError: The format or an option is not known, or the format has no use for
                the option.
        """

    @property
    def format(self) -> str:
        """The format's name."""

    @property
    def bytes_total(self) -> int | None:
        """The size of the file on disk; None for a pipe and the like."""

    @property
    def bytes_read(self) -> int:
        """Bytes of the file read so far, as they are on disk."""

    @property
    def units_read(self) -> int:
        """Units of the format read so far, with those that were left out."""

    def read_into(
        self,
        batch: Batch,
        domain: str | None = None,
        namespace: str | None = None,
        namespaces: list[str] | None = None,
        flag: CancelFlag | None = None,
        signal: Signal | None = None,
    ) -> bool:
        """Reads some units into a batch, without the GIL. Returns whether there are more. All
        entries get the domain and the namespace that are given; those that are then in none of
        `namespaces` are left out, and those without one get the only one of them.

        Raises:
            OSError: The file cannot be read.
            FormatError: Nothing that follows can be told apart.
            AbortedError: `flag` or `signal` was set.
        """

    def read(
        self, flag: CancelFlag | None = None, signal: Signal | None = None
    ) -> tuple[list[TranslationMemoryEntry | _Skipped], bool]:
        """Reads some units, without the GIL.

        Returns:
            Entries, and for what was left out line, unit, code and message, in the order of the
            file; and whether there are more.

        Raises:
            As `read_into`.
        """

    def take_problems(self) -> list[_Skipped]:
        """What `read_into` left out since this was called last: line, unit, code, message."""

@final
class FileWriter:
    """A file that is being written. It stands under its name when `finish` returns."""

    def __new__(
        cls,
        path: str | PathLike[str],
        format: str | None = None,
        options: dict[str, Any] | None = None,
    ) -> FileWriter:
        """Begins a file. Its format, if it is not given, is what its name tells.

        Raises:
            OSError: The file cannot be written.
            InvalidValueError: The format or an option is not known, or the format has no use for
                the option.
        """

    @property
    def format(self) -> str:
        """The format's name."""

    @property
    def written(self) -> int:
        """Entries that were written."""

    def extend(self, iterator: Iterator[TranslationMemoryEntry], seconds: float) -> bool:
        """Copies entries for at most about `seconds`, or until it is time to `absorb` them.

        Returns:
            Whether there are no more.

        Raises:
            InvalidTypeError: An item is no entry; `position` says which.
            InvalidValueError: An entry was changed to something that is not allowed.
        """

    def absorb(self, flag: CancelFlag | None = None, signal: Signal | None = None) -> None:
        """Writes what was copied, without the GIL.

        Raises:
            OSError: The file cannot be written.
            AbortedError: `flag` or `signal` was set.
        """

    def write_snapshot(
        self,
        snapshot: Snapshot,
        filters: tuple[str | None, str | None, str | None, str | None],
        flag: CancelFlag | None = None,
        signal: Signal | None = None,
    ) -> bool:
        """Writes some of a snapshot's entries that the filters (source language, target language,
        domain, namespace) let through, without the GIL: on from where it stopped the last time.

        Returns:
            Whether there are more.

        Raises:
            As `absorb`.
        """

    def take_problems(self) -> list[_Skipped]:
        """What could not be written since this was called last: the number of the entry, counted
        from 1, its source id, code and message.
        """

    def finish(self) -> None:
        """Ends the file, makes it durable and puts it in its place.

        Raises:
            OSError: It cannot be done; what was there is as it was.
        """

    def abandon(self) -> None:
        """Gives the file up, if it is not finished: nothing of it is left."""

def read_jsonl(
    path: str | PathLike[str],
    progress: Progress | None = None,
    flag: CancelFlag | None = None,
    signal: Signal | None = None,
) -> Batch:
    """The entries of a file, ready for `Batch.prepare`. It is read without the GIL.

    `progress` is called on the calling thread with the bytes read, the size of the file (None if it
    is not known) and the number of entries so far: now and then, and at the end.

    Raises:
        OSError: The file cannot be read.
        FormatError: A line is no entry, or the compressed data is damaged.
        AbortedError: `flag` or `signal` was set.
    """

@final
class JsonLines:
    """The lines of a JSON Lines file, plain or compressed with gzip or Zstandard, whatever objects
    they are.

    Raises:
        OSError: The file cannot be read.
        FormatError: The compressed data is damaged from the start.
    """

    def __new__(cls, path: str | PathLike[str]) -> JsonLines: ...
    def block(self) -> list[tuple[int, bytes]] | None:
        """The next lines that are not only white space, about 256 KiB of them, with their numbers;
        None where there are no more. What is not UTF-8 in the file is not UTF-8 in its line.

        Raises:
            OSError: The file cannot be read.
            FormatError: The compressed data is damaged, or a line has more than 64 MiB.
        """

def save_snapshots(
    snapshots: list[Snapshot],
    path: str | PathLike[str],
    tag: bytes,
    like: str | PathLike[str] | None = None,
    flag: CancelFlag | None = None,
    signal: Signal | None = None,
) -> None:
    """Writes states of memories to one file, with a tag of the caller's; without the GIL, while the
    memories are searched and changed.

    The file is there as a whole and on the disk or, after an error or a crash, as it was. It gets
    the permissions of the file `like`, if one is given.

    Raises:
        OSError: The file cannot be written.
        AbortedError: `flag` or `signal` was set.
    """

def open_memories(
    path: str | PathLike[str],
    count: int,
    flag: CancelFlag | None = None,
    signal: Signal | None = None,
) -> tuple[list[Memory], bytes]:
    """The memories, `count` of them, whose states `save_snapshots` wrote to a file, and the tag;
    read without the GIL.

    Whatever the file holds, what is opened can be searched and changed. What is wrong with a file
    by accident is found; what was made on purpose to deceive is not.

    Raises:
        SnapshotError: The file is not a whole snapshot of so many memories from a build that makes
            the same index.
        OSError: The file cannot be read.
        AbortedError: `flag` or `signal` was set.
    """

def count_pairs(batch: Batch) -> dict[_Pair, int]:
    """How many entries of a batch there are of each pair of languages, as they were given."""

def fold_pairs(pairs: dict[_Pair, int]) -> list[_Counts]:
    """Entries by pair of languages, counted as added. Tags that differ only in case are the same
    language, shown as most entries have it.
    """

def resolve(
    batch: Batch,
    memory: Snapshot,
    policy: str,
    flag: CancelFlag | None = None,
    signal: Signal | None = None,
) -> tuple[Ids, Batch, list[_Counts]]:
    """What becomes of the entries of a batch in a state of a memory: the ids to remove there, a
    batch of entries numbered by their ids, and counts. The batch was absorbed, not prepared, and
    stays as it is.

    `Memory.apply` does it, once the new batch is prepared.

    Args:
        policy: `keep`, `skip`, `replace` or `newest`.
    """

def find_duplicates(
    memory: Snapshot,
    policy: str,
    flag: CancelFlag | None = None,
    signal: Signal | None = None,
) -> tuple[Ids, list[_Counts]]:
    """The ids of the entries of a memory that are duplicates, ascending, and counts."""

def merge(
    memory: Memory,
    batch: Batch,
    policy: str,
    flag: CancelFlag | None = None,
    signal: Signal | None = None,
) -> list[_Counts]:
    """Adds a batch, which was absorbed, not prepared, to a memory, all at once and as if no other
    writer had been at work from beginning to end.
    """

def dedupe(
    memory: Memory,
    policy: str,
    flag: CancelFlag | None = None,
    signal: Signal | None = None,
) -> list[_Counts]:
    """Removes the entries of a memory that are duplicates, all at once."""

def containing(
    memory: Snapshot,
    wanted: tuple[str, str, int],
    options: _Options,
    flag: CancelFlag | None = None,
    signal: Signal | None = None,
) -> list[int]:
    """The ids of the first entries that contain a text, without the GIL: `max_hits` of the options
    at the most, ascending; `min_score` means nothing here. `wanted` is the text, where it is looked
    for (`source`, `target` or `both`), and the lowest id.

    Raises:
        InvalidValueError: The text is white space, or has more than 1,000 characters.
        AbortedError: `flag` or `signal` was set.
    """

def count_by(
    memory: Snapshot,
    by: list[bool],
    options: _Options,
    flag: CancelFlag | None = None,
    signal: Signal | None = None,
) -> list[tuple[list[str | None], int]]:
    """How many entries pass the filters of `options`, by the values of the fields that `by` marks:
    source language, target language, domain, namespace. The GIL is released.

    Raises:
        AbortedError: `flag` or `signal` was set.
    """
