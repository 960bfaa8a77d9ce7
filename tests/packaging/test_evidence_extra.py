"""The extra "evidence", which `make verify` installs, is all that the ledger's evidence needs."""

import ast
import json
import re
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
LEDGER = ROOT / "theory/lemmax/theory/ledger/ledger.json"


def closure(extra: str) -> set[str]:
    """The distributions that lemmax with this extra brings."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"] | {"": project["dependencies"]}
    found: set[tuple[str, frozenset[str]]] = set()
    todo = [Requirement(f"lemmax[{extra}]")]
    while todo:
        one = todo.pop()
        name, of = normal(one.name), frozenset(one.extras)
        if (name, of) in found:
            continue
        found.add((name, of))
        if name == "lemmax":
            todo += [Requirement(line) for e in ("", *of) for line in extras[e]]
            continue
        try:
            lines = [Requirement(line) for line in requires(name) or ()]
        except PackageNotFoundError:  # not for this machine
            continue
        for line in lines:
            if not line.marker or any(line.marker.evaluate({"extra": e}) for e in ("", *of)):
                todo.append(line)
    return {name for name, _ in found}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def imported(path: Path) -> set[str]:
    """The packages that a file imports when it is opened, not inside of functions."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


def test_every_file_with_evidence_opens_with_the_extra_that_verify_installs() -> None:
    claims = json.loads(LEDGER.read_text(encoding="utf-8"))["claims"]
    tests = [e["test"].partition("::")[0] for claim in claims for e in claim["evidence"]]
    files = {ROOT / test for test in tests if test.endswith(".py")}
    assert len(files) > 40
    brought, homes = closure("evidence"), packages_distributions()
    assert {"pytest", "numba", "z3-solver"} < brought
    assert "torch" not in brought
    lacking = {
        (path.relative_to(ROOT).as_posix(), package)
        for path in files
        for package in imported(path) - sys.stdlib_module_names - {"lemmax", "tests", "benchmarks"}
        if not brought & set(map(normal, homes.get(package, [])))
    }
    assert not lacking, sorted(lacking)
