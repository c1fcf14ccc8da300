"""The `diglot` command.

Each subcommand is a module of this package with `add_parser(subparsers)` and `run(args) -> int`,
listed in `_COMMANDS`.

| exit status | meaning |
| --- | --- |
| 0 | done, whether or not anything was found |
| 2 | an argument is wrong |
| 3 | a file cannot be read |
| 4 | a file does not hold what it should |
| 5 | the packages of `diglot[cli]`, or of another extra that the command needs, are not installed |
| 130 | interrupted |
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module, metadata

from diglot.errors import DiglotError, FormatError, MissingPackageError

__all__ = ["main"]

_COMMANDS = ["kpi", "lookup", "mcp", "serve"]

_USAGE, _UNREADABLE, _FORMAT, _NOT_INSTALLED, _INTERRUPTED = 2, 3, 4, 5, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit status.

    `argv` defaults to the arguments of the process.

    Wrong arguments and `--help` end in `SystemExit`, as is usual with argparse.
    """
    try:
        import rich  # noqa: F401
    except ModuleNotFoundError:
        install = "pip install 'diglot[cli]'"
        return _fail(
            _NOT_INSTALLED, f"the command needs more packages; install them with: {install}"
        )
    parser = _parser()
    args = parser.parse_args(argv)
    try:
        status: int = args.run(args)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output has seen enough (`| head`). Nothing more can be written, not even
        # at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return _fail(_INTERRUPTED, "interrupted")
    except MissingPackageError as error:
        return _fail(_NOT_INSTALLED, str(error))
    except FormatError as error:
        return _fail(_FORMAT, str(error))
    except OSError as error:
        named = error.filename is not None
        return _fail(_UNREADABLE, f"{error.filename}: {error.strerror}" if named else str(error))
    except DiglotError as error:
        return _fail(_USAGE, str(error))
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="diglot",
        description="A translation memory with exact fuzzy lookup.",
        epilog="`diglot COMMAND --help` explains a command and gives examples.",
    )
    parser.add_argument("--version", action="version", version=_version())
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name in _COMMANDS:
        import_module(f"{__name__}.{name}").add_parser(subparsers)
    return parser


def _version() -> str:
    return f"diglot {metadata.version('diglot')}"


def _fail(status: int, message: str) -> int:
    sys.stderr.write(f"diglot: {message}\n")
    return status
