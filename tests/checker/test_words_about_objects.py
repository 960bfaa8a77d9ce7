"""The words of formal statements, against lemmax's own computation on random instances."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from typing import Any

import networkx as nx
import pytest
from flint import arb, fmpq
from hypothesis import assume, given
from hypothesis import strategies as st

from lemmax.checker import NotACertificate, attention
from lemmax.checker.contexts import multi_head as read_contexts
from lemmax.checker.language import reals
from lemmax.checker.language.evidence import Evidence
from lemmax.checker.language.sorts import (
    Associations,
    Facts,
    Field,
    Sequences,
    facts_literal,
    transformer_value,
)
from lemmax.checker.reading import Matrix, Tensor
from lemmax.checker.words import (
    contexts,
    databases,
    layers,
    matrices,
    scalars,
    tensors,
    transformers,
)
from lemmax.strategies import databases as any_database
from lemmax.strategies import layers as any_layer
from lemmax.theory import (
    AoT,
    AoTHead,
    AttentionLayer,
    ContextHead,
    Database,
    certified_rank,
    multi_head,
    softmax_rank,
    tensor_rank,
)
from lemmax.theory.errors import Undecided
from lemmax.theory.numbers.matrices import fraction
from lemmax.theory.wong.layer_tensors import layer_tensor


def rows(rng: random.Random, m: int, n: int, size: int = 2) -> list[list[int]]:
    return [[rng.randint(-size, size) for _ in range(n)] for _ in range(m)]


def exact(values: list[list[int]]) -> Matrix:
    return Matrix(tuple(map(Fraction, row)) for row in values)


def bounds(x: Any) -> tuple[Fraction, Fraction]:
    found = reals.interval(x)
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


# --- tensors --------------------------------------------------------------------------------------


def test_tensor_rank_encloses_the_rank() -> None:
    rng = random.Random(11)
    decided = open_ones = 0
    for _ in range(60):
        a, b, c = (rng.randint(1, 3) for _ in range(3))
        cube = [[[int(rng.random() < 0.4) for _ in range(c)] for _ in range(b)] for _ in range(a)]
        T = Tensor(map(exact, cube))
        for field in ("R", "Q"):
            known = tensor_rank(cube, field)
            low, high = bounds(tensors.tensor_rank(T, Field(field), Evidence()))
            assert low <= known.upper
            assert known.lower <= high
            if known.rank is not None:
                assert low <= known.rank <= high
            decided, open_ones = decided + (low == high), open_ones + (low < high)
    assert decided >= 60
    assert open_ones >= 1


def test_slices_and_spanning_trees() -> None:
    rng = random.Random(12)
    shorter = 0
    for _ in range(80):
        cube = [rows(rng, 2, 3, 1) for _ in range(rng.randint(1, 4))]
        T = Tensor(map(exact, cube))
        ranks = [certified_rank(part).rank for part in cube]
        assert list(tensors.slice_ranks(T, Fraction(0))) == ranks
        graph: nx.Graph[int] = nx.Graph()
        zero = [[0] * 3] * 2
        for i, j in itertools.combinations(range(len(cube) + 1), 2):
            pair = [*cube, zero][i], [*cube, zero][j]
            gap = [[x - y for x, y in zip(*both, strict=True)] for both in zip(*pair, strict=True)]
            graph.add_edge(i, j, weight=certified_rank(gap).rank)
        tree = nx.minimum_spanning_tree(graph).size(weight="weight")
        assert tensors.spanning_tree(T, Fraction(0)) == tree
        shorter += tree < sum(ranks)
        for mode in range(3):
            for i, part in enumerate(tensors.slices_of(T, mode)):
                left = tensors.slices_of(T, mode)
                if len(left) > 1:
                    del left[i]
                    smaller = tensors.without(T, Fraction(mode), Fraction(i))
                    assert tensors.slices_of(smaller, mode) == left
                assert len(part) * len(part[0]) * len(tensors.slices_of(T, mode)) == 6 * len(cube)
    assert shorter >= 5


def test_mode_product_is_the_sum() -> None:
    rng = random.Random(13)
    for _ in range(30):
        k, q, t, v = (rng.randint(1, 3) for _ in range(4))
        A = Tensor(exact(rows(rng, q, t)) for _ in range(k))
        B = Tensor(exact(rows(rng, q, v)) for _ in range(t))
        C = tensors.mode_product(A, B)
        for i, j, m in itertools.product(range(k), range(q), range(v)):
            assert C[i][j][m] == sum(A[i][j][s] * B[s][j][m] for s in range(t))
    A, B = (Tensor([exact(rows(rng, n, 2)), exact(rows(rng, n, 2))]) for n in (1, 2))
    with pytest.raises(NotACertificate):
        tensors.mode_product(A, B)


def test_softmax_ranks_of_tensors() -> None:
    rng = random.Random(14)
    for _ in range(40):
        logits = rows(rng, rng.randint(1, 4), rng.randint(1, 3), 1)
        known = softmax_rank(logits).rank
        assert known is not None
        assert tensors.rank_of_softmax(exact(logits), Evidence()) == known
        low, high = bounds(tensors.softmax_tensor_rank(Tensor([exact(logits)])))
        assert low == high == known
        low, high = bounds(tensors.softmax_tensor_rank(Tensor([exact(logits)] * 2)))
        assert low == known <= high


# --- databases and layers -------------------------------------------------------------------------


def renamed(rng: random.Random, facts: Facts, together: bool) -> Facts:
    sides = [{f[m] for f in facts} for m in range(3)]
    if together:
        sides[0] = sides[1] = sides[0] | sides[1]
    maps = []
    for side in sides:
        names = [f"n{i}" for i in range(len(side))]
        rng.shuffle(names)
        maps.append(dict(zip(sorted(side), names, strict=True)))
    maps[1] = maps[0] if together else maps[1]
    found = [(maps[0][k], maps[1][q], maps[2][v]) for k, q, v in facts]
    rng.shuffle(found)
    return Facts(found)


def brute(D: Facts, E: Facts) -> bool:
    """All bijections of keys, queries and values."""
    names = [[sorted({f[m] for f in X}) for m in range(3)] for X in (D, E)]
    if [*map(len, names[0])] != [*map(len, names[1])]:
        return False
    for images in itertools.product(*(itertools.permutations(side) for side in names[1])):
        maps = [dict(zip(a, b, strict=True)) for a, b in zip(names[0], images, strict=True)]
        if {tuple(m[x] for m, x in zip(maps, f, strict=True)) for f in D} == set(E):
            return True
    return False


def test_tables_are_the_same_up_to_names() -> None:
    rng = random.Random(15)
    same = different = 0
    for _ in range(250):
        cells = [(k, q) for k in "abc" for q in "afg" if rng.random() < 0.6] or [("a", "f")]
        D = Facts((k, q, rng.choice("xy")) for k, q in cells)
        assert databases.same_table(D, renamed(rng, D, False))
        assert databases.isomorphic(D, renamed(rng, D, True))
        E = Facts((k, q, rng.choice("xy")) for k, q in cells)
        assert databases.same_table(D, E) is brute(D, E)
        assert not databases.isomorphic(D, E) or databases.same_table(D, E)
        same, different = same + brute(D, E), different + (not brute(D, E))
    assert same >= 20
    assert different >= 20
    diagonal = facts_literal("1 1 v, 2 2 v, 1 2 w, 2 1 w")
    apart = facts_literal("a f v, b g v, a g w, b f w")
    assert databases.same_table(diagonal, apart)
    assert not databases.isomorphic(diagonal, apart)
    many = Facts((f"k{i}", "q", "v") for i in range(9))
    with pytest.raises(NotACertificate):
        databases.same_table(many, many)


@given(any_database(3, 3, 3, disjoint=False))
def test_databases_of_the_checker(db: Database) -> None:
    facts = Facts((str(k), str(q), str(v)) for k, q, v in db)
    T = databases.tensor(facts)
    for mode in range(2):
        ranks = tensors.slice_ranks(T, Fraction(mode))
        assert ranks == databases.value_counts(facts, Fraction(mode))
    assert databases.represents(T, facts)
    assert databases.total(facts) is (len(db) == len(db.keys) * len(db.queries))
    assert databases.disjoint(facts) is not bool(set(db.keys) & set(db.queries))
    assert sum(map(sum, databases.domain(facts))) == len(facts)
    flipped = Tensor(Matrix(tuple(1 - x for x in row) for row in part) for part in T)
    assert not databases.represents(flipped, facts)


@given(st.data(), any_database(3, 3, 3, disjoint=False))
def test_circuits_of_the_checker(data: Any, db: Database) -> None:
    drawn = data.draw(any_layer(tokens=len(db.tokens), unit="ln2"))
    layer = AttentionLayer(db.tokens, drawn.W_E, drawn.W_U, drawn.heads, "ln2")
    L = attention.layer(layer.certificate_fields(), "layer")
    D = Facts((str(k), str(q), str(v)) for k, q, v in db)
    numbers = [layers.QK(L, Fraction(h)) for h in range(len(L.heads))]
    for h, M in enumerate(numbers):
        assert Matrix(tuple(map(fraction, row)) for row in layer.W_QK(h).flint.tolist()) == M
    assert layers.EU(L) == Matrix(tuple(map(fraction, r)) for r in layer.W_EU.flint.tolist())
    place = layer.index
    gaps = [
        M[place[q]][place[k]] - M[place[q]][place[q]]
        for M in numbers
        for k in db.keys
        for q in db.queries
    ]
    assume(all(abs(gap) <= 256 for gap in gaps))
    # two ways to compute it: by the circuits, and by running the layer
    assert layers.unmasked_tensor(L, D) == layers.logits_tensor(L, D)
    total = Tensor([layers.block(layers.EU(L), L, D)] * len(set(db.keys)))
    for h in range(len(L.heads)):
        A, V = layers.attention(L, D, Fraction(h)), layers.value_tensor(L, D, Fraction(h))
        total = tensors.tensor_plus(total, tensors.mode_product(A, V))
    assert total == layers.layer_tensor(L, D)
    ordered = Database.from_triples(sorted(D))
    own = layer_tensor(layer, ordered)
    strict = True
    for k, q, v in ordered:
        fibre = own.rationals()[own.keys.index(k)][own.queries.index(q)]
        best = fibre[own.values.index(v)]
        strict &= all(x < best for j, x in enumerate(fibre) if own.values[j] != v)
    assert layers.memorizes_values(L, D) is strict
    if layers.memorizes(L, D):
        assert strict
    for tau in (Fraction(1, 2), Fraction(9, 10), Fraction(1)):
        marked = [matrices.threshold(M, tau) for M in layers.layer_tensor(L, D)]
        keys, queries, values = databases.names_of(D)
        told = [marked[keys.index(k)][queries.index(q)][values.index(v)] for k, q, v in D]
        assert layers.memorizes_values(L, D, tau) is (min(told) == 1)


# --- transformers and contexts --------------------------------------------------------------------


def test_associations_agree_with_the_library() -> None:
    rng = random.Random(16)
    yes = no = 0
    for _ in range(120):
        N, S, d, H = rng.randint(2, 3), rng.randint(1, 3), rng.randint(1, 2), rng.randint(0, 2)
        heads = tuple(
            AoTHead(rows(rng, 1, d), rows(rng, 1, d), rows(rng, 1, d), rows(rng, d, 1))  # type: ignore[arg-type]
            for _ in range(H)
        )
        net = AoT(
            tuple(range(N)),
            rows(rng, N, d),  # type: ignore[arg-type]
            rows(rng, S, d),  # type: ignore[arg-type]
            rows(rng, N, d),  # type: ignore[arg-type]
            heads,
        )
        T = transformer_value(net.certificate_fields(), "T")
        sequences = list(itertools.product(range(N), repeat=S))
        pairs = {t: rng.randrange(N) for t in rng.sample(sequences, 2)}
        try:
            if rng.random() < 0.7:  # what it answers, where that is unique
                for t in pairs:
                    pairs[t] = next((g for g in range(N) if net.memorizes({t: g})), 0)
            known = [net.memorizes({t: g}) for t, g in pairs.items()]
        except Undecided:  # a tie
            continue
        a = Associations(Sequences(pairs), tuple(pairs.values()))
        assert transformers.memorized(T, a) == sum(known)
        assert transformers.memorizes_associations(T, a) is all(known)
        assert transformers.parameters(T) == net.parameters
        yes, no = yes + all(known), no + (not all(known))
    assert yes >= 10
    assert no >= 10


def test_parity_is_recognised() -> None:
    for H in range(3):
        sequences = [(*bits, 2, 2) for bits in itertools.product((0, 1), repeat=H + 1)]
        targets = [sum(t[: H + 1]) % 2 for t in sequences]
        good = Associations(Sequences(sequences), tuple(targets))
        assert transformers.parity(good, Fraction(H))
        assert not transformers.parity(good, Fraction(H + 1))
        flipped = [1 - targets[0], *targets[1:]]
        assert (
            not transformers.parity(Associations(Sequences(sequences), tuple(flipped)), Fraction(H))
            or len(targets) == 2
        )
        short = Associations(Sequences(t[: H + 1] for t in sequences), tuple(targets))
        assert not transformers.parity(short, Fraction(H))
        some = Associations(Sequences(sequences[1:]), tuple(targets[1:]))
        assert not transformers.parity(some, Fraction(H))


def test_feature_ranks_agree_with_the_library() -> None:
    rng = random.Random(17)
    exactly = 0
    for _ in range(50):
        n, d, T, H = rng.randint(1, 3), rng.randint(1, 3), rng.randint(1, 4), rng.randint(1, 2)
        pool = [rows(rng, n, d, 1) for _ in range(rng.randint(1, 2))]
        heads = [ContextHead(rows(rng, d, 1), rows(rng, d, 1)) for _ in range(H)]
        layer = multi_head([rng.choice(pool) for _ in range(T)], rows(rng, T, d), heads)
        A = read_contexts(layer.certificate_fields(values=False), "A")
        own = layer.feature_rank()
        low, high = bounds(contexts.feature_rank(A, Evidence()))
        assert low == own.lower
        assert low <= own.upper
        assert own.lower <= high <= own.upper
        assert contexts.feature_ceiling(A) <= T
        exactly += low == high
    assert exactly >= 25


# --- numbers --------------------------------------------------------------------------------------


def test_logarithms_are_compared_exactly() -> None:
    rng = random.Random(18)
    equal = 0
    for _ in range(400):
        s, t = (Fraction(rng.randint(1, 9), 10) for _ in range(2))
        c, b = (Fraction(rng.randint(-4, 4), rng.randint(1, 3)) for _ in range(2))
        gap = reals.total(
            reals.product(c, scalars.log_odds(s)),
            reals.negative(reals.product(b, scalars.log_odds(t))),
        )
        sign = reals.logarithm(gap).sign()
        balls = [arb(fmpq(x.numerator, x.denominator)) for x in (s, t, c, b)]
        value = balls[2] * (balls[0] / (1 - balls[0])).log()
        value -= balls[3] * (balls[1] / (1 - balls[1])).log()
        if sign == 0:
            equal += 1
            assert abs(value) < arb(1) / 10**20
        else:
            assert bool(value > 0) is (sign > 0)
            assert bool(value < 0) is (sign < 0)
    assert equal >= 10
    four, two = scalars.log(Fraction(4)), scalars.log(Fraction(2))
    assert reals.logarithm(reals.total(four, reals.product(Fraction(-2), two))).sign() == 0
    assert reals.logarithm(reals.total(two, Fraction(-1))).sign() == -1


@given(st.lists(st.integers(-4, 4), min_size=2, max_size=5), st.integers(1, 4))
def test_words_about_rows(row: list[int], c: int) -> None:
    M = exact([row, [c * x for x in row], [-x for x in row]])
    assert matrices.row_rays(M) == len({tuple(row), tuple(-x for x in row)})
    assert matrices.most_distinct(M) == len(set(row))
    assert matrices.max_count(M) == row.count(max(row))
    assert matrices.scale(M, Fraction(c))[0] == M[1]
    assert matrices.plus(M, M) == matrices.scale(M, Fraction(2))
    gaps = [
        sum((a - b) ** 2 for a, b in zip(x, y, strict=True))
        for x, y in itertools.combinations(M, 2)
    ]
    assert matrices.least_distance2(M) == min(gaps)
    positive = exact([[abs(x) for x in row]])
    for level in range(sum(map(abs, row)) + 1):
        fewest = next(
            k for k in range(len(row) + 1) if sum(sorted(map(abs, row), reverse=True)[:k]) >= level
        )
        assert matrices.reaching(positive, Fraction(level)) == fewest


@pytest.mark.parametrize(
    "call",
    [
        lambda: scalars.log(Fraction(0)),
        lambda: scalars.log_odds(Fraction(1)),
        lambda: matrices.plus(exact([[1]]), exact([[1, 2]])),
        lambda: matrices.stack(exact([[1]]), exact([[1, 2]])),
        lambda: matrices.beside(exact([[1]]), exact([[1], [2]])),
        lambda: matrices.blow_up(Fraction(2), Fraction(3)),
        lambda: matrices.diagonal(exact([[1, 2]])),
        lambda: matrices.least_distance2(exact([[1, 2]])),
        lambda: matrices.reaching(exact([[1, 2]]), Fraction(4)),
        lambda: matrices.constant(Fraction(1001), Fraction(1), lambda i, j: True),
        lambda: tensors.without(Tensor([exact([[1]])]), Fraction(0), Fraction(0)),
        lambda: tensors.join(Tensor([exact([[1]])]), Tensor([exact([[1, 2]])])),
        lambda: facts_literal("a b"),
        lambda: facts_literal("a b c, a b d"),
        lambda: facts_literal(""),
        lambda: databases.represents(Tensor([exact([[1]])]), facts_literal("a f x, a g y")),
    ],
)
def test_words_refuse_what_has_no_meaning(call: Any) -> None:
    with pytest.raises(NotACertificate):
        call()


def test_blow_up_is_the_matrix_of_the_claim() -> None:
    for n, r in ((2, 2), (4, 2), (5, 3), (6, 6)):
        M = matrices.blow_up(Fraction(n), Fraction(r))
        assert certified_rank([[int(x) for x in row] for row in M]).rank == r
        assert matrices.argmax(M) == matrices.identity(Fraction(n))
