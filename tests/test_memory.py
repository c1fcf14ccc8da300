"""What the in-memory stores do beyond what all stores do, synchronously and asynchronously."""

import asyncio
import inspect
import itertools

import numpy
import pytest

from diglot import (
    AbortedError,
    InMemoryTranslationMemoryStore,
    InvalidTypeError,
    InvalidValueError,
    TranslationMemory,
    TranslationMemoryEntry,
    UnknownEntryError,
)


class Awaited:
    """The asynchronous store with every method run to its end, so that one test tests both."""

    def __init__(self, entries=()):
        self.store = InMemoryTranslationMemoryStore(entries)

    def __getattr__(self, name):
        method = getattr(self.store, name)

        def call(*arguments, **keywords):
            async def run():
                result = method(*arguments, **keywords)
                if inspect.isasyncgen(result):
                    return [item async for item in result]
                return await result if inspect.isawaitable(result) else result

            return asyncio.run(run())

        return call

    def __len__(self):
        return len(self.store)

    def __iter__(self):
        return iter(self.__getattr__("__aiter__")())


@pytest.fixture(params=[TranslationMemory, Awaited], ids=["sync", "async"])
def make(request):
    return request.param


def entry(source, target="t", **fields):
    return TranslationMemoryEntry(source, target, **fields)


def numbered(count, start=0):
    return [entry(f"source number {number}", str(number)) for number in range(start, start + count)]


def test_both_have_the_same_methods():
    def methods(kind):
        return {name for name in vars(kind) if not name.startswith("_")} - {"memory"}

    assert methods(TranslationMemory) == methods(InMemoryTranslationMemoryStore)
    for name in methods(TranslationMemory):
        sync = inspect.signature(getattr(TranslationMemory, name))
        other = inspect.signature(getattr(InMemoryTranslationMemoryStore, name))
        assert list(sync.parameters.values()) == list(other.parameters.values()), name


def test_ids_count_from_zero_and_are_never_given_twice(make):
    memory = make()
    assert memory.add(entry("a")) == 0
    assert memory.add_many([entry("b"), entry("c")]) == range(1, 3)
    assert memory.add_many([]) == range(3, 3)
    memory.remove(2)
    assert memory.add(entry("d")) == 3
    with pytest.raises(InvalidTypeError):
        memory.add_many([entry("e"), None])
    assert memory.add(entry("f")) == 4


def test_gets_an_entry_by_id(make):
    entries = numbered(700)
    memory = make(entries)
    extra = entry("one by one")
    id = memory.add(extra)
    assert memory.get(0) == entries[0]
    assert memory.get(699) == entries[699]
    assert memory.get(id) == extra
    for unknown in (701, -1, 2**63, 2**64, -(2**80)):
        with pytest.raises(UnknownEntryError, match=f"no entry has the id {unknown}"):
            memory.get(unknown)
    for wrong in (None, "0", 1.0, True):
        with pytest.raises(InvalidTypeError, match="id must be an int"):
            memory.get(wrong)


def test_removes_an_entry(make):
    memory = make(numbered(5))
    memory.remove(2)
    assert len(memory) == 4
    assert [hit.id for hit in memory.search("source number 2", max_hits=9)] == [0, 1, 3, 4]
    for call in (memory.get, memory.remove):
        with pytest.raises(UnknownEntryError):
            call(2)
    with pytest.raises(InvalidTypeError, match="id must be an int, not str"):
        memory.remove("1")


@pytest.mark.parametrize("count", [10, 3000])
def test_removes_many_entries_or_none(make, count):
    memory = make(numbered(count))
    for ids in ([1, 2, count], [1, 1], [3, -1], [2**70]):
        with pytest.raises(UnknownEntryError):
            memory.remove_many([*range(4, count), *ids])
    with pytest.raises(InvalidTypeError, match=r"ids\[1\]: id must be an int, not str") as caught:
        memory.remove_many([1, "2"])
    assert caught.value.position == 1
    assert len(memory) == count
    memory.remove_many(numpy.arange(2, count))
    assert [item.target for item in memory] == ["0", "1"]
    memory.remove_many([])
    memory.remove_many(iter([1, 0]))
    assert len(memory) == 0
    assert memory.search("source number 1", min_score=0) == []
    with pytest.raises(InvalidTypeError, match="ids must be an iterable"):
        memory.remove_many(5)


@pytest.mark.parametrize("text", ["other", "other " * 2000])
def test_replaces_an_entry_in_its_place(make, text):
    memory = make([entry("same", str(number)) for number in range(4)])
    memory.replace(1, entry(text, "new"))
    assert [item.target for item in memory] == ["0", "new", "2", "3"]
    assert [hit.id for hit in memory.search("same")] == [0, 2, 3]
    assert [hit.id for hit in memory.search(text)] == [1]
    memory.replace(1, entry("same", "newer"))
    assert [hit.entry.target for hit in memory.search("same")] == ["0", "newer", "2", "3"]
    with pytest.raises(UnknownEntryError):
        memory.replace(4, entry(text))
    with pytest.raises(InvalidTypeError):
        memory.replace(0, "text")
    with pytest.raises(InvalidTypeError):
        memory.replace("0", entry(text))
    assert len(memory) == 4


def test_adds_a_long_entry(make):
    memory = make()
    long = entry("word " * 5000, "译" * 30000)
    assert memory.add(long) == 0
    assert memory.search("word " * 5000)[0].entry == long
    with pytest.raises(InvalidValueError, match="source is empty"):
        memory.add(long_but_empty())


def long_but_empty():
    """What nobody makes by accident: an entry whose source was emptied behind its back."""
    made = entry("a", "b" * 10000)
    object.__setattr__(made, "source", " ")
    return made


def test_iterates_in_order_of_insertion_over_one_state(make):
    entries = numbered(1500)
    memory = make(entries[:1000])
    for item in entries[1000:]:
        memory.add(item)
    memory.remove_many([3, 1200])
    memory.replace(5, entry("replaced", "5"))
    expected = [number for number in range(1500) if number not in (3, 1200)]
    assert [int(item.target) for item in memory] == expected
    assert [id for id, _ in memory.items()] == expected
    assert [item.target for _, item in memory.items()] == [str(number) for number in expected]


def test_an_iteration_does_not_see_later_changes():
    memory = TranslationMemory(numbered(3000))
    seen = []
    for id, item in memory.items():
        seen.append(item.target)
        if id % 100 == 0:
            memory.add(entry("later"))
            memory.remove(3000 - id - 1)
            memory.replace(id + 1, entry("later"))
    assert seen == [str(number) for number in range(3000)]

    iterator = iter(memory)
    count = len(memory)
    memory.remove_many([id for id, _ in memory.items()])
    assert len(list(iterator)) == count


def test_an_asynchronous_iteration_does_not_see_later_changes():
    async def run():
        store = InMemoryTranslationMemoryStore()
        await store.add_many(numbered(3000))
        seen = []
        async for item in store:
            seen.append(item.target)
            if len(seen) % 100 == 0:
                await store.add(entry("later"))
                await store.remove(2999 - len(seen) // 100)
        assert seen == [str(number) for number in range(3000)]

    asyncio.run(run())


def test_searches_many_queries(make):
    memory = make(numbered(100))
    queries = [f"source number {number}" for number in range(0, 100, 7)]
    options = {"max_hits": 3, "min_score": 0.5}
    expected = [memory.search(query, **options) for query in queries]
    for threads in (None, 1, 2, 5):
        assert memory.search_many(queries, threads=threads, **options) == expected
    assert memory.search_many(iter(queries), **options) == expected
    assert memory.search_many([]) == []
    found = memory.search_many(queries, domain="none")
    assert found == [[]] * len(queries)


def test_searches_many_queries_into_arrays(make):
    memory = make(numbered(100))
    queries = ["source number 7", "nothing like it, at all: ☃", "number 99"]
    for max_hits in (1, 3, 150):
        hits = memory.search_many(queries, max_hits=max_hits)
        ids, scores = memory.search_arrays(queries, max_hits=max_hits, threads=2)
        assert ids.shape == scores.shape == (3, max_hits)
        assert ids.dtype == numpy.int64
        assert scores.dtype == numpy.float64
        for row, of_query in enumerate(hits):
            count = len(of_query)
            assert ids[row, :count].tolist() == [hit.id for hit in of_query]
            assert scores[row, :count].tolist() == [hit.score for hit in of_query]
            assert set(ids[row, count:].tolist()) <= {-1}
            assert set(scores[row, count:].tolist()) <= {0.0}
    ids, scores = memory.search_arrays([])
    assert ids.shape == scores.shape == (0, 5)
    # The arrays are the caller's.
    ids, scores = memory.search_arrays(queries)
    ids += 1
    scores *= 2


def test_arrays_are_made_in_pieces(make):
    memory = make(numbered(40))
    queries = ["source number 1", "number 2", "☃"] * 700
    ids, scores = memory.search_arrays(queries, max_hits=30)
    once_ids, once_scores = memory.search_arrays(queries[:3], max_hits=30)
    assert (ids == numpy.tile(once_ids, (700, 1))).all()
    assert (scores == numpy.tile(once_scores, (700, 1))).all()


@pytest.mark.parametrize("name", ["search_many", "search_arrays"])
def test_an_error_names_the_query_at_fault(make, name):
    search = getattr(make(numbered(3)), name)
    for bad, kind, code in (
        (" ", InvalidValueError, "empty_text"),
        ("\ud800", InvalidValueError, "lone_surrogate"),
        (5, InvalidTypeError, "invalid_type"),
    ):
        with pytest.raises(kind, match=r"queries\[2\]: query") as caught:
            search(["a", "b", bad, "c"])
        assert (caught.value.code, caught.value.position) == (code, 2)
    with pytest.raises(InvalidTypeError, match="queries must be an iterable"):
        search(5)
    for threads, kind in ((0, InvalidValueError), (-1, InvalidValueError), ("2", InvalidTypeError)):
        with pytest.raises(kind, match="threads"):
            search(["a"], threads=threads)
    with pytest.raises(InvalidValueError, match="max_hits is 0; it must be at least 1"):
        search(["a"], max_hits=0)


def test_thousands_of_hits(make):
    memory = make(entry("same", str(number)) for number in range(5000))
    hits = memory.search("same", max_hits=4000)
    assert [int(hit.entry.target) for hit in hits] == list(range(4000))
    [hits] = memory.search_many(["same"], max_hits=10**30)
    assert [hit.id for hit in hits] == list(range(5000))


def test_options_take_numpy_numbers(make):
    memory = make(numbered(9))
    hits = memory.search("source", max_hits=numpy.int32(3), min_score=numpy.float32(0.25))
    assert hits == memory.search("source", max_hits=3, min_score=0.25)
    assert memory.get(numpy.int64(8)) == memory.get(8)


def test_filters_refuse_lone_surrogates(make):
    for name in ("source_language", "target_language", "domain", "namespace"):
        with pytest.raises(InvalidValueError, match=f"{name} has a lone surrogate"):
            make(numbered(1)).search("source", **{name: "\ud800"})


def test_statistics(make):
    memory = make(numbered(2000))
    memory.add(entry("source number 3"))
    memory.remove(0)
    stats = memory.stats()
    assert stats.entries == len(memory) == 2000
    assert stats.rows >= 1999
    assert stats.segments >= 1
    assert stats.live == 1
    assert stats.removed == 1
    assert sum(stats.bytes.values()) > 2000 * len("source number 0")


def test_a_set_signal_stops_every_method(make):
    class Set:
        def is_set(self):
            return True

    memory = make(numbered(3))
    signal = Set()
    for call in (
        lambda: memory.add(entry("a"), signal=signal),
        lambda: memory.add_many([entry("a")], signal=signal),
        lambda: memory.replace(0, entry("a"), signal=signal),
        lambda: memory.remove(0, signal=signal),
        lambda: memory.remove_many([0], signal=signal),
        lambda: memory.search("source", signal=signal),
        lambda: memory.search_many(["source"], signal=signal),
        lambda: memory.search_arrays(["source"], signal=signal),
    ):
        with pytest.raises(AbortedError):
            call()
    assert [item.target for item in memory] == ["0", "1", "2"]


def test_what_a_signal_raises_is_raised(make):
    class Failing:
        def is_set(self):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        make(numbered(3)).search("source", signal=Failing())


def test_an_endless_iterable_can_be_stopped(make):
    class AfterAWhile:
        calls = 0

        def is_set(self):
            self.calls += 1
            return self.calls > 3

    memory = make()
    with pytest.raises(AbortedError):
        memory.add_many((entry("a") for _ in itertools.count()), signal=AfterAWhile())
    with pytest.raises(AbortedError):
        memory.search_many(("a" for _ in itertools.count()), signal=AfterAWhile())
    with pytest.raises(AbortedError):
        memory.remove_many(itertools.count(), signal=AfterAWhile())
    assert len(memory) == 0


def test_shows_how_much_it_holds():
    assert repr(TranslationMemory(numbered(3))) == "<TranslationMemory of 3 entries>"
    store = InMemoryTranslationMemoryStore(numbered(3))
    assert repr(store) == "<InMemoryTranslationMemoryStore of 3 entries>"


def test_both_can_share_one_memory():
    store = InMemoryTranslationMemoryStore(numbered(2))
    store.memory.add(entry("added synchronously"))
    assert len(store) == 3
    hits = asyncio.run(store.search("added synchronously"))
    assert hits[0].id == 2
