"""Mahdavi, Liao and Thrampoulidis 2024: memorized examples against heads, context and d_h.

The paper's own sizes (d = 64, n = 32, 20 heads, T up to 130,000, at least 50,000 steps) take GPU
days. These are reduced: d = 16, T = 400 examples of 100 classes, full batches, 3,000 steps. The
scale ``paper`` means the paper's six repetitions of the reduced sizes, not the paper's sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lemmax.numerics.experiments.frame import Experiment, Judgement, Row, Rows, Scale, Study
from lemmax.numerics.experiments.statistics import Floats, bow, fit
from lemmax.numerics.figures import PALETTE
from lemmax.numerics.jobs import Job, Mahdavi
from lemmax.numerics.recipes import recipe
from lemmax.theory.ledger import Verdict

D, T, REPETITIONS = 16, 400, 6
SATURATED, STRAIGHT = 0.95, 0.05


def _jobs(sizes: Sequence[tuple[int, int, int]]) -> Callable[[Scale], list[Job]]:
    """Every (n, H, d_h), repetition after repetition, each with its own data."""

    def jobs(scale: Scale) -> list[Job]:
        return [
            Job(Mahdavi(D, n, H, T, d_h=d_h, data_seed=seed), seed)
            for seed in range(3 if scale == "small" else REPETITIONS)
            for n, H, d_h in sizes
        ]

    return jobs


RECIPE = recipe("mahdavi-full")
HEADS = Study("mahdavi-heads", RECIPE, _jobs([(8, H, 16) for H in (1, 2, 4, 6, 8)]))
CONTEXT = Study("mahdavi-context", RECIPE, _jobs([(n, 4, 16) for n in (2, 4, 8, 16)]))
HEAD_DIMENSION = Study("mahdavi-dh", RECIPE, _jobs([(4, 4, d_h) for d_h in (1, 2, 4, 8, 16)]))


def curve(rows: Sequence[Row], along: str) -> tuple[Floats, Floats]:
    """A size and the share of examples memorized, row by row."""
    x = np.array([getattr(row.job.config, along) for row in rows], dtype=np.float64)
    return x, np.array([row.accuracy for row in rows])


def means(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """The sizes in order, and the mean at each."""
    sizes = np.unique(x)
    return sizes, np.array([y[x == size].mean() for size in sizes])


def _setting(rows: Sequence[Row]) -> str:
    number = len({row.job.seed for row in rows})
    return f"d = {D}, T = {T}, {number} repetition{'s' * (number > 1)}, recipe {RECIPE.name}"


def _counts(x: Floats, y: Floats, name: str) -> str:
    pairs = zip(*means(x, y), strict=True)
    return ", ".join(f"{T * share:.0f} at {name} = {size:.0f}" for size, share in pairs)


def judge_heads(rows: Rows) -> list[Judgement]:
    """Linear below saturation: the quadratic fit leaves its chord by at most .05 of T."""
    found = rows[HEADS.name]
    x, y = curve(found, "H")
    sizes, shares = means(x, y)
    below = np.isin(x, sizes[shares < SATURATED])
    line, curved = fit(x[below], y[below], 1), bow(x[below], y[below])
    sentence = (
        f"Memorized, of {T}: {_counts(x, y, 'H')} ({_setting(found)}, n = 8). Below saturation R² "
        f"of a line is {line.r_squared:.3f}, and a quadratic fit leaves its chord by {curved} of T."
    )
    verdict: Verdict | None = None
    if curved.within(-STRAIGHT, STRAIGHT) and line.r_squared > 0.97:
        verdict = "reproduced"
    elif curved.apart(-STRAIGHT, STRAIGHT):
        verdict = "not-reproduced"
    return [Judgement("mahdavi/linear-in-heads", verdict, sentence)]


def judge_context(rows: Rows) -> list[Judgement]:
    """More for every doubling of n: a positive slope in log n, and every mean above the last."""
    found = rows[CONTEXT.name]
    x, y = curve(found, "n")
    line, (_, shares) = fit(np.log2(x), y, 1), means(x, y)
    sentence = (
        f"Memorized, of {T}: {_counts(x, y, 'n')} ({_setting(found)}, H = 4); a share "
        f"{line.leading} more for each doubling of n."
    )
    verdict: Verdict | None = None
    if line.leading.low > 0 and (np.diff(shares) > 0).all():
        verdict = "reproduced"
    elif line.leading.high < 0:
        verdict = "not-reproduced"
    return [Judgement("mahdavi/monotone-in-context", verdict, sentence)]


def judge_head_dimension(rows: Rows) -> list[Judgement]:
    """Growth up to d_h = n; beyond, a slope that is surely less than half of it."""
    found = rows[HEAD_DIMENSION.name]
    x, y = curve(found, "d_h")
    up = fit(np.log2(x[x <= 4]), y[x <= 4], 1).leading
    beyond = fit(np.log2(x[x >= 4]), y[x >= 4], 1).leading
    sentence = (
        f"Memorized, of {T}: {_counts(x, y, 'd_h')} ({_setting(found)}, H = 4, n = 4); a share "
        f"{up} more for each doubling of d_h up to n, and {beyond} beyond."
    )
    verdict: Verdict | None = None
    if up.low > 0 and beyond.high < up.low / 2:
        verdict = "reproduced"
    elif up.high < 0 or beyond.low > max(up.high, 0) / 2:
        verdict = "not-reproduced"
    return [Judgement("mahdavi/head-dimension", verdict, sentence)]


def _draw(study: Study, along: str, logarithmic: bool) -> Callable[[Rows, Any], None]:
    """Memorized examples, their means, and the bound H(min(n, d_h) - 1) + 1 of Theorem 1."""

    def draw(rows: Rows, figure: Any) -> None:
        figure.set_size_inches(4.5, 3.2)
        axes = figure.subplots()
        x, y = curve(rows[study.name], along)
        axes.plot(x, T * y, "o", color=PALETTE[0], markersize=3, label="trained")
        sizes, shares = means(x, y)
        axes.plot(sizes, T * shares, "-", color=PALETTE[0], linewidth=0.8, label="mean")
        known = {getattr(r.job.config, along): r.job.config for r in rows[study.name]}
        bounds = [
            c.H * (min(c.n, c.d_h) - 1) + 1
            for c in (known[int(size)] for size in sizes)
            if isinstance(c, Mahdavi)
        ]
        axes.plot(sizes, bounds, "--", color=PALETTE[1], label="H(min(n, d_h) - 1) + 1")
        axes.axhline(T, color="grey", linestyle=":", linewidth=0.8, label="all examples")
        axes.set(xlabel=along, ylabel="memorized examples")
        if logarithmic:
            axes.set_xscale("log", base=2)
        axes.legend(frameon=False)

    return draw


EXPERIMENTS = {
    e.name: e
    for e in (
        Experiment(
            "mahdavi-heads", "Memorized against H", (HEADS,), judge_heads, _draw(HEADS, "H", False)
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
            (HEAD_DIMENSION,),
            judge_head_dimension,
            _draw(HEAD_DIMENSION, "d_h", True),
        ),
    )
}
