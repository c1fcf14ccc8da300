"""HTTP as uvicorn reads it, with limits on the size of a request's head, on the time that clients
take, and on how many there are.
"""

from __future__ import annotations

import asyncio
from collections import deque
from http import HTTPStatus
from math import inf
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from diglot.server.errors import ApiError
from diglot.server.settings import Limits

__all__ = ["limited_protocol"]

# Bytes of a request's line and headers. A text to look up may be in the path, in which a character
# takes up to twelve bytes.
_HEAD = 1 << 19

# Bytes of a path and query string that httptools can take apart.
_URL = (1 << 16) - 1


def limited_protocol(limits: Limits) -> type[HttpToolsProtocol]:
    """The protocol that hangs up if a request's head is too large, or if a client takes too long
    to send one, to send the rest of a request that is answered already, or to read.

    A connection more than there may be is told so in the state of its request, `surplus`, and
    closed after the answer. When the server stops, requests whose heads have begun to come are
    answered before their connections are closed.
    """
    seconds = limits.max_time

    class Protocol(HttpToolsProtocol):
        _size = 0
        _in_head = True
        # Whether a part of a head was received.
        _begun = False
        # Whether the connection ends with the next answer.
        _last = False
        # Runs while the server waits for a client to send, or to let it go.
        _timer: asyncio.TimerHandle | None = None
        # Runs while there is more for a client to read than is kept ready for it.
        _unread: asyncio.TimerHandle | None = None

        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            self.url = b""
            # Requests that are not answered yet. uvicorn tells only the last of them of the end.
            self._open: deque[RequestResponseCycle] = deque()

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._last = len(self.connections) > limits.max_connections
            self.app_state = {"surplus": self._last}
            self._hang_up_later()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop()
            self._stop_unread()
            for cycle in self._open:
                cycle.disconnected = True
                cycle.message_event.set()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            if self._in_head:
                self._size += len(data)
                if self._timer is None:
                    self._hang_up_later()
            super().data_received(data)
            if self._in_head and self._size > _HEAD and not self.transport.is_closing():
                most = f"the head of the request is larger than the {_HEAD:,} bytes it may have"
                self._refuse(ApiError(431, "head_too_large", most))

        def send_400_response(self, msg: str) -> None:
            if len(self.url) > _URL:
                most = f"the path and the query string are longer than {_URL:,} bytes"
                self._refuse(ApiError(414, "url_too_long", most))
            else:
                what = "what was sent is no HTTP request; in a URL, all but ASCII is to be escaped"
                self._refuse(ApiError(400, "invalid_request", what))

        def on_message_begin(self) -> None:
            self._begun = True
            super().on_message_begin()

        def on_headers_complete(self) -> None:
            self._in_head = self._begun = False
            self._size = 0
            self._stop()
            super().on_headers_complete()
            self._open.append(self.cycle)
            if self._last:
                self.cycle.keep_alive = False

        def on_message_complete(self) -> None:
            self._in_head = True
            super().on_message_complete()

        def on_response_complete(self) -> None:
            self._open.popleft()
            super().on_response_complete()
            half_sent = not self._in_head and self.cycle.response_complete
            if half_sent or self.transport.is_closing():
                self._hang_up_later()

        def timeout_keep_alive_handler(self) -> None:
            self.transport.abort()

        def pause_writing(self) -> None:
            super().pause_writing()
            self._watch_unread()

        def resume_writing(self) -> None:
            self._stop_unread()
            super().resume_writing()

        def shutdown(self) -> None:
            self._last = True
            if not self._begun:
                super().shutdown()

        def _hang_up_later(self) -> None:
            # To close a connection is to wait until all is read.
            self._stop()
            self._timer = self.loop.call_later(seconds, self.transport.abort)

        def _stop(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

        def _watch_unread(self, before: float = inf) -> None:
            left = self.transport.get_write_buffer_size()
            if left < before:
                self._unread = self.loop.call_later(seconds, self._watch_unread, left)
            else:
                self.transport.abort()

        def _stop_unread(self) -> None:
            if self._unread is not None:
                self._unread.cancel()
                self._unread = None

        def _refuse(self, error: ApiError) -> None:
            body = error.body()
            head = [
                f"HTTP/1.1 {error.status} {HTTPStatus(error.status).phrase}",
                "content-type: application/json",
                f"content-length: {len(body)}",
                "connection: close",
            ]
            self.transport.write("\r\n".join([*head, "", ""]).encode() + body)
            self.transport.close()

    return Protocol
