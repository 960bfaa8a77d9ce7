"""Exact reductions: to a concise tensor, and to its components.

Concision keeps a basis of the slices of every mode. The other slices are combinations of it, so
the rank does not change: the kept tensor is a restriction, and the combinations extend every
decomposition of it. Components are the connected pieces of the graph on the indices of the three
modes in which every nonzero entry joins its three indices; the tensor is their direct sum. Blocks
are those of the graph on two modes only: the indices of the third mode may be shared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import networkx as nx
import numpy as np
from flint import fmpq_mat, fmpz_mat, nmod_mat

from lemmax.theory.numbers.linear import independent
from lemmax.theory.numbers.primes import MERSENNE_61
from lemmax.theory.numbers.rank import pivots_modulo
from lemmax.theory.tensors.arrays import Array, flattening, rank_modulo, slices
from lemmax.theory.tensors.decompositions import Decomposition


@dataclass(frozen=True)
class Concise:
    """A restriction of a tensor with independent slices, and the way back.

    ``kept`` are the chosen indices of each mode; row i of ``expansion[m]`` writes slice i of mode m
    in the kept ones.
    """

    array: Array
    kept: tuple[list[int], list[int], list[int]]
    expansions: tuple[fmpq_mat, fmpq_mat, fmpq_mat]

    def extend(self, decomposition: Decomposition) -> Decomposition:
        """A decomposition of the original tensor, of the same length."""
        for mode, expansion in enumerate(self.expansions):
            decomposition = decomposition.mapped(mode, expansion.tolist())
        return decomposition


def concise(array: Array) -> Concise:
    """Keep an independent set of slices in every mode, those of small rank first.

    >>> from lemmax.theory.tensors.arrays import tensor_array
    >>> concise(tensor_array([[[1, 0]], [[2, 0]], [[0, 1]]])).kept
    ([0, 2], [0], [0, 1])
    """
    kept: list[list[int]] = []
    expansions: list[fmpq_mat] = []
    for mode in range(3):
        indices, expansion = _basis(array, mode)
        array = np.take(array, indices, axis=mode)
        kept.append(indices)
        expansions.append(expansion)
    return Concise(
        array, (kept[0], kept[1], kept[2]), (expansions[0], expansions[1], expansions[2])
    )


def _basis(array: Array, mode: int) -> tuple[list[int], fmpq_mat]:
    """Indices of independent slices, and all slices in terms of them."""
    rows = flattening(array, mode)
    rows = rows[:, (rows != 0).any(axis=0)]
    size = rows.shape[0]
    weights = [rank_modulo(part) for part in slices(array, mode)]
    order = sorted(range(size), key=lambda i: weights[i])
    ordered = fmpz_mat(rows[order].tolist())
    chosen, columns = pivots_modulo(nmod_mat(ordered.transpose(), MERSENNE_61))[::-1]
    expansion = _expansion(ordered, chosen, columns)
    if expansion is None:  # the prime was unlucky
        chosen = independent(fmpq_mat(ordered).tolist())
        columns = independent(fmpq_mat([ordered.tolist()[i] for i in chosen]).transpose().tolist())
        expansion = _expansion(ordered, chosen, columns)
        assert expansion is not None
    kept = sorted(chosen, key=lambda i: order[i])
    position = {i: n for n, i in enumerate(chosen)}
    back = {original: i for i, original in enumerate(order)}
    table = expansion.tolist()
    return [order[i] for i in kept], fmpq_mat(
        [[table[back[k]][position[i]] for i in kept] for k in range(size)]
    )


def _expansion(rows: fmpz_mat, chosen: list[int], columns: list[int]) -> fmpq_mat | None:
    """X with rows = X · rows[chosen], or None; ``columns`` make a minor of the chosen rows."""
    entries = rows.tolist()
    core = fmpq_mat([[entries[i][j] for j in columns] for i in chosen])
    X = (
        core.transpose()
        .solve(fmpq_mat([[row[j] for j in columns] for row in entries]).transpose())
        .transpose()
    )
    exact = X * fmpq_mat([entries[i] for i in chosen]) == fmpq_mat(rows)
    return X if exact else None


def components(array: Array) -> list[tuple[list[int], list[int], list[int]]]:
    """The index sets of the direct summands, the largest first; zero slices belong to none.

    >>> from lemmax.theory.tensors.arrays import tensor_array
    >>> components(tensor_array([[[1, 0], [0, 0]], [[0, 0], [0, 1]]]))
    [([0], [0], [0]), ([1], [1], [1])]
    """
    graph: nx.Graph[tuple[int, int]] = nx.Graph()
    for i, j, k in zip(*(part.tolist() for part in array.nonzero()), strict=True):
        graph.add_edges_from([((0, i), (1, j)), ((1, j), (2, k))])
    summands = []
    for piece in nx.connected_components(graph):
        sides = [sorted(i for m, i in piece if m == mode) for mode in range(3)]
        summands.append((sides[0], sides[1], sides[2]))
    return sorted(summands, key=lambda sides: (-sum(map(len, sides)), sides))


def blocks(array: Array, mode: int) -> list[tuple[list[int], list[int], list[int]]]:
    """The index sets of the blocks that share nothing but indices of the mode.

    The tables of a database share nothing but values, columns of different types nothing but keys.

    >>> from lemmax.theory.tensors.arrays import tensor_array
    >>> blocks(tensor_array([[[1], [0]], [[0], [1]]]), 2)
    [([0], [0], [0]), ([1], [1], [0])]
    """
    graph: nx.Graph[tuple[int, int]] = nx.Graph()
    first, second = (m for m in range(3) if m != mode)
    for places in zip(*(part.tolist() for part in array.nonzero()), strict=True):
        graph.add_edge((first, places[first]), (second, places[second]))
    found = []
    for piece in nx.connected_components(graph):
        sides: list[list[int]] = [sorted(i for m, i in piece if m == n) for n in range(3)]
        part = array[np.ix_(*(side or range(array.shape[mode]) for side in sides))]
        others = tuple(m for m in range(3) if m != mode)
        sides[mode] = np.flatnonzero((part != 0).any(axis=others)).tolist()
        found.append((sides[0], sides[1], sides[2]))
    return sorted(found)


def restricted(array: Array, keep: tuple[list[int], list[int], list[int]]) -> Array:
    """The sub-tensor on three index sets."""
    return array[np.ix_(*keep)]


Half: TypeAlias = list[list[int]]
"""The indices of two modes."""


def halves(
    sides: Sequence[tuple[list[int], list[int], list[int]]], others: Sequence[int]
) -> Iterator[Half]:
    """All ways to put the blocks into two: the indices of the one that has the first block.

    >>> [*halves([([0], [0], [0]), ([1], [1], [0]), ([2], [2], [0])], [0, 1])]
    [[[0], [0]], [[0, 1], [0, 1]], [[0, 2], [0, 2]]]
    """
    for chosen in range(2 ** (len(sides) - 1) - 1):
        inside = [0, *(n for n in range(1, len(sides)) if chosen >> n - 1 & 1)]
        yield [sorted(i for n in inside for i in sides[n][m]) for m in others]


def part_of(array: Array, mode: int, half: Half) -> Array:
    """A tensor on some indices of the modes other than one."""
    kept = [*half]
    kept.insert(mode, list(range(array.shape[mode])))
    return array[np.ix_(*kept)]
