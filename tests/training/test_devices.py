"""Another device: what `lemmax doctor --device` says, and that nothing is left on the CPU.

No GPU is needed. That all tensors of a step are on the device that was named is tried with torch's
fake tensors on the device ``meta``, whose operations refuse a tensor of another device.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

pytest.importorskip("torch", reason="devices are torch's")

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from lemmax.cli import main
from lemmax.numerics.engines import devices
from lemmax.numerics.engines.register import plan, start
from lemmax.numerics.experiments import EXPERIMENTS, experiment
from lemmax.numerics.experiments import studies as frame
from lemmax.numerics.training import sweeps
from lemmax.numerics.training.jobs import Job
from lemmax.numerics.training.recipes import Recipe

pytestmark = pytest.mark.training


def lemmax(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


def test_the_doctor_compares_a_device_with_the_cpu(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = lemmax(capsys, "doctor", "--device", "cpu")
    assert status == 0
    assert "cpu trains as the CPU does" in out
    assert out.count("agrees") == 6
    assert "DIFFERS" not in out


def test_the_doctor_tells_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = lemmax(capsys, "doctor", "--device", "cpu", "--json")
    told = json.loads(out)
    assert (status, told["device"], told["agrees"]) == (0, "cpu", True)
    families = {(one["family"], one["dtype"]) for one in told["compared"]}
    assert families == {(f, t) for f in ("wong", "dana", "mahdavi") for t in ("float32", "float64")}
    assert all(one["distance"] == 0 and min(one["speeds"]) > 0 for one in told["compared"])


@pytest.mark.parametrize("wrong", [1e-3, float("nan")])
def test_a_device_that_trains_otherwise_is_found_out(
    wrong: float, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if every second run were on a device whose weights are a little off, or not numbers."""
    runs = []

    def off(*arguments: Any) -> Any:
        run = start(*arguments)
        runs.append(run)
        if len(runs) % 2:
            run.stack.parameters["W_U" if "W_U" in run.stack.parameters else "W_D"] += wrong  # type: ignore[attr-defined]
        return run

    monkeypatch.setattr(devices, "start", off)
    status, out, _ = lemmax(capsys, "doctor", "--device", "cpu")
    assert status == 1
    assert "DIFFERS" in out
    assert "does not train as the CPU does" in out


MISSING = ["cuda:99", "abacus", *([] if torch.cuda.is_available() else ["cuda"])]


@pytest.mark.parametrize("device", MISSING)
@pytest.mark.parametrize("command", [("doctor",), ("reproduce", "wong-fig3")])
def test_a_missing_device_is_one_sentence(
    command: tuple[str, ...], device: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = lemmax(capsys, *command, "--device", device)
    assert (status, out) == (2, "")
    assert err == f"lemmax: There is no device {device!r} here.\n"


def test_a_device_without_numbers_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert lemmax(capsys, "doctor", "--device", "meta")[0] == 2


def test_every_tensor_of_a_step_is_on_the_device(
    small: dict[str, tuple[list[Job], Recipe]],
) -> None:
    """Fake tensors have no values, so what is right in a batch is not counted."""
    for name, (jobs, chosen) in small.items():
        chosen = chosen.changed(last_batches=0)
        for members in plan(jobs, chosen, "torch"):
            with FakeTensorMode():
                run: Any = start([jobs[n] for n in members], chosen, "torch", None, "meta")
                run.advance(3)
                assert run.step == 3
                tensors = [getattr(run.stack, part) for part in ("p", "g", "m", "v")]
            assert {tensor.device.type for tensor in tensors} == {"meta"}, name


def test_fake_tensors_refuse_what_is_left_on_the_cpu() -> None:
    """The control of the test before: a tensor of the CPU beside one of the device."""
    with FakeTensorMode(), pytest.raises(RuntimeError, match="same device"):
        torch.add(torch.zeros(3, device="meta"), torch.zeros(3))


def test_every_study_of_every_experiment_takes_a_device(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    """The device reaches the sweep, with an engine that starts the jobs of the study on it."""
    asked: dict[str, str | None] = {}

    def sweep(jobs: Sequence[Job], recipe: Recipe, path: Any, **options: Any) -> list[Any]:
        assert options["backend"] == "torch"
        job = min(jobs, key=lambda job: job.work(recipe))
        start([job], recipe, options["backend"], None, "cpu").advance(1)
        asked[path.stem] = options["device"]
        record = {"steps": 1, "loss": 0.0, "accuracy": 0.0, "reached": {}}
        return [record for _ in jobs]

    monkeypatch.setattr(sweeps, "sweep", sweep)
    monkeypatch.setattr(frame, "_check_device", lambda device: None)
    names = set()
    for name in EXPERIMENTS:
        chosen = experiment(name)
        frame.measure_rows(chosen, "small", tmp_path, device="cuda")
        names |= {study.name for study in chosen.studies}
    assert asked == dict.fromkeys(names, "cuda")
