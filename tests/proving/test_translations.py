"""A written theorem says what its certificate says; whatever else a file says is refused."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from typing import Any

import pytest

from lemmax.constructions import shipped
from lemmax.theory.errors import LemmaxError
from lemmax.theory.proving import literals, numbers, precision, theorem, translations

ONE_OF_EACH = (
    "wong/proposition-3.6",
    "wong/example-2.2-rank",
    "wong/example-3.3-product",
    "lemmax/saturated-table",
    "wong/proposition-3.7",
    "wong/exclusive-or-all-dimensions-one",
    "lemmax/compiler-two-heads",
    "mahdavi/quick-check-3",
    "mahdavi/tightness-memorization-mmm",
    "wong/argmax-rank-one",
    "mahdavi/similar-contexts",
    "mahdavi/general-position-limit",
    "wong/rank-of-product",
    "wong/example-2.2",
    "lemmax/layer-rank-generic",
    "dana/figure-4-bound",
    "dana/corollary-1",
    "wong/remark-3.4-argmax",
)


def written(name: str) -> tuple[str, dict[str, Any]]:
    certificate = dict(shipped.load(name))
    return translations.file_of({name: certificate}), {theorem.module_name(name): certificate}


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_every_number_of_the_data_is_compared(name: str) -> None:
    """Changing any one number of the data, or of the statement, is noticed."""
    text, certificates = written(name)
    start = text.index("Module ")
    end = text.index("\nProof.", start)
    # numbers in comments, and the names of numbered modules, are not data
    places = [
        m
        for m in re.finditer(r"(?<![\w.])\d+", text[start:end])
        if not _in_comment(text, start + m.start()) and not _under_zeros(text[start + m.end() :])
    ]
    assert len(places) > 3
    for match in places[:: max(1, len(places) // 25)]:
        at, stop = start + match.start(), start + match.end()
        changed = f"{text[:at]}{int(match[0]) + 1}{text[stop:]}"
        with pytest.raises(LemmaxError):
            translations.compare(changed, certificates)


def _under_zeros(rest: str) -> bool:
    """Whether a denominator stands here, and what it divides, which comes next, is zero."""
    numerators = re.match(r"%positive\.\nDefinition \w+ : [^=]*:=\n([^%]*)%bZ", rest)
    return numerators is not None and not re.search(r"[1-9]", numerators[1])


def _in_comment(text: str, at: int) -> bool:
    return text.rfind("(*", 0, at) > text.rfind("*)", 0, at)


@pytest.mark.parametrize(
    "line",
    [
        "Axiom oops : False.",
        "Notation rank := (fun _ => 0).",
        "Definition argmax := 0.",
        "Lemma more : True. Proof. by []. Qed.",
        "Module other. End other.",
    ],
)
def test_nothing_else_may_stand_in_a_file(line: str) -> None:
    text, certificates = written("wong/argmax-rank-one")
    changed = text.replace("Theorem holds", f"{line}\nTheorem holds")
    assert changed != text
    with pytest.raises(LemmaxError):
        translations.compare(changed, certificates)
    with pytest.raises(LemmaxError):
        translations.compare(text + line + "\n", certificates)


def test_another_certificate_is_not_what_the_file_says() -> None:
    text, certificates = written("wong/example-2.2-rank")
    (name,) = certificates
    for other in ("wong/example-2.4-rank", "wong/example-3.3-slices"):
        with pytest.raises(LemmaxError):
            translations.compare(text, {name: dict(shipped.load(other))})


def test_facts_out_of_range_are_refused() -> None:
    text, certificates = written("wong/exclusive-or-all-dimensions-one")
    facts = re.search(r"Definition facts : [^:]*:=\s+\[:: \((\d+), ", text)
    assert facts is not None
    changed = text[: facts.start(1)] + "9" + text[facts.end(1) :]
    with pytest.raises(LemmaxError, match="does not say"):
        translations.compare(changed, certificates)


def test_a_certificate_that_does_not_hold_is_refused() -> None:
    certificate = dict(shipped.load("wong/proposition-3.6"))
    certificate["rank"] = 3
    with pytest.raises(LemmaxError, match="does not hold"):
        translations.write_module("a", certificate)


def test_what_has_no_translation_says_so() -> None:
    for name, why in (
        ("dana/proposition-3", "kind kl-interval have no translation into Coq: a divergence"),
        ("dana/any-dimension", "needs logarithms and limits"),
        ("lemmax/field-dependence", "names the field C"),
        ("wong/large-tau-large-c", "no translation into Coq"),
    ):
        with pytest.raises(theorem.NotTranslated, match=why):
            translations.write_module("a", dict(shipped.load(name)))
    two_units = json.loads(json.dumps(shipped.load("wong/equation-15-dimensions")))
    two_units["instance"]["L"]["layer"]["unit"] = "ln2"
    with pytest.raises(theorem.NotTranslated, match="one exponential"):
        translations.write_module("a", two_units)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("wong/equation-15", "<->", "/\\"),
        ("wong/equation-15", "memorizes_values_at exp L D", "memorizes_values exp L D"),
        ("wong/equation-15", "(rank_is (entries (table_tensor R D)) r_1)", "(0%:R = 0%:R :> R)"),
        ("wong/equation-15", "r_1%:R <= r_2%:R", "r_2%:R <= r_1%:R"),
        ("wong/equation-15", "layer_tensor exp L D", "logits_tensor exp L D"),
        ("wong/equation-15", "natural_exponential", "binary_exponential"),
        ("wong/example-2.2", "(equal_facts D facts_1)", "(equal_facts D D)"),
        ("wong/remark-3.4-argmax", "\\/", "/\\"),
        ("mahdavi/general-position-limit", "(kruskal_is (all_tokens A) r_1)", "(shared A)"),
        ("mahdavi/general-position-limit", "Num.min", "Num.max"),
        ("lemmax/corollary-1-narrow-heads", "binary_exponential", "natural_exponential"),
    ],
)
def test_another_statement_is_noticed(name: str, old: str, new: str) -> None:
    text, certificates = written(name)
    start = text.index("Theorem holds")
    assert old in text[start:]
    changed = text[:start] + text[start:].replace(old, new, 1)
    with pytest.raises(LemmaxError):
        translations.compare(changed, certificates)


@pytest.mark.parametrize("name", ["rank", "R", "exp", "r_1", "facts_1"])
def test_an_object_bears_no_name_that_the_statement_uses(name: str) -> None:
    certificate = {
        "format": "lemmax-certificate",
        "version": 2,
        "kind": "refutation",
        "claim": "own/claim",
        "statement": f"given {name}: matrix; conclude rank({name}) <= 1",
        "instance": {name: [["1", "0"], ["0", "1"]]},
    }
    with pytest.raises(theorem.NotTranslated, match="means something else"):
        translations.write_module("a", certificate)
    certificate |= {"statement": "given M: matrix; conclude rank(M) <= 1"}
    certificate |= {"instance": {"M": [["1", "0"], ["0", "1"]]}}
    assert "(~ ((rank M) <= 1%:R :> R))" in translations.write_module("a", certificate)


def test_a_variable_is_determined_once() -> None:
    """A rank that nothing determines, or that something else does, is refused."""
    text, certificates = written("wong/rank-of-product")
    for old, new in (("exists r_1 r_2", "exists r_2 r_1"), ("exists r_1 ", "exists r_0 r_1 ")):
        with pytest.raises(LemmaxError):
            translations.compare(text.replace(old, new, 1), certificates)


def test_precision_is_the_least_that_decides() -> None:
    """One token with logit 1 before one with 0: probability e / (1 + e) = .7310585…"""
    ones = {f"d{x}": 1 for x in "EUQKVO"}
    weights = ones | {"E": [[1], [0]], "U": [[1, 0]]} | {x: [[[0]]] for x in "QKVO"}
    facts = [(0, 0, 0)]
    assert precision.needed(weights, facts) == precision.LADDER[0]
    assert precision.needed(weights, facts, Fraction(73, 100)) == precision.LADDER[0]
    close = Fraction(731058578, 10**9)  # e / (1 + e) is larger by 6e-10
    assert precision.needed(weights, facts, close) > precision.LADDER[0]
    with pytest.raises(theorem.NotTranslated, match="too close"):
        precision.needed(weights, facts, Fraction(74, 100))
    assert precision.needed(weights, facts, Fraction(1), [True, False]) == precision.LADDER[0]


def test_dependent_rows_have_a_relation() -> None:
    rows = numbers.rows_of([["1", "2"], ["3", "1/2"], ["5", "7"]])
    found = numbers.relation(rows)
    assert found is not None
    assert any(found)
    assert [sum(x * row[j] for x, row in zip(found, rows, strict=True)) for j in (0, 1)] == [0, 0]
    assert numbers.relation(rows[:2]) is None


def test_negation_and_order_of_a_comparison_are_read() -> None:
    text, certificates = written("wong/argmax-rank-one")
    assert "(~ ((rank (argmax M)) <= 2%:R :> R))" in text
    for old, new in ((" <= 2%:R", " < 2%:R"), ("(~ (", "( ("), ("argmax M", "transpose M")):
        with pytest.raises(LemmaxError):
            translations.compare(text.replace(old, new), certificates)


@pytest.mark.parametrize("text", ["[:: 1; 2", "1 2", "[:: f]", "(1, 2", "[:: 1, 2]", ""])
def test_what_is_no_value_is_refused(text: str) -> None:
    with pytest.raises(LemmaxError):
        literals.read(text)


def test_factors_go_through_the_rank() -> None:
    rows = [[Fraction(i * j + (i == j == 2)) for j in range(4)] for i in range(5)]
    left, right = numbers.factors(rows)
    assert len(right) == 2
    product = [
        [sum(x * row[j] for x, row in zip(line, right, strict=True)) for j in range(4)]
        for line in left
    ]
    assert product == rows
