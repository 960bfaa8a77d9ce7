"""The third factor of a decomposition, solved for over Q where two factors are given."""

from __future__ import annotations

from collections.abc import Sequence

from flint import fmpq, fmpz, fmpz_mat, nmod_mat

from lemmax.theory.numbers.linear import integers
from lemmax.theory.numbers.primes import MERSENNE_61
from lemmax.theory.numbers.rank import pivots_modulo
from lemmax.theory.tensors.arrays import Array


def third_factor(
    array: Array, A: Sequence[Sequence[fmpq]], B: Sequence[Sequence[fmpq]]
) -> list[list[fmpq]] | None:
    """Vectors c_r with Σ a_r⊗b_r⊗c_r = T wherever a maximal minor of the equations sees it.

    ``A`` and ``B`` list the vectors a_r and b_r. None where there is no solution modulo a large
    prime; whether the terms add up everywhere is for the caller to verify. Where the a_r⊗b_r are
    dependent, the c_r of the later ones are zero. Cost: two eliminations mod the prime, and one
    exact solution with a nonsingular integer matrix.

    >>> import numpy as np
    >>> one, two = [fmpq(1, 2), fmpq(0)], [fmpq(0), fmpq(1)]
    >>> third_factor(np.array([[[1], [0]], [[0], [3]]]), [one, two], [one, two])
    [[4], [3]]
    """
    a, b, c = array.shape
    left, right = [_whole(u) for u in A], [_whole(v) for v in B]
    equations = [
        [u[i] * v[j] for (u, _), (v, _) in zip(left, right, strict=True)]
        for i in range(a)
        for j in range(b)
    ]
    entries = array.reshape(a * b, c).tolist()
    joint = [row + values for row, values in zip(equations, entries, strict=True)]
    rows, columns = pivots_modulo(nmod_mat(fmpz_mat(joint), MERSENNE_61))
    if not columns or columns[-1] >= len(left):
        return None
    minor = fmpz_mat([[equations[i][r] for r in columns] for i in rows])
    solution = minor.solve(fmpz_mat([entries[i] for i in rows])).tolist()
    vectors = [[fmpq(0)] * c for _ in left]
    for r, vector in zip(columns, solution, strict=True):
        scale = left[r][1] * right[r][1]
        vectors[r] = [fmpq(x) / scale for x in vector]
    return vectors


def _whole(vector: Sequence[fmpq]) -> tuple[list[fmpz], fmpq]:
    """A primitive integer vector, and the scalar by which it gives the vector."""
    whole = integers(vector)
    return whole, next((x / y for x, y in zip(vector, whole, strict=True) if y), fmpq(1))
