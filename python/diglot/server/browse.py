"""The operations that look at the translation memory as a whole: concordance, facets, figures."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any

from diglot._scan import FIELDS, Field
from diglot.server import schemas
from diglot.server.checks import check_hits
from diglot.server.keys import Access
from diglot.server.operation import API, Call, Operation
from diglot.server.service import Service

__all__ = ["OPERATIONS", "count_by"]

# Values of a facet that are told; the most frequent ones.
_VALUES = 1000


async def concordance(call: Call) -> dict[str, Any]:
    query = call.query
    limit = check_hits(call, "limit", query.limit)
    access = call.access
    found = []
    for namespace in access.namespaces_to_read(query.namespace):
        found += await call.service.store.concordance(
            query.text,
            side=query.side,
            source_language=query.source_language,
            target_language=query.target_language,
            domain=query.domain,
            namespace=namespace,
            start=0 if query.after is None else access.inward(query.after) + 1,
            max_entries=limit,
        )
    # Ids are in order of insertion.
    found.sort(key=lambda item: item[0])
    entries = [{"id": access.outward(id), "entry": entry} for id, entry in found[:limit]]
    more = len(entries) == limit
    return {"entries": entries, "next": entries[-1]["id"] if more else None}


async def count_by(
    service: Service, access: Access, field: Field, namespace: str | None = None
) -> Counter[str | None]:
    """How many of the entries that a key may read there are of each value of a field."""
    counts: Counter[str | None] = Counter()
    for one in access.namespaces_to_read(namespace):
        for (value,), entries in (await service.store.count_by(field, namespace=one)).items():
            counts[value] += entries
    return counts


async def facets(call: Call) -> dict[str, Any]:
    namespace = call.query.namespace
    answer: dict[str, Any] = {}
    for field in FIELDS:
        counts = await count_by(call.service, call.access, field, namespace)
        answer[f"{field}s"] = [
            {"value": value, "entries": entries} for value, entries in _most_common(counts)
        ]
        # Every entry has one value of each field.
        answer["entries"] = sum(counts.values())
    return answer


def _most_common(counts: Counter[str | None]) -> list[tuple[str | None, int]]:
    """Most frequent first; by value among equals, so that an answer does not depend on chance."""
    order = sorted(counts.items(), key=lambda item: (-item[1], item[0] is None, item[0] or ""))
    return order[:_VALUES]


async def stats(call: Call) -> dict[str, Any]:
    figures = asdict(call.service.store.stats())
    figures["records"] = len(call.service.records)
    return figures


async def kpis(call: Call) -> dict[str, Any]:
    return {
        "recall": call.service.records.kpis().to_dict(),
        "requests": call.service.requests.latencies(),
    }


async def permissions(call: Call) -> schemas.Permissions:
    access = call.access
    return schemas.Permissions(
        name=access.name,
        read=None if access.read is None else list(access.read),
        write=None if access.write is None else list(access.write),
        admin=access.admin,
    )


OPERATIONS = [
    Operation(
        method="GET",
        path=f"{API}/concordance",
        name="concordance",
        handler=concordance,
        summary="The entries that contain a text, in order of insertion",
        query=schemas.ConcordanceRequest,
        response=schemas.Concordance,
    ),
    Operation(
        method="GET",
        path=f"{API}/facets",
        name="facets",
        handler=facets,
        summary="How many entries there are, by language, domain and namespace",
        query=schemas.FacetsRequest,
        response=schemas.Facets,
    ),
    Operation(
        method="GET",
        path=f"{API}/permissions",
        name="permissions",
        handler=permissions,
        summary="What the key of the request may do",
        response=schemas.Permissions,
    ),
    Operation(
        method="GET",
        path=f"{API}/stats",
        name="stats",
        handler=stats,
        summary="Counts and sizes of the memories",
        right="admin",
        response=schemas.Stats,
    ),
    Operation(
        method="GET",
        path=f"{API}/kpis",
        name="kpis",
        handler=kpis,
        summary="Figures of the recalls and of the requests",
        right="admin",
        response=schemas.Kpis,
    ),
]
