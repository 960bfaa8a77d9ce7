"""The direct constructions of a decomposition by name, the cheap ones first."""

from __future__ import annotations

from collections.abc import Iterator

from lemmax.theory.tensors.above.pivots import (
    ALL_SPLITS,
    best_column_pivot,
    column_subsets,
    domain_pivot,
    is_database,
)
from lemmax.theory.tensors.above.slices import slice_sum, spanning_tree
from lemmax.theory.tensors.arrays import Array
from lemmax.theory.tensors.decompositions import Decomposition

_FEW = 12  # queries of databases whose column pivot is cheap
_MODES = ((2, "values"), (1, "queries"), (0, "keys"))


def readable_constructions(array: Array) -> Iterator[tuple[str, Decomposition]]:
    """The cheap decompositions by name, with terms that a person can read.

    >>> import numpy as np
    >>> [(name, len(terms)) for name, terms in readable_constructions(np.ones((2, 2, 1), int))][:2]
    [('slice sum over the values', 1), ('slice sum over the queries', 2)]
    """
    for mode, name in _MODES:
        yield f"slice sum over the {name}", slice_sum(array, mode)
    if is_database(array):
        yield "domain pivot", domain_pivot(array)
        if array.shape[1] <= _FEW:
            yield "column pivot", best_column_pivot(array)


def constructions(array: Array) -> Iterator[tuple[str, Decomposition]]:
    """Decompositions by name, the cheap ones first; whoever asks may stop early."""
    yield from readable_constructions(array)
    if is_database(array):
        if array.shape[1] > _FEW:
            yield "column pivot", best_column_pivot(array)
        swapped = array.transpose(1, 0, 2)
        yield "row pivot", best_column_pivot(swapped).permuted((1, 0, 2))
        if array.shape[1] <= ALL_SPLITS:
            yield "column pivots by subsets", column_subsets(array)
        elif array.shape[0] <= ALL_SPLITS:
            yield "row pivots by subsets", column_subsets(swapped).permuted((1, 0, 2))
    for mode, name in _MODES:
        yield f"spanning tree over the {name}", spanning_tree(array, mode)
