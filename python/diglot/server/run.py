"""Runs a server in this process."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import threading
from collections.abc import AsyncIterator, Collection, Coroutine, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from diglot._addresses import LOOPBACK_NAMES, bracketed, is_loopback
from diglot.dual import DualLanguageMemory
from diglot.errors import FormatError, InvalidValueError
from diglot.formats import FORMATS
from diglot.memory import InMemoryTranslationMemoryStore
from diglot.server.app import App
from diglot.server.keys import Keys
from diglot.server.protocol import limited_protocol
from diglot.server.service import Records, Service, Store
from diglot.server.settings import Limits
from diglot.stores._files import is_store, known_file
from diglot.stores.sqlite import SqliteTranslationMemoryStore
from diglot.stores.sqlite_dual import SqliteDualLanguageMemory

__all__ = ["check_address", "configuration", "run", "serve"]

_log = logging.getLogger("diglot.server")

# Connections that wait to be taken.
_BACKLOG = 2048

# Open files that are no connections, or more of these than there may be, until they are closed.
_FILES = 512


def check_address(host: str, keys: Keys | None, *, anonymous: bool) -> None:
    """Refuses to let anyone in from elsewhere by mistake.

    Raises:
        InvalidValueError: The address can be reached from elsewhere, and no keys are needed.
    """
    if keys is None and not anonymous and not is_loopback(host):
        message = (
            f"the host is {host}, which others can reach, and there are no keys, so anyone could"
            " read and change everything; give a file of keys (--keys), or allow that"
            " (--allow-anonymous)"
        )
        raise InvalidValueError(message, field="host")


@asynccontextmanager
async def open_memories(
    path: str, dual: str | None, limits: Limits
) -> AsyncIterator[tuple[Store, Records]]:
    """The memories that paths stand for.

    Args:
        path: A SQLite database, which is made if there is no such file; another file of entries,
            which is read into memory; or `:memory:` for an empty memory.
        dual: In the same way, a database or a file of records; None for an empty memory.
        limits: A request waits for another process half of its time at the most, so that there is
            some left to say so.
    """
    wait = limits.max_time / 2
    async with AsyncExitStack() as opened:
        store: Store
        records: Records
        if path == ":memory:":
            store = InMemoryTranslationMemoryStore()
        elif await asyncio.to_thread(_is_database, path):
            opening = SqliteTranslationMemoryStore.open(path, busy_timeout=wait)
            store = await opened.enter_async_context(await opening)
        else:
            store = await _read(path)
        if dual is None:
            records = DualLanguageMemory()
        elif await asyncio.to_thread(_is_database, dual):
            records_opening = SqliteDualLanguageMemory.open(dual, busy_timeout=wait)
            records = await opened.enter_async_context(await records_opening)
        else:
            records = await DualLanguageMemory.from_jsonl(dual)
            _warn(dual)
        yield store, records


async def _read(path: str) -> InMemoryTranslationMemoryStore:
    memory = InMemoryTranslationMemoryStore()
    with known_file(path):
        report = await memory.import_file(path)
    if report.problems:
        problem = report.problems[0]
        if not report.added:
            raise FormatError(f"{path}, {problem}", path=path, line=problem.line)
        _log.warning("%s, %s (%s left out)", path, problem, f"{report.skipped:,}")
    _warn(path)
    return memory


def _warn(path: str) -> None:
    _log.warning("%s was read into memory: what is changed is lost at the end", path)


def _is_database(path: str) -> bool:
    """Whether a file is a database, or is not there and is to become one."""
    endings = {ending for endings in FORMATS.values() for ending in (*endings, "gz", "zst")}
    return is_store(path, create=Path(path).suffix.lower()[1:] not in endings)


def run(serving: Coroutine[Any, Any, None]) -> None:
    """Runs `serve` on the fastest event loop there is."""
    try:
        import uvloop
    except ModuleNotFoundError:
        # There is none for Windows.
        asyncio.run(serving)
    else:
        uvloop.run(serving)


async def serve(
    path: str,
    *,
    dual: str | None = None,
    host: str,
    port: int,
    keys: Keys | None,
    limits: Limits,
    anonymous: bool = False,
    hosts: Collection[str] = (),
) -> None:
    """Serves memories until the process is told to stop (SIGINT, SIGTERM). Listens before it reads
    them. On SIGHUP the keys are read once more.

    Args:
        path: The translation memory, as `open_memories` takes it.
        dual: The dual-language memory.
        host: The address to listen on.
        port: The port; 0 for any that is free. The log says which.
        keys: Who may do what; None for anyone everything.
        limits: What one request may ask for.
        anonymous: Whether that may be from other machines.
        hosts: Names, in lower case and without ports, by which clients may call the server besides
            `host`, `localhost` and any address. With keys and no names, it may be called anything.

    Raises:
        InvalidValueError: As `check_address`.
        FormatError: A file is not what it should be.
        OSError: The store cannot be opened, or the address not be listened on.
        StoreError: The store cannot be used.
    """
    check_address(host, keys, anonymous=anonymous)
    names = LOOPBACK_NAMES | {host.lower(), *hosts} if keys is None or hosts else None
    _allow_files(limits.max_connections + _FILES)
    # uvicorn would end the process if an address cannot be listened on.
    sockets = await _listen(host, port)
    service = Service(keys, limits, names)
    server = _Server(configuration(App(service), limits), service)
    place = sockets[0].getsockname()
    url = f"http://{bracketed(place[0])}:{place[1]}"
    _log.info("listening on %s, reading %s", url, path)
    async with AsyncExitStack() as opened:

        async def load() -> None:
            try:
                opening = open_memories(path, dual, limits)
                store, records = await opened.enter_async_context(opening)
            except BaseException:
                server.stop()
                raise
            # Who has a store that lasts would take it that records last, too.
            takes_records = dual is not None or isinstance(store, InMemoryTranslationMemoryStore)
            service.begin(store, records, takes_records=takes_records)
            _log.info("running on %s", url)

        loading = asyncio.create_task(load())
        try:
            await server.serve(sockets)
        finally:
            loading.cancel()
            with suppress(asyncio.CancelledError):
                await loading
    _log.info("stopped")


def _allow_files(count: int) -> None:
    """Lets the process have so many open files, as far as the system does."""
    try:
        import resource
    except ModuleNotFoundError:
        # Windows has no such limit.
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    endless = resource.RLIM_INFINITY
    if soft == endless or soft >= count:
        return
    allowed = count if hard == endless else min(count, hard)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
        soft = allowed
    if soft < count:
        _log.warning("%d open files may be too few: with all connections, %d", soft, count)


async def _listen(host: str, port: int) -> list[socket.socket]:
    """Sockets for all addresses of a host."""
    found = await asyncio.get_running_loop().getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )
    sockets: list[socket.socket] = []
    try:
        for family, _, _, _, address in dict.fromkeys(found):
            # A free port has to be the same for all.
            if port == 0 and sockets:
                address = (address[0], sockets[0].getsockname()[1], *address[2:])
            sockets.append(socket.create_server(address, family=family, backlog=_BACKLOG))
    except OSError as error:
        for one in sockets:
            one.close()
        raise OSError(error.errno, error.strerror, f"{host}:{port}") from error
    return sockets


def configuration(application: ASGIApp, limits: Limits) -> uvicorn.Config:
    """How uvicorn runs an application."""
    return uvicorn.Config(
        application,
        http=limited_protocol(limits),
        ws="none",
        lifespan="off",
        interface="asgi3",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=limits.keep_alive,
        backlog=_BACKLOG,
        timeout_graceful_shutdown=limits.shutdown_time,
    )


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self._service = service
        self._reading = asyncio.Lock()
        self._readings: set[asyncio.Task[None]] = set()

    def stop(self) -> None:
        """Begins to stop."""
        self._service.stopping = self.should_exit = True

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._service.stopping = True
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        # Whoever does not read would keep what is cancelled from ending.
        for connection in list(self.server_state.connections):
            if connection.transport.get_write_buffer_size():
                connection.transport.abort()
        if tasks := set(self.server_state.tasks):
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """As in uvicorn, which raises the signals once more when it is done: that would end the
        process before the memories are closed. SIGHUP reads the keys once more.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {
            number: signal.signal(number, self.handle_exit)
            for number in (signal.SIGINT, signal.SIGTERM)
        }
        loop = asyncio.get_running_loop()
        # Windows has no such signal.
        hang_up = getattr(signal, "SIGHUP", None)
        if hang_up is not None and self._service.keys is not None:
            loop.add_signal_handler(hang_up, self._hear_sighup, self._service.keys)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _hear_sighup(self, keys: Keys) -> None:
        task = asyncio.get_running_loop().create_task(self._read_keys(keys))
        # The loop keeps no task from being thrown away.
        self._readings.add(task)
        task.add_done_callback(self._readings.discard)

    async def _read_keys(self, keys: Keys) -> None:
        # One after the other, so that what was written last counts.
        async with self._reading:
            try:
                self._service.keys = read = await asyncio.to_thread(keys.read_again)
            except (OSError, FormatError) as error:
                _log.error("the keys stay as they were: %s", error)
            else:
                _log.info("the keys were read again: %d", len(read))
