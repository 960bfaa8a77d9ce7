"""One head, d_qk = |K| - 1: each predicate carries its wanted attention to every key but one."""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction

from lemmax.constructions.compiler.parabola import logit, numbers, power_of_two, unembedding, unit
from lemmax.theory.facts.database import Database
from lemmax.theory.numbers.matrices import Matrix
from lemmax.theory.wong.layer import AttentionLayer, Head


def by_keys(db: Database) -> AttentionLayer:
    """One head of d_model = |K| + 1: the keys are one-hot, the predicates carry the scores.

    Coordinates: |K| - 1 keys (the last key has none), then a constant, then y. For the input
    (k, q), s = -M + y_q(1 + 2(1-α)), and the last key is seen with α = 1/2. Needs subjects and
    predicates to be disjoint.
    """
    number, N = numbers(db), len(db.values)
    M = power_of_two(2 * N)
    block = len(db.keys) - 1
    d, d_qk = block + 2, max(1, block)
    # Queries also meet themselves: the score u·u. Keys are scaled so that it does not matter.
    largest = 3 * (N + M)
    t = power_of_two(8 * largest * (block + 1))
    embedding: dict[Hashable, list[Fraction]] = {x: [Fraction(0)] * d for x in db.tokens}
    for i, k in enumerate(db.keys[:-1]):
        embedding[k] = [t * x for x in unit(d, i)]
    for q in db.queries:
        n0 = number[db[db.keys[-1], q]] if (db.keys[-1], q) in db else 1
        y = Fraction(n0 + M, 2)
        row = [Fraction(0)] * block + [Fraction(1), y]
        for i, k in enumerate(db.keys[:-1]):
            if (k, q) in db:
                rest = (Fraction(number[db[k, q]] + M) / y - 1) / 2  # = 1 - α
                row[i] = logit(1 - rest, 2 * largest) / t
        embedding[q] = row
    select = [unit(d_qk, i) if i < block else [Fraction(0)] * d_qk for i in range(d)]
    f = unit(d, d - 2)
    g = [Fraction(0)] * block + [Fraction(-M), Fraction(1)]
    head = Head(
        Matrix(select),
        Matrix(select).T,
        Matrix([[x] for x in unit(d, d - 1)]),
        Matrix([[2 * x for x in unit(d, d - 1)]]),
    )
    return AttentionLayer(
        db.tokens,
        Matrix([embedding[x] for x in db.tokens]),
        Matrix(unembedding(db, f, g)),
        (head,),
    )
