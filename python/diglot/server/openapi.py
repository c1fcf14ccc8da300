"""The OpenAPI document, made of the operations and the shapes they take and give."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from diglot._engine import __version__
from diglot.server.errors import ErrorBody
from diglot.server.operation import Operation
from diglot.server.schemas import MOST_ID
from diglot.server.settings import Limits

__all__ = ["document"]

_REFERENCE = "#/components/schemas/{name}"

_MEANINGS = {
    400: "What was sent is no JSON, no query string, or no request of HTTP/1.1.",
    401: "A key is needed, or it is not known.",
    403: "The key may not do this.",
    404: "Nothing is there, or the key may not know of it.",
    405: "The path has no such method; `allow` says which it has.",
    409: "It cannot be changed so.",
    412: "The entry is no longer the one whose ETag `if-match` names.",
    413: "The body is too large.",
    414: "The path and the query string are too long.",
    415: "The body is compressed.",
    422: "A parameter or a field has a value that is not allowed.",
    429: "Too many requests; `retry-after` says when to try again.",
    431: "The headers are too large.",
    500: "Something went wrong in the server; its log says what.",
    503: "The request took too long, the store is busy, or the server stops.",
    507: "The disk is full.",
}

# Fields that the limits bound, by name.
_LIMITED = {
    "query": ("maxLength", "max_query"),
    "query_en": ("maxLength", "max_query"),
    "max_hits": ("maximum", "max_hits"),
    "limit": ("maximum", "max_hits"),
    "queries": ("maxItems", "max_batch"),
    "entries": ("maxItems", "max_batch"),
    "records": ("maxItems", "max_batch"),
}


def document(operations: list[Operation], limits: Limits, *, keys: bool) -> dict[str, Any]:
    """The document, as OpenAPI 3.1 has it.

    Args:
        operations: All of the API.
        limits: They bound some fields.
        keys: Whether requests need keys.
    """
    kinds: list[Any] = [ErrorBody]
    for operation in operations:
        kinds += (operation.body, operation.response, operation.lines)
    kinds = [kind for kind in kinds if kind is not None]
    found, components = msgspec.json.schema_components(kinds, ref_template=_REFERENCE)
    schemas = dict(zip(kinds, found, strict=True))
    for schema in components.values():
        _bound(schema, limits)
    paths: dict[str, Any] = {}
    for operation in operations:
        described = _describe(operation, schemas, limits, keys=keys)
        paths.setdefault(operation.path, {})[operation.method.lower()] = described
    result: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": "diglot",
            "version": __version__,
            "description": "A translation memory and a dual-language memory.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {"schemas": components},
    }
    if keys:
        result["components"]["securitySchemes"] = {
            "bearer": {"type": "http", "scheme": "bearer"},
            "basic": {
                "type": "http",
                "scheme": "basic",
                "description": "The key as password, for clients that know no tokens.",
            },
        }
    return result


def _bound(schema: dict[str, Any], limits: Limits) -> None:
    if schema.get("additionalProperties", True):
        # Only what is sent to the server is bound.
        return
    for name, field in schema.get("properties", {}).items():
        if name in _LIMITED:
            keyword, limit = _LIMITED[name]
            if keyword == "maximum":
                # That a whole number may be written as 5.0 goes without saying.
                field |= field.pop("anyOf")[0]
            for one in field.get("anyOf", [field]):
                if one.get("type") != "null":
                    one[keyword] = getattr(limits, limit)


def _describe(
    operation: Operation, schemas: dict[Any, dict[str, Any]], limits: Limits, *, keys: bool
) -> dict[str, Any]:
    def content(media_type: str, kind: Any) -> dict[str, Any]:
        return {media_type: {"schema": schemas[kind]}}

    good: dict[str, Any] = {"description": f"{operation.summary}."}
    if operation.response is not None:
        good["content"] = content(operation.media_type, operation.response)
    elif operation.status != 204:
        good["content"] = {operation.media_type: {}}
    if operation.headers:
        good["headers"] = {
            name: {"description": text, "schema": {"type": "string"}}
            for name, text in operation.headers.items()
        }
    if operation.lines is not None:
        good["content"] |= content("application/x-ndjson", operation.lines)
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "responses": {str(operation.status): good},
    }
    if parameters := _parameters(operation, limits):
        described["parameters"] = parameters
    statuses = {*operation.errors, 400, 403, 405, 414, 422, 431, 500, 503}
    if operation.right == "write":
        statuses.add(507)
    if operation.conditional:
        statuses.add(412)
    if operation.right is not None:
        described["description"] = f"Needs the right `{operation.right}`."
        if keys:
            statuses |= {401, 429}
            described["security"] = [{"bearer": []}, {"basic": []}]
    if operation.upload or operation.body is not None:
        statuses |= {413, 415}
        sent: dict[str, Any] = {"application/octet-stream": {}}
        if operation.body is not None:
            sent = content("application/json", operation.body)
        described["requestBody"] = {"required": True, "content": sent}
    for status in sorted(statuses):
        described["responses"][str(status)] = {
            "description": _MEANINGS[status],
            "content": content("application/json", ErrorBody),
        }
    return described


def _parameters(operation: Operation, limits: Limits) -> list[dict[str, Any]]:
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": _path_schema(operation)}
        for name in re.findall(r"{(\w+)}", operation.path)
    ]
    if operation.conditional:
        parameters.append(
            {
                "name": "if-match",
                "in": "header",
                "description": "The ETags of the states that may be changed, which the key may"
                " read. Without it, every state may.",
                "schema": {"type": "string"},
            }
        )
    kind = operation.query
    _, components = msgspec.json.schema_components([kind], ref_template=_REFERENCE)
    schema = components[kind.__name__]
    _bound(schema, limits)
    required = schema.get("required", ())
    parameters += [
        {
            "name": name,
            "in": "query",
            "required": name in required,
            "schema": _without_null(field),
        }
        for name, field in schema["properties"].items()
    ]
    return parameters


def _path_schema(operation: Operation) -> dict[str, Any]:
    if "/entries/" in operation.path:
        return {"type": "integer", "minimum": 0, "maximum": MOST_ID}
    return {"type": "string", "minLength": 1}


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """A query string cannot say null."""
    schema = {key: value for key, value in schema.items() if value is not None}
    if "anyOf" in schema:
        kinds = [one for one in schema.pop("anyOf") if one.get("type") != "null"]
        schema |= kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
    return schema
