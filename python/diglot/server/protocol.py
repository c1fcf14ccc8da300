"""HTTP as uvicorn reads it, with limits on the size of a request's head and on its time."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["limited_protocol"]

# Bytes of a request's line and headers. A text to look up may be in the path, in which a character
# takes up to twelve bytes.
_HEAD = 1 << 19


def limited_protocol(seconds: float) -> type[HttpToolsProtocol]:
    """The protocol that hangs up if a request's head is too large, or takes longer than this."""

    class Protocol(HttpToolsProtocol):
        _size = 0
        _in_head = True
        _timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._timer = self.loop.call_later(seconds, transport.close)

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            if self._in_head:
                self._size += len(data)
                if self._timer is None:
                    self._timer = self.loop.call_later(seconds, self.transport.close)
            super().data_received(data)
            if self._in_head and self._size > _HEAD and not self.transport.is_closing():
                self.send_400_response("The head of the request is too large.")

        def on_headers_complete(self) -> None:
            self._in_head = False
            self._size = 0
            self._stop()
            super().on_headers_complete()

        def on_message_complete(self) -> None:
            self._in_head = True
            super().on_message_complete()

        def _stop(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    return Protocol
