"""The rank of attention before output: what Lemma 2 promises, what obstructs it, what is true."""

import random
from collections.abc import Callable
from itertools import permutations, product
from math import factorial, prod
from typing import Any, cast

import pytest
from flint import fmpq, fmpq_mat, nmod_mat

from lemmax import checker
from lemmax.constructions.dana.counterexamples import spanning_unit_matrices
from lemmax.pytest_plugin.properties import Sample
from lemmax.pytest_plugin.symbolic import Symbolic
from lemmax.theory.dana.attention_modulo import features_modulo
from lemmax.theory.dana.bigrams import bigram_rank
from lemmax.theory.dana.generic import generic_aot, generic_feature_rank
from lemmax.theory.dana.rank_bounds import (
    additive_dimension,
    difference_rank,
    lift_independent,
    rank_bound,
)
from lemmax.theory.dana.transformer import AoT, AoTHead
from lemmax.theory.dana.transformer_rank import aot_rank
from lemmax.theory.errors import LemmaxError, NotExact
from lemmax.theory.numbers.matrices import Matrix
from lemmax.theory.numbers.primes import POWERS_OF_TWO_31
from lemmax.theory.numbers.rank import certified_rank

Certify = Callable[..., checker.Verdict]
CONSTANT = [(i, i) for i in range(4)]
SQUARE = [(a, b, 0) for a, b in product((0, 1), repeat=2)]


def has_rank(model: AoT, sequences: list[tuple[int, ...]], rank: int) -> bool:
    """Whether the features after the value maps have exactly this rank."""
    bounds = aot_rank(model, sequences)
    return bounds.lower == bounds.upper == rank


def random_sequences(rng: random.Random, N: int, S: int, most: int) -> list[tuple[int, ...]]:
    everything = list(product(range(N), repeat=S))
    return rng.sample(everything, min(len(everything), rng.randint(1, most)))


def determinant(rows: list[list[Any]], one: Any) -> Any:
    total = one * 0
    for p in permutations(range(len(rows))):
        sign = (-1) ** sum(p[i] > p[j] for i in range(len(p)) for j in range(i + 1, len(p)))
        total += sign * prod((rows[i][p[i]] for i in range(len(p))), start=one)
    return total


# --- Lemma 2 and its proof -----------------------------------------------------------------------


@pytest.mark.claim(
    "dana/lemma-2", grade="symbolic", direction="against", statement="3661f0b2da66edff"
)
@pytest.mark.claim(
    "dana/comparison-mahdavi", grade="symbolic", direction="against", statement="4226705413c84b9b"
)
def test_lemma_2_fails_on_constant_sequences(symbolic: Symbolic) -> None:
    """S = 2, d = d_h = H = 2, (i, i) for four tokens: rank A <= 3 whatever the weights.

    A^h(i, i) = e_i + pos_2 + a_hi (pos_1 - pos_2), with the attention a_hi itself a free symbol;
    the determinant of the 4 × 4 matrix A is the zero polynomial.
    """
    symbolic.decide("dana/lemma-2")
    symbolic.decide("dana/comparison-mahdavi")


def test_lemma_2_fails_for_one_position() -> None:
    """S = 1, d = 1, H = N = T₀ = 2: attention is 1, so both heads give (x_1, x_2)."""
    model = generic_aot(2, 1, 1, 1, 2, seed=1)
    assert aot_rank(model, [(0,), (1,)], "A").upper == 1


@pytest.mark.parametrize(
    ("name", "N", "S", "d", "H", "sequences", "expected"),
    [
        ("one position", 2, 1, 1, 2, [(0,), (1,)], 1),
        ("small dictionary", 2, 2, 4, 1, list(product(range(2), repeat=2)), 3),
        ("small dictionary", 2, 5, 8, 4, list(product(range(2), repeat=5)), 21),
        ("small dictionary", 3, 3, 9, 3, list(product(range(3), repeat=3)), 13),
        ("small dictionary", 2, 6, 16, 4, list(product(range(2), repeat=6)), 25),
        ("constant sequences", 4, 2, 2, 2, CONSTANT, 3),
        ("constant sequences", 9, 2, 3, 3, [(i, i) for i in range(9)], 5),
        ("exclusive or", 2, 3, 2, 1, SQUARE, 2),
        ("exclusive or", 2, 3, 4, 1, SQUARE, 3),
    ],
)
def test_lemma_2_obstructions_are_attained(
    name: str, N: int, S: int, d: int, H: int, sequences: list[tuple[int, ...]], expected: int
) -> None:
    """The bound for all weights, and an integer transformer that reaches it."""
    bound, reason = rank_bound(sequences, d, d, "A", H)
    bounds = aot_rank(generic_aot(N, S, d, d, H, rank_one=False), sequences, "A")
    assert bound == bounds.rank == expected, (name, reason)
    assert expected < min(len(sequences), H * d) or name == "exclusive or"


@pytest.mark.parametrize(
    ("N", "S", "d", "H", "expected"), [(2, 5, 8, 4, 22), (3, 3, 9, 3, 15), (2, 6, 16, 4, 26)]
)
def test_skip_rows_on_all_sequences(N: int, S: int, d: int, H: int, expected: int) -> None:
    everything = list(product(range(N), repeat=S))
    assert aot_rank(generic_aot(N, S, d, d, H, rank_one=False), everything, "A'").rank == expected


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_parity_cube_has_small_rank(n: int) -> None:
    """On {0,1}^n × {0} with n = H + 1: rank A' = 1 + H n, far below 2^n."""
    H = n - 1
    sequences = [(*b, 0) for b in product((0, 1), repeat=n)]
    assert additive_dimension(sequences) == n + 1
    model = generic_aot(2, n + 1, 2**n, 2**n, H, rank_one=False)
    assert aot_rank(model, sequences, "A'").rank == min(1 + H * n, 2**n)


def test_same_last_token_costs_the_skip_rows() -> None:
    sequences = [(i, 0) for i in range(5)]
    assert rank_bound(sequences, 4, 1, "W_V A'", 2)[0] == 3  # H d_h + 1, not H d_h + d


def expansion(S: int, top: int, d: int) -> list[list[int]]:
    """The matrix 𝒩 of Appendix A.1, by counting arrangements with their signs (-1)^j."""
    rows = []
    for n in range(2, d + 2):
        counts = {i: n**i for i in range(1, S + 1) if i != top}
        row = []
        for i in range(1, S + 1):
            left = [k - (i == j) for j, k in counts.items()]
            ways = factorial(sum(left)) // prod(map(factorial, left))
            row.append((-1) ** sum(left) * ways)
        rows.append(row)
    return rows


@pytest.mark.claim(
    "dana/lemma-2-determinant", grade="symbolic", direction="against", statement="e8c7ddb4a918d61f"
)
def test_lemma_2_determinant_is_zero(symbolic: Symbolic) -> None:
    """S = d = 2: det(𝒩 X) is the zero polynomial in the entries of X."""
    assert expansion(2, 1, 2) == [[1, -1], [-1, 1]]
    symbolic.decide("dana/lemma-2-determinant")


@pytest.mark.parametrize("top", [1, 2])
def test_lemma_2_determinant_is_zero_with_and_without_signs(top: int) -> None:
    """Whichever index is largest: the rows of 𝒩 are proportional."""
    (a, b), (c, e) = expansion(2, top, 2)
    assert a * e == b * c
    assert abs(a * e) == abs(b * c)


@pytest.mark.parametrize(("S", "d"), [(2, 2), (2, 3), (3, 3), (3, 2), (4, 3)])
def test_lemma_2_coefficients_sum_to_zero(S: int, d: int) -> None:
    """So 𝒩 X = 𝒩 (X - 1 x_topᵀ) has rank at most S - 1: it is singular whenever S <= d."""
    for top in range(1, S + 1):
        N = expansion(S, top, d)
        assert all(sum(row) == 0 for row in N)
        assert certified_rank(N).rank <= S - 1


@pytest.mark.claim(
    "dana/lemma-2-hyperplane", grade="symbolic", direction="against", statement="1425fc70fce59354"
)
def test_lemma_2_hyperplane_contains_every_head(symbolic: Symbolic) -> None:
    """S = d = T₀ = 2: (x_t + a_t δ_t)_t lies in the span of (x_1, x_2), (δ_1, 0), (0, δ_2).

    Three vectors of R^4, for all embeddings: any four heads are dependent, with free symbols.
    """
    symbolic.decide("dana/lemma-2-hyperplane")


@pytest.mark.parametrize(
    ("S", "d", "expected"), [(2, 2, 7), (2, 3, 7), (3, 3, 13), (3, 5, 13), (3, 2, 12), (4, 3, 18)]
)
def test_lemma_2_span_of_head_outputs(S: int, d: int, expected: int) -> None:
    """T₀ = 6: the outputs of all heads span min(d T₀, T₀ min(d, S-1) + 1) dimensions, at least."""
    rng = random.Random(S * 10 + d)
    sequences = rng.sample(list(product(range(4), repeat=S)), 6)
    model = generic_aot(4, S, d, d, 40, rank_one=False)
    rows = features_modulo(model, model.indices(sequences), "A", 271_828_182)
    flat = nmod_mat(
        40,
        6 * d,
        [int(rows[t, h * d + k]) for h in range(40) for t in range(6) for k in range(d)],
        POWERS_OF_TWO_31,
    )
    assert flat.rank() == expected == min(6 * d, 6 * min(d, S - 1) + 1)


@pytest.mark.claim(
    "dana/lemma-2-increment", grade="certified", direction="against", statement="113ac4f41a5cfe11"
)
def test_lemma_2_increment_is_one_for_unit_matrices(certify: Certify) -> None:
    """The unit matrices span R^{2×2}, and each of them has rank one."""
    certify(spanning_unit_matrices(), ship_as="dana/lemma-2-increment")


# --- what is true --------------------------------------------------------------------------------


@pytest.mark.claim(
    "lemmax/aot-rank",
    grade="property",
    scope="600 random sets, N <= 4, 2 <= S <= 4, 2 <= d <= 4, H <= 4, T₀ <= 9; W_QK of rank one",
    statement="23c77acfd4c6b085",
)
def test_aot_rank_formula_on_random_sets(sample: Sample) -> None:
    rng = random.Random(600)
    for seed in range(600):
        N, S, d, H = rng.randint(1, 4), rng.randint(2, 4), rng.randint(2, 4), rng.randint(0, 4)
        sequences = random_sequences(rng, N, S, 9)
        K = len({t[-1] for t in sequences})
        model = generic_aot(N, S, d, 1, H, seed)
        rank = generic_feature_rank(len(sequences), K, d, H)
        sample(has_rank, model, sequences, rank, control=(model, sequences, rank + 1))


def test_attention_rank_on_random_sets() -> None:
    """rank A >= min(T₀, H), which is met where all sequences are constant and d is small."""
    rng = random.Random(60)
    for seed in range(60):
        N, S, d, H = rng.randint(1, 4), rng.randint(2, 4), rng.randint(2, 4), rng.randint(1, 4)
        sequences = random_sequences(rng, N, S, 9)
        bounds = aot_rank(generic_aot(N, S, d, 1, H, seed), sequences, "A")
        assert bounds.lower >= min(len(sequences), H)
    assert aot_rank(generic_aot(4, 2, 2, 1, 2, 1), CONSTANT, "A").rank == 3 < 4


def test_aot_rank_in_dimension_one() -> None:
    """d = d_h = 1: H = T₀ heads give rank T₀, and H heads with the skip rows H + 1."""
    rng = random.Random(1)
    for seed in range(60):
        N, S = rng.randint(1, 3), rng.randint(2, 4)
        sequences = random_sequences(rng, N, S, 6)
        T0 = len(sequences)
        assert aot_rank(generic_aot(N, S, 1, 1, T0, seed), sequences).rank == T0
        H = rng.randint(0, T0)
        assert aot_rank(generic_aot(N, S, 1, 1, H, seed), sequences).rank == min(T0, H + 1)


def test_aot_rank_of_one_transformer(certify: Certify) -> None:
    """N = 4, S = 3, d = 2, d_h = 1, H = 6: rank 8 = H + min(d, K), certified through Q(e)."""
    sequences = list(product(range(4), repeat=3))[::7][:9]
    bounds = aot_rank(generic_aot(4, 3, 2, 1, 6, size=99), sequences)
    assert bounds.rank == 8
    certify(bounds.certificate(), ship_as="lemmax/aot-rank")


def test_aot_rank_is_only_a_lower_bound_for_wide_heads() -> None:
    """N = S = d = d_h = 2, H = 1, all four pairs: rank 4, and H + min(d, K) = 3."""
    pairs = list(product(range(2), repeat=2))
    assert generic_feature_rank(4, 2, 2, 1) == 3
    assert aot_rank(generic_aot(2, 2, 2, 2, 1), pairs).rank == 4


@pytest.mark.claim(
    "lemmax/bigram-rank-matroid",
    grade="property",
    scope="1500 random sets of pairs, N <= 5, d <= 4, d_h <= d, H <= 3, T₀ <= 9",
    statement="bded78a889e6b225",
)
def test_matroid_union_equals_exact_rank_on_random_bigrams(sample: Sample) -> None:
    rng = random.Random(1500)
    for seed in range(1500):
        N, d, H = rng.randint(1, 5), rng.randint(2, 4), rng.randint(0, 3)
        d_h = rng.randint(1, d)
        pairs = random_sequences(rng, N, 2, 9)
        union = bigram_rank(pairs, d, d_h, H)
        model = generic_aot(N, 2, d, d_h, H, seed)
        sample(has_rank, model, pairs, union.rank, control=(model, pairs, union.rank + 1))


def test_matroid_union_witness_is_the_minimum_over_all_subsets() -> None:
    """On small sets the formula's minimum over all F equals the union's rank."""
    rng = random.Random(7)
    for _ in range(60):
        d, H = rng.randint(2, 3), rng.randint(0, 2)
        d_h = rng.randint(1, d)
        pairs = random_sequences(rng, 3, 2, 6)
        best = len(pairs)
        for chosen in product((False, True), repeat=len(pairs)):
            F = [t for t, take in zip(pairs, chosen, strict=True) if take]
            if F:
                K, r = len({t[-1] for t in F}), min(d, difference_rank(F))
                best = min(best, len(pairs) - len(F) + min(d, K) + H * min(d_h, r))
        assert bigram_rank(pairs, d, d_h, H).rank == best


def test_matroid_union_has_a_certificate(certify: Certify) -> None:
    union = bigram_rank([("a", "b"), ("b", "a"), ("a", "a"), ("b", "b")], 2, 2, 1)
    assert (union.rank, union.solvable) == (4, True)
    certify(union.certificate())
    assert "= 4" in union.to_latex()


def test_lift_independence_is_linear_independence() -> None:
    rng = random.Random(3)
    for _ in range(300):
        edges = [(rng.randrange(4), rng.randrange(4)) for _ in range(rng.randint(1, 5))]
        rows = [[1] + [(k == i) - (k == j) for k in range(4)] for i, j in edges]
        assert lift_independent(edges) == (certified_rank(rows).rank == len(edges))


@pytest.mark.claim(
    "lemmax/generic-value-map",
    grade="property",
    scope="200 random sets, 2 <= S <= 3, d <= 3, d_h <= d, H <= 3, random integer W_V",
    statement="2532dccae5c6ee93",
)
def test_generic_value_map_reaches_the_largest_rank(sample: Sample) -> None:
    """Random W_V do as well as the best of several, and at least H + min(d, K)."""

    def as_good(one: AoT, other: AoT, sequences: list[tuple[int, ...]], least: int) -> bool:
        first, second = (aot_rank(m, sequences).lower for m in (one, other))
        return first == second >= least

    rng = random.Random(200)
    for seed in range(200):
        N, S, d, H = rng.randint(2, 3), rng.randint(2, 3), rng.randint(2, 3), rng.randint(1, 3)
        d_h = rng.randint(1, d)
        sequences = random_sequences(rng, N, S, 7)
        model = generic_aot(N, S, d, d_h, H, seed)
        other = generic_aot(N, S, d, d_h, H, seed + 10_000)
        swapped = AoT(
            model.tokens,
            model.e,
            model.pos,
            model.W_U,
            tuple(
                AoTHead(a.W_Q, a.W_K, b.W_V, a.W_O)
                for a, b in zip(model.heads, other.heads, strict=True)
            ),
        )
        K = len({t[-1] for t in sequences})
        least = generic_feature_rank(len(sequences), K, d, H)
        control = (model, swapped, sequences, len(sequences) + 1)
        sample(as_good, model, swapped, sequences, least, control=control)


@pytest.mark.claim(
    "lemmax/skip-rows",
    grade="property",
    scope="100 random sets, N <= 5, S <= 3, d <= 5",
    statement="c438ab0af8d603ee",
)
def test_skip_rows_have_rank_of_last_tokens(sample: Sample) -> None:
    def skip_rank(model: AoT, sequences: list[tuple[int, ...]], rank: int) -> bool:
        return aot_rank(model, sequences, "A'").rank == rank

    rng = random.Random(100)
    for seed in range(100):
        N, S, d = rng.randint(1, 5), rng.randint(1, 3), rng.randint(1, 5)
        sequences = random_sequences(rng, N, S, 9)
        model = generic_aot(N, S, d, 1, 0, seed)
        rank = min(d, len({t[-1] for t in sequences}))
        sample(skip_rank, model, sequences, rank, control=(model, sequences, rank + 1))


def test_skip_rows_identity_of_the_logits() -> None:
    """W_U = W M_0 and W_O = M_0⁻¹ O give W (M_0 x + O V A), as rational matrices."""
    rng = random.Random(5)

    def table(m: int, n: int) -> fmpq_mat:
        return fmpq_mat(m, n, [fmpq(rng.randint(-9, 9), rng.randint(1, 4)) for _ in range(m * n)])

    for _ in range(50):
        d, d_h, N = 3, 2, 4
        W, M, out, V = table(N, d), table(d, d), table(d, d_h), table(d_h, d)
        if M.det() == 0:
            continue
        x, A = table(d, 1), table(d, 1)
        assert (W * M) * (x + (M.inv() * out) * (V * A)) == W * (M * x + out * (V * A))


def test_rank_never_exceeds_the_bound_for_all_weights() -> None:
    """S = 3, d_h >= 2: the bound of the five obstructions holds for random integer weights."""
    rng = random.Random(11)
    met = 0
    for seed in range(150):
        N, d, H = rng.randint(2, 3), rng.randint(2, 4), rng.randint(1, 2)
        d_h = rng.randint(2, d)
        sequences = random_sequences(rng, N, 3, 9)
        model = generic_aot(N, 3, d, d_h, H, seed, rank_one=False)
        bound, _ = rank_bound(sequences, d, d_h, "W_V A'", H)
        bounds = aot_rank(model, sequences)
        assert bounds.lower <= bound
        met += bounds.lower == bound
    assert met > 100


# --- the machinery -------------------------------------------------------------------------------


def test_exact_rank_agrees_with_rational_attention() -> None:
    """In units of ln 2 the matrix is rational: its rank by plain elimination is the same."""
    rng = random.Random(2)
    for seed in range(20):
        model = generic_aot(3, 2, 2, 2, 2, seed, size=2)
        dyadic = AoT(model.tokens, model.e, model.pos, model.W_U, model.heads, unit="ln2")
        sequences = random_sequences(rng, 3, 2, 6)
        rows = []
        e, pos = dyadic.e.rows(), dyadic.pos.rows()
        for t in sequences:
            x = [[a + b for a, b in zip(e[i], p, strict=True)] for i, p in zip(t, pos, strict=True)]
            row = [fmpq(int(v)) for v in x[-1]]
            for head in dyadic.heads:
                circuit = head.W_QK.rows()
                scores = [
                    int(sum(x[-1][i] * circuit[i][j] * key[j] for i in range(2) for j in range(2)))
                    for key in x
                ]
                weights = [fmpq(2) ** s for s in scores]
                mean = [
                    sum((w * fmpq(int(k[c])) for w, k in zip(weights, x, strict=True)), fmpq(0))
                    / sum(weights, fmpq(0))
                    for c in range(2)
                ]
                row += [
                    sum((fmpq(int(v)) * y for v, y in zip(line, mean, strict=True)), fmpq(0))
                    for line in head.W_V.rows()
                ]
            rows.append(row)
        assert aot_rank(dyadic, sequences).rank == fmpq_mat(rows).rank()


def test_exact_rank_sees_a_deficit_of_special_weights() -> None:
    """Zero query-key matrices give uniform attention: the bound for all weights is not sharp."""
    zero = Matrix.zeros(2, 2)
    head = AoTHead(zero, zero, Matrix.identity(2), zero)
    e, pos = [[1, 0], [0, 1], [2, 5]], [[1, 1], [0, 3]]
    model = AoT((0, 1, 2), Matrix(e), Matrix(pos), Matrix.zeros(3, 2), (head,) * 2)
    bounds = aot_rank(model, list(product(range(3), repeat=2)))
    assert (bounds.rank, bounds.method) == (4, "exact value")
    assert bounds.upper < rank_bound(bounds.sequences, 2, 2, "W_V A'", 2)[0]


def test_wide_heads_are_accepted_and_their_effective_dimension_is_shown() -> None:
    model = generic_aot(2, 2, 2, 5, 1)
    assert (model.d_h, model.effective_d_h) == (5, 2)
    assert aot_rank(model, list(product(range(2), repeat=2))).rank == 4


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda m: aot_rank(m, []), "T₀ = 0"),
        (lambda m: aot_rank(m, [(0, 1), (0,)]), "same length"),
        (lambda m: aot_rank(m, [(0, 1), (0, 1)]), "occurs twice"),
        (lambda m: aot_rank(m, [(0, 1, 1)]), "length 3, not S = 2"),
        (lambda m: aot_rank(m, [(0, 7)]), "unknown"),
        (lambda m: aot_rank(m, [(0, 1)], cast(Any, "B")), "A, A' or W_V A'"),
        (lambda m: bigram_rank([(0, 1, 1)], 2, 1, 1), "length 2"),
        (lambda m: bigram_rank([(0, 1)], 1, 1, 1), "at least 2"),
    ],
)
def test_bad_input_is_one_sentence(call: Callable[[AoT], Any], sentence: str) -> None:
    with pytest.raises(LemmaxError, match=sentence) as caught:
        call(generic_aot(2, 2, 2, 1, 1))
    assert "\n" not in str(caught.value)


def test_fractional_scores_need_the_unit_one() -> None:
    model = generic_aot(2, 2, 2, 1, 1)
    half = AoT(model.tokens, fmpq(1, 2) * model.e, model.pos, model.W_U, model.heads, unit="ln2")
    with pytest.raises(NotExact):
        aot_rank(half, [(0, 1)])
