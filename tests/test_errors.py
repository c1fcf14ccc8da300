import copy
import pickle
import re
import sqlite3
from contextlib import closing
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import diglot.errors
from diglot import (
    AbortedError,
    DiglotError,
    InvalidTypeError,
    InvalidValueError,
    TranslationMemory,
    TranslationMemoryEntry,
    UnknownEntryError,
    _engine,
    lookup_memory,
    normalize,
    similarity,
    tokens,
    trigrams,
)
from diglot._extras import extra
from diglot.dual import MemoryRecord, SyncDualLanguageMemory
from diglot.stores.sqlite import SqliteTranslationMemory


class Set:
    def is_set(self):
        return True


def missing_parameter():
    lookup_memory(TranslationMemory()).gather().send(None)


def with_store(cause):
    """Does something to a store, and with it."""

    def run():
        with (
            TemporaryDirectory() as folder,
            SqliteTranslationMemory.open(Path(folder) / "memory.db", busy_timeout=0) as memory,
            closing(sqlite3.connect(memory.path, isolation_level=None)) as other,
        ):
            cause(memory, other)

    return run


def add(memory):
    memory.add(TranslationMemoryEntry("a", "b"))


def add_to_reader(memory):
    with SqliteTranslationMemory.open(memory.path, read_only=True) as reader:
        add(reader)


def open_again(memory):
    SqliteTranslationMemory.open(memory.path).close()


def missing_package():
    with extra("cli", "this test"):
        import_module("no_such_package")


# Every code, and how it comes about.
CAUSES = {
    "invalid_type": lambda: TranslationMemory().add("text"),
    "invalid_value": lambda: TranslationMemory().search("a", max_hits=0),
    "empty_text": lambda: TranslationMemory().search(" "),
    "lone_surrogate": lambda: TranslationMemory().search("\udc00"),
    "text_too_long": lambda: TranslationMemory().add(
        TranslationMemoryEntry("a" * (2**24 + 1), "b")
    ),
    "unknown_field": lambda: TranslationMemoryEntry.from_dict({"a": "b"}),
    "missing_field": missing_parameter,
    "unknown_entry": lambda: TranslationMemory().get(0),
    "unknown_record": lambda: SyncDualLanguageMemory().get("a"),
    "duplicate_id": lambda: SyncDualLanguageMemory([MemoryRecord("a", id="b")] * 2),
    "inconsistent_fields": lambda: MemoryRecord("a", translation_status="verified"),
    "invalid_format": lambda: TranslationMemory.from_jsonl(__file__),
    "missing_package": missing_package,
    "unusable_snapshot": lambda: _engine.open_memories(__file__, 1),
    "aborted": lambda: TranslationMemory().search("a", signal=Set()),
    "store_busy": with_store(lambda memory, other: (other.execute("BEGIN IMMEDIATE"), add(memory))),
    "store_full": with_store(
        lambda memory, other: (
            memory._keeper.database.writer.execute("PRAGMA max_page_count = 1"),
            memory.add(TranslationMemoryEntry("a" * 10_000, "b")),
        )
    ),
    "store_read_only": with_store(lambda memory, other: add_to_reader(memory)),
    "store_closed": with_store(lambda memory, other: (memory.close(), add(memory))),
    "store_failed": with_store(
        lambda memory, other: (other.execute("DROP TABLE changes"), memory.compact())
    ),
    "store_damaged": with_store(
        lambda memory, other: (
            other.execute("INSERT INTO entries (id, source, target) VALUES (0, ' ', 'b')"),
            other.execute("UPDATE state SET seq = 1"),
            memory.search("a"),
        )
    ),
    "not_a_store": with_store(
        lambda memory, other: (other.execute("PRAGMA application_id = 1"), open_again(memory))
    ),
    "store_version": with_store(
        lambda memory, other: (other.execute("PRAGMA user_version = 1000"), open_again(memory))
    ),
}


def documented():
    return dict(re.findall(r"^\| `(\w+)` \| `(\w+)` \|", diglot.errors.__doc__, re.MULTILINE))


def test_every_documented_code_has_a_cause():
    assert list(documented()) == list(CAUSES)


@pytest.mark.parametrize("code", CAUSES)
def test_codes_and_classes_are_as_documented(code):
    with pytest.raises(DiglotError) as caught:
        CAUSES[code]()
    assert caught.value.code == code
    assert type(caught.value).__name__ == documented()[code]
    assert str(caught.value)


def test_errors_are_of_the_builtin_kinds_too():
    assert issubclass(InvalidValueError, ValueError)
    assert issubclass(InvalidTypeError, TypeError)
    assert issubclass(UnknownEntryError, LookupError)
    for kind in (InvalidValueError, InvalidTypeError, UnknownEntryError, AbortedError):
        assert issubclass(kind, DiglotError)


@pytest.mark.parametrize("again", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])
def test_errors_can_be_pickled_and_copied(again):
    with pytest.raises(InvalidValueError) as caught:
        TranslationMemory().search_many(["a", " "])
    error = again(caught.value)
    assert type(error) is InvalidValueError
    assert (error.code, error.field, error.position) == ("empty_text", "query", 1)
    assert str(error) == str(caught.value)


@pytest.mark.parametrize("function", [normalize, tokens, trigrams])
def test_text_functions_check_their_argument(function):
    with pytest.raises(InvalidTypeError, match="text must be a str, not bytes"):
        function(b"a")
    with pytest.raises(InvalidValueError, match="text has a lone surrogate at character 1"):
        function("a\ud800")


def test_similarity_names_the_argument_at_fault():
    with pytest.raises(InvalidTypeError, match="a must be a str, not NoneType"):
        similarity(None, "b")
    with pytest.raises(InvalidValueError, match="b has a lone surrogate"):
        similarity("a", "\udfff")
