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

# What help calls an argument that is a file, or may be one.
_FILES = ("EVAL", "FILE", "MEMORY", "QUERY", "RECORDS", "STORE")

# bash takes the = of --option=value for a word of its own; without it, two words are left as usual.
_BASH = """
_diglot() {
  local words=() at=$COMP_CWORD index before=
  for index in "${!COMP_WORDS[@]}"; do
    if [[ ${COMP_WORDS[index]} != = || $before != --* ]]; then
      before=${COMP_WORDS[index]}
      words+=("$before")
    elif (( index == COMP_CWORD )); then
      words+=("")
    elif (( index < COMP_CWORD )); then
      (( at -= 1 ))
    fi
  done
  local COMP_WORDS=("${words[@]}") COMP_CWORD=$at
  _shtab_diglot
}

complete -o bashdefault -F _diglot diglot
"""


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
    script = shtab.complete(parser, args.shell)
    sys.stdout.write(f"{script}\n{_BASH if args.shell == 'bash' else ''}")
    return 0


def _commands(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.values()
