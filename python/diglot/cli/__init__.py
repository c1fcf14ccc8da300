"""The `diglot` command.

Each subcommand is a module of this package with `add_parser(subparsers)`, listed in `_COMMANDS`.

| exit status | meaning |
| --- | --- |
| 0 | done, whether or not anything was found |
| 1 | `verify` found something wrong |
| 2 | an argument is wrong |
| 3 | a file cannot be read or written |
| 4 | a file does not hold what it should |
| 5 | the packages of `diglot[cli]`, or of another extra that the command needs, are not installed |
| 6 | a store cannot be used: it is damaged, locked, read-only, of a newer version |
| 130 | interrupted |
"""

from __future__ import annotations

import argparse
import errno
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module

from diglot._engine import __version__
from diglot.cli.failures import FAILURES, INTERRUPTED, NOT_INSTALLED, detail, failure
from diglot.errors import DiglotError

__all__ = ["main", "make_parser"]

# The commands in the order of `diglot --help`. Their modules have the same names, but for `import`,
# which is a word of Python.
_COMMANDS = (
    "import",
    "export",
    "lookup",
    "add",
    "remove",
    "stats",
    "verify",
    "compact",
    "dedupe",
    "serve",
    "key",
    "mcp",
    "kpi",
    "completion",
)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit status.

    `argv` defaults to the arguments of the process.

    Wrong arguments and `--help` end in `SystemExit`, as is usual with argparse.
    """
    if sys.stderr is None:
        # It was closed, and nobody wants to know.
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    try:
        return _main(argv)
    except BrokenPipeError:
        # Whoever read the output has seen enough (`| head`).
        _write_no_more()
        return 0
    except KeyboardInterrupt:
        return _fail(INTERRUPTED, "interrupted")
    except FAILURES as error:
        return _fail(*failure(error))


def _main(argv: Sequence[str] | None) -> int:
    try:
        import rich  # noqa: F401
    except ModuleNotFoundError:
        install = "pip install 'diglot[cli]'"
        return _fail(
            NOT_INSTALLED, f"the command needs more packages; install them with: {install}"
        )
    if argv is None:
        argv = sys.argv[1:]
    # The modules of other commands, and what they import, take longer than many a command.
    args = make_parser(*argv[:1]).parse_args(argv)
    if sys.stdout is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), "standard output")
    try:
        status: int = args.run(args)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except FAILURES as error:
        # Of `kpi` it is the name of a file.
        if getattr(args, "json", False) is True:
            _tell(error)
        try:
            sys.stdout.flush()
        except OSError:
            _write_no_more()
        raise
    return status


def _tell(error: DiglotError | OSError) -> None:
    from diglot.cli.console import print_json_lines

    # On a full disk, this cannot be told either.
    with suppress(OSError):
        print_json_lines([{"error": detail(error, failure(error)[1])}])


def _write_no_more() -> None:
    """Nothing more can be written to the standard output, not even at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def make_parser(only: str | None = None) -> argparse.ArgumentParser:
    """The parser of the command line, with those of all commands, or of the only one that is asked
    for.
    """
    parser = argparse.ArgumentParser(
        prog="diglot",
        description="A translation memory with exact fuzzy lookup.",
        epilog="`diglot COMMAND --help` explains a command and gives examples.",
    )
    parser.add_argument("--version", action="version", version=f"diglot {__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name in [only] if only in _COMMANDS else _COMMANDS:
        module = "import_" if name == "import" else name
        import_module(f"{__name__}.{module}").add_parser(subparsers)
    return parser


def _fail(status: int, message: str) -> int:
    sys.stderr.write(f"diglot: {message}\n")
    return status
