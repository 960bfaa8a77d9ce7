"""Recipes: everything about a training run that is neither the model nor the data.

A recipe is data with a name. Its key is part of the key of every result, so that two numbers are
compared only when they were made alike. What a paper does not state is said to be a guess here.

>>> recipe("dana-code").steps, recipe("dana-code").batch
(4096, 256)
>>> recipe("nobody")
Traceback (most recent call last):
...
lemmax.numerics.training.recipes.UnknownRecipe: There is no recipe 'nobody'; known recipes are ...
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict, dataclass, replace
from dataclasses import fields as _fields
from typing import Any, Literal, TypeAlias, get_args

from lemmax.theory.errors import LemmaxError

Family: TypeAlias = Literal["wong", "dana", "mahdavi", "own"]
Schedule: TypeAlias = Literal["constant", "linear", "exponential", "warmup", "warmup-cosine"]
Optimiser: TypeAlias = Literal["adam", "sgd"]
DType: TypeAlias = Literal["float32", "float64"]
INITS = ("linear", "wong-guess", "dana-code", "mahdavi-code")
"""The initialisations, as :func:`~lemmax.numerics.training.jobs.initial_weights` draws them."""


_LATER = {"optimiser": "adam", "weight_decay": 0.0, "momentum": 0.0}


class UnknownRecipe(LemmaxError):
    """A recipe that does not exist; the message lists those that do."""


@dataclass(frozen=True)
class Recipe:
    """Optimiser, schedule, batches, number of steps, precision, initialisation and measurement.

    Parameters
    ----------
    name, family
        The recipe's name and the models that it trains.
    steps
        Optimiser steps; where ``epochs`` is given, at least that many passes over the data.
    learning_rate, schedule, start_factor, end_factor, warmup
        ``linear`` runs from ``start_factor`` to ``end_factor`` times the rate; ``exponential``
        falls from the rate to ``end_factor`` of it; ``warmup`` grows linearly from ``start_factor``
        during a share ``warmup`` of the steps and stays, ``warmup-cosine`` then follows half a
        cosine down to zero (with ``warmup`` = 0 a cosine alone).
    batch, pool
        Minibatch size (None: full batch) and the size of the fixed pool of samples that bigram
        batches are cut from (None: every input, uniformly weighted).
    last_batches
        The accuracy averaged over so many last training batches is recorded too (0: none).
    stop, check_every
        A job ends early when, at a multiple of ``check_every`` steps, all facts have probability
        at least ``stop`` (0: are the argmax). None: never.
    both_positions
        Wong: the loss also asks for the predicate after the subject.
    optimiser, beta1, beta2, eps, weight_decay, momentum
        ``adam``, with a weight decay that of ``torch.optim.AdamW`` (decoupled from the moments), or
        ``sgd`` with ``momentum``, where a weight decay is added to the gradient, as
        ``torch.optim.SGD`` does. All parameters decay, embeddings and biases too.
    """

    name: str
    family: Family
    steps: int
    learning_rate: float
    schedule: Schedule = "constant"
    start_factor: float = 1.0
    end_factor: float = 1.0
    warmup: float = 0.0
    epochs: int | None = None
    batch: int | None = None
    pool: int | None = None
    last_batches: int = 0
    stop: float | None = None
    check_every: int = 0
    both_positions: bool = True
    init: str = "linear"
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8
    dtype: DType = "float32"
    optimiser: Optimiser = "adam"
    weight_decay: float = 0.0
    momentum: float = 0.0

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise LemmaxError(f"A recipe needs at least one step, not {self.steps}.")
        if self.dtype not in ("float32", "float64"):
            raise LemmaxError(f"A recipe trains in float32 or float64, not {self.dtype!r}.")
        if self.schedule not in get_args(Schedule):
            known = ", ".join(get_args(Schedule))
            raise LemmaxError(
                f"There is no learning rate schedule {self.schedule!r}; known are {known}."
            )
        if self.schedule == "exponential" and self.end_factor <= 0:
            raise LemmaxError(f"A rate cannot fall exponentially to {self.end_factor} of itself.")
        if self.optimiser not in get_args(Optimiser):
            raise LemmaxError(f"The optimiser is adam or sgd, not {self.optimiser!r}.")
        if not 0 <= self.weight_decay < math.inf:
            raise LemmaxError(f"A weight decay cannot be {self.weight_decay}.")
        if not 0 <= self.momentum < 1 or (self.momentum and self.optimiser == "adam"):
            raise LemmaxError("SGD has a momentum from 0 to less than 1; Adam has beta1 instead.")
        if self.init not in INITS:
            known = ", ".join(INITS)
            raise LemmaxError(f"There is no initialisation {self.init!r}; known are {known}.")
        if self.batch is not None and self.batch < 1:
            raise LemmaxError(f"A batch needs at least one sample, not {self.batch}.")
        if self.pool is not None and (self.batch is None or self.pool % self.batch):
            raise LemmaxError("A pool of samples is cut into whole batches: give a divisor of it.")
        if self.stop is not None and self.check_every < 1:
            raise LemmaxError("A recipe that may stop early must say how often to look.")

    def steps_for(self, samples: int) -> int:
        """The number of steps on a data set of that size."""
        if self.epochs is None or self.batch is None:
            return self.steps
        return max(self.steps, self.epochs * samples // self.batch)

    def rate(self, step: int, steps: int) -> float:
        """The learning rate of a step, counted from 0, in a run of ``steps`` steps."""
        if self.schedule == "linear":
            share = step / steps
            return self.learning_rate * (
                self.start_factor + (self.end_factor - self.start_factor) * share
            )
        if self.schedule == "exponential":
            return self.learning_rate * float(self.end_factor ** (step / steps))
        if self.schedule in ("warmup", "warmup-cosine"):
            warm = int(self.warmup * steps)
            if step < warm:
                factor = self.start_factor + (1 - self.start_factor) * step / warm
            elif self.schedule == "warmup":
                factor = 1.0
            else:
                factor = (1 + math.cos(math.pi * (step - warm) / (steps - warm))) / 2
            return self.learning_rate * factor
        return self.learning_rate

    def to_json(self) -> dict[str, Any]:
        """Every field, ready for JSON.

        Fields that recipes did not always have are left out at their defaults, so that the keys of
        recorded results stay what they were.
        """
        return {
            name: value
            for name, value in asdict(self).items()
            if name not in _LATER or value != _LATER[name]
        }

    @property
    def key(self) -> str:
        """A hash of every field, as :meth:`to_json` has them."""
        text = json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def changed(self, **fields: Any) -> Recipe:
        """The same recipe with other fields; the key changes with them."""
        try:
            return replace(self, **fields)
        except TypeError:
            known = {field.name for field in _fields(self)}
            unknown = next(name for name in fields if name not in known)
            raise LemmaxError(f"A recipe has no field {unknown!r}.") from None


_DANA_CODE = Recipe(
    # Adam 0.1 under a linear factor 0.1 → 0.005, 64 epochs of 64 batches over a fixed pool.
    name="dana-code",
    family="dana",
    steps=4096,
    learning_rate=0.1,
    schedule="linear",
    start_factor=0.1,
    end_factor=0.005,
    batch=256,
    pool=16_384,
    last_batches=100,
    init="dana-code",
)

_MAHDAVI_SMALL = Recipe(
    name="mahdavi-small",
    family="mahdavi",
    steps=3000,
    learning_rate=5e-3,
    schedule="warmup-cosine",
    start_factor=0.01,
    warmup=0.05,
    batch=256,
    init="mahdavi-code",
)

RECIPES: dict[str, Recipe] = {
    r.name: r
    for r in (
        # The paper states neither optimiser, rate, batch nor initialisation: all four are guesses.
        Recipe("wong-guess", "wong", steps=2000, learning_rate=1e-2, init="wong-guess"),
        Recipe("wong-last", "wong", 2000, 1e-2, both_positions=False, init="wong-guess"),
        Recipe(
            name="dana-text",
            family="dana",
            steps=10_000,
            learning_rate=1e-3,
            batch=1024,
            pool=1_024_000,
            last_batches=100,
            init="dana-code",
        ),
        _DANA_CODE,
        # The public code's comparison with an MLP draws batches of 2^10.
        _DANA_CODE.changed(name="dana-code-mlp", batch=1024, pool=65_536),
        _DANA_CODE.changed(name="dana-code-mlp-16384", steps=16_384, batch=1024, pool=262_144),
        _DANA_CODE.changed(name="dana-full", batch=None, pool=None, last_batches=0, steps=2000),
        Recipe(
            name="mahdavi-code",
            family="mahdavi",
            steps=50_000,
            epochs=500,
            learning_rate=1e-3,
            schedule="warmup-cosine",
            start_factor=0.01,
            warmup=0.05,
            batch=256,
            stop=0.0,
            check_every=500,
            init="mahdavi-code",
        ),
        _MAHDAVI_SMALL,
        _MAHDAVI_SMALL.changed(name="mahdavi-full", batch=None),
    )
}
"""The recipes by name."""


def recipe(name: str | Recipe) -> Recipe:
    """The recipe of that name; a recipe is its own name.

    >>> recipe("wong-guess").changed(steps=10).steps
    10
    """
    if isinstance(name, Recipe):
        return name
    if name not in RECIPES:
        known = ", ".join(sorted(RECIPES))
        raise UnknownRecipe(f"There is no recipe {name!r}; known recipes are {known}.")
    return RECIPES[name]
