"""argmax, softmax, thresholds and the softmax rank, decided exactly."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest
import sympy
from flint import arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from lemmax import checker
from lemmax.strategies import integer_matrices, rational_matrices
from lemmax.theory import Matrix, argmax, softmax, softmax_rank, softmax_threshold
from lemmax.theory.errors import LemmaxError, NotExact
from lemmax.theory.numbers.row_maps import sign_of_exponential_sum

Certify = Callable[..., checker.Verdict]


@given(rational_matrices())
def test_argmax_marks_exactly_the_maxima(M: Matrix) -> None:
    for row, marked in zip(M.rows(), argmax(M).rows(), strict=True):
        assert [bool(x) for x in marked] == [x == max(row) for x in row]


@given(rational_matrices(bound=20), st.sampled_from(["1", "ln2"]))
def test_softmax_rows_sum_to_one(M: Matrix, unit: str) -> None:
    balls = softmax(M, 128, unit)  # type: ignore[arg-type]
    with ctx.workprec(128):
        for i in range(M.shape[0]):
            total = sum((balls[i, j] for j in range(M.shape[1])), arb(0))
            assert total.contains(1)
            assert total.rad() < arb("1e-30")


@given(rational_matrices(bound=6), st.fractions(Fraction(1, 100), 1))
def test_thresholds_agree_with_balls(M: Matrix, tau: Fraction) -> None:
    marked = softmax_threshold(M, tau)
    balls = softmax(M, 256)
    for i in range(M.shape[0]):
        for j in range(M.shape[1]):
            threshold = arb(fmpq(tau.numerator, tau.denominator))
            if balls[i, j] > threshold:
                assert marked[i, j] == 1
            elif balls[i, j] < threshold:
                assert marked[i, j] == 0
            else:  # the balls cannot tell: a true tie, which equal logits alone can make
                assert marked[i, j] == 1


def test_thresholds_decide_ties() -> None:
    assert softmax_threshold([[0, 0]], "1/2") == Matrix([[1, 1]])
    assert softmax_threshold([[7, 7, 7]], "1/3") == Matrix([[1, 1, 1]])
    assert softmax_threshold([[5]], 1) == Matrix([[1]])
    # 2^0 / (2^0 + 2^1) is exactly one third, and 2^(1/2) cancels against 2^(3/2).
    assert softmax_threshold([[0, 1]], "1/3", unit="ln2") == Matrix([[1, 1]])
    assert softmax_threshold([["1/2", "3/2"]], "1/3", unit="ln2") == Matrix([[1, 1]])
    assert softmax_threshold([[0, 1]], "1/3") == Matrix([[0, 1]])


def test_a_hair_above_the_threshold_is_decided() -> None:
    # e / (e + 1) to sixty digits, from above and from below.
    with ctx.workprec(300):
        digits = int((arb(1).exp() / (1 + arb(1).exp()) * 10**60).floor().unique_fmpz() or 0)
    assert softmax_threshold([[1, 0]], Fraction(digits, 10**60))[0, 0] == 1
    assert softmax_threshold([[1, 0]], Fraction(digits + 1, 10**60))[0, 0] == 0


@pytest.mark.parametrize("tau", [0, -1, "3/2"])
def test_a_threshold_outside_the_interval_is_refused(tau: object) -> None:
    with pytest.raises(LemmaxError, match="threshold"):
        softmax_threshold([[0]], tau)


def test_exponential_sums_have_exact_signs() -> None:
    assert sign_of_exponential_sum([(1, Fraction(0)), (-1, Fraction(0))], fmpq(0)) == 0
    assert sign_of_exponential_sum([(2, Fraction(1)), (-1, Fraction(1))], fmpq(-3)) == -1
    assert sign_of_exponential_sum([(1, Fraction(3))], fmpq(-8), "ln2") == 0
    assert sign_of_exponential_sum([(1, Fraction(1, 2))], fmpq(-7, 5), "ln2") == 1


def rank_over_function_field(exponents: list[list[int]]) -> int:
    """A second opinion by computer algebra: the rank over Q(z)."""
    z = sympy.symbols("z")
    low = min(min(row) for row in exponents)
    domain = sympy.QQ.frac_field(z)
    rows = [[domain.from_sympy(z ** (e - low)) for e in row] for row in exponents]
    from sympy.polys.matrices import DomainMatrix

    return int(DomainMatrix(rows, (len(rows), len(rows[0])), domain).rank())


@settings(max_examples=80)
@given(integer_matrices(st.integers(1, 4), st.integers(1, 4), bound=3))
def test_softmax_rank_agrees_with_computer_algebra(M: Matrix) -> None:
    exponents = [[int(x) for x in row] for row in M.rows()]
    result = softmax_rank(M)
    assert result.rank == rank_over_function_field(exponents)
    assert checker.check(result.certificate()).holds


@given(rational_matrices(st.integers(1, 5), st.integers(1, 5), bound=3, denominators=3))
def test_softmax_rank_is_always_certified(M: Matrix) -> None:
    result = softmax_rank(M)
    assert result.rank is not None
    assert checker.check(result.certificate()).holds


def test_deficient_softmax_ranks(certify: Certify) -> None:
    shifted = softmax_rank([[0, 1, 5], [2, 3, 7], [0, 0, 1]])
    assert (shifted.rank, shifted.method) == (2, "row-classes")
    certify(shifted.certificate())
    blocks = softmax_rank([[0, 0, 1, 1], [1, 1, 0, 0], [3, 3, 1, 1]])
    assert (blocks.rank, blocks.method) == (2, "column-classes")
    certify(blocks.certificate())
    # No two rows or columns are proportional, and still the sum of two rows is a third:
    # z + z = 2z hides nothing here, but (1, z) + (z, z²) = (1 + z)(1, z) does.
    hidden = softmax_rank([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 1, 0], [1, 0, 0, 1]])
    assert (hidden.rank, hidden.method) == (3, "specialisation")
    certify(hidden.certificate())


def test_powers_of_two_have_their_own_rank(certify: Certify) -> None:
    logits = [[0, 1, 1], [1, 0, 0], [2, 2, 2]]
    rational = softmax_rank(logits, unit="ln2")
    assert rational.rank == 2
    certify(rational.certificate())
    with pytest.raises(NotExact, match="must be integers"):
        softmax_rank([["1/2"]], unit="ln2")


def test_beyond_the_budget_the_bounds_stay_apart() -> None:
    big = [[0, 10**7, 0, 10**7], [10**7, 0, 10**7, 0], [0, 10**7, 10**7, 0], [10**7, 0, 0, 10**7]]
    result = softmax_rank(big)
    assert (result.lower, result.upper, result.rank) == (3, 4, None)
    with pytest.raises(LemmaxError, match="between 3 and 4"):
        result.certificate()


def test_full_rank_of_a_large_matrix() -> None:
    from random import Random

    random = Random(3)
    logits = [
        [Fraction(random.randint(-300, 300), random.randint(1, 60)) for _ in range(64)]
        for _ in range(64)
    ]
    assert softmax_rank(logits).rank == 64
