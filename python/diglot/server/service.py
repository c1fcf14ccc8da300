"""What all requests share: the memories, the keys, the limits, the figures."""

from __future__ import annotations

import asyncio
import re
from base64 import b64decode
from binascii import Error as Base64Error
from typing import Literal
from urllib.parse import urlsplit

from starlette.types import Scope

from diglot._addresses import is_address
from diglot.dual import DualLanguageMemory
from diglot.memory import InMemoryTranslationMemoryStore
from diglot.server.errors import ApiError
from diglot.server.keys import ANONYMOUS, Access, Keys
from diglot.server.metrics import Metrics, Requests
from diglot.server.operation import Right
from diglot.server.settings import Limits
from diglot.stores.sqlite import SqliteTranslationMemoryStore
from diglot.stores.sqlite_dual import SqliteDualLanguageMemory
from diglot.transfer import ExportReport

__all__ = ["Records", "Service", "Store"]

Records = DualLanguageMemory | SqliteDualLanguageMemory
Store = InMemoryTranslationMemoryStore | SqliteTranslationMemoryStore


class Service:
    """The state of a server. It has no memories until they are read (`begin`), which may take long.

    Args:
        keys: Who may do what; None for anyone everything. They may be replaced at any time, but
            not taken away.
        limits: What one request may ask for.
        hosts: The names by which requests may call the server, besides addresses; None for any.

    Attributes:
        store: The translation memory.
        records: The dual-language memory.
        takes_records: Whether records may be added.
        stopping: Whether the server was told to stop.
    """

    store: Store
    records: Records
    takes_records: bool
    metrics: Metrics

    def __init__(
        self, keys: Keys | None, limits: Limits, hosts: frozenset[str] | None = None
    ) -> None:
        self.keys = keys
        self.limits = limits
        self.hosts = hosts
        self.requests = Requests()
        # Held from a look at an entry to its change, and at what is there to what is added to it.
        self.changing = asyncio.Lock()
        self.adding = asyncio.Lock()
        # The names of the keys whose imports are under way.
        self.imports: list[str | None] = []
        self.exports: dict[asyncio.Future[ExportReport], str | None] = {}
        self.stopping = False
        self._loaded = False

    def begin(self, store: Store, records: Records, *, takes_records: bool) -> None:
        """Admits requests for memories from now on."""
        self.store, self.records, self.takes_records = store, records, takes_records
        # What was refused until now would count as errors.
        self.requests = Requests()
        self.metrics = Metrics(self.requests, store.stats, records)
        self._loaded = True

    @property
    def state(self) -> Literal["loading", "ready", "stopping"]:
        """Whether requests may be sent."""
        if self.stopping:
            return "stopping"
        return "ready" if self._loaded else "loading"

    def unavailable(self) -> ApiError:
        """The answer to who asks while the state is not `ready`."""
        state = self.state
        message = "the server stops" if state == "stopping" else "the memory is still being read"
        return ApiError(503, state, message, headers={"retry-after": "1"})

    def admit(self, scope: Scope, right: Right | None) -> Access:
        """Who makes a request.

        Raises:
            ApiError: There is no such key, it has not the right, or made too many requests; it
                is not told who asks, or whom; or the server cannot take the request now.
        """
        headers = _headers(scope)
        self._check_origin(scope["method"], headers)
        if right is not None:
            if not self._loaded:
                raise self.unavailable()
            if scope["state"].get("surplus"):
                message = f"there are {self.limits.max_connections} connections already; try again"
                again = {"retry-after": "1", "connection": "close"}
                raise ApiError(503, "too_many_connections", message, headers=again)
        if right is None or self.keys is None:
            return ANONYMOUS
        key = _key(headers)
        access = None if key is None else self.keys.find(key)
        if access is None:
            what = "a key is needed" if key is None else "the key is not known"
            challenge = 'Bearer realm="diglot", Basic realm="diglot"'
            raise ApiError(
                401,
                "unauthorized",
                f"{what}; send one as 'Authorization: Bearer KEY'",
                headers={"www-authenticate": challenge},
            )
        access.charge(1)
        if right == "admin" and not access.admin:
            raise ApiError(403, "forbidden", "this needs a key with the right 'admin'")
        return access

    def _check_origin(self, method: str, headers: dict[bytes, bytes]) -> None:
        host = headers.get(b"host", b"").decode("latin-1")
        # A page of another site whose name was made to lead here gives itself away by that name.
        name = _name(host)
        if self.hosts is not None and name not in self.hosts and not is_address(name):
            allowed = ", ".join(sorted(self.hosts))
            message = (
                f"the host {host!r} is no address and not one of {allowed};"
                " --allow-host allows a name"
            )
            raise ApiError(403, "wrong_host", message)
        origin = headers.get(b"origin")
        if method in {"GET", "HEAD"} or origin is None:
            return
        # A browser says where the page came from whose script makes a request.
        if urlsplit(origin.decode("latin-1")).netloc != host:
            raise ApiError(403, "wrong_origin", "pages of other sites may not make changes here")


# Headers that say who asks, and whom. Of two of them, a proxy could believe the other one.
_ONCE = (b"host", b"origin", b"authorization")

# A name or an address, and perhaps a port. What else a URL may have there leads elsewhere.
_HOST = re.compile(rb"(?:\[[0-9A-Za-z:.%_~-]+\]|[^\x00- \x7f\[\]\\/?#@:]*)(?::[0-9]*)?")


def _headers(scope: Scope) -> dict[bytes, bytes]:
    """The headers of a request.

    Raises:
        ApiError: One that tells who asks, or whom, is there twice, or the host is none.
    """
    lines = scope["headers"]
    headers: dict[bytes, bytes] = dict(lines)
    if len(headers) < len(lines):
        names = [name for name, _ in lines]
        for name in _ONCE:
            if names.count(name) > 1:
                raise _invalid(name, "is given twice")
    host = headers.get(b"host")
    if host is None:
        # HTTP/1.0 has no such header.
        if scope["http_version"] != "1.0":
            raise _invalid(b"host", "is missing")
    elif not _HOST.fullmatch(host):
        raise _invalid(b"host", "must be a name or an address, and perhaps a port")
    return headers


def _invalid(header: bytes, what: str) -> ApiError:
    name = header.decode()
    return ApiError(400, "invalid_request", f"the header {name} {what}", field=name)


def _name(host: str) -> str:
    """A host without its port and brackets."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()


def _key(headers: dict[bytes, bytes]) -> str | None:
    """The key of a request: as a token, or as the password of clients that know only those."""
    scheme, _, credentials = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
    credentials = credentials.strip()
    if scheme.lower() == "bearer":
        return credentials
    if scheme.lower() == "basic":
        try:
            return b64decode(credentials, validate=True).decode().partition(":")[2]
        except (Base64Error, ValueError):
            return ""
    return None
