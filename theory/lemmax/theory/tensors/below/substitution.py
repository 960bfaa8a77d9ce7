"""Substitution with restriction, over the subsets of the slices of one mode.

For a tensor T and its restriction T| to some slices q of one mode, and any other mode A,

    R(T) ≥ r_A(T) - r_A(T|) + R(T|).

Dropping slices one by one, each by the mode that gains most, is a longest path among the subsets:
G[S] is the largest sum of gains on the way from all slices to S, and every lower bound of the
tensor on S closes the path. With at most twelve slices all subsets are visited, with more a beam.
The rank on S comes from the echelon form on S without its first slice, extended by that slice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from lemmax.theory.numbers import modular
from lemmax.theory.tensors.arrays import Array, flattening, flattening_rank, rank_modulo
from lemmax.theory.tensors.below.chains import PRIME, LowerBound
from lemmax.theory.tensors.transversals import TooManySets, transversal

ALL_SUBSETS = 12
_BEAM = 10


@dataclass(frozen=True)
class Path:
    """Subsets of the slices of ``mode``, each inside the one before, and the modes that gain.

    ``steps`` holds (gaining mode, slices kept). ``gain`` is exact: what is subtracted is a rank
    over Q.
    """

    mode: int
    steps: tuple[tuple[int, tuple[int, ...]], ...] = ()
    gain: int = 0

    def kept(self, array: Array) -> tuple[int, ...]:
        """The slices that are left at the end."""
        return self.steps[-1][1] if self.steps else tuple(range(array.shape[self.mode]))

    def end(self, array: Array) -> Array:
        """The tensor that is left at the end."""
        return np.take(array, self.kept(array), axis=self.mode)


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
        found = {full: (0, full, -1)}
        level = [full]
        while level:
            following: dict[int, tuple[int, int, int]] = {}
            for mask in level:
                base = found[mask][0]
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
            found |= {mask: following[mask] for mask in level}
        return found

    def path(self, mask: int) -> Path:
        """The path to a subset, steps of one gaining mode merged, gains recomputed exactly."""
        full = (1 << self.size) - 1
        steps: list[tuple[int, tuple[int, ...]]] = []
        while mask != full:
            _, before, mode = self.gains[mask]
            if not steps or steps[-1][0] != mode:
                steps.append((mode, tuple(self.members(mask))))
            mask = before
        steps.reverse()
        total, array, kept = 0, self.array, list(range(self.size))
        for mode, members in steps:
            rest = np.take(array, [kept.index(q) for q in members], axis=self.mode)
            total += rank_modulo(flattening(array, mode)) - flattening_rank(rest, mode)
            array, kept = rest, list(members)
        return Path(self.mode, tuple(steps), total)

    def by_flattening(self) -> tuple[int, int]:
        """The largest G[S] + flattening rank, and its S."""
        best = max(self.gains, key=lambda s: (self.gains[s][0] + self.flat(s), s.bit_count()))
        return self.gains[best][0] + self.flat(best), best

    def by_transversal(self, least: int) -> tuple[int, int, dict[str, Any]] | None:
        """A bound above ``least`` by a path and the transversal lemma: value, S and the step."""
        best: tuple[int, int, dict[str, Any]] | None = None
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
                    best = least, mask, step
        return best

    def pairs(self, least: int) -> Iterator[int]:
        """The pairs of slices that a path reaches, the most promising first.

        A tensor with two slices has rank at most 3/2 of its larger dimension.
        """
        found = []
        for mask, (gain, _, _) in self.gains.items():
            if mask.bit_count() == 2:
                flat = self.flat(mask)
                if gain + flat + flat // 2 > least:
                    found.append((-gain - flat, mask))
        for _, mask in sorted(found):
            yield mask

    def _support(self, q: int, mode: int) -> frozenset[int]:
        part = np.take(self.array, [q], axis=self.mode)
        return frozenset(np.flatnonzero((flattening(part, mode) != 0).any(axis=1)).tolist())


def flattening_leaf(array: Array) -> LowerBound:
    """The best flattening bound."""
    mode = max(range(3), key=lambda m: rank_modulo(flattening(array, m)))
    value = rank_modulo(flattening(array, mode))
    return LowerBound(value, ({"lemma": "flattening", "mode": mode, "prime": PRIME},))
