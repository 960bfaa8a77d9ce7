"""Recipes are data with names, and their schedules are those of torch."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import pytest

from lemmax.numerics.experiments.studies import RECORDED
from lemmax.numerics.training.recipes import RECIPES, Recipe, UnknownRecipe, recipe
from lemmax.theory.errors import LemmaxError


def test_the_recipes_that_the_papers_need_have_names() -> None:
    wanted = {"wong-guess", "dana-text", "dana-code", "mahdavi-code", "mahdavi-small"}
    assert wanted <= set(RECIPES)
    assert {r.family for r in RECIPES.values() if r.batch is None} == {"wong", "dana", "mahdavi"}
    assert all(name == r.name for name, r in RECIPES.items())


def test_an_unknown_recipe_lists_the_known_ones() -> None:
    with pytest.raises(UnknownRecipe) as caught:
        recipe("dana-cod")
    assert all(name in str(caught.value) for name in RECIPES)


def test_every_field_enters_the_key() -> None:
    base = recipe("mahdavi-code")
    other: dict[str, Any] = {
        "name": "x",
        "family": "dana",
        "schedule": "constant",
        "dtype": "float64",
        "init": "linear",
        "optimiser": "sgd",
        "both_positions": False,
        "stop": 0.5,
        "batch": 128,
        "pool": 512,
    }
    keys = {base.key}
    names = [field.name for field in fields(base)]
    for name in names:
        if name == "momentum":
            continue  # Adam has none
        changed = other[name] if name in other else (getattr(base, name) or 0) + 1
        keys.add(base.changed(**{name: changed}).key)
    keys.add(base.changed(optimiser="sgd", momentum=0.5).key)
    assert len(keys) == len(names) + 1


def test_the_keys_of_recorded_results_stay_what_they_were() -> None:
    """A field that a recipe leaves as it is by default is not part of its key."""
    assert recipe("wong-guess").key == "c060f731a5dd25f3"
    assert recipe("dana-code").key == "d196c245ac3a7c27"
    names = set(recipe("dana-code").to_json())
    assert not names & {"optimiser", "weight_decay", "momentum"}
    decayed = recipe("dana-code").changed(weight_decay=0.5)
    assert decayed.to_json() == recipe("dana-code").to_json() | {"weight_decay": 0.5}
    found = 0
    for file in RECORDED.iterdir():
        header = json.loads(file.read_text(encoding="utf-8").partition("\n")[0])
        again = Recipe(**header["recipe"])
        assert again.to_json() == header["recipe"], file
        found += 1
    assert found > 20


@pytest.mark.parametrize(
    "fields",
    [
        {"steps": 0},
        {"dtype": "float16"},
        {"schedule": "zigzag"},
        {"batch": 0},
        {"pool": 100, "batch": 33},
        {"stop": 0.5, "check_every": 0},
        {"no_such_field": 0.9},
        {"optimiser": "adagrad"},
        {"weight_decay": -0.1},
        {"momentum": 0.9},
        {"optimiser": "sgd", "momentum": 1.0},
        {"optimiser": "sgd", "momentum": -0.1},
        {"init": "xavier"},
    ],
)
def test_bad_fields_are_refused_with_a_sentence(fields: dict[str, Any]) -> None:
    with pytest.raises(LemmaxError, match=r"\.$"):
        recipe("dana-code").changed(**fields)


def test_an_unknown_initialisation_lists_the_known_ones() -> None:
    with pytest.raises(LemmaxError) as caught:
        recipe("wong-guess").changed(init="xavier")
    assert "'xavier'" in str(caught.value)
    assert all(r.init in str(caught.value) for r in RECIPES.values())


def test_steps_grow_with_the_data_where_the_recipe_says_epochs() -> None:
    code = recipe("mahdavi-code")
    assert code.steps_for(10_000) == 50_000
    assert code.steps_for(100_000) == 500 * 100_000 // 256


def _rates(schedule: Any, steps: int) -> list[float]:
    found = []
    for _ in range(steps):
        found.append(schedule.get_last_lr()[0])
        schedule.optimizer.step()
        schedule.step()
    return found


@pytest.mark.training
def test_rates_are_those_of_torch_schedulers() -> None:
    import torch
    from torch.optim import lr_scheduler

    def adam(rate: float) -> torch.optim.Adam:
        return torch.optim.Adam([torch.zeros(1, requires_grad=True)], lr=rate)

    linear = recipe("dana-code").changed(steps=100)
    expected = _rates(lr_scheduler.LinearLR(adam(0.1), 0.1, 0.005, 100), 100)
    assert [linear.rate(t, 100) for t in range(100)] == pytest.approx(expected, rel=1e-12)

    # five warm-up steps in a hundred, then half a cosine over the other 95
    cosine = recipe("mahdavi-code")
    expected = _rates(lr_scheduler.LinearLR(adam(1e-3), 0.01, 1.0, 5), 5)
    expected += _rates(lr_scheduler.CosineAnnealingLR(adam(1e-3), 95), 95)
    assert [cosine.rate(t, 100) for t in range(100)] == pytest.approx(expected, rel=1e-9)

    warm = recipe("wong-guess").changed(schedule="warmup", start_factor=0.1, warmup=0.2)
    expected = _rates(lr_scheduler.LinearLR(adam(1e-2), 0.1, 1.0, 20), 100)
    assert [warm.rate(t, 100) for t in range(100)] == pytest.approx(expected, rel=1e-9)

    falling = recipe("wong-guess").changed(schedule="exponential", end_factor=0.05)
    expected = _rates(lr_scheduler.ExponentialLR(adam(1e-2), 0.05 ** (1 / 100)), 100)
    assert [falling.rate(t, 100) for t in range(100)] == pytest.approx(expected, rel=1e-9)


def test_the_effective_rate_of_the_public_code_runs_from_a_hundredth_down() -> None:
    code = recipe("dana-code")
    assert code.rate(0, code.steps) == pytest.approx(1e-2)
    assert code.rate(code.steps, code.steps) == pytest.approx(5e-4)
