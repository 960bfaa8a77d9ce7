r"""Labels into multi-head weights: a linear solve, frozen to dyadic numbers, its error certified.

Once Z has full row rank, Z w = y is solvable for every label vector y. The solution is computed in
ball arithmetic, rounded to dyadic rationals, and the outputs of the rounded weights are enclosed
again: the error bound is about the weights that are returned, not about the ones that were meant.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flint import arb, arb_mat, ctx, fmpq, fmpz

from lemmax.theory.certificates.writing import Certificate
from lemmax.theory.errors import LemmaxError, ShapeError
from lemmax.theory.latex import Typeset
from lemmax.theory.mahdavi.contexts import group_contexts
from lemmax.theory.mahdavi.layer import ContextHead, MultiHead
from lemmax.theory.mahdavi.ranks import features_modulo
from lemmax.theory.numbers.balls import midpoint, precisions
from lemmax.theory.numbers.matrices import Matrix, MatrixLike, rational
from lemmax.theory.numbers.rank import pivots_modulo

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MAX_PRECISION = 1 << 15
_TRIES = 8


@dataclass(frozen=True)
class ContextMemory(Typeset):
    """A layer whose outputs are within ``error`` of the labels, for every example.

    For classes the labels are one-hot rows; the output of the true class then exceeds every
    other by at least ``margin`` = 1 - 2 · error.

    >>> memory = memorize([[1, 0], [0, 1]], [[1, 0], [0, 1]], [3, -1], H=1)
    >>> memory.certificate()["kind"]
    'multi-head'
    """

    layer: MultiHead
    labels: Matrix
    error: fmpq
    classes: tuple[Any, ...] | None

    @property
    def margin(self) -> fmpq | None:
        """A lower bound for the gap between the true class and the others; None for numbers."""
        return 1 - 2 * self.error if self.classes is not None else None

    def recall(self, t: int) -> Any:
        """The class that the layer gives example t, or its output as a ball."""
        row = [self.layer.outputs(256)[t, k] for k in range(self.labels.shape[1])]
        if self.classes is None:
            return row[0] if len(row) == 1 else row
        return self.classes[max(range(len(row)), key=lambda k: float(row[k].mid()))]

    def certificate(self) -> Certificate:
        """A ``multi-head`` certificate: every output is within the error of its label."""
        return self.layer.output_certificate(self.labels, self.error)

    def formula(self) -> str:
        """The weights."""
        return self.layer.formula()

    def to_sympy(self) -> dict[str, Any]:
        """Contexts, queries and weights for sympy."""
        return self.layer.to_sympy()

    def to_numpy(self) -> dict[str, NDArray[np.float64]]:
        """Contexts, queries and weights as float64."""
        return self.layer.to_numpy()


def memorize(
    contexts: Any,
    queries: MatrixLike,
    labels: Sequence[Any],
    H: int,
    d_h: int = 1,
    *,
    classes: bool = False,
    error: Any = "1/1048576",
    heads: Sequence[ContextHead] | None = None,
    seed: int = 0,
) -> ContextMemory:
    """A layer with H heads of dimension d_h that gives every example its label.

    Parameters
    ----------
    contexts, queries
        As for :func:`~lemmax.theory.mahdavi.layer.multi_head`.
    labels
        One exact number per example (or a row of them), or a class per example.
    classes
        Read the labels as names of classes: the output of the right class is largest, with a
        certified margin.
    error
        How far an output may be from its label.
    heads
        Query and key weights to use; small random dyadic ones otherwise.

    Raises
    ------
    LemmaxError
        Labels of the wrong length, or Z has rank below the number of examples for these weights.

    Notes
    -----
    Cost: the exact rank of Z, and one solution of a T × T linear system in balls, whose precision
    is doubled until the error is proved.

    Examples
    --------
    >>> E = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]
    >>> queries = [[1, 2, 0, 1], [0, 1, 3, 1], [2, 2, 1, 0], [1, 0, 0, 3], [0, 4, 1, 1]]
    >>> memory = memorize(E, queries, [3, -1, 4, 1, 5], H=2)
    >>> abs(memory.recall(2) - 4) < 2**-20
    True
    >>> memorize(E, queries, "abcab", H=2, classes=True).recall(2)
    'c'
    """
    query_matrix = queries if isinstance(queries, Matrix) else Matrix(queries)
    T = query_matrix.shape[0]
    if len(labels) != T:
        raise ShapeError(f"There are {len(labels)} labels for {T} queries.")
    names: tuple[Any, ...] | None = None
    if classes:
        names = tuple(dict.fromkeys(labels))
        targets = Matrix([[int(label == name) for name in names] for label in labels])
    else:
        targets = Matrix(
            [list(y) if isinstance(y, (list, tuple)) else [rational(y)] for y in labels]
        )
    tolerance = rational(error)
    if tolerance <= 0 or (classes and tolerance >= fmpq(1, 2)):
        raise LemmaxError("The error must be positive, and below 1/2 for classes.")
    kept, context_of = group_contexts(contexts, T)
    layer = _full_rank_layer(kept, context_of, query_matrix, H, d_h, heads, seed)
    solved = _solve(layer, targets, tolerance)
    return ContextMemory(solved, targets, tolerance, names)


def _full_rank_layer(
    contexts: tuple[Matrix, ...],
    context_of: tuple[int, ...],
    queries: Matrix,
    H: int,
    d_h: int,
    heads: Sequence[ContextHead] | None,
    seed: int,
) -> MultiHead:
    generator = random.Random(seed)
    T, d, d_q = len(context_of), contexts[0].shape[1], queries.shape[1]
    best = None
    for _ in range(1 if heads is not None else _TRIES):
        used = heads or [
            ContextHead(_small(d, d_h, generator), _small(d_q, d_h, generator)) for _ in range(H)
        ]
        layer = MultiHead(contexts, context_of, queries, tuple(used))
        best = layer.feature_rank()
        if best.lower == T:
            return layer
    assert best is not None
    raise LemmaxError(
        f"Z has rank {best.lower} for {T} examples (no weights give more than {best.upper}): "
        "not all labels can be fitted by these heads."
    )


def _small(rows: int, columns: int, generator: random.Random) -> Matrix:
    """Multiples of 1/8 up to 1: logits of moderate size, so that Z is well conditioned."""
    entries = [[fmpq(generator.randint(-8, 8), 8) for _ in range(columns)] for _ in range(rows)]
    return Matrix(entries)


def _solve(layer: MultiHead, targets: Matrix, error: fmpq) -> MultiHead:
    """Dyadic values W_V (and W_O the identity) whose outputs are within the error."""
    rank = layer.feature_rank()
    modular = features_modulo(layer, rank.prime, rank.point)
    assert modular is not None, "the point was tried before"
    _, columns = pivots_modulo(modular)
    outputs = targets.shape[1]
    for precision in precisions(128, _MAX_PRECISION):
        with ctx.workprec(precision):
            Z = layer.features(precision)
            square = arb_mat([[Z[t, j] for j in columns] for t in range(layer.T)])
            try:
                solution = square.solve(arb_mat(targets.flint))
            except ZeroDivisionError:  # not yet enough bits to see that it is invertible
                continue
            values = [[fmpq(0)] * outputs for _ in range(layer.H * layer.d)]
            for i, j in enumerate(columns):
                values[j] = [_dyadic(solution[i, k], precision) for k in range(outputs)]
        made = _with_values(layer, values, outputs)
        reached = made.outputs(2 * precision)
        with ctx.workprec(2 * precision):
            gap = reached - arb_mat(targets.flint)
            if all(abs(x) < arb(error) for x in gap.entries()):
                return made
    raise LemmaxError(
        f"Z is so ill conditioned that {_MAX_PRECISION} bits do not reach the error; "
        "use larger heads or smaller queries."
    )


def _dyadic(value: arb, precision: int) -> fmpq:
    if not value.is_finite():
        return fmpq(0)
    grid = fmpz(2) ** precision  # multiples of 2^-precision are plenty
    return fmpq((midpoint(value) * grid).floor(), grid)


def _with_values(layer: MultiHead, values: list[list[fmpq]], outputs: int) -> MultiHead:
    identity = Matrix.identity(outputs)
    heads = tuple(
        ContextHead(head.W_K, head.W_Q, Matrix(values[h * layer.d : (h + 1) * layer.d]), identity)
        for h, head in enumerate(layer.heads)
    )
    return MultiHead(layer.contexts, layer.context_of, layer.queries, heads, layer.scale)
