"""A picture of latencies with and without fallback. Needs the packages of `diglot[plot]`."""

from __future__ import annotations

from os import PathLike

import numpy
from matplotlib.figure import Figure

from diglot.kpi.evaluate import Evaluation

__all__ = ["plot_latencies"]


def plot_latencies(evaluation: Evaluation, path: str | PathLike[str]) -> None:
    """Draws how recall latencies are distributed: with the fallback turned off, and with it turned
    on where it was used and where it was not. The end of the name says what kind of picture.

    Raises:
        OSError: The file cannot be written.
    """
    outcomes = evaluation.outcomes
    off = [one.without_fallback.seconds * 1e3 for one in outcomes]
    unused = [one.result.seconds * 1e3 for one in outcomes if not one.result.fallback_used]
    used = [one.result.seconds * 1e3 for one in outcomes if one.result.fallback_used]
    series = (
        ("fallback off", off, "#9a9a9a", "--"),
        ("fallback on, not used", unused, "#1f77b4", "-"),
        ("fallback on, used", used, "#d62728", "-"),
    )
    figure = Figure(figsize=(9, 4.5), layout="constrained")
    axes = figure.subplots()
    for name, times, colour, line in series:
        if times:
            ordered = numpy.sort(times)
            shares = numpy.arange(1, len(ordered) + 1) / len(ordered)
            p50, p95 = numpy.percentile(ordered, [50, 95])
            label = f"{name}: n = {len(ordered):,}, p50 {p50:.3f} ms, p95 {p95:.3f} ms"
            axes.step(ordered, shares, where="post", color=colour, linestyle=line, label=label)
    for share in (0.5, 0.95):
        axes.axhline(share, color="#cccccc", linewidth=0.8, zorder=0)
    axes.set_xscale("log")
    axes.set_ylim(0, 1.02)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 0.95, 1])
    axes.set_yticklabels(["0", "25 %", "50 %", "75 %", "95 %", "100 %"])
    axes.set_xlabel("latency of a recall (ms, logarithmic)")
    axes.set_ylabel("share of recalls that took at most so long")
    axes.set_title("Recall latency with and without cross-language fallback")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="lower right", fontsize="small")
    figure.savefig(path, dpi=150)
