"""Which jobs form a group, and the run of a group."""

from __future__ import annotations

from collections.abc import Sequence

from lemmax.numerics.engines.reference import ReferenceRun, device_named
from lemmax.numerics.engines.run import Run
from lemmax.numerics.engines.stacked.dana import StackedDana
from lemmax.numerics.engines.stacked.mahdavi import StackedMahdavi
from lemmax.numerics.engines.stacked.wong import StackedWong
from lemmax.numerics.training.configurations import Arrays, Dana, Wong
from lemmax.numerics.training.jobs import Job
from lemmax.numerics.training.own import Own
from lemmax.numerics.training.recipes import Recipe
from lemmax.theory.errors import LemmaxError

MOST = 64  # models in a group
BUDGET = 320_000  # entries of the largest tables of a group, so that they stay in the cache


def plan(jobs: Sequence[Job], recipe: Recipe, group: int | None) -> list[tuple[int, ...]]:
    """Groups of job numbers: alike where they must be, sorted by size, of bounded size.

    The groups depend on the whole list of jobs and on nothing else, so that a sweep that was
    interrupted forms the same groups again.
    """
    if group is not None and group < 1:
        raise LemmaxError(f"A group needs at least one model, not {group}.")
    alike: dict[tuple[object, ...], list[int]] = {}
    for number, job in enumerate(jobs):
        alike.setdefault(_alike(job, recipe), []).append(number)
    groups: list[tuple[int, ...]] = []
    for numbers in alike.values():
        sizes = {number: _size(jobs[number]) for number in numbers}
        numbers.sort(key=lambda number: (_band(sizes[number]), number))
        current: list[int] = []
        for number in numbers:
            grown = [*current, number]
            largest = [max(sizes[n][i] for n in grown) for i in range(3)]
            entries = len(grown) * largest[0] * (largest[1] + 2 * largest[2])
            full = len(grown) > group if group else len(grown) > MOST or entries > BUDGET
            if current and full:
                groups.append(tuple(current))
                grown = [number]
            current = grown
        groups.append(tuple(current))
    return groups


def _alike(job: Job, recipe: Recipe) -> tuple[object, ...]:
    config, steps = job.config, job.steps(recipe)
    assert not isinstance(config, Own)  # which have an engine of their own
    if isinstance(config, Wong):
        return ("wong", steps)
    if isinstance(config, Dana):
        alone = () if config.S == 2 else (job,)
        samples = config.samples if recipe.batch is not None and recipe.pool is None else 0
        return ("dana", config.N, config.maps, config.width > 0, samples, steps, *alone)
    shape = (config.d, config.n, config.H, config.T, config.classes, config.d_h, config.d_v)
    return ("mahdavi", *shape, config.shared_context, config.embedding, steps)


def _size(job: Job) -> tuple[int, int, int]:
    """Rows, vocabulary and width of the heads."""
    config = job.config
    assert not isinstance(config, Own)  # which have an engine of their own
    if isinstance(config, Wong):
        subjects = len({k for k, _, _ in config.facts})
        heads = config.heads * (2 * config.d_qk + config.d_vo)
        return config.samples + subjects, config.tokens, heads
    if isinstance(config, Dana):
        return config.samples, config.N, config.H + config.width
    return config.T, config.n, config.H * config.d


def _band(size: tuple[int, int, int]) -> tuple[int, int, int]:
    return size[0] // 24, size[2], size[1]


def start(
    jobs: Sequence[Job],
    recipe: Recipe,
    initial: Sequence[Arrays] | None = None,
    device: str | None = None,
) -> Run:
    """A stacked run; sequences longer than two are left to the module itself, one at a time."""
    place, config = device_named(device), jobs[0].config
    if isinstance(config, Wong):
        if recipe.batch is not None:
            raise LemmaxError("The torch backend trains Wong's layers on full batches.")
        return StackedWong(jobs, recipe, initial, place)
    if isinstance(config, Dana):
        if config.S != 2:
            return ReferenceRun(jobs, recipe, initial, place)
        return StackedDana(jobs, recipe, initial, place)
    return StackedMahdavi(jobs, recipe, initial, place)
