r"""Sequence encoders with certified divergence, and an interval for the best one.

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
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from flint import arb, fmpq, fmpq_mat, fmpq_poly
from numpy.typing import NDArray

from lemmax.theory.certificates import writing as certificates
from lemmax.theory.certificates.writing import Certificate
from lemmax.theory.dana.encoder_bounds import BlockBound, block_bound
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

    def to_numpy(self) -> dict[str, NDArray[np.float64]]:
        """W and E as floats."""
        return self.encoder.to_numpy()


@dataclass(frozen=True)
class EncoderInterval(Typeset):
    """lower ≤ d_KL(π, L(N, S, d)) ≤ upper, both proved; ``encoder`` attains the upper end."""

    table: Table
    d: int
    lower: fmpq
    upper: fmpq
    encoder: SequenceEncoder
    blocks: tuple[BlockBound, ...]

    def certificate(self) -> Certificate:
        """A ``kl-interval`` certificate."""
        return kl_certificate(self.table, self.encoder, self.upper, self.blocks)

    def formula(self) -> str:
        """The interval as inequalities, outwards to four decimals."""
        low = int((self.lower * 10**4).floor()) / 10**4
        high = int((self.upper * 10**4).ceil()) / 10**4
        return rf"{low:.4f} \le d_{{KL}}(\pi, \mathcal{{L}}(N, S, {self.d})) \le {high:.4f}"

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


def _dyadic(x: float) -> fmpq:
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
        logs = [_dyadic(math.log(float(row[j].p) / float(row[j].q))) for j in support]
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


def random_signs(N: int, d: int, seed: int = 0) -> NDArray[np.int64]:
    """N rows of d independent signs."""
    source = random.Random(seed)
    return np.array([[source.choice((-1, 1)) for _ in range(d)] for _ in range(N)], dtype=np.int64)


def derandomised_signs(N: int, d: int) -> NDArray[np.int64]:
    """N rows of d signs with |inner product| ≤ 2√(d log N), found without luck.

    Row by row, each sign keeps Σ_j cosh(θ s_j), the conditional expectation of a bound for the
    number of violated pairs, from growing, s_j being the inner product with row j so far and
    θ = 2√(log N/d). The arithmetic of the choice is floating point; whoever uses the rows checks
    their inner products, which are integers.

    >>> rows = derandomised_signs(40, 32)
    >>> certified_coherence(rows) ** 2 * 32 < fmpq(147, 10)  # 4 log 40 = 14.75...
    True
    """
    theta = 2 * math.sqrt(math.log(max(N, 2)) / d)
    rows = np.empty((N, d), dtype=np.int64)
    for i in range(N):
        sums = np.zeros(i)
        for k in range(d):
            column = rows[:i, k]
            plus, minus = (
                np.cosh(theta * (sums + column)).sum(),
                np.cosh(theta * (sums - column)).sum(),
            )
            # ties are broken by a fixed pattern: rows must not all be alike
            tie = 1 if (i >> (k % 10)) & 1 else -1
            rows[i, k] = 1 if plus < minus else -1 if minus < plus else tie
            sums += rows[i, k] * column
    return rows


def _signs(table: Table, g: list[int], signs: NDArray[np.int64], scale: fmpq) -> SequenceEncoder:
    d = signs.shape[1]
    inner = (signs @ signs.T).astype(np.float64) / d
    rows = []
    for row, target in zip(table.lists, g, strict=True):
        p = np.array([float(x.p) / float(x.q) for x in row])
        h = float(-(p[p > 0] * np.log(p[p > 0])).sum())
        gaps = 1 - inner[target]
        factor = (
            scale if h == 0 else _dyadic(_solve_scale(gaps, h, float(scale.p) / float(scale.q)))
        )
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


def certified_coherence(signs: NDArray[np.int64]) -> fmpq:
    """max |W_i·W_j| for i ≠ j and W = signs/√d, exactly: integer inner products over d."""
    N, d = signs.shape
    gram = signs @ signs.T  # entries are at most d in absolute value: no overflow
    return fmpq(int(abs(gram - d * np.eye(N, dtype=np.int64)).max()), d)


def best_encoder(
    pi: Table | MatrixLike,
    d: int,
    *,
    tolerance: float = 1e-3,
    leaves: int = 2000,
    seed: int = 0,
    starts: int = 4,
) -> EncoderInterval:
    """A proved interval for the infimum of d_KL(π, f) over all encoders of dimension d.

    *Above*: alternating convex optimisation (for fixed W every E_t is a convex problem, and for
    fixed E so is W), rounded to dyadic weights whose divergence is enclosed in balls. *Below*: the
    maximum-entropy dual with branch and bound over blocks of d + 2 tokens
    (:mod:`lemmax.theory.dana.encoder_bounds`). The two ends meet up to ``tolerance`` where
    N = d + 2; for larger N the lower end is honest but loose. Cost: ``starts`` descents above,
    at most ``leaves`` boxes with one convex problem each below.

    Examples
    --------
    >>> table = Table([["4/5", "1/10", "1/10"], ["1/10", "4/5", "1/10"], ["1/10", "1/10", "4/5"]])
    >>> interval = best_encoder(table, 1)
    >>> fmpq(1835, 10000) < interval.lower < interval.upper < fmpq(1856, 10000)
    True
    """
    table = pi if isinstance(pi, Table) else Table(pi)
    if d < 1:
        raise LemmaxError("The dimension of an encoder is at least 1.")
    encoder = _optimise(table, d, seed, starts)
    divergence = encoder.divergence(table)
    upper = rational_above(divergence)
    goal = float(upper.p) / float(upper.q) - tolerance
    blocks: tuple[BlockBound, ...] = ()
    if d <= table.N - 2 and goal > 0:
        blocks = _best_blocks(table, d, goal, leaves, seed)
    lower = max(sum((block.value for block in blocks), fmpq(0)), fmpq(0))
    return EncoderInterval(table, d, lower, upper, encoder, blocks)


def _best_blocks(
    table: Table, d: int, goal: float, leaves: int, seed: int
) -> tuple[BlockBound, ...]:
    """Disjoint blocks of d + 2 tokens; a few partitions are tried with a small budget."""
    tokens = list(range(table.N))
    count = table.N // (d + 2)
    source = random.Random(seed)
    partitions = []
    for attempt in range(1 if d + 2 == table.N else 6):
        order = tokens if attempt == 0 else source.sample(tokens, len(tokens))
        partitions.append([sorted(order[k * (d + 2) : (k + 1) * (d + 2)]) for k in range(count)])

    def bounds(partition: list[list[int]], budget: int) -> tuple[BlockBound, ...]:
        return tuple(block_bound(table, block, goal, budget) for block in partition)

    if len(partitions) == 1:
        return bounds(partitions[0], leaves)
    trial = min(leaves, 24 * 2**d)
    best = max(partitions, key=lambda p: sum((b.value for b in bounds(p, trial)), fmpq(0)))
    return bounds(best, min(leaves, 4 * trial))


def _optimise(table: Table, d: int, seed: int, starts: int) -> SequenceEncoder:
    """The best of several runs of alternating minimisation, rounded to dyadic weights."""
    from scipy.optimize import minimize

    prior, rows = table.to_numpy()
    T, N = rows.shape
    generator = np.random.default_rng(seed)

    def loss(W: NDArray[np.float64], E: NDArray[np.float64]) -> tuple[float, Any, Any]:
        z = E @ W.T
        top = z.max(axis=1, keepdims=True)
        weights = np.exp(z - top)
        total = weights.sum(axis=1, keepdims=True)
        value = float((prior * (np.log(total[:, 0]) + top[:, 0] - (rows * z).sum(axis=1))).sum())
        slope = prior[:, None] * (weights / total - rows)
        return value, slope.T @ E, slope @ W

    def run(W: NDArray[np.float64], E: NDArray[np.float64]) -> tuple[float, Any, Any]:
        for _ in range(3):
            options = {"maxiter": 200}
            found = minimize(
                lambda x, W=W: (lambda v: (v[0], v[2].ravel()))(loss(W, x.reshape(T, d))),
                E.ravel(),
                jac=True,
                method="L-BFGS-B",
                options=options,
            )
            E = found.x.reshape(T, d)
            found = minimize(
                lambda x, E=E: (lambda v: (v[0], v[1].ravel()))(loss(x.reshape(N, d), E)),
                W.ravel(),
                jac=True,
                method="L-BFGS-B",
                options=options,
            )
            W = found.x.reshape(N, d)

        def both(x: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            value, dW, dE = loss(x[: N * d].reshape(N, d), x[N * d :].reshape(T, d))
            return value, np.concatenate([dW.ravel(), dE.ravel()])

        found = minimize(
            both,
            np.concatenate([W.ravel(), E.ravel()]),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": 500, "ftol": 1e-14, "gtol": 1e-10},
        )
        return float(found.fun), found.x[: N * d].reshape(N, d), found.x[N * d :].reshape(T, d)

    runs = [
        run(generator.normal(size=(N, d)), 0.1 * generator.normal(size=(T, d)))
        for _ in range(starts)
    ]
    _, W, E = min(runs, key=lambda r: r[0])
    exact = [Matrix([[_dyadic(x) for x in row] for row in M.tolist()]) for M in (W, E)]
    return SequenceEncoder(exact[0], exact[1])
