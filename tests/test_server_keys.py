"""Keys: who gets in, and what tenants cannot learn of each other."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diglot.errors import FormatError, InvalidValueError
from diglot.server.ids import IdCipher
from diglot.server.keys import Keys, new_key
from diglot.server.run import check_address
from serving import Server, serving

SECRET = "what only b may know"

KEYS: dict[str, dict[str, Any]] = {
    "a": {"read": ["a"], "write": ["a"]},
    "b": {"read": ["b"], "write": ["b"]},
    "both": {"read": ["a", "b"], "write": ["a", "b"]},
    "reader": {"read": ["a"]},
    "writer": {"write": ["a"]},
    "writer-of-all": {"write": ["*"]},
    "half": {"read": ["a"], "write": ["a", "b"]},
    "none": {},
    "all": {"read": ["*"], "write": ["*"]},
    "admin": {"read": ["*"], "admin": True},
    "slow": {"read": ["a"], "rate": 0.001, "burst": 3},
}


def make_key(file: Path, name: str, *options: str) -> str:
    command = [sys.executable, "-m", "diglot", "key", str(file), name, *options]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    file = tmp_path_factory.mktemp("keys") / "keys.toml"
    text, keys = None, {}
    for name, fields in KEYS.items():
        keys[name], text = new_key(name, text, **{"read": [], "write": [], **fields})
    file.write_text(text)
    return file, keys


@pytest.fixture(scope="module")
def server(keys: tuple[Path, dict[str, str]]) -> Iterator[Server]:
    with serving(":memory:", "--keys", str(keys[0])) as server:
        yield server


class Tenants:
    """A client for each key, and something in each namespace."""

    def __init__(self, server: Server, keys: dict[str, str], stack: ExitStack) -> None:
        self.clients = {name: stack.enter_context(server.client(key)) for name, key in keys.items()}
        self.anonymous = stack.enter_context(server.client())

    def __getitem__(self, name: str) -> httpx.Client:
        return self.clients[name]

    def add(self, name: str, **fields: Any) -> int:
        entry = {"source": "Save the file", "target": "t", **fields}
        answer = self[name].post("/api/v1/entries", json=entry)
        assert answer.status_code == 201, answer.text
        return answer.json()["id"]


@pytest.fixture(scope="module")
def tenants(server: Server, keys: tuple[Path, dict[str, str]]) -> Iterator[Tenants]:
    with ExitStack() as stack:
        yield Tenants(server, keys[1], stack)


def code(answer: httpx.Response, status: int) -> str:
    assert answer.status_code == status, answer.text
    return answer.json()["error"]["code"]


def test_a_key_is_needed(tenants: Tenants, keys: tuple[Path, dict[str, str]]) -> None:
    body = {"query": "a"}
    key = keys[1]["a"]
    wrong = [None, "", "Bearer", f"Bearer {key}x", f"Bearer {key[:-1]}", "Bearer a."]
    wrong += [f"Token {key}", f"bearer {key.upper()}", "Basic", "Basic !", "Bearer \xff.\xff"]
    for header in wrong:
        headers = {} if header is None else {"authorization": header.encode("latin-1")}
        answer = tenants.anonymous.post("/api/v1/search", json=body, headers=headers)
        assert code(answer, 401) == "unauthorized"
        assert "Bearer" in answer.headers["www-authenticate"]
    assert tenants["a"].post("/api/v1/search", json=body).status_code == 200
    assert tenants.anonymous.post("/api/v1/search", json=body, auth=("any", key)).status_code == 200
    for path in ("/health", "/ready", "/openapi.json"):
        assert tenants.anonymous.get(path).status_code == 200


def test_rights(tenants: Tenants) -> None:
    entry = {"source": "s", "target": "t"}
    search = {"query": "s"}
    may_search = {"a": 200, "reader": 200, "writer": 403, "none": 403, "all": 200, "admin": 200}
    may_add = {"a": 201, "reader": 403, "writer": 201, "none": 403, "all": 201, "admin": 403}
    for name in may_search:
        client = tenants[name]
        assert client.post("/api/v1/search", json=search).status_code == may_search[name], name
        assert client.get("/tmserver/en/ko/unit/s").status_code == may_search[name], name
        assert client.post("/api/v1/entries", json=entry).status_code == may_add[name], name
        assert client.put("/tmserver/en/ko/unit/s", json=entry).status_code == (
            200 if may_add[name] == 201 else 403
        ), name
        for path in ("/metrics", "/api/v1/stats", "/api/v1/kpis"):
            assert client.get(path).status_code == (200 if name == "admin" else 403), name
    permissions = tenants["reader"].get("/api/v1/permissions").json()
    assert permissions == {"name": "reader", "read": ["a"], "write": [], "admin": False}


def test_what_is_added_is_in_the_namespace_of_the_key(tenants: Tenants) -> None:
    id = tenants.add("a", source="where is it")
    assert tenants["a"].get(f"/api/v1/entries/{id}").json()["entry"]["namespace"] == "a"
    body = {"source": "s", "target": "t"}
    answer = tenants["both"].post("/api/v1/entries", json=body)
    assert code(answer, 422) == "missing_field"
    tenants.add("both", namespace="b")
    assert code(tenants["both"].post("/api/v1/entries", json={**body, "namespace": "c"}), 403)
    answer = tenants["a"].post(
        "/api/v1/entries/batch", json={"entries": [body, {**body, "namespace": "b"}]}
    )
    assert code(answer, 403) == "forbidden"
    assert answer.json()["error"]["field"] == "entries[1].namespace"


def test_a_key_of_two_namespaces_sees_the_best_of_both_in_order(tenants: Tenants) -> None:
    source = "one two three four five six"
    changed = ["one two three four five x", "one two three x x x", source, "one two three four x x"]
    for number, text in enumerate(changed * 2):
        tenants.add("both", source=text, namespace="ab"[number % 2], domain="order")
    search = {"query": source, "domain": "order", "max_hits": 5}
    both = tenants["both"].post("/api/v1/search", json=search).json()["hits"]
    everything = tenants["all"].post("/api/v1/search", json=search).json()["hits"]
    assert [hit["entry"] for hit in both] == [hit["entry"] for hit in everything]
    assert [hit["score"] for hit in both] == [hit["score"] for hit in everything]
    batch = {"queries": [source], "domain": "order", "max_hits": 5}
    results = tenants["both"].post("/api/v1/search/batch", json=batch).json()["results"]
    assert results == [{"hits": both}]


def test_an_entry_cannot_change_its_namespace(tenants: Tenants) -> None:
    id = tenants.add("both", namespace="a", source="stays in a")
    body = {"source": "stays in a", "target": "t", "namespace": "b"}
    answer = tenants["both"].put(f"/api/v1/entries/{id}", json=body)
    assert code(answer, 409) == "fixed_namespace"
    assert (
        tenants["both"].put(f"/api/v1/entries/{id}", json={**body, "namespace": None}).status_code
        == 204
    )
    assert tenants["a"].get(f"/api/v1/entries/{id}").json()["entry"]["namespace"] == "a"


class Operation(NamedTuple):
    """An operation as the OpenAPI document has it."""

    method: str
    path: str
    path_names: list[str]
    query: list[str]
    fields: list[str]
    many: bool
    statuses: list[int]

    def ask(self, client: httpx.Client, values: dict[str, Any]) -> httpx.Response:
        """Asks for it with those of the values that it takes."""
        path = self.path
        for name in self.path_names:
            path = path.replace(f"{{{name}}}", quote(str(values[name]), ""))
        body: Any = {name: values[name] for name in self.fields if name in values}
        answer = client.request(
            self.method,
            path,
            params={name: values[name] for name in self.query if name in values},
            json=([body] if self.many else body) if self.fields else None,
            headers={"if-match": values["if-match"]} if "if-match" in values else None,
        )
        assert answer.status_code in self.statuses, f"{self}: {answer.status_code} {answer.text}"
        return answer


def operations(client: httpx.Client) -> Iterator[Operation]:
    document = client.get("/openapi.json").json()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            names: dict[str, list[str]] = {"path": [], "query": [], "header": []}
            for parameter in operation.get("parameters", ()):
                names[parameter["in"]].append(parameter["name"])
            content = operation.get("requestBody", {}).get("content", {})
            fields: list[str] = []
            many = False
            if "application/json" in content:
                schema = content["application/json"]["schema"]
                many = schema.get("type") == "array"
                name = (schema["items"] if many else schema)["$ref"].rpartition("/")[2]
                fields = list(document["components"]["schemas"][name]["properties"])
            statuses = [int(status) for status in operation["responses"]]
            method = method.upper()
            yield Operation(method, path, names["path"], names["query"], fields, many, statuses)


def test_another_tenant_cannot_be_reached_through_any_parameter(tenants: Tenants) -> None:
    """Every operation, with every parameter and field in turn set to what belongs to another."""
    entry = {"source": "their text", "target": SECRET, "notes": SECRET, "source_id": SECRET}
    entry |= {"source_language": "xx-b", "target_language": "zz-b", "domain": "of b"}
    theirs = tenants.add("b", **entry, metadata={"a": SECRET})
    body = {"text": "their text", "text_en": SECRET, "lang": "en", "metadata": {"a": SECRET}}
    record = tenants["b"].post("/api/v1/records", json=body).json()
    search = {"query": "their text", "namespace": "b"}
    (hit,) = tenants["all"].post("/api/v1/search", json=search).json()["hits"]
    before = tenants["b"].get(f"/api/v1/entries/{theirs}").json()
    assert SECRET in str(before)
    tag = tenants["b"].get(f"/api/v1/entries/{theirs}").headers["etag"]

    assert "zz_b" not in tenants["a"].get("/tmserver/languages/").text
    assert "zz_b" in tenants["b"].get("/tmserver/languages/").text

    good: dict[str, Any] = {"query": "their text", "query_en": "their text", "text": "their text"}
    good |= {"queries": ["their text"], "min_score": 0.0, "max_hits": 100, "limit": 100}
    good |= {"source": "mine", "target": "mine", "entries": [], "records": [], "note": "mine"}
    good |= {"text_en": "mine", "id": theirs, "source_language": "xx-b", "target_language": "zz-b"}
    good |= {"name": "mine", "format": "jsonl", "min_similarity": 30}
    bad: dict[str, list[Any]] = {
        "namespace": ["b", "*", "", "a,b", "B", "b\u0000", "a"],
        "id": [theirs, hit["id"], record["id"], "their text"],
        "after": [theirs, hit["id"], 0],
        "source": ["their text"],
        "lang": ["en"],
        "domain": ["of b"],
        "entries": [[{"source": "s", "target": "mine", "namespace": "b"}]],
        "records": [
            [{"text": "mine", "namespace": "b"}],
            [{"text": "mine", "id": record["id"]}],
        ],
        "duplicates": ["skip", "replace", "newest"],
        "if-match": [tag, "*"],
    }
    tried = 0
    for operation in operations(tenants["a"]):
        names = [*operation.path_names, *operation.query, *operation.fields, "if-match"]
        for variant in [{}, *({name: value} for name in names for value in bad.get(name, ()))]:
            chosen = {name: good[name] for name in names if name in good} | variant
            if "id" in operation.fields and "id" not in variant:
                del chosen["id"]
            answer = operation.ask(tenants["a"], chosen)
            where = f"{operation} with {variant}: {answer.status_code} {answer.text}"
            assert answer.status_code < 500, where
            assert SECRET not in answer.text, where
            assert '"namespace":"b"' not in answer.text, where
            if "/entries/{id}" in operation.path and chosen["id"] in (theirs, hit["id"]):
                assert answer.status_code == 404, where
            tried += 1
    assert tried > 120
    unit = "/tmserver/xx-b/zz-b/unit/"
    for path in (f"{unit}their%20text", f"{unit}?source=their+text"):
        assert SECRET not in tenants["a"].get(path).text
        assert [unit["target"] for unit in tenants["b"].get(path).json()] == [SECRET]
    assert code(tenants["a"].get(f"{unit}their%20text?namespace=b"), 403) == "forbidden"
    assert tenants["b"].get(f"/api/v1/entries/{theirs}").json() == before
    assert tenants["b"].get(f"/api/v1/records/{record['id']}").json() == record


def test_a_key_that_may_only_write_learns_nothing_of_what_is_there(tenants: Tenants) -> None:
    """Every operation, asked by a key that knows the ids of things that others changed since."""
    own = "what readers may know"
    entry = {"source": "their text", "target": "t", "namespace": "a"}
    entry |= {"source_language": "xx-a", "target_language": "zz-a"}
    good: dict[str, Any] = {"query": "their text", "text": "their text", "source": "their text"}
    good |= {"queries": ["their text"], "target": own, "name": "mine", "note": "mine"}
    good |= {"entries": [entry], "records": [], "source_language": "xx-a", "format": "jsonl"}
    good |= {"target_language": "zz-a", "namespace": "a"}
    for writer in ("writer", "writer-of-all"):
        id = tenants[writer].post("/api/v1/entries", json=entry).json()["id"]
        body = {"text": "note", "namespace": "a"}
        record = tenants[writer].post("/api/v1/records", json=body).json()["id"]
        listed = tenants["a"].get("/api/v1/concordance", params={"text": "their text"}).json()
        mine = listed["entries"][-1]["id"]
        path = f"/api/v1/entries/{mine}"
        for operation in operations(tenants["a"]):
            # What the key would have to know in order to change it is not there yet, or is again.
            assert tenants["a"].put(path, json={**entry, "notes": own}).status_code == 204
            changed = {"metadata": {"a": own}, "text_en": own}
            answer = tenants["a"].patch(f"/api/v1/records/{record}", json=changed)
            assert answer.json()["text_en"] == own
            if operation.method == "DELETE":
                continue
            values = {**good, "id": record if "records" in operation.path else id}
            if operation.path == "/api/v1/records":
                del values["id"]
            answer = operation.ask(tenants[writer], values)
            where = f"{operation}: {answer.status_code} {answer.text}"
            assert answer.status_code < 500, where
            assert own not in answer.text, where
            assert "zz_a" not in answer.text, where
        answer = tenants[writer].patch(f"/api/v1/records/{record}", json={"category": "c"})
        assert code(answer, 403) == "forbidden"
        assert tenants["a"].get(f"/api/v1/records/{record}").json()["category"] is None
        # Whether a guess is right is not for those who may not look.
        tag = tenants["a"].get(path).headers["etag"]
        for method in ("PUT", "DELETE"):
            answers = [
                tenants[writer].request(
                    method,
                    f"/api/v1/entries/{id}",
                    json=entry if method == "PUT" else None,
                    headers={"if-match": guess},
                )
                for guess in (tag, '"0"', "*")
            ]
            assert [answer.status_code for answer in answers] == [403] * 3
            assert len({answer.text for answer in answers}) == 1
        assert tenants["a"].get(path).json()["entry"]["notes"] == own
        assert tenants[writer].delete(f"/api/v1/entries/{id}").status_code == 204


def test_a_mismatch_is_reported_by_who_may_read_and_write(tenants: Tenants) -> None:
    body = {"text": "메모", "text_en": "note"}
    record = tenants["a"].post("/api/v1/records", json=body).json()["id"]
    path = f"/api/v1/records/{record}/mismatch"
    for name in ("reader", "writer", "none", "admin"):
        assert tenants[name].post(path, json={"note": name}).status_code in (403, 404), name
    assert code(tenants["reader"].post(path, json={}), 403) == "forbidden"
    assert code(tenants["b"].post(path, json={}), 404) == "unknown_record"
    assert tenants["a"].post(path, json={"note": "a"}).status_code == 204
    assert tenants["all"].post(path, json={"note": "all"}).status_code == 204
    reported = tenants["admin"].get("/api/v1/kpis").json()["recall"]["mismatches"]
    assert [one["note"] for one in reported if one["id"] == record] == ["a", "all"]


def test_recall_and_export_look_into_one_namespace(tenants: Tenants) -> None:
    both = tenants["both"]
    for namespace in ("a", "b"):
        tenants.add("both", namespace=namespace, source=namespace, domain="one")
        body = {"text": f"what {namespace} notes", "namespace": namespace}
        assert both.post("/api/v1/records", json=body).status_code == 201
    asked = {"query": "what notes"}
    exported = "/api/v1/export?format=jsonl&domain=one"
    for answer in (both.post("/api/v1/recall", json=asked), both.get(exported)):
        assert code(answer, 422) == "missing_field"
        assert answer.json()["error"]["field"] == "namespace"
        assert "'a', 'b'" in answer.text
    for namespace in ("a", "b"):
        hits = both.post("/api/v1/recall", json={**asked, "namespace": namespace}).json()["hits"]
        assert {hit["record"]["namespace"] for hit in hits} == {namespace}
        (line,) = both.get(f"{exported}&namespace={namespace}").text.splitlines()
        assert json.loads(line)["source"] == namespace


def test_answers_to_a_key_that_may_only_write_do_not_depend_on_what_is_there(
    tenants: Tenants,
) -> None:
    there = {"source": "only this one is there", "target": "t", "source_language": "en"}
    there |= {"target_language": "ko", "namespace": "a"}
    tenants.add("a", **there)
    missing = {**there, "source": "only this one is new"}
    for writer in ("writer", "writer-of-all"):
        answers = []
        for entry in (there, missing):
            line = json.dumps(entry)
            query = {"filename": "a.jsonl", "namespace": "a"}
            client = tenants[writer]
            answers.append([])
            for extra in ({"dry_run": "true"}, {"dry_run": "true", "duplicates": "keep"}):
                answer = client.post("/api/v1/import", content=line, params={**query, **extra})
                assert answer.json()["added"] == 1, answer.text
                answers[-1].append(answer.text)
            for policy in ("skip", "replace", "newest"):
                for dry_run in ("true", "false"):
                    extra = {"duplicates": policy, "dry_run": dry_run}
                    answer = client.post("/api/v1/import", content=line, params={**query, **extra})
                    assert code(answer, 403) == "forbidden"
                    assert "right to read" in answer.text
                    answers[-1].append(answer.text)
            unit = {"source": entry["source"], "target": "t"}
            for path, body in (("unit/x", unit), ("store/x", [unit, unit])):
                for method in ("POST", "PUT") if path == "unit/x" else ("POST",):
                    url = f"/tmserver/en/ko/{path}?namespace=a"
                    answer = client.request(method, url, json=body)
                    assert answer.status_code == 200, answer.text
                    answers[-1].append(answer.text)
        assert answers[0] == answers[1]


def test_duplicates_are_looked_for_only_where_the_key_may_read(tenants: Tenants) -> None:
    line = json.dumps({"source": "s", "target": "t", "domain": "half"})

    def ask(**query: str) -> httpx.Response:
        return tenants["half"].post("/api/v1/import", content=line, params={**query})

    for policy in ("skip", "replace", "newest"):
        asked = {"filename": "a.jsonl", "duplicates": policy}
        assert ask(**asked, namespace="a").status_code == 200
        assert code(ask(**asked, namespace="b"), 403) == "forbidden"
        assert code(ask(**asked), 403) == "forbidden"
    assert ask(filename="a.jsonl", namespace="b").status_code == 200


def test_what_belongs_to_another_looks_like_what_is_not_there(tenants: Tenants) -> None:
    theirs = tenants.add("b")
    record = tenants["b"].post("/api/v1/records", json={"text": "note"}).json()["id"]
    entry = {"source": "s", "target": "t"}
    for template, taken, free, bodies in (
        ("/api/v1/entries/{}", theirs, 1, {"PUT": entry, "GET": None, "DELETE": None}),
        ("/api/v1/records/{}", record, "0" * 32, {"PATCH": {}, "GET": None, "DELETE": None}),
    ):
        for method, body in bodies.items():
            answers = [
                tenants["a"].request(method, template.format(id), json=body) for id in (taken, free)
            ]
            assert [answer.status_code for answer in answers] == [404, 404]
            texts = [
                answer.text.replace(str(id), "")
                for answer, id in zip(answers, (taken, free), strict=True)
            ]
            assert texts[0] == texts[1]
    search = {"query": "s"}
    for namespace in ("b", "never heard of"):
        answer = tenants["a"].post("/api/v1/search", json={**search, "namespace": namespace})
        assert (
            answer.json()["error"]["message"]
            == f"this key may not read the namespace {namespace!r}"
        )


@pytest.mark.parametrize("name", ["a", "writer", "writer-of-all"])
def test_ids_do_not_tell_how_many_entries_there_are(tenants: Tenants, name: str) -> None:
    ids = []
    for _ in range(20):
        ids.append(tenants.add(name, namespace="a"))
        tenants.add("b")
    assert ids != sorted(ids)
    steps = {after - before for before, after in pairwise(ids)}
    assert len(steps) == len(ids) - 1
    if name != "a":
        # It may not read them.
        return
    text = {"text": "the file", "limit": 100}
    listed = tenants["a"].get("/api/v1/concordance", params=text).json()["entries"]
    assert [item["id"] for item in listed if item["id"] in ids] == ids


@given(st.integers(0, 2**52 - 1), st.binary(min_size=32, max_size=32))
def test_ids_are_permuted(id: int, secret: bytes) -> None:
    cipher = IdCipher(secret)
    outward = cipher.outward(id)
    assert 0 <= outward < 2**52
    assert cipher.inward(outward) == id
    assert cipher.outward(cipher.inward(id)) == id


def test_requests_are_limited_by_key(tenants: Tenants) -> None:
    statuses = [tenants["slow"].get("/api/v1/permissions").status_code for _ in range(5)]
    assert statuses == [200, 200, 200, 429, 429]
    answer = tenants["slow"].get("/api/v1/permissions")
    assert code(answer, 429) == "rate_limited"
    assert 1 <= int(answer.headers["retry-after"]) <= 1001
    assert tenants["a"].get("/api/v1/permissions").status_code == 200


def test_each_query_of_a_batch_counts(tmp_path: Path) -> None:
    key, text = new_key("k", None, read=["*"], write=[], rate=0.001, burst=10)
    (tmp_path / "keys.toml").write_text(text)
    with (
        serving(":memory:", "--keys", str(tmp_path / "keys.toml")) as server,
        server.client(key) as client,
    ):

        def ask(queries: int) -> httpx.Response:
            return client.post("/api/v1/search/batch", json={"queries": ["a"] * queries})

        assert ask(7).status_code == 200
        # Three are left: these are too many, and do not count.
        for _ in range(5):
            assert code(ask(4), 429) == "rate_limited"
        assert [ask(1).status_code, ask(2).status_code] == [200, 200]
        assert code(client.get("/api/v1/permissions"), 429) == "rate_limited"


def test_a_batch_larger_than_the_burst_takes_all_of_it(tmp_path: Path) -> None:
    key, text = new_key("k", None, read=["*"], write=[], rate=0.001)
    (tmp_path / "keys.toml").write_text(text)
    with (
        serving(":memory:", "--keys", str(tmp_path / "keys.toml")) as server,
        server.client(key) as client,
    ):
        body = {"queries": ["a"] * 50}
        assert client.post("/api/v1/search/batch", json=body).status_code == 200
        assert code(client.post("/api/v1/search/batch", json=body), 429) == "rate_limited"


def test_the_file_of_keys_is_private_and_has_no_keys(tmp_path: Path) -> None:
    file = tmp_path / "keys.toml"
    key = make_key(file, "one", "--read", "a")
    other = make_key(file, "two", "--read", "*", "--write", '공유 "😀"', "--rate", "5")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    text = file.read_text()
    assert key not in text
    assert key.partition(".")[2] not in text
    keys = Keys(text, "keys.toml")
    assert keys.find(key).read == ("a",)  # type: ignore[union-attr]
    assert keys.find(other).write == ('공유 "😀"',)  # type: ignore[union-attr]
    assert keys.find(key + "x") is None
    command = [sys.executable, "-m", "diglot", "key", str(file), "one", "--read", "a"]
    again = subprocess.run(command, capture_output=True, text=True)
    assert again.returncode == 2
    assert again.stderr == f"diglot: {file} has a key 'one' already; take another name\n"
    assert file.read_text() == text
    assert [path.name for path in tmp_path.iterdir()] == ["keys.toml"]


HASH = "sha256:" + "0" * 64


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("[", None),
        ("other = 1", "other"),
        ("keys = 1", "keys"),
        ("[keys.a]", "hash"),
        ("[keys.a]\nhash = 'x'", "hash"),
        ("[keys.'a b']\nhash = 'x'", "its name"),
        (f"[keys.a]\nhash = '{HASH}'\nred = ['a']", "red"),
        (f"[keys.a]\nhash = '{HASH}'\nread = 'a'", "read"),
        (f"[keys.a]\nhash = '{HASH}'\nread = ['a', '*']", "read"),
        (f"[keys.a]\nhash = '{HASH}'\nread = ['*']\nadmin = 1", "admin"),
        (f"secret = '{'A' * 43}='\n[keys.a]\nhash = '{HASH}'\nread = ['a']\nadmin = true", "admin"),
        (f"[keys.a]\nhash = '{HASH}'\nread = ['*']\nrate = 0", "rate"),
        (f"[keys.a]\nhash = '{HASH}'\nread = ['*']\nrate = true", "rate"),
        (f"[keys.a]\nhash = '{HASH}'\nread = ['*']\nburst = 1", "burst"),
        (f"[keys.a]\nhash = '{HASH}'\nread = ['a']", "secret"),
        (f"secret = 'x'\n[keys.a]\nhash = '{HASH}'\nread = ['a']", "secret"),
    ],
)
def test_what_is_wrong_with_the_file_is_said(text: str, field: str | None) -> None:
    with pytest.raises(FormatError) as caught:
        Keys(text, "keys.toml")
    assert caught.value.field == field
    assert str(caught.value).startswith("keys.toml: ")


def test_it_does_not_listen_elsewhere_without_keys() -> None:
    keys = Keys("", "keys.toml")
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.org", "localhost.example.org", ""):
        with pytest.raises(InvalidValueError):
            check_address(host, None, anonymous=False)
        check_address(host, None, anonymous=True)
        check_address(host, keys, anonymous=False)
    for host in ("127.0.0.1", "127.8.9.10", "::1", "localhost"):
        check_address(host, None, anonymous=False)
    command = [sys.executable, "-m", "diglot", "serve", ":memory:", "--host", "0.0.0.0"]
    refused = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert refused.returncode == 2
    assert "--keys" in refused.stderr


def test_a_key_that_is_bound_to_namespaces_cannot_try_out_ids(tenants: Tenants) -> None:
    taken = tenants["b"].post("/api/v1/records", json={"text": "note"}).json()["id"]
    for id in (taken, "never heard of"):
        answer = tenants["a"].post("/api/v1/records", json={"text": "mine", "id": id})
        assert code(answer, 403) == "forbidden"
        batch = {"records": [{"text": "mine", "id": id}]}
        answer = tenants["a"].post("/api/v1/records/batch", json=batch)
        assert code(answer, 403) == "forbidden"
        answer = tenants["writer-of-all"].post("/api/v1/records", json={"text": "mine", "id": id})
        assert code(answer, 403) == "forbidden"
    answer = tenants["all"].post("/api/v1/records", json={"text": "chosen", "id": "my-own"})
    assert answer.json()["id"] == "my-own"
