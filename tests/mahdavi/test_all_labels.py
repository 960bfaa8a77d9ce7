"""Capacity for all labels: linearised pairs of heads, and one head that sees sectors of a plane."""

from fractions import Fraction
from itertools import product
from math import ceil
from random import Random

import pytest
import sympy
from flint import fmpz_mat, nmod_mat
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lemmax.pytest_plugin.properties import Sample
from lemmax.pytest_plugin.symbolic import Symbolic
from lemmax.theory.numbers.primes import MERSENNE_61

generators = st.integers(0, 2**32 - 1).map(Random)
Point = tuple[Fraction, Fraction]


def memorized(n: int, d: int, H: int, d_h: int) -> int:
    """The largest T that the construction reaches."""
    r = min(d_h, n - 1)
    if H >= 2:
        return H // 2 * r * d
    g = min(r - 2, n // 2)
    return max(d, (g - 1) * d if g >= 3 else 0)


def dimension(n: int, d: int, H: int, d_h: int) -> int:
    r = min(d_h, n - 1, d)
    return H * (r * (n - 1 + d - r) + n - 1) + 1


# --- pairs of heads ------------------------------------------------------------------------------


@pytest.mark.parametrize("r", [1, 2, 3])
def test_derivative_of_a_pair_of_heads(r: int) -> None:
    """With tokens m_0 of logit 0 and r of logit x_k, the mass of the latter has the slope
    m_0 y_k / Z² in x_k."""
    x, m = sympy.symbols(f"x1:{r + 1}", real=True), sympy.Symbol("m0", positive=True)
    Z = m + sum(map(sympy.exp, x))
    mass = sum(map(sympy.exp, x)) / Z
    for xk in x:
        assert sympy.simplify(sympy.diff(mass, xk) - m * sympy.exp(xk) / Z**2) == 0


def features_modulo(n: int, d: int, P: int, r: int, T: int, draw: Random) -> nmod_mat:
    """y_k e_i / Z² at T integer queries for P pairs, with z^l for exp l modulo a prime."""
    p, z = MERSENNE_61, draw.randrange(2, MERSENNE_61)
    W = [[[draw.randint(-999, 999) for _ in range(d)] for _ in range(r)] for _ in range(P)]
    rows = []
    for _ in range(T):
        e = [draw.randint(-999, 999) for _ in range(d)]
        row = []
        for pair in W:
            y = [pow(z, sum(a * b for a, b in zip(w, e, strict=True)) % (p - 1), p) for w in pair]
            inverse = pow(n - r + sum(y), -2, p)
            row += [yk * inverse * ei % p for yk in y for ei in e]
        rows.append(row)
    return nmod_mat(fmpz_mat(rows), p)


def independent(features: nmod_mat, n: int, d: int, H: int, r: int) -> bool:
    """Whether there are as many examples as are memorized, and their features are independent."""
    return bool(features.rank() == features.nrows() == memorized(n, d, H, r))


@pytest.mark.claim(
    "lemmax/all-labels-capacity",
    grade="property",
    scope="n <= 6, d <= 6, H <= 6, T <= 90: the linearised features have rank T modulo a prime",
    statement="fba9e8086366a931",
)
@settings(max_examples=50)
@given(generators)
def test_features_of_pairs_are_independent(sample: Sample, draw: Random) -> None:
    """A rank modulo a prime bounds the rank for almost all queries from below."""
    d = draw.randint(2, 6)
    n, P = draw.randint(2, d), draw.randint(1, 3)
    r = draw.randint(1, n - 1)
    T = P * r * d
    features = features_modulo(n, d, P, r, T, draw)
    sample(independent, features, n, d, 2 * P, r, control=(0 * features, n, d, 2 * P, r))


@given(generators)
def test_vectors_on_the_pole_span_everything(draw: Random) -> None:
    """The y with Σ y = -m_0 and no zero entry span C^r, r = 1 included."""
    r, m = draw.randint(1, 5), draw.randint(1, 4)
    rows = []
    for k in range(r):
        y = [1] * r
        y[k] = 0
        y[k] = -m - sum(y)
        rows.append(y)
    assert all(all(row) for row in rows)
    assert all(sum(row) == -m for row in rows)
    assert fmpz_mat(rows).rank() == r


# --- one head ------------------------------------------------------------------------------------


def test_one_token_against_the_others_is_a_bijection(symbolic: Symbolic) -> None:
    """R (e^x - k) / (e^x + k) = y at e^x = k (R + y) / (R - y), which is positive iff |y| < R."""
    R, k, y = sympy.symbols("R k y", positive=True)
    ex = k * (R + y) / (R - y)
    symbolic.identity(R * (ex - k) / (ex + k), y)


def on_circle(s: Fraction) -> Point:
    """The rational point of the unit circle at the angle 2 arctan s; its angle grows with s."""
    return (1 - s * s) / (1 + s * s), 2 * s / (1 + s * s)


def cross(a: Point, b: Point) -> Fraction:
    return a[0] * b[1] - a[1] * b[0]


def dot(a: Point, b: Point) -> Fraction:
    return a[0] * b[0] + a[1] * b[1]


def rays_between(parameters: list[Fraction], most: int) -> list[Point]:
    """Rays that cut the directions into sectors of angle < π with at most ``most`` of them each."""
    order = sorted(parameters)
    starts = range(most, len(order), most)
    cuts = [(order[i - 1] + order[i]) / 2 for i in starts]
    last = next(
        s
        for s in (order[-1] + 1, order[-1] + 2)  # two rays must not be opposite
        if len(cuts) > 1 or cross(on_circle(cuts[0]), on_circle(s)) != 0
    )
    rays = [on_circle(s) for s in (*cuts, last)]
    for i, a in enumerate(rays):
        b = rays[(i + 1) % len(rays)]
        if cross(a, b) <= 0:  # an angle of π or more: cut it once more
            grid = (Fraction(k, t) for t in range(1, 99) for k in range(-9 * t, 9 * t))
            middle = next(
                on_circle(s)
                for s in grid
                if cross(a, on_circle(s)) > 0 and cross(on_circle(s), b) > 0 and s not in order
            )
            return [*rays[: i + 1], middle, *rays[i + 1 :]]
    return rays


def vertices(rays: list[Point]) -> list[Point]:
    """The vertex of {x : ρ_i · x <= 1} between each ray and the following one."""
    made = []
    for a, b in zip(rays, [*rays[1:], rays[0]], strict=True):
        det = cross(a, b)
        made.append(((b[1] - a[1]) / det, (a[0] - b[0]) / det))
    return made


@settings(max_examples=60)
@given(
    st.lists(st.fractions(-4, 4, max_denominator=20), min_size=3, max_size=14, unique=True),
    st.integers(1, 4),
)
def test_one_head_sees_the_sector_of_a_query(parameters: list[Fraction], most: int) -> None:
    """Each query has its largest w_j · q at the vertex of its own sector, strictly; a sector has
    at most d queries, and there are at most ceil(T / d) + 1 of them, at least three."""
    assume(len(parameters) > most)
    rays = rays_between(parameters, most)
    corners = vertices(rays)
    assert 3 <= len(rays) <= ceil(len(parameters) / most) + 1
    assert all(dot(ray, w) <= 1 for ray in rays for w in corners)
    owners = []
    for s in parameters:
        q = on_circle(s)
        values = [dot(w, q) for w in corners]
        best = values.index(max(values))
        a, b = rays[best], rays[(best + 1) % len(rays)]
        assert values.count(max(values)) == 1
        assert cross(a, q) > 0
        assert cross(q, b) > 0
        owners.append(best)
    assert all(owners.count(j) <= most for j in range(len(rays)))


@given(generators)
def test_logits_of_one_head_have_rank_at_most_r(draw: Random) -> None:
    """Rows A w_j (a, b) + μ_j and A w_j (a, b): rank at most m + 2 <= r on 2m <= n tokens."""
    r = draw.randint(5, 9)
    n = draw.randint(r + 1, r + 4)
    d = draw.randint(n, n + 3)
    g = min(r - 2, n // 2)
    m = draw.randint(3, g)
    a, b = ([draw.randint(-9, 9) for _ in range(d)] for _ in range(2))
    rows = []
    for _ in range(m):
        w, mu = [draw.randint(-9, 9) for _ in range(2)], [draw.randint(-9, 9) for _ in range(d)]
        base = [w[0] * x + w[1] * y for x, y in zip(a, b, strict=True)]
        rows += [[x + y for x, y in zip(base, mu, strict=True)], base]
    rows += [rows[1]] * (n - 2 * m)
    assert len(rows) == n
    assert fmpz_mat(rows).rank() <= m + 2 <= r


# --- constants -----------------------------------------------------------------------------------


def test_a_ninth_of_the_dimension_is_reached() -> None:
    """9 T >= D for all 2 <= n <= d < 40, H <= 9 and every d_h."""
    for d in range(2, 40):
        for n, H in product(range(2, d + 1), range(1, 10)):
            for r in range(1, n):
                assert dimension(n, d, H, r) <= H * (2 * r + 1) * d
                assert 9 * memorized(n, d, H, r) >= dimension(n, d, H, r)


def test_the_bound_is_not_the_dimension() -> None:
    """n = d = 2, H = 2, d_h = 1: T = 2 is reached and D = 7; a constant above 2/7 is not shown."""
    assert (memorized(2, 2, 2, 1), dimension(2, 2, 2, 1)) == (2, 7)
