"""The OpenAPI document, made of the operations and the shapes they take and give."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from diglot._engine import __version__
from diglot.server.errors import ErrorBody
from diglot.server.operation import Operation
from diglot.server.settings import Limits

__all__ = ["document"]

_REFERENCE = "#/components/schemas/{name}"

_MEANINGS = {
    400: "What was sent is no JSON, or no query string.",
    401: "A key is needed, or it is not known.",
    403: "The key may not do this.",
    404: "Nothing is there, or the key may not know of it.",
    413: "The body is too large.",
    415: "The body is compressed.",
    422: "A parameter or a field has a value that is not allowed.",
    429: "Too many requests; `retry-after` says when to try again.",
    503: "The request took too long, or the server stops.",
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
    kinds = {
        kind
        for operation in operations
        for kind in (operation.body, operation.query, operation.response)
        if kind is not None
    }
    ordered = [ErrorBody, *sorted(kinds, key=lambda kind: kind.__name__)]
    _, components = msgspec.json.schema_components(ordered, ref_template=_REFERENCE)
    for schema in components.values():
        _bound(schema, limits)
    paths: dict[str, Any] = {}
    for operation in operations:
        described = _describe(operation, components, keys=keys)
        paths.setdefault(operation.path, {})[operation.method.lower()] = described
    queries = {operation.query.__name__ for operation in operations if operation.query is not None}
    bodies = {kind.__name__ for kind in kinds} - queries | {
        operation.body.__name__ for operation in operations if operation.body is not None
    }
    for name in queries - bodies:
        del components[name]
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
            for one in field.get("anyOf", [field]):
                if one.get("type") != "null":
                    one[keyword] = getattr(limits, limit)


def _describe(operation: Operation, components: dict[str, Any], *, keys: bool) -> dict[str, Any]:
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": _path_schema(operation, name)}
        for name in re.findall(r"{(\w+)}", operation.path)
    ]
    if operation.query is not None:
        schema = components[operation.query.__name__]
        parameters += [
            {
                "name": name,
                "in": "query",
                "required": name in schema.get("required", ()),
                "schema": _without_null(field),
            }
            for name, field in schema["properties"].items()
        ]
    good: dict[str, Any] = {"description": operation.summary + "."}
    if operation.media_type != "application/json":
        good["content"] = {operation.media_type: {}}
    elif operation.response is not None:
        good["content"] = {"application/json": {"schema": _reference(operation.response)}}
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "responses": {str(operation.status): good},
    }
    if parameters:
        described["parameters"] = parameters
    statuses = {*operation.errors, 503}
    if operation.right is not None:
        described["description"] = f"Needs the right `{operation.right}`."
        statuses |= {403, 429} | ({401} if keys else set())
        if keys:
            described["security"] = [{"bearer": []}, {"basic": []}]
    if parameters:
        statuses |= {400, 422}
    if operation.upload:
        statuses |= {413, 415, 422}
        described["requestBody"] = {
            "required": True,
            "content": {"application/octet-stream": {"schema": {"type": "string"}}},
        }
    if operation.body is not None:
        statuses |= {400, 413, 415, 422}
        described["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": _reference(operation.body)}},
        }
    error = {"application/json": {"schema": _reference(ErrorBody)}}
    for status in sorted(statuses):
        meaning = _MEANINGS[status]
        described["responses"][str(status)] = {"description": meaning, "content": error}
    return described


def _path_schema(operation: Operation, name: str) -> dict[str, Any]:
    if "/entries/" in operation.path:
        return {"type": "integer", "minimum": 0, "maximum": 2**53 - 1}
    return {"type": "string", "minLength": 1}


def _reference(kind: Any) -> dict[str, str]:
    name = kind.__struct_config__.tag or getattr(kind, "__name__", "")
    (schema,), _ = msgspec.json.schema_components([kind], ref_template=_REFERENCE)
    assert name
    return dict(schema)


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """A query string cannot say null."""
    schema = {key: value for key, value in schema.items() if value is not None}
    if "anyOf" in schema:
        kinds = [one for one in schema.pop("anyOf") if one.get("type") != "null"]
        schema |= kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
    return schema
