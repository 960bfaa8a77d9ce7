"""What a layer answers is decided: against every other token, with as many bits as it takes."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import pytest
from flint import arb, ctx, fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmax.constructions.compiler import recall
from lemmax.strategies import layers
from lemmax.theory import AttentionLayer, Matrix, memorizes
from lemmax.theory.errors import LemmaxError, Undecided
from lemmax.theory.numbers.balls import floor_below
from lemmax.theory.wong.layer import Head


def reader(columns: Mapping[str, tuple[object, object]], score: object = 1) -> AttentionLayer:
    """The hidden state of (k, q) is (σ(score), 1); each further token has a column of W_U."""
    tokens = ("k", "q", *columns)
    head = Head(Matrix([[0], [1]]), Matrix([[score, 0]]), Matrix([[1], [0]]), Matrix([[1, 0]]))
    embedding = [[1, 0], [0, 1], *([[0, 0]] * len(columns))]
    unembedding = [(0, -9), (0, -9), *columns.values()]
    rows = [list(row) for row in zip(*unembedding, strict=True)]
    return AttentionLayer(tokens, Matrix(embedding), Matrix(rows), (head,))


def sigmoid_below(bits: int) -> fmpq:
    """σ(1) less something between 1 and 2 units of 2^-bits."""
    with ctx.workprec(bits + 64):
        return fmpq(floor_below(1 / (1 + (-arb(1)).exp()), bits) - 1, 2**bits)


@pytest.mark.parametrize("bits", range(200, 212))
def test_a_wide_ball_further_down_wins(bits: int) -> None:
    """2^(bits+2) (σ(1) - r) lies between 4 and 8; 192 bits see a ball around any number."""
    large = 2 ** (bits + 2)
    columns = {"a": (0, 1), "b": (0, 0), "wide": (large, -large * sigmoid_below(bits))}
    answer = recall(reader(columns), "k", "q")
    assert (answer.answer, answer.runner_up) == ("wide", "a")
    assert answer.probability > arb("0.9")
    assert answer.runner_up_probability is not None
    assert answer.runner_up_probability < arb("0.1")


@pytest.mark.parametrize("bits", range(200, 212))
def test_a_wide_ball_is_the_runner_up(bits: int) -> None:
    large = 2 ** (bits + 2)
    columns = {"a": (0, 9), "b": (0, 1), "wide": (large, -large * sigmoid_below(bits))}
    answer = recall(reader(columns), "k", "q")
    assert (answer.answer, answer.runner_up) == ("a", "wide")


def test_a_gap_of_many_bits_is_decided() -> None:
    """The first two differ by a multiple of 2^-600."""
    columns = {"a": (0, 1), "b": (0, 1 + fmpq(1, 2**600))}
    assert recall(reader(columns), "k", "q").answer == "b"


def test_ties_are_named() -> None:
    """Equal columns tie, and so do different ones where σ(0) = 1/2."""
    sentence = "cannot tell 'a' and 'b' apart"
    with pytest.raises(LemmaxError, match=sentence):
        recall(reader({"a": (1, 1), "b": (1, 1)}), "k", "q")
    with pytest.raises(LemmaxError, match=sentence):
        recall(reader({"a": (4, 0), "b": (0, 2)}, score=0), "k", "q")
    with pytest.raises(LemmaxError, match=sentence):
        recall(reader({"c": (0, 1), "a": (4, 0), "b": (0, 2)}, score=0), "k", "q")


def test_runners_up_may_tie() -> None:
    answer = recall(reader({"a": (0, 1), "b": (0, 0), "c": (0, 0)}), "k", "q")
    assert (answer.answer, answer.runner_up) == ("a", "b")


def test_ties_in_units_of_ln_2_are_decided() -> None:
    """σ(ln 2) = 2/3: the logits 3·2/3 and 2 are equal, and 3·2/3 + 2^-900 is larger."""
    layer = reader({"a": (3, 0), "b": (0, 2)})
    rational = AttentionLayer(layer.tokens, layer.W_E, layer.W_U, layer.heads, "ln2")
    with pytest.raises(LemmaxError, match="cannot tell 'a' and 'b' apart"):
        recall(rational, "k", "q")
    layer = reader({"a": (3, 0), "b": (0, 2 + fmpq(1, 2**900))})
    rational = AttentionLayer(layer.tokens, layer.W_E, layer.W_U, layer.heads, "ln2")
    assert recall(rational, "k", "q").answer == "b"


def test_what_stays_open_is_said() -> None:
    """σ(10^9) is 1 but for 1.4 billion bits: less than 1, and no affordable precision sees it."""
    with pytest.raises(Undecided, match="stays open with 49152 bits"):
        recall(reader({"a": (1, 0), "b": (0, 1)}, score=10**9), "k", "q")


@pytest.mark.parametrize("digits", [9, 300, 3000])
def test_attention_to_nothing_but_the_query(digits: int) -> None:
    """σ(-10^digits) is too small for its inverse to be written down."""
    layer = reader({"a": (1, 0), "b": (0, fmpq(1, 10**300))}, score=-(10**digits))
    assert recall(layer, "k", "q").answer == "b"
    assert memorizes(layer, [("k", "q", "b")]).holds


def test_one_token_is_the_answer() -> None:
    layer = AttentionLayer(("a",), [[1]], [[1]])
    answer = recall(layer, "a", "a")
    assert (answer.answer, answer.runner_up, answer.interval()) == (
        "a",
        None,
        "[1.000000, 1.000000]",
    )


@given(layers(), st.data())
def test_the_answer_is_the_strict_argmax(layer: AttentionLayer, data: st.DataObject) -> None:
    """Against the exact forward pass: polynomials in e^(1/q), no balls."""
    k, q = (data.draw(st.sampled_from(layer.tokens)) for _ in range(2))
    row = layer.last_logits((k, q))
    top = list(row.argmax())
    if len(top) > 1:
        with pytest.raises(LemmaxError, match="apart"):
            recall(layer, k, q)
        return
    answer = recall(layer, k, q)
    assert answer.answer == layer.tokens[top[0]]
    assert answer.probability.overlaps(row.probability(top[0]))
    if answer.runner_up is not None:
        second = layer.index[answer.runner_up]
        others = [t for t in range(len(layer.tokens)) if t not in (top[0], second)]
        assert all(row.sign(second, t) >= 0 for t in others)
    low, high = (Fraction(end) for end in answer.interval()[1:-1].split(", "))
    assert 0 < low <= high <= 1
