"""Restriction, substitution and flattening."""

from collections.abc import Mapping
from typing import Any

from ..reading import exactly
from ..tensors import Cube, exact_rank, lower_rank, mapped, restricted, sizes
from .rule import Bound, mode_and_prime


def by_restriction(step: Mapping[str, Any], T: Cube, field: str, where: str) -> Bound:
    """Applying a linear map to each mode never increases the rank."""
    rest = restricted(step["maps"], T, where)
    return 0, rest, f"R >= R of a {' x '.join(map(str, sizes(rest)))} restriction"


def by_substitution(step: Mapping[str, Any], T: Cube, field: str, where: str) -> Bound:
    """R(T) >= r(T) - r(T|) + R(T|), r the rank of the flattening that keeps the mode.

    T| is T with maps applied to the two other modes; a map of the mode itself comes after.
    """
    mode, p = mode_and_prime(step, where)
    maps = exactly(3, step["maps"], f"{where}.maps")
    other = restricted([[] if m == mode else part for m, part in enumerate(maps)], T, where)
    before, after = lower_rank(T, mode, p), exact_rank(other, mode)
    rest = mapped(maps[mode], other, mode, f"{where}.maps[{mode}]")
    shape = " x ".join(map(str, sizes(rest)))
    return before - after, rest, f"R >= {before} - {after} + R of a {shape} restriction"


def by_flattening(step: Mapping[str, Any], T: Cube, field: str, where: str) -> Bound:
    """R(T) >= the rank of a flattening."""
    mode, p = mode_and_prime(step, where)
    rank = lower_rank(T, mode, p)
    return rank, T, f"R >= {rank}, the rank mod {p} of the flattening of mode {mode}"
