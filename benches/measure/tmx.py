"""Writing a memory as TMX, and reading that, on one core, beside what else reads TMX."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path
from time import process_time
from typing import Any

from benches.data import corpus_file, scratch
from benches.scale import Scale
from diglot import TranslationMemory, _engine, formats
from diglot.stores.sqlite import SqliteTranslationMemory

__all__ = ["measure"]


def measure(scale: Scale) -> dict[str, Any]:
    """Units a second of the processor's time: of the corpus, and of a part of it that fits into
    the memory of all readers.
    """
    memory = TranslationMemory.from_jsonl(corpus_file(scale))._memory
    memory.settle()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with scratch() as folder:
        path = folder / "corpus.tmx"
        units = len(memory)
        start = process_time()
        snapshot = memory.snapshot()
        writer = _engine.FileWriter(path)
        while writer.write_snapshot(snapshot, (None, None, None, None)):
            pass
        writer.finish()
        written = process_time() - start
        del memory, snapshot

        part = folder / "part.tmx"
        formats.write(part, islice(formats.read(path), scale.ready // 5))  # type: ignore[arg-type]
        return {
            "units": units,
            "bytes": path.stat().st_size,
            "exported": units / written,
            "imported": units / _import(path),
            "stored": units / _store(path, folder / "memory.db"),
            "part": scale.ready // 5,
            "readers": {
                reader.__name__.strip("_"): (scale.ready // 5) / _time(reader, part)
                for reader in (_diglot, _diglot_objects, _lxml_iterparse, _translate_toolkit)
            },
        }


def _import(path: Path) -> float:
    """Seconds at work until all entries of a file can be found."""
    start = process_time()
    reader = _engine.FileReader(path)
    batch = _engine.Batch()
    while reader.read_into(batch):
        pass
    batch.prepare()
    memory = _engine.Memory()
    memory.publish(batch)
    seconds = process_time() - start
    if reader.take_problems() or len(memory) != reader.units_read:
        raise AssertionError("not every unit became an entry")
    return seconds


def _store(path: Path, database: Path) -> float:
    """Seconds at work until all entries of a file can be found in a store, and are on the disk."""
    with SqliteTranslationMemory.open(database) as memory:
        start = process_time()
        report = memory.import_file(path)
        seconds = process_time() - start
        if report.skipped or len(memory) != report.units:
            raise AssertionError("not every unit became an entry")
    return seconds


def _time(reader: Any, path: Path) -> float:
    start = process_time()
    reader(path)
    return process_time() - start


def _diglot(path: Path) -> None:
    _import(path)


def _diglot_objects(path: Path) -> None:
    for _ in formats.read(path):
        pass


def _lxml_iterparse(path: Path) -> None:
    """The texts and languages of each unit, and nothing else."""
    from lxml import etree

    language = "{http://www.w3.org/XML/1998/namespace}lang"
    for _, unit in etree.iterparse(path, tag="tu"):
        for variant in unit.iterfind("tuv"):
            variant.get(language), "".join(variant.find("seg").itertext())
        unit.clear()
        while unit.getprevious() is not None:
            del unit.getparent()[0]


def _translate_toolkit(path: Path) -> None:
    from translate.storage.tmx import tmxfile

    with path.open("rb") as file:
        for unit in tmxfile(file).units:
            unit.source, unit.target  # noqa: B018
