"""Substitution in two modes at once: planted tensors, forged proofs, databases that it closes."""

from __future__ import annotations

import copy
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lemmax.checker import NotACertificate, check
from lemmax.theory import tensor_rank
from lemmax.theory.tensors import stages
from lemmax.theory.tensors.above.slices import slice_sum
from lemmax.theory.tensors.arrays import Array
from lemmax.theory.tensors.below.flattenings import flattening_bound
from lemmax.theory.tensors.below.joint import joint_bound
from lemmax.theory.tensors.examples import of_table
from lemmax.theory.tensors.ranks import TensorRank
from lemmax.theory.tensors.reductions import concise

OPEN = [
    ["bfcb", ".c..", "afce", ".bg.", "..b.", "b..d", "b.e."],
    ["a.c.", "bdeb", "ddaa", "abf.", ".fbb"],
]
CLOSED = [".dg", "ebe", "adf", ".g.", "fge", "f.e"]


def accepted(T: Array, steps: Any, value: int) -> bool:
    """Whether the checker accepts the steps as a proof of the bound."""
    certificate = dict(TensorRank(T, "Q", flattening_bound(T, 0), slice_sum(T, 2)).certificate())
    while certificate["upper"] < value:
        certificate["upper"] += 1
        certificate["terms"].append([["0"] * n for n in T.shape])
    return check({**certificate, "proof": list(steps), "lower": value}).holds


@settings(max_examples=12)
@given(
    shape=st.tuples(*[st.integers(2, 4)] * 3),
    r=st.integers(1, 6),
    entries=st.lists(st.integers(-1, 1), min_size=72, max_size=72),
)
def test_joint_bound_never_exceeds_a_planted_decomposition(
    shape: tuple[int, int, int], r: int, entries: list[int]
) -> None:
    numbers = iter(entries)
    factors = [np.array([[next(numbers) for _ in range(n)] for _ in range(r)]) for n in shape]
    T = np.einsum("ri,rj,rk->ijk", *factors)
    if T.any():
        core = concise(T).array
        bound = joint_bound(core, 0, r + 1)
        assert bound is None or bound.value <= r


def test_databases_that_only_this_bound_closes(monkeypatch: pytest.MonkeyPatch) -> None:
    result = tensor_rank(of_table(CLOSED), "R")
    assert result.rank == 8
    assert "joint" in result.bound.lemmas
    assert check(result.certificate()).holds
    monkeypatch.setattr(stages, "joint_bound", lambda *_: None)
    without = tensor_rank(of_table(CLOSED), "R")
    assert (without.lower, without.upper) == (7, 8)


@pytest.mark.parametrize("rows", [*OPEN, CLOSED])
def test_joint_bound_is_what_the_checker_recomputes(rows: list[str]) -> None:
    T = of_table(rows)
    bound = joint_bound(T, max(T.shape), 99)
    assert bound is not None
    assert accepted(T, bound.steps, bound.value)
    assert not accepted(T, bound.steps, bound.value + 1)
    step, *after = bound.steps
    without_levels = {**step, "levels": step["levels"][:-1]}
    try:
        assert not accepted(T, [without_levels, *after], bound.value)
    except NotACertificate:
        assert len(step["levels"]) == 1
    larger = {**step, "second": [*step["second"], step["second"][0]]}
    assert not accepted(T, [larger, *after], bound.value + 1)
    rng, width = random.Random(0), len(step["levels"][0]["functionals"][0])
    for _ in range(10):
        forged = copy.deepcopy(step)
        forged["levels"][0]["functionals"] = [
            [str(rng.randint(-1, 1)) for _ in range(width)] for _ in range(width)
        ]
        assert not accepted(T, [forged, *after], bound.value)


def test_spaces_with_a_common_ideal_prove_nothing() -> None:
    """Of F × F, of rank 2, both spaces whole would give 4: shrinking leaves them as they are."""
    T = np.zeros((2, 2, 2), dtype=int)
    T[0, 0, 0] = T[1, 1, 1] = 1
    assert joint_bound(T, 2, 9) is None
    one = [["1", "0"], ["0", "1"]]
    step: dict[str, Any] = {
        "lemma": "joint",
        "mode": 0,
        "columns": 1,
        "first": one,
        "second": one,
        "levels": [{"functionals": one, "first": [], "second": []}],
        "maps": [[], [], [["0", "0"]]],
        "prime": "101",
    }
    leaf = {"lemma": "flattening", "mode": 0, "prime": "101"}
    assert not accepted(T, [step, leaf], 3)
    step["levels"] = [{"functionals": [["0", "0"]], "first": [], "second": []}]
    assert not accepted(T, [step, leaf], 3)


def test_a_rank_that_drops_mod_the_prime_is_not_trusted() -> None:
    """Products that vanish mod p do not vanish: diag(1, p) has rank 2, and no more is proved."""
    p = 101
    T = np.zeros((2, 2, 2), dtype=int)
    T[0, 0, 0], T[1, 1, 1] = 1, p
    second = [["0", "1"]]
    whole = [["1", "0"], ["0", "1"]]
    for forms in (whole, [["1", "0"]], [["0", "1"]]):
        step = {
            "lemma": "joint",
            "mode": 0,
            "columns": 1,
            "first": whole,
            "second": second,
            "levels": [{"functionals": forms, "first": [], "second": []}],
            "maps": [[], [], [["0", "0"]]],
            "prime": str(p),
        }
        assert not accepted(T, [step, {"lemma": "flattening", "mode": 0, "prime": "7"}], 3)
