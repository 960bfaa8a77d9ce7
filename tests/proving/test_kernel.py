"""Coq's kernel accepts what is written, and rejects it once a number of the proof is wrong."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from lemmax.cli import main
from lemmax.constructions import proved, shipped
from lemmax.theory.certificates.writing import write_certificate
from lemmax.theory.ledger.coq import find_coqc
from lemmax.theory.proving import running, theorem, translations

CONTROLS = {
    "a wrong modulus": (r"(?<=d M )\d+%bZ", "4%bZ"),
    "a duplicated row": (r"\[:: 0; 1\]%N", "[:: 0; 0]%N"),
    "a wrong rank": (r"(?<=F 2%N 2%N )2%N", "1%N"),
    "a wrong inverse": (r"(?<=\(\[:: \[:: )\d+", "5"),
}
CERTIFICATE: dict[str, Any] = {
    "format": "lemmax-certificate",
    "version": 1,
    "kind": "matrix-rank",
    "matrix": [["2", "1"], ["1", "1/3"]],
    "rank": 2,
    "lower": {"prime": "7", "rows": [0, 1], "columns": [0, 1]},
    "upper": {"method": "size"},
}


@pytest.fixture
def coqc() -> str:
    found = find_coqc()
    if found is None:
        pytest.skip("Coq is not installed")
    return found


@pytest.mark.slow
def test_the_kernel_accepts_a_proof_and_rejects_flawed_ones(coqc: str) -> None:
    """All in one file: `Fail` succeeds only where Coq rejects the step of computation."""
    text = translations.file_of({"a": CERTIFICATE})
    start, end = text.index("Proof.\n") + 7, text.index("Qed.\n")
    proof = text[start:end]
    checks = ""
    check = re.search(r"rank_sound F (.*)\)\.\n", " ".join(proof.split(" ")), re.DOTALL)
    assert check is not None
    for name, (pattern, wrong) in CONTROLS.items():
        flawed, count = re.subn(pattern, wrong, f"F {check[1]}", count=1)
        assert count == 1, name
        checks += f"Goal rank_check {flawed.removeprefix('F ')} = false.\n"
        checks += "Proof. by vm_compute. Qed.\n"
    end_of_module = text.index("End a.")
    run = running.prove(text[:end_of_module] + checks + text[end_of_module:], 1)
    assert run.proved, run.message


def test_what_is_recorded_is_what_is_written_today() -> None:
    """A record whose certificate, translation or formal sources changed is stale."""
    assert proved.stale() == []
    names = [name for name in shipped.names() if proved.proved(name)]
    assert len(names) >= 44
    for name in shipped.names():
        said = proved.records()[name]
        assert said["proved"] != bool(said.get("reason")), name


def test_missing_coq_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    write_certificate(tmp_path / "a.json", CERTIFICATE)
    with pytest.raises(SystemExit) as end:
        main(["prove", str(tmp_path / "a.json"), "-o", str(tmp_path / "a.v"), "--run"])
    assert end.value.code == 2
    assert "libcoq-mathcomp-algebra" in capsys.readouterr().err
    assert not (tmp_path / "a.v").exists()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"rank": 1}, "does not hold"),
        ({"rank": "2"}, "is not a certificate"),
        ({"kind": "nonsense"}, "is not a certificate"),
    ],
)
def test_bad_certificates_are_refused_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: dict[str, Any], sentence: str
) -> None:
    write_certificate(tmp_path / "a.json", CERTIFICATE | change)
    with pytest.raises(SystemExit) as end:
        main(["prove", str(tmp_path / "a.json"), "-o", str(tmp_path / "a.v")])
    assert end.value.code == 2
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "a.v").exists()


def test_the_file_is_written_where_asked(tmp_path: Path) -> None:
    write_certificate(tmp_path / "a.json", CERTIFICATE)
    with pytest.raises(SystemExit) as end:
        main(["prove", str(tmp_path / "a.json"), "-o", str(tmp_path / "a.v")])
    assert end.value.code == 0
    text = (tmp_path / "a.v").read_text(encoding="utf-8")
    assert r"\rank (qmx F 2 2 d M) = 2%N" in text
    assert theorem.parse(text)[0].data["M"] == [[6, 3], [3, 1]]
