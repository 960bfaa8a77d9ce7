"""Rational factors near a numerical fit."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.linalg import eigh

from lemmax.theory.tensors.search.clock import late
from lemmax.theory.tensors.search.least_squares import (
    LARGE,
    TOLERANCE,
    Flags,
    Floats,
    Problem,
    descend,
)

_FLAT = 1e-10  # eigenvalues of JᵀJ below it, relative to the largest, are taken for zero
_STILL = 1e-5  # entries that move less in the null space are taken for determined
_CHOICES = tuple(map(Fraction, (0, 1, -1, 2, -2, 0.5, -0.5)))  # the values that are chosen
_COSTS = np.array([1.0, 3.0, 3.0, 6.0, 6.0, 6.0, 6.0])  # of one step of the way to each of them
_FLOATS = np.array([float(x) for x in _CHOICES])
_NEAR = 0.2  # the residual up to which it is worth to fit after a step, relative to the tensor
_SINGLE = 24  # entries that are considered where only one is set
_REFITS = 4  # of which so many are tried
_BACK = 6  # choices that are taken back at once, at most

Values: TypeAlias = dict[int, Fraction]


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


class _Choice(NamedTuple):
    """A fit in which some entries of A and B have their final values."""

    point: Floats
    values: Values
    more: int  # how many entries to set at once


class _Move(NamedTuple):
    """Where the shortest way along the null space leads on which some entries get new values.

    Where there is no such way, the values are set all the same.
    """

    residual: float
    point: Floats
    values: Values


@dataclass(frozen=True)
class Rounding:
    """The search for rational values of A and B such that a fit with them exists, numerically.

    Solutions come in families, for each term can be scaled and often more is free. Entries that can
    move are set to simple values, many at once while that works, and the others follow; an entry
    that cannot move any more must be close to a rational number with a small denominator, else the
    last choices are taken back. That may happen so many times as ``failures`` says.
    """

    problem: Problem
    rng: np.random.Generator
    failures: int
    deadline: float | None = None

    @property
    def wanted(self) -> int:
        """The number of entries of A and B, which come first in a point."""
        return sum(self.problem.target.shape[:2]) * self.problem.terms

    def __call__(self, point: Floats) -> Values | None:
        """The values of all entries of A and B, by place."""
        choices = [self._first(point)]
        failures = 0
        while failures < self.failures and not late(self.deadline):
            last = choices[-1]
            if len(last.values) == self.wanted:
                return last.values
            following = self._next(last)
            if following is not None:
                choices.append(following)
                continue
            failures += 1
            back = 1 + int(self.rng.integers(1 + min(failures, _BACK)))
            del choices[max(1, len(choices) - back) :]
            again = choices[-1]
            choices[-1] = again._replace(more=max(1, min(again.more, 8) // 2))
        return None

    def _first(self, point: Floats) -> _Choice:
        """The fit with one entry of each column scaled to 1, and small entries set to zero."""
        point, ones = gauged(self.problem, point)
        values = dict.fromkeys(ones, Fraction(1))
        for bound in (0.1, 0.03, 0.01):
            near = np.flatnonzero(np.abs(point[: self.wanted]) < bound).tolist()
            zero = values | dict.fromkeys(near, Fraction(0))
            moved = self._fit(point, zero)
            if moved is not None:
                return _Choice(moved, zero, self.wanted)
        return _Choice(point, values, self.wanted)

    def _next(self, last: _Choice) -> _Choice | None:
        """The fit with more values: of those that cannot move, else of some that can."""
        point, values, more = last
        free = self._free(values)
        places = np.flatnonzero(free)
        gram = self.problem.gram(point)[np.ix_(free, free)]
        eigenvalues, vectors = eigh(gram, check_finite=False)
        null_space = vectors[:, eigenvalues < _FLAT * eigenvalues[-1]]
        motion = np.linalg.norm(null_space, axis=1)
        rows = np.flatnonzero(places < self.wanted)
        still = places[rows[motion[rows] < _STILL]].tolist()
        if still:
            guesses = {i: Fraction(float(point[i])).limit_denominator(60) for i in still}
            if any(abs(float(x) - point[i]) > 1e-6 for i, x in guesses.items()):
                return None
            return _Choice(_with(point, guesses), values | guesses, more)
        way = np.abs(_FLOATS - point[places[rows], None]) / motion[rows, None]
        way *= _COSTS * np.exp(0.5 * self.rng.normal(size=way.shape))
        order = np.argsort(way.min(axis=1))
        rows, choices = rows[order], way.argmin(axis=1)[order]

        def moved_by(part: slice) -> _Move:
            new = {
                int(i): _CHOICES[k] for i, k in zip(places[rows[part]], choices[part], strict=True)
            }
            missing = _FLOATS[choices[part]] - point[list(new)]
            start = point.copy()
            along = np.linalg.lstsq(null_space[rows[part]], missing, rcond=1e-6)[0]
            start[free] += null_space @ along
            start = _with(start, new)
            return _Move(float(np.linalg.norm(self.problem.residual(start))), start, new)

        near = _NEAR * float(np.linalg.norm(self.problem.target))
        more = min(more, 1 + null_space.shape[1] // 3)
        while more > 1:
            many = moved_by(slice(more))
            moved = self._fit(many.point, values | many.values) if many.residual < near else None
            if moved is not None:
                return _Choice(moved, values | many.values, 2 * more)
            more //= 2
        singles = [moved_by(slice(n, n + 1)) for n in range(min(_SINGLE, len(rows)))]
        for one in sorted(singles, key=lambda single: single.residual)[:_REFITS]:
            moved = self._fit(one.point, values | one.values)
            if moved is not None:
                return _Choice(moved, values | one.values, 2)
        return None

    def _free(self, values: Values) -> Flags:
        free = np.ones(self.problem.size, dtype=bool)
        free[list(values)] = False
        return free

    def _fit(self, point: Floats, values: Values) -> Floats | None:
        """A fit with these values, near a point."""
        free, point = self._free(values), _with(point, values)
        point, residual = descend(self.problem, point, free, 6, 0.0, self.deadline)
        if TOLERANCE <= residual < 1e-3:
            point, residual = descend(self.problem, point, free, 20, 0.0, self.deadline)
        return point if residual < TOLERANCE and np.abs(point).max() < LARGE / 3 else None


def _with(point: Floats, values: Values) -> Floats:
    """The point with other values in some places."""
    new = point.copy()
    new[list(values)] = [float(x) for x in values.values()]
    return new
