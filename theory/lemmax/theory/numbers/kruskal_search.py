"""Dependent subsets of many vectors by quotients and hashing.

Modulo the span of k - 3 chosen vectors and one more, two vectors are proportional iff the quotient
of two functionals agrees: O(T^{k-1}) steps of array arithmetic instead of O(T^k) ranks.
Independence modulo a prime proves independence; a dependent subset is confirmed over Q.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import combinations
from math import comb, gcd
from typing import Any

import numpy as np
from flint import fmpz_mat, nmod_mat

from lemmax.theory.numbers.gale_duality import dependencies
from lemmax.theory.numbers.primes import MERSENNE_31
from lemmax.theory.numbers.rank import certified_rank
from lemmax.theory.numbers.residues import Residues, inverses


def by_search(integers: fmpz_mat, r: int, budget: int) -> tuple[int, int, tuple[int, ...]]:
    """Bounds for the Kruskal rank of rows of rank r, and a dependent subset that shows the upper.

    ``budget`` limits the array entries that are touched; when it is spent the bounds may differ.
    The subset is empty where the upper bound is trivial.
    """
    T, d = integers.nrows(), integers.ncols()
    upper, dependent = r, _short_dependency(integers, r)
    if dependent:
        upper = len(dependent) - 1
    lower = 0
    search = DependentSubsets(integers)
    for k in range(1, upper + 1):
        if search.cost(k) > budget:
            break
        budget -= search.cost(k)
        subset = search.of_size(k)
        if subset is not None:
            upper, dependent = k - 1, subset
            break
        lower = k
    if upper == min(T, d):
        dependent = ()
    return lower, upper, dependent


def _short_dependency(integers: fmpz_mat, r: int) -> tuple[int, ...]:
    """A dependent subset read off one echelon form: a vector and the pivots that express it."""
    dual, _ = dependencies(integers, r)
    supports = sorted((tuple(t for t, x in enumerate(vector) if x) for vector in dual), key=len)
    rows = integers.tolist()
    for subset in supports[:4]:
        if certified_rank(fmpz_mat([rows[t] for t in subset])).rank < len(subset):
            return subset
    return ()


class DependentSubsets:
    """Dependent k-subsets by depth-first quotients, the last three vectors hashed at once."""

    def __init__(self, integers: fmpz_mat) -> None:
        self.rows = integers.tolist()
        self.T = integers.nrows()
        reduced = nmod_mat(integers, MERSENNE_31).tolist()
        self.residues: Residues = np.array(
            [[int(x) for x in row] for row in reduced], dtype=np.int64
        )
        self.random = random.Random(0)

    def cost(self, k: int) -> int:
        """Array entries that deciding k touches."""
        width = min(int(self.residues.shape[1]), k + 2)
        if k <= 2:
            return self.T * self.T * width
        return comb(self.T, k - 3) * (width * self.T) + 12 * comb(self.T, k - 1)

    def of_size(self, k: int) -> tuple[int, ...] | None:
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

    def _projected(self, k: int) -> Residues:
        """A random linear image in dimension k + 1: where images are independent, rows are."""
        d = self.residues.shape[1]
        if d <= k + 1:
            return self.residues
        columns = []
        for _ in range(k + 1):
            total = self.residues[:, 0] * 0
            for j in range(d):
                factor = self.random.randrange(1, MERSENNE_31)
                total = (total + self.residues[:, j] * factor) % MERSENNE_31
            columns.append(total)
        return np.stack(columns, axis=1)

    def _candidates(
        self, vectors: Residues, prefix: tuple[int, ...], start: int, k: int
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
                later * row[pivot] + (MERSENNE_31 - later[:, pivot : pivot + 1]) * row
            ) % MERSENNE_31
            kept = [j for j in range(quotient.shape[1]) if j != pivot]
            yield from self._candidates(quotient[:, kept], (*prefix, start + i), start + i + 1, k)

    def _triples(
        self, vectors: Residues, prefix: tuple[int, ...], start: int
    ) -> Iterator[tuple[int, ...]]:
        """Triples j < t < t' that may be dependent modulo the prefix.

        Modulo v_j, the vector v becomes v g(v_j) - g(v) v_j for a functional g; two further
        functionals of it, as a quotient, agree for proportional vectors.
        """
        count = len(vectors)
        if count < 3:
            return
        p = MERSENNE_31
        # Where g(v_j) = 0 all vectors look proportional: false alarms, never a miss.
        g, f1, f2 = (self._functional(vectors) for _ in range(3))
        # The 2 x 2 minors of (f, g) on (v_t, v_j), for all j < t at once.
        left, right = np.triu_indices(count, 1)
        first = (f1[right] * g[left] + (p - g[right]) * f1[left]) % p
        second = (f2[right] * g[left] + (p - g[right]) * f2[left]) % p
        vanishing = second == 0
        ratio = (first * inverses(np.where(vanishing, 1, second), p)) % p
        ratio[vanishing] = p  # the point at infinity
        both = vanishing & (first == 0)
        keys = left.astype(np.int64) * (1 << 32) + ratio
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

    def _functional(self, vectors: Residues) -> Residues:
        total = vectors[:, 0] * 0
        for j in range(vectors.shape[1]):
            factor = self.random.randrange(1, MERSENNE_31)
            total = (total + vectors[:, j] * factor) % MERSENNE_31
        return total
