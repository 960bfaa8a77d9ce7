"""Certified counterexamples, memories without heads, and the numbers around the experiments."""

from collections.abc import Callable
from itertools import product
from math import factorial

import pytest
from flint import arb, ctx, fmpq, fmpq_poly
from hypothesis import given
from hypothesis import strategies as st

from lemmax import checker
from lemmax.constructions import associative_memory
from lemmax.constructions.dana import counterexamples
from lemmax.pytest_plugin.symbolic import Symbolic
from lemmax.theory.certificates.writing import Certificate
from lemmax.theory.dana.generic import generic_aot
from lemmax.theory.dana.transformer import AoT, AoTHead
from lemmax.theory.dana.transformer_rank import aot_rank
from lemmax.theory.numbers.matrices import Matrix
from lemmax.theory.numbers.rank import certified_rank

Certify = Callable[..., checker.Verdict]


@pytest.mark.claim(
    "dana/t-epsilon", grade="certified", direction="against", statement="4599162df8554c38"
)
def test_t_epsilon_refuted_by_the_uniform_prior(certify: Certify) -> None:
    verdict = certify(counterexamples.likely_sequences(), ship_as="dana/t-epsilon")
    assert "2" in verdict.steps[-1]


def t_epsilon(prior: list[fmpq], epsilon: fmpq) -> int:
    """The least number of sequences of total probability at least 1 - ε."""
    total, count = fmpq(0), 0
    for p in sorted(prior, reverse=True):
        if total >= 1 - epsilon:
            break
        total, count = total + p, count + 1
    return count


@given(
    weights=st.lists(st.integers(0, 20), min_size=1, max_size=9).filter(any),
    level=st.integers(0, 9),
)
def test_t_epsilon_with_at_least(weights: list[int], level: int) -> None:
    prior = [fmpq(w, sum(weights)) for w in weights]
    epsilon, n = fmpq(level, 10), len(prior)
    ceiling = -int((-(1 - epsilon) * n).floor())
    assert t_epsilon(prior, epsilon) <= ceiling
    assert t_epsilon([fmpq(1, n)] * n, epsilon) == ceiling
    assert t_epsilon(prior, fmpq(0)) == sum(w > 0 for w in weights)


@pytest.mark.claim(
    "dana/skip-as-head", grade="certified", direction="against", statement="5f64a281a1ef4662"
)
def test_skip_as_head_attends_to_the_longer_vector(certify: Certify) -> None:
    certify(counterexamples.attention_to_a_longer_vector(), ship_as="dana/skip-as-head")


@pytest.mark.parametrize("scale", [1, 4, 16])
def test_skip_as_head_loses_the_last_position(scale: int) -> None:
    """The transformer itself: x(t, 1) = 2, x(t, 2) = 1, W_QK = λ; A(t) tends to 2, not to 1."""
    one = Matrix([[1]])
    head = AoTHead(Matrix([[scale]]), one, one, one)
    model = AoT((0,), Matrix([[1]]), Matrix([[1], [0]]), one, (head,))
    _, (output,) = model.attention_before_output([(0, 0)])
    assert output[0, 0] > fmpq(3, 2)


@pytest.mark.claim(
    "dana/value-map-keeps-rank",
    grade="certified",
    direction="against",
    statement="45e6b150c9bb064f",
)
def test_value_map_can_lose_rank(certify: Certify) -> None:
    certify(counterexamples.orthogonal_value_map(), ship_as="dana/value-map-keeps-rank")


def test_value_map_can_lose_rank_with_two_heads() -> None:
    """H = d = T₀ = 2, d_h = 1, S = 2: both value maps have full rank and rank W_V A < rank A."""
    base = generic_aot(2, 2, 2, 1, 2, size=3)
    zero = Matrix.zeros(1, 2)  # uniform attention is rational: A(0, 0) = e_0 + (pos_1 + pos_2)/2
    e, pos = [[1, 0], [0, 1]], [[0, 1], [0, 1]]
    for rows in ([[1, -1]], [[2, 1]]):
        head = AoTHead(zero, zero, Matrix(rows), Matrix.zeros(2, 1))
        model = AoT(base.tokens, Matrix(e), Matrix(pos), base.W_U, (head, head))
        first = Matrix(rows) @ Matrix([[1], [1]])  # W_V A(0, 0)
        assert (first[0, 0] == 0) == (rows == [[1, -1]])
        assert aot_rank(model, [(0, 0), (1, 1)], "A").rank == 2


@pytest.mark.claim(
    "dana/figure-4-bound", grade="certified", direction="against", statement="a5ca70f082fb5ef6"
)
def test_figure_4_bound_is_not_one(certify: Certify) -> None:
    verdict = certify(counterexamples.figure_4_bound(), ship_as="dana/figure-4-bound")
    assert "d_h = 5 > d = 2" in verdict.steps[-1]
    d, d_h, H, N, T0 = 2, 5, 20, 10, 100
    assert d_h > d  # excluded by the paper's own footnote 1
    assert H * d_h + d > T0
    assert fmpq(1, N) + (1 - fmpq(1, N)) * fmpq(H * d_h + d, T0) == fmpq(509, 500)
    effective = fmpq(1, N) + (1 - fmpq(1, N)) * fmpq(H * min(d, d_h) + d, T0)
    assert effective == fmpq(478, 1000)
    assert -(-(T0 - d) // min(d, d_h)) == 49  # heads that Corollary 1 would ask for


@pytest.mark.claim("dana/lemma-2", grade="certified", direction="against")
def test_lemma_2_fails_at_one_position(certify: Certify) -> None:
    certify(counterexamples.equal_blocks_at_one_position(), ship_as="dana/lemma-2")


@pytest.mark.claim("dana/lemma-2-determinant", grade="certified", direction="against")
def test_lemma_2_determinant_vanishes_for_short_sequences(certify: Certify) -> None:
    certify(
        counterexamples.short_sequences_have_no_determinant(), ship_as="dana/lemma-2-determinant"
    )


@pytest.mark.claim("dana/lemma-2-hyperplane", grade="certified", direction="against")
def test_lemma_2_hyperplane_contains_all_heads(certify: Certify) -> None:
    certify(counterexamples.heads_on_a_hyperplane(), ship_as="dana/lemma-2-hyperplane")


@pytest.mark.claim("dana/comparison-mahdavi", grade="certified", direction="against")
def test_comparison_mahdavi_fails_on_constant_sequences(certify: Certify) -> None:
    certify(counterexamples.constant_pairs(), ship_as="dana/comparison-mahdavi")


@pytest.mark.claim("dana/corollary-1", grade="certified", direction="against")
def test_corollary_1_fails_for_the_parity_of_two_bits(certify: Certify) -> None:
    certify(counterexamples.parity_of_two_bits(), ship_as="dana/corollary-1")


@pytest.mark.claim("dana/corollary-2", grade="certified", direction="against")
def test_corollary_2_fails_for_the_parity_of_one_bit(certify: Certify) -> None:
    certify(counterexamples.parity_of_one_bit(), ship_as="dana/corollary-2")


@pytest.mark.claim("dana/rank-d-stores-d", grade="certified", direction="against")
def test_rank_d_stores_more_than_d(certify: Certify) -> None:
    """No head, d = 2, and 25 associations: the embedding is a free table of the last token."""
    memory = counterexamples.last_token_memory(5)
    assert memory.model.H == 0
    assert memory.model.d == 2 < memory.capacity == 25
    certify(memory.certificate(), ship_as="dana/last-token-memory-5")
    certify(counterexamples.more_associations_than_dimensions(), ship_as="dana/rank-d-stores-d")


@pytest.mark.claim(
    "dana/random-baseline", grade="certified", direction="against", statement="231a4cd50bc3ab85"
)
def test_random_baseline_is_beaten_without_heads(certify: Certify) -> None:
    """N = 2: over the 16 tables the mean of certified accuracies is 3/4, not 1/2."""
    cells = list(product(range(2), repeat=2))
    total = fmpq(0)
    for targets in product(range(2), repeat=4):
        table = dict(zip(cells, targets, strict=True))
        kept: dict[tuple[int, ...], int] = {}
        for last in range(2):
            column = [table[0, last], table[1, last]]
            best = max((0, 1), key=column.count)
            kept |= {t: g for t, g in table.items() if t[1] == last and g == best}
        memory = associative_memory(kept, H=0, d_h=1, tokens=(0, 1))
        certify(memory.certificate())
        total += fmpq(len(kept), 4)
    assert total / 16 == fmpq(3, 4) > fmpq(1, 2)
    certify(counterexamples.last_token_memory(2).certificate(), ship_as="dana/last-token-memory-2")
    certify(counterexamples.better_than_chance_without_heads(), ship_as="dana/random-baseline")


def mean_largest_cell(n: int) -> fmpq:
    """The mean of the largest of n cells after n uniform draws, exactly."""
    mean = fmpq(n)
    truncated = fmpq_poly([0])
    for m in range(n):
        truncated += fmpq_poly([0] * m + [fmpq(1, factorial(m))])
        power = fmpq_poly([1])
        for bit in bin(n)[2:]:
            power = power * power
            power = fmpq_poly([power[k] for k in range(n + 1)])
            if bit == "1":
                power = power * truncated
                power = fmpq_poly([power[k] for k in range(n + 1)])
        mean -= power[n] * factorial(n) / fmpq(n) ** n
    return mean


@pytest.mark.parametrize(
    ("N", "low", "high"),
    [(2, "3/4", "3/4"), (10, "27486/100000", "27488/100000"), (50, "7610/100000", "7612/100000")],
)
def test_random_baseline_exact_accuracies(N: int, low: str, high: str) -> None:
    """Best accuracy of H = 0: the most frequent of N targets for each last token, over N."""
    accuracy = mean_largest_cell(N) / N
    lower, upper = (fmpq(*map(int, x.split("/"))) for x in (low, high))
    assert lower <= accuracy <= upper
    assert accuracy > fmpq(1, N)


@given(
    N=st.integers(1, 4),
    S=st.integers(1, 3),
    d=st.integers(1, 4),
    d_h=st.integers(1, 3),
    H=st.integers(0, 3),
)
def test_theorem_1_parameters_are_counted(N: int, S: int, d: int, d_h: int, H: int) -> None:
    model = generic_aot(N, S, d, d_h, H)
    entries = sum(m.shape[0] * m.shape[1] for m in (model.e, model.pos, model.W_U))
    for head in model.heads:
        entries += sum(m.shape[0] * m.shape[1] for m in (head.W_Q, head.W_K, head.W_V, head.W_O))
    assert entries == model.parameters == d * (S + 2 * N + 4 * d_h * H)


AGAINST: dict[str, Callable[[], Certificate]] = {
    "dana/headline": counterexamples.headline_for_exclusive_or,
    "dana/comparison-mahdavi-memorization": counterexamples.capacity_without_the_skip,
    "dana/t-epsilon-uniform": counterexamples.uniform_prior_on_two,
    "dana/parameters-rounded": counterexamples.heads_rounded_up,
    "dana/dummy-examples": counterexamples.too_few_sequences,
    "dana/constant-depends-on-attention": counterexamples.constant_of_two_priors,
    "dana/theorem-1-epsilon-features": counterexamples.printed_constant,
    "dana/section-4.1-display": counterexamples.divergence_above_the_logits,
}


@pytest.mark.parametrize(
    ("claim", "make"),
    [
        pytest.param(claim, make, id=claim, marks=pytest.mark.claim(claim, direction="against"))
        for claim, make in AGAINST.items()
    ],
)
def test_statements_that_an_instance_refutes(
    claim: str, make: Callable[[], Certificate], certify: Certify
) -> None:
    certify(make(), ship_as=claim)


def test_the_constants_around_the_printed_one() -> None:
    """Features (5, 12): the divergence lies between C ‖WE‖ and √2 ‖B⁻¹‖ ‖WE‖, in units of ln 2."""
    norm_squared = fmpq(60**2 + 25**2, 2)
    printed, repaired = (1 + fmpq(13, 5) ** 2) * norm_squared, 2 * fmpq(13, 5) ** 2 * norm_squared
    with ctx.workprec(200):
        p = arb(1) / (1 + arb(2) ** 25)
        s = arb(2) ** 144 / (1 + arb(2) ** 144)
        divergence = (p * (p / s).log() + (1 - p) * ((1 - p) / (1 - s)).log()) / arb(2).log()
        assert arb(143) < divergence < arb(144)
        assert arb(printed) < arb(129) ** 2 < divergence**2 < arb(repaired)
        assert divergence**2 > arb(
            fmpq(169**2, 2)
        )  # the logits' difference, display of Section 4.1


@given(
    d=st.integers(1, 5), d_h=st.integers(1, 3), H=st.integers(0, 3), N=st.integers(1, 4),
    S=st.integers(1, 3),
)  # fmt: skip
def test_parameters_by_the_number_of_associations(d: int, d_h: int, H: int, N: int, S: int) -> None:
    model = generic_aot(N, S, d, d_h, H)
    T0 = H * d_h + d
    assert model.parameters == d * (S + 2 * N + 4 * (T0 - d))
    if d == 2:
        assert model.parameters == 2 * S + 4 * N + 8 * T0 - 16


@pytest.mark.claim("dana/section-6-parameters", statement="3dd5306758f2d42d")
def test_orders_of_the_numbers_of_parameters(symbolic: Symbolic) -> None:
    """All sizes are free: T = H d_h + d, with x = H d_h heads' dimensions."""
    symbolic.decide("dana/section-6-parameters")


@given(
    rows=st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), min_size=4, max_size=4),
    bound=st.integers(1, 3),
)
def test_blocks_of_full_rank(rows: list[list[int]], bound: int) -> None:
    """Two blocks beside zeros: the ranks add up, so full rank of each is full rank of both."""
    first, second = Matrix(rows[:bound]), Matrix(rows[bound:])
    joined = [[*row, 0, 0, 0] for row in rows[:bound]] + [[0, 0, 0, *row] for row in rows[bound:]]
    ranks = [certified_rank(m).rank for m in (Matrix(joined), first, second)]
    assert ranks[0] == ranks[1] + ranks[2]


def test_a_larger_head_dimension_adds_no_function() -> None:
    """d = 1, d_h = 2: W_QᵀW_K and W_O W_V are 1 × 1, and heads of dimension 1 have the same."""
    two = AoTHead(Matrix([[1], [2]]), Matrix([[3], [-1]]), Matrix([[1], [1]]), Matrix([[2, 5]]))
    one = AoTHead(Matrix([[1]]), Matrix([[1]]), Matrix([[1]]), Matrix([[7]]))
    assert two.W_QK.flint == one.W_QK.flint
    for head in (two, one):
        assert (head.W_O @ head.W_V)[0, 0] == 7
    parts = (Matrix([[1], [-1]]), Matrix([[0], [2]]), Matrix([[1], [-1]]))
    larger, smaller = (AoT((0, 1), *parts, (head,)) for head in (two, one))
    for row, same in zip(
        *(m.logits([(0, 1), (1, 1)], 100) for m in (larger, smaller)), strict=True
    ):
        assert all(
            (a - b).contains(0) and (a - b).rad() < 1e-20 for a, b in zip(row, same, strict=True)
        )
    assert smaller.parameters < larger.parameters


@pytest.mark.parametrize("S", [40, 200, 1000])
def test_simulated_mlps_need_more_than_a_constant_factor(S: int) -> None:
    """N = 2, ε = 1/2, T = 2^(S-1), d = ⌈log T⌉, in units of T: the ratio grows like log T."""
    with ctx.workprec(2000):
        log_T = (S - 1) * arb.const_log2()
        ceiling = log_T.ceil().unique_fmpz()
        assert ceiling is not None
        d = int(ceiling)
        assert log_T < d
        assert S * arb.const_log2() ** 2 <= d * arb(d).log()  # the condition, with κ = 1
        first = arb.const_log2() * log_T / (arb(d) / log_T).log()  # without further positive terms
        second = d * (1 + (S + 2) / arb(2) ** (S - 1))
        assert first / second > log_T * arb.const_log2() / 2 - 1
