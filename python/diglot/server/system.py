"""The operations about the server itself: health, metrics, the OpenAPI document."""

from __future__ import annotations

from prometheus_client.exposition import CONTENT_TYPE_LATEST

from diglot.server import schemas
from diglot.server.operation import Answer, AnyParameters, Call, Operation

__all__ = ["OPERATIONS"]


async def health(call: Call) -> dict[str, str]:
    return {"status": "ok"}


async def ready(call: Call) -> dict[str, str]:
    state = call.service.state
    if state != "ready":
        raise call.service.unavailable()
    return {"status": state}


async def metrics(call: Call) -> Answer:
    return Answer(CONTENT_TYPE_LATEST, call.service.metrics.render())


OPERATIONS = [
    Operation(
        method="GET",
        path="/health",
        name="health",
        handler=health,
        summary="Whether the process runs",
        right=None,
        query=AnyParameters,
        response=schemas.Health,
    ),
    Operation(
        method="GET",
        path="/ready",
        name="ready",
        handler=ready,
        summary="Whether requests may be sent; not while the memory is read or the server stops",
        right=None,
        query=AnyParameters,
        response=schemas.Health,
    ),
    Operation(
        method="GET",
        path="/metrics",
        name="metrics",
        handler=metrics,
        summary="Figures for Prometheus",
        right="admin",
        query=AnyParameters,
        media_type="text/plain",
    ),
]
