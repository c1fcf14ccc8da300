"""The SQLite store: the same answers as in memory, and what files, processes and threads do."""

import asyncio
import gzip
import json
import logging
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import threading
import traceback
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

import diglot.stores._database
import diglot.stores._durable
import diglot.stores._snapshots
from diglot import (
    InvalidTypeError,
    InvalidValueError,
    TranslationMemory,
    TranslationMemoryEntry,
    UnknownEntryError,
)
from diglot.errors import StoreBusyError, StoreDamagedError, StoreError, StoreFormatError
from diglot.stores.sqlite import SqliteTranslationMemory, SqliteTranslationMemoryStore
from durable import TwoOverOneDatabase, damaged, snapshot_of, write_snapshot


def entry(source="Save the file", target="t", **fields):
    return TranslationMemoryEntry(source, target, **fields)


def entries(count, start=0):
    return [entry(f"Save file {number}", str(number)) for number in range(start, start + count)]


def same(memory, expected):
    """Whether two memories have the same entries under the same ids, and find the same."""
    assert list(memory.items()) == list(expected.items())
    for query in ("save the file", "undo", "a b"):
        for options in ({"min_score": 0.0, "max_hits": 50}, {"source_language": "en"}):
            assert memory.search(query, **options) == expected.search(query, **options)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "memory.db"


@pytest.fixture
def memory(path):
    with SqliteTranslationMemory.open(path) as memory:
        yield memory


@pytest.fixture
def other(path, memory):
    """Another connection to the same database."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        yield other


# The same answers


words = st.sampled_from(["save", "the", "file", "undo", "저장", "open", "A"])
some_entries = st.builds(
    TranslationMemoryEntry,
    st.lists(words, min_size=1, max_size=5).map(" ".join),
    words,
    source_language=st.sampled_from([None, "en", "EN"]),
    namespace=st.sampled_from([None, "a"]),
    notes=st.sampled_from([None, "", "\0"]),
    metadata=st.sampled_from([None, {}, {"a": [1, None, "é"]}]),
)


class Stores(TwoOverOneDatabase):
    open = staticmethod(SqliteTranslationMemory.open)
    make_expected = TranslationMemory
    same = staticmethod(same)

    def ids(self):
        return [id for id, _ in self.expected.items()]

    @rule(number=st.integers(0, 1), entry=some_entries)
    def add(self, number, entry):
        assert self.memories[number].add(entry) == self.expected.add(entry)

    @rule(number=st.integers(0, 1), batch=st.lists(some_entries, max_size=8))
    def add_many(self, number, batch):
        assert self.memories[number].add_many(batch) == self.expected.add_many(batch)

    @precondition(lambda self: len(self.expected))
    @rule(number=st.integers(0, 1), entry=some_entries, data=st.data())
    def replace(self, number, entry, data):
        id = data.draw(st.sampled_from(self.ids()))
        self.memories[number].replace(id, entry)
        self.expected.replace(id, entry)

    @precondition(lambda self: len(self.expected))
    @rule(number=st.integers(0, 1), data=st.data())
    def remove(self, number, data):
        id = data.draw(st.sampled_from(self.ids()))
        self.memories[number].remove(id)
        self.expected.remove(id)

    @precondition(lambda self: len(self.expected))
    @rule(number=st.integers(0, 1), data=st.data())
    def remove_many(self, number, data):
        ids = data.draw(st.lists(st.sampled_from(self.ids()), unique=True))
        self.memories[number].remove_many(ids)
        self.expected.remove_many(ids)

    @rule(number=st.integers(0, 1), id=st.integers(0, 50))
    def change_what_may_not_be_there(self, number, id):
        for change in (
            lambda memory: memory.remove(id),
            lambda memory: memory.remove_many([id, id]),
            lambda memory: memory.remove_many([*self.ids(), 10_000]),
            lambda memory: memory.replace(10_000, entry()),
        ):
            outcomes = []
            for memory in (self.memories[number], self.expected):
                try:
                    outcomes.append(change(memory))
                except UnknownEntryError as error:
                    outcomes.append(str(error))
            assert outcomes[0] == outcomes[1]


TestStores = Stores.TestCase
TestStores.settings = settings(stateful_step_count=20)


def test_one_that_is_far_behind_reads_everything_again(path, monkeypatch, caplog):
    monkeypatch.setattr(diglot.stores._durable, "_CHANGES_KEPT", 0)
    with SqliteTranslationMemory.open(path) as memory, SqliteTranslationMemory.open(path) as behind:
        memory.add_many(entries(1500))
        assert len(behind) == 1500
        memory.remove_many(range(0, 1000, 3))
        memory.replace(1, entry())
        memory.add(entry())
        memory.remove(1500)
        memory.compact()
        same(behind, memory)
        assert "reading all" in caplog.text
        assert behind.add(entry()) == memory.add(entry()) - 1 == 1501


# Snapshots


def test_a_snapshot_is_written_when_it_is_time(path, monkeypatch):
    with SqliteTranslationMemory.open(path) as memory:
        memory.add_many(entries(999))
    assert not snapshot_of(path).exists()
    with SqliteTranslationMemory.open(path) as memory:
        memory.add(entry())
    first = snapshot_of(path).read_bytes()
    with SqliteTranslationMemory.open(path) as memory:
        memory.add_many(entries(999))
    assert snapshot_of(path).read_bytes() == first
    monkeypatch.setattr(diglot.stores._snapshots, "_OPEN", (1000, 0.1))
    with SqliteTranslationMemory.open(path) as memory:
        memory.add(entry())
        memory._snapshots._thread.join()
        assert snapshot_of(path).read_bytes() != first


def test_what_changed_since_a_snapshot_is_read_from_the_database(path, caplog):
    with SqliteTranslationMemory.open(path) as memory:
        memory.add_many(entries(2000))
        write_snapshot(memory)
        memory.add_many(entries(5))
        memory.remove_many([3, 1999, 2004])
        memory.replace(7, entry("new"))
        expected = list(memory.items())
    with SqliteTranslationMemory.open(path) as memory, caplog.at_level(logging.INFO):
        assert list(memory.items()) == expected
        assert memory.verify() == len(expected)
        assert memory.add(entry()) == 2005
    assert not caplog.text


def test_a_damaged_snapshot_never_changes_an_answer(path, caplog):
    draw = random.Random(7)
    with SqliteTranslationMemory.open(path) as memory:
        memory.add_many(entries(800))
        memory.remove_many(range(100, 200))
        write_snapshot(memory)
        expected = TranslationMemory()
        expected.add_many(entries(800))
        expected.remove_many(range(100, 200))
    good = snapshot_of(path).read_bytes()
    for number in range(60):
        snapshot_of(path).write_bytes(damaged(good, draw))
        caplog.clear()
        with SqliteTranslationMemory.open(path, read_only=bool(number % 2)) as memory:
            same(memory, expected)
        [message] = caplog.messages
        assert "its index made anew" in message


def test_a_snapshot_of_another_database_is_not_used(tmp_path, caplog):
    for name in ("a.db", "b.db"):
        with SqliteTranslationMemory.open(tmp_path / name) as memory:
            memory.add_many(entry(f"{name} {number}") for number in range(1200))
    shutil.copy(snapshot_of(tmp_path / "a.db"), snapshot_of(tmp_path / "b.db"))
    with SqliteTranslationMemory.open(tmp_path / "b.db") as memory:
        assert memory.search("b.db 7")[0].entry.source == "b.db 7"
        assert memory.verify() == 1200
    assert "of another database" in caplog.text


def test_a_database_that_was_restored_does_not_use_the_snapshot_of_its_future(path, caplog):
    with SqliteTranslationMemory.open(path) as memory:
        memory.add_many(entries(1000))
    backup = path.read_bytes()
    with SqliteTranslationMemory.open(path) as memory:
        memory.add_many(entry("lost") for _ in range(1000))
    path.write_bytes(backup)
    # As many changes as there were in the future that is gone, but other ones.
    with SqliteTranslationMemory.open(path) as memory:
        memory.add_many(entry("found") for _ in range(900))
        assert not memory.search("lost", min_score=1.0)
    with SqliteTranslationMemory.open(path) as memory:
        assert memory.search("found", min_score=1.0)
        assert memory.verify() == 1900


def test_readers_write_no_snapshot(path):
    with SqliteTranslationMemory.open(path) as memory:
        memory.add_many(entries(1500))
    snapshot_of(path).unlink()
    with SqliteTranslationMemory.open(path, read_only=True) as memory:
        assert len(memory) == 1500
    assert not snapshot_of(path).exists()


# Files that cannot be used

KILLED = """
import os, signal, sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("PRAGMA cache_size = 1")
database.execute("BEGIN IMMEDIATE")
database.execute("CREATE TABLE entries (id)")
# More than fits into the cache, so that some of it is in the file by now.
database.executemany("INSERT INTO entries VALUES (zeroblob(4000))", [()] * 100)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_one_whose_maker_was_killed_has_nothing_in_it(path):
    subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    journal = path.with_name(f"{path.name}-journal")
    assert journal.stat().st_size
    with pytest.raises(StoreFormatError, match="has nothing in it; it becomes a store once"):
        SqliteTranslationMemory.open(path, read_only=True)
    assert not journal.exists()
    with SqliteTranslationMemory.open(path) as memory:
        memory.add(entry())
    with SqliteTranslationMemory.open(path, read_only=True) as memory:
        assert len(memory) == 1


def test_files_that_are_no_stores(tmp_path):
    def refused(name, error, match=None, **options):
        before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
        with pytest.raises(error, match=match) as caught:
            SqliteTranslationMemory.open(tmp_path / name, **options)
        after = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
        assert after == before
        return caught.value

    (tmp_path / "text").write_text("one line\n" * 1000)
    (tmp_path / "memory.jsonl.gz").write_bytes(gzip.compress(b"{}" * 9999))
    (tmp_path / "folder").mkdir()
    for name in ("text", "memory.jsonl.gz"):
        assert refused(name, StoreFormatError, "is not a SQLite database").code == "not_a_store"
    refused("folder", IsADirectoryError)
    refused("missing", FileNotFoundError, create=False)
    refused("missing", FileNotFoundError, read_only=True)
    refused("no/folder", FileNotFoundError)
    with closing(sqlite3.connect(tmp_path / "other.db")) as database:
        database.execute("CREATE TABLE entries (id)")
    assert refused("other.db", StoreFormatError, "not one of diglot").code == "not_a_store"
    with closing(sqlite3.connect(tmp_path / "fonts.db")) as database:
        database.execute("PRAGMA application_id = 77")
        database.execute("CREATE TABLE a (id)")
    refused("fonts.db", StoreFormatError, "application id is 0x4d")


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ("PRAGMA user_version = 7", StoreFormatError, "has version 7; .* up to 1"),
        ("UPDATE state SET kind = 'records'", StoreFormatError, "holds records, not translations"),
        ("DROP TABLE changes", StoreDamagedError, "the table changes is not as it was made"),
        ("ALTER TABLE entries ADD COLUMN a", StoreDamagedError, "the table entries is not"),
        ("DELETE FROM state", StoreDamagedError, "the table state is empty"),
        ("UPDATE state SET next_id = 'a'", StoreDamagedError, "the table state is damaged"),
        ("UPDATE entries SET target = x'00' WHERE id = 1", StoreDamagedError, "id 1: target must"),
        ("UPDATE entries SET source = ' ' WHERE id = 1", StoreDamagedError, "id 1: source is emp"),
        (
            "CREATE TRIGGER a AFTER INSERT ON entries BEGIN DELETE FROM entries; END",
            StoreDamagedError,
            "somebody added a trigger, a",
        ),
    ],
)
def test_databases_that_were_tampered_with(path, change, error, match):
    with SqliteTranslationMemory.open(path) as memory:
        memory.add_many(entries(3))
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(change)
    for read_only in (False, True):
        with pytest.raises(error, match=match):
            SqliteTranslationMemory.open(path, read_only=read_only)


@pytest.mark.parametrize("with_snapshot", [False, True])
def test_a_letter_that_changed_is_noticed_with_a_snapshot_only(path, with_snapshot):
    with SqliteTranslationMemory.open(path) as memory:
        memory.add_many([entry("Close the window"), entry()])
        memory.compact()
    if not with_snapshot:
        snapshot_of(path).unlink()
    path.write_bytes(path.read_bytes().replace(b"the window", b"the winfow"))
    with SqliteTranslationMemory.open(path, read_only=True) as memory:
        assert memory.get(0).source == f"Close the win{'d' if with_snapshot else 'f'}ow"
        if with_snapshot:
            with pytest.raises(StoreDamagedError, match="the entry 0"):
                memory.verify()
        else:
            assert memory.verify() == 2


def test_who_only_reads_leaves_an_empty_log_to_who_writes_next(path):
    SqliteTranslationMemory.open(path).close()
    SqliteTranslationMemory.open(path, read_only=True).close()
    assert Path(f"{path}-wal").stat().st_size == 0
    SqliteTranslationMemory.open(path).close()
    assert list(path.parent.iterdir()) == [path]


def test_a_text_that_is_not_utf_8_is_damage_and_not_shown(path):
    with SqliteTranslationMemory.open(path) as memory:
        memory.add(entry("Save the file" * 100_000))
        memory.add(entry())
        with closing(sqlite3.connect(path)) as database, database:
            change = "UPDATE entries SET source = CAST(x'ff' || source AS TEXT) WHERE id = 0"
            database.execute(change)
        with pytest.raises(StoreDamagedError) as verified:
            memory.verify()
    with pytest.raises(StoreDamagedError) as opened:
        SqliteTranslationMemory.open(path)
    for caught in (verified, opened):
        assert str(caught.value) == f"{path} is damaged: a source is not UTF-8"
        assert caught.value.code == "store_damaged"
        assert len("".join(traceback.format_exception(caught.value))) < 10_000


@pytest.mark.parametrize(
    ("before", "byte", "match"),
    [
        (b"CREATE TABLE ent", 0xE4, "malformed database schema"),
        # The format of the schema, after the version of it.
        (b"\0\0\0\4\0\0\0", 7, "unsupported file format"),
    ],
)
def test_damage_to_the_schema_is_told(path, before, byte, match):
    SqliteTranslationMemory.open(path).close()
    data = bytearray(path.read_bytes())
    data[data.index(before) + len(before)] = byte
    path.write_bytes(data)
    for read_only in (False, True):
        with pytest.raises(StoreDamagedError, match=f"is damaged: .*{match}"):
            SqliteTranslationMemory.open(path, read_only=read_only)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ("UPDATE entries SET target = 'other' WHERE id = 1", "does not have the entry 1 as it is"),
        ("DELETE FROM entries WHERE id = 1", "does not have the entry 2"),
        ("DELETE FROM entries WHERE id = 2", "2 entries, but the index 3"),
        ("UPDATE entries SET metadata = '[]' WHERE id = 1", "the entry 1"),
    ],
)
def test_verifying_finds_what_nobody_was_told_of(memory, other, change, match):
    memory.add_many(entries(3))
    assert memory.verify() == 3
    other.execute(change)
    with pytest.raises(StoreDamagedError, match=match):
        memory.verify()


@pytest.mark.parametrize("metadata", ["[]", "{", "5"])
def test_metadata_that_is_no_object_is_found(path, metadata):
    with SqliteTranslationMemory.open(path) as memory:
        memory.add_many(entries(3))
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE entries SET metadata = ?", (metadata,))
    with (
        SqliteTranslationMemory.open(path) as memory,
        pytest.raises(StoreDamagedError, match="the entry 0"),
    ):
        memory.verify()


def test_damage_to_any_page_is_noticed_when_it_is_verified(tmp_path, path):
    with SqliteTranslationMemory.open(path) as memory:
        memory.add_many(entry(f"Save file {n} {'word ' * 40}", str(n)) for n in range(200))
        memory.remove_many(range(5, 15))
        expected = list(memory.items())
    good = path.read_bytes()
    page = 4096
    harmless, codes = 0, set()
    for at in range(0, len(good), page):
        path.write_bytes(good[:at] + bytes(page) + good[at + page :])
        try:
            with SqliteTranslationMemory.open(path) as memory:
                memory.verify()
                assert list(memory.items()) == expected
                harmless += 1
        except StoreError as error:
            codes.add(error.code)
    # A page that nothing uses, or of a table that is empty, is nobody's loss.
    assert harmless <= 6
    assert codes <= {"store_damaged", "not_a_store"}


def test_what_is_verified_is_of_one_moment(memory):
    class Writing:
        """Is asked before, and again for each thousand entries."""

        def is_set(self):
            memory.replace(memory.add(entry()), entry("new"))
            return False

    memory.add_many(entries(2500))
    assert memory.verify(signal=Writing()) == 2501
    with memory._keeper.standing_still(None) as (connection, (snapshot,)):
        memory.add(entry())
        assert connection.execute("SELECT count(*) FROM entries").fetchone() == (len(snapshot),)


def test_damage_that_no_entry_shows_is_found(path):
    with SqliteTranslationMemory.open(path) as memory:
        memory.add_many(entries(3))
    data = bytearray(path.read_bytes())
    # The number of pages that are free, which there are none of.
    data[36:40] = (5).to_bytes(4, "big")
    path.write_bytes(data)
    with SqliteTranslationMemory.open(path) as memory:
        assert list(memory) == entries(3)
        with pytest.raises(StoreDamagedError, match=r"[Ff]reelist"):
            memory.verify()


def test_what_is_acknowledged_has_been_synchronized_with_the_disk(memory):
    """What a power cut would try cannot be tried here, so this is what SQLite promises it for."""
    writer = memory._keeper.database.writer
    assert writer.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    full = 2
    assert writer.execute("PRAGMA synchronous").fetchone() == (full,)


@pytest.mark.parametrize(
    ("arguments", "error", "field"),
    [
        ({"path": 5}, InvalidTypeError, "path"),
        ({"path": "a\0b"}, InvalidValueError, "path"),
        ({"create": 1}, InvalidTypeError, "create"),
        ({"read_only": "yes"}, InvalidTypeError, "read_only"),
        ({"busy_timeout": "5"}, InvalidTypeError, "busy_timeout"),
        ({"busy_timeout": True}, InvalidTypeError, "busy_timeout"),
        ({"busy_timeout": -1}, InvalidValueError, "busy_timeout"),
        ({"busy_timeout": float("nan")}, InvalidValueError, "busy_timeout"),
    ],
)
def test_arguments_are_checked(path, arguments, error, field):
    with pytest.raises(error) as caught:
        SqliteTranslationMemory.open(**{"path": path, **arguments})
    assert caught.value.field == field


@pytest.mark.parametrize("name", ["a?mode=ro", "100%25", "a#b", "über 메모리.db", ":memory:"])
def test_any_name_is_that_of_a_file(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with SqliteTranslationMemory.open(name) as memory:
        memory.add(entry())
    assert name in os.listdir(tmp_path)
    with SqliteTranslationMemory.open(tmp_path / name, create=False) as memory:
        assert len(memory) == 1
        assert memory.path == (tmp_path / name).resolve()


# Versions


# What made a database of version 1, and what it may hold.
VERSION_1 = """
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
    );
    CREATE TABLE state (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        kind TEXT NOT NULL,
        seq INTEGER NOT NULL,
        next_id INTEGER NOT NULL,
        changes_from INTEGER NOT NULL
    );
    CREATE TABLE changes (
        seq INTEGER NOT NULL,
        first INTEGER NOT NULL,
        last INTEGER NOT NULL,
        PRIMARY KEY (seq, first)
    ) WITHOUT ROWID;
    CREATE TABLE snapshots (
        id BLOB PRIMARY KEY,
        seq INTEGER NOT NULL
    ) WITHOUT ROWID;
    PRAGMA application_id = 1684629356;
    PRAGMA user_version = 1;
    INSERT INTO entries VALUES
        (3, 'Save', '저장', 'en', 'ko', 'ui', 'a', 'm', '2024', 'n', '{"a":1}');
    INSERT INTO state VALUES (1, 'translations', 5, 4, 0);
    INSERT INTO changes VALUES (5, 0, 2);
"""


@pytest.fixture
def version_1(path):
    with closing(sqlite3.connect(path)) as database:
        database.executescript(VERSION_1)
    return path


def holds_what_version_1_does(memory):
    expected = entry(
        "Save",
        "저장",
        source_language="en",
        target_language="ko",
        domain="ui",
        namespace="a",
        source_id="m",
        created_at="2024",
        notes="n",
        metadata={"a": 1},
    )
    return list(memory.items()) == [(3, expected)]


def test_version_1_is_read(version_1):
    with SqliteTranslationMemory.open(version_1) as memory:
        assert holds_what_version_1_does(memory)
        assert memory.add(entry()) == 4


@pytest.fixture
def version_2(monkeypatch):
    """A version to come, with one more table."""
    monkeypatch.setattr(
        diglot.stores._database,
        "_MIGRATIONS",
        [*diglot.stores._database._MIGRATIONS, ("CREATE TABLE more (a)",)],
    )


@pytest.mark.usefixtures("version_2")
def test_a_database_is_brought_to_the_present_version(version_1):
    with pytest.raises(StoreFormatError, match="open it once without read_only") as caught:
        SqliteTranslationMemory.open(version_1, read_only=True)
    assert caught.value.code == "store_version"
    for read_only in (False, True):
        with SqliteTranslationMemory.open(version_1, read_only=read_only) as memory:
            assert holds_what_version_1_does(memory)
    with closing(sqlite3.connect(version_1)) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (2,)
        assert database.execute("SELECT * FROM more").fetchall() == []


@pytest.mark.usefixtures("version_2")
def test_a_migration_that_fails_leaves_everything_as_it_was(version_1):
    with closing(sqlite3.connect(version_1)) as database:
        database.execute("CREATE TABLE more (b)")
    before = version_1.read_bytes()
    with pytest.raises(StoreError, match="more already exists"):
        SqliteTranslationMemory.open(version_1)
    assert version_1.read_bytes() == before


# Locks, full disks, and what may not be written


def test_another_process_is_waited_for_only_so_long(path, other, memory):
    memory.add(entry())
    with SqliteTranslationMemory.open(path, busy_timeout=0.05) as waiting:
        other.execute("BEGIN IMMEDIATE")
        for change in (
            lambda: waiting.add(entry()),
            lambda: waiting.add_many(entries(3)),
            lambda: waiting.replace(0, entry("other")),
            lambda: waiting.remove(0),
            lambda: waiting.compact(),
        ):
            with pytest.raises(StoreBusyError) as caught:
                change()
            assert (caught.value.code, caught.value.path) == ("store_busy", str(path))
        # Reading goes on.
        assert [hit.id for hit in waiting.search("save the file")] == [0]
        other.execute("ROLLBACK")
        assert waiting.add(entry()) == 1


def test_those_that_wait_in_a_group_hear_of_it_together(path, other, memory):
    async def run():
        async with await SqliteTranslationMemoryStore.open(path, busy_timeout=0.05) as store:
            other.execute("BEGIN IMMEDIATE")
            tasks = [asyncio.ensure_future(store.add(entry())) for _ in range(12)]
            outcomes = await asyncio.gather(*tasks, return_exceptions=True)
            other.execute("ROLLBACK")
            assert all(isinstance(outcome, StoreBusyError) for outcome in outcomes)
            assert await store.add(entry()) == 0

    asyncio.run(run())


@pytest.fixture
def small(tmp_path):
    """A file system of its own, so small that it gets full."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(folder)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip(f"mounting a small file system is not allowed: {mounted.stderr.decode()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_changes_nothing(small):
    path = small / "memory.db"
    with SqliteTranslationMemory.open(path) as memory:
        expected = []
        large = "word " * 4000

        def fill():
            while True:
                expected.append((memory.add(entry(large)), entry(large)))

        with pytest.raises(StoreError, match="no room") as caught:
            fill()
        assert caught.value.code == "store_full"
        with pytest.raises(StoreError, match="no room"):
            memory.add_many(entry(large) for _ in range(100))
        assert expected
        assert list(memory.items()) == expected
        with SqliteTranslationMemory.open(path, read_only=True) as again:
            assert list(again.items()) == expected
    with SqliteTranslationMemory.open(path) as memory:
        assert memory.verify() == len(expected)
        # There is no room for a copy.
        with pytest.raises(StoreError, match="no room"):
            memory.compact()
        assert memory.verify() == len(expected)
        subprocess.run(["mount", "-o", "remount,size=5m", str(small)], check=True)
        assert memory.add(entry()) == len(expected)
        memory.compact()


@pytest.mark.parametrize("leftover", [False, True])
def test_a_disk_that_others_filled_can_be_read(small, leftover):
    path = small / "memory.db"
    with SqliteTranslationMemory.open(path) as memory:
        memory.add_many(entries(20))
        # As from one that was killed: all is in the log only.
        copies = {name: Path(f"{path}{name}").read_bytes() for name in ("", "-wal")}
    if leftover:
        for name, data in copies.items():
            Path(f"{path}{name}").write_bytes(data)
    filling = small / "filling"
    with filling.open("wb", buffering=0) as file:
        os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(small).free)
    before = path.read_bytes()
    with pytest.raises(StoreError, match="no room") as caught:
        SqliteTranslationMemory.open(path)
    assert caught.value.code == "store_full"
    with SqliteTranslationMemory.open(path, read_only=True) as reader:
        assert path.read_bytes() == before
        assert reader.search("Save file 7")[0].entry.target == "7"
        assert reader.verify() == len(reader) == 20
        # It is no worse than any other.
        filling.unlink()
        add = f"""
from diglot import TranslationMemoryEntry
from diglot.stores.sqlite import SqliteTranslationMemory
with SqliteTranslationMemory.open({str(path)!r}) as memory:
    memory.add(TranslationMemoryEntry("Close", "c"))
"""
        subprocess.run([sys.executable, "-c", add], check=True)
        assert reader.search("Close")[0].entry.target == "c"
        assert reader.verify() == 21


READER = """
import json, os, sys
from pathlib import Path
from diglot import TranslationMemoryEntry
from diglot.errors import StoreError
from diglot.stores.sqlite import SqliteTranslationMemory

path = Path(sys.argv[1])
if os.getuid() == 0:
    os.setuid(65534)
try:
    SqliteTranslationMemory.open(path)
except StoreError as error:
    print(error.code)
with SqliteTranslationMemory.open(path, read_only=True) as memory:
    print(len(memory), memory.search("Save file 7")[0].entry.target, memory.verify())
    try:
        memory.add(TranslationMemoryEntry("a", "b"))
    except StoreError as error:
        print(error.code)
"""


@pytest.mark.parametrize("leftover", [False, True])
def test_a_directory_that_can_only_be_read(leftover):
    # Not where pytest puts files, into which nobody else may look.
    with TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "memory.db"
        with SqliteTranslationMemory.open(path) as memory:
            memory.add_many(entries(20))
        if leftover:
            # As from one that was killed: the newest changes are in the log only.
            with SqliteTranslationMemory.open(path) as memory:
                memory.add(entry())
                copies = {file.name: file.read_bytes() for file in folder.iterdir()}
            for copy, data in copies.items():
                (folder / copy).write_bytes(data)
        before = {file.name: file.read_bytes() for file in folder.iterdir()}
        path.chmod(0o444)
        folder.chmod(0o555)
        try:
            process = subprocess.run(
                [sys.executable, "-c", READER, str(path)],
                capture_output=True,
                text=True,
                check=False,
            )
        finally:
            folder.chmod(0o755)
        count = 20 + leftover
        assert process.stderr == ""
        assert process.stdout.split() == [
            "store_read_only",
            str(count),
            "7",
            str(count),
            "store_read_only",
        ]
        assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


def test_a_store_that_is_read_only_sees_what_others_write(path, memory):
    with SqliteTranslationMemory.open(path, read_only=True) as reader:
        assert len(reader) == 0
        memory.add(entry())
        assert len(reader) == 1
        for change in (lambda: reader.add(entry()), lambda: reader.remove(0), reader.compact):
            with pytest.raises(StoreError) as caught:
                change()
            assert caught.value.code == "store_read_only"


@pytest.mark.parametrize("count", [0, 1])
def test_only_the_database_is_left_of_a_new_store(path, count):
    with SqliteTranslationMemory.open(path) as memory:
        memory.add_many(entries(count))
    assert list(path.parent.iterdir()) == [path]


def test_who_gives_up_opening_a_store_leaves_nothing_beside_it(path):
    with SqliteTranslationMemory.open(path) as memory:
        memory.add_many(entries(20_000))
    snapshot_of(path).unlink(missing_ok=True)

    async def give_up():
        opening = asyncio.ensure_future(SqliteTranslationMemoryStore.open(path))
        await asyncio.sleep(0)
        opening.cancel()
        with suppress(asyncio.CancelledError):
            await (await opening).close()

    # The end of the loop waits for its threads.
    asyncio.run(give_up())
    assert set(os.listdir(path.parent)) <= {path.name, snapshot_of(path).name}


def test_a_closed_store_does_nothing(memory):
    memory.add(entry())
    memory.close()
    memory.close()
    for call in (
        lambda: memory.search("a"),
        lambda: memory.search_many(["a"]),
        lambda: memory.add(entry()),
        lambda: memory.add_many([]),
        lambda: memory.add_many([entry()]),
        lambda: memory.remove_many([0]),
        lambda: memory.get(0),
        lambda: list(memory),
        lambda: len(memory),
        memory.stats,
        memory.verify,
        memory.compact,
        memory.__enter__,
    ):
        with pytest.raises(StoreError, match="is closed") as caught:
            call()
        assert caught.value.code == "store_closed"
    assert repr(memory) == "<SqliteTranslationMemory of 1 entries>"


# In a process of its own, since forking is for those that have no other threads.
FORKING = """
import os, sys
from diglot import TranslationMemoryEntry
from diglot.errors import StoreError
from diglot.stores.sqlite import SqliteTranslationMemory

entry = TranslationMemoryEntry("Save", "t")
with SqliteTranslationMemory.open(sys.argv[1]) as memory:
    memory.add(entry)
    child = os.fork()
    if child == 0:
        for call in (lambda: memory.search("a"), lambda: memory.add(entry)):
            try:
                call()
            except StoreError as error:
                print(error.code)
        memory.close()
        with SqliteTranslationMemory.open(memory.path) as own:
            print(own.add(entry))
        sys.stdout.flush()
        os._exit(0)
    os.waitpid(child, 0)
    print(memory.add(entry), memory.verify())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_is_told_to_open_the_store_itself(path):
    process = subprocess.run(
        [sys.executable, "-c", FORKING, str(path)], capture_output=True, text=True
    )
    assert process.stderr == ""
    assert process.stdout.split() == ["store_closed", "store_closed", "1", "2", "3"]


# Threads, tasks and processes


def test_threads_add_in_groups_and_all_get_their_own(memory):
    def work(name):
        for number in range(40):
            id = memory.add(entry(f"{name} {number}"))
            assert memory.get(id).source == f"{name} {number}"
            found.append(id)

    found = []
    threads = [threading.Thread(target=work, args=(name,)) for name in "abcdef"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == list(range(240))
    assert memory.verify() == 240
    # Each in its own order.
    for name in "abcdef":
        own = [e.source for e in memory if e.source.startswith(name)]
        assert own == [f"{name} {number}" for number in range(40)]


def test_a_bad_entry_does_not_disturb_the_others_of_its_group(path):
    async def run():
        async with await SqliteTranslationMemoryStore.open(path) as store:
            bad = entry(metadata={"a": 1})
            bad.metadata["a"] = object()
            calls = [
                store.add(bad if number % 3 == 0 else entry(str(number))) for number in range(30)
            ]
            outcomes = await asyncio.gather(*calls, return_exceptions=True)
            assert [type(o) is InvalidTypeError for o in outcomes] == [
                n % 3 == 0 for n in range(30)
            ]
            assert len(store) == 20

    asyncio.run(run())


def test_cancelled_at_any_moment_a_change_was_made_or_not(path):
    async def run():
        async with await SqliteTranslationMemoryStore.open(path) as store:
            made = 0
            for yields in range(25):
                for change in (
                    lambda: store.add(entry()),
                    lambda: store.add_many([entry()]),
                ):
                    task = asyncio.ensure_future(change())
                    for _ in range(yields):
                        await asyncio.sleep(0.0002)
                    task.cancel()
                    try:
                        await task
                        made += 1
                    except asyncio.CancelledError:
                        pass
            # None may have been fast enough, but one that is left alone is made.
            await store.add(entry())
            assert await store.verify() == made + 1

    asyncio.run(run())


def test_other_tasks_run_while_a_batch_is_written(path):
    async def run():
        ticks = 0

        async def tick():
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        async with await SqliteTranslationMemoryStore.open(path) as store:
            task = asyncio.ensure_future(tick())
            for work in (
                lambda: store.add_many(entries(20_000)),
                lambda: store.remove_many(range(0, 20_000, 2)),
                store.verify,
                store.compact,
            ):
                before = ticks
                await work()
                assert ticks > before + 20
            task.cancel()

    asyncio.run(run())


WRITER = """
import json, random, sys
from diglot import TranslationMemoryEntry
from diglot.stores.sqlite import SqliteTranslationMemory

memory = SqliteTranslationMemory.open(sys.argv[1])
draw = random.Random(int(sys.argv[2]))
ids = [id for id, _ in memory.items()]


def entry():
    return TranslationMemoryEntry(f"Save file {draw.randrange(10**9)}", "t")


def say(*what):
    print(json.dumps(what), flush=True)


while True:
    kind = draw.choice(["add", "add", "add", "many", "replace", "remove", "snapshot", "compact"])
    if kind == "add":
        new = entry()
        say("add", [new.source])
        ids.append(memory.add(new))
    elif kind == "many":
        some = [entry() for _ in range(draw.randrange(1, 200))]
        say("add", [new.source for new in some])
        ids += memory.add_many(some)
    elif kind == "replace" and ids:
        id, new = draw.choice(ids), entry()
        say("replace", id, new.source)
        memory.replace(id, new)
    elif kind == "remove" and len(ids) > 300:
        some = draw.sample(ids, 150)
        say("remove", some)
        memory.remove_many(some)
        ids = [id for id in ids if id not in set(some)]
    elif kind == "snapshot":
        memory._snapshots.save(None)
    elif kind == "compact" and draw.random() < 0.2:
        memory.compact()
    say("done")
"""


def applied(held, next_id, change):
    """What a memory holds after a change."""
    held = dict(held)
    kind, *arguments = change
    if kind == "add":
        for source in arguments[0]:
            held[next_id] = source
            next_id += 1
    elif kind == "replace":
        held[arguments[0]] = arguments[1]
    else:
        for id in arguments[0]:
            del held[id]
    return held, next_id


def test_a_killed_writer_loses_nothing_that_was_acknowledged(path):
    """Killed at any moment: what was acknowledged is there, and the one change that was not is
    there as a whole or not at all. `DIGLOT_CRASHES` says how often.
    """
    draw = random.Random(11)
    held, next_id = {}, 0
    for number in range(int(os.environ.get("DIGLOT_CRASHES", "30"))):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), str(number)],
            stdout=subprocess.PIPE,
            text=True,
        )
        lines = draw.randrange(1, 60)
        change = None
        for count, line in enumerate(writer.stdout):
            if not line.endswith("\n"):
                break  # It did not come to what it was about to say.
            said = json.loads(line)
            if said == ["done"]:
                if change is not None:
                    held, next_id = applied(held, next_id, change)
                change = None
            else:
                change = said
            if count == lines:
                # Now, in the middle of whatever it does.
                threading.Timer(draw.random() * 0.004, writer.kill).start()
        writer.wait(timeout=60)
        writer.stdout.close()
        assert writer.returncode == -9
        with SqliteTranslationMemory.open(path) as memory:
            found = {id: entry.source for id, entry in memory.items()}
            if change is not None and found != held:
                held, next_id = applied(held, next_id, change)
            assert found == held
            assert memory.verify() == len(held)
            for id in draw.sample(sorted(held), min(5, len(held))):
                assert id in [hit.id for hit in memory.search(held[id], min_score=1.0)]
            # Also what was given to entries that are gone again is not given twice.
            next_id = memory._memory.snapshot().next_id
            assert next_id > max(held, default=-1)


ADDER = """
import sys
from diglot import TranslationMemoryEntry
from diglot.stores.sqlite import SqliteTranslationMemory

# As long as it takes to wait for the others, whose turn may come first each time.
with SqliteTranslationMemory.open(sys.argv[1], busy_timeout=600) as memory:
    for number in range(30):
        entry = TranslationMemoryEntry(f"{sys.argv[2]} {number}", "t")
        ids = [memory.add(entry)] if number % 2 else memory.add_many([entry, entry])
        # Its own is there at once, whatever the others do.
        for id in ids:
            assert memory.get(id) == entry
"""


def test_processes_take_turns_and_see_each_others_entries(path):
    """All begin together, with a database that is not there yet."""
    writers = [
        subprocess.Popen([sys.executable, "-c", ADDER, str(path), name], stderr=subprocess.PIPE)
        for name in "abcd"
    ]
    seen = 0
    while any(writer.poll() is None for writer in writers):
        if path.exists():
            with SqliteTranslationMemory.open(path, busy_timeout=600) as memory:
                for _ in range(20):
                    count = len(memory)
                    assert count >= seen
                    seen = count
    assert [writer.communicate()[1] for writer in writers] == [b""] * 4
    with SqliteTranslationMemory.open(path) as memory:
        assert memory.verify() == 4 * 45
        assert [id for id, _ in memory.items()] == list(range(180))
        for name in "abcd":
            own = [entry.source for entry in memory if entry.source.startswith(name)]
            assert own == [f"{name} {n}" for n in range(30) for _ in range(2 - n % 2)]
