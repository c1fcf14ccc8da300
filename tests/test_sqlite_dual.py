"""The dual-language memory in SQLite: what the one in memory does, and it lasts."""

import asyncio
import json
import logging
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from dataclasses import replace

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from diglot.dual import (
    DualLanguageStore,
    MemoryRecord,
    SyncDualLanguageMemory,
    lookup_dual_memory,
)
from diglot.errors import (
    InvalidValueError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreFormatError,
    UnknownRecordError,
)
from diglot.stores.sqlite import SqliteTranslationMemory
from diglot.stores.sqlite_dual import SqliteDualLanguageMemory, SyncSqliteDualLanguageMemory
from durable import TwoOverOneDatabase, damaged, snapshot_of, write_snapshot

NOTES = ["按下保存按钮", "save the file", "파일을 저장", "the file is saved", "ファイル"]


def notes(count, start=0):
    """Notes with a companion, without one, and in English, in two namespaces."""
    return [
        MemoryRecord(
            f"note {number}" if number % 3 == 2 else f"第{number}条 按下保存",
            id=f"n-{number}",
            text_en="press save" if number % 3 == 0 else None,
            namespace="ab"[number % 2],
            created_at="2026-01-31T12:00:00Z",
        )
        for number in range(start, start + count)
    ]


def timeless(record):
    """A record without when it was changed, which no two memories agree on."""
    return replace(record, updated_at=record.created_at)


def same(memory, expected):
    assert list(map(timeless, memory)) == list(map(timeless, expected))
    assert memory.namespaces() == expected.namespaces()
    assert memory.kpis().records == expected.kpis().records
    for query in ("save the file", "保存"):
        for options in ({}, {"namespace": "a"}, {"translation_status": "draft"}):
            found = memory.recall(query, "the file", **options)
            wanted = expected.recall(query, "the file", **options)
            assert [(timeless(h.record), h.score, h.matches) for h in found.hits] == [
                (timeless(h.record), h.score, h.matches) for h in wanted.hits
            ]
            assert found.fallback_used == wanted.fallback_used
    assert [h.score for h in memory.search("file")] == [h.score for h in expected.search("file")]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "notes.db"


@pytest.fixture
def memory(path):
    with SyncSqliteDualLanguageMemory.open(path) as memory:
        yield memory


records = st.builds(
    MemoryRecord,
    st.sampled_from(NOTES),
    text_en=st.sampled_from([None, "the file", "press save"]),
    namespace=st.sampled_from([None, "a", "b"]),
    category=st.sampled_from([None, "tip"]),
    importance=st.sampled_from([None, 0.5]),
    metadata=st.sampled_from([None, {"a": [1, "é"]}]),
)


class Memories(TwoOverOneDatabase):
    open = staticmethod(SyncSqliteDualLanguageMemory.open)
    make_expected = SyncDualLanguageMemory
    same = staticmethod(same)

    def draw_id(self, data):
        return data.draw(st.sampled_from([record.id for record in self.expected]))

    @rule(number=st.integers(0, 1), record=records)
    def add(self, number, record):
        # Hypothesis may make the same record, and so the same id, again.
        record = replace(record, id=f"{len(self.expected)}-{random.random()}")
        assert self.memories[number].add(record) == self.expected.add(record) == record

    @rule(number=st.integers(0, 1), batch=st.lists(records, max_size=6))
    def add_many(self, number, batch):
        batch = [replace(record, id=f"{n}-{random.random()}") for n, record in enumerate(batch)]
        assert self.memories[number].add_many(batch) == self.expected.add_many(batch)

    @precondition(lambda self: len(self.expected))
    @rule(
        number=st.integers(0, 1),
        changes=st.fixed_dictionaries(
            {},
            optional={
                "text": st.sampled_from(NOTES),
                "text_en": st.sampled_from([None, "the file"]),
                "namespace": st.sampled_from([None, "a", "c"]),
            },
        ),
        data=st.data(),
    )
    def update(self, number, changes, data):
        id = self.draw_id(data)
        new = self.memories[number].update(id, **changes)
        assert timeless(new) == timeless(self.expected.update(id, **changes))
        assert self.memories[number].get(id) == new

    @precondition(lambda self: len(self.expected))
    @rule(number=st.integers(0, 1), data=st.data())
    def remove(self, number, data):
        id = self.draw_id(data)
        self.memories[number].remove(id)
        self.expected.remove(id)
        for memory in self.memories:
            with pytest.raises(UnknownRecordError):
                memory.update(id, text="new")

    @precondition(lambda self: len(self.expected))
    @rule(number=st.integers(0, 1), record=records, data=st.data())
    def add_with_an_id_that_another_has(self, number, record, data):
        record = replace(record, id=self.draw_id(data))
        for add in (
            self.memories[number].add,
            lambda record: self.memories[number].add_many([record]),
        ):
            with pytest.raises(InvalidValueError) as caught:
                add(record)
            assert caught.value.code == "duplicate_id"


TestMemories = Memories.TestCase
TestMemories.settings = settings(
    max_examples=settings().max_examples // 2 + 1, stateful_step_count=15
)


# Snapshots


def test_what_a_snapshot_holds_is_not_read_from_the_database(path, caplog):
    expected = SyncDualLanguageMemory(notes(1500))
    with SyncSqliteDualLanguageMemory.open(path) as memory:
        memory.add_many(expected)
    # It was time to write one. What the database says now is not asked for.
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE entries SET source = 'changed', notes = 'changed' WHERE id = 0")
    with (
        SyncSqliteDualLanguageMemory.open(path) as memory,
        caplog.at_level(logging.INFO),
    ):
        same(memory, expected)
        assert memory.get("n-0").text_en == "press save"
        with pytest.raises(StoreDamagedError, match="does not have the entry 0 as it is"):
            memory.verify()
    assert not caplog.text


def test_what_changed_since_a_snapshot_is_read_from_the_database(path, caplog):
    expected = SyncDualLanguageMemory(notes(1500))
    with SyncSqliteDualLanguageMemory.open(path) as memory:
        memory.add_many(expected)
        write_snapshot(memory)
        for change in (memory, expected):
            change.add_many(notes(5, start=1500))
            for id in ("n-3", "n-4", "n-5", "n-1502"):
                change.remove(id)
            change.update("n-6", text_en="put to disk", namespace="c")
            change.update("n-7", text_en="new", text="新", lang="zh")
            change.update("n-8", lang="de")
    size = snapshot_of(path).stat().st_size
    with SyncSqliteDualLanguageMemory.open(path) as memory, caplog.at_level(logging.INFO):
        same(memory, expected)
        for id in ("n-3", "n-1502"):
            with pytest.raises(UnknownRecordError):
                memory.get(id)
            memory.add(MemoryRecord("again", id=id))
        with pytest.raises(InvalidValueError):
            memory.add(MemoryRecord("again", id="n-1500"))
        assert memory.recall("put to disk").hits[0].record.id == "n-6"
        assert memory.verify() == 1503
    assert not caplog.text
    assert snapshot_of(path).stat().st_size == size


def test_a_damaged_snapshot_never_changes_an_answer(path, caplog):
    draw = random.Random(3)
    expected = SyncDualLanguageMemory(notes(200))
    with SyncSqliteDualLanguageMemory.open(path) as memory:
        memory.add_many(expected)
        write_snapshot(memory)
    good = snapshot_of(path).read_bytes()
    for number in range(40):
        snapshot_of(path).write_bytes(damaged(good, draw))
        caplog.clear()
        with SyncSqliteDualLanguageMemory.open(path, read_only=bool(number % 2)) as memory:
            same(memory, expected)
        [message] = caplog.messages
        assert "its index made anew" in message


def test_a_snapshot_of_one_side_alone_is_not_used(path, caplog):
    with SyncSqliteDualLanguageMemory.open(path) as memory:
        memory.add_many(notes(50))
        memory._keeper.index.memories = memory._keeper.index.memories[:1]
        write_snapshot(memory)
    with SyncSqliteDualLanguageMemory.open(path) as memory:
        same(memory, SyncDualLanguageMemory(notes(50)))
    assert "its index made anew" in caplog.text


def test_a_snapshot_of_another_database_is_not_used(tmp_path, caplog):
    with SyncSqliteDualLanguageMemory.open(tmp_path / "a.db") as memory:
        memory.add_many(notes(1000))
    with SyncSqliteDualLanguageMemory.open(tmp_path / "b.db") as memory:
        memory.add_many(notes(1000, start=500))
    shutil.copy(snapshot_of(tmp_path / "a.db"), snapshot_of(tmp_path / "b.db"))
    with SyncSqliteDualLanguageMemory.open(tmp_path / "b.db") as memory:
        same(memory, SyncDualLanguageMemory(notes(1000, start=500)))
        assert memory.verify() == 1000
    assert "of another database" in caplog.text


def test_a_side_that_differs_is_found_by_verifying(path, memory):
    memory.add_many(notes(10))
    assert memory.verify() == 10
    memory._english.remove(0)
    with pytest.raises(StoreDamagedError, match="the index does not have the entry 0 as it is"):
        memory.verify()


def test_an_id_that_another_process_took_while_a_batch_was_read(path, memory):
    def some():
        yield MemoryRecord("one", id="a")
        yield MemoryRecord("two", id="b")
        with SyncSqliteDualLanguageMemory.open(path) as other:
            other.add(MemoryRecord("other", id="b"))
        yield MemoryRecord("three", id="c")

    with pytest.raises(InvalidValueError) as caught:
        memory.add_many(some())
    assert (caught.value.code, caught.value.position) == ("duplicate_id", 1)
    assert [record.text for record in memory] == ["other"]
    assert memory.add_many([MemoryRecord("one", id="a"), MemoryRecord("three", id="c")]) == 2
    assert memory.get("b").text == "other"
    assert memory.verify() == 3


def test_the_asynchronous_one(path):
    async def run():
        async with await SqliteDualLanguageMemory.open(path) as memory:
            assert isinstance(memory, DualLanguageStore)
            await asyncio.gather(
                *(
                    memory.add(MemoryRecord(f"note {number}", id=str(number)))
                    for number in range(30)
                )
            )
            await memory.add_many([MemoryRecord("按下保存", id="zh", text_en="press save")])
            await memory.update("3", text="changed", namespace="a")
            await memory.remove("4")
            assert (await memory.get("3")).text == "changed"
            assert len(await memory.search("note", limit=50)) == 28
            assert (await memory.recall("press save")).hits[0].record.id == "zh"
            assert await memory.namespaces() == ["a"]
            assert "press save" in (await lookup_dual_memory(memory).gather(query="save")).content
            assert await memory.verify() == 30
            await memory.compact()
            return [record async for record in memory]

    expected = asyncio.run(run())
    with SyncSqliteDualLanguageMemory.open(path, read_only=True) as memory:
        assert list(memory) == expected
        with pytest.raises(StoreError) as caught:
            memory.add(MemoryRecord("a"))
        assert caught.value.code == "store_read_only"
    with pytest.raises(StoreError, match="is closed"):
        memory.recall("a")


def test_other_tasks_run_while_a_batch_is_written(path):
    async def run():
        ticks = 0

        async def tick():
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        async with await SqliteDualLanguageMemory.open(path) as memory:
            task = asyncio.ensure_future(tick())
            await memory.add_many(MemoryRecord(f"note {number}") for number in range(5000))
            assert ticks > 20
            task.cancel()

    asyncio.run(run())


def test_databases_of_translations_are_others(path, tmp_path):
    with SqliteTranslationMemory.open(tmp_path / "memory.db"):
        pass
    with pytest.raises(StoreFormatError, match="holds translations, not records"):
        SyncSqliteDualLanguageMemory.open(tmp_path / "memory.db")
    with SyncSqliteDualLanguageMemory.open(path):
        pass
    with pytest.raises(StoreFormatError, match="holds records, not translations"):
        SqliteTranslationMemory.open(path)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE entries SET target = '{'",
        "UPDATE entries SET target = '[1]'",
        "UPDATE entries SET target = x'00'",
        "UPDATE entries SET source_id = NULL",
        "UPDATE entries SET source_language = NULL",
        "UPDATE entries SET target_language = 'fine'",
        "UPDATE entries SET created_at = 'yesterday'",
        "UPDATE entries SET metadata = '{'",
        "UPDATE entries SET metadata = '[]'",
        "UPDATE entries SET source = ' '",
    ],
)
def test_rows_that_are_no_records(path, change):
    with SyncSqliteDualLanguageMemory.open(path) as memory:
        memory.add(MemoryRecord("a", id="a"))
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(change)
    with pytest.raises(StoreDamagedError, match="the entry with the id 0"):
        SyncSqliteDualLanguageMemory.open(path)


def test_another_process_is_waited_for_only_so_long(path, memory):
    memory.add(MemoryRecord("a", id="a"))
    with (
        SyncSqliteDualLanguageMemory.open(path, busy_timeout=0.05) as waiting,
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        for change in (
            lambda: waiting.add(MemoryRecord("b", id="b")),
            lambda: waiting.add_many([MemoryRecord("b", id="b")]),
            lambda: waiting.update("a", text="b"),
            lambda: waiting.remove("a"),
        ):
            with pytest.raises(StoreBusyError):
                change()
        other.execute("ROLLBACK")
        # What was on its way is forgotten.
        waiting.add(MemoryRecord("b", id="b"))
        assert [record.id for record in memory] == ["a", "b"]


WRITER = """
import random, sys
from diglot.dual import MemoryRecord
from diglot.stores.sqlite_dual import SyncSqliteDualLanguageMemory

def say(line):
    # In one piece, whatever the buffering: half a line says nothing.
    sys.stdout.write(line + "\\n")
    sys.stdout.flush()

memory = SyncSqliteDualLanguageMemory.open(sys.argv[1])
draw = random.Random(int(sys.argv[2]))
number = 0
while True:
    some = [
        MemoryRecord("note", id=f"{sys.argv[2]}-{number}-{n}", text_en=draw.choice([None, "note"]))
        for n in range(draw.randrange(1, 40))
    ]
    say(f"add {len(some)} {number}")
    if len(some) == 1:
        memory.add(some[0])
    else:
        memory.add_many(some)
    say("done")
    id = f"{sys.argv[2]}-{number}-0"
    say(f"update {id}")
    memory.update(id, text_en="new", text="new")
    say("done")
    if draw.random() < 0.3:
        say("save")
        memory._snapshots.save(None)
        say("done")
    number += 1
"""


def test_a_killed_writer_loses_nothing_that_was_acknowledged(path):
    draw = random.Random(5)
    expected = {}
    for run in range(int(os.environ.get("DIGLOT_CRASHES", "30")) // 5):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), str(run)], stdout=subprocess.PIPE, text=True
        )
        last, change = draw.randrange(1, 40), None
        for count, line in enumerate(writer.stdout):
            kind, *arguments = line.split()
            if kind == "done":
                expected.update(change)
                change = None
            elif kind == "save":
                change = {}
            elif kind == "add":
                change = {f"{run}-{arguments[1]}-{n}": False for n in range(int(arguments[0]))}
            else:
                change = {arguments[0]: True}
            if count == last:
                threading.Timer(draw.random() * 0.004, writer.kill).start()
        writer.wait(timeout=60)
        writer.stdout.close()
        assert writer.returncode == -9
        with SyncSqliteDualLanguageMemory.open(path) as memory:
            found = {record.id: record.text == "new" for record in memory}
            if change is not None and found != expected:
                expected.update(change)
            assert found == expected
            for record in memory:
                assert record.text != "new" or record.text_en == "new"
            assert memory.verify() == len(expected)
            # Of nothing else are there files.
            write_snapshot(memory)
        assert set(os.listdir(path.parent)) == {path.name, snapshot_of(path).name}


def test_memories_keep_jsonl(path, tmp_path, memory):
    memory.add_many([MemoryRecord("a", id="a"), MemoryRecord("按", id="b", text_en="press")])
    memory.to_jsonl(tmp_path / "notes.jsonl")
    lines = (tmp_path / "notes.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["a", "b"]
