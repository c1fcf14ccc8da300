"""Memories as tools of the Model Context Protocol (MCP). Needs `diglot[mcp]`."""

from diglot._extras import extra

with extra("mcp", "diglot.mcp"):
    from diglot.mcp.server import memory_server
    from diglot.mcp.transports import http_app, serve_http, serve_stdio

__all__ = ["http_app", "memory_server", "serve_http", "serve_stdio"]
