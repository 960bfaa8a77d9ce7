"""Multiplication tables of small groups and algebras, by name.

A table has one row and one column for each basis element; of a group it has the product as entry.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

import numpy as np

from lemmax.theory.tensors.arrays import Array
from lemmax.theory.tensors.examples import of_table

G = TypeVar("G", bound=Hashable)


def group_table(elements: Sequence[G], product: Callable[[G, G], G]) -> Array:
    """The tensor of a group: keys and queries are its elements, values are the products.

    >>> group_table(range(2), lambda x, y: (x + y) % 2).tolist()
    [[[1, 0], [0, 1]], [[0, 1], [1, 0]]]
    """
    place = {x: i for i, x in enumerate(elements)}
    return of_table([[place[product(x, y)] for y in elements] for x in elements])


def abelian(*orders: int) -> Array:
    """The product of cyclic groups.

    >>> abelian(2, 3).shape
    (6, 6, 6)
    """

    def add(x: Any, y: Any) -> Any:
        return tuple((a + b) % n for a, b, n in zip(x, y, orders, strict=True))

    return group_table(list(itertools.product(*map(range, orders))), add)


def metacyclic(n: int, m: int, turn: int, power: int = 0) -> Array:
    """The group of r^i s^j with r^n = 1, s^m = r^power and s r = r^turn s.

    >>> metacyclic(3, 2, -1).shape  # the symmetries of a triangle
    (6, 6, 6)
    """

    def product(x: tuple[int, int], y: tuple[int, int]) -> tuple[int, int]:
        carry, j = divmod(x[1] + y[1], m)
        return (x[0] + turn ** x[1] * y[0] + carry * power) % n, j

    return group_table(list(itertools.product(range(n), range(m))), product)


def semidirect(orders: Sequence[int], matrix: Sequence[Sequence[int]]) -> Array:
    """An abelian group extended by an automorphism of order two, given as an integer matrix."""

    def product(x: Any, y: Any) -> Any:
        moved = y[:-1]
        if x[-1]:
            moved = [sum(a * b for a, b in zip(row, moved, strict=True)) for row in matrix]
        first = [(a + b) % n for a, b, n in zip(x[:-1], moved, orders, strict=True)]
        return (*first, (x[-1] + y[-1]) % 2)

    return group_table(list(itertools.product(*map(range, orders), range(2))), product)


def alternating() -> Array:
    """The even permutations of four things."""
    even = [
        p
        for p in itertools.permutations(range(4))
        if sum(p[i] > p[j] for i, j in itertools.combinations(range(4), 2)) % 2 == 0
    ]
    return group_table(even, lambda x, y: tuple(x[i] for i in y))


def times_two(table: Array) -> Array:
    """The product of a group with the group of two elements."""
    n = len(table)
    both: Array = np.einsum("ijk,abc->iajbkc", table, abelian(2))
    return both.reshape(2 * n, 2 * n, 2 * n)


def truncated(n: int) -> Array:
    """Polynomials modulo x^n.

    >>> int(truncated(3).sum())
    6
    """
    return np.array([[[int(i + j == k) for k in range(n)] for j in range(n)] for i in range(n)])


def quaternions(a: int = -1, b: int = -1) -> Array:
    """Quaternions with the basis 1, i, j, ij: i² = a, j² = b and ij = -ji.

    >>> quaternions()[1, 1].tolist(), quaternions(2, 3)[3, 3].tolist()
    ([-1, 0, 0, 0], [-6, 0, 0, 0])
    """
    T = np.zeros((4, 4, 4), dtype=int)
    T[0], T[:, 0] = np.eye(4), np.eye(4)
    T[1, 1, 0], T[2, 2, 0], T[3, 3, 0] = a, b, -a * b
    for i, j, k, x in ((1, 2, 3, 1), (1, 3, 2, a), (2, 3, 1, -b)):
        T[i, j, k], T[j, i, k] = x, -x
    return T


_SEVERAL = ((2, 2), (4, 2), (2, 2, 2), (3, 3), (6, 2), (8, 2), (4, 4), (4, 2, 2), (2, 2, 2, 2))
ABELIAN: dict[str, Array] = {
    " × ".join(f"Z{n}" for n in orders): abelian(*orders)
    for orders in sorted([*((n,) for n in range(2, 17)), *_SEVERAL], key=math.prod)
}
"""The abelian groups of order at most 16.

:meta hide-value:
"""

OTHERS: dict[str, Array] = {
    "S3": metacyclic(3, 2, -1),
    "D4": metacyclic(4, 2, -1),
    "Q8": metacyclic(4, 2, -1, 2),
    "D5": metacyclic(5, 2, -1),
    "D6": metacyclic(6, 2, -1),
    "A4": alternating(),
    "Dic3": metacyclic(6, 2, -1, 3),
    "D7": metacyclic(7, 2, -1),
    "D8": metacyclic(8, 2, -1),
    "Q16": metacyclic(8, 2, -1, 4),
    "SD16": metacyclic(8, 2, 3),
    "M16": metacyclic(8, 2, 5),
    "Z4 ⋊ Z4": metacyclic(4, 4, -1),
    "D4 × Z2": times_two(metacyclic(4, 2, -1)),
    "Q8 × Z2": times_two(metacyclic(4, 2, -1, 2)),
    "(Z4 × Z2) ⋊ Z2": semidirect((4, 2), ((1, 0), (1, 1))),
    "D4 ∘ Z4": semidirect((4, 2), ((1, 2), (0, 1))),
}
"""The other groups of order at most 16.

:meta hide-value:
"""
