"""What every engine shares: the run that can be paused, and the measurement at its end.

A run trains a group of jobs under one recipe. It can be advanced by any number of steps, its state
taken out as arrays and put back, and the continuation is the same bit for bit. Measurements are
made in float64 from the weights alone, so that every engine is measured alike.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lemmax.numerics.training.configurations import Arrays, Dana, Mahdavi, Wong, sinusoids
from lemmax.numerics.training.jobs import Job, batches_per_epoch
from lemmax.numerics.training.own import Own
from lemmax.numerics.training.recipes import Recipe

THRESHOLDS = (0.5, 0.75, 0.95, 0.99)
_CHUNK = 1 << 22  # floats in a table of contexts held at a time


@dataclass(frozen=True)
class Measured:
    """How well a model does on its own data after some steps.

    ``loss`` is the loss that the recipe trains, over all data: an untrained position is left out.
    ``accuracy`` counts by argmax and ``reached[τ]`` by probability at least τ; regression has
    neither. ``recent`` is the mean accuracy on the last training batches, where the recipe asks.
    """

    steps: int
    loss: float
    accuracy: float | None
    reached: dict[float, float]
    recent: float | None
    least: float

    def memorized(self, tau: float) -> bool:
        """Whether every fact has probability at least τ; τ = 0 asks for the argmax."""
        return self.accuracy == 1.0 if tau == 0 else self.least >= tau

    def to_json(self) -> dict[str, Any]:
        """Plain data; the loss keeps ten digits, since the last ones depend on the BLAS."""
        data: dict[str, Any] = {"steps": self.steps, "loss": float(f"{self.loss:.10g}")}
        if self.accuracy is not None:
            data["accuracy"] = self.accuracy
            data["reached"] = {str(tau): share for tau, share in self.reached.items()}
        if self.recent is not None:
            data["recent"] = self.recent
        return data


class Run(ABC):
    """A group of jobs in training."""

    def __init__(self, jobs: Sequence[Job], recipe: Recipe) -> None:
        self.jobs = tuple(jobs)
        self.recipe = recipe
        self.steps = self.jobs[0].steps(recipe)
        self.step = 0

    def looks(self, step: int) -> bool:
        """Whether the recipe looks after this step if a job may stop."""
        return self.recipe.stop is not None and step % self.recipe.check_every == 0

    @property
    @abstractmethod
    def finished(self) -> bool:
        """Whether every job has stopped or used up its steps."""

    @abstractmethod
    def advance(self, until: int) -> None:
        """Train until that many steps are done in all."""

    @abstractmethod
    def weights(self) -> list[Arrays]:
        """The present weights of every job."""

    @abstractmethod
    def measured(self) -> list[Measured]:
        """The present measurements of every job."""

    @abstractmethod
    def state(self) -> Arrays:
        """Everything that the continuation depends on."""

    @abstractmethod
    def restore(self, arrays: Arrays) -> None:
        """Put a state back."""


def epoch_of(job: Job, recipe: Recipe, step: int) -> tuple[int, int]:
    """The epoch of a step and the number of its minibatch."""
    return divmod(step, batches_per_epoch(job, recipe))


def measure(
    job: Job, recipe: Recipe, weights: Arrays, steps: int, recent: float | None = None
) -> Measured:
    """Measure a model on its own data, in float64."""
    config = job.config
    assert not isinstance(config, Own)  # which have an engine of their own
    w = {name: array.astype(np.float64) for name, array in weights.items()}
    if isinstance(config, Wong):
        facts = np.array(config.facts)
        logits = wong_logits(w, facts[:, :2])
        if not recipe.both_positions:
            return classified(logits[:, 1], facts[:, 2], steps, recent)
        return classified(logits[:, 1], facts[:, 2], steps, recent, logits[:, 0], facts[:, 1])
    if isinstance(config, Dana):
        sequences, targets = config.data()
        return classified(dana_logits(config, w, sequences), targets, steps, recent)
    queries, contexts, labels = config.data()
    outputs = mahdavi_outputs(config, w, queries, contexts)
    if config.classes:
        return classified(outputs, labels, steps, recent)
    error = float(np.mean((outputs[:, 0] - labels) ** 2))
    return Measured(steps, error, None, {}, None, 0.0)


def classified(
    logits: NDArray[np.float64],
    targets: NDArray[Any],
    steps: int,
    recent: float | None,
    first: NDArray[np.float64] | None = None,
    second: NDArray[Any] | None = None,
    loss: float | None = None,
) -> Measured:
    """The measurement of logits; ``first`` and ``second`` are another position that counts."""
    logs = _log_softmax(logits)[np.arange(len(targets)), targets]
    loss = -float(logs.mean()) if loss is None else loss
    if first is not None and second is not None:
        loss = (loss - float(_log_softmax(first)[np.arange(len(second)), second].mean())) / 2
    probabilities = np.exp(logs)
    return Measured(
        steps,
        loss,
        float(np.mean(logits.argmax(-1) == targets)),
        {tau: float(np.mean(probabilities >= tau)) for tau in THRESHOLDS},
        recent,
        float(probabilities.min()),
    )


def _log_softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    shifted = logits - logits.max(-1, keepdims=True)
    difference: NDArray[np.float64] = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    return difference


def _softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    share: NDArray[np.float64] = weights / weights.sum(-1, keepdims=True)
    return share


def wong_logits(w: Arrays, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    """Logits (T × 2 × |T|) of both positions."""
    x = w["W_E"]
    base = x + np.einsum("hti,hij->tj", x @ w["W_V"], w["W_O"])
    outputs = (x @ w["W_V"]) @ w["W_O"]  # H × tokens × d
    queries, keys = x @ w["W_Q"], x @ w["W_K"].transpose(0, 2, 1)
    k, q = pairs.T
    gap = np.einsum("hta,hta->ht", queries[:, q], keys[:, k] - keys[:, q])
    alpha = _sigmoid(gap)
    hidden = base[q] + np.einsum("ht,htd->td", alpha, outputs[:, k] - outputs[:, q])
    logits: NDArray[np.float64] = np.stack([base[k], hidden], axis=1) @ w["W_U"]
    return logits


def _sigmoid(x: NDArray[np.float64]) -> NDArray[np.float64]:
    value: NDArray[np.float64] = 0.5 * (1 + np.tanh(0.5 * x))
    return value


def dana_logits(config: Dana, w: Arrays, sequences: NDArray[np.int64]) -> NDArray[np.float64]:
    """Logits (T × N) at the last position."""
    shared, scaled = config.maps == "shared", config.scaled
    tokens = w["e"] @ w["W_in"].T if shared else w["e"]
    x = tokens[sequences] + w["pos"]  # T × S × p
    scale = config.d_h**-0.5 if scaled else 1.0
    residual = w["e"][sequences[:, -1]] if scaled else x[:, -1]
    output = np.zeros((len(sequences), config.inner))
    for h in range(config.H):
        scores = np.matmul(x @ w["W_K"][h].T, (x[:, -1] @ w["W_Q"][h].T)[:, :, None])[:, :, 0]
        mixed = np.matmul(_softmax(scale * scores)[:, None, :], x)[:, 0]
        output += (mixed @ w["W_V"][h].T) @ w["W_O"][h].T
    residual = residual + (output @ w["W_out"].T if shared else output)
    if config.width:
        inner = residual @ w["W_1"].T + w["b_1"]
        residual = residual + _gelu(inner) @ w["W_2"].T
    logits: NDArray[np.float64] = residual @ w["W_U"].T
    return logits


def _gelu(x: NDArray[np.float64]) -> NDArray[np.float64]:
    from scipy.special import ndtr

    value: NDArray[np.float64] = x * ndtr(x)
    return value


def mahdavi_outputs(
    config: Mahdavi, w: Arrays, queries: NDArray[np.float64], contexts: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Outputs (T × classes), a slice of the examples at a time."""
    step = max(1, _CHUNK // (config.n * max(config.d, config.H)))
    position = sinusoids(config.n + 1, config.d) if config.embedding else None
    parts = []
    for start in range(0, len(queries), step):
        x = queries[start : start + step]
        context = contexts if config.shared_context else contexts[start : start + step]
        if position is not None:
            x = x @ w["W_in"] + w["b_in"] + position[0]
            context = context @ w["W_in"] + w["b_in"] + position[1:]
        circuit = (w["W_Q"] @ w["W_K"].transpose(0, 2, 1)) / config.d**0.5
        folded = np.einsum("bc,hcd->bhd", x, circuit, optimize=True)
        attention = _softmax(folded @ context.transpose(0, 2, 1))
        values = np.einsum("bnd,hdv->bhnv", context, w["W_V"], optimize=True)
        mixed = (attention[:, :, None, :] @ values)[:, :, 0]
        parts.append(np.einsum("bhv,hvd->bd", mixed, w["W_O"], optimize=True) @ w["W_D"])
    outputs = np.concatenate(parts)
    return outputs + w["b_D"] if config.embedding else outputs
