"""Binary floating-point formats as sets of rationals: what they hold, and how they round.

Everything is decided with :class:`~fractions.Fraction`; neither numpy nor torch is asked.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from lemmax.theory.errors import LemmaxError


@dataclass(frozen=True)
class Format:
    """The numbers ±M·2^(e-p+1), M < 2^p, least ≤ e ≤ greatest, of a binary format.

    ``significand`` is p (the hidden bit counts), ``least`` and ``greatest`` are the exponents of
    the smallest and of the largest normal numbers.

    >>> FORMATS["bfloat16"].finite_values, FORMATS["bfloat16"].holds(257)
    (65279, False)
    """

    name: str
    significand: int
    least: int
    greatest: int

    @property
    def finite_values(self) -> int:
        """How many real numbers the format has; -0 and 0 are one."""
        normal = (self.greatest - self.least + 1) << (self.significand - 1)
        subnormal = (1 << (self.significand - 1)) - 1
        return 2 * (normal + subnormal) + 1

    @property
    def bits(self) -> float:
        """log₂ of the number of finite values: no weight can carry more."""
        return math.log2(self.finite_values)

    @property
    def storage(self) -> int:
        """Bits that a number takes in memory."""
        exponents = self.greatest - self.least + 3  # with those of subnormals and of infinity
        return self.significand + (exponents - 1).bit_length()

    @property
    def largest(self) -> Fraction:
        """The largest finite number."""
        return (2 - Fraction(2) ** (1 - self.significand)) * Fraction(2) ** self.greatest

    def contains(self, other: Format) -> bool:
        """Whether every normal number of the other format is one of this.

        >>> FORMATS["float32"].contains(FORMATS["float16"])
        True
        """
        reach = self.greatest >= other.greatest and self.least <= other.least
        return reach and self.significand >= other.significand

    def spacing(self, x: Fraction) -> Fraction:
        """The distance between neighbours in the binade of x ≠ 0, subnormal numbers included.

        >>> FORMATS["bfloat16"].spacing(Fraction(255)), FORMATS["bfloat16"].spacing(Fraction(256))
        (Fraction(1, 1), Fraction(2, 1))
        """
        return Fraction(2) ** (max(_exponent(abs(x)), self.least) - self.significand + 1)

    def below(self, x: Fraction) -> Fraction:
        """The largest number of the format that is smaller than x > 0, where x is held.

        >>> FORMATS["bfloat16"].below(Fraction(256)), FORMATS["bfloat16"].below(Fraction(257, 256))
        (Fraction(255, 1), Fraction(1, 1))
        """
        down = self.round_down(x)
        if down < x:
            return down
        power = x.numerator & (x.numerator - 1) == 0
        step = self.spacing(x) / (2 if power and _exponent(x) > self.least else 1)
        return x - step

    def round_down(self, x: Fraction) -> Fraction:
        """The largest number of the format at most x, for 0 ≤ x ≤ largest."""
        if not x:
            return Fraction(0)
        step = self.spacing(x)
        return (x // step) * step

    def round(self, x: Fraction) -> Fraction:
        """x rounded to nearest, ties to even; beyond the largest number it is refused.

        >>> FORMATS["bfloat16"].round(Fraction(257)), FORMATS["bfloat16"].round(Fraction(259))
        (Fraction(256, 1), Fraction(260, 1))
        """
        if not x:
            return Fraction(0)
        step = self.spacing(x)
        nearest = round(x / step) * step
        if abs(nearest) > self.largest:
            raise LemmaxError(f"{self.name} overflows at {float(x):.3g}.")
        return nearest

    def holds(self, x: Fraction | int) -> bool:
        """Whether x is a number of the format."""
        exact = Fraction(x)
        return not exact or (
            abs(exact) <= self.largest and (exact / self.spacing(exact)).denominator == 1
        )


def _exponent(x: Fraction) -> int:
    """⌊log₂ x⌋ of x > 0."""
    guess = x.numerator.bit_length() - x.denominator.bit_length()
    return guess if Fraction(2) ** guess <= x else guess - 1


FORMATS = {
    "bfloat16": Format("bfloat16", 8, -126, 127),
    "float16": Format("float16", 11, -14, 15),
    "float32": Format("float32", 24, -126, 127),
    "float64": Format("float64", 53, -1022, 1023),
}
"""The formats by the names that torch and numpy give them."""


def number_format(name: str) -> Format:
    """The format of a name; torch's dtypes are taken too.

    >>> number_format("torch.bfloat16").significand
    8
    """
    key = str(name).removeprefix("torch.")
    if key not in FORMATS:
        known = ", ".join(FORMATS)
        raise LemmaxError(f"{name} is not a format that is known here: {known}.")
    return FORMATS[key]
