"""Figure 1 and Examples 2.4 and 3.3 of Wong (2025), exactly."""

from collections.abc import Callable
from itertools import product as cells

import pytest
from flint import fmpq

from lemmax import checker
from lemmax.constructions.wong.examples import (
    example_2_2,
    example_2_4,
    example_3_3,
    figure_1,
    rank_of_product_witness,
)
from lemmax.theory import Matrix, certified_rank, memorizes, tensor_rank
from lemmax.theory.wong.effective_ranks import effective_rank, represents
from lemmax.theory.wong.layer_tensors import layer_tensor

Certify = Callable[..., checker.Verdict]


def doubled(tensor: list[list[list[fmpq]]]) -> list[list[list[int]]]:
    """Twice a tensor of half-integers; the rank is the same."""
    return [[[int(2 * x) for x in fibre] for fibre in line] for line in tensor]


def integers(tensor: list[list[list[fmpq]]]) -> list[list[list[int]]]:
    """A tensor of integers."""
    assert all(x.q == 1 for line in tensor for fibre in line for x in fibre)
    return [[[int(x.p) for x in fibre] for fibre in line] for line in tensor]


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


def test_example_2_4_rank_five_effective_rank_one() -> None:
    db = example_2_4()
    assert tensor_rank(db).rank == 5
    assert effective_rank(db).rank == 1


def test_example_2_2_effective_rank_is_five() -> None:
    result = effective_rank(example_2_2())
    assert result.rank == 5
    assert result.block.keys == ("a", "b", "c")
    assert represents(result.representation.array, example_2_2())


def test_example_3_3_tensors_are_those_of_the_layer() -> None:
    example = example_3_3()
    masked = layer_tensor(example.layer, example.database)
    order = [example.database.values.index(v) for v in "ms"]
    assert [[[row[v] for v in order] for row in line] for line in masked.rationals()] == example.AV
    half = fmpq(1, 2)
    assert example.A[0][0] == [half, 0, 0, half, 0]
    assert example.AV == [[[0, 1], [1, 0]], [[0, 3], [1, 2]], [[2, 1], [3, 0]]]
    assert Matrix.zeros(7, 7) == example.layer.W_EU


@pytest.mark.claim("wong/example-3.3", grade="certified", statement="6314761cc7020a15")
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
    # The rank of A¹ is that of the integer tensor 2A¹.
    assert tensor_rank(doubled(example.A), "R").rank == 4
    for name, tensor, rank in (
        ("value", integers(example.V), 2),
        ("product", integers(example.AV), 3),
        ("slices", D, 3),
    ):
        result = tensor_rank(tensor, "R")
        certify(result.certificate(), ship_as=f"wong/example-3.3-{name}")
        assert result.rank == rank
    assert certified_rank(example.W_QK).rank == 1
    # W_QK = 0 gives the same attention, one half on each position.
    assert example.silent.W_QK(0) == Matrix.zeros(7, 7)
    for pair in (("a", "β"), ("b", "λ"), ("c", "β")):
        for layer in (example.layer, example.silent):
            (attention,) = layer.scores(pair)
            assert attention[1, 0] == attention[1, 1]


@pytest.mark.claim("wong/rank-of-product", grade="certified")
def test_rank_of_product_exceeds_both_bounds(certify: Certify) -> None:
    """rank(A¹V¹) = 3 > 2 = rank V¹, over the reals."""
    example = example_3_3()
    product, factor = (tensor_rank(doubled(t), "R") for t in (example.AV, example.V))
    certify(rank_of_product_witness(), ship_as="wong/rank-of-product")
    assert product.lower == 3 > factor.upper == 2
    # and A¹V¹ is the product (6) of A¹ and V¹
    readers = range(len(example.readers))
    for k, q, v in cells(range(3), range(2), range(2)):
        terms = (example.A[k][q][t] * example.V[t][q][v] for t in readers)
        assert sum(terms, fmpq(0)) == example.AV[k][q][v]


def test_example_3_3_answers_over_the_full_vocabulary(certify: Certify) -> None:
    example = example_3_3()
    facts = memorizes(example.layer, example.database)
    assert facts.holds
    certify(facts.certificate(), ship_as="wong/example-3.3-facts")
    assert not memorizes(example.layer, example.database, tau="9/10").holds
