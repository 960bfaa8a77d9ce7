"""Footnote 8 of Dana: the scatter over starts, judged on planted accuracies and on the record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lemmax.numerics.experiments.dana import starts
from lemmax.numerics.experiments.studies import Row, Rows
from lemmax.numerics.training.configurations import Dana
from lemmax.theory.errors import LemmaxError


@pytest.mark.claim("dana/footnote-8", statement="e5f5acd10df312a1")
def test_scatter_over_starts_in_the_plane(recorded_rows_of: Any, measure: Any) -> None:
    measure(*recorded_rows_of("dana-starts"))


@pytest.mark.claim("dana/footnote-8-relative", statement="bfac20e86710d0ab")
def test_relative_scatter_over_starts_in_the_plane(recorded_rows_of: Any, measure: Any) -> None:
    measure(*recorded_rows_of("dana-starts"), undecided=True)


def planted(
    scatter: Callable[[Dana], float], mean: Callable[[Dana], float] = lambda c: 0.5
) -> dict[str, list[Row]]:
    """Accuracies of a given mean and standard deviation for every job of both studies."""
    random = np.random.default_rng(0)
    rows = {}
    for study in (starts.TEXT, starts.CODE):
        rows[study.name] = [
            Row(job, 1, 0.0, 0.0, {}, mean(job.config) + scatter(job.config) * random.normal())
            for job in study.jobs("paper")
            if isinstance(job.config, Dana)
        ]
    return rows


def verdicts(rows: Rows) -> list[object]:
    return [judgement.verdict for judgement in starts.judge(rows)]


def test_more_scatter_less_scatter_and_as_much() -> None:
    assert verdicts(planted(lambda c: 0.04 if c.N == 50 else 0.01)) == ["reproduced"] * 2
    assert verdicts(planted(lambda c: 0.01 if c.N == 50 else 0.04)) == ["not-reproduced"] * 2
    assert verdicts(planted(lambda c: 0.02)) == [None] * 2


def test_a_setting_that_differs_and_the_second_reading() -> None:
    other = planted(lambda c: 0.04 if (c.N == 50) == (c.maps == "shared") else 0.01)
    assert verdicts(other) == ["recipe-dependent"] * 2
    # half of the scatter around a tenth of the mean: less as it is, more over the mean
    low = planted(lambda c: 0.01 if c.N == 50 else 0.03, lambda c: 0.05 if c.N == 50 else 0.5)
    assert verdicts(low) == ["not-reproduced", "reproduced"]


def test_settings_that_were_not_trained_leave_it_open_unless_the_others_differ() -> None:
    def coded(scatter: Callable[[Dana], float]) -> list[object]:
        return verdicts({starts.CODE.name: planted(scatter)[starts.CODE.name]})

    assert coded(lambda c: 0.04 if c.N == 50 else 0.01) == [None] * 2
    assert coded(lambda c: 0.01 if c.N == 50 else 0.04) == [None] * 2
    differing = coded(lambda c: 0.04 if (c.N == 50) == (c.maps == "shared") else 0.01)
    assert differing == ["recipe-dependent"] * 2


def test_every_setting_has_its_tables_and_starts() -> None:
    found = starts.settings(planted(lambda c: 0.01))
    assert len(found) == len(starts.TEXT_MODELS) + len(starts.CODE_MODELS) == 8
    sizes = {table.shape for tables in found.values() for table in tables.values()}
    assert sizes == {(starts.TABLES, starts.STARTS)}
    seeds = {
        (job.config.data_seed, job.seed)
        for job in starts.CODE.jobs("paper")
        if isinstance(job.config, Dana)
    }
    assert len(seeds) == starts.TABLES * starts.STARTS


def test_a_table_that_is_not_finished_is_left_out() -> None:
    rows = planted(lambda c: 0.01)
    name = starts.CODE.name
    del rows[name][-1]
    found = starts.settings(rows)
    assert sorted(len(tables[50]) for tables in found.values()) == [7] + [8] * 7
    with pytest.raises(LemmaxError, match="all of its starts"):
        starts.judge({study: [] for study in rows})
