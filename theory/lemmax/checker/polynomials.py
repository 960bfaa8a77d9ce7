"""Polynomials over Q: coefficients, the constant one first."""

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

from .arithmetic import cleared, height
from .limits import refuse, spend
from .reading import numbers

Polynomial = Sequence[Fraction]


def monic(value: object, where: str) -> Polynomial:
    found = numbers(value, where)
    if len(found) < 2 or found[-1] != 1:
        refuse(where, "must be a monic polynomial of positive degree, constant coefficient first")
    return found


def residue_class(value: object, modulus: Polynomial, where: str) -> Polynomial:
    """A polynomial of degree below that of the modulus."""
    found = numbers(value, where)
    if len(found) != len(modulus) - 1:
        refuse(where, f"has a residue that is not given by {len(modulus) - 1} coefficients")
    return found


def reduce_modulo(f: Polynomial, modulus: Polynomial) -> list[Fraction]:
    g, d, bits = list(f), len(modulus) - 1, height(modulus)
    for n in range(len(g) - 1, d - 1, -1):
        lead = g[n] / modulus[-1]
        if lead:
            spend("A polynomial", 40 * d, height((*g, lead)), 2 * bits + height((lead,)))
            for m in range(d + 1):
                g[n - d + m] -= lead * modulus[m]
    return (g + [Fraction(0)] * d)[:d]


def multiply(f: Polynomial, g: Polynomial) -> list[Fraction]:
    a, b = height(f), height(g)
    spend("A polynomial", 30 * len(f) * len(g), a + b, 2 * (a + b))
    out = [Fraction(0)] * (len(f) + len(g) - 1)
    for i, x in enumerate(f):
        if x:
            for j, y in enumerate(g):
                if y:
                    out[i + j] += x * y
    return out


def roots_of(f: Polynomial) -> tuple[int, int]:
    """The numbers of distinct real and of distinct complex roots, by Sturm's chain."""
    chain: list[Polynomial] = [f, [n * x for n, x in enumerate(f)][1:]]
    while any(rest := reduce_modulo(chain[-2], chain[-1])):
        while not rest[-1]:
            rest.pop()
        integers, _ = cleared(rest)  # a positive multiple without common factors stays short
        spend("Sturm's chain", 6 * len(rest), height(integers), height(integers))
        common = math.gcd(*integers)
        chain.append([Fraction(-x // common) for x in integers])

    def changes(sign: int) -> int:
        signs = [(g[-1] > 0) == (sign > 0 or len(g) % 2 == 1) for g in chain]
        return sum(x != y for x, y in itertools.pairwise(signs))

    return changes(-1) - changes(1), len(f) - len(chain[-1])


def has_root_mod(f: Polynomial, q: int) -> bool:
    """Whether some residue mod the prime q, which divides no denominator, is a root."""
    spend("The roots mod a prime", 2 * q * len(f), q.bit_length(), q.bit_length())
    coefficients = [c.numerator * pow(c.denominator, -1, q) % q for c in reversed(f)]
    for x in range(q):
        value = 0
        for c in coefficients:
            value = (value * x + c) % q
        if value == 0:
            return True
    return False


def power_sums(f: Polynomial, count: int) -> list[Fraction]:
    """Newton: the sums over the roots of a monic f, with multiplicity, of their m-th powers."""
    n, bits = len(f) - 1, height(f)
    sums = [Fraction(n)]
    for m in range(1, count):
        long = height(sums[-min(m, n) :])
        spend("The families", 40 * min(m, n) + 40, long + bits, 2 * (long + bits))
        known = sum((f[n - k] * sums[m - k] for k in range(1, min(m, n + 1))), Fraction(0))
        sums.append(-known - (m * f[n - m] if m <= n else 0))
    return sums
