"""Which tensors are multiplication tables: algebras with unit, up to a change of three bases.

If T is n × n × n and contracting it with α in the first mode, with β in the second, gives regular
matrices L and R, then x∘y = T(x R⁻¹, y L⁻¹) is a product with the unit T(α, β). If T is the table
of some associative algebra with unit, in whatever bases, this product is associative too, and the
two algebras are isomorphic (Albert).
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat

from lemmax.theory.tensors.arrays import Array, mapped, rank_modulo
from lemmax.theory.tensors.decompositions import Decomposition, Vector

_LARGEST = 40  # dimension
_ENTRIES = 2**40  # of the largest structure constants
_TRIES = 6


@dataclass(frozen=True)
class Algebra:
    """Structure constants e_i e_j = Σ_k constants[i, j, k] e_k, and the unit.

    >>> table = unital(np.eye(3, dtype=int)[[[0, 1, 2], [1, 2, 0], [2, 0, 1]]]).algebra
    >>> table.dimension, table.unit
    (3, (1, 0, 0))
    """

    constants: Array
    unit: Vector

    @property
    def dimension(self) -> int:
        """The dimension of the algebra."""
        return int(self.constants.shape[0])

    @cached_property
    def left(self) -> list[fmpq_mat]:
        """For each i the matrix of x ↦ e_i x, acting on rows of coordinates from the right."""
        return [fmpq_mat(fmpz_mat(part.tolist())) for part in self.constants]

    def by_left(self, x: Vector) -> fmpq_mat:
        """The matrix of y ↦ x y, acting on rows of coordinates from the right."""
        n = self.dimension
        return sum((m * c for m, c in zip(self.left, x, strict=True) if c), fmpq_mat(n, n))

    def times(self, x: Vector, y: Vector) -> Vector:
        """The product x y."""
        return tuple((fmpq_mat([list(y)]) * self.by_left(x)).tolist()[0])

    def basis(self, i: int) -> Vector:
        """The basis element e_i."""
        return tuple(fmpq(int(i == j)) for j in range(self.dimension))

    def is_commutative(self) -> bool:
        """Whether x y = y x for all x and y."""
        return bool((self.constants == self.constants.transpose(1, 0, 2)).all())


@dataclass(frozen=True)
class Table:
    """An algebra, and the integer matrices that turn the first two modes of a tensor into it.

    Without matrices the tensor itself is the algebra.
    """

    algebra: Algebra
    first: list[list[int]]
    second: list[list[int]]

    def undone(self, terms: Decomposition) -> Decomposition:
        """Terms of the tensor from terms of the algebra."""
        for mode, rows in enumerate((self.first, self.second)):
            if rows:
                terms = terms.mapped(mode, fmpq_mat(fmpz_mat(rows)).inv().tolist())
        return terms


def unital(array: Array) -> Table | None:
    """The tensor as an associative algebra with unit, up to a change of bases, or None.

    Cost: a rank and an inverse for each of the two modes, and n⁵ multiplications for the law.
    """
    n = int(array.shape[0])
    if array.shape != (n, n, n) or n > _LARGEST or array.dtype == object:
        return None
    own = _with_unit(array)
    if own is not None:
        return Table(own, [], []) if _is_associative(array) else None
    L, R = _regular(array, 0), _regular(array, 1)
    if L is None or R is None:
        return None
    first, second = _inverse(R), _inverse(L)
    isotope = mapped(mapped(array.astype(object), 0, first), 1, second)
    if max(abs(x) for x in isotope.flat) >= _ENTRIES:
        return None
    isotope = isotope.astype(np.int64)
    algebra = _with_unit(isotope)
    if algebra is None or not _is_associative(isotope):
        return None
    return Table(algebra, first, second)


def _with_unit(array: Array) -> Algebra | None:
    """The algebra, which need not be associative, if it has a unit."""
    n = int(array.shape[0])
    rows = np.vstack([array.reshape(n, -1).T, array.transpose(1, 0, 2).reshape(n, -1).T])
    goal = np.concatenate([np.eye(n, dtype=int).ravel()] * 2)
    echelon, size = fmpq_mat(fmpz_mat(np.column_stack([rows, goal]).tolist())).rref()
    if size != n or any(echelon[i, i] != 1 for i in range(n)):
        return None
    return Algebra(array, tuple(echelon[i, n] for i in range(n)))


def _is_associative(array: Array) -> bool:
    small = int(np.abs(array).max()) ** 2 * array.shape[0] < 2**62
    T = array if small else array.astype(object)
    n = len(T)
    flat, wide = T.reshape(n * n, n), T.reshape(n, n * n)
    left = (flat @ wide).reshape(n, n, n, n)  # (e_i e_j) e_k
    right = np.tensordot(T, T, axes=([2], [1])).transpose(2, 0, 1, 3)  # e_i (e_j e_k)
    return bool((left == right).all())


def _regular(array: Array, mode: int) -> Array | None:
    """A regular combination of slices of a mode, single slices first."""
    T = np.moveaxis(array, mode, 0)
    for weights in _weights(len(T)):
        matrix = np.tensordot(weights, T, axes=1)
        if np.abs(matrix).max() < 2**31 and rank_modulo(matrix) == len(T):
            return matrix
    return None


def _weights(n: int) -> Iterator[Array]:
    yield from np.eye(n, dtype=np.int64)
    yield np.ones(n, dtype=np.int64)
    generator = random.Random(0)
    for size in range(1, _TRIES + 1):
        yield np.array([generator.randint(-size, size) for _ in range(n)])


def _inverse(matrix: Array) -> list[list[int]]:
    """The smallest integer multiple of the inverse."""
    numerators, _ = fmpq_mat(fmpz_mat(matrix.tolist())).inv().numer_denom()
    return [[int(x) for x in row] for row in numerators.tolist()]
