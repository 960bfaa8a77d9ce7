"""The ledger: verdicts derived from evidence that ran, by two tables and by nothing else.

=====  ===========================================  =========================================
kind   holds by                                     refuted by
=====  ===========================================  =========================================
A      kernel, symbolic (all symbols free), argued  certified (one instance); where the
                                                    counterexample quantifies over all
                                                    weights: kernel, symbolic, argued
E      certified, kernel, symbolic, argued          kernel, symbolic, argued
I      certified, universal                         certified, universal
T      empirical, as measured: reproduced           empirical: not-reproduced
=====  ===========================================  =========================================

An A-statement with nothing but universal, property or scoped evidence (symbolic at fixed sizes, a
kernel proof of a part) is ``supported``. A claim is ``repaired`` iff it is refuted, or evidence
shows a gap in its proof, and the claim named by ``repaired_by`` holds. Deciding evidence both ways
is a conflict, which is an error and never a verdict.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from lemmax.theory.errors import LemmaxError
from lemmax.theory.ledger.claims import Catalogue, Claim
from lemmax.theory.ledger.proofs import Direction

Grade = Literal["kernel", "symbolic", "argued", "universal", "certified", "property", "empirical"]
Verdict = Literal[
    "holds",
    "refuted",
    "repaired",
    "supported",
    "open",
    "reproduced",
    "not-reproduced",
    "recipe-dependent",
    "conflict",
    "definition",
]
Outcome = Literal["passed", "failed", "skipped", "not-run", "broken"]

GRADES: tuple[Grade, ...] = get_args(Grade)
_STRENGTH = {grade: rank for rank, grade in enumerate(GRADES)}
_PROOFS: frozenset[Grade] = frozenset(("kernel", "symbolic", "argued"))
_MEASURED: frozenset[Verdict] = frozenset(("reproduced", "not-reproduced", "recipe-dependent"))


class LedgerError(LemmaxError):
    """A ledger file that cannot be used."""


@dataclass(frozen=True)
class Evidence:
    """One test (or proof page) and what it says about one claim.

    ``scope`` is the range of sizes, or the part, that was covered; a symbolic test without scope
    has all symbols free, and a kernel proof without scope states the whole claim. ``measured`` is
    the outcome of an empirical test, computed from its data.
    """

    claim: str
    grade: Grade
    direction: Direction
    test: str
    outcome: Outcome = "passed"
    scope: str | None = None
    certificates: tuple[str, ...] = ()
    measured: Verdict | None = None
    details: str | None = None


@dataclass(frozen=True)
class Entry:
    """The verdict on one claim, the strongest grade that decides it, and all evidence."""

    claim: Claim
    verdict: Verdict
    grade: Grade | None
    evidence: tuple[Evidence, ...]


def decides(claim: Claim, evidence: Evidence) -> Verdict | None:
    """What one piece of evidence that passed settles by itself, or None."""
    if evidence.outcome != "passed" or evidence.direction == "gap":
        return None
    grade, direction = evidence.grade, evidence.direction
    partial = grade == "symbolic" or (grade == "kernel" and direction == "for")
    proof = grade in _PROOFS and not (partial and evidence.scope)
    if claim.kind == "A":
        if direction == "for":
            return "holds" if proof else None
        instance = grade == "certified" and claim.refutation == "instance"
        return "refuted" if proof or instance else None
    if claim.kind == "E":
        if direction == "for":
            return "holds" if proof or grade == "certified" else None
        return "refuted" if proof else None
    if claim.kind == "I":
        if grade not in ("certified", "universal"):
            return None
        return "holds" if direction == "for" else "refuted"
    if claim.kind == "T" and grade == "empirical" and evidence.measured in _MEASURED:
        return evidence.measured
    return None


def judge(claim: Claim, evidence: Sequence[Evidence]) -> tuple[Verdict, Grade | None]:
    """The verdict before repairs, and the strongest grade that decides it."""
    if claim.kind == "D":
        return "definition", None
    verdicts: set[Verdict] = set()
    for item in evidence:
        settled = decides(claim, item)
        if settled is not None:
            verdicts.add(settled)
    if len(verdicts) > 1:
        return "conflict", None
    if verdicts:
        return verdicts.pop(), _strongest(
            e.grade for e in evidence if decides(claim, e) is not None
        )
    supporting: list[Grade] = [
        e.grade
        for e in evidence
        if e.outcome == "passed"
        and e.direction == "for"
        and e.grade in ("kernel", "universal", "property", "symbolic")
    ]
    if claim.kind == "A" and supporting:
        return "supported", _strongest(supporting)
    return "open", None


def _strongest(grades: Iterable[Grade]) -> Grade:
    return min(grades, key=_STRENGTH.__getitem__)


def build_ledger(
    catalogue: Catalogue,
    evidence: Iterable[Evidence],
    premises: Mapping[str, Sequence[str]] = {},
) -> dict[str, Entry]:
    """Derive the verdict of every claim.

    ``premises`` maps the test name of an argued proof to the claims it leans on. Such a proof
    counts only once all of them hold, so proofs that lean on each other in a circle never count.
    """
    gathered: dict[str, list[Evidence]] = {claim.id: [] for claim in catalogue}
    for item in evidence:
        catalogue[item.claim]  # an unknown claim is refused by name
        gathered[item.claim].append(item)
    grounded: set[str] = set()
    while True:
        # Monotone: evidence against a claim never takes it out again, so this ends; a claim with
        # evidence both ways ends as a conflict below.
        now = {
            claim.id
            for claim in catalogue
            if any(
                decides(claim, e) == "holds" and grounded.issuperset(premises.get(e.test, ()))
                for e in gathered[claim.id]
            )
        }
        if now == grounded:
            break
        grounded = now
    base = {
        claim.id: judge(
            claim, [e for e in gathered[claim.id] if grounded.issuperset(premises.get(e.test, ()))]
        )
        for claim in catalogue
    }
    holding = {identifier for identifier, (verdict, _) in base.items() if verdict == "holds"}
    ledger = {}
    for claim in catalogue:
        verdict, grade = base[claim.id]
        listed = tuple(
            e
            if e.outcome != "passed" or grounded.issuperset(premises.get(e.test, ()))
            else replace(e, outcome="broken", details="leans on a claim that does not hold")
            for e in sorted(gathered[claim.id], key=lambda e: (_STRENGTH[e.grade], e.test))
        )
        gaps = [e for e in listed if e.direction == "gap" and e.outcome == "passed"]
        if claim.repaired_by in holding and (
            verdict == "refuted" or (gaps and verdict in ("open", "supported"))
        ):
            grade = grade if verdict == "refuted" else _strongest(e.grade for e in gaps)
            verdict = "repaired"
        ledger[claim.id] = Entry(claim, verdict, grade, listed)
    return ledger


def conflicts(ledger: Mapping[str, Entry]) -> list[str]:
    """One sentence for each claim with deciding evidence both ways, naming both sides."""
    sentences = []
    for entry in ledger.values():
        if entry.verdict != "conflict":
            continue
        sides: dict[Verdict, str] = {}
        for e in entry.evidence:
            verdict = decides(entry.claim, e)
            if verdict is not None:
                sides.setdefault(verdict, e.test)
        told = " but ".join(f"{test} says {verdict}" for verdict, test in sides.items())
        sentences.append(f"{entry.claim.id} has evidence both ways: {told}.")
    return sentences


def to_json(ledger: Mapping[str, Entry], left_out: Sequence[str] = ()) -> str:
    """The text of ``ledger.json``: no times, a fixed order, one claim per line."""
    lines = ",\n".join(
        json.dumps(_plain(entry), ensure_ascii=False, sort_keys=True)
        for _, entry in sorted(ledger.items())
    )
    parts = json.dumps(sorted(left_out), ensure_ascii=False)
    return (
        f'{{"format": "lemmax-ledger", "version": 1, "left_out": {parts}, "claims": [\n'
        f"{lines}\n]}}\n"
    )


def _plain(entry: Entry) -> dict[str, Any]:
    claim = entry.claim
    return {
        "id": claim.id,
        "paper": claim.paper,
        "kind": claim.kind,
        "number": claim.number,
        "title": claim.title,
        "verdict": entry.verdict,
        "grade": entry.grade,
        "source": claim.source,
        "repaired_by": claim.repaired_by,
        "digest": claim.digest,
        "evidence": [
            {key: value for key, value in asdict(e).items() if key != "claim" and value}
            for e in entry.evidence
        ],
    }


@dataclass(frozen=True)
class Record:
    """A ledger read back from a file: verdicts as they were derived when it was written."""

    claims: Mapping[str, Mapping[str, Any]]
    left_out: tuple[str, ...]

    def evidence(self) -> list[Evidence]:
        """All evidence of the file."""
        return [
            Evidence(
                **{
                    **item,
                    "claim": identifier,
                    "certificates": tuple(item.get("certificates", ())),
                }
            )
            for identifier, entry in self.claims.items()
            for item in entry["evidence"]
        ]


def read_ledger(path: str | Path) -> Record:
    """Read ``ledger.json``."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
        if document["format"] != "lemmax-ledger" or document["version"] != 1:
            raise LedgerError(f"{path} is not a lemmax ledger of version 1.")
        claims = {entry["id"]: entry for entry in document["claims"]}
        return Record(claims, tuple(document["left_out"]))
    except OSError:
        raise LedgerError(f"There is no ledger at {path}.") from None
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, LedgerError):
            raise
        raise LedgerError(f"{path} is not a lemmax ledger.") from None


def stale(record: Record, catalogue: Catalogue) -> list[str]:
    """Claims whose statement changed, appeared or went away since the ledger was written."""
    recorded = {identifier: entry["digest"] for identifier, entry in record.claims.items()}
    current = {claim.id: claim.digest for claim in catalogue}
    return sorted(
        identifier
        for identifier in recorded.keys() | current.keys()
        if recorded.get(identifier) != current.get(identifier)
    )


def disagreements(
    record: Record,
    fresh: Mapping[str, Entry],
    catalogue: Catalogue,
    premises: Mapping[str, Sequence[str]] = {},
) -> list[str]:
    """Where a committed ledger differs from a fresh run, as sentences.

    Evidence that one of the two could not run (an optional part is missing) is left out of both
    before they are compared. Evidence of the ledger whose test is gone is reported, and so is a
    ledger whose verdicts do not follow from its own evidence.
    """
    changed = stale(record, catalogue)
    if changed:
        return [f"{name}: the claim changed after the ledger was written." for name in changed]
    sentences = []
    now = {_key(e): e for entry in fresh.values() for e in entry.evidence}
    then = {_key(e): e for e in record.evidence()}
    for key, item in then.items():
        if key not in now:
            sentences.append(f"{item.claim}: the evidence {item.test} no longer exists.")
    out = {k for side in (now, then) for k, e in side.items() if e.outcome in _LEFT_OUT}
    expected, fresh_ledger = (
        build_ledger(catalogue, [e for k, e in side.items() if k not in out], premises)
        for side in (then, now)
    )
    for name in fresh:
        before, after = expected[name], fresh_ledger[name]
        if (before.verdict, before.grade) != (after.verdict, after.grade):
            sentences.append(
                f"{name}: the ledger says {_say(before)}, a fresh run says {_say(after)}."
            )
    derived = build_ledger(catalogue, then.values(), premises)
    for name, written in record.claims.items():
        if (written["verdict"], written["grade"]) != (derived[name].verdict, derived[name].grade):
            sentences.append(
                f"{name}: the ledger says {written['verdict']}, but its own evidence "
                f"gives {_say(derived[name])}."
            )
    return sentences


_LEFT_OUT = ("skipped", "not-run")


def _key(evidence: Evidence) -> tuple[str, str, Grade, Direction]:
    return evidence.claim, evidence.test, evidence.grade, evidence.direction


def _say(entry: Entry) -> str:
    return f"{entry.verdict} ({entry.grade})" if entry.grade else entry.verdict
