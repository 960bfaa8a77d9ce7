"""Modules whose optional package is not installed have no doctests to run."""

from importlib.util import find_spec

_NEEDS = {
    "torch": ["layer", "models", "engines/reference", "engines/stacks", "engines/pairs"],
    "numba": ["engines/kernels", "engines/numba", "engines/wong_kernel", "engines/dana_kernel"],
}
_NEEDS["numba"] += ["engines/mahdavi_kernel"]
_NEEDS["torch"] += ["engines/__init__", "engines/torch"]
_NEEDS["torch"] += [f"engines/torch_{family}" for family in ("wong", "dana", "mahdavi")]

collect_ignore = [
    f"lemmax/numerics/{module}.py"
    for package, modules in _NEEDS.items()
    if find_spec(package) is None
    for module in modules
]
