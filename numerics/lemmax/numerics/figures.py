"""Figures, each drawn from recorded data so that it can be drawn again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

# Okabe and Ito's palette: told apart by colour-blind readers too.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


def compiler_cost(data: dict[str, Any], path: str | Path) -> None:
    """Seconds to compile and to re-check against the number of facts, on logarithmic axes."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(5.5, 3.6), layout="constrained")
    labels = {"compile": "compile and prove", "check": "independent checker"}
    for colour, (field, label) in zip(PALETTE, labels.items(), strict=False):
        for predicates, style in ((2, "-"), (4, "--")):
            rows = [row for row in data["rows"] if row["predicates"] == predicates]
            axes.plot(
                [row["facts"] for row in rows],
                [row[field] for row in rows],
                style,
                marker="o",
                markersize=3,
                color=colour,
                label=f"{label}, {predicates} predicates",
            )
    axes.set(xscale="log", yscale="log", xlabel="facts", ylabel="CPU seconds")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize=8)
    figure.savefig(path)
    plt.close(figure)
