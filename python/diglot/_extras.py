"""Packages that only some parts need, and what to say where they are missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from diglot.errors import MissingPackageError

__all__ = ["extra"]


@contextmanager
def extra(name: str, what: str) -> Iterator[None]:
    """Imports inside of it are of packages that an extra brings.

    Args:
        name: The extra.
        what: What needs it, for the error.

    Raises:
        MissingPackageError: One of them is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingPackageError(
            f"{what} needs the package {error.name}; install it with: pip install 'diglot[{name}]'",
            name=error.name,
        ) from error
