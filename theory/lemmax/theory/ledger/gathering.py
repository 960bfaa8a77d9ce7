"""From outcomes of tests to evidence: what markers and proof pages say, as good as the worst run.

Pure functions; the pytest plugin calls them with what it saw.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any, get_args

from lemmax.theory.ledger.claims import Catalogue
from lemmax.theory.ledger.earning import FIXTURES
from lemmax.theory.ledger.proofs import Direction, Proof
from lemmax.theory.ledger.verdicts import GRADES, Evidence, LedgerError, Outcome

_FIELDS = ("id", "grade", "direction", "scope", "statement")
_WORST: tuple[Outcome, ...] = ("broken", "stale", "failed", "not-run", "skipped", "passed")


def base(test: str) -> str:
    """A node id without its parameters.

    >>> base("tests/a.py::test_b[1-2]")
    'tests/a.py::test_b'
    """
    return test.partition("[")[0]


@cache
def _functions(path: Path) -> frozenset[str]:
    """The test functions of a file, methods as Class::method."""
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.ClassDef):
            names |= {f"{node.name}::{f.name}" for f in node.body if isinstance(f, ast.FunctionDef)}
    return frozenset(names)


def is_test(root: Path, test: str) -> bool:
    """Whether a node id names a test function of a project."""
    file, _, function = base(test).partition("::")
    path = root / file
    return path.is_file() and function in _functions(path)


def marked(
    test: str,
    arguments: Sequence[Any],
    named: Mapping[str, Any],
    catalogue: Catalogue,
    fixtures: Collection[str] = (),
) -> Evidence:
    """What a marker ``claim`` with these arguments says, checked.

    A marker without a grade has that of the one deciding fixture that the test asks for.
    """
    where = f"{test}: the marker claim"
    values: dict[str, Any] = dict(zip(_FIELDS, arguments, strict=False))
    if set(named) - set(_FIELDS) or set(values) & set(named):
        raise LedgerError(f"{where} takes id, grade, direction, scope and statement.")
    values |= named
    if values.get("id") not in catalogue:
        raise LedgerError(f"{where} names an unknown claim {values.get('id')!r}.")
    grade, direction = values.get("grade"), values.get("direction", "for")
    if grade is None:
        earning = sorted({FIXTURES[name] for name in fixtures if name in FIXTURES})
        if len(earning) != 1:
            raise LedgerError(
                f"{where}: the test asks for {len(earning)} deciding fixtures instead of one "
                f"({', '.join(FIXTURES)}), so that its grade is not known."
            )
        grade = earning[0]
    if grade == "argued":
        raise LedgerError(f"{where}: an argued proof is a page, not a test.")
    if grade not in GRADES:
        raise LedgerError(f"{where} names an unknown grade {grade!r}.")
    if direction not in get_args(Direction):
        raise LedgerError(f"{where}: the direction is for, against or gap.")
    for name in ("scope", "statement"):
        if not isinstance(values.get(name), str | None):
            raise LedgerError(f"{where}: the {name} is a text.")
    if grade == "property" and not values.get("scope"):
        raise LedgerError(f"{where}: the grade {grade} needs a scope.")
    return Evidence(
        values["id"],
        grade,
        direction,
        test,
        scope=values.get("scope"),
        statement=values.get("statement"),
    )


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """The worst of some outcomes; not-run where there is none.

    >>> worst(["passed", "skipped"]), worst([])
    ('skipped', 'not-run')
    """
    worst_first: list[Outcome] = sorted(outcomes, key=_WORST.index)
    return worst_first[0] if worst_first else "not-run"


def merged(items: Iterable[Evidence]) -> list[Evidence]:
    """Parameters of one test are one piece of evidence, as good as the worst of them.

    Which formula it shows does not depend on the order in which they ended.
    """
    pieces: dict[tuple[str, str, str, str], Evidence] = {}
    for item in items:
        key = (item.claim, item.test, item.grade, item.direction)
        before = pieces.get(key, item)
        least = min(before, item, key=lambda e: (_WORST.index(e.outcome), e.formula or ""))
        files = dict(zip(before.certificates, before.sha256, strict=True))
        files |= dict(zip(item.certificates, item.sha256, strict=True))
        counts = [e.count for e in (before, item) if e.count is not None and e is not least]
        changes: dict[str, Any] = {
            "certificates": tuple(sorted(files)),
            "sha256": tuple(files[name] for name in sorted(files)),
        }
        if least.count is not None and key in pieces:
            changes["count"] = least.count + sum(counts)
        pieces[key] = Evidence(**{**asdict(least), **changes})
    return list(pieces.values())


def kernel_checked(evidence: Iterable[Evidence], certificates: Path | None) -> list[Evidence]:
    """The evidence, with the mark of certificates that are also theorems of Coq.

    ``proved.json`` beside the folder of certificates has the proofs, each with the SHA-256 of the
    certificate that was proved: a certificate that changed since then is not marked.
    """
    record = certificates and certificates.with_name("proved.json")
    if record is None or not record.is_file():
        return list(evidence)
    proofs = json.loads(record.read_text(encoding="utf-8"))
    proved = {f"{n}.json": p["certificate"] for n, p in proofs.items() if p["proved"]}
    return [
        replace(
            item,
            kernel_checked=tuple(
                name
                for name, digest in zip(item.certificates, item.sha256, strict=True)
                if proved.get(name) == digest
            ),
        )
        for item in evidence
    ]


def proof_evidence(
    proof: Proof,
    name: str,
    page: Outcome,
    outcome_of: Callable[[str], Outcome],
    exists: Callable[[str], bool],
) -> Evidence:
    """What a proof page says, given the outcomes of the page itself and of its step tests."""
    spoiled: dict[Outcome, Outcome] = {"failed": "broken", "not-run": "not-run"}
    outcome = spoiled.get(page, "passed")
    details = None
    for test in proof.tests if outcome == "passed" else ():
        step = outcome_of(test)
        if step == "passed":
            continue
        details = f"the step test {test} is {step}"
        if step == "not-run" and not exists(test):
            step, details = "failed", f"the step test {test} does not exist"
        outcome = "broken" if step == "failed" else step
        if outcome == "broken":
            break
    return Evidence(
        proof.claim,
        "argued",
        proof.direction,
        name,
        outcome,
        details=details,
        statement=proof.statement,
    )
