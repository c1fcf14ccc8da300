"""TMX: what is read of a unit, what is left out and why, and what is written."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from diglot import FormatError, InvalidValueError, TranslationMemoryEntry, formats
from random_entries import ENTRIES

HEAD = '<?xml version="1.0" encoding="UTF-8"?><tmx version="1.4"><header srclang="{}"/><body>\n'
TAIL = "</body></tmx>"
MANY = " ".join(f"a{number}=''" for number in range(257))


def tuv(language: str, text: str) -> str:
    return f'<tuv xml:lang="{language}"><seg>{text}</seg></tuv>'


def tu(*texts: tuple[str, str]) -> str:
    return f"<tu>{''.join(tuv(language, text) for language, text in texts)}</tu>"


def document(*units: str, source_language: str = "en") -> str:
    return HEAD.format(source_language) + "\n".join(units) + TAIL


@pytest.fixture
def read(tmp_path: Path) -> Any:
    """Reads a document; entries and skipped units are told apart."""

    def read(text: str | bytes, **options: Any) -> tuple[list[Any], list[Any]]:
        path = tmp_path / "memory.tmx"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        items = list(formats.read(path, **options))
        return (
            [item for item in items if not isinstance(item, formats.SkippedUnit)],
            [item for item in items if isinstance(item, formats.SkippedUnit)],
        )

    return read


def pairs(entries: list[TranslationMemoryEntry]) -> list[tuple[Any, ...]]:
    return [(e.source_language, e.source, e.target_language, e.target) for e in entries]


# Units and languages


def test_each_translation_of_a_unit_is_an_entry(read: Any) -> None:
    unit = f"<tu>{tuv('en', 'one')}{tuv('de', 'eins')}{tuv('fr', 'un')}{tuv('fr', 'une')}</tu>"
    entries, skipped = read(document(unit))
    assert pairs(entries) == [
        ("en", "one", "de", "eins"),
        ("en", "one", "fr", "un"),
        ("en", "one", "fr", "une"),
    ]
    assert skipped == []


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"target_languages": ["fr"]}, [("en", "fr"), ("en", "fr-CA")]),
        ({"target_languages": ["FR_ca"]}, [("en", "fr-CA")]),
        ({"target_languages": "de"}, [("en", "de-DE")]),
        ({"source_language": "de"}, [("de-DE", "en"), ("de-DE", "fr"), ("de-DE", "fr-CA")]),
        ({"source_language": "fr"}, [("fr", "en"), ("fr", "de-DE"), ("fr", "fr-CA")]),
        ({"source_language": "fr-CA", "target_languages": ["de-DE"]}, [("fr-CA", "de-DE")]),
    ],
)
def test_wanted_languages_are_ranges(read: Any, options: Any, expected: Any) -> None:
    texts = [tuv("en", "a"), tuv("de-DE", "b"), tuv("fr", "c"), tuv("fr-CA", "d")]
    entries, skipped = read(document(f"<tu>{''.join(texts)}</tu>"), **options)
    assert [(e.source_language, e.target_language) for e in entries] == expected
    assert skipped == []


@pytest.mark.parametrize(
    ("declared", "unit", "expected"),
    [
        ("en", "", ("en", "de")),
        ("EN", "", ("en", "de")),
        ("en-US", "", ("en", "de")),
        ("en", ' srclang="de"', ("de", "en")),
        ("*all*", "", ("de", "en")),
        ("", "", ("de", "en")),
        ("*all*", ' srclang="en"', ("en", "de")),
        ("en", ' srclang="*all*"', ("de", "en")),
    ],
)
def test_the_source_language_of_unit_and_header(
    read: Any, declared: str, unit: str, expected: tuple[str, str]
) -> None:
    text = document(f"<tu{unit}>{tuv('de', 'a')}{tuv('en', 'b')}</tu>", source_language=declared)
    entries, _ = read(text)
    assert [(e.source_language, e.target_language) for e in entries] == [expected]


def test_the_source_is_the_text_in_just_its_language_if_there_is_one(read: Any) -> None:
    unit = f"<tu>{tuv('en-GB', 'colour')}{tuv('en', 'color')}{tuv('de', 'Farbe')}</tu>"
    entries, _ = read(document(unit))
    assert pairs(entries) == [("en", "color", "en-GB", "colour"), ("en", "color", "de", "Farbe")]
    entries, _ = read(document(unit, source_language="en-US"))
    assert entries[0].source_language == "en"
    entries, skipped = read(document(unit, source_language="en-US"), source_language="en-US")
    assert (entries, [unit.code for unit in skipped]) == ([], ["missing_source"])


def test_the_old_language_attribute(read: Any) -> None:
    text = document(
        '<tu><tuv lang="en"><seg>a</seg></tuv><tuv lang="x" xml:lang="de"><seg>b</seg></tuv></tu>'
    )
    assert pairs(read(text)[0]) == [("en", "a", "de", "b")]


def test_encodings_of_other_programs_are_kept_of_units_only(read: Any) -> None:
    parts = '<note o-encoding="x">n</note><prop type="p" o-encoding="y">v</prop>'
    unit = f'<tu o-encoding="z">{parts}{tuv("en", "a")}{tuv("de", "b")}</tu>'
    [entry], skipped = read(document(unit))
    assert (entry.notes, skipped) == ("n", [])
    assert entry.metadata == {"tmx": {"o-encoding": "z", "props": [["p", "v"]]}}


def test_a_file_without_header_version_or_doctype(read: Any) -> None:
    text = f"<tmx><body><tu>{tuv('en', 'a')}{tuv('de', 'b')}</tu></body></tmx>"
    assert pairs(read(text)[0]) == [("en", "a", "de", "b")]
    assert read("<tmx/>") == ([], [])
    assert read("<tmx><header/><body/></tmx>") == ([], [])


@pytest.mark.parametrize(
    ("unit", "code", "said"),
    [
        ("<tu/>", "missing_source", "there are none"),
        (tu(("en", "a")), "missing_target", "another language than the source"),
        (tu(("de", "a")), "missing_source", "no text is in en"),
        (f"<tu>{tuv('en', 'a')}<tuv xml:lang='de'/></tu>", "missing_segment", "no <seg>"),
        (f"<tu><tuv xml:lang='en'><note/></tuv>{tuv('de', 'a')}</tu>", "missing_segment", "<seg>"),
        (f"<tu>{tuv('en', 'a')}<tuv><seg>b</seg></tuv></tu>", "missing_language", "xml:lang"),
        (tu(("en", "a"), ("de", " ")), "empty_text", "target is empty"),
        (tu(("en", "<ph>a</ph>"), ("de", "b")), "empty_text", "source is empty"),
        (tu(("en", "a"), ("de", "&nbsp;b")), "undefined_entity", "&nbsp;"),
        (tu(("en", "a & b; c"), ("de", "b")), "undefined_entity", "& b;"),
        (tu(("en", "a"), ("de", "&#11;")), "invalid_character", "U+000B"),
        (tu(("en", "a"), ("de", "b\x0bc")), "invalid_character", "U+000B"),
        (tu(("en", "a"), ("de", "b\x00c")), "invalid_character", "U+0000"),
        (tu(("en", "a"), ("de", "b\ufffe")), "invalid_character", "U+FFFE"),
        (tu(("en", "a"), ("de", "&#xD800;")), "invalid_reference", "&#xD800;"),
        (tu(("en", "a"), ("de", "&#0;")), "invalid_reference", "&#0;"),
        (f"<tu tuid='a' tuid='b'>{tuv('en', 'a')}{tuv('de', 'b')}</tu>", "invalid_attribute", ""),
        (f"<tu {MANY}>{tuv('en', 'a')}{tuv('de', 'b')}</tu>", "invalid_attribute",
         "more than the 256"),
        (f"<tu>{tuv('en', 'a')}<tuv xml:lang='d\x0be'><seg>b</seg></tuv></tu>", "invalid_character",
         "U+000B"),
        (f"<tu><note>\x0b</note>{tuv('en', 'a')}{tuv('de', 'b')}</tu>", "invalid_character",
         "U+000B"),
        (f"<tu><note>&#11;</note>{tuv('en', 'a')}{tuv('de', 'b')}</tu>", "invalid_character",
         "U+000B"),
        (
            "<tu>"
            + tuv("en", "a")
            + "<tuv xml:lang='de'><seg>b</seg><seg>c</seg></tuv></tu>",
            "repeated_segment",
            "more than one <seg>",
        ),
        (
            f"<tu>{tuv('en', 'a')}{tuv('de', 'b')}{tuv('en', 'c')}</tu>",
            "repeated_source",
            "a second <tuv> is in en",
        ),
    ],
)  # fmt: skip
def test_a_bad_unit_is_left_out_and_the_rest_is_read(
    read: Any, unit: str, code: str, said: str
) -> None:
    good = tu(("en", "good"), ("de", "gut"))
    entries, [skipped] = read(document(good, unit, good))
    assert [e.source for e in entries if e.source != "a"] == ["good", "good"]
    assert (skipped.line, skipped.code) == (3, code)
    assert said in skipped.reason


def test_a_skipped_unit_says_where_it_is(read: Any) -> None:
    unit = f'<tu\n  tuid="t 1">\n{tuv("de", "a")}\n</tu>'
    _, [skipped] = read(document("", "<!-- \n -->", unit))
    assert (skipped.line, skipped.unit) == (5, "t 1")
    assert str(skipped) == (
        "line 5 (t 1): no text is in en, the source language; there are texts in de"
    )  # fmt: skip


def test_of_a_long_name_the_start_is_said(read: Any) -> None:
    _, [skipped] = read(document(f'<tu tuid="{"name" * 100}">{tuv("de", "a")}</tu>'))
    assert skipped.unit == "name" * 15 + "…"


def test_two_texts_in_one_language_are_a_pair(read: Any) -> None:
    entries, skipped = read(document(tu(("en", "colour"), ("EN", "color"))))
    assert pairs(entries) == [("en", "colour", "EN", "color")]
    assert skipped == []


# Markup


@pytest.mark.parametrize(
    ("segment", "text", "kept"),
    [
        ("plain &amp; simple", "plain & simple", None),
        ("<![CDATA[<b>]]> &#x1F4D6;", "<b> 📖", None),
        ("a<!-- no --><?no?>b", "ab", None),
        ("AT&T & you", "AT&T & you", None),
        ("<hi>a</hi>b", "ab", "<hi>a</hi>b"),
        ("a<ph>x<sub>flow</sub>y</ph>", "a", "a<ph>x<sub>flow</sub>y</ph>"),
        ("a<ph>x<sub>f<it pos='end'>y</it></sub></ph>", "a",
         'a<ph>x<sub>f<it pos="end">y</it></sub></ph>'),
        # What TMX does not have, or not in this form, is code.
        ("<b>bold</b>!", "bold!",
         '<bpt i="1">&lt;b&gt;</bpt>bold<ept i="1">&lt;/b&gt;</ept>!'),
        ("<g id='1'>a<x id='2'/></g>", "a",
         "<bpt i=\"1\">&lt;g id='1'&gt;</bpt>a<ph>&lt;x id='2'/&gt;</ph>"
         '<ept i="1">&lt;/g&gt;</ept>'),
        ("<bpt>x</bpt>a", "a", "<ph>&lt;bpt&gt;x&lt;/bpt&gt;</ph>a"),
        ("<ph id='1'>x</ph>a", "a", "<ph>&lt;ph id='1'&gt;x&lt;/ph&gt;</ph>a"),
        ("<ph><b>x</b></ph>a", "a", "<ph>&lt;b&gt;x&lt;/b&gt;</ph>a"),
        ("<it pos='open'>x</it>a", "a", "<ph>&lt;it pos='open'&gt;x&lt;/it&gt;</ph>a"),
        ("<sub>x</sub>a", "xa", '<bpt i="1">&lt;sub&gt;</bpt>x<ept i="1">&lt;/sub&gt;</ept>a'),
        # Their numbers are above those of the file's own.
        ("<b>x</b><bpt i='7'>y</bpt>", "x",
         '<bpt i="8">&lt;b&gt;</bpt>x<ept i="8">&lt;/b&gt;</ept><bpt i="7">y</bpt>'),
    ],
)  # fmt: skip
def test_the_text_is_plain_and_the_markup_is_kept(
    read: Any, segment: str, text: str, kept: str | None
) -> None:
    [entry], _ = read(document(f"<tu>{tuv('en', segment)}{tuv('de', 'b')}</tu>"))
    assert entry.source == text
    assert (entry.metadata or {"tmx": {}})["tmx"].get("source") == kept


def test_line_ends_are_line_feeds_and_references_are_not(read: Any) -> None:
    unit = tu(("en", "a\r\nb\rc&#13;&#10;d"), ("de", "b"))
    assert read(document(unit))[0][0].source == "a\nb\nc\r\nd"


# Encodings


@pytest.mark.parametrize("mark", [True, False], ids=["mark", "no mark"])
@pytest.mark.parametrize("declared", ["", ' encoding="UTF-16"', ' encoding="UTF-8"'])
@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-8"])
def test_utf_16_and_utf_8_are_told_by_their_bytes(
    read: Any, codec: str, declared: str, mark: bool
) -> None:
    body = document(tu(("en", "📖 é"), ("de", "ü"))).partition("?>")[2]
    text = ("\ufeff" if mark else "") + f'<?xml version="1.0"{declared}?>' + body
    assert pairs(read(text.encode(codec))[0]) == [("en", "📖 é", "de", "ü")]


@pytest.mark.parametrize(
    ("codec", "label", "text"),
    [
        ("iso8859-1", "ISO-8859-1", "é"),
        ("cp1252", "Windows-1252", "„é“"),
        ("euc-kr", "euc-kr", "저장"),
        ("shift-jis", "Shift_JIS", "保存"),
        ("gb18030", "GB18030", "保存𠀀"),
        ("big5", "Big5", "儲存"),
    ],
)
def test_declared_encodings(read: Any, codec: str, label: str, text: str) -> None:
    body = document(f"<tu>{tuv('en', 'a')}{tuv('xx', text)}</tu>")
    for spelled in (f'="{label}"', f"='{label}'", f' = "{label}"'):
        declared = body.replace('="UTF-8"', spelled)
        assert declared != body
        assert read(declared.encode(codec))[0][0].target == text


@pytest.mark.parametrize(
    ("data", "line", "said"),
    [
        (document("", tu(("en", "é"))).encode("latin-1"), 3, "not valid UTF-8"),
        (document().replace("UTF-8", "klingon").encode(), 1, "'klingon'"),
        (document("", "", "\ud800").encode("utf-16", "surrogatepass"), 4, "not valid UTF-16LE"),
        (document("a").encode("utf-16")[:-1], 2, "not valid UTF-16LE"),
        (document().encode("utf-32"), 1, "UTF-32"),
        (b"<\0\0\0t\0\0\0", 1, "UTF-32"),
    ],
)
def test_a_wrong_encoding_is_an_error_that_names_the_line(
    read: Any, data: bytes, line: int, said: str
) -> None:
    with pytest.raises(FormatError) as caught:
        read(data)
    assert caught.value.line == line
    assert said.replace("'", '"') in str(caught.value)


# What is written


def test_what_is_written_is_this(tmp_path: Path) -> None:
    path = tmp_path / "out.tmx"
    entry = TranslationMemoryEntry(
        "Save <1> & close",
        "저장",
        source_language="en",
        target_language="ko",
        domain="ui",
        namespace="project",
        source_id="a.b",
        created_at="2024-06-28T18:36:31+09:00",
        notes="for\npeople",
        metadata={
            "changed_at": "2024-06-29T00:00:00Z",
            "score": 1.5,
            "tmx": {
                "creationid": "ys",
                "source": "Save <hi>&lt;1&gt;</hi> &amp; close",
                "props": [["x-a", "b"], ["x-c", "d", "en"]],
                "target_tuv": {"creationtool": "t", "notes": ["n"]},
            },
        },
    )
    assert formats.write(path, [entry], source_language="en") == []
    version = formats._engine.__version__
    assert (
        path.read_text(encoding="utf-8")
        == f"""\
<?xml version="1.0" encoding="UTF-8"?>
<tmx version="1.4">
<header creationtool="diglot" creationtoolversion="{version}" segtype="sentence" o-tmf="diglot" \
adminlang="en" srclang="en" datatype="plaintext"/>
<body>
<tu tuid="a.b" creationid="ys" creationdate="20240628T093631Z" changedate="20240629T000000Z">
<note>for
people</note>
<prop type="x-diglot-domain">ui</prop>
<prop type="x-diglot-namespace">project</prop>
<prop type="x-a">b</prop>
<prop type="x-c" xml:lang="en">d</prop>
<prop type="x-diglot">{{"created_at":"2024-06-28T18:36:31+09:00","metadata":{{"score":1.5}}}}</prop>
<tuv xml:lang="en"><seg>Save <hi>&lt;1&gt;</hi> &amp; close</seg></tuv>
<tuv xml:lang="ko" creationtool="t"><note>n</note>
<seg>저장</seg></tuv>
</tu>
</body>
</tmx>
"""
    )
    assert list(formats.read(path)) == [entry]


NOTES = st.lists(
    st.tuples(st.sampled_from(["", "a", "a\nb", "<&\r"]), st.sampled_from([None, "en", "x-&"])),
    max_size=3,
)


@given(of_unit=NOTES, of_target=NOTES)
def test_notes_stay_apart_and_in_their_languages(
    tmp_path_factory: pytest.TempPathFactory, of_unit: Any, of_target: Any
) -> None:
    path = tmp_path_factory.getbasetemp() / "notes.tmx"

    def element(text: str, language: str | None) -> str:
        spoken = f" xml:lang={quoteattr(language)}" if language else ""
        return f"<note{spoken}>{escape(text, {chr(13): '&#13;'})}</note>"

    unit, target = ("".join(element(*note) for note in notes) for notes in (of_unit, of_target))
    german = f'<tuv xml:lang="de">{target}<seg>b</seg></tuv>'
    path.write_text(document(f"<tu>{unit}{tuv('en', 'a')}{german}</tu>"), encoding="utf-8")
    [entry] = formats.read(path)
    assert entry.notes == ("\n".join(text for text, _ in of_unit) if of_unit else None)
    formats.write(path, [entry])
    assert list(formats.read(path)) == [entry]
    language = "{http://www.w3.org/XML/1998/namespace}lang"
    [written] = etree.parse(path).iter("tu")
    for parent, notes in [(written, of_unit), (written.findall("tuv")[1], of_target)]:
        found = [(note.text or "", note.get(language)) for note in parent.findall("note")]
        assert found == notes
    # Notes of the entry that were changed since are what is written.
    changed = TranslationMemoryEntry.from_dict({**entry.to_dict(), "notes": "other"})
    formats.write(path, [changed])
    assert list(formats.read(path)) == [changed]
    assert next(note.text for note in etree.parse(path).iter("note")) == "other"


@pytest.mark.parametrize(
    "own",
    [
        {"segtype": "chapter"},
        {"props": [["x-diglot-domain", "d"]]},
        # A single note in no language is read as the entry's.
        {"notes": ["note"]},
        {"source": "<hi>a"},
        {"source": "<hi>b</hi>"},
        # The entry would get times that it does not have.
        {"target_tuv": {"creationdate": "20240628T093631Z"}},
        {"source_tuv": {"changedate": "20240628T093631Z"}},
    ],
)
def test_what_tmx_cannot_hold_as_it_is_comes_back(tmp_path: Path, own: Any) -> None:
    path = tmp_path / "out.tmx"
    entry = TranslationMemoryEntry("a", "b", "en", "de", notes="note", metadata={"tmx": own})
    formats.write(path, [entry])
    assert list(formats.read(path)) == [entry]
    dtd = etree.DTD(StringIO(DTD))
    assert dtd.validate(etree.parse(path)), dtd.error_log
    # All of it stands in our own property.
    [rest] = etree.parse(path).xpath("//prop/text()")
    assert json.loads(rest) == {"metadata": {"tmx": own}}


def test_the_time_of_a_unit_is_that_of_its_target(read: Any) -> None:
    variants = [
        f'<tuv xml:lang="{language}" creationdate="{year}0628T093631Z"><seg>a</seg></tuv>'
        for language, year in [("en", 2022), ("de", 2023)]
    ]
    [entry], _ = read(document(f"<tu>{''.join(variants)}</tu>"))
    assert entry.created_at == "2023-06-28T09:36:31Z"
    [entry], _ = read(document(f'<tu creationdate="20240628T093631Z">{"".join(variants)}</tu>'))
    assert entry.created_at == "2024-06-28T09:36:31Z"
    [entry], _ = read(document(f"<tu>{variants[0]}{tuv('de', 'b')}</tu>"))
    assert entry.created_at == "2022-06-28T09:36:31Z"


def test_what_was_written_for_a_pair_is_not_taken_for_more(read: Any) -> None:
    rest = '<prop type="x-diglot">{"metadata":{"k":1}}</prop>'
    [entry], _ = read(document(f"<tu>{rest}{tuv('en', 'a')}{tuv('de', 'b')}</tu>"))
    assert entry.metadata == {"k": 1}
    both, _ = read(document(f"<tu>{rest}{tuv('en', 'a')}{tuv('de', 'b')}{tuv('fr', 'c')}</tu>"))
    assert [entry.metadata for entry in both] == [None, None]


def test_what_was_edited_since_counts(tmp_path: Path) -> None:
    path = tmp_path / "out.tmx"
    entry = TranslationMemoryEntry(
        "a\x0bb", "c", created_at="2024-06-28", notes="n\x01", metadata={"k": 1}
    )
    formats.write(path, [entry])
    text = path.read_text(encoding="utf-8")
    assert "<seg>a\ufffdb</seg>" in text
    text = text.replace("<seg>a\ufffdb</seg>", "<seg>a edited b</seg>")
    text = text.replace("20240628T000000Z", "20240629T000000Z").replace("<note>n\ufffd", "<note>m")
    path.write_text(text, encoding="utf-8")
    [edited] = formats.read(path)
    assert edited == TranslationMemoryEntry(
        "a edited b", "c", created_at="2024-06-29T00:00:00Z", notes="m", metadata={"k": 1}
    )


def test_languages_and_times_that_were_edited_since_count(tmp_path: Path) -> None:
    path = tmp_path / "out.tmx"
    entry = TranslationMemoryEntry("a", "b", metadata={"changed_at": "2024-06-28T12:00:00.5Z"})
    formats.write(path, [entry])
    assert list(formats.read(path)) == [entry]
    text = path.read_text(encoding="utf-8")
    for old, new in [
        ('<tuv xml:lang="und"><seg>a', '<tuv xml:lang="en"><seg>a'),
        ('srclang="und"', 'srclang="en"'),
        ("20240628T120000Z", "20240629T120000Z"),
    ]:
        assert text.count(old) == 1
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    [edited] = formats.read(path)
    assert (edited.source_language, edited.target_language) == ("en", None)
    assert edited.metadata == {"changed_at": "2024-06-29T12:00:00Z"}


def test_what_is_written_is_whole_or_not_there(tmp_path: Path) -> None:
    path = tmp_path / "out.tmx"
    path.write_text("before", encoding="utf-8")

    def entries() -> Any:
        yield TranslationMemoryEntry("a", "b")
        raise KeyError("no more")

    with pytest.raises(KeyError):
        formats.write(path, entries())
    assert path.read_text(encoding="utf-8") == "before"
    assert [item.name for item in tmp_path.iterdir()] == ["out.tmx"]


@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
def test_compressed_files(tmp_path: Path, ending: str) -> None:
    entries = [TranslationMemoryEntry(f"source {i}", f"target {i}") for i in range(5000)]
    path = tmp_path / f"out.tmx{ending}"
    formats.write(path, entries)
    assert list(formats.read(path)) == entries
    assert (path.stat().st_size < 100_000) == bool(ending)


def test_an_option_without_a_use_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match="every unit says which languages it is in"):
        formats.write(tmp_path / "a.tmx", [], target_languages=["ko"])
    with pytest.raises(InvalidValueError, match="allowed are tmx"):
        formats.write(tmp_path / "a.tmx", [], format="TMX")
    assert list(tmp_path.iterdir()) == []


def canonical(entry: TranslationMemoryEntry) -> TranslationMemoryEntry:
    """The entry with its markup spelled as it is written."""
    values = entry.to_dict()
    own = values.get("metadata", {}).get("tmx")
    for key in ("source", "target"):
        if isinstance(own, dict) and own.get(key) == "<b>x</b>" and values[key] == "x":
            own[key] = '<bpt i="1">&lt;b&gt;</bpt>x<ept i="1">&lt;/b&gt;</ept>'
    return TranslationMemoryEntry.from_dict(values)


@given(st.lists(ENTRIES, max_size=5))
def test_entries_come_back_from_a_file(
    tmp_path_factory: pytest.TempPathFactory, entries: list[TranslationMemoryEntry]
) -> None:
    path = tmp_path_factory.getbasetemp() / "round-trip.tmx"
    assert formats.write(path, entries) == []
    again = list(formats.read(path))
    assert again == [canonical(entry) for entry in entries]
    # Bit by bit: JSON tells 1 from 1.0 and from true.
    dumped = [[json.dumps(e.metadata, sort_keys=True) for e in some] for some in (entries, again)]
    assert [len(some) for some in dumped] == [len(entries)] * 2


# What TMX 1.4b says of its elements, as far as the writer has them.
DTD = """
<!ELEMENT tmx (header, body)>
<!ATTLIST tmx version CDATA #REQUIRED>
<!ELEMENT header (note | prop | ude)*>
<!ATTLIST header
    creationtool CDATA #REQUIRED creationtoolversion CDATA #REQUIRED
    segtype (block | paragraph | sentence | phrase) #REQUIRED
    o-tmf CDATA #REQUIRED adminlang CDATA #REQUIRED srclang CDATA #REQUIRED
    datatype CDATA #REQUIRED>
<!ELEMENT ude EMPTY>
<!ELEMENT body (tu*)>
<!ELEMENT tu ((note | prop)*, tuv+)>
<!ATTLIST tu
    tuid CDATA #IMPLIED o-encoding CDATA #IMPLIED datatype CDATA #IMPLIED
    usagecount CDATA #IMPLIED lastusagedate CDATA #IMPLIED creationtool CDATA #IMPLIED
    creationtoolversion CDATA #IMPLIED creationdate CDATA #IMPLIED creationid CDATA #IMPLIED
    changedate CDATA #IMPLIED segtype (block | paragraph | sentence | phrase) #IMPLIED
    changeid CDATA #IMPLIED o-tmf CDATA #IMPLIED srclang CDATA #IMPLIED>
<!ELEMENT tuv ((note | prop)*, seg)>
<!ATTLIST tuv
    xml:lang CDATA #REQUIRED o-encoding CDATA #IMPLIED datatype CDATA #IMPLIED
    usagecount CDATA #IMPLIED lastusagedate CDATA #IMPLIED creationtool CDATA #IMPLIED
    creationtoolversion CDATA #IMPLIED creationdate CDATA #IMPLIED creationid CDATA #IMPLIED
    changedate CDATA #IMPLIED changeid CDATA #IMPLIED o-tmf CDATA #IMPLIED>
<!ELEMENT note (#PCDATA)>
<!ATTLIST note xml:lang CDATA #IMPLIED o-encoding CDATA #IMPLIED>
<!ELEMENT prop (#PCDATA)>
<!ATTLIST prop type CDATA #REQUIRED xml:lang CDATA #IMPLIED o-encoding CDATA #IMPLIED>
<!ENTITY % text "#PCDATA | bpt | ept | ph | it | hi | ut">
<!ELEMENT seg (%text;)*>
<!ELEMENT hi (%text;)*>
<!ATTLIST hi x CDATA #IMPLIED type CDATA #IMPLIED>
<!ELEMENT sub (%text;)*>
<!ATTLIST sub datatype CDATA #IMPLIED type CDATA #IMPLIED>
<!ELEMENT bpt (#PCDATA | sub)*>
<!ATTLIST bpt i CDATA #REQUIRED x CDATA #IMPLIED type CDATA #IMPLIED>
<!ELEMENT ept (#PCDATA | sub)*>
<!ATTLIST ept i CDATA #REQUIRED>
<!ELEMENT ph (#PCDATA | sub)*>
<!ATTLIST ph x CDATA #IMPLIED assoc CDATA #IMPLIED type CDATA #IMPLIED>
<!ELEMENT it (#PCDATA | sub)*>
<!ATTLIST it pos (begin | end) #REQUIRED x CDATA #IMPLIED type CDATA #IMPLIED>
<!ELEMENT ut (#PCDATA | sub)*>
<!ATTLIST ut x CDATA #IMPLIED>
"""

INLINE = st.recursive(
    st.sampled_from(["a", " ", "&lt;", "<![CDATA[<]]>", "<x/>", "<ph/>"]),
    lambda inner: st.builds(
        lambda tag, parts: f"<{tag}>{''.join(parts)}</{tag.split()[0]}>",
        st.sampled_from(
            ["hi", "hi type='b'", "bpt i='1'", "bpt", "ept i='1'", "ph", "ph x='1' id='2'", "sub",
             "it pos='begin'", "it pos='x'", "ut", "g id='3'", "t5:n", "sub datatype='html'"]
        ),
        st.lists(inner, max_size=3),
    ),
    max_leaves=8,
)  # fmt: skip


@given(st.lists(ENTRIES, max_size=5), st.lists(INLINE, max_size=5))
def test_what_is_written_is_valid(
    tmp_path_factory: pytest.TempPathFactory,
    entries: list[TranslationMemoryEntry],
    segments: list[str],
) -> None:
    path = tmp_path_factory.getbasetemp() / "valid.tmx"
    path.write_text(
        document(*[f"<tu>{tuv('en', f'a{inline}')}{tuv('de', 'b')}</tu>" for inline in segments]),
        encoding="utf-8",
    )
    read = list(formats.read(path))
    assert len(read) == len(segments)
    formats.write(path, [*entries, *read])
    assert list(formats.read(path))[len(entries) :] == read
    dtd = etree.DTD(StringIO(DTD))
    assert dtd.validate(etree.parse(path)), dtd.error_log
