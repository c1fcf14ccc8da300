"""Counting and timing recalls in constant memory."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta, timezone
from threading import Lock
from time import time
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from diglot._extras import extra
from diglot.dual.recall import RecallResult
from diglot.dual.record import MemoryRecord
from diglot.errors import InvalidTypeError, InvalidValueError
from diglot.kpi.kpis import (
    GROUPS,
    Group,
    Kpis,
    LatencyKpis,
    Mismatch,
    QueryKpis,
    RecordKpis,
    Window,
    group_of,
)
from diglot.store import check_integer

if TYPE_CHECKING:
    from hdrh.histogram import HdrHistogram

__all__ = ["HistogramRecorder", "KpiRecorder"]

# Latencies are kept in microseconds, to two digits; longer ones count as the longest.
_LONGEST = 60_000_000
_DIGITS = 2

# The first Monday of the clock, so that weeks begin on Mondays.
_MONDAY = datetime(1970, 1, 5, tzinfo=timezone.utc)


@runtime_checkable
class KpiRecorder(Protocol):
    """What a memory tells of its recalls, and asks figures of. Its methods are called from any
    thread, and on event loops: they must not take long.
    """

    def record(self, result: RecallResult) -> None:
        """Counts a recall."""
        ...

    def record_mismatch(self, record: MemoryRecord, note: str) -> None:
        """Counts a report that a record's companion does not say what its text says."""
        ...

    def kpis(self, records: Mapping[tuple[str, bool], int]) -> Kpis:
        """The figures.

        Args:
            records: How many records the memory has, by language and whether they have a companion.
        """
        ...


def _histogram() -> HdrHistogram:
    with extra("dual", "the recorder of a dual-language memory"):
        from hdrh.histogram import HdrHistogram
    return HdrHistogram(1, _LONGEST, _DIGITS)


class _Latency:
    """The latencies of some recalls."""

    __slots__ = ("histogram", "longest")

    def __init__(self) -> None:
        # Made when there is something to put in: most groups of most windows stay empty.
        self.histogram: HdrHistogram | None = None
        self.longest = 0.0

    def record(self, seconds: float) -> None:
        if self.histogram is None:
            self.histogram = _histogram()
        self.histogram.record_value(min(max(round(seconds * 1e6), 1), _LONGEST))
        self.longest = max(self.longest, seconds)

    def add(self, other: _Latency) -> None:
        if other.histogram is not None:
            if self.histogram is None:
                self.histogram = _histogram()
            self.histogram.add(other.histogram)
            self.longest = max(self.longest, other.longest)

    def kpis(self) -> LatencyKpis:
        if self.histogram is None:
            return LatencyKpis(0, None, None, None)
        values = self.histogram.get_percentile_to_value_dict([50, 95])
        longest = self.longest * 1e3
        # A histogram rounds up to the end of a bucket, which may be more than there ever was.
        p50, p95 = (min(values[at] / 1e3, longest) for at in (50, 95))
        return LatencyKpis(self.histogram.get_total_count(), p50, p95, longest)


_COUNTS = (
    "queries",
    "with_query_en",
    "fallbacks",
    "fallbacks_missed",
    "empty",
    "low_confidence",
    "mismatches",
)


class _Tally:
    """The counts and latencies of some recalls."""

    __slots__ = (*_COUNTS, "with_fallback", "without_fallback")

    def __init__(self) -> None:
        self.queries = self.with_query_en = self.fallbacks = self.fallbacks_missed = 0
        self.empty = self.low_confidence = self.mismatches = 0
        self.with_fallback = _Latency()
        self.without_fallback = _Latency()

    def record(self, result: RecallResult) -> None:
        self.queries += 1
        self.with_query_en += result.query_en is not None
        self.fallbacks += result.fallback_used
        self.fallbacks_missed += result.fallback_reason is not None and not result.fallback_used
        self.empty += not result.hits
        self.low_confidence += result.low_confidence
        latency = self.with_fallback if result.fallback_used else self.without_fallback
        latency.record(result.seconds)

    def add(self, other: _Tally) -> None:
        for name in _COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.with_fallback.add(other.with_fallback)
        self.without_fallback.add(other.without_fallback)

    def kpis(self) -> QueryKpis:
        together = _Latency()
        together.add(self.with_fallback)
        together.add(self.without_fallback)
        return QueryKpis(
            **{name: getattr(self, name) for name in _COUNTS},
            latency=together.kpis(),
            latency_without_fallback=self.without_fallback.kpis(),
            latency_with_fallback=self.with_fallback.kpis(),
        )


_Tallies = dict[Group, _Tally]


def _with_all(tallies: _Tallies) -> dict[str, QueryKpis]:
    every = _Tally()
    for tally in tallies.values():
        every.add(tally)
    return {
        **{group: tallies[group].kpis() for group in GROUPS},
        "all": every.kpis(),
    }


def _tallies() -> _Tallies:
    return {group: _Tally() for group in GROUPS}


class HistogramRecorder:
    """A recorder that keeps counts and latency histograms, of all time and of the last windows.

    The memory it takes does not depend on how many recalls there are: about 20 KB for each
    language of each window that had recalls, and as much again with fallbacks. All methods may be
    called from any thread.

    Args:
        window: How long a window is. Windows of a week begin on Mondays, 0:00 UTC.
        windows: How many windows are kept; at least 1.
        mismatches: How many reports of mismatches are kept; at least 0. All are counted.
        clock: Tells the time, in seconds since 1970.

    Raises:
        InvalidTypeError: An argument has a wrong type.
        InvalidValueError: An argument is out of range.
        MissingPackageError: `diglot[dual]` is not installed.
    """

    def __init__(
        self,
        *,
        window: timedelta = timedelta(weeks=1),
        windows: int = 12,
        mismatches: int = 100,
        clock: Callable[[], float] = time,
    ) -> None:
        if not isinstance(window, timedelta):
            raise InvalidTypeError(
                f"window must be a timedelta, not {type(window).__name__}", field="window"
            )
        if window < timedelta(seconds=1):
            raise InvalidValueError(
                f"window is {window}; it must be at least a second", field="window"
            )
        if not callable(clock):
            raise InvalidTypeError(
                f"clock must be callable, not {type(clock).__name__}", field="clock"
            )
        # A package that is missing is missed now, not with the first recall.
        _histogram()
        self._window = window
        self._most_windows = check_integer("windows", windows, least=1)
        self._clock = clock
        self._lock = Lock()
        self._total = _tallies()
        self._windows: OrderedDict[int, _Tallies] = OrderedDict()
        self._mismatches: deque[Mismatch] = deque(
            maxlen=check_integer("mismatches", mismatches, least=0)
        )

    def record(self, result: RecallResult) -> None:
        """Counts a recall in the window of this moment."""
        group = group_of(result.lang)
        with self._lock:
            self._total[group].record(result)
            self._now()[group].record(result)

    def record_mismatch(self, record: MemoryRecord, note: str) -> None:
        """Counts a report in the group of the record's language, and keeps it among the last."""
        group = group_of(record.lang)
        with self._lock:
            self._total[group].mismatches += 1
            self._now()[group].mismatches += 1
            at = datetime.fromtimestamp(self._clock(), timezone.utc)
            self._mismatches.append(Mismatch(record.id, _iso(at), note))

    def kpis(self, records: Mapping[tuple[str, bool], int]) -> Kpis:
        """The figures. Takes some milliseconds."""
        with self._lock:
            total = _copy(self._total)
            windows = {number: _copy(tallies) for number, tallies in self._windows.items()}
            mismatches = tuple(self._mismatches)
        return Kpis(
            _record_kpis(records),
            _with_all(total),
            tuple(
                Window(
                    _iso(_MONDAY + number * self._window),
                    _iso(_MONDAY + (number + 1) * self._window),
                    _with_all(windows[number]),
                )
                for number in sorted(windows)
            ),
            mismatches,
        )

    def _now(self) -> _Tallies:
        """The window of this moment; for whoever has the lock."""
        moment = datetime.fromtimestamp(self._clock(), timezone.utc)
        number = (moment - _MONDAY) // self._window
        tallies = self._windows.get(number)
        if tallies is None:
            tallies = self._windows[number] = _tallies()
            while len(self._windows) > self._most_windows:
                # The clock may be set back, so the oldest is not always the first.
                del self._windows[min(self._windows)]
            # It may have gone at once, being older than all that are kept.
        return tallies


def _copy(tallies: _Tallies) -> _Tallies:
    copies = _tallies()
    for group, tally in tallies.items():
        copies[group].add(tally)
    return copies


def _record_kpis(records: Mapping[tuple[str, bool], int]) -> dict[str, RecordKpis]:
    def of(groups: Iterable[Group]) -> RecordKpis:
        counts = [
            sum(
                number
                for (lang, has_companion), number in records.items()
                if group_of(lang) in groups and has_companion >= least
            )
            for least in (False, True)
        ]
        return RecordKpis(*counts)

    return {**{group: of((group,)) for group in GROUPS}, "all": of(GROUPS)}


def _iso(time: datetime) -> str:
    return time.astimezone(timezone.utc).isoformat(timespec="seconds")[:-6] + "Z"
