"""Softmax probabilities against thresholds, and approximate inverses: hints for the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import arb, ctx, fmpq, fmpq_mat

PRECISION = 2048


def exponential(x: Fraction) -> Fraction:
    """A rational close to exp(x); 0 where exp(x) is below all precision."""
    if x < -PRECISION:
        return Fraction(0)
    before = ctx.prec
    ctx.prec = PRECISION
    try:
        mantissa, exponent = arb(fmpq(x.numerator, x.denominator)).exp().mid().man_exp()
    finally:
        ctx.prec = before
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def softmax(row: Sequence[Fraction]) -> list[Fraction]:
    """Rationals close to the softmax of a row; exact where all entries are equal."""
    top = max(row)
    weights = [exponential(x - top) if x != top else Fraction(1) for x in row]
    return [w / sum(weights) for w in weights]


def at_least(row: Sequence[Fraction], j: int, tau: Fraction) -> bool:
    """Whether the softmax of the row at j is at least tau, as the kernel will decide anew."""
    return softmax(row)[j] >= tau


def scaled_inverse(rows: Sequence[Sequence[Fraction]], bits: int) -> list[list[int]]:
    """The columns of the inverse times 2^bits, rounded."""
    table = [[fmpq(x.numerator, x.denominator) for x in row] for row in rows]
    inverse = fmpq_mat(table).inv()
    n = len(rows)
    return [[int((inverse[i, j] * 2**bits).floor()) for i in range(n)] for j in range(n)]
