"""Snapshots as files, through the binding: what goes wrong is said, and what was there stays.

That what is opened is what was saved, and nothing that is damaged, is tested with the engine.
"""

from __future__ import annotations

import random
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from diglot import AbortedError, SnapshotError, TranslationMemory, TranslationMemoryEntry, _engine

# Saves a memory again and again, and tells each time when it is done. The tag counts.
SAVE_FOR_EVER = """
import sys
from diglot import TranslationMemory, TranslationMemoryEntry, _engine

memory = TranslationMemory(
    TranslationMemoryEntry(f"entry number {at}", "t" * 50, namespace=str(at % 7))
    for at in range(20_000)
)
snapshot = memory._memory.snapshot()
tag = 0
while True:
    tag += 1
    _engine.save_snapshots([snapshot], sys.argv[1], str(tag).encode())
    print(tag, flush=True)
"""

# Saves a memory to a file that is longer than files may be.
SAVE_TOO_MUCH = """
import errno, resource, sys
from diglot import TranslationMemory, TranslationMemoryEntry, _engine

memory = TranslationMemory(TranslationMemoryEntry(f"entry {at}", "t") for at in range(20_000))
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 18, 1 << 18))
try:
    _engine.save_snapshots([memory._memory.snapshot()], sys.argv[1], b"new")
except OSError as error:
    assert error.errno == errno.EFBIG and error.filename == sys.argv[1], error
else:
    sys.exit("it was saved")
"""


def some_memory(entries: int = 1000) -> _engine.Memory:
    return TranslationMemory(
        TranslationMemoryEntry(f"entry {at}", "t", metadata={"at": at}) for at in range(entries)
    )._memory


def test_a_snapshot_is_saved_and_opened_with_its_tag(tmp_path: Path) -> None:
    path = tmp_path / "memory-snapshot"
    _engine.save_snapshots([some_memory().snapshot()], path, b"\0tag\xff")
    (memory,), tag = _engine.open_memories(str(path), 1)
    assert tag == b"\0tag\xff"
    assert len(memory) == 1000
    assert memory.snapshot().get(7) == TranslationMemoryEntry("entry 7", "t", metadata={"at": 7})
    assert memory.add(TranslationMemoryEntry("another", "t")) == 1000


def test_a_file_that_cannot_be_used(tmp_path: Path) -> None:
    path = tmp_path / "memory-snapshot"
    _engine.save_snapshots([some_memory().snapshot()], path, b"")
    damaged = bytearray(path.read_bytes())
    damaged[5000] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(SnapshotError, match=r"cannot be used: it is damaged: a ch") as info:
        _engine.open_memories(path, 1)
    assert (info.value.code, info.value.path) == ("unusable_snapshot", str(path))
    path.write_text("something else")
    with pytest.raises(SnapshotError, match=r"cannot be used: it is no snapshot of a memory"):
        _engine.open_memories(path, 1)


def test_errors_of_the_system_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "memory-snapshot"
    with pytest.raises(FileNotFoundError) as info:
        _engine.open_memories(path, 1)
    assert info.value.filename == str(path)
    with pytest.raises(FileNotFoundError) as info:
        _engine.save_snapshots([some_memory(3).snapshot()], path, b"")
    assert info.value.filename == str(path)


def test_saving_and_opening_can_be_stopped(tmp_path: Path) -> None:
    path = tmp_path / "memory-snapshot"
    snapshot = some_memory().snapshot()
    signal, flag = threading.Event(), _engine.CancelFlag()
    _engine.save_snapshots([snapshot], path, b"old", signal=signal, flag=flag)
    assert flag.set()
    with pytest.raises(AbortedError):
        _engine.save_snapshots([snapshot], path, b"new", flag=flag)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    assert _engine.open_memories(path, 1)[1] == b"old"
    with pytest.raises(AbortedError):
        _engine.open_memories(path, 1, flag=flag)


def test_a_saver_that_is_killed_leaves_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "memory-snapshot"
    chance = random.Random(1)
    for _ in range(8):
        with subprocess.Popen(
            [sys.executable, "-c", SAVE_FOR_EVER, str(path)], stdout=subprocess.PIPE, text=True
        ) as child:
            assert child.stdout is not None
            for _ in range(chance.randint(1, 5)):
                last = int(child.stdout.readline())
            with pytest.raises(subprocess.TimeoutExpired):
                child.wait(timeout=chance.uniform(0, 0.05))
            child.kill()
            last = int(([*child.stdout] or [last])[-1])
        (memory,), tag = _engine.open_memories(path, 1)
        assert len(memory) == 20_000
        assert int(tag) in (last, last + 1)
    # What the killed ones left behind goes with the next one.
    _engine.save_snapshots([some_memory().snapshot()], path, b"")
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of the sizes of files")
def test_a_disk_that_is_full_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "memory-snapshot"
    _engine.save_snapshots([some_memory(3).snapshot()], path, b"old")
    before = path.read_bytes()
    subprocess.run([sys.executable, "-c", SAVE_TOO_MUCH, str(path)], check=True)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
