"""rapidfuzz over all normalized sources. It measures likeness otherwise, and so finds others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

from rapidfuzz import fuzz, process

from benches.data import row_texts
from diglot import normalize

__all__ = ["answers"]


def answers(file: Path, texts: list[str]) -> Iterator[tuple[float, list[int]]]:
    rows = row_texts(file)
    for text in texts:
        start = perf_counter()
        found = process.extract(normalize(text), rows, scorer=fuzz.ratio, limit=5)
        yield perf_counter() - start, [row for _, _, row in found]
