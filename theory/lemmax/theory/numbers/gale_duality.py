"""Kruskal ranks where dependencies are few: Gale duality.

T vectors of rank r have a space of dependencies of dimension m = T - r. Its T coordinate
functionals are the Gale dual vectors; a dependency vanishes where its hyperplane contains the dual
vector, so the shortest one has T minus the largest number of dual vectors on one hyperplane
entries. For m at most 3 that number is counted by classes of parallel vectors and of planes.
"""

from __future__ import annotations

from collections.abc import Sequence

from flint import fmpz_mat, nmod_mat

from lemmax.theory.numbers.primes import primes
from lemmax.theory.numbers.rank import certified_rank, pivot_columns


def by_gale_duality(integers: fmpz_mat, r: int) -> tuple[int, int, tuple[int, ...]]:
    """Bounds for the Kruskal rank of rows of rank r, and a dependent subset that shows the upper.

    Needs m = T - r between 1 and 3. The subset is empty where the upper bound is trivial.

    >>> by_gale_duality(fmpz_mat([[1, 0], [0, 1], [2, 0]]), 2)
    (1, 1, (0, 2))
    """
    T, d = integers.nrows(), integers.ncols()
    dual, prime = dependencies(integers, r)
    lower = T - largest_hyperplane(dual, prime)[0] - 1
    upper, dependent = min(r, d), tuple[int, ...]()
    if lower < upper or upper < min(T, d):
        # The same count over Q gives a shortest dependency, hence a dependent subset.
        subset = _subset_over_rationals(integers, dual, prime, r)
        if subset is not None and len(subset) - 1 <= upper:
            upper, dependent = len(subset) - 1, subset
    return lower, upper, dependent


def dependencies(integers: fmpz_mat, r: int) -> tuple[list[list[int]], int]:
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
