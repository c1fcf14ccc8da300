"""The `diglot` command, as a process."""

import gzip
import json
import os
import re
import signal
from pathlib import Path

import pytest

pytest.importorskip("rich", reason="diglot[cli] is not installed")

from rich.cells import cell_len

from diglot import similarity
from diglot.cli.diff import changes
from shell import diglot, on_terminal, started

EXAMPLE = str(Path(__file__).parents[1] / "examples" / "memory.jsonl")
ENTRIES = [json.loads(line) for line in Path(EXAMPLE).read_text(encoding="utf-8").splitlines()]
QUERY = "Save your changes before you close the app."


def test_a_table_in_a_pipe_is_plain_and_straight() -> None:
    done = diglot("lookup", EXAMPLE, QUERY)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    assert "the [-app-]{+window+}." in done.stdout
    assert "창을 닫기 전에" in done.stdout
    assert "关闭窗口前请保存更改。" in done.stdout
    # Wide characters take two columns each, and all lines end in the same one.
    assert {cell_len(line) for line in done.stdout.splitlines()} == {100}


def test_a_table_is_as_wide_as_it_is_told() -> None:
    done = diglot("lookup", EXAMPLE, QUERY, COLUMNS="60")
    assert {cell_len(line) for line in done.stdout.splitlines()} == {60}


def test_json_has_all_that_is_known() -> None:
    query = "Your payment was declined."
    options = ["--json", "--max-hits", "1"]
    done = diglot("lookup", EXAMPLE, query, *options, PYTHONIOENCODING="ascii")
    found = json.loads(done.stdout)
    (number,) = [number for number, entry in enumerate(ENTRIES) if "declined" in entry["source"]]
    assert ENTRIES[number]["metadata"]
    score = similarity(query, ENTRIES[number]["source"])
    assert found == {
        "query": query,
        "hits": [{"id": number, "score": score, "entry": ENTRIES[number]}],
    }


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ("--from ZH-cn", {"source_language": "zh-CN"}),
        ("--to ja", {"target_language": "ja"}),
        ("--domain account", {"domain": "account"}),
        ("--namespace example", {"namespace": "example"}),
        ("--namespace Example", {"namespace": "Example"}),
        ("--to ko --domain app", {"target_language": "ko", "domain": "app"}),
    ],
)
def test_filters(options: str, wanted: dict[str, str]) -> None:
    options = f"--json --min-score 0 --max-hits 100 {options}"
    found = json.loads(diglot("lookup", EXAMPLE, QUERY, *options.split()).stdout)
    assert {hit["id"] for hit in found["hits"]} == {
        number for number, entry in enumerate(ENTRIES) if wanted.items() <= entry.items()
    }


def test_min_score_and_max_hits() -> None:
    hits = json.loads(diglot("lookup", EXAMPLE, QUERY, "--json").stdout)["hits"]
    assert len(hits) == 5
    floor = hits[3]["score"]
    hits = json.loads(diglot("lookup", EXAMPLE, QUERY, "--json", "--min-score", str(floor)).stdout)[
        "hits"
    ]
    assert [hit["score"] for hit in hits] == [floor] * 4


def test_nothing_found_is_no_failure(tmp_path: Path) -> None:
    done = diglot("lookup", EXAMPLE, "zzz", "--min-score", "0.9")
    assert (done.returncode, done.stdout, done.stderr) == (0, "No matches among 68 entries.\n", "")
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    done = diglot("lookup", str(empty), "Save")
    assert (done.returncode, done.stdout, done.stderr) == (0, "No matches among 0 entries.\n", "")
    done = diglot("lookup", str(empty), "Save", "--json")
    assert json.loads(done.stdout) == {"query": "Save", "hits": []}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "COMMAND"),
        (["no-such-command"], "no-such-command"),
        (["lookup", EXAMPLE], "QUERY"),
        (["lookup", EXAMPLE, " \u3000"], "query is empty"),
        (
            ["lookup", EXAMPLE, b"\xff".decode(errors="surrogateescape")],
            "query has a lone surrogate",
        ),
        (
            ["lookup", EXAMPLE, "a", "--max-hits", "0"],
            "--max-hits: '0' is not a whole number from 1",
        ),
        (
            ["lookup", EXAMPLE, "a", "--max-hits", "1.5"],
            "--max-hits: '1.5' is not a whole number from 1",
        ),
        (
            ["lookup", EXAMPLE, "a", "--min-score", "nan"],
            "--min-score: 'nan' is not a number from 0 to 1",
        ),
        (
            ["lookup", EXAMPLE, "a", "--min-score", "x"],
            "--min-score: 'x' is not a number from 0 to 1",
        ),
        (["lookup", "missing.jsonl", " "], "query is empty"),
    ],
)
def test_wrong_arguments(arguments: list[str], message: str) -> None:
    done = diglot(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    done = diglot("lookup", str(tmp_path / "missing.jsonl"), "Save")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == f"diglot: {tmp_path / 'missing.jsonl'}: No such file or directory\n"
    done = diglot("lookup", str(tmp_path), "Save")
    assert (done.returncode, done.stderr) == (3, f"diglot: {tmp_path}: Is a directory\n")


def test_malformed_files(tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl.gz"
    good, bad = b'{"source":"a","target":"b"}\n', b'{"source":"a","target":7}\n'
    what = "line 2: target: invalid type: integer `7`, expected a string"
    path.write_bytes(gzip.compress(good + bad))
    done = diglot("lookup", str(path), "a", "--json")
    assert (done.returncode, len(json.loads(done.stdout)["hits"])) == (0, 1)
    assert done.stderr.startswith(f"diglot: {path}, {what} (1 left out; ")
    # Of this one nothing can be used, and this one is damaged.
    path.write_bytes(gzip.compress(bad))
    done = diglot("lookup", str(path), "a", "--json")
    assert (done.returncode, json.loads(done.stdout)["error"]["line"]) == (4, 1)
    assert done.stderr == f"diglot: {path}, {what.replace('line 2', 'line 1')}\n"
    path.write_bytes(gzip.compress(good * 100)[:-9])
    done = diglot("lookup", str(path), "a", "--json")
    assert (done.returncode, list(json.loads(done.stdout))) == (4, ["error"])
    assert "line" in done.stderr


def test_what_is_stored_does_not_steer_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "hostile.jsonl"
    hostile = "a\x1b[2J\x07\x9b31m[red]b\n\x7f"
    entry = {"source": hostile, "target": hostile, "domain": hostile}
    path.write_text(json.dumps(entry), encoding="utf-8")
    shown = diglot("lookup", str(path), "a", "--min-score", "0").stdout
    assert re.findall(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", shown) == []
    assert "␛[2J␇�31m[red]b␊␡" in shown


def test_what_is_stored_does_not_turn_the_direction_of_writing(tmp_path: Path) -> None:
    path = tmp_path / "hostile.jsonl"
    turning = "".join(map(chr, [0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F)]))
    turning += "".join(map(chr, range(0x2066, 0x206A)))
    # These are no part of it: joiners shape letters.
    text = f"a{turning}\u200c\u200db"
    path.write_text(json.dumps({"source": text, "target": text}), encoding="utf-8")
    shown = diglot("lookup", str(path), "a", "--min-score", "0", COLUMNS="400").stdout
    assert not set(turning) & set(shown)
    numbers = "".join(f"<U+{ord(character):04X}>" for character in turning)
    assert f"a{numbers}\u200c\u200db" in shown
    found = json.loads(diglot("lookup", str(path), "a", "--min-score", "0", "--json").stdout)
    assert found["hits"][0]["entry"]["target"] == text


def test_progress_and_colours_on_a_terminal() -> None:
    shown = on_terminal("lookup", EXAMPLE, QUERY)
    assert "Reading" in shown or "Indexing" in shown
    assert "\x1b[9;31mapp\x1b[0m\x1b[1;32mwindow\x1b[0m" in shown
    assert "{+" not in shown
    # The bar is gone when the table is there: erasing its line comes last.
    assert shown.index("\x1b[2K┏") > max(shown.rfind("Reading"), shown.rfind("Indexing"))


def test_no_colours_where_none_are_wanted() -> None:
    shown = on_terminal("lookup", EXAMPLE, QUERY, NO_COLOR="1")
    assert "[-app-]{+window+}" in shown


def test_help_shows_examples() -> None:
    done = diglot("lookup", "--help")
    assert done.returncode == 0
    for name in ("from", "to", "domain", "namespace", "max-hits", "min-score", "json"):
        assert f"--{name} " in done.stdout
    assert 'diglot lookup memory.db "Save the file"' in done.stdout


def test_version() -> None:
    from importlib.metadata import version

    assert diglot("--version").stdout == f"diglot {version('diglot')}\n"


def test_without_the_extra_it_says_how_to_install_it(tmp_path: Path) -> None:
    # What is found first raises what Python raises where nothing is found.
    (tmp_path / "rich.py").write_text("raise ModuleNotFoundError(name='rich')")
    done = diglot("lookup", EXAMPLE, "Save", PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stdout) == (5, "")
    assert "pip install 'diglot[cli]'" in done.stderr


def test_a_reader_that_stops_early_is_no_failure(tmp_path: Path) -> None:
    path = tmp_path / "large.jsonl"
    line = json.dumps({"source": "a", "target": "x" * 1000}) + "\n"
    path.write_text(line * 500)
    with started("lookup", str(path), "a", "--json", "--max-hits", "500") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes on this system")
def test_a_pipe_is_read_from_its_first_byte(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with started("lookup", str(pipe), "Save", "--json") as process:
        pipe.write_text('{"source": "Save", "target": "저장"}\n', encoding="utf-8")
        output, errors = process.communicate(timeout=60)
    assert errors == b""
    assert [hit["entry"]["target"] for hit in json.loads(output)["hits"]] == ["저장"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes on this system")
def test_it_can_be_interrupted(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with started("lookup", str(pipe), "a") as process:
        # Opening the pipe waits until the command does, and what is written does not fit into the
        # pipe: it is reading.
        file = os.open(pipe, os.O_WRONLY)
        lines = (json.dumps({"source": "a", "target": "b"}) + "\n").encode() * 10_000
        os.write(file, lines)
        process.send_signal(signal.SIGINT)
        # It looks for signals as long as there are lines; then it closes the pipe.
        for _ in range(10_000):
            try:
                os.write(file, lines)
            except BrokenPipeError:
                break
        else:
            raise AssertionError("it went on reading")
        os.close(file)
        assert process.stderr is not None
        assert process.stderr.read() == b"diglot: interrupted\n"
        assert process.wait(timeout=60) == 130


@pytest.mark.parametrize(
    ("old", "new", "marked"),
    [
        ("Save the file", "Save the file", "Save the file"),
        ("SAVE  the\tﬁle", "Save the file", "Save the file"),
        ("Save file", "Save the file", "Save {the }file"),
        ("Save the file", "Save file", "Save [the ]file"),
        ("Save your file now", "Save my folder now", "Save [your file]{my folder} now"),
        ("保存文件", "保存文件夹", "保存文件{夹}"),
        ("請保存文件", "请保存档案", "[請]{请}保存[文件]{档案}"),
        ("हिन्दी में", "हिन्दु में", "[हिन्दी]{हिन्दु} में"),
        ("a", "b", "[a]{b}"),
    ],
)
def test_changes(old: str, new: str, marked: str) -> None:
    brackets = {"same": "{}", "added": "{{{}}}", "removed": "[{}]"}
    assert "".join(brackets[change].format(text) for change, text in changes(old, new)) == marked


def test_changes_of_long_texts() -> None:
    old = "x " + "a b " * 10_000 + "y"
    new = "x " + "c d " * 10_000 + "y"
    found = list(changes(old, new))
    assert [change for change, _ in found] == ["same", "removed", "added", "same"]
    assert "".join(text for change, text in found if change != "removed") == new
