"""memorization: every fact against a forward pass in flint's ball arithmetic."""

from __future__ import annotations

import copy
import random
from fractions import Fraction
from typing import Any

import pytest
from flint import arb, fmpq

from lemmax import checker
from lemmax.checker import NotACertificate, check, enclosures

Certificate = dict[str, Any]


def exactly(x: Fraction) -> arb:
    return arb(fmpq(x.numerator, x.denominator))


def layers(make: Any, count: int) -> list[dict[str, Any]]:
    rng = random.Random(7)
    units = ["1", "1", "ln2"]
    return [
        make.random_layer(
            rng, rng.randint(2, 7), rng.randint(1, 3), rng.randint(0, 3), units[i % 3]
        )
        for i in range(count)
    ]


def test_argmax_agrees_with_the_ball_arithmetic(make: Any) -> None:
    """Every value for every question: those that ball arithmetic refutes are rejected."""
    false = true = 0
    for layer in layers(make, 30):
        n = len(layer["tokens"])
        for q in range(n):
            k = (3 * q + 1) % n
            p = make.arb_probabilities(layer, k, q)
            for v in range(n):
                verdict = check(make.memorization(layer, [[k, q, v]]))
                if any(p[t] > p[v] for t in range(n)):
                    assert not verdict.holds
                    false += 1
                elif all(p[v] > p[t] for t in range(n) if t != v):
                    assert verdict.holds, verdict
                    true += 1
                else:  # balls that overlap at 400 bits: here, equal logits
                    assert not verdict.holds
    assert false >= 300
    assert true >= 80


def test_probability_agrees_with_the_ball_arithmetic(make: Any) -> None:
    """τ a little below the probability holds, a little above does not."""
    false = 0
    for i, layer in enumerate(layers(make, 24)):
        n = len(layer["tokens"])
        k, q = i % n, (i // 3) % n
        p = make.arb_probabilities(layer, k, q)
        for v in range(n):
            for digits in (1, 6, 40):
                tau = near(p[v], digits)
                for sign in (-1, 1):
                    moved = tau + sign * Fraction(2, 10**digits) * tau
                    if not 0 < moved < 1:
                        continue
                    verdict = check(make.memorization(layer, [[k, q, v]], str(moved)))
                    if p[v] < exactly(moved):
                        assert not verdict.holds
                        false += 1
                    elif p[v] > exactly(moved):
                        assert verdict.holds, (verdict, digits)
    assert false >= 150


def near(p: arb, digits: int) -> Fraction:
    """A rational within a relative 10^-digits of p."""
    mantissa, exponent = p.mid().man_exp()
    exact = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    scale = 1
    while exact * scale < 10**digits:
        scale *= 10
    return Fraction(round(exact * scale), scale)


def test_one_false_fact_among_many_is_found(make: Any) -> None:
    rng = random.Random(11)
    rejected = 0
    while rejected < 100:
        layer = make.random_layer(rng, 8, 3, 1)
        facts = []
        for k, q in ((k, q) for k in range(8) for q in range(8)):
            p = make.arb_probabilities(layer, k, q)
            best = max(range(8), key=lambda t: float(p[t].mid()))
            if all(p[best] > p[t] for t in range(8) if t != best):
                facts.append([k, q, best])
        assert check(make.memorization(layer, facts)).holds
        for i, (k, q, v) in enumerate(facts[:34]):
            false = [*facts[:i], [k, q, (v + 1) % 8], *facts[i + 1 :]]
            verdict = check(make.memorization(layer, false))
            assert not verdict.holds
            assert verdict.steps[-1].startswith(f"fact {i} ")
            rejected += 1


def flat(tokens: int, d: int = 1) -> dict[str, Any]:
    """A layer whose logits are all zero."""
    return {
        "tokens": [str(i) for i in range(tokens)],
        "unit": "1",
        "W_E": [["1"] * d] * tokens,
        "W_U": [["0"] * tokens] * d,
        "heads": [],
    }


def test_ties_are_decided_exactly(make: Any) -> None:
    for n in (2, 3, 10):
        assert not check(make.memorization(flat(n), [[0, 1, 0]])).holds
        assert check(make.memorization(flat(n), [[0, 1, 0]], f"1/{n}")).holds
        just_above = Fraction(1, n) + Fraction(1, 10**200)
        assert not check(make.memorization(flat(n), [[0, 1, 0]], str(just_above))).holds


def test_equal_logits_through_different_columns_are_no_strict_maximum(make: Any) -> None:
    layer = flat(3, 2)
    layer["W_U"] = [["2", "1", "0"], ["0", "1", "-5"]]  # x = (1, 1): logits 2, 2, -5
    for v in (0, 1):
        verdict = check(make.memorization(layer, [[0, 1, v]]))
        assert not verdict.holds
        assert "undecided" not in verdict.steps[-1]


def test_margins_far_below_the_first_precision_are_decided(make: Any) -> None:
    """The gap is 2σ(s) - c with c within 10^-60 of 2σ(s) on either side."""
    low, high = enclosures.sigmoid(Fraction(1), "1", 200)
    for c, answer in ((Fraction(low - 1, 2**200), True), (Fraction(high + 1, 2**200), False)):
        layer = {
            "tokens": ["k", "q"],
            "unit": "1",
            "W_E": [["1", "0"], ["0", "1"]],
            # W_QK has score 1 for k and 0 for q; W_V W_O moves (1, 0) to (1, 0) and (0, 1) to 0
            "W_U": [["1", "0"], ["0", str(c)]],
            "heads": [
                {
                    "W_Q": [["0"], ["1"]],
                    "W_K": [["1", "0"]],
                    "W_V": [["1"], ["0"]],
                    "W_O": [["1", "0"]],
                }
            ],
        }
        assert check(make.memorization(layer, [[0, 1, 0]])).holds is answer
        assert check(make.memorization(layer, [[0, 1, 1]])).holds is not answer


def test_opposite_scores_cancel_exactly(make: Any) -> None:
    """σ(s) + σ(-s) = 1: two heads whose sum is rational and ties with a third logit."""
    head = {"W_Q": [["0"], ["1"]], "W_V": [["1"], ["0"]], "W_O": [["1", "0"]]}
    layer = {
        "tokens": ["k", "q"],
        "unit": "1",
        "W_E": [["1", "0"], ["0", "1"]],
        "W_U": [["1", "0"], ["0", "1"]],
        "heads": [head | {"W_K": [["1", "0"]]}, head | {"W_K": [["-1", "0"]]}],
    }
    for v in (0, 1):
        verdict = check(make.memorization(layer, [[0, 1, v]]))
        assert not verdict.holds
        assert "undecided" not in verdict.steps[-1]
    assert check(make.memorization(layer, [[0, 1, 0]], "1/2")).holds


def test_a_tie_beside_a_transcendental_coordinate_is_decided(make: Any) -> None:
    """y = (σ(1), 1, 1): the columns (1, 3, 0) and (1, 0, 3) of W_U differ and tie."""
    head = {
        "W_Q": [["0"], ["1"], ["0"]],
        "W_K": [["1", "0", "0"]],
        "W_V": [["1"], ["0"], ["0"]],
        "W_O": [["1", "0", "0"]],
    }
    layer = {
        "tokens": ["k", "q", "t"],
        "unit": "1",
        "W_E": [["1", "0", "0"], ["0", "1", "1"], ["1", "0", "0"]],
        "W_U": [["1", "1", "0"], ["3", "0", "0"], ["0", "3", "0"]],
        "heads": [head],
    }
    verdict = check(make.memorization(layer, [[0, 1, 0]]))
    assert not verdict.holds
    assert "undecided" not in verdict.steps[-1]
    facts = {"facts": [["k", "q", "k"]]}
    tied = make.refutation("example/tie", [], "memorizes(L, D)", L={"layer": layer}, D=facts)
    assert check(tied).holds


def test_enormous_scores_saturate_without_cost(make: Any) -> None:
    layer: dict[str, Any] = {
        "tokens": ["k", "q"],
        "unit": "1",
        "W_E": [["1", "0"], ["0", "1"]],
        "W_U": [["1", "0"], ["0", "1/2"]],
        "heads": [
            {
                "W_Q": [["0"], ["1"]],
                "W_K": [["0x1p5000", "0"]],
                "W_V": [["1"], ["0"]],
                "W_O": [["1", "0"]],
            }
        ],
    }
    assert check(make.memorization(layer, [[0, 1, 0]])).holds
    layer["heads"][0]["W_K"] = [["-0x1p5000", "0"]]
    assert not check(make.memorization(layer, [[0, 1, 0]])).holds


def test_what_the_precision_cannot_decide_does_not_hold(
    make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(checker.LIMITS, "precision bits", 64)
    low, _ = enclosures.sigmoid(Fraction(1), "1", 200)
    layer = {
        "tokens": ["k", "q"],
        "unit": "1",
        "W_E": [["1", "0"], ["0", "1"]],
        "W_U": [["1", "0"], ["0", str(Fraction(low - 1, 2**200))]],
        "heads": [
            {"W_Q": [["0"], ["1"]], "W_K": [["1", "0"]], "W_V": [["1"], ["0"]], "W_O": [["1", "0"]]}
        ],
    }
    for v in (0, 1):
        verdict = check(make.memorization(layer, [[0, 1, v]]))
        assert not verdict.holds
        assert "undecided" in verdict.steps[-1]
        own = {"hypotheses": [], "conclusion": f"memorizes(L, D) == {v}"}
        facts = {"facts": [["k", "q", "kq"[v]]]}
        refutation = make.envelope(
            "refutation", claim="x/y", statement=own, instance={"L": {"layer": layer}, "D": facts}
        )
        assert not check(refutation).holds
        own["conclusion"] = f"memorizes(L, D) == {1 - v}"
        assert not check(refutation).holds


def test_a_fact_may_ask_about_one_token_twice(make: Any) -> None:
    layer = make.random_layer(random.Random(5), 4, 2, 2)
    p = make.arb_probabilities(layer, 2, 2)
    best = max(range(4), key=lambda t: float(p[t].mid()))
    assert check(make.memorization(layer, [[2, 2, best]])).holds


@pytest.mark.parametrize(
    "facts",
    [
        [],
        [[0, 1]],
        [[0, 1, 2, 3]],
        [[0, 1, 4]],
        [[0, 1, -1]],
        [[0, 1, True]],
        [["a", "f", "a"]],
        [[0, 2, 0], [0, 2, 1]],
        [[0, 2, 0], [0, 2, 0]],
    ],
)
def test_bad_facts_are_refused(valid: dict[str, list[Certificate]], facts: Any) -> None:
    with pytest.raises(NotACertificate):
        check(valid["memorization"][0] | {"facts": facts})


@pytest.mark.parametrize("tau", ["0", "1", "-1/2", "3/2", "0.5", 1, None, "2/4"])
def test_tau_lies_strictly_between_zero_and_one(
    valid: dict[str, list[Certificate]], tau: Any
) -> None:
    with pytest.raises(NotACertificate):
        check(valid["memorization"][0] | {"criterion": {"type": "probability", "tau": tau}})


def test_tokens_are_distinct_and_named(valid: dict[str, list[Certificate]]) -> None:
    for tokens in (["a", "a", "f", "g"], ["", "b", "f", "g"], ["a", "b", "f"], ["a", "b", "f", 3]):
        certificate = copy.deepcopy(valid["memorization"][0])
        certificate["layer"]["tokens"] = tokens
        with pytest.raises(NotACertificate):
            check(certificate)


def test_too_large_layers_are_refused_before_the_work(make: Any) -> None:
    layer = flat(30_000, 3)  # columns in a plane would be compared with their neighbours alone
    layer["W_U"] = [[str(i**power % 30_011) for i in range(30_000)] for power in (1, 2, 3)]
    facts = [[k, q, 0] for k in range(200) for q in range(300)]
    with pytest.raises(NotACertificate, match="work"):
        check(make.memorization(layer, facts))


def test_true_certificates_hold(valid: dict[str, list[Certificate]]) -> None:
    for certificate in valid["memorization"]:
        assert check(certificate).holds, check(certificate)


def test_damaged_certificates_are_refused(
    valid: dict[str, list[Certificate]], damages: Any
) -> None:
    for certificate in valid["memorization"]:
        cases = damages(certificate)
        assert len(cases) >= 100
        for name, damaged in cases:
            with pytest.raises(NotACertificate):
                print(name, check(damaged))
