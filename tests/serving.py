"""Real servers for tests: each a process of its own, on a port of its own."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx

# Seconds for a process to start, say something or end; a test that needs them all fails.
_PATIENCE = 300


class Server:
    """A running server.

    Attributes:
        port: Where it listens, on 127.0.0.1.
        log: What it wrote to standard error so far, in lines.
    """

    def __init__(self, process: subprocess.Popen[str], *, ready: bool) -> None:
        self.process = process
        self.log: list[str] = []
        self._said = threading.Condition()
        self._searched = 0
        self._ended = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        try:
            begun = "running" if ready else "listening"
            self.port = int(self.says(rf"{begun} on http://[^ ]*:(\d+)")[1])
        except BaseException:
            process.kill()
            raise

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._said:
                self.log.append(line)
                self._said.notify_all()
        with self._said:
            self._ended = True
            self._said.notify_all()

    def says(self, pattern: str) -> re.Match[str]:
        """Waits for a line of its log that has the pattern in it. The lines up to there are not
        searched again.
        """
        with self._said:
            while True:
                for line in self.log[self._searched :]:
                    self._searched += 1
                    if match := re.search(pattern, line):
                        return match
                if self._ended or not self._said.wait(_PATIENCE):
                    raise RuntimeError(f"it did not say {pattern!r}:\n" + "".join(self.log))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self, key: str | None = None) -> httpx.Client:
        headers = {} if key is None else {"authorization": f"Bearer {key}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=_PATIENCE)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ends the process. Returns its exit status."""
        self.process.send_signal(number)
        status = self.process.wait(_PATIENCE)
        self._reader.join(_PATIENCE)
        return status


@contextmanager
def serving(
    store: str | Path = ":memory:",
    *options: str,
    environment: Mapping[str, str] | None = None,
    ready: bool = True,
) -> Iterator[Server]:
    """A server of a store, which is told to stop in the end if it still runs. Without `ready`, the
    store may still be read when the block begins.
    """
    command = [sys.executable, "-m", "diglot", "serve", str(store), "--port", "0", *options]
    with subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **(environment or {})},
    ) as process:
        server = Server(process, ready=ready)
        try:
            yield server
        finally:
            if process.poll() is None:
                server.stop()


@contextmanager
def connected(server: Server) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        yield connection


def received(connection: socket.socket) -> bytes:
    """All that comes until the other side hangs up, which it may before all was read."""
    parts = []
    with suppress(ConnectionError):
        while part := connection.recv(65536):
            parts.append(part)
    return b"".join(parts)


def request(method: str, path: str, body: bytes = b"", *headers: str) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "host: localhost", *headers]
    return "\r\n".join([*lines, f"content-length: {len(body)}", "", ""]).encode() + body
