"""Whether a device trains as the CPU does: small jobs of every family on both, compared.

Nothing is concluded from one device about another; a user with a GPU asks on that GPU.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from lemmax.numerics.engines.reference import device_named
from lemmax.numerics.engines.register import plan, start
from lemmax.numerics.training.configurations import Arrays, Dana, Mahdavi, RandomDatabase, Wong
from lemmax.numerics.training.jobs import Job
from lemmax.numerics.training.recipes import Recipe, recipe
from lemmax.theory.errors import LemmaxError

NEAR = {"float32": 1e-4, "float64": 1e-6}
"""Weights count as equal up to this: after a step in float32, after a hundred in float64."""
_STEPS = {"float32": 1, "float64": 100}
# a minibatch where the engine has one; a large ε keeps Adam's first step continuous
_JOBS: dict[str, tuple[list[Job], Recipe]] = {
    "wong": (
        [Job(Wong(4, 2, 2, 2, RandomDatabase(seed, 40)), seed) for seed in range(4)],
        recipe("wong-guess").changed(eps=1e-3),
    ),
    "dana": (
        [Job(Dana(8, 4, 3, 4), seed) for seed in range(4)],
        recipe("dana-code").changed(eps=1e-3, batch=32, pool=256),
    ),
    "mahdavi": (
        [Job(Mahdavi(8, 4, 3, 60, classes=5), seed) for seed in range(4)],
        recipe("mahdavi-small").changed(eps=1e-3, batch=16),
    ),
}


@dataclass(frozen=True)
class Compared:
    """One family on a device and on the CPU.

    ``distance`` is the largest difference of a weight after the steps; ``speeds`` are steps of all
    jobs per second, on the device and on the CPU.
    """

    family: str
    dtype: str
    steps: int
    distance: float
    speeds: tuple[float, float]

    @property
    def agrees(self) -> bool:
        """Whether the weights are equal as far as can be asked."""
        return self.distance <= NEAR[self.dtype]  # False for nan


def compare(device: str) -> list[Compared]:
    """Train small jobs of every family on a device and on the CPU.

    A device without float64 is compared in float32 alone.

    >>> all(one.agrees for one in compare("cpu"))
    True

    Cost: seconds; the first steps on a GPU are slow, and small jobs do not fill it.
    """
    place = device_named(device)
    if place == "meta":
        raise LemmaxError("The device 'meta' holds no numbers to compare.")
    found = []
    for family, (jobs, chosen) in _JOBS.items():
        for dtype in _types(place):
            ours = chosen.changed(dtype=dtype)
            there, fast = _trained(jobs, ours, place)
            here, slow = _trained(jobs, ours, "cpu")
            steps = _STEPS[dtype]
            found.append(Compared(family, dtype, steps, _distance(there, here), (fast, slow)))
    return found


def _types(device: str) -> tuple[str, ...]:
    try:
        torch.zeros(1, dtype=torch.float64, device=device)
    except (TypeError, RuntimeError):
        return ("float32",)
    return ("float32", "float64")


def _trained(jobs: Sequence[Job], chosen: Recipe, device: str) -> tuple[list[Arrays], float]:
    """The weights after the steps that are compared, and steps per second after them."""
    (members,) = plan(jobs, chosen, "torch")
    run = start([jobs[number] for number in members], chosen, "torch", None, device)
    run.advance(_STEPS[chosen.dtype])
    weights, first = run.weights(), run.step  # taken from the device, so it has finished
    began = time.perf_counter()
    run.advance(first + 200)
    run.weights()
    return weights, (run.step - first) / (time.perf_counter() - began)


def _distance(a: Sequence[Arrays], b: Sequence[Arrays]) -> float:
    gaps = [
        np.abs(x[name].astype(np.float64) - y[name]).max(initial=0.0)
        for x, y in zip(a, b, strict=True)
        for name in x
    ]
    return float(np.max(gaps))  # nan where one is
