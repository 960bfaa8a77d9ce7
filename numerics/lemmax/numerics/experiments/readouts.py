"""Why trained layers miss facts: is it the readout's fault, or training's?

Layers are trained, and the facts that one misses are asked about: is there a linear readout that
holds such a fact together with all the facts that the layer knows? Two places can be read:

- last: what the last linear map reads (the residual stream before W_U; in Mahdavi's layer the
  values of the heads, which W_O and W_D read as one map);
- attention: what the attention weights make of the tokens (for each head Σ_s a_s x_s, and the
  query's own vector in Wong's layer). A readout of these is any choice of all later weights and
  more, since their ranks are free: a conflict here is one of attention and embedding.

Features of real weights almost never conflict exactly, and exact readouts would read differences
that no float32 holds. So the question is one with a resolution. The relative margin μ of some facts
is what the best W reaches: the least gap between logits, over ‖W‖ (Frobenius) and over the length
of the longest feature. The weights are read as the rationals that their float32 bits spell (data
and positions by their float64 bits), features are balls of 192 bits, and μ is bounded from both
sides for every point of them (:mod:`lemmax.constructions.readouts.intervals`). A fact, with all
that the layer knows,

- is *readable* if μ ≥ ``RESOLUTION`` is proved: training could have had it, and does not;
- *conflicts* if μ ≤ ``RESOLUTION`` is proved: features that are rounded to float32 may not tell the
  facts apart (an exact conflict has μ = 0);
- is *undecided* otherwise. A fact is known if its logit is proved to be strictly the largest.

``RESOLUTION`` is 2^-24, the unit roundoff of float32, in which these recipes train.

Fixed before any of these layers was trained, as we say: limits and results came into the history
in one commit, so that it does not show which were first.

- Wong: layers of the paper's grid, drawn at random, each with a database of its own of at most 40
  facts, recipe wong-guess. Mahdavi: the reduced sizes below, recipe mahdavi-full. All seeds are
  fresh; layers that miss nothing say nothing.
- Of each layer at most ``MOST`` missed facts are asked about, evenly spaced. A share is the mean
  over layers, with Student's interval; it ends below where undecided facts count as no, and above
  where they count as yes. Whether one readout holds *all* facts is asked of each layer that misses
  something; that share has Clopper and Pearson's interval, with the same rule.
- ``lemmax/missed-facts-conflict-at-the-last-map``: the share that conflicts is at least one half;
- ``lemmax/missed-facts-readable-from-attention``: the share that is readable is at least one half;
- ``lemmax/trained-attention-holds-all-facts``: the share of layers, of those that miss something,
  where one readout of attention holds all facts is at least one half;

each asked of both papers, which are two settings (:mod:`lemmax.numerics.experiments.criteria`).

So asked, the first 160 and 36 layers (``WONG``, ``MAHDAVI``) left all three open. They suggested
what differs between the papers, and 600 and 120 others (``WONG_AGAIN``, ``MAHDAVI_AGAIN``), trained
after that, are asked the same three questions by the same limits, and

- ``lemmax/mahdavi-misses-are-of-training``: of Mahdavi's layers the share that is readable from
  attention is at least nine tenths;
- ``lemmax/wong-attention-conflicts``: of Wong's layers that miss facts, the share whose facts all
  together conflict in what is attended to is at least one half.

Only they decide: the first layers are reported beside them, inspected again since a solver that
gave up on some of their facts has been given a substitute.

A run before, of other layers, decided nothing: it asked whether any readout exists, of features
with the rounding errors of float64, and drew a line after it had seen results. Its layers were used
to try the definition out, and none of them is counted here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from flint import arb, arb_mat, ctx

from lemmax.constructions.readouts.intervals import MarginInterval, margin_interval
from lemmax.numerics.experiments import criteria
from lemmax.numerics.experiments.criteria import Asked
from lemmax.numerics.experiments.statistics import Estimate, mean, share
from lemmax.numerics.experiments.studies import Experiment, Judgement, Row, Rows, Scale, Study
from lemmax.numerics.experiments.wong import trained_pairs
from lemmax.numerics.figures import PALETTE
from lemmax.numerics.training.configurations import (
    Arrays,
    Mahdavi,
    RandomDatabase,
    Wong,
    sinusoids,
)
from lemmax.numerics.training.jobs import Job
from lemmax.numerics.training.recipes import recipe
from lemmax.numerics.training.streams import stream
from lemmax.theory.numbers.matrices import Matrix

RESOLUTION = -24  # the exponent of two
MOST, FACTS = 4, 40
PLACES = ("last", "attention")
OUTCOMES: tuple[str, ...] = ("conflict", "readable", "undecided")
Bounds: TypeAlias = Sequence[int | None]
"""Exponents of two: 2^low ≤ μ ≤ 2^high; None where nothing but 0 ≤ μ < √2 is known."""


def wong_jobs(stream_name: str, first: int, layers: int) -> Callable[[Scale], list[Job]]:
    """Layers of the grid with databases that no other study has; an eighth of them is small."""

    def jobs(scale: Scale) -> list[Job]:
        grid = trained_pairs.grid()
        chosen = stream(stream_name).integers(len(grid), size=layers)
        listed = [
            Job(Wong(*grid[int(i)], RandomDatabase(first + number, FACTS)))
            for number, i in enumerate(chosen)
        ]
        return listed[: layers // 8 if scale == "small" else None]

    return jobs


def mahdavi_jobs(seeds: range) -> Callable[[Scale], list[Job]]:
    """Reduced sizes: 80 examples of 10 classes, contexts of 4 vectors of dimension 8."""

    def jobs(scale: Scale) -> list[Job]:
        sizes = [(H, seed) for seed in seeds[: 1 if scale == "small" else None] for H in (1, 2, 3)]
        return [Job(Mahdavi(8, 4, H, 80, classes=10, data_seed=seed), seed) for H, seed in sizes]

    return jobs


@dataclass(frozen=True)
class Features:
    """The features of both places, one row per fact, with labels and what the layer knows."""

    last: arb_mat
    attention: arb_mat
    labels: tuple[int, ...]
    known: tuple[bool, ...]


def features(config: Wong | Mahdavi, weights: Arrays) -> Features:
    """What a trained layer makes of its facts, in balls."""
    last: list[list[arb]] = []
    attention, logits = list(last), list(last)
    with ctx.workprec(192):
        w: dict[str, Any] = {
            name: [_balls(m) for m in array] if array.ndim == 3 else _balls(array)
            for name, array in weights.items()
        }
        if isinstance(config, Wong):
            own = [v for *_, v in config.facts]
            tokens = w["W_E"].tolist()
            maps = [q * k for q, k in zip(w["W_Q"], w["W_K"], strict=True)]
            for k, q, _ in config.facts:
                state = query = arb_mat([tokens[q]])
                rows = _attended(query, arb_mat([tokens[k], tokens[q]]), maps, arb(1))
                for row, value, output in zip(rows, w["W_V"], w["W_O"], strict=True):
                    state = state + row * value * output
                last.append(state.entries())
                attention.append(_joined([query, *rows]))
                logits.append((state * w["W_U"]).entries())
        else:
            queries, contexts, labels = config.data()
            own = [int(label) for label in labels]
            table, ones = _balls(sinusoids(config.n + 1, config.d)), _balls([[1]] * (config.n + 1))
            maps = [q * k.transpose() for q, k in zip(w["W_Q"], w["W_K"], strict=True)]
            for e, E in zip(queries, contexts, strict=True):
                x = (_balls(np.vstack([e, E])) * w["W_in"] + ones * w["b_in"] + table).tolist()
                rows = _attended(arb_mat(x[:1]), arb_mat(x[1:]), maps, arb(config.d).rsqrt())
                values = [row * V for row, V in zip(rows, w["W_V"], strict=True)]
                answer = w["b_D"]
                for value, output in zip(values, w["W_O"], strict=True):
                    answer = answer + value * output * w["W_D"]
                last.append(_joined(values))
                attention.append(_joined(rows))
                logits.append(answer.entries())
        known = [
            all(row[y] > x for v, x in enumerate(row) if v != y)
            for row, y in zip(logits, own, strict=True)
        ]
        return Features(arb_mat(last), arb_mat(attention), tuple(own), tuple(known))


def _balls(array: Any) -> arb_mat:
    """Floats as the rationals that they are; a vector is a row."""
    floats = np.atleast_2d(np.asarray(array, dtype=np.float64))
    return arb_mat(Matrix(floats, floats=True).flint)


def _attended(
    query: arb_mat, tokens: arb_mat, maps: Sequence[arb_mat], scale: arb
) -> list[arb_mat]:
    """For each head the row Σ_s a_s x_s."""
    rows = []
    for M in maps:
        powers = [(x * scale).exp() for x in (query * M * tokens.transpose()).entries()]
        rows.append(arb_mat([powers]) * tokens / sum(powers, arb(0)))
    return rows


def _joined(rows: Sequence[arb_mat]) -> list[arb]:
    return [x for row in rows for x in row.entries()]


def inspect(job: Job, weights: Arrays) -> dict[str, Any]:
    """The number of missed facts, and bounds of the margins of those asked about, and of all."""
    config = job.config
    assert isinstance(config, (Wong, Mahdavi))
    made, bias = features(config, weights), isinstance(config, Mahdavi)
    known = [t for t, k in enumerate(made.known) if k]
    missed = [t for t, k in enumerate(made.known) if not k]
    if not missed:
        return {"missed": 0}
    asked = [missed[i] for i in np.unique(np.linspace(0, len(missed) - 1, MOST).astype(int))]
    told: dict[str, Any] = {"missed": len(missed)}
    for place in PLACES:
        told[place] = [bounds(made, place, sorted([*known, t]), bias) for t in asked]
    return {**told, "all": bounds(made, "attention", range(len(made.labels)), bias)}


def bounds(made: Features, place: str, facts: Sequence[int], bias: bool) -> list[int | None]:
    """The exponents between which the relative margin of some facts lies.

    Labels that occur nowhere change nothing where two occur; with one only, it stays undecided.
    """
    labels = [made.labels[t] for t in facts]
    if len(set(labels)) < 2:
        return [None, None]
    rows = getattr(made, place).tolist()
    return exponents(margin_interval(arb_mat([rows[t] for t in facts]), labels, bias=bias))


def exponents(interval: MarginInterval) -> list[int | None]:
    """The powers of two around an interval; an upper end of zero is as small as one of 2^-99.

    >>> from flint import fmpq
    >>> exponents(MarginInterval(fmpq(3, 16), fmpq(1, 4))), exponents(
    ...     MarginInterval(fmpq(0), fmpq(2))
    ... )
    ([-3, -2], [None, None])
    """
    low = _floor(interval.lower) if interval.lower > 0 else None
    if interval.upper >= 1:
        return [low, None]
    high = -_floor(1 / interval.upper) if interval.upper > 0 else -99
    return [low, max(high, -99)]


def _floor(x: Any) -> int:
    """The exponent of the largest power of two that is at most x > 0."""
    guess = int(x.p).bit_length() - int(x.q).bit_length()
    return guess if int(x.p) * 2 ** max(-guess, 0) >= int(x.q) * 2 ** max(guess, 0) else guess - 1


_INSPECT, _GUESS = "lemmax.numerics.experiments.readouts:inspect", trained_pairs.GUESS.recipe
WONG = Study("readouts-wong", _GUESS, wong_jobs("readouts-wong", 20_000, 160), _INSPECT)
WONG_AGAIN = Study(
    "readouts-wong-again", _GUESS, wong_jobs("readouts-wong-again", 30_000, 600), _INSPECT
)
MAHDAVI, MAHDAVI_AGAIN = (
    Study(name, recipe("mahdavi-full"), mahdavi_jobs(seeds), _INSPECT)
    for name, seeds in (
        ("readouts-mahdavi", range(100, 112)),
        ("readouts-mahdavi-again", range(200, 240)),
    )
)
FIRST = {"Wong": WONG, "Mahdavi": MAHDAVI}
PAPERS = {"Wong": WONG_AGAIN, "Mahdavi": MAHDAVI_AGAIN}


def outcome(told: Bounds, resolution: int = RESOLUTION) -> str:
    """Conflict, readable or undecided, by bounds of the margin.

    >>> outcome([-24, -23]), outcome([None, -24]), outcome([-25, -23])
    ('readable', 'conflict', 'undecided')
    """
    low, high = told
    if low is not None and low >= resolution:
        return "readable"
    return "conflict" if high is not None and high <= resolution else "undecided"


def missing(rows: Sequence[Row]) -> list[Any]:
    """What was found in each layer that misses something."""
    return [row.inspected for row in rows if row.inspected["missed"]]


def shares(found: Sequence[Any], place: str, *wanted: str, at: int = RESOLUTION) -> list[float]:
    """For each layer the share of the facts asked about that end in one of these ways.

    The place "all" is attention, asked once about all facts.
    """
    told = [[layer["all"]] if place == "all" else layer[place] for layer in found]
    ends = [[outcome(b, at) for b in some] for some in told]
    return [sum(end in wanted for end in some) / len(some) for some in ends]


def _share(found: Sequence[Any], place: str, wanted: str) -> Estimate:
    """The mean over layers; what is undecided widens the interval, which ends at zero and one."""
    sure = mean(shares(found, place, wanted))
    perhaps = mean(shares(found, place, wanted, "undecided"))
    return Estimate(sure.value, max(sure.low, 0.0), min(perhaps.high, 1.0))


def _whole(found: Sequence[Any], wanted: str) -> Estimate:
    """The share of layers where the facts all together end so, by one readout of attention."""
    ends = [outcome(layer["all"]) for layer in found]
    yes, perhaps = ends.count(wanted), ends.count("undecided")
    sure, most = share(yes, len(ends)), share(yes + perhaps, len(ends))
    return Estimate(sure.value, sure.low, most.high)


def _of(found: Sequence[Any], place: str, wanted: str) -> tuple[list[str], Estimate]:
    """How what is asked about ends, and the share that ends as wanted."""
    if not found:
        return [], Estimate(math.nan, -math.inf, math.inf)
    if place == "all":
        return [outcome(layer["all"]) for layer in found], _whole(found, wanted)
    return [outcome(b) for layer in found for b in layer[place]], _share(found, place, wanted)


CLAIMS: dict[str, tuple[str, str, float, tuple[str, ...]]] = {
    "missed-facts-conflict-at-the-last-map": ("last", "conflict", 0.5, tuple(PAPERS)),
    "missed-facts-readable-from-attention": ("attention", "readable", 0.5, tuple(PAPERS)),
    "trained-attention-holds-all-facts": ("all", "readable", 0.5, tuple(PAPERS)),
    "mahdavi-misses-are-of-training": ("attention", "readable", 0.9, ("Mahdavi",)),
    "wong-attention-conflicts": ("all", "conflict", 0.5, ("Wong",)),
}
"""For each claim what is read, the end that is counted, its least share, and the papers."""


def judge(rows: Rows) -> list[Judgement]:
    """Every claim, asked of the layers that were trained for it."""
    asking = {
        "last": "what the last map reads",
        "attention": "what is attended to",
        "all": "what is attended to, all facts at once",
    }
    judgements = []
    for claim, (place, wanted, least, papers) in CLAIMS.items():
        asked, parts = {}, []
        for paper in papers:
            trained = rows[PAPERS[paper].name]
            found, before = missing(trained), missing(rows[FIRST[paper].name])
            ends, measured = _of(found, place, wanted)
            asked[paper] = [Asked("share", measured, low=least)]
            counted = ", ".join(f"{ends.count(o)} {o}" for o in OUTCOMES)
            unit = "layers" if place == "all" else "missed facts"
            parts.append(
                f"{paper}: {len(found)} of {len(trained)} layers miss facts; of {len(ends)} {unit} "
                f"{counted}; {wanted} {measured} (first layers: {_of(before, place, wanted)[1]})"
            )
        told = f"Readouts of {asking[place]}, resolution 2^{RESOLUTION}. {'. '.join(parts)}."
        judgements.append(criteria.judged(f"lemmax/{claim}", asked, told))
    return judgements


def draw(rows: Rows, figure: Any) -> None:
    """How missed facts end at the resolution, and the share that is readable at every other."""
    figure.set_size_inches(8.4, 2.8)
    bars, curves = figure.subplots(1, 2)
    at, labels = np.arange(-40, 0), []
    styles = {"last": "--", "attention": "-", "all": ":"}
    for number, (paper, place) in enumerate((p, q) for p in PAPERS for q in styles):
        found, left = missing(rows[PAPERS[paper].name]), 0.0
        labels.append(f"{paper}, {'all facts at once' if place == 'all' else place}")
        if not found:
            continue
        for colour, end in enumerate(OUTCOMES):
            width = mean(shares(found, place, end)).value
            names = {"conflict": "conflicts", "readable": "a readout exists"}
            name = names.get(end, end) if number == 0 else None
            bars.barh(number, width, left=left, color=PALETTE[colour], label=name, height=0.6)
            left += width
        sure = [mean(shares(found, place, "readable", at=int(k))).value for k in at]
        hue = PALETTE[3 + list(PAPERS).index(paper)]
        curves.step(at, sure, styles[place], where="post", color=hue, label=labels[-1])
    bars.set(yticks=range(len(labels)), yticklabels=labels, xlim=(0, 1), ylim=(6.6, -0.6))
    bars.set(xlabel=f"share of a layer's missed facts, or of layers, at 2^{RESOLUTION}")
    bars.legend(frameon=False, loc="lower center", ncols=3, fontsize=6)
    curves.axvline(RESOLUTION, color="grey", linestyle=":", linewidth=0.8)
    curves.set(xlabel="resolution, a power of two", ylabel="share readable", ylim=(-0.02, 1.02))
    curves.legend(frameon=False, fontsize=5, loc="lower left")


EXPERIMENTS = {
    "readouts": Experiment(
        "readouts",
        "Missed facts: the readout's or training's",
        (WONG, MAHDAVI, WONG_AGAIN, MAHDAVI_AGAIN),
        judge,
        draw,
    )
}
