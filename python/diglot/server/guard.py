"""Ends the work for a request when its time is up or its client has gone."""

from __future__ import annotations

import asyncio
from types import TracebackType

from starlette.types import Receive

from diglot.server.errors import ApiError

__all__ = ["ClientGoneError", "Guard"]

# Seconds after which it is worth a task to hear of a client that hangs up. Most searches are done
# much earlier.
_PATIENCE = 0.05


class ClientGoneError(Exception):
    """The client hung up; nobody waits for the answer."""


class Guard:
    """A context manager that cancels its task when time is up, or when the client hangs up.

    Leaving it then raises `ApiError` or `ClientGoneError`. A cancellation from elsewhere passes
    through.

    Args:
        seconds: How long the block may take.
    """

    __slots__ = ("_later", "_loop", "_reason", "_seconds", "_task", "_timer", "_watcher")

    def __init__(self, seconds: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._seconds = seconds
        self._reason: Exception | None = None
        self._later: asyncio.TimerHandle | None = None
        self._watcher: asyncio.Task[None] | None = None

    def __enter__(self) -> Guard:
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._timer = self._loop.call_later(self._seconds, self._too_late)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        if self._later is not None:
            self._later.cancel()
        if self._watcher is not None:
            self._watcher.cancel()
        if self._reason is not None and kind is asyncio.CancelledError:
            # From Python 3.11 a task remembers that it was cancelled until it is told otherwise.
            if hasattr(self._task, "uncancel"):
                self._task.uncancel()
            raise self._reason from None

    def restart(self, seconds: float | None = None) -> None:
        """Gives the block its time once more, or another time, from now on."""
        if seconds is not None:
            self._seconds = seconds
        self._timer.cancel()
        self._timer = self._loop.call_later(self._seconds, self._too_late)

    def watch(self, receive: Receive) -> None:
        """Begins to listen for the client's hanging up, once all of its request was received."""
        self._later = self._loop.call_later(_PATIENCE, self._listen, receive)

    def _listen(self, receive: Receive) -> None:
        self._watcher = self._loop.create_task(self._wait(receive))

    async def _wait(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._cancel(ClientGoneError())

    def _too_late(self) -> None:
        message = f"the request took longer than {self._seconds:g} seconds"
        self._cancel(ApiError(503, "timeout", message, headers={"connection": "close"}))

    def _cancel(self, reason: Exception) -> None:
        if self._reason is None:
            self._reason = reason
            self._task.cancel()
