"""The best codes for a given left factor: both ends proved, close together, and right."""

from __future__ import annotations

from random import Random

import cvxpy
import pytest
from flint import fmpq

from lemmax import checker
from lemmax.constructions import best_codes, best_encoder
from lemmax.theory.dana.encoders import SequenceEncoder, Table
from lemmax.theory.errors import LemmaxError, Undecided
from lemmax.theory.numbers.matrices import Matrix

CLOSE = fmpq(1, 10**7)
EIGHTY = Table([["4/5", "1/10", "1/10"], ["1/10", "4/5", "1/10"], ["1/10", "1/10", "4/5"]])


def random_table(random: Random, T: int, N: int) -> Table:
    counts = [[random.randint(1, 20) for _ in range(N)] for _ in range(T)]
    return Table([[fmpq(x, sum(row)) for x in row] for row in counts])


@pytest.mark.parametrize("seed", range(3))
def test_both_ends_of_random_factors_meet(seed: int) -> None:
    random = Random(seed)
    T, N, d = 3, random.randint(3, 6), random.randint(1, 3)
    table = random_table(random, T, N)
    W = Matrix([[random.randint(-3, 3) for _ in range(d)] for _ in range(N)])
    interval = best_codes(table, W)
    assert interval.lower <= interval.upper < interval.lower + CLOSE
    assert interval.dual @ W == table.rows @ W  # exactly the moments of π
    assert all(min(row) >= 0 and sum(row) == 1 for row in interval.dual.rows())
    assert checker.check(interval.certificate()).holds  # both ends, by the independent checker
    for _ in range(5):
        E = Matrix([[fmpq(random.randint(-9, 9), 4) for _ in range(d)] for _ in range(T)])
        assert SequenceEncoder(W, E).divergence(table) >= interval.lower


def test_the_searched_factor_is_closed_far_tighter_than_the_search() -> None:
    """For all W the ends are 10⁻³ apart; for the W that was found they meet."""
    every = best_encoder(EIGHTY, 1, starts=1)
    fixed = best_codes(EIGHTY, every.encoder.W)
    assert every.lower <= fixed.lower <= fixed.upper < fixed.lower + CLOSE
    assert fixed.gap < every.gap / 1000
    assert fixed.upper <= every.upper + CLOSE


def test_a_factor_of_full_rank_and_one_that_sees_nothing() -> None:
    full = best_codes(EIGHTY, [[1, 0], [0, 1], [0, 0]])
    assert full.lower == 0
    assert full.upper < CLOSE
    blind = best_codes(EIGHTY, [[1], [1], [1]])  # the uniform distribution: log 3 - entropy
    entropy = EIGHTY.entropies()[0]
    assert blind.lower <= fmpq(4596, 10**4) <= blind.upper + fmpq(1, 10**4)
    assert entropy + blind.lower <= fmpq(1098613, 10**6)
    assert entropy + blind.upper >= fmpq(1098612, 10**6)


def test_one_hot_rows_have_an_infimum_that_no_codes_attain() -> None:
    interval = best_codes([[1, 0, 0], [0, 0, 1]], [[0], [1], [2]])
    assert interval.lower == 0
    assert interval.upper < fmpq(1, 1000)


def test_bad_factors_and_solvers_get_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LemmaxError, match="2 rows for 3 tokens"):
        best_codes(EIGHTY, [[1], [2]])

    def gives_up(self: object, **options: object) -> None:
        raise cvxpy.SolverError("Solver failed.")

    monkeypatch.setattr(cvxpy.Problem, "solve", gives_up)
    with pytest.raises(Undecided, match="gave up on the codes"):
        best_codes(EIGHTY, [[1], [2], [3]])
