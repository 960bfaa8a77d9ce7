"""From markers, fixtures and pages to evidence: each step alone, with exact values."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from lemmax.theory.ledger.claims import Catalogue, Claim
from lemmax.theory.ledger.earning import Earned, carries, counts, credited, current
from lemmax.theory.ledger.gathering import (
    base,
    is_test,
    kernel_checked,
    marked,
    merged,
    proof_evidence,
    worst,
)
from lemmax.theory.ledger.proofs import Proof, ProofError, ProofStep, find_proofs, read_proof
from lemmax.theory.ledger.verdicts import Evidence, LedgerError, Outcome

FORMAL = "given M: matrix; assume rank(M) == 1; conclude rank(argmax(M)) <= 2"


def claim(name: str = "x/c", formal: str | None = FORMAL, **fields: Any) -> Claim:
    return Claim(name, "A", "1", "a title", "a statement", "here", "text", formal=formal, **fields)


LEANING = claim(uses=("x/used",))
CLAIMS = {
    c.id: c for c in (LEANING, claim("x/used", uses=("x/root",)), claim("x/root"), claim("x/o"))
}
CATALOGUE = Catalogue(MappingProxyType(CLAIMS), MappingProxyType({}))


# -- what a certificate carries -----------------------------------------------------------------

OLD = {"hypotheses": ["rank(M)  == 1"], "conclusion": " rank(argmax(M)) <= 2"}
TWO = "given M: matrix, N: matrix; assume rank(M) == 1 and rank(N) == 2; conclude rank(M*N) <= 1"


@pytest.mark.parametrize(
    ("certificate", "formal", "held"),
    [
        ({"statement": FORMAL}, FORMAL, True),
        ({"statement": FORMAL, "kind": "witness"}, FORMAL, True),
        ({"statement": FORMAL.replace(" ", "  ")}, FORMAL, True),
        ({"statement": FORMAL}, FORMAL.replace(" ", "\n"), True),
        ({"statement": FORMAL, "kind": "matrix-rank"}, FORMAL, False),
        ({"statement": FORMAL, "kind": None}, FORMAL, False),
        ({"statement": FORMAL, "claim": "x/o"}, FORMAL, False),
        ({"statement": FORMAL.replace("2", "3")}, FORMAL, False),
        ({"statement": "None"}, None, False),
        ({"statement": None}, FORMAL, False),
        ({"statement": [FORMAL]}, FORMAL, False),
        ({"statement": OLD}, FORMAL, True),
        ({"statement": OLD, "kind": "witness"}, FORMAL, True),
        ({"statement": OLD | {"hypotheses": []}}, FORMAL, False),
        ({"statement": OLD | {"hypotheses": ["rank(M) == 1", "rank(M) == 1"]}}, FORMAL, False),
        ({"statement": {"conclusion": OLD["conclusion"]}}, FORMAL, False),
        ({"statement": OLD | {"conclusion": "rank(argmax(M)) <= 3"}}, FORMAL, False),
        ({"statement": {"hypotheses": OLD["hypotheses"]}}, FORMAL, False),
        ({"statement": {"conclusion": "M == M"}}, "given M: matrix; conclude M == M", True),
        ({"statement": OLD}, FORMAL.replace("matrix", "tensor"), False),
        ({"statement": OLD}, FORMAL.replace("matrix", "matrix, x: real"), False),
        ({"statement": OLD}, FORMAL.replace("matrix", "x: matrix"), False),
        ({"statement": OLD}, FORMAL.replace("given", "take"), False),
        (
            {
                "statement": {
                    "hypotheses": ["rank(M) == 1", "rank(N) == 2"],
                    "conclusion": "rank(M*N) <= 1",
                }
            },
            TWO,
            True,
        ),
        (
            {
                "statement": {
                    "hypotheses": ["rank(N) == 2", "rank(M) == 1"],
                    "conclusion": "rank(M*N) <= 1",
                }
            },
            TWO,
            False,
        ),
    ],
)
def test_a_certificate_carries_the_formal_statement_of_its_claim_or_not(
    certificate: dict[str, Any], formal: str | None, held: bool
) -> None:
    whole = {"kind": "refutation", "claim": "x/c"} | certificate
    assert carries(whole, claim(formal=formal)) is held


# -- what counts --------------------------------------------------------------------------------


def evidence(grade: Any = "certified", direction: Any = "for", **fields: Any) -> Evidence:
    return Evidence("x/c", grade, direction, "t.py::t", **fields)


@pytest.mark.parametrize(
    ("grade", "direction", "earned", "counted"),
    [
        ("certified", "for", {"bound": True}, True),
        ("certified", "for", {}, False),
        ("certified", "for", {"bound": True, "grade": "kernel"}, False),
        ("kernel", "for", {}, True),
        ("kernel", "for", {"shows": "for"}, True),
        ("kernel", "for", {"shows": "against"}, False),
        ("kernel", "against", {"shows": "against"}, True),
        ("kernel", "against", {"shows": "for"}, False),
        ("kernel", "gap", {"shows": "against"}, True),
        ("kernel", "gap", {"shows": "for"}, False),
        ("kernel", "gap", {"shows": "gap"}, False),
        ("kernel", "for", {"about": "x/c"}, True),
        ("kernel", "for", {"about": "x/used"}, False),
        ("kernel", "for", {"about": "x/o"}, False),
        ("kernel", "gap", {"about": "x/used"}, True),
        ("kernel", "gap", {"about": "x/root"}, True),
        ("kernel", "gap", {"about": "x/o"}, False),
        ("kernel", "gap", {"about": "x/c"}, True),
        ("symbolic", "gap", {"about": "x/used"}, True),
        ("symbolic", "gap", {"about": "x/c"}, False),
        ("symbolic", "gap", {}, False),
        ("symbolic", "for", {}, True),
        ("symbolic", "for", {"about": "x/c"}, True),
    ],
)
def test_what_is_earned_counts_for_its_claim_grade_and_direction(
    grade: Any, direction: Any, earned: dict[str, Any], counted: bool
) -> None:
    seen = Earned(**{"grade": grade} | earned)
    assert counts(seen, evidence(grade, direction), CATALOGUE) is counted


@pytest.mark.parametrize(
    ("grade", "fixture", "verb"),
    [
        ("certified", "certify", "certifies"),
        ("kernel", "kernel", "earns"),
        ("symbolic", "symbolic", "earns"),
        ("universal", "exhaust", "earns"),
        ("property", "sample", "earns"),
        ("empirical", "measure", "earns"),
    ],
)
def test_a_test_that_earns_nothing_is_told_its_fixture(grade: Any, fixture: str, verb: str) -> None:
    sentence = (
        f"t.py::t (x/c) is called {grade} but {verb} nothing about the claim: "
        f"the fixture {fixture} has to decide it."
    )
    broken = evidence(grade, outcome="broken", details=sentence)
    assert credited(evidence(grade), [], CATALOGUE) == (broken, sentence)


def test_what_is_earned_becomes_the_evidence() -> None:
    digest = LEANING.digest
    first = Earned(
        "kernel",
        theorems=("a.one",),
        certificates=("b.json",),
        sha256=("22",),
        formula="x = x",
        symbols=("x", "y"),
        predicate="even",
        count=3,
        scope="n <= 2",
    )
    second = Earned(
        "kernel",
        theorems=("a.two",),
        certificates=("a.json",),
        sha256=("11",),
        formula="y = y",
        symbols=("y", "z"),
        predicate="even",
        count=4,
        measured="reproduced",
        details="twice",
        scope="n <= 3",
        statement=digest,
    )
    other = Earned("symbolic", certificates=("c.json",), sha256=("33",), count=100, scope="no")
    third = replace(second, measured="open", details="thrice", scope="n <= 2", predicate="odd")
    found, problem = credited(evidence("kernel"), [first, other, second, third], CATALOGUE)
    assert problem is None
    assert found == evidence(
        "kernel",
        scope="n <= 2; n <= 3",
        certificates=("a.json", "b.json", "c.json"),
        sha256=("11", "22", "33"),
        measured="reproduced",
        details="twice",
        statement=digest,
        theorems=("a.one", "a.two", "a.two"),
        formula="x = x; y = y; y = y",
        symbols=("x", "y", "z"),
        predicate="even; odd",
        count=11,
    )


def test_bare_evidence_stays_bare() -> None:
    given = evidence("kernel", statement=LEANING.digest)
    assert credited(given, [Earned("kernel")], CATALOGUE) == (given, None)
    scoped = replace(given, scope="n = 1")
    assert credited(scoped, [Earned("kernel")], CATALOGUE) == (scoped, None)
    assert credited(scoped, [Earned("kernel", scope="n = 2")], CATALOGUE) == (
        replace(scoped, scope="n = 2"),
        None,
    )


def test_a_certificate_that_carries_the_statement_needs_no_digest() -> None:
    bound = Earned("certified", bound=True)
    kept = evidence(statement=LEANING.digest)
    assert credited(evidence(), [bound], CATALOGUE) == (kept, None)
    written = evidence(statement="0123")
    assert credited(written, [bound], CATALOGUE)[0].outcome == "stale"
    half = [Earned("kernel", bound=True), Earned("kernel")]
    assert credited(evidence("kernel"), half, CATALOGUE)[0].outcome == "stale"


def test_certificates_and_their_digests_come_in_pairs() -> None:
    odd = Earned("certified", bound=True, certificates=("a.json", "b.json"), sha256=("11",))
    with pytest.raises(ValueError, match="shorter"):
        credited(evidence(), [odd], CATALOGUE)
    one, two = evidence(certificates=("a.json",), sha256=("1",)), evidence(certificates=("b.json",))
    with pytest.raises(ValueError, match="shorter"):
        merged([one, two])
    with pytest.raises(ValueError, match="shorter"):
        merged([two, one])


@pytest.mark.parametrize("grade", ["universal", "property"])
def test_instances_need_a_scope(grade: Any) -> None:
    sentence = f"t.py::t (x/c): the grade {grade} needs a scope."
    found, problem = credited(evidence(grade), [Earned(grade, count=5)], CATALOGUE)
    assert problem == sentence
    assert (found.outcome, found.details, found.count) == ("broken", sentence, 5)


@pytest.mark.parametrize(("count", "fine"), [(None, False), (1, False), (2, True), (0, False)])
def test_one_instance_is_no_property(count: int | None, fine: bool) -> None:
    given = evidence("property", scope="small", statement=LEANING.digest)
    found, problem = credited(given, [Earned("property", count=count)], CATALOGUE)
    sentence = "t.py::t (x/c): one instance is no property."
    assert problem == (None if fine else sentence)
    assert (found.outcome, found.details) == (("passed", None) if fine else ("broken", sentence))
    alone = evidence("universal", scope="small", statement=LEANING.digest)
    assert credited(alone, [Earned("universal", count=count)], CATALOGUE)[1] is None


def test_evidence_for_other_words_is_stale() -> None:
    digest = LEANING.digest
    fresh = evidence("kernel", statement=digest)
    assert current(fresh, LEANING) == (fresh, None)
    failed = evidence("kernel", outcome="failed")
    assert current(failed, LEANING) == (failed, None)
    for statement, was in ((None, "without a digest"), ("01", "for other words of x/c")):
        sentence = (
            f"t.py::t is stale: it was written {was}. Read the statement (lemmax claims x/c); "
            f"if this is evidence for it, write the digest {digest}."
        )
        old = evidence("kernel", statement=statement)
        assert current(old, LEANING) == (
            replace(old, outcome="stale", details=sentence),
            sentence,
        )


# -- markers ------------------------------------------------------------------------------------


def test_a_marker_says_claim_grade_direction_scope_and_statement() -> None:
    whole = Evidence("x/c", "kernel", "gap", "t.py::t", scope="n = 1", statement="0123")
    values = ("x/c", "kernel", "gap", "n = 1", "0123")
    names = ("id", "grade", "direction", "scope", "statement")
    for n in range(len(values) + 1):
        named: dict[str, Any] = dict(zip(names[n:], values[n:], strict=True))
        assert marked("t.py::t", values[:n], named, CATALOGUE) == whole
    short = marked("t.py::t", ("x/c",), {}, CATALOGUE, ("tmp_path", "sample", "certify")[::2])
    assert short == Evidence("x/c", "certified", "for", "t.py::t")
    both = marked("t.py::t", ("x/c",), {"scope": "s"}, CATALOGUE, ("exhaust", "none_up_to"))
    assert both == Evidence("x/c", "universal", "for", "t.py::t", scope="s")


@pytest.mark.parametrize(
    ("arguments", "named", "sentence"),
    [
        (("x/c",), {"verdict": 1}, " takes id, grade, direction, scope and statement."),
        (("x/c",), {"id": "x/c"}, " takes id, grade, direction, scope and statement."),
        ((), {}, " names an unknown claim None."),
        (("x/n",), {}, " names an unknown claim 'x/n'."),
        (
            ("x/c",),
            {},
            ": the test asks for 0 deciding fixtures instead of one (certify, kernel, symbolic, "
            "exhaust, none_up_to, sample, measure), so that its grade is not known.",
        ),
        (("x/c", "argued"), {}, ": an argued proof is a page, not a test."),
        (("x/c", "sure"), {}, " names an unknown grade 'sure'."),
        (("x/c", "kernel", "up"), {}, ": the direction is for, against or gap."),
        (("x/c", "kernel", "for", 1), {}, ": the scope is a text."),
        (("x/c", "kernel", "for", "s", 1), {}, ": the statement is a text."),
        (("x/c", "property"), {}, ": the grade property needs a scope."),
    ],
)
def test_a_marker_that_says_something_else_is_refused(
    arguments: tuple[Any, ...], named: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(LedgerError) as refused:
        marked("t.py::t", arguments, named, CATALOGUE, ("tmp_path",))
    assert str(refused.value) == f"t.py::t: the marker claim{sentence}"


def test_two_deciding_fixtures_are_no_grade() -> None:
    with pytest.raises(LedgerError, match="asks for 2 deciding fixtures"):
        marked("t.py::t", ("x/c",), {}, CATALOGUE, ("kernel", "certify"))


# -- outcomes -----------------------------------------------------------------------------------


def test_the_worst_outcome_of_each_pair() -> None:
    order: tuple[Outcome, ...] = ("broken", "stale", "failed", "not-run", "skipped", "passed")
    for n, bad in enumerate(order):
        for better in order[n:]:
            assert worst([bad, better]) == worst([better, bad]) == bad
    assert worst([]) == "not-run"


def test_parameters_of_a_test_are_one_piece_of_evidence() -> None:
    one = evidence(certificates=("b.json",), sha256=("2",), count=2, details="first")
    two = evidence(certificates=("a.json",), sha256=("1",), count=3, details="second")
    whole: dict[str, Any] = {"certificates": ("a.json", "b.json"), "sha256": ("1", "2")}
    assert merged([one]) == [one]
    assert merged([one, two]) == [replace(one, **whole, count=5)]
    bad = replace(two, outcome="failed")
    assert merged([one, bad]) == merged([bad, one]) == [replace(bad, **whole, count=5)]
    uncounted = replace(two, count=None)
    assert merged([one, uncounted]) == [replace(one, **whole, count=2)]
    worse = replace(uncounted, outcome="skipped")
    assert merged([one, worse]) == [replace(worse, **whole)]
    again = replace(one, sha256=("9",))
    assert merged([one, again]) == [replace(one, sha256=("9",), count=4)]
    three = [one, two, replace(one, certificates=(), sha256=())]
    assert merged(three) == [replace(one, **whole, count=7)]
    apart = [
        one,
        replace(one, claim="x/o"),
        replace(one, test="t.py::u"),
        replace(one, grade="kernel"),
        replace(one, direction="gap"),
    ]
    assert merged(apart) == apart


def test_the_formula_shown_does_not_depend_on_which_parameter_ended_first() -> None:
    one = replace(evidence("symbolic"), formula="a == a", symbols=("a",))
    two = replace(one, formula="b*a == a*b", symbols=("a", "b"))
    assert merged([one, two]) == merged([two, one]) == [one]
    broken = replace(two, outcome="failed")
    assert merged([one, broken]) == merged([broken, one]) == [broken]


def test_certificates_that_coq_proved_are_marked_while_they_are_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "certificates"
    item = evidence(certificates=("a.json", "b.json", "x/c.json"), sha256=("1", "2", "3"))
    assert kernel_checked([item], None) == [item]
    assert kernel_checked([item], folder) == [item]
    proofs = {
        "a": {"certificate": "1", "proved": True},
        "b": {"certificate": "1", "proved": True},
        "x/c": {"certificate": "3", "proved": False},
    }
    (tmp_path / "proved.json").write_text(json.dumps(proofs))
    assert kernel_checked([item], folder) == [replace(item, kernel_checked=("a.json",))]
    proofs["x/c"]["proved"] = True
    (tmp_path / "proved.json").write_text(json.dumps(proofs))
    assert kernel_checked(iter([item]), folder) == [
        replace(item, kernel_checked=("a.json", "x/c.json"))
    ]
    odd = replace(item, sha256=("1",))
    with pytest.raises(ValueError, match="shorter"):
        kernel_checked([odd], folder)


def test_a_test_is_a_function_or_a_method_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "t.py").write_text(
        "def test_a(): pass\nX = 1\nclass TestB:\n    y = 2\n    def test_c(self): pass\n"
        "class TestD:\n    def test_e(self): pass\n"
    )
    for name in ("test_a", "test_a[1-2]", "TestB::test_c", "TestB::test_c[x::y]", "TestD::test_e"):
        assert is_test(tmp_path, f"sub/t.py::{name}")
    for name in ("test_b", "X", "test_c", "TestB", "TestB::y", "TestB::test_e", ""):
        assert not is_test(tmp_path, f"sub/t.py::{name}")
    assert not is_test(tmp_path, "sub/none.py::test_a")
    assert not is_test(tmp_path, "t.py::test_a")
    assert base("a.py::b[c[d]]") == "a.py::b"


STEPS = tuple(ProofStep(n, "s", "test", (f"t.py::{n}",)) for n in (1, 2, 3))
PROOF = Proof("x/c", "gap", "a title", STEPS, Path("p.md"), "0123")


@pytest.mark.parametrize(
    ("page", "outcomes", "outcome", "details"),
    [
        ("passed", "ppp", "passed", None),
        ("skipped", "ppp", "passed", None),
        ("failed", "ppp", "broken", None),
        ("failed", "pfp", "broken", None),
        ("not-run", "ppf", "not-run", None),
        ("passed", "psp", "skipped", "the step test t.py::2 is skipped"),
        ("passed", "pnp", "not-run", "the step test t.py::2 is not-run"),
        ("passed", "pns", "skipped", "the step test t.py::3 is skipped"),
        ("passed", "pff", "broken", "the step test t.py::2 is failed"),
        ("passed", "nfp", "broken", "the step test t.py::2 is failed"),
        ("passed", "sfs", "broken", "the step test t.py::2 is failed"),
        ("passed", "p?p", "broken", "the step test t.py::2 does not exist"),
        ("passed", "?fp", "broken", "the step test t.py::1 does not exist"),
    ],
)
def test_a_page_with_its_steps(
    page: Outcome, outcomes: str, outcome: Outcome, details: str | None
) -> None:
    long: dict[str, Outcome] = {"p": "passed", "f": "failed", "s": "skipped"}
    seen = {f"t.py::{n}": short for n, short in enumerate(outcomes, 1)}
    found = proof_evidence(
        PROOF,
        "proofs/p.md",
        page,
        lambda test: long.get(seen[test], "not-run"),
        lambda test: seen[test] == "n",
    )
    assert found == Evidence(
        "x/c", "argued", "gap", "proofs/p.md", outcome, details=details, statement="0123"
    )


def test_a_page_is_read_in_every_part(tmp_path: Path) -> None:
    page = tmp_path / "p.md"
    page.write_text(
        "---\nclaim: x/c\n\ndirection:  against\nstatement: 01: 23\nuses: x/a, ,x/b\n---\n"
        "## Before\n# A title\nWords.\n1. First\n   line. {test: t.py::a, t.py::b[1]}\n\n"
        "2. Second {cited: Horn, Johnson} and more.\n3. Third {claim: x/b,x/d}\n4. {by hand}\n"
    )
    assert read_proof(page) == Proof(
        "x/c",
        "against",
        "A title",
        (
            ProofStep(1, "First\n   line.", "test", ("t.py::a", "t.py::b[1]")),
            ProofStep(2, "Second", "cited", ("Horn, Johnson",)),
            ProofStep(3, "Third", "claim", ("x/b", "x/d")),
            ProofStep(4, "", "by hand", ()),
        ),
        page,
        "01: 23",
        ("x/a", "x/b"),
    )
    assert read_proof(page).tests == ("t.py::a", "t.py::b[1]")
    assert read_proof(page).claims == ("x/a", "x/b", "x/d")


def test_pages_are_found_in_folders_but_for_those_about_a_folder(tmp_path: Path) -> None:
    text = "---\nclaim: x/c\ndirection: for\n---\n# A title\n1. Done. {by hand}\n"
    (tmp_path / "b" / "c").mkdir(parents=True)
    for name in ("b/c/z.md", "a.md", "index.md", "b/README.md", "b/other.txt"):
        (tmp_path / name).write_text(text)
    found = find_proofs([tmp_path / "b", tmp_path])
    assert [proof.path.name for proof in found] == ["z.md", "a.md", "z.md"]


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("claim: x/c\n", "", "the front matter has the fields claim, direction and statement, "),
        ("claim:", "mood: x\nclaim:", "the front matter has the fields claim, direction and "),
        ("claim: x/c", "claim x/c", "the line 'claim x/c' of the front matter has no colon."),
        ("for", "up", "the direction is for, against or gap."),
        ("# A title", "A title", "the page has no title."),
        ("1. Done", "Done", "the page has no numbered steps."),
        ("1. Done", "2. Done", "step 2 stands where step 1 belongs."),
        ("{by hand}", "", "step 1 has 0 tags instead of one."),
        ("{by hand}", "{by hand: me}", "the tag of step 1 is not well formed."),
        ("{by hand}", "{cited}", "the tag of step 1 is not well formed."),
        ("---\nclaim", "claim", "the page has no front matter between two lines '---'."),
    ],
)
def test_pages_that_cannot_be_read(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    text = "---\nclaim: x/c\ndirection: for\n---\n# A title\n1. Done. {by hand}\n"
    page = tmp_path / "p.md"
    page.write_text(text)
    assert read_proof(page).claim == "x/c"
    page.write_text(text.replace(old, new, 1))
    with pytest.raises(ProofError) as refused:
        read_proof(page)
    assert str(refused.value).startswith(f"{page}: {sentence}")
