"""The arrays that the compiled loop of Mahdavi's layer works on; letters as in its module."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lemmax.numerics.engines.flat import views
from lemmax.numerics.training.configurations import Mahdavi, sinusoids


class Weights(NamedTuple):
    """The parameters, or their gradients, as views of a flat array or as constants."""

    W_Q: Any
    W_K: Any
    W_V: Any
    W_O: Any
    W_D: Any
    W_in: Any
    b_in: Any
    b_D: Any


class Work(NamedTuple):
    """What a step computes: the folded weights, the examples of the batch, scratch.

    M, F, P, ``inner`` = I and ``fixed`` = f W_V are of the heads; X, A, V and ``mixed`` of the
    examples. A gradient has a d in front.
    """

    M: Any
    F: Any
    P: Any
    A: Any
    V: Any
    dM: Any
    dF: Any
    dP: Any
    f: Any
    inner: Any
    fixed: Any
    X: Any
    mixed: Any
    df: Any
    dinner: Any
    dfixed: Any
    dX: Any
    dmixed: Any
    u: Any
    row: Any
    scratch: Any
    out: Any


class Data(NamedTuple):
    """Queries, positions, the shared context or nothing, own contexts, and labels of one kind."""

    queries: Any
    position: Any
    shared: Any
    contexts: Any
    classes: Any
    values: Any


class Model(NamedTuple):
    """All that the loop needs of one model."""

    weights: Weights
    gradients: Weights
    work: Work
    data: Data


def model_of(config: Mahdavi, p: NDArray[Any], g: NDArray[Any], batch: int | None) -> Model:
    """The views of flat parameters and gradients, room to work in, and the data."""
    d, n, h, v, dtype = config.d, config.n, config.H, config.d_v, p.dtype
    rows = min(batch or config.T, config.T)
    free = 0 if config.shared_context else d  # coordinates of contexts that vary

    def empty(*shape: int) -> NDArray[Any]:
        return np.zeros(shape, dtype)

    x, y = views(config.shapes(), p), views(config.shapes(), g)
    if not config.embedding:
        x |= {"W_in": np.eye(d, dtype=dtype), "b_in": empty(d), "b_D": empty(config.outputs)}
        y |= {"W_in": empty(d, d), "b_in": empty(d), "b_D": empty(config.outputs)}
    work = Work(
        *(empty(h, d, d), empty(h, d, free), empty(h, d, n), empty(rows, h, n)),
        *(empty(rows, h * v, n), empty(h, d, d), empty(h, d, free), empty(h, d, n)),
        *(empty(n, d), empty(h * v, free), empty(h * v, n), empty(rows, d)),
        *(empty(rows, h * v), empty(n, d), empty(h * v, free), empty(h * v, n)),
        *(empty(rows, d), empty(rows, h * v)),
        *(empty(max(d, n, config.outputs)) for _ in range(4)),
    )
    return Model(Weights(**x), Weights(**y), work, _data_of(config, dtype))


def _data_of(config: Mahdavi, dtype: Any) -> Data:
    n, d = config.n, config.d
    queries, contexts, labels = config.data()
    position = sinusoids(n + 1, d) if config.embedding else np.zeros((n + 1, d))
    shared = contexts[0] if config.shared_context else np.zeros((0, d))
    own = np.zeros((config.T, n, 0)) if config.shared_context else contexts
    return Data(
        queries.astype(dtype),
        position.astype(dtype),
        shared.astype(dtype),
        np.ascontiguousarray(own.astype(dtype)),
        labels if config.classes else np.zeros(0, np.int64),
        np.zeros(0, dtype) if config.classes else labels.astype(dtype),
    )
