"""Upper bounds from pairs of slices: each pair is a pencil, whose rank is known exactly.

The slices of a mode, and for a database also the domain Dom = Σ_v D_v, which may stand for any one
of the D_v, are divided into pairs and single slices; all divisions are compared. Cost: one pencil
for each of at most 21 pairs.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from flint import fmpq

from lemmax.theory.tensors.above.pivots import domain, is_database
from lemmax.theory.tensors.above.slices import slice_sum
from lemmax.theory.tensors.arrays import Array, rank_modulo, slices
from lemmax.theory.tensors.decompositions import Decomposition
from lemmax.theory.tensors.fields import Field
from lemmax.theory.tensors.pencils.decompositions import pencil_decomposition
from lemmax.theory.tensors.pencils.normal_forms import pencil
from lemmax.theory.tensors.reductions import concise

LARGEST = 6
_ENTRIES = 1_200


def pair_split(array: Array, mode: int, field: Field) -> Decomposition | None:
    """The shortest sum of pencils and single slices of a mode; None where that is too much work.

    >>> import numpy as np
    >>> table = np.array([[0, 1, 2], [1, 2, 0], [2, 0, 1]])  # three values, all of them shifts
    >>> D = (table[:, :, None] == np.arange(3)).astype(int)
    >>> len(pair_split(D, 2, "C")), len(slice_sum(D, 2))
    (4, 9)
    """
    n = array.shape[mode]
    if n > LARGEST or array.size > _ENTRIES * (1 + (n <= 3)):
        return None
    parts = slices(array, mode)
    # row i are the coordinates that part i has in the mode
    whole = mode == 2 and is_database(array)
    if whole:
        parts.append(domain(array))
    # ranks mod a prime: they choose the division, the terms are exact
    costs = {1 << i: rank_modulo(part) for i, part in enumerate(parts)}
    for i, j in combinations(range(len(parts)), 2):
        separate = costs[1 << i] + costs[1 << j]
        costs[1 << i | 1 << j] = min(separate, _pencil_rank(parts[i], parts[j], field))
    _, division = min(
        _division(((1 << len(parts)) - 1) ^ (1 << dropped if whole else 0), costs)
        for dropped in range(len(parts) if whole else 1)
    )
    used = [i for i in range(len(parts)) if any(group >> i & 1 for group in division)]
    basis = _coordinates(n, used)
    total = Decomposition(array.shape)
    for group in division:
        members = [i for i in range(len(parts)) if group >> i & 1]
        stack = np.stack([parts[i] for i in members], axis=mode)
        part = _shortest(stack, mode, field)
        rows = [[fmpq(basis[i][k]) for i in members] for k in range(n)]
        total = total + part.mapped(mode, rows)
    return total


def _coordinates(n: int, used: list[int]) -> dict[int, list[int]]:
    """The dual coordinates of the parts: with Dom for D_w, D_v goes to e_v - e_w and Dom to e_w."""
    missing = next((v for v in range(n) if v not in used), None)
    dual = {}
    for i in used:
        if i == n:
            dual[i] = [int(k == missing) for k in range(n)]
        else:
            dual[i] = [int(k == i) - int(missing is not None and k == missing) for k in range(n)]
    return dual


def _division(mask: int, costs: dict[int, int]) -> tuple[int, tuple[int, ...]]:
    """The cheapest division of a set of slices into pairs and single ones."""
    known: dict[int, tuple[int, tuple[int, ...]]] = {0: (0, ())}

    def solve(left: int) -> tuple[int, tuple[int, ...]]:
        if left not in known:
            lowest = left & -left
            options = []
            for group, cost in costs.items():
                if group & lowest and group & left == group:
                    rest, groups = solve(left ^ group)
                    options.append((cost + rest, (group, *groups)))
            known[left] = min(options)
        return known[left]

    return solve(mask)


def _pencil_rank(first: Array, second: Array, field: Field) -> int:
    core = concise(np.stack([first, second])).array if first.any() or second.any() else None
    if core is None:
        return 0
    if core.shape[0] < 2:
        return rank_modulo(core[0])
    return pencil(core[0], core[1]).rank(field)


def _shortest(stack: Array, mode: int, field: Field) -> Decomposition:
    """A shortest decomposition of one or two slices of a mode."""
    if not stack.any() or stack.shape[mode] == 1:
        return slice_sum(stack, mode)
    core = concise(stack)
    if core.array.shape[mode] == 1:
        return core.extend(slice_sum(core.array, mode))
    first, second = np.moveaxis(core.array, mode, 0)
    order = [0, 1]
    order.insert(mode, 2)
    form = pencil(first, second)
    return core.extend(pencil_decomposition(form, field).permuted(order))
