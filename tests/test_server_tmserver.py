"""The protocol of tmserver and amaGama, asked as its clients ask."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from urllib.parse import quote

import httpx
import pytest

from serving import Server, serving

# Texts that a router which decodes paths early would take apart.
HARD = [
    "a/b",
    "/",
    "//",
    "and/or? 100%",
    "one\ntwo",
    "%2F",
    "a;b=c,d",
    "..",
    "../../languages/",
    "#tag & more",
    "?source=x",
    " leading and trailing ",
    "+",
    "저장/삭제",
    "😀",
    "unit/unit/unit",
]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as server:
        with server.client() as client:
            for source, target, languages in (
                ("Network", "Netwerk", ("en", "af")),
                ("Network", "Rede", ("en", "pt-BR")),
                ("Network", "Rede", ("en", "PT_PT")),
                ("The network is down", "Die netwerk is af", ("en", "af")),
                *((text, f"<{text}>", ("en", "xh")) for text in HARD),
            ):
                entry = {"source": source, "target": target}
                entry |= {"source_language": languages[0], "target_language": languages[1]}
                assert client.post("/api/v1/entries", json=entry).status_code == 201
        yield server


@pytest.fixture
def client(server: Server) -> Iterator[httpx.Client]:
    with server.client() as client:
        yield client


def raw_get(server: Server, target: str) -> tuple[int, object]:
    """An answer to a request whose target is sent as it is: clients tend to tidy paths."""
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        request = f"GET {target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
        connection.sendall(request.encode())
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


def test_the_answer_has_the_fields_that_clients_read(client: httpx.Client) -> None:
    answer = client.get("/tmserver/en/af/unit/Network")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == [
        {"quality": 100.0, "rank": 100.0, "source": "Network", "target": "Netwerk"}
    ]
    assert client.get("/tmserver/en/af/unit/?source=Network").json() == answer.json()
    assert client.get("/tmserver/en/af/unit?source=Network").json() == answer.json()
    assert client.get("/tmserver/en/af/unit/xyz-").json() == []


def test_percents_are_whole_where_scores_are() -> None:
    # 0.55 * 100 is 55.00000000000001 in binary.
    unit = {"source": "Open Printers to add a printer.", "target": "t"}
    with serving() as server, server.client() as client:
        assert client.post("/tmserver/en/af/unit/Open", json=unit).status_code == 200
        answer = client.get("/tmserver/en/af/unit/Open Printers?min_similarity=30").json()
    assert [(unit["quality"], unit["rank"]) for unit in answer] == [(55.0, 55.0)]


@pytest.mark.parametrize("text", HARD)
def test_any_text_can_be_in_the_path(server: Server, text: str) -> None:
    expected = [{"quality": 100.0, "rank": 100.0, "source": text, "target": f"<{text}>"}]
    best = [(200, expected)]
    for safe in ("", "/"):
        # urllib's quote() with and without slashes, as Virtaal and others use it.
        target = f"/tmserver/en/xh/unit/{quote(text, safe)}?min_similarity=100"
        assert [raw_get(server, target)] == best
    target = f"/tmserver/en/xh/unit/?min_similarity=100&source={quote(text, '')}"
    assert [raw_get(server, target)] == best


def test_languages_are_written_in_many_ways(client: httpx.Client) -> None:
    for code in ("pt_br", "pt-BR", "PT_BR", "pt_BR", "pt_pt", "pt-PT"):
        answer = client.get(f"/tmserver/en/{code}/unit/Network").json()
        assert [unit["target"] for unit in answer] == ["Rede"], code
    assert client.get("/tmserver/EN/af/unit/Network").json()
    assert client.get("/tmserver/languages/").json() == {
        "sourceLanguages": ["en"],
        "targetLanguages": ["af", "pt_br", "pt_pt", "xh"],
    }
    assert client.get("/tmserver/languages").status_code == 200


def test_similarity_and_candidates(client: httpx.Client) -> None:
    def ask(**query: object) -> list[float]:
        answer = client.get("/tmserver/en/af/unit/The network", params=query).json()
        assert answer == sorted(answer, key=lambda unit: -unit["quality"])
        return [round(unit["quality"]) for unit in answer]

    assert ask() == [71]
    assert ask(min_similarity=60) == [71, 69]
    assert ask(min_similarity=1) == [71, 69]
    assert ask(min_similarity=-5) == ask(min_similarity=1)
    # amaGama takes 0 for nothing, too.
    assert ask(min_similarity=0, max_candidates=0, style="gnome") == ask()
    assert ask(min_similarity=1000) == []
    assert ask(min_similarity=30, max_candidates=1) == [71]
    assert len(ask(min_similarity=30, max_candidates=10**30)) == 2


def test_errors_name_the_parameters_of_the_protocol(client: httpx.Client) -> None:
    unit = {"source": "a", "target": "t"}
    blank = {**unit, "target": " "}
    number = {**unit, "target": 1}
    long = "a" * 40_000
    path = "/tmserver/en/af"
    for method, url, body, code, field in (
        ("GET", "unit/a?min_similarity=abc", None, "invalid_type", "min_similarity"),
        ("GET", "unit/a?min_similarity=", None, "invalid_type", "min_similarity"),
        ("GET", "unit/a?max_candidates=1.5", None, "invalid_type", "max_candidates"),
        ("GET", "unit/a?max_candidates=-1", None, "invalid_value", "max_candidates"),
        ("GET", f"unit/{long}", None, "text_too_long", "text"),
        ("GET", f"unit/?source={long}", None, "text_too_long", "source"),
        ("GET", "unit/%E3%80%80", None, "empty_text", "text"),
        ("GET", "unit/?source=%E3%80%80", None, "empty_text", "source"),
        ("PUT", "unit/a", {"source": "a"}, "missing_field", "target"),
        ("POST", "unit/a", blank, "empty_text", "target"),
        ("POST", "store/a.po", [unit, blank], "empty_text", "[1].target"),
        ("POST", "store/a.po", [unit, number], "invalid_type", "[1].target"),
        ("POST", "store/a.po", [unit] * 1001, "too_many", None),
    ):
        answer = client.request(method, f"{path}/{url}", json=body)
        where = f"{method} {url[:40]}: {answer.text}"
        assert answer.status_code == 422, where
        error = answer.json()["error"]
        assert (error["code"], error["field"]) == (code, field), where
        assert error["position"] == (1 if field == "[1].target" else None), where
        for other in ("max_hits", "min_score", "query", "entries"):
            assert other not in answer.text, where
    assert client.get(f"{path}/unit/a").json() == []


def test_what_is_not_there(client: httpx.Client) -> None:
    for path in (
        "/tmserver/en/en/unit/Network",
        "/tmserver/en/EN/unit/Network",
        "/tmserver/en/af/unit/",
        "/tmserver/en/af/",
        "/tmserver/en",
        "/tmserver/",
        "/tmserver/en/af/other/x",
    ):
        assert client.get(path).status_code == 404, path
    assert client.get("/tmserver/xx/af/unit/Network").json() == []
    assert client.delete("/tmserver/en/af/unit/Network").status_code == 405
    assert client.post("/tmserver/languages/").status_code == 405
    assert client.get("/tmserver/en/af/unit/%ff").status_code == 400
    for path in ("/tmserver//af/unit/a", "/tmserver/en//unit/a", "/tmserver/en/af/store/"):
        assert client.post(path, json=[]).status_code == 404, path


def test_an_address_may_end_in_a_slash(client: httpx.Client) -> None:
    """Virtaal adds `/en/af/unit/…` to what it was given, which ends in a slash by default."""
    for path in ("en/af/unit/Network", "en/af/unit/a%2Fb", "en/af/unit//", "en/af/unit/?source=b"):
        wanted = client.get(f"/tmserver/{path}")
        assert wanted.status_code == 200
        assert client.get(f"/tmserver//{path}").json() == wanted.json()
        assert client.get(f"/tmserver///{path}").status_code == 404
    assert client.get("/tmserver//en/af/unit/Network").json()
    assert client.get("/tmserver//languages/").json() == client.get("/tmserver/languages/").json()


def test_units_are_added_once(client: httpx.Client) -> None:
    unit = {"source": "a new/unit?", "target": "'n nuwe eenheid", "context": "ctx"}
    path = f"/tmserver/en/st/unit/{quote(unit['source'], '')}"
    # Virtaal sends JSON without saying so; curl, which it uses, calls it a form.
    form = {"content-type": "application/x-www-form-urlencoded"}
    for method in ("PUT", "POST", "PUT"):
        answer = client.request(method, path, content=json.dumps(unit), headers=form)
        assert (answer.status_code, answer.text) == (200, "")
        assert [found["target"] for found in client.get(path).json()] == [unit["target"]]
    other = {**unit, "target": "iets anders"}
    assert client.put(path, json=other).status_code == 200
    assert len(client.get(path).json()) == 2
    answer = client.post(
        "/tmserver/en/st/store/a.po", json=[unit, {"source": "x y", "target": "z"}]
    )
    assert answer.text == "added 2 units from a.po"
    assert len(client.get(path).json()) == 2
    assert [found["target"] for found in client.get("/tmserver/en/st/unit/x y").json()] == ["z"]
    for body in (b"", b"{}", b'{"source": "a"}', b'{"source": "a", "target": " "}'):
        assert client.put(path, content=body).status_code in (400, 422)


def test_a_unit_is_found_among_any_number_of_others(client: httpx.Client) -> None:
    units = [{"source": "The same for all", "target": f"target {n}"} for n in range(150)]

    def entries() -> int:
        return client.get("/api/v1/facets").json()["entries"]

    before = entries()
    for _ in range(2):
        answer = client.post("/tmserver/en/ts/store/a.po", json=units)
        assert answer.text == "added 150 units from a.po"
        assert entries() == before + 150
    assert client.put("/tmserver/en/ts/unit/x", json=units[-1]).status_code == 200
    assert entries() == before + 150
