"""Signs of relations: one head of dimension two on squares, two heads on six sequences."""

from collections.abc import Callable
from itertools import combinations, product
from random import Random
from typing import Any

import pytest
from flint import fmpq

from lemmax.constructions.dana.one_relation import (
    one_relation,
    rational_features,
    relation_memory,
)
from lemmax.pytest_plugin.properties import Sample
from lemmax.theory.dana.edges import is_square
from lemmax.theory.dana.generic import generic_aot
from lemmax.theory.dana.relations import suits
from lemmax.theory.dana.transformer import AoT

Sequence = tuple[int, ...]


def dyadic(N: int, S: int, H: int, seed: int) -> AoT:
    """Random small integer weights in units of ln 2, so that the features are rational."""
    model = generic_aot(N, S, 2, 2, H, seed, rank_one=False, size=2)
    return AoT(model.tokens, model.e, model.pos, model.W_U, model.heads, unit="ln2")


def opposite(square: tuple[Sequence, ...]) -> tuple[Sequence, Sequence]:
    """The first sequence of a square and its partner: their tokens are those of the others."""
    first, *rest = square
    for partner in rest:
        others = [x for x in rest if x != partner]
        columns = zip(first, partner, *others, strict=True)
        if all(sorted(c[:2]) == sorted(c[2:]) for c in columns):
            return first, partner
    raise AssertionError("no square")


def squares(N: int, n: int) -> list[tuple[Sequence, ...]]:
    everything = [(*t, 0) for t in product(range(N), repeat=n)]
    return [four for four in combinations(everything, 4) if is_square(four)]


def test_one_head_on_every_square_has_one_sign_pattern() -> None:
    """The relation has one sign on a pair of the square and the other sign on the other pair."""
    seen = 0
    for N, n in ((2, 2), (2, 3), (3, 2), (4, 2)):
        for four in squares(N, n):
            for seed in (1, 2, 3):
                v = one_relation(rational_features(dyadic(N, n + 1, 1, seed), four))
                if v is None:
                    continue
                pair = opposite(four)
                labels = [int(t in pair) for t in four]
                assert not suits(v, labels)
                assert 0 not in v
                seen += 1
    assert seen > 60


def test_sums_over_a_square_cancel() -> None:
    """f(t_1) + f(t_4) = f(t_2) + f(t_3) for every sum f of functions of single positions."""
    draw = Random(2)
    for four in squares(3, 2):
        g = [[fmpq(draw.randint(-9, 9)) for _ in range(3)] for _ in range(3)]
        pair = opposite(four)
        total = fmpq(0)
        for t in four:
            f = sum((g[s][x] for s, x in enumerate(t)), fmpq(0))
            total += f if t in pair else -f
        assert total == 0


@pytest.mark.claim(
    "lemmax/corollary-1-exact",
    grade="property",
    scope="H = 1, d_h = 2, one last token, N <= 4, S <= 4: labels that resist, squares included",
    statement="84bd8f8be9e2f130",
)
def test_corollary_1_exact_with_one_head(sample: Sample) -> None:
    """Sets that are no square with labels that another relation excludes; squares with others."""
    draw, made = Random(3), 0
    for seed in range(60):
        N, n = draw.choice(((2, 3), (3, 2), (3, 3), (4, 2)))
        four = tuple(draw.sample([(*t, 0) for t in product(range(N), repeat=n)], 4))
        v = one_relation(rational_features(dyadic(N, n + 1, 1, seed), four))
        if is_square(four):
            labels = [0, 0, 0, 1]
        elif v is not None and 0 not in v:
            labels = [int(x > 0) for x in v]
        else:
            continue
        pairs = dict(zip(four, labels, strict=True))
        memory = relation_memory(pairs, 1, 2, seed=seed + 1)
        wrong = {t: 1 - label for t, label in pairs.items()}
        sample(memorized, memory, pairs, control=(memory, wrong))
        made += 1
    for four in squares(2, 2):
        for labels in ([0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 1, 2], [1, 1, 1, 1]):
            pair = opposite(four)
            if len({labels[k] for k in range(4) if four[k] in pair}) == 1 < len(set(labels)):
                continue  # the exception, unless the labels of the other pair differ
            pairs = dict(zip(four, labels, strict=True))
            memory = relation_memory(pairs, 1, 2)
            assert memorized(memory, pairs)
            assert not memorized(memory, {**pairs, four[0]: 1 - min(1, pairs[four[0]])})
    assert made > 20


def memorized(memory: Any, pairs: dict[Sequence, int]) -> bool:
    known = memory.model.memorizes(pairs) and memory.margin > 0
    return bool(known and len(pairs) == 4)


def signs_change(T: list[Sequence], H: int) -> bool:
    """Whether two of 200 random weights have relations with different signs: exact arithmetic."""
    seen = set()
    for seed in range(200):
        v = one_relation(rational_features(dyadic(3, len(T[0]), H, seed), T))
        if v is not None and 0 not in v:
            seen.add(tuple((x > 0) == (v[0] > 0) for x in v))
        if len(seen) == 2:
            return True
    return False


@pytest.mark.claim(
    "lemmax/corollary-1-one-last-token",
    grade="universal",
    scope="all 84 sets of six pairs over three tokens, with one last token and two heads",
    statement="25fcdfaedcf25ae5",
)
def test_corollary_1_one_last_token_on_all_sets_of_six_pairs(exhaust: Callable[..., int]) -> None:
    """Two different patterns of signs suit all labels; on a square one head has one only."""
    everything = [(*t, 0) for t in product(range(3), repeat=2)]
    square = [(0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 0)]
    sets = ((list(six), 2) for six in combinations(everything, 6))
    assert exhaust(sets, signs_change, control=(square, 1)) == 84
