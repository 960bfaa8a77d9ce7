"""Compiled training, one model at a time at its exact shapes, on the CPU.

No group is ever formed: a job's result does not depend on its companions.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lemmax.numerics.engines.compiled import dana as dana_kernel
from lemmax.numerics.engines.compiled import mahdavi as mahdavi_kernel
from lemmax.numerics.engines.compiled import sequences as sequence_kernel
from lemmax.numerics.engines.compiled import wong as wong_kernel
from lemmax.numerics.engines.run import Measured, Run, epoch_of, measure
from lemmax.numerics.training.configurations import Arrays, Dana, Mahdavi, Wong
from lemmax.numerics.training.jobs import Job, batches
from lemmax.numerics.training.recipes import Recipe
from lemmax.theory.errors import LemmaxError


class NumbaRun(Run):
    """One job: flat parameters, gradients and moments, and a compiled loop over the steps."""

    def __init__(
        self, jobs: Sequence[Job], recipe: Recipe, initial: Sequence[Arrays] | None = None
    ) -> None:
        super().__init__(jobs, recipe)
        (self.job,) = jobs
        weights = self.job.initial(recipe) if initial is None else initial[0]
        self.p = np.ascontiguousarray(self.flatten(weights))
        self.m, self.v = np.zeros_like(self.p), np.zeros_like(self.p)
        beta1, beta2 = recipe.beta1, recipe.beta2
        hyper = [beta1, 1 - beta1, beta2, 1 - beta2, recipe.eps]
        self.hyper = np.array(hyper, dtype=recipe.dtype)
        self.recent = np.zeros(0)
        self.stopped = False

    @abstractmethod
    def flatten(self, weights: Arrays) -> NDArray[Any]:
        """The parameters as the kernel holds them."""

    @abstractmethod
    def unflatten(self) -> Arrays:
        """The parameters in their own shapes."""

    @abstractmethod
    def loop(self, chosen: NDArray[np.int64], rates: NDArray[Any], roots: NDArray[Any]) -> Any:
        """Run the kernel; returns the accuracy on each batch where the kernel knows it."""

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
            rates, roots = self._rates(self.step, end)
            right = self.loop(chosen, rates, roots)
            if self.recipe.last_batches and right is not None:
                first = max(0, self.steps - self.recipe.last_batches - self.step)
                self.recent = np.concatenate([self.recent, right[first:]])
            self.step = end
            if self.looks(end):
                self.stopped = self.measured()[0].memorized(self.recipe.stop or 0.0)

    def _rates(self, start: int, end: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Adam's step sizes lr/(1-β₁ᵗ) and the roots √(1-β₂ᵗ)."""
        r, steps = self.recipe, range(start, end)
        rates = [r.rate(t, self.steps) / (1 - r.beta1 ** (t + 1)) for t in steps]
        roots = [(1 - r.beta2 ** (t + 1)) ** 0.5 for t in steps]
        return np.array(rates, dtype=r.dtype), np.array(roots, dtype=r.dtype)

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


class NumbaWong(NumbaRun):
    """Wong's layer."""

    def __init__(
        self, jobs: Sequence[Job], recipe: Recipe, initial: Sequence[Arrays] | None = None
    ) -> None:
        super().__init__(jobs, recipe, initial)
        assert isinstance(self.job.config, Wong)
        self.space = wong_kernel.Workspace(self.job.config, self.p, recipe.both_positions)

    def flatten(self, weights: Arrays) -> NDArray[Any]:
        names = self.job.config.shapes()
        return np.concatenate([weights[n].astype(self.recipe.dtype).ravel() for n in names])

    def unflatten(self) -> Arrays:
        assert isinstance(self.job.config, Wong)
        return {n: a.copy() for n, a in wong_kernel.views(self.job.config, self.p).items()}

    def loop(self, chosen: NDArray[np.int64], rates: NDArray[Any], roots: NDArray[Any]) -> Any:
        x = self.space
        wong_kernel.train_wong(
            self.p, x.g, self.m, self.v, x.matrices, x.heads, x.tables, x.planes, x.lines, x.rows,
            self.hyper, rates, roots,
        )  # fmt: skip
        return None


class NumbaDana(NumbaRun):
    """Dana's transformer on bigrams."""

    def __init__(
        self, jobs: Sequence[Job], recipe: Recipe, initial: Sequence[Arrays] | None = None
    ) -> None:
        config = jobs[0].config
        assert isinstance(config, Dana)
        self.layout = dana_kernel.Layout(config, recipe.dtype)
        super().__init__(jobs, recipe, initial)
        self.space = dana_kernel.Workspace(self.layout, self.p)
        self.pairs = dana_kernel.pairs_of(config)

    def flatten(self, weights: Arrays) -> NDArray[Any]:
        return self.layout.flatten(weights)

    def unflatten(self) -> Arrays:
        return self.layout.unflatten(self.p)

    def loop(self, chosen: NDArray[np.int64], rates: NDArray[Any], roots: NDArray[Any]) -> Any:
        x, right = self.space, np.zeros(len(rates))
        dana_kernel.train_dana(
            self.p, x.g, self.m, self.v, x.params, x.grads, x.lefts, x.rights, x.products,
            x.dlefts, x.drights, x.dproducts, x.tables, x.cubes, x.planes, x.lines, x.numbers,
            self.pairs, chosen, self.hyper, rates, roots, right,
        )  # fmt: skip
        return right


class NumbaSequences(NumbaRun):
    """Dana's transformer on longer sequences."""

    def __init__(
        self, jobs: Sequence[Job], recipe: Recipe, initial: Sequence[Arrays] | None = None
    ) -> None:
        super().__init__(jobs, recipe, initial)
        assert isinstance(self.job.config, Dana)
        self.space = sequence_kernel.Workspace(self.job.config, self.p)

    def flatten(self, weights: Arrays) -> NDArray[Any]:
        names = self.job.config.shapes()
        return np.concatenate([weights[n].astype(self.recipe.dtype).ravel() for n in names])

    def unflatten(self) -> Arrays:
        assert isinstance(self.job.config, Dana)
        return {n: a.copy() for n, a in sequence_kernel.views(self.job.config, self.p).items()}

    def loop(self, chosen: NDArray[np.int64], rates: NDArray[Any], roots: NDArray[Any]) -> Any:
        x, right = self.space, np.zeros(len(rates))
        sequence_kernel.train_sequences(
            self.p, x.g, self.m, self.v, x.heads, x.tables, x.planes, x.lines, x.sequences,
            x.targets, chosen, self.hyper, rates, roots, right,
        )  # fmt: skip
        return right


class NumbaMahdavi(NumbaRun):
    """Mahdavi's layer."""

    def __init__(
        self, jobs: Sequence[Job], recipe: Recipe, initial: Sequence[Arrays] | None = None
    ) -> None:
        super().__init__(jobs, recipe, initial)
        assert isinstance(self.job.config, Mahdavi)
        self.space = mahdavi_kernel.Workspace(self.job.config, self.p, recipe.batch)

    def flatten(self, weights: Arrays) -> NDArray[Any]:
        names = self.job.config.shapes()
        return np.concatenate([weights[n].astype(self.recipe.dtype).ravel() for n in names])

    def unflatten(self) -> Arrays:
        assert isinstance(self.job.config, Mahdavi)
        return {n: a.copy() for n, a in mahdavi_kernel.views(self.job.config, self.p).items()}

    def loop(self, chosen: NDArray[np.int64], rates: NDArray[Any], roots: NDArray[Any]) -> Any:
        x = self.space
        mahdavi_kernel.train_mahdavi(
            self.p, x.g, self.m, self.v, x.heads, x.maps, x.biases, x.cubes, x.planes, x.lines,
            x.data, x.contexts, x.classes, x.values, chosen, self.hyper, rates, roots,
        )  # fmt: skip
        return None


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
    if isinstance(config, Wong):
        if recipe.batch is not None:
            raise LemmaxError("The numba backend trains Wong's layers on full batches.")
        return NumbaWong(jobs, recipe, initial)
    if isinstance(config, Mahdavi):
        return NumbaMahdavi(jobs, recipe, initial)
    if config.S == 2:
        return NumbaDana(jobs, recipe, initial)
    if config.maps != "per-head" or config.width:
        raise LemmaxError(
            f"The numba backend trains sequences of S = {config.S} tokens with per-head maps and "
            "without an MLP only."
        )
    return NumbaSequences(jobs, recipe, initial)
