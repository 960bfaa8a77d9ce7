"""Lower bounds for the rank of trained layers, and what they say about equation (9)."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, TypeAlias

import pytest
from flint import fmpq

from lemmax.numerics.experiments.studies import recorded
from lemmax.numerics.experiments.wong import certified, trained_ranks
from lemmax.theory.errors import NotExact
from lemmax.theory.facts.database import Database
from lemmax.theory.numbers.matrices import Matrix
from lemmax.theory.wong.layer import AttentionLayer, Head
from lemmax.theory.wong.layer_tensors import layer_tensor

RowsOf: TypeAlias = Callable[[str], tuple[Any, Any]]


@pytest.mark.claim("wong/equation-9-likely", statement="4f7619878de7ff3b")
def test_equation_9_for_trained_layers(
    recorded_rows_of: RowsOf, measure: Callable[..., None]
) -> None:
    measure(*recorded_rows_of("wong-certified"))


@pytest.mark.parametrize("seed", range(8))
def test_lower_bounds_are_the_exact_flattening_ranks(seed: int) -> None:
    """Small layers, two heads with different denominators, keys that are queries too."""
    draw = Random(seed)

    def matrix(rows: int, columns: int, halves: int = 1) -> Matrix:
        cells = [[draw.randint(-2, 2) for _ in range(columns)] for _ in range(rows)]
        return Matrix([[fmpq(x, halves) for x in row] for row in cells])

    facts = tuple((k, q, 4 + (k * q + seed) % 2) for k in range(4) for q in (2, 3) if k or q == 2)
    heads = tuple(
        Head(matrix(2, 1, halves), matrix(1, 2), matrix(2, 1), matrix(1, 2)) for halves in (1, 2)
    )
    layer = AttentionLayer(tuple(range(6)), matrix(6, 2), matrix(2, 6), heads)
    exact = layer_tensor(layer, Database.from_triples(facts)).multilinear_ranks()
    assert trained_ranks.rank_below(layer, facts) == max(exact)


def test_scores_that_are_not_dyadic_are_refused() -> None:
    third = Head(Matrix([["1/3"]]), Matrix([["1/2"]]), Matrix([[1]]), Matrix([[1]]))
    fifth = Head(Matrix([["1/5"]]), Matrix([[1]]), Matrix([[1]]), Matrix([[1]]))
    layer = AttentionLayer((0, 1, 2), Matrix([[1], [2], [0]]), Matrix([[0, 0, 1]]), (third, fifth))
    with pytest.raises(NotExact, match="denominator"):
        trained_ranks.rank_below(layer, ((0, 1, 2),))


def test_layers_that_cannot_are_counted() -> None:
    """The ceiling for all weights excludes some layer, and the lower bounds reach (9) for most."""
    rows = recorded(certified.STUDY)[1][:6]
    judgement = trained_ranks.judge_likely([certified.certify_row(r).layer for r in rows], rows)
    assert judgement.verdict is None  # six layers are too few
    assert "Of 6 trained layers" in judgement.sentence
