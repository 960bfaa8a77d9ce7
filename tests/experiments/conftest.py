"""Recorded results, judged once."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lemmax.numerics.experiments import EXPERIMENTS, experiment
from lemmax.numerics.experiments.studies import Judgement, Rows, Study, recorded_rows


@pytest.fixture(scope="session")
def judged() -> Callable[[str], dict[str, Judgement]]:
    """What the recorded results of an experiment say, by claim."""
    known: dict[str, dict[str, Judgement]] = {}

    def judge(name: str) -> dict[str, Judgement]:
        if name not in known:
            found = experiment(name)
            known[name] = {j.claim: j for j in found.judge(recorded_rows(found))}
        return known[name]

    return judge


@pytest.fixture(scope="session")
def recorded_rows_of() -> Callable[[str], tuple[Callable[[Rows], list[Judgement]], Rows]]:
    """The judge of an experiment and the recorded results that it judges."""

    def rows_of(name: str) -> tuple[Callable[[Rows], list[Judgement]], Rows]:
        known = experiment(name)
        return known.judge, recorded_rows(known)

    return rows_of


@pytest.fixture(scope="session")
def studies() -> dict[str, Study]:
    """Every study by name."""
    return {s.name: s for name in EXPERIMENTS for s in experiment(name).studies}
