"""How much is measured: everything, or enough to see that the benchmarks work."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["SCALES", "Scale"]


class Scale(NamedTuple):
    """The sizes of a run."""

    corpus: str
    """The memory of all measurements but `growth`: a file of the corpus folder."""
    queries: int
    """How many of the recorded queries are asked."""
    passes: int
    """How often each is timed."""
    rows: tuple[int, ...]
    """Distinct rows of the memories of `growth`."""
    checked: int
    """How many answers of a memory are checked where not all are."""
    added: int
    """Entries that are added, 1,000 a second, during searches."""
    ready: int
    """Entries that are given to `add_many` at once."""
    peer_seconds: float
    """After how long a peer is asked nothing more."""
    oracle_entries: int
    """Entries of the memory in plain Python, whose times are scaled to the whole corpus."""
    requests: int
    """Lookups over HTTP, as fast as they are answered."""
    serving_seconds: float
    """How long lookups are asked over HTTP at each rate."""
    starts: int
    """How often Python is started to time an import."""


SCALES = {
    "full": Scale(
        corpus="corpus.jsonl.zst",
        queries=1999,
        passes=3,
        rows=(100_000, 300_000, 1_000_000, 3_000_000),
        checked=50,
        added=20_000,
        ready=1_000_000,
        peer_seconds=60.0,
        oracle_entries=20_000,
        requests=20_000,
        serving_seconds=10.0,
        starts=20,
    ),
    "quick": Scale(
        corpus="sample-20k.jsonl",
        queries=200,
        passes=1,
        rows=(5_000, 20_000),
        checked=20,
        added=1_000,
        ready=10_000,
        peer_seconds=3.0,
        oracle_entries=1_000,
        requests=1_000,
        serving_seconds=1.0,
        starts=5,
    ),
}
