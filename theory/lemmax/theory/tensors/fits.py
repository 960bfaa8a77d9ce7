"""Decompositions found numerically and then made exact.

A least-squares fit of R terms (Levenberg and Marquardt, in floats) is only a hint: a tensor of
higher rank can be a limit of tensors of rank R, so a small residual proves nothing. Here a fit
leads to rational factors, and only terms that add up to the tensor exactly are returned.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

from lemmax.theory.rank import pivot_columns
from lemmax.theory.tensors.arrays import Array, flattening
from lemmax.theory.tensors.decompositions import Decomposition, rational_terms
from lemmax.theory.tensors.linear import independent
from lemmax.theory.tensors.reductions import concise
from lemmax.theory.tensors.spans import rank_ones

Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]

_TOLERANCE = 1e-11  # a residual below it, relative to the tensor, is a fit
_LARGE = 60.0  # factors beyond it are taken for a sequence that tends to a border
_KERNEL = 1e-10  # eigenvalues of JᵀJ below it, relative to the largest, are taken for zero
_SIMPLE = sorted({Fraction(p, q) for p in range(-3, 4) for q in (1, 2, 3, 4)})
_PENALTIES = (0.0, 1e-3, 1e-2, 1e-4)  # on entries that are not zero
_BUDGET = 60  # values that a rounding may try
_WAYS = 1.5  # times as many unknowns as the least


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
        found: Floats = _pairs(A, B).reshape(-1, self.terms) @ C.T
        found -= self.target.reshape(found.shape)
        if self.ignored is not None:
            flat = self.ignored.reshape(len(self.ignored), -1)
            found -= flat.T @ (flat @ found)
        return found.reshape(self.target.shape)

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
        found = np.empty((self.size, self.size))
        for m, X in enumerate(factors):
            place = slice(ends[m], ends[m + 1])
            own = np.zeros((len(X), self.terms, len(X), self.terms))
            own[range(len(X)), :, range(len(X)), :] = grams[(m + 1) % 3] * grams[(m + 2) % 3]
            found[place, place] = own.reshape(X.size, X.size)
            for n in range(m + 1, 3):
                Y, other = factors[n], grams[3 - m - n]
                block = X[:, None, None, :] * Y.T[None, :, :, None] * other[None, :, None, :]
                across = slice(ends[n], ends[n + 1])
                found[place, across] = block.reshape(X.size, Y.size)
                found[across, place] = found[place, across].T
        if self.ignored is not None:
            unseen = self._unseen(*factors)
            found -= unseen.T @ unseen
        return found

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


def late(deadline: float | None) -> bool:
    """Whether a deadline on the monotonic clock has passed; None is no deadline.

    >>> late(None), late(time.monotonic() - 1), late(time.monotonic() + 60)
    (False, True, False)
    """
    return deadline is not None and time.monotonic() >= deadline


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
        if residual < _TOLERANCE or creeps or np.abs(point).max() > _LARGE:
            break
    if residual > _TOLERANCE or np.abs(point).max() > _LARGE:
        return None
    return point


def sparsified(
    problem: Problem, point: Floats, penalty: float, deadline: float | None
) -> Floats | None:
    """A fit near a fitted point with more entries near zero.

    Reweighted least squares for the penalty Σ log(x² + ε²), with ε decreasing.
    """
    free = np.ones(problem.size, dtype=bool)
    for epsilon in np.geomspace(0.5, 1e-3, 20):
        point, residual = descend(
            problem, point, free, 4, penalty / (point**2 + epsilon**2), deadline
        )
    point, residual = descend(problem, point, free, 100, 0.0, deadline)
    return point if residual < _TOLERANCE and np.abs(point).max() < _LARGE else None


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
        return new if residual < _TOLERANCE and np.abs(new).max() < _LARGE else None


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
                given = [[float(x.p) / float(x.q) for x in start.terms[r][mode]] for r in kept]
                X[:, :count] += np.array(given).T
        yield point, rng


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
    ones: tuple[tuple[list[fmpq], list[fmpq]], ...]
    rest: tuple[int, ...]

    @classmethod
    def of(cls, array: Array, mode: int) -> Quotient:
        """The quotient for the slices of one mode of a concise tensor."""
        first, second = (m for m in range(3) if m != mode)
        order = (first, second, mode)
        ones = rank_ones(array, mode)
        rows = [[x_i * y_j for x_i in x for y_j in y] for x, y in ones]
        slices = flattening(array, mode).tolist()
        chosen = independent([*rows, *([fmpq(x) for x in row] for row in slices)])
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
            rows = [[float(x.p) / float(x.q) for x in (*x, *y)] for x, y in self.ones]
            columns = np.array([np.outer(row[:a], row[a:]).ravel() for row in rows]).T
            ignored = np.linalg.qr(columns)[0].T.reshape(-1, a, b)
        found = np.array(target / largest, dtype=np.float64)
        return Problem(found, terms - len(self.ones), ignored)

    def decomposition(self, values: dict[int, Fraction], terms: int) -> Decomposition | None:
        """The decomposition with the given matrices and the rounded A and B, if there is one."""
        a, b, _ = self.array.shape
        more = terms - len(self.ones)

        def column(first: int, size: int, r: int) -> list[fmpq]:
            entries = (values[(first + i) * more + r] for i in range(size))
            return [fmpq(x.numerator, x.denominator) for x in entries]

        A = [*(x for x, _ in self.ones), *(column(0, a, r) for r in range(more))]
        B = [*(y for _, y in self.ones), *(column(a, b, r) for r in range(more))]
        C = third_factor(self.array, A, B)
        if C is None:
            return None
        found = rational_terms(self.array.shape, zip(A, B, C, strict=True))
        if not found.adds_up_to(self.array):
            return None
        return found.permuted([self.order.index(m) for m in range(3)])

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
        for penalty in _PENALTIES:
            sparse = self.point
            if penalty:
                found = sparsified(self.problem, self.point, penalty, deadline)
                if found is None:
                    continue
                sparse = found
            if late(deadline):
                break
            values = Rounding(self.problem, self.rng, 0.5, [_BUDGET], deadline)(sparse)
            if values is not None:
                terms = self.problem.terms + len(self.quotient.ones)
                exact = self.quotient.decomposition(values, terms)
                if exact is not None:
                    return exact
        return None


def quotients(array: Array) -> list[Quotient]:
    """The quotients of a concise tensor, one for each mode."""
    return [Quotient.of(array, mode) for mode in range(3)]


def ways(among: list[Quotient], terms: int) -> list[Quotient]:
    """Those in which so many terms can be fitted with few unknowns, the best ones first."""
    found = [q for q in among if q.rest and terms > len(q.ones)]
    found.sort(key=lambda q: (q.unknowns(terms), -q.array.shape[2]))
    return [q for q in found if q.unknowns(terms) <= _WAYS * found[0].unknowns(terms)]


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
        A value of ``time.monotonic`` after which the search ends. Without one the result depends
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
    >>> found = fit((i + j == k).astype(int), 5)
    >>> len(found), found.adds_up_to((i + j == k).astype(int))
    (5, True)
    """
    core = concise(array)
    if terms < max(core.array.shape):
        return None
    if start is not None:
        for mode, kept in enumerate(core.kept):
            start = start.chosen(mode, kept)
    among = quotients(core.array)
    found = spanned(among)
    if found is None or len(found) > terms:
        fits = [q.fits(terms, start, tries, seed, deadline) for q in ways(among, terms)]
        for attempt in range(tries if fits else 0):
            fitted = next(fits[attempt // 2 % len(fits)])
            found = None if fitted is None else fitted.exact(deadline)
            if found is not None or late(deadline):
                break
    if found is None:
        return None
    found = core.extend(found)
    return found if found.adds_up_to(array) else None


def shorter(
    among: list[Quotient],
    least: int,
    start: Decomposition,
    *,
    deadline: float | None = None,
    tries: int = 3,
    seed: int = 0,
) -> Decomposition | None:
    """A rational decomposition of a concise tensor shorter than a given one, or None.

    The tensor is given by its quotients. The least number of terms that can be fitted, but not
    below ``least``, is looked for by bisection; then one more at a time is allowed until a fit can
    be made exact. The other arguments are those of :func:`fit`, tries being those for each number
    of terms.

    >>> import numpy as np
    >>> from lemmax.theory.tensors.slices import slice_sum
    >>> i, j, k = np.ix_(range(3), range(3), range(5))
    >>> polynomials = (i + j == k).astype(int)
    >>> len(shorter(quotients(polynomials), 5, slice_sum(polynomials, 2)))
    5
    """

    def first(terms: int) -> Fit | None:
        fits = [q.fits(terms, start, tries, seed, deadline) for q in ways(among, terms)]
        for attempt in range(tries if fits else 0):
            fitted = next(fits[attempt % len(fits)])
            if fitted is not None or late(deadline):
                return fitted
        return None

    whole = spanned(among)
    if whole is not None and len(whole) < len(start):
        return whole
    fits: dict[int, Fit | None] = {}
    low, high = least, len(start)
    while low < high and not late(deadline):
        middle = (low + high) // 2
        fits[middle] = first(middle)
        low, high = (middle + 1, high) if fits[middle] is None else (low, middle)
    for terms in range(high, len(start)):
        if terms not in fits:
            fits[terms] = first(terms)
        fitted = fits[terms]
        found = None if fitted is None else fitted.exact(deadline)
        if found is not None or late(deadline):
            return found
    return None
