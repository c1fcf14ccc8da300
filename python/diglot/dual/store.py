"""What any dual-language memory can do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol, runtime_checkable

from diglot.dual.policy import RecallPolicy
from diglot.dual.recall import MemoryHit, RecallResult
from diglot.dual.record import MemoryRecord, TranslationStatus
from diglot.store import Signal

__all__ = ["DualLanguageStore"]


@runtime_checkable
class DualLanguageStore(Protocol):
    """A dual-language memory: in this process (`DualLanguageMemory`), in a database, or a service.

    Whoever implements it promises what `DualLanguageMemory` documents.
    """

    async def add(self, record: MemoryRecord, *, signal: Signal | None = None) -> MemoryRecord:
        """Adds a record and returns it."""
        ...

    async def add_many(
        self, records: Iterable[MemoryRecord], *, signal: Signal | None = None
    ) -> int:
        """Adds all records or, after an error, none. Returns how many they were."""
        ...

    async def get(self, id: str) -> MemoryRecord:
        """The record with this id."""
        ...

    async def update(
        self, id: str, *, signal: Signal | None = None, **changes: Any
    ) -> MemoryRecord:
        """Changes fields of a record and returns it as it is then."""
        ...

    async def remove(self, id: str, *, signal: Signal | None = None) -> None:
        """Removes a record."""
        ...

    async def namespaces(self, prefix: str = "") -> list[str]:
        """The namespaces that records have and that begin with `prefix`, in order."""
        ...

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
        """The records whose texts are most like the query, best first."""
        ...

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
        """The records that answer a query best, looked for across languages if need be."""
        ...
