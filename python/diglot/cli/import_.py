"""`diglot import`: files into a store."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from pathlib import Path

from rich.console import Console
from rich.table import Table

from diglot import TranslationMemory
from diglot._memory import SyncMemory
from diglot.cli.arguments import add_command, add_format, add_json, add_store, columns
from diglot.cli.console import (
    count,
    languages,
    output,
    print_json_lines,
    progress,
    say,
    shown,
    standard_input,
    warn,
)
from diglot.cli.failures import FAILURES, USAGE, detail, failure
from diglot.cli.memory import opened_store
from diglot.formats import FORMATS, ReadOptions, SkippedUnit, read
from diglot.transfer import ImportReport

_EPILOG = """\
STORE is made if it is not there and one FILE at least is in a format that is known.
Each FILE is added whole or, after an error, not at all; what cannot be used of it is
left out and listed. A file may be compressed with gzip or Zstandard. - is the standard
input.

formats: {formats}
The format is what the name or the first bytes of a file tell, or --format.
docs/formats.md says what of each format becomes which field of an entry.

duplicates (same source, languages, domain and namespace):
  keep     add all the same
  skip     leave out what is there with the same target
  replace  put it in the place of what is there
  newest   do so if it has a later date (change date, or else creation date)

examples:
  diglot import memory.db project.tmx
  diglot import memory.db locale/*.po --namespace website --duplicates newest
  diglot import memory.db terms.csv --from en --to ko --column source=English --column target=3
  diglot import memory.db corpus.en --format text --targets corpus.ko --from en --to ko
  diglot import memory.db unknown.tmx --dry-run --json | jq .problems
"""

# Reasons that are printed of each file, and places of each.
_REASONS = 10
_PLACES = 3


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command."""
    parser = add_command(
        subparsers,
        "import",
        run,
        summary="add the entries of files to a store",
        description="Adds the entries of files to a store, and reports what became of them.",
        epilog=_EPILOG.format(formats=", ".join(FORMATS)),
    )
    add_store(parser, "the store, made if need be")
    parser.add_argument("files", metavar="FILE", nargs="+", help="a file of entries")
    add_format(parser, "the format of the files")
    parser.add_argument(
        "--from", dest="source_language", metavar="LANG", help="the sources' language"
    )
    parser.add_argument(
        "--to",
        dest="target_languages",
        metavar="LANG",
        action="append",
        help="the targets' language; may be given several times. Of files that name languages only "
        "what is in these is taken",
    )
    parser.add_argument("--domain", metavar="D", help="give all entries this domain")
    parser.add_argument("--namespace", metavar="N", help="give all entries this namespace")
    parser.add_argument(
        "--duplicates",
        choices=("keep", "skip", "replace", "newest"),
        default="keep",
        help="what to do with duplicates (default: %(default)s)",
    )
    parser.add_argument(
        "--strict", action="store_true", help="take nothing of a file that cannot be used entirely"
    )
    parser.add_argument("--dry-run", action="store_true", help="only report what would be done")
    tables = parser.add_argument_group("tables (CSV, TSV)")
    tables.add_argument(
        "--column",
        dest="columns",
        metavar="FIELD=COLUMN",
        action="append",
        help="the name or the number of the column that has a field, such as source=English; "
        "may be given several times",
    )
    tables.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        help="whether the first row has the names of the columns",
    )
    tables.add_argument("--delimiter", metavar="C", help="the character between two columns")
    tables.add_argument(
        "--quoting",
        action=argparse.BooleanOptionalAction,
        help="whether quotation marks around a cell are no part of its text",
    )
    tables.add_argument(
        "--escape", metavar="C", help="the character before a quotation mark within others"
    )
    others = parser.add_argument_group("other formats")
    others.add_argument("--encoding", metavar="E", help="the encoding of tables and text")
    others.add_argument(
        "--targets", dest="target_path", metavar="FILE", help="text: the file with the translations"
    )
    others.add_argument("--fuzzy", action="store_true", default=None, help="PO: fuzzy ones, too")
    others.add_argument(
        "--obsolete", action="store_true", default=None, help="PO: obsolete ones, too"
    )
    add_json(parser, "the report of each file, a line each,")


def run(args: argparse.Namespace) -> int:
    """Imports and reports."""
    options: ReadOptions = {name: getattr(args, name) for name in ReadOptions.__annotations__}  # type: ignore[assignment]
    if named := columns(args.columns):
        options["columns"] = {
            field: int(column) if column.isdecimal() else column for field, column in named.items()
        }
    status = 0
    if "-" in args.files:
        # Where it is closed, a file that is opened later has its number.
        standard_input()
    # Of nothing that can be read, no store is made.
    dry_run = args.dry_run or not (
        Path(args.store).exists()
        or any(_can_be_read(file, args.format, options) for file in args.files)
    )
    with _store(args.store, dry_run) as store:
        for file in args.files:
            try:
                with progress(shown(Path(file).name), "Adding") as report:
                    done = store.import_file(
                        "/dev/stdin" if file == "-" else file,
                        format=args.format,
                        domain=args.domain,
                        namespace=args.namespace,
                        duplicates=args.duplicates,
                        strict=args.strict,
                        dry_run=dry_run,
                        progress=report,
                        **options,
                    )
            except FAILURES as error:
                failed, message = failure(error)
                if failed == USAGE:
                    # What is wrong with an option may be so for this file alone.
                    message = f"{file}: {message}"
                # The others are none the worse for it.
                status = status or failed
                warn(message)
                if args.json:
                    print_json_lines([{"path": file, "error": detail(error, message)}])
                continue
            if args.json:
                print_json_lines([done.to_dict()])
            else:
                _print(output(), done)
    return status


def _can_be_read(file: str, format: str | None, options: ReadOptions) -> bool:
    """Whether a file is there and in a format that is known; a pipe is not looked into, as it can
    be read only once.
    """
    path = Path(file)
    try:
        if file != "-" and not path.is_fifo() and not path.is_char_device():
            read(file, format=format, **options)
    except FAILURES:
        return False
    return True


def _store(path: str, dry_run: bool) -> AbstractContextManager[SyncMemory]:
    if dry_run and not Path(path).exists():
        # Nothing is made; what is not there is as good as empty.
        return nullcontext(TranslationMemory())
    return opened_store(path, create=True, read_only=dry_run)


def _print(console: Console, report: ImportReport) -> None:
    units, entries = count(report.units, "unit", "units"), count(report.read, "entry", "entries")
    read = (
        f"{shown(report.path)}: {units} of {report.format}, {entries}, {report.skipped:,} left out"
    )
    say(f"{read}; a dry run" if report.dry_run else read, console)
    if report.pairs:
        console.print(pairs_table(report))
    if any(None in (pair.source_language, pair.target_language) for pair in report.pairs):
        say("  the file does not say all languages; --from and --to do", console)
    print_problems(console, report.problems, report.skipped)


def pairs_table(report: ImportReport) -> Table:
    """What became of the entries of each pair of languages."""
    table = Table()
    table.add_column("Languages")
    all_counts = ("added", "duplicate", "replaced", "removed")
    counts = [name for name in all_counts if name == "added" or getattr(report, name)]
    for name in counts:
        table.add_column(name.capitalize(), justify="right")
    for pair in report.pairs:
        names = languages(pair.source_language, pair.target_language)
        table.add_row(shown(names), *(f"{getattr(pair, name):,}" for name in counts))
    if len(report.pairs) > 1:
        table.add_section()
        table.add_row("all", *(f"{getattr(report, name):,}" for name in counts))
    return table


def print_problems(
    console: Console, problems: Sequence[SkippedUnit], skipped: int, *, place: str = "line"
) -> None:
    """Why something was left out, and where that is: what `place` is the word for."""
    places: dict[str, list[str]] = {}
    for problem in problems:
        unit = f" ({problem.unit})" if problem.unit else ""
        places.setdefault(problem.reason, []).append(f"{place} {problem.line:,}{unit}")
    for reason, lines in islice(places.items(), _REASONS):
        say(f"  {len(lines):,} × {shown(reason)}", console)
        more = ", …" if len(lines) > _PLACES else ""
        say(f"      {shown(', '.join(lines[:_PLACES]))}{more}", console)
    listed = sum(len(lines) for lines in islice(places.values(), _REASONS))
    if skipped > listed:
        say(f"  … and {skipped - listed:,} more", console)
