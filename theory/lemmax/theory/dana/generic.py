"""Transformers with random weights, and the rank that almost all weights give."""

from __future__ import annotations

import random

from lemmax.theory.dana.transformer import AoT, AoTHead
from lemmax.theory.numbers.matrices import Matrix


def generic_aot(
    N: int,
    S: int,
    d: int,
    d_h: int,
    H: int,
    seed: int = 0,
    *,
    rank_one: bool = True,
    size: int = 999,
) -> AoT:
    """A transformer with random integer weights; W_QK of rank one unless told otherwise.

    Small entries give accidental deficits (a repeated or zero W_QK), hence the wide range. W_O and
    W_U are zero: only the attention before output is meant.
    """
    source = random.Random(seed)

    def table(rows: int, columns: int) -> Matrix:
        return Matrix([[source.randint(-size, size) for _ in range(columns)] for _ in range(rows)])

    def factor() -> Matrix:
        rows = table(d_h, d).flint.tolist()
        return Matrix(rows[:1] + [[0] * d] * (d_h - 1)) if rank_one else Matrix(rows)

    heads = tuple(
        AoTHead(factor(), factor(), table(d_h, d), Matrix.zeros(d, d_h)) for _ in range(H)
    )
    e, pos = table(N, d), table(S, d)
    return AoT(tuple(range(N)), e, pos, Matrix.zeros(N, d), heads)


def generic_feature_rank(T0: int, K: int, d: int, H: int) -> int:
    """min(T₀, H + min(d, K)): the generic rank of W_V A' for d_h = 1, S ≥ 2 and d ≥ 2.

    For d_h ≥ 2 it is a lower bound only: two more sequences may fit through one head.
    """
    return min(T0, H + min(d, K))
