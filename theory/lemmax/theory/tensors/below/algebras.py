"""Multiplication tables: a lower bound by the theorem of Alder and Strassen, cited.

If T[i, j, :] are the coordinates of e_i e_j in an associative algebra with unit over a field F,
then R_F(T) ≥ 2 dim - t, where t is the number of maximal two-sided ideals over F (Alder and
Strassen, On the algorithmic complexity of associative algebras, 1981). The hypotheses are checked
here; the theorem is not proved, so the bound is reported apart and enters no certificate.
"""

from __future__ import annotations

import random

import numpy as np
from flint import fmpq, fmpq_mat, fmpq_poly, fmpz_mat

from lemmax.theory.numbers.linear import null_space, real_roots
from lemmax.theory.tensors.arrays import Array
from lemmax.theory.tensors.fields import Field

_LARGEST = 16


def is_unital_algebra(array: Array) -> bool:
    """Whether the entries are structure constants of an associative algebra with unit.

    >>> is_unital_algebra(np.eye(2, dtype=int)[[[0, 1], [1, 0]]])  # the group of two elements
    True
    """
    n = array.shape[0]
    if array.shape != (n, n, n) or n > _LARGEST:
        return False
    left = np.einsum("ijm,mkl->ijkl", array, array)
    right = np.einsum("jkm,iml->ijkl", array, array)
    if (left != right).any():
        return False
    # Σ u_i T[i, j, k] = δ_jk = Σ u_i T[j, i, k]
    rows = np.vstack([array.reshape(n, -1).T, array.transpose(1, 0, 2).reshape(n, -1).T])
    unit = np.concatenate([np.eye(n, dtype=int).ravel()] * 2)
    system = fmpq_mat(fmpz_mat(np.column_stack([rows, unit]).tolist()))
    return bool(system.rank() == fmpq_mat(fmpz_mat(rows.tolist())).rank())


def maximal_ideals(array: Array, field: Field) -> int:
    """The number of maximal two-sided ideals of a unital algebra, over the field.

    It is the number of simple factors of the algebra modulo its radical, which is the null space of
    the trace form; a generic central element has, up to multiplicity, one irreducible factor of its
    characteristic polynomial for each of them.
    """
    n = array.shape[0]
    traces = np.einsum("iab,jba->ij", array, array)
    commutators = array - array.transpose(1, 0, 2)
    # z is central modulo the radical iff tr((z x - x z) y) = 0 for all x, y
    equations = np.einsum("zxk,ky->xyz", commutators, traces).reshape(n * n, n)
    central = null_space(fmpq_mat(fmpz_mat(equations.tolist())))
    radical = null_space(fmpq_mat(fmpz_mat(traces.tolist())))
    wanted = len(central) - len(radical)
    generator = random.Random(0)
    while True:
        weights = [generator.randint(-99, 99) for _ in central]
        z = [
            sum((w * v[i] for w, v in zip(weights, central, strict=True)), fmpq(0))
            for i in range(n)
        ]
        action = sum(
            (fmpq_mat(fmpz_mat(array[i].tolist())) * z[i] for i in range(n)), fmpq_mat(n, n)
        )
        factors: list[fmpq_poly] = [f for f, _ in action.charpoly().factor()[1]]
        if sum(f.degree() for f in factors) == wanted:
            break
    if field == "Q":
        return len(factors)
    if field == "C":
        return wanted
    return sum((f.degree() + real_roots(f)) // 2 for f in factors)


def alder_strassen(array: Array, field: Field) -> int | None:
    """2 dim - t for a multiplication table of an associative algebra with unit, else None.

    >>> cyclic = np.eye(5, dtype=int)[[[(i + j) % 5 for j in range(5)] for i in range(5)]]
    >>> [alder_strassen(cyclic, field) for field in ("Q", "R", "C")]
    [8, 7, 5]
    """
    if not is_unital_algebra(array):
        return None
    return 2 * int(array.shape[0]) - maximal_ideals(array, field)
