"""The best of some candidates."""

from __future__ import annotations

from heapq import nlargest

from diglot import similarity

__all__ = ["CANDIDATES", "best", "trigrams"]

CANDIDATES = 50


def trigrams(text: str) -> set[str]:
    """The distinct trigrams of a text that has any."""
    return {text[at : at + 3] for at in range(len(text) - 2)}


def best(text: str, candidates: list[int], rows: list[str]) -> list[int]:
    """The five rows that are most like a normalized text."""
    return nlargest(5, candidates, key=lambda row: similarity(text, rows[row]))
