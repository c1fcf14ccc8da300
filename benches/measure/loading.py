"""How long it takes to load the corpus, and the memory that the process then has."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any

import diglot
from benches import data
from benches.scale import Scale

__all__ = ["measure"]


def measure(scale: Scale) -> dict[str, Any]:
    file = data.corpus_file(scale)
    query = data.queries(scale)[0].text
    before = _resident()["VmRSS"]
    start = perf_counter()
    memory = diglot.TranslationMemory.from_jsonl(file)
    memory.search(query)
    seconds = perf_counter() - start
    resident = _resident()
    stats = memory.stats()
    with data.rows_file(scale).open("rb") as lines:
        rows = sum(1 for _ in lines)
    index = sum(
        stats.bytes[part]
        for part in ("trigram_index", "token_index", "normalized_texts", "row_tables")
    )
    return {
        "seconds": seconds,
        "entries": len(memory),
        "rows": rows,
        "segments": stats.segments,
        "index bytes a row": index / rows,
        "bytes": dict(stats.bytes),
        "resident before": before,
        "resident": resident["VmRSS"],
        "peak": resident["VmHWM"],
    }


def _resident() -> dict[str, int]:
    """The resident memory of this process and its peak, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in lines)
    return {name: int(fields[name].split()[0]) * 1024 for name in ("VmRSS", "VmHWM")}
