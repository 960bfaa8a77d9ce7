"""One head, d_qk = |Q| - 1: each key carries its wanted attention for every predicate but one."""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction

from lemmax.constructions.compiler.parabola import logit, numbers, power_of_two, unembedding, unit
from lemmax.theory.facts.database import Database
from lemmax.theory.numbers.matrices import Matrix
from lemmax.theory.wong.layer import AttentionLayer, Head


def by_predicates(db: Database) -> AttentionLayer:
    """One head of d_model = max(2, |Q|): keys carry the scores.

    Key k carries the number x_k and its wanted attention for each predicate but the last; that
    one sees it with attention 1/2, which fixes x_k. One predicate: d_model = 2, even attention.
    Needs subjects and predicates to be disjoint."""
    number, N = numbers(db), len(db.values)
    M = power_of_two(N)
    d = max(2, len(db.queries))
    last = d - 1  # the coordinate of the predicate that every key is seen from with weight 1/2
    others, special = list(db.queries[:-1]), db.queries[-1]
    zero = [Fraction(0)] * d
    embedding: dict[Hashable, list[Fraction]] = dict.fromkeys(db.tokens, zero)
    for i, q in enumerate(others):
        embedding[q] = unit(d, i)
    embedding[special] = unit(d, last)
    for k in db.keys:
        x = 2 * (number[db[k, special]] if (k, special) in db else 1) + 2 * M - 1
        row = [Fraction(1)] * (d - 1) + [Fraction(x)]
        for i, q in enumerate(others):
            if (k, q) in db:
                # s = α·x must be the number n; its slope in the score is at most x/4.
                row[i] += logit(Fraction(number[db[k, q]], x), 2 * x)
        embedding[k] = row
    select = [unit(d - 1, i) if i < last else [Fraction(0)] * (d - 1) for i in range(d)]
    f, g = [Fraction(1)] * d, [Fraction(0)] * last + [Fraction(-M)]
    W_O = [Fraction(0)] * d
    W_O[0], W_O[last] = Fraction(1, M), Fraction(-1, M)  # W_O·f = 0 and W_O·g = 1
    head = Head(
        Matrix(select),
        Matrix(select).T,
        Matrix([[x] for x in unit(d, last)]),
        Matrix([W_O]),
    )
    return AttentionLayer(
        db.tokens,
        Matrix([embedding[t] for t in db.tokens]),
        Matrix(unembedding(db, f, g)),
        (head,),
    )
