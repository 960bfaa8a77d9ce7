"""Loops over integers that numba compiles where it is installed.

numba is optional: it brings a compiler of tens of megabytes, and everything that is proved is
decided without it. A loop must therefore mean the same in plain Python, only slower; this module
is the one place that knows which of the two it is.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])


numba: Any = None
with suppress(ImportError):
    numba = import_module("numba")

COMPILED = numba is not None


def helper(function: Function) -> Function:
    """Compile into whatever calls it; without numba leave it as it is."""
    return cast(Function, numba.njit(error_model="numpy")(function)) if COMPILED else function


def compiled(function: Function) -> Function:
    """Compile on first use; keep the machine code on disk where a place can be written to."""
    if not COMPILED:
        return function
    try:
        return cast(Function, numba.njit(cache=True, error_model="numpy")(function))
    except RuntimeError:  # no directory for the cache can be written to
        return helper(function)
