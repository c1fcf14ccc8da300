"""What is printed while a measurement goes on."""

from __future__ import annotations

import sys

__all__ = ["say"]


def say(line: str) -> None:
    """Prints a line at once, even into a file."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
