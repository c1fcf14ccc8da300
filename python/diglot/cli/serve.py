"""`diglot serve`: a memory over HTTP."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Callable
from dataclasses import Field, fields
from typing import Any

from diglot._extras import extra
from diglot.cli.arguments import add_allowed_host, add_command, no_stream, number, port
from diglot.server.settings import Limits

_EPILOG = """\
STORE is a SQLite database, which is made if there is no such file. Other files of entries
are read into memory, and :memory: is an empty memory: what is changed in these is lost
when the server stops.

Without --keys, anyone who can reach the server may do everything, so it listens on this
machine only. `diglot key FILE NAME` makes keys. SIGHUP reads the file of keys once more.
If the address is in use, the exit status is 3.

examples:
  diglot serve memory.db
  diglot serve memory.db --host 0.0.0.0 --keys keys.toml
  curl -s localhost:8080/api/v1/search -d '{"query": "Save the file", "target_language": "ko"}'
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command."""
    parser = add_command(
        subparsers,
        "serve",
        run,
        summary="serve a memory over HTTP",
        description="Serves a memory over HTTP until it is told to stop.",
        epilog=_EPILOG,
    )
    parser.add_argument("store", metavar="STORE", type=no_stream, help="the memory to serve")
    parser.add_argument(
        "--dual", metavar="RECORDS", help="a dual-language memory: a database, or JSON Lines"
    )
    parser.add_argument("--host", default="127.0.0.1", help="address (default: %(default)s)")
    parser.add_argument("--port", type=port, default=8080, help="port (default: %(default)s)")
    parser.add_argument("--keys", metavar="FILE", help="the file of API keys")
    parser.add_argument(
        "--allow-anonymous",
        action="store_true",
        help="listen where others can reach it, without keys",
    )
    add_allowed_host(
        parser, "besides --host, localhost and addresses; without --keys, no other is answered"
    )
    limits = parser.add_argument_group("limits", "also as DIGLOT_MAX_BODY and so on")
    for limit in fields(Limits):
        limits.add_argument(
            f"--{limit.name.replace('_', '-')}",
            metavar="N",
            type=_limit(limit),
            help=f"{limit.metadata['text']} (default: {limit.default:,})",
        )


def _limit(limit: Field[Any]) -> Callable[[str], float]:
    least, most = limit.metadata["least"], limit.metadata["most"]
    kind: type[float] = int if limit.type == "int" else float
    what = "a whole number" if kind is int else "a number"
    return number(kind, lambda value: least <= value <= most, f"{what} from {least} to {most:,}")


def run(args: argparse.Namespace) -> int:
    """Serves."""
    with extra("server", "diglot serve"):
        from diglot.server.keys import Keys
        from diglot.server.run import run as run_server
        from diglot.server.run import serve
    limits = Limits.read(os.environ, vars(args))
    keys = None if args.keys is None else Keys.read(args.keys)
    # It says once more where it listens, and that it starts and stops.
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s"
    )
    run_server(
        serve(
            args.store,
            dual=args.dual,
            host=args.host,
            port=args.port,
            keys=keys,
            limits=limits,
            anonymous=args.allow_anonymous,
            hosts=args.allow_host,
        )
    )
    return 0
