r"""Counterexamples to statements of Wong (2025), each the smallest we know, as certificates.

Every function returns a ``refutation`` that the independent checker accepts: its instance satisfies
the assumptions of the claim's formal statement and not the conclusion. Where that statement is only
a consequence of the claim, the claim says why.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flint import arb, ctx, fmpq

from lemmax.constructions.refuting import refute, witness
from lemmax.theory.certificates.writing import Certificate
from lemmax.theory.facts.database import Database
from lemmax.theory.numbers.matrices import Matrix, rational
from lemmax.theory.numbers.row_maps import Unit
from lemmax.theory.wong.layer import AttentionLayer, Head

# -- small layers --------------------------------------------------------------------------------


def line_layer(
    embedding: Mapping[str, Any],
    unembedding: Mapping[str, Any],
    qk: Any = 0,
    vo: Any = 0,
    unit: Unit = "1",
    *,
    plain: bool = False,
) -> AttentionLayer:
    """The layer with one head and every dimension 1; tokens not named have W_U = 0.

    W_K = W_O = 1; where it is ``plain``, a circuit that is zero has no factor that is not.
    """
    key, out = (int(bool(x) or not plain) for x in (qk, vo))
    head = Head(Matrix([[qk]]), Matrix([[key]]), Matrix([[vo]]), Matrix([[out]]))
    return AttentionLayer(
        tuple(embedding),
        Matrix([[x] for x in embedding.values()]),
        Matrix([[unembedding.get(token, 0) for token in embedding]]),
        (head,),
        unit,
    )


def diagonal_pair() -> Database:
    """Two facts with different keys, different queries and one value: D is the identity I₂."""
    return Database.from_triples([("a", "f", "v"), ("b", "g", "v")])


def cyclic_shift(size: int) -> Database:
    """Two queries on Z_N, the identity and the shift; every value is a token of its own.

    >>> cyclic_shift(5).slice_rank_bound
    10
    """
    return Database.from_triples(
        [(f"k{i}", "q0", f"v{i}") for i in range(size)]
        + [(f"k{i}", "q1", f"v{(i + 1) % size}") for i in range(size)]
    )


def cyclic_shift_layer(size: int, scale: Any = 1) -> AttentionLayer:
    r"""(d_model, H, d_vo, d_qk) = (2, 1, 1, 1): a layer that memorizes :func:`cyclic_shift`.

    With the values numbered 1, …, N and s the number of the right one (up to 1/8), the logit of
    value v is c(sv - v²/2), which is largest at v nearest to s, and that of every other token is
    -c(N+2). The query q0 attends evenly, which reads off the second coordinate of the key; the
    query q1 attends with α = n/x, through the logit of α in the first.
    """
    db, c = cyclic_shift(size), rational(scale)
    number = {v: n for n, v in enumerate(db.values, 1)}
    rows: dict[Any, list[Any]] = {"q1": [1, 0], "q0": [0, 1]}
    for k in db.keys:
        x = 2 * (number[db[k, "q0"]] + size) - 1
        n = number[db[k, "q1"]]
        rows[k] = [1 + _nearest_log(fmpq(n, x - n), x), x]
    tokens = (*db.keys, *db.queries, *db.values)
    slope = [c * number.get(t, 0) for t in tokens]
    bend = [-c * fmpq(number[t] ** 2, 2) if t in number else -c * (size + 2) for t in tokens]
    W_U = Matrix([bend, [b - size * s for b, s in zip(bend, slope, strict=True)]])
    head = Head(
        Matrix([[1], [0]]),
        Matrix([[1, 0]]),
        Matrix([[0], [1]]),
        Matrix([[fmpq(1, size), fmpq(-1, size)]]),
    )
    return AttentionLayer(tokens, Matrix([rows.get(t, [0, 0]) for t in tokens]), W_U, (head,))


def _nearest_log(value: fmpq, denominator: int) -> fmpq:
    """The logarithm of a rational, rounded to a multiple of 1/denominator."""
    with ctx.workprec(64):
        rounded = (arb(value).log() * denominator + fmpq(1, 2)).floor().unique_fmpz()
    assert rounded is not None
    return fmpq(rounded, denominator)


def exclusive_or() -> Database:
    """Two keys, two queries and two values that depend on both; the values are the keys' tokens."""
    return Database.from_triples(
        [("a", "f", "a"), ("a", "g", "b"), ("b", "f", "b"), ("b", "g", "a")]
    )


def exclusive_or_layer() -> AttentionLayer:
    """Every dimension 1: a layer that memorizes :func:`exclusive_or` over its four tokens."""
    embedding = {"a": 0, "b": -6, "f": "19/6", "g": "-5/6"}
    return line_layer(embedding, {"a": 1, "b": -1}, qk="1/6", vo="-7/6")


def two_subsets() -> Database:
    """Four keys, the six 2-subsets as queries, and whether the key lies in the subset.

    >>> two_subsets()["2", "{1,2}"]
    'in'
    """
    subsets = [(i, j) for i in range(1, 5) for j in range(i + 1, 5)]
    return Database.from_triples(
        [
            (str(k), f"{{{i},{j}}}", "in" if k in (i, j) else "out")
            for k in range(1, 5)
            for i, j in subsets
        ]
    )


def two_subsets_layer() -> AttentionLayer:
    """(d_model, H, d_vo, d_qk) = (4, 1, 1, 2): a layer that memorizes :func:`two_subsets`.

    Keys are four points of the plane, one inside the triangle of the others, so that a line
    separates every two of them from the other two; a query is such a line. No layer with d_qk = 1
    and one head can do it, whatever its other dimensions.
    """
    points = {"1": (0, 0), "2": (0, 3), "3": (-3, -2), "4": (3, -2)}
    # direction p of a query, and a number between the attention on its keys and on the others
    lines = {
        "{1,2}": (0, 1, "1/8"),
        "{1,3}": (-1, -1, "1/12"),
        "{1,4}": (1, -1, "1/12"),
        "{2,3}": (-1, 1, "1/5"),
        "{2,4}": (1, 1, "1/5"),
        "{3,4}": (0, -1, "1/2"),
    }
    rows: dict[str, list[Any]] = {k: [x, y, 1, 0] for k, (x, y) in points.items()}
    rows |= {q: [x, y, 0, -rational(cut)] for q, (x, y, cut) in lines.items()}
    rows |= {"in": [0, 0, 0, 0], "out": [0, 0, 0, 0]}
    sign = {"in": 1, "out": -1}
    head = Head(
        Matrix([[1, 0], [0, 1], [0, 0], [0, 0]]),
        Matrix([[1, 0, 0, 0], [0, 1, 0, 0]]),
        Matrix([[0], [0], [1], [0]]),
        Matrix([[0, 0, 0, 1]]),
    )
    W_U = [[0] * len(rows)] * 3 + [[sign.get(t, 0) for t in rows]]
    return AttentionLayer(tuple(rows), Matrix(list(rows.values())), Matrix(W_U), (head,))


# -- refutations ---------------------------------------------------------------------------------


def equation_5_diagonal() -> Certificate:
    """k = q: two equal scores give softmax (1/2, 1/2), but the row has one entry and total 1."""
    return refute("wong/equation-5-diagonal", S=Matrix([[0, 0]]))


def logits_off_the_domain() -> Certificate:
    """All dimensions 1: the mask of (5) makes L_ag = 1 where the model says 3/2."""
    embedding = {"a": 0, "b": 0, "f": 0, "g": 1, "v": 0}
    layer = line_layer(embedding, {"v": 1}, vo=1, plain=True)
    return refute("wong/proposition-3.1", L=layer, D=diagonal_pair())


def blocks(*sides: int) -> Database:
    """A value for each number n, at all pairs of n keys and n queries of its own.

    >>> blocks(1, 2).slice_rank_bound
    3
    """
    return Database.from_triples(
        [
            (f"k{b}{i}", f"q{b}{j}", f"v{b}")
            for b, n in enumerate(sides)
            for i in range(n)
            for j in range(n)
        ]
    )


def block_layer(db: Database, unit: Unit = "1") -> AttentionLayer:
    """All dimensions 1, even attention: a layer whose tensor has full rank on every block."""
    keys, queries, values = ([str(t) for t in ts] for ts in (db.keys, db.queries, db.values))
    embedding = {k: -int(k.endswith("1")) for k in keys}
    embedding |= {q: int(q.endswith("0")) for q in queries} | dict.fromkeys(values, 0)
    return line_layer(embedding, {values[0]: 1}, vo=1, unit=unit, plain=True)


def larger_rank_no_solution() -> Certificate:
    """All dimensions 1, blocks of 1 and 2: rank L = 3 > rank D = 2, but L is never D."""
    db = blocks(1, 2)
    return refute("wong/remark-3.4", L=block_layer(db), D=db)


def estimate_with_one_query() -> Certificate:
    """All dimensions 1, one fact: (9) asks for rank 2, and no weights reach more than 1."""
    layer = line_layer({"k": 0, "q": 0, "v": 0}, {}, plain=True)
    return refute("wong/equation-9", L=layer, D=Database.from_triples([("k", "q", "v")]))


def zero_layer_for_one_fact() -> Certificate:
    """All weights zero, one fact: the only value is answered with a tensor of rank 0, not 1."""
    layer = line_layer({"k": 0, "q": 0, "v": 0}, {}, plain=True)
    return refute("wong/rank-hypothesis", L=layer, D=Database.from_triples([("k", "q", "v")]))


def coincident_span() -> Certificate:
    """Two antipodal points of the circle: distinct, on the sphere, and of rank 1."""
    return refute("wong/proposition-3.6-proof", P=Matrix([[1, 0], [-1, 0]]))


def moderate_magnitudes() -> Certificate:
    """3 × 3, rank 2, argmax the identity: entries of at most 1 with gaps of 1."""
    return refute("wong/precision", M=Matrix([[1, 0, 0], [0, 1, 0], [-1, -1, 0]]))


def _swapped() -> tuple[AttentionLayer, Database]:
    """One key, two queries with different values, and a layer that confuses them."""
    layer = line_layer({"k": 0, "q1": -1, "q2": 1, "v1": 0, "v2": 0}, {"v1": 1, "v2": -1})
    return layer, Database.from_triples([("k", "q1", "v1"), ("k", "q2", "v2")])


def enough_rank_wrong_answers() -> Certificate:
    """argmax(L) has the rank of D and no answer is right."""
    layer, db = _swapped()
    return refute("wong/rank-conditions", L=layer, D=db)


def tie_at_one_half() -> Certificate:
    """Two tokens, τ = 1/2: both reach the threshold."""
    return refute("wong/threshold-largest", M=Matrix([[0, 0]]), tau=fmpq(1, 2), i=0, j=1)


def threshold_off_the_domain() -> Certificate:
    """One value: every fibre reaches the threshold, also where the database says nothing."""
    layer = line_layer(dict.fromkeys("abfgv", 0), {}, plain=True)
    return refute("wong/tau-memorizes", L=layer, D=diagonal_pair(), tau=1)


def enough_thresholded_rank_wrong_answers() -> Certificate:
    """softmax at 3/4 has the rank of D and no answer is right."""
    layer, db = _swapped()
    return refute("wong/equation-15", L=layer, D=db, tau=fmpq(3, 4))


def modest_scale() -> Certificate:
    """From τ = 3/4 to 9/10 the log-odds double, but 9/5 to 29/10 is enough for the scale."""
    return refute(
        "wong/large-tau-large-c",
        M=Matrix([[1, 0, 0]]),
        c0=fmpq(9, 5),
        c=fmpq(29, 10),
        tau0=fmpq(3, 4),
        tau=fmpq(9, 10),
    )


def uniform_layer() -> tuple[AttentionLayer, Database]:
    """Even attention, logits 1, 2, 2, 3 of the first value against 0 of the second."""
    db = Database.from_triples(
        [("k0", "q0", "y"), ("k0", "q1", "x"), ("k1", "q0", "x"), ("k1", "q1", "x")]
    )
    embedding = {"k0": 0, "k1": 1, "q0": "1/2", "q1": 1, "x": 0, "y": 0}
    return line_layer(embedding, {"x": 1}, vo=2), db


def rank_rises_with_tau() -> Certificate:
    """All dimensions 1, even attention: rank 1 at τ = 1/2 and rank 2 at τ = 3/4."""
    layer, db = uniform_layer()
    return refute("wong/tau-monotone", L=layer, D=db, tau0=fmpq(1, 2), tau=fmpq(3, 4))


def one_value_at_tau_one() -> Certificate:
    """One value has probability one."""
    layer = line_layer({"k": 0, "q": 0, "v": 0}, {}, plain=True)
    return refute("wong/tau-one", L=layer, D=Database.from_triples([("k", "q", "v")]))


def small_layer_at_tau_99(size: int = 100) -> Certificate:
    """(2, 1, 1, 1), which (9) rates 3, knows 200 facts of bound 200 with probability .99."""
    return refute("wong/figure-3-tau-99", L=cyclic_shift_layer(size, 15), D=cyclic_shift(size))


def query_key_dimension_matters() -> Certificate:
    """(4, 1, 1, 2) knows the two-subsets, which no layer with one head and d_qk = 1 does."""
    return refute("wong/qk-insignificant", L=two_subsets_layer(), D=two_subsets())


def larger_rank_no_argmax() -> Certificate:
    """Blocks of 1, 1, 2: rank L = 4 > rank D = 3, but with d_model = 1 two values are the most."""
    db = blocks(1, 1, 2)
    return refute("wong/remark-3.4-argmax", L=block_layer(db), D=db)


def enough_marks_no_weights() -> Certificate:
    """At τ = 2/3 the marked tensor has the rank of D, but two values are the most."""
    db = Database.from_triples([("a", "f", "u"), ("a", "g", "v"), ("b", "h", "w")])
    embedding = {"a": 0, "b": 0, "f": -1, "g": 1, "h": 1, "u": 0, "v": 0, "w": 0}
    layer = line_layer(embedding, {"v": 1, "w": -1}, vo=1, plain=True)
    return refute("wong/equation-15-dimensions", L=layer, D=db, tau=fmpq(2, 3))


def value_dimension_is_no_substitute() -> Certificate:
    """(4, 1, 1, 2) knows the two-subsets; (4, 1, 2, 1), with as many parameters, cannot."""
    return refute("wong/raise-vo-lower-qk", L=two_subsets_layer(), D=two_subsets())


# -- witnesses -----------------------------------------------------------------------------------


def independent_spans() -> Certificate:
    """d_model = 2: the embedding writes the first coordinate, the head the second."""
    head = Head(Matrix([[0], [0]]), Matrix([[0, 0]]), Matrix([[1], [0]]), Matrix([[0, 1]]))
    W_E = Matrix([[0, 0], [1, 0], [0, 0], [0, 0]])
    layer = AttentionLayer(("k", "q", "v", "w"), W_E, Matrix([[0, 0, 1, 0], [0, 0, 0, 1]]), (head,))
    sets: dict[str, Any] = {"K": [0], "Q": [1], "V": [2, 3]}
    return witness("wong/span-intersection-possible", L=layer, h=0, **sets)


def memorized_below_the_rank() -> Certificate:
    """All dimensions 1, two facts: memorized with rank 1, and the database has rank 2."""
    layer = line_layer({"a": 0, "b": 0, "f": 1, "g": 1, "v": 0}, {"v": 1})
    return witness("wong/rank-hypothesis-partly", L=layer, D=diagonal_pair())


def nothing_marked() -> Certificate:
    """No probability reaches .99, so the marked tensor is zero and L is not."""
    layer, db = uniform_layer()
    return witness("wong/tau-below-layer-rank", L=layer, D=db, tau=fmpq(99, 100))
