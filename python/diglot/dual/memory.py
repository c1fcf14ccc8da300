"""The dual-language memory in this process, for synchronous and for asynchronous code.

A record's text is an entry of one engine memory, its English side (`text_en`, or the text of an
English record) an entry of another; filters look at the same fields of both. Writers take turns,
and a recall works on one state of both memories: it sees a record as it was before an update or as
it is after it, in both languages.

Both classes do the same work in the same way; see `diglot.memory` for how the event loop is kept
free.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count, islice
from operator import itemgetter
from os import PathLike
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from diglot import _engine
from diglot._steps import LONG, SEARCH, SLAB, SLICE, Steps, iterator, run, run_async, take_turn
from diglot.dual.jsonl import read_records, write_records
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
    english_entry,
    later_than,
    record_from_entry,
    text_entry,
)
from diglot.errors import (
    AbortedError,
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
    from diglot.kpi import KpiRecorder, Kpis

__all__ = ["DualLanguageMemory", "SyncDualLanguageMemory"]

_T = TypeVar("_T")

# Records that are copied into a batch at a time.
_CHUNK = 32

# Characters of hits that are compared with a query on an event loop.
_COMPARED = 1 << 16

# A place is the number of a batch and, in the lower bits, a place within it. When the entry for the
# English side of a record is made, nobody knows the number that its text will have, so the entry
# says its place. The records of batch 0 came alone: their place is the number of their text.
_BATCH = 40
_WITHIN = (1 << _BATCH) - 1

_STRENGTH = itemgetter(0, 1)

_CHANGEABLE = tuple(name for name in RECORD_FIELDS if name not in ("id", "updated_at"))


@dataclass(slots=True)
class _Batch:
    """Records that came together.

    Attributes:
        first_text: The number of the first text; None until the batch is shown.
        first_english: The number of the first one on the English side.
        english: For each record, which one of the batch it is on the English side; -1 for none.
    """

    first_text: int | None = None
    first_english: int = 0
    english: array[int] = field(default_factory=lambda: array("q"))


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


class SyncDualLanguageMemory:
    """A dual-language memory for synchronous code: scripts, notebooks, worker threads.

    All methods may be called from any thread at any time. A recall sees all changes whose calls
    returned before it began, and none that are half done.

    Args:
        records: What it holds at first.
        policy: How recalls decide that bring no policy of their own; the documented defaults if
            None.
        recorder: Where recalls are counted and timed; a `KpiRecorder` of its own if None.
    """

    __slots__ = (
        "__weakref__",
        "_batch_numbers",
        "_batches",
        "_changes",
        "_counts",
        "_english",
        "_english_numbers",
        "_in_namespace",
        "_lock",
        "_namespaces",
        "_places",
        "_stable",
        "_texts",
        "policy",
        "recorder",
    )

    policy: RecallPolicy
    """How recalls decide that bring no policy of their own."""

    recorder: KpiRecorder
    """Where recalls are counted and timed."""

    def __init__(
        self,
        records: Iterable[MemoryRecord] = (),
        *,
        policy: RecallPolicy | None = None,
        recorder: KpiRecorder | None = None,
    ) -> None:
        if recorder is None:
            from diglot.kpi import HistogramRecorder

            recorder = HistogramRecorder()
        self.policy = check_policy(policy) or RecallPolicy()
        self.recorder = recorder
        self._texts = _engine.Memory()
        self._english = _engine.Memory()
        self._lock = Lock()
        # The place of each record by its id, also of those that are still on their way in.
        self._places: dict[str, int] = {}
        self._batches = {0: _Batch(first_text=0)}
        self._batch_numbers = count(1)
        # The numbers on the English side (None for none) of records that were added alone or
        # updated, by the numbers of their texts; the batches know those of the others.
        self._english_numbers: dict[int, int | None] = {}
        # Records of each language, without and with a companion.
        self._counts: Counter[tuple[str, bool]] = Counter()
        # Records of each namespace, and the namespaces in order. The list is never changed but
        # replaced, so that readers need not wait for writers.
        self._in_namespace: Counter[str] = Counter()
        self._namespaces: list[str] = []
        # See `_view`.
        self._stable: _View | None = None
        self._changes = 0
        if records != ():
            self.add_many(records)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} records>"

    def __len__(self) -> int:
        """How many records it holds."""
        return len(self._texts)

    def __iter__(self) -> Iterator[MemoryRecord]:
        """The records in order of insertion, as they are when the iteration begins."""
        return (record for records in self._slices() for record in records)

    def _slices(self) -> Iterator[list[MemoryRecord]]:
        snapshot = self._texts.snapshot()
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

    def _change(self, change: Callable[[_engine.CancelFlag | None], _T], long: bool) -> Steps[_T]:
        """Makes a change when it is this writer's turn: at once if that takes no time."""
        if not long and self._lock.acquire(blocking=False):
            try:
                return change(None)
            finally:
                self._lock.release()

        def wait_and_change(flag: _engine.CancelFlag | None) -> _T:
            with self._lock:
                return change(flag)

        return (yield wait_and_change)  # type: ignore[no-any-return]

    def _number(self, place: int) -> int | None:
        """The number of the text at a place; None while its batch is on its way in."""
        first = self._batches[place >> _BATCH].first_text
        return None if first is None else first + (place & _WITHIN)

    def _shown_number(self, place: int) -> int:
        """The number of the text at a place of which the English side can be seen."""
        number = self._number(place)
        assert number is not None
        return number

    def _number_of(self, id: str) -> int:
        if not isinstance(id, str):
            raise InvalidTypeError(f"id must be a str, not {type(id).__name__}", field="id")
        place = self._places.get(id)
        number = None if place is None else self._number(place)
        if number is None:
            raise _unknown(id)
        return number

    def _english_number(self, id: str, number: int) -> int | None:
        if number in self._english_numbers:
            return self._english_numbers[number]
        place = self._places[id]
        batch = self._batches[place >> _BATCH]
        within = batch.english[place & _WITHIN]
        return None if within < 0 else batch.first_english + within

    def get(self, id: str) -> MemoryRecord:
        """The record with this id.

        Raises:
            InvalidTypeError: It is no `str`.
            UnknownRecordError: No record has it.
        """
        number = self._number_of(id)
        try:
            return record_from_entry(self._texts.snapshot().get(number))
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

        def change(flag: _engine.CancelFlag | None) -> MemoryRecord:
            if record.id in self._places:
                raise _duplicate(record.id)
            with self._changing():
                number = self._texts.add(text_entry(record), flag)
                entry = english_entry(record, number)
                try:
                    english = None if entry is None else self._english.add(entry)
                except BaseException:
                    self._texts.remove(number)
                    raise
                self._english_numbers[number] = english
                self._places[record.id] = number
                self._count(record, 1)
            return record

        return (yield from self._change(change, _is_long(record)))

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
        number = next(self._batch_numbers)
        batch = self._batches[number] = _Batch()
        counts: Counter[tuple[str, bool]] = Counter()
        in_namespace: Counter[str] = Counter()
        texts, english = _engine.Batch(), _engine.Batch()
        ids: list[str] = []
        try:
            until = perf_counter() + SLICE
            while chunk := list(islice(items, _CHUNK)):
                text_entries: list[TranslationMemoryEntry] = []
                english_entries: list[TranslationMemoryEntry] = []
                for record in chunk:
                    check_record(record, len(ids))
                    place = number << _BATCH | len(ids)
                    if self._places.setdefault(record.id, place) != place:
                        raise _duplicate(record.id, len(ids))
                    ids.append(record.id)
                    text_entries.append(text_entry(record))
                    entry = english_entry(record, place)
                    if entry is None:
                        batch.english.append(-1)
                    else:
                        batch.english.append(len(english) + len(english_entries))
                        english_entries.append(entry)
                    counts[_counted(record)] += 1
                    if record.namespace is not None:
                        in_namespace[record.namespace] += 1
                for part, entries in ((texts, text_entries), (english, english_entries)):
                    copies = iter(entries)
                    while not part.extend(copies, SLICE):
                        yield partial(_absorb, part, signal)
                    if part.waiting >= SLAB:
                        yield partial(_absorb, part, signal)
                if perf_counter() >= until:
                    check_signal(signal)
                    yield None
                    until = perf_counter() + SLICE
            for part in (texts, english):
                yield partial(_absorb, part, signal)
                yield partial(_prepare, part, signal)

            while not self._lock.acquire(blocking=False):
                yield self._wait
            try:
                check_signal(signal)
                with self._changing():
                    batch.first_english, _ = self._english.publish(english)
                    batch.first_text, _ = self._texts.publish(texts)
                    self._counts.update(counts)
                    self._enter(in_namespace)
            finally:
                self._lock.release()
        except BaseException:
            for id in ids:
                del self._places[id]
            del self._batches[number]
            raise
        return len(ids)

    def _wait(self, flag: _engine.CancelFlag | None) -> None:
        """Waits until no writer has its turn."""
        with self._lock:
            pass

    def update(self, id: str, *, signal: Signal | None = None, **changes: Any) -> MemoryRecord:
        """Changes some fields of a record; `updated_at` moves. A recall sees all of it or nothing.

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

        def change(flag: _engine.CancelFlag | None) -> MemoryRecord:
            old = self.get(id)
            new = _changed(old, changes)
            number = self._number_of(id)
            old_english = self._english_number(id, number)
            entry = english_entry(new, number)
            with self._changing():
                self._texts.replace(number, text_entry(new), flag)
                try:
                    if entry is None:
                        new_english = None
                        if old_english is not None:
                            self._english.remove(old_english)
                    elif old_english is None:
                        new_english = self._english.add(entry)
                    else:
                        new_english = old_english
                        self._english.replace(old_english, entry)
                except BaseException:
                    self._texts.replace(number, text_entry(old))
                    raise
                self._english_numbers[number] = new_english
                self._count(old, -1)
                self._count(new, 1)
            return new

        old = self.get(id)
        texts = (old.text, old.text_en, changes.get("text"), changes.get("text_en"))
        long = any(isinstance(text, str) and len(text) > LONG for text in texts)
        return (yield from self._change(change, long))

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

        def change(flag: _engine.CancelFlag | None) -> None:
            if flag is not None and flag.is_set():
                raise AbortedError("the operation was aborted: its task was cancelled")
            record = self.get(id)
            number = self._number_of(id)
            english = self._english_number(id, number)
            with self._changing():
                self._texts.remove(number)
                if english is not None:
                    self._english.remove(english)
                self._english_numbers.pop(number, None)
                del self._places[id]
                self._count(record, -1)

        return self._change(change, long=False)

    def _count(self, record: MemoryRecord, by: int) -> None:
        self._counts[_counted(record)] += by
        namespace = record.namespace
        if namespace is None:
            return
        if by > 0:
            self._enter(Counter([namespace]))
        else:
            self._leave(namespace)

    def _enter(self, in_namespace: Counter[str]) -> None:
        new = in_namespace.keys() - self._in_namespace.keys()
        self._in_namespace.update(in_namespace)
        if new:
            self._namespaces = sorted([*self._namespaces, *new])

    def _leave(self, namespace: str) -> None:
        self._in_namespace[namespace] -= 1
        if not self._in_namespace[namespace]:
            del self._in_namespace[namespace]
            place = bisect_left(self._namespaces, namespace)
            self._namespaces = self._namespaces[:place] + self._namespaces[place + 1 :]

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
        look = _Look(self, self._view(), policy, filters, signal, on_loop)

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
        record = self.get(id)
        if record.text_en is None:
            raise InvalidValueError(
                f"the record {id!r} has no text_en that could mismatch", field="id"
            )
        self.recorder.record_mismatch(record, note)

    def kpis(self) -> Kpis:
        """What is in the memory, and what the recorder knows of its recalls."""
        with self._lock:
            counts = dict(self._counts)
        return self.recorder.kpis(counts)

    def namespaces(self, prefix: str = "") -> list[str]:
        """The namespaces that records have and that begin with `prefix`, in order.

        Raises:
            InvalidTypeError: It is no `str`.
        """
        check_str("prefix", prefix)
        names = self._namespaces
        start = bisect_left(names, prefix)
        stop = bisect_right(names, prefix, lo=start, key=lambda name: name[: len(prefix)])
        return names[start:stop]

    @classmethod
    def from_jsonl(
        cls,
        path: str | PathLike[str],
        *,
        policy: RecallPolicy | None = None,
        recorder: KpiRecorder | None = None,
        signal: Signal | None = None,
    ) -> SyncDualLanguageMemory:
        """A memory with the records of a JSON Lines file, plain or compressed with gzip.

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
        with read_records(path) as records:
            return (yield from self._add_many(records, signal))

    def to_jsonl(self, path: str | PathLike[str]) -> int:
        """Writes the records to a JSON Lines file that `from_jsonl` reads, in order of insertion. A
        file that is there is replaced when all is written. Returns how many records it has.

        Raises:
            OSError: The file cannot be written.
        """
        return run(write_records(path, self._slices()))


class _Look:
    """The passes of one recall."""

    def __init__(
        self,
        memory: SyncDualLanguageMemory,
        view: _View,
        policy: RecallPolicy,
        filters: Filters,
        signal: Signal | None,
        on_loop: bool,
    ) -> None:
        self.memory = memory
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
            number = hit.id if primary else self.memory._shown_number(int(hit.entry.target))
            strength = share * coverage + (1 - share) * hit.score
            kind: MatchKind = "exact" if exact else "keyword" if phrase else "similar"
            ranked.append((-strength, number, hit, coverage, kind))
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


def _changed(old: MemoryRecord, changes: dict[str, Any]) -> MemoryRecord:
    """The record with changes, and what follows from them."""
    values = dict(changes)
    if changes.get("text_en", old.text_en) != old.text_en:
        values.setdefault("translation_source", None)
        values.setdefault("translation_status", None)
    elif changes.get("text", old.text) != old.text and old.translation_status == "verified":
        values.setdefault("translation_status", "draft")
    return replace(old, **values, updated_at=later_than(old.updated_at))


def _counted(record: MemoryRecord) -> tuple[str, bool]:
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


class DualLanguageMemory:
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

    __slots__ = ("__weakref__", "sync")

    sync: SyncDualLanguageMemory
    """The same memory for synchronous code."""

    def __init__(
        self,
        records: Iterable[MemoryRecord] = (),
        *,
        policy: RecallPolicy | None = None,
        recorder: KpiRecorder | None = None,
    ) -> None:
        self.sync = SyncDualLanguageMemory(records, policy=policy, recorder=recorder)

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

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} records>"

    def __len__(self) -> int:
        """How many records it holds."""
        return len(self.sync)

    async def __aiter__(self) -> AsyncIterator[MemoryRecord]:
        """The records in order of insertion, as they are when the iteration begins."""
        from asyncio import sleep

        for records in self.sync._slices():
            for record in records:
                yield record
            await sleep(0)

    async def get(self, id: str) -> MemoryRecord:
        """As `SyncDualLanguageMemory.get`."""
        await take_turn()
        return self.sync.get(id)

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
        await take_turn()
        self.sync.report_mismatch(id, note)

    def kpis(self) -> Kpis:
        """As `SyncDualLanguageMemory.kpis`."""
        return self.sync.kpis()

    async def namespaces(self, prefix: str = "") -> list[str]:
        """As `SyncDualLanguageMemory.namespaces`."""
        await take_turn()
        return self.sync.namespaces(prefix)

    async def to_jsonl(self, path: str | PathLike[str]) -> int:
        """As `SyncDualLanguageMemory.to_jsonl`."""
        return await run_async(write_records(path, self.sync._slices()))
