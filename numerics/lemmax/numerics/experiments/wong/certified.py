"""Trained layers of Wong's, certified: which facts they know exactly, and with how many bits.

Each layer is trained as in Figure 3, its floats are read as the rationals they are, and every fact
is decided exactly; then all weights are rounded to fewer and fewer fractional bits. A row keeps the
numerators of the shortest weights that still know every fact the trained ones know, so that the
certificates are made from the recorded results without training anything.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lemmax.numerics.experiments.studies import Experiment, Judgement, Row, Rows, Scale, Study
from lemmax.numerics.experiments.wong import trained_pairs
from lemmax.numerics.experiments.wong.trained_ranks import judge_likely
from lemmax.numerics.figures import PALETTE
from lemmax.numerics.training.configurations import Arrays, Wong
from lemmax.numerics.training.jobs import Job
from lemmax.numerics.twins.certify import CertifiedLayer, certify_layer, kept_by_bits
from lemmax.numerics.twins.exact_layers import rounded
from lemmax.theory.certificates.writing import to_json
from lemmax.theory.errors import LemmaxError

LAYERS, MOST = 24, 20  # layers that are trained, and fractional bits that are tried


def jobs(scale: Scale) -> list[Job]:
    """The first of the pairs of Figure 3."""
    return trained_pairs.pairs("small")[: LAYERS // 2 if scale == "small" else LAYERS]


def inspect(job: Job, weights: Arrays) -> dict[str, Any]:
    """The facts missed (by their place), the numbers known by bits, and the shortest weights."""
    config = job.config
    assert isinstance(config, Wong)
    lost = set(certify_layer(weights, config.facts, layout="wong").missed)
    counts, safe = kept_by_bits(weights, config.facts, MOST, "wong")
    bits = min(safe, MOST)
    return {
        "missed": [i for i, fact in enumerate(config.facts) if fact in lost],
        "counts": counts,
        "safe": safe if safe <= MOST else None,
        "bits": bits,
        "weights": [x for name in config.shapes() for x in rounded(weights[name], 2**bits)],
    }


STUDY = Study(
    "wong-certified",
    trained_pairs.GUESS.recipe,
    jobs,
    "lemmax.numerics.experiments.certified:inspect",
)


def weights_of(row: Row) -> Arrays:
    """The rounded weights that a row keeps, as floats that hold them exactly."""
    weights: Arrays = {}
    numbers, start = row.inspected["weights"], 0
    for name, shape in row.job.config.shapes().items():
        size = int(np.prod(shape))
        values = np.array(numbers[start : start + size], dtype=np.float64)
        weights[name] = np.ldexp(values, -int(row.inspected["bits"])).reshape(shape)
        start += size
    if start != len(numbers):
        raise LemmaxError(f"A row of {STUDY.name} holds {len(numbers)} weights, not {start}.")
    return weights


def certify_row(row: Row) -> CertifiedLayer:
    """The rounded layer of a row with the facts that it provably knows, decided anew."""
    config = row.job.config
    assert isinstance(config, Wong)
    return certify_layer(weights_of(row), config.facts, layout="wong")


class Table:
    """Rows as columns: facts, facts that the trained layer knows, facts known by bits."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.facts = np.array([row.job.config.samples for row in rows])
        self.exact = self.facts - [len(row.inspected["missed"]) for row in rows]
        self.float64 = np.round(self.facts * [row.accuracy for row in rows]).astype(np.int64)
        self.counts: NDArray[np.int64] = np.array([row.inspected["counts"] for row in rows])
        self.safe = [row.inspected["safe"] for row in rows]

    def share(self) -> NDArray[np.float64]:
        """The share of the facts of all layers that is certified, bits by bits."""
        shares: NDArray[np.float64] = self.counts.sum(0) / self.facts.sum()
        return shares


def judge(rows: Rows) -> list[Judgement]:
    """How many facts are certified, and where rounding begins to lose some."""
    table = Table(rows[STUDY.name])
    known = [bits for bits in table.safe if bits is not None]
    median = f"{float(np.median(known)):g}" if known else "no number of"
    beyond = len(table.safe) - len(known)
    agree = "all" if (table.exact == table.float64).all() else "not all"
    whole = int((table.exact == table.facts).sum())
    shares = ", ".join(f"{table.share()[b]:.3f} at {b}" for b in (2, 4, 6, 8, 12))
    sentence = (
        f"Of the {table.facts.sum()} facts of {len(table.facts)} trained layers "
        f"{table.exact.sum()} are certified by exact arithmetic ({whole} layers know all of "
        f"theirs), in agreement with float64 for {agree} of the layers. Every certified fact "
        f"stays certified at {min(known, default=0)} to {max(known, default=0)} fractional bits "
        f"and more (median {median}; {beyond} layers need more than {MOST}). Share certified by "
        f"fractional bits: {shares}."
    )
    layers = [certify_row(row).layer for row in rows[STUDY.name]]
    return [Judgement("", None, sentence), judge_likely(layers, rows[STUDY.name])]


def draw(rows: Rows, figure: Any) -> None:
    """The share of facts certified against the fractional bits kept: each layer, and all facts."""
    table = Table(rows[STUDY.name])
    figure.set_size_inches(4.8, 3.2)
    axes, bits = figure.subplots(), np.arange(MOST + 1)
    for number, (counts, facts) in enumerate(zip(table.counts, table.facts, strict=True)):
        label = "a layer each" if number == 0 else None
        axes.plot(bits, counts / facts, "-", color="0.75", linewidth=0.6, label=label)
    axes.plot(bits, table.share(), "o-", color=PALETTE[0], markersize=3, label="all facts")
    exact = table.exact.sum() / table.facts.sum()
    axes.axhline(exact, color=PALETTE[1], linestyle="--", label="unrounded weights")
    for number, (safe, counts, facts) in enumerate(
        zip(table.safe, table.counts, table.facts, strict=True)
    ):
        if safe is not None:
            label = "from here on nothing is lost" if number == 0 else None
            axes.plot(safe, counts[safe] / facts, "|", color=PALETTE[2], label=label)
    axes.set(xlabel="fractional bits of every weight", ylabel="share of facts certified")
    axes.set(ylim=(0, 1.02), xlim=(0, MOST), xticks=range(0, MOST + 1, 4))
    axes.legend(frameon=False, loc="lower right")


def files(rows: Rows) -> dict[str, str]:
    """A table of the layers, and for each layer the certificate of the facts that it knows."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = ["d_model", "d_vo", "d_qk", "heads", "tokens", "facts", "certified"]
    writer.writerow(["layer", *names, "bits", "missed"])
    made = {}
    for number, row in enumerate(rows[STUDY.name]):
        c = row.job.config
        assert isinstance(c, Wong)
        missed = row.inspected["missed"]
        known = c.samples - len(missed)
        safe = row.inspected["safe"]
        sizes = [c.d_model, c.d_vo, c.d_qk, c.heads, c.tokens, c.samples, known]
        lost = "; ".join(" ".join(map(str, c.facts[i])) for i in missed)
        writer.writerow([number, *sizes, f">{MOST}" if safe is None else safe, lost])
        made[f"wong-certified/layer-{number:02}.json"] = to_json(certify_row(row).certificate())
    return {"wong-certified/table.csv": text.getvalue(), **made}


EXPERIMENTS = {
    "wong-certified": Experiment(
        "wong-certified", "Trained layers certified", (STUDY,), judge, draw, files
    )
}
