"""Groups of models trained by ``torch.func``: vmap of the gradient of the reference modules.

This is what the hand-written gradients of :mod:`lemmax.numerics.engines.stacked` would be replaced
by. Wong's layers are padded as there, masked in the vocabulary and weighted in the rows; others
have one shape per group. Samples of a batch are drawn as they come, which costs less than epochs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch.func import functional_call, grad, vmap
from torch.nn import functional

from lemmax.numerics.engines.stacked.stacks import Stack
from lemmax.numerics.training.configurations import Config, Dana, Mahdavi, Wong
from lemmax.numerics.training.jobs import Job
from lemmax.numerics.training.models import model_of
from lemmax.numerics.training.own import Own
from lemmax.numerics.training.recipes import Recipe


class Vmapped:
    """A group of models in float32 on the CPU, and Adam over all of them at once."""

    def __init__(self, jobs: Sequence[Job], recipe: Recipe) -> None:
        self.recipe, self.step = recipe, 0
        self.config, self.data = _group([job.config for job in jobs])
        self.random = np.random.default_rng(0)
        shapes = self.config.shapes()
        self.stack = Stack(shapes, len(jobs), torch.float32, "cpu")
        for g, job in enumerate(jobs):
            for name, array in job.initial(recipe).items():
                corner = tuple(slice(0, n) for n in array.shape)
                self.stack.parameters[name][g][corner] = torch.from_numpy(array)
        model = model_of(self.config, {name: torch.zeros(s) for name, s in shapes.items()})

        def loss(parameters: dict[str, Tensor], *data: Tensor) -> Tensor:
            if isinstance(self.config, Wong):
                facts, weights, mask = data
                logits: Tensor = functional_call(model, parameters, (facts[:, :2],)) + mask
                logs = logits.log_softmax(-1).gather(-1, facts[:, 1:, None])[..., 0]
                weighted: Tensor = -(logs.sum(-1) * weights).sum()
                return weighted
            *inputs, targets = data
            outputs: Tensor = functional_call(model, parameters, (*inputs,))
            return functional.cross_entropy(outputs, targets)

        self.gradient = vmap(grad(loss))

    def advance(self, until: int) -> None:
        """Train until that many steps are done in all."""
        while self.step < until:
            gradients = self.gradient(self.stack.parameters, *self._batch())
            for name, gradient in gradients.items():
                self.stack.gradients[name].copy_(gradient)
            with torch.no_grad():
                self.stack.adam(self.recipe, self.step + 1, self.recipe.rate(self.step, 10_000))
            self.step += 1

    def _batch(self) -> tuple[Tensor, ...]:
        if isinstance(self.config, Wong) or self.recipe.batch is None:
            return self.data
        models, samples = len(self.data[0]), self.config.samples
        chosen = self.random.integers(samples, size=(models, self.recipe.batch))
        places = torch.arange(models)[:, None], torch.from_numpy(chosen)
        shared = isinstance(self.config, Mahdavi) and self.config.shared_context
        contexts = 1 if shared else None  # the place of what is not drawn from
        parts = enumerate(self.data)
        return tuple(part if place == contexts else part[places] for place, part in parts)


def _group(configs: Sequence[Config]) -> tuple[Config, tuple[Tensor, ...]]:
    """The common configuration of a group, padded, and its data."""
    wong = [config for config in configs if isinstance(config, Wong)]
    if not wong:
        config = configs[0]
        assert isinstance(config, Dana | Mahdavi)
        parts = zip(*(c.data() for c in configs if not isinstance(c, Wong | Own)), strict=True)
        stacked = [torch.from_numpy(np.stack(part)) for part in parts]
        return config, tuple(x.float() if x.is_floating_point() else x for x in stacked)
    tokens, rows = max(c.tokens for c in wong), max(c.samples for c in wong)
    facts = np.zeros((len(wong), rows, 3), np.int64)
    weights, mask = np.zeros((len(wong), rows)), np.zeros((len(wong), 1, 1, tokens))
    for g, config in enumerate(wong):
        facts[g, : config.samples] = config.facts
        weights[g, : config.samples] = 1 / config.samples / 2
        mask[g, ..., config.tokens :] = -1e4
    largest = Wong(
        max(c.d_model for c in wong),
        max(c.d_vo for c in wong),
        max(c.d_qk for c in wong),
        max(c.heads for c in wong),
        ((0, 0, tokens - 1),) * rows,
    )
    floats = (torch.from_numpy(array).float() for array in (weights, mask))
    return largest, (torch.from_numpy(facts), *floats)
