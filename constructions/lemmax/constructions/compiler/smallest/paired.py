"""Two predicates that one number answers: their classes are intervals of one order of the keys."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, permutations

from lemmax.constructions.compiler.parabola import logit, power_of_two, unit
from lemmax.theory.facts.database import Database
from lemmax.theory.numbers.matrices import Matrix
from lemmax.theory.wong.layer import AttentionLayer, Head


@dataclass(frozen=True)
class Pair:
    """Two predicates, and an order of the keys in which the keys of each of their values are
    neighbours among those that have one; no other predicate has a value of the second."""

    first: Hashable
    second: Hashable
    order: tuple[Hashable, ...]


def pair(db: Database) -> Pair | None:
    """The first pair of predicates that share a number; None where there is none.

    Two partitions of the keys are made of intervals of one order iff the graph of their classes,
    with an edge for each pair that meets, is a forest of caterpillars: trees whose inner vertices
    form a path. Cost: pairs of predicates × keys.

    >>> facts = [(c, "continent", c[0]) for c in ("A1", "A2", "B1")] + [
    ...     ("A1", "capital", "p"), ("A2", "capital", "q"), ("B1", "capital", "q")]
    >>> pair(Database.from_triples(facts)).order
    ('A1', 'A2', 'B1')
    """
    having: dict[Hashable, set[Hashable]] = defaultdict(set)
    for _, q, v in db:
        having[v].add(q)
    for first, second in permutations(db.queries, 2):
        if all(having[v] == {second} for v in db.V_q(second)):
            order = _order(db, first, second)
            if order is not None:
                return Pair(first, second, order)
    return None


def _order(db: Database, first: Hashable, second: Hashable) -> tuple[Hashable, ...] | None:
    """The keys in an order of which the classes of both predicates are intervals."""
    cells: dict[tuple[Hashable, Hashable], list[Hashable]] = defaultdict(list)
    for k in db.keys:  # a key without a value is a class of its own, and a leaf
        ends = [("class", db[k, q]) if (k, q) in db else ("key", k) for q in (first, second)]
        cells[(0, ends[0]), (1, ends[1])].append(k)
    beside: dict[Hashable, list[Hashable]] = defaultdict(list)
    for a, b in cells:
        beside[a].append(b)
        beside[b].append(a)
    order: list[Hashable] = []
    done: set[Hashable] = set()
    for start in beside:
        if start in done:
            continue
        tree = _component(beside, start)
        done |= set(tree)
        inner = [a for a in tree if len(beside[a]) > 1]
        spine = _path(inner or tree[:1], beside)
        if spine is None or sum(len(beside[a]) for a in tree) != 2 * (len(tree) - 1):
            return None
        for a, following in zip(spine, [*spine[1:], None], strict=True):
            steps = [b for b in beside[a] if b not in spine] + ([following] if following else [])
            for b in steps:
                order += cells.get((a, b), []) or cells[b, a]
    return tuple(order)


def _component(beside: dict[Hashable, list[Hashable]], start: Hashable) -> list[Hashable]:
    reached = {start: None}
    for a in (queue := [start]):
        fresh = [b for b in beside[a] if b not in reached]
        reached |= dict.fromkeys(fresh)
        queue += fresh
    return list(reached)


def _path(
    vertices: Sequence[Hashable], beside: dict[Hashable, list[Hashable]]
) -> list[Hashable] | None:
    """The vertices as a path; None where some have three neighbours, or none has but one."""
    own = set(vertices)
    near = {a: [b for b in beside[a] if b in own] for a in vertices}
    end = next((a for a in vertices if len(near[a]) <= 1), None)
    if end is None or max(map(len, near.values())) > 2:
        return None
    path = [end]
    while following := [b for b in near[path[-1]] if b not in path[-2:]]:
        path += following
    return path if len(path) == len(own) else None


def paired(db: Database, shared: Pair) -> AttentionLayer:
    """One head, d_model = |Q| - 1 ≥ 2, d_qk = |Q| - 2: a number of the keys answers two predicates.

    The predicate ``first`` reads n + δ, the number of its value and less than 1/16 for the place of
    the key in the order. ``second`` is embedded as half of ``first``: it attends evenly too, and
    reads the same number from a range above those of all other predicates, where its values are
    cut apart by thresholds. Needs subjects and predicates to be disjoint.
    """
    second = [k for k in shared.order if (k, shared.second) in db]
    late = tuple(dict.fromkeys(db[k, shared.second] for k in second))
    early = dict.fromkeys(db[k, shared.first] for k in shared.order if (k, shared.first) in db)
    early |= dict.fromkeys(v for v in db.values if v not in set(late))
    number = {v: n for n, v in enumerate(early, 1)}
    N = len(number)
    M = power_of_two(N)
    others = [q for q in db.queries if q not in (shared.first, shared.second)]
    d = max(2, len(others) + 1)
    last = d - 1
    embedding: dict[Hashable, list[Fraction]] = dict.fromkeys(db.tokens, [Fraction(0)] * d)
    for i, q in enumerate(others):
        embedding[q] = unit(d, i)
    embedding[shared.first] = unit(d, last)
    embedding[shared.second] = [x / 2 for x in unit(d, last)]
    n, read = 1, {}
    for place, k in enumerate(shared.order):
        n = number[db[k, shared.first]] if (k, shared.first) in db else n
        x = 2 * n + 2 * M - 1 + Fraction(place, 8 * len(shared.order))
        row = [Fraction(1)] * (d - 1) + [x]
        for i, q in enumerate(others):
            if (k, q) in db:
                row[i] += logit(number[db[k, q]] / x, 2 * (2 * n + 2 * M))
        embedding[k] = row
        read[k] = x - M + Fraction(1, 2)  # h·g / h·f of the second predicate
    heights = {v: Fraction(n * n, 2) for v, n in number.items()}
    top, threshold = Fraction(N * N, 2), N + Fraction(1, 2)
    for k, following in pairwise((None, *second)):
        value = db[following, shared.second]
        if value not in heights:
            if k is not None:
                threshold = (read[k] + read[following]) / 2
            top += threshold
            number[value], heights[value] = len(number) + 1, top
    f, g = [Fraction(1)] * d, [Fraction(0)] * last + [Fraction(-M)]
    below = len(number) + 2
    W_U = [
        [b * number[t] - a * heights[t] if t in number else -below * a for t in db.tokens]
        for a, b in zip(f, g, strict=True)
    ]
    select = [unit(d - 1, i) if i < last else [Fraction(0)] * (d - 1) for i in range(d)]
    W_O = [Fraction(0)] * d
    W_O[0], W_O[last] = Fraction(1, M), Fraction(-1, M)  # W_O·f = 0 and W_O·g = 1
    head = Head(
        Matrix(select), Matrix(select).T, Matrix([[x] for x in unit(d, last)]), Matrix([W_O])
    )
    return AttentionLayer(
        db.tokens, Matrix([embedding[t] for t in db.tokens]), Matrix(W_U), (head,)
    )
