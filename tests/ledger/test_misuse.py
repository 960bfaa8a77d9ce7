"""Ways to fool the ledger, each a small project: none of them yields a verdict.

A lie is a change to an honest project. Its run must fail, or be refused, and the claim that the lie
is about must not be decided by it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lemmax.theory.ledger.claims import Claim, load_claims

pytest_plugins = ["pytester"]

FORMAL = "given M: matrix; assume rank(M) == 1; conclude rank(argmax(M)) <= 2"


def table(name: str, kind: str, statement: str, *more: str) -> str:
    fields = {"id": f"x/{name}", "kind": kind, "number": "1", "title": name}
    fields |= {"statement": statement, "place": "here", "source": "text"}
    lines = [f"{key} = {json.dumps(value)}" for key, value in fields.items()]
    return "\n".join(("[[claim]]", *lines, *more, ""))


CLAIMS = "\n".join(
    (
        '[paper]\nkey = "x"\ntitle = "Lies"\n',
        table("bound", "A", "rank argmax M is at most 2", f"formal = {FORMAL!r}"),
        table("other", "A", "rank argmax M is at most 3"),
        table("exists", "E", "there is a matrix"),
        table("instance", "I", "this matrix"),
        table("trained", "T", "it trains"),
        table("broken", "A", "too much", 'repaired_by = "x/other"'),
    )
)


def digest(name: str, claims: Path) -> str:
    return load_claims([claims])[f"x/{name}"].digest


IMPORTS = """
import pytest
from hypothesis import assume, given, strategies as st
from lemmax.theory import Matrix, certified_rank
from lemmax.theory.certificates.writing import refutation
M = Matrix([[1, 0, -1], [-1, 0, 1], [0, 0, 0]])
def true_refutation(claim="x/bound", end="rank(argmax(M)) <= 2"):
    return refutation(claim, {"M": M}, ["rank(M) == 1"], end)
"""


class Liar:
    """A project in which a lie is told, and what its ledger says then."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester, self.root = pytester, pytester.path
        (self.root / "claims.toml").write_text(CLAIMS)
        (self.root / "proofs").mkdir()
        (self.root / "formal").mkdir()
        pytester.makeini(
            "[pytest]\nlemmax_claims = claims.toml\nlemmax_proofs = proofs\n"
            "lemmax_formal = formal\nlemmax_certificates = certificates\n"
        )

    def digest(self, name: str) -> str:
        return digest(name, self.root / "claims.toml")

    def page(self, claim: str, *steps: str, front: str | None = None, name: str = "p") -> None:
        front = front if front is not None else f"statement: {self.digest(claim)}\n"
        body = "\n".join(f"{n}. A step. {step}" for n, step in enumerate(steps, 1))
        text = f"---\nclaim: x/{claim}\ndirection: for\n{front}---\n# A proof\n{body}\n"
        (self.root / "proofs" / f"{name}.md").write_text(text)

    def run(self, test: str = "", *arguments: str) -> pytest.RunResult:
        for name in ("bound", "other", "exists", "instance", "trained"):
            test = test.replace(f"@{name}@", f'statement="{self.digest(name)}"')
        self.pytester.makepyfile(test_lies=IMPORTS + test)
        return self.pytester.runpytest_inprocess(
            "-q", "-p", "no:randomly", "-p", "no:cacheprovider", "--ledger", "l.json", *arguments
        )

    def verdicts(self) -> dict[str, str]:
        file = self.root / "l.json"
        if not file.exists():
            return {}
        return {c["id"]: c["verdict"] for c in json.loads(file.read_text())["claims"]}

    def undecided(self) -> bool:
        return set(self.verdicts().values()) <= {"open"}


@pytest.fixture
def liar(pytester: pytest.Pytester) -> Liar:
    return Liar(pytester)


def test_the_truth_is_believed(liar: Liar) -> None:
    """The control: without it the lies below might fail for another reason."""
    done = liar.run(
        """
@pytest.mark.claim("x/bound", direction="against")
def test_bound(certify):
    certify(true_refutation())

@pytest.mark.claim("x/other", scope="small", @other@)
@given(st.integers(0, 9))
def test_other(sample, n):
    sample(n * n >= n)

@pytest.mark.claim("x/instance", @instance@)
def test_instance(exhaust):
    assert exhaust(((a, b) for a in range(3) for b in range(3)), lambda a, b: a * b <= 4) == 9

@pytest.mark.claim("x/exists", @exists@)
def test_exists(symbolic):
    import z3
    x = z3.Real("x")
    symbolic.proves(x * x >= 0)

class Judgement:
    claim, verdict, sentence = "x/trained", "reproduced", "it did"

@pytest.mark.claim("x/trained", @trained@)
def test_trained(measure):
    measure(lambda data: [Judgement], [1, 2, 3])
"""
    )
    assert done.ret == 0, done.stdout.str()
    decided = liar.verdicts()
    assert decided["x/bound"] == "refuted"
    assert decided["x/other"] == "supported"
    assert decided["x/instance"] == decided["x/exists"] == "holds"
    assert decided["x/trained"] == "reproduced"
    entries = json.loads((liar.root / "l.json").read_text())["claims"]
    evidence = {c["id"]: c["evidence"][0] for c in entries if c["evidence"]}
    assert evidence["x/instance"]["scope"] == "9 instances, a = 0..2, b = 0..2"
    assert evidence["x/exists"]["symbols"] == ["x"]
    assert evidence["x/other"]["count"] >= 10


EMPTY = "def test_it({0}):\n    pass\n"
# Each lie: a test file; @name@ is the true digest of a claim.
LIES = {
    "an empty test called kernel": '@pytest.mark.claim("x/other", grade="kernel", @other@)\n'
    + EMPTY.format(""),
    "an empty test called symbolic": '@pytest.mark.claim("x/other", grade="symbolic", @other@)\n'
    + EMPTY.format(""),
    "an empty test called universal": (
        '@pytest.mark.claim("x/instance", grade="universal", scope="all", @instance@)\n'
        + EMPTY.format("")
    ),
    "an empty test called certified": '@pytest.mark.claim("x/exists", grade="certified")\n'
    + EMPTY.format(""),
    "an empty test called empirical": '@pytest.mark.claim("x/trained", grade="empirical")\n'
    + EMPTY.format(""),
    "an empty property": '@pytest.mark.claim("x/other", scope="all", @other@)\n'
    + EMPTY.format("sample"),
    "a fixture that is not used": '@pytest.mark.claim("x/instance", scope="all", @instance@)\n'
    + EMPTY.format("exhaust"),
    "a fixture of another grade": """
@pytest.mark.claim("x/other", grade="kernel", @other@)
def test_it(exhaust):
    exhaust([1], lambda n: True)
""",
    "the rank of a one by one matrix refutes": """
@pytest.mark.claim("x/bound", direction="against")
def test_it(certify):
    certify(certified_rank([[1]]).certificate())
""",
    "the rank of a one by one matrix exists": """
@pytest.mark.claim("x/exists", @exists@)
def test_it(certify):
    certify(certified_rank([[1]]).certificate())
""",
    "a refutation of another claim": """
@pytest.mark.claim("x/other", direction="against", @other@)
def test_it(certify):
    certify(true_refutation())
""",
    "a refutation with another statement": """
@pytest.mark.claim("x/bound", direction="against")
def test_it(certify):
    certify(true_refutation(end="rank(argmax(M)) <= 1"))
""",
    "a refutation with a further hypothesis": """
@pytest.mark.claim("x/bound", direction="against")
def test_it(certify):
    certify(refutation("x/bound", {"M": M}, ["rank(M) == 1", "rank(M) <= 1"],
                       "rank(argmax(M)) <= 2"))
""",
    "a refutation of a claim that is not formal": """
@pytest.mark.claim("x/other", direction="against", @other@)
def test_it(certify):
    certify(true_refutation("x/other"))
""",
    "a refutation called support": """
@pytest.mark.claim("x/bound", direction="for")
def test_it(certify):
    certify(true_refutation())
""",
    "a refutation that assumes nothing and concludes 1 == 2": """
@pytest.mark.claim("x/bound", direction="against")
def test_it(certify):
    certify(refutation("x/bound", {}, [], "1 == 2"))
""",
    "a certificate that does not hold, swallowed": """
@pytest.mark.claim("x/bound", direction="against")
def test_it(certify):
    try:
        certify(refutation("x/bound", {"M": Matrix([[1]])}, ["rank(M) == 1"],
                           "rank(argmax(M)) <= 2"))
    except AssertionError:
        pass
""",
    "a failure swallowed before a success": """
@pytest.mark.claim("x/other", scope="all", @other@)
def test_it(sample):
    for n in range(5):
        try:
            sample(n != 3)
        except AssertionError:
            pass
""",
    "a patched checker": """
@pytest.mark.claim("x/bound", direction="against")
def test_it(certify, monkeypatch):
    from lemmax import checker
    yes = checker.Verdict("refutation", True, ("fine",), "x/bound")
    monkeypatch.setattr(checker, "check", lambda *a: yes)
    monkeypatch.setattr(checker.checking, "check", lambda *a: yes)
    certify(refutation("x/bound", {"M": Matrix([[1]])}, ["rank(M) == 1"], "rank(argmax(M)) <= 2"))
""",
    "a recorded property": """
@pytest.mark.claim("x/exists", grade="certified", @exists@)
def test_it(record_property):
    record_property("lemmax_certificate", "x/exists.json")
    record_property("lemmax_earned", {"grade": "certified", "about": "x/exists", "bound": True})
""",
    "a recorded marker": """
def test_it(record_property, exhaust):
    exhaust([1], lambda n: True)
    record_property("lemmax_evidence", {"claim": "x/instance", "grade": "universal",
                    "direction": "for", "test": "t", "scope": "all"})
""",
    "one parameter of two": """
@pytest.mark.claim("x/instance", scope="both", @instance@)
@pytest.mark.parametrize("n", [1, 2])
def test_it(exhaust, n):
    if n == 1:
        exhaust([1], lambda n: True)
""",
    "one parameter of two fails": """
@pytest.mark.claim("x/instance", scope="both", @instance@)
@pytest.mark.parametrize("n", [1, 2])
def test_it(exhaust, n):
    exhaust([n], lambda n: n == 1)
""",
    "a skipped test": """
@pytest.mark.skip
@pytest.mark.claim("x/instance", scope="all", @instance@)
def test_it(exhaust):
    exhaust([1], lambda n: True)
""",
    "a test that skips itself afterwards": """
@pytest.mark.claim("x/instance", scope="all", @instance@)
def test_it(exhaust):
    exhaust([1], lambda n: True)
    pytest.skip("enough")
""",
    "an expected failure": """
@pytest.mark.xfail
@pytest.mark.claim("x/instance", scope="all", @instance@)
def test_it(exhaust):
    exhaust([1], lambda n: True)
    assert False
""",
    "an expected failure that passes": """
@pytest.mark.xfail
@pytest.mark.claim("x/instance", scope="all", @instance@)
def test_it(exhaust):
    exhaust([1], lambda n: True)
""",
    "a failing teardown": """
@pytest.fixture
def late():
    yield
    assert False

@pytest.mark.claim("x/instance", scope="all", @instance@)
def test_it(exhaust, late):
    exhaust([1], lambda n: True)
""",
    "no instances": """
@pytest.mark.claim("x/instance", scope="all", @instance@)
def test_it(exhaust):
    exhaust([], lambda n: True)
""",
    "a predicate that says nothing": """
@pytest.mark.claim("x/instance", scope="all", @instance@)
def test_it(exhaust):
    exhaust([1], lambda n: None)
""",
    "a predicate that says something true-ish": """
@pytest.mark.claim("x/instance", scope="all", @instance@)
def test_it(exhaust):
    exhaust([1], lambda n: "yes")
""",
    "all instances without a scope": """
@pytest.mark.claim("x/instance", @instance@)
def test_it(exhaust):
    exhaust(["a"], lambda n: True)
""",
    "examples that are all assumed away": """
@pytest.mark.claim("x/other", scope="all", @other@)
def test_it(sample):
    @given(st.integers())
    def inner(n):
        if n != n:
            sample(True)
    inner()
""",
    "a formula without symbols": """
@pytest.mark.claim("x/other", @other@)
def test_it(symbolic):
    import z3
    symbolic.proves(z3.BoolVal(True))
""",
    "a formula with contradictory assumptions": """
@pytest.mark.claim("x/other", @other@)
def test_it(symbolic):
    import z3
    x = z3.Real("x")
    symbolic.proves(x > 5, x > 1, x < 0)
""",
    "a false formula": """
@pytest.mark.claim("x/other", @other@)
def test_it(symbolic):
    import z3
    x = z3.Real("x")
    symbolic.proves(x > 5, x > 1)
""",
    "a false identity": """
@pytest.mark.claim("x/other", @other@)
def test_it(symbolic):
    import sympy
    x = sympy.Symbol("x")
    symbolic.identity((x + 1) ** 2, x**2 + 1)
""",
    "zero equals zero": """
@pytest.mark.claim("x/other", @other@)
def test_it(symbolic):
    import sympy
    x = sympy.Symbol("x")
    symbolic.identity(x - x, 0)
""",
    "a typed verdict": """
@pytest.mark.claim("x/trained", @trained@)
def test_it(measure):
    measure("reproduced", "it trains")
""",
    "a judgement without data": """
class Judgement:
    claim, verdict, sentence = "x/trained", "reproduced", "it did"

@pytest.mark.claim("x/trained", @trained@)
def test_it(measure):
    measure(lambda data: [Judgement], [])
""",
    "a judgement of another claim": """
class Judgement:
    claim, verdict, sentence = "x/other", "reproduced", "it did"

@pytest.mark.claim("x/trained", @trained@)
def test_it(measure):
    measure(lambda data: [Judgement], [1])
""",
    "a test without a digest": """
@pytest.mark.claim("x/instance", scope="all")
def test_it(exhaust):
    exhaust([1], lambda n: True)
""",
    "a test for other words": """
@pytest.mark.claim("x/instance", scope="all", statement="0123456789abcdef")
def test_it(exhaust):
    exhaust([1], lambda n: True)
""",
    "a theorem of a file that does not exist": """
@pytest.mark.claim("x/other", @other@)
def test_it(kernel):
    kernel("nothing", "trivial")
""",
}
# Nothing ran, or what ran is not evidence: pytest itself has no reason to fail.
QUIET = (
    "a recorded marker",
    "a skipped test",
    "a test that skips itself afterwards",
    "an expected failure",
    "an expected failure that passes",
)


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_yields_no_verdict(liar: Liar, lie: str) -> None:
    done = liar.run(LIES[lie])
    assert liar.undecided(), liar.verdicts()
    assert (done.ret == 0) == (lie in QUIET), done.stdout.str()


HONEST = """
@pytest.mark.claim("x/instance", scope="all", @instance@)
def test_it(exhaust):
    exhaust([1], lambda n: True)
"""


def test_an_edited_statement_is_stale_and_a_blank_is_not(liar: Liar) -> None:
    liar.run(HONEST)
    assert liar.verdicts()["x/instance"] == "holds"
    written = HONEST.replace("@instance@", f'statement="{liar.digest("instance")}"')
    (liar.root / "claims.toml").write_text(CLAIMS.replace("this matrix", "this   matrix"))
    liar.run(written)
    assert liar.verdicts()["x/instance"] == "holds"
    (liar.root / "claims.toml").write_text(CLAIMS.replace("this matrix", "every matrix"))
    done = liar.run(written)
    assert done.ret == 1
    assert liar.undecided()
    assert "is stale" in done.stdout.str()
    assert liar.digest("instance") in done.stdout.str()  # what to write


def test_an_edited_formal_statement_takes_the_refutation_away(liar: Liar) -> None:
    truth = """
@pytest.mark.claim("x/bound", direction="against")
def test_it(certify):
    certify(true_refutation())
"""
    (liar.root / "claims.toml").write_text(CLAIMS.replace(FORMAL, FORMAL.replace("<= 2", "<= 3")))
    assert liar.run(truth).ret == 1
    assert liar.undecided()


def test_a_page_for_other_words_is_stale(liar: Liar) -> None:
    for front in ("", "statement: 0123456789abcdef\n"):
        liar.page("other", "{by hand}", front=front)
        done = liar.run()
        assert done.ret == 1
        assert liar.undecided()
        assert "stale" in done.stdout.str()


def test_circular_proofs_prove_nothing(liar: Liar) -> None:
    liar.page("other", "{claim: x/bound}", name="a")
    liar.page("bound", "{claim: x/other}", name="b")
    done = liar.run()
    assert liar.undecided()
    assert "leans on x/bound, which does not hold" in done.stdout.str()


def test_a_proof_of_itself_proves_nothing(liar: Liar) -> None:
    liar.page("other", "{claim: x/other}")
    liar.run()
    assert liar.undecided()


def test_a_premise_of_the_whole_page_is_a_premise(liar: Liar) -> None:
    liar.page("other", "{by hand}", front=f"statement: {liar.digest('other')}\nuses: x/bound\n")
    assert "leans on x/bound" in liar.run().stdout.str()
    assert liar.undecided()


def test_a_step_that_is_skipped_proves_nothing(liar: Liar) -> None:
    liar.page("other", "{test: test_lies.py::test_step}")
    liar.run("def test_step():\n    pytest.skip('later')\n")
    assert liar.undecided()


def test_a_repair_without_a_reason_is_no_repair(liar: Liar) -> None:
    against = """
class Judgement: pass

@pytest.mark.claim("x/broken", direction="against", statement="%s")
def test_it(symbolic):
    import z3
    x = z3.Real("x")
    symbolic.proves(x * x >= 0)
"""
    liar.page("other", "{by hand}")
    liar.run(against % liar.digest("broken"))
    assert liar.verdicts()["x/broken"] == "refuted"
    reason = 'repaired_by = "x/other"\nrepair = "another constant"'
    text = CLAIMS.replace('repaired_by = "x/other"', reason)
    (liar.root / "claims.toml").write_text(text)
    liar.run(against % liar.digest("broken"))
    assert liar.verdicts()["x/broken"] == "repaired"


def test_an_edited_ledger_is_found_out(liar: Liar) -> None:
    liar.run(HONEST)
    file = liar.root / "l.json"
    text = file.read_text()
    for edited in (
        text.replace('"verdict": "holds"', '"verdict": "refuted"'),
        text.replace('"verdict": "open"', '"verdict": "holds"', 1),
        text.replace('"grade": "universal"', '"grade": "certified"'),
    ):
        assert edited != text
        (liar.root / "edited.json").write_text(edited)
        assert liar.run(HONEST, "--ledger-against", "edited.json").ret == 1


def test_evidence_typed_into_a_ledger_is_found_out(liar: Liar) -> None:
    liar.run(HONEST)
    document = json.loads((liar.root / "l.json").read_text())
    other = next(c for c in document["claims"] if c["id"] == "x/other")
    other |= {"verdict": "holds", "grade": "kernel"}
    other["evidence"] = [
        {
            "test": "test_lies.py::test_none",
            "grade": "kernel",
            "direction": "for",
            "outcome": "passed",
        }
    ]
    (liar.root / "ledger.json").write_text(json.dumps(document))
    done = liar.run(HONEST, "--ledger-against", "ledger.json")
    assert done.ret == 1
    assert "no longer exists" in done.stdout.str()
    assert liar.verdicts()["x/other"] == "open"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (CLAIMS + table("bound", "A", "again"), "x/bound is also in"),
        (CLAIMS + table("typed", "A", "it holds", 'verdict = "holds"'), "unknown field 'verdict'"),
        (CLAIMS + table("self", "A", "it", 'repaired_by = "x/self"'), "repaired by itself"),
    ],
)
def test_claims_that_lie_are_refused(liar: Liar, text: str, sentence: str) -> None:
    (liar.root / "claims.toml").write_text(text)
    liar.pytester.makepyfile(test_lies="def test_it(): pass")
    done = liar.pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider")
    assert done.ret == 4
    assert sentence in done.stderr.str() + done.stdout.str()


def test_a_deselected_test_decides_nothing(liar: Liar) -> None:
    liar.run(HONEST + "\ndef test_more():\n    pass\n", "-k", "more")
    assert liar.undecided()


def test_the_digest_depends_on_the_claim() -> None:
    one = Claim("x/a", "A", "", "", "words", "", "")
    other = Claim("x/b", "A", "", "", "words", "", "")
    assert one.digest != other.digest
