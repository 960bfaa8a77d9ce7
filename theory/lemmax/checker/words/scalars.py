"""The words about numbers."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from ..language import reals
from ..language.reals import Logarithm
from ..limits import refuse


def log(x: Fraction) -> Logarithm:
    if x <= 0:
        refuse("A logarithm", "needs a number above 0")
    return Logarithm(Fraction(0), ((x, Fraction(1)),))


def log_odds(t: Fraction) -> Logarithm:
    if not 0 < t < 1:
        refuse("log_odds(...)", "needs a number between 0 and 1")
    return log(t / (1 - t))


WORDS: dict[str, Callable[..., Any]] = {
    "min(number, ...)  the smallest of the numbers": reals.least,
    "max(number, ...)  the largest of the numbers": reals.greatest,
    "log(rational)  the natural logarithm; comparisons raise the precision": log,
    "log_odds(rational)  ln(t / (1 - t))": log_odds,
    "even(rational)  an even integer": lambda n: n.denominator == 1 and n.numerator % 2 == 0,
}
