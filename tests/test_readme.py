"""The README's examples are run, and print what it says they print."""

import contextlib
import io
import re
import shlex
from itertools import pairwise
from pathlib import Path

import pytest

from shell import diglot

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(text: str) -> list[tuple[str, str]]:
    """The language and text of each fenced block."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


BLOCKS = blocks(README)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the examples are, and what is written is thrown away."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    return tmp_path


def printed_by(arguments: list[str], folder: Path) -> str:
    done = diglot(*arguments, folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_all_python_blocks_run_and_print_what_follows_them(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    # The blocks are one program: a later one may use the names of an earlier one.
    names: dict[str, object] = {"__name__": "readme"}
    run = 0
    for (language, text), (next_language, expected) in pairwise([*BLOCKS, ("", "")]):
        if language == "python":
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(text, "README.md", "exec"), names)
            assert next_language == "", f"no output follows:\n{text}"
            assert printed.getvalue() == expected
            run += 1
    assert run == README.count("```python")
    assert run >= 4


def test_the_first_command_ends_in_a_lookup_that_prints_what_follows_it() -> None:
    pytest.importorskip("rich", reason="diglot[cli] is not installed")
    (language, command), (_, expected) = BLOCKS[:2]
    assert language == "sh"
    lookup = shlex.split(command.rpartition("&&")[2])
    assert lookup[:2] == [".venv/bin/diglot", "lookup"]
    assert printed_by(lookup[1:], ROOT) == expected


def test_the_commands_at_prompts_print_what_follows_them(folder: Path) -> None:
    pytest.importorskip("rich", reason="diglot[cli] is not installed")
    sessions = [text for language, text in BLOCKS if language == "console" and text[0] == "$"]
    assert len(sessions) >= 2
    for session in sessions:
        command, _, expected = session.partition("\n")
        name, *arguments = shlex.split(command.removeprefix("$ "))
        assert name == "diglot"
        assert printed_by(arguments, folder) == expected


def test_links_within_the_repository_lead_somewhere() -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", README)
    assert {"docs/benchmarks.md", "CONTRIBUTING.md", "LICENSE"} <= set(links)
    assert [link for link in links if not (ROOT / link).exists()] == []
