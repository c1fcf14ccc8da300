"""The operations on the dual-language memory: records and recalls."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET
from msgspec.structs import asdict

from diglot.dual import MemoryRecord
from diglot.errors import DiglotError, UnknownRecordError
from diglot.server import schemas
from diglot.server.checks import check_hits, check_text, make_all
from diglot.server.errors import ApiError, from_diglot
from diglot.server.operation import API, Call, Operation

__all__ = ["OPERATIONS"]


def _record(call: Call, body: schemas.Record) -> MemoryRecord:
    if call.access.read is not None and body.id is not UNSET:
        # All records share their ids, so one that is taken would tell of another's records.
        message = "a key that may not read everything cannot choose ids; the server makes one"
        raise ApiError(403, "forbidden", message, field="id")
    body.namespace = call.access.namespace_to_write(body.namespace)
    return MemoryRecord(**_given(body))


def _given(body: schemas.Record | schemas.RecordChanges) -> dict[str, Any]:
    """The fields that a body has."""
    return {name: value for name, value in asdict(body).items() if value is not UNSET}


def _check_taken(call: Call) -> None:
    if not call.service.takes_records:
        message = (
            "the server has no dual-language memory, so records would be lost when it stops;"
            " it has one if it is started with --dual"
        )
        raise ApiError(409, "no_dual_memory", message)


async def add(call: Call) -> dict[str, Any]:
    _check_taken(call)
    return _plain(await call.service.records.add(_record(call, call.body)))


async def add_many(call: Call) -> dict[str, Any]:
    _check_taken(call)
    records = make_all(call, "records", call.body.records, _record)
    try:
        await call.service.records.add_many(records)
    except DiglotError as error:
        if error.position is None:
            raise
        raise from_diglot(error).within("records", error.position) from None
    return {"ids": [record.id for record in records]}


def _plain(record: MemoryRecord) -> dict[str, Any]:
    return {name: getattr(record, name) for name in schemas.StoredRecord.__struct_fields__}


def _unknown(call: Call) -> ApiError:
    return ApiError(404, "unknown_record", f"no record has the id {call.parameters['id']!r}")


async def _get(call: Call) -> MemoryRecord:
    """The record that the path names, if the key may know of it."""
    try:
        record = await call.service.records.get(call.parameters["id"])
    except UnknownRecordError:
        raise _unknown(call) from None
    if not call.access.sees(record.namespace):
        raise _unknown(call)
    return record


async def get(call: Call) -> dict[str, Any]:
    record = await _get(call)
    call.access.namespaces_to_read(record.namespace)
    return _plain(record)


async def update(call: Call) -> dict[str, Any]:
    record = await _get(call)
    call.access.namespace_to_write(record.namespace)
    # The answer has the whole record.
    call.access.namespaces_to_read(record.namespace)
    try:
        return _plain(await call.service.records.update(record.id, **_given(call.body)))
    except UnknownRecordError:
        raise _unknown(call) from None


async def remove(call: Call) -> None:
    record = await _get(call)
    call.access.namespace_to_write(record.namespace)
    try:
        await call.service.records.remove(record.id)
    except UnknownRecordError:
        raise _unknown(call) from None


async def report_mismatch(call: Call) -> None:
    record = await _get(call)
    call.access.namespace_to_write(record.namespace)
    # The answer tells whether there is a companion.
    call.access.namespaces_to_read(record.namespace)
    try:
        await call.service.records.report_mismatch(record.id, call.body.note)
    except UnknownRecordError:
        raise _unknown(call) from None


async def recall(call: Call) -> dict[str, Any]:
    body = call.body
    check_text(call, "query", body.query)
    if body.query_en is not None:
        check_text(call, "query_en", body.query_en)
    limit = check_hits(call, "limit", body.limit)
    result = await call.service.records.recall(
        body.query,
        body.query_en,
        limit=limit,
        lang=body.lang,
        category=body.category,
        namespace=call.access.namespace_to_read(body.namespace),
        translation_status=body.translation_status,
    )
    answer = {name: getattr(result, name) for name in schemas.RecallAnswer.__struct_fields__}
    answer["hits"] = [
        {
            "score": hit.score,
            "record": _plain(hit.record),
            "matches": [match.to_dict() for match in hit.matches],
        }
        for hit in result.hits
    ]
    return answer


OPERATIONS = [
    Operation(
        method="POST",
        path=f"{API}/recall",
        name="recall",
        handler=recall,
        summary="The records that answer a question best, looked for across languages if need be",
        body=schemas.RecallRequest,
        response=schemas.RecallAnswer,
    ),
    Operation(
        method="POST",
        path=f"{API}/records",
        name="add_record",
        handler=add,
        summary="Adds a record",
        right="write",
        body=schemas.Record,
        response=schemas.StoredRecord,
        status=201,
        errors=(409,),
    ),
    Operation(
        method="POST",
        path=f"{API}/records/batch",
        name="add_records",
        handler=add_many,
        summary="Adds all records or, after an error, none",
        right="write",
        body=schemas.RecordBatch,
        response=schemas.RecordIds,
        status=201,
        errors=(409,),
    ),
    Operation(
        method="GET",
        path=f"{API}/records/{{id}}",
        name="get_record",
        handler=get,
        summary="The record with an id",
        response=schemas.StoredRecord,
        errors=(404,),
    ),
    Operation(
        method="PATCH",
        path=f"{API}/records/{{id}}",
        name="update_record",
        handler=update,
        summary="Changes some fields, in both languages at once, of a record that can be read, too",
        right="write",
        body=schemas.RecordChanges,
        response=schemas.StoredRecord,
        errors=(404,),
    ),
    Operation(
        method="DELETE",
        path=f"{API}/records/{{id}}",
        name="remove_record",
        handler=remove,
        summary="Removes a record",
        right="write",
        status=204,
        errors=(404,),
    ),
    Operation(
        method="POST",
        path=f"{API}/records/{{id}}/mismatch",
        name="report_mismatch",
        handler=report_mismatch,
        summary="Reports that a companion, which can be read, too, does not say what its text says",
        right="write",
        body=schemas.Mismatch,
        status=204,
        errors=(404,),
    ),
]
