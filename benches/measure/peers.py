"""What a user would pick instead: its times, and how much of the true top five it finds."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from statistics import mean, median
from typing import Any

import diglot
from benches import data
from benches.clock import ask, percentiles, searcher, time_searches
from benches.peers import PEERS, Answers
from benches.scale import Scale
from benches.truth import Hits, truth

__all__ = ["measure"]

# Of a slow peer too.
_FEWEST = 20


def measure(scale: Scale) -> dict[str, Any]:
    queries = data.queries(scale)
    own_times = _own_times(scale, queries)
    results: dict[str, Any] = {
        "diglot": {"search": percentiles(own_times), "share": 1.0, "scaled by": 1.0}
    }
    all_rows = data.rows_file(scale)
    for name in PEERS:
        # It looks at every row, so the times for a few of them can be stretched to all.
        file = data.rows_file(scale, scale.oracle_entries) if name == "plain_python" else all_rows
        factor = _count(all_rows) / _count(file)
        answers: Answers = import_module(f"benches.peers.{name}").answers
        times, share = _measure(answers, file, queries, scale.peer_seconds)
        times = [seconds * factor for seconds in times]
        results[name] = {
            "search": percentiles(times),
            "share": share,
            "scaled by": factor,
            "times diglot": median(times) / median(own_times[: len(times)]),
        }
    return results


def _count(file: Path) -> int:
    with file.open("rb") as lines:
        return sum(1 for _ in lines)


def _own_times(scale: Scale, queries: list[data.Query]) -> list[float]:
    """The times of this package over the whole corpus. All its answers are checked."""
    expected = truth(data.entries_file(scale), queries)
    search = searcher(diglot.TranslationMemory.from_jsonl(data.corpus_file(scale)))
    ask(search, queries, expected)
    return time_searches(search, queries)


def _measure(
    answers: Answers, file: Path, queries: list[data.Query], seconds: float
) -> tuple[list[float], float]:
    """The times of a peer, query after query until its time is up, and its share of the truth."""
    normalized = data.row_texts(file)
    expected = truth(file, queries)
    times: list[float] = []
    shares: list[float] = []
    answered = answers(file, [query.text for query in queries])
    for query, hits, (took, found) in zip(queries, expected, answered, strict=False):
        times.append(took)
        if hits:
            shares.append(_share(query, found, hits, normalized))
        if sum(times) > seconds and len(times) >= _FEWEST:
            break
    return times, mean(shares)


def _share(query: data.Query, found: list[int], hits: Hits, normalized: list[str]) -> float:
    """How much of the best hits was found. Rows of equal scores are as good as each other."""
    text = diglot.normalize(query.text)
    worst = hits[-1][1]
    good = [row for row in set(found) if diglot.similarity(text, normalized[row]) >= worst]
    return len(good) / len(hits)
