"""PO, MO, tables, JSON Lines and pairs of text files from Python, on files that people have made.

The formats themselves are tested in `rust/formats/tests/text`.
"""

import os
import re
import shutil
import stat
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from diglot import FormatError, InvalidTypeError, InvalidValueError, TranslationMemoryEntry, formats

FILES = Path(__file__).parents[2] / "shared" / "corpus" / "files"

needs_files = pytest.mark.skipif(
    not FILES.is_dir(), reason=f"{FILES} is missing: files of other projects to be read"
)
needs_msgfmt = pytest.mark.skipif(
    shutil.which("msgfmt") is None, reason="msgfmt is missing: gettext has to be installed"
)

Items = tuple[list[TranslationMemoryEntry], list[formats.SkippedUnit]]


def read(path: Path, **options: Any) -> Items:
    items = list(formats.read(path, **options))
    entries = [item for item in items if isinstance(item, TranslationMemoryEntry)]
    return entries, [item for item in items if isinstance(item, formats.SkippedUnit)]


def only(kind: str, start: str) -> Path:
    (path,) = (FILES / kind).glob(f"{start}*")
    return path


# For each file: its language; how many entries; what is left out; lines of the file with the first
# thing that is left out for each reason; and some of its segments.
CATALOGS: dict[str, tuple[str | None, int, dict[str, int], dict[str, int], dict[str, str]]] = {
    "Klipper3d": (
        "it",
        55,
        {"obsolete": 5},
        {"obsolete": 337},
        {
            "Overview information": "Informazioni generali",
            "[Releases](Releases.md): The history of Klipper releases.": (
                "[Releases](Releases.md): La storia delle versioni di Klipper."
            ),
            "[CAN bus troubleshooting](CANBUS_Troubleshooting.md): Tips for troubleshooting CAN "
            "bus.": (
                "[Risoluzione problemi CAN Bus](CANBUS_Troubleshooting.md): Suggerimenti per la "
                "risoluzione di problemi del CAN Bus."
            ),
        },
    ),
    "TencentBlueKing": (
        "en",
        1077,
        {"untranslated": 1, "obsolete": 222},
        {"untranslated": 370, "obsolete": 5400},
        {
            "标准运维": "Standard OPS",
            '文件上传失败: 文件名不能包含\\/:*?"<>|等特殊字符 | process_request': (
                'Upload file failed, which name can not contain chinese or \\/:*?"<>|'
            ),
            "English": "English",
        },
    ),
    "cornch": (
        "zh-TW",
        377,
        {"untranslated": 322, "obsolete": 101},
        {"untranslated": 37, "obsolete": 493},
        {
            "Queues": "佇列 - Queue",
            "[Introduction](#introduction)": "[簡介](#introduction)",
            "Testing Job / Batch Interaction": "測試 Job 或批次行為",
        },
    ),
    "godotengine": (
        "zh-Hans",
        # 6,419 messages; 34 of them have a plural, which is the second source of its only form.
        6419 + 34,
        {"fuzzy": 1, "untranslated": 1},
        {"fuzzy": 28438, "untranslated": 3699},
        {
            "%d file conflicts with your project and won't be installed": (
                "%d 个文件与你的项目冲突，不会被安装"
            ),
            "%d files conflict with your project and won't be installed": (
                "%d 个文件与你的项目冲突，不会被安装"
            ),
            "%s can not be dropped here. Use %s to cancel.": "%s 无法在此处放置。使用 %s 取消。",
        },
    ),
    "python__python-docs-es": (
        "es",
        729,
        {"fuzzy": 137, "untranslated": 111, "obsolete": 15},
        {"fuzzy": 134, "untranslated": 493, "obsolete": 8329},
        {
            ":mod:`os` --- Miscellaneous operating system interfaces": (
                ":mod:`os` --- Interfaces misceláneas del sistema operativo"
            ),
            "**Source code:** :source:`Lib/os.py`": "**Código fuente:** :source:`Lib/os.py`",
            "Notes on the availability of these functions:": (
                "Notas sobre la disponibilidad de estas funciones:"
            ),
        },
    ),
    "python__python-docs-fr": (
        "fr",
        163,
        {"fuzzy": 12, "untranslated": 5, "obsolete": 16},
        {"fuzzy": 20, "untranslated": 673, "obsolete": 1530},
        {
            "String constants": "Chaînes constantes",
            # The spaces before the colons do not break.
            "**Source code:** :source:`Lib/string.py`": (
                "**Code source\xa0:** :source:`Lib/string.py`"
            ),
            "The constants defined in this module are:": (
                "Les constantes définies dans ce module sont\xa0:"
            ),
        },
    ),
    "python__python-docs-ko": (
        # Its header names no language.
        None,
        92,
        {"fuzzy": 24, "untranslated": 33, "obsolete": 1},
        {"fuzzy": 175, "untranslated": 343, "obsolete": 1593},
        {
            "Classes": "클래스",
            # Strings of several lines are one.
            "Classes provide a means of bundling data and functionality together.  Creating a new "
            "class creates a new *type* of object, allowing new *instances* of that type to be "
            "made.  Each class instance can have attributes attached to it for maintaining its "
            "state.  Class instances can also have methods (defined by its class) for modifying "
            "its state.": (
                "클래스는 데이터와 기능을 함께 묶는 방법을 제공합니다. 새 클래스를 만드는 것은 "
                "객체의 새 *형* 을 만들어서, 그 형의 새 *인스턴스* 를 만들 수 있도록 합니다. 각 "
                "클래스 인스턴스는 상태를 유지하기 위해 그 자신에게 첨부된 어트리뷰트를 가질 수 "
                "있습니다. 클래스 인스턴스는 상태를 바꾸기 위한 (클래스에 의해 정의된) 메서드도 "
                "가질 수 있습니다."
            ),
            "You can also see that there was no previous binding for *spam* before the "
            ":keyword:`global` assignment.": (
                ":keyword:`global` 대입 전에는 *spam* 의 연결이 없다는 것도 볼 수 있습니다."
            ),
        },
    ),
    "python__python-docs-zh-cn": (
        "zh-CN",
        501,
        {"untranslated": 11},
        {"untranslated": 495},
        {
            "object": "object -- 对象",
            "statement": "statement -- 语句",
            "import": "import",
        },
    ),
    "sphinx-doc": (
        "ar",
        104,
        {"untranslated": 765},
        {"untranslated": 25},
        {
            "cannot copy static file %r": "غير قادر على نسخ الملف الثابت %r",
            "copying extra files": "نسخ ملفات إضافية",
            "logo file %r does not exist": "ملف الشعار %r غير موجود",
        },
    ),
}


@needs_files
def test_every_catalog_is_listed() -> None:
    listed = {only("po", start) for start in CATALOGS}
    assert listed == set((FILES / "po").iterdir())


@needs_files
@pytest.mark.parametrize("start", CATALOGS)
def test_catalogs_of_other_projects(start: str) -> None:
    language, count, left_out, lines, segments = CATALOGS[start]
    entries, skipped = read(only("po", start))
    assert len(entries) == count
    assert {(entry.source_language, entry.target_language) for entry in entries} == {
        (None, language)
    }
    assert Counter(unit.code for unit in skipped) == left_out
    for code, line in lines.items():
        assert next(unit.line for unit in skipped if unit.code == code) == line
    targets = {entry.source: entry.target for entry in entries}
    assert segments.items() <= targets.items()


@needs_files
@needs_msgfmt
@pytest.mark.parametrize("start", CATALOGS)
def test_gettext_counts_the_same(start: str, tmp_path: Path) -> None:
    """And what it makes of a catalog has the same entries, with all that an MO file can hold."""
    path, compiled = only("po", start), tmp_path / "compiled.mo"
    command = ["msgfmt", "--statistics", "-o", str(compiled), str(path)]
    run = subprocess.run(
        command,
        check=True,
        capture_output=True,
        text=True,
        env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"},
    )
    counts = {
        words.split()[1]: int(words.split()[0]) for words in run.stderr.rstrip(".\n").split(", ")
    }
    entries, skipped = read(path)
    codes = Counter(unit.code for unit in skipped)
    assert counts["translated"] == len({(entry.source_id, _message(entry)) for entry in entries})
    assert counts.get("fuzzy", 0) == codes["fuzzy"]
    assert counts.get("untranslated", 0) == codes["untranslated"]
    texts = {
        (entry.source_id, entry.source, entry.target, entry.target_language) for entry in entries
    }
    found, left_out = read(compiled)
    assert texts == {
        (entry.source_id, entry.source, entry.target, entry.target_language) for entry in found
    }
    assert not left_out


def _message(entry: TranslationMemoryEntry) -> str:
    po = (entry.metadata or {}).get("po", {})
    return str(po.get("msgid", entry.source))


@needs_files
@needs_msgfmt
@pytest.mark.parametrize("start", CATALOGS)
def test_a_written_catalog_is_good_for_gettext(start: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"fuzzy": True, "obsolete": True}
    entries, _ = read(only("po", start), **options)
    written = tmp_path / "written.po"
    assert formats.write(written, entries) == []
    assert read(written, **options) == (entries, [])
    subprocess.run(["msgfmt", "-o", "/dev/null", str(written)], check=True)


@needs_files
def test_details_of_a_message() -> None:
    entries, _ = read(only("po", "cornch"))
    assert entries[0].notes == "H1"
    assert entries[0].metadata == {
        "po": {
            "references": [
                "./docs/8.x/queues.md:1",
                "./docs/9.x/queues.md:1",
                "./docs/10.x/queues.md:1",
                "./docs/11.x/queues.md:1",
                "./docs/master/queues.md:1",
            ]
        }
    }
    entries, _ = read(only("po", "godotengine"))
    free = next(entry for entry in entries if entry.source == "Free" and entry.source_id)
    assert (free.source_id, free.target) == ("Bezier Handle Mode", "自由")


@needs_files
def test_a_list_with_semicolons_and_without_a_header(tmp_path: Path) -> None:
    path = only("csv", "Softcatala")
    with pytest.raises(FormatError, match="as if the delimiter were ';'") as caught:
        formats.read(path).__next__()
    assert caught.value.line == 1
    columns = {"source": 1, "target": 2, "notes": 3}
    options: dict[str, Any] = {"source_language": "en", "target_languages": ["ca"]}
    entries, skipped = read(path, delimiter=";", columns=columns, **options)
    # It has 1,967 lines, and three cells in each.
    assert (len(entries), skipped) == (1967, [])
    assert entries[0] == TranslationMemoryEntry(
        "3D shading", "ombreig en 3D", "en", "ca", notes="m"
    )
    assert entries[7].source == "above"
    assert entries[7].target == "més amunt, a sobre, abans"
    # The space is in the file.
    assert entries[56].source == "Alt key, alternate key "
    assert entries[-1].target == "informàtica en núvol"
    written = tmp_path / "list.csv"
    assert formats.write(written, entries) == []
    assert read(written) == (entries, [])


@needs_files
def test_a_table_with_backslashes() -> None:
    path = only("csv", "klew00")
    columns = {"source": "title_field", "target": "content_field", "source_id": "id_field"}
    entries, skipped = read(path, columns=columns, escape="\\")
    # It has nine rows on 102 lines. Two have no title, and one has no content.
    assert [entry.source_id for entry in entries] == ["1", "9", "11", "13", "15", "18"]
    assert [(unit.line, unit.unit, unit.code) for unit in skipped] == [
        (100, "19", "empty_text"),
        (101, "20", "empty_text"),
        (102, "2044", "empty_text"),
    ]
    assert entries[1].target == "This is the home page"
    assert entries[0].target.startswith('<img id="__mce" class="alignright size-full')
    assert entries[0].target.endswith('<a href="http://www.example.com">www.example.com</a>.')
    assert entries[4].source == "square Manufacturing"
    # Without the backslashes nothing is taken for what it is not.
    entries, skipped = read(path, columns=columns)
    assert [entry.source for entry in entries] == ["Home"]
    assert Counter(unit.code for unit in skipped)["quotation_marks"] == 5


def test_pairs_of_text_files(tmp_path: Path) -> None:
    sources, targets = tmp_path / "corpus.en", tmp_path / "corpus.ko"
    sources.write_text("Save\n\nOpen\n", encoding="utf-8")
    targets.write_text("저장\n\n열기\n", encoding="utf-8")
    entries, skipped = read(
        sources, target_path=targets, source_language="en", target_languages="ko"
    )
    assert entries == [
        TranslationMemoryEntry("Save", "저장", "en", "ko"),
        TranslationMemoryEntry("Open", "열기", "en", "ko"),
    ]
    assert skipped == []
    more = [*entries, TranslationMemoryEntry("two\nlines", "두 줄")]
    (problem,) = formats.write(sources, more, target_path=targets)
    assert (problem.line, problem.code) == (3, "unwritable_character")
    assert sources.read_text(encoding="utf-8") == "Save\nOpen\n"
    assert targets.read_text(encoding="utf-8") == "저장\n열기\n"
    missing = tmp_path / "missing"
    with pytest.raises(
        InvalidValueError, match=r"target_path is .*missing: No such file"
    ) as caught:
        formats.read(sources, target_path=missing)
    assert caught.value.field == "target_path"


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv.gz", "a.tsv.zst", "a.csv"])
def test_tables_and_json_lines_hold_every_field(name: str, tmp_path: Path) -> None:
    metadata = {"reviewed": True, "n": [1.5, None, "\u20ac"]}
    entry = TranslationMemoryEntry(
        'a "b",\tc\r\nd', "=1+1", "en", "ko", "ui", "app", "7", "2026-01-02", "note", metadata
    )
    bare = TranslationMemoryEntry("a", "b")
    path = tmp_path / name
    assert formats.write(path, [entry, bare]) == []
    assert read(path) == ([entry, bare], [])


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("source_language", 1, "source_language must be a str, not int"),
        ("target_languages", 1, "target_languages must be a str or an iterable of str, not int"),
        ("target_languages", [b"ko"], "a language of target_languages must be a str, not bytes"),
        ("columns", ["source"], "columns must be a mapping from fields to the names or numbers"),
        ("columns", {"source": 1.5}, "a column of columns must be a str or an int, not float"),
        ("columns", {"source": True}, "a column of columns must be a str or an int, not bool"),
        ("header", 1, "header must be a bool, not int"),
        ("delimiter", b";", "delimiter must be a str, not bytes"),
        ("target_path", 1, "target_path must be a str or os.PathLike, not int"),
    ],
)
def test_options_of_wrong_types(option: str, value: object, expected: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("source,target\na,b\n")
    options: Any = {option: value}
    with pytest.raises(InvalidTypeError) as caught:
        formats.read(path, **options)
    assert str(caught.value).startswith(expected)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"delimiter": ";;"}, 'delimiter is ";;"; it must be one character'),
        ({"columns": {"source": -1, "target": 2}}, "columns has the number 0; the first row has"),
        ({"encoding": "\ud800"}, "encoding has a lone surrogate at character 0"),
        ({"fuzzy": True}, "fuzzy is given, and csv files have no use for it"),
        ({"speed": 1}, "speed is no option of a file format; allowed are source_language, "),
    ],
)
def test_options_of_wrong_values(options: Any, expected: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("source,target\na,b\n")
    with pytest.raises(InvalidValueError) as caught:
        list(formats.read(path, **options))
    assert str(caught.value).startswith(expected)


def test_no_option_is_the_same_as_none(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("source,target\na,b\n")
    options: Any = dict.fromkeys(formats.ReadOptions.__annotations__)
    assert read(path, **options) == ([TranslationMemoryEntry("a", "b")], [])


def test_a_catalog_of_several_languages_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.po"
    entries = [
        TranslationMemoryEntry("a", "b", "en", "ko"),
        TranslationMemoryEntry("a", "c", "en", "ja"),
    ]
    with pytest.raises(InvalidValueError, match="there are entries in ko and in ja") as caught:
        formats.write(path, entries)
    assert caught.value.field == "target_languages"
    assert list(tmp_path.iterdir()) == []
    (problem,) = formats.write(path, entries, target_languages="ja")
    assert (problem.line, problem.code) == (1, "other_language")
    assert read(path) == ([entries[1]], [])
    with pytest.raises(InvalidValueError, match="read only"):
        formats.write(tmp_path / "a.mo", entries)


@pytest.mark.skipif(
    os.name == "nt", reason="Windows has no such permissions, and links need rights"
)
def test_a_file_that_is_written_again_keeps_its_permissions_and_the_link_to_it(
    tmp_path: Path,
) -> None:
    file = tmp_path / "kept" / "a.csv"
    file.parent.mkdir()
    file.write_text("what was there")
    file.chmod(0o640)
    link = tmp_path / "link.csv"
    link.symlink_to(file)
    entries = [TranslationMemoryEntry("a", "b")]
    assert formats.write(link, entries) == []
    assert link.is_symlink()
    assert read(file) == (entries, [])
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert list(file.parent.iterdir()) == [file]


def test_the_documented_example(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    docs = (ROOT / "docs" / "formats.md").read_text("utf-8")
    [(program, expected)] = re.findall(
        r"^```python\n(.*?)^```\n\n```\n(.*?)^```$", docs, re.MULTILINE | re.DOTALL
    )
    exec(compile(program, "docs/formats.md", "exec"), {})
    assert capsys.readouterr().out == expected
