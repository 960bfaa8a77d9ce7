"""Balls: integers and rationals on a proved side of one, and comparisons that balls decide.

A ball that does not meet a number proves on which side of it the true value lies; a ball that does
proves nothing, and the comparison is tried again with more bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from flint import arb, ctx, fmpq

from lemmax.theory.errors import Undecided

MAX_PRECISION = 1 << 20


def precisions(start: int = 64, most: int = MAX_PRECISION, factor: int = 2) -> Iterator[int]:
    """The precisions to try, one after the other, until a comparison is decided.

    >>> list(precisions(64, 400))
    [64, 128, 256]
    """
    while start <= most:
        yield start
        start *= factor


def sign(value: Callable[[], arb], name: str) -> int:
    """The sign of a number that is known not to be zero; ``value`` encloses it in a ball.

    >>> sign(lambda: arb(2).sqrt() - arb("1.41421356237309504880168872420969807856"), "√2 - x")
    1
    """
    for precision in precisions():
        with ctx.workprec(precision):
            ball = value()
            if ball > 0:
                return 1
            if ball < 0:
                return -1
    raise Undecided(f"{name} is too close to zero for a million bits.")


def midpoint(ball: arb) -> fmpq:
    """The middle of a ball, exactly.

    >>> midpoint(arb("0.25"))
    1/4
    """
    mantissa, exponent = ball.mid().man_exp()
    return fmpq(mantissa) * fmpq(2) ** int(exponent)


def floor_below(ball: arb, bits: int = 0) -> int:
    """The largest integer that is surely at most ball · 2^bits, but for the ball's own radius.

    >>> floor_below(arb("2.5")), floor_below(arb(-3), 1)
    (2, -6)
    """
    mantissa, exponent = ball.lower().man_exp()
    shift = int(exponent) + bits
    return int(mantissa) << shift if shift >= 0 else int(mantissa) >> -shift


def ceiling_above(ball: arb, bits: int = 0) -> int:
    """The smallest integer that is surely at least ball · 2^bits, but for the ball's own radius.

    >>> ceiling_above(arb("2.5"))
    3
    """
    return -floor_below(-ball, bits)


def rational_below(ball: arb, bits: int = 40) -> fmpq:
    """A multiple of 2^-bits that is at most every point of the ball.

    >>> rational_below(arb(2).sqrt(), 4)
    11/8
    """
    if not ball.is_finite():
        raise Undecided("The ball has no finite lower end.")
    return fmpq(floor_below(ball, bits), 2**bits)


def rational_above(ball: arb, bits: int = 40) -> fmpq:
    """A multiple of 2^-bits that is at least every point of the ball.

    >>> rational_above(arb(2).sqrt(), 4)
    23/16
    """
    return -rational_below(-ball, bits)
