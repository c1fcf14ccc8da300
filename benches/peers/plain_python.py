"""The reference in plain Python, which the tests use as their oracle: it scores every entry."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

from diglot import TranslationMemoryEntry
from tests.oracle import OracleMemory

__all__ = ["answers"]


def answers(file: Path, texts: list[str]) -> Iterator[tuple[float, list[int]]]:
    with file.open(encoding="utf-8") as lines:
        memory = OracleMemory(TranslationMemoryEntry.from_dict(json.loads(line)) for line in lines)
    for text in texts:
        start = perf_counter()
        hits = memory.search(text)
        yield perf_counter() - start, [id for id, _ in hits]
