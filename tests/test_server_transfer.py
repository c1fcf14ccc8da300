"""Importing and exporting files over HTTP."""

from __future__ import annotations

import gzip
import json
import re
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from diglot.server.keys import new_key
from diglot.server.schemas import READ, WRITTEN
from serving import Server, connected, request, serving

ENTRIES = [
    {"source": f"Source {number}", "target": f"목표 {number}", "source_language": "en"}
    for number in range(5)
]
LINES = "".join(json.dumps(entry) + "\n" for entry in ENTRIES).encode()


@pytest.fixture(scope="module")
def served(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Server, dict[str, str], Path]]:
    folder = tmp_path_factory.mktemp("server")
    keys, text = {}, None
    for name, rights in {
        "admin": {"read": ["*"], "write": ["*"], "admin": True},
        "a": {"read": ["a"], "write": ["a"]},
        "b": {"read": ["b"], "write": ["b"]},
        "other": {"read": ["c"], "write": ["c"]},
        "one": {"read": ["one"], "write": ["one"]},
        "two": {"read": ["two"], "write": ["two"]},
        "both": {"read": ["a", "b"], "write": ["a", "b"]},
    }.items():
        keys[name], text = new_key(name, text, **rights)
    assert text is not None
    (folder / "keys.toml").write_text(text)
    (folder / "tmp").mkdir()
    options = ("--keys", str(folder / "keys.toml"), "--max-import", "100000")
    environment = {"TMPDIR": str(folder / "tmp"), "DIGLOT_MAX_IMPORT_ENTRIES": "1000"}
    # Clients that wait for what a test does are not to be cut off.
    environment["DIGLOT_MAX_TIME"] = "300"
    with serving(folder / "memory.db", *options, environment=environment) as server:
        yield server, keys, folder / "tmp"
    assert not list((folder / "tmp").iterdir()), "nothing is left behind"


@pytest.fixture
def clients(served: tuple[Server, dict[str, str], Path]) -> Iterator[dict[str, httpx.Client]]:
    server, keys, _ = served
    clients = {name: server.client(key) for name, key in keys.items()}
    yield clients
    for client in clients.values():
        client.close()


def imported(client: httpx.Client, content: bytes, **query: Any) -> dict[str, Any]:
    answer = client.post("/api/v1/import", content=content, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.json()["error"]["code"] == code
    return answer.json()["error"]


def exported(client: httpx.Client, **query: Any) -> bytes:
    answer = client.get("/api/v1/export", params=query)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-disposition"].startswith('attachment; filename="export.')
    return answer.content


def test_what_is_exported_can_be_imported_again(clients: dict[str, httpx.Client]) -> None:
    report = imported(clients["admin"], LINES, filename="some.jsonl", domain="there and back")
    assert (report["path"], report["format"]) == ("some.jsonl", "jsonl")
    assert (report["read"], report["added"], report["skipped"]) == (5, 5, 0)
    formats = {
        item["name"]: item["endings"] for item in clients["admin"].get("/api/v1/formats").json()
    }
    for name in ("tmx", "jsonl", "csv", "tsv"):
        file = exported(clients["admin"], format=name, domain="there and back")
        ending = formats[name][0]
        for content, filename in ((file, f"x.{ending}"), (gzip.compress(file), f"x.{ending}.gz")):
            query = {"filename": filename, "domain": name, "duplicates": "skip"}
            imported(clients["admin"], content, **query)
        search = {"query": "Source 1", "domain": name, "max_hits": 10, "min_score": 0.1}
        hits = clients["admin"].post("/api/v1/search", json=search).json()["hits"]
        assert hits[0]["entry"]["target"] == "목표 1", name
        assert len(hits) == 5, name


def test_each_format_is_exported_or_refused(clients: dict[str, httpx.Client]) -> None:
    entries = [{**entry, "target_language": "ko"} for entry in ENTRIES]
    lines = "".join(json.dumps(entry) + "\n" for entry in entries).encode()
    imported(clients["admin"], lines, filename="a.jsonl", domain="each")
    for item in clients["admin"].get("/api/v1/formats").json():
        query = {"format": item["name"], "domain": "each"}
        if item["name"] in ("mo", "text"):
            answer = clients["admin"].get("/api/v1/export", params=query)
            refused(answer, 422, "invalid_value")
        else:
            file = exported(clients["admin"], **query)
            assert "목표 4".encode() in file, item
            query = {"filename": "x.xlf" if item["name"] == "xliff2" else f"x.{item['name']}"}
            if item["name"] != "xliff":
                report = imported(clients["admin"], file, domain="each again", **query)
                assert (report["format"], report["added"]) == (item["name"], 5)


def test_a_dry_run_changes_nothing(clients: dict[str, httpx.Client]) -> None:
    query = {"filename": "a.jsonl", "domain": "dry", "namespace": "dry"}
    report = imported(clients["admin"], LINES, dry_run="true", **query)
    assert (report["dry_run"], report["added"]) == (True, 5)
    assert clients["admin"].get("/api/v1/facets?namespace=dry").json()["entries"] == 0
    imported(clients["admin"], LINES, **query)
    report = imported(clients["admin"], LINES, duplicates="skip", **query)
    assert (report["added"], report["duplicate"]) == (0, 5)


def test_what_cannot_be_used_is_said(clients: dict[str, httpx.Client]) -> None:
    client = clients["admin"]
    content = LINES + b'{"source": "s"}\nnonsense\n'
    report = imported(client, content, filename="a.jsonl", namespace="problems")
    assert (report["added"], report["skipped"]) == (5, 2)
    assert [problem["line"] for problem in report["problems"]] == [6, 7]
    many = LINES + b"nonsense\n" * 1100
    report = imported(client, many, filename="a.jsonl", namespace="many problems")
    assert (report["skipped"], len(report["problems"])) == (1100, 1000)
    query = {"filename": "my file.jsonl", "namespace": "strict", "strict": "true"}
    answer = client.post("/api/v1/import", content=content, params=query)
    # The code of what cannot be used.
    error = refused(answer, 422, "invalid_value")
    assert error["line"] == 6
    assert error["message"].startswith("my file.jsonl, line 6")
    assert client.get("/api/v1/facets?namespace=strict").json()["entries"] == 0
    for content, query in (
        (b"<html><body>", {"filename": "a.tmx"}),
        (b"", {"filename": "a.tmx"}),
        (b"\x1f\x8b damaged", {"filename": "a.jsonl.gz"}),
        (LINES, {"format": "tmx"}),
        (LINES, {"format": "nonsense"}),
        (LINES, {"format": "jsonl", "delimiter": ";"}),
        (LINES, {"format": "jsonl", "duplicates": "sometimes"}),
    ):
        answer = client.post("/api/v1/import", content=content, params=query)
        assert answer.status_code == 422, answer.text
        assert "/tmp" not in answer.text
    for content, kind in ((b"nonsense", ""), (b"\x00\x01\xff\xfe", " (this is a binary file)")):
        error = refused(client.post("/api/v1/import", content=content), 422, "invalid_value")
        assert error["field"] == "format"
        assert error["message"] == (
            f"format is not given, and the file does not tell by its name{kind};"
            f" allowed are {', '.join(READ)}"
        )
    for language in ("de", "ko"):
        entry = {"source": "s", "target": "t", "source_language": "en", "domain": "languages"}
        entry["target_language"] = language
        assert client.post("/api/v1/entries", json=entry).status_code == 201
    answer = client.get("/api/v1/export?format=po&domain=languages")
    error = refused(answer, 422, "invalid_value")
    assert error["field"] == "target_language"
    assert error["message"].startswith("target_language must be given")
    refused(client.get("/api/v1/export?format=nonsense"), 422, "invalid_value")
    refused(client.get("/api/v1/export"), 422, "missing_field")


def test_a_file_is_bounded(clients: dict[str, httpx.Client]) -> None:
    client = clients["admin"]
    query = {"filename": "a.jsonl", "namespace": "bounded"}
    answer = client.post("/api/v1/import", content=b" " * 100_001, params=query)
    refused(answer, 413, "too_large")
    bomb = gzip.compress(LINES * 201)
    refused(client.post("/api/v1/import", content=bomb, params=query), 422, "too_many")
    assert client.get("/api/v1/facets?namespace=bounded").json()["entries"] == 0


def test_progress_and_the_report_come_line_by_line(clients: dict[str, httpx.Client]) -> None:
    headers = {"accept": "application/x-ndjson"}
    query = {"filename": "a.jsonl", "namespace": "lines"}
    answer = clients["admin"].post("/api/v1/import", content=LINES, params=query, headers=headers)
    assert answer.headers["content-type"] == "application/x-ndjson"
    *progress, last = map(json.loads, answer.text.splitlines())
    assert last["report"]["added"] == 5
    assert all(set(line) == {"progress"} for line in progress)
    query["format"] = "tmx"
    answer = clients["admin"].post("/api/v1/import", content=LINES, params=query, headers=headers)
    (last,) = map(json.loads, answer.text.splitlines())
    assert last["error"]["code"] == "invalid_format"


def test_a_tenant_imports_and_exports_only_what_is_its_own(
    clients: dict[str, httpx.Client],
) -> None:
    theirs = [{**entry, "namespace": "two", "notes": "of one"} for entry in ENTRIES]
    lines = "".join(json.dumps(entry) + "\n" for entry in theirs).encode()
    imported(clients["one"], lines, filename="a.jsonl", namespace="one")
    assert clients["two"].get("/api/v1/facets").json()["entries"] == 0
    imported(clients["two"], LINES, filename="a.jsonl")
    # What is replaced is in the same namespace.
    query = {"filename": "a.jsonl", "namespace": "one", "duplicates": "replace"}
    report = imported(clients["one"], lines, **query)
    assert (report["duplicate"], report["replaced"]) == (5, 0)
    for name, notes in (("one", "of one"), ("two", None)):
        entries = [
            json.loads(line) for line in exported(clients[name], format="jsonl").splitlines()
        ]
        assert [(entry["namespace"], entry.get("notes")) for entry in entries] == [
            (name, notes)
        ] * 5
        other = "two" if name == "one" else "one"
        answer = clients[name].get(f"/api/v1/export?format=jsonl&namespace={other}")
        refused(answer, 403, "forbidden")
        answer = clients[name].post(f"/api/v1/import?namespace={other}", content=lines)
        refused(answer, 403, "forbidden")
    assert refused(clients["both"].get("/api/v1/export?format=tmx"), 422, "missing_field")


@pytest.mark.parametrize("format", [*WRITTEN, "camelCase"])
def test_units_of_other_namespaces_are_left_out(
    clients: dict[str, httpx.Client], format: str
) -> None:
    entries = [
        {"source": f"Source {number}", "target": "t", "namespace": name, "domain": f"of {format}"}
        | {"source_language": "en", "target_language": "ko"}
        for number, name in enumerate(("a", "b", None, "never heard of", "b", "A"))
    ]
    body = {"entries": entries}
    assert clients["admin"].post("/api/v1/entries/batch", json=body).status_code == 201
    name = "jsonl" if format == "camelCase" else format
    file = exported(clients["admin"], format=name, domain=f"of {format}")
    if format == "camelCase":
        file = file.replace(b"source_language", b"sourceLanguage")
    query = {"format": name, "filename": "some file"}

    def import_into(client: str, **more: str) -> tuple[dict[str, list[str]], list[str]]:
        """The sources that were added, by namespace, and the codes of what was left out."""
        domain = f"{format} {client} {more}"
        asked = {**query, **more, "domain": domain}
        dry = imported(clients[client], file, **asked, dry_run="true")
        assert clients["admin"].get(f"/api/v1/export?format=jsonl&domain={domain}").content == b""
        report = imported(clients[client], file, **asked)
        assert {**report, "dry_run": True} == dry
        found: dict[str, list[str]] = {}
        for line in exported(clients["admin"], format="jsonl", domain=domain).splitlines():
            entry = json.loads(line)
            found.setdefault(entry.get("namespace"), []).append(entry["source"][-1:])
        problems = report["problems"]
        assert report["skipped"] == len(problems)
        for problem in problems:
            assert problem["line"] > 0
            assert "allowed are" in problem["reason"]
        return found, [problem["code"] for problem in problems]

    foreign, missing = "foreign_namespace", "missing_namespace"
    if format == "po":
        # It cannot hold namespaces.
        assert import_into("a") == ({"a": list("012345")}, [])
        assert import_into("both") == ({}, [missing] * 6)
    else:
        assert import_into("a") == ({"a": ["0", "2"]}, [foreign] * 4)
        assert import_into("both") == (
            {"a": ["0"], "b": ["1", "4"]},
            [missing, foreign, foreign],
        )
        # With the right to write everywhere, each goes where it says.
        found, problems = import_into("admin")
        assert (len(found), problems) == (5, [])
        # Line by line, as the page asks; and strict, which is all or none.
        asked = {**query, "domain": f"{format} lines"}
        answer = clients["a"].post(
            "/api/v1/import",
            content=file,
            params=asked,
            headers={"accept": "application/x-ndjson"},
        )
        report = json.loads(answer.text.splitlines()[-1])["report"]
        assert (report["added"], report["skipped"]) == (2, 4)
        asked = {**query, "domain": f"{format} strict", "strict": "true"}
        answer = clients["a"].post("/api/v1/import", content=file, params=asked)
        error = refused(answer, 422, "foreign_namespace")
        assert error["line"] == report["problems"][0]["line"]
        assert error["message"].startswith(f"some file, line {error['line']}: namespace is ")
        domain = f"{format} strict"
        assert clients["admin"].get(f"/api/v1/export?format=jsonl&domain={domain}").content == b""
    # What is asked for outright is done.
    assert import_into("a", namespace="a") == ({"a": list("012345")}, [])
    assert import_into("both", namespace="b") == ({"b": list("012345")}, [])


def test_a_key_has_one_import_at_a_time_and_all_keys_four(
    served: tuple[Server, dict[str, str], Path], clients: dict[str, httpx.Client]
) -> None:
    server, keys, folder = served
    path = "/api/v1/import?filename=a.jsonl&namespace={}"
    go_on = threading.Event()

    def slow(name: str, namespace: str) -> httpx.Response:
        def content() -> Iterator[bytes]:
            yield LINES
            assert go_on.wait(60)

        with server.client(keys[name]) as client:
            return client.post(path.format(namespace), content=content())

    def begun(count: int) -> None:
        # Each that has begun has a folder of its own.
        while len(list(folder.iterdir())) < count:
            pass

    with ThreadPoolExecutor() as threads:
        try:
            first = threads.submit(slow, "a", "a")
            begun(1)
            answer = clients["a"].post(path.format("a"), content=LINES)
            refused(answer, 429, "import_running")
            assert answer.headers["retry-after"] == "1"
            assert clients["b"].post(path.format("b"), content=LINES).status_code == 200
            others = [threads.submit(slow, *each) for each in (("b", "b"), ("both", "a"))]
            others.append(threads.submit(slow, "other", "c"))
            begun(4)
            refused(clients["admin"].post(path.format("d"), content=LINES), 503, "busy")
            # Others wait for none of them.
            assert clients["admin"].get("/api/v1/formats").status_code == 200
        finally:
            go_on.set()
        assert [one.result().status_code for one in (first, *others)] == [200] * 4
    assert clients["a"].post(path.format("a"), content=LINES).status_code == 200
    assert clients["admin"].post(path.format("d"), content=LINES).status_code == 200


def uploads(server: Server, folder: Path) -> int:
    """Bytes of the files that a server has open in a folder and that have no names there."""
    size = 0
    for descriptor in Path(f"/proc/{server.process.pid}/fd").iterdir():
        with suppress(OSError):
            if descriptor.readlink().is_relative_to(folder):
                size += descriptor.stat().st_size
    return size


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="this system has no /proc")
def test_nothing_of_a_file_is_left_when_the_server_is_killed(tmp_path: Path) -> None:
    with (
        serving(":memory:", environment={"TMPDIR": str(tmp_path)}) as server,
        connected(server) as connection,
    ):
        content = LINES * 20_000
        sent = request("POST", "/api/v1/import?filename=a.jsonl", content)
        connection.sendall(sent[:-1])
        while not uploads(server, tmp_path):
            pass
        server.stop(signal.SIGKILL)
    left = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not left


def test_an_import_ends_when_its_client_hangs_up(
    served: tuple[Server, dict[str, str], Path], clients: dict[str, httpx.Client]
) -> None:
    server, keys, folder = served

    def content() -> Iterator[bytes]:
        yield LINES
        raise KeyboardInterrupt

    with server.client(keys["admin"]) as client, pytest.raises(KeyboardInterrupt):
        client.post("/api/v1/import?namespace=gone&filename=a.jsonl", content=content())
    pattern = r'diglot_http_requests_total\{operation="import_file",status="499"\} 1\.0'
    while not re.search(pattern, clients["admin"].get("/metrics").text):
        pass
    assert not list(folder.iterdir())
    assert clients["admin"].get("/api/v1/facets?namespace=gone").json()["entries"] == 0


def test_an_export_waits_for_its_client_and_ends_with_it(
    served: tuple[Server, dict[str, str], Path], clients: dict[str, httpx.Client]
) -> None:
    server, keys, folder = served
    entries = [{"source": f"{n} " * 2000, "target": "t", "namespace": "a"} for n in range(900)]
    for place in range(0, len(entries), 300):
        body = {"entries": entries[place : place + 300]}
        assert clients["admin"].post("/api/v1/entries/batch", json=body).status_code == 201
    path = "/api/v1/export?format=jsonl&namespace=a"
    whole = clients["admin"].get(path).content
    assert len(whole.splitlines()) >= 900
    with server.client(keys["a"]) as slow, slow.stream("GET", path) as answer:
        assert answer.status_code == 200
        assert "content-length" not in answer.headers
        # Most of it is not written yet, and nothing of it to a file.
        assert not list(folder.iterdir())
        assert refused(clients["a"].get(path), 429, "export_running")
        # What comes later is not in it, and the server has time for others.
        clients["a"].post("/api/v1/entries", json={"source": "later", "target": "t"})
        assert clients["admin"].get(path).content.startswith(whole)
        pieces = answer.iter_raw()
        content = next(pieces)
        content += b"".join(pieces)
        assert content == whole
    with server.client(keys["a"]) as slow, slow.stream("GET", path) as answer:
        next(answer.iter_raw())
    # The client hung up, which the server finds out by itself.
    while (answer := clients["a"].get(path)).status_code == 429:
        pass
    assert answer.content.startswith(whole)


def test_there_are_few_exports_at_a_time(
    served: tuple[Server, dict[str, str], Path], clients: dict[str, httpx.Client]
) -> None:
    server, keys, _ = served
    entries = [{"source": f"{n} " * 2000, "target": "t", "namespace": "b"} for n in range(300)]
    for _ in range(3):
        body = {"entries": entries}
        assert clients["admin"].post("/api/v1/entries/batch", json=body).status_code == 201
    path = "/api/v1/export?format=jsonl&namespace=b"
    with ExitStack() as stack:
        for name in ("admin", "b", "both"):
            client = stack.enter_context(server.client(keys[name]))
            answer = stack.enter_context(client.stream("GET", path))
            assert answer.status_code == 200
        refused(clients["other"].get("/api/v1/export?format=jsonl"), 503, "busy")
        # Others wait for none of them.
        search = {"query": "later", "namespace": "b"}
        assert clients["admin"].post("/api/v1/search", json=search).status_code == 200
