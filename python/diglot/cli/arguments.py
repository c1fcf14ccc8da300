"""Arguments that several commands have, and how their help looks."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from diglot._addresses import is_address
from diglot.errors import InvalidValueError
from diglot.formats import FORMATS

EXIT_STATUS = """\
exit status: 0 done, 1 verify found something wrong, 2 wrong argument, 3 a file cannot
be read or written, 4 a file does not hold what it should, 5 packages are missing,
6 a store cannot be used, 130 interrupted
"""

_HOST_NAME = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*")

Number = TypeVar("Number", int, float)


def add_command(
    subparsers: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    run: Callable[[argparse.Namespace], int],
    *,
    summary: str,
    description: str,
    epilog: str,
) -> argparse.ArgumentParser:
    """A command, whose `run` returns the exit status.

    Args:
        summary: What `diglot --help` says of it.
        description: What its own help begins with.
        epilog: What that ends with, with examples; the exit status is added.
    """
    parser = subparsers.add_parser(
        name,
        help=summary,
        description=description,
        epilog=f"{epilog}\n{EXIT_STATUS}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    return parser


def add_filters(parser: argparse.ArgumentParser, what: str) -> None:
    """Adds the arguments that say which entries are meant. `what` is done with them."""
    parser.add_argument(
        "--from", dest="source_language", metavar="LANG", help=f"{what} only from this language"
    )
    parser.add_argument(
        "--to", dest="target_language", metavar="LANG", help=f"{what} only into this language"
    )
    parser.add_argument("--domain", metavar="D", help=f"{what} only of this domain")
    parser.add_argument("--namespace", metavar="N", help=f"{what} only of this namespace")


def filters(args: argparse.Namespace) -> dict[str, Any]:
    """What `add_filters` was given, as keywords of `search` and the like."""
    names = ("source_language", "target_language", "domain", "namespace")
    return {name: getattr(args, name) for name in names}


def add_memory(parser: argparse.ArgumentParser) -> None:
    """Adds MEMORY, a store or a file."""
    parser.add_argument(
        "memory", metavar="MEMORY", type=no_stream, help="a store or a file of entries"
    )


def add_store(parser: argparse.ArgumentParser, what: str = "the store") -> None:
    """Adds STORE, of which the help says `what` it is."""
    parser.add_argument("store", metavar="STORE", type=no_stream, help=what)


def add_format(
    parser: argparse.ArgumentParser, what: str, formats: Iterable[str] = FORMATS
) -> None:
    """Adds `--format`, one of `formats`, of which the help says `what` it is."""
    parser.add_argument("--format", metavar="F", choices=tuple(formats), help=what)


def add_json(parser: argparse.ArgumentParser, what: str) -> None:
    """Adds `--json`. `what` is printed then."""
    parser.add_argument("--json", action="store_true", help=f"print {what} as JSON")


def number(
    kind: Callable[[str], Number], allowed: Callable[[Number], bool], what: str
) -> Callable[[str], Number]:
    """The type of an argument that is a number."""

    def convert(text: str) -> Number:
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not allowed(value):
            raise argparse.ArgumentTypeError(f"{text!r} is not {what}")
        return value

    return convert


port = number(int, lambda value: 0 <= value <= 65_535, "a port, from 0 to 65,535")
"""The type of an argument that is a port."""


def add_allowed_host(parser: argparse.ArgumentParser, more: str) -> None:
    """Adds `--allow-host`, of which the help says `more`."""
    parser.add_argument(
        "--allow-host",
        metavar="NAME",
        type=_host,
        action="append",
        default=[],
        help=f"a name by which clients call it, {more}; can be given many times",
    )


def _host(text: str) -> str:
    """A host as `Host` has it, without a port."""
    host = text.lower().removeprefix("[").removesuffix("]")
    if not is_address(host) and not _HOST_NAME.fullmatch(host):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not the name of a host, such as tm.example.org, without scheme and port"
        )
    return host


def no_stream(text: str) -> str:
    """The type of an argument that is a store or a memory, which no stream can be.

    Raises:
        ArgumentTypeError: It is -, as which the standard input and output are known.
    """
    if text == "-":
        raise argparse.ArgumentTypeError(
            "a store or a file is needed here; `diglot import STORE - --format F` reads the "
            "standard input, and a file of that name is ./-"
        )
    return text


def columns(given: Iterable[str] | None) -> dict[str, str] | None:
    """What `--column FIELD=COLUMN` was given, several times."""
    if given is None:
        return None
    found = {}
    for column in given:
        field, equals, name = column.partition("=")
        if not equals:
            raise InvalidValueError(
                f"--column {column}: it must be FIELD=COLUMN, such as source=English"
            )
        found[field] = name
    return found
