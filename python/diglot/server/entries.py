"""The operations on the translation memory: entries and searches."""

from __future__ import annotations

from asyncio import sleep
from hashlib import blake2b
from heapq import merge
from itertools import islice
from time import perf_counter
from typing import Any

import msgspec

from diglot._steps import SLICE
from diglot.errors import DiglotError, UnknownEntryError
from diglot.model import TranslationMemoryEntry, TranslationMemoryHit
from diglot.server import schemas
from diglot.server.checks import check_count, check_hits, check_text, make_all
from diglot.server.errors import ApiError, from_diglot
from diglot.server.operation import API, Answer, Call, Operation

__all__ = ["OPERATIONS"]


async def add(call: Call) -> dict[str, Any]:
    entry = _entry(call, call.body)
    return {"id": call.access.outward(await call.service.store.add(entry))}


async def add_many(call: Call) -> dict[str, Any]:
    entries = make_all(call, "entries", call.body.entries, _entry)
    ids = await call.service.store.add_many(entries)
    return {"ids": [call.access.outward(id) for id in ids]}


def _entry(call: Call, body: schemas.Entry) -> TranslationMemoryEntry:
    namespace = call.access.namespace_to_write(body.namespace)
    return TranslationMemoryEntry(
        body.source,
        body.target,
        body.source_language,
        body.target_language,
        body.domain,
        namespace,
        body.source_id,
        body.created_at,
        body.notes,
        body.metadata,
    )


def _id(call: Call) -> int:
    """The id in the path, as the memory knows it."""
    text = call.parameters["id"]
    # Python refuses to read numbers of thousands of digits.
    if len(text) <= 16 and text.isascii() and text.isdecimal() and int(text) <= schemas.MOST_ID:
        return call.access.inward(int(text))
    message = f"id is not a whole number from 0 to {schemas.MOST_ID}"
    raise ApiError(422, "invalid_value", message, field="id")


def _unknown(call: Call) -> ApiError:
    return ApiError(404, "unknown_entry", f"no entry has the id {call.parameters['id']}")


async def _get(call: Call) -> tuple[int, TranslationMemoryEntry]:
    """The entry that the path names, if the key may know of it."""
    id = _id(call)
    try:
        entry = await call.service.store.get(id)
    except UnknownEntryError:
        raise _unknown(call) from None
    if not call.access.sees(entry.namespace):
        raise _unknown(call)
    return id, entry


def _tag(entry: TranslationMemoryEntry) -> str:
    """The ETag of an entry: another one for every other state of it."""
    return f'"{blake2b(msgspec.json.encode(entry), digest_size=16).hexdigest()}"'


async def get(call: Call) -> Answer:
    id, entry = await _get(call)
    call.access.namespaces_to_read(entry.namespace)
    content = msgspec.json.encode({"id": call.access.outward(id), "entry": entry})
    return Answer("application/json", content, (("etag", _tag(entry)),))


async def _get_to_change(call: Call) -> tuple[int, TranslationMemoryEntry]:
    """As `_get`, for a request that may only change the entry with one of the ETags that it names,
    if it names some.
    """
    id, entry = await _get(call)
    call.access.namespace_to_write(entry.namespace)
    wanted = call.header("if-match")
    if wanted is not None:
        # Who may not read the entry could try out what is in it.
        call.access.namespaces_to_read(entry.namespace)
        # A proxy that compresses answers calls their ETags weak; they are of the same states.
        tags = [tag.strip().removeprefix("W/") for tag in wanted.split(",")]
        if tags != ["*"] and _tag(entry) not in tags:
            message = "the entry has no ETag that if-match names; it may have changed meanwhile"
            raise ApiError(412, "entry_changed", message, field="if-match")
    return id, entry


async def replace(call: Call) -> Answer:
    # Between a look at an entry and its change, no other request may change it.
    async with call.service.changing:
        id, old = await _get_to_change(call)
        # An entry stays in its namespace, so that nobody can take what was changed in the meantime
        # into another one.
        if call.body.namespace not in (None, old.namespace):
            place = "in none" if old.namespace is None else f"in {old.namespace!r}"
            message = f"an entry cannot change its namespace; this one is {place}"
            raise ApiError(409, "fixed_namespace", message, field="namespace")
        call.body.namespace = old.namespace
        new = _entry(call, call.body)
        try:
            await call.service.store.replace(id, new)
        except UnknownEntryError:
            raise _unknown(call) from None
    return Answer("application/json", b"", (("etag", _tag(new)),))


async def remove(call: Call) -> None:
    async with call.service.changing:
        id, _ = await _get_to_change(call)
        try:
            await call.service.store.remove(id)
        except UnknownEntryError:
            raise _unknown(call) from None


def _filters(call: Call, body: schemas.SearchRequest | schemas.SearchBatch) -> dict[str, Any]:
    return {
        "source_language": body.source_language,
        "target_language": body.target_language,
        "domain": body.domain,
        "max_hits": check_hits(call, "max_hits", body.max_hits),
        "min_score": body.min_score,
    }


async def _search(call: Call, body: schemas.SearchRequest) -> list[TranslationMemoryHit]:
    """The best hits in all namespaces that the key may read, or in the one that is asked for."""
    check_text(call, "query", body.query)
    filters = _filters(call, body)
    found = [
        await call.service.store.search(body.query, namespace=namespace, **filters)
        for namespace in call.access.namespaces_to_read(body.namespace)
    ]
    return _outward(call, found, filters["max_hits"])


def _outward(
    call: Call, found: list[list[TranslationMemoryHit]], most: int
) -> list[TranslationMemoryHit]:
    hits = found[0]
    if len(found) > 1:
        # Each entry is in one namespace, and scores mean the same everywhere.
        hits = list(islice(merge(*found, key=lambda hit: (-hit.score, hit.id)), most))
    if call.access.cipher is None:
        return hits
    outward = call.access.cipher.outward
    return [TranslationMemoryHit(hit.entry, hit.score, outward(hit.id)) for hit in hits]


async def _search_body(call: Call) -> dict[str, Any]:
    return {"hits": await _search(call, call.body)}


async def _search_query(call: Call) -> dict[str, Any]:
    return {"hits": await _search(call, call.query)}


async def _search_many(
    call: Call, queries: list[str], **options: Any
) -> list[list[TranslationMemoryHit]]:
    try:
        return await call.service.store.search_many(queries, **options)
    except DiglotError as error:
        if error.position is None:
            raise
        failure = from_diglot(error)
        failure.detail.field = f"queries[{error.position}]"
        raise failure from None


async def search_batch(call: Call) -> Answer:
    body = call.body
    check_count(call, "queries", len(body.queries))
    for position, query in enumerate(body.queries):
        check_text(call, f"queries[{position}]", query, position)
    filters = _filters(call, body)
    namespaces = call.access.namespaces_to_read(body.namespace)
    # The request was counted as one before it was read.
    call.access.charge(max(1, len(body.queries) * len(namespaces)), counted=1)
    found = [
        await _search_many(call, body.queries, namespace=namespace, **filters)
        for namespace in namespaces
    ]
    # Up to a hundred thousand hits, which are made into text a millisecond at a time.
    results = []
    until = perf_counter() + SLICE
    for lists in zip(*found, strict=True):
        hits = _outward(call, list(lists), filters["max_hits"])
        results.append(msgspec.json.encode({"hits": hits}))
        if perf_counter() >= until:
            await sleep(0)
            until = perf_counter() + SLICE
    return Answer("application/json", b'{"results":[' + b",".join(results) + b"]}")


OPERATIONS = [
    Operation(
        method="POST",
        path=f"{API}/search",
        name="search",
        handler=_search_body,
        summary="The entries whose sources are most like a text",
        body=schemas.SearchRequest,
        response=schemas.Hits,
    ),
    Operation(
        method="GET",
        path=f"{API}/search",
        name="search_by_query",
        handler=_search_query,
        summary="The same, asked in the query string",
        query=schemas.SearchRequest,
        response=schemas.Hits,
    ),
    Operation(
        method="POST",
        path=f"{API}/search/batch",
        name="search_batch",
        handler=search_batch,
        summary="The entries most like each of many texts",
        body=schemas.SearchBatch,
        response=schemas.BatchHits,
    ),
    Operation(
        method="POST",
        path=f"{API}/entries",
        name="add_entry",
        handler=add,
        summary="Adds an entry, which can be found when this is answered",
        right="write",
        body=schemas.Entry,
        response=schemas.Added,
        status=201,
    ),
    Operation(
        method="POST",
        path=f"{API}/entries/batch",
        name="add_entries",
        handler=add_many,
        summary="Adds all entries or, after an error, none",
        right="write",
        body=schemas.Batch,
        response=schemas.AddedMany,
        status=201,
    ),
    Operation(
        method="GET",
        path=f"{API}/entries/{{id}}",
        name="get_entry",
        handler=get,
        summary="The entry with an id",
        response=schemas.StoredEntry,
        headers={"etag": "Which state of the entry this is, to say so in `if-match`."},
        errors=(404,),
    ),
    Operation(
        method="PUT",
        path=f"{API}/entries/{{id}}",
        name="replace_entry",
        handler=replace,
        summary="Puts another entry in the place of one, with its id and its namespace",
        right="write",
        body=schemas.Entry,
        conditional=True,
        status=204,
        headers={"etag": "Which state the entry is in now."},
        errors=(404, 409),
    ),
    Operation(
        method="DELETE",
        path=f"{API}/entries/{{id}}",
        name="remove_entry",
        handler=remove,
        summary="Removes an entry",
        right="write",
        conditional=True,
        status=204,
        errors=(404,),
    ),
]
