"""Vectors of real numbers in balls of one radius, and the affine maps between them.

A real number x is an integer c with |2^bits x - c| <= radius; all coordinates of a vector share the
radius, so that a map costs one product of matrix and vector and not two. The rows of a matrix are
packed into one long integer each (Kronecker's substitution), so that Python multiplies them whole.
"""

import operator
from collections.abc import Iterable
from typing import NamedTuple

from ..arithmetic import dot
from ..coded.arrays import Table
from ..limits import keep, refuse, spend


class Ball(NamedTuple):
    """Real numbers x_i with |2^bits x_i - center_i| <= radius."""

    center: list[int]
    radius: int

    @property
    def largest(self) -> int:
        """2^bits |x_i| is at most this, for every i."""
        return max(map(abs, self.center)) + self.radius

    def part(self, start: int, size: int) -> "Ball":
        """The coordinates from start on."""
        return Ball(self.center[start : start + size], self.radius)


def added(x: Ball, y: Ball) -> Ball:
    return Ball(list(map(operator.add, x.center, y.center)), x.radius + y.radius)


def upward(n: int, bits: int) -> int:
    """n / 2^bits, rounded up."""
    return -(-n >> bits)


def inner(x: Ball, y: Ball, bits: int) -> tuple[int, int]:
    """Center and radius of Σ x_i y_i."""
    spend("An inner product", 3 * len(x.center) + 40, max(x.largest, y.largest).bit_length(), 60)
    error = x.radius * sum(map(abs, y.center)) + y.radius * sum(map(abs, x.center))
    error += len(x.center) * x.radius * y.radius
    return dot(x.center, y.center) >> bits, upward(error, bits) + 1


def times(x: Ball, y: Ball, bits: int) -> Ball:
    """The products x_i y_i."""
    spend("A product", 2 * len(x.center), x.largest.bit_length(), y.largest.bit_length())
    error = x.radius * y.largest + y.radius * max(map(abs, x.center))
    products = map(operator.mul, x.center, y.center)
    return Ball([c >> bits for c in products], upward(error, bits) + 1)


# --- weights ------------------------------------------------------------------------------------

_FORMS = {"BF16": (8, 7), "F16": (5, 10), "F32": (8, 23), "F64": (11, 52)}
"""Bits of the exponent and of the fraction."""


def fixed(table: Table, start: int, count: int, bits: int, where: str) -> tuple[list[int], int]:
    """Integers n and an error e in {0, 1} with |2^bits w - n| <= e for the weights w from start on.

    The error is 0 where every weight is an integer over 2^bits.
    """
    if table.kind not in _FORMS:
        refuse(where, "must have entries of the type BF16, F16, F32 or F64")
    spend(where, 6 * count, bits, 30)
    keep(where, count, bits)
    exponents, width = _FORMS[table.kind]
    top, ones = (1 << exponents) - 1, (1 << width) - 1
    offset = bits - (top >> 1) - width
    found, error = [], 0
    for word in table.entries[start : start + count]:
        exponent, n = word >> width & top, word & ones
        if exponent == top:
            refuse(where, "has an entry that is not a finite number")
        if exponent:
            n |= 1 << width
        else:
            exponent = 1
        shift = exponent + offset
        if shift >= 0:
            n <<= shift
        else:
            if n & ((1 << -shift) - 1):
                error = 1
            n >>= -shift
        found.append(-n if word >> width > top else n)
    return found, error


HEADROOM = 24
"""Vectors that a map is applied to have coordinates below 2^24."""


class Affine:
    """The map x -> x W + b; with ``turned`` the array holds W transposed."""

    def __init__(
        self, table: Table, bias: Table | None, bits: int, where: str, turned: bool = False
    ) -> None:
        m, n = table.shape[::-1] if turned else table.shape
        entries, self.error = fixed(table, 0, m * n, bits, where)
        self.bits, self.where, self.outputs = bits, where, n
        self.bias, inexact = fixed(bias, 0, n, bits, where) if bias else ([0] * n, 0)
        self.slack = 1 + inexact
        long = max(map(int.bit_length, entries)) + m.bit_length() + 1
        self.width = w = (long + bits + HEADROOM + 7) // 8  # bytes of a field
        spend(where, 10 * m * n)
        keep(where, 3 * m, 8 * w * n)

        def joined(row: Iterable[int]) -> int:
            return int.from_bytes(b"".join(n.to_bytes(w, "little") for n in row), "little")

        rows = [entries[i::m] if turned else entries[i * n : (i + 1) * n] for i in range(m)]
        plus = [joined(n if n > 0 else 0 for n in row) for row in rows]
        minus = [joined(-n if n < 0 else 0 for n in row) for row in rows]
        self.rows = list(map(operator.sub, plus, minus))
        self.half = 1 << 8 * w - 1
        self.offset = int.from_bytes(self.half.to_bytes(w, "little") * n, "little")
        # 2^bits times the largest sum of the absolute values of a column
        self.norm = max(self._fields(sum(plus) + sum(minus), 0)) + m * self.error

    def _fields(self, total: int, shift: int) -> list[int]:
        """The fields of a sum of packed rows, each shifted to the right."""
        w, end = self.width, self.width * self.outputs
        data = (total + self.offset).to_bytes(end + 1, "little")
        return [
            int.from_bytes(data[i : i + w], "little") - self.half >> shift for i in range(0, end, w)
        ]

    def __call__(self, x: Ball) -> Ball:
        """x W + b; the radius has the error of the weights and of the rounding in it."""
        long = max(map(int.bit_length, x.center))
        if long > self.bits + HEADROOM:
            refuse(self.where, f"is applied to a vector with an entry beyond 2^{HEADROOM}")
        spend(
            self.where, len(self.rows), 8 * self.width * self.outputs, long, 4 * self.outputs + 60
        )
        sums = self._fields(sum(map(operator.mul, x.center, self.rows)), self.bits)
        error = x.radius * self.norm + self.error * sum(map(abs, x.center))
        radius = upward(error, self.bits) + self.slack
        return Ball(list(map(operator.add, sums, self.bias)), radius)
