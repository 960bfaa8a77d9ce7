"""Every row of the tables that turn evidence into verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args

import pytest

from lemmax.theory.ledger import verdicts
from lemmax.theory.ledger.claims import Catalogue, Claim, Kind
from lemmax.theory.ledger.entries import _kernel_checked
from lemmax.theory.ledger.gathering import proof_evidence
from lemmax.theory.ledger.proofs import Direction, Proof, ProofStep
from lemmax.theory.ledger.records import Record, disagreements, read_ledger, stale, to_json
from lemmax.theory.ledger.verdicts import (
    GRADES,
    Entry,
    Evidence,
    Grade,
    Outcome,
    Verdict,
    conflicts,
)

FORMULA = "given x: real; conclude x*x >= 0"


def claim(kind: Kind = "A", name: str = "x/c", **fields: str) -> Claim:
    given = {"formula": FORMULA, "counterformula": FORMULA} | fields
    return Claim(name, kind, "1", "a title", "a statement", "a place", "text", **given)  # type: ignore[arg-type]


def catalogue(*claims: Claim) -> Catalogue:
    return Catalogue(MappingProxyType({c.id: c for c in claims}), MappingProxyType({}))


def evidence(
    grade: Grade,
    direction: Direction = "for",
    outcome: Outcome = "passed",
    *,
    name: str = "x/c",
    test: str = "t.py::t",
    scope: str | None = None,
    measured: Verdict | None = None,
) -> Evidence:
    formula = FORMULA if grade == "symbolic" else None
    return Evidence(name, grade, direction, test, outcome, scope, (), measured, formula=formula)


def confirmed(item: Evidence, about: Claim) -> Evidence:
    """The same evidence, for the words of the claim unless it names others."""
    return replace(item, statement=item.statement or about.digest)


def judge(about: Claim, items: Sequence[Evidence]) -> tuple[Verdict, Grade | None]:
    return verdicts.judge(about, [confirmed(item, about) for item in items])


def build_ledger(
    known: Catalogue, items: Iterable[Evidence], *more: Any, **named: Any
) -> dict[str, Entry]:
    told = [confirmed(e, known[e.claim]) if e.claim in known else e for e in items]
    return verdicts.build_ledger(known, told, *more, **named)


PROOFS = {"kernel", "symbolic", "argued"}


def expected(kind: Kind, grade: Grade, direction: Direction) -> Verdict:
    """The tables, written a second time and differently: as sets."""
    settles: dict[tuple[Kind, Direction], set[str]] = {
        ("A", "for"): PROOFS,
        ("A", "against"): PROOFS | {"certified"},
        ("E", "for"): PROOFS | {"certified"},
        ("E", "against"): PROOFS,
        ("I", "for"): {"certified", "universal"},
        ("I", "against"): {"certified", "universal"},
    }
    if grade in settles.get((kind, direction), set()):
        return "holds" if direction == "for" else "refuted"
    if kind == "A" and direction == "for" and grade in {"universal", "property"}:
        return "supported"
    return "open"


@pytest.mark.parametrize("kind", ["A", "E", "I"])
@pytest.mark.parametrize("grade", GRADES)
@pytest.mark.parametrize("direction", ["for", "against"])
def test_every_row_of_the_tables(kind: Kind, grade: Grade, direction: Direction) -> None:
    verdict, shown = judge(claim(kind), [evidence(grade, direction)])
    assert verdict == expected(kind, grade, direction)
    assert shown == (None if verdict == "open" else grade)


@pytest.mark.parametrize("outcome", ["failed", "skipped", "not-run", "broken"])
@pytest.mark.parametrize("grade", GRADES)
@pytest.mark.parametrize("kind", ["A", "E", "I", "T"])
def test_evidence_that_did_not_pass_decides_nothing(
    outcome: Outcome, grade: Grade, kind: Kind
) -> None:
    for direction in get_args(Direction):
        item = evidence(grade, direction, outcome, measured="reproduced")
        assert judge(claim(kind), [item]) == ("open", None)


@pytest.mark.parametrize("grade", GRADES)
@pytest.mark.parametrize("kind", ["A", "E", "I", "T"])
def test_data_that_do_not_decide_never_turn_into_a_verdict(grade: Grade, kind: Kind) -> None:
    """Neither by itself, nor as a gap that a repair fills, nor against other evidence."""
    broken = claim(kind, repaired_by="x/r", repair="it asks for more")
    known = catalogue(broken, claim("A", "x/r"), claim("T", "x/t"))
    repair = evidence("argued", name="x/r", test="r.md")
    for direction in get_args(Direction):
        item = evidence(grade, direction, measured="open")
        assert judge(known["x/c"], [item]) == ("open", None)
        assert build_ledger(known, [item, repair])["x/c"].verdict == "open"
        beside = evidence("empirical", name="x/t", test="t.py::u", measured="reproduced")
        told = build_ledger(known, [replace(item, claim="x/t"), beside])["x/t"]
        assert (told.verdict, told.grade, len(told.evidence)) == ("reproduced", "empirical", 2)
    assert build_ledger(known, [evidence(grade, "gap"), repair])["x/c"].verdict == "repaired"


@pytest.mark.parametrize("grade", ["universal", "property"])
def test_samples_never_make_a_for_all_statement_hold(grade: Grade) -> None:
    items = [evidence(grade, test=f"t.py::t{i}", scope="n <= 9") for i in range(50)]
    assert judge(claim("A"), items) == ("supported", grade)


def test_symbolic_with_fixed_sizes_only_supports() -> None:
    assert judge(claim("A"), [evidence("symbolic", scope="H <= 3")]) == ("supported", "symbolic")
    assert judge(claim("A"), [evidence("symbolic")]) == ("holds", "symbolic")


def test_a_formula_that_the_claim_does_not_carry_only_supports() -> None:
    other = replace(evidence("symbolic"), formula="given x: real; conclude x*x + 1 > 0")
    assert judge(claim("A"), [other]) == ("supported", "symbolic")
    assert judge(claim("A"), [replace(other, direction="against")]) == ("open", None)
    refuting = claim("A", formula=None)  # type: ignore[arg-type]
    assert judge(refuting, [evidence("symbolic")]) == ("supported", "symbolic")
    assert judge(refuting, [evidence("symbolic", "against")]) == ("refuted", "symbolic")


@pytest.mark.parametrize("grade", GRADES)
@pytest.mark.parametrize("statement", [None, "0123456789abcdef"])
def test_evidence_for_no_words_or_others_decides_nothing(
    grade: Grade, statement: str | None
) -> None:
    for kind in ("A", "E", "I", "T"):
        item = replace(evidence(grade, measured="reproduced"), statement=statement)
        assert verdicts.judge(claim(kind), [item]) == ("open", None)


def test_a_kernel_proof_of_a_part_only_supports() -> None:
    part = evidence("kernel", scope="the first sentence")
    assert judge(claim("A"), [part]) == ("supported", "kernel")
    assert judge(claim("A"), [part, evidence("argued", test="a.md")]) == ("holds", "argued")
    assert judge(claim("A"), [evidence("kernel", "against", scope="H = 1")]) == (
        "refuted",
        "kernel",
    )


def test_a_universal_counterexample_needs_a_proof() -> None:
    quantified = claim("A", refutation="universal")
    assert judge(quantified, [evidence("certified", "against")]) == ("open", None)
    for grade in ("kernel", "symbolic", "argued"):
        assert judge(quantified, [evidence(grade, "against")]) == ("refuted", grade)


@pytest.mark.parametrize("measured", ["reproduced", "not-reproduced", "recipe-dependent"])
def test_trained_claims_take_what_was_measured(measured: Verdict) -> None:
    assert judge(claim("T"), [evidence("empirical", measured=measured)]) == (measured, "empirical")
    assert judge(claim("T"), [evidence("empirical")]) == ("open", None)
    assert judge(claim("T"), [evidence("argued", measured=measured)]) == ("open", None)


def test_definitions_have_no_verdict() -> None:
    assert judge(claim("D"), [evidence("argued")]) == ("definition", None)


def test_the_grade_is_the_strongest_that_decides() -> None:
    items = [evidence("argued"), evidence("kernel"), evidence("property", scope="all")]
    assert judge(claim("A"), items) == ("holds", "kernel")
    items = [evidence("property", scope="all"), evidence("argued")]
    assert judge(claim("A"), items) == ("holds", "argued")


def test_evidence_both_ways_is_a_conflict_that_names_both() -> None:
    items = [
        evidence("argued", test="docs/proofs/x/c.md"),
        evidence("certified", "against", test="t.py::test_counterexample"),
    ]
    ledger = build_ledger(catalogue(claim()), items)
    assert ledger["x/c"].verdict == "conflict"
    (sentence,) = conflicts(ledger)
    assert "x/c" in sentence
    assert "docs/proofs/x/c.md" in sentence
    assert "t.py::test_counterexample" in sentence


def test_repaired_needs_a_refutation_and_a_repair_that_holds() -> None:
    broken, repair = claim(repaired_by="x/repair", repair="a weaker bound"), claim(name="x/repair")
    against = evidence("certified", "against")
    mended = evidence("argued", name="x/repair", test="docs/proofs/x/repair.md")
    both = catalogue(broken, repair)

    def verdict(*items: Evidence) -> tuple[Verdict, Grade | None]:
        entry = build_ledger(both, items)["x/c"]
        return entry.verdict, entry.grade

    assert verdict() == ("open", None)
    assert verdict(against) == ("refuted", "certified")
    assert verdict(mended) == ("open", None)
    assert verdict(against, mended) == ("repaired", "certified")
    gap = evidence("certified", "gap")
    assert verdict(gap) == ("open", None)
    assert verdict(gap, mended) == ("repaired", "certified")
    proved = evidence("kernel")
    assert verdict(gap, mended, proved) == ("holds", "kernel")
    supported = evidence("property", name="x/repair", scope="n <= 3")
    assert verdict(against, supported) == ("refuted", "certified")


def test_a_proof_counts_once_its_premises_hold() -> None:
    first, second = claim(), claim(name="x/second")
    leaning = evidence("argued", test="docs/proofs/x/c.md")
    premises = {"docs/proofs/x/c.md": ("x/second",)}
    both = catalogue(first, second)
    ledger = build_ledger(both, [leaning], premises)
    assert ledger["x/c"].verdict == "open"
    assert ledger["x/c"].evidence[0].outcome == "broken"
    ledger = build_ledger(both, [leaning, evidence("kernel", name="x/second")], premises)
    assert ledger["x/c"].verdict == "holds"


def test_a_proof_that_did_not_run_is_not_called_broken() -> None:
    left_out = confirmed(evidence("argued", outcome="not-run", test="a.md"), claim())
    ledger = build_ledger(catalogue(claim()), [left_out], {"a.md": ("x/c",)})
    assert ledger["x/c"].evidence == (left_out,)


def test_proofs_in_a_circle_prove_nothing() -> None:
    items = [
        evidence("argued", test="a.md"),
        evidence("argued", name="x/second", test="b.md"),
    ]
    premises = {"a.md": ("x/second",), "b.md": ("x/c",)}
    ledger = build_ledger(catalogue(claim(), claim(name="x/second")), items, premises)
    assert {entry.verdict for entry in ledger.values()} == {"open"}


def test_a_proof_that_refutes_its_own_premise_is_a_conflict() -> None:
    items = [evidence("kernel"), evidence("argued", "against", test="a.md")]
    ledger = build_ledger(catalogue(claim()), items, {"a.md": ("x/c",)})
    assert ledger["x/c"].verdict == "conflict"


def record_of(items: list[Evidence], *claims: Claim) -> Record:
    ledger = build_ledger(catalogue(*claims), items)
    import json

    document = json.loads(to_json(ledger))
    return Record({e["id"]: e for e in document["claims"]}, tuple(document["left_out"]))


def test_a_ledger_survives_writing_and_reading(tmp_path) -> None:  # type: ignore[no-untyped-def]
    items = [evidence("argued", test="a.md"), evidence("property", scope="n <= 3")]
    items = [confirmed(item, claim()) for item in items]
    ledger = build_ledger(catalogue(claim()), items)
    path = tmp_path / "ledger.json"
    path.write_text(to_json(ledger))
    record = read_ledger(path)
    assert sorted(record.evidence(), key=str) == sorted(items, key=str)
    assert record.claims["x/c"]["verdict"] == "holds"


def test_an_edited_statement_makes_the_ledger_stale() -> None:
    record = record_of([evidence("kernel")], claim())
    edited = Claim("x/c", "A", "1", "a title", "a stronger statement", "a place", "text")
    assert stale(record, catalogue(claim())) == []
    assert stale(record, catalogue(edited)) == ["x/c"]
    fresh = build_ledger(catalogue(edited), [evidence("kernel")])
    assert "changed after" in disagreements(record, fresh, catalogue(edited))[0]


def test_disagreements_name_what_differs() -> None:
    all_claims = catalogue(claim())
    record = record_of([evidence("kernel")], claim())
    fresh = build_ledger(all_claims, [evidence("kernel")])
    assert disagreements(record, fresh, all_claims) == []
    failing = build_ledger(all_claims, [evidence("kernel", outcome="failed")])
    (sentence,) = disagreements(record, failing, all_claims)
    assert "holds (kernel)" in sentence
    assert "open" in sentence
    gone = build_ledger(all_claims, [evidence("kernel", test="t.py::other")])
    assert any("no longer exists" in s for s in disagreements(record, gone, all_claims))


@pytest.mark.parametrize("outcome", ["skipped", "not-run"])
def test_a_run_without_an_optional_part_compares_the_rest(outcome: Outcome) -> None:
    all_claims = catalogue(claim())
    items = [evidence("kernel", test="k"), evidence("argued", test="a.md")]
    without = [evidence("kernel", outcome=outcome, test="k"), evidence("argued", test="a.md")]
    full, part = build_ledger(all_claims, items), build_ledger(all_claims, without)
    assert part["x/c"].grade == "argued"
    assert disagreements(record_of(items, claim()), part, all_claims) == []
    assert disagreements(record_of(without, claim()), full, all_claims) == []
    worse = [
        evidence("kernel", outcome=outcome, test="k"),
        evidence("argued", outcome="failed", test="a.md"),
    ]
    assert disagreements(record_of(items, claim()), build_ledger(all_claims, worse), all_claims)


def test_a_typed_verdict_is_found_out() -> None:
    record = record_of([evidence("property", scope="n <= 3")], claim())
    typed = {**record.claims["x/c"], "verdict": "holds", "grade": "kernel"}
    forged = Record({"x/c": typed}, ())
    fresh = build_ledger(catalogue(claim()), [evidence("property", scope="n <= 3")])
    assert any("its own evidence" in s for s in disagreements(forged, fresh, catalogue(claim())))


def formal(kind: Kind, **fields: object) -> Claim:
    words = {"formal": "given M: matrix; conclude rank(M) <= 1", "consequence": "a special case"}
    return claim(kind, **{**words, **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["E", "I"])
def test_a_witnessed_consequence_never_makes_a_claim_hold(kind: Kind) -> None:
    assert judge(formal(kind), [evidence("certified")]) == ("open", None)
    assert judge(formal(kind, consequence=None), [evidence("certified")]) == ("holds", "certified")


def test_a_refuted_consequence_refutes_once_its_premises_hold() -> None:
    leaning = formal("A", consequence_uses=("x/second",))
    both = catalogue(leaning, claim(name="x/second"))
    against = evidence("certified", "against")
    ledger = build_ledger(both, [against])
    assert ledger["x/c"].verdict == "open"
    assert ledger["x/c"].evidence[0].details == "leans on x/second, which does not hold"
    proved = evidence("kernel", name="x/second")
    assert build_ledger(both, [against, proved])["x/c"].verdict == "refuted"


def test_a_repaired_premise_counts_through_its_repair() -> None:
    broken = claim(name="x/broken", repaired_by="x/repair", repair="another constant")
    all_claims = catalogue(claim(), broken, claim(name="x/repair"))
    leaning, premises = evidence("argued", test="a.md"), {"a.md": ("x/broken",)}
    against = evidence("certified", "against", name="x/broken")
    mended = evidence("kernel", name="x/repair")
    for items, verdict in (
        ([leaning, against], "open"),
        ([leaning, mended], "open"),
        ([leaning, against, mended], "holds"),
    ):
        assert build_ledger(all_claims, items, premises)["x/c"].verdict == verdict


def test_a_premise_of_another_ledger_is_granted_or_not() -> None:
    leaning, premises = evidence("argued", test="a.md"), {"a.md": ("lemmax:y/c",)}
    assert build_ledger(catalogue(claim()), [leaning], premises)["x/c"].verdict == "open"
    granted = build_ledger(catalogue(claim()), [leaning], premises, {"lemmax:y/c"})
    assert granted["x/c"].verdict == "holds"


def test_a_repair_that_does_not_say_why_is_none() -> None:
    both = catalogue(claim(repaired_by="x/repair"), claim(name="x/repair"))
    items = [evidence("certified", "against"), evidence("kernel", name="x/repair")]
    assert build_ledger(both, items)["x/c"].verdict == "refuted"


def test_evidence_for_other_words_decides_nothing() -> None:
    right = replace(evidence("kernel"), statement=claim().digest)
    assert judge(claim(), [right]) == ("holds", "kernel")
    wrong = replace(right, statement="0123456789abcdef")
    assert judge(claim(), [wrong]) == ("open", None)


PROOF = Proof(
    "x/c",
    "for",
    "a title",
    (ProofStep(1, "a", "test", ("t::a",)), ProofStep(2, "b", "test", ("t::b",))),
    Path("a.md"),
)


@pytest.mark.parametrize(
    ("page", "steps", "outcome"),
    [
        ("passed", {"t::a": "passed", "t::b": "passed"}, "passed"),
        ("failed", {"t::a": "passed", "t::b": "passed"}, "broken"),
        ("not-run", {"t::a": "passed", "t::b": "passed"}, "not-run"),
        ("passed", {"t::a": "failed", "t::b": "passed"}, "broken"),
        ("passed", {"t::a": "passed", "t::b": "failed"}, "broken"),
        ("passed", {"t::a": "failed", "t::b": "not-run"}, "broken"),
        ("passed", {"t::a": "not-run", "t::b": "failed"}, "broken"),
        ("passed", {"t::a": "not-run", "t::b": "passed"}, "not-run"),
        ("passed", {"t::a": "passed"}, "broken"),  # the other step's test does not exist
    ],
)
def test_a_proof_is_as_good_as_its_step_tests(
    page: Outcome, steps: dict[str, Outcome], outcome: Outcome
) -> None:
    found = proof_evidence(
        PROOF, "a.md", page, lambda test: steps.get(test, "not-run"), lambda test: test in steps
    )
    assert (found.claim, found.grade, found.outcome) == ("x/c", "argued", outcome)
    bad = [test for test in PROOF.tests if steps.get(test) != "passed"]
    if page == "passed" and bad:
        assert found.details is not None
        assert any(test in found.details for test in bad)
    else:
        assert found.details is None


@pytest.mark.parametrize(
    ("changes", "grade", "kernel"),
    [
        ({}, "certified", True),
        ({}, "kernel", False),
        ({"kernel_checked": []}, "certified", False),
        ({"kernel_checked": ["a.json"], "certificates": ["a.json", "b.json"]}, "certified", False),
        ({"outcome": "failed"}, "certified", False),
        ({"grade": "symbolic"}, "certified", False),
        ({"kernel_checked": [], "certificates": []}, "certified", False),
    ],
)
def test_a_certified_claim_is_in_the_kernel_when_all_of_a_tests_certificates_are(
    changes: dict[str, Any], grade: str, kernel: bool
) -> None:
    item = {"grade": "certified", "outcome": "passed", "certificates": ["a.json"]}
    item |= {"kernel_checked": ["a.json"]} | changes
    assert _kernel_checked({"grade": grade, "evidence": [item]}) is kernel


def test_what_is_missing_is_told_to_the_letter() -> None:
    leaning, premises = evidence("argued", test="a.md"), {"a.md": ("x/b", "x/d", "x/c")}
    known = catalogue(claim(), claim(name="x/b"), claim(name="x/d"))
    (item,) = build_ledger(known, [leaning], premises)["x/c"].evidence
    assert item.details == "leans on x/b, x/d, x/c, which does not hold"
    both = [evidence("kernel", test="k"), evidence("argued", test="a.md")]
    both.append(evidence("symbolic", "against", test="s"))
    assert conflicts(build_ledger(catalogue(claim(), claim(name="x/b")), both)) == [
        "x/c has evidence both ways: k says holds but s says refuted."
    ]


def test_a_premise_whose_proof_has_a_gap_counts_through_its_repair() -> None:
    broken = claim(name="x/broken", repaired_by="x/repair", repair="another constant")
    known = catalogue(claim(), broken, claim(name="x/repair"))
    leaning, premises = evidence("argued", test="a.md"), {"a.md": ("x/broken",)}
    gap = evidence("certified", "gap", name="x/broken")
    mended = evidence("kernel", name="x/repair")
    for items, verdict in (
        ([leaning, gap], "open"),
        ([leaning, mended], "open"),
        ([leaning, gap, mended], "holds"),
        ([leaning, replace(gap, outcome="failed"), mended], "open"),
    ):
        assert build_ledger(known, items, premises)["x/c"].verdict == verdict
