"""Pencils: two slices, at a root where their combination drops its rank."""

import itertools
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from ..arithmetic import bits_of, height
from ..limits import refuse, spend
from ..polynomials import Polynomial, has_root_mod, monic, reduce_modulo, residue_class, roots_of
from ..reading import exactly, indices, items, prime
from ..tensors import Bound, Integral, lower_rank, mode_and_prime, turned


class Pencil(NamedTuple):
    """Slices A, B, and a root x of the modulus."""

    A: Sequence[Sequence[int]]
    B: Sequence[Sequence[int]]
    modulus: Polynomial

    def times(self, row: Sequence[Polynomial], M: Sequence[Sequence[int]]) -> list[Polynomial]:
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
        parts = zip(self.times(row, self.A), shifted, strict=True)
        return [
            [a + b for a, b in zip(u, reduce_modulo(v, self.modulus), strict=True)]
            for u, v in parts
        ]

    def rows(self, value: object, where: str) -> list[list[Polynomial]]:
        """A matrix of residues, as wide as A is high."""
        return [
            [residue_class(x, self.modulus, where) for x in exactly(len(self.A), row, where)]
            for row in items(value, where)
        ]


class Drop(NamedTuple):
    """A pencil, Y with g rows (none: they are not what they should be), and the bound.

    Y has a unit matrix in the columns named by the pivots, so its rows are independent at every
    root, and Y(A + xB) = 0: A + xB, with m rows, has rank at most m - g at every root. The bound is
    r + r' - (m - g), r and r' the ranks of the flattenings of the other modes.
    """

    pencil: Pencil
    Y: list[list[Polynomial]]
    bound: int
    text: str


def drop(step: Mapping[str, Any], T: Integral, where: str) -> Drop:
    mode, p = mode_and_prime(step, where)
    slices = turned(T, mode)
    if len(slices) != 2:
        refuse(where, "needs a mode of size two")
    A, B = (slices[i] for i in exactly(2, indices(step["order"], f"{where}.order", 2), where))
    pencil = Pencil(A, B, monic(step["modulus"], f"{where}.modulus"))
    Y = pencil.rows(step["left"], f"{where}.left")
    pivots = indices(step["pivots"], f"{where}.pivots", len(A))
    if len(pivots) != len(Y):
        refuse(f"{where}.pivots", "must name one column for each row of left")
    degree = len(pencil.modulus) - 1
    spend("The kernel", 10 * len(Y) ** 2 * (degree + 1))
    unit = all(
        list(y[k]) == [Fraction(i == j)] + [Fraction(0)] * (degree - 1)
        for i, y in enumerate(Y)
        for j, k in enumerate(pivots)
    )
    if not unit or any(map(any, itertools.chain(*map(pencil.at_root, Y)))):
        return Drop(pencil, [], -1, "")
    r, s = (lower_rank(T, other, p) for other in range(3) if other != mode)
    less = len(A) - len(Y)
    return Drop(pencil, Y, r + s - less, f"R >= {r} + {s} - {less}, at a root of degree {degree}")


def by_jet(step: Mapping[str, Any], T: Integral, field: str, where: str) -> Bound:
    """If Y(A + xB) = 0 and YB = W(A + xB) at some complex x then R >= r + r' - (m - g)."""
    at = drop(step, T, where)
    W = at.pencil.rows(step["jet"], f"{where}.jet")
    images = [at.pencil.times(y, at.pencil.B) for y in at.Y]
    if not at.Y or images != [at.pencil.at_root(w) for w in W]:
        return -1, T, "the left kernel or the jet is not what the lemma needs"
    return at.bound, T, f"{at.text}, with a jet"


def by_eigenvalue(step: Mapping[str, Any], T: Integral, field: str, where: str) -> Bound:
    """If Y(A + xB) = 0 at some x outside the field then R >= r + r' - (m - g).

    Some root of the modulus is not real if Sturm counts fewer real roots than roots; no root is
    rational if the modulus has none modulo some prime.
    """
    at = drop(step, T, where)
    modulus = at.pencil.modulus
    if step["outside"] == "sturm":
        real, distinct = roots_of(modulus)
        outside, name = field != "C" and real < distinct, "that is not real"
    else:
        q, name = prime(step["outside"], f"{where}.outside"), "that is not rational"
        outside = field == "Q" and all(c.denominator % q for c in modulus)
        outside = outside and not has_root_mod(modulus, q)
    if not at.Y or not outside:
        return -1, T, "the left kernel or the root is not what the lemma needs"
    return at.bound, T, f"{at.text} {name}"
