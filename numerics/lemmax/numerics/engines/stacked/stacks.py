"""Groups of models as stacked tensors, and Adam over all of them at once.

Parameters, gradients and both moments are four flat tensors with views (G, …) into them, so that a
step of Adam is five operations however many parameters there are. Every gradient is contiguous with
its parameter by construction. (``torch.optim.Adam(fused=True)`` on the CPU computes wrong updates,
silently, when a gradient has other strides than its parameter.)
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lemmax.numerics.engines.flat import views
from lemmax.numerics.engines.run import Measured, Run, measure
from lemmax.numerics.training.configurations import Arrays
from lemmax.numerics.training.jobs import Job
from lemmax.numerics.training.recipes import Recipe


class Stack:
    """Named parameters of G models in flat storage."""

    def __init__(
        self, shapes: Mapping[str, tuple[int, ...]], models: int, dtype: torch.dtype, device: str
    ) -> None:
        self.shapes, self.models = dict(shapes), models
        size = models * sum(int(np.prod(shape)) for shape in self.shapes.values())
        self.p, self.g, self.m, self.v = (
            torch.zeros(size, dtype=dtype, device=device) for _ in range(4)
        )
        stacked = {name: (models, *shape) for name, shape in self.shapes.items()}
        self.parameters, self.gradients = views(stacked, self.p), views(stacked, self.g)

    def update(self, recipe: Recipe, step: int, rate: float) -> None:
        """One step of the recipe's optimiser, counted from 1."""
        if recipe.optimiser == "sgd":
            self.sgd(recipe, rate)
            return
        if recipe.weight_decay:
            self.p.mul_(1 - rate * recipe.weight_decay)
        self.adam(recipe, step, rate)

    def sgd(self, recipe: Recipe, rate: float) -> None:
        """One step with the formulas of ``torch.optim.SGD``; the first moment is its buffer."""
        if recipe.weight_decay:
            self.g.add_(self.p, alpha=recipe.weight_decay)
        self.m.mul_(recipe.momentum).add_(self.g)
        self.p.add_(self.m, alpha=-rate)

    def adam(self, recipe: Recipe, step: int, rate: float) -> None:
        """One step, counted from 1, with the formulas of ``torch.optim.Adam``."""
        beta1, beta2 = recipe.beta1, recipe.beta2
        self.m.lerp_(self.g, 1 - beta1)
        self.v.mul_(beta2).addcmul_(self.g, self.g, value=1 - beta2)
        root = (1 - beta2**step) ** 0.5
        denominator = self.v.sqrt().div_(root).add_(recipe.eps)
        self.p.addcdiv_(self.m, denominator, value=-rate / (1 - beta1**step))


class StackedRun(Run):
    """A group of models in training.

    The result of a model that has stopped is kept aside while the others go on in the same
    stack: in a smaller one the last bits of their products would be others.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        recipe: Recipe,
        initial: Sequence[Arrays] | None,
        device: str,
    ) -> None:
        super().__init__(jobs, recipe)
        self.device, self.dtype = device, getattr(torch, recipe.dtype)
        self.ended: dict[int, tuple[Arrays, Measured]] = {}
        self.recent: list[list[float]] = [[] for _ in self.jobs]
        self.prepare()
        self.stack = Stack(self.shapes(), len(self.jobs), self.dtype, device)
        for number, job in enumerate(self.jobs):
            weights = job.initial(recipe) if initial is None else initial[number]
            for name, array in self.inward(number, weights).items():
                view = self.stack.parameters[name][number]
                corner = tuple(slice(0, n) for n in array.shape)
                view[corner] = torch.as_tensor(np.ascontiguousarray(array)).to(view)
        self.load()

    @abstractmethod
    def prepare(self) -> None:
        """Fix the padded sizes and the data; called once, with all jobs."""

    @abstractmethod
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Padded shapes of the stacked parameters."""

    @abstractmethod
    def inward(self, number: int, weights: Arrays) -> Arrays:
        """A job's weights in the layout of the stack, unpadded."""

    @abstractmethod
    def outward(self, number: int, weights: dict[str, Tensor]) -> Arrays:
        """A job's weights from the layout of the stack, padding removed."""

    @abstractmethod
    def load(self) -> None:
        """Put the data of all jobs on the device."""

    @abstractmethod
    def gradient(self, step: int) -> None:
        """Write all gradients of a step, and the accuracies of its batches if they count."""

    def constants(self) -> None:
        """Put back what the layout holds constant among the parameters, since all of it decays."""

    @property
    def counts(self) -> bool:
        """Whether the accuracy on the batch of the present step is recorded."""
        last = self.recipe.last_batches
        return last > 0 and self.step >= self.steps - last

    @property
    def active(self) -> list[int]:
        """The numbers of the jobs that have not stopped."""
        return [number for number in range(len(self.jobs)) if number not in self.ended]

    def advance(self, until: int) -> None:
        with torch.no_grad():
            while self.step < min(until, self.steps) and self.active:
                self.gradient(self.step)
                rate = self.recipe.rate(self.step, self.steps)
                self.stack.update(self.recipe, self.step + 1, rate)
                if self.recipe.weight_decay:
                    self.constants()
                self.step += 1
                if self.looks(self.step):
                    self._stop()

    def _stop(self) -> None:
        """Keep the results of those that have memorized everything."""
        for number in self.active:
            measured = self._measure(number)
            if measured.memorized(self.recipe.stop or 0.0):
                self.ended[number] = (self._weights(number), measured)

    def note(self, shares: Sequence[float]) -> None:
        """Record the accuracies on a batch, one per job, of those that have not stopped."""
        for number in self.active:
            self.recent[number].append(shares[number])

    def _weights(self, number: int) -> Arrays:
        tensors = {name: view[number] for name, view in self.stack.parameters.items()}
        return self.outward(number, tensors)

    def _measure(self, number: int) -> Measured:
        recent = self.recent[number]
        mean = float(np.mean(recent)) if recent else None
        return measure(self.jobs[number], self.recipe, self._weights(number), self.step, mean)

    @property
    def finished(self) -> bool:
        return not self.active or self.step >= self.steps

    def weights(self) -> list[Arrays]:
        return [
            self.ended[number][0] if number in self.ended else self._weights(number)
            for number in range(len(self.jobs))
        ]

    def measured(self) -> list[Measured]:
        return [
            self.ended[number][1] if number in self.ended else self._measure(number)
            for number in range(len(self.jobs))
        ]

    def state(self) -> Arrays:
        arrays: Arrays = {"step": np.array(self.step)}
        for name in ("p", "m", "v"):
            arrays[name] = getattr(self.stack, name).cpu().numpy().copy()
        for number, recent in enumerate(self.recent):
            arrays[f"recent.{number}"] = np.array(recent)
        for number, (weights, measured) in self.ended.items():
            arrays[f"ended.{number}.steps"] = np.array(measured.steps)
            for name, array in weights.items():
                arrays[f"ended.{number}.weights.{name}"] = array
        return arrays

    def restore(self, arrays: Arrays) -> None:
        self.recent = [[float(x) for x in arrays[f"recent.{n}"]] for n in range(len(self.jobs))]
        self.ended = {}
        for name in [name for name in arrays if name.endswith(".steps")]:
            number = int(name.split(".")[1])
            prefix = f"ended.{number}.weights."
            weights = {n[len(prefix) :]: a for n, a in arrays.items() if n.startswith(prefix)}
            steps = int(arrays[name])
            measured = measure(self.jobs[number], self.recipe, weights, steps)
            self.ended[number] = (weights, measured)
        self.step = int(arrays["step"])
        for name in ("p", "m", "v"):
            getattr(self.stack, name).copy_(torch.from_numpy(arrays[name]))

    def tensor(self, array: Any, dtype: torch.dtype | None = None) -> Tensor:
        """An array on the device, in the precision of the recipe unless another is named."""
        return torch.as_tensor(np.ascontiguousarray(array)).to(self.device, dtype or self.dtype)
