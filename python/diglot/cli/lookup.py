"""`diglot lookup`: the best matches for texts."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from diglot import TranslationMemory, normalize
from diglot.cli.arguments import add_command, add_filters, add_json, add_memory, filters, number
from diglot.cli.console import (
    count,
    languages,
    output,
    print_json,
    print_json_lines,
    shown,
    standard_input,
    warn,
)
from diglot.cli.diff import Change, changes
from diglot.cli.failures import FORMAT, detail
from diglot.cli.memory import opened
from diglot.errors import FormatError, InvalidValueError

if TYPE_CHECKING:
    from rich.console import Console

    from diglot import TranslationMemoryEntry, TranslationMemoryHit
    from diglot._memory import SyncMemory

_EPILOG = """\
MEMORY is a store, or a file in any format that `diglot import` reads. A large file is
better imported into a store once: looking up in a store begins at once.

--from and --to are languages as the memory has them, whatever their case: en does not
find en-US.

A score of 1.00 is the same text but for case, width and white space. What differs
from the query is in colour on a terminal and in {+brackets+} elsewhere:
  {+only in the memory+}   [-only in the query-]

With - or --lines, every line is a query, and every line of the output its answer:
  {"query": "Save", "hits": [{"id": 7, "score": 0.8, "entry": {"source": "Save it", …}}]}
A line that is not UTF-8 has an "error" in place of "hits", and in the end the status is 4.
Answers come as soon as there are queries, so that a program can ask and wait for them.

examples:
  diglot lookup memory.db "Save the file"
  diglot lookup project.tmx "Save the file" --from en --to ko --max-hits 10
  diglot lookup memory.db "Save the file" --min-score 0.7 --json | jq '.hits[0].entry.target'
  diglot lookup memory.db - < segments.txt > matches.jsonl
  diglot lookup memory.db --lines segments.txt > matches.jsonl
"""

# How to show what only the hit has, and what only the query has: with colours, and without.
_STYLES: dict[Change, str] = {"same": "", "added": "bold green", "removed": "red strike"}
_BRACKETS: dict[Change, str] = {"same": "{}", "added": "{{+{}+}}", "removed": "[-{}-]"}

_BLOCK = 1 << 16
_LONGEST_LINE = 1 << 24


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command."""
    parser = add_command(
        subparsers,
        "lookup",
        run,
        summary="find the best matches for texts",
        description="Finds the entries of a memory whose sources are most like a text.",
        epilog=_EPILOG,
    )
    add_memory(parser)
    parser.add_argument(
        "queries",
        metavar="QUERY",
        nargs="+",
        help="a text to look up; - for all lines of the standard input",
    )
    parser.add_argument(
        "--lines", action="store_true", help="QUERY is a file: look all lines of it up"
    )
    add_filters(parser, "find")
    parser.add_argument(
        "--max-hits",
        metavar="K",
        type=number(int, lambda number: number >= 1, "a whole number from 1"),
        default=5,
        help="show at most this many for each query (default: %(default)s)",
    )
    parser.add_argument(
        "--min-score",
        metavar="S",
        type=number(float, lambda number: 0 <= number <= 1, "a number from 0 to 1"),
        default=0.2,
        help="the lowest score to show (default: %(default)s)",
    )
    add_json(parser, "the hits")


def run(args: argparse.Namespace) -> int:
    """Looks up and prints."""
    options = {**filters(args), "max_hits": args.max_hits, "min_score": args.min_score}
    if args.lines or args.queries == ["-"]:
        if len(args.queries) > 1:
            raise InvalidValueError("--lines: give one file")
        name = args.queries[0]
        file = standard_input() if name == "-" else os.open(name, os.O_RDONLY)
        with opened(args.memory) as memory:
            return _answer(file, memory, options)
    if "-" in args.queries:
        raise InvalidValueError(
            "-: it goes alone, as it stands for all lines of the standard input"
        )
    # What is wrong with the arguments is said before a large memory is read.
    for query in args.queries:
        TranslationMemory().search(query, **options)
    with opened(args.memory) as memory:
        for query, hits in zip(
            args.queries, memory.search_many(args.queries, **options), strict=True
        ):
            if args.json and len(args.queries) == 1:
                print_json(_found(query, hits))
            elif args.json:
                print_json_lines([_found(query, hits)])
            else:
                console = output()
                if len(args.queries) > 1:
                    console.print(Text(shown(query), "bold"))
                _print_table(console, query, hits, len(memory))
    return 0


def _answer(file: int, memory: SyncMemory, options: dict[str, Any]) -> int:
    """Answers the lines of a file as they come, one line of JSON each. Returns the exit status:
    whether a line is not UTF-8, which is said when all are answered.

    Raises:
        FormatError: A line is too long.
    """
    first: FormatError | None = None
    wrong = 0
    for lines in _lines(file):
        # A line without a text has no hits, and an answer all the same.
        asked = [query for query, error in lines if not error and normalize(query)]
        found = iter(memory.search_many(asked, **options))
        print_json_lines(
            {"query": query, "error": detail(error, str(error))}
            if error
            else _found(query, next(found) if normalize(query) else [])
            for query, error in lines
        )
        errors = [error for _, error in lines if error]
        first = first or next(iter(errors), None)
        wrong += len(errors)
    if first is None:
        return 0
    more = f" ({count(wrong - 1, 'more line', 'more lines')})" if wrong > 1 else ""
    warn(f"{first}{more}")
    return FORMAT


def _lines(file: int) -> Iterator[list[tuple[str, FormatError | None]]]:
    """The lines of a file, each with what is wrong with it: as many at a time as are there, so that
    none waits for the next.
    """
    number = 0
    rest = b""
    while True:
        block = os.read(file, _BLOCK)
        *lines, rest = (rest + block).split(b"\n")
        if not block and rest:
            lines, rest = [rest], b""
        texts = []
        for line in lines:
            number += 1
            texts.append(_text(line, number))
        if texts:
            yield texts
        if len(rest) > _LONGEST_LINE:
            raise FormatError(f"line {number + 1} has more than {_LONGEST_LINE:,} bytes")
        if not block:
            return


def _text(line: bytes, number: int) -> tuple[str, FormatError | None]:
    encoding = "utf-8-sig" if number == 1 else "utf-8"
    try:
        return line.decode(encoding).removesuffix("\r"), None
    except UnicodeDecodeError as error:
        message = f"line {number} is not UTF-8: {error.reason}"
        return line.decode(encoding, "replace").removesuffix("\r"), FormatError(
            message, line=number
        )


def _found(query: str, hits: Sequence[TranslationMemoryHit]) -> dict[str, Any]:
    return {"query": query, "hits": [hit.to_dict() for hit in hits]}


def _print_table(
    console: Console, query: str, hits: Sequence[TranslationMemoryHit], entries: int
) -> None:
    if not hits:
        console.print(f"No matches among {count(entries, 'entry', 'entries')}.")
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
    pair = languages(entry.source_language, entry.target_language)
    parts = [None if pair == "? → ?" else pair, entry.domain, entry.namespace]
    return Text("\n".join(shown(part) for part in parts if part))
