"""One head, d_model = |K|: the constructions by predicates and by keys cost the same."""

from __future__ import annotations

import math
from collections.abc import Hashable
from fractions import Fraction

from lemmax.constructions.compiler.parabola import logit, numbers, power_of_two, unembedding, unit
from lemmax.theory.facts.database import Database
from lemmax.theory.numbers.matrices import Matrix
from lemmax.theory.wong.layer import AttentionLayer, Head


def few_keys(db: Database) -> AttentionLayer:
    """One head of d_model = max(2, |K|), d_qk = max(1, |K| - 1): logits are read up to a factor.

    The last coordinate y of a predicate is both the number that the last key reads, with attention
    1/2, and the factor of all its logits. For the input (k, q) the scalar is

        s / y = x_0 / y + 1 + α (w_k / y - 1),

    with x_0 negligible; y is chosen for the last key and α for each other one. Needs subjects and
    predicates to be disjoint.

    >>> db = Database.from_triples([("a", "f", 1), ("a", "g", 2), ("b", "f", 3), ("b", "h", 2)])
    >>> few_keys(db).parameters
    8
    """
    number, N = numbers(db), len(db.values)
    d = max(2, len(db.keys))
    last, block = d - 1, len(db.keys) - 1
    w = N + 2
    steep = (2 * N + 1) * w  # no w_k/y is larger, nor the odds of a wanted attention
    B = power_of_two(32 * d * steep.bit_length() * steep)  # self-scores and x_0 do not matter
    embedding: dict[Hashable, list[Fraction]] = {t: [Fraction(0)] * d for t in db.tokens}
    for i, k in enumerate(db.keys[:-1]):
        embedding[k] = [B * x + w * y for x, y in zip(unit(d, i), unit(d, last), strict=True)]
    embedding[db.keys[-1]] = unit(d, last)
    for q in db.queries:
        n = number[db[db.keys[-1], q]] if (db.keys[-1], q) in db else 1
        y = Fraction(1, 2 * n + 1)
        row = [Fraction(0)] * d
        row[last] = y
        for i, k in enumerate(db.keys[:-1]):
            if (k, q) in db:
                row[i] = logit(number[db[k, q]] / (w / y - 1), math.ceil(8 * w / y)) / B
        embedding[q] = row
    width = max(1, block)
    select = [unit(width, i) if i < width else [Fraction(0)] * width for i in range(d)]
    f = unit(d, last)
    g = [a - b for a, b in zip(unit(d, 0), f, strict=True)]
    head = Head(
        Matrix(select), Matrix(select).T, Matrix([[x] for x in unit(d, last)]), Matrix([unit(d, 0)])
    )
    return AttentionLayer(
        db.tokens,
        Matrix([embedding[t] for t in db.tokens]),
        Matrix(unembedding(db, f, g)),
        (head,),
    )
