"""What one search over the whole corpus takes: by class of query, with and without filters."""

from __future__ import annotations

from typing import Any

import diglot
from benches import data
from benches.clock import ask, percentiles, searcher, time_searches
from benches.scale import Scale
from benches.truth import truth

__all__ = ["measure"]


def measure(scale: Scale) -> dict[str, Any]:
    queries = data.queries(scale)
    expected = {
        filtered: truth(data.entries_file(scale), queries, filtered=filtered)
        for filtered in (False, True)
    }
    memory = diglot.TranslationMemory.from_jsonl(data.corpus_file(scale))
    searches = {filtered: searcher(memory, filtered=filtered) for filtered in (False, True)}
    for filtered, search in searches.items():
        ask(search, queries, expected[filtered])

    passes: dict[bool, list[list[float]]] = {False: [], True: []}
    for _ in range(scale.passes):
        for filtered, search in searches.items():
            passes[filtered].append(time_searches(search, queries))

    def by_class(filtered: bool) -> dict[str, Any]:
        return {
            name: percentiles(times[at] for times in passes[filtered] for at in positions)
            for name, positions in data.classes(queries).items()
            if positions
        }

    return {
        "entries": len(memory),
        "queries": len(queries),
        "unfiltered": by_class(False),
        "filtered": by_class(True),
    }
