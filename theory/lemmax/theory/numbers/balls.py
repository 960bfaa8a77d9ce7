"""Rational numbers on a proved side of a ball."""

from __future__ import annotations

from flint import arb, fmpq

from lemmax.theory.errors import Undecided


def rational_below(ball: arb, bits: int = 40) -> fmpq:
    """A multiple of 2^-bits that is at most every point of the ball.

    >>> rational_below(arb(2).sqrt(), 4)
    11/8
    """
    floor = (arb(ball.lower()) * 2**bits).floor().lower().floor().unique_fmpz()
    if floor is None:
        raise Undecided("The ball has no finite lower end.")
    return fmpq(floor, 2**bits)


def rational_above(ball: arb, bits: int = 40) -> fmpq:
    """A multiple of 2^-bits that is at least every point of the ball.

    >>> rational_above(arb(2).sqrt(), 4)
    23/16
    """
    return -rational_below(-ball, bits)
