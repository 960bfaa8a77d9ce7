"""Tables in which a predicate is a subject too: its own blocks are read by all heads, and cancel.

Coordinates are the blocks (h, j), one-hot coordinates o_i of the predicates, outputs and a marker.
Predicate i has a number p_i, other tokens p = 0; head h scores token t as s(2p_i p_t - p_t²), which
is s·p_i² less s(p_i - p_t)², with s = -g for h = i and g otherwise. So head i attends to the key,
the others to the predicate, and the outputs of the predicate hold minus the sum of its other
blocks. On (t, t) both tokens are one and the same, and every head gives its block. d_qk = 2.
"""

from __future__ import annotations

from itertools import count, islice
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lemmax.theory.errors import LemmaxError

Floats: TypeAlias = NDArray[np.float64]

GAIN = 128


def numbers(queries: int) -> list[int]:
    """Distinct integers of four bits and their negatives, so that formats hold their squares.

    >>> numbers(6), numbers(40)[-2:]
    ([1, -1, 2, -2, 3, -3], [24, -24])
    """
    short = (n for n in count(1) if (n // (n & -n)).bit_length() <= 4)
    return [p for n in islice(short, (queries + 1) // 2) for p in (n, -n)][:queries]


def take_back(W_E: Floats, queries: list[int], m: int, outputs: list[int]) -> None:
    """Write o_i, the marker and minus the sum of the other blocks into the rows of predicates."""
    H = len(queries)
    for i, q in enumerate(queries):
        W_E[q, H * m + i] = W_E[q, -1] = 1
        blocks = W_E[q, : H * m].reshape(H, m)
        W_E[q, outputs] = blocks[i] - blocks.sum(axis=0)


def heads(
    H: int, m: int, width: int, outputs: list[int], largest: int
) -> tuple[Floats, Floats, Floats, Floats]:
    """W_Q, W_K, W_V, W_O of all heads, stacked; ``largest`` is what a score may reach."""
    ps = numbers(H)
    if GAIN * 4 * ps[-1] ** 2 > largest:
        raise LemmaxError(
            f"{H} predicates, some of them subjects too, have attention scores beyond {largest}: "
            "give the predicates names of their own."
        )
    W_Q, W_K = np.zeros((H, width, 2)), np.zeros((H, 2, width))
    W_V, W_O = np.zeros((H, width, m)), np.zeros((H, m, width))
    for h in range(H):
        for i, p in enumerate(ps):
            sign = -1 if i == h else 1
            W_K[h, :, H * m + i] = p, p * p
            W_Q[h, H * m + i] = 2 * sign * GAIN * p, -sign * GAIN
        W_V[h, range(h * m, h * m + m), range(m)] = 1
        W_O[h, range(m), outputs] = 1
    return W_Q, W_K, W_V, W_O
