"""The structure of a pencil: made square and regular, with its elementary divisors.

Cost: ranks of sA + tB at min(m, n) + 1 integers, one characteristic polynomial of size m + n - ρ
and its factors over Q, all exact.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from flint import fmpq, fmpq_mat, fmpq_poly, fmpz_mat

from lemmax.theory.numbers.linear import (
    Columns,
    evaluate,
    independent,
    left_null_space,
    rank,
    real_roots,
)
from lemmax.theory.tensors.arrays import Array
from lemmax.theory.tensors.fields import Field


@dataclass(frozen=True)
class Divisor:
    """An irreducible factor f of the characteristic polynomial, with its Jordan structure.

    ``blocks`` counts the elementary divisors f^e and ``defective`` those with e ≥ 2.
    """

    factor: fmpq_poly
    multiplicity: int
    blocks: int
    defective: int

    def splits(self, field: Field) -> bool:
        """Whether all roots of the factor lie in the field."""
        degree = self.factor.degree()
        return degree == 1 or field == "C" or (field == "R" and real_roots(self.factor) == degree)

    def excess(self, field: Field) -> int:
        """The number of elementary divisors that no diagonal pencil over the field has."""
        return self.defective if self.splits(field) else self.blocks


def points() -> Iterator[int]:
    """0, 1, -1, 2, -2, ..."""
    yield 0
    for n in itertools.count(1):
        yield n
        yield -n


def normal_rank(A: fmpq_mat, B: fmpq_mat) -> int:
    """The rank of A + xB over Q(x): the largest rank at min(m, n) + 1 points."""
    most = min(A.nrows(), A.ncols())
    largest = 0
    for x in islice(points(), most + 1):
        largest = max(largest, rank(A + B * fmpq(x)))
        if largest == most:
            break
    return largest


def square(A: fmpq_mat, B: fmpq_mat) -> tuple[fmpq_mat, fmpq_mat]:
    """A square regular pencil with sA + tB in its upper left corner, of size m + n - ρ.

    Its elementary divisors are those of sA + tB and linear ones, with rational roots.
    """
    normal = normal_rank(A, B)
    A, B = _add_columns(A, B, normal)
    A, B = _add_columns(A.transpose(), B.transpose(), A.nrows())
    return A.transpose(), B.transpose()


def _add_columns(A: fmpq_mat, B: fmpq_mat, normal: int) -> tuple[fmpq_mat, fmpq_mat]:
    """Add m - ρ columns, so that the rank over Q(x) becomes m.

    Left null vectors y_j at points μ_j, as many as are independent, satisfy
    y_jᵀ(sA + tB) = (t - μ_j s) y_jᵀB. With dual vectors z_j the new columns
    Σ_j (t - μ_j s) z_j κ_jᵀ keep these null vectors, if the rows (y_jᵀB, κ_j) are independent.
    """
    m = A.nrows()
    missing = m - normal
    if not missing:
        return A, B
    rows: Columns = []
    roots: list[int] = []
    for x in points():
        there = A + B * fmpq(x)
        if rank(there) < normal:
            continue
        more = rows + left_null_space(there)
        chosen = independent(more)
        if len(chosen) == len(rows):
            break
        roots += [x] * (len(chosen) - len(rows))
        rows = [more[i] for i in chosen]
    Y = fmpq_mat(rows)
    q = len(rows)
    places = independent(Y.transpose().tolist())
    inverse = fmpq_mat([[row[j] for j in places] for row in rows]).inv().tolist()
    dual = [[fmpq(0)] * q for _ in range(m)]
    for place, row in zip(places, inverse, strict=True):
        dual[place] = row
    spanned = set(independent((Y * B).tolist()))
    free = [j for j in range(q) if j not in spanned]
    shift = fmpq_mat([[int(i == j) for i in free] for j in range(q)])
    scaled = fmpq_mat([[-roots[j] * int(i == j) for i in free] for j in range(q)])
    Z = fmpq_mat(dual)
    return _beside(A, Z * scaled), _beside(B, Z * shift)


def _beside(left: fmpq_mat, right: fmpq_mat) -> fmpq_mat:
    return fmpq_mat([x + y for x, y in zip(left.tolist(), right.tolist(), strict=True)])


def divisors(M: fmpq_mat) -> list[Divisor]:
    """The irreducible factors of the characteristic polynomial and their Jordan blocks."""
    n = M.nrows()
    structure = []
    for factor, multiplicity in M.charpoly().factor()[1]:
        factor = factor / factor[factor.degree()]
        degree, multiplicity = factor.degree(), int(multiplicity)
        if multiplicity == 1:
            structure.append(Divisor(factor, 1, 1, 0))
            continue
        value = evaluate(factor, M)
        nullity = n - rank(value)
        second = nullity if nullity == degree * multiplicity else n - rank(value * value)
        structure.append(
            Divisor(factor, multiplicity, nullity // degree, (second - nullity) // degree)
        )
    return structure


@dataclass(frozen=True)
class Pencil:
    """A concise pencil sA + tB, made square and regular: A + τB is invertible.

    ``matrix`` is (A' + τB')⁻¹B' for the enlarged pencil A', B'.
    """

    rows: int
    columns: int
    corner: fmpq_mat
    shift: int
    matrix: fmpq_mat
    divisors: tuple[Divisor, ...]

    def excess(self, field: Field) -> int:
        """δ_F."""
        return max((d.excess(field) for d in self.divisors), default=0)

    def rank(self, field: Field) -> int:
        """The rank of the pencil, m + n - ρ + δ_F."""
        return int(self.matrix.nrows()) + self.excess(field)


def pencil(A: Array, B: Array) -> Pencil:
    """The structure of a pencil of integer matrices, both of whose other modes are concise.

    >>> import numpy as np
    >>> shift = np.roll(np.eye(3, dtype=int), 1, axis=1)
    >>> [pencil(np.eye(3, dtype=int), shift).rank(field) for field in ("Q", "R", "C")]
    [4, 4, 3]
    """
    first, second = square(fmpq_mat(fmpz_mat(A.tolist())), fmpq_mat(fmpz_mat(B.tolist())))
    for shift in points():
        corner = first + second * fmpq(shift)
        if corner.det():
            matrix = corner.solve(second)
            return Pencil(A.shape[0], A.shape[1], corner, shift, matrix, tuple(divisors(matrix)))
    raise AssertionError("a regular pencil is invertible at some integer")
