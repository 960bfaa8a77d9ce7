"""The pytest plugin that turns tests into evidence and evidence into a ledger.

A test says which claim it is evidence for::

    @pytest.mark.claim("wong/argmax-rank-one", grade="certified", direction="against")
    def test_argmax_of_rank_one_can_have_rank_three(certify): ...

``grade`` is one of the grades of :mod:`lemmax.theory.ledger.verdicts` except ``argued``, which
belongs to proof pages (``lemmax_proofs``); ``direction`` is for, against or gap. A certified test
must pass its certificate to the fixture ``certify``, which gives it to the independent checker. An
empirical test gives its outcome, computed from data, to the fixture ``measure``.

Options: ``--ledger FILE`` writes the ledger, ``--ledger-against FILE`` fails where a fresh run
disagrees with a committed one, ``--evidence`` runs evidence only, ``--write-certificates`` writes
the shipped certificates anew. Settings (ini): ``lemmax_claims``, ``lemmax_proofs``,
``lemmax_certificates``; each is relative to the root of the project, and the claims of lemmax
itself are used where none are declared.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import pytest

from lemmax import checker
from lemmax.theory.certificates.writing import Certificate, to_json, write_certificate
from lemmax.theory.errors import LemmaxError
from lemmax.theory.files import write_text
from lemmax.theory.ledger.claims import BUILT_IN, Catalogue, load_claims
from lemmax.theory.ledger.gathering import base, is_test, marked, merged, proof_evidence, worst
from lemmax.theory.ledger.proofs import Proof, ProofError, find_proofs, read_proof
from lemmax.theory.ledger.verdicts import (
    Entry,
    Evidence,
    Outcome,
    Verdict,
    build_ledger,
    conflicts,
    disagreements,
    read_ledger,
)
from lemmax.theory.ledger.verdicts import to_json as ledger_json

EVIDENCE = "lemmax_evidence"
CERTIFICATE = "lemmax_certificate"
MEASURED = "lemmax_measured"
_MEASURABLE: tuple[Verdict, ...] = ("reproduced", "not-reproduced", "recipe-dependent")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("lemmax", "claims, evidence and the ledger")
    group.addoption("--ledger", metavar="FILE", help="write the ledger of this run as JSON")
    group.addoption(
        "--ledger-against", metavar="FILE", help="fail where this run disagrees with a ledger"
    )
    group.addoption("--evidence", action="store_true", help="run only what is evidence for claims")
    group.addoption(
        "--write-certificates", action="store_true", help="write the shipped certificates anew"
    )
    parser.addini("lemmax_claims", "claims files or folders", type="linelist", default=[])
    parser.addini("lemmax_proofs", "folders of proof pages", type="linelist", default=[])
    parser.addini("lemmax_certificates", "the folder of shipped certificates", default="")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "claim(id, grade, direction='for', scope=None): this test is evidence for a claim",
    )
    try:
        claims = [config.rootpath / p for p in config.getini("lemmax_claims")]
        catalogue = load_claims(claims or [BUILT_IN])
        proofs = find_proofs(config.rootpath / p for p in config.getini("lemmax_proofs"))
        for proof in proofs:
            for identifier in (proof.claim, *proof.claims):
                if identifier not in catalogue:
                    raise ProofError(f"{proof.path}: there is no claim {identifier!r}.")
    except LemmaxError as error:
        raise pytest.UsageError(str(error)) from None
    config.pluginmanager.register(Gatherer(config, catalogue, proofs), "lemmax-gatherer")


class ProofPage(pytest.File):
    """A page of an argued proof, collected as one item."""

    def collect(self) -> Iterable[pytest.Item]:
        yield ProofItem.from_parent(self, name=read_proof(self.path).claim)


class ProofItem(pytest.Item):
    """Passes iff every test that the page names exists; whether they pass is seen at the end."""

    def runtest(self) -> None:
        for test in read_proof(self.path).tests:
            if not is_test(self.config.rootpath, test):
                raise ProofError(f"{self.path.name}: a step names {test}, which does not exist.")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, LemmaxError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"proof of {self.name}"


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> ProofPage | None:
    gatherer = cast(Gatherer, parent.config.pluginmanager.get_plugin("lemmax-gatherer"))
    if any(proof.path == file_path for proof in gatherer.proofs):
        return ProofPage.from_parent(parent, path=file_path)
    return None


def evidence_of(item: pytest.Item, catalogue: Catalogue) -> list[Evidence]:
    """What the markers of a test say, checked."""
    try:
        return [
            marked(item.nodeid, mark.args, mark.kwargs, catalogue)
            for mark in item.iter_markers("claim")
        ]
    except LemmaxError as error:
        raise pytest.UsageError(str(error)) from None


class Gatherer:
    """Collects the outcomes of one run and derives the ledger from them."""

    def __init__(self, config: pytest.Config, catalogue: Catalogue, proofs: list[Proof]) -> None:
        self.config, self.catalogue, self.proofs = config, catalogue, proofs
        self.outcomes: dict[str, Outcome] = {}
        self.properties: dict[str, list[tuple[str, Any]]] = {}
        self.deselected: dict[str, list[dict[str, Any]]] = {}
        self.collected: set[str] = set()
        self.ledger: dict[str, Entry] = {}
        self.problems: list[str] = []

    # -- selection ---------------------------------------------------------------------------
    @pytest.hookimpl(wrapper=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> Generator[None, None, None]:
        everything = list(items)
        for item in everything:
            for evidence in evidence_of(item, self.catalogue):
                item.user_properties.append((EVIDENCE, asdict(evidence)))
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
            marks = [cast(dict[str, Any], v) for k, v in item.user_properties if k == EVIDENCE]
            if item.nodeid not in present and marks:
                self.deselected[item.nodeid] = marks
        output = getattr(config, "workeroutput", None)
        if output is not None:
            output["lemmax_deselected"] = json.dumps(self.deselected)
            output["lemmax_collected"] = json.dumps(sorted(present))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: Any) -> None:
        output = getattr(node, "workeroutput", None) or {}
        self.deselected |= json.loads(output.get("lemmax_deselected", "{}"))
        self.collected |= set(json.loads(output.get("lemmax_collected", "[]")))

    # -- outcomes ----------------------------------------------------------------------------
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        before = self.outcomes.get(report.nodeid)
        if report.failed:
            self.outcomes[report.nodeid] = "failed"
        elif report.skipped and before != "failed":
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
            certificates = tuple(sorted({v for k, v in properties if k == CERTIFICATE}))
            measured = next((v for k, v in properties if k == MEASURED), None)
            for fields in (v for k, v in properties if k == EVIDENCE):
                outcome = self.outcomes.get(nodeid, "not-run")
                details = None
                if outcome == "passed" and fields["grade"] == "certified" and not certificates:
                    self.problems.append(f"{nodeid} is called certified but certifies nothing.")
                    outcome = "broken"
                if outcome == "passed" and fields["grade"] == "empirical":
                    if measured is None:
                        self.problems.append(f"{nodeid} is called empirical but measures nothing.")
                        outcome = "broken"
                    else:
                        details = measured["details"]
                changes = {
                    "test": base(nodeid),
                    "outcome": outcome,
                    "certificates": tuple(c for c in certificates if c != "-"),
                    "measured": measured["verdict"] if measured else None,
                    "details": details,
                }
                yield Evidence(**{**fields, **changes})

    def _deselected_tests(self) -> Iterator[Evidence]:
        for nodeid, marks in self.deselected.items():
            changes = {"test": base(nodeid), "certificates": (), "outcome": "not-run"}
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
        return item

    # -- the ledger --------------------------------------------------------------------------
    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if hasattr(self.config, "workerinput") or self.config.option.collectonly:
            return
        asked = self.config.getoption("--ledger") or self.config.getoption("--ledger-against")
        pages = {proof.path.name for proof in self.proofs}
        ran = any(k == EVIDENCE for p in self.properties.values() for k, _ in p) or any(
            name.partition("::")[0].rpartition("/")[2] in pages for name in self.outcomes
        )
        if not asked and not ran:
            return
        evidence = self.evidence()
        premises = {
            p.path.relative_to(self.config.rootpath).as_posix(): p.claims for p in self.proofs
        }
        self.ledger = build_ledger(self.catalogue, evidence, premises)
        self.problems += conflicts(self.ledger)
        against = self.config.getoption("--ledger-against")
        if against:
            try:
                record = read_ledger(self.config.rootpath / against)
                self.problems += disagreements(record, self.ledger, self.catalogue, premises)
            except LemmaxError as error:
                self.problems.append(str(error))
        target = self.config.getoption("--ledger")
        if target:
            left_out = sorted({e.test for e in evidence if e.outcome in ("not-run", "skipped")})
            try:
                write_text(target, ledger_json(self.ledger, left_out))
            except LemmaxError as error:
                self.problems.append(str(error))
        if self.problems and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def touched(self) -> list[Entry]:
        """The claims that some evidence of this run speaks about."""
        return [
            entry
            for entry in self.ledger.values()
            if any(e.outcome not in ("not-run",) for e in entry.evidence)
        ]

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        entries = self.touched()
        if not entries and not self.problems:
            return
        terminalreporter.section("ledger")
        width = max((len(entry.claim.id) for entry in entries), default=0)
        for entry in sorted(entries, key=lambda e: e.claim.id):
            ran = sum(e.outcome == "passed" for e in entry.evidence)
            out = [e for e in entry.evidence if e.outcome in ("not-run", "skipped")]
            note = f", {len(out)} left out" if out else ""
            terminalreporter.write_line(
                f"{entry.claim.id:<{width}}  {entry.claim.kind}  {entry.verdict:<16} "
                f"{entry.grade or '-':<10} {ran} passed{note}"
            )
        for problem in dict.fromkeys(self.problems):
            terminalreporter.write_line(f"ERROR {problem}", red=True)


def _is_evidence(item: pytest.Item) -> bool:
    return isinstance(item, ProofItem) or any(k == EVIDENCE for k, _ in item.user_properties)


@pytest.fixture
def certify(request: pytest.FixtureRequest) -> Callable[..., checker.Verdict]:
    """Give a certificate to the independent checker; the test fails unless it holds.

    ``certify(certificate, ship_as="wong/argmax-rank-one")`` also compares it with the shipped
    file of that name (and writes that file under ``--write-certificates``).
    """
    folder = request.config.getini("lemmax_certificates")

    def accept(certificate: Certificate, ship_as: str | None = None) -> checker.Verdict:
        # Through JSON and back: what is checked is what a file would hold.
        verdict = checker.check(json.loads(to_json(certificate)))
        assert verdict.holds, "\n".join(verdict.steps)
        if ship_as is not None:
            path = request.config.rootpath / folder / f"{ship_as}.json"
            if request.config.getoption("--write-certificates"):
                path.parent.mkdir(parents=True, exist_ok=True)
                write_certificate(path, certificate)
            assert path.is_file(), f"{path} is not shipped: run with --write-certificates"
            assert path.read_text(encoding="utf-8") == to_json(certificate), (
                f"{path} is out of date"
            )
        request.node.user_properties.append((CERTIFICATE, f"{ship_as}.json" if ship_as else "-"))
        return verdict

    return accept


@pytest.fixture
def measure(request: pytest.FixtureRequest) -> Callable[[Verdict, str], None]:
    """Record what an empirical test measured: the outcome, computed from data, and the numbers."""

    def record(verdict: Verdict, details: str) -> None:
        if verdict not in _MEASURABLE:
            raise ValueError(f"A measurement is {', '.join(_MEASURABLE)}, not {verdict!r}.")
        request.node.user_properties.append((MEASURED, {"verdict": verdict, "details": details}))

    return record
