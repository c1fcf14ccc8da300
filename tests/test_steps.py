"""The drivers of operations that are written once, as generators."""

import asyncio
import gc
import threading
import weakref

import pytest

from diglot._steps import run, run_async


def drive(asynchronous, steps):
    return asyncio.run(run_async(steps)) if asynchronous else run(steps)


both = pytest.mark.parametrize("asynchronous", [False, True])


@both
def test_results_come_back_where_they_were_asked_for(asynchronous):
    def steps():
        yield None
        thread = yield lambda flag: threading.current_thread()
        assert (thread is threading.main_thread()) == (not asynchronous)
        return (yield lambda flag: 1) + (yield lambda flag: 2)

    assert drive(asynchronous, steps()) == 3


@both
def test_what_work_raises_is_raised_where_it_was_asked_for(asynchronous):
    def steps():
        try:
            yield lambda flag: 1 / 0
        except ZeroDivisionError:
            return (yield lambda flag: "handled")

    assert drive(asynchronous, steps()) == "handled"


@both
def test_an_error_that_nobody_handles_cleans_up_and_is_not_kept_alive(asynchronous):
    class MyError(Exception):
        pass

    cleaned = []

    def fail(flag):
        raise MyError

    def steps():
        try:
            yield fail
        finally:
            cleaned.append(True)

    gc.disable()
    try:
        with pytest.raises(MyError) as caught:
            drive(asynchronous, steps())
        assert cleaned == [True]
        kept = weakref.ref(caught.value)
        del caught
        # A task of asyncio has cycles of its own.
        assert asynchronous or kept() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("point", [None, lambda flag: threading.Event().wait(0)])
def test_cancelling_is_raised_where_the_operation_stands(point):
    """So that it cleans up before its task ends."""
    seen = []

    def steps():
        try:
            while True:
                yield point
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    async def main():
        task = asyncio.create_task(run_async(steps()))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert seen == ["cancelled"]

    asyncio.run(main())
