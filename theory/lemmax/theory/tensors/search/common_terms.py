"""Matrices of rank one that every decomposition may share, after a change of basis.

If some combinations of the slices of a mode are independent and of rank one, then a decomposition
of least length exists that has them among its terms, up to what they contribute to the other
slices (Alexeev, Forbes and Tsimerman 2011). A search that begins with them has less to find.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from lemmax.theory.tensors.search.fitting import Fit, Quotient
from lemmax.theory.tensors.search.least_squares import Floats, Problem, floats

Rows: TypeAlias = tuple[tuple[int, ...], ...]
"""An integer matrix."""


def identity(n: int) -> Rows:
    """The unit matrix."""
    return tuple(tuple(int(i == j) for j in range(n)) for i in range(n))


@dataclass(frozen=True)
class Pattern:
    """Entries of the factors that are given, by place; the others are free."""

    given: dict[int, fmpq]

    def free(self, size: int) -> NDArray[np.bool_]:
        """A flag for each entry: whether it is not given."""
        flags = np.ones(size, dtype=bool)
        flags[list(self.given)] = False
        return flags


@dataclass(frozen=True)
class CommonTerms:
    """A basis of the slices of the last mode of a quotient: its matrices of rank one, then others.

    The basis is given by the ``rows`` of an integer matrix.
    """

    quotient: Quotient

    @property
    def rows(self) -> Rows:
        units = identity(self.quotient.array.shape[2])
        ones = (tuple(one.multiples) for one in self.quotient.ones)
        return (*ones, *(units[i] for i in self.quotient.rest))

    def pattern(self, terms: int) -> Pattern:
        """The given entries of a decomposition of the mapped tensor with the shared matrices.

        A matrix M of rank one in place i is the term M⊗e_i, which may also contribute to the slices
        that are not shared; the other terms contribute to the latter only. Nothing is lost: some
        decomposition of least length looks like this (Alexeev, Forbes and Tsimerman 2011).
        """
        a, b, _ = self.quotient.array.shape
        count = len(self.quotient.ones)
        given = {
            (a + b + i) * terms + r: fmpq(int(r == i)) for i in range(count) for r in range(terms)
        }
        for r, one in enumerate(self.quotient.ones):
            for row, x in enumerate((*one.x, *one.y)):
                given[row * terms + r] = x
        return Pattern(given)

    def point(self, problem: Problem, fit: Fit) -> Floats:
        """The point of the whole problem, for the mapped tensor, that a fit leads to."""
        point = np.zeros(problem.size)
        count = len(self.quotient.ones)
        A, B, C = problem.factors(point)
        for X, new in zip((A, B), fit.problem.factors(fit.point), strict=False):
            X[:, count:] = new
        for r, one in enumerate(self.quotient.ones):
            A[:, r], B[:, r] = floats(one.x), floats(one.y)
        terms = (A[:, None, :] * B[None, :, :]).reshape(-1, problem.terms)
        rest = problem.target[:, :, count:].reshape(len(terms), -1)
        C[:count, :count] = np.eye(count)
        C[count:] = np.linalg.lstsq(terms, rest)[0].T
        return point
