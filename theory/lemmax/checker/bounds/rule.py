"""What the rules have in common: the step that they read, and what they give back."""

from collections.abc import Mapping
from typing import Any

from ..limits import refuse
from ..reading import integer, prime
from ..tensors import Cube

Bound = tuple[int, Cube, str]  # the gain, the tensor that remains, and the step in words


def mode_of(step: Mapping[str, Any], where: str) -> int:
    return integer(step["mode"], f"{where}.mode", 3)


def mode_and_prime(step: Mapping[str, Any], where: str) -> tuple[int, int]:
    return mode_of(step, where), prime(step["prime"], f"{where}.prime")


def two_modes(step: Mapping[str, Any], where: str) -> tuple[int, int]:
    """The mode, and the one that ``columns`` names, which differs from it."""
    mode, other = mode_of(step, where), integer(step["columns"], f"{where}.columns", 3)
    if mode == other:
        refuse(where, "needs two different modes")
    return mode, other
