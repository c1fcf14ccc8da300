"""Changes of many entries in one step, as stores make them."""

from __future__ import annotations

import pytest

from diglot import InvalidValueError, TranslationMemoryEntry, UnknownEntryError, _engine


def prepared(*sources: str) -> _engine.Batch:
    batch = _engine.Batch()
    assert batch.extend((TranslationMemoryEntry(source, "t") for source in sources), 1)
    batch.absorb()
    batch.prepare()
    return batch


def ids(*numbers: int) -> _engine.Ids:
    some = _engine.Ids()
    assert some.extend(iter(numbers), 1)
    return some


def held(memory: _engine.Memory) -> list[tuple[int, str]]:
    return [(id, entry.source) for id, entry in memory.snapshot().entries(0, 1)]


def test_entries_are_removed_replaced_and_added_in_one_step() -> None:
    memory = _engine.Memory()
    memory.publish(prepared("a", "b", "c"))
    assert memory.apply(memory.snapshot(), ids(0, 1), 1, prepared("B"))
    assert held(memory) == [(1, "B"), (2, "c")]
    assert memory.apply(memory.snapshot(), ids(), 10, prepared("d", "e"))
    assert held(memory) == [(1, "B"), (2, "c"), (10, "d"), (11, "e")]
    assert memory.snapshot().next_id == 12


def test_nothing_is_done_to_a_memory_that_changed() -> None:
    memory = _engine.Memory()
    memory.publish(prepared("a"))
    seen = memory.snapshot()
    memory.add(TranslationMemoryEntry("b", "t"))
    assert not memory.apply(seen, ids(0), 10, prepared("c"))
    assert held(memory) == [(0, "a"), (1, "b")]


def test_ids_that_cannot_be_given_or_removed() -> None:
    memory = _engine.Memory()
    memory.publish(prepared("a", "b"))
    for first in (0, 1, 2**63 - 1, 2**64 - 1):
        with pytest.raises(InvalidValueError, match=rf"the id {first} cannot .* from \d+ to 92233"):
            memory.apply(memory.snapshot(), ids(), first, prepared("c"))
    with pytest.raises(UnknownEntryError):
        memory.apply(memory.snapshot(), ids(7), 2, prepared("c"))
    assert held(memory) == [(0, "a"), (1, "b")]
