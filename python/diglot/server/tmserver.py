"""The protocol of tmserver and amaGama, which Weblate, Virtaal and others speak, under `/tmserver`.

The text to look up is a part of the path. It is taken from the path as it was sent, since a path
that is decoded first can no longer tell the slashes and question marks of the text from its own.
"""

from __future__ import annotations

import sys
from heapq import merge
from itertools import islice, product
from typing import Annotated
from urllib.parse import unquote_to_bytes

import msgspec
from starlette.types import Receive, Scope, Send

from diglot._scan import Field
from diglot.model import TranslationMemoryEntry
from diglot.server.browse import count_by
from diglot.server.checks import check_text, make_all
from diglot.server.errors import ApiError, not_found
from diglot.server.operation import (
    Answer,
    AnyParameters,
    Call,
    Operation,
    answer_error,
    paths_of,
)
from diglot.server.service import Service
from diglot.store import WHITE_SPACE

__all__ = ["OPERATIONS", "PREFIX", "TmServer"]

PREFIX = b"/tmserver/"

_LANGUAGES = "/tmserver/languages/"
_PAIR = "/tmserver/{source_language}/{target_language}"
_UNIT = f"{_PAIR}/unit/{{text}}"
_UNIT_BY_QUERY = f"{_PAIR}/unit/"
_UNIT_PATHS = ((_UNIT, ""), (_UNIT_BY_QUERY, "_by_query"))
_STORE = f"{_PAIR}/store/{{name}}"

# What amaGama does without the parameters, and the lowest similarity that it takes.
_MIN_SIMILARITY, _LEAST_SIMILARITY = 70, 30
_MAX_CANDIDATES = 5

_PLAIN = "text/plain; charset=utf-8"

_Text = Annotated[str, msgspec.Meta(min_length=1)]


class Unit(msgspec.Struct):
    """A text with its translation. What clients send besides, such as a context, is not kept."""

    source: _Text
    target: _Text


class Match(msgspec.Struct, kw_only=True):
    """A unit that is like the text; `quality` says how much, in percent, and `rank` the same."""

    source: str
    target: str
    quality: float
    rank: float


class Languages(msgspec.Struct, kw_only=True, rename="camel"):
    """The languages of the entries, in lower case and with `_`."""

    source_languages: list[str]
    target_languages: list[str]


class Addition(AnyParameters, kw_only=True):
    """Where units go."""

    source: str = ""
    namespace: str | None = None


class Search(Addition, kw_only=True):
    """What to look for."""

    min_similarity: Annotated[
        int, msgspec.Meta(description=f"In percent; at the least {_LEAST_SIMILARITY}.")
    ] = _MIN_SIMILARITY
    max_candidates: Annotated[int, msgspec.Meta(ge=0)] = _MAX_CANDIDATES


class TmServer:
    """The ASGI application below `/tmserver/`.

    Args:
        service: The memory, and who may do what with it.
    """

    def __init__(self, service: Service) -> None:
        self._paths = paths_of(OPERATIONS, service)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            path, scope["path_params"] = _route(scope["raw_path"])
        except ApiError as error:
            await answer_error(send, error)
        else:
            await self._paths[path](scope, receive, send)


def _route(path: bytes) -> tuple[str, dict[str, str]]:
    """The path of an operation that a path as it was sent is one of, and the parameters in it.

    Raises:
        ApiError: There is none, or it is not UTF-8.
    """
    # Clients add to an address that ends in a slash, such as Virtaal's, one more.
    parts = path[len(PREFIX) :].removeprefix(b"/").split(b"/", 3)
    if parts in ([b"languages"], [b"languages", b""]):
        return _LANGUAGES, {}
    if len(parts) < 3 or parts[2] not in (b"unit", b"store"):
        raise not_found()
    try:
        source, target, kind, rest = (unquote_to_bytes(part).decode() for part in (*parts, b"")[:4])
    except UnicodeDecodeError:
        raise ApiError(400, "invalid_path", "the path is not UTF-8") from None
    if not source or not target:
        raise not_found()
    parameters = {"source_language": source, "target_language": target}
    if kind == "unit":
        return (_UNIT, {**parameters, "text": rest}) if rest else (_UNIT_BY_QUERY, parameters)
    if not rest:
        raise not_found()
    return _STORE, {**parameters, "name": rest}


def _text(call: Call) -> str:
    """The text of a request: in its path or in its query string."""
    text: str = call.parameters.get("text") or call.query.source
    if not text:
        raise not_found()
    return text


def _languages_of(call: Call) -> tuple[str, str]:
    return call.parameters["source_language"], call.parameters["target_language"]


async def _add(call: Call) -> Answer:
    _text(call)
    await _add_new(call, [_entry(call, call.body)])
    return Answer(_PLAIN, b"")


async def _add_all(call: Call) -> Answer:
    entries = make_all(call, "", call.body, _entry)
    await _add_new(call, entries)
    # How many there were, as amaGama says it. How many of them are new is not for who may not read
    # what is there.
    return Answer(_PLAIN, f"added {len(entries)} units from {call.parameters['name']}".encode())


async def _add_new(call: Call, entries: list[TranslationMemoryEntry]) -> None:
    """Adds the entries that are not there, all or none."""
    async with call.service.adding:
        new = {
            (entry.source, entry.target): entry
            for entry in entries
            if not await _is_there(call, entry)
        }
        await call.service.store.add_many(new.values())


def _entry(call: Call, unit: Unit) -> TranslationMemoryEntry:
    source, target = _languages_of(call)
    return TranslationMemoryEntry(
        unit.source,
        unit.target,
        source.replace("_", "-"),
        target.replace("_", "-"),
        namespace=call.access.namespace_to_write(call.query.namespace),
    )


async def _languages(call: Call) -> Languages:
    async def languages(field: Field) -> list[str]:
        counts = await count_by(call.service, call.access, field)
        # As amaGama writes them, since clients compare them with what they write so themselves.
        return sorted({name.replace("-", "_").lower() for name in counts if name is not None})

    return Languages(
        source_languages=await languages("source_language"),
        target_languages=await languages("target_language"),
    )


async def _search(call: Call) -> Answer:
    query = call.query
    source, target = _languages_of(call)
    text = _text(call)
    if _normal(source) == _normal(target):
        raise not_found()
    field = "text" if "text" in call.parameters else "source"
    check_text(call, field, text)
    if not text.strip(WHITE_SPACE):
        message = f"{field} is empty; it needs at least one character that is not white space"
        raise ApiError(422, "empty_text", message, field=field)
    # 0 is as good as nothing, as in amaGama.
    similarity = max(query.min_similarity or _MIN_SIMILARITY, _LEAST_SIMILARITY)
    candidates = min(query.max_candidates or _MAX_CANDIDATES, call.service.limits.max_hits)
    found = [
        await call.service.store.search(
            text,
            source_language=source_form,
            target_language=target_form,
            namespace=namespace,
            max_hits=candidates,
            min_score=min(similarity, 100) / 100,
        )
        for source_form, target_form, namespace in product(
            _forms(source), _forms(target), call.access.namespaces_to_read(query.namespace)
        )
    ]
    hits = islice(merge(*found, key=lambda hit: (-hit.score, hit.id)), candidates)
    matches = []
    for hit in hits:
        # Clients drop what is behind the point, and 0.29 * 100 is a little less than 29.
        percent = round(hit.score * 100, 9)
        entry = hit.entry
        matches.append(
            Match(source=entry.source, target=entry.target, quality=percent, rank=percent)
        )
    content = msgspec.json.encode(matches)
    return Answer("application/json", content, (("cache-control", "no-store"),))


async def _is_there(call: Call, entry: TranslationMemoryEntry) -> bool:
    source, target = _languages_of(call)
    for source_form, target_form in product(_forms(source), _forms(target)):
        hits = await call.service.store.search(
            entry.source,
            source_language=source_form,
            target_language=target_form,
            namespace=entry.namespace,
            max_hits=sys.maxsize,
            min_score=1.0,
        )
        if any(
            (hit.entry.source, hit.entry.target, hit.entry.namespace)
            == (entry.source, entry.target, entry.namespace)
            for hit in hits
        ):
            return True
    return False


def _normal(language: str) -> str:
    return language.replace("_", "-").lower()


def _forms(language: str) -> set[str]:
    """The ways in which a language may be written; case is no matter to a search."""
    return {language.replace("_", "-"), language.replace("-", "_")}


OPERATIONS = [
    Operation(
        method="GET",
        path=_LANGUAGES,
        name="tmserver_languages",
        handler=_languages,
        summary="The languages of the entries",
        query=AnyParameters,
        response=Languages,
    ),
    *(
        Operation(
            method="GET",
            path=path,
            name=f"tmserver_search{suffix}",
            handler=_search,
            summary="The translations of texts that are like one",
            query=Search,
            response=list[Match],
            errors=(404,),
        )
        for path, suffix in _UNIT_PATHS
    ),
    *(
        Operation(
            method=method,
            path=path,
            name=f"tmserver_{method.lower()}{suffix}",
            handler=_add,
            summary="Adds a unit if it is not there",
            right="write",
            query=Addition,
            body=Unit,
            media_type=_PLAIN,
            errors=(404,),
        )
        for path, suffix in _UNIT_PATHS
        for method in ("PUT", "POST")
    ),
    Operation(
        method="POST",
        path=_STORE,
        name="tmserver_store",
        handler=_add_all,
        summary="Adds those of the units that are not there",
        right="write",
        query=Addition,
        body=list[Unit],
        media_type=_PLAIN,
    ),
]
