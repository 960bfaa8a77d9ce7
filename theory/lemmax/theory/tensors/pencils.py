"""Pencils: the exact rank of tensors with a mode of size two, over Q, R and C.

A tensor with two slices A, B (m × n) is the pencil sA + tB. If both other modes are concise and
the pencil has rank ρ over Q(s, t), then (Kronecker, Grigoriev, JáJá)

    R_F = m + n - ρ + δ_F,

where δ_F is the largest number, over the irreducible polynomials π over F, of elementary divisors
π^e with e ≥ 2, or of all π^e where π has degree two or more. Both sides are constructed here.

*Above* (:func:`decomposition`): rows and columns are added until the pencil is square and regular,
with rational simple eigenvalues in what was added; δ terms, found by pole placement, turn it into a
pencil that is diagonalisable over F; its eigenvectors are the other m + n - ρ terms.

*Below* (:func:`lower_bound`): at a root x of π a left kernel Y of A + xB, with YB = W(A + xB) where
x lies in the field, bounds the rank; the checker needs to multiply only.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from flint import fmpq, fmpq_mat, fmpq_poly, fmpz_mat

from lemmax.theory.certificates import writing as certificates
from lemmax.theory.numbers.linear import (
    Columns,
    evaluate,
    independent,
    integers,
    inverse_modulo,
    kernel,
    left_kernel,
    left_kernel_modulo,
    rank,
    real_roots,
)
from lemmax.theory.tensors.arrays import Array, flattening, rank_modulo, slices
from lemmax.theory.tensors.below.chains import PRIME, LowerBound, Step, flattening_bound
from lemmax.theory.tensors.decompositions import Decomposition, Family, Term

Field = Literal["Q", "R", "C"]


@dataclass(frozen=True)
class Divisor:
    """An irreducible factor f of the characteristic polynomial, with its Jordan structure.

    ``blocks`` counts the elementary divisors f^e and ``defective`` those with e ≥ 2.
    """

    factor: fmpq_poly
    multiplicity: int
    blocks: int
    defective: int

    def splits(self, field: Field) -> bool:
        """Whether all roots of the factor lie in the field."""
        degree = self.factor.degree()
        return degree == 1 or field == "C" or (field == "R" and real_roots(self.factor) == degree)

    def excess(self, field: Field) -> int:
        """The number of elementary divisors that no diagonal pencil over the field has."""
        return self.defective if self.splits(field) else self.blocks


def points() -> Iterator[int]:
    """0, 1, -1, 2, -2, ..."""
    yield 0
    for n in itertools.count(1):
        yield n
        yield -n


def normal_rank(A: fmpq_mat, B: fmpq_mat) -> int:
    """The rank of A + xB over Q(x): the largest rank at min(m, n) + 1 points."""
    most = min(A.nrows(), A.ncols())
    found = 0
    for x in islice(points(), most + 1):
        found = max(found, rank(A + B * fmpq(x)))
        if found == most:
            break
    return found


def square(A: fmpq_mat, B: fmpq_mat) -> tuple[fmpq_mat, fmpq_mat]:
    """A square regular pencil with sA + tB in its upper left corner, of size m + n - ρ.

    Its elementary divisors are those of sA + tB and linear ones, with rational roots.
    """
    normal = normal_rank(A, B)
    A, B = _add_columns(A, B, normal)
    A, B = _add_columns(A.transpose(), B.transpose(), A.nrows())
    return A.transpose(), B.transpose()


def _add_columns(A: fmpq_mat, B: fmpq_mat, normal: int) -> tuple[fmpq_mat, fmpq_mat]:
    """Add m - ρ columns, so that the rank over Q(x) becomes m.

    Left kernel vectors y_j at points μ_j, as many as are independent, satisfy
    y_jᵀ(sA + tB) = (t - μ_j s) y_jᵀB. With dual vectors z_j the new columns
    Σ_j (t - μ_j s) z_j κ_jᵀ keep these left kernels, if the rows (y_jᵀB, κ_j) are independent.
    """
    m = A.nrows()
    missing = m - normal
    if not missing:
        return A, B
    rows: Columns = []
    roots: list[int] = []
    for x in points():
        there = A + B * fmpq(x)
        if rank(there) < normal:
            continue
        more = rows + left_kernel(there)
        chosen = independent(more)
        if len(chosen) == len(rows):
            break
        roots += [x] * (len(chosen) - len(rows))
        rows = [more[i] for i in chosen]
    Y = fmpq_mat(rows)
    q = len(rows)
    places = independent(Y.transpose().tolist())
    inverse = fmpq_mat([[row[j] for j in places] for row in rows]).inv().tolist()
    dual = [[fmpq(0)] * q for _ in range(m)]
    for place, row in zip(places, inverse, strict=True):
        dual[place] = row
    spanned = set(independent((Y * B).tolist()))
    free = [j for j in range(q) if j not in spanned]
    shift = fmpq_mat([[int(i == j) for i in free] for j in range(q)])
    scaled = fmpq_mat([[-roots[j] * int(i == j) for i in free] for j in range(q)])
    Z = fmpq_mat(dual)
    return _beside(A, Z * scaled), _beside(B, Z * shift)


def _beside(left: fmpq_mat, right: fmpq_mat) -> fmpq_mat:
    return fmpq_mat([x + y for x, y in zip(left.tolist(), right.tolist(), strict=True)])


def divisors(M: fmpq_mat) -> list[Divisor]:
    """The irreducible factors of the characteristic polynomial and their Jordan blocks."""
    n = M.nrows()
    found = []
    for factor, multiplicity in M.charpoly().factor()[1]:
        factor = factor / factor[factor.degree()]
        degree, multiplicity = factor.degree(), int(multiplicity)
        if multiplicity == 1:
            found.append(Divisor(factor, 1, 1, 0))
            continue
        value = evaluate(factor, M)
        nullity = n - rank(value)
        second = nullity if nullity == degree * multiplicity else n - rank(value * value)
        found.append(Divisor(factor, multiplicity, nullity // degree, (second - nullity) // degree))
    return found


@dataclass(frozen=True)
class Pencil:
    """A concise pencil sA + tB, made square and regular: A + τB is invertible.

    ``matrix`` is (A' + τB')⁻¹B' for the enlarged pencil A', B'.
    """

    rows: int
    columns: int
    corner: fmpq_mat
    shift: int
    matrix: fmpq_mat
    divisors: tuple[Divisor, ...]

    def excess(self, field: Field) -> int:
        """δ_F."""
        return max((d.excess(field) for d in self.divisors), default=0)

    def rank(self, field: Field) -> int:
        """The rank of the pencil, m + n - ρ + δ_F."""
        return int(self.matrix.nrows()) + self.excess(field)


def pencil(A: Array, B: Array) -> Pencil:
    """The structure of a pencil of integer matrices, both of whose other modes are concise.

    >>> import numpy as np
    >>> shift = np.roll(np.eye(3, dtype=int), 1, axis=1)
    >>> [pencil(np.eye(3, dtype=int), shift).rank(field) for field in ("Q", "R", "C")]
    [4, 4, 3]
    """
    first, second = square(fmpq_mat(fmpz_mat(A.tolist())), fmpq_mat(fmpz_mat(B.tolist())))
    for shift in points():
        corner = first + second * fmpq(shift)
        if corner.det():
            matrix = corner.solve(second)
            return Pencil(A.shape[0], A.shape[1], corner, shift, matrix, tuple(divisors(matrix)))
    raise AssertionError("a regular pencil is invertible at some integer")


@dataclass(frozen=True)
class Eigenvector:
    """An eigenvector and its dual functional at the roots θ of an irreducible polynomial.

    Both are given by residues; over all factors and roots Σ vector⊗dual is the identity.
    """

    factor: fmpq_poly
    vector: list[fmpq_poly]
    dual: list[fmpq_poly]


def eigenvectors(M: fmpq_mat, structure: list[Divisor]) -> list[Eigenvector]:
    """The eigenvectors of a matrix that is diagonalisable over C, conjugate ones together.

    On a cyclic subspace with basis w, Mw, ..., a vector Σ y_j M^j w is Σ_θ y(θ) e_θ with the
    idempotents e_θ = f(x) / ((x - θ) f'(θ)).
    """
    n = M.nrows()
    basis: Columns = []
    blocks: list[tuple[fmpq_poly, int]] = []
    for divisor in structure:
        f = divisor.factor
        if f.degree() == 1:
            vectors = kernel(M - _scalar(n, -f[0]))
            blocks += [(f, len(basis) + i) for i in range(len(vectors))]
            basis += vectors
        else:
            blocks += [(f, len(basis) + i * f.degree()) for i in range(divisor.multiplicity)]
            basis += _cyclic(M, f, divisor.multiplicity)
    dual = fmpq_mat(basis).transpose().inv().tolist()
    found = []
    for f, start in blocks:
        d = f.degree()
        scale = inverse_modulo(f.derivative(), f)
        parts = [_quotient(f, j) * scale % f for j in range(d)]
        vector = [
            sum((part * basis[start + j][i] for j, part in enumerate(parts)), fmpq_poly([]))
            for i in range(n)
        ]
        functional = [fmpq_poly([dual[start + j][i] for j in range(d)]) for i in range(n)]
        found.append(Eigenvector(f, vector, functional))
    return found


def decomposition(form: Pencil, field: Field) -> Decomposition:
    """The terms of a concise pencil, R_F of them; the pencil's own mode comes last."""
    M, pushes, structure = _diagonalisable(form, field)
    m, k, shift = form.rows, form.columns, form.shift
    terms: list[Term] = []
    families: list[Family] = []
    x = fmpq_poly([0, 1])
    pairs = eigenvectors(M, structure)
    # all images (A + τB) v at once, one column for each coefficient of each vector
    columns = [[y[e] for y in pair.vector] for pair in pairs for e in range(pair.factor.degree())]
    images = iter((form.corner * fmpq_mat(columns).transpose()).transpose().tolist())
    for pair in pairs:
        coefficients = list(islice(images, pair.factor.degree()))
        left = [fmpq_poly([part[i] for part in coefficients]) for i in range(m)]
        right = pair.dual[:k]
        if not (any(left) and any(right)):
            continue
        if pair.factor.degree() == 1:
            root = -pair.factor[0]
            terms.append(
                _term([y[0] for y in left], [y[0] for y in right], [1 - shift * root, root])
            )
        else:
            factors = tuple(left), tuple(right), (1 - shift * x, x)
            families.append(Family(pair.factor, factors))
    for u, v in pushes:
        image = (form.corner * fmpq_mat([[y] for y in u])).transpose().tolist()[0]
        terms.append(_term(image[:m], v[:k], [fmpq(-shift), fmpq(1)]))
    return Decomposition((m, k, 2), tuple(t for t in terms if all(map(any, t))), tuple(families))


def _quotient(f: fmpq_poly, j: int) -> fmpq_poly:
    """The coefficient of x^j in (f(x) - f(θ)) / (x - θ), a polynomial in θ."""
    return fmpq_poly([f[i] for i in range(j + 1, f.degree() + 1)])


def _term(u: list[fmpq], v: list[fmpq], w: list[fmpq]) -> Term:
    """u⊗v⊗w with u and v made primitive integer vectors that start with a positive entry."""
    if not (any(u) and any(v)):
        return tuple(u), tuple(v), tuple(w)
    p, q = integers(u), integers(v)
    i = next(i for i, x in enumerate(p) if x)
    j = next(j for j, x in enumerate(q) if x)
    p, q = [x if p[i] > 0 else -x for x in p], [x if q[j] > 0 else -x for x in q]
    scale = u[i] / p[i] * v[j] / q[j]
    return tuple(map(fmpq, p)), tuple(map(fmpq, q)), tuple(scale * x for x in w)


def _scalar(n: int, value: fmpq) -> fmpq_mat:
    return fmpq_mat([[value if i == j else fmpq(0) for j in range(n)] for i in range(n)])


def _apply(M: fmpq_mat, vector: list[fmpq]) -> list[fmpq]:
    return [x for (x,) in (M * fmpq_mat([[y] for y in vector])).tolist()]


def _krylov(M: fmpq_mat, vector: list[fmpq], count: int) -> Columns:
    found = [vector]
    while len(found) < count:
        found.append(_apply(M, found[-1]))
    return found


def _cyclic(M: fmpq_mat, f: fmpq_poly, count: int) -> Columns:
    """A basis of ker f(M) of the form w, Mw, ..., M^(d-1)w for ``count`` vectors w."""
    space = kernel(evaluate(f, M))
    basis: Columns = []
    for w in space:
        candidate = basis + _krylov(M, w, f.degree())
        if len(independent(candidate)) == len(candidate):
            basis = candidate
    assert len(basis) == count * f.degree()
    return basis


Push = tuple[list[fmpq], list[fmpq]]


def _diagonalisable(form: Pencil, field: Field) -> tuple[fmpq_mat, list[Push], list[Divisor]]:
    """M' = M - Σ u vᵀ diagonalisable over the field, with δ_F pairs (u, v), and its divisors.

    Each pair moves the eigenvalues of a cyclic subspace that contains one, the largest, of the
    offending blocks of every factor to new integers (pole placement); the quotient is unchanged.
    """
    M = form.matrix
    n = M.nrows()
    structure = list(form.divisors)
    generator = random.Random(0)
    pushes: list[Push] = []
    while any(d.excess(field) for d in structure):
        good = [d for d in structure if not d.excess(field)]
        kept: Columns = []
        for divisor in good:
            kept += kernel(evaluate(divisor.factor, M))
        wanted = n - len(kept)
        best: Columns = []
        for size in (1, 1, 2, 9, 99):  # small vectors make small terms, larger ones are generic
            if len(best) == wanted + 1:
                break
            u = [fmpq(generator.randint(-size, size)) for _ in range(n)]
            for divisor in good:
                u = _apply_polynomial(divisor.factor, M, u)
            if any(u):
                u = [fmpq(x) for x in integers(u)]
                chain = _krylov(M, u, wanted + 1)
                length = len(independent(chain))
                if length + 1 > len(best):
                    best = chain[: length + 1]
        d = len(best) - 1
        u = best[0]
        minimal = fmpq_mat(best[:d]).transpose()
        relation = _coordinates(minimal, best[d])
        p = [-x for x in relation]
        taken = {-s.factor[0] for s in structure if s.factor.degree() == 1}
        roots = list(islice((x for x in points() if fmpq(x) not in taken), d))
        goal = fmpq_poly([1])
        for root in roots:
            goal *= fmpq_poly([-root, 1])
        canonical = [u]
        for k in range(d - 1, 0, -1):
            canonical.append(
                [a + p[k] * b for a, b in zip(_apply(M, canonical[-1]), u, strict=True)]
            )
        # canonical[i] is the vector c_(d-i); the feedback on c_k is goal_(k-1) - p_(k-1)
        values = [goal[d - 1 - i] - p[d - 1 - i] for i in range(d)]
        v = _functional(canonical + kept, values + [fmpq(0)] * len(kept))
        pushes.append((u, v))
        M = M - fmpq_mat([[x * y for y in v] for x in u])
        structure = divisors(M)
    return M, pushes, structure


def _apply_polynomial(f: fmpq_poly, M: fmpq_mat, vector: list[fmpq]) -> list[fmpq]:
    value = [fmpq(0)] * len(vector)
    for i in range(f.degree(), -1, -1):
        value = [a + f[i] * b for a, b in zip(_apply(M, value), vector, strict=True)]
    return value


def _coordinates(basis: fmpq_mat, vector: list[fmpq]) -> list[fmpq]:
    """The coordinates of a vector in independent columns that span it."""
    rows = independent(basis.tolist())
    core = fmpq_mat([basis.tolist()[i] for i in rows])
    return [x for (x,) in core.solve(fmpq_mat([[vector[i]] for i in rows])).tolist()]


def _functional(vectors: Columns, values: list[fmpq]) -> list[fmpq]:
    """A functional with given values on independent vectors, supported on few coordinates."""
    table = fmpq_mat(vectors)
    places = independent(table.transpose().tolist())
    core = fmpq_mat([[row[j] for j in places] for row in vectors])
    solution = [x for (x,) in core.solve(fmpq_mat([[x] for x in values])).tolist()]
    found = [fmpq(0)] * table.ncols()
    for place, x in zip(places, solution, strict=True):
        found[place] = x
    return found


def lower_bound(array: Array, mode: int, form: Pencil, field: Field) -> LowerBound:
    """The bound m + n - ρ + δ_F as one step that the checker recomputes, or as a flattening."""
    flat = max((flattening_bound(array, m) for m in range(3)), key=lambda bound: bound.value)
    if form.rank(field) <= flat.value:
        return flat
    divisor = max(form.divisors, key=lambda d: d.excess(field))
    A, B = slices(array, mode)
    order, modulus, jet = [0, 1], fmpq_poly([0, 1]), True
    if divisor.excess(field):
        jet = divisor.splits(field)
        if divisor.factor == fmpq_poly([0, 1]):  # eigenvalue zero of M: the pencil drops at s = 0
            order, (A, B) = [1, 0], (B, A)
        else:
            modulus = _point(divisor.factor, form.shift)
    else:
        # no eigenvalue matters: any regular point shows m + n - ρ
        first, second = (fmpq_mat(fmpz_mat(part.tolist())) for part in (A, B))
        normal = normal_rank(first, second)
        x = next(x for x in points() if rank(first + second * fmpq(x)) == normal)
        modulus = fmpq_poly([-x, 1])
    Y, W = _witness(A, B, modulus, jet)
    step: Step = {
        "lemma": "jet" if jet else "eigenvalue",
        "mode": mode,
        "prime": PRIME,
        "order": order,
        "modulus": _text(modulus, modulus.degree() + 1),
        "left": [[_text(x, modulus.degree()) for x in row] for row in Y],
        "pivots": _pivots(Y),
    }
    if jet:
        step["jet"] = [[_text(x, modulus.degree()) for x in row] for row in W]
    elif real_roots(modulus) < modulus.degree():
        step["outside"] = "sturm"
    else:
        step["outside"] = str(prime_without_roots(modulus))
    others = [rank_modulo(flattening(array, m)) for m in range(3) if m != mode]
    return LowerBound(sum(others) - A.shape[0] + len(Y), (step,))


def _text(polynomial: fmpq_poly, count: int) -> list[str]:
    return [certificates.number(polynomial[i]) for i in range(count)]


def _point(f: fmpq_poly, shift: int) -> fmpq_poly:
    """The polynomial of x = τ - 1/λ for the roots λ ≠ 0 of f: there A + xB drops its rank."""
    reverse = fmpq_poly(list(reversed(f.coeffs())))
    moved = reverse(fmpq_poly([shift, -1]))
    return moved / moved[moved.degree()]


Residues = list[list[fmpq_poly]]


def _witness(A: Array, B: Array, modulus: fmpq_poly, jet: bool) -> tuple[Residues, Residues]:
    """Y with Y(A + xB) = 0, in echelon form; for a jet also W with YB = W(A + xB)."""
    m, n = A.shape
    there = [
        {j: value for j in range(n) if (value := fmpq_poly([int(A[i, j]), int(B[i, j])]) % modulus)}
        for i in range(m)
    ]
    if jet:
        rows = [
            row | {n + j: fmpq_poly([int(B[i, j])]) for j in range(n) if B[i, j]}
            for i, row in enumerate(there)
        ]
        rows += [{n + j: -x for j, x in row.items()} for row in there]
    else:
        rows = there
    zero = fmpq_poly([])
    vectors = [v for v in left_kernel_modulo(rows, modulus) if min(v) < m]
    Y = [[v.get(i, zero) for i in range(m)] for v in vectors]
    W = [[v.get(m + i, zero) for i in range(m)] for v in vectors]
    return Y, W


def _pivots(rows: Residues) -> list[int]:
    return [next(i for i, x in enumerate(row) if x) for row in rows]


def prime_without_roots(f: fmpq_poly) -> int:
    """A prime modulo which f has no root; every irreducible f of degree ≥ 2 has one (Jordan).

    >>> prime_without_roots(fmpq_poly([-2, 0, 1]))  # 2 is no square modulo 3
    3
    """
    q = 2
    while True:
        if all(x.q % q for x in f.coeffs()):
            residues = [int(x.p) * pow(int(x.q), -1, q) for x in f.coeffs()]
            if not any(_value(residues, x, q) == 0 for x in range(q)):
                return q
        q += 1
        while any(q % divisor == 0 for divisor in range(2, int(q**0.5) + 1)):
            q += 1


def _value(coefficients: list[int], x: int, q: int) -> int:
    value = 0
    for coefficient in reversed(coefficients):
        value = (value * x + coefficient) % q
    return value
