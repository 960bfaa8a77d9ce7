"""Whether a readout exists: a guess in floats, and what exact arithmetic makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flint import fmpq, fmpz, fmpz_mat

from lemmax.constructions.readouts.conflicts import fewer
from lemmax.constructions.readouts.demands import Demand, Demands, squared
from lemmax.constructions.readouts.nearest import cancelling, nearest
from lemmax.theory.errors import Undecided

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EXACT = 160
"""Demands up to which the widest margin is solved for exactly: a linear system of that size."""
CONFLICT = 1_000
"""Demands up to which a conflict is solved for: one system over Z."""
_BITS = 60


def decide(
    demands: Demands,
    widest: bool = True,
    start: NDArray[np.float64] | None = None,
    shrink: bool = False,
) -> tuple[fmpz_mat | None, dict[Demand, fmpz]]:
    """Integer weights W, or None for a conflict; and integer weights of demands that show it.

    ``start`` are weights to begin a search for a narrow margin at; with ``shrink`` a conflict is
    looked for among fewer facts before it is solved for.
    """
    from lemmax.constructions.readouts import finding

    guess, direction, vertex = finding.guess(demands, start)
    W = integer_weights(direction)
    dual = {d: fmpz((x * 2**_BITS).floor()) for d, x in _above(guess, 1e-9).items()}
    rounded = W, {d: x for d, x in dual.items() if x > 0}
    if not widest and demands.least(W)[1] > 0:
        return rounded
    if vertex is not None:  # it seems that zero is in the hull
        support = list(_above(vertex, 1e-11))
        several = [support, (fewer(demands, support) or support) if shrink else support]
        for names in sorted(several, key=_facts):
            if 1 < len(names) <= CONFLICT:
                weights = cancelling(demands, names)
                if weights is not None:
                    return None, weights
    active = _above(guess, 1e-5)  # what is missing is found again, what is too much dropped
    if len(active) <= EXACT:
        solved = nearest(demands, active)
        if solved is not None:
            return (solved[1] if squared(solved[1]) else None), solved[0]
    if demands.least(W)[1] > 0:
        return rounded
    raise Undecided(
        f"The solver's weights miss a fact, and {len(active)} demands seem to be active, which "
        "is too many to solve for exactly: the readout is undecided."
    )


def _facts(names: list[Demand]) -> int:
    return len({t for t, _ in names})


def integer_weights(W: NDArray[np.float64]) -> fmpz_mat:
    """The floats as integers, up to a common factor, to some sixty bits of the largest."""
    top = abs(W).max() or 1.0
    return fmpz_mat([[round(x) for x in row] for row in (W * (2.0**_BITS / top)).tolist()])


def _above(guess: NDArray[np.float64], share: float) -> dict[Demand, fmpq]:
    """The weights that are at least this share of the largest, as the rationals that they are."""
    places = (guess > share * guess.max()).nonzero()
    pairs = [(int(t), int(v)) for t, v in zip(*places, strict=True)]
    return {d: fmpq(*float(guess[d]).as_integer_ratio()) for d in pairs}
