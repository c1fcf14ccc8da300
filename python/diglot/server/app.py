"""The ASGI application of a server."""

from __future__ import annotations

import asyncio
import logging

import msgspec
from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from diglot.server import browse, entries, records, system, tmserver, transfer
from diglot.server.errors import ApiError, not_found
from diglot.server.openapi import document
from diglot.server.operation import Answer, Call, Operation, answer_error, paths_of
from diglot.server.page import Page
from diglot.server.service import Service
from diglot.server.tmserver import PREFIX, TmServer

__all__ = ["App"]

_log = logging.getLogger("diglot.server")


class App:
    """An ASGI application that serves memories.

    Args:
        service: The memories, and who may do what with them.
    """

    def __init__(self, service: Service) -> None:
        self.service = service
        operations = [
            *entries.OPERATIONS,
            *browse.OPERATIONS,
            *transfer.OPERATIONS,
            *records.OPERATIONS,
            *system.OPERATIONS,
        ]
        described = msgspec.json.encode(
            document(
                [*operations, *tmserver.OPERATIONS], service.limits, keys=service.keys is not None
            )
        )

        async def openapi(call: Call) -> Answer:
            return Answer("application/json", described)

        operations.append(
            Operation(
                method="GET",
                path="/openapi.json",
                name="openapi",
                handler=openapi,
                summary="The description of the API",
                right=None,
            )
        )
        self._tmserver = TmServer(service)
        routes = [Route(path, answers) for path, answers in paths_of(operations, service).items()]
        page = Page()
        routes += [Route("/", page), Route("/page/{path:path}", page)]
        self._router = Router(routes, redirect_slashes=False, default=_not_found)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
            return
        try:
            if scope["raw_path"].startswith(PREFIX):
                await self._tmserver(scope, receive, send)
            else:
                await self._router(scope, receive, send)
        except asyncio.CancelledError:
            # The server stops, and the request had its time to end.
            error = ApiError(503, "stopping", "the server stops", headers={"connection": "close"})
            await answer_error(send, error)
        except Exception:
            _log.exception("%s %s failed", scope["method"], scope["path"])
            await answer_error(send, ApiError(500, "internal_error", "something went wrong here"))


async def _not_found(scope: Scope, receive: Receive, send: Send) -> None:
    await answer_error(send, not_found())


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
