"""Checks of what requests ask for against the limits of the server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from diglot.errors import DiglotError
from diglot.server.errors import ApiError, from_diglot
from diglot.server.operation import Call

__all__ = ["check_count", "check_hits", "check_text", "make_all"]

_Body = TypeVar("_Body")
_Made = TypeVar("_Made")


def check_text(call: Call, field: str, text: str, position: int | None = None) -> None:
    """Raises `ApiError` if a text to look up is too long."""
    most = call.service.limits.max_query
    if len(text) > most:
        message = f"{field} has {len(text):,} characters; at most {most:,} are allowed"
        raise ApiError(422, "text_too_long", message, field=field, position=position)


def check_count(call: Call, field: str, count: int) -> None:
    """Raises `ApiError` if a request has too many items."""
    most = call.service.limits.max_batch
    if count > most:
        message = f"{field or 'the body'} has {count:,} items; at most {most:,} are allowed"
        raise ApiError(422, "too_many", message, field=field or None)


def check_hits(call: Call, field: str, wanted: float) -> int:
    """How many hits a request wants.

    Raises:
        ApiError: They are too many.
    """
    most = call.service.limits.max_hits
    if wanted > most:
        message = f"{field} is {wanted}; it must be from 1 to {most}"
        raise ApiError(422, "invalid_value", message, field=field)
    return int(wanted)


def make_all(
    call: Call, field: str, bodies: Sequence[_Body], make: Callable[[Call, _Body], _Made]
) -> list[_Made]:
    """What `make` makes of the items of a batch, a field or, without a name, the whole body. Its
    errors tell which item is at fault.

    Raises:
        ApiError: There are too many items, or one is not allowed.
    """
    check_count(call, field, len(bodies))
    made = []
    for position, body in enumerate(bodies):
        try:
            made.append(make(call, body))
        except ApiError as error:
            raise error.within(field, position) from None
        except DiglotError as error:
            raise from_diglot(error).within(field, position) from None
    return made
