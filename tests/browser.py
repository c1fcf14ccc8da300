"""A real browser for tests. Run as a script, it fails if there is none."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Playwright, sync_playwright

_NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]

# The tests may run as root, in a container, without a network.
_OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# Milliseconds for a browser to start.
_PATIENCE = 300_000

MISSING = (
    "there is no browser to show the page in: run tests/install-programs, or set DIGLOT_CHROMIUM to"
    " the path of a Chromium"
)


def find(playwright: Playwright) -> str | None:
    """The path of a Chromium: the one that DIGLOT_CHROMIUM names, the system's, or Playwright's."""
    if named := os.environ.get("DIGLOT_CHROMIUM"):
        return named
    for name in _NAMES:
        if path := shutil.which(name):
            return path
    path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


@contextmanager
def browser() -> Iterator[Browser | None]:
    """A running browser; None if there is none on this machine."""
    with sync_playwright() as playwright:
        path = find(playwright)
        if path is None:
            yield None
            return
        browser = playwright.chromium.launch(executable_path=path, args=_OPTIONS, timeout=_PATIENCE)
        yield browser
        browser.close()


if __name__ == "__main__":
    with browser() as found:
        sys.exit(MISSING if found is None else None)
