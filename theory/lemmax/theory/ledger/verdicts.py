"""The ledger: verdicts derived from evidence that ran, by two tables and by nothing else.

=====  ===========================================  =========================================
kind   holds by                                     refuted by
=====  ===========================================  =========================================
A      kernel, symbolic (its formula), argued       certified (one instance); where the
                                                    counterexample quantifies over all
                                                    weights: kernel, symbolic, argued
E      certified, kernel, symbolic, argued          kernel, symbolic, argued
I      certified, universal                         certified, universal
T      empirical, as measured: reproduced           empirical: not-reproduced
=====  ===========================================  =========================================

An A-statement with nothing but universal, property or partial evidence (a formula that a test wrote
and the claim does not carry, a kernel proof of a part) is ``supported``. A claim is ``repaired``
iff it is refuted, or evidence shows a gap in its proof, the claim named by ``repaired_by`` holds,
and ``repair`` says why that repairs it. Deciding evidence both ways is a conflict, which is an
error and never a verdict.

Evidence leans on premises: a proof page on the claims that it uses, a certificate of a consequence
on ``consequence_uses``. It counts only once they hold (a repaired one through its repair), so what
leans on each other in a circle never counts. Evidence for other words is stale and never decides.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from lemmax.theory.errors import LemmaxError
from lemmax.theory.ledger.claims import Catalogue, Claim, normalised
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
Outcome = Literal["passed", "failed", "skipped", "not-run", "broken", "stale"]

GRADES: tuple[Grade, ...] = get_args(Grade)
_STRENGTH = {grade: rank for rank, grade in enumerate(GRADES)}
_PROOFS: frozenset[Grade] = frozenset(("kernel", "symbolic", "argued"))
_MEASURED: frozenset[Verdict] = frozenset(("reproduced", "not-reproduced", "recipe-dependent"))


class LedgerError(LemmaxError):
    """A ledger file that cannot be used."""


@dataclass(frozen=True)
class Evidence:
    """One test (or proof page) and what it says about one claim.

    ``scope`` is the range of sizes, or the part, that was covered; a kernel proof without scope
    states the whole claim. ``measured`` is the outcome of an empirical test, computed from its
    data; ``open`` where they do not decide. ``statement`` is the digest of the words that the
    evidence was made for. The rest is what the fixture that earned the grade saw:
    certificates with their sha256, theorems of Coq, a formula with its free symbols, a predicate
    and the count of instances that it was decided on; ``kernel_checked`` are those of the
    certificates that Coq's kernel has proved as theorems. ``recorded`` evidence did not run but
    stands in the committed ledger.
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
    statement: str | None = None
    sha256: tuple[str, ...] = ()
    theorems: tuple[str, ...] = ()
    formula: str | None = None
    symbols: tuple[str, ...] = ()
    predicate: str | None = None
    count: int | None = None
    kernel_checked: tuple[str, ...] = ()
    recorded: bool = False


@dataclass(frozen=True)
class Entry:
    """The verdict on one claim, the strongest grade that decides it, and all evidence."""

    claim: Claim
    verdict: Verdict
    grade: Grade | None
    evidence: tuple[Evidence, ...]


def stands(claim: Claim, evidence: Evidence) -> bool:
    """Whether evidence passed and was made for the words of the claim, as it must say.

    What data say without deciding (``measured`` is ``open``) is shown and never counts.
    """
    counts = evidence.outcome == "passed" and evidence.measured != "open"
    return counts and evidence.statement == claim.digest


def whole(claim: Claim, evidence: Evidence) -> bool:
    """Whether a proof is of the claim itself: not of a part, nor of a formula that a test wrote."""
    if evidence.grade == "symbolic":
        carried = claim.formula if evidence.direction == "for" else claim.counterformula
        return (
            not evidence.scope and carried is not None and evidence.formula == normalised(carried)
        )
    partial = evidence.grade == "kernel" and evidence.direction == "for" and evidence.scope
    return evidence.grade in _PROOFS and not partial


def decides(claim: Claim, evidence: Evidence) -> Verdict | None:
    """What one piece of evidence that passed settles by itself, or None."""
    if not stands(claim, evidence) or evidence.direction == "gap":
        return None
    grade, direction = evidence.grade, evidence.direction
    proof = whole(claim, evidence)
    if claim.kind == "A":
        if direction == "for":
            return "holds" if proof else None
        instance = grade == "certified" and claim.refutation == "instance"
        return "refuted" if proof or instance else None
    if claim.kind == "E":
        if direction == "for":
            witness = grade == "certified" and not claim.consequence
            return "holds" if proof or witness else None
        return "refuted" if proof else None
    if claim.kind == "I":
        if grade not in ("certified", "universal"):
            return None
        if direction == "against":
            return "refuted"
        # An instance of a consequence never makes the claim itself hold.
        return None if grade == "certified" and claim.consequence else "holds"
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
        if stands(claim, e)
        and e.direction == "for"
        and e.grade in ("kernel", "universal", "property", "symbolic")
    ]
    if claim.kind == "A" and supporting:
        return "supported", _strongest(supporting)
    return "open", None


def _strongest(grades: Iterable[Grade]) -> Grade:
    return min(grades, key=_STRENGTH.__getitem__)


def repair_counts(claim: Claim) -> bool:
    """Whether a claim says why its repair repairs it."""
    return claim.repair is not None


def leans_on(
    claim: Claim, evidence: Evidence, premises: Mapping[str, Sequence[str]]
) -> tuple[str, ...]:
    """The claims without which a piece of evidence does not count."""
    own = claim.consequence_uses if evidence.grade == "certified" else ()
    return tuple(dict.fromkeys((*premises.get(evidence.test, ()), *own)))


def build_ledger(
    catalogue: Catalogue,
    evidence: Iterable[Evidence],
    premises: Mapping[str, Sequence[str]] = {},
    granted: Collection[str] = (),
) -> dict[str, Entry]:
    """Derive the verdict of every claim.

    ``premises`` maps the test name of an argued proof to the claims it leans on; ``granted`` are
    claims of another ledger that hold there. Evidence counts only once its premises hold, so
    proofs that lean on each other in a circle never count.
    """
    gathered: dict[str, list[Evidence]] = {claim.id: [] for claim in catalogue}
    for item in evidence:
        catalogue[item.claim]  # an unknown claim is refused by name
        gathered[item.claim].append(item)
    standing = _standing(catalogue, gathered, premises, frozenset(granted))

    def missing(e: Evidence) -> list[str]:
        leaned = leans_on(catalogue[e.claim], e, premises)
        return [premise for premise in leaned if premise not in standing]

    base = {c.id: judge(c, [e for e in gathered[c.id] if not missing(e)]) for c in catalogue}
    holding = {identifier for identifier, (verdict, _) in base.items() if verdict == "holds"}
    ledger = {}
    for claim in catalogue:
        verdict, grade = base[claim.id]
        listed = tuple(
            e
            if e.outcome != "passed" or not missing(e)
            else replace(
                e,
                outcome="broken",
                details=f"leans on {', '.join(missing(e))}, which does not hold",
            )
            for e in sorted(gathered[claim.id], key=lambda e: (_STRENGTH[e.grade], e.test))
        )
        gaps = [e for e in listed if e.direction == "gap" and stands(claim, e)]
        if (
            claim.repaired_by in holding
            and repair_counts(claim)
            and (verdict == "refuted" or (gaps and verdict in ("open", "supported")))
        ):
            grade = grade if verdict == "refuted" else _strongest(e.grade for e in gaps)
            verdict = "repaired"
        ledger[claim.id] = Entry(claim, verdict, grade, listed)
    return ledger


def _standing(
    catalogue: Catalogue,
    gathered: Mapping[str, Sequence[Evidence]],
    premises: Mapping[str, Sequence[str]],
    granted: frozenset[str],
) -> frozenset[str]:
    """The claims that others may lean on: those that hold, and those with a repair that holds.

    Monotone: evidence against a claim never takes it out again, so this ends; a claim with
    evidence both ways ends as a conflict.
    """
    standing = granted
    while True:
        sound = {
            claim.id: [
                e for e in gathered[claim.id] if standing.issuperset(leans_on(claim, e, premises))
            ]
            for claim in catalogue
        }
        now = granted | {
            claim.id
            for claim in catalogue
            if any(decides(claim, e) == "holds" for e in sound[claim.id])
        }
        now |= {
            claim.id
            for claim in catalogue
            if claim.repaired_by in now
            and repair_counts(claim)
            and any(
                decides(claim, e) == "refuted" or (e.direction == "gap" and stands(claim, e))
                for e in sound[claim.id]
            )
        }
        if now <= standing:
            return standing
        standing |= now


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
