"""What gathers a run, part by part: options, reports, sums, the lines at the end, the last pass."""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any, cast

import pytest

import lemmax.pytest_plugin
from lemmax.pytest_plugin import gatherer as gathering
from lemmax.pytest_plugin import rechecking
from lemmax.pytest_plugin.earnings import MARKED
from lemmax.pytest_plugin.gatherer import Gatherer
from lemmax.pytest_plugin.pages import ProofItem, ProofPage
from lemmax.pytest_plugin.rechecking import rechecked
from lemmax.theory.ledger.claims import Catalogue, Claim
from lemmax.theory.ledger.earning import Earned
from lemmax.theory.ledger.entries import listed
from lemmax.theory.ledger.projects import Project
from lemmax.theory.ledger.proofs import Proof, ProofStep
from lemmax.theory.ledger.records import to_json
from lemmax.theory.ledger.verdicts import Entry, Evidence, LedgerError, build_ledger

pytest_plugins = ["pytester"]

HELP = """
claims, evidence and the ledger:
  --ledger FILE         write the ledger of this run as JSON
  --ledger-against FILE
                        fail where this run disagrees with a ledger
  --evidence            run only what is evidence for claims
  --recheck             check the shipped certificates again in the end
  --write-certificates  write the shipped certificates anew
  --write-theorems      record anew what Coq's theorems state
"""


class Parser:
    """The options of a plugin, as argparse has them, and its settings."""

    def __init__(self) -> None:
        self.plain = argparse.ArgumentParser(prog="pytest", add_help=False)
        self.groups: list[str] = []
        self.settings: list[tuple[Any, ...]] = []

    def getgroup(self, name: str, description: str = "") -> Any:
        self.groups.append(name)
        group = self.plain.add_argument_group(description)
        return SimpleNamespace(addoption=group.add_argument)

    def addini(self, name: str, told: str, type: str | None = None, default: Any = None) -> None:
        self.settings.append((name, told, type, default))


def test_options_and_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    parser = Parser()
    lemmax.pytest_plugin.pytest_addoption(cast(pytest.Parser, parser))
    assert parser.groups == ["lemmax"]
    assert parser.plain.format_help().partition("\n\n")[2] == HELP.strip() + "\n"
    words = ["--ledger=a", "--ledger-against", "b", "--evidence", "--recheck"]
    asked = parser.plain.parse_args([*words, "--write-certificates", "--write-theorems"])
    flags = dict.fromkeys(("evidence", "recheck", "write_certificates", "write_theorems"), True)
    assert vars(asked) == flags | {"ledger": "a", "ledger_against": "b"}
    none = parser.plain.parse_args([])
    assert vars(none) == dict.fromkeys(flags, False) | {"ledger": None, "ledger_against": None}
    assert parser.settings == [
        ("lemmax_claims", "claims files or folders", "linelist", []),
        ("lemmax_proofs", "folders of proof pages", "linelist", []),
        ("lemmax_certificates", "the folder of shipped certificates", None, ""),
        ("lemmax_ledger", "the committed ledger (ledger.json)", None, ""),
        ("lemmax_formal", "the folder of Coq sources", None, ""),
        (
            "lemmax_theorems",
            "the file of the statements that Coq printed (theorems.toml)",
            None,
            "",
        ),
    ]


def test_the_marker_is_told(pytester: pytest.Pytester) -> None:
    marker = (
        "claim(id, grade=None, direction='for', scope=None, statement=None): "
        "this test is evidence for a claim"
    )
    assert marker in pytester.parseconfigure().getini("markers")


@pytest.fixture
def project(pytester: pytest.Pytester) -> Path:
    folder = pytester.path
    (folder / "claims.toml").write_text(
        '[paper]\nkey = "y"\ntitle = "Y"\n[[claim]]\nid = "y/c"\nkind = "A"\nnumber = "1"\n'
        'title = "t"\nstatement = "s"\nplace = "p"\nsource = "text"\n'
    )
    pytester.makeini("[pytest]\nlemmax_claims = claims.toml\nlemmax_proofs = proofs\n")
    (folder / "proofs").mkdir()
    return folder


def page(folder: Path, claim: str = "y/c", *uses: str) -> None:
    front = f"---\nclaim: {claim}\ndirection: for\nuses: {', '.join(uses)}\n---\n"
    (folder / "proofs" / "p.md").write_text(f"{front}# A title\n1. Done. {{by hand}}\n")


def configured(pytester: pytest.Pytester, *arguments: str) -> Gatherer:
    manager = pytester.parseconfigure(*arguments).pluginmanager
    return cast(Gatherer, manager.get_plugin("lemmax-gatherer"))


def test_what_a_page_leans_on_is_granted_by_lemmax_or_not(
    pytester: pytest.Pytester, project: Path
) -> None:
    holds = "lemmax:wong/proposition-2.1"
    refuted = "lemmax:" + next(c["id"] for c in listed() if c["verdict"] == "refuted")
    page(project, "y/c", holds, refuted, "y/c")
    found = configured(pytester)
    assert found.granted == {holds}
    assert [proof.claims for proof in found.proofs] == [(holds, refuted, "y/c")]
    for claim, uses, missing in (
        ("y/none", (), "y/none"),
        ("y/c", ("y/none",), "y/none"),
        (holds, (), holds),  # a page proves a claim of its own project
    ):
        page(project, claim, *uses)
        with pytest.raises(pytest.UsageError) as refused:
            configured(pytester)
        where = project / "proofs" / "p.md"
        assert str(refused.value) == f"{where}: there is no claim {missing!r}."


def test_pages_of_proofs_are_collected_and_no_others(
    pytester: pytest.Pytester, project: Path
) -> None:
    page(project)
    found = configured(pytester)
    parent = SimpleNamespace(
        config=SimpleNamespace(
            pluginmanager=SimpleNamespace(get_plugin={"lemmax-gatherer": found}.__getitem__)
        )
    )

    def collect(path: Path) -> Any:
        return lemmax.pytest_plugin.pytest_collect_file(path, cast(pytest.Collector, parent))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ProofPage, "from_parent", lambda parent, path: (parent, path))
        made = collect(project / "proofs" / "p.md")
        assert collect(project / "proofs" / "q.md") is None
        assert collect(project / "claims.toml") is None
    assert made == (parent, project / "proofs" / "p.md")


def test_without_settings_the_claims_are_those_of_lemmax(pytester: pytest.Pytester) -> None:
    config = pytester.parseconfigure()
    found = cast(Gatherer, config.pluginmanager.get_plugin("lemmax-gatherer"))
    assert "wong/proposition-3.6" in found.catalogue
    assert (found.places.proofs, found.places.certificates, found.proofs) == ((), None, [])
    assert config.getini("lemmax_claims") == config.getini("lemmax_proofs") == []
    assert not config.pluginmanager.has_plugin("lemmax-rechecking")
    asked = pytester.parseconfigure("--recheck")
    assert asked.pluginmanager.has_plugin("lemmax-rechecking")
    for option in ("--evidence", "--recheck", "--write-certificates", "--write-theorems"):
        assert config.getoption(option) is False
        assert pytester.parseconfigure(option).getoption(option) is True


# -- a gatherer of its own ----------------------------------------------------------------------

CLAIMS = {
    name: Claim(name, cast(Any, kind), "1", "title", f"says {name}", "here", "text")
    for name, kind in (("x/a", "A"), ("x/bc", "A"), ("x/d", "D"), ("x/e", "A"), ("x/t", "T"))
}
CATALOGUE = Catalogue(MappingProxyType(CLAIMS), MappingProxyType({}))
STEP = ProofStep(1, "s", "test", ("t.py::test_s",))


class Config:
    """As much of pytest's as a gatherer asks for."""

    def __init__(self, root: Path, **options: Any) -> None:
        self.rootpath, self.options = root, options
        self.invocation_params = SimpleNamespace(dir=root)
        self.option = SimpleNamespace(collectonly=options.get("collectonly", False))

    def getoption(self, name: str) -> Any:
        return self.options.get(name.removeprefix("--").replace("-", "_"))


def gatherer(root: Path, *proofs: Proof, granted: tuple[str, ...] = (), **options: Any) -> Gatherer:
    places = Project(root, ledger=root / "ledger.json", certificates=root / "certificates")
    config = cast(pytest.Config, Config(root, **options))
    return Gatherer(config, places, CATALOGUE, list(proofs), frozenset(granted))


def proof(root: Path, name: str = "p.md", claim: str = "x/a", **fields: Any) -> Proof:
    given: dict[str, Any] = {"statement": CLAIMS[claim].digest} | fields
    return Proof(claim, "for", "title", (STEP,), root / "proofs" / name, **given)


def report(nodeid: str, when: str, outcome: str, *told: tuple[str, Any], **more: Any) -> Any:
    return SimpleNamespace(
        nodeid=nodeid,
        when=when,
        failed=outcome == "failed",
        skipped=outcome == "skipped",
        user_properties=list(told),
        **more,
    )


@pytest.mark.parametrize(
    ("phases", "outcome"),
    [
        ([("setup", "passed"), ("call", "passed"), ("teardown", "passed")], "passed"),
        ([("setup", "passed"), ("call", "failed"), ("teardown", "passed")], "failed"),
        ([("setup", "passed"), ("call", "passed"), ("teardown", "failed")], "failed"),
        ([("setup", "failed"), ("teardown", "passed")], "failed"),
        ([("setup", "skipped"), ("teardown", "passed")], "skipped"),
        ([("setup", "passed"), ("call", "skipped"), ("teardown", "passed")], "skipped"),
        ([("setup", "passed"), ("call", "failed"), ("teardown", "skipped")], "failed"),
        ([("call", "skipped"), ("call", "passed")], "skipped"),
        ([("call", "failed"), ("call", "passed")], "failed"),
        ([("setup", "passed"), ("teardown", "passed")], None),
    ],
)
def test_the_outcome_of_a_test_is_that_of_its_worst_phase(
    phases: list[tuple[str, str]], outcome: str | None, tmp_path: Path
) -> None:
    found = gatherer(tmp_path)
    for when, each in phases:
        found.pytest_runtest_logreport(report("t", when, each, ("k", when)))
    assert found.outcomes.get("t") == outcome
    assert found.properties == {"t": [("k", phases[-1][0])]}


def test_what_was_expected_to_fail_and_passed_is_left_out(tmp_path: Path) -> None:
    found = gatherer(tmp_path)
    found.pytest_runtest_logreport(report("t", "call", "passed", wasxfail="reason"))
    assert found.outcomes == {"t": "skipped"}


def test_parameters_of_a_step_are_all_asked_or_one_by_name(tmp_path: Path) -> None:
    found = gatherer(tmp_path)
    found.outcomes = {"t::a[1]": "passed", "t::a[2]": "skipped", "t::ab": "failed"}
    assert found._outcome("t::a") == "skipped"
    assert found._outcome("t::a[1]") == "passed"
    assert found._outcome("t::a[3]") == "not-run"
    assert found._outcome("t::c") == "not-run"


def test_counts_of_the_same_kind_are_summed() -> None:
    one, two = Earned("property", count=1, predicate="p"), Earned("property", count=2)
    plain = Earned("kernel", about="x/a")
    assert gathering._summed([one, plain, two, one, two]) == [
        plain,
        replace(one, count=2),
        replace(two, count=4),
    ]
    assert gathering._summed([]) == []


def test_what_travelled_is_read_back() -> None:
    fields = {"grade": "kernel", "theorems": ["a.b", "c.d"], "count": 3, "certificates": []}
    assert gathering._earned(fields) == Earned("kernel", theorems=("a.b", "c.d"), count=3)


def mark(claim: str = "x/a", grade: str = "kernel", **fields: Any) -> tuple[str, Any]:
    given = {"claim": claim, "grade": grade, "direction": "for", "test": "t.py::t[1]"}
    return "lemmax_evidence", given | {"statement": CLAIMS[claim].digest} | fields


EARNED = ("lemmax_earned", {"grade": "kernel", "theorems": ["a.b"]})


def test_marked_tests_become_evidence(tmp_path: Path) -> None:
    found = gatherer(tmp_path)
    typed: dict[str, Any] = {
        "certificates": ["typed"],
        "sha256": ["typed"],
        "theorems": ["z"],
        "symbols": ["s"],
    }
    found.properties = {
        "t.py::t[1]": [mark(**typed), mark("x/bc"), EARNED, ("else", 1)],
        "t.py::u": [mark(), ("lemmax_failed", "no."), ("lemmax_failed", "nor that."), EARNED],
        "t.py::v": [mark()],
        "t.py::w": [mark(), EARNED],
        "t.py::x": [EARNED],
        "t.py::y": [mark(), ("lemmax_failed", "no.")],
    }
    found.outcomes = {f"t.py::{n}": "passed" for n in ("t[1]", "u", "v", "x")}
    found.outcomes["t.py::y"] = "failed"
    found.deselected = {"t.py::z[2]": [mark("x/e", **typed)[1], mark("x/bc")[1]]}
    first = Evidence(
        *("x/a", "kernel", "for", "t.py::t"), theorems=("a.b",), statement=CLAIMS["x/a"].digest
    )
    swallowed = "t.py::u swallows a failure: no."
    unearned = (
        "t.py::v (x/a) is called kernel but earns nothing about the claim: "
        "the fixture kernel has to decide it."
    )
    bare = replace(first, theorems=())
    other = replace(first, claim="x/bc", statement=CLAIMS["x/bc"].digest)
    assert found.evidence() == [
        first,
        other,
        replace(bare, test="t.py::u", outcome="broken", details=swallowed),
        replace(bare, test="t.py::v", outcome="broken", details=unearned),
        replace(bare, test="t.py::w", outcome="not-run"),
        replace(bare, test="t.py::y", outcome="failed"),
        replace(
            bare,
            claim="x/e",
            test="t.py::z",
            outcome="not-run",
            statement=CLAIMS["x/e"].digest,
        ),
        replace(other, theorems=(), test="t.py::z", outcome="not-run"),
    ]
    assert found.problems == [swallowed, unearned]


def test_proof_pages_become_evidence(tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text("def test_s(): pass\n")
    pages = [proof(tmp_path, f"{n}.md") for n in range(3)]
    stale = proof(tmp_path, "stale.md", statement="0123")
    found = gatherer(tmp_path, *pages, stale, proof(tmp_path, "none.md"))
    found.outcomes = {
        "t.py::test_s[1]": "passed",
        "proofs/0.md::x/a": "passed",
        "proofs/1.md::x/a": "failed",
        "proofs/stale.md::x/a": "passed",
        "proofs/none.mdx::x/a": "passed",
    }
    first, second, third, fourth, fifth = found.evidence()
    digest = CLAIMS["x/a"].digest
    assert first == Evidence("x/a", "argued", "for", "proofs/0.md", statement=digest)
    assert second == replace(first, test="proofs/1.md", outcome="broken")
    assert third == replace(first, test="proofs/2.md", outcome="not-run")
    assert fifth == replace(first, test="proofs/none.md", outcome="not-run")
    assert (fourth.outcome, fourth.test) == ("stale", "proofs/stale.md")
    assert found.problems == [fourth.details]
    assert found.premises["proofs/0.md"] == ()


def test_a_step_that_is_gone_is_a_problem_and_one_that_did_not_run_is_none(tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text("def test_s(): pass\n")
    gone = replace(proof(tmp_path), steps=(ProofStep(1, "s", "test", ("t.py::test_t",)),))
    found = gatherer(tmp_path, gone, proof(tmp_path, "q.md"))
    found.outcomes = {"proofs/p.md::x/a": "passed", "proofs/q.md::x/a": "passed"}
    first, second = found.evidence()
    assert first.outcome == "broken"
    assert first.details == "the step test t.py::test_t does not exist"
    assert second.outcome == "not-run"
    assert second.details == "the step test t.py::test_s is not-run"
    assert found.problems == ["proofs/p.md: the step test t.py::test_t does not exist."]


# -- the end of a run ---------------------------------------------------------------------------


class Told:
    """A terminal that remembers what was written to it."""

    def __init__(self) -> None:
        self.lines: list[Any] = []

    def section(self, title: str) -> None:
        self.lines.append(f"== {title}")

    def write_line(self, line: str, red: bool = False) -> None:
        self.lines.append(("red", line) if red else line)


def finish(found: Gatherer, status: pytest.ExitCode = pytest.ExitCode.OK) -> Any:
    session = SimpleNamespace(exitstatus=status)
    found.pytest_sessionfinish(cast(pytest.Session, session), int(status))
    return session.exitstatus


def summary(found: Gatherer) -> list[Any]:
    told = Told()
    found.pytest_terminal_summary(told)
    return told.lines


def test_a_run_without_evidence_says_nothing(tmp_path: Path) -> None:
    found = gatherer(tmp_path, proof(tmp_path))
    found.properties = {"t.py::t": [("other", 1)]}
    found.outcomes = {"t.py::t": "passed", "else/q.md::x": "passed", "t.py::t[/p.md::x]": "passed"}
    assert finish(found) == pytest.ExitCode.OK
    assert (found.ledger, found.shown, summary(found)) == ({}, {}, [])


def test_a_page_is_evidence_enough_for_a_ledger(tmp_path: Path) -> None:
    found = gatherer(tmp_path, proof(tmp_path))
    found.outcomes = {"proofs/p.md::x/a": "passed"}
    finish(found)
    assert found.ledger["x/a"].evidence[0].details == "the step test t.py::test_s does not exist"


def test_what_a_run_says_in_the_end(tmp_path: Path) -> None:
    """The ledger lies where the run began, wherever a test has gone since."""
    found = gatherer(tmp_path, ledger="out.json")
    found.properties = {
        "t.py::t": [mark("x/bc"), EARNED],
        "t.py::u": [mark("x/a", "property", scope="small")],
        "t.py::v": [mark("x/a"), EARNED],
        "t.py::w": [mark("x/bc")],
    }
    found.outcomes = {"t.py::t": "passed", "t.py::u": "skipped", "t.py::v": "failed"}
    found.outcomes["t.py::w"] = "passed"
    found.deselected = {"t.py::z": [mark("x/t")[1]]}
    assert finish(found) == pytest.ExitCode.TESTS_FAILED
    problem = (
        "t.py::w (x/bc) is called kernel but earns nothing about the claim: "
        "the fixture kernel has to decide it."
    )
    found.problems.append(problem)  # said once, however often it was found
    assert summary(found) == [
        "== ledger",
        "x/a   A  open             -          0 passed, 1 left out",
        "x/bc  A  holds            kernel     1 passed",
        "without evidence: x/e",
        ("red", f"ERROR {problem}"),
    ]
    document = json.loads((tmp_path / "out.json").read_text())
    assert document["left_out"] == ["t.py::u", "t.py::z"]
    assert [c["verdict"] for c in document["claims"]] == [
        "open",
        "holds",
        "definition",
        "open",
        "open",
    ]


def test_a_run_that_failed_already_keeps_its_status(tmp_path: Path) -> None:
    found = gatherer(tmp_path)
    found.properties, found.outcomes = {"t": [mark()]}, {"t": "passed"}
    assert finish(found, pytest.ExitCode.INTERRUPTED) == pytest.ExitCode.INTERRUPTED
    assert len(found.problems) == 1
    fine = gatherer(tmp_path)
    fine.properties, fine.outcomes = {"t": [mark(), EARNED]}, {"t": "passed"}
    assert finish(fine) == pytest.ExitCode.OK
    assert summary(fine)[1] == "x/a  A  holds            kernel     1 passed"


def test_workers_and_collections_derive_nothing(tmp_path: Path) -> None:
    for found in (gatherer(tmp_path), gatherer(tmp_path, collectonly=True)):
        found.properties, found.outcomes = {"t": [mark()]}, {"t": "passed"}
        if not found.config.option.collectonly:
            cast(Any, found.config).workerinput = {}
        assert finish(found) == pytest.ExitCode.OK
        assert found.ledger == {}


def test_premises_and_grants_reach_both_ledgers(tmp_path: Path) -> None:
    leaning = replace(proof(tmp_path), steps=(), uses=("lemmax:z/c",))
    for granted, verdict, line in (
        (
            (),
            "open",
            "x/a  A  open             -          0 passed, "
            "leans on lemmax:z/c, which does not hold",
        ),
        (("lemmax:z/c",), "holds", "x/a  A  holds            argued     1 passed"),
    ):
        found = gatherer(tmp_path, leaning, granted=granted)
        found.outcomes = {"proofs/p.md::x/a": "passed"}
        finish(found)
        assert found.ledger["x/a"].verdict == found.shown["x/a"].verdict == verdict
        assert summary(found)[1] == line
        (tmp_path / "l.json").write_text(to_json(found.ledger))
        again = gatherer(tmp_path, leaning, granted=granted, ledger_against="l.json")
        again.outcomes = found.outcomes
        assert finish(again) == pytest.ExitCode.OK
        assert again.problems == []


def test_a_committed_ledger_is_compared_and_its_fault_told(tmp_path: Path) -> None:
    def ran(**options: Any) -> Gatherer:
        found = gatherer(tmp_path, **options)
        found.properties, found.outcomes = {"t": [mark(), EARNED]}, {"t": "passed"}
        return found

    first = ran(ledger=str(tmp_path / "l.json"))
    assert finish(first) == pytest.ExitCode.OK
    assert finish(ran(ledger_against="l.json")) == pytest.ExitCode.OK
    worse = ran(ledger_against="l.json")
    worse.properties, worse.problems = {"t": [mark()]}, ["before."]
    assert finish(worse) == pytest.ExitCode.TESTS_FAILED
    assert worse.problems[0] == "before."
    assert worse.problems[2:] == ["x/a: the ledger says holds (kernel), a fresh run says open."]
    missing = ran(ledger_against="none.json")
    assert finish(missing) == pytest.ExitCode.TESTS_FAILED
    assert missing.problems[0].startswith(f"There is no ledger at {tmp_path / 'none.json'}")
    nowhere = ran(ledger=str(tmp_path / "no" / "l.json"))
    assert finish(nowhere) == pytest.ExitCode.TESTS_FAILED
    (problem,) = nowhere.problems
    assert str(tmp_path / "no") in problem


def test_what_was_not_selected_is_read_in_the_committed_ledger(tmp_path: Path) -> None:
    """Only what passed, for the same words, and whose test still exists."""
    (tmp_path / "t.py").write_text("def test_s(): pass\ndef test_u(): pass\n")
    (tmp_path / "page.md").write_text("")
    digest = {name: claim.digest for name, claim in CLAIMS.items()}

    def item(claim: str, test: str, outcome: Any = "passed", direction: Any = "for") -> Evidence:
        return Evidence(claim, "kernel", direction, test, outcome, statement=digest[claim])

    kept = [item("x/a", "t.py::test_s"), item("x/e", "page.md")]
    known = [
        *kept,
        item("x/a", "t.py::test_u", "failed"),
        item("x/a", "t.py::gone"),
        item("x/a", "gone.md"),
        item("x/bc", "t.py::test_u"),
        item("x/e", "t.py::test_u"),
    ]
    text = to_json(build_ledger(CATALOGUE, known)).replace(digest["x/bc"], "0" * 16, 1)
    stranger = '{"id": "y/b", "digest": "0", "verdict": "open", "grade": null, "evidence": [%s]}'
    told = '{"grade": "kernel", "direction": "for", "test": "t.py::test_s"}'
    text = text.replace("\n]}", ",\n" + stranger % told + "\n]}")
    found = gatherer(tmp_path)
    now = [
        item("x/a", "t.py::test_s", "not-run"),
        item("x/a", "t.py::test_s", "not-run", "against"),
        item("x/e", "t.py::test_u", "failed"),
    ]
    assert found._completed(now) == now
    (tmp_path / "ledger.json").write_text(text)
    assert found._completed(now) == [*now[1:], *(replace(e, recorded=True) for e in kept)]
    fresh = Entry(CLAIMS["x/a"], "open", None, ())
    found.ledger = {"x/a": fresh}
    shown = Entry(
        CLAIMS["x/a"], "supported", "kernel", (replace(kept[0], recorded=True), *now[:1], kept[0])
    )
    told = "A  supported        kernel     1 passed, 1 left out, recorded"
    assert found._told(shown) == told
    leaning = [replace(kept[0], details=d) for d in ("leans on y", "leans on b", "else", None)]
    supported = Entry(CLAIMS["x/a"], "supported", "kernel", tuple(leaning))
    found.ledger = {"x/a": supported}
    assert found._told(supported).endswith("4 passed, leans on b, leans on y")
    found.ledger = {"x/a": replace(supported, verdict="holds")}
    assert found._told(found.ledger["x/a"]) == "A  holds            kernel     4 passed"


def test_workers_hand_over_what_they_left_out(tmp_path: Path) -> None:
    found = gatherer(tmp_path)
    found.deselected, found.collected = {"a": []}, {"t"}
    output = {"lemmax_deselected": '{"b": [{"claim": "x/a"}]}', "lemmax_collected": '["u", "v"]'}
    found.pytest_testnodedown(SimpleNamespace(workeroutput=output), None)
    assert found.deselected == {"a": [], "b": [{"claim": "x/a"}]}
    assert found.collected == {"t", "u", "v"}
    for node in (SimpleNamespace(), SimpleNamespace(workeroutput=None)):
        found.pytest_testnodedown(node, None)
    found.pytest_testnodedown(SimpleNamespace(workeroutput={}), None)
    assert found.deselected == {"a": [], "b": [{"claim": "x/a"}]}
    assert found.collected == {"t", "u", "v"}


# -- the last pass ------------------------------------------------------------------------------

Ask = Callable[..., tuple[str, list[str]]]
BOTH = ("a.json", "x/b.json")
LINE = "{} of {} shipped certificates hold, in a fresh process"


@pytest.fixture
def checker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checker that prints one file and exits with what another says, whatever it is asked."""
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, pathlib\n"
        "here = pathlib.Path(__file__).parent\n"
        "(here / 'asked').write_text(repr((sys.argv[1:], sys.flags.isolated, sys.flags.no_site)))\n"
        "sys.stderr.write((here / 'err').read_text())\n"
        "print((here / 'out').read_text())\n"
        "sys.exit(int((here / 'code').read_text()))\n"
    )
    monkeypatch.setattr(rechecking, "CHECKER", script)
    return tmp_path


def shipped(folder: Path, *names: str) -> list[Evidence]:
    (folder / "x").mkdir(exist_ok=True)
    items = []
    for name in names:
        (folder / name).write_text(name)
        digest = hashlib.sha256(name.encode()).hexdigest()
        fields = {"certificates": (name,), "sha256": (digest,)}
        items.append(Evidence("x/a", "certified", "for", f"t::{name}", **cast(Any, fields)))
    return items


def answered(folder: Path, out: Any, code: int = 0, err: str = "") -> None:
    (folder / "out").write_text(out if isinstance(out, str) else json.dumps(out))
    (folder / "code").write_text(str(code))
    (folder / "err").write_text(err)


GOOD = {"status": "holds", "steps": ["one", "two"]}
BAD = {"status": "does-not-hold", "steps": ["one", "no"]}
UNREAD = {"status": "unreadable", "error": "no file", "steps": []}


def test_the_checker_is_asked_once_for_all_files(checker: Path) -> None:
    items = shipped(checker, "x/b.json", "a.json")
    answered(checker, [GOOD, GOOD])
    assert rechecked(checker, items) == (LINE.format(2, 2), [])
    files = [str(checker / name) for name in ("a.json", "x/b.json")]
    assert (checker / "asked").read_text() == repr((["--json", "--", *files], 1, 1))


@pytest.mark.parametrize(
    ("out", "code", "err", "holding", "why"),
    [
        ([GOOD, BAD], 1, "", 1, {"x/b.json": "no"}),
        ([UNREAD, GOOD], 2, "", 1, {"a.json": "no file"}),
        ([GOOD, BAD], 0, "", 0, dict.fromkeys(BOTH, "the checker did not answer")),
        ([GOOD, GOOD], 1, " oh \n", 0, dict.fromkeys(BOTH, "oh")),
        ([GOOD], 0, "", 0, dict.fromkeys(BOTH, "the checker did not answer")),
        ([GOOD] * 3, 0, "", 0, dict.fromkeys(BOTH, "the checker did not answer")),
        ("", 0, "oh", 0, dict.fromkeys(BOTH, "oh")),
        ([GOOD, {}], 1, "oh", 0, dict.fromkeys(BOTH, "oh")),
        (
            [GOOD, {"status": "holds", "steps": []}],
            0,
            "oh",
            0,
            dict.fromkeys(BOTH, "oh"),
        ),
        ("1", 0, "oh", 0, dict.fromkeys(BOTH, "oh")),
    ],
)
def test_what_does_not_hold_is_told(
    checker: Path, out: Any, code: int, err: str, holding: int, why: dict[str, str]
) -> None:
    items = shipped(checker, "a.json", "x/b.json")
    answered(checker, out, code, err)
    line, problems = rechecked(checker, items)
    assert line == LINE.format(holding, 2)
    assert problems == [f"The certificate {n} does not hold: {w}" for n, w in why.items()]


def test_files_that_are_gone_or_others_are_told(checker: Path) -> None:
    items = shipped(checker, "a.json", "b.json", "c.json")
    (checker / "a.json").unlink()
    (checker / "b.json").write_text("other")
    answered(checker, [GOOD])
    assert rechecked(checker, items) == (
        LINE.format(1, 3),
        [
            "The certificate a.json is not there.",
            "The certificate b.json is not what the run checked.",
        ],
    )
    (checker / "c.json").unlink()
    answered(checker, "nothing is asked", 1)
    assert rechecked(checker, items)[0] == LINE.format(0, 3)


def test_what_ships_nothing(checker: Path) -> None:
    none = "no certificate ships with what ran"
    kernel = Evidence("x/a", "kernel", "for", "t::k")
    bare = Evidence("x/a", "certified", "for", "t::c")
    assert rechecked(checker, [kernel]) == (none, [])
    assert rechecked(None, shipped(checker, "a.json")) == (none, [])
    assert rechecked(checker, [bare]) == (none, ["t::c decides x/a and ships no certificate."])
    odd = replace(bare, certificates=("a.json",))
    with pytest.raises(ValueError, match="shorter"):
        rechecked(checker, [odd])


def test_the_last_pass_of_a_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = gatherer(tmp_path)
    passed = Evidence("x/a", "kernel", "for", "t::k")
    others = (replace(passed, recorded=True), replace(passed, outcome="failed"))
    seen.ledger = {"x/a": Entry(CLAIMS["x/a"], "open", None, (passed, *others))}
    config = cast(Any, seen.config)
    config.pluginmanager = SimpleNamespace(get_plugin={"lemmax-gatherer": seen}.__getitem__)
    asked: list[Any] = []

    def answer(folder: Path | None, items: list[Evidence]) -> tuple[str, list[str]]:
        asked.append((folder, items))
        return "a line", list(wrong)

    monkeypatch.setattr(rechecking, "rechecked", answer)

    def end(status: pytest.ExitCode) -> tuple[Any, list[Any]]:
        last = rechecking.Rechecking(config)
        session = SimpleNamespace(exitstatus=status)
        steps = last.pytest_sessionfinish(cast(pytest.Session, session))
        next(steps)
        with pytest.raises(StopIteration) as stopped:
            steps.send("result")
        assert stopped.value.value == "result"
        told = Told()
        last.pytest_terminal_summary(told)
        return session.exitstatus, told.lines

    wrong: list[str] = []
    lines = ["== certificates", "a line"]
    assert end(pytest.ExitCode.OK) == (pytest.ExitCode.OK, lines)
    assert asked == [(tmp_path / "certificates", [passed])]
    wrong.append("bad.")
    seen.problems.append("before.")
    assert end(pytest.ExitCode.OK) == (pytest.ExitCode.TESTS_FAILED, lines)
    assert seen.problems == ["before.", "bad."]
    assert end(pytest.ExitCode.INTERRUPTED) == (pytest.ExitCode.INTERRUPTED, lines)
    config.option.collectonly = True
    assert end(pytest.ExitCode.OK) == (pytest.ExitCode.OK, [])
    config.option.collectonly = False
    config.workerinput = {}
    assert end(pytest.ExitCode.OK) == (pytest.ExitCode.OK, [])


def test_a_problem_without_a_claim_is_told(tmp_path: Path) -> None:
    found = gatherer(tmp_path)
    assert found.running is None
    found.problems = ["it is so."]
    assert summary(found) == ["== ledger", ("red", "ERROR it is so.")]


# -- selection ----------------------------------------------------------------------------------


class Collected:
    """A test as it is collected."""

    def __init__(self, nodeid: str, *claims: str, path: Path | None = None) -> None:
        self.nodeid, self.claims, self.path = nodeid, claims, path
        self.stash = pytest.Stash()
        self.fixturenames = ("kernel", "tmp_path")

    def iter_markers(self, name: str) -> list[Any]:
        assert name == "claim"
        return [SimpleNamespace(args=(claim,), kwargs={"scope": "s"}) for claim in self.claims]


def selected(found: Gatherer, items: list[Any], chosen: list[Any] | None = None) -> list[str]:
    """The names that are left when others have taken away all but the chosen ones."""
    steps = found.pytest_collection_modifyitems(found.config, items)
    next(steps)
    if chosen is not None:
        items[:] = [item for item in items if item in chosen]
    with pytest.raises(StopIteration):
        next(steps)
    return [item.nodeid for item in items]


def test_what_was_not_selected_is_remembered(tmp_path: Path) -> None:
    items = [Collected("t.py::a", "x/a"), Collected("t.py::b", "x/bc"), Collected("t.py::c")]
    found = gatherer(tmp_path)
    assert selected(found, list(items)) == ["t.py::a", "t.py::b", "t.py::c"]
    assert (found.deselected, found.collected) == ({}, {"t.py::a", "t.py::b", "t.py::c"})
    (fields,) = items[0].stash[MARKED]
    assert {key: fields[key] for key in ("claim", "grade", "test", "scope")} == {
        "claim": "x/a",
        "grade": "kernel",
        "test": "t.py::a",
        "scope": "s",
    }
    assert MARKED not in items[2].stash
    cast(Any, found.config).workeroutput = output = dict[str, str]()
    assert selected(found, list(items), items[2:]) == ["t.py::c"]
    assert list(found.deselected) == ["t.py::a", "t.py::b"]
    assert found.deselected["t.py::a"] == [fields]
    assert json.loads(output["lemmax_deselected"]) == json.loads(json.dumps(found.deselected))
    assert json.loads(output["lemmax_collected"]) == ["t.py::c"]


def test_only_evidence_and_steps_where_asked(tmp_path: Path) -> None:
    found = gatherer(tmp_path, proof(tmp_path), evidence=True)
    items = [Collected("t.py::a", "x/a"), Collected("t.py::test_s[1]"), Collected("t.py::c")]
    assert selected(found, list(items)) == ["t.py::a", "t.py::test_s[1]"]
    bare = Collected("t.py::a", "x/none")
    with pytest.raises(pytest.UsageError) as refused:
        selected(found, [bare])
    assert str(refused.value) == "t.py::a: the marker claim names an unknown claim 'x/none'."


def test_a_project_is_configured_once(project: Path) -> None:
    """What cannot end well is refused before the run begins, but not once for every worker."""
    lines: list[Any] = []
    registered: list[Any] = []
    settings = {"lemmax_claims": ["claims.toml"], "lemmax_proofs": ["proofs"]}
    config = cast(Any, Config(project, ledger="proofs"))
    config.getini = lambda name: settings.get(name, "")
    config.addinivalue_line = lambda *words: lines.append(words)
    config.pluginmanager = SimpleNamespace(
        register=lambda plugin, name: registered.append((type(plugin).__name__, name))
    )
    with pytest.raises(pytest.UsageError) as refused:
        lemmax.pytest_plugin.pytest_configure(config)
    assert str(refused.value) == "--ledger proofs: this is a folder, not a file."
    assert registered == []
    config.workerinput = {}
    lemmax.pytest_plugin.pytest_configure(config)
    assert registered == [("Gatherer", "lemmax-gatherer")]
    marker = (
        "markers",
        "claim(id, grade=None, direction='for', scope=None, statement=None): "
        "this test is evidence for a claim",
    )
    assert lines == [marker, marker]
    config.options["recheck"] = True
    lemmax.pytest_plugin.pytest_configure(config)
    assert registered[1:] == [
        ("Gatherer", "lemmax-gatherer"),
        ("Rechecking", "lemmax-rechecking"),
    ]


def test_a_ledger_of_another_project_is_refused(tmp_path: Path) -> None:
    def refuse(**options: Any) -> str:
        config = cast(pytest.Config, Config(tmp_path, **options))
        try:
            lemmax.pytest_plugin.refuse_what_cannot_end(config, CATALOGUE)
        except LedgerError as error:
            return str(error)
        return ""

    (tmp_path / "own.json").write_text(to_json(build_ledger(CATALOGUE, [])))
    few = {name: Claim(f"y/{name}", "A", "1", "t", "s", "p", "text") for name in "ab"}
    other = Catalogue(MappingProxyType({c.id: c for c in few.values()}), MappingProxyType({}))
    (tmp_path / "other.json").write_text(to_json(build_ledger(other, [])))
    assert refuse() == refuse(ledger="own.json") == refuse(ledger_against="own.json") == ""
    assert refuse(ledger_against="other.json") == (
        "--ledger-against other.json: this is the ledger of another project, without any claim "
        "of this one."
    )
    assert refuse(ledger="no/l.json") == "--ledger no/l.json: there is no folder no."


def test_a_page_tells_its_place(tmp_path: Path) -> None:
    item = SimpleNamespace(path=tmp_path / "p.md", name="x/a")
    told = ProofItem.reportinfo(cast(ProofItem, item))
    assert told == (tmp_path / "p.md", 0, "proof of x/a")
