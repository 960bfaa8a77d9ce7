"""What is said of a whole model: MiniLM on a text, or the layers of a file of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from lemmax.numerics.pretrained.assumptions import (
    Array,
    AssumptionReport,
    AttentionData,
    check_assumptions,
    rank_of_features,
)
from lemmax.numerics.pretrained.minilm import MiniLM, rank_of_balls
from lemmax.numerics.twins.weights import read_npz
from lemmax.theory.errors import LemmaxError

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True)
class ModelReport:
    """All layers of a model on one text, and what balls prove about the first one."""

    model: str
    layers: tuple[AssumptionReport, ...]
    balls_examples: int
    balls_independent: bool | None

    def to_json(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "model": self.model,
            "layers": [layer.to_json() for layer in self.layers],
            "real_arithmetic": {
                "examples": self.balls_examples,
                "queries_after_layer_1_independent": self.balls_independent,
            },
        }

    def table(self) -> Table:
        """A table for a terminal."""
        from rich.table import Table

        table = Table(box=None, pad_edge=False)
        for title in (
            "input of",
            "rank n",
            "distinct",
            "Kruskal",
            "float32",
            "sampled",
            "least σ",
            "rank Z",
            "Thm 1",
        ):
            side: Literal["left", "right"] = "left" if title == "input of" else "right"
            table.add_column(title, justify=side, no_wrap=True)
        for r in self.layers:
            lower, upper = r.feature_rank_lower, r.feature_rank_upper
            table.add_row(
                r.name,
                f"{r.contexts_full_rank}/{r.contexts_checked}",
                f"{r.distinct_queries}/{r.queries_checked}",
                _interval(r.kruskal_lower, r.kruskal_upper),
                str(r.float32_rank_of_queries),
                f"{r.sampled_share_independent:.0%}",
                f"{r.float64_least_singular_value:.0e}",
                "-"
                if lower is None or upper is None
                else f"{_interval(lower, upper)}/{r.examples}",
                str(r.theorem_1 or "-"),
            )
        return table

    def sentences(self) -> list[str]:
        """What is exact, and about what."""
        n = self.layers[0].n
        told = [
            "Exact facts about the stored floats: contexts of rank n, distinct queries, the "
            "Kruskal rank of the queries, rank Z of the trained heads for so many examples.",
            f"Numerical: the float32 rank of the queries, the share of random sets of {n} queries "
            "with float32 rank n, and the least singular value of queries and contexts, which says "
            "how far rounding is from making the rank.",
            "Thm 1 is what Theorem 1 promises under its assumptions; rank Z may exceed it.",
        ]
        if self.balls_independent is not None:
            outcome = (
                "are independent" if self.balls_independent else "could not be shown independent"
            )
            told.append(
                f"In real arithmetic (balls) the first {self.balls_examples} queries after "
                f"layer 1 {outcome}."
            )
        return told

    def figure(self, path: str | Path) -> None:
        """A bar chart: exact Kruskal rank, float32 rank and n, layer by layer."""
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
        places = np.arange(len(self.layers))
        axes.bar(
            places - 0.2, [r.kruskal_lower for r in self.layers], 0.4, label="exact Kruskal rank"
        )
        axes.bar(
            places + 0.2,
            [r.float32_rank_of_queries for r in self.layers],
            0.4,
            label="float32 rank",
        )
        axes.axhline(self.layers[0].n, linestyle="--", color="black", linewidth=1, label="n")
        axes.set_xticks(places, [r.name for r in self.layers])
        axes.set_ylabel("queries")
        axes.legend(frameon=False)
        figure.savefig(path)
        plt.close(figure)


def _interval(lower: int, upper: int) -> str:
    return str(lower) if lower == upper else f"{lower}..{upper}"


def read_arrays(path: Path) -> list[AttentionData]:
    """Layers from a .npz file with the arrays LAYER.contexts, LAYER.queries, LAYER.heads.0.W_K, ...

    ``LAYER`` is any name; ``LAYER.scale`` may hold the scale as a string.
    """
    arrays = read_npz(path)
    names = [key.removesuffix(".contexts") for key in arrays if key.endswith(".contexts")]
    if not names:
        raise LemmaxError(f"{path} has no array whose name ends with .contexts.")
    layers = []
    for name in names:
        if f"{name}.queries" not in arrays:
            raise LemmaxError(f"{path} has {name}.contexts but no {name}.queries.")
        heads: list[tuple[Array, Array]] = []
        while f"{name}.heads.{len(heads)}.W_K" in arrays:
            number = len(heads)
            if f"{name}.heads.{number}.W_Q" not in arrays:
                raise LemmaxError(f"{path} has no {name}.heads.{number}.W_Q.")
            heads.append(
                (arrays[f"{name}.heads.{number}.W_K"], arrays[f"{name}.heads.{number}.W_Q"])
            )
        scale = str(arrays.get(f"{name}.scale", "1"))
        layers.append(
            AttentionData(name, arrays[f"{name}.contexts"], arrays[f"{name}.queries"], heads, scale)
        )
    return layers


def arrays_report(path: Path, *, examples: int | None = None) -> ModelReport:
    """The assumptions of every layer of a .npz file."""
    layers = tuple(check_assumptions(data, examples=examples) for data in read_arrays(path))
    return ModelReport(path.name, layers, 0, None)


def minilm_layers(
    model: MiniLM, windows: NDArray[np.int64], *, heads: bool = True
) -> list[AttentionData]:
    """The inputs of all layers as stored float32 arrays; queries are the first position."""
    inputs = []
    hidden = model.hidden(windows)
    for i, (x, layer) in enumerate(zip(hidden, model.layers, strict=False), 1):
        stored = x.astype(np.float32)
        queries = np.concatenate([stored[:, 0], np.ones((len(x), 1), np.float32)], axis=1)
        size = model.d_h
        pairs = [
            (
                layer.W_K[:, h * size : (h + 1) * size],
                np.concatenate(
                    [
                        layer.W_Q[:, h * size : (h + 1) * size],
                        layer.b_Q[None, h * size : (h + 1) * size],
                    ]
                ),
            )
            for h in range(model.heads)
        ]
        inputs.append(
            AttentionData(
                f"layer {i}", stored, queries, pairs if heads else (), f"1/sqrt({model.d_h})"
            )
        )
    return inputs


def minilm_report(
    text: str,
    *,
    n: int = 16,
    examples: int | None = None,
    stride: int = 1,
    layers: Sequence[int] | None = None,
    heads: bool = True,
    balls: int = 48,
    model: MiniLM | None = None,
) -> ModelReport:
    """The assumptions of every layer of MiniLM on the windows of a text.

    ``examples`` windows (d + 3 unless given, fewer if the text is short); ``balls`` of them in
    real arithmetic through the first layer.
    """
    used = model or MiniLM()
    windows = used.windows(text, n, examples or used.d + 3, stride)
    reports = []
    for number, data in enumerate(minilm_layers(used, windows, heads=heads), 1):
        if layers is None or number in layers:
            # The Kruskal rank is that of the tokens themselves, without the coordinate of the bias.
            plain = AttentionData(data.name, data.contexts, data.queries[:, :-1])
            report = check_assumptions(plain, contexts=64)
            if data.heads:
                report = replace(report, **rank_of_features(data))
            reports.append(report)
    if not reports:
        raise LemmaxError(f"The model has {len(used.layers)} layers; none of those named exists.")
    count = min(balls, len(windows), used.d)
    proved = None
    if count:
        proved = rank_of_balls(used.certified_first_layer(windows[:count]))
    return ModelReport("minilm", tuple(reports), count, proved)
