"""Radical, centre and simple parts of an associative algebra with unit over Q.

The radical N is the null space of the trace form tr(L_x L_y). Modulo N the algebra is a product of
simple parts, one for each irreducible factor f of the minimal polynomial of an element z that
generates the centre: the part has the centre Q[x]/(f), and over C it becomes deg f full matrix
algebras of one degree s.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from flint import fmpq, fmpq_mat, fmpq_poly, fmpz, fmpz_mat

from lemmax.theory.numbers.linear import integers, null_space, real_roots
from lemmax.theory.tensors.algebras.tables import Algebra, Table, unital
from lemmax.theory.tensors.arrays import Array, mapped
from lemmax.theory.tensors.decompositions import Vector
from lemmax.theory.tensors.fields import Field

_POINTS = 400  # integers at which the value of a polynomial may be a prime times a small number
_COFACTOR = 60
_PRIME = 3_317_044_064_679_887_385_961_981  # the checker proves smaller numbers to be primes
_RANDOM = 40  # central elements with random coordinates that are tried
_DIGITS = 2**40
_GENERATORS = 12  # of the centre that are tried for polynomials with short proofs


@dataclass(frozen=True)
class Radical:
    """A nilpotent ideal: a basis, the basis elements kept, and a map whose kernel it is.

    The map takes each kept basis element to the same multiple of a unit vector.
    """

    ideal: list[list[int]]
    kept: list[int]
    map: list[list[int]]


@dataclass(frozen=True)
class Part:
    """A simple part over Q: its centre Q[x]/(f), and the degree s of its matrices over C.

    ``point`` and ``prime`` show that f is irreducible, by its value at the point; they are zero
    where none was found, or where f is linear.
    """

    polynomial: fmpq_poly
    degree: int
    point: int = 0
    prime: int = 0

    def count(self, field: Field) -> int:
        """The number of simple parts into which it splits over the field."""
        d = int(self.polynomial.degree())
        if field == "Q":
            return 1
        return d if field == "C" else (d + real_roots(self.polynomial)) // 2

    def lost(self, field: Field) -> int:
        """What it takes from twice its dimension in the bound that is proved."""
        if self.degree <= 2:
            return self.count(field)
        least = next(q for q in range(2, self.degree + 1) if self.degree % q == 0)
        return int(self.polynomial.degree()) * self.degree**2 // least


@dataclass(frozen=True)
class Semisimple:
    """A semisimple algebra, an element that generates its centre, and its simple parts."""

    algebra: Algebra
    element: Vector
    parts: tuple[Part, ...]

    def count(self, field: Field) -> int:
        """The number of maximal two-sided ideals over the field.

        >>> from lemmax.theory.tensors.examples import cyclic
        >>> from lemmax.theory.tensors.algebras.tables import unital
        >>> parts = semisimple(unital(cyclic(5)).algebra)
        >>> [parts.count(field) for field in ("Q", "R", "C")]
        [2, 3, 5]
        """
        return sum(part.count(field) for part in self.parts)

    def skew(self, field: Field) -> int:
        """How many parts over Q or R are shown to be division algebras that do not commute.

        Parts of degree two only. Over R matrices of degree s have a trace form of signature s,
        quaternions of -2, parts with the centre C of 0; a part over Q is a division algebra if it
        has quaternions at a real root of its centre.

        >>> from lemmax.theory.tensors.algebras.groups import quaternions
        >>> from lemmax.theory.tensors.algebras.tables import unital
        >>> parts = semisimple(unital(quaternions()).algebra)
        >>> [parts.skew(field) for field in ("Q", "R", "C")]
        [1, 1, 0]
        """
        if field == "C" or max(part.degree for part in self.parts) != 2:
            return 0
        real = [(real_roots(part.polynomial), part.degree) for part in self.parts]
        left = (sum(count * s for count, s in real) - _signature(trace_form(self.algebra))) // 4
        if field == "R":
            return left
        room = sorted((count for count, s in real if s == 2), reverse=True)
        return next(k for k in range(len(room) + 1) if sum(room[:k]) >= left)


def _signature(form: Array) -> int:
    """Positive minus negative roots of the characteristic polynomial, by Descartes' signs.

    All roots are real, so that his count is exact; none is zero.
    """
    polynomial = fmpz_mat(form.tolist()).charpoly()
    signs = [x > 0 for x in polynomial.coeffs() if x]
    positive = sum(x != y for x, y in itertools.pairwise(signs))
    return 2 * positive - len(form)


def trace_form(algebra: Algebra) -> Array:
    """tr(L_x) at x = e_i e_j, for all i and j."""
    T = algebra.constants.astype(object)
    traces = np.array([part.trace() for part in T], dtype=object)
    form: Array = T @ traces
    return form


def radical(algebra: Algebra) -> Radical | None:
    """The radical, or None if it is zero.

    >>> from lemmax.theory.tensors.algebras.tables import unital
    >>> truncated = np.zeros((2, 2, 2), dtype=int)
    >>> truncated[0, 0, 0] = truncated[0, 1, 1] = truncated[1, 0, 1] = 1
    >>> radical(unital(truncated).algebra).ideal
    [[0, 1]]
    """
    basis = null_space(fmpq_mat(fmpz_mat(trace_form(algebra).tolist())))
    if not basis:
        return None
    n = algebra.dimension
    echelon, size = fmpq_mat(basis).rref()
    rows = echelon.tolist()[: int(size)]
    pivots = [next(j for j in range(n) if row[j]) for row in rows]
    kept = [j for j in range(n) if j not in pivots]
    functionals = []
    for j in kept:
        functional = [fmpq(int(i == j)) for i in range(n)]
        for pivot, row in zip(pivots, rows, strict=True):
            functional[pivot] = -row[j]
        functionals.append(functional)
    numerators, _ = fmpq_mat(functionals).numer_denom()
    ideal = [[int(x) for x in integers(row)] for row in rows]
    return Radical(ideal, kept, [[int(x) for x in row] for row in numerators.tolist()])


def quotient(algebra: Algebra, ideal: Radical) -> Algebra:
    """The algebra modulo an ideal, scaled to integers as the map of the ideal is."""
    smaller = algebra.constants[np.ix_(ideal.kept, ideal.kept)]
    constants = mapped(smaller, 2, ideal.map)
    scale = ideal.map[0][ideal.kept[0]]
    image = (fmpq_mat(fmpz_mat(ideal.map)) * fmpq_mat([[x] for x in algebra.unit])).tolist()
    return Algebra(constants, tuple(x / scale / scale for (x,) in image))


def semisimple(algebra: Algebra) -> Semisimple | None:
    """The centre and the simple parts of a semisimple algebra; None if no short generator is found.

    Cost: characteristic polynomials of left multiplications by central elements.
    """
    n = algebra.dimension
    T = algebra.constants
    commutators = (T - T.transpose(1, 0, 2)).reshape(n, n * n).T
    centre = null_space(fmpq_mat(fmpz_mat(commutators.tolist())))
    generators: list[Semisimple] = []
    for element in _combinations([tuple(row) for row in centre]):
        charpoly = algebra.by_left(element).charpoly()
        factors: list[tuple[fmpq_poly, int]] = charpoly.factor()[1]
        if sum(f.degree() for f, _ in factors) == len(centre):
            scale = _common_scale([f for f, _ in factors])
            shrunk = tuple(x / scale for x in element)
            parts = tuple(_part(_scaled(f, scale), math.isqrt(m)) for f, m in factors)
            generators.append(Semisimple(algebra, shrunk, parts))
            if all(p.prime or p.polynomial.degree() == 1 for p in parts):
                return generators[-1]
            if len(generators) >= _GENERATORS:
                break
    return generators[0] if generators else None


def _common_scale(factors: list[fmpq_poly]) -> int:
    """The largest c, up to primes beyond 1,000, with roots of all polynomials c times integral.

    >>> _common_scale([fmpq_poly([12, 0, 1]), fmpq_poly([6, 1])])
    2
    """
    rest, scale = 0, 1
    for f in factors:
        d = f.degree()
        rest = math.gcd(rest, *(int((f[i] / f[d]).p) for i in range(d)))
    for q in (*range(2, 1000), rest):  # one prime after another, since each is asked by itself
        while rest > 1 and rest % q == 0:
            rest //= q
            if all(x.q == 1 for f in factors for x in _scaled(f, scale * q).coeffs()):
                scale *= q
    return scale


def _scaled(f: fmpq_poly, scale: int) -> fmpq_poly:
    """The monic polynomial of the roots of f divided by a number."""
    d = f.degree()
    return fmpq_poly([f[i] / f[d] / fmpq(scale) ** (d - i) for i in range(d + 1)])


def _combinations(vectors: list[Vector]) -> Iterator[Vector]:
    """Short integer combinations of vectors: each alone, two of them, random ones."""
    yield from vectors
    for x, y in itertools.islice(itertools.permutations(vectors, 2), 200):
        yield tuple(a + 2 * b for a, b in zip(x, y, strict=True))
    generator = random.Random(0)
    for size in range(2, _RANDOM):
        weights = [generator.randint(-size // 2, size // 2) for _ in vectors]
        yield tuple(
            sum((w * v[i] for w, v in zip(weights, vectors, strict=True)), fmpq(0))
            for i in range(len(vectors[0]))
        )


def _part(f: fmpq_poly, degree: int) -> Part:
    point, prime = irreducible_at(f) or (0, 0)
    return Part(f, degree, point, prime)


def irreducible_at(f: fmpq_poly) -> tuple[int, int] | None:
    """An integer a and a prime p that show by f(a) = c·p that an integer f is irreducible.

    With H the largest absolute value of a coefficient below the leading one, which is 1, all roots
    are smaller than H + 1; if |a| ≥ H + 1 + |c|, no two factors over Z have a value at a that
    divides c, and p divides only one of them.

    >>> irreducible_at(fmpq_poly([1, 0, 0, 0, 1]))
    (4, 257)
    """
    d = f.degree()
    if d < 2 or any(f[i].q != 1 or abs(f[i].p) > _DIGITS for i in range(d + 1)):
        return None
    largest = max(abs(int(f[i].p)) for i in range(d))
    for a in range(largest + 2, largest + 2 + _POINTS):
        for point in (a, -a):
            value = abs(int(f(fmpz(point)).p))
            for c in range(1, min(_COFACTOR, a - largest - 1) + 1):
                p, rest = divmod(value, c)
                if not rest and p < _PRIME and fmpz(p).is_prime():
                    return point, p
    return None


@dataclass(frozen=True)
class Structure:
    """A tensor as an algebra: how its bases change, its radical, and its simple parts above it."""

    table: Table
    radical: Radical | None
    parts: Semisimple

    def of_theorem(self, field: Field) -> int:
        """2 dim - t, which Alder and Strassen prove for all algebras."""
        return 2 * self.table.algebra.dimension - self.parts.count(field)


def structure(array: Array) -> Structure | None:
    """The tensor as an associative algebra with unit, or None.

    >>> from lemmax.theory.tensors.examples import cyclic
    >>> structure(cyclic(5)).of_theorem("R")
    7
    """
    table = unital(array)
    if table is None:
        return None
    ideal = radical(table.algebra)
    rest = table.algebra if ideal is None else quotient(table.algebra, ideal)
    parts = semisimple(rest)
    return None if parts is None else Structure(table, ideal, parts)


def alder_strassen(array: Array, field: Field) -> int | None:
    """2 dim - t for a multiplication table of an associative algebra with unit, else None.

    >>> from lemmax.theory.tensors.examples import cyclic
    >>> [alder_strassen(cyclic(5), field) for field in ("Q", "R", "C")]
    [8, 7, 5]
    """
    of_algebra = structure(array)
    return None if of_algebra is None else of_algebra.of_theorem(field)
