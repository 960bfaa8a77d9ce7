"""The last pass of a run: the shipped certificates again, in a fresh process of the checker.

And what a committed ledger is compared in: certificates, details, titles, numbers and sources.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lemmax.theory.ledger import entries

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[2]
CLAIMS = """
[paper]
key = "x"
title = "Ranks"

[[claim]]
id = "x/bound"
kind = "A"
number = "1"
title = "a bound"
statement = "rank argmax M is at most 2"
place = "here"
source = "text"
formal = "given M: matrix; assume rank(M) == 1; conclude rank(argmax(M)) <= 2"
"""
TEST = """
import pytest
from pathlib import Path
from lemmax.theory import Matrix
from lemmax.theory.certificates.writing import refutation

@pytest.mark.claim("x/bound", direction="against")
def test_bound(certify):
    M = Matrix([[1, 0, -1], [-1, 0, 1], [0, 0, 0]])
    shown = refutation("x/bound", {"M": M}, ["rank(M) == 1"], "rank(argmax(M)) <= 2")
    certify(shown, SHIP)
"""
SHIPPED = TEST.replace("SHIP", 'ship_as="x/bound"')
Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester) -> Run:
    (pytester.path / "claims.toml").write_text(CLAIMS)
    pytester.makeini("[pytest]\nlemmax_claims = claims.toml\nlemmax_certificates = certificates\n")

    def one(test: str, *arguments: str) -> pytest.RunResult:
        pytester.makepyfile(test_bound=test)
        plain = ("-q", "-p", "no:randomly", "-p", "no:cacheprovider")
        return pytester.runpytest_inprocess(*plain, *arguments)

    return one


def test_a_fresh_process_checks_what_the_run_rests_on(run: Run) -> None:
    run(SHIPPED, "--write-certificates")
    done = run(SHIPPED, "--recheck")
    assert done.ret == 0
    assert "1 of 1 shipped certificates hold, in a fresh process" in done.stdout.str()
    assert "fresh process" not in run(SHIPPED).stdout.str()


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
@pytest.mark.parametrize(
    ("late", "sentence"),
    [
        (
            'FILE.write_text(FILE.read_text().replace("<= 2", "<= 3"))',
            "is not what the run checked",
        ),
        ("FILE.unlink()", "is not there"),
    ],
)
def test_a_file_that_changed_after_its_test_fails_the_run(
    run: Run, late: str, sentence: str, workers: tuple[str, ...]
) -> None:
    run(SHIPPED, "--write-certificates")
    last = 'Path("certificates/x/bound.json")'
    done = run(
        f"{SHIPPED}\ndef test_late():\n    {late.replace('FILE', last)}\n", "--recheck", *workers
    )
    assert done.ret == 1
    assert f"x/bound.json {sentence}" in done.stdout.str()


def test_a_deciding_certificate_ships(run: Run) -> None:
    unshipped = TEST.replace("SHIP", "")
    assert run(unshipped).ret == 0
    done = run(unshipped, "--recheck")
    assert done.ret == 1
    assert "ships no certificate" in done.stdout.str()


def test_the_checker_on_disk_decides_in_the_end(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A checker that says no, in place of the one on disk, fails the run."""
    from lemmax.pytest_plugin import rechecking

    run(SHIPPED, "--write-certificates")
    strict = tmp_path / "strict.py"
    entry = [{"file": "x", "status": "does-not-hold", "kind": "refutation", "steps": ["no"]}]
    strict.write_text(f"import sys\nprint({json.dumps(json.dumps(entry))})\nsys.exit(1)\n")
    monkeypatch.setattr(rechecking, "CHECKER", strict)
    done = run(SHIPPED, "--recheck")
    assert done.ret == 1
    assert "0 of 1 shipped certificates hold" in done.stdout.str()
    strict.write_text("raise SystemExit(0)")
    assert run(SHIPPED, "--recheck").ret == 1


def edited(path: Path, **changes: Any) -> Path:
    document = json.loads(path.read_text())
    (claim,) = document["claims"]
    for key, value in changes.items():
        place = claim["evidence"][0] if key in ("certificates", "sha256", "details") else claim
        place[key] = value
    other = path.with_name("edited.json")
    other.write_text(json.dumps(document))
    return other


@pytest.mark.parametrize(
    "changes",
    [
        {"certificates": ["x/other.json"]},
        {"sha256": ["0" * 64]},
        {"certificates": [], "sha256": []},
        {"details": "something else"},
        {"title": "a better bound"},
        {"number": "2"},
        {"source": "summary"},
        {"paper": "y"},
        {"kind": "E"},
        {"repaired_by": "x/other"},
    ],
    ids=str,
)
def test_a_committed_ledger_is_compared_in_every_field(
    run: Run, pytester: pytest.Pytester, changes: dict[str, Any]
) -> None:
    run(SHIPPED, "--write-certificates", "--ledger", "ledger.json")
    assert run(SHIPPED, "--ledger-against", "ledger.json").ret == 0
    other = edited(pytester.path / "ledger.json", **changes)
    done = run(SHIPPED, "--ledger-against", other.name)
    assert done.ret == 1
    assert f"ERROR x/bound: the {min(changes)}" in done.stdout.str()


def test_every_certified_item_of_the_ledger_ships() -> None:
    """And make verify checks them again at its end."""
    items = [
        item
        for name in (claim["id"] for claim in entries.listed())
        for item in entries.one(name)["evidence"]
        if item["grade"] == "certified" and item["outcome"] == "passed"
    ]
    assert len(items) > 40
    for item in items:
        assert item["certificates"], item["test"]
        assert len(item["certificates"]) == len(item["sha256"])
    targets = (ROOT / "Makefile").read_text()
    assert "--recheck" in targets.partition("EVIDENCE :=")[2].partition("\n\n")[0]
