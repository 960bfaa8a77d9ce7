"""Exact numbers of a certificate, and what a proof needs of them: inverses mod p, ranks.

Everything here is a hint for the kernel, which checks it: a wrong inverse makes a proof fail and
nothing else.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from lemmax.theory.errors import LemmaxError

Rows = list[list[Fraction]]
PRIME = 2**61 - 1
_HEX = re.compile(r"(-?)0x([0-9a-f]+)(?:p(-?\d+))?")


def number(text: Any) -> Fraction:
    """A number of a certificate: decimal, fraction, or hex mantissa and exponent.

    >>> number("-3/4"), number("0x3p-2")
    (Fraction(-3, 4), Fraction(3, 4))
    """
    if not isinstance(text, str):
        raise LemmaxError(f"{text!r} is not an exact number in a string.")
    if match := _HEX.fullmatch(text):
        mantissa, exponent = int(match[2], 16), int(match[3] or 0)
        value = Fraction(mantissa << max(exponent, 0), 1 << max(-exponent, 0))
        return -value if match[1] else value
    return Fraction(text)


def rows_of(value: Any) -> Rows:
    """A matrix of a certificate."""
    return [[number(x) for x in row] for row in value]


def cleared(rows: Iterable[Sequence[Fraction]]) -> tuple[int, list[list[int]]]:
    """The least d > 0 and the integers a with rows = a / d.

    >>> cleared([[Fraction(1, 2), Fraction(2, 3)]])
    (6, [[3, 4]])
    """
    table = [list(row) for row in rows]
    d = math.lcm(*(x.denominator for row in table for x in row))
    return d, [[int(x * d) for x in row] for row in table]


def over(d: int, rows: Iterable[Iterable[int]]) -> Rows:
    """The matrix rows / d."""
    if d <= 0:
        raise LemmaxError(f"The denominator {d} is not positive.")
    return [[Fraction(x, d) for x in row] for row in rows]


def inverse_mod(rows: Sequence[Sequence[int]], p: int) -> list[list[int]] | None:
    """The inverse of a square matrix mod the prime p, or None if it is singular there.

    >>> inverse_mod([[2, 1], [1, 1]], 7)
    [[1, 6], [6, 2]]
    """
    n = len(rows)
    left = [[x % p for x in row] + [int(i == j) for j in range(n)] for i, row in enumerate(rows)]
    for c in range(n):
        pivot = next((i for i in range(c, n) if left[i][c]), None)
        if pivot is None:
            return None
        left[c], left[pivot] = left[pivot], left[c]
        scale = pow(left[c][c], -1, p)
        left[c] = [x * scale % p for x in left[c]]
        for i in range(n):
            if i != c and left[i][c]:
                f = left[i][c]
                left[i] = [(x - f * y) % p for x, y in zip(left[i], left[c], strict=True)]
    return [row[n:] for row in left]


def small_inverse(rows: Sequence[Sequence[int]]) -> tuple[int, list[list[int]]]:
    """A prime, as small as can be, and the columns of the inverse of the matrix mod it.

    The kernel multiplies, so short numbers are fast; a nonsingular matrix is singular mod finitely
    many primes only. LemmaxError if it is singular mod all the primes below 10,000.
    """
    p, (inverse,) = common_inverses([rows])
    return p, inverse


def common_inverses(
    matrices: Sequence[Sequence[Sequence[int]]],
) -> tuple[int, list[list[list[int]]]]:
    """The same for several matrices and one prime."""
    for p in range(101, 10_000, 2):
        if all(p % q for q in range(3, math.isqrt(p) + 1, 2)):
            found = [inverse_mod(rows, p) for rows in matrices]
            known = [inverse for inverse in found if inverse is not None]
            if len(known) == len(found):
                return p, [[list(column) for column in zip(*x, strict=True)] for x in known]
    raise LemmaxError("A minor that should not be zero is zero modulo every small prime.")


def pivots(rows: Sequence[Sequence[Fraction]]) -> tuple[list[int], list[int]]:
    """Rows and columns of a largest minor that is not zero modulo a large prime.

    >>> pivots(rows_of([["1", "2"], ["2", "4"], ["0", "1"]]))
    ([0, 2], [0, 1])
    """
    kept: list[tuple[int, list[int]]] = []
    chosen: list[int] = []
    for i, row in enumerate(rows):
        d = math.lcm(*(x.denominator for x in row))
        rest = [int(x * d) % PRIME for x in row]
        for c, base in kept:
            if f := rest[c]:
                rest = [(x - f * y) % PRIME for x, y in zip(rest, base, strict=True)]
        column = next((j for j, x in enumerate(rest) if x), None)
        if column is not None:
            scale = pow(rest[column], -1, PRIME)
            kept.append((column, [x * scale % PRIME for x in rest]))
            chosen.append(i)
    return chosen, sorted(c for c, _ in kept)


def factors(rows: Rows) -> tuple[Rows, Rows]:
    """Left and right with rows = left · right, through the rank."""
    chosen, columns = pivots(rows)
    base = [rows[i] for i in chosen]
    square = [[row[j] for j in columns] for row in base]
    solved = inverse(square)
    left = [
        [
            sum((row[j] * solved[a][b] for a, j in enumerate(columns)), Fraction(0))
            for b in range(len(chosen))
        ]
        for row in rows
    ]
    return left, base


def relation(rows: Rows) -> list[int] | None:
    """Integers, not all zero, with which the rows add up to zero; None if they are independent.

    >>> relation(rows_of([["1", "1"], ["1", "0"], ["2", "2"]]))
    [-2, 0, 1]
    """
    kept: list[tuple[int, list[Fraction], list[Fraction]]] = []
    for i, row in enumerate(rows):
        rest, own = list(row), [Fraction(i == j) for j in range(len(rows))]
        for c, base, combination in kept:
            if rest[c]:
                f = rest[c] / base[c]
                rest = [x - f * y for x, y in zip(rest, base, strict=True)]
                own = [x - f * y for x, y in zip(own, combination, strict=True)]
        column = next((j for j, x in enumerate(rest) if x), None)
        if column is None:
            return cleared([own])[1][0]
        kept.append((column, rest, own))
    return None


def inverse(rows: Rows) -> Rows:
    """The inverse of a nonsingular square matrix.

    >>> inverse(rows_of([["2", "0"], ["0", "4"]]))
    [[Fraction(1, 2), Fraction(0, 1)], [Fraction(0, 1), Fraction(1, 4)]]
    """
    n = len(rows)
    left = [list(row) + [Fraction(i == j) for j in range(n)] for i, row in enumerate(rows)]
    for c in range(n):
        pivot = next(i for i in range(c, n) if left[i][c])
        left[c], left[pivot] = left[pivot], left[c]
        scale = left[c][c]
        left[c] = [x / scale for x in left[c]]
        for i in range(n):
            if i != c and left[i][c]:
                f = left[i][c]
                left[i] = [x - f * y for x, y in zip(left[i], left[c], strict=True)]
    return [row[n:] for row in left]
