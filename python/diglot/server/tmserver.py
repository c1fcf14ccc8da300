"""The protocol of tmserver and amaGama, which Weblate, Virtaal and others speak, under `/tmserver`.

The text to look up is a part of the path. It is taken from the path as it was sent, since a path
that is decoded first can no longer tell the slashes and question marks of the text from its own.
"""

from __future__ import annotations

import asyncio
from heapq import merge
from itertools import islice, product
from typing import Annotated, Any
from urllib.parse import parse_qs, unquote_to_bytes

import msgspec
from starlette.types import Receive, Scope, Send

from diglot._scan import Field
from diglot.errors import DiglotError
from diglot.model import TranslationMemoryEntry, TranslationMemoryHit
from diglot.server.browse import count_by
from diglot.server.errors import (
    ApiError,
    from_diglot,
    from_msgspec,
    method_not_allowed,
    not_found,
)
from diglot.server.guard import Guard
from diglot.server.keys import Access
from diglot.server.operation import answer, counted, read_body
from diglot.server.service import Service

__all__ = ["PREFIX", "TmServer"]

PREFIX = b"/tmserver/"

# What amaGama does without the parameters, and the lowest similarity that it takes.
_MIN_SIMILARITY, _LEAST_SIMILARITY = 70, 30
_MAX_CANDIDATES = 5

_Text = Annotated[str, msgspec.Meta(min_length=1)]


class _Unit(msgspec.Struct):
    """What clients send. They send more, such as a context, which is not kept."""

    source: _Text
    target: _Text


_unit = msgspec.json.Decoder(_Unit)
_units = msgspec.json.Decoder(list[_Unit])


class TmServer:
    """The ASGI application below `/tmserver/`."""

    def __init__(self, service: Service) -> None:
        self._service = service
        # One unit is looked for and added at a time, so that none is added twice.
        self._adding = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await counted(self._service, "tmserver", send, self._answer(scope, receive, send))

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> int:
        with Guard(self._service.limits.max_time) as guard:
            media_type, content = await self._carry_out(scope, receive, guard)
        await answer(send, 200, media_type, content, (("cache-control", "no-store"),))
        return 200

    async def _carry_out(self, scope: Scope, receive: Receive, guard: Guard) -> tuple[str, bytes]:
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        parts = scope["raw_path"][len(PREFIX) :].split(b"/", 3)
        if parts[0] == b"languages" and parts[1:] in ([], [b""]):
            _check_method(method, "GET")
            access = self._service.admit(scope, "read")
            return "application/json", msgspec.json.encode(await self._languages(access))
        if len(parts) < 3 or parts[2] not in (b"unit", b"store"):
            raise not_found()
        source, target, kind = (_decode(part) for part in parts[:3])
        query = _read_query(scope["query_string"])
        text = _decode(parts[3]) if len(parts) > 3 else ""
        if kind == "store":
            _check_method(method, "POST")
        elif not text:
            text = query.get("source", "")
        if not text:
            raise not_found()
        _check_method(method, "GET", "POST", "PUT")
        access = self._service.admit(scope, "read" if method == "GET" else "write")
        if method != "GET":
            data = await read_body(scope, receive, self._service.limits.max_body)
            guard.watch(receive)
            try:
                units = _units.decode(data) if kind == "store" else [_unit.decode(data)]
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                raise from_msgspec(error) from None
            count = await self._add(access, query.get("namespace"), source, target, units)
            if kind == "store":
                return "text/plain; charset=utf-8", f"added {count} units from {text}".encode()
            return "text/plain; charset=utf-8", b""
        guard.watch(receive)
        if _normal(source) == _normal(target):
            raise not_found()
        hits = await self._search(access, source, target, text, query)
        return "application/json", msgspec.json.encode(hits)

    async def _languages(self, access: Access) -> dict[str, list[str]]:
        """As amaGama writes them, since clients compare them with what they write so themselves."""
        names: dict[str, Field] = {
            "sourceLanguages": "source_language",
            "targetLanguages": "target_language",
        }
        return {
            name: sorted(
                {
                    language.replace("-", "_").lower()
                    for language in await count_by(self._service, access, field)
                    if language is not None
                }
            )
            for name, field in names.items()
        }

    async def _search(
        self, access: Access, source: str, target: str, text: str, query: dict[str, str]
    ) -> list[dict[str, Any]]:
        limits = self._service.limits
        similarity = max(_number(query, "min_similarity") or _MIN_SIMILARITY, _LEAST_SIMILARITY)
        candidates = min(_number(query, "max_candidates") or _MAX_CANDIDATES, limits.max_hits)
        if len(text) > limits.max_query:
            message = (
                f"the text has {len(text):,} characters; at most {limits.max_query:,} are allowed"
            )
            raise ApiError(422, "text_too_long", message, field="source")
        found = [
            await self._find(
                text,
                source_language=source_form,
                target_language=target_form,
                namespace=namespace,
                max_hits=candidates,
                min_score=min(similarity, 100) / 100,
            )
            for source_form, target_form, namespace in product(
                _forms(source), _forms(target), access.namespaces_to_read(query.get("namespace"))
            )
        ]
        hits = islice(merge(*found, key=lambda hit: (-hit.score, hit.id)), candidates)
        return [
            {
                "quality": hit.score * 100,
                "rank": hit.score * 100,
                "source": hit.entry.source,
                "target": hit.entry.target,
            }
            for hit in hits
        ]

    async def _find(self, text: str, **options: Any) -> list[TranslationMemoryHit]:
        try:
            return await self._service.store.search(text, **options)
        except DiglotError as error:
            raise from_diglot(error) from None

    async def _add(
        self, access: Access, wanted: str | None, source: str, target: str, units: list[_Unit]
    ) -> int:
        """Adds the units that are not there. Returns how many units there were, as amaGama does."""
        most = self._service.limits.max_batch
        if len(units) > most:
            message = f"there are {len(units):,} units; at most {most:,} are allowed"
            raise ApiError(422, "too_many", message)
        namespace = access.namespace_to_write(wanted)
        async with self._adding:
            entries: dict[tuple[str, str], TranslationMemoryEntry] = {}
            for unit in units:
                if not await self._is_there(source, target, namespace, unit):
                    try:
                        entries[unit.source, unit.target] = TranslationMemoryEntry(
                            unit.source,
                            unit.target,
                            source.replace("_", "-"),
                            target.replace("_", "-"),
                            namespace=namespace,
                        )
                    except DiglotError as error:
                        raise from_diglot(error) from None
            await self._service.store.add_many(entries.values())
        return len(units)

    async def _is_there(self, source: str, target: str, namespace: str | None, unit: _Unit) -> bool:
        for source_form, target_form in product(_forms(source), _forms(target)):
            hits = await self._find(
                unit.source,
                source_language=source_form,
                target_language=target_form,
                namespace=namespace,
                max_hits=self._service.limits.max_hits,
                min_score=1.0,
            )
            if any(
                (hit.entry.source, hit.entry.target, hit.entry.namespace)
                == (unit.source, unit.target, namespace)
                for hit in hits
            ):
                return True
        return False


def _check_method(method: str, *allowed: str) -> None:
    if method not in allowed:
        raise method_not_allowed(method, *allowed)


def _decode(part: bytes) -> str:
    try:
        return unquote_to_bytes(part).decode()
    except UnicodeDecodeError:
        raise ApiError(400, "invalid_path", "the path is not UTF-8") from None


def _read_query(query_string: bytes) -> dict[str, str]:
    try:
        values = parse_qs(query_string.decode("ascii"), errors="strict", max_num_fields=50)
    except ValueError:
        raise ApiError(400, "invalid_query", "the query string is not UTF-8, or too long") from None
    return {name: value[0] for name, value in values.items()}


def _number(query: dict[str, str], name: str) -> int | None:
    """A parameter; None if it is no number, as amaGama takes it."""
    try:
        return int(query.get(name, "")[:9])
    except ValueError:
        return None


def _normal(language: str) -> str:
    return language.replace("_", "-").lower()


def _forms(language: str) -> set[str]:
    """The ways in which a language may be written; case is no matter to a search."""
    return {language.replace("_", "-"), language.replace("-", "_")}
