"""Times and sizes as people read them."""

__all__ = ["megabytes", "seconds"]


def _digits(value: float) -> str:
    """Three digits, or all before the point."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def seconds(value: float) -> str:
    """A time in the unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if value >= size:
            return f"{_digits(value / size)} {unit}"
    return f"{_digits(value / 1e-6)} µs"


def megabytes(value: float) -> str:
    """A size in millions of bytes."""
    return f"{value / 1e6:,.0f} MB"
