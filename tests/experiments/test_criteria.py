"""One criterion for each word, tried on settings that agree, differ, or cannot be told apart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lemmax.numerics.experiments import criteria
from lemmax.numerics.experiments.criteria import Asked
from lemmax.numerics.experiments.statistics import Estimate
from lemmax.numerics.experiments.studies import Judgement
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


# Claims whose question or limits came into the history after their data, and which settings' data.
LATE = {
    "wong-fig2": {"wong/figure-2b-spread": "these results"},
    "wong-fig3": {
        **dict.fromkeys(
            (f"wong/figure-3{end}" for end in ("a", "a-most", "d", "-half", "-stronger")),
            "these results",
        ),
        "wong/value-counts-overestimate": "these results",
    },
    "wong-fig4": dict.fromkeys(
        (
            f"wong/figure-4-{end}"
            for end in ("vo", "qk", "small-vo", "large-vo", "detrimental", "qk-alone")
        ),
        "these results",
    ),
    "wong-certified": {"wong/equation-9-likely": "these results"},
    "dana-fig1a": {
        "dana/faster-than-bound": "the results of dana-code, d_h = 10",
        "dana/nearer-than-previous": "these results",
    },
    "dana-fig1b": {
        "dana/equal-dimensions": "the results of dana-code, a map for each head; "
        "dana-code, shared maps"
    },
    "dana-fig2b": {"dana/figure-2b-recorded": "these results"},
    "dana-fig4": {"dana/twice-as-fast": "these results"},
}


@pytest.mark.parametrize("name", LATE)
def test_limits_that_are_younger_than_the_data_say_so(
    name: str, judged: Callable[[str], dict[str, Judgement]]
) -> None:
    said = "The question and its limits were chosen when {} were known."
    for claim, judgement in judged(name).items():
        late = LATE[name].get(claim)
        assert late is None or judgement.sentence.endswith(said.format(late)), claim
        assert ("were chosen when" in judgement.sentence) == (late is not None), claim


def test_only_settings_that_exist_can_have_been_known() -> None:
    with pytest.raises(LemmaxError, match="no setting 'x'"):
        criteria.judged("a/b", settings(INSIDE), "A size.", ["x"])


def test_repetitions_that_were_added_after_a_look_are_told(
    judged: Callable[[str], dict[str, Judgement]],
) -> None:
    sentence = judged("dana-fig1a")["dana/figure-1a"].sentence
    assert "Planned were 2 repetitions of dana-text" in sentence
    assert "3 were added since that left the question open" in sentence
