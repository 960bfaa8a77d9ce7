"""Substitution along kills: one vector of one mode is killed at a time.

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
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from lemmax.theory.numbers import modular
from lemmax.theory.tensors.arrays import Array, flattening, mapped
from lemmax.theory.tensors.below.chains import LowerBound, OpenChain, substitution
from lemmax.theory.tensors.below.flattenings import flattening_bound, recomputed
from lemmax.theory.tensors.rank_ones import equations
from lemmax.theory.tensors.small_vectors import small_vectors

_VECTORS = 600  # that are tried in each mode
_CHILDREN = 15  # for each unit of the beam's width
_CLOSED = 3  # ends that are closed by other means, for each unit of the beam's width
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


def after(path: OpenChain, kill: Kill) -> OpenChain | None:
    """The path one kill longer, its end with independent slices again; None if nothing is left."""
    maps: list[list[list[int]]] = [[], [], []]
    maps[kill.mode] = kill.rows()
    array = mapped(path.end, kill.mode, maps[kill.mode])
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
    return path.then(substitution(kill.gaining, maps), kill.gain, array)


def _independent(rows: Array) -> list[int]:
    """Rows that are independent mod the prime, as many as there can be, from the front."""
    rows = rows[:, (rows != 0).any(axis=0)]
    kept: list[int] = modular.reduce(modular.residues(rows.T)).tolist() if rows.size else []
    return kept


def killing_bound(
    array: Array,
    upper: int,
    lower: int,
    close: Callable[[Array, int], LowerBound | None],
    width: int = 4,
    expired: Callable[[], bool] = lambda: False,
) -> LowerBound | None:
    """A bound above ``lower`` by a chain of kills, or None; it stops at ``upper``.

    ``close(S, least)`` is a bound of a tensor by other means, worth finding above ``least``. The
    beam keeps paths by their bound and by the room that they leave, ``width`` of each.

    Cost: some hundred eliminations per path, of matrices with as many rows as the tensor has
    slices.
    """
    if array.dtype == object:  # entries beyond 2³¹
        return None
    best: tuple[OpenChain, LowerBound | None] | None = None
    level, seen = [OpenChain(array)], set[tuple[int, bytes]]()
    while level and lower < upper and not expired():
        longer: list[OpenChain] = []
        for path in level:
            for kill in sorted(kills(path.end), key=lambda k: -k.gain)[: _CHILDREN * width]:
                child = after(path, kill)
                if child is None or (key := (child.gain, child.end.tobytes())) in seen:
                    continue
                seen.add(key)
                longer.append(child)
                if _value(child) > lower:
                    lower, best = _value(child), (child, None)
            if lower >= upper or expired():
                break
        longer.sort(key=lambda p: (-_value(p), -sum(p.end.shape)))
        ends = [p for p in longer if _value(p) >= lower or 2 in p.end.shape]
        for path in ends[: _CLOSED * width]:
            if lower >= upper or expired():
                break
            closing = close(path.end, lower - path.gain)
            if closing is not None and path.gain + closing.value > lower:
                lower, best = path.gain + closing.value, (path, closing)
        rooms = (
            lambda p: (-_value(p), -sum(p.end.shape)),
            lambda p: -p.gain - sum(p.end.shape) / 3 - max(p.end.shape) / 3,
            lambda p: -p.gain - sum(p.end.shape) / 2,
        )
        chosen = [p for room in rooms for p in sorted(longer, key=room)[:width]]
        level = list({id(p): p for p in chosen}.values())
    return None if best is None else recomputed(array, _written(*best))


def _value(path: OpenChain) -> int:
    """The bound of a path that ends in a flattening: the slices at its end are independent."""
    return path.gain + int(max(path.end.shape))


def _written(path: OpenChain, closing: LowerBound | None) -> LowerBound:
    """The chain as certificates have it, with the rows of integers as text."""
    if closing is None:
        mode = max(range(3), key=lambda m: path.end.shape[m])
        closing = flattening_bound(path.end, mode)
    steps = (
        {**step, "maps": [[list(map(str, row)) for row in rows] for rows in step["maps"]]}
        for step in path.steps
    )
    return replace(path, steps=tuple(steps)).closed(closing)
