"""Changes of many entries in one step, as stores make them."""

from __future__ import annotations

import pytest

from diglot import (
    AbortedError,
    InvalidTypeError,
    InvalidValueError,
    TranslationMemoryEntry,
    UnknownEntryError,
    _engine,
)
from diglot.stores._database import Arguments, Database


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


ROW = (7, "Save", "저장", "en", "ko", "ui", "a", "m-1", "2024-01-01", "n", '{"a":1}')
BARE = (9, "Close", "닫기", *[None] * 8)
# A text that looks like the number that stands for what is not there.
ZEROS = (10, *["0"] * 9, '{"a":0}')


@pytest.mark.parametrize("is_prepared", [False, True])
def test_entries_leave_as_the_rows_they_came_as(is_prepared) -> None:
    batch = _engine.Batch()
    assert batch.extend_rows(iter([ROW, BARE]), 1)
    batch.absorb()
    if is_prepared:
        batch.prepare()
    assert len(batch) == 2
    bare = (*BARE[:3], *[0] * 8)
    assert batch.values(0, 0, 10) == [ROW, bare]
    assert batch.values(1, 1, 2) == [(10, *bare[1:])]
    assert batch.values(0, 2, 3) == []
    if is_prepared:
        memory = _engine.Memory()
        assert memory.apply(memory.snapshot(), ids(), 0, batch)
        snapshot = memory.snapshot()
        assert snapshot.rows(0, 10) == [ROW, BARE]
        assert snapshot.rows(8, 10) == [BARE]
        assert snapshot.rows(0, 1) == [ROW]
        assert snapshot.get(7).metadata == {"a": 1}


def test_values_become_the_rows_that_they_are_of(tmp_path) -> None:
    batch = _engine.Batch()
    batch.extend_rows(iter([ROW, BARE, ZEROS]), 1)
    batch.absorb()
    database = Database("translations", Arguments(tmp_path / "a.db", True, False, 1.0))
    database.insert(batch.values(0, 0, 10))
    assert list(database.rows(database.writer, 0, 10)) == [ROW, BARE, ZEROS]
    database.close()


def test_batches_are_joined_in_order() -> None:
    batches = []
    for row in (BARE, ROW, BARE):
        batch = _engine.Batch()
        batch.extend_rows(iter([row]), 1)
        batch.absorb()
        batches.append(batch)
    joined = _engine.Batch.joined([*batches, batches[0]])
    values = joined.values(1, 0, 10)
    assert [value[0] for value in values] == [1, 2, 3, 4]
    assert [value[1] for value in values] == ["Close", "Save", "Close", "Close"]
    assert [len(batch) for batch in batches] == [1, 1, 1]
    assert len(_engine.Batch.joined([])) == 0


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (None, "row must be a tuple of an id and ten fields, not NoneType"),
        (ROW[:-1], "row must be"),
        (("7", *ROW[1:]), "id must be an int"),
        ((17, None, *ROW[2:]), "the entry with the id 17: source must be a str, not NoneType"),
        ((17, "a", b"b", *ROW[3:]), "the entry with the id 17: target must be a str, not bytes"),
        ((17, *ROW[1:-1], 5), "the entry with the id 17: metadata must be a str or None, not int"),
        ((17, " ", *ROW[2:]), "the entry with the id 17: source is empty"),
        ((17, "\udc00", *ROW[2:]), "the entry with the id 17: source has a lone surrogate"),
        ((9, *ROW[1:]), "the entry with the id 9: the id 9 cannot be given"),
    ],
)
def test_rows_that_are_no_entries(row, message) -> None:
    batch = _engine.Batch()
    batch.extend_rows(iter([BARE]), 1)

    def take() -> None:
        batch.extend_rows(iter([row]), 1)
        batch.absorb()

    with pytest.raises((InvalidTypeError, InvalidValueError), match=message):
        take()


def test_ids_as_ranges() -> None:
    assert ids().ranges() == []
    assert ids(5, 1, 3, 2, 9, 9, 10).ranges() == [(1, 3), (5, 5), (9, 10)]
    assert ids(2**64 - 1, 0).ranges() == [(0, 0), (2**64 - 1, 2**64 - 1)]


def test_ids_that_a_memory_has() -> None:
    memory = _engine.Memory()
    assert memory.apply(memory.snapshot(), ids(), 10, prepared("a", "b", "c"))
    memory.remove(11)
    snapshot = memory.snapshot()
    assert snapshot.ids_within([(0, 10), (12, 2**63)]).ranges() == [(10, 10), (12, 12)]
    assert len(snapshot.ids_within([(0, 9), (11, 11)])) == 0
    snapshot.check_ids(ids(12, 10))
    for some, id in ((ids(10, 11), 11), (ids(12, 10, 12), 12)):
        with pytest.raises(UnknownEntryError, match=f"the id {id}$"):
            snapshot.check_ids(some)


def test_one_entry_is_checked_by_itself() -> None:
    batch = _engine.Batch()
    batch.push(TranslationMemoryEntry("a", "b"))
    with pytest.raises(InvalidTypeError) as caught:
        batch.push("a")  # type: ignore[arg-type]
    assert caught.value.position is None
    assert len(batch) == 1


def test_a_flag_is_set_or_committed_to() -> None:
    flag = _engine.CancelFlag()
    flag.commit()
    flag.commit()
    assert not flag.set()
    flag = _engine.CancelFlag()
    assert flag.set()
    with pytest.raises(AbortedError):
        flag.commit()
