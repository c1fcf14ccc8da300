"""Asks a server with Weblate's own machinery, and prints what Weblate makes of the answers as JSON.

Run by the Python that has Weblate: `weblate_client.py URL`, with what to ask on standard input.
"""

from __future__ import annotations

import json
import sys
from typing import Any
from unittest.mock import MagicMock

# Those that the modules of the client need to be imported.
_APPS = "auth checks configuration fonts lang memory screenshots trans".split()


def machinery(url: str) -> Any:
    """Weblate's client of a server."""
    # Libraries for drawing text, which few machines have and the client does not use.
    for name in ("cairo", "gi", "gi.repository"):
        sys.modules[name] = MagicMock()

    import django
    from django.conf import settings

    settings.configure(
        INSTALLED_APPS=[
            "django.contrib.auth",
            "django.contrib.contenttypes",
            *(f"weblate.{name}" for name in _APPS),
        ],
        AUTH_USER_MODEL="weblate_auth.User",
        # Where it would keep files, of which there are none.
        CACHE_DIR="nowhere",
        DATA_DIR="nowhere",
        SITE_DOMAIN="weblate.example.org",
        SITE_TITLE="Weblate",
        CHECK_LIST=(),
        AUTOFIX_LIST=(),
        WEBLATE_ADDONS=(),
    )
    django.setup()

    from weblate.machinery.tmserver import TMServerTranslation

    return TMServerTranslation({"url": url})


def main() -> None:
    client = machinery(sys.argv[1])
    answers = []
    for source, target, text in json.load(sys.stdin):
        languages = [client.map_language_code(code) for code in (source, target)]
        answers.append(
            {
                "supported": client.is_supported(*languages),
                "found": list(client.download_translations(*languages, text, None, None)),
            }
        )
    json.dump(answers, sys.stdout)


main()
