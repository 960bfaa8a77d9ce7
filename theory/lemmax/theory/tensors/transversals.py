"""Smallest sets that meet every set of a family, exactly, by branch and bound."""

from __future__ import annotations

from collections.abc import Sequence

from lemmax.theory.errors import LemmaxError

_NODES = 2_000


class TooManySets(LemmaxError):
    """The search for a smallest transversal was given up."""


def transversal(sets: Sequence[frozenset[int]]) -> frozenset[int]:
    """A smallest set that meets all the given nonempty sets.

    The least size is found by branching over the elements of a smallest set not yet met, up to a
    depth that grows one by one; a greedy packing of disjoint sets says where to start.

    >>> sorted(transversal([frozenset({0, 1}), frozenset({1, 2}), frozenset({0, 2})]))
    [0, 1]
    """
    minimal = [s for s in set(sets) if not any(t < s for t in sets)]
    size = _packing(minimal)
    budget = [_NODES]
    while True:
        smallest = _search(minimal, size, budget)
        if smallest is not None:
            return smallest
        size += 1


def _packing(sets: Sequence[frozenset[int]]) -> int:
    """The number of pairwise disjoint sets found greedily: no transversal is smaller."""
    used: set[int] = set()
    count = 0
    for s in sorted(sets, key=lambda s: (len(s), sorted(s))):
        if not used & s:
            used |= s
            count += 1
    return count


def _search(sets: Sequence[frozenset[int]], size: int, budget: list[int]) -> frozenset[int] | None:
    if not sets:
        return frozenset()
    if _packing(sets) > size:
        return None
    budget[0] -= 1
    if budget[0] < 0:
        raise TooManySets("The sets are too many for an exact search of a smallest transversal.")
    smallest = min(sets, key=lambda s: (len(s), sorted(s)))
    by_use = sorted(smallest, key=lambda x: (-sum(x in s for s in sets), x))
    for x in by_use:
        rest = _search([s for s in sets if x not in s], size - 1, budget)
        if rest is not None:
            return rest | {x}
    return None


def greedy_transversal(sets: Sequence[frozenset[int]]) -> list[int]:
    """A set that meets all the sets: always the element that meets most of what is left."""
    left, chosen = list(sets), []
    while left:
        elements = sorted({x for s in left for x in s})
        best = max(elements, key=lambda x: sum(x in s for s in left))
        chosen.append(best)
        left = [s for s in left if best not in s]
    return chosen
