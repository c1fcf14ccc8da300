"""A dual-language memory that is kept in a SQLite database.

`SyncSqliteDualLanguageMemory` is for synchronous, `SqliteDualLanguageMemory` for asynchronous code.
They recall the same as the memories of `diglot.dual` do, as the same indexes are in memory; the
database is what lasts. `docs/stores.md` has what is promised of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from os import PathLike
from typing import TYPE_CHECKING

from diglot import _engine
from diglot._steps import EVER, Work, ids_of, on_thread
from diglot.dual.memory import AsyncRecords, RecordsChange, RecordsCount, SyncRecords
from diglot.dual.policy import RecallPolicy
from diglot.dual.record import MemoryRecord, english_row, record_from_entry, record_from_row
from diglot.store import Signal, check_signal
from diglot.stores._database import Arguments, State
from diglot.stores._durable import AsyncDurable, Durable, check_arguments, kept, opening
from diglot.stores._keeper import Index, check_flag

if TYPE_CHECKING:
    from diglot._engine import _Row
    from diglot.kpi import KpiRecorder

__all__ = ["SqliteDualLanguageMemory", "SyncSqliteDualLanguageMemory"]

_KIND = "records"

# Rows that are read at a time.
_ROWS = 256


class _Records(Index):
    """The index of a database of records, whose entries are those of their texts."""

    def __init__(self, memory: SyncRecords) -> None:
        super().__init__(memory._texts, memory._english)
        self._memory = memory

    def rows(self, rows: list[_Row]) -> tuple[list[_Row], ...]:
        return rows, list(_english_rows((row[0], record_from_row(row)) for row in rows))

    def apply(
        self,
        gone: list[tuple[int, int]],
        rows: Iterator[_Row],
        flag: _engine.CancelFlag | None,
    ) -> None:
        texts, english = _engine.Batch(), _engine.Batch()
        places: dict[str, int] = {}
        counts = RecordsCount()
        while chunk := list(islice(rows, _ROWS)):
            check_flag(flag)
            records = [(row[0], record_from_row(row)) for row in chunk]
            for number, record in records:
                places[record.id] = number
                counts.add(record)
            for batch, some in ((texts, iter(chunk)), (english, _english_rows(records))):
                while not batch.extend_rows(some, EVER):
                    batch.absorb(flag)
        for batch in (texts, english):
            batch.absorb(flag)
            batch.prepare(flag)
        held = self.entries.snapshot()
        going = {
            number: record_from_entry(held.get(number))
            for first, last in held.ids_within(gone).ranges()
            for number in range(first, last + 1)
        }
        self._memory._show(RecordsChange(going, 0, texts, english, None, places, counts))


def _english_rows(records: Iterable[tuple[int, MemoryRecord]]) -> Iterator[_Row]:
    """The rows of the English sides of numbered records."""
    return (english_row(record, n) for n, record in records if record.english is not None)


class SyncSqliteDualLanguageMemory(Durable, SyncRecords):
    """A dual-language memory in a SQLite database, for synchronous code.

    It has the methods of `SyncDualLanguageMemory` with the same arguments, results and errors;
    besides, all of them raise a `StoreError` where the database cannot be used. What was added,
    updated or removed is on disk when the method returns. Open it with `open`, and close it, or use
    it in a `with` statement.

    All methods may be called from any thread at any time, and other processes may have the same
    database open. Every operation sees what other processes changed before it began.
    """

    __slots__ = ("_keeper", "_snapshots")

    _at_once = False

    @classmethod
    def open(
        cls,
        path: str | PathLike[str],
        *,
        create: bool = True,
        read_only: bool = False,
        busy_timeout: float = 30.0,
        policy: RecallPolicy | None = None,
        recorder: KpiRecorder | None = None,
    ) -> SyncSqliteDualLanguageMemory:
        """Opens a database.

        Args:
            path: The file. Files beside it, whose names begin with its name, belong to it.
            create: Whether to make one if there is none.
            read_only: Whether to change nothing of it. Readers of a directory that they cannot
                write to need not see what others change meanwhile.
            busy_timeout: Seconds that a change waits for one by another process.
            policy: How recalls decide that bring no policy of their own; the documented defaults if
                None.
            recorder: Where recalls are counted and timed; a `HistogramRecorder` of its own if None.

        Raises:
            OSError: The file or its directory cannot be read; `FileNotFoundError` if it is not
                there.
            InvalidTypeError: An argument has a wrong type.
            InvalidValueError: `path` has a NUL character, or `busy_timeout` is not from 0 to
                86,400.
            StoreFormatError: The file is not a database of records of this version or one before.
            StoreDamagedError: The database is damaged.
            StoreError: The database cannot be used; `code` says why.
        """
        arguments = check_arguments(path, create, read_only, busy_timeout)
        return cls._open(arguments, policy, recorder, None)

    @classmethod
    def _open(
        cls,
        arguments: Arguments,
        policy: RecallPolicy | None,
        recorder: KpiRecorder | None,
        flag: _engine.CancelFlag | None,
    ) -> SyncSqliteDualLanguageMemory:
        with opening(_KIND, 2, arguments, flag) as (database, (texts, english), seq):
            memory = cls(texts, english, policy, recorder)
            memory._keeper, memory._snapshots = kept(database, _Records(memory), seq, flag)
            memory._lock = memory._keeper.turn
            return memory

    def _news(self) -> Work | None:
        return self._keeper.news()

    def _make(
        self,
        make: Callable[[int], RecordsChange],
        signal: Signal | None,
        flag: _engine.CancelFlag | None,
    ) -> None:
        def write(before: State) -> tuple[State, Callable[[], object]]:
            check_signal(signal)
            change = make(before.next_id)
            gone = ids_of(change.gone)
            after = self._keeper.record(before, gone, change.first, change.texts, signal, flag)
            return after, partial(self._show, change)

        self._keeper.write(write, flag)
        self._snapshots.save_if_due()


class SqliteDualLanguageMemory(AsyncDurable, AsyncRecords[SyncSqliteDualLanguageMemory]):
    """A dual-language memory in a SQLite database, for asynchronous code.

    It is a `DualLanguageStore`, and has the methods of `SyncSqliteDualLanguageMemory` with the same
    arguments, results and errors. Recalls run as those of `DualLanguageMemory` do; changes are
    written on threads. A task that is cancelled before its change is written has changed nothing;
    after that, the cancellation comes too late and the call returns.

    `len()` and `kpis()` do not look at the database: what other processes changed, they have after
    the next operation that does.
    """

    __slots__ = ()

    @classmethod
    async def open(
        cls,
        path: str | PathLike[str],
        *,
        create: bool = True,
        read_only: bool = False,
        busy_timeout: float = 30.0,
        policy: RecallPolicy | None = None,
        recorder: KpiRecorder | None = None,
    ) -> SqliteDualLanguageMemory:
        """As `SyncSqliteDualLanguageMemory.open`."""
        arguments = check_arguments(path, create, read_only, busy_timeout)

        def open_on_thread(flag: _engine.CancelFlag | None) -> SyncSqliteDualLanguageMemory:
            return SyncSqliteDualLanguageMemory._open(arguments, policy, recorder, flag)

        return cls(await on_thread(open_on_thread))

    @property
    def _durable(self) -> SyncSqliteDualLanguageMemory:
        return self.sync
