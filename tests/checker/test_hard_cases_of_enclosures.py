"""Numbers closest to an integer, where the last unit of an enclosure is seen; flint is the judge.

Exponentials and logarithms are taken to 16 bits more than they are told to, so that numbers which
miss an integer by few parts of 2^16 are told from it, and none that misses it by less is lost.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from benchmarks.corpus import counted
from flint import arb, fmpq

from lemmax.checker import enclosures
from lemmax.checker.enclosures import (
    Logits,
    exp_minus,
    ln2,
    log_bounds,
    power,
    probability_at_least,
    probably,
)

FINE = 1 << 240


def ball(x: Fraction | int) -> arb:
    return arb(fmpq(*Fraction(x).as_integer_ratio()))


def fraction(x: arb) -> Fraction:
    """A rational that is the number up to 2^-240."""
    whole = (x * FINE).floor().unique_fmpz()
    assert whole is not None
    return Fraction(int(whole), FINE)


def agrees(found: tuple[int, int], value: arb, m: int, parts: float, sharp: bool) -> None:
    """The enclosure has the value, and ends with the integer m if it is sharp."""
    low, high = found
    assert not value < low
    assert not value > high
    if sharp:
        assert found == ((m, m + 1) if parts > 0 else (m - 1, m))


@pytest.mark.parametrize(
    ("bits", "m", "parts", "sharp"),
    [
        (2, 1, -1.0, False),
        (2, 1, 1.3, True),
        (2, 3, -1.8, True),
        (2, 2, -2.0, True),
        (4, 2, 0.03, False),
        (8, 253, 0.05, False),
        (8, 253, -2.0, True),
        (8, 100, 2.4, True),
        (64, 2**63 + 5, 64.0, True),
    ],
)
def test_an_exponential_next_to_an_integer(bits: int, m: int, parts: float, sharp: bool) -> None:
    """2^bits e^-x is m and so many parts of 2^16."""
    wanted = m + Fraction(parts) / 2**16
    x = fraction((arb(1 << bits) / ball(wanted)).log())
    agrees(exp_minus(x, bits), (-ball(x)).exp() * (1 << bits), m, parts, sharp)


@pytest.mark.parametrize(
    ("bits", "m", "parts", "sharp"),
    [
        (3, 1, -0.4, False),
        (2, 1, 0.6, False),
        (8, 1, 0.04, False),
        (2, 1, -12.0, True),
        (2, 1, -5.0, False),
        (2, 1, 1.3, True),
        (2, 3, -2.0, False),
        (2, 3, -13.0, True),
        (64, 3 << 64, 20.0, True),
    ],
)
def test_a_logarithm_next_to_an_integer(bits: int, m: int, parts: float, sharp: bool) -> None:
    """2^bits ln x is m and so many parts of 2^16, and that of 1/x is the negative."""
    x = fraction((ball(m + Fraction(parts) / 2**16) / (1 << bits)).exp())
    value = ball(x).log() * (1 << bits)
    agrees(log_bounds(x, bits), value, m, parts, sharp)
    agrees(log_bounds(1 / x, bits), -value, -m, -parts, sharp)


@pytest.mark.parametrize(("t", "high"), [(1, 1), (2**15 - 5, 1), (2**15 - 4, 2)])
def test_the_upper_bound_of_a_small_logarithm_has_four_units_more(t: int, high: int) -> None:
    """ln x = 2 (y + y³/3 + ...) for y = (x - 1) / (x + 1), here of t units of 2^-80.

    One unit may have been cut off from y, one is for the term, which is rounded, and two are for
    the others, which come to less: 2 (t + 4) units of 2^-16, and the next integer.
    """
    y = Fraction(t, 2**80)
    assert log_bounds((1 + y) / (1 - y), 64) == (0, high)
    assert high == 2 * (t + 4) // 2**16 + 1


@pytest.mark.parametrize(
    ("bits", "k", "t", "terms"),
    [
        (1, 0, 32096, [32098, 642, 24, 2]),
        (4, 0, 256809, [256811, 5136, 186, 9, 1]),
        (1, 1, 39895, [39897, 309, 5, *(87383, 3237, 216, 18, 2, 1)]),
    ],
)
def test_upper_bounds_of_logarithms_by_hand(bits: int, k: int, t: int, terms: list[int]) -> None:
    """ln (2^k x) = 2 (y + y³/3 + y⁵/5 + ...), and so many times the same for y = 1/3.

    Units are 2^-16 of those asked for, for k = 1 they are 2^-17. One is added to y = t, or to the
    next lower integer for 1/3, one to its square and to every further power y^(2n+1), and one more
    where that is divided by 2n + 1; the powers end where they are one, and two stand for the rest.
    With one unit less in t the next integer is not reached.
    """
    unit = 2 ** (16 + k)
    total = 2 * (sum(terms) + 2 * (k + 1))
    assert total - 4 < total // unit * unit <= total
    for less in (0, 1):
        y = Fraction(t - less, unit << bits)
        assert log_bounds((1 + y) / (1 - y) * 2**k, bits)[1] == total // unit + 1 - less


@pytest.mark.parametrize(("t", "less"), [(1, 1), (2**16 - 4, 1), (2**16 - 3, 2)])
def test_the_lower_bound_next_to_one_has_four_units_less(t: int, less: int) -> None:
    """e^-x for x of t units of 2^-80: e^x is 1 + x, and the rest is not seen.

    One unit is for x, which may have been cut off, one for the first term and one for the second,
    both of them rounded up, and one is for the others: t + 4 units of 2^-16 are taken off 2^64.
    """
    low, _ = exp_minus(Fraction(t, 2**80), 64)
    assert 2**64 - low == less == -(-(t + 4) // 2**16)


@pytest.mark.parametrize("bits", [4, 64, 100])
def test_an_exponential_below_one_is_not_one(bits: int) -> None:
    """However small x > 0 is; for zero it is one, and nothing is computed for that."""
    for n in range(1, bits + 60):
        for x in (Fraction(1, 2**n), Fraction(9, 10 * 2**n)):
            low, high = exp_minus(x, bits)
            assert low < 1 << bits <= high + (1 << bits - min(n - 1, bits))
    with counted() as bill:
        assert exp_minus(Fraction(0), bits) == (1 << bits, 1 << bits)
    assert bill.sums["work"] == 0


@pytest.mark.parametrize(("more", "free"), [(0, True), (Fraction(1, 100), True), (-1, False)])
def test_far_away_nothing_is_computed(more: Fraction, free: bool) -> None:
    """2^64 e^-x is between zero and one for x >= 64, for e > 2, and this costs nothing."""
    with counted() as bill:
        assert exp_minus(64 + more, 64) == (0, 1)
    assert (bill.sums["work"] == 0) is free


def test_the_logarithm_of_two_is_a_sum_rounded_down() -> None:
    """Units of 2^-6: 32/1, 16/2 and 8/3 give 32 + 8 + 2.

    Each of three is rounded down by less than one, and what follows is below 2^-3, that is 8.
    """
    assert ln2(3) == (Fraction(42, 64), Fraction(42 + 3 + 8, 64))
    assert ln2(1) == (Fraction(1, 2), Fraction(1, 2) + Fraction(1 + 2, 4))
    for bits in (1, 2, 5, 30, 64):
        low, high = map(ball, ln2(bits))
        assert low < arb(2).log() < high


def test_the_logarithm_of_two_is_as_long_as_its_multiple_needs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """To 64 bits, to two more for s = 3, and to eight more: 3 ln 2 is a fraction over 2^148."""
    seen = list[Any]()
    monkeypatch.setattr(enclosures, "spend", lambda *given: seen.append(given))
    assert power(Fraction(3), "ln2", 64)[0] <= 1 << 61 <= power(Fraction(3), "ln2", 64)[1]
    assert ("An exponential", 4, 149, 149) in seen


# --- probabilities ------------------------------------------------------------------------------

FAR = 64  # at 64 bits the weight of a logit that is lower by this lies between 0 and 1 unit


@pytest.mark.parametrize(
    ("logits", "tau", "answer"),
    [
        # two equal logits have the probability 1/2 each
        ((0, 0), Fraction(1, 2), True),
        ((0, 0), Fraction(1, 2) + Fraction(1, 10**30), False),
        # e^-64 < 2^-64: the upper end of the gap is (2^64 - 1) - 2^64, one below zero
        ((-FAR, 0), Fraction(1, 2**64), False),
        # here it is 2^64 - 2^64: as far as is known both sides may be equal
        ((-FAR, 0), Fraction(1, 2**64 + 1), None),
        # and here the lower end is 1 · 2^64 - 2^64 · 1
        ((0, -FAR), 1 - Fraction(1, 2**64 + 1), True),
    ],
)
def test_a_probability_is_decided_where_its_enclosure_has_one_sign(
    logits: tuple[int, int], tau: Fraction, answer: bool | None
) -> None:
    z = Logits(list(logits), list(logits), 1, [1, 1], 0)
    assert probability_at_least(z, tau, 64) is answer


def test_what_is_quickly_found_probable_is_so() -> None:
    """A rival that is lower by a where 1477/1024 a is just below 40, and so is log2(e) a.

    Its weight is more than 2^-40 then, and the threshold is between the two probabilities.
    """
    scale, a = 10**4, 277140
    z = Logits([0, -a], [0, -a], scale, [1, 1], 0)
    weight = (-ball(Fraction(a, scale))).exp()
    assert ball(Fraction(1, 2**40)) < weight < ball(Fraction(1, 2**39))
    for odds, probable in ((2**40, False), (2**39, True)):
        less = odds - odds // 1000
        tau = Fraction(less, less + 1)
        assert (1 / (1 + weight) > ball(tau)) is probable
        assert probably(z, tau) is probable
