"""tantivy with trigrams for words: the 50 best by BM25, scored anew."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import tantivy

from benches.data import row_texts
from benches.peers.rescore import CANDIDATES, best, trigrams
from diglot import normalize

__all__ = ["answers"]


def answers(file: Path, texts: list[str]) -> Iterator[tuple[float, list[int]]]:
    rows = row_texts(file)
    schema = (
        tantivy.SchemaBuilder()
        .add_text_field("text", tokenizer_name="trigrams", index_option="freq")
        .add_integer_field("row", fast=True)
        .build()
    )
    index = tantivy.Index(schema)
    index.register_tokenizer(
        "trigrams", tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.ngram(3, 3)).build()
    )
    writer = index.writer(500_000_000, 1)
    for row, text in enumerate(rows):
        writer.add_document(tantivy.Document(text=text, row=row))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    for text in texts:
        start = perf_counter()
        normalized = normalize(text)
        terms = (tantivy.Query.term_query(schema, "text", gram) for gram in trigrams(normalized))
        query = tantivy.Query.boolean_query([(tantivy.Occur.Should, term) for term in terms])
        addresses = [address for _, address in searcher.search(query, CANDIDATES, count=False).hits]
        candidates = [
            row for row in searcher.fast_field_values("row", addresses) if isinstance(row, int)
        ]
        found = best(normalized, candidates, rows)
        yield perf_counter() - start, found
