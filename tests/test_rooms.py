"""The rooms: what they offer, and how light the first import is.

What may import what is a contract that `make lint` checks (pyproject.toml, `tool.importlinter`).
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = ("theory", "constructions", "numerics")
HEAVY = ("torch", "cvxpy", "matplotlib", "scipy.optimize", "numba", "rdflib")

# The names of the first edition, and those that were hidden by modules: none may be lost.
PUBLIC = {
    "theory": """
        AoT AoTHead AttentionLayer ContextHead Database Decomposition EffectiveRank Head
        KruskalRank LayerShape LayerTensor Matrix Memorization MultiHead RankResult
        SequenceEncoder SoftmaxRank Table TensorRank aot_rank argmax bigram_rank
        certified_rank effective_rank kruskal_rank layer_grid layer_tensor memorizes
        multi_head softmax softmax_rank softmax_threshold tensor_rank
    """,
    "constructions": """
        AssociativeMemory CompiledDatabase ContextMemory Example33 GramBlowup
        SaturationHeads associative_memory best_encoder compile_database example_2_2
        example_2_4 example_3_3 figure_1 gram_blowup memorize saturation_heads
        sequence_encoder
    """,
    "numerics": """
        CertifiedShare Dana Job Mahdavi Wong certify certify_layer check_assumptions experiment
        recipe sweep to_transformer_lens train
    """,
}


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
        "print(*(f'{n}:{getattr(room, n).__name__}' for n in room.__all__))"
    )
    named = dict(pair.split(":") for pair in python(code).split())
    assert all(name == its_name for name, its_name in named.items())
    assert set(PUBLIC[room].split()) <= set(named)


def test_every_room_says_what_it_is_for() -> None:
    """Two sentences at least: what lives in a folder, and what may not."""
    for path in ROOT.glob("*/lemmax/**/__init__.py"):
        docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        assert docstring.count(".") >= 2, path
        assert "\n\n" in docstring, path


# numba keeps machine code until the file of the outermost function changes, so all of a loop that
# is compiled as one stays in one file.
LONG = {"flip_walk.py"}


def test_no_room_is_a_drawer() -> None:
    """About a dozen modules per folder, about 400 lines per module."""
    for folder in {path.parent for path in ROOT.glob("*/lemmax/**/*.py")}:
        modules = [path for path in folder.glob("*.py") if not path.name.startswith("__")]
        most = 20 if folder.name == "checker" else 14
        assert len(modules) <= most, f"{folder} has {len(modules)} modules"
        for path in modules:
            lines = path.read_text(encoding="utf-8").count("\n")
            assert lines <= 410 or path.name in LONG, f"{path} has {lines} lines"


def test_the_map_names_every_room() -> None:
    """Every folder of code is on the map of CONTRIBUTING.md, and what is on the map exists."""
    map_ = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("```")[1]
    words = {word for line in map_.splitlines() for word in line.partition("   ")[0].split()}
    words |= {word for word in map_.split() if word.endswith("/")}
    named = {part for word in words if "/" in word for part in word.strip("/").split("/")}
    folders = {
        path.parent.name
        for path in ROOT.glob("*/lemmax/**/*.py")
        if path.parent.parent.name not in ("engines", "experiments")
    }
    assert folders <= named
    rooms = [*ROOMS, "tests", "docs", "benchmarks"]
    there = {path.name for room in rooms for path in (ROOT / room).glob("**/")} | set(rooms)
    assert named - {"*.v", "*.toml"} <= there


def test_the_checker_stands_alone() -> None:
    folder = ROOT / "theory/lemmax/checker"
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.ImportFrom) and node.level:
                assert node.level <= len(path.relative_to(folder).parts), path
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            for name in names:
                assert name.partition(".")[0] in sys.stdlib_module_names, path
