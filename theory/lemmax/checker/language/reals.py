"""Numbers that are known between bounds, or as logarithms, and comparisons with three answers.

A comparison is true, false, or None: not decided. Nothing that is not decided is ever counted as
true or as false.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..arithmetic import common_denominator, height
from ..enclosures import log_bounds, precisions
from ..limits import Undecided, brief, refuse, spend

Bound = Fraction | None  # None: unbounded on this side


@dataclass(frozen=True)
class Interval:
    """A real number of which only bounds are known; None stands for no bound."""

    low: Bound
    high: Bound

    def __post_init__(self) -> None:
        # Bounds that cross would make every comparison true: no answer then, rather than that.
        if self.low is not None and self.high is not None and self.low > self.high:
            refuse("A comparison", f"rests on bounds that contradict each other: {self}")

    def __str__(self) -> str:
        left = "(-oo" if self.low is None else f"[{brief(self.low)}"
        return f"{left}, oo)" if self.high is None else f"{left}, {brief(self.high)}]"


@dataclass(frozen=True)
class Logarithm:
    """The real number constant + Σ c ln x over the terms (x, c), with rationals x > 0."""

    constant: Fraction
    terms: tuple[tuple[Fraction, Fraction], ...]

    def __str__(self) -> str:
        parts = [f"{brief(c)} ln {brief(x)}" for x, c in self.terms]
        return " + ".join([*parts, brief(self.constant)] if self.constant else parts or ["0"])

    def bounds(self, bits: int) -> tuple[Fraction, Fraction]:
        low = high = self.constant
        for x, c in self.terms:
            ends = [c * Fraction(end, 1 << bits) for end in log_bounds(x, bits)]
            spend("A logarithm", 20, height((c,)) + bits, height((c,)) + bits)
            low, high = low + min(ends), high + max(ends)
        return low, high

    def vanishes(self) -> bool:
        """Whether Σ c ln x = 0 without a constant: whether a product of powers is 1."""
        if self.constant or not self.terms:
            return not self.constant
        d = common_denominator([c for _, c in self.terms])
        powers = [(x, c.numerator * (d // c.denominator)) for x, c in self.terms]
        bits = sum(abs(n) * height((x,)) for x, n in powers)
        if bits > 10**6:
            return False  # and the enclosures will not decide it either
        spend("A product of powers", 10, bits, bits)
        above = math.prod((x if n > 0 else 1 / x).numerator ** abs(n) for x, n in powers)
        below = math.prod((x if n > 0 else 1 / x).denominator ** abs(n) for x, n in powers)
        return bool(above == below)

    def sign(self) -> int:
        """-1, 0 or 1. By Lindemann, a constant and logarithms cancel only if both are zero."""
        if self.vanishes():
            return 0
        for bits in precisions():
            low, high = self.bounds(bits)
            if low > 0 or high < 0:
                return 1 if low > 0 else -1
        raise Undecided("two logarithms are too close to be told apart")


Real = Fraction | Interval | Logarithm
REALS = (Fraction, Interval, Logarithm)


def interval(x: Real) -> Interval:
    if isinstance(x, Interval):
        return x
    return Interval(x, x) if isinstance(x, Fraction) else Interval(*x.bounds(256))


def collapsed(x: Interval) -> Real:
    """A number where the bounds meet."""
    return x.low if x.low is not None and x.low == x.high else x


def negative(x: Real) -> Real:
    return product(Fraction(-1), x)


def total(x: Real, y: Real) -> Real:
    """x + y."""
    if isinstance(x, Fraction) and isinstance(y, Fraction):
        return x + y
    if isinstance(x, Interval) or isinstance(y, Interval):
        a, b = interval(x), interval(y)
        low = None if a.low is None or b.low is None else a.low + b.low
        high = None if a.high is None or b.high is None else a.high + b.high
        return collapsed(Interval(low, high))
    left, right = logarithm(x), logarithm(y)
    return Logarithm(left.constant + right.constant, left.terms + right.terms)


def logarithm(x: Real) -> Logarithm:
    return x if isinstance(x, Logarithm) else Logarithm(Fraction(x), ())  # type: ignore[arg-type]


def product(x: Real, y: Real) -> Real:
    """x · y, where one of the two is a number if the other is a logarithm."""
    if isinstance(y, Fraction):
        x, y = y, x
    if isinstance(x, Fraction):
        if isinstance(y, Fraction) or x == 0:
            return x * y if isinstance(y, Fraction) else x
        if isinstance(y, Logarithm):
            return Logarithm(x * y.constant, tuple((t, x * c) for t, c in y.terms))
        low, high = (None if end is None else x * end for end in (y.low, y.high))
        return Interval(low, high) if x > 0 else Interval(high, low)
    a, b = interval(x), interval(y)
    if None in (a.low, a.high, b.low, b.high):
        if a.low is not None and b.low is not None and min(a.low, b.low) >= 0:
            return Interval(a.low * b.low, None)
        return Interval(None, None)
    ends = [s * t for s in (a.low, a.high) for t in (b.low, b.high)]  # type: ignore[operator]
    return collapsed(Interval(min(ends), max(ends)))


def quotient(x: Real, y: Real) -> Real:
    if isinstance(y, Logarithm):
        y = interval(y)
    if isinstance(y, Interval):
        if y.low is None or y.high is None or y.low <= 0 <= y.high:
            refuse("A comparison", "divides by what is not known to be different from zero")
        return product(x, Interval(1 / y.high, 1 / y.low))
    if y == 0:
        refuse("A comparison", "divides by zero")
    return product(1 / y, x)


def least(*values: Real) -> Real:
    if all(isinstance(x, Fraction) for x in values):
        return min(values)  # type: ignore[type-var]
    parts = [interval(x) for x in values]
    lows, highs = [x.low for x in parts], [x.high for x in parts if x.high is not None]
    low = None if None in lows else min(x for x in lows if x is not None)
    return collapsed(Interval(low, min(highs, default=None)))


def greatest(*values: Real) -> Real:
    return negative(least(*map(negative, values)))


def holds(relation: Callable[[Any, Any], bool], x: Real, y: Real) -> bool | None:
    """Whether x relation y; None: the bounds do not tell."""
    if isinstance(x, Fraction) and isinstance(y, Fraction):
        return relation(x, y)
    if not isinstance(x, Interval) and not isinstance(y, Interval):
        return relation(logarithm(total(x, negative(y))).sign(), 0)
    a, b = interval(x), interval(y)
    least, most = compared(a.low, b.high, -1), compared(a.high, b.low, 1)
    answers = {relation(sign, 0) for sign in range(least, most + 1)}  # for each sign of x - y
    return answers.pop() if len(answers) == 1 else None


def compared(s: Bound, t: Bound, open_end: int) -> int:
    """The sign of s - t, or that of the side that is not bounded."""
    return open_end if s is None or t is None else (s > t) - (s < t)


def neither(p: bool | None) -> bool | None:
    """not p."""
    return None if p is None else not p


def every(*parts: bool | None) -> bool | None:
    return False if False in parts else None if None in parts else True


def some(*parts: bool | None) -> bool | None:
    return True if True in parts else None if None in parts else False


def same(p: bool | None, q: bool | None) -> bool | None:
    return None if p is None or q is None else p is q
