"""Substitution with restriction, private columns, transversals and saturated tables."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, combinations
from typing import Any, Literal

import numpy as np
import pytest
from flint import fmpz_mat
from hypothesis import given
from hypothesis import strategies as st

from lemmax import checker
from lemmax.checker import check
from lemmax.pytest_plugin.properties import Sample
from lemmax.strategies import databases
from lemmax.theory import Database, tensor_rank
from lemmax.theory.tensors.arrays import Array, flattening_rank
from lemmax.theory.tensors.examples import of_table
from lemmax.theory.tensors.transversals import greedy_transversal, transversal

Certify = Callable[..., checker.Verdict]
Field = Literal["Q", "R", "C"]
FIELDS: tuple[Field, ...] = ("Q", "R", "C")
pencil_tensors = st.builds(
    lambda m, n, entries: np.array(entries[: 2 * m * n]).reshape(2, m, n),
    st.integers(1, 4),
    st.integers(1, 4),
    st.lists(st.integers(-2, 2), min_size=32, max_size=32),
)


def exact(T: Array, field: Field = "R") -> int:
    rank = tensor_rank(T, field).rank
    assert rank is not None
    return rank


def substitution(T: Array, small: Array, mode: int, field: Field) -> bool:
    gain = flattening_rank(T, mode) - flattening_rank(small, mode)
    return exact(T, field) >= gain + exact(small, field)


@pytest.mark.claim(
    "lemmax/substitution-with-restriction",
    grade="property",
    scope="random integer pencils up to 2 x 4 x 4 and random integer functionals",
    statement="77a45aea599e4e15",
)
@given(pencil_tensors, st.integers(0, 2), st.randoms(use_true_random=False))
def test_substitution_with_restriction_on_pencils(
    sample: Sample, T: Array, mode: int, rng: Any
) -> None:
    """Both ranks are exact, because one mode has size two."""
    small = T
    for other in (m for m in range(3) if m != mode):
        rows = rng.randint(1, T.shape[other])
        functionals = np.array(
            [[rng.randint(-2, 2) for _ in range(T.shape[other])] for _ in range(rows)]
        )
        small = np.moveaxis(np.tensordot(functionals, small, (1, other)), 0, other)
    unrelated = np.array([[[1, 0], [0, 1]], [[0, 1], [0, 0]]])  # of rank 3, from nothing
    for field in FIELDS:
        control = (np.zeros((2, 2, 2), int), unrelated, mode, field)
        sample(substitution, T, small, mode, field, control=control)


def adds_its_values(larger: Database, smaller: Database, field: Field) -> bool:
    """Whether the rank grows by the number of values that only the larger database has."""
    gained = len(set(larger.values) - set(smaller.values))
    return tensor_rank(larger, field).rank == exact(smaller.tensor(), field) + gained


# A column whose value is the value of another column: the rank grows, the values do not.
SHARED = (
    Database.from_triples([("a", "f", "v"), ("b", "g", "v")]),
    Database.from_triples([("a", "f", "v")]),
    "Q",
)


@pytest.mark.claim(
    "lemmax/private-column",
    grade="property",
    scope="random two-query databases and a column of at most 3 new values",
    statement="291053e3a7956d33",
)
@given(
    databases(max_keys=6, max_queries=2, max_values=4),
    st.lists(st.sampled_from(["x", "y", "z"]), min_size=1, max_size=6),
)
def test_private_column_adds_its_values(sample: Sample, db: Database, column: list[str]) -> None:
    facts = [(k, "new", v) for k, v in zip(db.keys, column, strict=False)]
    larger = Database.from_triples([*db.triples, *facts])
    swapped = Database.from_triples([(q, k, v) for k, q, v in larger.triples])
    for field in FIELDS:
        sample(adds_its_values, larger, db, field, control=SHARED)
    sample(adds_its_values, swapped, db, "Q", control=SHARED)


def brute_force(sets: list[frozenset[int]]) -> int:
    """The least size of a set that meets all sets, by trying all of them."""
    elements = sorted(set(chain(*sets)))
    for size in range(len(elements) + 1):
        for chosen in combinations(elements, size):
            if all(s & set(chosen) for s in sets):
                return size
    raise AssertionError("the whole set meets everything")


set_families = st.lists(
    st.frozensets(st.integers(0, 6), min_size=1, max_size=4), min_size=1, max_size=7
)


@given(set_families)
def test_smallest_transversals(sets: list[frozenset[int]]) -> None:
    smallest = transversal(sets)
    assert all(smallest & s for s in sets)
    assert len(smallest) == brute_force(sets)
    assert all(set(greedy_transversal(sets)) & s for s in sets)


@given(set_families, st.randoms(use_true_random=False))
def test_saturated_table_span_is_at_least_a_transversal(
    sets: list[frozenset[int]], rng: Any
) -> None:
    """dim span{w_q} ≥ τ for vectors w_q ≠ 0 with support in the sets; units attain it."""
    low = [[rng.choice([-1, 0, 0, 1, 2]) if v in s else 0 for v in range(7)] for s in sets]
    for row, s in zip(low, sets, strict=True):
        if sum(row) == 0:
            row[min(s)] += 1
    assert fmpz_mat(low).rank() >= brute_force(sets)
    chosen = transversal(sets)
    units = [[int(v == min(chosen & s)) for v in range(7)] for s in sets]
    assert fmpz_mat(units).rank() == brute_force(sets)


@st.composite
def saturated_tables(draw: st.DrawFn) -> tuple[Array, list[frozenset[int]]]:
    """Total tables in which, from a base row, every cell takes every value of its column once."""
    columns = draw(
        st.lists(st.frozensets(st.integers(0, 4), min_size=1, max_size=3), min_size=1, max_size=4)
    )
    base = [min(s) for s in columns]
    rows = [base]
    for q, s in enumerate(columns):
        rows += [[*base[:q], v, *base[q + 1 :]] for v in sorted(s) if v != base[q]]
    more = st.tuples(*(st.sampled_from(sorted(s)) for s in columns))
    rows += [list(row) for row in draw(st.lists(more, max_size=3))]
    return np.array(rows), columns


def formula(D: Array, columns: list[frozenset[int]], field: Field) -> bool:
    """Whether the rank, with a certificate that the checker accepts, is that of the formula."""
    result = tensor_rank(D, field)
    expected = sum(len(s) - 1 for s in columns) + brute_force(columns)
    return result.rank == expected and check(result.certificate()).holds


@pytest.mark.claim(
    "lemmax/saturated-table",
    grade="property",
    scope="saturated tables with at most 4 queries and 5 values, all three fields",
    statement="bf8e4599e5e200c2",
)
@given(saturated_tables())
def test_saturated_table_has_the_rank_of_the_formula(
    sample: Sample,
    drawn: tuple[Array, list[frozenset[int]]],
) -> None:
    table, columns = drawn
    D = of_table(table)
    assert flattening_rank(D, 0) == sum(len(s) - 1 for s in columns) + 1
    unsaturated = (
        of_table(np.array([[0, 1], [1, 0]])),
        [frozenset({0, 1}), frozenset({0, 1})],
        "Q",
    )
    for field in FIELDS:
        sample(formula, D, columns, field, control=unsaturated)


def test_saturated_table_of_a_triangle(certify: Certify) -> None:
    """Values 01, 12, 02: no value is common to all and no two columns are disjoint, yet τ = 2."""
    table = np.array([[0, 1, 0], [1, 1, 0], [0, 2, 0], [0, 1, 2]])
    result = tensor_rank(of_table(table), "Q")
    assert result.rank == 3 + 2
    certify(result.certificate(), ship_as="lemmax/saturated-table")
