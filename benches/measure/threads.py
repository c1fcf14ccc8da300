"""How many searches a second one and two threads answer."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import Any

import diglot
from benches import data
from benches.scale import Scale
from benches.truth import Hits, check, truth

__all__ = ["measure"]


def measure(scale: Scale) -> dict[str, Any]:
    queries = data.queries(scale)
    texts = [query.text for query in queries]
    expected = truth(data.entries_file(scale), queries)
    memory = diglot.TranslationMemory.from_jsonl(data.corpus_file(scale))
    _check_many(memory, queries, expected)

    def callers(threads: int) -> None:
        """Threads of Python that call `search`, a share of the queries each."""
        shares = [texts[start::threads] for start in range(threads)]
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda share: [memory.search(text) for text in share], shares))

    ways: dict[str, Callable[[int], object]] = {
        "search_many": lambda threads: memory.search_many(texts, threads=threads),
        "search_arrays": lambda threads: memory.search_arrays(texts, threads=threads),
        "search, from Python threads": callers,
    }
    seconds = {name: {1: float("inf"), 2: float("inf")} for name in ways}
    for _ in range(max(scale.passes, 2)):
        for name, way in ways.items():
            for threads, best in seconds[name].items():
                start = perf_counter()
                way(threads)
                seconds[name][threads] = min(best, perf_counter() - start)
    return {
        name: {str(threads): len(texts) / best for threads, best in of_way.items()}
        for name, of_way in seconds.items()
    }


def _check_many(
    memory: diglot.TranslationMemory, queries: list[data.Query], expected: list[Hits]
) -> None:
    texts = [query.text for query in queries]
    ids, scores = memory.search_arrays(texts, threads=2)
    results = memory.search_many(texts, threads=2)
    for query, hits, found, row_ids, row_scores in zip(
        queries, expected, results, ids, scores, strict=True
    ):
        check(query, ((hit.id, hit.score) for hit in found), hits)
        check(
            query,
            zip(row_ids[row_ids >= 0].tolist(), row_scores[row_ids >= 0].tolist(), strict=True),
            hits,
        )
