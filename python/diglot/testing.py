"""The tests that every translation memory store must pass.

A store's own tests inherit them, and say how a store is made:

    from diglot.testing import TranslationMemoryStoreContract

    class TestMyStore(TranslationMemoryStoreContract):
        async def make_store(self):
            return MyStore()

pytest runs them as they are, each in an event loop of its own. To see values in failed assertions,
call `pytest.register_assert_rewrite("diglot.testing")` before the import.
"""

from __future__ import annotations

import asyncio
import math
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

from diglot._engine import similarity
from diglot.errors import AbortedError, DiglotError
from diglot.model import TranslationMemoryEntry, TranslationMemoryHit
from diglot.store import TranslationMemoryStore

__all__ = ["TranslationMemoryStoreContract"]

_Test = Callable[["TranslationMemoryStoreContract", TranslationMemoryStore], Awaitable[None]]


def _with_store(test: _Test) -> Callable[[TranslationMemoryStoreContract], None]:
    """A plain test method that runs `test` on a new store. It hides the `store` argument, in which
    pytest would see a fixture.
    """

    def run(self: TranslationMemoryStoreContract) -> None:
        async def body() -> None:
            store = await self.make_store()
            try:
                await test(self, store)
            finally:
                await self.close_store(store)

        asyncio.run(body())

    run.__name__ = test.__name__
    run.__qualname__ = test.__qualname__
    run.__doc__ = test.__doc__
    return run


@contextmanager
def _raises(kind: type[BaseException], **attributes: Any) -> Iterator[None]:
    try:
        yield
    except kind as error:
        found = {name: getattr(error, name, None) for name in attributes}
    else:
        raise AssertionError(f"{kind.__name__} was not raised")
    assert found == attributes, f"{kind.__name__} with {found}, not {attributes}"


def _entry(
    source: str = "Save changes", target: str = "변경 사항 저장", **fields: Any
) -> TranslationMemoryEntry:
    return TranslationMemoryEntry(source, target, **fields)


async def _targets(store: TranslationMemoryStore, query: str, **options: Any) -> list[str]:
    return [hit.entry.target for hit in await store.search(query, **options)]


class TranslationMemoryStoreContract(ABC):
    """What all stores have in common. Subclasses say how a store is made."""

    @abstractmethod
    async def make_store(self) -> TranslationMemoryStore:
        """A new, empty store."""

    async def close_store(self, store: TranslationMemoryStore) -> None:  # noqa: B027
        """Takes down what `make_store` set up."""

    @_with_store
    async def test_an_empty_store_finds_nothing(self, store: TranslationMemoryStore) -> None:
        assert await store.search("Save changes", min_score=0.0) == []

    @_with_store
    async def test_returns_every_field_as_it_was_added(self, store: TranslationMemoryStore) -> None:
        entry = _entry(
            "  Save\tchanges 💾 ",
            "変更を保存\n",
            source_language="en",
            target_language="ja",
            domain="ui",
            namespace="editor",
            source_id="menu.save",
            created_at="2024-05-06T07:08:09Z",
            notes="A button. \u0000 \u2028",
            metadata={"a": [1, -2.5, True, None, {"é": "ü"}], "b": {}, "c": 2**70},
        )
        bare = _entry("Close", "閉じる")
        await store.add(entry)
        await store.add(bare)
        assert [hit.entry for hit in await store.search(entry.source, min_score=1.0)] == [entry]
        assert [hit.entry for hit in await store.search("Close", min_score=1.0)] == [bare]

    @_with_store
    async def test_finds_equal_texts_whatever_their_form(
        self, store: TranslationMemoryStore
    ) -> None:
        await store.add(_entry("Save changes"))
        for query in (
            "Save changes",
            "SAVE CHANGES",
            "  save \t\n changes\u3000",
            "Ｓａｖｅ changes",
        ):
            assert [hit.score for hit in await store.search(query, min_score=1.0)] == [1.0], query

    @_with_store
    async def test_returns_equal_scores_in_order_of_insertion(
        self, store: TranslationMemoryStore
    ) -> None:
        await store.add(_entry(target="0"))
        await store.add_many([_entry(target="1"), _entry("SAVE CHANGES", "2")])
        await store.add(_entry(target="3"))
        assert await _targets(store, "save changes") == ["0", "1", "2", "3"]
        assert await _targets(store, "save changes", max_hits=2) == ["0", "1"]

    @_with_store
    async def test_returns_the_best_hits_first_with_their_similarity(
        self, store: TranslationMemoryStore
    ) -> None:
        sources = [
            "Save",
            "Save all changes",
            "Save changes now",
            "Save changes",
            "Quit",
            "Save change",
        ]
        await store.add_many([_entry(source) for source in sources])
        hits = await store.search("Save changes", max_hits=10, min_score=0.1)
        assert hits[0].entry.source == "Save changes"
        assert hits[0].score == 1.0
        scores = [hit.score for hit in hits]
        assert scores == sorted(scores, reverse=True)
        for hit in hits:
            assert type(hit) is TranslationMemoryHit
            assert hit.score == similarity("Save changes", hit.entry.source)
            assert 0.1 <= hit.score <= 1.0

    @_with_store
    async def test_returns_at_most_max_hits(self, store: TranslationMemoryStore) -> None:
        await store.add_many([_entry(target=str(number)) for number in range(8)])
        for max_hits in (1, 2, 7, 8, 9, 10**20):
            found = await _targets(store, "Save changes", max_hits=max_hits)
            assert found == [str(number) for number in range(min(max_hits, 8))]
        assert len(await store.search("Save changes")) == 5

    @_with_store
    async def test_returns_no_hit_below_min_score(self, store: TranslationMemoryStore) -> None:
        await store.add_many([_entry("Save changes"), _entry("Save changes now"), _entry("Sale")])
        for min_score in (0, 0.0, 0.2, 0.5, 0.75, 1, 1.0):
            for hit in await store.search("Save changes", max_hits=10, min_score=min_score):
                assert hit.score >= min_score
        for hit in await store.search("Save changes", max_hits=10):
            assert hit.score >= 0.2

    @_with_store
    async def test_compares_languages_without_regard_to_case(
        self, store: TranslationMemoryStore
    ) -> None:
        await store.add_many(
            [
                _entry(target="0", source_language="en", target_language="zh-CN"),
                _entry(target="1", source_language="EN", target_language="zh-cn"),
                _entry(target="2", source_language="en-US", target_language="ko"),
                _entry(target="3"),
            ]
        )
        query = "Save changes"
        assert await _targets(store, query) == ["0", "1", "2", "3"]
        assert await _targets(store, query, source_language="En") == ["0", "1"]
        assert await _targets(store, query, source_language="en-us") == ["2"]
        assert await _targets(store, query, target_language="ZH-CN") == ["0", "1"]
        assert await _targets(store, query, source_language="en", target_language="ko") == []
        assert await _targets(store, query, source_language="fr") == []

    @_with_store
    async def test_compares_domain_and_namespace_exactly(
        self, store: TranslationMemoryStore
    ) -> None:
        await store.add_many(
            [
                _entry(target="0", domain="ui", namespace="a"),
                _entry(target="1", domain="UI", namespace="a"),
                _entry(target="2", domain="ui", namespace="b"),
                _entry(target="3", namespace="A"),
                _entry(target="4"),
            ]
        )
        query = "Save changes"
        assert await _targets(store, query, domain="ui") == ["0", "2"]
        assert await _targets(store, query, domain="UI") == ["1"]
        assert await _targets(store, query, namespace="a") == ["0", "1"]
        assert await _targets(store, query, domain="ui", namespace="a") == ["0"]
        assert await _targets(store, query, domain="ui", namespace="A") == []

    @_with_store
    async def test_filters_before_it_counts_hits(self, store: TranslationMemoryStore) -> None:
        await store.add_many([_entry(target=str(number), namespace="many") for number in range(20)])
        await store.add(_entry(target="last", namespace="one"))
        assert await _targets(store, "Save changes", namespace="one", max_hits=1) == ["last"]

    @_with_store
    async def test_ids_tell_entries_apart(self, store: TranslationMemoryStore) -> None:
        await store.add_many([_entry(target=str(number)) for number in range(4)])
        hits = await store.search("Save changes")
        assert len({hit.id for hit in hits}) == 4
        assert all(type(hit.id) is int for hit in hits)
        assert [hit.id for hit in await store.search("Save changes")] == [hit.id for hit in hits]

    @_with_store
    async def test_adds_from_any_iterable(self, store: TranslationMemoryStore) -> None:
        await store.add_many([])
        await store.add_many(iter([_entry(target="0")]))
        await store.add_many(_entry(target=str(number)) for number in (1, 2))
        await store.add_many((_entry(target="3"),))
        assert await _targets(store, "Save changes") == ["0", "1", "2", "3"]

    @_with_store
    async def test_adds_all_entries_or_none(self, store: TranslationMemoryStore) -> None:
        await store.add(_entry(target="before"))

        def failing() -> Iterator[TranslationMemoryEntry]:
            yield _entry()
            raise ZeroDivisionError

        bad: Any = [_entry(), _entry(), {"source": "a", "target": "b"}, _entry()]
        with _raises(TypeError, code="invalid_type", position=2):
            await store.add_many(bad)
        changed = _entry(metadata={"a": 1})
        assert changed.metadata is not None
        changed.metadata["a"] = object()
        with _raises(TypeError, position=1):
            await store.add_many([_entry(), changed])
        with _raises(ZeroDivisionError):
            await store.add_many(failing())
        assert await _targets(store, "Save changes") == ["before"]

    @_with_store
    async def test_nobody_can_change_what_is_stored(self, store: TranslationMemoryStore) -> None:
        given: dict[str, Any] = {"list": [1]}
        entry = _entry(metadata=given)
        await store.add(entry)
        await store.add_many([entry])
        given["list"].append(2)
        assert entry.metadata is not None
        entry.metadata["list"].append(3)
        for hit in await store.search("Save changes"):
            assert hit.entry.metadata == {"list": [1]}
            hit.entry.metadata["list"].append(4)
        for hit in await store.search("Save changes"):
            assert hit.entry.metadata == {"list": [1]}

    @_with_store
    async def test_a_set_signal_stops_everything(self, store: TranslationMemoryStore) -> None:
        await store.add(_entry(target="before"))
        signal = asyncio.Event()
        signal.set()
        with _raises(AbortedError, code="aborted"):
            await store.add(_entry(), signal=signal)
        with _raises(AbortedError):
            await store.add_many([_entry()], signal=signal)
        with _raises(AbortedError):
            await store.search("Save changes", signal=signal)
        signal.clear()
        assert await _targets(store, "Save changes", signal=signal) == ["before"]

    @_with_store
    async def test_a_signal_set_meanwhile_stops_a_batch(
        self, store: TranslationMemoryStore
    ) -> None:
        signal = asyncio.Event()

        def entries() -> Iterator[TranslationMemoryEntry]:
            yield _entry()
            signal.set()
            yield _entry()

        with _raises(AbortedError):
            await store.add_many(entries(), signal=signal)
        assert await store.search("Save changes") == []

    @_with_store
    async def test_a_cancelled_task_changes_nothing(self, store: TranslationMemoryStore) -> None:
        entries = [
            _entry(f"{word} changes", str(n)) for n in range(3000) for word in ("Save", "Undo")
        ]
        for steps in (0, 1, 2, 3, 5, 8):
            task = asyncio.ensure_future(store.add_many(entries))
            for _ in range(steps):
                await asyncio.sleep(0)
            task.cancel()
            try:
                await task
            except asyncio.CancelledError:
                assert await store.search("Save changes") == []
            else:
                # It was done before it could be cancelled, and so will the later ones be.
                assert len(await store.search("Save changes")) == 5
                break

    @_with_store
    async def test_tasks_do_not_disturb_each_other(self, store: TranslationMemoryStore) -> None:
        async def work(name: str) -> None:
            for number in range(20):
                await store.add(_entry(target=f"{name}{number}", namespace=name))
                found = await _targets(store, "Save changes", namespace=name, max_hits=50)
                assert found == [f"{name}{n}" for n in range(number + 1)]

        await asyncio.gather(*(work(name) for name in "abcd"))

    @_with_store
    async def test_refuses_bad_queries_and_options(self, store: TranslationMemoryStore) -> None:
        search: Any = store.search
        allowed: dict[str, Any] = {"query": "Save"}
        refused: list[tuple[type[Exception], str, str, tuple[Any, ...]]] = [
            (ValueError, "empty_text", "query", ("", " ", "\t\u3000\ufeff\n")),
            (TypeError, "invalid_type", "query", (None, 5, b"Save", ["Save"])),
            (ValueError, "invalid_value", "max_hits", (0, -1)),
            (TypeError, "invalid_type", "max_hits", (None, "5", 2.5, True)),
            (ValueError, "invalid_value", "min_score", (-0.1, 1.1, math.nan, math.inf, 2)),
            (TypeError, "invalid_type", "min_score", (None, "0.5", True)),
            (TypeError, "invalid_type", "source_language", (5, b"en", ["en"])),
            (TypeError, "invalid_type", "target_language", (5, b"en", ["en"])),
            (TypeError, "invalid_type", "domain", (5, b"ui", ["ui"])),
            (TypeError, "invalid_type", "namespace", (5, b"a", ["a"])),
        ]
        for kind, code, field, values in refused:
            for value in values:
                with _raises(kind, code=code, field=field):
                    await search(**{**allowed, field: value})

    @_with_store
    async def test_refuses_what_is_no_entry_and_no_signal(
        self, store: TranslationMemoryStore
    ) -> None:
        anything: Any = store
        for entry in (None, "Save", {"source": "a", "target": "b"}):
            with _raises(TypeError, code="invalid_type"):
                await anything.add(entry)
        for entries in (None, 5):
            with _raises(TypeError):
                await anything.add_many(entries)
        for call in (anything.add(_entry(), signal=1), anything.search("Save changes", signal=1)):
            with _raises(DiglotError, code="invalid_type", field="signal"):
                await call
        assert await store.search("Save changes") == []
