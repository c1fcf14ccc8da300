"""How well a memory answers a labelled set of queries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

from diglot._steps import run
from diglot.dual.jsonl import read_lines
from diglot.dual.memory import SyncDualLanguageMemory, check_filters, check_policy
from diglot.dual.policy import RecallPolicy
from diglot.dual.recall import RecallResult
from diglot.dual.record import check_str, check_text, detect_language
from diglot.errors import InvalidTypeError, InvalidValueError
from diglot.kpi.kpis import group_of, share
from diglot.store import check_integer

__all__ = ["Evaluation", "LabelledQuery", "Outcome", "evaluate", "read_labelled"]

UNREACHABLE = "unreachable"
"""The kind of a query that no look at words can answer; left out of hit rates."""

_DEPTHS = (1, 3, 5)


@dataclass(frozen=True, slots=True)
class LabelledQuery:
    """A query, and which records answer it.

    Attributes:
        query: The query.
        relevant: The ids of the records, at least one.
        query_en: Its English form, if it comes with one.
        kind: What kind of query it is; figures are told by kind. `unreachable` ones are expected to
            find nothing.
        lang: Its language; detected if not given.
    """

    query: str
    relevant: frozenset[str]
    query_en: str | None = None
    kind: str = "query"
    lang: str = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        check_text("query", self.query)
        if self.query_en is not None:
            check_text("query_en", self.query_en)
        check_str("kind", self.kind)
        if isinstance(self.relevant, str) or not isinstance(self.relevant, Iterable):
            raise InvalidTypeError(
                f"relevant must be a list of ids, not {type(self.relevant).__name__}",
                field="relevant",
            )
        relevant = list(self.relevant)
        for id in relevant:
            check_str("relevant", id)
        if not relevant:
            raise InvalidValueError("relevant has no ids; it needs at least one", field="relevant")
        object.__setattr__(self, "relevant", frozenset(relevant))
        if self.lang is None:
            object.__setattr__(self, "lang", detect_language(self.query))
        check_str("lang", self.lang)


def read_labelled(path: str | PathLike[str]) -> list[LabelledQuery]:
    """The queries of a JSON Lines file, plain or compressed with gzip or Zstandard: `query`,
    `relevant` (a list of ids), and perhaps `query_en`, `kind` and `lang`.

    Raises:
        OSError: The file cannot be read.
        FormatError: A line is no labelled query; `line` and `field` say where.
    """
    return list(read_lines(path, _labelled))


def _labelled(values: Mapping[str, Any]) -> LabelledQuery:
    allowed = LabelledQuery.__slots__
    for name in values:
        if name not in allowed:
            raise InvalidValueError(
                f"{name!r} is not a known field; allowed are {', '.join(allowed)}",
                code="unknown_field",
                field=name,
            )
    for name in ("query", "relevant"):
        if name not in values:
            raise InvalidValueError(f"{name} is missing", code="missing_field", field=name)
    return LabelledQuery(**values)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one query went.

    Attributes:
        query: The query.
        result: With the policy that is evaluated.
        alone: With the primary pass alone: the single-language baseline.
        without_fallback: With the policy, but its fallback turned off.
    """

    query: LabelledQuery
    result: RecallResult
    alone: RecallResult
    without_fallback: RecallResult

    @property
    def rank(self) -> int | None:
        """The place of the first relevant record, from 1; None where there is none."""
        return _rank(self.query, self.result)

    @property
    def rank_alone(self) -> int | None:
        """The same in the baseline."""
        return _rank(self.query, self.alone)


def _rank(query: LabelledQuery, result: RecallResult) -> int | None:
    ranks = (rank for rank, hit in enumerate(result.hits, 1) if hit.record.id in query.relevant)
    return next(ranks, None)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The outcomes of a labelled set. `docs/kpi.md` defines the figures."""

    outcomes: Sequence[Outcome]

    def of(self, keep: Callable[[LabelledQuery], bool]) -> Evaluation:
        """The outcomes of some of the queries."""
        return Evaluation([outcome for outcome in self.outcomes if keep(outcome.query)])

    def __len__(self) -> int:
        return len(self.outcomes)

    @property
    def reachable(self) -> Evaluation:
        """Without the queries of kind `unreachable`."""
        return self.of(lambda query: query.kind != UNREACHABLE)

    def hit_rate(self, k: int) -> float | None:
        """The share of queries with a relevant record among the first `k`."""
        hits = sum(outcome.rank is not None and outcome.rank <= k for outcome in self.outcomes)
        return share(hits, len(self))

    @property
    def fallback_rate(self) -> float | None:
        """The share of queries that looked at the English side."""
        return share(sum(one.result.fallback_used for one in self.outcomes), len(self))

    @property
    def low_confidence_rate(self) -> float | None:
        """The share of queries with low confidence."""
        return share(sum(one.result.low_confidence for one in self.outcomes), len(self))

    @property
    def empty_rate(self) -> float | None:
        """The share of queries that found nothing."""
        return share(sum(not one.result.hits for one in self.outcomes), len(self))

    @property
    def recovery_rate(self) -> float | None:
        """Of the queries that the baseline fails (no relevant record), the share that is answered
        where the fallback may be used.
        """
        failed = [one for one in self.outcomes if one.rank_alone is None]
        recovered = sum(one.rank is not None and one.result.fallback_used for one in failed)
        return share(recovered, len(failed))

    @property
    def empty_reduction(self) -> float | None:
        """By how much fewer queries find nothing than in the baseline."""
        before = sum(not one.alone.hits for one in self.outcomes)
        after = sum(not one.result.hits for one in self.outcomes)
        return share(before - after, before)

    def latency(self, at: float, of: Callable[[Outcome], RecallResult]) -> float | None:
        """A percentile, in seconds, of how long recalls took. `at` is a share, such as 0.95."""
        ordered = sorted(of(one).seconds for one in self.outcomes)
        if not ordered:
            return None
        return ordered[min(int(at * len(ordered)), len(ordered) - 1)]

    @property
    def p95_increase(self) -> float | None:
        """By how much the 95th percentile is longer than with the fallback turned off."""
        on = self.latency(0.95, lambda one: one.result)
        off = self.latency(0.95, lambda one: one.without_fallback)
        return None if on is None or off is None else on / off - 1

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain data: of all queries, by kind and by language."""
        return {
            "all": self._figures(),
            "kinds": self._by(lambda query: query.kind),
            "languages": self._by(lambda query: group_of(query.lang)),
        }

    def _by(self, key: Callable[[LabelledQuery], str]) -> dict[str, Any]:
        parts: dict[str, list[Outcome]] = {}
        for one in self.outcomes:
            parts.setdefault(key(one.query), []).append(one)
        return {name: Evaluation(parts[name])._figures() for name in sorted(parts)}

    def _figures(self) -> dict[str, Any]:
        latencies = {
            "": lambda one: one.result,
            "_without_fallback": lambda one: one.without_fallback,
            "_primary_alone": lambda one: one.alone,
        }
        return {
            "queries": len(self),
            **{f"hit_rate_{k}": self.hit_rate(k) for k in _DEPTHS},
            "fallback_rate": self.fallback_rate,
            "low_confidence_rate": self.low_confidence_rate,
            "empty_rate": self.empty_rate,
            "recovery_rate": self.recovery_rate,
            "recovery_rate_reachable": self.reachable.recovery_rate,
            "empty_reduction": self.empty_reduction,
            "p95_increase": self.p95_increase,
            **{
                f"p{at}{name}_ms": None
                if (value := self.latency(at / 100, of)) is None
                else value * 1e3
                for name, of in latencies.items()
                for at in (50, 95)
            },
        }


def evaluate(
    memory: SyncDualLanguageMemory,
    queries: Iterable[LabelledQuery],
    *,
    policy: RecallPolicy | None = None,
    limit: int = 5,
    rounds: int = 1,
    progress: Callable[[int], object] | None = None,
) -> Evaluation:
    """Asks a memory every query: with a policy, with its fallback turned off, and with the primary
    pass alone. The memory's recorder does not count them.

    Args:
        memory: The memory.
        queries: The queries.
        policy: The policy; the memory's own if None.
        limit: How many records each query may find; 5 for all hit rates.
        rounds: How often each query is asked in each way, in turn. Its time is the shortest one, so
            that what else the machine does counts less.
        progress: Called with how many queries were asked.

    Raises:
        InvalidTypeError: An argument has a wrong type.
        InvalidValueError: An argument is out of range.
    """
    policy = check_policy(policy) or memory.policy
    rounds = check_integer("rounds", rounds, least=1)
    ways = (
        policy,
        replace(policy, fallback=False, broaden=False),
        replace(policy, fallback=False),
    )
    everything = check_filters(None, None, None, None)
    outcomes = []
    for number, query in enumerate(queries, start=1):
        best: list[RecallResult | None] = [None, None, None]
        for _ in range(rounds):
            for way, one in enumerate(ways):
                steps = memory._recall(
                    query.query,
                    query.query_en,
                    limit,
                    one,
                    everything,
                    None,
                    on_loop=False,
                    recorded=False,
                )
                result = run(steps)
                before = best[way]
                if before is None or result.seconds < before.seconds:
                    best[way] = result
        outcomes.append(Outcome(query, *best))  # type: ignore[arg-type]
        if progress is not None:
            progress(number)
    return Evaluation(outcomes)
