"""The contract of all stores, for the stores that there are."""

import pytest
from prefix_store import PrefixStore

import diglot._memory
from diglot import InMemoryTranslationMemoryStore, TranslationMemoryStore
from diglot.stores.sqlite import SqliteTranslationMemory, SqliteTranslationMemoryStore
from diglot.testing import TranslationMemoryStoreContract


def leave_all_to_threads(monkeypatch):
    """Leaves nothing to the event loop's thread that a worker thread can do."""
    for name in ("SEARCH", "LONG", "_SMALL", "_FEW", "SLAB"):
        monkeypatch.setattr(diglot._memory, name, 0)


class TestInMemory(TranslationMemoryStoreContract):
    async def make_store(self):
        return InMemoryTranslationMemoryStore()


class TestInMemoryOnThreads(TestInMemory):
    @pytest.fixture(autouse=True)
    def _nothing_is_short(self, monkeypatch):
        leave_all_to_threads(monkeypatch)


class TestSqlite(TranslationMemoryStoreContract):
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path):
        self.folder = tmp_path

    async def make_store(self):
        return await SqliteTranslationMemoryStore.open(self.folder / "memory.db")

    async def close_store(self, store):
        items = [item async for item in store.items()]
        await store.close()
        with SqliteTranslationMemory.open(store.path) as memory:
            assert list(memory.items()) == items
            assert memory.verify() == len(items)


class TestSqliteOnThreads(TestSqlite):
    @pytest.fixture(autouse=True)
    def _nothing_is_short(self, monkeypatch):
        leave_all_to_threads(monkeypatch)


class TestPrefix(TranslationMemoryStoreContract):
    async def make_store(self):
        return PrefixStore()


@pytest.mark.parametrize("kind", [InMemoryTranslationMemoryStore, PrefixStore])
def test_is_a_store(kind):
    assert isinstance(kind(), TranslationMemoryStore)


def test_the_contract_notices_a_store_that_changes_what_it_must_not():
    """A contract that no store can break would be worth nothing."""

    class Careless(PrefixStore):
        async def add_many(self, entries, *, signal=None):
            for entry in entries:
                await self.add(entry)

    class TestCareless(TranslationMemoryStoreContract):
        async def make_store(self):
            return Careless()

    for name in ("test_adds_all_entries_or_none", "test_a_signal_set_meanwhile_stops_a_batch"):
        with pytest.raises(AssertionError):
            getattr(TestCareless(), name)()
