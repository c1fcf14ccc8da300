"""The MCP server, through the SDK's own client."""

import asyncio
import json
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytest.importorskip("mcp", reason="diglot[mcp] is not installed")

from mcp import Client, MCPError, StdioServerParameters
from mcp.types import INVALID_PARAMS

from diglot import (
    InMemoryTranslationMemoryStore,
    InvalidTypeError,
    InvalidValueError,
    TranslationMemoryEntry,
)
from diglot._addresses import is_loopback
from diglot.cli import main
from diglot.dual import DualLanguageMemory, MemoryRecord
from diglot.mcp import memory_server, serve_http
from diglot.stores.sqlite import SqliteTranslationMemory, SqliteTranslationMemoryStore
from diglot.stores.sqlite_dual import SyncSqliteDualLanguageMemory

ROOT = Path(__file__).parents[1]
MEMORY = str(ROOT / "examples" / "memory.jsonl")
QUERY = "Save your changes before you close the app."

# Clients speak the newest version of the protocol, or greet the server first as older ones do.
MODES = ["auto", "legacy"]


@pytest.fixture(scope="session")
def records(tmp_path_factory):
    path = tmp_path_factory.mktemp("mcp") / "records.jsonl"
    memory = DualLanguageMemory(
        [
            MemoryRecord(
                "按下保存按钮以后文件会写到磁盘",
                id="m-1",
                text_en="The file is written when the save button is hit",
                namespace="acme",
            ),
            MemoryRecord("The invoice is sent on Fridays", id="m-2", namespace="rival"),
        ]
    )
    memory.sync.to_jsonl(path)
    return str(path)


def stdio(*arguments):
    """What starts the command and speaks with it through its standard input and output."""
    return StdioServerParameters(command=sys.executable, args=["-m", "diglot", "mcp", *arguments])


@contextmanager
def process(*arguments, stopped_by=signal.SIGTERM):
    """The command as a server; gives its URL."""
    server = subprocess.Popen(
        [sys.executable, "-m", "diglot", "mcp", *arguments, "--http", "--port", "0"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        line = server.stderr.readline()
        assert line.startswith("diglot: serving http://127.0.0."), line + server.stderr.read()
        yield line.split()[-1]
    finally:
        server.send_signal(stopped_by)
        out, err = server.communicate(timeout=30)
    assert (server.returncode, out) == (0, "")
    # What it refused is all there is to say.
    assert all(line.startswith(("Invalid Host", "Invalid Origin")) for line in err.splitlines())


@pytest.fixture(scope="module")
def url(records):
    with process(MEMORY, "--dual", records, "--namespace", "acme") as url:
        yield url


def run(server, talk, mode="auto"):
    """What a conversation with a server comes to."""

    async def converse():
        async with Client(server, mode=mode) as client:
            try:
                return await talk(client), None
            except MCPError as error:  # Raised in here, it would come out in groups of groups.
                return None, error

    result, error = asyncio.run(converse())
    if error is not None:
        raise error
    return result


def call(server, name, arguments=None, mode="auto"):
    return run(server, lambda client: client.call_tool(name, arguments), mode)


def failure(result):
    """The text of a result that says that the tool failed."""
    assert result.is_error
    assert result.structured_content is None
    (content,) = result.content
    return content.text


ENTRIES = [
    TranslationMemoryEntry("Save changes", "변경 사항 저장", "en", "ko", "ui", "acme"),
    TranslationMemoryEntry("Save changes", "변경사항을 저장", "en", "ko", "ui", "rival"),
    TranslationMemoryEntry("Save changes", "変更を保存", "en", "ja", "ui", "acme"),
]


@pytest.fixture
def _signals():
    """The command sets handlers of signals."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def store():
    return InMemoryTranslationMemoryStore(ENTRIES)


@pytest.mark.parametrize("mode", MODES)
def test_looks_up_over_stdio(mode):
    async def talk(client):
        tools = (await client.list_tools()).tools
        arguments = {"query": QUERY, "maxHits": 1, "target_language": "ko"}
        return tools, await client.call_tool("lookup-memory", arguments)

    (tool,), result = run(stdio(MEMORY), talk, mode)
    assert tool.name == "lookup-memory"
    assert tool.title
    assert tool.annotations.read_only_hint is True
    assert tool.annotations.idempotent_hint is True
    assert tool.annotations.open_world_hint is False
    assert list(tool.input_schema["properties"]) == [
        "query",
        "source_language",
        "target_language",
        "domain",
        "max_hits",
        "min_score",
    ]
    assert tool.input_schema["required"] == ["query"]
    (content,) = result.content
    assert content.text.startswith(f"# Translation memory matches: {QUERY}\n\n## 1. Score: 0.88\n")
    assert "창을 닫기 전에 변경 사항을 저장하세요." in content.text
    assert result.structured_content["hit_count"] == 1
    assert result.structured_content["truncated"] is False
    (hit,) = result.structured_content["hits"]
    assert hit["entry"]["target"] == "창을 닫기 전에 변경 사항을 저장하세요."
    assert not result.is_error


@pytest.mark.parametrize("mode", MODES)
def test_looks_up_over_http(url, mode):
    async def talk(client):
        tools = (await client.list_tools()).tools
        notes = await client.call_tool(
            "lookup-dual-memory", {"query": "file is written when the save button"}
        )
        return tools, notes, await client.call_tool("lookup-memory", {"query": QUERY})

    tools, notes, nothing = run(url, talk, mode)
    assert [tool.name for tool in tools] == ["lookup-memory", "lookup-dual-memory"]
    assert not any("namespace" in json.dumps(tool.input_schema) for tool in tools)
    assert all(tool.annotations.read_only_hint for tool in tools)
    (hit,) = notes.structured_content["hits"]
    assert hit["record"]["id"] == "m-1"
    assert notes.structured_content["fallback_used"] is True
    assert "Text: 按下保存按钮以后文件会写到磁盘" in notes.content[0].text
    # The memory's entries are of another namespace than the one that is served.
    assert nothing.structured_content == {"hit_count": 0, "hits": [], "truncated": False}


@pytest.mark.usefixtures("_signals")
def test_adds_to_a_store_that_others_read(tmp_path):
    path = str(tmp_path / "memory.db")
    adding, looking = stdio(path, "--write", "--namespace", "acme"), stdio(path)

    async def talk():
        async with Client(adding) as writer:
            entry = {"source": "Quit", "target": "종료", "targetLanguage": "ko"}
            added = await writer.call_tool("add-memory", entry)
            async with Client(looking, mode="legacy") as reader:
                tools = (await reader.list_tools()).tools
                first = await reader.call_tool("lookup-memory", {"query": "Quit"})
                await writer.call_tool("add-memory", {**entry, "target": "끝내기"})
                second = await reader.call_tool("lookup-memory", {"query": "Quit"})
        return tools, added, first, second

    (tool,), added, first, second = asyncio.run(talk())
    assert tool.name == "lookup-memory"
    assert added.structured_content == {"added": 1}
    targets = [
        [hit["entry"]["target"] for hit in found.structured_content["hits"]]
        for found in (first, second)
    ]
    assert targets == [["종료"], ["종료", "끝내기"]]
    with SqliteTranslationMemory.open(path, read_only=True) as store:
        assert [(entry.target, entry.namespace) for entry in store] == [
            ("종료", "acme"),
            ("끝내기", "acme"),
        ]
    # To look up, a store has to be there.
    assert main(["mcp", str(tmp_path / "missing.db")]) == 3
    assert not (tmp_path / "missing.db").exists()


def test_recalls_from_a_store(tmp_path):
    path = str(tmp_path / "notes.db")
    with SyncSqliteDualLanguageMemory.open(path) as notes:
        notes.add(MemoryRecord("按下保存按钮", id="m-1", text_en="press the save button"))
        found = call(
            stdio("--dual", path), "lookup-dual-memory", {"query": "press the save button"}
        )
    (hit,) = found.structured_content["hits"]
    assert hit["record"]["id"] == "m-1"


def test_serves_many_calls_at_once(url):
    async def talk(client):
        queries = [f"The file number {number} is written" for number in range(40)]
        calls = [client.call_tool("lookup-dual-memory", {"query": query}) for query in queries]
        return queries, await asyncio.gather(*calls)

    queries, results = run(url, talk)
    for query, result in zip(queries, results, strict=True):
        assert query in result.content[0].text


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (None, "query is missing"),
        ({"query": 5}, "query must be a str, not int"),
        ({"query": "a", "max_hits": 51}, "max_hits is 51; it must be from 1 to 50"),
        ({"query": "a", "max_hits": 0}, "max_hits is 0; it must be from 1 to 50"),
        ({"query": "a", "min_score": 1.5}, "min_score is 1.5; it must be a number from 0 to 1"),
        ({"query": "a", "namespace": "rival"}, "'namespace' is not a known field; allowed are"),
        ({"query": "a", "maxContentChars": 9}, "'maxContentChars' is not a known field"),
    ],
)
def test_bad_arguments_are_errors_of_the_tool(store, mode, arguments, said):
    server = memory_server(store, namespace="acme")
    assert said in failure(call(server, "lookup-memory", arguments, mode))


def test_bad_arguments_are_errors_of_the_tool_over_http(url):
    arguments = {"query": "a", "namespace": "rival"}
    for name in ("lookup-memory", "lookup-dual-memory"):
        assert "'namespace' is not a known field" in failure(call(url, name, arguments))
    assert failure(call(url, "lookup-dual-memory", {"query": "a", "limit": 99})) == (
        "limit is 99; it must be from 1 to 50"
    )


def test_an_unknown_tool_is_an_error_of_the_protocol(store):
    for name in ("lookup", "add-memory", "lookup-dual-memory"):
        with pytest.raises(MCPError, match="unknown tool; there are lookup-memory") as caught:
            call(memory_server(store), name, {})
        assert caught.value.code == INVALID_PARAMS


def test_finds_only_what_is_of_the_namespace(store):
    def targets(namespace):
        result = call(
            memory_server(store, namespace=namespace), "lookup-memory", {"query": "Save changes"}
        )
        return [hit["entry"]["target"] for hit in result.structured_content["hits"]]

    assert targets("acme") == ["변경 사항 저장", "変更を保存"]
    assert targets("rival") == ["변경사항을 저장"]
    assert targets("nobody") == []
    assert targets(None) == [entry.target for entry in ENTRIES]


@pytest.mark.parametrize("mode", MODES)
def test_adds_where_that_is_allowed(store, mode):
    server = memory_server(store, writable=True, namespace="acme")

    async def talk(client):
        tool = (await client.list_tools()).tools[-1]
        added = await client.call_tool(
            "add-memory",
            {
                "source": "Quit",
                "target": "종료",
                "targetLanguage": "ko",
                "domain": " ",
                "notes": None,
            },
        )
        return tool, added, await client.call_tool("lookup-memory", {"query": "Quit"})

    tool, added, found = run(server, talk, mode)
    assert tool.name == "add-memory"
    assert tool.annotations.read_only_hint is False
    assert tool.annotations.destructive_hint is False
    assert tool.annotations.idempotent_hint is True
    assert "namespace" not in tool.input_schema["properties"]
    assert added.structured_content == {"added": 1}
    (hit,) = found.structured_content["hits"]
    entry = hit["entry"]
    assert entry.pop("created_at")
    assert entry == {
        "source": "Quit",
        "target": "종료",
        "target_language": "ko",
        "namespace": "acme",
        "metadata": {"translation_source": "llm"},
    }


def test_adds_nothing_twice(store):
    server = memory_server(store, writable=True, namespace="acme")
    given = {
        "source": "Quit",
        "target": "종료",
        "source_language": "en",
        "target_language": "ko",
        "domain": "ui",
    }
    # The same source, target, languages (whatever their case), domain and namespace.
    same = [given, {**given, "target_language": "KO", "notes": "said again"}]
    others = [
        {**given, "source": "QUIT"},
        {**given, "target": "끝내기"},
        {**given, "source_language": "en-GB"},
        {**given, "domain": "menu"},
        *({key: given[key] for key in given if key != left_out} for left_out in list(given)[2:]),
    ]

    async def talk(client):
        async def add(arguments):
            return (await client.call_tool("add-memory", arguments)).structured_content["added"]

        return [await add(arguments) for arguments in (*same, *others, *others, *same)]

    # Those of other namespaces are not looked at.
    asyncio.run(store.add(TranslationMemoryEntry("Quit", "종료", "en", "ko", "ui", "rival")))
    before = len(store)
    added = run(server, talk)
    assert added == [1, 0] + [1] * len(others) + [0] * len(others) + [0, 0]
    assert len(store) == before + 1 + len(others)
    result = call(server, "add-memory", given)
    assert result.content[0].text == "The translation memory has it already; nothing was added."
    assert result.structured_content == {"added": 0}


def test_calls_at_the_same_time_add_one(tmp_path):
    async def talk():
        async with await SqliteTranslationMemoryStore.open(tmp_path / "memory.db") as store:
            async with Client(memory_server(store, writable=True)) as client:
                arguments = {"source": "Quit", "target": "종료"}
                calls = [client.call_tool("add-memory", arguments) for _ in range(10)]
                results = await asyncio.gather(*calls)
            return [result.structured_content["added"] for result in results], len(store)

    added, count = asyncio.run(talk())
    assert (sum(added), len(added), count) == (1, 10, 1)


def test_the_same_without_a_namespace_is_another(store):
    arguments = {"source": "Save changes", "target": "변경 사항 저장", "domain": "ui"}
    arguments |= {"source_language": "en", "target_language": "ko"}
    server = memory_server(store, writable=True)
    added = [call(server, "add-memory", arguments).structured_content["added"] for _ in range(2)]
    assert added == [1, 0]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"source": "a"}, "target is missing"),
        ({"source": None, "target": "b"}, "source is missing"),
        ({"source": " ", "target": "b"}, "source is empty"),
        ({"source": "a", "target": 5}, "target must be a str"),
        ({"source": "a", "target": "b", "notes": 5}, "notes must be a str"),
        ({"source": "a", "target": "b", "namespace": "rival"}, "'namespace' is not a known field"),
        ({"source": "a", "target": "b", "metadata": {}}, "'metadata' is not a known field"),
    ],
)
def test_adds_nothing_that_is_wrong(store, arguments, said):
    server = memory_server(store, writable=True, namespace="acme")
    assert said in failure(call(server, "add-memory", arguments))
    assert len(store) == len(ENTRIES)


@pytest.mark.parametrize("limit", [1, 60, 400, 100_000])
def test_results_are_bounded(limit):
    entries = [TranslationMemoryEntry("Save changes", "変" * 90, notes="<x>" * 9)] * 20
    server = memory_server(InMemoryTranslationMemoryStore(entries), max_content_chars=limit)
    result = call(server, "lookup-memory", {"query": "Save changes", "max_hits": 20})
    assert len(result.content[0].text) <= limit
    assert "<x>" not in result.content[0].text
    found = result.structured_content
    assert sum(len(json.dumps(hit, ensure_ascii=False)) for hit in found["hits"]) <= limit
    assert found["hit_count"] == 20
    assert found["truncated"] == (limit < 100_000)
    assert len(found["hits"]) == {1: 0, 60: 0, 400: 1}.get(limit, 20)
    assert len(failure(call(server, "lookup-memory", {"x" * 5000: 1}))) <= limit


def test_what_goes_wrong_inside_is_logged_and_not_told(caplog):
    class Broken:
        async def search(self, query, **options):
            raise RuntimeError("the password is 12345")

    result = call(memory_server(Broken()), "lookup-memory", {"query": "a"})
    assert "12345" not in failure(result)
    assert "12345" in caplog.text


def test_a_call_that_is_given_up_stops_its_search():
    started, stopped = asyncio.Event(), asyncio.Event()

    class Endless:
        async def search(self, query, **options):
            started.set()
            try:
                await asyncio.Event().wait()
            finally:
                stopped.set()

    async def talk(client):
        lookup = asyncio.create_task(client.call_tool("lookup-memory", {"query": "a"}))
        await started.wait()
        lookup.cancel()
        await asyncio.wait_for(stopped.wait(), 30)

    run(memory_server(Endless()), talk, "legacy")


def test_needs_something_to_serve(store):
    with pytest.raises(InvalidValueError, match="a store or a dual-language memory is needed"):
        memory_server()
    with pytest.raises(InvalidValueError, match="writable needs a store"):
        memory_server(dual=DualLanguageMemory(), writable=True)
    with pytest.raises(InvalidValueError, match=r"fixed\['namespace'\] is empty"):
        memory_server(store, namespace=" ")
    with pytest.raises(InvalidTypeError, match="max_content_chars must be an int"):
        memory_server(store, max_content_chars="9")


def post(url, **headers):
    """The status of a request as no well-behaved client makes it."""
    parts = urlsplit(url)
    connection = HTTPConnection(parts.hostname, parts.port, timeout=30)
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    always = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    try:
        connection.request("POST", parts.path, json.dumps(body), {**always, **headers})
        return connection.getresponse().status
    finally:
        connection.close()


def test_web_pages_cannot_reach_it_by_a_name_of_their_own(url):
    port = urlsplit(url).port
    assert post(url) == 200
    assert post(url, Host=f"localhost:{port}", Origin=f"http://localhost:{port}") == 200
    for host in ("evil.example", f"evil.example:{port}", f"localhost.evil.example:{port}"):
        assert post(url, Host=host) == 421
    for origin in ("http://evil.example", "null", f"http://127.0.0.1.evil.example:{port}"):
        assert post(url, Origin=origin) == 403


def test_hosts_that_are_named_are_let_in():
    with process(MEMORY, "--allow-host", "tm.example.org") as url:
        assert post(url, Host="tm.example.org") == 200
        assert post(url, Host="tm.example.org:8443", Origin="https://tm.example.org:8443") == 200
        assert post(url, Host="localhost") == 200
        assert post(url, Host="other.example.org") == 421


def test_answers_to_the_address_that_it_listens_on():
    try:
        socket.create_server(("127.0.0.5", 0)).close()
    except OSError as error:
        pytest.skip(f"this system has no other address of its own: {error}")
    with process(MEMORY, "--host", "127.0.0.5") as url:
        assert post(url, Host="127.0.0.5") == 200
        assert post(url, Host="localhost") == 200
        assert post(url, Host="127.0.0.6") == 421


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.0.2.1", False),
        ("localhost.example.org", False),
        ("", False),
    ],
)
def test_knows_which_addresses_are_of_this_machine(host, loopback):
    assert is_loopback(host) == loopback


def test_listens_elsewhere_only_if_told_to(store):
    with pytest.raises(InvalidValueError, match="can be reached from other machines"):
        asyncio.run(serve_http(memory_server(store), "0.0.0.0"))


def command(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "diglot", "mcp", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )


@pytest.mark.usefixtures("_signals")
@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        ([], 2, "give a STORE, or --dual RECORDS"),
        (["--dual", MEMORY, "--write"], 2, "--write needs a STORE to add to"),
        ([MEMORY, "--write"], 2, "memory.jsonl is a file of entries, which cannot be changed"),
        ([MEMORY, "--http", "--host", "0.0.0.0"], 2, "--host 0.0.0.0: other machines can reach it"),
        ([MEMORY, "--namespace", " "], 2, "fixed['namespace'] is empty"),
        ([MEMORY, "--max-content-chars", "0"], 2, "max_content_chars is 0"),
        (["/nowhere.jsonl"], 3, "/nowhere.jsonl: No such file or directory"),
        (["--dual", MEMORY], 4, "memory.jsonl:1: "),
    ],
)
def test_says_what_is_wrong_with_the_command(capsys, arguments, status, said):
    assert main(["mcp", *arguments]) == status
    printed = capsys.readouterr()
    assert said in printed.err
    assert printed.out == ""
    assert len(printed.err.splitlines()) == 1


def test_ends_when_the_client_leaves():
    done = command(MEMORY)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


STOPPING = [signal.SIGTERM, signal.SIGINT]


@pytest.fixture
def unsaved(tmp_path):
    """A store that writes a snapshot when it is closed."""
    path = tmp_path / "memory.db"
    with SqliteTranslationMemory.open(path) as store:
        store.add_many(TranslationMemoryEntry(f"Quit {number}", "t") for number in range(1500))
    (tmp_path / "memory.db-snapshot").unlink()
    return path


def closed(path):
    """Whether the files are those of a store that was closed."""
    return {one.name for one in path.parent.iterdir()} == {"memory.db", "memory.db-snapshot"}


@pytest.mark.parametrize("number", STOPPING)
def test_ends_when_it_is_told_to(number, unsaved):
    started = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    added = {"name": "add-memory", "arguments": {"source": "Quit", "target": "종료"}}
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", "diglot", "mcp", str(unsaved), "--write"]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as server:
        for method, params in (("initialize", started), ("tools/call", added)):
            message = {"jsonrpc": "2.0", "id": method, "method": method, "params": params}
            server.stdin.write(json.dumps(message).encode() + b"\n")
            server.stdin.flush()
            answer = json.loads(server.stdout.readline())
            assert answer["id"] == method
        assert answer["result"]["structuredContent"] == {"added": 1}
        server.send_signal(number)
        assert server.wait(timeout=30) == -number
        assert server.stderr.read() == b""
    assert closed(unsaved)
    with SqliteTranslationMemory.open(unsaved) as store:
        assert store.get(1500).target == "종료"


@pytest.mark.parametrize("number", STOPPING)
def test_ends_over_http_when_it_is_told_to(number, unsaved):
    with process(str(unsaved), "--write", stopped_by=number) as url:
        added = call(url, "add-memory", {"source": "Quit", "target": "종료"})
        assert added.structured_content == {"added": 1}
    assert closed(unsaved)


def test_says_which_packages_are_missing():
    code = (
        "import sys; sys.modules['mcp'] = None\n"
        "from diglot.cli import main\n"
        f"sys.exit(main(['mcp', {MEMORY!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 5
    assert done.stderr == (
        "diglot: diglot.mcp needs the package mcp; install it with: pip install 'diglot[mcp]'\n"
    )
