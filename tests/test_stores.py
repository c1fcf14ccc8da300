"""The contract of all stores, for the stores that there are."""

import pytest
from prefix_store import PrefixStore

import diglot._memory
from diglot import InMemoryTranslationMemoryStore, TranslationMemoryStore
from diglot.testing import TranslationMemoryStoreContract


class TestInMemory(TranslationMemoryStoreContract):
    async def make_store(self):
        return InMemoryTranslationMemoryStore()


class TestInMemoryOnThreads(TestInMemory):
    """The same with nothing left for the event loop's thread that a worker thread can do."""

    @pytest.fixture(autouse=True)
    def _nothing_is_short(self, monkeypatch):
        for name in ("SEARCH", "LONG", "_SMALL", "_FEW", "SLAB"):
            monkeypatch.setattr(diglot._memory, name, 0)


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
