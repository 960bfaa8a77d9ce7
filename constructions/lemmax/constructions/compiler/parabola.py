"""The parabola s·v - v²/2 that every construction makes of its scalar s, and its arithmetic."""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction

from flint import arb, ctx, fmpq

from lemmax.theory.facts.database import Database
from lemmax.theory.numbers.balls import floor_below


def numbers(db: Database) -> dict[Hashable, int]:
    """The number 1, …, N of each value."""
    return {v: n for n, v in enumerate(db.values, 1)}


def power_of_two(least: int) -> int:
    """The smallest power of two that is at least ``least``.

    >>> power_of_two(5), power_of_two(8)
    (8, 8)
    """
    return 1 << max(0, (least - 1).bit_length())


def logit(probability: Fraction, accuracy: int) -> Fraction:
    """ln(p/(1-p)) rounded to a dyadic rational within 1/accuracy."""
    grid = power_of_two(accuracy)  # rounding to 1/grid is off by at most 1/(2·grid)
    with ctx.workprec(96):
        odds = arb(fmpq(probability.numerator, probability.denominator))
        scaled = (odds / (1 - odds)).log() * grid
        return Fraction(floor_below(scaled + arb("0.5")), grid)


def unembedding(db: Database, f: list[Fraction], g: list[Fraction]) -> list[list[Fraction]]:
    """W_U = g ⊗ v - f ⊗ v²/2 on V, and -(N+2) f on the other tokens.

    A hidden state h with h·f = 1 and h·g = s gets the logits s·v - v²/2.
    """
    number, N = numbers(db), len(db.values)
    return [
        [
            b * n - a * Fraction(n * n, 2) if (n := number.get(t)) is not None else -(N + 2) * a
            for t in db.tokens
        ]
        for a, b in zip(f, g, strict=True)
    ]


def unit(size: int, position: int) -> list[Fraction]:
    """A row of the identity."""
    return [Fraction(int(i == position)) for i in range(size)]
