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

from dataclasses import dataclass
from itertools import combinations
from math import gcd
from typing import Literal

from flint import fmpq_mat, fmpz_mat

from lemmax.theory.certificates import writing as certificates
from lemmax.theory.certificates.writing import Certificate
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

    def formula(self) -> str:
        """The rank as an equation, or the bounds as inequalities."""
        return between(self.lower, r"\operatorname{krank}", self.upper)


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
