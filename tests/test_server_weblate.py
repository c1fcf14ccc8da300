"""Weblate's own code as the client of a server."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from serving import serving

CLIENT = Path(__file__).with_name("weblate_client.py")

# A Python that has Weblate, which needs more packages than the tests of everything else.
PYTHON = Path(__file__).parents[1] / ".venv-weblate" / "bin" / "python"


def test_weblate_finds_what_it_asks_for() -> None:
    if not (PYTHON.parents[1] / "installed").exists():
        pytest.skip("Weblate's client is not there: tests/install-programs installs it")
    hard = [
        "a/b",
        "and/or? 100%",
        "one\ntwo",
        "%2F",
        "#tag & more",
        "저장/삭제",
        "+",
        "first\r\nsecond",
    ]
    with serving() as server:
        with server.client() as client:
            entries = [
                {"source": text, "target": f"<{text}>", "source_language": "en"} for text in hard
            ]
            entries.append({"source": "Save the file as", "target": "far", "source_language": "en"})
            for entry in entries:
                entry["target_language"] = "pt-BR"
            answer = client.post("/api/v1/entries/batch", json={"entries": entries})
            assert answer.status_code == 201
        asked = [("en", "pt_BR", text) for text in [*hard, "Save the file", "x" * 501]]
        asked += [("en", "pt_PT", "a/b"), ("en", "pt-BR", "a/b")]
        ran = subprocess.run(
            [str(PYTHON), str(CLIENT), f"{server.url}/tmserver"],
            input=json.dumps(asked),
            capture_output=True,
            text=True,
        )
        assert ran.returncode == 0, ran.stderr
    answers = json.loads(ran.stdout)
    assert [answer["supported"] for answer in answers] == [True] * 10 + [False, True]
    for text, answer in zip(hard, answers, strict=False):
        best = answer["found"][0]
        assert (best["text"], best["quality"], best["source"]) == (f"<{text}>", 100, text)
        assert best["service"] == "tmserver"
    assert [found["text"] for found in answers[8]["found"]] == ["far"]
    assert 75 <= answers[8]["found"][0]["quality"] < 100
    assert [answer["found"] for answer in answers[9:11]] == [[], []]
    assert answers[11] == answers[0]
