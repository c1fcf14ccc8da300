"""What it takes to find a text that the memory has: one hit, of score 1."""

from __future__ import annotations

from typing import Any

import diglot
from benches import data
from benches.clock import ask, percentiles, searcher, time_searches
from benches.scale import Scale
from benches.truth import truth

__all__ = ["measure"]


def measure(scale: Scale) -> dict[str, Any]:
    entries = data.entries_file(scale)
    queries = data.queries(scale)
    expected = truth(entries, queries, max_hits=1)
    known = [at for at, hits in enumerate(expected) if hits and hits[0][1] == 1.0]
    queries, expected = [queries[at] for at in known], [expected[at] for at in known]
    if not queries:
        raise SystemExit(f"None of the queries is in {data.corpus_file(scale)}.")
    memory = diglot.TranslationMemory.from_jsonl(data.corpus_file(scale))
    search = searcher(memory, max_hits=1)
    ask(search, queries, expected)
    return percentiles(
        seconds for _ in range(scale.passes) for seconds in time_searches(search, queries)
    )
