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

# A flaw in the arguments of a check: what is replaced, once, and by what.
CONTROLS: dict[str, dict[str, tuple[str, str]]] = {
    "rank": {
        "a wrong modulus": (r"(?<=d M )\d+%bZ", "4%bZ"),
        "a duplicated row": (r"\[:: 0; 1\]%N", "[:: 0; 0]%N"),
        "a wrong rank": (r"(?<=^2%N 2%N )2%N", "1%N"),
        "a wrong inverse": (r"(?<=\(\[:: \[:: )\d+", "5"),
    },
    "database_rank": {
        "a wrong rank": (r"(?<=^5%N 3%N 4%N )5%N", "4%N"),
        "a flipped fact": (r" facts ", " ((0, 0, 1)%N :: behead facts) "),
        "a fact out of range": (r" facts ", " ((0, 0, 9)%N :: behead facts) "),
        "a pair asked about twice": (r" facts ", " (rcons facts (0, 0, 1)%N) "),
    },
    "argmax": {
        "a flipped fact": (r" facts$", " ((0, 2, 3)%N :: behead facts)"),
        "a fact out of range": (r" facts$", " ((0, 9, 3)%N :: facts)"),
        "a flipped weight": (r"\(Weights (.*) O\)", r"(Weights \1 [:: [:: [:: 0]]]%bZ)"),
    },
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
def test_the_kernel_accepts_proofs_and_their_checks_reject_flawed_ones(coqc: str) -> None:
    """All in one file: each flawed argument makes the check compute to false."""
    text = translations.file_of(
        {
            "a": CERTIFICATE,
            "b": dict(shipped.load("wong/example-2.2-rank")),
            "c": dict(shipped.load("wong/exclusive-or-all-dimensions-one")),
        }
    )
    for (check, flaws), module in zip(CONTROLS.items(), "abc", strict=True):
        call = re.search(rf"@{check}_sound (?:F|R exp ok) (.*?)\)\.\n", text, re.DOTALL)
        assert call is not None
        arguments = " ".join(call[1].split())
        goals = ""
        for name, (pattern, wrong) in flaws.items():
            flawed, count = re.subn(pattern, wrong, arguments, count=1)
            assert count == 1, name
            goals += f"Goal {check}_check {flawed} = false.\nProof. by vm_compute. Qed.\n"
        goals = goals.replace("database_rank_check", "database_check")
        text = text.replace(f"End {module}.", f"{goals}End {module}.")
    run = running.prove(text, 3)
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
