"""Tools for the OpenAI Agents SDK. Needs `diglot[openai-agents]`."""

from __future__ import annotations

from typing import Any

from diglot._extras import extra
from diglot.adapters.source import ContextSource, answer, strict_parameters

with extra("openai-agents", "diglot.adapters.openai_agents"):
    from agents import FunctionTool
    from agents.tool_context import ToolContext

__all__ = ["lookup_tool"]


def lookup_tool(source: ContextSource, *, strict: bool = True) -> FunctionTool:
    """The tool for `Agent(tools=[...])`. Wrong arguments are told in its output.

    Args:
        source: What it looks up.
        strict: Whether the API has the model keep to the schema. All parameters are required then,
            and null where the model has nothing to say.
    """

    async def invoke(context: ToolContext[Any], arguments: str) -> str:
        return (await answer(source, arguments)).text

    return FunctionTool(
        name=source.name,
        description=source.description,
        params_json_schema=strict_parameters(source) if strict else source.parameters,
        on_invoke_tool=invoke,
        strict_json_schema=strict,
    )
