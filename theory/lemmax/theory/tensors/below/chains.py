"""Lower bounds as chains of steps that the independent checker recomputes.

A step is the dictionary that a ``tensor-rank`` certificate carries. Every step but the last states
R(T) ≥ gain + R(S) for a tensor S computed from T; the last one bounds R(T) outright. The bound of a
chain is the sum, and nothing counts in it that the checker does not recompute from the tensor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from lemmax.theory.numbers.rank import MERSENNE_61

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


def restriction(maps: Sequence[Sequence[Any]]) -> Step:
    """R(T) ≥ R(T after a linear map in each mode); an empty map leaves its mode alone."""
    return {"lemma": "restriction", "maps": [list(part) for part in maps]}


def substitution(mode: int, maps: Sequence[Sequence[Any]], prime: str) -> Step:
    """R(T) ≥ r(T) - r(T|) + R(T|), r the flattening rank of the mode, T| on the other two modes."""
    return {
        "lemma": "substitution",
        "mode": mode,
        "prime": prime,
        "maps": [list(part) for part in maps],
    }
