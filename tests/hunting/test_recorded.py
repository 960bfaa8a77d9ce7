"""What is recorded of the hunter still stands: its catches break the statements of today."""

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from lemmax.checker import check
from lemmax.constructions import shipped
from lemmax.theory.hunting import hunt, size_of
from lemmax.theory.hunting.question import Question
from lemmax.theory.hunting.sharpness import inequalities
from lemmax.theory.ledger.statements import refutable, statement_of

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"
CERTIFIED = "dana/any-dimension"  # breaks only with certified bounds beside it


def recorded(name: str) -> list[dict[str, Any]]:
    lines = (RESULTS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


CAUGHT = [row for row in recorded("hunting") if row["size"] is not None]


def test_the_catches_of_the_blind_test_break_their_statements() -> None:
    rows = recorded("hunting")
    assert 5 * len(CAUGHT) >= 4 * len(rows) >= 4 * 51
    for row in CAUGHT:
        instance, claim = row["instance"], row["claim"]
        assert row["size"] == size_of(instance) <= row["shipped"], claim
        answer = Question(statement_of(claim)).ask(instance).answer
        assert answer == ("open" if claim == CERTIFIED else "breaks"), claim
    assert shipped.load(CERTIFIED)["instance"]["p"] == next(
        row["instance"]["p"] for row in CAUGHT if row["claim"] == CERTIFIED
    )


def test_what_ships_is_larger_than_a_catch_only_where_the_page_says_why() -> None:
    ships = {row["claim"]: size_of(shipped.load(row["claim"])["instance"]) for row in CAUGHT}
    assert all(row["size"] <= ships[row["claim"]] for row in CAUGHT)
    page = (RESULTS.parents[1] / "docs" / "hunting.md").read_text(encoding="utf-8")
    reasons = page.split("and stay:")[1].split("## An alarm")[0]
    named = re.findall(r"^((?:\w+/[\w.-]+(?:, )?)+)\n: ", reasons, re.MULTILINE)
    kept = {claim for names in named for claim in names.split(", ")}
    assert kept == {row["claim"] for row in CAUGHT if row["size"] < ships[row["claim"]]}


def test_every_claim_had_the_same_time() -> None:
    assert {row["limit"] for row in recorded("hunting")} == {60}
    assert len({row["limit"] for row in recorded("hunting-alarm")}) == 1


def test_nothing_was_caught_that_holds() -> None:
    """And the assumptions were met, or else nothing was tested.

    Where an infimum is only enclosed, what satisfies them stays open, as the page says.
    """
    rows = recorded("hunting-alarm")
    assert len(rows) >= 49
    assert not [row["claim"] for row in rows if row["instance"] is not None]
    for row in rows:
        assert bool(row["met"]) != ("kl_infimum" in statement_of(row["claim"])), row["claim"]


def test_bounds_have_the_recorded_gap() -> None:
    rows = recorded("hunting-sharp")
    assert len(rows) >= 30
    for row in rows:
        bounds = dict(inequalities(statement_of(row["claim"])))
        assert row["bound"] in bounds, row["claim"]
        if row["instance"] is not None:
            told = Question(bounds[row["bound"]]).ask(row["instance"])
            assert str(told.slack) == row["gap"], row["claim"]
    never = {row["claim"] for row in rows if row["gap"] != "0"}
    strict = {"lemmax/codebook", "lemmax/t-epsilon", "mahdavi/quick-checks-general"}
    assert never == {"wong/proposition-3.5"} | strict


@pytest.mark.parametrize(
    "claim",
    [
        "dana/corollary-2",
        "dana/t-epsilon",
        "dana/value-map-keeps-rank",
        "mahdavi/one-hot",
        "wong/equation-5-diagonal",
        "wong/equation-9",
        "wong/threshold-largest",
    ],
)
def test_a_live_hunt_brings_home_what_ships_or_less(claim: str) -> None:
    """The whole way in seconds, without the record: search, shrink, certify, and the checker."""
    caught = hunt(refutable(claim), claim=claim, seconds=30, patience=4, clock=time.process_time)
    assert caught.size is not None
    assert caught.size <= size_of(shipped.load(claim)["instance"])
    verdict = check(json.loads(json.dumps(caught.certificate())))
    assert (verdict.holds, verdict.claim) == (True, claim)


def test_a_live_hunt_catches_nothing_that_holds() -> None:
    caught = hunt(statement_of("lemmax/argmax-rank-one-sharp"), seconds=2, largest=8)
    assert caught.instance is None
    assert caught.exhausted == 9
    assert caught.satisfied == 907
