"""Dana, Pydi and Chevaleyre 2024, Figures 1 and 2(a): accuracy on bigrams as the sizes grow.

The public code has one linear map into the heads and back, shared by all of them; equation (1) of
the paper has one for each head. Both are trained by the recipe of the public code, and accuracies
are its own: the mean over the last hundred training batches.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from lemmax.numerics.experiments.frame import Experiment, Judgement, Row, Rows, Scale, Study
from lemmax.numerics.experiments.statistics import Floats, bow, exponent, fit
from lemmax.numerics.figures import PALETTE
from lemmax.numerics.jobs import Dana, Job
from lemmax.numerics.recipes import recipe
from lemmax.theory.ledger import Verdict

N, REPETITIONS = 50, 5
SATURATED = 0.95
STRAIGHT = 0.05  # a curve leaves its chord by less than this much accuracy


@cache
def published() -> dict[str, Any]:
    """The accuracies that the authors' code recorded."""
    file = resources.files("lemmax.numerics.experiments") / "published" / "dana-2024.json"
    data: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return data


def _jobs(points: Sequence[Dana], small: int) -> Callable[[Scale], list[Job]]:
    """Every point, repetition after repetition, each with its own table of next tokens."""

    def jobs(scale: Scale) -> list[Job]:
        repetitions = small if scale == "small" else REPETITIONS
        return [
            Job(Dana(p.N, p.d, p.d_h, p.H, p.maps, data_seed=seed), seed)
            for seed in range(repetitions)
            for p in points
        ]

    return jobs


RECIPE = recipe("dana-code")
HEADS = Study(
    "dana-heads", RECIPE, _jobs([Dana(N, 10, 10, H) for H in (1, 6, 11, 16, 21, 26, 31)], 2)
)
HEAD_DIMENSION = Study(
    "dana-head-dimension",
    RECIPE,
    _jobs(
        [Dana(N, 10, d_h, 20) for d_h in range(1, 11)]
        + [Dana(N, 10, d_h, 20, "per-head") for d_h in (1, 2, 4, 6, 8, 10)],
        1,
    ),
)
DIMENSION = Study("dana-dimension", RECIPE, _jobs([Dana(N, d, 10, 20) for d in range(5, 16)], 1))


def curve(rows: Sequence[Row], along: str, maps: str = "shared") -> tuple[Floats, Floats]:
    """A size and the accuracy of every row with these maps."""
    chosen = [r for r in rows if isinstance(r.job.config, Dana) and r.job.config.maps == maps]
    x = np.array([getattr(row.job.config, along) for row in chosen], dtype=np.float64)
    return x, np.array([row.recent for row in chosen], dtype=np.float64)


def difference(x: Floats, y: Floats, points: Sequence[Sequence[float]]) -> float:
    """The mean absolute difference between our means and published accuracies."""
    theirs = {float(a): b for a, b in points}
    gaps = [abs(float(y[x == a].mean()) - theirs[float(a)]) for a in np.unique(x) if a in theirs]
    return float(np.mean(gaps))


def _repetitions(rows: Sequence[Row]) -> str:
    number = len({row.job.seed for row in rows})
    return "one repetition" if number == 1 else f"{number} repetitions"


def judge_heads(rows: Rows) -> list[Judgement]:
    """Linear below saturation: the quadratic fit leaves its chord by at most .05."""
    found = rows[HEADS.name]
    x, y = curve(found, "H")
    below = np.isin(x, [a for a in np.unique(x) if y[x == a].mean() < SATURATED])
    line, curved = fit(x[below], y[below], 1), bow(x[below], y[below])
    gap = difference(x, y, published()["heads"]["10"])
    sentence = (
        f"Accuracy grows by {line.leading} a head (R² = {line.r_squared:.3f}, "
        f"{_repetitions(found)}, below {SATURATED}); a quadratic fit leaves its chord by {curved}. "
        f"Mean absolute difference from the authors' recorded curve: {gap:.3f}."
    )
    verdict: Verdict | None = None
    if curved.within(-STRAIGHT, STRAIGHT) and line.r_squared > 0.97:
        verdict = "reproduced"
    elif curved.apart(-STRAIGHT, STRAIGHT):
        verdict = "not-reproduced"
    return [Judgement("dana/figure-1a", verdict, sentence)]


def judge_head_dimension(rows: Rows) -> list[Judgement]:
    """Convex with shared maps, as in the code; with a map for each head, as in equation (1)?"""
    found = rows[HEAD_DIMENSION.name]
    told, curves = [], {}
    for maps in ("shared", "per-head"):
        x, y = curve(found, "d_h", maps)
        curves[maps] = bow(x, y)
        told.append(f"{maps} maps: exponent {exponent(x, y)}, below its chord by {curves[maps]}")
    x, y = curve(found, "d_h")
    gap = difference(x, y, published()["head-dimension"])
    power = exponent(x, y)
    sentence = (
        f"{'; '.join(told)} ({_repetitions(found)}). Mean absolute difference from the authors' "
        f"recorded curve, shared maps: {gap:.3f}."
    )
    convex = {maps: c.low > 0 for maps, c in curves.items()}
    concave = {maps: c.high < 0 for maps, c in curves.items()}
    verdict: Verdict | None = None
    if all(convex.values()) and power.within(1.5, 2.5):
        verdict = "reproduced"
    elif convex["shared"] and concave["per-head"]:
        verdict = "recipe-dependent"
    elif all(concave.values()):
        verdict = "not-reproduced"
    return [Judgement("dana/figure-1b", verdict, f"{sentence[0].upper()}{sentence[1:]}")]


def judge_dimension(rows: Rows) -> list[Judgement]:
    """Two slopes: up to d = d_h, and beyond, where it is surely less than half as steep."""
    found = rows[DIMENSION.name]
    x, y = curve(found, "d")
    up, beyond = fit(x[x <= 10], y[x <= 10], 1), fit(x[x >= 10], y[x >= 10], 1)
    curved = bow(x[x <= 10], y[x <= 10])
    gap = difference(x, y, published()["dimension"])
    sentence = (
        f"Accuracy grows by {up.leading} a dimension up to d = d_h = 10 (R² = {up.r_squared:.3f}, "
        f"a quadratic fit leaves its chord by {curved}) and by {beyond.leading} beyond "
        f"({_repetitions(found)}). Mean absolute difference from the authors' recorded curve: "
        f"{gap:.3f}."
    )
    verdict: Verdict | None = None
    straight = curved.within(-STRAIGHT, STRAIGHT)
    if straight and beyond.leading.high < up.leading.low / 2:
        verdict = "reproduced"
    elif curved.apart(-STRAIGHT, STRAIGHT) or beyond.leading.low > up.leading.high / 2:
        verdict = "not-reproduced"
    return [Judgement("dana/figure-2a", verdict, sentence)]


def _printed_bound(H: Floats, d_h: Any, d: Any) -> Floats:
    """The accuracy that Corollary 2 promises as printed."""
    promised: Floats = np.minimum(1, 1 / N + (1 - 1 / N) * (H * d_h + d) / N**2)
    return promised


def _plot(figure: Any, xlabel: str, points: Sequence[Sequence[float]], floor: Floats) -> Any:
    figure.set_size_inches(4.5, 3.2)
    axes = figure.subplots()
    known = np.array(points)
    axes.plot(*known.T, "x", color="black", label="recorded by the authors")
    axes.plot(known[:, 0], floor, ":", color="grey", label="Corollary 2 as printed")
    axes.set(xlabel=xlabel, ylabel="accuracy", ylim=(0, 1.02))
    return axes


def _measured(axes: Any, x: Floats, y: Floats, degree: int, colour: str, label: str) -> None:
    sizes = np.unique(x)
    axes.plot(x, y, "o", color=colour, markersize=3, label=label)
    axes.plot(sizes, fit(x, y, degree)(sizes), "--", color=colour, linewidth=0.8)


def draw_heads(rows: Rows, figure: Any) -> None:
    """Accuracy against H."""
    x, y = curve(rows[HEADS.name], "H")
    points = published()["heads"]["10"]
    axes = _plot(figure, "H", points, _printed_bound(np.array(points)[:, 0], 10, 10))
    below = y < SATURATED
    _measured(axes, x[below], y[below], 1, PALETTE[0], "lemmax, shared maps")
    axes.plot(x[~below], y[~below], "o", color=PALETTE[0], markersize=3)
    axes.legend(frameon=False)


def draw_head_dimension(rows: Rows, figure: Any) -> None:
    """Accuracy against d_h, for both kinds of maps."""
    points = published()["head-dimension"]
    floor = _printed_bound(np.full(len(points), 20.0), np.array(points)[:, 0], 10)
    axes = _plot(figure, "d_h", points, floor)
    for colour, maps in zip(PALETTE, ("shared", "per-head"), strict=False):
        x, y = curve(rows[HEAD_DIMENSION.name], "d_h", maps)
        _measured(axes, x, y, 2, colour, f"lemmax, {maps} maps")
    axes.legend(frameon=False)


def draw_dimension(rows: Rows, figure: Any) -> None:
    """Accuracy against d, with a line on either side of d_h."""
    points = published()["dimension"]
    d = np.array(points)[:, 0]
    axes = _plot(figure, "d", points, _printed_bound(np.full(len(points), 20.0), 10, d))
    x, y = curve(rows[DIMENSION.name], "d")
    _measured(axes, x[x <= 10], y[x <= 10], 1, PALETTE[0], "lemmax, d ≤ d_h")
    _measured(axes, x[x >= 10], y[x >= 10], 1, PALETTE[1], "lemmax, d ≥ d_h")
    axes.legend(frameon=False)


EXPERIMENTS = {
    e.name: e
    for e in (
        Experiment("dana-fig1a", "Accuracy against H", (HEADS,), judge_heads, draw_heads),
        Experiment(
            "dana-fig1b",
            "Accuracy against d_h",
            (HEAD_DIMENSION,),
            judge_head_dimension,
            draw_head_dimension,
        ),
        Experiment(
            "dana-fig2a", "Accuracy against d", (DIMENSION,), judge_dimension, draw_dimension
        ),
    )
}
