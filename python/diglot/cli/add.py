"""`diglot add`: one entry into a store."""

from __future__ import annotations

import argparse
from datetime import datetime, timezone

from diglot import TranslationMemoryEntry
from diglot.cli.arguments import add_command, add_json, add_store
from diglot.cli.console import print_json, say
from diglot.cli.memory import opened_store

_EPILOG = """\
STORE is made if it is not there. The entry can be found by all processes that have the
store open when the command returns, and outlives a power cut. `diglot import` adds many.

examples:
  diglot add memory.db "Save the file" "파일 저장" --from en --to ko
  diglot add memory.db "Open" "열기" --from en --to ko --domain app --notes "menu item"
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command."""
    parser = add_command(
        subparsers,
        "add",
        run,
        summary="add one entry to a store",
        description="Adds a text with its translation to a store, and prints the id it got.",
        epilog=_EPILOG,
    )
    add_store(parser, "the store, made if need be")
    parser.add_argument("source", metavar="SOURCE", help="the text")
    parser.add_argument("target", metavar="TARGET", help="its translation")
    parser.add_argument(
        "--from", dest="source_language", metavar="LANG", help="the text's language"
    )
    parser.add_argument("--to", dest="target_language", metavar="LANG", help="the translation's")
    parser.add_argument("--domain", metavar="D", help="subject field")
    parser.add_argument("--namespace", metavar="N", help="tenant, project or collection")
    parser.add_argument("--source-id", metavar="ID", help="where the pair came from")
    parser.add_argument("--notes", metavar="TEXT", help="a remark for people")
    add_json(parser, "the id and the entry")


def run(args: argparse.Namespace) -> int:
    """Adds and prints the id."""
    entry = TranslationMemoryEntry(
        args.source,
        args.target,
        source_language=args.source_language,
        target_language=args.target_language,
        domain=args.domain,
        namespace=args.namespace,
        source_id=args.source_id,
        created_at=datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        notes=args.notes,
    )
    with opened_store(args.store, create=True) as store:
        id = store.add(entry)
    if args.json:
        print_json({"id": id, "entry": entry.to_dict()})
    else:
        say(str(id))
    return 0
