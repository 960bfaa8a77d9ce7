"""Quadrics: symmetric matrices on the span of the slices that vanish on matrices of rank one."""

import itertools
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..arithmetic import bits_of, dot, rank_mod
from ..limits import keep, refuse, spend
from ..reading import exactly, integer, items, variant, wholes
from ..tensors import Cube, lower_rank, slices_of
from . import pencils
from .rule import Bound, mode_and_prime


class Slices(NamedTuple):
    """The slices X_1, ..., X_m of a mode, with the bits of their longest entry."""

    X: Cube
    bits: int

    def minor(self, u: int, v: int, w: int, x: int) -> list[list[int]]:
        """The 2 x 2 minor of Σ z_i X_i in rows u, v and columns w, x, as a form in z."""
        spend("A minor", 3 * len(self.X) ** 2, self.bits, self.bits)
        return [[P[u][w] * N[v][x] - P[u][x] * N[v][w] for N in self.X] for P in self.X]

    def places(self, value: object, where: str) -> list[tuple[int, ...]]:
        """Two rows and two columns for each minor."""
        b, c = len(self.X[0]), len(self.X[0][0])
        return [
            tuple(
                integer(e, f"{where}[{n}]", size)
                for e, size in zip(exactly(4, entry, f"{where}[{n}]"), (b, b, c, c), strict=True)
            )
            for n, entry in enumerate(items(value, where, 0))
        ]


def slices(X: Cube) -> Slices:
    return Slices(X, bits_of(row for part in X for row in part))


def quadrics(step: Mapping[str, Any], T: Cube, where: str) -> tuple[Slices, int]:
    """The slices of a mode, and at most how many dimensions their quadrics have.

    These are the symmetric Z with Σ z_ij (X_i[u][w] X_j[v][x] - X_i[u][x] X_j[v][w]) = 0 always.
    The X_i are independent. If R = m then they span the same space as m matrices of rank one, whose
    coordinate vectors y give the Z = y y^T; these are independent, so the Z have at least m
    dimensions.
    """
    mode, p = mode_and_prime(step, where)
    found = slices(slices_of(T, mode))
    m = len(found.X)
    if lower_rank(T, mode, p) < m:
        refuse(where, "needs slices that are independent mod the prime")
    small = slices([[[x % p for x in row] for row in part] for part in found.X])
    chosen = found.places(step["minors"], f"{where}.minors")
    keep("The quadrics", len(chosen) * m * m, 2 * small.bits)
    pairs = [(i, j) for i in range(m) for j in range(i, m)]
    rows = []
    for place in chosen:
        M = small.minor(*place)
        rows.append([M[i][j] + M[j][i] if i < j else M[i][i] for i, j in pairs])
    return found, len(pairs) - rank_mod(rows, p)


def by_quadrics(step: Mapping[str, Any], T: Cube, field: str, where: str) -> Bound:
    """R >= m + 1 if the quadrics have fewer than m dimensions."""
    found, most = quadrics(step, T, where)
    m = len(found.X)
    shown = f"R >= {m + 1}: at most {most} dimensions of quadrics for {m} slices"
    return (m + 1 if most < m else -1), T, shown


def by_quadric_pencil(step: Mapping[str, Any], T: Cube, field: str, where: str) -> Bound:
    """R >= m + 1 if the quadrics have m dimensions and two of them form a pencil of rank > m.

    If R = m they are the Σ λ_i y_i y_i^T, and two of them would form a pencil of rank at most m.
    """
    found, most = quadrics(step, T, where)
    m, b, c = len(found.X), len(found.X[0]), len(found.X[0][0])
    pair = [
        [wholes(row, where, m) for row in exactly(m, Z, where)]
        for Z in exactly(2, step["kernel"], f"{where}.kernel")
    ]
    volume = b * b * c * c * (m * m + 4) // 2
    spend("The minors", volume, bits_of(itertools.chain(*pair)), 2 * found.bits)
    minors = (
        found.minor(*rows, *columns)
        for rows in itertools.combinations(range(b), 2)
        for columns in itertools.combinations(range(c), 2)
    )
    inside = all(list(map(list, zip(*Z, strict=True))) == Z for Z in pair)
    inside = inside and not any(sum(map(dot, Z, M)) for M in minors for Z in pair)
    if most > m or not inside:
        return -1, T, "the two matrices, or the minors, are not what the lemma needs"
    shared = "mode prime order modulus left pivots "
    options = {"jet": shared + "jet", "eigenvalue": shared + "outside"}
    name = variant(step["pencil"], f"{where}.pencil", "lemma", options)
    rule = pencils.by_jet if name == "jet" else pencils.by_eigenvalue
    bound, _, text = rule(step["pencil"], pair, field, f"{where}.pencil")
    return (m + 1 if bound > m else -1), T, f"R >= {m + 1}: two quadrics with {text}"
