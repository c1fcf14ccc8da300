"""The file beside a database that holds its index, so that opening need not make it anew.

The database says which snapshots were made of it, and when: a file that it does not know, because
it is of another database or of a state that was never reached, is not used.
"""

from __future__ import annotations

import logging
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING
from uuid import uuid4

from diglot import _engine
from diglot.errors import DiglotError, SnapshotError

if TYPE_CHECKING:
    from diglot.stores._database import Database, State
    from diglot.stores._keeper import Keeper

__all__ = ["Snapshots", "load"]

_log = logging.getLogger("diglot")

# A snapshot is written when so many entries changed since the last: so many at least, and this
# share of all. On closing, few: what has to be read besides a snapshot is to take no more than a
# tenth of a second. In between, many: that is for the one who opens the database after a crash.
_CLOSING = (1_000, 0.01)
_OPEN = (100_000, 0.1)


def _path(database: Database) -> Path:
    return Path(f"{database.path}-snapshot")


def load(
    database: Database, count: int, flag: _engine.CancelFlag | None
) -> tuple[list[_engine.Memory], int | None]:
    """The memories, `count` of them, that the snapshot of a database holds, and the `seq` at which
    it was made.

    If there is none that can be used, the memories are empty, and the `seq` None.
    """
    path = _path(database)
    state = database.state(database.reader)
    try:
        memories, id = _engine.open_memories(path, count, flag)
    except FileNotFoundError:
        if state.seq:
            _log.info("%s has no snapshot: its index is made anew", database.path)
        return _empty(count), None
    except (SnapshotError, OSError) as error:
        reason = str(error)
    else:
        seq = database.snapshot_seq(id)
        if seq is not None and state.changes_from <= seq <= state.seq:
            return memories, seq
        other = "of another database, or of another state of this one"
        reason = f"{path} is {other if seq is None else 'too old'}"
    _log.warning("%s: its snapshot is of no use, its index made anew: %s", database.path, reason)
    return _empty(count), None


def _empty(count: int) -> list[_engine.Memory]:
    return [_engine.Memory() for _ in range(count)]


class Snapshots:
    """Writes snapshots when it is time.

    Args:
        keeper: Of the database and its index.
        seq: When the last one was made; None if there is none.
    """

    def __init__(self, keeper: Keeper, seq: int | None) -> None:
        self._keeper = keeper
        self._seq = seq
        self._lock = Lock()
        self._thread: Thread | None = None

    def _is_due(self, least: int, share: float) -> bool:
        if self._keeper.database.read_only:
            return False
        threshold = max(least, share * len(self._keeper.index.entries))
        if self._changes() < threshold:
            return False
        if self._seq is not None:
            # Another process may have written one.
            self._seq = self._keeper.last_snapshot_seq()
        return self._changes() >= threshold

    def _changes(self) -> int:
        """How many entries changed since the last one."""
        if self._seq is None:
            return len(self._keeper.index.entries)
        return self._keeper.seq - self._seq

    def save_if_due(self) -> None:
        """Begins to write a snapshot on a thread of its own, if it is time."""
        if not self._is_due(*_OPEN):
            return
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = Thread(target=self._try_to_save, name="diglot-snapshot", daemon=True)
                self._thread.start()

    def finish(self) -> None:
        """Waits for the snapshot that is being written, and writes one if it is time."""
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join()
        if self._is_due(*_CLOSING):
            self._try_to_save()

    def _try_to_save(self) -> None:
        """As `save`, but to do without is no error."""
        try:
            self.save(None)
        except (DiglotError, OSError) as error:
            _log.warning("%s: no snapshot was written: %s", self._keeper.database.path, error)

    def save(self, flag: _engine.CancelFlag | None) -> None:
        """Writes a snapshot.

        Raises:
            OSError: The file cannot be written.
            StoreError: The database cannot be written.
            AbortedError: `flag` was set before.
        """
        database = self._keeper.database
        id = uuid4().bytes
        snapshots: list[_engine.Snapshot] = []
        seq = 0

        def announce(state: State) -> None:
            nonlocal seq
            snapshots.extend(self._keeper.index.snapshots())
            seq = state.seq
            database.announce_snapshot(id, seq)

        # Known before it is there, so that a crash leaves no file that is not.
        self._keeper.note(announce)
        _engine.save_snapshots(snapshots, _path(database), id, database.path, flag)
        self._keeper.note(lambda state: database.keep_snapshot(id, seq))
        self._seq = seq
