"""Quaternions over R and C with fewer terms than over Q, at a root of a polynomial.

With s = √a, i² = a and j² = b, quaternions are the 2 × 2 matrices

    i = (s, 0; 0, -s),   j = (0, b; 1, 0),

and take Strassen's seven terms; these have entries with s and are not conjugate to each other.
Where both squares are negative, real multiples of i and j have the squares -1, and eight terms do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from math import isqrt

from flint import fmpq, fmpq_mat, fmpq_poly

from lemmax.theory.numbers.linear import real_roots
from lemmax.theory.tensors.above.schemes import MATRICES, Form, Scheme, quaternions
from lemmax.theory.tensors.algebras.components import Component
from lemmax.theory.tensors.decompositions import Bundle, Factors, Residues
from lemmax.theory.tensors.fields import Field

_THETA = fmpq_poly([0, 1])


def at_a_root(part: Component, field: Field) -> Bundle | None:
    """The terms of quaternions over a centre of degree one or two, or None where none are shorter.

    >>> from lemmax.theory.tensors.algebras.components import components
    >>> from lemmax.theory.tensors.algebras.groups import quaternions
    >>> from lemmax.theory.tensors.algebras.structure import structure
    >>> (part,) = components(structure(quaternions()).parts)
    >>> len(at_a_root(part, "C")), at_a_root(part, "R")
    (7, None)
    """
    if part.squares is None or part.modulus.degree() > 2 or field == "Q":
        return None
    (a, b), d = part.squares, int(part.modulus.degree())
    if field == "C" or (a > 0 and real_roots(part.modulus) == d):
        centre = part.modulus if d > 1 else _THETA  # over Q all residues are constants
        ring = _Ring(centre, fmpq_poly([-a, 0, 1]))
        return Bundle(ring.modulus, tuple(_as_matrices(part, a, b, ring)))
    roots = [_square_root(-x) for x in (a, b)]
    if d > 1 or a > 0 or b > 0 or a == b == -1 or roots == [None, None]:
        return None
    modulus = fmpq_poly([a if roots[0] is None else b, 0, 1])
    own = [_THETA if root is None else fmpq_poly([root]) for root in roots]
    return Bundle(modulus, tuple(_scaled(part, own[0], own[1], modulus)))


class _Ring:
    """Q[x, y] modulo two polynomials f(x) and g(y), as Q[w] modulo one."""

    def __init__(self, f: fmpq_poly, g: fmpq_poly) -> None:
        self.f, n = f, 2 * int(f.degree())
        powers = next(rows for rows in map(self._powers(g), count(1)) if _matrix(rows).rank() == n)
        self._inverse = _matrix(powers).inv()
        last = (fmpq_mat([powers[n]]) * self._inverse).tolist()[0]
        self.modulus = fmpq_poly([*(-c for c in last), 1])

    def _powers(self, g: fmpq_poly) -> Callable[[int], list[list[fmpq]]]:
        """The powers of w = x + m·y up to the dimension, in the basis x^p y^q, for every m."""
        d = int(self.f.degree())

        def rows(m: int) -> list[list[fmpq]]:
            zero, one = fmpq_poly([1]), fmpq_poly([])  # the parts with y⁰ and y¹
            found = []
            for _ in range(2 * d + 1):
                found.append([part[p] for part in (zero, one) for p in range(d)])
                moved = _THETA * zero % self.f, _THETA * one % self.f
                zero, one = moved[0] - m * g[0] * one, moved[1] + m * zero
            return found

        return rows

    def element(self, x: fmpq_poly, y: fmpq_poly) -> fmpq_poly:
        """x + y·√ as a polynomial in w, x and y polynomials in the first root."""
        d = int(self.f.degree())
        x, y = x % self.f, y % self.f
        row = [part[p] for part in (x, y) for p in range(d)]
        return fmpq_poly((fmpq_mat([row]) * self._inverse).tolist()[0])


def _matrix(powers: list[list[fmpq]]) -> fmpq_mat:
    """All but the last, which the others span."""
    return fmpq_mat(powers[:-1])


def _conjugates(f: fmpq_poly) -> list[Callable[[fmpq_poly], fmpq_poly]]:
    """The conjugates of a residue modulo a polynomial of degree one or two."""
    if f.degree() == 1:
        return [lambda x: x % f]
    other = fmpq_poly([-f[1], -1])  # the roots add up to -f[1]
    return [lambda x: x % f, lambda x: x(other) % f]


def _as_matrices(part: Component, a: fmpq, b: fmpq, ring: _Ring) -> Iterator[Factors]:
    for conjugate in _conjugates(part.modulus):

        def matrix(x: Residues, own: Callable[[fmpq_poly], fmpq_poly] = conjugate) -> Residues:
            """x₀ + x₁i + x₂j + x₃ij."""
            p, q, r, t = map(own, x)
            return (
                ring.element(p, q),
                ring.element(b * r, b * t),
                ring.element(r, -t),
                ring.element(p, -q),
            )

        def dual(x: Residues, own: Callable[[fmpq_poly], fmpq_poly] = conjugate) -> Residues:
            """Z with tr(MZ) the product of the coordinates of M with x; 1/s = s/a."""
            p, q, r, t = (own(c) / 2 for c in x)
            return (
                ring.element(p, q / a),
                ring.element(r, -t / a),
                ring.element(r / b, t / (a * b)),
                ring.element(p, -q / a),
            )

        images = [matrix(x) for x in part.images]
        duals = [dual(x) for x in part.duals]
        yield from _terms(MATRICES[2], images, duals, ring.modulus)


def _scaled(
    part: Component, first: fmpq_poly, second: fmpq_poly, modulus: fmpq_poly
) -> Iterator[Factors]:
    """The eight terms in the basis 1, i / first, j / second and their product."""
    scales = (fmpq_poly([1]), first, second, first * second % modulus)
    inverses = [scale / (scale * scale % modulus)[0] for scale in scales]  # squares are rational
    images = [_multiplied(x, scales, modulus) for x in part.images]
    duals = [_multiplied(x, inverses, modulus) for x in part.duals]
    yield from _terms(quaternions(fmpq(-1), fmpq(-1)), images, duals, modulus)


def _multiplied(x: Residues, by: tuple[fmpq_poly, ...] | list[fmpq_poly], f: fmpq_poly) -> Residues:
    """Rational coordinates times residues; the centre is Q, so each is a constant."""
    return tuple(c[0] * scale % f for c, scale in zip(x, by, strict=True))


def _terms(
    scheme: Scheme, images: list[Residues], duals: list[Residues], modulus: fmpq_poly
) -> Iterator[Factors]:
    def form(weights: Form, entries: Residues) -> fmpq_poly:
        used = (c * x for c, x in zip(weights, entries, strict=True) if c)
        return sum(used, fmpq_poly([])) % modulus

    for alpha, beta, gamma in scheme:
        yield (
            tuple(form(alpha, x) for x in images),
            tuple(form(beta, x) for x in images),
            tuple(form(gamma, x) for x in duals),
        )


def _square_root(x: fmpq) -> fmpq | None:
    """The rational square root, if there is one."""
    if x < 0:
        return None
    p, q = isqrt(int(x.p)), isqrt(int(x.q))
    return fmpq(p, q) if fmpq(p * p, q * q) == x else None
