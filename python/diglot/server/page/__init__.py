"""The page of the server: a small application for browsers that uses the HTTP API as any other
client does.

It is made of the files in this folder as they are. Nothing of it comes from another host, and the
policy that is sent with it forbids that: scripts and styles are files of this server, and no text
can become HTML.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from hashlib import sha256
from pathlib import Path
from typing import Any

__all__ = ["page"]

_Message = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[_Message]]
_Send = Callable[[_Message], Awaitable[None]]
_Headers = list[tuple[bytes, bytes]]

_MEDIA_TYPES = {
    ".css": b"text/css; charset=utf-8",
    ".html": b"text/html; charset=utf-8",
    ".js": b"text/javascript; charset=utf-8",
    ".svg": b"image/svg+xml",
}

_POLICY = (
    b"default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    b"object-src 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)


def _read() -> dict[str, tuple[bytes, _Headers]]:
    files = {}
    folder = Path(__file__).parent
    for file in folder.rglob("*"):
        media_type = _MEDIA_TYPES.get(file.suffix)
        if media_type is None:
            continue
        body = file.read_bytes()
        headers = [
            (b"content-type", media_type),
            (b"content-length", str(len(body)).encode()),
            (b"etag", b'"%s"' % sha256(body).hexdigest()[:32].encode()),
            # Ask each time, so that a new version is used as a whole.
            (b"cache-control", b"no-cache"),
            (b"content-security-policy", _POLICY),
            (b"cross-origin-opener-policy", b"same-origin"),
            (b"referrer-policy", b"no-referrer"),
            (b"x-content-type-options", b"nosniff"),
        ]
        name = file.relative_to(folder).as_posix()
        files["/" if name == "index.html" else f"/page/{name}"] = (body, headers)
    return files


_FILES = _read()


async def page(scope: MutableMapping[str, Any], receive: _Receive, send: _Send) -> None:
    """Answers GET and HEAD for `/` and for what is under `/page/`, as an ASGI application."""
    path = scope["path"].removeprefix(scope.get("root_path", ""))
    body, headers = _FILES.get(path, (b"", [(b"content-length", b"0")]))
    status = 200 if path in _FILES else 404
    if scope["method"] not in {"GET", "HEAD"}:
        status, body, headers = 405, b"", [(b"allow", b"GET, HEAD"), (b"content-length", b"0")]
    elif status == 200 and _has(scope["headers"], dict(headers)[b"etag"]):
        status, body = 304, b""
        headers = [header for header in headers if header[0] != b"content-length"]
    elif scope["method"] == "HEAD":
        body = b""
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _has(headers: _Headers, etag: bytes) -> bool:
    """Whether the browser has this version of a file already."""
    known = b",".join(value for name, value in headers if name == b"if-none-match")
    return etag in (one.strip().removeprefix(b"W/") for one in known.split(b","))
