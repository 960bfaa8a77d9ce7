"""Certificates about transformers with trained weights: flint's balls are the second opinion."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from benchmarks import random_transformers as models
from flint import arb, ctx, fmpq
from jsonschema import Draft202012Validator

from lemmax import checker
from lemmax.checker.coded.arrays import tables
from lemmax.checker.limits import Undecided
from lemmax.checker.models import functions, vectors
from lemmax.checker.models.network import Arrays, Attention, Network
from lemmax.checker.models.vectors import Ball

Certificate = dict[str, Any]
SCHEMA = Path(checker.__file__).parents[1] / "theory/certificates/schemas"
FORMATS = ("F32", "F64", "F16", "BF16")


def network(certificate: Certificate, bits: int) -> Network:
    return Network(certificate["model"], Arrays(tables(certificate["arrays"])), bits)


def encloses(center: int, radius: int, value: arb, bits: int) -> bool:
    gap = value * arb(2) ** bits - center
    return not (gap > radius or gap < -radius)


@pytest.mark.parametrize("bits", [32, 64, 150])
def test_functions_enclose_what_flint_computes(bits: int) -> None:
    ctx.prec = 900
    rng, one = random.Random(bits), 1 << bits
    exact = functions.Functions(bits)
    low, high = functions.pi(bits)
    assert encloses(low, high - low, arb.pi(), bits)
    for spread in (1, 7, 40, 2**-20):
        for _ in range(25):
            x = int(rng.gauss(0, spread) * one)
            real = arb(fmpq(x, one))
            gates = {
                exact.normal: (1 + (real / arb(2).sqrt()).erf()) / 2,
                exact.logistic: 1 / (1 + (-real).exp()),
            }
            for function, value in gates.items():
                low, high = function(x)
                assert not (value * one < low)
                assert not (value * one > high)
                assert high - low <= 3


@pytest.mark.parametrize("name", functions.ACTIVATIONS)
def test_activations_of_a_ball_enclose_those_of_its_points(name: str) -> None:
    """The radius is large here: it moves the value, and with a Lipschitz bound too small it fails.

    The bounds 2/5 and 1/4 are attained, up to little, at 0 by the derivatives of Φ and σ.
    """
    ctx.prec, bits = 300, 64
    one, rng, exact = 1 << bits, random.Random(name), functions.Functions(bits)
    for _ in range(30):
        center, radius = int(rng.gauss(0, 2) * one), int(rng.random() * one)
        image = functions.ACTIVATIONS[name](exact, Ball([center], radius))
        for x in (center - radius, center + radius, center, center + radius // 2):
            a = arb(fmpq(x, one))
            bent = (2 / arb.pi()).sqrt() * (a + arb(fmpq(44715, 10**6)) * a * a * a)
            value = {
                "relu": a if x > 0 else arb(0),
                "gelu": a * (1 + (a / arb(2).sqrt()).erf()) / 2,
                "gelu-tanh": a * (1 + bent.tanh()) / 2,
                "silu": a / (1 + (-a).exp()),
            }[name]
            assert encloses(image.center[0], image.radius, value, bits)


def ends(ball: Ball) -> list[Ball]:
    """The two ends of a ball, as points."""
    return [Ball([c + sign * ball.radius for c in ball.center], 0) for sign in (-1, 1)]


def test_products_of_balls_enclose_those_of_their_ends() -> None:
    """Inner products, and a map whose weights are not exact at this precision: 1/3 and 1/7."""
    bits, rng = 32, random.Random(5)
    W = [1 / 3, -1 / 7, 5 / 7, 2.0**-40]
    table = tables(models.packed({"W": ([2, 2], W)}, "F64"))["W"]
    affine = vectors.Affine(table, None, bits, "W")
    for _ in range(40):
        x, y = (
            Ball([rng.randrange(-(2**50), 2**50) for _ in range(2)], rng.choice([0, 2**20]))
            for _ in range(2)
        )
        center, radius = vectors.inner(x, y, bits)
        image = affine(x)
        for a in ends(x):
            for b in ends(y):
                exact = Fraction(sum(map(int.__mul__, a.center, b.center)), 1 << bits)
                assert abs(exact - center) <= radius
            for j in range(2):
                exact = sum(
                    (c * Fraction(W[2 * i + j]) for i, c in enumerate(a.center)), Fraction(0)
                )
                assert abs(exact - image.center[j]) <= image.radius


@pytest.mark.parametrize(("square", "rational"), [("1/3", False), ("1/4", True), ("7", False)])
def test_a_scale_that_is_no_rational_is_enclosed(square: str, rational: bool) -> None:
    arrays = {"W_E": ([2, 1], [1.0, 2.0]), "W_U": ([1, 2], [1.0, -1.0])}
    arrays |= {f"steps.0.W_{x}": ([1, 1], [1.0]) for x in "QKVO"}
    step = {"type": "attention", "norm": "none", "eps": "0", "heads": 1, "scale_squared": square}
    model = {"mask": "causal", "positions": "none", "unembedding": "own", "steps": [step]}
    (attention,) = network({"model": model, "arrays": models.packed(arrays)}, 64).steps
    assert isinstance(attention, Attention)
    root, off = attention.scale
    exact = Fraction(square) * 2**128
    assert root**2 == exact if rational else root**2 < exact < (root + off) ** 2


def test_logits_are_enclosed() -> None:
    """Every operation, several steps, four formats; the weights of F64 are not exact at 40 bits."""
    wide = 0
    for seed in range(60):
        certificate = models.random_certificate(seed, FORMATS[seed % 4], facts=2)
        prompts = [prompt for prompt, _ in certificate["facts"]]
        for bits in (40, 96):
            for i, ball in network(certificate, bits).logits(prompts):
                if isinstance(ball, Undecided):
                    wide += 1
                    continue
                for center, z in zip(
                    ball.center, models.logits(certificate, prompts[i]), strict=True
                ):
                    assert encloses(center, ball.radius, z, bits)
                if bits == 96:
                    assert ball.radius < 2**60
    assert wide < 10


def test_true_certificates_hold_and_false_ones_do_not() -> None:
    schema = Draft202012Validator(
        json.loads((SCHEMA / "transformer-memorization.schema.json").read_text(encoding="utf-8"))
    )
    held = false = 0
    for seed in range(100, 160):
        certificate = models.random_certificate(seed, FORMATS[seed % 4])
        schema.validate(certificate)
        verdict, truth = checker.check(certificate), models.judged(certificate)
        assert verdict.holds == (truth is True), verdict.steps
        held += verdict.holds
        tokens = models.unpacked(certificate)["W_E"][0][0]
        for i, (_, answer) in enumerate(certificate["facts"]):
            lie = copy.deepcopy(certificate)
            lie["facts"][i][1] = (answer + 1) % tokens
            said = checker.check(lie)
            assert not said.holds
            assert said.steps[-1].startswith(f"fact {i}: ") or truth is not True
            false += 1
    assert held >= 50
    assert false >= 100


def test_the_margin_is_exceeded() -> None:
    certificate = models.random_certificate(3)
    z = models.logits(certificate, certificate["facts"][0][0])
    answer = certificate["facts"][0][1]
    lead = min(float((z[answer] - x).mid()) for j, x in enumerate(z) if j != answer)
    certificate["facts"] = certificate["facts"][:1]
    assert checker.check(certificate | {"margin": str(Fraction(lead * 0.99))}).holds
    said = checker.check(certificate | {"margin": str(Fraction(lead * 1.01))})
    assert not said.holds
    assert "is not larger than the margin" in said.steps[-1]


def test_damaged_certificates_are_refused(
    damages: Callable[[Certificate], list[tuple[str, Certificate]]],
) -> None:
    certificate = next(
        c
        for c in map(models.random_certificate, range(99))
        if {"attention", "mlp"} <= {step["type"] for step in c["model"]["steps"]}
    )
    count = 0
    for name, damaged in damages(certificate):
        with pytest.raises(checker.NotACertificate):
            assert not checker.check(damaged), name
        count += 1
    assert count > 100


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"W_E": ([2, 1], [1.0, float("nan")])}, "W_E has an entry that is not a finite number"),
        ({"W_U": ([2, 1], [1.0, 2.0])}, "W_U must have the shape 1 x 2"),
        ({"b_Z": ([1], [1.0])}, "The arrays have 'b_Z', which the model has no place for"),
        ({"steps.0.W_Q": ([1, 1], [1.0])}, "which the model has no place for"),
        ({"W_E": ([2, 1], [2.0**30, 1.0])}, r"W_U is applied to a vector with an entry beyond"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(change: Any, sentence: str) -> None:
    arrays = {"W_E": ([2, 1], [1.0, -1.0]), "W_U": ([1, 2], [1.0, -1.0])}
    model = {"mask": "causal", "positions": "none", "unembedding": "own", "steps": []}
    fields = {"model": model, "bits": 64, "margin": "0", "facts": [[[1, 0], 0]]}
    head = {"format": "lemmax-certificate", "version": 1, "kind": "transformer-memorization"}
    assert checker.check(head | fields | {"arrays": models.packed(arrays)}).holds
    with pytest.raises(checker.NotACertificate, match=sentence):
        checker.check(head | fields | {"arrays": models.packed(arrays | change)})


def test_too_much_work_is_refused_before_it_is_done() -> None:
    """Ten thousand prompts, 64,000 long products each: foreseen at once."""
    values = [0.5] * 64_000
    arrays = {"W_E": ([1000, 64], values), "W_U": ([64, 1000], values)}
    model = {"mask": "causal", "positions": "none", "unembedding": "own", "steps": []}
    facts = [[[a, b], 0] for a in range(100) for b in range(100)]
    fields = {"model": model, "bits": 2000, "margin": "0", "facts": facts}
    head = {"format": "lemmax-certificate", "version": 1, "kind": "transformer-memorization"}
    certificate = head | fields | {"arrays": models.packed(arrays, "BF16")}
    with pytest.raises(checker.NotACertificate, match="The logits brings the work to"):
        checker.check(certificate)


def test_prompts_share_their_beginnings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three places in common and one per prompt, and the balls are those of each by itself."""
    certificate = next(
        c
        for c in map(models.random_certificate, range(99))
        if c["model"]["mask"] == "causal"
        and c["model"]["positions"] == "none"
        and c["model"]["steps"][-1]["type"] == "attention"
    )
    net, made = network(certificate, 64), 0
    embedded = net.embedded

    def counted(token: int, place: int) -> Ball:
        nonlocal made
        made += 1
        return embedded(token, place)

    monkeypatch.setattr(net, "embedded", counted)
    prompts = [[0, 1, 0, t] for t in range(net.size)]
    shared = dict(net.logits(prompts))
    assert made == 3 + net.size
    assert [shared[i] for i in range(net.size)] == [
        dict(net.logits([prompt]))[0] for prompt in prompts
    ]
