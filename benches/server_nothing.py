"""A server that does nothing but what every server has to: it answers a search that is not made.

It reads and checks requests as `diglot serve` does, under the same uvicorn with the same settings,
and answers with five hits that are always the same.
"""

from __future__ import annotations

import logging
import socket

import msgspec
import uvicorn
from starlette.types import Receive, Scope, Send

from diglot.model import TranslationMemoryEntry, TranslationMemoryHit
from diglot.server.operation import answer, read_body
from diglot.server.run import configuration, run
from diglot.server.schemas import SearchRequest
from diglot.server.settings import Limits

_entry = TranslationMemoryEntry(
    "Save the file before you close it.", "파일을 저장하세요.", "en", "ko"
)
_hits = [TranslationMemoryHit(_entry, 0.5, id) for id in range(5)]
_decoder = msgspec.json.Decoder(SearchRequest)


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    _decoder.decode(await read_body(scope, receive, 1 << 22))
    await answer(send, 200, "application/json", msgspec.json.encode({"hits": _hits}))


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    listening = socket.create_server(("127.0.0.1", 0), backlog=2048)
    logging.info("running on http://127.0.0.1:%d", listening.getsockname()[1])
    run(uvicorn.Server(configuration(application, Limits())).serve([listening]))
