"""One criterion for each word, tried on settings that agree, differ, or cannot be told apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from lemmax.numerics.experiments import criteria
from lemmax.numerics.experiments.criteria import Asked
from lemmax.numerics.experiments.statistics import Estimate
from lemmax.theory.errors import LemmaxError

BELOW, INSIDE, ABOVE = (-3.0, -2.0), (-0.5, 0.5), (2.0, 3.0)
LOW_END, HIGH_END, WIDE = (-1.5, -0.5), (0.5, 1.5), (-3.0, 3.0)


def settings(*intervals: tuple[float, float]) -> dict[str, list[Asked]]:
    """One question, is it within -1 and 1, in several settings."""
    return {
        f"{n}": [Asked("size", Estimate((a + b) / 2, a, b), -1.0, 1.0)]
        for n, (a, b) in enumerate(intervals)
    }


@pytest.mark.parametrize(
    ("intervals", "verdict"),
    [
        ([INSIDE], "reproduced"),
        ([INSIDE, INSIDE], "reproduced"),
        ([BELOW], "not-reproduced"),
        ([BELOW, BELOW], "not-reproduced"),
        ([INSIDE, BELOW], "recipe-dependent"),
        ([BELOW, ABOVE], "recipe-dependent"),
        ([LOW_END, ABOVE], "recipe-dependent"),  # below or inside, and surely above
        ([LOW_END, BELOW], None),
        ([LOW_END, HIGH_END], None),  # both may be inside
        ([WIDE, ABOVE], None),
        ([LOW_END], None),
        ([INSIDE, LOW_END], None),
    ],
)
def test_the_word_follows_from_the_intervals(
    intervals: list[tuple[float, float]], verdict: str | None
) -> None:
    assert criteria.verdict(settings(*intervals)) == verdict
    assert criteria.verdict(settings(*reversed(intervals))) == verdict


def test_different_questions_are_not_compared() -> None:
    below, above = (Estimate(x, x, x) for x in (-2.0, 2.0))
    asked = {"a": [Asked("first", below, -1, 1)], "b": [Asked("second", above, -1, 1)]}
    assert criteria.verdict(asked) == "not-reproduced"


@pytest.mark.parametrize("asked", [{}, {"a": []}])
def test_nothing_asked_is_no_verdict(asked: dict[str, list[Asked]]) -> None:
    with pytest.raises(LemmaxError, match="asks a question"):
        criteria.verdict(asked)


def test_no_judge_has_a_criterion_of_its_own() -> None:
    """The words of verdicts stand in one module; every judge asks questions and no more."""
    folder = Path(criteria.__file__).parent
    words = ("reproduced", "not-reproduced", "recipe-dependent")
    for path in sorted(folder.rglob("*.py")):
        named = [w for w in words if f'"{w}"' in path.read_text(encoding="utf-8")]
        assert not named or path.name == "criteria.py", path
