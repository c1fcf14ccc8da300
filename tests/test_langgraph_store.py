"""The LangGraph store over a dual-language memory, beside LangGraph's own."""

import asyncio
from datetime import datetime, timezone

import pytest

pytest.importorskip("langgraph", reason="diglot[langgraph] is not installed")

from hypothesis import given
from hypothesis import strategies as st
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from diglot import InvalidTypeError, InvalidValueError
from diglot.adapters.langgraph import DualMemoryStore
from diglot.dual import DualLanguageMemory, MemoryRecord
from diglot.stores.sqlite_dual import SqliteDualLanguageMemory


@pytest.fixture
def memory():
    return DualLanguageMemory()


@pytest.fixture
def store(memory):
    return DualMemoryStore(memory)


def places(items):
    return [(item.namespace, item.key) for item in items]


def keys(items):
    return [item.key for item in items]


VALUES = [
    {"text": "a"},
    {"text": "a", "text_en": "b", "n": 1},
    {"text": "  ", "n": 2},
    {"text": 5, "n": 1.5},
    {"text": None},
    {"text_en": "alone"},
    {"text_en": "", "text": "日本語"},
    {},
    {"n": 3, "tags": ["x", {"y": None}], "deep": {"a": {"b": True}, "n": 1}},
    {"kind": "Memory", "content": {"content": "likes tea"}},
    {"value": {"text": "x"}, "derived": 1, "langgraph": {"value": {}}},
]


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("index", [None, False, ["n"], ["deep.a", "content.content"], ["$"], []])
def test_values_come_back_as_they_were(store, value, index):
    before = datetime.now(timezone.utc)
    store.put(("users", "u-1"), "k", value, index=index)
    item = store.get(("users", "u-1"), "k")
    assert item.value == value
    assert (item.namespace, item.key) == (("users", "u-1"), "k")
    assert before <= item.created_at <= item.updated_at
    while datetime.now(timezone.utc) <= item.updated_at:
        pass  # The clocks of some machines are coarse.
    store.put(("users", "u-1"), "k", {"text": "other"})
    changed = store.get(("users", "u-1"), "k")
    assert changed.value == {"text": "other"}
    assert changed.created_at == item.created_at
    assert changed.updated_at > item.updated_at
    store.put(("users", "u-1"), "k", value, index=index)
    assert store.get(("users", "u-1"), "k").value == value


LABELS = st.sampled_from(["a", "b", "ab", "a/b", '"', "]"])
NAMESPACES = st.lists(LABELS, min_size=1, max_size=3).map(tuple)
KEYS = st.sampled_from(["k", "k/1", "a.b", "", '["a", "k"]'])
NUMBERED = st.sampled_from([{"n": n, "s": str(n % 2), "text": "x" * n} for n in range(5)])
PUTS = st.builds(PutOp, NAMESPACES, KEYS, NUMBERED | st.none(), st.none(), st.none())
FILTERS = st.none() | st.fixed_dictionaries(
    {},
    optional={
        "n": st.integers(0, 4)
        | st.dictionaries(
            st.sampled_from(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"]), st.integers(0, 4)
        ),
        "s": st.sampled_from(["0", "1"]),
    },
)
LOOKS = st.one_of(
    st.builds(GetOp, NAMESPACES, KEYS),
    st.builds(
        SearchOp,
        st.just(()) | NAMESPACES,
        FILTERS,
        st.integers(0, 3) | st.just(1000),
        st.integers(0, 3),
        st.none(),
    ),
    st.builds(
        ListNamespacesOp,
        st.none()
        | st.lists(
            st.builds(
                MatchCondition,
                st.sampled_from(["prefix", "suffix"]),
                st.lists(LABELS | st.just("*"), min_size=1, max_size=2).map(tuple),
            ),
            max_size=2,
        ).map(tuple),
        st.none() | st.integers(1, 3),
        st.just(100),
        st.just(0),
    ),
)


@given(st.lists(st.lists(PUTS | LOOKS, max_size=6), max_size=8))
def test_does_what_the_store_of_langgraph_does(batches):
    memory = DualLanguageMemory()
    ours, theirs = DualMemoryStore(memory), InMemoryStore()
    contents = {}
    for ops in batches:
        results = ours.batch(ops)
        for op, result, expected in zip(ops, results, theirs.batch(ops), strict=True):
            if isinstance(op, GetOp):
                assert (result and result.value) == (expected and expected.value)
            elif isinstance(op, SearchOp):
                # Pages differ, since namespaces come in another order.
                assert len(result) == len(expected)
                if op.offset == 0 and op.limit == 1000:
                    assert set(places(result)) == set(places(expected))
            elif isinstance(op, ListNamespacesOp):
                # Theirs remembers namespaces that have nothing in them any more.
                fresh = InMemoryStore()
                fresh.batch([PutOp(*place, value) for place, value in contents.items()])
                assert [result] == fresh.batch([op])
            else:
                assert result is None
        for op in ops:
            if isinstance(op, PutOp):
                contents.pop((op.namespace, op.key), None)
                if op.value is not None:
                    contents[op.namespace, op.key] = op.value
    everything = ours.search((), limit=1000)
    assert {(item.namespace, item.key): item.value for item in everything} == contents
    assert len(memory) == len(contents)
    for prefix in {namespace[:1] for namespace, _ in contents}:
        found = ours.search(prefix, limit=1000)
        assert set(places(found)) == {place for place in contents if place[0][:1] == prefix}


def test_pages_are_parts_of_one_order(store):
    for number in range(12):
        store.put(("a", str(number % 3)), f"k{number}", {"n": number, "text": "same"})
    whole = keys(store.search(("a",), limit=100))
    assert whole == [f"k{number}" for part in range(3) for number in range(part, 12, 3)]
    for query in (None, "same"):
        pages = [store.search(("a",), query=query, limit=5, offset=at) for at in (0, 5, 10, 15)]
        assert [len(page) for page in pages] == [5, 5, 2, 0]
        assert keys(item for page in pages for item in page) == whole
        even = store.search(("a",), query=query, filter={"n": {"$gte": 6}}, limit=4, offset=1)
        assert keys(even) == ["k9", "k7", "k10", "k8"]


def test_a_query_recalls_across_languages(store):
    text_en = "The file is written when the save button is hit"
    store.put(
        ("u-1", "notes"), "save", {"text": "按下保存按钮以后文件会写到磁盘", "text_en": text_en}
    )
    store.put(("u-1", "notes"), "invoice", {"text": "The invoice is sent on Fridays"})
    store.put(("u-2", "notes"), "save", {"text": "the save button"})
    query = "file is written when the save button"
    for prefix in (("u-1",), ("u-1", "notes")):
        (found,) = store.search(prefix, query=query)
        assert (found.key, found.value["text_en"]) == ("save", text_en)
        assert 0.8 < found.score <= 1
    assert store.search(("u-1", "note"), query=query) == []
    assert store.search(("u",), query=query) == []
    (found,) = store.search(("u-1",), query="按下保存按钮")
    assert found.key == "save"


def test_hits_of_several_namespaces_are_ordered_as_the_memory_orders_them(store, memory):
    texts = ["save", "save a file now", "save the fily", "save the file", "the file"]
    # It has all of the query, and so comes before what is more like it.
    texts.append("please save the file before you go home tonight or tomorrow morning")
    for number, text in enumerate(texts):
        store.put(("a", str(number)), str(number), {"text": text})
    expected = memory.sync.recall("save the file", limit=10).hits
    found = store.search(("a",), query="save the file")
    assert [(item.value["text"], item.score) for item in found] == [
        (hit.record.text, hit.score) for hit in expected
    ]
    assert [item.value["text"] for item in found][:3] == [texts[3], texts[5], texts[2]]


def test_namespaces_are_listed_by_their_ends(store):
    for namespace in (("a", "x", "v1"), ("a", "y", "v1"), ("a", "y", "v2"), ("v1", "b")):
        store.put(namespace, "k", {"n": 1})
    assert store.list_namespaces(suffix=("v1",)) == [("a", "x", "v1"), ("a", "y", "v1")]
    assert store.list_namespaces(prefix=("a", "*", "v1")) == [("a", "x", "v1"), ("a", "y", "v1")]
    assert store.list_namespaces(prefix=("a",), suffix=("y", "*")) == [
        ("a", "y", "v1"),
        ("a", "y", "v2"),
    ]
    assert store.list_namespaces(max_depth=2, limit=2, offset=1) == [("a", "y"), ("v1", "b")]
    with pytest.raises(InvalidValueError, match="match_type"):
        store.batch([ListNamespacesOp((MatchCondition("infix", ("a",)),))])


def test_what_is_not_indexed_is_found_without_a_query_only(store):
    store.put(("a",), "out", {"text": "save the file"}, index=False)
    store.put(("a",), "title", {"text": "save the file", "title": "other"}, index=["title"])
    store.put(("a",), "nothing", {"text": "save the file"}, index=["title"])
    store.put(("a",), "in", {"text": "save the file"})
    assert keys(store.search(("a",), query="save the file")) == ["in"]
    assert keys(store.search(("a",), query="save the file", limit=1)) == ["in"]
    assert keys(store.search(("a",), query="other")) == ["title"]
    assert keys(store.search(("a",))) == ["out", "title", "nothing", "in"]


def test_fields_say_where_the_text_is(memory):
    store = DualMemoryStore(memory, fields=["content.content"])
    store.put(("a",), "k", {"kind": "Memory", "content": {"content": "The user likes tea"}})
    assert keys(store.search(("a",), query="The user likes tea")) == ["k"]
    (record,) = memory.sync
    assert record.text == "The user likes tea"


def test_records_of_others_are_items_too(store, memory):
    memory.sync.add(
        MemoryRecord(
            "保存文件", id="m-1", text_en="Save the file", namespace="docs.zh", category="ui"
        )
    )
    memory.sync.add(MemoryRecord("no namespace", id="m-2"))
    for id in ("[", "[]", "[1]", '["docs", 1]', '["other", "k"]', "[" * 100_000):
        memory.sync.add(MemoryRecord("strange", id=id, namespace="docs"))
        assert store.get(("docs",), id).key == id
        store.delete(("docs",), id)
    item = store.get(("docs", "zh"), "m-1")
    assert item.value == {
        "text": "保存文件",
        "text_en": "Save the file",
        "lang": "zh",
        "translation_source": "llm",
        "translation_status": "draft",
        "category": "ui",
    }
    assert store.get(("docs",), "m-1") is None
    assert store.list_namespaces() == [("docs", "zh")]
    assert places(store.search(("docs",), query="save the file")) == [(("docs", "zh"), "m-1")]
    assert places(store.search(())) == [(("docs", "zh"), "m-1"), ((), "m-2")]
    store.put(("docs", "zh"), "m-1", {"text": "保存"})
    assert len(memory) == 2
    assert memory.sync.get("m-1").text_en is None
    assert memory.sync.get("m-1").lang == "zh"
    store.put(("docs", "zh"), "m-1", {"text": "Save"})
    assert memory.sync.get("m-1").lang == "en"
    store.delete(("docs", "zh"), "m-1")
    store.delete(("docs", "zh"), "m-1")
    assert len(memory) == 1


def test_what_others_change_in_a_record_is_in_its_value(store, memory):
    store.put(("a",), "k", {"text": "保存文件", "n": 1})
    (record,) = memory.sync
    memory.sync.update(
        record.id,
        text="保存文件夹",
        text_en="Save the folder",
        translation_source="human",
        translation_status="verified",
    )
    expected = {"text": "保存文件夹", "text_en": "Save the folder", "n": 1}
    assert store.get(("a",), "k").value == expected
    memory.sync.update(record.id, metadata=None)
    assert store.get(("a",), "k").value["translation_status"] == "verified"


def test_an_item_whose_record_was_moved_is_where_it_was_moved_to(store, memory):
    store.put(("a",), "k", {"text": "保存文件"})
    (record,) = memory.sync
    memory.sync.update(record.id, namespace="b")
    assert store.get(("a",), "k") is None
    (moved,) = store.search(("b",))
    assert moved.value == {"text": "保存文件"}
    assert store.get(("b",), moved.key) == moved
    # Its record has the id that the item would have.
    with pytest.raises(InvalidValueError, match="another record has the id"):
        store.put(("a",), "k", {"text": "other"})
    store.delete(("b",), moved.key)
    store.put(("a",), "k", {"text": "other"})
    assert keys(store.search(())) == ["k"]


def test_a_value_that_is_put_again_keeps_what_was_said_of_its_companion(store, memory):
    value = {"text": "保存文件", "text_en": "Save the file"}
    store.put(("a",), "k", value)
    (record,) = memory.sync
    memory.sync.update(record.id, translation_source="human", translation_status="verified")
    store.put(("a",), "k", {**value, "n": 1})
    assert memory.sync.get(record.id).translation_status == "verified"
    store.put(("a",), "k", {**value, "text_en": "Store the file"})
    assert memory.sync.get(record.id).translation_status == "draft"


def test_a_batch_reads_before_it_writes_and_the_last_write_counts(store):
    store.put(("a",), "k", {"n": 0})
    get = GetOp(("a",), "k")
    first, _, second, _ = store.batch(
        [get, PutOp(("a",), "k", {"n": 1}), get, PutOp(("a",), "k", {"n": 2})]
    )
    assert first.value == second.value == {"n": 0}
    assert store.get(("a",), "k").value == {"n": 2}


def test_does_the_same_for_event_loops(store):
    async def work():
        await store.aput(("a", "b"), "k", {"text": "save the file"})
        assert (await store.aget(("a", "b"), "k")).value == {"text": "save the file"}
        assert keys(await store.asearch(("a",), query="save the file")) == ["k"]
        assert keys(await store.asearch(("a",))) == ["k"]
        assert await store.alist_namespaces(prefix=("a",)) == [("a", "b")]
        # What is synchronous works within an event loop, too.
        assert store.get(("a", "b"), "k").value == {"text": "save the file"}
        await store.adelete(("a", "b"), "k")
        assert await store.aget(("a", "b"), "k") is None
        assert await store.alist_namespaces() == []

    asyncio.run(work())


def test_tasks_that_put_the_same_key_lose_nothing(store, memory):
    async def work():
        puts = (store.aput(("a",), f"k{n % 5}", {"n": n}) for n in range(100))
        await asyncio.gather(*puts)

    asyncio.run(work())
    assert sorted(keys(store.search(("a",)))) == [f"k{n}" for n in range(5)]
    assert len(memory) == 5


def test_refuses_what_it_cannot_do(store, memory):
    with pytest.raises(NotImplementedError):
        store.put(("a",), "k", {"n": 1}, ttl=5)
    with pytest.raises(NotImplementedError, match="do not expire"):
        store.batch([PutOp(("a",), "j", {"n": 1}), PutOp(("a",), "k", {"n": 1}, ttl=5)])
    for namespace in ((), ("a.b",), ("",), ("langgraph",)):
        with pytest.raises(InvalidNamespaceError):
            store.put(namespace, "k", {"n": 1})
    with pytest.raises(InvalidNamespaceError):
        store.batch([PutOp(("a.b",), "k", {"n": 1})])
    with pytest.raises(InvalidTypeError, match="metadata"):
        store.put(("a",), "k", {"n": object()})
    store.put(("b",), "k", {"n": 1})
    with pytest.raises(InvalidValueError, match="'\\$in' is not a known operator"):
        store.search(("b",), filter={"n": {"$in": [1]}})
    with pytest.raises(InvalidValueError, match="limit"):
        store.search(("b",), limit=-1)
    assert len(memory) == 1
    with pytest.raises(InvalidTypeError, match="DualLanguageStore; dict has no method recall"):
        DualMemoryStore({})
    with pytest.raises(InvalidTypeError, match="fields"):
        DualMemoryStore(memory, fields="text")


def test_a_number_is_neither_more_nor_less_than_what_is_no_number(store):
    store.put(("a",), "k", {"n": "text"})
    for name in ("$gt", "$gte", "$lt", "$lte"):
        assert store.search(("a",), filter={"n": {name: 1}}) == []
        assert store.search(("a",), filter={"missing": {name: 1}}) == []
    assert keys(store.search(("a",), filter={"n": {"$ne": 1}, "missing": None})) == ["k"]


def test_a_memory_without_a_twin_is_for_event_loops_only(memory):
    class Elsewhere:
        """A memory behind a service, say."""

        def __getattr__(self, name):
            if name == "sync":
                raise AttributeError(name)
            return getattr(memory, name)

    store = DualMemoryStore(Elsewhere())
    with pytest.raises(InvalidTypeError, match="has no synchronous twin"):
        store.put(("a",), "k", {"text": "save the file"})

    async def work():
        await store.aput(("a",), "k", {"text": "save the file"})
        return keys(await store.asearch(("a",), query="save the file"))

    assert asyncio.run(work()) == ["k"]


def test_keeps_its_items_in_a_database(tmp_path):
    path = tmp_path / "memory.db"
    value = {"text": "按下保存按钮", "text_en": "press the save button", "n": 1}

    async def remember():
        async with await SqliteDualLanguageMemory.open(path) as memory:
            store = DualMemoryStore(memory)
            await store.aput(("u-1", "notes"), "save", {"text": "draft"})
            await asyncio.gather(
                store.aput(("u-1", "notes"), "save", value),
                *(store.aput(("u-2", str(n)), "k", {"n": n}) for n in range(20)),
            )
            store.put(("u-1", "other"), "gone", {"n": 0})
            await store.adelete(("u-1", "other"), "gone")

    async def recall():
        async with await SqliteDualLanguageMemory.open(path, read_only=True) as memory:
            store = DualMemoryStore(memory)
            (found,) = await store.asearch(("u-1",), query="press the save button")
            assert found.value == value
            assert store.get(("u-1", "notes"), "save") == await store.aget(("u-1", "notes"), "save")
            assert store.list_namespaces(max_depth=1) == [("u-1",), ("u-2",)]
            assert store.list_namespaces(prefix=("u-1",)) == [("u-1", "notes")]
            assert len(await store.asearch(("u-2",), filter={"n": {"$lt": 5}}, limit=50)) == 5

    asyncio.run(remember())
    asyncio.run(recall())


def test_an_agent_remembers_across_threads(store):
    """LangGraph hands the store to the nodes of a graph."""
    from langgraph.graph import END, START, MessagesState, StateGraph
    from langgraph.runtime import Runtime

    def remember(state: MessagesState, runtime: Runtime) -> dict:
        text = state["messages"][-1].content
        before = runtime.store.search(("u-1",), query=text)
        runtime.store.put(("u-1", "said"), str(len(before)), {"text": text})
        return {"messages": [("ai", ", ".join(item.value["text"] for item in before))]}

    graph = StateGraph(MessagesState)
    graph.add_node("remember", remember)
    graph.add_edge(START, "remember")
    graph.add_edge("remember", END)
    agent = graph.compile(store=store)
    assert agent.invoke({"messages": [("user", "tea is fine")]})["messages"][-1].content == ""
    again = agent.invoke({"messages": [("user", "is tea fine?")]})
    assert again["messages"][-1].content == "tea is fine"
