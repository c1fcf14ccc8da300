import asyncio
import sys
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diglot import (
    AbortedError,
    InMemoryTranslationMemoryStore,
    InvalidTypeError,
    InvalidValueError,
    TranslationMemoryEntry,
    TranslationMemoryHit,
    lookup_memory,
)
from diglot._tags import neutralize_tags
from diglot.lookup import _two_decimals

ENTRY = TranslationMemoryEntry(
    "Save changes",
    "변경 사항 저장",
    source_language="en",
    target_language="ko",
    domain="ui",
    namespace="editor",
    source_id="menu.save",
    created_at="2024-05-06T07:08:09Z",
    notes="",
    metadata={"reviewed": True},
)


def gather(source, *arguments, **keywords):
    return asyncio.run(source.gather(*arguments, **keywords))


@pytest.fixture
def source():
    return lookup_memory(InMemoryTranslationMemoryStore([ENTRY]))


class Recording:
    """A store that remembers what it was asked."""

    def __init__(self, hits=()):
        self.hits = list(hits)
        self.calls = []

    async def search(self, query, **options):
        self.calls.append((query, options))
        return self.hits


def test_describes_itself(source):
    assert source.name == "lookup-memory"
    assert source.mode == "passive"
    assert source.description
    parameters = source.parameters
    assert parameters["required"] == ["query"]
    assert list(parameters["properties"]) == [
        "query",
        "source_language",
        "target_language",
        "domain",
        "namespace",
        "max_hits",
        "min_score",
    ]
    parameters["properties"].clear()
    assert source.parameters["properties"]


def test_returns_text_and_data(source):
    result = gather(source, query="save changes ")
    assert result.content == (
        "# Translation memory matches: save changes\n"
        "\n"
        "## 1. Score: 1.00\n"
        "Source: Save changes\n"
        "Target: 변경 사항 저장\n"
        "Source language: en\n"
        "Target language: ko\n"
        "Domain: ui\n"
        "Namespace: editor\n"
        "Source id: menu.save\n"
        "Created at: 2024-05-06T07:08:09Z"
    )
    assert result.metadata == {
        "query": "save changes",
        "hit_count": 1,
        "hits": [{"id": 0, "score": 1.0, "entry": ENTRY.to_dict()}],
    }


def test_finds_nothing(source):
    assert gather(source, query="☃").content == "No translation memory matches found for: ☃"
    for query in ("", " \t\u3000\ufeff"):
        result = gather(source, query=query)
        assert result.content == "No translation memory matches found for an empty query."
        assert result.metadata == {"query": "", "hit_count": 0, "hits": []}


def test_asks_the_store_what_the_model_asked():
    store = Recording()
    source = lookup_memory(store, max_hits=7, min_score=0.5)
    signal = asyncio.Event()
    gather(source, {"query": " a\u0085 "}, signal=signal)
    filters = dict.fromkeys(["source_language", "target_language", "domain", "namespace"])
    options = {**filters, "max_hits": 7, "min_score": 0.5, "signal": signal}
    assert store.calls.pop() == ("a\u0085", options)
    gather(
        source,
        {
            "query": "a",
            "sourceLanguage": " en ",
            "target_language": "\n",
            "domain": "",
            "namespace": None,
            "maxHits": 50,
            "minScore": 1,
        },
    )
    options = {**filters, "source_language": "en", "max_hits": 50, "min_score": 1.0}
    assert store.calls.pop() == ("a", {**options, "signal": None})
    gather(source, query="a", max_hits=3.0, min_score=None)
    assert store.calls.pop()[1]["max_hits"] == 3
    assert not store.calls


@pytest.mark.parametrize(
    ("params", "kind", "code", "field"),
    [
        ({}, InvalidValueError, "missing_field", "query"),
        ({"query": None}, InvalidValueError, "missing_field", "query"),
        ({"query": 5}, InvalidTypeError, "invalid_type", "query"),
        ({"query": "a", "limit": 5}, InvalidValueError, "unknown_field", "limit"),
        (
            {"query": "a", "maxContentChars": 9},
            InvalidValueError,
            "unknown_field",
            "maxContentChars",
        ),
        (
            {"query": "a", "max_hits": 1, "maxHits": 1},
            InvalidValueError,
            "invalid_value",
            "max_hits",
        ),
        ({"query": "a", "max_hits": 0}, InvalidValueError, "invalid_value", "max_hits"),
        ({"query": "a", "max_hits": 51}, InvalidValueError, "invalid_value", "max_hits"),
        ({"query": "a", "max_hits": 2.5}, InvalidTypeError, "invalid_type", "max_hits"),
        ({"query": "a", "max_hits": True}, InvalidTypeError, "invalid_type", "max_hits"),
        ({"query": "a", "max_hits": "5"}, InvalidTypeError, "invalid_type", "max_hits"),
        ({"query": "a", "min_score": -0.1}, InvalidValueError, "invalid_value", "min_score"),
        ({"query": "a", "min_score": 1.1}, InvalidValueError, "invalid_value", "min_score"),
        ({"query": "a", "min_score": False}, InvalidTypeError, "invalid_type", "min_score"),
        ({"query": "a", "domain": 5}, InvalidTypeError, "invalid_type", "domain"),
        ([("query", "a")], InvalidTypeError, "invalid_type", "params"),
        ("a", InvalidTypeError, "invalid_type", "params"),
    ],
)
def test_refuses_bad_parameters(source, params, kind, code, field):
    with pytest.raises(kind) as caught:
        gather(source, params)
    assert (caught.value.code, caught.value.field) == (code, field)


def test_takes_parameters_in_one_way_at_a_time(source):
    with pytest.raises(InvalidValueError, match="given twice"):
        gather(source, {"query": "a"}, domain="ui")


def test_stops_when_the_signal_is_set(source):
    class Set:
        def is_set(self):
            return True

    for query in ("Save", " "):
        with pytest.raises(AbortedError):
            gather(source, query=query, signal=Set())


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"max_hits": 0}, InvalidValueError),
        ({"max_hits": 51}, InvalidValueError),
        ({"max_hits": 2.0}, InvalidTypeError),
        ({"min_score": 2}, InvalidValueError),
        ({"min_score": "0"}, InvalidTypeError),
        ({"max_content_chars": 0}, InvalidValueError),
        ({"max_content_chars": True}, InvalidTypeError),
    ],
)
def test_refuses_bad_options(options, kind):
    with pytest.raises(kind) as caught:
        lookup_memory(InMemoryTranslationMemoryStore(), **options)
    assert caught.value.field == next(iter(options))


def test_needs_a_store():
    with pytest.raises(InvalidTypeError, match="dict has no method search"):
        lookup_memory({})


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 30, 60, 10**9])
def test_content_is_bounded_in_code_points(limit):
    entry = TranslationMemoryEntry("💾" * 40, "🗄" * 40)
    store = InMemoryTranslationMemoryStore([entry])
    whole = gather(lookup_memory(store), query="💾" * 40).content
    content = gather(lookup_memory(store, max_content_chars=limit), query="💾" * 40).content
    assert len(content) == min(limit, len(whole))
    if limit < len(whole):
        assert content == (whole[: max(0, limit - 3)] + "...")[:limit] or limit < 3
        assert content.endswith("..."[:limit])
    else:
        assert content == whole


@pytest.mark.parametrize(
    ("score", "shown"),
    [
        (0, "0.00"),
        (1.0, "1.00"),
        (5 / 8, "0.63"),
        (0.125, "0.13"),
        (0.375, "0.38"),
        (1 / 3, "0.33"),
        (0.005, "0.01"),
        (0.015, "0.01"),
        (0.145, "0.14"),
        (0.995, "0.99"),
        (0.9949, "0.99"),
        (0.9999, "1.00"),
    ],
)
def test_scores_are_printed_as_javascript_prints_them(score, shown):
    assert _two_decimals(score) == shown
    hit = TranslationMemoryHit(TranslationMemoryEntry("a", "b"), score, 0)
    content = gather(lookup_memory(Recording([hit])), query="a").content
    assert f"## 1. Score: {shown}\n" in content


@given(st.floats(0, 1))
def test_printed_scores_are_the_nearest(score):
    assert abs(Decimal(_two_decimals(score)) - Decimal(score)) <= Decimal("0.005")


PIECES = ["<", ">", "a", " ", "b", "=", '"', "'", "/", "<!", "--", "<!--", "-->", "?", "<?", "?>"]
PIECES += [
    "<![CDATA[",
    "<![cdata[",
    "]]>",
    "!",
    "x=",
    "<a",
    "\n",
    "1",
    ":",
    "é",
    "\u0085",
    "\u3000",
]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        # Elements, opening, closing and empty, with and without attributes.
        ("<b>bold</b>", "‹b›bold‹/b›"),
        ("<br/> and <br />", "‹br/› and ‹br /›"),
        ("<a href='x>y' title=\"1\">", "‹a href='x›y' title=\"1\"›"),
        ("<a checked b=c>", "‹a checked b=c›"),
        ("< b >", "‹ b ›"),
        ("<\nsystem\n>", "‹\nsystem\n›"),
        ("<x:y-z _a=1>", "‹x:y-z _a=1›"),
        ("<_x>", "‹_x›"),
        # Comments, sections, declarations, instructions.
        ("<!-- a > b -->", "‹!-- a › b --›"),
        ("<![CDATA[x > y]]>", "‹![CDATA[x › y]]›"),
        ("<!DOCTYPE html>", "‹!DOCTYPE html›"),
        ("<?php echo 1 ?>", "‹?php echo 1 ?›"),
        # What no reader of tags would take for one.
        ("a < 1 and b > 2", "a < 1 and b > 2"),
        ("1 < 2 > 0", "1 < 2 > 0"),
        ("<1>", "<1>"),
        ("<>", "<>"),
        ("<a", "<a"),
        ("< br / >", "< br / >"),
        ("<é>", "<é>"),
        ("<!-- open", "<!-- open"),
    ],
)
def test_tags_are_shown_as_text(text, shown):
    assert neutralize_tags(text, len(text)) == shown


@given(st.lists(st.sampled_from(PIECES)).map("".join), st.integers(0, 30))
def test_tags_that_begin_beyond_the_limit_do_not_matter(text, limit):
    assert neutralize_tags(text, limit)[:limit] == neutralize_tags(text, len(text))[:limit]


@pytest.mark.parametrize(
    "piece", ["<", "<a x=", "<!--", "<a ", "<a x='", "<a x=\"<a x='", "<a\t\t", "<![CDATA[", "<?"]
)
def test_hostile_text_takes_linear_work(piece):
    """Work is what is scanned for a text, and calls, of which each match of a pattern is one."""

    class Counted(str):
        work = 0

        def find(self, part, start=0):
            found = super().find(part, start)
            Counted.work += (len(self) if found < 0 else found) - start
            return found

    def count(frame, event, argument):
        Counted.work += event == "c_call"

    text = Counted(piece * (20_000 // len(piece)) + " !>")
    profile = sys.getprofile()
    sys.setprofile(count)
    try:
        result = neutralize_tags(text, len(text))
    finally:
        sys.setprofile(profile)
    assert len(result) == len(text)
    assert Counted.work < 20 * len(text)


def test_the_model_has_no_say_in_what_is_fixed():
    store = Recording()
    source = lookup_memory(store, fixed={"namespace": "acme", "targetLanguage": "ko"})
    assert "namespace" not in source.parameters["properties"]
    assert "target_language" not in source.parameters["properties"]
    assert "source_language" in source.parameters["properties"]
    gather(source, query="a", source_language="en")
    options = store.calls.pop()[1]
    assert options["namespace"] == "acme"
    assert options["target_language"] == "ko"
    assert options["source_language"] == "en"
    for name in ("namespace", "target_language", "targetLanguage"):
        for value in ("rival", "", None):
            with pytest.raises(InvalidValueError, match="not a known field") as caught:
                gather(source, {"query": "a", name: value})
            assert caught.value.code == "unknown_field"
            assert "namespace" not in str(caught.value).partition("allowed")[2]
    assert not store.calls


def test_what_is_fixed_to_nothing_filters_nothing():
    store = Recording()
    source = lookup_memory(store, fixed={"namespace": None})
    assert "namespace" not in source.parameters["properties"]
    gather(source, query="a")
    assert store.calls.pop()[1]["namespace"] is None
    with pytest.raises(InvalidValueError, match="not a known field"):
        gather(source, query="a", namespace="acme")


@pytest.mark.parametrize(
    ("fixed", "kind", "said"),
    [
        ({"query": "a"}, InvalidValueError, "'query' is not a known field"),
        ({"max_hits": 5}, InvalidValueError, "'max_hits' is not a known field"),
        ({"domain": 5}, InvalidTypeError, r"fixed\['domain'\] must be a str or None, not int"),
        ({"domain": " "}, InvalidValueError, r"fixed\['domain'\] is empty"),
        ("namespace", InvalidTypeError, "fixed must be a mapping, not str"),
    ],
)
def test_refuses_to_fix_what_cannot_be_fixed(fixed, kind, said):
    with pytest.raises(kind, match=said):
        lookup_memory(Recording(), fixed=fixed)
