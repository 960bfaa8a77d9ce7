"""Theory beside training, Dana et al.: all bigrams over ten tokens at d = 2, and parity.

The task of Figure 4. Trained models are judged by their exact twins. Beside them stand Corollary 2
as printed, the repaired bound, weights that are constructed and proved, and what is forbidden:
without heads a model sees the last token only, and parity of H + 1 bits defeats H heads.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from lemmax.constructions.dana.associations import AssociativeMemory, associative_memory
from lemmax.numerics.experiments.dana import parity as parity
from lemmax.numerics.experiments.studies import Experiment, Judgement, Row, Rows, Scale, Study
from lemmax.numerics.figures import PALETTE
from lemmax.numerics.training.configurations import Arrays, Dana
from lemmax.numerics.training.jobs import Job
from lemmax.numerics.training.recipes import recipe
from lemmax.numerics.twins.certify import known_pairs
from lemmax.numerics.twins.exact_layers import exact_transformer
from lemmax.theory.certificates.writing import to_json
from lemmax.theory.dana.bigrams import bigram_rank
from lemmax.theory.dana.generic import generic_feature_rank
from lemmax.theory.errors import LemmaxError

N, D, ALL = 10, 2, 100
HEADS = (0, 1, 2, 4, 8, 12, 16, 24, 32, 40, 49, 64)
BUILT = (4, 9, 24, 49)  # heads at which weights are constructed
PRINTED_D_H = 5  # Figure 4 has d_h = 5 although d = 2


def jobs(scale: Scale) -> list[Job]:
    """Every number of heads, repetition after repetition, each with a table of its own."""
    return [
        Job(Dana(N, D, D, H, "per-head", data_seed=seed), seed)
        for seed in range(4 if scale == "small" else 10)
        for H in HEADS
    ]


def table(seed: int) -> dict[tuple[int, int], int]:
    """The next token of every bigram."""
    sequences, targets = Dana(N, D, D, 1, data_seed=seed).data()
    return {(int(i), int(j)): int(y) for (i, j), y in zip(sequences, targets, strict=True)}


def certified(job: Job, weights: Arrays) -> int:
    """The number of bigrams that the exact twin memorizes."""
    config = job.config
    assert isinstance(config, Dana)
    return len(known_pairs(exact_transformer(weights), table(config.data_seed)))


STUDY = Study(
    "dana-bigrams",
    recipe("dana-code"),
    jobs,
    "lemmax.numerics.experiments.bigrams:certified",
)


def printed(H: int, d_h: int) -> float:
    """The number of bigrams that Corollary 2 promises as printed.

    >>> printed(20, 5)
    100.0
    """
    return ALL * min(1.0, 1 / N + (1 - 1 / N) * (H * d_h + D) / ALL)


@cache
def repaired(H: int) -> int:
    """The generic rank of the features on all bigrams: so many of them take any targets.

    >>> [repaired(H) for H in (0, 1, 9, 49)]
    [2, 4, 20, 100]
    """
    return bigram_rank(list(table(0)), D, D, H).rank


def everywhere(H: int) -> int:
    """H + 2: so many bigrams take any targets whichever they are, if two last tokens occur."""
    return generic_feature_rank(ALL, N, D, H)


def last_token_only(seed: int) -> int:
    """The most that a model without heads can know: one target for each last token.

    >>> last_token_only(0) < 30
    True
    """
    pairs = table(seed)
    columns = [[y for (_, j), y in pairs.items() if j == last] for last in range(N)]
    return sum(max(column.count(y) for y in column) for column in columns)


@cache
def construction(H: int, seed: int = 0) -> AssociativeMemory:
    """Exact weights for as many bigrams of a table as the repaired bound allows.

    Every margin is proved when the weights are made. Bigrams (i, i) come last: they are parallel.
    """
    pairs = table(seed)
    order = sorted(pairs, key=lambda pair: (pair[0] == pair[1], (pair[0] - pair[1]) % N, pair))
    chosen = {pair: pairs[pair] for pair in order[: repaired(H)]}
    return associative_memory(chosen, H, D, D, tokens=range(N))


@cache
def constructed(H: int, seed: int = 0) -> int:
    """How many of all bigrams the constructed weights provably know: some come as a gift."""
    return len(known_pairs(construction(H, seed).model, table(seed)))


def by_heads(rows: Sequence[Row]) -> dict[int, list[int]]:
    """Certified numbers of bigrams by heads; what is impossible without heads is refused."""
    numbers: dict[int, list[int]] = {}
    for row in rows:
        config = row.job.config
        assert isinstance(config, Dana)
        if not config.H and row.inspected > last_token_only(config.data_seed):
            raise LemmaxError(
                f"The results say that a model without heads knows {row.inspected} bigrams, but "
                f"the last token alone tells at most {last_token_only(config.data_seed)}: they "
                "are damaged or made up."
            )
        numbers.setdefault(config.H, []).append(int(row.inspected))
    return dict(sorted(numbers.items()))


def judge(rows: Rows) -> list[Judgement]:
    """Where training stops, where it is proved that one can go, where one cannot."""
    numbers = by_heads(rows[STUDY.name])
    means = ", ".join(f"{np.mean(v):.1f} at H = {H}" for H, v in numbers.items())
    seeds = len({row.job.seed for row in rows[STUDY.name]})
    whole = [H for H in numbers if max(numbers[H]) == ALL]
    first = f"from H = {whole[0]} on for some seed" if whole else "at no number of heads"
    built = ", ".join(f"{constructed(H)} at H = {H}" for H in BUILT)
    at = numbers[BUILT[-1]]
    stop = (
        f"at H = {BUILT[-1]}, where they know all {ALL}, "
        f"{sum(n == ALL for n in at)} of {len(at)} trained models do"
    )
    limits = [last_token_only(seed) for seed in range(seeds)]
    sentence = (
        f"Bigrams memorized at d = d_h = {D}, of {ALL}, certified exactly, mean of {seeds} seeds: "
        f"{means}; all of them {first}. At H = 20 Corollary 2 promises "
        f"{printed(20, PRINTED_D_H):.0f} as drawn in Figure 4 (d_h = {PRINTED_D_H} > d) and "
        f"{printed(20, D):.1f} with d_h = {D}; repaired, {repaired(20)} of all bigrams take any "
        f"targets, and {everywhere(20)} of any set of them. Constructed weights provably know "
        f"{built}; {stop}. Without heads no weights know more than "
        f"{min(limits)} to {max(limits)}, by table."
    )
    return [Judgement("", None, sentence), *parity.judge(rows)]


def draw(rows: Rows, figure: Any) -> None:
    """Bigrams against heads on the left, parity on the right."""
    figure.set_size_inches(9, 4)
    left, right = figure.subfigures(1, 2, width_ratios=(1.25, 1))
    axes, by_H = left.subplots(), by_heads(rows[STUDY.name])
    heads = np.arange(max(by_H) + 1)
    lines = {
        f"Corollary 2 as printed, d_h = {PRINTED_D_H}": (printed, PRINTED_D_H, ":", "grey"),
        "Corollary 2 as printed, d_h = 2": (printed, D, "--", "grey"),
    }
    for label, (bound, d_h, style, colour) in lines.items():
        axes.plot(heads, [bound(int(H), d_h) for H in heads], style, color=colour, label=label)
    several = sorted({*range(0, max(by_H) + 1, 4), BUILT[-1]})
    axes.plot(
        several, [repaired(H) for H in several], "-", color=PALETTE[1],
        label="repaired: so many of all bigrams",
    )  # fmt: skip
    axes.plot(
        heads, [everywhere(int(H)) for H in heads], "-.", color=PALETTE[4],
        label="repaired: any set of bigrams",
    )  # fmt: skip
    for H, numbers in by_H.items():
        axes.plot([H] * len(numbers), numbers, "o", color=PALETTE[0], markersize=2, alpha=0.5)
    means = [float(np.mean(numbers)) for numbers in by_H.values()]
    label = "trained, certified (mean of the seeds)"
    axes.plot(list(by_H), means, "o-", color=PALETTE[0], markersize=4, linewidth=1, label=label)
    axes.plot(
        BUILT, [constructed(H) for H in BUILT], "*", color=PALETTE[2], markersize=9,
        label="constructed, certified",
    )  # fmt: skip
    seeds = range(len({row.job.seed for row in rows[STUDY.name]}))
    limit = max(last_token_only(seed) for seed in seeds)
    axes.fill_between(
        [-1, 0.5], limit, ALL, color="0.85", hatch="////", edgecolor="0.6", linewidth=0,
        label="no weights can (without heads)",
    )  # fmt: skip
    axes.set(xlabel="H", ylabel="bigrams memorized, of 100", xlim=(-1, max(by_H) + 1))
    axes.set(ylim=(0, 103), title="d = 2, all bigrams over 10 tokens")
    axes.legend(frameon=False, fontsize=6, loc="lower right")
    cubes = parity.by_sizes(rows[parity.STUDY.name])
    numbers = sorted({bits for bits, _ in cubes})
    panels = right.subplots(2, 2, sharey=True)
    for panel, bits in zip(panels.flat, numbers, strict=True):
        parity.draw_cube(panel, cubes, bits)
    panels[0, 1].legend(frameon=False, fontsize=5, loc="lower right")
    for panel in panels[1]:
        panel.set_xlabel("H")
    for panel in panels[:, 0]:
        panel.set_ylabel("share of the sequences")


def files(rows: Rows) -> dict[str, str]:
    """The certificate of all hundred bigrams at H = 49, and those of parity."""
    name = f"dana-beside/{ALL}-bigrams-{BUILT[-1]}-heads.json"
    return {name: to_json(construction(BUILT[-1]).certificate()), **parity.certificates(rows)}


EXPERIMENTS = {
    "dana-beside": Experiment(
        "dana-beside", "Theory beside training", (STUDY, parity.STUDY), judge, draw, files
    )
}
