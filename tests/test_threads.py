"""Many threads at once, and what they must and must not see of each other."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from diglot import TranslationMemory, TranslationMemoryEntry, similarity
from oracle import OracleMemory
from test_exactness import some_entry, some_options, some_text

THREADS = 4


def race(*jobs):
    """Runs all jobs at the same time, and raises what one of them raises."""
    barrier = threading.Barrier(len(jobs))

    def run(job):
        barrier.wait()
        return job()

    with ThreadPoolExecutor(len(jobs)) as pool:
        return [future.result() for future in [pool.submit(run, job) for job in jobs]]


@pytest.mark.parametrize("seed", range(3))
def test_racing_writers_leave_what_a_serial_run_leaves(seed):
    """Each thread adds, replaces and removes in a namespace of its own, and searches it."""

    def work(memory, add_many, name):
        rng = random.Random(f"{seed} {name}")
        own = OracleMemory()
        ids = []

        def entry():
            values = some_entry(rng).to_dict()
            return TranslationMemoryEntry.from_dict({**values, "namespace": name})

        for step in range(60):
            entries = [
                entry() for _ in range(rng.choice([1, 1, 1, 5, 40, 600 if step % 20 == 0 else 2]))
            ]
            ids += add_many(memory, entries)
            own.add_many(entries)
            present = list(own.entries)
            for number in rng.sample(present, min(len(present), rng.randint(0, 3))):
                changed = entry()
                memory.replace(ids[number], changed)
                own.replace(number, changed)
            removed = rng.sample(present, min(len(present) // 4, rng.choice([0, 1, 30])))
            memory.remove_many([ids[number] for number in removed])
            own.remove_many(removed)
            query = some_text(rng)
            options = {**some_options(rng), "namespace": name}
            found = memory.search(query, **options)
            expected = [(ids[number], score) for number, score in own.search(query, **options)]
            assert [(hit.id, hit.score) for hit in found] == expected
        return [own.entries[number] for number in sorted(own.entries)]

    def in_batches(memory, entries):
        return memory.add_many(entries)

    def one_by_one(memory, entries):
        return [memory.add(entry) for entry in entries]

    names = [f"thread {number}" for number in range(THREADS)]
    ways = [in_batches if number % 2 else one_by_one for number in range(THREADS)]
    memory = TranslationMemory()
    race(*(lambda n=n, w=w: work(memory, w, n) for n, w in zip(names, ways, strict=True)))
    serial = TranslationMemory()
    left = [work(serial, way, name) for name, way in zip(names, ways, strict=True)]

    for of_one, name in zip(left, names, strict=True):
        for result in (memory, serial):
            assert [entry for entry in result if entry.namespace == name] == of_one
    memory._memory.settle()
    memory._memory.internal_validate()

    # The whole, which no thread saw alone.
    oracle = OracleMemory()
    ids = [number for number, _ in memory.items()]
    oracle.add_many(entry for _, entry in memory.items())
    rng = random.Random(seed)
    for _ in range(20):
        query, options = some_text(rng), some_options(rng)
        expected = [(ids[number], score) for number, score in oracle.search(query, **options)]
        assert [(hit.id, hit.score) for hit in memory.search(query, **options)] == expected


def test_a_batch_is_seen_whole_or_not_at_all():
    sizes = [1, 2, 7, 40, 600]
    memory = TranslationMemory()
    done = threading.Event()

    def write(name):
        rng = random.Random(name)
        for number in range(40):
            size = rng.choice(sizes)
            label = f"{name} {number} {size}"
            ids = memory.add_many(
                TranslationMemoryEntry("the same source", label, namespace=name)
                for _ in range(size)
            )
            assert len(ids) == size
            if number % 3 == 0:
                memory.remove_many(ids)

    def read(name):
        checks = 0
        while not done.is_set() or not checks:
            seen = {}
            hits = memory.search("the same source", namespace=name, max_hits=10**6)
            for hit in hits:
                seen.setdefault(hit.entry.target, []).append(hit.id)
            for label, ids in seen.items():
                assert len(ids) == int(label.split()[-1]), label
                assert ids == list(range(ids[0], ids[0] + len(ids)))
            checks += 1

    def write_all():
        try:
            race(lambda: write("a"), lambda: write("b"))
        finally:
            done.set()

    race(write_all, lambda: read("a"), lambda: read("b"))


def test_an_entry_is_found_as_soon_as_its_add_returned():
    memory = TranslationMemory()
    added = [0] * THREADS

    def write(thread):
        for number in range(700):
            source = f"thread {thread} number {number}"
            memory.add(TranslationMemoryEntry(source, "t"))
            added[thread] = number + 1
            assert memory.search(source, max_hits=1, min_score=1.0)

    def read():
        rng = random.Random(1)
        while min(added) < 700:
            thread = rng.randrange(THREADS)
            if count := added[thread]:
                source = f"thread {thread} number {rng.randrange(count)}"
                # The same words in another order score 1.0 as well.
                hits = memory.search(source, max_hits=THREADS, min_score=1.0)
                assert source in {hit.entry.source for hit in hits}

    race(*(lambda t=t: write(t) for t in range(THREADS)), read)
    assert len(memory) == 700 * THREADS


def test_readers_see_whole_entries_while_they_are_replaced():
    memory = TranslationMemory(TranslationMemoryEntry(f"text {n} a", "a") for n in range(600))
    done = threading.Event()

    def write():
        rng = random.Random(5)
        try:
            for _ in range(3000):
                number, letter = rng.randrange(600), rng.choice("ab")
                memory.replace(number, TranslationMemoryEntry(f"text {number} {letter}", letter))
        finally:
            done.set()

    def read():
        rng = random.Random(6)
        while not done.is_set():
            number, letter = rng.randrange(600), rng.choice("ab")
            query = f"text {number} {letter}"
            hits = memory.search(query, max_hits=3)
            assert len(hits) == 3
            assert number in {hit.id for hit in hits}
            for hit in hits:
                assert hit.score == similarity(query, hit.entry.source)
                assert hit.entry.source == f"text {hit.id} {hit.entry.target}"
            assert len(memory) == 600
            if number % 100 == 0:
                assert [id for id, _ in memory.items()] == list(range(600))

    race(write, read, read)


def test_results_do_not_depend_on_the_number_of_threads():
    rng = random.Random(9)
    memory = TranslationMemory(some_entry(rng) for _ in range(3000))
    queries = [some_text(rng) for _ in range(200)]
    alone = memory.search_many(queries, threads=1)
    for threads in (2, 3, 8):
        assert memory.search_many(queries, threads=threads) == alone
