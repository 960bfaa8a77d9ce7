"""Jobs: one model, its data and a seed, each with random streams of its own.

A job's key is the hash of its canonical JSON together with the recipe. Data, initial weights and
the order of the batches come from streams that depend on the job alone, never on the order in
which jobs are trained: a job gives the same result wherever and whenever it runs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lemmax.numerics.training.configurations import (
    FAMILIES,
    Arrays,
    Config,
    Dana,
    Mahdavi,
    RandomDatabase,
)
from lemmax.numerics.training.recipes import Recipe
from lemmax.numerics.training.streams import canonical, stream
from lemmax.theory.errors import LemmaxError


@dataclass(frozen=True)
class Job:
    """A configuration and a seed.

    >>> job = Job(Dana(N=5, d=2, d_h=2, H=3), seed=1)
    >>> job_from_json(job.to_json()) == job
    True
    """

    config: Config
    seed: int = 0

    def to_json(self) -> dict[str, Any]:
        """Plain data, from which :func:`job_from_json` makes the job again."""
        return {"family": self.config.family, **asdict(self.config), "seed": self.seed}

    def key(self, recipe: Recipe) -> str:
        """The hash of the job and the recipe.

        >>> from lemmax.numerics.training.recipes import recipe
        >>> a = Job(Dana(N=5, d=2, d_h=2, H=3)).key(recipe("dana-full"))
        >>> len(a), a == Job(Dana(N=5, d=2, d_h=2, H=3), seed=1).key(recipe("dana-full"))
        (32, False)
        """
        text = canonical({"job": self.to_json(), "recipe": recipe.to_json()})
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def stream(self, purpose: str, *numbers: int) -> np.random.Generator:
        """The job's own stream for a purpose; the recipe does not enter."""
        return stream(canonical(self.to_json()), purpose, *numbers)

    def steps(self, recipe: Recipe) -> int:
        """The number of optimiser steps."""
        return recipe.steps_for(self.config.samples)

    def work(self, recipe: Recipe) -> int:
        """Work units, proportional to the expected time."""
        share = 1.0
        if recipe.batch is not None:
            share = min(1.0, recipe.batch / self.config.samples)
        return max(1, int(self.config.work * share)) * self.steps(recipe)

    def initial(self, recipe: Recipe) -> Arrays:
        """The initial weights, in the precision of the recipe."""
        return initial_weights(self, recipe)


def job_from_json(data: Mapping[str, Any]) -> Job:
    """The job that :meth:`Job.to_json` wrote."""
    fields = dict(data)
    family, seed = fields.pop("family"), fields.pop("seed")
    if family not in FAMILIES:
        raise LemmaxError(f"There is no family of models {family!r}.")
    if family == "wong" and isinstance(fields["database"], Mapping):
        fields["database"] = RandomDatabase(**fields["database"])
    return Job(FAMILIES[family](**fields), seed)


def initial_weights(job: Job, recipe: Recipe) -> Arrays:
    """Initial weights by the scheme that the recipe names.

    ``dana-code`` and ``mahdavi-code`` are the defaults of the layers that the public code uses;
    ``wong-guess`` is normal with variance one over the fan-in, embeddings standard normal;
    ``linear`` is uniform on ±1/√(fan-in) for every matrix.
    """
    config, random = job.config, job.stream("init")
    weights: Arrays = {}
    for name, shape in config.shapes().items():
        fan_in, fan_out = _fans(config, name, shape)
        if recipe.init == "wong-guess":
            scale = 1.0 if name == "W_E" else fan_in**-0.5
            values = random.standard_normal(shape) * scale
        else:
            bound = fan_in**-0.5
            if recipe.init == "dana-code" and name in ("W_Q", "W_K", "W_V"):
                # one 3·d_h × p matrix initialised by Xavier's rule
                bound = (6 / (fan_in + 3 * fan_out)) ** 0.5
            elif recipe.init == "mahdavi-code" and name in ("W_Q", "W_K", "W_V", "W_O"):
                bound = (6 / (fan_in + fan_out)) ** 0.5
            values = random.uniform(-bound, bound, shape)
        weights[name] = values.astype(recipe.dtype)
    return weights


def _fans(config: Config, name: str, shape: tuple[int, ...]) -> tuple[int, int]:
    """Fan-in and fan-out of a parameter."""
    if isinstance(config, Dana):
        if name == "b_1":
            return config.d, config.width
        return shape[-1], shape[-2]  # maps act on columns
    if isinstance(config, Mahdavi):
        if name == "W_O":
            return config.H * config.d_v, config.d
        if name in ("b_in", "b_D"):
            return config.d, shape[0]
    return shape[-2], shape[-1]  # maps act on rows


def batches(job: Job, recipe: Recipe, epoch: int) -> NDArray[np.int64] | None:
    """The minibatches of an epoch as rows of sample numbers; None for a full batch.

    Bigrams come from a fixed pool that is shuffled anew in every epoch; other data are shuffled
    themselves, and a rest smaller than a batch is left for another epoch.
    """
    if recipe.batch is None:
        return None
    samples = job.config.samples
    if recipe.pool is not None:
        pool = job.stream("pool").integers(samples, size=recipe.pool)
        order = job.stream("shuffle", epoch).permutation(recipe.pool)
        return pool[order].reshape(-1, recipe.batch)
    batch = min(recipe.batch, samples)
    order = job.stream("shuffle", epoch).permutation(samples)
    whole: NDArray[np.int64] = order[: samples - samples % batch].reshape(-1, batch)
    return whole


def batches_per_epoch(job: Job, recipe: Recipe) -> int:
    """How many minibatches an epoch has."""
    if recipe.batch is None:
        return 1
    if recipe.pool is not None:
        return recipe.pool // recipe.batch
    return job.config.samples // min(recipe.batch, job.config.samples)
