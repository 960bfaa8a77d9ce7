"""Real decompositions that are proved to exist near a numerical one.

Where no rational decomposition of R terms is at hand, a numerical one can still be turned into a
proof that R real terms exist, provided that the equations are independent there.

Theorem (Newton and Kantorovich, in the form of Krawczyk). Let F: Rᴺ → Rᴺ be continuously
differentiable, x₀ a point, Y an N × N matrix, ρ ≥ 0, all norms the maximum norm and its matrix
norm, and suppose that

- ‖Y F(x₀)‖ ≤ η and ‖1 - Y F'(x₀)‖ ≤ κ,
- ‖F'(x) - F'(x₀)‖ ≤ L for all x with ‖x - x₀‖ ≤ ρ,
- κ + ‖Y‖L < 1 and η + (κ + ‖Y‖L)ρ ≤ ρ.

Then F has a zero x with ‖x - x₀‖ ≤ ρ.

Proof. G(x) = x - Y F(x) has the derivative 1 - Y F'(x), of norm at most κ + ‖Y‖L < 1 on the ball,
so it contracts the ball; and ‖G(x) - x₀‖ ≤ η + (κ + ‖Y‖L)ρ ≤ ρ there, so it maps the ball into
itself. Banach gives x with Y F(x) = 0, and Y is regular because ‖1 - Y F'(x₀)‖ < 1.

Here F(x) = Σ_r a_r⊗b_r⊗c_r - S, and the N unknowns are some of the entries of the vectors; the
others keep their values in the centre. An entry of S to which no unknown contributes must agree
with the centre exactly, and each of the others is an equation; there must be N of them. A product
of two entries changes by at most ρ(|y| + |z|) + ρ², and an equation has at most 3R of them as
derivatives, so L = 2ρ(α + β + γ) + 3Rρ² will do, where α is the largest Σ_r |a_r(i)| over all i,
β and γ likewise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat

from lemmax.theory.certificates import writing as certificates
from lemmax.theory.tensors.arrays import Array, flattening_rank, mapped
from lemmax.theory.tensors.decompositions import Decomposition, Term
from lemmax.theory.tensors.reductions import Concise
from lemmax.theory.tensors.search.common_terms import Rows
from lemmax.theory.tensors.search.least_squares import Floats, floats

_INVERSE_BITS = 48  # of the approximate inverse, after the point
_ZERO = fmpq(0)


@dataclass(frozen=True)
class RealDecomposition:
    """Rational terms, and a ball that holds a real decomposition of what they leave.

    ``exact`` are terms whose sum is subtracted from the tensor; ``maps`` are integer matrices, one
    for each mode, that keep the ranks of all flattenings of the rest, and so its rank. Near
    ``centre``, given by rational vectors, the mapped rest has a decomposition into as many real
    terms: it differs from the centre by at most ``radius``, and only in the ``free`` entries. Entry
    n is in row n // R of the factor matrices A, B, C on top of each other, and in their column
    n % R, where R is the length of the centre.
    """

    exact: Decomposition
    maps: tuple[Rows, Rows, Rows]
    centre: tuple[Term, ...]
    free: tuple[int, ...]
    radius: fmpq

    def __len__(self) -> int:
        return len(self.exact) + len(self.centre)

    def __add__(self, other: Decomposition) -> RealDecomposition:
        """The decomposition of the sum of the tensors, if the other one is exact."""
        return replace(self, exact=self.exact + other)

    def proves(self, array: Array) -> bool:
        """Whether the hypotheses of the theorem hold for an integer tensor, exactly."""
        if self.exact.shape != array.shape:
            return False
        rest, scale = remainder(array, self.exact)
        for mode, rows in enumerate(self.maps):
            rank = flattening_rank(rest, mode)
            rest = mapped(rest, mode, rows)
            if flattening_rank(rest, mode) != rank:
                return False
        system = System.at(rest, scale, self.centre, self.free)
        if system is None:
            return False
        inverse = system.approximate_inverse()
        return inverse is not None and system.contracts(inverse, self.radius)

    def permuted(self, order: Sequence[int]) -> RealDecomposition:
        """Transpose the modes: mode m becomes the old mode order[m]."""
        first = np.cumsum([0, *(len(part) for part in self.centre[0])]).tolist()
        terms = len(self.centre)
        rows = [row for m in order for row in range(first[m], first[m + 1])]
        place = {old: new for new, old in enumerate(rows)}
        a, b, c = (self.maps[m] for m in order)
        return replace(
            self,
            exact=self.exact.permuted(order),
            maps=(a, b, c),
            centre=tuple((t[order[0]], t[order[1]], t[order[2]]) for t in self.centre),
            free=tuple(sorted(place[n // terms] * terms + n % terms for n in self.free)),
        )

    def placed(self, mode: int, indices: Sequence[int], size: int) -> RealDecomposition:
        """Write one mode into a larger one: index i becomes indices[i], all else is zero."""
        exact = self.exact.placed(mode, indices, size)
        return replace(self, exact=exact, maps=_spread(self.maps, mode, indices, size))

    def extended(self, core: Concise) -> RealDecomposition:
        """The decomposition of a tensor from one of its concise restriction."""
        maps = self.maps
        for mode, indices in enumerate(core.kept):
            maps = _spread(maps, mode, indices, core.expansions[mode].nrows())
        return replace(self, exact=core.extend(self.exact), maps=maps)

    def in_words(self) -> str:
        """One line on the terms that are not explicit."""
        bits = int(self.radius.q).bit_length() - int(self.radius.p).bit_length()
        return (
            f"{len(self.centre)} real terms: {len(self.free)} of their entries are known to "
            f"{bits} binary places, and are not known to be rational"
        )

    def certificate_fields(self) -> dict[str, Any]:
        """The fields ``terms``, ``families`` and ``ball`` of a tensor-rank certificate."""
        return {
            **self.exact.certificate_fields(),
            "ball": {
                "maps": [_map_fields(rows) for rows in self.maps],
                "centre": [
                    [[certificates.number(x) for x in v] for v in term] for term in self.centre
                ],
                "free": list(self.free),
                "radius": certificates.number(self.radius),
            },
        }


def _spread(
    maps: tuple[Rows, Rows, Rows], mode: int, indices: Sequence[int], size: int
) -> tuple[Rows, Rows, Rows]:
    """The maps of a larger tensor that is determined by the given indices of a mode."""
    rows = []
    for old in maps[mode]:
        new = [0] * size
        for index, x in zip(indices, old, strict=True):
            new[index] = x
        rows.append(tuple(new))
    a, b, c = (tuple(rows) if m == mode else part for m, part in enumerate(maps))
    return a, b, c


def _map_fields(rows: Rows) -> list[Any]:
    """A map as certificates write it: nothing for the identity, indices or rows of integers."""
    if all(sum(map(abs, row)) == max(row) == 1 for row in rows):
        indices = [row.index(1) for row in rows]
        return [] if indices == list(range(len(rows[0]))) else indices
    return [[certificates.number(x) for x in row] for row in rows]


def remainder(array: Array, exact: Decomposition) -> tuple[Array, int]:
    """scale · (T - Σ exact terms) as an integer tensor, and the scale."""
    entries = [x for part in exact.tensor() for row in part for x in row]
    scale = math.lcm(*(int(x.q) for x in entries))
    sums = np.array([int((x * scale).p) for x in entries], dtype=object).reshape(array.shape)
    return scale * array.astype(object) - sums, scale


@dataclass(frozen=True)
class System:
    """The equations of the free entries at a centre, all values exact."""

    factors: tuple[fmpq_mat, fmpq_mat, fmpq_mat]
    value: fmpq_mat  # F(x₀), a column
    jacobian: fmpq_mat  # F'(x₀): a row for each equation, a column for each free entry

    @classmethod
    def at(
        cls, rest: Array, scale: int, centre: Sequence[Term], free: Sequence[int]
    ) -> System | None:
        """The system of the tensor rest / scale.

        None where an entry of the tensor that does not depend on the free entries is missed, or
        where there are not as many equations as free entries.
        """
        terms = len(centre)
        place = {n: column for column, n in enumerate(free)}
        starts_at = (0, rest.shape[0], rest.shape[0] + rest.shape[1])
        values, rows = [], []
        for index in np.ndindex(rest.shape):
            total, row, alive = fmpq(-int(rest[index]), scale), {}, False
            for r, term in enumerate(centre):
                x, y, z = (term[mode][i] for mode, i in enumerate(index))
                total += x * y * z
                others = (y * z, x * z, x * y)
                at = [place.get((starts_at[m] + i) * terms + r) for m, i in enumerate(index)]
                row.update({n: others[m] for m, n in enumerate(at) if n is not None})
                zero = any(n is None and not v for n, v in zip(at, (x, y, z), strict=True))
                alive = alive or (not zero and any(n is not None for n in at))
            if alive:
                values.append([total])
                rows.append([row.get(n, _ZERO) for n in range(len(free))])
            elif total:
                return None
        if not len(rows) == len(free) == len(place) or not rows:
            return None
        A, B, C = (fmpq_mat([list(term[mode]) for term in centre]).transpose() for mode in range(3))
        return cls((A, B, C), fmpq_mat(values), fmpq_mat(rows))

    def approximate_inverse(self) -> fmpq_mat | None:
        """A dyadic matrix near the inverse of the Jacobian, from floats: nothing rests on it."""
        try:
            inverse = np.linalg.inv(nearest(self.jacobian))
        except np.linalg.LinAlgError:
            return None
        if not np.abs(inverse).max() < 1e9:
            return None
        mantissas = np.rint(inverse * 2.0**_INVERSE_BITS).tolist()
        whole = fmpz_mat([[int(x) for x in row] for row in mantissas])
        return fmpq_mat(whole) * fmpq(1, 2**_INVERSE_BITS)

    def constants(self, inverse: fmpq_mat) -> tuple[fmpq, fmpq]:
        """η and κ."""
        n = inverse.nrows()
        identity = fmpq_mat(fmpz_mat([[int(i == j) for j in range(n)] for i in range(n)]))
        return _norm(inverse * self.value), _norm(identity - inverse * self.jacobian)

    def contracts(self, inverse: fmpq_mat, radius: fmpq) -> bool:
        """The hypotheses of the theorem, for the ball of this radius."""
        eta, kappa = self.constants(inverse)
        sizes = sum((_norm(X) for X in self.factors), _ZERO)
        change = 2 * radius * sizes + 3 * self.factors[0].ncols() * radius * radius
        slope = kappa + _norm(inverse) * change
        return bool(radius >= 0 and slope < 1 and eta + slope * radius <= radius)


def _norm(matrix: fmpq_mat) -> fmpq:
    """The largest sum of absolute values in a row."""
    return max(sum(map(abs, row), _ZERO) for row in matrix.tolist())


def nearest(matrix: fmpq_mat) -> Floats:
    """The nearest matrix of floats."""
    return np.array([floats(row) for row in matrix.tolist()])
