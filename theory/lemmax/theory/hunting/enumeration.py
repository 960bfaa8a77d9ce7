"""All instances of a size, for statements about numbers, matrices and tensors.

Matrices and tensors have integer entries here. Where no word of the statement sees a permutation of
rows and columns, only matrices whose rows and whose columns are in lexicographic order are listed:
every matrix can be permuted into one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

from lemmax.theory.hunting.question import Instance, Question

ENUMERATED = ("integer", "rational", "integers", "matrix", "tensor", "field")
_Row = tuple[int, ...]


def enumerable(question: Question) -> bool:
    """Whether every sort of the statement can be enumerated."""
    return all(sort in ENUMERATED for sort in question.given.values())


def instances(question: Question, size: int) -> Iterator[Instance]:
    """Every instance of that size whose shapes satisfy the assumptions, up to permutations.

    Numbers are chosen first, then shapes, which assumptions about shapes prune, then entries.

    >>> asked = Question("given M: matrix; assume 2 * rows(M) == columns(M); conclude rank(M) < 1")
    >>> [i["M"] for i in instances(asked, 3)]
    [[['-1', '0']], [['0', '1']]]
    """
    names = list(question.given)
    for parts in _compositions(size, len(names)):
        budget = dict(zip(names, parts, strict=True))
        choices = [list(_skeletons(question.given[n], budget[n])) for n in names]
        for skeletons in itertools.product(*choices):
            empty = {n: s.plain() for n, s in zip(names, skeletons, strict=True)}
            if not question.fits(empty):
                continue
            ordered = question.permutable
            filled = [s.filled(ordered) for s in skeletons]
            for values in itertools.product(*filled):
                yield dict(zip(names, values, strict=True))


def _compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Positive integers that sum to the total."""
    for cuts in itertools.combinations(range(1, total), parts - 1):
        yield tuple(b - a for a, b in itertools.pairwise((0, *cuts, total)))


class _Plain:
    """A number, a list of indices or a field: nothing is left to fill in."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def plain(self) -> Any:
        return self.value

    def filled(self, ordered: bool) -> list[Any]:
        return [self.value]


class _Cells:
    """A matrix, or with a third dimension a tensor, whose entries have a given sum of moduli."""

    def __init__(self, shape: tuple[int, ...], weight: int) -> None:
        self.shape, self.weight = shape, weight

    def plain(self) -> Any:
        zero = [["0"] * self.shape[-1] for _ in range(self.shape[-2])]
        return zero if len(self.shape) == 2 else [zero] * self.shape[0]

    def filled(self, ordered: bool) -> Iterator[Any]:
        if len(self.shape) == 2:
            for table in _tables(*self.shape, self.weight, ordered):
                yield [[str(x) for x in row] for row in table]
            return
        slices, m, n = self.shape
        for table in _tables(slices * m, n, self.weight, False):
            rows = [[str(x) for x in row] for row in table]
            yield [rows[i * m : (i + 1) * m] for i in range(slices)]


def _skeletons(sort: str, size: int) -> Iterator[_Plain | _Cells]:
    if sort == "integer":
        yield from (_Plain(str(x)) for x in sorted({size - 1, 1 - size}))
    elif sort == "rational":
        for q in range(1, size + 1):
            if Fraction(size - q, q).denominator == q:
                yield from (_Plain(str(Fraction(p, q))) for p in sorted({size - q, q - size}))
    elif sort == "field":
        yield from (_Plain(name) for name in ("Q", "R", "C") if size == 1)
    elif sort == "integers":
        for count in range(size + 1):
            for row in _rows(count, size - count):
                if min(row, default=0) >= 0:
                    yield _Plain(list(row))
    elif sort == "matrix":
        for m in range(1, size + 1):
            yield from (_Cells((m, n), size - m * n) for n in range(1, size // m + 1))
    elif sort == "tensor":
        for a in range(1, size + 1):
            for m in range(1, size // a + 1):
                for n in range(1, size // (a * m) + 1):
                    yield _Cells((a, m, n), size - a * m * n)


@cache
def _rows(length: int, weight: int) -> tuple[_Row, ...]:
    """All integer vectors of a length whose moduli sum to the weight, in lexicographic order."""
    if not length:
        return ((),) if not weight else ()
    found = [
        (first, *rest)
        for first in range(-weight, weight + 1)
        for rest in _rows(length - 1, weight - abs(first))
    ]
    return tuple(sorted(found))


def _tables(m: int, n: int, weight: int, ordered: bool) -> Iterator[tuple[_Row, ...]]:
    """All m × n integer matrices of a weight; ordered: rows and columns do not decrease."""
    for spread in _weights(m, weight):
        for table in _stacked(n, spread, ordered):
            if not ordered or all(a <= b for a, b in itertools.pairwise(zip(*table, strict=True))):
                yield table


def _weights(parts: int, total: int) -> Iterator[tuple[int, ...]]:
    """Non-negative integers that sum to the total."""
    return (tuple(x - 1 for x in c) for c in _compositions(total + parts, parts))


def _stacked(n: int, weights: tuple[int, ...], ordered: bool) -> Iterator[tuple[_Row, ...]]:
    if not weights:
        yield ()
        return
    for above in _stacked(n, weights[:-1], ordered):
        for row in _rows(n, weights[-1]):
            if not (ordered and above and row < above[-1]):
                yield (*above, row)
