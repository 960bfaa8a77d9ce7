"""What the recorded runs of the reduced experiments of Mahdavi et al. say about the claims."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest

from lemmax.numerics.experiments.mahdavi import sizes as mahdavi
from lemmax.numerics.experiments.studies import Judgement, Row, Study, recorded
from lemmax.numerics.training.configurations import Mahdavi

Judged: TypeAlias = Callable[[str], dict[str, Judgement]]
Measure: TypeAlias = Callable[..., None]
RowsOf: TypeAlias = Callable[[str], tuple[Any, Any]]


@pytest.mark.parametrize(
    ("name", "claim"),
    [
        ("mahdavi-heads", "mahdavi/linear-in-heads"),
        ("mahdavi-dh", "mahdavi/head-dimension"),
    ],
)
def test_data_older_than_the_limits_decide_nothing(name: str, claim: str) -> None:
    """The limits were chosen when these repetitions were known; fresh ones are asked."""
    study = {s.name: s for s in (mahdavi.HEADS, mahdavi.HEAD_DIMENSION)}[name]
    judge = mahdavi.judge_heads if name == "mahdavi-heads" else mahdavi.judge_head_dimension
    (judgement,) = judge({name: recorded(study)[1]})
    assert (judgement.claim, judgement.verdict) == (claim, None)
    assert "older than the limits" in judgement.sentence


@pytest.mark.claim("mahdavi/linear-in-heads", grade="empirical", statement="7789d8fc498b3d46")
def test_memorization_grows_linearly_in_the_heads(
    recorded_rows_of: RowsOf, measure: Measure
) -> None:
    measure(*recorded_rows_of("mahdavi-heads"))


@pytest.mark.claim("mahdavi/head-dimension", grade="empirical", statement="5985abbf6a02fd50")
def test_memorization_grows_with_the_head_dimension_up_to_n(
    recorded_rows_of: RowsOf, measure: Measure
) -> None:
    measure(*recorded_rows_of("mahdavi-dh"))


@pytest.mark.claim("mahdavi/monotone-in-context", grade="empirical", statement="6b03dba53de04f96")
def test_memorization_grows_with_the_context(recorded_rows_of: RowsOf, measure: Measure) -> None:
    measure(*recorded_rows_of("mahdavi-context"))


def test_more_is_memorized_than_the_theorem_promises() -> None:
    for study in (mahdavi.HEADS, mahdavi.CONTEXT, mahdavi.HEAD_DIMENSION):
        for row in recorded(study)[1]:
            c = row.job.config
            assert isinstance(c, Mahdavi)
            assert row.accuracy * c.T >= c.H * (min(c.n, c.d_h) - 1) + 1


@pytest.mark.parametrize(
    ("judge", "study", "share", "verdict"),
    [
        (mahdavi.judge_heads, mahdavi.HEADS_AGAIN, lambda c: c.H / 9, "reproduced"),
        (mahdavi.judge_heads, mahdavi.HEADS_AGAIN, lambda c: 2.0 ** (c.H - 7), "not-reproduced"),
        (mahdavi.judge_context, mahdavi.CONTEXT, lambda c: c.n / 20, "reproduced"),
        (mahdavi.judge_context, mahdavi.CONTEXT, lambda c: 1 / c.n, "not-reproduced"),
        (mahdavi.judge_context, mahdavi.CONTEXT, lambda c: 0.5 + 0.2 * (c.n == 8), None),
        (
            mahdavi.judge_head_dimension,
            mahdavi.HEAD_DIMENSION_AGAIN,
            lambda c: min(c.d_h, 4) / 5,
            "reproduced",
        ),
        (
            mahdavi.judge_head_dimension,
            mahdavi.HEAD_DIMENSION_AGAIN,
            lambda c: c.d_h / 17,
            "not-reproduced",
        ),
    ],
)
def test_planted_curves_are_told_apart(
    judge: Callable[[Any], list[Judgement]],
    study: Study,
    share: Callable[[Mahdavi], float],
    verdict: str | None,
) -> None:
    (judgement,) = judge({study.name: _planted(study, share)})
    assert judgement.verdict == verdict, judgement.sentence


def _planted(study: Study, share: Callable[[Mahdavi], float]) -> list[Row]:
    random, rows = np.random.default_rng(2), []
    for job in study.jobs("paper"):
        assert isinstance(job.config, Mahdavi)
        accuracy = share(job.config) + random.normal(0, 0.004)
        rows.append(Row(job, 3000, 0.0, accuracy, {}, None))
    return rows
