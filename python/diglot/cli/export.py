"""`diglot export`: a memory, or a part of it, into a file."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from diglot.cli.arguments import (
    add_command,
    add_filters,
    add_format,
    add_json,
    add_memory,
    columns,
    filters,
)
from diglot.cli.console import count, languages, output, print_json, progress, say, shown, warn
from diglot.cli.import_ import print_problems
from diglot.cli.memory import language_pairs, opened
from diglot.errors import DiglotError, InvalidValueError
from diglot.formats import FORMATS
from diglot.transfer import ExportReport

if TYPE_CHECKING:
    from diglot._memory import SyncMemory

_EPILOG = """\
MEMORY is a store, or a file in any format that `diglot import` reads. FILE is written
beside what is there, and takes its place when it is whole; if its name ends in .gz or
.zst, it is compressed. - is the standard output.

examples:
  diglot export memory.db memory.tmx
  diglot export memory.db korean.csv --from en --to ko
  diglot export memory.db backup.jsonl.zst
  diglot export project.tmx - --format jsonl | jq -r .target
"""

# Pairs of languages that are named where no entry was written.
_PAIRS = 10


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command."""
    parser = add_command(
        subparsers,
        "export",
        run,
        summary="write entries to a file",
        description="Writes the entries of a memory to a file.",
        epilog=_EPILOG,
    )
    add_memory(parser)
    parser.add_argument("file", metavar="FILE", help="the file to write")
    written = [format for format in FORMATS if format != "mo"]
    add_format(parser, "its format, if its name does not tell", written)
    add_filters(parser, "write")
    parser.add_argument(
        "--column",
        dest="columns",
        metavar="FIELD=COLUMN",
        action="append",
        help="CSV and TSV: a field to write and the name of its column; may be given several times",
    )
    parser.add_argument("--delimiter", metavar="C", help="CSV and TSV: between two columns")
    parser.add_argument(
        "--targets", dest="target_path", metavar="FILE", help="text: the file for the translations"
    )
    add_json(parser, "the report")


def run(args: argparse.Namespace) -> int:
    """Exports and reports."""
    if args.file != "-":
        report = _export(args, args.file)
        if args.json:
            print_json(report.to_dict())
        else:
            console = output()
            written = count(report.written, "entry", "entries")
            say(
                f"{shown(report.path)}: {written} as {report.format}, {report.skipped:,} left out",
                console,
            )
            print_problems(console, report.problems, report.skipped, place="entry")
        return 0
    if args.format is None:
        raise DiglotError("give a --format for the standard output")
    if args.json:
        raise DiglotError("the standard output has the entries; --json would add a report to them")
    # A file that cannot be written to its end is not given away in part.
    with TemporaryDirectory(prefix="diglot-") as directory:
        path = Path(directory, "export")
        report = _export(args, str(path))
        with path.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
    if report.problems:
        problem = report.problems[0]
        warn(f"entry {problem.line:,}: {problem.reason} ({report.skipped:,} left out)")
    return 0


def _export(args: argparse.Namespace, path: str) -> ExportReport:
    for file in filter(None, (path, args.target_path)):
        if os.path.realpath(file) == os.path.realpath(args.memory):
            # What the filters do not let through, and the format cannot hold, would be lost.
            raise InvalidValueError(f"{file} is the memory itself; give another file")
    with opened(args.memory) as memory:
        with progress("Writing") as report:
            done = memory.export_file(
                path,
                format=args.format,
                progress=report and (lambda written, total: report(written, total, written)),
                columns=columns(args.columns),
                delimiter=args.delimiter,
                target_path=args.target_path,
                **filters(args),
            )
        if not done.written and not done.skipped:
            warn(f"no entry was written; {args.memory} has {_languages(memory)}")
    return done


def _languages(memory: SyncMemory) -> str:
    """The pairs of languages that there are, those of most entries first."""
    pairs = language_pairs(memory)
    names = [languages(source, target) for source, target, _ in pairs[:_PAIRS]]
    more = f" and {len(pairs) - _PAIRS:,} more pairs" if len(pairs) > _PAIRS else ""
    return f"{', '.join(names)}{more}" if names else "no entries"
