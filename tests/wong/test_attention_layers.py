"""Attention layers: shapes, exact forward passes, and what floating point makes of them."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from lemmax.strategies import layers
from lemmax.theory import AttentionLayer, Head, Matrix, memorizes
from lemmax.theory.errors import LemmaxError, NotExact, ShapeError

LAYER = AttentionLayer(
    ("a", "b"),
    [[1, 0], [0, 1]],
    [[1, 2], [3, 4]],
    [Head([[1], [0]], [[1, 1]], [[1], [2]], [[0, 1]])],
)


def sympy_last_logits(layer: AttentionLayer, sequence: tuple[str, ...]) -> list[sympy.Expr]:
    """A second forward pass, written from equations 2 and 3 with circuits and one-hot rows."""

    def plain(M: Matrix) -> sympy.Matrix:
        return sympy.Matrix([[sympy.Rational(x.numerator, x.denominator) for x in r] for r in M])

    base = sympy.exp(1) if layer.unit == "1" else sympy.Integer(2)
    n, size = len(sequence), len(layer.tokens)
    X = sympy.zeros(n, size)
    for i, token in enumerate(sequence):
        X[i, layer.index[token]] = 1
    Z = X * plain(layer.W_EU)
    for h in range(len(layer.heads)):
        scores = X * plain(layer.W_QK(h)) * X.T
        weights = [base ** scores[n - 1, j] for j in range(n)]
        row = sympy.Matrix([[w / sum(weights) for w in weights]])
        Z[n - 1, :] = Z[n - 1, :] + row * X * plain(layer.W_VO(h))
    return list(Z[n - 1, :])


@settings(max_examples=25)
@given(
    layers(tokens=3, max_model=3),
    st.lists(st.sampled_from(["t0", "t1", "t2"]), min_size=1, max_size=3),
)
def test_exact_logits_agree_with_computer_algebra(layer: AttentionLayer, drawn: list[str]) -> None:
    sequence = tuple(drawn)
    expected = [sympy.N(x, 60) for x in sympy_last_logits(layer, sequence)]
    exact, balls = layer.last_logits(sequence).balls(200), layer.logits(sequence, 200)
    with ctx.workprec(180):
        for t, value in enumerate(expected):
            centre = arb(str(value))
            assert abs(exact[t] - centre) < (1 + abs(centre)) * arb("1e-45")
            assert exact[t].overlaps(balls[len(sequence) - 1, t])


@given(
    layers(tokens=3, unit="ln2"),
    st.lists(st.sampled_from(["t0", "t1", "t2"]), min_size=1, max_size=4),
)
def test_logits_in_units_of_ln_2_are_rational(layer: AttentionLayer, drawn: list[str]) -> None:
    row = layer.last_logits(tuple(drawn))
    with ctx.workprec(256):  # converting the rational to a ball must not be the coarser step
        for value, ball in zip(row.rationals(), row.balls(128), strict=True):
            assert ball.contains(value)
            assert ball.rad() < arb("1e-30")


def test_irrational_logits_are_not_called_rational() -> None:
    layer = AttentionLayer(("a", "b"), [[1], [2]], [[1, 2]], [Head([[1]], [[1]], [[1]], [[1]])])
    with pytest.raises(NotExact, match="irrational"):
        layer.last_logits(("a", "b")).rationals()
    assert layer.last_logits(("a", "a")).rationals() == [2, 4]  # attention to one token is 1


def test_the_error_bound_is_not_vacuous() -> None:
    assert LAYER.float64_error(("a", "b")) < arb("1e-12")


def test_ties_are_decided_exactly() -> None:
    tied = AttentionLayer(
        ("a", "b", "c"),
        [[1], [2], [3]],
        [[5, 5, 4]],
        [Head([[1]], [[1]], [[1]], [[1]])],
    )
    assert tied.last_logits(("a", "b")).argmax() == (0, 1)
    assert not memorizes(tied, [("a", "b", "a")]).holds
    split = AttentionLayer(
        ("a", "b", "c"),
        [[1], [2], [3]],
        [[5, Fraction(5) - Fraction(1, 10**60), 4]],
        [Head([[1]], [[1]], [[1]], [[1]])],
    )
    assert split.last_logits(("a", "b")).argmax() == (0,)
    assert memorizes(split, [("a", "b", "a")]).holds


def test_probabilities_are_compared_with_thresholds() -> None:
    flat = AttentionLayer(("a", "b"), [[1], [1]], [[0, 0]])
    assert memorizes(flat, [("a", "b", "a")], "1/2").holds
    assert not memorizes(flat, [("a", "b", "a")]).holds
    assert not memorizes(flat, [("a", "b", "a")], "51/100").holds


@settings(max_examples=60)
@given(layers(tokens=4, bound=6), st.data())
def test_memorization_agrees_with_the_exact_row(layer: AttentionLayer, data: st.DataObject) -> None:
    token = st.sampled_from(layer.tokens)
    k, q, v = data.draw(token), data.draw(token), data.draw(token)
    row = layer.last_logits((k, q))
    assert memorizes(layer, [(k, q, v)]).holds == (row.argmax() == (layer.index[v],))


def test_parameters_count_the_heads() -> None:
    assert LAYER.parameters == 2 * 1 * 2 * (1 + 1)
    assert AttentionLayer(("a",), [[1]], [[1]]).parameters == 0


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: AttentionLayer(("a", "a"), [[1], [1]], [[1, 1]]), "distinct"),
        (lambda: AttentionLayer(("a",), [[1], [1]], [[1, 1]]), "2 rows for 1 tokens"),
        (lambda: AttentionLayer(("a",), [[1]], [[1, 1]]), "must be"),
        (lambda: AttentionLayer(("a",), [[1]], [[1]], unit="2"), "unit"),  # type: ignore[arg-type]
        (lambda: Head([[1]], [[1, 1]], [[1]], [[1]]), "W_K has shape"),
        (
            lambda: AttentionLayer(
                ("a",), [[1, 0]], [[1], [0]], [Head([[1]], [[1]], [[1]], [[1]])]
            ),
            "dimension",
        ),
        (lambda: LAYER.last_logits(("a", "z")), "'z' is unknown"),
        (lambda: LAYER.last_logits(()), "at least one token"),
        (lambda: memorizes(LAYER, []), "no facts"),
        (lambda: memorizes(LAYER, [("a", "b", "a"), ("a", "b", "b")]), "two facts"),
        (lambda: memorizes(LAYER, [("a", "b", "a")], 1), "strictly between"),
    ],
)
def test_bad_layers_are_refused(make, sentence: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(LemmaxError, match=sentence):
        make()


def test_shapes_are_named_errors() -> None:
    with pytest.raises(ShapeError):
        _ = Matrix([[1]]) @ Matrix([[1], [2]])


def test_latex_has_every_matrix() -> None:
    text = LAYER.to_latex()
    for name in ("W_E", "W_U", "W_Q^{1}", "W_K^{1}", "W_V^{1}", "W_O^{1}"):
        assert name in text
