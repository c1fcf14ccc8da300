"""XML files that were made to do harm: bounded time and memory, and a clear error."""

from __future__ import annotations

import gzip
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from diglot import FormatError, formats

MEMORY = b'<tmx version="1.4"><header srclang="en"/><body>\n'
UNIT = b'<tu><tuv xml:lang="en"><seg>%s</seg></tuv><tuv xml:lang="de"><seg>b</seg></tuv></tu>\n'
TAIL = b"</body></tmx>"

MIB = 1 << 20


def packed(path: Path, *parts: bytes | tuple[bytes, int]) -> Path:
    """Writes a gzip file of several members: bytes, and bytes repeated up to so many MiB."""
    with path.open("wb") as out:
        for part in parts:
            data, times = (part, 1) if isinstance(part, bytes) else part
            block = data if isinstance(part, bytes) else data * (MIB // len(data))
            member = gzip.compress(block)
            for _ in range(times):
                out.write(member)
    return path


def read_apart(path: Path) -> tuple[str, int]:
    """What reading says, and the most MiB of memory that it took, in a process of its own."""
    script = (
        "import resource, sys\n"
        "from diglot import FormatError, formats\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))\n"
        "try:\n"
        "    skipped = [str(i) for i in formats.read(sys.argv[1])"
        " if isinstance(i, formats.SkippedUnit)]\n"
        "    said = skipped[0] if skipped else 'read'\n"
        "except FormatError as error:\n"
        "    said = str(error)\n"
        "status = open('/proc/self/status').read()\n"
        "print(int(status.partition('VmHWM:')[2].split()[0]) // 1024, said)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    used, said = done.stdout.split(maxsplit=1)
    return said.strip(), int(used)


def items(path: Path) -> list[Any]:
    return list(formats.read(path))


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        # A gigabyte of nesting ends at the 257th level.
        ([MEMORY, b"<tu>", (b"<a>", 1024)], "nested more than the 256 levels"),
        # One text, one attribute, one comment and one tag name, each a gigabyte long.
        ([MEMORY, b"<tu><tuv><seg>", (b"a", 1024)], "a unit has more than the 67108864 bytes"),
        ([MEMORY, b"<tu tuid='", (b"a", 1024)], "has more than the 67108864 bytes"),
        ([MEMORY, b"<!--", (b"a", 1024)], "has more than the 67108864 bytes"),
        ([b"<", (b"a", 1024)], "the beginning of the file has more than the 67108864 bytes"),
        ([b"<!DOCTYPE tmx [", (b"<!ENTITY a 'b'>", 256)], "the beginning of the file has more"),
        ([MEMORY, b"<tu>", (b"<note/>", 80)], "a unit has more than"),
        ([MEMORY, b"<tu>", (b"<note/>", 8), b"</tu>", TAIL], "more than the 1024 <note>"),
        ([MEMORY, b"<tu>", (b"<tuv/>", 8), b"</tu>", TAIL], "more than the 1024 <tuv>"),
        ([MEMORY, b"<tu", (b" a=''", 8), b"/>", TAIL], "line 2: "),
    ],
    ids="nesting text value comment name doctype notes note tuv attribute".split(),
)  # fmt: skip
def test_what_unpacks_to_much_takes_little(tmp_path: Path, parts: list[Any], said: str) -> None:
    path = packed(tmp_path / "bomb.tmx.gz", *parts)
    message, used = read_apart(path)
    assert said in message
    # What one unit may have, a few times over.
    assert used < 450


def test_memory_is_flat_for_a_large_file(tmp_path: Path) -> None:
    path = packed(tmp_path / "large.tmx.gz", MEMORY, (UNIT % b"a" * 8, 100), TAIL)
    message, used = read_apart(path)
    assert message == "read"
    assert used < 150


def test_pairs_of_many_languages_are_bounded(tmp_path: Path) -> None:
    # A source of 8 MiB in a thousand pairs would be 8 GiB of entries.
    unit = b"<tu>" + (UNIT % (b"a" * (8 * MIB)))[4:-6] + b"".join(
        b'<tuv xml:lang="x%d"><seg>b</seg></tuv>' % number for number in range(1000)
    )  # fmt: skip
    path = packed(tmp_path / "many.tmx.gz", MEMORY, unit, b"</tu>", TAIL)
    read = items(path)
    assert len(read) == 8
    assert read[-1].code == "unit_too_large"


@pytest.mark.parametrize(
    "doctype",
    [
        # A billion laughs, and a quadratic one.
        "<!DOCTYPE tmx [<!ENTITY a 'ha'>"
        + "".join(
            f"<!ENTITY {name} '{('&' + chr(ord(name) - 1) + ';') * 10}'>" for name in "bcdefghij"
        )
        + "]>",
        "<!DOCTYPE tmx [<!ENTITY j '" + "a" * 100_000 + "'>]>",
        # Other files.
        "<!DOCTYPE tmx [<!ENTITY j SYSTEM 'file:///etc/passwd'>]>",
        "<!DOCTYPE tmx SYSTEM 'http://127.0.0.1:1/tmx14.dtd' [<!ENTITY % p SYSTEM "
        "'file:///etc/passwd'> %p; <!ENTITY j PUBLIC 'x' 'http://127.0.0.1:1/'>]>",
    ],
    ids=["laughs", "long", "file", "parameter"],
)
def test_entities_are_not_expanded(tmp_path: Path, doctype: str) -> None:
    path = tmp_path / "entities.tmx"
    units = [UNIT % b"good", UNIT % b"&j;&j;", UNIT % b'<hi x="&j;">a</hi>', UNIT % b"good"]
    path.write_bytes(doctype.encode() + MEMORY + b"".join(units) + TAIL)
    first, *skipped, last = items(path)
    assert (first.source, last.source) == ("good", "good")
    assert [unit.code for unit in skipped] == ["undefined_entity", "invalid_reference"]


def cuts(data: bytes) -> Iterator[tuple[int, bytes]]:
    return ((length, data[:length]) for length in range(len(data)))


SMALL = {
    "tmx": (MEMORY + UNIT % b"<ph x='1'>&lt;</ph>a&#62;").replace(b"\n", b"<!-- c -->") + TAIL,
    "xlf": b'<?xml version="1.0"?><xliff version="1.2"><file source-language="en"><body>'
    b'<trans-unit id="1"><source><g id="1">a</g></source><target><![CDATA[b]]></target>'
    b"</trans-unit></body></file></xliff>",
}  # fmt: skip


@pytest.mark.parametrize("codec", ["utf-8", "utf-16"])
@pytest.mark.parametrize("ending", SMALL)
def test_a_file_that_was_cut_off_is_an_error(tmp_path: Path, ending: str, codec: str) -> None:
    data = SMALL[ending].decode().encode(codec)
    path = tmp_path / f"cut.{ending}"
    path.write_bytes(data)
    assert [item.target for item in items(path)] == ["b"]
    for length, part in cuts(data):
        path.write_bytes(part)
        with pytest.raises(FormatError) as caught:
            items(path)
        assert caught.value.line == 1, length


@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_compressed_data_that_was_cut_off_is_an_error(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"cut.tmx.{ending}"
    entries = [item for item in items_of(tmp_path) for _ in range(50)]
    formats.write(path, entries)
    data = path.read_bytes()
    for length, part in cuts(data):
        path.write_bytes(part)
        with pytest.raises(FormatError):
            items(path)
        assert length < len(data)


def items_of(tmp_path: Path) -> list[Any]:
    path = tmp_path / "small.tmx"
    path.write_bytes(SMALL["tmx"])
    return items(path)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "an empty file"),
        (b" \n ", "nothing but white space"),
        (b"PK\x03\x04 and so on", "a ZIP archive"),
        (b"<!DOCTYPE html><html><body>404</body></html>", "<html>; that of TMX is <tmx>"),
        (b"<html>\n<br>\n</html>", "<html>; that of TMX is <tmx>"),
        (b'{"source": "a"}', "looks like JSON"),
        (b"SQLite format 3\0", "an SQLite database"),
        (b"%PDF-1.7", "a PDF document"),
        (b"just text", "begins with <"),
        (b"<xliff version='1.2'/>", "the root element is <xliff>; that of TMX is <tmx>"),
        (b"<tmx><body></tmx>", "expected `</body>`, but `</tmx>` was found"),
        (b"<tmx/><tmx/>", "second root element"),
        (b"<tmx/>\0", "text outside of the root"),
        (b"<tmx/><![CDATA[a]]>", "text outside of the root"),
        (b"<tmx/>&amp;", "text outside of the root"),
        (b"<tmx><body><tu", "the XML is not well-formed"),
        (b"<!-- nothing -->", "there is no element"),
        (b"\x1f\x8b\x08 broken", "the compressed data is damaged"),
    ],
)
def test_what_a_file_is_instead_is_said(tmp_path: Path, data: bytes, said: str) -> None:
    path = tmp_path / "other.tmx"
    path.write_bytes(data)
    with pytest.raises(FormatError) as caught:
        items(path)
    assert said in str(caught.value)
    assert caught.value.path == str(path)


def test_a_bomb_in_a_property_of_ours_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "ours.tmx"
    deep = b'{"metadata":{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}}"
    others = [b"5", b"[]", b'{"source":5}', b'{"metadata":5}', b"{", b'{"metadata":{"a":1e999}}',
              b'{"source":"\\ud800"}', deep]  # fmt: skip
    units = [
        UNIT.replace(b"<tu>", b'<tu><prop type="x-diglot">' + other + b"</prop>") % b"a"
        for other in others
    ]
    path.write_bytes(MEMORY + b"".join(units) + TAIL)
    assert [(item.source, item.metadata) for item in items(path)] == [("a", None)] * len(others)


def test_messages_are_short(tmp_path: Path) -> None:
    path = tmp_path / "names.tmx"
    path.write_bytes(MEMORY + b"<" + b"a" * MIB + b"></b>")
    with pytest.raises(FormatError) as caught:
        items(path)
    assert len(str(caught.value)) < 1000
