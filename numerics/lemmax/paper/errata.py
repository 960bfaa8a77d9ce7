r"""The errata of a paper: which of its statements do not stand, the gravest first.

Which statements appear follows from the ledger (refuted or repaired), and so does their order:
theorems before propositions, corollaries and lemmas, those before equations and remarks, then steps
of proofs, then sentences of the text, and last what the paper hedges (``hedge``) or what only a
sharper reading of ours says (``sharpens``); among equals first the one that more of the paper leans
on. The sentence as printed and the counterexample in words stand in the claims file (``quote``,
``counterexample``, ``holds_as``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lemmax.theory.errors import LemmaxError
from lemmax.theory.ledger.claims import BUILT_IN, Catalogue, Claim, load_claims
from lemmax.theory.ledger.entries import LEDGER
from lemmax.theory.ledger.records import Record, read_ledger, stale

_WRONG = ("refuted", "repaired")
_STANDING = ("holds", "reproduced")
_NUMBERED = ("Theorem", "Proposition", "Corollary", "Lemma")


@dataclass(frozen=True)
class Erratum:
    """A statement that does not stand; formulas are in TeX's round delimiters, all else is text.

    ``gap`` is true where the printed proof has a gap and the statement is not refuted. ``holds``
    has the statements that hold instead, the repair first. ``evidence`` is what passed against the
    statement, and ``leaning`` counts the statements of the paper that rest on it.
    """

    claim: Claim
    gap: bool
    holds: tuple[Claim, ...]
    grade: str
    evidence: tuple[Mapping[str, Any], ...]
    leaning: int

    @property
    def addressed(self) -> bool:
        """Whether the statement was read in the paper itself, so that its authors can be told."""
        return self.claim.source == "text"

    @property
    def hedged(self) -> bool:
        """Whether the paper asserts less than is decided: a hedge, or a sharper reading of ours."""
        return self.claim.hedge is not None or self.claim.sharpens is not None

    @property
    def weight(self) -> tuple[int, int, int, int]:
        """The place among the errata: the smaller, the earlier."""
        number = self.claim.number
        rank = next((n for n, word in enumerate(_NUMBERED) if number.startswith(word)), None)
        if number == "text" or number.startswith("Section"):
            group = 3
        elif number.endswith("proof"):
            group = 2
        else:
            group = 1 if rank is None else 0
        return (
            int(self.hedged),
            group,
            rank if group == 0 and rank is not None else 0,
            -self.leaning,
        )

    @property
    def certificates(self) -> tuple[str, ...]:
        """The names of the certificates against the statement."""
        names = (name for item in self.evidence for name in item.get("certificates", ()))
        return tuple(name.removesuffix(".json") for name in names)

    @property
    def commands(self) -> tuple[str, ...]:
        """How a reader re-checks it."""
        told = [
            f"lemmax export {name} --format json -o c.json; lemmax check c.json"
            for name in self.certificates[:1]
        ]
        tests = [e["test"] for e in self.evidence if not e.get("certificates")]
        return (*told, *(f"pytest {test}" for test in tests[:1]))


@dataclass(frozen=True)
class Letter:
    """A paper, what its authors are told, and how many statements were judged and stand."""

    paper: Mapping[str, Any]
    errata: tuple[Erratum, ...]
    judged: int
    standing: int


def errata_of(
    key: str, claims: Sequence[Path] = (BUILT_IN,), ledger: Path = LEDGER
) -> tuple[Erratum, ...]:
    """What does not stand in a paper, the gravest first; also what was read elsewhere about it.

    A claim whose words changed after the ledger was written is not among them: its verdict is due.

    >>> [e.claim.id for e in errata_of("dana")][:2]
    ['dana/theorem-1', 'dana/theorem-2']
    """
    catalogue, record = load_claims(claims), read_ledger(ledger)
    if key not in catalogue.papers:
        known = ", ".join(sorted(catalogue.papers))
        raise LemmaxError(f"There is no paper {key!r}; the papers are {known}.")
    due = set(stale(record, catalogue))
    wrong = [
        _erratum(claim, catalogue, record)
        for claim in catalogue
        if claim.paper == key
        and claim.id not in due
        and record.claims.get(claim.id, {}).get("verdict") in _WRONG
    ]
    return tuple(sorted(wrong, key=lambda e: e.weight))


def read_letter(key: str, claims: Sequence[Path] = (BUILT_IN,), ledger: Path = LEDGER) -> Letter:
    """The letter to the authors of a paper: only what was read in the paper itself.

    >>> letter = read_letter("dana")
    >>> letter.errata[0].claim.id
    'dana/theorem-1'
    """
    wrong = errata_of(key, claims, ledger)
    read = tuple(erratum for erratum in wrong if erratum.addressed)
    if not wrong:
        raise LemmaxError(f"Nothing of {key} is refuted at present.")
    if not read:
        raise LemmaxError(
            f"No statement of {key} was read in the paper itself, so there is no letter to its "
            "authors."
        )
    for erratum in read:
        for field in ("quote", "counterexample"):
            if getattr(erratum.claim, field) is None:
                raise LemmaxError(
                    f"The letter has no words on {erratum.claim.id}: its claim has no {field}."
                )
    catalogue, record = load_claims(claims), read_ledger(ledger)
    changed = set(stale(record, catalogue))
    verdicts = []
    for claim in catalogue:
        if claim.paper == key and claim.kind != "D" and claim.source == "text":
            verdict = record.claims.get(claim.id, {}).get("verdict", "open")
            if claim.id in changed and verdict in _WRONG:
                raise LemmaxError(f"The verdict on {claim.id} is due: run the evidence first.")
            verdicts.append(verdict)
    standing = sum(verdict in _STANDING for verdict in verdicts)
    return Letter(catalogue.papers[key], read, len(verdicts), standing)


def _erratum(claim: Claim, catalogue: Catalogue, record: Record) -> Erratum:
    entry = record.claims[claim.id]
    passed = [e for e in entry["evidence"] if e["outcome"] == "passed"]
    refuting = [e for e in passed if e["direction"] == "against"]
    against = refuting or [e for e in passed if e["direction"] == "gap"]
    named = dict.fromkeys((claim.repaired_by, claim.sharpens, *claim.holds_as))
    holding = [i for i in named if i and record.claims.get(i, {}).get("verdict") in _STANDING]
    leaning = [c for c in catalogue if claim.id in catalogue.leans_on[c.id]]
    return Erratum(
        claim,
        not refuting,
        tuple(catalogue[identifier] for identifier in holding),
        str(entry["grade"]),
        tuple(against),
        sum(c.paper == claim.paper for c in leaning),
    )
