"""Dana, Pydi and Chevaleyre 2024, Figure 3: attention heads against an MLP at equal parameters.

At the place of H heads of dimension d stands one such head with an MLP of width 2 d (H - 1), whose
number of parameters differs by its biases alone. The public code trains 16,384 batches of 1,024
pairs of N = 70 tokens, at seven sizes: the study ``AUTHORS``. Its pool is a guess, 64 epochs as in
the other figures; it has 53 samples for each pair. Beside it are shorter runs: four sizes with the
4,096 batches of 256 of the other figures, and three at d = 10 with 4,096 batches of 1,024.

Fixed before ``AUTHORS`` was trained: its rows are judged by :func:`advantage` and the limit
``EQUAL``, as those of the shorter runs are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from lemmax.numerics.experiments import criteria
from lemmax.numerics.experiments.criteria import EQUAL, Asked
from lemmax.numerics.experiments.dana.curves import (
    HEAD_COUNTS,
    bounds,
    curve,
    published,
    repeated,
)
from lemmax.numerics.experiments.statistics import Estimate, Floats, grand_mean, mean
from lemmax.numerics.experiments.studies import SATURATED, Experiment, Judgement, Row, Rows, Study
from lemmax.numerics.figures import PALETTE
from lemmax.numerics.training.configurations import Dana
from lemmax.numerics.training.recipes import recipe

N, DIMENSIONS = 70, (10, 7, 13)
Kind: TypeAlias = Literal["attention", "mlp"]


def _points(dimensions: Sequence[int], heads: Sequence[int]) -> list[Dana]:
    """One head, which both kinds begin with, then H heads and the MLP in their place."""
    points = []
    for d in dimensions:
        for H in heads:
            points.append(Dana(N, d, d, H, "direct"))
            if H > 1:
                points.append(Dana(N, d, d, 1, "direct", width=2 * d * (H - 1)))
    return points


SHORT = Study(
    "dana-mlp",
    recipe("dana-code"),
    repeated(_points(DIMENSIONS, (1, 6, 16, 26)), 1, repetitions=3),
)
LONG = Study(
    "dana-mlp-long",
    recipe("dana-code-mlp"),
    repeated(_points((10,), (1, 6, 16)), 1, repetitions=3),
)
AUTHORS = Study(
    "dana-mlp-authors",
    recipe("dana-code-mlp-16384"),
    repeated(_points(DIMENSIONS, HEAD_COUNTS), 1, repetitions=3),
)


def parameters(config: Dana) -> int:
    """All parameters of a model.

    >>> parameters(Dana(70, 10, 10, 6, "direct")), parameters(Dana(70, 10, 10, 1, "direct", 100))
    (3820, 3920)
    """
    return sum(int(np.prod(shape)) for shape in config.shapes().values())


def kind_of(config: Dana, kind: Kind) -> bool:
    """Whether a model is of a kind; one head without an MLP begins both."""
    return config.width == 0 if kind == "attention" else config.H == 1


def against_parameters(rows: Sequence[Row], kind: Kind, d: int) -> tuple[Floats, Floats]:
    """Numbers of parameters and accuracies of the models of a kind."""
    chosen = [
        row
        for row in rows
        if isinstance(row.job.config, Dana)
        and row.job.config.d == d
        and kind_of(row.job.config, kind)
    ]
    counts = [parameters(r.job.config) for r in chosen if isinstance(r.job.config, Dana)]
    return np.array(counts, dtype=np.float64), curve(chosen, "H")[1]


def advantage(rows: Sequence[Row], d: int) -> Estimate | None:
    """Accuracy of the MLP less that of the heads at their number of parameters.

    The MLP's accuracy is interpolated linearly between its sizes. The mean is over the sizes beyond
    one head at which not both are saturated, and over the repetitions, whose scatter gives the
    interval. None where nothing was trained.
    """
    heads, mlp = [], []
    for seed in sorted({row.job.seed for row in rows}):
        some = [row for row in rows if row.job.seed == seed]
        (x, own), (counts, accuracy) = (
            against_parameters(some, kind, d) for kind in ("attention", "mlp")
        )
        if not len(x):
            return None
        order = np.argsort(x)
        heads.append(own[order][1:])
        sizes = np.argsort(counts)
        mlp.append(np.interp(x[order][1:], counts[sizes], accuracy[sizes]))
    means = np.mean(heads, axis=0), np.mean(mlp, axis=0)
    open_ = (means[0] < SATURATED) | (means[1] < SATURATED)
    return grand_mean((np.array(mlp) - np.array(heads)).T[open_])


def judge_mlp(rows: Rows) -> list[Judgement]:
    """Equal: the mean difference is below .05 in every dimension, under every recipe."""
    told, asked = [], {}
    for study in (SHORT, LONG, AUTHORS):
        if study.name not in rows:
            continue
        by_d = {d: e for d in DIMENSIONS if (e := advantage(rows[study.name], d)) is not None}
        parts = ", ".join(f"{e} at d = {d}" for d, e in by_d.items())
        number = len({row.job.seed for row in rows[study.name]})
        told.append(f"{study.recipe.name} ({number} repetition{'s' * (number > 1)}): {parts}")
        asked[study.name] = [Asked(f"d = {d}", e, -EQUAL, EQUAL) for d, e in by_d.items()]
    own = ", ".join(f"{_published_advantage(d):.3f} at d = {d}" for d in DIMENSIONS)
    sentence = (
        "Accuracy of an MLP less that of attention heads at equal numbers of parameters, mean over "
        f"sizes below saturation: {'; '.join(told)}. The authors' recorded accuracies give {own}."
    )
    return [criteria.judged("dana/figure-3", asked, sentence)]


def _published_advantage(d: int) -> float:
    """The same of the authors' accuracies, which are given at equal sizes."""
    heads, mlp = (np.array(published()["mlp"][k][str(d)])[:, 1] for k in ("attention", "mlp"))
    open_ = (heads < SATURATED) | (mlp < SATURATED)
    open_[0] = False
    return float((mlp - heads)[open_].mean())


def draw_mlp(rows: Rows, figure: Any) -> None:
    """Accuracy against the number of parameters: one panel per dimension."""
    figure.set_size_inches(8, 3.4)
    panels = figure.subplots(1, 3, sharey=True)
    styles = {"attention": ("o", "--"), "mlp": ("s", "-")}
    for axes, d in zip(panels, sorted(DIMENSIONS), strict=True):
        base = parameters(Dana(N, d, d, 1, "direct"))
        for kind, marker in (("attention", "x"), ("mlp", "+")):
            points = np.array(published()["mlp"][kind][str(d)])
            count = base + 4 * d * d * (points[:, 0] - 1)
            label = f"recorded by the authors, {_named(kind)}"
            axes.plot(count, points[:, 1], marker, color="black", label=label)
        for colour, study in zip(PALETTE, (SHORT, LONG, AUTHORS), strict=False):
            if study.name not in rows:
                continue
            _curves(axes, rows[study.name], d, colour, study.recipe.name, styles)
        heads = np.array(HEAD_COUNTS, dtype=np.float64)
        for style, (name, y) in zip((":", "-."), bounds(N, heads, d, d).items(), strict=False):
            axes.plot(base + 4 * d * d * (heads - 1), y, style, color="grey", label=name)
        axes.set(xlabel="parameters", title=f"d = d_h = {d}, N = {N}", ylim=(0, 1.02))
    panels[0].set_ylabel("accuracy")
    handles = panels[1].get_legend_handles_labels()  # d = 10 has every curve
    figure.legend(*handles, loc="outside lower center", ncols=4, frameon=False, fontsize=6)


def _named(kind: str) -> str:
    return "heads" if kind == "attention" else "MLP"


def _curves(axes: Any, rows: Sequence[Row], d: int, colour: str, name: str, styles: Any) -> None:
    kinds: tuple[Kind, ...] = ("attention", "mlp")
    for kind in kinds:
        x, y = against_parameters(rows, kind, d)
        if not len(x):
            continue
        means = [(size, mean(y[x == size])) for size in np.unique(x)]
        half = np.array([e.high - e.value for _, e in means])
        marker, line = styles[kind]
        axes.errorbar(
            [size for size, _ in means],
            [e.value for _, e in means],
            yerr=np.where(np.isfinite(half), half, 0.0),
            fmt=marker,
            linestyle=line,
            color=colour,
            markersize=3,
            capsize=2,
            linewidth=0.8,
            label=f"{name}, {_named(kind)}",
        )


EXPERIMENTS = {
    "dana-fig3": Experiment(
        "dana-fig3", "Attention heads against an MLP", (SHORT, LONG, AUTHORS), judge_mlp, draw_mlp
    )
}
