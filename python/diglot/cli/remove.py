"""`diglot remove`: entries out of a store."""

from __future__ import annotations

import argparse

from diglot.cli.arguments import add_command, add_filters, add_json, add_store, filters
from diglot.cli.console import count, print_json, say
from diglot.cli.memory import opened_store
from diglot.errors import InvalidValueError
from diglot.store import SearchOptions

_EPILOG = """\
`diglot lookup STORE TEXT --json` shows the ids of entries. Either all that are asked for
are removed or, if there is no entry with one of the ids, none.

examples:
  diglot remove memory.db 17 18
  diglot remove memory.db all --namespace old-website --dry-run
  diglot remove memory.db all --namespace old-website --to ko
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command."""
    parser = add_command(
        subparsers,
        "remove",
        run,
        summary="remove entries from a store",
        description="Removes the entries with some ids, or all of a language, domain or namespace.",
        epilog=_EPILOG,
    )
    add_store(parser)
    parser.add_argument(
        "ids",
        metavar="ID",
        nargs="+",
        help="the id of an entry; or all, for all entries that the filters let through",
    )
    add_filters(parser, "remove")
    parser.add_argument("--dry-run", action="store_true", help="only say how many it would be")
    add_json(parser, "how many were removed")


def run(args: argparse.Namespace) -> int:
    """Removes and says how many."""
    given = filters(args)
    filtered = any(value is not None for value in given.values())
    if args.ids == ["all"]:
        if not filtered:
            raise InvalidValueError("all: say of what, with --from, --to, --domain or --namespace")
    elif filtered:
        raise InvalidValueError("filters go with all, not with ids")
    else:
        ids = list(dict.fromkeys(map(_id, args.ids)))
    with opened_store(args.store, read_only=args.dry_run) as store:
        if filtered:
            wanted = SearchOptions(**given, max_hits=1, min_score=0.0)
            ids = [id for id, entry in store.items() if wanted.matches(entry)]
        else:
            for id in ids:
                store.get(id)
        if not args.dry_run:
            store.remove_many(ids)
    if args.json:
        print_json({"removed": len(ids), "dry_run": args.dry_run})
    else:
        removed = count(len(ids), "entry", "entries")
        say(f"{removed} {'would be ' if args.dry_run else ''}removed")
    return 0


def _id(text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise InvalidValueError(f"{text!r} is not an id: a whole number from 0, or all")
    return int(text)
