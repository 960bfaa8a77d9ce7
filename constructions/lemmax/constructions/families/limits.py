"""softmax of scores that are affine in a scale c, and its limit for c → ∞."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def softmax_row(scores: Sequence[Any]) -> list[Any]:
    """softmax of expressions, with one exponential per difference.

    >>> from sympy import symbols
    >>> softmax_row([symbols("c"), 0])
    [1/(1 + exp(-c)), 1/(exp(c) + 1)]
    """
    from sympy import Add, exp, sympify

    exact = [sympify(x) for x in scores]
    return [1 / Add(*(exp(other - x) for other in exact)) for x in exact]


def softmax_limit(slopes: Sequence[Any], constants: Sequence[Any]) -> list[Any]:
    """The limit of softmax(c·slopes + constants): all weight on the largest slopes.

    There it is softmax of the constants.

    >>> softmax_limit([1, 1, 0], [0, 0, 7])
    [1/2, 1/2, 0]
    """
    from sympy import Integer

    top = max(slopes)
    places = [i for i, slope in enumerate(slopes) if slope == top]
    shares = dict(zip(places, softmax_row([constants[i] for i in places]), strict=True))
    return [shares.get(i, Integer(0)) for i in range(len(slopes))]
