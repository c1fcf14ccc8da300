"""A memory in a SQLite database: adding, opening, and searching beside one in the process."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from contextlib import closing
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import diglot
from benches import data
from benches.clock import ask, percentiles, searcher, time_searches
from benches.scale import Scale
from benches.truth import truth
from diglot.stores.sqlite import SqliteTranslationMemory, SqliteTranslationMemoryStore

__all__ = ["measure"]

_TIMES = 5
_SINGLE = 2000
_BATCH = 1000
_TASKS = (1, 16)
_QUERY = "Save the file before you close the window"


def measure(scale: Scale) -> dict[str, Any]:
    with data.scratch() as folder:
        path = folder / "memory.db"
        in_process = diglot.TranslationMemory.from_jsonl(data.corpus_file(scale))
        result = {"entries": len(in_process)} | _fill(path, in_process)
        result |= _open(path, in_process.search(_QUERY))
        result["searches"] = _search(scale, path, in_process)
        some = list(islice(in_process, scale.ready // 10))
        result["batches"] = _add_in_batches(folder / "batches.db", some)
        result["single"] = _add_singly(folder / "single.db")
    return result


def _fill(path: Path, in_process: diglot.TranslationMemory) -> dict[str, Any]:
    entries = list(in_process)
    with SqliteTranslationMemory.open(path) as memory:
        start, work = perf_counter(), process_time()
        memory.add_many(entries)
        rate = len(entries) / (perf_counter() - start)
        rate_of_work = len(entries) / (process_time() - work)
        if memory.verify() != len(entries):
            raise AssertionError("not all entries are there")
    return {
        "entries a second": rate,
        "entries a second of work": rate_of_work,
        "bytes": path.stat().st_size,
        "snapshot bytes": path.with_name(f"{path.name}-snapshot").stat().st_size,
    }


def _open(path: Path, expected: list[diglot.TranslationMemoryHit]) -> dict[str, Any]:
    def once() -> tuple[float, float]:
        start, work = perf_counter(), process_time()
        with SqliteTranslationMemory.open(path) as memory:
            found = memory.search(_QUERY)
            times = perf_counter() - start, process_time() - work
            if found != expected:
                raise AssertionError(f"{found} was found, not {expected}")
        return times

    times = [once() for _ in range(_TIMES)]
    os.remove(f"{path}-snapshot")
    return {
        "opening": median(elapsed for elapsed, _ in times),
        "opening, at work": median(worked for _, worked in times),
        "opening without snapshot": once()[0],
    }


def _search(scale: Scale, path: Path, in_process: diglot.TranslationMemory) -> dict[str, Any]:
    queries = data.queries(scale)
    expected = truth(data.entries_file(scale), queries)
    with SqliteTranslationMemory.open(path) as memory:
        searches = {"in the process": searcher(in_process), "in SQLite": searcher(memory)}
        times: dict[str, list[float]] = {name: [] for name in searches}
        for search in searches.values():
            ask(search, queries, expected)
        # In turns, so that both have the same machine.
        for _ in range(scale.passes):
            for name, search in searches.items():
                times[name] += time_searches(search, queries)
    return {name: percentiles(seconds) for name, seconds in times.items()}


def _add_in_batches(path: Path, entries: list[diglot.TranslationMemoryEntry]) -> float:
    """Entries in a second of the processors' time, that of the work in the background included."""
    with SqliteTranslationMemory.open(path) as memory:
        work = process_time()
        for start in range(0, len(entries), _BATCH):
            memory.add_many(entries[start : start + _BATCH])
        memory._memory.settle()
        rate = len(entries) / (process_time() - work)
        if memory.verify() != len(entries):
            raise AssertionError("not all entries are there")
    return rate


def _add_singly(path: Path) -> dict[str, float]:
    """Entries a second; and what the disk allows: transactions of one row and nothing else."""
    entry = diglot.TranslationMemoryEntry(_QUERY, "저장")
    with SqliteTranslationMemory.open(path) as memory:
        start = perf_counter()
        for _ in range(_SINGLE):
            memory.add(entry)
        rates = {"one thread": _SINGLE / (perf_counter() - start)}

    async def add(store: SqliteTranslationMemoryStore, count: int) -> None:
        for _ in range(count):
            await store.add(entry)

    async def add_in_tasks(tasks: int) -> float:
        async with await SqliteTranslationMemoryStore.open(path) as store:
            start = perf_counter()
            await asyncio.gather(*(add(store, _SINGLE // tasks) for _ in range(tasks)))
            return _SINGLE // tasks * tasks / (perf_counter() - start)

    for tasks in _TASKS:
        rates[f"{tasks} task{'s' * (tasks > 1)}"] = asyncio.run(add_in_tasks(tasks))
    with SqliteTranslationMemory.open(path, read_only=True) as memory:
        found = memory.search(entry.source, max_hits=4 * _SINGLE)
        if len(found) != _SINGLE + sum(_SINGLE // tasks * tasks for tasks in _TASKS):
            raise AssertionError(f"{len(found)} entries are there")

    with closing(sqlite3.connect(f"{path}-bare", isolation_level=None)) as bare:
        bare.execute("PRAGMA journal_mode = WAL")
        bare.execute("PRAGMA synchronous = FULL")
        bare.execute("CREATE TABLE entries (id INTEGER PRIMARY KEY, source, target)")
        rows = islice(cycle([(entry.source, entry.target)]), _SINGLE)
        start = perf_counter()
        for row in rows:
            bare.execute("INSERT INTO entries (source, target) VALUES (?, ?)", row)
        rates["bare SQLite"] = _SINGLE / (perf_counter() - start)
    return rates
