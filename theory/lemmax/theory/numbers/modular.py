"""Ranks and null spaces mod a prime below 2³¹, many matrices at a time.

They steer searches; nothing that is proved rests on them. The loops are compiled where numba is
installed; plain Python runs the same loops, only far slower.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lemmax.theory.numbers.loops import compiled
from lemmax.theory.numbers.primes import MERSENNE_31
from lemmax.theory.numbers.residues import Residues as Residues
from lemmax.theory.numbers.residues import product


def residues(array: NDArray[np.int64] | NDArray[np.object_]) -> Residues:
    """The entries mod the prime."""
    return (array % MERSENNE_31).astype(np.int64)


@compiled
def reduce(M: Residues) -> Residues:
    """Bring a matrix to reduced echelon form, in place; the pivot columns.

    >>> M = np.array([[2, 4], [1, 2]])
    >>> reduce(M).tolist(), M.tolist()
    ([0], [[1, 2], [0, 0]])
    """
    rows, columns = M.shape
    pivots = np.zeros(min(rows, columns), dtype=np.int64)
    rank = 0
    for j in range(columns):
        if rank == rows:
            break
        pivot = rank
        while pivot < rows and M[pivot, j] == 0:
            pivot += 1
        if pivot == rows:
            continue
        inverse, power, exponent = 1, M[pivot, j], MERSENNE_31 - 2
        while exponent:  # x^(p-2) = 1/x
            if exponent & 1:
                inverse = inverse * power % MERSENNE_31
            power = power * power % MERSENNE_31
            exponent >>= 1
        for k in range(j, columns):
            entry = M[pivot, k]
            M[pivot, k] = M[rank, k]
            M[rank, k] = entry * inverse % MERSENNE_31
        for i in range(rows):
            factor = M[i, j]
            if i != rank and factor:
                for k in range(j, columns):
                    if M[rank, k]:
                        M[i, k] = (M[i, k] + (MERSENNE_31 - factor) * M[rank, k]) % MERSENNE_31
        pivots[rank] = j
        rank += 1
    return pivots[:rank]


@compiled
def _ranks(stack: Residues) -> Residues:
    table = np.zeros(len(stack), dtype=np.int64)
    for n in range(len(stack)):
        table[n] = len(reduce(stack[n]))
    return table


def ranks(stack: Residues) -> Residues:
    """The rank of each matrix of a stack with the shape (matrices, rows, columns).

    >>> ranks(np.array([[[1, 2], [2, 4]], [[1, 0], [0, 1]], [[0, 0], [0, 0]]])).tolist()
    [1, 2, 0]
    """
    return _ranks(residues(stack))


def rank(matrix: Residues) -> int:
    """The rank of one matrix."""
    return len(reduce(residues(matrix)))


def null_space(matrix: Residues) -> Residues:
    """A basis of {x : Mx = 0}, one vector per row.

    >>> null_space(np.array([[1, 1, 0]])).tolist()
    [[2147483646, 1, 0], [0, 0, 1]]
    """
    M = residues(matrix)
    pivots = reduce(M)
    columns = M.shape[1]
    free = np.setdiff1d(np.arange(columns), pivots)
    basis = np.zeros((len(free), columns), dtype=np.int64)
    basis[np.arange(len(free)), free] = 1
    basis[:, pivots] = -M[: len(pivots), free].T % MERSENNE_31
    return basis


def multiply(left: Residues, right: Residues) -> Residues:
    """The product of two matrices mod the prime."""
    return product(left, right, MERSENNE_31)
