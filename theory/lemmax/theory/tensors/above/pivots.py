"""Upper bounds for databases from pivots: one value is taken out of whole columns at once.

For a database D with domain Dom (a 0/1 matrix K × Q) and slices D_v the *domain pivot* is

    D = Dom⊗e_w + Σ_{v≠w} D_v⊗(e_v - e_w),

and the *column pivot* chooses for every column q a value w_q among those of the column:

    D = Σ_q 1_{Dom_q}⊗e_q⊗e_{w_q} + Σ_q Σ_{v≠w_q} 1_{f_q=v}⊗e_q⊗(e_v - e_{w_q}),

so that R ≤ Σ_q (|V_q| - 1) + Σ_w rank(Dom on the columns with pivot w). Cost: an exact echelon form
for each pivot; choosing the pivots is a search for a smallest transversal, or over all splits.
"""

from __future__ import annotations

import numpy as np

from lemmax.theory.tensors.above.slices import along
from lemmax.theory.tensors.arrays import Array, matrix_rank, rank_modulo
from lemmax.theory.tensors.decompositions import Decomposition, rank_factorisation, rational_terms
from lemmax.theory.tensors.transversals import TooManySets, greedy_transversal, transversal

ALL_SPLITS = 9  # columns whose 3ⁿ splits are compared


def is_database(array: Array) -> bool:
    """Whether the entries are 0 and 1 with at most one 1 in every fibre D[k, q, :]."""
    return bool(((array == 0) | (array == 1)).all() and (array.sum(axis=2) <= 1).all())


def domain(array: Array) -> Array:
    """The 0/1 matrix of defined cells."""
    cells: Array = array.sum(axis=2)
    return cells


def domain_pivot(array: Array) -> Decomposition:
    """rank(Dom) + Σ_v rank(D_v) - max_v rank(D_v) terms.

    >>> import numpy as np
    >>> table = np.array([[0, 1], [0, 0], [1, 1]])  # rows keys, columns queries, entries values
    >>> D = (table[:, :, None] == np.arange(2)).astype(int)
    >>> len(domain_pivot(D))
    3
    """
    n = array.shape[2]
    ranks = [matrix_rank(array[:, :, v]) for v in range(n)]
    pivot = max(range(n), key=lambda v: ranks[v])
    parts = [([int(v == pivot) for v in range(n)], domain(array))]
    for v in range(n):
        if v != pivot:
            parts.append(([int(w == v) - int(w == pivot) for w in range(n)], array[:, :, v]))
    return along(array, 2, parts)


def column_pivot(array: Array, pivots: dict[int, int]) -> Decomposition:
    """The column pivot with the value ``pivots[q]`` for every column q that has a fact."""
    keys, queries, values = array.shape
    unit = np.eye(max(queries, values), dtype=int)
    defined = domain(array)
    terms: list[list[list[object]]] = []
    for value in sorted(set(pivots.values())):
        group = [q for q in sorted(pivots) if pivots[q] == value]
        masked = np.zeros_like(defined)
        masked[:, group] = defined[:, group]
        for left, right in zip(*rank_factorisation(masked), strict=True):
            terms.append([list(left), list(right), unit[value][:values].tolist()])
    for q, pivot in sorted(pivots.items()):
        for v in range(values):
            if v != pivot and array[:, q, v].any():
                terms.append(
                    [
                        array[:, q, v].tolist(),
                        unit[q][:queries].tolist(),
                        (unit[v] - unit[pivot])[:values].tolist(),
                    ]
                )
    return rational_terms((keys, queries, values), terms)


def best_column_pivot(array: Array) -> Decomposition:
    """The column pivot with few groups of columns."""
    return column_pivot(array, choose_pivots(array))


def choose_pivots(array: Array) -> dict[int, int]:
    """A value for every column, so that columns with equal domains share values.

    For a table (columns with one domain) the smallest number of values is that of a smallest
    transversal of the sets of values of its columns. Tables are treated one by one.
    """
    tables: dict[bytes, list[int]] = {}
    defined = domain(array)
    for q in range(array.shape[1]):
        if defined[:, q].any():
            tables.setdefault(defined[:, q].tobytes(), []).append(q)
    chosen: dict[int, int] = {}
    for columns in tables.values():
        sets = [frozenset(np.flatnonzero(array[:, q].any(axis=0)).tolist()) for q in columns]
        try:
            values = sorted(transversal(sets))
        except TooManySets:
            values = greedy_transversal(sets)
        for q, having in zip(columns, sets, strict=True):
            chosen[q] = next(v for v in values if v in having)
    return chosen


def column_subsets(array: Array) -> Decomposition:
    """The best way to split the columns into groups, each with one common pivot value.

    A group costs Σ (|V_q| - 1) + rank(Dom on the group); all 3^|Q| splits are compared.
    """
    columns = [q for q in range(array.shape[1]) if array[:, q].any()]
    defined = domain(array)
    values = {q: frozenset(np.flatnonzero(array[:, q].any(axis=0)).tolist()) for q in columns}
    cost: dict[int, tuple[int, int]] = {0: (0, 0)}
    shared: dict[int, tuple[int, int]] = {}
    for mask in range(1, 1 << len(columns)):
        members = [q for i, q in enumerate(columns) if mask >> i & 1]
        common = frozenset.intersection(*(values[q] for q in members))
        if common:
            own = sum(len(values[q]) - 1 for q in members) + rank_modulo(defined[:, members])
            shared[mask] = own, min(common)
        lowest = mask & -mask
        best = None
        part = mask
        while part:  # the group of the lowest column runs over the submasks that contain it
            if part & lowest and part in shared:
                total = shared[part][0] + cost[mask ^ part][0]
                if best is None or total < best[0]:
                    best = total, part
            part = (part - 1) & mask
        assert best is not None
        cost[mask] = best
    pivots: dict[int, int] = {}
    mask = (1 << len(columns)) - 1
    while mask:
        group = cost[mask][1]
        pivots |= {q: shared[group][1] for i, q in enumerate(columns) if group >> i & 1}
        mask ^= group
    return column_pivot(array, pivots)
