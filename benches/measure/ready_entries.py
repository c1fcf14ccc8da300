"""How many entries a second `add_many` takes when they are Python objects already."""

from __future__ import annotations

from itertools import islice
from time import perf_counter
from typing import Any

import diglot
from benches import data
from benches.scale import Scale

__all__ = ["measure"]


def measure(scale: Scale) -> dict[str, Any]:
    entries = list(
        islice(diglot.TranslationMemory.from_jsonl(data.corpus_file(scale)), scale.ready)
    )
    memory = diglot.TranslationMemory()
    start = perf_counter()
    memory.add_many(entries)
    seconds = perf_counter() - start
    if list(memory) != entries:
        raise AssertionError("the memory does not hold the entries that were added to it")
    return {"entries": len(entries), "seconds": seconds, "entries a second": len(entries) / seconds}
