"""The exact rank of a rational matrix, bounded from both sides.

Below: elimination modulo a prime near 2^61 finds a minor that is nonzero modulo that prime, hence
nonzero. Above: the rank is full; or the matrix is small and flint's exact elimination settles it;
or every (r+1)-minor vanishes modulo so many primes that their product exceeds the Hadamard bound
of such a minor, which is therefore zero.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast, overload

from flint import fmpq_mat, fmpz_mat, nmod_mat

from lemmax.theory.certificates import writing as certificates
from lemmax.theory.certificates.writing import Certificate
from lemmax.theory.latex import Typeset
from lemmax.theory.numbers.matrices import (
    HasSymbols,
    MatrixLike,
    flint_matrix,
    integer_matrix,
)
from lemmax.theory.numbers.primes import MERSENNE_61, primes

if TYPE_CHECKING:
    from lemmax.theory.numbers.families.ranks import FamilyRank

_SMALL = 48  # below this size flint's own exact rank costs less than a handful of primes


@dataclass(frozen=True)
class RankResult(Typeset):
    """The rank of ``matrix`` and how it was bounded from above (``method``).

    ``certificate()`` makes, when it is asked for, a ``matrix-rank`` certificate: a minor that is
    nonzero modulo a prime, and an exact factorisation through dimension ``rank``.

    >>> certified_rank([[1, 2], [2, 4]]).certificate()["upper"]["method"]
    'factorisation'
    """

    matrix: fmpz_mat | fmpq_mat
    rank: int
    method: Literal["full", "elimination", "hadamard"]

    def __repr__(self) -> str:
        rows, columns = self.matrix.nrows(), self.matrix.ncols()
        return f"RankResult(rank {self.rank} of a {rows} × {columns} matrix, by {self.method})"

    def _repr_html_(self) -> str:
        return f"<p>rank {self.rank}</p>"

    def certificate(self) -> Certificate:
        """A dictionary that the independent checker accepts. Cost: one exact linear solve."""
        rows, columns, prime = pivots(integer_matrix(self.matrix), self.rank)
        m, n = self.matrix.nrows(), self.matrix.ncols()
        upper: dict[str, object] = {"method": "size"}
        if self.rank < min(m, n):
            left, right = factorisation(self.matrix, rows, columns)
            upper = {"method": "factorisation", "left": left, "right": right}
        return certificates.certificate(
            "matrix-rank",
            {
                "matrix": certificates.matrix(self.matrix),
                "rank": self.rank,
                "lower": {"prime": str(prime), "rows": rows, "columns": columns},
                "upper": upper,
            },
        )

    def to_sympy(self) -> Any:
        """The rank."""
        from sympy import Integer

        return Integer(self.rank)

    def formula(self) -> str:
        """``\\operatorname{rank}`` of the matrix as an equation."""
        from lemmax.theory.numbers.matrices import Matrix

        return rf"\operatorname{{rank}} {Matrix(self.matrix).formula()} = {self.rank}"


@overload
def certified_rank(matrix: HasSymbols, *, floats: bool = False) -> FamilyRank: ...
@overload
def certified_rank(matrix: MatrixLike, *, floats: bool = False) -> RankResult: ...


def certified_rank(
    matrix: MatrixLike | HasSymbols, *, floats: bool = False
) -> RankResult | FamilyRank:
    """The exact rank over Q (equally over R and C) of an integer or rational matrix.

    Parameters
    ----------
    matrix
        Nested sequences of integers, fractions or sympy rationals, numpy integers, a
        :class:`~lemmax.theory.numbers.matrices.Matrix` or a flint matrix.
    floats
        Read floats as the dyadic rationals that they are. Without it a float is refused.

    Notes
    -----
    Full rank costs one elimination modulo a prime, O(n³) operations on machine integers. A
    deficiency costs one such elimination for every 61 bits of the Hadamard bound of an (r+1)-minor.

    Examples
    --------
    >>> certified_rank([[1, 2, 3], [4, 5, 6], [7, 8, 9]]).rank
    2
    >>> from fractions import Fraction
    >>> hilbert = [[Fraction(1, i + j + 1) for j in range(20)] for i in range(20)]
    >>> certified_rank(hilbert).rank  # in floating point it looks like 13
    20

    A matrix of sympy whose entries are polynomials in one symbol has a rank for all but finitely
    many real values, and these:

    >>> from sympy import Matrix, symbols
    >>> certified_rank(Matrix([[symbols("c"), 1], [1, 1]]))
    FamilyRank(rank 2 for all c but 1 (rank 1))
    """
    if isinstance(matrix, HasSymbols) and matrix.free_symbols:
        from lemmax.theory.numbers.families.ranks import family_rank

        return family_rank(matrix)
    flint = flint_matrix(cast(MatrixLike, matrix), floats=floats)
    integers = flint if isinstance(flint, fmpz_mat) else flint.numer_denom()[0]
    size = min(integers.nrows(), integers.ncols())
    lower = nmod_mat(integers, MERSENNE_61).rank()
    if lower == size:
        return RankResult(flint, lower, "full")
    if size <= _SMALL:
        return RankResult(flint, integers.rank(), "elimination")
    return RankResult(flint, _rank_by_primes(integers, lower), "hadamard")


def _rank_by_primes(matrix: fmpz_mat, lower: int) -> int:
    """Raise ``lower`` until all larger minors vanish modulo enough primes to be zero."""
    rank, modulus, bound = lower, 1, minor_bound(matrix, lower + 1)
    for prime in primes():
        seen = nmod_mat(matrix, prime).rank()
        if seen == min(matrix.nrows(), matrix.ncols()):
            return seen
        if seen > rank:
            # Earlier primes saw a smaller rank: they say nothing about larger minors than theirs
            # that this prime does not say, but they do kill every minor of size seen + 1.
            rank, bound = seen, minor_bound(matrix, seen + 1)
        modulus *= prime
        if modulus > bound:
            return rank
    raise AssertionError("there are more primes than any Hadamard bound needs")


def minor_bound(matrix: fmpz_mat, size: int) -> int:
    """Hadamard: no minor of this size exceeds the product of its longest rows (or columns).

    >>> minor_bound(fmpz_mat([[3, 4], [0, 1]]), 1)  # below the root of 17
    4
    """

    def bound(gram: fmpz_mat) -> int:
        lengths = sorted((int(gram[i, i]) for i in range(gram.nrows())), reverse=True)
        return math.isqrt(math.prod(lengths[:size]))

    transpose = matrix.transpose()
    return min(bound(matrix * transpose), bound(transpose * matrix))


def pivots(matrix: fmpz_mat, rank: int) -> tuple[list[int], list[int], int]:
    """Rows and columns of a minor of size ``rank`` that is nonzero modulo the returned prime."""
    for prime in primes():
        rows, columns = pivots_modulo(nmod_mat(matrix, prime))
        if len(rows) == rank:
            return rows, columns, prime
    raise AssertionError("some prime shows the rank")


def pivots_modulo(matrix: nmod_mat) -> tuple[list[int], list[int]]:
    """Rows and columns of a largest minor that is nonzero modulo the matrix's modulus.

    >>> pivots_modulo(nmod_mat(2, 2, [0, 1, 0, 2], 7))
    ([0], [1])
    """
    echelon, rank = matrix.rref()
    columns = pivot_columns(echelon, rank)
    if not columns:
        return [], []
    transposed = matrix.transpose().tolist()
    selected = nmod_mat([transposed[j] for j in columns], matrix.modulus())
    return pivot_columns(selected.rref()[0], rank), columns


def pivot_columns(echelon: nmod_mat | fmpq_mat, rank: int) -> list[int]:
    """The pivot columns of a matrix in reduced row echelon form."""
    columns: list[int] = []
    column = 0
    for row in range(rank):
        while echelon[row, column] == 0:
            column += 1
        columns.append(column)
        column += 1
    return columns


def factorisation(
    matrix: fmpz_mat | fmpq_mat, rows: list[int], columns: list[int]
) -> tuple[list[list[str]], list[list[str]]]:
    """M = M[:, columns] · (M[rows, columns]⁻¹ M[rows, :]), as certificate matrices.

    The inner dimension is the rank, and the identity is exact because the chosen minor is nonzero.
    """
    if not rows:
        return [], []
    entries = matrix.tolist()
    left = [[row[j] for j in columns] for row in entries]
    core = fmpq_mat([[entries[i][j] for j in columns] for i in rows])
    right = core.solve(fmpq_mat([entries[i] for i in rows]))
    if fmpq_mat(left) * right != fmpq_mat(matrix):
        raise AssertionError("the rank is larger than the number of pivots")
    return certificates.matrix(fmpq_mat(left)), certificates.matrix(right)
