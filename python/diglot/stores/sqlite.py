"""A translation memory that is kept in a SQLite database.

`SqliteTranslationMemory` is for synchronous, `SqliteTranslationMemoryStore` for asynchronous code.
They find the same as the memories of `diglot.memory` do, as the same index is in memory; the
database is what lasts. `docs/stores.md` has what is promised of it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, NamedTuple

from diglot import _engine
from diglot._memory import AsyncMemory, SyncMemory, is_long, read_ids
from diglot._steps import Steps, Work, ids_of, on_thread
from diglot.errors import (
    AbortedError,
    StoreError,
)
from diglot.model import TranslationMemoryEntry
from diglot.store import Signal, check_signal
from diglot.stores._database import Arguments, State
from diglot.stores._durable import AsyncDurable, Durable, check_arguments, kept, opening
from diglot.stores._keeper import Index, Keeper
from diglot.stores._snapshots import Snapshots

if TYPE_CHECKING:
    from diglot._engine import _Counts, _Row

__all__ = ["SqliteTranslationMemory", "SqliteTranslationMemoryStore"]

_KIND = "translations"

# Seconds of rows that are read at a time.
_READ = 0.05

# Single entries that are written in one transaction.
_GROUP = 1000


def _prepared() -> _engine.Batch:
    batch = _engine.Batch()
    batch.prepare()
    return batch


class _Translations(Index):
    """The index of a database of translations."""

    def rows(self, rows: list[_Row]) -> tuple[list[_Row], ...]:
        return (rows,)

    def apply(
        self,
        gone: list[tuple[int, int]],
        rows: Iterator[_Row],
        flag: _engine.CancelFlag | None,
    ) -> None:
        batch = _engine.Batch()
        while not batch.extend_rows(rows, _READ):
            batch.absorb(flag)
        batch.absorb(flag)
        batch.prepare(flag)
        seen = self.entries.snapshot()
        self.entries.apply(seen, seen.ids_within(gone), 0, batch)


class _Addition:
    """An entry on its way into a store, alone or with others."""

    __slots__ = ("batch", "error", "flag", "id")

    def __init__(self, entry: TranslationMemoryEntry) -> None:
        self.batch = _engine.Batch()
        self.batch.push(entry)
        self.flag: _engine.CancelFlag | None = None
        self.id: int | None = None
        self.error: Exception | None = None

    @property
    def is_done(self) -> bool:
        return self.id is not None or self.error is not None


class _Change(NamedTuple):
    """What becomes of a memory, in one step.

    Attributes:
        gone: The entries that are removed, or give their place to others.
        first: What the numbers of the batch are added to for ids.
        batch: The entries that are added; prepared.
    """

    gone: _engine.Ids
    first: int
    batch: _engine.Batch


class SqliteTranslationMemory(Durable, SyncMemory):
    """A translation memory in a SQLite database, for synchronous code.

    It has the methods of `TranslationMemory` with the same arguments, results and errors; besides,
    all of them raise a `StoreError` where the database cannot be used. What was added, replaced or
    removed is on disk when the method returns. Open it with `open`, and close it, or use it in a
    `with` statement.

    All methods may be called from any thread at any time, and other processes may have the same
    database open. Every operation sees what other processes changed before it began.
    """

    __slots__ = ("_additions", "_keeper", "_snapshots")

    def __init__(self, memory: _engine.Memory, keeper: Keeper, snapshots: Snapshots) -> None:
        self._memory = memory
        self._keeper = keeper
        self._snapshots = snapshots
        # Those that wait for their turn, in order.
        self._additions: deque[_Addition] = deque()

    @classmethod
    def open(
        cls,
        path: str | PathLike[str],
        *,
        create: bool = True,
        read_only: bool = False,
        busy_timeout: float = 30.0,
    ) -> SqliteTranslationMemory:
        """Opens a database.

        Args:
            path: The file. Files beside it, whose names begin with its name, belong to it.
            create: Whether to make one if there is none.
            read_only: Whether to change nothing of it. Readers of a directory that they cannot
                write to need not see what others change meanwhile.
            busy_timeout: Seconds that a change waits for one by another process.

        Raises:
            OSError: The file or its directory cannot be read; `FileNotFoundError` if it is not
                there.
            InvalidTypeError: An argument has a wrong type.
            InvalidValueError: `path` has a NUL character, or `busy_timeout` is not from 0 to
                86,400.
            StoreFormatError: The file is not a database of translations of this version or one
                before.
            StoreDamagedError: The database is damaged.
            StoreError: The database cannot be used; `code` says why.
        """
        return cls._open(check_arguments(path, create, read_only, busy_timeout), None)

    @classmethod
    def _open(
        cls, arguments: Arguments, flag: _engine.CancelFlag | None
    ) -> SqliteTranslationMemory:
        with opening(_KIND, 1, arguments, flag) as (database, (memory,), seq):
            return cls(memory, *kept(database, _Translations(memory), seq, flag))

    def _news(self) -> Work | None:
        return self._keeper.news()

    def _add_at_once(self, entry: TranslationMemoryEntry) -> None:
        # The disk takes longer than a few microseconds.
        return None

    def _add(self, entry: TranslationMemoryEntry, signal: Signal | None) -> Steps[int]:
        check_signal(signal)
        addition = yield from _read(entry)
        return (yield partial(self._add_with_others, addition))  # type: ignore[no-any-return]

    def _add_with_others(self, addition: _Addition, flag: _engine.CancelFlag | None) -> int:
        """Adds an entry, and in the same transaction those that wait for their turn meanwhile:
        to write them to disk takes the time of one.
        """
        addition.flag = flag
        self._additions.append(addition)
        with self._keeper.turn:
            if not addition.is_done:
                self._add_waiting()
        if addition.error is not None:
            raise copy(addition.error)
        assert addition.id is not None
        return addition.id

    def _add_waiting(self) -> None:
        group: list[_Addition] = []

        def together(before: State) -> _Change:
            while self._additions and len(group) < _GROUP:
                addition = self._additions.popleft()
                try:
                    if addition.flag is not None:
                        addition.flag.commit()
                except AbortedError as error:
                    addition.error = error
                else:
                    group.append(addition)
            batch = _engine.Batch.joined([addition.batch for addition in group])
            batch.prepare()
            return _Change(_engine.Ids(), before.next_id, batch)

        try:
            before = self._write(together)
        except BaseException as error:
            # Those that still wait would only meet the same, each after a time of its own.
            group.extend(self._additions)
            self._additions.clear()
            for addition in group:
                addition.error = error if isinstance(error, Exception) else self._interrupted()
            if not isinstance(error, Exception):
                raise
        else:
            for id, addition in enumerate(group, start=before.next_id):
                addition.id = id

    def _interrupted(self) -> StoreError:
        path = str(self.path)
        return StoreError(f"writing to {path} was interrupted by another thread", path=path)

    def _add_batch(self, batch: _engine.Batch, signal: Signal | None) -> Steps[range]:
        count = len(batch)

        def add(flag: _engine.CancelFlag | None) -> range:
            with self._keeper.turn:
                before = self._write(
                    lambda before: _Change(_engine.Ids(), before.next_id, batch), signal, flag
                )
            return range(before.next_id, before.next_id + count)

        self._keeper.check_usable()
        if not count:
            id = self._memory.snapshot().next_id
            return range(id, id)
        return (yield add)  # type: ignore[no-any-return]

    def _merge(
        self, batch: _engine.Batch, policy: str, signal: Signal | None
    ) -> Steps[list[_Counts]]:
        if policy == "keep":
            return (yield from super()._merge(batch, policy, signal))

        def merge(flag: _engine.CancelFlag | None) -> list[_Counts]:
            counts: list[_Counts] = []

            def resolved(_: State) -> _Change:
                gone, new, counted = _engine.resolve(
                    batch, self._memory.snapshot(), policy, flag, signal
                )
                new.prepare(flag, signal)
                counts.extend(counted)
                return _Change(gone, 0, new)

            with self._keeper.turn:
                self._write(resolved, signal, flag)
            return counts

        return (yield merge)  # type: ignore[no-any-return]

    def _dedupe(self, policy: str, signal: Signal | None) -> Steps[list[_Counts]]:
        def dedupe(flag: _engine.CancelFlag | None) -> list[_Counts]:
            counts: list[_Counts] = []

            def found(_: State) -> _Change:
                gone, counted = _engine.find_duplicates(
                    self._memory.snapshot(), policy, flag, signal
                )
                counts.extend(counted)
                return _Change(gone, 0, _prepared())

            with self._keeper.turn:
                self._write(found, signal, flag)
            return counts

        return (yield dedupe)  # type: ignore[no-any-return]

    def _replace(
        self, id: int, entry: TranslationMemoryEntry, signal: Signal | None
    ) -> Steps[None]:
        check_signal(signal)
        addition = yield from _read(entry)

        def replace(flag: _engine.CancelFlag | None) -> None:
            def known(_: State) -> _Change:
                gone = self._known(id)
                addition.batch.prepare()
                return _Change(gone, id, addition.batch)

            with self._keeper.turn:
                self._write(known, signal, flag)

        yield replace

    def _remove(self, id: int, signal: Signal | None) -> Steps[None]:
        check_signal(signal)
        yield partial(self._remove_known, partial(self._known, id), signal)

    def _remove_many(self, ids: Iterable[int], signal: Signal | None) -> Steps[None]:
        batch = yield from read_ids(ids, signal)
        yield partial(self._remove_known, partial(self._all_known, batch), signal)

    def _remove_known(
        self,
        known: Callable[[], _engine.Ids],
        signal: Signal | None,
        flag: _engine.CancelFlag | None,
    ) -> None:
        with self._keeper.turn:
            self._write(lambda _: _Change(known(), 0, _prepared()), signal, flag)

    def _known(self, id: int) -> _engine.Ids:
        self._memory.snapshot().get(id)
        return ids_of([id])

    def _all_known(self, ids: _engine.Ids) -> _engine.Ids:
        self._memory.snapshot().check_ids(ids)
        return ids

    def _write(
        self,
        make: Callable[[State], _Change],
        signal: Signal | None = None,
        flag: _engine.CancelFlag | None = None,
    ) -> State:
        """Makes a change of the memory as it is when nobody else can change it, for whoever has the
        turn. Returns the state before.
        """

        def change(before: State) -> tuple[State, Callable[[], object]]:
            gone, first, batch = make(before)
            after = self._keeper.record(before, gone, first, batch, signal, flag)
            self._memory.wait_for_room()
            check_signal(signal)

            def show() -> None:
                self._memory.apply(self._memory.snapshot(), gone, first, batch)

            return after, show

        before = self._keeper.write(change, flag)
        self._snapshots.save_if_due()
        return before


def _read(entry: TranslationMemoryEntry) -> Steps[_Addition]:
    if is_long(entry):
        return (yield lambda flag: _Addition(entry))  # type: ignore[no-any-return]
    return _Addition(entry)


class SqliteTranslationMemoryStore(AsyncDurable, AsyncMemory[SqliteTranslationMemory]):
    """A translation memory in a SQLite database, for asynchronous code.

    It is a `TranslationMemoryStore`, and has the methods of `SqliteTranslationMemory` with the same
    arguments, results and errors. Searches run as those of `InMemoryTranslationMemoryStore` do;
    changes are written on threads. A task that is cancelled before its change is written has
    changed nothing; after that, the cancellation comes too late and the call returns.

    `len()` and `stats()` do not look at the database: what other processes changed, they have after
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
    ) -> SqliteTranslationMemoryStore:
        """As `SqliteTranslationMemory.open`."""
        arguments = check_arguments(path, create, read_only, busy_timeout)
        return cls(await on_thread(lambda flag: SqliteTranslationMemory._open(arguments, flag)))

    @property
    def _durable(self) -> SqliteTranslationMemory:
        return self.memory
