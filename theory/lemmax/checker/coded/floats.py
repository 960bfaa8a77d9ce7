"""Number formats as integers: a bit pattern is read as its value times 2^150, always exactly."""

from collections.abc import Iterable
from typing import NamedTuple

from ..limits import refuse

SHIFT = 150
"""Every finite number of the formats below is an integer over 2^150."""

ONE = 1 << SHIFT


class Format(NamedTuple):
    """p significant bits; normal numbers have exponents from least to greatest."""

    name: str
    significand: int
    least: int
    greatest: int

    @property
    def largest(self) -> int:
        """The largest finite number, times 2^150."""
        return ((1 << self.significand) - 1) << (self.greatest - self.significand + 1 + SHIFT)


FORMATS = {
    "bfloat16": Format("bfloat16", 8, -126, 127),
    "float16": Format("float16", 11, -14, 15),
    "float32": Format("float32", 24, -126, 127),
}


def value(word: int, form: Format, where: str) -> int:
    """The number that a bit pattern spells, times 2^150; infinities, NaN and -0 are refused.

    >>> value(0x3F80, FORMATS["bfloat16"], "W") == 1 << SHIFT
    True
    """
    width = form.significand - 1
    exponents = form.greatest - form.least + 3
    mantissa, exponent = word & ((1 << width) - 1), (word >> width) % exponents
    negative = (word >> width) >= exponents
    if exponent == exponents - 1:
        refuse(where, "has an entry that is not a finite number")
    if not mantissa and not exponent and negative:
        refuse(where, "has the entry -0")
    if exponent:
        mantissa, exponent = mantissa | 1 << width, exponent - 1
    number = mantissa << (exponent + form.least - width + SHIFT)
    return -number if negative else number


def values(words: Iterable[int], form: Format, where: str) -> dict[int, int]:
    """The values of the bit patterns that occur."""
    return {word: value(word, form, where) for word in set(words)}


def exponent(number: int) -> int:
    """⌊log₂ x⌋ of x > 0, given times 2^150."""
    return number.bit_length() - 1 - SHIFT


def length(number: int) -> int:
    """How many significant bits a number has."""
    return (abs(number) >> trailing(number)).bit_length() if number else 0


def trailing(number: int) -> int:
    """The exponent of the largest power of two that divides a nonzero integer."""
    return (number & -number).bit_length() - 1
