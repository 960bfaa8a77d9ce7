r"""The errata of a paper as a letter to its authors.

Only what was read in the paper itself is addressed to them. Which statements appear follows from
the ledger (refuted or repaired), and so does their order: numbered statements before the steps of
proofs and equations, those before sentences of the text, and last what the paper hedges. The
sentence as printed and the counterexample in words stand in ``letters/PAPER.toml``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib.resources import files
from typing import Any

from lemmax.constructions import shipped
from lemmax.theory.errors import LemmaxError
from lemmax.theory.ledger.claims import Catalogue, Claim, load_claims
from lemmax.theory.ledger.records import Record, read_ledger, stale

_NUMBERED = ("Theorem", "Proposition", "Corollary", "Lemma")


@dataclass(frozen=True)
class Words:
    """What is said about one claim beyond the claims file."""

    claim: str
    quote: str
    counterexample: str
    hedged: bool = False
    holds_as: tuple[str, ...] = ()


@dataclass(frozen=True)
class Erratum:
    """One entry of the letter; formulas stand in TeX's round delimiters, all else is text.

    ``gap`` is true where the printed proof has a gap and the statement is not refuted. ``holds``
    has the statements that hold instead, repairs first.
    """

    claim: Claim
    words: Words
    gap: bool
    holds: tuple[Claim, ...]
    grade: str
    commands: tuple[str, ...]

    @property
    def weight(self) -> tuple[int, int]:
        """The place of the entry in the letter: the smaller, the earlier."""
        number = self.claim.number
        numbered = [n for n, word in enumerate(_NUMBERED) if number.startswith(word)]
        if self.words.hedged:
            return 3, 0
        if numbered and not number.endswith("proof"):
            return 0, numbered[0]
        return (2, 0) if number == "text" else (1, 0)


@dataclass(frozen=True)
class Letter:
    """A paper, its errata by weight, and how many of its statements were judged and stand."""

    paper: Mapping[str, Any]
    errata: tuple[Erratum, ...]
    judged: int
    standing: int


def read_letter(key: str) -> Letter:
    """The letter to the authors of a paper.

    >>> letter = read_letter("dana")
    >>> letter.errata[0].claim.id
    'dana/theorem-1'
    """
    catalogue, record = load_claims(), read_ledger(shipped.LEDGER)
    if key not in catalogue.papers:
        known = ", ".join(sorted(catalogue.papers))
        raise LemmaxError(f"There is no paper {key!r}; the papers are {known}.")
    wrong = [
        claim
        for claim in catalogue
        if claim.paper == key
        and record.claims.get(claim.id, {}).get("verdict") in ("refuted", "repaired")
    ]
    read = [claim for claim in wrong if claim.source == "text"]
    if not wrong:
        raise LemmaxError(f"Nothing of {key} is refuted at present.")
    if not read:
        raise LemmaxError(
            f"No statement of {key} was read in the paper itself, so there is no letter to its "
            "authors."
        )
    due = set(stale(record, catalogue)) & {claim.id for claim in read}
    if due:
        raise LemmaxError(f"The verdict on {min(due)} is due: run the evidence first.")
    said = _words(key)
    errata = [_erratum(claim, said, catalogue, record) for claim in read]
    verdicts = [
        record.claims[c.id]["verdict"] for c in catalogue if c.paper == key and c.kind != "D"
    ]
    return Letter(
        catalogue.papers[key],
        tuple(sorted(errata, key=lambda e: e.weight)),
        len(verdicts),
        sum(verdict in ("holds", "reproduced") for verdict in verdicts),
    )


def _words(key: str) -> dict[str, Words]:
    path = files("lemmax.paper").joinpath("letters", f"{key}.toml")
    if not path.is_file():
        raise LemmaxError(f"There are no words for a letter to the authors of {key}.")
    known = {f.name for f in fields(Words)}
    words: dict[str, Words] = {}
    for table in tomllib.loads(path.read_text(encoding="utf-8")).get("erratum", []):
        if set(table) - known or table["claim"] in words:
            raise LemmaxError(f"{key}.toml: the entry {table['claim']} is not well formed.")
        given = {**table, "holds_as": tuple(table.get("holds_as", ()))}
        words[table["claim"]] = Words(**given)
    return words


def _erratum(
    claim: Claim, said: Mapping[str, Words], catalogue: Catalogue, record: Record
) -> Erratum:
    if claim.id not in said:
        raise LemmaxError(f"The letter has no words on {claim.id}.")
    words, entry = said[claim.id], record.claims[claim.id]
    passed = [e for e in entry["evidence"] if e["outcome"] == "passed"]
    refuting = [e for e in passed if e["direction"] == "against"]
    against = refuting or [e for e in passed if e["direction"] == "gap"]
    repairs = [claim.repaired_by] if claim.repaired_by else []
    holding = [i for i in (*repairs, *words.holds_as) if record.claims[i]["verdict"] == "holds"]
    certificates = [c.removesuffix(".json") for e in against for c in e.get("certificates", ())]
    commands = [
        f"lemmax export {name} --format json -o c.json; lemmax check c.json"
        for name in certificates[:1]
    ]
    commands += [f"pytest {e['test']}" for e in against if not e.get("certificates")][:1]
    return Erratum(
        claim,
        words,
        not refuting,
        tuple(catalogue[identifier] for identifier in holding),
        str(entry["grade"]),
        tuple(commands),
    )
