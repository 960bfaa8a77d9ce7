r"""An interval for the divergence of the best sequence encoder: searched above, proved below."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from lemmax.constructions.dana.encoders import dyadic, kl_certificate
from lemmax.theory.certificates.writing import Certificate
from lemmax.theory.dana.encoder_bounds import BlockBound, block_bound
from lemmax.theory.dana.encoders import SequenceEncoder, Table
from lemmax.theory.errors import LemmaxError
from lemmax.theory.latex import Typeset
from lemmax.theory.numbers.balls import rational_above
from lemmax.theory.numbers.matrices import Matrix, MatrixLike
from lemmax.theory.sympified import symbolic_number


@dataclass(frozen=True)
class EncoderInterval(Typeset):
    """lower ≤ d_KL(π, L(N, S, d)) ≤ upper, both proved; ``encoder`` attains the upper end."""

    table: Table
    d: int
    lower: fmpq
    upper: fmpq
    encoder: SequenceEncoder
    blocks: tuple[BlockBound, ...]

    @property
    def gap(self) -> fmpq:
        """How far the two ends are apart; for more than d + 2 tokens it need not be small."""
        return self.upper - self.lower

    def certificate(self) -> Certificate:
        """A ``kl-interval`` certificate."""
        return kl_certificate(self.table, self.encoder, self.upper, self.blocks)

    def formula(self) -> str:
        """The interval as inequalities, outwards to four decimals."""
        low = int((self.lower * 10**4).floor()) / 10**4
        high = int((self.upper * 10**4).ceil()) / 10**4
        return rf"{low:.4f} \le d_{{KL}}(\pi, \mathcal{{L}}(N, S, {self.d})) \le {high:.4f}"

    def to_sympy(self) -> dict[str, Any]:
        """W, E and both ends of the interval, for sympy."""
        ends = {"lower": symbolic_number(self.lower), "upper": symbolic_number(self.upper)}
        return {**self.encoder.to_sympy(), **ends}

    def to_numpy(self) -> dict[str, NDArray[np.float64]]:
        """W and E as floats."""
        return self.encoder.to_numpy()


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
    fixed E so is W) by scipy, rounded to dyadic weights whose divergence is enclosed in balls: the
    search decides nothing. *Below*: the maximum-entropy dual with branch and bound over blocks of
    d + 2 tokens (:mod:`lemmax.theory.dana.encoder_bounds`). How far the ends are apart, ``.gap``:

    - d ≥ N - 1: the infimum is 0 (Proposition 2), and the upper end is what the search reached;
    - d = N - 2: at most ``tolerance``, if the leaves suffice; for N = 3 about a hundred give 10⁻⁵;
    - d < N - 2: the lower end is honest but loose, since W need not have one direction c in common
      for all blocks; :func:`~lemmax.constructions.dana.fixed_factor.best_codes` closes both ends
      for a given W, for any N and d.

    Cost: ``starts`` descents above, at most ``leaves`` boxes with one convex problem each below.

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
            by_rows = minimize(
                lambda x, W=W: (lambda v: (v[0], v[2].ravel()))(loss(W, x.reshape(T, d))),
                E.ravel(),
                jac=True,
                method="L-BFGS-B",
                options=options,
            )
            E = by_rows.x.reshape(T, d)
            by_tokens = minimize(
                lambda x, E=E: (lambda v: (v[0], v[1].ravel()))(loss(x.reshape(N, d), E)),
                W.ravel(),
                jac=True,
                method="L-BFGS-B",
                options=options,
            )
            W = by_tokens.x.reshape(N, d)

        def both(x: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            value, dW, dE = loss(x[: N * d].reshape(N, d), x[N * d :].reshape(T, d))
            return value, np.concatenate([dW.ravel(), dE.ravel()])

        end = minimize(
            both,
            np.concatenate([W.ravel(), E.ravel()]),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": 500, "ftol": 1e-14, "gtol": 1e-10},
        )
        return float(end.fun), end.x[: N * d].reshape(N, d), end.x[N * d :].reshape(T, d)

    runs = [
        run(generator.normal(size=(N, d)), 0.1 * generator.normal(size=(T, d)))
        for _ in range(starts)
    ]
    _, W, E = min(runs, key=lambda r: r[0])
    exact = [Matrix([[dyadic(x) for x in row] for row in M.tolist()]) for M in (W, E)]
    return SequenceEncoder(exact[0], exact[1])
