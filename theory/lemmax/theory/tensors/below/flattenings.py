"""Flattenings: the rank of a tensor is at least that of each of its three matrices.

A rank mod a prime is at most the rank over Q, so it is a lower bound over every field. Cost: one
elimination mod a prime, or an exact rank where a prime must keep it.
"""

from __future__ import annotations

from lemmax.theory.numbers.primes import primes
from lemmax.theory.tensors.arrays import Array, flattening, flattening_rank, rank_modulo
from lemmax.theory.tensors.below.chains import (
    WRITTEN_PRIME,
    ChainStep,
    LowerBound,
    after_map,
)


def flattening_bound(array: Array, mode: int) -> LowerBound:
    """R(T) ≥ the rank mod a prime of the flattening that keeps the mode."""
    step = {"lemma": "flattening", "mode": mode, "prime": WRITTEN_PRIME}
    return LowerBound.by(step, rank_modulo(flattening(array, mode)))


def best_flattening(array: Array) -> LowerBound:
    """The largest of the three bounds, the first of equal ones.

    >>> import numpy as np
    >>> best_flattening(np.eye(2, dtype=int)[None]).value
    2
    """
    return max((flattening_bound(array, mode) for mode in range(3)), key=lambda b: b.value)


def flattening_prime(array: Array, mode: int) -> tuple[int, str]:
    """The exact rank of a flattening, and a prime modulo which it keeps its rank."""
    rank = flattening_rank(array, mode)
    for prime in primes():
        if rank_modulo(flattening(array, mode), prime) == rank:
            return rank, str(prime)
    raise AssertionError("some prime keeps the rank")


def recomputed(array: Array, bound: LowerBound) -> LowerBound:
    """The same chain with every gain of a flattening recomputed, and with primes that keep ranks.

    What is subtracted is an exact rank over Q; what it is subtracted from is a rank mod a prime
    that keeps it. Other closing steps stay as they are.
    """
    gains: list[int] = []
    steps: list[ChainStep] = []
    for gain, step in zip(bound.gains, bound.steps, strict=True):
        lemma, maps, mode = step["lemma"], step.get("maps", [[], [], []]), step.get("mode", -1)
        if lemma in ("substitution", "flattening"):
            gain, prime = flattening_prime(array, mode)
            step = {**step, "prime": prime}
        for other in {0, 1, 2} - {mode}:
            array = after_map(array, other, maps[other])
        if lemma == "substitution":
            gain -= flattening_rank(array, mode)
            array = after_map(array, mode, maps[mode])
        elif lemma == "restriction":
            gain = 0
        gains.append(gain)
        steps.append(step)
    return LowerBound(tuple(gains), tuple(steps))
