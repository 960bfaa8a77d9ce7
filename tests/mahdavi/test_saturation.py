"""The saturation proof as a program, memorized labels, and what ties do."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from flint import arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from lemmax import checker
from lemmax.constructions import memorize, saturation_heads
from lemmax.constructions.mahdavi import counterexamples
from lemmax.constructions.mahdavi.saturation import AssumptionViolated
from lemmax.pytest_plugin.properties import Sample
from lemmax.theory import (
    ContextHead,
    Matrix,
    MultiHead,
    certified_rank,
    kruskal_rank,
    multi_head,
    softmax,
)
from lemmax.theory.errors import LemmaxError
from lemmax.theory.mahdavi.ceilings import theorem_1_bound

Certify = Callable[..., checker.Verdict]
generators = st.integers(0, 2**32 - 1).map(Random)


def full_rank(rows: int, columns: int, draw: Random) -> Matrix:
    while True:
        drawn = Matrix([[draw.randint(-4, 4) for _ in range(columns)] for _ in range(rows)])
        if certified_rank(drawn).rank == rows:
            return drawn


def moment_curve(T: int, k: int, d: int) -> list[list[int]]:
    """T vectors of R^d of Kruskal rank min(T, k): a moment curve of R^k, and zeros."""
    return [[x**i for i in range(k)] + [0] * (d - k) for x in range(1, T + 1)]


def data(n: int, d: int, T: int, shared: bool, draw: Random) -> Matrix | list[Matrix]:
    return full_rank(n, d, draw) if shared else [full_rank(n, d, draw) for _ in range(T)]


def all_independent(layer: MultiHead, T: int) -> bool:
    """Whether the features of T examples are independent, so that any labels are memorized."""
    return layer.feature_rank().rank == T


# Two examples with one query: any labels of both cannot be memorized.
SAME_QUERY = (
    multi_head([[1, 0], [0, 1]], [[1, 0], [1, 0]], [ContextHead([[1], [2]], [[1], [1]])]),
    2,
)


def no_ties(scores: list[Any], n: int) -> bool:
    return len(set(scores)) == n


# --- Theorem 1 ----------------------------------------------------------------------------------


@pytest.mark.claim(
    "mahdavi/theorem-1",
    grade="property",
    scope="n <= 4, d <= 5, H <= 4, every T up to the bound",
    statement="31183f56d691c523",
)
@settings(max_examples=40)
@given(generators, st.booleans())
def test_theorem_1_by_saturation(sample: Sample, draw: Random, shared: bool) -> None:
    n, H = draw.randint(1, 4), draw.randint(1, 4)
    d = draw.randint(n, 5)
    most = H * (n - 1) + 1
    T = draw.choice((most, draw.randint(1, most)))
    built = saturation_heads(data(n, d, T, shared, draw), moment_curve(T, d, d), H)
    assert T <= most == theorem_1_bound(n, d, H)
    sample(all_independent, built.layer, T, control=SAME_QUERY)
    for stage in built.stages:
        assert stage.limit_rank == stage.rank == len(stage.old) + len(stage.new)
        assert stage.saturation is None or stage.saturation > 0.99


@pytest.mark.claim(
    "mahdavi/kruskal-weakening",
    grade="property",
    scope="k <= n <= 4, d <= 5, H <= 4",
    statement="ad7d217b7f699eb9",
)
@settings(max_examples=40)
@given(generators, st.booleans())
def test_kruskal_weakening_by_saturation(sample: Sample, draw: Random, shared: bool) -> None:
    n, H = draw.randint(1, 4), draw.randint(1, 4)
    k, d = draw.randint(1, n), draw.randint(n, 5)
    T = H * (k - 1) + 1
    queries = moment_curve(T, k, d)
    assert kruskal_rank(queries).rank == min(k, T)
    built = saturation_heads(data(n, d, T, shared, draw), queries, H, k=k)
    sample(all_independent, built.layer, T, control=SAME_QUERY)
    assert built.layer.d_h == 1


def test_theorem_1_instance_with_contexts_of_its_own(certify: Certify) -> None:
    draw = Random(17)
    built = saturation_heads(data(5, 5, 17, False, draw), moment_curve(17, 5, 5), 4, d_h=2)
    assert built.layer.d_h == 2
    certify(built.certificate(), ship_as="mahdavi/theorem-1")
    assert built.picture().splitlines()[-1].endswith("#############oooo  rank 17")
    assert r"\operatorname{rank} Z" in built.to_latex()


@given(st.lists(st.integers(-20, 20), min_size=1, max_size=5, unique=True))
def test_attention_along_a_line_spans_everything(scores: list[int]) -> None:
    """x ↦ softmax(x k) lies in no hyperplane for distinct scores: n values are independent."""
    n = len(scores)
    layer = multi_head(
        Matrix.identity(n),
        [[x, *([0] * (n - 1))] for x in range(1, n + 1)],
        [ContextHead([[k] for k in scores], [[int(i == 0)] for i in range(n)])],
    )
    assert layer.feature_rank().rank == n


@given(generators)
def test_escaping_a_translate_needs_one_dimension_less(draw: Random) -> None:
    """A set that spans R^n, moved by a vector, spans at least n - 1 dimensions."""
    n = draw.randint(1, 5)
    points = full_rank(n, n, draw).rows()
    move = [draw.randint(-4, 4) for _ in range(n)]
    moved = [[a - b for a, b in zip(x, move, strict=True)] for x in points]
    assert certified_rank(moved).rank >= n - 1


@given(generators)
def test_block_triangular_rank_adds_up(draw: Random) -> None:
    """rank (P 0; Q R) >= rank P + rank R."""
    a, b, c, e = (draw.randint(1, 3) for _ in range(4))
    P, Q, R = (
        [[draw.randint(-1, 1) for _ in range(columns)] for _ in range(rows)]
        for rows, columns in ((a, c), (b, c), (b, e))
    )
    whole = [[*p, *([0] * e)] for p in P] + [[*q, *r] for q, r in zip(Q, R, strict=True)]
    assert certified_rank(whole).rank >= certified_rank(P).rank + certified_rank(R).rank


def test_refuses_a_deficient_context_by_name() -> None:
    good, bad = [[1, 0, 0], [0, 1, 0]], [[1, 2, 0], [2, 4, 0]]
    with pytest.raises(AssumptionViolated, match="context of example 1 has rank 1"):
        saturation_heads([good, bad, good], moment_curve(3, 3, 3), 2)


def test_refuses_dependent_queries_by_name() -> None:
    E = [[1, 0, 0], [0, 1, 0]]
    with pytest.raises(AssumptionViolated, match=r"queries \[0, 1\] are linearly dependent"):
        saturation_heads(E, [[1, 1, 0], [2, 2, 0], [0, 0, 1]], 2)
    with pytest.raises(AssumptionViolated, match=r"Query 1 lies in the span of the queries \[2\]"):
        saturation_heads(E, [[1, 1, 0], [0, 2, 0], [0, 1, 0]], 2)


def test_refuses_a_tie_by_name() -> None:
    with pytest.raises(AssumptionViolated, match="Tokens 0 and 1 of the context of example 0"):
        saturation_heads([[1, 0, 0], [0, 1, 0]], moment_curve(3, 3, 3), 2, v=[1, 1, 0])


@pytest.mark.parametrize(
    ("contexts", "queries", "H", "message"),
    [
        ([[1, 0], [0, 1], [1, 1]], [[1, 2], [1, 3]], 2, "needs n <= d"),
        ([[1, 0], [0, 1]], [[1, 2], [1, 3], [1, 4]], 1, "guarantee 2, not 3"),
        ([[1, 0], [0, 1]], [[1, 2, 3]], 1, "dimension 3 and tokens 2"),
        ([[1, 0], [0, 1]], [[1, 2]], 0, "at least one head"),
    ],
)
def test_bad_sizes_are_refused(
    contexts: list[list[int]], queries: list[list[int]], H: int, message: str
) -> None:
    with pytest.raises(LemmaxError, match=message):
        saturation_heads(contexts, queries, H)


# --- labels -------------------------------------------------------------------------------------


@settings(max_examples=15)
@given(generators, st.booleans())
def test_theorem_1_labels_are_fitted_with_a_certified_error(draw: Random, shared: bool) -> None:
    n, H = draw.randint(2, 4), draw.randint(1, 3)
    d = draw.randint(n, 5)
    T = H * (n - 1) + 1
    labels = [draw.randint(-99, 99) for _ in range(T)]
    queries = [[1, *(draw.randint(-2, 2) for _ in range(d - 1))] for _ in range(T)]
    if len({tuple(q) for q in queries}) < T and shared:
        return  # equal queries on a shared context are one example
    memory = memorize(data(n, d, T, shared, draw), queries, labels, H, d_h=2)
    assert checker.check(memory.certificate()).holds
    outputs = memory.layer.outputs(256).entries()
    assert all(abs(x - y) < fmpq(1, 2**20) for x, y in zip(outputs, labels, strict=True))


def test_classes_get_a_certified_margin(certify: Certify) -> None:
    draw = Random(5)
    E = full_rank(4, 6, draw)
    queries = [[1, *(draw.randint(0, 3) for _ in range(5))] for _ in range(10)]
    names = ["cat", "dog", "eel", "cat", "dog", "eel", "cat", "dog", "cat", "eel"]
    memory = memorize(E, queries, names, H=3, d_h=4, classes=True, error="1/4")
    assert [memory.recall(t) for t in range(10)] == names
    assert memory.margin == fmpq(1, 2)
    certify(memory.certificate())


def test_labels_of_the_wrong_length_are_refused() -> None:
    with pytest.raises(LemmaxError, match="2 labels for 1 queries"):
        memorize([[1, 0], [0, 1]], [[1, 2]], [1, 2], H=1)


def test_labels_beyond_the_rank_are_refused() -> None:
    queries = [[1, x] for x in range(5)]
    with pytest.raises(LemmaxError, match=r"rank 3 for 5 examples \(no weights give more than 3\)"):
        memorize([[1, 0], [0, 1]], queries, [1, 2, 3, 4, 5], H=2)


def test_outputs_scale_must_be_elementary() -> None:
    layer = counterexamples.two_token_memorizer([1, -1])
    certificate = layer.output_certificate([[1], [-1]], 0) | {"scale": "1/sqrt(2)"}
    with pytest.raises(checker.NotACertificate):
        checker.check(certificate)


# --- tight for rank, not for memorization -------------------------------------------------------


@pytest.mark.parametrize("T", [3, 4])
def test_tightness_memorization_all_sign_labels_with_one_head(T: int, certify: Certify) -> None:
    """T examples, one head of dimension one, two tokens: the bound H(n - 1) + 1 is 2."""
    for labels, layer in counterexamples.all_sign_labels(T):
        assert layer.H * (layer.n - 1) + 1 == 2 < layer.T
        name = None
        if T == 3:
            signs = "".join("+" if y > 0 else "-" for y in labels)
            name = f"mahdavi/tightness-memorization-{signs.replace('+', 'p').replace('-', 'm')}"
        certify(layer.output_certificate([[y] for y in labels], 0), ship_as=name)


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=6), st.integers(51, 90))
def test_tightness_memorization_real_labels_by_logarithms(labels: list[int], R: int) -> None:
    """R σ(L) - R (1 - σ(L)) = y for L = log((R + y)/(R - y)): as balls and as rationals."""
    with ctx.workprec(200):
        for y in labels:
            ratio = fmpq(R + y, R - y)
            sigma = ratio / (1 + ratio)  # σ(log ratio)
            assert R * sigma - R * (1 - sigma) == y
            L = arb(ratio).log()
            ball = R * (L / 2).tanh()
            assert ball.contains(y)
            assert ball.rad() < 1e-40


# --- saturation and ties ------------------------------------------------------------------------


@pytest.mark.claim(
    "mahdavi/one-hot", grade="certified", direction="against", statement="6c6dcc14c3706de4"
)
def test_one_hot_fails_for_ties(certify: Certify) -> None:
    certify(counterexamples.tied_scores(), ship_as="mahdavi/one-hot")


@pytest.mark.claim(
    "mahdavi/saturation-lemma", grade="certified", direction="against", statement="0a63482078968f35"
)
def test_saturation_lemma_fails_for_ties(certify: Certify) -> None:
    certify(counterexamples.tied_saturation(), ship_as="mahdavi/saturation-lemma")


@pytest.mark.claim(
    "mahdavi/similar-contexts", grade="certified", direction="against", statement="64613d91981b8418"
)
def test_similar_contexts_still_saturate(certify: Certify) -> None:
    certify(counterexamples.similar_tokens(), ship_as="mahdavi/similar-contexts")


@given(
    st.lists(st.integers(-30, 30), min_size=2, max_size=6),
    st.integers(1, 12),
)
def test_softmax_tends_to_the_uniform_distribution_on_the_largest(a: list[int], c: int) -> None:
    """With m largest entries and gap g: 1/m - weight <= n e^(-c g), on each of the m; exactly."""
    n, top = len(a), max(a)
    m = a.count(top)
    rest = [x for x in a if x < top]
    row = softmax([[c * x for x in a]], 256)
    with ctx.workprec(256):
        bound = arb(0) if not rest else n * arb(-c * (top - max(rest))).exp()
        for j, x in enumerate(a):
            if x == top:
                assert row[0, j] <= arb(fmpq(1, m)) + arb(2) ** -200
                assert arb(fmpq(1, m)) - row[0, j] <= bound + arb(2) ** -200
            else:
                assert row[0, j] <= bound + arb(2) ** -200


@pytest.mark.claim(
    "lemmax/saturation-no-ties",
    grade="property",
    scope="n <= 4, d <= 4, T <= 8; balls",
    statement="26d429e09353c360",
)
@settings(max_examples=40)
@given(generators)
def test_saturation_without_ties(sample: Sample, draw: Random) -> None:
    """Old examples go one-hot at a rate that the scores give, new ones do not see c at all."""
    n = draw.randint(1, 4)
    d = draw.randint(max(n, 2), 4)
    T = 2 * n - 1
    if T < 2:
        return
    built = saturation_heads(data(n, d, T, True, draw), moment_curve(T, d, d), 2)
    stage = built.stages[1]
    queries = [list(row) for row in built.layer.queries.rows()]
    assert all(sum(a * b for a, b in zip(stage.w, queries[s], strict=True)) == 0 for s in stage.new)
    seen = []
    for c in (1, 7):
        u = [c * a + b for a, b in zip(stage.w, stage.u, strict=True)]
        head = ContextHead([[x] for x in built.v], [[x] for x in u])
        seen.append(multi_head(built.layer.contexts[0], built.layer.queries, [head]).exponents)
    for s in stage.new:
        assert seen[0][0][0][s] == seen[1][0][0][s]
    frozen = ContextHead([[x] for x in built.v], [[x] for x in stage.w])
    scores = multi_head(built.layer.contexts[0], built.layer.queries, [frozen]).exponents[0][0]
    for t in stage.old:
        sample(no_ties, list(scores[t]), n, control=([1, 1], 2))


@given(st.integers(1, 10**6))
def test_one_hot_tied_scores_share_at_every_scale(c: int) -> None:
    """softmax(c, c, 0) has two equal entries, so none exceeds 1/2."""
    layer = multi_head(
        Matrix.identity(3), [[c, 0, 0]], [ContextHead([[1], [1], [0]], [[1], [0], [0]])]
    )
    (row,) = layer.exponents[0][0]
    assert row[0] == row[1] > row[2]
