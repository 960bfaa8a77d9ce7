"""Figure 4 of Wong: the value dimension against the query-key dimension at a constant sum."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

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
from lemmax.theory.ledger.verdicts import Verdict


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


def judge(rows: Rows) -> list[Judgement]:
    """d_vo against d_qk at a constant sum, under both recipes.

    Reproduced iff moving a dimension to d_vo surely gains under the first recipe and loses under
    none, and the accuracy surely falls with d_vo on no diagonal.
    """
    tables = {name: Table(some) for name, some in rows.items()}
    gains = {name: trade(table) for name, table in tables.items()}
    lines = diagonals(tables[GUESS.name])
    up = sum(x.value > 0 for x in lines.values())
    down = sum(x.high < 0 for x in lines.values())
    told = ", ".join(f"{g} ({name}, {len(tables[name])} pairs)" for name, g in gains.items())
    sentence = (
        "One dimension moved from d_qk to d_vo at equal d_model, heads and d_vo + d_qk changes the "
        f"accuracy at τ = .95 by {told}. Under {GUESS.name} the mean grows with d_vo on {up} of "
        f"{len(lines)} diagonals, and surely falls on {down}."
    )
    first, least = gains[GUESS.name], min(g.high for g in gains.values())
    verdict: Verdict | None = None
    if first.low > 0 and least > 0 and not down:
        verdict = "reproduced"
    elif first.low > 0 > least:
        verdict = "recipe-dependent"
    elif first.high < 0:
        verdict = "not-reproduced"
    return [Judgement("wong/figure-4", verdict, sentence)]


def draw(rows: Rows, figure: Any) -> None:
    """Mean accuracy at τ = .95 for every d_vo and d_qk."""
    table = Table(rows[GUESS.name])
    figure.set_size_inches(4, 3.2)
    axes = figure.subplots()
    shares = cells(table.d_vo, table.d_qk, table.accuracy["0.95"])
    image = axes.imshow(shares, cmap="cividis", extent=(0.5, 6.5, 6.5, 0.5))
    for (i, j), value in np.ndenumerate(shares):
        if not np.isnan(value):
            shade = "black" if value > np.nanmean(shares) else "white"
            axes.text(j + 1, i + 1, f"{value:.2f}", ha="center", va="center", color=shade)
    axes.set(xlabel="d_qk", ylabel="d_vo", title=f"moving one to d_vo: {trade(table)}")
    figure.colorbar(image, label="mean accuracy, τ = .95")


EXPERIMENTS = {
    "wong-fig4": Experiment("wong-fig4", "d_vo against d_qk", (GUESS, SLOW), judge, draw)
}
