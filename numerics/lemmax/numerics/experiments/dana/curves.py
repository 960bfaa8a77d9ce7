"""Dana, Pydi and Chevaleyre 2024: accuracy on bigrams as the sizes grow, what its figures share.

The public code has one linear map into the heads and back, shared by all of them, which it leaves
out where d_h = d; equation (1) of the paper has one for each head. Both are trained by the recipe
of the public code, and accuracies are its own: the mean over the last hundred training batches.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import resources
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lemmax.numerics.experiments.statistics import Floats, fit, mean
from lemmax.numerics.experiments.studies import SATURATED, Row, Scale, Study
from lemmax.numerics.training.configurations import Dana
from lemmax.numerics.training.jobs import Job
from lemmax.numerics.training.recipes import recipe

N, REPETITIONS = 50, 5
HEAD_COUNTS = (1, 6, 11, 16, 21, 26, 31)


@cache
def published() -> dict[str, Any]:
    """The accuracies that the authors' code recorded."""
    file = resources.files("lemmax.numerics.experiments") / "published" / "dana-2024.json"
    data: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return data


def repeated(
    points: Sequence[Dana], small: int, repetitions: int = REPETITIONS
) -> Callable[[Scale], list[Job]]:
    """Every point, repetition after repetition, each with its own table of next tokens."""

    def jobs(scale: Scale) -> list[Job]:
        return [
            Job(replace(point, data_seed=seed), seed)
            for seed in range(small if scale == "small" else repetitions)
            for point in points
        ]

    return jobs


def as_coded(N: int, d: int, d_h: int, H: int) -> Dana:
    """The transformer of the public code, whose maps depend on whether d_h = d."""
    maps: Literal["direct", "shared"] = "direct" if d_h == d else "shared"
    return Dana(N, d, d_h, H, maps)


RECIPE = recipe("dana-code")
HEADS = Study("dana-heads", RECIPE, repeated([as_coded(N, 10, 10, H) for H in HEAD_COUNTS], 2))


def curve(rows: Sequence[Row], along: str, maps: str = "code") -> tuple[Floats, Floats]:
    """A size and the accuracy of every row with these maps, ``per-head`` or those of the code."""
    chosen = [
        row
        for row in rows
        if isinstance(row.job.config, Dana) and row.job.config.scaled == (maps == "code")
    ]
    x = np.array([getattr(row.job.config, along) for row in chosen], dtype=np.float64)
    return x, np.array([row.recent for row in chosen], dtype=np.float64)


def difference(x: Floats, y: Floats, points: Sequence[Sequence[float]]) -> float:
    """The mean absolute difference between our means and published accuracies."""
    theirs = {float(a): b for a, b in points}
    gaps = [abs(float(y[x == a].mean()) - theirs[float(a)]) for a in np.unique(x) if a in theirs]
    return float(np.mean(gaps))


def repetitions(rows: Sequence[Row]) -> str:
    """How many repetitions the rows are, in words."""
    number = len({row.job.seed for row in rows})
    return "one repetition" if number == 1 else f"{number} repetitions"


def below_saturation(x: Floats, y: Floats) -> NDArray[np.bool_]:
    """Which points belong to a size whose mean accuracy is below ``SATURATED``."""
    return np.isin(x, [a for a in np.unique(x) if y[x == a].mean() < SATURATED])


def points(published: Sequence[Sequence[float]]) -> tuple[Floats, Floats]:
    """Sizes and accuracies of published points."""
    x, y = np.array(published, dtype=np.float64).T
    return x, y


def bounds(N: int, H: Any, d_h: Any, d: Any) -> dict[str, Floats]:
    """Accuracies promised on random bigrams: associations memorized, the others by chance.

    Corollary 2 as printed promises H d_h + d associations; repaired, H + min(d, N), as many as
    there are last tokens; Mahdavi's theorem H (d_h - 1) + 1.

    >>> [round(float(x), 4) for x in bounds(50, 20, 10, 10).values()]
    [0.1023, 0.0318, 0.091]
    """
    counts = {
        "Corollary 2 as printed": H * d_h + d,
        "Corollary 2 repaired": H + np.minimum(d, N),
        "Mahdavi et al.": H * (d_h - 1) + 1,
    }
    return {
        name: np.asarray(np.minimum(1, 1 / N + (1 - 1 / N) * X / N**2), dtype=np.float64)
        for name, X in counts.items()
    }


def draw_bounds(axes: Any, x: Floats, promised: Mapping[str, Floats]) -> None:
    """The bounds as grey lines."""
    for style, (name, y) in zip((":", "-.", (0, (1, 4))), promised.items(), strict=True):
        axes.plot(x, np.broadcast_to(y, x.shape), linestyle=style, color="grey", label=name)


def draw_means(axes: Any, x: Floats, y: Floats, colour: str, label: str, marker: str = "o") -> None:
    """Mean accuracies with Student's 95 % intervals over the repetitions."""
    sizes = np.unique(x)
    means = [mean(y[x == size]) for size in sizes]
    half = np.array([e.high - e.value for e in means])
    axes.errorbar(
        sizes,
        [e.value for e in means],
        yerr=np.where(np.isfinite(half), half, 0.0),
        fmt=marker,
        color=colour,
        markersize=3,
        capsize=2,
        linewidth=0.8,
        label=label,
    )


def panel(figure: Any, xlabel: str, theirs: Sequence[Sequence[float]]) -> Any:
    """Axes of an accuracy against a size, with the points that the authors recorded."""
    figure.set_size_inches(4.8, 4.0)
    axes = figure.subplots()
    axes.plot(*points(theirs), "x", color="black", label="recorded by the authors")
    axes.set(xlabel=xlabel, ylabel="accuracy", ylim=(0, 1.02))
    return axes


def legend(figure: Any, axes: Any) -> None:
    """What was drawn, below the axes."""
    handles = axes.get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=2, frameon=False, fontsize=6)


def fitted(axes: Any, x: Floats, y: Floats, degree: int, colour: str) -> None:
    """A fitted polynomial as a dashed line."""
    sizes = np.unique(x)
    axes.plot(sizes, fit(x, y, degree)(sizes), "--", color=colour, linewidth=0.8)
