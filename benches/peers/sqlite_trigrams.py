"""SQLite's full-text search with trigrams for words: the 50 best by BM25, scored anew."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

from benches.data import row_texts
from benches.peers.rescore import CANDIDATES, best, trigrams
from diglot import normalize

__all__ = ["answers"]


def answers(file: Path, texts: list[str]) -> Iterator[tuple[float, list[int]]]:
    rows = row_texts(file)
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE memory USING fts5(text, tokenize = 'trigram')")
    database.executemany("INSERT INTO memory (rowid, text) VALUES (?, ?)", enumerate(rows))
    select = f"SELECT rowid FROM memory WHERE memory MATCH ? ORDER BY rank LIMIT {CANDIDATES}"

    for text in texts:
        start = perf_counter()
        normalized = normalize(text)
        match = " OR ".join('"' + gram.replace('"', '""') + '"' for gram in trigrams(normalized))
        candidates = [row for (row,) in database.execute(select, (match,))] if match else []
        found = best(normalized, candidates, rows)
        yield perf_counter() - start, found
