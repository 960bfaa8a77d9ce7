"""What a newcomer types in the first minutes: an answer or a sentence, never a traceback."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from lemmax.cli import main
from lemmax.cli.machine import advice
from lemmax.cli.plain_text import _FUNCTIONS as FUNCTIONS
from lemmax.cli.plain_text import formula_text, plain_text
from lemmax.cli.terminal import stopwatch
from lemmax.theory import Database, __version__, tensor_rank
from lemmax.theory.ledger.claims import load_claims

ROOT = Path(__file__).parents[2]
FIGURE_1 = ROOT / "docs" / "examples" / "figure1.csv"
TRIPLES = "a,f,x\na,g,y\nb,f,y\n"


def lemmax(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


def shell(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "lemmax", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=os.environ | environment,
    )


@pytest.fixture
def triples(tmp_path: Path) -> Path:
    path = tmp_path / "facts.csv"
    path.write_text(TRIPLES, encoding="utf-8")
    return path


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert lemmax(capsys, "--version") == (0, f"lemmax {__version__}\n", "")
    assert shell("--version").stdout == f"lemmax {__version__}\n"
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{__version__}"' in project


def test_an_ascii_terminal_is_no_traceback(tmp_path: Path) -> None:
    facts = tmp_path / "facts.csv"
    facts.write_text("s,p,o\nÅsa,likes,𝔽\nBo,likes,東\n", encoding="utf-8")
    done = shell("rank", str(facts), "--json", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr.count("Traceback")) == (0, 0)
    assert any("𝔽" in line for line in json.loads(done.stdout)["terms"])
    plain = shell("rank", str(facts), PYTHONIOENCODING="ascii")
    assert (plain.returncode, "\\u2192" in plain.stdout) == (0, True)


def test_a_folder_is_no_certificate(
    triples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for option in (["--certificate", str(tmp_path)], ["--write", *[str(tmp_path)] * 3]):
        status, out, err = lemmax(capsys, "rank", str(triples), *option)
        assert (status, out) == (2, "")
        assert err == f"lemmax: {tmp_path} is a folder, not a file.\n"
    assert sorted(tmp_path.iterdir()) == [triples]


def test_how_a_file_was_read_is_told(
    triples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = f"{triples}: read as 3 facts, one per row, without a header.\n"
    status, out, err = lemmax(capsys, "rank", str(triples), "--json")
    assert (status, json.loads(out)["facts"], err) == (0, 3, told)
    layer = str(tmp_path / "layer.json")
    status, _, err = lemmax(capsys, "compile", str(triples), "-o", layer)
    assert (status, err) == (0, told)
    assert lemmax(capsys, "recall", layer, "a", "f")[1].splitlines()[0] == "x"
    status, out, _ = lemmax(capsys, "rank", str(triples), "--json", "--format", "table")
    assert json.loads(out)["facts"] == 4
    assert lemmax(capsys, "rank", str(triples), "--format", "wide")[0] == 2


def test_the_time_that_is_left_is_readable_on_a_narrow_terminal() -> None:
    narrow = Console(file=io.StringIO(), force_terminal=True, width=60)
    with stopwatch("Bounding the rank of a database with a very long description", 36, narrow):
        pass
    assert isinstance(narrow.file, io.StringIO)
    assert "0 s, at most 36 s left: Bounding the rank" in narrow.file.getvalue()


def test_recall_says_what_is_no_fact(
    triples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    layer = str(tmp_path / "layer.json")
    lemmax(capsys, "compile", str(triples), "-o", layer)
    status, _, err = lemmax(capsys, "recall", layer, "b", "f")
    assert (status, err) == (0, "")
    status, out, err = lemmax(capsys, "recall", layer, "b", "g")
    assert (status, out.count("\n")) == (0, 2)
    assert err.startswith("The table has no fact about 'b' 'g'")
    assert json.loads(lemmax(capsys, "recall", layer, "b", "g", "--json")[1])["is_fact"] is False


def test_the_checker_is_handed_out(
    tmp_path: Path, triples: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, layer = tmp_path / "checker.pyz", tmp_path / "layer.json"
    status, out, _ = lemmax(capsys, "checker", "-o", str(file), "--json")
    assert (status, json.loads(out)["bytes"]) == (0, file.stat().st_size)
    lemmax(capsys, "compile", str(triples), "-o", str(layer))
    run = subprocess.run([sys.executable, "-I", str(file), str(layer)], capture_output=True)
    assert run.returncode == 0
    status, _, err = lemmax(capsys, "checker", "-o", str(tmp_path / "none" / "checker.pyz"))
    assert (status, err.count("\n")) == (2, 1)


def test_statements_are_text() -> None:
    for claim in load_claims():
        told = plain_text(claim.statement)
        assert not re.search(r"\\|\$|operatorname|mathbb|tfrac|[{]\w*[}]\^", told), told
    shown = r"\operatorname{rank}\operatorname{argmax}(M)\le\min(2,\tfrac{n+1}{2}), M\in\mathbb R^n"
    assert formula_text(shown) == "rank argmax (M) ≤ min (2, (n + 1)/2), M ∈ ℝⁿ"
    assert formula_text(r"\|x_{i+1}\|^2\ge a_{kq}^{h}b") == "‖xᵢ₊₁‖² ≥ a_kq^h b"
    assert formula_text(r"A/N\cong\prod_iD_i") == "A/N ≅ ∏ᵢDᵢ"
    assert formula_text(r"n\bmod 2, S\not\ni x") == "n mod 2, S ∌ x"


def test_every_sign_of_a_statement_is_known() -> None:
    """A command that is not known stays in the text as a word, such as "cong"."""
    unknown = {
        command
        for claim in load_claims()
        for command in re.findall(r"(?<!\\)\\([A-Za-z]+)", claim.statement)
        if re.match(rf"{command}\b|{command}\d", formula_text(rf"\{command}{{1}}{{2}}"))
        and not FUNCTIONS.fullmatch(command)
    }
    assert not unknown


def test_a_claim_is_readable(capsys: pytest.CaptureFixture[str]) -> None:
    out = lemmax(capsys, "claims", "wong/argmax-rank-one")[1]
    assert "\\" not in out.splitlines()[1]
    assert "≤ 2" in out


def test_latex_says_what_python_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = lemmax(capsys, "export", "wong/proposition-3.7", "--label", "eq:mine")[1]
    assert r"\label{eq:mine}" in out
    assert r"\operatorname{rank}\operatorname{softmax}\left(\begin{pmatrix} 1 & 0" in out
    out = lemmax(capsys, "export", "wong/argmax-rank-one")[1]
    assert r"\texttt{rank(argmax(M)) = 3 \textgreater{} 2}" in out
    out = lemmax(capsys, "export", "wong/example-2.2-rank")[1]
    assert tensor_rank(Database.read(FIGURE_1)).formula() in out
    assert out.count(r"\otimes") == 10
    assert "terms" not in out
    facts = Database.from_triples([("a", "f", "v"), ("b", "g", "v")]).formula()
    assert f"D &= {facts}" in lemmax(capsys, "export", "wong/proposition-3.1")[1]
    assert "facts" not in lemmax(capsys, "export", "lemmax/field-dependence")[1]


def test_doctor_advises_a_clone() -> None:
    assert advice() == f"pip install -c {ROOT}/constraints.txt -e '{ROOT}[EXTRA]'"
