"""What becomes of entries that a memory has already, through the binding.

The engine's own tests compare with a model that adds one entry after the other.
"""

from itertools import chain

import pytest

from diglot import TranslationMemory, TranslationMemoryEntry, _engine

ENTRIES = [
    TranslationMemoryEntry("Save", "저장", "en", "ko", created_at="2024-01-01"),
    TranslationMemoryEntry("Save", "保存", "en", "ja"),
    TranslationMemoryEntry("Open", "열기", "en", "ko"),
]
MORE = [
    TranslationMemoryEntry("Save", "저장", "EN", "ko", created_at="2023-01-01"),
    TranslationMemoryEntry("Open", "열다", "en", "ko"),
    TranslationMemoryEntry("Close", "닫기", "en", "ko"),
    TranslationMemoryEntry("Close", "닫다", "en", "ko", metadata={"changed_at": "2024-01-01"}),
]


def batch(entries: list[TranslationMemoryEntry]) -> _engine.Batch:
    made = _engine.Batch()
    assert made.extend(iter(entries), 10.0)
    made.absorb()
    return made


def pairs(counts):
    return {(source, target): tuple(others) for source, target, *others in counts}


@pytest.mark.parametrize(
    ("policy", "expected", "counts"),
    [
        (
            "skip",
            [0, 1, 2, "Open 열다", "Close 닫기", "Close 닫다"],
            {("en", "ko"): (3, 1, 0, 0)},
        ),
        (
            "replace",
            ["Save 저장", 1, "Open 열다", "Close 닫다"],
            {("en", "ko"): (1, 0, 3, 0)},
        ),
        (
            "newest",
            [0, 1, 2, "Close 닫다"],
            {("en", "ko"): (1, 2, 1, 0)},
        ),
    ],
)
def test_resolving_is_what_merging_does(policy, expected, counts) -> None:
    memory = TranslationMemory(ENTRIES)
    snapshot = memory._memory.snapshot()
    removed, changed, found = _engine.resolve(batch(MORE), snapshot, policy)
    assert pairs(found) == counts
    # The same by hand: remove, and put in under the ids that were found.
    by_hand = TranslationMemory(ENTRIES)
    changed.prepare()
    assert by_hand._memory.apply(by_hand._memory.snapshot(), removed, 0, changed)

    assert _engine.merge(memory._memory, batch(MORE), policy) == found
    assert list(memory.items()) == list(by_hand.items())
    shown = [f"{entry.source} {entry.target}" for entry in memory]
    expected = [
        f"{ENTRIES[at].source} {ENTRIES[at].target}" if isinstance(at, int) else at
        for at in expected
    ]
    assert shown == expected
    assert [id for id, _ in memory.items()] == list(range(len(expected)))


def test_ids_to_remove_are_those_that_others_replace_or_stand_for() -> None:
    memory = TranslationMemory(chain(ENTRIES, ENTRIES))
    removed, changed, counts = _engine.resolve(batch(MORE), memory._memory.snapshot(), "replace")
    assert removed.ranges() == [(0, 0), (2, 3), (5, 5)]
    assert len(changed) == 3
    assert pairs(counts)["en", "ko"] == (1, 0, 3, 2)

    removed, counts = _engine.find_duplicates(memory._memory.snapshot(), "skip")
    assert removed.ranges() == [(3, 5)]
    assert pairs(counts) == {("en", "ja"): (0, 1, 0, 1), ("en", "ko"): (0, 2, 0, 2)}
    assert _engine.dedupe(memory._memory, "skip") == counts
    assert list(memory) == ENTRIES


def test_a_policy_must_be_known() -> None:
    with pytest.raises(ValueError, match="must be keep, skip, replace or newest") as caught:
        _engine.merge(_engine.Memory(), _engine.Batch(), "Skip")
    assert caught.value.code == "invalid_value"
    assert caught.value.field == "duplicates"
