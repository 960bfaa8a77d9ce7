"""Exact twins of float weights: layers and transformers whose every entry is a rational.

Arrays by name are read in one of three layouts. What has no place in the layer is refused by name,
and shapes that fit in more than one layout are asked about: nothing is guessed, since the wrong
guess is another model.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lemmax.numerics.twins.weights import Weights, exact_floats
from lemmax.theory.dana.transformer import AoT, AoTHead
from lemmax.theory.errors import LemmaxError, ShapeError
from lemmax.theory.numbers.matrices import Matrix, parsed
from lemmax.theory.wong.layer import AttentionLayer, Head

Floats = NDArray[np.float64]

_HEAD = ("W_Q", "W_K", "W_V", "W_O")
_NAMED = re.compile(r"heads\.(0|[1-9][0-9]*)\.W_[QKVO]")

LAYOUTS: Mapping[str, frozenset[str]] = {
    "wong": frozenset(),
    "transformer-lens": frozenset(("W_K",)),
    "linear": frozenset(("W_U", "W_Q", "W_V", "W_O")),
}
"""The matrices that stand transposed, compared with Wong's shapes (W_K is d_qk × d_model there).

TransformerLens has W_K as d_model × d_qk; ``torch.nn.Linear`` keeps every map as outputs × inputs.
"""


def exact_layer(
    weights: Weights,
    tokens: Sequence[Hashable] | None = None,
    denominator: int | None = None,
    *,
    layout: str | None = None,
    scale: Any = 1,
    tied: bool = False,
) -> AttentionLayer:
    """The exact layer of floating-point weights.

    Heads are stacked in front of W_Q (h × d_model × d_qk), W_K, W_V and W_O, or each matrix has a
    name of its own such as ``heads.0.W_Q``.

    Parameters
    ----------
    layout
        A name of :data:`LAYOUTS`; without it the shapes decide, and must decide.
    scale
        What multiplies the attention scores: a positive number, or ``"1/sqrt(d)"`` for 1/√d_qk,
        which must be rational (:func:`~lemmax.numerics.certify` takes any).
    tied
        W_U is the transpose of W_E.
    """
    if denominator is not None and denominator < 1:
        raise LemmaxError(f"The common denominator is at least 1, not {denominator}.")
    chosen = wong_arrays(weights, layout, tied)
    exact = {name: exact_matrix(array, denominator) for name, array in chosen.items()}
    names = tuple(range(len(chosen["W_E"]))) if tokens is None else tuple(tokens)
    heads = [Head(*(exact[f"heads.{h}.{n}"] for n in _HEAD)) for h in range(len(chosen) // 4)]
    return AttentionLayer(
        names, exact["W_E"], exact["W_U"], [_scaled(head, scale) for head in heads]
    )


def wong_arrays(
    weights: Weights, layout: str | None = None, tied: bool = False
) -> dict[str, Floats]:
    """W_E, W_U and heads.0.W_Q, … in Wong's shapes, as floats."""
    if layout is not None and layout not in LAYOUTS:
        raise LemmaxError(f"A layout is one of {', '.join(LAYOUTS)}, not {layout!r}.")
    arrays = {name: exact_floats(name, value) for name, value in weights.items()}
    if tied:
        arrays = _tied(arrays)
    heads = _heads(arrays)
    flat = {"W_E": arrays["W_E"], "W_U": arrays["W_U"]} | {
        f"heads.{h}.{name}": head[name] for h, head in enumerate(heads) for name in _HEAD
    }
    for name, array in flat.items():
        if array.ndim != 2:
            raise ShapeError(f"{name} has {array.ndim} dimensions, not 2.")
    return _in_wongs_shapes(flat, layout or _layout(flat))


def names_of_layer(arrays: Collection[str], tied: bool = False) -> tuple[str, ...]:
    """The names that a layer has, given those of its heads: stacked, or each by itself."""
    numbers = {match[1] for name in arrays if (match := _NAMED.fullmatch(name))}
    stacked = any(name in arrays for name in _HEAD)
    heads = _HEAD if stacked else [f"heads.{h}.{n}" for h in range(len(numbers)) for n in _HEAD]
    return ("W_E", *(() if tied else ("W_U",)), *heads)


def without(arrays: Weights, ignore: Collection[str], needed: Collection[str]) -> Weights:
    """The arrays but for those that are to be ignored, which must exist and not be needed."""
    for name in ignore:
        if name in needed:
            raise LemmaxError(f"{name} is part of the layer and cannot be left out.")
        if name not in arrays:
            raise LemmaxError(f"To ignore it, it must be there: no array is called {name!r}.")
    return {name: value for name, value in arrays.items() if name not in ignore}


def _tied(arrays: dict[str, Floats]) -> dict[str, Floats]:
    if "W_E" not in arrays:
        return arrays
    transposed = arrays["W_E"].T
    for W_U in [arrays["W_U"]] if "W_U" in arrays else []:
        if not any(np.array_equal(W_U, M) for M in (transposed, transposed.T)):
            raise LemmaxError("W_U is not the transpose of W_E, so the two are not tied.")
    return arrays | {"W_U": transposed}


def _heads(arrays: dict[str, Floats]) -> list[dict[str, Floats]]:
    """The matrices of each head; refuses what a layer has no place for, and what it lacks."""
    names = names_of_layer(arrays)
    _refuse_unknown(arrays, names, "W_E, W_U and heads of W_Q, W_K, W_V, W_O")
    if "W_Q" not in names:
        count = (len(names) - 2) // len(_HEAD)
        return [{name: arrays[f"heads.{h}.{name}"] for name in _HEAD} for h in range(count)]
    sizes = {arrays[name].shape[:1] for name in _HEAD}
    if len(sizes) != 1 or () in sizes:
        raise ShapeError("W_Q, W_K, W_V and W_O must be stacks of equally many heads.")
    for name in _HEAD:
        if arrays[name].ndim != 3:
            raise ShapeError(f"{name} has {arrays[name].ndim - 1} dimensions, not 2.")
    return [{name: arrays[name][h] for name in _HEAD} for h in range(*sizes.pop())]


def _in_wongs_shapes(flat: dict[str, Floats], layout: str) -> dict[str, Floats]:
    turned = LAYOUTS[layout]
    return {n: a.T if n.rpartition(".")[2] in turned else a for n, a in flat.items()}


def _layout(flat: dict[str, Floats]) -> str:
    """The one layout that the shapes fit; Wong's where none does, whose errors then say why."""
    fitting: dict[str, dict[str, Floats]] = {}
    for layout in LAYOUTS:
        arrays = _in_wongs_shapes(flat, layout)
        known = fitting.values()
        if _fits(arrays) and not any(_equal(arrays, other) for other in known):
            fitting[layout] = arrays
    if len(fitting) > 1:
        raise LemmaxError(
            f"The shapes fit the layouts {', '.join(fitting)}: say which, with layout=."
        )
    return next(iter(fitting), "wong")


def _fits(arrays: dict[str, Floats]) -> bool:
    (size, d), heads = arrays["W_E"].shape, len(arrays) // len(_HEAD)
    shapes = [[arrays[f"heads.{h}.{name}"].shape for name in _HEAD] for h in range(heads)]
    return arrays["W_U"].shape == (d, size) and all(
        q == (d, q[1]) and k == (q[1], d) and v == (d, v[1]) and o == (v[1], d)
        for q, k, v, o in shapes
    )


def _equal(one: dict[str, Floats], other: dict[str, Floats]) -> bool:
    return all(np.array_equal(one[name], other[name]) for name in one)


def _scaled(head: Head, scale: Any) -> Head:
    """The head with its scores multiplied: W_Q carries the factor."""
    if scale == "1/sqrt(d)":
        root = math.isqrt(head.d_qk)
        if root * root != head.d_qk:
            raise LemmaxError(
                f"1/√{head.d_qk} is not rational, and this layer has rational weights only: "
                "lemmax.numerics.certify encloses it."
            )
        factor = Fraction(1, root)
    else:
        factor = positive("The scale", scale)
    return head if factor == 1 else Head(factor * head.W_Q, head.W_K, head.W_V, head.W_O)


def positive(what: str, value: Any) -> Fraction:
    """An exact positive number, from a number or a string such as ``"1/8"``."""
    try:
        exact = parsed(value) if not isinstance(value, bool) else Fraction(0)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        exact = Fraction(0)
    if exact <= 0:
        raise LemmaxError(f"{what} is a positive number, not {value!r}.")
    return exact


def _refuse_unknown(arrays: Weights, names: Sequence[str], described: str) -> None:
    """Refuse arrays that are missing, and those that would be left out: they may decide."""
    lacking = next((name for name in names if name not in arrays), None)
    unknown = next((name for name in arrays if name not in names), None)
    if unknown is not None:
        raise LemmaxError(
            f"The weights hold {unknown!r}, but a layer here has only {described}; lemmax.numerics."
            "certify knows more, and ignore= leaves an array out."
        )
    if lacking is not None:
        hint = " (tied=True takes the transpose of W_E)" if lacking == "W_U" else ""
        raise LemmaxError(f"The weights lack {lacking}{hint}; they are {', '.join(arrays)}.")


def exact_transformer(weights: Weights, denominator: int | None = None) -> AoT:
    """The exact twin of Dana's transformer with maps of each head's own; tokens are numbers.

    >>> from lemmax.numerics.twins.certify import known_pairs
    >>> weights = {"e": [[1.0], [2.0]], "pos": [[0.0]] * 2, "W_U": [[1.0], [-1.0]]}
    >>> heads = {name: np.zeros((0, 1, 1)) for name in ("W_Q", "W_K", "W_V", "W_O")}
    >>> known_pairs(exact_transformer(weights | heads), {(0, 1): 0, (1, 0): 1})
    [(0, 1)]
    """
    w = {name: exact_floats(name, value) for name, value in weights.items()}
    _refuse_unknown(w, ("e", "pos", "W_U", *_HEAD), "e, pos, W_U and heads of W_Q, W_K, W_V, W_O")
    heads = [
        AoTHead(*(exact_matrix(w[name][h], denominator) for name in _HEAD))
        for h in range(len(w["W_Q"]))
    ]
    e, pos, W_U = (exact_matrix(w[name], denominator) for name in ("e", "pos", "W_U"))
    return AoT(tuple(range(e.shape[0])), e, pos, W_U, tuple(heads))


def exact_matrix(array: NDArray[np.float64], denominator: int | None = None) -> Matrix:
    """A matrix of floats as rationals, rounded to multiples of 1/denominator if one is given.

    >>> exact_matrix(np.array([[0.3, -1.5]]), 4)
    Matrix([['1/4', '-3/2']])
    """
    if denominator is None:
        return Matrix(array, floats=True)
    numerators = rounded(array, denominator)
    rows, columns = array.shape
    return Matrix(
        [
            [Fraction(numerators[i * columns + j], denominator) for j in range(columns)]
            for i in range(rows)
        ]
    )


def rounded(array: NDArray[Any], denominator: int) -> list[int]:
    """The nearest multiples of 1/denominator of all entries in turn, as numerators.

    The product is exact, so that a power of two and a decimal are rounded alike.

    >>> rounded(np.array([[0.3, -1.5], [2.0, 0.1]]), 10)
    [3, -15, 20, 1]
    """
    floats = exact_floats("The array", array)
    return [round(Fraction(x) * denominator) for x in floats.ravel().tolist()]
