"""Ranks of families: generic, with every exception, against ranks that are computed one by one."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import pytest
import sympy
from flint import arb, fmpz_mpoly_ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from lemmax import checker
from lemmax.pytest_plugin.properties import Sample
from lemmax.pytest_plugin.symbolic import Symbolic
from lemmax.strategies import integer_matrices
from lemmax.theory import Matrix, certified_rank, family_rank, generic_rank, softmax_rank
from lemmax.theory.errors import LemmaxError, NotExact
from lemmax.theory.numbers.families.elimination import eliminate
from lemmax.theory.numbers.families.softmax import softmax_family_rank

c = sympy.Symbol("c", real=True)
E = sympy.E


def expected(family: Any, value: Any) -> int:
    """What a family's rank and exceptions say of one value."""
    for exception in family.exceptions:
        if exception.named and sympy.expand_log(exception.to_sympy() - value) == 0:
            return int(exception.rank)
    return int(family.rank)


def keeps_the_rank(M: Matrix, c: int) -> bool:
    """Lindemann: a rational number other than 0 is no exception."""
    family = softmax_rank(sympy.Symbol("c", real=True) * M.to_sympy())
    return bool(softmax_rank(c * M).rank == family.rank == family.at(1))


@pytest.mark.claim(
    "lemmax/softmax-rank-scale",
    grade="property",
    scope="integer matrices up to 4 × 4, entries of at most 3",
    statement="6bac46901dbf4c61",
)
@settings(max_examples=15)
@given(integer_matrices(st.integers(1, 4), st.integers(2, 4), 3))
def test_softmax_families_agree_with_ranks_at_powers_of_two_and_of_e(
    sample: Sample, M: Matrix
) -> None:
    if Matrix.zeros(*M.shape) == M:
        return
    family = softmax_rank(c * M.to_sympy())
    for k in (-2, -1, 1, 2):
        assert expected(family, k * sympy.log(2)) == softmax_rank(k * M, "ln2").rank
        sample(keeps_the_rank, M, k, control=(Matrix([[0, 1], [1, 0]]), 0))
    assert family.at(0) == 1


@pytest.mark.claim("lemmax/softmax-rank-golden", grade="symbolic", statement="0c9106ef38fae82a")
def test_softmax_loses_rank_at_the_golden_scale(symbolic: Symbolic) -> None:
    symbolic.decide("lemmax/softmax-rank-golden")
    assert str(softmax_rank(c * sympy.Matrix(GOLDEN))) == (
        "SoftmaxFamilyRank(rank 3 for all c but 0 (rank 1), log(1/2 + sqrt(5)/2) (rank 2))"
    )


@settings(max_examples=20)
@given(st.randoms(use_true_random=False))
def test_families_with_constants_agree_with_ranks_at_rationals(source: random.Random) -> None:
    n = source.randint(2, 4)
    slopes, constants = (sympy.Matrix(n, n, lambda i, j: source.randint(-2, 2)) for _ in range(2))
    if slopes == sympy.zeros(n, n):
        return
    family = softmax_rank(c * slopes + constants)
    for value in (-2, -1, 0, 1, 2):
        assert family.at(value) == expected(family, value)
    polynomial = family_rank(sympy.Matrix(n, n, lambda i, j: c * slopes[i, j] + constants[i, j]))
    for value in (-2, -1, 0, 1, 2):
        assert polynomial.at(value) == expected(polynomial, value)


GOLDEN = [[0, 0, 0], [0, 3, 2], [3, 0, 2]]
CUBIC = [[2, 0, 1], [0, 0, 2], [3, 0, 0]]


@pytest.mark.parametrize(
    ("M", "root"),
    [(GOLDEN, (1 + sympy.sqrt(5)) / 2), (CUBIC, sympy.rootof(c**3 - c - 1, 0))],
)
def test_softmax_family_exceptions_are_logarithms_of_algebraic_numbers(M: Any, root: Any) -> None:
    family = softmax_family_rank(c * sympy.Matrix(M))
    zero, other = family.exceptions
    assert (family.rank, zero.to_sympy(), zero.rank, other.rank) == (3, 0, 1, 2)
    assert sympy.simplify(sympy.exp(other.to_sympy()) - root) == 0
    assert arb(str(sympy.N(sympy.log(root), 30))).overlaps(other.ball)
    powers = sympy.Matrix(3, 3, lambda i, j: root ** M[i][j])
    assert sympy.minimal_polynomial(powers.det(), c) == c
    assert checker.check(family.certificate()).holds


def test_exceptions_where_constants_mix_are_isolated_and_complete() -> None:
    """The determinant changes its sign in every ball, and nowhere else on a fine grid."""
    logits = sympy.Matrix([[2 * c + 1, 0, 0], [0, 0, c], [0, 3, 2 * c]])
    family = softmax_rank(logits)
    determinant = logits.applyfunc(sympy.exp).det()
    assert family.rank == 3
    grid = [sympy.Rational(k, 8) for k in range(-64, 65)]
    signs = [int(sympy.sign(sympy.N(determinant.subs(c, x), 60))) for x in grid]
    changes = sum(a * b < 0 for a, b in pairwise(signs))
    crossing = [x for x in family.exceptions if x.value.mixed]
    assert len(crossing) == changes > 0
    for exception in crossing:
        place = exception.to_sympy()
        assert isinstance(place, sympy.ConditionSet)
        ends = (place.base_set.start, place.base_set.end)
        assert ends[1] - ends[0] < sympy.Rational(1, 10**11)
        below, above = (sympy.N(determinant.subs(c, x), 60) for x in ends)
        assert below * above < 0


def test_logarithms_of_rationals_are_weights() -> None:
    half = sympy.Rational(1, 2)
    family = softmax_rank(
        sympy.Matrix([[0, c / 3], [half, half + sympy.log(sympy.Rational(5, 4))]])
    )
    assert [
        x.to_sympy().equals(3 * sympy.log(sympy.Rational(5, 4))) for x in family.exceptions
    ] == [True]


def test_polynomial_families_and_generic_ranks() -> None:
    family = certified_rank(sympy.Matrix([[c, 2, 0], [1, c, 0], [0, 0, c * (c**3 - c - 1)]]))
    assert str(family) == (
        "FamilyRank(rank 3 for all c but -sqrt(2) (rank 2), 0 (rank 2), near 1.324718 (rank 2), "
        "sqrt(2) (rank 2))"
    )
    assert r"c \approx 1.324718" in family.formula()
    assert checker.check(family.certificate()).holds
    x = sympy.symbols("x:4")
    vandermonde = generic_rank(sympy.Matrix(4, 4, lambda i, j: x[i] ** j))
    assert vandermonde.rank == 4
    product = sympy.prod(x[i] - x[j] for i in range(4) for j in range(i))
    assert sympy.expand(vandermonde.minor**2 - product**2) == 0
    assert checker.check(vandermonde.certificate()).holds


def test_elimination_modulo_a_factor_sees_a_lower_rank() -> None:
    t, z = fmpz_mpoly_ctx.get(["t", "z"]).gens()
    rows = [[t, z, t * 0 + 1], [z, t, t * 0 + 1], [t * 0 + 1, t * 0 + 1, t]]
    assert eliminate(rows).rank == 3
    assert eliminate(rows, t - z).rank == 2
    assert eliminate(rows, t + 5).rank == 3


@pytest.mark.parametrize(
    ("logits", "sentence"),
    [
        ([[c**2]], "c\\*\\*2 is not affine in c"),
        ([[sympy.exp(c)]], "is not affine in c"),
        ([[sympy.pi * c]], "slope pi is not rational"),
        ([[c + sympy.sqrt(2)]], "neither rational nor a multiple of ln of a rational"),
        ([[c + sympy.Symbol("d")]], "one free symbol; this matrix has c, d"),
    ],
)
def test_what_is_no_family_is_refused(logits: Any, sentence: str) -> None:
    with pytest.raises((LemmaxError, NotExact), match=sentence):
        softmax_rank(sympy.Matrix(logits))


def test_families_that_cannot_be_used_are_refused() -> None:
    with pytest.raises(NotExact, match="no polynomial with rational coefficients"):
        family_rank(sympy.Matrix([[sympy.sqrt(2) * c]]))
    with pytest.raises(NotExact, match="no polynomial with rational coefficients"):
        family_rank(sympy.Matrix([[c, 0.5]]))
    with pytest.raises(NotExact, match="neither rational"):
        softmax_rank(sympy.Matrix([[c, 0.5]]))
    with pytest.raises(LemmaxError, match="no free symbol"):
        generic_rank(sympy.Matrix([[1]]))
    with pytest.raises(LemmaxError, match="multiply the logits by"):
        softmax_rank(sympy.Matrix([[c]]), "ln2")
