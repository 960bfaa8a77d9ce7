"""Hypothesis climbs on the slack: what it reaches, and that without the target it does not."""

import sys
from fractions import Fraction
from typing import Any

import hypothesis
import pytest

from lemmax.theory.hunting import hunt
from lemmax.theory.hunting.question import Instance, Question, Told
from lemmax.theory.hunting.rounds import Job, Late, one_round
from lemmax.theory.hunting.targeting import targeted
from lemmax.theory.ledger.statements import statement_of

HIGH = "given M: matrix; conclude entry_sum(M) <= 400"


def seen(text: str, seed: int, examples: int = 120) -> list[tuple[Instance, Told]]:
    """All instances of a climb, and what was told of them."""
    asked, found = Question(text), []

    def see(instance: Instance) -> Told:
        found.append((instance, asked.ask(instance)))
        return found[-1][1]

    targeted(asked, seed, examples, see)
    return found


def test_the_target_on_the_slack_leads_to_where_a_bound_nearly_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Entries are drawn small: a sum near 400 is reached by a climb, or else hardly ever."""

    def gap(seed: int) -> Fraction:
        return min(told.slack for _, told in seen(HIGH, seed) if told.slack is not None)

    climbed = [gap(seed) for seed in range(5)]
    monkeypatch.setattr(hypothesis, "target", lambda *_, **__: None)
    assert 5 * sum(climbed) < sum(gap(seed) for seed in range(5))


def test_the_target_on_the_size_stays_where_a_statement_breaks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """There what breaks is made smaller, so that more of what is seen breaks."""
    text = statement_of("wong/rank-conditions")

    def caught(seed: int) -> int:
        return sum(told.answer == "breaks" for _, told in seen(text, seed))

    climbed = caught(0) + caught(1)
    monkeypatch.setattr(hypothesis, "target", lambda *_, **__: None)
    assert climbed > 2 * (caught(0) + caught(1))


def test_a_climb_is_the_same_for_the_same_seed_and_ends_in_time() -> None:
    first = seen(HIGH, 3)
    assert first == seen(HIGH, 3) != seen(HIGH, 4)
    assert len(first) == 120
    asked: list[Any] = []
    late = iter([False] * 7 + [True] * 999)

    def see(instance: Instance) -> Told:
        asked.append(instance)
        return Told("outside")

    targeted(Question(HIGH), 3, 120, see, lambda: next(late))
    assert asked == [instance for instance, _ in first[:7]]


def test_a_round_climbs_and_makes_its_catch_small() -> None:
    """The round that hypothesis has: a catch, shrunk, and how near the others came."""
    text = "given M: matrix; conclude entry_sum(M) <= 40"
    found = one_round(Job(text, 0, 2, None, Late(lambda: 0.0, 1.0)))
    assert found.caught == {"M": [["41"]]}
    assert found.tried == 240 >= found.met > 0
    assert found.tight is not None
    again = one_round(Job(text, 0, 2, found.caught, Late(lambda: 0.0, 1.0)))
    assert again.caught is None  # nothing is smaller


def test_without_hypothesis_there_is_no_climb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    assert seen(HIGH, 0) == []
    caught = hunt("given M: matrix; assume rank(M) == 1; conclude max_entry(M) > 0", seconds=5)
    assert caught.instance == {"M": [["-1"]]}
