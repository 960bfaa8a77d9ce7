"""Edges of models with trained weights: shapes, scales, steps, and the errors of attention."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from benchmarks.corpus import counted
from benchmarks.random_transformers import packed

from lemmax.checker import NotACertificate, check
from lemmax.checker.coded.arrays import tables
from lemmax.checker.kinds import transformer_memorization
from lemmax.checker.models.functions import Functions
from lemmax.checker.models.network import Arrays, Attention, Network
from lemmax.checker.models.vectors import Ball

BITS = 32
ONE = 1 << BITS
ATTENTION = {"type": "attention", "norm": "none", "eps": "0", "heads": 1, "scale_squared": "1"}
MLP = {"type": "mlp", "norm": "none", "eps": "0", "activation": "relu"}
NORM = {"type": "norm", "norm": "none", "eps": "0"}
SHAPES = {
    "attention": {"W_Q": [3, 4], "W_K": [3, 4], "W_V": [3, 2], "W_O": [2, 3]}
    | {"b_Q": [4], "b_K": [4], "b_V": [2], "b_O": [3]},
    "mlp": {"W_in": [3, 4], "b_in": [4], "W_out": [4, 3], "b_out": [3]},
    "norm": {},
}


def ones(shapes: dict[str, list[int]]) -> Any:
    sizes = {name: shape[0] * (shape[1] if shape[1:] else 1) for name, shape in shapes.items()}
    return packed({name: (shape, [1.0] * sizes[name]) for name, shape in shapes.items()})


def network(steps: Sequence[Any], shapes: dict[str, list[int]], positions: str = "none") -> Network:
    """A model of width 3 with 2 tokens; all weights are one."""
    given = {"W_E": [2, 3], "W_U": [3, 2]} | shapes
    model = {"mask": "causal", "positions": positions, "unembedding": "own", "steps": list(steps)}
    return Network(model, Arrays(tables(ones(given))), BITS)


def one_step(step: Any, **changes: list[int]) -> Network:
    shapes = SHAPES[step["type"]] | changes
    return network([step], {f"steps.0.{name}": shape for name, shape in shapes.items()})


@pytest.mark.parametrize(
    ("step", "name", "shape", "wanted"),
    [
        (ATTENTION, "W_Q", [4, 4], "3 x any"),
        (ATTENTION, "W_K", [4, 4], "3 x 4"),
        (ATTENTION, "W_K", [3, 2], "3 x 4"),
        (ATTENTION, "W_V", [2, 2], "3 x any"),
        (ATTENTION, "W_O", [4, 3], "2 x 3"),
        (ATTENTION, "W_O", [2, 2], "2 x 3"),
        (ATTENTION, "b_Q", [3], "4"),
        (ATTENTION, "b_V", [4], "2"),
        (MLP, "W_in", [2, 4], "3 x any"),
        (MLP, "b_in", [3], "4"),
        (MLP, "W_out", [3, 3], "4 x 3"),
        (MLP, "W_out", [4, 4], "4 x 3"),
        (MLP, "b_out", [4], "3"),
        (NORM | {"norm": "rms"}, "gain", [2], "3"),
        (NORM | {"norm": "layer"}, "bias", [4], "3"),
    ],
)
def test_the_arrays_of_a_step_fit_together(
    step: Any, name: str, shape: list[int], wanted: str
) -> None:
    with pytest.raises(
        NotACertificate, match=rf"^steps\.0\.{name} must have the shape {wanted}\.$"
    ):
        one_step(step, **{name: shape})


@pytest.mark.parametrize(
    ("name", "shape", "wanted"),
    [
        ("W_E", [0, 3], "any x any"),
        ("W_E", [2, 0], "any x any"),
        ("W_E", [6], "any x any"),
        ("W_U", [3, 3], "3 x 2"),
        ("W_pos", [5, 2], "any x 3"),
        ("b_U", [3], "2"),
    ],
)
def test_the_arrays_of_a_model_fit_together(name: str, shape: list[int], wanted: str) -> None:
    network([], {"W_pos": [5, 3], "b_U": [2]}, "learned")
    with pytest.raises(NotACertificate, match=f"^{name} must have the shape {wanted}.$"):
        network([], {"W_pos": [5, 3], "b_U": [2], name: shape}, "learned")


@pytest.mark.parametrize("name", ["gain", "bias"])
def test_no_norm_has_no_gain_and_no_bias(name: str) -> None:
    told = f"^The arrays have 'steps.0.{name}', which the model has no place for.$"
    with pytest.raises(NotACertificate, match=told):
        one_step(NORM, **{name: [3]})
    one_step(NORM | {"norm": "rms"}, **{name: [3]})


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"heads": 2**16}, r"heads must be an integer in 0\.\.65535, not 65536"),
        ({"heads": 0}, "heads must divide the columns of W_Q and of W_V"),
        ({"heads": 4}, "heads must divide the columns of W_Q and of W_V"),
        ({"scale_squared": "one"}, "scale_squared is 'one', which is not an exact number"),
        ({"scale_squared": "0"}, r"scale_squared must be positive and at most 2\^40"),
        ({"scale_squared": "-1"}, r"scale_squared must be positive and at most 2\^40"),
        ({"scale_squared": str(2**40 + 1)}, r"scale_squared must be positive and at most 2\^40"),
    ],
)
def test_heads_and_scales_have_their_range(changes: Any, told: str) -> None:
    with pytest.raises(NotACertificate, match=rf"^steps\.0\.{told}\.$"):
        one_step(ATTENTION | changes)


def test_heads_divide_the_columns_of_queries_as_well_as_of_values() -> None:
    """Of 4 and 2 columns both are even; with 4 and 3, or 3 and 2, one of them is not."""
    one_step(ATTENTION | {"heads": 2})
    for changes in (
        {"W_V": [3, 3], "W_O": [3, 3], "b_V": [3]},
        {x: [3, 3] for x in ("W_Q", "W_K")},
    ):
        biases = {"b_Q": [3], "b_K": [3]} if "W_Q" in changes else {}
        one_step(ATTENTION, **changes, **biases)
        with pytest.raises(NotACertificate, match="heads must divide"):
            one_step(ATTENTION | {"heads": 2}, **changes, **biases)


@pytest.mark.parametrize(
    ("square", "root", "off"),
    [
        ("9/4", 3 * ONE // 2, 0),
        ("1", ONE, 0),
        (str(2**40), 2**20 * ONE, 0),
        ("1/3", 2479700524, 1),  # the root of 2^64 / 3 is 2479700524.506...
    ],
)
def test_a_scale_is_exact_where_its_root_is(square: str, root: int, off: int) -> None:
    assert off or root**2 == Fraction(square) * ONE**2
    assert root**2 <= Fraction(square) * ONE**2 < (root + 1) ** 2
    (attention,) = one_step(ATTENTION | {"scale_squared": square}).steps
    assert isinstance(attention, Attention)
    assert attention.scale == (root, off)


def test_a_model_has_a_hundred_steps_at_most() -> None:
    assert len(network([NORM] * 100, {}).steps) == 100
    with pytest.raises(NotACertificate, match=r"^model\.steps are more than 100\.$"):
        network([NORM] * 101, {})


def test_no_prompts_take_no_room() -> None:
    net = network([], {})
    with counted() as bill:
        assert net.prompts([], "facts") == []
    assert bill.sums == {"work": 0, "memory": 0}


# --- the errors of attention --------------------------------------------------------------------


class Shares(Functions):
    """The softmax that is given, whatever the scores are; these are kept."""

    def __init__(self, *shares: tuple[int, int]) -> None:
        super().__init__(BITS)
        self.shares, self.scores = list(shares), list[tuple[int, int]]()

    def softmax(self, scores: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        self.scores += scores
        return self.shares


def attention(functions: Functions, square: str = "1") -> Attention:
    """One head of width one, in one dimension; all its maps are the identity."""
    arrays = Arrays(tables(ones({f"W_{letter}": [1, 1] for letter in "QKVO"})))
    arrays.left = {f"steps.0.{name}": table for name, table in arrays.left.items()}
    return Attention(ATTENTION | {"scale_squared": square}, arrays, "steps.0", 1, functions)


@pytest.mark.parametrize("radius", [0, 1, 7, ONE])
def test_a_score_has_a_rounding_of_each_product(radius: int) -> None:
    """One unit for W_Q, one for the scale, one for the product with the key, which is one."""
    functions = Shares((ONE, 0))
    attention(functions)(Ball([5 * ONE], radius), [(Ball([ONE], 0), Ball([ONE], 0))])
    assert functions.scores == [(5 * ONE, radius + 3)]


def test_a_wide_query_times_a_root_that_is_cut_off_is_enclosed() -> None:
    """x in [-2^20, 2^20] times the root of 1/3, which is 2479700524.506 / 2^32."""
    functions = Shares((ONE, 0))
    attention(functions, "1/3")(Ball([0], ONE << 20), [(Ball([ONE], 0), Ball([ONE], 0))])
    ((center, radius),) = functions.scores
    assert center == 0
    assert 3 * radius**2 >= (ONE << 20) ** 2


def test_a_mean_has_the_errors_of_shares_and_of_values() -> None:
    """A share in [1/4, 3/4] of a value in [-8, 8] is at most 6, and two products are rounded.

    A share in [1/4, 3/4] of 8 is in [2, 6], which is 4 ± 2.
    """
    call = attention(Shares((ONE // 2, ONE // 4)))
    mean = call(Ball([0], 0), [(Ball([ONE], 0), Ball([0], 8))])
    assert mean == Ball([0], 6 + 2)
    mean = call(Ball([0], 0), [(Ball([ONE], 0), Ball([8 * ONE], 0))])
    assert mean == Ball([4 * ONE], 2 * ONE + 2)


# --- facts --------------------------------------------------------------------------------------


def certificate(
    steps: Sequence[Any] = (), W_U: Sequence[float] = (1.0, -1.0), bits: int = BITS, **fields: Any
) -> Any:
    """One dimension, all tokens are embedded as one: the logits are W_U, if there are no steps."""
    arrays = {"W_E": ([len(W_U), 1], [1.0] * len(W_U)), "W_U": ([1, len(W_U)], list(W_U))}
    model = {"mask": "causal", "positions": "none", "unembedding": "own", "steps": list(steps)}
    fields = {"model": model, "bits": bits, "margin": "0", "facts": [[[0], 0]]} | fields
    head = {"format": "lemmax-certificate", "version": 1, "kind": "transformer-memorization"}
    return head | {"arrays": packed(arrays)} | fields


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"bits": 31}, "bits must be at least 32"),
        ({"margin": "-1"}, "margin must not be negative"),
        ({"ignored": "b"}, "ignored must be a list, not 'b'"),
        ({"ignored": ["b", 1]}, "ignored must be names"),
        ({"W_U": [1.0]}, "W_E must have two tokens at least"),
    ],
)
def test_what_is_refused_of_a_fact(fields: Any, told: str) -> None:
    with pytest.raises(NotACertificate, match=f"^{told}.$"):
        check(certificate(**fields))


def test_a_lead_is_known_up_to_twice_the_radius() -> None:
    """10 - 5, and both are off by two at most."""
    margin = transformer_memorization.margin
    assert margin(Ball([10, 3, 5], 2), 0) == (1, 9, 2)
    assert margin(Ball([10, 3, 5], 0), 2) == (-5, -5, 0)
    assert margin(Ball([4, 4], 1), 1) == (-2, 2, 0)


@pytest.mark.parametrize(
    ("units", "said"),
    [
        (-3, "the answer's logit exceeds the other by more than"),
        (-2, "fact 0: no margin against token 1 at a precision of 32 bits"),
        (0, "fact 0: no margin against token 1 at a precision of 32 bits"),
        (1, "fact 0: no margin against token 1 at a precision of 32 bits"),
        (2, "fact 0: the lead over token 1 is not larger than the margin"),
    ],
)
def test_a_margin_is_exceeded_strictly(units: int, said: str) -> None:
    """The lead is 2, known up to 2 units, for each logit is known up to one: 2 ± 2 / 2^32."""
    verdict = check(certificate(margin=str(2 + Fraction(units, ONE))))
    assert verdict.steps[-1].startswith(said)
    assert verdict.holds is (units == -3)


def test_each_fact_that_is_open_is_told() -> None:
    """In one dimension there is no variance."""
    step = NORM | {"norm": "layer"}
    data = certificate([step], facts=[[[0], 0], [[1], 0]])
    data = {name: data[name] for name in ("model", "arrays", "bits", "margin", "facts")}
    steps = list(itertools.islice(transformer_memorization.check(data), 2))
    why = "the variance before a norm may be zero at this precision, 32 bits"
    assert steps == [(False, f"fact 0: {why}"), (False, f"fact 1: {why}")]


def test_five_hundred_letters_of_what_is_left_out_are_told() -> None:
    """Names of 9 letters, in quotes, and a comma and a blank: 13 letters each."""
    verdict = check(certificate(ignored=[f"name {i:04}" for i in range(50)]))
    names = ", ".join(f"'name {i:04}'" for i in range(50))
    assert verdict.steps[1] == f"left out of the model by whoever made this: {names[:500]}"


def test_the_work_on_logits_is_foreseen(monkeypatch: pytest.MonkeyPatch) -> None:
    """For each fact and coordinate: one, and a product of a number and of a row.

    The number has 250 bits; of five weights with 251 bits each field of the row takes
    251 + 1 + 1 + 250 + 24 bits, that is 66 bytes: 5 · 66 · 250 / 7500 = 11.
    """
    seen = list[Any]()
    monkeypatch.setattr(transformer_memorization, "foresee", lambda *given: seen.append(given))
    W_U, facts = [1.0, 0.0, 0.0, 0.0, 0.0], [[[0], 0], [[1], 0], [[2], 0]]
    assert check(certificate(W_U=W_U, bits=250, facts=facts)).holds
    assert seen == [("The logits", 3 * 1 * (1 + 11))]
