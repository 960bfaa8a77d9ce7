"""Two heads, d_vo = 1: the second attends evenly and subtracts, so that any tokens may coincide."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction

from lemmax.constructions.compiler.parabola import logit, numbers, power_of_two, unembedding, unit
from lemmax.theory.facts.database import Database
from lemmax.theory.numbers.matrices import Matrix
from lemmax.theory.wong.layer import AttentionLayer, Head


@dataclass(frozen=True)
class Targets:
    """x_t and e_q of the two-head constructions, and the wanted attention scores."""

    x: dict[Hashable, Fraction]
    e: dict[Hashable, Fraction]
    score: dict[tuple[Hashable, Hashable], Fraction]


def targets(db: Database) -> Targets:
    """s = e_q + (α - 1/2)(x_k - x_q), which is e_q at k = q, solved for the attention α."""
    number, N = numbers(db), len(db.values)
    spacing = power_of_two(4 * N)
    x = {t: Fraction(spacing * i) for i, t in enumerate(db.tokens)}
    e = {q: Fraction(number[db[q, q]] if (q, q) in db else 1) for q in db.queries}
    if len(set(e.values())) == 1 and len(e) > 1:
        e[db.queries[-1]] += Fraction(1, 16)  # the one-hot embedding needs two different e_q
    score = {}
    for k, q, v in db:
        if k != q:
            # s = e_q + (α - 1/2)(x_k - x_q): its slope in the score is at most |x_k - x_q|/4.
            reach = x[k] - x[q]
            wanted = Fraction(1, 2) + (number[v] - e[q]) / reach
            score[k, q] = logit(wanted, math.ceil(4 * abs(reach)))
    return Targets(x, e, score)


def subtracting(value: list[Fraction], output: list[Fraction], d_qk: int) -> Head:
    """Uniform attention, minus the values of the first head."""
    d = len(value)
    return Head(
        Matrix.zeros(d, d_qk),
        Matrix.zeros(d_qk, d),
        Matrix([[-x] for x in value]),
        Matrix([output]),
    )


def two_heads(db: Database) -> AttentionLayer:
    """d_model = 2|Q| + 1: one-hot query, the scores that each query gives, the value x."""
    aim, Q = targets(db), len(db.queries)
    d = 2 * Q + 1
    rows = []
    for t in db.tokens:
        one_hot = [Fraction(int(t == q)) for q in db.queries]
        scores = [aim.score.get((t, q), Fraction(0)) for q in db.queries]
        rows.append([*one_hot, *scores, aim.x[t]])
    f = [Fraction(1)] * Q + [Fraction(0)] * (Q + 1)
    g = [aim.e[q] - aim.x[q] for q in db.queries] + [Fraction(0)] * Q + [Fraction(1)]
    value, output = unit(d, d - 1), unit(d, d - 1)
    W_Q = [unit(Q, i) if i < Q else [Fraction(0)] * Q for i in range(d)]
    W_K = [unit(d, Q + i) for i in range(Q)]
    first = Head(Matrix(W_Q), Matrix(W_K), Matrix([[v] for v in value]), Matrix([output]))
    return AttentionLayer(
        db.tokens,
        Matrix(rows),
        Matrix(unembedding(db, f, g)),
        (first, subtracting(value, output, Q)),
    )
