"""The rooms: what may import what, and how light the first import is."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = {"theory": (), "constructions": ("theory",), "numerics": ("theory", "constructions")}
HEAVY = ("torch", "cvxpy", "matplotlib", "scipy.optimize", "numba", "rdflib")


def python(code: str) -> str:
    roots = [str(ROOT / room) for room in ROOMS]
    program = f"import sys; sys.path[:0] = {roots!r}\n{code}"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT.anchor
    )
    return done.stdout


@pytest.mark.parametrize("module", ["lemmax.theory", "lemmax.constructions", "lemmax.numerics"])
def test_importing_a_room_loads_nothing_heavy(module: str) -> None:
    loaded = python(f"import {module}; print(*sorted(sys.modules))").split()
    assert not set(HEAVY) & set(loaded)
    assert "flint" not in loaded


def test_using_the_core_loads_nothing_heavy() -> None:
    code = (
        "from lemmax.theory import AttentionLayer, Database, certified_rank, softmax_rank\n"
        "certified_rank([[1, 2], [3, 4]]); softmax_rank([[0, 1], [1, 0]])\n"
        "print(*sorted(sys.modules))"
    )
    assert not set(HEAVY) & set(python(code).split())


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_can_be_imported(room: str) -> None:
    code = (
        f"import lemmax.{room} as room\n"
        "print(*(f'{n}:{getattr(room, n).__name__}' for n in getattr(room, '__all__', [])))"
    )
    for pair in python(code).split():
        name, _, found = pair.partition(":")
        assert name == found


@pytest.mark.parametrize("room", ROOMS)
def test_imports_point_one_way(room: str) -> None:
    forbidden = set(ROOMS) - {room, *ROOMS[room]}
    allowed_late = {("theory", "numerics")}  # to_torch imports its twin when it is called
    for path in (ROOT / room).rglob("*.py"):
        if path.name == "pytest_plugin.py" or "cli" in path.parts:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        top = {id(node) for node in tree.body}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                modules = [node.module]
            elif isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            else:
                continue
            for module in modules:
                parts = module.split(".")
                if parts[0] == "lemmax" and len(parts) > 1 and parts[1] in forbidden:
                    late = id(node) not in top and (room, parts[1]) in allowed_late
                    assert late, f"{path} imports {module}"


def test_the_checker_stands_alone() -> None:
    tree = ast.parse((ROOT / "theory/lemmax/checker.py").read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            assert name.partition(".")[0] in sys.stdlib_module_names
