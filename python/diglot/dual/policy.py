"""How a recall decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from diglot.dual.record import check_choice
from diglot.errors import InvalidTypeError
from diglot.store import check_integer, check_score

__all__ = ["Fusion", "RecallPolicy"]

Fusion = Literal["weighted", "rrf"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallPolicy:
    """Thresholds and weights of a recall.

    How good a match is, its strength, is a mean of two numbers in [0, 1]: its score (how alike the
    query and the text are, as in a translation memory, which falls as the text gets longer than the
    query) and its coverage (the share of the query's trigrams that the text has, which does not).
    `docs/dual.md` says how the defaults were chosen.

    Attributes:
        coverage_weight: The weight of coverage in that mean; the rest is the score's.
        candidates: How many of the most alike texts each pass weighs up, or `limit` if that is
            more.
        min_score: The lowest score of a candidate.
        fallback: Whether the English side may be looked at.
        fallback_below: It is looked at when the strongest match of the primary pass is weaker than
            this ...
        fallback_hits: ... or there are fewer matches than this.
        broaden: Whether a recall that still has low confidence looks again, further.
        broaden_candidates: As `candidates`, when looking further.
        broaden_min_score: As `min_score`, when looking further.
        fusion: How the passes are merged: `weighted` by strength times weight, or `rrf` (reciprocal
            rank fusion) by ranks and weights.
        rrf_k: The constant that `rrf` adds to ranks; the larger, the less the first ranks stand
            out.
        machine_weight: The weight of a match through a companion that a machine made.
        draft_weight: The weight of a match through a companion that nobody verified. Both
            multiply. Matches in the original text, and through companions that people made and
            verified, weigh 1.
        confidence: A recall whose strongest match is weaker than this has low confidence.

    Raises:
        InvalidTypeError: A value has a wrong type.
        InvalidValueError: A value is out of range.
    """

    coverage_weight: float = 0.7
    candidates: int = 10
    min_score: float = 0.4
    fallback: bool = True
    fallback_below: float = 0.91
    fallback_hits: int = 1
    broaden: bool = True
    broaden_candidates: int = 25
    broaden_min_score: float = 0.15
    fusion: Fusion = "weighted"
    rrf_k: int = 60
    machine_weight: float = 0.95
    draft_weight: float = 0.9
    confidence: float = 0.89

    def __post_init__(self) -> None:
        for name in _SHARES:
            object.__setattr__(self, name, check_score(name, getattr(self, name)))
        for name, least in _COUNTS.items():
            value = check_integer(name, getattr(self, name), least=least)
            object.__setattr__(self, name, value)
        for name in ("fallback", "broaden"):
            if not isinstance(getattr(self, name), bool):
                found = type(getattr(self, name)).__name__
                raise InvalidTypeError(f"{name} must be a bool, not {found}", field=name)
        check_choice("fusion", self.fusion, ("weighted", "rrf"))

    def companion_weight(self, source: str | None, status: str | None) -> float:
        """The weight of a match through a companion."""
        weight = self.machine_weight if source == "llm" else 1.0
        return weight * self.draft_weight if status == "draft" else weight


_SHARES = (
    "coverage_weight",
    "min_score",
    "fallback_below",
    "broaden_min_score",
    "machine_weight",
    "draft_weight",
    "confidence",
)
_COUNTS = {"candidates": 1, "fallback_hits": 0, "broaden_candidates": 1, "rrf_k": 0}
