"""Engines that train jobs: the oracle, stacked groups, and compiled kernels.

>>> from lemmax.numerics.training.configurations import Wong
>>> from lemmax.numerics.training.jobs import Job
>>> from lemmax.numerics.training.recipes import recipe
>>> facts = ((0, 2, 3), (1, 2, 4))
>>> job = Job(Wong(d_model=2, d_vo=1, d_qk=1, heads=1, database=facts))
>>> (trained,) = train([job], recipe("wong-guess").changed(steps=300), backend="reference")
>>> trained.measured.accuracy
1.0
>>> train([job], "wong-guess", backend="abacus")
Traceback (most recent call last):
...
lemmax.numerics.engines.UnknownBackend: There is no backend 'abacus'; known backends are numba, ...
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from lemmax.numerics.engines.run import Measured, Run
from lemmax.numerics.training.configurations import Arrays
from lemmax.numerics.training.jobs import Job
from lemmax.numerics.training.recipes import Recipe, recipe
from lemmax.theory.errors import LemmaxError, ShapeError

if TYPE_CHECKING:
    from lemmax.numerics.training.models import Model

_MODULES = {"numba": "compiled", "reference": "reference", "torch": "stacked"}
BACKENDS = tuple(_MODULES)


class UnknownBackend(LemmaxError):
    """A backend that does not exist; the message lists those that do."""


@dataclass(frozen=True)
class Trained:
    """A job after training."""

    job: Job
    measured: Measured
    weights: Arrays

    def model(self) -> Model:
        """The trained module, ready to be converted to its exact twin."""
        from lemmax.numerics.training.models import model_of

        return model_of(self.job.config, self.weights)


def train(
    jobs: Sequence[Job],
    recipe: str | Recipe,
    backend: str = "torch",
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
        that after thousands of steps single models differ, and only means are comparable.
    initial
        Initial weights instead of the recipe's, for fine-tuning.
    device
        A torch device; by default CUDA where there is one, else the CPU.
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
    >>> (trained,) = train([job], _recipe("wong-guess").changed(steps=300))
    >>> trained.measured.accuracy, trained.model().to_exact().tokens
    (1.0, (0, 1, 2, 3, 4))
    """
    chosen = _recipe(recipe)
    results: list[Trained | None] = [None] * len(jobs)
    for numbers in plan(jobs, chosen, backend, group):
        members = [jobs[number] for number in numbers]
        weights = None if initial is None else [initial[number] for number in numbers]
        run = start(members, chosen, backend, weights, device)
        run.advance(run.steps)
        for number, measured, final in zip(numbers, run.measured(), run.weights(), strict=True):
            results[number] = Trained(jobs[number], measured, final)
    return [result for result in results if result is not None]


def _recipe(name: str | Recipe) -> Recipe:
    return recipe(name)


def engine(backend: str) -> Any:
    """The module of a backend, imported now."""
    if backend not in BACKENDS:
        known = ", ".join(BACKENDS)
        raise UnknownBackend(f"There is no backend {backend!r}; known backends are {known}.")
    try:
        return import_module(f"lemmax.numerics.engines.{_MODULES[backend]}")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("lemmax"):
            raise
        raise LemmaxError(
            f"The {backend} backend needs the package {error.name}, which is not installed."
        ) from None


def plan(
    jobs: Sequence[Job], recipe: Recipe, backend: str, group: int | None = None
) -> list[tuple[int, ...]]:
    """The groups of job numbers that are trained together, in the order in which they start."""
    module = engine(backend)
    wrong = next((job for job in jobs if job.config.family != recipe.family), None)
    if wrong is not None:
        raise LemmaxError(
            f"The recipe {recipe.name} is for {recipe.family}, not for {wrong.config.family}."
        )
    if hasattr(module, "plan"):
        groups: list[tuple[int, ...]] = module.plan(jobs, recipe, group)
        return groups
    return [(number,) for number in range(len(jobs))]


def start(
    jobs: Sequence[Job],
    recipe: Recipe,
    backend: str,
    initial: Sequence[Arrays] | None = None,
    device: str | None = None,
) -> Run:
    """A run of one group."""
    for job, weights in zip(jobs, initial or (), strict=initial is not None):
        for name, shape in job.config.shapes().items():
            found = weights[name].shape if name in weights else None
            if found != shape:
                raise ShapeError(f"The initial {name} must have shape {shape}, not {found}.")
    run: Run = engine(backend).start(jobs, recipe, initial, device)
    return run
