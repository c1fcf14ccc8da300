"""What a user would pick instead, one a module.

`answers(file, texts)` makes a memory of the entries in a file of distinct rows and yields, for each
of some queries, the seconds that the lookup took and the rows it found, at most 5, best first. All
that is needed to get these rows, such as scoring candidates anew, belongs to the time.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

__all__ = ["PEERS", "Answers"]

Answers = Callable[[Path, list[str]], Iterator[tuple[float, list[int]]]]

PEERS = ("rapidfuzz_extract", "tantivy_trigrams", "sqlite_trigrams", "exhaustive", "plain_python")
