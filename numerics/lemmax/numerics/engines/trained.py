"""Train jobs from beginning to end, and what they are afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lemmax.numerics.engines.register import backend_for, one_thread, plan, start
from lemmax.numerics.engines.run import Measured
from lemmax.numerics.training.configurations import Arrays
from lemmax.numerics.training.jobs import Job
from lemmax.numerics.training.recipes import Recipe
from lemmax.numerics.training.recipes import recipe as named

if TYPE_CHECKING:
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

        return model_of(self.job.config, self.weights)


def train(
    jobs: Sequence[Job],
    recipe: str | Recipe,
    backend: str | None = None,
    *,
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
            run.advance(run.steps)
        for number, measured, final in zip(numbers, run.measured(), run.weights(), strict=True):
            results[number] = Trained(jobs[number], measured, final)
    return [result for result in results if result is not None]
