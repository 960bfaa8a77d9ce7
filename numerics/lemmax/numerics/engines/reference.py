"""The oracle: one module at a time, autograd and an optimiser of ``torch.optim``.

Nothing here is clever, and nothing here is fast. The other engines must agree with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from lemmax.numerics.engines.run import Measured, Run, epoch_of, measure
from lemmax.numerics.training.configurations import Arrays, Dana, Mahdavi, Wong
from lemmax.numerics.training.jobs import Job, batches
from lemmax.numerics.training.models import Model, MultiHeadModel, model_of
from lemmax.numerics.training.own import Own
from lemmax.numerics.training.recipes import Recipe
from lemmax.theory.errors import LemmaxError


def device_named(device: str | None) -> str:
    """The device to train on: CUDA where there is one, unless another is named."""
    if device is None:
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError):
        raise LemmaxError(f"There is no device {device!r} here.") from None
    return device


_BUFFERS = ("exp_avg", "exp_avg_sq", "momentum_buffer")


def optimiser_of(recipe: Recipe, parameters: Iterable[Tensor]) -> torch.optim.Optimizer:
    """The recipe's optimiser as torch has it."""
    if recipe.optimiser == "sgd":
        return torch.optim.SGD(
            parameters, recipe.learning_rate, recipe.momentum, weight_decay=recipe.weight_decay
        )
    betas = (recipe.beta1, recipe.beta2)
    if recipe.weight_decay:
        return torch.optim.AdamW(
            parameters, recipe.learning_rate, betas, recipe.eps, recipe.weight_decay
        )
    return torch.optim.Adam(parameters, recipe.learning_rate, betas, recipe.eps)


def start(
    jobs: Sequence[Job],
    recipe: Recipe,
    initial: Sequence[Arrays] | None = None,
    device: str | None = None,
) -> Run:
    """A run of one job."""
    return ReferenceRun(jobs, recipe, initial, device_named(device))


class ReferenceRun(Run):
    """One job."""

    def __init__(
        self,
        jobs: Sequence[Job],
        recipe: Recipe,
        initial: Sequence[Arrays] | None = None,
        device: str = "cpu",
    ) -> None:
        super().__init__(jobs, recipe)
        (self.job,) = jobs
        weights = self.job.initial(recipe) if initial is None else initial[0]
        dtype = getattr(torch, recipe.dtype)
        self.model: Model = model_of(self.job.config, weights).to(dtype=dtype, device=device)
        self.optimiser = optimiser_of(recipe, self.model.parameters())
        self.inputs, self.targets = _tensors(self.job, dtype, device)
        self.epoch = -1
        self.order: Any = None
        self.recent: list[float] = []
        self.stopped = False

    def advance(self, until: int) -> None:
        recipe, config = self.recipe, self.job.config
        while self.step < min(until, self.steps) and not self.stopped:
            epoch, number = epoch_of(self.job, recipe, self.step)
            if epoch != self.epoch:
                self.epoch, self.order = epoch, batches(self.job, recipe, epoch)
            chosen = slice(None) if self.order is None else torch.as_tensor(self.order[number])
            for group in self.optimiser.param_groups:
                group["lr"] = recipe.rate(self.step, self.steps)
            outputs = self._outputs(chosen)
            loss = _loss(config, recipe, outputs, self.targets, chosen)
            if recipe.last_batches and self.step >= self.steps - recipe.last_batches:
                right = outputs.argmax(-1) == self.targets[chosen]
                self.recent.append(float(right.double().mean()))
            self.optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            self.optimiser.step()
            self.step += 1
            if self.looks(self.step):
                self.stopped = self.measured()[0].memorized(recipe.stop or 0.0)

    def _outputs(self, chosen: Any) -> Tensor:
        if isinstance(self.model, MultiHeadModel):
            queries, contexts = self.inputs
            shared = self.model.config.shared_context
            output: Tensor = self.model(queries[chosen], contexts if shared else contexts[chosen])
            return output
        output = self.model(self.inputs[0][chosen])
        return output

    @property
    def finished(self) -> bool:
        return self.stopped or self.step >= self.steps

    def weights(self) -> list[Arrays]:
        return [self.model.arrays()]

    def measured(self) -> list[Measured]:
        recent = float(np.mean(self.recent)) if self.recent else None
        return [measure(self.job, self.recipe, self.model.arrays(), self.step, recent)]

    def state(self) -> Arrays:
        arrays: Arrays = {"step": np.array(self.step), "recent": np.array(self.recent)}
        arrays["stopped"] = np.array(self.stopped)
        for name, parameter in self.model.named_parameters():
            arrays[f"p.{name}"] = parameter.detach().cpu().numpy().copy()
            moments = self.optimiser.state.get(parameter, {})
            for moment in _BUFFERS:
                if moments.get(moment) is not None:
                    arrays[f"{moment}.{name}"] = moments[moment].cpu().numpy().copy()
        return arrays

    def restore(self, arrays: Arrays) -> None:
        self.step, self.recent = int(arrays["step"]), [float(x) for x in arrays["recent"]]
        self.stopped = bool(arrays["stopped"])
        for name, parameter in self.model.named_parameters():
            with torch.no_grad():
                parameter.copy_(torch.from_numpy(arrays[f"p.{name}"]))
            if self.step:
                self.optimiser.state[parameter] = {"step": torch.tensor(float(self.step))} | {
                    moment: torch.from_numpy(arrays[f"{moment}.{name}"]).to(parameter)
                    for moment in _BUFFERS
                    if f"{moment}.{name}" in arrays
                }


def _tensors(job: Job, dtype: torch.dtype, device: str) -> tuple[tuple[Tensor, ...], Tensor]:
    config = job.config
    assert not isinstance(config, Own)  # which have an engine of their own
    if isinstance(config, Wong):
        facts = torch.tensor(config.facts, device=device)
        return (facts[:, :2],), facts[:, 1:]
    if isinstance(config, Dana):
        sequences, following = config.data()
        return (torch.from_numpy(sequences).to(device),), torch.from_numpy(following).to(device)
    queries, contexts, labels = config.data()
    targets = torch.from_numpy(labels).to(device)
    return (
        (torch.from_numpy(queries).to(device, dtype), torch.from_numpy(contexts).to(device, dtype)),
        targets if config.classes else targets.to(dtype),
    )


def _loss(config: Any, recipe: Recipe, outputs: Tensor, targets: Tensor, chosen: Any) -> Tensor:
    wanted = targets[chosen]
    if isinstance(config, Mahdavi) and not config.classes:
        return functional.mse_loss(outputs[:, 0], wanted)
    if isinstance(config, Wong):
        if not recipe.both_positions:
            outputs, wanted = outputs[:, 1:], wanted[:, 1:]
        outputs, wanted = outputs.flatten(0, 1), wanted.flatten()
    return functional.cross_entropy(outputs, wanted)
