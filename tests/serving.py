"""Real servers for tests: each a process of its own, on a port of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx

_RUNNING = re.compile(r"running on http://[^ ]*:(\d+)")

# Seconds for a process to start or end; a test that needs them all fails.
_PATIENCE = 300


class Server:
    """A running server.

    Attributes:
        port: Where it listens, on 127.0.0.1.
        log: What it wrote to standard error so far, in lines.
    """

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.log: list[str] = []
        self.port = 0
        started = threading.Event()

        def read() -> None:
            assert process.stderr is not None
            for line in process.stderr:
                self.log.append(line)
                if found := _RUNNING.search(line):
                    self.port = int(found[1])
                    started.set()
            started.set()

        self._reader = threading.Thread(target=read, daemon=True)
        self._reader.start()
        started.wait(_PATIENCE)
        if not self.port:
            process.kill()
            raise RuntimeError("the server did not start:\n" + "".join(self.log))

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
    store: str | Path = ":memory:", *options: str, environment: Mapping[str, str] | None = None
) -> Iterator[Server]:
    """A server of a store, which is told to stop in the end if it still runs."""
    command = [sys.executable, "-m", "diglot", "serve", str(store), "--port", "0", *options]
    with subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **(environment or {})},
    ) as process:
        server = Server(process)
        try:
            yield server
        finally:
            if process.poll() is None:
                server.stop()
