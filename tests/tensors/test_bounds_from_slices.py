"""Upper bounds that factor slices: Wong's Proposition 2.1 and its improvements."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lemmax import checker
from lemmax.constructions.wong.examples import (
    example_2_2_witness,
    example_2_4,
    example_2_4_witness,
    figure_1,
    remark_2_3_witness,
)
from lemmax.pytest_plugin.properties import Sample
from lemmax.strategies import databases
from lemmax.theory import Database, certified_rank, tensor_rank
from lemmax.theory.tensors.above.pivots import (
    best_column_pivot,
    choose_pivots,
    column_pivot,
    column_subsets,
    domain,
    domain_pivot,
)
from lemmax.theory.tensors.above.slices import slice_sum, spanning_tree
from lemmax.theory.tensors.arrays import Array, matrix_rank

Exhaust = Callable[..., int]
Certify = Callable[..., checker.Verdict]
FIGURE_1 = figure_1()
tensors = st.builds(
    lambda shape, entries: np.array(entries[: int(np.prod(shape))]).reshape(shape),
    st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4)),
    st.lists(st.integers(-3, 3), min_size=64, max_size=64),
)


def values_of_keys(db: Database) -> dict[Any, set[Any]]:
    return {k: {v for x, _, v in db.triples if x == k} for k in db.keys}


def values_of_queries(db: Database) -> dict[Any, set[Any]]:
    return {q: {v for _, x, v in db.triples if x == q} for q in db.queries}


def proposition_2_1(db: Database) -> tuple[int, int]:
    """Σ|V_k| and Σ|V_q|, counted from the facts."""
    return (
        sum(map(len, values_of_keys(db).values())),
        sum(map(len, values_of_queries(db).values())),
    )


def small_databases() -> Iterator[Database]:
    """All databases with at most three keys, two queries and two values, up to names."""
    for keys, queries in product(range(1, 4), range(1, 3)):
        cells = list(product(range(keys), range(queries)))
        for row in product((None, 0, 1), repeat=len(cells)):
            facts = [
                (f"k{k}", f"q{q}", f"v{v}")
                for (k, q), v in zip(cells, row, strict=True)
                if v is not None
            ]
            if facts:
                yield Database.from_triples(facts)


def slices_count_values(db: Database, D: Array) -> bool:
    by_key, by_query = values_of_keys(db).items(), values_of_queries(db).items()
    return all(
        certified_rank(D[db.keys.index(k)]).rank == len(having) for k, having in by_key
    ) and all(
        certified_rank(D[:, db.queries.index(q)]).rank == len(having) for q, having in by_query
    )


# One fact, beside a tensor in which that key has two.
OTHER_TENSOR = (
    Database.from_triples([("k", "q", "v")]),
    np.ones((1, 2, 2), int) - np.eye(2, dtype=int),
)


@pytest.mark.claim(
    "wong/slice-ranks",
    grade="universal",
    scope="all databases with at most 3 keys, 2 queries and 2 values",
    statement="db1663c32e818a51",
)
def test_slice_ranks_of_all_small_databases(exhaust: Exhaust) -> None:
    instances = ((db, db.tensor()) for db in small_databases())
    exhaust(instances, slices_count_values, control=OTHER_TENSOR)


@pytest.mark.claim(
    "wong/slice-ranks",
    grade="property",
    scope="random databases, at most 8 keys, 5 queries",
    statement="db1663c32e818a51",
)
@given(databases(max_keys=8, max_queries=5, max_values=6))
def test_slice_ranks_of_random_databases(sample: Sample, db: Database) -> None:
    sample(slices_count_values, db, db.tensor(), control=OTHER_TENSOR)


def proposition_2_1_holds(db: Database, D: Array) -> bool:
    by_key, by_query = proposition_2_1(db)
    keys, queries = slice_sum(D, 0), slice_sum(D, 1)
    return (
        (len(keys), len(queries)) == (by_key, by_query)
        and keys.adds_up_to(D)
        and queries.adds_up_to(D)
        and max(by_key, by_query) <= len(db)
    )


@pytest.mark.claim(
    "wong/proposition-2.1",
    grade="universal",
    scope="all databases with at most 3 keys, 2 queries and 2 values",
    statement="36305707aaab9c07",
)
def test_proposition_2_1_for_all_small_databases(exhaust: Exhaust) -> None:
    instances = ((db, db.tensor()) for db in small_databases())
    exhaust(instances, proposition_2_1_holds, control=OTHER_TENSOR)


@pytest.mark.claim(
    "wong/proposition-2.1",
    grade="property",
    scope="random databases, at most 8 keys, 5 queries",
    statement="36305707aaab9c07",
)
@given(databases(max_keys=8, max_queries=5, max_values=6))
def test_proposition_2_1_for_random_databases(sample: Sample, db: Database) -> None:
    sample(proposition_2_1_holds, db, db.tensor(), control=OTHER_TENSOR)


@pytest.mark.claim("wong/example-2.2", grade="certified", statement="0f991d891ccb3d22")
def test_example_2_2_rank_5_below_the_bound_6(certify: Certify) -> None:
    db = FIGURE_1
    assert len(db) == 8
    assert min(proposition_2_1(db)) == 6
    result = tensor_rank(db, "R")
    assert result.rank == 5
    certify(result.certificate(), ship_as="wong/example-2.2-rank")
    certify(example_2_2_witness(), ship_as="wong/example-2.2")


@pytest.mark.claim("wong/remark-2.3", grade="certified", statement="49ed167de5f6a47e")
def test_remark_2_3_rank_below_both_slice_sums(certify: Certify) -> None:
    db = FIGURE_1
    D = db.tensor()
    slices = [sum(matrix_rank(s) for s in np.moveaxis(D, mode, 0)) for mode in (0, 1)]
    assert tensor_rank(db, "R").rank == 5
    certify(remark_2_3_witness(), ship_as="wong/remark-2.3")
    assert min(slices) == 6


@pytest.mark.claim("wong/example-2.4", grade="certified", statement="bfcb88e42c737da3")
def test_example_2_4_rank_5_effective_rank_1(certify: Certify) -> None:
    D = example_2_4().tensor()
    result = tensor_rank(D, "R")
    assert result.rank == 5
    certify(result.certificate(), ship_as="wong/example-2.4-rank")
    ones = np.ones_like(D)
    assert all((ones[k, q] == D[k, q]).all() for k, q in zip(*domain(D).nonzero(), strict=True))
    assert tensor_rank(ones, "R").rank == 1  # and no representative is zero
    certify(tensor_rank(ones, "R").certificate(), ship_as="wong/example-2.4-effective")
    certify(example_2_4_witness(), ship_as="wong/example-2.4")


def value_slices(db: Database, D: Array) -> bool:
    """Both inequalities: the slices by value are a decomposition, and no longer than (2.1)."""
    terms = slice_sum(D, 2)
    length = sum(matrix_rank(D[:, :, v]) for v in range(D.shape[2]))
    return terms.adds_up_to(D) and len(terms) == length <= min(proposition_2_1(db))


@pytest.mark.claim(
    "lemmax/value-slice-sum",
    grade="property",
    scope="random databases, at most 8 keys, 5 queries",
    statement="5b4f9d207e60715f",
)
@given(databases(max_keys=8, max_queries=5, max_values=6))
def test_value_slice_sum_is_below_proposition_2_1(sample: Sample, db: Database) -> None:
    sample(value_slices, db, db.tensor(), control=OTHER_TENSOR)


@given(databases(max_keys=8, max_queries=5, max_values=6))
def test_value_slices_are_no_larger_than_their_rows_and_columns(db: Database) -> None:
    for v, value in enumerate(db.values):
        having = [(k, q) for k, q, x in db.triples if x == value]
        rows, columns = len({k for k, _ in having}), len({q for _, q in having})
        assert matrix_rank(db.tensor()[:, :, v]) <= min(rows, columns)


def tree_of_weight(T: Array, same: Array, mode: int) -> bool:
    """Whether T is a sum of as many terms as the minimum tree of the other tensor weighs."""
    parts = [np.zeros_like(np.moveaxis(same, mode, 0)[0]), *np.moveaxis(same, mode, 0)]
    graph: nx.Graph[int] = nx.Graph()
    for i in range(len(parts)):
        for j in range(i):
            graph.add_edge(i, j, weight=matrix_rank(parts[i] - parts[j]))
    weight = nx.minimum_spanning_tree(graph).size(weight="weight")
    terms = spanning_tree(T, mode)
    whole = sum(map(matrix_rank, parts))
    return bool(terms.adds_up_to(T) and len(terms) == weight <= whole)


@pytest.mark.claim(
    "lemmax/spanning-tree-bound",
    grade="property",
    scope="random integer tensors up to 4 x 4 x 4, trees by another program",
    statement="0d9116b2a6c0daac",
)
@given(tensors, st.integers(0, 2))
def test_spanning_tree_bound_has_the_weight_of_a_minimum_tree(
    sample: Sample, T: Array, mode: int
) -> None:
    control = (np.ones((2, 2, 2), int), np.zeros((2, 2, 2), int), mode)
    sample(tree_of_weight, T, T, mode, control=control)


def pivot_bound(D: Array, same: Array) -> bool:
    """Whether D is a sum of at most as many terms as the other tensor's slices allow."""
    ranks = [matrix_rank(same[:, :, v]) for v in range(same.shape[2])]
    terms = domain_pivot(D)
    bound = matrix_rank(domain(same)) + sum(ranks) - max(ranks)
    return terms.adds_up_to(D) and len(terms) <= bound


@pytest.mark.claim(
    "lemmax/domain-pivot",
    grade="property",
    scope="random databases, at most 8 keys, 5 queries",
    statement="ddfa872cfa1c1344",
)
@given(databases(max_keys=8, max_queries=5, max_values=6))
def test_domain_pivot_adds_up_within_its_length(sample: Sample, db: Database) -> None:
    D = db.tensor()
    sample(pivot_bound, D, D, control=(OTHER_TENSOR[1], np.zeros((1, 2, 2), int)))


def columns_pivot(D: Array, pivots: list[list[Fraction]]) -> bool:
    """Whether each column less its pivot has the rank that is claimed, and so has the whole."""
    excess = 0
    groups: dict[tuple[Fraction, ...], list[int]] = {}
    for q, w in enumerate(pivots):
        groups.setdefault(tuple(w), []).append(q)
        rest = [
            [x - (y if D[k, q].any() else 0) for x, y in zip(D[k, q].tolist(), w, strict=True)]
            for k in range(D.shape[0])
        ]
        values = int(D[:, q].any(axis=0).sum())
        if certified_rank(rest).rank > values - 1:
            return False
        excess += values - 1
    shared = sum(matrix_rank(domain(D)[:, columns]) for columns in groups.values())
    return tensor_rank(D, "Q").lower <= excess + shared


@pytest.mark.claim(
    "lemmax/column-pivot",
    grade="property",
    scope="random databases, at most 6 keys, 5 queries; random pivots of small height",
    statement="1b2249d336e2b2da",
)
@given(databases(max_keys=6, max_queries=5, max_values=5), st.randoms(use_true_random=False))
def test_column_pivot_in_affine_hulls(sample: Sample, db: Database, rng: Any) -> None:
    """Both parts of the identity, and their ranks, with pivots anywhere in the affine hulls."""
    D = db.tensor()
    pivots = []
    for q in range(D.shape[1]):
        having = np.flatnonzero(D[:, q].any(axis=0)).tolist()
        w = [Fraction(0)] * D.shape[2]
        for v in having[1:]:
            w[v] = Fraction(rng.randint(-2, 2), rng.randint(1, 2))
        w[having[0]] = 1 - sum(w, Fraction(0))
        pivots.append(w)
    # the control: a pivot that is not in the affine hull
    sample(columns_pivot, D, pivots, control=(np.array([[[1, 0]], [[0, 1]]]), [[Fraction(5)] * 2]))


@given(databases(max_keys=6, max_queries=5, max_values=5))
def test_column_pivot_at_vertices_adds_up_within_its_length(db: Database) -> None:
    D = db.tensor()
    pivots = choose_pivots(D)
    groups = [[q for q in pivots if pivots[q] == v] for v in set(pivots.values())]
    terms = column_pivot(D, pivots)
    assert terms.adds_up_to(D)
    own = sum(len(having) - 1 for having in values_of_queries(db).values())
    assert len(terms) <= own + sum(matrix_rank(domain(D)[:, g]) for g in groups)
    by_subsets = column_subsets(D)
    assert by_subsets.adds_up_to(D)
    assert len(by_subsets) <= len(best_column_pivot(D))
    swapped = best_column_pivot(D.transpose(1, 0, 2)).permuted((1, 0, 2))
    assert swapped.adds_up_to(D)
