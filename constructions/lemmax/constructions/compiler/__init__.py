r"""The compiler: facts in, attention weights out, and a proof that every fact is known.

Values are numbered 1, …, N. All four constructions make the logits of the input (k, q)

.. math:: L_v = c\,(s\,v - v^2/2), \qquad |s - n| \le 1/8, \quad n = \text{the number of } D(k, q),

which is largest at v = n by at least 3c/8, and give every token outside V the logit -c(N+2).
They differ in how a head produces the scalar s = s(k, q):

``by-predicates`` (subjects and predicates disjoint)
    One head, d_vo = 1, d_qk = |Q| - 1, d_model = |Q| (for one predicate d_model = 2 and uniform
    attention). Key k carries the number x_k and its wanted attention for each predicate but one;
    that one sees it with attention 1/2, which fixes x_k.
``by-keys`` (subjects and predicates disjoint)
    The same with the roles exchanged: d_qk = |K| - 1, d_model = |K| + 1.
``two-heads`` (any tokens may coincide, k = q included)
    Two heads, d_vo = 1, d_qk = |Q|, d_model = 2|Q| + 1. The second head attends uniformly and
    subtracts, so s = e_q + (α - 1/2)(x_k - x_q), and s(q, q) = e_q.
``two-heads-one-hot``
    The same with d_model = |T| and the identity as embedding, for small vocabularies.

Attention weights are logistic functions of rationals and therefore never exactly what is wanted:
the scores are rounded to dyadic rationals so finely that s is off by at most 1/8.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from flint import arb, ctx, fmpq

from lemmax.theory.certificates.writing import Certificate, sha256, write_certificate
from lemmax.theory.errors import LemmaxError
from lemmax.theory.facts.database import Database
from lemmax.theory.latex import Typeset
from lemmax.theory.numbers.matrices import Matrix, ceiling_above, floor_below, rational
from lemmax.theory.wong.layer import AttentionLayer, Head
from lemmax.theory.wong.memorization import HiddenStates, memorizes

if TYPE_CHECKING:
    import numpy as np
    import torch
    from numpy.typing import NDArray

Method = Literal["by-predicates", "by-keys", "two-heads", "two-heads-one-hot"]


@dataclass(frozen=True)
class Dimensions:
    """The sizes of a layer and its non-embedding parameters 2·H·d_model·(d_vo + d_qk)."""

    d_model: int
    heads: int
    d_vo: int
    d_qk: int

    @property
    def parameters(self) -> int:
        """Non-embedding parameters."""
        return 2 * self.heads * self.d_model * (self.d_vo + self.d_qk)


@dataclass(frozen=True)
class Recall:
    """What a layer answers to (key, query): the token, its probability, the second best."""

    answer: Hashable
    probability: arb
    runner_up: Hashable | None
    runner_up_probability: arb | None

    def interval(self, digits: int = 6) -> str:
        """The probability as an interval of decimals, rounded outwards.

        >>> Recall("a", arb("0.25"), None, None).interval()
        '[0.250000, 0.250000]'
        """
        scale = 10**digits
        with ctx.workprec(256):
            low = floor_below(self.probability * scale)
            high = ceiling_above(self.probability * scale)
        ends = (f"{end // scale}.{end % scale:0{digits}d}" for end in (low, min(high, scale)))
        return f"[{', '.join(ends)}]"


@dataclass(frozen=True)
class CompiledDatabase(Typeset):
    """A layer that provably memorizes a database; made by :func:`compile_database`.

    >>> compiled = compile_database(Database.from_triples([("a", "f", "x"), ("b", "f", "y")]))
    >>> compiled.recall("a", "f").answer, compiled.certificate()["kind"]
    ('x', 'memorization')
    """

    database: Database
    layer: AttentionLayer
    method: Method
    tau: fmpq | None

    @property
    def dims(self) -> Dimensions:
        """d_model, heads, d_vo and d_qk of the layer."""
        layer = self.layer
        return Dimensions(layer.d_model, len(layer.heads), layer.d_vo, layer.d_qk)

    def recall(self, key: Hashable, query: Hashable) -> Recall:
        """The layer's answer to (key, query), with its probability over the whole vocabulary."""
        return recall(self.layer, key, query)

    def certificate(self) -> Certificate:
        """A ``memorization`` certificate: the layer, every fact, the criterion."""
        return memorizes(self.layer, self.database, self.tau).certificate()

    def lower_bounds(self) -> tuple[str, ...]:
        """What no layer can do without, as far as it is known."""
        return lower_bounds(self.database)

    @property
    def claim(self) -> str:
        """The claim that this witnesses."""
        return f"lemmax/compiler-{self.method.removesuffix('-one-hot')}"

    def formula(self) -> str:
        """The weights as an aligned display."""
        return self.layer.formula()

    def to_numpy(self) -> dict[str, NDArray[np.float64]]:
        """The weights as float64 arrays."""
        return self.layer.to_numpy()

    def to_torch(self, dtype: torch.dtype | None = None) -> torch.nn.Module:
        """The layer as a torch module."""
        return self.layer.to_torch(dtype)


def compile_database(db: Database, tau: Any | None = None) -> CompiledDatabase:
    """Exact rational weights of an attention layer that memorizes a database.

    Every fact (k, q, v) gets strictly the largest logit over the whole vocabulary, and with τ a
    probability of at least τ. Among the constructions that apply, the one with the fewest
    non-embedding parameters is taken, then the one with the smallest d_model.

    Cost: |facts| · |tokens| · d_model word operations for the check that is always made.

    Examples
    --------
    >>> db = Database.from_triples([("a", "f", "x"), ("a", "g", "y"), ("b", "f", "y")])
    >>> compiled = compile_database(db)
    >>> compiled.dims
    Dimensions(d_model=2, heads=1, d_vo=1, d_qk=1)
    >>> compiled.recall("b", "f").answer
    'y'
    """
    threshold = None if tau is None else rational(tau)
    if threshold is not None and not 0 < threshold < 1:
        raise LemmaxError(f"The threshold must lie strictly between 0 and 1, not {threshold}.")
    candidates: dict[Method, Dimensions] = {m: dimensions(db, m) for m in applicable(db)}
    method: Method = min(
        candidates, key=lambda m: (candidates[m].parameters, candidates[m].d_model)
    )
    layer = _BUILDERS[method](db)
    if threshold is not None:
        layer = layer.scaled(_scale_for(threshold, layer, db))
    result = memorizes(layer, db, threshold)
    if not result.holds:
        raise AssertionError(f"the construction {method} misses {result.missed[0]}")
    return CompiledDatabase(db, layer, method, threshold)


def applicable(db: Database) -> tuple[Method, ...]:
    """The constructions that apply to a database."""
    if not set(db.keys) & set(db.queries):
        return ("by-predicates", "by-keys")
    return ("two-heads-one-hot", "two-heads")


def dimensions(db: Database, method: Method) -> Dimensions:
    """The sizes that a construction needs for a database."""
    K, Q = len(db.keys), len(db.queries)
    if method == "by-predicates":
        return Dimensions(max(2, Q), 1, 1, max(1, Q - 1))
    if method == "by-keys":
        return Dimensions(K + 1, 1, 1, max(1, K - 1))
    if method == "two-heads":
        return Dimensions(2 * Q + 1, 2, 1, Q)
    return Dimensions(len(db.tokens), 2, 1, Q)


def lower_bounds(db: Database) -> tuple[str, ...]:
    """Known necessities: dimensions below which no layer memorizes this database.

    >>> lower_bounds(Database.from_triples([("k", "f", 1), ("k", "g", 2), ("k", "h", 3)]))
    ('d_model >= 2: with d_model = 1 at most two values can be strict maxima.',)
    """
    bounds = []
    if len(db.values) >= 3:
        bounds.append("d_model >= 2: with d_model = 1 at most two values can be strict maxima.")
    shared = [t for t in db.keys if t in db.queries and (t, t) in db]
    for a, b in combinations(shared, 2):
        if (a, b) in db and (b, a) in db:
            same, other = db[a, a], db[a, b]
            if db[b, b] == same and db[b, a] == other and same != other:
                bounds.append(
                    f"heads >= 2: {a} and {b} form an equality table, which no one-head layer "
                    "of any dimension memorizes."
                )
                break
    return tuple(bounds)


def recall(layer: AttentionLayer, key: Hashable, query: Hashable, precision: int = 192) -> Recall:
    """The two most probable next tokens after (key, query)."""
    k, q = layer.indices((key, query))
    state = HiddenStates(layer)(k, q, precision)
    with ctx.workprec(precision):
        columns = layer.W_U.flint.transpose().tolist()
        logits = [sum((h * arb(w) for h, w in zip(state, c, strict=True)), arb(0)) for c in columns]
        order = sorted(range(len(logits)), key=lambda t: _Middle(logits[t]), reverse=True)
        total = sum(((logit - logits[order[0]]).exp() for logit in logits), arb(0))
        best = 1 / total
        if len(order) == 1:
            return Recall(layer.tokens[order[0]], best, None, None)
        second = (logits[order[1]] - logits[order[0]]).exp() / total
    if not logits[order[0]] > logits[order[1]]:
        tied = " and ".join(repr(layer.tokens[t]) for t in order[:2])
        raise LemmaxError(f"After {key!r} {query!r} the layer cannot tell {tied} apart.")
    return Recall(layer.tokens[order[0]], best, layer.tokens[order[1]], second)


class _Middle:
    """Orders balls by their midpoints, exactly: floats could overflow or tie."""

    def __init__(self, ball: arb) -> None:
        self.middle = ball.mid()

    def __lt__(self, other: _Middle) -> bool:
        return bool(self.middle < other.middle)


# -- the constructions -------------------------------------------------------------------------


def _numbers(db: Database) -> dict[Hashable, int]:
    return {v: n for n, v in enumerate(db.values, 1)}


def _power_of_two(least: int) -> int:
    return 1 << max(0, (least - 1).bit_length())


def _logit(probability: Fraction, accuracy: int) -> Fraction:
    """ln(p/(1-p)) rounded to a dyadic rational within 1/accuracy."""
    grid = _power_of_two(accuracy)  # rounding to 1/grid is off by at most 1/(2·grid)
    with ctx.workprec(96):
        odds = arb(fmpq(probability.numerator, probability.denominator))
        scaled = (odds / (1 - odds)).log() * grid
        return Fraction(floor_below(scaled + arb("0.5")), grid)


def _unembedding(db: Database, f: list[Fraction], g: list[Fraction]) -> list[list[Fraction]]:
    """W_U = g ⊗ v - f ⊗ v²/2 on V, and -(N+2) f on the other tokens.

    A hidden state h with h·f = 1 and h·g = s gets the logits s·v - v²/2.
    """
    number, N = _numbers(db), len(db.values)
    return [
        [
            b * n - a * Fraction(n * n, 2) if (n := number.get(t)) is not None else -(N + 2) * a
            for t in db.tokens
        ]
        for a, b in zip(f, g, strict=True)
    ]


def _unit(size: int, position: int) -> list[Fraction]:
    return [Fraction(int(i == position)) for i in range(size)]


def _by_predicates(db: Database) -> AttentionLayer:
    """One head of d_model = max(2, |Q|): see the module's docstring."""
    number, N = _numbers(db), len(db.values)
    M = _power_of_two(N)
    d = max(2, len(db.queries))
    last = d - 1  # the coordinate of the predicate that every key is seen from with weight 1/2
    others, special = list(db.queries[:-1]), db.queries[-1]
    zero = [Fraction(0)] * d
    embedding: dict[Hashable, list[Fraction]] = dict.fromkeys(db.tokens, zero)
    for i, q in enumerate(others):
        embedding[q] = _unit(d, i)
    embedding[special] = _unit(d, last)
    for k in db.keys:
        x = 2 * (number[db[k, special]] if (k, special) in db else 1) + 2 * M - 1
        row = [Fraction(1)] * (d - 1) + [Fraction(x)]
        for i, q in enumerate(others):
            if (k, q) in db:
                # s = α·x must be the number n; its slope in the score is at most x/4.
                row[i] += _logit(Fraction(number[db[k, q]], x), 2 * x)
        embedding[k] = row
    select = [_unit(d - 1, i) if i < last else [Fraction(0)] * (d - 1) for i in range(d)]
    f, g = [Fraction(1)] * d, [Fraction(0)] * last + [Fraction(-M)]
    W_O = [Fraction(0)] * d
    W_O[0], W_O[last] = Fraction(1, M), Fraction(-1, M)  # W_O·f = 0 and W_O·g = 1
    head = Head(
        Matrix(select),
        Matrix([list(column) for column in zip(*select, strict=True)]),
        Matrix([[x] for x in _unit(d, last)]),
        Matrix([W_O]),
    )
    return AttentionLayer(
        db.tokens,
        Matrix([embedding[t] for t in db.tokens]),
        Matrix(_unembedding(db, f, g)),
        (head,),
    )


def _by_keys(db: Database) -> AttentionLayer:
    """One head of d_model = |K| + 1: the keys are one-hot, the predicates carry the scores.

    Coordinates: |K| - 1 keys (the last key has none), then a constant, then y. For the input
    (k, q), s = -M + y_q(1 + 2(1-α)), and the last key is seen with α = 1/2.
    """
    number, N = _numbers(db), len(db.values)
    M = _power_of_two(2 * N)
    block = len(db.keys) - 1
    d, d_qk = block + 2, max(1, block)
    # Queries also meet themselves: the score u·u. Keys are scaled so that it does not matter.
    largest = 3 * (N + M)
    t = _power_of_two(8 * largest * (block + 1))
    embedding: dict[Hashable, list[Fraction]] = {x: [Fraction(0)] * d for x in db.tokens}
    for i, k in enumerate(db.keys[:-1]):
        embedding[k] = [t * x for x in _unit(d, i)]
    for q in db.queries:
        n0 = number[db[db.keys[-1], q]] if (db.keys[-1], q) in db else 1
        y = Fraction(n0 + M, 2)
        row = [Fraction(0)] * block + [Fraction(1), y]
        for i, k in enumerate(db.keys[:-1]):
            if (k, q) in db:
                rest = (Fraction(number[db[k, q]] + M) / y - 1) / 2  # = 1 - α
                row[i] = _logit(1 - rest, 2 * largest) / t
        embedding[q] = row
    select = [_unit(d_qk, i) if i < block else [Fraction(0)] * d_qk for i in range(d)]
    f = _unit(d, d - 2)
    g = [Fraction(0)] * block + [Fraction(-M), Fraction(1)]
    head = Head(
        Matrix(select),
        Matrix([list(column) for column in zip(*select, strict=True)]),
        Matrix([[x] for x in _unit(d, d - 1)]),
        Matrix([[2 * x for x in _unit(d, d - 1)]]),
    )
    return AttentionLayer(
        db.tokens,
        Matrix([embedding[x] for x in db.tokens]),
        Matrix(_unembedding(db, f, g)),
        (head,),
    )


@dataclass(frozen=True)
class _TwoHeadPlan:
    """x_t and e_q of the two-head constructions, and the wanted attention scores."""

    x: dict[Hashable, Fraction]
    e: dict[Hashable, Fraction]
    score: dict[tuple[Hashable, Hashable], Fraction]


def _two_head_plan(db: Database) -> _TwoHeadPlan:
    number, N = _numbers(db), len(db.values)
    spacing = _power_of_two(4 * N)
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
            score[k, q] = _logit(wanted, math.ceil(4 * abs(reach)))
    return _TwoHeadPlan(x, e, score)


def _subtracting(value: list[Fraction], output: list[Fraction], d_qk: int) -> Head:
    """Uniform attention, minus the values of the first head."""
    d = len(value)
    return Head(
        Matrix.zeros(d, d_qk),
        Matrix.zeros(d_qk, d),
        Matrix([[-x] for x in value]),
        Matrix([output]),
    )


def _two_heads(db: Database) -> AttentionLayer:
    """d_model = 2|Q| + 1: one-hot query, the scores that each query gives, the value x."""
    plan, Q = _two_head_plan(db), len(db.queries)
    d = 2 * Q + 1
    rows = []
    for t in db.tokens:
        one_hot = [Fraction(int(t == q)) for q in db.queries]
        scores = [plan.score.get((t, q), Fraction(0)) for q in db.queries]
        rows.append([*one_hot, *scores, plan.x[t]])
    f = [Fraction(1)] * Q + [Fraction(0)] * (Q + 1)
    g = [plan.e[q] - plan.x[q] for q in db.queries] + [Fraction(0)] * Q + [Fraction(1)]
    value, output = _unit(d, d - 1), _unit(d, d - 1)
    W_Q = [_unit(Q, i) if i < Q else [Fraction(0)] * Q for i in range(d)]
    W_K = [_unit(d, Q + i) for i in range(Q)]
    first = Head(Matrix(W_Q), Matrix(W_K), Matrix([[v] for v in value]), Matrix([output]))
    return AttentionLayer(
        db.tokens,
        Matrix(rows),
        Matrix(_unembedding(db, f, g)),
        (first, _subtracting(value, output, Q)),
    )


def _two_heads_one_hot(db: Database) -> AttentionLayer:
    """d_model = |T| and W_E the identity, so that every circuit is read off the weights."""
    plan, Q, d = _two_head_plan(db), len(db.queries), len(db.tokens)
    position = {q: i for i, q in enumerate(db.queries)}
    f = [Fraction(int(t in position)) for t in db.tokens]
    g = [plan.e.get(t, Fraction(0)) for t in db.tokens]
    output = [Fraction(0)] * d
    free = next((i for i, t in enumerate(db.tokens) if t not in position), None)
    if free is not None:
        g[free], output[free] = Fraction(1), Fraction(1)
    elif d > 1:
        a, b = db.tokens.index(db.queries[0]), db.tokens.index(db.queries[-1])
        a = next(i for i in range(d) if g[i] != g[b])
        output[a], output[b] = 1 / (g[a] - g[b]), -1 / (g[a] - g[b])  # ·f = 0 and ·g = 1
    value = [plan.x[t] for t in db.tokens]
    W_Q = [_unit(Q, position[t]) if t in position else [Fraction(0)] * Q for t in db.tokens]
    W_K = [[plan.score.get((t, q), Fraction(0)) for t in db.tokens] for q in db.queries]
    first = Head(Matrix(W_Q), Matrix(W_K), Matrix([[v] for v in value]), Matrix([output]))
    return AttentionLayer(
        db.tokens,
        Matrix.identity(d),
        Matrix(_unembedding(db, f, g)),
        (first, _subtracting(value, output, Q)),
    )


_BUILDERS: dict[Method, Callable[[Database], AttentionLayer]] = {
    "by-predicates": _by_predicates,
    "by-keys": _by_keys,
    "two-heads": _two_heads,
    "two-heads-one-hot": _two_heads_one_hot,
}


def _scale_for(tau: fmpq, layer: AttentionLayer, db: Database) -> int:
    """A factor c of W_U with which every fact reaches probability τ.

    With |s - n| ≤ 1/8 the odds against a fact are at most 2/(e^{3c/8} - 1) from the values, plus
    |T|·e^{-3c} from the other tokens; c = (8/3)·ln(4|T|/(1-τ)) is enough, and half of that is
    tried first because it usually is.
    """
    with ctx.workprec(64):
        enough = 8 * (4 * len(layer.tokens) / (1 - arb(tau))).log() / 3
        values_only = 8 * ((1 + arb(tau)) / (1 - arb(tau))).log() / 3
        ceiling, first = ceiling_above(enough), max(1, ceiling_above(values_only))
    c = first
    while c < ceiling:
        if memorizes(layer.scaled(c), db, tau).holds:
            return c
        c = min(ceiling, 2 * c)
    return ceiling


# -- layer files -------------------------------------------------------------------------------


def save(compiled: CompiledDatabase, path: str | Path) -> None:
    """Write a compiled layer: ``.json`` is its certificate, ``.safetensors`` its float64 weights.

    The JSON file is a memorization certificate as it is, so the checker reads it; its note holds
    a digest by which :func:`load_layer` notices an edited file.
    """
    path = Path(path)
    if path.suffix == ".json":
        certificate = compiled.certificate()
        write_certificate(path, {**certificate, "note": f"sha256 {sha256(certificate)}"})
    elif path.suffix == ".safetensors":
        from lemmax.constructions.exports import write_safetensors

        write_safetensors(compiled.layer, path)
    else:
        raise LemmaxError(f"{path}: a layer is written as .json or .safetensors.")


def load_layer(path: str | Path) -> AttentionLayer:
    """Read the layer of a file that :func:`save` wrote; refuse one that was cut or edited."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise LemmaxError(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise LemmaxError(f"{path} is not a layer file: it is cut short or not JSON.") from None
    if not isinstance(document, dict) or document.get("kind") != "memorization":
        raise LemmaxError(f"{path} is not a layer file.")
    note = document.pop("note", "")
    if note != f"sha256 {sha256(document)}":
        raise LemmaxError(f"{path} was edited: its contents do not match its digest.")
    fields = document["layer"]
    return AttentionLayer(
        tuple(fields["tokens"]),
        Matrix(fields["W_E"]),
        Matrix(fields["W_U"]),
        tuple(
            Head(**{name: Matrix(rows) for name, rows in head.items()}) for head in fields["heads"]
        ),
        fields["unit"],
    )


__all__ = [
    "CompiledDatabase",
    "Dimensions",
    "Recall",
    "compile_database",
    "load_layer",
    "lower_bounds",
    "recall",
    "save",
]
