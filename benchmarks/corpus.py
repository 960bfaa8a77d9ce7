"""The corpus of the checker: few small certificates, true and damaged, that reach most of its code.

    python -m benchmarks.corpus add FILE.jsonl ...   certificates, one on a line
    python -m benchmarks.corpus record               what the checker says now, for a review of it

``add`` keeps what has steps of the program that few kept ones have, or ends in a sentence that
none ends in: the smallest first. Both write tests/data/corpus.jsonl; ``tests/checker/test_corpus``
asks the checker again and compares every word and every unit of work and memory that was charged.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

from lemmax.checker import NotACertificate, check, limits
from lemmax.checker.checking import KINDS, rule_of

ROOT = Path(__file__).parents[1]
CORPUS = ROOT / "tests" / "data" / "corpus.jsonl"
FEW, SLOW, LARGE = 3, 0.1, 12_000  # certificates for a step, seconds, letters
ARGUMENTS = ("what", "count", "a", "b", "flat", "bits")  # of what charges the meter
MOST = 10**18  # a charge for what is refused may have thousands of digits


class Counted(int):
    """A sum that remembers all that was added to it, also when the sum is dropped, and for what."""

    bill: Bill
    name: str

    def __new__(cls, value: int, name: str, bill: Bill) -> Counted:
        self = super().__new__(cls, value)
        self.name, self.bill = name, bill
        return self

    def __add__(self, other: int) -> Counted:
        self.bill.sums[self.name] += other
        asked = sys._getframe(1).f_locals  # the arguments of the function that charges
        for argument in map(asked.get, ARGUMENTS):
            # The hash of a number, unlike that of a string, is the same in every process.
            told = argument if isinstance(argument, str) else hash(argument or 0)
            self.bill.items.update(f"{type(argument)}{told} ".encode())
        return Counted(int(self) + other, self.name, self.bill)


@dataclass
class Bill:
    """Units of work and bytes that were asked for, and a digest of every single charge."""

    sums: dict[str, int] = field(default_factory=lambda: {"work": 0, "memory": 0})
    items: Any = field(default_factory=hashlib.sha256)

    def told(self) -> dict[str, Any]:
        amounts = {name: min(amount, MOST) for name, amount in self.sums.items()}
        return amounts | {"charges": self.items.hexdigest()[:12]}


@contextlib.contextmanager
def counted() -> Iterator[Bill]:
    """Everything that the checker's meter is asked for: work, and memory also where it is gone."""
    bill, meter = Bill(), limits.Meter
    with patch.object(
        limits, "Meter", lambda: meter(*(Counted(0, name, bill) for name in ("work", "memory")))
    ):
        yield bill


def outcome(certificate: object) -> dict[str, Any]:
    """What the checker says of a certificate, and what it charges for that."""
    with counted() as bill:
        try:
            verdict = check(certificate)
            said = [{True: "holds", False: "does not hold"}[verdict.holds], *verdict.steps]
            about = [verdict.kind, verdict.claim, verdict.statement]
        except NotACertificate as error:
            said, about = ["refused", str(error)], []
    return {"said": said, "about": about} | bill.told()


def text_of(certificate: object) -> str:
    return json.dumps(certificate, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def read() -> list[dict[str, Any]]:
    lines = CORPUS.read_text(encoding="utf-8").splitlines() if CORPUS.exists() else []
    return [json.loads(line) for line in lines]


def record(certificates: Iterable[object]) -> None:
    """Write the certificates, by kind and size, with what is said of them."""

    def order(certificate: Any) -> tuple[str, int, str]:
        kind = certificate.get("kind") if isinstance(certificate, dict) else None
        text = text_of(certificate)
        return kind if kind in KINDS else "", len(text), text

    rows = [outcome(one) | {"certificate": one} for one in sorted(certificates, key=order)]
    new = CORPUS.with_suffix(".new")
    new.write_text("".join(text_of(row) + "\n" for row in rows), encoding="utf-8")
    new.replace(CORPUS)


def reached(certificate: object) -> set[tuple[str, tuple[int, int]]]:
    """The steps of the program, from line to line, that the check of a certificate takes."""
    coverage: Any = importlib.import_module("coverage")  # `make mutants` installs it
    meter = coverage.Coverage(
        data_file=None, branch=True, source=[str(Path(limits.__file__).parent)], config_file=False
    )
    meter.start()
    outcome(certificate)
    meter.stop()
    data = meter.get_data()
    return {(file, arc) for file in data.measured_files() for arc in data.arcs(file) or ()}


def distilled(texts: Iterable[str]) -> Iterator[object]:
    """The smallest certificates that reach what few others reach, or end in a new sentence."""
    steps, sentences = Counter[Any](), Counter[str]()
    for text in sorted(set(texts), key=lambda text: (len(text), text)):
        certificate, began = json.loads(text), time.process_time()
        said = outcome(certificate)["said"]
        if time.process_time() - began > SLOW or len(text) > LARGE:
            continue
        words = re.sub(r"'[^']*'|\"[^\"]*\"", "'", f"{said[0]} {said[-1]}")
        words = re.sub(r"[^a-zA-Z' ]+", "0", words)[:80]
        found = reached(certificate)
        if not sentences[words] or any(steps[step] < FEW for step in found):
            sentences[words] += 1
            steps.update(found)
            yield certificate


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", choices=["add", "record"])
    parser.add_argument("files", nargs="*", type=Path)
    given = parser.parse_args()
    for kind in KINDS:
        rule_of(kind)
    known = [row["certificate"] for row in read()]
    if given.what == "add":
        texts = [text_of(one) for one in known]
        for file in given.files:
            texts += file.read_text(encoding="utf-8").splitlines()
        known = list(distilled(texts))
    record(known)
    print(f"{len(known)} certificates, {CORPUS.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
