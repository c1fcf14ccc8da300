"""The memories and the queries that are measured.

Everything is made from the corpus beside the repository. What takes long to make is kept under
`target/benches`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import NamedTuple

import diglot
from benches.scale import Scale

__all__ = [
    "CACHE",
    "ROOT",
    "WORST",
    "Query",
    "classes",
    "corpus_file",
    "entries_file",
    "mutated_sources",
    "queries",
    "row_texts",
    "rows_file",
    "scratch",
]

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / "target" / "benches"

_CORPUS = ROOT.parent / "shared" / "corpus"
_SEED = 20_261_130

# Short texts of trigrams that are common everywhere: what is slowest to look up.
WORST = (
    "test string",
    "test string 2",
    "the string",
    "string value",
    "test the file",
    "list of strings",
    "the connection",
    "in the section",
    "setting the option",
    "configuration",
    "translation string",
    "interesting",
    "restoring the settings",
    "printing in the list",
    "this is a test",
    "container instance",
)


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder for files that nobody needs afterwards, on the disk where the others are kept."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=CACHE) as folder:
        yield Path(folder)


class Query(NamedTuple):
    """One lookup."""

    text: str
    source_language: str
    target_language: str
    kind: str


def _shared(name: str) -> Path:
    path = _CORPUS / name
    if not path.is_file():
        raise FileNotFoundError(f"the benchmarks need the corpus, and {path} is not there")
    return path


def corpus_file(scale: Scale) -> Path:
    """The corpus as it is shared."""
    return _shared(scale.corpus)


def queries(scale: Scale) -> list[Query]:
    """The recorded queries."""
    lines = map(
        json.loads, _shared("queries.jsonl").read_text("utf-8").splitlines()[: scale.queries]
    )
    return [Query(q["query"], q["source_language"], q["target_language"], q["kind"]) for q in lines]


def classes(queries: list[Query]) -> dict[str, list[int]]:
    """The positions of the queries of each class."""
    rules: dict[str, Callable[[Query], bool]] = {
        "all": lambda query: True,
        "exact": lambda query: query.kind == "exact",
        "near": lambda query: query.kind == "near",
        "random": lambda query: query.kind == "random",
        "short (≤ 15 characters)": lambda query: len(query.text) <= 15,
        "long (≥ 300 characters)": lambda query: len(query.text) >= 300,
        "CJK": lambda query: query.source_language.startswith("zh"),
    }
    return {
        name: [at for at, query in enumerate(queries) if rule(query)]
        for name, rule in rules.items()
    }


def _write(path: Path, lines: Iterator[dict[str, object]]) -> Path:
    """A JSON Lines file that is there as a whole or not at all."""
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(f".{os.getpid()}")
        with unfinished.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        unfinished.replace(path)
    return path


def _fields(entry: diglot.TranslationMemoryEntry) -> dict[str, object]:
    return {
        "source": entry.source,
        "target": entry.target,
        "source_language": entry.source_language,
        "target_language": entry.target_language,
    }


def entries_file(scale: Scale) -> Path:
    """The entries of the corpus, uncompressed and with the fields that searches look at."""
    name = scale.corpus.partition(".")[0]
    memory = (_fields(entry) for entry in diglot.TranslationMemory.from_jsonl(corpus_file(scale)))
    return _write(CACHE / f"entries-{name}.jsonl", memory)


def rows_file(scale: Scale, rows: int | None = None) -> Path:
    """Entries with distinct normalized sources: as many as asked for, or all that the corpus has.

    If the corpus has too few, some of its sources are changed, in the same way each time.
    """
    name = scale.corpus.partition(".")[0]
    return _write(
        CACHE / f"rows-{name}-{'all' if rows is None else rows}.jsonl", _rows(scale, rows)
    )


def _rows(scale: Scale, rows: int | None) -> Iterator[dict[str, object]]:
    seen: set[int] = set()
    entries = []
    for line in entries_file(scale).open(encoding="utf-8"):
        if len(seen) == rows:
            return
        entry = json.loads(line)
        normalized = hash(diglot.normalize(entry["source"]))
        if normalized not in seen:
            seen.add(normalized)
            entries.append(entry)
            yield entry
    if rows is not None:
        random = Random(_SEED)
        changed = _mutations([entry["source"] for entry in entries], random, seen)
        for _ in range(rows - len(seen)):
            yield random.choice(entries) | {"source": next(changed)}


def row_texts(path: Path) -> list[str]:
    """The normalized sources of a memory of distinct rows."""
    with path.open(encoding="utf-8") as file:
        return [diglot.normalize(json.loads(line)["source"]) for line in file]


def mutated_sources(scale: Scale, count: int) -> list[str]:
    """Sources like those of the corpus, none of which it has."""
    with rows_file(scale).open(encoding="utf-8") as file:
        sources = [json.loads(line)["source"] for line in file]
    seen = {hash(diglot.normalize(source)) for source in sources}
    changed = _mutations(sources, Random(_SEED + 1), seen)
    return [next(changed) for _ in range(count)]


def _pieces(source: str) -> tuple[str, list[str]]:
    """What joins the pieces of a text, and the pieces: words, or else pairs of characters."""
    if source.isascii() or " " in source:
        return " ", source.split(" ")
    return "", re.findall("..?", source, re.DOTALL)


def _mutations(sources: list[str], random: Random, seen: set[int]) -> Iterator[str]:
    """Sources with some pieces replaced by those of others, and some swapped; none is in `seen`.

    Pieces are drawn as often as they occur, so that common trigrams stay common.
    """
    pool: dict[str, list[str]] = {"": [], " ": []}
    for source in random.sample(sources, min(len(sources), 100_000)):
        joint, pieces = _pieces(source)
        pool[joint] += pieces
    while True:
        joint, pieces = _pieces(random.choice(sources))
        if len(pieces) == 1:
            pieces.append("")
        for _ in range(1 + len(pieces) // 6):
            pieces[random.randrange(len(pieces))] = random.choice(pool[joint])
        if random.random() < 0.3:
            one, other = random.randrange(len(pieces)), random.randrange(len(pieces))
            pieces[one], pieces[other] = pieces[other], pieces[one]
        source = joint.join(pieces)
        normalized = diglot.normalize(source)
        if normalized and hash(normalized) not in seen:
            seen.add(hash(normalized))
            yield source
