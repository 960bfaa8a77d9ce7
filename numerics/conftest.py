"""Modules whose optional package is not installed have no doctests to run."""

from importlib.util import find_spec

_NEEDS = {
    "torch": ["engines/reference.py", "engines/stacked/*.py", "twins/*.py", "training/models.py"],
    "numba": ["engines/compiled/*.py"],
}

collect_ignore_glob = [
    f"lemmax/numerics/{pattern}"
    for package, patterns in _NEEDS.items()
    if find_spec(package) is None
    for pattern in patterns
]
