"""The words about matrices."""

import itertools
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from ..arithmetic import (
    classes,
    cleared,
    cleared_rows,
    determinant,
    dot,
    height,
    product,
    rank,
    ratio,
)
from ..enclosures import Logits, precisions, probability_at_least
from ..kinds.kruskal_rank import independent_share, kruskal_rank
from ..kinds.softmax_rank import softmax_rank
from ..language.sorts import Softmax
from ..limits import Undecided, beyond, brief, keep, refuse, spend
from ..reading import Integers, Matrix

ZERO, ONE = Fraction(0), Fraction(1)


def as_index(value: Fraction, below: int) -> int:
    if value.denominator != 1 or not 0 <= value < below:
        refuse("An index", f"is {brief(value)}, outside 0..{below - 1}")
    return value.numerator


def whole(value: Fraction, what: str, below: int = 10**6) -> int:
    """An integer that is not negative."""
    if value.denominator == 1 and value >= below:
        beyond(what, f"needs an integer below {below}, not {brief(value)}")
    if value.denominator != 1 or not 0 <= value < below:
        refuse(what, f"needs an integer in 0..{below - 1}, not {brief(value)}")
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
        z = Logits(logits, logits, scale, counts, wanted)
        answers = (probability_at_least(z, tau, bits) for bits in precisions())
        decided.append(next((answer for answer in answers if answer is not None), None))
    if None in decided:
        raise Undecided("a softmax probability is too close to the threshold to be told from it")
    return [decided[label] is True for label in labels]


def identity(n: Fraction) -> Matrix:
    return constant(n, n, lambda i, j: i == j)


def constant(m: Fraction, n: Fraction, value: Callable[[int, int], bool]) -> Matrix:
    """An m × n matrix of zeros and ones; sizes up to a thousand."""
    rows, columns = (
        range(whole(size - 1, "A matrix of zeros and ones", 1000) + 1) for size in (m, n)
    )
    spend("A matrix of zeros and ones", len(rows) * len(columns))
    keep("A matrix of zeros and ones", len(rows) * len(columns))
    return zero_one([value(i, j) for j in columns] for i in rows)


def distinct_rows(M: Matrix) -> bool:
    return max(classes([*a, d] for a, d in cleared_rows(M))) == len(M) - 1


def unit_rows(M: Matrix) -> bool:
    rows = cleared_rows(M)
    for a, d in rows:
        spend("unit_rows(...)", len(a), height(a) + d.bit_length(), height(a) + d.bit_length())
    return all(dot(a, a) == d * d for a, d in rows)


def entry_sum(M: Matrix) -> Fraction:
    integers, d = cleared([x for row in M for x in row])
    return ratio(sum(integers), d)


def covering(M: Matrix, level: Fraction) -> int:
    integers, d = cleared(M[0])
    spend("covering(...)", len(integers), height(integers), height((level, d)))
    sums = itertools.accumulate(sorted(integers, reverse=True))
    return sum(s * level.denominator <= level.numerator * d for s in sums) + 1


def row_gap(M: Matrix) -> Fraction:
    if len(M[0]) < 2:
        refuse("row_gap(...)", "needs two columns")
    rows = [(sorted(a), d) for a, d in cleared_rows(M)]
    return min(ratio(a[-1] - a[-2], d) for a, d in rows)


def entry(M: Matrix, i: Fraction, j: Fraction) -> Fraction:
    return M[as_index(i, len(M))][as_index(j, len(M[0]))]


def plus(A: Matrix, B: Matrix) -> Matrix:
    if (len(A), len(A[0])) != (len(B), len(B[0])):
        refuse("A sum", "of matrices of different shapes")
    return Matrix(tuple(map(operator.add, a, b)) for a, b in zip(A, B, strict=True))


def scale(M: Matrix, c: Fraction) -> Matrix:
    spend("scale(...)", 10 * len(M) * len(M[0]), M.bits, height((c,)))
    return Matrix(tuple(c * x for x in row) for row in M)


def stack(A: Matrix, B: Matrix) -> Matrix:
    if len(A[0]) != len(B[0]):
        refuse("stack(...)", "needs matrices with the same number of columns")
    return Matrix((*A, *B))


def beside(A: Matrix, B: Matrix) -> Matrix:
    if len(A) != len(B):
        refuse("beside(...)", "needs matrices with the same number of rows")
    return Matrix((*a, *b) for a, b in zip(A, B, strict=True))


def submatrix(M: Matrix, rows: Integers, columns: Integers) -> Matrix:
    if not rows or not columns:
        refuse("submatrix(...)", "needs a row and a column")
    chosen = [M[as_index(Fraction(i), len(M))] for i in rows]
    spend("submatrix(...)", 10 * len(rows) * len(columns))
    keep("submatrix(...)", len(rows) * len(columns))
    return Matrix(tuple(row[as_index(Fraction(j), len(row))] for j in columns) for row in chosen)


def least_distance2(M: Matrix) -> Fraction:
    if len(M) < 2:
        refuse("least_distance2(...)", "needs two rows")
    integers, d = cleared([x for row in M for x in row])
    n = len(M[0])
    rows = [integers[i * n : i * n + n] for i in range(len(M))]
    bits = height(integers)
    spend("least_distance2(...)", 2 * len(M) ** 2 * n, bits, bits)
    pairs = itertools.combinations(rows, 2)
    gaps = (list(map(operator.sub, a, b)) for a, b in pairs)
    return ratio(min(dot(gap, gap) for gap in gaps), d * d)


def max_count(M: Matrix) -> int:
    return M[0].count(max(M[0]))


def row_rays(M: Matrix) -> int:
    """Rows u and cu with c > 0 are in one class: divide by the sum of the moduli."""
    rows = [a for a, _ in cleared_rows(M)]
    parts = [(a, sum(map(abs, a))) for a in rows]
    for a, total in parts:
        spend("row_rays(...)", 20 * len(a), height(a), total.bit_length())
    scaled = [[ratio(x, total) if total else ZERO for x in a] for a, total in parts]
    return max(classes([n for x in row for n in x.as_integer_ratio()] for row in scaled)) + 1


def most_distinct(M: Matrix) -> int:
    return max(max(classes(x.as_integer_ratio() for x in row)) + 1 for row in M)


def reaching(M: Matrix, level: Fraction) -> int:
    integers, d = cleared(M[0])
    spend("reaching(...)", len(integers), height(integers), height((level, d)))
    sums = itertools.accumulate(sorted(integers, reverse=True), initial=0)
    needed = [s * level.denominator >= level.numerator * d for s in sums]
    if True not in needed:
        refuse("reaching(...)", "is asked for more than the sum of the entries")
    return needed.index(True)


def blow_up(n: Fraction, r: Fraction) -> Matrix:
    size, rank = whole(n, "blow_up(...)", 1001), whole(r, "blow_up(...)", 1001)
    if not 2 <= rank <= size:
        refuse("blow_up(...)", "needs 2 <= r <= n")
    m = size - rank + 2
    spend("blow_up(...)", 10 * size * size)
    keep("blow_up(...)", 3 * size * size)
    return Matrix(
        tuple(Fraction(2 * i * j - j * j if max(i, j) <= m else i == j) for j in range(1, size + 1))
        for i in range(1, size + 1)
    )


def diagonal(M: Matrix) -> Matrix:
    if len(M) != len(M[0]):
        refuse("diagonal(...)", "needs a square matrix")
    return Matrix([tuple(row[i] for i, row in enumerate(M))])


def strictly_above(M: Matrix, tau: Fraction) -> Matrix:
    """Softmax equals τ only where all logits of the row are equal (see threshold)."""
    marked = threshold(M, tau)
    spend("above(...)", 10 * len(M) * len(M[0]), M.bits)
    ties = [tau * len(row) == 1 and min(row) == max(row) for row in M]
    return zero_one([x and not tie for x in row] for row, tie in zip(marked, ties, strict=True))


WORDS: dict[str, Callable[..., Any]] = {
    "rank(matrix)  the rank over Q": rank,
    "rank(softmax)  the rank over R, exactly": lambda S: softmax_rank(S[0]),
    "softmax(matrix)  the row-wise softmax of rational logits": lambda M: Softmax((M,)),
    "det(matrix)  the determinant": determinant,
    "argmax(matrix)  by rows, 1 at every largest entry, else 0 (Wong 2025, equation 11)": argmax,
    "threshold(matrix, rational)  1 where row softmax >= τ (Wong 2025, equation 13)": threshold,
    "above(matrix, rational)  1 where row softmax > τ, else 0": strictly_above,
    "rows(matrix)  the number of rows": len,
    "columns(matrix)  the number of columns": lambda M: len(M[0]),
    "entry(matrix, rational, rational)  M_ij, indices from 0": entry,
    "row(matrix, rational)  row i, indices from 0": lambda M, i: Matrix([M[as_index(i, len(M))]]),
    "max_entry(matrix)  the largest entry": lambda M: max(map(max, M)),
    "min_entry(matrix)  the smallest entry": lambda M: min(map(min, M)),
    "max_abs(matrix)  the largest modulus of an entry": lambda M: max(abs(x) for r in M for x in r),
    "entry_sum(matrix)  the sum of the entries": entry_sum,
    "transpose(matrix)  Mᵀ": transpose,
    "product(matrix, matrix)  A·B": product,
    "plus(matrix, matrix)  A + B": plus,
    "scale(matrix, rational)  c·M": scale,
    "gram(matrix)  P·Pᵀ": lambda P: product(P, transpose(P)),
    "identity(rational)  the n × n identity matrix": identity,
    "ones(rational, rational)  m × n ones": lambda m, n: constant(m, n, lambda i, j: True),
    "zeros(rational, rational)  m × n zeros": lambda m, n: constant(m, n, lambda i, j: False),
    "unit(rational, rational)  the column of length n with 1 at i, indices from 0": lambda n, i: (
        constant(n, ONE, lambda j, _: j == i)
    ),
    "stack(matrix, matrix)  A above B": stack,
    "beside(matrix, matrix)  A and B side by side": beside,
    "diagonal(matrix)  the diagonal, as a row": diagonal,
    "submatrix(matrix, integers, integers)  the rows and the columns of that number": submatrix,
    "blow_up(rational, rational)  (2ij - j²) of order n - r + 2, then the identity": blow_up,
    "equal(matrix, matrix)  same shape and entries": lambda A, B: A == B,
    "distinct_rows(matrix)  no two rows are equal": distinct_rows,
    "unit_rows(matrix)  every row lies on the unit sphere": unit_rows,
    "row_gap(matrix)  the least distance of largest and next entry in a row": row_gap,
    "least_distance2(matrix)  the squared least distance of two rows": least_distance2,
    "max_count(matrix)  how often the largest entry of the first row occurs in it": max_count,
    "row_rays(matrix)  the number of rows up to positive factors": row_rays,
    "most_distinct(matrix)  the largest number of different entries of a row": most_distinct,
    "covering(matrix, rational)  1 + for how many k ≥ 1 the k largest entries of the first row "
    "add up to at most that": covering,
    "reaching(matrix, rational)  how few entries of the first row add up to a level": reaching,
    "positive_entries(matrix)  how many exceed 0": lambda M: sum(x > 0 for r in M for x in r),
    "independent_share(matrix, rational)  of the sets of k rows": independent_share,
    "kruskal_rank(matrix)  the largest k such that any k rows are independent": kruskal_rank,
}
