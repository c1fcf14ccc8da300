"""Ids that tell nothing of how many others there are.

A memory numbers its entries in order, so two numbers tell how many entries came between, whoever
added them. Keys that may read all namespaces get those numbers; others get them permuted.
"""

from __future__ import annotations

from hashlib import blake2s

__all__ = ["IdCipher"]

# Half of the bits of an id. 52 bits are a number that JavaScript holds exactly.
_HALF = 26
_MASK = (1 << _HALF) - 1
_ROUNDS = 4


class IdCipher:
    """A permutation of the numbers below 2**52 that only those who have the secret can tell.

    It is a Feistel network of four rounds, each keyed with BLAKE2s.

    Args:
        secret: At most 32 bytes.
    """

    __slots__ = ("_rounds",)

    def __init__(self, secret: bytes) -> None:
        self._rounds = [blake2s(bytes([step]), key=secret) for step in range(_ROUNDS)]

    def outward(self, id: int) -> int:
        """The id that a client gets."""
        left, right = id >> _HALF, id & _MASK
        for step in range(_ROUNDS):
            left, right = right, left ^ self._mix(step, right)
        return left << _HALF | right

    def inward(self, id: int) -> int:
        """The id that a memory knows; of any number below 2**52."""
        left, right = id >> _HALF, id & _MASK
        for step in reversed(range(_ROUNDS)):
            left, right = right ^ self._mix(step, left), left
        return left << _HALF | right

    def _mix(self, step: int, half: int) -> int:
        digest = self._rounds[step].copy()
        digest.update(half.to_bytes(4, "little"))
        return int.from_bytes(digest.digest()[:4], "little") & _MASK
