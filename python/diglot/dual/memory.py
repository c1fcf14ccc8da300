"""The dual-language memory in this process, for synchronous and for asynchronous code.

A record's text is an entry of one engine memory, its English side (`text_en`, or the text of an
English record) an entry of another; filters look at the same fields of both. Writers take turns,
and a recall works on one state of both memories: it sees a record as it was before an update or as
it is after it, in both languages.

Both classes do the same work in the same way; see `diglot.memory` for how the event loop is kept
free.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import count, islice
from operator import itemgetter
from os import PathLike
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar

from diglot import _engine
from diglot._steps import (
    EVER,
    LONG,
    SEARCH,
    SLAB,
    SLICE,
    Steps,
    Work,
    ids_of,
    iterator,
    on_thread,
    run,
    run_async,
    take_turn,
)
from diglot.dual.jsonl import read_lines, write_records
from diglot.dual.policy import RecallPolicy
from diglot.dual.recall import (
    FallbackReason,
    MatchKind,
    MemoryHit,
    PassName,
    RecallHit,
    RecallMatch,
    RecallPass,
    RecallResult,
    fuse,
)
from diglot.dual.record import (
    RECORD_FIELDS,
    STATUSES,
    MemoryRecord,
    TranslationStatus,
    check_choice,
    check_str,
    check_text,
    detect_language,
    english_row,
    later_than,
    record_from_entry,
    text_entry,
)
from diglot.errors import (
    InvalidTypeError,
    InvalidValueError,
    UnknownEntryError,
    UnknownRecordError,
)
from diglot.model import TranslationMemoryEntry, TranslationMemoryHit
from diglot.store import (
    SearchOptions,
    Signal,
    check_integer,
    check_options,
    check_query,
    check_signal,
)

if TYPE_CHECKING:
    from diglot._engine import _Row
    from diglot.kpi import KpiRecorder, Kpis

__all__ = ["DualLanguageMemory", "SyncDualLanguageMemory"]

# Records that are copied into a batch at a time.
_CHUNK = 32

# Characters of hits that are compared with a query on an event loop.
_COMPARED = 1 << 16

# A place is the number of a batch and, in the lower bits, a place within it: while records are on
# their way in, nobody knows the numbers that they will have. The records of batch 0 came alone;
# their place is their number.
_BATCH = 40
_WITHIN = (1 << _BATCH) - 1

_STRENGTH = itemgetter(0, 1)

_CHANGEABLE = tuple(name for name in RECORD_FIELDS if name not in ("id", "updated_at"))


class RecordsCount:
    """How many records there are: of a language, without or with a companion; of a namespace."""

    __slots__ = ("kinds", "namespaces")

    def __init__(self, *records: MemoryRecord) -> None:
        self.kinds: Counter[tuple[str, bool]] = Counter()
        self.namespaces: Counter[str] = Counter()
        for record in records:
            self.add(record)

    def add(self, record: MemoryRecord) -> None:
        self.kinds[_kind(record)] += 1
        if record.namespace is not None:
            self.namespaces[record.namespace] += 1


class RecordsChange(NamedTuple):
    """What becomes of the records, in one step.

    Attributes:
        gone: Those that go, or give their numbers to others, by number.
        first: What the numbers of the two batches are added to.
        texts: The texts that come; prepared.
        english: Their English sides, under the same numbers; prepared.
        batch: Their batch, if they have one; otherwise they have no places yet.
        places: Their places, in that case, by their ids.
        counts: How many of what kinds come.
    """

    gone: dict[int, MemoryRecord]
    first: int
    texts: _engine.Batch
    english: _engine.Batch
    batch: int | None
    places: dict[str, int]
    counts: RecordsCount


class _View(NamedTuple):
    """One state of both sides."""

    texts: _engine.Snapshot
    english: _engine.Snapshot


class Filters(NamedTuple):
    """Which records take part; checked."""

    lang: str | None
    translation_status: str | None
    category: str | None
    namespace: str | None

    def options(self, hits: int, min_score: float) -> SearchOptions:
        """The options of a search in the engine, whose fields these are kept in."""
        return check_options(*self, hits, min_score)


class SyncRecords:
    """What the memories of records have in common, for synchronous code.

    Changes are made by `_make`. A memory that is kept elsewhere, too, has its own, and says in
    `_news` what it has to read first.
    """

    __slots__ = (
        "__weakref__",
        "_batch_numbers",
        "_batches",
        "_changes",
        "_counts",
        "_english",
        "_lock",
        "_namespaces",
        "_places",
        "_stable",
        "_taken",
        "_texts",
        "policy",
        "recorder",
    )

    policy: RecallPolicy
    """How recalls decide that bring no policy of their own."""

    recorder: KpiRecorder
    """Where recalls are counted and timed."""

    _at_once = True
    """Whether a change of short texts takes no time worth a thread."""

    def __init__(
        self,
        texts: _engine.Memory,
        english: _engine.Memory,
        policy: RecallPolicy | None,
        recorder: KpiRecorder | None,
    ) -> None:
        if recorder is None:
            from diglot.kpi import HistogramRecorder

            recorder = HistogramRecorder()
        self.policy = check_policy(policy) or RecallPolicy()
        self.recorder = recorder
        self._texts = texts
        self._english = english
        self._lock = Lock()
        # The place of each record by its id, also of those that are still on their way in.
        self._places: dict[str, int] = {}
        # The number of the first record of each batch; None while it is on its way in.
        self._batches: dict[int, int | None] = {0: 0}
        self._batch_numbers = count(1)
        # The ids of records on their way in that others took meanwhile.
        self._taken: set[str] = set()
        self._counts = RecordsCount()
        # The namespaces in order. The list is never changed but replaced, so that readers need not
        # wait for writers.
        self._namespaces: list[str] = []
        # See `_view`.
        self._stable: _View | None = None
        self._changes = 0
        self._take_stock()

    def _take_stock(self) -> None:
        """Notes which records there are at first."""
        snapshot = self._texts.snapshot()
        start = 0
        while pairs := snapshot.source_ids(start, SLICE):
            self._places.update(pairs)
            start = pairs[-1][1] + 1
        namespaces: Counter[str] = Counter()
        every = Filters(None, None, None, None).options(1, 0.0)
        for values, records in _engine.count_by(snapshot, [True, True, False, True], every):
            lang, status, _, namespace = values
            assert lang is not None
            self._counts.kinds[lang, status != "missing"] += records
            if namespace is not None:
                namespaces[namespace] += records
        self._enter(namespaces)

    def _news(self) -> Work | None:
        """What has to be done before all changes can be seen that were made elsewhere; None if
        there are none.
        """
        return None

    def _catch_up(self) -> None:
        if (work := self._news()) is not None:
            work(None)

    def _catch_up_in_steps(self) -> Steps[None]:
        if (work := self._news()) is not None:
            yield work

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self._texts)} records>"

    def __len__(self) -> int:
        """How many records it holds."""
        self._catch_up()
        return len(self._texts)

    def __iter__(self) -> Iterator[MemoryRecord]:
        """The records in order of insertion, as they are when the iteration begins."""
        self._catch_up()
        slices = self._slices(self._texts.snapshot())
        return (record for records in slices for record in records)

    def _slices(self, snapshot: _engine.Snapshot) -> Iterator[list[MemoryRecord]]:
        start = 0
        while items := snapshot.entries(start, SLICE):
            yield [record_from_entry(entry) for _, entry in items]
            start = items[-1][0] + 1

    def _view(self) -> _View:
        """The present state of both sides, without waiting for a writer.

        While a writer changes one side after the other, `_stable` is the state before. Where a
        change was made between the looks at the two sides, `_changes` tells.
        """
        while True:
            changes = self._changes
            view = _View(self._texts.snapshot(), self._english.snapshot())
            if (stable := self._stable) is not None:
                return stable
            if changes == self._changes:
                return view

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Lets no recall see the sides apart; for whoever has the lock."""
        self._stable = _View(self._texts.snapshot(), self._english.snapshot())
        try:
            yield
        finally:
            self._changes += 1
            self._stable = None

    def _change(
        self, make: Callable[[int], RecordsChange], signal: Signal | None, *, long: bool
    ) -> Steps[None]:
        """Makes a change when it is this writer's turn: at once if that takes no time.

        Args:
            make: Says what to change, as things are then; it is told the next number.
            signal: Stops the change if it is set before.
            long: Whether to leave it to a thread.
        """
        if self._at_once and not long and self._lock.acquire(blocking=False):
            try:
                self._make(make, signal, None)
            finally:
                self._lock.release()
            return

        def wait_and_make(flag: _engine.CancelFlag | None) -> None:
            with self._lock:
                self._make(make, signal, flag)

        yield wait_and_make

    def _make(
        self,
        make: Callable[[int], RecordsChange],
        signal: Signal | None,
        flag: _engine.CancelFlag | None,
    ) -> None:
        """Makes a change, for whoever has the lock."""
        check_signal(signal)
        change = make(self._texts.snapshot().next_id)
        if flag is not None:
            flag.commit()
        self._show(change)

    def _show(self, change: RecordsChange) -> None:
        """Shows a change on both sides."""
        with self._changing():
            gone = change.gone
            self._texts.apply(self._texts.snapshot(), ids_of(gone), change.first, change.texts)
            sided = [number for number, record in gone.items() if record.english is not None]
            self._english.apply(
                self._english.snapshot(), ids_of(sided), change.first, change.english
            )
            for record in gone.values():
                del self._places[record.id]
                self._counts.kinds[_kind(record)] -= 1
                if record.namespace is not None:
                    self._leave(record.namespace)
            if change.batch is not None:
                self._batches[change.batch] = change.first
            for id in change.places:
                place = self._places.get(id)
                if place is not None and self._batches[place >> _BATCH] is None:
                    self._taken.add(id)
            self._places.update(change.places)
            self._counts.kinds.update(change.counts.kinds)
            self._enter(change.counts.namespaces)

    def _enter(self, namespaces: Counter[str]) -> None:
        new = namespaces.keys() - self._counts.namespaces.keys()
        self._counts.namespaces.update(namespaces)
        if new:
            self._namespaces = sorted([*self._namespaces, *new])

    def _leave(self, namespace: str) -> None:
        self._counts.namespaces[namespace] -= 1
        if not self._counts.namespaces[namespace]:
            del self._counts.namespaces[namespace]
            place = bisect_left(self._namespaces, namespace)
            self._namespaces = self._namespaces[:place] + self._namespaces[place + 1 :]

    def _number_of(self, id: str) -> int:
        if not isinstance(id, str):
            raise InvalidTypeError(f"id must be a str, not {type(id).__name__}", field="id")
        place = self._places.get(id)
        first = None if place is None else self._batches[place >> _BATCH]
        if place is None or first is None:
            raise _unknown(id)
        return first + (place & _WITHIN)

    def get(self, id: str) -> MemoryRecord:
        """The record with this id.

        Raises:
            InvalidTypeError: It is no `str`.
            UnknownRecordError: No record has it.
        """
        self._catch_up()
        return self._get(id)[1]

    def _get(self, id: str) -> tuple[int, MemoryRecord]:
        number = self._number_of(id)
        try:
            return number, record_from_entry(self._texts.snapshot().get(number))
        except UnknownEntryError:
            # It was removed just now.
            raise _unknown(id) from None

    def add(self, record: MemoryRecord, *, signal: Signal | None = None) -> MemoryRecord:
        """Adds a record, which can be recalled when this returns.

        Returns:
            The record, whose id may have been made.

        Raises:
            InvalidTypeError: It is no record.
            InvalidValueError: Another record has its id (`duplicate_id`), or its metadata was
                changed to something that is not allowed.
            AbortedError: `signal` was set before.
        """
        return run(self._add(record, signal))

    def _add(self, record: MemoryRecord, signal: Signal | None) -> Steps[MemoryRecord]:
        check_signal(signal)
        check_record(record)

        texts, english = _sides(record)

        def make(number: int) -> RecordsChange:
            if record.id in self._places:
                raise _duplicate(record.id)
            places, counts = {record.id: number}, RecordsCount(record)
            return RecordsChange({}, number, texts, english, None, places, counts)

        yield from self._change(make, signal, long=_is_long(record))
        return record

    def add_many(self, records: Iterable[MemoryRecord], *, signal: Signal | None = None) -> int:
        """Adds all records or, after an error, none. The iterable is read as a stream.

        Returns:
            How many they were.

        Raises:
            InvalidTypeError: Not an iterable, or one of the items is no record; `position` says
                which.
            InvalidValueError: Two records have the same id (`duplicate_id`), or the metadata of one
                was changed to something that is not allowed; `position` says which.
            AbortedError: `signal` was set before the records were shown.
        """
        return run(self._add_many(records, signal))

    def _add_many(self, records: Iterable[MemoryRecord], signal: Signal | None) -> Steps[int]:
        check_signal(signal)
        items = iterator("records", records)
        batch = next(self._batch_numbers)
        self._batches[batch] = None
        counts = RecordsCount()
        texts, english = _engine.Batch(), _engine.Batch()
        ids: list[str] = []
        try:
            until = perf_counter() + SLICE
            while chunk := list(islice(items, _CHUNK)):
                text_entries: list[TranslationMemoryEntry] = []
                english_rows: list[_Row] = []
                for record in chunk:
                    check_record(record, len(ids))
                    place = batch << _BATCH | len(ids)
                    if self._places.setdefault(record.id, place) != place:
                        raise _duplicate(record.id, len(ids))
                    text_entries.append(text_entry(record))
                    if record.english is not None:
                        english_rows.append(english_row(record, len(ids)))
                    ids.append(record.id)
                    counts.add(record)
                entries, rows = iter(text_entries), iter(english_rows)
                while not texts.extend(entries, SLICE):
                    yield partial(_absorb, texts, signal)
                while not english.extend_rows(rows, SLICE):
                    yield partial(_absorb, english, signal)
                for part in (texts, english):
                    if part.waiting >= SLAB:
                        yield partial(_absorb, part, signal)
                if perf_counter() >= until:
                    check_signal(signal)
                    yield None
                    until = perf_counter() + SLICE
            for part in (texts, english):
                yield partial(_absorb, part, signal)
                yield partial(_prepare, part, signal)

            def make(first: int) -> RecordsChange:
                for position, id in enumerate(ids if self._taken else ()):
                    if id in self._taken:
                        raise _duplicate(id, position)
                return RecordsChange({}, first, texts, english, batch, {}, counts)

            yield from self._change(make, signal, long=False)
        except BaseException:
            for position, id in enumerate(ids):
                if self._places.get(id) == batch << _BATCH | position:
                    del self._places[id]
                self._taken.discard(id)
            del self._batches[batch]
            raise
        return len(ids)

    def update(self, id: str, *, signal: Signal | None = None, **changes: Any) -> MemoryRecord:
        """Changes some fields of a record; `updated_at` moves, if a field is given. A recall sees
        all of it or nothing.

        What is known about a companion holds for the companion: where `text_en` changes, its
        source and status are, if not given, those of a new record; where only `text` changes, a
        verified companion becomes a draft, unless `translation_status` is given.

        Args:
            id: The record's id.
            signal: Stops the update when it was set before.
            **changes: The fields and their new values; all but `id` and `updated_at`.

        Returns:
            The record as it is then.

        Raises:
            InvalidTypeError: A value has a wrong type.
            InvalidValueError: A field is unknown or must not change (`unknown_field`), a value is
                not allowed, or the fields do not agree; nothing is changed.
            UnknownRecordError: No record has the id.
            AbortedError: `signal` was set before.
        """
        return run(self._update(id, changes, signal))

    def _update(
        self, id: str, changes: dict[str, Any], signal: Signal | None
    ) -> Steps[MemoryRecord]:
        check_signal(signal)
        for name in changes:
            if name not in _CHANGEABLE:
                raise InvalidValueError(
                    f"{name!r} cannot be changed; allowed are {', '.join(_CHANGEABLE)}",
                    code="unknown_field",
                    field=name,
                )

        yield from self._catch_up_in_steps()
        if not changes:
            return self._get(id)[1]
        new: MemoryRecord | None = None

        def make(_: int) -> RecordsChange:
            nonlocal new
            number, old = self._get(id)
            new = _changed(old, changes)
            places, counts = {id: number}, RecordsCount(new)
            return RecordsChange({number: old}, number, *_sides(new), None, places, counts)

        _, old = self._get(id)
        texts = (old.text, old.text_en, changes.get("text"), changes.get("text_en"))
        long = any(isinstance(text, str) and len(text) > LONG for text in texts)
        yield from self._change(make, signal, long=long)
        assert new is not None
        return new

    def remove(self, id: str, *, signal: Signal | None = None) -> None:
        """Removes a record.

        Raises:
            InvalidTypeError: The id is no `str`.
            UnknownRecordError: No record has it.
            AbortedError: `signal` was set before.
        """
        run(self._remove(id, signal))

    def _remove(self, id: str, signal: Signal | None) -> Steps[None]:
        check_signal(signal)

        def make(_: int) -> RecordsChange:
            number, old = self._get(id)
            return RecordsChange({number: old}, number, *_sides(None), None, {}, RecordsCount())

        return self._change(make, signal, long=False)

    def search(
        self,
        query: str,
        *,
        limit: int = 5,
        min_score: float = 0.2,
        lang: str | None = None,
        category: str | None = None,
        namespace: str | None = None,
        translation_status: TranslationStatus | None = None,
        signal: Signal | None = None,
    ) -> list[MemoryHit]:
        """The records whose texts are most like the query: score descending, then in order of
        insertion. Only original texts are looked at, and nothing is recorded.

        Args:
            query: A text with at least one character that is not white space.
            limit: How many records at the most; at least 1.
            min_score: The lowest score, from 0 to 1.
            lang: Only records in this language, compared without regard to case.
            category: Only records of exactly this category.
            namespace: Only records of exactly this namespace.
            translation_status: Only records whose companion has this status.
            signal: Stops the search when it is set, from another thread.

        Raises:
            InvalidTypeError: An argument has a wrong type.
            InvalidValueError: An argument has a value that is not allowed.
            AbortedError: `signal` was set before the search was done.
        """
        filters = check_filters(lang, category, namespace, translation_status)
        return run(self._search(query, limit, min_score, filters, signal, on_loop=False))

    def _search(
        self,
        query: str,
        limit: int,
        min_score: float,
        filters: Filters,
        signal: Signal | None,
        *,
        on_loop: bool,
    ) -> Steps[list[MemoryHit]]:
        check_query(query)
        check_integer("limit", limit, least=1)
        options = filters.options(limit, min_score)
        check_signal(signal)
        yield from self._catch_up_in_steps()
        found = yield from _find(self._texts.snapshot(), query, options, signal, on_loop)
        hits: list[MemoryHit] = []
        for start in range(0, found.count(0), _CHUNK):
            if hits:
                yield None
            hits += [
                MemoryHit(record_from_entry(hit.entry), hit.score)
                for hit in found.hits(0, start, start + _CHUNK)
            ]
        return hits

    def recall(
        self,
        query: str,
        query_en: str | None = None,
        *,
        limit: int = 5,
        policy: RecallPolicy | None = None,
        lang: str | None = None,
        category: str | None = None,
        namespace: str | None = None,
        translation_status: TranslationStatus | None = None,
        signal: Signal | None = None,
    ) -> RecallResult:
        """The records that answer a query best, looked for across languages if need be.

        The query is looked for in the texts. Only where that finds too little, `query_en` is looked
        for on the English side; without it, a query in English or mixed serves as its own. Where
        that is still poor, both are looked for once more, further.

        Args:
            query: What is asked, in any language; at least one character that is not white space.
            query_en: The same in English.
            limit: How many records at the most; at least 1.
            policy: How to decide; the memory's own policy if None.
            lang: Only records in this language, compared without regard to case.
            category: Only records of exactly this category.
            namespace: Only records of exactly this namespace.
            translation_status: Only records whose companion has this status.
            signal: Stops the recall when it is set, from another thread.

        Raises:
            InvalidTypeError: An argument has a wrong type.
            InvalidValueError: An argument has a value that is not allowed.
            AbortedError: `signal` was set before the recall was done.
        """
        filters = check_filters(lang, category, namespace, translation_status)
        return run(self._recall(query, query_en, limit, policy, filters, signal, on_loop=False))

    def _recall(
        self,
        query: str,
        query_en: str | None,
        limit: int,
        policy: RecallPolicy | None,
        filters: Filters,
        signal: Signal | None,
        *,
        on_loop: bool,
        recorded: bool = True,
    ) -> Steps[RecallResult]:
        started = perf_counter()
        check_query(query)
        if query_en is not None:
            check_text("query_en", query_en)
        limit = check_integer("limit", limit, least=1)
        policy = check_policy(policy) or self.policy
        check_signal(signal)
        query_lang = detect_language(query)
        english = query_en
        if english is None and query_lang in ("en", "mixed"):
            english = query
        yield from self._catch_up_in_steps()
        look = _Look(self._view(), policy, filters, signal, on_loop)

        yield from look.run("primary", query, "query", limit)
        reason: FallbackReason | None = None
        if look.best < policy.fallback_below:
            reason = "low_score"
        if len(look.found) < policy.fallback_hits:
            reason = "few_hits"
        fallback = reason is not None and policy.fallback and english is not None
        english_name: Literal["query", "query_en"] = "query" if query_en is None else "query_en"
        if fallback:
            assert english is not None
            yield from look.run("english", english, english_name, limit)
        if policy.broaden and (not look.found or look.best < policy.confidence):
            yield from look.run("broad-primary", query, "query", limit)
            if fallback:
                assert english is not None
                yield from look.run("broad-english", english, english_name, limit)

        hits = yield from look.hits(limit)
        result = RecallResult(
            query,
            query_en,
            query_lang,
            hits,
            look.best,
            look.best < policy.confidence,
            fallback,
            reason,
            tuple(look.passes),
            perf_counter() - started,
        )
        if recorded:
            self.recorder.record(result)
        return result

    def report_mismatch(self, id: str, note: str = "") -> None:
        """Reports that a record's companion does not say what its text says; `kpis` counts it.

        Raises:
            InvalidTypeError: The id or the note is no `str`.
            InvalidValueError: The record has no companion.
            UnknownRecordError: No record has the id.
        """
        check_str("note", note)
        self._catch_up()
        self._report_mismatch(id, note)

    def _report_mismatch(self, id: str, note: str) -> None:
        record = self._get(id)[1]
        if record.text_en is None:
            raise InvalidValueError(
                f"the record {id!r} has no text_en that could mismatch", field="id"
            )
        self.recorder.record_mismatch(record, note)

    def kpis(self) -> Kpis:
        """What is in the memory, and what the recorder knows of its recalls."""
        self._catch_up()
        return self._kpis()

    def _kpis(self) -> Kpis:
        # A copy is made in one step, so that no writer has to be waited for.
        return self.recorder.kpis(dict(self._counts.kinds))

    def namespaces(self, prefix: str = "") -> list[str]:
        """The namespaces that records have and that begin with `prefix`, in order.

        Raises:
            InvalidTypeError: It is no `str`.
        """
        check_str("prefix", prefix)
        self._catch_up()
        return self._namespaces_with(prefix)

    def _namespaces_with(self, prefix: str) -> list[str]:
        names = self._namespaces
        start = bisect_left(names, prefix)
        stop = bisect_right(names, prefix, lo=start, key=lambda name: name[: len(prefix)])
        return names[start:stop]

    def to_jsonl(self, path: str | PathLike[str]) -> int:
        """Writes the records to a JSON Lines file that `from_jsonl` reads, in order of insertion. A
        file that is there is replaced when all is written. Returns how many records it has.

        Raises:
            OSError: The file cannot be written.
            InvalidValueError: The file, or what it is a link to, is a SQLite database or belongs
                to one.
        """
        self._catch_up()
        return run(write_records(path, self._slices(self._texts.snapshot())))


class SyncDualLanguageMemory(SyncRecords):
    """A dual-language memory for synchronous code: scripts, notebooks, worker threads.

    All methods may be called from any thread at any time. A recall sees all changes whose calls
    returned before it began, and none that are half done.

    Args:
        records: What it holds at first.
        policy: How recalls decide that bring no policy of their own; the documented defaults if
            None.
        recorder: Where recalls are counted and timed; a `HistogramRecorder` of its own if None.
    """

    __slots__ = ()

    def __init__(
        self,
        records: Iterable[MemoryRecord] = (),
        *,
        policy: RecallPolicy | None = None,
        recorder: KpiRecorder | None = None,
    ) -> None:
        super().__init__(_engine.Memory(), _engine.Memory(), policy, recorder)
        if records != ():
            self.add_many(records)

    @classmethod
    def from_jsonl(
        cls,
        path: str | PathLike[str],
        *,
        policy: RecallPolicy | None = None,
        recorder: KpiRecorder | None = None,
        signal: Signal | None = None,
    ) -> SyncDualLanguageMemory:
        """A memory with the records of a JSON Lines file, plain or compressed with gzip or
        Zstandard.

        A line is a JSON object with the keys of `MemoryRecord.from_dict`. `null` is the same as no
        key. Lines of white space are skipped.

        Raises:
            OSError: The file cannot be read.
            FormatError: A line is no record; `line` and `field` say where.
            AbortedError: `signal` was set before the reading was done.
        """
        memory = cls(policy=policy, recorder=recorder)
        run(memory._add_jsonl(path, signal))
        return memory

    def _add_jsonl(self, path: str | PathLike[str], signal: Signal | None) -> Steps[int]:
        return self._add_many(read_lines(path, MemoryRecord.from_dict), signal)


class _Look:
    """The passes of one recall."""

    def __init__(
        self,
        view: _View,
        policy: RecallPolicy,
        filters: Filters,
        signal: Signal | None,
        on_loop: bool,
    ) -> None:
        self.view = view
        self.policy = policy
        self.filters = filters
        self.signal = signal
        self.on_loop = on_loop
        # What was found, by the number of the record's text.
        self.found: list[tuple[int, RecallMatch]] = []
        # Entries of texts that are at hand.
        self.texts: dict[int, TranslationMemoryEntry] = {}
        self.passes: list[RecallPass] = []
        self.best = 0.0

    def run(
        self, name: PassName, query: str, called: Literal["query", "query_en"], limit: int
    ) -> Steps[None]:
        """Makes a pass. What it finds takes the place of what the same pass found before."""
        if self.on_loop and self.passes:
            # Every pass may take the time that a step on an event loop may take.
            yield None
        started = perf_counter()
        policy, broad = self.policy, name.startswith("broad")
        primary = name.endswith("primary")
        most = policy.broaden_candidates if broad else policy.candidates
        floor = policy.broaden_min_score if broad else policy.min_score
        options = self.filters.options(max(limit, most), floor)
        side = self.view.texts if primary else self.view.english
        found = yield from _find(side, query, options, self.signal, self.on_loop)
        hits: list[TranslationMemoryHit] = []
        for start in range(0, found.count(0), _CHUNK):
            if hits:
                yield None
            hits += found.hits(0, start, start + _CHUNK)
        if self.on_loop and sum(len(hit.entry.source) for hit in hits) > _COMPARED:
            coverages = yield lambda flag: found.coverage(0, query)
        else:
            coverages = found.coverage(0, query)

        ranked: list[tuple[float, int, TranslationMemoryHit, float, MatchKind]] = []
        share = policy.coverage_weight
        for hit, (coverage, phrase, exact) in zip(hits, coverages, strict=True):
            strength = share * coverage + (1 - share) * hit.score
            kind: MatchKind = "exact" if exact else "keyword" if phrase else "similar"
            ranked.append((-strength, hit.id, hit, coverage, kind))
        ranked.sort(key=_STRENGTH)
        if broad:
            before = name.removeprefix("broad-")
            self.found = [item for item in self.found if item[1].by != before]
        for rank, (strength, number, hit, coverage, kind) in enumerate(ranked, start=1):
            entry = hit.entry
            field: Literal["text", "text_en"] = "text"
            weight = 1.0
            if primary:
                self.texts[number] = entry
            elif entry.target_language != "missing":
                # A record without a companion has its text on the English side.
                field = "text_en"
                weight = policy.companion_weight(entry.notes, entry.target_language)
            match = RecallMatch(
                name, field, called, kind, rank, hit.score, coverage, -strength, weight
            )
            self.found.append((number, match))
        top = -ranked[0][0] if ranked else 0.0
        self.best = max(self.best, top)
        self.passes.append(RecallPass(name, query, len(ranked), top, perf_counter() - started))

    def hits(self, limit: int) -> Steps[tuple[RecallHit, ...]]:
        """What was found, merged; the best of it as records."""
        fused = fuse(self.found, self.policy)
        hits: list[RecallHit] = []
        for number, score, matches in fused[:limit]:
            if hits and len(hits) % _CHUNK == 0:
                yield None
            entry = self.texts.get(number) or self.view.texts.get(number)
            hits.append(RecallHit(record_from_entry(entry), score, matches))
        return tuple(hits)


def _find(
    side: _engine.Snapshot,
    query: str,
    options: SearchOptions,
    signal: Signal | None,
    on_loop: bool,
) -> Steps[_engine.Found]:
    found = None
    if on_loop and len(query) <= LONG:
        found = side.search_within(SEARCH, query, options)
    if found is None:
        found = yield lambda flag: side.search(query, options, flag, signal)
    return found


def _absorb(part: _engine.Batch, signal: Signal | None, flag: _engine.CancelFlag | None) -> None:
    part.absorb(flag, signal)


def _prepare(part: _engine.Batch, signal: Signal | None, flag: _engine.CancelFlag | None) -> None:
    part.prepare(flag, signal)


def _sides(record: MemoryRecord | None) -> tuple[_engine.Batch, _engine.Batch]:
    """A record's text and its English side, prepared, under the number 0; nothing for None."""
    texts, english = _engine.Batch(), _engine.Batch()
    if record is not None:
        texts.push(text_entry(record))
        if record.english is not None:
            english.extend_rows(iter([english_row(record, 0)]), EVER)
            english.absorb()
    texts.prepare()
    english.prepare()
    return texts, english


def _changed(old: MemoryRecord, changes: dict[str, Any]) -> MemoryRecord:
    """The record with changes, and what follows from them."""
    values = dict(changes)
    if changes.get("text_en", old.text_en) != old.text_en:
        values.setdefault("translation_source", None)
        values.setdefault("translation_status", None)
    elif changes.get("text", old.text) != old.text and old.translation_status == "verified":
        values.setdefault("translation_status", "draft")
    return replace(old, **values, updated_at=later_than(old.updated_at))


def _kind(record: MemoryRecord) -> tuple[str, bool]:
    return record.lang, record.text_en is not None


def _is_long(record: MemoryRecord) -> bool:
    return len(record.text) + len(record.text_en or "") > LONG


def _unknown(id: str) -> UnknownRecordError:
    return UnknownRecordError(f"no record has the id {id!r}", field="id")


def _duplicate(id: str, position: int | None = None) -> InvalidValueError:
    where = "" if position is None else f"records[{position}]: "
    return InvalidValueError(
        f"{where}another record has the id {id!r}",
        code="duplicate_id",
        field="id",
        position=position,
    )


def check_record(record: MemoryRecord, position: int | None = None) -> None:
    """Raises `InvalidTypeError` for anything but a record."""
    if not isinstance(record, MemoryRecord):
        name = "record" if position is None else f"records[{position}]"
        raise InvalidTypeError(
            f"{name} must be a MemoryRecord, not {type(record).__name__}",
            field="record",
            position=position,
        )


def check_policy(policy: RecallPolicy | None) -> RecallPolicy | None:
    """Raises `InvalidTypeError` for anything but a policy or None."""
    if policy is not None and not isinstance(policy, RecallPolicy):
        raise InvalidTypeError(
            f"policy must be a RecallPolicy or None, not {type(policy).__name__}", field="policy"
        )
    return policy


def check_filters(
    lang: str | None,
    category: str | None,
    namespace: str | None,
    translation_status: str | None,
) -> Filters:
    """The filters, checked.

    Raises:
        InvalidTypeError: A filter is neither `str` nor None.
        InvalidValueError: `translation_status` is none.
    """
    for name, value in (("lang", lang), ("category", category), ("namespace", namespace)):
        if value is not None:
            check_str(name, value)
    if translation_status is not None:
        check_choice("translation_status", translation_status, STATUSES)
    return Filters(lang, translation_status, category, namespace)


_Sync = TypeVar("_Sync", bound=SyncRecords)


class AsyncRecords(Generic[_Sync]):
    """What the memories of records have in common, for asynchronous code."""

    __slots__ = ("__weakref__", "sync")

    sync: _Sync
    """The same memory for synchronous code."""

    def __init__(self, sync: _Sync) -> None:
        self.sync = sync

    async def _catch_up(self) -> None:
        if (work := self.sync._news()) is not None:
            await on_thread(work)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} records>"

    def __len__(self) -> int:
        """How many records it holds."""
        return len(self.sync._texts)

    async def __aiter__(self) -> AsyncIterator[MemoryRecord]:
        """The records in order of insertion, as they are when the iteration begins."""
        from asyncio import sleep

        await self._catch_up()
        for records in self.sync._slices(self.sync._texts.snapshot()):
            for record in records:
                yield record
            await sleep(0)

    async def get(self, id: str) -> MemoryRecord:
        """As `SyncDualLanguageMemory.get`."""
        await take_turn()
        await self._catch_up()
        return self.sync._get(id)[1]

    async def add(self, record: MemoryRecord, *, signal: Signal | None = None) -> MemoryRecord:
        """As `SyncDualLanguageMemory.add`."""
        return await run_async(self.sync._add(record, signal))

    async def add_many(
        self, records: Iterable[MemoryRecord], *, signal: Signal | None = None
    ) -> int:
        """As `SyncDualLanguageMemory.add_many`."""
        return await run_async(self.sync._add_many(records, signal))

    async def update(
        self, id: str, *, signal: Signal | None = None, **changes: Any
    ) -> MemoryRecord:
        """As `SyncDualLanguageMemory.update`."""
        return await run_async(self.sync._update(id, changes, signal))

    async def remove(self, id: str, *, signal: Signal | None = None) -> None:
        """As `SyncDualLanguageMemory.remove`."""
        await run_async(self.sync._remove(id, signal))

    async def search(
        self,
        query: str,
        *,
        limit: int = 5,
        min_score: float = 0.2,
        lang: str | None = None,
        category: str | None = None,
        namespace: str | None = None,
        translation_status: TranslationStatus | None = None,
        signal: Signal | None = None,
    ) -> list[MemoryHit]:
        """As `SyncDualLanguageMemory.search`."""
        filters = check_filters(lang, category, namespace, translation_status)
        return await run_async(
            self.sync._search(query, limit, min_score, filters, signal, on_loop=True)
        )

    async def recall(
        self,
        query: str,
        query_en: str | None = None,
        *,
        limit: int = 5,
        policy: RecallPolicy | None = None,
        lang: str | None = None,
        category: str | None = None,
        namespace: str | None = None,
        translation_status: TranslationStatus | None = None,
        signal: Signal | None = None,
    ) -> RecallResult:
        """As `SyncDualLanguageMemory.recall`."""
        filters = check_filters(lang, category, namespace, translation_status)
        return await run_async(
            self.sync._recall(query, query_en, limit, policy, filters, signal, on_loop=True)
        )

    async def report_mismatch(self, id: str, note: str = "") -> None:
        """As `SyncDualLanguageMemory.report_mismatch`."""
        check_str("note", note)
        await take_turn()
        await self._catch_up()
        self.sync._report_mismatch(id, note)

    def kpis(self) -> Kpis:
        """As `SyncDualLanguageMemory.kpis`."""
        return self.sync._kpis()

    async def namespaces(self, prefix: str = "") -> list[str]:
        """As `SyncDualLanguageMemory.namespaces`."""
        check_str("prefix", prefix)
        await take_turn()
        await self._catch_up()
        return self.sync._namespaces_with(prefix)

    async def to_jsonl(self, path: str | PathLike[str]) -> int:
        """As `SyncDualLanguageMemory.to_jsonl`."""
        await self._catch_up()
        snapshot = self.sync._texts.snapshot()
        return await run_async(write_records(path, self.sync._slices(snapshot)))


class DualLanguageMemory(AsyncRecords[SyncDualLanguageMemory]):
    """A dual-language memory in this process, for asynchronous code.

    It is a `DualLanguageStore`, and has the methods of `SyncDualLanguageMemory` with the same
    arguments, results and errors. None of them keeps the event loop from other tasks for more than
    about a millisecond, whatever the size of the memory, the batch or the result. The same memory
    may be used from other threads and event loops at the same time.

    Args:
        records: What it holds at first. They are added before the constructor returns; in a running
            event loop, make the memory empty and await `add_many`.
        policy: How recalls decide that bring no policy of their own; the documented defaults if
            None.
        recorder: Where recalls are counted and timed; a `HistogramRecorder` of its own if None.
    """

    __slots__ = ()

    def __init__(
        self,
        records: Iterable[MemoryRecord] = (),
        *,
        policy: RecallPolicy | None = None,
        recorder: KpiRecorder | None = None,
    ) -> None:
        super().__init__(SyncDualLanguageMemory(records, policy=policy, recorder=recorder))

    @classmethod
    async def from_jsonl(
        cls,
        path: str | PathLike[str],
        *,
        policy: RecallPolicy | None = None,
        recorder: KpiRecorder | None = None,
        signal: Signal | None = None,
    ) -> DualLanguageMemory:
        """As `SyncDualLanguageMemory.from_jsonl`."""
        memory = cls(policy=policy, recorder=recorder)
        await run_async(memory.sync._add_jsonl(path, signal))
        return memory
