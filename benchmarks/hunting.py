"""The blind test of the hunter: claims with a formal statement, seconds of one core for each.

``python -m benchmarks.hunting RESULTS.jsonl [--seconds 60] [CLAIM ...]`` hunts the claims that the
ledger calls refuted or repaired; with ``--holds`` those that hold, where a catch would be a fault
of the language or of a proof; with ``--sharp`` each inequality that such a claim concludes, for
where it is attained. It appends one line per claim, or per inequality, and skips the claims that
are there. Each claim is hunted as ``lemmax hunt CLAIM`` does, with the same seconds. The hunter
reads no certificate; afterwards the shipped one, if there is one, is measured. Seconds are of
processor time.
"""

from __future__ import annotations

import argparse
import json
import time
from importlib import resources
from pathlib import Path
from typing import Any

from lemmax.constructions.hunting import evidence
from lemmax.theory.errors import LemmaxError
from lemmax.theory.hunting import hunt, sharpness, size_of
from lemmax.theory.hunting.sharpness import inequalities
from lemmax.theory.ledger.claims import load_claims
from lemmax.theory.ledger.statements import refutable, statement_of


def shipped_size(claim: str) -> int | None:
    """The size of the instance of the shipped refutation."""
    paper, name = claim.split("/")
    folder = resources.files("lemmax.constructions") / "certificates" / paper
    file = folder / f"{name}.json"
    if not file.is_file():
        return None
    data = json.loads(file.read_text(encoding="utf-8"))
    return size_of(data["instance"]) if data["kind"] == "refutation" else None


def to_hunt(*verdicts: str) -> tuple[list[str], dict[str, str]]:
    """The claims of these verdicts with a formal statement; and why some of them are not hunted."""
    ledger = resources.files("lemmax.theory.ledger") / "ledger.json"
    entries = json.loads(ledger.read_text(encoding="utf-8"))["claims"]
    judged = {entry["id"]: entry["verdict"] for entry in entries}
    hunted, left = [], {}
    for claim in load_claims():
        if claim.formal and judged.get(claim.id) in verdicts:
            try:
                refutable(claim.id)
                hunted.append(claim.id)
            except LemmaxError as reason:
                left[claim.id] = str(reason)
    return hunted, left


def one_row(claim: str, seconds: float) -> list[dict[str, Any]]:
    """What the hunter says of one claim."""
    caught = hunt(
        statement_of(claim),
        claim=claim,
        seconds=seconds,
        evidence=evidence,
        clock=time.process_time,
    )
    told = {
        "claim": claim,
        "size": caught.size,
        "smallest": caught.smallest,
        "exhausted": caught.exhausted,
        "looked": caught.looked,
        "satisfied": caught.satisfied,
        "tried": caught.tried,
        "met": caught.met,
        "open": caught.open,
        "seconds": round(caught.seconds, 1),
        "limit": seconds,
        "shipped": shipped_size(claim),
        "instance": caught.instance,
        "gap": None if caught.gap is None else str(caught.gap),
        "tight": caught.tight,
    }
    return [told]


def sharp_rows(claim: str, seconds: float) -> list[dict[str, Any]]:
    """Where the inequalities of one claim are attained."""
    bounds = sharpness(statement_of(claim), claim=claim, seconds=seconds, clock=time.process_time)
    return [
        {
            "claim": claim,
            "bound": b.bound,
            "gap": None if b.gap is None else str(b.gap),
            "size": b.size,
            "tried": b.tried,
            "broken": b.broken,
            "instance": b.instance,
        }
        for b in bounds
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("claims", nargs="*")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--holds", action="store_true")
    parser.add_argument("--sharp", action="store_true")
    options = parser.parse_intermixed_args()
    held = options.holds or options.sharp
    claims = options.claims or to_hunt(*(("holds",) if held else ("refuted", "repaired")))[0]
    known = set()
    if options.results.exists():
        lines = options.results.read_text(encoding="utf-8").splitlines()
        known = {json.loads(line)["claim"] for line in lines}
    for number, claim in enumerate(claims, 1):
        if claim in known or (options.sharp and not inequalities(statement_of(claim))):
            continue
        rows = (sharp_rows if options.sharp else one_row)(claim, options.seconds)
        with options.results.open("a", encoding="utf-8") as file:
            for told in rows:
                file.write(json.dumps(told, ensure_ascii=False) + "\n")
        shown = ", ".join(str(told["gap"] if options.sharp else told["size"]) for told in rows)
        print(f"{number}/{len(claims)} {claim}: {shown}", flush=True)


if __name__ == "__main__":
    main()
