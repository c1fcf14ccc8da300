"""Tools for Pydantic AI. Needs `diglot[pydantic-ai]`."""

from __future__ import annotations

from typing import Any

from diglot._extras import extra
from diglot.adapters.source import ContextSource, told
from diglot.errors import InvalidTypeError, InvalidValueError

with extra("pydantic-ai", "diglot.adapters.pydantic_ai"):
    from pydantic_ai import ModelRetry, Tool, ToolReturn

__all__ = ["lookup_tool"]


def lookup_tool(source: ContextSource) -> Tool[Any]:
    """The tool for `Agent(tools=[...])`.

    Wrong arguments ask the model to try again (`ModelRetry`). The hits are the return part's
    `metadata`, which the model does not see.
    """

    async def lookup(**arguments: Any) -> ToolReturn:
        try:
            result = await source.gather(arguments)
        except (InvalidTypeError, InvalidValueError) as error:
            raise ModelRetry(told(error)) from None
        return ToolReturn(result.content, metadata=result.metadata)

    return Tool.from_schema(lookup, source.name, source.description, source.parameters)
