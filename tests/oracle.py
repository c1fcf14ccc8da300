"""The reference in plain Python: slow, short, and written to be read.

The tests compare the engine with it, and the benches show what the engine gains. It takes case
mapping and normalization from the interpreter, so it is right for characters that are as old as
the interpreter's Unicode version.
"""

import unicodedata
from collections import Counter
from itertools import groupby

WHITE_SPACE = frozenset(
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)


def normalize(text):
    lower = unicodedata.normalize("NFKC", text).lower()
    runs = groupby(lower, key=WHITE_SPACE.__contains__)
    return " ".join("".join(run) for is_space, run in runs if not is_space)


def tokens(normalized):
    def is_token_character(character):
        return unicodedata.category(character)[0] in "LN"

    runs = groupby(normalized, key=is_token_character)
    return ["".join(run) for is_token, run in runs if is_token]


def trigrams(normalized):
    return [normalized[start : start + 3] for start in range(max(1, len(normalized) - 2))]


def dice(a, b):
    """The Dice coefficient of two multisets."""
    total = a.total() + b.total()
    return 2 * (a & b).total() / total if a and b else 0.0


class Analysis:
    """What a text is compared by."""

    def __init__(self, text):
        self.normalized = normalize(text)
        self.tokens = Counter(tokens(self.normalized))
        self.trigrams = Counter(trigrams(self.normalized))

    def similarity(self, other):
        if self.normalized == other.normalized:
            return 1.0
        return max(dice(self.tokens, other.tokens), dice(self.trigrams, other.trigrams))


def similarity(a, b):
    return Analysis(a).similarity(Analysis(b))


def same_language(wanted, language):
    return wanted is None or (language is not None and wanted.lower() == language.lower())


class OracleMemory:
    """A memory that looks at everything it holds, for every search."""

    def __init__(self, entries=()):
        self.entries = {}
        self.analyses = {}
        self.next_id = 0
        self.add_many(entries)

    def __len__(self):
        return len(self.entries)

    def items(self):
        return sorted(self.entries.items())

    def add(self, entry):
        self.entries[self.next_id] = entry
        self.analyses[self.next_id] = Analysis(entry.source)
        self.next_id += 1
        return self.next_id - 1

    def add_many(self, entries):
        first = self.next_id
        for entry in entries:
            self.add(entry)
        return range(first, self.next_id)

    def replace(self, id, entry):
        assert id in self.entries
        self.entries[id] = entry
        self.analyses[id] = Analysis(entry.source)

    def remove_many(self, ids):
        for id in ids:
            del self.entries[id]
            del self.analyses[id]

    def search(
        self,
        query,
        source_language=None,
        target_language=None,
        domain=None,
        namespace=None,
        max_hits=5,
        min_score=0.2,
    ):
        """The hits as (id, score), best first."""
        query = Analysis(query)
        hits = [
            (id, score)
            for id, entry in self.items()
            if same_language(source_language, entry.source_language)
            and same_language(target_language, entry.target_language)
            and domain in (None, entry.domain)
            and namespace in (None, entry.namespace)
            and (score := query.similarity(self.analyses[id])) >= min_score
        ]
        return sorted(hits, key=lambda hit: (-hit[1], hit[0]))[:max_hits]
