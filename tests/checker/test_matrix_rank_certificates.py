"""matrix-rank: true certificates pass, false and damaged ones do not."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from lemmax.checker import NotACertificate, check

Certificate = dict[str, Any]


def drawn(make: Any, seed: int) -> tuple[Certificate, int]:
    """A certificate of a random matrix of low rank, and the rank according to flint."""
    rng = random.Random(seed)
    m, n, r = rng.randint(2, 6), rng.randint(2, 6), rng.randint(1, 3)
    left = make.random_rows(rng, m, r, 4, rng.choice([1, 3]))
    right = make.random_rows(rng, r, n, 4, rng.choice([1, 3]))
    rows = make.product(left, right)
    rank = make.flint_rank(rows)
    if rank == r:
        return make.matrix_rank(rows, left, right), rank
    certificate = make.matrix_rank(rows)
    if rank < min(m, n):
        certificate["upper"] = {
            "method": "factorisation",
            "left": make.text(left),
            "right": make.text(right),
        }
    return certificate, rank


def test_true_certificates_hold(make: Any, valid: dict[str, list[Certificate]]) -> None:
    for certificate in valid["matrix-rank"]:
        assert check(certificate).holds
    held = 0
    for seed in range(100):
        certificate, rank = drawn(make, seed)
        inner = len(certificate["upper"].get("right", ())) or rank
        verdict = check(certificate)
        assert verdict.holds == (certificate["rank"] == rank == inner), verdict
        held += verdict.holds
    assert held > 60


def test_steps_say_both_bounds(valid: dict[str, list[Certificate]]) -> None:
    lower, upper = check(valid["matrix-rank"][1]).steps
    assert lower.startswith("rank >= 2")
    assert upper.startswith("rank <= 2")


def too_high(make: Any, seed: int) -> tuple[Certificate, int]:
    """One more than the rank: a larger minor, and a factorisation that is right but too wide."""
    certificate, rank = drawn(make, seed)
    m, n = len(certificate["matrix"]), len(certificate["matrix"][0])
    claimed = min(rank + 1, m, n)
    certificate["rank"] = claimed
    certificate["lower"] |= {"rows": list(range(claimed)), "columns": list(range(claimed))}
    if claimed == min(m, n):
        certificate["upper"] = {"method": "size"}
    elif certificate["upper"]["method"] == "factorisation":
        upper = copy.deepcopy(certificate["upper"])
        while len(upper["right"]) < claimed:
            upper["right"].append(["0"] * n)
            upper["left"] = [[*row, "0"] for row in upper["left"]]
        certificate["upper"] = upper
    return certificate, rank


def too_low(make: Any, seed: int) -> tuple[Certificate, int]:
    """One less than the rank: a smaller minor, and a factorisation of the first terms only."""
    certificate, rank = drawn(make, seed)
    certificate = copy.deepcopy(certificate)
    lower, upper = certificate["lower"], certificate["upper"]
    certificate["rank"] = len(lower["rows"]) - 1
    minor = [
        [Fraction(certificate["matrix"][i][j]) for j in lower["columns"]] for i in lower["rows"]
    ]
    for drop in range(len(minor)):
        if (
            make.flint_rank(
                [row[:-1] for i, row in enumerate(minor) if i != drop] or [[Fraction(0)]]
            )
            == len(minor) - 1
        ):
            lower["rows"] = [x for i, x in enumerate(lower["rows"]) if i != drop]
            lower["columns"] = lower["columns"][:-1]
            break
    if upper["method"] == "factorisation" and certificate["rank"]:
        upper["left"] = [row[: certificate["rank"]] for row in upper["left"]]
        upper["right"] = upper["right"][: certificate["rank"]]
    elif upper["method"] == "factorisation":
        upper |= {"left": [], "right": []}
    return certificate, rank


def modular(make: Any, seed: int) -> tuple[Certificate, int]:
    """The rank mod a small prime, with a factorisation that is right mod that prime only."""
    rng = random.Random(seed)
    p, n = rng.choice([2, 3, 5, 7, make.prime]), 4
    left, right = make.random_rows(rng, n, 2), make.random_rows(rng, 2, n)
    rows = [[x + p * rng.randint(1, 3) for x in row] for row in make.product(left, right)]
    residues = [[int(x) for x in row] for row in rows]
    minor_rows, minor_columns = make.pivots(residues, p)
    certificate = make.matrix_rank(rows, left, right)
    certificate["rank"] = 2
    certificate["lower"] = {"prime": str(p), "rows": minor_rows[:2], "columns": minor_columns[:2]}
    return certificate, make.flint_rank(rows)


@pytest.mark.parametrize("forge", [too_high, too_low, modular])
def test_false_certificates_are_rejected(
    make: Any, forge: Callable[[Any, int], tuple[Certificate, int]]
) -> None:
    rejected = 0
    for seed in range(80):
        certificate, rank = forge(make, seed)
        if certificate["rank"] == rank:  # flint says that this one is true: nothing to learn
            continue
        verdict = check(certificate)
        assert not verdict.holds, (seed, verdict)
        rejected += 1
    assert rejected >= 40


def test_one_wrong_entry_of_the_product_is_found(make: Any) -> None:
    left, right = make.random_rows(random.Random(3), 4, 2), make.random_rows(random.Random(4), 2, 4)
    for i in range(4):
        for j in range(4):
            rows = make.product(left, right)
            rows[i][j] += Fraction(1, 10**50)
            certificate = make.matrix_rank(make.product(left, right), left, right)
            certificate["matrix"] = make.text(rows)
            verdict = check(certificate)
            assert not verdict.holds
            assert f"row {i}, column {j}" in verdict.steps[-1] or "minor" in verdict.steps[-1]


def test_a_prime_that_divides_a_denominator_shows_nothing(make: Any) -> None:
    certificate = make.matrix_rank([[Fraction(1, 7), Fraction(0)], [Fraction(0), Fraction(1)]])
    certificate["lower"]["prime"] = "7"
    assert not check(certificate).holds


def test_a_minor_of_another_order_shows_nothing(make: Any) -> None:
    """M = [[1, 2], [2, 4]] has rank 1: neither a minor of order 1 nor one of order 0 shows 2."""
    rows = [[Fraction(1), Fraction(2)], [Fraction(2), Fraction(4)]]
    assert make.flint_rank(rows) == 1
    for order in (0, 1):
        certificate = make.matrix_rank(rows) | {"rank": 2}
        certificate["lower"] |= {"rows": list(range(order)), "columns": list(range(order))}
        assert not check(certificate).holds
        softmax = make.softmax_rank([[0, 1], [1, 2]], 2, "size")
        softmax["lower"] |= {"rows": list(range(order)), "columns": list(range(order))}
        assert not check(softmax).holds


def test_a_rank_of_zero_needs_a_zero_matrix(valid: dict[str, list[Certificate]]) -> None:
    certificate = copy.deepcopy(valid["matrix-rank"][2])
    certificate["matrix"][1][2] = "0x1p-1000"
    assert not check(certificate).holds


@pytest.mark.parametrize("rows", [[0, 0], [0, 2], [-1, 0], [0, True], ["0", "1"], [0.0, 1], [0]])
def test_bad_indices_are_refused(valid: dict[str, list[Certificate]], rows: list[Any]) -> None:
    certificate = copy.deepcopy(valid["matrix-rank"][0])
    for side in ("rows", "columns"):
        damaged = copy.deepcopy(certificate)
        damaged["lower"][side] = rows
        with pytest.raises(NotACertificate):
            check(damaged)


@pytest.mark.parametrize(
    "p",
    [
        "561",
        "2047",
        "3215031751",
        "318665857834031151167461",
        "1",
        "0",
        "-7",
        "7/2",
        7,
        1000003,
        "6",
    ],
)
def test_a_modulus_must_be_a_prime_in_a_string(valid: dict[str, list[Certificate]], p: Any) -> None:
    certificate = copy.deepcopy(valid["matrix-rank"][0])
    certificate["lower"]["prime"] = p
    with pytest.raises(NotACertificate):
        check(certificate)


def test_damaged_certificates_are_refused(
    valid: dict[str, list[Certificate]], damages: Any
) -> None:
    for certificate in valid["matrix-rank"]:
        cases = damages(certificate)
        assert len(cases) >= 100
        for name, damaged in cases:
            with pytest.raises(NotACertificate):
                print(name, check(damaged))
