"""Laws that relate the ranks of related databases, and other tables with known ranks."""

from __future__ import annotations

from itertools import pairwise, permutations
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lemmax.checker import check
from lemmax.strategies import databases
from lemmax.theory import Database, tensor_rank
from lemmax.theory.tensors.arrays import Array, flattening_rank
from lemmax.theory.tensors.below.koszul import koszul_bounds, koszul_matrix
from lemmax.theory.tensors.below.quadrics import quadrics
from lemmax.theory.tensors.examples import cyclic, of_table

Field = Literal["Q", "R", "C"]
FIELDS: tuple[Field, ...] = ("Q", "R", "C")
small = databases(max_keys=5, max_queries=3, max_values=4)


def interval(T: Any, field: Field = "R") -> tuple[int, int]:
    result = tensor_rank(T, field)
    assert result.lower <= result.upper
    assert result.decomposition.adds_up_to(result.array)
    return result.lower, result.upper


def compatible(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return max(one[0], other[0]) <= min(one[1], other[1])


@settings(max_examples=40)
@given(small, st.randoms(use_true_random=False))
def test_permuting_indices_and_modes_keeps_the_rank(db: Database, rng: Any) -> None:
    D = db.tensor()
    expected = interval(D)
    for mode in range(3):
        order = list(range(D.shape[mode]))
        rng.shuffle(order)
        D = np.take(D, order, axis=mode)
    for modes in permutations(range(3)):
        assert compatible(interval(D.transpose(modes)), expected)


@settings(max_examples=40)
@given(small, st.integers(0, 4))
def test_a_duplicated_key_changes_nothing(db: Database, index: int) -> None:
    D = db.tensor()
    larger = np.concatenate([D, D[[index % D.shape[0]]]])
    assert compatible(interval(larger), interval(D))


@settings(max_examples=40)
@given(small, st.integers(1, 3))
def test_a_flattening_tight_summand_adds_exactly(db: Database, n: int) -> None:
    D = db.tensor()
    unit = np.zeros((n, n, n), dtype=int)
    unit[range(n), range(n), range(n)] = 1
    total = np.zeros([a + n for a in D.shape], dtype=int)
    total[tuple(slice(a) for a in D.shape)] = D
    total[tuple(slice(a, a + n) for a in D.shape)] = unit
    low, high = interval(D)
    assert interval(total) == (low + n, high + n)


@settings(max_examples=60)
@given(databases(max_keys=5, max_queries=4, max_values=4))
def test_smaller_fields_have_larger_ranks(db: Database) -> None:
    results = [tensor_rank(db, field) for field in FIELDS]
    for larger, smaller in pairwise(results):
        # R_C ≤ R_R ≤ R_Q: a lower bound over the larger field is one over the smaller field
        assert smaller.lower <= larger.upper
    for result in results:
        assert check(result.certificate()).holds


@settings(max_examples=60)
@given(
    st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4)),
    st.integers(1, 5),
    st.lists(st.integers(-2, 2), min_size=60, max_size=60),
    st.sampled_from(FIELDS),
)
def test_no_lower_bound_exceeds_a_planted_decomposition(
    shape: tuple[int, int, int], r: int, entries: list[int], field: Field
) -> None:
    numbers = iter(entries)
    factors = [np.array([[next(numbers) for _ in range(n)] for _ in range(r)]) for n in shape]
    T = np.einsum("ri,rj,rk->ijk", *factors)
    low, _ = interval(T, field)
    assert low <= r
    for mode in range(3):
        bound, terms = quadrics(T, mode, field)
        concise = flattening_rank(T, mode) == T.shape[mode]
        if concise and bound is not None:
            assert bound.value <= r
        if terms is not None:
            assert terms.adds_up_to(T)
    assert all(bound.value <= r for bound in koszul_bounds(T))


KLEIN = of_table([[i ^ j for j in range(4)] for i in range(4)])
TIMES_4 = of_table([[i * j % 4 for j in range(4)] for i in range(4)])


@pytest.mark.parametrize(
    ("T", "ranks"),
    [
        (KLEIN, (4, 4, 4)),  # four rational characters
        (cyclic(3), (4, 4, 3)),
        (cyclic(4), (5, 5, 4)),
        (cyclic(6), (8, 8, 6)),
        (of_table([[max(i, j) for j in range(5)] for i in range(5)]), (5, 5, 5)),
        (of_table([[min(i, j) for j in range(4)] for i in range(4)]), (4, 4, 4)),
    ],
)
def test_multiplication_tables_by_simultaneous_diagonalisation(
    T: Array, ranks: tuple[int, int, int]
) -> None:
    for field, rank in zip(FIELDS, ranks, strict=True):
        result = tensor_rank(T, field)
        assert result.rank == rank
        assert check(result.certificate()).holds


def test_a_border_rank_trap_keeps_its_lower_bound() -> None:
    """i·j mod 4 has border rank 4, and a numerical fit creeps to zero there; the rank is 5."""
    for field in FIELDS:
        assert interval(TIMES_4, field) == (5, 5)


def test_second_order_test_over_each_field() -> None:
    for field in FIELDS:
        splits = field == "C"
        bound, terms = quadrics(cyclic(5), 0, field)
        assert (bound is None) == splits
        assert terms is not None
        assert terms.adds_up_to(cyclic(5))
        assert len(terms) == (5 if splits else 8)


@pytest.mark.parametrize("p", [1, 2, 3])
def test_koszul_flattening_of_one_term_has_a_central_binomial_rank(p: int) -> None:
    rng = np.random.default_rng(p)
    u, v, w = rng.integers(-5, 6, 2 * p + 1), rng.integers(1, 6, 3), rng.integers(1, 6, 2)
    u[0] = 1
    T = np.einsum("i,j,k->ijk", u, v, w)
    for mode, order in enumerate([(0, 1, 2), (1, 0, 2), (1, 2, 0)]):
        rank = flattening_rank(koszul_matrix(T.transpose(order), mode)[:, :, None], 0)
        assert rank == [0, 2, 6, 20][p]


def test_koszul_flattening_gives_the_last_step_of_a_certificate() -> None:
    """Three generic 4 × 4 slices: rank at least 6 by p = 1, while flattenings give 4."""
    rng = np.random.default_rng(5)
    T = rng.integers(-9, 10, (3, 4, 4))
    result = tensor_rank(T, "C")
    assert result.lower == 6
    assert "koszul" in result.bound.lemmas
    assert check(result.certificate()).holds
