"""Upper bounds from slices: the three slice sums and the spanning trees.

The slice sum of a mode writes T = Σ_i e_i ⊗ S_i and factors every slice S_i. Wong's Proposition 2.1
takes the smaller of the sums over the keys and over the queries; the sum over the values is never
larger than either (``value_slice_sum``). Cost: an exact echelon form of every slice.
"""

from __future__ import annotations

from lemmax.theory.tensors.arrays import Array, rank_modulo, slices
from lemmax.theory.tensors.decompositions import (
    Decomposition,
    rank_factorisation,
    rational_terms,
)


def slice_sum(array: Array, mode: int) -> Decomposition:
    """T = Σ_i e_i ⊗ S_i with every slice of the mode factored: Σ_i rank(S_i) terms.

    >>> from lemmax.theory.tensors.arrays import tensor_array
    >>> [len(slice_sum(tensor_array([[[1], [1]], [[1], [1]]]), mode)) for mode in range(3)]
    [2, 2, 1]
    """
    n = array.shape[mode]
    return along(
        array,
        mode,
        [([int(i == j) for j in range(n)], s) for i, s in enumerate(slices(array, mode))],
    )


def along(array: Array, mode: int, parts: list[tuple[list[int], Array]]) -> Decomposition:
    """The decomposition Σ a⊗M over pairs (a, M), a in the given mode, every M factored."""
    terms = []
    for a, matrix in parts:
        for u, v in zip(*rank_factorisation(matrix), strict=True):
            term: list[list[object]] = [list(u), list(v)]
            term.insert(mode, list(a))
            terms.append(term)
    return rational_terms(array.shape, terms)


def spanning_tree(array: Array, mode: int) -> Decomposition:
    """Σ_i e_i⊗S_i = Σ_i (Σ_{j below i} e_j) ⊗ (S_i - S_parent(i)) over a rooted spanning tree.

    The tree is a minimum one on the slices and a root (the zero slice), an edge weighing the rank
    of the difference of its ends; so there are at most as many terms as in the slice sum. Prim's
    algorithm needs n(n+1)/2 ranks, which are taken mod a prime: they steer, they prove nothing.

    >>> from lemmax.theory.tensors.arrays import tensor_array
    >>> T = tensor_array([[[1, 0], [0, 1]], [[1, 0], [0, 1]]])
    >>> len(slice_sum(T, 0)), len(spanning_tree(T, 0))
    (4, 2)
    """
    parts = slices(array, mode)
    parent = dict.fromkeys(range(len(parts)), -1)
    weight = {i: rank_modulo(part) for i, part in enumerate(parts)}
    order: list[int] = []
    while weight:
        nearest = min(weight, key=lambda i: weight[i])
        del weight[nearest]
        order.append(nearest)
        for i in weight:
            distance = rank_modulo(parts[i] - parts[nearest]) if weight[i] else 0
            if distance < weight[i]:
                weight[i], parent[i] = distance, nearest
    below = [[int(i == j) for j in parent] for i in parent]
    for i in reversed(order):
        if parent[i] >= 0:
            below[parent[i]] = [x + y for x, y in zip(below[parent[i]], below[i], strict=True)]
    return along(
        array,
        mode,
        [(below[i], parts[i] - parts[parent[i]] if parent[i] >= 0 else parts[i]) for i in order],
    )
