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
    "it. Add what is final, not drafts."
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


async def add_memory(
    store: TranslationMemoryStore, arguments: Mapping[str, Any], namespace: str | None
) -> None:
    """Adds an entry. Its metadata says that a model made it, so that people can tell.

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
    await store.add(
        TranslationMemoryEntry(
            **values,
            namespace=namespace,
            created_at=now(),
            metadata={"translation_source": "llm"},
        )
    )
