"""`diglot dedupe`: duplicates out of a store."""

from __future__ import annotations

import argparse

from rich.table import Table

from diglot.cli.arguments import add_command, add_json, add_store
from diglot.cli.console import count, languages, output, print_json, say, shown
from diglot.cli.memory import opened_store

_EPILOG = """\
Entries are duplicates if their sources, languages, domains and namespaces are the same,
and with skip their targets, too. One of them stays:
  skip     the first
  replace  the last
  newest   that with the latest date (change date, or else creation date)

examples:
  diglot dedupe memory.db --dry-run
  diglot dedupe memory.db --duplicates newest
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command."""
    parser = add_command(
        subparsers,
        "dedupe",
        run,
        summary="remove duplicates from a store",
        description="Removes entries that are duplicates of others.",
        epilog=_EPILOG,
    )
    add_store(parser)
    parser.add_argument(
        "--duplicates",
        choices=("skip", "replace", "newest"),
        default="skip",
        help="which are duplicates, and which of them stays (default: %(default)s)",
    )
    parser.add_argument("--dry-run", action="store_true", help="only report what would be removed")
    add_json(parser, "the report")


def run(args: argparse.Namespace) -> int:
    """Removes and reports."""
    with opened_store(args.store, read_only=args.dry_run) as store:
        report = store.dedupe(args.duplicates, dry_run=args.dry_run)
    if args.json:
        print_json(report.to_dict())
        return 0
    console = output()
    removed = count(report.removed, "duplicate", "duplicates")
    say(f"{removed} {'would be ' if report.dry_run else ''}removed", console)
    if report.pairs:
        table = Table()
        table.add_column("Languages")
        table.add_column("Removed", justify="right")
        for pair in report.pairs:
            names = languages(pair.source_language, pair.target_language)
            table.add_row(shown(names), f"{pair.removed:,}")
        console.print(table)
    return 0
