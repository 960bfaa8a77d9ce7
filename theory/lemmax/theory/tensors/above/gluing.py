"""Two blocks that share indices of one mode, with one term less than they have apart.

Strassen's seven products for two by two matrices save one term of two blocks of rank four. The same
five terms do it for other blocks: with vectors p, x₁ and q', y₁ of the first block, q, x₂ and p',
y₂ of the second, the matrices

    p⊗(p' + y₁),   (p + x₂)⊗p',   (q + x₁)⊗q',   q⊗(q' + y₂),   (p + q)⊗(p' + q')

span three that lie in the blocks: (p⊗y₁, -x₂⊗p'), (x₁⊗q', -q⊗y₂) and
(p⊗(q' - y₁), q⊗(p' - y₂)). Where the slices of a tensor are such matrices up to what lies in one
block alone, five terms take the place of six. Given p, q, p' and q' that is a linear system, which
is solved exactly; p and q are drawn.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from flint import fmpq, fmpq_mat

from lemmax.theory.numbers.linear import independent, integers, left_null_space, null_space
from lemmax.theory.tensors.arrays import Array, flattening_rank, tensor_array
from lemmax.theory.tensors.decompositions import Decomposition, rational_terms
from lemmax.theory.tensors.reductions import Half, blocks, halves, part_of
from lemmax.theory.tensors.search.third_factors import third_factor

_SHARED = 3  # dimensions that five terms give to both blocks
_TRIES = 500  # draws of p and q for each two blocks
_BLOCKS = 4  # that are put together into two in all ways
_ENTRIES = 600  # of a block

Row = list[fmpq]
Written = Callable[[Array], Decomposition]


def glued(
    array: Array,
    less_than: int,
    written: Written,
    expired: Callable[[], bool] = lambda: False,
    seed: int = 0,
) -> Decomposition | None:
    """A decomposition with fewer terms by Strassen's five for two of the blocks, or None.

    ``written`` decomposes what remains of each block. Cost: an exact linear system for each draw,
    with as many equations as three times the matrices that vanish on the slices.

    >>> from lemmax.theory.tensors.above.slices import slice_sum
    >>> i, j, k = np.ix_(range(2), range(2), range(2))
    >>> T = np.zeros((4, 4, 4), dtype=int)  # x_ij y_jk, summed over j: the blocks are j = 0 and 1
    >>> for j in range(2):
    ...     for i in range(2):
    ...         for k in range(2):
    ...             T[2 * j + i, 2 * j + k, 2 * i + k] = 1
    >>> len(glued(T, 8, lambda S: slice_sum(S, 0)))
    7
    """
    rng = random.Random(seed)
    for mode in range(3):
        sides = blocks(array, mode)
        if not 2 <= len(sides) <= _BLOCKS:
            continue
        for first in halves(sides, [m for m in range(3) if m != mode]):
            two = TwoBlocks.of(array, mode, first)
            for _ in range(_TRIES if two.usable else 0):
                if expired():
                    return None
                found = two.drawn(rng, less_than, written)
                if found is not None:
                    return found
    return None


@dataclass(frozen=True)
class TwoBlocks:
    """The slices of a mode as pairs of matrices, one for each of two blocks."""

    array: Array
    mode: int
    places: tuple[Half, Half]
    shapes: tuple[tuple[int, int], tuple[int, int]]
    rows: tuple[Sequence[Sequence[int]], Sequence[Sequence[int]]]
    ranks: tuple[int, int, int]

    @classmethod
    def of(cls, array: Array, mode: int, first: Half) -> TwoBlocks:
        """The block with these indices of the two other modes, and the one with all others."""
        sizes = np.delete(array.shape, mode).tolist()
        rest = [[i for i in range(n) if i not in own] for n, own in zip(sizes, first, strict=True)]
        parts = [np.moveaxis(part_of(array, mode, half), mode, 0) for half in (first, rest)]
        shapes = [(int(part.shape[1]), int(part.shape[2])) for part in parts]
        rows = [part.reshape(len(part), -1).tolist() for part in parts]
        ranks = [flattening_rank(part, 0) for part in parts]
        whole = flattening_rank(array, mode)
        places = (first, rest)
        return cls(
            array,
            mode,
            places,
            (shapes[0], shapes[1]),
            (rows[0], rows[1]),
            (ranks[0], ranks[1], whole),
        )

    @property
    def usable(self) -> bool:
        """Whether the slices share enough, and the blocks are not too large."""
        first, second, whole = self.ranks
        small = max(b * c for b, c in self.shapes) <= _ENTRIES
        return small and first + second - whole >= _SHARED

    def drawn(self, rng: random.Random, less_than: int, written: Written) -> Decomposition | None:
        """What one draw leads to."""
        pairs = self._pairs(rng)
        if pairs is None:
            return None
        vanishing = null_space(fmpq_mat(pairs))
        vectors = self._vectors(rng, vanishing)
        if vectors is None:
            return None
        alone = [self._alone(pairs, block) for block in (0, 1)]
        five = self._five(vectors)
        if not self._independent(alone, vectors):
            return None
        terms = [*five]
        for block, some in enumerate(alone):
            if some:
                own = self._written(some, block, less_than - len(terms), written)
                if own is None:
                    return None
                terms += own
        return self._decomposition(terms) if len(terms) < less_than else None

    def _pairs(self, rng: random.Random) -> list[Row] | None:
        """Pairs that span the slices, and more of them until the blocks share three dimensions."""
        left, right = self.rows
        pairs = [[fmpq(x) for x in (*one, *two)] for one, two in zip(left, right, strict=True)]
        first, second, whole = self.ranks
        wanted = first + second - _SHARED
        for _ in range(wanted - whole):
            weights = [rng.randint(-1, 1) if rng.random() < 0.3 else 0 for _ in left]
            column = zip(*left, strict=True)
            sums = [sum(w * x for w, x in zip(weights, some, strict=True)) for some in column]
            pairs.append([fmpq(x) for x in sums] + [fmpq(0)] * len(right[0]))
        return pairs if len(independent(pairs)) == wanted else None

    def _vectors(
        self, rng: random.Random, vanishing: Sequence[Row]
    ) -> tuple[list[Row], list[Row]] | None:
        """p, q', y₁, x₁ of the first block and q, p', y₂, x₂ of the second."""
        (b1, c1), (b2, c2) = self.shapes
        cut = b1 * c1
        inside = [
            _killed(vanishing, slice(cut, None), slice(cut)),
            _killed(vanishing, slice(cut), slice(cut, None)),
        ]
        p, q = _drawn(rng, b1), _drawn(rng, b2)
        q1 = _within(rng, inside[0], p, c1)
        p2 = _within(rng, inside[1], q, c2)
        if q1 is None or p2 is None:
            return None
        equations: list[Row] = []
        none = fmpq(0)
        for form in vanishing:
            first, second = _matrix(form[:cut], c1), _matrix(form[cut:], c2)
            on_p, on_q1 = _left(p, first), _right(first, q1)
            on_q, on_p2 = _left(q, second), _right(second, p2)
            zeros = [[none] * n for n in (c1, b1, b2, c2)]
            minus = [[-x for x in row] for row in (on_p2, on_q, on_p)]
            value = -_dot(on_p, q1) - _dot(on_q, p2)
            equations.append([*on_p, *zeros[1], *minus[0], *zeros[3], none])
            equations.append([*zeros[0], *on_q1, *zeros[2], *minus[1], none])
            equations.append([*minus[2], *zeros[1], *zeros[2], *minus[1], value])
        solution = _solved(rng, equations, c1 + b1 + b2 + c2)
        if solution is None:
            return None
        y1, x1 = solution[:c1], solution[c1 : c1 + b1]
        x2, y2 = solution[c1 + b1 : c1 + b1 + b2], solution[c1 + b1 + b2 :]
        return [p, q1, y1, x1], [q, p2, y2, x2]

    def _alone(self, pairs: Sequence[Row], block: int) -> list[Row]:
        """A basis of the matrices of one block that the pairs span."""
        cut = self.shapes[0][0] * self.shapes[0][1]
        own, other = (slice(cut), slice(cut, None))[:: 1 - 2 * block]
        spanned = _killed(pairs, other, own)
        return [spanned[i] for i in independent(spanned)] if spanned else []

    def _independent(
        self, alone: Sequence[Sequence[Row]], vectors: tuple[list[Row], list[Row]]
    ) -> bool:
        """Whether the three matrices that the five terms give complete a basis of the pairs."""
        (p, q1, y1, x1), (q, p2, y2, x2) = vectors
        sizes = [b * c for b, c in self.shapes]
        three = [
            _outer(p, y1) + _outer([-x for x in x2], p2),
            _outer(x1, q1) + _outer([-x for x in q], y2),
            _outer(p, _minus(q1, y1)) + _outer(q, _minus(p2, y2)),
        ]
        padded = [row + [fmpq(0)] * sizes[1] for row in alone[0]]
        padded += [[fmpq(0)] * sizes[0] + row for row in alone[1]]
        every = [*padded, *three]
        first, second, _ = self.ranks
        return len(every) == first + second - _SHARED and len(independent(every)) == len(every)

    def _five(self, vectors: tuple[list[Row], list[Row]]) -> list[tuple[Row, Row]]:
        """Strassen's terms as vectors of the two modes of the tensor."""
        (p, q1, y1, x1), (q, p2, y2, x2) = vectors
        at = self._at
        sums = [
            (at(p, 0, 0), _plus(at(p2, 1, 1), at(y1, 0, 1))),
            (_plus(at(p, 0, 0), at(x2, 1, 0)), at(p2, 1, 1)),
            (_plus(at(q, 1, 0), at(x1, 0, 0)), at(q1, 0, 1)),
            (at(q, 1, 0), _plus(at(q1, 0, 1), at(y2, 1, 1))),
            (_plus(at(p, 0, 0), at(q, 1, 0)), _plus(at(p2, 1, 1), at(q1, 0, 1))),
        ]
        return sums

    def _at(self, vector: Sequence[fmpq], block: int, place: int) -> Row:
        """A vector of a block in its place in the first (0) or second (1) other mode."""
        size = [n for m, n in enumerate(self.array.shape) if m != self.mode][place]
        spread = [fmpq(0)] * size
        for i, x in zip(self.places[block][place], vector, strict=True):
            spread[i] = x
        return spread

    def _written(
        self, alone: Sequence[Row], block: int, most: int, written: Written
    ) -> list[tuple[Row, Row]] | None:
        """Terms of what one block has alone, fewer than ``most``."""
        b, c = self.shapes[block]
        whole = [[int(x) for x in integers(row)] for row in alone]
        matrices = [[row[i * c : (i + 1) * c] for i in range(b)] for row in whole]
        found = written(tensor_array(matrices))
        if len(found) >= most or len(found) != len(found.terms):
            return None
        return [(self._at(y, block, 0), self._at(z, block, 1)) for _, y, z in found.terms]

    def _decomposition(self, terms: Sequence[tuple[Row, Row]]) -> Decomposition | None:
        """The terms with the vectors of the shared mode that make them add up."""
        order = [m for m in range(3) if m != self.mode] + [self.mode]
        turned = self.array.transpose(order)
        first, second = ([*some] for some in zip(*terms, strict=True))
        third = third_factor(turned, first, second)
        if third is None:
            return None
        found = rational_terms(turned.shape, zip(first, second, third, strict=True))
        found = found.permuted([order.index(m) for m in range(3)])
        return found if found.adds_up_to(self.array) else None


def _drawn(rng: random.Random, size: int) -> Row:
    """A short vector that is not zero, every other time one of the units."""
    if rng.random() < 0.5:
        place = rng.randrange(size)
        return [fmpq(int(i == place)) for i in range(size)]
    while True:
        vector = [fmpq(rng.randint(-2, 2)) for _ in range(size)]
        if any(vector):
            return vector


def _combined(rng: random.Random, rows: Sequence[Row]) -> Row:
    weights = _drawn(rng, len(rows))
    return [_dot(weights, column) for column in zip(*rows, strict=True)]


def _within(rng: random.Random, forms: Sequence[Row], x: Row, size: int) -> Row | None:
    """A vector y such that the forms vanish on x⊗y."""
    if not forms:
        return _drawn(rng, size)
    basis = null_space(fmpq_mat([_left(x, _matrix(form, size)) for form in forms]))
    if not basis:
        return None
    return [fmpq(n) for n in integers(_combined(rng, basis))]


def _solved(rng: random.Random, equations: Sequence[Row], unknowns: int) -> Row | None:
    """A solution of equations, whose last column is the value; what is free is drawn."""
    reduced, rank = fmpq_mat(list(equations)).rref()
    rows = reduced.tolist()[:rank]
    leads = [next(j for j, x in enumerate(row) if x) for row in rows]
    if unknowns in leads:
        return None
    solution = [fmpq(rng.randint(-2, 2)) for _ in range(unknowns)]
    for lead in leads:
        solution[lead] = fmpq(0)
    for row, lead in zip(rows, leads, strict=True):
        solution[lead] = row[unknowns] - _dot(row[:unknowns], solution) + solution[lead]
    return solution


def _killed(rows: Sequence[Row], kill: slice, keep: slice) -> list[Row]:
    """One part of the combinations of rows whose other part is zero."""
    if not rows:
        return []
    weights = left_null_space(fmpq_mat([row[kill] for row in rows]))
    if not weights:
        return []
    return (fmpq_mat(weights) * fmpq_mat([row[keep] for row in rows])).tolist()


def _matrix(entries: Row, columns: int) -> list[Row]:
    return [entries[i : i + columns] for i in range(0, len(entries), columns)]


def _dot(x: Sequence[fmpq], y: Sequence[fmpq]) -> fmpq:
    return sum((a * b for a, b in zip(x, y, strict=True)), fmpq(0))


def _left(x: Row, matrix: Sequence[Row]) -> Row:
    return [_dot(x, column) for column in zip(*matrix, strict=True)]


def _right(matrix: Sequence[Row], y: Row) -> Row:
    return [_dot(row, y) for row in matrix]


def _outer(x: Row, y: Row) -> Row:
    return [a * b for a in x for b in y]


def _plus(x: Row, y: Row) -> Row:
    return [a + b for a, b in zip(x, y, strict=True)]


def _minus(x: Row, y: Row) -> Row:
    return [a - b for a, b in zip(x, y, strict=True)]
