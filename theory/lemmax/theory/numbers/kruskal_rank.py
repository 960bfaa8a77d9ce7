r"""The Kruskal rank of a family of vectors, exactly: the largest k such that any k are independent.

It is NP-hard in general (the spark of a matrix). Three regimes are settled fast:

* independent vectors: k = T, one rank;
* T = r + m vectors of rank r with m at most 3: the coefficient vectors of all dependencies form a
  space of dimension m, whose T coordinate functionals are the Gale dual vectors in :math:`Q^m`; a
  dependency vanishes where its dual hyperplane contains the dual vector, so the shortest
  dependency has T minus the largest number of dual vectors on one hyperplane entries;
* a dependent subset of small size exists, or there are few vectors: quotients and hashing.
  Modulo the span of k - 3 chosen vectors and one more, two vectors are proportional iff the
  quotient of two functionals agrees: :math:`O(T^{k-1})` instead of :math:`O(T^k)` ranks.

Independence modulo a prime proves independence, so everything below is one-sided; a dependent
subset is confirmed over Q.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, gcd
from typing import TYPE_CHECKING, Any, Literal

from flint import fmpq_mat, fmpz_mat, nmod_mat

from lemmax.theory.certificates import writing as certificates
from lemmax.theory.certificates.writing import Certificate
from lemmax.theory.errors import LemmaxError
from lemmax.theory.latex import Typeset, between
from lemmax.theory.numbers.matrices import Matrix, MatrixLike, flint_matrix, integer_matrix
from lemmax.theory.numbers.rank import certified_rank, pivot_columns, primes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Words = NDArray[np.uint64]

_SHORT_PRIME = 2**31 - 1  # products of two residues fit into 64 bits
_BUDGET = 300_000_000  # entries that the search may touch before it leaves an interval


@dataclass(frozen=True)
class KruskalRank(Typeset):
    """lower <= Kruskal rank <= upper; ``dependent`` is a dependent subset of upper + 1 vectors.

    ``dependent`` is empty where the upper bound is the number of vectors or their dimension.

    >>> found = kruskal_rank([[1, 0], [0, 1], [2, 0]])
    >>> found.rank, found.dependent
    (1, (0, 2))
    """

    vectors: Matrix
    lower: int
    upper: int
    method: Literal["dual", "search"]
    dependent: tuple[int, ...]

    @property
    def rank(self) -> int | None:
        """The Kruskal rank, or None while the bounds differ."""
        return self.lower if self.lower == self.upper else None

    def certificate(self) -> Certificate:
        """A ``kruskal-rank`` certificate; only an exact value has one."""
        if self.rank is None:
            raise LemmaxError(
                f"The Kruskal rank lies between {self.lower} and {self.upper}: no certificate."
            )
        upper: dict[str, object] = {"method": "size"}
        if self.dependent:
            upper = {"method": "subset", "indices": list(self.dependent)}
        return certificates.certificate(
            "kruskal-rank",
            {
                "vectors": certificates.matrix(self.vectors),
                "rank": self.rank,
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
        The vectors, one a row.
    floats
        Read floats as the dyadic rationals that they are.
    budget
        Array entries that the search may touch; when it is spent the answer is an interval.

    Notes
    -----
    Independent rows cost one rank. Up to three more rows than the rank cost a kernel and O(T²)
    comparisons. Otherwise deciding k costs about C(T, k-1) steps of vectorised arithmetic.

    Examples
    --------
    >>> kruskal_rank([[1, 0], [0, 1], [1, 1]]).rank
    2
    >>> found = kruskal_rank([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]])
    >>> found.rank, found.dependent
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
        return _by_gale_duality(vectors, integers, r)
    return _by_search(vectors, integers, r, budget)


def _integer_rows(vectors: Matrix) -> fmpz_mat:
    rows = []
    for row in vectors.flint.tolist():
        entries = [int(x) for x in fmpq_mat([row]).numer_denom()[0].entries()]
        content = gcd(*entries) or 1
        rows.append([x // content for x in entries])
    return fmpz_mat(rows)


# --- few dependencies: Gale duality -------------------------------------------------------------


def _by_gale_duality(vectors: Matrix, integers: fmpz_mat, r: int) -> KruskalRank:
    """Exact where the space of dependencies has dimension m = T - r <= 3."""
    T, d = integers.nrows(), integers.ncols()
    dual, prime = _dependencies(integers, r)
    lower = T - largest_hyperplane(dual, prime)[0] - 1
    upper, dependent = min(r, d), tuple[int, ...]()
    if lower < upper or upper < min(T, d):
        # The same count over Q gives a shortest dependency, hence a dependent subset.
        subset = _subset_over_rationals(integers, dual, prime, r)
        if subset is not None and len(subset) - 1 <= upper:
            upper, dependent = len(subset) - 1, subset
    return KruskalRank(vectors, lower, upper, "dual", dependent)


def _dependencies(integers: fmpz_mat, r: int) -> tuple[list[list[int]], int]:
    """All dependencies modulo a prime that keeps the rank r, and that prime."""
    for prime in primes():
        dual = dependencies_modulo(integers, prime)
        if len(dual) == integers.nrows() - r:
            return dual, prime
    raise AssertionError("some prime keeps the rank")


def dependencies_modulo(integers: fmpz_mat, prime: int) -> list[list[int]]:
    """A basis of the vectors λ with λ · rows = 0 modulo a prime."""
    T = integers.nrows()
    echelon, rank = nmod_mat(integers.transpose(), prime).rref()
    pivots = pivot_columns(echelon, rank)
    basis = []
    for free in sorted(set(range(T)) - set(pivots)):
        vector = [0] * T
        vector[free] = 1
        for i, column in enumerate(pivots):
            vector[column] = -int(echelon[i, free]) % prime
        basis.append(vector)
    return basis


def largest_hyperplane(dual: Sequence[Sequence[int]], prime: int) -> tuple[int, tuple[int, ...]]:
    """The largest number of dual vectors (columns) on one hyperplane through 0, and the others.

    The others are the support of a shortest dependency modulo the prime.
    """
    m = len(dual)
    columns = list(zip(*dual, strict=True))
    zero = [t for t, g in enumerate(columns) if not any(g)]
    alive = [t for t, g in enumerate(columns) if any(g)]
    classes: dict[tuple[int, ...], list[int]] = {}
    for t in alive:
        classes.setdefault(_normalised(columns[t], prime), []).append(t)
    if m == 1:
        on = zero
    elif m == 2:
        on = zero + max(classes.values(), key=len, default=[])
    else:
        on = zero + _largest_plane(classes, prime)
    return len(on), tuple(t for t in range(len(columns)) if t not in set(on))


def _largest_plane(classes: dict[tuple[int, ...], list[int]], prime: int) -> list[int]:
    """Parallel classes of dual vectors in Q³: the plane through 0 with the most members."""
    directions = list(classes)
    best: list[int] = max(classes.values(), key=len, default=[])
    for i, a in enumerate(directions):
        planes: dict[tuple[int, ...], list[int]] = {}
        for b in directions[i + 1 :]:
            normal = (
                (a[1] * b[2] - a[2] * b[1]) % prime,
                (a[2] * b[0] - a[0] * b[2]) % prime,
                (a[0] * b[1] - a[1] * b[0]) % prime,
            )
            planes.setdefault(_normalised(normal, prime), []).extend(classes[b])
        members = max(planes.values(), key=len, default=[])
        if len(members) + len(classes[a]) > len(best):
            best = classes[a] + members
    return best


def _normalised(vector: Sequence[int], prime: int) -> tuple[int, ...]:
    first = next(x for x in vector if x)
    inverse = pow(first, -1, prime)
    return tuple(x * inverse % prime for x in vector)


def _subset_over_rationals(
    integers: fmpz_mat, dual: list[list[int]], prime: int, r: int
) -> tuple[int, ...] | None:
    """The support of a shortest dependency modulo the prime, if it is dependent over Q too."""
    subset = largest_hyperplane(dual, prime)[1]
    if len(subset) > r + 1:
        return None
    rows = integers.tolist()
    chosen = fmpz_mat([rows[t] for t in subset])
    return subset if certified_rank(chosen).rank < len(subset) else None


# --- many vectors: quotients and hashing --------------------------------------------------------


def _by_search(vectors: Matrix, integers: fmpz_mat, r: int, budget: int) -> KruskalRank:
    T, d = integers.nrows(), integers.ncols()
    upper, dependent = r, _short_dependency(integers, r)
    if dependent:
        upper = len(dependent) - 1
    lower = 0
    search = _Search(integers)
    for k in range(1, upper + 1):
        if search.cost(k) > budget:
            break
        budget -= search.cost(k)
        found = search.dependent_subset(k)
        if found is not None:
            upper, dependent = k - 1, found
            break
        lower = k
    if upper == min(T, d):
        dependent = ()
    return KruskalRank(vectors, lower, upper, "search", dependent)


def _short_dependency(integers: fmpz_mat, r: int) -> tuple[int, ...]:
    """A dependent subset read off one echelon form: a vector and the pivots that express it."""
    dual, _ = _dependencies(integers, r)
    supports = sorted((tuple(t for t, x in enumerate(vector) if x) for vector in dual), key=len)
    rows = integers.tolist()
    for subset in supports[:4]:
        if certified_rank(fmpz_mat([rows[t] for t in subset])).rank < len(subset):
            return subset
    return ()


class _Search:
    """Dependent k-subsets by depth-first quotients, the last three vectors hashed at once."""

    def __init__(self, integers: fmpz_mat) -> None:
        import numpy as np

        self.rows = integers.tolist()
        self.T = integers.nrows()
        reduced = nmod_mat(integers, _SHORT_PRIME).tolist()
        self.residues: Words = np.array([[int(x) for x in row] for row in reduced], dtype=np.uint64)
        self.random = random.Random(0)

    def cost(self, k: int) -> int:
        """Array entries that deciding k touches."""
        width = min(int(self.residues.shape[1]), k + 2)
        if k <= 2:
            return self.T * self.T * width
        return comb(self.T, k - 3) * (width * self.T) + 12 * comb(self.T, k - 1)

    def dependent_subset(self, k: int) -> tuple[int, ...] | None:
        """The first dependent subset of k vectors, or None: then there is none (a proof)."""
        if k <= 2:
            return self._small(k)
        vectors = self._projected(k)
        for candidate in self._candidates(vectors, (), 0, k):
            chosen = fmpz_mat([self.rows[t] for t in candidate])
            if certified_rank(chosen).rank < k:
                return candidate
        return None

    def _small(self, k: int) -> tuple[int, ...] | None:
        if k == 1:
            return next(((t,) for t, row in enumerate(self.rows) if not any(row)), None)
        seen: dict[tuple[Any, ...], int] = {}
        for t, row in enumerate(self.rows):
            lead = next(x for x in row if x)
            sign = 1 if lead > 0 else -1
            content = gcd(*map(int, row))
            key = tuple(int(x) * sign // content for x in row)
            if key in seen:
                return seen[key], t
            seen[key] = t
        return None

    def _projected(self, k: int) -> Words:
        """A random linear image in dimension k + 1: where images are independent, rows are."""
        d = self.residues.shape[1]
        if d <= k + 1:
            return self.residues
        columns = []
        for _ in range(k + 1):
            total = self.residues[:, 0] * 0
            for j in range(d):
                factor = self.random.randrange(1, _SHORT_PRIME)
                total = (total + self.residues[:, j] * factor) % _SHORT_PRIME
            columns.append(total)
        return _stack(columns)

    def _candidates(
        self, vectors: Words, prefix: tuple[int, ...], start: int, k: int
    ) -> Iterator[tuple[int, ...]]:
        """Subsets prefix < j < t < t' that may be dependent; all that are come out.

        ``vectors`` holds the vectors from ``start`` on, modulo the span of the prefix.
        """
        if k - len(prefix) == 3:
            yield from self._triples(vectors, prefix, start)
            return
        for i in range(len(vectors) - (k - len(prefix)) + 1):
            row = vectors[i]
            alive = row.nonzero()[0]
            if not len(alive):  # this vector depends on the prefix modulo the prime
                rest = (start + i + 1 + j for j in range(len(vectors) - i - 1))
                tail = tuple(t for t, _ in zip(rest, range(k - len(prefix) - 1), strict=False))
                yield (*prefix, start + i, *tail)
                # A false alarm of the prime: the subsets that contain it are tried one by one.
                yield from (
                    (*prefix, start + i, *more)
                    for more in combinations(
                        range(start + i + 1, start + len(vectors)), k - len(prefix) - 1
                    )
                )
                continue
            pivot = int(alive[0])
            later = vectors[i + 1 :]
            quotient = (
                later * row[pivot] + (_SHORT_PRIME - later[:, pivot : pivot + 1]) * row
            ) % _SHORT_PRIME
            kept = [j for j in range(quotient.shape[1]) if j != pivot]
            yield from self._candidates(quotient[:, kept], (*prefix, start + i), start + i + 1, k)

    def _triples(
        self, vectors: Words, prefix: tuple[int, ...], start: int
    ) -> Iterator[tuple[int, ...]]:
        """Triples j < t < t' that may be dependent modulo the prefix.

        Modulo v_j, the vector v becomes v g(v_j) - g(v) v_j for a functional g; two further
        functionals of it, as a quotient, agree for proportional vectors.
        """
        import numpy as np

        count = len(vectors)
        if count < 3:
            return
        p = np.uint64(_SHORT_PRIME)
        # Where g(v_j) = 0 all vectors look proportional: false alarms, never a miss.
        g, f1, f2 = (self._functional(vectors) for _ in range(3))
        # The 2 x 2 minors of (f, g) on (v_t, v_j), for all j < t at once.
        left, right = np.triu_indices(count, 1)
        first = (f1[right] * g[left] + (p - g[right]) * f1[left]) % p
        second = (f2[right] * g[left] + (p - g[right]) * f2[left]) % p
        vanishing = second == 0
        ratio = (first * _inverses(np.where(vanishing, np.uint64(1), second))) % p
        ratio[vanishing] = p  # the point at infinity
        both = vanishing & (first == 0)
        keys = left.astype(np.uint64) * np.uint64(1 << 32) + ratio
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
        for place in (ordered[1:] == ordered[:-1]).nonzero()[0]:
            a, b = int(order[place]), int(order[place + 1])
            # Every pair inside a run of equal keys is a candidate, not only neighbours.
            yield (*prefix, start + int(left[a]), start + int(right[a]), start + int(right[b]))
            follow = int(place) + 2
            while follow < len(ordered) and ordered[follow] == ordered[place]:
                c = int(order[follow])
                yield (*prefix, start + int(left[a]), start + int(right[a]), start + int(right[c]))
                follow += 1
        for pair in both.nonzero()[0]:  # v_t vanishes modulo v_j: every third vector completes it
            j, t = int(left[pair]), int(right[pair])
            for other in range(count):
                if other not in (j, t):
                    yield (*prefix, *sorted((start + j, start + t, start + other)))

    def _functional(self, vectors: Words) -> Words:
        total = vectors[:, 0] * 0
        for j in range(vectors.shape[1]):
            factor = self.random.randrange(1, _SHORT_PRIME)
            total = (total + vectors[:, j] * factor) % _SHORT_PRIME
        return total


def _stack(columns: list[Words]) -> Words:
    import numpy as np

    return np.stack(columns, axis=1)


def _inverses(values: Words) -> Words:
    """Inverses modulo the short prime of nonzero residues: a product tree and one power."""
    import numpy as np

    if len(values) == 1:
        return np.array([pow(int(values[0]), -1, _SHORT_PRIME)], dtype=np.uint64)
    half = len(values) // 2
    low, high = values[:half], values[half : 2 * half]
    inverse = _inverses(low * high % _SHORT_PRIME)
    found = np.concatenate([inverse * high % _SHORT_PRIME, inverse * low % _SHORT_PRIME])
    if len(values) % 2:
        last = np.array([pow(int(values[-1]), -1, _SHORT_PRIME)], dtype=np.uint64)
        found = np.concatenate([found, last])
    return found


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
