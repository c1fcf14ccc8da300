"""The figures of a dual-language memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from diglot.dual.record import is_english

__all__ = [
    "GROUPS",
    "Group",
    "Kpis",
    "LatencyKpis",
    "Mismatch",
    "QueryKpis",
    "RecordKpis",
    "Window",
    "group_of",
    "share",
]

Group = Literal["zh", "en", "mixed", "other"]

GROUPS: tuple[Group, ...] = ("zh", "en", "mixed", "other")
"""What figures are split by: the language of the query, or of the record."""


def group_of(lang: str) -> Group:
    """The group that a language tag belongs to."""
    if lang[:2].lower() == "zh" and lang[2:3] in {"", "-", "_"}:
        return "zh"
    if is_english(lang):
        return "en"
    return "mixed" if lang == "mixed" else "other"


def share(part: int, whole: int) -> float | None:
    """How much of the whole a part is; None of nothing."""
    return part / whole if whole else None


@dataclass(frozen=True, slots=True)
class RecordKpis:
    """Records of a language.

    Attributes:
        records: How many there are.
        with_text_en: How many of them have a companion.
    """

    records: int
    with_text_en: int

    def to_dict(self) -> dict[str, Any]:
        """The counts and their `text_en_rate`, as plain data."""
        return {
            "records": self.records,
            "with_text_en": self.with_text_en,
            "text_en_rate": share(self.with_text_en, self.records),
        }


@dataclass(frozen=True, slots=True)
class LatencyKpis:
    """How long recalls took.

    Attributes:
        count: How many there were.
        p50_ms: The median, in milliseconds, exact to 1 %; None without any.
        p95_ms: The 95th percentile.
        max_ms: The longest.
    """

    count: int
    p50_ms: float | None
    p95_ms: float | None
    max_ms: float | None

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain data."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class QueryKpis:
    """Recalls whose queries are of a language.

    Attributes:
        queries: How many there were.
        with_query_en: How many brought an English form of the query.
        fallbacks: How many looked at the English side.
        fallbacks_missed: How many had reason to, but no English query, or a policy that forbids it.
        empty: How many found nothing.
        low_confidence: How many found nothing convincing.
        mismatches: Reports of companions that do not say what their text, in this language, says.
        latency: Of all of them.
        latency_without_fallback: Of those that did not look at the English side.
        latency_with_fallback: Of those that did.
    """

    queries: int
    with_query_en: int
    fallbacks: int
    fallbacks_missed: int
    empty: int
    low_confidence: int
    mismatches: int
    latency: LatencyKpis
    latency_without_fallback: LatencyKpis
    latency_with_fallback: LatencyKpis

    @property
    def query_en_rate(self) -> float | None:
        """The share of queries that brought an English form."""
        return share(self.with_query_en, self.queries)

    @property
    def fallback_rate(self) -> float | None:
        """The share of queries that looked at the English side."""
        return share(self.fallbacks, self.queries)

    @property
    def empty_rate(self) -> float | None:
        """The share of queries that found nothing."""
        return share(self.empty, self.queries)

    @property
    def low_confidence_rate(self) -> float | None:
        """The share of queries that found nothing convincing."""
        return share(self.low_confidence, self.queries)

    def to_dict(self) -> dict[str, Any]:
        """The counts, rates and latencies, as plain data."""
        values = {
            name: value.to_dict() if isinstance(value, LatencyKpis) else value
            for name in self.__slots__
            for value in [getattr(self, name)]
        }
        for name in ("query_en_rate", "fallback_rate", "empty_rate", "low_confidence_rate"):
            values[name] = getattr(self, name)
        return values


@dataclass(frozen=True, slots=True)
class Window:
    """The recalls of a span of time.

    Attributes:
        start: Its first moment, in ISO 8601.
        end: Its end, which is the first moment of the next one.
        queries: The figures by group, and those of `all`.
    """

    start: str
    end: str
    queries: Mapping[str, QueryKpis]

    def to_dict(self) -> dict[str, Any]:
        """The window as plain data."""
        queries = {group: kpis.to_dict() for group, kpis in self.queries.items()}
        return {"start": self.start, "end": self.end, "queries": queries}


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A report that a companion does not say what its text says.

    Attributes:
        id: The record's id.
        at: When it was reported, in ISO 8601.
        note: What the reporter wrote.
    """

    id: str
    at: str
    note: str

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Kpis:
    """The figures of a memory and its recalls.

    Attributes:
        records: The records by group of their language, and those of `all`.
        queries: The recalls since the recorder was made, by group of their query's language, and
            those of `all`.
        windows: The last windows with recalls or reports in them, oldest first.
        mismatches: The last reports of mismatches, oldest first.
    """

    records: Mapping[str, RecordKpis]
    queries: Mapping[str, QueryKpis]
    windows: tuple[Window, ...]
    mismatches: tuple[Mismatch, ...]

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain data, ready for JSON."""
        return {
            "records": {group: kpis.to_dict() for group, kpis in self.records.items()},
            "queries": {group: kpis.to_dict() for group, kpis in self.queries.items()},
            "windows": [window.to_dict() for window in self.windows],
            "mismatches": [mismatch.to_dict() for mismatch in self.mismatches],
        }
