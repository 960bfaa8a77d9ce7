"""Koszul flattenings (Landsberg and Ottaviani), which bound the border rank and so the rank.

For a mode A of dimension 2p + 1 the tensor gives a map ⋀^p A ⊗ B* → ⋀^(p+1) A ⊗ C; for a⊗b⊗c it is
x ↦ a∧x times b c, of rank C(2p, p). So R ≥ rank / C(2p, p), a bound of almost 2 min(|B|, |C|). A
larger mode is first mapped to 2p + 1 random combinations of its slices. Cost: ranks mod a prime of
matrices with at most 240 rows and columns.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from itertools import combinations

import numpy as np

from lemmax.theory.tensors.arrays import Array, mapped, rank_modulo, slices
from lemmax.theory.tensors.below.chains import WRITTEN_PRIME, LowerBound, restriction

_LARGEST = 240


def koszul_matrix(array: Array, mode: int) -> Array:
    """The Koszul flattening of a tensor with 2p + 1 slices in the mode.

    >>> import numpy as np
    >>> koszul_matrix(np.ones((3, 1, 1), dtype=int), 0).tolist()
    [[-1, 1, 0], [-1, 0, 1], [0, -1, 1]]
    """
    parts = slices(array, mode)
    p = len(parts) // 2
    zero = np.zeros_like(parts[0])
    rows = []
    for large in combinations(range(len(parts)), p + 1):
        row = []
        for small in combinations(range(len(parts)), p):
            extra = [i for i in large if i not in small]
            sign = (-1) ** large.index(extra[0]) if len(extra) == 1 else 0
            row.append(sign * parts[extra[0]].T if sign else zero.T)
        rows.append(np.hstack(row))
    return np.vstack(rows)


def koszul_bounds(array: Array) -> Iterator[LowerBound]:
    """Bounds from all modes and the p whose matrices have at most 240 rows and columns."""
    generator = random.Random(0)
    for mode in range(3):
        size = array.shape[mode]
        others = [n for m, n in enumerate(array.shape) if m != mode]
        for p in range(1, (size - 1) // 2 + 1):
            width = 2 * p + 1
            if math.comb(width, p) * max(others) > _LARGEST:
                break
            maps: list[list[list[str]]] = [[], [], []]
            part = array
            if size > width:
                rows = [[generator.randint(-9, 9) for _ in range(size)] for _ in range(width)]
                maps[mode] = [[str(x) for x in row] for row in rows]
                part = mapped(array, mode, rows)
            rank = rank_modulo(koszul_matrix(part, mode))
            step = {"lemma": "koszul", "mode": mode, "prime": WRITTEN_PRIME}
            bound = LowerBound.by(step, -(-rank // math.comb(2 * p, p)))
            yield bound.after(restriction(maps)) if size > width else bound
