"""One operation of the API: what it takes and gives, and how a request for it is carried out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import parse_qsl

import msgspec
from starlette.types import Receive, Scope, Send

from diglot.errors import DiglotError
from diglot.server.errors import (
    ApiError,
    from_diglot,
    from_msgspec,
    invalid_json,
    method_not_allowed,
)
from diglot.server.guard import ClientGoneError, Guard

if TYPE_CHECKING:
    from diglot.server.keys import Access
    from diglot.server.service import Service
    from diglot.server.settings import Limits

__all__ = [
    "API",
    "Answer",
    "AnyParameters",
    "Call",
    "Operation",
    "Right",
    "Stream",
    "answer",
    "answer_error",
    "body_parts",
    "paths_of",
    "read_body",
]

API = "/api/v1"
"""What the paths of operations on the memories begin with."""

Right = Literal["read", "write", "admin"]

_GONE = 499

# Fields that the query string of one request may have.
_MAX_PARAMETERS = 50

_encoder = msgspec.json.Encoder()


class Call(NamedTuple):
    """A request on its way."""

    service: Service
    access: Access
    parameters: Mapping[str, str]
    """The parts of the path that vary."""
    query: Any
    """The query string, as the operation's `query` has it."""
    body: Any
    """The body, as the operation's `body` has it."""
    scope: Scope
    receive: Receive
    guard: Guard

    def header(self, name: str) -> str | None:
        """A header of the request, all its lines as one list; None if it is not there."""
        key = name.encode()
        lines = [value for one, value in self.scope["headers"] if one == key]
        return b", ".join(lines).decode("latin-1") if lines else None


class Answer(NamedTuple):
    """An answer that is made already."""

    media_type: str
    content: bytes
    headers: tuple[tuple[str, str], ...] = ()


class Stream(NamedTuple):
    """An answer in pieces, which may take as long as an import."""

    media_type: str
    chunks: AsyncGenerator[bytes, None]
    headers: tuple[tuple[str, str], ...] = ()


class NoParameters(msgspec.Struct, forbid_unknown_fields=True):
    """A query string with nothing in it."""


class AnyParameters(msgspec.Struct):
    """A query string of clients who send what they like; what is not known is not looked at."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Operation:
    """What the OpenAPI document says of an operation, and what carries it out.

    Attributes:
        method: Of HTTP.
        path: With `{name}` for what varies.
        name: Its `operationId`.
        handler: Carries it out. It returns what `response` describes, an `Answer`, or a `Stream`.
        summary: One line.
        response: What the answer holds; None without a body.
        media_type: What the answer is; `response` describes it if it is JSON.
        lines: What each line of the answer holds for who accepts `application/x-ndjson`.
        status: Of the answer if all is well.
        right: What a key needs; None if everyone may.
        body: What the body holds; None without one, or where the handler reads it.
        conditional: Whether `if-match` may name the ETag of what is to be changed.
        headers: What each header of the answer tells that is not there otherwise.
        upload: Whether the body is a file.
        query: What the query string holds; without one, nothing.
        errors: Statuses that can happen, besides those that always can.
    """

    method: str
    path: str
    name: str
    handler: Callable[[Call], Awaitable[Any]]
    summary: str
    response: Any = None
    media_type: str = "application/json"
    lines: type[msgspec.Struct] | None = None
    status: int = 200
    right: Right | None = "read"
    body: Any = None
    conditional: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    upload: bool = False
    query: type[msgspec.Struct] = NoParameters
    errors: tuple[int, ...] = ()


class Path:
    """The ASGI application of one path: carries out what the method asks for."""

    __slots__ = ("_decoders", "_operations", "_service")

    def __init__(self, service: Service, operations: list[Operation]) -> None:
        self._service = service
        self._operations = {operation.method: operation for operation in operations}
        self._decoders = {
            operation.name: msgspec.json.Decoder(operation.body)
            for operation in operations
            if operation.body is not None
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        method = scope["method"]
        operation = self._operations.get("GET" if method == "HEAD" else method)
        if operation is None:
            await answer_error(send, method_not_allowed(method, *self._operations))
            return
        answered = self._carry_out(operation, scope, receive, send)
        await _counted(self._service, operation.name, send, answered)

    async def _carry_out(
        self, operation: Operation, scope: Scope, receive: Receive, send: Send
    ) -> int:
        service = self._service
        limits = service.limits
        with Guard(limits.max_time) as guard:
            access = service.admit(scope, operation.right)
            query = _read_query(scope["query_string"], operation.query)
            body = None
            if operation.body is not None:
                data = await read_body(scope, receive, limits.max_body)
                try:
                    body = self._decoders[operation.name].decode(data)
                except msgspec.ValidationError as error:
                    raise from_msgspec(error, operation.body, "the body") from None
                except (msgspec.DecodeError, UnicodeDecodeError) as error:
                    raise invalid_json(error, data) from None
                except RecursionError:
                    raise ApiError(422, "invalid_value", "the body is nested too deeply") from None
            if not operation.upload:
                guard.watch(receive)
            call = Call(
                service,
                access,
                scope.get("path_params", {}),
                query,
                body,
                scope,
                receive,
                guard,
            )
            try:
                result = await operation.handler(call)
            except DiglotError as error:
                raise from_diglot(error) from None
        if isinstance(result, Answer):
            await answer(send, operation.status, *result)
        elif isinstance(result, Stream):
            return await _stream(send, operation, result, receive, limits)
        else:
            content = b"" if operation.response is None else _encoder.encode(result)
            await answer(send, operation.status, "application/json", content)
        return operation.status


def paths_of(operations: Iterable[Operation], service: Service) -> dict[str, Path]:
    """The applications of the paths of operations."""
    by_path: dict[str, list[Operation]] = {}
    for operation in operations:
        by_path.setdefault(operation.path, []).append(operation)
    return {path: Path(service, some) for path, some in by_path.items()}


async def _counted(service: Service, name: str, send: Send, answered: Awaitable[int]) -> None:
    """Waits until a request is answered, tells its error if there is one, and counts it.

    Args:
        service: It has the figures.
        name: What the request is counted as.
        send: Sends the error.
        answered: Answers the request. It returns the status.
    """
    started = perf_counter()
    status = 500
    try:
        status = await answered
    except ClientGoneError:
        status = _GONE
    except ApiError as error:
        status = error.status
        await answer_error(send, error)
    finally:
        service.requests.count(name, status, perf_counter() - started)


async def read_body(scope: Scope, receive: Receive, most: int) -> bytes:
    """The body of a request.

    Raises:
        ApiError: It is larger than allowed, or compressed, or would be of another protocol.
        ClientGoneError: The client hung up.
    """
    return b"".join([part async for part in body_parts(scope, receive, most)])


async def body_parts(scope: Scope, receive: Receive, most: int) -> AsyncGenerator[bytes, None]:
    """As `read_body`, in the pieces in which it comes."""
    for name, value in scope["headers"]:
        if name == b"content-length" and int(value) > most:
            raise _too_large(most)
        if name == b"content-encoding" and value.lower() != b"identity":
            message = "the body must not be compressed (no content-encoding)"
            raise ApiError(415, "unsupported_encoding", message)
        if name == b"upgrade":
            # httptools takes what follows for the other protocol.
            message = "a request with a body must not ask for another protocol (no upgrade)"
            raise ApiError(400, "upgrade_with_body", message, headers={"connection": "close"})
    size = 0
    while True:
        event = await receive()
        if event["type"] == "http.disconnect":
            raise ClientGoneError
        part = event.get("body", b"")
        size += len(part)
        if size > most:
            raise _too_large(most)
        yield part
        if not event.get("more_body"):
            return


def _too_large(most: int) -> ApiError:
    message = f"the body is larger than the {most:,} bytes that are allowed"
    return ApiError(413, "too_large", message)


def _read_query(query_string: bytes, kind: type[msgspec.Struct]) -> Any:
    try:
        pairs = parse_qsl(
            query_string.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=_MAX_PARAMETERS,
        )
    except UnicodeDecodeError:
        raise ApiError(400, "invalid_query", "the query string is not UTF-8") from None
    except ValueError:
        message = f"the query string has more than {_MAX_PARAMETERS} parameters"
        raise ApiError(400, "invalid_query", message) from None
    values = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _ in pairs]
        name = next(name for name in names if names.count(name) > 1)
        raise ApiError(422, "invalid_value", f"{name} is given twice", field=name)
    try:
        return msgspec.convert(values, kind, strict=False)
    except msgspec.ValidationError as error:
        raise from_msgspec(error, kind, "the query string") from None


async def answer_error(send: Send, error: ApiError) -> None:
    """Answers with an error."""
    headers = tuple(error.headers.items())
    await answer(send, error.status, "application/json", error.body(), headers)


async def answer(
    send: Send,
    status: int,
    media_type: str,
    content: bytes,
    headers: tuple[tuple[str, str], ...] = (),
) -> None:
    """Answers, without a body if the status says so."""
    fields = [(name.encode(), value.encode("latin-1")) for name, value in headers]
    if status != 204:
        fields.append((b"content-type", media_type.encode()))
        fields.append((b"content-length", str(len(content)).encode()))
    await send({"type": "http.response.start", "status": status, "headers": fields})
    await send({"type": "http.response.body", "body": content})


async def _stream(
    send: Send, operation: Operation, stream: Stream, receive: Receive, limits: Limits
) -> int:
    """Sends pieces as they come. Returns the status, which is an error's if the answer, as it has
    begun already, breaks off.
    """
    fields = [(b"content-type", stream.media_type.encode())]
    fields += [(name.encode(), value.encode("latin-1")) for name, value in stream.headers]
    try:
        with Guard(limits.max_import_time) as guard:
            guard.watch(receive)
            async with aclosing(stream.chunks) as chunks:
                status = operation.status
                await send({"type": "http.response.start", "status": status, "headers": fields})
                async for chunk in chunks:
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
    except ApiError as error:
        return error.status
    except asyncio.CancelledError:
        # The server stops.
        return 503
    await send({"type": "http.response.body", "body": b""})
    return status
