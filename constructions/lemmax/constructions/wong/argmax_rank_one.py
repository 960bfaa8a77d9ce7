r"""Rank one, argmax of rank three: the smallest matrix that the bound "at most 2" forgets.

For \(M = uv^\top\) a row with \(u_i > 0\) marks the maxima of v, one with \(u_i < 0\) its minima,
and one with \(u_i = 0\) marks everything: three kinds of rows, hence rank at most 3, and exactly 3
as soon as u has all three signs and v at least three distinct values.
"""

from __future__ import annotations

from lemmax.constructions.refuting import refute
from lemmax.theory.certificates.writing import Certificate
from lemmax.theory.numbers.matrices import Matrix


def argmax_rank_one_counterexample() -> Matrix:
    """The 3 × 3 matrix (1, -1, 0)ᵀ(1, 0, -1): rank 1, argmax of rank 3.

    >>> from lemmax.theory import argmax, certified_rank
    >>> M = argmax_rank_one_counterexample()
    >>> certified_rank(M).rank, certified_rank(argmax(M)).rank
    (1, 3)
    """
    return Matrix([[1], [-1], [0]]) @ Matrix([[1, 0, -1]])


def argmax_rank_one_refutation() -> Certificate:
    """The refutation of "rank M = 1 implies rank argmax M ≤ 2"."""
    return refute("wong/argmax-rank-one", M=argmax_rank_one_counterexample())
