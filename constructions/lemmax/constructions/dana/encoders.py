r"""Sequence encoders that are written down, with certified divergence.

The kinds of :func:`sequence_encoder`, all with rational weights:

``parabola``
    W_j = (j, j²), E_t = λ(2g, -1): the logits are λ(g² - (j-g)²). One-hot tables, d = 2.
``circle``
    rational points of the unit circle, E_t = λ W_g, as in Proposition 3 of Dana et al. (2024).
``moments``
    W_j = (j, …, j^{2m}) and the polynomial -λ Π_{i∈M} (j-i)² + q(j), where q interpolates log π on
    the support M: tables of support at most m, d = 2m.
``signs``, ``derandomised``
    rows of ±1, E_t = λ_t W_g / d: coherence at most 2√(log N/d). The second chooses each sign by
    conditional expectations, so that no luck is needed; both are checked by exact inner products.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from flint import arb, fmpq, fmpq_mat, fmpq_poly
from numpy.typing import NDArray

from lemmax.constructions.dana.signs import derandomised_signs, random_signs
from lemmax.theory.certificates import writing as certificates
from lemmax.theory.certificates.writing import Certificate
from lemmax.theory.dana.encoder_bounds import BlockBound
from lemmax.theory.dana.encoders import SequenceEncoder, Table
from lemmax.theory.errors import LemmaxError
from lemmax.theory.latex import Typeset
from lemmax.theory.numbers.balls import rational_above
from lemmax.theory.numbers.matrices import Matrix, MatrixLike, rational

if TYPE_CHECKING:
    from collections.abc import Callable

Kind: TypeAlias = Literal["parabola", "circle", "moments", "signs", "derandomised"]

_ROUND = 2**40


@dataclass(frozen=True)
class EncoderConstruction(Typeset):
    """An encoder for a table; ``divergence`` encloses d_KL(π, f)."""

    table: Table
    encoder: SequenceEncoder
    divergence: arb

    def certificate(self) -> Certificate:
        """A ``kl-interval`` certificate whose upper end is the encoder's divergence."""
        return kl_certificate(self.table, self.encoder, rational_above(self.divergence), ())

    def formula(self) -> str:
        """W and E."""
        return self.encoder.formula()

    def to_sympy(self) -> dict[str, Any]:
        """W, E and the divergence itself, for sympy."""
        exact = self.encoder.symbolic_divergence(self.table)
        return {**self.encoder.to_sympy(), "divergence": exact}

    def to_numpy(self) -> dict[str, NDArray[np.float64]]:
        """W and E as floats."""
        return self.encoder.to_numpy()


def kl_certificate(
    table: Table, encoder: SequenceEncoder, upper: fmpq, blocks: Sequence[BlockBound]
) -> Certificate:
    """The interval [Σ of the block bounds, upper] with what proves both ends."""
    lower = max(sum((block.value for block in blocks), fmpq(0)), fmpq(0))
    return certificates.certificate(
        "kl-interval",
        {
            "prior": [certificates.number(p) for p in table.prior],
            "table": certificates.matrix(table.rows),
            "d": encoder.d,
            "upper": {
                "value": certificates.number(upper),
                "W": certificates.matrix(encoder.W),
                "E": certificates.matrix(encoder.E),
            },
            "lower": {
                "value": certificates.number(lower),
                "blocks": [
                    {"tokens": list(block.tokens), "nodes": list(block.nodes)} for block in blocks
                ],
            },
        },
    )


def dyadic(x: float) -> fmpq:
    """A float rounded to a multiple of 2^-40."""
    return fmpq(round(x * _ROUND), _ROUND)


def sequence_encoder(
    pi: Table | MatrixLike,
    kind: Kind = "parabola",
    *,
    d: int | None = None,
    scale: Any = 20,
    targets: Sequence[int] | None = None,
    seed: int = 0,
) -> EncoderConstruction:
    """One of the encoders of the module's first paragraph, with its certified divergence.

    ``pi`` is a table, or its rows (the prior is then uniform). ``scale`` is λ; ``targets`` is the
    look-up table g (by default the likeliest token of each row); ``d`` is the dimension of the sign
    encoders. Cost: T · N exponentials for the divergence.

    Examples
    --------
    >>> one_hot = Table([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    >>> sequence_encoder(one_hot, scale=20).divergence < 1e-8
    True
    >>> pairs = Table([["7/10", "3/10", 0, 0, 0, 0], [0, "7/10", 0, 0, "3/10", 0]])
    >>> encoder = sequence_encoder(pairs, "moments", scale=10)
    >>> encoder.encoder.d, encoder.divergence < 1e-4
    (4, True)
    """
    table = pi if isinstance(pi, Table) else Table(pi)
    g = _likeliest(table) if targets is None else list(targets)
    if len(g) != table.T or any(not 0 <= j < table.N for j in g):
        raise LemmaxError("The look-up table must name one token for each sequence.")
    factor = rational(scale)
    if factor <= 0:
        raise LemmaxError(f"The scale must be positive, not {factor}.")
    makers: dict[str, Callable[[], SequenceEncoder]] = {
        "parabola": lambda: _parabola(table, g, factor),
        "circle": lambda: _circle(table, g, factor),
        "moments": lambda: _moments(table, factor),
        "signs": lambda: _signs(table, g, random_signs(table.N, _size(d), seed), factor),
        "derandomised": lambda: _signs(table, g, derandomised_signs(table.N, _size(d)), factor),
    }
    if kind not in makers:
        raise LemmaxError(f"The kind of an encoder is one of {', '.join(makers)}, not {kind!r}.")
    encoder = makers[kind]()
    return EncoderConstruction(table, encoder, encoder.divergence(table))


def _size(d: int | None) -> int:
    if d is None or d < 1:
        raise LemmaxError("A sign encoder needs its dimension d.")
    return d


def _likeliest(table: Table) -> list[int]:
    return [max(range(table.N), key=row.__getitem__) for row in table.lists]


def _parabola(table: Table, g: list[int], scale: fmpq) -> SequenceEncoder:
    W = Matrix([[j, j * j] for j in range(table.N)])
    return SequenceEncoder(W, Matrix([[2 * scale * j, -scale] for j in g]))


def _circle(table: Table, g: list[int], scale: fmpq) -> SequenceEncoder:
    points = []
    for j in range(table.N):
        # t = tan(angle/2), rounded; every rational t is a rational point
        angle = math.pi * (2 * j / table.N - 1)
        if j == 0:
            points.append([fmpq(-1), fmpq(0)])
            continue
        t = fmpq(round(math.tan(angle / 2) * 1024), 1024)
        points.append([(1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)])
    W = Matrix(points)
    return SequenceEncoder(W, Matrix([[scale * x for x in points[j]] for j in g]))


def _moments(table: Table, scale: fmpq) -> SequenceEncoder:
    m = max(sum(x != 0 for x in row) for row in table.lists)
    W = Matrix([[j**k for k in range(1, 2 * m + 1)] for j in range(table.N)])
    rows = []
    for row in table.lists:
        support = [j for j, x in enumerate(row) if x != 0]
        logs = [dyadic(math.log(float(row[j].p) / float(row[j].q))) for j in support]
        valley = fmpq_poly([1])
        for i in support:
            valley *= fmpq_poly([i * i, -2 * i, 1])
        polynomial = _interpolation(support, logs) - scale * valley
        coefficients = [polynomial[k] for k in range(1, 2 * m + 1)]
        rows.append(coefficients)
    return SequenceEncoder(W, Matrix(fmpq_mat(rows)))


def _interpolation(points: list[int], values: list[fmpq]) -> fmpq_poly:
    """Lagrange's polynomial through the points."""
    total = fmpq_poly()
    for i, value in zip(points, values, strict=True):
        term = fmpq_poly([value])
        for j in points:
            if j != i:
                term *= fmpq_poly([fmpq(-j, i - j), fmpq(1, i - j)])
        total += term
    return total


def _signs(table: Table, g: list[int], signs: NDArray[np.int64], scale: fmpq) -> SequenceEncoder:
    d = signs.shape[1]
    inner = (signs @ signs.T).astype(np.float64) / d
    rows = []
    for row, target in zip(table.lists, g, strict=True):
        p = np.array([float(x.p) / float(x.q) for x in row])
        h = float(-(p[p > 0] * np.log(p[p > 0])).sum())
        gaps = 1 - inner[target]
        factor = scale if h == 0 else dyadic(_solve_scale(gaps, h, float(scale.p) / float(scale.q)))
        rows.append([factor * int(s) / d for s in signs[target]])
    return SequenceEncoder(Matrix(signs), Matrix(fmpq_mat(rows)))


def _solve_scale(gaps: NDArray[np.float64], h: float, most: float) -> float:
    """λ with log Σ_j e^{-λ gap_j} = h, at most ``most``; the left side decreases."""
    low, high = 0.0, most
    for _ in range(60):
        middle = (low + high) / 2
        value = math.log(float(np.exp(-middle * gaps).sum()))
        low, high = (middle, high) if value > h else (low, middle)
    return low
