"""Figure 2 of Dana, Pydi and Chevaleyre: accuracy against d, and what a head adds at d = d_h."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lemmax.numerics.experiments.dana.curves import (
    HEAD_COUNTS,
    HEADS,
    RECIPE,
    N,
    as_coded,
    below_saturation,
    bounds,
    curve,
    difference,
    draw_bounds,
    draw_means,
    fitted,
    panel,
    points,
    published,
    repeated,
    repetitions,
)
from lemmax.numerics.experiments.statistics import Estimate, Floats, bow, fit, mean
from lemmax.numerics.experiments.studies import STRAIGHT, Experiment, Judgement, Row, Rows, Study
from lemmax.numerics.figures import PALETTE
from lemmax.numerics.training.configurations import Dana
from lemmax.theory.ledger.verdicts import Verdict

CUBIC = (2.5, 3.5)  # exponents that count as cubic
WINDOWS = ((3, 6), (6, 9), (9, 13))  # dimensions between which local exponents are taken
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


def judge_dimension(rows: Rows) -> list[Judgement]:
    """Two slopes: up to d = d_h, and beyond, where it is surely less than half as steep."""
    trained = rows[DIMENSION.name]
    x, y = curve(trained, "d")
    up, beyond = fit(x[x <= 10], y[x <= 10], 1), fit(x[x >= 10], y[x >= 10], 1)
    curved = bow(x[x <= 10], y[x <= 10])
    gap = difference(x, y, published()["dimension"])
    sentence = (
        f"Accuracy grows by {up.leading} a dimension up to d = d_h = 10 (R² = {up.r_squared:.3f}, "
        f"a quadratic fit leaves its chord by {curved}) and by {beyond.leading} beyond "
        f"({repetitions(trained)}). Mean absolute difference from the authors' recorded curve: "
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
    gains = {}
    for d, (x, y) in points.items():
        below = below_saturation(x, y)
        gains[d] = N**2 * fit(x[below], y[below], 1).leading.value
    return gains


def by_dimension(rows: Rows) -> dict[int, list[Row]]:
    """The rows of the sweeps over H at d = d_h, for each d."""
    dimensions: dict[int, list[Row]] = {}
    for row in (*rows[COEFFICIENT.name], *rows[HEADS.name]):
        assert isinstance(row.job.config, Dana)
        dimensions.setdefault(row.job.config.d, []).append(row)
    return {d: dimensions[d] for d in sorted(dimensions)}


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
    exponents = powers(rows)
    every, *local = exponents.values()
    theirs = coefficients({int(d): points(p) for d, p in published()["heads"].items()})
    told = "; ".join(f"{e} for d = {a} to {b}" for (a, b), e in list(exponents.items())[1:])
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


def draw_dimension(rows: Rows, figure: Any) -> None:
    """Accuracy against d, with a line on either side of d_h."""
    axes = panel(figure, "d", published()["dimension"])
    x, y = curve(rows[DIMENSION.name], "d")
    draw_means(axes, x, y, PALETTE[0], "lemmax")
    fitted(axes, x[x <= 10], y[x <= 10], 1, PALETTE[0])
    fitted(axes, x[x >= 10], y[x >= 10], 1, PALETTE[1])
    sizes = np.arange(5.0, 16.0)
    draw_bounds(axes, sizes, bounds(N, 20, 10, sizes))
    axes.legend(frameon=False, fontsize=6)


def draw_coefficient(rows: Rows, figure: Any) -> None:
    """Associations gained by a head against d = d_h, with powers of d and the bounds' slopes."""
    figure.set_size_inches(4.5, 3.4)
    axes = figure.subplots()
    theirs = coefficients({int(d): points(p) for d, p in published()["heads"].items()})
    axes.plot(
        list(theirs),
        list(theirs.values()),
        "x",
        color="black",
        label="from the authors' accuracies",
    )
    gains, half = {}, []
    for d, some in by_dimension(rows).items():
        x, y = curve(some, "H")
        below = below_saturation(x, y)
        slope = fit(x[below], y[below], 1).leading
        gains[d] = N**2 * slope.value
        half.append(N**2 * (slope.high - slope.value))
    sizes = np.array(list(gains), dtype=np.float64)
    ours = np.array(list(gains.values()))
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
