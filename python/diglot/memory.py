"""The memory in this process, for synchronous and for asynchronous code.

`TranslationMemory` and `InMemoryTranslationMemoryStore` do the same, with the same engine. The
first waits until it is done; the second does not keep the event loop from other tasks for more
than about a millisecond:

- A short search or change takes microseconds and is done at once, on the loop. A task that makes
  many such calls in a row gives others a turn every half millisecond.
- A search that is not done after 1.2 ms, or less where searches often take longer, is run again on
  a thread, without the GIL. Long queries go there at once.
- What is read from an iterable, or made into Python objects or arrays, is handled in slices of a
  millisecond.
- The analysis of batches and long texts is done on threads, without the GIL. The entries of a batch
  are then shown in one short step on the loop, so a task that is cancelled before has changed
  nothing. A long text and the removal of many entries are seen through by their thread: if the task
  is cancelled when that has begun, the cancellation comes too late and the call returns.

What remains is the size of a single thing: the metadata of one entry, which is read as JSON, and
the one item that an iterable takes its time for. Threads that use all processors take time from the
loop's thread as well; `threads` says how many of them a search of many queries may use.

The binary is built for the stable ABI of CPython with the GIL. A free-threaded CPython needs a
binary of its own; none has been tested.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from os import PathLike

from diglot import _engine
from diglot._memory import AsyncMemory, SyncMemory
from diglot._steps import Steps, run, run_async
from diglot.model import TranslationMemoryEntry
from diglot.store import Signal, check_path, check_progress, check_signal

__all__ = ["InMemoryTranslationMemoryStore", "TranslationMemory"]

# What hears how much of a file was read: bytes, the size of the file if it is known, entries.
Progress = Callable[[int, "int | None", int], object]


class TranslationMemory(SyncMemory):
    """A translation memory in this process, for synchronous code: scripts, notebooks, worker
    threads.

    All methods may be called from any thread at any time. A search sees all changes whose calls
    returned before it began, and none that are half done.

    Args:
        entries: What it holds at first.
    """

    __slots__ = ()

    def __init__(self, entries: Iterable[TranslationMemoryEntry] = ()) -> None:
        self._memory = _engine.Memory()
        if entries != ():
            self.add_many(entries)

    @classmethod
    def from_jsonl(
        cls,
        path: str | PathLike[str],
        *,
        progress: Progress | None = None,
        signal: Signal | None = None,
    ) -> TranslationMemory:
        """A memory with the entries of a JSON Lines file.

        A line is a JSON object with the keys of `TranslationMemoryEntry.from_dict`. `null` is the
        same as no key. Lines of white space are skipped.

        Args:
            path: The file. It may be plain, or compressed with gzip or Zstandard; its first bytes
                tell, not its name.
            progress: Called with the bytes read so far, the size of the file in bytes (None for a
                pipe and the like) and the number of entries so far: now and then, and once when all
                is read and only the rest of the index is to be made. What it raises stops the
                reading and is raised here.
            signal: Stops the reading when it is set, from another thread.

        Raises:
            OSError: The file cannot be read; `FileNotFoundError` if it is not there.
            FormatError: A line is no entry, or the compressed data is damaged; `line` and `field`
                say where.
            InvalidTypeError: An argument has a wrong type.
            AbortedError: `signal` was set before the reading was done.
        """
        memory = cls()
        run(memory._add_jsonl(path, progress, signal))
        return memory

    def _add_jsonl(
        self, path: str | PathLike[str], progress: Progress | None, signal: Signal | None
    ) -> Steps[None]:
        check_path(path)
        check_progress(progress)
        check_signal(signal)
        batch = yield lambda flag: _engine.read_jsonl(path, progress, flag, signal)
        yield lambda flag: batch.prepare(flag, signal)
        check_signal(signal)
        self._memory.publish(batch)


class InMemoryTranslationMemoryStore(AsyncMemory[TranslationMemory]):
    """A translation memory in this process, for asynchronous code.

    It is a `TranslationMemoryStore`, and has the methods of `TranslationMemory` with the same
    arguments, results and errors. They give other tasks a turn about every millisecond, whatever
    the size of the memory, the batch or the result; `docs/benchmarks.md` has the longest turns that
    were measured. The same memory may be used from other threads and event loops at the same time.

    Args:
        entries: What it holds at first. They are added before the constructor returns; in a running
            event loop, make the store empty and await `add_many`.
    """

    __slots__ = ()

    def __init__(self, entries: Iterable[TranslationMemoryEntry] = ()) -> None:
        super().__init__(TranslationMemory(entries))

    @classmethod
    async def from_jsonl(
        cls,
        path: str | PathLike[str],
        *,
        progress: Progress | None = None,
        signal: Signal | None = None,
    ) -> InMemoryTranslationMemoryStore:
        """As `TranslationMemory.from_jsonl`.

        `progress` is called on the thread that reads, not on that of the event loop.
        """
        store = cls()
        await run_async(store.memory._add_jsonl(path, progress, signal))
        return store
