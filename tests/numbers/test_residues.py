"""Residues near 2³¹ against Python's integers, and balls that are rounded to the safe side."""

from __future__ import annotations

import random

import numpy as np
import pytest
from flint import arb, fmpq, fmpz_mat

from lemmax.theory.numbers import balls, residues

MODULI = [2**31 - 1, 2_147_483_629, 65_537, 7]


@pytest.mark.parametrize("modulus", MODULI)
def test_products_of_large_residues(modulus: int) -> None:
    rng = random.Random(modulus)
    for m, n, k in ((1, 1, 1), (2, 3, 4), (3, 40, 2)):
        A = [[rng.randrange(modulus // 2, modulus) for _ in range(n)] for _ in range(m)]
        B = [[rng.randrange(modulus // 2, modulus) for _ in range(k)] for _ in range(n)]
        wanted = [
            [sum(x * y for x, y in zip(r, c, strict=True)) % modulus for c in zip(*B, strict=True)]
            for r in A
        ]
        assert residues.product(np.array(A), np.array(B), modulus).tolist() == wanted


def test_residues_of_no_columns_are_integers_too() -> None:
    none = residues.reduced(fmpz_mat(2, 0), 7)
    assert (none.shape, str(none.dtype)) == ((2, 0), "int64")


@pytest.mark.parametrize("modulus", MODULI)
def test_powers_and_inverses_of_large_residues(modulus: int) -> None:
    rng = random.Random(modulus + 1)
    base = [rng.randrange(1, modulus) for _ in range(9)]
    exponents = [0, 1, 2, 3, 2**16, 2**30, 2**31 - 1, modulus - 1, 12_345]
    wanted = [pow(b, e, modulus) for b, e in zip(base, exponents, strict=True)]
    assert residues.power(np.array(base), np.array(exponents), modulus).tolist() == wanted
    for count in (1, 2, 3, 8, 9):
        inverse = residues.inverses(np.array(base[:count]), modulus)
        assert inverse.tolist() == [pow(b, -1, modulus) for b in base[:count]]


def test_a_ball_is_rounded_away_from_its_points() -> None:
    ball = arb(2.5, 1)  # from 1.5 to 3.5
    assert balls.floor_below(ball) == 1
    assert balls.ceiling_above(ball) == 4
    assert balls.floor_below(ball, 1) in (2, 3)
    assert balls.rational_below(ball, 4) <= fmpq(3, 2)
    assert balls.rational_above(ball, 4) >= fmpq(7, 2)
    assert balls.midpoint(ball) == fmpq(5, 2)
