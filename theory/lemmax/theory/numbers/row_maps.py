r"""argmax, softmax and softmax_{≥τ} of a rational matrix, decided exactly.

Every softmax here is row-wise, over logits that are rational multiples of a unit: 1, or ln 2
(then exponentials of integers are powers of two and everything is rational). Lindemann:
exponentials of distinct rationals are linearly independent over Q, so a relation between them is
decided by collecting equal exponents.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from flint import arb, arb_mat, ctx, fmpq

from lemmax.theory.errors import LemmaxError
from lemmax.theory.numbers.balls import sign
from lemmax.theory.numbers.matrices import Matrix, MatrixLike, fraction, rational

Unit: TypeAlias = Literal["1", "ln2"]


def argmax(matrix: MatrixLike) -> Matrix:
    """Row-wise argmax with every tie marked (Wong, equation 11).

    Cost: one comparison per entry.

    >>> argmax([[0, 1, 1], [2, 0, 1]])
    Matrix([['0', '1', '1'], ['1', '0', '0']])
    """
    rows = Matrix(matrix).flint.tolist()
    tops = [max(row) for row in rows]
    return Matrix(
        [[int(entry == top) for entry in row] for row, top in zip(rows, tops, strict=True)]
    )


def softmax(matrix: MatrixLike, precision: int = 128, unit: Unit = "1") -> arb_mat:
    """The row-wise softmax (Wong, equation 12) as balls that enclose the true values.

    Cost: one exponential of ``precision`` bits per entry.

    >>> softmax([[0, 0]])[0, 1]
    0.500000000000000
    """
    with ctx.workprec(precision):
        scale = arb.const_log2() if unit == "ln2" else arb(1)
        rows = []
        for row in Matrix(matrix).flint.tolist():
            top = max(row)  # subtracting it keeps every exponential in [0, 1]
            weights = [(scale * arb(x - top)).exp() for x in row]
            total = sum(weights, arb(0))
            rows.append([w / total for w in weights])
        return arb_mat(rows)


def softmax_threshold(matrix: MatrixLike, tau: Any, unit: Unit = "1") -> Matrix:
    r"""softmax_{≥τ}: 1 where the softmax probability is at least τ (Wong, equation 13).

    The comparison \(\sum_k e^{M_{ik}-M_{ij}} \le 1/\tau\) is exact, equality included: it can
    hold with equality only if every exponent that occurs is 0 (Lindemann), or, in units of ln 2
    with integer logits, as an equation between rationals. Cost: one exponential per entry, at a
    precision that is doubled until every comparison is decided.

    >>> softmax_threshold([[0, 0], [1, 0]], "1/2")
    Matrix([['1', '1'], ['1', '0']])
    """
    threshold = rational(tau)
    if not 0 < threshold <= 1:
        raise LemmaxError(f"The threshold must lie in (0, 1], not {threshold}.")
    rows = Matrix(matrix).flint.tolist()
    return Matrix([[int(_reaches(row, entry, threshold, unit)) for entry in row] for row in rows])


def _reaches(row: list[fmpq], entry: fmpq, tau: fmpq, unit: Unit) -> bool:
    exponents = Counter(fraction(x - entry) for x in row)
    return (
        sign_of_exponential_sum(
            [(count, exponent) for exponent, count in exponents.items()], -1 / tau, unit
        )
        <= 0
    )


def sign_of_exponential_sum(
    terms: list[tuple[int, Fraction]], constant: fmpq, unit: Unit = "1"
) -> int:
    """The sign of constant + Σ c·e^{x} over the terms (c, x), x in the given unit; always exact.

    >>> sign_of_exponential_sum([(1, Fraction(1))], fmpq(-2718, 1000))
    1
    >>> sign_of_exponential_sum([(3, Fraction(0))], fmpq(-3))
    0
    """
    collected: dict[Fraction, fmpq] = {Fraction(0): fmpq(constant)}
    for multiplicity, exponent in terms:
        collected[exponent] = collected.get(exponent, fmpq(0)) + multiplicity
    if unit == "ln2":
        # 2^x for integer x is rational; for x = a/b the powers 2^{j/b}, 0 <= j < b, are linearly
        # independent over Q, so the fractional part of the exponent is what must be collected.
        whole: dict[Fraction, fmpq] = {}
        for exponent, coefficient in collected.items():
            floor = math.floor(exponent)
            part = exponent - floor
            whole[part] = whole.get(part, fmpq(0)) + coefficient * fmpq(2) ** floor
        collected = whole
    alive = {x: c for x, c in collected.items() if c != 0}
    if not alive:
        return 0

    def total() -> arb:
        scale = arb.const_log2() if unit == "ln2" else arb(1)
        exponentials = (
            (c, scale * arb(fmpq(x.numerator, x.denominator))) for x, c in alive.items()
        )
        return sum((arb(c) * x.exp() for c, x in exponentials), arb(0))

    return sign(total, "A sum of exponentials")
