"""Contexts, one shared or one per example, as exact matrices; the scale of the logits."""

from __future__ import annotations

import re
from typing import Any, TypeAlias

from flint import arb, fmpq_mat, fmpz_mat

from lemmax.theory.errors import LemmaxError, ShapeError
from lemmax.theory.numbers.matrices import Matrix


def group_contexts(
    contexts: Any, examples: int, *, floats: bool = False
) -> tuple[tuple[Matrix, ...], tuple[int, ...]]:
    """The different contexts, and which of them each example has.

    >>> kept, which = group_contexts([[[1, 2]], [[3, 4]], [[1, 2]]], 3)
    >>> len(kept), which
    (2, (0, 1, 0))
    """
    if isinstance(contexts, Matrix):
        return (contexts,), (0,) * examples
    if _depth(contexts) == 2:
        return (Matrix(contexts, floats=floats),), (0,) * examples
    matrices = [c if isinstance(c, Matrix) else Matrix(c, floats=floats) for c in contexts]
    if len(matrices) != examples:
        raise ShapeError(f"There are {len(matrices)} contexts for {examples} queries.")
    places: dict[tuple[Any, ...], int] = {}
    kept: list[Matrix] = []
    which = []
    for context in matrices:
        numerators, denominator = context.flint.numer_denom()
        key = (context.shape, int(denominator), *map(int, numerators.entries()))
        place = places.setdefault(key, len(kept))
        if place == len(kept):
            kept.append(context)
        which.append(place)
    return tuple(kept), tuple(which)


def _depth(contexts: Any) -> int:
    """2 for one matrix, 3 for a sequence of matrices."""
    depth = 0
    while isinstance(contexts, (list, tuple)):
        depth += 1
        if not contexts:
            raise ShapeError("A context needs at least one token.")
        contexts = contexts[0]
    if isinstance(contexts, (Matrix, fmpz_mat, fmpq_mat)):
        return depth + 2
    return depth + int(getattr(contexts, "ndim", 0))


Scale: TypeAlias = str
"""``"1"``, ``"ln2"`` or ``"1/sqrt(N)"`` with a positive integer N."""


SQUARE_ROOT = re.compile(r"1/sqrt\(([1-9][0-9]{0,8})\)")


def scale_ball(scale: Scale) -> arb:
    """The scale as a ball at the working precision.

    >>> scale_ball("1/sqrt(4)")
    0.500000000000000
    """
    if scale == "1":
        return arb(1)
    if scale == "ln2":
        return arb.const_log2()
    root = SQUARE_ROOT.fullmatch(scale)
    if root is None:
        raise LemmaxError(f"The scale is '1', 'ln2' or '1/sqrt(N)', not {scale!r}.")
    return 1 / arb(int(root[1])).sqrt()
