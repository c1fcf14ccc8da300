"""The tools that a memory offers over MCP."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from mcp import MCPError
from mcp.server import Server, ServerRequestContext
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

from diglot import __version__
from diglot.adapters import ContextSource
from diglot.dual import DualLanguageStore, lookup_dual_memory
from diglot.errors import DiglotError, InvalidValueError
from diglot.lookup import lookup_memory, shortened
from diglot.mcp import add
from diglot.store import TranslationMemoryStore, check_integer

__all__ = ["memory_server"]

_log = logging.getLogger(__name__)

_READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
_ADDS = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)

_HITS: dict[str, Any] = {
    "hit_count": {"type": "integer", "description": "How many were found."},
    "hits": {
        "type": "array",
        "items": {"type": "object"},
        "description": "What was found, best first.",
    },
    "truncated": {
        "type": "boolean",
        "description": "Whether hits were left out because they are too long together.",
    },
}
_OF_RECALL: dict[str, Any] = {
    "confidence": {"type": "number", "description": "The strength of the strongest match."},
    "low_confidence": {"type": "boolean", "description": "Whether no match is close."},
    "fallback_used": {"type": "boolean", "description": "Whether English was looked at."},
}
_ADDED: dict[str, Any] = {
    "added": {"type": "integer", "description": "1, or 0 where it was there already."},
}


def _output(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required}


class _Served(NamedTuple):
    """A tool, and what does its work: arguments in, text and data out."""

    tool: Tool
    call: Callable[[Mapping[str, Any]], Awaitable[tuple[str, dict[str, Any]]]]


def memory_server(
    store: TranslationMemoryStore | None = None,
    *,
    dual: DualLanguageStore | None = None,
    writable: bool = False,
    namespace: str | None = None,
    max_content_chars: int = 4000,
) -> Server[Any]:
    """An MCP server with the tools `lookup-memory`, `lookup-dual-memory` and `add-memory`.

    Args:
        store: What `lookup-memory` looks up in; without it, there is no such tool.
        dual: What `lookup-dual-memory` recalls from; without it, there is no such tool.
        writable: Whether there is `add-memory`, which adds to `store`.
        namespace: The namespace of all that is found and added. No tool has a parameter for it.
            With None, entries of all namespaces are found, and those that are added have none.
        max_content_chars: The most characters of a result's text, and of its hits as JSON.

    Returns:
        A server of the `mcp` package, for `serve_stdio`, `serve_http`, or transports of one's own.

    Raises:
        InvalidTypeError: An argument has a wrong type.
        InvalidValueError: An argument is out of range, or there is nothing to serve.
    """
    check_integer("max_content_chars", max_content_chars, least=1)
    fixed = {"namespace": namespace}
    served: list[_Served] = []
    if store is not None:
        lookup = lookup_memory(store, max_content_chars=max_content_chars, fixed=fixed)
        served.append(_lookup(lookup, "Look up translations", {}, max_content_chars))
    if dual is not None:
        recall = lookup_dual_memory(dual, max_content_chars=max_content_chars, fixed=fixed)
        served.append(_lookup(recall, "Recall notes", _OF_RECALL, max_content_chars))
    if not served:
        raise InvalidValueError("a store or a dual-language memory is needed", field="store")
    if writable:
        if store is None:
            raise InvalidValueError("writable needs a store to add to", field="writable")
        served.append(_add(store, namespace))
    tools = {one.tool.name: one for one in served}

    async def list_tools(
        context: ServerRequestContext[Any], params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(tools=[one.tool for one in tools.values()])

    async def call_tool(
        context: ServerRequestContext[Any], params: CallToolRequestParams
    ) -> CallToolResult:
        one = tools.get(params.name)
        if one is None:
            raise MCPError(INVALID_PARAMS, f"unknown tool; there are {', '.join(tools)}")
        try:
            text, data = await one.call(params.arguments or {})
        except DiglotError as error:
            # The model sees it, and can call again with better arguments.
            return _failure(str(error), max_content_chars)
        except Exception:
            _log.exception("%s failed", params.name)
            return _failure(
                "The memory cannot be used at the moment. Go on without it.", max_content_chars
            )
        return CallToolResult(content=[TextContent(text=text)], structured_content=data)

    return Server(
        "diglot",
        version=__version__,
        title="diglot",
        description="Translation memory and notes in two languages",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _lookup(source: ContextSource, title: str, more: dict[str, Any], limit: int) -> _Served:
    """A tool that gives the hits of a source, and `more` of what is known of them."""

    async def call(arguments: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        result = await source.gather(arguments)
        known = {name: result.metadata[name] for name in more if name in result.metadata}
        return result.content, {**_hits(result.metadata, limit), **known}

    tool = Tool(
        name=source.name,
        title=title,
        description=source.description,
        input_schema=source.parameters,
        output_schema=_output({**_HITS, **more}, list(_HITS)),
        annotations=_READS,
    )
    return _Served(tool, call)


def _add(store: TranslationMemoryStore, namespace: str | None) -> _Served:
    # Of calls at the same time with the same translation, one adds it.
    turn = asyncio.Lock()

    async def call(arguments: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        async with turn:
            added = await add.add_memory(store, arguments, namespace)
        if added:
            return "Added to the translation memory.", {"added": 1}
        return "The translation memory has it already; nothing was added.", {"added": 0}

    tool = Tool(
        name=add.NAME,
        title="Add a translation",
        description=add.DESCRIPTION,
        input_schema=add.PARAMETERS,
        output_schema=_output(_ADDED, list(_ADDED)),
        annotations=_ADDS,
    )
    return _Served(tool, call)


def _hits(metadata: Mapping[str, Any], limit: int) -> dict[str, Any]:
    """The first hits that take no more than `limit` characters of JSON together: many clients give
    the model what is structured instead of the text.
    """
    kept = []
    room = limit
    for hit in metadata["hits"]:
        room -= len(json.dumps(hit, ensure_ascii=False))
        if room < 0:
            break
        kept.append(hit)
    count = metadata["hit_count"]
    return {"hit_count": count, "hits": kept, "truncated": len(kept) < count}


def _failure(message: str, limit: int) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=shortened(message, limit))], is_error=True)
