r"""Does a linear readout of these features hold these facts? Decided exactly, either way."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from flint import arb, arb_mat, ctx, fmpq, fmpq_mat, fmpz, fmpz_mat

from lemmax.constructions.readouts.conflicts import Conflict, part, without_any
from lemmax.constructions.readouts.deciding import decide
from lemmax.constructions.readouts.demands import Demand, Demands, squared
from lemmax.constructions.readouts.margin import Margin
from lemmax.theory.certificates import writing as certificates
from lemmax.theory.certificates.writing import Certificate
from lemmax.theory.errors import LemmaxError, NotExact, ShapeError, Undecided
from lemmax.theory.latex import Typeset, latex_number
from lemmax.theory.numbers.balls import midpoint
from lemmax.theory.numbers.matrices import Matrix, MatrixLike
from lemmax.theory.shown import counted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SHRINK = 40
"""Facts of a conflict up to which each is left out in turn, exactly, if floats cannot tell."""
_BITS = 40


@dataclass(frozen=True)
class Readout(Typeset):
    """What :func:`readout` decides: weights and their margin, or a conflict.

    ``read`` says what the features were: exact numbers, floats, which are read as the rationals
    that their bits spell, or balls. Row v of the weights belongs to ``classes[v]``.

    >>> print(readout([[1], [1]], "ab"))
    No linear readout of these features holds these 2 facts together, and without any one of them
    a readout exists: fact 0 is 'a'; fact 1 is 'b'.
    """

    features: Matrix
    labels: tuple[Hashable, ...]
    weights: Matrix | None
    margin: Margin | None
    conflict: Conflict | None
    read: Literal["exact", "floats", "balls"]
    classes: tuple[Hashable, ...]
    dual: dict[Demand, fmpz] = field(default_factory=dict, repr=False)

    @property
    def holds(self) -> bool:
        """Whether a linear readout holds all facts."""
        return self.weights is not None

    def __repr__(self) -> str:
        how = {
            "exact": "",
            "floats": " The features are floats, read as the rationals that their bits spell.",
            "balls": " The features are balls, and the weights hold for every point of them.",
        }[self.read]
        if self.conflict is not None:
            return f"{self.conflict}{how}"
        facts = counted(len(self.labels), "fact")
        return f"A linear readout holds {facts} with margin {self.margin}.{how}"

    def formula(self) -> str:
        r"""The weights, or the demands that cancel."""
        if self.weights is not None:
            return rf"W = {self.weights.formula()}"
        assert self.conflict is not None
        place = {name: i for i, name in enumerate(self.classes)}
        terms = [
            rf"{latex_number(fmpq(weight))}\,(e_{{{place[self.labels[t]]}}} - e_{{{v}}})"
            rf" \otimes z_{{{t}}}"
            for (t, v), weight in list(self.conflict.weights.items())[:12]
        ]
        dots = r" + \cdots" if len(self.conflict.weights) > 12 else ""
        return " + ".join(terms) + dots + " = 0"

    def to_sympy(self) -> Any:
        """The weights (labels × features) for sympy; of a conflict its λ (facts × labels)."""
        if self.weights is not None:
            return self.weights.to_sympy()
        assert self.conflict is not None
        from sympy import SparseMatrix

        return SparseMatrix(len(self.labels), len(self.classes), self.conflict.weights)

    def to_numpy(self) -> NDArray[np.float64]:
        """The weights (labels × features) as float64."""
        if self.weights is None:
            raise LemmaxError("There is no readout: the facts conflict.")
        return self.weights.to_numpy()

    def certificate(self) -> Certificate:
        """A ``readout`` certificate of either side; weights are written as integers."""
        if self.read == "balls":
            raise LemmaxError(
                "Features known as balls have no readout certificate: put the weights into the "
                "layer and certify what it memorizes."
            )
        place = {name: i for i, name in enumerate(self.classes)}
        fields: dict[str, Any] = {
            "features": certificates.matrix(self.features),
            "labels": [place[label] for label in self.labels],
            "classes": len(self.classes),
        }
        if self.conflict is not None:
            return certificates.certificate(
                "readout",
                {
                    **fields,
                    "assertion": {
                        "type": "conflict",
                        "demands": _listed({d: fmpz(x) for d, x in self.conflict.weights.items()}),
                    },
                },
            )
        assert self.weights is not None
        assert self.margin is not None
        ratio = self.margin.upper_squared / self.margin.lower_squared
        ratio = fmpq((ratio * 2**_BITS).ceil(), 2**_BITS)
        assertion = {
            "type": "widest",
            "weights": certificates.matrix(self.weights.flint.numer_denom()[0]),
            "demands": _listed(self.dual),
            "ratio": certificates.number(ratio),
        }
        return certificates.certificate("readout", {**fields, "assertion": assertion})


def _listed(weights: dict[Demand, fmpz]) -> list[list[Any]]:
    return [[t, v, certificates.number(x)] for (t, v), x in sorted(weights.items())]


def readout(
    features: MatrixLike | arb_mat,
    labels: Sequence[Hashable],
    *,
    bias: bool = False,
    names: Sequence[object] | None = None,
    rivals: Sequence[Hashable] = (),
    widest: bool = True,
    shrink: bool = True,
    start: MatrixLike | None = None,
) -> Readout:
    r"""The readout of widest margin that holds all facts, or a few facts that none holds together.

    A readout W (labels × features) holds fact t if its label \(y_t\) has strictly the largest
    \(\langle W_v, z_t\rangle\). Such a W exists, or else there are \(\lambda_{tv} \ge 0\), not all
    zero, with \(\sum \lambda_{tv}(e_{y_t} - e_v) \otimes z_t = 0\) (Gordan 1873). Both are decided
    over the rationals: a solver in floats only guesses where to begin.

    Parameters
    ----------
    features
        One row per fact: exact numbers, a float array, which is read as the rationals that its
        bits spell, or balls, as :func:`layer_features` returns them.
    labels
        One label per fact. Labels that no fact has need no row: where two labels occur, the mean
        of all rows is beaten by each fact's own.
    bias
        Append the constant feature 1.
    names
        What to call the facts in a conflict.
    rivals
        Labels that no fact has, and that are to have rows, and to lose, all the same.
    widest
        Solve for the widest margin exactly; if not, any weights that hold all facts will do, with
        bounds from both sides.
    shrink
        Leave facts out of a conflict until it is irreducible, or it would take more than about a
        minute: then the conflict says that it is not.
    start
        Weights that hold all facts, a row per label and then per rival, where some are known.
        Narrow margins are looked for from there.

    Returns
    -------
    Readout
        ``.holds``; ``.weights``, a row per entry of ``.classes``, with least gap one; ``.margin``,
        its width in the Frobenius norm and that of the widest; or ``.conflict``.

    Raises
    ------
    LemmaxError
        No facts, one label only, features of different lengths, NaN, labels that have no hash.
    Undecided
        The solver gave up; a conflict of balls, which no rounding decides; or an instance whose
        exact solution is too large.

    Notes
    -----
    Cost: one or a few convex programs by cvxpy, then Wolfe's algorithm over Q from there: one
    linear system as large as the active set if the guess is right. Above 160 active demands the
    margin is not solved for: weights and multipliers are rounded, and two bounds are exact.

    Examples
    --------
    >>> held = readout([[2, 0], [0, 1], [-1, -1]], "abb")
    >>> held.holds, held.weights
    (True, Matrix([['1', '-1/2'], ['-1', '1/2']]))
    >>> held.margin
    0.632455532 in the Frobenius norm, the widest
    >>> readout([[1, 0, 1], [1, 1, 0], [0, 0, 1], [0, 1, 0]], "abba").conflict
    No linear readout of these features holds these 4 facts together, and without any one of them
    a readout exists: fact 0 is 'a'; fact 1 is 'b'; fact 2 is 'b'; fact 3 is 'a'.
    """
    listed = _listed_labels(labels)
    rows, read = _rationals(features, bias)
    T = rows.shape[0]
    if len(listed) != T:
        raise ShapeError(f"There are {T} rows of features for {len(listed)} labels.")
    if names is not None and len(names) != T:
        raise ShapeError(f"There are {T} rows of features for {len(names)} names.")
    classes = tuple(dict.fromkeys((*listed, *rivals)))
    if len(classes) < 2:
        raise LemmaxError(f"All facts have the label {listed[0]!r}: there is nothing to tell.")
    place = {label: i for i, label in enumerate(classes)}
    numerators, denominator = rows.flint.numer_denom()
    demands = Demands(numerators, tuple(place[label] for label in listed), len(classes))
    called = [f"fact {t}" if names is None else str(names[t]) for t in range(T)]

    begin = None if start is None else Matrix(start, floats=True).to_numpy()
    if begin is not None and begin.shape != (len(classes), rows.shape[1]):
        raise ShapeError(
            f"The weights to start at are {len(classes)} × {rows.shape[1]}, not "
            f"{begin.shape[0]} × {begin.shape[1]}."
        )
    weights, dual = decide(demands, widest, begin, shrink)
    if weights is None:
        if read == "balls":
            raise Undecided(
                "The middles of the balls conflict, which says nothing of the features "
                "themselves: a conflict needs exact features."
            )
        facts, dual, irreducible = _shrunk(demands, dual, shrink)
        said = tuple(f"{called[t]} is {listed[t]!r}" for t in facts)
        conflict = Conflict(facts, {d: int(x) for d, x in dual.items()}, said, irreducible)
        return Readout(rows, tuple(listed), None, None, conflict, read, classes)
    _, gap = demands.least(weights)
    W = Matrix(fmpq_mat(weights) * fmpq(denominator, gap))
    scale = fmpq(1, denominator * denominator)
    lower = fmpq(gap * gap, squared(weights)) * scale
    total = sum(dual.values(), fmpz(0))
    upper = fmpq(squared(demands.total(dual)), total * total) * scale
    if read == "balls":
        margin = margin_of(with_constant(features, bias), demands, W, dual)
    else:
        margin = Margin(lower, upper)
    return Readout(rows, tuple(listed), W, margin, None, read, classes, dual)


def _rationals(
    features: MatrixLike | arb_mat, bias: bool
) -> tuple[Matrix, Literal["exact", "floats", "balls"]]:
    """The features over Q, and how they were read."""
    if isinstance(features, arb_mat):
        balls = with_constant(features, bias)
        if not all(x.is_finite() for x in balls.entries()):
            raise NotExact("A feature is a ball without a finite radius.")
        return Matrix([[midpoint(x) for x in row] for row in balls.tolist()]), "balls"
    if not isinstance(features, (Matrix, fmpz_mat, fmpq_mat)):
        if not hasattr(features, "__len__"):
            kind = type(features).__name__
            raise LemmaxError(f"Features are a matrix, a row per fact, not {kind}.")
        if not len(features):
            raise LemmaxError("There are no facts.")
    kind = getattr(getattr(features, "dtype", None), "kind", "O")
    floats = kind == "f" or "float" in str(getattr(features, "dtype", ""))
    rows = features if isinstance(features, Matrix) else Matrix(features, floats=floats)
    if bias:
        rows = Matrix([[*row, fmpq(1)] for row in rows.flint.tolist()])
    return rows, "floats" if floats else "exact"


def with_constant(balls: Any, bias: bool) -> arb_mat:
    return arb_mat([[*row, arb(1)] for row in balls.tolist()]) if bias else balls


def _listed_labels(labels: Any) -> list[Hashable]:
    try:
        listed = list(labels)
    except TypeError:
        raise LemmaxError(
            f"Labels are a list, one per fact, not {type(labels).__name__}."
        ) from None
    for label in listed:
        try:
            hash(label)
        except TypeError:
            raise LemmaxError(
                f"A label must be hashable, as {label!r} is not: take a tuple."
            ) from None
    return listed


def _shrunk(
    demands: Demands, dual: dict[Demand, fmpz], shrink: bool
) -> tuple[tuple[int, ...], dict[Demand, fmpz], bool]:
    """A conflict from which no fact can be left out, where that can be confirmed."""
    facts = sorted({t for t, _ in dual})
    if not shrink or without_any(demands, facts):
        return tuple(facts), dual, shrink
    if len(facts) > _SHRINK:
        return tuple(facts), dual, False
    kept: list[int] = []
    while len(kept) < len(facts):
        out = next(t for t in facts if t not in kept)
        rest = [t for t in facts if t != out]
        if rest:
            weights, smaller = decide(part(demands, rest), widest=False)
            if weights is None:
                dual = {(rest[t], v): x for (t, v), x in smaller.items()}
                facts = sorted({t for t, _ in dual})
                continue
        kept.append(out)
    return tuple(facts), dual, True


def margin_of(
    features: Matrix | arb_mat, demands: Demands, W: Matrix, dual: dict[Demand, fmpz]
) -> Margin:
    """The margin of W, and what no readout exceeds, for all points of the balls.

    Undecided where a gap meets zero.
    """
    with ctx.workprec(256):
        balls = features if isinstance(features, arb_mat) else arb_mat(features.flint)
        scores = (balls * arb_mat(W.T.flint)).tolist()
        gaps = [
            row[y] - x
            for row, y in zip(scores, demands.labels, strict=True)
            for v, x in enumerate(row)
            if v != y
        ]
        if not all(gap > 0 for gap in gaps):
            raise Undecided("A gap of the readout cannot be told from zero: take narrower balls.")
        lower = min(gap.lower() for gap in gaps) ** 2 / arb(sum(x * x for x in W.flint.entries()))
        signs = [[fmpz(0)] * demands.T for _ in range(demands.V)]
        for (t, v), weight in dual.items():
            signs[demands.labels[t]][t] += weight
            signs[v][t] -= weight
        point = arb_mat(fmpz_mat(signs)) * balls / arb(sum(dual.values(), fmpz(0)))
        upper = sum((x * x for x in point.entries()), arb(0))
        return Margin(midpoint(arb(lower.lower())), midpoint(arb(upper.upper())))
