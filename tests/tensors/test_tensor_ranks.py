"""tensor_rank on databases and arrays."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from lemmax.checker import check
from lemmax.constructions.wong.examples import figure_1
from lemmax.strategies import databases
from lemmax.theory.errors import LemmaxError, NotExact
from lemmax.theory.facts.database import Database
from lemmax.theory.tensors import stages
from lemmax.theory.tensors.above.slices import slice_sum
from lemmax.theory.tensors.algebras.groups import quaternions
from lemmax.theory.tensors.below.flattenings import best_flattening
from lemmax.theory.tensors.bounds import Bounds
from lemmax.theory.tensors.examples import cyclic, matrix_product, of_table
from lemmax.theory.tensors.pipeline import _fitted, solve
from lemmax.theory.tensors.ranks import tensor_rank
from lemmax.theory.tensors.search.clock import late, now, processor_time
from lemmax.theory.tensors.search.fitting import quotients, shorter

FIGURE_1 = figure_1()
OPEN = of_table(["0002", "1221", "0133", "2320", "0232"])  # between 7 and 8


@pytest.mark.parametrize("field", ["Q", "R", "C"])
def test_example_2_2_has_rank_5(field: Any) -> None:
    result = tensor_rank(FIGURE_1, field)
    assert (result.lower, result.upper, result.rank) == (5, 5, 5)
    assert check(result.certificate()).holds


@pytest.mark.parametrize("field", ["Q", "R", "C"])
def test_example_2_4_has_rank_5(field: Any) -> None:
    facts = [(k, q, "v") for k, q in zip("abcde", "fghij", strict=True)]
    result = tensor_rank(Database.from_triples(facts), field)
    assert result.rank == 5
    assert check(result.certificate()).holds


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([[1, 0], [0, 1]], "three dimensions"),
        (np.zeros((0, 2, 2), dtype=int), "at least one entry"),
        ([[[0.5]]], "float"),
        ([[["1/2"]]], "not an integer"),
        ([[["x"]]], "not a rational number"),
        ([[[1], [1, 2]]], "same shape"),
    ],
)
def test_bad_input_is_one_sentence(data: Any, message: str) -> None:
    with pytest.raises(LemmaxError, match=message) as caught:
        tensor_rank(data)
    assert str(caught.value).endswith(".")


def test_an_unknown_field_is_one_sentence() -> None:
    with pytest.raises(LemmaxError, match="Q, R or C"):
        tensor_rank([[[1]]], "F2")  # type: ignore[arg-type]


def test_the_zero_tensor_has_rank_0() -> None:
    result = tensor_rank(np.zeros((2, 3, 2), dtype=int))
    assert result.rank == 0
    assert check(result.certificate()).holds


@given(databases(max_keys=9, max_queries=2, max_values=7))
def test_two_queries_are_always_exact(db: Database) -> None:
    """A mode of size two, whichever it is, makes a pencil."""
    for order in ((0, 1, 2), (1, 0, 2), (2, 0, 1)):
        for field in ("Q", "R", "C"):
            assert tensor_rank(db.tensor().transpose(order), field).rank is not None


@given(databases(max_keys=7, max_queries=5, max_values=4))
def test_private_columns_are_always_exact(db: Database) -> None:
    """If every column has values of its own, the rank is the number of all values."""
    private = Database.from_triples([(k, q, (q, v)) for k, q, v in db.triples])
    assert tensor_rank(private, "Q").rank == len(private.values)


def test_the_terms_are_readable_facts() -> None:
    lines = tensor_rank(FIGURE_1).in_words()
    assert len(lines) == 5
    assert any("currency" in line and "Ringgit" in line for line in lines)
    assert all(" × " in line and " → " in line for line in lines)


def test_latex_names_the_field() -> None:
    assert tensor_rank([[[1]]], "C").formula() == r"\operatorname{rank}_{\mathrm{C}}(D) = 1"


def test_large_entries_stay_exact() -> None:
    """Two slices that agree modulo every small power of ten and differ far out."""
    big = 10**40
    T = np.array([[[1, big], [big, big**2]], [[1, big], [big, big**2 + 1]]], dtype=object)
    result = tensor_rank(T, "Q")
    assert result.rank == 2
    assert check(result.certificate()).holds


def test_entries_divisible_by_the_prime_only_weaken_the_bound() -> None:
    """The fixed prime 2^61 - 1 must never turn a low rank mod p into a wrong interval."""
    p = 2**61 - 1
    T = np.zeros((3, 3, 3), dtype=object)
    for i in range(3):
        T[i, i, i] = p if i else 1
    pencil = np.array([[[1, 0], [0, p]], [[0, 1], [0, 0]]], dtype=object)
    for array, rank in ((T, 3), (pencil, 3)):
        result = tensor_rank(array, "Q")
        assert result.lower <= rank <= result.upper
        assert check(result.certificate()).holds


def test_the_cheap_bounds_are_found_in_no_time() -> None:
    late = tensor_rank(OPEN, seconds=1e-9)
    assert late.stopped
    assert late.lower < late.upper <= 25
    assert check(late.certificate()).holds
    free = tensor_rank(OPEN)
    assert not free.stopped
    assert late.lower <= free.lower <= free.upper <= late.upper


def test_time_enough_changes_nothing() -> None:
    free, timed = tensor_rank(cyclic(4)), tensor_rank(cyclic(4), seconds=3600)
    assert not timed.stopped
    assert timed.certificate() == free.certificate()


def test_a_rank_that_is_known_was_not_stopped_by_time() -> None:
    result = tensor_rank(FIGURE_1, seconds=1e-9)
    assert result.rank == 5
    assert not result.stopped


def test_one_stopped_summand_stops_the_sum() -> None:
    both = np.zeros((7, 6, 6), dtype=int)
    both[:5, :4, :4], both[5:, 4:, 4:] = OPEN, cyclic(2)
    assert tensor_rank(both, seconds=1e-9).stopped
    assert not solve(both, "R", None).stopped


def test_time_that_ends_a_search_for_proofs_is_told_from_theory_that_ends_it() -> None:
    assert tensor_rank(OPEN, seconds=1e-9).cut
    free = tensor_rank(OPEN)
    assert (free.cut, free.fitted) == (False, None)  # nothing is fitted without a time
    assert not tensor_rank(FIGURE_1, seconds=1e-9).cut
    both = np.zeros((7, 6, 6), dtype=int)
    both[:5, :4, :4], both[5:, 4:, 4:] = OPEN, cyclic(2)
    assert solve(both, "R", now() - 1).cut
    assert not solve(both, "R", None).cut


@pytest.mark.parametrize("stage", ["joint_bound", "killing_bound"])
def test_a_search_for_proofs_that_its_turn_ends_is_cut(
    monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    """The turn of a stage may end long before the time does."""
    calls = []

    def endless(*arguments: Any) -> None:
        expired = arguments[-1]
        calls.append(stage)
        while not expired():
            pass

    monkeypatch.setattr(stages, stage, endless)
    cut = stages.STAGES[: stages.STAGES.index(stages._by_killing) + 1]
    monkeypatch.setattr(stages, "STAGES", cut)
    with processor_time():
        deadline = now() + 1
        bounds = stages.solve_component(quaternions(), "Q", deadline)
        assert not late(deadline)
    assert calls
    assert bounds.cut
    assert not bounds.stopped


def test_fits_say_how_few_terms_they_reach() -> None:
    """Seven terms are the fewest of 2 × 2 matrices: no fit has six, and known ones are not told."""
    product = matrix_product(2)
    told: list[int] = []
    among = quotients(product)
    exact = shorter(among, 6, slice_sum(product, 2), reached=told.append)
    assert exact is not None
    assert len(exact) == min(told) == 7
    open_part = Bounds(flat := best_flattening(product), flat, slice_sum(product, 2), ("slices",))
    fitted = stages._fits(open_part, among, count(), now() + 2, now() + 4)
    assert fitted.fitted == 7
    untried = stages._fits(open_part, among, count(), now() - 1, now() - 1)
    assert untried.fitted is None


def test_fits_of_parts_add_up() -> None:
    flat = best_flattening(cyclic(3))
    closed = Bounds(flat, flat, slice_sum(np.eye(3, dtype=int)[None], 0), ("slices",))
    unfitted = Bounds(flat, flat, slice_sum(cyclic(3), 2), ("slices",))
    fitted = replace(unfitted, fitted=5)
    assert (closed.closed, unfitted.closed) == (True, False)
    assert _fitted([closed, fitted]) == 3 + 5
    assert _fitted([closed, unfitted]) is None
    assert _fitted([closed, fitted, unfitted]) == 3 + 5 + 9
    assert _fitted([replace(closed, fitted=7), unfitted]) is None


@pytest.mark.parametrize("seconds", [0, -1.0, float("nan"), float("inf"), 1e300])
def test_a_time_that_cannot_be_used_is_one_sentence(seconds: float) -> None:
    with pytest.raises(LemmaxError, match=r"not a time to search.*\.$"):
        tensor_rank(cyclic(3), seconds=seconds)


def test_a_masked_entry_is_refused() -> None:
    masked = np.ma.array(np.ones((2, 2, 2), dtype=int), mask=np.eye(4, 2).reshape(2, 2, 2) > 0)
    with pytest.raises(NotExact, match=r"^A masked entry has no value\.$"):
        tensor_rank(masked)
    assert tensor_rank(np.ma.array(np.ones((2, 2, 2), dtype=int))).rank == 1
