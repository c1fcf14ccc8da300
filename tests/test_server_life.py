"""How a server begins, takes and leaves connections, hears signals, and ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPResponse
from pathlib import Path
from typing import Any

import httpx
import pytest

from diglot.cli import main
from diglot.server.keys import new_key
from serving import Server, connected, received, request, serving

ENTRY = {"source": "Save the file", "target": "파일 저장"}
LINE = json.dumps(ENTRY).encode() + b"\n"

ENTRIES = "/api/v1/entries"
SEARCH = "/api/v1/search"
EXPORT = "/api/v1/export?format=jsonl"


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """A memory that is read for as long as somebody has the other end open."""
    path = tmp_path / "memory.jsonl"
    os.mkfifo(path)
    return path


def answered(connection: socket.socket) -> tuple[int, Any]:
    """The status and the body of the next answer."""
    with HTTPResponse(connection) as answer:
        answer.begin()
        return answer.status, json.loads(answer.read())


def refused_at(connection: socket.socket) -> tuple[int, str]:
    status, body = answered(connection)
    return status, body["error"]["code"]


def refused(answer: httpx.Response, status: int, code: str) -> None:
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


def test_it_listens_while_the_memory_is_read(pipe: Path) -> None:
    with serving(pipe, ready=False) as server, server.client() as client, pipe.open("wb") as file:
        assert client.get("/health").json() == {"status": "ok"}
        for method, path in (
            ("GET", "/ready"),
            ("GET", "/metrics"),
            ("GET", "/api/v1/permissions"),
            ("POST", SEARCH),
            ("POST", ENTRIES),
            ("POST", "/api/v1/import?filename=a.tmx"),
            ("POST", "/api/v1/recall"),
            ("GET", "/tmserver/en/ko/unit/Save"),
        ):
            answer = client.request(method, path, content=b"{}" if method == "POST" else None)
            refused(answer, 503, "loading")
            assert answer.headers["retry-after"].isdigit()
        assert client.get("/").headers["content-type"].startswith("text/html")
        assert client.get("/page/app.js").status_code == 200
        assert client.get("/openapi.json").status_code == 200
        refused(client.get("/api/v1/nothing"), 404, "not_found")
        file.write(LINE)
        file.close()
        server.says("running on http://")
        # What was refused is no error of the memory's.
        assert client.get("/api/v1/kpis").json()["requests"] == {}
        assert client.get("/ready").json() == {"status": "ready"}
        (hit,) = client.post(SEARCH, json={"query": "Save the file"}).json()["hits"]
        assert hit["entry"]["target"] == ENTRY["target"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_can_be_stopped_while_the_memory_is_read(pipe: Path, number: signal.Signals) -> None:
    with (
        serving(pipe, ready=False) as server,
        pipe.open("wb", buffering=0) as file,
        connected(server) as connection,
    ):
        # More than fits into the pipe, so that it is being read, too.
        file.write(LINE * 5000)
        connection.sendall(request("GET", "/ready"))
        assert refused_at(connection) == (503, "loading")
        server.process.send_signal(number)
        # The pipe is still open: there could be more to read.
        assert server.process.wait(60) == 0
        assert received(connection) == b""
        server.says("stopped")
        assert not any("running" in line for line in server.log)


def test_a_memory_that_cannot_be_read_ends_it(pipe: Path) -> None:
    with serving(pipe, ready=False) as server, connected(server) as connection:
        with pipe.open("wb") as file:
            connection.sendall(request("GET", "/health"))
            assert answered(connection) == (200, {"status": "ok"})
            file.write(b"nonsense\n")
        assert received(connection) == b""
        assert server.process.wait(60) == 4
        server.says("diglot: .*line 1")


def test_a_port_that_is_taken_is_said_before_the_memory_is_read(pipe: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        # Nobody writes into the pipe.
        command = [sys.executable, "-m", "diglot", "serve", str(pipe), "--port", port]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, f"127.0.0.1:{port}: " in ended.stderr) == (3, True), ended.stderr


@pytest.mark.parametrize("command", ["serve", "mcp"])
@pytest.mark.parametrize("port", ["99999", "65536", "-1", "1.5", "http"])
def test_a_port_is_a_number_that_there_is(
    command: str, port: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "memory.db", f"--port={port}"])
    assert ended.value.code == 2
    assert f"--port: '{port}' is not a port, from 0 to 65,535" in capsys.readouterr().err


def test_it_answers_to_the_address_that_it_listens_on(tmp_path: Path) -> None:
    try:
        socket.create_server(("127.0.0.5", 0)).close()
    except OSError as error:
        pytest.skip(f"this system has no other address of its own: {error}")
    with serving(":memory:", "--host", "127.0.0.5") as server:
        url = f"http://127.0.0.5:{server.port}/api/v1/stats"
        assert httpx.get(url).status_code == 200
        assert httpx.get(url, headers={"host": "localhost"}).status_code == 200
        refused(httpx.get(url, headers={"host": "example.org"}), 403, "wrong_host")
        assert httpx.get(url, headers={"host": "127.0.0.6"}).status_code == 200
    keys = tmp_path / "keys.toml"
    key, text = new_key("all", None, read=["*"], write=["*"])
    keys.write_text(text)
    with serving(":memory:", "--host", "127.0.0.5", "--keys", str(keys)) as server:
        url = f"http://127.0.0.5:{server.port}{SEARCH}?query=a"
        for host in ("127.0.0.5", "tm.example.org"):
            headers = {"host": host, "authorization": f"Bearer {key}"}
            assert httpx.get(url, headers=headers).status_code == 200


def test_names_that_others_gave_it_do_not_reach_it(tmp_path: Path) -> None:
    """A page of another site may give its own name the address of the server."""
    keys = tmp_path / "keys.toml"
    key, text = new_key("all", None, read=["*"], write=["*"])
    keys.write_text(text)
    # With keys, it may be called anything, unless names are given.
    for options in (
        ("--host", "0.0.0.0", "--allow-anonymous"),
        ("--host", "127.0.0.1"),
        ("--keys", str(keys)),
    ):
        with (
            serving(":memory:", "--allow-host", "TM.example.org", *options) as server,
            server.client(key) as client,
        ):
            for host in ("tm.example.org", "Tm.Example.org:80", "192.0.2.7:80", "[::1]:9", "[::2]"):
                headers = {"host": host, "origin": f"http://{host}"}
                assert client.post(ENTRIES, json=ENTRY, headers=headers).status_code == 201, host
            for host in ("rebind.example", f"rebind.example:{server.port}", "1.2.3.4.example", ""):
                headers = {"host": host, "origin": f"http://{host}"}
                refused(client.post(ENTRIES, json=ENTRY, headers=headers), 403, "wrong_host")
                refused(client.get(f"{SEARCH}?query=a", headers=headers), 403, "wrong_host")
                refused(client.get("/tmserver/languages/", headers=headers), 403, "wrong_host")


def test_connections_are_bounded() -> None:
    with serving(":memory:", "--max-connections", "2") as server, ExitStack() as stack:
        first, second = (stack.enter_context(connected(server)) for _ in range(2))
        for connection in (first, second):
            connection.sendall(request("GET", "/api/v1/stats"))
            assert answered(connection)[0] == 200
        with connected(server) as third:
            third.sendall(request("GET", "/api/v1/stats"))
            head, _, body = received(third).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 503 ")
        assert {b"retry-after: 1", b"connection: close"} <= set(head.split(b"\r\n"))
        assert json.loads(body)["error"]["code"] == "too_many_connections"
        # Whoever looks after the server still hears that it runs.
        with connected(server) as third:
            third.sendall(request("GET", "/health"))
            assert answered(third) == (200, {"status": "ok"})
            assert received(third) == b""
        # Those that were there first are served as before.
        first.sendall(request("GET", "/api/v1/stats"))
        assert answered(first)[0] == 200
        second.close()
        while httpx.get(f"{server.url}/api/v1/stats").status_code == 503:
            pass
        first.sendall(request("GET", "/api/v1/stats"))
        assert answered(first)[0] == 200


def test_connections_need_no_more_files_than_there_may_be() -> None:
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with ExitStack() as stack:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
        try:
            server = stack.enter_context(serving())
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        if any("open files may be too few" in line for line in server.log) or 0 <= soft < 600:
            pytest.skip(f"this system allows {hard} open files, and this process {soft}")
        connections = [stack.enter_context(connected(server)) for _ in range(300)]
        for connection in connections:
            connection.sendall(request("GET", "/api/v1/stats"))
        for connection in connections:
            assert answered(connection)[0] == 200


def test_an_idle_connection_is_closed() -> None:
    with serving(":memory:", "--keep-alive", "1") as server, connected(server) as connection:
        connection.sendall(request("GET", "/health"))
        assert answered(connection) == (200, {"status": "ok"})
        assert received(connection) == b""


def test_a_request_that_is_answered_early_is_not_waited_for() -> None:
    with serving(":memory:", "--max-time", "3") as server, connected(server) as connection:
        connection.sendall(request("POST", ENTRIES, b" " * (1 << 23))[:1000])
        assert refused_at(connection) == (413, "too_large")
        with suppress(ConnectionError):
            connection.sendall(b" ")
        assert received(connection) == b""


def stalled(server: Server, content: bytes) -> socket.socket:
    """A client that sends requests, and then does not read."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect(("127.0.0.1", server.port))
    connection.sendall(content)
    return connection


@contextmanager
def serving_much(*options: str) -> Iterator[Server]:
    """A server whose answers are larger than what systems keep for their connections."""
    with serving(":memory:", *options) as server:
        with server.client() as client:
            for batch in range(12):
                entries = [
                    {**ENTRY, "source": f"Save {batch} {row}", "notes": "n" * 100_000}
                    for row in range(40)
                ]
                answer = client.post(f"{ENTRIES}/batch", json={"entries": entries})
                assert answer.status_code == 201
        yield server


def memory(server: Server, field: str) -> int:
    """What the process has in memory, in bytes; with `VmHWM`, at the most so far."""
    lines = Path(f"/proc/{server.process.pid}/status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith(f"{field}:"))
    return int(line.split()[1]) << 10


def test_an_export_ends_when_its_client_does_not_read() -> None:
    with (
        serving_much("--max-time", "5") as server,
        server.client() as client,
        ExitStack() as stack,
    ):
        whole = client.get(EXPORT).content
        assert len(whole) > 48_000_000
        looked_at = Path("/proc/self/clear_refs").exists()
        if looked_at:
            # From here on the most is counted anew.
            Path(f"/proc/{server.process.pid}/clear_refs").write_text("5")
            before = memory(server, "VmRSS")
        # As many as there may be.
        for _ in range(3):
            connection = stack.enter_context(stalled(server, request("GET", EXPORT)))
            assert connection.recv(15) == b"HTTP/1.1 200 OK"
        # All three have ended when others have their turn, and begin where they did.
        while (answer := client.get(EXPORT)).status_code == 503:
            refused(answer, 503, "busy")
        assert answer.content == whole
        if looked_at:
            assert memory(server, "VmHWM") - before < len(whole) // 2
    assert not [line for line in server.log if "ERROR" in line]


def test_a_client_that_does_not_read_does_not_keep_it_from_stopping() -> None:
    search = request("POST", SEARCH, b'{"query": "Save 1 1", "max_hits": 100}')
    with (
        serving_much("--max-time", "3600", "--shutdown-time", "1") as server,
        stalled(server, request("GET", EXPORT)) as one,
        stalled(server, search * 10) as other,
    ):
        for connection in (one, other):
            assert connection.recv(15) == b"HTTP/1.1 200 OK"
        assert server.stop() == 0


def test_it_says_that_it_stops() -> None:
    with (
        serving(":memory:", "--shutdown-time", "300") as server,
        connected(server) as connection,
        connected(server) as idle,
    ):
        for one in (connection, idle):
            one.sendall(request("GET", "/ready"))
            assert answered(one) == (200, {"status": "ready"})
        whole = request("GET", "/ready")
        connection.sendall(whole[:20])
        with server.client() as client:
            # What was sent before is known to the server when this is answered.
            assert client.get("/health").status_code == 200
        server.process.send_signal(signal.SIGTERM)
        assert received(idle) == b""
        connection.sendall(whole[20:])
        assert refused_at(connection) == (503, "stopping")
        assert received(connection) == b""
        assert server.process.wait(60) == 0


def test_who_interrupts_it_twice_does_not_wait() -> None:
    whole = request("POST", ENTRIES, b" " * 100)
    with (
        serving(":memory:", "--shutdown-time", "3600", "--max-time", "3600") as server,
        connected(server) as connection,
        connected(server) as idle,
    ):
        connection.sendall(whole[:-5])
        idle.sendall(request("GET", "/ready"))
        assert answered(idle) == (200, {"status": "ready"})
        server.process.send_signal(signal.SIGINT)
        assert received(idle) == b""
        server.process.send_signal(signal.SIGINT)
        assert refused_at(connection) == (503, "stopping")
        assert server.process.wait(60) == 0


def test_the_keys_are_read_once_more_on_sighup(tmp_path: Path) -> None:
    file = tmp_path / "keys.toml"
    old, text = new_key("old", None, read=["*"], write=["*"])
    file.write_text(text)
    with (
        serving(":memory:", "--keys", str(file)) as server,
        server.client(old) as before,
        server.client() as nobody,
    ):
        assert before.post(ENTRIES, json=ENTRY).status_code == 201
        new, text = new_key("new", None, read=["*"], write=["*"])
        file.write_text(text)
        assert before.get(f"{SEARCH}?query=Save").status_code == 200
        server.process.send_signal(signal.SIGHUP)
        server.says("the keys were read again: 1")
        refused(before.get(f"{SEARCH}?query=Save"), 401, "unauthorized")
        with server.client(new) as after:
            (hit,) = after.get(f"{SEARCH}?query=Save+the+file").json()["hits"]
            assert hit["entry"]["source"] == ENTRY["source"]
            # Some programs empty a file before they write it.
            for content in (
                "[keys.new]\nhash = 1\n",
                "\x00",
                "",
                f"{text.splitlines()[0]}\n",
                None,
            ):
                if content is None:
                    file.unlink()
                else:
                    file.write_text(content)
                server.process.send_signal(signal.SIGHUP)
                server.says(r"ERROR the keys stay as they were: .*keys\.toml")
                assert after.get(f"{SEARCH}?query=Save").status_code == 200
                refused(before.get(f"{SEARCH}?query=Save"), 401, "unauthorized")
                refused(nobody.get(f"{SEARCH}?query=Save"), 401, "unauthorized")
