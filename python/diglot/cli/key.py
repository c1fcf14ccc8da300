"""`diglot key`: a new API key for `diglot serve`."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from diglot._extras import extra
from diglot.cli.arguments import add_command
from diglot.errors import InvalidValueError

_EPILOG = """\
The key is printed once, on standard output. FILE, which is made if it is not there, gets
its hash and what it may do, as text that can be edited; the server reads it when it starts,
and again on SIGHUP.

examples:
  diglot key keys.toml acme --read acme --read shared --write acme --rate 50
  diglot key keys.toml ops --read '*' --write '*' --admin
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command."""
    parser = add_command(
        subparsers,
        "key",
        run,
        summary="make an API key for `serve`",
        description="Makes an API key, and adds it to a file of keys.",
        epilog=_EPILOG,
    )
    parser.add_argument("file", metavar="FILE", help="the file of keys, in TOML")
    parser.add_argument("name", metavar="NAME", help="what the key is called: letters, digits, _ -")
    for right in ("read", "write"):
        parser.add_argument(
            f"--{right}",
            metavar="NAMESPACE",
            action="append",
            default=[],
            help=f"a namespace that it may {right}, or '*' for all; can be given many times",
        )
    parser.add_argument("--admin", action="store_true", help="may see figures of the whole server")
    parser.add_argument("--rate", metavar="N", type=float, help="requests a second at the most")
    parser.add_argument("--burst", metavar="N", type=float, help="requests that may come at once")


def run(args: argparse.Namespace) -> int:
    """Makes a key, and prints it."""
    with extra("server", "diglot key"):
        from diglot.server.keys import Keys, new_key
    path = Path(args.file)
    before = None
    if path.exists():
        if args.name in Keys.read(args.file):
            message = f"{args.file} has a key {args.name!r} already; take another name"
            raise InvalidValueError(message, field="name")
        before = path.read_text(encoding="utf-8")
    key, text = new_key(
        args.name,
        before,
        read=args.read,
        write=args.write,
        admin=args.admin,
        rate=args.rate,
        burst=args.burst,
    )
    # What the server would refuse is refused here, and nothing is written.
    Keys(text, args.file)
    temporary = path.with_name(path.name + ".new")
    with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    sys.stdout.write(key + "\n")
    return 0
