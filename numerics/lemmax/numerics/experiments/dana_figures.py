"""Dana, Pydi and Chevaleyre 2024, Figures 1 and 2: accuracy on bigrams as the sizes grow.

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

from lemmax.numerics.experiments.statistics import Estimate, Floats, bow, exponent, fit, mean
from lemmax.numerics.experiments.studies import Experiment, Judgement, Row, Rows, Scale, Study
from lemmax.numerics.figures import PALETTE
from lemmax.numerics.training.configurations import Dana
from lemmax.numerics.training.jobs import Job
from lemmax.numerics.training.recipes import recipe
from lemmax.theory.ledger.verdicts import Verdict

N, REPETITIONS = 50, 5
SATURATED = 0.95
STRAIGHT = 0.05  # a curve leaves its chord by less than this much accuracy
CLOSE = 0.04  # the largest mean absolute difference from the authors' accuracies
CAUSE = 0.02  # what an ablation adds to that difference if it shows the cause
CUBIC = (2.5, 3.5)  # exponents that count as cubic
WINDOWS = ((3, 6), (6, 9), (9, 13))  # dimensions between which local exponents are taken
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
# What the code leaves out where d_h = d, put back: the ablation of the heads sweep.
HEADS_SHARED = Study(
    "dana-heads-shared", RECIPE, repeated([Dana(N, 10, 10, H) for H in HEAD_COUNTS], 1)
)
HEAD_DIMENSION = Study(
    "dana-head-dimension",
    RECIPE,
    repeated(
        [as_coded(N, 10, d_h, 20) for d_h in range(1, 11)]
        + [Dana(N, 10, d_h, 20, "per-head") for d_h in (1, 2, 4, 6, 8, 10)],
        1,
    ),
)
DIMENSION = Study(
    "dana-dimension", RECIPE, repeated([as_coded(N, d, 10, 20) for d in range(5, 16)], 1)
)
COEFFICIENT = Study(  # d = 10 is in HEADS
    "dana-coefficient",
    RECIPE,
    repeated(
        [as_coded(N, d, d, H) for d in (*range(3, 10), *range(11, 14)) for H in HEAD_COUNTS],
        1,
        repetitions=2,
    ),
)


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


def heads_differences(rows: Rows) -> tuple[float, float]:
    """The heads sweep's difference from the authors, as coded and with the shared maps put back.

    The maps are the cause of a difference iff the first is at most ``CLOSE`` and the second is
    larger by ``CAUSE`` at least.
    """
    points = published()["heads"]["10"]
    coded, mapped = (
        difference(*curve(rows[study.name], "H"), points) for study in (HEADS, HEADS_SHARED)
    )
    return coded, mapped


def judge_heads(rows: Rows) -> list[Judgement]:
    """Linear below saturation: the quadratic fit leaves its chord by at most .05."""
    found = rows[HEADS.name]
    x, y = curve(found, "H")
    below = np.isin(x, [a for a in np.unique(x) if y[x == a].mean() < SATURATED])
    line, curved = fit(x[below], y[below], 1), bow(x[below], y[below])
    gap, mapped = heads_differences(rows)
    sentence = (
        f"Accuracy grows by {line.leading} a head (R² = {line.r_squared:.3f}, "
        f"{repetitions(found)}, below {SATURATED}); a quadratic fit leaves its chord by {curved}. "
        f"Mean absolute difference from the authors' recorded curve: {gap:.3f}; it would be "
        f"{mapped:.3f} with the shared maps that their code leaves out where d_h = d."
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
    for maps in ("code", "per-head"):
        x, y = curve(found, "d_h", maps)
        curves[maps] = bow(x, y)
        name = "shared maps" if maps == "code" else "a map for each head"
        told.append(f"{name}: exponent {exponent(x, y)}, below its chord by {curves[maps]}")
    x, y = curve(found, "d_h")
    gap = difference(x, y, published()["head-dimension"])
    power = exponent(x, y)
    sentence = (
        f"{'; '.join(told)} ({repetitions(found)}). Mean absolute difference from the authors' "
        f"recorded curve, shared maps: {gap:.3f}."
    )
    convex = {maps: c.low > 0 for maps, c in curves.items()}
    concave = {maps: c.high < 0 for maps, c in curves.items()}
    verdict: Verdict | None = None
    if all(convex.values()) and power.within(1.5, 2.5):
        verdict = "reproduced"
    elif convex["code"] and concave["per-head"]:
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
        f"({repetitions(found)}). Mean absolute difference from the authors' recorded curve: "
        f"{gap:.3f}."
    )
    verdict: Verdict | None = None
    straight = curved.within(-STRAIGHT, STRAIGHT)
    if straight and beyond.leading.high < up.leading.low / 2:
        verdict = "reproduced"
    elif curved.apart(-STRAIGHT, STRAIGHT) or beyond.leading.low > up.leading.high / 2:
        verdict = "not-reproduced"
    return [Judgement("dana/figure-2a", verdict, sentence)]


def coefficients(points: Mapping[int, tuple[Floats, Floats]]) -> dict[int, float]:
    """For each d the associations gained by a head: N² times the slope below saturation."""
    found = {}
    for d, (x, y) in points.items():
        below = np.isin(x, [a for a in np.unique(x) if y[x == a].mean() < SATURATED])
        found[d] = N**2 * fit(x[below], y[below], 1).leading.value
    return found


def by_dimension(rows: Rows) -> dict[int, list[Row]]:
    """The rows of the sweeps over H at d = d_h, for each d."""
    found: dict[int, list[Row]] = {}
    for row in (*rows[COEFFICIENT.name], *rows[HEADS.name]):
        assert isinstance(row.job.config, Dana)
        found.setdefault(row.job.config.d, []).append(row)
    return {d: found[d] for d in sorted(found)}


def power(by_d: Mapping[int, float], first: int, last: int) -> Estimate:
    """The exponent of the coefficient in d between two dimensions, with the fit's interval."""
    d = np.array([d for d in by_d if first <= d <= last], dtype=np.float64)
    return fit(np.log(d), np.log([by_d[int(x)] for x in d]), 1).leading


def powers(rows: Rows) -> dict[tuple[int, int], Estimate]:
    """Exponents over all dimensions and in each window, with Student's interval over repetitions.

    With fewer than three repetitions the interval is that of one fit to all of them.
    """
    dimensions = by_dimension(rows)
    seeds = sorted(set.intersection(*({r.job.seed for r in some} for some in dimensions.values())))

    def of(chosen: Sequence[int]) -> dict[int, float]:
        return coefficients(
            {
                d: curve([row for row in some if row.job.seed in chosen], "H")
                for d, some in dimensions.items()
            }
        )

    everything, each = of(seeds), [of([seed]) for seed in seeds]
    return {
        window: mean([power(one, *window).value for one in each])
        if len(seeds) > 2
        else power(everything, *window)
        for window in ((3, 13), *WINDOWS)
    }


def judge_coefficient(rows: Rows) -> list[Judgement]:
    """Cubic iff the exponent is within .5 of 3 in every window of dimensions."""
    found = powers(rows)
    every, *local = found.values()
    theirs = coefficients({int(d): _points(p) for d, p in published()["heads"].items()})
    told = "; ".join(f"{e} for d = {a} to {b}" for (a, b), e in list(found.items())[1:])
    own = ", ".join(f"{power(theirs, a, b).value:.2f}" for a, b in WINDOWS)
    number = min(len({r.job.seed for r in some}) for some in by_dimension(rows).values())
    sentence = (
        f"The associations gained by a head at d = d_h grow with exponent {every} in d "
        f"(d = 3 to 13, {number} repetition{'s' * (number > 1)}), locally {told}; the authors' "
        f"recorded accuracies give {power(theirs, 3, 13).value:.2f}, locally {own}."
    )
    verdict: Verdict | None = None
    if all(e.within(*CUBIC) for e in local):
        verdict = "reproduced"
    elif any(e.apart(*CUBIC) for e in local):
        verdict = "not-reproduced"
    return [Judgement("dana/figure-2b", verdict, sentence)]


def _points(points: Sequence[Sequence[float]]) -> tuple[Floats, Floats]:
    x, y = np.array(points, dtype=np.float64).T
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
    found = [mean(y[x == size]) for size in sizes]
    half = np.array([e.high - e.value for e in found])
    axes.errorbar(
        sizes,
        [e.value for e in found],
        yerr=np.where(np.isfinite(half), half, 0.0),
        fmt=marker,
        color=colour,
        markersize=3,
        capsize=2,
        linewidth=0.8,
        label=label,
    )


def _panel(figure: Any, xlabel: str, points: Sequence[Sequence[float]]) -> Any:
    figure.set_size_inches(4.5, 3.4)
    axes = figure.subplots()
    axes.plot(*_points(points), "x", color="black", label="recorded by the authors")
    axes.set(xlabel=xlabel, ylabel="accuracy", ylim=(0, 1.02))
    return axes


def _fitted(axes: Any, x: Floats, y: Floats, degree: int, colour: str) -> None:
    sizes = np.unique(x)
    axes.plot(sizes, fit(x, y, degree)(sizes), "--", color=colour, linewidth=0.8)


def draw_heads(rows: Rows, figure: Any) -> None:
    """Accuracy against H, as coded and with the shared maps put back."""
    axes = _panel(figure, "H", published()["heads"]["10"])
    sizes = np.array(HEAD_COUNTS, dtype=np.float64)
    for colour, marker, study, label in (
        (PALETTE[0], "o", HEADS, "lemmax, as coded (no maps at d_h = d)"),
        (PALETTE[1], "s", HEADS_SHARED, "ablation: shared maps put back"),
    ):
        x, y = curve(rows[study.name], "H")
        draw_means(axes, x, y, colour, label, marker)
        below = np.isin(x, [a for a in np.unique(x) if y[x == a].mean() < SATURATED])
        _fitted(axes, x[below], y[below], 1, colour)
    draw_bounds(axes, sizes, bounds(N, sizes, 10, 10))
    axes.legend(frameon=False, fontsize=6)


def draw_head_dimension(rows: Rows, figure: Any) -> None:
    """Accuracy against d_h, for both kinds of maps."""
    axes = _panel(figure, "d_h", published()["head-dimension"])
    for colour, marker, maps, label in (
        (PALETTE[0], "o", "code", "lemmax, shared maps"),
        (PALETTE[1], "s", "per-head", "lemmax, a map for each head"),
    ):
        x, y = curve(rows[HEAD_DIMENSION.name], "d_h", maps)
        draw_means(axes, x, y, colour, label, marker)
        _fitted(axes, x, y, 2, colour)
    sizes = np.arange(1.0, 11.0)
    draw_bounds(axes, sizes, bounds(N, 20, sizes, 10))
    axes.legend(frameon=False, fontsize=6)


def draw_dimension(rows: Rows, figure: Any) -> None:
    """Accuracy against d, with a line on either side of d_h."""
    axes = _panel(figure, "d", published()["dimension"])
    x, y = curve(rows[DIMENSION.name], "d")
    draw_means(axes, x, y, PALETTE[0], "lemmax")
    _fitted(axes, x[x <= 10], y[x <= 10], 1, PALETTE[0])
    _fitted(axes, x[x >= 10], y[x >= 10], 1, PALETTE[1])
    sizes = np.arange(5.0, 16.0)
    draw_bounds(axes, sizes, bounds(N, 20, 10, sizes))
    axes.legend(frameon=False, fontsize=6)


def draw_coefficient(rows: Rows, figure: Any) -> None:
    """Associations gained by a head against d = d_h, with powers of d and the bounds' slopes."""
    figure.set_size_inches(4.5, 3.4)
    axes = figure.subplots()
    theirs = coefficients({int(d): _points(p) for d, p in published()["heads"].items()})
    axes.plot(
        list(theirs),
        list(theirs.values()),
        "x",
        color="black",
        label="from the authors' accuracies",
    )
    found, half = {}, []
    for d, some in by_dimension(rows).items():
        x, y = curve(some, "H")
        below = np.isin(x, [a for a in np.unique(x) if y[x == a].mean() < SATURATED])
        slope = fit(x[below], y[below], 1).leading
        found[d] = N**2 * slope.value
        half.append(N**2 * (slope.high - slope.value))
    sizes = np.array(list(found), dtype=np.float64)
    ours = np.array(list(found.values()))
    axes.errorbar(
        sizes, ours, yerr=half, fmt="o", color=PALETTE[0], markersize=3, capsize=2, linewidth=0.8,
        label="lemmax",
    )  # fmt: skip
    for colour, degree, style in ((PALETTE[1], 2, "--"), (PALETTE[2], 3, "-")):
        scale = np.exp(np.mean(np.log(ours) - degree * np.log(sizes)))
        label = "quadratic" if degree == 2 else "cubic"
        axes.plot(sizes, scale * sizes**degree, style, color=colour, linewidth=0.8, label=label)
    axes.plot(sizes, sizes, ":", color="grey", label="Corollary 2 as printed: d_h a head")
    axes.plot(
        sizes, np.ones_like(sizes), "-.", color="grey", label="Corollary 2 repaired: 1 a head"
    )
    axes.set(xlabel="d = d_h", ylabel="associations per head", xscale="log", yscale="log")
    axes.set_xticks([3, 4, 5, 6, 8, 10, 13], ["3", "4", "5", "6", "8", "10", "13"])
    axes.minorticks_off()
    axes.legend(frameon=False, fontsize=6)


EXPERIMENTS = {
    e.name: e
    for e in (
        Experiment(
            "dana-fig1a", "Accuracy against H", (HEADS, HEADS_SHARED), judge_heads, draw_heads
        ),
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
        Experiment(
            "dana-fig2b",
            "Associations per head against d = d_h",
            (COEFFICIENT, HEADS),
            judge_coefficient,
            draw_coefficient,
        ),
    )
}
