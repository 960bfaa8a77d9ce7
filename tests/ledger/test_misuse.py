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


MEANS = 'symbols = "x is any number"'
SQUARE = "given x, y: real; conclude x*x + y*y >= 2*x*y"
PROVES = (f"formula = {SQUARE!r}", MEANS)
REFUTES = (f"counterformula = {SQUARE!r}", MEANS)
CLAIMS = "\n".join(
    (
        '[paper]\nkey = "x"\ntitle = "Lies"\n',
        table("bound", "A", "rank argmax M is at most 2", f"formal = {FORMAL!r}"),
        table("other", "A", "rank argmax M is at most 3"),
        table("exists", "E", "there is a matrix"),
        table("instance", "I", "this matrix"),
        table("trained", "T", "it trains"),
        table("broken", "A", "too much", 'repaired_by = "x/other"', *REFUTES),
        table("square", "A", "no square is negative", *PROVES),
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
class Judgement:
    claim, verdict = "x/trained", "reproduced"
    def __init__(self, number):
        self.sentence = f"it did: {number}"
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

    def run(self, test: str = "", *arguments: str, **files: str) -> pytest.RunResult:
        """Run tests, of one file or of several by name."""
        written = files or {"test_lies": test}
        self.pytester.makepyfile(**{n: IMPORTS + self.dated(t) for n, t in written.items()})
        return self.pytester.runpytest_inprocess(
            "-q", "-p", "no:randomly", "-p", "no:cacheprovider", "--ledger", "l.json", *arguments
        )

    def dated(self, test: str) -> str:
        """The test with the true digests in it."""
        for name in ("bound", "other", "exists", "instance", "trained", "square", "broken"):
            test = test.replace(f"@{name}@", f'statement="{self.digest(name)}"')
        return test

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
    sample(lambda n, power: n**power >= n, n, 2, control=(2, 0))

@pytest.mark.claim("x/instance", @instance@)
def test_instance(exhaust):
    pairs = ((a, b) for a in range(3) for b in range(3))
    assert exhaust(pairs, lambda a, b: a * b <= 4, control=(3, 2)) == 9

@pytest.mark.claim("x/square", @square@)
def test_square(symbolic):
    symbolic.decide("x/square")

@pytest.mark.claim("x/trained", @trained@)
def test_trained(measure):
    measure(lambda data: [Judgement(sum(data) / len(data))], [1, 2, 4])
"""
    )
    assert done.ret == 0, done.stdout.str()
    decided = liar.verdicts()
    assert decided["x/bound"] == "refuted"
    assert decided["x/other"] == "supported"
    assert decided["x/instance"] == decided["x/square"] == "holds"
    assert decided["x/trained"] == "reproduced"
    entries = json.loads((liar.root / "l.json").read_text())["claims"]
    evidence = {c["id"]: c["evidence"][0] for c in entries if c["evidence"]}
    assert evidence["x/instance"]["scope"] == "9 instances, a = 0..2, b = 0..2"
    assert evidence["x/square"]["symbols"] == ["x", "y"]
    assert evidence["x/square"]["formula"] == SQUARE
    assert evidence["x/other"]["count"] == 10  # hypothesis draws some of 0 to 9 more than once
    assert "n**power >= n" in evidence["x/other"]["predicate"]


def test_what_data_say_without_deciding_is_kept_and_decides_nothing(liar: Liar) -> None:
    done = liar.run(
        """
class Undecided(Judgement):
    verdict = None

@pytest.mark.claim("x/trained", @trained@)
def test_it(measure):
    measure(lambda data: [Undecided(sum(data))], [1, 2, 4], undecided=True)
"""
    )
    assert done.ret == 0, done.stdout.str()
    assert liar.undecided()
    entries = json.loads((liar.root / "l.json").read_text())["claims"]
    (evidence,) = [item for c in entries for item in c["evidence"]]
    assert (evidence["measured"], evidence["details"]) == ("open", "it did: 7")


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
    exhaust([1], lambda n: n == 1, control=2)
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
            sample(lambda n: n != 3, n, control=3)
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
    exhaust([1], lambda n: n == 1, control=2)
    record_property("lemmax_evidence", {"claim": "x/instance", "grade": "universal",
                    "direction": "for", "test": "t", "scope": "all"})
""",
    "one parameter of two": """
@pytest.mark.claim("x/instance", scope="both", @instance@)
@pytest.mark.parametrize("n", [1, 2])
def test_it(exhaust, n):
    if n == 1:
        exhaust([1], lambda n: n == 1, control=2)
""",
    "one parameter of two fails": """
@pytest.mark.claim("x/instance", scope="both", @instance@)
@pytest.mark.parametrize("n", [1, 2])
def test_it(exhaust, n):
    exhaust([n], lambda n: n == 1, control=0)
""",
    "a skipped test": """
@pytest.mark.skip
@pytest.mark.claim("x/instance", scope="all", @instance@)
def test_it(exhaust):
    exhaust([1], lambda n: n == 1, control=2)
""",
    "a test that skips itself afterwards": """
@pytest.mark.claim("x/instance", scope="all", @instance@)
def test_it(exhaust):
    exhaust([1], lambda n: n == 1, control=2)
    pytest.skip("enough")
""",
    "an expected failure": """
@pytest.mark.xfail
@pytest.mark.claim("x/instance", scope="all", @instance@)
def test_it(exhaust):
    exhaust([1], lambda n: n == 1, control=2)
    assert False
""",
    "an expected failure that passes": """
@pytest.mark.xfail
@pytest.mark.claim("x/instance", scope="all", @instance@)
def test_it(exhaust):
    exhaust([1], lambda n: n == 1, control=2)
""",
    "a failing teardown": """
@pytest.fixture
def late():
    yield
    assert False

@pytest.mark.claim("x/instance", scope="all", @instance@)
def test_it(exhaust, late):
    exhaust([1], lambda n: n == 1, control=2)
""",
    "no instances": """
@pytest.mark.claim("x/instance", scope="all", @instance@)
def test_it(exhaust):
    exhaust([], lambda n: n == 1, control=2)
""",
    "a predicate that says nothing": """
@pytest.mark.claim("x/instance", scope="all", @instance@)
def test_it(exhaust):
    exhaust([1], lambda n: None if n == 1 else False, control=2)
""",
    "a predicate that says something true-ish": """
@pytest.mark.claim("x/instance", scope="all", @instance@)
def test_it(exhaust):
    exhaust([1], lambda n: "yes" if n == 1 else False, control=2)
""",
    "all instances without a scope": """
@pytest.mark.claim("x/instance", @instance@)
def test_it(exhaust):
    exhaust(["a"], lambda n: n == "a", control="b")
""",
    "examples that are all assumed away": """
@pytest.mark.claim("x/other", scope="all", @other@)
def test_it(sample):
    @given(st.integers())
    def inner(n):
        if n != n:
            sample(lambda n: n > 0, n, control=0)
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
@pytest.mark.claim("x/trained", @trained@)
def test_it(measure):
    measure(lambda data: [Judgement(len(data))] if data else [], [])
""",
    "data that decide after all": """
@pytest.mark.claim("x/trained", @trained@)
def test_it(measure):
    measure(lambda data: [Judgement(sum(data))], [1, 2, 4], undecided=True)
""",
    "data that do not decide and do not say so": """
class Undecided(Judgement):
    verdict = None

@pytest.mark.claim("x/trained", @trained@)
def test_it(measure):
    measure(lambda data: [Undecided(sum(data))], [1, 2, 4])
""",
    "an undecided judge that does not look": """
class Undecided(Judgement):
    verdict = None

@pytest.mark.claim("x/trained", @trained@)
def test_it(measure):
    measure(lambda data: [Undecided("always")], [1, 2, 4], undecided=True)
""",
    "a judgement of another claim": """
class About(Judgement):
    claim = "x/other"

@pytest.mark.claim("x/trained", @trained@)
def test_it(measure):
    measure(lambda data: [About(len(data))] if data else [], [1, 2])
""",
    "a test without a digest": """
@pytest.mark.claim("x/instance", scope="all")
def test_it(exhaust):
    exhaust([1], lambda n: n == 1, control=2)
""",
    "a test for other words": """
@pytest.mark.claim("x/instance", scope="all", statement="0123456789abcdef")
def test_it(exhaust):
    exhaust([1], lambda n: n == 1, control=2)
""",
    "a theorem of a file that does not exist": """
@pytest.mark.claim("x/other", @other@)
def test_it(kernel):
    kernel("nothing", "trivial")
""",
    "a predicate that is always true": """
@pytest.mark.claim("x/instance", scope="all", @instance@)
def test_it(exhaust):
    exhaust([1, 2], lambda n: n == n, control=3)
""",
    "a predicate that does not look": """
@pytest.mark.claim("x/instance", scope="all", @instance@)
def test_it(exhaust):
    exhaust([1, 2], lambda n: True, control=3)
""",
    "a predicate that looks at one argument of two": """
@pytest.mark.claim("x/instance", scope="all", @instance@)
def test_it(exhaust):
    exhaust([(1, 5), (2, 5)], lambda matrix, bound: bound == 5, control=(1, 4))
""",
    "no control": """
@pytest.mark.claim("x/instance", scope="all", @instance@)
def test_it(exhaust):
    exhaust([1, 2], lambda n: n > 0)
""",
    "a control of another type": """
@pytest.mark.claim("x/instance", scope="all", @instance@)
def test_it(exhaust):
    exhaust([1, 2], lambda n: isinstance(n, int), control="no number")
""",
    "a control that raises": """
@pytest.mark.claim("x/instance", scope="all", @instance@)
def test_it(exhaust):
    exhaust([1, 2], lambda n: 1 // n >= 0, control=0)
""",
    "a predicate that is built in": """
@pytest.mark.claim("x/instance", scope="all", @instance@)
def test_it(exhaust):
    exhaust([1, 2], bool, control=0)
""",
    "a property that is always true": """
@pytest.mark.claim("x/other", scope="all", @other@)
@given(st.integers())
def test_it(sample, n):
    sample(lambda n: n * 0 == 0, n, control=7)
""",
    "a condition in place of a property": """
@pytest.mark.claim("x/other", scope="all", @other@)
@given(st.integers())
def test_it(sample, n):
    sample(n == n, control=None)
""",
    "a property of one example, many times": """
@pytest.mark.claim("x/other", scope="all", @other@)
def test_it(sample):
    for _ in range(100):
        sample(lambda n: n > 0, 1, control=0)
""",
    "a formula of one's own": """
@pytest.mark.claim("x/square", direction="against", @square@)
def test_it(symbolic):
    import z3
    x, y = z3.Reals("x y")
    symbolic.proves(x * x + y * y >= 2 * x * y)
""",
    "the formula of another claim": """
@pytest.mark.claim("x/other", @other@)
def test_it(symbolic):
    symbolic.decide("x/square")
""",
    "a formula of a claim that carries none": """
@pytest.mark.claim("x/other", @other@)
def test_it(symbolic):
    symbolic.decide("x/other")
""",
    "a formula that proves, called a refutation": """
@pytest.mark.claim("x/square", direction="against", @square@)
def test_it(symbolic):
    symbolic.decide("x/square")
""",
    "a formula that simplifies to true": """
@pytest.mark.claim("x/other", @other@)
def test_it(symbolic):
    import z3
    x = z3.Real("x")
    symbolic.proves(x == x)
""",
    "an identity of a thing with itself": """
@pytest.mark.claim("x/other", @other@)
def test_it(symbolic):
    import sympy
    x = sympy.Symbol("x")
    symbolic.identity(x + 1, x + 1)
""",
    "assumptions that nothing needs": """
@pytest.mark.claim("x/other", @other@)
def test_it(symbolic):
    import z3
    x, y = z3.Reals("x y")
    symbolic.proves(x * x >= 0, y > 0)
""",
    "a judge that does not look": """
@pytest.mark.claim("x/trained", @trained@)
def test_it(measure):
    measure(lambda data: [Judgement("always")], [1, 2, 3])
""",
    "a judge that only asks whether there are data": """
@pytest.mark.claim("x/trained", @trained@)
def test_it(measure):
    measure(lambda data: [Judgement("always")] if data else [], [1, 2, 3])
""",
    "a judge of other data than it is given": """
OTHER = [5, 6, 7]
@pytest.mark.claim("x/trained", @trained@)
def test_it(measure):
    measure(lambda data: [Judgement(sum(OTHER))], [1, 2, 3])
""",
    "an earning that a test types": """
@pytest.mark.claim("x/instance", scope="all", grade="universal", @instance@)
def test_it(request):
    from lemmax.pytest_plugin.earnings import earn
    from lemmax.theory.ledger.earning import Earned
    earn(request.node, Earned("universal", count=9, scope="all"))
""",
    "a fixture with the name of ours": """
@pytest.fixture
def exhaust(request):
    from lemmax.pytest_plugin.earnings import earn
    from lemmax.theory.ledger.earning import Earned
    return lambda: earn(request.node, Earned("universal", count=9, scope="all"))

@pytest.mark.claim("x/instance", scope="all", @instance@)
def test_it(exhaust):
    exhaust()
""",
    "a predicate that says no only once": """
calls = []
def later(n):
    calls.append(n)
    return len(calls) > 1

@pytest.mark.claim("x/instance", scope="all", @instance@)
def test_it(exhaust):
    exhaust([1, 2], later, control=3)
""",
    "a property that says no only once": """
calls = []
def later(n):
    calls.append(n)
    return len(calls) > 1

@pytest.mark.claim("x/other", scope="all", @other@)
def test_it(sample):
    for n in range(9):
        sample(later, n, control=10)
""",
    "a failure swallowed whatever it is": """
@pytest.mark.claim("x/instance", scope="all", @instance@)
def test_it(exhaust):
    try:
        exhaust([1, 2], lambda n: n == 1, control=0)
    except BaseException:
        pass
    exhaust([1], lambda n: n == 1, control=0)
""",
    "a solver that is patched": """
@pytest.mark.claim("x/other", @other@)
def test_it(symbolic, monkeypatch):
    import z3
    x = z3.Real("x")
    monkeypatch.setattr(z3.Solver, "check", lambda self, *a: z3.unsat)
    symbolic.proves(x > 5)
""",
}
# Nothing ran, or what ran is not evidence: pytest itself has no reason to fail.
QUIET = (
    "a formula of one's own",  # listed, and decides nothing
    "a recorded marker",
    "a skipped test",
    "a test that skips itself afterwards",
    "an expected failure",
    "an expected failure that passes",
)


def test_no_lie_yields_a_verdict(liar: Liar) -> None:
    """All at once, a file each: nothing is decided, and each file that should be named is."""
    files = {f"test_lie_{n}": lie for n, lie in enumerate(LIES)}
    done = liar.run(**{name: LIES[lie] for name, lie in files.items()})
    assert done.ret == 1
    assert liar.undecided(), liar.verdicts()
    told = "\n".join(
        line for line in done.stdout.lines if line.startswith(("ERROR ", "FAILED ", "E   "))
    )
    silent = {lie for name, lie in files.items() if f"{name}.py" not in told}
    assert silent == set(QUIET)


@pytest.mark.parametrize("lie", ["an empty test called kernel", "a predicate that does not look"])
def test_one_lie_fails_the_run(liar: Liar, lie: str) -> None:
    assert liar.run(LIES[lie]).ret == 1
    assert liar.undecided()


HONEST = """
@pytest.mark.claim("x/instance", scope="all", @instance@)
def test_it(exhaust):
    exhaust([1], lambda n: n == 1, control=2)
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
@pytest.mark.claim("x/broken", direction="against", @broken@)
def test_it(symbolic):
    symbolic.decide("x/broken")
"""
    liar.page("other", "{by hand}")
    liar.run(against)
    assert liar.verdicts()["x/broken"] == "refuted"
    reason = 'repaired_by = "x/other"\nrepair = "another constant"'
    text = CLAIMS.replace('repaired_by = "x/other"', reason)
    (liar.root / "claims.toml").write_text(text)
    liar.run(against)
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
        (
            CLAIMS + table("f", "A", "it", 'formula = "given x: real; conclude x >= x"', MEANS),
            "itself",
        ),
        (
            CLAIMS + table("f", "A", "it", 'formula = "given x: real; conclude 1 > 0"', MEANS),
            "free",
        ),
        (CLAIMS + table("f", "A", "it", 'formula = "given x: real; conclude x > 0"'), "symbols"),
        (
            CLAIMS
            + table("f", "A", "it", 'formula = "given x, y: real; conclude x*x >= 0"', MEANS),
            "does not depend on 'y'",
        ),
        (
            CLAIMS
            + table("f", "A", "it", 'formula = "given x: real; conclude open(x) > 0"', MEANS),
            "none of the words",
        ),
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
