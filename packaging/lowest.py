"""The lower bounds of the dependencies, as constraints: what they promise is tested with these.

``python packaging/lowest.py evidence`` prints one line ``name==version`` for each direct dependency
of lemmax and of that extra, and of the extras that it consists of.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(\[(?P<extras>[\w,.-]+)\])?(>=|==)(?P<version>[\w.]+)")


def lowest(project: dict[str, object], extras: list[str]) -> dict[str, str]:
    """The lower bound of every direct dependency, by name.

    >>> project = {"dependencies": ["numpy>=2.0"], "optional-dependencies": {
    ...     "all": ["lemmax[rdf]", "torch>=2.4"], "rdf": ["rdflib>=7.1"]}}
    >>> lowest(project, ["all"])
    {'numpy': '2.0', 'torch': '2.4', 'rdflib': '7.1'}
    """
    optional = project["optional-dependencies"]
    requirements = project["dependencies"]
    assert isinstance(optional, dict)
    assert isinstance(requirements, list)
    bounds: dict[str, str] = {}
    for requirement in requirements:
        _bound(requirement, bounds)
    waiting, seen = list(extras), set[str]()
    while waiting:
        extra = waiting.pop()
        if extra in seen:
            continue
        seen.add(extra)
        if extra not in optional:
            raise SystemExit(f"lemmax has no extra {extra}.")
        for requirement in optional[extra]:
            own = re.fullmatch(r"lemmax\[([\w,-]+)\]", requirement)
            if own:
                waiting += own[1].split(",")
            else:
                _bound(requirement, bounds)
    return bounds


def _bound(requirement: str, bounds: dict[str, str]) -> None:
    match = REQUIREMENT.fullmatch(requirement)
    if match is None:
        raise SystemExit(f"{requirement} has no lower bound.")
    bounds[match["name"]] = match["version"]


if __name__ == "__main__":
    told = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for name, version in sorted(lowest(told, sys.argv[1:]).items()):
        print(f"{name}=={version}")
