"""Ranks of two blocks add up, unless they exceed a flattening rank by more than three, or two."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..limits import keep, refuse, released, spend
from ..reading import exactly, fields, indices, integer, items, variant
from ..tensors import Bound, Integral, exact_rank, length_of, mapped, sizes, turned, turned_back


def proved(
    rules: Mapping[str, Any], steps: object, T: Integral, field: str, where: str
) -> int | None:
    """The bound that a chain of steps proves for a part, or None if a step of it fails."""
    total, proof = 0, items(steps, where)
    for i, step in enumerate(proof):
        at = f"{where}[{i}]"
        ends = i == len(proof) - 1
        named = {name: rule.fields for name, rule in rules.items() if rule.closes == ends}
        name = variant(step, at, "lemma", named)
        with released():
            keep("The tensor", entries := math.prod(sizes(T)), length_of(T))
            spend("The tensor", entries)
            gain, T, _ = rules[name].apply(step, T, field, at)
        if gain < 0:
            return None
        total += gain
    return total


def part(T: Integral, modes: Sequence[int], kept: Sequence[Sequence[int]]) -> Integral:
    """The indices that are kept in two modes."""
    for mode, chosen in zip(modes, kept, strict=True):
        slices = turned(T, mode)
        T = turned_back([slices[i] for i in chosen], mode)
    return T


def by_blocks(
    rules: Mapping[str, Any], step: Mapping[str, Any], T: Integral, field: str, where: str
) -> Bound:
    """R(T1 + T2) >= min(R(T1) + R(T2), r + 3), where the two share indices of one mode only.

    r, r1 and r2 are the ranks of the flattenings of that mode. It is r + 2 if r1 + r2 - r = 3,
    unless R(T1) > r1 or R(T2) > r2, or the matrices that the slices span and that lie alone in one
    block, r - r2 or r - r1 dimensions, are not spanned by those of rank one.
    """
    mode = integer(step["mode"], f"{where}.mode", 3)
    modes = [m for m in range(3) if m != mode]
    chosen = exactly(2, step["first"], f"{where}.first")
    first = [
        sorted(indices(some, f"{where}.first", sizes(T)[m]))
        for m, some in zip(modes, chosen, strict=True)
    ]
    inside = [set(some) for some in first]
    second = [
        [i for i in range(sizes(T)[m]) if i not in own]
        for m, own in zip(modes, inside, strict=True)
    ]
    if not all(first) or not all(second):
        refuse(f"{where}.first", "must leave both blocks an index of each mode")
    a, b, c = sizes(T)
    spend("The blocks", 6 * a * b * c)
    for i, matrix in enumerate(T):
        for j, row in enumerate(matrix):
            for k, x in enumerate(row):
                here = [(i, j, k)[m] in own for m, own in zip(modes, inside, strict=True)]
                if x and here[0] != here[1]:
                    return -1, T, "an entry is outside of the two blocks"
    parts = [part(T, modes, kept) for kept in (first, second)]
    proofs = exactly(2, step["proofs"], f"{where}.proofs")
    bounds: list[int] = []
    for n, (steps, block) in enumerate(zip(proofs, parts, strict=True)):
        bound = proved(rules, steps, block, field, f"{where}.proofs[{n}]")
        if bound is None:
            return -1, T, "a proof for a block fails"
        bounds.append(bound)
    rank, ranks = exact_rank(T, mode), [exact_rank(block, mode) for block in parts]
    exact = all(bound <= r for bound, r in zip(bounds, ranks, strict=True))
    more = 2 if sum(ranks) - rank == 3 and exact else 3
    for n, value in enumerate(items(step["alone"], f"{where}.alone", 0)):
        at = f"{where}.alone[{n}]"
        alone = fields(value, at, "block combinations proof")
        own = integer(alone["block"], f"{at}.block", 2)
        rows = items(alone["combinations"], f"{at}.combinations")
        other = mapped(rows, parts[1 - own], mode, at)
        spend("The blocks", math.prod(sizes(other)))
        if any(x for one in other for row in one for x in row):
            return -1, T, "a combination does not vanish on the other block"
        inner = mapped(rows, parts[own], mode, at)
        size = rank - ranks[1 - own]
        needed = proved(rules, alone["proof"], inner, field, f"{at}.proof")
        if needed is None or needed <= size:
            return -1, T, "the matrices inside of a block are not shown to need more terms"
        more = 3
    gain = min(bounds[0] + bounds[1], rank + more)
    return gain, T, f"R >= min({bounds[0]} + {bounds[1]}, {rank} + {more}), for two blocks"
