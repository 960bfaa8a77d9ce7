r"""Section 3.2 of Wong, for trained layers: the ranks of softmax_{≥τ}(L) beside those of L and D.

The criterion, which stands in an earlier commit than the layers that it judges:

- Layers of the grid are drawn at random, each with a database of its own, and trained by the two
  recipes of Figure 3. The databases are small, so that ranks are known: full tables of one to three
  queries with so many keys that the flattenings of L reach its ceiling, or nearly, and databases of
  at most 24 triples by the generator of Figure 3. A setting is a recipe and a generator, and has
  160 layers.
- Everything is exact (:mod:`~lemmax.numerics.experiments.wong.thresholded`). A rank is an interval;
  a layer *satisfies* a condition if it holds for all ranks in the intervals, *violates* it if it
  holds for none; else it is *not known*. Two thresholds that mark the same values have one rank.
- ``wong/tau-monotone-trained``: the rank does not increase from each of τ = .5, .75, .95, .99 to
  the next, and at .99 it is closer to rank L than at .5. What if the rank never changes? Read
  strictly the distance must be smaller, read weakly it must not be larger. *Most* asks a share of
  satisfied layers over one half. The claim has a verdict where both readings have the same one.
  From end to end, since the text allows that a rank falls below rank L when τ is too big.
- ``wong/rank-conditions-expected``: of the layers with rank D ≤ rank softmax_{≥τ}(L) the share that
  τ-memorizes D, the softmax over the values of D, is over one half, for τ = .75 and for τ = .95.
- Layers that are not known count for neither side: the interval of a share is Clopper and
  Pearson's, from the least share that they allow to the largest. What the words of verdicts mean is
  said by :mod:`~lemmax.numerics.experiments.criteria`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np

from lemmax.numerics.experiments import criteria
from lemmax.numerics.experiments.criteria import Asked
from lemmax.numerics.experiments.statistics import Estimate, share
from lemmax.numerics.experiments.studies import Experiment, Judgement, Row, Rows, Scale, Study
from lemmax.numerics.experiments.wong import thresholded, trained_pairs
from lemmax.numerics.experiments.wong.thresholded import TAUS, Bounds
from lemmax.numerics.experiments.wong.trained_ranks import rank_below
from lemmax.numerics.figures import PALETTE
from lemmax.numerics.training.configurations import Arrays, RandomDatabase, Triple, Wong
from lemmax.numerics.training.jobs import Job
from lemmax.numerics.training.streams import stream
from lemmax.numerics.twins.exact_layers import exact_layer
from lemmax.theory.ledger.verdicts import Verdict
from lemmax.theory.wong.layer_ranks import LayerShape

LAYERS, SMALL = 160, 24  # layers of a setting, at each scale
QUERIES, KEYS, VALUES, TRIPLES = 3, 24, 16, 24  # at most so many
DATABASE = 200_000  # the number of the first database; no other study has these
EXPECTED = (1, 2)  # the thresholds of the rank conditions: .75 and .95


def table(seed: int) -> tuple[Triple, ...]:
    """A full table of random values: one to three queries, keys enough for the rank of L.

    With more than 6|Q| keys the generic rank of every layer of the grid is its ceiling, and the
    flattening by keys has that rank too, unless n - ρ and |Q| are both at least two.

    >>> len(table(0)), len({k for k, _, _ in table(0)}), len({q for _, q, _ in table(0)})
    (21, 21, 1)
    """
    random = stream("thresholds", seed)
    queries = int(random.integers(1, QUERIES + 1))
    keys = int(random.integers(6 * queries + 1, KEYS + 1))
    drawn = random.integers(0, random.integers(2, VALUES + 1), (keys, queries))
    names: dict[int, int] = {}
    return tuple(
        (k, keys + q, keys + queries + names.setdefault(int(v), len(names)))
        for k, row in enumerate(drawn)
        for q, v in enumerate(row)
    )


def _jobs(scale: Scale, generator: str) -> list[Job]:
    layers = trained_pairs.grid()
    random = stream("thresholds", generator, DATABASE)
    chosen = [layers[int(i)] for i in random.integers(len(layers), size=LAYERS)]
    jobs = []
    for number, dimensions in enumerate(chosen[: SMALL if scale == "small" else LAYERS]):
        seed = DATABASE + number
        database = table(seed) if generator == "tables" else RandomDatabase(seed, TRIPLES)
        jobs.append(Job(Wong(*dimensions, database)))
    return jobs


def tables(scale: Scale) -> list[Job]:
    """Layers of the grid, each on a full table."""
    return _jobs(scale, "tables")


def several(scale: Scale) -> list[Job]:
    """Layers of the grid, each on a small database of the generator of Figure 3."""
    return _jobs(scale, "several")


def inspect(job: Job, weights: Arrays) -> dict[str, Any]:
    """The marks of the trained layer, and the ranks of D, of L and at each threshold."""
    config = job.config
    assert isinstance(config, Wong)
    layer = exact_layer(weights, layout="wong")
    found = thresholded.marks(layer, config.facts)
    at = [thresholded.marked_tensor(found, config.facts, level) for level in range(len(TAUS))]
    known: dict[bytes, Bounds] = {}
    for tensor in (*at, thresholded.database_tensor(config.facts)):
        if tensor.tobytes() not in known:
            known[tensor.tobytes()] = thresholded.rank_bounds(tensor)
    shape = LayerShape(config.d_model, config.d_vo, config.d_qk, config.heads)
    above = thresholded.layer_rank_above(shape, config.facts)
    return {
        "marks": found,
        "ranks": [list(known[tensor.tobytes()]) for tensor in at],
        "database": list(known[thresholded.database_tensor(config.facts).tobytes()]),
        "layer": [rank_below(layer, config.facts), above],
    }


_INSPECT = "lemmax.numerics.experiments.wong.thresholds:inspect"
STUDIES = tuple(
    Study(f"wong-thresholds-{name}{end}", recipe, jobs, _INSPECT)
    for name, jobs in (("tables", tables), ("several", several))
    for end, recipe in (("", trained_pairs.GUESS.recipe), ("-slow", trained_pairs.SLOW.recipe))
)


@dataclass(frozen=True)
class Ranks:
    """What is known of one trained layer: intervals of ranks, and what it memorizes.

    ``same[i]`` says that the thresholds i and i + 1 mark the same values, ``exact[i]`` that
    softmax_{≥τ}(L) is D itself, ``memorized[i]`` that the layer τ-memorizes D.
    """

    at: tuple[Bounds, ...]
    same: tuple[bool, ...]
    exact: tuple[bool, ...]
    memorized: tuple[bool, ...]
    database: Bounds
    layer: Bounds

    @classmethod
    def of(cls, row: Row) -> Ranks:
        """Out of a row; what is memorized is read from its marks."""
        config, said = row.job.config, row.inspected
        assert isinstance(config, Wong)
        D = thresholded.database_tensor(config.facts)
        tensors = [
            thresholded.marked_tensor(said["marks"], config.facts, level)
            for level in range(len(TAUS))
        ]
        return cls(
            tuple((low, high) for low, high in said["ranks"]),
            tuple(bool((a == b).all()) for a, b in pairwise(tensors)),
            tuple(bool((tensor == D).all()) for tensor in tensors),
            tuple(bool((tensor >= D).all()) for tensor in tensors),
            (said["database"][0], said["database"][1]),
            (said["layer"][0], said["layer"][1]),
        )

    def possible(self, condition: Callable[[tuple[int, ...], int], bool]) -> bool | None:
        """Whether a condition on the ranks at the thresholds and rank L holds; None: not known."""
        answers = set()
        for ranks in product(*(range(low, high + 1) for low, high in self.at)):
            if any(
                same and a != b for same, (a, b) in zip(self.same, pairwise(ranks), strict=True)
            ):
                continue
            answers |= {condition(ranks, rank) for rank in range(self.layer[0], self.layer[1] + 1)}
        return answers.pop() if len(answers) == 1 else None

    def enough(self, level: int) -> bool | None:
        """Whether rank D ≤ rank softmax_{≥τ}(L); None: not known."""
        (low, high), (least, most) = self.at[level], self.database
        if self.exact[level] or most <= low:
            return True
        return False if high < least else None


def falls(ranks: Sequence[int]) -> bool:
    """Whether no rank is larger than the one before.

    >>> falls((5, 5, 4, 0)), falls((5, 4, 5, 0))
    (True, False)
    """
    return all(a >= b for a, b in pairwise(ranks))


READINGS: dict[str, Callable[[tuple[int, ...], int], bool]] = {
    "closer": lambda ranks, L: falls(ranks) and abs(ranks[-1] - L) < abs(ranks[0] - L),
    "not farther": lambda ranks, L: falls(ranks) and abs(ranks[-1] - L) <= abs(ranks[0] - L),
}


def counted(layers: Sequence[Ranks], reading: str) -> Counter[bool | None]:
    """How many layers satisfy a reading, violate it (False), or are not known (None)."""
    return Counter(layer.possible(READINGS[reading]) for layer in layers)


def most(yes: int, no: int, unknown: int) -> Estimate:
    """The share of yes, with an interval that holds whichever way the unknown fall.

    >>> print(most(90, 10, 0))
    0.9 [0.82, 0.95]
    >>> print(most(90, 10, 100))
    0.45 [0.38, 0.98]
    """
    return _between((yes, no + unknown), (yes + unknown, no))


def _between(least: tuple[int, int], largest: tuple[int, int]) -> Estimate:
    (yes, no), (yes_at_most, no_at_least) = least, largest
    if not yes + no or not yes_at_most + no_at_least:
        return Estimate(0.0, 0.0, 1.0)
    low = share(yes, yes + no)
    return Estimate(low.value, low.low, share(yes_at_most, yes_at_most + no_at_least).high)


def expected(layers: Sequence[Ranks], level: int) -> tuple[Estimate, Counter[tuple[bool, Any]]]:
    """The share of layers with enough rank that memorize; and how many there are of each kind.

    A kind is whether a layer memorizes, and whether it has enough rank. The least share leaves
    out the layers that memorize where that is not known, and the largest those that do not.
    """
    kinds = Counter((layer.memorized[level], layer.enough(level)) for layer in layers)
    yes, no = kinds[True, True], kinds[False, True]
    least, largest = (yes, no + kinds[False, None]), (yes + kinds[True, None], no)
    return _between(least, largest), kinds


def judge(rows: Rows) -> list[Judgement]:
    """Both claims, in every setting."""
    layers = {name: [Ranks.of(row) for row in some] for name, some in rows.items()}
    return [judge_monotone(layers), judge_expected(layers)]


def judge_monotone(layers: dict[str, list[Ranks]]) -> Judgement:
    """Falling, and closer to rank L: a verdict where both readings have the same."""
    counts = {(s, r): counted(some, r) for s, some in layers.items() for r in READINGS}
    asked = {
        reading: {
            s: [Asked(f"share {reading}", most(n[True], n[False], n[None]), low=0.5)]
            for s in layers
            for n in [counts[s, reading]]
        }
        for reading in READINGS
    }
    words: list[Verdict | None] = [criteria.verdict(asked[reading]) for reading in READINGS]
    told = "; ".join(
        f"{s} ({len(some)} layers): the rank surely rises for {_rising(some)}, and all "
        f"four thresholds mark the same values for {sum(all(x.same) for x in some)}; "
        + ", ".join(
            f"{reading} {n[True]} yes, {n[False]} no, {n[None]} not known"
            for reading in READINGS
            for n in [counts[s, reading]]
        )
        for s, some in layers.items()
    )
    alone = ", ".join(f"{r}: {w or 'open'}" for r, w in zip(READINGS, words, strict=True))
    sentence = (
        f"Ranks of softmax_≥τ(L) from τ = .5 to τ = .99, and their distance from rank L. {told}. "
        f"Each reading by itself: {alone}."
    )
    both = {s: [a for settings in asked.values() for a in settings[s]] for s in layers}
    word = words[0] if words[0] == words[1] else None
    return Judgement("wong/tau-monotone-trained", word, sentence, both)


def _rising(layers: Sequence[Ranks]) -> int:
    return sum(layer.possible(lambda ranks, _: falls(ranks)) is False for layer in layers)


def judge_expected(layers: dict[str, list[Ranks]]) -> Judgement:
    """Most layers with enough rank memorize, at both thresholds."""
    asked: dict[str, list[Asked]] = {}
    told = []
    for setting, some in layers.items():
        asked[setting], parts = [], []
        for level in EXPECTED:
            tau = f"τ = {float(TAUS[level]):g}".replace("0.", ".")
            estimate, kinds = expected(some, level)
            asked[setting].append(Asked(f"share at {tau}", estimate, low=0.5))
            yes, no = kinds[True, True], kinds[False, True]
            unknown = kinds[True, None] + kinds[False, None]
            parts.append(f"{tau}: {yes} of {yes + no} ({unknown} not known)")
        told.append(f"{setting} ({len(some)} layers): {', '.join(parts)}")
    sentence = (
        f"Layers that τ-memorize D, of those with rank D ≤ rank softmax_≥τ(L): {'; '.join(told)}."
    )
    return criteria.judged("wong/rank-conditions-expected", asked, sentence)


def draw(rows: Rows, figure: Any) -> None:
    """For every setting and question the layers that say yes, are not known, and say no."""
    figure.set_size_inches(9, 3.8)
    left, right = figure.subplots(1, 2)
    layers = {name: [Ranks.of(row) for row in some] for name, some in rows.items()}
    bars: list[list[tuple[str, tuple[int, int, int]]]] = [[], []]
    for name, some in layers.items():
        setting = name.removeprefix("wong-thresholds-")
        for reading in READINGS:
            n = counted(some, reading)
            bars[0].append((f"{setting}: {reading}", (n[True], n[None], n[False])))
        for level in EXPECTED:
            _, kinds = expected(some, level)
            unknown = kinds[True, None] + kinds[False, None]
            counts = (kinds[True, True], unknown, kinds[False, True])
            bars[1].append((f"{setting}: τ = {float(TAUS[level]):g}", counts))
    colours = (PALETTE[0], "0.75", PALETTE[1])
    for axes, some_bars in zip((left, right), bars, strict=True):
        table = np.array([counts for _, counts in some_bars], dtype=np.float64)
        shares = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
        starts = np.cumsum(shares, axis=1) - shares
        places = np.arange(len(some_bars))
        for part, (label, colour) in enumerate(
            zip(("yes", "not known", "no"), colours, strict=True)
        ):
            axes.barh(places, shares[:, part], left=starts[:, part], color=colour, label=label)
        axes.axvline(0.5, color="k", linestyle="--", linewidth=0.8)
        axes.set(yticks=places, xlim=(0, 1), xlabel="share of layers")
        axes.set_yticklabels([label for label, _ in some_bars], fontsize=7)
        axes.invert_yaxis()
    left.set_title("the rank does not rise, and is closer to rank L", fontsize=8)
    right.set_title("of those with enough rank: τ-memorizes", fontsize=8)
    figure.legend(*right.get_legend_handles_labels(), frameon=False, fontsize=7, ncols=3, loc=8)


EXPERIMENTS = {
    "wong-thresholds": Experiment(
        "wong-thresholds", "Ranks at thresholds, trained layers", STUDIES, judge, draw
    )
}
