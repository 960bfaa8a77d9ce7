"""A conjectured formula for the feature rank with heads of any dimension, on random sets."""

from itertools import combinations, product
from random import Random

import pytest
from flint import fmpz_mat, nmod_mat

from lemmax.pytest_plugin.properties import Sample
from lemmax.theory.dana.generic import generic_aot
from lemmax.theory.dana.transformer_rank import aot_rank
from lemmax.theory.numbers.primes import MERSENNE_61

P = MERSENNE_61
Sequence = tuple[int, ...]


def rank(rows: list[list[int]]) -> int:
    return int(nmod_mat(fmpz_mat(rows), P).rank()) if rows else 0


def spread(t: Sequence, weights: list[int], N: int) -> list[int]:
    """Σ_s w_s (ε_{t_s} + π_s)."""
    row = [0] * (N + len(t))
    for s, (i, w) in enumerate(zip(t, weights, strict=True)):
        row[i] += w
        row[N + s] += w
    return [x % P for x in row]


def rank_formula(T: list[Sequence], d: int, d_h: int, H: int, draw: Random) -> int:
    """The right side of the claim; 2^T₀ subsets are tried."""
    N, S = 1 + max(x for t in T for x in t), len(T[0])
    m, n = ([[draw.randrange(1, P) for _ in range(k)] for _ in range(N)] for k in (N, S))
    lifted, steps = {}, {}
    for t in T:
        u = [m[t[-1]][i] * n[t[-1]][s] % P for s, i in enumerate(t)]
        inverse = pow(sum(u), -1, P)
        lifted[t] = spread(t, [x * inverse % P for x in u], N)
        unit = [[int(s == k) - int(s == S - 1) for s in range(S)] for k in range(S - 1)]
        steps[t] = [spread(t, w, N) for w in unit]
    best = len(T)
    for size in range(1, len(T) + 1):
        for F in combinations(T, size):
            last = sorted({t[-1] for t in F})
            r = rank([row for t in F for row in steps[t]])
            classes = [[int(t[-1] == j) for j in last] + lifted[t] for t in F]
            sigma, K = rank(classes) - len(last), len(last)
            bound = min(min(d, K) + H * min(d_h, d, r), K + H * min(d_h, sigma))
            best = min(best, len(T) - size + bound)
    return best


def agrees(T: list[Sequence], d: int, d_h: int, H: int, seed: int, value: int) -> bool:
    """Whether random integer weights give this rank modulo a prime."""
    N, S = 1 + max(x for t in T for x in t), len(T[0])
    return aot_rank(generic_aot(N, S, d, d_h, H, seed, rank_one=False), T).lower == value


@pytest.mark.claim(
    "lemmax/aot-rank-wide",
    grade="property",
    scope="200 random sets, N <= 3, S = 3 or 4, 2 <= d_h <= d <= 4, H <= 2, T₀ <= 8",
    statement="38402cc9e4bf8658",
)
def test_aot_rank_wide_formula_on_random_sets(sample: Sample) -> None:
    draw, below = Random(71), 0
    cube = [(*t, 0) for t in product((0, 1), repeat=2)]  # rank 3 with one head, not 4
    for seed in range(200):
        N, S, H, d = (
            draw.randint(2, 3),
            draw.choice((3, 3, 4)),
            draw.randint(1, 2),
            draw.randint(2, 4),
        )
        d_h = draw.randint(2, d)
        everything = list(product(range(N), repeat=S))
        if draw.random() < 0.6:
            everything = [t for t in everything if t[-1] == 0 or draw.random() < 0.15]
        T = draw.sample(everything, min(len(everything), draw.randint(3, 8)))
        value = rank_formula(T, d, d_h, H, draw)
        below += value < len(T)
        sample(agrees, T, d, d_h, H, seed, value, control=(cube, 4, 4, 1, 1, 4))
    assert below > 40  # in many cases the formula says less than T₀


def test_formula_is_that_of_dimension_two() -> None:
    """d = d_h = 2: the minimum is min(T₀, 2H + min(2, K))."""
    draw = Random(72)
    for _ in range(40):
        N, S, H = draw.randint(2, 4), draw.choice((3, 4)), draw.randint(1, 3)
        everything = list(product(range(N), repeat=S))
        T = draw.sample(everything, min(len(everything), draw.randint(1, 7)))
        K = len({t[-1] for t in T})
        assert rank_formula(T, 2, 2, H, draw) == min(len(T), 2 * H + min(2, K))


def test_grid_without_a_point_has_the_rank_that_shared_scores_allow() -> None:
    """The 3 × 3 grid minus a point, d = d_h = 4, H = 2: rank 7, since positions share scores."""
    T = [(*t, 0) for t in product(range(3), repeat=2)][:-1]
    draw = Random(73)
    assert rank_formula(T, 4, 4, 2, draw) == 7
    assert agrees(T, 4, 4, 2, 5, 7)
