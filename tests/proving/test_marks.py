"""The mark kernel-checked: earned by a proof of the very certificate, and shown everywhere."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from lemmax.cli.ledger_view import show_all, show_one
from lemmax.constructions import proved
from lemmax.theory.ledger import entries, records
from lemmax.theory.ledger.gathering import kernel_checked
from lemmax.theory.ledger.verdicts import Evidence
from lemmax.theory.proving import running

OURS = Evidence(
    "x/a", "certified", "for", "t.py::a", certificates=("x/a.json", "x/b.json"), sha256=("1", "2")
)


def record(folder: Path, **proofs: dict[str, Any]) -> Path:
    text = json.dumps({f"x/{name}": proof for name, proof in proofs.items()})
    (folder / "proved.json").write_text(text, encoding="utf-8")
    return folder / "certificates"


def test_only_the_certificate_that_was_proved_is_marked(tmp_path: Path) -> None:
    """Another digest, or no proof, earns no mark; the grade stays certified."""
    proved = {"proved": True, "certificate": "1", "sha256": "…"}
    refused = {"proved": False, "reason": "No."}
    (marked,) = kernel_checked([OURS], record(tmp_path, a=proved, b=refused))
    assert marked.kernel_checked == ("x/a.json",)
    assert marked.grade == "certified"
    (other,) = kernel_checked([OURS], record(tmp_path, a=proved | {"certificate": "0"}, b=refused))
    assert other.kernel_checked == ()


def test_without_a_record_nothing_is_marked(tmp_path: Path) -> None:
    assert kernel_checked([OURS], tmp_path / "certificates") == [OURS]
    assert kernel_checked([OURS], None) == [OURS]


def claim(marked: list[str], outcome: str = "passed") -> dict[str, Any]:
    """The shipped entry of a certified claim, with evidence that bears these marks."""
    table = entries.entries()
    found = next(entry for entry in table.values() if entry["grade"] == "certified")
    item = {
        "grade": "certified",
        "outcome": outcome,
        "direction": "against",
        "test": "t.py::a",
        "certificates": ["x/a.json"],
    }
    item |= {"kernel_checked": marked} if marked else {}
    mark = entries._kernel_checked({"grade": "certified", "evidence": [item]})
    return found | {"evidence": [item], "kernel_checked": mark}


def shown(entry: dict[str, Any]) -> str:
    out = io.StringIO()
    console = Console(file=out, width=200)
    show_one(entry, console)
    show_all([entry], console)
    return out.getvalue()


def test_the_command_line_shows_the_mark() -> None:
    assert shown(claim(["x/a.json"])).count("certified, kernel-checked") == 3
    assert "kernel-checked" not in shown(claim([]))
    assert not claim(["x/a.json"], "failed")["kernel_checked"]


def test_a_ledger_with_another_mark_is_not_that_of_the_run() -> None:
    """The mark is compared like the digests beside it."""
    assert "kernel_checked" in records._OF_EVIDENCE
    said = records._differing(OURS, kernel_marked := Evidence(**_fields(("x/a.json",))))
    assert len(said) == 1
    assert "kernel_checked" in said[0]
    assert kernel_marked.kernel_checked


def _fields(marked: tuple[str, ...]) -> dict[str, Any]:
    return {**vars(OURS), "kernel_checked": marked}


def test_what_the_record_knows_is_not_proved_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """`make verify` asks Coq about certificates whose record is stale, and about no other."""
    asked: list[list[str]] = []

    def prove_modules(texts: dict[str, str], timeout: float) -> int:
        asked.append(sorted(texts))
        return len(texts)

    monkeypatch.setattr(running, "prove_modules", prove_modules)
    monkeypatch.setattr(proved, "stale", lambda: ["wong/argmax-rank-one"])
    assert proved.prove(changed=True) == 1
    monkeypatch.setattr(proved, "stale", list)
    assert proved.prove(changed=True) == 0
    assert asked == [["wong/argmax-rank-one"]]
