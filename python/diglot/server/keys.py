"""API keys: what each may do, in which namespaces, and how often.

They are kept in a TOML file, by name, with hashes in place of the keys themselves:

    secret = "…"                   # permutes ids for the keys that do not read all namespaces

    [keys.acme]
    hash = "sha256:…"
    read = ["acme", "shared"]      # namespaces, or ["*"] for all, and entries without one
    write = ["acme"]
    admin = false                  # figures of the whole server; only with read = ["*"]
    rate = 50                      # requests a second in the long run; without it, no limit
    burst = 100                    # requests that may come at once; `rate` if not given

A key is its name, a dot, and 256 random bits, so a plain SHA-256 of it cannot be turned back by
guessing, and the name tells which hash to compare with.
"""

from __future__ import annotations

import json
import re
import secrets
import sys
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest
from os import PathLike
from time import monotonic
from typing import Any

from diglot.errors import FormatError
from diglot.server.errors import ApiError
from diglot.server.ids import IdCipher

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["ANONYMOUS", "Access", "Keys", "new_key"]

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_HASH = re.compile(r"sha256:[0-9a-f]{64}")
_FIELDS = ("hash", "read", "write", "admin", "rate", "burst")
_ALL = "*"

# Bytes of the secret that permutes ids.
_SECRET = 32


class _Bucket:
    """A token bucket. What is larger than all of it takes all of it, so that nothing is refused for
    good.
    """

    __slots__ = ("_burst", "_rate", "_since", "_tokens")

    def __init__(self, rate: float, burst: float) -> None:
        self._rate, self._burst = rate, burst
        self._tokens, self._since = burst, monotonic()

    def take(self, tokens: int, taken: int = 0) -> float:
        """Takes tokens if there are enough. Returns the seconds to wait for them; 0 if taken.

        `taken` of the tokens were taken before, and are given back if there are not enough.
        """
        now = monotonic()
        refilled = self._tokens + (now - self._since) * self._rate + taken
        self._tokens, self._since = min(self._burst, refilled), now
        wanted = min(self._burst, tokens)
        if self._tokens < wanted:
            return (wanted - self._tokens) / self._rate
        self._tokens -= wanted
        return 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Access:
    """Who makes a request, and what they may do.

    Attributes:
        name: The key's name; None without keys.
        read: The namespaces it may read, in order; None for all, and entries without one.
        write: The namespaces it may write; None for all, and entries without one.
        admin: Whether it may see figures of the whole server.
        bucket: Its rate limit.
        cipher: How ids are shown to it; None for as they are.
    """

    name: str | None
    read: tuple[str, ...] | None
    write: tuple[str, ...] | None
    admin: bool
    bucket: _Bucket | None = None
    cipher: IdCipher | None = None

    def charge(self, requests: int, counted: int = 0) -> None:
        """Counts requests against the rate limit; after an error, none of them, not even those
        of them that were `counted` before.

        Raises:
            ApiError: There were too many.
        """
        if self.bucket is not None and (wait := self.bucket.take(requests, counted)):
            raise ApiError(
                429,
                "rate_limited",
                f"too many requests with this key; try again in {wait:.3g} seconds",
                headers={"retry-after": str(int(wait) + 1)},
            )

    def namespaces_to_read(self, namespace: str | None) -> tuple[str | None, ...]:
        """The namespaces to look into, where a request named one or none; None is for all.

        Raises:
            ApiError: The key may not read there.
        """
        if self.read is None:
            return (namespace,)
        if namespace is None:
            if not self.read:
                raise _forbidden("read")
            return self.read
        if namespace not in self.read:
            raise _forbidden("read", namespace)
        return (namespace,)

    def namespace_to_read(self, namespace: str | None) -> str | None:
        """As `namespaces_to_read`, for what can look into one namespace only, or into all."""
        namespaces = self.namespaces_to_read(namespace)
        if len(namespaces) > 1:
            raise _which("read", namespaces)
        return namespaces[0]

    def namespace_to_write(self, namespace: str | None) -> str | None:
        """The namespace of what is added, where a request named one or none.

        Raises:
            ApiError: The key may not write there, or it does not follow where to.
        """
        namespaces = self.namespaces_to_write(namespace)
        if namespaces is None:
            return None
        if len(namespaces) > 1:
            raise _which("write", namespaces)
        return namespaces[0]

    def namespaces_to_write(self, namespace: str | None) -> tuple[str, ...] | None:
        """The namespaces that may be added to, where a request named one or none; None for all,
        and entries without one.

        Raises:
            ApiError: The key may not write there.
        """
        if namespace is None:
            if self.write == ():
                raise _forbidden("write")
            return self.write
        if self.write is not None and namespace not in self.write:
            raise _forbidden("write", namespace)
        return (namespace,)

    def reads(self, namespaces: tuple[str, ...] | None) -> bool:
        """Whether it may read all of these namespaces; None is for all there are."""
        if self.read is None:
            return True
        return namespaces is not None and set(namespaces) <= set(self.read)

    def sees(self, namespace: str | None) -> bool:
        """Whether it may read, or write, what is in a namespace."""
        return (
            self.read is None
            or self.write is None
            or namespace in self.read
            or namespace in self.write
        )

    def outward(self, id: int) -> int:
        """The id that a client gets."""
        return id if self.cipher is None else self.cipher.outward(id)

    def inward(self, id: int) -> int:
        """The id that the memory knows."""
        return id if self.cipher is None else self.cipher.inward(id)


ANONYMOUS = Access(None, None, None, True)
"""Anyone, where no keys are needed."""


def _forbidden(right: str, namespace: str | None = None) -> ApiError:
    # The answer is the same whether or not there is anything in the namespace.
    where = "" if namespace is None else f" the namespace {namespace!r}"
    field = None if namespace is None else "namespace"
    return ApiError(403, "forbidden", f"this key may not {right}{where}", field=field)


def _which(right: str, namespaces: tuple[str | None, ...]) -> ApiError:
    allowed = ", ".join(map(repr, namespaces))
    message = f"namespace is missing; this key may {right} {allowed}"
    return ApiError(422, "missing_field", message, field="namespace")


class Keys:
    """The keys of a server.

    Args:
        text: A file's contents.
        path: Its name, for errors.

    Raises:
        FormatError: It is not as the module says. The message names the key and the field.
    """

    def __init__(self, text: str, path: str) -> None:
        try:
            table = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise FormatError(f"{path}: not TOML: {error}", path=path) from None
        self._path = path
        _check_names(path, "the file", table, ("secret", "keys"))
        keys = table.get("keys", {})
        if not isinstance(keys, dict) or not all(isinstance(key, dict) for key in keys.values()):
            raise FormatError(f"{path}: keys must be tables, [keys.NAME]", path=path, field="keys")
        self._secret = table.get("secret")
        self._keys = {name: self._key(name, key) for name, key in keys.items()}

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Keys:
        """The keys of a file.

        Raises:
            OSError: It cannot be read.
            FormatError: It is not as the module says.
        """
        try:
            with open(path, encoding="utf-8") as file:
                return cls(file.read(), str(path))
        except UnicodeDecodeError:
            raise FormatError(f"{path}: not UTF-8", path=str(path)) from None

    def read_again(self) -> Keys:
        """The keys of the file as it is now.

        Raises:
            OSError: It cannot be read.
            FormatError: As `read`, or it has no keys.
        """
        read = type(self).read(self._path)
        # Some programs empty a file before they write it.
        if not read:
            raise FormatError(f"{self._path}: there are no keys", path=self._path, field="keys")
        return read

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, name: str) -> bool:
        return name in self._keys

    def find(self, key: str) -> Access | None:
        """Who a key belongs to; None if it is no key."""
        name, _, _ = key.partition(".")
        # A name that is not there takes as long as one that is: names are no secret, but need not
        # be told either.
        digest, access = self._keys.get(name, (bytes(32), None))
        return access if compare_digest(sha256(key.encode()).digest(), digest) else None

    def _key(self, name: str, key: dict[str, Any]) -> tuple[bytes, Access]:
        def fail(field: str, what: str) -> FormatError:
            return FormatError(
                f"{self._path}: key {name!r}: {field} {what}", path=self._path, field=field
            )

        if not _NAME.fullmatch(name):
            raise fail("its name", "must be 1 to 64 letters, digits, _ and -")
        _check_names(self._path, f"key {name!r}", key, _FIELDS)
        digest = key.get("hash")
        if not isinstance(digest, str) or not _HASH.fullmatch(digest):
            raise fail("hash", "must be 'sha256:' and 64 hexadecimal digits; see `diglot key`")
        scopes: dict[str, tuple[str, ...] | None] = {}
        for field in ("read", "write"):
            value = key.get(field, [])
            if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
                raise fail(field, f"must be a list of namespaces, or ['{_ALL}']")
            if _ALL in value and len(value) > 1:
                raise fail(field, f"must be ['{_ALL}'] alone, as that is all namespaces")
            scopes[field] = None if value == [_ALL] else tuple(dict.fromkeys(value))
        admin = key.get("admin", False)
        if not isinstance(admin, bool):
            raise fail("admin", "must be true or false")
        if admin and scopes["read"] is not None:
            raise fail("admin", f"needs read = ['{_ALL}'], as its figures are of all namespaces")
        for field in ("rate", "burst"):
            number = key.get(field, 1)
            if isinstance(number, bool) or not isinstance(number, (int, float)) or not number > 0:
                raise fail(field, "must be a number above 0")
        if "burst" in key and "rate" not in key:
            raise fail("burst", "needs a rate")
        bucket = None
        if "rate" in key:
            # A burst of less than one request would let none through.
            bucket = _Bucket(key["rate"], max(1.0, key.get("burst", key["rate"])))
        return bytes.fromhex(digest[7:]), Access(
            name,
            scopes["read"],
            scopes["write"],
            admin,
            bucket,
            # Who reads all namespaces may count what is in them.
            None if scopes["read"] is None else self._cipher(name),
        )

    def _cipher(self, name: str) -> IdCipher:
        if not isinstance(self._secret, str):
            message = (
                f"{self._path}: secret is missing; key {name!r} does not read all namespaces, so"
                f" the ids that it sees are permuted with a secret, {_SECRET} random bytes in"
                " base64"
            )
            raise FormatError(message, path=self._path, field="secret")
        try:
            secret = b64decode(self._secret, validate=True)
        except (Base64Error, ValueError):
            secret = b""
        if len(secret) != _SECRET:
            message = f"{self._path}: secret must be {_SECRET} bytes in base64"
            raise FormatError(message, path=self._path, field="secret")
        return IdCipher(secret)


def _check_names(path: str, where: str, table: dict[str, Any], allowed: tuple[str, ...]) -> None:
    for name in table:
        if name not in allowed:
            message = f"{path}: {where}: {name!r} is not known; allowed are {', '.join(allowed)}"
            raise FormatError(message, path=path, field=name)


def new_key(
    name: str,
    text: str | None,
    *,
    read: Sequence[str],
    write: Sequence[str],
    admin: bool = False,
    rate: float | None = None,
    burst: float | None = None,
) -> tuple[str, str]:
    """A key, and a file of keys with it.

    Args:
        name: What it is called.
        text: The contents of the file as it is; None if there is none.

    The others are the fields of the key.

    Returns:
        The key, and the new contents of the file, which has its hash only. They are not checked;
        `Keys` does that.
    """
    key = f"{name}.{secrets.token_urlsafe(32)}"
    fields: dict[str, Any] = {
        "hash": f"sha256:{sha256(key.encode()).hexdigest()}",
        "read": list(read),
        "write": list(write),
        "admin": True if admin else None,
        "rate": rate,
        "burst": burst,
    }
    # Strings, lists of strings, numbers and booleans are the same in JSON and in TOML.
    lines = [
        f"{name} = {json.dumps(value, ensure_ascii=False)}"
        for name, value in fields.items()
        if value is not None
    ]
    if text is None:
        text = f"secret = {json.dumps(b64encode(secrets.token_bytes(_SECRET)).decode())}\n"
    return key, "\n".join([text, f"[keys.{json.dumps(name)}]", *lines, ""])
