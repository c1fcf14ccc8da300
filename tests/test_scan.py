"""Concordance and counts, against looking at every entry."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diglot import (
    InMemoryTranslationMemoryStore,
    InvalidTypeError,
    InvalidValueError,
    TranslationMemory,
    TranslationMemoryEntry,
)

FIELDS = ("source_language", "target_language", "domain", "namespace")

texts = st.text(alphabet="abAB 存é", min_size=1, max_size=12).filter(str.strip)
values = st.sampled_from([None, "x", "X", "y"])
entries = st.builds(
    TranslationMemoryEntry,
    source=texts,
    target=texts,
    source_language=values,
    target_language=values,
    domain=values,
    namespace=values,
)


def folded(text: str) -> str:
    return " ".join(text.lower().split())


@given(st.lists(entries, max_size=30), texts, st.sampled_from(["source", "target", "both"]), values)
def test_what_contains_a_text_is_found(
    held: list[TranslationMemoryEntry], text: str, side: str, namespace: str | None
) -> None:
    memory = TranslationMemory(held)
    expected = [
        (id, entry)
        for id, entry in enumerate(held)
        if namespace in (None, entry.namespace)
        and any(
            folded(text) in folded(getattr(entry, name))
            for name in (("source", "target") if side == "both" else (side,))
        )
    ]
    found = memory.concordance(text, side=side, namespace=namespace)
    assert found == expected
    pages, start = [], 0
    while page := memory.concordance(
        text, side=side, namespace=namespace, start=start, max_entries=2
    ):
        pages += page
        start = page[-1][0] + 1
    assert pages == expected


@given(st.lists(entries, max_size=30), st.permutations(FIELDS), st.integers(0, 4), values)
def test_entries_are_counted_by_their_fields(
    held: list[TranslationMemoryEntry], order: list[str], width: int, domain: str | None
) -> None:
    by = order[:width]
    counts = TranslationMemory(held).count_by(*by, domain=domain)
    assert counts == Counter(
        tuple(getattr(entry, field) for field in by)
        for entry in held
        if domain in (None, entry.domain)
    )


def test_the_same_is_there_for_asynchronous_code() -> None:
    async def run() -> None:
        store = InMemoryTranslationMemoryStore()
        entry = TranslationMemoryEntry("Save the file", "파일 저장", domain="ui")
        await store.add_many([entry] * 1000)
        assert await store.concordance("THE  file", max_entries=600) == [
            (id, entry) for id in range(600)
        ]
        assert await store.count_by("domain") == {("ui",): 1000}

    asyncio.run(run())


@pytest.mark.parametrize(
    ("arguments", "error", "code", "field"),
    [
        ({"text": 1}, InvalidTypeError, "invalid_type", "text"),
        ({"text": " "}, InvalidValueError, "empty_text", "text"),
        ({"text": "a" * 1001}, InvalidValueError, "text_too_long", "text"),
        ({"text": "a\ud800"}, InvalidValueError, "lone_surrogate", "text"),
        ({"side": "left"}, InvalidValueError, "invalid_value", "side"),
        ({"start": -1}, InvalidValueError, "invalid_value", "start"),
        ({"max_entries": 0}, InvalidValueError, "invalid_value", "max_entries"),
        ({"namespace": 1}, InvalidTypeError, "invalid_type", "namespace"),
    ],
)
def test_bad_arguments_are_refused(
    arguments: dict[str, object], error: type[Exception], code: str, field: str
) -> None:
    with pytest.raises(error) as caught:
        TranslationMemory().concordance(**{"text": "a", **arguments})
    assert (caught.value.code, caught.value.field) == (code, field)


@pytest.mark.parametrize("fields", [("source",), ("domain", "domain"), (1,)])
def test_only_the_filter_fields_are_counted_by(fields: tuple[object, ...]) -> None:
    with pytest.raises(InvalidValueError) as caught:
        TranslationMemory().count_by(*fields)
    assert caught.value.field == "fields"
