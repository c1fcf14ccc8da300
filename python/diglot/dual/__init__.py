"""Dual-language memory: notes kept in the language they were written in, recalled in another."""

from diglot.dual.lookup import DualMemoryContextSource, lookup_dual_memory
from diglot.dual.memory import DualLanguageMemory, SyncDualLanguageMemory
from diglot.dual.policy import RecallPolicy
from diglot.dual.recall import (
    MemoryHit,
    RecallHit,
    RecallMatch,
    RecallPass,
    RecallResult,
    fuse,
)
from diglot.dual.record import MemoryRecord, detect_language
from diglot.dual.store import DualLanguageStore

__all__ = [
    "DualLanguageMemory",
    "DualLanguageStore",
    "DualMemoryContextSource",
    "MemoryHit",
    "MemoryRecord",
    "RecallHit",
    "RecallMatch",
    "RecallPass",
    "RecallPolicy",
    "RecallResult",
    "SyncDualLanguageMemory",
    "detect_language",
    "fuse",
    "lookup_dual_memory",
]
