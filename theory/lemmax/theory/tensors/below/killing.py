"""Substitution along quotients: one vector of one mode is killed at a time.

Let L be the span of the slices of mode A, matrices B × C. Killing y ∈ C, that is restricting the
mode C to the functionals that vanish on y, removes from L exactly the matrices x⊗y in it, so

    R(T) ≥ dim{x : x⊗y ∈ L} + R(T after y is killed).

Killing a unit vector drops a slice; killing e_i - e_j adds slice i to slice j, which for values
means that two of them are no longer told apart. Vectors with few entries, all 1 or -1, are tried. A
beam search looks for a chain of such steps whose gains and closing bound are large. The tensors on
the way are exact; ranks mod a prime only steer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from lemmax.theory.numbers import modular
from lemmax.theory.tensors.arrays import Array, flattening, flattening_rank, mapped
from lemmax.theory.tensors.below.chains import LowerBound, Step, substitution
from lemmax.theory.tensors.below.flattenings import flattening_bound, flattening_prime
from lemmax.theory.tensors.rank_ones import equations
from lemmax.theory.tensors.small_vectors import small_vectors

_VECTORS = 600  # that are tried in each mode
_CHILDREN = 15  # for each unit of the beam's width
_LEAVES = 3
_LARGEST = 2**20


@dataclass(frozen=True)
class Kill:
    """A vector of a mode, with entries 0, 1 and -1, and what killing it gains in another mode."""

    gaining: int
    mode: int
    vector: tuple[int, ...]
    gain: int

    def rows(self) -> list[list[int]]:
        """The functionals that vanish on the vector: e_k - (v_k / v_p) e_p for one p, all k ≠ p.

        >>> Kill(0, 1, (0, 1, -1), 1).rows()
        [[1, 0, 0], [0, 1, 1]]
        """
        v = self.vector
        p = next(i for i, x in enumerate(v) if x)
        units = np.eye(len(v), dtype=int)
        return [(units[k] - v[k] * v[p] * units[p]).tolist() for k in range(len(v)) if k != p]


@dataclass(frozen=True)
class State:
    """A restriction of the tensor with independent slices, and the kills that led to it."""

    array: Array
    gain: int = 0
    steps: tuple[tuple[int, tuple[list[list[int]], ...]], ...] = ()

    @property
    def value(self) -> int:
        return self.gain + int(max(self.array.shape))


def kills(array: Array) -> Iterator[Kill]:
    """The kills that gain something, of a tensor with independent slices."""
    for gaining in range(3):
        for mode in range(3):
            if mode == gaining or array.shape[mode] < 2:
                continue
            X = modular.residues(np.transpose(array, (gaining, 3 - gaining - mode, mode)))
            a, b, c = X.shape
            forms = equations(X.reshape(a, b * c), b + 2).reshape(-1, b, c)
            vectors = _vectors(c)
            stack = np.einsum("vc,ebc->veb", np.array(vectors), forms)
            gains = b - modular.ranks(stack)
            for vector, gain in zip(vectors, gains.tolist(), strict=True):
                if gain:
                    yield Kill(gaining, mode, vector, gain)


@cache
def _vectors(size: int) -> tuple[tuple[int, ...], ...]:
    """The vectors that are tried, with entries 0, 1 and -1, of small weight first."""
    return tuple(v for v in small_vectors(size, _VECTORS) if max(map(abs, v)) == 1)


def after(state: State, kill: Kill) -> State | None:
    """The state after a kill, its slices made independent again; None if nothing is left."""
    maps: list[list[list[int]]] = [[], [], []]
    maps[kill.mode] = kill.rows()
    array = mapped(state.array, kill.mode, maps[kill.mode])
    for mode in range(3):
        rows = flattening(array, mode)
        kept = _independent(rows)
        if not kept:
            return None
        if len(kept) < len(rows):
            array = np.take(array, kept, axis=mode)
            identity = np.eye(len(rows), dtype=int).tolist()
            maps[mode] = [(maps[mode] or identity)[i] for i in kept]
    if np.abs(array).max() > _LARGEST:
        return None
    return State(array, state.gain + kill.gain, (*state.steps, (kill.gaining, tuple(maps))))


def _independent(rows: Array) -> list[int]:
    """Rows that are independent mod the prime, as many as there can be, from the front."""
    rows = rows[:, (rows != 0).any(axis=0)]
    found: list[int] = modular.reduce(modular.residues(rows.T)).tolist() if rows.size else []
    return found


def search(
    array: Array,
    upper: int,
    lower: int,
    leaf: Callable[[Array, int], LowerBound | None],
    width: int = 4,
    expired: Callable[[], bool] = lambda: False,
) -> LowerBound | None:
    """A bound above ``lower`` by a chain of kills, or None; it stops at ``upper``.

    ``leaf(S, least)`` is a bound of a tensor by other means, worth finding above ``least``. The
    beam keeps states by their bound and by the room that they leave, ``width`` of each.

    Cost: some hundred eliminations a state, of matrices with as many rows as the tensor has slices.
    """
    if array.dtype == object:  # entries beyond a machine word
        return None
    best: tuple[int, State, LowerBound | None] | None = None
    level, seen = [State(array)], set[tuple[int, bytes]]()
    while level and lower < upper and not expired():
        found: list[State] = []
        for state in level:
            for kill in sorted(kills(state.array), key=lambda k: -k.gain)[: _CHILDREN * width]:
                child = after(state, kill)
                if child is None or (key := (child.gain, child.array.tobytes())) in seen:
                    continue
                seen.add(key)
                found.append(child)
                if child.value > lower:
                    lower, best = child.value, (child.value, child, None)
            if lower >= upper or expired():
                break
        found.sort(key=lambda s: (-s.value, -sum(s.array.shape)))
        leaves = [s for s in found if s.value >= lower or 2 in s.array.shape]
        for state in leaves[: _LEAVES * width]:
            if lower >= upper or expired():
                break
            closing = leaf(state.array, lower - state.gain)
            if closing is not None and state.gain + closing.value > lower:
                lower = state.gain + closing.value
                best = lower, state, closing
        rooms = (
            lambda s: (-s.value, -sum(s.array.shape)),
            lambda s: -s.gain - sum(s.array.shape) / 3 - max(s.array.shape) / 3,
            lambda s: -s.gain - sum(s.array.shape) / 2,
        )
        chosen = [s for room in rooms for s in sorted(found, key=room)[:width]]
        level = list({id(s): s for s in chosen}.values())
    return None if best is None else realise(array, best[1], best[2])


def realise(array: Array, state: State, closing: LowerBound | None) -> LowerBound:
    """The chain as the checker reads it, with exact gains."""
    steps: list[Step] = []
    total = 0
    for gaining, maps in state.steps:
        before, prime = flattening_prime(array, gaining)
        for mode, rows in enumerate(maps):
            if rows and mode != gaining:
                array = mapped(array, mode, rows)
        total += before - flattening_rank(array, gaining)
        if maps[gaining]:
            array = mapped(array, gaining, maps[gaining])
        steps.append(substitution(gaining, [[list(map(str, r)) for r in m] for m in maps], prime))
    if closing is None:
        mode = max(range(3), key=lambda m: array.shape[m])
        closing = flattening_bound(array, mode)
    return LowerBound(total + closing.value, (*steps, *closing.steps))
