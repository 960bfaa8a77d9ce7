"""Wong 2025: random databases, the grid of layers, random pairs of both, which its figures share.

The paper states neither the generator of its databases nor optimiser, rate and initialisation.
Every number here therefore belongs to a named generator and a named recipe, and what depends on
them is measured under two, which train the same pairs. Of the second the first ``SMALL`` pairs were
known when the questions of Figures 3 and 4 got their present form, and the others were not.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from lemmax.numerics.engines.run import THRESHOLDS
from lemmax.numerics.experiments.statistics import Floats
from lemmax.numerics.experiments.studies import Row, Scale, Study
from lemmax.numerics.training.configurations import RandomDatabase, Triple, Wong
from lemmax.numerics.training.jobs import Job
from lemmax.numerics.training.recipes import recipe
from lemmax.numerics.training.streams import stream
from lemmax.theory.facts.database import Database

DATABASES, PAIRS, SMALL = 548, 3947, 400
TAUS = tuple(str(tau) for tau in THRESHOLDS if tau > 0.5)  # those of the paper
CRITERIA = {"argmax": "argmax"} | {tau: f"τ = {tau[1:]}" for tau in TAUS}


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


GUESS = Study("wong-guess", recipe("wong-guess"), pairs)
SLOW = Study("wong-slow", recipe("wong-guess").changed(name="wong-slow", learning_rate=1e-3), pairs)


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
        for tau in TAUS:
            self.accuracy[tau] = np.array([row.reached[tau] for row in rows])
        self.half: Floats = np.array([row.reached["0.5"] for row in rows])
        self.tens = np.ceil(self.database / 10)  # the paper's cells of database bounds

    def __len__(self) -> int:
        return len(self.layer)


def cells(x: NDArray[np.int64], y: NDArray[np.int64], values: Floats) -> Floats:
    """The mean of the values in each cell numbered from 1; nan where there is none."""
    total, count = np.zeros((x.max(), y.max())), np.zeros((x.max(), y.max()))
    np.add.at(total, (x - 1, y - 1), values)
    np.add.at(count, (x - 1, y - 1), 1)
    return np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)
