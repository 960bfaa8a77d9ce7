"""Figure 1 of Dana, Pydi and Chevaleyre: accuracy against the number and the dimension of heads."""

from __future__ import annotations

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
    published,
    repeated,
    repetitions,
)
from lemmax.numerics.experiments.statistics import bow, exponent, fit
from lemmax.numerics.experiments.studies import (
    SATURATED,
    Experiment,
    Judgement,
    Rows,
    Study,
    linear,
)
from lemmax.numerics.figures import PALETTE
from lemmax.numerics.training.configurations import Dana
from lemmax.theory.ledger.verdicts import Verdict

CLOSE = 0.04  # the largest mean absolute difference from the authors' accuracies
CAUSE = 0.02  # what an ablation adds to that difference if it shows the cause
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
    trained = rows[HEADS.name]
    x, y = curve(trained, "H")
    below = below_saturation(x, y)
    line, curved = fit(x[below], y[below], 1), bow(x[below], y[below])
    gap, mapped = heads_differences(rows)
    sentence = (
        f"Accuracy grows by {line.leading} a head (R² = {line.r_squared:.3f}, "
        f"{repetitions(trained)}, below {SATURATED}); a quadratic fit leaves its chord by "
        f"{curved}. "
        f"Mean absolute difference from the authors' recorded curve: {gap:.3f}; it would be "
        f"{mapped:.3f} with the shared maps that their code leaves out where d_h = d."
    )
    return [Judgement("dana/figure-1a", linear(curved, line), sentence)]


def judge_head_dimension(rows: Rows) -> list[Judgement]:
    """Convex with shared maps, as in the code; with a map for each head, as in equation (1)?"""
    trained = rows[HEAD_DIMENSION.name]
    told, curves = [], {}
    for maps in ("code", "per-head"):
        x, y = curve(trained, "d_h", maps)
        curves[maps] = bow(x, y)
        name = "shared maps" if maps == "code" else "a map for each head"
        told.append(f"{name}: exponent {exponent(x, y)}, below its chord by {curves[maps]}")
    x, y = curve(trained, "d_h")
    gap = difference(x, y, published()["head-dimension"])
    power = exponent(x, y)
    sentence = (
        f"{'; '.join(told)} ({repetitions(trained)}). Mean absolute difference from the authors' "
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


def draw_heads(rows: Rows, figure: Any) -> None:
    """Accuracy against H, as coded and with the shared maps put back."""
    axes = panel(figure, "H", published()["heads"]["10"])
    sizes = np.array(HEAD_COUNTS, dtype=np.float64)
    for colour, marker, study, label in (
        (PALETTE[0], "o", HEADS, "lemmax, as coded (no maps at d_h = d)"),
        (PALETTE[1], "s", HEADS_SHARED, "ablation: shared maps put back"),
    ):
        x, y = curve(rows[study.name], "H")
        draw_means(axes, x, y, colour, label, marker)
        below = below_saturation(x, y)
        fitted(axes, x[below], y[below], 1, colour)
    draw_bounds(axes, sizes, bounds(N, sizes, 10, 10))
    axes.legend(frameon=False, fontsize=6)


def draw_head_dimension(rows: Rows, figure: Any) -> None:
    """Accuracy against d_h, for both kinds of maps."""
    axes = panel(figure, "d_h", published()["head-dimension"])
    for colour, marker, maps, label in (
        (PALETTE[0], "o", "code", "lemmax, shared maps"),
        (PALETTE[1], "s", "per-head", "lemmax, a map for each head"),
    ):
        x, y = curve(rows[HEAD_DIMENSION.name], "d_h", maps)
        draw_means(axes, x, y, colour, label, marker)
        fitted(axes, x, y, 2, colour)
    sizes = np.arange(1.0, 11.0)
    draw_bounds(axes, sizes, bounds(N, 20, sizes, 10))
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
    )
}
