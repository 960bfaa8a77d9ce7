"""Relative margins of readouts, between two ends that hold for every point of the balls."""

from __future__ import annotations

import random
from typing import Any

import cvxpy
import pytest
from flint import arb, arb_mat, fmpq

from lemmax.constructions import margin_interval, readout
from lemmax.theory import Matrix
from lemmax.theory.errors import LemmaxError

CLOSE = fmpq(1, 2**30)


def squared_length(rows: list[list[int]]) -> int:
    return max(sum(x * x for x in row) for row in rows)


@pytest.mark.parametrize("solver", ["works", "gives up"])
def test_margins_are_those_of_the_widest_readout(
    solver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both ends are next to the exact margin, zero for conflicts; with and without the solver."""
    sides = set()
    cases = []
    for seed in range(16):
        rng = random.Random(seed)
        T, D, V = rng.randint(3, 8), rng.randint(1, 4), rng.randint(2, 3)
        rows = [[rng.randint(-5, 5) for _ in range(D)] for _ in range(T)]
        rows[0][0] = 6  # the longest is not zero
        cases.append((rows, [t % V for t in range(T)], readout(rows, [t % V for t in range(T)])))
    if solver == "gives up":
        monkeypatch.setattr(cvxpy.Problem, "solve", lambda self, **options: 1 / 0)
    for rows, labels, exact in cases:
        told = margin_interval(Matrix(rows), labels)
        wanted = fmpq(0) if exact.margin is None else exact.margin.lower_squared
        assert (
            told.lower**2 * squared_length(rows) <= wanted <= told.upper**2 * squared_length(rows)
        )
        assert told.upper - told.lower < CLOSE
        assert told.above(fmpq(1, 1000)) == exact.holds  # no margin here is that small
        sides.add(exact.holds)
    assert sides == {True, False}


def test_wide_balls_have_wide_intervals_and_never_wrong_ones() -> None:
    """Every point of the balls has its margin inside; a resolution within is not decided."""
    radius = fmpq(1, 50)
    balls = arb_mat([[arb(1, 0.02), arb(0, 0.02)], [arb(0, 0.02), arb(1, 0.02)]])
    told = margin_interval(balls, "ab")
    rng = random.Random(3)
    for _ in range(20):
        point = [[x + radius * rng.randint(-9, 9) / 10 for x in row] for row in ([1, 0], [0, 1])]
        inside = margin_interval(Matrix(point), "ab")
        assert told.lower <= inside.lower
        assert inside.upper <= told.upper
    assert told.above((told.lower + told.upper) / 2) is None
    assert told.above(fmpq(1, 2)) is True
    assert margin_interval(arb_mat([[arb(1)], [arb(1)]]), "ab").above(fmpq(1, 2**30)) is False


@pytest.mark.parametrize(
    ("features", "labels", "sentence"),
    [
        (Matrix([[1], [2]]), "a", "2 rows of features, 1 labels"),
        (Matrix([[1], [2]]), "aa", "at least two labels"),
        (arb_mat([[arb("nan")], [arb(1)]]), "ab", "without a finite radius"),
    ],
)
def test_bad_features_of_margins_get_one_sentence(
    features: Any, labels: str, sentence: str
) -> None:
    with pytest.raises(LemmaxError, match=sentence):
        margin_interval(features, labels)


def test_features_that_are_all_zero_have_no_margin() -> None:
    told = margin_interval(Matrix([[0, 0], [0, 0]]), "ab")
    assert (told.lower, told.upper) == (fmpq(0), fmpq(0))
