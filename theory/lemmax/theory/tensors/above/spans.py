"""Upper bounds from the matrices of rank one in the span of the slices.

Let L be the span of the a slices of a mode, matrices B × C. The rank is the least number of
matrices of rank one whose span contains L; so it is a as soon as L itself is spanned by matrices of
rank one, and a + e if that becomes true when e matrices of rank one are added to L. For a given
vector x the y with x⊗y ∈ L are a linear problem. The vectors x that are tried have small entries;
what is added are the summands of matrices x⊗y + x'⊗y' in L. Cost: that of
:mod:`lemmax.theory.tensors.rank_ones` for every matrix that is added, and one exact solution.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from typing import TypeAlias

import numpy as np
from flint import fmpq, fmpq_mat

from lemmax.theory.numbers import modular
from lemmax.theory.numbers.linear import independent
from lemmax.theory.numbers.modular import Residues
from lemmax.theory.numbers.primes import MERSENNE_31
from lemmax.theory.tensors.arrays import Array
from lemmax.theory.tensors.decompositions import Decomposition, rational_terms
from lemmax.theory.tensors.rank_ones import (
    WORK,
    Direction,
    Span,
    add_rank_ones,
    contracted,
    count_worth_trying,
    equations,
    exact_rank_ones,
)
from lemmax.theory.tensors.small_vectors import SmallVector, small_multiple, small_vectors

_PAIRS = 40  # vectors x that are tried in pairs

Outer: TypeAlias = tuple[SmallVector, list[int]]  # x⊗y


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
    vectors = small_vectors(b, count_worth_trying(b, c))
    pairs = vectors[: min(_PAIRS, max(b + 1, math.isqrt(WORK // (4 * c**3))))]
    few = small_vectors(c, c + 1)
    added: list[Outer] = []
    while a + len(added) <= most and not expired():
        span = Span(modular.reduce(L.copy()))
        used = add_rank_ones(L, b, c, few, span, swapped=True)
        used += add_rank_ones(L, b, c, pairs if added else vectors, span)
        if span.rank == len(L):
            return _decomposition(array, mode, others, used, added)
        if a + len(added) == most:
            break
        pair = _rank_two(L, span, b, c, pairs)
        if pair is None:
            break
        added.append(pair)
        L = np.vstack([L, np.outer(*pair).reshape(1, -1) % MERSENNE_31])
    return None


def _rank_two(
    L: Residues,
    span: Span,
    b: int,
    c: int,
    vectors: list[SmallVector],
) -> Outer | None:
    """A summand x⊗y of a matrix x⊗y + x'⊗y' in L that is not in the span of the rank ones."""
    forms = equations(L, 2 * c + 2).reshape(-1, b, c)
    single = contracted(forms, np.array(vectors))
    pairs = list(combinations(range(len(vectors)), 2))
    nullity = c - modular.ranks(single)
    stack = np.stack([np.hstack([single[i], single[j]]) for i, j in pairs])
    excess = 2 * c - modular.ranks(stack)
    best: tuple[int, SmallVector, list[int]] | None = None
    for n in np.flatnonzero(excess > [nullity[i] + nullity[j] for i, j in pairs]):
        i, j = pairs[n]
        for y in modular.null_space(stack[n]):
            whole = np.outer(vectors[i], y[:c]) + np.outer(vectors[j], y[c:])
            row = whole.reshape(1, -1) % MERSENNE_31
            if not span.contains(row[0]) and (line := small_multiple(y)) is not None:
                for x, part in ((vectors[i], line[:c]), (vectors[j], line[c:])):
                    size = sum(map(abs, part))
                    if size and (best is None or size < best[0]):
                        best = size, x, part
        if best is not None:
            break
    return None if best is None else best[1:]


def _decomposition(
    array: Array,
    mode: int,
    others: list[int],
    used: list[Direction],
    added: list[Outer],
) -> Decomposition | None:
    """The terms over Q: the x⊗y in the span of the slices and of what was added, chosen exactly."""
    X = np.transpose(array, (mode, *others))
    a, b, c = X.shape
    L = [*X.reshape(a, b * c).tolist(), *(np.outer(*pair).ravel().tolist() for pair in added)]
    ones = exact_rank_ones(L, b, c, used)
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
    decomposition = rational_terms(array.shape, terms)
    return decomposition if decomposition.adds_up_to(array) else None
