"""What the checker says of a corpus of certificates, word by word, and what it charges for it.

The counts of the meter depend on the certificate alone, so that every machine accepts the same
files. A change of the checker that means to say or to charge something else records the corpus
anew (`python -m benchmarks.corpus record`), and the difference is read like any other.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from benchmarks.corpus import CORPUS, counted, outcome, read

from lemmax.checker import files, limits
from lemmax.checker.checking import KINDS

ROWS = read()
SIZE = 20  # certificates of one test


def parts() -> list[Any]:
    found = []
    kinds = itertools.groupby(ROWS, key=lambda row: kind_of(row["certificate"]))
    for kind, rows in kinds:
        some = list(rows)
        for n in range(0, len(some), SIZE):
            found.append(pytest.param(some[n : n + SIZE], id=f"{kind}-{n // SIZE}"))
    return found


def kind_of(certificate: Any) -> str:
    kind = certificate.get("kind") if isinstance(certificate, dict) else None
    return kind if kind in KINDS else "no-kind"


@pytest.mark.parametrize("rows", parts())
def test_every_word_and_every_charge_is_as_recorded(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        assert outcome(row["certificate"]) | {"certificate": row["certificate"]} == row


def test_the_corpus_has_all_kinds_and_all_outcomes() -> None:
    assert CORPUS.is_file()
    said = {(kind_of(row["certificate"]), row["said"][0]) for row in ROWS}
    assert said >= set(itertools.product(KINDS, ("holds", "does not hold", "refused")))


def test_one_unit_of_work_less_than_recorded_is_too_little(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [row for row in ROWS if kind_of(row["certificate"]) == "matrix-rank"]
    for row in rows:
        if row["said"][0] == "holds":
            monkeypatch.setitem(limits.LIMITS, "work", row["work"])
            assert outcome(row["certificate"])["said"] == row["said"]
            monkeypatch.setitem(limits.LIMITS, "work", row["work"] - 1)
            assert outcome(row["certificate"])["said"][0] == "refused"


@pytest.mark.parametrize(("text", "numbers"), [('{"a":[1,2]}', 13), ('{"é":[1,2]}', 14)])
def test_a_file_is_charged_before_it_is_parsed(text: str, numbers: int, tmp_path: Path) -> None:
    """One comma, one list, one object: 2 + 2 + 8 numbers; and 6 or 9 bytes for each of a file."""
    path = tmp_path / "file.json"
    path.write_text(text, encoding="utf-8")
    with counted() as bill:
        files.read(path)
    assert bill.sums == {"work": 0, "memory": 40 * numbers}
