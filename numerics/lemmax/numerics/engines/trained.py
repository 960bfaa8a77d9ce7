"""Train jobs from beginning to end, and what they are afterwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lemmax.numerics.engines.register import backend_for, one_thread, plan, start
from lemmax.numerics.engines.run import Measured, Run
from lemmax.numerics.training.configurations import Arrays
from lemmax.numerics.training.jobs import Job
from lemmax.numerics.training.own import Own
from lemmax.numerics.training.recipes import Recipe
from lemmax.numerics.training.recipes import recipe as named
from lemmax.theory.errors import LemmaxError

if TYPE_CHECKING:
    from torch import nn

    from lemmax.numerics.training.models import Model


@dataclass(frozen=True)
class Trained:
    """A job after training."""

    job: Job
    measured: Measured
    weights: Arrays

    def __repr__(self) -> str:
        seen = self.measured
        reached = "" if seen.accuracy is None else f", accuracy {seen.accuracy}"
        sizes = sum(array.size for array in self.weights.values())
        return (
            f"Trained({self.job!r}: {sizes} weights after {seen.steps} steps, "
            f"loss {seen.loss:.4g}{reached})"
        )

    def model(self) -> Model:
        """The trained module, ready to be converted to its exact twin."""
        from lemmax.numerics.training.models import model_of

        if isinstance(self.job.config, Own):
            raise LemmaxError("A module of one's own is made by module(), not by model().")
        return model_of(self.job.config, self.weights)

    def module(self) -> nn.Module:
        """The trained torch module, of one's own or of a paper."""
        if not isinstance(self.job.config, Own):
            return self.model()
        import torch

        made = self.job.config.make(self.job.seed)
        tensors = {name: torch.from_numpy(array.copy()) for name, array in self.weights.items()}
        made.load_state_dict(tensors, assign=True)
        return made


def _now(jobs: Sequence[Job], run: Run) -> list[Trained]:
    """The jobs of a run as they are."""
    return [
        Trained(job, measured, weights)
        for job, measured, weights in zip(jobs, run.measured(), run.weights(), strict=True)
    ]


def train(
    jobs: Sequence[Job],
    recipe: str | Recipe,
    backend: str | None = None,
    *,
    every: int | None = None,
    watch: Callable[[list[Trained]], object] | None = None,
    initial: Sequence[Arrays] | None = None,
    device: str | None = None,
    group: int | None = None,
) -> list[Trained]:
    """Train jobs under a recipe.

    Parameters
    ----------
    jobs
        What to train; all of the family that the recipe is for.
    recipe
        A recipe or its name.
    backend
        ``reference`` (one module at a time), ``torch`` (stacked groups) or ``numba`` (compiled,
        one at a time, CPU). They agree: float64 to 1e-9 after 100 steps. Training is chaotic, so
        that after thousands of steps single models differ, and only means are comparable. By
        default ``numba`` where it is installed and trains such jobs, else ``torch``, each with one
        thread, which is fastest for models of this size; ``torch`` if another device is named.
    initial
        Initial weights instead of the recipe's, for fine-tuning.
    device
        A torch device. By default the CPU; with ``torch`` as the backend CUDA where there is one.
    every, watch
        After every so many steps, and before the first, ``watch`` is called with the group as it is
        (``measured.steps`` says how far); what it returns is not used.
    group
        The largest number of models in a stacked group; by default what fits into the cache.

    Notes
    -----
    A re-run is bit-equal on the same machine and versions. Under ``torch`` the last bits also
    depend on the padding of the group, so on the whole list of jobs. Cost: steps × rows of the data
    × weights; for each model of Wong's about a second.

    Examples
    --------
    >>> from lemmax.numerics.training.configurations import Wong
    >>> job = Job(Wong(d_model=2, d_vo=1, d_qk=1, heads=1, database=((0, 2, 3), (1, 2, 4))))
    >>> (trained,) = train([job], named("wong-guess").changed(steps=300))
    >>> trained.measured.accuracy, trained.model().to_exact().tokens
    (1.0, (0, 1, 2, 3, 4))
    """
    chosen = named(recipe)
    engine = backend_for(jobs, chosen, device) if backend is None else backend
    results: list[Trained | None] = [None] * len(jobs)
    for numbers in plan(jobs, chosen, engine, group):
        members = [jobs[number] for number in numbers]
        weights = None if initial is None else [initial[number] for number in numbers]
        with one_thread(engine):
            run = start(members, chosen, engine, weights, device)
            while watch is not None and not run.finished:
                watch(_now(members, run))
                run.advance(run.step + (every or run.steps))
            run.advance(run.steps)
            now = _now(members, run)
            if watch is not None:
                watch(now)
        for number, trained in zip(numbers, now, strict=True):
            results[number] = trained
    return [result for result in results if result is not None]
