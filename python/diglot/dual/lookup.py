"""Recalling notes on behalf of a model: a tool's parameters in, bounded text out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from diglot._tags import neutralize_tags
from diglot.dual.recall import RecallHit, RecallResult
from diglot.dual.record import STATUSES
from diglot.dual.store import DualLanguageStore
from diglot.errors import InvalidTypeError
from diglot.lookup import (
    MOST_HITS,
    ContextResult,
    _two_decimals,
    check_fixed,
    given,
    given_hits,
    given_text,
    schema_without,
    shortened,
    without,
)
from diglot.model import name_table
from diglot.store import Signal, check_integer, check_signal

__all__ = ["DualMemoryContextSource", "lookup_dual_memory"]

_FILTERS = ("lang", "category", "namespace", "translation_status")
_PARAMETERS = name_table(("query", "query_en", *_FILTERS, "limit"))

# As in `diglot.lookup`, bounds are told in words and checked in code.
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "query": {
            "type": "string",
            "description": "What to recall, best in the language of the notes.",
        },
        "query_en": {
            "type": "string",
            "description": "The same in English; finds notes in other languages. Give it whenever "
            "the query is not in English.",
        },
        "lang": {"type": "string", "description": "Only notes in this language, e.g. zh."},
        "category": {"type": "string", "description": "Only notes of exactly this category."},
        "namespace": {"type": "string", "description": "Only notes of exactly this namespace."},
        "translation_status": {
            "type": "string",
            "enum": list(STATUSES),
            "description": "Only notes whose English companion has this status.",
        },
        "limit": {
            "type": "integer",
            "description": f"How many notes to return at the most, from 1 to {MOST_HITS}.",
        },
    },
    "required": ["query"],
    "additionalProperties": False,
}

_FIELDS = {"text": "original text", "text_en": "English companion"}
_SOURCES = {"human": "by a person", "llm": "by a machine"}


class DualMemoryContextSource:
    """A context source over a dual-language memory; `lookup_dual_memory` makes one.

    Attributes:
        name: `lookup-dual-memory`.
        description: What it does, for the model.
        mode: `passive`: it is asked when the model wants it.
    """

    name: Literal["lookup-dual-memory"] = "lookup-dual-memory"
    description = (
        "Recalls notes from the memory, whatever language they were written in. The original text "
        "counts; an English companion is only as good as its status says."
    )
    mode: Literal["passive"] = "passive"

    __slots__ = ("_fixed", "_limit", "_max_content_chars", "_memory", "_names")

    def __init__(
        self,
        memory: DualLanguageStore,
        *,
        limit: int,
        max_content_chars: int,
        fixed: Mapping[str, str | None],
    ) -> None:
        self._memory = memory
        self._fixed = check_fixed(fixed, _FILTERS)
        self._names = without(_PARAMETERS, self._fixed)
        self._limit = check_integer("limit", limit, least=1, most=MOST_HITS)
        self._max_content_chars = check_integer("max_content_chars", max_content_chars, least=1)

    @property
    def parameters(self) -> dict[str, Any]:
        """JSON Schema of what `gather` takes, with snake_case names. A copy."""
        return schema_without(_SCHEMA, self._fixed)

    async def gather(
        self,
        params: Mapping[str, Any] | None = None,
        *,
        signal: Signal | None = None,
        **keywords: Any,
    ) -> ContextResult:
        """Recalls.

        Args:
            params: What the model asked for, under snake_case (`query_en`) or camelCase (`queryEn`)
                names: `query`, and perhaps `query_en`, `lang`, `category`, `namespace`,
                `translation_status` and `limit`, but for those that are fixed. White space only,
                and None for anything but the query, count as not given.
            signal: Stops the recall when it is set.
            **keywords: The same as `params`, instead of it.

        Returns:
            The text for the model, of at most `max_content_chars` characters, and the result: the
            keys of `RecallResult.to_dict`, and `hit_count`. A query of white space finds nothing;
            its metadata has `query`, `hit_count` and `hits` only.

        Raises:
            InvalidTypeError: A parameter has a wrong type.
            InvalidValueError: A parameter is unknown, missing, or out of range.
            AbortedError: `signal` was set before the recall was done.
        """
        values = given(params, keywords, self._names)
        query, query_en = (given_text(name, values) for name in ("query", "query_en"))
        filters = {name: given_text(name, values) for name in _FILTERS}
        filters.update(self._fixed)
        limit = given_hits("limit", values, self._limit)
        check_signal(signal)
        if query is None:
            content = "No memories found for an empty query."
            return ContextResult(
                shortened(content, self._max_content_chars),
                {"query": "", "hit_count": 0, "hits": []},
            )
        result = await self._memory.recall(
            query,
            query_en,
            limit=limit,
            signal=signal,
            **filters,  # type: ignore[arg-type]
        )
        metadata = {**result.to_dict(), "hit_count": len(result.hits)}
        return ContextResult(_content(result, self._max_content_chars), metadata)


def lookup_dual_memory(
    memory: DualLanguageStore,
    *,
    limit: int = 5,
    max_content_chars: int = 4000,
    fixed: Mapping[str, str | None] | None = None,
) -> DualMemoryContextSource:
    """A context source, for a model's tool, that recalls notes from `memory`.

    Args:
        memory: Any dual-language memory; only its `recall` is called.
        limit: How many notes to return when the model does not say; from 1 to 50.
        max_content_chars: The most characters (code points) of text for the model; longer text ends
            in `...`. The model has no say in it.
        fixed: Filters that the model has no say in, such as `{"namespace": "acme"}`: they are not
            among its parameters, and every recall has them. With None for a value, all records pass
            that filter.

    Raises:
        InvalidTypeError: An argument has a wrong type.
        InvalidValueError: An argument is out of range.
    """
    if not callable(getattr(memory, "recall", None)):
        raise InvalidTypeError(
            f"memory must be a DualLanguageStore; {type(memory).__name__} has no method recall",
            field="memory",
        )
    return DualMemoryContextSource(
        memory,
        limit=limit,
        max_content_chars=max_content_chars,
        fixed={} if fixed is None else fixed,
    )


def _content(result: RecallResult, limit: int) -> str:
    """The text for the model."""
    shown = neutralize_tags(result.query, limit)
    if not result.hits:
        return shortened(f"No memories found for: {shown}", limit)
    content = f"# Memories for: {shown}\n"
    if result.low_confidence:
        content += (
            "\nLow confidence: none of these is close to the query. They may be about something "
            "else.\n"
        )
    for number, hit in enumerate(result.hits, start=1):
        content += f"\n## {number}. Strength: {_two_decimals(hit.matches[0].strength)}\n"
        for label, value in _lines(hit):
            content += f"{label}: {neutralize_tags(value, limit)}\n"
        if len(content) > limit + 1:
            break
    return shortened(content[:-1], limit)


def _lines(hit: RecallHit) -> list[tuple[str, str]]:
    record = hit.record
    lines = [("Text", record.text)]
    if record.text_en is not None:
        lines += [
            ("English", record.text_en),
            (
                "English companion",
                f"{record.translation_status}, {_SOURCES[record.translation_source]}",
            ),
        ]
    lines.append(("Matched", _FIELDS[hit.field]))
    lines.append(("Language", record.lang))
    for label, value in (("Category", record.category), ("Namespace", record.namespace)):
        if value:
            lines.append((label, value))
    return [*lines, ("Id", record.id), ("Updated at", record.updated_at)]
