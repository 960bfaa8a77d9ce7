"""Corollary 1 with heads of dimension two, for sequences of two tokens."""

from collections.abc import Callable, Iterator
from itertools import chain, combinations, product
from random import Random
from typing import Any

import numpy as np
import pytest
from flint import fmpq, fmpq_mat, fmpz_mat
from numpy.typing import NDArray

from lemmax import checker
from lemmax.constructions.dana.one_relation import (
    one_relation,
    rational_features,
    relation_memory,
)
from lemmax.pytest_plugin.properties import Sample
from lemmax.theory.dana.generic import generic_aot
from lemmax.theory.dana.relations import suits
from lemmax.theory.dana.transformer import AoT
from lemmax.theory.dana.transformer_rank import aot_rank
from lemmax.theory.numbers.matrices import Matrix

Certify = Callable[..., checker.Verdict]
Exhaust = Callable[..., int]
Sequence = tuple[int, ...]


def distance(t: Sequence, u: Sequence) -> int:
    return sum(a != b for a, b in zip(t, u, strict=True))


# --- edges ---------------------------------------------------------------------------------------


def is_edge(t: Sequence, u: Sequence) -> bool:
    """Whether the claim calls two sequences over {0, 1}, S >= 3, an edge."""
    if t[-1] != u[-1]:
        return True
    constant = {len(set(x[:-1])) for x in (t, u)} == {1}
    return distance(t, u) >= 2 and not (constant and distance(t, u) == len(t) - 1)


def vanishing(t: Sequence, u: Sequence, m: int, draw: Random) -> dict[int, list[fmpq]]:
    """Random n_j, for each last token j, with Z_t = Z_u = 0: kernel vectors of their forms."""
    S = len(t)
    found = {}
    for j in (0, 1):
        forms = [[m if b else 1 for b in x] for x in (t, u) if x[-1] == j]
        n = [fmpq(draw.randint(-99, 99)) for _ in range(S)]
        if forms:
            basis = fmpz_mat(forms).nullspace()
            kernel = fmpq_mat(basis[0])
            n = [fmpq(0)] * S
            for k in range(S - fmpz_mat(forms).rank()):
                factor = draw.randint(1, 99)
                n = [x + factor * kernel[s, k] for s, x in enumerate(n)]
        found[j] = n
    return found


def witness(t: Sequence, u: Sequence, G: tuple[int, ...], draw: Random) -> bool:
    """A rational point with Z_t = Z_u = 0, no other Z zero, and independent N_t, N_u."""
    S, m = len(t), draw.randint(2, 99)
    n = vanishing(t, u, m, draw)
    pos = [(draw.randint(-999, 999), 0 if s in G else draw.randint(-999, -1)) for s in range(S)]

    def Z(x: Sequence) -> fmpq:
        return sum((n[x[-1]][s] * (m if b else 1) for s, b in enumerate(x)), fmpq(0))

    def N(x: Sequence) -> list[fmpq]:
        weights = [n[x[-1]][s] * (m if b else 1) for s, b in enumerate(x)]
        return [
            sum(
                (
                    w * (pos[s][k] + (b if k == 0 else 0))
                    for s, (w, b) in enumerate(zip(weights, x, strict=True))
                ),
                fmpq(0),
            )
            for k in (0, 1)
        ]

    others = [x for x in product((0, 1), repeat=S) if x not in (t, u)]
    (a, b), (c, d) = N(t), N(u)
    return Z(t) == Z(u) == 0 and all(Z(x) != 0 for x in others) and a * d - b * c != 0


OPPOSITE: tuple[Sequence, Sequence] = ((0, 0, 0), (1, 1, 0))


def pairs_of(S: int) -> Iterator[tuple[Sequence, Sequence]]:
    yield from combinations(product((0, 1), repeat=S), 2)


@pytest.mark.claim(
    "lemmax/two-token-edges",
    grade="universal",
    scope="all pairs for S = 3, 4, 5, with G empty and with every G of three positions",
    statement="bff05150b84f382d",
)
def test_two_token_edges_have_a_rational_point(exhaust: Exhaust) -> None:
    draw = Random(41)

    def instances() -> Iterator[tuple[Any, ...]]:
        for S in (3, 4, 5):
            for G in chain([()], combinations(range(S - 1), 3)):
                for t, u in pairs_of(S):
                    if is_edge(t, u) and (t[-1] == u[-1] or not G):
                        yield t, u, G

    def found(t: Sequence, u: Sequence, G: tuple[int, ...]) -> bool:
        return any(witness(t, u, G, draw) for _ in range(9))

    # the control: two sequences of opposite bits are no edge
    assert not is_edge(*OPPOSITE)
    assert exhaust(instances(), found, control=(*OPPOSITE, ())) > 1000


def test_two_token_pairs_that_are_no_edges_have_no_such_point() -> None:
    """At distance one and for (0…0, j), (1…1, j): where both Z vanish, N_t and N_u are parallel."""
    draw, seen = Random(5), 0
    for S in (3, 4):
        for t, u in pairs_of(S):
            if not is_edge(t, u):
                assert not any(witness(t, u, (), draw) for _ in range(3))
                seen += 1
    assert seen > 20


def test_wedge_with_a_vanishing_pair_leaves_one_coefficient() -> None:
    """Σ c_tu det(N_t, N_u) Π of the other Z has one term where Z_t = Z_u = 0."""
    draw = Random(3)
    for _ in range(40):
        k = draw.randint(2, 5)
        Z = [draw.randint(1, 9) for _ in range(k)]
        t, u = draw.sample(range(k), 2)
        Z[t] = Z[u] = 0
        for a, b in combinations(range(k), 2):
            product_of_others = 1
            for x in range(k):
                if x not in (a, b):
                    product_of_others *= Z[x]
            assert (product_of_others != 0) == ({a, b} == {t, u})


# --- matchings -----------------------------------------------------------------------------------


def matched(rest: frozenset[Sequence]) -> bool:
    """Whether the sequences have a perfect matching by edges."""
    if not rest:
        return True
    t = min(rest)
    return any(is_edge(t, u) and matched(rest - {t, u}) for u in rest if u != t)


def test_matchings_for_two_last_tokens() -> None:
    """2H + 2 sequences with both last tokens: remove one of each, the rest is matched by edges."""
    draw = Random(7)
    special = [((0, 0, 0), (1, 1, 0), (0, 1, 0)), ((0, 0, 1), (1, 1, 1), (1, 0, 1))]
    for _ in range(400):
        S, H = draw.choice((3, 4, 5)), draw.randint(1, 4)
        everything = list(product((0, 1), repeat=S))
        if len(everything) < 2 * H + 2:
            continue
        chosen = frozenset(draw.sample(everything, 2 * H + 2))
        A, B = ([t for t in chosen if t[-1] == j] for j in (0, 1))
        if not A or not B:
            continue
        possible = any(matched(chosen - {t, u}) for t in A for u in B)
        exception = (
            S == 3
            and H == 1
            and any(set(three) <= chosen or _mirrored(three, chosen) for three in special)
        )
        assert possible or exception


def _mirrored(three: tuple[Sequence, ...], chosen: frozenset[Sequence]) -> bool:
    """The same three sequences with the two first positions exchanged."""
    return {(t[1], t[0], t[2]) for t in three} <= chosen


def test_matchings_for_one_last_token() -> None:
    """2H + 1 sequences with one last token: remove one, and the rest is matched, but for H = 1."""
    for n in (2, 3):
        everything = [(*t, 0) for t in product((0, 1), repeat=n)]
        for size in range(5, len(everything) + 1, 2):
            for chosen in combinations(everything, size):
                full = frozenset(chosen)
                assert any(matched(full - {t}) for t in chosen)
    draw = Random(2)
    for _ in range(200):
        everything = [(*t, 1) for t in product((0, 1), repeat=4)]
        full = frozenset(draw.sample(everything, draw.choice((5, 7, 9, 11))))
        assert any(matched(full - {t}) for t in full)


# --- six sequences -------------------------------------------------------------------------------


def squares(a: NDArray[Any], b: NDArray[Any], c: NDArray[Any], d: NDArray[Any]) -> NDArray[Any]:
    """Whether four 0/1 vectors, as bits of integers, are x + y = z + w in some order."""

    def halves(x: Any, y: Any, z: Any, w: Any) -> Any:
        return ((x ^ y) == (z ^ w)) & ((x & y) == (z & w))

    found: NDArray[Any] = halves(a, b, c, d) | halves(a, c, b, d) | halves(a, d, b, c)
    return found


def test_four_vertices_are_dependent_only_as_a_square() -> None:
    """Four 0/1 vectors are affinely dependent iff two of them have the sum of the others."""
    for n in (2, 3, 4):
        vectors = list(product((0, 1), repeat=n))
        numbers = np.array([int("".join(map(str, v)), 2) for v in vectors])
        for four in combinations(range(len(vectors)), 4):
            rank = fmpz_mat([[1, *vectors[i]] for i in four]).rank()
            assert (rank < 4) == bool(squares(*numbers[list(four)]))


def six_subsets_are_fine(n: int) -> tuple[int, bool]:
    """All 6-subsets of {0, 1}^n: some edge leaves four affinely independent ones."""
    flat = np.fromiter(chain.from_iterable(combinations(range(2**n), 6)), dtype=np.int8)
    six = flat.reshape(-1, 6).T.copy()
    weight = np.array([bin(x).count("1") for x in range(2**n)], dtype=np.int8)
    fine = np.zeros(six.shape[1], dtype=bool)
    for i, j in combinations(range(6), 2):
        apart = six[i] ^ six[j]
        edge = (weight[apart] >= 2) & ~((apart == 2**n - 1) & ((six[i] == 0) | (six[j] == 0)))
        rest = [six[k] for k in range(6) if k not in (i, j)]
        fine |= edge & ~squares(*rest)
    return six.shape[1], bool(fine.all())


def test_all_six_subsets_leave_four_independent_ones() -> None:
    """914,228 sets: {0, 1}^n for n = 3, 4, 5."""
    checked = [six_subsets_are_fine(n) for n in (3, 4, 5)]
    assert [count for count, _ in checked] == [28, 8008, 906192]
    assert all(fine for _, fine in checked)


def test_eight_sequences_have_an_edge_within_a_parity_class() -> None:
    """Four sequences of one parity contain an edge, so that an edge can be removed first."""
    for n in (3, 4):
        for parity in (0, 1):
            alike = [(*t, 0) for t in product((0, 1), repeat=n) if sum(t) % 2 == parity]
            for four in combinations(alike, 4):
                assert any(is_edge(t, u) for t, u in combinations(four, 2))


# --- the limit of one head -----------------------------------------------------------------------


def test_limit_of_a_head_at_small_mu() -> None:
    """d/dμ of A_2 at μ = 0 is a constant plus Σ w γ b / W minus a multiple of Σ w b, exactly."""
    draw = Random(9)
    for _ in range(50):
        S = draw.randint(2, 5)
        w = [fmpq(draw.randint(1, 9)) for _ in range(S)]
        phi, gamma = ([fmpq(draw.randint(-9, 9)) for _ in range(S)] for _ in range(2))
        W = sum(w, fmpq(0))

        def mean(values: list[fmpq], w: list[fmpq] = w, W: fmpq = W) -> fmpq:
            return sum((a * b for a, b in zip(w, values, strict=True)), fmpq(0)) / W

        def slope(b: list[int], phi: list[fmpq] = phi, gamma: list[fmpq] = gamma) -> fmpq:
            x = [p + c for p, c in zip(phi, b, strict=True)]
            both = [g * y for g, y in zip(gamma, x, strict=True)]
            return mean(both) - mean(gamma) * mean(x)  # the covariance, derivative of the mean

        zero = slope([0] * S)
        for b in product((0, 1), repeat=S):
            linear = mean([g * c for g, c in zip(gamma, b, strict=True)])
            assert slope(list(b)) - zero == linear - mean(gamma) * mean([fmpq(c) for c in b])


def test_relations_of_three_positions_fill_a_plane() -> None:
    """y = a × (a l), a = e^l, has y_1 = a_2 a_3 (l_3 - l_2); differences fill the plane Σ y = 0."""
    draw = Random(6)
    for _ in range(100):
        a, ell = ([draw.randint(1, 9) for _ in range(3)] for _ in range(2))
        b = [x * y for x, y in zip(a, ell, strict=True)]
        cross = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
        assert cross == [
            a[1] * a[2] * (ell[2] - ell[1]),
            a[2] * a[0] * (ell[0] - ell[2]),
            a[0] * a[1] * (ell[1] - ell[0]),
        ]
        y = [draw.randint(-9, 9) for _ in range(2)]
        y.append(-sum(y))
        theta = [0, y[2], -y[1]]
        assert y == [theta[2] - theta[1], theta[0] - theta[2], theta[1] - theta[0]]


# --- memories and ranks --------------------------------------------------------------------------


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


def memorized(memory: Any, pairs: dict[Sequence, int]) -> bool:
    return bool(memory.model.memorizes(pairs) and memory.margin > 0)


@pytest.mark.claim(
    "lemmax/corollary-1-two-tokens",
    grade="property",
    scope="N = 2, one last token, S = 4 or 5, H = 2 or 3; labels that another relation excludes",
    statement="bfc804976db2ce2e",
)
def test_corollary_1_two_tokens_on_labels_that_resist(sample: Sample) -> None:
    draw = Random(22)
    for seed in range(16):
        S, H = draw.choice(((4, 2), (4, 3), (5, 2)))
        everything = [(*t, 0) for t in product((0, 1), repeat=S - 1)]
        sequences = draw.sample(everything, 2 * H + 2)
        labels = resisting(sequences, 2, H, seed)
        if labels is not None:
            pairs = dict(zip(sequences, labels, strict=True))
            memory = relation_memory(pairs, H, 2, seed=seed + 1)
            wrong = {t: 1 - label for t, label in pairs.items()}
            sample(memorized, memory, pairs, control=(memory, wrong))


def test_corollary_1_two_tokens_has_a_certificate(certify: Certify) -> None:
    """Six sequences with one last token, two heads: the parity of three bits on six of eight."""
    pairs = {(*b, 0): sum(b) % 2 for b in list(product((0, 1), repeat=3))[:6]}
    memory = relation_memory(pairs, H=2, d_h=2)
    certify(memory.certificate(), ship_as="lemmax/corollary-1-two-tokens")


def test_one_head_on_squares_has_one_sign_pattern() -> None:
    """v = (Z_1, -Z_2, -Z_3, Z_4) on t_1 + t_4 = t_2 + t_3, for all weights: N is additive."""
    draw = Random(8)
    for seed in range(60):
        S = draw.choice((3, 4))
        bits = [tuple(t) for t in product((0, 1), repeat=S - 1)]
        a, b, c = draw.sample(bits, 3)
        d = tuple(y + z - x for x, y, z in zip(a, b, c, strict=True))
        if not set(d) <= {0, 1} or d in (a, b, c):
            continue
        sequences = [(*t, 0) for t in (a, b, c, d)]
        model = generic_aot(2, S, 2, 2, 1, seed, rank_one=False, size=2)
        dyadic = AoT(model.tokens, model.e, model.pos, model.W_U, model.heads, unit="ln2")
        v = one_relation(rational_features(dyadic, sequences))
        if v is not None:
            assert v[0] * v[3] > 0
            assert v[1] * v[2] > 0
            assert v[0] * v[1] < 0


def shows_rank(model: AoT, sequences: list[Sequence], rank: int) -> bool:
    """Whether a prime shows this rank of the features from below."""
    return aot_rank(model, sequences).lower == rank


@pytest.mark.claim(
    "lemmax/two-token-feature-rank",
    grade="property",
    scope="all sets of sequences for S <= 3, 300 random ones for S = 4 and 5; H <= 4",
    statement="025931b35f35c3b9",
)
def test_two_token_feature_rank(sample: Sample) -> None:
    """Modulo a prime, which bounds the rank of almost all weights from below."""
    draw = Random(43)
    cases: list[list[Sequence]] = []
    everything: list[Sequence]
    for S in (2, 3):
        everything = list(product((0, 1), repeat=S))
        for size in range(1, len(everything) + 1):
            cases += [list(c) for c in combinations(everything, size)]
    for S in (4, 5):
        everything = list(product((0, 1), repeat=S))
        cases += [draw.sample(everything, draw.randint(3, 11)) for _ in range(150)]
    models = {
        (S, H): generic_aot(2, S, 2, 2, H, S + H, rank_one=False)
        for S in (2, 3, 4, 5)
        for H in (1, 2, 3, 4)
    }
    for sequences in cases:
        H = draw.randint(1, 4)
        K = len({t[-1] for t in sequences})
        model = models[len(sequences[0]), H]
        rank = min(len(sequences), 2 * H + min(2, K))
        sample(shows_rank, model, sequences, rank, control=(model, sequences, rank + 1))


def test_merged_tokens_have_the_features_of_two() -> None:
    """Tokens with one embedding are one token: (0, 2, 1) looks like (0, 0, 1) if e_2 = e_0."""
    model = generic_aot(2, 3, 2, 2, 2, 1, rank_one=False, size=2)
    e = model.e.flint.tolist()
    merged = AoT((0, 1, 2), Matrix([*e, e[0]]), model.pos, Matrix.zeros(3, 2), model.heads, "ln2")
    dyadic = AoT(model.tokens, model.e, model.pos, model.W_U, model.heads, "ln2")
    assert rational_features(merged, [(0, 2, 1), (2, 1, 1)]) == rational_features(
        dyadic, [(0, 0, 1), (0, 1, 1)]
    )
