"""Chains of steps: recomputed on the whole tensor, and carried into direct sums."""

from __future__ import annotations

import random

import numpy as np

from lemmax.checker import check
from lemmax.theory.tensors.above.slices import slice_sum
from lemmax.theory.tensors.arrays import Array
from lemmax.theory.tensors.below.chains import (
    LowerBound,
    embedded,
    restriction,
    substitution,
    without,
)
from lemmax.theory.tensors.below.flattenings import best_flattening, flattening_bound, recomputed
from lemmax.theory.tensors.below.substitution import substitution_bounds
from lemmax.theory.tensors.examples import of_table
from lemmax.theory.tensors.ranks import TensorRank
from lemmax.theory.tensors.reductions import concise

SATURATED = of_table(["0000", "1000", "0100", "0110", "1111"])


def holds(array: Array, bound: LowerBound) -> bool:
    return check(TensorRank(array, "Q", bound, slice_sum(array, 2)).certificate()).holds


def test_a_prime_that_loses_rank_is_replaced() -> None:
    diagonal = 6 * np.eye(3, dtype=int)[None]
    step = {"lemma": "flattening", "mode": 1, "prime": "3"}
    bound = recomputed(diagonal, LowerBound.by(step, 0))
    assert bound.value == 3
    assert bound.closing["prime"] != "3"
    assert holds(diagonal, bound)
    chain = LowerBound.by({**step, "mode": 0}, 0).after(substitution(1, [[], [], [0]], "2"), 0)
    bound = recomputed(diagonal, chain)
    assert bound.gains == (2, 1)
    assert "2" not in {step["prime"] for step in bound.steps}
    assert holds(diagonal, bound)


def test_a_gain_that_is_claimed_too_large_is_recomputed() -> None:
    """A substitution and a restriction on the way; the step that closes is a flattening."""
    rows = of_table(["012", "120", "201", "000"])
    drop = substitution(0, [[], [0, 1], []])
    keep = restriction([[0, 1, 2], [], []])
    closing = {"lemma": "flattening", "mode": 0, "prime": "5"}
    bound = recomputed(rows, LowerBound((9, 9, 9), (drop, keep, closing)))
    assert bound.gains == (0, 0, 3)
    assert holds(rows, bound)


def test_chains_of_summands_are_chains_of_the_sum() -> None:
    """Summands whose indices are interleaved; every gain in the sum is that in the summand."""
    rng = random.Random(3)
    longest = 0
    for _ in range(40):
        queries = rng.randint(2, 4)
        rows = [[rng.randrange(3) for _ in range(queries)] for _ in range(rng.randint(3, 5))]
        first, second = concise(of_table(rows)).array, concise(of_table(rows[:2])).array
        shape = [m + n for m, n in zip(first.shape, second.shape, strict=True)]
        places = [sorted(rng.sample(range(n), m)) for n, m in zip(shape, first.shape, strict=True)]
        others = [
            [i for i in range(n) if i not in own] for n, own in zip(shape, places, strict=True)
        ]
        whole = np.zeros(shape, dtype=int)
        whole[np.ix_(*places)], whole[np.ix_(*others)] = first, second
        bound, _ = substitution_bounds(first, 99, "Q")
        steps, left = embedded(bound, places, others)
        longest = max(longest, len(steps))
        removal = substitution(bound.closing["mode"], without(left, others))
        chain = best_flattening(second)
        for step, gain in reversed([*zip((*steps, removal), bound.gains, strict=True)]):
            chain = chain.after(step, gain)
        assert recomputed(whole, chain) == chain
        assert holds(whole, chain)
        if chain.value < len(slice_sum(whole, 2)):
            assert not holds(
                whole, LowerBound((1, *chain.gains), (restriction([[]] * 3), *chain.steps))
            )
    assert longest > 0


def test_a_bound_by_one_step_is_a_chain() -> None:
    bound = flattening_bound(SATURATED, 0)
    assert (bound.value, bound.lemmas, bound.closing["mode"]) == (5, ("flattening",), 0)
