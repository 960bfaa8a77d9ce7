"""Tensors with a name, which tests, benchmarks and examples share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lemmax.theory.tensors.arrays import Array


def of_table(rows: Sequence[Sequence[Any]] | Array) -> Array:
    """The tensor of a table: rows are keys, columns queries, entries values, a dot is a gap.

    >>> of_table(["01", "1."]).tolist()
    [[[1, 0], [0, 1]], [[0, 1], [0, 0]]]
    """
    values = sorted({value for row in rows for value in row} - {"."})
    return np.array([[[int(x == v) for v in values] for x in row] for row in rows])


def cyclic(n: int) -> Array:
    """The table of the cyclic group of order n.

    >>> cyclic(2).tolist()
    [[[1, 0], [0, 1]], [[0, 1], [1, 0]]]
    """
    return of_table([[(i + j) % n for j in range(n)] for i in range(n)])


def matrix_product(n: int) -> Array:
    """The product of n × n matrices, as the trace of the product of three.

    >>> int(matrix_product(2).sum())
    8
    """
    T = np.zeros((n * n, n * n, n * n), dtype=int)
    for i, j, k in np.ndindex(n, n, n):
        T[i * n + j, j * n + k, k * n + i] = 1
    return T
