"""What fixtures saw, and what that is worth to a claim: grades are earned here and nowhere else.

A fixture of the pytest plugin decides something and hands back what it saw as :class:`Earned`.
:func:`credited` says whether that is about the claim that the test is marked with.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lemmax.theory.ledger.claims import Catalogue, Claim, normalised
from lemmax.theory.ledger.verdicts import Evidence, Grade, Verdict

# The fixture that earns each grade; argued proofs are pages.
FIXTURES: dict[str, Grade] = {
    "certify": "certified",
    "kernel": "kernel",
    "symbolic": "symbolic",
    "exhaust": "universal",
    "none_up_to": "universal",
    "sample": "property",
    "measure": "empirical",
}


@dataclass(frozen=True)
class Earned:
    """What one call of a fixture established.

    ``about`` names the claim that the fixture itself found the result to be about, if it did:
    for a certificate the claim inside it, for a theorem the claim of the header, for a measurement
    that of the judgement. ``shows`` is for or against, where the result says so itself, and
    ``bound`` says that a certificate carries the formal statement of that claim.
    """

    grade: Grade
    about: str | None = None
    shows: str | None = None
    bound: bool = False
    statement: str | None = None
    scope: str | None = None
    certificates: tuple[str, ...] = ()
    sha256: tuple[str, ...] = ()
    theorems: tuple[str, ...] = ()
    formula: str | None = None
    symbols: tuple[str, ...] = ()
    predicate: str | None = None
    count: int | None = None
    measured: Verdict | None = None
    details: str | None = None


_FORMAL = re.compile(r"given (?P<given>[^;]*);(?: assume (?P<assume>[^;]*);)? conclude (?P<end>.*)")


def carries(certificate: Mapping[str, Any], claim: Claim) -> bool:
    """Whether a refutation or witness is of this claim and carries its formal statement."""
    if claim.formal is None or certificate.get("kind") not in ("refutation", "witness"):
        return False
    if certificate.get("claim") != claim.id:
        return False
    carried, formal = certificate.get("statement"), normalised(claim.formal)
    if isinstance(carried, str):
        return normalised(carried) == formal
    # The first version of refutations lists hypotheses and says nothing of sorts: matrices only.
    parts = _FORMAL.fullmatch(formal)
    if parts is None or not isinstance(carried, Mapping):
        return False
    if any(given.partition(":")[2].strip() != "matrix" for given in parts["given"].split(",")):
        return False
    assumed = parts["assume"].split(" and ") if parts["assume"] else []
    hypotheses = [normalised(str(h)) for h in carried.get("hypotheses", ())]
    end = normalised(str(carried.get("conclusion")))
    return (hypotheses, end) == ([a.strip() for a in assumed], parts["end"].strip())


def counts(earned: Earned, evidence: Evidence, catalogue: Catalogue) -> bool:
    """Whether what was earned is about the claim of the evidence, in its direction and grade."""
    if earned.grade != evidence.grade:
        return False
    claim, gap = catalogue[evidence.claim], evidence.direction == "gap"
    if earned.shows is not None and earned.shows != ("against" if gap else evidence.direction):
        return False
    # A gap in a proof is shown by refuting something that the proof uses.
    used = catalogue.leans_on[claim.id] if gap else frozenset()
    if earned.about is not None and earned.about != claim.id and earned.about not in used:
        return False
    if gap and earned.grade == "symbolic" and earned.about not in used:
        return False  # a formula of one's own shows no gap
    return earned.grade != "certified" or earned.bound


def credited(
    evidence: Evidence, earned: Sequence[Earned], catalogue: Catalogue
) -> tuple[Evidence, str | None]:
    """The evidence of a test that passed with what it earned, and what is wrong with it."""
    claim, where = catalogue[evidence.claim], f"{evidence.test} ({evidence.claim})"
    relevant = [e for e in earned if counts(e, evidence, catalogue)]
    if not relevant:
        fixture = next(name for name, grade in FIXTURES.items() if grade == evidence.grade)
        why = "certifies" if evidence.grade == "certified" else "earns"
        problem = (
            f"{where} is called {evidence.grade} but {why} nothing about the claim: "
            f"the fixture {fixture} has to decide it."
        )
        return replace(evidence, outcome="broken", details=problem), problem
    files = dict(pair for e in earned for pair in zip(e.certificates, e.sha256, strict=True))
    names = sorted(files)
    seen = [e.count for e in relevant if e.count is not None]
    scopes = [e.scope for e in relevant if e.scope] or [evidence.scope or ""]
    said = [e.statement for e in relevant if e.statement]
    evidence = replace(
        evidence,
        certificates=tuple(names),
        sha256=tuple(files[name] for name in names),
        theorems=tuple(t for e in relevant for t in e.theorems),
        formula="; ".join(e.formula for e in relevant if e.formula) or None,
        symbols=tuple(dict.fromkeys(s for e in relevant for s in e.symbols)),
        predicate="; ".join(dict.fromkeys(e.predicate for e in relevant if e.predicate)) or None,
        count=sum(seen) if seen else None,
        measured=next((e.measured for e in relevant if e.measured), None),
        details=next((e.details for e in relevant if e.details), None),
        scope="; ".join(dict.fromkeys(filter(None, scopes))) or None,
        statement=evidence.statement or (said[0] if said else None),
    )
    if evidence.grade in ("universal", "property") and not evidence.scope:
        problem = f"{where}: the grade {evidence.grade} needs a scope."
        return replace(evidence, outcome="broken", details=problem), problem
    if evidence.grade == "property" and (evidence.count or 0) < 2:
        problem = f"{where}: one instance is no property."
        return replace(evidence, outcome="broken", details=problem), problem
    if all(e.bound for e in relevant) and evidence.statement is None:
        return replace(evidence, statement=claim.digest), None  # the certificate carries it
    return current(evidence, claim)


def current(evidence: Evidence, claim: Claim) -> tuple[Evidence, str | None]:
    """The evidence, stale and with a sentence if it was made for other words of the claim."""
    if evidence.statement == claim.digest or evidence.outcome != "passed":
        return evidence, None
    was = f"for other words of {claim.id}" if evidence.statement else "without a digest"
    problem = (
        f"{evidence.test} is stale: it was written {was}. Read the statement "
        f"(lemmax claims {claim.id}); if this is evidence for it, write the digest {claim.digest}."
    )
    return replace(evidence, outcome="stale", details=problem), problem
