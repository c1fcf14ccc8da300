"""Inline markup that goes from one format into another, and back."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from diglot import TranslationMemoryEntry, formats

CODE = st.sampled_from(["", "b", "<b>", '<a href="?a&b">', "</b>\n", "\t{\\f4 "])
TEXT = st.sampled_from(["a", " ", "<", "&b", '"', "저장"]).map(escape)


def tag(name: str, attributes: str, content: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return content.map(lambda inner: f"<{name}{attributes and ' '}{attributes}>{inner}</{name}>")


def content(*parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(st.one_of(*parts), max_size=4).map("".join)


FLOWS = content(CODE.map(escape), tag("sub", "", TEXT))
INLINE = {
    "tmx": st.recursive(
        content(
            TEXT,
            tag("bpt", 'i="1" x="1" type="bold"', FLOWS),
            tag("ept", 'i="1"', FLOWS),
            tag("ph", "", FLOWS),
            tag("ph", 'x="2"', FLOWS),
            tag("it", 'pos="begin"', FLOWS),
            tag("ut", "", FLOWS),
            st.just("<ph/>"),
        ),
        lambda inner: content(TEXT, tag("hi", 'type="b"', inner)),
        max_leaves=4,
    ),
    "xliff": st.recursive(
        content(
            TEXT,
            tag("bpt", 'id="1" ctype="bold"', FLOWS),
            tag("ept", 'id="1"', FLOWS),
            tag("ph", 'id="2"', FLOWS),
            tag("it", 'id="3" pos="open"', FLOWS),
            st.sampled_from(['<x id="4"/>', '<bx id="5"/>', '<ex id="5"/>', '<ph id="6"/>']),
        ),
        lambda inner: content(TEXT, tag("g", 'id="7"', inner), tag("mrk", 'mtype="x-term"', inner)),
        max_leaves=4,
    ),
    "xliff2": st.recursive(
        content(
            TEXT,
            st.sampled_from(
                [
                    '<ph id="ph0"/>',
                    '<ph id="1" dataRef="d1" disp="&lt;br/&gt;"/>',
                    '<sc id="2" dataRef="d1"/>',
                    '<ec startRef="2" dataRef="d2"/>',
                    '<sm id="m1" type="comment"/>',
                    '<em startRef="m1"/>',
                ]
            ),
        ),
        lambda inner: content(
            TEXT,
            tag("pc", 'id="3" dataRefStart="d1" dataRefEnd="d2"', inner),
            tag("mrk", 'id="m2" type="term"', inner),
        ),
        max_leaves=4,
    ),
}
DATA = {"d1": "<b>", "d2": "</b>"}
DIRECTIONS = list(permutations(INLINE, 2))


def own(entry: TranslationMemoryEntry, form: str) -> dict[str, str]:
    return (entry.metadata or {}).get(form, {})


def entries(form: str, sources: list[str], path: Path) -> list[TranslationMemoryEntry]:
    """The entries of a file that has these texts."""
    units = {
        "tmx": '<tu><tuv xml:lang="en"><seg>x{0}</seg></tuv>'
        '<tuv xml:lang="de"><seg>{0}y</seg></tuv></tu>',
        "xliff": '<trans-unit id="u"><source>x{0}</source><target>{0}y</target></trans-unit>',
        "xliff2": '<unit id="u"><originalData><data id="d1">&lt;b&gt;</data>'
        '<data id="d2">&lt;/b&gt;</data></originalData>'
        "<segment><source>x{0}</source><target>{0}y</target></segment></unit>",
    }[form]
    whole = {
        "tmx": '<tmx version="1.4"><header srclang="en"/><body>{}</body></tmx>',
        "xliff": '<xliff version="1.2"><file source-language="en" target-language="de"><body>'
        "{}</body></file></xliff>",
        "xliff2": '<xliff version="2.1" srcLang="en" trgLang="de"><file>{}</file></xliff>',
    }[form]
    path.write_text(
        whole.format("".join(units.format(source) for source in sources)), encoding="utf-8"
    )
    return list(formats.read(path, format=form))


@pytest.mark.parametrize(("origin", "other"), DIRECTIONS)
@given(data=st.data())
def test_markup_is_kept_in_every_direction(
    tmp_path_factory: pytest.TempPathFactory, origin: str, other: str, data: st.DataObject
) -> None:
    folder = tmp_path_factory.getbasetemp()
    path, back = folder / f"there.{origin}-{other}", folder / f"back.{origin}-{other}"
    written = entries(origin, data.draw(st.lists(INLINE[origin], max_size=4)), path)

    formats.write(path, written, format=other)
    there = list(formats.read(path, format=other))
    texts = [(entry.source, entry.target) for entry in written]
    assert [(entry.source, entry.target) for entry in there] == texts
    for before, after in zip(written, there, strict=True):
        assert own(after, origin) == own(before, origin)
        # What has codes in the one has as many texts with codes in the other.
        assert {"source", "target"} & own(after, other).keys() == own(before, origin).keys() - {
            "data"
        }
    # Nothing of ours is needed to see the codes.
    segments = etree.parse(path).iter("{*}seg", "{*}source", "{*}target")
    marked = [{"source", "target"} <= own(entry, origin).keys() for entry in written]
    assert [len(segment) > 0 for segment in segments] == [has for has in marked for _ in range(2)]

    formats.write(back, there, format=origin)
    assert list(formats.read(back, format=origin)) == there


@pytest.mark.parametrize(
    ("origin", "markup", "other", "shown"),
    [
        ("xliff2", 'Select <ph id="ph0"/> File', "tmx",
         'Select <ph>&lt;ph id="ph0"/&gt;</ph> File'),
        ("xliff2", '<pc id="1" dataRefStart="d1">a</pc>b', "tmx",
         '<bpt i="1">&lt;pc id="1" dataRefStart="d1"&gt;</bpt>a<ept i="1">&lt;/pc&gt;</ept>b'),
        ("xliff2", '<sc id="1"/>a<ec startRef="1"/><cp hex="0001"/>', "tmx",
         '<ph>&lt;sc id="1"/&gt;</ph>a<ph>&lt;ec startRef="1"/&gt;</ph>\N{REPLACEMENT CHARACTER}'),
        ("tmx", 'a <bpt i="1">&lt;b&gt;</bpt>b<ept i="1">&lt;/b&gt;</ept>', "xliff2",
         'a <ph id="1" disp="&lt;bpt i=&quot;1&quot;&gt;&lt;b&gt;&lt;/bpt&gt;"/>b'
         '<ph id="2" disp="&lt;ept i=&quot;1&quot;&gt;&lt;/b&gt;&lt;/ept&gt;"/>'),
        ("tmx", '<hi type="b">a</hi>', "xliff2",
         '<pc id="1" dispStart="&lt;hi type=&quot;b&quot;&gt;" dispEnd="&lt;/hi&gt;">a</pc>'),
        ("tmx", "a<ut>x</ut>", "xliff", 'a<ph id="1">&lt;ut&gt;x&lt;/ut&gt;</ph>'),
        ("xliff", 'a<ph id="7">x</ph>', "xliff2",
         'a<ph id="1" disp="&lt;ph id=&quot;7&quot;&gt;x&lt;/ph&gt;"/>'),
    ],
)  # fmt: skip
def test_what_markup_becomes(
    tmp_path: Path, origin: str, markup: str, other: str, shown: str
) -> None:
    [entry] = entries(origin, [markup], tmp_path / "a")
    formats.write(tmp_path / "b", [entry], format=other)
    [there] = formats.read(tmp_path / "b", format=other)
    assert own(there, other)["target"] == f"{shown}y"
    # The text is exact even where XML cannot hold it.
    assert (there.source, there.target) == (entry.source, entry.target)
