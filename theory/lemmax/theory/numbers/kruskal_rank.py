r"""The Kruskal rank of a family of vectors, exactly: the largest k such that any k are independent.

It is NP-hard in general (the spark of a matrix). Three regimes are settled fast:

* independent vectors: k = T, one rank;
* T = r + m vectors of rank r with m at most 3: :mod:`lemmax.theory.numbers.gale_duality`;
* a dependent subset of small size exists, or there are few vectors:
  :mod:`lemmax.theory.numbers.kruskal_search`.

Independence modulo a prime proves independence, so everything below is one-sided; a dependent
subset is confirmed over Q.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, islice
from math import comb, gcd
from typing import Literal

import numpy as np
from flint import fmpq_mat, fmpz_mat

from lemmax.theory.certificates import writing as certificates
from lemmax.theory.certificates.writing import Certificate
from lemmax.theory.errors import LemmaxError
from lemmax.theory.latex import Typeset, between
from lemmax.theory.numbers.gale_duality import by_gale_duality
from lemmax.theory.numbers.interval import Interval
from lemmax.theory.numbers.kruskal_search import by_search
from lemmax.theory.numbers.matrices import Matrix, MatrixLike, flint_matrix, integer_matrix
from lemmax.theory.numbers.primes import primes
from lemmax.theory.numbers.rank import certified_rank
from lemmax.theory.shown import shortened

_BUDGET = 300_000_000  # entries that the search may touch before it leaves an interval


@dataclass(frozen=True)
class KruskalRank(Interval, Typeset):
    """lower <= Kruskal rank <= upper; ``dependent`` is a dependent subset of upper + 1 vectors.

    ``dependent`` is empty where the upper bound is the number of vectors or their dimension.

    >>> result = kruskal_rank([[1, 0], [0, 1], [2, 0]])
    >>> result.rank, result.dependent
    (1, (0, 2))
    """

    vectors: Matrix
    lower: int
    upper: int
    method: Literal["dual", "search"]
    dependent: tuple[int, ...]

    def __repr__(self) -> str:
        return shortened(self, self._sentence())

    def certificate(self) -> Certificate:
        """A ``kruskal-rank`` certificate; only an exact value has one."""
        rank = self.known("Kruskal rank")
        upper: dict[str, object] = {"method": "size"}
        if self.dependent:
            upper = {"method": "subset", "indices": list(self.dependent)}
        return certificates.certificate(
            "kruskal-rank",
            {
                "vectors": certificates.matrix(self.vectors),
                "rank": rank,
                "lower": {"method": self.method, "prime": str(next(primes()))},
                "upper": upper,
            },
        )

    def distance(self, size: int | None = None, *, most: int = 20_000) -> NearDependence:
        """How near some of the vectors are to a dependence: a float, beside the exact rank.

        Of subsets of ``size`` vectors (the lower bound of the rank, unless given), each vector
        scaled to length one, the least singular value of all: by Eckart and Young so far, in the
        spectral norm, the nearest dependent vectors are. It is numerical and proves nothing. Beyond
        ``most`` subsets only random ones are looked at; then the value is an upper estimate.

        Cost: a singular value decomposition for each subset.

        >>> nearly = kruskal_rank([[1.0, 0.0], [1.0, 1e-7]], floats=True)
        >>> nearly.rank, nearly.distance()
        (2, NearDependence(distance=7.0...e-08, subset=(0, 1), complete=True))
        """
        return near_dependence(self.vectors, max(1, self.lower) if size is None else size, most)

    def formula(self) -> str:
        """The rank as an equation, or the bounds as inequalities."""
        return between(self.lower, r"\operatorname{krank}", self.upper)


@dataclass(frozen=True)
class NearDependence:
    """The numerically nearest dependence: a least singular value, and the vectors that have it.

    Where it is not ``complete`` there may be nearer ones among subsets that were not looked at.
    """

    distance: float
    subset: tuple[int, ...]
    complete: bool


def near_dependence(vectors: Matrix, size: int, most: int) -> NearDependence:
    """The least singular value of subsets of so many unit vectors, in float64.

    >>> near_dependence(Matrix([[1, 0], [0, 1], [1, 1]]), 2, 10)
    NearDependence(distance=0.541..., subset=(0, 2), complete=True)
    """
    T = vectors.shape[0]
    if not 1 <= size <= T or most < 1:
        raise LemmaxError(f"A subset has from 1 to {T} of the vectors, not {size}; look at some.")
    # Integer rows first: their entries may be beyond what a float can hold.
    rows = []
    for row in _integer_rows(vectors).tolist():
        largest = max(1, *(abs(int(x)) for x in row))
        rows.append([float(Fraction(int(x), largest)) for x in row])
    table = np.array(rows).reshape(T, -1)
    table = table / np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-300)
    complete = comb(T, size) <= most
    subsets: Iterator[tuple[int, ...]]
    if complete:
        subsets = combinations(range(T), size)
    else:
        draw = random.Random(0)
        subsets = iter([tuple(sorted(draw.sample(range(T), size))) for _ in range(most)])
    best = NearDependence(np.inf, (), complete)
    while some := list(islice(subsets, 1024)):
        chosen = table[np.array(some)]
        values = np.linalg.svd(chosen, compute_uv=False)
        least = values[:, -1] if size <= table.shape[1] else np.zeros(len(some))
        at = int(least.argmin())
        if least[at] < best.distance:
            best = NearDependence(float(least[at]), some[at], complete)
    return best


def kruskal_rank(rows: MatrixLike, *, floats: bool = False, budget: int = _BUDGET) -> KruskalRank:
    """The largest k such that any k of the rows are linearly independent.

    Parameters
    ----------
    rows
        The vectors, one per row.
    floats
        Read floats as the dyadic rationals that they are.
    budget
        Array entries that the search may touch; when it is spent the answer is an interval.

    Notes
    -----
    Independent rows cost one rank. Up to three more rows than the rank cost a null space and O(T²)
    comparisons. Otherwise deciding k costs about C(T, k-1) steps of vectorised arithmetic.

    Examples
    --------
    >>> kruskal_rank([[1, 0], [0, 1], [1, 1]]).rank
    2
    >>> result = kruskal_rank([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]])
    >>> result.rank, result.dependent
    (2, (0, 1, 2))
    """
    flint = flint_matrix(rows, floats=floats)
    vectors = Matrix(flint)
    # Multiplying a row by a constant changes no dependency: make every row an integer row.
    integers = _integer_rows(vectors)
    T = integers.nrows()
    r = certified_rank(integers).rank
    if r == T:
        return KruskalRank(vectors, T, T, "dual", ())
    if T - r <= 3:
        lower, upper, dependent = by_gale_duality(integers, r)
        return KruskalRank(vectors, lower, upper, "dual", dependent)
    lower, upper, dependent = by_search(integers, r, budget)
    return KruskalRank(vectors, lower, upper, "search", dependent)


def _integer_rows(vectors: Matrix) -> fmpz_mat:
    rows = []
    for row in vectors.flint.tolist():
        entries = [int(x) for x in fmpq_mat([row]).numer_denom()[0].entries()]
        content = gcd(*entries) or 1
        rows.append([x // content for x in entries])
    return fmpz_mat(rows)


def kruskal_rank_by_enumeration(rows: MatrixLike) -> int:
    """The definition itself, subset by subset: the peer that the fast search is compared with.

    >>> kruskal_rank_by_enumeration([[1, 0], [0, 1], [1, 1]])
    2
    """
    integers = integer_matrix(rows)
    table = integers.tolist()
    for k in range(1, min(integers.nrows(), integers.ncols()) + 1):
        for subset in combinations(table, k):
            if fmpz_mat(list(subset)).rank() < k:
                return k - 1
    return min(integers.nrows(), integers.ncols())
