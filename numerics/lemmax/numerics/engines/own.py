"""One's own torch modules: all seeds at once by ``torch.func.vmap``, or one by one.

What vmap cannot take (running averages that change, random numbers, choices that depend on the
data) is trained module by module, slower; both give the same numbers up to rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap
from torch.nn import functional

from lemmax.numerics.engines.reference import device_named
from lemmax.numerics.engines.run import Measured, Run, classified, epoch_of
from lemmax.numerics.engines.stacked.stacks import Stack
from lemmax.numerics.training.configurations import Arrays
from lemmax.numerics.training.jobs import Job, batches
from lemmax.numerics.training.naming import function_named
from lemmax.numerics.training.own import Own
from lemmax.numerics.training.recipes import Recipe
from lemmax.theory.errors import LemmaxError

MOST = 64  # modules in a group


def plan(jobs: Sequence[Job], recipe: Recipe, group: int | None) -> list[tuple[int, ...]]:
    """Jobs that differ in the seed alone are trained together."""
    if group is not None and group < 1:
        raise LemmaxError(f"A group needs at least one model, not {group}.")
    alike: dict[Any, list[int]] = {}
    for number, job in enumerate(jobs):
        alike.setdefault(job.config, []).append(number)
    size = group or MOST
    return [
        tuple(numbers[first : first + size])
        for numbers in alike.values()
        for first in range(0, len(numbers), size)
    ]


def start(
    jobs: Sequence[Job],
    recipe: Recipe,
    initial: Sequence[Arrays] | None = None,
    device: str | None = None,
) -> Run:
    """A run of one group."""
    return OwnRun(jobs, recipe, initial, device_named(device))


class OwnRun(Run):
    """A group of modules in training, whose parameters are views of stacked ones."""

    def __init__(
        self, jobs: Sequence[Job], recipe: Recipe, initial: Sequence[Arrays] | None, device: str
    ) -> None:
        super().__init__(jobs, recipe)
        if recipe.pool is not None or recipe.stop is not None or recipe.last_batches:
            raise LemmaxError("A module of one's own has no pool of samples and no early end.")
        config = self.jobs[0].config
        assert isinstance(config, Own)
        self.config, self.device, self.dtype = config, device, getattr(torch, recipe.dtype)
        self.loss = function_named(str(config.loss)) if config.loss is not None else natural_loss
        inputs, targets = config.tensors()
        self.inputs, self.targets = tuple(map(self._put, inputs)), self._put(targets)
        self.modules = [config.make(job.seed).to(device, self.dtype) for job in self.jobs]
        self.stack = Stack(config.shapes(), len(self.jobs), self.dtype, device)
        for number, module in enumerate(self.modules):
            for name, parameter in module.named_parameters():
                if name in self.stack.parameters:
                    view = self.stack.parameters[name][number]
                    given = parameter if initial is None else torch.as_tensor(initial[number][name])
                    view.copy_(given.detach())
                    parameter.data = view
            module.train()
        self.epoch, self.order = -1, np.zeros((len(self.jobs), 0, 0), np.int64)
        self.vmapped = self._can_be_vmapped()

    def _put(self, x: Tensor) -> Tensor:
        return x.to(self.device, self.dtype if x.is_floating_point() else None)

    def _can_be_vmapped(self) -> bool:
        """Try a gradient; where vmap refuses, modules are trained one by one."""
        fixed: list[dict[str, Tensor]] = []
        for module in self.modules:
            named = {**dict(module.named_parameters()), **dict(module.named_buffers())}
            trained = self.stack.parameters
            fixed.append({n: x.detach() for n, x in named.items() if n not in trained})
        self.fixed = {name: torch.stack([each[name] for each in fixed]) for name in fixed[0]}
        base = self.modules[0]

        def loss(own: dict[str, Tensor], fixed: dict[str, Tensor], *data: Tensor) -> Tensor:
            *inputs, targets = data
            value: Tensor = self.loss(functional_call(base, (own, fixed), tuple(inputs)), targets)
            return value

        count = len(self.inputs) + 1
        self.shared = vmap(grad(loss), in_dims=(0, 0, *[None] * count))
        self.apart = vmap(grad(loss), in_dims=(0, 0, *[0] * count))
        before = {name: buffer.clone() for name, buffer in base.named_buffers()}
        constants = {name: x.clone() for name, x in self.fixed.items()}
        try:
            self._vmapped(0)
            can = all(torch.equal(x, constants[name]) for name, x in self.fixed.items())
        except (RuntimeError, NotImplementedError, ValueError):
            can = False
        with torch.no_grad():  # a running average may have been touched
            for name, buffer in base.named_buffers():
                buffer.copy_(before[name])
        return can

    def _chosen(self, step: int) -> Tensor | None:
        """The samples of every job in a step; None for all of them."""
        if self.recipe.batch is None:
            return None
        epoch, number = epoch_of(self.jobs[0], self.recipe, step)
        if epoch != self.epoch:
            orders = [batches(job, self.recipe, epoch) for job in self.jobs]
            self.epoch, self.order = epoch, np.stack([o for o in orders if o is not None])
        return torch.as_tensor(self.order[:, number]).to(self.device)

    def _vmapped(self, step: int) -> None:
        chosen = self._chosen(step)
        if chosen is None:
            found = self.shared(self.stack.parameters, self.fixed, *self.inputs, self.targets)
        else:
            rows = [x[chosen] for x in (*self.inputs, self.targets)]
            found = self.apart(self.stack.parameters, self.fixed, *rows)
        for name, gradient in found.items():
            self.stack.gradients[name].copy_(gradient)

    def _one_by_one(self, step: int) -> None:
        chosen = self._chosen(step)
        for number, module in enumerate(self.modules):
            rows = slice(None) if chosen is None else chosen[number]
            torch.manual_seed((self.jobs[number].seed << 32) + step)  # for random layers
            trained = {n: p for n, p in module.named_parameters() if n in self.stack.parameters}
            with torch.enable_grad():
                value = self.loss(module(*(x[rows] for x in self.inputs)), self.targets[rows])
                found = torch.autograd.grad(value, list(trained.values()), allow_unused=True)
            for name, gradient in zip(trained, found, strict=True):
                view = self.stack.gradients[name][number]
                view.zero_() if gradient is None else view.copy_(gradient)

    def advance(self, until: int) -> None:
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            while self.step < min(until, self.steps):
                (self._vmapped if self.vmapped else self._one_by_one)(self.step)
                rate = self.recipe.rate(self.step, self.steps)
                self.stack.update(self.recipe, self.step + 1, rate)
                self.step += 1

    @property
    def finished(self) -> bool:
        return self.step >= self.steps

    def weights(self) -> list[Arrays]:
        return [
            {name: x.detach().cpu().numpy().copy() for name, x in module.state_dict().items()}
            for module in self.modules
        ]

    def measured(self) -> list[Measured]:
        return [self._measure(module) for module in self.modules]

    def _measure(self, module: nn.Module) -> Measured:
        module.eval()
        with torch.no_grad():
            outputs = module(*self.inputs)
            loss = float(self.loss(outputs, self.targets))
        module.train()
        if self.targets.is_floating_point() or outputs.dim() != self.targets.dim() + 1:
            return Measured(self.step, loss, None, {}, None, 0.0)
        logits = outputs.double().flatten(0, -2).cpu().numpy()
        return classified(logits, self.targets.flatten().cpu().numpy(), self.step, None, loss=loss)

    def state(self) -> Arrays:
        arrays: Arrays = {"step": np.array(self.step)}
        for name in ("p", "m", "v"):
            arrays[name] = getattr(self.stack, name).cpu().numpy().copy()
        for number, module in enumerate(self.modules):
            for name, buffer in module.named_buffers():
                arrays[f"buffer.{number}.{name}"] = buffer.cpu().numpy().copy()
        return arrays

    def restore(self, arrays: Arrays) -> None:
        self.step = int(arrays["step"])
        for name in ("p", "m", "v"):
            getattr(self.stack, name).copy_(torch.from_numpy(arrays[name]))
        for number, module in enumerate(self.modules):
            for name, buffer in module.named_buffers():
                buffer.copy_(torch.from_numpy(arrays[f"buffer.{number}.{name}"]))


def natural_loss(outputs: Tensor, targets: Tensor) -> Tensor:
    """Cross entropy over the last axis for integers, the mean squared error for floats.

    >>> float(natural_loss(torch.zeros(3, 2), torch.tensor([0, 1, 1])))
    0.693...
    """
    if targets.is_floating_point():
        return functional.mse_loss(outputs, targets)
    return functional.cross_entropy(outputs.flatten(0, -2), targets.flatten())
