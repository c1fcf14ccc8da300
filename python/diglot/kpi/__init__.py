"""How well a dual-language memory answers: counts, rates and latencies, live and on labelled sets.

`docs/kpi.md` defines every figure.
"""

from diglot.kpi.evaluate import Evaluation, LabelledQuery, evaluate, read_labelled
from diglot.kpi.kpis import Kpis, LatencyKpis, Mismatch, QueryKpis, RecordKpis, Window
from diglot.kpi.recorder import HistogramRecorder, KpiRecorder

__all__ = [
    "Evaluation",
    "HistogramRecorder",
    "KpiRecorder",
    "Kpis",
    "LabelledQuery",
    "LatencyKpis",
    "Mismatch",
    "QueryKpis",
    "RecordKpis",
    "Window",
    "evaluate",
    "read_labelled",
]
