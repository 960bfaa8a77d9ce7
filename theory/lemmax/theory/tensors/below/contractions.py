"""Contractions that show that the slices are not spanned by matrices of rank one.

Let L be the span of the slices of mode A, matrices B × C, h a functional on C, and G ⊂ B the span
of the vectors Mh, M ∈ L, of dimension k. For a matrix x⊗y in L either h(y) = 0 or x ∈ G. So if

    Mh = 0 for all M ∈ L ∩ (G⊗C),

then all matrices of rank one in L satisfy Mh = 0, they do not span L, and R(T) ≥ dim L + 1. The
condition says that dim(L + G⊗C) = dim(L + G⊗ker h) + k. For a table without gaps and h = 1 on all
values, G is spanned by the all-ones vector. Cost: for each h two ranks mod a prime of matrices with
at most dim L + k|C| rows, and two exact ones where the bound holds.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lemmax.theory.numbers import modular
from lemmax.theory.tensors.arrays import Array, matrix_rank, rank_modulo
from lemmax.theory.tensors.below.chains import WRITTEN_PRIME, ChainStep, LowerBound


def contraction_bound(array: Array) -> LowerBound | None:
    """R ≥ r + 1 for the largest flattening rank r, by some contraction; None if none is found.

    >>> import numpy as np
    >>> table = np.array([[0, 1, 1], [0, 2, 2], [0, 3, 2], [2, 0, 2], [0, 1, 2]])
    >>> D = (table[:, :, None] == np.arange(4)).astype(int)
    >>> contraction_bound(D).value  # five keys
    6
    """
    most = max(array.shape)
    for mode in range(3):
        if array.shape[mode] == most:
            for columns in range(3):
                if columns != mode:
                    for step in _steps(array, mode, columns):
                        return LowerBound.by(step, most + 1)
    return None


def _steps(array: Array, mode: int, columns: int) -> Iterator[ChainStep]:
    """The contractions of the third mode that prove R ≥ r + 1: by all ones and by unit vectors."""
    X = np.transpose(array, (mode, columns, 3 - mode - columns))
    c = X.shape[2]
    if rank_modulo(X.reshape(len(X), -1)) < len(X):
        return
    for h in (np.ones(c, dtype=int), *np.eye(c, dtype=int)):
        vectors = X @ h
        kept = modular.reduce(modular.residues(vectors.T)).tolist()
        if not kept or matrix_rank(vectors) > len(kept):  # G must contain all vectors, over Q
            continue
        basis = vectors[kept]
        both, zero = _subspaces(basis, h)
        if _rank(X, both) != _rank(X, zero) + len(basis):
            continue
        if matrix_rank(_joined(X, zero)) + len(basis) == rank_modulo(_joined(X, both)):
            yield {
                "lemma": "contraction",
                "mode": mode,
                "columns": columns,
                "functional": [str(int(x)) for x in h],
                "basis": [[str(int(x)) for x in row] for row in basis],
                "prime": WRITTEN_PRIME,
            }


def _subspaces(basis: Array, h: Array) -> tuple[Array, Array]:
    """Matrices that span G⊗C and G⊗ker h."""
    c = len(h)
    lead = int(np.flatnonzero(h)[0])
    vanishing = [
        h[lead] * np.eye(c, dtype=int)[j] - h[j] * np.eye(c, dtype=int)[lead]
        for j in range(c)
        if j != lead
    ]
    both = np.array([np.outer(g, e).ravel() for g in basis for e in np.eye(c, dtype=int)])
    zero = np.array([np.outer(g, y).ravel() for g in basis for y in vanishing])
    return both, zero.reshape(-1, basis.shape[1] * c)


def _joined(X: Array, matrices: Array) -> Array:
    return np.vstack([X.reshape(len(X), -1), matrices])


def _rank(X: Array, matrices: Array) -> int:
    return modular.rank(_joined(X, matrices))
