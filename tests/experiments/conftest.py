"""Recorded results, judged once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

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
    """The judge of an experiment and the recorded results that it judges.

    Several tests ask about several claims of one experiment: the same rows are judged once.
    """

    @cache
    def rows_of(name: str) -> tuple[Callable[[Rows], list[Judgement]], Rows]:
        known = experiment(name)
        # Rows are told apart by identity, and kept so that no other row can have it.
        said: dict[tuple[tuple[str, tuple[int, ...]], ...], tuple[Rows, list[Judgement]]] = {}

        def judge(rows: Rows) -> list[Judgement]:
            same = tuple((study, tuple(map(id, some))) for study, some in rows.items())
            if same not in said:
                said[same] = rows, known.judge(rows)
            return said[same][1]

        return judge, recorded_rows(known)

    return rows_of


@pytest.fixture(scope="session")
def studies() -> dict[str, Study]:
    """Every study by name."""
    return {s.name: s for name in EXPERIMENTS for s in experiment(name).studies}
