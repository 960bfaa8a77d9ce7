"""What is not installed is left out: doctests by what their modules import, engines one by one."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

CONFTEST = Path(__file__).parents[2] / "numerics" / "conftest.py"
FIND = importlib.util.find_spec


def _left_out(monkeypatch: pytest.MonkeyPatch, *missing: str) -> set[str]:
    """The modules whose doctests are left out where some packages are not installed."""

    def find(name: str, package: str | None = None) -> Any:
        return None if name in missing else FIND(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", find)
    spec = importlib.util.spec_from_file_location("numerics_conftest", CONFTEST)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {Path(path).relative_to("lemmax/numerics").as_posix() for path in module.collect_ignore}


def test_doctests_of_modules_that_cannot_be_imported_are_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiled = {"engines/compiled/loops.py", "engines/compiled/runs.py"}
    modules = {"engines/reference.py", "engines/stacked/groups.py", "training/models.py"}
    trains = {"engines/trained.py", "training/sweeps.py"}  # by an engine that is named
    plain = {"training/jobs.py", "survey/running.py", "engines/flat.py"}
    no_numba, no_torch = _left_out(monkeypatch, "numba"), _left_out(monkeypatch, "torch")
    assert no_numba >= compiled | trains
    assert no_numba.isdisjoint(modules | plain)
    assert no_torch >= modules | trains
    assert no_torch.isdisjoint(compiled | plain)


def test_the_stacked_engine_needs_nothing_compiled() -> None:
    pytest.importorskip("torch")
    program = (
        "import sys; sys.modules['numba'] = None\nimport lemmax.numerics.engines.stacked.groups"
    )
    environment = {"PYTHONPATH": ":".join(sys.path)}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)
