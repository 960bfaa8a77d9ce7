"""The generic rank of Z is the largest rank of one-hot attention, which is the ceiling."""

from fractions import Fraction
from itertools import product
from random import Random

import pytest
from flint import fmpz_mat
from hypothesis import given, settings
from hypothesis import strategies as st

from lemmax.pytest_plugin.properties import Sample
from lemmax.theory import ContextHead, Matrix, MultiHead, multi_head
from lemmax.theory.mahdavi.ceilings import feature_rank_ceiling, spans

generators = st.integers(0, 2**32 - 1).map(Random)
WIDE = 10**5  # small integer weights collide by accident, which generic weights do not
Rows = list[list[int]]


def table(rows: int, columns: int, bound: int, draw: Random) -> Rows:
    return [[draw.randint(-bound, bound) for _ in range(columns)] for _ in range(rows)]


def degenerate(n: int, d: int, draw: Random) -> Rows:
    """A context with few differences: constant, on a line, zero, or with small entries."""
    kind = draw.randrange(4)
    if kind == 0:
        return table(1, d, 2, draw) * n
    if kind == 1:
        base, step = table(2, d, 2, draw)
        return [[a + k * b for a, b in zip(base, step, strict=True)] for k in range(n)]
    return table(n, d, 0 if kind == 2 else 1, draw)


def heads(H: int, d: int, d_h: int, bound: int, draw: Random) -> list[ContextHead]:
    return [
        ContextHead(Matrix(table(d, d_h, bound, draw)), Matrix(table(d, d_h, bound, draw)))
        for _ in range(H)
    ]


def ceiling(contexts: list[Rows], H: int) -> int:
    matrices = [Matrix(E) for E in contexts]
    return feature_rank_ceiling(matrices, range(len(contexts)), H).value


def rank(rows: Rows) -> int:
    return fmpz_mat(rows).rank()


@given(generators)
def test_rows_of_Z_are_sums_over_one_hot_attention(draw: Random) -> None:
    """Row t times its H denominators = Σ over choices of 2^(sum of logits) (y_1, …, y_H)."""
    n, d, H, T = (draw.randint(1, 3) for _ in range(4))
    contexts = [degenerate(n, d, draw) for _ in range(T)]
    layer = multi_head(
        [Matrix(E) for E in contexts], table(T, d, 1, draw), heads(H, d, 1, 1, draw), "ln2"
    )
    Z = layer.exact_features().rows()
    for t, E in enumerate(contexts):
        query = layer.queries.rows()[t]
        logits = []
        for head in layer.heads:
            M = (head.W_K @ head.W_Q.T).rows()
            logits.append(
                [sum(int(x[i] * M[i][j] * query[j]) for i in range(d) for j in range(d)) for x in E]
            )
        total = [Fraction(0)] * (H * d)
        for choice in product(range(n), repeat=H):
            weight = Fraction(2) ** sum(logits[h][i] for h, i in enumerate(choice))
            chosen = [x for i in choice for x in E[i]]
            total = [a + weight * x for a, x in zip(total, chosen, strict=True)]
        denominator = Fraction(1)
        for line in logits:
            denominator *= sum((Fraction(2) ** x for x in line), Fraction(0))
        assert total == [denominator * x for x in Z[t]]


@settings(max_examples=60)
@given(generators)
def test_determinant_is_the_sum_over_choices(draw: Random) -> None:
    """det of rows Σ_y w(y) y is Σ over choices of the products of the w times det of the y."""
    m, size = draw.randint(1, 3), draw.randint(1, 3)
    terms = [[(draw.randint(1, 9), table(1, m, 3, draw)[0]) for _ in range(size)] for _ in range(m)]
    rows = [[sum(w * y[j] for w, y in row) for j in range(m)] for row in terms]
    expanded = 0
    for choice in product(*terms):
        weight = 1
        for w, _ in choice:
            weight *= w
        expanded += weight * int(fmpz_mat([y for _, y in choice]).det())
    assert expanded == int(fmpz_mat(rows).det())


@given(generators)
def test_different_choices_have_different_exponents(draw: Random) -> None:
    """Σ_t (y_t - y'_t) ⊗ e_t is not 0 for wide random queries, unless y = y' as vectors."""
    n, d, T = (draw.randint(1, 3) for _ in range(3))
    contexts = [degenerate(n, d, draw) for _ in range(T)]
    queries = table(T, d, 10**9, draw)
    seen: dict[tuple[int, ...], tuple[tuple[int, ...], ...]] = {}
    for choice in product(*contexts):
        exponent = tuple(
            sum(y[i] * e[j] for y, e in zip(choice, queries, strict=True))
            for i in range(d)
            for j in range(d)
        )
        vectors = tuple(tuple(y) for y in choice)
        assert seen.setdefault(exponent, vectors) == vectors


@settings(max_examples=60)
@given(generators)
def test_best_one_hot_attention_has_the_rank_of_the_ceiling(draw: Random) -> None:
    """All choices of tokens are tried: the largest rank is the minimum over unions of contexts."""
    n, d, H = draw.randint(1, 2), draw.randint(1, 3), draw.randint(1, 2)
    most = 3 if n**H > 2 else 4
    pool = [degenerate(n, d, draw) for _ in range(2)]
    contexts = [draw.choice(pool) for _ in range(draw.randint(1, most))]
    choices = [
        [[x for i in picked for x in E[i]] for picked in product(range(n), repeat=H)]
        for E in contexts
    ]
    best = max(rank(list(rows)) for rows in product(*choices))
    assert best == ceiling(contexts, H)


@given(generators)
def test_span_of_all_choices_has_rho_and_H_minus_one_delta_dimensions(draw: Random) -> None:
    n, d, H = draw.randint(1, 3), draw.randint(1, 4), draw.randint(1, 3)
    contexts = [degenerate(n, d, draw) for _ in range(draw.randint(1, 2))]
    rows = [
        [x for i in picked for x in E[i]]
        for E in contexts
        for picked in product(range(n), repeat=H)
    ]
    rho, delta = spans([Matrix(E) for E in contexts])
    assert rank(rows) == rho + (H - 1) * delta


def attains(layer: MultiHead) -> bool:
    """Whether the features have the rank of the ceiling."""
    ceiling = feature_rank_ceiling(layer.contexts, layer.context_of, layer.H).value
    return layer.feature_rank().lower == ceiling


UNITS = [[1, 0], [0, 1]]
EVEN = multi_head(UNITS, UNITS, [ContextHead([[0], [0]], [[0], [0]])])  # these weights do not


@pytest.mark.claim(
    "lemmax/feature-rank-exact",
    grade="property",
    scope="n <= 4, d <= 5, H <= 4, T <= 16, d_h <= 2; constant, collinear, zero and equal contexts",
    statement="05b07ce43fbe8726",
)
@settings(max_examples=80)
@given(generators)
def test_generic_weights_attain_the_ceiling_on_degenerate_contexts(
    sample: Sample, draw: Random
) -> None:
    n, d, H, T = (draw.randint(1, top) for top in (4, 5, 4, 16))
    pool = [degenerate(n, d, draw) for _ in range(draw.randint(1, 4))]
    contexts = [Matrix(draw.choice(pool)) for _ in range(T)]
    layer = multi_head(
        contexts, table(T, d, WIDE, draw), heads(H, d, draw.randint(1, 2), WIDE, draw)
    )
    sample(attains, layer, control=EVEN)


def test_concave_bound_has_its_minimum_at_an_end() -> None:
    """T - gm + min(gn, d) + (H-1) min(g(n-1), d) over 0 <= g <= G: at g = 0 or g = G."""
    for n, d, H, m, G in product(range(1, 6), range(1, 9), range(1, 5), range(1, 7), range(1, 7)):
        values = [(G - g) * m + min(g * n, d) + (H - 1) * min(g * (n - 1), d) for g in range(G + 1)]
        assert min(values) == min(values[0], values[-1])


def test_spans_of_generic_contexts() -> None:
    """g random contexts of n tokens have ρ = min(gn, d) and δ = min(g(n-1), d)."""
    draw = Random(8)
    for n, d, g in product(range(1, 4), range(1, 7), range(1, 4)):
        contexts = [Matrix(table(n, d, WIDE, draw)) for _ in range(g)]
        assert spans(contexts) == (min(g * n, d), min(g * (n - 1), d))


def test_zero_contexts_and_repeated_tokens() -> None:
    """Zero contexts have rank 0; constant contexts give the rank of their tokens for every H."""
    draw = Random(1)
    assert ceiling([[[0, 0], [0, 0]]] * 4, 3) == 0
    constant = [[[1, 2]] * 3, [[0, 1]] * 3, [[5, 5]] * 3]
    layer = multi_head(
        [Matrix(E) for E in constant], table(3, 2, WIDE, draw), heads(4, 2, 2, WIDE, draw)
    )
    assert layer.feature_rank().rank == ceiling(constant, 4) == 2
