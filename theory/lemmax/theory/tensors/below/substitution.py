"""Substitution with restriction, over the subsets of the slices of one mode.

For a tensor T and its restriction T| to some slices q of one mode, and any other mode A,

    R(T) ≥ r_A(T) - r_A(T|) + R(T|).

Dropping slices one by one, each by the mode that gains most, is a longest path among the subsets:
G[S] is the largest sum of gains on the way from all slices to S, and every lower bound of the
tensor on S closes the path. With at most twelve slices all subsets are visited, with more a beam.
The rank on S comes from the echelon form on S without its first slice, extended by that slice.
Cost: two small eliminations mod a prime for each subset, then exact ranks along one path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

import numpy as np

from lemmax.theory.numbers import modular
from lemmax.theory.tensors.arrays import Array, flattening, flattening_rank, rank_modulo
from lemmax.theory.tensors.below.chains import ChainStep, LowerBound, OpenChain, substitution
from lemmax.theory.tensors.below.flattenings import best_flattening
from lemmax.theory.tensors.fields import Field
from lemmax.theory.tensors.pencils.lower_bounds import two_slice_bound
from lemmax.theory.tensors.transversals import TooManySets, transversal

ALL_SUBSETS = 12
_BEAM = 10
_PENCILS = 6  # how many pairs of slices are solved in search of a lower bound


@dataclass
class Subsets:
    """The gains G[S] of a tensor over subsets S of the slices of one mode, as bit masks."""

    array: Array
    mode: int
    _bases: dict[tuple[int, int], modular.Residues] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return int(self.array.shape[self.mode])

    @property
    def others(self) -> tuple[int, int]:
        a, b = (m for m in range(3) if m != self.mode)
        return a, b

    def members(self, mask: int) -> list[int]:
        return [i for i in range(self.size) if mask >> i & 1]

    def rank(self, mask: int, mode: int) -> int:
        """The flattening rank of another mode on some slices, mod a prime (it only steers)."""
        return len(self._basis(mask, mode))

    def _basis(self, mask: int, mode: int) -> modular.Residues:
        """The echelon form of the vectors of a mode that occur on some slices."""
        if (mask, mode) not in self._bases:
            first = mask & -mask
            rows = self._vectors(first.bit_length() - 1, mode)
            if mask != first:
                rows = np.vstack([self._basis(mask ^ first, mode), rows])
            rank = len(modular.reduce(rows))
            self._bases[mask, mode] = rows[:rank]
        return self._bases[mask, mode]

    def _vectors(self, q: int, mode: int) -> modular.Residues:
        """The nonzero vectors of a mode in one slice, each once."""
        part = modular.residues(flattening(np.take(self.array, [q], axis=self.mode), mode))
        return np.unique(part[:, (part != 0).any(axis=0)].T, axis=0)

    def flat(self, mask: int) -> int:
        """The best flattening rank on some slices; the slices themselves are independent."""
        return max(mask.bit_count(), *(self.rank(mask, mode) for mode in self.others))

    @cached_property
    def gains(self) -> dict[int, tuple[int, int, int]]:
        """G[S] with the mask before S and the mode that gained."""
        full = (1 << self.size) - 1
        reached = {full: (0, full, -1)}
        level = [full]
        while level:
            following: dict[int, tuple[int, int, int]] = {}
            for mask in level:
                base = reached[mask][0]
                for q in self.members(mask):
                    rest = mask & ~(1 << q)
                    if not rest:
                        continue
                    for mode in self.others:
                        gain = base + self.rank(mask, mode) - self.rank(rest, mode)
                        if rest not in following or gain > following[rest][0]:
                            following[rest] = (gain, mask, mode)
            level = list(following)
            if self.size > ALL_SUBSETS:
                level.sort(key=lambda s: -following[s][0] - self.flat(s))
                level = level[:_BEAM]
            reached |= {mask: following[mask] for mask in level}
        return reached

    def path(self, mask: int) -> OpenChain:
        """The path to a subset, steps of one gaining mode merged, gains recomputed exactly."""
        full = (1 << self.size) - 1
        subsets: list[tuple[int, list[int]]] = []
        while mask != full:
            _, before, mode = self.gains[mask]
            if not subsets or subsets[-1][0] != mode:
                subsets.append((mode, self.members(mask)))
            mask = before
        path, slices = OpenChain(self.array), list(range(self.size))
        for mode, members in reversed(subsets):
            maps: list[list[int]] = [[], [], []]
            maps[self.mode] = [slices.index(q) for q in members]
            rest = np.take(path.end, maps[self.mode], axis=self.mode)
            gain = rank_modulo(flattening(path.end, mode)) - flattening_rank(rest, mode)
            path, slices = path.then(substitution(mode, maps), gain, rest), members
        return path

    def by_flattening(self) -> tuple[int, int]:
        """The largest G[S] + flattening rank, and its S."""
        best = max(self.gains, key=lambda s: (self.gains[s][0] + self.flat(s), s.bit_count()))
        return self.gains[best][0] + self.flat(best), best

    def by_transversal(self, least: int) -> tuple[int, ChainStep] | None:
        """S and the step of the best bound above ``least`` by a path and the transversal lemma."""
        best: tuple[int, ChainStep] | None = None
        for mask, (gain, _, _) in self.gains.items():
            members = self.members(mask)
            for mode, third in (self.others, self.others[::-1]):
                whole = self.rank(mask, mode)
                alone = {
                    q: whole - (self.rank(mask & ~(1 << q), mode) if len(members) > 1 else 0)
                    for q in members
                }
                total = sum(alone.values())
                if gain + total + len(members) <= least:
                    continue
                free = [q for q in members if self.rank(1 << q, mode) > alone[q]]
                sets = [self._support(q, third) for q in free]
                try:
                    hitting = len(transversal(sets)) if sets else 0
                except TooManySets:
                    continue
                if gain + total + hitting > least:
                    least = gain + total + hitting
                    step = {
                        "lemma": "transversal",
                        "mode": mode,
                        "columns": self.mode,
                        "hitting": hitting,
                    }
                    best = mask, step
        return best

    def pairs(self, least: int) -> Iterator[int]:
        """The pairs of slices that a path reaches, the most promising first.

        A tensor with two slices has rank at most 3/2 of its larger dimension.
        """
        promising = []
        for mask, (gain, _, _) in self.gains.items():
            if mask.bit_count() == 2:
                flat = self.flat(mask)
                if gain + flat + flat // 2 > least:
                    promising.append((-gain - flat, mask))
        for _, mask in sorted(promising):
            yield mask

    def _support(self, q: int, mode: int) -> frozenset[int]:
        part = np.take(self.array, [q], axis=self.mode)
        return frozenset(np.flatnonzero((flattening(part, mode) != 0).any(axis=1)).tolist())


def transversal_value(array: Array, step: ChainStep) -> int:
    """The bound of a transversal step, with exact ranks."""
    mode, columns = step["mode"], step["columns"]
    whole = flattening_rank(array, mode)
    total = 0
    for q in range(array.shape[columns]):
        rest = np.delete(array, q, axis=columns)
        total += whole - (flattening_rank(rest, mode) if rest.size else 0)
    return total + int(step["hitting"])


def substitution_bounds(
    array: Array, upper: int, field: Field, expired: Callable[[], bool] = lambda: False
) -> tuple[LowerBound, LowerBound]:
    """The best chain that ends in a flattening, and the best of all; both stop at ``upper``.

    Only the first kind adds to any bound of the other summands of a direct sum. The paths are those
    of all modes with at most twelve slices, or of the smallest mode; they end in a flattening, in
    the transversal lemma, or in a pair of slices, a pencil.

    >>> table = np.array([[0, 1], [1, 1], [1, 0]])
    >>> D = (table[:, :, None] == np.arange(2)).astype(int)
    >>> [bound.value for bound in substitution_bounds(D, 9, "R")]
    [3, 3]
    """
    additive = best = best_flattening(array)
    if best.value == upper:
        return additive, best

    def enough() -> bool:
        return best.value == upper or expired()

    sizes = sorted(range(3), key=lambda m: (array.shape[m], m != 1))
    modes = [m for m in sizes if array.shape[m] <= ALL_SUBSETS] or sizes[:1]
    for mode in modes:
        if expired():
            break
        subsets = Subsets(array, mode)
        value, mask = subsets.by_flattening()
        if value > additive.value:
            path = subsets.path(mask)
            additive = larger(additive, path.closed(best_flattening(path.end)))
            best = larger(best, additive)
        if enough():
            break
        hit = subsets.by_transversal(best.value)
        if hit is not None:
            mask, step = hit
            path = subsets.path(mask)
            closing = LowerBound.by(step, transversal_value(path.end, step))
            best = larger(best, path.closed(closing))
        if enough():
            break
        for mask in islice(subsets.pairs(best.value), _PENCILS):
            path = subsets.path(mask)
            best = larger(best, path.closed(two_slice_bound(path.end, mode, field)))
            if enough():
                return additive, best
    return additive, best


def larger(first: LowerBound, second: LowerBound) -> LowerBound:
    """The larger of two bounds, the first of equal ones."""
    return second if second.value > first.value else first
