"""Tools for Anthropic's Messages API.

Everything is plain data, so neither this module nor the tools need the package `anthropic`; the
extra `diglot[anthropic]` brings it for whoever calls the API with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diglot.adapters.source import ContextSource, answer

if TYPE_CHECKING:
    from anthropic.types import ToolParam, ToolResultBlockParam, ToolUseBlock

__all__ = ["lookup_tool", "tool_result"]


def lookup_tool(source: ContextSource, *, strict: bool = False) -> ToolParam:
    """The tool for `client.messages.create(tools=[...])`.

    Args:
        source: What it looks up.
        strict: Whether the API has the model keep to the schema, where the model can.
    """
    tool: ToolParam = {
        "name": source.name,
        "description": source.description,
        "input_schema": source.parameters,
    }
    if strict:
        tool["strict"] = True
    return tool


async def tool_result(source: ContextSource, call: ToolUseBlock) -> ToolResultBlockParam:
    """The block of the next user message that answers a `tool_use` of the tool. Wrong arguments are
    told in it, as an error.
    """
    text, failed = await answer(source, call.input)
    return {
        "type": "tool_result",
        "tool_use_id": call.id,
        "content": text,
        "is_error": failed,
    }
