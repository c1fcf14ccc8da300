"""The examples run: the scripted one by itself, the others with a stand-in for their provider."""

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from diglot import InMemoryTranslationMemoryStore, lookup_memory

EXAMPLES = Path(__file__).parents[1] / "examples"
TEXT = "Save your changes before you quit."
TRANSLATION = "종료하기 전에 변경 사항을 저장하세요."
FIXED = {"source_language": "en", "target_language": "ko"}

BAD = {"query": TEXT, "max_hits": 99}
GOOD = {"query": TEXT, "max_hits": 1}


def run(name, *arguments, **environment):
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *arguments],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8", **environment},
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@contextmanager
def provider(path, reply):
    """Answers as a provider does; gives its address and the requests that it got."""
    requests = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            known = self.path == path
            if known:
                requests.append(body)
            answer = json.dumps(reply(body, len(requests)) if known else {}).encode()
            self.send_response(200 if known else 404)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", requests
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def source():
    return lookup_memory(InMemoryTranslationMemoryStore(), fixed=FIXED)


def test_the_scripted_model_finds_what_was_translated_before():
    lines = run("translate_scripted.py").splitlines()
    assert lines[0] == TEXT
    assert lines[1] == "  in the memory: 로그아웃하기 전에 변경 사항을 저장하세요."
    assert lines[-3:] == [
        "Save your changes before you quit!",
        f"  in the memory: {TRANSLATION}",
        f"  translation: {TRANSLATION}",
    ]


def openai_response(body, number):
    base = {"id": f"resp-{number}", "object": "response", "created_at": 0, "status": "completed"}
    if number <= 2:
        output = {
            "type": "function_call",
            "id": f"fc-{number}",
            "call_id": f"c-{number}",
            "name": "lookup-memory",
            "arguments": json.dumps(BAD if number == 1 else GOOD),
        }
    else:
        content = [{"type": "output_text", "text": TRANSLATION, "annotations": []}]
        output = {
            "type": "message",
            "id": "msg-1",
            "role": "assistant",
            "status": "completed",
            "content": content,
        }
    return {**base, "model": body["model"], "output": [output], "tools": []}


def test_the_openai_example_has_its_model_look_up(source):
    pytest.importorskip("openai", reason="diglot[openai] is not installed")
    from diglot.adapters.openai import responses_tool

    with provider("/v1/responses", openai_response) as (address, requests):
        printed = run(
            "translate_openai.py",
            TEXT,
            OPENAI_BASE_URL=f"{address}/v1",
            OPENAI_API_KEY="none",
            OPENAI_MODEL="a-model",
        )
    assert printed == f"{TRANSLATION}\n"
    assert [request["model"] for request in requests] == ["a-model"] * 3
    assert all(request["tools"] == [responses_tool(source)] for request in requests)
    first, refused, found = (request["input"][-1] for request in requests)
    assert first == {"role": "user", "content": TEXT}
    assert refused == {
        "type": "function_call_output",
        "call_id": "c-1",
        "output": "max_hits is 99; it must be from 1 to 50",
    }
    assert found["call_id"] == "c-2"
    assert "Target: 로그아웃하기 전에 변경 사항을 저장하세요." in found["output"]
    assert [item.get("type") for item in requests[-1]["input"]] == [
        None,
        "function_call",
        "function_call_output",
        "function_call",
        "function_call_output",
    ]


def anthropic_message(body, number):
    if number <= 2:
        block = {
            "type": "tool_use",
            "id": f"t-{number}",
            "name": "lookup-memory",
            "input": BAD if number == 1 else GOOD,
        }
    else:
        block = {"type": "text", "text": TRANSLATION}
    return {
        "id": f"msg-{number}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [block],
        "stop_reason": "tool_use" if number <= 2 else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def test_the_anthropic_example_has_its_model_look_up(source):
    pytest.importorskip("anthropic", reason="diglot[anthropic] is not installed")
    from diglot.adapters.anthropic import lookup_tool

    with provider("/v1/messages", anthropic_message) as (address, requests):
        printed = run(
            "translate_anthropic.py",
            TEXT,
            ANTHROPIC_BASE_URL=address,
            ANTHROPIC_API_KEY="none",
            ANTHROPIC_MODEL="a-model",
        )
    assert printed == f"{TRANSLATION}\n"
    assert [request["model"] for request in requests] == ["a-model"] * 3
    assert all(request["tools"] == [lookup_tool(source)] for request in requests)
    assert requests[0]["messages"] == [{"role": "user", "content": TEXT}]
    refused, found = (request["messages"][-1]["content"][0] for request in requests[1:])
    assert refused == {
        "type": "tool_result",
        "tool_use_id": "t-1",
        "content": "max_hits is 99; it must be from 1 to 50",
        "is_error": True,
    }
    assert (found["tool_use_id"], found["is_error"]) == ("t-2", False)
    assert "Target: 로그아웃하기 전에 변경 사항을 저장하세요." in found["content"]
    roles = [message["role"] for message in requests[-1]["messages"]]
    assert roles == ["user", "assistant", "user", "assistant", "user"]


def test_the_python_of_the_document_runs():
    for library in ("mcp", "langgraph"):
        pytest.importorskip(library, reason=f"diglot[{library}] is not installed")
    text = (EXAMPLES.parent / "docs" / "agents.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    # The blocks are one program.
    program = "".join(code for language, code in blocks if language == "python")
    (expected,) = (output for language, output in blocks if language == "")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(program, "agents.md", "exec"), {"__name__": "document"})
    assert printed.getvalue() == expected
