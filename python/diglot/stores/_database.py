"""The SQLite database of a store: its schema, its transactions, and what can go wrong with it.

- `entries` has the entries under their ids.
- `state` has one row: what the database holds, how many entries were ever added, replaced or
  removed (`seq`), the id that the next entry gets, and from which `seq` on `changes` is complete.
- `changes` has the ids of the entries that were replaced or removed, by the `seq` that was reached.
  Together with `entries`, whose ids ascend, it says what changed since any `seq`.
- `snapshots` says which files hold the index as it was at which `seq`.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import sqlite3
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from diglot.errors import (
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreFormatError,
)

if TYPE_CHECKING:
    from diglot._engine import _Row, _Values

__all__ = ["MOST_ID", "Arguments", "Database", "State"]

# The highest id that an entry can have.
MOST_ID = 2**63 - 1

# "digl". SQLite's header has it, so that `file` and others can tell what a database is.
_APPLICATION = 0x6469676C

# What makes a database of each version from one of the version before; an empty one has version 0.
# Released ones are not changed: databases that they made are out there.
_MIGRATIONS: list[tuple[str, ...]] = [
    (
        """
        CREATE TABLE entries (
            id INTEGER PRIMARY KEY,
            source TEXT NOT NULL,
            target TEXT NOT NULL,
            source_language TEXT,
            target_language TEXT,
            domain TEXT,
            namespace TEXT,
            source_id TEXT,
            created_at TEXT,
            notes TEXT,
            metadata TEXT
        )
        """,
        """
        CREATE TABLE state (
            one INTEGER PRIMARY KEY CHECK (one = 1),
            kind TEXT NOT NULL,
            seq INTEGER NOT NULL,
            next_id INTEGER NOT NULL,
            changes_from INTEGER NOT NULL
        )
        """,
        """
        CREATE TABLE changes (
            seq INTEGER NOT NULL,
            first INTEGER NOT NULL,
            last INTEGER NOT NULL,
            PRIMARY KEY (seq, first)
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE snapshots (
            id BLOB PRIMARY KEY,
            seq INTEGER NOT NULL
        ) WITHOUT ROWID
        """,
    ),
]

# What is not there comes as 0, see `_Values`. No text is equal to a number.
_INSERT = f"INSERT INTO entries VALUES (?, ?, ?{', nullif(?, 0)' * 8})"

# Bytes that the write-ahead log keeps on disk after a large change.
_MOST_LOG = 64 << 20

# Bytes that SQLite may need beside the database before it can write anything.
_LEAST_ROOM = 64 << 10

# What SQLite says of a file that cannot be read or written, whatever the reason.
_FAILED = "disk I/O error"

# Characters of what SQLite says of damage.
_MOST_SAID = 200

# What Python says of a text that is none.
_NO_TEXT = re.compile("Could not decode to UTF-8 column '([^']*)'")


class Arguments(NamedTuple):
    """What a database is opened with.

    Attributes:
        path: The file.
        create: Whether to make one if there is none.
        read_only: Whether to leave it as it is.
        busy_timeout: Seconds to wait for other processes.
    """

    path: Path
    create: bool
    read_only: bool
    busy_timeout: float


class State(NamedTuple):
    """Where a database is.

    Attributes:
        seq: How many entries were ever added, replaced or removed.
        next_id: The id that the next entry gets.
        changes_from: The lowest `seq` since which all changes can be told.
    """

    seq: int
    next_id: int
    changes_from: int


class Database:
    """A database that was opened, with one connection to read and one to write.

    It is not for several threads at once; each of the connections may be used by one at a time.

    Args:
        kind: What it holds: a database of another kind is refused, a new one gets this one.
        arguments: Where it is, and how it is opened.
    """

    def __init__(self, kind: str, arguments: Arguments) -> None:
        path, create, read_only, busy_timeout = arguments
        create = create and not read_only
        self.path = path
        self.read_only = read_only
        self._busy_timeout = busy_timeout
        self._connections: list[sqlite3.Connection] = []
        _check_file(path, create=create, read_only=read_only)
        with self.errors():
            try:
                if not read_only:
                    writer = self._connect("rwc" if create else "rw", busy_timeout)
                    self.writer = writer
                    self._migrate(writer, kind)
                    writer.execute("PRAGMA journal_mode = WAL")
                    # Only who has read the log tidies it up in the end.
                    self._identity(writer)
                    # The default of SQLite, but not of all builds.
                    writer.execute("PRAGMA synchronous = FULL")
                    writer.execute(f"PRAGMA journal_size_limit = {_MOST_LOG}")
                else:
                    self._roll_back()
                self._mode = _reading_mode(path)
                try:
                    self.reader = self._connect(self._mode, busy_timeout)
                    self._check(self.reader, kind)
                except sqlite3.OperationalError as error:
                    if not read_only or _FAILED not in str(error):
                        raise
                    # As on a disk without room for what processes share, which this does without.
                    self.close()
                    self._mode = "ro&readonly_shm=1"
                    self.reader = self._connect(self._mode, busy_timeout)
                    self._check(self.reader, kind)
            except BaseException:
                self.close()
                raise
        self._version = self.reader.cursor()

    def _roll_back(self) -> None:
        """Undoes what whoever made the database had begun when it was killed: SQLite does so on
        reading, but only where it may write. Later changes are in the log, which needs no undoing.
        """
        if Path(f"{self.path}-journal").exists() and os.access(self.path, os.W_OK):
            connection = self._connect("rw", self._busy_timeout)
            connection.execute("PRAGMA schema_version")
            self._connections.remove(connection)
            connection.close()

    def _connect(self, mode: str, busy_timeout: float) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{self.path.as_uri()}?mode={mode}",
            uri=True,
            timeout=busy_timeout,
            isolation_level=None,
            check_same_thread=False,
        )
        self._connections.append(connection)
        # What a stranger's database brings along, such as functions in its schema, is not run.
        connection.execute("PRAGMA trusted_schema = OFF")
        return connection

    @contextmanager
    def another_reader(self) -> Iterator[sqlite3.Connection]:
        """One more connection to read, for the time of the block."""
        with self.errors():
            connection = self._connect(self._mode, self._busy_timeout)
            try:
                yield connection
            finally:
                self._connections.remove(connection)
                connection.close()

    def close(self) -> None:
        """Closes the connections; the last one of all processes tidies the files up."""
        with self.errors():
            while self._connections:
                self._connections.pop().close()

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Raises SQLite's errors as those of diglot."""
        try:
            yield
        except sqlite3.Error as error:
            if damaged := _NO_TEXT.match(str(error)):
                # The message has the whole text, which may be long.
                raise self.damaged(f"a {damaged[1]} is not UTF-8") from None
            raise self._error(error) from error
        except UnicodeDecodeError as error:
            # What SQLite says has a part of the database in it that is no text.
            said = error.object.decode(errors="replace")[:_MOST_SAID]
            raise self.damaged(said) from None

    def damaged(self, message: str) -> StoreDamagedError:
        """The error for something that is wrong with what the database holds."""
        path = str(self.path)
        return StoreDamagedError(f"{path} is damaged: {message}", path=path)

    def _error(self, error: sqlite3.Error) -> StoreError:
        # By message, as Python 3.10 does not tell SQLite's code.
        message, path = str(error), str(self.path)
        if "locked" in message:
            return StoreBusyError(
                f"{path} is in use by another process, which did not let go in time", path=path
            )
        # SQLite tells of a lack of room for its log, but not for what processes share.
        if "is full" in message or (_FAILED in message and _is_full(self.path.parent)):
            return StoreError(
                f"there is no room for {path}: {message}", code="store_full", path=path
            )
        if "readonly" in message:
            return StoreError(
                f"{path}, or the directory it is in, cannot be written to: {message}",
                code="store_read_only",
                path=path,
            )
        if "not a database" in message:
            return StoreFormatError(f"{path} is not a SQLite database", path=path)
        if "malformed" in message or "unsupported file format" in message:
            return self.damaged(message)
        return StoreError(f"{path}: {message}", path=path)

    def _identity(self, connection: sqlite3.Connection) -> tuple[int, int, bool]:
        """Whose database it is, of which version, and whether there is nothing in it."""
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        empty = connection.execute("SELECT 1 FROM sqlite_master").fetchone() is None
        return application, version, empty

    def _migrate(self, connection: sqlite3.Connection, kind: str) -> None:
        if self._identity(connection)[:2] == (_APPLICATION, len(_MIGRATIONS)):
            return
        with self._immediate(connection):
            application, version, empty = self._identity(connection)
            if not (empty and application == 0 and version == 0):
                self._check_identity(application, version)
            for statements in _MIGRATIONS[version:]:
                for statement in statements:
                    connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            connection.execute(f"PRAGMA user_version = {len(_MIGRATIONS)}")
            connection.execute("INSERT OR IGNORE INTO state VALUES (1, ?, 0, 0, 0)", (kind,))
            connection.execute("COMMIT")

    def _check_identity(self, application: int, version: int) -> None:
        path = str(self.path)
        if application != _APPLICATION:
            raise StoreFormatError(
                f"{path} is a SQLite database, but not one of diglot (its application id is "
                f"{application:#x})",
                path=path,
            )
        if version > len(_MIGRATIONS):
            raise StoreFormatError(
                f"{path} has version {version}; this diglot reads versions up to "
                f"{len(_MIGRATIONS)}, so it takes a newer one",
                code="store_version",
                path=path,
            )

    def _check(self, connection: sqlite3.Connection, kind: str) -> None:
        """Refuses what is not a database of this version, of this kind."""
        application, version, empty = self._identity(connection)
        path = str(self.path)
        if (application, version, empty) == (0, 0, True):
            raise StoreFormatError(
                f"{path} has nothing in it; it becomes a store once it is opened to be written",
                path=path,
            )
        self._check_identity(application, version)
        if version < len(_MIGRATIONS):
            raise StoreFormatError(
                f"{path} has version {version} and has to be brought to version "
                f"{len(_MIGRATIONS)}; open it once without read_only",
                code="store_version",
                path=path,
            )
        expected, found = _expected_tables(), _tables(connection)
        triggers = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for name, sql in expected.items():
            if found.get(name) != sql:
                raise StoreDamagedError(
                    f"{path}: the table {name} is not as it was made", path=path
                )
        if (trigger := triggers.fetchone()) is not None:
            raise StoreDamagedError(f"{path}: somebody added a trigger, {trigger[0]}", path=path)
        row = connection.execute("SELECT kind FROM state").fetchone()
        if row is None:
            raise StoreDamagedError(f"{path}: the table state is empty", path=path)
        if row[0] != kind:
            raise StoreFormatError(f"{path} holds {row[0]}, not {kind}", path=path)

    def version(self) -> int:
        """A number that is another one after any change, by this process or another."""
        with self.errors():
            return self._version.execute("PRAGMA data_version").fetchone()[0]  # type: ignore[no-any-return]

    def state(self, connection: sqlite3.Connection) -> State:
        """Where the database is, as a connection sees it."""
        with self.errors():
            row = connection.execute("SELECT seq, next_id, changes_from FROM state").fetchone()
        if row is None or not all(type(value) is int for value in row):
            path = str(self.path)
            raise StoreDamagedError(f"{path}: the table state is damaged", path=path)
        return State(*row)

    @contextmanager
    def reading(self, connection: sqlite3.Connection) -> Iterator[None]:
        """All that is read in the block is of one state."""
        if connection.in_transaction:
            yield
            return
        with self.errors():
            connection.execute("BEGIN")
            try:
                yield
            finally:
                connection.execute("ROLLBACK")

    @contextmanager
    def writing(self) -> Iterator[None]:
        """What is written in the block is there as a whole once it calls `commit`, or not at all.

        No other process writes meanwhile.
        """
        if self.read_only:
            path = str(self.path)
            raise StoreError(
                f"{path} was opened to be read only", code="store_read_only", path=path
            )
        with self.errors(), self._immediate(self.writer):
            yield

    @contextmanager
    def _immediate(self, connection: sqlite3.Connection) -> Iterator[None]:
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            # Some errors end a transaction by themselves.
            if connection.in_transaction:
                connection.execute("ROLLBACK")

    def commit(self) -> None:
        """Makes what was written last. It is on disk when this returns."""
        self.writer.execute("COMMIT")

    def insert(self, rows: Iterable[_Values]) -> None:
        """Writes new entries."""
        self.writer.executemany(_INSERT, rows)

    def remove(self, ranges: Iterable[tuple[int, int]]) -> None:
        """Removes the entries with the ids of ranges, given by their first and last ids."""
        self.writer.executemany("DELETE FROM entries WHERE id BETWEEN ? AND ?", ranges)

    def log(self, state: State, changed: Iterable[tuple[int, int]] = ()) -> None:
        """Says where the database is now, and which entries that there were before were replaced or
        removed.
        """
        self.writer.execute("UPDATE state SET seq = ?, next_id = ?, changes_from = ?", state)
        self.writer.executemany(
            "INSERT INTO changes VALUES (?, ?, ?)", ((state.seq, *ids) for ids in changed)
        )

    def forget_changes(self, seq: int) -> None:
        """Forgets which entries were replaced or removed until then."""
        self.writer.execute("DELETE FROM changes WHERE seq <= ?", (seq,))

    def changed_since(self, connection: sqlite3.Connection, seq: int) -> list[tuple[int, int]]:
        """Which entries were replaced or removed since: their ids as ranges that do not overlap."""
        with self.errors():
            ranges = connection.execute(
                "SELECT first, last FROM changes WHERE seq > ? ORDER BY first", (seq,)
            )
            merged: list[tuple[int, int]] = []
            for first, last in ranges:
                if merged and first <= merged[-1][1] + 1:
                    merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
                else:
                    merged.append((first, last))
        return merged

    def rows(self, connection: sqlite3.Connection, first: int, last: int) -> Iterator[_Row]:
        """The entries with ids of a range, in order."""
        return connection.execute(
            "SELECT * FROM entries WHERE id BETWEEN ? AND ? ORDER BY id", (first, last)
        )

    def snapshot_seq(self, id: bytes) -> int | None:
        """The `seq` at which a snapshot was made; None if it was not made of this database."""
        with self.errors():
            row = self.reader.execute("SELECT seq FROM snapshots WHERE id = ?", (id,)).fetchone()
        return None if row is None else row[0]

    def last_snapshot_seq(self) -> int:
        """The highest `seq` at which a snapshot was made; 0 if none was."""
        with self.errors():
            return self.reader.execute("SELECT coalesce(max(seq), 0) FROM snapshots").fetchone()[0]  # type: ignore[no-any-return]

    def announce_snapshot(self, id: bytes, seq: int) -> None:
        """Says that a snapshot is going to be made."""
        self.writer.execute("INSERT INTO snapshots VALUES (?, ?)", (id, seq))

    def keep_snapshot(self, id: bytes, seq: int) -> None:
        """Says that a snapshot has been made, and took the place of all others."""
        self.writer.execute("DELETE FROM snapshots")
        self.writer.execute("INSERT INTO snapshots VALUES (?, ?)", (id, seq))

    def check_integrity(self, connection: sqlite3.Connection) -> None:
        """Checks the structure of the whole database.

        Raises:
            StoreDamagedError: It is damaged; the message says where first.
        """
        with self.errors():
            problems = [row[0] for row in connection.execute("PRAGMA integrity_check(10)")]
        if problems != ["ok"]:
            raise self.damaged("; ".join(problems))

    def vacuum(self) -> None:
        """Gives the room of what was removed back to the file system."""
        with self.errors():
            self.writer.execute("VACUUM")
            self.writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _expected_tables() -> dict[str, str]:
    connection = sqlite3.connect(":memory:")
    try:
        for statements in _MIGRATIONS:
            for statement in statements:
                connection.execute(statement)
        return _tables(connection)
    finally:
        connection.close()


def _tables(connection: sqlite3.Connection) -> dict[str, str]:
    """How the tables were made."""
    tables = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    )
    return {name: " ".join(sql.split()) for name, sql in tables}


def _check_file(path: Path, *, create: bool, read_only: bool) -> None:
    """Raises the system's own error where a file or directory cannot be used: SQLite has one for
    all. Files are not opened, as closing them would let go of SQLite's locks in this process.
    """
    there = path if path.exists() or not create else path.parent
    if there is path and stat.S_ISDIR(os.stat(path).st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    os.stat(there)
    if not os.access(there, os.R_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(there))
    if not read_only and not (os.access(there, os.W_OK) and os.access(path.parent, os.W_OK)):
        raise StoreError(
            f"{path}, or the directory it is in, cannot be written to; "
            "it can only be opened to be read",
            code="store_read_only",
            path=str(path),
        )


def _is_full(folder: Path) -> bool:
    try:
        return shutil.disk_usage(folder).free < _LEAST_ROOM
    except OSError:
        return False


def _reading_mode(path: Path) -> str:
    """How a database can be read. One in a directory that cannot be written to, where nobody has it
    open, has to be promised not to change: to notice changes takes a file beside it.
    """
    log = Path(f"{path}-wal")
    if os.access(path.parent, os.W_OK) or log.exists():
        return "ro"
    return "ro&immutable=1"
