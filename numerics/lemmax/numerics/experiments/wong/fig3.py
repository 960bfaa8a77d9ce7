"""Figure 3 of Wong: accuracy by the bounds of layer and database, for each threshold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lemmax.numerics.experiments import criteria
from lemmax.numerics.experiments.criteria import EQUAL, Asked
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

SOME = 1e-9  # a share above zero


def memorized_large(table: Table) -> tuple[int, int]:
    """Layers of bound ≤ 10, databases of bound ≥ 80: how many pairs memorize, of how many."""
    chosen = (table.layer <= 10) & (table.database >= 80)
    return int((chosen & (table.accuracy["argmax"] == 1.0)).sum()), int(chosen.sum())


def below_argmax(table: Table) -> Estimate:
    """The mean share of facts that are the argmax without a probability of one half."""
    lost = table.accuracy["argmax"] - table.half
    return bootstrap(lambda i: float(lost[i].mean()), len(table))


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


def growth(table: Table, beyond: str | None = None) -> dict[str, Estimate]:
    """Accuracy gained by a unit of the layer's bound, on databases of one cell of bounds.

    Less what is gained by another criterion, if one is named.
    """
    slopes = {}
    for name, accuracy in table.accuracy.items():
        gained = accuracy - table.accuracy[beyond] if beyond else accuracy

        def statistic(i: NDArray[np.int64], y: Floats = gained) -> float:
            return slope(table.layer[i], y[i], table.tens[i])

        slopes[name] = bootstrap(statistic, len(table))
    return slopes


PRINTED_FACTORS = {"0.75": (3.0, 4.0), "0.95": (1.0, 2.0)}


def judge(rows: Rows) -> list[Judgement]:
    """Large databases, thresholds and growth with the layer's bound, under every recipe."""
    tables = {name: Table(some) for name, some in rows.items()}
    return [
        *judge_large(tables),
        *_judge_factors(tables),
        _judge_half(tables),
        _growth(tables),
        _stronger(tables),
    ]


def judge_large(tables: dict[str, Table]) -> list[Judgement]:
    """Some: surely a positive share under every recipe. Most: over one half under each."""
    counts = {name: memorized_large(table) for name, table in tables.items()}
    told = ", ".join(f"{a} of {b} ({name})" for name, (a, b) in counts.items())
    sentence = (
        "Pairs of a layer of bound at most 10 and a database of bound at least 80 that is "
        f"memorized by argmax: {told}."
    )
    shares = {name: share(a, max(1, b)) for name, (a, b) in counts.items()}
    some = {name: [Asked("share", s, low=SOME)] for name, s in shares.items()}
    most = {name: [Asked("share", s, low=0.5)] for name, s in shares.items()}
    return [
        criteria.judged("wong/figure-3a", some, sentence, None),
        criteria.judged("wong/figure-3a-most", most, sentence, None),
    ]


def _judge_factors(tables: dict[str, Table]) -> list[Judgement]:
    """At .75 and .95 within the printed range; at .99 below one; by argmax above one."""
    by_recipe = {name: factors(table) for name, table in tables.items()}
    told = "; ".join(
        f"{name} ({len(tables[name])} pairs): "
        + ", ".join(f"{f} at {CRITERIA[tau]}" for tau, f in by_tau.items() if tau != "argmax")
        for name, by_tau in by_recipe.items()
    )
    sentence = f"Half of the pairs are memorized at a ratio of the bounds of {told}."
    printed = {
        name: [Asked(tau, by_tau[tau], *ends) for tau, ends in PRINTED_FACTORS.items()]
        for name, by_tau in by_recipe.items()
    }
    strict = {name: [Asked("0.99", by_tau["0.99"], high=1.0)] for name, by_tau in by_recipe.items()}
    counted = {name: by_tau["argmax"] for name, by_tau in by_recipe.items()}
    return [
        criteria.judged("wong/figure-3-tau", printed, sentence),
        criteria.judged("wong/figure-3d", strict, sentence, None),
        criteria.judged(
            "wong/value-counts-overestimate",
            {name: [Asked("argmax", ratio, low=1.0)] for name, ratio in counted.items()},
            "Half of the pairs are memorized by argmax at a ratio of the bound of Proposition 2.1 "
            f"to that of the layer of {criteria.told(counted.items())}.",
            None,
        ),
    ]


def _judge_half(tables: dict[str, Table]) -> Judgement:
    """Almost identical: the mean accuracies differ by less than .05."""
    lost = {name: below_argmax(table) for name, table in tables.items()}
    asked = {name: [Asked("difference", e, -EQUAL, EQUAL)] for name, e in lost.items()}
    sentence = (
        "Mean accuracy by argmax less that at a threshold of one half: "
        f"{criteria.told(lost.items())}."
    )
    return criteria.judged("wong/figure-3-half", asked, sentence, None)


def _growth(tables: dict[str, Table]) -> Judgement:
    """Growth with the bound by argmax and at each threshold."""
    by_recipe = {name: growth(table) for name, table in tables.items()}
    told = "; ".join(
        f"{name}: " + ", ".join(f"{e} ({CRITERIA[tau]})" for tau, e in by_tau.items())
        for name, by_tau in by_recipe.items()
    )
    asked = {
        name: [Asked(tau, e, low=0.0) for tau, e in by_tau.items()]
        for name, by_tau in by_recipe.items()
    }
    sentence = (
        f"Accuracy per unit of d_model + H d_vo at a comparable bound of the database: {told}."
    )
    return criteria.judged("wong/figure-3-bound", asked, sentence)


def _stronger(tables: dict[str, Table]) -> Judgement:
    """At .75 and at .95 more growth with the bound than by argmax, pair by pair."""
    by_recipe = {name: growth(table, "argmax") for name, table in tables.items()}
    told = "; ".join(
        f"{name}: " + ", ".join(f"{by_tau[tau]} ({CRITERIA[tau]})" for tau in PRINTED_FACTORS)
        for name, by_tau in by_recipe.items()
    )
    asked = {
        name: [Asked(tau, by_tau[tau], low=0.0) for tau in PRINTED_FACTORS]
        for name, by_tau in by_recipe.items()
    }
    sentence = f"Accuracy per unit of d_model + H d_vo, less that by argmax: {told}."
    return criteria.judged("wong/figure-3-stronger", asked, sentence, None)


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
