r"""Parity: what no H heads can do with H + 1 bits, whatever their dimensions, and what H + 1 can.

A sequence is n bits and a fixed last token; its target is the parity. The obstruction (the claim
``lemmax/parity-obstruction``) uses of the other positions only that they are fixed. So with H < n
heads every choice of n - H - 1 bits leaves a parity of H + 1 bits with a mistake in it: at most
\(2^n - 2^{n-1-H}\) of the sequences are memorized. Trained models are judged by their exact twins.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from lemmax.numerics.experiments.studies import Experiment, Judgement, Row, Rows, Scale, Study
from lemmax.numerics.figures import PALETTE
from lemmax.numerics.training.configurations import Arrays, Dana
from lemmax.numerics.training.jobs import Job
from lemmax.numerics.training.recipes import recipe
from lemmax.numerics.twins.certify import known_pairs
from lemmax.numerics.twins.exact_layers import exact_transformer, rounded
from lemmax.theory.certificates.writing import to_json
from lemmax.theory.dana.transformer import AoT
from lemmax.theory.errors import LemmaxError

BITS, D = (2, 3, 4, 5), 4
MOST = 20  # fractional bits that are tried when weights are rounded
RECIPE = recipe("dana-full").changed(name="dana-parity", steps=4000, dtype="float64")


def associations(bits: int) -> tuple[tuple[tuple[int, ...], int], ...]:
    """All sequences of so many bits and a last token 0, with their parity.

    >>> associations(2)
    (((0, 0, 0), 0), ((0, 1, 0), 1), ((1, 0, 0), 1), ((1, 1, 0), 0))
    """
    return tuple(((*b, 0), sum(b) % 2) for b in product((0, 1), repeat=bits))


def jobs(scale: Scale) -> list[Job]:
    """Two heads fewer than bits to two more, seed after seed."""
    return [
        Job(Dana(2, D, D, H, "per-head", pairs=associations(bits)), seed)
        for seed in range(8 if scale == "small" else 20)
        for bits in BITS
        for H in range(bits - 2, bits + 3)
    ]


def certified(job: Job, weights: Arrays) -> dict[str, Any]:
    """How many sequences the exact twin memorizes; where heads suffice, short weights that do.

    The weights are numerators over 2^bits with the fewest bits that keep everything.
    """
    config = job.config
    assert isinstance(config, Dana)
    assert config.pairs is not None
    pairs = dict(config.pairs)
    record: dict[str, Any] = {"certified": len(known_pairs(exact_transformer(weights), pairs))}
    if record["certified"] == len(pairs) and config.H == config.S - 1:
        for bits in range(MOST + 1):
            if len(known_pairs(exact_transformer(weights, 2**bits), pairs)) == len(pairs):
                numbers = [x for name in config.shapes() for x in rounded(weights[name], 2**bits)]
                return record | {"bits": bits, "weights": numbers}
    return record


STUDY = Study("dana-parity", RECIPE, jobs, "lemmax.numerics.experiments.parity:certified")


def ceiling(bits: int, H: int) -> int:
    """The largest number of sequences of which H heads can know the parity.

    >>> [ceiling(3, H) for H in range(4)]
    [4, 6, 7, 8]
    """
    return 1 << bits if bits <= H else (1 << bits) - (1 << bits - 1 - H)


def sizes(row: Row) -> tuple[int, int]:
    """The number of bits and the number of heads."""
    config = row.job.config
    assert isinstance(config, Dana)
    return config.S - 1, config.H


def by_sizes(rows: Sequence[Row]) -> dict[tuple[int, int], list[int]]:
    """The numbers of certified sequences by bits and heads; what is impossible is refused.

    Raises
    ------
    LemmaxError
        A row claims more than the obstruction allows: it was damaged or made up.
    """
    numbers: dict[tuple[int, int], list[int]] = {}
    for row in rows:
        bits, H = sizes(row)
        seen = round(row.accuracy * row.job.config.samples)
        number = int(row.inspected["certified"])
        if max(number, seen) > ceiling(bits, H):
            raise LemmaxError(
                f"The results say that {H} heads know the parity of {max(number, seen)} of "
                f"{2**bits} sequences, but no weights know more than {ceiling(bits, H)}: "
                "they are damaged or made up."
            )
        numbers.setdefault((bits, H), []).append(number)
    return dict(sorted(numbers.items()))


def model_of(row: Row) -> AoT | None:
    """The short exact weights that a row holds, if it holds any."""
    numbers, config, start = row.inspected.get("weights"), row.job.config, 0
    if numbers is None:
        return None
    weights: Arrays = {}
    for name, shape in config.shapes().items():
        size = int(np.prod(shape))
        scaled = np.array(numbers[start : start + size], dtype=np.float64)
        weights[name] = np.ldexp(scaled, -int(row.inspected["bits"])).reshape(shape)
        start += size
    return exact_transformer(weights)


def judge(rows: Rows) -> list[Judgement]:
    """Never with fewer heads than bits; with as many, in how many of the seeds."""
    numbers = by_sizes(rows[STUDY.name])
    told, without = [], []
    for bits in sorted({bits for bits, _ in numbers}):
        heads = [H for b, H in numbers if b == bits]
        best = ", ".join(f"{max(numbers[bits, H])} at H = {H}" for H in heads)
        told.append(f"of {2**bits} sequences of {bits} bits {best}")
        enough = [H for H in heads if bits <= H]
        without += [(bits, H) for H in enough if max(numbers[bits, H]) < 2**bits]
    seeds = len({row.job.seed for row in rows[STUDY.name]})
    exact = [(bits, H) for bits, H in numbers if bits == H]
    all_of = ", ".join(
        f"{sum(n == 2**b for n in numbers[b, H])} of {len(numbers[b, H])} ({b} bits)"
        for b, H in exact
    )
    more = ""
    if without:
        listed = ", ".join(f"H = {H} for {bits} bits" for bits, H in without)
        more = f" Heads enough and yet no seed that succeeds: {listed}."
    sentence = (
        f"Parity, d = d_h = {D}, the best of {seeds} seeds, certified exactly: {'; '.join(told)}. "
        "With fewer heads than bits no seed memorizes it, as no weights can; with as many heads as "
        f"bits {all_of} do.{more}"
    )
    return [Judgement("", None, sentence)]


def draw_cube(axes: Any, numbers: dict[tuple[int, int], list[int]], bits: int) -> None:
    """The share of sequences known against H, and where it is forbidden."""
    heads = [H for b, H in numbers if b == bits]
    size, ends = 2**bits, np.array([heads[0] - 0.5, bits - 0.5])
    steps = np.arange(heads[0], bits)
    top = np.array([ceiling(bits, int(H)) / size for H in steps])
    axes.fill_between(
        np.append(steps - 0.5, ends[1]), np.append(top, top[-1:]), 1.05, step="post",
        color="0.85", hatch="////", edgecolor="0.6", linewidth=0, label="no weights can",
    )  # fmt: skip
    for H in heads:
        shares, often = np.unique(np.array(numbers[bits, H]) / size, return_counts=True)
        axes.scatter(
            np.full(len(shares), H), shares, s=6 + 4 * often, color=PALETTE[0], alpha=0.6,
            linewidths=0, label="trained, a seed each" if heads[0] == H else None,
        )  # fmt: skip
    best = [max(numbers[bits, H]) / size for H in heads]
    axes.plot(heads, best, "-", color=PALETTE[0], linewidth=0.8, label="best, certified")
    whole = [H for H, y in zip(heads, best, strict=True) if y == 1]
    axes.plot(whole, [1] * len(whole), "*", color=PALETTE[1], label="all of them, certified")
    axes.set(xlim=(heads[0] - 0.5, heads[-1] + 0.5), ylim=(0, 1.05))
    axes.set_xticks(heads)
    axes.set_title(f"parity of {bits} bits", fontsize=7)


def draw(rows: Rows, figure: Any) -> None:
    """One panel for each number of bits."""
    by_size = by_sizes(rows[STUDY.name])
    numbers = sorted({bits for bits, _ in by_size})
    figure.set_size_inches(2.2 * len(numbers), 2.4)
    panels = figure.subplots(1, len(numbers), sharey=True, squeeze=False)[0]
    for axes, bits in zip(panels, numbers, strict=True):
        draw_cube(axes, by_size, bits)
        axes.set_xlabel("H")
    panels[0].set_ylabel("share of the sequences")
    panels[-1].legend(frameon=False, fontsize=5, loc="lower right")


def certificates(rows: Rows) -> dict[str, str]:
    """For each number of bits, a certified model with as many heads: the one of fewest bits."""
    best: dict[int, Row] = {}
    for row in rows[STUDY.name]:
        bits, _ = sizes(row)
        if "weights" in row.inspected and (
            bits not in best or row.inspected["bits"] < best[bits].inspected["bits"]
        ):
            best[bits] = row
    files = {}
    for bits, row in sorted(best.items()):
        model = model_of(row)
        assert model is not None
        certificate = model.memorization_certificate(dict(associations(bits)))
        files[f"dana-parity/{bits}-bits.json"] = to_json(certificate)
    return files


EXPERIMENTS = {
    "dana-parity": Experiment(
        "dana-parity", "Parity against the heads", (STUDY,), judge, draw, certificates
    )
}
