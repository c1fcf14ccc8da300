"""Adding, changing and removing records: alone, in batches, by many threads, on an event loop."""

import asyncio
import gzip
import json
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

import diglot.dual.memory
from conftest import SHARED
from diglot import (
    AbortedError,
    DiglotError,
    FormatError,
    InvalidTypeError,
    InvalidValueError,
    UnknownRecordError,
    similarity,
)
from diglot.dual import (
    DualLanguageMemory,
    DualLanguageStore,
    MemoryRecord,
    RecallPolicy,
    SyncDualLanguageMemory,
)


class Set:
    def is_set(self):
        return True


def zh(id, text="把文件保存到磁盘", **fields):
    return MemoryRecord(text, id=id, lang="zh", **fields)


def verified(id, text, text_en, **fields):
    return MemoryRecord(
        text,
        id=id,
        lang="zh",
        text_en=text_en,
        translation_source="human",
        translation_status="verified",
        **fields,
    )


def validate(memory):
    memory._texts.internal_validate()
    memory._english.internal_validate()


def english_hits(memory, query):
    result = memory.recall(
        "nothing alike", query, policy=RecallPolicy(min_score=0.9, broaden=False)
    )
    return [hit.record.id for hit in result.hits if hit.field == "text_en"]


def test_what_is_added_is_there_and_in_order():
    memory = SyncDualLanguageMemory()
    full = verified(
        "a",
        "保存文件",
        "Save the file",
        category="docs",
        namespace="n",
        importance=0.5,
        embedding_version="v",
        metadata={"x": [1]},
        created_at="2020-01-01T00:00:00Z",
        updated_at="2021-01-01T00:00:00Z",
    )
    assert memory.add(full) is full
    assert memory.add_many([zh("b"), MemoryRecord("Open", id="c")]) == 2
    memory.add(zh("d"))
    assert memory.get("a") == full
    assert [record.id for record in memory] == ["a", "b", "c", "d"]
    assert len(memory) == 4
    assert repr(memory) == "<SyncDualLanguageMemory of 4 records>"
    validate(memory)


def test_copies_leave_what_is_stored_alone():
    record = zh("a", metadata={"x": [1]})
    memory = SyncDualLanguageMemory([record])
    record.metadata["x"].append(2)
    memory.get("a").metadata["x"].append(3)
    assert memory.get("a").metadata == {"x": [1]}


def test_ids_are_unique():
    memory = SyncDualLanguageMemory([zh("a")])
    with pytest.raises(InvalidValueError, match="'a'") as caught:
        memory.add(zh("a"))
    assert caught.value.code == "duplicate_id"
    with pytest.raises(InvalidValueError, match=r"records\[1\]") as caught:
        memory.add_many([zh("b"), zh("a")])
    assert caught.value.position == 1
    assert [record.id for record in memory] == ["a"]
    memory.remove("a")
    memory.add(zh("a", "新的"))
    memory.add(zh("b"))
    assert memory.get("a").text == "新的"
    assert len(memory) == 2


@pytest.mark.parametrize("bad", ["a text", zh("r0"), None, zh("x", metadata={"a": 1})])
def test_batches_are_all_or_nothing(bad):
    memory = SyncDualLanguageMemory()
    if isinstance(bad, MemoryRecord) and bad.metadata:
        bad.metadata["a"] = {1}
    records = [zh(f"r{n}", f"第{n}个文件") for n in range(500)]
    with pytest.raises(DiglotError) as caught:
        memory.add_many([*records, bad])
    assert caught.value.position in (500, None)
    assert len(memory) == 0
    assert not memory.recall("第1个文件").hits
    assert memory.kpis().records["all"].records == 0
    assert memory.add_many(records) == 500
    validate(memory)


def test_a_batch_whose_iterable_fails_leaves_nothing():
    memory = SyncDualLanguageMemory()

    def broken():
        yield zh("a")
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        memory.add_many(broken())
    assert len(memory) == 0
    memory.add(zh("a"))


@pytest.mark.parametrize("value", [3, None])
def test_wrong_arguments_are_named(value):
    memory = SyncDualLanguageMemory()
    for call, field in (
        (lambda: memory.get(value), "id"),
        (lambda: memory.remove(value), "id"),
        (lambda: memory.update(value), "id"),
        (lambda: memory.add(value), "record"),
        (lambda: memory.add_many(value), "records"),
        (lambda: memory.search(value), "query"),
        (lambda: memory.recall(value), "query"),
    ):
        with pytest.raises(InvalidTypeError) as caught:
            call()
        assert caught.value.field == field


def test_unknown_ids():
    memory = SyncDualLanguageMemory([zh("a")])
    for call in (memory.get, memory.remove, memory.update, memory.report_mismatch):
        with pytest.raises(UnknownRecordError, match="'b'"):
            call("b")
    memory.remove("a")
    for call in (memory.get, memory.remove, memory.update):
        with pytest.raises(UnknownRecordError, match="'a'"):
            call("a")


def test_a_companion_may_come_later_change_and_go():
    memory = SyncDualLanguageMemory([zh("a"), zh("b", "别的")])
    assert english_hits(memory, "Save the file") == []
    first = memory.get("a")
    assert memory.update("a") == memory.get("a") == first
    second = memory.update("a", text_en="Save the file")
    assert (second.translation_source, second.translation_status) == ("llm", "draft")
    assert second.updated_at > first.updated_at
    assert second.created_at == first.created_at
    assert english_hits(memory, "Save the file") == ["a"]

    third = memory.update("a", translation_status="verified", translation_source="human")
    assert third.updated_at > second.updated_at
    result = memory.recall("nothing alike", "Save the file")
    assert result.hits[0].matches[0].weight == 1.0

    fourth = memory.update("a", text_en="Store the document")
    assert (fourth.translation_source, fourth.translation_status) == ("llm", "draft")
    assert english_hits(memory, "Save the file") == []
    assert english_hits(memory, "Store the document") == ["a"]

    fifth = memory.update("a", text_en=None)
    assert (fifth.translation_source, fifth.translation_status) == ("none", "missing")
    assert english_hits(memory, "Store the document") == []
    assert [record.id for record in memory] == ["a", "b"]
    assert memory.kpis().records["zh"].with_text_en == 0
    validate(memory)


def test_a_text_that_changes_unverifies_its_companion():
    memory = SyncDualLanguageMemory([verified("a", "保存文件", "Save the file")])
    assert memory.update("a", category="c").translation_status == "verified"
    assert memory.update("a", text="打开文件").translation_status == "draft"
    assert memory.update("a", translation_status="verified").translation_status == "verified"
    both = memory.update("a", text="关闭文件", translation_status="verified")
    assert both.translation_status == "verified"
    assert memory.recall("关闭文件").hits[0].matches[0].kind == "exact"
    assert not memory.search("保存文件", min_score=0.9)


@pytest.mark.parametrize(
    ("changes", "error", "field"),
    [
        ({"updated_at": "2026-01-01"}, InvalidValueError, "updated_at"),
        ({"colour": "red"}, InvalidValueError, "colour"),
        ({"text": ""}, InvalidValueError, "text"),
        ({"importance": 2}, InvalidValueError, "importance"),
        ({"translation_status": "missing"}, InvalidValueError, "translation_status"),
        ({"metadata": {"a": b""}}, InvalidTypeError, "metadata.a"),
    ],
)
def test_an_update_that_is_refused_changes_nothing(changes, error, field):
    memory = SyncDualLanguageMemory([verified("a", "保存文件", "Save the file")])
    before = memory.get("a")
    with pytest.raises(error) as caught:
        memory.update("a", **changes)
    assert caught.value.field == field
    assert memory.get("a") == before


def test_updates_of_batched_and_single_records_keep_the_sides_together():
    """Every record of a batch has a companion or not, so that places and numbers differ."""
    memory = SyncDualLanguageMemory()
    memory.add(verified("s0", "单独零", "single zero"))
    memory.add_many(
        verified(f"r{n}", f"第{n}号记录", f"record number {n}")
        if n % 3
        else zh(f"r{n}", f"第{n}号")
        for n in range(300)
    )
    memory.add_many([MemoryRecord(f"plain english {n}", id=f"e{n}") for n in range(100)])
    memory.add(verified("s1", "单独一", "single one"))
    for n in range(0, 300, 5):
        memory.update(f"r{n}", text_en=f"fresh companion {n}")
    for n in range(1, 300, 7):
        memory.remove(f"r{n}")
    alive = [record.id for record in memory]
    assert len(alive) == len(memory)
    for record in memory:
        if record.english:
            found = memory.recall("nothing alike", record.english).hits[0]
            assert found.record.english == record.english
            assert found.record == memory.get(found.record.id)
    validate(memory)


@pytest.mark.parametrize(
    "call",
    [
        lambda memory, signal: memory.add(zh("b"), signal=signal),
        lambda memory, signal: memory.add_many([zh("b")], signal=signal),
        lambda memory, signal: memory.update("a", category="c", signal=signal),
        lambda memory, signal: memory.remove("a", signal=signal),
        lambda memory, signal: memory.search("a", signal=signal),
        lambda memory, signal: memory.recall("a", signal=signal),
    ],
)
def test_a_set_signal_aborts(call):
    memory = SyncDualLanguageMemory([zh("a")])
    before = list(memory)
    with pytest.raises(AbortedError):
        call(memory, Set())
    assert list(memory) == before
    with pytest.raises(InvalidTypeError, match="is_set"):
        call(memory, 1)
    assert list(memory) == before


def test_search_looks_at_texts_alone_and_filters():
    memory = SyncDualLanguageMemory(
        [
            verified("a", "保存文件", "Save the file", category="x", namespace="n"),
            zh("b", "保存文件吧", category="y", namespace="n"),
            MemoryRecord("Save the file", id="c", category="x", namespace="m"),
        ]
    )

    def ids(query, **filters):
        return [hit.record.id for hit in memory.search(query, **filters)]

    assert ids("保存文件") == ["a", "b"]
    assert ids("Save the file") == ["c"]
    assert ids("保存文件", category="y") == ["b"]
    assert ids("保存文件", namespace="m") == []
    assert ids("保存文件", lang="ZH") == ["a", "b"]
    assert ids("保存文件", lang="en") == []
    assert ids("保存文件", translation_status="verified") == ["a"]
    assert ids("保存文件", translation_status="missing") == ["b"]
    assert ids("保存文件", limit=1) == ["a"]
    assert ids("保存文件", min_score=1) == ["a"]
    hit = memory.search("保存文件吧")[1]
    assert hit.score == similarity("保存文件吧", "保存文件")
    assert hit.to_dict()["record"]["id"] == "a"
    for filters, field in (
        ({"translation_status": "done"}, "translation_status"),
        ({"limit": 0}, "limit"),
        ({"min_score": 2}, "min_score"),
    ):
        with pytest.raises(InvalidValueError) as caught:
            memory.search("a", **filters)
        assert caught.value.field == field
    with pytest.raises(InvalidTypeError, match="lang"):
        memory.search("a", lang=1)


def zstandard(data):
    """A Zstandard frame: its magic number, a window of 1 KiB, and blocks that are stored as they
    are, each after its size, its kind (0) and whether it is the last.
    """
    blocks = [data[start : start + 1024] for start in range(0, len(data), 1024)]
    frame = b"\x28\xb5\x2f\xfd\x00\x00"
    for number, block in enumerate(blocks, start=1):
        frame += (len(block) << 3 | (number == len(blocks))).to_bytes(3, "little") + block
    return frame


def test_jsonl_round_trip(tmp_path):
    memory = SyncDualLanguageMemory(
        [
            verified("a", "保存\n文件", "Save the file", metadata={"k": ["\u2028"]}),
            zh("b", importance=0.25),
            MemoryRecord("Open 😀", id="c"),
        ]
    )
    path = tmp_path / "memory.jsonl"
    assert memory.to_jsonl(path) == 3
    assert list(SyncDualLanguageMemory.from_jsonl(path)) == list(memory)
    packed = tmp_path / "memory.jsonl.gz"
    for pack in (zstandard, gzip.compress):
        packed.write_bytes(pack(path.read_bytes()))
        assert list(SyncDualLanguageMemory.from_jsonl(str(packed))) == list(memory)

    async def both():
        again = await DualLanguageMemory.from_jsonl(path)
        await again.to_jsonl(tmp_path / "again.jsonl")

    asyncio.run(both())
    assert (tmp_path / "again.jsonl").read_bytes() == path.read_bytes()
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "again.jsonl",
        "memory.jsonl",
        "memory.jsonl.gz",
    ]


@pytest.mark.parametrize(
    ("content", "line", "field"),
    [
        (b'{"text": "a"}\n\n{"text": ""}\n', 3, "text"),
        (b'{"text": "a"}\n[]\n', 2, None),
        (b'{"text": "a"\n', 1, None),
        (b'{"text": "a", "colour": 1}\n', 1, "colour"),
        (b'{"text": "a", "translation_status": "verified"}\n', 1, "translation_status"),
        (b'{"text": "\xff"}\n', 1, None),
        (b"[" * 100000, 1, None),
        (b'{"text": "a"}\r\n \t\n\xef\xbb\xbf{}\n', 3, None),
        (b'{"importance": ' + b"1" * 5000 + b"}", 1, None),
        (gzip.compress(b'{"text": "a"}\n' * 9)[:-9], None, None),
        (zstandard(b'{"text": "a"}\n' * 999)[:-9], None, None),
        # A line of a gibibyte.
        (gzip.compress(b"[" * (1 << 20)) * 1024, 1, None),
    ],
)
def test_files_that_are_wrong_are_refused_with_their_line(tmp_path, content, line, field):
    path = tmp_path / "records.jsonl"
    path.write_bytes(content)
    with pytest.raises(FormatError) as caught:
        SyncDualLanguageMemory.from_jsonl(path)
    assert caught.value.field == field
    assert line is None or caught.value.line == line
    assert str(path) in str(caught.value)


def test_files_with_a_byte_order_mark_or_in_utf_16(tmp_path):
    path = tmp_path / "records.jsonl"
    for encoding in ("utf-8-sig", "utf-16"):
        path.write_text('{"id": "a", "text": "保存"}\n', encoding=encoding)
        (record,) = SyncDualLanguageMemory.from_jsonl(path)
        assert record.text == "保存"


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path):
    memory = SyncDualLanguageMemory([zh("a")])
    with pytest.raises(FileNotFoundError):
        memory.to_jsonl(tmp_path / "no" / "memory.jsonl")
    with pytest.raises(InvalidTypeError, match="path"):
        memory.to_jsonl(3)
    assert list(tmp_path.iterdir()) == []


def race(*works):
    """Runs functions on threads at the same time; raises what any of them raised."""
    failures = []
    barrier = threading.Barrier(len(works))

    def run(work):
        try:
            barrier.wait()
            work()
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def test_no_update_is_lost_among_racing_writers():
    memory = SyncDualLanguageMemory([zh(f"r{n}", f"第{n}号") for n in range(20)])
    names = ("category", "namespace", "embedding_version", "importance")

    def writer(number, name):
        def work():
            for n in range(20):
                value = number / 10 if name == "importance" else f"{name}{n}"
                memory.update(f"r{n}", **{name: value})
                memory.add(
                    verified(f"w{number}-{n}", f"写手{number}写{n}", f"written {number} {n}")
                )
                if n % 2:
                    memory.remove(f"w{number}-{n}")

        return work

    race(*(writer(number, name) for number, name in enumerate(names)))
    for n in range(20):
        record = memory.get(f"r{n}")
        assert (record.category, record.namespace, record.embedding_version) == (
            f"category{n}",
            f"namespace{n}",
            f"embedding_version{n}",
        )
        assert record.importance == 0.3
    assert len(memory) == 20 + 4 * 10
    assert memory.kpis().records["zh"].to_dict()["with_text_en"] == 40
    validate(memory)


def test_an_id_is_given_once_however_many_want_it():
    memory = SyncDualLanguageMemory()
    outcomes = []

    def work():
        for n in range(50):
            try:
                if n % 2:
                    memory.add(zh(f"r{n}"))
                else:
                    memory.add_many([zh(f"r{n}")])
            except InvalidValueError:
                continue
            outcomes.append(n)

    race(*[work] * 4)
    assert sorted(outcomes) == list(range(50))
    assert len(memory) == 50


def test_a_recall_sees_an_update_in_both_languages_or_in_none():
    """The two texts of a record always belong together, and so must what a recall finds of them."""
    memory = SyncDualLanguageMemory(
        [verified("a", "版本0号的全部说明", "all the notes of version 0")]
        + [verified(f"x{n}", f"其他{n}", f"something else {n}") for n in range(50)]
    )
    done = threading.Event()
    policy = RecallPolicy(fallback_below=1.0, fallback_hits=50, broaden=False)

    def write():
        try:
            for n in range(1, 400):
                memory.update(
                    "a",
                    text=f"版本{n}号的全部说明",
                    text_en=f"all the notes of version {n}",
                    translation_source="human",
                    translation_status="verified",
                )
        finally:
            done.set()

    def read():
        while not done.is_set():
            result = memory.recall("版本0号的全部说明", "all the notes of version 0", policy=policy)
            (hit,) = [hit for hit in result.hits if hit.record.id == "a"]
            version = hit.record.text[2:-6]
            assert hit.record.text_en == f"all the notes of version {version}"
            scores = {match.field: match.score for match in hit.matches}
            assert scores["text"] == similarity("版本0号的全部说明", hit.record.text)
            assert scores["text_en"] == similarity("all the notes of version 0", hit.record.text_en)

    race(write, read, read)


def test_a_batch_appears_at_once_in_both_languages():
    memory = SyncDualLanguageMemory()
    done = threading.Event()
    policy = RecallPolicy(fallback_hits=1000, min_score=0.9, broaden=False)

    def write():
        try:
            for n in range(30):
                memory.add_many(
                    verified(f"{n}-{k}", "同样的文字", "the same text") for k in range(9)
                )
        finally:
            done.set()

    def read():
        last = 0
        while not done.is_set():
            result = memory.recall("同样的文字", "the same text", limit=300, policy=policy)
            for hit in result.hits:
                assert [match.field for match in hit.matches].count("text") == 1
                assert len(hit.matches) == 2
            assert len(result.hits) % 9 == 0
            assert len(result.hits) >= last
            last = len(result.hits)

    race(write, read)
    assert len(memory) == 270


operations = st.lists(
    st.tuples(
        st.sampled_from(["add", "add_many", "update", "remove"]),
        st.integers(0, 5),
        st.sampled_from(["苹果树", "苹果园", "香蕉", "apple tree", "pear"]),
        st.sampled_from([None, "apple tree", "apple yard", "banana"]),
    ),
    max_size=30,
)


@given(operations)
def test_any_history_ends_as_a_plain_dict_would(history):
    memory = SyncDualLanguageMemory()
    model = {}
    for name, number, text, text_en in history:
        id = f"r{number}"
        try:
            if name == "add":
                model_record = memory.add(MemoryRecord(text, id=id, text_en=text_en))
                model[id] = model_record
            elif name == "add_many":
                batch = [MemoryRecord(text, id=f"r{n}", text_en=text_en) for n in (number, 6)]
                memory.add_many(batch)
                model.update((record.id, record) for record in batch)
            elif name == "update":
                model[id] = memory.update(id, text=text, text_en=text_en)
            else:
                memory.remove(id)
                del model[id]
        except InvalidValueError:
            assert id in model or "r6" in model
        except UnknownRecordError:
            assert id not in model
    assert {record.id: record for record in memory} == model
    assert len(memory) == len(model)
    for query in ("apple tree", "banana", "pear"):
        english = {id for id, record in model.items() if record.english == query}
        result = memory.recall("qqq", query, limit=10, policy=RecallPolicy(min_score=1))
        exact = {
            hit.record.id for hit in result.hits if any(m.kind == "exact" for m in hit.matches)
        }
        assert exact == english
    counts = memory.kpis().records["all"]
    assert counts.records == len(model)
    assert counts.with_text_en == sum(record.text_en is not None for record in model.values())
    validate(memory)


def test_the_asynchronous_memory_is_a_store_and_does_the_same():
    async def work():
        memory = DualLanguageMemory()
        assert isinstance(memory, DualLanguageStore)
        await memory.add(verified("a", "保存文件", "Save the file"))
        assert await memory.add_many([zh("b", "打开文件"), zh("c", "关闭")]) == 2
        await memory.update("b", text_en="Open the file")
        await memory.remove("c")
        assert [record.id async for record in memory] == ["a", "b"]
        assert (await memory.get("b")).text_en == "Open the file"
        assert len(memory) == 2
        assert repr(memory) == "<DualLanguageMemory of 2 records>"
        result = await memory.recall("open the file")
        alike = memory.sync.recall("open the file")
        assert result.hits == alike.hits
        assert [hit.record.id for hit in await memory.search("保存文件")] == ["a"]
        await memory.report_mismatch("a", "wrong tense")
        assert memory.kpis().queries["zh"].mismatches == 1
        assert memory.kpis().queries["en"].queries == 2

    asyncio.run(work())


class Ticks:
    """Counts how often other tasks get their turn."""

    async def __aenter__(self):
        self.count = 0
        self.task = asyncio.create_task(self.tick())
        await asyncio.sleep(0)
        return self

    async def __aexit__(self, *_):
        self.task.cancel()

    async def tick(self):
        while True:
            self.count += 1
            await asyncio.sleep(0)


def test_other_tasks_run_while_a_batch_comes_in_and_recalls_are_long():
    async def work():
        memory = DualLanguageMemory()
        async with Ticks() as ticks:
            await memory.add_many(
                verified(f"r{n}", f"第{n}号记录" * 9, f"record number {n} " * 9)
                for n in range(3000)
            )
            assert ticks.count > 20
            before = ticks.count
            await memory.recall("第" * 5000, "record number " * 2000, limit=50)
            assert ticks.count > before
            await memory.add(zh("long", "很长" * 5000))
            await memory.update("long", text_en="long " * 5000)
        assert len(memory) == 3001

    asyncio.run(work())


def test_a_batch_that_is_cancelled_leaves_nothing():
    async def work():
        memory = DualLanguageMemory()
        started = asyncio.Event()

        def records():
            for n in range(100_000):
                if n == 200:
                    started.set()
                yield zh(f"r{n}", f"第{n}号记录")

        task = asyncio.create_task(memory.add_many(records()))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(memory) == 0
        assert await memory.add_many([zh("r0")]) == 1

    asyncio.run(work())


def test_a_writer_that_has_its_turn_does_not_hold_up_the_loop():
    async def work():
        memory = DualLanguageMemory([zh("a")])
        with memory.sync._lock:
            pending = [
                asyncio.create_task(memory.add(zh("b"))),
                asyncio.create_task(memory.add_many([zh("c")])),
                asyncio.create_task(memory.update("a", category="x")),
            ]
            for _ in range(100):
                await asyncio.sleep(0)
            assert not any(task.done() for task in pending)
            assert (await memory.recall("把文件保存到磁盘")).hits
        await asyncio.gather(*pending)
        assert len(memory) == 3

    asyncio.run(work())


def test_real_records_go_in_and_out(tmp_path):
    path = SHARED / "dual" / "records.jsonl"
    if not path.exists():
        pytest.skip(f"the folder {path.parent} is missing: no real records to read")
    memory = SyncDualLanguageMemory.from_jsonl(path)
    with path.open(encoding="utf-8") as lines:
        values = [json.loads(line) for line in lines]
    assert [record.to_dict() | {"updated_at": None} for record in memory] == [
        value | {"updated_at": None} for value in values
    ]
    assert memory.to_jsonl(tmp_path / "again.jsonl") == len(values)
    assert diglot.dual.memory.__doc__


def test_it_knows_its_namespaces():
    memory = SyncDualLanguageMemory()
    assert memory.namespaces() == []
    memory.add(zh("a", "保存文件"))
    memory.add(MemoryRecord("打开文件", id="b", namespace="n"))
    memory.add_many(
        [MemoryRecord("关闭", id="c", namespace="m"), MemoryRecord("退出", id="d", namespace="n")]
    )
    assert memory.namespaces() == ["m", "n"]
    memory.remove("b")
    assert memory.namespaces() == ["m", "n"]
    memory.update("d", namespace="o", text_en="Quit")
    assert memory.namespaces() == ["m", "o"]
    memory.remove("c")
    with pytest.raises(InvalidValueError):
        memory.add_many([MemoryRecord("一", id="e", namespace="p"), zh("d", "二")])
    assert memory.namespaces() == ["o"]
    assert memory.kpis().records["all"].records == 2
    asynchronous = DualLanguageMemory([MemoryRecord("一", namespace="q")])
    assert asyncio.run(asynchronous.namespaces()) == ["q"]


@given(
    st.lists(st.tuples(st.text("ab.\U0010ffff", max_size=3), st.booleans())),
    st.text("ab.", max_size=2),
)
def test_namespaces_are_those_that_begin_with_a_prefix(changes, prefix):
    memory = SyncDualLanguageMemory()
    for number, (namespace, keep) in enumerate(changes):
        memory.add(MemoryRecord("一", id=str(number), namespace=namespace))
        if not keep:
            memory.remove(str(number))
    kept = {namespace for namespace, keep in changes if keep}
    assert memory.namespaces(prefix) == sorted(name for name in kept if name.startswith(prefix))
    with pytest.raises(InvalidTypeError):
        memory.namespaces(None)
