"""What the memories over the engine have in common: `diglot.memory` has the one in this process,
`diglot.stores` those that are kept in files, too.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator
from os import PathLike
from time import perf_counter
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from diglot import _engine
from diglot._scan import Field, Side, containing, count_by
from diglot._steps import (
    LONG,
    SEARCH,
    SLAB,
    SLICE,
    Steps,
    Work,
    iterator,
    on_thread,
    run,
    run_async,
    take_turn,
)
from diglot.model import (
    MemoryStats,
    TranslationMemoryEntry,
    TranslationMemoryHit,
)
from diglot.store import Signal, check_integer, check_options, check_query, check_signal
from diglot.transfer import (
    DedupeReport,
    Duplicates,
    ExportOptions,
    ExportReport,
    ImportReport,
    dedupe_steps,
    export_steps,
    import_steps,
)

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from diglot._engine import _Counts
    from diglot.formats import ReadOptions
    from diglot.memory import Progress

# Bytes of a batch that is analysed on an event loop; an entry costs as much as so many bytes.
_SMALL = 1 << 15
_ENTRY = 64

# Ids that are removed on an event loop.
_FEW = 1000

# Cells of arrays, and hits, that are made at a time.
_CELLS = 32768
_HITS = 256


def _load_numpy(_: _engine.CancelFlag | None) -> Any:
    import numpy

    return numpy


def _more_hits(
    found: _engine.Found, query: int, hits: list[TranslationMemoryHit]
) -> Steps[list[TranslationMemoryHit]]:
    for start in range(len(hits), found.count(query), _HITS):
        yield None
        hits += found.hits(query, start, start + _HITS)
    return hits


class SyncMemory:
    """A memory over the engine, for synchronous code.

    Changes are made by the steps `_add`, `_replace`, `_remove`, `_remove_many`, `_add_batch`,
    `_merge` and `_dedupe`. A memory that is kept elsewhere, too, has its own, and says in `_news`
    what it has to read first.
    """

    __slots__ = ("__weakref__", "_memory")

    _memory: _engine.Memory

    def _news(self) -> Work | None:
        """What has to be done before all changes can be seen that were made elsewhere; None if
        there are none.
        """
        return None

    def _now(self) -> _engine.Memory:
        """The memory with all changes."""
        if (work := self._news()) is not None:
            work(None)
        return self._memory

    def _seen(self) -> Steps[_engine.Memory]:
        """As `_now`, step by step."""
        if (work := self._news()) is not None:
            yield work
        return self._memory

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self._memory)} entries>"

    def __len__(self) -> int:
        """How many entries it holds."""
        return len(self._now())

    def __iter__(self) -> Iterator[TranslationMemoryEntry]:
        """The entries in order of insertion, as they are when the iteration begins."""
        return (entry for _, entry in self.items())

    def items(self) -> Iterator[tuple[int, TranslationMemoryEntry]]:
        """The ids and entries in order of insertion, as they are now."""
        return (item for items in slices(self._now().snapshot()) for item in items)

    def get(self, id: int) -> TranslationMemoryEntry:
        """The entry with this id.

        Raises:
            UnknownEntryError: No entry has it.
        """
        return self._now().snapshot().get(id)

    def add(self, entry: TranslationMemoryEntry, *, signal: Signal | None = None) -> int:
        """Adds an entry, which can be found when this returns.

        Returns:
            The entry's id in this memory. Ids are given in order, from 0, and never twice.

        Raises:
            InvalidTypeError: It is no entry.
            InvalidValueError: The entry's metadata was changed to something that is not allowed.
            AbortedError: `signal` was set before.
        """
        check_signal(signal)
        id = self._add_at_once(entry)
        return run(self._add(entry, signal)) if id is None else id

    def _add_at_once(self, entry: TranslationMemoryEntry) -> int | None:
        """Adds an entry if that takes a few microseconds; None if `_add` has to do it, whose steps
        alone would take as long.
        """
        return self._memory.add_at_once(entry)

    def _add(self, entry: TranslationMemoryEntry, signal: Signal | None) -> Steps[int]:
        if not self._memory.has_room():
            yield lambda flag: self._memory.wait_for_room()
        check_signal(signal)
        if is_long(entry):
            return (yield lambda flag: self._memory.add(entry, flag))  # type: ignore[no-any-return]
        return self._memory.add(entry)

    def add_many(
        self, entries: Iterable[TranslationMemoryEntry], *, signal: Signal | None = None
    ) -> range:
        """Adds all entries or, after an error, none. The iterable is read as a stream.

        Returns:
            The ids of the entries, in order.

        Raises:
            InvalidTypeError: Not an iterable, or one of the items is no entry; `position` says
                which.
            InvalidValueError: The metadata of an entry was changed to something that is not
                allowed.
            AbortedError: `signal` was set before the entries were shown.
        """
        return run(self._add_many(entries, signal))

    def _add_many(
        self, entries: Iterable[TranslationMemoryEntry], signal: Signal | None
    ) -> Steps[range]:
        check_signal(signal)
        batch = _engine.Batch()
        items = iterator("entries", entries)
        while not batch.extend(items, SLICE):
            check_signal(signal)
            yield (lambda flag: batch.absorb(flag, signal)) if batch.waiting >= SLAB else None
        if batch.waiting + _ENTRY * len(batch) <= _SMALL:
            batch.absorb()
            batch.prepare()
        else:
            yield lambda flag: batch.absorb(flag, signal)
            yield lambda flag: batch.prepare(flag, signal)
        return (yield from self._add_batch(batch, signal))

    def _add_batch(self, batch: _engine.Batch, signal: Signal | None) -> Steps[range]:
        """Adds what was prepared."""
        if not self._memory.has_room():
            yield lambda flag: self._memory.wait_for_room()
        check_signal(signal)
        return range(*self._memory.publish(batch))

    def _merge(
        self, batch: _engine.Batch, policy: str, signal: Signal | None
    ) -> Steps[list[_Counts]]:
        """Adds what was absorbed, and does with duplicates what a policy says."""
        check_signal(signal)
        if policy != "keep":
            return (yield lambda flag: _engine.merge(self._memory, batch, policy, flag, signal))  # type: ignore[no-any-return]
        counts = yield lambda flag: _engine.fold_pairs(_engine.count_pairs(batch))
        yield lambda flag: batch.prepare(flag, signal)
        yield from self._add_batch(batch, signal)
        return counts  # type: ignore[no-any-return]

    def _dedupe(self, policy: str, signal: Signal | None) -> Steps[list[_Counts]]:
        """Removes the entries that are duplicates of others."""
        return (yield lambda flag: _engine.dedupe(self._memory, policy, flag, signal))  # type: ignore[no-any-return]

    def replace(
        self, id: int, entry: TranslationMemoryEntry, *, signal: Signal | None = None
    ) -> None:
        """Puts another entry in the place of one. It has the same id and the same place in the
        order.

        Raises:
            UnknownEntryError: No entry has the id.
            InvalidTypeError: It is no entry, or no id.
            AbortedError: `signal` was set before.
        """
        run(self._replace(id, entry, signal))

    def _replace(
        self, id: int, entry: TranslationMemoryEntry, signal: Signal | None
    ) -> Steps[None]:
        if not self._memory.has_room():
            yield lambda flag: self._memory.wait_for_room()
        check_signal(signal)
        if is_long(entry):
            yield lambda flag: self._memory.replace(id, entry, flag)
        else:
            self._memory.replace(id, entry)

    def remove(self, id: int, *, signal: Signal | None = None) -> None:
        """Removes an entry.

        Raises:
            UnknownEntryError: No entry has the id.
            InvalidTypeError: It is no id.
            AbortedError: `signal` was set before.
        """
        run(self._remove(id, signal))

    def _remove(self, id: int, signal: Signal | None) -> Steps[None]:
        yield from ()
        check_signal(signal)
        self._memory.remove(id)

    def remove_many(self, ids: Iterable[int], *, signal: Signal | None = None) -> None:
        """Removes all these entries or, after an error, none.

        Raises:
            UnknownEntryError: No entry has one of the ids, or an id is given twice.
            InvalidTypeError: Not an iterable, or one of the items is no id.
            AbortedError: `signal` was set before.
        """
        run(self._remove_many(ids, signal))

    def _remove_many(self, ids: Iterable[int], signal: Signal | None) -> Steps[None]:
        batch = yield from read_ids(ids, signal)
        if len(batch) <= _FEW:
            self._memory.remove_many(batch)
        else:
            yield lambda flag: self._memory.remove_many(batch, flag)

    def search(
        self,
        query: str,
        *,
        source_language: str | None = None,
        target_language: str | None = None,
        domain: str | None = None,
        namespace: str | None = None,
        max_hits: int = 5,
        min_score: float = 0.2,
        signal: Signal | None = None,
    ) -> list[TranslationMemoryHit]:
        """The entries whose sources are most like `query`: score descending, then in order of
        insertion.

        Args:
            query: A text with at least one character that is not white space.
            source_language: Only entries with this source language, compared without regard to
                case.
            target_language: Only entries with this target language, compared without regard to
                case.
            domain: Only entries with exactly this domain.
            namespace: Only entries with exactly this namespace.
            max_hits: How many hits at the most; at least 1.
            min_score: The lowest score of a hit, from 0 to 1.
            signal: Stops the search when it is set, from another thread.

        Raises:
            InvalidTypeError: An argument has a wrong type.
            InvalidValueError: `query` is white space (`empty_text`), or `max_hits` or `min_score`
                out of range.
            AbortedError: `signal` was set before the search was done.
        """
        check_query(query)
        options = check_options(
            source_language, target_language, domain, namespace, max_hits, min_score
        )
        check_signal(signal)
        found = self._now().search(query, options, None, signal)
        hits = found.hits(0, 0, _HITS)
        return hits if len(hits) < _HITS else run(_more_hits(found, 0, hits))

    def search_many(
        self,
        queries: Iterable[str],
        *,
        source_language: str | None = None,
        target_language: str | None = None,
        domain: str | None = None,
        namespace: str | None = None,
        max_hits: int = 5,
        min_score: float = 0.2,
        threads: int | None = None,
        signal: Signal | None = None,
    ) -> list[list[TranslationMemoryHit]]:
        """What `search` returns for each query, over one state of the memory.

        Args:
            queries: The texts to look up.
            threads: How many threads to search on; as many as there are processors if None.

        The other arguments and the errors are those of `search`; `position` says which query is at
        fault.
        """
        options = check_options(
            source_language, target_language, domain, namespace, max_hits, min_score
        )
        return run(self._search_many(queries, options, threads, signal))

    def _find_many(
        self, queries: Iterable[str], options: Any, threads: int | None, signal: Signal | None
    ) -> Steps[_engine.Found]:
        if threads is not None:
            threads = check_integer("threads", threads, least=1)
        check_signal(signal)
        batch = _engine.Queries()
        items = iterator("queries", queries)
        while not batch.extend(items, SLICE):
            yield None
            check_signal(signal)
        memory = yield from self._seen()
        found = yield lambda flag: memory.search_many(batch, options, threads, flag, signal)
        return found  # type: ignore[no-any-return]

    def _search_many(
        self, queries: Iterable[str], options: Any, threads: int | None, signal: Signal | None
    ) -> Steps[list[list[TranslationMemoryHit]]]:
        found = yield from self._find_many(queries, options, threads, signal)
        results = []
        until = perf_counter() + SLICE
        for query in range(len(found)):
            hits = found.hits(query, 0, _HITS)
            results.append((yield from _more_hits(found, query, hits)))
            if perf_counter() >= until:
                yield None
                until = perf_counter() + SLICE
        return results

    def search_arrays(
        self,
        queries: Iterable[str],
        *,
        source_language: str | None = None,
        target_language: str | None = None,
        domain: str | None = None,
        namespace: str | None = None,
        max_hits: int = 5,
        min_score: float = 0.2,
        threads: int | None = None,
        signal: Signal | None = None,
    ) -> tuple[NDArray[numpy.int64], NDArray[numpy.float64]]:
        """What `search_many` finds, as arrays, for bulk work.

        Returns:
            The ids, `int64[n, max_hits]`, and the scores, `float64[n, max_hits]`, of the hits of
            each of the n queries, best first. Where a query has fewer hits, the id is −1 and the
            score 0.

        The arguments and the errors are those of `search_many`.
        """
        options = check_options(
            source_language, target_language, domain, namespace, max_hits, min_score
        )
        return run(self._search_arrays(queries, options, threads, signal))

    def _search_arrays(
        self, queries: Iterable[str], options: Any, threads: int | None, signal: Signal | None
    ) -> Steps[tuple[NDArray[numpy.int64], NDArray[numpy.float64]]]:
        # On a thread, as it takes a tenth of a second the first time.
        numpy = yield _load_numpy
        found = yield from self._find_many(queries, options, threads, signal)
        width = options.max_hits
        ids = numpy.empty((len(found), width), numpy.int64)
        scores = numpy.empty((len(found), width), numpy.float64)
        step = max(1, _CELLS // width)
        for start in range(0, len(found), step):
            stop = min(start + step, len(found))
            some_ids, some_scores = found.arrays(start, stop, width)
            ids[start:stop] = numpy.frombuffer(some_ids, numpy.int64).reshape(-1, width)
            scores[start:stop] = numpy.frombuffer(some_scores, numpy.float64).reshape(-1, width)
            yield None
        return ids, scores

    def concordance(
        self,
        text: str,
        *,
        side: Side = "both",
        source_language: str | None = None,
        target_language: str | None = None,
        domain: str | None = None,
        namespace: str | None = None,
        start: int = 0,
        max_entries: int = 50,
        signal: Signal | None = None,
    ) -> list[tuple[int, TranslationMemoryEntry]]:
        """The first entries, in order of insertion, that contain a text, with their ids.

        A text contains another if it has the same characters in a row but for case and for the
        length of runs of white space, either as that one was given or as it is when normalized.
        Every entry that passes the filters is looked at until there are enough.

        Args:
            text: What to look for, of 1 to 1,000 characters that are not all white space.
            side: Where: in the `source`, in the `target`, or in `both`.
            start: Only entries whose id is at least this. To go on after a result, give one more
                than its last id.
            max_entries: How many at the most; at least 1.
            signal: Stops the search when it is set, from another thread.

        The other arguments are the filters of `search`.

        Raises:
            InvalidTypeError: An argument has a wrong type.
            InvalidValueError: `text` is white space (`empty_text`) or too long (`text_too_long`),
                or another argument has a value that is not allowed.
            AbortedError: `signal` was set before the search was done.
        """
        filters = source_language, target_language, domain, namespace
        return run(containing(self._seen(), text, side, filters, start, max_entries, signal))

    def count_by(
        self,
        *fields: Field,
        source_language: str | None = None,
        target_language: str | None = None,
        domain: str | None = None,
        namespace: str | None = None,
        signal: Signal | None = None,
    ) -> dict[tuple[str | None, ...], int]:
        """How many entries there are by the values of some fields, such as
        `count_by("source_language", "target_language")`.

        Args:
            fields: What to count by: `source_language`, `target_language`, `domain`, `namespace`.
            signal: Stops the counting when it is set, from another thread.

        The other arguments are the filters of `search`.

        Returns:
            The counts by the fields' values, in the order of `fields`, as they were given: None for
            entries without one.

        Raises:
            InvalidTypeError: A filter has a wrong type.
            InvalidValueError: A field is none of those, or is given twice.
            AbortedError: `signal` was set before the counting was done.
        """
        filters = source_language, target_language, domain, namespace
        return run(count_by(self._seen(), fields, filters, signal))

    def import_file(
        self,
        path: str | PathLike[str],
        *,
        format: str | None = None,
        domain: str | None = None,
        namespace: str | None = None,
        namespaces: Collection[str] | None = None,
        duplicates: Duplicates = "keep",
        strict: bool = False,
        dry_run: bool = False,
        progress: Progress | None = None,
        signal: Signal | None = None,
        **options: Unpack[ReadOptions],
    ) -> ImportReport:
        """Adds the entries of a file: all that can be read or, after an error, none.

        What cannot be used is left out, and the report says where it is and why.

        Args:
            path: The file. It may be compressed with gzip or Zstandard.
            format: The name of its format, as `diglot.formats` has them; if None, what the name of
                the file, or else its first bytes, tell.
            domain: The domain that all entries get, whatever the file says.
            namespace: The namespace that they get, in the same way.
            namespaces: The namespaces that they may be in, if not any; what is in another one is
                left out (`foreign_namespace`). What has none gets the only one, or is left out
                (`missing_namespace`) if there are several.
            duplicates: What to do with entries that are there already: `keep` adds them all the
                same, `skip` leaves them out, `replace` puts them in the place of what is there,
                `newest` does so if they are newer. `diglot.transfer.Duplicates` has the rules.
            strict: Whether something that cannot be used is an error, and nothing is added.
            dry_run: Only report what would be done.
            progress: Called now and then with the bytes read so far, the size of the file in bytes
                (None for a pipe and the like) and the number of entries so far. What it raises ends
                the import and is raised here.
            signal: Stops the import when it is set, from another thread.
            options: Those of `diglot.formats.ReadOptions` that the format has use for.

        Raises:
            OSError: The file cannot be read; `FileNotFoundError` if it is not there.
            FormatError: The file is not in the format, or `strict` and something of it cannot be
                used; `line` says where.
            InvalidTypeError: An argument has a wrong type.
            InvalidValueError: An argument has a value that is not allowed, or the format has no
                such option.
            AbortedError: `signal` was set before the entries were shown.
        """
        return run(
            import_steps(
                self,
                path,
                format,
                options,
                domain=domain,
                namespace=namespace,
                namespaces=namespaces,
                duplicates=duplicates,
                strict=strict,
                dry_run=dry_run,
                progress=progress,
                signal=signal,
            )
        )

    def export_file(
        self,
        path: str | PathLike[str],
        *,
        format: str | None = None,
        source_language: str | None = None,
        target_language: str | None = None,
        domain: str | None = None,
        namespace: str | None = None,
        progress: Callable[[int, int], object] | None = None,
        signal: Signal | None = None,
        **options: Unpack[ExportOptions],
    ) -> ExportReport:
        """Writes the entries to a file, in order of insertion, as they are when it begins.

        The file is written beside the one of that name, and takes its place when it is whole.

        Args:
            path: The file.
            format: The name of its format; if None, what the name of the file tells.
            source_language: Only entries with this source language, compared without regard to
                case.
            target_language: Only entries with this target language, in the same way.
            domain: Only entries with exactly this domain.
            namespace: Only entries with exactly this namespace.
            progress: Called now and then with the number of entries written so far, and how many
                the memory has. What it raises ends the export and is raised here.
            signal: Stops the export when it is set, from another thread.
            options: Those of `diglot.transfer.ExportOptions` that the format has use for.

        Raises:
            OSError: The file cannot be written.
            InvalidTypeError: An argument has a wrong type.
            InvalidValueError: An argument has a value that is not allowed, or the format has no
                such option; or the file, or what it is a link to, is a SQLite database, such as
                that of a store, or belongs to one.
            AbortedError: `signal` was set before the file was in its place.
        """
        return run(
            export_steps(
                self,
                path,
                format,
                options,
                filters=(source_language, target_language, domain, namespace),
                progress=progress,
                signal=signal,
            )
        )

    def dedupe(
        self,
        duplicates: Duplicates = "skip",
        *,
        dry_run: bool = False,
        signal: Signal | None = None,
    ) -> DedupeReport:
        """Removes entries that are duplicates of others. Of those one stays.

        Args:
            duplicates: Which entries are duplicates, and which of them stays: with `skip` the
                first, with `replace` the last, with `newest` the one with the latest date (of equal
                ones the first). `diglot.transfer.Duplicates` has the rules.
            dry_run: Only report what would be removed.
            signal: Stops it when it is set, from another thread.

        Raises:
            InvalidTypeError: An argument has a wrong type.
            InvalidValueError: There is no such policy.
            AbortedError: `signal` was set before anything was removed.
        """
        return run(dedupe_steps(self, duplicates, dry_run, signal))

    def stats(self) -> MemoryStats:
        """Counts and sizes."""
        return MemoryStats(*self._now().stats())


def read_ids(ids: Iterable[int], signal: Signal | None) -> Steps[_engine.Ids]:
    """The ids of an iterable, read step by step."""
    check_signal(signal)
    batch = _engine.Ids()
    items = iterator("ids", ids)
    while not batch.extend(items, SLICE):
        yield None
        check_signal(signal)
    return batch


def slices(snapshot: _engine.Snapshot) -> Iterator[list[tuple[int, TranslationMemoryEntry]]]:
    start = 0
    # The other half of the time goes to handing them on, one by one.
    while items := snapshot.entries(start, SLICE / 2):
        yield items
        start = items[-1][0] + 1


_Memory = TypeVar("_Memory", bound=SyncMemory)


class AsyncMemory(Generic[_Memory]):
    """A memory over the engine, for asynchronous code."""

    __slots__ = ("__weakref__", "_budget", "memory")

    memory: _Memory
    """The same memory for synchronous code."""

    def __init__(self, memory: _Memory) -> None:
        self.memory = memory
        # Seconds that a search may take on the event loop.
        self._budget = SEARCH

    async def _now(self) -> _engine.Memory:
        if (work := self.memory._news()) is not None:
            await on_thread(work)
        return self.memory._memory

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} entries>"

    def __len__(self) -> int:
        """How many entries it holds."""
        return len(self.memory._memory)

    async def __aiter__(self) -> AsyncIterator[TranslationMemoryEntry]:
        """The entries in order of insertion, as they are when the iteration begins."""
        async for _, entry in self.items():
            yield entry

    async def items(self) -> AsyncIterator[tuple[int, TranslationMemoryEntry]]:
        """The ids and entries in order of insertion, as they are when the iteration begins."""
        from asyncio import sleep

        for items in slices((await self._now()).snapshot()):
            for item in items:
                yield item
            await sleep(0)

    async def get(self, id: int) -> TranslationMemoryEntry:
        """As `TranslationMemory.get`."""
        await take_turn()
        return (await self._now()).snapshot().get(id)

    async def add(self, entry: TranslationMemoryEntry, *, signal: Signal | None = None) -> int:
        """As `TranslationMemory.add`."""
        await take_turn()
        check_signal(signal)
        id = self.memory._add_at_once(entry)
        return await run_async(self.memory._add(entry, signal)) if id is None else id

    async def add_many(
        self, entries: Iterable[TranslationMemoryEntry], *, signal: Signal | None = None
    ) -> range:
        """As `TranslationMemory.add_many`."""
        return await run_async(self.memory._add_many(entries, signal))

    async def replace(
        self, id: int, entry: TranslationMemoryEntry, *, signal: Signal | None = None
    ) -> None:
        """As `TranslationMemory.replace`."""
        await run_async(self.memory._replace(id, entry, signal))

    async def remove(self, id: int, *, signal: Signal | None = None) -> None:
        """As `TranslationMemory.remove`."""
        await run_async(self.memory._remove(id, signal))

    async def remove_many(self, ids: Iterable[int], *, signal: Signal | None = None) -> None:
        """As `TranslationMemory.remove_many`."""
        await run_async(self.memory._remove_many(ids, signal))

    async def search(
        self,
        query: str,
        *,
        source_language: str | None = None,
        target_language: str | None = None,
        domain: str | None = None,
        namespace: str | None = None,
        max_hits: int = 5,
        min_score: float = 0.2,
        signal: Signal | None = None,
    ) -> list[TranslationMemoryHit]:
        """As `TranslationMemory.search`."""
        check_query(query)
        options = check_options(
            source_language, target_language, domain, namespace, max_hits, min_score
        )
        await take_turn()
        check_signal(signal)
        memory = await self._now()
        found = None
        if len(query) <= LONG:
            found = memory.search_within(self._budget, query, options)
            # In a memory so large that most searches take longer, few are begun in vain. One that
            # is done in time makes up for three that are not, as those may be late only because
            # others had the processor.
            budget = self._budget / 2 if found is None else self._budget * 8
            self._budget = min(max(budget, SEARCH / 16), SEARCH)
        if found is None:
            found = await on_thread(lambda flag: memory.search(query, options, flag, signal))
        hits = found.hits(0, 0, _HITS)
        return hits if len(hits) < _HITS else await run_async(_more_hits(found, 0, hits))

    async def search_many(
        self,
        queries: Iterable[str],
        *,
        source_language: str | None = None,
        target_language: str | None = None,
        domain: str | None = None,
        namespace: str | None = None,
        max_hits: int = 5,
        min_score: float = 0.2,
        threads: int | None = None,
        signal: Signal | None = None,
    ) -> list[list[TranslationMemoryHit]]:
        """As `TranslationMemory.search_many`."""
        options = check_options(
            source_language, target_language, domain, namespace, max_hits, min_score
        )
        return await run_async(self.memory._search_many(queries, options, threads, signal))

    async def search_arrays(
        self,
        queries: Iterable[str],
        *,
        source_language: str | None = None,
        target_language: str | None = None,
        domain: str | None = None,
        namespace: str | None = None,
        max_hits: int = 5,
        min_score: float = 0.2,
        threads: int | None = None,
        signal: Signal | None = None,
    ) -> tuple[NDArray[numpy.int64], NDArray[numpy.float64]]:
        """As `TranslationMemory.search_arrays`."""
        options = check_options(
            source_language, target_language, domain, namespace, max_hits, min_score
        )
        return await run_async(self.memory._search_arrays(queries, options, threads, signal))

    async def concordance(
        self,
        text: str,
        *,
        side: Side = "both",
        source_language: str | None = None,
        target_language: str | None = None,
        domain: str | None = None,
        namespace: str | None = None,
        start: int = 0,
        max_entries: int = 50,
        signal: Signal | None = None,
    ) -> list[tuple[int, TranslationMemoryEntry]]:
        """As `TranslationMemory.concordance`."""
        filters = source_language, target_language, domain, namespace
        seen = self.memory._seen()
        return await run_async(containing(seen, text, side, filters, start, max_entries, signal))

    async def count_by(
        self,
        *fields: Field,
        source_language: str | None = None,
        target_language: str | None = None,
        domain: str | None = None,
        namespace: str | None = None,
        signal: Signal | None = None,
    ) -> dict[tuple[str | None, ...], int]:
        """As `TranslationMemory.count_by`."""
        filters = source_language, target_language, domain, namespace
        return await run_async(count_by(self.memory._seen(), fields, filters, signal))

    async def import_file(
        self,
        path: str | PathLike[str],
        *,
        format: str | None = None,
        domain: str | None = None,
        namespace: str | None = None,
        namespaces: Collection[str] | None = None,
        duplicates: Duplicates = "keep",
        strict: bool = False,
        dry_run: bool = False,
        progress: Progress | None = None,
        signal: Signal | None = None,
        **options: Unpack[ReadOptions],
    ) -> ImportReport:
        """As `TranslationMemory.import_file`. `progress` is called on the event loop."""
        return await run_async(
            import_steps(
                self.memory,
                path,
                format,
                options,
                domain=domain,
                namespace=namespace,
                namespaces=namespaces,
                duplicates=duplicates,
                strict=strict,
                dry_run=dry_run,
                progress=progress,
                signal=signal,
            )
        )

    async def export_file(
        self,
        path: str | PathLike[str],
        *,
        format: str | None = None,
        source_language: str | None = None,
        target_language: str | None = None,
        domain: str | None = None,
        namespace: str | None = None,
        progress: Callable[[int, int], object] | None = None,
        signal: Signal | None = None,
        **options: Unpack[ExportOptions],
    ) -> ExportReport:
        """As `TranslationMemory.export_file`. `progress` is called on the event loop."""
        return await run_async(
            export_steps(
                self.memory,
                path,
                format,
                options,
                filters=(source_language, target_language, domain, namespace),
                progress=progress,
                signal=signal,
            )
        )

    async def dedupe(
        self,
        duplicates: Duplicates = "skip",
        *,
        dry_run: bool = False,
        signal: Signal | None = None,
    ) -> DedupeReport:
        """As `TranslationMemory.dedupe`."""
        return await run_async(dedupe_steps(self.memory, duplicates, dry_run, signal))

    def stats(self) -> MemoryStats:
        """As `TranslationMemory.stats`."""
        return MemoryStats(*self.memory._memory.stats())


def is_long(entry: TranslationMemoryEntry) -> bool:
    return (
        isinstance(entry, TranslationMemoryEntry) and len(entry.source) + len(entry.target) > LONG
    )
