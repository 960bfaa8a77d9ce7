"""Edges of balls and of maps between them: what is exact, what is rounded, what is too large."""

from __future__ import annotations

from array import array
from fractions import Fraction

import pytest
from benchmarks.random_transformers import packed

from lemmax.checker import NotACertificate
from lemmax.checker.coded.arrays import Table, tables
from lemmax.checker.models.vectors import HEADROOM, Affine, Ball, fixed, inner, times

BITS = 32
ONE = 1 << BITS


def table(shape: list[int], values: list[float], kind: str = "F32") -> Table:
    return tables(packed({"W": (shape, values)}, kind))["W"]


def test_products_have_the_errors_of_both_and_one_of_rounding() -> None:
    """(3 ± 1u)(5 ± 2u) = 15 ± (5u + 6u + 2u²) for the unit u, rounded up, and rounded once more."""
    x, y = Ball([3 * ONE], 1), Ball([5 * ONE], 2)
    assert inner(x, y, BITS) == (15 * ONE, 12 + 1)
    assert times(x, y, BITS) == Ball([15 * ONE], 12 + 1)
    exact = Ball([3 * ONE, 1], 0), Ball([5 * ONE, 1], 0)
    assert inner(*exact, BITS) == (15 * ONE, 1)
    assert times(*exact, BITS) == Ball([15 * ONE, 0], 1)


@pytest.mark.parametrize("j", [0, 1, 2, 3, 2**10, 2**11, 2**11 + 1, 2**12])
def test_a_weight_is_cut_off_and_its_error_is_zero_where_nothing_is_lost(j: int) -> None:
    """(2^23 + j) 2^-43 is (2^23 + j) / 2^11 units: whole for multiples of 2^11 only."""
    n = 2**23 + j
    for sign in (1, -1):
        found = fixed(table([1], [sign * n * 2.0**-43]), 0, 1, BITS, "W")
        assert found == ([sign * (n // 2**11)], int(n % 2**11 != 0))


@pytest.mark.parametrize("exponent", range(-33, -5))
def test_a_power_of_two_is_exact_from_one_unit_on(exponent: int) -> None:
    found = fixed(table([1], [2.0**exponent]), 0, 1, BITS, "W")
    assert found == (([2 ** (exponent + BITS)], 0) if exponent >= -BITS else ([0], 1))


def test_weights_are_floats() -> None:
    whole = Table("I32", (1,), array("i", [1]))
    told = "^W must have entries of the type BF16, F16, F32 or F64.$"
    with pytest.raises(NotACertificate, match=told):
        fixed(whole, 0, 1, BITS, "W")


@pytest.mark.parametrize(("bias", "radius"), [(None, 1), (0.5, 1), (1 / 3, 2)])
def test_an_exact_map_rounds_once_and_an_inexact_bias_adds_one(
    bias: float | None, radius: int
) -> None:
    vector = None if bias is None else table([1], [bias], "F64")
    image = Affine(table([1, 1], [2.0]), vector, BITS, "W")(Ball([3 * ONE], 0))
    assert image == Ball([6 * ONE + int((bias or 0) * ONE)], radius)


def test_rows_are_inputs_unless_the_array_is_turned() -> None:
    """(1, 10) times ((1, 2, 3), (4, 5, 6)), and the same with the transposed array."""
    W, turned = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]
    x = Ball([ONE, 10 * ONE], 0)
    for affine in (
        Affine(table([2, 3], W), None, BITS, "W"),
        Affine(table([2, 3], W), None, BITS, "W", False),
        Affine(table([3, 2], turned), None, BITS, "W", turned=True),
    ):
        assert affine.outputs == 3
        assert affine(x) == Ball([41 * ONE, 52 * ONE, 63 * ONE], 1)


@pytest.mark.parametrize("unit", [1, -1, 2, -2])
def test_weights_of_a_single_unit_count(unit: int) -> None:
    """2^8 times one unit in one column, and nothing in the other."""
    affine = Affine(table([1, 2], [unit / ONE, 0.0], "F64"), None, BITS, "W")
    assert affine(Ball([ONE << 8], 0)) == Ball([unit << 8, 0], 1)
    assert affine.norm == abs(unit)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("m", [1, 3, 7])
@pytest.mark.parametrize("shift", range(8))
def test_the_largest_sums_fit_into_their_fields(sign: int, m: int, shift: int) -> None:
    """Columns of m weights (2^24 - 1) 2^shift, the next of the other sign; entries up to 2^24."""
    weight, most = sign * (2**24 - 1) << shift, (1 << BITS + HEADROOM) - 1
    W = table([m, 2], [float(weight), float(-weight)] * m)
    affine = Affine(W, None, BITS, "W")
    for x in (most, -most):
        assert affine(Ball([x] * m, 0)).center == [m * weight * x, -m * weight * x]
        with pytest.raises(NotACertificate, match=r"a vector with an entry beyond 2\^24\.$"):
            affine(Ball([2 * x] * m, 0))


def test_the_norm_is_at_least_every_sum_of_a_column() -> None:
    """Weights that are no integers over 2^32, all of them cut off."""
    values = [1 / 3, -1 / 7, 1 / 3, 1 / 7, 1 / 3, -6 / 7]
    affine = Affine(table([3, 2], values, "F64"), None, BITS, "W")
    largest = max(sum(abs(Fraction(value)) for value in values[j::2]) for j in range(2))
    assert largest * ONE <= affine.norm <= largest * ONE + 3
