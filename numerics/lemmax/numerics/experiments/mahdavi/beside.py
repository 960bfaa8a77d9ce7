"""Theory beside training, Mahdavi et al.: contexts of their own, and a shared one.

Trained layers stand beside Theorem 1, the ceiling of rank Z, weights that are constructed for the
same data and certified, and what is forbidden: with a shared context of one token all examples have
the same output. The constructed layers belong to the trained family: W_in is the identity, d_v = 1,
and since each output is within 1/4 of the number of its class, a readout 2c·y - c² tells the class.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from lemmax.constructions.mahdavi.memory import ContextMemory, memorize
from lemmax.numerics.experiments.mahdavi import sizes as mahdavi
from lemmax.numerics.experiments.studies import Experiment, Judgement, Row, Rows, Scale, Study
from lemmax.numerics.figures import PALETTE
from lemmax.numerics.training.configurations import Mahdavi, sinusoids
from lemmax.numerics.training.jobs import Job
from lemmax.theory.certificates.writing import to_json
from lemmax.theory.errors import LemmaxError
from lemmax.theory.mahdavi.ceilings import feature_rank_ceiling, theorem_1_bound
from lemmax.theory.numbers.matrices import Matrix

LENGTHS, H_SHARED, N_OWN, REPETITIONS = (1, 2, 4, 8), 4, 8, 6
HEADS = (1, 2, 4, 6, 8)


def jobs(scale: Scale) -> list[Job]:
    """A shared context of growing length, repetition after repetition."""
    return [
        Job(Mahdavi(mahdavi.D, n, H_SHARED, mahdavi.T, shared_context=True, data_seed=seed), seed)
        for seed in range(3 if scale == "small" else REPETITIONS)
        for n in LENGTHS
    ]


SHARED = Study("mahdavi-shared", mahdavi.RECIPE, jobs)


def config_of(n: int, H: int, shared: bool, seed: int = 0) -> Mahdavi:
    """The configuration of the trained layers."""
    return Mahdavi(mahdavi.D, n, H, mahdavi.T, shared_context=shared, data_seed=seed)


def as_seen(config: Mahdavi) -> tuple[Matrix, list[Matrix], list[int]]:
    """Queries and contexts as the heads see them when W_in is the identity, and the labels.

    The data are single precision, as they are trained on; sums with the positions are read as the
    rationals they are.
    """
    queries, contexts, labels = config.data()
    positions = sinusoids(config.n + 1, config.d)
    seen = queries.astype(np.float32).astype(np.float64) + positions[0]
    tokens = contexts.astype(np.float32).astype(np.float64) + positions[1:]
    each = [Matrix(E, floats=True) for E in tokens]
    return Matrix(seen, floats=True), each, [int(y) for y in labels]


@cache
def rank_ceiling(n: int, H: int, shared: bool) -> int:
    """What rank Z never exceeds on these data, for any weights."""
    config = config_of(n, H, shared)
    if shared:
        return feature_rank_ceiling(as_seen(config)[1], [0] * config.T, H).value
    # tokens and their differences span at most the space
    return min(config.T, H * config.d)


@cache
def construction(n: int, H: int, shared: bool, examples: int) -> ContextMemory:
    """Certified weights for the first examples of the data."""
    queries, contexts, labels = as_seen(config_of(n, H, shared))
    rows = Matrix(queries.rows()[:examples])
    each: Any = contexts[0] if shared else contexts[:examples]
    return memorize(each, rows, labels[:examples], H, mahdavi.D, error="1/4")


@cache
def constructed(n: int, H: int, shared: bool) -> int:
    """The number of examples that constructed weights provably know: the ceiling of rank Z."""
    examples = rank_ceiling(n, H, shared)
    return len(construction(n, H, shared, examples).layer.context_of)


def one_token(seed: int) -> int:
    """The most that any weights know with one shared token: the most frequent label.

    >>> one_token(0) < 20
    True
    """
    labels = config_of(1, H_SHARED, True, seed).data()[2]
    return max(Counter(labels.tolist()).values())


def numbers(rows: Sequence[Row], along: str) -> dict[int, list[int]]:
    """Memorized examples by a size; what one shared token forbids is refused."""
    by_size: dict[int, list[int]] = {}
    for row in rows:
        c = row.job.config
        assert isinstance(c, Mahdavi)
        number = round(row.accuracy * c.T)
        if c.n == 1 and c.shared_context and number > one_token(c.data_seed):
            raise LemmaxError(
                f"The results say that {number} examples with one shared token are memorized, but "
                f"no weights know more than {one_token(c.data_seed)}: they are damaged or made up."
            )
        by_size.setdefault(int(getattr(c, along)), []).append(number)
    return dict(sorted(by_size.items()))


def _told(numbers: dict[int, list[int]], name: str) -> str:
    return ", ".join(f"{np.mean(v):.0f} at {name} = {x}" for x, v in numbers.items())


def judge(rows: Rows) -> list[Judgement]:
    """Training, theorem, construction and obstruction, own contexts and a shared one."""
    own, shared = rows[mahdavi.HEADS.name], rows[SHARED.name]
    by_heads, by_length = numbers(own, "H"), numbers(shared, "n")
    theorem = ", ".join(str(theorem_1_bound(N_OWN, mahdavi.D, H)) for H in by_heads)
    built = ", ".join(str(constructed(N_OWN, H, False)) for H in by_heads)
    theorem_n = ", ".join(str(theorem_1_bound(n, mahdavi.D, H_SHARED)) for n in by_length)
    built_n = ", ".join(str(constructed(n, H_SHARED, True)) for n in by_length)
    short = [H for H, v in by_heads.items() if np.mean(v) < constructed(N_OWN, H, False)]
    compared = "knows more at every H"
    if short:
        compared = f"knows fewer at {', '.join(f'H = {H}' for H in short)}"
    limit = [one_token(seed) for seed in sorted({row.job.seed for row in shared})]
    sentence = (
        f"Memorized on average, of {mahdavi.T} examples with contexts of their own (d = "
        f"{mahdavi.D}, n = {N_OWN}, recipe {mahdavi.RECIPE.name}): {_told(by_heads, 'H')}. "
        f"Theorem 1 promises {theorem}, whatever the labels; weights constructed for the same data "
        f"provably know {built}, as many as rank Z can be, and could know any labels. Training, "
        f"on the labels it sees, {compared}. Shared context, H = {H_SHARED}: "
        f"{_told(by_length, 'n')}; Theorem 1 {theorem_n}, constructed and certified {built_n}, "
        "again all that rank Z allows. With one shared token no weights know more than the most "
        f"frequent label, {min(limit)} to {max(limit)} examples."
    )
    return [Judgement("", None, sentence)]


def _panel(axes: Any, numbers: dict[int, list[int]], n: Any, H: Any, shared: bool) -> None:
    sizes = list(numbers)
    pairs = [(n or x, H or x) for x in sizes]
    for x in sizes:
        axes.plot([x] * len(numbers[x]), numbers[x], "o", color=PALETTE[0], markersize=2, alpha=0.6)
    means = [float(np.mean(numbers[x])) for x in sizes]
    axes.plot(sizes, means, "o-", color=PALETTE[0], markersize=4, linewidth=1, label="trained")
    theorem = [theorem_1_bound(a, mahdavi.D, b) for a, b in pairs]
    axes.plot(sizes, theorem, "--", color="grey", label="Theorem 1")
    ceiling = [rank_ceiling(a, b, shared) for a, b in pairs]
    axes.plot(sizes, ceiling, "-", color=PALETTE[1], linewidth=1, label="ceiling of rank Z")
    built = [constructed(a, b, shared) for a, b in pairs]
    axes.plot(sizes, built, "*", color=PALETTE[2], markersize=8, label="constructed, certified")
    axes.axhline(mahdavi.T, color="grey", linestyle=":", linewidth=0.8, label="all examples")
    axes.set_yscale("log")


def draw(rows: Rows, figure: Any) -> None:
    """Examples memorized against heads, and against the length of a shared context."""
    figure.set_size_inches(8, 3.4)
    left, right = figure.subplots(1, 2, sharey=True)
    _panel(left, numbers(rows[mahdavi.HEADS.name], "H"), N_OWN, None, False)
    left.set(xlabel="H", ylabel=f"memorized, of {mahdavi.T}", title="contexts of their own, n = 8")
    left.legend(frameon=False, fontsize=6, loc="lower right")
    _panel(right, numbers(rows[SHARED.name], "n"), None, H_SHARED, True)
    limit = max(one_token(row.job.seed) for row in rows[SHARED.name])
    right.set_xscale("log", base=2)
    right.fill_between(
        [0.8, 1.25], limit, mahdavi.T, color="0.85", hatch="////", edgecolor="0.6", linewidth=0,
        label="no weights can",
    )  # fmt: skip
    right.set(xlabel="n", title=f"one shared context, H = {H_SHARED}", xlim=(0.8, 10))
    right.set_xticks(LENGTHS, [str(n) for n in LENGTHS])
    right.legend(frameon=False, fontsize=6, loc="lower right")


def files(rows: Rows) -> dict[str, str]:
    """Certificates of the constructions of both panels, the smaller ones."""
    made = {
        f"mahdavi-beside/own-contexts-{H}-heads.json": construction(N_OWN, H, False, T)
        for H in HEADS[:2]
        for T in [rank_ceiling(N_OWN, H, False)]
    } | {
        f"mahdavi-beside/shared-context-{n}-tokens.json": construction(n, H_SHARED, True, T)
        for n in LENGTHS[1:3]
        for T in [rank_ceiling(n, H_SHARED, True)]
    }
    return {name: to_json(memory.certificate()) for name, memory in made.items()}


EXPERIMENTS = {
    "mahdavi-beside": Experiment(
        "mahdavi-beside", "Theory beside training", (mahdavi.HEADS, SHARED), judge, draw, files
    )
}
