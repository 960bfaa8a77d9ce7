"""Footnote 8 of Dana, Pydi and Chevaleyre: in the plane, does accuracy hang on the start?

The footnote says why Figure 4 has N = 10: with d = 2 "the accuracy becomes very dependant to the
initialization. Taking a lower N solves the problem." So one table of next tokens is trained from
several starts, at N = 50 and at N = 10, and the scatter of the accuracies is compared. A start is a
seed: the initial weights, and the batches that are drawn, which differ with it in both recipes.

Fixed, and committed, before anything was trained for it:

- Settings: the text's recipe in full with five heads of dimension 5, by the shared maps of the code
  and by those of equation (1); the code's recipe with both of these and with its own d_h = 2, each
  with five and with twenty heads. Five heads are far from saturation at N = 10 by every curve of
  Figure 4; twenty, with d_h = 5 and shared maps, are not.
- For each N there are ``TABLES`` tables of next tokens, each trained from ``STARTS`` starts. The
  scatter of a table is the standard deviation of its accuracies, which are those of all of Dana's
  figures, the mean over the last hundred training batches.
- ``dana/footnote-8``: the binary logarithm of the scatter at N = 50 over that at N = 10, its mean
  over the tables (the i-th at N = 50 with the i-th at N = 10) with Student's interval, is at least
  zero in every setting.
- ``dana/footnote-8-relative``: the same, each scatter divided by the table's mean accuracy, since
  accuracies at N = 50 are smaller.

The footnote does not say how it measures dependence; these are two readings of it, and ours.

Where settings are not trained, a verdict is reached only if they could not change it: where two of
the others surely differ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from lemmax.numerics.experiments import criteria
from lemmax.numerics.experiments.criteria import Asked
from lemmax.numerics.experiments.statistics import Estimate, Floats, mean
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
from lemmax.numerics.training.configurations import Dana
from lemmax.numerics.training.jobs import Job
from lemmax.numerics.training.recipes import recipe
from lemmax.theory.errors import LemmaxError

SIZES, D, TABLES, STARTS = (50, 10), 2, 8, 6
FIRST = 800  # tables and starts that no other study has
LEAST = 1e-6  # a smaller scatter counts as this much
Model: TypeAlias = tuple[int, Literal["shared", "per-head", "direct"], int]
"""The dimension of the heads, their maps and their number."""

NAMES = {"direct": "as coded", "shared": "shared maps", "per-head": "a map for each head"}
TEXT_MODELS: tuple[Model, ...] = ((5, "shared", 5), (5, "per-head", 5))
CODE_MODELS: tuple[Model, ...] = (
    *((2, "direct", 5), (2, "direct", 20)),
    *((5, "shared", 5), (5, "shared", 20)),
    *((5, "per-head", 5), (5, "per-head", 20)),
)

SETTINGS = len(TEXT_MODELS) + len(CODE_MODELS)


def _jobs(models: Sequence[Model]) -> Callable[[Scale], list[Job]]:
    """Table after table, each from all of its starts; two tables are small."""

    def jobs(scale: Scale) -> list[Job]:
        return [
            Job(Dana(N, D, d_h, H, maps, data_seed=FIRST + table), FIRST + start)
            for table in range(2 if scale == "small" else TABLES)
            for d_h, maps, H in models
            for N in SIZES
            for start in range(STARTS)
        ]

    return jobs


TEXT = Study("dana-starts-text", recipe("dana-text"), _jobs(TEXT_MODELS))
CODE = Study("dana-starts", recipe("dana-code"), _jobs(CODE_MODELS))


def settings(rows: Rows) -> dict[str, dict[int, Floats]]:
    """For each setting and N the accuracies, a line for each table; half-trained tables are out."""
    found: dict[str, dict[int, Floats]] = {}
    for study, models in ((TEXT, TEXT_MODELS), (CODE, CODE_MODELS)):
        for d_h, maps, H in models:
            name = f"{study.recipe.name}, d_h = {d_h}, H = {H}, {NAMES[maps]}"
            some = [r for r in rows.get(study.name, ()) if _model(r) == (d_h, maps, H)]
            by_size = {N: _tables([r for r in some if _config(r).N == N]) for N in SIZES}
            pairs = min(map(len, by_size.values()))
            if pairs:
                found[name] = {N: np.array(lines[:pairs]) for N, lines in by_size.items()}
    return found


def _config(row: Row) -> Dana:
    assert isinstance(row.job.config, Dana)
    return row.job.config


def _model(row: Row) -> tuple[int, str, int]:
    config = _config(row)
    return config.d_h, config.maps, config.H


def _tables(rows: Sequence[Row]) -> list[list[float]]:
    by_table: dict[int, list[float]] = {}
    for row in rows:
        assert row.recent is not None
        by_table.setdefault(_config(row).data_seed, []).append(row.recent)
    return [one for _, one in sorted(by_table.items()) if len(one) == STARTS]


def scatter(accuracies: Floats, *, relative: bool = False) -> Floats:
    """The standard deviation over the starts, for each table.

    >>> scatter(np.array([[0.1, 0.3], [0.4, 0.4]])).round(3).tolist()
    [0.141, 0.0]
    >>> scatter(np.array([[0.1, 0.3]]), relative=True).round(3).tolist()
    [0.707]
    """
    spread = np.maximum(accuracies.std(axis=1, ddof=1), LEAST)
    return np.asarray(spread / accuracies.mean(axis=1) if relative else spread)


def more(by_size: dict[int, Floats], *, relative: bool = False) -> Estimate:
    """The binary logarithm of the scatter at N = 50 over that at N = 10, mean over the tables."""
    large, small = (scatter(by_size[N], relative=relative) for N in SIZES)
    return mean(np.log2(large / small))


def judge(rows: Rows) -> list[Judgement]:
    """More scatter at N = 50: the logarithm is at least zero, for both readings of scatter."""
    found = settings(rows)
    if not found:
        raise LemmaxError("No table has been trained from all of its starts yet.")
    judgements = []
    for claim, relative, words in (
        ("dana/footnote-8", False, "Standard deviation of the accuracy over starts"),
        ("dana/footnote-8-relative", True, "Standard deviation over mean of the accuracy"),
    ):
        logarithms = {name: more(tables, relative=relative) for name, tables in found.items()}
        told = "; ".join(
            f"{name}: {' and '.join(_typical(tables, relative))}, logarithm {logarithms[name]}"
            for name, tables in found.items()
        )
        number = min(len(tables[SIZES[0]]) for tables in found.values())
        sentence = (
            f"{words}, d = {D}, {STARTS} starts for each of {number} tables, median at N = 50 and "
            f"at N = 10, and the mean binary logarithm of their ratio (below {LEAST:g} counts as "
            f"that): {told}. {_saturated(found)}"
        )
        asked = {
            name: [Asked("logarithm of the ratio", e, low=0.0)] for name, e in logarithms.items()
        }
        untrained = SETTINGS - len(found)
        judgements.append(criteria.judged(claim, asked, sentence, untrained=untrained))
    return judgements


def _saturated(found: dict[str, dict[int, Floats]]) -> str:
    """Where N = 10 is too easy to scatter."""
    full = [name for name, tables in found.items() if tables[SIZES[1]].mean() >= SATURATED]
    told = "; ".join(full) or "in no setting"
    return f"Saturated at N = 10, a mean accuracy of {SATURATED} or more: {told}."


def _typical(tables: dict[int, Floats], relative: bool) -> list[str]:
    return [f"{float(np.median(scatter(tables[N], relative=relative))):.3g}" for N in SIZES]


def draw(rows: Rows, figure: Any) -> None:
    """The scatter of every table, at both N, as it is and over the mean accuracy."""
    found = settings(rows)
    figure.set_size_inches(8.4, 0.35 * len(found) + 1.2)
    panels = figure.subplots(1, 2, sharey=True)
    for axes, relative in zip(panels, (False, True), strict=True):
        for line, tables in enumerate(found.values()):
            for colour, N, up in zip(PALETTE, SIZES, (-0.15, 0.15), strict=False):
                values = scatter(tables[N], relative=relative)
                label = f"N = {N}, a table each" if line == 0 else None
                height = np.full(len(values), line + up)
                axes.plot(values, height, ".", color=colour, markersize=3, label=label)
                axes.plot(np.median(values), line + up, "|", color=colour, markersize=9)
        of = "over its mean" if relative else ""
        axes.set(xscale="log", xlabel=f"scatter of the accuracy {of}".strip())
    panels[0].set_yticks(range(len(found)), list(found), fontsize=6)
    panels[0].invert_yaxis()
    panels[0].legend(frameon=False, fontsize=6)


EXPERIMENTS = {
    "dana-starts": Experiment(
        "dana-starts", "Accuracy in the plane by the start", (TEXT, CODE), judge, draw
    )
}
