"""softmax-rank: true certificates pass, false and damaged ones do not.

The second opinion is sympy's rank over the field Q(z) of rational functions.
"""

from __future__ import annotations

import copy
import random
from fractions import Fraction
from typing import Any

import pytest
from sympy import QQ, symbols
from sympy.polys.matrices import DomainMatrix

from lemmax.checker import NotACertificate, check

Certificate = dict[str, Any]
FIELD = QQ.frac_field(symbols("z"))
Z = FIELD.gens[0]


def sympy_rank(exponents: list[list[int]], unit: str = "1") -> int:
    """The rank of z^e_ij over Q(z), or of 2^e_ij over Q."""
    shape = len(exponents), len(exponents[0])
    if unit == "ln2":
        powers = [[QQ(2) ** x for x in row] for row in exponents]
        return int(DomainMatrix(powers, shape, QQ).rank())
    least = min(map(min, exponents))
    return int(
        DomainMatrix([[Z ** (x - least) for x in row] for row in exponents], shape, FIELD).rank()
    )


def drawn(seed: int) -> list[list[int]]:
    """Exponents with repeated rows and columns up to constants, and some without structure."""
    rng = random.Random(seed)
    m, n = rng.randint(2, 4), rng.randint(2, 4)
    kinds = [[rng.randint(0, 3) for _ in range(n)] for _ in range(rng.randint(1, 2))]
    rows = [
        [x + shift for x in rng.choice(kinds)] for shift in (rng.randint(-2, 2) for _ in range(m))
    ]
    return [list(c) for c in zip(*rows, strict=True)] if seed % 2 else rows


METHODS = ["size", "row-classes", "column-classes", "specialisation"]


@pytest.mark.parametrize("unit", ["1", "ln2"])
def test_claims_that_are_false_are_rejected_and_true_ones_hold(make: Any, unit: str) -> None:
    false = held = 0
    for seed in range(60):
        exponents = drawn(seed)
        rank = sympy_rank(exponents, unit)
        exact = 0
        for method in [*METHODS[:3], "exact" if unit == "ln2" else METHODS[3]]:
            for claimed in range(min(len(exponents), len(exponents[0])) + 1):
                certificate = make.softmax_rank(exponents, claimed, method, 1, unit)
                lower = certificate["lower"]
                if claimed > rank:  # the honest minor is too small: offer a larger one
                    lower |= {"rows": list(range(claimed)), "columns": list(range(claimed))}
                verdict = check(certificate)
                if claimed != rank:
                    assert not verdict.holds, (seed, claimed, rank, verdict)
                    false += 1
                elif method in ("specialisation", "exact"):
                    assert verdict.holds, (seed, rank, verdict)
                    exact += 1
                held += verdict.holds
        assert exact == 1
    assert false >= 200
    assert held >= 100


def test_true_certificates_hold(valid: dict[str, list[Certificate]]) -> None:
    for certificate in valid["softmax-rank"]:
        assert check(certificate).holds, certificate


def test_powers_of_two_are_special(make: Any) -> None:
    """At z = 2 the first four columns add up to the last one; at z = e they do not."""
    exponents = [
        [0, 0, 0, 0, 2],
        [0, 0, 1, 2, 3],
        [0, 1, 0, 2, 3],
        [1, 0, 0, 2, 3],
        [0, 0, 2, 1, 3],
    ]
    assert sympy_rank(exponents) == 5
    assert sympy_rank(exponents, "ln2") == 4
    for claimed in range(1, 6):
        certificate = make.softmax_rank(
            exponents, claimed, "size" if claimed == 5 else "specialisation"
        )
        assert check(certificate).holds == (claimed == 5)
        certificate = make.softmax_rank(exponents, claimed, "exact", 1, "ln2")
        if claimed == 5:
            certificate["lower"] |= {"rows": list(range(5)), "columns": list(range(5))}
        assert check(certificate).holds == (claimed == 4)


@pytest.mark.parametrize("point", ["0", "1", "-5", "1000003", "1000004", "1/2", 5, None])
def test_the_point_must_lie_strictly_inside(
    valid: dict[str, list[Certificate]], point: Any
) -> None:
    certificate = copy.deepcopy(valid["softmax-rank"][0])
    certificate["lower"]["point"] = point
    with pytest.raises(NotACertificate):
        check(certificate)


def test_unit_ln2_wants_integers_and_no_point(valid: dict[str, list[Certificate]]) -> None:
    certificate = copy.deepcopy(valid["softmax-rank"][4])
    certificate["logits"][0][0] = str(Fraction(1, 2))
    with pytest.raises(NotACertificate):
        check(certificate)
    certificate = copy.deepcopy(valid["softmax-rank"][4])
    certificate["lower"]["point"] = "2"
    with pytest.raises(NotACertificate):
        check(certificate)


def test_too_large_exponents_are_refused_at_once(make: Any) -> None:
    certificate = make.softmax_rank(
        [[0, 10**12, 5], [3, 0, 10**13], [1, 2, 3]], 2, "specialisation"
    )
    with pytest.raises(NotACertificate, match="work"):
        check(certificate)


def test_exponents_near_a_million_are_checked(make: Any) -> None:
    """Powers of two of that length are made by shifts, and multiplied faster than by hand."""
    exponents = [[3, 999_999, 20_007], [870_001, 11, 400_000], [0, 650_000, 998_000]]
    certificate = make.softmax_rank([*exponents, [8, 10**6 + 4, 20_012]], 3, "exact", 1, "ln2")
    assert check(certificate).holds
    assert not check(make.softmax_rank([*exponents, exponents[0]], 2, "exact", 1, "ln2")).holds


def test_damaged_certificates_are_refused(
    valid: dict[str, list[Certificate]], damages: Any
) -> None:
    for certificate in valid["softmax-rank"]:
        cases = damages(certificate)
        assert len(cases) >= 100
        for name, damaged in cases:
            with pytest.raises(NotACertificate):
                print(name, check(damaged))
