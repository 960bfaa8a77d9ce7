"""The engines agree with the oracle, and repeat themselves to the bit."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

pytest.importorskip("torch", reason="the engines are compared with torch modules")
pytest.importorskip("numba", reason="the compiled engine is one of those compared")

import torch

from lemmax.numerics.engines.compiled.loops import exponentials
from lemmax.numerics.engines.reference import ReferenceRun
from lemmax.numerics.engines.register import BACKENDS, UnknownBackend, backend_for, plan, start
from lemmax.numerics.engines.stacked.stacks import Stack
from lemmax.numerics.engines.trained import train
from lemmax.numerics.training.configurations import Arrays, Dana, RandomDatabase, Wong
from lemmax.numerics.training.jobs import Job
from lemmax.numerics.training.recipes import Recipe, recipe
from lemmax.theory.errors import LemmaxError, ShapeError

Small: TypeAlias = dict[str, tuple[list[Job], Recipe]]
Distance: TypeAlias = Callable[[Sequence[Arrays], Sequence[Arrays]], float]

pytestmark = pytest.mark.training

WONG_AND_DANA = ["wong", "wong-last", "dana-shared", "dana-per-head", "dana-direct"]
WONG_AND_DANA += ["dana-mlp", "dana-direct-mlp", "dana-full"]
MAHDAVI = ["mahdavi", "mahdavi-shared", "mahdavi-plain", "mahdavi-plain-shared"]
CASES = [(backend, name) for backend in ("torch", "numba") for name in WONG_AND_DANA + MAHDAVI]


def _after(jobs: Sequence[Job], chosen: Recipe, backend: str, steps: int) -> list[Arrays]:
    """The weights of all jobs after so many steps."""
    found: dict[int, Arrays] = {}
    for members in plan(jobs, chosen, backend):
        run = start([jobs[n] for n in members], chosen, backend)
        run.advance(steps)
        found |= dict(zip(members, run.weights(), strict=True))
    return [found[n] for n in range(len(jobs))]


@lru_cache
def _oracle(name: str, chosen: Recipe, jobs: tuple[Job, ...]) -> list[Arrays]:
    return _after(jobs, chosen, "reference", 100)


def _equal(a: Sequence[Arrays], b: Sequence[Arrays]) -> bool:
    return all(
        x[name].dtype == y[name].dtype and np.array_equal(x[name], y[name])
        for x, y in zip(a, b, strict=True)
        for name in x
    )


@pytest.mark.parametrize(("backend", "name"), CASES)
def test_float64_agrees_after_a_hundred_steps(
    backend: str, name: str, small: Small, distance: Distance
) -> None:
    jobs, chosen = small[name]
    chosen = chosen.changed(dtype="float64")
    expected = _oracle(name, chosen, tuple(jobs))
    assert distance(expected, [job.initial(chosen) for job in jobs]) > 1e-3  # it did train
    assert distance(expected, _after(jobs, chosen, backend, 100)) < 1e-9


OPTIMISERS: dict[str, dict[str, Any]] = {
    "adamw": {"weight_decay": 0.5},
    "adamw-strong": {"weight_decay": 40.0},  # what must not decay would be gone
    "sgd": {"optimiser": "sgd"},
    "sgd-momentum": {"optimiser": "sgd", "momentum": 0.9, "weight_decay": 0.01},
}
DECAYED = [("wong", name) for name in OPTIMISERS]  # its groups are padded with constants
DECAYED += [("dana-shared", "adamw"), ("dana-mlp", "sgd-momentum"), ("mahdavi", "adamw")]


@pytest.mark.parametrize(("name", "optimiser"), DECAYED)
def test_optimisers_are_those_of_torch(
    name: str, optimiser: str, small: Small, distance: Distance
) -> None:
    """All engines, also where the layout holds constants among the parameters; and resumed."""
    jobs, chosen = small[name]
    chosen = chosen.changed(dtype="float64", **OPTIMISERS[optimiser])
    expected = _after(jobs, chosen, "reference", 60)
    plain = chosen.changed(optimiser="adam", weight_decay=0.0, momentum=0.0)
    assert distance(expected, _after(jobs, plain, "reference", 60)) > 1e-3  # it is another one
    for backend in ("torch", "numba"):
        assert distance(expected, _after(jobs, chosen, backend, 60)) < 1e-9, backend
    for backend in BACKENDS:
        (members, *_) = plan(jobs, chosen, backend)
        whole = start([jobs[n] for n in members], chosen, backend)
        whole.advance(30)
        second = start([jobs[n] for n in members], chosen, backend)
        second.restore(whole.state())
        for run in (whole, second):
            run.advance(60)
        assert _equal(whole.weights(), second.weights()), backend


def test_sequences_are_decayed_too(distance: Distance) -> None:
    pairs = (((0, 1, 2), 2), ((1, 1, 0), 0), ((4, 3, 3), 2))
    jobs = [Job(Dana(5, 3, 2, 2, "per-head", pairs=pairs), 2)]
    chosen = recipe("dana-full").changed(dtype="float64", weight_decay=0.5)
    expected = _after(jobs, chosen, "reference", 60)
    assert distance(expected, _after(jobs, chosen, "numba", 60)) < 1e-9


@pytest.mark.parametrize(
    ("backend", "name"),
    [
        # compiling the loop a second time is most of this test
        pytest.param(*case, marks=[pytest.mark.slow] * (case[0] == "numba" and case[1] in MAHDAVI))
        for case in CASES
    ],
)
def test_float32_agrees_after_one_step(
    backend: str, name: str, small: Small, distance: Distance
) -> None:
    jobs, chosen = small[name]
    # Adam's first step is the sign of the gradient: a large ε keeps it continuous
    chosen = chosen.changed(eps=1e-3)
    expected = _after(jobs, chosen, "reference", 1)
    assert distance(expected, _after(jobs, chosen, backend, 1)) < 1e-5


def test_the_engine_and_its_threads_are_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    wong, dana = [Job(Wong(2, 1, 1, 1, ((0, 1, 2),)))], [Job(Dana(3, 2, 2, 1))]
    long = [Job(Dana(3, 2, 2, 1, pairs=(((0, 1, 2), 1),)))]
    guess, full = recipe("wong-guess"), recipe("dana-full")
    assert backend_for(wong, guess) == backend_for(dana, full, "cpu") == "numba"
    assert backend_for(wong, guess, "cuda") == backend_for(long, full) == "torch"
    assert backend_for(wong, guess.changed(batch=1)) == "reference"
    for jobs, chosen in ((wong, guess), (dana, full), (long, full), (wong, guess.changed(batch=1))):
        assert train(jobs, chosen.changed(steps=2))[0].measured.steps == 2
    seen: list[int] = []
    original = ReferenceRun.advance

    def advance(run: Any, until: int) -> None:
        seen.append(torch.get_num_threads())
        original(run, until)

    monkeypatch.setattr(ReferenceRun, "advance", advance)
    torch.set_num_threads(2)
    try:
        train(wong, guess.changed(steps=2), "reference")
        assert (seen, torch.get_num_threads()) == ([1], 2)
    finally:
        torch.set_num_threads(1)
    monkeypatch.setattr("lemmax.numerics.engines.register.find_spec", lambda name: None)
    assert backend_for(wong, guess) == "torch"


def test_a_trained_job_shows_itself_in_a_line() -> None:
    """Neither weights nor facts: their sizes, and what was reached."""
    facts = tuple((k, 40 + q, 45 + (k + q) % 7) for k in range(40) for q in range(5))
    (trained,) = train(
        [Job(Wong(3, 1, 1, 1, facts), seed=4)], recipe("wong-guess").changed(steps=2)
    )
    shown = repr(trained)
    assert len(shown) < 300
    assert "200 facts" in shown
    assert "seed=4" in shown
    assert "2 steps" in shown
    assert str(trained.measured.accuracy) in shown
    assert "heads=1, database=200 facts)" in repr(trained.job)
    assert "((0, 2, 3),)" in repr(Wong(2, 1, 1, 1, ((0, 2, 3),)))  # short ones are shown whole


@pytest.mark.parametrize("name", ["wong", "wong-last"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_the_loss_is_that_of_what_is_trained(backend: str, name: str, small: Small) -> None:
    """The first position counts where the recipe trains it, and only there."""
    jobs, chosen = small[name]
    trained = train(jobs[:1], chosen.changed(steps=200, dtype="float64"), backend)[0]
    config = trained.job.config
    assert isinstance(config, Wong)
    facts = torch.tensor(config.facts)
    with torch.no_grad():
        logits = trained.model().double()(facts[:, :2])
    positions = slice(0 if chosen.both_positions else 1, None)
    theirs = torch.nn.functional.cross_entropy(
        logits[:, positions].flatten(0, 1), facts[:, 1:][:, positions].flatten()
    )
    assert trained.measured.loss == pytest.approx(float(theirs), rel=1e-9)


@pytest.mark.parametrize("name", ["dana-shared", "dana-per-head"])
def test_engines_see_the_same_batches(name: str, small: Small) -> None:
    jobs, chosen = small[name]
    chosen = chosen.changed(dtype="float64")
    recent = {
        backend: [result.measured.recent for result in train(jobs, chosen, backend)]
        for backend in BACKENDS
    }
    assert None not in recent["reference"]
    for backend in ("torch", "numba"):
        assert recent[backend] == pytest.approx(recent["reference"], abs=1e-12)


def test_means_over_many_models_agree_where_single_models_need_not() -> None:
    jobs = [Job(Wong(3, 2, 2, 2, RandomDatabase(s, 40)), s) for s in range(8)]
    chosen = recipe("wong-guess").changed(steps=300)
    mean = {
        backend: float(np.mean([r.measured.accuracy or 0.0 for r in train(jobs, chosen, backend)]))
        for backend in BACKENDS
    }
    assert mean["reference"] > 0.5
    assert mean == pytest.approx(dict.fromkeys(BACKENDS, mean["reference"]), abs=0.03)


@pytest.mark.parametrize(
    ("backend", "name"), [*CASES, ("reference", "wong"), ("reference", "mahdavi")]
)
def test_a_second_run_and_a_resumed_run_are_bit_equal(
    backend: str, name: str, small: Small
) -> None:
    jobs, chosen = small[name]
    if backend == "numba" and name in MAHDAVI:
        chosen = chosen.changed(dtype="float64")  # compiled already
    for members in plan(jobs, chosen, backend):
        group = [jobs[n] for n in members]
        first, second, resumed = (start(group, chosen, backend) for _ in range(3))
        first.advance(37)
        first.advance(60)
        second.advance(41)
        state = {key: array.copy() for key, array in second.state().items()}
        second.advance(60)  # goes on; the state must not change under our hands
        resumed.restore(state)
        assert resumed.step == 41
        resumed.advance(60)
        assert _equal(first.weights(), second.weights())
        assert _equal(first.weights(), resumed.weights())
        assert first.measured() == resumed.measured()


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_model_that_has_stopped_is_kept_and_the_others_keep_their_bits(backend: str) -> None:
    jobs = [Job(Wong(4, 3, 3, 2, RandomDatabase(s, 6 + 8 * s)), s) for s in range(6)]
    free = recipe("wong-guess").changed(steps=300)
    stopping = free.changed(stop=0.5, check_every=50)
    whole, early = train(jobs, free, backend), train(jobs, stopping, backend)
    steps = [result.measured.steps for result in early]
    assert min(steps) < 300 == max(steps)
    for a, b in zip(whole, early, strict=True):
        if b.measured.steps == 300:
            assert _equal([a.weights], [b.weights])
        else:
            assert b.measured.memorized(0.5)
            assert b.measured.steps % 50 == 0


def test_a_group_resumes_after_some_of_it_has_stopped() -> None:
    jobs = [Job(Wong(4, 3, 3, 2, RandomDatabase(s, 6 + 8 * s)), s) for s in range(6)]
    chosen = recipe("wong-guess").changed(steps=300, stop=0.5, check_every=50)
    first, second, resumed = (start(jobs, chosen, "torch") for _ in range(3))
    first.advance(300)
    second.advance(250)
    resumed.restore(second.state())
    resumed.advance(300)
    assert _equal(first.weights(), resumed.weights())
    assert first.measured() == resumed.measured()


def test_zero_padding_is_a_fixed_point_of_adam() -> None:
    jobs = [Job(Wong(2, 1, 1, 1, RandomDatabase(1, 9))), Job(Wong(5, 3, 2, 3, RandomDatabase(2)))]
    run: Any = start(jobs, recipe("wong-guess"), "torch")
    run.advance(50)
    parameters = run.stack.parameters
    assert torch.count_nonzero(parameters["W_QKV"][0]) == 2 * 3
    assert torch.count_nonzero(parameters["W_O"][0]) == 2
    assert torch.count_nonzero(parameters["W_E"][0, :, 2:]) == 0
    tokens = jobs[0].config.shapes()["W_E"][0]
    assert torch.count_nonzero(parameters["W_U"][0, :-1, tokens:]) == 0


def test_adam_on_flat_storage_is_torch_adam_and_never_the_fused_trap(distance: Distance) -> None:
    # A fused Adam gets a gradient with other strides wrong; ours has one storage for both.
    generator = torch.Generator().manual_seed(0)
    values = torch.randn(3, 4, 5, generator=generator, dtype=torch.float64)
    stack = Stack({"x": (4, 5)}, 3, torch.float64, "cpu")
    stack.parameters["x"].copy_(values)
    parameter = torch.nn.Parameter(values.clone())
    chosen = recipe("wong-guess")
    optimiser = torch.optim.Adam([parameter], lr=1e-2)
    for step in range(1, 20):
        gradient = torch.randn(3, 5, 4, generator=generator, dtype=torch.float64).transpose(1, 2)
        stack.gradients["x"].copy_(gradient)
        assert stack.gradients["x"].stride() == stack.parameters["x"].stride()
        parameter.grad = gradient.contiguous()
        optimiser.step()
        stack.adam(chosen, step, 1e-2)
    assert torch.allclose(parameter, stack.parameters["x"], rtol=0, atol=1e-14)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_exponentials_are_good_to_two_units_in_the_last_place(dtype: str) -> None:
    low, unit = (-87.0, 2.0**-24) if dtype == "float32" else (-708.0, 2.0**-53)
    x = np.linspace(low, 5, 20001).astype(dtype)
    y, work = x.copy(), np.empty_like(x)
    exponentials(y, work, len(x), np.dtype(dtype).type(0))
    exact = np.exp(x.astype(np.longdouble))
    assert float(np.max(np.abs(y - exact) / exact)) < 4 * unit
    far = np.array([-1e30, 0], dtype)
    exponentials(far, np.empty_like(far), 2, np.dtype(dtype).type(0))
    assert 0 < far[0] < 1e-37
    assert far[1] == 1


_PROGRAM = """
import hashlib
from lemmax.numerics.engines.register import start
from lemmax.numerics.training.configurations import RandomDatabase, Wong
from lemmax.numerics.training.jobs import Job
from lemmax.numerics.training.recipes import recipe
run = start([Job(Wong(4, 3, 2, 3, RandomDatabase(1)), 1)], recipe("wong-guess"), "numba")
run.advance(100)
print(hashlib.sha256(run.p.tobytes()).hexdigest())
"""


@pytest.mark.slow
def test_compiled_now_and_loaded_from_disk_give_the_same_bits(tmp_path: Path) -> None:
    environment = {"PYTHONPATH": ":".join(sys.path), "NUMBA_CACHE_DIR": str(tmp_path)}
    outputs = [
        subprocess.run(
            [sys.executable, "-c", _PROGRAM],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for _ in range(2)
    ]
    assert list(tmp_path.rglob("*.nbc"))
    assert outputs[0] == outputs[1]


_STRUCTURE = """
from typing import Any, NamedTuple
from lemmax.numerics.engines.compiled.loops import compiled
class {name}(NamedTuple):
    x: Any
def _double(given): return 2 * given.x
double = compiled(_double)
print(double({name}(21)))
"""


@pytest.mark.slow
def test_machine_code_for_arguments_of_a_class_that_is_gone_is_forgotten(tmp_path: Path) -> None:
    environment = {"PYTHONPATH": ":".join([str(tmp_path), *sys.path])}
    environment["NUMBA_CACHE_DIR"] = str(tmp_path / "cache")
    for name in ("Before", "Afterwards"):
        (tmp_path / "structure.py").write_text(_STRUCTURE.format(name=name), encoding="utf-8")
        command = [sys.executable, "-c", "import structure"]
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert ran.stdout == "42\n", ran.stderr
    assert list(tmp_path.rglob("*.nbc"))


def test_longer_sequences_are_trained_alike_by_autograd_and_by_the_compiled_engine(
    distance: Distance,
) -> None:
    # the parity of two bits: four sequences (a, b, 0)
    pairs = tuple(((a, b, 0), a ^ b) for a in (0, 1) for b in (0, 1))
    jobs = [Job(Dana(2, 3, 2, 3, "per-head", pairs=pairs), 1)]
    chosen = recipe("dana-full").changed(steps=400, dtype="float64")
    expected = _after(jobs, chosen, "torch", 100)
    assert distance(expected, _after(jobs, chosen, "numba", 100)) < 1e-9
    batches = chosen.changed(batch=2)
    assert distance(expected, _after(jobs, batches, "torch", 100)) > 1e-3
    assert distance(*(_after(jobs, batches, b, 100) for b in ("torch", "numba"))) < 1e-9
    for backend in ("torch", "numba"):
        assert train(jobs, chosen, backend)[0].measured.accuracy == 1.0
    first, second, resumed = (start(jobs, chosen, "numba") for _ in range(3))
    first.advance(90)
    second.advance(41)
    resumed.restore(second.state())
    resumed.advance(90)
    assert _equal(first.weights(), resumed.weights())
    with pytest.raises(LemmaxError, match="S = 3"):
        train([Job(Dana(2, 3, 2, 3, pairs=pairs), 1)], chosen, "numba")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: train([Job(Dana(3, 1, 1, 1))], "dana-full", "jax"), "numba, reference, torch"),
        (lambda: train([Job(Dana(3, 1, 1, 1))], "wong-guess", "torch"), "is for wong"),
        (lambda: train([Job(Dana(3, 1, 1, 1))], "dana-full", "torch", device="cuda:99"), "device"),
        (lambda: train([Job(Dana(3, 1, 1, 1))], "dana-full", "numba", device="cuda"), "CPU"),
        (lambda: train([Job(Dana(3, 1, 1, 1))], "dana-full", "torch", group=0), "at least one"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(call: Callable[[], object], words: str) -> None:
    with pytest.raises(LemmaxError, match=r"\.$") as caught:
        call()
    assert words in str(caught.value)


def test_an_unknown_backend_has_a_name_and_initial_weights_must_fit() -> None:
    job = Job(Dana(3, 1, 1, 1))
    with pytest.raises(UnknownBackend):
        plan([job], recipe("dana-full"), "abacus")
    wrong = job.initial(recipe("dana-full")) | {"e": np.zeros((3, 2))}
    with pytest.raises(ShapeError, match="e must have shape"):
        train([job], "dana-full", "torch", initial=[wrong])


def test_groups_depend_on_the_list_alone_and_hold_every_job_once() -> None:
    jobs = [Job(Wong(1 + s % 6, 1, 1, 1 + s % 4, RandomDatabase(s)), s) for s in range(100)]
    groups = plan(jobs, recipe("wong-guess"), "torch")
    assert sorted(n for members in groups for n in members) == list(range(100))
    assert groups == plan(jobs, recipe("wong-guess"), "torch")
    assert max(len(members) for members in plan(jobs, recipe("wong-guess"), "torch", 7)) == 7
