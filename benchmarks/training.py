"""How much faster than the loop one would write first: ratios of CPU time, in one process.

    python -m benchmarks.training [wong] [groups] [dana] [mahdavi] [vmap] [--runs 5] [--json FILE]

One thread; each run measures the loop and the engines in turn, so that what else the machine does
hits both; the table has the median ratio of the runs and their range.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from benchmarks.peers import AllPositions, ListOfHeads, Loop, wong_module
from benchmarks.vmapped import Vmapped

from lemmax.numerics.engines.reference import ReferenceRun
from lemmax.numerics.engines.register import plan, start
from lemmax.numerics.engines.run import Run
from lemmax.numerics.training.configurations import Dana, Mahdavi, RandomDatabase, Wong
from lemmax.numerics.training.jobs import Job
from lemmax.numerics.training.recipes import Recipe, recipe


def cpu(action: Callable[[], object]) -> float:
    """CPU seconds of this process."""
    began = time.process_time()
    action()
    return time.process_time() - began


def wong_jobs(count: int = 256) -> list[Job]:
    """Layers drawn from the paper's grid on random databases of at most 200 triples."""
    random = np.random.default_rng(2025)
    jobs = []
    for seed in range(count):
        d = int(random.integers(1, 7))
        d_vo, d_qk = (int(x) for x in random.integers(1, d + 1, 2))
        heads = int(random.integers(1, 5))
        jobs.append(Job(Wong(d, d_vo, d_qk, heads, RandomDatabase(seed)), seed))
    return jobs


def _engine_seconds(runs: Sequence[Run | Vmapped], steps: int) -> float:
    """CPU seconds for one step of all runs."""
    for run in runs:
        run.advance(run.step + 1)  # compiled and warm
    total = cpu(lambda: [run.advance(run.step + steps) for run in runs])
    return total / steps


def _runs(jobs: list[Job], chosen: Recipe, backend: str, group: int | None = None) -> list[Run]:
    members = plan(jobs, chosen, backend, group)
    return [start([jobs[n] for n in numbers], chosen, backend) for numbers in members]


def wong() -> dict[str, float]:
    """256 layers, full batch, both positions."""
    jobs, chosen = wong_jobs(), recipe("wong-guess")
    loops = []
    for job in jobs:
        assert isinstance(job.config, Wong)
        facts = torch.tensor(job.config.facts)
        module = wong_module(job.config, job.initial(chosen))
        loops.append(Loop(module, [facts[:, :2]], facts[:, 1:], chosen.learning_rate))
    naive = cpu(lambda: [loop.step() for loop in loops for _ in range(2)]) / 2
    stacked: list[Run] = [ReferenceRun([job], chosen) for job in jobs]
    heads = cpu(lambda: [run.advance(2) for run in stacked]) / 2
    ratios = {}
    for backend in ("torch", "numba"):
        seconds = _engine_seconds(_runs(jobs, chosen, backend), 20 if backend == "numba" else 8)
        ratios[f"wong {backend} / list of heads"] = naive / seconds
        ratios[f"wong {backend} / stacked heads"] = heads / seconds
    return ratios


def groups() -> dict[str, float]:
    """Every group size of the stacked engine against the loop."""
    jobs, chosen = wong_jobs(), recipe("wong-guess")
    stacked: list[Run] = [ReferenceRun([job], chosen) for job in jobs]
    naive = cpu(lambda: [run.advance(1) for run in stacked])
    ratios = {}
    for size in (1, 2, 4, 8, 16, 32, 64, 128, 256):
        ratios[f"wong groups of {size} / stacked heads"] = naive / _engine_seconds(
            _runs(jobs, chosen, "torch", size), 2
        )
    return ratios


def dana() -> dict[str, float]:
    """H = 20, d = d_h = 10, N = 50, batches of 1,024."""
    config, chosen = Dana(50, 10, 10, 20), recipe("dana-text").changed(pool=102_400)
    job = Job(config, 1)
    sequences, targets = (torch.from_numpy(x) for x in config.data())
    loop = Loop(ListOfHeads(config, job.initial(chosen)), [sequences], targets, 1e-3)
    batch = torch.randint(2500, (1024,), generator=torch.Generator().manual_seed(0))
    loop.step(batch)
    listed = cpu(lambda: [loop.step(batch) for _ in range(8)]) / 8
    vectorised = _engine_seconds([ReferenceRun([job], chosen)], 8)
    ratios = {}
    cases = [("numba", 1), *(("torch", size) for size in (1, 4, 16, 64))]
    for backend, size in cases:
        runs = _runs([Job(config, s) for s in range(size)], chosen, backend, size)
        seconds = _engine_seconds(runs, 90 if backend == "numba" else max(2, 16 // size)) / size
        name = backend if backend == "numba" else f"torch, groups of {size}"
        ratios[f"dana {name} / list of MultiheadAttention"] = listed / seconds
        ratios[f"dana {name} / vectorised heads"] = vectorised / seconds
    return ratios


def mahdavi() -> dict[str, float]:
    """H = 20, n = 32, d = 64, batches of 256, with the embedding of the public code."""
    ratios = {}
    chosen = recipe("mahdavi-code").changed(epochs=None)
    for shared in (False, True):
        config = Mahdavi(64, 32, 20, 1024, shared_context=shared)
        job = Job(config, 1)
        queries, contexts, labels = config.data()
        inputs = [torch.from_numpy(x).float() for x in (queries, contexts)]
        targets = torch.from_numpy(labels)
        loop = Loop(AllPositions(config, job.initial(chosen)), inputs, targets, 1e-3)
        batch = torch.arange(256)
        loop.step(batch)
        naive = cpu(lambda loop=loop, batch=batch: loop.step(batch))  # type: ignore[misc]
        seconds = _engine_seconds([start([job], chosen, "torch")], 10)
        kind = "shared context" if shared else "own contexts"
        ratios[f"mahdavi torch, {kind} / all positions"] = naive / seconds
    return ratios


def vmap() -> dict[str, float]:
    """Groups by ``torch.func.vmap`` against the hand-written stacks and the reference loop."""
    dana_code = recipe("dana-code")
    cases: dict[str, tuple[list[Job], Recipe]] = {
        "wong, 256 layers": (wong_jobs(), recipe("wong-guess")),
        "dana N = 50, d = 10, H = 20, groups of 16": (
            [Job(Dana(50, 10, 10, 20), s) for s in range(16)],
            recipe("dana-text").changed(pool=102_400),
        ),
        "dana per-head maps, groups of 16": (
            [Job(Dana(50, 10, 4, 20, "per-head"), s) for s in range(16)],
            dana_code,
        ),
        "dana N = 70, MLP of width 48, groups of 16": (
            [Job(Dana(70, 10, 10, 1, width=48), s) for s in range(16)],
            recipe("dana-code-mlp"),
        ),
    }
    for shared in (False, True):
        kind = "shared context" if shared else "own contexts"
        for d, n, H in ((64, 32, 20), (16, 8, 4)):
            name = f"mahdavi d = {d}, n = {n}, H = {H}, {kind}, groups of 4"
            config = Mahdavi(d, n, H, 1024, shared_context=shared)
            chosen = recipe("mahdavi-code").changed(epochs=None)
            cases[name] = [Job(config, s) for s in range(4)], chosen
    ratios = {}
    for name, (jobs, chosen) in cases.items():
        numbers = plan(jobs, chosen, "torch", None if "wong" in name else len(jobs))
        groups = [[jobs[n] for n in members] for members in numbers]
        loop = _engine_seconds([ReferenceRun([job], chosen) for job in jobs], 2)
        stacked = _engine_seconds([start(group, chosen, "torch") for group in groups], 4)
        mapped = _engine_seconds([Vmapped(group, chosen) for group in groups], 4)
        ratios[f"{name}: vmap / stacks"] = mapped / stacked
        ratios[f"{name}: loop / stacks"] = loop / stacked
        ratios[f"{name}: loop / vmap"] = loop / mapped
    return ratios


TARGETS = {
    "wong torch / list of heads": 8,
    "wong numba / list of heads": 25,
    "dana torch, groups of 16 / list of MultiheadAttention": 10,
    "dana torch, groups of 16 / vectorised heads": 4,
    "dana numba / list of MultiheadAttention": 25,
    "dana numba / vectorised heads": 8,
    "mahdavi torch, own contexts / all positions": 20,
    "mahdavi torch, shared context / all positions": 80,
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="*", default=["wong", "groups", "dana", "mahdavi"])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    known: dict[str, Callable[[], dict[str, float]]] = {
        "wong": wong,
        "groups": groups,
        "dana": dana,
        "mahdavi": mahdavi,
        "vmap": vmap,
    }
    measured: dict[str, list[float]] = {}
    for name in options.what:
        for _ in range(options.runs):
            for ratio, value in known[name]().items():
                measured.setdefault(ratio, []).append(value)
    for ratio, values in measured.items():
        target = f"  (wanted: {TARGETS[ratio]})" if ratio in TARGETS else ""
        spread = f"{min(values):.1f}–{max(values):.1f}"
        print(f"{ratio:72s} {statistics.median(values):7.1f}×  {spread}{target}", flush=True)
    if options.json is not None:
        data: dict[str, Any] = {"runs": options.runs, "ratios": measured}
        options.json.write_text(json.dumps(data, indent=1) + "\n")


if __name__ == "__main__":
    main()
