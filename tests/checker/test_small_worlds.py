"""Rules of the checker against all small cases: intervals, means, dependent vectors.

An interval is compared with points of it, a rule about vectors with all of their subsets.
"""

from __future__ import annotations

import itertools
import operator
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import pytest
from flint import nmod_mat

from lemmax.checker.kinds.kruskal_rank import all_independent, kruskal_rank, most_on_hyperplane
from lemmax.checker.kinds.multi_head import averages
from lemmax.checker.language import reals
from lemmax.checker.language.reals import Interval
from lemmax.checker.reading import Matrix

FAR = 3  # as far as points of an unbounded interval go here
ENDS = [None, *map(Fraction, (-1, 0, 1))]
INTERVALS = [
    Interval(low, high)
    for low in ENDS
    for high in ENDS
    if low is None or high is None or low <= high
]


def points(interval: Interval) -> list[Fraction]:
    low = -FAR if interval.low is None else interval.low
    high = FAR if interval.high is None else interval.high
    return [Fraction(n, 2) for n in range(2 * -FAR, 2 * FAR + 1) if low <= Fraction(n, 2) <= high]


def ends(real: Any) -> tuple[Fraction | None, Fraction | None]:
    return (real.low, real.high) if isinstance(real, Interval) else (real, real)


def pairs() -> Iterator[tuple[Interval, Interval]]:
    return itertools.product(INTERVALS, INTERVALS)


@pytest.mark.parametrize(
    ("rule", "exact"), [(reals.total, operator.add), (reals.product, operator.mul)]
)
def test_intervals_enclose_sums_and_products(
    rule: Callable[[Any, Any], Any], exact: Callable[[Any, Any], Any]
) -> None:
    for a, b in pairs():
        found = [exact(x, y) for x in points(a) for y in points(b)]
        low, high = ends(rule(a, b))
        assert low is None or low <= min(found)
        assert high is None or high >= max(found)
        if None not in (a.low, a.high, b.low, b.high):
            assert (low, high) == (min(found), max(found))
    half_lines = Interval(Fraction(1), None), Interval(Fraction(0), None)
    assert ends(rule(*half_lines)) == (exact(1, 0), None)
    if exact is operator.add:
        assert ends(rule(Interval(None, Fraction(1)), Interval(None, Fraction(0)))) == (
            None,
            Fraction(1),
        )


def test_an_interval_times_a_number() -> None:
    for a, x in itertools.product(INTERVALS, map(Fraction, (-2, 0, 3))):
        for product in (reals.product(a, x), reals.product(x, a)):
            found = [x * y for y in points(a)]
            low, high = ends(product)
            assert low is None or low <= min(found)
            assert high is None or high >= max(found)
            if None not in (a.low, a.high):
                assert (low, high) == (min(found), max(found))


RELATIONS = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_comparison_is_known_when_all_points_agree(relation: Callable[[Any, Any], bool]) -> None:
    for a, b in pairs():
        found = {relation(x, y) for x in points(a) for y in points(b)}
        wanted = found.pop() if len(found) == 1 else None
        assert reals.holds(relation, a, b) is wanted, (a, b)


def test_means_of_weights_in_bounds() -> None:
    rng = random.Random(11)
    for _ in range(60):
        n, d = rng.randint(1, 4), rng.randint(1, 5)
        u = [rng.randint(-9, 9) for _ in range(n)]
        lows = [rng.randint(1, 9) for _ in range(n)]
        bounds = [(x, x + rng.randint(0, 2)) for x in lows]
        means = [
            Fraction(sum(w * x for w, x in zip(weights, u, strict=True)), d * sum(weights))
            for weights in itertools.product(*({low, high} for low, high in bounds))
        ]
        for bits in (0, 8, 40):
            low, high = averages(bounds, u, d, bits)
            assert low <= min(means)
            assert max(means) <= high
        exact = averages([(x, x) for x in lows], u, d, 0)
        wanted = Fraction(sum(w * x for w, x in zip(lows, u, strict=True)), d * sum(lows))
        assert exact == (wanted, wanted)
        low, high = averages([(x, x) for x in lows], u, d, 40)
        assert high - low <= Fraction(2, d * 2**40)


def rank(rows: list[tuple[int, ...]], p: int) -> int:
    return int(nmod_mat([list(row) for row in rows], p).rank()) if rows else 0


@pytest.mark.parametrize("p", [2, 3, 5])
def test_dependent_vectors_are_those_of_all_subsets(p: int) -> None:
    rng = random.Random(p)
    for _ in range(60):
        n, d = rng.randint(2, 5), rng.randint(2, 3)
        vectors = [tuple(rng.randrange(p) for _ in range(d)) for _ in range(n)]
        for k in range(1, min(n, d) + 1):
            independent = all(rank([*s], p) == k for s in itertools.combinations(vectors, k))
            assert all_independent(vectors, k, p) is independent
        if rank(vectors, p) == d:
            subsets = (s for k in range(n + 1) for s in itertools.combinations(vectors, k))
            assert most_on_hyperplane(vectors, d, p) == max(
                len(s) for s in subsets if rank([*s], p) < d
            )


def test_kruskal_ranks_of_small_matrices() -> None:
    rng = random.Random(3)
    for _ in range(60):
        n, d = rng.randint(1, 4), rng.randint(1, 3)
        rows = [tuple(rng.randint(-1, 1) for _ in range(d)) for _ in range(n)]
        sizes = [
            k
            for k in range(min(n, d) + 1)
            if all(rank([*s], 1_000_003) == k for s in itertools.combinations(rows, k))
        ]
        assert kruskal_rank(Matrix(tuple(map(Fraction, row)) for row in rows)) == max(sizes)
