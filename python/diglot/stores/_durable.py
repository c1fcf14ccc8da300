"""What the stores over a SQLite database have in common: the file, its checks, its end."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from contextlib import contextmanager
from itertools import islice
from os import PathLike
from pathlib import Path
from traceback import clear_frames
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

from diglot._steps import on_thread
from diglot.errors import InvalidTypeError, InvalidValueError
from diglot.store import Signal, check_path, check_signal
from diglot.stores._database import MOST_ID, Arguments, Database, State
from diglot.stores._keeper import Index, Keeper, check_flag
from diglot.stores._snapshots import Snapshots, load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from diglot import _engine

__all__ = ["AsyncDurable", "Durable", "check_arguments", "kept", "opening"]

# Rows that are compared at a time.
_ROWS = 1000

# Replaced and removed entries that other processes may be behind when a database is compacted.
_CHANGES_KEPT = 100_000

_MOST_SECONDS = 86_400

_Self = TypeVar("_Self", bound="Durable")
_AsyncSelf = TypeVar("_AsyncSelf", bound="AsyncDurable")


@contextmanager
def opening(
    kind: str, count: int, arguments: Arguments, flag: _engine.CancelFlag | None
) -> Iterator[tuple[Database, list[_engine.Memory], int | None]]:
    """A database of a kind, and what `load` gives of its snapshot. After an error in the block, it
    is closed.
    """
    database = Database(kind, arguments)
    try:
        yield database, *load(database, count, flag)
    except BaseException as error:
        # A cursor that the error holds would keep its connection from being closed.
        clear_frames(error.__traceback__)
        database.close()
        raise


def kept(
    database: Database, index: Index, seq: int | None, flag: _engine.CancelFlag | None
) -> tuple[Keeper, Snapshots]:
    """What keeps an index of a database and its snapshot, once all is read in that the index does
    not have yet.

    Args:
        database: What `opening` gave.
        index: The memories that `opening` gave, as an index.
        seq: The `seq` that `opening` gave.
        flag: Stops the reading when it is set.
    """
    keeper = Keeper(database, index, -1 if seq is None else seq)
    keeper.catch_up(database.reader, flag)
    if flag is not None:
        flag.commit()
    snapshots = Snapshots(keeper, seq)
    snapshots.save_if_due()
    return keeper, snapshots


class Durable:
    """A memory over a database, for synchronous code."""

    __slots__ = ()

    _keeper: Keeper
    _snapshots: Snapshots

    @property
    def path(self) -> Path:
        """The file of the database."""
        return self._keeper.database.path

    def close(self) -> None:
        """Closes the database, and writes a snapshot if much has changed. Whoever uses it now is
        waited for; after that, all methods raise a `StoreError` (`store_closed`).
        """
        if self._keeper.is_usable:
            self._snapshots.finish()
            self._keeper.close()

    def __enter__(self: _Self) -> _Self:
        self._keeper.check_usable()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def verify(self, *, signal: Signal | None = None) -> int:
        """Checks the structure of the database, that what it holds are entries, and that the index
        has the same. Others may go on meanwhile.

        Returns:
            How many entries there are.

        Raises:
            StoreDamagedError: Something is wrong; the message says what was found first.
            AbortedError: `signal` was set before it was done.
        """
        check_signal(signal)
        return self._verify(signal, None)

    def _verify(self, signal: Signal | None, flag: _engine.CancelFlag | None) -> int:
        database, index = self._keeper.database, self._keeper.index
        with self._keeper.standing_still(flag) as (connection, snapshots):
            database.check_integrity(connection)
            rows = database.rows(connection, 0, MOST_ID)
            counts = [0] * len(snapshots)
            while chunk := list(islice(rows, _ROWS)):
                check_signal(signal)
                check_flag(flag)
                try:
                    sides = index.rows(chunk)
                except (InvalidTypeError, InvalidValueError) as error:
                    raise database.damaged(str(error)) from error
                for place, expected in enumerate(sides):
                    counts[place] += len(expected)
                    found = snapshots[place].rows(expected[0][0], len(expected)) if expected else []
                    for row, other in zip(expected, found, strict=False):
                        if row != other:
                            raise database.damaged(
                                f"the index does not have the entry {row[0]} as it is"
                            )
                for row in chunk:
                    if row[-1] is not None and not _is_object(row[-1]):
                        raise database.damaged(
                            f"the metadata of the entry {row[0]} is no JSON object"
                        )
            for count, snapshot in zip(counts, snapshots, strict=True):
                if count != len(snapshot):
                    raise database.damaged(f"it has {count} entries, but the index {len(snapshot)}")
        return counts[0]

    def compact(self, *, signal: Signal | None = None) -> None:
        """Makes the files as small as they can be, and the next opening fast. It takes room for
        another copy of the database meanwhile, and no other change can be made.

        Raises:
            StoreError: It cannot be done; the database is as it was.
            AbortedError: `signal` was set before.
        """
        check_signal(signal)
        self._compact(None)

    def _compact(self, flag: _engine.CancelFlag | None) -> None:
        def change(before: State) -> tuple[State, Callable[[], None]]:
            after = before._replace(
                changes_from=max(before.changes_from, before.seq - _CHANGES_KEPT)
            )
            self._keeper.database.forget_changes(after.changes_from)
            self._keeper.database.log(after)
            return after, lambda: None

        with self._keeper.turn:
            self._keeper.write(change, flag)
            self._keeper.database.vacuum()
        self._snapshots.save(flag)


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def check_arguments(
    path: str | PathLike[str], create: bool, read_only: bool, busy_timeout: float
) -> Arguments:
    """What a database is opened with, checked."""
    check_path(path)
    name = os.fsdecode(path)
    if "\0" in name:
        raise InvalidValueError("path has a NUL character, which no file can have", field="path")
    for field, value in (("create", create), ("read_only", read_only)):
        if not isinstance(value, bool):
            raise InvalidTypeError(
                f"{field} must be a bool, not {type(value).__name__}", field=field
            )
    if isinstance(busy_timeout, bool) or not isinstance(busy_timeout, (int, float)):
        raise InvalidTypeError(
            f"busy_timeout must be a number, not {type(busy_timeout).__name__}",
            field="busy_timeout",
        )
    if not 0 <= busy_timeout <= _MOST_SECONDS:
        raise InvalidValueError(
            f"busy_timeout is {busy_timeout}; it must be from 0 to {_MOST_SECONDS}",
            field="busy_timeout",
        )
    return Arguments(Path(os.path.realpath(name)), create, read_only, float(busy_timeout))


class AsyncDurable(ABC):
    """A memory over a database, for asynchronous code."""

    __slots__ = ()

    @property
    @abstractmethod
    def _durable(self) -> Durable:
        """The same memory for synchronous code."""

    @property
    def path(self) -> Path:
        """The file of the database."""
        return self._durable.path

    async def close(self) -> None:
        """As the method of the synchronous twin."""
        await on_thread(lambda flag: self._durable.close())

    async def __aenter__(self: _AsyncSelf) -> _AsyncSelf:
        self._durable._keeper.check_usable()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def verify(self, *, signal: Signal | None = None) -> int:
        """As the method of the synchronous twin."""
        check_signal(signal)
        return await on_thread(lambda flag: self._durable._verify(signal, flag))  # type: ignore[no-any-return]

    async def compact(self, *, signal: Signal | None = None) -> None:
        """As the method of the synchronous twin."""
        check_signal(signal)
        await on_thread(self._durable._compact)
