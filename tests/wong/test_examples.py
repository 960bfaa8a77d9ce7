"""Figure 1 and Examples 2.4 and 3.3 of Wong (2025), exactly."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from flint import fmpq

from lemmax import checker
from lemmax.constructions.wong_examples import example_2_2, example_2_4, example_3_3, figure_1
from lemmax.theory import Matrix, certified_rank, memorizes
from lemmax.theory.attention import AttentionLayer, Head
from lemmax.theory.effective_rank import effective_rank, represents
from lemmax.theory.layer_tensor import flattening_ranks, layer_tensor

Certify = Callable[..., checker.Verdict]
Vector = Sequence[int]
Term = tuple[Vector, Vector, Vector]


def total(terms: Sequence[Term]) -> list[list[list[int]]]:
    """The sum of simple tensors."""
    rows, columns, depth = (range(len(vector)) for vector in terms[0])

    def entry(i: int, j: int, k: int) -> int:
        return sum(x[i] * y[j] * z[k] for x, y, z in terms)

    return [[[entry(i, j, k) for k in depth] for j in columns] for i in rows]


def flattening(tensor: Any, mode: int) -> Matrix:
    sizes = len(tensor), len(tensor[0]), len(tensor[0][0])
    lines: list[list[Any]] = [[] for _ in range(sizes[mode])]
    for i in range(sizes[0]):
        for j in range(sizes[1]):
            for k in range(sizes[2]):
                lines[(i, j, k)[mode]].append(tensor[i][j][k])
    return Matrix(lines)


def test_figure_1_has_the_facts_of_example_2_2() -> None:
    full, short = figure_1(), example_2_2()
    assert len(full) == len(short) == 8
    assert set(short) == {
        ("a", "β", "s"),
        ("b", "β", "s"),
        ("c", "β", "m"),
        ("a", "λ", "m"),
        ("b", "λ", "s"),
        ("c", "λ", "m"),
        ("m", "κ", "r"),
        ("s", "κ", "d"),
    }
    assert short.slice_rank_bound == full.slice_rank_bound == 6


@pytest.mark.claim("wong/example-2.4", grade="certified")
def test_example_2_4_rank_five_effective_rank_one(certify: Certify) -> None:
    """One value: the tensor is its only slice, and its rank the rank of that matrix."""
    db = example_2_4()
    assert len(db.values) == 1
    ranked = certified_rank(db.slice_v("v"))
    certify(ranked.certificate(), ship_as="wong/example-2.4")
    assert ranked.rank == 5
    constant = [[[1]] * 5] * 5
    assert represents(constant, db)
    filled = certified_rank([[1] * 5] * 5)
    certify(filled.certificate(), ship_as="wong/example-2.4-effective")
    assert filled.rank == 1 == effective_rank(db).rank  # and 0 represents no fact


def test_example_2_2_effective_rank_is_five() -> None:
    result = effective_rank(example_2_2())
    assert result.rank == 5
    assert result.block.keys == ("a", "b", "c")
    assert represents(result.representation, example_2_2())


def test_example_3_3_tensors_are_those_of_the_layer() -> None:
    example = example_3_3()
    masked = layer_tensor(example.layer, example.database)
    order = [example.database.values.index(v) for v in "ms"]
    assert [[[row[v] for v in order] for row in line] for line in masked.rationals()] == example.AV
    half = fmpq(1, 2)
    assert example.A[0][0] == [half, 0, 0, half, 0]
    assert example.AV == [[[0, 1], [1, 0]], [[0, 3], [1, 2]], [[2, 1], [3, 0]]]
    assert Matrix.zeros(7, 7) == example.layer.W_EU


@pytest.mark.claim("wong/example-3.3", grade="certified")
def test_example_3_3_ranks_and_argmax(certify: Certify) -> None:
    example = example_3_3()
    certify(example.certificate(), ship_as="wong/example-3.3")
    assert Matrix([[1] * 5] * 2) == example.W_QK
    assert Matrix([[0, 0], [0, 4], [4, 0], [0, 2], [2, 0]]) == example.W_VO
    # argmax gives the slices of β and λ (columns m, s).
    full = example_2_2()
    rows = [full.keys.index(k) for k in "abc"]
    order = [full.values.index(v) for v in "ms"]
    D = [[[int(full.slice_q(q)[k, v]) for v in order] for q in ("β", "λ")] for k in rows]
    assert example.argmax() == D
    # Ranks: below by certified flattenings, above by written-out terms.
    twice_A = [[[2 * x for x in fibre] for fibre in line] for line in example.A]
    one_q, beta, one_k = (1, 1), (1, 0), (1, 1, 1)
    terms_A: list[Term] = [
        ((1, 0, 0), one_q, (1, 0, 0, 0, 1)),
        ((0, 1, 0), one_q, (0, 1, 0, 0, 1)),
        ((0, 0, 1), one_q, (0, 0, 1, 0, 1)),
        (one_k, beta, (0, 0, 0, 1, -1)),
    ]
    terms_V: list[Term] = [((0, 0, 4, 0, 2), one_q, (1, 0)), ((0, 4, 0, 2, 0), one_q, (0, 1))]
    terms_AV: list[Term] = [
        ((1, 1, 3), one_q, (1, 0)),
        ((0, 2, 0), one_q, (0, 1)),
        (one_k, beta, (-1, 1)),
    ]
    terms_D: list[Term] = [
        ((0, 1, 0), one_q, (0, 1)),
        ((1, 0, 1), one_q, (1, 0)),
        ((1, 0, 0), beta, (-1, 1)),
    ]
    for tensor, terms, rank, mode in (
        (twice_A, terms_A, 4, 2),
        (example.V, terms_V, 2, 0),
        (example.AV, terms_AV, 3, 0),
        (D, terms_D, 3, 0),
    ):
        assert total(terms) == tensor
        assert len(terms) == rank
        below = certified_rank(flattening(tensor, mode))
        certify(below.certificate())
        assert below.rank == rank
    scores = certified_rank(example.W_QK)
    certify(scores.certificate())
    assert scores.rank == 1
    # W_QK = 0 gives the same attention, one half on each position.
    for pair in (("a", "β"), ("b", "λ"), ("c", "β")):
        for layer in (example.layer, without_scores(example.layer)):
            (attention,) = layer.scores(pair)
            assert attention[1, 0] == attention[1, 1]


def without_scores(layer: AttentionLayer) -> AttentionLayer:
    """The layer with W_Q = 0, so that W_QK = 0."""
    (head,) = layer.heads
    silent = Head(Matrix.zeros(*head.W_Q.shape), head.W_K, head.W_V, head.W_O)
    return AttentionLayer(layer.tokens, layer.W_E, layer.W_U, (silent,))


@pytest.mark.claim("wong/rank-of-product", grade="certified")
def test_rank_of_product_exceeds_both_bounds(certify: Certify) -> None:
    """rank(A¹V¹) = 3 > 2 = rank V¹: a certified flattening below, two terms above."""
    example = example_3_3()
    below = certified_rank(flattening(example.AV, 0))
    certify(below.certificate(), ship_as="wong/rank-of-product")
    assert below.rank == 3
    factor = certified_rank(example.W_VO)  # all slices of V¹ in the middle mode are this matrix
    certify(factor.certificate(), ship_as="wong/rank-of-product-factor")
    assert factor.rank == 2
    assert all(line[0] == line[1] for line in example.V)
    assert max(flattening_ranks(example.A)) == 4


def test_example_3_3_answers_over_the_full_vocabulary() -> None:
    example = example_3_3()
    assert memorizes(example.layer, example.database).holds
    assert not memorizes(example.layer, example.database, tau="9/10").holds
