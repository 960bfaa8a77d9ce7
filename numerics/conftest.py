"""A module that imports a package which is not installed has no doctests to run.

Which modules these are is read from their imports, their own and those of the modules they import;
the register of engines counts as importing all of them.
"""

from __future__ import annotations

import ast
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from lemmax.numerics.engines import register

ROOT = Path(__file__).parent


@cache
def imported(path: Path) -> frozenset[str]:
    """The modules that a file imports when it is imported."""
    names = set(register.MODULES.values()) if path == Path(register.__file__) else set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(names)


@cache
def installed(package: str) -> bool:
    """Whether a package can be imported."""
    return find_spec(package) is not None


def importable(path: Path) -> bool:
    """Whether a file can be imported: all that it leads to is installed."""
    seen, left = set(), [path]
    while left:
        file = left.pop()
        seen.add(file)
        for name in imported(file):
            if not name.startswith("lemmax."):
                if not installed(name.partition(".")[0]):
                    return False
                continue
            place = ROOT / name.replace(".", "/")
            for known in (place.with_suffix(".py"), place / "__init__.py"):
                if known.is_file() and known not in seen:
                    left.append(known)
    return True


collect_ignore = [
    str(path.relative_to(ROOT))
    for path in sorted((ROOT / "lemmax").rglob("*.py"))
    if not importable(path)
]
