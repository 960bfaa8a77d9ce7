"""The two heads with d_model = |T| and the identity as embedding, for small vocabularies."""

from __future__ import annotations

from fractions import Fraction

from lemmax.constructions.compiler.parabola import unembedding, unit
from lemmax.constructions.compiler.two_heads import subtracting, targets
from lemmax.theory.facts.database import Database
from lemmax.theory.numbers.matrices import Matrix
from lemmax.theory.wong.layer import AttentionLayer, Head


def two_heads_one_hot(db: Database) -> AttentionLayer:
    """d_model = |T| and W_E the identity, so that every circuit is read off the weights."""
    aim, Q, d = targets(db), len(db.queries), len(db.tokens)
    position = {q: i for i, q in enumerate(db.queries)}
    f = [Fraction(int(t in position)) for t in db.tokens]
    g = [aim.e.get(t, Fraction(0)) for t in db.tokens]
    output = [Fraction(0)] * d
    free = next((i for i, t in enumerate(db.tokens) if t not in position), None)
    if free is not None:
        g[free], output[free] = Fraction(1), Fraction(1)
    elif d > 1:
        a, b = db.tokens.index(db.queries[0]), db.tokens.index(db.queries[-1])
        a = next(i for i in range(d) if g[i] != g[b])
        output[a], output[b] = 1 / (g[a] - g[b]), -1 / (g[a] - g[b])  # ·f = 0 and ·g = 1
    value = [aim.x[t] for t in db.tokens]
    W_Q = [unit(Q, position[t]) if t in position else [Fraction(0)] * Q for t in db.tokens]
    W_K = [[aim.score.get((t, q), Fraction(0)) for t in db.tokens] for q in db.queries]
    first = Head(Matrix(W_Q), Matrix(W_K), Matrix([[v] for v in value]), Matrix([output]))
    return AttentionLayer(
        db.tokens,
        Matrix.identity(d),
        Matrix(unembedding(db, f, g)),
        (first, subtracting(value, output, Q)),
    )
