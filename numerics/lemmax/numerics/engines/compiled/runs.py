"""Runs of compiled loops: one model at a time at its exact shapes.

No group is ever formed: a job's result does not depend on its companions.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lemmax.numerics.engines.compiled import (
    dana,
    dana_layout,
    mahdavi,
    mahdavi_layout,
    sequences,
    wong,
)
from lemmax.numerics.engines.compiled.loops import Optimiser, Schedule
from lemmax.numerics.engines.flat import flatten, views
from lemmax.numerics.engines.run import Measured, Run, epoch_of, measure
from lemmax.numerics.training.configurations import Arrays, Dana, Mahdavi, Wong
from lemmax.numerics.training.jobs import Job, batches
from lemmax.numerics.training.own import Own
from lemmax.numerics.training.recipes import Recipe
from lemmax.theory.errors import LemmaxError


class CompiledRun(Run):
    """One job: flat parameters, gradients and moments, and a compiled loop over the steps."""

    def __init__(
        self, jobs: Sequence[Job], recipe: Recipe, initial: Sequence[Arrays] | None = None
    ) -> None:
        super().__init__(jobs, recipe)
        (self.job,) = jobs
        weights = self.job.initial(recipe) if initial is None else initial[0]
        p = np.ascontiguousarray(self.flatten(weights))
        beta1, beta2 = recipe.beta1, recipe.beta2
        numbers = [beta1, 1 - beta1, beta2, 1 - beta2, recipe.eps]
        if recipe.optimiser == "sgd" or recipe.weight_decay:
            numbers += [recipe.optimiser == "sgd", recipe.weight_decay, recipe.momentum]
        hyper = np.array(numbers, dtype=recipe.dtype)
        self.optimiser = Optimiser(p, np.zeros_like(p), np.zeros_like(p), np.zeros_like(p), hyper)
        self.p, self.m, self.v = p, self.optimiser.m, self.optimiser.v
        self.prepare()
        self.recent = np.zeros(0)
        self.stopped = False

    @abstractmethod
    def prepare(self) -> None:
        """Lay out what the loop needs of the model around its flat parameters and gradients."""

    @abstractmethod
    def loop(self, schedule: Schedule) -> None:
        """Train for some steps; ``schedule.right`` is written where the loop knows it."""

    counts: ClassVar[bool] = True  # whether the loop counts what is right

    def flatten(self, weights: Arrays) -> NDArray[Any]:
        """The parameters as the loop holds them."""
        return flatten(self.job.config.shapes(), weights, self.recipe.dtype)

    def unflatten(self) -> Arrays:
        """The parameters in their own shapes, copied."""
        named = views(self.job.config.shapes(), self.p)
        return {name: view.copy() for name, view in named.items()}

    def advance(self, until: int) -> None:
        until = min(until, self.steps)
        while self.step < until and not self.stopped:
            epoch, number = epoch_of(self.job, self.recipe, self.step)
            order = batches(self.job, self.recipe, epoch)
            end = until if order is None else min(until, self.step + len(order) - number)
            if self.recipe.stop is not None:
                every = self.recipe.check_every
                end = min(end, (self.step // every + 1) * every)
            count = end - self.step
            if order is None:
                chosen = np.zeros((count, 0), np.int64)
            else:
                chosen = np.ascontiguousarray(order[number : number + count])
            rates, roots, kept = self._rates(self.step, end)
            schedule = Schedule(rates, roots, chosen, np.zeros(count), kept)
            self.loop(schedule)
            if self.recipe.last_batches and self.counts:
                first = max(0, self.steps - self.recipe.last_batches - self.step)
                self.recent = np.concatenate([self.recent, schedule.right[first:]])
            self.step = end
            if self.looks(end):
                self.stopped = self.measured()[0].memorized(self.recipe.stop or 0.0)

    def _rates(self, start: int, end: int) -> tuple[NDArray[Any], ...]:
        """Adam's step sizes lr/(1-β₁ᵗ), the roots √(1-β₂ᵗ), and what a weight decay leaves."""
        r, steps = self.recipe, range(start, end)
        plain = [r.rate(t, self.steps) for t in steps]
        rates = [x / (1 - r.beta1 ** (t + 1)) for t, x in zip(steps, plain, strict=True)]
        roots = [(1 - r.beta2 ** (t + 1)) ** 0.5 for t in steps]
        kept = [1 - x * r.weight_decay for x in plain]
        chosen = plain if r.optimiser == "sgd" else rates
        return tuple(np.array(row, dtype=r.dtype) for row in (chosen, roots, kept))

    @property
    def finished(self) -> bool:
        return self.stopped or self.step >= self.steps

    def weights(self) -> list[Arrays]:
        return [self.unflatten()]

    def measured(self) -> list[Measured]:
        recent = float(np.mean(self.recent)) if len(self.recent) else None
        return [measure(self.job, self.recipe, self.unflatten(), self.step, recent)]

    def state(self) -> Arrays:
        return {
            "step": np.array(self.step),
            "stopped": np.array(self.stopped),
            "recent": self.recent.copy(),
            "p": self.p.copy(),
            "m": self.m.copy(),
            "v": self.v.copy(),
        }

    def restore(self, arrays: Arrays) -> None:
        self.step, self.stopped = int(arrays["step"]), bool(arrays["stopped"])
        self.recent = arrays["recent"].copy()
        self.p[:], self.m[:], self.v[:] = arrays["p"], arrays["m"], arrays["v"]


class CompiledWong(CompiledRun):
    """Wong's layer."""

    counts = False

    def prepare(self) -> None:
        config, (p, g, *_) = self.job.config, self.optimiser
        assert isinstance(config, Wong)
        self.model = wong.model_of(config, p, g, self.recipe.both_positions)

    def loop(self, schedule: Schedule) -> None:
        wong.train_wong(self.optimiser, schedule, self.model)


class CompiledDana(CompiledRun):
    """Dana's transformer on bigrams."""

    def prepare(self) -> None:
        self.model = dana_layout.model_of(self.layout, self.p, self.optimiser.g)

    @cached_property
    def layout(self) -> dana_layout.Layout:
        """The layout with padded heads."""
        assert isinstance(self.job.config, Dana)
        return dana_layout.Layout(self.job.config, self.recipe.dtype)

    def flatten(self, weights: Arrays) -> NDArray[Any]:
        return self.layout.flatten(weights)

    def unflatten(self) -> Arrays:
        return self.layout.unflatten(self.p)

    def loop(self, schedule: Schedule) -> None:
        dana.train_dana(self.optimiser, schedule, self.model)


class CompiledSequences(CompiledRun):
    """Dana's transformer on longer sequences."""

    def prepare(self) -> None:
        assert isinstance(self.job.config, Dana)
        self.model = sequences.model_of(self.job.config, self.p, self.optimiser.g)

    def loop(self, schedule: Schedule) -> None:
        sequences.train_sequences(self.optimiser, schedule, self.model)


class CompiledMahdavi(CompiledRun):
    """Mahdavi's layer."""

    counts = False

    def prepare(self) -> None:
        config, (p, g, *_) = self.job.config, self.optimiser
        assert isinstance(config, Mahdavi)
        self.model = mahdavi_layout.model_of(config, p, g, self.recipe.batch)

    def loop(self, schedule: Schedule) -> None:
        mahdavi.train_mahdavi(self.optimiser, schedule, self.model)


def start(
    jobs: Sequence[Job],
    recipe: Recipe,
    initial: Sequence[Arrays] | None = None,
    device: str | None = None,
) -> Run:
    """A compiled run of one job."""
    if device not in (None, "cpu"):
        raise LemmaxError(f"The numba backend runs on the CPU, not on {device!r}.")
    config = jobs[0].config
    assert not isinstance(config, Own)  # which have an engine of their own
    if isinstance(config, Wong):
        if recipe.batch is not None:
            raise LemmaxError("The numba backend trains Wong's layers on full batches.")
        return CompiledWong(jobs, recipe, initial)
    if isinstance(config, Mahdavi):
        return CompiledMahdavi(jobs, recipe, initial)
    if config.S == 2:
        return CompiledDana(jobs, recipe, initial)
    if config.maps != "per-head" or config.width:
        raise LemmaxError(
            f"The numba backend trains sequences of S = {config.S} tokens with per-head maps and "
            "without an MLP only."
        )
    return CompiledSequences(jobs, recipe, initial)
