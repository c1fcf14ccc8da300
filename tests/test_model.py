import copy
import pickle
from collections import OrderedDict
from dataclasses import FrozenInstanceError, fields
from enum import IntEnum
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diglot import (
    InvalidTypeError,
    InvalidValueError,
    TranslationMemory,
    TranslationMemoryEntry,
    TranslationMemoryHit,
)

FULL = {
    "source": "Save changes",
    "target": "변경 사항 저장",
    "source_language": "en",
    "target_language": "ko",
    "domain": "ui",
    "namespace": "editor",
    "source_id": "menu.save",
    "created_at": "2024-05-06T07:08:09Z",
    "notes": "A button.",
    "metadata": {"reviewed": True, "by": ["a", {"b": None}]},
}
CAMEL_CASE = {
    "source_language": "sourceLanguage",
    "target_language": "targetLanguage",
    "source_id": "sourceId",
    "created_at": "createdAt",
}
TEXTS = [name for name in FULL if name != "metadata"]


def test_the_full_example_is_full():
    assert [field.name for field in fields(TranslationMemoryEntry)] == list(FULL)


def test_from_dict_takes_both_namings():
    expected = TranslationMemoryEntry(**FULL)
    assert TranslationMemoryEntry.from_dict(FULL) == expected
    camel_case = {CAMEL_CASE.get(name, name): value for name, value in FULL.items()}
    assert TranslationMemoryEntry.from_dict(camel_case) == expected
    assert TranslationMemoryEntry.from_dict(MappingProxyType(camel_case)) == expected


def test_to_dict_leaves_out_what_is_none():
    assert TranslationMemoryEntry(**FULL).to_dict() == FULL
    assert TranslationMemoryEntry("a", "b").to_dict() == {"source": "a", "target": "b"}
    assert TranslationMemoryEntry("a", "b", metadata={}, notes="").to_dict() == {
        "source": "a",
        "target": "b",
        "metadata": {},
        "notes": "",
    }


def test_to_dict_copies_the_metadata():
    entry = TranslationMemoryEntry(**FULL)
    entry.to_dict()["metadata"]["by"].append("c")
    assert entry == TranslationMemoryEntry(**FULL)


def test_a_hit_as_a_dict():
    hit = TranslationMemoryHit(TranslationMemoryEntry("a", "b"), 0.5, 7)
    assert hit.to_dict() == {"id": 7, "score": 0.5, "entry": {"source": "a", "target": "b"}}


def test_from_dict_refuses_unknown_keys():
    for key in ("sourcelanguage", "SourceLanguage", "Source", "extra", 5, None):
        with pytest.raises(InvalidValueError, match="allowed are source, target") as caught:
            TranslationMemoryEntry.from_dict({**FULL, key: "x"})
        assert caught.value.code == "unknown_field"
        assert caught.value.field == str(key)


@pytest.mark.parametrize("name", CAMEL_CASE)
def test_from_dict_refuses_a_field_given_twice(name):
    with pytest.raises(InvalidValueError, match=f"{name} is given twice"):
        TranslationMemoryEntry.from_dict({**FULL, CAMEL_CASE[name]: "x"})


@pytest.mark.parametrize("name", ["source", "target"])
def test_from_dict_needs_both_texts(name):
    with pytest.raises(InvalidValueError, match=f"{name} is missing") as caught:
        TranslationMemoryEntry.from_dict({key: value for key, value in FULL.items() if key != name})
    assert caught.value.code == "missing_field"


@pytest.mark.parametrize("values", [None, 5, "text", [("source", "a"), ("target", "b")]])
def test_from_dict_refuses_what_is_no_mapping(values):
    with pytest.raises(InvalidTypeError, match="mapping"):
        TranslationMemoryEntry.from_dict(values)


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("value", [5, 1.5, True, b"text", ["text"], {"a": 1}, object()])
def test_refuses_wrong_types(name, value):
    with pytest.raises(InvalidTypeError) as caught:
        TranslationMemoryEntry(**{**FULL, name: value})
    assert caught.value.code == "invalid_type"
    assert caught.value.field == name
    assert str(caught.value).startswith(f"{name} must be a str")
    assert str(caught.value).endswith(f"not {type(value).__name__}")
    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize("name", FULL)
def test_none_is_allowed_for_all_but_the_texts(name):
    values = {**FULL, name: None}
    if name in ("source", "target"):
        with pytest.raises(InvalidTypeError, match=f"{name} must be a str, not NoneType"):
            TranslationMemoryEntry(**values)
    else:
        assert getattr(TranslationMemoryEntry(**values), name) is None


@pytest.mark.parametrize("name", ["source", "target"])
@pytest.mark.parametrize("text", ["", " ", "\t\n\v\f\r \u00a0\u1680\u2003\u2028\u202f\u3000\ufeff"])
def test_refuses_empty_texts(name, text):
    with pytest.raises(InvalidValueError, match=f"{name} is empty") as caught:
        TranslationMemoryEntry(**{**FULL, name: text})
    assert caught.value.code == "empty_text"
    assert caught.value.field == name


@pytest.mark.parametrize("text", ["\u0085", "\u001c", "\u200b", "\u0000", "-"])
def test_only_white_space_is_empty(text):
    assert TranslationMemoryEntry(text, text).source == text


@pytest.mark.parametrize("name", TEXTS)
def test_refuses_lone_surrogates(name):
    with pytest.raises(
        InvalidValueError, match=f"{name} has a lone surrogate at character 2"
    ) as caught:
        TranslationMemoryEntry(**{**FULL, name: "ab\ud83d"})
    assert caught.value.code == "lone_surrogate"
    assert caught.value.field == name


def test_is_frozen_and_slotted():
    entry = TranslationMemoryEntry(**FULL)
    with pytest.raises(FrozenInstanceError):
        entry.source = "x"
    with pytest.raises((AttributeError, TypeError)):
        entry.other = "x"
    assert not hasattr(entry, "__dict__")
    assert not hasattr(TranslationMemoryHit(entry, 1.0, 0), "__dict__")


def test_can_be_hashed_pickled_and_copied():
    entry = TranslationMemoryEntry(**FULL)
    hit = TranslationMemoryHit(entry, 0.5, 3)
    stored = next(iter(TranslationMemory([entry])))
    for one in (entry, stored, hit):
        assert hash(one) == hash(copy.deepcopy(one))
        assert pickle.loads(pickle.dumps(one)) == one
        assert copy.copy(one) == one
    assert len({entry, stored, TranslationMemoryEntry("a", "b")}) == 2


def test_a_subclass_of_str_is_kept_as_text():
    class Text(str):
        pass

    memory = TranslationMemory([TranslationMemoryEntry(Text("a"), Text("b"), notes=Text("c"))])
    assert next(iter(memory)) == TranslationMemoryEntry("a", "b", notes="c")
    assert type(next(iter(memory)).source) is str


class Level(IntEnum):
    HIGH = 3


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner)
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), JSON))
def test_any_json_comes_back_as_it_was(metadata):
    entry = TranslationMemoryEntry("a", "b", metadata=metadata)
    stored = next(iter(TranslationMemory([entry])))
    # The text of a value tells 1 from 1.0 and from True, and 0.0 from -0.0.
    assert repr(entry.metadata) == repr(metadata)
    assert repr(stored.metadata) == repr(metadata)


def test_metadata_becomes_plain_json():
    given = OrderedDict(
        tuple=(1, (2,)), mapping=MappingProxyType({"a": Level.HIGH}), huge=-(2**64), text="\x7f\x00"
    )
    entry = TranslationMemoryEntry("a", "b", metadata=given)
    expected = {"tuple": [1, [2]], "mapping": {"a": 3}, "huge": -(2**64), "text": "\x7f\x00"}
    assert entry.metadata == expected
    assert type(entry.metadata) is dict
    assert type(entry.metadata["mapping"]["a"]) is int


def nested(levels):
    value = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


def itself():
    value = {"list": []}
    value["list"].append(value)
    return value


def shared(levels):
    """A few objects that stand for a tree of 10 ** levels."""
    value = ["x" * 100]
    for _ in range(levels):
        value = [value] * 10
    return {"a": value}


@pytest.mark.parametrize(
    ("metadata", "kind", "field", "message"),
    [
        ({"a": float("nan")}, ValueError, "metadata.a", "metadata.a is NaN"),
        ({"a": [1, float("-inf")]}, ValueError, "metadata.a[1]", r"metadata.a\[1\] is -inf"),
        (
            {"a": [0, 1, 2, {"b": {1}}]},
            TypeError,
            "metadata.a[3].b",
            r"metadata.a\[3\].b must be .* not set",
        ),
        ({"a b": {"1c": object()}}, TypeError, 'metadata["a b"]["1c"]', "not object"),
        ({"日本": b""}, TypeError, "metadata.日本", "not bytes"),
        ({"a": {5: 1}}, TypeError, "a key of metadata.a", "must be a str, not int"),
        ({None: 1}, TypeError, "a key of metadata", "must be a str, not NoneType"),
        ({"a": "\ud800"}, ValueError, "metadata.a", "lone surrogate"),
        ({"a\ud800": 1}, ValueError, None, "lone surrogate"),
        ({"a": 10**5000}, ValueError, "metadata.a", "cannot be written"),
        (nested(129), ValueError, "metadata", "nested more than 128 levels deep"),
        (itself(), ValueError, "metadata", "or contains itself"),
        (shared(7), ValueError, "metadata", "more than 16777216 bytes"),
        ([1], TypeError, "metadata", "metadata must be a mapping"),
        ("text", TypeError, "metadata", "metadata must be a mapping"),
        (5, TypeError, "metadata", "metadata must be a mapping"),
    ],
)
def test_metadata_that_json_cannot_hold_is_refused_by_path(metadata, kind, field, message):
    with pytest.raises(kind, match=message) as caught:
        TranslationMemoryEntry("a", "b", metadata=metadata)
    assert isinstance(caught.value, InvalidTypeError | InvalidValueError)
    if field is not None:
        assert caught.value.field == field


def test_metadata_may_be_nested_as_deep_as_allowed():
    deep = nested(128)
    assert TranslationMemoryEntry("a", "b", metadata=deep).metadata == deep
