"""`diglot mcp`: a memory as tools for models, over the Model Context Protocol."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

from diglot import TranslationMemoryStore
from diglot._addresses import is_loopback
from diglot.cli.arguments import add_allowed_host, add_command, no_stream, port
from diglot.cli.memory import read_async
from diglot.errors import DiglotError
from diglot.stores._files import is_store

if TYPE_CHECKING:
    from diglot.dual import DualLanguageStore

_EPILOG = """\
The client that starts the command speaks with it through standard input and output:
  {"mcpServers": {"diglot": {"command": "diglot", "args": ["mcp", "memory.db"]}}}
With --http, clients connect to http://HOST:PORT/mcp instead.

tools:
  lookup-memory       earlier translations of similar texts (with STORE)
  lookup-dual-memory  notes, whatever language they were written in (with --dual)
  add-memory          adds a translation to STORE (with --write)

The namespace is yours to choose: no tool has a parameter for it.

examples:
  diglot mcp memory.db
  diglot mcp memory.db --write --namespace acme
  diglot mcp memory.jsonl --dual notes.jsonl
  diglot mcp memory.db --http --port 8765
  diglot mcp memory.db --http --host 0.0.0.0 --allow-host tm.example.org
"""


_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command."""
    parser = add_command(
        subparsers,
        "mcp",
        run,
        summary="serve a memory to models over MCP",
        description="Serves a memory as tools for models, over the Model Context Protocol.",
        epilog=_EPILOG,
    )
    parser.add_argument(
        "store",
        type=no_stream,
        metavar="STORE",
        nargs="?",
        help="the translation memory: a store, or a file of entries, which is read into memory",
    )
    parser.add_argument(
        "--dual", metavar="RECORDS", help="a dual-language memory: a store, or a file"
    )
    parser.add_argument("--write", action="store_true", help="let models add translations")
    parser.add_argument("--namespace", metavar="N", help="find and add only in this namespace")
    parser.add_argument(
        "--max-content-chars",
        metavar="C",
        type=int,
        default=4000,
        help="the most characters of a result (default: %(default)s)",
    )
    parser.add_argument("--http", action="store_true", help="serve streamable HTTP")
    parser.add_argument(
        "--host", default="127.0.0.1", help="the address to listen on (default: %(default)s)"
    )
    parser.add_argument(
        "--port", type=port, default=8765, help="the port; 0 is a free one (default: %(default)s)"
    )
    add_allowed_host(
        parser,
        "needed with a --host that other machines can reach. There are no passwords: put something"
        " in front that asks for one",
    )


def run(args: argparse.Namespace) -> int:
    """Serves until the client leaves, or the process is told to stop."""
    import asyncio

    # What is wrong with the arguments or the packages is said before a large memory is read.
    if args.store is None and args.dual is None:
        raise DiglotError("give a STORE, or --dual RECORDS")
    if args.write and args.store is None:
        raise DiglotError("--write needs a STORE to add to")
    if args.http and not is_loopback(args.host) and not args.allow_host:
        raise DiglotError(
            f"--host {args.host}: other machines can reach it, and whoever does may use the "
            "memory; say --allow-host NAME, with the name they call it by, if that is wanted"
        )
    for number in _SIGNALS:
        # Over HTTP, calls in flight are finished first. Otherwise there is nothing to lose until
        # the memories are open.
        signal.signal(number, _stop if args.http else signal.SIG_DFL)
    asyncio.run(_serve(args))
    return 0


async def _serve(args: argparse.Namespace) -> None:
    from diglot.mcp import memory_server, serve_http, serve_stdio

    told: int | None = None
    async with AsyncExitStack() as opened:
        store = dual = None
        if args.store is not None:
            store = await opened.enter_async_context(_store(args.store, args.write))
        if args.dual is not None:
            dual = await opened.enter_async_context(_dual(args.dual))
        server = memory_server(
            store,
            dual=dual,
            writable=args.write,
            namespace=args.namespace,
            max_content_chars=args.max_content_chars,
        )
        if args.http:
            hosts = args.allow_host
            await serve_http(server, args.host, args.port, hosts=hosts, on_ready=_announce)
        else:
            told = await _until_told(serve_stdio(server))
    if told is not None:
        # Python would wait for the thread that reads standard input, and so for the client.
        signal.raise_signal(told)


async def _until_told(serving: Coroutine[Any, Any, None]) -> int | None:
    """Serves until the client leaves, or a signal says to stop: returns which. The next one ends
    the process at once.
    """
    import asyncio

    loop = asyncio.get_running_loop()
    told: asyncio.Future[int] = loop.create_future()

    def tell(number: int) -> None:
        if not told.done():
            told.set_result(number)

    def stop(number: int, frame: FrameType | None) -> None:
        for one in _SIGNALS:
            signal.signal(one, signal.SIG_DFL)
        if not loop.is_closed():
            loop.call_soon_threadsafe(tell, number)

    for number in _SIGNALS:
        signal.signal(number, stop)
    task = loop.create_task(serving)
    await asyncio.wait((task, told), return_when=asyncio.FIRST_COMPLETED)
    if told.done():
        return told.result()
    await task
    return None


@asynccontextmanager
async def _store(path: str, write: bool) -> AsyncIterator[TranslationMemoryStore]:
    """The memory in a store or a file. A store that is not there is made if it is written to."""
    from diglot.stores.sqlite import SqliteTranslationMemoryStore

    if is_store(path, create=write):
        async with await SqliteTranslationMemoryStore.open(path, read_only=not write) as store:
            yield store
    elif write:
        raise DiglotError(
            f"--write: {path} is a file of entries, which cannot be changed; only a store can"
        )
    else:
        yield await read_async(path)


@asynccontextmanager
async def _dual(path: str) -> AsyncIterator[DualLanguageStore]:
    """The dual-language memory in a store or a file."""
    from diglot.dual import DualLanguageMemory
    from diglot.stores.sqlite_dual import SqliteDualLanguageMemory

    if is_store(path):
        async with await SqliteDualLanguageMemory.open(path, read_only=True) as memory:
            yield memory
    else:
        yield await DualLanguageMemory.from_jsonl(path)


def _announce(url: str) -> None:
    sys.stderr.write(f"diglot: serving {url}\n")
    sys.stderr.flush()


def _stop(number: int, frame: FrameType | None) -> None:
    sys.exit(0)
