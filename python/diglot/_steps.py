"""How an operation is written once, for synchronous and for asynchronous code.

An operation is a generator, `Steps`. It yields None where other tasks may run, and `Work` that may
take long (a callable that can be told to stop) where it needs the result. What the work raises is
raised at that `yield`, as is the cancellation of a task. `run` does all of it on the calling
thread, `run_async` leaves work to other threads and gives other tasks their turns.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from threading import local
from time import perf_counter
from typing import Any, TypeVar

from diglot import _engine
from diglot.errors import InvalidTypeError

_T = TypeVar("_T")

# Seconds that one step, a search, or short calls in a row may take on an event loop.
SLICE = 0.001
SEARCH = 0.0012
_TURN = 0.0005

# Characters of a text that is analysed on an event loop; longer ones are left to a thread.
LONG = 4096

# Bytes of a batch that are copied before they are analysed.
SLAB = 1 << 20

# Seconds to read what is in memory already: as long as it takes.
EVER = 86_400.0

Work = Callable[["_engine.CancelFlag | None"], Any]
Steps = Generator["Work | None", Any, _T]


def run(steps: Steps[_T]) -> _T:
    """Does an operation on this thread."""
    resume: Callable[[Any], Work | None] = steps.send
    value: Any = None
    try:
        while True:
            try:
                work = resume(value)
            except StopIteration as stop:
                return stop.value  # type: ignore[no-any-return]
            try:
                resume, value = steps.send, None if work is None else work(None)
            except BaseException as error:
                resume, value = steps.throw, error
    finally:
        # An error whose traceback has this frame must not be held by it, too.
        value = None


async def run_async(steps: Steps[_T]) -> _T:
    """Does an operation for a task of an event loop."""
    from asyncio import sleep

    resume: Callable[[Any], Work | None] = steps.send
    value: Any = None
    try:
        await take_turn()
        while True:
            try:
                work = resume(value)
            except StopIteration as stop:
                return stop.value  # type: ignore[no-any-return]
            try:
                resume, value = steps.send, await (sleep(0) if work is None else on_thread(work))
            except BaseException as error:
                resume, value = steps.throw, error
    finally:
        value = None


class _Turn(local):
    """Until when the event loop of this thread may be kept; None if it was not kept this turn."""

    until: float | None = None

    def over(self) -> None:
        self.until = None


_turn = _Turn()


async def take_turn() -> None:
    """Lets other tasks run first, if calls that were done at once have had their time.

    An `await` of something that is done at once gives no other task a turn, so a task that does
    nothing but such calls would keep the loop for itself.
    """
    if _turn.until is not None and perf_counter() < _turn.until:
        return
    import asyncio

    if _turn.until is not None:
        await asyncio.sleep(0)
    _turn.until = perf_counter() + _TURN
    asyncio.get_running_loop().call_soon(_turn.over)


async def on_thread(work: Work) -> Any:
    """Does work on a thread. Cancelling tells it to stop; if it is past stopping, the cancellation
    came too late.
    """
    import asyncio

    flag = _engine.CancelFlag()
    future = asyncio.get_running_loop().run_in_executor(None, work, flag)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        if flag.set():
            future.cancel()
            raise
        while not future.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([future])
        return future.result()


def ids_of(numbers: Iterable[int]) -> _engine.Ids:
    """Ids that are in memory already."""
    ids = _engine.Ids()
    ids.extend(iter(numbers), EVER)
    return ids


def iterator(name: str, values: Iterable[_T]) -> Iterator[_T]:
    """What an operation reads step by step.

    Raises:
        InvalidTypeError: It is no iterable; `name` says which argument it was.
    """
    try:
        return iter(values)
    except TypeError:
        raise InvalidTypeError(
            f"{name} must be an iterable, not {type(values).__name__}", field=name
        ) from None
