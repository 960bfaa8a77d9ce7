"""What is not installed is left out: files by what they import, engines one by one."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
FIND = importlib.util.find_spec


def _conftest(monkeypatch: pytest.MonkeyPatch, *missing: str) -> ModuleType:
    """The project's conftest as it is where some packages are not installed."""

    def find(name: str, package: str | None = None) -> Any:
        return None if name in missing else FIND(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", find)
    spec = importlib.util.spec_from_file_location("root_conftest", ROOT / "conftest.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _left_out(monkeypatch: pytest.MonkeyPatch, *missing: str) -> set[str]:
    """The files that are left out where some packages are not installed."""
    conftest = _conftest(monkeypatch, *missing)
    package = ROOT / "numerics" / "lemmax" / "numerics"
    files = [*package.rglob("*.py"), *(ROOT / "tests").rglob("test_*.py")]
    return {
        path.relative_to(package if package in path.parents else ROOT).as_posix()
        for path in files
        if conftest.missing(path) in missing
    }


def test_modules_that_cannot_be_imported_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = {"engines/compiled/loops.py", "engines/compiled/runs.py"}
    modules = {"engines/reference.py", "engines/stacked/groups.py", "training/models.py"}
    trains = {"engines/trained.py", "training/sweeps.py"}  # by an engine that is named
    plain = {"training/jobs.py", "survey/running.py", "engines/flat.py"}
    exact = {"tests/wong/test_blowup_claims.py", "tests/dana/test_encoders.py"}
    no_numba, no_torch = _left_out(monkeypatch, "numba"), _left_out(monkeypatch, "torch")
    assert no_numba >= compiled | trains
    assert no_numba.isdisjoint(modules | plain | exact)
    assert no_torch >= modules | trains | {"tests/training/test_models.py"}
    assert no_torch.isdisjoint(compiled | plain | exact)
    assert _left_out(monkeypatch) == set()


def test_the_stacked_engine_needs_nothing_compiled() -> None:
    pytest.importorskip("torch")
    program = (
        "import sys; sys.modules['numba'] = None\nimport lemmax.numerics.engines.stacked.groups"
    )
    environment = {"PYTHONPATH": ":".join(sys.path)}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)
