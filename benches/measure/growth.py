"""What one search takes as a memory grows, for the recorded queries and for the worst ones."""

from __future__ import annotations

from statistics import median
from typing import Any

import diglot
from benches import data
from benches.clock import ask, percentiles, searcher, time_searches
from benches.scale import Scale
from benches.truth import truth

__all__ = ["measure"]


def measure(scale: Scale) -> dict[str, Any]:
    return {str(rows): _measure(scale, rows) for rows in scale.rows}


def _measure(scale: Scale, rows: int) -> dict[str, Any]:
    file = data.rows_file(scale, rows)
    queries = data.queries(scale)
    worst = [data.Query(text, "en", "de", "worst") for text in data.WORST]
    checked = [*queries[: scale.checked], *worst]
    expected = truth(file, checked)
    memory = diglot.TranslationMemory.from_jsonl(file)
    search = searcher(memory)
    ask(search, checked, expected)
    times = [seconds for _ in range(scale.passes) for seconds in time_searches(search, queries)]
    of_worst = [time_searches(search, worst) for _ in range(2 * scale.passes + 1)]
    medians = dict(zip(data.WORST, map(median, zip(*of_worst, strict=True)), strict=True))
    slowest = max(medians, key=medians.__getitem__)
    return {"search": percentiles(times), "worst": {"query": slowest, "median": medians[slowest]}}
