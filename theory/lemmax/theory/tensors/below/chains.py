"""Lower bounds as chains of steps that the independent checker recomputes.

A step is the dictionary that a ``tensor-rank`` certificate carries. Every step but the last states
R(T) ≥ gain + R(S) for a tensor S computed from T by a linear map in each mode; the last one bounds
R(T) outright, and its gain is that bound. The bound of a chain is the sum of the gains, and nothing
counts in it that the checker does not recompute from the tensor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from lemmax.theory.numbers.primes import MERSENNE_61
from lemmax.theory.tensors.arrays import Array, mapped

ChainStep: TypeAlias = dict[str, Any]

Maps: TypeAlias = Sequence[Sequence[Any]]
"""A linear map for each mode: nothing for the identity, indices to keep, or rows of integers."""

WRITTEN_PRIME = str(MERSENNE_61)
"""The prime of a step unless there is a reason for another one."""


@dataclass(frozen=True)
class LowerBound:
    """R(T) ≥ ``value`` by these steps and their gains, over a field and all smaller ones.

    >>> LowerBound.by({"lemma": "flattening", "mode": 0}, 2).after(restriction([[0, 1], [], []]))
    LowerBound(gains=(0, 2), steps=({'lemma': 'restriction', 'maps': [[0, 1], [], []]}, \
{'lemma': 'flattening', 'mode': 0}))
    """

    gains: tuple[int, ...]
    steps: tuple[ChainStep, ...]

    @classmethod
    def by(cls, step: ChainStep, value: int) -> LowerBound:
        """The bound that one step proves by itself."""
        return cls((value,), (step,))

    @property
    def value(self) -> int:
        return sum(self.gains)

    @property
    def closing(self) -> ChainStep:
        """The last step, which leads to no other tensor."""
        return self.steps[-1]

    @property
    def lemmas(self) -> tuple[str, ...]:
        """The lemmas used, in order, each once."""
        return tuple(dict.fromkeys(str(step["lemma"]) for step in self.steps))

    def after(self, step: ChainStep, gain: int = 0) -> LowerBound:
        """The bound on a larger tensor from which the step leads to this one."""
        return LowerBound((gain, *self.gains), (step, *self.steps))


@dataclass(frozen=True)
class OpenChain:
    """A chain that no bound closes yet: steps with gains, and the tensor to which they lead."""

    end: Array
    steps: tuple[ChainStep, ...] = ()
    gains: tuple[int, ...] = ()

    @property
    def gain(self) -> int:
        return sum(self.gains)

    def then(self, step: ChainStep, gain: int, end: Array) -> OpenChain:
        """The chain with one step more."""
        return OpenChain(end, (*self.steps, step), (*self.gains, gain))

    def closed(self, bound: LowerBound) -> LowerBound:
        """The chain closed by a bound of the tensor at its end."""
        return LowerBound((*self.gains, *bound.gains), (*self.steps, *bound.steps))


def restriction(maps: Maps) -> ChainStep:
    """R(T) ≥ R(T after a linear map in each mode); an empty map leaves its mode alone."""
    return {"lemma": "restriction", "maps": [list(part) for part in maps]}


def substitution(mode: int, maps: Maps, prime: str = WRITTEN_PRIME) -> ChainStep:
    """R(T) ≥ r(T) - r(T|) + R(T|), r the flattening rank of the mode, T| on the other two modes."""
    return {
        "lemma": "substitution",
        "mode": mode,
        "prime": prime,
        "maps": [list(part) for part in maps],
    }


def after_map(array: Array, mode: int, part: Sequence[Any]) -> Array:
    """The tensor after one map of a step.

    >>> after_map(np.eye(3, dtype=int)[None], 1, [["1", "0", "2"]]).tolist()
    [[[1, 0, 2]]]
    """
    if not part:
        return array
    if isinstance(part[0], int):
        return np.take(array, part, axis=mode)
    return mapped(array, mode, [[int(x) for x in row] for row in part])


def embedded(
    bound: LowerBound, places: Sequence[Sequence[int]], others: Sequence[Sequence[int]]
) -> tuple[tuple[ChainStep, ...], list[list[int]]]:
    """The steps of a summand T₁ but the last, as steps of a direct sum T₁ ⊕ T₂, and what T₁ keeps.

    ``places`` are the indices of T₁ in some larger tensor, ``others`` those of T₂; the sum has both
    in increasing order. The steps keep indices, and all of T₂. A substitution gains as much in the
    sum as in the summand.
    """
    own = [list(part) for part in places]
    steps = []
    for step in bound.steps[:-1]:
        left = [
            [names[i] for i in part] if part else names
            for names, part in zip(own, step["maps"], strict=True)
        ]
        steps.append({**step, "maps": _positions(own, left, others)})
        own = left
    return tuple(steps), own


def without(own: Sequence[Sequence[int]], others: Sequence[Sequence[int]]) -> list[list[int]]:
    """The maps that keep nothing of a summand, in a direct sum as in :func:`embedded`."""
    return _positions(own, [[], [], []], others)


def _positions(
    before: Sequence[Sequence[int]], after: Sequence[Sequence[int]], others: Sequence[Sequence[int]]
) -> list[list[int]]:
    """The maps that lead from some indices, together with others that stay, to fewer of them."""
    maps = []
    for old, new, rest in zip(before, after, others, strict=True):
        place = {name: i for i, name in enumerate(sorted((*old, *rest)))}
        kept = [place[name] for name in sorted((*new, *rest))]
        maps.append([] if len(kept) == len(place) else kept)
    return maps
