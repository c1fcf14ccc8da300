"""What commands print, and how they show that they are at work."""

from __future__ import annotations

import errno
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

# The width of a table in a file or pipe, where there is no terminal to ask.
_WIDTH = 100

# Control characters, and those that turn the direction of what comes after them on the line.
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")

# What hears of progress: how much is done, of how much, and of how many entries.
Report = Callable[[int, "int | None", int], None]


def output() -> Console:
    """Standard output."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")
    # rich itself asks COLUMNS and the terminal.
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else _WIDTH
    return Console(width=width, highlight=False)


def say(text: str, console: Console | None = None) -> None:
    """Prints a line as it is, however long."""
    (console or output()).print(text, markup=False, soft_wrap=True)


def count(number: int, one: str, many: str) -> str:
    """A number of things, such as `1 unit` or `1,234 units`."""
    return f"{number:,} {one if number == 1 else many}"


def languages(source: str | None, target: str | None) -> str:
    """A pair of languages, or of what is known of it."""
    return f"{source or '?'} → {target or '?'}"


def shown(text: str) -> str:
    """The text with pictures for control characters, and with the numbers of those that turn the
    direction of writing: what is stored must not steer the terminal.
    """
    return _CONTROLS.sub(lambda found: _picture(ord(found[0])), text)


def _picture(code: int) -> str:
    if code < 0x20:
        return chr(0x2400 + code)
    if code < 0xA0:
        return "␡" if code == 0x7F else "�"
    return f"<U+{code:04X}>"


def print_json(value: Any) -> None:
    """Prints JSON for people to read, too. It is UTF-8, whatever the terminal is."""
    print_json_lines([value], indent=2)


def print_json_lines(values: Iterable[Any], *, indent: int | None = None) -> None:
    """Prints JSON, each value in a line, and all of them at once."""
    lines = (json.dumps(value, ensure_ascii=False, indent=indent) + "\n" for value in values)
    sys.stdout.flush()
    # Names of files may have bytes that are no text: lone surrogates, escaped as JSON has them.
    sys.stdout.buffer.writelines(line.encode(errors="backslashreplace") for line in lines)
    sys.stdout.buffer.flush()


def standard_input() -> int:
    """The descriptor of the standard input.

    Raises:
        OSError: It is closed.
    """
    if sys.stdin is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), "standard input")
    return sys.stdin.fileno()


def warn(message: str) -> None:
    """Says something on standard error."""
    sys.stderr.write(f"diglot: {shown(message)}\n")


class _Time(ProgressColumn):
    """The time that is left or, where nobody knows it, that has passed."""

    _left = TimeRemainingColumn()
    _passed = TimeElapsedColumn()

    def render(self, task: Task) -> Text:
        return (self._passed if task.total is None else self._left).render(task)


@contextmanager
def progress(description: str, then: str | None = None) -> Iterator[Report | None]:
    """Shows a bar on standard error, with the rate and the time left, if that is a terminal.

    Args:
        description: What is done.
        then: What is done when all is told of; nobody knows how long that takes, so the time that
            has passed is shown.

    Yields what has to be told of progress; None where nobody would see it.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[rate]}"),
        _Time(),
        console=console,
        transient=True,
    )
    with bar:
        task = bar.add_task(description, total=None, rate="")
        last = None
        if then is not None:
            last = bar.add_task(then, start=False, total=None, rate="", visible=False)

        def report(done: int, total: int | None, entries: int) -> None:
            seconds = bar.tasks[task].elapsed or 0
            rate = f"{entries / seconds:,.0f} entries/s" if seconds else ""
            ended = last is not None and done == total
            bar.update(task, completed=done, total=total, rate=rate, visible=not ended)
            if last is not None and ended:
                bar.start_task(last)
                bar.update(last, description=f"{then} {entries:,} entries", visible=True)

        yield report
