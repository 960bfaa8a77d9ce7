"""The tensor L of a layer: attention by positions, logits on the domain, linear circuits."""

from typing import Any

import pytest
import sympy
from flint import arb, ctx, fmpq, fmpq_poly
from hypothesis import given
from hypothesis import strategies as st

from lemmax.pytest_plugin.properties import Sample
from lemmax.strategies import databases, layers
from lemmax.theory import AttentionLayer, Database, Head, Matrix, certified_rank
from lemmax.theory.wong.layer_ranks import LayerShape, rank_ceiling
from lemmax.theory.wong.layer_tensors import layer_tensor, rank_over_functions


def attention_row(scores: Any, first: int, second: int, tokens: int) -> Any:
    """The last row of △(X W X^T) X for the sequence (first, second), from the definition."""
    X = sympy.zeros(2, tokens)
    X[0, first] = X[1, second] = 1
    S = X * scores * X.T
    weights = [sympy.exp(S[1, 0]), sympy.exp(S[1, 1])]
    total = weights[0] + weights[1]
    return sympy.Matrix([[weights[0] / total, weights[1] / total]]) * X


def test_attention_mass_by_position_with_free_scores() -> None:
    """Three tokens and nine free scores: the row is α at k and 1-α at q, or 1 at q."""
    scores = sympy.Matrix(3, 3, lambda i, j: sympy.Symbol(f"w_{i}{j}"))
    for k in range(3):
        for q in range(3):
            row = attention_row(scores, k, q, 3)
            alpha = sympy.exp(scores[q, k]) / (sympy.exp(scores[q, k]) + sympy.exp(scores[q, q]))
            expected: list[Any] = [0, 0, 0]
            expected[k] += alpha
            expected[q] += 1 - alpha
            assert all(sympy.simplify(a - b) == 0 for a, b in zip(row, expected, strict=True))
            if k == q:
                assert sympy.simplify(row[q] - 1) == 0


@st.composite
def layers_of(draw: st.DrawFn, /, db: Database, **options: Any) -> AttentionLayer:
    """A random layer whose tokens are those of a database."""
    layer = draw(layers(tokens=len(db.tokens), **options))
    return AttentionLayer(db.tokens, layer.W_E, layer.W_U, layer.heads, layer.unit)


overlapping = st.booleans().flatmap(lambda d: databases(3, 3, 3, disjoint=d))


def one_number(layer: AttentionLayer, h: int, seen: tuple[Any, Any], fact: tuple[Any, Any]) -> bool:
    """Whether the attention of the forward pass on what is seen is the α of the fact, and 1 - α."""
    (first, last), (k, q) = seen, fact
    row, scores, t = layer.attention((first, last))[h], layer.W_QK(h), layer.index
    gap = scores[t[q], t[k]] - scores[t[q], t[q]]
    with ctx.workprec(128):
        unit = arb.const_log2() if layer.unit == "ln2" else arb(1)
        alpha = 1 / (1 + (-unit * arb(gap)).exp())
        mass = dict.fromkeys((k, q), arb(0))  # one entry where k = q
        mass[first] += row[1, 0]
        mass[last] += row[1, 1]
        expected = {k: arb(1)} if k == q else {k: alpha, q: 1 - alpha}
        return all(
            mass[token].overlaps(value) and mass[token].rad() < arb("1e-9")
            for token, value in expected.items()
        )


# A layer that looks at a rather than at b, but only from a.
LOOKS = AttentionLayer(
    ("a", "b"),
    Matrix.identity(2),
    Matrix.identity(2),
    (Head(Matrix([[1], [0]]), Matrix([[3, 0]]), Matrix([[1], [0]]), Matrix([[1, 0]])),),
    "ln2",
)


@pytest.mark.claim(
    "lemmax/attention-by-position",
    grade="property",
    scope="random layers on at most 9 tokens, forward pass of equation (2) in ball arithmetic",
    statement="803d07449a0fe729",
)
@given(st.data(), overlapping)
def test_attention_is_the_last_row_of_the_forward_pass(
    sample: Sample, data: Any, db: Database
) -> None:
    layer = data.draw(layers_of(db, max_heads=1))
    for k, q, _ in db:
        for h in range(len(layer.heads)):
            fact = (k, q)
            sample(one_number, layer, h, fact, fact, control=(LOOKS, 0, ("a", "b"), ("b", "a")))


def is_the_logits(layer: AttentionLayer, db: Database, tensor: list[Any], masked: bool) -> bool:
    """Whether the tensor is what the circuits say, and on the domain the last row of (2)."""
    for i, k in enumerate(db.keys):
        for j, q in enumerate(db.queries):
            seen = not masked or (k, q) in db
            Z = layer.logits((k, q))
            for m, v in enumerate(db.values):
                expected = by_circuits(layer, k, q, v, seen)
                if tensor[i][j][m] != expected:
                    return False
                if seen and not Z[1, layer.index[v]].overlaps(arb(expected)):
                    return False
    return True


@pytest.mark.claim(
    "lemmax/logits-on-domain",
    grade="property",
    scope="random layers and databases with overlaps, at most 9 tokens, 2 heads, d_model 4",
    statement="8360c8f3ceb427ff",
)
@given(st.data(), overlapping)
def test_layer_tensor_is_the_logits(sample: Sample, data: Any, db: Database) -> None:
    """Equations (4) to (8), written out, against the last row of equation (2)."""
    layer = data.draw(layers_of(db, unit="ln2"))
    other = Database.from_triples([("a", "b", "a")])
    for masked in (True, False):
        tensor = layer_tensor(layer, db, masked).rationals()
        wrong = [[[fmpq(1, 7)]]]
        sample(is_the_logits, layer, db, tensor, masked, control=(LOOKS, other, wrong, False))


def by_circuits(layer: AttentionLayer, k: Any, q: Any, v: Any, seen: bool) -> Any:
    """E + Σ A V of equation (8) with attention mass by positions; scores are in ln 2 · Z."""
    t = layer.index
    entry = layer.W_EU[t[q], t[v]]
    if not seen:
        return entry
    for h in range(len(layer.heads)):
        scores, values = layer.W_QK(h), layer.W_VO(h)
        odds = fmpq(2) ** int(scores[t[q], t[k]] - scores[t[q], t[q]])
        entry += (odds * values[t[k], t[v]] + values[t[q], t[v]]) / (1 + odds)
    return entry


def side_by_side(first: Matrix, second: Matrix) -> Matrix:
    """The block matrix diag(first, second)."""
    left, right = first.shape[1], second.shape[1]
    top = [[*row, *[0] * right] for row in first.flint.tolist()]
    return Matrix(top + [[*[0] * left, *row] for row in second.flint.tolist()])


def superposition(one: AttentionLayer, two: AttentionLayer) -> AttentionLayer:
    """W_EU + W'_EU and W_VO + W'_VO with the W_QK of both: d_model and d_vo are doubled."""
    d, size = one.d_model, len(one.tokens)
    W_E = Matrix([[*row, *row] for row in one.W_E.flint.tolist()])
    W_U = Matrix(one.W_U.flint.tolist() + two.W_U.flint.tolist())
    heads = [
        Head(
            Matrix(h.W_Q.flint.tolist() + [[0] * h.d_qk] * d),
            Matrix([[*row, *[0] * d] for row in h.W_K.flint.tolist()]),
            side_by_side(h.W_V, g.W_V),
            side_by_side(h.W_O, g.W_O),
        )
        for h, g in zip(one.heads, two.heads, strict=True)
    ]
    layer = AttentionLayer(one.tokens, W_E, W_U, heads, one.unit)
    assert layer.W_U.shape == (2 * d, size)
    return layer


@st.composite
def same_attention(draw: st.DrawFn, /, layer: AttentionLayer) -> AttentionLayer:
    """A layer with the W_E, W_Q and W_K of another, and W_U, W_V, W_O of its own."""

    def matrix(rows: int, columns: int) -> Matrix:
        entries = st.lists(st.integers(-3, 3), min_size=columns, max_size=columns)
        return Matrix(draw(st.lists(entries, min_size=rows, max_size=rows)))

    d = layer.d_model
    heads = [Head(h.W_Q, h.W_K, matrix(d, h.d_vo), matrix(h.d_vo, d)) for h in layer.heads]
    return AttentionLayer(layer.tokens, layer.W_E, matrix(d, len(layer.tokens)), heads, layer.unit)


def superposed(
    one: AttentionLayer, two: AttentionLayer, both: AttentionLayer, db: Database, masked: bool
) -> bool:
    """Whether the tensor of the last layer is that of the first plus three times the second."""
    first, second, third = (layer_tensor(x, db, masked).matrix() for x in (one, two, both))
    return third == first + 3 * second


@pytest.mark.claim(
    "wong/remark-3.2",
    grade="property",
    scope="random layers on at most 9 tokens, superposition of W_EU and of every W_VO",
    statement="37e6335fcbf3c6ff",
)
@given(st.data(), databases(3, 3, 3))
def test_remark_3_2_superposition(sample: Sample, data: Any, db: Database) -> None:
    """With the same W_QK, L of (W_EU + 3 W'_EU, W_VO + 3 W'_VO) is L + 3 L'."""
    one = data.draw(layers_of(db, unit="ln2"))
    two = data.draw(same_attention(one))
    both = superposition(one, two.scaled(3))
    assert both.W_EU == one.W_EU + 3 * two.W_EU
    for h in range(len(one.heads)):
        assert both.W_QK(h) == one.W_QK(h) == two.W_QK(h)
        assert both.W_VO(h) == one.W_VO(h) + 3 * two.W_VO(h)
    for masked in (True, False):
        control = (*[LOOKS] * 3, Database.from_triples([("a", "b", "a")]), False)
        sample(superposed, one, two, both, db, masked, control=control)


def test_remark_3_2_needs_the_same_attention() -> None:
    """L is not linear in W_QK: scores 0 and 2 ln 2 do not average to the score ln 2."""
    db = Database.from_triples([("a", "f", "x")])

    def entry(score: int) -> fmpq:
        head = Head([[score], [0]], [[0, 1]], [[0], [1]], [[0, 1]])
        layer = AttentionLayer(
            ("a", "f", "x"), [[0, 1], [1, 0], [0, 0]], [[0, 0, 0], [0, 0, 1]], [head], "ln2"
        )
        return layer_tensor(layer, db).matrix()[0, 0]

    assert [entry(s) for s in (0, 1, 2)] == [fmpq(1, 2), fmpq(2, 3), fmpq(4, 5)]
    assert entry(0) + entry(2) != 2 * entry(1)


def ranks_bounded(
    W_EU: Matrix, W_QK: Matrix, W_VO: Matrix, d_model: int, d_qk: int, d_vo: int
) -> bool:
    pairs = ((W_EU, d_model), (W_QK, d_qk), (W_VO, d_vo))
    return all(certified_rank(circuit).rank <= d for circuit, d in pairs)


@pytest.mark.claim(
    "wong/circuit-ranks",
    grade="property",
    scope="random layers on at most 5 tokens, d_model 4",
    statement="426eef4ab667d9d1",
)
@given(layers())
def test_circuit_ranks_are_bounded(sample: Sample, layer: AttentionLayer) -> None:
    for h, head in enumerate(layer.heads):
        circuits = layer.W_EU, layer.W_QK(h), layer.W_VO(h)
        dimensions = layer.d_model, head.d_qk, head.d_vo
        sample(ranks_bounded, *circuits, *dimensions, control=(*[Matrix.identity(2)] * 3, 2, 2, 1))


def counted(layer: AttentionLayer, d: int, d_vo: int, d_qk: int, heads: int) -> bool:
    """Whether the entries of all matrices of all heads are as many as the formula says."""
    entries = sum(
        m.shape[0] * m.shape[1] for h in layer.heads for m in (h.W_Q, h.W_K, h.W_V, h.W_O)
    )
    return entries == layer.parameters == 2 * heads * d * (d_vo + d_qk)


@pytest.mark.claim(
    "wong/parameter-count",
    grade="property",
    scope="d_model up to 6, up to 4 heads",
    statement="14f98bcbd1cf007f",
)
@given(st.integers(1, 6), st.integers(1, 4), st.data())
def test_parameter_count(sample: Sample, d: int, heads: int, data: Any) -> None:
    d_vo, d_qk = data.draw(st.integers(1, d)), data.draw(st.integers(1, d))
    head = Head(
        Matrix.zeros(d, d_qk), Matrix.zeros(d_qk, d), Matrix.zeros(d, d_vo), Matrix.zeros(d_vo, d)
    )
    layer = AttentionLayer(("a",), Matrix.zeros(1, d), Matrix.zeros(d, 1), (head,) * heads)
    assert layer.parameters == LayerShape(d, d_vo, d_qk, heads).parameters
    sample(counted, layer, d, d_vo, d_qk, heads, control=(layer, d, d_vo, d_qk, heads + 1))


def shape_of(layer: AttentionLayer) -> LayerShape | None:
    if not layer.heads:
        return None
    return LayerShape(layer.d_model, layer.d_vo, layer.d_qk, len(layer.heads))


def below_both(ranks: list[int], shape: LayerShape, sizes: list[int]) -> bool:
    """Whether flattening ranks are below the ceiling, and the ceiling below the printed bound."""
    printed = shape.d_model + shape.heads * shape.d_vo * sizes[1]
    return max(ranks) <= rank_ceiling(shape, *sizes) <= printed


@pytest.mark.claim(
    "wong/proposition-3.5",
    grade="property",
    scope="random layers and databases up to 4 by 3 by 3, flattening ranks against the bound",
    statement="14e489da8a90e80a",
)
@pytest.mark.claim(
    "lemmax/layer-rank-ceiling",
    grade="property",
    scope="random layers and databases up to 4 by 3 by 3, flattening ranks against the ceiling",
    statement="9d2edd3c59dce4e5",
)
@given(st.data(), databases(4, 3, 3), st.booleans())
def test_proposition_3_5_and_the_ceiling_on_random_layers(
    sample: Sample, data: Any, db: Database, masked: bool
) -> None:
    layer = data.draw(layers_of(db, unit="ln2"))
    shape = shape_of(layer)
    if shape is None:
        return
    ranks = list(layer_tensor(layer, db, masked).multilinear_ranks())
    sizes = [len(db.keys), len(db.queries), len(db.values)]
    sample(below_both, ranks, shape, sizes, control=([4, 3, 3], LayerShape(1, 1, 1, 1), [3, 3, 3]))


@given(st.data(), databases(3, 2, 3), st.booleans())
def test_multilinear_ranks_agree_in_both_units(data: Any, db: Database, masked: bool) -> None:
    """Transcendental attention: the ranks over Q(z) are at least those at z = 2."""
    layer = data.draw(layers_of(db, max_model=2, max_heads=1, unit="ln2"))
    twin = AttentionLayer(layer.tokens, layer.W_E, layer.W_U, layer.heads, "1")
    special = layer_tensor(layer, db, masked).multilinear_ranks()
    generic = layer_tensor(twin, db, masked).multilinear_ranks()
    assert all(a <= b for a, b in zip(special, generic, strict=True))


def test_rank_over_functions_sees_a_hidden_dependence() -> None:
    z = fmpq_poly([0, 1])
    rows = [[z, z + 1, z * z], [z * z, z * z + z, z * z * z], [z + 1, z + 2, z * z + z]]
    assert rank_over_functions(rows) == 2  # the second row is z times the first
    rows[1][0] += 1
    assert rank_over_functions(rows) == 3
