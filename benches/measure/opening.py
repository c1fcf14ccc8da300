"""Saving a memory as a snapshot file, and opening it to the first answer."""

from __future__ import annotations

from statistics import median
from time import perf_counter, process_time
from typing import Any

from benches.data import corpus_file, scratch
from benches.scale import Scale
from diglot import TranslationMemory, _engine

__all__ = ["measure"]

_TIMES = 7
_QUERY = "Save the file before you close the window"
_OPTIONS = (None, None, None, None, 5, 0.2)


def measure(scale: Scale) -> dict[str, Any]:
    """The medians of some savings and openings, of a file that the system has in its cache."""
    memory = TranslationMemory.from_jsonl(corpus_file(scale))._memory
    memory.settle()
    expected = memory.search(_QUERY, _OPTIONS).hits(0, 0, 5)
    with scratch() as folder:
        path = folder / "snapshot"
        saved, opened, worked = [], [], []
        for _ in range(_TIMES):
            start = perf_counter()
            _engine.save_snapshots([memory.snapshot()], path, b"")
            saved.append(perf_counter() - start)
        size = path.stat().st_size
        entries = len(memory)
        del memory
        for _ in range(_TIMES):
            start, work = perf_counter(), process_time()
            (memory,), _tag = _engine.open_memories(path, 1)
            found = memory.search(_QUERY, _OPTIONS).hits(0, 0, 5)
            opened.append(perf_counter() - start)
            worked.append(process_time() - work)
            if found != expected:
                raise AssertionError(f"{found} was found, not {expected}")
            del memory
    return {
        "entries": entries,
        "bytes": size,
        "saving": median(saved),
        "opening": median(opened),
        "processor": median(worked),
    }
