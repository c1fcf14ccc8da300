"""`diglot compact`: a store as small as it can be."""

from __future__ import annotations

import argparse
from pathlib import Path

from diglot.cli.arguments import add_command, add_json, add_store
from diglot.cli.console import print_json, say
from diglot.cli.memory import opened_store

_EPILOG = """\
It takes room for another copy of the database meanwhile, and no other process can
change it. Searches go on.

examples:
  diglot compact memory.db
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command."""
    parser = add_command(
        subparsers,
        "compact",
        run,
        summary="make a store small, and fast to open",
        description="Gives back what removed entries took, and makes the next opening fast.",
        epilog=_EPILOG,
    )
    add_store(parser)
    add_json(parser, "the sizes before and after")


def run(args: argparse.Namespace) -> int:
    """Compacts and says what it gave."""
    file = Path(args.store)
    with opened_store(args.store) as store:
        before = file.stat().st_size
        store.compact()
    after = file.stat().st_size
    if args.json:
        print_json({"bytes_before": before, "bytes_after": after})
    else:
        say(f"{before:,} bytes before, {after:,} now")
    return 0
