"""The second-order test: is the rank equal to the number of independent slices?

Let X_1, ..., X_m be independent slices of a mode. The symmetric Z with

    Σ_ij z_ij (X_i[u, w] X_j[v, x] - X_i[u, x] X_j[v, w]) = 0   for all u, v, w, x

contain y yᵀ for every y with Σ y_i X_i of rank one. If R = m there are m independent such y, so the
space of the Z has at least m dimensions. If it has exactly m, it is spanned by the y yᵀ, and R = m
over a field F iff it is simultaneously diagonalisable over F; the y are then read off the
eigenvectors of Z_0⁻¹ Z_1 for two generic Z_0, Z_1 (De Lathauwer, Domanov).
"""

from __future__ import annotations

import random

import numpy as np
from flint import fmpq, fmpq_poly, fmpz_mat, nmod_mat

from lemmax.theory.numbers.linear import integers, inverse_modulo, real_roots
from lemmax.theory.numbers.primes import MERSENNE_61
from lemmax.theory.numbers.rank import pivots_modulo
from lemmax.theory.tensors.arrays import Array, flattening, matrix_rank, rank_modulo, slices
from lemmax.theory.tensors.below.chains import WRITTEN_PRIME, LowerBound
from lemmax.theory.tensors.decompositions import Decomposition, Family, Term, rationalised
from lemmax.theory.tensors.fields import Field
from lemmax.theory.tensors.pencils.eigenvectors import eigenvectors
from lemmax.theory.tensors.pencils.lower_bounds import pencil_bound
from lemmax.theory.tensors.pencils.normal_forms import Pencil, pencil

_SLICES = 14
_MINORS = 4_000
Minor = tuple[int, int, int, int]


def quadrics(
    array: Array, mode: int, field: Field
) -> tuple[LowerBound | None, Decomposition | None]:
    """R ≥ m + 1, or a decomposition into m terms, for m independent slices; or neither.

    Where R = m over C but not over the field, the conjugate terms of degree d are replaced by
    2d - 1 rational ones, and both a bound and a decomposition come back.

    Cost: one elimination mod a prime of a matrix with m(m+1)/2 columns; tensors with more than
    fourteen slices in the mode are left alone.

    >>> import numpy as np
    >>> klein = np.array([[0, 1, 2, 3], [1, 0, 3, 2], [2, 3, 0, 1], [3, 2, 1, 0]])
    >>> T = (klein[:, :, None] == np.arange(4)).astype(int)  # the table of Z2 × Z2
    >>> bound, terms = quadrics(T, 0, "Q")
    >>> bound, len(terms)
    (None, 4)
    """
    m = array.shape[mode]
    if m > _SLICES or min(array.shape) < 2 or rank_modulo(flattening(array, mode)) < m:
        return None, None
    table = minors(array, mode)
    pairs = [(i, j) for i in range(m) for j in range(i, m)]
    if not table or len(table) > _MINORS:
        return None, None
    places = sorted(table)
    rows = [[table[place].get(pair, 0) for pair in pairs] for place in places]
    chosen, _ = pivots_modulo(nmod_mat(fmpz_mat(rows), MERSENNE_61))
    free = len(pairs) - len(chosen)
    step = {"lemma": "quadrics", "mode": mode, "prime": WRITTEN_PRIME}
    if free < m:
        enough = [list(places[i]) for i in chosen[: len(pairs) - m + 1]]
        return LowerBound.by({**step, "minors": enough}, m + 1), None
    if free > m:
        return None, None
    basis, nullity = fmpz_mat([rows[i] for i in chosen]).nullspace()
    space = [[int(x) for x in row] for row in basis.transpose().tolist()[: int(nullity)]]
    if fmpz_mat(rows) * fmpz_mat(space).transpose() != fmpz_mat(len(rows), len(space)):
        return None, None  # the prime was unlucky
    first, second = _pair(m, pairs, space)
    if matrix_rank(first) < m:
        return None, None
    form = pencil(first, second)
    if form.rank(field) > m:
        inner = pencil_bound(np.stack([first, second]), 0, form, field)
        if inner.value <= m:
            return None, None
        closing = {
            **step,
            "lemma": "quadric-pencil",
            "minors": [list(places[i]) for i in chosen],
            "kernel": [[[str(x) for x in row] for row in Z.tolist()] for Z in (first, second)],
            "pencil": inner.closing,
        }
        over_c = _read_off(array, mode, form) if not form.excess("C") else None
        return LowerBound.by(closing, m + 1), _within(over_c, field)
    return None, _within(_read_off(array, mode, form), field)


def _within(decomposition: Decomposition | None, field: Field) -> Decomposition | None:
    """The decomposition with its families made rational where their roots leave the field."""
    if decomposition is None or field == "C":
        return decomposition
    terms, families = list(decomposition.terms), []
    for family in decomposition.families:
        assert isinstance(family, Family)  # what is read off comes with all its conjugates
        if field == "R" and real_roots(family.modulus) == len(family):
            families.append(family)
        else:
            terms += rationalised(family)
    return Decomposition(decomposition.shape, tuple(terms), tuple(families))


def minors(array: Array, mode: int) -> dict[Minor, dict[tuple[int, int], int]]:
    """The equations, sparse: for each minor the coefficients of the z_ij with i ≤ j."""
    entries = [
        (i, int(u), int(w), int(part[u, w]))
        for i, part in enumerate(slices(array, mode))
        for u, w in zip(*part.nonzero(), strict=True)
    ]
    table: dict[Minor, dict[tuple[int, int], int]] = {}
    for i, u, w, x in entries:
        for j, v, t, y in entries:
            if u < v and w != t:
                place = (u, v, min(w, t), max(w, t))
                row = table.setdefault(place, {})
                pair = (min(i, j), max(i, j))
                row[pair] = row.get(pair, 0) + (x * y if w < t else -x * y)
    return {place: row for place, row in table.items() if any(row.values())}


def _pair(m: int, pairs: list[tuple[int, int]], space: list[list[int]]) -> tuple[Array, Array]:
    """Two symmetric integer matrices, generic in a space given in the coordinates z_ij, i ≤ j."""
    generator = random.Random(0)
    pair = []
    for _ in range(2):
        weights = [generator.randint(-9, 9) for _ in space]
        entries = [
            sum(w * int(row[n]) for w, row in zip(weights, space, strict=True))
            for n in range(len(pairs))
        ]
        Z = np.zeros((m, m), dtype=object)
        for (i, j), x in zip(pairs, integers([fmpq(x) for x in entries]), strict=True):
            Z[i, j] = Z[j, i] = int(x)
        pair.append(Z)
    return pair[0], pair[1]


def _read_off(array: Array, mode: int, form: Pencil) -> Decomposition | None:
    """The decomposition whose rank-one matrices have the eigenvectors' duals as coordinates."""
    if any(d.multiplicity > 1 for d in form.divisors):
        return None
    X = slices(array, mode)
    b, c = X[0].shape
    terms: list[Term] = []
    families: list[Family] = []
    for pair in eigenvectors(form.matrix, list(form.divisors)):
        f = pair.factor
        x = [
            [
                sum(
                    (
                        y * int(part[u, w])
                        for y, part in zip(pair.dual, X, strict=True)
                        if part[u, w]
                    ),
                    fmpq_poly([]),
                )
                % f
                for w in range(c)
            ]
            for u in range(b)
        ]
        place = next(((u, w) for u in range(b) for w in range(c) if x[u][w]), None)
        if place is None:
            return None
        inverse = inverse_modulo(x[place[0]][place[1]], f)
        parts = [[row[place[1]] * inverse % f for row in x], x[place[0]]]
        parts.insert(mode, pair.vector)
        if f.degree() == 1:
            terms.append(tuple(tuple(y[0] for y in part) for part in parts))  # type: ignore[arg-type]
        else:
            families.append(Family(f, tuple(map(tuple, parts))))  # type: ignore[arg-type]
    diagonal = Decomposition(array.shape, tuple(terms), tuple(families))
    return diagonal if diagonal.adds_up_to(array) else None
