"""Asks a server with Weblate's own machinery, and prints what Weblate makes of the answers as JSON.

Run by the Python that has Weblate: `weblate_client.py URL`, with what to ask on standard input.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any
from unittest.mock import MagicMock


def machinery(url: str) -> Any:
    """Weblate's client of a server."""
    # Libraries for drawing text, which few machines have and the client does not use.
    for name in ("cairo", "gi", "gi.repository", "tesserocr"):
        sys.modules[name] = MagicMock()
    os.environ["DJANGO_SETTINGS_MODULE"] = "weblate.settings_example"

    import django
    from django.conf import settings

    settings.DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
    settings.SITE_DOMAIN = "weblate.example.org"
    settings.CHECK_LIST = settings.AUTOFIX_LIST = settings.WEBLATE_ADDONS = ()
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
