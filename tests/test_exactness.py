"""The engine against the oracle: the same hits, scores and order, whatever was done before."""

import random
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from diglot import TranslationMemory, TranslationMemoryEntry, UnknownEntryError
from oracle import OracleMemory

WORDS = (
    "save changes the file a an to of and delete open close print preview network error "
    "Save SAVE ＳＡＶＥ ﬁle %s {0} <b> </b> 1,234 x² C++ .NET — … İstanbul straße ΣΟΦΟΣ "
    "保存 変更を保存 ファイル 更改 文件 变更 변경 사항 저장 हिन्दी ภาษาไทย العربية é e\u0301 ☃ 💾"
).split()
LANGUAGES = [None, "en", "EN", "en-US", "zh-CN", "zh-cn", "ko"]
LABELS = [None, "ui", "UI", "docs"]


def some_text(rng):
    kind = rng.random()
    if kind < 0.1:
        return rng.choice("aAé保한\u0301-☃")
    if kind < 0.15:
        return rng.choice(["ab", "aaa", "aaaa", "ab ab", "保存", "…"])
    separator = rng.choice(["", " ", " ", "  ", "\t", "-"])
    return separator.join(rng.choice(WORDS) for _ in range(rng.randint(1, 12)))


def some_entry(rng):
    return TranslationMemoryEntry(
        some_text(rng),
        rng.choice(WORDS),
        source_language=rng.choice(LANGUAGES),
        target_language=rng.choice(LANGUAGES),
        domain=rng.choice(LABELS),
        namespace=rng.choice([None, *map(str, range(20))]),
    )


def some_entries(rng, count):
    """Entries of which many have equal sources, as in real memories."""
    distinct = [some_entry(rng) for _ in range(max(1, count // rng.choice([1, 2, 8])))]
    return [rng.choice(distinct) for _ in range(count)]


def some_options(rng):
    options = {
        "max_hits": rng.choice([1, 1, 2, 5, 5, 17, 100, 10**6]),
        "min_score": rng.choice([0.0, 0.05, 0.2, 0.2, 0.35, 0.5, 0.75, 2 / 3, 1.0, rng.random()]),
    }
    filters = {
        "source_language": LANGUAGES,
        "target_language": LANGUAGES,
        "domain": LABELS,
        "namespace": [str(number) for number in range(21)],
    }
    for name, values in filters.items():
        if rng.random() < 0.25:
            options[name] = rng.choice(values)
    return options


def compare(memory, oracle, query, options):
    found = memory.search(query, **options)
    assert [(hit.id, hit.score) for hit in found] == oracle.search(query, **options), (
        query,
        options,
    )
    assert [hit.entry for hit in found] == [oracle.entries[hit.id] for hit in found]


class Memories(RuleBasedStateMachine):
    """Everything that can be done to a memory, in any order, with the oracle at its side.

    Batches of many entries become segments at once, single adds when enough have come together, so
    that a run has segments of all sizes, merges, and entries that wait.
    """

    @initialize(seed=st.integers(0, 2**32))
    def start(self, seed):
        self.rng = random.Random(seed)
        self.memory = TranslationMemory()
        self.oracle = OracleMemory()

    @rule(count=st.sampled_from([0, 1, 2, 30, 530, 600]))
    def add_many(self, count):
        if len(self.oracle) > 2500:
            return
        entries = some_entries(self.rng, count)
        assert self.memory.add_many(iter(entries)) == self.oracle.add_many(entries)

    @rule(count=st.sampled_from([1, 3, 550]))
    def add(self, count):
        if len(self.oracle) > 2500:
            return
        for entry in some_entries(self.rng, count):
            assert self.memory.add(entry) == self.oracle.add(entry)

    @precondition(lambda self: len(self.oracle))
    @rule(share=st.sampled_from([0.0, 0.01, 0.3, 1.0]))
    def remove(self, share):
        ids = list(self.oracle.entries)
        removed = self.rng.sample(ids, max(1, int(share * len(ids))))
        with pytest.raises(UnknownEntryError):
            self.memory.remove_many([*removed, self.oracle.next_id])
        self.memory.remove_many(removed)
        self.oracle.remove_many(removed)

    @precondition(lambda self: len(self.oracle))
    @rule(count=st.sampled_from([1, 10]))
    def replace(self, count):
        for _ in range(count):
            number = self.rng.choice(list(self.oracle.entries))
            entry = some_entry(self.rng)
            self.memory.replace(number, entry)
            self.oracle.replace(number, entry)

    @rule(count=st.integers(1, 4))
    def search(self, count):
        for _ in range(count):
            query = some_text(self.rng)
            if self.oracle.entries and self.rng.random() < 0.5:
                query = self.rng.choice(list(self.oracle.entries.values())).source
            compare(self.memory, self.oracle, query, some_options(self.rng))

    @rule()
    def search_many(self):
        queries = [some_text(self.rng) for _ in range(5)]
        options = some_options(self.rng)
        ids, scores = self.memory.search_arrays(
            queries, **{**options, "max_hits": min(options["max_hits"], 50)}, threads=2
        )
        found = self.memory.search_many(queries, **options, threads=2)
        for query, hits, some_ids, some_scores in zip(queries, found, ids, scores, strict=True):
            expected = self.oracle.search(query, **options)
            assert [(hit.id, hit.score) for hit in hits] == expected
            expected = expected[: len(some_ids)]
            padding = len(some_ids) - len(expected)
            assert some_ids.tolist() == [number for number, _ in expected] + [-1] * padding
            assert some_scores.tolist() == [score for _, score in expected] + [0.0] * padding

    @rule()
    def let_background_work_finish(self):
        self.memory._memory.settle()

    @invariant()
    def holds_the_same(self):
        if hasattr(self, "memory"):
            assert len(self.memory) == len(self.oracle)

    def teardown(self):
        if hasattr(self, "memory"):
            assert list(self.memory.items()) == self.oracle.items()
            self.memory._memory.settle()
            self.memory._memory.internal_validate()
            assert list(self.memory.items()) == self.oracle.items()


TestMemories = Memories.TestCase
TestMemories.settings = settings(stateful_step_count=25)


@given(
    sources=st.lists(st.text(alphabet="abAB ñ保\u0301-1", min_size=1, max_size=8), min_size=1),
    query=st.text(alphabet="abAB ñ保\u0301-1", min_size=1, max_size=12),
    max_hits=st.integers(1, 12),
    min_score=st.floats(0, 1),
)
def test_small_alphabets(sources, query, max_hits, min_score):
    """Few letters make many ties and repeated features."""
    entries = [TranslationMemoryEntry(source, "t") for source in sources if source.strip()]
    if query.strip():
        options = {"max_hits": max_hits, "min_score": min_score}
        compare(TranslationMemory(entries), OracleMemory(entries), query, options)


@pytest.fixture(scope="module")
def mixed():
    """Texts from one to 20,000 characters, some with more than 255 features, many of them equal."""
    rng = random.Random(7)
    entries = some_entries(rng, 700)
    for length in (1, 2, 3, 4, 255, 256, 257, 300, 2000, 20000):
        words = (rng.choice(WORDS) for _ in range(length))
        entries.append(TranslationMemoryEntry(" ".join(words)[:length], "t"))
        entries.append(TranslationMemoryEntry("ab" * length, "t"))
        entries.append(TranslationMemoryEntry("x " * length, "t", domain="ui"))
        letters = "".join(rng.choice(string.ascii_lowercase) for _ in range(length))
        entries.append(TranslationMemoryEntry(letters, "t"))
        entries.append(TranslationMemoryEntry("保存変更"[: length % 4 + 1] * length, "t"))
    entries += [TranslationMemoryEntry("one of thousands", str(number)) for number in range(2500)]
    entries += [TranslationMemoryEntry(f"{number} of thousands", "t") for number in range(2500)]
    rng.shuffle(entries)
    return TranslationMemory(entries), OracleMemory(entries), entries


@pytest.mark.parametrize("max_hits", [1, 5, 4000])
@pytest.mark.parametrize("min_score", [0.0, 0.2, 0.7])
def test_texts_of_all_sizes(mixed, max_hits, min_score):
    memory, oracle, entries = mixed
    longest = sorted({entry.source for entry in entries}, key=len)
    queries = ["a", "保", "ab", "one of thousands", "thousands", "x x x", "ab" * 130]
    queries += [longest[-1], longest[-2][:5000] + " and more", longest[len(longest) // 2]]
    for query in queries:
        for filters in ({}, {"domain": "ui"}):
            options = {"max_hits": max_hits, "min_score": min_score, **filters}
            compare(memory, oracle, query, options)


def test_thousands_of_namespaces():
    rng = random.Random(3)
    entries = [
        TranslationMemoryEntry(some_text(rng), "t", namespace=str(number % 2000))
        for number in range(6000)
    ]
    memory, oracle = TranslationMemory(entries), OracleMemory(entries)
    for namespace in ("0", "77", "1999", "2000"):
        for min_score in (0.0, 0.2):
            options = {"namespace": namespace, "min_score": min_score, "max_hits": 4}
            compare(memory, oracle, some_text(rng), options)
