"""`diglot lookup`: the best matches for a text in a memory kept as JSON Lines."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from rich.table import Table
from rich.text import Text

from diglot import TranslationMemory
from diglot.cli.console import load, output, shown
from diglot.cli.diff import Change, changes

if TYPE_CHECKING:
    from diglot import TranslationMemoryEntry, TranslationMemoryHit

_EPILOG = """\
MEMORY has one entry a line, as
  {"source": "Save", "target": "저장", "source_language": "en", "target_language": "ko"}
source and target are needed; source_language, target_language, domain, namespace,
source_id, created_at, notes and metadata are not. camelCase names are accepted, too.

A score of 1.00 is the same text but for case, width and white space. What differs
from the query is in colour on a terminal and in {+brackets+} elsewhere:
  {+only in the memory+}   [-only in the query-]

examples:
  diglot lookup memory.jsonl "Save the file"
  diglot lookup memory.jsonl.zst "Save the file" --from en --to ko --max-hits 10
  diglot lookup memory.jsonl.gz "Save the file" --min-score 0.7 --json | jq '.hits[0].entry.target'

exit status: 0 done (even if nothing was found), 2 wrong argument, 3 unreadable file,
4 malformed file (the message names its line and field), 130 interrupted
"""

# How to show what only the hit has, and what only the query has: with colours, and without.
_STYLES: dict[Change, str] = {"same": "", "added": "bold green", "removed": "red strike"}
_BRACKETS: dict[Change, str] = {"same": "{}", "added": "{{+{}+}}", "removed": "[-{}-]"}

Number = TypeVar("Number", int, float)


def _number(
    kind: Callable[[str], Number], allowed: Callable[[Number], bool], what: str
) -> Callable[[str], Number]:
    def convert(text: str) -> Number:
        try:
            number = kind(text)
        except ValueError:
            number = None
        if number is None or not allowed(number):
            raise argparse.ArgumentTypeError(f"{text!r} is not {what}")
        return number

    return convert


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "lookup",
        help="find the best matches for a text",
        description="Finds the entries of a memory whose source is most like a text.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("memory", metavar="MEMORY", help="a JSON Lines file, plain, gzip or zstd")
    parser.add_argument("query", metavar="QUERY", help="the text to look up")
    parser.add_argument(
        "--from", dest="source_language", metavar="LANG", help="only from this language"
    )
    parser.add_argument(
        "--to", dest="target_language", metavar="LANG", help="only into this language"
    )
    parser.add_argument("--domain", metavar="D", help="only of this domain")
    parser.add_argument("--namespace", metavar="N", help="only of this namespace")
    parser.add_argument(
        "--max-hits",
        metavar="K",
        type=_number(int, lambda number: number >= 1, "a whole number from 1"),
        default=5,
        help="show at most this many (default: %(default)s)",
    )
    parser.add_argument(
        "--min-score",
        metavar="S",
        type=_number(float, lambda number: 0 <= number <= 1, "a number from 0 to 1"),
        default=0.2,
        help="the lowest score to show (default: %(default)s)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Looks up and prints."""
    options = {
        "source_language": args.source_language,
        "target_language": args.target_language,
        "domain": args.domain,
        "namespace": args.namespace,
        "max_hits": args.max_hits,
        "min_score": args.min_score,
    }
    # What is wrong with the arguments is said before a large memory is read.
    TranslationMemory().search(args.query, **options)
    memory = load(args.memory)
    hits = memory.search(args.query, **options)
    if args.json:
        _print_json(args.query, hits)
    else:
        _print_table(args.query, hits, len(memory))
    return 0


def _print_json(query: str, hits: Sequence[TranslationMemoryHit]) -> None:
    found = {"query": query, "hits": [hit.to_dict() for hit in hits]}
    # JSON is UTF-8, whatever the terminal is.
    sys.stdout.buffer.write(json.dumps(found, ensure_ascii=False, indent=2).encode() + b"\n")


def _print_table(query: str, hits: Sequence[TranslationMemoryHit], entries: int) -> None:
    console = output()
    if not hits:
        console.print(f"No matches among {entries:,} entries.", highlight=False)
        return
    table = Table(show_lines=True)
    table.add_column("Score", justify="right", no_wrap=True)
    table.add_column("Source", overflow="fold", ratio=1)
    table.add_column("Target", overflow="fold", ratio=1)
    table.add_column("Where", overflow="fold")
    colours = console.color_system is not None and not console.no_color
    for hit in hits:
        entry = hit.entry
        table.add_row(
            f"{hit.score:.2f}",
            _marked(query, entry.source, colours),
            Text(shown(entry.target)),
            _where(entry),
        )
    console.print(table)


def _marked(query: str, source: str, colours: bool) -> Text:
    """The source of a hit, and what differs from the query."""
    text = Text()
    for change, part in changes(query, source):
        if colours:
            text.append(shown(part), _STYLES[change])
        else:
            text.append(_BRACKETS[change].format(shown(part)))
    return text


def _where(entry: TranslationMemoryEntry) -> Text:
    """What an entry says of itself, one thing a line."""
    languages = f"{entry.source_language or '?'} → {entry.target_language or '?'}"
    parts = [None if languages == "? → ?" else languages, entry.domain, entry.namespace]
    return Text("\n".join(shown(part) for part in parts if part))
