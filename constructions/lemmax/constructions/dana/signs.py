"""Rows of signs with small inner products: embeddings of many tokens in few dimensions."""

from __future__ import annotations

import math
import random

import numpy as np
from flint import fmpq
from numpy.typing import NDArray


def random_signs(N: int, d: int, seed: int = 0) -> NDArray[np.int64]:
    """N rows of d independent signs."""
    source = random.Random(seed)
    return np.array([[source.choice((-1, 1)) for _ in range(d)] for _ in range(N)], dtype=np.int64)


def derandomised_signs(N: int, d: int) -> NDArray[np.int64]:
    """N rows of d signs with |inner product| ≤ 2√(d log N), found without luck.

    Row by row, each sign keeps Σ_j cosh(θ s_j), the conditional expectation of a bound for the
    number of violated pairs, from growing, s_j being the inner product with row j so far and
    θ = 2√(log N/d). The arithmetic of the choice is floating point; whoever uses the rows checks
    their inner products, which are integers.

    >>> rows = derandomised_signs(40, 32)
    >>> certified_coherence(rows) ** 2 * 32 < fmpq(147, 10)  # 4 log 40 = 14.75...
    True
    """
    theta = 2 * math.sqrt(math.log(max(N, 2)) / d)
    rows = np.empty((N, d), dtype=np.int64)
    for i in range(N):
        sums = np.zeros(i)
        for k in range(d):
            column = rows[:i, k]
            plus, minus = (
                np.cosh(theta * (sums + column)).sum(),
                np.cosh(theta * (sums - column)).sum(),
            )
            # ties are broken by a fixed pattern: rows must not all be alike
            tie = 1 if (i >> (k % 10)) & 1 else -1
            rows[i, k] = 1 if plus < minus else -1 if minus < plus else tie
            sums += rows[i, k] * column
    return rows


def certified_coherence(signs: NDArray[np.int64]) -> fmpq:
    """max |W_i·W_j| for i ≠ j and W = signs/√d, exactly: integer inner products over d."""
    N, d = signs.shape
    gram = signs @ signs.T  # entries are at most d in absolute value: no overflow
    return fmpq(int(abs(gram - d * np.eye(N, dtype=np.int64)).max()), d)
