r"""What no weights of a multi-head layer can exceed: ranks of Z, dimensions of label sets.

Notation: T examples, contexts :math:`E^{(t)}` of n tokens in dimension d, H heads of dimension
d_h. For a set F of examples, ρ(F) is the dimension of the span of all their tokens and δ(F) that
of all differences of two tokens of one context.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from flint import fmpq_mat

from lemmax.theory.errors import LemmaxError
from lemmax.theory.numbers.matrices import Matrix, MatrixLike
from lemmax.theory.numbers.rank import certified_rank

_ALL_UNIONS = 10  # up to so many different contexts every union of them is tried


@dataclass(frozen=True)
class CeilingBound:
    """rank Z <= ``value`` = examples outside + ρ + (H-1) δ, for the union of ``contexts``."""

    value: int
    contexts: tuple[int, ...]
    outside: int
    rho: int
    delta: int


def feature_rank_ceiling(
    contexts: Sequence[Matrix], context_of: Sequence[int], H: int
) -> CeilingBound:
    r"""The least of :math:`|T \setminus F| + \rho(F) + (H-1)\,\delta(F)` over unions F of groups.

    A group is the set of the examples with one context. For every F the value bounds rank Z for
    *all* weights and queries: subtract the first block of columns from the others; row t of block
    h then is :math:`E^\top(\theta_h - \theta_1)`, a combination of differences.

    Up to ten contexts all unions are tried; beyond that only the unions of all groups above
    some size, which still gives a valid bound.

    Examples
    --------
    A shared context of rank n gives H(n-1) + 1:

    >>> E = Matrix([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]])
    >>> feature_rank_ceiling([E], [0] * 20, H=4).value
    9

    Unbalanced contexts: 20 queries on one and 1 on another.

    >>> E2 = Matrix([[1, 2, 0, 0, 1, 0], [0, 1, 3, 0, 0, 0], [0, 0, 0, 1, 1, 4]])
    >>> E1 = Matrix([[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0]])
    >>> feature_rank_ceiling([E1, E2], [0] * 20 + [1], H=3).value
    8
    """
    if H < 1:
        raise LemmaxError(f"A layer has at least one head, not {H}.")
    sizes = Counter(context_of)
    present = sorted(sizes)
    T = len(context_of)

    def bound(chosen: tuple[int, ...]) -> CeilingBound:
        outside = T - sum(sizes[c] for c in chosen)
        rho, delta = spans([contexts[c] for c in chosen])
        return CeilingBound(outside + rho + (H - 1) * delta, chosen, outside, rho, delta)

    best = min(bound(()), bound(tuple(present)), key=lambda b: b.value)
    if len(present) <= _ALL_UNIONS:
        for mask in range(1, 2 ** len(present) - 1):
            chosen = tuple(c for i, c in enumerate(present) if mask >> i & 1)
            if T - sum(sizes[c] for c in chosen) < best.value:
                best = min(best, bound(chosen), key=lambda b: b.value)
        return best
    # A context with few examples is cheap to leave outside.
    for size in sorted(set(sizes.values()))[:-1]:
        chosen = tuple(c for c in present if sizes[c] > size)
        best = min(best, bound(chosen), key=lambda b: b.value)
    return best


def spans(contexts: Sequence[Matrix]) -> tuple[int, int]:
    """ρ and δ of some contexts: the dimensions of their tokens and of their differences.

    >>> spans([Matrix([[1, 0], [1, 1]])])
    (2, 1)
    """
    if not contexts:
        return 0, 0
    tokens = [row for E in contexts for row in E.flint.tolist()]
    differences = [
        [a - b for a, b in zip(row, rows[0], strict=True)]
        for rows in (E.flint.tolist() for E in contexts)
        for row in rows[1:]
    ]
    rho = certified_rank(fmpq_mat(tokens)).rank
    return rho, certified_rank(fmpq_mat(differences)).rank if differences else 0


def theorem_1_bound(n: int, d_h: int, H: int) -> int:
    """H(min(n, d_h) - 1) + 1, what Theorem 1 guarantees as it is stated."""
    return H * (min(n, d_h) - 1) + 1


def dimension_ceiling(context: MatrixLike, queries: MatrixLike, H: int, d_h: int) -> int:
    r"""D = H (r (δ + κ - r) + δ) + 1 with r = min(d_h, δ, κ): a shared context's label dimension.

    δ is the rank of the differences of the tokens (n - 1 when the context has rank n) and κ that
    of the queries. The outputs (d_out = 1) depend smoothly on, per head, a δ × κ matrix of rank at
    most r and δ value differences, and on one constant. So for T > D the realizable label vectors
    are a null set, and the Jacobian in the weights has rank at most D for all T.

    >>> E = Matrix.identity(5)[range(4), range(5)]
    >>> [dimension_ceiling(E, Matrix.identity(5), H=2, d_h=k) for k in (1, 2, 3, 4)]
    [21, 31, 37, 37]
    """
    _, delta = spans([Matrix(context)])
    kappa = certified_rank(queries).rank
    r = min(d_h, delta, kappa)
    return H * (r * (delta + kappa - r) + delta) + 1


def dimension_ceiling_contexts(d: int, H: int, d_h: int) -> int:
    """H (r (2d - r) + d), r = min(d_h, d): the same bound where every example has its own context.

    >>> dimension_ceiling_contexts(64, 20, 64)
    83200
    """
    r = min(d_h, d)
    return H * (r * (2 * d - r) + d)


def two_token_law(queries: MatrixLike, H: int) -> int:
    """The largest rank of Z for distinct queries on a shared context of two independent tokens.

    With k classes {e, -e} of nonzero queries it is min(H + 1, T) if k = T, else min(H, k) + 1.

    >>> two_token_law([[1, 0], [-1, 0], [0, 1], [0, -1]], H=8)
    3
    >>> two_token_law([[1, 0], [2, 0], [0, 1]], H=8)
    3
    """
    rows = [tuple(row) for row in Matrix(queries).flint.tolist()]
    if len(set(rows)) != len(rows):
        raise LemmaxError("The two-token law is for pairwise distinct queries.")
    classes = {max(row, tuple(-x for x in row)) for row in rows if any(row)}
    k = len(classes)
    return min(H + 1, len(rows)) if k == len(rows) else min(H, k) + 1
