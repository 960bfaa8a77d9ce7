r"""The rank of softmax of logits that are affine in one real parameter c.

Row by row softmax is a scaling of the entrywise exponential. With slopes in \(\mathbb Z/q\) and
constants that are rational, in \(\mathbb Z/p\), plus logarithms of rationals, every entry is a
positive rational times a monomial in \(t=e^{c/q}\) and \(z=e^{1/p}\). Without rational constants an
exception is q times the logarithm of a positive algebraic number, so by Lindemann no rational
c other than 0 is one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import fmpz_mpoly_ctx

from lemmax.theory.certificates.writing import Certificate
from lemmax.theory.errors import LemmaxError, NotExact
from lemmax.theory.numbers.families.elimination import Rows
from lemmax.theory.numbers.families.ranks import FamilyRank, only_symbol, with_exceptions
from lemmax.theory.numbers.matrices import Matrix


@dataclass(frozen=True, repr=False)
class SoftmaxFamilyRank(FamilyRank):
    """The rank of softmax(``matrix``) for all real values of ``symbol`` but the ``exceptions``.

    >>> from sympy import Matrix, symbols
    >>> result = softmax_family_rank(symbols("c") * Matrix([[0, 1, 2], [0, 2, 4]]))
    >>> result.rank, result.at("1/2"), result.certificate()["kind"]
    (2, 2, 'softmax-rank')
    """

    def at(self, value: Any) -> int:
        """The rank at a rational value, computed there; needs constants without logarithms."""
        from lemmax.theory.numbers.softmax_rank import softmax_rank

        return softmax_rank(Matrix(self.specialised(value))).known("softmax rank")

    def certificate(self) -> Certificate:
        """A ``softmax-rank`` certificate at an integer that is no exception."""
        from lemmax.theory.numbers.softmax_rank import softmax_rank

        return softmax_rank(Matrix(self.specialised(self.ordinary()))).certificate()

    def _name(self) -> str:
        from sympy import latex

        return rf"\operatorname{{rank}}\operatorname{{softmax}} {latex(self.matrix)}"


def softmax_family_rank(logits: Any) -> SoftmaxFamilyRank:
    """The rank of the row-softmax of a family of logits, and the values of c where it is smaller.

    Every entry is m·c + b, with m rational and b a rational number plus integer multiples of
    logarithms of rationals; else it is refused. Cost: as for
    :func:`~lemmax.theory.numbers.families.ranks.family_rank`, with minors in t and z.

    Examples
    --------
    >>> from sympy import Matrix, log, symbols
    >>> c = symbols("c", real=True)
    >>> softmax_family_rank(c * Matrix([[0, 1], [1, 0]]))
    SoftmaxFamilyRank(rank 2 for all c but 0 (rank 1))
    >>> softmax_family_rank(Matrix([[0, c], [0, log(3)]])).exceptions
    (Exceptional(log(3) (rank 1)),)
    >>> softmax_family_rank(Matrix([[0, c], [1, 0]])).exceptions
    (Exceptional(-1 (rank 1)),)
    """
    from sympy import ImmutableMatrix

    family = ImmutableMatrix(logits)
    symbol = only_symbol(family)
    rows, q, p = monomial_rows(family, symbol)
    rank, exceptions = with_exceptions(rows, q, p)
    return SoftmaxFamilyRank(family, symbol, rank, exceptions)


def monomial_rows(family: Any, symbol: Any) -> tuple[Rows, int, int]:
    """The exponentials as monomials in t = e^{c/q} and z = e^{1/p}, and q and p.

    Each row is scaled by a monomial and a number, so that exponents are not negative.
    """
    parts = [[_affine(x, symbol) for x in family.row(i)] for i in range(family.rows)]
    if not parts or not parts[0]:
        raise LemmaxError("A matrix needs at least one row and one column.")
    q = math.lcm(*(m.denominator for row in parts for m, _, _ in row))
    p = math.lcm(*(b.denominator for row in parts for _, b, _ in row))
    ring = fmpz_mpoly_ctx.get(["t", "z"])
    rows = []
    for row in parts:
        powers = [(int(m * q), int(b * p)) for m, b, _ in row]
        least = [min(pair[k] for pair in powers) for k in (0, 1)]
        common = math.lcm(*(w.denominator for _, _, w in row))
        rows.append(
            [
                ring.from_dict({(i - least[0], k - least[1]): int(w * common)})
                for (i, k), (_, _, w) in zip(powers, row, strict=True)
            ]
        )
    return rows, q, p


def _affine(entry: Any, symbol: Any) -> tuple[Fraction, Fraction, Fraction]:
    """m, b and w with entry = m·c + b + ln w, all rational and w positive."""
    from sympy import Poly, PolynomialError, expand_log, log

    try:
        polynomial = Poly(expand_log(entry), symbol)
    except PolynomialError:
        polynomial = None
    if polynomial is None or polynomial.degree() > 1:
        raise NotExact(f"{entry} is not affine in {symbol}.")
    slope, constant = polynomial.coeff_monomial(symbol), polynomial.coeff_monomial(1)
    offset, weight = Fraction(0), Fraction(1)
    for term in constant.as_ordered_terms() if constant != 0 else ():
        times, rest = term.as_coeff_Mul()
        inside: Any = rest.args[0] if isinstance(rest, log) else None
        if rest == 1 and times.is_Rational:
            offset += Fraction(int(times.p), int(times.q))
        elif inside is not None and times.is_Integer and inside.is_Rational:
            weight *= Fraction(int(inside.p), int(inside.q)) ** int(times)
        else:
            raise NotExact(f"{term} is neither rational nor a multiple of ln of a rational.")
    if not slope.is_Rational:
        raise NotExact(f"The slope {slope} is not rational.")
    return Fraction(int(slope.p), int(slope.q)), offset, weight
