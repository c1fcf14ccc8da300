"""Measures recall latency, from the root of the repository: with the fallback off, on, and used.

Over the 20,000 records of `../shared/dual`, and over a million made of them: every record is copied
with a few characters changed, with a fixed seed, and the originals stay among the copies. Each
query is asked some rounds in each way, the ways in turn; its time is its shortest one, and the
percentiles are over the queries. At last the records are put into a store, which is opened with its
snapshot and without.
"""

from __future__ import annotations

import os
import platform
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from time import perf_counter, process_time

from benches.clock import percentiles
from benches.data import ROOT, scratch
from benches.terminal import say
from diglot.dual import MemoryRecord, SyncDualLanguageMemory
from diglot.kpi import Evaluation, evaluate, read_labelled
from diglot.stores.sqlite_dual import SyncSqliteDualLanguageMemory

_FOLDER = ROOT.parent / "shared" / "dual"
_SEED = 20_261_130


def main() -> int:
    parser = ArgumentParser("python -m benches.dual_recall", description=__doc__)
    parser.add_argument(
        "--records", type=int, nargs="+", default=[20_000, 1_000_000], help="how many to search"
    )
    parser.add_argument("--rounds", type=int, default=3, help="how often each query is asked")
    arguments = parser.parse_args()
    if not _FOLDER.is_dir():
        sys.stderr.write(f"the data is not there: {_FOLDER}\n")
        return 1
    originals = list(SyncDualLanguageMemory.from_jsonl(_FOLDER / "records.jsonl"))
    queries = read_labelled(_FOLDER / "eval.jsonl")
    say(f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} processors\n")
    say("| records | recalls | p50 ms | p95 ms | p99 ms | queries |")
    say("| --- | --- | --- | --- | --- | --- |")
    for count in arguments.records:
        memory = SyncDualLanguageMemory()
        start = perf_counter()
        memory.add_many(_records(originals, count))
        seconds = perf_counter() - start
        memory._texts.settle()
        memory._english.settle()
        evaluation = evaluate(memory, queries, rounds=arguments.rounds)
        for name, times in _ways(evaluation):
            shown = " | ".join(f"{times[at] * 1e3:.3f}" for at in ("p50", "p95", "p99"))
            say(f"| {count:,} | {name} | {shown} | {times['count']:,} |")
        reachable = evaluation.reachable
        say(
            f"{count:,} records added in {seconds:.1f} s; "
            f"hit@1 {reachable.hit_rate(1):.3f}, hit@5 {reachable.hit_rate(5):.3f} (reachable); "
            f"p95 with the fallback on is {1 + (evaluation.p95_increase or 0):.2f} times that "
            "with it off"
        )
        say(_opening(memory))
    return 0


def _opening(memory: SyncDualLanguageMemory) -> str:
    with scratch() as folder:
        path = folder / "notes.db"
        with SyncSqliteDualLanguageMemory.open(path) as store:
            store.add_many(memory)
        snapshot = path.with_name("notes.db-snapshot")
        size = snapshot.stat().st_size
        seconds = []
        for _ in range(2):
            start, work = perf_counter(), process_time()
            with SyncSqliteDualLanguageMemory.open(path, read_only=True) as store:
                store.recall("file is written when the save button")
                seconds.append(f"{perf_counter() - start:.2f} s ({process_time() - work:.2f} s")
            snapshot.unlink(missing_ok=True)
    with_it, without = seconds
    return (
        f"opened to the first answer from a store in {with_it} of the processors) with its "
        f"snapshot of {size / 1e6:,.0f} MB, in {without}) without"
    )


def _ways(evaluation: Evaluation) -> Iterator[tuple[str, dict[str, float]]]:
    outcomes = evaluation.outcomes
    yield "fallback on", percentiles(one.result.seconds for one in outcomes)
    yield "fallback off", percentiles(one.without_fallback.seconds for one in outcomes)
    yield "primary pass alone", percentiles(one.alone.seconds for one in outcomes)
    used = [one.result for one in outcomes if one.result.fallback_used]
    yield "fallback on, used", percentiles(result.seconds for result in used)
    rest = [one.result for one in outcomes if not one.result.fallback_used]
    yield "fallback on, not used", percentiles(result.seconds for result in rest)


def _records(originals: list[MemoryRecord], count: int) -> Iterator[MemoryRecord]:
    random = Random(_SEED)
    for number in range(count):
        record = originals[number % len(originals)]
        if number < len(originals):
            yield record
        else:
            yield replace(
                record,
                id=f"{record.id}-{number // len(originals)}",
                text=_mutated(record.text, random),
                text_en=record.text_en and _mutated(record.text_en, random),
            )


def _mutated(text: str, random: Random) -> str:
    """The text with about every eighth character replaced by another one of its own."""
    characters = list(text)
    for _ in range(max(1, len(characters) // 8)):
        characters[random.randrange(len(characters))] = random.choice(text)
    mutated = "".join(characters)
    return mutated if mutated.strip() else text


sys.exit(main())
