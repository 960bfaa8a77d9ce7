"""The Kruskal rank, against the definition; and what sampling subsets in float32 says instead."""

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from flint import fmpz_mat
from hypothesis import given, settings
from hypothesis import strategies as st

from lemmax import checker
from lemmax.constructions.mahdavi import counterexamples
from lemmax.constructions.refuting import witness
from lemmax.pytest_plugin.properties import Sample
from lemmax.theory import ContextHead, Matrix, certified_rank, kruskal_rank, multi_head
from lemmax.theory.errors import LemmaxError
from lemmax.theory.numbers.kruskal_rank import kruskal_rank_by_enumeration
from lemmax.theory.numbers.kruskal_search import DependentSubsets

Certify = Callable[..., checker.Verdict]
generators = st.integers(0, 2**32 - 1).map(Random)


def vectors(draw: Random, most: int = 9, widest: int = 6) -> list[list[int]]:
    """Small entries, so that dependent subsets are common."""
    T, d, bound = draw.randint(1, most), draw.randint(1, widest), draw.choice((1, 1, 2, 3, 9))
    return [[draw.randint(-bound, bound) for _ in range(d)] for _ in range(T)]


@settings(max_examples=300)
@given(generators)
def test_kruskal_rank_is_what_the_definition_says(draw: Random) -> None:
    rows = vectors(draw)
    krank = kruskal_rank(rows)
    assert krank.rank == kruskal_rank_by_enumeration(rows)
    if krank.dependent:
        assert len(krank.dependent) == krank.upper + 1
        chosen = [rows[t] for t in krank.dependent]
        assert certified_rank(chosen).rank < len(chosen)


@settings(max_examples=60)
@given(generators)
def test_a_distance_is_zero_exactly_where_vectors_depend(draw: Random) -> None:
    """Small integers are far from a dependence that they do not have; floats can tell."""
    rows = vectors(draw)
    krank = kruskal_rank(rows)
    k = krank.rank or 0
    if k:
        near = krank.distance()
        assert near.complete
        assert near.distance > 1e-6
        assert certified_rank([rows[t] for t in near.subset]).rank == len(near.subset) == k
    if k < len(rows):
        nearest = krank.distance(k + 1)
        assert nearest.distance < 1e-9
        assert certified_rank([rows[t] for t in nearest.subset]).rank <= k


def test_a_dependence_planted_in_float32_is_near() -> None:
    """Exactly the vectors are independent, for rounding; the distance shows what was planted."""
    random = np.random.default_rng(3)
    rows = random.normal(size=(8, 12)).astype(np.float32)
    rows[5] = rows[1] + rows[2] - rows[6]
    krank = kruskal_rank(rows, floats=True)
    assert krank.rank == 8
    assert krank.distance().distance < 1e-6
    near = krank.distance(4)
    assert near.subset == (1, 2, 5, 6)
    assert near.distance < 1e-6
    assert krank.distance(3).distance > 1e-2
    few = krank.distance(4, most=5)
    assert not few.complete
    assert few.distance >= near.distance


@pytest.mark.parametrize("size", [0, 4])
def test_a_distance_needs_a_subset(size: int) -> None:
    with pytest.raises(LemmaxError, match=r"\.$"):
        kruskal_rank([[1, 0], [0, 1], [1, 1]]).distance(size)


def test_a_distance_of_huge_numbers_is_finite() -> None:
    huge = 10**400
    assert kruskal_rank([[huge, 1], [1, huge]]).distance().distance == pytest.approx(1)


@settings(max_examples=100)
@given(generators)
def test_search_alone_agrees_with_the_definition(draw: Random) -> None:
    """The quotient search on families that Gale duality would have settled as well."""
    rows = vectors(draw)
    search = DependentSubsets(fmpz_mat(rows))
    expected = kruskal_rank_by_enumeration(rows)
    for k in range(1, min(len(rows), len(rows[0])) + 1):
        subset = search.of_size(k)
        assert (subset is None) == (k <= expected)
        if subset is not None:
            assert len(subset) == k
            assert certified_rank([rows[t] for t in subset]).rank < k
            break


@settings(max_examples=60)
@given(generators)
def test_kruskal_certificates_are_accepted(draw: Random) -> None:
    krank = kruskal_rank(vectors(draw))
    assert checker.check(krank.certificate()).holds


def test_rational_and_float_rows_are_read_exactly() -> None:
    assert kruskal_rank([["1/3", "2/3"], [1, 2], [0, 1]]).rank == 1
    assert kruskal_rank([[0.5, 1.0], [1.0, 2.0], [0.0, 1.0]], floats=True).rank == 1
    with pytest.raises(LemmaxError, match="is a float"):
        kruskal_rank([[0.5, 1.0]])
    with pytest.raises(LemmaxError, match="not a finite number"):
        kruskal_rank([[float("nan"), 1.0]], floats=True)


def test_moment_curve_has_full_kruskal_rank(certify: Certify) -> None:
    krank = kruskal_rank([[x**i for i in range(5)] for x in range(1, 15)])
    assert krank.method == "search"
    assert krank.rank == 5
    certify(krank.certificate())


def test_one_hidden_dependency_among_two_hundred_vectors() -> None:
    draw = Random(1)
    rows = [[draw.randint(-50, 50) for _ in range(16)] for _ in range(200)]
    rows[150] = [a - 2 * b + c for a, b, c in zip(rows[3], rows[77], rows[120], strict=True)]
    krank = kruskal_rank(rows)
    assert (krank.rank, krank.dependent) == (3, (3, 77, 120, 150))


def test_a_spent_budget_leaves_an_interval() -> None:
    draw = Random(2)
    rows = [[draw.randint(-50, 50) for _ in range(16)] for _ in range(60)]
    krank = kruskal_rank(rows, budget=400_000)
    assert krank.rank is None
    assert 2 <= krank.lower < krank.upper == 16
    with pytest.raises(LemmaxError, match="lies between"):
        krank.certificate()


@pytest.mark.parametrize("extra", [0, 1, 2, 3])
def test_a_few_more_vectors_than_their_dimension(extra: int, certify: Certify) -> None:
    draw = Random(extra)
    rows = [[draw.randint(-9, 9) for _ in range(12)] for _ in range(12 + extra)]
    krank = kruskal_rank(rows)
    assert (krank.rank, krank.method) == (12, "dual")
    certify(krank.certificate())
    # a planted circuit of five vectors is krank whatever the rest does
    rows[7] = [a + b + c - d for a, b, c, d in zip(*(rows[i] for i in (1, 4, 9, 11)), strict=True)]
    planted = kruskal_rank(rows)
    assert (planted.rank, planted.dependent) == (4, (1, 4, 7, 9, 11))
    certify(planted.certificate())


def test_duality_also_where_the_rank_is_below_the_dimension() -> None:
    rows = [[1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0], [1, 2, 0, 0], [2, 1, 0, 0]]
    assert kruskal_rank(rows).rank == 2 == kruskal_rank_by_enumeration(rows)


# --- claims -------------------------------------------------------------------------------------


@pytest.mark.claim(
    "mahdavi/approximate-kruskal",
    grade="certified",
    direction="against",
    statement="8f5de524c241bd0f",
)
def test_approximate_kruskal_refuted_by_one_parallel_pair(certify: Certify) -> None:
    verdict = certify(counterexamples.parallel_pair(), ship_as="mahdavi/approximate-kruskal")
    assert "104/105" in verdict.steps[1]


def sampled_kruskal_test(rows: Any, k: int, samples: int, seed: int) -> float:
    """The published test: the share of random subsets of k rows with float32 rank k."""
    draw = np.random.default_rng(seed)
    table = np.asarray(rows, dtype=np.float32)
    hits = 0
    for _ in range(samples):
        subset = draw.choice(len(table), size=k, replace=False)
        hits += int(np.linalg.matrix_rank(table[subset]) == k)
    return hits / samples


def test_approximate_kruskal_passes_what_is_false() -> None:
    """Among 400 vectors, one is twice another: the Kruskal rank is 1 and the test says 4."""
    draw = Random(0)
    rows = [[draw.randint(-9, 9) for _ in range(8)] for _ in range(400)]
    rows[311] = [2 * x for x in rows[17]]
    assert kruskal_rank(rows).rank == 1
    assert sampled_kruskal_test(rows, 4, 1000, seed=0) >= 0.99


def test_approximate_kruskal_fails_what_is_true() -> None:
    """The moment curve on 12 nodes: any 12 are independent, and float32 sees a smaller rank."""
    rows = [[x**i for i in range(12)] for x in range(1, 13)]
    assert kruskal_rank(rows).rank == 12
    assert sampled_kruskal_test(rows, 12, 1, seed=0) == 0


@pytest.mark.claim("mahdavi/quick-checks", grade="certified", statement="6e19059946fd9b67")
def test_quick_checks_answered(certify: Certify) -> None:
    # Five vectors of R^4: four at most, and four are attained.
    five_rows = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 1, 1, 1]]
    assert kruskal_rank(five_rows).rank == 4
    certify(kruskal_rank(five_rows).certificate(), ship_as="mahdavi/quick-check-1")
    # A 10 x 8 matrix of rank 8 and a vector y outside its column space: (Z | y) has rank 9.
    Z = [[int(i == j) for j in range(8)] for i in range(10)]
    assert certified_rank(Z).rank == 8
    certify(certified_rank(Z).certificate(), ship_as="mahdavi/quick-check-2-matrix")
    bordered = [[*row, int(i == 9)] for i, row in enumerate(Z)]
    assert certified_rank(bordered).rank == 9
    certify(certified_rank(bordered).certificate(), ship_as="mahdavi/quick-check-2-bordered")
    # Scores (0, 1, 1) at scale 60 ln 2: attention within 10^-15 of (0, 1/2, 1/2).
    unit = Matrix.identity(3)
    head = ContextHead([[0], [60], [60]], [[1], [0], [0]], unit, unit)
    layer = multi_head(unit, [[1, 0, 0]], [head], "ln2")
    certify(
        layer.output_certificate([[0, "1/2", "1/2"]], "1/1000000000000000"),
        ship_as="mahdavi/quick-check-3",
    )
    answers = witness("mahdavi/quick-checks", V=Matrix(five_rows), Z=Matrix(Z), x=2**60)
    certify(answers, ship_as="mahdavi/quick-checks")


@pytest.mark.claim(
    "mahdavi/general-position-stronger",
    grade="property",
    scope="n <= 3, d <= 4, T <= 5",
    statement="8eca41d22063dc7e",
)
@given(generators)
def test_general_position_implies_both_assumptions(sample: Sample, draw: Random) -> None:
    def both_assumptions(contexts: list[Any], queries: list[list[int]]) -> bool:
        n = len(contexts[0])
        independent = all(certified_rank(E).rank == n for E in contexts)
        return kruskal_rank_by_enumeration(queries) >= n and independent

    n = draw.randint(1, 3)
    d, T = draw.randint(n, 4), draw.randint(n, 5)
    contexts = [[[draw.randint(-6, 6) for _ in range(d)] for _ in range(n)] for _ in range(2)]
    queries = [[draw.randint(-6, 6) for _ in range(d)] for _ in range(T)]
    tokens = [*contexts[0], *contexts[1], *queries]
    if kruskal_rank_by_enumeration(tokens) == min(d, len(tokens)):
        sample(both_assumptions, contexts, queries, control=([[[1, 1], [2, 2]]], [[1, 0], [0, 1]]))


def test_general_position_is_strictly_stronger() -> None:
    """A query that is also a token: both assumptions hold, general position does not."""
    E, queries = [[1, 0, 0], [0, 1, 0]], [[1, 0, 0], [0, 1, 1], [0, 0, 1]]
    assert certified_rank(E).rank == 2 <= kruskal_rank(queries).lower
    assert kruskal_rank([*E, *queries]).rank == 1
