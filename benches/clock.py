"""Timing of single calls, and what is told of many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import ceil
from time import perf_counter
from typing import Any

import diglot
from benches.data import Query
from benches.truth import Hits, check

__all__ = ["Search", "ask", "percentiles", "searcher", "time_searches"]

Search = Callable[[str, Query], list[diglot.TranslationMemoryHit]]
"""Looks up a text with the languages of a query."""


def percentiles(seconds: Iterable[float]) -> dict[str, float]:
    """The p50, p95, p99 and largest of some times, and how many there were."""
    ordered = sorted(seconds)

    def at(share: float) -> float:
        return ordered[ceil(share * len(ordered)) - 1]

    return {
        "p50": at(0.5),
        "p95": at(0.95),
        "p99": at(0.99),
        "max": ordered[-1],
        "count": len(ordered),
    }


def searcher(memory: diglot.TranslationMemory, *, filtered: bool = False, **options: Any) -> Search:
    """The public search of a memory, with or without a filter on the languages of the query."""
    if not filtered:
        return lambda text, query: memory.search(text, **options)
    return lambda text, query: memory.search(
        text,
        source_language=query.source_language,
        target_language=query.target_language,
        **options,
    )


def ask(search: Search, queries: Sequence[Query], expected: Sequence[Hits]) -> None:
    """Checks the answer to each query; also what warms a memory up before it is timed."""
    for query, hits in zip(queries, expected, strict=True):
        check(query, ((hit.id, hit.score) for hit in search(query.text, query)), hits)


def time_searches(search: Search, queries: Sequence[Query]) -> list[float]:
    """The seconds that each query took."""
    # A string keeps its UTF-8 form after the first use; a server's queries are new each time.
    fresh = [query.text.encode() for query in queries]
    times = []
    for encoded, query in zip(fresh, queries, strict=True):
        text = encoded.decode()
        start = perf_counter()
        search(text, query)
        times.append(perf_counter() - start)
    return times
