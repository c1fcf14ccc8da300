"""The measurements, one a module, each run in a process of its own.

`measure(scale)` returns what is reported, as what JSON can hold.

Times are in seconds, sizes in bytes.
"""

__all__ = ["MEASUREMENTS"]

MEASUREMENTS = (
    "startup",
    "loading",
    "opening",
    "storing",
    "tmx",
    "serving",
    "ready_entries",
    "latency",
    "exact",
    "threads",
    "adding",
    "event_loop",
    "growth",
    "peers",
)
