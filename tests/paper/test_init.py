"""``lemmax init``: what it writes is in step and passes, and nothing of anybody is overwritten."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from hypothesis import settings

from lemmax import checker
from lemmax.cli import main as lemmax
from lemmax.paper.papers import read_paper
from lemmax.starting.projects import PLACES, new_project
from lemmax.theory.ledger.claims import load_claims
from lemmax.theory.ledger.coq import header
from lemmax.theory.ledger.proofs import read_proof
from lemmax.theory.ledger.verdicts import GRADES

HERE = Path(__file__).parent


def run(*arguments: str | Path) -> int:
    with pytest.raises(SystemExit) as caught:
        lemmax([str(a) for a in arguments])
    return int(caught.value.code or 0)


def test_paper_claims_and_evidence_are_in_step(tmp_path: Path) -> None:
    folder = tmp_path / "Parity gap"
    assert run("init", folder) == 0
    paper = read_paper(folder / "main.tex")
    assert paper.update.key == "parity-gap"
    assert paper.update.drifts == ()
    assert [p.name for p in paper.write()] == ["lemmax-data.tex"]
    digests = {c.id: c.digest for c in load_claims([folder / "claims.toml"])}
    named = re.findall(
        r'claim\("([^"]+)",.*?statement="(\w+)"',
        (folder / "tests" / "test_claims.py").read_text("utf-8"),
    )
    proof = read_proof(folder / "proofs" / "theorem-sum.md")
    proved = header((folder / "formal" / "even.v").read_text("utf-8"))
    stated = [*named, (proof.claim, proof.statement), *((p.claim, p.digest) for p in proved)]
    assert len(stated) == 7
    assert all(digests[claim] == digest for claim, digest in stated)
    certificate = folder / "certificates" / "parity-gap" / "con-argmax.json"
    assert checker.check_file(certificate).holds
    left = [
        p for p in folder.rglob("*") if p.is_file() and re.search("@(key|digest)", p.read_text())
    ]
    assert left == []


def test_every_file_is_used() -> None:
    from importlib.resources import files

    root = Path(str(files("lemmax.starting").joinpath("files")))
    assert {p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file()} == set(PLACES)


@pytest.mark.parametrize("name", ["main.tex", "tests/test_claims.py"])
def test_nothing_is_overwritten(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / name
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("mine", encoding="utf-8")
    assert run("init", tmp_path) == 2
    assert f"There is already {mine}; nothing was written." in capsys.readouterr().err
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == [mine]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--key", "A b"), "'A b' cannot begin the ids of claims"),
        (("--title", r"\input{x}"), "must be plain words"),
        (("--author", ""), "must be plain words"),
        (("--title", 'a"b'), "must be plain words"),
    ],
)
def test_bad_names_are_one_sentence(
    tmp_path: Path,
    options: tuple[str, str],
    sentence: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run("init", tmp_path / "new", *options) == 2
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_a_file_is_no_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "new").write_text("")
    assert run("init", tmp_path / "new") == 2
    assert "is a file, not a folder" in capsys.readouterr().err


def test_the_workflow_runs_what_the_readme_says(tmp_path: Path) -> None:
    new_project(tmp_path, "gap", "A gap", "A. Author")
    workflow = (tmp_path / ".github" / "workflows" / "claims.yml").read_text("utf-8")
    assert "pytest --ledger-against ledger.json" in workflow
    assert "lemmax paper main.tex --check" in workflow


def test_a_machine_that_stalls_decides_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An example may take as long as it likes: by itself hypothesis stops at 200 ms."""
    new_project(tmp_path, "gap", "A gap", "A. Author")
    found = spec_from_file_location("claims_of_gap", tmp_path / "tests" / "test_claims.py")
    assert found is not None
    assert found.loader is not None
    claims = module_from_spec(found)
    monkeypatch.setitem(sys.modules, found.name, claims)  # its dataclass looks itself up
    settings.load_profile("default")  # what a project of one's own has
    try:
        found.loader.exec_module(claims)
    finally:
        settings.load_profile("lemmax")
    asked = []

    def stalled(predicate: Callable[..., bool], *instance: int, control: tuple[int, int]) -> None:
        asked.append(instance)
        if len(asked) == 20:
            time.sleep(0.5)
        assert predicate(*instance)
        assert not predicate(*control)

    claims.test_the_sum_on_samples(sample=stalled)
    assert len(asked) >= 100


@pytest.mark.slow
def test_from_an_empty_folder_to_a_refutation_in_the_pdf(tmp_path: Path) -> None:
    """With the wheel in an environment of its own; only the dependencies are borrowed."""
    if shutil.which("pdflatex") is None:
        if os.environ.get("CI"):
            pytest.fail("there is no pdflatex: make system installs it")
        pytest.skip("there is no pdflatex: make system installs it")
    root = HERE.parent.parent
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", tmp_path, root],
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("lemmax-*.whl")
    begun = time.monotonic()
    done = subprocess.run(
        [
            HERE / "empty_folder.sh",
            sys.executable,
            wheel,
            tmp_path / "new",
            sysconfig.get_path("purelib"),
        ],
        env={k: v for k, v in os.environ.items() if not k.startswith("PYTEST")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert time.monotonic() - begun < 300
    project = tmp_path / "new" / "paper"
    ledger = json.loads((project / "ledger.json").read_text("utf-8"))
    verdicts = {c["id"]: (c["verdict"], c["grade"]) for c in ledger["claims"]}
    assert verdicts["paper/con-argmax"] == ("refuted", "certified")
    earned = {e["grade"] for c in ledger["claims"] for e in c["evidence"]}
    assert earned == set(GRADES)
    data = (project / "lemmax-data.tex").read_text("utf-8")
    assert r"\lemmax@claim{con:argmax}{paper/\lemmax@break con-argmax}{refuted}{certified}" in data
    assert (project / "main.pdf").read_bytes().startswith(b"%PDF")
    assert "the conclusion fails: rank(argmax(M)) = 2 > rank(M) = 1" in done.stdout
    assert "lx-refuted" in (project / "report" / "errata.html").read_text("utf-8")
    assert "lx-refuted" in (project / "html" / "claims" / "index.html").read_text("utf-8")
