"""The figures of a memory as Prometheus metrics. Needs the packages of `diglot[prometheus]`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from diglot.kpi.kpis import GROUPS, Kpis

__all__ = ["HasKpis", "KpiCollector"]


class HasKpis(Protocol):
    """What a collector can ask."""

    def kpis(self) -> Kpis:
        """The figures of now."""
        ...


_COUNTERS = (
    ("queries", "Recalls."),
    ("with_query_en", "Recalls that brought an English form of the query."),
    ("fallbacks", "Recalls that looked at the English side."),
    ("fallbacks_missed", "Recalls that had reason to look at the English side and could not."),
    ("empty", "Recalls that found nothing."),
    ("low_confidence", "Recalls that found nothing convincing."),
    ("mismatches", "Reports of companions that do not say what their text says."),
)


class KpiCollector(Collector):
    """Tells a Prometheus registry the figures of a memory whenever they are scraped.

    Register it as `REGISTRY.register(KpiCollector(memory))`. Counters count since the recorder was
    made; all metrics have a label `lang` (`zh`, `en`, `mixed`, `other`).

    Args:
        memory: A `DualLanguageMemory`, its synchronous twin, or anything else with `kpis()`.
    """

    def __init__(self, memory: HasKpis) -> None:
        self._memory = memory

    def collect(self) -> Iterator[Metric]:
        """The metrics as they are now."""
        kpis = self._memory.kpis()
        for name, field, text in (
            ("diglot_records", "records", "Records of the memory."),
            ("diglot_records_with_text_en", "with_text_en", "Records that have a companion."),
        ):
            gauge = GaugeMetricFamily(name, text, labels=["lang"])
            for group in GROUPS:
                gauge.add_metric([group], getattr(kpis.records[group], field))
            yield gauge
        for name, text in _COUNTERS:
            counter = CounterMetricFamily(f"diglot_recall_{name}", text, labels=["lang"])
            for group in GROUPS:
                counter.add_metric([group], getattr(kpis.queries[group], name))
            yield counter
        latency = GaugeMetricFamily(
            "diglot_recall_latency_seconds",
            "How long recalls took since the recorder was made.",
            labels=["lang", "fallback", "quantile"],
        )
        for group in GROUPS:
            queries = kpis.queries[group]
            for fallback, figures in (
                ("false", queries.latency_without_fallback),
                ("true", queries.latency_with_fallback),
            ):
                for quantile, value in (("0.5", figures.p50_ms), ("0.95", figures.p95_ms)):
                    if value is not None:
                        latency.add_metric([group, fallback, quantile], value / 1e3)
        yield latency
