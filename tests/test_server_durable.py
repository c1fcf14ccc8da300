"""A server of a SQLite store: what it acknowledged is there, whatever becomes of it."""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from diglot.stores.sqlite import SqliteTranslationMemory
from serving import Server, serving


class Writer(threading.Thread):
    """Adds, replaces and removes entries over a connection of its own until that breaks.

    Attributes:
        known: The targets of the entries that it knows to be there, by id.
        gone: The ids of those that it knows to be removed.
        open: What was asked last and not answered: it may have been done or not.
        busy: Set once it was answered often enough, or has ended.
        error: What was wrong with an answer.
    """

    def __init__(self, server: Server, number: int, turns: int) -> None:
        super().__init__()
        self.server, self.number, self.turns = server, number, turns
        self.known: dict[int, str] = {}
        self.gone: set[int] = set()
        self.open: tuple[str, int | None, str] | None = None
        self.busy = threading.Event()
        self.error: AssertionError | None = None

    def run(self) -> None:
        try:
            address = ("127.0.0.1", self.server.port)
            with (
                socket.create_connection(address) as connection,
                connection.makefile("rb") as answers,
            ):
                self._work(connection, answers)
        except (OSError, ValueError):
            # The server is no more.
            pass
        except AssertionError as error:
            self.error = error
        finally:
            self.busy.set()

    def _work(self, connection: socket.socket, answers: Any) -> None:
        for turn in count(1):
            target = f"writer {self.number} turn {turn}"
            ids = list(self.known)
            method, id, path = "POST", None, "/api/v1/entries"
            if turn % 5 in (3, 4) and ids:
                method = "PUT" if turn % 5 == 3 else "DELETE"
                id = ids[turn * 7 % len(ids)]
                path = f"{path}/{id}"
            body = json.dumps({"source": f"source {turn % 50}", "target": target}).encode()
            self.open = (method, id, target)
            head = f"{method} {path} HTTP/1.1\r\nhost: localhost\r\n"
            head += f"content-length: {len(body)}\r\n\r\n"
            connection.sendall(head.encode() + body)
            status, answer = _answer(answers)
            if method == "POST":
                assert status == 201
                self.known[answer["id"]] = target
            elif method == "PUT":
                assert status == 204
                self.known[id] = target  # type: ignore[index]
            else:
                assert status == 204
                del self.known[id]  # type: ignore[arg-type]
                self.gone.add(id)  # type: ignore[arg-type]
            self.open = None
            if turn == self.turns:
                self.busy.set()


def _answer(answers: Any) -> tuple[int, Any]:
    first = answers.readline()
    if not first:
        raise ValueError("there is no answer")
    status = int(first.split()[1])
    length = 0
    while (line := answers.readline()) not in (b"\r\n", b""):
        if line.lower().startswith(b"content-length:"):
            length = int(line.partition(b":")[2])
    body = answers.read(length)
    if len(body) < length:
        raise ValueError("the answer ends early")
    return status, json.loads(body) if length else None


@contextmanager
def writing(server: Server, numbers: range, turns: int) -> Iterator[list[Writer]]:
    """Writers under way, each of which has made so many turns when the block begins. They have to
    end when it does.
    """
    writers = [Writer(server, number, turns) for number in numbers]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.busy.wait()
    yield writers
    for writer in writers:
        writer.join()
        if writer.error is not None:
            raise writer.error


def check(held: dict[int, str], writers: list[Writer]) -> None:
    """Fails unless a store holds what the writers know, and nothing that they do not know of."""
    expected: dict[int, str] = {}
    unsure: set[str] = set()
    for writer in writers:
        expected |= writer.known
        assert not writer.gone & set(held), "what was removed is gone"
        if writer.open is not None:
            method, id, target = writer.open
            unsure.add(target)
            if method == "DELETE" and id not in held:
                del expected[id]  # type: ignore[arg-type]
            elif method == "PUT" and held.get(id) == target:  # type: ignore[arg-type]
                expected[id] = target  # type: ignore[index]
    extra = {id: target for id, target in held.items() if id not in expected}
    assert {id: held.get(id) for id in expected} == expected
    assert set(extra.values()) <= unsure


def contents(path: Path) -> dict[int, str]:
    with SqliteTranslationMemory.open(path, create=False) as memory:
        memory.verify()
        return {id: entry.target for id, entry in memory.items()}


def test_a_killed_server_has_all_that_it_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    everyone: list[Writer] = []
    for number in range(3):
        # Under load, and at another moment each time.
        numbers, turns = range(10 * number, 10 * number + 8), 20 + 7 * number
        with serving(path) as server, writing(server, numbers, turns) as writers:
            os.kill(server.process.pid, signal.SIGKILL)
            server.process.wait()
        everyone += writers
        assert sum(len(writer.known) for writer in writers) > 50
        check(contents(path), everyone)
        # What was uncertain is now known, one way or the other.
        held = contents(path)
        for writer in writers:
            if writer.open is not None:
                writer.known = {id: held[id] for id in writer.known if id in held}
                writer.known |= {
                    id: target for id, target in held.items() if target == writer.open[2]
                }
                writer.open = None


def test_a_server_that_is_told_to_stop_under_load_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    # However slow the disk is, what was begun has the time to end.
    with (
        serving(path, "--shutdown-time", "3600") as server,
        writing(server, range(8), 20) as writers,
    ):
        assert server.stop() == 0
    check(contents(path), writers)


def test_a_store_is_made_and_found_again(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    entry = {"source": "Save the file", "target": "파일 저장", "metadata": {"a": [1]}}
    dual = ("--dual", str(tmp_path / "notes.db"))
    with serving(path, *dual) as server, server.client() as client:
        id = client.post("/api/v1/entries", json=entry).json()["id"]
        note = client.post("/api/v1/records", json={"text": "메모", "text_en": "a note"}).json()
    with serving(path, *dual) as server, server.client() as client:
        assert client.get(f"/api/v1/records/{note['id']}").json() == note
        recalled = client.post("/api/v1/recall", json={"query": "a note"}).json()
        assert [hit["record"] for hit in recalled["hits"]] == [note]
        (hit,) = client.post("/api/v1/search", json={"query": "save the file"}).json()["hits"]
        assert (hit["id"], hit["entry"]["metadata"]) == (id, {"a": [1]})
        # Another process changes the same store.
        with SqliteTranslationMemory.open(path) as memory:
            memory.remove(id)
        assert client.get(f"/api/v1/entries/{id}").status_code == 404
        assert client.post("/api/v1/search", json={"query": "save the file"}).json() == {"hits": []}


def test_records_are_refused_where_they_would_be_lost(tmp_path: Path) -> None:
    with serving(tmp_path / "memory.db") as server, server.client() as client:
        for path, body in (
            ("/api/v1/records", {"text": "note"}),
            ("/api/v1/records/batch", {"records": [{"text": "note"}]}),
        ):
            answer = client.post(path, json=body)
            error = answer.json()["error"]
            assert (answer.status_code, error["code"]) == (409, "no_dual_memory")
            assert "--dual" in error["message"]
        assert client.post("/api/v1/recall", json={"query": "note"}).json()["hits"] == []


def test_a_store_that_is_kept_by_another_process_is_busy(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    entry = {"source": "s", "target": "t"}
    with serving(path, "--max-time", "8") as server, server.client() as client:
        assert client.post("/api/v1/entries", json=entry).status_code == 201
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        answer = client.post("/api/v1/entries", json=entry)
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "store_busy")
        assert str(tmp_path) not in answer.text
        other.execute("ROLLBACK")
        other.close()
        assert client.post("/api/v1/entries", json=entry).status_code == 201


def test_of_many_who_change_the_same_entry_at_once_one_does(
    tmp_path: Path,
) -> None:
    threads = 8
    entry = {"source": "s", "target": "t"}
    together = threading.Barrier(threads)

    def change(number: int) -> list[int]:
        """The turns that this one won."""
        won = []
        with server.client() as client:
            for turn in range(20):
                together.wait(60)
                tag = client.get(path).headers["etag"]
                together.wait(60)
                body = {**entry, "target": f"{number} {turn}"}
                answer = client.put(path, json=body, headers={"if-match": tag})
                assert answer.status_code in (204, 412)
                if answer.status_code == 204:
                    won.append(turn)
        return won

    # The disk takes its time between a look at the entry and its change.
    with (
        serving(tmp_path / "memory.db") as server,
        server.client() as client,
        ThreadPoolExecutor(threads) as pool,
    ):
        path = f"/api/v1/entries/{client.post('/api/v1/entries', json=entry).json()['id']}"
        won = list(pool.map(change, range(threads)))
        assert sorted(turn for turns in won for turn in turns) == list(range(20))
        last = next(number for number, turns in enumerate(won) if 19 in turns)
        assert client.get(path).json()["entry"]["target"] == f"{last} 19"
