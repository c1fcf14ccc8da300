"""Every recorded answer of the reference, through the Python API."""

import asyncio

import pytest

import oracle
from conftest import conformance
from diglot import (
    InMemoryTranslationMemoryStore,
    TranslationMemory,
    TranslationMemoryEntry,
    lookup_memory,
    normalize,
    similarity,
    tokens,
    trigrams,
)

SNAKE_CASE = {
    "sourceLanguage": "source_language",
    "targetLanguage": "target_language",
    "maxHits": "max_hits",
    "minScore": "min_score",
    "maxContentChars": "max_content_chars",
}


def in_snake_case(options):
    return {SNAKE_CASE.get(name, name): value for name, value in options.items()}


def test_analysis():
    lines = conformance("analysis.jsonl")
    assert len(lines) > 600
    for line in lines:
        text = line["text"]
        assert normalize(text) == line["normalized"]
        assert tokens(text) == line["tokens"]
        if "trigrams" in line:
            assert trigrams(text) == line["trigrams"]
        elif line["normalized"]:
            assert len(trigrams(text)) == line["trigram_count"]
        assert len(tokens(text)) == line["token_count"]


def test_scores():
    lines = conformance("scores.jsonl")
    assert len(lines) > 700
    for line in lines:
        assert similarity(line["query"], line["source"]) == line["score"], line
        assert similarity(line["source"], line["query"]) == line["score"], line


def test_searches():
    lines = conformance("searches.jsonl")
    count = 0
    for line in lines:
        memory = TranslationMemory(map(TranslationMemoryEntry.from_dict, line["entries"]))
        for search in line["searches"]:
            hits = memory.search(search["query"], **in_snake_case(search["options"]))
            assert [[hit.id, hit.score] for hit in hits] == search["hits"], search
            assert [hit.entry.to_dict() for hit in hits] == [
                in_snake_case(line["entries"][id]) for id, _ in search["hits"]
            ]
            count += 1
    assert count > 700


@pytest.mark.parametrize("naming", ["camel_case", "snake_case"])
def test_lookups(naming):
    lines = conformance("lookups.jsonl")
    assert len(lines) == 400

    async def check(line):
        store = InMemoryTranslationMemoryStore()
        await store.add_many(map(TranslationMemoryEntry.from_dict, line["entries"]))
        source = lookup_memory(store, **in_snake_case(line["options"]))
        if naming == "camel_case":
            result = await source.gather(line["params"])
        else:
            result = await source.gather(**in_snake_case(line["params"]))
        assert result.content == line["expected"]["content"]
        assert result.metadata["hit_count"] == line["expected"]["hitCount"]
        assert len(result.metadata["hits"]) == line["expected"]["hitCount"]

    async def check_all():
        for line in lines:
            await check(line)

    asyncio.run(check_all())


def test_the_oracle_agrees_with_the_reference():
    """The oracle's Unicode is the interpreter's, so what is newer is left out."""

    def is_old(*texts):
        return all(
            oracle.unicodedata.category(character) != "Cn" for text in texts for character in text
        )

    scores = [line for line in conformance("scores.jsonl") if is_old(line["query"], line["source"])]
    assert len(scores) > 700
    for line in scores:
        assert oracle.similarity(line["query"], line["source"]) == line["score"], line
    count = 0
    for line in conformance("searches.jsonl"):
        if not is_old(*(entry["source"] for entry in line["entries"])):
            continue
        memory = oracle.OracleMemory(map(TranslationMemoryEntry.from_dict, line["entries"]))
        for search in line["searches"]:
            if is_old(search["query"]):
                hits = memory.search(search["query"], **in_snake_case(search["options"]))
                assert [list(hit) for hit in hits] == search["hits"]
                count += 1
    assert count > 500
