"""Sinusoidal positional encodings: full rank exactly, hardly in floating point."""

from collections.abc import Callable
from itertools import permutations
from math import gcd
from random import Random

import numpy as np
import pytest
from flint import ctx, fmpq, fmpz_poly
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lemmax import checker
from lemmax.constructions.mahdavi import counterexamples
from lemmax.pytest_plugin.properties import Sample
from lemmax.theory import Matrix, certified_rank
from lemmax.theory.errors import LemmaxError
from lemmax.theory.mahdavi.encodings import (
    frequencies,
    full_rank_by_balls,
    leading_assignment,
    sinusoidal_encoding,
    vandermonde_nodes,
)

Certify = Callable[..., checker.Verdict]
generators = st.integers(0, 2**32 - 1).map(Random)


def full_rank(positions: list[int], d: int, base: int) -> bool:
    """Whether balls show that the encodings of the positions have full rank."""
    try:
        return full_rank_by_balls(positions, d, base, max_precision=1 << 12) >= 128
    except LemmaxError:
        return False


TWICE = ([3, 3], 2, 10)  # one position, twice


@pytest.mark.claim(
    "mahdavi/sinusoidal-full-rank",
    grade="property",
    scope="even d <= 12, n <= 16, bases 2 to 20000",
    statement="5eae82b49a6a62ad",
)
@settings(max_examples=60)
@given(st.integers(1, 6), st.integers(1, 16), st.integers(2, 20_000))
def test_sinusoidal_full_rank_by_balls(sample: Sample, half: int, n: int, base: int) -> None:
    sample(full_rank, list(range(n)), 2 * half, base, control=TWICE)


@pytest.mark.parametrize("n", [32, 64])
def test_sinusoidal_full_rank_at_working_sizes(n: int) -> None:
    assert full_rank_by_balls(range(n), n) <= 1024


@pytest.mark.parametrize(("base", "d"), [(10_000, 8), (10_000, 64), (2, 64), (3, 20)])
def test_sinusoidal_nodes_are_distinct(base: int, d: int) -> None:
    """The angles lie in (0, 1] and differ, so the d numbers exp(± i ω) differ."""
    nodes = vandermonde_nodes(d, base).entries()
    with ctx.workprec(128):
        for i, x in enumerate(nodes):
            assert all(not x.overlaps(y) for y in nodes[i + 1 :])


@settings(max_examples=40)
@given(st.integers(1, 4), st.integers(1, 8))
def test_sinusoidal_columns_are_powers_of_the_nodes(half: int, n: int) -> None:
    """cos + i sin and cos - i sin of the columns are the powers of the nodes."""
    d = 2 * half
    encoding, nodes = sinusoidal_encoding(range(n), d), vandermonde_nodes(d).entries()
    with ctx.workprec(128):
        for p in range(n):
            for i in range(half):
                sine, cosine = encoding[p, 2 * i], encoding[p, 2 * i + 1]
                power = nodes[2 * i] ** p
                assert (power.real - cosine).contains(0)
                assert (power.imag - sine).contains(0)
                assert (nodes[2 * i + 1] ** p - power.conjugate()).contains(0)


def test_single_precision_sees_a_third_of_the_rank() -> None:
    """n = d = 64: the rank is 64, numpy's float32 rank is about 20, its float64 rank about 26."""
    assert full_rank_by_balls(range(64), 64) <= 1024
    exact = sinusoidal_encoding(range(64), 64, precision=128)
    table = np.array([[float(exact[i, j].mid()) for j in range(64)] for i in range(64)])
    assert np.linalg.matrix_rank(table.astype(np.float32)) < 25
    assert np.linalg.matrix_rank(table) < 32
    # The stored floats themselves, read as dyadic rationals, have full rank.
    assert certified_rank(table.astype(np.float32).astype(float), floats=True).rank == 64


# --- arbitrary positions ------------------------------------------------------------------------


@pytest.mark.claim(
    "lemmax/sinusoidal-any-positions",
    grade="property",
    scope="even d <= 16, up to d positions between -40 and 400; balls",
    statement="64510c1a9b8fa018",
)
@settings(max_examples=60)
@given(st.integers(1, 8), st.lists(st.integers(-40, 400), min_size=1, max_size=16, unique=True))
def test_any_positions_have_full_rank(sample: Sample, half: int, positions: list[int]) -> None:
    sample(full_rank, positions[: 2 * half], 2 * half, 10_000, control=TWICE)


@given(st.integers(1, 100))
def test_frequency_classes_are_independent_over_the_rationals(half: int) -> None:
    """Frequencies are N β_c: exponents of β in distinct classes modulo b, multipliers distinct."""
    d = 2 * half
    classes = frequencies(d)
    assert sum(len(group) for group in classes.classes) == half
    assert len(set(classes.residues)) == len(classes.residues) <= classes.b
    a = 8 // gcd(8, d)
    assert gcd(a, classes.b) == 1
    for group in classes.classes:
        assert len(set(group)) == len(group)
        assert min(group) == 1
    # x^b - 10 is irreducible: Eisenstein at 2
    polynomial = fmpz_poly([-10, *([0] * (classes.b - 1)), 1])
    factors = polynomial.factor()[1]
    assert [(f.degree(), e) for f, e in factors] == [(classes.b, 1)]


@settings(max_examples=150)
@given(generators)
def test_leading_monomial_is_attained_once(draw: Random) -> None:
    """The maximiser of Σ μ s(μ) over injections is unique, by enumeration."""
    pairs = draw.sample([1, 10, 100, 1000], draw.randint(1, 2))
    multipliers = [sign * m for m in pairs for sign in (1, -1)]
    if draw.random() < 0.4:
        multipliers = multipliers[: draw.randint(1, len(multipliers))]
        size = len(multipliers)
    else:
        size = draw.randint(len(multipliers), 6)
    positions = draw.sample(range(-9, 30), size)
    values = sorted(
        (
            sum(m * p for m, p in zip(multipliers, chosen, strict=True))
            for chosen in permutations(positions, len(multipliers))
        ),
        reverse=True,
    )
    best = leading_assignment(multipliers, positions)
    assert len(set(best.values())) == len(multipliers)
    assert sum(m * p for m, p in best.items()) == values[0]
    assert len(values) == 1 or values[0] > values[1]


# --- contexts with encodings --------------------------------------------------------------------


@pytest.mark.claim(
    "mahdavi/encoding-makes-contexts-full-rank",
    grade="certified",
    direction="against",
    statement="741f1c390651306d",
)
def test_encoding_cancelled_by_a_token(certify: Certify) -> None:
    certify(
        counterexamples.cancelling_token(),
        ship_as="mahdavi/encoding-makes-contexts-full-rank",
    )


@given(st.integers(1, 8), st.integers(1, 8))
def test_encoding_of_position_zero_is_rational(half: int, n: int) -> None:
    """p_0 = (0, 1, 0, 1, ...): n identical tokens -p_0 make the first row of X + P zero."""
    assume(n <= 2 * half)
    row = sinusoidal_encoding(range(n), 2 * half)
    for i in range(half):
        assert row[0, 2 * i] == 0
        assert row[0, 2 * i + 1] == 1


def few_exceptions(X: Matrix, P: Matrix) -> bool:
    """Both halves of the claim, the first for 61 numbers s."""
    n = X.shape[0]
    bad = [s for s in range(-30, 31) if certified_rank(X + fmpq(s) * P).rank < n]
    return len(bad) <= n and certified_rank(X + P).rank >= n - certified_rank(X).rank


@pytest.mark.claim(
    "lemmax/encoding-perturbation",
    grade="property",
    scope="n <= 4, d <= 5; all roots counted",
    statement="1b7fea51a16f23f0",
)
@settings(max_examples=80)
@given(generators)
def test_scaled_encodings_give_full_rank_but_at_n_scales(sample: Sample, draw: Random) -> None:
    n = draw.randint(1, 4)
    d = draw.randint(n, 5)
    X, P = (Matrix([[draw.randint(-2, 2) for _ in range(d)] for _ in range(n)]) for _ in range(2))
    assume(certified_rank(P).rank == n)
    sample(few_exceptions, X, P, control=(Matrix([[0, 0]]), Matrix([[0, 0]])))


def test_full_rank_encoding_with_a_context_of_rank_one() -> None:
    """X = -P + 1 cᵀ has X + P = 1 cᵀ: the bound n - rank X is attained at 0 excess."""
    P = Matrix.identity(4)
    c = [[1, 2, 3, 4]] * 4
    X = Matrix(c) - P
    assert certified_rank(X + P).rank == 1
    assert certified_rank(X).rank >= 3


@pytest.mark.parametrize(
    ("positions", "d", "base", "message"),
    [([0], 3, 10, "even dimension"), ([0], 2, 1, "exceed 1"), ([], 2, 10, "at least one position")],
)
def test_bad_encodings_are_refused(positions: list[int], d: int, base: int, message: str) -> None:
    with pytest.raises(LemmaxError, match=message):
        sinusoidal_encoding(positions, d, base)
