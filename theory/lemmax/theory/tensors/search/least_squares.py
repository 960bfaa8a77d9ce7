"""Least squares in floats: points at which a sum of terms is near a tensor.

They are hints. A tensor of higher rank can be a limit of tensors of rank R, so a small residual
proves nothing; what is made of it is exact, or it is nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from flint import fmpq
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from lemmax.theory.tensors.decompositions import Decomposition
from lemmax.theory.tensors.search.clock import late

Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]

TOLERANCE = 1e-11
"""A residual below it, relative to the tensor, is a fit."""

LARGE = 60.0
"""Factors beyond it are taken for a sequence that tends to a border."""


@dataclass(frozen=True)
class Sparsity:
    """Penalties on entries that are not zero and on large ones, and how they change.

    There are so many ``rounds``; ε goes from 1/2 to ``last``, and the penalties fade by a factor.
    """

    sparse: float
    small: float
    last: float
    rounds: int
    fading: float = 1.0


@dataclass(frozen=True)
class Problem:
    """The equations Σ a_r⊗b_r⊗c_r = T in the entries of the factors, over the floats.

    A point is one vector: the rows of A (one for each index of the first mode), then those of B
    and of C, each with one entry for every term. The slices T_k of the last mode need to agree
    only up to a span of matrices, given by orthonormal ones in ``ignored``.
    """

    target: Floats
    terms: int
    ignored: Floats | None = None

    @property
    def size(self) -> int:
        """The number of unknowns."""
        return sum(self.target.shape) * self.terms

    def factors(self, point: Floats) -> tuple[Floats, Floats, Floats]:
        """The matrices A, B, C of a point, as views."""
        a, b, _ = self.target.shape
        rows = point.reshape(-1, self.terms)
        return rows[:a], rows[a : a + b], rows[a + b :]

    def residual(self, point: Floats) -> Floats:
        A, B, C = self.factors(point)
        error: Floats = _pairs(A, B).reshape(-1, self.terms) @ C.T
        error -= self.target.reshape(error.shape)
        if self.ignored is not None:
            flat = self.ignored.reshape(len(self.ignored), -1)
            error -= flat.T @ (flat @ error)
        return error.reshape(self.target.shape)

    def gradient(self, point: Floats, residual: Floats) -> Floats:
        """Jᵀ times a residual."""
        A, B, C = self.factors(point)
        a, b, c = residual.shape
        return np.concatenate(
            [
                residual.reshape(a, -1) @ _pairs(B, C).reshape(b * c, -1),
                residual.transpose(1, 0, 2).reshape(b, -1) @ _pairs(A, C).reshape(a * c, -1),
                residual.transpose(2, 0, 1).reshape(c, -1) @ _pairs(A, B).reshape(a * b, -1),
            ]
        ).ravel()

    def gram(self, point: Floats) -> Floats:
        """JᵀJ, from the R × R Gram matrices of the factors: O(R²(a + b + c)²) operations."""
        factors = self.factors(point)
        grams = [X.T @ X for X in factors]
        ends = np.cumsum([0, *(X.size for X in factors)])
        gram = np.empty((self.size, self.size))
        for m, X in enumerate(factors):
            place = slice(ends[m], ends[m + 1])
            own = np.zeros((len(X), self.terms, len(X), self.terms))
            own[range(len(X)), :, range(len(X)), :] = grams[(m + 1) % 3] * grams[(m + 2) % 3]
            gram[place, place] = own.reshape(X.size, X.size)
            for n in range(m + 1, 3):
                Y, other = factors[n], grams[3 - m - n]
                block = X[:, None, None, :] * Y.T[None, :, :, None] * other[None, :, None, :]
                across = slice(ends[n], ends[n + 1])
                gram[place, across] = block.reshape(X.size, Y.size)
                gram[across, place] = gram[place, across].T
        if self.ignored is not None:
            unseen = self._unseen(*factors)
            gram -= unseen.T @ unseen
        return gram

    def _unseen(self, A: Floats, B: Floats, C: Floats) -> Floats:
        """The part of J that is ignored: a row for each ignored matrix and each slice."""
        Q = self.ignored
        assert Q is not None
        QB, QA = Q @ B, np.einsum("wij,ir->wjr", Q, A)
        both = np.einsum("wir,ir->wr", QB, A)
        count, s = len(Q), len(C)
        parts = [(QX[:, None] * C[None, :, None, :]).reshape(count * s, -1) for QX in (QB, QA)]
        last = np.zeros((count, s, s, self.terms))
        last[:, range(s), range(s), :] = both[:, None, :]
        return np.hstack([*parts, last.reshape(count * s, -1)])


def _pairs(X: Floats, Y: Floats) -> Floats:
    return X[:, None, :] * Y[None, :, :]


def floats(vector: Iterable[fmpq]) -> list[float]:
    """The nearest floats.

    >>> floats([fmpq(1, 2), fmpq(-3)])
    [0.5, -3.0]
    """
    return [int(x.p) / int(x.q) for x in vector]


def starts(
    problem: Problem, start: Decomposition | None, tries: int, seed: int
) -> Iterator[tuple[Floats, np.random.Generator]]:
    """Random points, every other one near some terms of a decomposition of the same modes.

    Of those terms the vectors of the first two modes are taken; the third follows from them.
    """
    for attempt in range(tries):
        rng = np.random.default_rng([seed, attempt])
        point = 0.7 * rng.normal(size=problem.size)
        if start is not None and start.terms and attempt % 2:
            count = min(problem.terms, len(start.terms))
            kept = rng.permutation(len(start.terms))[:count]
            for mode, X in enumerate(problem.factors(point)[:2]):
                X *= 0.2
                X[:, :count] += np.array([floats(start.terms[r][mode]) for r in kept]).T
        yield point, rng


def descend(
    problem: Problem,
    point: Floats,
    free: Flags,
    steps: int,
    weight: float | Floats = 0.0,
    deadline: float | None = None,
) -> tuple[Floats, float]:
    """At most so many steps of Levenberg and Marquardt over the free entries of a point.

    Minimises ‖residual‖² + Σ weight·x², one weight or one for each entry; returns the point and
    its relative residual. The damping is proportional to the root of that sum, so that near a
    solution the steps become those of Gauss and Newton, also where solutions are not isolated.
    """
    everything = bool(free.all())
    weight = np.broadcast_to(weight, point.shape)
    scale = float(np.linalg.norm(problem.target))
    residual = problem.residual(point)
    value = float(np.vdot(residual, residual)) + float(np.sum(weight * point**2))
    damping = 1.0
    for _ in range(steps):
        norm = float(np.sqrt(value))
        if norm <= 1e-15 * scale or late(deadline):
            break
        gram = problem.gram(point)
        slope = problem.gradient(point, residual) + weight * point
        if not everything:
            gram, slope = gram[np.ix_(free, free)], slope[free]
        diagonal = gram.diagonal().copy()
        least = 1e-14 * float(diagonal.max(initial=1e-300))
        improved = False
        while damping < 1e12:
            np.fill_diagonal(gram, diagonal + (weight[free] + least + damping * norm))
            try:
                change = -cho_solve(cho_factor(gram, check_finite=False), slope)
            except LinAlgError:
                damping = max(10 * damping, 1e-12)
                continue
            new = point.copy()
            new[free] += change
            new_residual = problem.residual(new)
            new_value = float(np.vdot(new_residual, new_residual)) + float(np.sum(weight * new**2))
            if new_value < value:
                improved = new_value < value * (1 - 1e-9)
                point, residual, value = new, new_residual, new_value
                damping /= 5
                break
            damping *= 5
        if not improved:
            break
    return point, float(np.linalg.norm(residual)) / scale


def converged(
    problem: Problem, point: Floats, deadline: float | None, free: Flags | None = None
) -> Floats | None:
    """A fit reached from a point: first with a penalty on large factors, then without.

    Only the free entries change, by default all.
    """
    if free is None:
        free = np.ones(problem.size, dtype=bool)
    residual = 1.0
    for weight in (1e-1, 1e-2, 1e-3, 1e-4):
        point, residual = descend(problem, point, free, 25, weight, deadline)
    for _ in range(6):
        before = residual
        point, residual = descend(problem, point, free, 40, 0.0, deadline)
        creeps = residual > 0.3 * before  # towards a border, or to no solution at all
        if residual < TOLERANCE or creeps or np.abs(point).max() > LARGE:
            break
    if residual > TOLERANCE or np.abs(point).max() > LARGE:
        return None
    return point


def sparsified(
    problem: Problem, point: Floats, sparsity: Sparsity, deadline: float | None
) -> Floats | None:
    """A fit near a fitted point with more entries near zero.

    Reweighted least squares for the penalty Σ log(x² + ε²), with ε decreasing, and for one on large
    entries, without which the point would creep to a border.
    """
    free = np.ones(problem.size, dtype=bool)
    share = 1.0
    for epsilon in np.geomspace(0.5, sparsity.last, sparsity.rounds):
        weight = share * (sparsity.sparse / (point**2 + epsilon**2) + sparsity.small)
        point, residual = descend(problem, point, free, 4, weight, deadline)
        share *= sparsity.fading
    point, residual = descend(problem, point, free, 30, 0.0, deadline)
    if residual < 1e-6:
        point, residual = descend(problem, point, free, 30, 0.0, deadline)
    return point if residual < TOLERANCE and np.abs(point).max() < LARGE else None
