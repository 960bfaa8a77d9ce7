"""The engines by name: which module trains, in which groups, and a run of one group.

>>> BACKENDS
('numba', 'reference', 'torch')
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from lemmax.numerics.engines.run import Run
from lemmax.numerics.training.configurations import Arrays, Dana, Wong
from lemmax.numerics.training.jobs import Job
from lemmax.numerics.training.recipes import Recipe
from lemmax.theory.errors import LemmaxError, ShapeError

MODULES = {
    "numba": "lemmax.numerics.engines.compiled.runs",
    "reference": "lemmax.numerics.engines.reference",
    "torch": "lemmax.numerics.engines.stacked.groups",
    "own": "lemmax.numerics.engines.own",
}
"""The module of every backend, imported when the backend is asked for."""
BACKENDS = ("numba", "reference", "torch")
"""The engines of the papers' models; modules of one's own have one of their own."""


class UnknownBackend(LemmaxError):
    """A backend that does not exist; the message lists those that do."""


def engine(backend: str) -> Any:
    """The module of a backend, imported now."""
    if backend not in MODULES:
        known = ", ".join(BACKENDS)
        raise UnknownBackend(f"There is no backend {backend!r}; known backends are {known}.")
    try:
        return import_module(MODULES[backend])
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("lemmax"):
            raise
        raise LemmaxError(
            f"The {backend} backend needs the package {error.name}, which is not installed."
        ) from None


def backend_for(jobs: Sequence[Job], recipe: Recipe, device: str | None = None) -> str:
    """The engine that trains these jobs fastest among those that are installed and can.

    On the CPU the compiled one, whose results do not depend on the companions of a job; stacked
    groups on other devices, and where something is not compiled.

    >>> backend_for([], Recipe("short", "wong", steps=1, learning_rate=1e-2), "cuda")
    'torch'
    """
    if recipe.family == "own":
        return "own"
    if device not in (None, "cpu"):
        return "torch"
    if any(isinstance(job.config, Wong) for job in jobs) and recipe.batch is not None:
        return "reference"  # the other two train Wong's layers on full batches
    if find_spec("numba") is None:
        return "torch"
    plain = all(
        job.config.S == 2 or (job.config.maps == "per-head" and not job.config.width)
        for job in jobs
        if isinstance(job.config, Dana)
    )
    return "numba" if plain else "torch"


@contextlib.contextmanager
def one_thread(backend: str) -> Iterator[None]:
    """One thread for torch on the CPU while a run lasts.

    A step is many small operations, on which threads wait for each other; and sums over several of
    them are added in another order.
    """
    if backend == "numba":
        yield
        return
    engine(backend)  # says what is missing
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def plan(
    jobs: Sequence[Job], recipe: Recipe, backend: str, group: int | None = None
) -> list[tuple[int, ...]]:
    """The groups of job numbers that are trained together, in the order in which they start."""
    module = engine(backend)
    if (backend == "own") is not (recipe.family == "own"):
        raise LemmaxError("The backend 'own' is for modules of one's own, and they for it.")
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
            given = weights[name].shape if name in weights else None
            if given != shape:
                raise ShapeError(f"The initial {name} must have shape {shape}, not {given}.")
    run: Run = engine(backend).start(jobs, recipe, initial, device)
    return run
