"""Edges of exact numbers: bad luck with primes and balls, the last try, what is said in the end."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy
from flint import acb, arb, ctx, fmpq, fmpz_mat, fmpz_mpoly_ctx

from lemmax.theory.errors import LemmaxError, Undecided
from lemmax.theory.numbers import (
    balls,
    gale_duality,
    kruskal_rank,
    kruskal_search,
    row_maps,
    softmax_rank,
)
from lemmax.theory.numbers.families import parameters
from lemmax.theory.numbers.families.ranks import family_rank, only_symbol, polynomial_rows
from lemmax.theory.numbers.families.softmax import softmax_family_rank
from lemmax.theory.numbers.kruskal_rank import near_dependence
from lemmax.theory.numbers.kruskal_search import DependentSubsets
from lemmax.theory.numbers.matrices import Matrix
from lemmax.theory.numbers.primes import MERSENNE_31
from lemmax.theory.numbers.softmax_rank import _pivots_at, _rank_at_large_integer

c = sympy.Symbol("c", real=True)
t, z = fmpz_mpoly_ctx.get(["t", "z"]).gens()

# -- values of a parameter ----------------------------------------------------------------------


def test_roots_are_isolated_until_none_contains_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    wide, narrow = arb(1, 2), arb(1, 0.5)
    given: Iterator[Any] = iter([None, [wide], [narrow], [narrow]])
    monkeypatch.setattr(parameters, "_isolated", lambda *_: next(given))
    (root,) = parameters._real_roots(t - 1, 1)
    assert root.overlaps(narrow)
    assert not root.contains(0)


def test_roots_that_stay_together_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The precision doubles from 128 bits to 2^14."""
    asked: list[int] = []
    monkeypatch.setattr(parameters, "_isolated", lambda *_: asked.append(ctx.prec))
    with pytest.raises(Undecided, match="cannot be told apart"):
        parameters._real_roots(t - 1, 1)
    assert asked == [2**n for n in range(7, 15)]


@pytest.mark.parametrize(("below", "real"), [("-2 +/- 0.5", None), ("-9 +/- 0.5", 1)])
def test_a_root_is_real_where_no_other_may_be_its_conjugate(
    below: str, real: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mirror image of the ball -1 <= Im <= 3 reaches down to -3."""
    roots = [acb(1, arb(1, 2)), acb(1, arb(below))]

    class Polynomial:
        def __init__(self, coefficients: list[Any]) -> None:
            assert len(coefficients) == 3

        def roots(self, _: Any) -> list[acb]:
            return roots

    monkeypatch.setattr(parameters, "acb_poly", Polynomial)
    found = parameters._isolated(t**2 - z, 1)
    assert (None if found is None else len(found)) == real


def test_a_root_without_a_name_is_one_of_a_polynomial_in_t() -> None:
    """Sympy keeps the name that a polynomial came with first; this one occurs nowhere else."""
    (value,) = parameters.zeros(t**3 + t - 1009, 0, 1)
    assert str(value.to_sympy()) == "CRootOf(t**3 + t - 1009, 0)"


# -- families -----------------------------------------------------------------------------------


def test_exceptions_of_polynomials_are_values_of_the_symbol_itself() -> None:
    """They are no logarithms, and without powers of e it is e^1 that does not occur."""
    values = [exception.value for exception in family_rank(sympy.Matrix([[c**2 - 2]])).exceptions]
    told = [(value.logarithm, value.denominator, value.place) for value in values]
    assert told == [(0, 1, 0), (0, 1, 1)]


def test_a_family_without_exceptions_names_none() -> None:
    assert repr(family_rank(sympy.Matrix([[c**2 + 1]]))) == "FamilyRank(rank 1 for all c)"


def test_a_matrix_without_symbols_is_no_family() -> None:
    with pytest.raises(LemmaxError, match=r"one free symbol; this matrix has none\.$"):
        only_symbol(sympy.Matrix([[1]]))


def test_spare_variables_do_not_occur_in_polynomials() -> None:
    ((entry,),) = polynomial_rows(sympy.Matrix([[c / 2 + 3]]), [c], 1)
    assert entry.to_dict() == {(1, 0): 1, (0, 0): 6}


# -- ranks of a softmax -------------------------------------------------------------------------


def test_a_family_at_a_value_that_costs_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    family = softmax_family_rank(c * sympy.Matrix([[0, 0], [0, 1]]))
    unknown = softmax_rank.SoftmaxRank(Matrix([[0]]), "1", 1, 2, "size")
    monkeypatch.setattr(softmax_rank, "softmax_rank", lambda _: unknown)
    with pytest.raises(LemmaxError, match=r"^The softmax rank lies between 1 and 2"):
        family.at(1)


def test_the_rank_of_many_logits_is_told_in_few_words() -> None:
    """Seventy logits take 359 letters, and with the other fields more than 400."""
    few, many = (softmax_rank.softmax_rank([[0] * n]) for n in (1, 70))
    told = "SoftmaxRank(logits=Matrix([['0']]), unit='1', lower=1, upper=1, method='size')"
    assert (repr(few), repr(many)) == (told, "SoftmaxRank(rank 1)")


def test_a_minor_is_looked_for_at_a_thousand_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is one more than the one before; 2 in units of ln 2, where only the prime changes."""
    asked: list[tuple[int, int]] = []

    def unlucky(exponents: Any, point: int, prime: int) -> Any:
        asked.append((point, prime))
        return [[0]]

    monkeypatch.setattr(softmax_rank, "_power_matrix", unlucky)
    monkeypatch.setattr(softmax_rank, "pivots_modulo", lambda _: ([], []))
    with pytest.raises(AssertionError, match="almost every point"):
        _pivots_at([[0]], 1, "1")
    first = asked[0][0]
    assert [point for point, _ in asked] == list(range(first, first + 1000))
    assert len({prime for _, prime in asked}) == 1000
    asked.clear()
    with pytest.raises(AssertionError, match="almost every point"):
        _pivots_at([[0]], 1, "ln2")
    assert {point for point, _ in asked} == {2}


@pytest.mark.parametrize(("budget", "rank"), [(8, 1), (7, None)])
def test_the_integer_is_one_more_than_a_factorial(
    budget: int, rank: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """About minors of order 2 decides 2! + 1 = 3, of two bits; two exponents and two rows: 8 bits.

    2! + 2 = 4 and 3! + 1 = 7 have three bits and would take 12.
    """
    monkeypatch.setattr(softmax_rank, "_BUDGET_BITS", budget)
    assert _rank_at_large_integer([[0, 1], [0, 1]], 1) == rank


def test_a_sum_that_stays_undecided_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(balls, "precisions", lambda: iter(()))
    with pytest.raises(Undecided, match=r"^A sum of exponentials is too close to zero"):
        row_maps.sign_of_exponential_sum([(1, Fraction(1))], fmpq(-2))


# -- dependent subsets --------------------------------------------------------------------------


def test_one_subset_is_looked_at_where_no_more_are_asked_for() -> None:
    found = near_dependence(Matrix([[1, 0], [0, 1], [1, 1]]), 2, 1)
    assert len(found.subset) == 2
    assert not found.complete
    with pytest.raises(LemmaxError, match="look at some"):
        near_dependence(Matrix([[1, 0], [0, 1]]), 2, 0)


def test_four_dependencies_modulo_a_prime_are_confirmed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The shortest first; after as many false ones the true one is left to the search."""
    rows = fmpz_mat([[1, 0], [2, 0], [0, 1], [1, 1], [1, 2]])
    true = [1, 1, 0, 0, 0]
    false = [[int(i == j) for i in range(5)] for j in range(4)]
    for wrong, found in ((3, (0, 1)), (4, ())):
        dual = [true, *false[:wrong]]
        monkeypatch.setattr(kruskal_search, "dependencies", lambda *_, dual=dual: (dual, 7))
        assert kruskal_search._short_dependency(rows, 2) == found


class Least:
    """A source of random numbers that has no luck."""

    def randrange(self, start: int, stop: int | None = None) -> int:
        return 0 if stop is None else start


def test_random_images_have_factors_that_are_not_zero() -> None:
    """With the least factors an image, and a functional, is the sum of the coordinates."""
    rows = [[1, 2, 3, 4, 5], [1, 0, 0, 0, 0]]
    search = DependentSubsets(fmpz_mat(rows))
    search.random = Least()  # type: ignore[assignment]
    assert search._projected(3).tolist() == [[15] * 4, [1] * 4]
    assert search._functional(np.array(rows)).tolist() == [15, 1]


def test_searches_begin_alike() -> None:
    search = DependentSubsets(fmpz_mat([[1]]))
    assert search.random.getstate() == random.Random(0).getstate()


def test_a_vector_that_is_zero_modulo_the_prime_alone() -> None:
    """All five rows but the last are independent; it is the sum of e_1, e_3 and e_4."""
    p = int(MERSENNE_31)
    rows = [[int(i == j) * (p if i == 1 else 1) for j in range(5)] for i in range(5)]
    rows.append([0, 1, 0, 1, 1])
    search = DependentSubsets(fmpz_mat(rows))
    assert search.of_size(3) is None
    assert search.of_size(4) == (1, 3, 4, 5)


def test_dual_vectors_that_are_all_zero_lie_on_every_hyperplane() -> None:
    assert gale_duality.largest_hyperplane([[0, 0], [0, 0]], 7) == (2, ())


def test_twenty_thousand_subsets_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    found = kruskal_rank.kruskal_rank([[1, 0], [0, 1], [1, 1]])
    monkeypatch.setattr(kruskal_rank, "near_dependence", lambda *told: asked.append(told[2]))
    found.distance()
    assert asked == [20_000]


def test_candidates_come_in_the_order_of_their_keys() -> None:
    """Two dependent triples with the same first vector: the one with the smaller ratio first."""
    rows = [[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1], [1, 0, 1]]
    search = DependentSubsets(fmpz_mat(rows))
    found = [*search._triples(np.array(rows), (), 0)]
    assert found == [(0, 1, 2), (0, 3, 4)]
