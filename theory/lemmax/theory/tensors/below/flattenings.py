"""Flattenings: the rank of a tensor is at least that of each of its three matrices.

A rank mod a prime is at most the rank over Q, so it is a lower bound over every field. Cost: one
elimination mod a prime, or an exact rank where a prime must keep it.
"""

from __future__ import annotations

from lemmax.theory.numbers.rank import primes
from lemmax.theory.tensors.arrays import Array, flattening, flattening_rank, rank_modulo
from lemmax.theory.tensors.below.chains import PRIME, LowerBound


def flattening_bound(array: Array, mode: int) -> LowerBound:
    """R(T) ≥ the rank of the flattening that keeps the mode, taken mod a prime.

    A rank mod p is at most the rank over Q, so this is a lower bound over every field.
    """
    rank = rank_modulo(flattening(array, mode))
    return LowerBound(rank, ({"lemma": "flattening", "mode": mode, "prime": PRIME},))


def flattening_prime(array: Array, mode: int) -> tuple[int, str]:
    """The exact rank of a flattening, and a prime modulo which it keeps its rank."""
    rank = flattening_rank(array, mode)
    for prime in primes():
        if rank_modulo(flattening(array, mode), prime) == rank:
            return rank, str(prime)
    raise AssertionError("some prime keeps the rank")
