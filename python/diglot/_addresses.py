"""Who can reach an address, and by which names."""

from __future__ import annotations

from ipaddress import ip_address

__all__ = ["LOOPBACK_NAMES", "bracketed", "is_address", "is_loopback"]

# What clients on this machine call it.
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


def is_loopback(host: str) -> bool:
    """Whether only this machine can connect to an address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_address(host: str) -> bool:
    """Whether it is an IP address rather than a name."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def bracketed(host: str) -> str:
    """A host as it is in a URL."""
    return f"[{host}]" if ":" in host else host
