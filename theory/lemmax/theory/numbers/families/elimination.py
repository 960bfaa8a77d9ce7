"""Elimination over a polynomial ring, and over what is left of it modulo an irreducible polynomial.

Bareiss: after s pivots every remaining entry is a minor of order s + 1, namely the one that borders
the pivots, and all divisions are exact. So the rank is s iff all of them are zero, and modulo an
irreducible polynomial f (over the field of fractions of the quotient) iff f divides all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from flint import fmpq_mpoly_ctx, fmpz_mpoly

from lemmax.theory.errors import LemmaxError

Rows: TypeAlias = "Sequence[Sequence[fmpz_mpoly]]"
LARGEST = 200_000  # terms of all entries together, beyond which elimination is given up


@dataclass(frozen=True)
class Elimination:
    """The rank, the rows and columns of a minor that shows it, and that minor up to its sign."""

    rank: int
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    minor: fmpz_mpoly


def eliminate(matrix: Rows, modulus: fmpz_mpoly | None = None) -> Elimination:
    """The rank over the field of fractions, or over that of the ring modulo a prime polynomial.

    Cost: the cube of the size in products of minors; more than 200,000 terms are refused.

    >>> from flint import fmpz_mpoly_ctx
    >>> t = fmpz_mpoly_ctx.get(["t"]).gens()[0]
    >>> family = [[t**0, t], [t, t**0]]
    >>> eliminate(family).rank, eliminate(family).minor
    (2, -t^2 + 1)
    >>> eliminate(family, t - 1).rank, eliminate(family, t + 2).rank
    (1, 2)
    """
    entries = [list(row) for row in matrix]
    rows, columns = list(range(len(entries))), list(range(len(entries[0])))
    one = entries[0][0] * 0 + 1
    pivots: list[tuple[int, int]] = []
    previous = one

    def alive(x: fmpz_mpoly) -> bool:
        return not x.is_zero() and (modulus is None or not (x % modulus).is_zero())

    while rows and columns:
        found = min(
            ((len(entries[i][j]), i, j) for i in rows for j in columns if alive(entries[i][j])),
            default=None,
        )
        if found is None:
            break
        _, i, j = found
        pivot = entries[i][j]
        rows.remove(i)
        columns.remove(j)
        terms = 0
        for a in rows:
            factor = entries[a][j]
            for b in columns:
                crossed = pivot * entries[a][b] - factor * entries[i][b]
                entries[a][b] = crossed // previous
                terms += len(entries[a][b])
        if terms > LARGEST:
            raise LemmaxError(f"The minors of this family have more than {LARGEST} terms.")
        pivots.append((i, j))
        previous = pivot
    order = sorted(i for i, _ in pivots), sorted(j for _, j in pivots)
    return Elimination(len(pivots), tuple(order[0]), tuple(order[1]), previous)


def factored(polynomial: Any) -> tuple[int, list[tuple[fmpz_mpoly, int]]]:
    """An integer and irreducible polynomials over the integers, each with its multiplicity.

    Over the rationals python-flint finds the same factors; those over the integers it sorts by
    coefficients as words of the machine, which long ones overflow.
    """
    ring = polynomial.context()
    rationals = fmpq_mpoly_ctx.get(ring.names(), ring.ordering())
    unit, factors = rationals.from_dict(polynomial.to_dict()).factor()
    return int(unit), [
        (ring.from_dict({powers: int(a) for powers, a in f.to_dict().items()}), multiplicity)
        for f, multiplicity in factors
    ]


def prime_factors(polynomial: Any) -> list[fmpz_mpoly]:
    """The irreducible factors over the integers that are no numbers, each once.

    >>> from flint import fmpz_mpoly_ctx
    >>> t = fmpz_mpoly_ctx.get(["t"]).gens()[0]
    >>> prime_factors(2 * t * (t**2 - 1) ** 2)
    [t, t + 1, t - 1]
    """
    _, factors = factored(polynomial)
    return sorted((f for f, _ in factors if not f.is_constant()), key=str)
