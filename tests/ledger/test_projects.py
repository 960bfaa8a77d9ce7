"""Commands about the ledger of the project that they are run in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lemmax.cli import app
from lemmax.theory.ledger.projects import discover

CLAIMS = """
[paper]
key = "x"
title = "A paper"

[[claim]]
id = "x/one"
kind = "A"
number = "Theorem 1"
title = "one"
statement = "one is one"
place = "Section 1"
source = "text"
"""
SETTINGS = {
    "pytest.ini": "[pytest]\nlemmax_claims =\n    claims.toml\nlemmax_certificates = made\n",
    "pyproject.toml": (
        "[tool.pytest.ini_options]\nlemmax_claims = ['claims.toml']\nlemmax_certificates = 'made'\n"
    ),
    "setup.cfg": "[tool:pytest]\nlemmax_claims = claims.toml\nlemmax_certificates = made\n",
}


@pytest.fixture(params=SETTINGS)
def project(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    (tmp_path / request.param).write_text(SETTINGS[request.param])
    (tmp_path / "claims.toml").write_text(CLAIMS)
    (tmp_path / "below").mkdir()
    claim = {"id": "x/one", "digest": "0", "verdict": "holds", "grade": "kernel", "evidence": []}
    document = {"format": "lemmax-ledger", "version": 2, "left_out": [], "claims": [claim]}
    (tmp_path / "ledger.json").write_text(json.dumps(document))
    monkeypatch.chdir(tmp_path / "below")
    return tmp_path


def test_the_settings_of_a_folder_above_are_found(project: Path) -> None:
    found = discover(Path.cwd())
    assert found is not None
    assert found.root == project.resolve()
    assert found.claims == (project.resolve() / "claims.toml",)
    assert found.ledger == project.resolve() / "ledger.json"


def test_claims_are_those_of_the_project(project: Path) -> None:
    done = CliRunner().invoke(app, ["claims", "--json"])
    assert done.exit_code == 0, done.output
    (entry,) = json.loads(done.output)
    assert entry["id"] == "x/one"
    assert entry["verdict"] == "stale"  # the digest of the file is another one


def test_a_ledger_can_be_named(
    project: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    arguments = ["claims", "--json", "--ledger", str(project / "ledger.json")]
    (entry,) = json.loads(CliRunner().invoke(app, arguments).output)
    assert entry["id"] == "x/one"
    assert len(json.loads(CliRunner().invoke(app, ["claims", "--json"]).output)) > 100


def test_verify_checks_the_certificates_of_the_project(project: Path) -> None:
    (project / "made").mkdir()
    assert json.loads(CliRunner().invoke(app, ["verify", "--json"]).output) == []
    (project / "made" / "forged.json").write_text("{}")
    done = CliRunner().invoke(app, ["verify", "--json"])
    assert done.exit_code == 1
    assert json.loads(done.output)[0]["name"] == "forged"
