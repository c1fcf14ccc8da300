"""A store of one's own, in fifty lines: it finds only sources that begin like the query.

It shows what a `TranslationMemoryStore` has to do: check its arguments with `diglot.store`, score
with `diglot.similarity`, copy what comes in and what goes out, and add a batch in one step. It
passes the contract tests of `diglot.testing`.
"""

from bisect import bisect_left, insort

from diglot import TranslationMemoryHit, normalize, similarity
from diglot.store import check_options, check_query, check_signal, copy_entry

PREFIX = 3


class PrefixStore:
    def __init__(self):
        self._entries = []
        # Normalized sources in order, each with the number of its entry.
        self._index = []

    async def add(self, entry, *, signal=None):
        check_signal(signal)
        self._insert(copy_entry(entry))

    async def add_many(self, entries, *, signal=None):
        check_signal(signal)
        batch = [copy_entry(entry, position=number) for number, entry in enumerate(entries)]
        check_signal(signal)
        for entry in batch:
            self._insert(entry)

    def _insert(self, entry):
        insort(self._index, (normalize(entry.source), len(self._entries)))
        self._entries.append(entry)

    async def search(
        self,
        query,
        *,
        source_language=None,
        target_language=None,
        domain=None,
        namespace=None,
        max_hits=5,
        min_score=0.2,
        signal=None,
    ):
        check_query(query)
        options = check_options(
            source_language, target_language, domain, namespace, max_hits, min_score
        )
        check_signal(signal)
        prefix = normalize(query)[:PREFIX]
        hits = []
        for source, number in self._index[bisect_left(self._index, (prefix,)) :]:
            if not source.startswith(prefix):
                break
            entry = self._entries[number]
            score = similarity(query, source)
            if score >= options.min_score and options.matches(entry):
                hits.append(TranslationMemoryHit(copy_entry(entry), score, number))
        hits.sort(key=lambda hit: (-hit.score, hit.id))
        return hits[: options.max_hits]
