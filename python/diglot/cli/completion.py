"""`diglot completion`: completion of the command's arguments in a shell."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from diglot._extras import extra
from diglot.cli import make_parser
from diglot.cli.arguments import add_command

_EPILOG = """\
examples:
  diglot completion bash > ~/.local/share/bash-completion/completions/diglot
  diglot completion zsh > "${fpath[1]}/_diglot"
  diglot completion fish > ~/.config/fish/completions/diglot.fish
"""

# What help calls an argument that is a file.
_FILES = ("EVAL", "FILE", "MEMORY", "RECORDS", "STORE")


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command."""
    parser = add_command(
        subparsers,
        "completion",
        run,
        summary="print a script that completes arguments in a shell",
        description="Prints a script that makes a shell complete commands, options and files.",
        epilog=_EPILOG,
    )
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell")


def run(args: argparse.Namespace) -> int:
    """Prints the script."""
    with extra("cli", "diglot completion"):
        import shtab
    parser = make_parser()
    for command in _commands(parser):
        for action in command._actions:
            if action.metavar in _FILES:
                action.complete = shtab.FILE  # type: ignore[attr-defined]
    sys.stdout.write(shtab.complete(parser, args.shell) + "\n")
    return 0


def _commands(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.values()
