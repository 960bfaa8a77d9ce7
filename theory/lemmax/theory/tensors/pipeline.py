"""Bounds of a tensor from those of its parts: concision, direct sums, private slices, blocks.

The parts are solved by :mod:`.stages`; here their chains become chains of the whole tensor, and
their terms become terms of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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
from lemmax.theory.tensors.reductions import blocks, components, concise, restricted
from lemmax.theory.tensors.search.clock import earlier, late, share
from lemmax.theory.tensors.stages import by_blocks, solve_algebra, solve_component

Side: TypeAlias = tuple[list[int], list[int], list[int]]
"""The indices of a part in the three modes."""

_BLOCKS = 32  # the last of so many parts of the time is for blocks


def solve(array: Array, field: Field, deadline: float | None = None) -> Bounds:
    """Reduce and bound a nonzero tensor: concision, components, private slices, blocks.

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
    if 2 in array.shape:
        return solve_component(array, field, deadline, known)
    sides = components(array)
    if len(sides) > 1:
        return _solve_sum(array, sides, field, deadline)
    private = private_slices(array)
    if private is not None:
        return _solve_private(array, *private, field, deadline)
    divided = {mode: sides for mode in (2, 0, 1) if len(sides := blocks(array, mode)) > 1}
    search = earlier(deadline, _BLOCKS) if divided else deadline
    bounds = solve_component(array, field, search, known)
    return _by_blocks(array, bounds, divided, field, deadline)


def _by_blocks(
    array: Array,
    bounds: Bounds,
    divided: Mapping[int, Sequence[Side]],
    field: Field,
    deadline: float | None,
) -> Bounds:
    """The terms of blocks that share nothing but indices of one mode, where they are fewer.

    From below blocks prove nothing: they may have common terms, as those of a product of matrices.
    """
    for place, (mode, sides) in enumerate(divided.items()):
        if bounds.closed or late(deadline):
            break
        parts = _solve_each(array, sides, field, share(deadline, len(divided) - place))
        name = f"blocks that share {('keys', 'queries', 'values')[mode]}"
        bounds = bounds.shortened(name, _placed(array, sides, parts))
    ended = not bounds.closed
    return replace(bounds, stopped=bounds.stopped and ended, cut=bounds.cut and ended)


def _solve_sum(array: Array, sides: Sequence[Side], field: Field, deadline: float | None) -> Bounds:
    """A direct sum: all summands but one by their additive chains, that one by its best.

    A substitution step of one summand is one of the sum, with the same gain; a flattening bound r
    of a summand T₁ is the step R(T₁ ⊕ T₂) ≥ r + R(T₂). Each summand may use an equal share of the
    time that those before it left, small ones first, for they rarely need it.
    """
    parts = _solve_each(array, sides, field, deadline)
    excess = [part.lower.value - part.additive.value for part in parts]
    last = max(range(len(parts)), key=lambda i: (excess[i], not parts[i].thin))
    order = [i for i in range(len(parts)) if i != last] + [last]
    first = [(parts[i].additive, sides[i]) for i in order[:-1]]
    bounds = Bounds(
        _one_by_one(first, parts[last].additive, sides[last]),
        _one_by_one(first, parts[last].lower, sides[last]),
        _placed(array, sides, parts),
        tuple(dict.fromkeys(reason for part in parts for reason in part.reasons)),
        # ranks add up if all summands but one are thin (JáJá and Takche)
        cited=sum(excess[i] for i in order[:-1] if parts[i].thin),
        stopped=any(part.stopped for part in parts),
        cut=any(part.cut and not part.closed for part in parts),
        fitted=_fitted(parts),
    )
    if bounds.closed or sum(x > 0 for x in excess) < 2:
        return bounds
    return by_blocks(array, bounds, field, deadline)  # where more than one has to be at its best


def _solve_each(
    array: Array, sides: Sequence[Side], field: Field, deadline: float | None
) -> list[Bounds]:
    """The bounds of the parts, the small ones first in equal shares of the time that is left."""
    turns = sorted(range(len(sides)), key=lambda i: math.prod(map(len, sides[i])))
    solved = {
        i: solve(restricted(array, sides[i]), field, share(deadline, len(sides) - place))
        for place, i in enumerate(turns)
    }
    return [solved[i] for i in range(len(sides))]


def _placed(array: Array, sides: Sequence[Side], parts: Sequence[Bounds]) -> Decomposition:
    """The terms of all parts, each in its place."""
    total = Decomposition(array.shape)
    for side, part in zip(sides, parts, strict=True):
        placed = part.decomposition
        for mode in range(3):
            placed = placed.placed(mode, side[mode], array.shape[mode])
        total = total + placed
    return total


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
