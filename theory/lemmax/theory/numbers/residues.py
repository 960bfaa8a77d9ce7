"""Arrays of residues modulo a number below 2³¹: products of two fit into int64.

The arithmetic is numpy's, for whole arrays at a time; eliminations with compiled loops are in
:mod:`lemmax.theory.numbers.modular`, exact ones in flint's ``nmod_mat``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import nmod_mat
from numpy.typing import NDArray

Residues = NDArray[np.int64]


def reduced(matrix: Any, modulus: int) -> Residues:
    """The entries of an integer matrix of flint's, which may be long, as residues.

    >>> from flint import fmpz_mat
    >>> reduced(fmpz_mat([[-1, 2**70]]), 7).tolist()
    [[6, 2]]
    """
    return np.array([[int(x) % modulus for x in row] for row in matrix.tolist()], dtype=np.int64)


def flint_modulo(residues: Residues, modulus: int) -> nmod_mat:
    """The same matrix for flint."""
    rows, columns = residues.shape
    return nmod_mat(rows, columns, residues.ravel().tolist(), modulus)


def product(left: Residues, right: Residues, modulus: int) -> Residues:
    """left · right; the right one in halves whose sums of up to 2¹⁵ products cannot overflow.

    >>> product(np.array([[2, 3]]), np.array([[4], [5]]), 7).tolist()
    [[2]]
    """
    high = (left @ (right >> 16)) % modulus
    low: Residues = ((high << 16) + left @ (right & 0xFFFF)) % modulus
    return low


def power(base: Residues, exponent: Residues | int, modulus: int) -> Residues:
    """Entrywise powers by repeated squaring; exponents below 2³¹.

    >>> power(np.array([2, 3]), 3, 7).tolist()
    [1, 6]
    """
    result = np.ones(np.broadcast(base, exponent).shape, dtype=np.int64)
    bits = np.broadcast_to(np.asarray(exponent, dtype=np.int64), result.shape)
    square = base.copy()
    for shift in range(31):
        odd = (bits >> shift) & 1
        result = np.where(odd == 1, result * square % modulus, result)
        square = square * square % modulus
    return result


def inverses(values: Residues, prime: int) -> Residues:
    """The inverses of a vector of nonzero residues: a product tree and one power.

    >>> inverses(np.array([1, 2, 3]), 7).tolist()
    [1, 4, 5]
    """
    if len(values) == 1:
        return np.array([pow(int(values[0]), -1, prime)], dtype=np.int64)
    half = len(values) // 2
    low, high = values[:half], values[half : 2 * half]
    both = inverses(low * high % prime, prime)
    parts = [both * high % prime, both * low % prime]
    if len(values) % 2:
        parts.append(inverses(values[-1:], prime))
    return np.concatenate(parts)
