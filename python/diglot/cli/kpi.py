"""`diglot kpi`: how well a dual-language memory answers a labelled set of queries."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from diglot._extras import extra
from diglot._output import check_output
from diglot.cli.arguments import add_command, number
from diglot.cli.console import output, shown
from diglot.dual import SyncDualLanguageMemory
from diglot.errors import DiglotError
from diglot.kpi import Evaluation, evaluate, read_labelled

_EPILOG = """\
RECORDS has one record a line, as
  {"id": "m-1", "text": "保存文件", "text_en": "Save the file", "lang": "zh",
   "translation_source": "human", "translation_status": "verified"}
and EVAL one labelled query a line, as
  {"query": "save file", "relevant": ["m-1"], "kind": "cross-language"}
query_en, kind and lang are not needed. Queries of the kind "unreachable" are expected to
find nothing, and are left out of hit and recovery rates. Both files may be compressed with
gzip or Zstandard.

Each query is asked with the fallback on, with it off, and with the primary pass alone.
docs/kpi.md defines the figures. That a target is missed is no error.

examples:
  diglot kpi records.jsonl eval.jsonl
  diglot kpi records.jsonl eval.jsonl --json kpi.json --plot latency.png
"""


class Target(NamedTuple):
    """What a figure should be."""

    name: str
    figure: str
    most: float | None = None
    least: float | None = None

    def met(self, value: float | None) -> bool | None:
        """Whether a value is as it should be; None where there is no value."""
        if value is None:
            return None
        if self.most is not None:
            return value < self.most
        assert self.least is not None
        return value > self.least

    @property
    def text(self) -> str:
        """The target in words."""
        return f"< {self.most:.0%}" if self.most is not None else f"> {self.least:.0%}"


TARGETS = (
    Target("Fallback-trigger rate", "fallback_rate", most=0.3),
    Target("p95 increase from fallback", "p95_increase", most=0.4),
    Target("Cross-language recovery rate", "recovery_rate_reachable", least=0.25),
    Target("Empty-result reduction", "empty_reduction", least=0.15),
)

_SHARES = (
    ("Hit@1", "hit_rate_1"),
    ("Hit@3", "hit_rate_3"),
    ("Hit@5", "hit_rate_5"),
    ("Fall\nback", "fallback_rate"),
    ("Low\nconf.", "low_confidence_rate"),
    ("Empty", "empty_rate"),
    ("Reco\nvered", "recovery_rate"),
)
_TIMES = (("p50\nms", "p50_ms"), ("p95\nms", "p95_ms"))


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command."""
    parser = add_command(
        subparsers,
        "kpi",
        run,
        summary="measure how well a dual-language memory answers",
        description="Measures how well a dual-language memory answers labelled queries.",
        epilog=_EPILOG,
    )
    parser.add_argument("records", metavar="RECORDS", help="a JSON Lines file of records")
    parser.add_argument("eval", metavar="EVAL", help="a JSON Lines file of labelled queries")
    parser.add_argument("--json", metavar="FILE", help="write all figures there")
    parser.add_argument(
        "--plot",
        metavar="FILE",
        help="draw the latencies with and without fallback there (.png, .svg or .pdf)",
    )
    parser.add_argument(
        "--rounds",
        metavar="N",
        type=number(int, lambda rounds: 1 <= rounds <= 1000, "a whole number from 1 to 1000"),
        default=3,
        help="ask each query so often and take its shortest time (default: %(default)s)",
    )


def run(args: argparse.Namespace) -> int:
    """Measures, prints, and writes what is asked for."""
    plot = _plotter(args.plot)
    for file in filter(None, (args.json, args.plot)):
        check_output(file)
    queries = read_labelled(args.eval)
    memory = SyncDualLanguageMemory.from_jsonl(args.records)
    console = Console(stderr=True)
    with Progress(transient=True, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("Asking", total=len(queries))
        evaluation = evaluate(
            memory,
            queries,
            rounds=args.rounds,
            progress=lambda done: progress.update(task, completed=done),
        )
    figures = evaluation.to_dict()
    targets = [
        {
            "name": target.name,
            "target": target.text,
            "value": figures["all"][target.figure],
            "met": target.met(figures["all"][target.figure]),
        }
        for target in TARGETS
    ]
    records = {group: kpis.to_dict() for group, kpis in memory.kpis().records.items()}
    _print(len(memory), figures, targets, records)
    if args.json is not None:
        report = {"records": records, "evaluation": figures, "targets": targets}
        text = json.dumps(report, ensure_ascii=False, indent=2) + "\n"
        Path(args.json).write_text(text, "utf-8")
    if plot is not None:
        plot(evaluation)
    return 0


def _print(
    count: int,
    figures: dict[str, Any],
    targets: Sequence[dict[str, Any]],
    records: dict[str, dict[str, Any]],
) -> None:
    console = output()
    companions = records["all"]["with_text_en"]
    console.print(
        f"{count:,} records, {companions:,} of them with an English companion; "
        f"{figures['all']['queries']:,} queries",
        highlight=False,
    )
    table = Table()
    for column in ("Target", "Wanted", "Measured", ""):
        table.add_column(column, justify="left" if column in ("Target", "") else "right")
    for target in targets:
        mark = {True: "ok", False: "[bold red]MISSED[/]", None: "no data"}[target["met"]]
        table.add_row(target["name"], target["target"], _percent(target["value"]), mark)
    console.print(table)
    table = Table(box=SIMPLE_HEAD)
    table.add_column("Queries", overflow="fold", min_width=14)
    for column in ("Count", *(name for name, _ in (*_SHARES, *_TIMES))):
        table.add_column(column, justify="right")
    rows = {"all": figures["all"], **figures["kinds"], **figures["languages"]}
    for place, (name, row) in enumerate(rows.items()):
        table.add_row(
            shown(name),
            f"{row['queries']:,}",
            *(_percent(row[key]) for _, key in _SHARES),
            *("–" if row[key] is None else f"{row[key]:.3f}" for _, key in _TIMES),
            end_section=place in (0, len(figures["kinds"])),
        )
    console.print(table)


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"


def _plotter(path: str | None) -> Callable[[Evaluation], None] | None:
    """What draws the latencies; what is missing for it is said before anything is measured."""
    if path is None:
        return None
    if Path(path).suffix not in (".png", ".svg", ".pdf"):
        raise DiglotError(f"--plot {path}: the name must end in .png, .svg or .pdf")
    with extra("plot", "--plot"):
        from diglot.kpi.plot import plot_latencies
    return lambda evaluation: plot_latencies(evaluation, path)
