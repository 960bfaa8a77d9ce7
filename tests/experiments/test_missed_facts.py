"""Why trained layers miss facts: the recorded study, judged by limits older than it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lemmax.numerics.experiments import readouts
from lemmax.numerics.experiments.studies import Judgement, recorded

STUDIES = (*readouts.FIRST.values(), *readouts.PAPERS.values())


def test_recorded_layers_miss_what_training_missed() -> None:
    for study in STUDIES:
        for row in recorded(study)[1]:
            told = row.inspected
            measured = round((1 - row.accuracy) * row.job.config.samples)
            assert abs(measured - told["missed"]) <= 1
            asked = min(told["missed"], readouts.MOST)
            assert [len(told.get(place, ())) for place in readouts.PLACES] == [asked, asked]


def test_recorded_margins_are_those_of_one_layer() -> None:
    """All facts have no wider margin than a part of them; no lower bound exceeds an upper one."""
    for study in STUDIES:
        for told in readouts.missing(recorded(study)[1]):
            for low, high in [told["all"], *told["attention"], *told["last"]]:
                assert low is None or high is None or low < high
            low, _ = told["all"]
            for _, high in told["attention"]:
                assert low is None or high is None or low <= high


@pytest.mark.claim("lemmax/mahdavi-misses-are-of-training", statement="9609af9f5ea10950")
def test_facts_that_mahdavi_layers_miss_can_be_read(recorded_rows_of: Any, measure: Any) -> None:
    measure(*recorded_rows_of("readouts"))


@pytest.mark.claim("lemmax/wong-attention-conflicts", statement="73f88fd6f15a1f11")
def test_wong_layers_that_miss_facts_conflict(recorded_rows_of: Any, measure: Any) -> None:
    measure(*recorded_rows_of("readouts"))


@pytest.mark.claim("lemmax/missed-facts-conflict-at-the-last-map", statement="ae16a8335a651c8b")
@pytest.mark.claim("lemmax/missed-facts-readable-from-attention", statement="b3271bf8a78f440a")
@pytest.mark.claim("lemmax/trained-attention-holds-all-facts", statement="489dfc9e3010f21e")
def test_one_paper_is_too_near_to_one_half(recorded_rows_of: Any, measure: Any) -> None:
    measure(*recorded_rows_of("readouts"), undecided=True)


def test_no_margin_is_undecided(judged: Callable[[str], dict[str, Judgement]]) -> None:
    """What is open is open because a share is near to one half, not because of the solver."""
    assert all(j.sentence.count(" 0 undecided") for j in judged("readouts").values())
