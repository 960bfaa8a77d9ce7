"""The rank of Z: what no weights exceed, and what generic weights attain."""

import json
from collections.abc import Callable
from itertools import combinations, pairwise, permutations, product
from random import Random
from typing import Any

import pytest
from flint import ctx, fmpq, fmpz_mat, nmod_mat
from hypothesis import given, settings
from hypothesis import strategies as st

from lemmax import checker
from lemmax.checker import contexts as checker_contexts
from lemmax.constructions.mahdavi import counterexamples
from lemmax.constructions.refuting import refute
from lemmax.pytest_plugin.properties import Sample
from lemmax.theory import ContextHead, Matrix, MultiHead, certified_rank, kruskal_rank, multi_head
from lemmax.theory.errors import LemmaxError
from lemmax.theory.mahdavi.ceilings import (
    dimension_ceiling,
    dimension_ceiling_contexts,
    feature_rank_ceiling,
    spans,
    two_token_law,
)
from lemmax.theory.mahdavi.ranks import features_modulo, jacobian_modulo
from lemmax.theory.numbers.primes import MERSENNE_61

Certify = Callable[..., checker.Verdict]
generators = st.integers(0, 2**32 - 1).map(Random)
WIDE = 10**5  # small integer weights collide by accident, which generic weights do not


def matrix(rows: int, columns: int, bound: int, draw: Random) -> Matrix:
    return Matrix([[draw.randint(-bound, bound) for _ in range(columns)] for _ in range(rows)])


def heads(H: int, d: int, d_h: int, bound: int, draw: Random) -> list[ContextHead]:
    return [ContextHead(matrix(d, d_h, bound, draw), matrix(d, d_h, bound, draw)) for _ in range(H)]


def full_rank(rows: int, columns: int, bound: int, draw: Random) -> Matrix:
    while True:
        drawn = matrix(rows, columns, bound, draw)
        if certified_rank(drawn).rank == rows:
            return drawn


def rational_layer(draw: Random, contexts: int) -> MultiHead:
    """Small weights in units of ln 2, so that Z is a matrix over Q."""
    n, d, H, T = (draw.randint(1, 4) for _ in range(4))
    which = [draw.randrange(contexts) for _ in range(T + 4)]
    E = [matrix(n, d, 2, draw) for _ in range(contexts)]
    queries = matrix(len(which), d, 1, draw)
    d_h = draw.randint(1, 2)
    return multi_head([E[c] for c in which], queries, heads(H, d, d_h, 1, draw), "ln2")


def has_rank(layer: MultiHead, rank: int) -> bool:
    return layer.feature_rank().rank == rank


def shows_rank(layer: MultiHead, rank: int) -> bool:
    """Whether a prime shows this rank from below."""
    return layer.feature_rank().lower == rank


ONE = (multi_head([[1, 0], [3, 1]], [[1, 0]], [ContextHead([[1], [1]], [[1], [1]])]), 2)


def tightness(layer: MultiHead) -> bool:
    return certified_rank(layer.exact_features()).rank <= layer.H * (layer.n - 1) + 1


def unit_contexts(n: int, T: int) -> MultiHead:
    """T examples with n tokens each, all different unit vectors, one head, even attention."""
    units = [[int(i == j) for j in range(n * T)] for i in range(n * T)]
    contexts = [Matrix(units[n * t : n * t + n]) for t in range(T)]
    zero = [[0]] * (n * T)
    return multi_head(contexts, [units[0]] * T, [ContextHead(zero, zero)], "ln2")


TWO_CONTEXTS = unit_contexts(1, 2)  # the context is not shared: rank 2, and the bound is 1


def two_token_bound(layer: MultiHead, queries: list[tuple[int, ...]], H: int) -> bool:
    return certified_rank(layer.exact_features()).rank <= two_token_law(queries, H)


UNITS = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
POWERS = ContextHead([[0], [1], [2]], [[0], [1], [2]])
THREE_TOKENS = (multi_head(UNITS, UNITS, [POWERS], "ln2"), UNITS, 1)  # three tokens: rank 3, not 2


def ceiling(layer: MultiHead, chosen: tuple[int, ...], more: int) -> bool:
    """Whether the rank, and more, is at most the bound of the chosen contexts."""
    rho, delta = spans([layer.contexts[c] for c in chosen])
    outside = sum(c not in chosen for c in layer.context_of)
    rank = certified_rank(layer.exact_features()).rank
    return rank + more <= outside + rho + (layer.H - 1) * delta


# --- ceilings -----------------------------------------------------------------------------------


@pytest.mark.claim(
    "mahdavi/tightness-rank",
    grade="property",
    scope="n, d, H <= 4; exact ranks over Q",
    statement="13b318cacad58a6d",
)
@given(generators)
def test_tightness_rank_with_a_shared_context(sample: Sample, draw: Random) -> None:
    layer = rational_layer(draw, 1)
    sample(tightness, layer, control=TWO_CONTEXTS)


@pytest.mark.claim(
    "lemmax/feature-rank-ceiling",
    grade="property",
    scope="n, d, H <= 4; 3 contexts; ranks over Q",
    statement="a1b7202713650f47",
)
@given(generators)
def test_feature_rank_ceiling_is_never_exceeded(sample: Sample, draw: Random) -> None:
    layer = rational_layer(draw, draw.randint(1, 3))
    exact = certified_rank(layer.exact_features()).rank
    assert exact <= feature_rank_ceiling(layer.contexts, layer.context_of, layer.H).value
    # every union of contexts gives a bound, not only the best one
    for size in range(len(layer.contexts) + 1):
        for chosen in combinations(range(len(layer.contexts)), size):
            sample(ceiling, layer, chosen, 0, control=(unit_contexts(1, 2), (0, 1), 1))


@given(generators)
def test_differences_of_blocks_lie_in_the_differences(draw: Random) -> None:
    """Rows of Z_h - Z_1 lie in the span of the differences, rows of Z_1 in that of the tokens."""
    layer = rational_layer(draw, 1)
    Z, d = layer.exact_features().rows(), layer.d
    E = layer.contexts[0].rows()
    steps = [[a - b for a, b in zip(x, E[0], strict=True)] for x in E[1:]]
    rho, delta = spans(layer.contexts)
    first = [row[:d] for row in Z]
    assert certified_rank([*E, *first]).rank == rho
    for h in range(1, layer.H):
        gaps = [[a - b for a, b in zip(r[h * d : (h + 1) * d], r[:d], strict=True)] for r in Z]
        assert certified_rank([*steps, *gaps]).rank == delta if steps else not any(map(any, gaps))


def test_ceiling_sees_unbalanced_contexts() -> None:
    """20 queries on one context, 1 on another: the rank is 8, not rho + (H-1) delta = 14."""
    draw = Random(3)
    E = [full_rank(3, 6, 5, draw) for _ in range(2)]
    rho, delta = spans(E)
    assert rho + 2 * delta == 14
    layer = multi_head([E[0]] * 20 + [E[1]], matrix(21, 6, 9, draw), heads(3, 6, 1, WIDE, draw))
    assert layer.feature_rank().rank == 8


def test_ceiling_with_many_contexts_is_still_a_bound() -> None:
    draw = Random(5)
    E = [full_rank(2, 3, 4, draw) for _ in range(14)]
    which = [c for c in range(14) for _ in range(1 + 5 * (c % 2))]
    bound = feature_rank_ceiling(E, which, 3)
    layer = multi_head(
        [E[c] for c in which], matrix(len(which), 3, 9, draw), heads(3, 3, 2, 99, draw)
    )
    assert layer.feature_rank().lower <= bound.value <= len(which)


@pytest.mark.claim(
    "mahdavi/open-question-2",
    grade="property",
    scope="n <= 4, d <= 6, H <= 4, up to 6 contexts, at most 40 examples",
    statement="570e90bc8b3b05c9",
)
@settings(max_examples=60)
@given(generators)
def test_open_question_2_balanced_contexts_attain_the_ceiling(sample: Sample, draw: Random) -> None:
    n, d, H, G = draw.randint(1, 4), draw.randint(1, 6), draw.randint(1, 4), draw.randint(1, 6)
    each = draw.randint(1, max(1, 40 // G))
    E = [matrix(n, d, WIDE, draw) for _ in range(G)]
    which = [c for c in range(G) for _ in range(each)]
    rho, delta = spans(E)
    layer = multi_head(
        [E[c] for c in which], matrix(len(which), d, WIDE, draw), heads(H, d, 1, WIDE, draw)
    )
    sample(has_rank, layer, min(G * each, rho + (H - 1) * delta), control=ONE)


# --- the head dimension -------------------------------------------------------------------------


@pytest.mark.claim(
    "lemmax/feature-rank-head-dimension-free",
    grade="property",
    scope="n <= 4, d <= 5, H <= 4, T <= 14; arbitrary small data, degenerate ones included",
    statement="ccfc83769fc68091",
)
@settings(max_examples=60)
@given(generators)
def test_feature_rank_does_not_depend_on_the_head_dimension(sample: Sample, draw: Random) -> None:
    n, d, H, T = (draw.randint(1, top) for top in (4, 5, 4, 14))
    bound = draw.choice((1, 1, 2, 9))  # many coincidences among contexts and queries
    E = [matrix(n, d, bound, draw) for _ in range(draw.randint(1, 3))]
    contexts = [draw.choice(E) for _ in range(T)]
    queries = matrix(T, d, bound, draw)
    ranks = {
        d_h: multi_head(contexts, queries, heads(H, d, d_h, WIDE, draw)).feature_rank().lower
        for d_h in (1, 2, d)
    }
    assert len(set(ranks.values())) == 1
    # Even one rank-one matrix will do, with a factor for each head.
    v, u = matrix(d, 1, WIDE, draw), matrix(d, 1, WIDE, draw)
    scaled = [ContextHead(v, draw.randint(-WIDE, WIDE) * u) for _ in range(H)]
    sample(shows_rank, multi_head(contexts, queries, scaled), ranks[1], control=ONE)


@given(generators)
def test_distinct_exponents_stay_distinct_on_rank_one_matrices(draw: Random) -> None:
    """Different λ give different vᵀλu for almost all v, u: the step from all M to rank one."""
    d = draw.randint(1, 4)
    exponents = {
        tuple(row): Matrix([row[i * d : (i + 1) * d] for i in range(d)])
        for row in ([draw.randint(-3, 3) for _ in range(d * d)] for _ in range(8))
    }
    v, u = matrix(d, 1, 10**12, draw), matrix(d, 1, 10**12, draw)
    values = {(v.T @ M @ u)[0, 0] for M in exponents.values()}
    assert len(values) == len(exponents)


@pytest.mark.claim(
    "mahdavi/theorem-1-parameters",
    grade="certified",
    direction="against",
    statement="c933e65026cf0b02",
)
def test_theorem_1_parameters_heads_of_dimension_one(certify: Certify) -> None:
    verdict = certify(
        counterexamples.one_dimensional_head(), ship_as="mahdavi/theorem-1-parameters"
    )
    assert "head_dimension(A) = 1 < context_length(A) = 2" in verdict.steps[-1]


@pytest.mark.claim(
    "mahdavi/head-dimension-rank",
    grade="certified",
    direction="against",
    statement="38a9e1a13dd8b3f2",
)
def test_head_dimension_does_not_limit_the_rank(certify: Certify) -> None:
    certify(counterexamples.head_dimension_no_limit(), ship_as="mahdavi/head-dimension-rank")


@pytest.mark.claim(
    "mahdavi/kruskal-weakening-tight",
    grade="certified",
    direction="against",
    statement="0167ffee989072f1",
)
def test_kruskal_weakening_is_not_tight(certify: Certify) -> None:
    certify(
        counterexamples.kruskal_weakening_not_tight(), ship_as="mahdavi/kruskal-weakening-tight"
    )


@pytest.mark.claim(
    "mahdavi/general-position-limit",
    grade="certified",
    direction="against",
    statement="6e9e90a388b6e33b",
)
def test_general_position_limit_exceeded_by_long_contexts(certify: Certify) -> None:
    certify(counterexamples.general_position_exceeded(), ship_as="mahdavi/general-position-limit")


@pytest.mark.parametrize(("n", "d", "H"), [(3, 2, 2), (4, 3, 3), (5, 3, 4), (7, 4, 3)])
def test_long_shared_contexts_reach_Hd(n: int, d: int, H: int) -> None:
    draw = Random(n * d)
    layer = multi_head(
        matrix(n, d, 9, draw), matrix(H * d + 2, d, 9, draw), heads(H, d, 1, WIDE, draw)
    )
    assert layer.feature_rank().rank == H * d > H * (d - 1) + 1


# --- shared contexts ----------------------------------------------------------------------------


@pytest.mark.claim(
    "lemmax/shared-context-distinct-queries",
    grade="property",
    scope="n <= 4, d <= 5, H <= 4, T <= 16, d_h = 1",
    statement="86b3c673ff637f65",
)
@settings(max_examples=60)
@given(generators)
def test_distinct_queries_of_a_half_space_suffice(sample: Sample, draw: Random) -> None:
    n, H = draw.randint(1, 4), draw.randint(1, 4)
    d = draw.randint(n, 5)
    # a positive first coordinate; the rest is as degenerate as it likes
    pool = {(draw.randint(1, 3), *(draw.randint(-1, 1) for _ in range(d - 1))) for _ in range(16)}
    queries = sorted(pool)
    layer = multi_head(full_rank(n, d, 3, draw), queries, heads(H, d, 1, WIDE, draw))
    sample(has_rank, layer, min(len(queries), H * (n - 1) + 1), control=ONE)


@given(st.lists(st.integers(1, 60), min_size=2, max_size=6, unique=True))
def test_rearrangement_has_a_unique_optimum(x: list[int]) -> None:
    """Among all permutations, only the decreasing pairing minimises Σ σ(k) x_k."""
    x = sorted(x)
    values = sorted(
        sum(j * y for j, y in zip(order, x, strict=True))
        for order in permutations(range(1, len(x) + 1))
    )
    assert values[0] == sum(j * y for j, y in zip(range(len(x), 0, -1), x, strict=True))
    assert len(values) == 1 or values[0] < values[1]


@given(st.lists(st.integers(1, 40), min_size=2, max_size=5, unique=True), generators)
def test_leading_entries_dominate_for_steep_scores(x: list[int], draw: Random) -> None:
    """⟨g, column j⟩ of e^(-s j x_t) / Σ is e^(-s j x_lead) (1 + o(1)): exact at s = 60 ln 2."""
    x, s = sorted(x), 60
    lead = draw.randrange(len(x))
    g = [0] * lead + [1] + [draw.randint(-9, 9) for _ in x[lead + 1 :]]
    for j in (1, 2):
        total = fmpq(0)
        for factor, y in zip(g, x, strict=True):
            rows = [fmpq(1, 2 ** (s * i * y)) for i in range(3)]
            total += factor * rows[j] / sum(rows, fmpq(0))
        ratio = total * 2 ** (s * j * x[lead])
        assert abs(ratio - 1) < fmpq(1, 2**40)


PLANE = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1)]


@pytest.mark.claim(
    "lemmax/two-token-law",
    grade="property",
    scope="all 511 sets of queries from {-1, 0, 1}^2, H <= 4: attained by random weights",
    statement="89ed2319fe351efc",
)
def test_two_token_law_on_all_sets_of_the_grid(sample: Sample) -> None:
    draw = Random(0)
    E = [[1, 0], [3, 1]]
    for size in range(1, 10):
        for queries in combinations(PLANE, size):
            for H in (1, 2, 3, 4):
                generic = multi_head(E, queries, heads(H, 2, 1, WIDE, draw))
                sample(shows_rank, generic, two_token_law(queries, H), control=ONE)


@pytest.mark.claim(
    "lemmax/two-token-law",
    grade="property",
    scope="d <= 3, T <= 9, H <= 5; exact ranks over Q",
    statement="89ed2319fe351efc",
)
@given(generators)
def test_two_token_law_is_never_exceeded(sample: Sample, draw: Random) -> None:
    d, H = draw.randint(2, 3), draw.randint(1, 5)
    queries = sorted({tuple(draw.randint(-2, 2) for _ in range(d)) for _ in range(9)})
    layer = multi_head(full_rank(2, d, 2, draw), queries, heads(H, d, 2, 1, draw), "ln2")
    sample(two_token_bound, layer, queries, H, control=THREE_TOKENS)


@given(st.lists(st.integers(1, 200), min_size=1, max_size=7, unique=True))
def test_two_token_law_nearest_poles_are_distinct(x: list[int]) -> None:
    """tanh(x y) has its poles at i π (m + 1/2) / x: that of the largest x is nearest to 0 alone."""
    nearest = sorted(fmpq(1, 2 * y) for y in x)
    assert all(a < b for a, b in pairwise(nearest))
    # and the functions tanh(x y), as (w^x - 1)/(w^x + 1) in w, are independent mod a prime
    rows = [
        [(pow(w, y, MERSENNE_61) - 1) * pow(pow(w, y, MERSENNE_61) + 1, -1, MERSENNE_61) for y in x]
        for w in range(10**12, 10**12 + len(x))
    ]
    assert nmod_mat(fmpz_mat(rows), MERSENNE_61).rank() == len(x)


def test_antipodal_queries_stop_the_growth() -> None:
    """±e_1, ±e_2 on two tokens: rank 3 at every H, although H(n - 1) + 1 = 9 at H = 8."""
    queries = [(1, 0), (-1, 0), (0, 1), (0, -1)]
    assert two_token_law(queries, 8) == 3
    layer = multi_head([[1, 0], [0, 1]], queries, heads(8, 2, 2, WIDE, Random(1)))
    assert layer.feature_rank().lower == 3
    assert kruskal_rank(queries).rank == 1


# --- edge cases ---------------------------------------------------------------------------------


def test_one_ray_of_queries_with_reciprocal_contexts_has_rank_one() -> None:
    """Logits do not depend on the example, whatever the weights, so rows of Z are parallel."""
    contexts, queries = counterexamples.rays()
    assert all(certified_rank(E).rank == 3 for E in contexts)
    draw = Random(7)
    for H, d_h in ((1, 1), (6, 3)):
        layer = multi_head(contexts, queries, heads(H, 3, d_h, 99, draw))
        for logits in layer.exponents[0]:
            assert all(row == logits[0] for row in logits)
        assert layer.feature_rank().lower == 1


@pytest.mark.parametrize("H", [1, 3, 10])
def test_equal_queries_have_equal_features(H: int) -> None:
    """n = 2, a shared context of rank 2, two equal queries: Kruskal rank 1, and Z has one row."""
    draw = Random(H)
    context = Matrix([[1, 0, 2], [0, 1, -1]])
    layer = multi_head([context] * 2, Matrix([[1, 2, 0]] * 2), heads(H, 3, 2, 5, draw))
    assert kruskal_rank(layer.queries).rank == 1
    for first, second in layer.exponents[0]:
        assert first == second  # equal logits on equal contexts: equal rows
    assert layer.feature_rank().lower == 1


@pytest.mark.parametrize("H", [1, 3, 10])
def test_one_token_makes_heads_copies(H: int) -> None:
    contexts = [[[1, 0, 0, 0]], [[0, 1, 0, 0]], [[0, 0, 1, 0]], [[0, 0, 0, 1]], [[1, 1, 1, 1]]]
    layer = multi_head(contexts, [[1, 2, 3, t] for t in range(5)], heads(H, 4, 2, 9, Random(H)))
    assert layer.feature_rank().rank == 4


def test_identical_queries_with_different_contexts_still_reach_T() -> None:
    draw = Random(11)
    contexts = [matrix(3, 6, 5, draw) for _ in range(30)]
    layer = multi_head(contexts, [[1, -2, 3, 1, 0, 2]] * 30, heads(6, 6, 1, 999, draw))
    assert layer.feature_rank().rank == 30 > 6 * 2 + 1


def test_resonance_of_integer_weights_lowers_the_rank() -> None:
    """A head whose logit difference is the same on all queries adds a constant column only."""
    E, queries = Matrix.identity(2), [[x, 5 - x] for x in range(5)]
    constant = ContextHead([[7], [0]], [[1], [1]])
    draw = Random(2)
    generic = heads(3, 2, 1, 99, draw)
    assert multi_head(E, queries, [*generic, constant]).feature_rank().lower == 4
    assert multi_head(E, queries, heads(4, 2, 1, 99, draw)).feature_rank().rank == 5


@pytest.mark.parametrize(
    ("n", "d", "d_h", "H"), [(1, 2, 1, 3), (2, 2, 1, 8), (4, 5, 3, 6), (6, 6, 1, 4), (8, 9, 2, 3)]
)
def test_rank_is_H_times_n_minus_one_plus_one_for_every_head_dimension(
    n: int, d: int, d_h: int, H: int, certify: Certify
) -> None:
    draw = Random(n)
    T = H * (n - 1) + 3
    layer = multi_head(
        full_rank(n, d, 5, draw), matrix(T, d, 9, draw), heads(H, d, d_h, WIDE, draw)
    )
    bounds = layer.feature_rank()
    assert bounds.rank == H * (n - 1) + 1
    certify(bounds.certificate())


def test_scale_of_one_over_root_d_h_is_transcendental_too(certify: Certify) -> None:
    draw = Random(4)
    layer = multi_head(
        full_rank(3, 4, 5, draw), matrix(9, 4, 5, draw), heads(3, 4, 2, 50, draw), "1/sqrt(2)"
    )
    certify(layer.feature_rank().certificate())
    assert layer.feature_rank().rank == 7


@given(generators)
def test_modular_features_agree_with_exact_ones(draw: Random) -> None:
    layer = rational_layer(draw, 2)
    made = features_modulo(layer, MERSENNE_61, 2)
    assert made is not None
    exact = layer.exact_features().flint.tolist()
    den = layer.integer_contexts[1]
    for t in range(layer.T):
        for j in range(layer.H * layer.d):
            value = exact[t][j] * den
            residue = int(value.p) * pow(int(value.q), -1, MERSENNE_61) % MERSENNE_61
            assert int(made[t, j]) == residue


# --- dimensions and Jacobians -------------------------------------------------------------------


def with_values(layer: MultiHead, draw: Random) -> MultiHead:
    made = tuple(
        ContextHead(h.W_K, h.W_Q, matrix(layer.d, 1, 99, draw), [[1]]) for h in layer.heads
    )
    return MultiHead(layer.contexts, layer.context_of, layer.queries, made, layer.scale)


@pytest.mark.parametrize(("d_h", "D"), [(1, 21), (2, 31), (3, 37), (4, 37)])
def test_dimension_ceiling_is_the_rank_of_the_jacobian(d_h: int, D: int, certify: Certify) -> None:
    draw = Random(d_h)
    layer = with_values(
        multi_head(full_rank(4, 5, 5, draw), matrix(D + 3, 5, 9, draw), heads(2, 5, d_h, 99, draw)),
        draw,
    )
    bounds = layer.jacobian_rank()
    assert bounds.rank == D == dimension_ceiling(layer.contexts[0], layer.queries, 2, d_h)
    verdict = certify(
        bounds.certificate(),
        ship_as="lemmax/memorization-dimension-ceiling" if d_h == 1 else None,
    )
    assert f"rank J <= {D}" in verdict.steps[-1]


@settings(max_examples=40)
@given(generators)
def test_jacobian_attains_the_dimension_ceiling(draw: Random) -> None:
    n, H = draw.randint(1, 4), draw.randint(1, 3)
    d = draw.randint(max(2, n), 5)
    d_h = draw.randint(1, d)
    E = full_rank(n, d, 9, draw)
    r = min(d_h, n - 1, d)
    D = H * (r * (n - 1 + d - r) + n - 1) + 1
    layer = multi_head(E, matrix(D + 2, d, 30, draw), heads(H, d, d_h, 30, draw))
    assert dimension_ceiling(E, layer.queries, H, d_h) == D
    assert with_values(layer, draw).jacobian_rank().rank == D


@settings(max_examples=20)
@given(generators)
def test_jacobian_of_generic_contexts_attains_its_ceiling(draw: Random) -> None:
    n, d, H = draw.randint(2, 4), draw.randint(2, 3), draw.randint(1, 2)
    d_h = draw.randint(1, d)
    D = dimension_ceiling_contexts(d, H, d_h)
    contexts = [matrix(n, d, 30, draw) for _ in range(D + 2)]
    layer = multi_head(contexts, matrix(D + 2, d, 30, draw), heads(H, d, d_h, 30, draw))
    assert with_values(layer, draw).jacobian_rank().lower == D


def dual_outputs(
    layer: MultiHead, moved: dict[tuple[int, str, int, int], int], z: int
) -> list[int]:
    """The derivative of the outputs modulo a prime, by dual numbers a + ε b, ε² = 0.

    A logit x + ε y has the exponential z^x (1 + ε y): the factor log z, the scale, is left out.
    """
    p = MERSENNE_61

    def dual(h: int, name: str, M: Matrix) -> list[list[tuple[int, int]]]:
        return [
            [(int(M[a, b]), moved.get((h, name, a, b), 0)) for b in range(M.shape[1])]
            for a in range(M.shape[0])
        ]

    def times(x: tuple[int, int], y: tuple[int, int]) -> tuple[int, int]:
        return x[0] * y[0], x[0] * y[1] + x[1] * y[0]

    def total(values: Any) -> tuple[int, int]:
        parts = list(values)
        return sum(a for a, _ in parts), sum(b for _, b in parts)

    derivatives = []
    for t in range(layer.T):
        E = [[(int(x), 0) for x in row] for row in layer.contexts[layer.context_of[t]].rows()]
        e = [(int(x), 0) for x in layer.queries.rows()[t]]
        slope = 0
        for h, head in enumerate(layer.heads):
            assert head.values is not None
            K, Q = dual(h, "W_K", head.W_K), dual(h, "W_Q", head.W_Q)
            V = dual(h, "V", head.values)
            q = [total(times(e[a], Q[a][b]) for a in range(len(e))) for b in range(head.d_h)]
            powers, values = [], []
            for x in E:
                k = [total(times(x[a], K[a][b]) for a in range(len(x))) for b in range(head.d_h)]
                # not reduced modulo p: exponents count modulo p - 1
                logit = total(map(times, k, q))
                base = pow(z, logit[0] % (p - 1), p)
                powers.append((base, base * logit[1] % p))
                values.append(total(times(x[a], V[a][0]) for a in range(len(x))))
            N, S = total(map(times, powers, values)), total(powers)
            inverse = pow(S[0], -1, p)
            slope += (N[1] * S[0] - N[0] * S[1]) * inverse * inverse
        derivatives.append(slope % p)
    return derivatives


@settings(max_examples=12)
@given(generators)
def test_jacobian_agrees_with_dual_numbers_and_with_the_checker(draw: Random) -> None:
    n, d, H, d_h, T = (draw.randint(1, 3) for _ in range(5))
    E = [matrix(n, d, 3, draw) for _ in range(2)]
    layer = with_values(
        multi_head(
            [draw.choice(E) for _ in range(T)], matrix(T, d, 3, draw), heads(H, d, d_h, 3, draw)
        ),
        draw,
    )
    z = 3**37
    J = jacobian_modulo(layer, MERSENNE_61, z)
    assert J is not None
    columns = [
        (h, name, a, b)
        for h in range(H)
        for name, width in (("W_K", d_h), ("W_Q", d_h), ("V", 1))
        for a in range(d)
        for b in range(width)
    ]
    assert J.ncols() == len(columns)
    for j, place in enumerate(columns):
        assert [int(J[t, j]) for t in range(T)] == dual_outputs(layer, {place: 1}, z)
    net = json.loads(json.dumps(layer.certificate_fields(values=True)))
    read = checker_contexts.multi_head(net, "A")
    other = checker_contexts.rows_mod(read, MERSENNE_61, z, jacobian=True)
    assert other == [[int(J[t, j]) for j in range(J.ncols())] for t in range(T)]


@given(generators)
def test_factorisation_map_has_rank_at_most_r_times_the_rest(draw: Random) -> None:
    """The differential of (P, Q) ↦ P Qᵀ has rank at most r (p + q - r), r = min(d_h, p, q)."""
    p, q, d_h = draw.randint(1, 4), draw.randint(1, 4), draw.randint(1, 4)
    P, Q = matrix(p, d_h, 3, draw), matrix(q, d_h, 3, draw)
    rows = []
    for i in range(p):
        for k in range(d_h):
            rows.append([Q[b, k] if a == i else 0 for a in range(p) for b in range(q)])
    for j in range(q):
        for k in range(d_h):
            rows.append([P[a, k] if b == j else 0 for a in range(p) for b in range(q)])
    r = min(d_h, p, q)
    assert certified_rank(rows).rank <= r * (p + q - r)


@given(generators)
def test_outputs_factor_through_differences_and_one_constant(draw: Random) -> None:
    """With u = E V a head outputs u_1 + Σ_j θ_j (u_j - u_1), and θ sees logit differences only."""
    layer = with_values(rational_layer(draw, 1), draw)
    E = layer.contexts[0]
    outputs = layer.outputs(256).entries()
    for t in range(layer.T):
        total = fmpq(0)
        for head, logits in zip(layer.heads, layer.exponents[0], strict=True):
            assert head.values is not None
            u = (E @ head.values).flint.entries()
            steps = [fmpq(2) ** (x - logits[t][0]) for x in logits[t]]
            moved = sum((w * (x - u[0]) for w, x in zip(steps, u, strict=True)), fmpq(0))
            total += u[0] + moved / sum(steps, fmpq(0))
        with ctx.workprec(400):  # a rational becomes a ball, which must be the smaller one
            assert outputs[t].contains(total)


# --- bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("contexts", "queries", "message"),
    [
        ([[[1, 0]], [[1, 0], [0, 1]]], [[1, 0], [0, 1]], "one shape"),
        ([[[1, 0]], [[0, 1]]], [[1, 0]], "2 contexts for 1 queries"),
        ([[1, 0], [0, 1]], [[1, 0, 0]], "Head 1 has"),
        ([[1, 0], [0]], [[1, 0]], "same length"),
        ([[1.5, 0], [0, 1]], [[1, 0]], "is a float"),
        ([[float("nan"), 0], [0, 1]], [[1, 0]], "not a finite number"),
    ],
)
def test_bad_contexts_are_refused_with_a_sentence(
    contexts: Any, queries: Any, message: str
) -> None:
    with pytest.raises(LemmaxError, match=message):
        multi_head(contexts, queries, [ContextHead([[1], [0]], [[1], [0]])])


def test_general_position_is_checked_by_definition() -> None:
    """The refutation needs the hypothesis: two parallel tokens are not in general position."""
    certificate = refute("mahdavi/general-position-limit", A=counterexamples.long_context())
    assert checker.check(certificate).holds
    certificate["instance"]["A"]["multi-head"]["queries"][1] = ["2", "4"]
    assert not checker.check(certificate).holds


def test_sign_patterns_cover_all_labels() -> None:
    assert {labels for labels, _ in counterexamples.all_sign_labels(3)} == set(
        product((1, -1), repeat=3)
    )
