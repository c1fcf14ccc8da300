"""Entries with whatever an entry can hold, and what files have trouble with."""

from __future__ import annotations

from hypothesis import strategies as st

from diglot import TranslationMemoryEntry

TEXTS = st.text(
    st.one_of(
        st.sampled_from("ab \t\n\r<>&\"']]>\x00\x0b\x1f\ufffe\uffff\u2028\ufeff📖é"),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=12,
)
FULL = TEXTS.map(lambda text: f"x{text}")
TIMES = st.one_of(
    st.datetimes().map(lambda time: time.strftime("%Y-%m-%dT%H:%M:%SZ").zfill(20)),
    st.datetimes(timezones=st.timezones()).map(lambda time: time.isoformat()),
    st.dates().map(str),
    TEXTS,
)
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False,
              allow_infinity=False), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=5,
)  # fmt: skip
ATTRIBUTES = st.dictionaries(
    st.sampled_from(["creationid", "usagecount", "segtype", "creationdate", "changedate", "x"]),
    st.one_of(TEXTS, st.just("20240628T093631Z"), st.just("block"), JSON),
    max_size=3,
)
MARKUP = st.sampled_from(["x", "<hi>x</hi>", "<ph>1</ph>x", "<b>x</b>", "<bpt>x", "&x;", "&#11;x"])
PARTS = st.fixed_dictionaries(
    {},
    optional={
        "source": MARKUP,
        "target": st.one_of(MARKUP, JSON),
        "props": st.one_of(JSON, st.lists(st.lists(TEXTS, min_size=1, max_size=4), max_size=3)),
        "notes": JSON,
        "source_tuv": st.one_of(JSON, ATTRIBUTES),
        "target_tuv": st.one_of(
            ATTRIBUTES, st.just({"notes": ["a"], "props": [["b", "c"], ["d", "e", "f"]]})
        ),
    },
)
METADATA = st.one_of(
    st.none(),
    st.dictionaries(TEXTS, JSON, max_size=3),
    st.fixed_dictionaries(
        {"tmx": st.one_of(JSON, st.builds(lambda a, b: {**a, **b}, PARTS, ATTRIBUTES))},
        optional={"changed_at": st.one_of(TIMES, JSON)},
    ),
)
ENTRIES = st.builds(
    TranslationMemoryEntry,
    FULL,
    FULL,
    source_language=st.none() | TEXTS | st.sampled_from(["en", "EN", "de-DE", "*all*", "und"]),
    target_language=st.none() | TEXTS | st.sampled_from(["en", "EN", "de", "de_DE", "und"]),
    domain=st.none() | TEXTS,
    namespace=st.none() | TEXTS,
    source_id=st.none() | TEXTS,
    created_at=st.none() | TIMES,
    notes=st.none() | TEXTS,
    metadata=METADATA,
)
