"""Asking for languages: every format says in the same words what it leaves out for them."""

import json
from pathlib import Path
from typing import Any

import pytest

from diglot import InvalidValueError, TranslationMemory, TranslationMemoryEntry, formats

XLIFF = {
    "xliff": (
        '<xliff version="1.2"><file source-language="{}" target-language="{}"><body>'
        '<trans-unit id="1"><source>a</source><target>b</target></trans-unit></body></file></xliff>'
    ),
    "xliff2": (
        '<xliff version="2.0" srcLang="{}" trgLang="{}"><file><unit id="1"><segment>'
        "<source>a</source><target>b</target></segment></unit></file></xliff>"
    ),
}


def document(format: str, source: str, target: str) -> str:
    """A file with one unit, `1`."""
    if format in XLIFF:
        return XLIFF[format].format(source, target)
    if format == "tmx":
        tuv = '<tuv xml:lang="{}"><seg>{}</seg></tuv>'
        pair = tuv.format(source, "a") + tuv.format(target, "b")
        unit = f'<header srclang="{source}"/><body><tu tuid="1">{pair}</tu></body>'
        return f'<tmx version="1.4">{unit}</tmx>'
    if format == "jsonl":
        return json.dumps(
            {
                "source": "a",
                "target": "b",
                "source_language": source,
                "target_language": target,
                "source_id": "1",
            }
        )
    comma = {"csv": ",", "tsv": "\t"}[format]
    return f"{source},{target},source_id\na,b,1\n".replace(",", comma)


def read(path: Path, **options: Any) -> tuple[list[TranslationMemoryEntry], list[Any]]:
    items = list(formats.read(path, **options))
    entries = [item for item in items if isinstance(item, TranslationMemoryEntry)]
    return entries, [
        (item.unit, item.code, item.reason)
        for item in items
        if isinstance(item, formats.SkippedUnit)
    ]


@pytest.mark.parametrize("format", ["tmx", "xliff", "xliff2", "csv", "tsv", "jsonl"])
def test_what_is_in_other_languages_is_reported(format: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text(document(format, "en", "de-AT"), encoding="utf-8")
    (entry,), skipped = read(path, format=format, source_language="en", target_languages=["de"])
    assert (entry.source_language, entry.target_language, skipped) == ("en", "de-AT", [])
    wanted = ["ko", "de-DE"]
    message = "no text is in ko or de-DE; there are texts in en, de-AT"
    assert read(path, format=format, target_languages=wanted) == (
        [],
        [("1", "missing_target", message)],
    )
    path.write_text(document(format, "en", "de"), encoding="utf-8")
    options: dict[str, Any] = {"source_language": "fr", "target_languages": ["ko"]}
    if format in ("csv", "tsv"):
        # Which column is the source would not be clear otherwise.
        options["columns"] = {"source": "en", "target": "de", "source_id": "source_id"}
    message = "no text is in fr, the source language; there are texts in en, de"
    assert read(path, format=format, **options) == ([], [("1", "missing_source", message)])


def test_a_row_with_a_wanted_pair_is_not_reported_for_its_other_languages(tmp_path: Path) -> None:
    path = tmp_path / "file.csv"
    path.write_text("en,de,fr,ko\na,b,c,d\ne,f,g,\n", encoding="utf-8")
    entries, skipped = read(path, target_languages=["fr", "ko"])
    assert [entry.target for entry in entries] == ["c", "d", "g"]
    assert skipped == [(None, "untranslated", "there is no translation into ko")]
    entries, skipped = read(path, target_languages=["ja"])
    message = "no text is in ja; there are texts in en, de, fr, ko"
    assert (entries, skipped) == ([], [(None, "missing_target", message)] * 2)


def test_an_entry_whose_language_nobody_knows_is_not_in_one_of_several(tmp_path: Path) -> None:
    path = tmp_path / "file.jsonl"
    path.write_text('{"source": "a", "target": "b"}\n', encoding="utf-8")
    (entry,), _ = read(path, source_language="en", target_languages="ko")
    assert (entry.source_language, entry.target_language) == ("en", "ko")
    message = "no text is in ko or ja; there are texts in a language without a name"
    expected = ([], [(None, "missing_target", message)])
    assert read(path, target_languages=["ko", "ja"]) == expected


def test_a_catalog_in_another_language_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "file.po"
    path.write_text(
        'msgid ""\nmsgstr "Language: de\\n"\n\nmsgid "a"\nmsgstr "b"\n', encoding="utf-8"
    )
    with pytest.raises(InvalidValueError, match="asks for ko, but the catalog is in de"):
        read(path, target_languages=["ko"])


def test_the_report_of_an_import_says_where_other_languages_were(tmp_path: Path) -> None:
    path = tmp_path / "file.jsonl"
    lines = (document("jsonl", "en", target) for target in ["ko", "de", "ko", "fr"])
    path.write_text("\n".join(lines), encoding="utf-8")
    report = TranslationMemory().import_file(path, target_languages="ko")
    assert (report.units, report.read, report.skipped) == (4, 2, 2)
    assert [(problem.line, problem.code) for problem in report.problems] == [
        (2, "missing_target"),
        (4, "missing_target"),
    ]
