"""Transversals: sets of indices that meet all the supports."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..arithmetic import integer_rank
from ..limits import spend
from ..reading import integer
from ..tensors import Cube, exact_rank, slices_of, turned_back
from .rule import Bound, two_modes


def by_transversal(step: Mapping[str, Any], T: Cube, field: str, where: str) -> Bound:
    """R >= s + t, where s rank-one matrices lie in the span L of the slices of a mode.

    With N_q the vectors x for which e_q⊗x lies in L, s is the sum of the dim N_q, and t is the
    least size of a set that meets the support of every column q whose vectors are not all in N_q.
    """
    mode, other = two_modes(step, where)
    hitting = integer(step["hitting"], f"{where}.hitting", 10**6)
    columns = slices_of(T, other)
    place = mode if mode < other else mode - 1  # where the mode stands in a column
    whole_rank, total, sets = exact_rank(T, mode), 0, []
    for q, column in enumerate(columns):
        rest = turned_back(columns[:q] + columns[q + 1 :], other) if len(columns) > 1 else []
        alone = whole_rank - (exact_rank(rest, mode) if rest else 0)
        total += alone
        rows = column if place == 0 else [list(row) for row in zip(*column, strict=True)]
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
