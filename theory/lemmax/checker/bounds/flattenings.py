"""Bounds from ranks of flattenings: restriction, substitution, Koszul flattenings, transversals."""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..arithmetic import integer_rank, rank_mod, subsets
from ..limits import keep, refuse, released, spend
from ..reading import exactly, integer
from ..tensors import (
    Bound,
    Integral,
    exact_rank,
    lower_rank,
    mapped,
    mode_and_prime,
    restricted,
    sizes,
    turned,
    turned_back,
    two_modes,
)


def by_restriction(step: Mapping[str, Any], T: Integral, field: str, where: str) -> Bound:
    """Applying a linear map to each mode never increases the rank."""
    rest = restricted(step["maps"], T, where)
    return 0, rest, f"R >= R of a {' x '.join(map(str, sizes(rest)))} restriction"


def by_substitution(step: Mapping[str, Any], T: Integral, field: str, where: str) -> Bound:
    """R(T) >= r(T) - r(T|) + R(T|), r the rank of the flattening that keeps the mode.

    T| is T with maps applied to the two other modes; a map of the mode itself comes after.
    """
    mode, p = mode_and_prime(step, where)
    maps = exactly(3, step["maps"], f"{where}.maps")
    other = restricted([[] if m == mode else part for m, part in enumerate(maps)], T, where)
    before, after = lower_rank(T, mode, p), exact_rank(other, mode)
    rest = mapped(maps[mode], other, mode, f"{where}.maps[{mode}]")
    shape = " x ".join(map(str, sizes(rest)))
    return before - after, rest, f"R >= {before} - {after} + R of a {shape} restriction"


def by_flattening(step: Mapping[str, Any], T: Integral, field: str, where: str) -> Bound:
    """R(T) >= the rank of a flattening."""
    mode, p = mode_and_prime(step, where)
    rank = lower_rank(T, mode, p)
    return rank, T, f"R >= {rank}, the rank mod {p} of the flattening of mode {mode}"


def by_koszul(step: Mapping[str, Any], T: Integral, field: str, where: str) -> Bound:
    """Landsberg and Ottaviani: 2p + 1 slices; R >= rank of the Koszul flattening / C(2p, p).

    For one term a⊗b⊗c it is the map x -> a∧x of p-vectors, of rank C(2p, p), times b c^T.
    """
    mode, q = mode_and_prime(step, where)
    X = turned(T, mode)
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


def by_transversal(step: Mapping[str, Any], T: Integral, field: str, where: str) -> Bound:
    """R >= s + t, where s rank-one matrices lie in the span L of the slices of a mode.

    With N_q the vectors x for which e_q⊗x lies in L, s is the sum of the dim N_q, and t is the
    least size of a set that meets the support of every column q whose vectors are not all in N_q.
    """
    mode, other = two_modes(step, where)
    hitting = integer(step["hitting"], f"{where}.hitting", 10**6)
    columns = list(turned(T, other))
    place = mode if mode < other else mode - 1  # where the mode stands in a column
    whole_rank, total, sets = exact_rank(T, mode), 0, []
    for q, column in enumerate(columns):
        rest = turned_back(columns[:q] + columns[q + 1 :], other) if len(columns) > 1 else []
        alone = whole_rank - (exact_rank(rest, mode) if rest else 0)
        total += alone
        rows = column if place == 0 else list(zip(*column, strict=True))
        if integer_rank(rows, "A column") > alone:
            sets.append(frozenset(k for row in rows for k, x in enumerate(row) if x))
    if hits(sets, hitting - 1):
        return -1, T, f"{hitting - 1} indices meet all the supports"
    return total + hitting, T, f"R >= {total} + {hitting}, the least size of a transversal"


def hits(sets: Sequence[frozenset[int]], size: int) -> bool:
    """Whether some set of the given size meets all the sets."""
    spend("The search for a transversal", 20 + 4 * len(sets))
    if not sets:
        return size >= 0
    if size <= 0:
        return False
    smallest = min(sets, key=len)
    return any(hits([s for s in sets if x not in s], size - 1) for x in sorted(smallest))
