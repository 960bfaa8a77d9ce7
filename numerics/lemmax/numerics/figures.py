"""Figures, each drawn from recorded data so that it can be drawn again."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from lemmax.theory.errors import LemmaxError
from lemmax.theory.files import write_bytes

# Okabe and Ito's palette: told apart by colour-blind readers too.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#666666")


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


def figure_path(path: Path) -> Path:
    """A path to which a figure can be written; the suffix says how (.svg, .pdf, .png)."""
    if path.suffix not in (".svg", ".pdf", ".png"):
        raise LemmaxError(f"{path}: a figure is written as .svg, .pdf or .png.")
    if not path.absolute().parent.is_dir():
        raise LemmaxError(f"{path}: there is no folder {path.absolute().parent}.")
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError:
        raise LemmaxError("A figure needs matplotlib (the extra plot).") from None
    return path


def write_figure(path: Path, draw: Callable[[Any], None]) -> None:
    """Write what is drawn on an empty figure; the same data give the same file."""
    figure_path(path)
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    # no date and fixed names, so that the same data give the same file
    with plt.rc_context({"svg.hashsalt": "lemmax", "font.size": 8}):
        figure = plt.figure(layout="constrained")
        draw(figure)
        dated = {".svg": "Date", ".pdf": "CreationDate"}.get(path.suffix)
        buffer = io.BytesIO()
        figure.savefig(buffer, format=path.suffix[1:], metadata={dated: None} if dated else {})
        plt.close(figure)
    write_bytes(path, buffer.getvalue())


class Bounds(Protocol):
    """What is drawn of a database: its size and the bounds of its rank."""

    @property
    def regime(self) -> str: ...
    @property
    def facts(self) -> int: ...
    @property
    def lower(self) -> int: ...
    @property
    def upper(self) -> int: ...
    @property
    def proposition(self) -> int: ...


def rank_bounds(rows: Sequence[Bounds], figure: Any) -> None:
    """Bounds of the rank against the number of triples, one panel for each regime."""
    regimes = list(dict.fromkeys(row.regime for row in rows))
    columns = min(len(regimes), 4)
    lines = math.ceil(len(regimes) / columns)
    figure.set_size_inches(max(3.4, 2.1 * columns), 0.5 + 1.9 * lines)
    panels = figure.subplots(lines, columns, squeeze=False)
    for regime, axes in zip(regimes, panels.flat, strict=False):
        some = sorted((row for row in rows if row.regime == regime), key=lambda row: row.facts)
        facts = [row.facts for row in some]
        axes.vlines(
            facts,
            [row.lower for row in some],
            [row.upper for row in some],
            color="0.7",
            linewidth=0.8,
            zorder=1,
        )
        for colour, marker, label, bound in (
            (PALETTE[4], "_", "Proposition 2.1", [row.proposition for row in some]),
            (PALETTE[1], "v", "upper bound", [row.upper for row in some]),
            (PALETTE[0], "^", "lower bound", [row.lower for row in some]),
        ):
            size = 6 if marker == "_" else 3
            axes.plot(facts, bound, marker, color=colour, label=label, markersize=size, alpha=0.8)
        axes.set_title(regime, fontsize=8)
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.3)
    for axes in panels.flat[len(regimes) :]:
        axes.set_visible(False)
    figure.supxlabel("triples", fontsize=8)
    figure.supylabel("rank", fontsize=8)
    handles, labels = panels.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False)
