"""Integer arrays K × Q × V: reading them, flattening them, their exact flattening ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from flint import fmpz_mat, nmod_mat
from numpy.typing import NDArray

from lemmax.theory.errors import NotExact, ShapeError
from lemmax.theory.numbers.matrices import rational
from lemmax.theory.numbers.primes import MERSENNE_61
from lemmax.theory.numbers.rank import certified_rank

Array: TypeAlias = NDArray[Any]
"""A three-way array of integers: int64, or Python integers where they are longer."""

_MACHINE = 2**31  # sums of products of smaller entries stay within int64


def tensor_array(data: Any) -> Array:
    """The integer tensor of a database, or of anything that spells a three-way integer array.

    >>> tensor_array([[[1, 0], [0, 2]]]).shape
    (1, 2, 2)
    >>> tensor_array([[1, 0], [0, 1]])
    Traceback (most recent call last):
    ...
    lemmax.theory.errors.ShapeError: A tensor has three dimensions, this array has 2.
    """
    if hasattr(data, "tensor") and callable(data.tensor):
        data = data.tensor()
    try:
        array = np.asarray(data)
    except ValueError:
        raise ShapeError("The slices of a tensor must all have the same shape.") from None
    if np.ma.is_masked(data):
        raise NotExact("A masked entry has no value.")
    if array.ndim != 3:
        raise ShapeError(f"A tensor has three dimensions, this array has {array.ndim}.")
    if not array.size:
        raise ShapeError("A tensor needs at least one entry in every dimension.")
    if array.dtype.kind in "biu":
        entries = array.astype(object)
    else:
        entries = np.array([_integer(x) for x in array.ravel()], dtype=object)
    entries = entries.reshape(array.shape)
    small = max(abs(int(x)) for x in entries.ravel()) < _MACHINE
    return entries.astype(np.int64) if small else entries


def _integer(value: Any) -> int:
    if isinstance(value, (float, np.floating)):
        raise NotExact(f"The entry {value} of the tensor is a float; its entries are integers.")
    exact = rational(value)
    if exact.q != 1:
        raise NotExact(
            f"The entry {exact} of the tensor is not an integer; multiply by the denominators."
        )
    return int(exact.p)


def flattening(array: Array, mode: int) -> Array:
    """The matrix whose rows are the slices of one mode, written out.

    >>> flattening(tensor_array([[[1, 2], [3, 4]]]), 1).tolist()
    [[1, 2], [3, 4]]
    """
    return np.moveaxis(array, mode, 0).reshape(array.shape[mode], -1)


def slices(array: Array, mode: int) -> list[Array]:
    """The slices of one mode as matrices; the two other modes keep their order."""
    return list(np.moveaxis(array, mode, 0))


def mapped(array: Array, mode: int, rows: Sequence[Sequence[int]]) -> Array:
    """The tensor with an integer matrix applied to one mode.

    >>> mapped(tensor_array([[[1, 2], [3, 4]]]), 2, [[1, 1]]).tolist()
    [[[3], [7]]]
    """
    product = np.tensordot(np.array(rows, dtype=array.dtype), array, (1, mode))
    return np.moveaxis(product, 0, mode)


def _compact(matrix: Array) -> list[list[int]]:
    """The rows without columns that vanish or repeat: the same rank, often far fewer columns."""
    matrix = matrix[:, (matrix != 0).any(axis=0)]
    if matrix.shape[1] > matrix.shape[0] and matrix.dtype != object:
        matrix = np.unique(matrix, axis=1)
    rows: list[list[int]] = matrix.tolist()
    return rows


def matrix_rank(matrix: Array) -> int:
    """The rank over Q of an integer array with two dimensions, also of an empty one."""
    rows = _compact(matrix)
    return certified_rank(fmpz_mat(rows)).rank if rows and rows[0] else 0


def rank_modulo(matrix: Array, prime: int = MERSENNE_61) -> int:
    """The rank mod a prime: at most the rank over Q."""
    rows = _compact(matrix)
    if not rows or not rows[0]:
        return 0
    return int(nmod_mat(fmpz_mat(rows), prime).rank())


def flattening_rank(array: Array, mode: int) -> int:
    """The exact rank over Q, equally over R and C, of a flattening."""
    return matrix_rank(flattening(array, mode))
