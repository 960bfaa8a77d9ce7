"""tensor_rank on databases and arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lemmax.checker import check
from lemmax.theory.database import Database
from lemmax.theory.errors import LemmaxError
from lemmax.theory.tensors.ranks import tensor_rank

FIGURE_1 = [
    ("Astrid", "born_in", "Singapore"),
    ("Bernard", "born_in", "Singapore"),
    ("Colin", "born_in", "Malaysia"),
    ("Astrid", "lives_in", "Malaysia"),
    ("Bernard", "lives_in", "Singapore"),
    ("Colin", "lives_in", "Malaysia"),
    ("Malaysia", "currency", "Ringgit"),
    ("Singapore", "currency", "Dollar"),
]


@pytest.mark.parametrize("field", ["Q", "R", "C"])
def test_example_2_2_has_rank_5(field: Any) -> None:
    result = tensor_rank(Database.from_triples(FIGURE_1), field)
    assert (result.lower, result.upper, result.rank) == (5, 5, 5)
    assert check(result.certificate()).holds


@pytest.mark.parametrize("field", ["Q", "R", "C"])
def test_example_2_4_has_rank_5(field: Any) -> None:
    facts = [(k, q, "v") for k, q in zip("abcde", "fghij", strict=True)]
    result = tensor_rank(Database.from_triples(facts), field)
    assert result.rank == 5
    assert check(result.certificate()).holds


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([[1, 0], [0, 1]], "three dimensions"),
        (np.zeros((0, 2, 2), dtype=int), "at least one entry"),
        ([[[0.5]]], "float"),
        ([[["1/2"]]], "not an integer"),
        ([[["x"]]], "not a rational number"),
        ([[[1], [1, 2]]], "same shape"),
    ],
)
def test_bad_input_is_one_sentence(data: Any, message: str) -> None:
    with pytest.raises(LemmaxError, match=message) as caught:
        tensor_rank(data)
    assert str(caught.value).endswith(".")


def test_an_unknown_field_is_one_sentence() -> None:
    with pytest.raises(LemmaxError, match="Q, R or C"):
        tensor_rank([[[1]]], "F2")  # type: ignore[arg-type]


def test_the_zero_tensor_has_rank_0() -> None:
    result = tensor_rank(np.zeros((2, 3, 2), dtype=int))
    assert result.rank == 0
    assert check(result.certificate()).holds
