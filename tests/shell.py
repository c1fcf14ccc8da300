"""The `diglot` command as a process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


def environment(**changed: str) -> dict[str, str]:
    # Given explicitly: readline, which pytest loads, sets COLUMNS without os.environ knowing.
    return {**os.environ, **changed}


def diglot(
    *arguments: str, folder: Path | None = None, **changed: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "diglot", *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        env=environment(**changed),
        timeout=60,
    )


def started(*arguments: str) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "diglot", *arguments]
    output = subprocess.PIPE
    return subprocess.Popen(command, stdout=output, stderr=output, env=environment())


def on_terminal(*arguments: str, **changed: str) -> str:
    """What the command shows on a terminal."""
    pty = pytest.importorskip("pty", reason="there are no pseudo-terminals on this system")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "diglot", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment(TERM="xterm-256color", COLUMNS="100", **changed),
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # Linux says so when the other side is closed.
            break
        if not part:
            break
        shown += part
    os.close(ours)
    assert process.wait(timeout=60) == 0
    return shown.decode()
