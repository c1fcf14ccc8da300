"""Chooses the thresholds of `RecallPolicy`, from the root of the repository.

The labelled queries are cut in two halves at random, with a fixed seed and so that both have as
many of each kind. Every combination of the values below is tried on the first half; the one that is
furthest from missing any of the figures wanted is chosen, among equals the one nearest to the
middle of them. It is reported on both halves, and so are the defaults.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import fields, replace
from itertools import product
from random import Random
from statistics import mean, median

from benches.data import ROOT
from diglot.dual import RecallPolicy, RecallResult, SyncDualLanguageMemory
from diglot.kpi import LabelledQuery, read_labelled

_FOLDER = ROOT.parent / "shared" / "dual"
_SEED = 20_261_130

_VALUES: dict[str, Sequence[float]] = {
    "min_score": (0.3, 0.4, 0.5),
    "coverage_weight": (0.5, 0.6, 0.7),
    "fallback_below": (0.8, 0.82, 0.84, 0.86, 0.88, 0.9, 0.92),
    "confidence": (0.76, 0.78, 0.8, 0.82, 0.84, 0.86, 0.88, 0.9),
}

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
    print(f"{len(memory):,} records; {len(first)} queries to choose on, {len(second)} to check on")

    # Two passes never depend on `confidence`, which only adds a look further: those combinations
    # that differ in nothing else share their results without it.
    tried = []
    for score, weight, below in product(*(_VALUES[name] for name in list(_VALUES)[:3])):
        policy = RecallPolicy(min_score=score, coverage_weight=weight, fallback_below=below)
        rows = _ask(memory, replace(policy, broaden=False), first)
        for confidence in _VALUES["confidence"]:
            chosen = replace(policy, confidence=confidence)
            figures = _figures(rows, confidence)
            tried.append((round(_margin(figures), 4), chosen))
    best = max(margin for margin, _ in tried)
    equals = [policy for margin, policy in tried if margin == best]
    middle = {name: median(getattr(policy, name) for policy in equals) for name in _VALUES}
    chosen = min(equals, key=lambda policy: _distance(policy, middle))
    print(f"{len(tried)} combinations, {len(equals)} of them with the best margin, {best:+.3f}\n")

    for title, policy in (("chosen", chosen), ("defaults", RecallPolicy())):
        print(title, {name: getattr(policy, name) for name in _VALUES})
        for half, queries in (("first", first), ("second", second), ("all", first + second)):
            figures = _figures(_ask(memory, policy, queries), policy.confidence)
            shown = ", ".join(f"{name} {value:.3f}" for name, value in figures.items())
            print(f"  {half:6}  margin {_margin(figures):+.3f}  {shown}")
    for name in ("weighted", "rrf"):
        figures = _figures(
            _ask(memory, RecallPolicy(fusion=name), first + second), RecallPolicy().confidence
        )
        print(
            f"fusion {name}: hit@1 cross {figures['hit@1 cross']:.3f}, hit@5 {figures['hit@5 cross']:.3f}"
        )
    print("\nall defaults:", {field.name: field.default for field in fields(RecallPolicy)})
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


def _margin(figures: dict[str, float]) -> float:
    """How far the figure that is nearest to being missed is from that; below 0 if it is missed."""
    return min(
        figures[name] - wanted if wanted > 0 else -wanted - figures[name]
        for name, wanted in _WANTED.items()
    )


def _distance(policy: RecallPolicy, middle: dict[str, float]) -> float:
    return sum(
        abs(getattr(policy, name) - middle[name]) / (max(values) - min(values))
        for name, values in _VALUES.items()
    )


sys.exit(main())
