"""Terms of rank one, tensors, and balls of real terms: what is just allowed, and what is not.

In a ball one entry x of a term of a tensor with one entry is free, unless another is named, so that
all that Newton's method needs can be worked out by hand.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from benchmarks.corpus import counted

from lemmax.checker import LIMITS, NotACertificate
from lemmax.checker.balls import check_ball
from lemmax.checker.decompositions import family, without_bundle
from lemmax.checker.polynomials import Polynomial
from lemmax.checker.steps import Step
from lemmax.checker.tensors import exact_rank, sparse

# --- tensors ------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [[0, 1, 1], [1, 0, 1], [1, 1, 0], [0, 0, 0]])
def test_no_side_of_a_tensor_is_zero(shape: list[int]) -> None:
    with pytest.raises(NotACertificate, match=r"^tensor\.shape must be positive\.$"):
        sparse({"shape": shape, "entries": []})


def test_a_flattening_as_wide_as_high_is_eliminated_by_its_columns() -> None:
    """The rows (0, 0) and (1, 2) have the columns (0, 1) and (0, 2): rank one.

    A copy takes 4 + 2 + 4 + 2 and the columns 2 · 4; two keys like "0x0 0x1" take 1 + 7 // 3
    each. Eliminating the two columns as rows takes a pass of 50 for each of their two places, and
    no products; the rows of the flattening would have taken a product more.
    """
    with counted() as bill:
        assert exact_rank([[[0, 0]], [[1, 2]]], 0) == 1
    assert bill.sums["work"] == 12 + 8 + 2 * 3 + 2 * 50


# --- families and bundles -----------------------------------------------------------------------


def test_the_factors_of_a_family_are_named_where_they_do_not_fit() -> None:
    value = {"modulus": ["0", "1"], "factors": [[["1"]], [["1"]]]}
    told = r"^families\[0\] must have one vector for each mode of the tensor\.$"
    with pytest.raises(NotACertificate, match=told):
        family(value, [[[1]]], "families[0]")


def test_a_bundle_of_zeros_has_sums_of_one_bit() -> None:
    """4 for the places, and 30 differences of 5000 bits and one, each of 1 + 55,010 // 60,000."""
    zero: list[Polynomial] = [[Fraction(0)]]
    rest = [[[Fraction(2**4999)]]]
    modulus = [Fraction(0), Fraction(1)]
    with counted() as bill:
        assert without_bundle(rest, (modulus, [[zero, zero, zero]])) == (rest, True)
    assert bill.sums["work"] == 4 + 30


# --- balls of real terms ------------------------------------------------------------------------


def ball(terms: list[Any], free: list[int], radius: str) -> dict[str, Any]:
    return {"maps": [[], [], []], "centre": terms, "free": free, "radius": radius}


def steps(x: str, y: str, z: str, rest: str, radius: str, *free: int) -> list[Step]:
    """One term x⊗y⊗z, and a rest with one entry; z is free, or what is named."""
    term = [[x], [y], [z]]
    given = ball([term], list(free) or [2], radius)
    found: list[Step] = []
    for step in check_ball(given, [[[Fraction(rest)]]], 1):
        found.append(step)
        if not step.ok:
            break
    return found


def contracts(x: str, y: str, z: str, rest: str, radius: str) -> bool:
    (step,) = steps(x, y, z, rest, radius)
    assert ("Newton contracts" in step.text) is step.ok
    assert ("does not contract" in step.text) is not step.ok
    return step.ok


def test_exact_terms_need_no_radius() -> None:
    """The residue, 1 - Y F' and the radius are zero: s = eta = 0 < 2^0, and x < 2^(bits of x)."""
    (step,) = steps("1", "1", "2", "2", "0")
    text = "R <= 1: 1 real terms exist, Newton contracts: s < 2^0, eta < 2^0, radius < 2^0"
    assert step == (True, text)


def test_a_derivative_without_an_entry_is_zero_there() -> None:
    """Two terms e_i⊗e_i⊗e_i, whose third entries are free: F' is a unit matrix."""
    one, two = (["1", "0"], ["0", "1"])
    given = ball([[one] * 3, [two] * 3], [8, 11], "0")
    unit = [[[Fraction(i == j == k) for k in (0, 1)] for j in (0, 1)] for i in (0, 1)]
    (step,) = check_ball(given, unit, 2)
    assert step.ok
    assert "s < 2^0, eta < 2^0" in step.text


@pytest.mark.parametrize(
    ("radius", "holds"),
    [
        ("77/500", True),  # 0.924 + 0.071148; with 4ρ² it would be above 1
        ("4/25", False),  # 0.96 + 0.0768; with 3ρ³ it would be below 1
        ("1/3", False),
        ("2", False),
        ("1/8", True),
    ],
)
def test_a_contraction_has_a_slope_below_one(radius: str, holds: bool) -> None:
    """1⊗1⊗1 has the slope 2ρ(1 + 1 + 1) + 3ρ²."""
    rho = Fraction(radius)
    assert (6 * rho + 3 * rho**2 < 1) is holds
    assert contracts("1", "1", "1", "1", radius) is holds


def test_a_slope_of_one_does_not_contract() -> None:
    """2⊗1⊗5/8 with Y = 1/2 and ρ = 1/4 has ((1/2)(2 + 1 + 5/8) + 3/16) / 2 = 1."""
    assert not contracts("2", "1", "5/8", "5/4", "1/4")


@pytest.mark.parametrize(("z", "holds"), [("33/32", True), ("17/16", False)])
def test_a_ball_holds_the_step_and_what_the_slope_adds(z: str, holds: bool) -> None:
    """1⊗1⊗33/32 for 1 has the slope s = ρ(97/16 + 3ρ) = 100/256 at ρ = 1/16, and 1/32 + sρ <= ρ.

    1⊗1⊗17/16 takes a step of 1/16, which leaves no room for more.
    """
    assert contracts("1", "1", z, "1", "1/16") is holds


def test_the_size_of_a_ball_is_a_sum_over_the_modes() -> None:
    """8⊗1⊗1 with Y = 1/8 and ρ = 1/16 has the slope ((8 + 1 + 1) / 8 + 3/256) / 8, below 1/4."""
    (step,) = steps("8", "1", "1", "8", "1/16")
    assert step.ok
    assert "contracts: s < 2^-2, " in step.text
    assert Fraction(10, 8) / 8 + Fraction(3, 256 * 8) < Fraction(1, 4)


def test_a_ball_has_as_many_equations_as_free_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    assert steps("1", "1", "1", "1", "0", 1, 2) == [
        (False, "there are 1 equations for 2 free entries")
    ]
    monkeypatch.setitem(LIMITS, "equations", 1)
    assert steps("1", "1", "1", "1", "0")[-1].ok
    for free in ([], [1, 2]):
        with pytest.raises(NotACertificate, match=r"^ball must have 1\.\.1 free entries"):
            list(check_ball(ball([[["1"]] * 3], free, "0"), [[[Fraction(1)]]], 1))
