"""The arrays that the compiled loop of Dana's transformer works on, heads innermost and padded."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lemmax.numerics.engines.flat import views
from lemmax.numerics.training.configurations import Arrays, Dana

_LANES = 8


def padded_heads(config: Dana) -> int:
    """The number of heads, rounded up to whole vectors when there are more than half of one."""
    if config.H <= _LANES // 2:
        return config.H
    return -(-config.H // _LANES) * _LANES


class Layout:
    """The parameters of one model in one flat array, and views of it in the loop's shapes."""

    def __init__(self, config: Dana, dtype: str) -> None:
        self.config, self.dtype = config, dtype
        self.H = padded_heads(config)
        N, d, P, a, w = config.N, config.d, config.inner, config.d_h, config.width
        self.shapes: dict[str, tuple[int, ...]] = {
            "e": (N, d),
            "pos": (2, P),
            "W_QKV": (P, 3 * a * self.H),
            "W_O": (P, a * self.H),
            "U": (d, N),
            "W_1": (d, w),
            "W_2": (d, w),
            "b_1": (1, w),
        }
        if config.maps == "shared":
            self.shapes |= {"W_in": (d, P), "W_out": (d, P)}
        self.size = sum(int(np.prod(shape)) for shape in self.shapes.values())

    def views(self, flat: NDArray[Any]) -> Arrays:
        """Writable views; where the maps are not shared, the identity stands for them."""
        named = views(self.shapes, flat)
        if self.config.maps != "shared":
            named |= {n: np.eye(self.config.d, dtype=self.dtype) for n in ("W_in", "W_out")}
        return named

    def flatten(self, weights: Arrays) -> NDArray[Any]:
        """All parameters in one array."""
        config, flat = self.config, np.zeros(self.size, self.dtype)
        named, H = self.views(flat), config.H
        P, a = config.inner, config.d_h
        named["e"][:], named["pos"][:], named["U"][:] = (
            weights["e"],
            weights["pos"],
            weights["W_U"].T,
        )
        mixed = named["W_QKV"].reshape(P, 3, a, self.H)
        for number, name in enumerate(("W_Q", "W_K", "W_V")):
            mixed[:, number, :, :H] = weights[name].transpose(2, 1, 0)
        named["W_O"].reshape(P, a, self.H)[:, :, :H] = weights["W_O"].transpose(1, 2, 0)
        if config.maps == "shared":
            named["W_in"][:], named["W_out"][:] = weights["W_in"].T, weights["W_out"]
        if config.width:
            named["W_1"][:], named["W_2"][:] = weights["W_1"].T, weights["W_2"]
            named["b_1"][0] = weights["b_1"]
        return flat

    def unflatten(self, flat: NDArray[Any]) -> Arrays:
        """The parameters in their own shapes, copied."""
        config, named, H = self.config, self.views(flat), self.config.H
        P, a = config.inner, config.d_h
        weights = {"e": named["e"], "pos": named["pos"], "W_U": named["U"].T}
        mixed = named["W_QKV"].reshape(P, 3, a, self.H)
        for number, name in enumerate(("W_Q", "W_K", "W_V")):
            weights[name] = mixed[:, number, :, :H].transpose(2, 1, 0)
        weights["W_O"] = named["W_O"].reshape(P, a, self.H)[:, :, :H].transpose(2, 0, 1)
        weights |= {"W_in": named["W_in"].T, "W_out": named["W_out"]}
        weights |= {"W_1": named["W_1"].T, "W_2": named["W_2"], "b_1": named["b_1"][0]}
        return {name: np.ascontiguousarray(weights[name]).copy() for name in config.shapes()}


class Weights(NamedTuple):
    """The parameters, or their gradients, as views of a flat array; U is W_U transposed."""

    e: Any
    pos: Any
    U: Any
    W_1: Any
    W_2: Any
    b_1: Any


class Products(NamedTuple):
    """The matrix products in the order of the forward pass: W_out W_O, e W_in, base W_QKV.

    Each field has the three of them: factors, product, and the gradients of all.
    """

    lefts: Any
    rights: Any
    products: Any
    dlefts: Any
    drights: Any
    dproducts: Any


class Tables(NamedTuple):
    """What depends on one token or one head: the tables of the module's formula, and gradients.

    ``qkv`` is tokens and positions × 3 × d_h × H, ``out`` = W_out W_O is d × d_h × H.
    """

    qkv: Any
    dqkv: Any
    out: Any
    dout: Any
    Y: Any
    dY: Any
    Z: Any
    dZ: Any
    b: Any
    db: Any
    r0: Any
    dr0: Any


class Lines(NamedTuple):
    """What depends on one pair: attention, residuals before and after the MLP, the MLP, scratch."""

    s: Any
    ds: Any
    r: Any
    r2: Any
    dr: Any
    act: Any
    slope: Any
    du: Any
    row: Any
    scratch: Any


class Samples(NamedTuple):
    """Samples in the order of their last tokens: number, first token, last token, target."""

    order: Any
    first: Any
    last: Any
    target: Any


class Model(NamedTuple):
    """All that the loop needs of one model.

    ``numbers`` is the scale of the scores, and 1 where positions stay in the residual.
    """

    weights: Weights
    gradients: Weights
    products: Products
    tables: Tables
    lines: Lines
    numbers: Any
    samples: Samples


def model_of(layout: Layout, p: NDArray[Any], g: NDArray[Any]) -> Model:
    """The views of flat parameters and gradients, room to work in, and the data."""
    config, H = layout.config, layout.H
    N, d, P, a, w = config.N, config.d, config.inner, config.d_h, config.width
    M, A, dtype = N + 2, config.d_h * H, layout.dtype

    def empty(*shape: int) -> NDArray[Any]:
        return np.zeros(shape, dtype)

    x, y = layout.views(p), layout.views(g)
    if config.maps != "shared":
        y |= {"W_in": empty(d, P), "W_out": empty(d, P)}  # of constants, never used
    base, dbase, qkv, dqkv = empty(M, P), empty(M, P), empty(M, 3 * A), empty(M, 3 * A)
    out, dout = empty(d, A), empty(d, A)
    products = Products(
        (x["W_out"], x["e"], base),
        (x["W_O"], x["W_in"], x["W_QKV"]),
        (out, base, qkv),
        (y["W_out"], y["e"], dbase),
        (y["W_O"], y["W_in"], y["W_QKV"]),
        (dout, dbase, dqkv),
    )
    tables = Tables(
        *(qkv.reshape(M, 3, a, H), dqkv.reshape(M, 3, a, H)),
        *(out.reshape(d, a, H), dout.reshape(d, a, H)),
        *(empty(M, d, H), empty(M, d, H), empty(N, d, H), empty(N, d, H)),
        *(empty(N, H), empty(N, H), empty(N, d), empty(N, d)),
    )
    lengths = (H, H, d, d, d, w, w, w, max(N, H, w), max(N, H, w))
    numbers = np.array([1 / math.sqrt(a) if config.scaled else 1.0, not config.scaled], dtype)
    return Model(
        Weights(*(x[name] for name in Weights._fields)),
        Weights(*(y[name] for name in Weights._fields)),
        products,
        tables,
        Lines(*(empty(length) for length in lengths)),
        numbers,
        samples_of(config),
    )


def samples_of(config: Dana) -> Samples:
    """The data, sorted."""
    sequences, targets = config.data()
    order = np.argsort(sequences[:, 1], kind="stable")
    columns = sequences[order, 0], sequences[order, 1], targets[order]
    return Samples(order, *(column.copy() for column in columns))
