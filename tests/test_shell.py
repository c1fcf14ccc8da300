"""The commands that work on stores and files, most of them in this process.

`test_cli.py` has those that look up in files.
"""

import json
import os
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("rich", reason="diglot[cli] is not installed")

from conftest import ROOT, SHARED
from diglot import TranslationMemory, TranslationMemoryEntry, similarity
from diglot.cli import main, make_parser
from diglot.stores.sqlite import SqliteTranslationMemory
from shell import diglot, environment, on_terminal, started

COMMANDS = (
    "import export lookup add remove stats verify compact dedupe serve mcp kpi completion"
).split()
LINES = [
    '{"source": "Save", "target": "저장", "source_language": "en", "target_language": "ko"}',
    '{"source": "Save", "target": "保存", "source_language": "en", "target_language": "ja"}',
    '{"source": "Open", "target": "열기", "source_language": "en", "target_language": "ko"}',
    '{"source": "Open", "target": ""}',
    '{"source": "Save", "target": "저장", "source_language": "EN", "target_language": "ko"}',
]


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "entries.jsonl"
    path.write_text("\n".join(LINES) + "\n", "utf-8")
    return str(path)


@pytest.fixture
def store(tmp_path: Path) -> str:
    path = tmp_path / "memory.db"
    with SqliteTranslationMemory.open(path) as made:
        made.add_many(
            TranslationMemoryEntry.from_dict(json.loads(line)) for line in LINES if '""' not in line
        )
    return str(path)


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]):
    """Runs the command in this process: exit status, output, errors."""

    def run(*arguments: object) -> tuple[int, str, str]:
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as ended:
            status = ended.code
        out, err = capfd.readouterr()
        return status, out, err

    return run


def entries(store: str) -> list[str]:
    with SqliteTranslationMemory.open(store, create=False, read_only=True) as memory:
        return [f"{id} {entry.source} {entry.target}" for id, entry in memory.items()]


def test_import_reports(run, file: str, tmp_path: Path) -> None:
    store = tmp_path / "new.db"
    status, out, err = run("import", store, file, "--namespace", "acme")
    assert (status, err) == (0, "")
    assert f"{file}: 5 units of jsonl, 4 entries, 1 left out\n" in out
    assert "en → ko   │     3" in out
    assert "en → ja   │     1" in out
    assert "  1 × target is empty; it needs at least one character that is not white space\n" in out
    assert "line 4\n" in out
    status, out, err = run("import", store, file, "--namespace", "acme", "--duplicates", "skip")
    assert "en → ko   │     0 │         3" in out
    with SqliteTranslationMemory.open(store, create=False) as memory:
        assert {entry.namespace for entry in memory} == {"acme"}


def test_import_as_json_has_a_line_for_each_file(run, file: str, tmp_path: Path) -> None:
    missing, broken = tmp_path / "missing.tmx", tmp_path / "broken.tmx"
    broken.write_text("<html></html>")
    store = tmp_path / "new.db"
    status, out, err = run("import", store, missing, file, broken, file, "--json")
    # The status is that of the first that failed; the others are none the worse for it.
    assert status == 3
    reports = [json.loads(line) for line in out.splitlines()]
    assert [report["path"] for report in reports] == [str(missing), file, str(broken), file]
    no_file = f"{missing}: No such file or directory"
    assert reports[0]["error"] == {
        "code": "system_error",
        "path": str(missing),
        "message": no_file,
    }
    wrong = reports[2]["error"]
    assert (wrong["code"], wrong["line"], wrong["path"]) == ("invalid_format", 1, str(broken))
    assert "the root element is <html>" in wrong["message"]
    assert err.splitlines() == [f"diglot: {reports[at]['error']['message']}" for at in (0, 2)]
    assert reports[1] == reports[3]
    report = reports[1]
    assert [report[name] for name in ("units", "read", "added", "duplicate", "skipped")] == [
        5,
        4,
        4,
        0,
        1,
    ]
    assert report["pairs"][1] == {
        "source_language": "en",
        "target_language": "ko",
        "added": 3,
        "duplicate": 0,
        "replaced": 0,
        "removed": 0,
    }
    assert report["problems"][0]["line"] == 4
    assert len(entries(str(store))) == 8


def test_a_dry_run_makes_no_store(run, file: str, store: str, tmp_path: Path) -> None:
    new = tmp_path / "new.db"
    status, out, _ = run("import", new, file, "--dry-run", "--json")
    assert (status, json.loads(out)["added"]) == (0, 4)
    assert not new.exists()
    before = entries(store)
    status, out, _ = run("import", store, file, "--dry-run", "--duplicates", "skip", "--json")
    assert (json.loads(out)["added"], json.loads(out)["duplicate"]) == (0, 4)
    assert entries(store) == before
    status, out, _ = run("import", store, file, "--dry-run")
    assert "a dry run" in out


def test_of_nothing_that_can_be_read_no_store_is_made(run, file: str, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<html>")
    (tmp_path / "broken.tmx").write_text("<tmx")
    new = tmp_path / "new.db"
    unusable = [tmp_path / "page.html", tmp_path / "broken.tmx", tmp_path / "missing.tmx", tmp_path]
    status, out, err = run("import", new, *unusable)
    assert (status, out, err.count("diglot: ")) == (2, "", 4)
    assert run("import", new, file, "--format", "pdf")[0] == 2
    assert not list(tmp_path.glob("new.db*"))
    assert run("import", new, *unusable, file)[0] == 2
    assert list(tmp_path.glob("new.db*")) == [new]
    with SqliteTranslationMemory.open(new) as memory:
        assert len(memory)


def test_errors_name_options_as_the_command_line_does(run, store: str, tmp_path: Path) -> None:
    table, text, catalog = tmp_path / "a.csv", tmp_path / "a.txt", tmp_path / "a.po"
    table.write_text("x,y\na,b\n", "utf-8")
    text.write_text("a\n", "utf-8")
    catalog.write_text('msgid ""\nmsgstr "Language: de\\n"\n', "utf-8")
    for arguments, message in [
        ((table, "--column", "source=z"), '--column has the name "z"'),
        ((table, "--column", "source=x"), "--column must say which columns are"),
        ((text,), "--targets is missing"),
        ((catalog, "--to", "ko"), "--to asks for ko, but the catalog is in de"),
        ((catalog, "--fuzzy", "--escape", "\\"), "--escape is given, and po files have no use"),
    ]:
        status, out, err = run("import", store, *arguments)
        assert (status, out) == (2, "")
        assert err.startswith(f"diglot: {arguments[0]}: {message}")
    table.write_text("x;y\na;b\n", "utf-8")
    status, _, err = run("import", store, table, "--column", "source=1", "--column", "target=2")
    assert (status, "from 1 to 1. It looks as if the delimiter were ';'" in err) == (2, True)
    status, _, err = run("import", store, table)
    assert (status, "Say which columns they are" in err) == (4, True)


def test_strict(run, file: str, store: str) -> None:
    before = entries(store)
    status, out, err = run("import", store, file, "--strict")
    assert (status, out) == (4, "")
    assert f"{file}, line 4: target is empty" in err
    assert entries(store) == before


def test_tables_and_paired_text(run, tmp_path: Path) -> None:
    table = tmp_path / "terms.csv"
    table.write_text("id;English;Korean\n1;Save;저장\n2;Open;열기\n", "utf-8")
    store = str(tmp_path / "new.db")
    columns = ["--column", "source=English", "--column", "target=3", "--column", "source_id=id"]
    languages = ["--from", "en", "--to", "ko"]
    status, _, err = run("import", store, table, "--delimiter", ";", *columns, *languages)
    assert (status, err) == (0, "")
    (tmp_path / "a.en").write_text("Close\nQuit\n")
    (tmp_path / "a.ko").write_text("닫기\n종료\n", "utf-8")
    text = [tmp_path / "a.en", "--targets", tmp_path / "a.ko", "--format", "text"]
    assert run("import", store, *text, *languages)[0] == 0
    assert entries(store) == ["0 Save 저장", "1 Open 열기", "2 Close 닫기", "3 Quit 종료"]
    with SqliteTranslationMemory.open(store) as memory:
        assert memory.get(0).source_id == "1"
        assert {(entry.source_language, entry.target_language) for entry in memory} == {
            ("en", "ko")
        }
    out = [tmp_path / "b.en", "--targets", tmp_path / "b.ko", "--format", "text"]
    assert run("export", store, *out)[0] == 0
    assert (tmp_path / "b.ko").read_text("utf-8") == "저장\n열기\n닫기\n종료\n"
    status, _, err = run("import", store, table, "--column", "source")
    assert (status, "--column source: it must be FIELD=COLUMN" in err) == (2, True)


def test_languages_that_nobody_knows_are_asked_for(run, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("source,target\nSave,저장\n", "utf-8")
    assert "--from and --to do" in run("import", tmp_path / "new.db", path, "--dry-run")[1]
    known = ["--from", "en", "--to", "ko"]
    assert "--from" not in run("import", tmp_path / "new.db", path, "--dry-run", *known)[1]


def test_export(run, store: str, file: str, tmp_path: Path) -> None:
    path = tmp_path / "out.tmx.gz"
    status, out, err = run("export", store, path, "--to", "ko")
    assert (status, out, err) == (0, f"{path}: 3 entries as tmx, 0 left out\n", "")
    memory = TranslationMemory()
    assert memory.import_file(path).added == 3
    status, out, _ = run("export", store, path, "--json")
    assert json.loads(out) == {
        "path": str(path),
        "format": "tmx",
        "written": 4,
        "skipped": 0,
        "problems": [],
    }
    # Files of entries can be exported, too, to a pipe as well.
    status, out, err = run("export", file, "-", "--format", "tsv", "--to", "ja")
    assert (status, out.splitlines()[1].split("\t")[:2]) == (0, ["Save", "保存"])
    assert "1 left out" in err
    # What a format cannot hold is said where there is no report, too.
    status, out, err = run("export", store, "-", "--format", "xliff2")
    assert (status, out.count("<unit ")) == (0, 3)
    reason = "its target is in ja; the file is in ko, and XLIFF 2 holds one pair"
    assert err == f"diglot: entry 2: {reason} (1 left out)\n"
    status, out, _ = run("export", store, tmp_path / "out.xlf", "--format", "xliff2")
    assert out.endswith(f"3 entries as xliff2, 1 left out\n  1 × {reason}\n      entry 2\n")
    assert run("export", store, "-")[0] == 2
    assert run("export", store, "-", "--format", "jsonl", "--json")[0] == 2
    assert run("export", store, tmp_path / "out.xyz")[0] == 2
    assert run("export", store, tmp_path / "none" / "out.tmx")[0] == 3


def test_an_export_does_not_replace_what_it_is_made_of(run, store: str, tmp_path: Path) -> None:
    before = Path(store).read_bytes()
    file, link = tmp_path / "a.jsonl", tmp_path / "link.csv"
    assert run("export", store, file)[0] == 0
    text = file.read_text("utf-8")
    link.symlink_to(store)
    for arguments, message in [
        ((store, store, "--format", "csv"), f"{store} is the memory itself"),
        ((store, link), f"{link} is the memory itself"),
        ((store, tmp_path / "x.txt", "--targets", store), f"{store} is the memory itself"),
        ((file, store, "--format", "csv"), f"{store} is a SQLite database"),
        ((file, f"{store}-wal", "--format", "csv"), f"{store}-wal belongs to a SQLite database"),
        ((file, file, "--to", "ja"), f"{file} is the memory itself"),
        ((file, tmp_path / "x.txt", "--targets", tmp_path / "x.txt"), "--targets is "),
    ]:
        status, out, err = run("export", *arguments)
        assert (status, out) == (2, "")
        assert err.startswith(f"diglot: {message}")
    assert Path(store).read_bytes() == before
    assert file.read_text("utf-8") == text
    assert not (tmp_path / "x.txt").exists()


def test_a_file_that_cannot_be_written_is_named(run, store: str, tmp_path: Path) -> None:
    for end in ("tmx", "csv.gz", "jsonl.zst"):
        nowhere = tmp_path / "none" / f"x.{end}"
        status, _, err = run("export", store, nowhere)
        assert (status, err) == (3, f"diglot: {nowhere}: No such file or directory\n")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limits for a process")
def test_a_file_that_has_no_room_is_named(store: str, tmp_path: Path) -> None:
    # As on a disk that is full: writing more than a few bytes fails.
    script = (
        "import resource, signal, sys\n"
        "from diglot.cli import main\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    file = tmp_path / "x.tmx"
    done = subprocess.run(
        [sys.executable, "-B", "-c", script, "export", store, str(file)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (3, f"diglot: {file}: File too large\n")
    assert list(tmp_path.glob(".*")) == []


def test_add_and_remove(run, tmp_path: Path) -> None:
    store = str(tmp_path / "new.db")
    assert run("add", store, "Save", "저장", "--from", "en", "--to", "ko") == (0, "0\n", "")
    fields = ["--domain", "app", "--namespace", "n", "--source-id", "7", "--notes", "menu"]
    status, out, _ = run("add", store, "Open", "열기", *fields, "--json")
    added = json.loads(out)
    assert (status, added["id"], added["entry"]["notes"]) == (0, 1, "menu")
    assert added["entry"]["created_at"].endswith("Z")
    assert [run("add", store, "Close", "닫기", "--to", "ko")[1] for _ in range(3)] == [
        "2\n",
        "3\n",
        "4\n",
    ]
    assert run("remove", store, "1", "3", "1") == (0, "2 entries removed\n", "")
    status, out, err = run("remove", store, "0", "1")
    assert (status, out) == (2, "")
    assert "no entry has the id 1" in err
    assert (
        run("remove", store, "all", "--to", "KO", "--dry-run")[1] == "3 entries would be removed\n"
    )
    assert len(entries(store)) == 3
    assert json.loads(run("remove", store, "--json", "all", "--to", "KO")[1])["removed"] == 3
    assert entries(store) == []
    for wrong in ([], ["all"], ["1", "--to", "ko"], ["-1"], ["x"], ["1", "all"]):
        assert run("remove", store, *wrong)[0] == 2


def test_stats(run, store: str, file: str) -> None:
    status, out, _ = run("stats", store, "--json")
    figures = json.loads(out)
    assert (status, figures["entries"]) == (0, 4)
    # One entry has EN for en.
    assert figures["pairs"] == [
        {"source_language": "en", "target_language": "ko", "entries": 3},
        {"source_language": "en", "target_language": "ja", "entries": 1},
    ]
    assert figures["bytes_on_disk"]["memory.db"] == os.path.getsize(store)
    status, out, _ = run("stats", store)
    assert out.startswith("4 entries; ")
    assert "en → ja   │       1" in out
    status, out, err = run("stats", file)
    assert out.startswith("4 entries; ")
    assert "1 left out" in err


def test_verify(run, store: str, file: str, tmp_path: Path) -> None:
    assert run("verify", store) == (0, f"{store}: 4 entries, nothing wrong\n", "")
    status, out, _ = run("verify", file)
    assert status == 1
    assert out.splitlines()[0].startswith("line 4: target is empty")
    assert out.splitlines()[1] == f"{file}: 4 entries, 1 problem"
    status, out, _ = run("verify", file, "--json")
    found = json.loads(out)
    assert (status, found["ok"], found["entries"], len(found["problems"])) == (1, False, 4, 1)
    with sqlite3.connect(store) as connection:
        connection.execute("UPDATE entries SET metadata = '[1]' WHERE id = 2")
    connection.close()
    status, out, _ = run("verify", store, "--json")
    assert (status, json.loads(out)["ok"]) == (1, False)
    named = tmp_path / "named.tmx"
    named.write_text('<tmx><body>\n<tu tuid="a.b">\n</tu></body></tmx>')
    status, out, _ = run("verify", named)
    assert (status, out.splitlines()[0][:14]) == (1, "line 2 (a.b): ")
    page = tmp_path / "page.tmx"
    page.write_text("<html></html>")
    status, out, _ = run("verify", page)
    assert (status, "the root element is <html>" in out) == (1, True)


def test_verify_counts_what_it_knows(run, store: str) -> None:
    with SqliteTranslationMemory.open(store) as memory:
        memory.compact()
    data = Path(store).read_bytes()
    assert data.count(b"Open") == 1
    Path(store).write_bytes(data.replace(b"Open", b"Op\xffn"))
    status, out, _ = run("verify", store)
    assert status == 1
    assert out.endswith(f"{store}: 4 entries, 1 problem\n")
    Path(f"{store}-snapshot").unlink()
    status, out, _ = run("verify", store)
    assert (status, out.splitlines()[-1]) == (1, f"{store}: 1 problem")
    status, out, _ = run("verify", store, "--json")
    assert (status, json.loads(out)["entries"]) == (1, None)


def test_compact_and_dedupe(run, store: str) -> None:
    status, out, _ = run("dedupe", store, "--dry-run")
    assert (status, out.splitlines()[0]) == (0, "1 duplicate would be removed")
    status, out, _ = run("dedupe", store, "--duplicates", "replace", "--json")
    assert (json.loads(out)["removed"], json.loads(out)["duplicates"]) == (1, "replace")
    assert entries(store) == ["1 Save 保存", "2 Open 열기", "3 Save 저장"]
    assert run("dedupe", store)[1] == "0 duplicates removed\n"
    sizes = json.loads(run("compact", store, "--json")[1])
    assert sizes["bytes_before"] >= sizes["bytes_after"] == os.path.getsize(store)
    assert "bytes before" in run("compact", store)[1]


def test_looking_up_in_a_store(run, store: str) -> None:
    status, out, _ = run("lookup", store, "Save it", "--json", "--to", "ja")
    found = json.loads(out)
    assert (status, found["hits"][0]["id"]) == (0, 1)
    assert found["hits"][0]["score"] == similarity("Save it", "Save")
    status, out, _ = run("lookup", store, "Save", "Open", "--json", "--max-hits", "1")
    assert [json.loads(line)["query"] for line in out.splitlines()] == ["Save", "Open"]
    status, out, _ = run("lookup", store, "Save", "Open")
    assert out.splitlines()[0] == "Save"
    assert "Open" in out
    for wrong in ([], ["--lines", "a.txt", "b.txt"], ["Save", " "]):
        assert run("lookup", store, *wrong)[0] == 2


def test_looking_many_lines_up(run, store: str, tmp_path: Path) -> None:
    queries = tmp_path / "queries.txt"
    texts = ["\ufeffSave", " ", "", "zzz", "Open\r", "Save \x85"] + [
        f"Save {n}" for n in range(9999)
    ]
    queries.write_text("\n".join(texts), "utf-8", newline="")
    status, out, err = run(
        "lookup", store, "--max-hits", "1", "--lines", queries, "--min-score", "0.2"
    )
    assert (status, err) == (0, "")
    # U+0085 is no end of a line.
    answers = [json.loads(line) for line in out.removesuffix("\n").split("\n")]
    assert len(answers) == len(texts)
    expected = [text.strip("\ufeff\r") for text in texts]
    assert [answer["query"] for answer in answers] == expected
    assert [len(answer["hits"]) for answer in answers[:6]] == [1, 0, 0, 0, 1, 1]
    assert all(answer["hits"][0]["id"] == 0 for answer in answers[6:])

    assert run("lookup", store, "--lines", tmp_path / "none")[0] == 3


def test_a_line_that_is_not_utf8_has_an_error_for_an_answer(
    run, store: str, tmp_path: Path
) -> None:
    queries = tmp_path / "queries.txt"
    queries.write_bytes(b"Save\nOpen\na\xffb\r\nSave")
    status, out, err = run("lookup", store, "--max-hits", "1", "--lines", queries)
    assert (status, err) == (4, "diglot: line 3 is not UTF-8: invalid start byte\n")
    save, open_, wrong, last = map(json.loads, out.splitlines())
    assert [answer["hits"][0]["id"] for answer in (save, open_, last)] == [0, 2, 0]
    message = "line 3 is not UTF-8: invalid start byte"
    error = {"code": "invalid_format", "line": 3, "message": message}
    assert wrong == {"query": "a\ufffdb", "error": error}
    queries.write_bytes(b"\xff\nSave\n\xe2\x82")
    status, out, err = run("lookup", store, "--lines", queries)
    assert (status, len(out.splitlines())) == (4, 3)
    assert err == "diglot: line 1 is not UTF-8: invalid start byte (1 more line)\n"


def test_a_program_can_ask_and_wait_for_each_answer(store: str) -> None:
    command = [sys.executable, "-m", "diglot", "lookup", store, "-", "--max-hits", "1"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()
    ) as process:
        for query, id in [("Save", 0), ("Open", 2), ("저장", None)]:
            process.stdin.write(f"{query}\n".encode())
            process.stdin.flush()
            # This would wait for ever if the answer waited for the next query.
            answer = json.loads(process.stdout.readline())
            assert [hit["id"] for hit in answer["hits"]] == ([] if id is None else [id])
        process.stdin.write(b"Save")
        process.stdin.close()
        assert json.loads(process.stdout.readline())["hits"][0]["id"] == 0
        assert process.stdout.read() == b""
        assert process.wait(timeout=60) == 0


def test_pipelines(file: str, tmp_path: Path) -> None:
    python = f"'{sys.executable}' -m diglot"
    script = f"""
        set -e -o pipefail
        {python} export '{file}' - --format jsonl --to ko \\
            | {python} import '{tmp_path}/new.db' - --format jsonl --json > '{tmp_path}/report'
        {python} export '{tmp_path}/new.db' - --format jsonl | cut -c1-18 | sort -u \\
            | {python} lookup '{tmp_path}/new.db' - | head -n 1
    """
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, encoding="utf-8", env=environment()
    )
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "report").read_text())["added"] == 3
    assert json.loads(done.stdout)["query"] == '{"source":"Open","'
    assert "Traceback" not in done.stderr


def test_progress_is_shown_on_a_terminal_only(tmp_path: Path) -> None:
    path = tmp_path / "large.jsonl"
    path.write_text(
        "".join(f'{{"source": "text {n}", "target": "x"}}\n' for n in range(20_000)), "utf-8"
    )
    store = str(tmp_path / "memory.db")
    shown = on_terminal("import", store, str(path))
    assert "large.jsonl" in shown
    adding = re.findall(
        r"Adding 20,000 entries[^\r\n]*", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    )
    assert adding
    # How long it has been at it.
    assert all(re.search(r" 0:\d\d:\d\d *$", line) for line in adding)
    shown = on_terminal("export", store, str(tmp_path / "out.jsonl"))
    assert "Writing" in shown
    assert "entries/s" in shown
    done = diglot("export", store, str(tmp_path / "out.jsonl"))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_names_of_files_that_are_no_text(run, store: str, tmp_path: Path) -> None:
    path = os.fsdecode(os.fsencode(tmp_path) + b"/o\xff.jsonl")
    assert run("export", store, path)[0] == 0
    for arguments in (
        ("import", store, path, "--json"),
        ("import", store, f"{path}none", "--json"),
        ("export", store, path, "--json"),
        ("verify", path, "--json"),
    ):
        assert json.loads(run(*arguments)[1])["path"] in (path, f"{path}none")
    # Each import came to an end.
    assert len(entries(store)) == 8
    status, out, _ = run("stats", f"{path}none", "--json")
    assert (status, json.loads(out)["error"]["path"]) == (3, f"{path}none")


@pytest.mark.parametrize(
    ("arguments", "status", "code"),
    [
        (("stats", "none.db"), 3, "system_error"),
        (("verify", "none.db"), 3, "system_error"),
        (("lookup", "none.db", "a"), 3, "system_error"),
        (("lookup", "STORE", " "), 2, "empty_text"),
        (("add", "STORE", "a", ""), 2, "empty_text"),
        (("remove", "STORE", "99"), 2, "unknown_entry"),
        (("export", "STORE", "x.xyz"), 2, "invalid_value"),
        (("compact", "broken.db"), 6, "not_a_store"),
        (("dedupe", "broken.db"), 6, "not_a_store"),
        (("import", "broken.db", "a.tmx"), 6, "not_a_store"),
    ],
)
def test_an_error_is_json_where_json_is_asked_for(
    run, store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments, status, code
) -> None:
    monkeypatch.chdir(tmp_path)
    sqlite3.connect("broken.db").execute("CREATE TABLE t (a)").connection.close()
    words = [store if word == "STORE" else word for word in arguments]
    failed, out, err = run(*words, "--json")
    error = json.loads(out)["error"]
    assert (failed, error["code"], err) == (status, code, f"diglot: {error['message']}\n")
    # Without it, there is nothing but the message.
    assert run(*words) == (status, "", err)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("lookup a.db - <&-", "standard input: Bad file descriptor"),
        ("import a.db - --format jsonl <&-", "standard input: Bad file descriptor"),
        ("stats a.db >&-", "standard output: Bad file descriptor"),
        ("stats a.db > /dev/full", "standard output: No space left on device"),
        ("stats a.db --json > /dev/full", "standard output: No space left on device"),
        ("export a.db - --format tmx > /dev/full", "standard output: No space left on device"),
        ("stats none.db 2>&-", None),
    ],
)
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full on this system")
def test_streams_that_are_closed_or_full(store: str, script: str, message: str | None) -> None:
    script = script.replace("a.db", f"'{store}'")
    done = subprocess.run(
        ["bash", "-c", f"'{sys.executable}' -m diglot {script}"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        env=environment(),
        timeout=60,
    )
    expected = "" if message is None else f"diglot: {message}\n"
    assert (done.returncode, done.stdout, done.stderr) == (3, "", expected)
    assert len(entries(store)) == 4


def test_a_stream_is_no_memory(run, store: str, tmp_path: Path) -> None:
    for arguments in (
        ("lookup", "-", "a"),
        ("export", "-", tmp_path / "x.csv"),
        ("stats", "-"),
        ("verify", "-"),
        ("import", "-", store),
        ("add", "-", "a", "b"),
    ):
        status, out, err = run(*arguments)
        assert (status, out, "import STORE - --format F" in err) == (2, "", True)
    for queries in (["-", "a"], ["a", "-"]):
        status, out, err = run("lookup", store, *queries)
        assert (status, out) == (2, "")
        assert "-: it goes alone" in err


def test_an_export_of_nothing_says_what_there_is(run, store: str, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    status, out, err = run("export", store, path, "--to", "en-us")
    assert (status, out) == (0, f"{path}: 0 entries as csv, 0 left out\n")
    assert err == f"diglot: no entry was written; {store} has en → ko, en → ja\n"
    assert run("export", store, path, "--to", "ja")[2] == ""
    for language in ("ko", "ja"):
        assert run("remove", store, "all", "--to", language)[0] == 0
    status, _, err = run("export", store, path)
    assert (status, err) == (0, f"diglot: no entry was written; {store} has no entries\n")


def test_wrong_files_and_stores(run, store: str, file: str, tmp_path: Path) -> None:
    missing = str(tmp_path / "missing.db")
    for command in (["lookup", missing, "a"], ["stats", missing], ["verify", missing]):
        assert run(*command)[0] == 3
    for command in (["remove", missing, "1"], ["compact", missing], ["dedupe", missing]):
        assert run(*command)[0] == 3
    assert not os.path.exists(missing)
    # Changing a file of entries is refused, and so is what looks like a slip.
    for command in (["add", file, "a", "b"], ["remove", file, "1"], ["import", file, file]):
        status, _, err = run(*command)
        assert (status, "which cannot be changed" in err) == (2, True)
    status, _, err = run("import", tmp_path / "new.tmx", file)
    assert (status, "give the store first" in err) == (2, True)
    assert not (tmp_path / "new.tmx").exists()
    # A file with nothing in it may become a store, under the same rule.
    for name, expected in [("empty.tmx", 2), ("empty.db", 0)]:
        (tmp_path / name).touch()
        assert run("import", tmp_path / name, file)[0] == expected
    other = tmp_path / "other.db"
    sqlite3.connect(other).execute("CREATE TABLE t (a)").connection.close()
    status, _, err = run("stats", other)
    assert (status, "Traceback" in err) == (6, False)
    with open(store, "r+b") as database:
        database.truncate(2048)
    assert run("lookup", store, "a")[0] == 6


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes on this system")
def test_an_interrupted_import_adds_nothing(store: str, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    before = entries(store)
    with started("import", store, str(pipe)) as process:
        # Opening the pipe waits until the command does, and what is written does not fit into it:
        # it is reading.
        file = os.open(pipe, os.O_WRONLY)
        lines = b'{"source": "a", "target": "b"}\n' * 10_000
        os.write(file, lines)
        process.send_signal(signal.SIGINT)
        for _ in range(10_000):
            try:
                os.write(file, lines)
            except BrokenPipeError:
                break
        else:
            raise AssertionError("it went on reading")
        os.close(file)
        assert process.stderr.read() == b"diglot: interrupted\n"
        assert process.wait(timeout=60) == 130
    assert entries(store) == before


@pytest.mark.parametrize("command", COMMANDS)
def test_help_teaches(run, command: str) -> None:
    status, out, _ = run(command, "--help")
    assert status == 0
    assert f"diglot {command} " in out
    assert "examples:" in out
    assert "exit status: 0 " in out or command == "completion"
    assert max(len(line) for line in out.splitlines()) < 100


def test_all_commands_are_listed(run) -> None:
    status, out, _ = run("--help")
    assert status == 0
    assert all(f"    {command}" in out for command in COMMANDS)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(run, shell: str, tmp_path: Path) -> None:
    status, script, _ = run("completion", shell)
    assert status == 0
    for command in COMMANDS:
        assert command in script
    assert "--duplicates" in script
    path = tmp_path / "completion"
    path.write_text(script, "utf-8")
    check = {"bash": ["bash", "-n"], "zsh": ["zsh", "-n"], "fish": ["fish", "--no-execute"]}
    try:
        subprocess.run([*check[shell], str(path)], check=True, capture_output=True, timeout=60)
    except FileNotFoundError:
        pytest.skip(f"{shell} is not installed: its syntax is not checked")
    if shell == "bash":
        for typed, completed in [
            ("import --dup", ["--duplicates"]),
            ("import --format x", ["xliff", "xliff2"]),
            ("export --format j", ["jsonl"]),
            ("export --format m", []),
            # bash makes three words of --option=value.
            ("import --duplicates = n", ["newest"]),
            ("import --duplicates =", ["keep", "skip", "replace", "newest"]),
            ("import a.db b.tmx --format = j", ["jsonl"]),
            ("lookup memory.db --lines comp", ["completion"]),
        ]:
            words = (
                f"source '{path}'; COMP_WORDS=(diglot {typed}); COMP_CWORD={typed.count(' ') + 1}"
            )
            words += '; _diglot; echo "${COMPREPLY[@]}"'
            done = subprocess.run(
                ["bash", "-c", words], capture_output=True, text=True, timeout=60, cwd=tmp_path
            )
            assert done.stdout.split() == completed


def test_documented_commands_are_understood() -> None:
    """The examples of all commands' help are parsed."""
    parser = make_parser()
    [commands] = [action for action in parser._actions if isinstance(action.choices, dict)]
    parsed = 0
    for command in commands.choices.values():
        for line in command.epilog.splitlines():
            line = line.strip()
            if line.startswith("diglot "):
                words = shlex.split(line.split(" | ")[0].split(" > ")[0].split(" < ")[0])
                parser.parse_args(words[1:])
                parsed += 1
    assert parsed > 25


DOCS = (ROOT / "docs" / "cli.md").read_text("utf-8")
FILES = SHARED / "corpus" / "files"
NO_FILES = f"the folder {FILES} is missing: there are no files of other programs to try"


@pytest.mark.skipif(not FILES.exists(), reason=NO_FILES)
def test_the_documented_session(tmp_path: Path) -> None:
    [name] = FILES.glob("tmx/*OpenXLIFF_Java_es.tmx")
    (tmp_path / "project.tmx").write_bytes(name.read_bytes())
    [session] = re.findall(r"^```console\n(.*?)^```$", DOCS, re.MULTILINE | re.DOTALL)
    for step in session.removeprefix("$ ").split("\n$ "):
        command, _, expected = step.partition("\n")
        done = diglot(*shlex.split(command)[1:], folder=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.splitlines() == expected.splitlines()


def test_the_documented_python(capsys: pytest.CaptureFixture[str], monkeypatch) -> None:
    monkeypatch.chdir(ROOT)
    [(program, expected)] = re.findall(
        r"^```python\n(.*?)^```\n\n```\n(.*?)^```$", DOCS, re.M | re.S
    )
    exec(compile(program, "docs/cli.md", "exec"), {})
    assert capsys.readouterr().out == expected


@pytest.mark.skipif(not FILES.exists(), reason=NO_FILES)
def test_files_of_other_programs_go_in_and_come_out_again(run, tmp_path: Path) -> None:
    """What a new user would try: import each, look at the report, look something up, export it,
    and compare.
    """
    malformed = ("ImportTMXTest0.tmx", "codesimplifier__out__test1.xlf")
    columns = {
        "recull.csv": "--delimiter ; --column source=1 --column target=2 --from en --to ca",
        "testContent_escaped.csv": "--column source=post_filed --column target=title_field",
    }
    names = sorted(path for path in FILES.glob("*/*") if path.is_file())
    assert len(names) > 40
    taken = 0
    for number, path in enumerate(names):
        options = [found for end, found in columns.items() if path.name.endswith(end)]
        arguments = options[0].split() if options else []
        store = tmp_path / f"{number}.db"
        status, out, err = run("import", store, path, "--json", *arguments)
        if path.name.endswith(malformed):
            assert (status, str(path) in err) == (4, True)
            assert not store.exists() or entries(str(store)) == []
            continue
        assert (status, err) == (0, "")
        report = json.loads(out)
        assert report["read"] == report["added"] == len(entries(str(store)))
        assert report["read"] or report["skipped"]
        assert len(report["problems"]) == report["skipped"]
        if not report["read"]:
            continue
        taken += 1
        with SqliteTranslationMemory.open(store, read_only=True) as memory:
            expected = list(memory)
        query = expected[len(expected) // 2].source
        found = json.loads(run("lookup", store, "--json", "--max-hits", "1", "--", query)[1])
        [hit] = found["hits"]
        assert hit["score"] == 1
        copy = tmp_path / f"{number}.tmx"
        status, out, err = run("export", store, copy, "--json")
        assert (status, err, json.loads(out)["skipped"]) == (0, "", 0)
        memory = TranslationMemory()
        memory.import_file(copy)
        fields = ("source", "target", "source_language", "target_language", "source_id", "notes")
        assert [[getattr(entry, name) for name in fields] for entry in memory] == [
            [getattr(entry, name) for name in fields] for entry in expected
        ], path
        again = run("import", store, copy, "--duplicates", "skip", "--json")[1]
        assert json.loads(again)["added"] == 0
    assert taken > 35
