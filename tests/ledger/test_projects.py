"""Commands about the ledger of the project that they are run in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lemmax.cli import app
from lemmax.theory.errors import LemmaxError
from lemmax.theory.ledger import projects
from lemmax.theory.ledger.claims import BUILT_IN
from lemmax.theory.ledger.projects import Project, discover

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


HERE = Path(projects.__file__).parent
PLACES = ("claims", "proofs", "certificates", "ledger", "formal", "theorems")


def test_every_place_of_a_project() -> None:
    root = Path("/root")
    named = {f"lemmax_{name}": name for name in PLACES}
    lists = {"lemmax_claims": ["a.toml", "b.toml"], "lemmax_proofs": ["p", "q"]}
    assert projects.project(root, (named | lists).__getitem__) == Project(
        root,
        (root / "a.toml", root / "b.toml"),
        (root / "p", root / "q"),
        root / "certificates",
        root / "ledger",
        root / "formal",
        root / "theorems",
    )
    none = {key: [] if key in lists else "" for key in named}
    assert projects.project(root, none.__getitem__) == Project(root)
    assert Project(root).ledger == HERE / "ledger.json"
    assert Project(root).theorems == HERE / "theorems.toml"
    assert Project(root).claims == (BUILT_IN,)
    own = projects.project(root, (none | lists).__getitem__)
    assert (own.ledger, own.theorems) == (root / "ledger.json", root / "theorems.toml")
    assert own.own
    assert not Project(root).own
    # Without claims of its own a project has the ledger of lemmax, whatever its settings say.
    other = none | {"lemmax_ledger": "l", "lemmax_theorems": "t"}
    assert projects.project(root, other.__getitem__) == Project(root)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pytest.ini", "[pytest]\nlemmax_claims =\n  a.toml\n\n   b.toml \nlemmax_ledger = %l\n"),
        (".pytest.ini", "[pytest]\nlemmax_claims = a.toml\n  b.toml\nlemmax_ledger = %l\n"),
        ("tox.ini", "[pytest]\nlemmax_claims = a.toml\n  b.toml\nlemmax_ledger = %l\n"),
        ("setup.cfg", "[tool:pytest]\nlemmax_claims = a.toml\n  b.toml\nlemmax_ledger = %l\n"),
        (
            "pyproject.toml",
            "[tool.pytest.ini_options]\nlemmax_claims = [' a.toml', '', 'b.toml']\n"
            "lemmax_ledger = '%l'\n",
        ),
    ],
)
def test_settings_of_every_file(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    root = tmp_path.resolve()
    found = discover(tmp_path)
    assert found == Project(
        root,
        (root / "a.toml", root / "b.toml"),
        ledger=root / "%l",
        theorems=root / "theorems.toml",
    )


def test_files_without_settings_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[other]\nx = 1\n")
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    (tmp_path / "tox.ini").write_text("[tool:pytest]\nlemmax_claims = no.toml\n")
    (tmp_path / "setup.cfg").write_text("[tool:pytest]\nlemmax_claims = yes.toml\n")
    assert projects._settings(tmp_path) == {"lemmax_claims": "yes.toml"}
    (tmp_path / "pyproject.toml").write_text("[tool.other]\nname = 'x'\n")
    assert projects._settings(tmp_path) == {"lemmax_claims": "yes.toml"}
    (tmp_path / "pyproject.toml").write_text("[tool.pytest]\nname = 'x'\n")
    assert projects._settings(tmp_path) == {"lemmax_claims": "yes.toml"}
    for name in ("pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg"):
        (tmp_path / name).unlink()
    assert projects._settings(tmp_path) == {}
    (tmp_path / "tox.ini").write_text("no section\n")
    with pytest.raises(LemmaxError) as refused:
        projects._settings(tmp_path)
    first = f"{tmp_path / 'tox.ini'} cannot be read: File contains no section headers."
    assert str(refused.value) == first
    (tmp_path / "tox.ini").unlink()
    (tmp_path / "pyproject.toml").write_text("tool = 1\n")
    with pytest.raises(LemmaxError, match=r"pyproject\.toml cannot be read: "):
        projects._settings(tmp_path)
