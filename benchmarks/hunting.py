"""The blind test of the hunter: every claim with a formal statement, so many seconds on one core.

``python -m benchmarks.hunting RESULTS.jsonl [--seconds 60] [--holds] [CLAIM ...]`` hunts the claims
that the ledger calls refuted or repaired, or with ``--holds`` those that hold, where a catch would
be a fault of the language or of a proof. It appends one line per claim and skips those that are
there. The hunter reads no certificate; afterwards the shipped one, if there is one, is measured.
"""

from __future__ import annotations

import argparse
import json
import time
from importlib import resources
from pathlib import Path
from typing import Any

from lemmax.constructions.hunting import evidence
from lemmax.theory.hunting import hunt, size_of
from lemmax.theory.ledger.claims import load_claims
from lemmax.theory.ledger.statements import statement_of


def shipped_size(claim: str) -> int | None:
    """The size of the instance of the shipped refutation."""
    paper, name = claim.split("/")
    folder = resources.files("lemmax.constructions") / "certificates" / paper
    file = folder / f"{name}.json"
    if not file.is_file():
        return None
    data = json.loads(file.read_text(encoding="utf-8"))
    return size_of(data["instance"]) if data["kind"] == "refutation" else None


def row(claim: str, seconds: float) -> dict[str, Any]:
    """What the hunter says of one claim."""
    start = time.process_time()
    options = {"seconds": seconds, "patience": 10**6, "evidence": evidence}
    caught = hunt(statement_of(claim), claim=claim, **options)  # type: ignore[arg-type]
    return {
        "claim": claim,
        "size": caught.size,
        "smallest": caught.smallest,
        "exhausted": caught.exhausted,
        "tried": caught.tried,
        "open": caught.open,
        "seconds": round(caught.seconds, 1),
        "processor": round(time.process_time() - start, 1),
        "shipped": shipped_size(claim),
        "instance": caught.instance,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("claims", nargs="*")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--holds", action="store_true")
    options = parser.parse_intermixed_args()
    wanted = ("holds",) if options.holds else ("refuted", "repaired")
    ledger = resources.files("lemmax.theory.ledger") / "ledger.json"
    entries = json.loads(ledger.read_text(encoding="utf-8"))["claims"]
    verdicts = {entry["id"]: entry["verdict"] for entry in entries}
    claims = options.claims or [
        claim.id
        for claim in load_claims().claims.values()
        if claim.formal and claim.kind == "A" and verdicts.get(claim.id) in wanted
    ]
    known = set()
    if options.results.exists():
        lines = options.results.read_text(encoding="utf-8").splitlines()
        known = {json.loads(line)["claim"] for line in lines}
    for number, claim in enumerate(claims, 1):
        if claim in known:
            continue
        told = row(claim, options.seconds)
        with options.results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(told, ensure_ascii=False) + "\n")
        size, shipped = told["size"], told["shipped"]
        print(f"{number}/{len(claims)} {claim}: {size} (shipped {shipped})", flush=True)


if __name__ == "__main__":
    main()
