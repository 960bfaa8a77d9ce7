"""Koszul flattenings."""

import itertools
import math
from collections.abc import Mapping
from typing import Any

from ..arithmetic import rank_mod, subsets
from ..limits import keep, refuse, released, spend
from ..tensors import Cube, slices_of
from .rule import Bound, mode_and_prime


def by_koszul(step: Mapping[str, Any], T: Cube, field: str, where: str) -> Bound:
    """Landsberg and Ottaviani: 2p + 1 slices; R >= rank of the Koszul flattening / C(2p, p).

    For one term a⊗b⊗c it is the map x -> a∧x of p-vectors, of rank C(2p, p), times b c^T.
    """
    mode, q = mode_and_prime(step, where)
    X = slices_of(T, mode)
    half, odd = divmod(len(X), 2)
    if not odd or half < 1:
        refuse(where, "needs an odd number of slices, at least three")
    blocks = subsets(len(X), half) ** 2
    spend("The Koszul flattening", blocks * len(X[0][0]) * (len(X[0]) + half * half + 10))
    with released():
        keep("The Koszul flattening", blocks * len(X[0]) * len(X[0][0]))
        rows = []
        for large in itertools.combinations(range(len(X)), half + 1):
            for k in range(len(X[0][0])):
                row: list[int] = []
                for small in itertools.combinations(range(len(X)), half):
                    extra = [i for i in large if i not in small]
                    sign = (-1) ** large.index(extra[0]) if len(extra) == 1 else 0
                    row += [sign * part[k] for part in X[extra[0]]] if sign else [0] * len(X[0])
                rows.append(row)
        rank, share = rank_mod(rows, q), math.comb(2 * half, half)
    return -(-rank // share), T, f"R >= {rank} / {share}, the rank of a Koszul flattening"
