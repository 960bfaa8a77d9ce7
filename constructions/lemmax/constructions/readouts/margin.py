r"""How wide a readout's margin is: two exact squares, and their roots in decimals and floats."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from flint import fmpq

_DIGITS = 9


@dataclass(frozen=True)
class Margin:
    r"""min over facts and other labels of ⟨W_y - W_v, z⟩ / ‖W‖, between two exact squares.

    ``lower_squared`` is that of the weights, and no readout exceeds ``upper_squared``. As a float
    it is the largest that is not above the margin of the weights; in words the lower end is
    rounded down and the upper end up.

    >>> Margin(fmpq(1, 4), fmpq(1, 4))
    0.5 in the Frobenius norm, the widest
    >>> Margin(fmpq(2), fmpq(3))
    1.41421356 in the Frobenius norm, no readout has more than 1.73205081
    >>> float(Margin(fmpq(2), fmpq(3))) ** 2 <= 2
    True
    """

    lower_squared: fmpq
    upper_squared: fmpq
    norm: Literal["Frobenius"] = "Frobenius"

    @property
    def widest(self) -> bool:
        """Whether no readout has a wider margin; else the two bounds differ."""
        return bool(self.lower_squared == self.upper_squared)

    def __float__(self) -> float:
        p, q = int(self.lower_squared.p), int(self.lower_squared.q)
        shift = min(54 - (p.bit_length() - q.bit_length()) // 2, 1074)  # subnormals have fewer bits
        top = p << 2 * shift if shift >= 0 else p
        root = math.isqrt(top // (q if shift >= 0 else q << -2 * shift))
        spare = max(root.bit_length() - sys.float_info.mant_dig, 0)
        try:
            return math.ldexp(root >> spare, spare - shift)
        except OverflowError:
            return sys.float_info.max

    def __repr__(self) -> str:
        above = _root(self.upper_squared, up=True)
        said = "the widest" if self.widest else f"no readout has more than {above}"
        return f"{_root(self.lower_squared)} in the {self.norm} norm, {said}"


def _root(square: fmpq, up: bool = False) -> str:
    """The root of a rational in nine digits, rounded down or up, whatever its size.

    >>> _root(fmpq(1, 3 * 10**800)), _root(fmpq(1, 3 * 10**800), up=True), _root(fmpq(10**6))
    ('5.77350269e-401', '5.7735027e-401', '1000')
    """
    p, q = int(square.p), int(square.q)
    if p == 0:
        return "0"
    # log10 of the root, within one: 0.301 < log10(2) < 0.302
    size = (p.bit_length() - q.bit_length()) * 301 // 2000
    places = _DIGITS + 1 - size
    if places >= 0:
        p *= 10 ** (2 * places)
    else:
        q *= 10 ** (-2 * places)
    root = math.isqrt(p // q)
    cut = 10 ** max(len(str(root)) - _DIGITS, 0)
    digits = root // cut * cut
    if up and digits * digits * q != p:
        digits += cut
    number = Decimal(digits).scaleb(-places).normalize()
    return f"{number:f}" if -5 < number.adjusted() < _DIGITS else f"{number:e}".replace("E", "e")
