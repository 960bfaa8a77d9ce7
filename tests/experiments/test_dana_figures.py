"""What the recorded runs of Dana's experiments say about the claims."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import pytest

from lemmax.numerics.experiments import dana
from lemmax.numerics.experiments.frame import Judgement, Row, Study, recorded
from lemmax.numerics.experiments.statistics import bow, exponent
from lemmax.numerics.jobs import Dana
from lemmax.theory.ledger import Verdict

Judged: TypeAlias = Callable[[str], dict[str, Judgement]]
Measure: TypeAlias = Callable[[Verdict, str], None]


def _decided(judgement: Judgement, measure: Measure) -> None:
    assert judgement.verdict is not None, judgement.sentence
    measure(judgement.verdict, judgement.sentence)


@pytest.mark.claim("dana/figure-1a", grade="empirical")
def test_figure_1a_accuracy_against_heads(judged: Judged, measure: Measure) -> None:
    _decided(judged("dana-fig1a")["dana/figure-1a"], measure)


@pytest.mark.claim("dana/figure-1b", grade="empirical")
def test_figure_1b_accuracy_against_head_dimension(judged: Judged, measure: Measure) -> None:
    _decided(judged("dana-fig1b")["dana/figure-1b"], measure)


@pytest.mark.claim("dana/figure-2a", grade="empirical")
def test_figure_2a_accuracy_against_dimension(judged: Judged, measure: Measure) -> None:
    _decided(judged("dana-fig2a")["dana/figure-2a"], measure)


@pytest.mark.parametrize(
    ("study", "along", "points", "most"),
    [
        (dana.HEAD_DIMENSION, "d_h", dana.published()["head-dimension"], 0.02),
        (dana.DIMENSION, "d", dana.published()["dimension"], 0.02),
    ],
    ids=["d_h", "d"],
)
def test_accuracies_are_near_those_of_the_authors(
    study: Study, along: str, points: list[list[float]], most: float
) -> None:
    assert dana.difference(*dana.curve(recorded(study)[1], along), points) <= most


def test_the_heads_sweep_is_not_yet_within_four_hundredths_of_the_authors() -> None:
    """A known miss, below near H = 21: whoever finds the cause moves H to the test above."""
    points = dana.published()["heads"]["10"]
    assert dana.difference(*dana.curve(recorded(dana.HEADS)[1], "H"), points) > 0.04


def test_the_authors_own_curve_is_convex_in_the_head_dimension() -> None:
    x, y = np.array(dana.published()["head-dimension"]).T
    assert bow(x, y).low > 0
    assert exponent(x, y).within(1.5, 2.5)


def _planted(study: Study, accuracy: Callable[[Dana], float]) -> dict[str, list[Row]]:
    rows = []
    for row in recorded(study)[1]:
        assert isinstance(row.job.config, Dana)
        rows.append(replace(row, recent=accuracy(row.job.config) + row.job.config.H % 3 / 1e4))
    return {study.name: rows}


@pytest.mark.parametrize(
    ("judge", "study", "accuracy", "verdict"),
    [
        (dana.judge_heads, dana.HEADS, lambda c: 0.1 + 0.02 * c.H, "reproduced"),
        (dana.judge_heads, dana.HEADS, lambda c: 0.16 * c.H**0.5, "not-reproduced"),
        (dana.judge_head_dimension, dana.HEAD_DIMENSION, lambda c: c.d_h**2 / 110, "reproduced"),
        (
            dana.judge_head_dimension,
            dana.HEAD_DIMENSION,
            lambda c: (c.d_h / 11) ** 0.5,
            "not-reproduced",
        ),
        (dana.judge_dimension, dana.DIMENSION, lambda c: min(c.d, 10) / 11, "reproduced"),
        (dana.judge_dimension, dana.DIMENSION, lambda c: c.d / 16, "not-reproduced"),
        (dana.judge_dimension, dana.DIMENSION, lambda c: c.d**6 / 16**6, "not-reproduced"),
    ],
)
def test_planted_curves_are_told_apart(
    judge: Callable[[Any], list[Judgement]],
    study: Study,
    accuracy: Callable[[Dana], float],
    verdict: str,
) -> None:
    random = np.random.default_rng(3)
    rows = _planted(study, lambda c: accuracy(c) + random.normal(0, 0.002))
    (judgement,) = judge(rows)
    assert judgement.verdict == verdict, judgement.sentence


def test_noise_decides_nothing() -> None:
    random = np.random.default_rng(4)
    rows = _planted(dana.HEADS, lambda c: 0.5 + random.normal(0, 0.2))
    assert dana.judge_heads(rows)[0].verdict is None
