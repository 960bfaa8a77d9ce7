"""Corollary 1 with heads of dimension two: pairs, spread last tokens, one varying position."""

from itertools import product
from random import Random
from typing import Any

import pytest
from flint import fmpq, fmpq_mat

from lemmax.constructions.dana.one_relation import (
    one_relation,
    rational_features,
    relation_memory,
)
from lemmax.pytest_plugin.properties import Sample
from lemmax.theory.dana.bigrams import bigram_rank
from lemmax.theory.dana.generic import generic_aot
from lemmax.theory.dana.relations import suits
from lemmax.theory.dana.transformer import AoT
from lemmax.theory.dana.transformer_rank import aot_rank
from lemmax.theory.numbers.matrices import Matrix

Sequence = tuple[int, ...]


def modular_rank(sequences: list[Sequence], N: int, H: int, seed: int) -> int:
    """A lower bound for the rank of W_V A' at almost all weights, d = d_h = 2."""
    model = generic_aot(N, len(sequences[0]), 2, 2, H, seed, rank_one=False)
    return aot_rank(model, sequences).lower


def resisting(sequences: list[Sequence], N: int, H: int, seed: int) -> list[int] | None:
    """Labels that the relation of some weights excludes: its signs."""
    model = generic_aot(N, len(sequences[0]), 2, 2, H, seed, rank_one=False, size=2)
    dyadic = AoT(model.tokens, model.e, model.pos, model.W_U, model.heads, unit="ln2")
    v = one_relation(rational_features(dyadic, sequences))
    if v is None or 0 in v:
        return None
    labels = [int(x > 0) for x in v]
    assert not suits(v, labels)
    return labels


# --- pairs ---------------------------------------------------------------------------------------


def test_pairs_have_full_rank_unless_too_many_are_constant() -> None:
    """S = 2, K >= 2, T₀ = 2H + 2: rank T₀ iff at most H + 2 pairs are (i, i)."""
    draw = Random(44)
    for _ in range(300):
        N, H = draw.randint(2, 6), draw.randint(1, 4)
        everything = list(product(range(N), repeat=2))
        loops = [t for t in everything if t[0] == t[1]]
        if len(everything) < 2 * H + 2:
            continue
        some = draw.sample(loops, draw.randint(0, min(N, 2 * H + 2)))
        rest = [t for t in everything if t not in some]
        pairs = some + draw.sample(rest, 2 * H + 2 - len(some))
        K, constant = len({t[-1] for t in pairs}), sum(a == b for a, b in pairs)
        full = bigram_rank(pairs, 2, 2, H).rank == len(pairs)
        assert full == (K >= 2 and constant <= H + 2)


def memorized(memory: Any, pairs: dict[Sequence, int]) -> bool:
    return bool(memory.model.memorizes(pairs) and memory.margin > 0)


@pytest.mark.claim(
    "lemmax/corollary-1-pairs",
    grade="property",
    scope="one last token, N = 2H + 2 <= 8; labels that another relation excludes",
    statement="261a625c17d233f3",
)
def test_corollary_1_pairs_with_one_last_token(sample: Sample) -> None:
    draw = Random(45)
    for seed in range(12):
        H = draw.randint(1, 3)
        sequences: list[Sequence] = [(i, 0) for i in range(2 * H + 2)]
        labels = resisting(sequences, 2 * H + 2, H, seed) or [draw.randrange(3) for _ in sequences]
        pairs = dict(zip(sequences, labels, strict=True))
        memory = relation_memory(pairs, H, 2, seed=seed + 1)
        wrong = {t: (label + 1) % 3 for t, label in pairs.items()}
        sample(memorized, memory, pairs, control=(memory, wrong))


def test_constant_pairs_are_their_own_points() -> None:
    """pos = 0 and M_0 + Σ O_h = I: (i, i) is sent to e_i, and (i, j) anywhere by the O_h."""
    draw = Random(46)
    for _ in range(40):
        H = draw.randint(1, 4)
        e_i, e_j = ([fmpq(draw.randint(-9, 9)) for _ in range(2)] for _ in range(2))
        outs = [
            fmpq_mat([[draw.randint(-5, 5) for _ in range(2)] for _ in range(2)]) for _ in range(H)
        ]
        M = fmpq_mat([[1, 0], [0, 1]])
        for out in outs:
            M = M - out
        a = [fmpq(draw.randint(1, 9), 10) for _ in range(H)]

        def point(
            first: list[fmpq],
            last: list[fmpq],
            M: fmpq_mat = M,
            outs: list[fmpq_mat] = outs,
            a: list[fmpq] = a,
        ) -> fmpq_mat:
            x = fmpq_mat([[last[0]], [last[1]]])
            step = fmpq_mat([[first[0] - last[0]], [first[1] - last[1]]])
            total = M * x
            for out, weight in zip(outs, a, strict=True):
                total = total + out * (x + weight * step)
            return total

        assert point(e_i, e_i) == fmpq_mat([[e_i[0]], [e_i[1]]])
        moved = fmpq_mat([[e_j[0]], [e_j[1]]])
        step = fmpq_mat([[e_i[0] - e_j[0]], [e_i[1] - e_j[1]]])
        for out, weight in zip(outs, a, strict=True):
            moved = moved + weight * (out * step)
        assert point(e_i, e_j) == moved


# --- spread last tokens --------------------------------------------------------------------------


ONE_LAST_TOKEN: list[Sequence] = [(0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 0)]


def full_rank(sequences: list[Sequence], N: int, H: int, seed: int) -> bool:
    """Whether a prime shows that the features of 2H + 2 sequences are independent."""
    return modular_rank(sequences, N, H, seed) == 2 * H + 2


@pytest.mark.claim(
    "lemmax/corollary-1-spread",
    grade="property",
    scope="200 random sets, N <= 5, S = 3 or 4, H <= 4: rank T₀ modulo a prime",
    statement="b9d48df3647131d8",
)
def test_corollary_1_spread_last_tokens_have_full_rank(sample: Sample) -> None:
    draw, tried = Random(47), 0
    while tried < 200:
        N, S, H = draw.randint(2, 5), draw.choice((3, 4)), draw.randint(1, 4)
        everything = list(product(range(N), repeat=S))
        if len(everything) < 2 * H + 2:
            continue
        sequences = draw.sample(everything, 2 * H + 2)
        counts = [sum(t[-1] == j for t in sequences) for j in range(N)]
        if max(counts) <= H + 1:
            sample(full_rank, sequences, N, H, tried, control=(ONE_LAST_TOKEN, 2, 1, 0))
            tried += 1


def test_classes_of_at_most_half_are_matched_across() -> None:
    """Remove one of each of the two largest classes: no class is larger than half of the rest."""
    draw = Random(48)
    for _ in range(500):
        H = draw.randint(1, 6)
        classes = [0] * draw.randint(2, 6)
        for _ in range(2 * H + 2):
            open_ones = [k for k, c in enumerate(classes) if c <= H]
            classes[draw.choice(open_ones)] += 1
        classes.sort()
        assert classes[-2] >= 1
        classes[-1] -= 1
        classes[-2] -= 1
        assert sum(classes) == 2 * H
        assert max(classes) <= H


def test_one_varying_position_has_full_support() -> None:
    """2H + 1 sequences that differ in one position only have rank 2H + 1: no entry of v is zero."""
    draw = Random(49)
    for seed in range(60):
        H, S = draw.randint(1, 4), draw.randint(2, 4)
        place = draw.randrange(S - 1)
        base = [draw.randrange(3) for _ in range(S)]
        sequences = [
            tuple(i if s == place else x for s, x in enumerate(base)) for i in range(2 * H + 1)
        ]
        assert modular_rank(sequences, 2 * H + 1, H, seed) == 2 * H + 1


def test_permuted_embeddings_permute_the_relation() -> None:
    """One varying position: exchanging two embeddings exchanges the entries of the relation."""
    sequences = [(i, 4) for i in range(4)]
    model = generic_aot(5, 2, 2, 2, 1, 3, rank_one=False, size=2)
    e = model.e.flint.tolist()
    first = AoT(model.tokens, model.e, model.pos, model.W_U, model.heads, "ln2")
    swapped = Matrix([e[1], e[0], *e[2:]])
    second = AoT(model.tokens, swapped, model.pos, model.W_U, model.heads, "ln2")
    v, w = (one_relation(rational_features(m, sequences)) for m in (first, second))
    assert v is not None
    assert w is not None
    assert [w[1] * x for x in v] == [v[0] * x for x in (w[1], w[0], *w[2:])]
