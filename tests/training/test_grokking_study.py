"""The recorded study of grokking is that of the code that its page shows."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the study trains a torch module")

import torch
from benchmarks import grokking

from lemmax.numerics import Job, certify, train
from lemmax.numerics.engines.register import start

pytestmark = pytest.mark.training

PAGE = Path(__file__).parents[2] / "docs" / "tutorials" / "grokking.md"


@pytest.fixture(scope="module")
def recorded() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    header, *rows = map(json.loads, grokking.RESULTS.read_text(encoding="utf-8").splitlines())
    return header, rows


def test_the_record_is_of_this_study(recorded: Any) -> None:
    header, rows = recorded
    assert (header["p"], header["shown"]) == (grokking.P, grokking.SHOWN)
    assert header["recipe"] == grokking.RECIPE.to_json()
    assert header["model"] == dict(grokking.MODEL.options)
    steps = list(range(0, grokking.RECIPE.steps + 1, grokking.EVERY))
    for seed in range(grokking.SEEDS):
        assert [row["step"] for row in rows if row["seed"] == seed] == steps


def test_what_is_certified_lies_between_bounds_and_floats(recorded: Any) -> None:
    for row in recorded[1]:
        for part in ("shown", "others"):
            seen = row[part]
            assert ("certified" in seen) is (row["step"] % grokking.EXACT == 0)
            assert seen["bounded"] <= seen.get("certified", seen["accuracy"]) <= seen["accuracy"]


def test_the_network_groks(recorded: Any) -> None:
    """What is shown is known well before the rest, and in the end both are, by certificate."""
    for seed in range(grokking.SEEDS):
        own = [row for row in recorded[1] if row["seed"] == seed]
        known = next(row for row in own if row["shown"]["accuracy"] == 1.0)
        assert known["others"]["accuracy"] < 0.6
        assert own[-1]["shown"]["certified"] == 1.0
        assert own[-1]["others"]["certified"] > 0.95


def test_the_first_looks_are_those_of_a_second_run(
    recorded: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All steps of the schedule count, so that the beginning of the run is taken, not a short one.

    The last bits are the machine's: a few facts may be decided otherwise.
    """
    jobs = [Job(grokking.MODEL, seed) for seed in range(grokking.SEEDS)]
    run: Any = start(jobs, grokking.RECIPE, "own")
    assert run.vmapped
    looks = [row for row in recorded[1] if row["step"] == grokking.EVERY]
    run.advance(grokking.EVERY)
    for row, measured, weights in zip(looks, run.measured(), run.weights(), strict=True):
        assert measured.loss == pytest.approx(row["loss"], rel=0.02)
        assert measured.accuracy == pytest.approx(row["shown"]["accuracy"], abs=0.03)
        some = grokking.facts()[0][:20]
        decided = certify(weights, some, heads=4, activation="relu", norm="none")
        module = grokking.MODEL.make(0)
        module.load_state_dict({name: torch.from_numpy(x) for name, x in weights.items()})
        pairs = torch.tensor([fact[:2] for fact in some])
        right = module(pairs).argmax(-1) == torch.tensor([fact[2] for fact in some])
        assert float(decided.share) == pytest.approx(float(right.double().mean()), abs=0.051)


def test_the_study_itself_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grokking, "EVERY", 2)
    rows = grokking.watched([Job(grokking.MODEL, 5)], grokking.RECIPE.changed(steps=3))
    assert [(row["seed"], row["step"]) for row in rows] == [(5, 0), (5, 2), (5, 3)]
    assert "certified" in rows[0]["others"]
    (trained,) = train([Job(grokking.MODEL, 5)], grokking.RECIPE.changed(steps=3))
    assert rows[-1]["loss"] == trained.measured.loss


def test_the_page_shows_the_code_that_made_the_record() -> None:
    text = PAGE.read_text(encoding="utf-8")
    source = Path(grokking.__file__).read_text(encoding="utf-8")
    tree = ast.parse(source)
    names = {n.name for n in tree.body if isinstance(n, ast.ClassDef | ast.FunctionDef)}
    shown = re.findall(r":pyobject: (\w+)", text)
    assert {"Transformer", "watched"} <= set(shown) <= names
    for start_at, end in re.findall(r":start-at: (.*)\n:end-before: (.*)\n", text):
        assert 0 <= source.index(start_at) < source.index(end)
