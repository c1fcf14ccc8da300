"""What a translation memory holds and returns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field, fields
from typing import Any

from diglot._engine import check_entry
from diglot.errors import InvalidTypeError, InvalidValueError

__all__ = ["MemoryStats", "TranslationMemoryEntry", "TranslationMemoryHit"]


@dataclass(frozen=True, slots=True)
class TranslationMemoryEntry:
    """One source text with its translation, and what is known about the pair.

    An entry is checked when it is made, and so is everything that is added to a memory.

    Attributes:
        source: The text that lookups compare with. It needs at least one character that is not
            white space.
        target: Its translation; the same holds.
        source_language: Language tag of the source, such as `en` or `zh-CN`.
        target_language: Language tag of the target.
        domain: Subject field.
        namespace: The tenant, project or collection that the entry belongs to.
        source_id: Where the pair came from.
        created_at: When it was made, in ISO 8601. Kept as given.
        notes: A remark for people.
        metadata: Anything that JSON can hold, under `str` keys. The entry keeps a copy, in which
            tuples are lists and mappings are dicts.

    Raises:
        InvalidTypeError: A field has a wrong type.
        InvalidValueError: `source` or `target` is empty or white space (`empty_text`), a text is
            not valid Unicode (`lone_surrogate`), or JSON cannot hold the metadata. The message
            names the field, and the path in it.
    """

    source: str
    target: str
    source_language: str | None = None
    target_language: str | None = None
    domain: str | None = None
    namespace: str | None = None
    source_id: str | None = None
    created_at: str | None = None
    notes: str | None = None
    metadata: dict[str, Any] | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        metadata = check_entry(self)
        if metadata is not None:
            object.__setattr__(self, "metadata", json.loads(metadata))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TranslationMemoryEntry:
        """Makes an entry from a mapping with snake_case (`source_language`) or camelCase
        (`sourceLanguage`) keys.

        Raises:
            InvalidTypeError: `values` is no mapping, or a field has a wrong type.
            InvalidValueError: A key is unknown (`unknown_field`), `source` or `target` is missing
                (`missing_field`), a field is given under both names, or has a value that is not
                allowed.
        """
        if not isinstance(values, Mapping):
            raise InvalidTypeError(
                f"an entry must be made from a mapping, not {type(values).__name__}", field="values"
            )
        arguments = snake_case_keys(values, _KEYS)
        for name in ("source", "target"):
            if name not in arguments:
                raise InvalidValueError(f"{name} is missing", code="missing_field", field=name)
        return cls(**arguments)

    def to_dict(self) -> dict[str, Any]:
        """The fields that are not None, under their snake_case names. The metadata is a copy."""
        values = {name: getattr(self, name) for name in _FIELDS}
        values["metadata"] = deepcopy(self.metadata)
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True)
class TranslationMemoryHit:
    """An entry that is like the query.

    Attributes:
        entry: The entry, a copy of what is stored.
        score: How alike its source and the query are, from 0 to 1.
        id: The entry's number in its store.
    """

    entry: TranslationMemoryEntry
    score: float
    id: int

    def to_dict(self) -> dict[str, Any]:
        """The hit as plain data: `id`, `score`, and `entry` as `TranslationMemoryEntry.to_dict` has
        it.
        """
        return {"id": self.id, "score": self.score, "entry": self.entry.to_dict()}


@dataclass(frozen=True, slots=True)
class MemoryStats:
    """Counts and sizes of a memory in this process.

    Attributes:
        entries: Entries that can be found.
        rows: Distinct normalized sources, counted in each segment by itself. Removed entries count
            until their room is reclaimed.
        segments: Immutable parts of the index.
        live: Entries that are not in a segment yet.
        removed: Entries that were removed and still take room.
        bytes: Bytes in use, by part of the memory.
    """

    entries: int
    rows: int
    segments: int
    live: int
    removed: int
    bytes: Mapping[str, int]


def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(other.capitalize() for other in others)


def name_table(names: tuple[str, ...]) -> dict[str, str]:
    """The snake_case name for each of `names` and for its camelCase form."""
    return {key: name for name in names for key in (name, _camel_case(name))}


def snake_case_keys(values: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """The values under their snake_case names, which are looked up in a `name_table`.

    Raises:
        InvalidValueError: A key is unknown (`unknown_field`), or a name is given in both forms.
    """
    result: dict[str, Any] = {}
    for key, value in values.items():
        name = names.get(key) if isinstance(key, str) else None
        if name is None:
            allowed = ", ".join(dict.fromkeys(names.values()))
            message = (
                f"{key!r} is not a known field; allowed are {allowed} (or their camelCase forms)"
            )
            raise InvalidValueError(message, code="unknown_field", field=str(key))
        if name in result:
            raise InvalidValueError(
                f"{name} is given twice, in snake_case and in camelCase", field=name
            )
        result[name] = value
    return result


_FIELDS = tuple(field.name for field in fields(TranslationMemoryEntry))
_KEYS = name_table(_FIELDS)
