"""Rational factors near a numerical fit."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat
from scipy.linalg import eigh

from lemmax.theory.rank import pivot_columns
from lemmax.theory.tensors.arrays import Array
from lemmax.theory.tensors.least_squares import (
    LARGE,
    TOLERANCE,
    Flags,
    Floats,
    Problem,
    descend,
    late,
)

_KERNEL = 1e-10  # eigenvalues of JᵀJ below it, relative to the largest, are taken for zero
_SIMPLE = sorted({Fraction(p, q) for p in range(-3, 4) for q in (1, 2, 3, 4)})


def gauged(problem: Problem, point: Floats) -> tuple[Floats, list[int]]:
    """The point with the largest entry of every column of A and B scaled to 1, and their places.

    The terms do not change: C takes the inverse factors.
    """
    point = point.copy()
    A, B, C = problem.factors(point)
    ones: list[int] = []
    for X, first in ((A, 0), (B, len(A))):
        largest = np.abs(X).argmax(axis=0)
        columns = np.arange(problem.terms)
        scales = X[largest, columns].copy()
        C *= scales  # a term that is zero stays so
        X[largest[scales == 0], columns[scales == 0]] = 1.0
        X /= np.where(scales == 0, 1.0, scales)
        ones.extend((first + row) * problem.terms + r for r, row in enumerate(largest.tolist()))
    return point, ones


@dataclass(frozen=True)
class Rounding:
    """The search for rational values of A and B such that a fit with them exists, numerically.

    Solutions come in families, for each term can be scaled and often more is free. An entry that
    can move is set to a simple value, one by one, and the others follow; an entry that cannot move
    any more must be close to a rational number with a small denominator, else the last choices are
    taken back. ``budget`` holds how many more values may be tried.
    """

    problem: Problem
    rng: np.random.Generator
    spread: float
    budget: list[int]
    deadline: float | None = None

    @property
    def wanted(self) -> int:
        """The number of entries of A and B, which come first in a point."""
        return sum(self.problem.target.shape[:2]) * self.problem.terms

    def __call__(self, point: Floats) -> dict[int, Fraction] | None:
        """The values of all entries of A and B, by place."""
        point, ones = gauged(self.problem, point)
        values = dict.fromkeys(ones, Fraction(1))
        for bound in (0.1, 0.03, 0.01):
            near = np.flatnonzero(np.abs(point[: self.wanted]) < bound).tolist()
            moved = self._fit(point, values | dict.fromkeys(near, Fraction(0)))
            if moved is not None:
                return self._from(moved, values | dict.fromkeys(near, Fraction(0)))
        return self._from(point, values)

    def _from(self, point: Floats, values: dict[int, Fraction]) -> dict[int, Fraction] | None:
        if len(values) == self.wanted:
            return values
        free = self._free(values)
        places = np.flatnonzero(free)
        gram = self.problem.gram(point)[np.ix_(free, free)]
        eigenvalues, vectors = eigh(gram, check_finite=False)
        kernel = vectors[:, eigenvalues < _KERNEL * eigenvalues[-1]]
        motion = np.linalg.norm(kernel, axis=1)
        open_places = [(n, i) for n, i in enumerate(places.tolist()) if i < self.wanted]
        still = [i for n, i in open_places if motion[n] < 1e-5]
        if still:
            guesses = {i: Fraction(float(point[i])).limit_denominator(60) for i in still}
            if any(abs(float(x) - point[i]) > 1e-6 for i, x in guesses.items()):
                return None
            moved = self._fit(point, values | guesses)
            return None if moved is None else self._from(moved, values | guesses)
        candidates = []
        for n, i in open_places:
            for value in _SIMPLE:
                way = abs(float(value) - float(point[i])) / float(motion[n])
                height = abs(value.numerator) + value.denominator  # 1 for zero, 2 for ±1
                chance = float(np.exp(self.spread * self.rng.normal()))
                candidates.append((way * height * chance, n, i, value))
        candidates.sort()
        branches = 8 if kernel.shape[1] == 1 else 3
        for _, n, i, value in candidates:
            if not branches or self.budget[0] <= 0 or late(self.deadline):
                break
            self.budget[0] -= 1
            start = point.copy()
            way = kernel @ kernel[n] / motion[n] ** 2
            start[free] += (float(value) - point[i]) * way
            moved = self._fit(start, values | {i: value})
            if moved is not None:
                branches -= 1
                found = self._from(moved, values | {i: value})
                if found is not None:
                    return found
        return None

    def _free(self, values: dict[int, Fraction]) -> Flags:
        free = np.ones(self.problem.size, dtype=bool)
        free[list(values)] = False
        return free

    def _fit(self, point: Floats, values: dict[int, Fraction]) -> Floats | None:
        """A fit with these values, near a point."""
        new = point.copy()
        new[list(values)] = [float(x) for x in values.values()]
        free = self._free(values)
        new, residual = descend(self.problem, new, free, 30, 0.0, self.deadline)
        return new if residual < TOLERANCE and np.abs(new).max() < LARGE else None


def third_factor(array: Array, A: list[list[fmpq]], B: list[list[fmpq]]) -> list[list[fmpq]] | None:
    """Vectors c_r with Σ a_r⊗b_r⊗c_r = T, exactly, or None where there are none.

    ``A`` and ``B`` list the vectors a_r and b_r; flint solves the linear system over Q.
    """
    a, b, c = array.shape
    terms = len(A)
    entries = array.reshape(a * b, c).tolist()
    rows = [
        [*(u[i] * v[j] for u, v in zip(A, B, strict=True)), *entries[i * b + j]]
        for i in range(a)
        for j in range(b)
    ]
    echelon, rank = fmpq_mat(rows).rref()
    pivots = pivot_columns(echelon, rank)
    if any(column >= terms for column in pivots):
        return None
    found = [[fmpq(0)] * c for _ in range(terms)]
    table = echelon.tolist()
    for row, column in enumerate(pivots):
        found[column] = table[row][terms:]
    return found
