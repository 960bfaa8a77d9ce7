"""Named parameters in one flat array: views of it in their shapes, and the way back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

T = TypeVar("T")


def views(shapes: Mapping[str, tuple[int, ...]], flat: T) -> dict[str, T]:
    """Writable views of a contiguous array or tensor, one after another.

    >>> views({"x": (2,), "y": (1, 3)}, np.arange(5))["y"]
    array([[2, 3, 4]])
    """
    array: Any = flat
    named, start = {}, 0
    for name, shape in shapes.items():
        size = math.prod(shape)
        named[name] = array[start : start + size].reshape(shape)
        start += size
    return named


def flatten(
    shapes: Mapping[str, tuple[int, ...]], weights: Mapping[str, NDArray[Any]], dtype: DTypeLike
) -> NDArray[Any]:
    """The weights in the order of the shapes, in one new array.

    >>> flatten({"x": (2,), "y": (1, 1)}, {"y": np.eye(1), "x": np.zeros(2)}, "float32")
    array([0., 0., 1.], dtype=float32)
    """
    flat = np.zeros(sum(math.prod(shape) for shape in shapes.values()), dtype)
    for name, view in views(shapes, flat).items():
        view[...] = weights[name]
    return flat
