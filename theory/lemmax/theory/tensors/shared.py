"""Slices of rank one that every decomposition may share, after a change of basis.

If some combinations of the slices of a mode are independent and of rank one, then a decomposition
of least length exists that has them among its terms, up to what they contribute to the other
slices (Alexeev, Forbes and Tsimerman 2011). A search that begins with them has less to find.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat
from numpy.typing import NDArray

from lemmax.theory.tensors.arrays import Array, flattening, matrix_rank
from lemmax.theory.tensors.decompositions import rank_factorisation
from lemmax.theory.tensors.linear import independent, left_kernel

Rows: TypeAlias = tuple[tuple[int, ...], ...]
"""An integer matrix."""


def identity(n: int) -> Rows:
    """The unit matrix."""
    return tuple(tuple(int(i == j) for j in range(n)) for i in range(n))


def mapped(array: Array, mode: int, rows: Rows) -> Array:
    """The tensor with an integer matrix applied to one mode."""
    product = np.tensordot(np.array(rows, dtype=object), array.astype(object), (1, mode))
    return np.moveaxis(product, 0, mode)


@dataclass(frozen=True)
class Pattern:
    """Entries of the factors that are given, by place; the others are free."""

    given: dict[int, fmpq]

    def free(self, size: int) -> NDArray[np.bool_]:
        """A flag for each entry: whether it is not given."""
        flags = np.ones(size, dtype=bool)
        flags[list(self.given)] = False
        return flags


def rank_ones(array: Array, mode: int) -> list[list[fmpq]]:
    """Integer vectors y for which the combination Σ y_i T_i of the slices has rank one.

    The slices themselves, their sum, and combinations that vanish outside one index of another
    mode: in a database the sum of the values is its domain, and of two keys that differ in one
    query only, the difference has rank one.
    """
    n = array.shape[mode]
    found = [[fmpq(int(i == j)) for j in range(n)] for i in range(n)]
    found.append([fmpq(1)] * n)
    found = [y for y in found if matrix_rank(_combined(array, mode, y)) == 1]
    for other in range(3):
        if other != mode:
            for q in range(array.shape[other]):
                rest = flattening(np.delete(array, q, axis=other), mode)
                found.extend(left_kernel(fmpq_mat(fmpz_mat(rest.tolist()))))
    return found


def _combined(array: Array, mode: int, y: Sequence[fmpq]) -> Array:
    return mapped(array, mode, (tuple(int(x.p) for x in y),)).squeeze(mode)


@dataclass(frozen=True)
class Shared:
    """A basis of the slices of one mode whose first ones have rank one, and are shared."""

    mode: int
    rows: Rows
    count: int

    @classmethod
    def of(cls, array: Array, mode: int) -> Shared:
        n = array.shape[mode]
        found = rank_ones(array, mode)
        units = [[fmpq(int(i == j)) for j in range(n)] for i in range(n)]
        chosen = independent([*found, *units])
        rows = tuple(tuple(int(x.p) for x in (*found, *units)[i]) for i in chosen)
        return cls(mode, rows, sum(i < len(found) for i in chosen))

    def pattern(self, array: Array, terms: int) -> Pattern:
        """The given entries of a decomposition of the mapped tensor with the shared slices.

        A slice M of rank one in place i is the term e_i⊗M, which may also contribute to the slices
        that are not shared; the other terms contribute to the latter only. Nothing is lost: some
        decomposition of least length looks like this (Alexeev, Forbes and Tsimerman 2011).
        """
        first = np.cumsum([0, *array.shape]).tolist()
        given = {
            (first[self.mode] + i) * terms + r: fmpq(int(r == i))
            for i in range(self.count)
            for r in range(terms)
        }
        for r in range(self.count):
            parts = rank_factorisation(np.take(array, r, axis=self.mode))
            others = [m for m in range(3) if m != self.mode]
            for other, (vector,) in zip(others, parts, strict=True):
                for row, x in enumerate(vector):
                    given[(first[other] + row) * terms + r] = x
        return Pattern(given)
