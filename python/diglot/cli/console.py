"""What commands share: reading a memory with a progress bar, and printing."""

from __future__ import annotations

import os
import re
import sys

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

from diglot import TranslationMemory

# The width of a table in a file or pipe, where there is no terminal to ask.
_WIDTH = 100

_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def output() -> Console:
    """Standard output."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")
    # rich itself asks COLUMNS and the terminal.
    return Console(width=None if sys.stdout.isatty() or "COLUMNS" in os.environ else _WIDTH)


def shown(text: str) -> str:
    """The text with pictures for control characters: what is stored must not steer the terminal."""
    return _CONTROLS.sub(lambda found: _picture(ord(found[0])), text)


def _picture(code: int) -> str:
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else "�"


def load(path: str) -> TranslationMemory:
    """The memory of a JSON Lines file.

    A progress bar is shown on standard error if that is a terminal.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        return TranslationMemory.from_jsonl(path)
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        DownloadColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    with progress:
        task = progress.add_task("Reading", total=None, rate="")

        def report(bytes_read: int, bytes_total: int | None, entries: int) -> None:
            seconds = progress.tasks[task].elapsed or 0
            rate = f"{entries / seconds:,.0f} entries/s" if seconds else ""
            done = bytes_read == bytes_total
            progress.update(
                task,
                completed=bytes_read,
                total=bytes_total,
                description=f"Indexing {entries:,} entries" if done else "Reading",
                rate=rate,
            )

        return TranslationMemory.from_jsonl(path, progress=report)
