"""What the server knows of its requests, for `/metrics` and the KPIs."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

from diglot.kpi.prometheus import HasKpis, KpiCollector
from diglot.model import MemoryStats
from diglot.server.schemas import Latency

__all__ = ["Metrics", "Requests"]

# Seconds; each a quarter more than the one before, from 0.1 ms to about a minute, so that a
# percentile is exact to a quarter at the worst. 60 counters to an operation.
_BOUNDS = tuple(round(1e-4 * 1.25**step, 9) for step in range(60))


class _Operation:
    __slots__ = ("counts", "seconds", "statuses")

    def __init__(self) -> None:
        self.counts = [0] * (len(_BOUNDS) + 1)
        self.seconds = 0.0
        self.statuses: dict[int, int] = {}

    def percentile(self, share: float) -> float | None:
        total = sum(self.counts)
        rank, seen = share * total, 0
        for count, bound in zip(self.counts, (*_BOUNDS, _BOUNDS[-1]), strict=True):
            seen += count
            if count and seen >= rank:
                return bound * 1e3
        return None


class Requests(Collector):
    """Counts requests and their times by operation. Used from one event loop only."""

    def __init__(self) -> None:
        self._operations: dict[str, _Operation] = {}

    def count(self, name: str, status: int, seconds: float) -> None:
        """Counts one request."""
        operation = self._operations.get(name)
        if operation is None:
            operation = self._operations[name] = _Operation()
        operation.counts[bisect_left(_BOUNDS, seconds)] += 1
        operation.seconds += seconds
        operation.statuses[status] = operation.statuses.get(status, 0) + 1

    def latencies(self) -> dict[str, Latency]:
        """The figures by operation."""
        figures = {}
        for name, operation in sorted(self._operations.items()):
            buckets = zip(_BOUNDS, operation.counts, strict=False)
            statuses = operation.statuses.items()
            figures[name] = Latency(
                count=sum(operation.counts),
                errors=sum(count for status, count in statuses if status >= 400),
                p50_ms=operation.percentile(0.5),
                p95_ms=operation.percentile(0.95),
                p99_ms=operation.percentile(0.99),
                buckets=[(bound * 1e3, count) for bound, count in buckets if count],
            )
        return figures

    def collect(self) -> Iterator[Metric]:
        """The figures as Prometheus metrics."""
        counter = CounterMetricFamily(
            "diglot_http_requests",
            "Requests by operation and status.",
            labels=["operation", "status"],
        )
        histogram = HistogramMetricFamily(
            "diglot_http_request_seconds",
            "How long requests took, from their head to the last byte of the answer.",
            labels=["operation"],
        )
        for name, operation in sorted(self._operations.items()):
            for status, count in sorted(operation.statuses.items()):
                counter.add_metric([name, str(status)], count)
            buckets, seen = [], 0
            # Every third bound: 20 series to an operation.
            for position, bound in enumerate(_BOUNDS):
                seen += operation.counts[position]
                if position % 3 == 2:
                    buckets.append((f"{bound:g}", seen))
            buckets.append(("+Inf", sum(operation.counts)))
            histogram.add_metric([name], buckets, operation.seconds)
        yield counter
        yield histogram


class _Memory(Collector):
    def __init__(self, stats: Callable[[], MemoryStats]) -> None:
        self._stats = stats

    def collect(self) -> Iterator[Metric]:
        stats = self._stats()
        yield GaugeMetricFamily("diglot_entries", "Entries of the memory.", stats.entries)
        yield GaugeMetricFamily("diglot_rows", "Sources in the index, removed too.", stats.rows)
        size = GaugeMetricFamily("diglot_bytes", "Bytes in use, by what for.", labels=["part"])
        for part, count in stats.bytes.items():
            size.add_metric([part], count)
        yield size


class Metrics:
    """All that `/metrics` says."""

    def __init__(
        self, requests: Requests, stats: Callable[[], MemoryStats], records: HasKpis
    ) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)
        GCCollector(registry=self._registry)
        for collector in (requests, _Memory(stats), KpiCollector(records)):
            self._registry.register(collector)

    def render(self) -> bytes:
        """The text that Prometheus reads."""
        return generate_latest(self._registry)
