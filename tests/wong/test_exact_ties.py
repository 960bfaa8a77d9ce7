"""Ties between logits of layers with transcendental attention, decided without polynomials."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lemmax.theory.numbers.matrices import Matrix
from lemmax.theory.wong.layer import AttentionLayer, Head
from lemmax.theory.wong.memorization import HiddenStates, memorizes

small = st.integers(-2, 2)


def _matrix(rows: int, columns: int) -> st.SearchStrategy[list[list[int]]]:
    line = st.lists(small, min_size=columns, max_size=columns)
    return st.lists(line, min_size=rows, max_size=rows)


def _head() -> st.SearchStrategy[Head]:
    return st.builds(Head, _matrix(2, 1), _matrix(1, 2), _matrix(2, 1), _matrix(1, 2))


@given(
    embedding=_matrix(4, 2),
    unembedding=_matrix(2, 4),
    heads=st.lists(_head(), min_size=1, max_size=2),
)
@settings(max_examples=60)
def test_ties_are_those_of_the_exact_logits(
    embedding: list[list[int]], unembedding: list[list[int]], heads: list[Head]
) -> None:
    layer = AttentionLayer(range(4), embedding, unembedding, heads)
    states, columns = HiddenStates(layer), layer.W_U.flint.transpose().tolist()
    row = layer.last_logits((0, 1))
    for t in range(1, 4):
        assert states.tied(0, 1, columns[0], columns[t]) == (row.sign(0, t) == 0)


def test_two_heads_that_cancel_tie_although_the_columns_differ() -> None:
    first = Head([[1]], [[1]], [[1]], [[1]])
    second = Head([[1]], [[1]], [[-1]], [[1]])
    layer = AttentionLayer("kq", [[3], [0]], [[1, -2]], [first, second])
    states, (a, b) = HiddenStates(layer), layer.W_U.flint.transpose().tolist()
    assert states.tied(0, 1, a, b)  # the state of q is 0 whatever it attends to
    assert not memorizes(layer, [("k", "q", "k")]).holds
    assert not states.tied(1, 0, a, b)


@pytest.mark.parametrize("unit", ["1", "ln2"])
def test_equal_columns_tie_however_long_the_denominators_are(unit: str) -> None:
    """Exponents over 2^60: polynomials in e^(1/q) would never end."""
    tiny = Fraction(1, 2**20)
    head = Head([[1 + tiny]], [[1 - tiny]], [[1]], [[1]])
    layer = AttentionLayer("kqv", Matrix([[2 + tiny], [1], [0]]), [[1, 1, -1]], [head], unit)  # type: ignore[arg-type]
    assert memorizes(layer, [("k", "q", "k")]).missed == (("k", "q", "k"),)
