"""How long each asynchronous operation keeps the event loop from everything else.

The time that passes between two turns of another task has the machine's own pauses in it; the time
that the loop's thread spent on a processor has not, but lacks what it spent waiting for a lock.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from time import perf_counter, thread_time
from typing import Any, TypeVar

import diglot
from benches import data
from benches.scale import Scale

__all__ = ["measure"]

_T = TypeVar("_T")

# Seconds.
_ALLOWED = 2e-3


def measure(scale: Scale) -> dict[str, Any]:
    return asyncio.run(_measure(scale))


async def _measure(scale: Scale) -> dict[str, Any]:
    queries = data.queries(scale)
    texts = [query.text for query in queries]
    long = " ".join(texts)[:20_000]
    entries = [diglot.TranslationMemoryEntry(source=text, target=text) for text in texts]
    many = [
        diglot.TranslationMemoryEntry(source=source, target=source)
        for source in data.mutated_sources(scale, min(scale.ready, 100_000))
    ]
    # Python's collector would stop everything to look through what this module made so far.
    gc.collect()
    gc.freeze()

    gaps = {}
    gaps["from_jsonl"], store = await _gaps(
        lambda: diglot.InMemoryTranslationMemoryStore.from_jsonl(data.corpus_file(scale))
    )
    # Imports numpy, once in a process and on the loop.
    await store.search_arrays(texts[:1])
    operations: dict[str, Callable[[], Awaitable[object]]] = {
        "nothing, for a second": lambda: asyncio.sleep(1),
        "search": lambda: _each(store.search, texts),
        "search, 20,000 characters": lambda: _each(store.search, [long] * 3),
        "search, 5,000 hits": lambda: _each(
            partial(store.search, max_hits=5000, min_score=0.0), texts[:5]
        ),
        "search_many": lambda: store.search_many(texts),
        "search_arrays": lambda: store.search_arrays(texts),
        "add": lambda: _each(store.add, entries),
        "add_many": lambda: store.add_many(many),
        "iteration": lambda: _iterate(store),
    }
    for name, operation in operations.items():
        gaps[name], _ = await _gaps(operation)
    return gaps


async def _each(operation: Callable[[_T], Awaitable[object]], values: Iterable[_T]) -> None:
    """One call after the other, each in a turn of its own, as requests to a server have."""
    for value in values:
        await operation(value)
        await asyncio.sleep(0)


async def _iterate(store: diglot.InMemoryTranslationMemoryStore) -> None:
    async for _ in store:
        pass


async def _gaps(operation: Callable[[], Awaitable[_T]]) -> tuple[dict[str, Any], _T]:
    """The longest times between two turns of a task that does nothing while an operation runs."""
    longest = {"turns": 0, "too long": 0, "passed": 0.0, "worked": 0.0}

    async def tick() -> None:
        passed, worked = perf_counter(), thread_time()
        while True:
            await asyncio.sleep(0)
            since, passed = passed, perf_counter()
            since_at_work, worked = worked, thread_time()
            longest["turns"] += 1
            longest["too long"] += passed - since > _ALLOWED
            longest["passed"] = max(longest["passed"], passed - since)
            longest["worked"] = max(longest["worked"], worked - since_at_work)

    ticking = asyncio.create_task(tick())
    await asyncio.sleep(0)
    result = await operation()
    await asyncio.sleep(0)
    ticking.cancel()
    return longest, result
