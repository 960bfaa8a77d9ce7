"""One's own torch modules: trained as torch would, all seeds at once where that is possible."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="modules are torch's")

import torch
from tests.training import own_modules
from torch.nn import functional

from lemmax.numerics import Job, Own, recipe, sweep, train
from lemmax.numerics.engines.register import plan, start
from lemmax.numerics.training.jobs import batches, job_from_json
from lemmax.numerics.training.recipes import Recipe
from lemmax.numerics.training.sweeps import kept_weights
from lemmax.theory.errors import LemmaxError

pytestmark = pytest.mark.training

HERE = "tests.training.own_modules"
MINE = Recipe("mine", "own", steps=40, learning_rate=1e-2, dtype="float64", weight_decay=0.1)


def net(extra: str = "", **more: Any) -> Own:
    options = {"p": 5, "d": 6, "extra": extra}
    return Own(own_modules.net, own_modules.additions, options, **more)


def by_hand(job: Job, chosen: Recipe) -> dict[str, np.ndarray[Any, Any]]:
    """A training loop as anyone would write it."""
    config = job.config
    assert isinstance(config, Own)
    module = config.make(job.seed).double()
    (inputs,), targets = config.tensors()
    trained = [p for p in module.parameters() if p.requires_grad]
    optimiser = torch.optim.AdamW(trained, lr=1e-2, weight_decay=chosen.weight_decay)
    for step in range(chosen.steps):
        rows: Any = slice(None)
        if chosen.batch is not None:
            count = len(targets) // chosen.batch
            order = batches(job, chosen, step // count)
            assert order is not None
            rows = torch.as_tensor(order[step % count])
        optimiser.zero_grad()
        loss = functional.cross_entropy(module(inputs[rows]), targets[rows])
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    return {name: x.detach().numpy() for name, x in module.state_dict().items()}


@pytest.mark.parametrize("batch", [None, 5])
@pytest.mark.parametrize(("extra", "vmapped"), [("", True), ("tied", True), ("batchnorm", False)])
def test_seeds_are_trained_as_by_hand(extra: str, vmapped: bool, batch: int | None) -> None:
    """Vmapped or one by one; buffers and frozen parameters stay, running averages run."""
    jobs = [Job(net(extra), seed) for seed in range(3)]
    chosen = MINE.changed(batch=batch)
    (members,) = plan(jobs, chosen, "own")
    run: Any = start([jobs[n] for n in members], chosen, "own")
    assert run.vmapped is vmapped
    results = train(jobs, chosen)
    for job, result in zip(jobs, results, strict=True):
        expected = by_hand(job, chosen)
        assert set(result.weights) == set(expected)
        for name, array in expected.items():
            assert np.abs(result.weights[name] - array).max() < 1e-9, name
    first, second = (r.weights["hidden.weight"] for r in results[:2])
    assert np.abs(first - second).max() > 1e-2  # seeds differ


@pytest.mark.parametrize("extra", ["", "dropout", "batchnorm"])
def test_a_run_continues_bit_for_bit(extra: str) -> None:
    jobs = [Job(net(extra), seed) for seed in range(2)]
    chosen = MINE.changed(batch=5)
    whole, second = (start(jobs, chosen, "own") for _ in range(2))
    whole.advance(17)
    second.restore(whole.state())
    for run in (whole, second):
        run.advance(40)
    for a, b in zip(whole.weights(), second.weights(), strict=True):
        assert all(np.array_equal(a[name], b[name]) for name in a)


def test_what_is_measured_is_the_module_that_comes_back() -> None:
    (trained,) = train([Job(net(), 1)], MINE.changed(steps=1500, weight_decay=0.0))
    assert trained.measured.accuracy == 1.0
    module = trained.module()
    (inputs,), targets = net().tensors()
    with torch.no_grad():
        logits = module(inputs)
    assert bool((logits.argmax(-1) == targets).all())
    assert trained.measured.loss == pytest.approx(float(functional.cross_entropy(logits, targets)))
    with pytest.raises(LemmaxError, match="module"):
        trained.model()


def test_regression_and_a_loss_of_ones_own() -> None:
    config = Own(own_modules.line, own_modules.regression, {"width": 8})
    (plain,) = train([Job(config)], MINE.changed(steps=300, weight_decay=0.0))
    assert plain.measured.accuracy is None
    assert plain.measured.loss < 1e-3
    other = Own(
        own_modules.line, own_modules.regression, {"width": 8}, loss=own_modules.largest_error
    )
    (worst,) = train([Job(other)], MINE.changed(steps=300, weight_decay=0.0))
    (inputs,), targets = other.tensors()
    with torch.no_grad():
        error = float((worst.module()(inputs.double()) - targets).abs().max())
    assert worst.measured.loss == pytest.approx(error)


def test_watching_sees_the_run_from_beginning_to_end() -> None:
    seen: list[tuple[int, float]] = []
    jobs = [Job(net(), seed) for seed in range(2)]
    results = train(
        jobs,
        MINE,
        every=15,
        watch=lambda now: seen.append((now[0].measured.steps, now[0].measured.loss)),
    )
    assert [step for step, _ in seen] == [0, 15, 30, 40]
    assert seen[-1][1] == results[0].measured.loss < seen[0][1]
    assert train(jobs, MINE)[1].measured == results[1].measured  # watching changes nothing


def test_a_sweep_keeps_weights_on_demand(tmp_path: Path) -> None:
    """In processes too; what was trained without is trained again, alike."""
    file = tmp_path / "results.jsonl"
    jobs = [Job(net(), seed) for seed in range(2)] + [Job(net("tied"), 0)]
    records = sweep(jobs, MINE, file)
    key = records[0]["key"]
    with pytest.raises(LemmaxError, match="no weights"):
        kept_weights(file, key)
    again = sweep(jobs, MINE, file, keep="weights", workers=2)
    assert json.loads(json.dumps(records)) == again
    expected = train(jobs[:2], MINE)
    for trained, record in zip(expected, records, strict=False):
        kept = kept_weights(file, record["key"])
        assert all(np.array_equal(kept[name], array) for name, array in trained.weights.items())
    before = {
        path: path.stat().st_mtime_ns for path in (tmp_path / "results.jsonl.weights").iterdir()
    }
    assert len(before) == 3
    sweep(jobs, MINE, file, keep="weights")
    assert before == {path: path.stat().st_mtime_ns for path in before}


def test_weights_of_the_papers_models_are_kept_too(tmp_path: Path) -> None:
    from lemmax.numerics import Wong

    job = Job(Wong(2, 1, 1, 1, ((0, 2, 3), (1, 2, 4))))
    short = recipe("wong-guess").changed(steps=20)
    (record,) = sweep([job], short, tmp_path / "r.jsonl", backend="reference", keep="weights")
    (trained,) = train([job], short, "reference")
    kept = kept_weights(tmp_path / "r.jsonl", record["key"])
    assert all(np.array_equal(kept[name], array) for name, array in trained.weights.items())


def test_jobs_are_plain_data() -> None:
    job = Job(net(data_options={"share": 0.6}), 3)
    assert job_from_json(job.to_json()) == job
    assert job.config.samples == 15
    assert job.to_json()["module"] == f"{HERE}:net"
    assert job.key(MINE) != Job(net(), 3).key(MINE)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: Own(lambda: torch.nn.Identity(), own_modules.additions), "found by its name"),
        (lambda: Own("nowhere:net", own_modules.additions), "found by its name"),
        (lambda: Own(own_modules.net, own_modules.additions, {"p": np.zeros(3)}), "numbers, texts"),
        (lambda: train([Job(net())], "wong-guess"), "is for wong"),
        (lambda: train([Job(net())], MINE, "numba"), "of one's own"),
        (lambda: train([Job(net())], MINE.changed(stop=0.5, check_every=2)), "no early end"),
        (lambda: train([Job(net())], MINE, device="cuda:99"), "no device"),
        (lambda: sweep([Job(net())], MINE, "x.jsonl", keep="all"), "'all'"),  # type: ignore[arg-type]
    ],
)
def test_bad_input_is_one_sentence(call: Any, sentence: str) -> None:
    with pytest.raises(LemmaxError, match=sentence):
        call()
