"""What adapters make tools of, and what they have in common."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from diglot.errors import InvalidTypeError, InvalidValueError
from diglot.lookup import ContextResult, shortened

__all__ = ["Answer", "ContextSource", "answer", "strict_parameters", "told"]

# Characters of an error's text: it may quote what the model said.
_LONGEST = 1000


class ContextSource(Protocol):
    """What `lookup_memory` and `lookup_dual_memory` return, or anything of the same shape."""

    @property
    def name(self) -> str:
        """The tool's name: letters, digits, `_` and `-`, at most 64."""
        ...

    @property
    def description(self) -> str:
        """What the tool does, for the model."""
        ...

    @property
    def parameters(self) -> dict[str, Any]:
        """JSON Schema of its parameters: an object without further properties."""
        ...

    async def gather(self, params: Mapping[str, Any] | None = None) -> ContextResult:
        """What the tool finds. Wrong parameters raise `InvalidTypeError` or `InvalidValueError`."""
        ...


class Answer(NamedTuple):
    """What a model hears of a call.

    Attributes:
        text: The text for the model.
        failed: Whether it says what was wrong with the arguments.
    """

    text: str
    failed: bool


def told(error: InvalidTypeError | InvalidValueError) -> str:
    """The text that tells a model what was wrong with its arguments."""
    return shortened(str(error), _LONGEST)


async def answer(source: ContextSource, arguments: str | Mapping[str, Any]) -> Answer:
    """Does what a model called for.

    Args:
        source: The tool.
        arguments: What the model said, as JSON or read from it.
    """
    try:
        params = _parsed(arguments) if isinstance(arguments, str) else arguments
        return Answer((await source.gather(params)).content, False)
    except (InvalidTypeError, InvalidValueError) as error:
        return Answer(told(error), True)


def _parsed(arguments: str) -> Any:
    try:
        # Some models say nothing where they mean no arguments.
        return json.loads(arguments) if arguments.strip() else {}
    except json.JSONDecodeError as error:
        message = f"the arguments are not JSON: {error.msg} at character {error.pos}"
    except RecursionError:
        message = "the arguments are nested too deeply"
    raise InvalidValueError(message, field="arguments")


def strict_parameters(source: ContextSource) -> dict[str, Any]:
    """The parameters as OpenAI's strict mode wants them: all are required, and null stands for what
    is not given.
    """
    schema = source.parameters
    required = schema["required"]
    for name, one in schema["properties"].items():
        if name not in required:
            one["type"] = [one["type"], "null"]
            if "enum" in one:
                one["enum"] = [*one["enum"], None]
    schema["required"] = list(schema["properties"])
    return schema
