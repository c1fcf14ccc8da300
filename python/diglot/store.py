"""What a translation memory store is, and the checks that every store makes.

To keep a memory elsewhere, in a database or behind a service, write a class with the methods of
`TranslationMemoryStore`; nothing has to be inherited. The functions here check arguments the way
all stores do, and `diglot.testing` has the tests that a store must pass.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace
from operator import index
from os import PathLike
from typing import Any, NamedTuple, Protocol, runtime_checkable

from diglot._engine import check_entry
from diglot.errors import AbortedError, InvalidTypeError, InvalidValueError
from diglot.model import TranslationMemoryEntry, TranslationMemoryHit

__all__ = [
    "SearchOptions",
    "Signal",
    "TranslationMemoryStore",
    "check_options",
    "check_query",
    "check_signal",
    "copy_entry",
]

# White space as ECMAScript has it, which is not what `str.strip` takes away when it is given
# nothing.
WHITE_SPACE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)


@runtime_checkable
class Signal(Protocol):
    """Asks an operation to stop, such as an `asyncio.Event` or a `threading.Event`."""

    def is_set(self) -> bool:
        """Whether to stop. It may be called from any thread."""
        ...


class SearchOptions(NamedTuple):
    """Which entries a search may return, and how many."""

    source_language: str | None
    target_language: str | None
    domain: str | None
    namespace: str | None
    max_hits: int
    min_score: float

    def matches(self, entry: TranslationMemoryEntry) -> bool:
        """Whether the filters let an entry through: languages are compared without regard to case,
        domain and namespace exactly, and an entry without a field does not match a filter on it.
        """
        return (
            _same_language(self.source_language, entry.source_language)
            and _same_language(self.target_language, entry.target_language)
            and self.domain in (None, entry.domain)
            and self.namespace in (None, entry.namespace)
        )


def _same_language(wanted: str | None, language: str | None) -> bool:
    return wanted is None or (language is not None and language.lower() == wanted.lower())


@runtime_checkable
class TranslationMemoryStore(Protocol):
    """A translation memory, wherever it is kept. `lookup_memory` depends on nothing else.

    All methods check their arguments, and raise `InvalidTypeError` or `InvalidValueError` for what
    is not allowed. If `signal` is set before a method is done, it raises `AbortedError` and changes
    nothing; cancelling the task that awaits it changes nothing either.
    """

    async def add(self, entry: TranslationMemoryEntry, *, signal: Signal | None = None) -> object:
        """Adds one entry. It can be found when this returns."""
        ...

    async def add_many(
        self, entries: Iterable[TranslationMemoryEntry], *, signal: Signal | None = None
    ) -> object:
        """Adds all entries or, after an error, none. The error's `position` is that of the entry at
        fault.
        """
        ...

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
            signal: Stops the search when it is set.
        """
        ...


def check_signal(signal: Signal | None) -> None:
    """Raises `AbortedError` if the signal is set, and `InvalidTypeError` if it is no signal."""
    if signal is None:
        return
    try:
        is_set = signal.is_set
    except AttributeError:
        raise InvalidTypeError(
            f"signal must be None or have a method is_set(), not {type(signal).__name__}",
            field="signal",
        ) from None
    if is_set():
        raise AbortedError("the operation was aborted: its signal is set")


def check_path(path: str | PathLike[str]) -> None:
    """Raises `InvalidTypeError` for anything but a path."""
    if not isinstance(path, (str, PathLike)):
        raise InvalidTypeError(
            f"path must be a str or os.PathLike, not {type(path).__name__}", field="path"
        )


def check_progress(progress: object) -> None:
    """Raises `InvalidTypeError` for anything but something that can be called, or None."""
    if progress is not None and not callable(progress):
        raise InvalidTypeError(
            f"progress must be callable, not {type(progress).__name__}", field="progress"
        )


def check_optional(name: str, value: object) -> None:
    """Raises `InvalidTypeError` for anything but a `str` or None."""
    if value is not None and not isinstance(value, str):
        raise InvalidTypeError(
            f"{name} must be a str or None, not {type(value).__name__}", field=name
        )


def copy_entry(
    entry: TranslationMemoryEntry, *, position: int | None = None
) -> TranslationMemoryEntry:
    """A copy that nobody else can change, of an entry that may have been changed since it was made.

    Args:
        entry: What was given to be stored.
        position: Its place among the entries of `add_many`, for the error.

    Raises:
        InvalidTypeError: It is no entry, or its metadata has something that JSON cannot hold.
        InvalidValueError: Its metadata has something that JSON cannot hold.
    """
    check_entry(entry, position)
    return replace(entry)


def check_query(query: str) -> None:
    """Raises `InvalidTypeError` for anything but a `str`, and `InvalidValueError` (`empty_text`)
    for white space.
    """
    if not isinstance(query, str):
        raise InvalidTypeError(f"query must be a str, not {type(query).__name__}", field="query")
    if not query.strip(WHITE_SPACE):
        message = "query is empty; it needs at least one character that is not white space"
        raise InvalidValueError(message, code="empty_text", field="query")


def check_options(
    source_language: str | None,
    target_language: str | None,
    domain: str | None,
    namespace: str | None,
    max_hits: int,
    min_score: float,
) -> SearchOptions:
    """The options of a search, checked, as plain `str`, `int` and `float`.

    Raises:
        InvalidTypeError: A filter is neither `str` nor None, `max_hits` no integer or `min_score`
            no number.
        InvalidValueError: `max_hits` is below 1, or `min_score` not in [0, 1].
    """
    if not (
        (source_language is None or isinstance(source_language, str))
        and (target_language is None or isinstance(target_language, str))
        and (domain is None or isinstance(domain, str))
        and (namespace is None or isinstance(namespace, str))
    ):
        filters = {
            "source_language": source_language,
            "target_language": target_language,
            "domain": domain,
            "namespace": namespace,
        }
        for name, value in filters.items():
            check_optional(name, value)
    # No memory has more entries than the largest index, so a larger number asks for the same.
    hits = min(check_integer("max_hits", max_hits, least=1), sys.maxsize)
    score = check_score("min_score", min_score)
    return SearchOptions(source_language, target_language, domain, namespace, hits, score)


def check_integer(name: str, value: Any, *, least: int, most: int | None = None) -> int:
    """An integer in a range; `bool` is none, numpy's integers are."""
    if type(value) is not int:
        try:
            if isinstance(value, bool):
                raise TypeError
            value = index(value)
        except TypeError:
            raise InvalidTypeError(
                f"{name} must be an int, not {type(value).__name__}", field=name
            ) from None
    if value < least or (most is not None and value > most):
        allowed = f"at least {least}" if most is None else f"from {least} to {most}"
        raise InvalidValueError(f"{name} is {value}; it must be {allowed}", field=name)
    return int(value)


def check_score(name: str, value: Any) -> float:
    """A number from 0 to 1; `bool` and `str` are none, numpy's numbers are."""
    if type(value) is not float:
        if isinstance(value, (bool, str)) or not (
            hasattr(value, "__float__") or hasattr(value, "__index__")
        ):
            raise InvalidTypeError(
                f"{name} must be a number, not {type(value).__name__}", field=name
            )
        value = float(value)
    if not 0.0 <= value <= 1.0:
        raise InvalidValueError(f"{name} is {value}; it must be a number from 0 to 1", field=name)
    return float(value)
