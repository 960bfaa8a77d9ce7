"""Small jobs of every family, and the distance between weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import TypeAlias

import numpy as np
import pytest

from lemmax.numerics.training.configurations import Arrays, Dana, Mahdavi, RandomDatabase, Wong
from lemmax.numerics.training.jobs import Job
from lemmax.numerics.training.recipes import Recipe, recipe

Small: TypeAlias = dict[str, tuple[list[Job], Recipe]]

_BATCHES = {"batch": 32, "pool": 256, "steps": 120, "last_batches": 40}
_SMALL: Small = {
    "wong": (
        [
            Job(Wong(3, 2, 1, 2, RandomDatabase(1, 30)), 1),
            Job(Wong(4, 1, 3, 1, RandomDatabase(2, 50)), 2),
            Job(Wong(2, 2, 2, 4, RandomDatabase(3, 12)), 3),
            Job(Wong(1, 1, 1, 0, RandomDatabase(4, 8)), 4),
        ],
        recipe("wong-guess"),
    ),
    "wong-last": ([Job(Wong(3, 2, 2, 2, RandomDatabase(5, 30)), 5)], recipe("wong-last")),
    "dana-shared": (
        [Job(Dana(6, 3, 2, 3), 1), Job(Dana(6, 4, 3, 9), 2), Job(Dana(6, 2, 2, 0), 3)],
        recipe("dana-code").changed(**_BATCHES),
    ),
    "dana-per-head": (
        [Job(Dana(5, 3, 2, 3, "per-head"), 1), Job(Dana(5, 2, 3, 5, "per-head"), 2)],
        recipe("dana-text").changed(**_BATCHES),
    ),
    "dana-direct": (
        [Job(Dana(6, 3, 3, 3, "direct"), 1), Job(Dana(6, 2, 2, 5, "direct"), 2)],
        recipe("dana-code").changed(**_BATCHES),
    ),
    "dana-direct-mlp": (
        [Job(Dana(6, 3, 3, 1, "direct", width=7), 1)],
        recipe("dana-code-mlp").changed(**_BATCHES),
    ),
    "dana-mlp": (
        [Job(Dana(6, 3, 3, 1, width=7), 1), Job(Dana(6, 4, 2, 2, width=4), 2)],
        recipe("dana-code-mlp").changed(**_BATCHES),
    ),
    "dana-full": (
        [
            Job(Dana(5, 3, 2, 3, "per-head"), 1),
            Job(Dana(5, 3, 2, 1, "per-head", pairs=(((0, 1), 2), ((1, 1), 0), ((4, 3), 2))), 2),
        ],
        recipe("dana-full"),
    ),
    "mahdavi": (
        [Job(Mahdavi(6, 4, 3, 50, classes=5, d_h=3, d_v=2), s) for s in (1, 2)],
        recipe("mahdavi-small").changed(batch=16),
    ),
    "mahdavi-shared": (
        [Job(Mahdavi(6, 4, 3, 40, classes=5, shared_context=True), s) for s in (1, 2)],
        recipe("mahdavi-full"),
    ),
    "mahdavi-plain": (
        [Job(Mahdavi(5, 3, 2, 30, classes=0, d_h=2, embedding=False), 1)],
        recipe("mahdavi-full"),
    ),
    "mahdavi-plain-shared": (
        [Job(Mahdavi(5, 3, 2, 30, classes=0, d_h=2, embedding=False, shared_context=True), 1)],
        recipe("mahdavi-small").changed(batch=8),
    ),
}


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> None:
    """Small models on a busy machine: threads would only wait for each other."""
    if find_spec("torch") is not None:
        import torch

        torch.set_num_threads(1)


@pytest.fixture
def small() -> Small:
    """Jobs and a recipe by name."""
    return _SMALL


@pytest.fixture
def distance() -> Callable[[Sequence[Arrays], Sequence[Arrays]], float]:
    """The largest difference between two lists of weights."""

    def largest(a: Sequence[Arrays], b: Sequence[Arrays]) -> float:
        assert len(a) == len(b)
        return max(
            float(np.abs(x[name].astype(np.float64) - y[name]).max(initial=0.0))
            for x, y in zip(a, b, strict=True)
            for name in x
        )

    return largest
