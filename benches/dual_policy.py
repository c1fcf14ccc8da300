"""Chooses the thresholds of `RecallPolicy`, from the root of the repository.

The labelled queries are cut in two halves at random, with a fixed seed and so that both have as
many of each kind. On the first half, for each `min_score` and `coverage_weight`:

- `fallback_below` is the highest value at which same-language queries use half of the fallbacks
  that they may have (2.5 % of them): the more fallbacks, the more is recovered;
- `confidence` is the highest value at which half as many same-language queries as may be have low
  confidence (1.5 %): the higher, the more of what is not in the memory is flagged.

Of these, the one with the best hit@1 (to a hundredth) on cross-language queries is chosen; among
equals the highest `min_score`, which is the fastest, and the `coverage_weight` nearest to one half.
It is reported on both halves, and so are the defaults.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from random import Random
from statistics import mean

from benches.data import ROOT
from benches.terminal import say
from diglot.dual import RecallPolicy, RecallResult, SyncDualLanguageMemory
from diglot.dual.policy import Fusion
from diglot.kpi import LabelledQuery, read_labelled

_FOLDER = ROOT.parent / "shared" / "dual"
_SEED = 20_261_130

# Above 0.4, what is a small part of a long text would be left to the look further.
_MIN_SCORES = (0.3, 0.35, 0.4)
_COVERAGE_WEIGHTS = (0.4, 0.5, 0.6, 0.7)
_THRESHOLDS = [threshold / 100 for threshold in range(60, 100)]
_CHOSEN = ("min_score", "coverage_weight", "fallback_below", "confidence")

_FALLBACKS = 0.025
_FLAGS = 0.015

# The figures wanted: the least, or (negative) the most, of each.
_WANTED = {
    "hit@1 same": 0.97,
    "hit@5 same": 0.99,
    "hit@1 cross": 0.93,
    "hit@5 cross": 0.98,
    "recovery": 0.9,
    "fallback same": -0.05,
    "low unreachable": 0.95,
    "low same": -0.03,
}

Row = tuple[LabelledQuery, RecallResult, "int | None", bool]
"""A query, its result, the place of its answer, and whether the primary pass alone found one."""


def main() -> int:
    if not _FOLDER.is_dir():
        sys.stderr.write(f"the data is not there: {_FOLDER}\n")
        return 1
    memory = SyncDualLanguageMemory.from_jsonl(_FOLDER / "records.jsonl")
    first, second = _halves(read_labelled(_FOLDER / "eval.jsonl"))
    say(f"{len(memory):,} records; {len(first)} queries to choose on, {len(second)} to check on")

    tried = []
    for min_score, weight in product(_MIN_SCORES, _COVERAGE_WEIGHTS):
        policy = _with_thresholds(
            memory, RecallPolicy(min_score=min_score, coverage_weight=weight), first
        )
        hits = _figures(_ask(memory, policy, first), policy.confidence)["hit@1 cross"]
        tried.append((round(hits, 2), min_score, -abs(weight - 0.5), policy))
        say(f"  {_shown(policy)}: hit@1 cross {hits:.3f}")
    *_, chosen = max(tried, key=lambda item: item[:3])

    for title, policy in (("chosen", chosen), ("defaults", RecallPolicy())):
        say(f"{title}: {_shown(policy)}")
        for half, queries in (("first", first), ("second", second), ("all", first + second)):
            figures = _figures(_ask(memory, policy, queries), policy.confidence)
            shown = ", ".join(f"{name} {value:.3f}" for name, value in figures.items())
            say(f"  {half:6}  {shown}")
            for name, wanted in _WANTED.items():
                if figures[name] < wanted if wanted > 0 else figures[name] > -wanted:
                    say(f"          {name} misses {abs(wanted)}")
    fusions: tuple[Fusion, ...] = ("weighted", "rrf")
    for fusion in fusions:
        policy = RecallPolicy(fusion=fusion)
        figures = _figures(_ask(memory, policy, first + second), policy.confidence)
        hits = f"hit@1 {figures['hit@1 cross']:.3f}, hit@5 {figures['hit@5 cross']:.3f}"
        say(f"fusion {fusion}, cross-language and both: {hits}")
    return 0


def _halves(
    queries: list[LabelledQuery],
) -> tuple[list[LabelledQuery], list[LabelledQuery]]:
    random = Random(_SEED)
    halves: tuple[list[LabelledQuery], list[LabelledQuery]] = ([], [])
    for kind in sorted({query.kind for query in queries}):
        part = [query for query in queries if query.kind == kind]
        random.shuffle(part)
        halves[0].extend(part[::2])
        halves[1].extend(part[1::2])
    return halves


def _ask(
    memory: SyncDualLanguageMemory, policy: RecallPolicy, queries: list[LabelledQuery]
) -> list[Row]:
    rows = []
    for query in queries:
        result = memory.recall(query.query, query.query_en, policy=policy)
        alone = memory.recall(
            query.query, query.query_en, policy=replace(policy, fallback=False, broaden=False)
        )
        rows.append((query, result, _rank(query, result), _rank(query, alone) is not None))
    return rows


def _rank(query: LabelledQuery, result: RecallResult) -> int | None:
    ranks = (rank for rank, hit in enumerate(result.hits, 1) if hit.record.id in query.relevant)
    return next(ranks, None)


def _figures(rows: list[Row], confidence: float) -> dict[str, float]:
    same = [row for row in rows if row[0].kind == "same-language"]
    cross = [row for row in rows if row[0].kind in ("cross-language", "both")]
    failed = [row for row in rows if row[0].kind != "unreachable" and not row[3]]
    unreachable = [row for row in rows if row[0].kind == "unreachable"]

    def hits(part: list[Row], k: int) -> float:
        return mean(rank is not None and rank <= k for _, _, rank, _ in part)

    def low(part: list[Row]) -> float:
        return mean(result.confidence < confidence for _, result, _, _ in part)

    return {
        "hit@1 same": hits(same, 1),
        "hit@5 same": hits(same, 5),
        "hit@1 cross": hits(cross, 1),
        "hit@5 cross": hits(cross, 5),
        "recovery": hits(failed, 5),
        "fallback same": mean(result.fallback_used for _, result, _, _ in same),
        "low unreachable": low(unreachable),
        "low same": low(same),
    }


def _with_thresholds(
    memory: SyncDualLanguageMemory, policy: RecallPolicy, queries: list[LabelledQuery]
) -> RecallPolicy:
    """The policy with the thresholds that the queries in the language of their answer allow."""
    same = [query for query in queries if query.kind == "same-language"]
    alone = replace(policy, fallback=False, broaden=False)
    results = [memory.recall(query.query, query.query_en, policy=alone) for query in same]

    def highest(allowed: float, counted: Sequence[RecallResult]) -> float:
        return max(
            threshold
            for threshold in _THRESHOLDS
            if sum(result.confidence < threshold for result in counted) <= allowed * len(results)
        )

    english = [result for result in results if result.query_en or result.lang in ("en", "mixed")]
    return replace(
        policy,
        fallback_below=highest(_FALLBACKS, english),
        confidence=highest(_FLAGS, results),
    )


def _shown(policy: RecallPolicy) -> str:
    return ", ".join(f"{name}={getattr(policy, name)}" for name in _CHOSEN)


sys.exit(main())
