"""A shortest decomposition of a pencil, by pole placement.

δ_F terms turn the square pencil into one that is diagonalisable over the field; its eigenvectors
are the other m + n - ρ terms. Cost: for each of the δ_F terms a characteristic polynomial.
"""

from __future__ import annotations

import random
from itertools import islice
from typing import TypeAlias

from flint import fmpq, fmpq_mat, fmpq_poly

from lemmax.theory.numbers.linear import Columns, evaluate, independent, integers, null_space
from lemmax.theory.tensors.decompositions import Decomposition, Family, Term
from lemmax.theory.tensors.fields import Field
from lemmax.theory.tensors.pencils.eigenvectors import eigenvectors, image, krylov
from lemmax.theory.tensors.pencils.normal_forms import Divisor, Pencil, divisors, points

Push: TypeAlias = tuple[list[fmpq], list[fmpq]]
"""A vector u and a functional v: the term u⊗v moves the eigenvalues of a cyclic subspace."""


def pencil_decomposition(form: Pencil, field: Field) -> Decomposition:
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
        terms.append(_term(image(form.corner, u)[:m], v[:k], [fmpq(-shift), fmpq(1)]))
    return Decomposition((m, k, 2), tuple(t for t in terms if all(map(any, t))), tuple(families))


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
            kept += null_space(evaluate(divisor.factor, M))
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
                chain = krylov(M, u, wanted + 1)
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
                [a + p[k] * b for a, b in zip(image(M, canonical[-1]), u, strict=True)]
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
        value = [a + f[i] * b for a, b in zip(image(M, value), vector, strict=True)]
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
    functional = [fmpq(0)] * table.ncols()
    for place, x in zip(places, solution, strict=True):
        functional[place] = x
    return functional
