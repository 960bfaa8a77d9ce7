"""What training finds at the dimensions of a layer by codes: bits per parameter beside it.

Random full tables with four predicates and 64 values; the layer has the sizes that the compiler by
codes takes for bfloat16 (d_model 5, four heads, d_vo = d_qk = 1), whatever the number of subjects,
and training starts from random weights. A fact counts where its value has strictly the largest
logit over all tokens, with the weights rounded to bfloat16 and everything else in float64, which
is kinder than bfloat16; it counts for log₂ 64 = 6 bits, as if none were luck. Of the two recipes
the better one is taken, table by table. Training finds less than is certified where the whole
interval of the mean at the largest tables lies below the certified bits per parameter.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lemmax.constructions.capacity import TRAINED, Capacity, capacities
from lemmax.constructions.capacity.bits import Sizes
from lemmax.numerics.experiments.statistics import Estimate, mean
from lemmax.numerics.experiments.studies import Experiment, Judgement, Rows, Scale, Study
from lemmax.numerics.figures import PALETTE
from lemmax.numerics.training.configurations import Arrays, Triple, Wong
from lemmax.numerics.training.jobs import Job
from lemmax.numerics.training.recipes import recipe
from lemmax.numerics.training.streams import stream

QUERIES, VALUES, KEYS, TABLES = 4, 64, (8, 16, 32, 64, 128, 256), 4


@cache
def certified(keys: int) -> Capacity:
    """The layer by codes for a full table with so many subjects, all of it in bfloat16."""
    sizes = Sizes(keys, QUERIES, VALUES, keys * QUERIES, keys + QUERIES + VALUES)
    return next(c for c in capacities(sizes) if (c.dtype, c.logits) == ("bfloat16", "bfloat16"))


def table(keys: int, seed: int) -> tuple[Triple, ...]:
    """A full table of random values: subjects, predicates, values, numbered in this order."""
    values = stream("capacity", keys, seed).integers(0, VALUES, (keys, QUERIES))
    last = keys + QUERIES
    return tuple(
        (k, keys + q, last + int(v)) for k, row in enumerate(values) for q, v in enumerate(row)
    )


def jobs(scale: Scale) -> list[Job]:
    """Tables of every size; the small scale takes one of each, and leaves out the largest."""
    chosen = [(keys, 0) for keys in KEYS[:-2]]
    if scale == "paper":
        chosen += [(keys, seed) for keys in KEYS for seed in range(TABLES)]
    made = []
    for keys, seed in dict.fromkeys(chosen):
        dims = certified(keys).dims
        facts = table(keys, seed)
        made.append(Job(Wong(dims.d_model, dims.d_vo, dims.d_qk, dims.heads, facts), seed))
    return made


def recalled(facts: Sequence[Triple], weights: Arrays) -> int:
    """How many facts have strictly the largest logit, everything in float64."""
    k, q, v = np.array(facts).T
    W_E, W_U, W_Q, W_K, W_V, W_O = (
        np.asarray(weights[name], dtype=np.float64)
        for name in ("W_E", "W_U", "W_Q", "W_K", "W_V", "W_O")
    )
    x_k, x_q = W_E[k], W_E[q]
    stream_: NDArray[np.float64] = x_q.copy()
    for Q, K, V, O in zip(W_Q, W_K, W_V, W_O, strict=True):  # noqa: E741
        score = ((x_q @ Q) * ((x_k - x_q) @ K.T)).sum(axis=1, keepdims=True)
        alpha = 1 / (1 + np.exp(np.clip(-score, -700, 700)))
        stream_ += (x_q + alpha * (x_k - x_q)) @ V @ O
    logits = stream_ @ W_U
    own = logits[np.arange(len(v)), v].copy()
    logits[np.arange(len(v)), v] = -np.inf
    return int((own > logits.max(axis=1)).sum())


def bfloat16(array: NDArray[Any]) -> NDArray[np.float32]:
    """The nearest bfloat16 numbers, ties to even."""
    words = np.asarray(array, dtype=np.float32).view(np.uint32)
    rounded: NDArray[np.float32] = (
        (words + 0x7FFF + ((words >> 16) & 1)) & np.uint32(0xFFFF0000)
    ).view(np.float32)
    return rounded


def inspect(job: Job, weights: Arrays) -> dict[str, int]:
    """Facts recalled with the trained weights, and with these rounded to bfloat16."""
    config = job.config
    assert isinstance(config, Wong)
    rounded = {name: bfloat16(array) for name, array in weights.items()}
    return {
        "trained": recalled(config.facts, weights),
        "bfloat16": recalled(config.facts, rounded),
    }


_FAST = recipe("wong-last").changed(
    name="wong-capacity",
    steps=8000,
    learning_rate=3e-2,
    schedule="warmup-cosine",
    start_factor=0.01,
    warmup=0.05,
)
_INSPECT = "lemmax.numerics.experiments.wong.capacity:inspect"
FAST = Study("wong-capacity", _FAST, jobs, _INSPECT)
SLOW = Study(
    "wong-capacity-slow",
    _FAST.changed(name="wong-capacity-slow", learning_rate=5e-3),
    jobs,
    _INSPECT,
)


def keys_of(job: Job) -> int:
    """The number of subjects of a job's table."""
    return int(job.config.samples) // QUERIES


def trained(rows: Rows, what: str = "bfloat16") -> dict[int, list[float]]:
    """Bits per parameter of the better of both recipes, table by table, by number of subjects."""
    best: dict[Job, int] = {}
    for some in rows.values():
        for row in some:
            best[row.job] = max(best.get(row.job, 0), row.inspected[what])
    bits: dict[int, list[float]] = {}
    for job, facts in best.items():
        keys = keys_of(job)
        share = facts / (QUERIES * keys)
        bits.setdefault(keys, []).append(share * certified(keys).per_parameter)
    return dict(sorted(bits.items()))


def judge(rows: Rows) -> list[Judgement]:
    """Bits per parameter at the largest tables, trained and certified; no claim of the ledger."""
    bits, plain = trained(rows), trained(rows, "trained")
    keys = max(bits)
    row = certified(keys)
    found: Estimate = mean(bits[keys])
    less = "less than" if found.high < row.per_parameter else "not surely less than"
    sentence = (
        f"At d_model {row.dims.d_model} and {row.dims.heads} heads, {keys * QUERIES} facts over "
        f"{VALUES} values: training finds {found} bits per parameter with weights rounded to "
        f"bfloat16 ({mean(plain[keys])} before rounding; {len(bits[keys])} tables), {less} the "
        f"certified {row.per_parameter:.2f}; no layer exceeds {row.limit:.2f}."
    )
    return [Judgement("", None, sentence)]


def draw(rows: Rows, figure: Any) -> None:
    """Bits per parameter against facts: trained, certified, and what no layer exceeds."""
    figure.set_size_inches(4.8, 3.4)
    axes = figure.subplots()
    facts = [keys * QUERIES for keys in KEYS]
    limits = [certified(keys).limit for keys in KEYS]
    axes.plot(facts, limits, "k--", label="no layer exceeds (counting)")
    axes.plot(
        facts,
        [certified(keys).per_parameter for keys in KEYS],
        "s-",
        color=PALETTE[0],
        label="certified, by codes, bfloat16",
    )
    for what, label, colour in (
        ("trained", "trained, float32", PALETTE[2]),
        ("bfloat16", "trained, rounded to bfloat16", PALETTE[1]),
    ):
        found = {keys: mean(bits) for keys, bits in trained(rows, what).items()}
        low = [max(0.0, e.value - e.low) for e in found.values()]
        high = [max(0.0, e.high - e.value) for e in found.values()]
        axes.errorbar(
            [keys * QUERIES for keys in found],
            [e.value for e in found.values()],
            yerr=(low, high),
            fmt="o-",
            color=colour,
            capsize=2,
            label=label,
        )
    axes.axhline(TRAINED, color="0.6", linestyle=":", label="language models (Allen-Zhu and Li)")
    axes.set(xscale="log", yscale="log", xlabel="facts", ylabel="bits per parameter")
    axes.set_ylim(0.15, 70)
    axes.legend(frameon=False, fontsize=7, loc="upper left")


EXPERIMENTS = {
    "wong-capacity": Experiment(
        "wong-capacity", "Bits per parameter, trained and certified", (FAST, SLOW), judge, draw
    )
}
