"""Looking translations up on behalf of a model: a tool's parameters in, bounded text out."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Literal

from diglot._tags import neutralize_tags
from diglot.errors import InvalidTypeError, InvalidValueError
from diglot.model import TranslationMemoryHit, name_table, snake_case_keys
from diglot.store import (
    WHITE_SPACE,
    Signal,
    TranslationMemoryStore,
    check_integer,
    check_score,
    check_signal,
)

__all__ = ["ContextResult", "MemoryContextSource", "lookup_memory"]

MOST_HITS = 50

_FILTERS = ("source_language", "target_language", "domain", "namespace")
_PARAMETERS = name_table(("query", *_FILTERS, "max_hits", "min_score"))

# Bounds are told in words and checked in code: strict tool modes of some model providers refuse
# `minimum` and `maximum` in a schema.
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "query": {
            "type": "string",
            "description": "The source text to find earlier translations of.",
        },
        "source_language": {
            "type": "string",
            "description": "Only entries with this source language, e.g. en.",
        },
        "target_language": {
            "type": "string",
            "description": "Only entries with this target language, e.g. ko.",
        },
        "domain": {"type": "string", "description": "Only entries of exactly this domain."},
        "namespace": {"type": "string", "description": "Only entries of exactly this namespace."},
        "max_hits": {
            "type": "integer",
            "description": f"How many entries to return at the most, from 1 to {MOST_HITS}.",
        },
        "min_score": {
            "type": "number",
            "description": "The lowest similarity of an entry, from 0 to 1 (the same text).",
        },
    },
    "required": ["query"],
    "additionalProperties": False,
}

_LINES = (
    ("Source", "source"),
    ("Target", "target"),
    ("Source language", "source_language"),
    ("Target language", "target_language"),
    ("Domain", "domain"),
    ("Namespace", "namespace"),
    ("Source id", "source_id"),
    ("Created at", "created_at"),
    ("Notes", "notes"),
)


@dataclass(frozen=True, slots=True)
class ContextResult:
    """What a context source found.

    Attributes:
        content: Text for the model.
        metadata: The same for programs, as plain data: `query`, `hit_count`, and `hits` as
            `TranslationMemoryHit.to_dict` has them.
    """

    content: str
    metadata: dict[str, Any]


class MemoryContextSource:
    """A context source over a translation memory; `lookup_memory` makes one.

    Attributes:
        name: `lookup-memory`.
        description: What it does, for the model.
        mode: `passive`: it is asked when the model wants it.
    """

    name: Literal["lookup-memory"] = "lookup-memory"
    description = (
        "Finds earlier translations of similar source texts in the translation memory, "
        "so that wording stays consistent."
    )
    mode: Literal["passive"] = "passive"

    __slots__ = ("_fixed", "_max_content_chars", "_max_hits", "_min_score", "_names", "_store")

    def __init__(
        self,
        store: TranslationMemoryStore,
        *,
        max_hits: int,
        min_score: float,
        max_content_chars: int,
        fixed: Mapping[str, str | None],
    ) -> None:
        self._store = store
        self._fixed = check_fixed(fixed, _FILTERS)
        self._names = without(_PARAMETERS, self._fixed)
        self._max_hits = check_integer("max_hits", max_hits, least=1, most=MOST_HITS)
        self._min_score = check_score("min_score", min_score)
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
        """Looks a text up.

        Args:
            params: What the model asked for, under snake_case (`max_hits`) or camelCase (`maxHits`)
                names: `query`, and perhaps `source_language`, `target_language`, `domain`,
                `namespace`, `max_hits` and `min_score`, but for those that are fixed. A filter of
                white space only, and None for anything but the query, count as not given.
            signal: Stops the lookup when it is set.
            **keywords: The same as `params`, instead of it.

        Returns:
            The text for the model, of at most `max_content_chars` characters, and the hits. A query
            of white space finds nothing.

        Raises:
            InvalidTypeError: A parameter has a wrong type.
            InvalidValueError: A parameter is unknown, missing, or out of range.
            AbortedError: `signal` was set before the lookup was done.
        """
        values = given(params, keywords, self._names)
        query = given_text("query", values) or ""
        filters = {name: given_text(name, values) for name in _FILTERS}
        filters.update(self._fixed)
        max_hits = given_hits("max_hits", values, self._max_hits)
        min_score = self._min_score
        if (score := values.get("min_score")) is not None:
            min_score = check_score("min_score", score)
        check_signal(signal)
        hits: list[TranslationMemoryHit] = []
        if query:
            hits = await self._store.search(
                query, **filters, max_hits=max_hits, min_score=min_score, signal=signal
            )
        metadata = {"query": query, "hit_count": len(hits), "hits": [hit.to_dict() for hit in hits]}
        return ContextResult(_content(query, hits, self._max_content_chars), metadata)


def lookup_memory(
    store: TranslationMemoryStore,
    *,
    max_hits: int = 5,
    min_score: float = 0.2,
    max_content_chars: int = 4000,
    fixed: Mapping[str, str | None] | None = None,
) -> MemoryContextSource:
    """A context source, for a model's tool, that finds earlier translations in `store`.

    Args:
        store: Any translation memory store; only its `search` is called.
        max_hits: How many hits to return when the model does not say; from 1 to 50.
        min_score: The lowest score of a hit when the model does not say; from 0 to 1.
        max_content_chars: The most characters (code points) of text for the model; longer text ends
            in `...`. The model has no say in it.
        fixed: Filters that the model has no say in, such as `{"namespace": "acme"}`: they are not
            among its parameters, and every lookup has them. With None for a value, all entries pass
            that filter.

    Raises:
        InvalidTypeError: An argument has a wrong type.
        InvalidValueError: An argument is out of range.
    """
    if not callable(getattr(store, "search", None)):
        raise InvalidTypeError(
            f"store must be a TranslationMemoryStore; {type(store).__name__} has no method search",
            field="store",
        )
    return MemoryContextSource(
        store,
        max_hits=max_hits,
        min_score=min_score,
        max_content_chars=max_content_chars,
        fixed={} if fixed is None else fixed,
    )


def check_fixed(fixed: Mapping[str, str | None], filters: tuple[str, ...]) -> dict[str, str | None]:
    """A copy of the filters that are fixed.

    Raises:
        InvalidTypeError: Not a mapping, or a value is neither `str` nor None.
        InvalidValueError: A key is not one of `filters` (`unknown_field`), or a value is white
            space, which would filter nothing.
    """
    if not isinstance(fixed, Mapping):
        raise InvalidTypeError(
            f"fixed must be a mapping, not {type(fixed).__name__}", field="fixed"
        )
    checked = snake_case_keys(fixed, name_table(filters))
    for name, value in checked.items():
        if value is None:
            continue
        if not isinstance(value, str):
            raise InvalidTypeError(
                f"fixed[{name!r}] must be a str or None, not {type(value).__name__}", field="fixed"
            )
        if not value.strip(WHITE_SPACE):
            raise InvalidValueError(
                f"fixed[{name!r}] is empty; it must have a character that is not white space, or "
                "be None to filter nothing",
                code="empty_text",
                field="fixed",
            )
    return checked


def without(names: Mapping[str, str], fixed: Mapping[str, str | None]) -> dict[str, str]:
    """A `name_table` without the names that are fixed."""
    return {key: name for key, name in names.items() if name not in fixed}


def schema_without(schema: dict[str, Any], fixed: Mapping[str, str | None]) -> dict[str, Any]:
    """A copy of a schema without the properties that are fixed."""
    copy = deepcopy(schema)
    for name in fixed:
        del copy["properties"][name]
    return copy


def given(
    params: Mapping[str, Any] | None, keywords: dict[str, Any], names: Mapping[str, str]
) -> dict[str, Any]:
    """What `gather` was given, under its snake_case names, which are looked up in a `name_table`.

    Raises:
        InvalidTypeError: `params` is no mapping.
        InvalidValueError: There are both, a parameter is unknown or given twice, or there is no
            query (`missing_field`).
    """
    if params is None:
        params = keywords
    elif keywords:
        raise InvalidValueError(
            "parameters are given twice, in params and as keywords", field="params"
        )
    if not isinstance(params, Mapping):
        raise InvalidTypeError(
            f"params must be a mapping, not {type(params).__name__}", field="params"
        )
    values = snake_case_keys(params, names)
    if values.get("query") is None:
        raise InvalidValueError("query is missing", code="missing_field", field="query")
    return values


def given_text(name: str, values: Mapping[str, Any]) -> str | None:
    """A text that was given, without white space around it; None if nothing is left."""
    value = values.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise InvalidTypeError(f"{name} must be a str, not {type(value).__name__}", field=name)
    return value.strip(WHITE_SPACE) or None


def given_hits(name: str, values: Mapping[str, Any], default: int) -> int:
    """How many hits were asked for."""
    value = values.get(name)
    if value is None:
        return default
    # In JSON, and so for models, 5.0 is an integer.
    value = int(value) if isinstance(value, float) and value.is_integer() else value
    return check_integer(name, value, least=1, most=MOST_HITS)


def _content(query: str, hits: list[TranslationMemoryHit], limit: int) -> str:
    """The text for the model."""
    if not query:
        return shortened("No translation memory matches found for an empty query.", limit)
    shown = neutralize_tags(query, limit)
    if not hits:
        return shortened(f"No translation memory matches found for: {shown}", limit)
    content = f"# Translation memory matches: {shown}\n"
    for number, hit in enumerate(hits, start=1):
        content += f"\n## {number}. Score: {_two_decimals(hit.score)}\n"
        for label, name in _LINES:
            if value := getattr(hit.entry, name):
                content += f"{label}: {neutralize_tags(value, limit)}\n"
        if len(content) > limit + 1:
            break
    return shortened(content[:-1], limit)


def shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: max(limit - 3, 0)] + "..."[:limit]


def _two_decimals(score: float) -> str:
    """As JavaScript's `toFixed(2)`: the double's exact value, halves rounded up."""
    return str(Decimal(score).quantize(Decimal("0.01"), ROUND_HALF_UP))
