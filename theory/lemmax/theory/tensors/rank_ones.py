"""Matrices of rank one in the span of the slices of a mode.

Let L be the span of the slices, matrices B × C. For a given vector x the y with x⊗y ∈ L are a
linear problem. The vectors x that are tried have small entries, so what comes out are some of the
matrices of rank one in L, often all. Cost: one elimination mod a prime for each vector, about 6·10⁷
multiplications at most; then exact null spaces for the vectors that gave something.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import NamedTuple

import numpy as np
from flint import fmpq, fmpz_mat

from lemmax.theory.numbers import modular
from lemmax.theory.numbers.linear import independent
from lemmax.theory.numbers.modular import Residues
from lemmax.theory.numbers.primes import MERSENNE_31
from lemmax.theory.tensors.arrays import Array
from lemmax.theory.tensors.small_vectors import SmallVector, small_vectors

_VECTORS = 1_500  # vectors x that are tried
WORK = 60_000_000  # about as many multiplications per search
_STACK = 4_000_000  # entries of a stack of matrices


class Direction(NamedTuple):
    """A vector x to which some y gives a matrix x⊗y of rank one; swapped, y⊗x."""

    vector: SmallVector
    swapped: bool


class RankOne(NamedTuple):
    """A matrix x⊗y in the span of the slices: the sum of their multiples by integers."""

    multiples: list[int]
    x: list[fmpq]
    y: list[fmpq]

    def entries(self) -> list[fmpq]:
        """The matrix, written out."""
        return [x_i * y_j for x_i in self.x for y_j in self.y]

    def transposed(self) -> RankOne:
        return RankOne(self.multiples, self.y, self.x)


def rank_ones(array: Array, mode: int) -> list[RankOne]:
    """Independent matrices of rank one in the span of independent slices, as many as are met.

    ``x`` is of the first of the other modes, ``y`` of the second.

    >>> import numpy as np
    >>> table = np.array([[0, 1], [1, 2]])
    >>> D = (table[:, :, None] == np.arange(3)).astype(int)
    >>> len(rank_ones(D, 2))  # the first value, the last, and the sum of all three
    3
    """
    X, flipped = _matrices(array, mode)
    a, b, c = X.shape
    _, _, used = _searched(X)
    ones = exact_rank_ones(X.reshape(a, b * c).tolist(), b, c, used)
    chosen = independent([one.entries() for one in ones])
    return [ones[i].transposed() if flipped else ones[i] for i in chosen]


def coordinates(array: Array, mode: int) -> Residues:
    """The same matrices, one per row, as combinations of the slices mod the prime.

    >>> import numpy as np
    >>> table = np.array([[0, 1], [1, 2]])
    >>> D = (table[:, :, None] == np.arange(3)).astype(int)
    >>> coordinates(D, 2).shape
    (3, 3)
    """
    X, _ = _matrices(array, mode)
    L, span, _ = _searched(X)
    system = np.hstack([L[:, span.columns].T, span.rows.T])
    modular.reduce(system)
    return system[: len(L), len(L) :].T.copy()


def _matrices(array: Array, mode: int) -> tuple[Array, bool]:
    """The slices of a mode as matrices that are not tall, and whether they were transposed."""
    first, second = (m for m in range(3) if m != mode)
    flipped = array.shape[first] > array.shape[second]
    return np.transpose(array, (mode, second, first) if flipped else (mode, first, second)), flipped


def _searched(X: Array) -> tuple[Residues, Span, list[Direction]]:
    """The slices mod the prime, the span of the matrices of rank one, and the vectors it needs."""
    a, b, c = X.shape
    L = modular.residues(X.reshape(a, b * c))
    span = Span(modular.reduce(L.copy()))
    used = add_rank_ones(L, b, c, small_vectors(c, c + 1), span, swapped=True)
    used += add_rank_ones(L, b, c, small_vectors(b, count_worth_trying(b, c)), span)
    return L, span, used


def count_worth_trying(b: int, c: int) -> int:
    """How many vectors x of size b are worth trying."""
    return min(_VECTORS, max(b + 1, WORK // c**3))


def exact_rank_ones(L: list[list[int]], b: int, c: int, used: list[Direction]) -> list[RankOne]:
    """The x⊗y in a span of integer matrices, over Q, for given vectors x (or y, if swapped)."""
    ones: list[RankOne] = []
    for x, swapped in used:
        # (multiples, y) with Σ multiples · L = x⊗y
        units = np.eye(b if swapped else c, dtype=int)
        products = [np.outer(unit, x) if swapped else np.outer(x, unit) for unit in units]
        system = fmpz_mat([*L, *(matrix.ravel().tolist() for matrix in products)]).transpose()
        basis, nullity = system.nullspace()
        for column in basis.transpose().tolist()[: int(nullity)]:
            y = [-fmpq(entry) for entry in column[len(L) :]]
            one = RankOne([int(entry) for entry in column[: len(L)]], list(map(fmpq, x)), y)
            ones.append(one.transposed() if swapped else one)
    return ones


def contracted(forms: Residues, x: Residues) -> Residues:
    """The equations of {y : x⊗y ∈ L} for every row of x, from those of L (equations, b, c)."""
    contractions: Residues = np.einsum("xb,ebc->xec", x, forms) % MERSENNE_31
    return contractions


def equations(L: Residues, rows: int) -> Residues:
    """Equations of L; where they are many, random combinations, enough for what they decide."""
    forms = modular.null_space(L)
    if len(forms) > rows:
        mix = np.random.default_rng(0).integers(1, MERSENNE_31, (rows, len(forms)))
        forms = modular.multiply(mix, forms)
    return forms


def add_rank_ones(
    L: Residues, b: int, c: int, vectors: list[SmallVector], span: Span, swapped: bool = False
) -> list[Direction]:
    """Add the x⊗y in L to a span, and return the x that it needs; swapped, x is of the mode C."""
    if swapped:
        L = L.reshape(-1, b, c).transpose(0, 2, 1).reshape(-1, b * c)
        b, c = c, b
    forms = equations(L, c + 2).reshape(-1, b, c)
    used: list[Direction] = []
    for part in _blocks(vectors, max(1, len(forms)) * c):
        stack = contracted(forms, np.array(part))
        for n in np.flatnonzero(c - modular.ranks(stack)):
            if span.rank == len(L):
                return used
            ys = modular.null_space(stack[n])
            new = np.einsum("b,yc->ycb" if swapped else "b,yc->ybc", np.array(part[n]), ys)
            if span.grow(new.reshape(len(ys), -1)):
                used.append(Direction(part[n], swapped))
    return used


class Span:
    """A growing subspace of L, in the coordinates that determine the elements of L."""

    def __init__(self, columns: Residues) -> None:
        self.columns = columns
        self.rows = np.zeros((0, len(columns)), dtype=np.int64)

    @property
    def rank(self) -> int:
        return len(self.rows)

    def grow(self, rows: Residues) -> bool:
        """Add elements of L; whether the span became larger."""
        rows = np.vstack([self.rows, modular.residues(rows[:, self.columns])])
        pivots = modular.reduce(rows)
        larger = len(pivots) > self.rank
        self.rows = rows[: len(pivots)]
        return larger

    def contains(self, row: Residues) -> bool:
        return not Span.grow(copy(self), row[None])


def _blocks(vectors: list[SmallVector], size: int) -> Iterator[list[SmallVector]]:
    step = max(1, _STACK // size)
    for start in range(0, len(vectors), step):
        yield vectors[start : start + step]
