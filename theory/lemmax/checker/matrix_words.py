"""The words about numbers, truths, matrices and tensors."""

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from .arithmetic import classes, cleared, cleared_rows, determinant, dot, height, product, rank
from .enclosures import Logits, precisions, probability_at_least
from .kinds.kruskal_rank import independent_share, kruskal_rank
from .kinds.softmax_rank import softmax_rank
from .limits import Undecided, brief, keep, refuse, spend
from .reading import Matrix, Tensor
from .tensors import flattening
from .values import Softmax

ZERO, ONE = Fraction(0), Fraction(1)


def as_index(value: Fraction, below: int) -> int:
    if value.denominator != 1 or not 0 <= value < below:
        refuse("An index", f"is {brief(value)}, outside 0..{below - 1}")
    return value.numerator


def zero_one(rows: Any) -> Matrix:
    """A matrix of truths, as numbers."""
    return Matrix(tuple(ONE if x else ZERO for x in row) for row in rows)


def transpose(M: Matrix) -> Matrix:
    return Matrix(zip(*M, strict=True))


def argmax(M: Matrix) -> Matrix:
    return zero_one([x == top for x in row] for row in M for top in [max(row)])


def threshold(M: Matrix, tau: Fraction) -> Matrix:
    """Where the row softmax of rational logits is at least τ.

    Equality needs every logit to be equal, since exponentials of distinct rationals are linearly
    independent over Q; so unequal logits are decided at some finite precision.
    """
    if not 0 < tau <= 1:
        refuse("The threshold", "must lie in (0, 1]")
    return zero_one(above(row, tau) for row in M)


def above(row: tuple[Fraction, ...], tau: Fraction) -> list[bool]:
    integers, scale = cleared(row)
    labels = classes([x] for x in integers)
    counts, logits = [0] * (max(labels) + 1), [0] * (max(labels) + 1)
    for label, x in zip(labels, integers, strict=True):
        counts[label], logits[label] = counts[label] + 1, x
    decided = []
    for wanted in range(len(counts)):
        z = Logits([(x, x) for x in logits], scale, counts, wanted)
        answers = (probability_at_least(z, tau, bits) for bits in precisions())
        decided.append(next((answer for answer in answers if answer is not None), None))
    if None in decided:
        raise Undecided("a softmax probability is too close to the threshold to be told from it")
    return [decided[label] is True for label in labels]


def identity(n: Fraction) -> Matrix:
    size = range(as_index(n - 1, 1000) + 1)
    spend("identity(...)", len(size) ** 2)
    keep("identity(...)", len(size) ** 2)
    return zero_one([i == j for j in size] for i in size)


def distinct_rows(M: Matrix) -> bool:
    return max(classes([*a, d] for a, d in cleared_rows(M))) == len(M) - 1


def unit_rows(M: Matrix) -> bool:
    rows = cleared_rows(M)
    for a, d in rows:
        spend("unit_rows(...)", len(a), height(a) + d.bit_length(), height(a) + d.bit_length())
    return all(dot(a, a) == d * d for a, d in rows)


def entry_sum(M: Matrix) -> Fraction:
    integers, d = cleared([x for row in M for x in row])
    return Fraction(sum(integers), d)


def covering(M: Matrix, level: Fraction) -> int:
    integers, d = cleared(M[0])
    spend("covering(...)", len(integers), height(integers), height((level, d)))
    sums = itertools.accumulate(sorted(integers, reverse=True))
    return sum(s * level.denominator <= level.numerator * d for s in sums) + 1


def row_gap(M: Matrix) -> Fraction:
    if len(M[0]) < 2:
        refuse("row_gap(...)", "needs two columns")
    rows = [(sorted(a), d) for a, d in cleared_rows(M)]
    return min(Fraction(a[-1] - a[-2], d) for a, d in rows)


def flattening_rank(T: Tensor, mode: Fraction) -> int:
    return rank(flattening(T, as_index(mode, 3)))


def fold(M: Matrix, n: Fraction) -> Tensor:
    size = as_index(n, len(M) + 1)
    if size == 0 or len(M) % size:
        refuse("fold(...)", f"cannot cut {len(M)} rows into slices of {size}")
    return Tensor(Matrix(M[i : i + size]) for i in range(0, len(M), size))


def entry(M: Matrix, i: Fraction, j: Fraction) -> Fraction:
    return M[as_index(i, len(M))][as_index(j, len(M[0]))]


MATRIX_WORDS: dict[str, Callable[..., Any]] = {
    "min(rational, ...)  the smallest of the numbers": lambda *x: min(x),
    "max(rational, ...)  the largest of the numbers": lambda *x: max(x),
    "implies(truth, truth)  not p, or q": lambda p, q: not p or q,
    "iff(truth, truth)  both are true, or both are false": lambda p, q: p == q,
    "rank(matrix)  the rank over Q": rank,
    "rank(softmax)  the rank over R, exactly": lambda S: softmax_rank(S[0]),
    "softmax(matrix)  the row-wise softmax of rational logits": lambda M: Softmax((M,)),
    "det(matrix)  the determinant": determinant,
    "argmax(matrix)  by rows, 1 at every largest entry, else 0 (Wong 2025, equation 11)": argmax,
    "threshold(matrix, rational)  1 where row softmax >= τ (Wong 2025, equation 13)": threshold,
    "rows(matrix)  the number of rows": len,
    "columns(matrix)  the number of columns": lambda M: len(M[0]),
    "entry(matrix, rational, rational)  M_ij, indices from 0": entry,
    "max_entry(matrix)  the largest entry": lambda M: max(map(max, M)),
    "min_entry(matrix)  the smallest entry": lambda M: min(map(min, M)),
    "entry_sum(matrix)  the sum of the entries": entry_sum,
    "transpose(matrix)  Mᵀ": transpose,
    "product(matrix, matrix)  A·B": product,
    "gram(matrix)  P·Pᵀ": lambda P: product(P, transpose(P)),
    "identity(rational)  the n × n identity matrix": identity,
    "equal(matrix, matrix)  same shape and entries": lambda A, B: A == B,
    "distinct_rows(matrix)  no two rows are equal": distinct_rows,
    "unit_rows(matrix)  every row lies on the unit sphere": unit_rows,
    "row_gap(matrix)  the least distance of largest and next entry in a row": row_gap,
    "covering(matrix, rational)  how few entries of the first row exceed a level": covering,
    "independent_share(matrix, rational)  of the sets of k rows": independent_share,
    "kruskal_rank(matrix)  the largest k such that any k rows are independent": kruskal_rank,
    "flattening_rank(tensor, rational)  the rank over Q, keeping index 0, 1 or 2": flattening_rank,
    "fibres(tensor)  the matrix of all T_kq:": lambda T: Matrix(itertools.chain(*T)),
    "fold(matrix, rational)  the tensor whose slices are n consecutive rows each": fold,
    "slice_rows(tensor)  the number of rows of a slice": lambda T: len(T[0]),
    "slice_columns(tensor)  the number of columns of a slice": lambda T: len(T[0][0]),
    "max_slice_rank(tensor)  the largest rank of a slice": lambda T: max(map(rank, T)),
    "length(integers)  the length of a list of integers": len,
}
