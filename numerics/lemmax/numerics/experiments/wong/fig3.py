"""Figure 3 of Wong: accuracy by the bounds of layer and database, for each threshold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lemmax.numerics.experiments.statistics import (
    Estimate,
    Floats,
    bootstrap,
    midpoint,
    share,
    slope,
)
from lemmax.numerics.experiments.studies import Experiment, Judgement, Rows
from lemmax.numerics.experiments.wong.trained_pairs import (
    CRITERIA,
    GUESS,
    SLOW,
    Table,
    cells,
)


def memorized_large(table: Table) -> tuple[Estimate, int, float]:
    """Layers of bound ≤ 10, databases of bound > 70: share memorized, their number, largest."""
    chosen = (table.layer <= 10) & (table.database > 70)
    whole = chosen & (table.accuracy["argmax"] == 1.0)
    largest = float(table.database[whole].max()) if whole.any() else 0.0
    return share(int(whole.sum()), max(1, int(chosen.sum()))), int(chosen.sum()), largest


def factors(table: Table) -> dict[str, Estimate]:
    """For each criterion, the ratio of the bounds at which half of the databases are memorized."""
    ratio = table.database / table.layer
    ratios = {}
    for name, accuracy in table.accuracy.items():
        whole = (accuracy == 1.0).astype(np.float64)

        def statistic(i: NDArray[np.int64], y: Floats = whole) -> float:
            return midpoint(ratio[i], y[i])

        ratios[name] = bootstrap(statistic, len(table), 200)
    return ratios


def growth(table: Table) -> dict[str, Estimate]:
    """Accuracy gained by a unit of the layer's bound, on databases of one cell of bounds."""
    slopes = {}
    for name, accuracy in table.accuracy.items():

        def statistic(i: NDArray[np.int64], y: Floats = accuracy) -> float:
            return slope(table.layer[i], y[i], table.tens[i])

        slopes[name] = bootstrap(statistic, len(table))
    return slopes


PRINTED_FACTORS = {"0.75": (3.0, 4.0), "0.95": (1.0, 2.0)}


def judge(rows: Rows) -> list[Judgement]:
    """Large databases, factors in τ under two recipes, growth with the layer's bound."""
    tables = {name: Table(some) for name, some in rows.items()}
    return [_judge_large(tables), _judge_factors(tables), _judge_growth(tables)]


def _judge_large(tables: dict[str, Table]) -> Judgement:
    """Reproduced iff some such layer memorizes a database of bound 80 or more whole."""
    table = tables[GUESS.name]
    memorized, number, largest = memorized_large(table)
    sentence = (
        f"Of {number} pairs of a layer of bound at most 10 and a database of bound over 70, "
        f"a share {memorized} is memorized by argmax"
    )
    if largest >= 80:
        told = f"{sentence}; the largest such database has bound {largest:.0f}."
        return Judgement("wong/figure-3a", "reproduced", told)
    # none of many: then the share is small, whatever the paper's cell shows
    decided = number >= 100 and not largest
    return Judgement("wong/figure-3a", "not-reproduced" if decided else None, f"{sentence}.")


def _judge_factors(tables: dict[str, Table]) -> Judgement:
    by_recipe = {name: factors(table) for name, table in tables.items()}
    told = "; ".join(
        f"{name} ({len(tables[name])} pairs): "
        + ", ".join(f"{f} at {CRITERIA[tau]}" for tau, f in by_tau.items() if tau != "argmax")
        for name, by_tau in by_recipe.items()
    )
    sentence = f"Half of the pairs are memorized at a ratio of the bounds of {told}."
    inside = [
        by_recipe[name][tau].within(*ends)
        for name in by_recipe
        for tau, ends in PRINTED_FACTORS.items()
    ]
    outside = [
        all(by_tau[tau].apart(*ends) for tau, ends in PRINTED_FACTORS.items())
        for by_tau in by_recipe.values()
    ]
    first, second = by_recipe[GUESS.name], by_recipe[SLOW.name]
    differ = all(first[tau].apart(second[tau].low, second[tau].high) for tau in PRINTED_FACTORS)
    if all(inside):
        return Judgement("wong/figure-3-tau", "reproduced", sentence)
    if differ:
        more = f"{sentence} The factors are the recipe's: the intervals of two rates do not meet."
        return Judgement("wong/figure-3-tau", "recipe-dependent", more)
    return Judgement("wong/figure-3-tau", "not-reproduced" if all(outside) else None, sentence)


def _judge_growth(tables: dict[str, Table]) -> Judgement:
    by_recipe = {name: growth(table) for name, table in tables.items()}
    every = [estimate for by_tau in by_recipe.values() for estimate in by_tau.values()]
    told = "; ".join(
        f"{name}: " + ", ".join(f"{e} ({CRITERIA[tau]})" for tau, e in by_tau.items())
        for name, by_tau in by_recipe.items()
    )
    sentence = (
        f"Accuracy per unit of d_model + H d_vo at a comparable bound of the database: {told}."
    )
    if all(estimate.low > 0 for estimate in every):
        return Judgement("wong/figure-3-bound", "reproduced", sentence)
    wrong = any(estimate.high < 0 for estimate in every)
    return Judgement("wong/figure-3-bound", "not-reproduced" if wrong else None, sentence)


def draw(rows: Rows, figure: Any) -> None:
    """Mean accuracy by cells of both bounds, for each criterion and recipe."""
    tables = {name: Table(some) for name, some in rows.items()}
    figure.set_size_inches(9, 2.4 * len(tables))
    axes = figure.subplots(len(tables), 4, squeeze=False, sharex=True, sharey=True)
    image = None
    for line, (name, table) in zip(axes, tables.items(), strict=True):
        ratio = table.database / table.layer
        for place, (tau, label) in zip(line, CRITERIA.items(), strict=True):
            shares = cells(
                np.ceil(table.layer / 5).astype(int), table.tens.astype(int), table.accuracy[tau]
            )
            image = place.imshow(
                shares.T, origin="lower", aspect="auto", vmin=0, vmax=1, cmap="cividis",
                extent=(0, 5 * shares.shape[0], 0, 10 * shares.shape[1]),
            )  # fmt: skip
            half = midpoint(ratio, (table.accuracy[tau] == 1.0).astype(np.float64))
            x = np.array([0.0, 5.0 * shares.shape[0]])
            place.plot(x, half * x, "w--", linewidth=1)
            place.set_ylim(0, 10 * shares.shape[1])
            place.set_title(f"{name}, {label}: ×{half:.2g}", fontsize=7)
        line[0].set_ylabel("bound of Proposition 2.1")
    for place in axes[-1]:
        place.set_xlabel("d_model + H d_vo")
    figure.colorbar(image, ax=axes, label="mean accuracy")


EXPERIMENTS = {
    "wong-fig3": Experiment("wong-fig3", "Accuracy by the bounds", (GUESS, SLOW), judge, draw)
}
