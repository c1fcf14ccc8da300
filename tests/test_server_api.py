"""The JSON API of a real server."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from diglot.server import schemas
from serving import Server, connected, received, serving

ENTRY = {"source": "Save the file", "target": "파일 저장", "source_language": "en"}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as server:
        yield server


@pytest.fixture
def client(server: Server) -> Iterator[httpx.Client]:
    with server.client() as client:
        yield client


def add(client: httpx.Client, **fields: Any) -> int:
    answer = client.post("/api/v1/entries", json={**ENTRY, **fields})
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


def error(answer: httpx.Response, status: int) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    assert set(answer.json()) == {"error"}
    return answer.json()["error"]


def test_an_entry_is_added_found_changed_and_removed(client: httpx.Client) -> None:
    metadata = {"a": [1, 2.5, None, True, "b"], "big": 2**80}
    id = add(client, domain="one", notes="n", metadata=metadata)
    entry = client.get(f"/api/v1/entries/{id}").json()["entry"]
    assert entry["metadata"] == metadata
    assert entry["target_language"] is None

    found = client.post("/api/v1/search", json={"query": "save the FILE", "domain": "one"}).json()
    assert found == {"hits": [{"id": id, "score": 1.0, "entry": entry}]}
    asked = client.get("/api/v1/search", params={"query": "save the FILE", "domain": "one"})
    assert asked.json() == found

    changed = {**ENTRY, "domain": "one", "target": "문서 저장"}
    assert client.put(f"/api/v1/entries/{id}", json=changed).status_code == 204
    found = client.post("/api/v1/search", json={"query": "Save the file", "domain": "one"}).json()
    assert [hit["entry"]["target"] for hit in found["hits"]] == ["문서 저장"]

    assert client.delete(f"/api/v1/entries/{id}").status_code == 204
    for answer in (
        client.get(f"/api/v1/entries/{id}"),
        client.put(f"/api/v1/entries/{id}", json=ENTRY),
        client.delete(f"/api/v1/entries/{id}"),
    ):
        assert error(answer, 404)["code"] == "unknown_entry"


def test_of_two_who_change_the_same_entry_the_second_is_told(client: httpx.Client) -> None:
    path = f"/api/v1/entries/{add(client, domain='tags')}"
    first = client.get(path).headers["etag"]
    assert re.fullmatch(r'"[0-9a-f]{32}"', first)
    assert client.get(path).headers["etag"] == first
    assert client.put(path, json=ENTRY, headers={"if-match": first}).status_code == 204
    second = client.get(path).headers["etag"]
    assert second != first
    for method, body in (("PUT", {**ENTRY, "target": "second"}), ("DELETE", None)):
        for tags in (first, f'"x", {first}', "x", second.strip('"'), "", '*, "x"'):
            answer = client.request(method, path, json=body, headers={"if-match": tags})
            refused = error(answer, 412)
            assert (refused["code"], refused["field"]) == ("entry_changed", "if-match")
    assert client.get(path).headers["etag"] == second
    # Several lines are one list.
    lines = [("if-match", '"x"'), ("if-match", second), ("if-match", '"y"')]
    assert client.put(path, json=ENTRY, headers=lines).status_code == 204
    # Each field counts, and that it is there.
    for name, value in {**ENTRY, "notes": "", "metadata": {}, "created_at": "x"}.items():
        changed = {**ENTRY, name: f"{value}!" if isinstance(value, str) else value}
        answer = client.put(path, json=changed, headers={"if-match": second})
        assert answer.status_code == 204
        # Who wrote it need not ask for its tag.
        third = answer.headers["etag"]
        assert client.get(path).headers["etag"] == third
        assert third != second, name
        assert client.put(path, json=ENTRY, headers={"if-match": third}).status_code == 204
    changed = {**ENTRY, "metadata": {"b": [1.0, -0.0, 1e22, 2**80, "\u2028😀"], "a": {"": None}}}
    assert client.put(path, json=changed).headers["etag"] == client.get(path).headers["etag"]
    # Without a tag, or with any, whatever is there is changed; a proxy may make tags weak.
    assert client.put(path, json=ENTRY).status_code == 204
    for tags in ("*", f'"x" , {second}', f"W/{second}"):
        assert client.put(path, json=ENTRY, headers={"if-match": tags}).status_code == 204
    assert client.delete(path, headers={"if-match": second}).status_code == 204
    assert error(client.put(path, json=ENTRY, headers={"if-match": "*"}), 404)


def test_many_entries_are_added_all_or_none(client: httpx.Client) -> None:
    entries = [{**ENTRY, "domain": "many", "target": str(number)} for number in range(10)]
    ids = client.post("/api/v1/entries/batch", json={"entries": entries}).json()["ids"]
    assert len(set(ids)) == 10
    entries[7]["source"] = "  "
    refused = error(client.post("/api/v1/entries/batch", json={"entries": entries}), 422)
    assert (refused["code"], refused["field"]) == ("empty_text", "entries[7].source")
    body = {"query": "Save the file", "domain": "many", "max_hits": 100}
    assert [hit["id"] for hit in client.post("/api/v1/search", json=body).json()["hits"]] == ids


def test_a_batch_of_searches_finds_what_each_search_finds(client: httpx.Client) -> None:
    for source in ("Open the folder", "Close the window", "Open the window"):
        add(client, source=source, domain="batch")
    queries = ["open the window", "close", "nothing like it"]
    filters = {"domain": "batch", "max_hits": 2, "min_score": 0.3}
    body = {"queries": queries, **filters}
    results = client.post("/api/v1/search/batch", json=body).json()["results"]
    assert results == [
        client.post("/api/v1/search", json={"query": query, **filters}).json() for query in queries
    ]
    assert [len(result["hits"]) for result in results] == [2, 1, 0]


@pytest.mark.parametrize(
    ("body", "status", "code", "field"),
    [
        ("{", 400, "invalid_json", None),
        ('{"query": "\\ud800"}', 400, "invalid_json", None),
        (b'{"query": "\xff"}', 400, "invalid_json", None),
        ("", 400, "invalid_json", None),
        ("[]", 422, "invalid_type", None),
        ("{}", 422, "missing_field", "query"),
        ('{"query": 1}', 422, "invalid_type", "query"),
        ('{"query": ""}', 422, "empty_text", "query"),
        ('{"query": " \\u3000"}', 422, "empty_text", "query"),
        ('{"query": "a", "max_hits": 0}', 422, "invalid_value", "max_hits"),
        ('{"query": "a", "max_hits": 101}', 422, "invalid_value", "max_hits"),
        ('{"query": "a", "max_hits": 1e300}', 422, "invalid_value", "max_hits"),
        ('{"query": "a", "max_hits": 1.5}', 422, "invalid_value", "max_hits"),
        ('{"query": "a", "max_hits": "5"}', 422, "invalid_type", "max_hits"),
        ('{"query": "a", "min_score": 1.5}', 422, "invalid_value", "min_score"),
        ('{"query": "a", "min_score": "1"}', 422, "invalid_type", "min_score"),
        ('{"query": "a", "sourceLanguage": "en"}', 422, "unknown_field", "sourceLanguage"),
        ('{"query": "a", "x": ' + "[" * 5000 + "]" * 5000 + "}", 422, "unknown_field", "x"),
    ],
)
def test_what_is_wrong_with_a_search_is_said(
    client: httpx.Client, body: str, status: int, code: str, field: str | None
) -> None:
    refused = error(client.post("/api/v1/search", content=body), status)
    assert (refused["code"], refused["field"]) == (code, field)
    assert field is None or field in refused["message"]


@pytest.mark.parametrize(
    ("body", "what"),
    [
        (b'{"query": "\\ud800"}', "surrogate pair (byte 11)"),
        (b'{"query": "a\\\\\\uDBFF"}', "surrogate pair (byte 14)"),
        (b'{"query": "\\udc00"}', "surrogate pair"),
        (b'{"query": "\\ud800\\ud800"}', "surrogate pair"),
        (b'{"query": "\\ud800", "domain": "a"}', "surrogate pair"),
        # A backslash and five letters; it is cut off indeed.
        (b'{"query": "\\\\ud800"', "truncated"),
        (b'{"query": "a"', "truncated"),
    ],
)
def test_half_a_character_is_told_from_a_body_that_is_cut_off(
    client: httpx.Client, body: bytes, what: str
) -> None:
    refused = error(client.post("/api/v1/search", content=body), 400)
    assert refused["code"] == "invalid_json"
    assert what in refused["message"]
    assert what == "truncated" or "truncated" not in refused["message"]


def test_a_field_without_a_name_is_said(client: httpx.Client) -> None:
    refused = error(client.get("/api/v1/search?query=a&=x"), 422)
    assert refused["message"] == "the query string: '' is not known"
    refused = error(client.post("/api/v1/search", content=b'{"query": "a", "": 1}'), 422)
    assert refused["message"] == "the body: '' is not known"


def test_unknown_parameters_are_refused_everywhere(client: httpx.Client) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    asked = 0
    for path, methods in paths.items():
        if not path.startswith("/api/"):
            continue
        for method in methods:
            answer = client.request(method, f"{path.replace('{id}', '1')}?nonsense=1")
            refused = error(answer, 422)
            assert (refused["code"], refused["field"]) == ("unknown_field", "nonsense"), path
            asked += 1
    assert asked > 20
    # Clients of another's protocol and probes send what they like.
    for path in ("/tmserver/languages/", "/health", "/ready", "/metrics"):
        assert client.get(f"{path}?nonsense=1").status_code == 200


@pytest.mark.parametrize(
    ("lines", "field"),
    [
        (["host: localhost:80@evil"], "host"),
        (["host: localhost/"], "host"),
        (["host: localhost:a"], "host"),
        (["host: a b"], "host"),
        (["host: [::1"], "host"),
        ([], "host"),
        (["host: localhost", "host: localhost"], "host"),
        (
            ["host: localhost", "authorization: Bearer a", "authorization: Bearer b"],
            "authorization",
        ),
        (["host: localhost", "origin: http://localhost", "origin: http://evil"], "origin"),
    ],
)
def test_who_asks_whom_is_said_once(server: Server, lines: list[str], field: str) -> None:
    with connected(server) as connection:
        head = ["GET /health HTTP/1.1", *lines, "connection: close", "", ""]
        connection.sendall("\r\n".join(head).encode())
        head, _, body = received(connection).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    refused = json.loads(body)["error"]
    assert (refused["code"], refused["field"]) == ("invalid_request", field)


@pytest.mark.parametrize("host", ["LOCALHOST", "localhost:", "127.0.0.1:80", "[::1]", "[::1]:80"])
def test_hosts_that_are_taken(client: httpx.Client, host: str) -> None:
    assert client.get("/api/v1/permissions", headers={"host": host}).status_code == 200


def test_a_whole_number_may_be_written_as_a_fraction(client: httpx.Client) -> None:
    for _ in range(3):
        add(client, source="one of three", domain="whole")
    body = '{"query": "one of three", "domain": "whole", "max_hits": 2.0}'
    assert len(client.post("/api/v1/search", content=body).json()["hits"]) == 2
    body = '{"queries": ["one of three"], "domain": "whole", "max_hits": 2e0}'
    (found,) = client.post("/api/v1/search/batch", content=body).json()["results"]
    assert len(found["hits"]) == 2


@pytest.mark.parametrize(
    ("queries", "code"),
    [
        (["a", " "], "empty_text"),
        (["a", "b" * 40_000], "text_too_long"),
        (["a", 1], "invalid_type"),
    ],
)
def test_an_error_of_a_batch_says_which_query_it_is(
    client: httpx.Client, queries: list[Any], code: str
) -> None:
    refused = error(client.post("/api/v1/search/batch", json={"queries": queries}), 422)
    assert (refused["code"], refused["field"], refused["position"]) == (code, "queries[1]", 1)
    assert refused["message"].startswith("queries[1]")


@pytest.mark.parametrize(
    ("method", "path", "body", "field", "allowed"),
    [
        ("POST", "import?duplicates=x", None, "duplicates", ["keep", "newest", "replace", "skip"]),
        ("POST", "import?format=text", None, "format", [*schemas.READ]),
        ("GET", "export?format=mo", None, "format", [*schemas.WRITTEN]),
        ("GET", "concordance?text=a&side=x", None, "side", ["both", "source", "target"]),
        (
            "POST",
            "records/batch",
            {"records": [{"text": "a", "translation_status": "x"}]},
            "records[0].translation_status",
            ["draft", "missing", "verified"],
        ),
    ],
)
def test_what_is_allowed_is_said(
    client: httpx.Client, method: str, path: str, body: Any, field: str, allowed: list[str]
) -> None:
    refused = error(client.request(method, f"/api/v1/{path}", json=body), 422)
    assert (refused["code"], refused["field"]) == ("invalid_value", field)
    assert refused["message"].endswith(f"; allowed are {', '.join(allowed)}")


def test_a_text_file_cannot_be_imported_alone(client: httpx.Client) -> None:
    refused = error(client.post("/api/v1/import?filename=a.txt", content=b"a"), 422)
    assert (refused["code"], refused["field"]) == ("invalid_value", "filename")


@pytest.mark.parametrize(
    ("query", "status", "code", "field"),
    [
        ("", 422, "missing_field", "query"),
        ("query=a&query=b", 422, "invalid_value", "query"),
        ("query=a&max_hits=x", 422, "invalid_type", "max_hits"),
        ("query=a&max_hits=-1", 422, "invalid_value", "max_hits"),
        ("query=a&min_score=nan", 422, "invalid_value", "min_score"),
        ("query=%ff", 400, "invalid_query", None),
        ("query=a&nonsense=1", 422, "unknown_field", "nonsense"),
        ("&".join(f"x{n}=1" for n in range(99)), 400, "invalid_query", None),
    ],
)
def test_what_is_wrong_with_a_query_string_is_said(
    client: httpx.Client, query: str, status: int, code: str, field: str | None
) -> None:
    refused = error(client.get(f"/api/v1/search?{query}"), status)
    assert (refused["code"], refused["field"]) == (code, field)


@pytest.mark.parametrize(
    ("fields", "code", "field"),
    [
        ({"source": None}, "invalid_type", "source"),
        ({"target": "\t"}, "empty_text", "target"),
        ({"metadata": []}, "invalid_type", "metadata"),
        ({"tags": []}, "unknown_field", "tags"),
    ],
)
def test_what_is_wrong_with_an_entry_is_said(
    client: httpx.Client, fields: dict[str, Any], code: str, field: str
) -> None:
    body = {**ENTRY, **fields}
    refused = error(client.post("/api/v1/entries", json=body), 422)
    assert (refused["code"], refused["field"]) == (code, field)
    batch = {"entries": [ENTRY, body]}
    refused = error(client.post("/api/v1/entries/batch", json=batch), 422)
    assert (refused["code"], refused["field"]) == (code, f"entries[1].{field}")


def test_unknown_paths_and_methods(client: httpx.Client) -> None:
    assert error(client.get("/api/v1/nothing"), 404)["code"] == "not_found"
    for id in ("x", "-1", "1.0", "٣", 2**53, 2**63 - 1, 10**30, "1" * 10_000):
        for method in ("GET", "DELETE"):
            refused = error(client.request(method, f"/api/v1/entries/{id}"), 422)
            assert refused["field"] == "id"
            assert refused["message"] == f"id is not a whole number from 0 to {2**53 - 1}"
    assert error(client.get(f"/api/v1/entries/{2**53 - 1}"), 404)["code"] == "unknown_entry"
    answer = client.patch("/api/v1/search")
    assert error(answer, 405)["code"] == "method_not_allowed"
    assert answer.headers["allow"] == "POST, GET"


def test_records_are_kept_and_recalled(client: httpx.Client) -> None:
    body = {"text": "按下保存按钮以后文件会写到磁盘", "namespace": "notes"}
    record = client.post("/api/v1/records", json=body).json()
    assert (record["lang"], record["translation_status"]) == ("zh", "missing")
    path = f"/api/v1/records/{record['id']}"
    assert client.get(path).json() == record
    english = "The file is written when the save button is hit"
    changed = client.patch(path, json={"text_en": english}).json()
    assert (changed["text_en"], changed["translation_source"]) == (english, "llm")
    asked = {"query": "file is written when the save button", "namespace": "notes", "limit": 5.0}
    before = client.get("/api/v1/kpis").json()["requests"].get("recall", {"count": 0})
    recalled = client.post("/api/v1/recall", json=asked).json()
    assert [hit["record"] for hit in recalled["hits"]] == [changed]
    assert recalled["fallback_used"] is True
    # What changes nothing is no change.
    assert client.patch(path, json={}).json() == client.get(path).json() == changed
    assert client.post(f"{path}/mismatch", json={"note": "no"}).status_code == 204
    kpis = client.get("/api/v1/kpis").json()
    assert kpis["recall"]["mismatches"][0]["id"] == record["id"]
    assert kpis["requests"]["recall"]["count"] == before["count"] + 1
    assert client.delete(path).status_code == 204
    assert error(client.get(path), 404)["code"] == "unknown_record"
    assert error(client.patch(path, json={"lang": "en"}), 404)["code"] == "unknown_record"


def test_records_are_added_all_or_none(client: httpx.Client) -> None:
    records = [{"id": "r-1", "text": "one"}, {"id": "r-1", "text": "two"}]
    refused = error(client.post("/api/v1/records/batch", json={"records": records}), 422)
    assert (refused["code"], refused["position"]) == ("duplicate_id", 1)
    assert client.get("/api/v1/records/r-1").status_code == 404
    records[1]["id"] = "r-2"
    answer = client.post("/api/v1/records/batch", json={"records": records})
    assert answer.json() == {"ids": ["r-1", "r-2"]}


def test_figures(client: httpx.Client) -> None:
    add(client, domain="figures")
    stats = client.get("/api/v1/stats").json()
    assert stats["entries"] >= 1
    assert sum(stats["bytes"].values()) > 0
    text = client.get("/metrics").text
    assert f"diglot_entries {stats['entries']:.1f}" in text
    assert 'diglot_http_requests_total{operation="add_entry",status="201"}' in text
    assert client.get("/health").json() == {"status": "ok"}
    assert client.get("/ready").json() == {"status": "ready"}
    assert client.head("/health").status_code == 200
    permissions = client.get("/api/v1/permissions").json()
    assert permissions == {"name": None, "read": None, "write": None, "admin": True}


def test_pages_of_other_sites_get_nothing(client: httpx.Client) -> None:
    headers = {"host": "evil.example"}
    assert error(client.get("/api/v1/stats", headers=headers), 403)["code"] == "wrong_host"
    headers = {"origin": "http://evil.example"}
    answer = client.post("/api/v1/entries", json=ENTRY, headers=headers)
    assert error(answer, 403)["code"] == "wrong_origin"
    headers = {"origin": str(client.base_url).rstrip("/")}
    answer = client.post("/api/v1/search", json={"query": "a"}, headers=headers)
    assert answer.status_code == 200


def test_concordance_goes_page_by_page(client: httpx.Client) -> None:
    ids = [add(client, target=f"쪽 {number}", domain="pages") for number in range(5)]
    add(client, source="something else", target="그 밖의 것", domain="pages")
    asked = {"text": "THE  file", "domain": "pages", "limit": "2"}
    pages = []
    for _ in range(3):
        answer = client.get("/api/v1/concordance", params=asked).json()
        pages.append([item["id"] for item in answer["entries"]])
        asked["after"] = answer["next"]
    assert pages == [ids[:2], ids[2:4], ids[4:]]
    assert answer["next"] is None
    asked = {"text": "쪽 3", "side": "target", "domain": "pages"}
    answer = client.get("/api/v1/concordance", params=asked).json()
    assert [item["id"] for item in answer["entries"]] == [ids[3]]
    asked["side"] = "source"
    assert client.get("/api/v1/concordance", params=asked).json()["entries"] == []
    for bad, field in (
        ("text=%20", "text"),
        ("text=a&side=x", "side"),
        ("text=a&limit=0", "limit"),
    ):
        assert error(client.get(f"/api/v1/concordance?{bad}"), 422)["field"] == field


def test_facets_count_entries(client: httpx.Client) -> None:
    for target_language in ("ko", "ko", "ja", None):
        add(client, target_language=target_language, namespace="facets")
    answer = client.get("/api/v1/facets", params={"namespace": "facets"}).json()
    assert answer == {
        "entries": 4,
        "source_languages": [{"value": "en", "entries": 4}],
        "target_languages": [
            {"value": "ko", "entries": 2},
            {"value": "ja", "entries": 1},
            {"value": None, "entries": 1},
        ],
        "domains": [{"value": None, "entries": 4}],
        "namespaces": [{"value": "facets", "entries": 4}],
    }
