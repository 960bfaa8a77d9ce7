"""Fits in floats that become real decompositions, proved to exist by :mod:`.real_terms`.

A fit gives the centre of a ball: entries that a pivoted QR factorisation chooses stay free, as many
as there are equations, and Newton's method improves them beyond the precision of floats. Cost: one
factorisation of the Jacobian and three exact systems of at most 400 equations.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq
from scipy.linalg import qr

from lemmax.theory.tensors.arrays import Array, mapped
from lemmax.theory.tensors.decompositions import Decomposition, Term, Vector
from lemmax.theory.tensors.reductions import concise
from lemmax.theory.tensors.search.clock import late
from lemmax.theory.tensors.search.common_terms import CommonTerms, Pattern, identity
from lemmax.theory.tensors.search.derivatives import derivatives
from lemmax.theory.tensors.search.fitting import quotients, with_few_unknowns
from lemmax.theory.tensors.search.least_squares import Floats, Problem, descend
from lemmax.theory.tensors.search.real_terms import RealDecomposition, System, nearest

EQUATIONS = 400  # the most that the independent checker takes
_BITS = 80  # of the centre, after the point


def equations(problem: Problem, pattern: Pattern) -> int:
    """How many entries of the tensor depend on the free entries."""
    free = pattern.free(problem.size)
    present = free.copy()
    present[[place for place, x in pattern.given.items() if x]] = True
    products = [
        np.einsum("ir,jr,kr->ijkr", *map(np.int64, problem.factors(flags)))  # type: ignore[arg-type]
        for flags in (present, present & ~free)
    ]
    return int((products[0] > products[1]).any(axis=3).sum())


def real_fit(
    array: Array,
    terms: int,
    *,
    deadline: float | None = None,
    tries: int = 4,
    seed: int = 0,
) -> RealDecomposition | None:
    """A real decomposition of an integer tensor with so many terms, proved to exist, or None.

    The arguments are those of :func:`.fitting.fit`, tries being those of each fit.

    Notes
    -----
    The equations must be independent at the numerical solution, so about as many terms are needed
    as for a generic tensor of the shape, abc/(a + b + c - 2), or fewer where many slices have rank
    one; and there must be at most 400 equations. None says nothing about the rank.

    Examples
    --------
    The path on three vertices: the eigenvalues 0 and ±√2 of its pencil are real, not rational, and
    over Q the rank is 4.

    >>> import numpy as np
    >>> path = np.array([[[1, 0], [0, 1], [0, 0]], [[0, 1], [1, 0], [0, 1]],
    ...                  [[0, 0], [0, 1], [1, 0]]])
    >>> proved = real_fit(path, 3)
    >>> len(proved), proved.proves(path)
    (3, True)
    """
    core = concise(array)
    if terms < max(core.array.shape):
        return None
    for quotient in with_few_unknowns(quotients(core.array), terms):
        real = _fit_with_common_terms(CommonTerms(quotient), terms, deadline, tries, seed)
        if real is not None and real.extended(core).proves(array):
            return real.extended(core)
    return None


def _fit_with_common_terms(
    common: CommonTerms, terms: int, deadline: float | None, tries: int, seed: int
) -> RealDecomposition | None:
    quotient = common.quotient
    inner = mapped(quotient.array.astype(object), 2, common.rows)
    problem = Problem(np.array(inner, dtype=np.float64), terms)
    pattern = common.pattern(terms)
    free = pattern.free(problem.size)
    scalings = 2 * (terms - len(quotient.ones))
    if equations(problem, pattern) > min(EQUATIONS, int(free.sum()) - scalings):
        return None
    a, b, _ = inner.shape
    for fit in quotient.fits(terms, None, tries, seed, deadline):
        if late(deadline):
            return None
        if fit is not None:
            fitted, _ = descend(problem, common.point(problem, fit), free, 10)
            ball = _ball(problem, fitted, pattern, inner)
            if ball is not None:
                maps = (identity(a), identity(b), common.rows)
                proved = RealDecomposition(Decomposition(inner.shape), maps, *ball)
                return proved.permuted([quotient.order.index(m) for m in range(3)])
    return None


def _ball(
    problem: Problem, point: Floats, pattern: Pattern, array: Array
) -> tuple[tuple[Term, ...], tuple[int, ...], fmpq] | None:
    """Centre, free entries and radius of a ball near a fit, if the equations are independent."""
    flags = pattern.free(problem.size)
    parts = derivatives(*problem.factors(point))
    jacobian = np.hstack([part.reshape(len(part), -1) for part in parts])[:, flags]
    jacobian = jacobian[(jacobian != 0).any(axis=1)]
    size = len(jacobian)
    if size > jacobian.shape[1]:
        return None
    pivoted: Any = qr(jacobian, mode="r", pivoting=True, check_finite=False)
    triangle, order = pivoted
    pivots = np.abs(triangle.diagonal())
    if pivots[-1] < 1e-7 * pivots[0]:
        return None
    free = np.sort(np.flatnonzero(flags)[order[:size]])
    flags = np.zeros(problem.size, dtype=bool)
    flags[free] = True
    point, _ = descend(problem, point, flags, 10)
    centre = [pattern.given.get(n, _dyadic(x)) for n, x in enumerate(point.tolist())]
    places = tuple(free.tolist())
    for _ in range(2):  # Newton's method, beyond the precision of floats
        system = System.at(array, 1, _terms(problem, centre), places)
        if system is None:
            return None
        steps = np.linalg.solve(nearest(system.jacobian), nearest(system.value)).ravel()
        for place, step in zip(places, steps.tolist(), strict=True):
            centre[place] -= _dyadic(step)
    system = System.at(array, 1, _terms(problem, centre), places)
    inverse = None if system is None else system.approximate_inverse()
    if system is None or inverse is None:
        return None
    radius = fmpq(1, 2**_BITS)
    while radius < 2 * system.constants(inverse)[0]:
        radius *= 2
    return _terms(problem, centre), places, radius


def _terms(problem: Problem, centre: Sequence[fmpq]) -> tuple[Term, ...]:
    a, b, c = problem.target.shape

    def vector(first: int, size: int, r: int) -> Vector:
        return tuple(centre[row * problem.terms + r] for row in range(first, first + size))

    return tuple(
        (vector(0, a, r), vector(a, b, r), vector(a + b, c, r)) for r in range(problem.terms)
    )


def _dyadic(x: float) -> fmpq:
    return fmpq(round(Fraction(x) * 2**_BITS), 2**_BITS)
