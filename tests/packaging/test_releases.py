"""Releases are named in three files or in none, and archives do not depend on the clock."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from lemmax import checker

ROOT = Path(__file__).parents[2]


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "packaging" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def release() -> ModuleType:
    return script("release")


def texts(changelog: str = "0.1.0 (unreleased)", citation: str = "0.1.0") -> dict[str, str]:
    return {
        "pyproject.toml": '[project]\nversion = "0.1.0"\ndependencies = ["numpy>=2.0"]\n',
        "CITATION.cff": f'cff-version: 1.2.0\nversion: {citation}\ndate-released: "2026-01-01"\n',
        "CHANGELOG.md": f"# Changelog\n\n## {changelog}\n\n- One.\n\n## 0.0.9 (2025-01-01)\n",
    }


def test_a_release_is_named_everywhere(release: ModuleType) -> None:
    new = release.renamed(texts(), "0.2.0", "2026-11-18")
    assert 'version = "0.2.0"' in new["pyproject.toml"]
    assert "cff-version: 1.2.0\nversion: 0.2.0\n" in new["CITATION.cff"]
    assert 'date-released: "2026-11-18"' in new["CITATION.cff"]
    assert "## 0.2.0 (2026-11-18)" in new["CHANGELOG.md"]
    assert "## 0.0.9 (2025-01-01)" in new["CHANGELOG.md"]
    assert release.present(new) == "0.2.0"


@pytest.mark.parametrize(
    ("files", "version", "sentence"),
    [
        (texts(), "0.2", "not a version"),
        (texts(), "0.0.9", "older than 0.1.0"),
        (texts("0.1.0 (2026-01-01)"), "0.2.0", "released already"),
        (texts(citation="0.1.1"), "0.2.0", "different versions"),
        (texts() | {"CITATION.cff": "title: x\n"}, "0.2.0", "CITATION.cff names no version"),
    ],
)
def test_what_is_no_release_is_one_sentence(
    release: ModuleType, files: dict[str, str], version: str, sentence: str
) -> None:
    with pytest.raises(release.Refused, match=re.escape(sentence)) as refused:
        release.renamed(files, version, "2026-11-18")
    assert str(refused.value).count(".\n") == 0


def test_the_project_agrees_on_its_version(release: ModuleType) -> None:
    release.present({name: (ROOT / name).read_text(encoding="utf-8") for name in release.PLACES})


def test_archives_depend_on_their_files_alone(release: ModuleType, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    (folder / "a").mkdir(parents=True)
    (folder / "a" / "page.html").write_text("x", encoding="utf-8")
    made = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        release.archive(folder, tmp_path / name / "site.tar.gz", 1_700_000_000)
        made.append((tmp_path / name / "site.tar.gz").read_bytes())
        (folder / "a" / "page.html").touch()
        (folder / "a").chmod(0o700)
    assert made[0] == made[1]
    (folder / "a" / "page.html").write_text("y", encoding="utf-8")
    release.archive(folder, tmp_path / "first" / "site.tar.gz", 1_700_000_000)
    assert (tmp_path / "first" / "site.tar.gz").read_bytes() != made[0]


def test_the_source_distribution_is_the_whole_project() -> None:
    """Its Makefile finds what it names: the README's commands work where it is unpacked."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    targets = project["tool"]["hatch"]["build"]["targets"]
    held = {place.removeprefix("/") for place in targets["sdist"]["include"]}
    imported = {"benchmarks", "packaging", "conftest.py"}  # by the tests, and read by pytest
    assert held >= imported | {"tests", "docs", "Makefile", "constraints.txt", "CHANGELOG.md"}
    assert all((ROOT / name).exists() for name in held)


def test_every_dependency_has_a_lower_bound() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    bounds = script("lowest").lowest(project, [*project["optional-dependencies"]])
    assert {"numpy", "torch", "pytest", "ruff"} <= set(bounds)


def test_a_release_says_which_formats_it_writes(release: ModuleType) -> None:
    told = release.formats()
    assert set(told["certificates"]) >= set(checker.KINDS)
    assert told["ledger"] == 2
