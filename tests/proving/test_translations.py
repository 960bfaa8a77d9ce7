"""A written theorem says what its certificate says; whatever else a file says is refused."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import pytest

from lemmax.constructions import shipped
from lemmax.theory.errors import LemmaxError
from lemmax.theory.proving import literals, numbers, theorem, translations

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
        if not _in_comment(text, start + m.start())
    ]
    assert len(places) > 3
    for match in places[:: max(1, len(places) // 25)]:
        at, stop = start + match.start(), start + match.end()
        changed = f"{text[:at]}{int(match[0]) + 1}{text[stop:]}"
        with pytest.raises(LemmaxError):
            translations.compare(changed, certificates)


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


def test_a_kind_without_a_translation_says_so() -> None:
    with pytest.raises(theorem.NotTranslated, match="witness have no translation"):
        translations.write_module("a", dict(shipped.load("dana/proposition-2-converse")))


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
