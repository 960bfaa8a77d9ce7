"""The union of matroids (Edmonds 1968): largest partitions into independent sets, with a witness.

>>> forests = matroid_union(3, [lambda s: len(s) <= 1, lambda s: len(s) <= 1])
>>> forests.rank, sorted(forests.tight)
(2, [0, 1, 2])
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Independent: TypeAlias = Callable[[Sequence[int]], bool]


@dataclass(frozen=True)
class MatroidUnion:
    """Disjoint independent sets, one per matroid, whose total size is the rank of the union.

    ``tight`` is a set F with rank = |E∖F| + Σ_k r_k(F): no partition can be larger.
    """

    parts: tuple[frozenset[int], ...]
    tight: frozenset[int]

    @property
    def rank(self) -> int:
        """The rank of the union."""
        return sum(map(len, self.parts))


def matroid_rank(elements: Iterable[int], independent: Independent) -> int:
    """The rank of a set by the greedy algorithm.

    >>> matroid_rank(range(5), lambda s: len(s) <= 2)
    2
    """
    chosen: list[int] = []
    for x in elements:
        if independent([*chosen, x]):
            chosen.append(x)
    return len(chosen)


def matroid_union(size: int, matroids: Sequence[Independent]) -> MatroidUnion:
    """The union of matroids on {0, …, size-1}, given by independence oracles.

    Each element is inserted along a shortest exchange path. When none exists, the elements that
    the search reaches form a set that is full in every matroid, and the min–max equality
    rank = |E∖F| + Σ_k r_k(F) is verified before the answer is returned. Cost: at most
    size² · (number of matroids) · (largest rank) oracle calls; far fewer when there is room.
    """
    parts: list[set[int]] = [set() for _ in matroids]
    failed: list[int] = []
    for x in range(size):
        if _insert(x, parts, matroids) is not None:
            failed.append(x)
    tight: set[int] = set()
    for x in failed:
        reached = _insert(x, parts, matroids)
        if reached is None:
            raise AssertionError("an element that failed once fails for ever")
        tight |= reached
    rank = sum(map(len, parts))
    bound = size - len(tight) + sum(matroid_rank(sorted(tight), m) for m in matroids)
    if rank != bound:
        raise AssertionError("the oracles are not those of matroids")
    return MatroidUnion(tuple(map(frozenset, parts)), frozenset(tight))


def _insert(x: int, parts: list[set[int]], matroids: Sequence[Independent]) -> set[int] | None:
    """Insert x and return None, or return all elements that its exchange paths reach."""
    home = {y: k for k, part in enumerate(parts) for y in part}
    before: dict[int, int] = {x: x}
    queue = deque([x])
    while queue:
        u = queue.popleft()
        for k, independent in enumerate(matroids):
            if home.get(u) == k:
                continue
            part = parts[k]
            if independent([*part, u]):
                _augment(u, k, home, before, parts)
                return None
            for v in part:
                if v not in before and independent([*(part - {v}), u]):
                    before[v] = u
                    queue.append(v)
    return set(before)


def _augment(
    u: int, k: int, home: dict[int, int], before: dict[int, int], parts: list[set[int]]
) -> None:
    """Put u into part k; whoever found u takes its place, and so on back to the new element."""
    while True:
        old = home.get(u)
        if old is not None:
            parts[old].discard(u)
        parts[k].add(u)
        if before[u] == u:
            return
        u, k = before[u], old if old is not None else k
