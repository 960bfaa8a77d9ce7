"""The words about tensors and lists of integers."""

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from ..arithmetic import cleared_all, product, rank, rank_mod, softmax_mod
from ..kinds.softmax_rank import softmax_rank
from ..language.evidence import Evidence, same_rows, same_tensor
from ..language.reals import Interval, Real, collapsed
from ..language.sorts import Field
from ..limits import foresee, keep, refuse, released, spend
from ..reading import Integers, Matrix, Tensor
from ..tensors import flattening, sizes, turned, turned_back
from .matrices import argmax, as_index, plus, scale, stack, threshold, whole

_TREE = 40  # slices of a mode, of which all differences are looked at


def fibres(T: Tensor) -> Matrix:
    return Matrix(itertools.chain(*T))


def flattening_rank(T: Tensor, mode: Fraction) -> int:
    return rank(flattening(T, as_index(mode, 3)))


def fold(M: Matrix, n: Fraction) -> Tensor:
    size = as_index(n, len(M) + 1)
    if size == 0 or len(M) % size:
        refuse("fold(...)", f"cannot cut {len(M)} rows into slices of {size}")
    return Tensor(Matrix(M[i : i + size]) for i in range(0, len(M), size))


def by_fibre(T: Tensor, function: Callable[[Matrix], Matrix]) -> Tensor:
    return Tensor(map(function, T))


def slices_of(T: Tensor, mode: int) -> list[Matrix]:
    return [Matrix(map(tuple, part)) for part in turned(T, mode)]


def slice_ranks(T: Tensor, mode: Fraction) -> Integers:
    return Integers(map(rank, slices_of(T, as_index(mode, 3))))


def spanning_tree(T: Tensor, mode: Fraction) -> int:
    """The least sum of ranks of differences along a tree on 0 and the slices (Prim).

    With T_i = T_parent + D_i the tensor is Σ_i D_i ⊗ (the units of i and what hangs on it).
    """
    slices = slices_of(T, as_index(mode, 3))
    cost = 200 + 60 * len(slices[0]) * len(slices[0][0])  # of one difference
    foresee("The differences of slices", cost * len(slices) ** 2 // 2)
    left = dict(enumerate(map(rank, slices)))  # the cheapest link of each slice to the tree
    total = 0
    while left:
        i = min(left, key=lambda j: left[j])
        total += left.pop(i)
        for j in left:
            with released():
                spend("A difference of slices", cost)
                gap = plus(slices[j], scale(slices[i], Fraction(-1)))
                left[j] = min(left[j], rank(gap))
    return total


def tensor_rank(T: Tensor, *more: Any) -> Real:
    """Bounds over the field (R where none is named); those that are computed hold over each."""
    *field, evidence = more
    over = field[0] if field else Field("R")
    ranks = [flattening_rank(T, Fraction(m)) for m in range(3)]
    low, high = max(ranks), math.prod(ranks) // max(1, *ranks)
    order = "CRQ"  # ranks grow from C to R to Q
    for item in evidence.about("tensor-rank", lambda other: same_tensor(T, other)):
        if order.index(item.field) <= order.index(over):
            low = max(low, int(item.low))
        if order.index(item.field) >= order.index(over):
            high = min(high, int(item.high))
    for bound in (sum_of_slices, spanning_tree):
        for m in range(3):
            if low < high and (bound is sum_of_slices or sizes(T)[m] <= _TREE):
                high = min(high, bound(T, Fraction(m)))
    return collapsed(Interval(Fraction(low), Fraction(high)))


def sum_of_slices(T: Tensor, mode: Fraction) -> int:
    return sum(slice_ranks(T, mode))


def rank_of_softmax(M: Matrix, evidence: Evidence) -> Real:
    def equal(other: tuple[Matrix, str]) -> bool:
        return other[1] == "1" and same_rows(M, other[0])

    bounds = evidence.cut("softmax-rank", Interval(None, None), equal)
    return collapsed(bounds) if bounds.low is not None else Fraction(softmax_rank(M))


def softmax_tensor_rank(T: Tensor) -> Real:
    """Bounds of the rank over R of the softmax of every fibre ``T_kq:``.

    Below: the flattenings, whose entries are rational functions of a transcendental number, mod a
    prime at a point. Above: sums of ranks of slices ``T_k::`` and ``T_:q:``, and products of two
    sizes.
    """
    p, z = 2**61 - 1, 3**37
    (exponents,), _ = cleared_all([fibres(T)])
    rows = [softmax_mod(row, z, p) for row in exponents]
    n, low = len(T[0]), 1
    if None not in rows:
        known: list[list[int]] = [row for row in rows if row is not None]
        cube = [known[i : i + n] for i in range(0, len(known), n)]
        low = max(rank_mod(flattening(cube, m), p) for m in range(3))
    a, b, c = sizes(T)
    high = min(a * b, a * c, b * c)
    for m in range(2):
        if low < high:
            high = min(high, sum(map(softmax_rank, slices_of(T, m))))
    return collapsed(Interval(Fraction(low), Fraction(high)))


def mode_product(A: Tensor, B: Tensor) -> Tensor:
    """Σ_t A_kqt B_tqv: for every q a product of matrices."""
    if len(A[0]) != len(B[0]) or len(A[0][0]) != len(B):
        refuse("mode_product(...)", "needs tensors of shapes k × q × t and t × q × v")
    parts = [product(a, b) for a, b in zip(slices_of(A, 1), slices_of(B, 1), strict=True)]
    keep("mode_product(...)", len(A) * len(B[0]))
    return Tensor(Matrix(part[k] for part in parts) for k in range(len(A)))


def max_stacked_rank(B: Matrix, F: Tensor) -> int:
    return max(rank(stack(B, part)) for part in F)


def item(J: Integers, i: Fraction) -> int:
    return J[as_index(i, len(J))]


def largest(J: Integers) -> int:
    if not J:
        refuse("largest(...)", "needs an integer")
    return max(J)


def union(J: Integers, K: Integers) -> Integers:
    return Integers(sorted({*J, *K}))


def join(S: Tensor, T: Tensor) -> Tensor:
    if sizes(S)[1:] != sizes(T)[1:]:
        refuse("join(...)", "needs tensors with slices of one shape")
    return Tensor((*S, *T))


def without(T: Tensor, mode: Fraction, i: Fraction) -> Tensor:
    m = as_index(mode, 3)
    slices = slices_of(T, m)
    place = as_index(i, len(slices))
    left = slices[:place] + slices[place + 1 :]
    if not left:
        refuse("without(...)", "leaves no slice")
    return from_slices(left, m)


def from_slices(slices: Sequence[Matrix], mode: int) -> Tensor:
    """The tensor that has these slices in a mode."""
    return Tensor(Matrix(map(tuple, part)) for part in turned_back(slices, mode))


def integer_range(n: Fraction) -> Integers:
    return Integers(range(whole(n, "range(...)", 10_001)))


def tensor_plus(A: Tensor, B: Tensor) -> Tensor:
    if len(A) != len(B):
        refuse("A sum", "of tensors of different shapes")
    return Tensor(plus(a, b) for a, b in zip(A, B, strict=True))


WORDS: dict[str, Callable[..., Any]] = {
    "flattening_rank(tensor, rational)  the rank over Q, keeping index 0, 1 or 2": flattening_rank,
    "fibres(tensor)  the matrix of all T_kq:": fibres,
    "fold(matrix, rational)  the tensor whose slices are n consecutive rows each": fold,
    "slices(tensor)  the number of slices T_k::": len,
    "slice_rows(tensor)  the number of rows of a slice": lambda T: len(T[0]),
    "slice_columns(tensor)  the number of columns of a slice": lambda T: len(T[0][0]),
    "max_slice_rank(tensor)  the largest rank of a slice": lambda T: max(map(rank, T)),
    "slice_ranks(tensor, rational)  the ranks of the slices of mode 0, 1 or 2": slice_ranks,
    "spanning_tree(tensor, rational)  the least sum of ranks of differences of slices": (
        spanning_tree
    ),
    "argmax_tensor(tensor)  argmax of every fibre T_kq:": lambda T: by_fibre(T, argmax),
    "threshold_tensor(tensor, rational)  1 where the softmax of the fibre is >= τ": lambda T, t: (
        by_fibre(T, lambda M: threshold(M, t))
    ),
    "softmax_tensor_rank(tensor)  bounds of the rank of the softmax of all fibres": (
        softmax_tensor_rank
    ),
    "mode_product(tensor, tensor)  Σ_t A_kqt B_tqv": mode_product,
    "plus(tensor, tensor)  A + B": tensor_plus,
    "scale(tensor, rational)  c·T": lambda T, c: Tensor(scale(part, c) for part in T),
    "join(tensor, tensor)  the slices of both": join,
    "without(tensor, rational, rational)  without slice i of mode m": without,
    "max_stacked_rank(matrix, tensor)  the largest rank of B above a slice": max_stacked_rank,
    "equal(tensor, tensor)  same shape and entries": lambda A, B: A == B,
    "equal(integers, integers)  the same list": lambda A, B: A == B,
    "length(integers)  the length of a list of integers": len,
    "sum(integers)  the sum of the integers": sum,
    "largest(integers)  the largest integer": largest,
    "item(integers, rational)  entry i of a list, indices from 0": item,
    "union(integers, integers)  all of them, sorted": union,
    "range(rational)  0, ..., n - 1": integer_range,
    "distinct(integers)  no integer twice": lambda J: len(set(J)) == len(J),
}

EVIDENT: dict[str, Callable[..., Any]] = {
    "tensor_rank(tensor)  bounds of the rank over R: flattenings, slices, trees, evidence": (
        tensor_rank
    ),
    "tensor_rank(tensor, field)  the same over Q, R or C": tensor_rank,
    "softmax_rank(matrix)  the rank over R of the row softmax, exactly, or by evidence": (
        rank_of_softmax
    ),
}
