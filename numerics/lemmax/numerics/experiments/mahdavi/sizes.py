"""Mahdavi, Liao and Thrampoulidis 2024: memorized examples against heads, context and d_h.

The paper's own sizes (d = 64, n = 32, 20 heads, T up to 130,000, at least 50,000 steps) take GPU
days. These are reduced: d = 16, T = 400 examples of 100 classes, full batches, 3,000 steps. The
scale ``paper`` means at least the paper's six repetitions of the reduced sizes, not its sizes.

Ten repetitions scatter too much for a limit of .05 of T on curvature or flatness. What ten fresh
ones (``HEADS_AGAIN``, ``HEAD_DIMENSION_AGAIN``) are asked was fixed before they were trained:

- linear in H: reproduced iff the slope below saturation is surely positive and a line through the
  means has R² > .97; not reproduced iff the slope is surely not positive or that R² is below .9.
- head dimension: reproduced iff growth for each doubling of d_h is surely positive up to d_h = n,
  and beyond surely less than half of it; not reproduced iff growth up to n is surely not positive,
  or growth beyond is surely more than half of it. The difference is taken within each repetition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from lemmax.numerics.experiments import criteria
from lemmax.numerics.experiments.criteria import Asked
from lemmax.numerics.experiments.statistics import Estimate, Floats, bow, fit, mean
from lemmax.numerics.experiments.studies import (
    SATURATED,
    Experiment,
    Judgement,
    Row,
    Rows,
    Scale,
    Study,
)
from lemmax.numerics.figures import PALETTE
from lemmax.numerics.training.configurations import Mahdavi
from lemmax.numerics.training.jobs import Job
from lemmax.numerics.training.recipes import recipe

D, T, SMALL = 16, 400, 3
Size: TypeAlias = tuple[int, int, int]


def _jobs(
    sizes: Sequence[Size], repetitions: int, more: Sequence[Size] = ()
) -> Callable[[Scale], list[Job]]:
    """Every (n, H, d_h), repetition after repetition, each with its own data.

    The first repetitions are the small scale. Beyond them ``more`` is added, to them and to each
    further one, and what is saturated (eight heads) is left out.
    """

    def job(size: Size, seed: int) -> Job:
        n, H, d_h = size
        return Job(Mahdavi(D, n, H, T, d_h=d_h, data_seed=seed), seed)

    def jobs(scale: Scale) -> list[Job]:
        listed = [job(size, seed) for seed in range(SMALL) for size in sizes]
        if scale == "small":
            return listed
        listed += [job(size, seed) for seed in range(SMALL) for size in more]
        open_ = sorted({*more, *(size for size in sizes if size[1] < 8)})
        return listed + [job(size, seed) for seed in range(SMALL, repetitions) for size in open_]

    return jobs


RECIPE = recipe("mahdavi-full")
HEADS = Study(
    "mahdavi-heads",
    RECIPE,
    _jobs([(8, H, 16) for H in (1, 2, 4, 6, 8)], 10, [(8, 3, 16), (8, 5, 16)]),
)
CONTEXT = Study("mahdavi-context", RECIPE, _jobs([(n, 4, 16) for n in (2, 4, 8, 16)], 6))
HEAD_DIMENSION = Study("mahdavi-dh", RECIPE, _jobs([(4, 4, d_h) for d_h in (1, 2, 4, 8, 16)], 10))


def _again(sizes: Sequence[Size]) -> Callable[[Scale], list[Job]]:
    """Ten repetitions with seeds that the first studies did not use; one of them is small."""

    def jobs(scale: Scale) -> list[Job]:
        return [
            Job(Mahdavi(D, n, H, T, d_h=d_h, data_seed=seed), seed)
            for seed in range(10, 11 if scale == "small" else 20)
            for n, H, d_h in sizes
        ]

    return jobs


HEADS_AGAIN = Study("mahdavi-heads-again", RECIPE, _again([(8, H, 16) for H in range(1, 7)]))
HEAD_DIMENSION_AGAIN = Study(
    "mahdavi-dh-again", RECIPE, _again([(4, 4, d_h) for d_h in (1, 2, 4, 8, 16)])
)


def curve(rows: Sequence[Row], along: str) -> tuple[Floats, Floats]:
    """A size and the share of examples memorized, row by row."""
    x = np.array([getattr(row.job.config, along) for row in rows], dtype=np.float64)
    return x, np.array([row.accuracy for row in rows])


def means(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """The sizes in order, and the mean at each."""
    sizes = np.unique(x)
    return sizes, np.array([y[x == size].mean() for size in sizes])


def over_repetitions(
    rows: Sequence[Row], along: str, statistic: Callable[[Floats, Floats], float]
) -> Estimate:
    """The mean of a statistic of each repetition, with Student's interval."""
    values = []
    for seed in sorted({row.job.seed for row in rows}):
        values.append(statistic(*curve([row for row in rows if row.job.seed == seed], along)))
    return mean(values)


def _setting(rows: Sequence[Row]) -> str:
    number = _number(rows)
    return f"d = {D}, T = {T}, {number} repetition{'s' * (number > 1)}, recipe {RECIPE.name}"


def _number(rows: Sequence[Row]) -> int:
    """The number of repetitions."""
    return len({row.job.seed for row in rows})


def _counts(x: Floats, y: Floats, name: str) -> str:
    pairs = zip(*means(x, y), strict=True)
    return ", ".join(f"{T * share:.0f} at {name} = {size:.0f}" for size, share in pairs)


def judge_heads(rows: Rows) -> list[Judgement]:
    """Linear below saturation: the slope is positive, and a line through the means has R² > .97.

    R² is that of the means: the scatter of single runs says nothing of the curve.
    """
    fresh = HEADS_AGAIN.name in rows
    trained = rows[HEADS_AGAIN.name if fresh else HEADS.name]
    x, y = curve(trained, "H")
    sizes, shares = means(x, y)
    low = sizes[shares < SATURATED]
    below = [row for row in trained if getattr(row.job.config, "H", 0) in low]
    line = fit(low, shares[shares < SATURATED], 1)
    slope = over_repetitions(below, "H", lambda a, b: fit(a, b, 1).leading.value)
    curved = over_repetitions(below, "H", lambda a, b: bow(a, b).value)
    sentence = (
        f"Memorized, of {T}: {_counts(x, y, 'H')} ({_setting(trained)}, n = 8). "
        f"Below saturation a share {slope} of T more for each head, R² of a line through the means "
        f"is {line.r_squared:.3f}, and a quadratic fit leaves its chord by {curved} of T."
    )
    asked = [
        Asked("slope", slope, low=0.0),
        Asked("R²", criteria.between(line.r_squared, 0.9, 0.97), low=0.97),
    ]
    return [_judged("mahdavi/linear-in-heads", asked, sentence, fresh)]


def _judged(claim: str, asked: Sequence[Asked], sentence: str, fresh: bool) -> Judgement:
    """A judgement, which data that were known before the limits were chosen do not decide."""
    if fresh:
        return criteria.judged(claim, {RECIPE.name: asked}, sentence)
    return Judgement(claim, None, f"{sentence} These data are older than the limits.")


def judge_context(rows: Rows) -> list[Judgement]:
    """More for every doubling of n: a positive slope in log n, and no mean below the last."""
    trained = rows[CONTEXT.name]
    x, y = curve(trained, "n")
    line, (_, shares) = fit(np.log2(x), y, 1), means(x, y)
    sentence = (
        f"Memorized, of {T}: {_counts(x, y, 'n')} ({_setting(trained)}, H = 4); a share "
        f"{line.leading} more for each doubling of n."
    )
    least = float(np.diff(shares).min())  # a fall of single means is no proof that growth fails
    asked = [
        Asked("slope", line.leading, low=0.0),
        Asked("least step of the means", Estimate(least, least, max(least, 0.0)), low=0.0),
    ]
    return [criteria.judged("mahdavi/monotone-in-context", {RECIPE.name: asked}, sentence)]


def judge_head_dimension(rows: Rows) -> list[Judgement]:
    """Growth up to d_h = n, and beyond less than half of it, compared within each repetition."""
    fresh = HEAD_DIMENSION_AGAIN.name in rows
    trained = rows[HEAD_DIMENSION_AGAIN.name if fresh else HEAD_DIMENSION.name]
    x, y = curve(trained, "d_h")
    up, beyond = (over_repetitions(trained, "d_h", _growth(side)) for side in (-1, 1))
    flatter = over_repetitions(
        trained, "d_h", lambda a, b: _growth(1)(a, b) - _growth(-1)(a, b) / 2
    )
    sentence = (
        f"Memorized, of {T}: {_counts(x, y, 'd_h')} ({_setting(trained)}, H = 4, n = 4); a share "
        f"{up} more for each doubling of d_h up to n, and {beyond} beyond, which less half of the "
        f"former is {flatter}."
    )
    asked = [Asked("growth", up, low=0.0), Asked("growth beyond", flatter, high=0.0)]
    return [_judged("mahdavi/head-dimension", asked, sentence, fresh)]


def _growth(side: int) -> Callable[[Floats, Floats], float]:
    """The slope for each doubling of d_h on one side of n = 4."""

    def growth(d_h: Floats, share: Floats) -> float:
        chosen = side * (d_h - 4) >= 0
        return fit(np.log2(d_h[chosen]), share[chosen], 1).leading.value

    return growth


def _draw(
    study: Study, along: str, logarithmic: bool, first: Study | None = None
) -> Callable[[Rows, Any], None]:
    """Mean numbers of memorized examples with intervals, and Theorem 1's H(min(n, d_h) - 1) + 1.

    Drawn is what is judged: where fresh repetitions were trained, those, and the first ones as
    small grey dots.
    """

    def draw(rows: Rows, figure: Any) -> None:
        figure.set_size_inches(4.5, 3.2)
        axes = figure.subplots()
        chosen = rows[study.name] if study.name in rows else rows[first.name if first else ""]
        if first is not None and study.name in rows:
            old, known = curve(rows[first.name], along)
            label = "first repetitions, not judged"
            axes.plot(old, T * known, ".", color="0.7", markersize=2, label=label)
        x, y = curve(chosen, along)
        axes.plot(x, T * y, ".", color=PALETTE[1], markersize=3, label="trained")
        points = [(size, mean(T * y[x == size])) for size in np.unique(x)]
        half = np.array([e.high - e.value for _, e in points])
        axes.errorbar(
            [size for size, _ in points],
            [e.value for _, e in points],
            yerr=np.where(np.isfinite(half), half, 0.0),
            fmt="o-",
            color=PALETTE[0],
            markersize=3,
            capsize=2,
            linewidth=0.8,
            label="mean, 95 % interval",
        )
        configs = {getattr(r.job.config, along): r.job.config for r in chosen}
        bounds = {
            size: c.H * (min(c.n, c.d_h) - 1) + 1
            for size, c in sorted(configs.items())
            if isinstance(c, Mahdavi)
        }
        label = "H(min(n, d_h) - 1) + 1"
        axes.plot(list(bounds), list(bounds.values()), "--", color="black", label=label)
        axes.axhline(T, color="grey", linestyle=":", linewidth=0.8, label="all examples")
        axes.set(xlabel=along, ylabel="memorized examples")
        if logarithmic:
            axes.set_xscale("log", base=2)
        axes.legend(frameon=False, fontsize=6)

    return draw


EXPERIMENTS = {
    e.name: e
    for e in (
        Experiment(
            "mahdavi-heads",
            "Memorized against H",
            (HEADS, HEADS_AGAIN),
            judge_heads,
            _draw(HEADS_AGAIN, "H", False, HEADS),
        ),
        Experiment(
            "mahdavi-context",
            "Memorized against n",
            (CONTEXT,),
            judge_context,
            _draw(CONTEXT, "n", True),
        ),
        Experiment(
            "mahdavi-dh",
            "Memorized against d_h",
            (HEAD_DIMENSION, HEAD_DIMENSION_AGAIN),
            judge_head_dimension,
            _draw(HEAD_DIMENSION_AGAIN, "d_h", True, HEAD_DIMENSION),
        ),
    )
}
