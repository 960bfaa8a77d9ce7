"""Functions by name: a name travels to another process and into a file, a function does not."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from lemmax.theory.errors import LemmaxError

# The name of a function is part of a result's identity, so it outlives the place of its module.
_EXPERIMENTS = "lemmax.numerics.experiments"
_MOVED = {
    f"{_EXPERIMENTS}.bigrams": f"{_EXPERIMENTS}.dana.beside",
    f"{_EXPERIMENTS}.certified": f"{_EXPERIMENTS}.wong.certified",
    f"{_EXPERIMENTS}.parity": f"{_EXPERIMENTS}.dana.parity",
}


def function_named(name: str) -> Callable[..., Any]:
    """The function of a name such as ``package.module:function``; names travel, functions do not.

    >>> function_named("math:sqrt")(9)
    3.0
    """
    module, _, function = name.partition(":")
    named: Callable[..., Any] = getattr(import_module(_MOVED.get(module, module)), function)
    return named


def name_of(function: str | Callable[..., Any]) -> str:
    """The name by which a function is found again; a name is its own.

    >>> from math import sqrt
    >>> name_of(sqrt), name_of("math:sqrt")
    ('math:sqrt', 'math:sqrt')
    """
    if isinstance(function, str):
        name = function
    else:
        place = getattr(function, "__module__", "")
        name = f"{place}:{getattr(function, '__qualname__', '')}"
    try:
        found = function_named(name)
    except (ImportError, AttributeError, ValueError):
        found = None
    if not callable(found):
        raise LemmaxError(
            f"A function must be found by its name, MODULE:FUNCTION, and {name!r} is not: "
            "define it at the top of a module."
        )
    return name
