"""Theory beside training, Wong: the pairs of Figure 3, the rank condition, and compiled layers.

Equation (10) as printed asks for rank D ≤ d_model + H·d_vo. Repaired, the rank of a layer on a
database has an exact ceiling, but neither is the capacity: what a layer surely can do is what the
compiler does with smaller dimensions, since zeros fill up the others, and what it surely cannot do
is to put three values on a line: with d_model = 1 at most two values are ever strict maxima.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np

from lemmax.constructions.compiler import (
    CompiledDatabase,
    Dimensions,
    applicable,
    compile_database,
    dimensions,
)
from lemmax.numerics.experiments.studies import Experiment, Judgement, Row, Rows
from lemmax.numerics.experiments.wong import trained_pairs
from lemmax.numerics.figures import PALETTE
from lemmax.numerics.training.configurations import RandomDatabase, Wong
from lemmax.theory.certificates.writing import to_json
from lemmax.theory.errors import LemmaxError
from lemmax.theory.facts.database import Database
from lemmax.theory.tensors.arrays import flattening_rank
from lemmax.theory.wong.layer_ranks import LayerShape, rank_ceiling

CERTIFICATES = 4  # compiled layers whose certificates are written


@lru_cache(maxsize=trained_pairs.DATABASES)
def database(generated: RandomDatabase) -> Database:
    """The database of a pair."""
    return Database.from_triples(generated.facts())


@lru_cache(maxsize=trained_pairs.DATABASES)
def rank_below(generated: RandomDatabase) -> int:
    """A lower bound for the rank of a database: the largest rank of a flattening."""
    tensor = database(generated).tensor()
    return max(flattening_rank(tensor, mode) for mode in range(3))


@lru_cache(maxsize=trained_pairs.DATABASES)
def compiled(generated: RandomDatabase) -> CompiledDatabase:
    """The database compiled: every fact is proved when the weights are made."""
    return compile_database(database(generated))


def fits(small: Dimensions, layer: Wong) -> bool:
    """Whether zeros can fill up a layer of some dimensions to another one."""
    return (
        small.d_model <= layer.d_model
        and small.heads <= layer.heads
        and small.d_vo <= layer.d_vo
        and small.d_qk <= layer.d_qk
    )


def proved_possible(config: Wong) -> bool:
    """Whether the compiled layer of the pair's database is no larger than the pair's layer."""
    assert isinstance(config.database, RandomDatabase)
    db = database(config.database)
    if not any(fits(dimensions(db, method), config) for method in applicable(db)):
        return False
    return fits(compiled(config.database).dims, config)


@cache
def most(config: Wong) -> int:
    """A number of facts that no weights exceed: with d_model = 1 those of the two main values.

    >>> most(Wong(1, 1, 1, 1, ((0, 3, 4), (1, 3, 5), (2, 3, 6))))
    2
    """
    if config.d_model > 1:
        return config.samples
    often = Counter(v for _, _, v in config.facts).most_common(2)
    return sum(count for _, count in often)


@dataclass(frozen=True)
class Pair:
    """A layer and a database: facts known, bounds, and what is proved."""

    config: Wong
    known: int
    layer_estimate: int
    database_bound: int
    layer_ceiling: int
    database_rank: int
    possible: bool

    @property
    def whole(self) -> bool:
        """Whether training memorized every fact."""
        return self.known == self.config.samples

    @property
    def forbidden(self) -> bool:
        """Whether no weights memorize every fact."""
        return most(self.config) < self.config.samples


def pair_of(row: Row) -> Pair:
    """What is known of a row; more facts than any weights can know are refused."""
    c = row.job.config
    assert isinstance(c, Wong)
    assert isinstance(c.database, RandomDatabase)
    known, db = round(row.accuracy * c.samples), database(c.database)
    if known > most(c):
        raise LemmaxError(
            f"The results say that a layer with d_model = 1 knows {known} facts, but no weights "
            f"know more than {most(c)} of them: they are damaged or made up."
        )
    shape = LayerShape(c.d_model, c.d_vo, c.d_qk, c.heads)
    sizes = (len(db.keys), len(db.queries), len(db.values))
    return Pair(
        c,
        known,
        shape.estimate,
        trained_pairs.database_bound(c.database),
        rank_ceiling(shape, *sizes),
        rank_below(c.database),
        proved_possible(c),
    )


def pairs(rows: Sequence[Row]) -> list[Pair]:
    """All rows."""
    return [pair_of(row) for row in rows]


def judge(rows: Rows) -> list[Judgement]:
    """Promised, proved possible, proved impossible, and what training did of each."""
    trained = pairs(rows[trained_pairs.GUESS.name])
    promised = [p for p in trained if p.database_bound <= p.layer_estimate]
    possible = [p for p in trained if p.possible]
    forbidden = [p for p in trained if p.forbidden]
    above = [p for p in trained if p.whole and p.database_rank > p.layer_ceiling]
    share = np.mean([p.known / p.config.samples for p in possible]) if possible else float("nan")
    databases = {p.config.database for p in possible}
    whole, expected = sum(p.whole for p in trained), sum(p.whole for p in promised)
    least = min((p.layer_estimate for p in trained if p.whole), default=0)
    sentence = (
        f"Of {len(trained)} trained pairs {whole} are memorized whole (argmax, recipe "
        f"{trained_pairs.GUESS.recipe.name}), the smallest with d_model + H d_vo = {least}. "
        f"Equation (10) as printed promises {len(promised)}, of which "
        f"{sum(p.forbidden for p in promised)} are impossible; {whole - expected} others are "
        f"memorized without its promise, {len(above)} of "
        "them although the rank of the database exceeds every rank that the layer can have. In "
        f"{len(possible)} pairs ({len(databases)} databases) the compiled layer is no larger in "
        "any dimension, so that all facts provably fit: training memorizes "
        f"{sum(p.whole for p in possible)} of these whole, on average {share:.3f} of the facts. "
        f"With d_model = 1 {len(forbidden)} pairs are impossible, and none of them is memorized."
    )
    return [Judgement("", None, sentence)]


def _plane(axes: Any, trained: Sequence[Pair], x: str, y: str) -> None:
    """Pairs in a plane of two bounds, by what became of them."""
    kinds = [
        ("trained, not whole", "o", "0.8", 3, [p for p in trained if not p.whole]),
        ("trained, whole", "o", PALETTE[0], 3, [p for p in trained if p.whole]),
        ("no weights can (d_model = 1)", "x", "black", 4, [p for p in trained if p.forbidden]),
    ]
    for label, marker, colour, size, some in kinds:
        axes.plot(
            [getattr(p, x) for p in some], [getattr(p, y) for p in some], marker, color=colour,
            markersize=size, markeredgewidth=0.7, alpha=0.7, label=label,
        )  # fmt: skip


def _compiled_points(trained: Sequence[Pair], repaired: bool) -> tuple[list[int], list[int]]:
    """Bounds of the compiled layers and of their databases."""
    x, y = [], []
    for generated in dict.fromkeys(p.config.database for p in trained if p.possible):
        assert isinstance(generated, RandomDatabase)
        dims, db = compiled(generated).dims, database(generated)
        shape = LayerShape(dims.d_model, dims.d_vo, dims.d_qk, dims.heads)
        sizes = (len(db.keys), len(db.queries), len(db.values))
        x.append(rank_ceiling(shape, *sizes) if repaired else shape.estimate)
        y.append(rank_below(generated) if repaired else trained_pairs.database_bound(generated))
    return x, y


def draw(rows: Rows, figure: Any) -> None:
    """The rank condition as printed, the ranks as proved, and training where a proof says all."""
    trained = pairs(rows[trained_pairs.GUESS.name])
    figure.set_size_inches(10.5, 3.4)
    printed, repaired, beside = figure.subplots(1, 3)
    _plane(printed, trained, "layer_estimate", "database_bound")
    printed.set(xlabel="d_model + H d_vo", ylabel="bound of Proposition 2.1", title="as printed")
    _plane(repaired, trained, "layer_ceiling", "database_rank")
    repaired.set(xlabel="largest rank of the layer", ylabel="least rank of the database")
    repaired.set(title="as repaired")
    for axes, proved in ((printed, False), (repaired, True)):
        axes.plot(
            *_compiled_points(trained, proved), "*", color=PALETTE[2], markersize=6,
            markeredgecolor="white", markeredgewidth=0.3, label="compiled, certified",
        )  # fmt: skip
        top = float(axes.get_ylim()[1])
        label = "rank of the database = rank of the layer"
        axes.plot([0, top], [0, top], "--", color=PALETTE[1], linewidth=1, label=label)
        axes.set(xlim=(0, None) if proved else (0, 32), ylim=(0, top))
    figure.legend(*printed.get_legend_handles_labels(), loc="outside lower center", ncols=5)
    possible = [p for p in trained if p.possible]
    x = [
        LayerShape(p.config.d_model, p.config.d_vo, p.config.d_qk, p.config.heads).parameters
        / compiled(p.config.database).dims.parameters
        for p in possible
        if isinstance(p.config.database, RandomDatabase)
    ]
    y = [p.known / p.config.samples for p in possible]
    beside.plot(x, y, "o", color=PALETTE[0], markersize=3, alpha=0.6, label="trained")
    beside.axhline(1, color=PALETTE[2], label="compiled, certified")
    beside.set(
        xscale="log", xlabel="parameters over those of the compiled layer", ylim=(None, 1.02)
    )
    beside.set(ylabel="share of the facts known", title="where all facts provably fit")
    beside.legend(frameon=False, fontsize=6)


def files(rows: Rows) -> dict[str, str]:
    """Certificates of compiled layers that are smaller than a layer that training left short."""
    short = [p for p in pairs(rows[trained_pairs.GUESS.name]) if p.possible and not p.whole]
    made = {}
    for generated in list(dict.fromkeys(p.config.database for p in short))[:CERTIFICATES]:
        assert isinstance(generated, RandomDatabase)
        name = f"wong-beside/database-{generated.seed}.json"
        made[name] = to_json(compiled(generated).certificate())
    return made


EXPERIMENTS = {
    "wong-beside": Experiment(
        "wong-beside", "Theory beside training", (trained_pairs.GUESS,), judge, draw, files
    )
}
