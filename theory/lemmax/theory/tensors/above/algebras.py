"""Terms of multiplication tables: interpolation, triples for complex pairs, small matrices.

A field of degree d takes d conjugate terms over C, 2d - 1 rational ones, and over R one for each
real root and three for each pair of complex ones. Two by two matrices over a field take seven times
as many, quaternions eight or twelve times, three by three matrices 23 times. These are as few as
the bound of Alder and Strassen allows, except for matrices over fields that do not split, for
quaternions over Q and R, and for larger matrices.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from flint import fmpq, fmpq_mat, fmpq_poly

from lemmax.theory.numbers.linear import real_roots
from lemmax.theory.tensors.above.quaternions import at_a_root
from lemmax.theory.tensors.above.schemes import MATRICES, Form, quaternions
from lemmax.theory.tensors.algebras.components import Component, Residues, components
from lemmax.theory.tensors.algebras.structure import Semisimple, Structure
from lemmax.theory.tensors.algebras.tables import Algebra
from lemmax.theory.tensors.decompositions import (
    Bundle,
    Decomposition,
    Family,
    Shape,
    Term,
    rationalised,
)
from lemmax.theory.tensors.fields import Field


def algebra_terms(algebra: Structure, field: Field) -> Decomposition | None:
    """Terms of a table whose parts are fields, small matrices or quaternions over them, or None.

    With a radical, only algebras that a basis element generates have terms here.

    >>> from lemmax.theory.tensors.algebras.structure import structure
    >>> from lemmax.theory.tensors.examples import cyclic
    >>> [len(algebra_terms(structure(cyclic(7)), field)) for field in ("Q", "R", "C")]
    [12, 10, 7]
    """
    if algebra.radical is None:
        terms = _of_parts(algebra.parts, field)
    else:
        terms = one_generator(algebra.table.algebra)
    return terms if terms is None else algebra.table.undone(terms)


def _of_parts(parts: Semisimple, field: Field) -> Decomposition | None:
    n = parts.algebra.dimension
    split = components(parts)
    if split is None:
        return None
    terms: list[Term] = []
    families: list[Family | Bundle] = []
    for part in split:
        bundle = at_a_root(part, field)
        if bundle is not None:
            families.append(bundle)
            continue
        for family in _products(part):
            for item in over_field(family, field):
                if isinstance(item, Family):
                    families.append(item)
                else:
                    terms.append(item)
    return Decomposition((n, n, n), tuple(terms), tuple(families))


def _products(part: Component) -> Iterator[Family]:
    """The products of three linear forms over the field of a part."""
    scheme = MATRICES[part.degree] if part.squares is None else quaternions(*part.squares)
    for alpha, beta, gamma in scheme:
        firsts, seconds = _forms(alpha, part.images), _forms(beta, part.images)
        yield Family(part.modulus, (firsts, seconds, _forms(gamma, part.duals)))


def _forms(form: Form, matrices: Sequence[Residues]) -> Residues:
    return tuple(
        sum((c * x for c, x in zip(form, matrix, strict=True) if c), fmpq_poly([]))
        for matrix in matrices
    )


def over_field(family: Family, field: Field) -> list[Family | Term]:
    """Terms over the field with the sum of a family, few of them."""
    d = len(family)
    if d == 1:
        return [*rationalised(family)]
    if field == "C" or (field == "R" and real_roots(family.modulus) == d):
        return [family]
    if field == "R" and d > 2 and _is_palindrome(family.modulus):
        return [*in_pairs(family)]
    return [*rationalised(family)]


def _is_palindrome(f: fmpq_poly) -> bool:
    """Whether the inverses of the roots are the roots, as for all roots of unity."""
    d = f.degree()
    return d % 2 == 0 and all(f[i] == f[d - i] for i in range(d + 1))


def in_pairs(family: Family) -> list[Family]:
    """Three families over the field of α = θ + 1/θ with the sum of a family over that of θ.

    With u = u₀ + u₁θ, v = v₀ + v₁θ the product is u₀v₀(1 - θ) + (u₀ + u₁)(v₀ + v₁)θ + u₁v₁(θ² - θ),
    and the third factor takes its trace from the field of θ to that of α.

    >>> i = Family(fmpq_poly([1, 0, 0, 0, 1]), tuple((fmpq_poly([0, 1]),) for _ in range(3)))
    >>> [part.modulus.coeffs() for part in in_pairs(i)]
    [[-2, 0, 1], [-2, 0, 1], [-2, 0, 1]]
    """
    f, d = family.modulus, len(family)
    theta = fmpq_poly([0, 1])
    # 1/θ = -Σ f_{i+1} θ^i / f_0
    alpha = theta - fmpq_poly([f[i + 1] / f[0] for i in range(d)])
    half = d // 2
    rows, power, powers = [], fmpq_poly([1]), []
    for _ in range(half):
        powers.append(power)
        power = power * alpha % f
    for factor in (fmpq_poly([1]), theta):
        rows += [[(x * factor % f)[i] for i in range(d)] for x in powers]
    inverse = fmpq_mat(rows).inv()

    def halves(x: fmpq_poly) -> tuple[fmpq_poly, fmpq_poly]:
        x = x % f
        row = (fmpq_mat([[x[i] for i in range(d)]]) * inverse).tolist()[0]
        return fmpq_poly(row[:half]), fmpq_poly(row[half:])

    modulus = fmpq_poly([0] * half + [1]) - halves(power)[0]

    def trace(x: fmpq_poly) -> fmpq_poly:
        zero, one = halves(x)
        return (2 * zero + theta * one) % modulus

    u, v = ([halves(x) for x in part] for part in family.factors[:2])
    weights = (fmpq_poly([1]) - theta, theta, theta * theta - theta)
    pairs = (
        (tuple(x for x, _ in u), tuple(y for y, _ in v)),
        (tuple(x + y for x, y in u), tuple(x + y for x, y in v)),
        (tuple(y for _, y in u), tuple(y for _, y in v)),
    )
    return [
        Family(modulus, (left, right, tuple(trace(weight * z) for z in family.factors[2])))
        for weight, (left, right) in zip(weights, pairs, strict=True)
    ]


def one_generator(algebra: Algebra) -> Decomposition | None:
    """2m - 1 rational terms for each factor Q[x]/(g), g a power of an irreducible of degree m.

    For a commutative algebra that is generated by a basis element, such as truncated polynomials;
    None for others.
    """
    n = algebra.dimension
    shape: Shape = (n, n, n)
    if not algebra.is_commutative():
        return None
    for i in range(n):
        rows = [list(algebra.unit)]
        action = algebra.by_left(algebra.basis(i))
        for _ in range(n - 1):
            rows.append((fmpq_mat([rows[-1]]) * action).tolist()[0])
        powers = fmpq_mat(rows)
        if powers.rank() == n:
            inverse = powers.inv().tolist()
            images = [fmpq_poly(row) for row in inverse]
            blocks = [g**m for g, m in action.charpoly().factor()[1]]
            terms = [t for block in blocks for t in _interpolated(images, rows, block, blocks)]
            return Decomposition(shape, tuple(terms))
    return None


def _interpolated(
    images: Sequence[fmpq_poly],
    coordinates: Sequence[Sequence[fmpq]],
    block: fmpq_poly,
    blocks: Sequence[fmpq_poly],
) -> Iterator[Term]:
    """The terms of one factor: values of polynomials at integers and at infinity."""
    m = int(block.degree())
    whole = fmpq_poly([1])
    for other in blocks:
        whole *= other
    others = whole / block
    inverse = (others % block).xgcd(block)[1]
    scale = (inverse * others % block)[0]
    lift = inverse * others / scale  # 1 modulo the block, 0 modulo the others
    u = [x % block for x in images]
    points = [(k + 1) // 2 * (-1) ** (k % 2) for k in range(2 * m - 2)]
    product = fmpq_poly([1])
    for point in points:
        product *= fmpq_poly([-point, 1])

    def third(p: fmpq_poly) -> tuple[fmpq, ...]:
        lifted = lift * (p % block) % whole
        n = len(coordinates)
        return tuple(
            sum((lifted[a] * coordinates[a][k] for a in range(n)), fmpq(0)) for k in range(n)
        )

    for point in points:
        quotient = product / fmpq_poly([-point, 1])
        values = tuple(x(fmpq(point)) for x in u)
        yield values, values, third(quotient / quotient(fmpq(point)))
    last = tuple(x[m - 1] for x in u)
    yield last, last, third(product)
