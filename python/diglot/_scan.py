"""Going through all entries of a memory: those that contain a piece of text, and counts."""

from __future__ import annotations

from typing import Literal

from diglot import _engine
from diglot._steps import Steps
from diglot.errors import InvalidTypeError, InvalidValueError
from diglot.model import TranslationMemoryEntry
from diglot.store import Signal, check_integer, check_options, check_signal

__all__ = ["FIELDS", "Field", "Side", "containing", "count_by"]

Side = Literal["source", "target", "both"]
Field = Literal["source_language", "target_language", "domain", "namespace"]

FIELDS: tuple[Field, ...] = ("source_language", "target_language", "domain", "namespace")

# Entries that are made into Python objects at a time.
_ENTRIES = 256


def containing(
    seen: Steps[_engine.Memory],
    text: str,
    side: Side,
    filters: tuple[str | None, str | None, str | None, str | None],
    start: int,
    max_entries: int,
    signal: Signal | None,
) -> Steps[list[tuple[int, TranslationMemoryEntry]]]:
    """The steps of `concordance`."""
    if not isinstance(text, str):
        raise InvalidTypeError(f"text must be a str, not {type(text).__name__}", field="text")
    if side not in ("source", "target", "both"):
        message = f"side is {side!r}; it must be 'source', 'target' or 'both'"
        raise InvalidValueError(message, field="side")
    start = check_integer("start", start, least=0, most=2**63 - 1)
    max_entries = check_integer("max_entries", max_entries, least=1)
    options = check_options(*filters, max_entries, 0.0)
    check_signal(signal)
    snapshot = (yield from seen).snapshot()
    ids = yield lambda flag: _engine.containing(
        snapshot, (text, side, start), options, flag, signal
    )
    found = []
    for first in range(0, len(ids), _ENTRIES):
        yield None
        found += [(id, snapshot.get(id)) for id in ids[first : first + _ENTRIES]]
    return found


def count_by(
    seen: Steps[_engine.Memory],
    fields: tuple[Field, ...],
    filters: tuple[str | None, str | None, str | None, str | None],
    signal: Signal | None,
) -> Steps[dict[tuple[str | None, ...], int]]:
    """The steps of `count_by`."""
    for field in fields:
        if field not in FIELDS:
            message = f"fields has {field!r}; allowed are {', '.join(FIELDS)}"
            raise InvalidValueError(message, field="fields")
    if len(set(fields)) < len(fields):
        raise InvalidValueError("fields has the same one twice", field="fields")
    options = check_options(*filters, 1, 0.0)
    check_signal(signal)
    snapshot = (yield from seen).snapshot()
    by = [name in fields for name in FIELDS]
    counts = yield lambda flag: _engine.count_by(snapshot, by, options, flag, signal)
    places = [FIELDS.index(field) for field in fields]
    return {tuple(values[place] for place in places): count for values, count in counts}
