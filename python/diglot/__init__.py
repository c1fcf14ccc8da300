"""Translation memory for LLM translators and translation servers: exact fuzzy lookup over millions
of segments.
"""

from diglot._engine import __version__, normalize, similarity, tokens, trigrams
from diglot.errors import (
    AbortedError,
    DiglotError,
    FormatError,
    InvalidTypeError,
    InvalidValueError,
    MissingPackageError,
    SnapshotError,
    UnknownEntryError,
    UnknownRecordError,
)
from diglot.lookup import ContextResult, MemoryContextSource, lookup_memory
from diglot.memory import InMemoryTranslationMemoryStore, TranslationMemory
from diglot.model import MemoryStats, TranslationMemoryEntry, TranslationMemoryHit
from diglot.store import Signal, TranslationMemoryStore

__all__ = [
    "AbortedError",
    "ContextResult",
    "DiglotError",
    "FormatError",
    "InMemoryTranslationMemoryStore",
    "InvalidTypeError",
    "InvalidValueError",
    "MemoryContextSource",
    "MemoryStats",
    "MissingPackageError",
    "Signal",
    "SnapshotError",
    "TranslationMemory",
    "TranslationMemoryEntry",
    "TranslationMemoryHit",
    "TranslationMemoryStore",
    "UnknownEntryError",
    "UnknownRecordError",
    "__version__",
    "lookup_memory",
    "normalize",
    "similarity",
    "tokens",
    "trigrams",
]
