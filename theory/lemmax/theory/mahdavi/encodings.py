r"""Sinusoidal positional encodings: their rank, and what a full rank of theirs does not give.

Row p of the encoding has the entries :math:`\sin(p\,\omega_i), \cos(p\,\omega_i)` with
:math:`\omega_i = B^{-2i/d}`, i < d/2. Over the complex numbers the columns can be exchanged for
:math:`e^{\pm i p \omega_k}`: powers :math:`x_k^{\pm p}` of d distinct numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from flint import acb_mat, arb, arb_mat, ctx, fmpq

from lemmax.theory.errors import LemmaxError
from lemmax.theory.numbers.balls import precisions


def sinusoidal_encoding(
    positions: Sequence[int], d: int, base: int = 10_000, precision: int = 128
) -> arb_mat:
    """The encoding of integer positions in even dimension d, as balls.

    >>> sinusoidal_encoding([0], 4)
    [0, 1.00000000000000, 0, 1.00000000000000]
    """
    if d < 2 or d % 2:
        raise LemmaxError(f"A sinusoidal encoding has an even dimension, not {d}.")
    if base <= 1:
        raise LemmaxError(f"The base must exceed 1, not {base}.")
    if not positions:
        raise LemmaxError("There must be at least one position.")
    with ctx.workprec(precision):
        frequencies = [arb(base) ** (arb(fmpq(-2 * i, d))) for i in range(d // 2)]
        rows = []
        for p in positions:
            row: list[arb] = []
            for frequency in frequencies:
                angle = frequency * p
                row += [angle.sin(), angle.cos()]
            rows.append(row)
        return arb_mat(rows)


def full_rank_by_balls(
    positions: Sequence[int], d: int, base: int = 10_000, max_precision: int = 1 << 14
) -> int:
    """The precision at which a ball of a determinant shows that the rank is min(n, d).

    Looks at the first min(n, d) rows, or their Gram matrix where n < d. A ball away from zero is a
    proof; a ball around zero is none, and the precision is doubled.

    >>> full_rank_by_balls(range(8), 8) <= 512
    True
    """
    size = min(len(positions), d)
    for precision in precisions(128, max_precision):
        encoding = sinusoidal_encoding(list(positions)[:size], d, base, precision)
        with ctx.workprec(precision):
            square = encoding if size == d else encoding * encoding.transpose()
            if square.det() != 0:
                return precision
    raise LemmaxError(f"{max_precision} bits do not show that the determinant is not zero.")


@dataclass(frozen=True)
class Frequencies:
    r"""How the frequencies :math:`10^{-8k/d}`, k < d/2, of base 10000 depend on each other over Q.

    ``classes[c]`` lists the multipliers N with frequency N · β_c. The β_c are linearly
    independent over Q: they are :math:`10^{-j/b}` times powers of ten, for distinct j modulo b,
    and :math:`x^b - 10` is irreducible (Eisenstein at 2).
    """

    b: int
    residues: tuple[int, ...]
    classes: tuple[tuple[int, ...], ...]


def frequencies(d: int) -> Frequencies:
    """The classes of frequencies of base 10000 in dimension d.

    >>> frequencies(16).classes[0], len(frequencies(16).classes)
    ((1000, 100, 10, 1), 2)
    >>> frequencies(6).classes
    ((1,), (1,), (1,))
    """
    if d < 2 or d % 2:
        raise LemmaxError(f"A sinusoidal encoding has an even dimension, not {d}.")
    common = math.gcd(8, d)
    a, b = 8 // common, d // common  # 8 k / d = a k / b in lowest terms
    members: dict[int, list[int]] = {}
    for k in range(d // 2):
        members.setdefault(a * k % b, []).append(k)
    classes = []
    for group in members.values():
        last = max(group)
        # 10^(-ak/b) = 10^(a (last - k) / b) · 10^(-a last / b), and b divides a (last - k)
        classes.append(tuple(10 ** (a * (last - k) // b) for k in group))
    return Frequencies(b, tuple(members), tuple(classes))


def leading_assignment(multipliers: Sequence[int], positions: Sequence[int]) -> dict[int, int]:
    """The unique injection s from multipliers to positions that maximises Σ μ · s(μ).

    The multipliers are ± pairs of distinct positive integers, all of them, or any distinct
    integers, as many as there are positions. The largest positive ones get the largest
    positions, the smallest negative ones the smallest: the exponent of the leading monomial of
    the formal determinant, attained once.

    >>> leading_assignment([1, -1], [5, 0, 3])
    {1: 5, -1: 0}
    """
    if len(set(multipliers)) != len(multipliers) or len(set(positions)) != len(positions):
        raise LemmaxError("Multipliers and positions must be distinct.")
    ordered = sorted(positions)
    if len(multipliers) == len(positions):
        return dict(zip(sorted(multipliers), ordered, strict=True))
    positive = sorted((m for m in multipliers if m > 0), reverse=True)
    if {-m for m in positive} != {m for m in multipliers if m <= 0}:
        raise LemmaxError("With more positions than multipliers, these must be ± pairs.")
    if len(multipliers) > len(positions):
        raise LemmaxError("There are more multipliers than positions.")
    largest = dict(zip(positive, reversed(ordered), strict=False))
    return largest | dict(zip((-m for m in positive), ordered, strict=False))


def vandermonde_nodes(d: int, base: int = 10_000, precision: int = 128) -> acb_mat:
    """The d numbers exp(± i ω_k) whose powers are the columns of the encoding, over C."""
    with ctx.workprec(precision):
        row = []
        for i in range(d // 2):
            frequency = arb(base) ** (arb(fmpq(-2 * i, d)))
            cosine, sine = frequency.cos(), frequency.sin()
            row += [(cosine, sine), (cosine, -sine)]
        from flint import acb

        return acb_mat([[acb(x, y) for x, y in row]])
