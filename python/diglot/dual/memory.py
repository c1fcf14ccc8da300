"""The dual-language memory in this process, for synchronous and for asynchronous code.

A record's text is an entry of one engine memory, its English side (`text_en`, or the text of an
English record) an entry of another; the filters of both look at the same fields. Writers take
turns, and a recall works on one state of both memories: it sees a record as it was before an update
or as it is after it, in both languages.

As with the translation memory, both classes do the same work in the same way; see `diglot.memory`
for how the event loop is kept free.
"""

from __future__ import annotations

import os
from array import array
from collections import Counter
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Iterator
from dataclasses import replace
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from diglot import _engine
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
    detect_language,
    english_entry,
    is_english,
    later_than,
    record_from_engine,
    text_entry,
)
from diglot.errors import InvalidTypeError, InvalidValueError, UnknownRecordError
from diglot.memory import _LONG, _SEARCH, _SLICE, _iterator, _on_thread, _run, _run_async, _Steps
from diglot.store import (
    SearchOptions,
    Signal,
    check_integer,
    check_options,
    check_query,
    check_signal,
)

if TYPE_CHECKING:
    from diglot.kpi import Kpis, KpiRecorder

__all__ = ["DualLanguageMemory", "SyncDualLanguageMemory"]

# Records that are copied into a batch at a time.
_CHUNK = 64

# Bytes of a batch that are copied before they are analysed, and that are analysed on an event loop.
_SLAB = 1 << 20
_SMALL = 8192

# Characters of candidates that are compared with a query on an event loop.
_COMPARED = 65536

_CHANGEABLE = tuple(name for name in RECORD_FIELDS if name not in ("id", "updated_at"))


class _View(NamedTuple):
    """One state of both sides."""

    texts: _engine.Snapshot
    english: _engine.Snapshot


class _Candidate(NamedTuple):
    key: int
    match: RecallMatch
    fields: tuple[Any, ...]


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
        "_bases",
        "_changes",
        "_counts",
        "_english",
        "_english_ids",
        "_ids",
        "_lock",
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
        self.policy = _checked_policy(policy, RecallPolicy())
        self.recorder = recorder
        self._texts = _engine.Memory()
        self._english = _engine.Memory()
        self._lock = Lock()
        # The number of each record's text in the engine, by the record's id; and of its English
        # side (-1 if it has none), by the number of its text.
        self._ids: dict[str, int] = {}
        self._english_ids = array("q")
        # The number of the first text of each batch. An entry of the English side says where its
        # text is by batch and place in it: when it is made, nobody knows the text's number yet.
        # Batch 0 is for those whose text is known.
        self._bases = [0]
        # Records of each language, and those of them that have a companion.
        self._counts: Counter[tuple[str, bool]] = Counter()
        # See `_view`.
        self._stable: _View | None = None
        self._changes = 0
        if records != ():
            self.add_many(records)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} records>"

    def __len__(self) -> int:
        """How many records it holds."""
        return len(self._ids)

    def __contains__(self, id: object) -> bool:
        """Whether a record has this id."""
        return id in self._ids

    def __iter__(self) -> Iterator[MemoryRecord]:
        """The records in order of insertion, as they are when the iteration begins."""
        return (record for records in self._slices() for record in records)

    def _slices(self) -> Iterator[list[MemoryRecord]]:
        snapshot = self._texts.snapshot()
        start = 0
        while items := snapshot.entries(start, _SLICE):
            yield [record_from_engine(fields) for _, fields in items]
            start = items[-1][0] + 1

    def _view(self) -> _View:
        """The present state of both sides, without waiting for a writer.

        While a writer changes one side after the other, it shows the state before in `_stable`.
        Where a change was made between the looks at the two sides, `_changes` tells.
        """
        while True:
            changes = self._changes
            view = _View(self._texts.snapshot(), self._english.snapshot())
            if (stable := self._stable) is not None:
                return stable
            if changes == self._changes:
                return view

    def get(self, id: str) -> MemoryRecord:
        """The record with this id.

        Raises:
            InvalidTypeError: It is no `str`.
            UnknownRecordError: No record has it.
        """
        with self._lock:
            return self._get(id)

    def _get(self, id: str) -> MemoryRecord:
        if not isinstance(id, str):
            raise InvalidTypeError(f"id must be a str, not {type(id).__name__}", field="id")
        number = self._ids.get(id)
        if number is None:
            raise UnknownRecordError(f"no record has the id {id!r}", field="id")
        return record_from_engine(self._texts.snapshot().get(number))

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
        check_signal(signal)
        text, english = _entries(record, None)
        with self._lock:
            if record.id in self._ids:
                raise _duplicate(record.id, None)
            self._begin()
            try:
                number = self._texts.add(text)
                english_number = -1
                if english is not None:
                    try:
                        place = _place(0, number)
                        english_number = self._english.add(replace(english, target=place))
                    except BaseException:
                        self._texts.remove(number)
                        self._english_ids.append(-1)
                        raise
                self._english_ids.append(english_number)
                self._ids[record.id] = number
                self._count(record, 1)
            finally:
                self._end()
        return record
