"""XLIFF 1 and 2: what is read of a unit, what is left out and why, and what is written."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from diglot import InvalidValueError, TranslationMemoryEntry, formats
from random_entries import FULL, JSON, METADATA, TEXTS, TIMES

FIRST = (
    '<xliff version="1.2"><file original="a.txt" source-language="en" target-language="de">'
    "<body>\n{}</body></file></xliff>"
)
SECOND = (
    '<xliff version="2.1" srcLang="en" trgLang="de"><file id="f" original="a.txt">\n{}'
    "</file></xliff>"
)
NAMESPACE_2 = "urn:oasis:names:tc:xliff:document:2.0"
UNIT_1 = '<trans-unit id="{}"{}>{}</trans-unit>\n'
UNIT_2 = '<unit id="{}"{}>{}</unit>\n'


@pytest.fixture
def read(tmp_path: Path) -> Any:
    """Reads a document; entries and skipped units are told apart."""

    def read(text: str, **options: Any) -> tuple[list[Any], list[Any]]:
        path = tmp_path / "file.xlf"
        path.write_text(text, encoding="utf-8")
        items = list(formats.read(path, **options))
        return (
            [item for item in items if not isinstance(item, formats.SkippedUnit)],
            [item for item in items if isinstance(item, formats.SkippedUnit)],
        )

    return read


def first(content: str, attributes: str = "") -> str:
    return FIRST.format(UNIT_1.format("u", attributes, content))


def second(content: str, attributes: str = "") -> str:
    return SECOND.format(UNIT_2.format("u", attributes, content))


PAIR = "<source>a</source><target>b</target>"


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        (first("<source>a</source>"), "untranslated", "no target"),
        (first("<source>a</source><target/>"), "untranslated", "target is empty"),
        (first("<source>a</source><target> </target>"), "untranslated", "target is empty"),
        (first("<source/><target>b</target>"), "empty_text", "source is empty"),
        (first("<target>b</target>"), "missing_source", "no source"),
        (first(PAIR, ' translate="no"'), "not_translatable", 'translate="no"'),
        (first(PAIR.replace("<target", '<target state="new"')), "untranslated", 'state="new"'),
        (first("<note>n</note>" * 4097 + PAIR), "unit_too_large", "more than the 4096"),
        (
            first(PAIR.replace("<target", '<target state="needs-translation"')),
            "untranslated",
            'state="needs-translation"',
        ),
        (first("<source>&x;</source><target>b</target>"), "undefined_entity", "&x;"),
        (first("<source>a</source><target>&#2;</target>"), "invalid_character", "U+0002"),
        (first("<note>&x;</note>" + PAIR), "undefined_entity", "&x;"),
        (second(""), "missing_segment", "no segment"),
        (second("<segment><source>a</source></segment>"), "untranslated", "no target"),
        (
            second('<segment state="initial"><source>a</source><target>b</target></segment>'),
            "untranslated",
            'state="initial"',
        ),
        (
            second("<segment><source>a<cp/></source><target>b</target></segment>"),
            "invalid_character",
            "<cp>",
        ),
        (second(f"<segment>{PAIR}</segment>", ' translate="no"'), "not_translatable", "translate"),
    ],
)
def test_a_unit_that_is_left_out(read: Any, text: str, code: str, said: str) -> None:
    entries, [skipped] = read(text)
    assert entries == []
    assert (skipped.line, skipped.unit, skipped.code) == (2, "u", code)
    assert said in skipped.reason


def test_translate_is_inherited(read: Any) -> None:
    units = [UNIT_1.format(number, "", PAIR) for number in range(4)]
    yes = UNIT_1.format("y", ' translate="yes"', PAIR)
    text = FIRST.format(
        f'{units[0]}<group translate="no">{units[1]}{yes}<group translate="yes">{units[2]}</group>'
        f"</group>{units[3]}"
    )
    entries, skipped = read(text)
    assert [entry.source_id for entry in entries] == ["0", "y", "2", "3"]
    assert [unit.unit for unit in skipped] == ["1"]


def test_each_file_has_its_languages(read: Any) -> None:
    other = FIRST.format(UNIT_1.format("2", "", PAIR)).replace("en", "fr").partition(">")[2]
    text = FIRST.format(UNIT_1.format("1", "", PAIR)).replace("</xliff>", "") + other
    entries, _ = read(text)
    assert [(e.source_language, e.target_language) for e in entries] == [("en", "de"), ("fr", "de")]
    assert [e.source_language for e in read(text, source_language="fr")[0]] == ["fr"]
    entries, skipped = read(text, target_languages=["ko"])
    assert (entries, [unit.code for unit in skipped]) == ([], ["missing_target"] * 2)


def test_a_file_has_nothing_of_the_one_before(read: Any) -> None:
    bare = '<file source-language="en"><body>{}</body></file></xliff>'
    text = first(PAIR).replace("</xliff>", "") + bare.format(UNIT_1.format("2", "", PAIR))
    named, unnamed = read(text)[0]
    assert (named.target_language, named.metadata) == ("de", {"xliff": {"file": "a.txt"}})
    assert (unnamed.target_language, unnamed.metadata) == (None, None)
    # The languages of the second version are those of all its files.
    text = second(f"<segment>{PAIR}</segment>").replace(
        "</xliff>", f'<file id="g"><unit id="2"><segment>{PAIR}</segment></unit></file></xliff>'
    )
    named, unnamed = read(text)[0]
    assert (named.target_language, named.metadata) == ("de", {"xliff2": {"file": "a.txt"}})
    assert (unnamed.target_language, unnamed.metadata) == ("de", None)


def test_of_two_texts_the_first_counts(read: Any) -> None:
    twice = PAIR + PAIR.replace(">a<", ">c<").replace(">b<", ">d<")
    for text in (first(twice), second(f"<segment>{twice}</segment>")):
        [entry], skipped = read(text)
        assert (entry.source, entry.target, skipped) == ("a", "b", [])


def test_a_segment_in_a_segment_is_none(read: Any) -> None:
    inner = "<segment><source>c</source><target>d</target></segment>"
    entries, skipped = read(second(f"<segment>{inner}{PAIR}</segment><segment>{PAIR}</segment>"))
    assert [(e.source, e.target) for e in entries] == [("a", "b")] * 2
    assert skipped == []


def test_what_was_written_for_a_pair_is_not_taken_for_more(read: Any) -> None:
    rest = '<diglot:entry>{"metadata":{"k":1}}</diglot:entry>'
    segment = f"<segment>{PAIR}</segment>"
    assert [e.metadata["k"] for e in read(second(rest + segment))[0]] == [1]
    both, _ = read(second(rest + segment * 2))
    assert [e.metadata for e in both] == [{"xliff2": {"file": "a.txt"}}] * 2


def test_texts_may_say_their_own_language(read: Any) -> None:
    [entry], _ = read(
        first('<source xml:lang="en-GB">a</source><target xml:lang="de-AT">b</target>')
    )
    assert (entry.source_language, entry.target_language) == ("en-GB", "de-AT")


def test_a_file_without_a_target_language_is_in_the_one_that_is_wanted(read: Any) -> None:
    text = first(PAIR).replace(' target-language="de"', "")
    assert read(text)[0][0].target_language is None
    assert read(text, target_languages=["ko"])[0][0].target_language == "ko"


def test_segments_are_paired_by_their_numbers(read: Any) -> None:
    mrk = '<mrk mtype="seg" mid="{}">{}</mrk>'
    sources = " ".join(mrk.format(n, f"source {n}") for n in range(4))
    targets = " ".join(mrk.format(n, text) for n, text in [(2, "two"), (0, "zero"), (3, " ")])
    entries, skipped = read(
        first(
            f"<source>all</source><seg-source><g id='1'>{sources}</g></seg-source>"
            f"<target>{targets}</target>"
        )
    )
    assert [(e.source, e.target, e.metadata["xliff"]["segment"]) for e in entries] == [
        ("source 0", "zero", "0"),
        ("source 2", "two", "2"),
    ]
    assert [unit.reason for unit in skipped] == [
        "its segment 1 has no target",
        "the target of its segment 3 is empty",
    ]


def test_what_a_unit_says_besides(read: Any) -> None:
    [entry], _ = read(
        first(
            '<source>a</source><target state="final" state-qualifier="exact-match">b</target>'
            "<note>one</note><alt-trans><source>no</source><target>no</target></alt-trans>"
            "<note>two</note>",
            ' resname="key" approved="yes"',
        )
    )
    assert entry == TranslationMemoryEntry(
        "a",
        "b",
        "en",
        "de",
        source_id="key",
        notes="one\ntwo",
        metadata={
            "xliff": {
                "file": "a.txt",
                "state": "final",
                "state-qualifier": "exact-match",
                "approved": "yes",
            }
        },
    )


def test_what_a_unit_of_the_second_version_says_besides(read: Any) -> None:
    [entry], _ = read(
        second(
            "<mtc:matches><mtc:match><source>no</source><target>no</target></mtc:match>"
            "</mtc:matches><notes><note>one</note></notes>"
            '<originalData><data id="d">&lt;br></data></originalData>'
            '<segment id="s" state="reviewed" subState="x:y">'
            '<source>a<ph id="1" dataRef="d" fs:fs="br"/>c</source><target>b</target></segment>'
            "<ignorable><source> </source></ignorable>",
            ' name="key"',
        )
    )
    assert entry == TranslationMemoryEntry(
        "ac",
        "b",
        "en",
        "de",
        source_id="key",
        notes="one",
        metadata={
            "xliff2": {
                "file": "a.txt",
                "segment": "s",
                "state": "reviewed",
                "subState": "x:y",
                "source": 'a<ph id="1" dataRef="d"/>c',
                "data": {"d": "<br>"},
            }
        },
    )


@pytest.mark.parametrize(
    ("content", "text", "kept"),
    [
        ("<g id='1'>a</g>b", "ab", '<g id="1">a</g>b'),
        ("<x id='1'/>a<bx id='2' rid='3'/>", "a", '<x id="1"/>a<bx id="2" rid="3"/>'),
        ("<ph id='1'>&lt;br></ph>a", "a", '<ph id="1">&lt;br&gt;</ph>a'),
        ("<mrk mtype='term'>a</mrk>", "a", '<mrk mtype="term">a</mrk>'),
        ("<g id='1' x:y='z'>a</g>", "a", '<g id="1">a</g>'),
        # What XLIFF does not have is code.
        ("<b>a</b><br/>", "a",
         '<bpt id="1">&lt;b&gt;</bpt>a<ept id="1">&lt;/b&gt;</ept><ph id="2">&lt;br/&gt;</ph>'),
        ("<ph>x</ph>a", "a", '<ph id="1">&lt;ph&gt;x&lt;/ph&gt;</ph>a'),
        ("<x id='1'></x>a<x id='2'>b</x>c", "abc", '<x id="1"/>a<x id="2"/>bc'),
        ("<x id='1' clone='?'/>a", "a", '<ph id="1">&lt;x id=\'1\' clone=\'?\'/&gt;</ph>a'),
    ],
)  # fmt: skip
def test_the_text_is_plain_and_the_markup_is_kept(
    read: Any, content: str, text: str, kept: str
) -> None:
    [entry], _ = read(first(f"<source>{content}</source><target>b</target>"))
    assert (entry.source, entry.metadata["xliff"]["source"]) == (text, kept)


@pytest.mark.parametrize(
    ("content", "text", "kept"),
    [
        ("<pc id='1'>a</pc>b", "ab", '<pc id="1">a</pc>b'),
        ("<sc id='1'/>a<ec startRef='1'/>", "a", '<sc id="1"/>a<ec startRef="1"/>'),
        ("<b>a</b><br/>", "a",
         '<pc id="1" dispStart="&lt;b&gt;" dispEnd="&lt;/b&gt;">a</pc>'
         '<ph id="2" disp="&lt;br/&gt;"/>'),
        ("<ph id='1' canCopy='?'/>a", "a",
         '<ph id="1" disp="&lt;ph id=\'1\' canCopy=\'?\'/&gt;"/>a'),
        ("a<cp hex='000B'/>b", "a\x0bb", None),
        ("a<cp hex='000B'/><ph id='1'/>", "a\x0b", 'a<cp hex="000B"/><ph id="1"/>'),
    ],
)  # fmt: skip
def test_the_markup_of_the_second_version(
    read: Any, content: str, text: str, kept: str | None
) -> None:
    [entry], _ = read(second(f"<segment><source>{content}</source><target>b</target></segment>"))
    assert (entry.source, entry.metadata["xliff2"].get("source")) == (text, kept)


ENTRY = TranslationMemoryEntry(
    "Save <1> & close",
    "저장",
    source_language="en",
    target_language="ko",
    domain="ui",
    source_id="a.b",
    created_at="2024",
    notes="for people",
    metadata={"score": 1},
)


def test_what_is_written_in_the_first_version(tmp_path: Path) -> None:
    path = tmp_path / "out.xlf"
    marked = TranslationMemoryEntry(
        "a b", "c", "en", "ko",
        metadata={"xliff": {"file": "f", "state": "final", "source": '<g id="1">a</g> b'}},
    )  # fmt: skip
    assert formats.write(path, [ENTRY, marked]) == []
    assert (
        path.read_text(encoding="utf-8")
        == """\
<?xml version="1.0" encoding="UTF-8"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2" xmlns:diglot="urn:diglot">
<file original="" source-language="en" target-language="ko" datatype="plaintext">
<body>
<trans-unit id="1" resname="a.b" xml:space="preserve">
<source>Save &lt;1&gt; &amp; close</source>
<target>저장</target>
<note>for people</note>
<diglot:entry>{"domain":"ui","created_at":"2024","metadata":{"score":1}}</diglot:entry>
</trans-unit>
</body>
</file>
<file original="f" source-language="en" target-language="ko" datatype="plaintext">
<body>
<trans-unit id="2" xml:space="preserve">
<source><g id="1">a</g> b</source>
<target state="final">c</target>
<diglot:entry>{"source_id":null}</diglot:entry>
</trans-unit>
</body>
</file>
</xliff>
"""
    )
    assert list(formats.read(path)) == [ENTRY, marked]


def test_what_is_written_in_the_second_version(tmp_path: Path) -> None:
    path = tmp_path / "out.xlf"
    marked = TranslationMemoryEntry(
        "a b", "c", "en", "ko", source_id="k",
        metadata={
            "xliff2": {
                "state": "final", "segment": "s", "source": '<ph id="1" dataRef="d"/>a b',
                "data": {"d": "<br>"},
            }
        },
    )  # fmt: skip
    assert formats.write(path, [ENTRY, marked], format="xliff2") == []
    assert (
        path.read_text(encoding="utf-8")
        == """\
<?xml version="1.0" encoding="UTF-8"?>
<xliff version="2.1" xmlns="urn:oasis:names:tc:xliff:document:2.0" xmlns:diglot="urn:diglot" \
srcLang="en" trgLang="ko">
<file id="f1">
<unit id="1" name="a.b" xml:space="preserve">
<diglot:entry>{"domain":"ui","created_at":"2024","metadata":{"score":1}}</diglot:entry>
<notes><note>for people</note></notes>
<segment>
<source>Save &lt;1&gt; &amp; close</source>
<target>저장</target>
</segment>
</unit>
<unit id="2" name="k" xml:space="preserve">
<originalData><data id="d">&lt;br&gt;</data></originalData>
<segment id="s" state="final">
<source><ph id="1" dataRef="d"/>a b</source>
<target>c</target>
</segment>
</unit>
</file>
</xliff>
"""
    )
    assert list(formats.read(path)) == [ENTRY, marked]


def test_the_second_version_is_in_one_pair_of_languages(tmp_path: Path) -> None:
    path = tmp_path / "out.xlf"
    other = TranslationMemoryEntry("a", "b", "en", "de", source_id="other")
    [skipped] = formats.write(path, [ENTRY, other, ENTRY], format="xliff2")
    assert list(formats.read(path)) == [ENTRY, ENTRY]
    assert (skipped.line, skipped.unit, skipped.code) == (2, "other", "other_language")
    assert "its target is in de; the file is in ko" in skipped.reason
    skipped_too = formats.write(
        path, [ENTRY, other], format="xliff2", source_language="en", target_languages=["de"]
    )
    assert [unit.unit for unit in skipped_too] == ["a.b"]
    assert list(formats.read(path)) == [other]
    with pytest.raises(InvalidValueError, match="one target language"):
        formats.write(path, [], format="xliff2", target_languages=["de", "fr"])
    with pytest.raises(InvalidValueError, match="parts say which languages"):
        formats.write(path, [], source_language="en")


@pytest.mark.parametrize("form", ["xliff", "xliff2"])
def test_no_entries_are_a_file_all_the_same(tmp_path: Path, form: str) -> None:
    path = tmp_path / "out.xlf"
    assert formats.write(path, [], format=form) == []
    assert list(formats.read(path)) == []
    # A `file` of the second version has to have something in it.
    assert [len(file) for file in etree.parse(path).getroot()] == [1]


@pytest.mark.parametrize("form", ["tmx", "xliff", "xliff2"])
def test_languages_are_written_as_xml_has_them(tmp_path: Path, form: str) -> None:
    path = tmp_path / f"out.{form}"
    entry = TranslationMemoryEntry("a", "b", "en_US", "zh_Hant_TW")
    again = TranslationMemoryEntry("c", "d", "en-US", "zh-Hant-TW")
    small = TranslationMemoryEntry("e", "f", "en-us", "zh-hant_tw")
    options: Any = {
        "tmx": {"source_language": "en_US"},
        "xliff": {},
        "xliff2": {"source_language": "en_US", "target_languages": "zh_Hant_TW"},
    }[form]
    assert formats.write(path, [entry, again, small], format=form, **options) == []
    places = ["xml:lang", "srclang", "source-language", "target-language", "srcLang", "trgLang"]
    languages = etree.parse(path).xpath(" | ".join(f"//@{place}" for place in places))
    of_the_third = set() if form == "xliff2" else {"en-us", "zh-hant-tw"}
    assert set(languages) == {"en-US", "zh-Hant-TW"} | of_the_third
    assert list(formats.read(path, format=form)) == [entry, again, small]


def test_markup_goes_from_one_format_into_another(tmp_path: Path) -> None:
    entry = TranslationMemoryEntry(
        "a b", "c", "en", "ko", source_id="k", metadata={"tmx": {"source": "<hi>a</hi> b"}}
    )
    formats.write(tmp_path / "a.xlf", [entry])
    [first] = formats.read(tmp_path / "a.xlf")
    coded = '<bpt id="1">&lt;hi&gt;</bpt>a<ept id="1">&lt;/hi&gt;</ept> b'
    assert first.metadata == {"tmx": {"source": "<hi>a</hi> b"}, "xliff": {"source": coded}}
    # Back in TMX it is what it was.
    formats.write(tmp_path / "a.tmx", [first])
    assert list(formats.read(tmp_path / "a.tmx")) == [first]
    assert "<seg><hi>a</hi> b</seg>" in (tmp_path / "a.tmx").read_text(encoding="utf-8")


PARTS = st.fixed_dictionaries(
    {},
    optional={
        "source": st.sampled_from(["x", '<g id="1">x</g>', '<pc id="1">x</pc>', "<b/>x", "<g>"]),
        "target": JSON,
        "file": TEXTS,
        "segment": TEXTS | st.just("s1"),
        "state": st.sampled_from(["new", "initial", "final", "x-y", "x-a b", "a\x01"]),
        "state-qualifier": st.sampled_from(["exact-match", "other"]) | JSON,
        "subState": st.sampled_from(["a:b", "a b:c", "c"]),
        "approved": st.sampled_from(["yes", "no", "perhaps"]),
        "data": st.dictionaries(st.sampled_from(["d", "e f", ""]), TEXTS, max_size=2) | JSON,
        "other": JSON,
    },
)


def entries(form: str) -> st.SearchStrategy[TranslationMemoryEntry]:
    return st.builds(
        TranslationMemoryEntry,
        FULL,
        FULL,
        source_language=st.sampled_from([None, "", "en", "x\x01"]) if form == "xliff"
        else st.just("en"),
        target_language=st.sampled_from([None, "ko", "und"]) if form == "xliff" else st.just("ko"),
        domain=st.none() | TEXTS,
        namespace=st.none() | TEXTS,
        source_id=st.none() | TEXTS,
        created_at=st.none() | TIMES,
        notes=st.none() | TEXTS,
        metadata=METADATA.filter(lambda metadata: "tmx" not in (metadata or {}))
        | st.builds(lambda parts: {form: parts}, PARTS),
    )  # fmt: skip


def canonical(entry: TranslationMemoryEntry, form: str) -> TranslationMemoryEntry:
    """The entry with its markup spelled as it is written."""
    values = entry.to_dict()
    own = values.get("metadata", {}).get(form)
    spelled = {
        "xliff": {
            "<b/>x": '<ph id="1">&lt;b/&gt;</ph>x',
            '<pc id="1">x</pc>': '<bpt id="1">&lt;pc id="1"&gt;</bpt>x'
            '<ept id="1">&lt;/pc&gt;</ept>',
        },
        "xliff2": {
            "<b/>x": '<ph id="1" disp="&lt;b/&gt;"/>x',
            '<g id="1">x</g>': '<pc id="1" dispStart="&lt;g id=&quot;1&quot;&gt;" '
            'dispEnd="&lt;/g&gt;">x</pc>',
        },
    }
    if isinstance(own, dict) and values["source"] == "x":
        own["source"] = spelled[form].get(own.get("source"), own.get("source"))
        if own["source"] is None:
            del own["source"]
    return TranslationMemoryEntry.from_dict(values)


@pytest.mark.parametrize("form", ["xliff", "xliff2"])
@given(data=st.data())
def test_entries_come_back_from_a_file(
    tmp_path_factory: pytest.TempPathFactory, form: str, data: st.DataObject
) -> None:
    written = data.draw(st.lists(entries(form), max_size=5))
    path = tmp_path_factory.getbasetemp() / f"round-trip.{form}"
    assert formats.write(path, written, format=form) == []
    assert list(formats.read(path, format=form)) == [canonical(entry, form) for entry in written]
    etree.parse(path)


# What XLIFF says of its elements, as far as the writers have them.
DTDS = {
    "xliff": """
<!ELEMENT xliff (file+)>
<!ATTLIST xliff version (1.2) #REQUIRED xmlns CDATA #REQUIRED xmlns:diglot CDATA #REQUIRED>
<!ELEMENT file (body)>
<!ATTLIST file
    original CDATA #REQUIRED source-language CDATA #REQUIRED target-language CDATA #REQUIRED
    datatype (plaintext) #REQUIRED>
<!ELEMENT body (trans-unit*)>
<!ELEMENT trans-unit (source, target, note?, diglot:entry?)>
<!ATTLIST trans-unit
    id NMTOKEN #REQUIRED resname CDATA #IMPLIED approved (yes | no) #IMPLIED
    xml:space (preserve) #REQUIRED>
<!ELEMENT note (#PCDATA)>
<!ELEMENT diglot:entry (#PCDATA)>
<!ENTITY % text "#PCDATA | g | mrk | x | bx | ex | ph | it | bpt | ept">
<!ELEMENT source (%text;)*>
<!ELEMENT target (%text;)*>
<!ATTLIST target state NMTOKEN #IMPLIED state-qualifier NMTOKEN #IMPLIED>
<!ENTITY % code "id CDATA #REQUIRED ctype CDATA #IMPLIED equiv-text CDATA #IMPLIED">
<!ELEMENT g (%text;)*>
<!ATTLIST g %code; clone (yes | no) #IMPLIED>
<!ELEMENT mrk (%text;)*>
<!ATTLIST mrk mtype NMTOKEN #REQUIRED mid NMTOKEN #IMPLIED>
<!ELEMENT x EMPTY>
<!ATTLIST x %code; clone (yes | no) #IMPLIED>
<!ELEMENT bx EMPTY>
<!ATTLIST bx %code; rid NMTOKEN #IMPLIED clone (yes | no) #IMPLIED>
<!ELEMENT ex EMPTY>
<!ATTLIST ex id CDATA #REQUIRED rid NMTOKEN #IMPLIED>
<!ELEMENT ph (#PCDATA | sub)*>
<!ATTLIST ph %code; assoc (preceding | following | both) #IMPLIED>
<!ELEMENT it (#PCDATA | sub)*>
<!ATTLIST it %code; pos (open | close) #REQUIRED rid NMTOKEN #IMPLIED>
<!ELEMENT bpt (#PCDATA | sub)*>
<!ATTLIST bpt %code; rid NMTOKEN #IMPLIED>
<!ELEMENT ept (#PCDATA | sub)*>
<!ATTLIST ept id CDATA #REQUIRED rid NMTOKEN #IMPLIED>
<!ELEMENT sub (%text;)*>
""",
    "xliff2": """
<!ELEMENT xliff (file+)>
<!ATTLIST xliff
    version (2.1) #REQUIRED xmlns CDATA #REQUIRED xmlns:diglot CDATA #REQUIRED
    srcLang NMTOKEN #REQUIRED trgLang NMTOKEN #REQUIRED>
<!ELEMENT file (unit | group)+>
<!ATTLIST file id NMTOKEN #REQUIRED original CDATA #IMPLIED>
<!ELEMENT group EMPTY>
<!ATTLIST group id NMTOKEN #REQUIRED>
<!ELEMENT unit (diglot:entry?, notes?, originalData?, segment)>
<!ATTLIST unit id NMTOKEN #REQUIRED name CDATA #IMPLIED xml:space (preserve) #REQUIRED>
<!ELEMENT diglot:entry (#PCDATA)>
<!ELEMENT notes (note+)>
<!ELEMENT note (#PCDATA)>
<!ELEMENT originalData (data+)>
<!ELEMENT data (#PCDATA | cp)*>
<!ATTLIST data id NMTOKEN #REQUIRED>
<!ELEMENT segment (source, target)>
<!ATTLIST segment
    id NMTOKEN #IMPLIED state (translated | reviewed | final) #IMPLIED subState NMTOKEN #IMPLIED>
<!ENTITY % text "#PCDATA | cp | ph | pc | sc | ec | mrk | sm | em">
<!ELEMENT source (%text;)*>
<!ELEMENT target (%text;)*>
<!ELEMENT cp EMPTY>
<!ATTLIST cp hex NMTOKEN #REQUIRED>
<!ENTITY % edit "canCopy (yes | no) #IMPLIED canDelete (yes | no) #IMPLIED">
<!ENTITY % code "%edit; dataRef NMTOKEN #IMPLIED disp CDATA #IMPLIED isolated (yes | no) #IMPLIED">
<!ELEMENT ph EMPTY>
<!ATTLIST ph id NMTOKEN #REQUIRED %edit; dataRef NMTOKEN #IMPLIED disp CDATA #IMPLIED>
<!ELEMENT pc (%text;)*>
<!ATTLIST pc
    id NMTOKEN #REQUIRED %edit; dataRefStart NMTOKEN #IMPLIED dataRefEnd NMTOKEN #IMPLIED
    dispStart CDATA #IMPLIED dispEnd CDATA #IMPLIED>
<!ELEMENT sc EMPTY>
<!ATTLIST sc id NMTOKEN #REQUIRED %code;>
<!ELEMENT ec EMPTY>
<!ATTLIST ec id NMTOKEN #IMPLIED startRef NMTOKEN #IMPLIED %code;>
<!ELEMENT mrk (%text;)*>
<!ATTLIST mrk id NMTOKEN #REQUIRED translate (yes | no) #IMPLIED type NMTOKEN #IMPLIED>
<!ELEMENT sm EMPTY>
<!ATTLIST sm id NMTOKEN #REQUIRED translate (yes | no) #IMPLIED type NMTOKEN #IMPLIED>
<!ELEMENT em EMPTY>
<!ATTLIST em startRef NMTOKEN #REQUIRED>
""",
}
ELEMENTS = st.sampled_from(
    [
        'g id="1" clone="yes"', 'g id="1" clone="1"', 'x id="1"', 'x id="1" clone="maybe"', "x",
        'ph id="1" assoc="both"', 'ph id="1" assoc="p"', 'ph i="1"', 'it id="1" pos="open"',
        'it id="1" pos="begin"', 'mrk mtype="seg" mid="1"', "mrk", 'bpt id="1"', 'ept id="1"',
        'sub', 'pc id="1" canCopy="yes"', 'pc id="1" canCopy="1"', 'sc id="1" isolated="yes"',
        'sc id="1" isolated="1"', 'ec startRef="1"', 'mrk id="1" translate="no"',
        'sm id="1" translate=""', 'em startRef="1"', 'b class="x"', "t5:n",
    ]
)  # fmt: skip
INLINE = st.recursive(
    st.sampled_from(["a", " ", "&lt;", "<![CDATA[<]]>", "<br/>"]) | ELEMENTS.map("<{}/>".format),
    lambda inner: st.builds(
        lambda tag, parts: f"<{tag}>{''.join(parts)}</{tag.split()[0]}>",
        ELEMENTS,
        st.lists(inner, max_size=3),
    ),
    max_leaves=8,
)


@pytest.mark.parametrize("form", ["xliff", "xliff2"])
@given(data=st.data(), contents=st.lists(INLINE, max_size=5))
def test_what_is_written_is_valid(
    tmp_path_factory: pytest.TempPathFactory, form: str, data: st.DataObject, contents: list[str]
) -> None:
    path = tmp_path_factory.getbasetemp() / f"valid.{form}"
    whole, unit = {
        "xliff": (FIRST, UNIT_1.format("u", "", "<source>a{}</source><target>b</target>")),
        "xliff2": (
            SECOND,
            UNIT_2.format("u", "", "<segment><source>a{}</source><target>b</target></segment>"),
        ),
    }[form]
    path.write_text(whole.format("".join(map(unit.format, contents))), encoding="utf-8")
    read = list(formats.read(path))
    assert len(read) == len(contents)
    dtd = etree.DTD(StringIO(DTDS[form]))
    for written in (read, data.draw(st.lists(entries(form), max_size=5))):
        assert formats.write(path, written, format=form) == []
        assert dtd.validate(etree.parse(path)), dtd.error_log


@pytest.mark.parametrize(
    ("form", "own"),
    [
        ("xliff", {"approved": "perhaps"}),
        ("xliff", {"state": "new"}),
        ("xliff", {"state": "x-a b"}),
        ("xliff", {"state-qualifier": "other"}),
        ("xliff", {"source": '<g id="1">a'}),
        ("xliff2", {"state": "initial"}),
        ("xliff2", {"subState": "a:b"}),
        ("xliff2", {"segment": "a b"}),
        # Codes that nothing refers to.
        ("xliff2", {"data": {"d": "x"}}),
    ],
)
def test_what_xliff_cannot_hold_as_it_is_comes_back(tmp_path: Path, form: str, own: Any) -> None:
    path = tmp_path / f"out.{form}"
    entry = TranslationMemoryEntry("a", "b", "en", "de", source_id="u", metadata={form: own})
    assert formats.write(path, [entry], format=form) == []
    assert list(formats.read(path, format=form)) == [entry]
    document = etree.parse(path)
    dtd = etree.DTD(StringIO(DTDS[form]))
    assert dtd.validate(document), dtd.error_log
    # All of it stands in our own element.
    [rest] = document.xpath("//d:entry/text()", namespaces={"d": "urn:diglot"})
    assert json.loads(rest) == {"metadata": {form: own}}


def test_codes_are_written_if_they_can_be_referred_to(tmp_path: Path) -> None:
    path = tmp_path / "out.xliff2"
    marked = '<ph id="1" dataRef="d"/>a'
    for data, written in [({"d": "<b>"}, ["d"]), ({"d": "<b>", "e f": "x"}, [])]:
        own = {"source": marked, "data": data}
        entry = TranslationMemoryEntry("a", "b", "en", "de", metadata={"xliff2": own})
        formats.write(path, [entry], format="xliff2")
        assert list(formats.read(path)) == [entry]
        codes = etree.parse(path).xpath("//x:data/@id", namespaces={"x": NAMESPACE_2})
        assert codes == written
