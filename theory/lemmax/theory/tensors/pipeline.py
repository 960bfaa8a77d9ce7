"""Bounds of a tensor from those of its parts: concision, direct sums, private slices.

The parts are solved by :mod:`.stages`; here their chains become chains of the whole tensor, and
their terms become terms of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from typing import TypeAlias

import numpy as np

from lemmax.theory.tensors.above.slices import slice_sum
from lemmax.theory.tensors.arrays import Array
from lemmax.theory.tensors.below.chains import (
    LowerBound,
    embedded,
    restriction,
    substitution,
    without,
)
from lemmax.theory.tensors.bounds import Bounds
from lemmax.theory.tensors.decompositions import Decomposition
from lemmax.theory.tensors.fields import Field
from lemmax.theory.tensors.reductions import components, concise, restricted
from lemmax.theory.tensors.search.clock import share
from lemmax.theory.tensors.stages import solve_algebra, solve_component

Side: TypeAlias = tuple[list[int], list[int], list[int]]
"""The indices of a direct summand in the three modes."""


def solve(array: Array, field: Field, deadline: float | None = None) -> Bounds:
    """Reduce and bound a nonzero tensor: concision, components, private slices, one component.

    A deadline is a reading of the clock, past which no further stage of the search begins.

    >>> bounds = solve(np.eye(2, dtype=int)[None], "Q")
    >>> bounds.lower.value, len(bounds.decomposition)
    (2, 2)
    """
    core = concise(array)
    bounds = _solve_concise(core.array, field, deadline)
    if core.array.shape == array.shape:
        return bounds
    maps = [k if len(k) < n else [] for k, n in zip(core.kept, array.shape, strict=True)]
    step = restriction(maps)
    return replace(
        bounds,
        additive=bounds.additive.after(step),
        lower=bounds.lower.after(step),
        decomposition=core.extend(bounds.decomposition),
    )


def _solve_concise(array: Array, field: Field, deadline: float | None) -> Bounds:
    algebra = solve_algebra(array, field)
    if algebra is None:
        return _solve_parts(array, field, deadline)
    if algebra.closed:
        return algebra
    bounds = _solve_parts(array, field, deadline, algebra)
    return bounds.raised(algebra.lower).shortened(algebra.reasons[0], algebra.decomposition)


def _solve_parts(
    array: Array, field: Field, deadline: float | None, known: Bounds | None = None
) -> Bounds:
    if 2 not in array.shape:
        sides = components(array)
        if len(sides) > 1:
            return _solve_sum(array, sides, field, deadline)
        private = private_slices(array)
        if private is not None:
            return _solve_private(array, *private, field, deadline)
    return solve_component(array, field, deadline, known)


def _solve_sum(array: Array, sides: Sequence[Side], field: Field, deadline: float | None) -> Bounds:
    """A direct sum: all summands but one by their additive chains, that one by its best.

    A substitution step of one summand is one of the sum, with the same gain; a flattening bound r
    of a summand T₁ is the step R(T₁ ⊕ T₂) ≥ r + R(T₂). Each summand may use an equal share of the
    time that those before it left, small ones first, for they rarely need it.
    """
    turns = sorted(range(len(sides)), key=lambda i: math.prod(map(len, sides[i])))
    solved = {
        i: solve(restricted(array, sides[i]), field, share(deadline, len(sides) - place))
        for place, i in enumerate(turns)
    }
    parts = [solved[i] for i in range(len(sides))]
    total = Decomposition(array.shape)
    for side, part in zip(sides, parts, strict=True):
        placed = part.decomposition
        for mode in range(3):
            placed = placed.placed(mode, side[mode], array.shape[mode])
        total = total + placed
    excess = [part.lower.value - part.additive.value for part in parts]
    last = max(range(len(parts)), key=lambda i: (excess[i], not parts[i].thin))
    order = [i for i in range(len(parts)) if i != last] + [last]
    first = [(parts[i].additive, sides[i]) for i in order[:-1]]
    return Bounds(
        _one_by_one(first, parts[last].additive, sides[last]),
        _one_by_one(first, parts[last].lower, sides[last]),
        total,
        tuple(dict.fromkeys(reason for part in parts for reason in part.reasons)),
        # ranks add up if all summands but one are thin (JáJá and Takche)
        cited=sum(excess[i] for i in order[:-1] if parts[i].thin),
        stopped=any(part.stopped for part in parts),
        cut=any(part.cut and not part.closed for part in parts),
        fitted=_fitted(parts),
    )


def _fitted(parts: Sequence[Bounds]) -> int | None:
    """How many terms the parts have by their fits, where the fits of an open one were tried."""
    if not any(part.fitted is not None for part in parts if not part.closed):
        return None
    terms = [len(part.decomposition) for part in parts]
    fits = [part.fitted for part in parts]
    return sum(n if fit is None else min(fit, n) for n, fit in zip(terms, fits, strict=True))


def _one_by_one(
    first: Sequence[tuple[LowerBound, Side]], final: LowerBound, last: Side
) -> LowerBound:
    """The chain of a direct sum that removes its summands in order, the last by ``final``."""
    chain, others = final, last
    for bound, side in reversed(first):
        steps, left = embedded(bound, side, others)
        removal = substitution(bound.closing["mode"], without(left, others))
        for step, gain in reversed([*zip((*steps, removal), bound.gains, strict=True)]):
            chain = chain.after(step, gain)
        a, b, c = ([*own, *more] for own, more in zip(side, others, strict=True))
        others = a, b, c
    return chain


def private_slices(array: Array) -> tuple[int, int, list[int]] | None:
    """Modes b, c and slices of b whose indices in c occur in no other slice of b.

    Such a slice M adds exactly rank(M): substitution in c below, its factorisation above.
    """
    for b, c in permutations(range(3), 2):
        pattern = (array != 0).any(axis=3 - b - c)
        if b > c:
            pattern = pattern.T
        alone = pattern.sum(axis=0) == 1
        private = [q for q in range(array.shape[b]) if alone[pattern[q]].all()]
        if private and len(private) < array.shape[b]:
            return b, c, private
    return None


def _solve_private(
    array: Array,
    mode: int,
    gaining: int,
    private: list[int],
    field: Field,
    deadline: float | None,
) -> Bounds:
    size = array.shape[mode]
    left = [q for q in range(size) if q not in set(private)]
    bounds = solve(np.take(array, left, axis=mode), field, deadline)
    own = slice_sum(np.take(array, private, axis=mode), mode).placed(mode, private, size)
    maps: list[list[int]] = [[], [], []]
    maps[mode] = left
    step = substitution(gaining, maps)
    return replace(
        bounds,
        additive=bounds.additive.after(step, len(own)),
        lower=bounds.lower.after(step, len(own)),
        decomposition=bounds.decomposition.placed(mode, left, size) + own,
        fitted=None if bounds.fitted is None else bounds.fitted + len(own),
        reasons=("private slices", *bounds.reasons),
    )
