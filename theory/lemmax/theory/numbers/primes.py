"""The primes that ranks are computed modulo, each named by what it is good for."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from flint import fmpz

MERSENNE_61 = 2**61 - 1
"""A residue fits into 64 bits, as flint wants it: where a rank is proved from below."""

MERSENNE_31 = 2**31 - 1
"""Products of two residues stay below 2⁶², so that int64 arrays hold them."""

POWERS_OF_TWO_31 = 2**31 - 19
"""As short, but 2 has a large order, which modulo 2³¹ - 1 is 31 only: for units of ln 2."""


@cache
def _next_prime_below(bound: int) -> int:
    candidate = bound - 1
    while not fmpz(candidate).is_prime():
        candidate -= 1
    return candidate


def primes() -> Iterator[int]:
    """The primes below 2^61, largest first."""
    prime = 2**61
    while True:
        prime = _next_prime_below(prime)
        yield prime
