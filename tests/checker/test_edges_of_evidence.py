"""Edges of evidence: what it says of an argument, and in which words it is refused."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from lemmax.checker import NotACertificate, check, limits
from lemmax.checker.kinds import kl_interval
from lemmax.checker.language import evidence, instances
from lemmax.checker.language.evidence import Evidence, Known
from lemmax.checker.language.reals import Interval
from lemmax.checker.reading import Matrix
from lemmax.checker.steps import Step

# One context of the distribution (1/3, 1/3, 1/3) on three tokens, which W = 0 and E = 0 encode.
THIRDS = ["1/3", "1/3", "1/3"]
UPPER = {"value": "1", "W": [["0"], ["0"], ["0"]], "E": [["0"]]}
HEAD = {"W_K": [["1"]], "W_Q": [["1"]]}
CONTEXTS = {"contexts": [[["1"]]], "context_of": [0], "queries": [["1"]], "scale": "1"}


def thirds(dual: list[str], W: list[list[str]]) -> dict[str, Any]:
    lower = {"value": "0", "dual": [dual]}
    upper = UPPER | {"W": W}
    return {"kind": "kl-interval", "prior": ["1"], "table": [THIRDS], "d": 1} | {
        "lower": lower,
        "upper": upper,
    }


def known(*bounds: tuple[int, int]) -> Evidence:
    return Evidence({"word": [Known("it", Fraction(a), Fraction(b)) for a, b in bounds]})


def test_the_narrowest_bounds_of_all_evidence_count_in_any_order() -> None:
    for bounds in ([(1, 4), (3, 9), (2, 8)], [(3, 9), (2, 8), (1, 4)], [(2, 8), (1, 4), (3, 9)]):
        cut = known(*bounds).cut("word", Interval(None, None), "it".__eq__)
        assert cut == Interval(Fraction(3), Fraction(4))
    inside = Interval(Fraction(2), Fraction(5))
    assert known((1, 9)).cut("word", inside, "it".__eq__) == inside
    assert known((3, 4)).cut("word", inside, "another".__eq__) == inside


def test_a_tensor_of_halves_is_an_integer_tensor_over_two() -> None:
    """T = (1/2, 3), as the integers (1, 6) over the scale 2, and no others."""
    T = (Matrix([(Fraction(1, 2), Fraction(3))]),)
    assert evidence.same_tensor(T, ([[[1, 6]]], 2))
    assert not evidence.same_tensor(T, ([[[1, 3]]], 2))
    assert not evidence.same_tensor(T, ([[[1, 6]]], 1))
    assert not evidence.same_tensor(T, ([[[1], [6]]], 2))


def test_undecided_evidence_is_the_last_step() -> None:
    """With W = (0, 1, 2) the moments are 1 for thirds, and 0 for the point mass on the first."""
    data = thirds(["1", "0", "0"], [["0"], ["1"], ["2"]])
    found = Evidence()
    said = list(evidence.gather([data, data], found))
    reason = "a dual distribution has other moments than the table"
    assert said == [Step(False, f"evidence[0]: undecided: {reason}")]
    assert not found.known


def test_evidence_of_which_nothing_is_checked_shows_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read = evidence._KINDS["kl-interval"][1]
    monkeypatch.setitem(evidence._KINDS, "kl-interval", (lambda data: iter(()), read))
    found, data = Evidence(), thirds(THIRDS, [["0"], ["0"], ["0"]])
    said = list(evidence.gather([data, data], found))
    assert said == [Step(False, "evidence[0]: kl-interval: nothing was checked")]
    assert not found.known


def test_evidence_about_one_factor_is_not_about_every_factor() -> None:
    with pytest.raises(NotACertificate, match=r"^evidence of the kind kl-interval must be about"):
        list(evidence.gather([thirds(THIRDS, [["0"], ["0"], ["0"]])], Evidence()))


@pytest.mark.parametrize("said", ["jacobian-rank", "outputs"])
def test_evidence_about_heads_is_about_the_feature_rank(said: str) -> None:
    sentence = r"^evidence of the kind multi-head must be about the feature rank\.$"
    with pytest.raises(NotACertificate, match=sentence):
        evidence._features({**CONTEXTS, "heads": [HEAD], "assertion": {"type": said}})


def test_what_is_read_again_is_charged_under_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """No memory is left for any entry, and the first one that is read is named."""
    bounds = {"lower": {"bound": 1}, "upper": {"bound": 1}}
    data = {**CONTEXTS, "heads": [HEAD], "assertion": {"type": "feature-rank", **bounds}}
    assert evidence._features(data)[1:3] == (Fraction(1), Fraction(1))
    monkeypatch.setitem(limits.LIMITS, "memory", 0)
    with pytest.raises(NotACertificate, match=r"^evidence\.contexts\[0\]\[0\] brings the memory "):
        evidence._features(data)


@pytest.mark.parametrize("end", ["lower", "upper"])
def test_an_end_that_is_read_again_is_charged_under_its_name(
    monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    """Only numbers of more than twenty letters cost something, and one of the two has as many."""
    value, data = "9" * 21, {"prior": ["1"], "table": [["1"]], "d": 1}
    ends = {name: {"value": value if name == end else "1"} for name in ("lower", "upper")}
    read = kl_interval.distribution(data)
    monkeypatch.setattr(evidence, "distribution", lambda _: read)
    monkeypatch.setitem(limits.LIMITS, "memory", 0)
    with pytest.raises(NotACertificate, match=f"^{end} brings the memory "):
        evidence._divergence({**data, **ends})


# --- instances ------------------------------------------------------------------------------------


def witness(statement: str, **instance: Any) -> dict[str, Any]:
    head = {"format": "lemmax-certificate", "version": 2, "kind": "witness", "claim": "own/one"}
    return {**head, "statement": statement, "instance": instance}


def test_an_id_has_at_most_400_characters() -> None:
    """Its parts have at most 200 each, so that the last slash counts."""
    longest = "a" * 199 + "/" + "b" * 200
    assert instances.claim_of({"claim": longest}) == longest
    with pytest.raises(NotACertificate, match=r"^claim must be an id"):
        instances.claim_of({"claim": "a" + longest})


@pytest.mark.parametrize("field", ["claim", "instance"])
def test_what_a_certificate_about_a_statement_lacks_is_said(field: str) -> None:
    whole = witness("given x: rational; conclude x == 1", x="1")
    assert check(whole).holds
    without = {name: value for name, value in whole.items() if name != field}
    with pytest.raises(NotACertificate, match=rf"^The certificate lacks the field {field}\.$"):
        check(without)


TENSOR = [[["1", "0"], ["0", "1"]], [["0", "1"], ["-1", "0"]]]  # rank 2 over C, 3 over R


def test_an_undecided_definition_is_the_last_step() -> None:
    text = "given T: tensor; let n = (tensor_rank(T, R) == 2) + 1; conclude n == 2"
    verdict = check(witness(text, T=TENSOR))
    assert not verdict.holds
    reason = "a truth that counts as a number is undecided"
    assert verdict.steps[1:] == (f"n is undecided: {reason}",)


def test_evidence_is_asked_by_the_words_of_the_statement() -> None:
    """The infimum is 0 by W = 0 and E = 0, of which the word knows only by evidence."""
    data = thirds(THIRDS, [["0"], ["0"], ["0"]])
    data |= {"lower": {"value": "0", "blocks": []}}
    given = {"distribution": {"prior": ["1"], "table": [THIRDS]}}
    text = "given p: distribution; conclude kl_infimum(p, 1) <= 1"
    assert not check(witness(text, p=given)).holds
    assert check(witness(text, p=given) | {"evidence": [data]}).holds
