"""Margins of facts, drawn and rounded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from lemmax.numerics.figures import PALETTE

if TYPE_CHECKING:
    from lemmax.numerics.certifying.deciding import Outcome


def rounded_down(x: Fraction) -> float:
    """The largest float that is not above x.

    >>> rounded_down(Fraction(1, 3)) < Fraction(1, 3) < math.nextafter(1 / 3, 1)
    True
    """
    near = float(x)
    return near if Fraction(near) <= x else math.nextafter(near, -math.inf)


def margins(outcomes: Sequence[Outcome], least: Fraction, figure: Any) -> None:
    """The certified lower bound of every fact's margin, in ascending order.

    The axis is linear near zero and logarithmic further out. Facts without bounds are left out and
    counted in the legend.
    """
    figure.set_size_inches(4.6, 2.8)
    axes = figure.subplots()
    decided = sorted((o for o in outcomes if o.low is not None), key=lambda o: o.low or 0)
    places = dict(zip(map(id, decided), range(1, len(decided) + 1), strict=True))
    groups = {
        "certified": ([o for o in decided if o.known], PALETTE[0], "o"),
        "not known": ([o for o in decided if not o.known and o.rival is not None], PALETTE[1], "v"),
        "no margin at this precision": (
            [o for o in decided if not o.known and o.rival is None],
            PALETTE[4],
            "s",
        ),
    }
    for label, (some, colour, marker) in groups.items():
        if some:
            xs, ys = (
                [places[id(o)] for o in some],
                [rounded_down(o.low or Fraction(0)) for o in some],
            )
            axes.plot(xs, ys, marker, color=colour, markersize=3, label=f"{label}: {len(some)}")
    without = len(outcomes) - len(decided)
    if without:
        axes.plot([], [], " ", label=f"no bounds: {without}")
    sizes = sorted(abs(float(o.low or 0)) for o in decided if o.low)
    axes.set_yscale("symlog", linthresh=sizes[len(sizes) // 10] if sizes else 1.0)
    axes.axhline(float(least), color="0.4", linewidth=0.8)
    axes.set(xlabel="facts, by margin", ylabel="logit of the answer − next")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize=7)
