"""What is too large, too slow or gone, many clients at once, and the end of a server."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from diglot.errors import InvalidTypeError, InvalidValueError
from diglot.server.settings import Limits
from serving import Server, connected, received, request, serving

LIMITS = {
    "DIGLOT_MAX_BODY": "2000",
    "DIGLOT_MAX_QUERY": "100",
    "DIGLOT_MAX_BATCH": "3",
    "DIGLOT_MAX_HITS": "7",
}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    # An option counts more than the environment.
    with serving(":memory:", "--max-hits", "5", environment=LIMITS) as server:
        yield server


@pytest.fixture
def client(server: Server) -> Iterator[httpx.Client]:
    with server.client() as client:
        yield client


def answered(server: Server, data: bytes) -> bytes:
    """The answer to what is sent. Cut off before there is one, because this process was too slow or
    the server hung up while it still sent, it tries again.
    """
    answer = b""
    while not answer:
        with connected(server) as connection:
            with suppress(ConnectionError):
                connection.sendall(data)
            answer = received(connection)
    return answer


def refused(answer: httpx.Response, status: int, code: str) -> str | None:
    assert answer.status_code == status, answer.text
    assert answer.json()["error"]["code"] == code
    return answer.json()["error"]["field"]


def test_a_body_is_bounded(client: httpx.Client) -> None:
    entry = {"source": "s", "target": "t", "notes": ""}
    entry["notes"] = "n" * (2000 - len(json.dumps(entry)))
    body = json.dumps(entry).encode()
    assert client.post("/api/v1/entries", content=body).status_code == 201
    refused(client.post("/api/v1/entries", content=body + b" "), 413, "too_large")

    def chunks() -> Iterator[bytes]:
        for _ in range(30):
            yield b" " * 100

    refused(client.post("/api/v1/entries", content=chunks()), 413, "too_large")
    refused(client.put("/tmserver/en/ko/unit/s", content=body + b" "), 413, "too_large")
    compressed = {"content-encoding": "gzip"}
    answer = client.post("/api/v1/entries", content=body, headers=compressed)
    refused(answer, 415, "unsupported_encoding")


def test_queries_and_batches_are_bounded(client: httpx.Client) -> None:
    ok, long = "q" * 100, "q" * 101
    search, batch = "/api/v1/search", "/api/v1/search/batch"
    assert client.post(search, json={"query": ok}).status_code == 200
    assert refused(client.post(search, json={"query": long}), 422, "text_too_long") == "query"
    assert refused(client.get(search, params={"query": long}), 422, "text_too_long") == "query"
    body = {"queries": [ok, long]}
    assert refused(client.post(batch, json=body), 422, "text_too_long") == "queries[1]"
    assert client.post(batch, json={"queries": [ok] * 3}).status_code == 200
    assert refused(client.post(batch, json={"queries": [ok] * 4}), 422, "too_many") == "queries"
    entry = {"source": "s", "target": "t"}
    answer = client.post("/api/v1/entries/batch", json={"entries": [entry] * 4})
    assert refused(answer, 422, "too_many") == "entries"
    answer = client.post("/api/v1/records/batch", json={"records": [{"text": "t"}] * 4})
    assert refused(answer, 422, "too_many") == "records"
    recall = "/api/v1/recall"
    body = {"query": "q", "query_en": long}
    assert refused(client.post(recall, json=body), 422, "text_too_long") == "query_en"
    assert refused(client.post(recall, json={"query": "q", "limit": 6}), 422, "invalid_value")
    assert client.post(search, json={"query": ok, "max_hits": 5}).status_code == 200
    answer = client.post(search, json={"query": ok, "max_hits": 6})
    assert refused(answer, 422, "invalid_value") == "max_hits"
    assert client.get(f"/tmserver/en/ko/unit/{ok}").status_code == 200
    refused(client.get(f"/tmserver/en/ko/unit/{long}"), 422, "text_too_long")


@pytest.mark.parametrize(
    ("environment", "options", "field", "error"),
    [
        ({"DIGLOT_MAX_BODY": "x"}, {}, "DIGLOT_MAX_BODY", InvalidValueError),
        ({"DIGLOT_MAX_BODY": "1.5"}, {}, "DIGLOT_MAX_BODY", InvalidValueError),
        ({"DIGLOT_MAX_BODY": "0"}, {}, "DIGLOT_MAX_BODY", InvalidValueError),
        ({"DIGLOT_MAX_TIME": "nan"}, {}, "DIGLOT_MAX_TIME", InvalidValueError),
        ({"DIGLOT_MAX_TIME": "inf"}, {}, "DIGLOT_MAX_TIME", InvalidValueError),
        ({"DIGLOT_MAX_TIME": "86401"}, {}, "DIGLOT_MAX_TIME", InvalidValueError),
        ({}, {"max_body": 10**30}, "max_body", InvalidValueError),
        ({}, {"keep_alive": 0}, "keep_alive", InvalidValueError),
        ({}, {"max_hits": -1}, "max_hits", InvalidValueError),
        ({}, {"max_hits": 1.5}, "max_hits", InvalidTypeError),
        ({}, {"max_hits": True}, "max_hits", InvalidTypeError),
    ],
)
def test_limits_are_checked(
    environment: dict[str, str], options: dict[str, Any], field: str, error: type[Exception]
) -> None:
    with pytest.raises(error) as caught:
        Limits.read(environment, options)
    assert caught.value.field == field


def test_limits_come_from_options_then_from_the_environment() -> None:
    environment = {"DIGLOT_MAX_BODY": "5", "DIGLOT_MAX_TIME": "0.5", "DIGLOT_OTHER": "x"}
    limits = Limits.read(environment, {"max_body": 7, "max_hits": None})
    assert limits == Limits(max_body=7, max_time=0.5)


def test_who_is_too_slow_is_cut_off() -> None:
    with serving(":memory:", "--max-time", "0.3") as server:
        with connected(server) as connection:
            connection.sendall(b"GET /health HT")
            assert received(connection) == b""
        with connected(server) as connection:
            assert received(connection) == b"", "a connection without a request"
        answer = answered(server, request("POST", "/api/v1/entries", b" " * 100)[:-1])
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["code"] == "timeout"
        answer = answered(server, request("GET", "/health", b"", "connection: close"))
        assert answer.startswith(b"HTTP/1.1 200 ")


def test_a_head_is_bounded(server: Server) -> None:
    def refused(content: bytes, status: int, code: str) -> None:
        head, _, body = answered(server, content).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 %d " % status)
        assert b"content-type: application/json" in head
        assert json.loads(body)["error"]["code"] == code

    # What is sent and not read when the server hangs up could take its answer away.
    for head in (b"GET /", b"GET / HTTP/1.1\r\nx: "):
        refused(head.ljust((1 << 19) + 1, b"a"), 431, "head_too_large")
    for nonsense in (
        b"\x00\x01\x02\r\n\r\n",
        b"GET\r\n\r\n",
        b"\x16\x03\x01\x02\x00" + b"a" * 90,
        request("POST", "/api/v1/search").replace(b": 0", b": -2"),
    ):
        refused(nonsense, 400, "invalid_request")
    unescaped = request("GET", "/api/v1/search?query=X").replace(b"X", "한".encode())
    assert b"all but ASCII is to be escaped" in answered(server, unescaped)
    for path in ("/tmserver/en/ko/unit/", "/tmserver/en/ko/unit/?source=", "/api/v1/search?query="):
        refused(request("GET", path.ljust(1 << 16, "a")), 414, "url_too_long")
        longest = path.ljust((1 << 16) - 1, "a")
        refused(request("GET", longest, b"", "connection: close"), 422, "text_too_long")
    # As clients send it that speak HTTP/2, too, such as Java's.
    upgrade = ("upgrade: h2c", "connection: Upgrade, HTTP2-Settings", "http2-settings: AAMAAABk")
    refused(request("POST", "/api/v1/search", b"{}", *upgrade), 400, "upgrade_with_body")
    answer = answered(server, request("GET", "/health", b"", *upgrade, "connection: close"))
    assert answer.endswith(b'{"status":"ok"}')


# So much work that it is surely not done when its client hangs up or its time is over: minutes of
# many processors.
LONG = {"queries": ["1 word word"] * 500_000, "max_hits": 100, "min_score": 0}


def counted(client: httpx.Client, operation: str) -> dict[int, int]:
    pattern = rf'diglot_http_requests_total\{{operation="{operation}",status="(\d+)"\}} ([\d.]+)'
    return {
        int(status): int(float(count))
        for status, count in re.findall(pattern, client.get("/metrics").text)
    }


def test_a_search_ends_when_its_client_hangs_up_or_its_time_is_over(tmp_path: Path) -> None:
    memory = tmp_path / "memory.jsonl"
    memory.write_text(
        "".join(f'{{"source": "{number} word word", "target": "t"}}\n' for number in range(20_000))
    )
    limits = ("--max-body", "20000000", "--max-batch", "1000000")
    search = request("POST", "/api/v1/search/batch", json.dumps(LONG).encode())
    with serving(memory, *limits) as server, server.client() as client:
        with connected(server) as connection:
            connection.sendall(search)
            # The server answers others while it searches.
            while not counted(client, "health"):
                assert client.get("/health").status_code == 200
            assert not counted(client, "search_batch")
        while not (statuses := counted(client, "search_batch")):
            pass
        assert statuses == {499: 1}
        with connected(server) as connection:
            # Another request that waits for its turn.
            connection.sendall(search + request("GET", "/health"))
            assert client.get("/health").status_code == 200
        while (statuses := counted(client, "search_batch")) == {499: 1}:
            pass
        assert statuses == {499: 2}
    with serving(memory, *limits, "--max-time", "3") as server, server.client() as client:
        answer = client.post("/api/v1/search/batch", json=LONG)
        refused(answer, 503, "timeout")


def test_a_client_that_does_not_read_holds_nobody_up(server: Server) -> None:
    with server.client() as client:
        for _ in range(5):
            entry = {"source": "large", "target": "t" * 1900}
            assert client.post("/api/v1/entries", json=entry).status_code == 201
        with connected(server) as connection:
            connection.settimeout(0.5)
            many = request("POST", "/api/v1/search", b'{"query": "large"}') * 100_000
            with suppress(TimeoutError):
                while True:  # Some machines have large buffers.
                    connection.sendall(many)
            assert client.post("/api/v1/search", json={"query": "large"}).status_code == 200


class Connection:
    """A connection that is kept, with nothing but what the tests need: clients are many."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def post(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        self.writer.write(request("POST", path, json.dumps(body).encode()))
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        length = re.search(r"content-length: (\d+)", head)
        assert length is not None, head
        return int(head.split()[1]), json.loads(await self.reader.readexactly(int(length[1])))


def test_two_hundred_writers_and_readers_lose_nothing() -> None:
    clients, rounds = 200, 10

    async def one(server: Server, number: int) -> list[int]:
        connection = Connection(*await asyncio.open_connection("127.0.0.1", server.port))
        ids = []
        for turn in range(rounds):
            text = f"writer{number} turn{turn}"
            entry = {"source": text, "target": text}
            status, added = await connection.post("/api/v1/entries", entry)
            assert status == 201
            ids.append(added["id"])
            search = {"query": text, "max_hits": 1}
            status, found = await connection.post("/api/v1/search", search)
            (hit,) = found["hits"]
            assert (hit["id"], hit["entry"]["target"], hit["score"]) == (ids[-1], text, 1.0)
        connection.writer.close()
        await connection.writer.wait_closed()
        return ids

    async def all_of(server: Server) -> list[list[int]]:
        return await asyncio.gather(*(one(server, number) for number in range(clients)))

    with serving() as server:
        ids = [id for some in asyncio.run(all_of(server)) for id in some]
        assert sorted(ids) == list(range(clients * rounds))
        with server.client() as client:
            assert client.get("/api/v1/stats").json()["entries"] == clients * rounds


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_that_is_told_to_stop_ends_what_it_began(number: signal.Signals) -> None:
    body = json.dumps({"source": "s", "target": "t"}).encode()
    whole = request("POST", "/api/v1/entries", body)
    with (
        serving(":memory:", "--shutdown-time", "300") as server,
        connected(server) as connection,
        connected(server) as idle,
    ):
        connection.sendall(whole[:-5])
        with server.client() as client:
            # Both connections are known to the server when this is answered.
            assert client.get("/ready").status_code == 200
        server.process.send_signal(number)
        assert received(idle) == b"", "idle connections are closed"
        connection.sendall(whole[-5:])
        answer = received(connection)
        assert answer.startswith(b"HTTP/1.1 201 ")
        assert server.process.wait(60) == 0


def test_a_server_does_not_wait_for_ever_for_who_does_not_end() -> None:
    whole = request("POST", "/api/v1/entries", b" " * 100)
    with serving(":memory:", "--shutdown-time", "1") as server, connected(server) as connection:
        connection.sendall(whole[:-5])
        with server.client() as client:
            assert client.get("/ready").status_code == 200
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(60) == 0
        assert received(connection).startswith(b"HTTP/1.1 503 ")


def test_what_cannot_be_served_is_said(tmp_path: Path) -> None:
    def run(*arguments: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "diglot", "serve", *arguments]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
        return ended.returncode, ended.stderr

    status, error = run(str(tmp_path / "none.jsonl"), "--port", "0")
    assert (status, "none.jsonl" in error) == (3, True)
    assert not list(tmp_path.iterdir())
    status, error = run(str(tmp_path / "none" / "memory.db"), "--port", "0")
    assert (status, "none" in error) == (3, True), error
    (tmp_path / "bad.jsonl").write_text("{}\n")
    status, error = run(str(tmp_path / "bad.jsonl"), "--port", "0")
    assert (status, "line 1" in error) == (4, True)
    (tmp_path / "bad.db").write_bytes(b"\x00no database\xff")
    status, error = run(str(tmp_path / "bad.db"), "--port", "0")
    assert (status, "bad.db is no store and no file of a known format" in error) == (4, True)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        status, error = run(":memory:", "--port", str(taken.getsockname()[1]))
        assert (status, "in use" in error) == (3, True), error
    for option, value in (
        ("--max-hits", "0"),
        ("--max-hits", "1.5"),
        ("--max-time", "nan"),
        ("--allow-host", "http://tm.example.org"),
        ("--allow-host", "tm.example.org:80"),
    ):
        status, error = run(":memory:", option, value)
        assert (status, f"argument {option}: '{value}' is not" in error) == (2, True), error
