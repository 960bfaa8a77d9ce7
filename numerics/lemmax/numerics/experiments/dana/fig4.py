"""Dana, Pydi and Chevaleyre 2024, Figure 4: accuracy against H in the plane, N = 10.

The text has d_h = 5, the public code d_h = 2; both are trained, with the maps of the code and with
those of equation (1).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lemmax.numerics.experiments import criteria
from lemmax.numerics.experiments.criteria import Asked
from lemmax.numerics.experiments.dana.curves import (
    as_coded,
    below_saturation,
    bounds,
    draw_bounds,
    draw_means,
    published,
    repeated,
    repetitions,
)
from lemmax.numerics.experiments.statistics import Estimate, Floats, fit, mean
from lemmax.numerics.experiments.studies import Experiment, Judgement, Row, Rows, Study
from lemmax.numerics.figures import PALETTE
from lemmax.numerics.training.configurations import Dana
from lemmax.numerics.training.recipes import recipe

N, D, HEAD_COUNTS = 10, 2, (1, 5, 9, 13, 17, 21)
PRINTED, NEAR = 1.7, 0.3  # about 1.7: within .3 of it
TWICE = (1.5, 2.5)  # around twice: rounds to two
SETTINGS = {
    "code, d_h = 2": (2, True),
    "code, d_h = 5": (5, True),
    "equation (1), d_h = 2": (2, False),
    "equation (1), d_h = 5": (5, False),
}

PLANE = Study(
    "dana-plane",
    recipe("dana-code"),
    repeated(
        [as_coded(N, D, d_h, H) for d_h in (2, 5) for H in HEAD_COUNTS]
        + [Dana(N, D, d_h, H, "per-head") for d_h in (2, 5) for H in HEAD_COUNTS],
        5,
        repetitions=20,
    ),
)


def setting(rows: Sequence[Row], d_h: int, coded: bool) -> tuple[Floats, Floats, Floats]:
    """Heads, accuracies and repetitions of the rows of one setting."""
    chosen = [
        (row.job.config.H, row.recent, row.job.seed)
        for row in rows
        if isinstance(row.job.config, Dana)
        and (row.job.config.d_h, row.job.config.scaled) == (d_h, coded)
    ]
    H, accuracy, seed = np.array(chosen, dtype=np.float64).T
    return H, accuracy, seed


def factor(H: Floats, accuracy: Floats, seed: Floats, d_h: int) -> Estimate:
    """Associations gained by a head, in units of d_h: the mean of the repetitions' slopes.

    Sizes whose mean is saturated are left out, and guessing is taken out as in Corollary 2.
    """
    below = below_saturation(H, accuracy)
    unit = d_h / N**2 * (1 - 1 / N)
    slopes = [
        fit(H[chosen], accuracy[chosen], 1).leading.value / unit
        for s in np.unique(seed)
        for chosen in [below & (seed == s)]
    ]
    return mean(slopes)


def judge_plane(rows: Rows) -> list[Judgement]:
    """Within .3 of 1.7 in every setting; and around twice the d_h of Corollary 1."""
    trained = rows[PLANE.name]
    factors = {name: factor(*setting(trained, *s), s[0]) for name, s in SETTINGS.items()}
    heads, accuracy = np.array(published()["plane"]["heads"], dtype=np.float64).T
    theirs = factor(heads, accuracy, np.zeros_like(heads), published()["plane"]["d_h"]).value
    sentence = (
        f"Associations gained by a head at d = 2, N = 10, in units of d_h "
        f"({repetitions(trained)}): {criteria.told(factors.items())}. The authors' recorded "
        f"accuracies (d_h = 2) give {theirs:.2f}; printed is 1.7."
    )
    return [
        criteria.judged(
            claim,
            {name: [Asked("factor", e, *ends)] for name, e in factors.items()},
            sentence,
            known,
        )
        for claim, ends, known in (
            ("dana/figure-4", (PRINTED - NEAR, PRINTED + NEAR), ()),
            ("dana/twice-as-fast", TWICE, None),
        )
    ]


def draw_plane(rows: Rows, figure: Any) -> None:
    """Accuracy against H, a panel for each head dimension."""
    figure.set_size_inches(7, 3.4)
    panels = figure.subplots(1, 2, sharey=True)
    sizes = np.array(HEAD_COUNTS, dtype=np.float64)
    for axes, d_h in zip(panels, (2, 5), strict=True):
        if d_h == published()["plane"]["d_h"]:
            points = np.array(published()["plane"]["heads"])
            axes.plot(*points.T, "x", color="black", label="recorded by the authors")
        for colour, marker, coded, label in (
            (PALETTE[0], "o", True, "lemmax, as coded"),
            (PALETTE[1], "s", False, "lemmax, a map for each head"),
        ):
            x, y, _ = setting(rows[PLANE.name], d_h, coded)
            draw_means(axes, x, y, colour, label, marker)
        draw_bounds(axes, sizes, bounds(N, sizes, d_h, D))
        axes.set(xlabel="H", title=f"d = 2, d_h = {d_h}, N = {N}", ylim=(0, 1.02))
        axes.set_xticks(HEAD_COUNTS)
    panels[0].set_ylabel("accuracy")
    handles = panels[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=3, frameon=False, fontsize=6)


EXPERIMENTS = {
    "dana-fig4": Experiment("dana-fig4", "Accuracy in the plane", (PLANE,), judge_plane, draw_plane)
}
