"""Integers, rationals, and linear algebra over Q and modulo a prime.

Every function charges the meter for its own work before it does it. Rows of a certificate are
never put into a set or a dictionary as they are: Python's hash of an integer is its residue modulo
2^61 - 1, so a file could make all of them collide.
"""

import functools
import math
import operator
from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction
from itertools import chain

from .limits import keep, multiply, refuse, released, room, spend
from .reading import Matrix

Rows = Sequence[Sequence[int]]


def bits_of(rows: Iterable[Iterable[int]]) -> int:
    return max(map(int.bit_length, chain.from_iterable(rows)), default=0)


def height(values: Iterable[Fraction | int]) -> int:
    """The bits of the longest numerator or denominator."""
    return bits_of(map(operator.methodcaller("as_integer_ratio"), values))


class Table(list[list[int]]):
    """An integer matrix whose columns, and whose longest entry, are asked for more than once."""

    @functools.cached_property
    def bits(self) -> int:
        return bits_of(self)

    @functools.cached_property
    def columns(self) -> list[tuple[int, ...]]:
        keep("A matrix", sum(map(len, self)) // 4)
        return list(zip(*self, strict=True))


# --- common denominators ------------------------------------------------------------------------


def least_common_multiple(numbers: Collection[int]) -> int:
    d, previous = 1, 1
    for n in sorted(numbers):
        if n != previous:
            spend("The common denominator", 3, d.bit_length(), n.bit_length())
            room("The common denominators", len(numbers), d.bit_length() + n.bit_length())
            d, previous = math.lcm(d, n), n
    return d


def common_denominator(values: Collection[Fraction]) -> int:
    """The least d > 0 that makes all the values integers; charges for these integers."""
    d = least_common_multiple([x.denominator for x in values])
    bits = d.bit_length()
    parts = chain.from_iterable(map(Fraction.as_integer_ratio, values))
    mean = sum(map(int.bit_length, parts)) // (len(values) or 1) + 1
    if bits > 1:  # quotients by the denominators, and their products with the numerators
        spend("The common denominator", len(values), bits, mean, flat=3 * len(values))
    keep("The common denominators", len(values), mean + (bits if bits > 1 else 0))
    return d


def ratio(n: int, d: int) -> Fraction:
    """n / d in lowest terms."""
    spend("A fraction", 2, n.bit_length(), d.bit_length(), flat=15)
    return Fraction(n, d)


def lowest(rows: list[list[list[int]]], q: int) -> tuple[list[list[list[int]]], int]:
    """Integers rows / q over the least denominator q > 0 that they have in common."""
    flat = [x for part in rows for row in part for x in row]
    keep("The scores", 2 * len(flat), bits_of([flat]))
    spend("The scores", 6 * len(flat), bits_of([flat]), q.bit_length())
    common = math.gcd(q, *flat)
    return [[[x // common for x in row] for row in part] for part in rows], q // common


def cleared(row: Sequence[Fraction]) -> tuple[list[int], int]:
    """Integers a and d > 0 with row = a / d."""
    d = common_denominator(row)
    if d == 1:
        return [x.numerator for x in row], 1
    return [x.numerator * (d // x.denominator) for x in row], d


def cleared_rows(rows: Iterable[Sequence[Fraction]]) -> list[tuple[list[int], int]]:
    return [cleared(row) for row in rows]


def cleared_all(matrices: Sequence[Sequence[Sequence[Fraction]]]) -> tuple[list[Table], int]:
    """Integer matrices A_i and one d > 0 with matrices_i = A_i / d."""
    d = common_denominator([x for M in matrices for row in M for x in row])
    return [
        Table([[x.numerator * (d // x.denominator) for x in row] for row in M]) for M in matrices
    ], d


# --- products -----------------------------------------------------------------------------------


def dot(a: Iterable[int], b: Iterable[int]) -> int:
    """Not metered: for primitives, which are."""
    return sum(map(operator.mul, a, b))


def times(row: Sequence[int], M: Table) -> list[int]:
    """The row vector row · M."""
    spend("A product", len(row) * len(M[0]), bits_of([row]), M.bits)
    return [dot(row, column) for column in M.columns]


def image(M: Table, column: Sequence[int]) -> list[int]:
    """The column vector M · column."""
    spend("A product", len(M) * len(column), M.bits, bits_of([column]))
    return [dot(row, column) for row in M]


def multiplied(A: Table, B: Table) -> Table:
    """The product of integer matrices."""
    spend("A product", len(A) * (len(B) + 5) * len(B[0]), A.bits, B.bits)
    keep("A product", len(A) * len(B[0]), A.bits + B.bits + len(B).bit_length())
    return Table([[dot(row, column) for column in B.columns] for row in A])


def product(A: Matrix, B: Matrix) -> Matrix:
    """The product over Q; rows of A and columns of B are made integers."""
    if len(A[0]) != len(B):
        refuse("A product", f"of a matrix with {len(A[0])} columns and one with {len(B)} rows")
    left, right = cleared_rows(A), cleared_rows(zip(*B, strict=True))
    bits = bits_of([*a, d] for a, d in left), bits_of([*b, e] for b, e in right)
    spend("A product", len(left) * len(right) * (len(B) + 20), *bits)
    spend("A product", 2 * len(left) * len(right), sum(bits), sum(bits))  # reduced to lowest terms
    keep("A product", 3 * len(left) * len(right), 2 * sum(bits) // 3)
    return Matrix(tuple(Fraction(dot(a, b), d * e) for b, e in right) for a, d in left)


# --- equal rows ---------------------------------------------------------------------------------


def classes(rows: Iterable[Iterable[int]]) -> list[int]:
    """For each row the number of its class of equal rows, in the order of their appearance."""
    seen: dict[str, int] = {}
    found: list[int] = []
    with released():
        for row in rows:
            key = " ".join(map(hex, row))
            spend("The comparison of rows", 1 + len(key) // 3)
            keep("The comparison of rows", 3, 3 * len(key))
            found.append(seen.setdefault(key, len(seen)))
    return found


def representatives(labels: Sequence[int]) -> list[int]:
    """The place where each class appears first."""
    found: list[int] = []
    for i, label in enumerate(labels):
        if label == len(found):
            found.append(i)
    return found


# --- elimination --------------------------------------------------------------------------------


def eliminated(rows: Rows, p: int, width: int | None = None) -> tuple[int, list[list[int]]]:
    """The rank of the first ``width`` columns mod the prime p, and the rows that become zero there.

    Of these rows the other columns are given: with a unit matrix there, the dependencies.
    """
    if not rows:
        return 0, []
    n = len(rows[0])
    width = n if width is None else width
    m, r, bits = len(rows), min(len(rows), width), p.bit_length()
    volume = m * n * (r + 1) - r * r * (m + n) // 2 + r**3 // 3
    spend("The elimination mod p", (2 + bits // 30) * volume, bits, bits)
    spend("The residues mod p", m * n, bits_of(rows), bits)
    room("The elimination mod p", m * n, bits)
    a = [[x % p for x in row] for row in rows]
    rank = 0
    for column in range(width):
        pivot = next((i for i in range(rank, m) if a[i][column]), None)
        if pivot is None:
            continue
        a[rank], a[pivot] = a[pivot], a[rank]
        inverse = pow(a[rank][column], -1, p)
        top = a[rank][column:]
        for i in range(rank + 1, m):
            if a[i][column]:
                f = a[i][column] * inverse % p
                a[i][column:] = [(x - f * y) % p for x, y in zip(a[i][column:], top, strict=True)]
        rank += 1
        if rank == m:
            break
    return rank, [row[width:] for row in a[rank:]]


def rank_mod(rows: Rows, p: int) -> int:
    """The rank mod the prime p, which is at most the rank over Q, R and C."""
    return eliminated(rows, p)[0]


def residues(M: Iterable[Sequence[Fraction]], p: int) -> Table | None:
    """M mod p; None where p divides a denominator."""
    found = Table()
    for row in M:
        spend("The residues mod p", 30 * len(row), height(row), p.bit_length())
        keep("The residues mod p", len(row), p.bit_length())
        if any(x.denominator % p == 0 for x in row):
            return None
        found.append([x.numerator * pow(x.denominator, -1, p) % p for x in row])
    return found


def powers_mod(exponents: Sequence[int], z: int, p: int) -> list[int]:
    """z^e mod p: well defined for negative e too, and a function of e mod p - 1."""
    bits = bits_of([exponents])
    spend("The powers mod p", 100 * len(exponents), bits, p.bit_length() // 20)
    return [pow(z, x % (p - 1), p) for x in exponents]


def softmax_mod(exponents: Sequence[int], z: int, p: int) -> list[int] | None:
    """The softmax z^e / Σ z^e mod p; None where the sum is zero."""
    powers = powers_mod(exponents, z, p)
    if not (total := sum(powers) % p):
        return None
    inverse = pow(total, -1, p)
    return [x * inverse % p for x in powers]


def times_mod(row: Sequence[int], M: Table, p: int) -> list[int]:
    """The row vector row · M mod p."""
    return [x % p for x in times(row, M)]


def bareiss(rows: Rows, what: str) -> tuple[int, int]:
    """The rank over Q, and the last pivot up to sign, by Bareiss' fraction-free elimination.

    After k pivots the entries are minors of order k + 1, up to sign, so each division by the
    previous pivot is exact, and the last pivot of a regular matrix is its determinant.
    """
    left, previous, rank, sign = [list(row) for row in rows], 1, 0, 1
    room(what, sum(map(len, left)))
    while left and left[0]:
        place = next((i for i, row in enumerate(left) if row[0]), None)
        spend(what, 50 + len(left) * len(left[0]) // 8)
        if place is None:
            left = [row[1:] for row in left]
            continue
        pivot, *top = left.pop(place)
        bits, size = bits_of((*left, top, [pivot])), len(left) * len(top)
        multiply(what, 3 * size, bits)
        spend(what, 2 * size, bits, previous.bit_length())  # divisions take quadratic time
        room(what, 2 * size, 2 * bits + 1)
        left = [
            [(pivot * x - first * y) // previous for x, y in zip(row, top, strict=True)]
            for first, *row in left
        ]
        previous, rank, sign = pivot, rank + 1, sign * (-1) ** place
    return rank, sign * previous


def integer_rank(rows: Rows, what: str) -> int:
    """The rank over Q of an integer matrix."""
    return bareiss(rows, what)[0]


def rank(M: Iterable[Sequence[Fraction]]) -> int:
    """The rank over Q."""
    with released():
        return integer_rank([row for row, _ in cleared_rows(M)], "The rank")


def determinant(M: Matrix) -> Fraction:
    if len(M) != len(M[0]):
        refuse("A determinant", f"of a matrix with {len(M)} rows and {len(M[0])} columns")
    rows = cleared_rows(M)
    order, last = bareiss([row for row, _ in rows], "The determinant")
    spend("The determinant", len(rows), sum(d.bit_length() for _, d in rows), M.bits)
    return ratio(last if order == len(M) else 0, math.prod(d for _, d in rows))


def subsets(n: int, k: int) -> int:
    """The binomial coefficient, or something above 10^18 that it exceeds."""
    found = 1
    for i in range(min(k, n - k)):
        if (found := found * (n - i) // (i + 1)) > 10**18:
            break
    return found
