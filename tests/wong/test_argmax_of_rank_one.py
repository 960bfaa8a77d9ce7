"""The argmax of a rank-one matrix has rank at most three, and three is attained."""

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from lemmax import checker
from lemmax.constructions.refuting import refute, witness
from lemmax.constructions.wong.argmax_rank_one import (
    argmax_rank_one_counterexample,
    argmax_rank_one_refutation,
)
from lemmax.pytest_plugin.properties import Sample
from lemmax.theory import Matrix, argmax, certified_rank
from lemmax.theory.ledger.claims import BUILT_IN

Certify = Callable[..., checker.Verdict]
SHARP = "lemmax/argmax-rank-one-sharp"
nonzero_vectors = st.lists(st.integers(-9, 9), min_size=1, max_size=7).filter(any)


@pytest.mark.claim(
    "wong/argmax-rank-one", grade="certified", direction="against", statement="460d90b6d098d9df"
)
def test_argmax_rank_one_refuted_by_three_by_three(certify: Certify) -> None:
    verdict = certify(argmax_rank_one_refutation(), ship_as="wong/argmax-rank-one")
    assert any("3" in step and "2" in step for step in verdict.steps)


def test_refutation_does_not_refute_the_repair() -> None:
    certificate = argmax_rank_one_refutation() | {"claim": SHARP}
    assert not checker.check(certificate, checker.formal_statements([BUILT_IN])).holds
    assert not checker.check(refute(SHARP, M=argmax_rank_one_counterexample())).holds


def pattern(u: list[int], v: list[int]) -> Matrix:
    return Matrix([[a * b for b in v] for a in u])


def characterised(u: list[int], v: list[int], entries: list[int]) -> bool:
    """Whether rank argmax(u vᵀ) <= 3, and 3 iff u has three signs and there are three entries."""
    rank = certified_rank(argmax(pattern(u, v))).rank
    signs = {(x > 0) - (x < 0) for x in u}
    return rank <= 3 and (rank == 3) == (signs == {-1, 0, 1} and len(set(entries)) >= 3)


OTHER_ENTRIES = ([-1, 0, 1], [1, 2, 3], [1, 1, 1])  # not the entries of v


def test_argmax_rank_one_rows_come_in_three_kinds() -> None:
    """Rows of argmax(u vᵀ) depend only on the sign of u_i."""
    u: Any = z3.Real("u")
    v: Any = z3.Real("v")
    x: Any = z3.Real("x")
    y: Any = z3.Real("y")
    solver = z3.Solver()
    # Two rows of the same strict sign order any two columns alike, and a zero row ties them.
    solver.add(
        u * v > 0,
        z3.Or(z3.And(u * x >= u * y, v * x < v * y), z3.And(u * x < u * y, v * x >= v * y)),
    )
    assert solver.check() == z3.unsat
    solver = z3.Solver()
    solver.add(u == 0, u * x != u * y)
    assert solver.check() == z3.unsat


@pytest.mark.claim(
    SHARP,
    grade="universal",
    scope="all real rank-one matrices up to 4 by 4, by sign patterns of u and orderings of v",
    statement="1c0897147565d1db",
)
def test_argmax_rank_one_sharp_over_all_order_types(exhaust: Callable[..., int]) -> None:
    # argmax(u vᵀ) depends only on the signs of u and on the order type of v: integers represent
    # all of them, v with values in {0,1,2,3} shifted and u with signs in {-1,0,1}.
    order_types = (
        (list(u), list(w), list(w))
        for m, n in product(range(1, 5), repeat=2)
        for u in product((-1, 0, 1), repeat=m)
        if any(u)
        for v in product(range(n), repeat=n)
        for w in [v if any(v) else tuple(x + 1 for x in v)]
    )

    exhaust(order_types, characterised, control=OTHER_ENTRIES)


@pytest.mark.claim(
    SHARP,
    grade="property",
    scope="random integer vectors of length at most 7, entries at most 9",
    statement="1c0897147565d1db",
)
@given(nonzero_vectors, nonzero_vectors)
def test_argmax_rank_one_sharp_characterisation(sample: Sample, u: list[int], v: list[int]) -> None:
    sample(characterised, u, v, v, control=OTHER_ENTRIES)


@pytest.mark.claim(SHARP, grade="certified", statement="1c0897147565d1db")
def test_argmax_rank_one_sharp_is_attained(certify: Certify) -> None:
    M = Matrix([[1], [-1], [0]]) @ Matrix([[1, 0, -1]])
    certify(witness(SHARP, M=M), ship_as=SHARP)
    assert certified_rank(argmax(M)).rank == 3
