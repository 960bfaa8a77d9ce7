"""Pencils: two slices, at a root where their combination drops its rank."""

import itertools
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from ..arithmetic import bits_of, height
from ..limits import refuse, spend
from ..polynomials import (
    Polynomial,
    has_root_mod,
    monic,
    reduce_modulo,
    residue_class,
    roots_of,
)
from ..reading import exactly, indices, items, prime
from ..tensors import Cube, lower_rank, slices_of
from .rule import Bound, mode_and_prime


class LeftKernel(NamedTuple):
    """Slices A, B with m rows, a root x of the modulus, and Y: g independent rows, Y(A + xB) = 0.

    Y has a unit matrix in the columns named by the pivots, so its rows are independent at every
    root; hence A + xB has rank at most m - g at every root.
    """

    A: list[list[int]]
    B: list[list[int]]
    modulus: Polynomial
    Y: list[list[Polynomial]]
    holds: bool

    def times(self, row: Sequence[Polynomial], M: list[list[int]]) -> list[Polynomial]:
        """The row vector row · M of residues."""
        degree, bits = len(self.modulus) - 1, height(c for y in row for c in y)
        spend("The kernel", 20 * len(M) * len(M[0]) * degree, bits_of(M) + 2 * bits, bits)
        out: list[Polynomial] = [[Fraction(0)] * degree for _ in M[0]]
        for y, entries in zip(row, M, strict=True):
            for j in (j for j, entry in enumerate(entries) if entry and any(y)):
                out[j] = [a + entries[j] * b for a, b in zip(out[j], y, strict=True)]
        return out

    def at_root(self, row: Sequence[Polynomial]) -> list[Polynomial]:
        """The row vector row · (A + xB) of residues."""
        shifted = ([Fraction(0), *y] for y in self.times(row, self.B))
        products = zip(
            self.times(row, self.A), (reduce_modulo(y, self.modulus) for y in shifted), strict=True
        )
        return [[a + b for a, b in zip(u, v, strict=True)] for u, v in products]

    def bound(self, T: Cube, mode: int, p: int) -> tuple[int, str]:
        """R >= r + r' - (m - g), r and r' the ranks of the flattenings of the other modes."""
        r, s = (lower_rank(T, other, p) for other in range(3) if other != mode)
        drop, degree = len(self.A) - len(self.Y), len(self.modulus) - 1
        return r + s - drop, f"R >= {r} + {s} - {drop}, at a root of degree {degree}"


def left_kernel(step: Mapping[str, Any], T: Cube, mode: int, where: str) -> LeftKernel:
    slices = slices_of(T, mode)
    if len(slices) != 2:
        refuse(where, "needs a mode of size two")
    A, B = (slices[i] for i in exactly(2, indices(step["order"], f"{where}.order", 2), where))
    modulus = monic(step["modulus"], f"{where}.modulus")
    Y = residue_rows(step["left"], modulus, len(A), f"{where}.left")
    pivots = indices(step["pivots"], f"{where}.pivots", len(A))
    if len(pivots) != len(Y):
        refuse(f"{where}.pivots", "must name one column for each row of left")
    one, zero = reduce_modulo([Fraction(1)], modulus), [Fraction(0)] * (len(modulus) - 1)
    spend("The kernel", 10 * len(Y) ** 2 * len(modulus))
    unit = all(
        list(Y[i][k]) == (one if i == j else zero)
        for i in range(len(Y))
        for j, k in enumerate(pivots)
    )
    kernel = LeftKernel(A, B, modulus, Y, unit)
    vanishes = unit and not any(map(any, itertools.chain(*map(kernel.at_root, Y))))
    return kernel._replace(holds=vanishes)


def residue_rows(
    value: object, modulus: Polynomial, width: int, where: str
) -> list[list[Polynomial]]:
    """A matrix of residues modulo the modulus."""
    return [
        [residue_class(x, modulus, where) for x in exactly(width, row, where)]
        for row in items(value, where)
    ]


def by_jet(step: Mapping[str, Any], T: Cube, field: str, where: str) -> Bound:
    """If Y(A + xB) = 0 and YB = W(A + xB) at some complex x then R >= r + r' - (m - g)."""
    mode, p = mode_and_prime(step, where)
    at = left_kernel(step, T, mode, where)
    W = residue_rows(step["jet"], at.modulus, len(at.A), f"{where}.jet")
    if not at.holds or [at.times(y, at.B) for y in at.Y] != [at.at_root(w) for w in W]:
        return -1, T, "the left kernel or the jet is not what the lemma needs"
    bound, text = at.bound(T, mode, p)
    return bound, T, f"{text}, with a jet"


def by_eigenvalue(step: Mapping[str, Any], T: Cube, field: str, where: str) -> Bound:
    """If Y(A + xB) = 0 at some x outside the field then R >= r + r' - (m - g).

    Some root of the modulus is not real if Sturm counts fewer real roots than roots; no root is
    rational if the modulus has none modulo some prime.
    """
    mode, p = mode_and_prime(step, where)
    at = left_kernel(step, T, mode, where)
    if step["outside"] == "sturm":
        real, distinct = roots_of(at.modulus)
        outside, name = field != "C" and real < distinct, "that is not real"
    else:
        q, name = prime(step["outside"], f"{where}.outside"), "that is not rational"
        outside = field == "Q" and all(c.denominator % q for c in at.modulus)
        outside = outside and not has_root_mod(at.modulus, q)
    if not at.holds or not outside:
        return -1, T, "the left kernel or the root is not what the lemma needs"
    bound, text = at.bound(T, mode, p)
    return bound, T, f"{text} {name}"
