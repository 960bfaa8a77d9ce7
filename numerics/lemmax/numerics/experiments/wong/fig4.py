"""Figure 4 of Wong: the value dimension against the query-key dimension at a constant sum."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lemmax.numerics.experiments import criteria
from lemmax.numerics.experiments.criteria import Asked
from lemmax.numerics.experiments.statistics import (
    Estimate,
    bootstrap,
    slope,
)
from lemmax.numerics.experiments.studies import Experiment, Judgement, Rows
from lemmax.numerics.experiments.wong.trained_pairs import (
    GUESS,
    SLOW,
    Table,
    cells,
)

SMALL, LARGE = 2, 4  # small d_vo are up to 2, large ones from 4 on


def trade(table: Table, tau: str = "0.95") -> Estimate:
    """Accuracy gained when d_vo grows by one and d_qk shrinks by one, all else alike.

    All else: d_model, the number of heads and d_vo + d_qk; the bound of the database is random and
    is taken out first.
    """
    y = table.accuracy[tau]
    y = y - slope(table.database, y) * table.database

    def statistic(i: NDArray[np.int64]) -> float:
        total = table.d_vo[i] + table.d_qk[i]
        return slope(table.d_vo[i], y[i], table.d_model[i], table.heads[i], total)

    return bootstrap(statistic, len(table))


def diagonals(table: Table, tau: str = "0.95") -> dict[int, Estimate]:
    """For each d_vo + d_qk, the slope of the accuracy in d_vo, pairs averaged as in the paper."""
    total, slopes = table.d_vo + table.d_qk, {}
    for s in range(3, 12):
        x, y = table.d_vo[total == s], table.accuracy[tau][total == s]
        if len(set(x)) > 1:

            def statistic(i: NDArray[np.int64], x: Any = x, y: Any = y) -> float:
                return slope(x[i], y[i])

            slopes[s] = bootstrap(statistic, len(x))
    return slopes


def along_query_key(table: Table, *, least: int = 1, most: int = 6, alike: bool = False) -> Any:
    """The slope of the accuracy in d_qk at given d_vo, as a statistic of chosen rows.

    Pairs are averaged as in the paper, layers of every d_model together; if ``alike``, at equal
    d_model and heads, with the bound of the database taken out.
    """
    y = table.accuracy["0.95"]
    y = y - slope(table.database, y) * table.database if alike else y
    inside = (least <= table.d_vo) & (table.d_vo <= most)

    def statistic(i: NDArray[np.int64]) -> float:
        j = i[inside[i]]
        groups = (table.d_model[j], table.heads[j]) if alike else ()
        return slope(table.d_qk[j], y[j], table.d_vo[j], *groups)

    return statistic


def value_dimension(table: Table) -> Estimate:
    """The slope of the accuracy in d_vo at given d_qk, pairs averaged as in the paper."""
    y = table.accuracy["0.95"]
    return bootstrap(lambda i: slope(table.d_vo[i], y[i], table.d_qk[i]), len(table))


def judge(rows: Rows) -> list[Judgement]:
    """d_vo against d_qk at a constant sum, and what d_qk does alone, under every recipe."""
    tables = {name: Table(some) for name, some in rows.items()}
    return [_judge_trade(tables), *_judge_query_key(tables)]


def _judge_trade(tables: dict[str, Table]) -> Judgement:
    """Moving a dimension from d_qk to d_vo gains accuracy; the diagonals are told beside it."""
    gains = {name: trade(table) for name, table in tables.items()}
    lines = diagonals(tables[GUESS.name])
    up = sum(x.value > 0 for x in lines.values())
    down = sum(x.high < 0 for x in lines.values())
    asked = {name: [Asked("gain", g, low=0.0)] for name, g in gains.items()}
    asked[GUESS.name].append(Asked("diagonals that fall", Estimate(down, down, down), high=0.0))
    told = ", ".join(f"{g} ({name}, {len(tables[name])} pairs)" for name, g in gains.items())
    sentence = (
        "One dimension moved from d_qk to d_vo at equal d_model, heads and d_vo + d_qk changes the "
        f"accuracy at τ = .95 by {told}. Under {GUESS.name} the mean grows with d_vo on {up} of "
        f"{len(lines)} diagonals, and surely falls on {down}."
    )
    return criteria.judged("wong/figure-4", asked, sentence)


def _judge_query_key(tables: dict[str, Table]) -> list[Judgement]:
    """In general, at small d_vo, at large d_vo, and with everything else alike; and d_vo itself."""

    def measured(**ends: Any) -> dict[str, Estimate]:
        return {
            name: bootstrap(along_query_key(table, **ends), len(table))
            for name, table in tables.items()
        }

    def fading(table: Table) -> Estimate:
        small, large = along_query_key(table, most=SMALL), along_query_key(table, least=LARGE)
        return bootstrap(lambda i: large(i) - small(i), len(table))

    fades = {name: fading(table) for name, table in tables.items()}
    judgements = []
    for claim, words, estimates, side in (
        ("wong/figure-4-qk", "in general", measured(), "low"),
        ("wong/figure-4-small-vo", f"for d_vo up to {SMALL}", measured(most=SMALL), "low"),
        ("wong/figure-4-large-vo", f"for d_vo from {LARGE} on, less that up to {SMALL}", fades,
         "high"),
        ("wong/figure-4-detrimental", f"for d_vo from {LARGE} on", measured(least=LARGE), "high"),
        ("wong/figure-4-qk-alone", "at equal d_model, heads and d_vo", measured(alike=True), "low"),
    ):  # fmt: skip
        asked = {name: [Asked("slope", e, **{side: 0.0})] for name, e in estimates.items()}
        told = criteria.told(estimates.items())
        judgements.append(
            criteria.judged(
                claim,
                asked,
                f"Accuracy at τ = .95 per unit of d_qk, {words}: {told}.",
                None,
            )
        )
    values = {name: value_dimension(table) for name, table in tables.items()}
    return [
        *judgements,
        criteria.judged(
            "wong/figure-4-vo",
            {name: [Asked("slope", e, low=0.0)] for name, e in values.items()},
            "Accuracy at τ = .95 per unit of d_vo, at equal d_qk: "
            f"{criteria.told(values.items())}.",
            None,
        ),
    ]


def draw(rows: Rows, figure: Any) -> None:
    """Mean accuracy at τ = .95 for every d_vo and d_qk."""
    table = Table(rows[GUESS.name])
    figure.set_size_inches(4, 3.2)
    axes = figure.subplots()
    shares = cells(table.d_vo, table.d_qk, table.accuracy["0.95"])
    image = axes.imshow(shares, cmap="cividis", extent=(0.5, 6.5, 6.5, 0.5))
    for (i, j), value in np.ndenumerate(shares):
        if not np.isnan(value):
            # With a trace of hue, so that the dark drawing of a page keeps them on their fields.
            shade = "#00001c" if value > np.nanmean(shares) else "#ffffe0"
            axes.text(j + 1, i + 1, f"{value:.2f}", ha="center", va="center", color=shade)
    axes.set(xlabel="d_qk", ylabel="d_vo", title=f"moving one to d_vo: {trade(table)}")
    figure.colorbar(image, label="mean accuracy, τ = .95")


EXPERIMENTS = {
    "wong-fig4": Experiment("wong-fig4", "d_vo against d_qk", (GUESS, SLOW), judge, draw)
}
