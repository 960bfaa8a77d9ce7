"""Edges: pairs of sequences that one head tells apart, for any number of tokens."""

from collections.abc import Callable, Iterator
from itertools import combinations, product
from math import comb
from random import Random
from typing import Any

import pytest
from flint import fmpq, fmpz_mat, nmod_mat

from lemmax.constructions.dana.one_relation import (
    one_relation,
    rational_features,
    relation_memory,
)
from lemmax.pytest_plugin.properties import Sample
from lemmax.theory.dana.edges import edges_leaving_four, is_edge, is_square, related
from lemmax.theory.dana.generic import generic_aot
from lemmax.theory.dana.relations import suits
from lemmax.theory.dana.transformer import AoT
from lemmax.theory.dana.transformer_rank import aot_rank
from lemmax.theory.numbers.primes import MERSENNE_61

Exhaust = Callable[..., int]
Sequence = tuple[int, ...]
P = MERSENNE_61


def ending_in_zero(N: int, n: int) -> list[Sequence]:
    return [(*t, 0) for t in product(range(N), repeat=n)]


def some_subsets(N: int, n: int, size: int, most: int, draw: Random) -> Iterator[tuple[Any, ...]]:
    """All subsets of a size, or so many random ones."""
    everything = ending_in_zero(N, n)
    if comb(len(everything), size) <= most:
        yield from combinations(everything, size)
    else:
        yield from (tuple(draw.sample(everything, size)) for _ in range(most))


# --- the span of the 2-forms ---------------------------------------------------------------------


def embeddings(
    N: int, n: int, G: tuple[int, ...] | None, draw: Random
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """General ones, or with G those of one line: e_i = (κ, 0), pos_s = (φ, γ), γ = 0 on G."""

    def large() -> int:
        return draw.randrange(1, 10**9)

    e = [(large(), large() if G is None else 0) for _ in range(N)]
    pos = [(large(), 0 if G is not None and s in G else -large()) for s in range(n + 1)]
    return e, pos


def forms_modulo(
    T: list[Sequence],
    e: list[tuple[int, int]],
    pos: list[tuple[int, int]],
    heads: int,
    draw: Random,
) -> list[list[int]]:
    """The coordinates of A_1 ∧ A_2 for random heads, z^l for exp l modulo a prime."""
    z, forms = draw.randrange(2, P), []
    for _ in range(heads):
        W = [[draw.randrange(P - 1) for _ in range(2)] for _ in range(2)]
        A = []
        for t in T:
            x = [(e[i][0] + p[0], e[i][1] + p[1]) for i, p in zip(t, pos, strict=True)]
            q = [x[-1][0] * W[0][k] + x[-1][1] * W[1][k] for k in (0, 1)]
            w = [pow(z, (q[0] * y[0] + q[1] * y[1]) % (P - 1), P) for y in x]
            inverse = pow(sum(w), -1, P)
            A.append(
                [sum(a * y[k] for a, y in zip(w, x, strict=True)) * inverse % P for k in (0, 1)]
            )
        forms.append([(a[0] * b[1] - a[1] * b[0]) % P for a, b in combinations(A, 2)])
    return forms


def inside(
    T: list[Sequence],
    pairs: list[tuple[Sequence, Sequence]],
    collinear: bool,
    G: list[int],
    seed: int,
) -> bool:
    """Whether ε_t ∧ ε_u lies in the span U of the forms on T, for all the given pairs."""
    draw = Random(seed)
    line = tuple(G) if collinear else None
    e, pos = embeddings(1 + max(x for t in T for x in t), len(T[0]) - 1, line, draw)
    everything = list(combinations(T, 2))
    forms = forms_modulo(T, e, pos, len(everything) + 3, draw)
    units = [[int(pair == other) for other in everything] for pair in pairs]
    rank = nmod_mat(fmpz_mat(forms), P).rank()
    return bool(nmod_mat(fmpz_mat([*forms, *units]), P).rank() == rank)


def edges_of(T: list[Sequence]) -> list[tuple[Sequence, Sequence]]:
    return [(t, u) for t, u in combinations(T, 2) if is_edge(t, u, T)]


CUBE = ending_in_zero(2, 4)
CLOSE: list[tuple[Sequence, Sequence]] = [((0, 0, 0, 0, 0), (0, 0, 0, 1, 0))]  # no edge of the cube


@pytest.mark.claim(
    "lemmax/feature-edges",
    grade="property",
    scope="N <= 4, S <= 5, |𝒯| <= 8, general and collinear embeddings, modulo a prime",
    statement="a6db7c77ad0efb64",
)
def test_feature_edges_lie_in_the_span_of_the_forms(sample: Sample) -> None:
    draw = Random(61)
    for seed in range(60):
        N, n = draw.choice((2, 3, 3, 4)), draw.choice((2, 2, 3, 4))
        collinear = draw.random() < 0.5
        everything = ending_in_zero(N, n) if collinear else list(product(range(N), repeat=n + 1))
        T = draw.sample(everything, min(len(everything), draw.randint(2, 8)))
        G = draw.sample(range(n), draw.randint(0, min(3, n)))
        if edges_of(T):
            sample(inside, T, edges_of(T), collinear, G, seed, control=(CUBE, CLOSE, False, [1], 1))


def test_span_is_not_everything_on_the_cube_of_four_bits() -> None:
    """N = 2, n = 4: all edges by the rules lie in U, and other pairs do not."""
    assert inside(CUBE, edges_of(CUBE), False, [], 62)
    assert not is_edge(*CLOSE[0], CUBE)
    assert not inside(CUBE, CLOSE, False, [], 62)


# --- the steps of the proof ----------------------------------------------------------------------


def test_forms_that_vanish_together_are_those_of_one_line() -> None:
    """Z_x in the span of Z_t, Z_u, for generic m: x is t with another token where u has b for a."""
    m = [3, 10, 101, 1009]
    for N, n in ((4, 2), (3, 3), (2, 4)):
        everything = ending_in_zero(N, n)
        draw = Random(N)
        for _ in range(150):
            t, u, x = draw.sample(everything, 3)
            dependent = fmpz_mat([[m[i] for i in y] for y in (t, u, x)]).rank() == 2
            D = [s for s in range(n) if t[s] != u[s]]
            line = (
                related(t, u) is not None
                and related(t, x) is not None
                and [s for s in range(n) if t[s] != x[s]] == D
            )
            assert dependent == line


def test_pairs_that_are_not_related_have_independent_numerators() -> None:
    """On Z_t = Z_u = 0, for a generic point: N_t and N_u are independent."""
    draw, seen = Random(63), 0
    for N, n in ((3, 2), (3, 3), (4, 2)):
        for t, u in combinations(ending_in_zero(N, n), 2):
            if related(t, u) is not None or draw.random() < 0.6:
                continue
            G = tuple(draw.sample(range(n), draw.randint(0, n)))
            e, pos = embeddings(N, n, draw.choice((None, G)), draw)
            m = [draw.randint(2, 10**6) for _ in range(N)]
            forms = fmpz_mat([[m[i] for i in x] for x in (t, u)])
            kernel = forms.nullspace()[0].tolist()
            factors = [draw.randint(1, 10**6) for _ in range(n + 1 - forms.rank())]
            point = [sum(f * int(row[k]) for k, f in enumerate(factors)) for row in kernel]
            N_t, N_u = (
                [
                    sum(point[s] * m[i] * (e[i][k] + pos[s][k]) for s, i in enumerate(x))
                    for k in (0, 1)
                ]
                for x in (t, u)
            )
            assert sum(a * m[i] for a, i in zip(point, t, strict=True)) == 0
            assert N_t[0] * N_u[1] != N_t[1] * N_u[0]
            seen += 1
    assert seen > 100


def test_quotient_of_a_related_pair_splits() -> None:
    """On Z_t = 0: det(N_t, N_u) / Z_u = det(N_t, ξ) + det(N_t, Σ_D u_s pos_s) / u_D, exactly."""
    draw = Random(64)
    for _ in range(80):
        n = draw.randint(2, 4)
        t = [0 if draw.random() < 0.6 else draw.randint(0, 2) for _ in range(n)]
        D = [s for s in range(n) if t[s] == 0 and draw.random() < 0.7]
        if not D:
            continue
        m = [fmpq(draw.randint(1, 9)) for _ in range(2)] + [fmpq(11)]
        if m[0] == m[1]:
            continue
        x = [[fmpq(draw.randint(-9, 9)) for _ in range(2)] for _ in range(n + 1)]  # positions
        e = [[fmpq(draw.randint(-9, 9)) for _ in range(2)] for _ in range(3)]
        tokens = [*t, 2]
        u = [fmpq(draw.randint(-9, 9)) for _ in range(n)]
        u.append(-sum(u, fmpq(0)))
        u_D = sum((u[s] for s in D), fmpq(0))
        if u_D == 0:
            continue
        weight = [a / m[i] for a, i in zip(u, tokens, strict=True)]  # the numbers n_s

        def numerator(
            y: list[int], weight: list[fmpq] = weight, m: list[fmpq] = m, e: Any = e, x: Any = x
        ) -> list[fmpq]:
            return [
                sum(
                    (w * m[i] * (e[i][k] + p[k]) for w, i, p in zip(weight, y, x, strict=True)),
                    fmpq(0),
                )
                for k in (0, 1)
            ]

        moved = [1 if s in D else i for s, i in enumerate(tokens)]
        Z = sum((w * m[i] for w, i in zip(weight, moved, strict=True)), fmpq(0))
        N_t, N_u = numerator(tokens), numerator(moved)
        xi = [(m[1] * e[1][k] - m[0] * e[0][k]) / (m[1] - m[0]) for k in (0, 1)]
        spread = [sum((u[s] * x[s][k] for s in D), fmpq(0)) / u_D for k in (0, 1)]
        left = (N_t[0] * N_u[1] - N_t[1] * N_u[0]) / Z
        right = N_t[0] * (xi[1] + spread[1]) - N_t[1] * (xi[0] + spread[0])
        assert left == right


# --- combinatorics -------------------------------------------------------------------------------


def test_triangles_of_related_sequences_have_one_colour_or_lie_on_a_line() -> None:
    for N, n in ((3, 2), (4, 2), (3, 3)):
        for t, u, x in combinations(ending_in_zero(N, n), 3):
            colours = [related(t, u), related(t, x), related(u, x)]
            if None in colours:
                continue
            places = {
                tuple(s for s in range(n) if y[s] != z[s]) for y, z in ((t, u), (t, x), (u, x))
            }
            on_a_line = len(places) == 1 and len(set(colours)) == 3
            assert len(set(colours)) == 1 or on_a_line


def test_sequences_off_a_line_have_one_colour_to_it() -> None:
    """A sequence that is not on the line of t, u, x is related to these by one pair of tokens."""
    everything = ending_in_zero(3, 3)
    for t, u, x in combinations(everything, 3):
        colours = {related(t, u), related(t, x), related(u, x)}
        if None in colours or len(colours) < 3:
            continue
        for y in everything:
            found = {related(y, z) for z in (t, u, x)} - {None}
            assert len(found) <= 1 or y in (t, u, x)


def test_squares_share_at_most_two_sequences() -> None:
    for N, n in ((2, 3), (3, 2), (4, 2)):
        squares = [set(q) for q in combinations(ending_in_zero(N, n), 4) if is_square(q)]
        assert all(len(a & b) <= 2 for a, b in combinations(squares, 2))


SIZES = ((2, 3), (2, 4), (3, 2), (4, 2), (5, 2), (3, 3))


@pytest.mark.claim(
    "lemmax/edges-leave-four",
    grade="property",
    scope="all or 300 random sets of six in six cubes and grids; 60 random sets of 8 to 12",
    statement="6a7ce4269821eb50",
)
def test_edges_leave_four_on_small_sets(sample: Sample) -> None:
    draw = Random(65)
    square = [(0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 0)]
    control = ([(2, 0, 0), (0, 2, 0), *square], [((2, 0, 0), (0, 2, 0))])
    assert is_edge(*control[1][0], control[0])
    for N, n in SIZES:
        for six in some_subsets(N, n, 6, 300, draw):
            sample(leave_no_square, list(six), edges_leaving_four(six)[0], control=control)
            assert max(sum(is_edge(t, u, six) for u in six if u != t) for t in six) >= 2
    for _ in range(60):
        N, n = draw.choice(((2, 4), (3, 3), (4, 2), (5, 2)))
        T = draw.sample(ending_in_zero(N, n), draw.choice((8, 10, 12)))
        sample(leave_no_square, T, edges_leaving_four(T)[0], control=control)


def leave_no_square(T: list[Sequence], removed: list[tuple[Sequence, Sequence]]) -> bool:
    """Whether the pairs are edges, one after the other, and leave four that are no square."""
    left = list(T)
    for t, u in removed:
        if not is_edge(t, u, left):
            return False
        left = [x for x in left if x not in (t, u)]
    return len(left) == 4 and not is_square(left)


def test_sets_of_two_and_of_four_have_an_edge() -> None:
    """And of three, but for (a, a), (a, b), (b, b) and their like with n = 2."""
    draw = Random(66)
    for N, n in SIZES:
        for size in (2, 3, 4, 5, 7):
            for T in some_subsets(N, n, size, 400, draw):
                if not any(is_edge(t, u, T) for t, u in combinations(T, 2)):
                    assert size == 3
                    assert n == 2
                    assert len({x for t in T for x in t[:2]}) == 2


# --- the last head -------------------------------------------------------------------------------


def rank_of_functions(
    four: list[tuple[int, int]], draw: Random, weights: tuple[int, int] | None
) -> int:
    """The rank of 1, the first row and all second rows of the limits of one head on two positions.

    Without weights: Σ κ(t_s), and Σ θ_s κ(t_s) + Σ η(t_s) for all θ, η. With weights w and other
    weights a: Σ w_s κ(t_s), and Σ a_s η(t_s) for all η.
    """
    kappa = [draw.randrange(P) for _ in range(7)]
    if weights is None:
        rows = [[kappa[t[s]] for t in four] for s in (0, 1)]
        rows += [[sum(x == i for x in t) for t in four] for i in range(7)]
    else:
        a = (weights[0] * 5, weights[1] * 7)
        rows = [[sum(w * kappa[x] for w, x in zip(weights, t, strict=True)) for t in four]]
        rows += [
            [sum(y for y, x in zip(a, t, strict=True) if x == i) for t in four] for i in range(7)
        ]
    return nmod_mat(fmpz_mat([[1] * 4, *rows]), P).rank()


def test_two_positions_tell_four_sequences_apart() -> None:
    """Tokens (a, b, c, c) at one position, and r ≠ s for the last two at the other: rank four.

    All 295 patterns of equal tokens, apart from those with four tokens at the second position,
    where that position alone suffices; two patterns need different weights.
    """
    draw, patterns, weighted = Random(67), 0, []
    for second in product(range(7), repeat=4):
        fresh = list(dict.fromkeys(x for x in second if x >= 3))
        if fresh != list(range(3, 3 + len(fresh))) or second[2] == second[3]:
            continue
        patterns += 1
        if len(set(second)) == 4:
            continue
        four: list[tuple[int, int]] = list(zip((0, 1, 2, 2), second, strict=True))
        if rank_of_functions(four, draw, None) < 4:
            weighted.append(second)
            assert rank_of_functions(four, draw, (2, 3)) == 4
    assert patterns == 295
    assert weighted == [(2, 2, 0, 1), (2, 2, 1, 0)]


def test_slope_of_a_head_in_a_perturbation_of_the_tokens() -> None:
    """d/dδ of Σ a_s (l_s + δ η_s), a ∝ w e^{δη}, is Σ w_s (1 + l_s - l̄) η_s / W: exact."""
    draw = Random(68)
    for _ in range(60):
        k = draw.randint(1, 4)
        w, ell, eta = ([fmpq(draw.randint(1, 9)) for _ in range(k)] for _ in range(3))
        W = sum(w, fmpq(0))
        mean = sum((a * b for a, b in zip(w, ell, strict=True)), fmpq(0)) / W
        # numerator Σ w (1 + δη)(l + δη) and denominator Σ w (1 + δη), to first order in δ
        first = sum((a * (b * c + c) for a, b, c in zip(w, ell, eta, strict=True)), fmpq(0))
        under = sum((a * c for a, c in zip(w, eta, strict=True)), fmpq(0))
        slope = first / W - mean * under / W
        formula = (
            sum((a * (1 + b - mean) * c for a, b, c in zip(w, ell, eta, strict=True)), fmpq(0)) / W
        )
        assert slope == formula


def test_four_sequences_that_are_no_square_have_one_of_three_patterns() -> None:
    """Four tokens at a position; or three, and another position; or three positions of two."""
    for N, n in ((4, 1), (3, 2), (2, 3), (4, 2)):
        for four in combinations(product(range(N), repeat=n), 4):
            classes = [len({t[s] for t in four}) for s in range(n)]
            if max(classes) >= 3:
                continue
            rows = [[1, *(int(x == y) for x, y in zip(t, four[0], strict=True))] for t in four]
            assert (fmpz_mat(rows).rank() == 4) == (not is_square(four))


# --- ranks and memories --------------------------------------------------------------------------


@pytest.mark.claim(
    "lemmax/wide-head-rank",
    grade="property",
    scope="300 random sets, N <= 5, S = 3 or 4, H <= 4, T₀ <= 11; modulo a prime",
    statement="4050fe910d03b3cf",
)
def test_wide_head_rank(sample: Sample) -> None:
    draw = Random(69)
    for seed in range(300):
        N, S, H = draw.randint(2, 5), draw.choice((3, 4)), draw.randint(1, 4)
        everything = list(product(range(N), repeat=S))
        if draw.random() < 0.6:  # most sequences with one last token, and many of them related
            everything = [t for t in everything if t[-1] == 0 or draw.random() < 0.1]
            everything = [t for t in everything if t[0] == 0 or draw.random() < 0.4]
        T = draw.sample(everything, min(len(everything), draw.randint(2, 11)))
        K = len({t[-1] for t in T})
        rank = min(len(T), 2 * H + min(2, K))
        pairs = [(0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 0)]
        sample(has_rank, T, H, seed, rank, control=(pairs, 1, 1, 4))


def has_rank(T: list[Sequence], H: int, seed: int, rank: int) -> bool:
    """Whether W_V A' has this rank modulo a prime, for random weights with d = d_h = 2."""
    N, S = 1 + max(x for t in T for x in t), len(T[0])
    return aot_rank(generic_aot(N, S, 2, 2, H, seed, rank_one=False), T).lower == rank


@pytest.mark.claim(
    "lemmax/corollary-1-one-last-token",
    grade="property",
    scope="N = 3 or 4, S = 3 or 4, H = 2 or 3; labels that the relation of other weights excludes",
    statement="25fcdfaedcf25ae5",
)
@pytest.mark.claim(
    "dana/corollary-1-many-heads",
    grade="property",
    scope="d_h = 2, N = 3 or 4, S = 3 or 4, H = 2 or 3, one last token; labels that resist",
    statement="ae4488384c496c84",
)
def test_corollary_1_many_heads_on_labels_that_resist(sample: Sample) -> None:
    draw = Random(70)
    for seed in range(14):
        N, S, H = draw.choice(((3, 3, 2), (3, 4, 2), (4, 3, 3), (4, 4, 2)))
        T = draw.sample(ending_in_zero(N, S - 1), 2 * H + 2)
        model = generic_aot(N, S, 2, 2, H, seed, rank_one=False, size=2)
        dyadic = AoT(model.tokens, model.e, model.pos, model.W_U, model.heads, unit="ln2")
        v = one_relation(rational_features(dyadic, T))
        if v is None or 0 in v:
            continue
        labels = [int(x > 0) for x in v]
        assert not suits(v, labels)
        pairs = dict(zip(T, labels, strict=True))
        memory = relation_memory(pairs, H, 2, seed=seed + 1)
        wrong = {t: 1 - label for t, label in pairs.items()}
        sample(memorized, memory, pairs, H, control=(memory, wrong, H))


def memorized(memory: Any, pairs: dict[Sequence, int], H: int) -> bool:
    known = memory.model.memorizes(pairs) and memory.margin > 0
    return bool(known and len(pairs) == memory.capacity == 2 * H + 2)
