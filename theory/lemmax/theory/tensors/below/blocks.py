"""Two blocks that share indices of one mode only: when their ranks add up.

Let T = T₁ + T₂ where T₁ and T₂ have no index in common but those of one mode, and let r, r₁ and r₂
be the ranks of the flattenings of that mode. Then

    R(T) ≥ min(R(T₁) + R(T₂), r + 3),

with r + 2 in the place of r + 3 if r₁ + r₂ - r = 3, R(T₁) = r₁, R(T₂) = r₂, and the matrices that
the slices span and that lie alone in one block are spanned by those of rank one, in both blocks.
No more is true in general: the product of two by two matrices has two blocks of rank four, and
r = 4, and rank seven. Of a direct sum r₁ + r₂ - r = 0.

The lemma ends a path of substitutions (:mod:`.substitution`), and what it says of the blocks are
chains of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from flint import fmpq_mat, fmpz_mat

from lemmax.theory.numbers.linear import integers, left_null_space
from lemmax.theory.tensors.arrays import Array, flattening, flattening_rank, mapped
from lemmax.theory.tensors.below.chains import ChainStep, LowerBound, OpenChain
from lemmax.theory.tensors.below.substitution import ALL_SUBSETS, Subsets
from lemmax.theory.tensors.reductions import Half, blocks, halves, part_of

_MORE = 3  # than the flattening, at the most
_BLOCKS = 6  # that are put together into two in all ways

Prove = Callable[[Array], LowerBound]


def block_bound(
    array: Array,
    lower: int,
    upper: int,
    prove: Prove,
    expired: Callable[[], bool] = lambda: False,
) -> LowerBound | None:
    """A bound above ``lower`` by a path of substitutions that ends in two blocks, or None.

    ``prove`` bounds the ranks of the blocks. It stops at ``upper``.

    Cost: some exact ranks, and the proofs for the blocks, for each promising end of a path.

    >>> from lemmax.theory.tensors.below.flattenings import best_flattening
    >>> T = np.zeros((3, 4, 3), dtype=int)
    >>> T[0, :2, :2] = T[1, 2:, :2] = T[2, 2:, 1:] = np.eye(2)
    >>> block_bound(T, 3, 6, best_flattening).value
    5
    """
    best = None
    for path in _paths(array, lower):
        if lower >= upper or expired():
            break
        closing = two_blocks(path.end, lower - path.gain, prove)
        if closing is not None:
            best = path.closed(closing)
            lower = best.value
    return best


def _paths(array: Array, lower: int) -> Iterator[OpenChain]:
    """The tensor itself, and the ends of paths from which the lemma could reach more."""
    yield OpenChain(array)
    for mode in range(3):
        if array.shape[mode] > ALL_SUBSETS:
            continue
        subsets = Subsets(array, mode)
        values = {mask: gain + subsets.flat(mask) for mask, (gain, _, _) in subsets.gains.items()}
        for mask in sorted(values, key=lambda mask: (-values[mask], -mask.bit_count(), mask)):
            if values[mask] + _MORE <= lower:
                break
            if mask.bit_count() < subsets.size:
                yield subsets.path(mask)


def two_blocks(array: Array, least: int, prove: Prove) -> LowerBound | None:
    """The bound of the lemma alone, if it is above ``least``."""
    best = None
    for mode in range(3):
        rank = flattening_rank(array, mode)
        sides = blocks(array, mode) if rank + _MORE > least else []
        if not 2 <= len(sides) <= _BLOCKS:
            continue
        others = [m for m in range(3) if m != mode]
        for first in halves(sides, others):
            bound = _of_halves(array, mode, rank, first, least, prove)
            if bound is not None:
                best, least = bound, bound.value
    return best


def _of_halves(
    array: Array, mode: int, rank: int, first: Half, least: int, prove: Prove
) -> LowerBound | None:
    """The lemma for the block with these indices and the one with all others."""
    sizes = np.delete(array.shape, mode).tolist()
    second = [[i for i in range(n) if i not in own] for n, own in zip(sizes, first, strict=True)]
    parts = [part_of(array, mode, half) for half in (first, second)]
    ranks = [flattening_rank(part, mode) for part in parts]
    chains = [prove(part) for part in parts]
    total = sum(chain.value for chain in chains)
    more, alone = _MORE, list[ChainStep]()
    exact = all(chain.value <= r for chain, r in zip(chains, ranks, strict=True))
    if sum(ranks) - rank == _MORE and exact:
        if min(total, rank + _MORE) > max(least, rank + 2):
            alone = _alone(parts, ranks, rank, mode, prove)
        more = _MORE if alone else 2
    if min(total, rank + more) <= least:
        return None
    step: ChainStep = {
        "lemma": "blocks",
        "mode": mode,
        "first": first,
        "proofs": [list(chain.steps) for chain in chains],
        "alone": alone,
    }
    return LowerBound.by(step, min(total, rank + more))


def _alone(
    parts: Sequence[Array], ranks: Sequence[int], rank: int, mode: int, prove: Prove
) -> list[ChainStep]:
    """A proof that the matrices inside of one block need more terms than they have dimensions."""
    for own, part in enumerate(parts):
        size, other = rank - ranks[1 - own], parts[1 - own]
        if not size:
            continue
        rows = [
            integers(row)
            for row in left_null_space(fmpq_mat(fmpz_mat(flattening(other, mode).tolist())))
        ]
        if not rows:
            continue
        inside = mapped(part, mode, [[int(x) for x in row] for row in rows])
        if inside.dtype == object or not inside.any():
            continue
        chain = prove(inside)
        if chain.value > size:
            combinations = [[str(x) for x in row] for row in rows]
            proof = list(chain.steps)
            return [{"block": own, "combinations": combinations, "proof": proof}]
    return []
