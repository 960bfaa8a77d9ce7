"""Simple parts as matrices over number fields: the product as a sum of traces.

For a part with the centre K = Q[x]/(f) that is K itself or small matrices over K, ρ takes basis
elements to matrices over K. There are matrices C_k with

    e_i e_j = Σ_k Σ_parts Tr_{K/Q} tr(ρ(e_i) ρ(e_j) C_k) e_k,

so every way to write tr(X Y Z) as a sum of products of linear forms gives terms of the table.
Where no minimal left ideal is found in a part of degree two, it is written as quaternions, in the
basis 1, i, j, ij over K with rational i² and j² and ij = -ji.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from flint import fmpq, fmpq_mat, fmpq_poly

from lemmax.theory.numbers.linear import independent, rank
from lemmax.theory.tensors.algebras.structure import Semisimple
from lemmax.theory.tensors.algebras.tables import Algebra
from lemmax.theory.tensors.decompositions import Vector, power_sums

Residues: TypeAlias = tuple[fmpq_poly, ...]
"""The entries of a matrix over a number field, row by row."""

_CANDIDATES = 400  # elements that may generate a minimal left ideal
_FEW = 100  # of them where the part is known to be quaternions over its centre


@dataclass(frozen=True)
class Component:
    """A part: the modulus of its field, the degree s, ρ(e_i) and C_k, each of s² residues.

    Of quaternions these are coordinates, ``squares`` are i² and j², and C_k pairs with the product
    coordinate by coordinate.
    """

    modulus: fmpq_poly
    degree: int
    images: tuple[Residues, ...]
    duals: tuple[Residues, ...] = ()
    squares: tuple[fmpq, fmpq] | None = None

    def __len__(self) -> int:
        """The dimension over Q."""
        return int(self.modulus.degree()) * self.degree**2


def components(parts: Semisimple) -> tuple[Component, ...] | None:
    """All parts as matrices, or None if one is neither a field nor found to be 2 × 2 matrices.

    >>> from lemmax.theory.tensors.algebras.structure import semisimple
    >>> from lemmax.theory.tensors.algebras.tables import unital
    >>> from lemmax.theory.tensors.examples import cyclic
    >>> [part.modulus.coeffs() for part in components(semisimple(unital(cyclic(3)).algebra))]
    [[-1, 1], [1, 1, 1]]
    """
    algebra = parts.algebra
    whole = fmpq_poly([1])
    for part in parts.parts:
        whole *= part.polynomial
    made = []
    for part in parts.parts:
        if part.degree > 3:
            return None
        idempotent = _idempotent(algebra, parts.element, part.polynomial, whole)
        z, f, s = parts.element, part.polynomial, part.degree
        basis = _quaternions(algebra, idempotent) if s == 2 else None
        generators = _ideal(algebra, z, f, idempotent, s, _CANDIDATES if basis is None else _FEW)
        if generators is not None:
            images = _action(algebra, z, f, generators)
            made.append(_nicer(Component(f, s, images)))
        elif basis is not None:
            units, squares = basis
            images = _coordinates(algebra, z, f, units)
            made.append(_nicer(Component(f, s, images, squares=squares)))
        else:
            return None
    return _with_duals(made)


def _quaternions(
    algebra: Algebra, idempotent: Vector
) -> tuple[list[Vector], tuple[fmpq, fmpq]] | None:
    """The unit of a part and i, j, ij, with i² and j²; those with squares -1 are preferred."""
    n = algebra.dimension
    images = [algebra.times(algebra.basis(i), idempotent) for i in range(n)]
    place = next(k for k, x in enumerate(idempotent) if x)

    def square(x: Vector) -> fmpq | None:
        """The rational x², or None."""
        xx = algebra.times(x, x)
        ratio = xx[place] / idempotent[place]
        same = all(a == ratio * b for a, b in zip(xx, idempotent, strict=True))
        return ratio if same and ratio else None

    rational = [(x, a) for x in images if (a := square(x)) is not None]
    pairs = []
    for (x, a), y in itertools.product(rational, images):
        xy, yx = algebra.times(x, y), algebra.times(y, x)
        j = tuple(p - q for p, q in zip(xy, yx, strict=True))
        if not any(j):
            continue
        if all(p == -q for p, q in zip(xy, yx, strict=True)):
            j = y
        b = square(j)
        if b is not None:
            pairs.append(([idempotent, x, j, algebra.times(x, j)], (a, b)))
            if a == b == -1:
                break
    return min(pairs, key=lambda pair: pair[1] != (fmpq(-1), fmpq(-1)), default=None)


def _coordinates(
    algebra: Algebra, z: Vector, f: fmpq_poly, units: Sequence[Vector]
) -> tuple[Residues, ...]:
    """The coordinates over K of the images of the basis elements."""
    d = int(f.degree())
    basis = [row for unit in units for row in _multiples(algebra, z, d, unit)]
    columns = independent([list(column) for column in zip(*basis, strict=True)])
    inverse = fmpq_mat([[row[j] for j in columns] for row in basis]).inv()
    images = [algebra.times(algebra.basis(i), units[0]) for i in range(algebra.dimension)]
    rows = (fmpq_mat([[row[j] for j in columns] for row in images]) * inverse).tolist()
    return tuple(tuple(fmpq_poly(row[a * d : a * d + d]) for a in range(4)) for row in rows)


def _polynomial(algebra: Algebra, p: fmpq_poly, z: Vector, start: Vector) -> Vector:
    """p(z) times an element, by Horner's scheme."""
    action, n = algebra.by_left(z), algebra.dimension
    value = fmpq_mat(1, n)
    for i in range(p.degree(), -1, -1):
        value = value * action + fmpq_mat([list(start)]) * p[i]
    return tuple(value.tolist()[0])


def _idempotent(algebra: Algebra, z: Vector, f: fmpq_poly, whole: fmpq_poly) -> Vector:
    """The unit of a part: the polynomial in z that is 1 modulo f and 0 modulo the other factors."""
    others = whole / f
    _, inverse, _ = (others % f).xgcd(f) if f.degree() else (0, fmpq_poly([1]), 0)
    scale = (inverse * others % f)[0]
    return _polynomial(algebra, inverse * others / scale, z, algebra.unit)


def _ideal(
    algebra: Algebra, z: Vector, f: fmpq_poly, idempotent: Vector, degree: int, tries: int
) -> list[Vector] | None:
    """A basis over K of a minimal left ideal of the part, found among short elements."""
    if degree == 1:
        return [idempotent]
    wanted = degree * int(f.degree())
    for x in itertools.islice(_short(algebra, idempotent), tries):
        products = [algebra.times(algebra.basis(i), x) for i in range(algebra.dimension)]
        rows = [list(row) for row in products]
        if rank(fmpq_mat(rows)) == wanted:
            return _over_field(
                algebra, z, int(f.degree()), [products[i] for i in independent(rows)]
            )
    return None


def _short(algebra: Algebra, idempotent: Vector) -> Iterator[Vector]:
    """Elements of a part: basis elements, values of their factors, sums of two, random ones."""
    n = algebra.dimension
    images = [algebra.times(algebra.basis(i), idempotent) for i in range(n)]
    sums = [
        tuple(x + sign * y for x, y in zip(images[i], images[j], strict=True))
        for i, j in itertools.combinations(range(n), 2)
        for sign in (1, -1)
    ]
    generator = random.Random(0)
    rest = [
        tuple(sum((generator.randint(-2, 2) * v[k] for v in images), fmpq(0)) for k in range(n))
        for _ in range(20)
    ]
    yield from images
    for y in (*images, *sums[:60], *rest):
        polynomial = algebra.by_left(y).charpoly()
        for g, _ in polynomial.factor()[1]:
            yield _polynomial(algebra, g, y, idempotent)
    yield from sums


def _over_field(algebra: Algebra, z: Vector, d: int, rows: list[Vector]) -> list[Vector]:
    """Vectors of which the multiples by 1, z, ..., z^(d-1) are a basis of what the rows span."""
    chosen: list[Vector] = []
    spanned: list[list[fmpq]] = []
    for row in rows:
        multiples = _multiples(algebra, z, d, row)
        if rank(fmpq_mat([*spanned, *multiples])) == len(spanned) + d:
            chosen.append(row)
            spanned += multiples
    return chosen


def _multiples(algebra: Algebra, z: Vector, d: int, row: Vector) -> list[list[fmpq]]:
    out = [list(row)]
    while len(out) < d:
        out.append(list(algebra.times(z, tuple(out[-1]))))
    return out


def _action(
    algebra: Algebra, z: Vector, f: fmpq_poly, generators: Sequence[Vector]
) -> tuple[Residues, ...]:
    """The matrices of the basis elements on a left ideal with these generators over K."""
    d, s = int(f.degree()), len(generators)
    basis = [row for g in generators for row in _multiples(algebra, z, d, g)]
    columns = independent([list(column) for column in zip(*basis, strict=True)])
    inverse = fmpq_mat([[row[j] for j in columns] for row in basis]).inv()
    images = []
    for i in range(algebra.dimension):
        moved = [algebra.times(algebra.basis(i), g) for g in generators]
        rows = (fmpq_mat([[row[j] for j in columns] for row in moved]) * inverse).tolist()
        # e_i g_q = Σ_p ρ_pq g_p, so that ρ is multiplicative
        images.append(
            tuple(
                fmpq_poly([rows[q][p * d + a] for a in range(d)])
                for p in range(s)
                for q in range(s)
            )
        )
    return tuple(images)


def _nicer(part: Component) -> Component:
    """The part with its field generated by a trace of some ρ(e_i) with a short polynomial."""
    f, d, s = part.modulus, int(part.modulus.degree()), part.degree
    if d == 1:
        return _substituted(part, fmpq_poly([0, 1]), fmpq_poly([-1, 1]))
    best: tuple[fmpq, int, fmpq_poly, fmpq_poly] | None = None
    for place, image in enumerate(part.images):
        traced = [0] if part.squares is not None else [p * (s + 1) for p in range(s)]
        trace = sum((image[p] for p in traced), fmpq_poly([])) % f
        g = _multiplication(trace, f).charpoly()
        if len(g.factor()[1]) == 1 and g.factor()[1][0][1] == 1:
            size = max(abs(g[i]) for i in range(d))
            if best is None or size < best[0]:
                best = size, place, trace, g
    if best is None or best[0] >= max(abs(f[i]) for i in range(d)):
        return part
    return _substituted(part, best[2], best[3])


def _multiplication(x: fmpq_poly, f: fmpq_poly) -> fmpq_mat:
    """The matrix of a residue on the powers of the root of f: row a is x·θ^a."""
    d = f.degree()
    rows, power = [], fmpq_poly([1])
    for _ in range(d):
        product = x * power % f
        rows.append([product[i] for i in range(d)])
        power = power * fmpq_poly([0, 1]) % f
    return fmpq_mat(rows)


def _substituted(part: Component, y: fmpq_poly, g: fmpq_poly) -> Component:
    """The part with residues written in a root y of g that generates the same field."""
    f, d = part.modulus, int(part.modulus.degree())
    rows, power = [], fmpq_poly([1])
    for _ in range(d):
        rows.append([power[i] for i in range(d)])
        power = power * y % f
    inverse = fmpq_mat(rows).inv()

    def change(x: fmpq_poly) -> fmpq_poly:
        x = x % f
        return fmpq_poly((fmpq_mat([[x[i] for i in range(d)]]) * inverse).tolist()[0])

    images = tuple(tuple(map(change, image)) for image in part.images)
    return Component(g, part.degree, images, squares=part.squares)


def _with_duals(parts: Sequence[Component]) -> tuple[Component, ...]:
    """The parts with the matrices C_k: Σ Tr tr(ρ(e_i) C_k) = 1 if i = k, and 0 otherwise."""
    n = len(parts[0].images)
    rows: list[list[fmpq]] = [[] for _ in range(n)]
    for part in parts:
        d, s, trace = int(part.modulus.degree()), part.degree, trace_of(part.modulus)
        powers = [fmpq_poly([0] * a + [1]) for a in range(d)]
        for i in range(n):
            # the coordinate x^a of the entry (q, p) of C_k meets the entry (p, q) of ρ(e_i)
            rows[i] += [
                trace(part.images[i][q * s + p if part.squares else p * s + q] * power)
                for q in range(s)
                for p in range(s)
                for power in powers
            ]
    inverse = fmpq_mat(rows).inv().tolist()
    out, start = [], 0
    for part in parts:
        d, s = int(part.modulus.degree()), part.degree
        duals = tuple(
            tuple(
                fmpq_poly([inverse[start + e * d + a][k] for a in range(d)]) for e in range(s * s)
            )
            for k in range(n)
        )
        out.append(Component(part.modulus, s, part.images, duals, part.squares))
        start += len(part)
    return tuple(out)


def trace_of(f: fmpq_poly) -> Callable[[fmpq_poly], fmpq]:
    """The trace from Q[x]/(f) to Q."""
    sums = power_sums(f, int(f.degree()))

    def trace(x: fmpq_poly) -> fmpq:
        x = x % f
        return sum((x[i] * s for i, s in enumerate(sums)), fmpq(0))

    return trace
