"""Sequence encoders: Propositions 1 to 3, Theorem 2, the dual bound, Lemma 4."""

import math
import random
from collections.abc import Callable
from itertools import product
from typing import Any, cast

import pytest
import sympy
import z3
from flint import arb, ctx, fmpq, fmpq_mat
from hypothesis import given, settings
from hypothesis import strategies as st

from lemmax import checker
from lemmax.constructions.dana.counterexamples import (
    any_dimension_fails_on_a_line,
    bottleneck_on_a_line,
)
from lemmax.constructions.dana.encoder_intervals import best_encoder
from lemmax.constructions.dana.encoders import sequence_encoder
from lemmax.constructions.dana.signs import (
    certified_coherence,
    derandomised_signs,
    random_signs,
)
from lemmax.pytest_plugin.properties import Sample
from lemmax.pytest_plugin.symbolic import Symbolic
from lemmax.theory.dana.encoder_bounds import bisected, dual_gain, initial_cones
from lemmax.theory.dana.encoders import (
    SequenceEncoder,
    Table,
    coherence,
    divergence,
    entropy,
    johnson_lindenstrauss_constant,
    lookup_bound,
    phi,
    random_sign_constant,
    theorem_2_bound,
    theorem_2_simple_bound,
)
from lemmax.theory.dana.generic import generic_aot
from lemmax.theory.dana.transformer import AoT, AoTHead
from lemmax.theory.errors import LemmaxError
from lemmax.theory.numbers.balls import rational_above
from lemmax.theory.numbers.matrices import Matrix
from lemmax.theory.numbers.rank import certified_rank

Certify = Callable[..., checker.Verdict]
EIGHTY = Table([["4/5", "1/10", "1/10"], ["1/10", "4/5", "1/10"], ["1/10", "1/10", "4/5"]])


def one_hot(N: int) -> Table:
    return Table([[int(i == j) for j in range(N)] for i in range(N)])


def distributions(N: int, least: int = 0) -> st.SearchStrategy[list[fmpq]]:
    weights = st.lists(st.integers(least, 12), min_size=N, max_size=N).filter(any)
    return weights.map(lambda w: [fmpq(x, sum(w)) for x in w])


# --- Propositions 1 to 3 -------------------------------------------------------------------------


def encoding(model: AoT, t: tuple[int, ...], precision: int) -> list[arb]:
    """E(t) = x(t,S) + Σ_h W_O^h W_V^h A^h(t), written out from equations (1) and (2)."""
    e, pos = model.e.flint.tolist(), model.pos.flint.tolist()
    x = [[a + b for a, b in zip(e[i], p, strict=True)] for i, p in zip(t, pos, strict=True)]
    with ctx.workprec(precision):
        total = [arb(v) for v in x[-1]]
        for head in model.heads:
            values = (Matrix(x) @ (head.W_O @ head.W_V).T).flint.tolist()
            scores = (Matrix([x[-1]]) @ head.W_Q.T @ head.W_K @ Matrix(x).T).flint.tolist()[0]
            weights = [arb(score).exp() for score in scores]
            normaliser = sum(weights, arb(0))
            for w, value in zip(weights, values, strict=True):
                total = [a + w / normaliser * arb(v) for a, v in zip(total, value, strict=True)]
        return total


@given(seed=st.integers(0, 10**6), S=st.integers(1, 3))
@settings(max_examples=25)
def test_proposition_1_transformers_are_encoders(seed: int, S: int) -> None:
    """The logits are W_U E(t) with E of equation (2): for each sequence, to forty digits."""
    base = generic_aot(3, S, 2, 1, 2, seed, size=3)
    draw = random.Random(seed)
    heads = tuple(
        AoTHead(h.W_Q, h.W_K, h.W_V, Matrix([[draw.choice((-2, -1, 1, 2))], [draw.randint(-2, 2)]]))
        for h in base.heads
    )
    W_U = Matrix([[1, 2], [3, -1], [0, 1]])
    model = AoT(base.tokens, base.e, base.pos, W_U, heads)
    # d + 1 tokens: one relation y W_U = 0, which all logits of an encoder satisfy
    relation = Matrix([[-3, 1, 7]])
    assert relation @ W_U == Matrix.zeros(1, 2)
    sequences = list(product(range(3), repeat=S))
    for t, row in zip(sequences, model.logits(sequences, 300), strict=True):
        with ctx.workprec(300):
            E = encoding(model, t, 300)
            for j in range(3):
                expected = arb(W_U[j, 0]) * E[0] + arb(W_U[j, 1]) * E[1]
                assert abs(row[j] - expected) < arb("1e-40")
            combination = sum((arb(relation[0, j]) * row[j] for j in range(3)), arb(0))
            assert abs(combination) < arb("1e-40")


@given(p=distributions(4), weight=st.integers(1, 10))
@settings(max_examples=40)
def test_proposition_2_mixture_with_uniform(p: list[fmpq], weight: int) -> None:
    """KL(p || (1-η)p + η/N) <= -log(1-η), and the mixture has logits in dimension N - 1."""
    eta = fmpq(1, 10**weight)
    mixed = [(1 - eta) * x + eta / 4 for x in p]
    with ctx.workprec(200):
        gap = sum(
            (
                arb(x) * (arb(x).log() - arb(q).log())
                for x, q in zip(p, mixed, strict=True)
                if x != 0
            ),
            arb(0),
        )
        assert gap <= -(1 - arb(eta)).log() + arb("1e-40")


def test_proposition_2_on_one_table(certify: Certify) -> None:
    interval = best_encoder(EIGHTY, 2)
    assert interval.upper < fmpq(1, 10**9)
    certify(interval.certificate())


@pytest.mark.claim("dana/proposition-2-converse", grade="certified", statement="35c9b4a1d46062b0")
def test_proposition_2_converse_three_tokens_in_dimension_one(certify: Certify) -> None:
    """N = 3, d = 1, permutations of (.8, .1, .1): the infimum lies in [.185486, .185497]."""
    interval = best_encoder(EIGHTY, 1, tolerance=1e-5)
    assert fmpq(185486, 10**6) < interval.lower <= interval.upper < fmpq(185497, 10**6)
    certify(interval.certificate())
    certify(bottleneck_on_a_line(), ship_as="dana/proposition-2-converse")


def log_ratios(p: list[fmpq]) -> list[int]:
    """log2(p_j / p_N) for j < N: coordinates of Q log p, integers for the distributions here."""
    ratios = [x / p[-1] for x in p[:-1]]
    logs = [int(r.p).bit_length() - int(r.q).bit_length() for r in ratios]
    assert all(r == fmpq(2) ** k for r, k in zip(ratios, logs, strict=True))
    return logs


def powers_of_two(exponents: list[int]) -> list[fmpq]:
    weights = [fmpq(2) ** x for x in exponents]
    return [w / sum(weights, fmpq(0)) for w in weights]


@pytest.mark.parametrize(("N", "d"), [(3, 1), (4, 2), (5, 2), (6, 4), (7, 5)])
def test_d_distributions_need_centred_logs_of_small_rank(N: int, d: int) -> None:
    """d distributions of an encoder have logs of rank at most d, and so have d + 1; others do not.

    The explicit d + 1 distributions, and those whose logs are unit vectors, have rank d + 1: some
    minor of order d + 1 is not zero. With d = N - 1 there would be no such minor.
    """
    assert d < N - 1
    rng = random.Random(N)

    def draw(rows: int, columns: int) -> list[list[int]]:
        return [[rng.randint(-4, 9) for _ in range(columns)] for _ in range(rows)]

    # what encoders of dimension d reach, as distributions: logits in units of ln 2
    encoder = SequenceEncoder(Matrix(draw(N, d)), Matrix(draw(d + 2, d)))
    logits = [[int(z.p) for z in row] for row in encoder.logits.flint.tolist()]
    reached = [log_ratios(powers_of_two(row)) for row in logits]
    assert certified_rank(reached).rank == d
    # what they do not reach
    generic = [log_ratios(powers_of_two(row)) for row in draw(d + 1, N)]
    units = [[int(j == i) for j in range(N)] for i in range(d + 1)]
    for table in (generic, [log_ratios(powers_of_two(row)) for row in units]):
        assert certified_rank(table).rank == d + 1
    more = [log_ratios(powers_of_two(row)) for row in draw(2 * N, N)]
    assert certified_rank(more).rank == N - 1  # so dimension N - 1 reaches everything


def test_proposition_3_by_the_integer_parabola(certify: Certify) -> None:
    """N = 7, S = 1, W_j = (j, j²), λ = 30: divergence below 10^-12, in integers."""
    built = sequence_encoder(one_hot(7), "parabola", scale=30)
    assert built.encoder.d == 2
    assert built.divergence < arb("1e-12")
    certify(built.certificate(), ship_as="dana/proposition-3")


@given(g=st.integers(-40, 40), j=st.integers(-40, 40))
def test_proposition_3_parabola_margin(g: int, j: int) -> None:
    """2gj - j² = g² - (j - g)²: the target wins by at least λ."""
    gap = g * g - (2 * g * j - j * j)
    assert gap == (j - g) ** 2
    assert gap >= 1 or j == g


def test_proposition_3_by_the_circle() -> None:
    built = sequence_encoder(one_hot(9), "circle", scale=200)
    gram = (built.encoder.W @ built.encoder.W.T).flint.tolist()
    assert all(gram[i][i] == 1 for i in range(9))
    assert built.divergence < arb("1e-9")


@pytest.mark.claim(
    "dana/any-dimension", grade="certified", direction="against", statement="659093496a41387d"
)
def test_any_dimension_fails_for_three_tokens_on_a_line(certify: Certify) -> None:
    """d = 1, N = 3, the identity table: for every W and E the mean divergence exceeds .23103."""
    interval = best_encoder(one_hot(3), 1, tolerance=1e-5)
    assert fmpq(23103, 10**5) < interval.lower <= interval.upper < fmpq(23106, 10**5)
    assert interval.lower <= rational_above(arb.const_log2() / 3) <= interval.upper + fmpq(1, 2**39)
    certify(interval.certificate())
    certify(any_dimension_fails_on_a_line(), ship_as="dana/any-dimension")


@given(w=st.lists(st.integers(-5, 5), min_size=3, max_size=3), x=st.integers(-9, 9))
def test_any_dimension_middle_token_never_wins(w: list[int], x: int) -> None:
    """On a line the middle token's logit is at most the larger of the outer ones."""
    low, middle, high = sorted(w)
    assert middle * x <= max(low * x, high * x)


# --- the maximum-entropy dual and sparse tables ---------------------------------------------------


def softmax_point(z: list[fmpq]) -> list[fmpq]:
    """A rational point near softmax(z)."""
    weights = [fmpq(round(math.exp(float(x.p) / float(x.q)) * 2**40), 2**40) for x in z]
    return [w / sum(weights, fmpq(0)) for w in weights]


def weak_duality(W: list[list[int]], p: list[fmpq], x: list[int], c: list[fmpq], mu: fmpq) -> bool:
    """Whether the gain of entropy along c is at most the divergence at W x."""
    gain = dual_gain(Table([p]), range(4), c, [mu], 128)
    logits = [fmpq(sum(a * b for a, b in zip(w, x, strict=True))) for w in W]
    with ctx.workprec(128):
        return not divergence(p, logits) < gain - arb("1e-25")


# Wx is nearly log p, and p + μc is nearer to even: but c is not orthogonal to the columns of W.
NOT_FEASIBLE = (
    [[1, 0], [0, 0], [0, 0], [0, 0]],
    [fmpq(4754, 10000), *[fmpq(5246, 30000)] * 3],
    [1, 0],
    [fmpq(-1), fmpq(1), fmpq(0), fmpq(0)],
    fmpq(1, 10),
)


@pytest.mark.claim(
    "lemmax/maximum-entropy-dual",
    grade="property",
    scope="random integer W with N = 4, d = 2, rational p, exact feasible q (weak duality)",
    statement="48ed250f914b3a99",
)
@given(
    W=st.lists(st.lists(st.integers(-3, 3), min_size=2, max_size=2), min_size=4, max_size=4),
    p=distributions(4, least=1),
    x=st.lists(st.integers(-4, 4), min_size=2, max_size=2),
    step=st.integers(-8, 8),
)
@settings(max_examples=60)
def test_maximum_entropy_dual_is_a_lower_bound(
    sample: Sample, W: list[list[int]], p: list[fmpq], x: list[int], step: int
) -> None:
    rows = [[fmpq(1), *map(fmpq, w)] for w in W]
    echelon, rank = fmpq_mat(rows).transpose().rref()
    pivots = [next(j for j in range(4) if echelon[i, j] != 0) for i in range(rank)]
    free = next(j for j in range(4) if j not in pivots)
    c = [fmpq(0)] * 4
    c[free] = fmpq(1)
    for i, j in enumerate(pivots):
        c[j] = -echelon[i, free]
    assert sum(c, fmpq(0)) == 0
    assert all(sum((c[j] * W[j][k] for j in range(4)), fmpq(0)) == 0 for k in range(2))
    most = min(p[j] / abs(c[j]) for j in range(4) if c[j] != 0)
    mu = most * step / 8
    sample(weak_duality, W, p, x, c, mu, control=NOT_FEASIBLE)


def test_maximum_entropy_dual_has_no_gap() -> None:
    """The two ends of a proved interval meet: dual and primal have the same value."""
    interval = best_encoder(EIGHTY, 1, tolerance=1e-5)
    assert interval.gap < fmpq(11, 10**6)


@pytest.mark.parametrize("table", [EIGHTY, one_hot(3)], ids=["eighty", "one-hot"])
def test_no_encoder_beats_the_dual_bound(table: Table) -> None:
    """Two hundred encoders, random and near the optimum: none is below the certified lower end."""
    interval = best_encoder(table, 1, starts=1)
    rng = random.Random(200)
    W, E = interval.encoder.W.flint.tolist(), interval.encoder.E.flint.tolist()
    for k in range(200):
        noise = fmpq(1, 10 ** rng.randint(0, 6)) if k % 2 else fmpq(0)
        if k % 2:
            rows = [[[x + noise * rng.randint(-9, 9) for x in r] for r in M] for M in (W, E)]
        else:
            rows = [[[fmpq(rng.randint(-99, 99), 20)] for _ in range(3)] for _ in (W, E)]
        encoder = SequenceEncoder(Matrix(rows[0]), Matrix(rows[1]))
        assert encoder.divergence(table) > arb(interval.lower)


def test_dual_cones_cover_every_direction() -> None:
    """Random directions with Σ c = 0 lie, up to sign, in one initial cone and in one half of it."""
    rng = random.Random(0)
    for m in (3, 4, 5):
        for _ in range(40):
            c = [rng.randint(-9, 9) for _ in range(m - 1)]
            c.append(-sum(c))
            if not any(c):
                continue
            containing = 0
            for cone in initial_cones(m):
                for sign in (1, -1):
                    target = [sign * x for x in c]
                    coordinates = solve_cone(cone, target)
                    if min(coordinates) >= 0:
                        containing += 1
                        halves = [solve_cone(half, target) for half in bisected(cone, 0, 1)]
                        assert any(min(half) >= 0 for half in halves)
            assert containing >= 1


def solve_cone(cone: Any, target: list[int]) -> list[fmpq]:
    m = len(target)
    matrix = fmpq_mat([[v[j] for v in cone] for j in range(m - 1)])
    solution = matrix.solve(fmpq_mat([[fmpq(x)] for x in target[: m - 1]]))
    return [solution[i, 0] for i in range(m - 1)]


@pytest.mark.parametrize(("scale", "bound"), [(1, "1/10"), (5, "1/1000"), (12, "1/100000")])
def test_sparse_tables_by_moments(certify: Certify, scale: int, bound: str) -> None:
    """m = 2, d = 4, N = 6: (.7, .3) on every ordered pair, divergence to zero as λ grows."""
    rows = [
        [("7/10" if j == a else "3/10" if j == b else 0) for j in range(6)]
        for a, b in product(range(6), repeat=2)
        if a != b
    ]
    built = sequence_encoder(Table(rows), "moments", scale=scale)
    assert built.encoder.d == 4
    numerator, denominator = map(int, bound.split("/"))
    assert built.divergence < arb(fmpq(numerator, denominator))
    certify(built.certificate())


def test_sparse_tables_converse_on_random_encoders() -> None:
    """d < min(2m, N-1): an affine dependence of d + 2 rows has a side P of at most m tokens, and
    for logits f = W x some token outside P is at least as likely as the least likely one in P."""
    rng = random.Random(4)
    for _ in range(60):
        m = rng.randint(1, 2)
        d = rng.randint(1, 2 * m - 1)
        N = d + 2
        W = [[fmpq(1)] + [fmpq(rng.randint(-9, 9)) for _ in range(d)] for _ in range(N)]
        echelon, rank = fmpq_mat(W).transpose().rref()
        pivots = [next(j for j in range(N) if echelon[i, j] != 0) for i in range(rank)]
        free = next(j for j in range(N) if j not in pivots)
        c = [fmpq(0)] * N
        c[free] = fmpq(1)
        for i, j in enumerate(pivots):
            c[j] = -echelon[i, free]
        sides = [[j for j in range(N) if c[j] > 0], [j for j in range(N) if c[j] < 0]]
        P = min(sides, key=len)
        assert 1 <= len(P) <= m
        x = [fmpq(rng.randint(-5, 5)) for _ in range(d)]
        f = [sum((a * b for a, b in zip(w[1:], x, strict=True)), fmpq(0)) for w in W]
        assert max(f[j] for j in range(N) if j not in P) >= min(f[j] for j in P)
        uniform = [fmpq(int(j in P), len(P)) for j in range(N)]
        assert divergence(uniform, f) > arb.const_log2() / len(P) - arb("1e-12")


def test_sparse_tables_fit_in_the_sequences() -> None:
    """Nonempty sets of at most m tokens are images of m-tuples: there are at most N^m of them."""
    for N in range(1, 7):
        for m in range(1, N + 1):
            assert sum(math.comb(N, k) for k in range(1, m + 1)) <= N**m


@given(a=st.lists(st.integers(1, 50), min_size=1, max_size=5), extra=st.integers(0, 50))
def test_sparse_tables_arithmetic_geometric_mean(a: list[int], extra: int) -> None:
    """Σ_P s + min_P s <= 1 gives Π_P s <= 1/(2 k^k): 2 min · Π of the rest <= (1/k)^k."""
    k, total = len(a), sum(a) + min(a) + extra
    s = [fmpq(x, total) for x in a]
    value = fmpq(1)
    for x in s:
        value *= x
    assert 2 * value <= fmpq(1, k**k)


# --- Theorem 2 -----------------------------------------------------------------------------------


def test_theorem_2_bound_is_negative() -> None:
    """N = 3, d = 1: C = 6.66, so the right-hand side is negative, and no divergence is."""
    C = johnson_lindenstrauss_constant(3, 1)
    assert arb("6.6") < C < arb("6.7")
    table = Table([["4/5", "1/10", "1/10"]])
    assert theorem_2_bound(table, [0], 1) < 0


def test_theorem_2_first_dictionary_with_content() -> None:
    """2C < 1 and d < N - 1 first happen together at N = 869, d = 867."""

    def least_d(N: int) -> int:
        low = rational_floor(128 * arb(N + 1).log())
        return low + 1

    def rational_floor(x: arb) -> int:
        floor = x.floor().unique_fmpz()
        assert floor is not None
        return int(floor)

    first = next(N for N in range(2, 2000) if least_d(N) < N - 1)
    assert (first, least_d(first)) == (869, 867)
    better = next(N for N in range(2, 2000) if rational_floor(4 * arb(N).log()) + 1 < N - 1)
    assert better == 12


def test_theorem_2_simple_bound_is_smaller() -> None:
    """N = 3, d = 10^6, 2C < 1: also where g is the likeliest token; far off where it is not."""
    d = 10**6
    assert 2 * johnson_lindenstrauss_constant(3, d) < 1
    table = Table([["51/100", "49/100", 0], ["51/100", "49/200", "49/200"]])
    assert theorem_2_bound(table, [0, 0], d) > theorem_2_simple_bound(table, [0, 0], d)
    eps = fmpq(1, 10**4)
    table = Table([[1 - 2 * eps, eps, eps], ["1/3", "1/3", "1/3"]])
    assert theorem_2_bound(table, [1, 0], d) > 3 * theorem_2_simple_bound(table, [1, 0], d)


def test_theorem_2_jensen_goes_the_wrong_way() -> None:
    """φ'' > 0, and with the same η = .3 and the right g the mean of φ exceeds φ of the mean."""
    h = sympy.symbols("h", positive=True)
    N = sympy.symbols("N", positive=True)
    second = sympy.diff(sympy.log((N - 1) / (sympy.exp(h) - 1)), h, 2)
    assert sympy.simplify(second - sympy.exp(h) / (sympy.exp(h) - 1) ** 2) == 0
    N_tokens, eta = 1000, fmpq(3, 10)
    concentrated = [1 - eta, eta] + [fmpq(0)] * (N_tokens - 2)
    spread = [1 - eta] + [eta / (N_tokens - 1)] * (N_tokens - 1)
    first, second_entropy = entropy(concentrated), entropy(spread)
    mean = (phi(first, N_tokens) + phi(second_entropy, N_tokens)) / 2
    assert mean > phi((first + second_entropy) / 2, N_tokens) + arb("0.2")


@given(p=distributions(4), k=st.integers(1, 9))
@settings(max_examples=40)
def test_theorem_2_limits_with_the_right_table(p: list[fmpq], k: int) -> None:
    """η = 1 - max π: η φ(h) <= η log((N-1)/η), whatever the rest of the distribution is."""
    weight = fmpq(1, 10**k)
    row = [weight * x + (1 - weight) * int(j == 0) for j, x in enumerate(p)]
    row[0], row[1] = row[0] - weight / 100, row[1] + weight / 100
    g = max(range(4), key=row.__getitem__)
    eta = 1 - row[g]
    assert eta > 0
    assert arb(eta) * phi(entropy(row), 4) <= arb(eta) * (arb(3) / arb(eta)).log() + arb("1e-12")


@pytest.mark.parametrize("k", [3, 6, 12])
def test_theorem_2_limit_with_a_wrong_table_is_infinite(k: int) -> None:
    """h → 0 with g wrong: the bound grows like log 1/h."""
    eps = fmpq(1, 10**k)
    table = Table([[1 - 2 * eps, eps, eps]])
    assert theorem_2_bound(table, [1], 10**6) > 3 * k / 2


@pytest.mark.claim(
    "lemmax/random-sign-encoder",
    grade="property",
    scope="N = 12, d = 40, 30 random rows of full support, right and wrong look-up tables",
    statement="e79e6a13db97f55d",
)
def test_random_sign_encoder_bound_holds(sample: Sample) -> None:
    def within(built: Any, bound: arb) -> bool:
        return bool(built.divergence < bound + arb("1e-9"))

    rng = random.Random(30)
    signs = derandomised_signs(12, 40)
    C = arb(certified_coherence(signs))
    assert random_sign_constant(12, 40) > C
    for _ in range(30):
        weights = [rng.randint(1, 9) ** rng.randint(1, 4) for _ in range(12)]
        table = Table([[fmpq(w, sum(weights)) for w in weights]])
        g = rng.choice([max(range(12), key=weights.__getitem__), rng.randrange(12)])
        built = sequence_encoder(table, "derandomised", d=40, targets=[g], scale=10**4)
        # λ is rounded, hence the small allowance
        bound = lookup_bound(table, [g], C)
        sample(within, built, bound, control=(built, arb(0)))  # a row of full support has some


def test_random_sign_encoder_of_one_table(certify: Certify) -> None:
    """N = 12, d = 10 > 4 log 12, one less than the trivial dimension N - 1."""
    assert 4 * math.log(12) < 10
    built = sequence_encoder(one_hot(12), "derandomised", d=10, scale=40)
    assert built.encoder.d == 10 < 11
    assert built.divergence < arb("1e-6")
    certify(built.certificate())


@pytest.mark.parametrize(("N", "d"), [(12, 10), (100, 30), (200, 64), (300, 150)])
def test_random_sign_encoder_derandomised_coherence(N: int, d: int) -> None:
    """|W_i · W_j| <= 2√(log N/d), from integer inner products."""
    largest = certified_coherence(derandomised_signs(N, d))
    assert arb(largest) < random_sign_constant(N, d)


def test_random_sign_union_bound_and_exact_coherence() -> None:
    """N(N-1) e^{-dC²/2} = (N-1)/N < 1 for C = 2√(log N/d)."""
    for N in (2, 12, 1000):
        for d in (7, 100):
            C = random_sign_constant(N, d, 200)
            with ctx.workprec(200):
                failure = N * (N - 1) * (-d * C * C / 2).exp()
                assert abs(failure - arb(fmpq(N - 1, N))) < arb("1e-40")
    signs = random_signs(6, 16, seed=1)
    scaled = Matrix([[fmpq(int(x), 4) for x in row] for row in signs.tolist()])
    assert coherence(scaled) == certified_coherence(signs)


@given(N=st.integers(2, 5), d=st.integers(4, 12), seed=st.integers(0, 99), k=st.integers(1, 40))
@settings(max_examples=60)
def test_multiplier_of_theorem_2_is_bounded(N: int, d: int, seed: int, k: int) -> None:
    """φ(λ) = log Σ exp(λ (W_j - W_g)·W_g) for W near the unit vectors: it falls, from log N, and
    λ (1 - 2C) <= log((N - 1)/(exp φ(λ) - 1))."""
    draw = random.Random(seed)
    d = max(N, d)
    W = [[fmpq(draw.randint(-1, 1), 20) + int(i == j) for j in range(d)] for i in range(N)]
    products = [[sum((a * b for a, b in zip(x, y, strict=True)), fmpq(0)) for y in W] for x in W]
    C = max(abs(products[i][j] - int(i == j)) for i in range(N) for j in range(N))
    if 2 * C >= 1:
        return
    exponents = [row[0] - products[0][0] for row in products]
    assert all(b <= 2 * C - 1 for b in exponents[1:])
    with ctx.workprec(200):
        low, high = (
            sum((arb(x * b).exp() for b in exponents), arb(0)) for x in (fmpq(k, 4), fmpq(k + 1, 4))
        )
        assert 1 < high < low < N
        # with equal products and unit rows it is an equality
        most = (arb(N - 1) / (low - 1)).log()
        assert arb(fmpq(k, 4) * (1 - 2 * C)) <= most + arb("1e-40")


def test_theorem_2_factor_is_above_that_of_signs() -> None:
    """(1 + c)/(1 - c) <= (1 + 2C + C v)/(1 - 2C) <= (1 + 4C)/(1 - 2C): no other real numbers."""
    c, C, v = cast("Any", z3.Reals("c C v"))
    solver = z3.Solver()
    solver.add(c >= 0, c <= C, 2 * C < 1, v >= 0, v <= 1)
    assert solver.check() == z3.sat
    lower = (1 + c) * (1 - 2 * C) <= (1 + 2 * C + C * v) * (1 - c)
    upper = (1 + c) * (1 - 2 * C) <= (1 + 4 * C) * (1 - c)
    solver.add(z3.Not(z3.And(lower, upper)))
    assert solver.check() == z3.unsat


def with_one_multiplier(
    rows: list[list[fmpq]], g: list[int], signs: Any, d: int
) -> tuple[arb, arb]:
    """The mean divergence of the encoder λ W_g, one λ for all rows, and the bound of that λ."""
    N, C, share = len(rows[0]), arb(certified_coherence(signs)), fmpq(1, len(rows))
    entropies = [entropy(row) for row in rows]
    mean_entropy = sum(entropies, arb(0)) / len(rows)
    wrong = share * sum((1 - row[j] for row, j in zip(rows, g, strict=True)), fmpq(0))
    lam = phi(mean_entropy, N) / (1 - C)
    total = arb(0)
    for row, h, j in zip(rows, entropies, g, strict=True):
        logits = [lam * int(signs[i] @ signs[j]) / d for i in range(N)]
        size = sum((x.exp() for x in logits), arb(0)).log()
        cross = sum((arb(p) * (size - x) for p, x in zip(row, logits, strict=True)), arb(0))
        total += (cross - h) / len(rows)
    return total, arb(wrong) * phi(mean_entropy, N) * (1 + C) / (1 - C)


def test_one_multiplier_for_all_sequences() -> None:
    """N = 12, d = 40, three equally likely rows, right and wrong look-up tables."""
    rng, signs = random.Random(31), derandomised_signs(12, 40)
    tight = 0
    for _ in range(20):
        rows, g = [], []
        for _ in range(3):
            weights = [rng.randint(1, 9) ** rng.randint(1, 6) for _ in range(12)]
            rows.append([fmpq(w, sum(weights)) for w in weights])
            g.append(rng.choice([max(range(12), key=weights.__getitem__), rng.randrange(12)]))
        reached, bound = with_one_multiplier(rows, g, signs, 40)
        assert reached < bound
        tight += bool(reached > bound / 3)
    assert tight  # the bound is not idle


@given(p=distributions(4, 1), share=st.integers(0, 50))
def test_a_small_divergence_keeps_the_likely_token(p: list[fmpq], share: int) -> None:
    """p_g >= 9/10 and s_g <= 1/2: a divergence over 1/3, whatever the other tokens are."""
    likely = [fmpq(9, 10) + p[0] / 10, *(x / 10 for x in p[1:])]
    s_g = fmpq(share, 100)
    rest = 1 - s_g
    total = arb(0)
    for x, y in zip(likely, [s_g, *(rest * x / (1 - p[0]) for x in p[1:])], strict=True):
        if y == 0:
            return  # an infinite divergence
        total += arb(x) * (arb(x) / arb(y)).log()
    assert total > arb(fmpq(1, 3))


@given(p=distributions(4, 1))
def test_divergence_from_the_uniform_distribution(p: list[fmpq]) -> None:
    gap = divergence(p, [fmpq(0)] * 4) - (arb(4).log() - entropy(p))
    assert gap.contains(0)
    assert gap.rad() < 1e-9


def test_total_variation_is_of_first_order() -> None:
    """Two tokens: s_0 - p_0 = p_0 z_0 + O(ε²) for z = ε (1/p, -1/(1 - p)), of mean 0."""
    p, e = sympy.symbols("p e", positive=True)
    z = (e / p, -e / (1 - p))
    top = p * sympy.exp(z[0])
    s = top / (top + (1 - p) * sympy.exp(z[1]))
    assert sympy.simplify(sympy.diff(s, e).subs(e, 0) - p * z[0] / e) == 0


# --- Taylor, Lemma 4, Definition 2 ---------------------------------------------------------------


@pytest.mark.claim("lemmax/taylor-kl", grade="symbolic", statement="091c2c5be57ad992")
def test_taylor_kl_is_half_the_variance(symbolic: Symbolic) -> None:
    """KL(p || softmax(log p + s z)) = log Σ p e^{sz} - s Σ p z, by its moments m_k = Σ p z^k.

    The moments are free symbols, so N, p and z are arbitrary.
    """
    symbolic.decide("lemmax/taylor-kl")


@pytest.mark.claim(
    "dana/taylor-kl", grade="symbolic", direction="against", statement="5882c19e26f60310"
)
def test_taylor_kl_is_no_multiple_of_the_norm(symbolic: Symbolic) -> None:
    """N = 2, p = (a, 1-a), z = s(1-a, -a): KL/‖z‖² → a(1-a)/(2(a² + (1-a)²)), which varies with a.

    And KL/‖z‖ → 0, so the norm itself is not the leading term either.
    """
    symbolic.decide("dana/taylor-kl")


@given(p=distributions(4, least=1), z=st.lists(st.integers(-30, 30), min_size=4, max_size=4))
def test_divergence_is_near_half_the_weighted_square(p: list[fmpq], z: list[int]) -> None:
    """For z of mean zero and m = max |z| <= 1, with q = Σ p z²: |KL - q/2| <= m q."""
    mean = sum((a * b for a, b in zip(p, z, strict=True)), fmpq(0))
    centred = [(b - mean) / 60 for b in z]
    m, q = max(map(abs, centred)), sum((a * b**2 for a, b in zip(p, centred, strict=True)), fmpq(0))
    if not q:
        return
    assert q <= m**2 <= 1
    with ctx.workprec(200):
        total = sum((arb(a) * arb(b).exp() for a, b in zip(p, centred, strict=True)), arb(0))
        assert abs(total - 1 - arb(q / 2)) <= arb(1).exp() / 6 * arb(m * q)
        assert abs(total.log() - arb(q / 2)) <= arb(m * q)


def test_near_the_uniform_distribution_one_constant_serves_the_euclidean_norm() -> None:
    """p = (1 + 1/k, 1 - 1/k)/2 and z = s (1/p_0, -1/p_1): KL/‖z‖² tends to 1/4, and far from
    the uniform distribution it does not."""

    def quotient(p: fmpq, s: fmpq) -> arb:
        z = (s / p, -s / (1 - p))
        total = arb(p) * arb(z[0]).exp() + arb(1 - p) * arb(z[1]).exp()
        return total.log() / arb(z[0] ** 2 + z[1] ** 2)

    with ctx.workprec(300):
        gaps = [
            abs(quotient((1 + fmpq(1, k)) / 2, fmpq(1, k**2)) - fmpq(1, 4)) for k in (10, 100, 1000)
        ]
        assert gaps[0] > gaps[1] > gaps[2]
        assert gaps[2] < arb("1e-5")
        assert abs(quotient(fmpq(1, 10), fmpq(1, 10**6)) - fmpq(1, 4)) > arb("0.1")


@pytest.mark.parametrize("exponential", [False, True])
@pytest.mark.parametrize("k", [10, 100, 1000])
def test_lemma_4_logits_may_grow_at_any_speed(k: int, exponential: bool) -> None:
    """π = (½, ½, 0), f_δ = (δ, 0, -1/δ³) or (δ, 0, -e^(1/δ)): log ratios in [δ/4, δ], and a range
    above k² log(1/δ). One row of E for all sequences, so d = 1 is enough."""
    delta = fmpq(1, k)
    with ctx.workprec(4000):
        logits = [arb(delta), arb(0), -arb(k).exp() if exponential else -(arb(k) ** 3)]
        total = sum((z.exp() for z in logits), arb(0))
        for z in logits[:2]:
            ratio = abs((arb(fmpq(1, 2)) * total / z.exp()).log())
            assert arb(delta / 4) < ratio < arb(delta)
        assert logits[0] - logits[2] > k**2 * arb(k).log()


@given(
    W=st.lists(st.integers(-4, 4), min_size=3, max_size=3).filter(lambda w: len(set(w)) == 3),
    x=st.integers(-2, 2),
)
@settings(max_examples=30)
def test_definition_2_generic_encoders_are_approximable(W: list[int], x: int) -> None:
    """With W_j ≠ Σ π_i W_i, log softmax moves linearly in δ: c δ <= |log ratio| <= K δ."""
    z = [fmpq(w * x) for w in W]
    with ctx.workprec(300):
        weights = [arb(v).exp() for v in z]
        total = sum(weights, arb(0))
        mean = sum((arb(w) * v for w, v in zip(W, weights, strict=True)), arb(0)) / total
        slopes = [arb(w) - mean for w in W]
        if any(slope.contains(0) for slope in slopes):
            return  # the excluded case, e.g. x = 0 and W_j the mean
        delta = arb(fmpq(1, 10**12))
        moved = [(arb(v) + delta * w).exp() for v, w in zip(z, W, strict=True)]
        after = sum(moved, arb(0))
        for slope, before, now in zip(slopes, weights, moved, strict=True):
            ratio = abs((now / after * total / before).log())
            assert delta * abs(slope) / 2 < ratio < 2 * delta * abs(slope)


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: Table([["1/2", "1/3"]]), "sum to 5/6"),
        (lambda: Table([[2, -1]]), "negative"),
        (lambda: Table([[1, 0]], prior=["1/2"]), "sum to 1/2"),
        (lambda: Table([[1, 0]], prior=["1/2", "1/2"]), "2 entries for 1"),
        (lambda: Table([[0.5, 0.5]]), "is a float"),
        (lambda: SequenceEncoder(Matrix([[1]]), Matrix([[1, 2]])), "both must have d"),
        (
            lambda: SequenceEncoder(Matrix([[1], [0]]), Matrix([[1]])).divergence(one_hot(3)),
            "the table for 3",
        ),
        (lambda: sequence_encoder(one_hot(3), cast(Any, "spiral")), "one of parabola"),
        (lambda: sequence_encoder(one_hot(3), "signs"), "dimension d"),
        (lambda: sequence_encoder(one_hot(3), scale=0), "positive"),
        (lambda: sequence_encoder(one_hot(3), targets=[0]), "one token for each"),
        (lambda: best_encoder(one_hot(3), 0), "at least 1"),
    ],
)
def test_bad_input_is_one_sentence(call: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(LemmaxError, match=sentence) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_best_encoder_partition_bound_is_honest() -> None:
    """N = 6, d = 1: two blocks of three tokens; the interval is proved though wide."""
    rng = random.Random(6)
    rows = []
    for _ in range(6):
        weights = [rng.randint(1, 30) for _ in range(6)]
        rows.append([fmpq(w, sum(weights)) for w in weights])
    interval = best_encoder(Table(rows), 1, leaves=100)
    assert 0 < interval.lower < interval.upper
    assert len(interval.blocks) == 2
    assert r"\le" in interval.to_latex()


def test_dual_cones_of_three_tokens() -> None:
    """For m = 3 the generators are the differences of pairs of tokens."""
    vertices = {tuple(int(x) for x in v) for cone in initial_cones(3) for v in cone}
    assert vertices == {(1, 0, -1), (0, 1, -1), (0, -1, 1)}
