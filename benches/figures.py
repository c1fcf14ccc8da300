"""The figures to reach, and whether they were."""

from __future__ import annotations

from typing import Any, NamedTuple

from benches.units import megabytes, seconds

__all__ = ["Figure", "figures"]

# How much slower a time may be and still count as the same.
_NOISE = 1.05


class Figure(NamedTuple):
    """What was to be reached and what was."""

    what: str
    target: str
    measured: str
    met: bool


def figures(results: dict[str, Any]) -> list[Figure]:
    """All figures of a full run."""
    latency, peers, loading = results["latency"], results["peers"], results["loading"]
    plain, filtered = latency["unfiltered"]["all"], latency["filtered"]["all"]
    rapidfuzz = peers["rapidfuzz_extract"]["times diglot"]
    tantivy = peers["tantivy_trigrams"]["times diglot"]
    largest = max(results["growth"].items(), key=lambda item: int(item[0]))[1]
    added = results["adding"]["adds"]["p99"]
    ready = results["ready_entries"]["entries a second"]
    in_threads = results["threads"]["search_many"]
    threads = in_threads["2"] / in_threads["1"]
    worst = largest["worst"]
    stored = results["storing"]
    served = results["serving"]
    steady = served["lookups, 1000 a second"]
    lookups = served["lookups, 16 connections"]["requests a second"]
    added_by_http = (
        served["lookups, 1 connection"]["p50"] - served["`search` in the process"]["p50"]
    )
    gaps = results["event_loop"]
    idle = gaps["nothing, for a second"]["passed"]
    blocked, passed = (max(gap[time] for gap in gaps.values()) for time in ("worked", "passed"))
    return [
        Figure(
            "`search`, whole corpus, no filter: p50 / p95",
            "≤ 0.3 ms / ≤ 1.2 ms",
            f"{seconds(plain['p50'])} / {seconds(plain['p95'])}",
            plain["p50"] <= 0.3e-3 and plain["p95"] <= 1.2e-3,
        ),
        Figure(
            "… times faster than rapidfuzz `extract` at p50",
            "≥ 400",
            f"{rapidfuzz:.0f}",
            rapidfuzz >= 400,
        ),
        Figure("… times faster than tantivy at p50", "≥ 35", f"{tantivy:.0f}", tantivy >= 35),
        Figure(
            "the same with source and target language: p50 / p95",
            "no slower",
            f"{seconds(filtered['p50'])} / {seconds(filtered['p95'])}",
            all(filtered[share] <= plain[share] * _NOISE for share in ("p50", "p95")),
        ),
        Figure(
            "exact duplicate, k = 1: p50",
            "≤ 20 µs",
            seconds(results["exact"]["p50"]),
            results["exact"]["p50"] <= 20e-6,
        ),
        Figure(
            "3 M distinct rows: p50 / p95",
            "≤ 2.5 ms / ≤ 9 ms",
            f"{seconds(largest['search']['p50'])} / {seconds(largest['search']['p95'])}",
            largest["search"]["p50"] <= 2.5e-3 and largest["search"]["p95"] <= 9e-3,
        ),
        Figure(
            "worst short query, 3 M rows",
            "≤ 3 ms",
            f"{seconds(worst['median'])} (“{worst['query']}”)",
            worst["median"] <= 3e-3,
        ),
        Figure("single `add` while searching: p99", "≤ 50 µs", seconds(added), added <= 50e-6),
        Figure(
            "loading the corpus from `.jsonl.zst` to searchable",
            "≤ 12 s",
            seconds(loading["seconds"]),
            loading["seconds"] <= 12,
        ),
        Figure(
            "`add_many` of ready entries", "≥ 250,000 / s", f"{ready:,.0f} / s", ready >= 250_000
        ),
        Figure(
            "TMX to searchable, one core",
            "≥ 100,000 / s",
            f"{results['tmx']['imported']:,.0f} / s",
            results["tmx"]["imported"] >= 100_000,
        ),
        Figure(
            "TMX to searchable in SQLite and on disk, one core",
            "≥ 100,000 / s",
            f"{results['tmx']['stored']:,.0f} / s",
            results["tmx"]["stored"] >= 100_000,
        ),
        Figure(
            "TMX written, one core",
            "≥ 200,000 / s",
            f"{results['tmx']['exported']:,.0f} / s",
            results["tmx"]["exported"] >= 200_000,
        ),
        Figure(
            "SQLite: the whole corpus opened, to the first answer",
            "≤ 1 s",
            seconds(stored["opening"]),
            stored["opening"] <= 1,
        ),
        Figure(
            "SQLite: `add_many`, on disk",
            "≥ 50,000 / s",
            f"{stored['entries a second']:,.0f} / s",
            stored["entries a second"] >= 50_000,
        ),
        Figure(
            "… in batches of 1,000, of the processors’ time",
            "≥ 50,000 / s",
            f"{stored['batches']:,.0f} / s",
            stored["batches"] >= 50_000,
        ),
        Figure(
            "SQLite: single `add`s, each on disk",
            "≥ 1,000 / s",
            f"{stored['single']['one thread']:,.0f} / s",
            stored["single"]["one thread"] >= 1000,
        ),
        Figure(
            "HTTP, 1,000 lookups a second over 16 connections: p50 / p95",
            "≤ 2 ms / ≤ 8 ms",
            f"{seconds(steady['p50'])} / {seconds(steady['p95'])}",
            steady["p50"] <= 2e-3 and steady["p95"] <= 8e-3,
        ),
        Figure(
            "… added to the search alone, one connection: p50",
            "≤ 0.5 ms",
            seconds(added_by_http),
            added_by_http <= 0.5e-3,
        ),
        Figure("… lookups a second", "≥ 1,500", f"{lookups:,.0f}", lookups >= 1500),
        Figure(
            "index, a distinct row",
            "≤ 400 bytes",
            f"{loading['index bytes a row']:.0f} bytes",
            loading["index bytes a row"] <= 400,
        ),
        Figure(
            "process with the whole corpus, resident / peak while loading",
            "≤ 700 MB / ≤ 1,200 MB",
            f"{megabytes(loading['resident'])} / {megabytes(loading['peak'])}",
            loading["resident"] <= 700e6 and loading["peak"] <= 1.2e9,
        ),
        Figure("two threads, times one", "≥ 1.8", f"{threads:.2f}", threads >= 1.8),
        Figure(
            "`import diglot`",
            "≤ 60 ms",
            seconds(results["startup"]["seconds"]),
            results["startup"]["seconds"] <= 60e-3,
        ),
        Figure(
            "event loop held up by any operation, at the most",
            "≤ 2 ms",
            f"{seconds(blocked)} at work; {seconds(passed)} passed, {seconds(idle)} when idle",
            blocked <= 2e-3,
        ),
    ]
