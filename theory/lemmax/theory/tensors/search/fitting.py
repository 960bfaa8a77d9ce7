"""Decompositions found numerically and then made exact.

A least-squares fit of R terms (Levenberg and Marquardt, in floats) is only a hint. Here a fit leads
to rational factors, and only terms that add up to the tensor exactly are returned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpq

from lemmax.theory.numbers.linear import independent
from lemmax.theory.tensors.arrays import Array, flattening
from lemmax.theory.tensors.decompositions import Decomposition, rational_terms
from lemmax.theory.tensors.rank_ones import RankOne, rank_ones
from lemmax.theory.tensors.reductions import concise
from lemmax.theory.tensors.search.clock import late
from lemmax.theory.tensors.search.least_squares import (
    Floats,
    Problem,
    Sparsity,
    converged,
    floats,
    sparsified,
    starts,
)
from lemmax.theory.tensors.search.rounding import Rounding
from lemmax.theory.tensors.search.third_factors import third_factor

_ROUNDINGS = (
    (None, 20),
    (Sparsity(1e-2, 1e-2, 1e-3, 20), 8),
    (Sparsity(1e-2, 1e-1, 1e-2, 12, 0.7), 8),
    (Sparsity(3e-3, 3e-2, 1e-2, 12, 0.7), 8),
)
"""How a fit is made sparse before it is rounded, and how often the rounding may fail."""

_FEW = 1.5  # times as many unknowns as the least
_LARGEST = 2**20


@dataclass(frozen=True)
class Quotient:
    """A tensor whose last slices are fitted modulo matrices of rank one in their span.

    If M_1, ..., M_w in the span L of the slices are independent and of rank one, then a
    decomposition of least length exists that has them among its terms (Alexeev, Forbes and
    Tsimerman 2011). So R - w terms are left to find, and they need to give only the slices that
    complete the M_i to a basis of L, and those only up to combinations of the M_i.
    """

    array: Array
    order: tuple[int, int, int]
    ones: tuple[RankOne, ...]
    rest: tuple[int, ...]

    @classmethod
    def of(cls, array: Array, mode: int) -> Quotient:
        """The quotient for the slices of one mode of a concise tensor."""
        first, second = (m for m in range(3) if m != mode)
        order = (first, second, mode)
        ones = rank_ones(array, mode)
        slices = [[fmpq(x) for x in row] for row in flattening(array, mode).tolist()]
        chosen = independent([*(one.entries() for one in ones), *slices])
        rest = tuple(i - len(ones) for i in chosen if i >= len(ones))
        return cls(array.transpose(order), order, tuple(ones), rest)

    def unknowns(self, terms: int) -> int:
        """The number of unknowns of a fit."""
        a, b, _ = self.array.shape
        return (terms - len(self.ones)) * int(a + b + len(self.rest))

    def problem(self, terms: int) -> Problem:
        """What a decomposition with so many terms leaves to find."""
        target = self.array[:, :, list(self.rest)]
        largest = max(abs(int(x)) for x in target.ravel())
        ignored = None
        if self.ones:
            a, b, _ = self.array.shape
            columns = np.array([floats(one.entries()) for one in self.ones]).T
            ignored = np.linalg.qr(columns)[0].T.reshape(-1, a, b)
        scaled = np.array(target / largest, dtype=np.float64)
        return Problem(scaled, terms - len(self.ones), ignored)

    def decomposition(self, values: dict[int, Fraction], terms: int) -> Decomposition | None:
        """The decomposition with the given matrices and the rounded A and B, if there is one."""
        a, b, _ = self.array.shape
        more = terms - len(self.ones)

        def column(first: int, size: int, r: int) -> list[fmpq]:
            entries = (values[(first + i) * more + r] for i in range(size))
            return [fmpq(x.numerator, x.denominator) for x in entries]

        A = [*(one.x for one in self.ones), *(column(0, a, r) for r in range(more))]
        B = [*(one.y for one in self.ones), *(column(a, b, r) for r in range(more))]
        C = third_factor(self.array, A, B)
        if C is None:
            return None
        exact = rational_terms(self.array.shape, zip(A, B, C, strict=True))
        if not exact.adds_up_to(self.array):
            return None
        return exact.permuted([self.order.index(m) for m in range(3)])

    def fits(
        self,
        terms: int,
        start: Decomposition | None,
        tries: int,
        seed: int,
        deadline: float | None,
    ) -> Iterator[Fit | None]:
        """What each starting point leads to."""
        problem = self.problem(terms)
        if start is not None:
            start = start.permuted(self.order)
        for point, rng in starts(problem, start, tries, seed):
            fitted = converged(problem, point, deadline)
            yield None if fitted is None else Fit(self, problem, fitted, rng)


@dataclass(frozen=True)
class Fit:
    """A point that solves a problem numerically."""

    quotient: Quotient
    problem: Problem
    point: Floats
    rng: np.random.Generator

    def exact(self, deadline: float | None) -> Decomposition | None:
        """A rational decomposition near the point, if one is found."""
        for sparsity, failures in _ROUNDINGS:
            if late(deadline):
                break
            point: Floats | None = self.point
            if sparsity is not None:
                point = sparsified(self.problem, self.point, sparsity, deadline)
            if point is None:
                continue
            values = Rounding(self.problem, self.rng, failures, deadline)(point)
            if values is not None:
                terms = self.problem.terms + len(self.quotient.ones)
                exact = self.quotient.decomposition(values, terms)
                if exact is not None:
                    return exact
        return None


def quotients(array: Array) -> list[Quotient]:
    """The quotients of a concise tensor, one for each mode."""
    return [Quotient.of(array, mode) for mode in range(3)]


def with_few_unknowns(among: list[Quotient], terms: int) -> list[Quotient]:
    """Those in which so many terms can be fitted with few unknowns, the best ones first.

    None where the tensor has entries beyond 2²⁰, for which floats are a poor hint.
    """
    usable = [q for q in among if q.rest and terms > len(q.ones)]
    usable = [q for q in usable if max(abs(int(x)) for x in q.array.ravel()) <= _LARGEST]
    usable.sort(key=lambda q: (q.unknowns(terms), -q.array.shape[2]))
    return [q for q in usable if q.unknowns(terms) <= _FEW * usable[0].unknowns(terms)]


def spanned(among: list[Quotient]) -> Decomposition | None:
    """The decomposition into matrices of rank one that span the slices of a mode, if they do."""
    whole = [q for q in among if not q.rest]
    best = min(whole, key=lambda q: len(q.ones), default=None)
    return None if best is None else best.decomposition({}, len(best.ones))


def fit(
    array: Array,
    terms: int,
    *,
    start: Decomposition | None = None,
    deadline: float | None = None,
    tries: int = 12,
    seed: int = 0,
) -> Decomposition | None:
    """An exact rational decomposition of an integer tensor with so many terms, or None.

    Parameters
    ----------
    array
        A nonzero integer tensor, best one that is no direct sum.
    terms
        The number of terms asked for.
    start
        A decomposition of the tensor: half of the tries start near some of its terms.
    deadline
        A reading of the clock after which the search ends. Without one the result depends
        on the other arguments only.
    tries, seed
        How many starting points, and the seed they are drawn from.

    Notes
    -----
    The tensor is made concise; the matrices of rank one in the span of its slices are taken as
    terms; the others are fitted in floats, and their factors in two modes are rounded step by step.
    The third factor is then solved for over Q and the sum is verified. None says nothing about the
    rank. One step costs O(n³) operations for n unknowns, at most R(a + b + c).

    Examples
    --------
    The product of two polynomials of degree two, at five points instead of by nine products:

    >>> import numpy as np
    >>> i, j, k = np.ix_(range(3), range(3), range(5))
    >>> exact = fit((i + j == k).astype(int), 5)
    >>> len(exact), exact.adds_up_to((i + j == k).astype(int))
    (5, True)
    """
    core = concise(array)
    if terms < max(core.array.shape):
        return None
    if start is not None:
        for mode, kept in enumerate(core.kept):
            start = start.chosen(mode, kept)
    among = quotients(core.array)
    exact = spanned(among)
    if exact is None or len(exact) > terms:
        fits = [
            q.fits(terms, start, tries, seed, deadline) for q in with_few_unknowns(among, terms)
        ]
        for attempt in range(tries if fits else 0):
            fitted = next(fits[attempt // 2 % len(fits)])
            exact = None if fitted is None else fitted.exact(deadline)
            if exact is not None or late(deadline):
                break
    if exact is None:
        return None
    exact = core.extend(exact)
    return exact if exact.adds_up_to(array) else None


def shorter(
    among: list[Quotient],
    least: int,
    start: Decomposition,
    *,
    deadline: float | None = None,
    tries: int = 4,
    seed: int = 0,
    reached: Callable[[int], object] = int,
) -> Decomposition | None:
    """A rational decomposition of a concise tensor shorter than a given one, or None.

    The tensor is given by its quotients. One term less is tried first; while that succeeds, twice
    as many less each time, but not below ``least``; after a failure, half as many. The other
    arguments are those of :func:`fit`, tries being those for each number of terms; ``reached`` is
    told the number of terms of every fit that converges, whether it is made exact or not.

    >>> import numpy as np
    >>> from lemmax.theory.tensors.above.slices import slice_sum
    >>> i, j, k = np.ix_(range(3), range(3), range(5))
    >>> polynomials = (i + j == k).astype(int)
    >>> len(shorter(quotients(polynomials), 5, slice_sum(polynomials, 2)))
    5
    """

    def fitted_with(terms: int) -> Decomposition | None:
        fits = [q.fits(terms, best, tries, seed, deadline) for q in with_few_unknowns(among, terms)]
        for fitted in (fit for turn in zip(*fits, strict=True) for fit in turn):
            if fitted is not None:
                reached(terms)
            exact = None if fitted is None else fitted.exact(deadline)
            if exact is not None or late(deadline):
                return exact
        return None

    best, less = start, 1
    whole = spanned(among)
    if whole is not None and len(whole) < len(best):
        best = whole
    while len(best) > least and less and not late(deadline):
        exact = fitted_with(max(least, len(best) - less))
        if exact is None:
            less //= 2
        else:
            best, less = exact, 2 * less
    return best if len(best) < len(start) else None
