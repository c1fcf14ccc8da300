"""The page that a run writes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from benches.figures import figures
from benches.scale import SCALES
from benches.units import megabytes, seconds

__all__ = ["page"]

_PEERS = {
    "diglot": "diglot `search`, over all entries",
    "rapidfuzz_extract": "rapidfuzz `process.extract`, ratio",
    "tantivy_trigrams": "tantivy, trigrams, 50 best by BM25 scored anew",
    "sqlite_trigrams": "SQLite FTS5, trigrams, 50 best by BM25 scored anew",
    "exhaustive": "exhaustive scan in Rust",
    "plain_python": "exhaustive scan in plain Python",
}


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(head)
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *map(list, rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _times(times: dict[str, float]) -> list[str]:
    return [seconds(times[share]) for share in ("p50", "p95", "p99")]


def page(run: dict[str, Any]) -> str:
    """A run as Markdown: what each measurement found, and the figures to reach if all were made."""
    results = run["results"]
    sections = {
        name: section(results[name]) for name, section in _SECTIONS.items() if name in results
    }
    if run["scale"] == "full" and results.keys() == _SECTIONS.keys():
        sections = {"figures": _figures(results)} | sections
    machine = ", ".join(
        f"{name} {value}" for name, value in run["machine"].items() if name != "date"
    )
    head = f"""# Benchmarks

Measured on {run["machine"]["date"]} by `python -m benches`, which wrote this page and, with all
numbers, `benchmarks.json`. {machine[0].upper()}{machine[1:]}.

Searches go through the public API, on one thread, with k = 5 and `min_score` 0.2, each query in a
new string. Where nothing else is said the memory holds all of `{SCALES[run["scale"]].corpus}`.
Answers are compared with those of an exhaustive scan, and a wrong one fails the measurement."""
    return "\n\n".join([head, *sections.values()]) + "\n"


def _figures(results: dict[str, Any]) -> str:
    rows = [
        [figure.what, figure.target, figure.measured, "yes" if figure.met else "**no**"]
        for figure in figures(results)
    ]
    return "## Figures to reach\n\n" + _table(["what", "target", "measured", "met"], rows)


def _latency(result: dict[str, Any]) -> str:
    rows = [
        [name, f"{times['count']:,}", *_times(times), *_times(result["filtered"][name])]
        for name, times in result["unfiltered"].items()
    ]
    head = [
        "queries",
        "timed",
        "p50",
        "p95",
        "p99",
        "p50, languages",
        "p95, languages",
        "p99, languages",
    ]
    text = f"{result['entries']:,} entries. The last columns are with both languages."
    return f"## Latency\n\n{text}\n\n" + _table(head, rows)


def _exact(result: dict[str, Any]) -> str:
    return "## Exact duplicates, one hit\n\n" + _table(
        ["queries", "p50", "p95", "p99"], [["exact", *_times(result)]]
    )


def _growth(result: dict[str, Any]) -> str:
    rows = [
        [
            f"{int(rows):,}",
            *_times(times["search"]),
            seconds(times["worst"]["median"]),
            f"“{times['worst']['query']}”",
        ]
        for rows, times in result.items()
    ]
    text = (
        "Rows beyond those of the corpus are real sources with some words replaced, from a fixed "
        "seed."
    )
    head = ["distinct rows", "p50", "p95", "p99", "worst short query", "which"]
    return f"## Growth\n\n{text}\n\n" + _table(head, rows)


def _peers(result: dict[str, Any]) -> str:
    rows = []
    for name, peer in result.items():
        note = (
            ""
            if peer["scaled by"] == 1
            else f", times stretched {peer['scaled by']:.0f}-fold from fewer rows"
        )
        ratio = f"{peer['times diglot']:,.0f}" if "times diglot" in peer else "1"
        times = _times(peer["search"])[:2]
        rows.append(
            [
                _PEERS[name] + note,
                f"{peer['search']['count']:,}",
                *times,
                ratio,
                f"{peer['share']:.1%}",
            ]
        )
    text = (
        "The others search the distinct normalized sources, for the same queries until their time "
        "is up. The last column is how much of the true five best rows they find, rows of equal "
        "scores being as good as each other."
    )
    head = ["search", "queries", "p50", "p95", "p50, times diglot’s", "true top five"]
    return f"## Beside what else there is\n\n{text}\n\n" + _table(head, rows)


def _threads(result: dict[str, Any]) -> str:
    rows = [
        [name, f"{rates['1']:,.0f}", f"{rates['2']:,.0f}", f"{rates['2'] / rates['1']:.2f}"]
        for name, rates in result.items()
    ]
    return "## Searches a second\n\n" + _table(
        ["way", "one thread", "two threads", "times one"], rows
    )


def _adding(result: dict[str, Any]) -> str:
    names = ("searches alone", "searches beside adds", "adds")
    rows = [[name, *_times(result[name]), seconds(result[name]["max"])] for name in names]
    text = (
        f"One thread searches while another adds {result['adds a second']:,.0f} entries a second."
    )
    return f"## Adding while searching\n\n{text}\n\n" + _table(
        ["what", "p50", "p95", "p99", "largest"], rows
    )


def _loading(result: dict[str, Any]) -> str:
    text = (
        f"{result['entries']:,} entries, {result['rows']:,} distinct rows, loaded in "
        f"{seconds(result['seconds'])}. The process had {megabytes(result['resident before'])} "
        f"before, {megabytes(result['resident'])} after, {megabytes(result['peak'])} at its peak. "
        f"The index takes {result['index bytes a row']:.0f} bytes a row."
    )
    rows = [[name.replace("_", " "), megabytes(size)] for name, size in result["bytes"].items()]
    return f"## Loading and memory\n\n{text}\n\n" + _table(["part", "size"], rows)


def _opening(result: dict[str, Any]) -> str:
    text = (
        f"A snapshot file of {result['entries']:,} entries has {megabytes(result['bytes'])}. "
        f"Saving it until it is on the disk took {seconds(result['saving'])}. Opening it from the "
        f"system’s cache to the first answer took {seconds(result['opening'])}, in which the "
        f"processors worked for {seconds(result['processor'])}."
    )
    return f"## Snapshot files\n\n{text}"


def _storing(result: dict[str, Any]) -> str:
    text = (
        f"`add_many` wrote {result['entries']:,} entries at {result['entries a second']:,.0f} a "
        f"second, {result['entries a second of work']:,.0f} in a second of the processors’ time; "
        f"in batches of 1,000, {result['batches']:,.0f} in a second of that. "
        f"The database has {megabytes(result['bytes'])}, its snapshot "
        f"{megabytes(result['snapshot bytes'])}. Opening it to the first answer took "
        f"{seconds(result['opening'])}, in which the processors worked for "
        f"{seconds(result['opening, at work'])}; without the snapshot "
        f"{seconds(result['opening without snapshot'])}."
    )
    searches = [[name, *_times(times)] for name, times in result["searches"].items()]
    adds = [[name, f"{rate:,.0f}"] for name, rate in result["single"].items()]
    return "\n\n".join(
        [
            "## A memory in SQLite",
            text,
            _table(["searches of a memory", "p50", "p95", "p99"], searches),
            "Entries added one by one, each on the disk before the next, and rows added to bare "
            "SQLite in the same way, for what the disk allows:",
            _table(["adding from", "entries a second"], adds),
        ]
    )


def _tmx(result: dict[str, Any]) -> str:
    text = (
        f"{result['units']:,} entries, one unit each, are a TMX file of "
        f"{megabytes(result['bytes'])}. In a second of one core’s time {result['exported']:,.0f} "
        f"were written, {result['imported']:,.0f} read until they could be found in a memory, and "
        f"{result['stored']:,.0f} in a store in SQLite, where they were on the disk. The table is "
        f"of a file of {result['part']:,} units."
    )
    names = {
        "diglot": "diglot, to a memory that can be searched",
        "diglot_objects": "diglot, to entries in Python",
        "lxml_iterparse": "lxml `iterparse`, texts and languages only",
        "translate_toolkit": "translate-toolkit, texts only",
    }
    rows = [[names[name], f"{rate:,.0f}"] for name, rate in result["readers"].items()]
    return f"## TMX\n\n{text}\n\n" + _table(["reader", "units a second"], rows)


def _serving(result: dict[str, Any]) -> str:
    text = (
        "`diglot serve` answers lookups with both languages over connections that are kept; beside "
        "it, the same server with a handler that reads and checks the request and then gives an "
        "answer that is always the same. The asking process is on the same machine. Connections "
        "that never pause wait for each other; at a fixed rate, a time begins when the request was "
        "due."
    )
    rows = [
        [name, f"{times['requests a second']:,.0f}", *_times(times)]
        for name, times in result.items()
    ]
    return f"## Serving\n\n{text}\n\n" + _table(
        ["what", "requests a second", "p50", "p95", "p99"], rows
    )


def _ready_entries(result: dict[str, Any]) -> str:
    rate = f"{result['entries a second']:,.0f}"
    text = f"`add_many` took {result['entries']:,} entries at {rate} a second."
    return f"## Adding entries that are ready\n\n{text}"


def _event_loop(result: dict[str, Any]) -> str:
    rows = [
        [
            name,
            f"{gaps['turns']:,}",
            f"{gaps['too long']:,}",
            seconds(gaps["passed"]),
            seconds(gaps["worked"]),
        ]
        for name, gaps in result.items()
    ]
    text = (
        "How long a task that does nothing waits for its next turn while an operation runs beside "
        "it. The last column counts only the time that the loop's thread was on a processor."
    )
    head = ["operation", "turns", "over 2 ms", "longest", "longest, at work"]
    return f"## The event loop\n\n{text}\n\n" + _table(head, rows)


def _startup(result: dict[str, Any]) -> str:
    text = f"`import diglot` took {seconds(result['seconds'])}, the median of {result['starts']}"
    return f"## Start\n\n{text} processes."


_SECTIONS = {
    "latency": _latency,
    "exact": _exact,
    "growth": _growth,
    "peers": _peers,
    "threads": _threads,
    "adding": _adding,
    "loading": _loading,
    "opening": _opening,
    "storing": _storing,
    "tmx": _tmx,
    "serving": _serving,
    "ready_entries": _ready_entries,
    "event_loop": _event_loop,
    "startup": _startup,
}
