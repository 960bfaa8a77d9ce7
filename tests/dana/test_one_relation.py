"""Sequences with one last token: one relation between features, and when it suits the labels."""

from collections.abc import Callable, Iterator
from itertools import combinations, product
from random import Random
from typing import Any

import numpy as np
import pytest
from flint import fmpq, fmpz_mat
from hypothesis import given
from hypothesis import strategies as st

from lemmax import checker
from lemmax.constructions.dana.associations import NotFound
from lemmax.constructions.dana.one_relation import (
    one_relation,
    rational_features,
    relation_memory,
)
from lemmax.pytest_plugin.properties import Sample
from lemmax.theory.dana.attention_modulo import features_modulo
from lemmax.theory.dana.generic import generic_aot
from lemmax.theory.dana.relations import encode, suits
from lemmax.theory.dana.transformer import AoT, AoTHead
from lemmax.theory.errors import LemmaxError
from lemmax.theory.numbers.matrices import Matrix
from lemmax.theory.numbers.primes import POWERS_OF_TWO_31
from lemmax.theory.numbers.residues import flint_modulo

Certify = Callable[..., checker.Verdict]
Exhaust = Callable[..., int]
generators = st.integers(0, 2**32 - 1).map(Random)
POINT = 271_828_182


# --- which labels a relation excludes ------------------------------------------------------------


def relations(T0: int) -> Iterator[tuple[int, ...]]:
    largest = 2 if T0 < 5 else 1
    for v in product(range(-largest, largest + 1), repeat=T0):
        if any(v) and sum(v) == 0:
            yield v


def told_apart(v: tuple[int, ...], labels: tuple[int, ...], relation: tuple[int, ...]) -> bool:
    """Points made for v lie in the open cones of the labels, and have the relation."""
    places, points = encode(v, labels)
    zero = [sum((x * E[k] for x, E in zip(relation, points, strict=True)), fmpq(0)) for k in (0, 1)]
    best = all(
        all(
            a * E[0] + a * a * E[1] < places[label] * E[0] + places[label] ** 2 * E[1]
            for a in range(-2, len(places) + 3)
            if a != places[label]
        )
        for E, label in zip(points, labels, strict=True)
    )
    return zero == [0, 0] and best


@pytest.mark.claim(
    "lemmax/one-relation",
    grade="universal",
    scope="all labels and all relations with entries -2..2, T₀ <= 4, or -1..1, T₀ = 5",
    statement="cc54046c1d529b36",
)
def test_points_exist_for_every_relation_that_suits_the_labels(exhaust: Exhaust) -> None:
    def instances() -> Iterator[tuple[Any, ...]]:
        for T0 in (2, 3, 4, 5):
            labellings = {
                tuple(map(list(dict.fromkeys(g)).index, g)) for g in product(range(T0), repeat=T0)
            }
            yield from ((v, g, v) for v in relations(T0) for g in sorted(labellings) if suits(v, g))

    # the control: two points that are equal, and do not cancel
    assert exhaust(instances(), told_apart, control=((1, -1), (0, 0), (1, 1))) > 2_000


def test_relations_that_do_not_suit_have_no_points() -> None:
    """Then Σ v_t (W_c - W_c') E(t) adds positive numbers only, so it is not zero."""
    for v in relations(4):
        for g in product(range(3), repeat=4):
            if suits(v, g):
                continue
            signs = {
                label: {x > 0 for x, y in zip(v, g, strict=True) if y == label and x} for label in g
            }
            used = {label: s for label, s in signs.items() if s}
            assert len(used) == 2
            assert sorted(map(tuple, used.values())) == [(False,), (True,)]
            with pytest.raises(LemmaxError, match="one sign on each of two classes"):
                encode(v, g)


@given(generators)
def test_every_plane_has_a_relation_that_suits(draw: Random) -> None:
    """v with (1, 1) and w with (1, -1) at two independent coordinates: one of them suits."""
    T0 = draw.randint(3, 7)
    a, b = ([draw.randint(-3, 3) for _ in range(T0)] for _ in range(2))
    labels = [draw.randrange(draw.randint(1, 4)) for _ in range(T0)]
    for s, t in combinations(range(T0), 2):
        minor = a[s] * b[t] - b[s] * a[t]
        if minor == 0:
            continue
        found = []
        for y in (1, -1):
            x0, x1 = b[t] - y * b[s], y * a[s] - a[t]
            v = [minor * (x0 * p + x1 * q) for p, q in zip(a, b, strict=True)]
            assert (v[s], v[t]) == (minor**2, y * minor**2)
            found.append(suits(v, labels))
        assert any(found)
        assert found[1] if labels[s] == labels[t] else found[0]


@given(st.integers(0, 999))
def test_relation_and_skip_rows_of_one_last_token(seed: int) -> None:
    """x(t, S) is constant and not zero, so that a relation adds up to zero; and it is exact."""
    draw = Random(seed)
    S = draw.randint(2, 3)
    sequences = [(*t, 0) for t in draw.sample(list(product(range(3), repeat=S - 1)), 3)]
    model = generic_aot(3, S, 2, 1, 1, seed, size=2)
    dyadic = AoT(model.tokens, model.e, model.pos, model.W_U, model.heads, unit="ln2")
    features = rational_features(dyadic, sequences)
    v = one_relation(features)
    if v is not None:
        rows = features.tolist()
        columns = zip(*rows, strict=True)
        assert all(sum((x * y for x, y in zip(v, c, strict=True)), fmpq(0)) == 0 for c in columns)
        assert sum(v, fmpq(0)) == 0


# --- three sequences -----------------------------------------------------------------------------


def coordinates_modulo(N: int, S: int, seed: int) -> tuple[list[tuple[int, ...]], np.ndarray]:
    """1 and A of one head with W_QK = w u_1 u_2ᵀ, on all sequences that end in 0, modulo p."""
    draw = Random(seed)
    sequences = [(*t, 0) for t in product(range(N), repeat=S - 1)]

    def table(rows: int) -> Matrix:
        return Matrix([[draw.randint(1, 10**6) for _ in range(2)] for _ in range(rows)])

    head = AoTHead(
        Matrix([[draw.randint(1, 10**6), 0], [0, 0]]),
        Matrix([[0, 1], [0, 0]]),
        Matrix.identity(2),
        Matrix.zeros(2, 2),
    )
    model = AoT(tuple(range(N)), table(N), table(S), Matrix.zeros(N, 2), (head,))
    A = features_modulo(model, model.indices(sequences), "A", POINT)
    return sequences, np.concatenate([np.ones((len(sequences), 1), dtype=np.int64), A], axis=1)


@pytest.mark.claim(
    "lemmax/three-sequences",
    grade="universal",
    scope="all triples with one last token, (N, S) = (3..6, 2), (2..4, 3), (2..3, 4), (2, 5)",
    statement="daff0c3455a13d4f",
)
def test_three_sequences_have_independent_features(exhaust: Exhaust) -> None:
    """A determinant that is not zero modulo p at one point is not zero for almost all weights."""
    p = POWERS_OF_TWO_31

    def instances() -> Iterator[tuple[Any, ...]]:
        sizes = (
            [(N, 2) for N in range(3, 7)] + [(N, 3) for N in range(2, 5)] + [(2, 4), (3, 4), (2, 5)]
        )
        for N, S in sizes:
            sequences, rows = coordinates_modulo(N, S, N * S)
            values = [[int(x) for x in row] for row in rows]
            for triple in combinations(range(len(sequences)), 3):
                yield ([values[t] for t in triple],)

    def independent(rows: list[list[int]]) -> bool:
        return int(fmpz_mat(rows).det()) % p != 0

    twice = [[1, 2, 3], [1, 2, 3], [0, 0, 1]]
    assert exhaust(instances(), independent, control=twice) > 4000


def test_three_sequences_only_one_pattern_has_low_rank() -> None:
    """(m_{t_s}) has rank <= 2 for generic m only if all changes are one triple of tokens."""
    m = [3, 10, 101, 1009]  # no accidental proportions among these
    for n in (1, 2, 3):
        tokens = range(4) if n < 3 else range(3)
        for triple in combinations(product(tokens, repeat=n), 3):
            rows = [[m[0], *(m[i] for i in t)] for t in triple]
            changes = {c for c in zip(*triple, strict=True) if len(set(c)) > 1}
            one = len(changes) == 1 and len(set(next(iter(changes)))) == 3
            assert (fmpz_mat(rows).rank() <= 2) == one


# --- heads of dimension one ----------------------------------------------------------------------


def one_last_token(draw: Random, N: int, S: int, T0: int) -> list[tuple[int, ...]] | None:
    everything = [(*t, 0) for t in product(range(N), repeat=S - 1)]
    return draw.sample(everything, T0) if len(everything) >= T0 else None


def test_last_head_turns_the_relation_through_a_plane() -> None:
    """det[1; b_1; …; b_{H-1}; A_1; A_2] is not zero modulo p, for one last token."""
    draw, tried = Random(34), 0
    for seed in range(300):
        N, S, H = draw.randint(2, 4), draw.randint(2, 4), draw.randint(1, 6)
        sequences = one_last_token(draw, N, S, H + 2)
        if sequences is None:
            continue
        model = generic_aot(N, S, 2, 1, H, seed)
        heads = [AoTHead(h.W_Q, h.W_K, Matrix([[1, 0]]), h.W_O) for h in model.heads[:-1]]
        last = model.heads[-1]
        wide = AoTHead(
            Matrix([*last.W_Q.flint.tolist(), [0, 0]]),
            Matrix([*last.W_K.flint.tolist(), [0, 0]]),
            Matrix.identity(2),
            Matrix.zeros(2, 2),
        )
        full = AoT(model.tokens, model.e, model.pos, model.W_U, (*heads, wide))
        table = features_modulo(full, full.indices(sequences), "W_V A'", POINT)
        assert flint_modulo(table, POWERS_OF_TWO_31).rank() == H + 2
        tried += 1
    assert tried > 150


@pytest.mark.claim(
    "lemmax/corollary-1-narrow-heads",
    grade="property",
    scope="one last token, N, S, H <= 4, T₀ = H + 2; labels that another relation excludes",
    statement="eb4f3523bdd1cad4",
)
def test_corollary_1_narrow_heads_on_labels_that_resist(sample: Sample) -> None:
    """Labels that are the signs of one relation, which excludes them, and random ones."""

    def memorized(memory: Any, pairs: dict[Any, int], H: int) -> bool:
        known = memory.model.memorizes(pairs) and memory.margin > 0
        return bool(known and len(pairs) == memory.capacity == H + 2)

    draw = Random(12)
    for seed in range(40):
        N, S, H = draw.randint(2, 4), draw.randint(2, 4), draw.randint(1, 4)
        sequences = one_last_token(draw, N, S, H + 2)
        if sequences is None:
            continue
        model = generic_aot(N, S, 2, 1, H, seed, size=2)
        dyadic = AoT(model.tokens, model.e, model.pos, model.W_U, model.heads, unit="ln2")
        v = one_relation(rational_features(dyadic, sequences))
        if v is None or seed % 2:
            labels = [draw.randrange(N) for _ in sequences]
        else:
            labels = [int(x > 0) for x in v]
            assert 0 in v or not suits(v, labels)
        pairs = dict(zip(sequences, labels, strict=True))
        memory = relation_memory(pairs, H, 1, seed=seed)
        wrong = {t: (label + 1) % N for t, label in pairs.items()}
        sample(memorized, memory, pairs, H, control=(memory, wrong, H))


def test_corollary_1_narrow_heads_has_a_certificate(certify: Certify) -> None:
    """One head of dimension one tells (a,0), (b,0), (c,0) apart, two of them alike."""
    memory = relation_memory({"aa": "a", "ba": "b", "ca": "a"}, H=1, d_h=1)
    certify(memory.certificate(), ship_as="lemmax/corollary-1-narrow-heads")


def test_relation_memory_never_finds_exclusive_or_with_one_head() -> None:
    """Exclusive or with one head of dimension two is impossible, and is not found."""
    xor = {(a, b, 0): a ^ b for a, b in product((0, 1), repeat=2)}
    with pytest.raises(NotFound):
        relation_memory(xor, H=1, d_h=2, attempts=60)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: suits([1, -1], "abc"), "2 entries of a relation for 3 labels"),
        (lambda: encode([1, 1], "ab"), "add up to zero"),
        (lambda: encode([0, 0], "ab"), "not zero"),
        (lambda: relation_memory({"ab": "a", "aa": "b", "ba": "b"}, 1, 1), "one last token"),
        (lambda: relation_memory({"aa": "a", "ba": "b"}, 1, 1), "H d_h"),
    ],
)
def test_bad_input_is_one_sentence(call: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(LemmaxError, match=sentence) as caught:
        call()
    assert "\n" not in str(caught.value)
