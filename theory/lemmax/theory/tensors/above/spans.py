"""Upper bounds from the matrices of rank one in the span of the slices.

Let L be the span of the a slices of a mode, matrices B × C. The rank is the least number of
matrices of rank one whose span contains L; so it is a as soon as L itself is spanned by matrices of
rank one, and a + e if that becomes true when e matrices of rank one are added to L. For a given
vector x the y with x⊗y ∈ L are a linear problem. The vectors x that are tried have small entries;
what is added are the summands of matrices x⊗y + x'⊗y' in L.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from copy import copy
from itertools import combinations, product
from typing import NamedTuple, TypeAlias

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat

from lemmax.theory.numbers import modular
from lemmax.theory.numbers.linear import independent
from lemmax.theory.numbers.modular import Residues
from lemmax.theory.tensors.arrays import Array
from lemmax.theory.tensors.decompositions import Decomposition, rational_terms

_SIGNS = 1_500  # vectors x that are tried
_PAIRS = 40  # of them in pairs
_WORK = 60_000_000  # about as many multiplications a search
_STACK = 4_000_000  # entries of a stack of matrices

Vector: TypeAlias = tuple[int, ...]
Matrix: TypeAlias = tuple[Vector, list[int]]  # x⊗y


def small_vectors(size: int, most: int) -> list[Vector]:
    """Primitive integer vectors up to sign: all ones first, then by largest entry and by weight.

    >>> small_vectors(2, 7)
    [(1, 1), (1, 0), (0, 1), (1, -1), (1, 2), (1, -2), (2, 1)]
    """
    ones: Vector = (1,) * size
    found: list[Vector] = [ones]
    for largest in range(1, most + 1 if size > 1 else 2):
        entries = [sign * x for x in range(1, largest + 1) for sign in (1, -1)]
        for weight in range(1, size + 1):
            for support in combinations(range(size), weight):
                for values in product(range(1, largest + 1), *[entries] * (weight - 1)):
                    if max(map(abs, values)) < largest or math.gcd(*values) > 1:
                        continue
                    x = [0] * size
                    for i, value in zip(support, values, strict=True):
                        x[i] = value
                    if tuple(x) != ones:
                        found.append(tuple(x))
                    if len(found) >= most:
                        return found
    return found


def span_of_rank_ones(
    array: Array, mode: int, most: int, expired: Callable[[], bool] = lambda: False
) -> Decomposition | None:
    """A decomposition with at most ``most`` terms of a tensor with independent slices, or None.

    >>> import numpy as np
    >>> table = np.array([[0, 1], [1, 0]])  # rank 2: the slices span (1, ±1)⊗(1, ±1)
    >>> D = (table[:, :, None] == np.arange(2)).astype(int)
    >>> len(span_of_rank_ones(D, 0, 2))
    2
    """
    others = sorted((m for m in range(3) if m != mode), key=lambda m: array.shape[m])
    X = np.transpose(array, (mode, *others))
    a, b, c = X.shape
    L = modular.residues(X.reshape(a, b * c))
    signs = small_vectors(b, _vectors(b, c))
    pairs = signs[: min(_PAIRS, max(b + 1, math.isqrt(_WORK // (4 * c**3))))]
    few = small_vectors(c, c + 1)
    added: list[Matrix] = []
    while a + len(added) <= most and not expired():
        span = Span(modular.reduce(L.copy()))
        used = _rank_ones(L, b, c, few, span, swapped=True)
        used += _rank_ones(L, b, c, pairs if added else signs, span)
        if span.rank == len(L):
            return _decomposition(array, mode, others, used, added)
        if a + len(added) == most:
            break
        pair = _rank_two(L, span, b, c, pairs)
        if pair is None:
            break
        added.append(pair)
        L = np.vstack([L, np.outer(*pair).reshape(1, -1) % modular.PRIME])
    return None


class RankOne(NamedTuple):
    """A matrix x⊗y in the span of the slices: the sum of their multiples by integers."""

    multiples: list[int]
    x: list[fmpq]
    y: list[fmpq]

    def entries(self) -> list[fmpq]:
        """The matrix, written out."""
        return [x_i * y_j for x_i in self.x for y_j in self.y]

    def transposed(self) -> RankOne:
        return RankOne(self.multiples, self.y, self.x)


def rank_ones(array: Array, mode: int) -> list[RankOne]:
    """Independent matrices of rank one in the span of independent slices, those that are found.

    ``x`` is of the first of the other modes, ``y`` of the second.

    >>> import numpy as np
    >>> table = np.array([[0, 1], [1, 2]])
    >>> D = (table[:, :, None] == np.arange(3)).astype(int)
    >>> len(rank_ones(D, 2))  # the first value, the last, and the sum of all three
    3
    """
    X, flipped = _matrices(array, mode)
    a, b, c = X.shape
    _, _, used = _found(X)
    ones = _exact(X.reshape(a, b * c).tolist(), b, c, used)
    chosen = independent([one.entries() for one in ones])
    return [ones[i].transposed() if flipped else ones[i] for i in chosen]


def coordinates(array: Array, mode: int) -> Residues:
    """The same matrices, one a row, as combinations of the slices mod the prime.

    >>> import numpy as np
    >>> table = np.array([[0, 1], [1, 2]])
    >>> D = (table[:, :, None] == np.arange(3)).astype(int)
    >>> coordinates(D, 2).shape
    (3, 3)
    """
    X, _ = _matrices(array, mode)
    L, span, _ = _found(X)
    system = np.hstack([L[:, span.columns].T, span.rows.T])
    modular.reduce(system)
    return system[: len(L), len(L) :].T.copy()


def _matrices(array: Array, mode: int) -> tuple[Array, bool]:
    """The slices of a mode as matrices that are not tall, and whether they were transposed."""
    first, second = (m for m in range(3) if m != mode)
    flipped = array.shape[first] > array.shape[second]
    return np.transpose(array, (mode, second, first) if flipped else (mode, first, second)), flipped


def _found(X: Array) -> tuple[Residues, Span, list[tuple[Vector, bool]]]:
    """The slices mod the prime, the span of the matrices of rank one, and the vectors it needs."""
    a, b, c = X.shape
    L = modular.residues(X.reshape(a, b * c))
    span = Span(modular.reduce(L.copy()))
    used = _rank_ones(L, b, c, small_vectors(c, c + 1), span, swapped=True)
    used += _rank_ones(L, b, c, small_vectors(b, _vectors(b, c)), span)
    return L, span, used


def _vectors(b: int, c: int) -> int:
    """How many vectors x of size b are worth trying."""
    return min(_SIGNS, max(b + 1, _WORK // c**3))


def _exact(L: list[list[int]], b: int, c: int, used: list[tuple[Vector, bool]]) -> list[RankOne]:
    """The x⊗y in a span of integer matrices, over Q, for given vectors x (or y, if swapped)."""
    ones: list[RankOne] = []
    for x, swapped in used:
        # (multiples, y) with Σ multiples · L = x⊗y
        units = np.eye(b if swapped else c, dtype=int)
        products = [np.outer(unit, x) if swapped else np.outer(x, unit) for unit in units]
        system = fmpz_mat([*L, *(matrix.ravel().tolist() for matrix in products)]).transpose()
        basis, nullity = system.nullspace()
        for column in basis.transpose().tolist()[: int(nullity)]:
            y = [-fmpq(entry) for entry in column[len(L) :]]
            one = RankOne([int(entry) for entry in column[: len(L)]], list(map(fmpq, x)), y)
            ones.append(one.transposed() if swapped else one)
    return ones


def _contracted(equations: Residues, x: Residues) -> Residues:
    """The equations of {y : x⊗y ∈ L} for every row of x, from those of L (equations, b, c)."""
    found: Residues = np.einsum("xb,ebc->xec", x, equations) % modular.PRIME
    return found


def _equations(L: Residues, rows: int) -> Residues:
    """Equations of L; where they are many, random combinations, enough for what they decide."""
    found = modular.kernel(L)
    if len(found) > rows:
        mix = np.random.default_rng(0).integers(1, modular.PRIME, (rows, len(found)))
        found = modular.multiply(mix, found)
    return found


def _rank_ones(
    L: Residues, b: int, c: int, signs: list[Vector], span: Span, swapped: bool = False
) -> list[tuple[Vector, bool]]:
    """Add the x⊗y in L to a span, and return the x that it needs; swapped, x is of the mode C."""
    if swapped:
        L = L.reshape(-1, b, c).transpose(0, 2, 1).reshape(-1, b * c)
        b, c = c, b
    equations = _equations(L, c + 2).reshape(-1, b, c)
    used: list[tuple[Vector, bool]] = []
    for part in _blocks(signs, max(1, len(equations)) * c):
        stack = _contracted(equations, np.array(part))
        for n in np.flatnonzero(c - modular.ranks(stack)):
            if span.rank == len(L):
                return used
            ys = modular.kernel(stack[n])
            new = np.einsum("b,yc->ycb" if swapped else "b,yc->ybc", np.array(part[n]), ys)
            if span.grow(new.reshape(len(ys), -1)):
                used.append((part[n], swapped))
    return used


class Span:
    """A growing subspace of L, in the coordinates that determine the elements of L."""

    def __init__(self, columns: Residues) -> None:
        self.columns = columns
        self.rows = np.zeros((0, len(columns)), dtype=np.int64)

    @property
    def rank(self) -> int:
        return len(self.rows)

    def grow(self, rows: Residues) -> bool:
        """Add elements of L; whether the span became larger."""
        rows = np.vstack([self.rows, modular.residues(rows[:, self.columns])])
        pivots = modular.reduce(rows)
        larger = len(pivots) > self.rank
        self.rows = rows[: len(pivots)]
        return larger

    def contains(self, row: Residues) -> bool:
        return not Span.grow(copy(self), row[None])


def _blocks(signs: list[Vector], size: int) -> Iterator[list[Vector]]:
    step = max(1, _STACK // size)
    for start in range(0, len(signs), step):
        yield signs[start : start + step]


def _rank_two(
    L: Residues,
    span: Span,
    b: int,
    c: int,
    signs: list[Vector],
) -> Matrix | None:
    """A summand x⊗y of a matrix x⊗y + x'⊗y' in L that is not in the span of the rank ones."""
    equations = _equations(L, 2 * c + 2).reshape(-1, b, c)
    single = _contracted(equations, np.array(signs))
    pairs = list(combinations(range(len(signs)), 2))
    nullity = c - modular.ranks(single)
    stack = np.stack([np.hstack([single[i], single[j]]) for i, j in pairs])
    excess = 2 * c - modular.ranks(stack)
    best: tuple[int, Vector, list[int]] | None = None
    for n in np.flatnonzero(excess > [nullity[i] + nullity[j] for i, j in pairs]):
        i, j = pairs[n]
        for y in modular.kernel(stack[n]):
            whole = np.outer(signs[i], y[:c]) + np.outer(signs[j], y[c:])
            row = whole.reshape(1, -1) % modular.PRIME
            if not span.contains(row[0]) and (line := small(y)) is not None:
                for x, part in ((signs[i], line[:c]), (signs[j], line[c:])):
                    size = sum(map(abs, part))
                    if size and (best is None or size < best[0]):
                        best = size, x, part
        if best is not None:
            break
    return None if best is None else best[1:]


def small(residues: Residues) -> list[int] | None:
    """A vector of small integers on the same line mod the prime, if an entry divides it so.

    >>> small(modular.residues(np.array([10, 5, -5])))
    [2, 1, -1]
    """
    for pivot in residues[residues != 0][:4]:
        line = residues * pow(int(pivot), -1, modular.PRIME) % modular.PRIME
        line = np.where(line > modular.PRIME // 2, line - modular.PRIME, line)
        for factor in (1, 2, 3, 6):
            scaled = (line * factor) % modular.PRIME
            scaled = np.where(scaled > modular.PRIME // 2, scaled - modular.PRIME, scaled)
            if np.abs(scaled).max() < 1_000:
                return [int(x) for x in scaled]
    return None


def _decomposition(
    array: Array,
    mode: int,
    others: list[int],
    used: list[tuple[Vector, bool]],
    added: list[Matrix],
) -> Decomposition | None:
    """The terms over Q: the x⊗y in the span of the slices and of what was added, chosen exactly."""
    X = np.transpose(array, (mode, *others))
    a, b, c = X.shape
    L = [*X.reshape(a, b * c).tolist(), *(np.outer(*pair).ravel().tolist() for pair in added)]
    ones = _exact(L, b, c, used)
    rows = [one.entries() for one in ones]
    chosen = independent(rows)
    if len(chosen) != len(L):
        return None  # the prime was unlucky
    table = fmpq_mat([rows[i] for i in chosen])
    columns = independent(table.transpose().tolist())
    square = fmpq_mat([[row[j] for j in columns] for row in table.tolist()])
    goal = fmpq_mat([[fmpq(L[i][j]) for j in columns] for i in range(a)])
    coefficients = square.transpose().solve(goal.transpose()).tolist()
    terms = []
    for row, i in zip(coefficients, chosen, strict=True):
        parts: list[list[fmpq]] = [[], [], []]
        parts[mode], parts[others[0]], parts[others[1]] = row, ones[i].x, ones[i].y
        terms.append(parts)
    found = rational_terms(array.shape, terms)
    return found if found.adds_up_to(array) else None
