"""`diglot stats`: what a memory holds."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rich.table import Table

from diglot.cli.arguments import add_command, add_json, add_memory
from diglot.cli.console import count, languages, output, print_json, say, shown
from diglot.cli.memory import language_pairs, opened

_EPILOG = """\
MEMORY is a store, or a file in any format that `diglot import` reads.

examples:
  diglot stats memory.db
  diglot stats project.tmx --json | jq '.pairs[] | select(.target_language == "ko")'
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command."""
    parser = add_command(
        subparsers,
        "stats",
        run,
        summary="say what a memory holds",
        description="Counts the entries of a memory by pair of languages, and what they take.",
        epilog=_EPILOG,
    )
    add_memory(parser)
    add_json(parser, "the figures")


def run(args: argparse.Namespace) -> int:
    """Counts and prints."""
    with opened(args.memory) as memory:
        stats = memory.stats()
        ordered = language_pairs(memory)
    on_disk = {file.name: file.stat().st_size for file in _files(args.memory)}
    figures: dict[str, Any] = {
        "entries": stats.entries,
        "pairs": [
            {"source_language": source, "target_language": target, "entries": entries}
            for source, target, entries in ordered
        ],
        "bytes_on_disk": on_disk,
        "rows": stats.rows,
        "segments": stats.segments,
        "live": stats.live,
        "removed": stats.removed,
        "bytes": dict(stats.bytes),
    }
    if args.json:
        print_json(figures)
        return 0
    console = output()
    say(
        f"{count(stats.entries, 'entry', 'entries')}; {_size(sum(on_disk.values()))} on disk, "
        f"{_size(sum(stats.bytes.values()))} in memory",
        console,
    )
    if ordered:
        table = Table()
        table.add_column("Languages")
        table.add_column("Entries", justify="right")
        for source, target, entries in ordered:
            table.add_row(shown(languages(source, target)), f"{entries:,}")
        console.print(table)
    return 0


def _files(path: str) -> list[Path]:
    """A file and, if it is that of a store, those that belong to it."""
    file = Path(path)
    beside = (f"{file.name}-wal", f"{file.name}-snapshot")
    return [file, *(found for name in beside if (found := file.with_name(name)).exists())]


def _size(size: float) -> str:
    units = ("bytes", "KB", "MB", "GB")
    power = 0
    while size >= 1000 and power < 3:
        size, power = size / 1000, power + 1
    return f"{size:,.{min(power, 1)}f} {units[power]}"
