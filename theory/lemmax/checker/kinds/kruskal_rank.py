"""The largest k such that any k of some vectors are independent."""

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from ..arithmetic import (
    bits_of,
    classes,
    cleared,
    eliminated,
    integer_rank,
    rank,
    representatives,
    subsets,
)
from ..limits import foresee, keep, refuse, spend
from ..reading import Matrix, fields, indices, integer, matrix, prime, variant
from ..steps import Step


def check(data: Mapping[str, Any]) -> Iterator[Step]:
    """The largest k such that any k of the vectors are independent.

    Below, mod p. "search": all subsets of k vectors. "dual": a shortest dependency vanishes on as
    many vectors as one hyperplane of F_p^m holds dual vectors, the columns of a basis of the
    m-dimensional space of all dependencies.
    """
    fields(data, "The certificate", "vectors rank lower upper")
    M = matrix(data["vectors"], "vectors")
    T, d = len(M), len(M[0])
    k = integer(data["rank"], "rank", min(T, d) + 1)
    method = variant(data["lower"], "lower", "method", {"dual": "prime", "search": "prime"})
    p = prime(data["lower"]["prime"], "lower.prime")
    above = variant(data["upper"], "upper", "method", {"size": "", "subset": "indices"})
    subset = indices(data["upper"].get("indices", []), "upper.indices", T)
    rows = [[x % p for x in cleared(row)[0]] for row in M]
    if method == "search":
        spend("The search", 3 * subsets(T, max(k - 1, 0)) * d, p.bit_length(), p.bit_length())
        below = k if k == 0 or all_independent(rows, k, p) else k - 1
    else:
        basis, below = dependencies(rows, p), T
        if basis:
            spend("The hyperplanes", 4 * T ** min(len(basis), 50), p.bit_length(), p.bit_length())
            below = T - 1 - most_on_hyperplane(list(zip(*basis, strict=True)), len(basis), p)
    ok = below >= k
    yield Step(ok, f"any {k} vectors are {'' if ok else 'not '}independent mod {p}")
    if above == "size":
        yield Step(k == min(T, d), f"the Kruskal rank is at most {min(T, d)}: {T} vectors in R^{d}")
    else:
        ok = len(subset) == k + 1 and rank([M[i] for i in subset]) <= k
        yield Step(ok, f"{len(subset)} vectors are {'' if ok else 'not known to be '}dependent")


def dependencies(rows: Sequence[Sequence[int]], p: int) -> list[list[int]]:
    """A basis of the λ with λ · rows = 0 mod p: eliminate (rows | identity)."""
    keep("The dependencies", len(rows) * (len(rows) + len(rows[0])), p.bit_length())
    with_unit = [[*row, *(int(i == j) for j in range(len(rows)))] for i, row in enumerate(rows)]
    return eliminated(with_unit, p, len(rows[0]))[1]


def normalised(v: Sequence[int], p: int) -> tuple[int, ...]:
    """The multiple of a nonzero vector mod p whose first nonzero entry is 1."""
    inverse = pow(next(filter(None, v)), -1, p)
    return tuple(x * inverse % p for x in v)


def quotient(vectors: Iterable[Sequence[int]], g: Sequence[int], p: int) -> list[list[int]]:
    """The vectors modulo the normalised vector g, in one coordinate less."""
    k = g.index(1)
    rest = [*g[:k], *g[k + 1 :]]
    parts = ((v[k], (*v[:k], *v[k + 1 :])) for v in vectors)
    return [[(x - a * y) % p for x, y in zip(v, rest, strict=True)] for a, v in parts]


def all_independent(vectors: Sequence[Sequence[int]], k: int, p: int) -> bool:
    """Whether any k >= 1 of the vectors are independent mod p; at k = 2 by comparing lines."""
    spend("The search", 2 * len(vectors) * len(vectors[0]), p.bit_length(), p.bit_length())
    if k == 1 or not all(map(any, vectors)):
        return all(map(any, vectors))
    lines = [normalised(v, p) for v in vectors]
    if k == 2:
        return max(classes(lines)) == len(lines) - 1
    starts = range(len(lines) - k + 1)
    return all(all_independent(quotient(lines[i + 1 :], lines[i], p), k - 1, p) for i in starts)


def most_on_hyperplane(vectors: Sequence[Sequence[int]], m: int, p: int) -> int:
    """The largest number of the vectors of F_p^m, m >= 1, on one hyperplane through 0."""
    spend("The hyperplanes", 3 * len(vectors) * m, p.bit_length(), p.bit_length())
    lines = [normalised(v, p) for v in vectors if any(v)]
    labels = classes(lines)
    if m > 2:
        firsts = (lines[i] for i in representatives(labels))
        return max(most_on_hyperplane(quotient(vectors, g, p), m - 1, p) for g in firsts)
    return len(vectors) - len(lines) + (max(Counter(labels).values()) if m == 2 else 0)


def independent_share(M: Matrix, k: Fraction) -> Fraction:
    """The share of independent sets among the sets of k rows, over Q."""
    if k.denominator != 1 or not 0 <= k <= min(len(M), len(M[0])):
        refuse("independent_share(...)", f"needs a number of rows in 0..{min(len(M), len(M[0]))}")
    size, rows = k.numerator, [cleared(row)[0] for row in M]
    bits = size * bits_of(rows)
    foresee("The subsets", subsets(len(M), size) * (size + 1) ** 3 * (1 + bits * bits // 600_000))
    parts = itertools.combinations(rows, size)
    full = [integer_rank(part, "The subsets") == size if size else True for part in parts]
    return Fraction(sum(full), len(full))


def kruskal_rank(M: Matrix) -> int:
    """The Kruskal rank of the rows, over Q."""
    sizes = range(1, min(len(M), len(M[0])) + 1)
    return next((k - 1 for k in sizes if independent_share(M, Fraction(k)) < 1), sizes[-1])
