"""Tensors with integer entries: nested lists, their slices, flattenings and ranks."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeVar

from .arithmetic import (
    Table,
    bits_of,
    classes,
    common_denominator,
    integer_rank,
    multiplied,
    rank_mod,
    representatives,
)
from .limits import keep, refuse, released, spend
from .reading import exactly, fields, indices, integer, items, number, numbers, prime, wholes

Entry = TypeVar("Entry")
Cube = Sequence[Sequence[Sequence[Entry]]]
Integral = Cube[int]


def sizes(T: Cube[Entry]) -> tuple[int, int, int]:
    return len(T), len(T[0]), len(T[0][0])


def length_of(T: Integral) -> int:
    """The bits of the longest entry."""
    return bits_of(row for part in T for row in part)


def sparse(value: object) -> tuple[Integral, int]:
    """The integer tensor scale · T of a tensor given by its shape and its nonzero entries."""
    data = fields(value, "tensor", "shape entries")
    shape = exactly(3, data["shape"], "tensor.shape")
    a, b, c = (integer(n, "An entry of tensor.shape", 10**6) for n in shape)
    if not a * b * c:
        refuse("tensor.shape", "must be positive")
    spend("The tensor", a * b * c // 4)
    keep("The tensor", a * b * (c // 4 + 3))
    T = [[[0] * c for _ in range(b)] for _ in range(a)]
    places, values = [], []
    for n, entry in enumerate(items(data["entries"], "tensor.entries", 0)):
        where = f"tensor.entries[{n}]"
        exactly(4, entry, where)
        i, j, k = (integer(entry[m], where, shape[m]) for m in range(3))
        x = number(entry[3], where)
        if T[i][j][k] or not x:
            refuse(where, "is zero or repeats a place")
        T[i][j][k] = 1
        places.append((i, j, k))
        values.append(x)
    keep("The tensor", 5 * len(values))
    scale = common_denominator(values)
    for (i, j, k), x in zip(places, values, strict=True):
        T[i][j][k] = x.numerator * (scale // x.denominator)
    return T, scale


def turned(T: Cube[Entry], mode: int) -> Cube[Entry]:
    """The slices of a mode, as a list of matrices; the other modes keep their order."""
    if mode == 0:
        return T
    copied(T)
    if mode == 1:
        return [[part[j] for part in T] for j in range(len(T[0]))]
    return [[[row[k] for row in part] for part in T] for k in range(len(T[0][0]))]


def turned_back(slices: Cube[Entry], mode: int) -> Cube[Entry]:
    """The tensor with these slices: the exchange of two modes has order two, the cycle three."""
    once = turned(slices, mode)
    return turned(once, mode) if mode == 2 else once


def copied(T: Cube[Entry]) -> None:
    """Charge for a copy of a tensor that shares its entries."""
    a, b, c = sizes(T)
    spend("A tensor", a * b * c + a * b + a * c + b * c)
    keep("A tensor", a * b * c // 4 + 2 * max(a * b, a * c, b * c))


def flattening(T: Cube[Entry], mode: int) -> list[list[Entry]]:
    """One row per slice of the mode, with all of its entries."""
    copied(T)
    return [[x for row in part for x in row] for part in turned(T, mode)]


def distinct_columns(T: Integral, mode: int) -> list[tuple[int, ...]]:
    """The columns of the flattening that keeps a mode, without repetitions and zeros."""
    columns = [column for column in zip(*flattening(T, mode), strict=True) if any(column)]
    spend("A flattening", 2 * math.prod(sizes(T)))
    return [columns[i] for i in representatives(classes(columns))]


def lower_rank(T: Integral, mode: int, p: int) -> int:
    """The rank mod p of a flattening, which is at most its rank."""
    with released():
        return rank_mod(list(zip(*distinct_columns(T, mode), strict=True)), p)


def exact_rank(T: Integral, mode: int) -> int:
    """The rank of a flattening over Q."""
    with released():
        columns = distinct_columns(T, mode)
        wide = columns and len(columns) < len(columns[0])
        return integer_rank(list(zip(*columns, strict=True)) if wide else columns, "A flattening")


def mapped(value: object, T: Integral, mode: int, where: str) -> Integral:
    """T with a mode mapped: [] leaves it, indices select slices, rows of integers combine them."""
    entries = items(value, where, 0)
    if not entries:
        return T
    slices = turned(T, mode)
    if type(entries[0]) is int:
        return turned_back([slices[i] for i in indices(entries, where, len(slices))], mode)
    rows = Table(wholes(row, where, len(slices)) for row in entries)
    combined, (_, b, c) = multiplied(rows, Table(flattening(slices, 0))), sizes(slices)
    return turned_back([[row[j * c : j * c + c] for j in range(b)] for row in combined], mode)


def restricted(value: object, T: Integral, where: str) -> Integral:
    """T with one map per mode applied."""
    for mode, part in enumerate(exactly(3, value, f"{where}.maps")):
        T = mapped(part, T, mode, f"{where}.maps[{mode}]")
    return T


def by_mode(value: object, T: Integral, where: str) -> list[list[Any]]:
    """For each mode a list of one thing per slice."""
    parts = items(value, where)
    if len(parts) != 3 or tuple(len(items(p, where)) for p in parts) != sizes(T):
        refuse(where, "must have one vector for each mode of the tensor")
    return parts


def vectors(value: object, T: Integral, where: str) -> list[tuple[Fraction, ...]]:
    """One term: a vector for each of the three modes."""
    return [numbers(part, where) for part in by_mode(value, T, where)]


# --- what the rules that bound a rank from below read, and what they give -------------------------

Bound = tuple[int, Integral, str]  # the gain (negative: none), what remains, and the step in words


def mode_and_prime(step: Mapping[str, Any], where: str) -> tuple[int, int]:
    return integer(step["mode"], f"{where}.mode", 3), prime(step["prime"], f"{where}.prime")


def two_modes(step: Mapping[str, Any], where: str) -> tuple[int, int]:
    """The mode, and the one that ``columns`` names, which differs from it."""
    mode, other = (integer(step[name], f"{where}.{name}", 3) for name in ("mode", "columns"))
    if mode == other:
        refuse(where, "needs two different modes")
    return mode, other
