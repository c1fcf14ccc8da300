"""Whether other tasks run meanwhile, and what cancelling and signals do in the middle of work."""

import _thread
import asyncio
import threading

import pytest

import diglot._memory
from diglot import (
    AbortedError,
    InMemoryTranslationMemoryStore,
    TranslationMemory,
    TranslationMemoryEntry,
)


def entries(count, size=10):
    return (TranslationMemoryEntry(f"{n} {'word ' * size}", str(n)) for n in range(count))


class Ticks:
    """Counts how often other tasks get their turn."""

    def __init__(self):
        self.count = 0

    async def __aenter__(self):
        self.task = asyncio.create_task(self.tick())
        await asyncio.sleep(0)
        return self

    async def __aexit__(self, *_):
        self.task.cancel()

    async def tick(self):
        while True:
            self.count += 1
            await asyncio.sleep(0)


class OnWorker:
    """A signal that calls back when it is asked from a worker thread, in the middle of the work."""

    def __init__(self, call, result=False):
        self.call = call
        self.result = result
        self.asked = 0

    def is_set(self):
        if threading.current_thread() is threading.main_thread():
            return False
        self.asked += 1
        self.call()
        return self.result


@pytest.fixture
def all_on_threads(monkeypatch):
    """Leaves everything to threads that may be left to them."""
    for name in ("SEARCH", "LONG", "_SMALL", "_FEW"):
        monkeypatch.setattr(diglot._memory, name, 0)


def test_other_tasks_run_while_a_batch_is_added():
    async def run():
        store = InMemoryTranslationMemoryStore()
        during = []

        def watched():
            for entry in entries(30000):
                during.append(ticks.count)
                yield entry

        async with Ticks() as ticks:
            await store.add_many(watched())
            after = ticks.count
        assert len(store) == 30000
        # While the entries were read, and while they were analysed.
        assert during[0] < during[10000] < during[-1] < after

    asyncio.run(run())


def test_other_tasks_run_while_one_makes_many_short_calls():
    async def run():
        store = InMemoryTranslationMemoryStore(entries(10))
        entry = TranslationMemoryEntry("a", "b")
        added = 0

        async def add(new):
            nonlocal added
            added += 1
            await new

        calls = [
            lambda: add(store.add(entry)),
            lambda: add(store.add_many([entry])),
            lambda: store.get(0),
            lambda: store.replace(0, entry),
            lambda: store.search("0 word", max_hits=1),
        ]
        async with Ticks() as ticks:
            for call in calls:
                before = ticks.count
                # A fast machine makes many calls in a turn.
                for _ in range(200_000):
                    await call()
                    if ticks.count > before + 1:
                        break
                else:
                    pytest.fail("no other task had its turn")
        # The next loop of this thread takes no notice of the last.
        assert len(store) == 10 + added

    asyncio.run(run())
    asyncio.run(InMemoryTranslationMemoryStore().add(TranslationMemoryEntry("a", "b")))


def test_other_tasks_run_while_results_are_made():
    async def run():
        store = InMemoryTranslationMemoryStore()
        await store.add_many(TranslationMemoryEntry("same", "t") for _ in range(20000))
        async with Ticks() as ticks:
            for call in (
                lambda: store.search("same", max_hits=20000),
                lambda: store.search_many(["same"] * 2000),
                lambda: store.search_arrays(["same"] * 20000, max_hits=10),
                lambda: store.remove_many(range(15000)),
            ):
                before = ticks.count
                await call()
                assert ticks.count > before + 1
            before = ticks.count
            async for _ in store:
                pass
            assert ticks.count > before + 1

    asyncio.run(run())


@pytest.mark.usefixtures("all_on_threads")
def test_other_tasks_run_while_a_thread_searches():
    async def run():
        store = InMemoryTranslationMemoryStore()
        await store.add_many(entries(3000))
        async with Ticks() as ticks:
            for _ in range(20):
                before = ticks.count
                hits = await store.search("0 word", max_hits=3)
                assert ticks.count > before
                assert hits == store.memory.search("0 word", max_hits=3)

    asyncio.run(run())


def test_cancelling_a_batch_in_the_middle_of_the_work_changes_nothing():
    async def run():
        loop = asyncio.get_running_loop()
        store = InMemoryTranslationMemoryStore(entries(3))
        cancelled = threading.Event()

        def cancel():
            loop.call_soon_threadsafe(task.cancel)
            # Nothing is done before that has come to the task.
            assert cancelled.wait(timeout=60)

        signal = OnWorker(cancel)
        task = asyncio.create_task(store.add_many(entries(4000, size=300), signal=signal))
        task.add_done_callback(lambda _: cancelled.set())
        with pytest.raises(asyncio.CancelledError):
            await task
        assert signal.asked
        assert [entry.target for entry in store.memory] == ["0", "1", "2"]
        # It goes on as if nothing had been.
        assert await store.add_many(entries(1)) == range(3, 4)

    asyncio.run(run())


@pytest.mark.parametrize("asynchronous", [True, False])
def test_a_signal_in_the_middle_of_the_work_changes_nothing(asynchronous):
    """The synchronous work is done on another thread, for the signal to tell it from the first."""
    store = InMemoryTranslationMemoryStore(entries(3))
    signal = OnWorker(lambda: None, result=True)

    async def run():
        if asynchronous:
            await store.add_many(entries(4000, size=300), signal=signal)
        else:
            await asyncio.to_thread(store.memory.add_many, entries(4000, size=300), signal=signal)

    with pytest.raises(AbortedError):
        asyncio.run(run())
    assert signal.asked == 1
    assert [entry.target for entry in store.memory] == ["0", "1", "2"]


def test_what_a_signal_raises_in_the_middle_of_the_work_is_raised():
    def fail():
        raise ZeroDivisionError

    async def run():
        store = InMemoryTranslationMemoryStore()
        with pytest.raises(ZeroDivisionError):
            await store.add_many(entries(4000, size=300), signal=OnWorker(fail))
        assert len(store) == 0

    asyncio.run(run())


def test_cancelling_a_search_in_the_middle_of_the_work():
    async def run():
        loop = asyncio.get_running_loop()
        store = InMemoryTranslationMemoryStore()
        await store.add_many(entries(5000))
        signal = OnWorker(lambda: loop.call_soon_threadsafe(task.cancel))
        queries = ["1 word word"] * 100_000
        task = asyncio.create_task(
            store.search_many(queries, max_hits=5000, min_score=0, signal=signal)
        )
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(await store.search("1 word word")) == 5

    asyncio.run(run())


@pytest.mark.usefixtures("all_on_threads")
def test_a_change_that_is_past_stopping_is_finished():
    """Cancelled at any moment, a change was made and returns, or was not made and raises."""

    async def attempt(change, yields):
        task = asyncio.create_task(change())
        for _ in range(yields):
            await asyncio.sleep(0)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            return False
        return True

    long = TranslationMemoryEntry("long " * 3000, "new")

    async def all_changes(store, yields):
        was_made = await attempt(lambda: store.add(long), yields)
        assert len(store) == 3 + was_made
        was_made = await attempt(lambda: store.replace(1, long), yields)
        assert (store.memory.get(1) == long) == was_made
        count = len(store)
        was_made = await attempt(lambda: store.remove_many([0, 1]), yields)
        assert len(store) == count - 2 * was_made
        return was_made

    async def run():
        outcomes = [
            await all_changes(InMemoryTranslationMemoryStore(entries(3)), yields)
            for yields in range(60)
        ]
        # Cancelled before it began, nothing was made.
        assert not outcomes[0]

    asyncio.run(run())


@pytest.mark.usefixtures("all_on_threads")
def test_a_cancellation_that_comes_too_late_does_not_lose_the_result():
    """The work commits itself, and the task is cancelled twice, before the work is done."""

    async def run():
        loop = asyncio.get_running_loop()
        committed, cancelled = threading.Event(), threading.Event()

        def work(flag):
            memory = diglot._engine.Memory()
            entry = TranslationMemoryEntry("a", "b")
            number = memory.add(entry, flag)
            committed.set()
            assert cancelled.wait(timeout=30)
            return number, len(memory)

        async def cancel():
            await loop.run_in_executor(None, committed.wait, 30)
            for _ in range(2):
                task.cancel()
                await asyncio.sleep(0)
                await asyncio.sleep(0)
            cancelled.set()

        task = asyncio.create_task(diglot._steps.on_thread(work))
        await cancel()
        assert await task == (0, 1)

    asyncio.run(run())


def test_one_memory_serves_many_event_loops():
    store = InMemoryTranslationMemoryStore(entries(2000))
    expected = store.memory.search("7 word word")
    results = []

    async def search():
        results.extend(await asyncio.gather(*(store.search("7 word word") for _ in range(20))))

    threads = [threading.Thread(target=lambda: asyncio.run(search())) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 60


def test_ctrl_c_stops_a_long_synchronous_search():
    """Left alone it would take hours: each of the queries finds everything."""
    memory = TranslationMemory(entries(20000))
    queries = ["1 word word"] * 1_000_000
    started = threading.Event()

    class Started:
        """Asked for the second time in the middle of the search."""

        asked = 0

        def is_set(self):
            self.asked += 1
            if self.asked > 1:
                started.set()
            return False

    def interrupt():
        if started.wait(timeout=60):
            _thread.interrupt_main()

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        memory.search_many(queries, max_hits=20000, min_score=0, signal=Started())
    thread.join()
