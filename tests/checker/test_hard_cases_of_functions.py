"""The last units of functions of balls: where they are rounded, what errors they are charged with.

Numbers that nearly are integers, and functions whose parts are replaced by known ones: the rules
hold for whatever is known of π and of exp.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction

import pytest
from benchmarks.corpus import counted
from flint import arb, ctx, fmpq

from lemmax.checker.limits import Undecided
from lemmax.checker.models import functions
from lemmax.checker.models.functions import Functions, pi
from lemmax.checker.models.vectors import Ball, times

BITS = 32
ONE = 1 << BITS
Pair = tuple[int, int]


def normal_distribution(x: Fraction) -> arb:
    return (1 + (arb(fmpq(*x.as_integer_ratio())) / arb(2).sqrt()).erf()) / 2


def exponential(x: Fraction) -> arb:
    return (-arb(fmpq(*x.as_integer_ratio()))).exp()


@pytest.mark.parametrize("bits", [10, 171, 231, 325, 384])
def test_pi_lies_between_two_or_three_integers(bits: int) -> None:
    low, high = pi(bits)
    assert low < arb.pi() * arb(2) ** bits < high
    assert high - low == (2 if bits in (10, 171) else 1)


def test_pi_is_known_up_to_forty_parts_for_each_bit() -> None:
    """Up to 40 (2141 + 16) parts of 2^16, and then the bounds are rounded outwards."""
    bits, ctx.prec = 2141, 2400
    low, high = pi(bits)
    value, parts = arb.pi() * arb(2) ** bits, 40 * (bits + 16)
    assert -(2**16) <= (low - value) * 2**16 + parts <= 0
    assert -(2**16) <= (high - 1 - value) * 2**16 - parts <= 0


@pytest.mark.parametrize(
    ("function", "bits", "x", "exact"),
    [
        ("exp", 17, 315842, exponential),
        ("exp", 16, 310835, exponential),
        ("normal", 12, 7644, normal_distribution),
    ],
)
def test_a_value_next_to_an_integer_is_told_from_it(
    function: str, bits: int, x: int, exact: Callable[[Fraction], arb]
) -> None:
    """It misses one by less than 20 parts of 2^16, and lies between that and the next."""
    low, high = getattr(Functions(bits), function)(x)
    value = exact(Fraction(x, 1 << bits)) * (1 << bits)
    assert low < value < high == low + 1
    assert min(value - low, high - value) < arb(20) / 2**16


@pytest.mark.parametrize(
    ("function", "bits", "x", "exact"),
    [("exp", 17, 44946, exponential), ("normal", 17, 276457, normal_distribution)],
)
def test_a_value_next_to_an_integer_may_be_on_either_side(
    function: str, bits: int, x: int, exact: Callable[[Fraction], arb]
) -> None:
    low, high = getattr(Functions(bits), function)(x)
    assert low < exact(Fraction(x, 1 << bits)) * (1 << bits) < high


@pytest.mark.parametrize("bits", [32, 33, 64, 150])
def test_values_at_zero(bits: int) -> None:
    """1, 1/2 and 1/2: each of them is an integer, and one is left on both sides."""
    exact, one = Functions(bits), 1 << bits
    assert exact.exp(0) == (one - 1, one + 1)
    assert exact.logistic(0) == exact.normal(0) == (one // 2 - 1, one // 2 + 1)


def test_far_away_nothing_is_computed() -> None:
    """exp(-x) < 2^-32 for x >= 32; 1 - Φ(x) < 2^-32 for x > 8, where x² / 2 is 32."""
    exact = Functions(BITS)
    exact.normal(8 * ONE - 1)
    with counted() as bill:
        assert exact.exp(BITS << BITS) == (0, 1)
        assert exact.normal((8 << BITS) + 1) == (ONE - 1, ONE)
        assert exact.normal((-8 << BITS) - 1) == (0, 1)
    assert bill.sums == {"work": 0, "memory": 0}
    with counted() as bill:
        exact.normal(8 << BITS)
    assert bill.sums["work"] > 0


def test_terms_of_the_normal_distribution() -> None:
    """By Cauchy each is 2^7 times less than the one before: (34 + 16 + 12) / 7, and two more."""
    exact = Functions(34)
    assert exact.terms == 8 + 2
    coefficients, _ = exact.expansions(5)
    assert len(coefficients) == exact.terms + 1


# --- the series and the expansions of Φ ---------------------------------------------------------


def given(
    monkeypatch: pytest.MonkeyPatch, density: Pair, of_pi: tuple[Fraction | int, Fraction | int]
) -> Functions:
    """Functions that know of π, and of 2^w exp, no more than that they are in these bounds."""
    monkeypatch.setattr(functions, "exp_minus", lambda *_: density)
    exact = Functions(BITS)
    exact.pi = int(of_pi[0] * 2**exact.w), int(of_pi[1] * 2**exact.w)
    return exact


W = BITS + 16  # bits of what is computed for values with 32 bits
HALF = 1 << W - 1
GUARD = 18  # more bits of the series around 1: it is a multiple of 2^-(48 + 18)
SERIES = sum(  # 1 + 1/3 + 1/(3 · 5) + ...
    itertools.accumulate((Fraction(1, n) for n in range(3, 99, 2)), operator.mul), Fraction(1)
)


def test_a_half_is_a_half() -> None:
    assert Functions(BITS)._normal_series(0) == (HALF, HALF + 1)


@pytest.mark.parametrize("k", [1, 3, 16, 17, 40, 64])
def test_the_series_lies_between_two_integers(k: int) -> None:
    low, high = Functions(BITS)._normal_series(k)
    assert low < normal_distribution(Fraction(k, 16)) * 2**W < high == low + 1


def test_the_sum_of_the_series_is_rounded_down_and_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """With π = 2 and so large an exponential the sum itself is seen."""
    large = 1 << W + 2 * GUARD + 1
    low, high = given(monkeypatch, (large, large), (2, 2))._normal_series(16)
    assert low - HALF <= SERIES * 2 ** (W + GUARD) <= high - HALF
    assert high - low < 2 * 50


def test_a_short_series_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """1/16 (1 + 1/768 + 1/(768 · 1280) + ...), in units of 2^-19: 32768, 42.7, 0.03 and less.

    Rounded down they are 32768 + 42 and one less, for the root is taken to be larger; rounded up
    32768 + 43 + 1, the last once more for all that follow, and one more. Besides there is 1/2.
    """
    exact = given(monkeypatch, (1 << 37, 1 << 37), (1, 1))
    exact.w, exact.pi = 1, (1, 1)
    assert exact._normal_series(1) == (1 + 32768 + 42 - 1, 1 + 32768 + 43 + 1 + 1 + 1)


def test_the_series_has_what_is_known_of_pi_and_of_exp(monkeypatch: pytest.MonkeyPatch) -> None:
    """π in [2, 8] and exp in [2^60, 2^61]: the values are the series times exp over sqrt(2π)."""
    low, high = given(monkeypatch, (1 << 60, 1 << 61), (2, 8))._normal_series(16)
    assert low - HALF <= SERIES * 2 ** (60 - GUARD) / 4
    assert high - HALF >= SERIES * 2 ** (61 - GUARD) / 2


@pytest.mark.parametrize(
    ("density", "above", "below"),
    [
        (1114964, 0, 1),  # just above an integer: the next one is an upper bound
        (1114962, 2**GUARD - 2, 2**GUARD - 1),  # less than two units below: the same
    ],
)
def test_the_series_is_rounded_up_to_the_next_integer(
    monkeypatch: pytest.MonkeyPatch, density: int, above: int, below: int
) -> None:
    """With π = 2; in units of 2^-18 the value is above a multiple of 2^18 by what is given."""
    value = SERIES * density / 2
    assert above < value % 2**GUARD < below
    _, high = given(monkeypatch, (density, density), (2, 2))._normal_series(16)
    assert high - HALF == value // 2**GUARD + 1


def test_the_root_below_the_density_is_rounded_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """By one: it is 2^43 where π is 2^-47, and the lower end is smaller by one part of that."""
    tiny = Fraction(1, 2**47)
    low, _ = given(monkeypatch, (1 << 60, 1 << 60), (tiny, tiny))._normal_series(16)
    value, root = SERIES * 2 ** (W + GUARD + 60) / 2**43, 2**43
    found = Fraction((low - HALF) << GUARD)
    assert value * (1 - Fraction(3, 2 * root)) < found <= value


class Around(Functions):
    """What the series gives is known: a half, up to one unit."""

    def _normal_series(self, k: int) -> Pair:
        return HALF, HALF + 1


def expansion(
    monkeypatch: pytest.MonkeyPatch, k: int, error: int, of_pi: Pair = (2, 2)
) -> tuple[list[int], int, int]:
    """With π = 2 and exp in [4, 4 + 2 (error - 2)]: φ is 2, known up to so many units."""
    bits = Around(BITS).w
    low = 4 << bits
    monkeypatch.setattr(functions, "exp_minus", lambda *_: (low, low + 2 * (error - 2)))
    exact = Around(BITS)
    exact.pi = of_pi[0] << bits, of_pi[1] << bits
    coefficients, total = exact._expansion(k)
    return coefficients, total, exact.terms


def test_at_zero_the_distribution_is_odd_but_for_a_half(monkeypatch: pytest.MonkeyPatch) -> None:
    """φ = 2 (1 - x²/2 + ...), divided by a root that is one unit too large: 2 less one unit."""
    coefficients, _, _ = expansion(monkeypatch, 0, 2)
    assert coefficients[:2] == [HALF, (2 << W) - 1]
    assert coefficients[2::2] == [0] * len(coefficients[2::2])
    assert abs(coefficients[3] + Fraction(2 << W, 6)) <= 1


# The coefficient t_n of φ around y is off by e_n = ((y + 1) e_(n-1) + e_(n-2)) / n + 3 units, which
# count as e_n / 32^(n+1) in the value, and each term as two units more; the half as one unit.
@pytest.mark.parametrize(
    ("k", "errors"),
    [
        (0, [2, 2 + 3]),
        (0, [1020, 1020 + 3, (1023 + 1020) // 2 + 3]),
        (0, [1021, 1021 + 3, (1024 + 1021) // 2 + 3]),
        (0, [2**20, 2**20 + 3, 2**20 + 1 + 3, (2**21 + 7) // 3 + 3]),
        (15, [2**20, 2**20 + 3, 2**20 + 1 + 3, (2**21 + 7) // 3 + 3]),
        (16, [2**20, 2**21 + 3, (5 * 2**20 + 6) // 2 + 3, (7 * 2**20 + 15) // 3 + 3]),
        (
            32,
            [
                2**20,
                3 * 2**20 + 3,
                (10 * 2**20 + 9) // 2 + 3,
                (18 * 2**20 + 24) // 3 + 3,
                (23 * 2**20 + 40) // 4 + 3,
            ],
        ),
    ],
)
def test_the_errors_of_an_expansion(
    monkeypatch: pytest.MonkeyPatch, k: int, errors: list[int]
) -> None:
    _, total, terms = expansion(monkeypatch, k, errors[0])
    assert total == 1 + sum(e >> 5 * (n + 1) for n, e in enumerate(errors)) + 2 * terms


def test_an_expansion_has_what_is_known_of_pi(monkeypatch: pytest.MonkeyPatch) -> None:
    """π in [2, 8], exp = 4: φ is in [1, 2], so that its error is one, and counts as 1/32."""
    coefficients, total, _ = expansion(monkeypatch, 0, 2, (2, 8))
    assert coefficients[1] <= 1 << W
    assert total >= (2 << W) - coefficients[1] >> 5


def test_a_value_has_the_error_of_its_expansion(monkeypatch: pytest.MonkeyPatch) -> None:
    """The expansion is c, known up to e units of 2^-16, and Horner's rule takes four more."""
    exact = Functions(BITS)
    for c, error in itertools.product((5, 2**20 + 4), (0, 10 * 2**16 + 1)):
        monkeypatch.setattr(exact, "expansions", lambda _, known=([c], error): known)
        for x in (0, ONE // 16 - 1, ONE // 16):  # at k/16 and below: h is zero, or negative
            low, high = exact.normal(x)
            assert low == (c - error - 4) // 2**16
            assert high == (c + error + 4) // 2**16 + 1


# --- of vectors ---------------------------------------------------------------------------------


def test_the_share_of_a_single_score_is_one() -> None:
    """exp(0) is one unit around 1: their quotient is between 1 - 2 units and 1, as it is cut off.

    The middle of these, half of their distance, and one for the half that is lost.
    """
    assert Functions(BITS).softmax([(5 * ONE, 0)]) == [(ONE - 1, 2)]


def test_shares_of_equal_scores_are_halves() -> None:
    for center, radius in Functions(BITS).softmax([(0, 0), (0, 0)]):
        assert center - radius <= ONE // 2 <= center + radius
        assert radius <= 3


def test_one_unit_that_is_known_to_be_left_suffices() -> None:
    """With a score known up to r the exponential of -2r is a lower bound: 1.5 units, or none."""
    exact = Functions(BITS)
    radius = 46763454000  # 2^32 exp(-2 radius / 2^32) = 1.5...
    assert exact.exp(2 * radius) == (1, 2)
    ((center, off),) = exact.softmax([(0, radius)])
    assert center - off <= 0
    assert ONE <= center + off <= ONE + 1
    with pytest.raises(
        Undecided, match=r"^the attention scores are not known well enough at this p"
    ):
        exact.softmax([(0, 2 * radius)])


def test_a_variance_that_may_be_zero_is_undecided() -> None:
    """x² is at least x̂² - 2 e |x̂| - e² for a radius of e: -1/4, and eps = 1/4; less is known."""
    exact = Functions(BITS)
    for eps, radius in ((Fraction(1, 4), ONE // 2), (Fraction(0), 0)):
        with pytest.raises(
            Undecided, match=r"^the variance before a norm may be zero at this precision\Z"
        ):
            exact.normalised(Ball([0], radius), "rms", eps)


def test_a_variance_of_one_unit_is_known() -> None:
    """eps = 2^-64: one unit of 2^-64 is positive, and zero over its root is zero."""
    exact = Functions(BITS)
    assert exact.normalised(Ball([0], 0), "rms", Fraction(1, ONE**2)) == Ball([0], 1)


def test_a_norm_of_a_wide_ball_is_decided() -> None:
    """10 ± 4 is at least 6, and 100 - 80 - 16 > 0; its norm is one."""
    image = Functions(BITS).normalised(Ball([10 * ONE], 4 * ONE), "rms", Fraction(0))
    assert abs(image.center[0] - ONE) <= image.radius


def rms(x: Sequence[Fraction]) -> list[arb]:
    square = sum((a * a for a in x), Fraction(0)) / len(x)
    return [
        arb(fmpq(*a.as_integer_ratio())) / arb(fmpq(*square.as_integer_ratio())).sqrt() for a in x
    ]


@pytest.mark.parametrize(
    ("x", "radius"),
    [((1, 89), 0), ((1, 700), 0), ((1, 983), 0), ((1, 0), ONE // 8), ((3, 4), ONE // 2)],
)
def test_a_norm_of_a_ball_encloses_those_of_its_points(x: tuple[int, int], radius: int) -> None:
    ball = Ball([a * ONE for a in x], radius)
    image = Functions(BITS).normalised(ball, "rms", Fraction(0))
    for signs in itertools.product((-1, 0, 1), repeat=2):
        point = [Fraction(a * ONE + s * radius, ONE) for a, s in zip(x, signs, strict=True)]
        for center, value in zip(image.center, rms(point), strict=True):
            assert not abs(value * ONE - center) > image.radius


@pytest.mark.parametrize(("x", "radius"), [((5, 2), 203), ((8, 3), 147)])
def test_a_norm_has_the_error_of_its_root_and_one_of_rounding(
    x: tuple[int, int], radius: int
) -> None:
    """With Σ x² known up to 2 e Σ |x| + 2 e²; rounded up, and one unit more."""
    image = Functions(BITS).normalised(Ball([a * ONE for a in x], radius), "rms", Fraction(0))
    squares, wide = sum(a * a for a in x) * ONE**2, 2 * radius * sum(x) * ONE + 2 * radius**2
    least, most = ((arb(2) / (squares + sign * wide)).sqrt() for sign in (1, -1))
    error = (max(x) * ONE * (most - least) + radius * most) * ONE
    assert image.radius - 2 < error < image.radius - 1


def test_a_gate_is_in_the_middle_of_its_bounds() -> None:
    """A gate in [0, 8] units is 4 ± 4; one more for a half that is lost, one for the product."""
    for error in (0, 5):
        gated = Functions(BITS).gated(Ball([ONE], 0), [(0, 8)], error)
        assert gated == Ball([4], error + 4 + 1 + 1)


class Halves(Functions):
    """Gates that are a half, whatever x is."""

    def normal(self, x: int) -> Pair:
        return ONE // 2, ONE // 2

    def logistic(self, y: int) -> Pair:
        return ONE // 2, ONE // 2


def test_a_gelu_has_two_fifths_of_the_radius_in_its_gate() -> None:
    """1 ± 20 units times 1/2 ± (8 + 1): 10 of the radius, 9 of the gate, their product, and one."""
    assert Halves(BITS).gelu(Ball([ONE], 20)) == Ball([ONE // 2], 10 + 9 + 1 + 1)


def test_the_errors_of_a_gelu_by_tanh(monkeypatch: pytest.MonkeyPatch) -> None:
    """With π = 2 the root of 8/π is 2, known up to one unit; b = 1.044715 is cut off.

    The square of 1 is known up to one unit, b to two, 1 · b to three, and so
    (2 + u) (b ± 3u) is known up to b + 3 · 2 units, that is 8 if they are rounded up, and one.
    """
    seen = list[Ball]()

    def seeing(x: Ball, y: Ball, bits: int) -> Ball:
        seen.append(times(x, y, bits))
        return seen[-1]

    monkeypatch.setattr(functions, "times", seeing)
    exact = Halves(BITS)
    exact.pi = 2 << exact.w, 2 << exact.w
    exact.gelu_tanh(Ball([ONE], 0))
    b = ONE + ONE * 44_715 // 1_000_000
    square, inside, y, _ = seen
    assert (square, inside) == (Ball([ONE], 1), Ball([b], 3))
    assert y == Ball([(2 * ONE + 1) * b >> BITS], 9)
