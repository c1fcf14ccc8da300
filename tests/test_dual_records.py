import json
import pickle

import pytest

from diglot import InvalidTypeError, InvalidValueError
from diglot.dual import MemoryRecord, detect_language


def test_a_record_fills_in_what_is_not_given():
    record = MemoryRecord("保存文件")
    assert (record.lang, record.translation_source, record.translation_status) == (
        "zh",
        "none",
        "missing",
    )
    assert record.id
    assert record.id != MemoryRecord("保存文件").id
    assert record.created_at == record.updated_at
    assert record.created_at.endswith("Z")


def test_a_companion_of_unknown_origin_is_trusted_least():
    record = MemoryRecord("保存文件", text_en="Save the file")
    assert (record.translation_source, record.translation_status) == ("llm", "draft")


@pytest.mark.parametrize(
    ("fields", "field", "said"),
    [
        ({"translation_status": "verified"}, "translation_status", "without text_en"),
        ({"translation_status": "draft"}, "translation_status", "without text_en"),
        ({"translation_source": "human"}, "translation_source", "without text_en"),
        (
            {"text_en": "a", "translation_status": "missing"},
            "translation_status",
            "'draft' or 'verified'",
        ),
        (
            {"text_en": "a", "translation_source": "none"},
            "translation_source",
            "'human' or 'llm'",
        ),
    ],
)
def test_fields_that_do_not_agree_are_refused(fields, field, said):
    with pytest.raises(InvalidValueError, match=said) as caught:
        MemoryRecord("文", **fields)
    assert caught.value.code == "inconsistent_fields"
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("fields", "error", "field", "code"),
    [
        ({"text": " \u3000"}, InvalidValueError, "text", "empty_text"),
        ({"text": 1}, InvalidTypeError, "text", "invalid_type"),
        ({"text": "\ud800"}, InvalidValueError, "text", "lone_surrogate"),
        ({"text_en": ""}, InvalidValueError, "text_en", "empty_text"),
        ({"text_en": b"a"}, InvalidTypeError, "text_en", "invalid_type"),
        ({"id": ""}, InvalidValueError, "id", "empty_text"),
        ({"id": 7}, InvalidTypeError, "id", "invalid_type"),
        ({"lang": " "}, InvalidValueError, "lang", "empty_text"),
        ({"translation_source": "machine"}, InvalidValueError, "translation_source", None),
        ({"translation_status": 1}, InvalidTypeError, "translation_status", None),
        ({"importance": 1.5}, InvalidValueError, "importance", None),
        ({"importance": float("nan")}, InvalidValueError, "importance", None),
        ({"importance": True}, InvalidTypeError, "importance", None),
        ({"category": 1}, InvalidTypeError, "category", None),
        ({"namespace": "\udfff"}, InvalidValueError, "namespace", "lone_surrogate"),
        ({"embedding_version": 2}, InvalidTypeError, "embedding_version", None),
        ({"created_at": "yesterday"}, InvalidValueError, "created_at", None),
        ({"updated_at": 5}, InvalidTypeError, "updated_at", None),
        ({"metadata": {"a": {1}}}, InvalidTypeError, "metadata.a", None),
        ({"metadata": []}, InvalidTypeError, "metadata", None),
    ],
)
def test_bad_fields_are_named(fields, error, field, code):
    with pytest.raises(error) as caught:
        MemoryRecord(**{"text": "文", **fields})
    assert caught.value.field == field
    if code is not None:
        assert caught.value.code == code


def test_dicts_are_read_in_both_spellings_and_written_in_one():
    values = {
        "id": "m-1",
        "text": "文",
        "textEn": "text",
        "lang": "zh",
        "translationSource": "human",
        "translationStatus": "verified",
        "createdAt": "2026-01-01T00:00:00Z",
        "updatedAt": "2026-01-02T00:00:00+01:00",
        "category": "docs",
        "importance": 1,
        "embeddingVersion": "e5",
        "namespace": "n",
        "metadata": {"a": [1, None]},
    }
    record = MemoryRecord.from_dict(values)
    assert record.importance == 1.0
    written = record.to_dict()
    assert list(written)[:2] == ["id", "text"]
    assert MemoryRecord.from_dict(written) == record
    written["metadata"]["a"].append(2)
    assert record.metadata == {"a": [1, None]}
    assert pickle.loads(pickle.dumps(record)) == record
    assert json.loads(json.dumps(record.to_dict())) == record.to_dict()


@pytest.mark.parametrize(
    ("values", "error", "said"),
    [
        ([], InvalidTypeError, "mapping"),
        ({}, InvalidValueError, "text is missing"),
        ({"text": "a", "txt": "b"}, InvalidValueError, "'txt' is not a known field"),
        ({"text": "a", "text_en": "b", "textEn": "c"}, InvalidValueError, "given twice"),
    ],
)
def test_bad_dicts_are_refused(values, error, said):
    with pytest.raises(error, match=said):
        MemoryRecord.from_dict(values)


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("保存文件", "zh"),
        ("增加 10% 的 HP", "mixed"),
        ("R防弹背心", "zh"),
        ("Save the file", "en"),
        ("Meet me at the café", "en"),
        ("naïve résumé façade über", "und"),
        ("ファイルを保存", "ja"),
        ("漢字とかな", "ja"),
        ("파일 저장", "ko"),
        ("Сохранить", "und"),
        ("12 + 34", "und"),
        ("…。", "und"),
    ],
)
def test_languages_are_told_by_script(text, lang):
    assert detect_language(text) == lang


def test_declared_languages_stay():
    assert MemoryRecord("Bonjour", lang="fr").lang == "fr"
    assert MemoryRecord("Bonjour", lang="fr").english is None
    assert MemoryRecord("Hello", lang="EN-us").english == "Hello"
    assert MemoryRecord("x", lang="enm").english is None


def test_detecting_needs_a_text():
    with pytest.raises(InvalidTypeError, match="text must be a str"):
        detect_language(None)
