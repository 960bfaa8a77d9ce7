"""Bounds for the effective rank, and the sign-rank of two-valued tables."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from lemmax.pytest_plugin.properties import Sample
from lemmax.strategies import databases, integer_matrices
from lemmax.theory import Database, Matrix, certified_rank
from lemmax.theory.wong.effective_ranks import (
    best_block,
    conflict_graph,
    effective_rank,
    merge,
    merge_compatible,
    represents,
    spanning_tree_bound,
)
from lemmax.theory.wong.layer_tensors import flattening_ranks


@st.composite
def representations(draw: st.DrawFn, db: Database) -> Any:
    """A tensor that represents the database, with arbitrary integers in the other cells."""
    tensor = db.tensor()
    for k, q in product(range(len(db.keys)), range(len(db.queries))):
        if not tensor[k, q].any():
            tensor[k, q] = [draw(st.integers(-3, 3)) for _ in db.values]
    return tensor


TWO_FACTS = Database.from_triples([("a", "f", 0), ("b", "f", 1)])


def block_bound(db: Database, tensor: NDArray[np.int64]) -> bool:
    """Whether the block bound is below the rank, which a spanning tree bounds from above."""
    return len(db.values) <= best_block(db).bound <= spanning_tree_bound(tensor)


def spreads(db: Database, spread: NDArray[np.int64], merged: Database) -> bool:
    """Whether a tensor represents the database and has the flattening ranks of the merged one."""
    ranks = flattening_ranks(spread.tolist())
    return represents(spread, db) and ranks == flattening_ranks(merged.tensor().tolist())


@pytest.mark.claim(
    "lemmax/effective-rank-block",
    grade="property",
    scope="databases up to 5 by 4 by 4, every block bound against random completions",
    statement="72d152b3aaa60109",
)
@given(st.data(), databases())
def test_block_bound_below_every_representation(sample: Sample, data: Any, db: Database) -> None:
    tensor = data.draw(representations(db))
    assert represents(tensor, db)
    sample(block_bound, db, tensor, control=(TWO_FACTS, np.zeros((2, 1, 2), int)))


def test_block_lemma_is_attained_where_values_lie_outside() -> None:
    db = Database.from_triples([("a", "f", 0), ("b", "g", 1), ("c", "h", 2)])
    assert best_block(db).bound == 3
    assert effective_rank(db).rank == 3


@pytest.mark.claim(
    "lemmax/effective-rank-colouring",
    grade="property",
    scope="databases up to 5 by 4 by 4 and all greedy merges of keys or queries",
    statement="43217d50fec761d7",
)
@given(databases(), st.integers(0, 1))
def test_merged_tensors_represent_the_database(sample: Sample, db: Database, first: int) -> None:
    merging = merge_compatible(db, first)
    control = (TWO_FACTS, np.zeros((2, 1, 2), int), TWO_FACTS)
    sample(spreads, db, merging.spread(db), merging.merged, control=control)
    result = effective_rank(db)
    assert represents(result.representation.array, db)
    assert result.representation.decomposition.adds_up_to(result.representation.array)
    assert len(db.values) <= result.lower <= result.upper <= db.slice_rank_bound


@given(databases(), st.integers(0, 1))
def test_pairwise_compatible_classes_merge_without_contradiction(db: Database, mode: int) -> None:
    """Any independent set of the conflict graph, not only a class of the greedy colouring."""
    graph = conflict_graph(db, mode)
    colour = {token: i for i, token in enumerate(graph)}
    chosen: list[Any] = []
    for token in graph:
        if not any(graph.has_edge(token, other) for other in chosen):
            chosen.append(token)
            colour[token] = -1
    merged = merge(db, mode, colour)
    assert set(merged.values) == set(db.values)
    assert len(merged) <= len(db)


def signs(db: Database) -> list[list[int]]:
    first = db.values[0]
    return [
        [0 if (k, q) not in db else (1 if db[k, q] == first else -1) for q in db.queries]
        for k in db.keys
    ]


def both_ways(pattern: list[list[int]], S: list[Any], X: list[Any], Y: NDArray[np.int64]) -> bool:
    """Whether X has the rank of S and the larger values of the pattern, and Y - Y' that of Y."""
    right = all(
        (x[0] > x[1]) == (sign == 1)
        for line, row in zip(pattern, X, strict=True)
        for sign, x in zip(line, row, strict=True)
        if sign
    )
    difference = Matrix((Y[:, :, 0] - Y[:, :, 1]).tolist())
    below = certified_rank(difference).rank <= spanning_tree_bound(Y)
    return right and below and max(flattening_ranks(X)) == certified_rank(S).rank


@pytest.mark.claim(
    "lemmax/sign-rank",
    grade="property",
    scope="two-valued databases up to 4 by 4 and random tensors, both directions",
    statement="25b33066bcef5902",
)
@given(st.data(), databases(4, 4, 2).filter(lambda db: len(db.values) == 2))
def test_sign_rank_in_both_directions(sample: Sample, data: Any, db: Database) -> None:
    pattern = signs(db)
    K, Q = len(db.keys), len(db.queries)
    weights = data.draw(integer_matrices(K, Q, 5)).rows()
    # A sign matrix gives a tensor of the same rank with the right argmax ...
    S = [
        [sign * (1 + abs(w)) if sign else w for sign, w in zip(line, free, strict=True)]
        for line, free in zip(pattern, weights, strict=True)
    ]
    X = [[[S[k][q], 0] for q in range(Q)] for k in range(K)]
    # ... and a tensor gives a sign matrix of at most its rank.
    Y = np.array(data.draw(st.lists(st.integers(-4, 4), min_size=2 * K * Q, max_size=2 * K * Q)))
    Y = Y.reshape(K, Q, 2)
    wrong = ([[1]], [[1]], [[[0, 1]]], np.zeros((1, 1, 2), int))  # the other value is larger
    sample(both_ways, [list(line) for line in pattern], S, X, Y, control=wrong)
