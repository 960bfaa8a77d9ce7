"""Lower bounds as chains of steps that the independent checker recomputes.

A step is the dictionary that a ``tensor-rank`` certificate carries. Every step but the last states
R(T) ≥ gain + R(S) for a tensor S computed from T; the last one bounds R(T) outright. The bound of a
chain is the sum, and nothing counts in it that the checker does not recompute from the tensor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from lemmax.theory.numbers.primes import MERSENNE_61, primes
from lemmax.theory.tensors.arrays import Array, flattening, flattening_rank, rank_modulo

Step: TypeAlias = dict[str, Any]
PRIME = str(MERSENNE_61)


@dataclass(frozen=True)
class LowerBound:
    """R(T) ≥ ``value`` over ``field`` and every smaller field, by these steps."""

    value: int
    steps: tuple[Step, ...]

    @property
    def lemmas(self) -> tuple[str, ...]:
        """The lemmas used, in order, each once."""
        return tuple(dict.fromkeys(str(step["lemma"]) for step in self.steps))

    def after(self, step: Step, gain: int = 0) -> LowerBound:
        """The bound on a larger tensor from which the step leads to this one."""
        return LowerBound(self.value + gain, (step, *self.steps))


def best(bounds: Sequence[LowerBound]) -> LowerBound:
    """The largest bound; of equals the one with the fewest steps."""
    return max(bounds, key=lambda bound: (bound.value, -len(bound.steps)))


def flattening_bound(array: Array, mode: int) -> LowerBound:
    """R(T) ≥ the rank of the flattening that keeps the mode, taken mod a prime.

    A rank mod p is at most the rank over Q, so this is a lower bound over every field.
    """
    rank = rank_modulo(flattening(array, mode))
    return LowerBound(rank, ({"lemma": "flattening", "mode": mode, "prime": PRIME},))


def restriction(maps: Sequence[Sequence[Any]]) -> Step:
    """R(T) ≥ R(T after a linear map in each mode); an empty map leaves its mode alone."""
    return {"lemma": "restriction", "maps": [list(part) for part in maps]}


def flattening_prime(array: Array, mode: int) -> tuple[int, str]:
    """The exact rank of a flattening, and a prime modulo which it keeps its rank."""
    rank = flattening_rank(array, mode)
    for prime in primes():
        if rank_modulo(flattening(array, mode), prime) == rank:
            return rank, str(prime)
    raise AssertionError("some prime keeps the rank")


def substitution(mode: int, maps: Sequence[Sequence[Any]], prime: str) -> Step:
    """R(T) ≥ r(T) - r(T|) + R(T|), r the flattening rank of the mode, T| on the other two modes."""
    return {
        "lemma": "substitution",
        "mode": mode,
        "prime": prime,
        "maps": [list(part) for part in maps],
    }
