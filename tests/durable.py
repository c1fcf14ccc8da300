"""What the tests of all memories in SQLite databases share."""

import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

# Where files are fast, for what says nothing of a disk.
IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def snapshot_of(path):
    return path.with_name(path.name + "-snapshot")


def write_snapshot(memory):
    memory._snapshots.save(None)


def damaged(data, draw):
    """Some bytes of a file changed, or its end cut off."""
    at = draw.randrange(len(data))
    if draw.random() < 0.3:
        return data[:at]
    return data[:at] + bytes([data[at] ^ 1 << draw.randrange(8)]) + data[at + 1 :]


class TwoOverOneDatabase(RuleBasedStateMachine):
    """Two memories over one database do what one in memory does, which of them is used, whatever
    is closed and opened again, and whatever becomes of the snapshot.

    A subclass says how a memory of either kind is made (`open`, `make_expected`) and compared
    (`same`), and has the rules that change one.
    """

    @initialize()
    def begin(self):
        self.folder = TemporaryDirectory(dir=IN_MEMORY)
        self.path = Path(self.folder.name) / "memory.db"
        self.memories = [self.open(self.path) for _ in range(2)]
        self.expected = self.make_expected()

    def teardown(self):
        if hasattr(self, "memories"):
            for memory in self.memories:
                assert memory.verify() == len(self.expected)
                memory.close()
            self.folder.cleanup()

    @rule(number=st.integers(0, 1))
    def snapshot(self, number):
        write_snapshot(self.memories[number])

    @rule(number=st.integers(0, 1))
    def compact(self, number):
        self.memories[number].compact()

    @rule(number=st.integers(0, 1))
    def open_again(self, number):
        self.memories[number].close()
        self.memories[number] = self.open(self.path)

    @rule(number=st.integers(0, 1))
    def open_without_snapshot(self, number):
        snapshot_of(self.path).unlink(missing_ok=True)
        self.open_again(number)

    @rule(number=st.integers(0, 1))
    def keep_an_old_snapshot(self, number):
        """A copy of the snapshot file comes back later, as from a backup."""
        here = snapshot_of(self.path)
        kept = here.with_suffix(".kept")
        if kept.exists():
            shutil.move(kept, here)
            self.open_again(number)
        elif here.exists():
            shutil.copy(here, kept)

    @invariant()
    def both_are_as_expected(self):
        if hasattr(self, "memories"):
            for memory in self.memories:
                self.same(memory, self.expected)
