"""Lookups over HTTP: over one connection, at fixed rates, and as many as there can be, beside a
handler on the same server that does nothing.

The server has the memory in a process of its own. Queries are asked with both languages over
connections that are kept, and every answer is compared with that of the same memory in this
process. At a fixed rate, a request's time begins when it was due, whether or not there was a
connection free to send it, or at the next tick of the event loop's clock, which has a thousand in
a second.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle, islice
from time import perf_counter
from typing import Any, NamedTuple

import msgspec

import diglot
from benches import data
from benches.clock import percentiles, searcher, time_searches
from benches.scale import Scale

__all__ = ["measure"]

_CONNECTIONS = 16
# Requests a second.
_RATES = (200, 500, 1000)
_PATIENCE = 600


class _Case(NamedTuple):
    """A request, and the ids and scores of its answer; None if it is not to be checked."""

    request: bytes
    hits: list[tuple[int, float]] | None


class _Connection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def ask(self, case: _Case) -> None:
        self._writer.write(case.request)
        head = await self._reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head)
        if not head.startswith(b"HTTP/1.1 200 ") or length is None:
            raise SystemExit(f"the server answered {head!r}")
        body = await self._reader.readexactly(int(length[1]))
        if case.hits is not None:
            found = [(hit["id"], hit["score"]) for hit in msgspec.json.decode(body)["hits"]]
            if found != case.hits:
                raise SystemExit(f"{case.request!r} was answered {found}, not {case.hits}")


async def _connections(port: int, count: int) -> list[_Connection]:
    return [_Connection(*await asyncio.open_connection("127.0.0.1", port)) for _ in range(count)]


async def _closed(port: int, cases: Sequence[_Case], connections: int) -> tuple[float, list[float]]:
    """Each connection asks when it has its last answer. Returns the rate, and the times."""
    times: list[float] = []

    async def one(connection: _Connection, share: Sequence[_Case]) -> None:
        for case in share:
            start = perf_counter()
            await connection.ask(case)
            times.append(perf_counter() - start)

    opened = await _connections(port, connections)
    start = perf_counter()
    await asyncio.gather(
        *(one(connection, cases[at::connections]) for at, connection in enumerate(opened))
    )
    return len(cases) / (perf_counter() - start), times


async def _at_rate(port: int, cases: Sequence[_Case], rate: float) -> tuple[float, list[float]]:
    """A request is due at a time; whichever connection is free sends it."""
    free: asyncio.Queue[_Connection] = asyncio.Queue()
    for connection in await _connections(port, _CONNECTIONS):
        free.put_nowait(connection)
    times: list[float] = []
    begin = perf_counter() + 0.1

    async def one(start: float, case: _Case) -> None:
        connection = await free.get()
        await connection.ask(case)
        times.append(perf_counter() - start)
        free.put_nowait(connection)

    tasks = []
    for number, case in enumerate(cases):
        start = begin + number / rate
        if (wait := start - perf_counter()) > 0:
            await asyncio.sleep(wait)
            # The clock of an event loop has ticks of a millisecond.
            start = max(start, min(perf_counter(), start + 0.001))
        tasks.append(asyncio.ensure_future(one(start, case)))
    await asyncio.gather(*tasks)
    return len(cases) / (perf_counter() - begin), times


@contextmanager
def _serving(command: Sequence[str]) -> Iterator[int]:
    with (
        tempfile.TemporaryFile("w+") as log,
        subprocess.Popen([sys.executable, "-m", *command], stderr=log) as process,
    ):
        try:
            until = perf_counter() + _PATIENCE
            while perf_counter() < until and process.poll() is None:
                log.seek(0)
                if found := re.search(r"running on http://[^ ]*:(\d+)", log.read()):
                    yield int(found[1])
                    return
            raise SystemExit(f"{' '.join(command)} did not start")
        finally:
            process.terminate()


def measure(scale: Scale) -> dict[str, Any]:
    corpus = data.corpus_file(scale)
    queries = data.queries(scale)
    memory = diglot.TranslationMemory.from_jsonl(corpus)
    memory._memory.settle()
    search = searcher(memory, filtered=True)
    cases = [_case(query, search(query.text, query)) for query in queries]
    times = time_searches(search, queries)
    result = {"`search` in the process": _figures((len(times) / sum(times), times))}
    del memory, search

    nothing = [_Case(case.request, None) for case in cases]
    with _serving(["benches.server_nothing"]) as port:
        result["nothing, 1 connection"] = _figures(asyncio.run(_closed(port, nothing, 1)))
        found = asyncio.run(_closed(port, nothing * 4, _CONNECTIONS))
        result[f"nothing, {_CONNECTIONS} connections"] = _figures(found)
    with _serving(["diglot", "serve", str(corpus), "--port", "0"]) as port:
        asyncio.run(_closed(port, cases, _CONNECTIONS))
        result["lookups, 1 connection"] = _figures(asyncio.run(_closed(port, cases, 1)))
        for rate in _RATES:
            some = list(islice(cycle(cases), int(rate * scale.serving_seconds)))
            found = asyncio.run(_at_rate(port, some, rate))
            result[f"lookups, {rate} a second"] = _figures(found)
        many = list(islice(cycle(cases), scale.requests))
        found = asyncio.run(_closed(port, many, _CONNECTIONS))
        result[f"lookups, {_CONNECTIONS} connections"] = _figures(found)
    return result


def _case(query: data.Query, hits: list[diglot.TranslationMemoryHit]) -> _Case:
    body = msgspec.json.encode(
        {
            "query": query.text,
            "source_language": query.source_language,
            "target_language": query.target_language,
        }
    )
    head = f"POST /api/v1/search HTTP/1.1\r\nhost: localhost\r\ncontent-length: {len(body)}\r\n\r\n"
    return _Case(head.encode() + body, [(hit.id, hit.score) for hit in hits])


def _figures(measured: tuple[float, list[float]]) -> dict[str, float]:
    rate, times = measured
    return {"requests a second": rate} | percentiles(times)
