"""Tensors with integer entries: nested lists, their slices, flattenings and ranks."""

import math
import operator
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeVar

from .arithmetic import (
    Table,
    bits_of,
    classes,
    common_denominator,
    integer_rank,
    rank_mod,
    representatives,
)
from .limits import keep, refuse, released, room, spend
from .reading import exactly, fields, indices, integer, items, number, numbers, wholes

Cube = list[list[list[int]]]
Entry = TypeVar("Entry")


def sizes(T: Sequence[Sequence[Sequence[object]]]) -> tuple[int, int, int]:
    return len(T), len(T[0]), len(T[0][0])


def sparse(value: object) -> tuple[Cube, int]:
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


def copied(T: Sequence[Sequence[Sequence[object]]]) -> None:
    """Charge for a copy of a tensor that shares its entries."""
    a, b, c = sizes(T)
    spend("A tensor", a * b * c + a * b + a * c + b * c)
    keep("A tensor", a * b * c // 4 + 2 * max(a * b, a * c, b * c))


def hold(T: Cube) -> None:
    """Charge for a tensor with its entries."""
    spend("A tensor", math.prod(sizes(T)))
    keep("A tensor", math.prod(sizes(T)), bits_of(row for part in T for row in part))


def turned(
    T: Sequence[Sequence[Sequence[Entry]]], mode: int
) -> Sequence[Sequence[Sequence[Entry]]]:
    """The slices of a mode, as a list of matrices; the other modes keep their order."""
    if mode == 0:
        return T
    copied(T)
    if mode == 1:
        return [[part[j] for part in T] for j in range(len(T[0]))]
    return [[[row[k] for row in part] for part in T] for k in range(len(T[0][0]))]


def slices_of(T: Cube, mode: int) -> Cube:
    """The same for lists, which may be given on."""
    return [list(map(list, part)) for part in turned(T, mode)] if mode else T


def turned_back(slices: Cube, mode: int) -> Cube:
    """The tensor with these slices: turned(turned_back(S, mode), mode) = S."""
    if mode == 0:
        return slices
    once = slices_of(slices, mode)
    return once if mode == 1 else slices_of(once, mode)  # a cyclic change has order three


def flattening(T: Sequence[Sequence[Sequence[Entry]]], mode: int) -> list[list[Entry]]:
    """One row per slice of the mode, with all of its entries."""
    copied(T)
    return [[x for row in part for x in row] for part in turned(T, mode)]


def flattened(T: Cube, mode: int) -> list[list[int]]:
    """The flattening that keeps a mode, without columns that repeat or vanish."""
    long = flattening(T, mode)
    columns = [column for column in zip(*long, strict=True) if any(column)]
    spend("A flattening", 2 * math.prod(sizes(T)))
    columns = [columns[i] for i in representatives(classes(columns))]
    return [list(row) for row in zip(*columns, strict=True)]


def lower_rank(T: Cube, mode: int, p: int) -> int:
    """The rank mod p of a flattening, which is at most its rank."""
    with released():
        return rank_mod(flattened(T, mode), p)


def exact_rank(T: Cube, mode: int) -> int:
    """The rank of a flattening over Q."""
    with released():
        rows = flattened(T, mode)
        tall = rows if not rows or len(rows) >= len(rows[0]) else list(zip(*rows, strict=True))
        return integer_rank(tall, "A flattening rank") if rows else 0


def mapped(value: object, T: Cube, mode: int, where: str) -> Cube:
    """T with a mode mapped: [] leaves it, indices select slices, rows of integers combine them."""
    entries = items(value, where, 0)
    if not entries:
        return T
    slices = slices_of(T, mode)
    if type(entries[0]) is int:
        return turned_back([slices[i] for i in indices(entries, where, len(slices))], mode)
    rows = Table(wholes(row, where, len(slices)) for row in entries)
    bits, (n, b, c) = bits_of(row for part in slices for row in part), sizes(slices)
    spend(where, len(rows) * b * c * (n + 2), rows.bits, bits)
    keep(where, len(rows) * b * c, bits + rows.bits + n.bit_length())
    room(where, b * c * n // 4)
    combined = [
        [
            [sum(map(operator.mul, row, fibre)) for fibre in zip(*lines, strict=True)]
            for lines in zip(*slices, strict=True)
        ]
        for row in rows
    ]
    return turned_back(combined, mode)


def restricted(value: object, T: Cube, where: str) -> Cube:
    """T with one map per mode applied."""
    for mode, part in enumerate(exactly(3, value, f"{where}.maps")):
        T = mapped(part, T, mode, f"{where}.maps[{mode}]")
    return T


def vectors(value: object, T: Cube, where: str) -> list[tuple[Fraction, ...]]:
    """One term: a vector for each of the three modes."""
    parts = items(value, where)
    if len(parts) != 3 or tuple(len(items(p, where)) for p in parts) != sizes(T):
        refuse(where, "must have one vector for each mode of the tensor")
    return [numbers(part, where) for part in parts]
