"""The real rank of the row-softmax of a rational matrix.

Lindemann: with q a common denominator of the logits, z = e^{1/q} is transcendental, so a minor of
the entrywise exponential vanishes iff it vanishes as a polynomial in z. In units of ln 2 the
exponentials are integers outright.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast, overload

from flint import fmpz, fmpz_mat, nmod_mat

from lemmax.theory.certificates import writing as certificates
from lemmax.theory.certificates.writing import Certificate
from lemmax.theory.errors import LemmaxError, NotExact
from lemmax.theory.latex import Typeset, between
from lemmax.theory.numbers.interval import Interval
from lemmax.theory.numbers.matrices import HasSymbols, Matrix, MatrixLike
from lemmax.theory.numbers.primes import MERSENNE_61, primes
from lemmax.theory.numbers.rank import certified_rank, pivots_modulo
from lemmax.theory.numbers.row_maps import Unit
from lemmax.theory.shown import shortened

if TYPE_CHECKING:
    from lemmax.theory.numbers.families.softmax import SoftmaxFamilyRank

_BUDGET_BITS = 40_000_000  # the largest specialised matrix that softmax_rank will eliminate


@dataclass(frozen=True)
class SoftmaxRank(Interval, Typeset):
    """Bounds for the real rank of the row-softmax of ``logits``; equal unless it cost too much.

    >>> result = softmax_rank([[0, 0], [0, 1]])
    >>> result.lower, result.upper, result.rank, result.certificate()["kind"]
    (2, 2, 2, 'softmax-rank')
    """

    logits: Matrix
    unit: Unit
    lower: int
    upper: int
    method: str

    def __repr__(self) -> str:
        return shortened(self, self._sentence())

    def certificate(self) -> Certificate:
        """A ``softmax-rank`` certificate; only an exact rank has one."""
        rank = self.known("softmax rank")
        exponents, _ = _exponents(self.logits)
        rows, columns, prime, point = _pivots_at(exponents, rank, self.unit)
        lower: dict[str, object] = {"prime": str(prime), "rows": rows, "columns": columns}
        if self.unit == "1":
            lower["point"] = str(point)
        return certificates.certificate(
            "softmax-rank",
            {
                "logits": certificates.matrix(self.logits),
                "unit": self.unit,
                "rank": rank,
                "lower": lower,
                "upper": {"method": self.method},
            },
        )

    def formula(self) -> str:
        """The rank as an equation, or the bounds as inequalities."""
        scale = r"\ln 2 \cdot " if self.unit == "ln2" else ""
        matrix = scale + self.logits.formula()
        symbol = rf"\operatorname{{rank}}\operatorname{{softmax}}\left({matrix}\right)"
        return between(self.lower, symbol, self.upper)


_POINT = 1_234_567_890_123_456_789  # any residue would do; a fixed one makes certificates stable


@overload
def softmax_rank(
    logits: HasSymbols, unit: Unit = "1", *, floats: bool = False
) -> SoftmaxFamilyRank: ...
@overload
def softmax_rank(logits: MatrixLike, unit: Unit = "1", *, floats: bool = False) -> SoftmaxRank: ...


def softmax_rank(
    logits: MatrixLike | HasSymbols, unit: Unit = "1", *, floats: bool = False
) -> SoftmaxRank | SoftmaxFamilyRank:
    r"""The real rank of the row-softmax of a rational matrix, exactly.

    Normalising a row does not change the rank, so this is the rank of the entrywise exponential
    :math:`(z^{e_{ij}})`, where the logits are :math:`e_{ij}/q` and :math:`z = e^{1/q}` is
    transcendental: the rank over :math:`\mathbb{Q}(z)`.

    *Below*, one evaluation z → z₀ ≠ 0 modulo a prime. *Above*, full rank; or the number of
    rows (columns) that differ by more than a constant; or an evaluation at one large integer:
    an (r+1)-minor is an integer polynomial in z with coefficients of size at most (r+1)!, so by
    Cauchy's bound on roots it is zero iff it vanishes at z₀ = (r+1)! + 1.

    A matrix of sympy with one free symbol, in which every logit is affine, has a rank for all but
    finitely many real values, and these: see
    :func:`~lemmax.theory.numbers.families.softmax.softmax_family_rank`.

    The last step costs an exact elimination with long integers; beyond a budget the bounds stay
    apart and ``rank`` is None.

    Examples
    --------
    >>> softmax_rank([[0, 0, 0], [0, 1, 2], [0, 2, 4]]).rank  # logits of rank 1
    3
    >>> softmax_rank([[0, 1, 2], [1, 2, 3], [0, 0, 5]]).rank  # two rows differ by a constant
    2
    >>> from sympy import Matrix, symbols
    >>> softmax_rank(symbols("c") * Matrix([[0, 1], [1, 0]]))
    SoftmaxFamilyRank(rank 2 for all c but 0 (rank 1))
    """
    if isinstance(logits, HasSymbols):
        from lemmax.theory.numbers.families.softmax import softmax_family_rank

        if logits.free_symbols:
            if unit != "1":
                raise LemmaxError("A family writes its unit itself: multiply the logits by log(2).")
            return softmax_family_rank(logits)
    matrix = Matrix(cast(MatrixLike, logits), floats=floats)
    exponents, q = _exponents(matrix)
    if unit == "ln2" and q != 1:
        raise NotExact("In units of ln 2 the logits must be integers.")
    point = 2 if unit == "ln2" else _POINT
    m, n = matrix.shape
    lower = _power_matrix(exponents, point, MERSENNE_61).rank()
    if lower == min(m, n):
        return SoftmaxRank(matrix, unit, lower, lower, "size")
    if unit == "ln2":
        powers = fmpz_mat([[fmpz(2) ** e for e in row] for row in _shifted(exponents)])
        rank = certified_rank(powers).rank
        return SoftmaxRank(matrix, unit, rank, rank, "exact")
    classes = {
        "row-classes": _classes(exponents),
        "column-classes": _classes([list(c) for c in zip(*exponents, strict=True)]),
    }
    method, upper = min(classes.items(), key=lambda item: item[1])
    if lower < upper:
        special = _rank_at_large_integer(exponents, lower)
        if special is not None:
            return SoftmaxRank(matrix, unit, special, special, "specialisation")
    return SoftmaxRank(matrix, unit, lower, upper, method)


def _exponents(matrix: Matrix) -> tuple[list[list[int]], int]:
    numerators, q = matrix.flint.numer_denom()
    return [[int(x) for x in row] for row in numerators.tolist()], int(q)


def _shifted(exponents: list[list[int]]) -> list[list[int]]:
    """Rows moved so that each one's least exponent is 0: a row scaling, so the rank is kept."""
    return [[e - min(row) for e in row] for row in exponents]


def _power_matrix(exponents: list[list[int]], point: int, prime: int) -> nmod_mat:
    powers = {e: pow(point, e, prime) for e in {e for row in exponents for e in row}}
    return nmod_mat(
        len(exponents), len(exponents[0]), [powers[e] for row in exponents for e in row], prime
    )


def _pivots_at(
    exponents: list[list[int]], rank: int, unit: Unit
) -> tuple[list[int], list[int], int, int]:
    """A minor of size ``rank`` that is nonzero at some point modulo some prime."""
    for prime, step in zip(primes(), range(1000), strict=False):
        point = 2 if unit == "ln2" else _POINT + step
        rows, columns = pivots_modulo(_power_matrix(exponents, point, prime))
        if len(rows) == rank:
            return rows, columns, prime, point
    raise AssertionError("almost every point shows the rank")


def _classes(rows: list[list[int]]) -> int:
    return len({tuple(e - row[0] for e in row) for row in rows})


def _rank_at_large_integer(exponents: list[list[int]], lower: int) -> int | None:
    """The rank over Q(z), or None where the specialised integers would exceed the budget."""
    shifted = _shifted(exponents)
    rank = lower
    while True:
        point = math.factorial(rank + 1) + 1
        bits = point.bit_length() * sum(e for row in shifted for e in row)
        if bits * min(len(shifted), len(shifted[0])) > _BUDGET_BITS:
            return None
        exact = certified_rank(fmpz_mat([[fmpz(point) ** e for e in row] for row in shifted])).rank
        if exact == rank:
            return rank
        rank = exact  # the modular point was unlucky; the integer rank is a lower bound too
