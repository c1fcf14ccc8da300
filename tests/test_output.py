"""What no file is written over: the databases of stores, and what belongs to them."""

import subprocess
import sys
from pathlib import Path

import pytest

from diglot import TranslationMemory, TranslationMemoryEntry, formats
from diglot.dual import MemoryRecord, SyncDualLanguageMemory
from diglot.errors import InvalidValueError
from diglot.stores.sqlite import SqliteTranslationMemory

ENTRIES = [TranslationMemoryEntry("Save", "저장", target_language="ko")]


def exported(path: Path) -> None:
    TranslationMemory(ENTRIES).export_file(path, format="csv", target_language="xx")


def written(path: Path) -> None:
    formats.write(path, ENTRIES, format="jsonl")


def targets(path: Path) -> None:
    formats.write(path.with_name("sources.txt"), ENTRIES, target_path=path)


def records(path: Path) -> None:
    SyncDualLanguageMemory([MemoryRecord("Save")]).to_jsonl(path)


WAYS = [exported, written, targets, records]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "memory.db"
    with SqliteTranslationMemory.open(path) as memory:
        memory.add_many(ENTRIES)
    return path


@pytest.mark.parametrize("write", WAYS)
def test_a_database_and_what_belongs_to_it_stay_as_they_are(write, store: Path) -> None:
    link, companion = store.with_name("link.jsonl"), Path(f"{store}-snapshot")
    link.symlink_to(store.name)
    companion.write_bytes(b"an index")
    there = {path: path.read_bytes() for path in store.parent.iterdir()}
    for path, message in [
        (store, "memory.db is a SQLite database, in whose place"),
        (link, "link.jsonl is a SQLite database, in whose place"),
        (companion, "memory.db-snapshot belongs to a SQLite database, in whose place"),
    ]:
        with pytest.raises(InvalidValueError, match=message) as refused:
            write(path)
        assert refused.value.field == ("target_path" if write is targets else "path")
    assert {path: path.read_bytes() for path in store.parent.iterdir()} == there


@pytest.mark.parametrize("write", WAYS)
@pytest.mark.parametrize("before", [b"", b"x", b"SQLite format 3", b"source,target\n" * 1000])
def test_any_other_file_is_written_over(write, tmp_path: Path, before: bytes) -> None:
    # The second is no companion, as there is no database beside it.
    for path in (tmp_path / "memory", tmp_path / "memory-wal"):
        path.write_bytes(before)
        write(path)
        assert path.read_bytes() != before


def test_two_files_are_not_written_to_one(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("as it was")
    other = tmp_path / "y.txt"
    other.symlink_to(path.name)
    memory = TranslationMemory(ENTRIES)
    for target in (path, tmp_path / "." / "x.txt", other):
        with pytest.raises(InvalidValueError, match="the same file as that of the sources"):
            memory.export_file(path, target_path=target)
        with pytest.raises(InvalidValueError, match="the same file as that of the sources"):
            formats.write(path, ENTRIES, target_path=target)
    assert path.read_text() == "as it was"
    assert sorted(tmp_path.iterdir()) == [path, other]


ADD = """
import sys
from diglot import TranslationMemoryEntry
from diglot.stores.sqlite import SqliteTranslationMemory
with SqliteTranslationMemory.open(sys.argv[1]) as memory:
    memory.add(TranslationMemoryEntry(sys.argv[2], "t"))
    print(*(entry.source for entry in memory))
"""


def test_an_open_store_that_refused_keeps_its_locks(store: Path) -> None:
    """Without them, another process would think to be the last one, and remove the log that this
    one goes on to write to.
    """

    def add(source: str) -> list[str]:
        command = [sys.executable, "-c", ADD, str(store), source]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()

    with SqliteTranslationMemory.open(store) as memory:
        with pytest.raises(InvalidValueError):
            memory.export_file(store, format="jsonl")
        assert add("theirs") == ["Save", "theirs"]
        memory.add(TranslationMemoryEntry("ours", "t"))
        assert add("last") == ["Save", "theirs", "ours", "last"]
