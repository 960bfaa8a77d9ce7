"""The edges of the words about layers: facts that are missing, keys that are queries, ties."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from lemmax.checker import NotACertificate
from lemmax.checker.attention import Layer
from lemmax.checker.attention import layer as read
from lemmax.checker.language.sorts import Facts
from lemmax.checker.limits import LIMITS, Undecided
from lemmax.checker.reading import Matrix
from lemmax.checker.words import layers

HEADS: list[dict[str, Any]] = [
    {"W_Q": [["1"], ["0"]], "W_K": [["1", "0"]], "W_V": [["1"], ["2"]], "W_O": [["1", "-1"]]},
    {"W_Q": [["0"], ["1"]], "W_K": [["0", "-1"]], "W_V": [["3"], ["1"]], "W_O": [["0", "1"]]},
]
LAYER: dict[str, Any] = {
    "tokens": ["a", "b", "f", "g"],
    "unit": "ln2",
    "W_E": [["1", "0"], ["0", "1"], ["1", "1"], ["2", "1"]],
    "W_U": [["1", "0", "2", "-1"], ["0", "1", "1", "3"]],
    "heads": HEADS,
}
PART = Facts([("a", "f", "b"), ("b", "g", "a")])  # nothing of (a, g) and (b, f)
ZERO, ONE = Fraction(0), Fraction(1)


def layer(**changes: Any) -> Layer:
    return read(LAYER | changes, "layer")


def refusal(sentence: str) -> Any:
    return pytest.raises(NotACertificate, match=f"^{re.escape(sentence)}$")


# --- tensors of a layer -------------------------------------------------------------------------


def test_where_there_is_no_fact_a_layer_tensor_has_no_heads() -> None:
    L = layer()
    masked, every = layers.layer_tensor(L, PART), layers.logits_tensor(L, PART)
    direct = layers.block(layers.EU(L), L, PART)
    for k, q in itertools.product((0, 1), (0, 1)):
        assert masked[k][q] == (every[k][q] if k == q else direct[q])
        assert every[k][q] != direct[q]


def test_circuits_give_the_logits_of_the_layer() -> None:
    """Two heads, and pairs of a key and a query that no fact is about."""
    L = layer()
    assert layers.unmasked_tensor(L, PART) == layers.logits_tensor(L, PART)


@pytest.mark.parametrize("h", [0, 1])
def test_attention_has_mass_one_where_there_is_a_fact(h: int) -> None:
    L = layer()
    masses = [[sum(line) for line in part] for part in layers.attention(L, PART, Fraction(h))]
    assert masses == [[1, 0], [0, 1]]
    every = layers.attention(L, PART, Fraction(h), False)
    assert [[sum(line) for line in part] for part in every] == [[1, 1], [1, 1]]


def test_a_key_that_is_its_query_has_all_the_mass() -> None:
    found: Any = layers.attention(layer(), Facts([("a", "a", "b")]), ZERO)
    assert found == (((1,),),)


@pytest.mark.parametrize("s", [1, 2, 255, 256])
def test_short_powers_of_two_have_rational_shares(s: int) -> None:
    assert layers.sigma(Fraction(s), "ln2") == Fraction(2**s, 2**s + 1)
    assert layers.sigma(Fraction(-s), "ln2") == Fraction(1, 2**s + 1)


@pytest.mark.parametrize(
    ("s", "unit"), [(257, "ln2"), (-257, "ln2"), (Fraction(1, 2), "ln2"), (1, "1")]
)
def test_other_shares_are_irrational_or_too_long(s: Any, unit: str) -> None:
    with refusal("The attention of the layer is irrational, so its tensor is not computed."):
        layers.sigma(Fraction(s), unit)


@pytest.mark.parametrize(("rows", "columns"), [(4, 3), (3, 4), (5, 4), (4, 5), (3, 3)])
def test_circuits_have_a_row_and_a_column_for_each_token(rows: int, columns: int) -> None:
    M = Matrix([(ZERO,) * columns] * rows)
    with refusal("A circuit has one row and one column for each token of the layer."):
        layers.at(M, layer(), ["a"], ["a"])
    found: Any = layers.at(Matrix([(ZERO,) * 4] * 4), layer(), ["a"], ["b", "f"])
    assert found == ((0, 0),)


# --- layers side by side ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {"tokens": ["a", "b", "f", "h"]},
        {"unit": "1"},
        {"heads": HEADS[:1]},
        {"heads": [*HEADS, HEADS[0]]},
        {"heads": HEADS[::-1]},
    ],
)
def test_layers_of_other_tokens_units_or_heads_have_other_scores(changes: dict[str, Any]) -> None:
    assert layers.same_scores(layer(), layer())
    assert not layers.same_scores(layer(), layer(**changes))


@pytest.mark.parametrize(
    "changes", [{"tokens": ["a", "b", "f", "h"]}, {"heads": HEADS[:1]}, {"heads": [*HEADS] * 2}]
)
def test_only_layers_of_the_same_tokens_and_heads_are_combined(changes: dict[str, Any]) -> None:
    """No multiple of the third is added, and still it has to be of one kind with the others."""
    L, M = layer(), layer(**changes)
    assert layers.combines(L, L, L, ZERO)
    assert layers.combines(M, M, M, ZERO)
    assert not layers.combines(L, L, M, ZERO)
    assert not layers.combines(L, M, L, ZERO)
    assert not layers.combines(M, L, L, ZERO)


def test_layers_that_differ_in_the_embedding_circuit_alone_are_no_combination() -> None:
    """Heads that write nothing have the same circuits whatever W_U is."""
    silent = [head | {"W_V": [["0"], ["0"]]} for head in HEADS]
    L = layer(heads=silent)
    twice = layer(heads=silent, W_U=[["2", "0", "4", "-2"], ["0", "2", "2", "6"]])
    assert layers.VO(L, ONE) == layers.VO(twice, ONE)
    assert layers.combines(twice, L, L, ONE)
    assert not layers.combines(twice, L, L, ZERO)


def test_without_heads_the_dimensions_of_heads_are_zero() -> None:
    for word in (layers.d_qk, layers.d_vo):
        assert [word(layer(heads=heads)) for heads in ([], HEADS)] == [0, 1]


# --- what a layer knows -------------------------------------------------------------------------

WORDS: list[Callable[..., Any]] = [layers.memorizes, layers.memorizes_values, layers.accuracy]


@pytest.mark.parametrize("word", WORDS)
def test_probabilities_are_compared_with_what_one_can_be(word: Callable[..., Any]) -> None:
    """Every probability is above 0 and at most 1, so no other threshold asks anything."""
    for tau in (Fraction(-1, 2), ZERO, Fraction(3, 2), Fraction(2), Fraction(5, 2)):
        with refusal("The threshold must lie in (0, 1]."):
            word(layer(), PART, tau)
    assert word(layer(), PART, Fraction(1, 10**9)) == 1
    assert word(layer(), PART, ONE) == 0


SAID = "^a fact of the layer stays undecided at the largest precision$"


def test_an_open_fact_does_not_matter_where_another_one_is_false() -> None:
    assert layers.decided([True, False]) == [True, False]
    assert layers.decided([None, False, True], True) == [None, False, True]
    wrong: list[tuple[list[bool | None], bool]] = [
        ([None, True], True),
        ([None], True),
        ([None, False, True], False),
    ]
    for known, despite in wrong:
        with pytest.raises(Undecided, match=SAID):
            layers.decided(known, despite)
    with pytest.raises(Undecided, match=SAID):
        layers.decided([None, False, True])


def test_a_layer_that_is_wrong_about_one_fact_memorizes_no_table_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two values with one column of W_U have equal logits; no precision decides the third."""
    monkeypatch.setitem(LIMITS, "precision bits", 0)
    L = layer(W_U=[["1", "1", "2", "-1"], ["5", "5", "1", "3"]])
    tied = [("f", "g", "a"), ("g", "f", "b")]
    D, open_one = Facts([*tied, ("a", "b", "f")]), Facts([("a", "b", "f"), ("b", "a", "g")])
    for word in (layers.memorizes, layers.memorizes_values):
        assert word(L, D) is False
        with pytest.raises(Undecided, match=SAID):
            word(L, open_one)
    with pytest.raises(Undecided, match=SAID):
        layers.accuracy(L, D)
    assert layers.accuracy(L, Facts(tied)) == 0
