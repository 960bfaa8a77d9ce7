"""Eigenvectors of a rational matrix that is diagonalisable over C, conjugate ones together.

Cost: a null space and Krylov vectors for each irreducible factor, and one exact inverse.
"""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq, fmpq_mat, fmpq_poly

from lemmax.theory.numbers.linear import (
    Columns,
    evaluate,
    independent,
    inverse_modulo,
    null_space,
)
from lemmax.theory.tensors.pencils.normal_forms import Divisor


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
            vectors = null_space(M - _scalar(n, -f[0]))
            blocks += [(f, len(basis) + i) for i in range(len(vectors))]
            basis += vectors
        else:
            blocks += [(f, len(basis) + i * f.degree()) for i in range(divisor.multiplicity)]
            basis += _cyclic(M, f, divisor.multiplicity)
    dual = fmpq_mat(basis).transpose().inv().tolist()
    pairs = []
    for f, start in blocks:
        d = f.degree()
        scale = inverse_modulo(f.derivative(), f)
        parts = [_synthetic(f, j) * scale % f for j in range(d)]
        vector = [
            sum((part * basis[start + j][i] for j, part in enumerate(parts)), fmpq_poly([]))
            for i in range(n)
        ]
        functional = [fmpq_poly([dual[start + j][i] for j in range(d)]) for i in range(n)]
        pairs.append(Eigenvector(f, vector, functional))
    return pairs


def _synthetic(f: fmpq_poly, j: int) -> fmpq_poly:
    """The coefficient of x^j in (f(x) - f(θ)) / (x - θ), a polynomial in θ."""
    return fmpq_poly([f[i] for i in range(j + 1, f.degree() + 1)])


def _scalar(n: int, value: fmpq) -> fmpq_mat:
    return fmpq_mat([[value if i == j else fmpq(0) for j in range(n)] for i in range(n)])


def image(M: fmpq_mat, vector: list[fmpq]) -> list[fmpq]:
    return [x for (x,) in (M * fmpq_mat([[y] for y in vector])).tolist()]


def krylov(M: fmpq_mat, vector: list[fmpq], count: int) -> Columns:
    vectors = [vector]
    while len(vectors) < count:
        vectors.append(image(M, vectors[-1]))
    return vectors


def _cyclic(M: fmpq_mat, f: fmpq_poly, count: int) -> Columns:
    """A basis of ker f(M) of the form w, Mw, ..., M^(d-1)w for ``count`` vectors w."""
    space = null_space(evaluate(f, M))
    basis: Columns = []
    for w in space:
        candidate = basis + krylov(M, w, f.degree())
        if len(independent(candidate)) == len(candidate):
            basis = candidate
    assert len(basis) == count * f.degree()
    return basis
