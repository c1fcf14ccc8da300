"""What searches and adds take while one thread searches and another adds 1,000 entries a second."""

from __future__ import annotations

from threading import Thread
from time import perf_counter, sleep
from typing import Any

import diglot
from benches import data
from benches.clock import ask, percentiles, searcher, time_searches
from benches.scale import Scale
from benches.truth import Hits, truth

__all__ = ["measure"]

_A_SECOND = 1000


def measure(scale: Scale) -> dict[str, Any]:
    queries = data.queries(scale)
    expected = truth(data.entries_file(scale), queries)
    memory = diglot.TranslationMemory.from_jsonl(data.corpus_file(scale))
    search = searcher(memory)
    ask(search, queries, expected)
    alone = [seconds for _ in range(scale.passes) for seconds in time_searches(search, queries)]

    sources = data.mutated_sources(scale, scale.added)
    entries = [diglot.TranslationMemoryEntry(source=source, target=source) for source in sources]
    adds: list[float] = []
    began = perf_counter()

    def add_all() -> None:
        for number, entry in enumerate(entries):
            if (early := began + number / _A_SECOND - perf_counter()) > 0:
                sleep(early)
            start = perf_counter()
            memory.add(entry)
            adds.append(perf_counter() - start)

    adder = Thread(target=add_all)
    adder.start()
    beside: list[float] = []
    while adder.is_alive():
        # Few at a time, so that the last of them are not timed alone.
        start = len(beside) % len(queries)
        beside += time_searches(search, queries[start : start + 20])
    adder.join()
    rate = len(entries) / (perf_counter() - began)

    checked = queries[: scale.checked]
    first = len(memory) - len(entries)
    ask(
        search,
        checked,
        [
            _merge(query, hits, sources, first)
            for query, hits in zip(checked, expected, strict=False)
        ],
    )
    return {
        "searches alone": percentiles(alone),
        "searches beside adds": percentiles(beside),
        "adds": percentiles(adds),
        "adds a second": rate,
    }


def _merge(query: data.Query, hits: Hits, added: list[str], first: int) -> Hits:
    """The hits among the corpus and what was added to it, whose ids begin with `first`."""
    text = diglot.normalize(query.text)
    scores = [
        (first + at, diglot.similarity(text, diglot.normalize(source)))
        for at, source in enumerate(added)
    ]
    both = [*hits, *(hit for hit in scores if hit[1] >= 0.2)]
    return sorted(both, key=lambda hit: (-hit[1], hit[0]))[:5]
