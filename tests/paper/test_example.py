"""The short paper of docs/examples/paper: in step, decided anew, and two pages as a PDF."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lemmax.paper.badges import DATA
from lemmax.paper.papers import read_paper

ROOT = Path(__file__).parent.parent.parent
PAPER = ROOT / "docs" / "examples" / "paper"


def test_claims_and_paper_are_in_step() -> None:
    paper = read_paper(PAPER / "main.tex", sty=True)
    assert paper.update.drifts == ()
    assert "{stale}" not in paper.files()[PAPER / DATA]


def test_its_ledger_follows_from_its_evidence(tmp_path: Path) -> None:
    copy = tmp_path / "paper"
    shutil.copytree(PAPER, copy)
    rooms = [str(ROOT / room) for room in ("theory", "constructions", "numerics")]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"),
            *("-p", "lemmax.pytest_plugin", "--ledger-against", "ledger.json"),
        ],
        cwd=copy,
        env={**environment, "PYTHONPATH": os.pathsep.join(rooms)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for line in ("cla-count   A  repaired         certified", "pro-xor     E  holds"):
        assert line in done.stdout


@pytest.mark.parametrize(
    ("program", "dress"), [("pdflatex", ""), ("pdflatex", "off"), ("lualatex", "")]
)
def test_two_pages(tmp_path: Path, program: str, dress: str) -> None:
    found = shutil.which(program)
    if found is None:
        if os.environ.get("CI"):
            pytest.fail(f"there is no {program}: make system installs it")
        pytest.skip(f"there is no {program}: make system installs it")
    copy = tmp_path / "paper"
    shutil.copytree(PAPER, copy)
    main = copy / "main.tex"
    main.write_text(main.read_text("utf-8").replace("{lemmax}", f"[{dress}]{{lemmax}}", 1))
    read_paper(main, sty=True).write()
    told = ""
    for _ in range(3 if program == "pdflatex" else 2):
        done = subprocess.run(
            [found, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "main.tex"],
            cwd=copy,
            capture_output=True,
            text=True,
            encoding="latin-1",
        )
        assert done.returncode == 0, done.stdout[-3000:]
        told = done.stdout
    assert "(2 pages" in told.replace("\n", "")
    assert re.findall(r"Overfull .hbox \((\d+\.\d+)pt too wide\)", told) == []
    assert "undefined" not in told.replace("There were undefined", "")
