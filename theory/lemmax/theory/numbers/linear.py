"""Linear algebra over Q and over Q[x]/(f) that flint does not offer in one call."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from flint import fmpq, fmpq_mat, fmpq_poly, fmpz, fmpz_mat

from lemmax.theory.numbers.rank import pivot_columns

Columns: TypeAlias = list[list[fmpq]]


def integers(vector: Sequence[fmpq]) -> list[fmpz]:
    """The primitive integer vector on the same ray.

    >>> integers([fmpq(1, 2), fmpq(-1, 3)])
    [3, -2]
    """
    common = fmpz(1)
    for x in vector:
        common = common * x.q // common.gcd(x.q)
    entries = [x.p * (common // x.q) for x in vector]
    content = fmpz(0)
    for y in entries:
        content = content.gcd(y)
    return [y // content for y in entries] if content > 1 else entries


def null_space(matrix: fmpq_mat) -> Columns:
    """A basis of {x : Mx = 0} of primitive integer vectors.

    >>> null_space(fmpq_mat([[1, 1]]))
    [[1, -1]]
    """
    numerators: fmpz_mat = matrix.numer_denom()[0]
    basis, nullity = numerators.nullspace()
    rows = basis.transpose().tolist()[: int(nullity)]
    return [[fmpq(x) for x in integers([fmpq(y) for y in row])] for row in rows]


def left_null_space(matrix: fmpq_mat) -> Columns:
    """A basis of {y : yᵀM = 0} of primitive integer vectors."""
    return null_space(matrix.transpose())


def rank(matrix: fmpq_mat) -> int:
    """The exact rank over Q."""
    return int(matrix.numer_denom()[0].rank())


def independent(rows: Sequence[Sequence[fmpq]]) -> list[int]:
    """The indices of a maximal independent set of rows, chosen from the front."""
    if not rows:
        return []
    echelon, count = fmpq_mat([list(row) for row in rows]).transpose().rref()
    return pivot_columns(echelon, count)


def evaluate(polynomial: fmpq_poly, matrix: fmpq_mat) -> fmpq_mat:
    """p(M), by Horner's scheme."""
    n = matrix.nrows()
    identity = fmpq_mat([[int(i == j) for j in range(n)] for i in range(n)])
    value = fmpq_mat(n, n)
    for i in range(polynomial.degree(), -1, -1):
        value = value * matrix + identity * polynomial[i]
    return value


def real_roots(polynomial: fmpq_poly) -> int:
    """The number of distinct real roots, by Sturm's chain.

    >>> real_roots(fmpq_poly([-1, -1, 0, 1])), real_roots(fmpq_poly([-2, 0, 1]))
    (1, 2)
    """
    chain = [polynomial, polynomial.derivative()]
    while rest := chain[-2] % chain[-1]:
        chain.append(-rest)

    def changes(sign: int) -> int:
        signs = [(g[g.degree()] > 0) == (sign > 0 or g.degree() % 2 == 0) for g in chain if g]
        return sum(x != y for x, y in itertools.pairwise(signs))

    return changes(-1) - changes(1)


def left_null_space_modulo(
    rows: Iterable[dict[int, fmpq_poly]], modulus: fmpq_poly
) -> list[dict[int, fmpq_poly]]:
    """A basis of {y : yᵀM = 0} over the field Q[x]/(f), f irreducible; sparse rows in and out.

    The basis is in reduced echelon form: each vector has a coordinate 1 (its smallest index)
    where all others have 0.
    """
    reduced: dict[int, tuple[dict[int, fmpq_poly], dict[int, fmpq_poly]]] = {}
    null: list[dict[int, fmpq_poly]] = []
    one = fmpq_poly([1])
    # short rows first: fewer entries appear; the order does not change the space
    for index, row in sorted(enumerate(rows), key=lambda pair: len(pair[1])):
        current, trace = dict(row), {index: one}
        while current:
            pivot = min(current)
            if pivot not in reduced:
                inverse = inverse_modulo(current[pivot], modulus)
                reduced[pivot] = (
                    {j: x * inverse % modulus for j, x in current.items()},
                    {j: x * inverse % modulus for j, x in trace.items()},
                )
                break
            factor = current[pivot]
            _subtract(current, reduced[pivot][0], factor, modulus)
            _subtract(trace, reduced[pivot][1], factor, modulus)
        else:
            null.append(trace)
    return echelon_modulo(null, modulus)


def echelon_modulo(
    vectors: list[dict[int, fmpq_poly]], modulus: fmpq_poly
) -> list[dict[int, fmpq_poly]]:
    """The reduced echelon form of sparse vectors over Q[x]/(f); zero vectors are dropped."""
    done: dict[int, dict[int, fmpq_poly]] = {}
    for vector in vectors:
        current = dict(vector)
        for pivot in sorted(done):
            if pivot in current:
                _subtract(current, done[pivot], current[pivot], modulus)
        if not current:
            continue
        pivot = min(current)
        inverse = inverse_modulo(current[pivot], modulus)
        current = {j: x * inverse % modulus for j, x in current.items()}
        for other in done.values():
            if pivot in other:
                _subtract(other, current, other[pivot], modulus)
        done[pivot] = current
    return [done[pivot] for pivot in sorted(done)]


def inverse_modulo(value: fmpq_poly, modulus: fmpq_poly) -> fmpq_poly:
    """The inverse of a residue that has no factor in common with the modulus."""
    common, inverse, _ = value.xgcd(modulus)
    if common.degree() != 0:
        raise ZeroDivisionError("the residue is not invertible")
    return inverse / common[0] % modulus


def _subtract(
    row: dict[int, fmpq_poly], other: dict[int, fmpq_poly], factor: fmpq_poly, modulus: fmpq_poly
) -> None:
    """row -= factor · other, in place."""
    for j, x in other.items():
        value = (row.get(j, 0) - factor * x) % modulus
        if value:
            row[j] = value
        else:
            row.pop(j, None)
