"""Steps that one kind of damage alone makes false, each by a certificate right but for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from lemmax import checker
from lemmax.checker.coded.codebooks import Codes
from lemmax.checker.kinds import float_memorization
from lemmax.checker.language import evidence
from lemmax.constructions import compile_database
from lemmax.constructions.capacity import random_table
from lemmax.constructions.compiler import CompiledByCodes
from lemmax.constructions.compiler.coded.arithmetic import Arithmetic
from lemmax.constructions.compiler.coded.by_codes import by_codes, fact_numbers
from lemmax.constructions.compiler.coded.codes import Code, cheapest_code, families
from lemmax.theory import Database

Certificate = dict[str, Any]
Weights = NDArray[np.float64]
Place = tuple[int | Sequence[int], int]
LINES = Arithmetic.named("bfloat16", logits="float32")
WIDE = Arithmetic.named("bfloat16", logits="float32", residual="float32")


def built(db: Database, code: Code, arithmetic: Arithmetic) -> CompiledByCodes:
    facts = fact_numbers(db)
    return CompiledByCodes(db, by_codes(db, code, arithmetic, 1, facts), facts, None)


def lines(*facts: tuple[str, str, str], shared: int = 0) -> CompiledByCodes:
    """The facts in lines, whether or not another code is smaller."""
    codes = (code for m in (1, 2) for code in families(m, 2, LINES) if code.family == "envelope")
    code = next(code for code in codes if code.shared == shared)
    return built(Database.from_triples(list(facts)), code, LINES)


def asked(layer: CompiledByCodes, **arrays: Weights) -> checker.Verdict:
    changed = replace(layer, coded=replace(layer.coded, **arrays))  # type: ignore[arg-type]
    return checker.check(changed.float_certificate())


def put(array: Weights, *entries: tuple[Place, float]) -> Weights:
    array = array.copy()
    for place, number in entries:
        array[place] = number
    return array


def refused(verdict: checker.Verdict, sentence: str) -> None:
    assert not verdict.holds
    assert sentence in verdict.steps[-1]


def test_a_line_is_finite_normal_and_has_a_slope() -> None:
    layer = lines(("a", "p", "u"))
    token, (first, second) = int(layer.facts[0, 2]), layer.coded.layout.outputs
    empty = np.zeros_like(layer.coded.W_U)

    def column(x: float, y: float) -> checker.Verdict:
        return asked(layer, W_U=put(empty, ((first, token), x), ((second, token), y)))

    assert column(1, 1).holds
    refused(column(1, -1), "has no slope")
    refused(column(1, 2.0**-130), "a weight is not a normal number")
    refused(column(2.0**127, 2.0**127), "the largest logit is not finite")


def test_values_of_two_signs_stay_below_zero_for_each_other() -> None:
    layer = lines(("a", "p", "u"), ("b", "p", "w"))
    (a, _, u), (b, _, w) = layer.facts.tolist()
    out, mark = layer.coded.layout.outputs[0], layer.coded.layout.markers[0]
    W_E = put(layer.coded.W_E, ((a, 0), 1), ((b, 0), -1))
    W_U = put(np.zeros_like(layer.coded.W_U), ((out, u), 1), ((out, w), -1))
    assert asked(layer, W_E=W_E, W_U=W_U).holds
    raised = put(W_U, ((mark, w), 4))  # at a, w has 4 - 1 and u has 1
    refused(asked(layer, W_E=W_E, W_U=raised), "a value of the other sign may have a positive")


def test_magnitudes_grow_with_slopes() -> None:
    """A share can let the steeper line win where x is smaller, which floats are not asked about."""
    layer = lines(("a", "p", "u"), ("b", "q", "w"), shared=2)
    (a, _, u), (b, _, w) = layer.facts.tolist()
    place = layer.coded.layout
    W_E = put(layer.coded.W_E, ((a, 0), 4), ((a, 2), 0), ((b, 1), 1), ((b, 2), 128))
    lower = ((place.outputs[0], u), 1), ((place.outputs[0], w), 2), ((place.outputs[2], w), 1)
    W_U = put(np.zeros_like(layer.coded.W_U), *lower, ((place.markers[0], w), -8))
    refused(asked(layer, W_E=W_E, W_U=W_U), "magnitudes do not grow with the slopes")


def test_predicates_and_keys_without_markers() -> None:
    layer = built(random_table(30, 3, 90), cheapest_code(1 << 16, 3, WIDE), WIDE)
    coded, (key, *_) = layer.coded, layer.facts[0].tolist()
    assert coded.code.family == "unmarked"
    assert asked(layer).holds
    hot = next(j for j in coded.layout.hot if j is not None)
    first, second, _ = queries = list(coded.queries)

    def entry(place: Place, number: float) -> checker.Verdict:
        return asked(layer, W_E=put(coded.W_E, (place, number)))

    refused(entry((first, hot), 3), "no power of two from 16 on")
    refused(entry((first, hot), 8), "no power of two from 16 on")
    refused(entry((second, 0), 3), "predicate 1 is not as it should be")
    refused(entry((key, 0), 0.5), "a key has an entry that is not an integer")
    large = coded.W_E.copy()
    large[queries] *= 2.0**60
    refused(asked(layer, W_E=large), "the scores of predicates are not finite")


def test_markers_are_powers_of_two_and_probabilities_need_integers() -> None:
    layer = compile_database(random_table(30, 4, 400), "9/10", dtype="bfloat16", logits="float32")
    coded = layer.coded
    assert coded.code.family == "integers"
    W_E = put(coded.W_E, ((coded.queries[0], coded.layout.markers[0]), 3))
    refused(asked(layer, W_E=W_E), "predicate 0 has no power of two at the marker")
    sure = compile_database(random_table(60, 2, 100), dtype="bfloat16").float_certificate()
    assert checker.check(sure).holds
    refused(checker.check({**sure, "tau": "9/10"}), "only integer codes have margins")


def test_over_the_reals_attention_is_sharp_enough_to_tell_codes_apart() -> None:
    """Heads attend with exp(-g) to another token: g = 0 is as far off as the codes are large."""
    certificate = compile_database(random_table(60, 2, 100), dtype="bfloat16").float_certificate()
    fields = ("arithmetic", "code", "arrays", "facts")
    layer = float_memorization.read({name: certificate[name] for name in fields})
    for gain, sharp in ((128, True), (0, False)):
        codes = Codes(layer, 1, gain, sorted(set(layer.arrays["facts"].entries[2::3])))
        assert codes.columns().ok
        assert codes.real().ok is sharp


def head(width: int) -> Certificate:
    """Attention to the tokens whose first coordinate is larger; what is seen is added."""
    one = [[str(int(i == j)) for j in range(width)] for i in range(width)]
    first = [[str(int(i == 0))] for i in range(width)]
    return {"W_Q": first, "W_K": [*map(list, zip(*first, strict=True))], "W_V": one, "W_O": one}


def about(kind: str, W_E: list[list[str]], W_U: list[list[str]], **more: Any) -> Certificate:
    width = len(W_U)
    layer = {"W_E": W_E, "W_U": W_U, "heads": [head(width)], "tokens": ["0", "1"], "unit": "1"}
    told = {"format": "lemmax-certificate", "version": 1, "kind": kind}
    return told | {"layer": layer, "pos": [["0"] * width] * 2} | more


def test_a_tie_of_irrational_logits_is_undecided_and_does_not_hold() -> None:
    layer = [["1", "1"], ["0", "0"]], [["1", "0"], ["0", "1"]]  # both coordinates are the same
    tie = about("aot-memorization", *layer, pairs=[[[1, 0], 0]])
    refused(checker.check(tie), "pair 0: undecided at")


def test_a_normalising_sum_may_vanish_modulo_the_prime() -> None:
    """1 + z, for z = -1."""
    p = 2147483629
    minor = {"matrix": "W_V A'", "at_least": 1, "rows": [0], "columns": [0], "sequences": [[1, 0]]}
    fine = about("aot-rank", [["1"], ["0"]], [["1", "0"]], prime=str(p), point="2", **minor)
    assert checker.check(fine).holds
    refused(checker.check({**fine, "point": str(p - 1)}), "a normalising sum is zero mod")


def test_evidence_that_is_undecided_or_checks_nothing_ends_the_check(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = files("lemmax.constructions") / "certificates" / "dana" / "any-dimension.json"
    shipped, outside = (json.loads(path.read_text(encoding="utf-8")) for _ in range(2))
    assert checker.check(shipped).holds
    outside["evidence"][0]["lower"]["blocks"][0]["nodes"][1]["mu"] = ["0", "2", "0"]
    refused(checker.check(outside), "evidence[0]: undecided: a leaf")
    known: Callable[..., Any] = evidence._KINDS["kl-interval"][1]
    monkeypatch.setitem(evidence._KINDS, "kl-interval", (lambda data: iter(()), known))
    refused(checker.check(shipped), "evidence[0]: kl-interval: nothing was checked")


def test_a_definition_that_is_undecided_ends_the_check() -> None:
    tensor = [[["1", "0"], ["0", "1"]], [["0", "1"], ["-1", "0"]]]  # rank 2 over C, 3 over R
    text = "given T: tensor; let n = {}; assume n == 1; conclude slices(T) == 2"
    told: Certificate = {"format": "lemmax-certificate", "version": 2, "kind": "witness"}
    told |= {"claim": "a/b", "instance": {"T": tensor}}
    decided = told | {"statement": text.format("indicator(tensor_rank(T) >= 2)")}
    assert checker.check(decided).holds
    undecided = told | {"statement": text.format("indicator(tensor_rank(T) == 3)")}
    refused(checker.check(undecided), "n is undecided: the condition of an indicator")
