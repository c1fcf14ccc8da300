"""How an MCP server is reached: through standard input and output, or over HTTP."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from typing import Any

import uvicorn
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette

from diglot._addresses import LOOPBACK_NAMES, bracketed, is_loopback
from diglot.errors import InvalidValueError

__all__ = ["http_app", "serve_http", "serve_stdio"]

PATH = "/mcp"

# Seconds that calls in flight have left when the server is told to stop.
_GRACE = 10


async def serve_stdio(server: Server[Any]) -> None:
    """Serves the client at the other end of standard input and output, until it closes them."""
    async with stdio_server() as (received, sent):
        await server.run(received, sent, server.create_initialization_options())


def http_app(server: Server[Any], *, hosts: Sequence[str] = ()) -> Starlette:
    """An ASGI application that speaks streamable HTTP under `/mcp`.

    It keeps no sessions, so any number of processes may serve the same memory. Requests whose
    `Host` or `Origin` is neither of this machine (loopback) nor one of `hosts` are refused: a web
    page must not reach the memory by giving its own name the address of this machine.

    Args:
        server: What it serves.
        hosts: Names, without ports, by which clients may call it besides `localhost`.
    """
    allowed = {*LOOPBACK_NAMES, *hosts}
    ports = [bracketed(name) + port for name in allowed for port in ("", ":*")]
    origins = [f"{scheme}://{name}" for name in ports for scheme in ("http", "https")]
    return server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=True, allowed_hosts=ports, allowed_origins=origins
        ),
    )


async def serve_http(
    server: Server[Any],
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    hosts: Sequence[str] = (),
    on_ready: Callable[[str], object] = lambda url: None,
) -> None:
    """Serves streamable HTTP until the process is told to stop (SIGINT, SIGTERM).

    Nobody is asked who they are, so only this machine is let in unless `hosts` are named.

    Args:
        server: What is served.
        host: The address to listen on.
        port: The port; 0 takes a free one.
        hosts: As for `http_app`.
        on_ready: Called with the URL once clients can connect.

    Raises:
        InvalidValueError: `host` is not a loopback address, and no `hosts` are named.
        OSError: The address cannot be listened on.
    """
    if not is_loopback(host) and not hosts:
        raise InvalidValueError(
            f"{host} can be reached from other machines, and anybody who reaches it may use the "
            "memory; name the host that clients call it by to allow that",
            field="host",
        )
    config = uvicorn.Config(
        http_app(server, hosts=[*hosts, host] if is_loopback(host) else hosts),
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=_GRACE,
    )
    # It listens before it is announced: whoever connects at once waits instead of being refused.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as listening:
        on_ready(f"http://{bracketed(host)}:{listening.getsockname()[1]}{PATH}")
        await uvicorn.Server(config).serve(sockets=[listening])
