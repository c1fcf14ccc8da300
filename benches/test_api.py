"""The Python API over a small memory: `python -m pytest benches --benchmark-enable`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from benches import data
from benches.clock import ask, searcher
from benches.scale import SCALES
from benches.truth import check, truth
from diglot import (
    InMemoryTranslationMemoryStore,
    TranslationMemory,
    TranslationMemoryEntry,
    lookup_memory,
    normalize,
    similarity,
)

SCALE = SCALES["quick"]

Benchmark = Callable[..., Any]


@pytest.fixture(scope="module")
def memory() -> TranslationMemory:
    try:
        return TranslationMemory.from_jsonl(data.corpus_file(SCALE))
    except FileNotFoundError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def queries(memory: TranslationMemory) -> list[data.Query]:
    return data.queries(SCALE)


def entries(count: int) -> list[TranslationMemoryEntry]:
    return [
        TranslationMemoryEntry(
            source=f"Open the file number {at}.", target=f"Öffne die Datei Nummer {at}."
        )
        for at in range(count)
    ]


@pytest.mark.parametrize("filtered", [False, True], ids=["unfiltered", "languages"])
@pytest.mark.parametrize("kind", ["exact", "near", "random"])
def test_search(
    memory: TranslationMemory,
    queries: list[data.Query],
    benchmark: Benchmark,
    kind: str,
    filtered: bool,
) -> None:
    asked = [query for query in queries if query.kind == kind]
    expected = truth(data.entries_file(SCALE), asked, filtered=filtered)
    benchmark(ask, searcher(memory, filtered=filtered), asked, expected)


def test_search_for_one_exact_hit(memory: TranslationMemory, benchmark: Benchmark) -> None:
    source = next(iter(memory)).source
    [hit] = benchmark(memory.search, source, max_hits=1)
    assert hit.score == 1.0
    assert normalize(hit.entry.source) == normalize(source)


def test_search_on_the_event_loop(
    memory: TranslationMemory, queries: list[data.Query], benchmark: Benchmark
) -> None:
    store = InMemoryTranslationMemoryStore()
    store.memory = memory

    async def search() -> list[list[Any]]:
        return [await store.search(query.text) for query in queries]

    results = benchmark(lambda: asyncio.run(search()))
    assert results == [memory.search(query.text) for query in queries]


@pytest.mark.parametrize("threads", [1, 2])
def test_search_many(
    memory: TranslationMemory, queries: list[data.Query], benchmark: Benchmark, threads: int
) -> None:
    results = benchmark(memory.search_many, [query.text for query in queries], threads=threads)
    for query, hits, expected in zip(
        queries, results, truth(data.entries_file(SCALE), queries), strict=True
    ):
        check(query, ((hit.id, hit.score) for hit in hits), expected)


@pytest.mark.parametrize("threads", [1, 2])
def test_search_arrays(
    memory: TranslationMemory, queries: list[data.Query], benchmark: Benchmark, threads: int
) -> None:
    ids, scores = benchmark(
        memory.search_arrays, [query.text for query in queries], threads=threads
    )
    for query, *row, expected in zip(
        queries, ids, scores, truth(data.entries_file(SCALE), queries), strict=True
    ):
        found = row[0] >= 0
        check(query, zip(row[0][found].tolist(), row[1][found].tolist(), strict=True), expected)


def test_add(benchmark: Benchmark) -> None:
    memory = TranslationMemory()
    [entry] = entries(1)
    last = benchmark(memory.add, entry)
    assert len(memory) == last + 1


def test_add_many(benchmark: Benchmark) -> None:
    ready = entries(10_000)
    memory = benchmark(TranslationMemory, ready)
    assert list(memory) == ready


def test_replace(benchmark: Benchmark) -> None:
    first, *_, last = ready = entries(1_000)
    memory = TranslationMemory(ready)
    benchmark(memory.replace, 0, last)
    assert memory.get(0) == last != first


def test_iteration(memory: TranslationMemory, benchmark: Benchmark) -> None:
    assert len(benchmark(list, memory)) == len(memory)


def test_lookup(memory: TranslationMemory, queries: list[data.Query], benchmark: Benchmark) -> None:
    store = InMemoryTranslationMemoryStore()
    store.memory = memory
    source = lookup_memory(store)
    query = queries[0].text
    result = benchmark(lambda: asyncio.run(source.gather({"query": query})))
    assert result.metadata["query"] == query


@pytest.mark.parametrize(
    "function",
    [normalize, lambda text: similarity(text, text[1:])],
    ids=["normalize", "similarity"],
)
def test_text(benchmark: Benchmark, function: Callable[[str], object]) -> None:
    text = "the selected file could not be opened because it is locked by another process."
    assert benchmark(function, text)
