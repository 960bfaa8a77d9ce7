"""Wong 2025, Figures 2 to 4: random databases, the grid of layers, random pairs of both.

The paper states neither the generator of its databases nor optimiser, rate and initialisation.
Every number here therefore belongs to a named generator and a named recipe, and what depends on
them is measured under two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
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
from lemmax.numerics.experiments.studies import Experiment, Judgement, Row, Rows, Scale, Study
from lemmax.numerics.figures import PALETTE
from lemmax.numerics.training.configurations import RandomDatabase, Triple, Wong
from lemmax.numerics.training.jobs import Job
from lemmax.numerics.training.recipes import recipe
from lemmax.numerics.training.streams import stream
from lemmax.theory.facts.database import Database
from lemmax.theory.ledger.verdicts import Verdict

DATABASES, PAIRS, SMALL = 548, 3947, 400
THRESHOLDS = {"argmax": "argmax", "0.75": "τ = .75", "0.95": "τ = .95", "0.99": "τ = .99"}


def grid() -> list[tuple[int, int, int, int]]:
    """The layers of the paper: (d_model, d_vo, d_qk, heads).

    >>> len(grid())
    364
    """
    return [
        (d, d_vo, d_qk, heads)
        for d in range(1, 7)
        for d_vo in range(1, d + 1)
        for d_qk in range(1, d + 1)
        for heads in range(1, 5)
    ]


def pairs(scale: Scale) -> list[Job]:
    """Random pairs of a layer and a database, in a fixed random order."""
    layers = grid()
    order = stream("wong-pairs").permutation(DATABASES * len(layers))
    chosen = order[: SMALL if scale == "small" else PAIRS]
    return [
        Job(Wong(*layers[int(i) % len(layers)], RandomDatabase(int(i) // len(layers))))
        for i in chosen
    ]


def pairs_slow(scale: Scale) -> list[Job]:
    """The first pairs, which the second recipe trains too."""
    return pairs("small")


GUESS = Study("wong-guess", recipe("wong-guess"), pairs)
SLOW = Study(
    "wong-slow", recipe("wong-guess").changed(name="wong-slow", learning_rate=1e-3), pairs_slow
)


def dense_table(seed: int) -> tuple[Triple, ...]:
    """Another generator: one full table, 2 to 20 subjects, 1 to 10 predicates, 2 to 8 values."""
    random = stream("dense-table", seed)
    subjects, predicates, values = (
        int(random.integers(2, 21)),
        int(random.integers(1, 11)),
        int(random.integers(2, 9)),
    )
    return tuple(
        (s, subjects + p, subjects + predicates + int(random.integers(values)))
        for s in range(subjects)
        for p in range(predicates)
    )


def size_and_bound(facts: Sequence[Triple]) -> tuple[int, int]:
    """The number of triples and the bound of Proposition 2.1.

    >>> size_and_bound(((0, 2, 4), (0, 3, 4), (1, 2, 5)))
    (3, 2)
    """
    return len(facts), Database.from_triples(facts).slice_rank_bound


@lru_cache(maxsize=DATABASES)
def database_bound(database: RandomDatabase) -> int:
    """The bound of Proposition 2.1 of a generated database."""
    return size_and_bound(database.facts())[1]


@cache
def generators() -> dict[str, tuple[Floats, Floats]]:
    """Sizes and bounds of 548 databases of each generator."""
    made: dict[str, Callable[[int], tuple[Triple, ...]]] = {
        "several tables": lambda seed: RandomDatabase(seed).facts(),
        "one full table": dense_table,
    }
    found = {}
    for name, make in made.items():
        both = np.array([size_and_bound(make(seed)) for seed in range(DATABASES)], dtype=np.float64)
        found[name] = both[:, 0], both[:, 1]
    return found


class Table:
    """Rows as columns: bounds, dimensions, and the share of facts by each criterion."""

    def __init__(self, rows: Sequence[Row]) -> None:
        configs = [row.job.config for row in rows if isinstance(row.job.config, Wong)]
        self.d_model = np.array([c.d_model for c in configs])
        self.d_vo = np.array([c.d_vo for c in configs])
        self.d_qk = np.array([c.d_qk for c in configs])
        self.heads = np.array([c.heads for c in configs])
        self.layer = self.d_model + self.heads * self.d_vo
        self.database = np.array(
            [database_bound(c.database) for c in configs if isinstance(c.database, RandomDatabase)]
        )
        self.accuracy: dict[str, Floats] = {"argmax": np.array([row.accuracy for row in rows])}
        for tau in ("0.75", "0.95", "0.99"):
            self.accuracy[tau] = np.array([row.reached[tau] for row in rows])
        self.tens = np.ceil(self.database / 10)  # the paper's cells of database bounds

    def __len__(self) -> int:
        return len(self.layer)


# -- Figure 2 ----------------------------------------------------------------------------------
def generator_slopes() -> dict[str, Estimate]:
    """The slope of the number of triples on the bound, for each generator."""
    found = {}
    for name, (sizes, bounds) in generators().items():

        def statistic(i: NDArray[np.int64], x: Floats = bounds, y: Floats = sizes) -> float:
            return slope(x[i], y[i])

        found[name] = bootstrap(statistic, DATABASES)
    return found


def judge_2(rows: Rows) -> list[Judgement]:
    """About 1.8: within .2 of it."""
    slopes = generator_slopes()
    near = [s.within(1.6, 2.0) for s in slopes.values()]
    far = [s.apart(1.6, 2.0) for s in slopes.values()]
    told = "; ".join(f"{name}: {s}" for name, s in slopes.items())
    sentence = f"Triples per unit of the rank bound, {DATABASES} databases a generator: {told}."
    if all(near):
        return [Judgement("wong/figure-2a", "reproduced", sentence)]
    if all(far):
        return [Judgement("wong/figure-2a", "not-reproduced", sentence)]
    if any(near) and any(far):
        more = f"{sentence} The number is the generator's."
        return [Judgement("wong/figure-2a", "recipe-dependent", more)]
    return [Judgement("wong/figure-2a", None, sentence)]


def draw_2(rows: Rows, figure: Any) -> None:
    """Triples against the bound of databases; parameters against the bound of layers."""
    figure.set_size_inches(7, 3)
    left, right = figure.subplots(1, 2)
    slopes = generator_slopes()
    for colour, marker, (name, (sizes, bounds)) in zip(
        PALETTE, "ox", generators().items(), strict=False
    ):
        label = f"{name}: slope {slopes[name]}"
        left.plot(bounds, sizes, marker, color=colour, markersize=2, label=label)
    ends = np.array([0.0, 120.0])
    left.plot(ends, 1.8 * ends, "k--", linewidth=0.8, label="1.8, as printed")
    left.set(xlabel="bound of Proposition 2.1", ylabel="triples", title="(a)")
    left.legend(frameon=False, fontsize=6)
    layers = np.array(grid())
    d, d_vo, d_qk, heads = layers.T
    right.plot(d + heads * d_vo, 2 * heads * d * (d_vo + d_qk), "o", color=PALETTE[0], markersize=2)
    right.set(xlabel="d_model + H d_vo", ylabel="non-embedding parameters", title="(b)")


# -- Figure 3 ----------------------------------------------------------------------------------
def memorized_large(table: Table) -> tuple[Estimate, int, float]:
    """Layers of bound ≤ 10, databases of bound > 70: share memorized, their number, largest."""
    chosen = (table.layer <= 10) & (table.database > 70)
    whole = chosen & (table.accuracy["argmax"] == 1.0)
    largest = float(table.database[whole].max()) if whole.any() else 0.0
    return share(int(whole.sum()), max(1, int(chosen.sum()))), int(chosen.sum()), largest


def factors(table: Table) -> dict[str, Estimate]:
    """For each criterion, the ratio of the bounds at which half of the databases are memorized."""
    ratio = table.database / table.layer
    found = {}
    for name, accuracy in table.accuracy.items():
        whole = (accuracy == 1.0).astype(np.float64)

        def statistic(i: NDArray[np.int64], y: Floats = whole) -> float:
            return midpoint(ratio[i], y[i])

        found[name] = bootstrap(statistic, len(table), 200)
    return found


def growth(table: Table) -> dict[str, Estimate]:
    """Accuracy gained by a unit of the layer's bound, on databases of one cell of bounds."""
    found = {}
    for name, accuracy in table.accuracy.items():

        def statistic(i: NDArray[np.int64], y: Floats = accuracy) -> float:
            return slope(table.layer[i], y[i], table.tens[i])

        found[name] = bootstrap(statistic, len(table))
    return found


PRINTED_FACTORS = {"0.75": (3.0, 4.0), "0.95": (1.0, 2.0)}


def judge_3(rows: Rows) -> list[Judgement]:
    """Large databases, factors in τ under two recipes, growth with the layer's bound."""
    tables = {name: Table(found) for name, found in rows.items()}
    return [_judge_3a(tables), _judge_factors(tables), _judge_growth(tables)]


def _judge_3a(tables: dict[str, Table]) -> Judgement:
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
    found = {name: factors(table) for name, table in tables.items()}
    told = "; ".join(
        f"{name} ({len(tables[name])} pairs): "
        + ", ".join(f"{f} at {THRESHOLDS[tau]}" for tau, f in by_tau.items() if tau != "argmax")
        for name, by_tau in found.items()
    )
    sentence = f"Half of the pairs are memorized at a ratio of the bounds of {told}."
    inside = [
        found[name][tau].within(*ends) for name in found for tau, ends in PRINTED_FACTORS.items()
    ]
    outside = [
        all(by_tau[tau].apart(*ends) for tau, ends in PRINTED_FACTORS.items())
        for by_tau in found.values()
    ]
    first, second = found[GUESS.name], found[SLOW.name]
    differ = all(first[tau].apart(second[tau].low, second[tau].high) for tau in PRINTED_FACTORS)
    if all(inside):
        return Judgement("wong/figure-3-tau", "reproduced", sentence)
    if differ:
        more = f"{sentence} The factors are the recipe's: the intervals of two rates do not meet."
        return Judgement("wong/figure-3-tau", "recipe-dependent", more)
    return Judgement("wong/figure-3-tau", "not-reproduced" if all(outside) else None, sentence)


def _judge_growth(tables: dict[str, Table]) -> Judgement:
    found = {name: growth(table) for name, table in tables.items()}
    every = [estimate for by_tau in found.values() for estimate in by_tau.values()]
    told = "; ".join(
        f"{name}: " + ", ".join(f"{e} ({THRESHOLDS[tau]})" for tau, e in by_tau.items())
        for name, by_tau in found.items()
    )
    sentence = (
        f"Accuracy per unit of d_model + H d_vo at a comparable bound of the database: {told}."
    )
    if all(estimate.low > 0 for estimate in every):
        return Judgement("wong/figure-3-bound", "reproduced", sentence)
    wrong = any(estimate.high < 0 for estimate in every)
    return Judgement("wong/figure-3-bound", "not-reproduced" if wrong else None, sentence)


def draw_3(rows: Rows, figure: Any) -> None:
    """Mean accuracy by cells of both bounds, for each criterion and recipe."""
    tables = {name: Table(found) for name, found in rows.items()}
    figure.set_size_inches(9, 2.4 * len(tables))
    axes = figure.subplots(len(tables), 4, squeeze=False, sharex=True, sharey=True)
    image = None
    for line, (name, table) in zip(axes, tables.items(), strict=True):
        ratio = table.database / table.layer
        for place, (tau, label) in zip(line, THRESHOLDS.items(), strict=True):
            cells = _cells(
                np.ceil(table.layer / 5).astype(int), table.tens.astype(int), table.accuracy[tau]
            )
            image = place.imshow(
                cells.T, origin="lower", aspect="auto", vmin=0, vmax=1, cmap="cividis",
                extent=(0, 5 * cells.shape[0], 0, 10 * cells.shape[1]),
            )  # fmt: skip
            half = midpoint(ratio, (table.accuracy[tau] == 1.0).astype(np.float64))
            x = np.array([0.0, 5.0 * cells.shape[0]])
            place.plot(x, half * x, "w--", linewidth=1)
            place.set_ylim(0, 10 * cells.shape[1])
            place.set_title(f"{name}, {label}: ×{half:.2g}", fontsize=7)
        line[0].set_ylabel("bound of Proposition 2.1")
    for place in axes[-1]:
        place.set_xlabel("d_model + H d_vo")
    figure.colorbar(image, ax=axes, label="mean accuracy")


def _cells(x: NDArray[np.int64], y: NDArray[np.int64], values: Floats) -> Floats:
    """The mean of the values in each cell numbered from 1; nan where there is none."""
    total, count = np.zeros((x.max(), y.max())), np.zeros((x.max(), y.max()))
    np.add.at(total, (x - 1, y - 1), values)
    np.add.at(count, (x - 1, y - 1), 1)
    return np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)


# -- Figure 4 ----------------------------------------------------------------------------------
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
    total, found = table.d_vo + table.d_qk, {}
    for s in range(3, 12):
        x, y = table.d_vo[total == s], table.accuracy[tau][total == s]
        if len(set(x)) > 1:

            def statistic(i: NDArray[np.int64], x: Any = x, y: Any = y) -> float:
                return slope(x[i], y[i])

            found[s] = bootstrap(statistic, len(x))
    return found


def judge_4(rows: Rows) -> list[Judgement]:
    """d_vo against d_qk at a constant sum, under both recipes.

    Reproduced iff moving a dimension to d_vo surely gains under the first recipe and loses under
    none, and the accuracy surely falls with d_vo on no diagonal.
    """
    tables = {name: Table(found) for name, found in rows.items()}
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


def draw_4(rows: Rows, figure: Any) -> None:
    """Mean accuracy at τ = .95 for every d_vo and d_qk."""
    table = Table(rows[GUESS.name])
    figure.set_size_inches(4, 3.2)
    axes = figure.subplots()
    cells = _cells(table.d_vo, table.d_qk, table.accuracy["0.95"])
    image = axes.imshow(cells, cmap="cividis", extent=(0.5, 6.5, 6.5, 0.5))
    for (i, j), value in np.ndenumerate(cells):
        if not np.isnan(value):
            shade = "black" if value > np.nanmean(cells) else "white"
            axes.text(j + 1, i + 1, f"{value:.2f}", ha="center", va="center", color=shade)
    axes.set(xlabel="d_qk", ylabel="d_vo", title=f"moving one to d_vo: {trade(table)}")
    figure.colorbar(image, label="mean accuracy, τ = .95")


EXPERIMENTS = {
    e.name: e
    for e in (
        Experiment("wong-fig2", "Sizes of databases and layers", (), judge_2, draw_2),
        Experiment("wong-fig3", "Accuracy by the bounds", (GUESS, SLOW), judge_3, draw_3),
        Experiment("wong-fig4", "d_vo against d_qk", (GUESS, SLOW), judge_4, draw_4),
    )
}
