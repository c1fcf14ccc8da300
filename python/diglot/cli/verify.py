"""`diglot verify`: whether a store or a file is whole."""

from __future__ import annotations

import argparse

from diglot import TranslationMemory
from diglot.cli.arguments import add_command, add_json, add_memory
from diglot.cli.console import count, print_json, progress, say, shown
from diglot.cli.failures import WRONG
from diglot.cli.memory import opened_store
from diglot.errors import FormatError, StoreDamagedError, StoreFormatError
from diglot.stores._files import is_store, known_file

_EPILOG = """\
Of a store: that the database is whole, that what it holds are entries, and that the
index has the same. Of a file: that everything in it can be used; what cannot is listed.

examples:
  diglot verify memory.db
  diglot verify project.tmx
  diglot verify project.tmx --json | jq -r '.problems[] | [.line, .reason] | @tsv'
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command."""
    parser = add_command(
        subparsers,
        "verify",
        run,
        summary="check a store or a file",
        description="Checks that a store is whole, or that everything in a file can be used.",
        epilog=_EPILOG,
    )
    add_memory(parser)
    add_json(parser, "what was found")


def run(args: argparse.Namespace) -> int:
    """Checks, and says what is wrong."""
    # Unknown until something was read.
    entries: int | None = None
    problems: list[dict[str, object]] = []
    more = 0
    try:
        if is_store(args.memory):
            with opened_store(args.memory, read_only=True) as store:
                entries = len(store)
                entries = store.verify()
        else:
            with progress("Reading") as report, known_file(args.memory):
                read = TranslationMemory().import_file(args.memory, dry_run=True, progress=report)
            entries = read.read
            problems = [problem.to_dict() for problem in read.problems]
            more = read.skipped - len(problems)
    except (FormatError, StoreDamagedError, StoreFormatError) as error:
        problems = [{"path": args.memory, "reason": str(error), "code": error.code}]
    if args.json:
        found = {"path": args.memory, "ok": not problems, "entries": entries}
        print_json({**found, "problems": problems, "more_problems": more})
    else:
        for problem in problems:
            unit = f" ({problem['unit']})" if problem.get("unit") else ""
            place = f"line {problem['line']:,}{unit}: " if "line" in problem else ""
            say(shown(f"{place}{problem['reason']}"))
        if more:
            say(f"… and {more:,} more")
        wrong = count(len(problems) + more, "problem", "problems") if problems else "nothing wrong"
        held = "" if entries is None else f"{count(entries, 'entry', 'entries')}, "
        say(f"{shown(args.memory)}: {held}{wrong}")
    return WRONG if problems else 0
