"""How errors are told over HTTP: a status, and a body of one shape for all of them."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from diglot.errors import (
    AbortedError,
    DiglotError,
    FormatError,
    StoreBusyError,
    StoreError,
    UnknownEntryError,
    UnknownRecordError,
)

__all__ = [
    "ApiError",
    "ErrorBody",
    "ErrorDetail",
    "from_diglot",
    "from_msgspec",
    "invalid_json",
    "method_not_allowed",
    "not_found",
]

_log = logging.getLogger("diglot.server")


class ErrorDetail(msgspec.Struct, kw_only=True):
    """What was wrong. `code` stays the same from version to version; `field` names the parameter or
    field at fault with the path in it, `position` the item at fault of a batch, `line` the line of
    a file.
    """

    code: str
    message: str
    field: str | None = None
    position: int | None = None
    line: int | None = None


class ErrorBody(msgspec.Struct):
    """An error."""

    error: ErrorDetail


class ApiError(Exception):
    """Ends a request with an error.

    Attributes:
        status: The status of the answer.
        detail: What its body says.
        headers: More headers of the answer.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        field: str | None = None,
        position: int | None = None,
        line: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.detail = ErrorDetail(
            code=code, message=message, field=field, position=position, line=line
        )
        self.headers = dict(headers or {})

    def within(self, name: str, position: int) -> ApiError:
        """The same error of an item of a list."""
        path = f"{name}[{position}]"
        detail = self.detail
        detail.field = path if detail.field is None else f"{path}.{detail.field}"
        detail.position = position
        return self

    def body(self) -> bytes:
        """The answer's body, in JSON."""
        return msgspec.json.encode(ErrorBody(self.detail))


def not_found() -> ApiError:
    """The answer to a request for a path that there is not."""
    return ApiError(404, "not_found", "there is nothing here")


def method_not_allowed(method: str, *allowed: str) -> ApiError:
    """The answer to a request with a method that its path does not have."""
    names = ", ".join(allowed)
    message = f"{method} is not allowed here; allowed are {names}"
    return ApiError(405, "method_not_allowed", message, headers={"allow": names})


def from_diglot(error: DiglotError) -> ApiError:
    """The answer to a request that a memory refused, or could not carry out."""
    if isinstance(error, StoreError):
        return _from_store(error)
    status = 422
    if isinstance(error, (UnknownEntryError, UnknownRecordError)):
        status = 404
    elif isinstance(error, AbortedError):
        status = 503
    line = error.line if isinstance(error, FormatError) else None
    return ApiError(
        status, error.code, str(error), field=error.field, position=error.position, line=line
    )


def _from_store(error: StoreError) -> ApiError:
    # What went wrong with files is for the log, not for clients.
    _log.error("the store: %s", error)
    if isinstance(error, StoreBusyError):
        message = "another process keeps the store; try again"
        return ApiError(503, error.code, message, headers={"retry-after": "1"})
    status = 507 if error.code == "store_full" else 500
    return ApiError(status, error.code, "the store cannot be used; the server's log says why")


_POSITION = re.compile(r"\w*\[(\d+)\]")
_PLACE = re.compile(r" - at `\$(.*)`$")
_NAMED = re.compile(r"(missing required|unknown) field `(.*)`$")

# The first half of a surrogate pair with less behind it than the second half would take.
_HALF = re.compile(rb"(?<!\\)(?:\\\\)*(\\u[dD][89abAB][0-9a-fA-F]{2}).{0,5}\Z", re.DOTALL)


def invalid_json(error: msgspec.DecodeError | UnicodeDecodeError, body: bytes) -> ApiError:
    """The answer to a body that is no JSON."""
    message = str(error)
    # msgspec takes the body to be cut off there.
    if half := _HALF.search(body):
        place = half.start(1)
        message = f"JSON is malformed: unexpected end of a surrogate pair (byte {place})"
    return ApiError(400, "invalid_json", f"the body is no JSON: {message}")


def from_msgspec(error: msgspec.ValidationError, kind: Any, what: str) -> ApiError:
    """The answer to a body, or to parameters, that are not of a kind. `what` says which.

    msgspec says where the fault is at the end of its message.
    """
    message = str(error)
    place = ""
    if match := _PLACE.search(message):
        place = match[1].lstrip(".")
        message = message[: match.start()]
    code = "invalid_value"
    if match := _NAMED.search(message):
        code = "missing_field" if match[1] == "missing required" else "unknown_field"
        place = f"{place}.{match[2]}" if place else match[2]
        message = "is missing" if code == "missing_field" else "is not known"
        message = f"{place or repr(place)} {message}"
    elif message.startswith("Expected `") and ", got `" in message:
        code = "invalid_type"
    elif message.startswith("Invalid enum value"):
        message += f"; allowed are {', '.join(_values(kind, place))}"
    # A whole number may be written as 5.0.
    message = message.replace("`float` that's a multiple of 1.0", "a whole number")
    message = message.replace("`int | float`", "`int`")
    if not message.startswith(place or what):
        message = f"{place or what}: {message[0].lower()}{message[1:]}"
    position = _POSITION.match(place)
    return ApiError(
        422,
        code,
        message,
        field=place or None,
        position=None if position is None else int(position[1]),
    )


def _values(kind: Any, place: str) -> list[str]:
    """The values that the field at a place in something of a kind may have."""
    name = place.rpartition(".")[2]
    _, schemas = msgspec.json.schema_components([kind])
    fields = [schema.get("properties", {}).get(name, {}) for schema in schemas.values()]
    choices = [choice for field in fields for choice in field.get("anyOf", [field])]
    return [value for choice in choices for value in choice.get("enum", ())]
