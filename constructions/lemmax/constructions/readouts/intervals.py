r"""How wide the margin of a readout of balls can be, between two bounds that hold for every point.

The relative margin of facts with features \(z_t\) and labels \(y_t\) is
\(\mu = \sup_W \min_{t, v \ne y_t} \langle W_{y_t} - W_v, z_t\rangle / (\|W\| \max_t \|z_t\|)\),
with the Frobenius norm; \(0 \le \mu < \sqrt 2\), and a readout exists iff \(\mu > 0\). Whether it
does is no question that balls can answer with no; whether \(\mu\) exceeds a resolution is.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import reduce

from flint import arb, arb_mat, ctx, fmpq, fmpq_mat, fmpz, fmpz_mat

from lemmax.constructions.readouts.deciding import decide
from lemmax.constructions.readouts.demands import Demand, Demands, squared
from lemmax.constructions.readouts.nearest import nearest
from lemmax.constructions.readouts.readout import with_constant
from lemmax.theory.errors import LemmaxError, NotExact, ShapeError, Undecided
from lemmax.theory.numbers.balls import midpoint, rational_above, rational_below
from lemmax.theory.numbers.matrices import Matrix

GRID, _BITS, _PRECISION = 40, 80, 256
"""Where the search begins: the middles of the balls, as multiples of 2^-GRID of the longest."""


@dataclass(frozen=True)
class MarginInterval:
    """lower ≤ μ ≤ upper for every point of the balls.

    >>> MarginInterval(fmpq(0), fmpq(1, 8)).above(fmpq(1, 4))
    False
    """

    lower: fmpq
    upper: fmpq

    def above(self, resolution: fmpq) -> bool | None:
        """Whether μ exceeds the resolution; None where the interval does not say."""
        if self.lower > resolution:
            return True
        return False if self.upper <= resolution else None


def margin_interval(
    features: Matrix | arb_mat, labels: Sequence[Hashable], *, bias: bool = False
) -> MarginInterval:
    r"""Bounds of the relative margin of all readouts of some facts, proved in balls.

    The features are rounded to a grid, where a solver guesses weights W and multipliers λ and exact
    arithmetic improves them; then both are put to the features themselves. *Below*: the margin of
    W. *Above*: \(\|\sum\lambda_{tv}(e_{y_t} - e_v)\otimes z_t\| / \sum\lambda\), which no readout
    exceeds. So neither the grid nor the solver can make a bound wrong, only loose.

    Parameters
    ----------
    features
        One row per fact, exact or in balls.
    labels
        One label per fact; at least two occur.
    bias
        Append the constant feature 1.

    Raises
    ------
    LemmaxError
        No facts, one label only, another number of labels, balls without a finite radius.

    Notes
    -----
    Cost: that of :func:`~lemmax.constructions.readouts.readout.readout`, and two products of
    matrices of balls. If the solver gives up, exact arithmetic begins at one demand; if that is
    too much work, the bounds are 0 and √2.

    Examples
    --------
    >>> close = margin_interval(Matrix([[1, 0], ["1", "1/1024"]]), "ab")
    >>> fmpq(1, 2**11) < close.lower <= close.upper < fmpq(1, 2**10), close.above(fmpq(1, 100))
    (True, False)
    """
    listed = list(labels)
    classes = list(dict.fromkeys(listed))
    with ctx.workprec(_PRECISION):
        balls = features if isinstance(features, arb_mat) else arb_mat(features.flint)
        if balls.nrows() != len(listed):
            raise ShapeError(f"There are {balls.nrows()} rows of features, {len(listed)} labels.")
        if len(classes) < 2:
            raise LemmaxError("A margin needs facts of at least two labels.")
        balls = with_constant(balls, bias)
        if not all(x.is_finite() for x in balls.entries()):
            raise NotExact("A feature is a ball without a finite radius.")
        longest = reduce(arb.max, (_norm(row) for row in balls.tolist()))
        unit = rational_above(longest, _BITS) or fmpq(1)
        half, grid = fmpq(1, 2), 2**GRID / unit
        rows = [[(midpoint(x) * grid + half).floor() for x in row] for row in balls.tolist()]
        own = tuple(classes.index(label) for label in listed)
        demands = Demands(fmpz_mat(rows), own, len(classes))
        lower, upper = fmpq(0), rational_above(arb(2).sqrt(), _BITS)
        found = _found(demands)
        if found is None:
            return MarginInterval(lower, upper)
        W, dual = found
        scale = 1 / longest if longest > 0 else arb(0)
        if W is not None:
            lower = max(lower, rational_below(_below(balls, demands, W) * scale, _BITS))
        upper = min(upper, rational_above(_above(balls, demands, dual) * scale, _BITS))
    return MarginInterval(lower, upper)


def _found(demands: Demands) -> tuple[fmpz_mat | None, dict[Demand, fmpz]] | None:
    """Weights, unless the middles conflict, and multipliers; without the solver if it gives up."""
    try:
        return decide(demands)
    except Undecided:
        exact = nearest(demands, {(0, (demands.labels[0] + 1) % demands.V): fmpq(1)})
    if exact is None:
        return None
    dual, point = exact
    return (point if squared(point) else None), dual


def _norm(row: Sequence[arb]) -> arb:
    square: arb = sum((x * x for x in row), arb(0))
    return square.nonnegative_part().sqrt()


def _below(balls: arb_mat, demands: Demands, W: fmpz_mat) -> arb:
    """The least gap of the weights, over their norm."""
    scores = (balls * arb_mat(W.transpose())).tolist()
    gaps = [
        row[y] - x
        for row, y in zip(scores, demands.labels, strict=True)
        for v, x in enumerate(row)
        if v != y
    ]
    return reduce(arb.min, gaps) / _norm(arb_mat(W).entries())


def _above(balls: arb_mat, demands: Demands, dual: dict[Demand, fmpz]) -> arb:
    """The length of the point that the multipliers make, of sum one."""
    signs = [[fmpz(0)] * demands.T for _ in range(demands.V)]
    for (t, v), weight in dual.items():
        signs[demands.labels[t]][t] += weight
        signs[v][t] -= weight
    total = sum(dual.values(), fmpz(0))
    return _norm((arb_mat(fmpq_mat(fmpz_mat(signs)) / fmpq(total)) * balls).entries())
