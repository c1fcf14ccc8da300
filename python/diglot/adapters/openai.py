"""Tools for OpenAI's APIs: the Responses API, and the Chat Completions API that many others speak.

Everything is plain data, so neither this module nor the tools need the package `openai`; the extra
`diglot[openai]` brings it for whoever calls the API with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diglot.adapters.source import ContextSource, answer, strict_parameters

if TYPE_CHECKING:
    from openai.types.chat import (
        ChatCompletionFunctionToolParam,
        ChatCompletionMessageFunctionToolCall,
        ChatCompletionToolMessageParam,
    )
    from openai.types.responses import FunctionToolParam, ResponseFunctionToolCall
    from openai.types.responses.response_input_param import FunctionCallOutput

__all__ = ["chat_message", "chat_tool", "responses_output", "responses_tool"]


def responses_tool(source: ContextSource, *, strict: bool = True) -> FunctionToolParam:
    """The tool for `client.responses.create(tools=[...])`.

    Args:
        source: What it looks up.
        strict: Whether the API has the model keep to the schema. All parameters are required then,
            and null where the model has nothing to say.
    """
    return {
        "type": "function",
        "name": source.name,
        "description": source.description,
        "parameters": strict_parameters(source) if strict else source.parameters,
        "strict": strict,
    }


async def responses_output(
    source: ContextSource, call: ResponseFunctionToolCall
) -> FunctionCallOutput:
    """The next input item after a `function_call` of the tool. Wrong arguments are told in it."""
    return {
        "type": "function_call_output",
        "call_id": call.call_id,
        "output": (await answer(source, call.arguments)).text,
    }


def chat_tool(source: ContextSource, *, strict: bool = True) -> ChatCompletionFunctionToolParam:
    """The tool for `client.chat.completions.create(tools=[...])`.

    Args:
        source: What it looks up.
        strict: As for `responses_tool`. Not all servers that speak this API know it.
    """
    return {
        "type": "function",
        "function": {
            "name": source.name,
            "description": source.description,
            "parameters": strict_parameters(source) if strict else source.parameters,
            "strict": strict,
        },
    }


async def chat_message(
    source: ContextSource, call: ChatCompletionMessageFunctionToolCall
) -> ChatCompletionToolMessageParam:
    """The next message after a tool call. Wrong arguments are told in it."""
    return {
        "role": "tool",
        "tool_call_id": call.id,
        "content": (await answer(source, call.function.arguments)).text,
    }
