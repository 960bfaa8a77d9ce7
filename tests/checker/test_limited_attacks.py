"""The processes in which attacks run: what the system stops is seen, and a run can be resumed."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from benchmarks import attack_checker, second_judges
from benchmarks.attacks import campaign, more_words
from benchmarks.attacks.limited import Checker

STAND_IN = """
import os, signal, sys
def main(arguments):
    text = open(arguments[0]).read()
    if text == "raise":
        raise KeyError("a word")
    if text == "kill":
        os.kill(os.getpid(), signal.SIGXCPU)
    if text == "memory":
        bytearray(2_000_000_000)
    if text == "talk":
        print("one\\ntwo", file=sys.stderr)
        return 2
    if text == "refuse":
        print("one", file=sys.stderr)
    return {"holds": 0, "fails": 1, "refuse": 2}[text]
"""


def test_what_the_system_stops_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "command.py").write_text(STAND_IN, encoding="utf-8")
    asked = ["holds", "raise", "fails", "kill", "refuse", "memory", "talk", "holds"]
    with Checker(tmp_path) as checker:
        answers = checker.ask([text.encode() for text in asked])
        assert [answer.said for answer in answers] == [
            *("holds", "traceback", "fails", "stopped", "refused", "traceback", "refused", "holds")
        ]
        faults = {text: answer.fault for text, answer in zip(asked, answers, strict=True)}
        assert 5 < checker.megabytes < 1000
    assert "KeyError: 'a word'" in faults["raise"]
    assert "stopped with -24" in faults["kill"]
    assert "MemoryError" in faults["memory"]
    assert "not one line" in faults["talk"]
    assert not any(faults[text] for text in ("holds", "fails", "refuse"))


def test_a_run_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every attack once; a second run draws nothing, and a fault makes the run fail."""
    results = tmp_path / "attacks.jsonl"
    assert campaign.run(3, 2, (0, 2), results)
    assert campaign.run(3, 2, (1, 2), results)
    first = results.read_text(encoding="utf-8")
    assert {p["attack"] for p in map(json.loads, first.splitlines())} == set(campaign.CAMPAIGN)
    monkeypatch.setattr(campaign, "part", lambda *_: pytest.fail("it was done"))
    assert campaign.run(3, 2, (0, 1), results)
    assert results.read_text(encoding="utf-8") == first
    assert (
        campaign.table(results)
        .splitlines()[-1]
        .startswith(f"| all | {2 * len(campaign.CAMPAIGN) - 1} |")
    )
    count = f"{2 * len(campaign.CAMPAIGN) - 1}"
    assert campaign.said(results).startswith(f"{count} certificates were attacked")
    assert f"By the checker as it is now: {count}, of which" in campaign.said(results)
    monkeypatch.setattr(campaign, "digest", lambda: "of other sources")
    assert "By the checker as it is now: 0, of which 0 accepted" in campaign.said(results)
    monkeypatch.undo()
    monkeypatch.setitem(attack_checker.JUDGES, "witness", lambda _: False)
    monkeypatch.setitem(attack_checker.JUDGES, "refutation", lambda _: False)
    monkeypatch.setattr(campaign, "CAMPAIGN", {"mutants": campaign.statement_mutant})
    assert not campaign.run(4, 8, (0, 1), results)


def test_second_opinions_on_logarithms_and_bounds() -> None:
    half, third = more_words.log_odds(Fraction(1, 2)), more_words.log_odds(Fraction(1, 3))
    assert half == 0
    assert third < 0
    assert more_words.log_odds(Fraction(4, 5)) == -2 * third  # ln 4
    assert more_words.log_odds(Fraction(3, 4)) != third
    between = more_words.Bounds(Fraction(2), Fraction(3))
    assert between > 1
    assert between <= 3
    assert 1 - between < 0
    with pytest.raises(more_words.Unknown):
        assert between == 3
    unit = [[[Fraction(i == j == k) for i in range(2)] for j in range(2)] for k in range(2)]
    assert more_words.tensor_rank(unit) == 2
    w = [[[Fraction(i + j + k == 1) for i in range(2)] for j in range(2)] for k in range(2)]
    assert more_words.tensor_rank(w) >= 2
    assert more_words.tensor_rank(w) <= 3


def test_shipped_statements_have_a_second_opinion() -> None:
    """All but three, which rest on infima and on fields."""
    stated = [c for c in attack_checker.SHIPPED if c["kind"] in ("refutation", "witness")]
    told = [second_judges.judged_statement(c) for c in stated]
    assert told.count(None) == 3
    assert told.count(True) == len(stated) - 3
