"""What a server allows, and how it is set: by arguments of `Limits`, options of `diglot serve`, or
variables of the environment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from typing import Any

from diglot.errors import InvalidTypeError, InvalidValueError

__all__ = ["Limits"]


# The most that limits may be: for numbers, far more than a machine holds; for seconds, a day.
_MOST = 1 << 50
_DAY = 86_400


def _limit(default: float, least: float, text: str, most: float = _MOST) -> Any:
    return field(default=default, metadata={"least": least, "most": most, "text": text})


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one request may ask for. Each is also an option of `diglot serve` (`--max-body`) and a
    variable of the environment (`DIGLOT_MAX_BODY`).

    Raises:
        InvalidTypeError: A value is no number, or a fraction where a whole number is needed.
        InvalidValueError: A value is too small or too large.
    """

    max_body: int = _limit(4 << 20, 1, "bytes of a request's body, imports aside")
    max_import: int = _limit(1 << 30, 1, "bytes of a file to import")
    max_import_entries: int = _limit(5_000_000, 1, "entries of a file to import")
    max_query: int = _limit(32_768, 1, "characters of a text to look up")
    max_batch: int = _limit(1_000, 1, "entries or queries of one request")
    max_hits: int = _limit(100, 1, "hits of one query")
    max_connections: int = _limit(1_024, 1, "open connections")
    max_time: float = _limit(
        30.0, 0.001, "seconds that a request may take, or a client let the server wait", _DAY
    )
    max_import_time: float = _limit(
        3_600.0, 0.001, "seconds that an import or export may take", _DAY
    )
    keep_alive: int = _limit(75, 1, "seconds that a connection is kept between requests", _DAY)
    shutdown_time: int = _limit(
        10, 0, "seconds that requests have to end when the server stops", _DAY
    )

    def __post_init__(self) -> None:
        for one in fields(self):
            _check(one, getattr(self, one.name), one.name)

    @classmethod
    def read(cls, environment: Mapping[str, str], options: Mapping[str, Any]) -> Limits:
        """The limits that options set, or else the environment, or else the defaults.

        Args:
            environment: Such as `os.environ`.
            options: Values by the names of limits; those that are None are not set.

        Raises:
            InvalidTypeError: A value is not a number of the right kind.
            InvalidValueError: A value is too small or too large.
        """
        values: dict[str, Any] = {}
        for one in fields(cls):
            variable = f"DIGLOT_{one.name.upper()}"
            if (value := options.get(one.name)) is not None:
                values[one.name] = value
            elif variable in environment:
                try:
                    value = (int if one.type == "int" else float)(environment[variable])
                except ValueError:
                    kind = "a whole number" if one.type == "int" else "a number"
                    raise InvalidValueError(
                        f"{variable} is {environment[variable]!r}; it must be {kind}",
                        field=variable,
                    ) from None
                _check(one, value, variable)
                values[one.name] = value
        return cls(**values)


def _check(limit: Field[Any], value: object, name: str) -> None:
    """Raises what `Limits` does for a value of a limit, which errors call by a name."""
    whole = limit.type == "int"
    if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
        kind = "an int" if whole else "a number"
        raise InvalidTypeError(f"{name} must be {kind}, not {type(value).__name__}", field=name)
    least, most = limit.metadata["least"], limit.metadata["most"]
    if not least <= value <= most:
        raise InvalidValueError(
            f"{name} is {value}; it must be from {least} to {most:,}", field=name
        )
