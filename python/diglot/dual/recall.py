"""What a recall finds, and how the matches of its passes become one list."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Literal, NamedTuple, TypeVar

from diglot.dual.policy import RecallPolicy
from diglot.dual.record import MemoryRecord

__all__ = [
    "FallbackReason",
    "MatchKind",
    "MemoryHit",
    "RecallHit",
    "RecallMatch",
    "RecallPass",
    "RecallResult",
    "fuse",
]

PassName = Literal["primary", "english", "broad-primary", "broad-english"]
MatchKind = Literal["exact", "keyword", "similar"]
FallbackReason = Literal["low_score", "few_hits"]

_Key = TypeVar("_Key", bound=Hashable)

_TIER: dict[MatchKind, int] = {"exact": 2, "keyword": 1, "similar": 0}


class RecallMatch(NamedTuple):
    """How one pass found a record.

    Attributes:
        by: Which pass it was: `primary`, `english`, or one of them again, further (`broad-primary`,
            `broad-english`).
        field: What matched: `text` or `text_en`.
        query: What it matched: `query` or `query_en`.
        kind: `exact` (the normalized field is the normalized query), `keyword` (it contains it) or
            `similar`.
        rank: Its place in the pass, from 1.
        score: How alike the query and the field are, from 0 to 1.
        coverage: The share of the query's trigrams that the field has, from 0 to 1.
        strength: The mean of score and coverage that the policy defines.
        weight: What the match counts: less through a companion that was made by a machine or not
            verified.
    """

    by: PassName
    field: Literal["text", "text_en"]
    query: Literal["query", "query_en"]
    kind: MatchKind
    rank: int
    score: float
    coverage: float
    strength: float
    weight: float

    def to_dict(self) -> dict[str, Any]:
        """The match as plain data."""
        return self._asdict()


@dataclass(frozen=True, slots=True)
class RecallHit:
    """A record that was recalled.

    Attributes:
        record: The record, a copy of what is stored.
        score: The fused score that puts it in its place, behind those that contain the query.
        matches: How each pass found it, best first; never empty.
    """

    record: MemoryRecord
    score: float
    matches: tuple[RecallMatch, ...]

    @property
    def field(self) -> Literal["text", "text_en"]:
        """Which field matched best."""
        return self.matches[0].field

    @property
    def query(self) -> Literal["query", "query_en"]:
        """Which query it matched."""
        return self.matches[0].query

    def to_dict(self) -> dict[str, Any]:
        """The hit as plain data."""
        return {
            "score": self.score,
            "record": self.record.to_dict(),
            "matches": [match.to_dict() for match in self.matches],
        }


@dataclass(frozen=True, slots=True)
class RecallPass:
    """One look of a recall at one side of the memory.

    Attributes:
        name: `primary`, `english`, `broad-primary` or `broad-english`.
        query: The text that was looked for.
        hits: How many records it found.
        top: The strength of its strongest match; 0 without one.
        seconds: How long it took.
    """

    name: PassName
    query: str
    hits: int
    top: float
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """The pass as plain data."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class RecallResult:
    """What a recall found.

    Attributes:
        query: What was asked.
        query_en: The same in English, if it was given.
        lang: The language of `query`, as `detect_language` tells it.
        hits: The records, best first.
        confidence: The strength of the strongest match of any pass, before weights; 0 without one.
        low_confidence: Whether that is below the policy's threshold. The hits are there all the
            same.
        fallback_used: Whether the English side was looked at.
        fallback_reason: Why the primary pass was not enough: `low_score` or `few_hits`; None if it
            was. With a reason and no fallback, the policy forbids one or there was no English
            query to make it with.
        passes: The passes that ran, in order.
        seconds: How long it took in all.
    """

    query: str
    query_en: str | None
    lang: str
    hits: tuple[RecallHit, ...]
    confidence: float
    low_confidence: bool
    fallback_used: bool
    fallback_reason: FallbackReason | None
    passes: tuple[RecallPass, ...]
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data."""
        values = {name: getattr(self, name) for name in self.__slots__}
        values["hits"] = [hit.to_dict() for hit in self.hits]
        values["passes"] = [one.to_dict() for one in self.passes]
        return values


@dataclass(frozen=True, slots=True)
class MemoryHit:
    """A record whose text is like the query of a search.

    Attributes:
        record: The record, a copy of what is stored.
        score: How alike its text and the query are, from 0 to 1.
    """

    record: MemoryRecord
    score: float

    def to_dict(self) -> dict[str, Any]:
        """The hit as plain data."""
        return {"score": self.score, "record": self.record.to_dict()}


def fuse(
    matches: Iterable[tuple[_Key, RecallMatch]], policy: RecallPolicy
) -> list[tuple[_Key, float, tuple[RecallMatch, ...]]]:
    """Merges the matches of several passes, one item a record.

    `weighted`: a record's score is the best strength times weight of its matches. `rrf`: the sum of
    weight / (`rrf_k` + rank) over its matches. Either way, records whose original text is the query
    come first, then those whose original text contains it; equal scores are in order of the keys.
    The order in which the matches are given makes no difference.

    Args:
        matches: The matches with the key of their record; keys can be compared.
        policy: `fusion` and `rrf_k` are read.

    Returns:
        For each record its key, score, and matches, best first.
    """
    records: dict[_Key, list[RecallMatch]] = {}
    for key, match in matches:
        records.setdefault(key, []).append(match)
    weighted = policy.fusion == "weighted"
    fused = []
    for key, found in records.items():
        if len(found) > 1:
            found.sort(key=_merit)
        if weighted:
            best = found[0]
            score = best.strength * best.weight
        else:
            # Sorted, so that the sum is rounded in the same way whatever the order was.
            score = sum(match.weight / (policy.rrf_k + match.rank) for match in found)
        tier = max(_TIER[match.kind] if match.field == "text" else 0 for match in found)
        fused.append((-tier, -score, key, tuple(found)))
    fused.sort(key=_ORDER)
    return [(key, -score, found) for _, score, key, found in fused]


_ORDER = itemgetter(0, 1, 2)


def _merit(match: RecallMatch) -> tuple[Any, ...]:
    return (-match.strength * match.weight, match)
