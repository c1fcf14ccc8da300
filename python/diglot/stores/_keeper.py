"""How an index in memory and a database keep step, in several threads and processes.

Writers of a process take turns. What they change is written to the database, where it lasts, and
then shown in the index. What other processes wrote is noticed before every operation and read in.
"""

from __future__ import annotations

import logging
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from threading import Condition, Lock
from typing import TYPE_CHECKING

from diglot.errors import (
    AbortedError,
    InvalidTypeError,
    InvalidValueError,
    StoreError,
)
from diglot.store import Signal, check_signal
from diglot.stores._database import MOST_ID, Database, State

if TYPE_CHECKING:
    import sqlite3

    from diglot import _engine
    from diglot._engine import _Row
    from diglot._steps import Work

__all__ = ["Index", "Keeper", "check_flag"]

_log = logging.getLogger("diglot")

# Seconds that a reader waits for another thread to read in what other processes wrote.
_PATIENCE = 0.1

# Rows that are made and written at a time: more of them would not stay in a processor's caches.
_ROWS = 100


class Index(ABC):
    """What is kept in memory of a database. One thread at a time changes it.

    Attributes:
        memories: All that it was made of, and can be made of again. The first has the entries of
            the database, under their ids.
    """

    def __init__(self, *memories: _engine.Memory) -> None:
        self.memories = memories

    @property
    def entries(self) -> _engine.Memory:
        """The entries of the database, under their ids."""
        return self.memories[0]

    def snapshots(self) -> list[_engine.Snapshot]:
        """The states of the memories, of one moment for whoever keeps others from changing them."""
        return [memory.snapshot() for memory in self.memories]

    @abstractmethod
    def rows(self, rows: list[_Row]) -> tuple[list[_Row], ...]:
        """What each memory has of some rows of the database.

        Raises:
            InvalidTypeError: A row has a value of a wrong type.
            InvalidValueError: A row has a value that no entry can have.
        """

    @abstractmethod
    def apply(
        self,
        gone: list[tuple[int, int]],
        rows: Iterator[_Row],
        flag: _engine.CancelFlag | None,
    ) -> None:
        """In one step, forgets what it holds within ranges of ids and takes rows in.

        Raises:
            AbortedError: `flag` was set before; nothing was done.
            InvalidTypeError: A row has a value of a wrong type.
            InvalidValueError: A row has a value that no entry can have.
        """


class Keeper:
    """Keeps an index and a database in step.

    Args:
        database: The database. Its writing connection belongs to whoever has the turn, its reading
            connection to whoever has the lock.
        index: The index as it was when `seq` was reached, or an empty one and -1.
        seq: What it holds of the database.
    """

    def __init__(self, database: Database, index: Index, seq: int) -> None:
        self.database = database
        self.index = index
        self._seq = seq
        self._process = os.getpid()
        self._open = True
        # The version of the database that was looked at last.
        self._version: int | None = None
        # Who wants both takes the turn first.
        self.turn = Lock()
        self._lock = Lock()
        # The `seq` of a change that is on its way from the database into the index.
        self._on_its_way: int | None = None
        self._arrived = Condition(self._lock)

    @property
    def is_usable(self) -> bool:
        """Whether the store is open, and was opened by this process."""
        return self._open and os.getpid() == self._process

    def check_usable(self) -> None:
        """Raises `StoreError` (`store_closed`) if the store was closed, or belongs to the process
        that this one was forked from.
        """
        if not self._open:
            path = str(self.database.path)
            raise StoreError(f"the store {path} is closed", code="store_closed", path=path)
        if os.getpid() != self._process:
            path = str(self.database.path)
            raise StoreError(
                f"the store {path} was opened before this process was forked; open it here again",
                code="store_closed",
                path=path,
            )

    def news(self) -> Work | None:
        """What has to be done before the index has all changes whose calls returned; None if there
        is nothing.
        """
        self.check_usable()
        if not self._lock.acquire(blocking=False):
            return self._wait_for_news
        try:
            return self._wait_for_news if self._is_behind() else None
        finally:
            self._lock.release()

    def _is_behind(self) -> bool:
        version = self.database.version()
        if version == self._version:
            return False
        seq = self.database.state(self.database.reader).seq
        if seq == self._seq:
            self._version = version
            return False
        return seq != self._on_its_way

    def _wait_for_news(self, flag: _engine.CancelFlag | None) -> None:
        """Reads in what other processes wrote. If another thread is at it and takes long, searches
        go on with what there is.
        """
        if not self._lock.acquire(timeout=_PATIENCE):
            return
        try:
            self.check_usable()
            if self._is_behind() and self._arrived.wait_for(
                lambda: self._on_its_way is None, _PATIENCE
            ):
                self.catch_up(self.database.reader, flag)
        finally:
            self._lock.release()

    def catch_up(self, connection: sqlite3.Connection, flag: _engine.CancelFlag | None) -> State:
        """Reads in what is in the database and not in the index; for whoever has the lock."""
        database = self.database
        with database.errors(), database.reading(connection):
            state = database.state(connection)
            if state.seq == self._seq:
                return state
            if state.changes_from <= self._seq < state.seq:
                gone = database.changed_since(connection, self._seq)
                first = self.index.entries.snapshot().next_id
            else:
                # The database was compacted, or an older one was put in its place.
                if self._seq >= 0:
                    _log.warning("reading all of %s again: it was replaced", database.path)
                gone, first = [(0, MOST_ID)], 0
            below = ((start, min(last, first - 1)) for start, last in gone if start < first)
            ranges = chain(below, [(first, MOST_ID)])
            rows = chain.from_iterable(database.rows(connection, *ids) for ids in ranges)
            try:
                self.index.apply(gone, rows, flag)
            except (InvalidTypeError, InvalidValueError) as error:
                raise database.damaged(str(error)) from error
            self.index.entries.reserve_ids(state.next_id)
            self._seq = state.seq
        return state

    def write(
        self,
        change: Callable[[State], tuple[State, Callable[[], object]]],
        flag: _engine.CancelFlag | None = None,
    ) -> State:
        """Makes a change, on disk and then in the index; for whoever has the turn. Returns the
        state before.

        Args:
            change: Writes to the database, whose state it is told. It returns the state after that,
                and what shows the change in the index.
            flag: Stops the change if it is set before all is written.

        Nothing is written where the state stays the same.
        """
        self.check_usable()
        database = self.database
        with database.writing():
            with self._lock:
                before = self.catch_up(database.writer, flag)
            after, show = change(before)
            if after == before:
                return before
            if flag is not None:
                flag.commit()
            with self._lock:
                self._on_its_way = after.seq
            try:
                database.commit()
                with self._lock:
                    # Others may have read it in by now.
                    if self._seq == before.seq:
                        show()
                        self._seq = after.seq
            finally:
                with self._lock:
                    self._on_its_way = None
                    self._arrived.notify_all()
        return before

    def record(
        self,
        before: State,
        gone: _engine.Ids,
        first: int,
        batch: _engine.Batch,
        signal: Signal | None,
        flag: _engine.CancelFlag | None,
    ) -> State:
        """Writes a change to the database; for `write`. Returns the state after it.

        Args:
            before: The state before.
            gone: The entries that go, or give their ids to others.
            first: What the numbers of the batch are added to for ids.
            batch: The entries that come.
            signal: Stops it when it is set.
            flag: Stops it when it is set.
        """
        ranges = gone.ranges()
        self.database.remove(ranges)
        next_id = before.next_id
        for start in range(0, len(batch), _ROWS):
            check_signal(signal)
            check_flag(flag)
            rows = batch.values(first, start, start + _ROWS)
            self.database.insert(rows)
            next_id = max(next_id, rows[-1][0] + 1)
        after = before._replace(seq=before.seq + len(gone) + len(batch), next_id=next_id)
        self.database.log(after, ranges)
        return after

    def note(self, write: Callable[[State], None]) -> None:
        """Writes something to the database that changes no entry, on whose state the index is."""
        self.check_usable()
        with self.turn, self.database.writing():
            with self._lock:
                state = self.catch_up(self.database.writer, None)
            write(state)
            self.database.commit()

    @property
    def seq(self) -> int:
        """What the index holds of the database."""
        return self._seq

    def last_snapshot_seq(self) -> int:
        """The highest `seq` at which a snapshot was made; 0 if none was."""
        with self._lock:
            return self.database.last_snapshot_seq()

    @contextmanager
    def standing_still(
        self, flag: _engine.CancelFlag | None
    ) -> Iterator[tuple[sqlite3.Connection, list[_engine.Snapshot]]]:
        """The states of the memories, and a connection that sees the database as they are. It
        belongs to the block, which may take its time.
        """
        self.check_usable()
        with self.database.another_reader() as connection, self.database.reading(connection):
            with self._lock:
                self.catch_up(connection, flag)
                snapshots = self.index.snapshots()
            yield connection, snapshots

    def close(self) -> None:
        """Closes the database, once nobody uses it any more."""
        with self.turn, self._lock:
            self._open = False
            self.database.close()


def check_flag(flag: _engine.CancelFlag | None) -> None:
    """Raises `AbortedError` if nobody waits any more for what is being done."""
    if flag is not None and flag.is_set():
        raise AbortedError("the operation was aborted: its task was cancelled")
