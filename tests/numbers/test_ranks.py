"""The exact rank, from both sides."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from random import Random

import numpy as np
import pytest
import sympy
from flint import fmpq, fmpq_mat, fmpz_mat, nmod_mat
from hypothesis import given
from hypothesis import strategies as st

from lemmax import checker
from lemmax.strategies import integer_matrices, low_rank_matrices, rational_matrices
from lemmax.theory import Matrix, certified_rank
from lemmax.theory.errors import NotExact, ShapeError
from lemmax.theory.numbers.primes import MERSENNE_61, primes
from lemmax.theory.numbers.rank import _rank_by_primes, minor_bound

Certify = Callable[..., checker.Verdict]


def fraction_rank(rows: list[list[Fraction]]) -> int:
    """A second opinion: plain elimination with fractions."""
    rows = [list(row) for row in rows]
    rank = 0
    for column in range(len(rows[0])):
        pivot = next((i for i in range(rank, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        for i in range(rank + 1, len(rows)):
            factor = rows[i][column] / rows[rank][column]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[rank], strict=True)]
        rank += 1
        if rank == len(rows):
            break
    return rank


@given(rational_matrices())
def test_rank_of_rational_matrices(M: Matrix) -> None:
    assert certified_rank(M).rank == fraction_rank([list(row) for row in M.rows()])


@given(low_rank_matrices())
def test_rank_of_low_rank_matrices(drawn: tuple[Matrix, int]) -> None:
    M, r = drawn
    rank = certified_rank(M).rank
    assert rank <= r
    assert rank == fraction_rank([list(row) for row in M.rows()])
    assert checker.check(certified_rank(M).certificate()).holds


@given(integer_matrices(), st.integers(1, 10**6))
def test_rank_is_invariant(M: Matrix, scale: int) -> None:
    rank = certified_rank(M).rank
    assert certified_rank(M.T).rank == rank
    assert certified_rank(scale * M).rank == rank


def multiples_of(primes_: list[int], seed: int) -> list[list[int]]:
    """A 60 × 60 matrix of full rank that is singular modulo every one of the primes."""
    random = Random(seed)
    product = int(np.prod([1], dtype=object))
    for p in primes_:
        product *= p
    diagonal = [[random.randint(1, 9) if i == j else 0 for j in range(60)] for i in range(60)]
    diagonal[59][59] = product
    return diagonal


def test_a_prime_that_divides_the_determinant_does_not_fool_the_rank() -> None:
    unlucky = [next(primes()), 2**61 - 31]
    matrix = multiples_of([MERSENNE_61, *unlucky], 1)
    assert nmod_mat(fmpz_mat(matrix), MERSENNE_61).rank() == 59
    result = certified_rank(matrix)
    assert (result.rank, result.method) == (60, "hadamard")


def test_the_small_path_is_not_fooled_either() -> None:
    result = certified_rank([[MERSENNE_61, 0], [0, 1]])
    assert (result.rank, result.method) == (2, "elimination")


def test_primes_pass_the_hadamard_bound_before_the_rank_is_settled() -> None:
    random = Random(5)
    left = [[random.randint(-9, 9) for _ in range(20)] for _ in range(60)]
    right = [[random.randint(-9, 9) for _ in range(60)] for _ in range(20)]
    M = fmpz_mat(left) * fmpz_mat(right)
    assert _rank_by_primes(M, 20) == 20 == M.rank()
    # A wrong, too small, start is corrected by the first prime.
    assert _rank_by_primes(M, 3) == 20


@given(integer_matrices(bound=50), st.integers(1, 6))
def test_hadamard_bounds_every_minor(M: Matrix, size: int) -> None:
    m, n = M.shape
    size = min(size, m, n)
    flint = M.flint.numer_denom()[0]
    bound = minor_bound(flint, size)
    minor = fmpz_mat([[flint[i, j] for j in range(size)] for i in range(size)]).det()
    assert abs(int(minor)) <= bound


def test_hilbert_matrix_defeats_floats() -> None:
    hilbert = [[Fraction(1, i + j + 1) for j in range(20)] for i in range(20)]
    assert certified_rank(hilbert).rank == 20
    assert np.linalg.matrix_rank(np.array(hilbert, dtype=float)) < 20


@pytest.mark.parametrize(
    "data",
    [
        [[1, 2], [2, 4]],
        [[Fraction(1, 2), 1], [1, 2]],
        [["1/2", "1"], ["1", "2"]],
        sympy.Matrix([[sympy.Rational(1, 2), 1], [1, 2]]),
        np.array([[1, 2], [2, 4]], dtype=np.int8),
        np.array([[1, 2], [2, 4]], dtype=np.uint64),
        np.array([[2**70, 1], [2**71, 2]], dtype=object),
        fmpz_mat([[1, 2], [2, 4]]),
        fmpq_mat([[fmpq(1, 3), 1], [1, 3]]),
        Matrix([[1, 2], [2, 4]]),
    ],
)
def test_everything_exact_comes_in(data: object) -> None:
    assert certified_rank(data).rank == 1  # type: ignore[call-overload]


def test_floats_come_in_only_by_name() -> None:
    tenth = [[0.1, 0.2], [0.2, 0.4]]
    with pytest.raises(NotExact, match=r"0\.1 is a float; pass floats=True"):
        certified_rank(tenth)
    with pytest.raises(NotExact):
        certified_rank(np.array(tenth))
    assert certified_rank(tenth, floats=True).rank == 1
    assert certified_rank([[0.1, 0.3], [0.2, 0.6]], floats=True).rank == 1
    # 0.1 + 0.2 is not 0.3 in binary, and the rank says so.
    assert certified_rank([[0.1 + 0.2, 1], [0.3, 1]], floats=True).rank == 2


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_numbers_that_are_not_are_refused(bad: float) -> None:
    with pytest.raises(NotExact, match="not a finite number"):
        certified_rank([[bad]], floats=True)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ([], "at least one row"),
        ([[]], "at least one row"),
        ([[1, 2], [3]], "same length"),
        (np.zeros((2, 2, 2), dtype=int), "two dimensions"),
        (7, "not a matrix"),
    ],
)
def test_things_that_are_no_matrix_are_refused(data: object, sentence: str) -> None:
    with pytest.raises(ShapeError, match=sentence):
        certified_rank(data)  # type: ignore[call-overload]


def test_irrational_entries_are_refused() -> None:
    with pytest.raises(NotExact, match="not an exact rational"):
        certified_rank([[sympy.sqrt(2)]])


def test_large_deficient_certificate(certify: Certify) -> None:
    random = Random(2)
    left = [[random.randint(-9, 9) for _ in range(25)] for _ in range(60)]
    right = [[random.randint(-9, 9) for _ in range(50)] for _ in range(25)]
    result = certified_rank(fmpz_mat(left) * fmpz_mat(right))
    assert (result.rank, result.method) == (25, "hadamard")
    certify(result.certificate())


def test_the_zero_matrix_has_a_certificate(certify: Certify) -> None:
    certify(certified_rank(Matrix.zeros(3, 2)).certificate())


def test_a_matrix_is_immutable() -> None:
    M = Matrix([[1]])
    with pytest.raises(AttributeError):
        M.extra = 1
