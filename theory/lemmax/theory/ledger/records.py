"""A ledger as a file: written from verdicts, read back, and compared with a fresh run.

The file holds no times and has a fixed order. Version 2 also says of each piece of evidence what
earned it; version 1 can still be read.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from lemmax.theory.files import regular_bytes
from lemmax.theory.ledger.claims import Catalogue
from lemmax.theory.ledger.proofs import Direction
from lemmax.theory.ledger.verdicts import Entry, Evidence, Grade, LedgerError, build_ledger


def to_json(ledger: Mapping[str, Entry], left_out: Sequence[str] = ()) -> str:
    """The text of ``ledger.json``: no times, a fixed order, one claim per line."""
    lines = ",\n".join(
        json.dumps(_plain(entry), ensure_ascii=False, sort_keys=True)
        for _, entry in sorted(ledger.items())
    )
    parts = json.dumps(sorted(left_out), ensure_ascii=False)
    return (
        f'{{"format": "lemmax-ledger", "version": 2, "left_out": {parts}, "claims": [\n'
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
            Evidence(**{**_tuples(item), "claim": identifier})
            for identifier, entry in self.claims.items()
            for item in entry["evidence"]
        ]


_KNOWN = {field.name for field in fields(Evidence)}


def _tuples(item: Mapping[str, Any]) -> dict[str, Any]:
    if set(item) - _KNOWN:
        raise LedgerError(f"The ledger has an unknown field {min(set(item) - _KNOWN)!r}.")
    return {k: tuple(v) if isinstance(v, list) else v for k, v in item.items()}


def _is_entry(entry: Mapping[str, Any]) -> bool:
    """Whether an entry has what every version has, and evidence that can be read."""
    texts = [entry["id"], entry["digest"], entry["verdict"], entry["grade"] or ""]
    for item in entry["evidence"]:
        texts += [item[name] for name in ("grade", "direction", "test")]
        _tuples(item)
    return all(isinstance(text, str) for text in texts)


def read_ledger(path: str | Path) -> Record:
    """Read ``ledger.json``."""
    if not Path(path).exists():
        advice = f"pytest --ledger {Path(path).name} writes one"
        raise LedgerError(f"There is no ledger at {path}: {advice}.")
    try:
        document = json.loads(regular_bytes(path))
        if document["format"] != "lemmax-ledger" or document["version"] not in (1, 2):
            raise LedgerError(f"{path} is not a lemmax ledger of version 1 or 2.")
        claims = {entry["id"]: entry for entry in document["claims"]}
        if not all(map(_is_entry, claims.values())):
            raise LedgerError(f"{path} is not a lemmax ledger: an entry is damaged.")
        if len(claims) < len(document["claims"]):
            raise LedgerError(f"{path} has two entries for one claim.")
        return Record(claims, tuple(document["left_out"]))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
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
    granted: Collection[str] = (),
) -> list[str]:
    """Where a committed ledger differs from a fresh run, as sentences.

    Evidence that one of the two could not run (an optional part is missing) is left out of both
    before they are compared. Evidence of the ledger whose test is gone is reported, and so is a
    ledger whose verdicts do not follow from its own evidence. What stands beside the verdicts is
    compared too: titles, numbers, sources, and of each piece of evidence the certificates with
    their digests, the theorems, the scope and the details.
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
        elif item.outcome == now[key].outcome == "passed":
            sentences += _differing(item, now[key])
    for name, entry in fresh.items():
        current = _plain(entry)
        sentences += [
            f"{name}: the {field} was {record.claims[name].get(field)!r} and is {current[field]!r}."
            for field in _OF_CLAIMS
            if record.claims[name].get(field) != current[field]
        ]
    out = {k for side in (now, then) for k, e in side.items() if e.outcome in _LEFT_OUT}
    expected, fresh_ledger = (
        build_ledger(catalogue, [e for k, e in side.items() if k not in out], premises, granted)
        for side in (then, now)
    )
    for name in fresh:
        before, after = expected[name], fresh_ledger[name]
        if (before.verdict, before.grade) != (after.verdict, after.grade):
            sentences.append(
                f"{name}: the ledger says {_say(before)}, a fresh run says {_say(after)}."
            )
    derived = build_ledger(catalogue, then.values(), premises, granted)
    for name, written in record.claims.items():
        if (written["verdict"], written["grade"]) != (derived[name].verdict, derived[name].grade):
            sentences.append(
                f"{name}: the ledger says {written['verdict']}, but its own evidence "
                f"gives {_say(derived[name])}."
            )
    return sentences


_LEFT_OUT = ("skipped", "not-run")
_OF_CLAIMS = ("kind", "number", "paper", "repaired_by", "source", "title")
_OF_EVIDENCE = (
    *("certificates", "details", "kernel_checked", "measured", "scope", "sha256", "theorems"),
)


def _differing(then: Evidence, now: Evidence) -> list[str]:
    return [
        f"{now.claim}: the {field} of {now.test} differ from the ledger's: "
        f"{getattr(now, field)!r}, not {getattr(then, field)!r}."
        for field in _OF_EVIDENCE
        if getattr(then, field) != getattr(now, field)
    ]


def _key(evidence: Evidence) -> tuple[str, str, Grade, Direction]:
    return evidence.claim, evidence.test, evidence.grade, evidence.direction


def _say(entry: Entry) -> str:
    return f"{entry.verdict} ({entry.grade})" if entry.grade else entry.verdict
