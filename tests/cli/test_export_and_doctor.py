"""``lemmax export`` and ``lemmax doctor`` as a user meets them."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest

from lemmax.cli import main
from lemmax.cli.machine import CORE, EXTRAS, PROGRAMS
from lemmax.constructions import shipped

ROOT = Path(__file__).parent.parent.parent
FIGURE_1 = ROOT / "docs" / "examples" / "figure1.csv"
CLAIM = "wong/argmax-rank-one"


def lemmax(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


def test_latex_is_what_export_writes(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = lemmax(capsys, "export", CLAIM)
    assert status == 0
    assert r"\label{lemmax:wong/argmax-rank-one}" in out
    assert r"\begin{pmatrix}" in out


def test_json_is_the_shipped_file(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (("--format", "json"), ("--json",)):
        status, out, _ = lemmax(capsys, "export", CLAIM, *arguments)
        assert status == 0
        assert out == shipped.path(CLAIM).read_text(encoding="utf-8")


def test_sympy_and_bibtex(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = lemmax(capsys, "export", CLAIM, "-f", "sympy")
    assert (status, out.splitlines()[-1][:4]) == (0, "M = ")
    status, out, _ = lemmax(capsys, "export", CLAIM, "-f", "bibtex")
    assert status == 0
    assert out.startswith("@misc{wong2025,")
    assert "@misc{lemmax," in out


def test_a_layer_of_ones_own(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    layer, archive = tmp_path / "layer.json", tmp_path / "layer.npz"
    assert lemmax(capsys, "compile", str(FIGURE_1), "-o", str(layer))[0] == 0
    status, out, _ = lemmax(capsys, "export", str(layer), "-f", "npz", "-o", str(archive))
    assert (status, out) == (0, "")
    assert np.load(archive)["W_E"].shape == (10, 3)
    status, out, _ = lemmax(capsys, "export", str(layer))
    assert status == 0
    assert r"\label{lemmax:layer}" in out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("wong/no-such-claim",), "no claim, certificate or file"),
        (("no-such-file.json",), "is not a certificate"),
        (("wong/definition-database",), "No shipped certificate is evidence"),
        ((CLAIM, "--format", "npz"), "name a file with -o"),
        ((CLAIM, "-f", "npz", "-o", "no/such/folder/x.npz"), "cannot be written"),
    ],
)
def test_bad_requests_are_one_sentence(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], sentence: str
) -> None:
    status, _, err = lemmax(capsys, "export", *arguments)
    assert (status, err.count("\n")) == (2, 1)
    assert sentence in err


def test_a_false_certificate_is_not_exported(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    false = shipped.load(CLAIM)
    false["instance"]["M"] = [["1", "2"], ["2", "4"]]
    path = tmp_path / "false.json"
    path.write_text(json.dumps(false))
    status, _, err = lemmax(capsys, "export", str(path))
    assert (status, err.count("\n")) == (2, 1)
    assert "does not hold" in err


def test_doctor(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = lemmax(capsys, "doctor", "--json")
    parts = {part["name"]: part for part in json.loads(out)}
    assert status == 0
    assert parts["core"]["missing"] == []
    assert set(parts) == {"python", "core", *EXTRAS, *PROGRAMS}
    status, out, _ = lemmax(capsys, "doctor")
    assert status == 0
    assert all(name in out for name in parts)


def test_doctor_says_what_is_missing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(EXTRAS, "plot", (("no_such_module.inside",), "figures"))
    monkeypatch.setenv("PATH", "")
    _, out, _ = lemmax(capsys, "doctor", "--json")
    parts = {part["name"]: part for part in json.loads(out)}
    assert parts["plot"]["missing"] == ["no_such_module.inside"]
    assert parts["coqc"]["missing"] == ["coqc"]


def test_doctor_knows_every_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(EXTRAS) == set(project["optional-dependencies"]) - {"dev", "test"}
    assert len(CORE) == len(project["dependencies"])
