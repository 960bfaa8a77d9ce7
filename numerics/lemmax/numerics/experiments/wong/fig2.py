"""Figure 2 of Wong: triples against the bound of databases, parameters against that of layers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lemmax.numerics.experiments import criteria
from lemmax.numerics.experiments.criteria import Asked
from lemmax.numerics.experiments.statistics import (
    Estimate,
    Floats,
    bootstrap,
    slope,
)
from lemmax.numerics.experiments.studies import Experiment, Judgement, Rows
from lemmax.numerics.experiments.wong.trained_pairs import (
    DATABASES,
    grid,
    size_and_bound,
)
from lemmax.numerics.figures import PALETTE
from lemmax.numerics.training.configurations import RandomDatabase, Triple
from lemmax.numerics.training.streams import stream
from lemmax.theory.errors import LemmaxError

NEAR = (1.6, 2.0)  # about 1.8


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


@cache
def generators() -> dict[str, tuple[Floats, Floats]]:
    """Sizes and bounds of 548 databases of each generator."""
    made: dict[str, Callable[[int], tuple[Triple, ...]]] = {
        "several tables": lambda seed: RandomDatabase(seed).facts(),
        "one full table": dense_table,
    }
    columns = {}
    for name, make in made.items():
        both = np.array([size_and_bound(make(seed)) for seed in range(DATABASES)], dtype=np.float64)
        columns[name] = both[:, 0], both[:, 1]
    return columns


def generator_slopes(made: Mapping[str, tuple[Floats, Floats]]) -> dict[str, Estimate]:
    """The slope of the number of triples on the bound, for the databases of each generator."""
    slopes = {}
    for name, (sizes, bounds) in made.items():
        if len(sizes) < 2:
            raise LemmaxError(
                f"The generator {name!r} made {len(sizes)} databases: two are needed."
            )

        def statistic(i: NDArray[np.int64], x: Floats = bounds, y: Floats = sizes) -> float:
            return slope(x[i], y[i])

        slopes[name] = bootstrap(statistic, len(sizes))
    return slopes


def judge_slopes(made: Mapping[str, tuple[Floats, Floats]]) -> list[Judgement]:
    """What the databases of the generators say. About 1.8: within .2 of it, for each generator."""
    slopes = generator_slopes(made)
    asked = {name: [Asked("slope", s, *NEAR)] for name, s in slopes.items()}
    counts = " and ".join(str(len(sizes)) for sizes, _ in made.values())
    sentence = (
        f"Triples per unit of the rank bound, {counts} databases of the generators: "
        f"{criteria.told(slopes.items())}."
    )
    return [criteria.judged("wong/figure-2a", asked, sentence), _judge_spread(made)]


def _judge_spread(made: Mapping[str, tuple[Floats, Floats]]) -> Judgement:
    """A wider spread of (b): its correlation is below that of (a), for each generator."""
    d, d_vo, d_qk, heads = np.array(grid(), dtype=np.float64).T
    layers = _correlation(d + heads * d_vo, 2 * heads * d * (d_vo + d_qk))
    leads = {}
    for name, (sizes, bounds) in made.items():

        def statistic(i: NDArray[np.int64], x: Floats = bounds, y: Floats = sizes) -> float:
            return _correlation(x[i], y[i]) - layers

        leads[name] = bootstrap(statistic, len(sizes))
    sentence = (
        f"The correlation of parameters and bound over the layers of the grid is {layers:.3f}; "
        f"that of triples and bound is larger by {criteria.told(leads.items())}."
    )
    asked = {name: [Asked("lead", e, low=0.0)] for name, e in leads.items()}
    return criteria.judged("wong/figure-2b-spread", asked, sentence, None)


def _correlation(x: Floats, y: Floats) -> float:
    """Pearson's; 0 where one of both does not vary."""
    if not (x.std() and y.std()):
        return 0.0
    return float(np.corrcoef(x, y)[0, 1])


def judge(rows: Rows) -> list[Judgement]:
    """Nothing is trained: the databases are made from their seeds."""
    return judge_slopes(generators())


def draw(rows: Rows, figure: Any) -> None:
    """Triples against the bound of databases; parameters against the bound of layers."""
    figure.set_size_inches(7, 3)
    left, right = figure.subplots(1, 2)
    slopes = generator_slopes(generators())
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


EXPERIMENTS = {
    "wong-fig2": Experiment("wong-fig2", "Sizes of databases and layers", (), judge, draw)
}
