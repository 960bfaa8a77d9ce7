"""All instances of a size, for statements about numbers, matrices, tensors and tables of facts.

Entries are rational: an entry p/q in lowest terms weighs |p| + q - 1, so that 2φ(w + 1) numbers
weigh w > 0 and below each size there are finitely many instances. Where no word of the statement
sees a permutation of rows, columns or slices, or the names of tokens
(:mod:`lemmax.theory.hunting.symmetry`), few of those alike are listed: matrices and tensors
whose lines are in lexicographic order, sequences in order and with the smallest names.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from typing import Any, Protocol

from lemmax.theory.hunting.question import Instance, Question
from lemmax.theory.hunting.symmetry import (
    Symmetry,
    in_order,
    least_names,
    least_tensor,
    symmetries,
)

ENUMERATED = (
    *("integer", "rational", "matrix", "tensor", "field", "database", "associations", "sequences"),
)
_Row = tuple[Fraction, ...]


def enumerable(question: Question) -> bool:
    """Whether every sort of the statement can be enumerated.

    Databases are, up to the names of tokens, where the statement itself names none.
    """
    sorts = set(question.given.values())
    return sorts <= set(ENUMERATED) and not ("database" in sorts and question.literals)


def instances(question: Question, size: int) -> Iterator[Instance]:
    """Every instance of that size whose shapes satisfy the assumptions, up to symmetry.

    An instance that is not listed is alike one of that size or, renamed, of a smaller one.
    Numbers are chosen first, then shapes, which assumptions about shapes prune, then entries.

    >>> asked = Question("given M: matrix; assume 2 * rows(M) == columns(M); conclude rank(M) < 1")
    >>> [i["M"] for i in instances(asked, 3)]
    [[['-1', '0']], [['0', '1']]]
    """
    return (found for found in steps(question, size) if found is not None)


def steps(question: Question, size: int) -> Iterator[Instance | None]:
    """The same, with a None for every shape that an assumption refuses: the price of looking."""
    plain, alike = ("integer", "rational", "field"), symmetries(question)
    names = sorted(question.given, key=lambda name: question.given[name] not in plain)
    for skeletons in _shapes(question, size, names, {}):
        if skeletons is None:
            yield None
            continue
        for values in _together([(skeletons[n], alike.get(n)) for n in question.given]):
            yield dict(zip(question.given, values, strict=True))


def _shapes(
    question: Question, size: int, names: Sequence[str], chosen: dict[str, _Skeleton]
) -> Iterator[dict[str, _Skeleton] | None]:
    """Shapes for the names, numbers first; what an assumption refuses is not continued."""
    if not names:
        yield chosen
        return
    first, *rest = names
    for part in range(1, size + 1 - len(rest)) if rest else (size,):
        for skeleton in _skeletons(question.given[first], part):
            known = {**chosen, first: skeleton}
            if question.fits({name: s.plain() for name, s in known.items()}, first):
                yield from _shapes(question, size - part, rest, known)
            else:
                yield None


def _together(
    skeletons: Sequence[tuple[_Skeleton, Symmetry | None]],
) -> Iterator[tuple[Any, ...]]:
    """The product of what they can be filled with, without keeping it."""
    if not skeletons:
        yield ()
        return
    skeleton, symmetry = skeletons[0]
    for first in skeleton.filled(symmetry):
        for rest in _together(skeletons[1:]):
            yield (first, *rest)


def _compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Positive integers that sum to the total."""
    for cuts in itertools.combinations(range(1, total), parts - 1):
        yield tuple(b - a for a, b in itertools.pairwise((0, *cuts, total)))


class _Skeleton(Protocol):
    """The shape of a value: any value of that shape, and all of them."""

    def plain(self) -> Any: ...

    def filled(self, symmetry: Symmetry | None) -> Iterable[Any]: ...


class _Plain:
    """A number or a field: nothing is left to fill in."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def plain(self) -> Any:
        return self.value

    def filled(self, symmetry: Symmetry | None) -> list[Any]:
        return [self.value]


class _Cells:
    """A matrix, or with a third dimension a tensor, whose entries have a given total weight."""

    def __init__(self, shape: tuple[int, ...], weight: int) -> None:
        self.shape, self.weight = shape, weight

    def plain(self) -> Any:
        zero = [["0"] * self.shape[-1] for _ in range(self.shape[-2])]
        return zero if len(self.shape) == 2 else [zero] * self.shape[0]

    def filled(self, symmetry: Symmetry | None) -> Iterator[Any]:
        if len(self.shape) == 2:
            for table in _tables(*self.shape, self.weight, symmetry == "lines"):
                yield [[str(x) for x in row] for row in table]
            return
        slices, m, n = self.shape
        for table in _tables(slices * m, n, self.weight, False):
            cube = [table[i * m : (i + 1) * m] for i in range(slices)]
            if least_tensor(cube, symmetry):
                yield [[[str(x) for x in row] for row in M] for M in cube]


class _Sequences:
    """So many different sequences of one length, in some order, with targets or without."""

    def __init__(self, count: int, length: int, weight: int, targets: bool) -> None:
        self.count, self.length, self.weight, self.targets = count, length, weight, targets

    def plain(self) -> Any:
        return self._written([(i,) + (0,) * (self.length - 1) for i in range(self.count)])

    def filled(self, symmetry: Symmetry | None) -> Iterator[Any]:
        for numbers in _weights(self.count * self.length, self.weight):
            rows = [numbers[i * self.length : (i + 1) * self.length] for i in range(self.count)]
            asked = [row[: self.length - self.targets] for row in rows]
            if symmetry is not None:
                goals = [row[-1] for row in rows] if self.targets else [0]
                tokens = list(itertools.chain.from_iterable(asked))
                if not (in_order(asked) and least_names(tokens) and least_names(goals)):
                    continue
            if len(set(asked)) == self.count:
                yield self._written(rows)

    def _written(self, rows: Sequence[tuple[int, ...]]) -> Any:
        if self.targets:
            return {"associations": [[list(row[:-1]), row[-1]] for row in rows]}
        return {"sequences": [list(row) for row in rows]}


class _Facts:
    """So many facts, up to the names of tokens: each name is new, or one of those before it."""

    def __init__(self, count: int) -> None:
        self.count = count

    def plain(self) -> Any:
        return {"facts": [[f"t{i}", "t", "t"] for i in range(self.count)]}

    def filled(self, symmetry: Symmetry | None) -> Iterator[Any]:
        for names in _growing(3 * self.count):
            facts = [[f"t{i}" for i in names[j : j + 3]] for j in range(0, len(names), 3)]
            if len({(k, q) for k, q, _ in facts}) == self.count:
                yield {"facts": facts}


def _growing(length: int) -> Iterator[tuple[int, ...]]:
    """Sequences whose every new number is the next one: one for each partition of the places."""
    if not length:
        yield ()
        return
    for before in _growing(length - 1):
        yield from ((*before, i) for i in range(max(before, default=-1) + 2))


def _skeletons(sort: str, size: int) -> Iterator[_Skeleton]:
    if sort == "integer":
        yield from (_Plain(str(x)) for x in sorted({size - 1, 1 - size}))
    elif sort == "rational":
        yield from (_Plain(str(x)) for x in _numbers(size - 1))
    elif sort == "field":
        yield from (_Plain(name) for name in ("Q", "R", "C") if size == 1)
    elif sort == "database" and size % 3 == 0:
        yield _Facts(size // 3)
    elif sort in ("associations", "sequences"):
        targets = sort == "associations"
        for count in range(1, size + 1):
            for length in range(1 + targets, size // count + 1):
                yield _Sequences(count, length, size - count * length, targets)
    elif sort == "matrix":
        for m in range(1, size + 1):
            yield from (_Cells((m, n), size - m * n) for n in range(1, size // m + 1))
    elif sort == "tensor":
        for a in range(1, size + 1):
            for m in range(1, size // a + 1):
                for n in range(1, size // (a * m) + 1):
                    yield _Cells((a, m, n), size - a * m * n)


@cache
def _numbers(weight: int) -> tuple[Fraction, ...]:
    """All rationals p/q in lowest terms with |p| + q - 1 = weight, in order.

    >>> [str(x) for x in _numbers(2)]
    ['-2', '-1/2', '1/2', '2']
    """
    moduli = [
        Fraction(weight + 1 - q, q)
        for q in range(1, weight + 2)
        if math.gcd(weight + 1 - q, q) == 1
    ]
    return tuple(sorted({x * sign for x in moduli for sign in (-1, 1)}))


@cache
def _rows(length: int, weight: int) -> tuple[_Row, ...]:
    """All rational vectors of a length and a total weight, in lexicographic order."""
    if not length:
        return ((),) if not weight else ()
    vectors = [
        (first, *rest)
        for part in range(weight + 1)
        for first in _numbers(part)
        for rest in _rows(length - 1, weight - part)
    ]
    return tuple(sorted(vectors))


def _tables(m: int, n: int, weight: int, ordered: bool) -> Iterator[tuple[_Row, ...]]:
    """All m × n matrices of a weight; ordered: rows and columns do not decrease."""
    for spread in _weights(m, weight):
        for table in _stacked(n, spread, ordered):
            if not ordered or in_order(list(zip(*table, strict=True))):
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
