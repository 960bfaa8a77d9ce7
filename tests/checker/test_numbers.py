"""Exact numbers, primes, ranks and enclosures: the checker's arithmetic against flint's."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest
from flint import arb, ctx, fmpq, fmpz_mat
from flint import fmpz as integer
from hypothesis import given, settings
from hypothesis import strategies as st

from lemmax import checker
from lemmax.checker import NotACertificate, arithmetic, enclosures, reading
from lemmax.checker.limits import metered


@given(st.fractions())
def test_decimal_numbers_are_read_exactly(x: Fraction) -> None:
    assert reading.number(str(x)) == x


@given(st.integers(), st.integers(-50, 50))
def test_dyadic_numbers_are_read_exactly(mantissa: int, exponent: int) -> None:
    assert reading.number(f"{mantissa:#x}p{exponent}") == mantissa * Fraction(2) ** exponent
    assert reading.number(f"{mantissa:#x}") == mantissa


def test_the_longest_numbers_are_read() -> None:
    assert reading.number("9" * 4000) == 10**4000 - 1
    assert reading.number("-0x" + "f" * 400_000) == 1 - 16**400_000
    assert reading.number("0x1p-1000000") * 2**1_000_000 == 1


@pytest.mark.parametrize(
    "bad",
    [
        "",
        " ",
        "-",
        "-0",
        "00",
        "007",
        "+1",
        "1.0",
        "1e3",
        "1_000",
        "1/1",
        "2/4",
        "0/3",
        "1/0",
        "1/-2",
        "-1/-2",
        "1/",
        "/2",
        "0x",
        "0X1",
        "0x01",
        "-0x0",
        "0xG",
        "0xAB",
        "0x1p",
        "0x1p+1",
        "0x1p-0",
        "0x1p01",
        "0x1p1000001",
        "0x1p-9999999",
        "0x1p12345678",
        "0x1/2",
        "inf",
        "NaN",
        "１",
        "1\n",
        "\n1",
        "1" * 4001,
        "1/" + "3" * 4001,
        "1" * 1_000_000,
        "0x1" + "0" * 400_000,
        None,
        True,
        1,
        1.0,
        [],
        {},
        b"1",
    ],
)
def test_what_is_not_an_exact_number_is_refused(bad: Any) -> None:
    with pytest.raises(NotACertificate):
        reading.number(bad)


CARMICHAEL = [561, 1105, 1729, 41041, 825265, 321197185, 5394826801, 232250619601, 9746347772161]
STRONG_PSEUDOPRIMES = [  # to the first 1, 2, ... 12 prime bases (OEIS A014233)
    2047,
    1373653,
    25326001,
    3215031751,
    2152302898747,
    3474749660383,
    341550071728321,
    3825123056546413051,
    318665857834031151167461,
]


def test_primality_agrees_with_flint() -> None:
    rng = random.Random(1)
    drawn = [rng.getrandbits(bits) | 1 for bits in range(3, 81) for _ in range(20)]
    for n in [*range(-3, 3000), *drawn, *CARMICHAEL, *STRONG_PSEUDOPRIMES]:
        assert reading.is_prime(n) == (n > 1 and integer(n).is_prime()), n


@pytest.mark.parametrize("bad", [0, 1, -7, 4, *CARMICHAEL, *STRONG_PSEUDOPRIMES, 2**89 - 1])
def test_moduli_that_are_not_known_primes_are_refused(bad: int) -> None:
    with pytest.raises(NotACertificate):
        reading.prime(str(bad), "prime")


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_integer_rank_agrees_with_flint(data: st.DataObject) -> None:
    m, n, r = (data.draw(st.integers(1, 7)) for _ in range(3))
    entries = st.integers(-4, 4) | st.integers(-(10**30), 10**30)
    left = data.draw(st.lists(st.lists(entries, min_size=r, max_size=r), min_size=m, max_size=m))
    right = data.draw(st.lists(st.lists(entries, min_size=n, max_size=n), min_size=r, max_size=r))
    product = fmpz_mat(left) * fmpz_mat(right)
    rows = [[int(x) for x in row] for row in product.tolist()]
    assert arithmetic.integer_rank(rows, "rank") == product.rank()


def test_elimination_mod_p_agrees_with_the_determinant() -> None:
    rng = random.Random(2)
    for _ in range(300):
        n, p = rng.randint(0, 5), rng.choice([2, 3, 5, 7])
        rows = [[rng.randint(-9, 9) for _ in range(n)] for _ in range(n)]
        determinant = int(fmpz_mat(rows).det()) if n else 1
        assert (arithmetic.rank_mod(rows, p) == n) == (determinant % p != 0)


def ball(x: Fraction) -> arb:
    return arb(fmpq(x.numerator, x.denominator))


def inside(bounds: tuple[int, int], bits: int, value: arb) -> bool:
    return bool(ball(Fraction(bounds[0])) <= value * 2**bits <= ball(Fraction(bounds[1])))


@settings(max_examples=200, deadline=None)
@given(
    st.fractions(0, 200) | st.fractions(0, 1) | st.integers(0, 10**9).map(Fraction),
    st.integers(1, 300),
)
def test_enclosures_contain_the_value_and_are_narrow(x: Fraction, bits: int) -> None:
    ctx.prec = 1000
    cases = [
        (enclosures.power(x, "1", bits), (-ball(x)).exp()),
        (enclosures.power(x, "ln2", bits), (-ball(x) * arb(2).log()).exp()),
        (enclosures.sigmoid(x, "1", bits), 1 / (1 + (-ball(x)).exp())),
        (enclosures.sigmoid(x, "ln2", bits), 1 / (1 + (-ball(x) * arb(2).log()).exp())),
    ]
    for bounds, value in cases:
        low, high = bounds
        # when x is large the true value may touch an end of the enclosure within the ball's radius
        assert inside(bounds, bits, value) or (
            x > 250 and low <= 2**bits * float(value.mid()) <= high
        )
        assert 0 <= high - low <= 8


def test_exact_values_stay_inside() -> None:
    for bits in (1, 5, 64, 257):
        low, high = enclosures.exp_minus(Fraction(0), bits)
        assert low <= 1 << bits <= high
        low, high = enclosures.power(Fraction(3), "ln2", bits + 3)
        assert low <= 1 << bits <= high


def test_large_arguments_cost_nothing() -> None:
    assert enclosures.exp_minus(Fraction(10**10_000), 64) == (0, 1)


def test_work_is_estimated_before_it_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [[(1 << 400_000) + i * j * j for j in range(60)] for i in range(60)]
    with pytest.raises(NotACertificate, match="work"):
        arithmetic.integer_rank(rows, "The rank")
    with pytest.raises(NotACertificate, match="work"):
        arithmetic.rank_mod([[1] * 2500] * 2500, 7)
    with pytest.raises(NotACertificate, match="memory"), metered():
        reading.matrix([["0x1p1000000"] * 5001], "M")
    with pytest.raises(NotACertificate, match="work"), metered():
        reading.matrix([["0x1p1000000", *["0x" + "f" * 400_000 + "p-1000000"] * 200]], "M")
    monkeypatch.setitem(checker.LIMITS, "memory", 10**5)
    many = [Fraction(1, 10**300 + i) for i in range(900)]
    with pytest.raises(NotACertificate, match="common denominator"):
        arithmetic.common_denominator(many)
