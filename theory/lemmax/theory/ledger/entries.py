"""The shipped ledger beside the claims: what is known of each, as dictionaries ready for JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from lemmax.theory.errors import LemmaxError
from lemmax.theory.ledger.claims import BUILT_IN, load_claims
from lemmax.theory.ledger.records import read_ledger, stale

LEDGER = Path(__file__).with_name("ledger.json")

_LISTED = (
    "id",
    "paper",
    "kind",
    "number",
    "title",
    "verdict",
    "grade",
    "kernel_checked",
    "source",
    "repaired_by",
)


def entries(
    ledger: Path = LEDGER, claims: Iterable[Path] = (BUILT_IN,)
) -> dict[str, dict[str, Any]]:
    """Everything about every claim: statement, verdict, evidence, its place in the graph.

    A claim that changed after the ledger was written has the verdict ``stale``.
    """
    catalogue = load_claims(claims)
    record = read_ledger(ledger)
    outdated = set(stale(record, catalogue))
    table = {}
    for claim in catalogue:
        entry = record.claims.get(claim.id, {})
        fresh = claim.id not in outdated
        table[claim.id] = {
            "id": claim.id,
            "paper": claim.paper,
            "kind": claim.kind,
            "number": claim.number,
            "title": claim.title,
            "statement": claim.statement.strip(),
            "reading": claim.reading,
            "sharpens": claim.sharpens,
            "waits": claim.waits,
            "place": claim.place,
            "source": claim.source,
            "verdict": entry["verdict"] if fresh else "stale",
            "grade": entry["grade"] if fresh else None,
            "kernel_checked": fresh and _kernel_checked(entry),
            "repaired_by": claim.repaired_by,
            "repair": claim.repair,
            "formal": claim.formal,
            "consequence": claim.consequence,
            "consequence_uses": list(claim.consequence_uses),
            "theorems": list(claim.theorems),
            "formula": claim.formula,
            "counterformula": claim.counterformula,
            "symbols": claim.symbols,
            "informal": claim.informal,
            "quote": claim.quote,
            "counterexample": claim.counterexample,
            "hedge": claim.hedge,
            "holds_as": list(claim.holds_as),
            "digest": claim.digest,
            "uses": list(claim.uses),
            "used_by": list(catalogue.used_by(claim.id)),
            "evidence": entry.get("evidence", []),
        }
    return table


def _kernel_checked(entry: Mapping[str, Any]) -> bool:
    """Whether the claim is certified, and some certificate of it is also a theorem of Coq."""
    return entry.get("grade") == "certified" and any(
        item["grade"] == "certified"
        and item["outcome"] == "passed"
        and item.get("kernel_checked") == item.get("certificates")
        for item in entry["evidence"]
        if item.get("certificates")
    )


def listed(
    paper: str | None = None, ledger: Path = LEDGER, claims: Sequence[Path] = (BUILT_IN,)
) -> list[dict[str, Any]]:
    """All claims that can have a verdict, with the verdict that the ledger derived."""
    papers = load_claims(claims).papers
    if paper is not None and paper not in papers:
        known = ", ".join(sorted(papers))
        raise LemmaxError(f"There is no paper {paper!r}; the papers are {known}.")
    return [
        {name: entry[name] for name in _LISTED}
        for entry in entries(ledger, claims).values()
        if entry["kind"] != "D" and paper in (None, entry["paper"])
    ]


def one(
    identifier: str, ledger: Path = LEDGER, claims: Sequence[Path] = (BUILT_IN,)
) -> dict[str, Any]:
    """Everything about one claim."""
    load_claims(claims)[identifier]  # an unknown claim is refused by name
    return entries(ledger, claims)[identifier]


def certificates_of(
    identifier: str, ledger: Path = LEDGER, claims: Sequence[Path] = (BUILT_IN,)
) -> list[str]:
    """The names of the shipped certificates that are evidence for a claim."""
    evidence = one(identifier, ledger, claims)["evidence"]
    names = (name for item in evidence for name in item.get("certificates", ()))
    return sorted({name.removesuffix(".json") for name in names})


_ELSEWHERE = re.compile(r"lemmax(?:-(?P<version>[^:]+))?:(?P<claim>.+)")


def elsewhere(reference: str) -> bool:
    """Whether a reference names a claim of lemmax from another project.

    >>> elsewhere("lemmax:wong/proposition-2.1"), elsewhere("wong/proposition-2.1")
    (True, False)
    """
    return _ELSEWHERE.fullmatch(reference) is not None


def holds_in_lemmax(reference: str) -> bool:
    """Whether the claim of lemmax that is named holds in the ledger that lemmax ships.

    ``lemmax-1.0:ID`` asks for that version of lemmax; a repaired claim counts if its repair holds.
    """
    match = _ELSEWHERE.fullmatch(reference)
    if match is None:
        raise LemmaxError(f"{reference!r} does not name a claim of lemmax.")
    entry = one(match["claim"])
    if match["version"] is not None:
        try:
            installed = version("lemmax")
        except PackageNotFoundError:
            installed = "none"
        if installed != match["version"]:
            return False
    if entry["verdict"] == "repaired":
        entry = one(entry["repaired_by"])
    return bool(entry["verdict"] == "holds")
