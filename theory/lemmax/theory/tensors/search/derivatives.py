"""The derivative of a sum of terms Σ a_r⊗b_r⊗c_r by the entries of its vectors, in any numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def derivatives(A: NDArray[Any], B: NDArray[Any], C: NDArray[Any]) -> list[NDArray[Any]]:
    """The derivatives by the entries of A, of B and of C, each of shape (abc, rows, R).

    The factor matrices have one column per term. Cost: abc(a + b + c)R numbers.

    >>> ones = np.ones((2, 1), dtype=int)
    >>> [part.shape for part in derivatives(ones, ones, ones)]
    [(8, 2, 1), (8, 2, 1), (8, 2, 1)]
    """
    a, b, c = units = [np.eye(len(X), dtype=X.dtype) for X in (A, B, C)]
    entries = np.prod([len(unit) for unit in units])
    return [
        np.einsum(formula, *factors).reshape(entries, -1, A.shape[1])
        for formula, factors in (
            ("ix,jr,kr->ijkxr", (a, B, C)),
            ("ir,jx,kr->ijkxr", (A, b, C)),
            ("ir,jr,kx->ijkxr", (A, B, c)),
        )
    ]
