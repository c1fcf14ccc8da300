"""What searches must answer: the hits that an exhaustive scan finds."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benches.data import CACHE, ROOT, Query

__all__ = ["Hits", "check", "exhaustive", "truth"]

Hits = list[tuple[int, float]]

# What decides the answers.
_SOURCES = [
    ROOT / "rust" / "engine" / "examples" / "exhaustive.rs",
    ROOT / "rust" / "engine" / "src" / "text.rs",
]


def exhaustive(entries: Path, searches: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The `hits` of each search over a file of entries, by scoring every row, and its `seconds`."""
    cargo = [
        "cargo",
        "run",
        "--quiet",
        "--release",
        "--package",
        "diglot-engine",
        "--example",
        "exhaustive",
        "--",
    ]
    with TemporaryDirectory() as folder:
        questions = Path(folder) / "searches.jsonl"
        questions.write_text("".join(json.dumps(search) + "\n" for search in searches), "utf-8")
        command = [*cargo, str(entries), str(questions)]
        answers = subprocess.run(
            command, cwd=ROOT, check=True, stdout=subprocess.PIPE, encoding="utf-8"
        ).stdout
    return [json.loads(line) for line in answers.splitlines()]


def truth(
    entries: Path,
    queries: Iterable[Query],
    *,
    filtered: bool = False,
    max_hits: int = 5,
    min_score: float = 0.2,
) -> list[Hits]:
    """The hits of each query over a file of entries. They are kept: a scan takes long."""
    searches = [
        {"query": query.text, "max_hits": max_hits, "min_score": min_score}
        | (
            {"source_language": query.source_language, "target_language": query.target_language}
            if filtered
            else {}
        )
        for query in queries
    ]
    key = hashlib.sha256(json.dumps([entries.name, entries.stat().st_size, searches]).encode())
    for source in _SOURCES:
        key.update(source.read_bytes())
    path = CACHE / f"truth-{key.hexdigest()[:16]}.json"
    if not path.exists():
        path.write_text(
            json.dumps([answer["hits"] for answer in exhaustive(entries, searches)]), "utf-8"
        )
    return [[(id, score) for id, score in hits] for hits in json.loads(path.read_text("utf-8"))]


def check(query: Query, hits: Iterable[tuple[int, float]], expected: Hits) -> None:
    """Refuses wrong answers: a fast one is of no use."""
    got = list(hits)
    if got != expected:
        raise AssertionError(f"wrong hits for {query.text!r}: {got}, not {expected}")
