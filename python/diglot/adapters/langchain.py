"""Tools for LangChain, and so for LangGraph's agents. Needs `diglot[langchain]`."""

from __future__ import annotations

import asyncio
from typing import Any

from diglot._extras import extra
from diglot.adapters.source import ContextSource, told
from diglot.errors import InvalidTypeError, InvalidValueError

with extra("langchain", "diglot.adapters.langchain"):
    from langchain_core.tools import StructuredTool, ToolException

__all__ = ["lookup_tool"]


def lookup_tool(source: ContextSource) -> StructuredTool:
    """The tool, for `model.bind_tools([...])` and agents.

    Wrong arguments are told in a message with the status `error`. The hits are the message's
    `artifact`, which the model does not see.

    `ainvoke` runs where it is awaited. `invoke` runs the lookup in an event loop of its own, which
    a store that is bound to another loop does not allow, and which cannot be done in a thread whose
    loop is running: await `ainvoke` there.
    """

    async def lookup(**arguments: Any) -> tuple[str, dict[str, Any]]:
        try:
            result = await source.gather(arguments)
        except (InvalidTypeError, InvalidValueError) as error:
            raise ToolException(told(error)) from None
        return result.content, result.metadata

    def lookup_now(**arguments: Any) -> tuple[str, dict[str, Any]]:
        return asyncio.run(lookup(**arguments))

    return StructuredTool(
        name=source.name,
        description=source.description,
        args_schema=source.parameters,
        func=lookup_now,
        coroutine=lookup,
        response_format="content_and_artifact",
        handle_tool_error=True,
    )
