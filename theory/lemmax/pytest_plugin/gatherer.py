"""Collects what ran in one pytest run and derives the ledger from it."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any, cast

import pytest

from lemmax.pytest_plugin.earnings import MARKED, earned_by, failures_of
from lemmax.pytest_plugin.pages import ProofItem
from lemmax.theory.errors import LemmaxError
from lemmax.theory.files import write_text
from lemmax.theory.ledger.claims import Catalogue
from lemmax.theory.ledger.earning import Earned, credited, current
from lemmax.theory.ledger.gathering import (
    base,
    is_test,
    kernel_checked,
    marked,
    merged,
    proof_evidence,
    worst,
)
from lemmax.theory.ledger.projects import Project
from lemmax.theory.ledger.proofs import Proof
from lemmax.theory.ledger.records import disagreements, read_ledger
from lemmax.theory.ledger.records import to_json as ledger_json
from lemmax.theory.ledger.verdicts import Entry, Evidence, Outcome, build_ledger, conflicts

NAME = "lemmax-gatherer"
# Properties of a report, which travel from the workers; a test that records one is not believed.
_MARKED, _EARNED, _FAILED = "lemmax_evidence", "lemmax_earned", "lemmax_failed"


def gatherer_of(request: pytest.FixtureRequest) -> Gatherer:
    """The gatherer of the run that a fixture belongs to."""
    return cast(Gatherer, request.config.pluginmanager.get_plugin(NAME))


def evidence_of(item: pytest.Item, catalogue: Catalogue) -> list[Evidence]:
    """What the markers of a test say, checked."""
    try:
        return [
            marked(
                item.nodeid, mark.args, mark.kwargs, catalogue, getattr(item, "fixturenames", ())
            )
            for mark in item.iter_markers("claim")
        ]
    except LemmaxError as error:
        raise pytest.UsageError(str(error)) from None


class Gatherer:
    """Collects the outcomes of one run and derives the ledger from them."""

    def __init__(
        self,
        config: pytest.Config,
        places: Project,
        catalogue: Catalogue,
        proofs: list[Proof],
        granted: frozenset[str] = frozenset(),
    ) -> None:
        self.config, self.places = config, places
        self.catalogue, self.proofs, self.granted = catalogue, proofs, granted
        self.running: pytest.Item | None = None
        self.outcomes: dict[str, Outcome] = {}
        self.properties: dict[str, list[tuple[str, Any]]] = {}
        self.deselected: dict[str, list[dict[str, Any]]] = {}
        self.collected: set[str] = set()
        self.ledger: dict[str, Entry] = {}
        self.shown: dict[str, Entry] = {}
        self.problems: list[str] = []

    # -- selection ---------------------------------------------------------------------------
    @pytest.hookimpl(wrapper=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> Generator[None, None, None]:
        everything = list(items)
        for item in everything:
            marks = [asdict(evidence) for evidence in evidence_of(item, self.catalogue)]
            if marks:
                item.stash[MARKED] = marks
        if config.getoption("--evidence"):
            steps = {base(test) for proof in self.proofs for test in proof.tests}
            items[:] = [i for i in items if _is_evidence(i) or base(i.nodeid) in steps]
        yield
        # A selected proof is decided by the tests of its steps: they come along.
        chosen = {i.path for i in items if isinstance(i, ProofItem)}
        wanted = {base(t) for proof in self.proofs if proof.path in chosen for t in proof.tests}
        present = {item.nodeid for item in items}
        items.extend(
            item
            for item in everything
            if item.nodeid not in present and base(item.nodeid) in wanted
        )
        present = {item.nodeid for item in items}
        self.collected = present
        for item in everything:
            if item.nodeid not in present and MARKED in item.stash:
                self.deselected[item.nodeid] = item.stash[MARKED]
        output = getattr(config, "workeroutput", None)
        if output is not None:
            output["lemmax_deselected"] = json.dumps(self.deselected)
            output["lemmax_collected"] = json.dumps(sorted(present))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: Any) -> None:
        output = getattr(node, "workeroutput", None) or {}
        self.deselected |= json.loads(output.get("lemmax_deselected", "{}"))
        self.collected |= set(json.loads(output.get("lemmax_collected", "[]")))

    # -- what a test earns ---------------------------------------------------------------------
    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self.running = item
        try:
            return (yield)
        finally:
            self.running = None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        own = (_MARKED, _EARNED, _FAILED)
        report.user_properties = [
            *((key, value) for key, value in report.user_properties if key not in own),
            *((_MARKED, fields) for fields in item.stash.get(MARKED, [])),
            *((_EARNED, asdict(earned)) for earned in _summed(earned_by(item))),
            *((_FAILED, sentence) for sentence in failures_of(item)),
        ]
        return report

    # -- outcomes ----------------------------------------------------------------------------
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        before = self.outcomes.get(report.nodeid)
        if report.failed:
            self.outcomes[report.nodeid] = "failed"
        elif (report.skipped or hasattr(report, "wasxfail")) and before != "failed":
            self.outcomes[report.nodeid] = "skipped"
        elif report.when == "call" and before is None:
            self.outcomes[report.nodeid] = "passed"
        self.properties[report.nodeid] = report.user_properties

    def _outcome(self, test: str) -> Outcome:
        """The worst outcome over all parameters of a test; not-run where none ran."""
        if "[" in test:
            return self.outcomes.get(test, "not-run")
        return worst(o for name, o in self.outcomes.items() if base(name) == test)

    def evidence(self) -> list[Evidence]:
        """All evidence of this run: marked tests and proof pages, with their outcomes."""
        tests = [*self._marked_tests(), *self._deselected_tests()]
        return [*merged(tests), *(self._proof_evidence(proof) for proof in self.proofs)]

    def _marked_tests(self) -> Iterator[Evidence]:
        for nodeid, properties in self.properties.items():
            earned = [_earned(v) for k, v in properties if k == _EARNED]
            swallowed = [v for k, v in properties if k == _FAILED]
            outcome = self.outcomes.get(nodeid, "not-run")
            for fields in (v for k, v in properties if k == _MARKED):
                item = Evidence(**{**fields, **_EMPTY, "test": base(nodeid), "outcome": outcome})
                problem = None
                if outcome == "passed" and swallowed:
                    problem = f"{nodeid} swallows a failure: {swallowed[0]}"
                    item = replace(item, outcome="broken", details=problem)
                elif outcome == "passed":
                    item, problem = credited(item, earned, self.catalogue)
                if problem:
                    self.problems.append(problem)
                yield item

    def _deselected_tests(self) -> Iterator[Evidence]:
        for nodeid, marks in self.deselected.items():
            changes = {**_EMPTY, "test": base(nodeid), "outcome": "not-run"}
            for fields in marks:
                yield Evidence(**{**fields, **changes})

    def _proof_evidence(self, proof: Proof) -> Evidence:
        root = self.config.rootpath
        name = proof.path.relative_to(root).as_posix()
        page = next((o for n, o in self.outcomes.items() if n.startswith(f"{name}::")), "not-run")
        item = proof_evidence(
            proof, name, cast(Outcome, page), self._outcome, lambda test: is_test(root, test)
        )
        if item.outcome == "broken" and item.details:
            self.problems.append(f"{name}: {item.details}.")
        item, problem = current(item, self.catalogue[proof.claim])
        if problem:
            self.problems.append(problem)
        return item

    # -- the ledger --------------------------------------------------------------------------
    @property
    def premises(self) -> dict[str, tuple[str, ...]]:
        """What each proof page leans on."""
        root = self.config.rootpath
        return {p.path.relative_to(root).as_posix(): p.claims for p in self.proofs}

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if hasattr(self.config, "workerinput") or self.config.option.collectonly:
            return
        asked = self.config.getoption("--ledger") or self.config.getoption("--ledger-against")
        pages = {proof.path.name for proof in self.proofs}
        ran = any(k == _MARKED for p in self.properties.values() for k, _ in p) or any(
            name.partition("::")[0].rpartition("/")[2] in pages for name in self.outcomes
        )
        if not asked and not ran:
            return
        evidence = kernel_checked(self.evidence(), self.places.certificates)
        self.ledger = build_ledger(self.catalogue, evidence, self.premises, self.granted)
        self.shown = build_ledger(
            self.catalogue, self._completed(evidence), self.premises, self.granted
        )
        self.problems += conflicts(self.ledger)
        here = self.config.invocation_params.dir
        against = self.config.getoption("--ledger-against")
        if against:
            try:
                self.problems += disagreements(
                    read_ledger(here / against),
                    self.ledger,
                    self.catalogue,
                    self.premises,
                    self.granted,
                )
            except LemmaxError as error:
                self.problems.append(str(error))
        target = self.config.getoption("--ledger")
        if target:
            left_out = sorted({e.test for e in evidence if e.outcome in ("not-run", "skipped")})
            try:
                write_text(here / target, ledger_json(self.ledger, left_out))
            except LemmaxError as error:
                self.problems.append(str(error))
        if self.problems and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _completed(self, evidence: list[Evidence]) -> list[Evidence]:
        """This run's evidence, and for what was not selected that of the committed ledger.

        Only for reading: a ledger is written from what ran. Recorded evidence for other words, or
        of a test that is gone, is left out.
        """
        try:
            record = read_ledger(self.places.ledger)
            known = record.evidence()
        except LemmaxError:
            return evidence
        root = self.config.rootpath
        ran = {(e.claim, e.test, e.direction) for e in evidence if e.outcome != "not-run"}
        recorded = [
            replace(e, recorded=True)
            for e in known
            if e.outcome == "passed"
            and e.claim in self.catalogue
            and record.claims[e.claim]["digest"] == self.catalogue[e.claim].digest
            and (e.claim, e.test, e.direction) not in ran
            and (is_test(root, e.test) if "::" in e.test else (root / e.test).is_file())
        ]
        taken = {(e.claim, e.test, e.direction) for e in recorded}
        return [*(e for e in evidence if (e.claim, e.test, e.direction) not in taken), *recorded]

    def touched(self) -> list[Entry]:
        """The claims that some evidence of this run speaks about."""
        return [
            self.shown[entry.claim.id]
            for entry in self.ledger.values()
            if any(e.outcome != "not-run" for e in entry.evidence)
        ]

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        entries = self.touched()
        if not entries and not self.problems:
            return
        terminalreporter.section("ledger")
        width = max((len(entry.claim.id) for entry in entries), default=0)
        for entry in sorted(entries, key=lambda e: e.claim.id):
            terminalreporter.write_line(f"{entry.claim.id:<{width}}  {self._told(entry)}")
        bare = sorted(e.claim.id for e in self.shown.values() if not e.evidence and _decidable(e))
        if bare:
            terminalreporter.write_line(f"without evidence: {', '.join(bare)}")
        for problem in dict.fromkeys(self.problems):
            terminalreporter.write_line(f"ERROR {problem}", red=True)

    def _told(self, entry: Entry) -> str:
        """One line about a claim: its verdict, where that comes from, and what is missing."""
        ran = sum(e.outcome == "passed" and not e.recorded for e in entry.evidence)
        notes = [f"{ran} passed"]
        out = sum(e.outcome in ("not-run", "skipped") for e in entry.evidence)
        if out:
            notes.append(f"{out} left out")
        fresh = self.ledger[entry.claim.id]
        if (fresh.verdict, fresh.grade) != (entry.verdict, entry.grade):
            notes.append("recorded")
        if entry.verdict in ("open", "supported"):
            notes += sorted(
                {d for e in entry.evidence if (d := e.details or "").startswith("leans")}
            )
        return f"{entry.claim.kind}  {entry.verdict:<16} {entry.grade or '-':<10} " + ", ".join(
            notes
        )


# What a marker cannot say: it is earned.
_EMPTY: dict[str, Any] = {"certificates": (), "sha256": (), "theorems": (), "symbols": ()}


def _earned(fields: dict[str, Any]) -> Earned:
    """Read back what travelled as plain data, in which tuples are lists."""
    values: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()
    }
    return Earned(**values)


def _summed(earned: Sequence[Earned]) -> list[Earned]:
    """Counts of the same kind as one: a property of 100 examples is one line, not a hundred."""
    pieces: dict[Earned, int] = {}
    for item in earned:
        if item.count is not None:
            key = replace(item, count=None)
            pieces[key] = pieces.get(key, 0) + item.count
    plain = [item for item in earned if item.count is None]
    return [*plain, *(replace(item, count=count) for item, count in pieces.items())]


def _decidable(entry: Entry) -> bool:
    return entry.claim.kind != "D"


def _is_evidence(item: pytest.Item) -> bool:
    return isinstance(item, ProofItem) or MARKED in item.stash
