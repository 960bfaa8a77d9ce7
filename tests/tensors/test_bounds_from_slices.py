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


def slices_count_values(db: Database) -> bool:
    D = db.tensor()
    by_key, by_query = values_of_keys(db).items(), values_of_queries(db).items()
    return all(
        certified_rank(D[db.keys.index(k)]).rank == len(having) for k, having in by_key
    ) and all(
        certified_rank(D[:, db.queries.index(q)]).rank == len(having) for q, having in by_query
    )


@pytest.mark.claim(
    "wong/slice-ranks",
    grade="universal",
    scope="all databases with at most 3 keys, 2 queries and 2 values",
    statement="db1663c32e818a51",
)
def test_slice_ranks_of_all_small_databases(exhaust: Exhaust) -> None:
    exhaust(small_databases(), slices_count_values)


@pytest.mark.claim(
    "wong/slice-ranks",
    grade="property",
    scope="random databases, at most 8 keys, 5 queries",
    statement="db1663c32e818a51",
)
@given(databases(max_keys=8, max_queries=5, max_values=6))
def test_slice_ranks_of_random_databases(sample: Sample, db: Database) -> None:
    sample(slices_count_values(db))


def proposition_2_1_holds(db: Database) -> bool:
    D = db.tensor()
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
    exhaust(small_databases(), proposition_2_1_holds)


@pytest.mark.claim(
    "wong/proposition-2.1",
    grade="property",
    scope="random databases, at most 8 keys, 5 queries",
    statement="36305707aaab9c07",
)
@given(databases(max_keys=8, max_queries=5, max_values=6))
def test_proposition_2_1_for_random_databases(sample: Sample, db: Database) -> None:
    sample(proposition_2_1_holds(db))


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


@pytest.mark.claim(
    "lemmax/value-slice-sum",
    grade="property",
    scope="random databases, at most 8 keys, 5 queries",
    statement="5b4f9d207e60715f",
)
@given(databases(max_keys=8, max_queries=5, max_values=6))
def test_value_slice_sum_is_below_proposition_2_1(sample: Sample, db: Database) -> None:
    D = db.tensor()
    terms = slice_sum(D, 2)
    assert terms.adds_up_to(D)
    assert len(terms) == sum(matrix_rank(D[:, :, v]) for v in range(D.shape[2]))
    sample(len(terms) <= min(proposition_2_1(db)))


@given(databases(max_keys=8, max_queries=5, max_values=6))
def test_value_slices_are_no_larger_than_their_rows_and_columns(db: Database) -> None:
    for v, value in enumerate(db.values):
        having = [(k, q) for k, q, x in db.triples if x == value]
        rows, columns = len({k for k, _ in having}), len({q for _, q in having})
        assert matrix_rank(db.tensor()[:, :, v]) <= min(rows, columns)


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
    parts = [np.zeros_like(np.moveaxis(T, mode, 0)[0]), *np.moveaxis(T, mode, 0)]
    graph: nx.Graph[int] = nx.Graph()
    for i in range(len(parts)):
        for j in range(i):
            graph.add_edge(i, j, weight=matrix_rank(parts[i] - parts[j]))
    weight = nx.minimum_spanning_tree(graph).size(weight="weight")
    terms = spanning_tree(T, mode)
    assert terms.adds_up_to(T)
    assert len(terms) == weight
    sample(weight <= sum(map(matrix_rank, parts)))


@pytest.mark.claim(
    "lemmax/domain-pivot",
    grade="property",
    scope="random databases, at most 8 keys, 5 queries",
    statement="ddfa872cfa1c1344",
)
@given(databases(max_keys=8, max_queries=5, max_values=6))
def test_domain_pivot_adds_up_within_its_length(sample: Sample, db: Database) -> None:
    D = db.tensor()
    ranks = [matrix_rank(D[:, :, v]) for v in range(D.shape[2])]
    terms = domain_pivot(D)
    assert terms.adds_up_to(D)
    sample(len(terms) <= matrix_rank(domain(D)) + sum(ranks) - max(ranks))


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
        rest = [
            [x - (y if D[k, q].any() else 0) for x, y in zip(D[k, q].tolist(), w, strict=True)]
            for k in range(D.shape[0])
        ]
        sample(certified_rank(rest).rank <= len(having) - 1)
    groups: dict[tuple[Fraction, ...], list[int]] = {}
    for q, w in enumerate(pivots):
        groups.setdefault(tuple(w), []).append(q)
    shared = sum(matrix_rank(domain(D)[:, columns]) for columns in groups.values())
    own = sum(len(set(np.flatnonzero(D[:, q].any(axis=0)))) - 1 for q in range(D.shape[1]))
    if tensor_rank(D, "Q").lower > own + shared:
        raise AssertionError("a lower bound above the column pivot")


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
