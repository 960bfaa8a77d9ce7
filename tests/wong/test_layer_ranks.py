"""Ceiling, generic rank and generic flattening ranks of a layer, and where (9) fails."""

import random
from collections.abc import Callable
from itertools import combinations, product
from typing import Any

import networkx as nx
import pytest
import sympy
import z3
from flint import nmod_mat
from hypothesis import given
from hypothesis import strategies as st

from lemmax import checker
from lemmax.constructions.refuting import witness
from lemmax.pytest_plugin.properties import Sample
from lemmax.theory import AttentionLayer, Database, Head, Matrix, certified_rank
from lemmax.theory.numbers.primes import MERSENNE_61 as P
from lemmax.theory.wong.layer_ranks import (
    LayerShape,
    generic_multilinear_ranks,
    generic_rank,
    layer_grid,
    rank_ceiling,
    where_estimate_fails,
)
from lemmax.theory.wong.layer_tensors import layer_tensor

Exhaust = Callable[..., int]
Certify = Callable[..., checker.Verdict]
Sizes = tuple[LayerShape, int, int, int]


def test_the_ceiling_grows_with_rho() -> None:
    """f(x) = m·x + min(|Q|, n - x) never decreases when m ≥ 1: all integers, by SMT."""
    unknowns: list[Any] = [z3.Int(name) for name in ("m", "size", "n", "x")]
    m, size, n, x = unknowns

    def f(at: Any) -> Any:
        return m * at + z3.If(size <= n - at, size, n - at)

    solver = z3.Solver()
    solver.add(m >= 1, size >= 1, x >= 0, x < n, f(x + 1) < f(x))
    assert solver.check() == z3.unsat


def test_scores_have_private_monomials() -> None:
    """Two keys, two queries, two heads, d_model = 2, d_qk = 1, all weights free."""
    key = {k: sympy.symbols(f"k{k}_1 k{k}_2") for k in range(2)}
    query = {q: sympy.symbols(f"q{q}_1 q{q}_2") for q in range(2)}
    scores, private = {}, {}
    for h in range(2):
        left, right = sympy.symbols(f"Q{h}_1 Q{h}_2"), sympy.symbols(f"K{h}_1 K{h}_2")
        for k, q in product(range(2), repeat=2):
            asked = sum(a * b for a, b in zip(query[q], left, strict=True))
            offered = sum(a * (b - c) for a, b, c in zip(right, key[k], query[q], strict=True))
            scores[h, k, q] = sympy.Poly(sympy.expand(asked * offered))
            private[h, k, q] = query[q][0] * left[0] * right[0] * key[k][0]
    for place, monomial in private.items():
        for other, score in scores.items():
            coefficient = score.coeff_monomial(monomial) if monomial_of(monomial, score) else 0
            assert coefficient == int(place == other)


def monomial_of(monomial: Any, score: Any) -> bool:
    """Whether all symbols of a monomial occur in a polynomial at all."""
    return bool(monomial.free_symbols <= score.free_symbols)


def test_logistic_substitution_is_invertible() -> None:
    a, u = sympy.symbols("a u")
    assert sympy.simplify((u / (1 + u)).subs(u, a / (1 - a)) - a) == 0
    assert sympy.simplify((a / (1 - a)).subs(a, u / (1 + u)) - u) == 0


def test_value_rank_formula_is_the_upper_bound() -> None:
    """Fibres lie in the span of the |Q| vectors E'_q and, per head, f dimensions of differences.

    Exact layers of all small sizes; the differences attain f, so that it cannot be smaller.
    """
    attained = 0
    wide: list[Sizes] = [  # where |Q| + H f is the least of the three numbers
        (LayerShape(9, 9, 1, 1), 3, 3, 9),
        (LayerShape(8, 8, 1, 1), 4, 2, 8),
        (LayerShape(9, 2, 1, 2), 4, 3, 9),
    ]
    for number, sizes in enumerate([*wide, *small_sizes()[::5]]):
        layer, _ = rational_layer(sizes, number)
        pairs = product(range(sizes[1]), range(sizes[2]))
        facts = [(f"k{k}", f"q{q}", f"v{i % sizes[3]}") for i, (k, q) in enumerate(pairs)]
        db = Database.from_triples(facts)  # with as many values as there can be
        shape, keys, queries, values = sizes[0], len(db.keys), len(db.queries), len(db.values)
        width = range(shape.d_model)
        kappa, xi = (layer.W_E[layer.indices(part), width] for part in (db.keys, db.queries))
        omega = layer.W_U[width, layer.indices(db.values)]
        maps = [head.W_V @ head.W_O @ omega for head in layer.heads]
        f = min(shape.d_vo, keys + queries - 1)
        span = (sum((xi @ M for M in maps), xi @ omega)).flint.tolist()
        for M in maps:
            at_keys, at_queries = (kappa @ M).flint.tolist(), (xi @ M).flint.tolist()
            differences = [
                [a - b for a, b in zip(k, q, strict=True)] for k in at_keys for q in at_queries
            ]
            rank = certified_rank(differences).rank
            assert rank <= f
            attained += rank == f < min(keys * queries, values)
            span += differences
        fibres = layer_tensor(layer, db, masked=False).matrix().flint.tolist()
        dimension = certified_rank(span).rank
        assert certified_rank(span + fibres).rank == dimension <= queries + shape.heads * f
        bound = min(shape.n(values), keys * queries, queries + shape.heads * f)
        assert certified_rank(fibres).rank <= bound
        assert generic_multilinear_ranks(shape, keys, queries, values)[2] == bound
    assert attained > 20


def small_sizes() -> list[Sizes]:
    return [
        (LayerShape(d, d_vo, 1, heads), keys, queries, values)
        for d in range(1, 5)
        for d_vo in range(1, d + 1)
        for heads in (1, 2)
        for keys, queries, values in product((1, 2, 3, 4), (1, 2, 3), (1, 2, 4))
    ]


def test_matroid_union_minimum() -> None:
    """The minimum over all sets F of pairs, for every complete bipartite graph up to 3 by 3."""
    for keys, queries in product(range(1, 4), repeat=2):
        pairs = list(product(range(keys), range(queries)))
        table = []
        for size in range(len(pairs) + 1):
            for F in combinations(pairs, size):
                graph = nx.Graph([(("k", k), ("q", q)) for k, q in F])
                rank = len(graph) - nx.number_connected_components(graph) if F else 0
                table.append((len(pairs) - size + len({q for _, q in F}), rank))
        for heads, d_vo in product(range(1, 5), range(1, 8)):
            least = min(rest + heads * min(d_vo, rank) for rest, rank in table)
            f = min(d_vo, keys + queries - 1)
            assert least == min(keys * queries, queries + heads * f)


def free_attention_ranks(sizes: Sizes, seed: int = 0) -> tuple[int, int, int]:
    """Flattening ranks of (a) modulo a prime with random numbers in place of the attention.

    They bound the ranks of almost all layers from below: a minor that is nonzero here is a nonzero
    polynomial.
    """
    shape, K, Q, V = sizes
    draw = random.Random(f"{sizes} {seed}").randrange

    def matrix(m: int, n: int) -> nmod_mat:
        return nmod_mat(m, n, [draw(P) for _ in range(m * n)], P)

    keys, queries = matrix(K, shape.d_model), matrix(Q, shape.d_model)
    W_U = matrix(shape.d_model, V)
    L = [[[int((queries * W_U)[q, v]) for v in range(V)] for q in range(Q)] for _ in range(K)]
    for _ in range(shape.heads):
        M = matrix(shape.d_model, shape.d_vo) * matrix(shape.d_vo, shape.d_model) * W_U
        at_key, at_query = keys * M, queries * M
        for k, q in product(range(K), range(Q)):
            alpha = draw(P)
            for v in range(V):
                own = int(at_query[q, v])
                L[k][q][v] = (L[k][q][v] + own + alpha * (int(at_key[k, v]) - own)) % P
    cells = list(product(range(K), range(Q), range(V)))
    flat = [L[k][q][v] for k, q, v in cells]
    by_key = nmod_mat(K, Q * V, flat, P).rank()
    by_pair = nmod_mat(K * Q, V, flat, P).rank()
    order = product(range(Q), range(K), range(V))
    by_query = nmod_mat(Q, K * V, [L[k][q][v] for q, k, v in order], P).rank()
    return by_key, by_query, by_pair


def ranks_agree(
    shape: LayerShape, K: int, Q: int, V: int, shape_2: LayerShape, K_2: int, Q_2: int, V_2: int
) -> bool:
    """Whether free attention in the first sizes has the ranks of the formula for the second."""
    expected = generic_multilinear_ranks(shape_2, K_2, Q_2, V_2)
    return free_attention_ranks((shape, K, Q, V)) == expected


NARROW, WIDE = (LayerShape(1, 1, 1, 1), 2, 2, 2), (LayerShape(2, 2, 1, 1), 2, 2, 2)


@pytest.mark.claim(
    "lemmax/layer-multilinear-ranks",
    grade="universal",
    scope="d_model ≤ 4, d_vo ≤ d_model, at most 2 heads, |K| ≤ 4, |Q| ≤ 3, |V| ∈ {1, 2, 4}",
    statement="219bdceb0d36f2d0",
)
def test_flattening_ranks_with_free_attention(exhaust: Exhaust) -> None:
    instances = ((*sizes, *sizes) for sizes in small_sizes())
    exhaust(instances, ranks_agree, control=(*WIDE, *NARROW))


@st.composite
def wide_sizes(draw: st.DrawFn) -> Sizes:
    d = draw(st.integers(1, 14))
    shape = LayerShape(d, draw(st.integers(1, d)), 1, draw(st.integers(1, 3)))
    return shape, draw(st.integers(1, 7)), draw(st.integers(1, 5)), draw(st.integers(1, 14))


@pytest.mark.claim(
    "lemmax/layer-multilinear-ranks",
    grade="property",
    scope="random sizes with d_model and |V| ≤ 14, |K| ≤ 7, |Q| ≤ 5, at most 3 heads",
    statement="219bdceb0d36f2d0",
)
@given(wide_sizes())
def test_flattening_ranks_in_random_sizes(sample: Sample, sizes: Sizes) -> None:
    sample(ranks_agree, *sizes, *sizes, control=(*WIDE, *NARROW))


def test_a_head_writes_no_more_dimensions_than_points_minus_one() -> None:
    """Three keys, three queries, one head, all else 9: nine fibres span eight dimensions."""
    sizes = (LayerShape(9, 9, 1, 1), 3, 3, 9)
    assert free_attention_ranks(sizes)[2] == 8 == generic_multilinear_ranks(*sizes)[2]


def rational_layer(sizes: Sizes, seed: int) -> tuple[AttentionLayer, Database]:
    """A layer with rational attention (scores in ln 2 · Z) and a total table of these sizes."""
    shape, K, Q, V = sizes
    draw = random.Random(f"{sizes} {seed}").randint

    def matrix(m: int, n: int, bound: int) -> Matrix:
        return Matrix([[draw(-bound, bound) for _ in range(n)] for _ in range(m)])

    tokens = [f"k{i}" for i in range(K)] + [f"q{i}" for i in range(Q)] + [f"v{i}" for i in range(V)]
    facts = [(f"k{i}", f"q{j}", f"v{(i + j) % V}") for i in range(K) for j in range(Q)]
    heads = tuple(
        Head(
            matrix(shape.d_model, shape.d_qk, 1),
            matrix(shape.d_qk, shape.d_model, 1),
            matrix(shape.d_model, shape.d_vo, 99),
            matrix(shape.d_vo, shape.d_model, 99),
        )
        for _ in range(shape.heads)
    )
    W_E = matrix(len(tokens), shape.d_model, 5)
    layer = AttentionLayer(tuple(tokens), W_E, matrix(shape.d_model, len(tokens), 99), heads, "ln2")
    return layer, Database.from_triples(sorted(facts, key=lambda f: f[:2]))


@pytest.mark.parametrize("seed", range(4))
def test_no_weights_exceed_the_generic_ranks(seed: int) -> None:
    """The three bounds hold for all weights, masked or not; rational layers, exactly."""
    for sizes in small_sizes()[seed::40]:
        layer, db = rational_layer(sizes, seed)
        shape = (len(db.keys), len(db.queries), len(db.values))
        ranks = layer_tensor(layer, db, masked=False).multilinear_ranks()
        bounds = generic_multilinear_ranks(sizes[0], *shape)
        assert all(r <= b for r, b in zip(ranks, bounds, strict=True))
        assert max(ranks) <= rank_ceiling(sizes[0], *shape)


@pytest.mark.claim("lemmax/layer-rank-generic", grade="certified", statement="4c17df59a0d3308d")
@pytest.mark.claim(
    "lemmax/layer-multilinear-ranks", grade="certified", statement="219bdceb0d36f2d0"
)
def test_generic_rank_certified_instance(certify: Certify) -> None:
    """Sizes (10, 3, 5), d_model 4, one head of d_vo 3: rank 10, where (9) says at least 7."""
    sizes = (LayerShape(4, 3, 1, 1), 10, 3, 5)
    layer, db = rational_layer(sizes, 3)
    tensor = layer_tensor(layer, db, masked=False)
    assert tensor.shape == (10, 3, 5)
    certify(tensor.certificate(mode=0), ship_as="lemmax/layer-rank-generic-flattening")
    for claim in ("lemmax/layer-rank-generic", "lemmax/layer-multilinear-ranks"):
        certify(witness(claim, L=layer, D=db), ship_as=claim)
    rank = certified_rank(tensor.flattening(0)).rank
    assert rank == generic_rank(*sizes) == rank_ceiling(*sizes) == 10
    assert tensor.multilinear_ranks() == generic_multilinear_ranks(*sizes)


def test_generic_rank_never_exceeds_the_ceiling() -> None:
    for shape in layer_grid():
        for keys, queries, values in product((1, 3, 30), (1, 2, 5), (2, 9)):
            rank = generic_rank(shape, keys, queries, values)
            ceiling = rank_ceiling(shape, keys, queries, values)
            below = max(generic_multilinear_ranks(shape, keys, queries, values))
            assert below <= ceiling
            if rank is not None:
                assert below <= rank == ceiling
            assert ceiling <= min(keys, queries) * shape.n(values)


@pytest.mark.claim(
    "wong/layer-grid", grade="universal", scope="the grid itself", statement="6a2b7d8a2a1c3d80"
)
def test_layer_grid_has_364_layers(exhaust: Exhaust) -> None:
    grid = layer_grid()
    assert len(grid) == len(set(grid)) == 4 * sum(d * d for d in range(1, 7)) == 364
    brute = [
        (d, v, q, h)
        for d, v, q, h in product(range(1, 7), range(1, 7), range(1, 7), range(1, 5))
        if v <= d and q <= d
    ]

    def in_the_grid(d: int, v: int, q: int, h: int) -> bool:
        return LayerShape(d, v, q, h) in grid

    assert exhaust(brute, in_the_grid, control=(7, 1, 1, 1)) == len(grid)


@pytest.mark.claim(
    "wong/equation-9",
    grade="universal",
    direction="against",
    scope="the 364 layers of the grid, 1 to 6 queries, any number of keys and values",
    statement="6b944ab80633c9fc",
)
def test_equation_9_fails_on_the_grid(exhaust: Exhaust) -> None:
    """The ceiling written out, not called: ρ min(|K|, |Q|) + min(|Q|, n - ρ)."""

    def ceiling(shape: LayerShape, keys: int, queries: int, values: int) -> int:
        n = min(shape.d_model, values)
        rho = min(shape.heads * shape.d_vo, n)
        return rho * min(keys, queries) + min(queries, n - rho)

    failing = {queries: set(where_estimate_fails(queries)) for queries in range(1, 7)}

    def decided(shape: LayerShape, queries: int) -> bool:
        largest = max(
            ceiling(shape, keys, queries, values)
            for keys, values in product(range(1, 9), range(1, 9))
        )
        fails = shape in failing[queries]
        if fails != (largest < shape.d_model + shape.heads * shape.d_vo):
            return False
        # where it does not fail, (9) is true of almost all weights, with enough keys
        return fails or generic_rank(shape, 40, queries, shape.d_model) == largest

    outside = (LayerShape(6, 1, 1, 7), 1)  # (9) fails there too, but it is not of the grid
    assert exhaust(product(layer_grid(), range(1, 7)), decided, control=outside) == 6 * 364
    assert [len(failing[queries]) for queries in range(1, 7)] == [364, 242, 92, 32, 0, 0]


@pytest.mark.claim(
    "wong/figure-2b",
    grade="universal",
    scope="the 364 layers of the grid",
    statement="5131a266a6684aa3",
)
def test_figure_2b_parameters_against_the_estimate(exhaust: Exhaust) -> None:
    def correlated_and_not_affine(grid: list[LayerShape]) -> bool:
        pairs = [(shape.estimate, shape.parameters) for shape in grid]
        x, y = sum(a for a, _ in pairs), sum(b for _, b in pairs)
        covariance = len(pairs) * sum(a * b for a, b in pairs) - x * y
        by_estimate: dict[int, set[int]] = {}
        for estimate, parameters in pairs:
            by_estimate.setdefault(estimate, set()).add(parameters)
        # Not even a function of the estimate, let alone an affine one.
        return covariance > 0 and max(map(len, by_estimate.values())) > 1

    grid = list(layer_grid())
    one_head = [shape for shape in grid if shape.heads == 1 and shape.d_model == shape.d_qk == 1]
    exhaust([grid], correlated_and_not_affine, control=one_head)
    assert len(grid) == 364
    assert sum(shape.estimate <= 10 for shape in grid) == 180
