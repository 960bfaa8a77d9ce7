"""Figure 2 of Dana, Pydi and Chevaleyre: accuracy against d, and what a head adds at d = d_h."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from lemmax.numerics.experiments import criteria
from lemmax.numerics.experiments.criteria import Asked
from lemmax.numerics.experiments.dana import appendix
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
    legend,
    panel,
    points,
    published,
    repeated,
    repetitions,
)
from lemmax.numerics.experiments.statistics import Estimate, Floats, bow, fit, mean
from lemmax.numerics.experiments.studies import Experiment, Judgement, Row, Rows, Study
from lemmax.numerics.figures import PALETTE
from lemmax.numerics.training.configurations import Dana

CUBIC = (2.5, 3.5)  # exponents that count as cubic
AS_RECORDED = 0.25  # how far from it an exponent counts as that of the authors' accuracies
WINDOWS = ((3, 6), (6, 9), (9, 13))  # dimensions between which local exponents are taken
ByDimension: TypeAlias = Mapping[int, list[Row]]
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
RECIPES = ((COEFFICIENT, HEADS), (appendix.COEFFICIENT, appendix.HEADS))
"""The studies of Figure 2(b) by the recipe of the code, and by that of the text."""


def judge_dimension(rows: Rows) -> list[Judgement]:
    """Straight up to d = d_h, and beyond less than half as steep, by each recipe."""
    asked, told = {}, []
    for study in (DIMENSION, appendix.DIMENSION):
        if study.name not in rows:
            continue
        trained = rows[study.name]
        x, y = curve(trained, "d")
        up, beyond = fit(x[x <= 10], y[x <= 10], 1), fit(x[x >= 10], y[x >= 10], 1)
        curved = bow(x[x <= 10], y[x <= 10])
        flatter = criteria.less(beyond.leading, up.leading, 0.5)
        asked[study.recipe.name] = [
            *criteria.straight(curved, up.r_squared),
            Asked("slope beyond, less half of that before", flatter, high=0.0),
        ]
        told.append(
            f"{study.recipe.name}: {up.leading} a dimension up to d = d_h = 10 (R² = "
            f"{up.r_squared:.3f}, a quadratic fit leaves its chord by {curved}) and "
            f"{beyond.leading} beyond ({repetitions(trained)})"
        )
    gap = difference(*curve(rows[DIMENSION.name], "d"), published()["dimension"])
    sentence = (
        f"Growth of the accuracy: {'; '.join(told)}. Mean absolute difference from the authors' "
        f"recorded curve, dana-code: {gap:.3f}."
    )
    return [criteria.judged("dana/figure-2a", asked, sentence)]


def coefficients(points: Mapping[int, tuple[Floats, Floats]]) -> dict[int, float]:
    """For each d the associations gained by a head: N² times the slope below saturation."""
    gains = {}
    for d, (x, y) in points.items():
        below = below_saturation(x, y)
        gains[d] = N**2 * fit(x[below], y[below], 1).leading.value
    return gains


def by_dimension(rows: Rows, studies: Sequence[Study] = (COEFFICIENT, HEADS)) -> ByDimension:
    """The rows of the sweeps over H at d = d_h, for each d."""
    dimensions: dict[int, list[Row]] = {}
    for row in (row for study in studies for row in rows[study.name]):
        assert isinstance(row.job.config, Dana)
        dimensions.setdefault(row.job.config.d, []).append(row)
    return {d: dimensions[d] for d in sorted(dimensions)}


def power(by_d: Mapping[int, float], first: int, last: int) -> Estimate:
    """The exponent of the coefficient in d between two dimensions, with the fit's interval."""
    d = np.array([d for d in by_d if first <= d <= last], dtype=np.float64)
    return fit(np.log(d), np.log([by_d[int(x)] for x in d]), 1).leading


def powers(dimensions: ByDimension) -> dict[tuple[int, int], Estimate]:
    """Exponents over all dimensions and in each window, with Student's interval over repetitions.

    With fewer than three repetitions the interval is that of one fit to all of them.
    """
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
    """Cubic: the exponent is within .5 of 3 in every window of dimensions, by each recipe.

    As recorded: over all dimensions within .25 of the exponent of the authors' own accuracies.
    """
    theirs = coefficients({int(d): points(p) for d, p in published()["heads"].items()})
    recorded = {window: power(theirs, *window).value for window in ((3, 13), *WINDOWS)}
    shares = [f"in the authors' accuracies {_by_parameters(theirs)}"]
    cubic, told = {}, []
    near: dict[str, list[Asked]] = {}
    for studies in RECIPES:
        if any(study.name not in rows for study in studies):
            continue
        dimensions = by_dimension(rows, studies)
        exponents = powers(dimensions)
        name = studies[0].recipe.name
        gains = coefficients({d: curve(some, "H") for d, some in dimensions.items()})
        shares.append(f"by {name} {_by_parameters(gains)}")
        cubic[name] = [Asked(f"{w}", e, *CUBIC) for w, e in exponents.items() if w in WINDOWS]
        if studies[0] is COEFFICIENT:
            ends = (recorded[3, 13] - AS_RECORDED, recorded[3, 13] + AS_RECORDED)
            near = {name: [Asked("exponent", exponents[3, 13], *ends)]}
        number = min(len({r.job.seed for r in some}) for some in dimensions.values())
        local = ", ".join(f"{e} for d = {a} to {b}" for (a, b), e in list(exponents.items())[1:])
        told.append(
            f"{name}: {exponents[3, 13]} for d = 3 to 13, locally {local} ({number} "
            f"repetition{'s' * (number > 1)})"
        )
    own = ", ".join(f"{recorded[w]:.2f}" for w in WINDOWS)
    sentence = (
        "Exponent in d of the associations gained by a head at d = d_h: "
        f"{'; '.join(told)}. The authors' recorded accuracies give {recorded[3, 13]:.2f}, locally "
        f"{own}. Both recipes were tried. Divided by the 4 d² parameters of a head, where a cube "
        f"would grow like d, the associations are {'; '.join(shares)}."
    )
    return [
        criteria.judged("dana/figure-2b", cubic, sentence),
        criteria.judged("dana/figure-2b-recorded", near, sentence, None),
    ]


def _by_parameters(gains: Mapping[int, float]) -> str:
    """Associations that a head gains over its parameters, at the ends of the windows.

    >>> _by_parameters({3: 3.6, 6: 28.8, 7: 50.0})
    '0.10 at d = 3, 0.20 at d = 6'
    """
    ends = sorted({d for window in WINDOWS for d in window} & set(gains))
    return ", ".join(f"{gains[d] / (4 * d**2):.2f} at d = {d}" for d in ends)


def draw_dimension(rows: Rows, figure: Any) -> None:
    """Accuracy against d by each recipe, with a line on either side of d_h."""
    axes = panel(figure, "d", published()["dimension"])
    for colour, marker, study in zip(PALETTE, "os", (DIMENSION, appendix.DIMENSION), strict=False):
        if study.name not in rows:
            continue
        x, y = curve(rows[study.name], "d")
        draw_means(axes, x, y, colour, study.recipe.name, marker)
        for side in (x <= 10, x >= 10):
            fitted(axes, x[side], y[side], 1, colour)
    sizes = np.arange(5.0, 16.0)
    draw_bounds(axes, sizes, bounds(N, 20, 10, sizes))
    legend(figure, axes)


def draw_coefficient(rows: Rows, figure: Any) -> None:
    """Associations gained by a head against d = d_h, with powers of d and the bounds' slopes."""
    figure.set_size_inches(4.8, 4.0)
    axes = figure.subplots()
    theirs = coefficients({int(d): points(p) for d, p in published()["heads"].items()})
    axes.plot(
        list(theirs),
        list(theirs.values()),
        "x",
        color="black",
        label="from the authors' accuracies",
    )
    for colour, marker, studies in zip(PALETTE, "os", RECIPES, strict=False):
        if all(study.name in rows for study in studies):
            _gains(axes, by_dimension(rows, studies), colour, studies[0].recipe.name, marker)
    sizes = np.array(list(by_dimension(rows)), dtype=np.float64)
    ours = np.array(
        list(coefficients({d: curve(r, "H") for d, r in by_dimension(rows).items()}).values())
    )
    for degree, style in ((2, "--"), (3, "-")):
        scale = np.exp(np.mean(np.log(ours) - degree * np.log(sizes)))
        label = f"{'quadratic' if degree == 2 else 'cubic'}, through {RECIPE.name}"
        axes.plot(sizes, scale * sizes**degree, style, color="0.6", linewidth=0.8, label=label)
    axes.plot(sizes, sizes, ":", color="grey", label="Corollary 2 as printed: d_h a head")
    axes.plot(
        sizes, np.ones_like(sizes), "-.", color="grey", label="Corollary 2 repaired: 1 a head"
    )
    axes.set(xlabel="d = d_h", ylabel="associations per head", xscale="log", yscale="log")
    axes.set_xticks([3, 4, 5, 6, 8, 10, 13], ["3", "4", "5", "6", "8", "10", "13"])
    axes.minorticks_off()
    legend(figure, axes)


def _gains(axes: Any, dimensions: ByDimension, colour: str, label: str, marker: str) -> None:
    """The slope below saturation at each d, with its interval."""
    slopes = {}
    for d, some in dimensions.items():
        x, y = curve(some, "H")
        below = below_saturation(x, y)
        slopes[d] = fit(x[below], y[below], 1).leading
    axes.errorbar(
        list(slopes), [N**2 * s.value for s in slopes.values()],
        yerr=[N**2 * (s.high - s.value) for s in slopes.values()], fmt=marker, color=colour,
        markersize=3, capsize=2, linewidth=0.8, label=label,
    )  # fmt: skip


EXPERIMENTS = {
    e.name: e
    for e in (
        Experiment(
            "dana-fig2a",
            "Accuracy against d",
            (DIMENSION, appendix.DIMENSION),
            judge_dimension,
            draw_dimension,
        ),
        Experiment(
            "dana-fig2b",
            "Associations per head against d = d_h",
            (COEFFICIENT, HEADS, appendix.COEFFICIENT, appendix.HEADS),
            judge_coefficient,
            draw_coefficient,
        ),
    )
}
