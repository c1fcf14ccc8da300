"""Adding a translation on behalf of a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from diglot.dual.record import now
from diglot.errors import InvalidValueError
from diglot.model import TranslationMemoryEntry, name_table, snake_case_keys
from diglot.store import WHITE_SPACE, TranslationMemoryStore

__all__ = ["DESCRIPTION", "NAME", "PARAMETERS", "add_memory"]

NAME = "add-memory"
DESCRIPTION = (
    "Adds a source text with its translation to the translation memory, where later lookups find "
    "it. Add what is final, not drafts. What is there already is not added again."
)
PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "source": {"type": "string", "description": "The source text."},
        "target": {"type": "string", "description": "Its translation."},
        "source_language": {"type": "string", "description": "Its language, e.g. en."},
        "target_language": {"type": "string", "description": "The translation's, e.g. ko."},
        "domain": {"type": "string", "description": "Subject field."},
        "notes": {"type": "string", "description": "A remark for people."},
    },
    "required": ["source", "target"],
    "additionalProperties": False,
}

_NAMES = name_table(tuple(PARAMETERS["properties"]))

_FILTERS = ("source_language", "target_language", "domain", "namespace")

# Entries with the same source that are looked at.
_MOST = 1000


async def add_memory(
    store: TranslationMemoryStore, arguments: Mapping[str, Any], namespace: str | None
) -> bool:
    """Adds an entry, unless the store has one that is the same as the policy `skip` has it. Its
    metadata says that a model made it, so that people can tell.

    Returns:
        Whether it was added.

    Raises:
        InvalidTypeError: An argument has a wrong type.
        InvalidValueError: An argument is unknown, missing or empty.
    """
    values = snake_case_keys(arguments, _NAMES)
    for name in PARAMETERS["required"]:
        if values.get(name) is None:
            raise InvalidValueError(f"{name} is missing", code="missing_field", field=name)
    for name in _NAMES.values():
        # A model that has nothing to say of a field may say so with an empty text.
        value = values.get(name)
        if name not in PARAMETERS["required"] and isinstance(value, str):
            values[name] = value.strip(WHITE_SPACE) or None
    entry = TranslationMemoryEntry(
        **values,
        namespace=namespace,
        created_at=now(),
        metadata={"translation_source": "llm"},
    )
    if await _is_in(store, entry):
        return False
    await store.add(entry)
    return True


async def _is_in(store: TranslationMemoryStore, entry: TranslationMemoryEntry) -> bool:
    filters = {name: getattr(entry, name) for name in _FILTERS}
    hits = await store.search(entry.source, **filters, max_hits=_MOST, min_score=1.0)
    # A filter that is None lets everything through.
    absent = [name for name, value in filters.items() if value is None]
    return any(
        (hit.entry.source, hit.entry.target) == (entry.source, entry.target)
        and all(getattr(hit.entry, name) is None for name in absent)
        for hit in hits
    )
