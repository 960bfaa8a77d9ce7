"""When the ranks of two blocks add up: small tensors, planted ones, forged proofs, databases."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

from lemmax.checker import NotACertificate, check
from lemmax.checker.bounds import RULES
from lemmax.checker.limits import metered
from lemmax.theory import tensor_rank
from lemmax.theory.tensors import stages
from lemmax.theory.tensors.above.gluing import glued
from lemmax.theory.tensors.above.slices import slice_sum
from lemmax.theory.tensors.arrays import Array
from lemmax.theory.tensors.below.blocks import two_blocks
from lemmax.theory.tensors.below.chains import LowerBound
from lemmax.theory.tensors.below.flattenings import best_flattening, flattening_bound
from lemmax.theory.tensors.examples import cyclic, matrix_product, of_table
from lemmax.theory.tensors.ranks import TensorRank
from lemmax.theory.tensors.reductions import concise

TWO_TABLES = ["ad...", "be...", "bf...", "cg...", "..hjk", "..ahf", "..ijg"]
OTHER_TABLES = ["abc..", "dea..", "fgh..", "ijk..", "kjh..", "...lk", "...gc"]


def exception() -> Array:
    """Three slices whose blocks are spanned by three of the four units of 2 × 2 matrices."""
    T = np.zeros((3, 4, 4), dtype=int)
    T[0, 0, 1], T[0, 3, 2] = 1, -1
    T[1, 1, 0], T[1, 2, 3] = 1, -1
    T[2, 0, 0] = T[2, 2, 2] = 1
    T[2, 0, 1] = T[2, 2, 3] = -1
    return T


def accepted(T: Array, steps: Any, value: int, field: str = "Q") -> bool:
    """Whether the checker accepts the steps as a proof of the bound."""
    certificate = dict(TensorRank(T, "Q", flattening_bound(T, 0), slice_sum(T, 2)).certificate())
    while certificate["upper"] < value:
        certificate["upper"] += 1
        certificate["terms"].append([["0"] * n for n in T.shape])
    return check({**certificate, "field": field, "proof": list(steps), "lower": value}).holds


def closing(T: Array, least: int = 0) -> LowerBound:
    bound = two_blocks(T, least, lambda part: stages.quickly_proved(part, "Q"))
    assert bound is not None
    return bound


def test_two_blocks_of_the_product_of_matrices() -> None:
    """Two by two matrices need seven products, over every field: one step proves it."""
    T = matrix_product(2)
    bound = closing(T)
    assert (bound.value, bound.lemmas) == (7, ("blocks",))
    assert accepted(T, bound.steps, 7)
    assert not accepted(T, bound.steps, 8)
    strassen = glued(T, 8, lambda part: slice_sum(part, 0))
    assert strassen is not None
    assert len(strassen) == 7
    assert strassen.adds_up_to(T)


def test_the_exception_exists() -> None:
    T = exception()
    bound = closing(T)
    assert bound.value == 5
    assert accepted(T, bound.steps, 5)
    assert not accepted(T, bound.steps, 6)
    five = glued(T, 6, lambda part: slice_sum(part, 0))
    assert five is not None
    assert len(five) == 5
    assert five.adds_up_to(T)


# --- tensors over the field with two elements: matrices are bits ----------------------------------

Pair = tuple[int, int]


class Spaces:
    """Matrices with rows of B₁ ⊕ B₂ and columns of C₁ ⊕ C₂ over two elements, as numbers."""

    def __init__(self, rows: Pair, columns: Pair) -> None:
        b, c = sum(rows), sum(columns)
        self.ones = {
            sum(1 << i * c + j for i in range(b) for j in range(c) if x >> i & 1 and y >> j & 1)
            for x in range(1, 1 << b)
            for y in range(1, 1 << c)
        }
        self.blocks = [
            sum(1 << i * c + j for i in range(*own) for j in range(*other))
            for own, other in (
                ((0, rows[0]), (0, columns[0])),
                ((rows[0], b), (columns[0], c)),
            )
        ]

    @staticmethod
    def basis(matrices: Iterable[int]) -> list[int]:
        found: list[int] = []
        for matrix in matrices:
            for one in found:
                matrix = min(matrix, matrix ^ one)
            if matrix:
                found.append(matrix)
        return found

    @staticmethod
    def span(basis: Iterable[int]) -> list[int]:
        every = [0]
        for one in basis:
            every += [one ^ other for other in every]
        return every

    def spanned(self, basis: list[int]) -> bool:
        """Whether matrices of rank one span the space."""
        inside = [matrix for matrix in self.span(basis) if matrix in self.ones]
        return len(self.basis(inside)) == len(basis)

    def larger(self, basis: list[int]) -> Iterator[list[int]]:
        """The spaces with one matrix of rank one more, each once."""
        seen = set(self.span(basis))
        for one in sorted(self.ones):
            if one not in seen:
                yield [*basis, one]
                seen.update(one ^ other for other in self.span(basis))

    def rank(self, basis: list[int], most: int) -> int:
        """The rank, or one more than ``most``."""
        spaces, rank = [basis], len(basis)
        while rank <= most:
            if any(map(self.spanned, spaces)):
                return rank
            if rank < most:
                spaces = [more for space in spaces for more in self.larger(space)]
            rank += 1
        return rank

    def inside(self, basis: list[int], block: int) -> list[int]:
        other = self.blocks[1 - block]
        return self.basis(matrix for matrix in self.span(basis) if not matrix & other)


def contradicts(spaces: Spaces, L: list[int]) -> tuple[bool, bool]:
    """Whether a space contradicts the claim, and whether it is in the exception."""
    r, parts = len(L), [spaces.basis(m & block for m in L) for block in spaces.blocks]
    ranks = [spaces.rank(part, len(part) + 2) for part in parts]
    rank, sum_of_ranks = spaces.rank(L, r + 2), sum(ranks)
    excepted = (
        sum(map(len, parts)) - r == 3
        and all(rank == len(part) for rank, part in zip(ranks, parts, strict=True))
        and all(spaces.spanned(spaces.inside(L, block)) for block in (0, 1))
    )
    least = min(sum_of_ranks, r + (2 if excepted else 3))
    return rank < least, excepted and rank < sum_of_ranks


def test_drawn_tensors_over_two_elements_do_not_contradict() -> None:
    rng = random.Random(0)
    spaces, tried = Spaces((2, 2), (2, 2)), 0
    while tried < 12:
        entries = [1 << n for block in spaces.blocks for n in range(16) if block >> n & 1]
        L = spaces.basis(
            sum(e for e in entries if rng.random() < 0.5) for _ in range(rng.choice([2, 3, 3]))
        )
        if len(L) > 1:
            wrong, _ = contradicts(spaces, L)
            assert not wrong, L
            tried += 1
    bits = [
        sum(1 << 4 * i + j for i, j in zip(*matrix.nonzero(), strict=True))
        for matrix in exception()
    ]
    wrong, below = contradicts(spaces, spaces.basis(bits))
    assert (wrong, below) == (False, True)


# --- planted decompositions -----------------------------------------------------------------------


def planted(rng: random.Random) -> tuple[Array, int]:
    """A tensor of two blocks whose slices lie in the span of some matrices of rank one.

    Some of these lie in the blocks; in two of three cases there are Strassen's five as well, of
    which three combinations lie in the blocks.
    """
    rows, columns = ([rng.randint(2, 3) for _ in range(2)] for _ in range(2))

    def vector(sizes: list[int], block: int) -> Array:
        entries = np.zeros(sum(sizes), dtype=int)
        start = sizes[0] * block
        entries[start : start + sizes[block]] = [
            rng.choice([0, 1, 1, -1]) for _ in range(sizes[block])
        ]
        return entries

    slices, R = [], 0
    for block in (0, 1):
        for _ in range(rng.randint(1, 4)):
            slices.append(np.outer(vector(rows, block), vector(columns, block)))
            R += 1
    if rng.random() < 0.67:
        p, x1, q, x2 = (vector(rows, block) for block in (0, 0, 1, 1))
        q1, y1, p2, y2 = (vector(columns, block) for block in (0, 0, 1, 1))
        slices.append(np.outer(p, y1) - np.outer(x2, p2))
        slices.append(np.outer(x1, q1) - np.outer(q, y2))
        slices.append(np.outer(p, q1 - y1) + np.outer(q, p2 - y2))
        R += 5
    fewer = max(1, len(slices) - rng.choice([0, 0, 1, 2, 3]))
    weights = [[rng.choice([0, 1, 1, -1]) for _ in slices] for _ in range(fewer)]
    if fewer == len(slices):
        weights = np.eye(fewer, dtype=int).tolist()
    return np.tensordot(np.array(weights), np.array(slices), 1), R


def test_block_bound_never_exceeds_a_planted_decomposition() -> None:
    rng, attained = random.Random(1), 0
    for _ in range(80):
        T, R = planted(rng)
        if T.any():
            core = concise(T).array
            bound = two_blocks(core, 0, best_flattening)
            assert bound is None or bound.value <= R
            attained += bound is not None and bound.value == R > best_flattening(core).value
    assert attained > 5


# --- proofs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [TWO_TABLES, OTHER_TABLES])
def test_block_bound_is_what_the_checker_recomputes(rows: list[str]) -> None:
    T = of_table(rows)
    bound = closing(T)
    (step,) = bound.steps
    assert bound.value == max(T.shape) + 3
    assert accepted(T, [step], bound.value)
    assert not accepted(T, [step], bound.value + 1)
    assert step["alone"]
    assert not accepted(T, [{**step, "alone": []}], bound.value)
    assert accepted(T, [{**step, "alone": []}], bound.value - 1)


def refused(T: Array, step: Any, value: int) -> bool:
    """Whether the checker refuses a step, or does not accept the bound."""
    try:
        return not accepted(T, [step], value)
    except NotACertificate:
        return True


def test_changed_proofs_are_rejected() -> None:
    T = of_table(TWO_TABLES)
    bound = closing(T)
    (step,) = bound.steps
    flat = {"lemma": "flattening", "mode": 2, "prime": "101"}
    alone = step["alone"][0]
    changes: list[dict[str, Any]] = [
        {"first": [step["first"][0][1:], step["first"][1]]},  # an entry outside of the blocks
        {"first": [list(range(7)), step["first"][1]]},  # nothing is left for the other block
        {"first": [[], []]},
        {"mode": 0},
        {"proofs": [step["proofs"][0][:-1] or [flat], [flat]]},
        {"proofs": step["proofs"][:1]},
        {"proofs": [[{**flat, "mode": 0}], step["proofs"][1]]},  # a bound that is too small
        {"alone": [{**alone, "block": 1 - alone["block"]}]},
        {"alone": [{**alone, "combinations": alone["combinations"][1:]}]},
        {"alone": [{**alone, "combinations": [["1"] * 11, *alone["combinations"]]}]},
        {"alone": [{**alone, "proof": [flat]}]},
    ]
    for change in changes:
        assert refused(T, {**step, **change}, bound.value), change
    nested = copy.deepcopy(step)
    nested["proofs"][0] = [{**step, "alone": []}]
    assert refused(T, nested, bound.value)


def test_a_block_that_needs_more_than_its_flattening_is_no_exception() -> None:
    """Three more than shared, and rank(T₁) > r₁: then the bound is r + 3 without more ado."""
    one = cyclic(3)  # over R four terms, three of each flattening
    two = np.zeros((3, 3, 3), dtype=int)
    two[range(3), range(3), range(3)] = 1
    T = np.zeros((3, 6, 6), dtype=int)
    T[:, :3, :3], T[:, 3:, 3:] = one, two
    bound = two_blocks(T, 0, lambda part: stages.quickly_proved(part, "R"))
    assert bound is not None
    assert (bound.value, bound.steps[-1]["alone"]) == (6, [])
    assert accepted(T, bound.steps, 6, "R")
    assert not accepted(T, bound.steps, 6, "C")


def test_what_lies_in_a_block_needs_more_over_the_reals_alone() -> None:
    """The cyclic group of order three lies in a block, three units in each of the two."""
    T = np.zeros((6, 9, 9), dtype=int)
    T[:3, :3, :3] = cyclic(3)
    T[range(3, 6), range(3, 6), range(3, 6)] = T[range(3, 6), range(6, 9), range(6, 9)] = 1
    flat = {"lemma": "flattening", "mode": 0, "prime": "101"}
    step: dict[str, Any] = {"lemma": "blocks", "mode": 0, "first": [list(range(6))] * 2}
    step |= {"proofs": [[flat], [flat]], "alone": []}
    rows = [[str(int(i == j)) for j in range(6)] for i in range(3)]
    proof = list(stages.quickly_proved(cyclic(3), "R").steps)
    alone = [{"block": 0, "combinations": rows, "proof": proof}]
    assert accepted(T, [step], 8, "R")
    assert not accepted(T, [step], 9, "R")
    assert accepted(T, [{**step, "alone": alone}], 9, "R")
    assert not accepted(T, [{**step, "alone": alone}], 9, "C")


def test_direct_sums_add_up_where_little_is_missing() -> None:
    """Numbers a + bx modulo x² need three products, two pairs of them six."""
    dual = np.array([[[1, 0], [0, 1]], [[0, 1], [0, 0]]])
    T = np.zeros((4, 4, 4), dtype=int)
    T[:2, :2, :2] = T[2:, 2:, 2:] = dual
    result = tensor_rank(T, "C")
    assert (result.lower, result.upper) == (6, 6)
    assert check(result.certificate()).holds


def test_what_the_steps_for_a_block_give_adds_up() -> None:
    T = np.zeros((4, 4, 4), dtype=int)
    T[:2, :2, :2] = T[2:, 2:, 2:] = np.array([[[1, 0], [0, 1]], [[0, 1], [0, 0]]])
    flat = {"lemma": "flattening", "mode": 0, "prime": "101"}
    killed = {"lemma": "substitution", "mode": 0, "prime": "101", "maps": [[], [1], []]}
    step: dict[str, Any] = {"lemma": "blocks", "mode": 0, "first": [[0, 1], [0, 1]], "alone": []}
    assert accepted(T, [{**step, "proofs": [[killed, flat], [killed, flat]]}], 4)


def test_a_database_that_only_this_bound_closes(monkeypatch: pytest.MonkeyPatch) -> None:
    result = tensor_rank(of_table(TWO_TABLES), "R")
    assert (result.rank, result.bound.lemmas[-1]) == (14, "blocks")
    assert check(result.certificate()).holds
    monkeypatch.setattr(stages, "block_bound", lambda *_: None)
    without = tensor_rank(of_table(TWO_TABLES), "R")
    assert (without.lower, without.upper) == (13, 14)


def test_columns_of_two_types_glued() -> None:
    """Two full outer products of eight cells each that share four: one term is saved."""
    rng = random.Random(3)
    T = np.zeros((12, 4, 8), dtype=int)
    for n, (i, j) in enumerate(product(range(2), range(4))):
        T[n, i, j] = 1
    for n, (i, j) in enumerate(product(range(2), range(2))):
        T[8 + n, 2 + i, 4 + j] = 1
    for i, j in product(range(2), range(2, 4)):
        for n in rng.sample(range(12), 5):
            T[n, 2 + i, 4 + j] = rng.choice([1, -1])
    found = glued(T, 16, lambda part: stages.written_quickly(part, "Q"))
    assert found is not None
    assert len(found) == 15
    assert found.adds_up_to(T)
    bound = closing(T)
    assert bound.value == 15
    assert accepted(T, bound.steps, 15)


# --- what is charged ------------------------------------------------------------------------------


def work_of(T: Array, step: Any) -> int:
    with metered() as meter:
        gain, _, _ = RULES["blocks"].apply(step, T.tolist(), "Q", "proof[0]")
    assert gain > 0
    return meter.work


def test_whatever_is_gone_through_is_charged() -> None:
    """Combinations that select a slice, and steps that change nothing, cost what they go through.

    Slices of the first mode are there already, so that to select them is free.
    """
    T = np.zeros((2, 42, 42), dtype=int)
    T[0, 0, 0] = T[0, 1, 1] = T[1, 2, 2] = 1
    flat = {"lemma": "flattening", "mode": 1, "prime": "2"}
    alone = {"block": 0, "combinations": [0], "proof": [flat]}
    step: dict[str, Any] = {"lemma": "blocks", "mode": 0, "first": [[0, 1], [0, 1]]}
    step |= {"proofs": [[flat], [flat]], "alone": []}
    least = work_of(T, step)
    one = work_of(T, {**step, "alone": [alone]})
    assert one - least >= 40 * 40
    assert work_of(T, {**step, "alone": [alone] * 9}) == least + 9 * (one - least)
    nothing = {"lemma": "restriction", "maps": [[], [], []]}
    longer = work_of(T, {**step, "proofs": [[flat], [nothing, nothing, flat]]})
    assert longer == least + 2 * 2 * 40 * 40
