"""Compiled building blocks: exponentials that vectorise, softmax, and the optimisers.

The compiler vectorises a sum only if it may reorder it (``reassoc``), so loops allow that; the
order is then fixed in the machine code, and a re-run on the same machine is bit-equal. The
exponential must not be reordered: it rounds by adding and subtracting 1.5 · 2^52 (2^23).

Helpers are inlined by LLVM without exception. Otherwise a freshly compiled process and one that
loads the machine code from disk may resolve a helper to different copies of it, vectorised
differently, and their last bits differ.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numba
import numpy as np
from numba.extending import overload

F = TypeVar("F", bound=Callable[..., Any])

_MAY = {"reassoc", "contract", "arcp", "nsz"}


def compiled(function: F) -> F:
    """Compile on first use; keep the machine code on disk where a place can be written to."""
    options: dict[str, Any] = {"fastmath": _MAY, "nogil": True, "error_model": "numpy"}
    try:
        loop = numba.njit(cache=True, **options)(function)
        _forget_unreadable(loop)
    except (RuntimeError, OSError):  # no directory for the cache can be written to
        loop = numba.njit(**options)(function)
    return cast(F, loop)


def _forget_unreadable(loop: Any) -> None:
    """Empty an index that numba cannot read, as of arguments whose class has another name now.

    Numba reads the index before it looks whether the index is out of date.
    """
    index = loop._cache._cache_file
    try:
        index._load_index()
    except (AttributeError, ImportError, EOFError, pickle.UnpicklingError):
        index.flush()


def helper(function: F, may: set[str] = _MAY) -> F:
    """Compile into whatever calls it."""
    options: dict[str, Any] = {"fastmath": may, "error_model": "numpy", "forceinline": True}
    return cast(F, numba.njit(**options)(function))


_LOG2E32, _HIGH32, _LOW32 = (
    np.float32(1.44269504),
    np.float32(0.693359375),
    np.float32(-2.12194440e-4),
)
_MAGIC32, _FLOOR32, _TOP32 = np.float32(12582912.0), np.float32(-87.0), np.float32(88.0)
_A5, _A4, _A3 = (
    np.float32(1.9875691500e-4),
    np.float32(1.3981999507e-3),
    np.float32(8.3334519073e-3),
)
_A2, _A1, _A0 = (
    np.float32(4.1665795894e-2),
    np.float32(1.6666665459e-1),
    np.float32(5.0000001201e-1),
)
_ONE32 = np.float32(1.0)


def _exp32(x: Any, work: Any, n: int, shift: Any) -> None:
    bits = work.view(np.int32)
    for j in range(n):
        y = min(max(x[j] - shift, _FLOOR32), _TOP32)
        x[j] = y
        work[j] = y * _LOG2E32 + _MAGIC32
    for j in range(n):
        k = work[j] - _MAGIC32
        r = x[j] - k * _HIGH32
        r = r - k * _LOW32
        p = ((((_A5 * r + _A4) * r + _A3) * r + _A2) * r + _A1) * r + _A0
        x[j] = (p * r) * r + r + _ONE32
    for j in range(n):
        bits[j] = (bits[j] + np.int32(127)) << np.int32(23)
    for j in range(n):
        x[j] = x[j] * work[j]


_MAGIC64, _LOG2E64 = 6755399441055744.0, 1.4426950408889634
_HIGH64, _LOW64 = 0.693145751953125, 1.42860682030941723212e-6
_C = tuple(1.0 / float(np.prod(np.arange(1.0, n + 1))) for n in range(14))
_C13, _C12, _C11, _C10, _C9, _C8 = _C[13], _C[12], _C[11], _C[10], _C[9], _C[8]
_C7, _C6, _C5, _C4, _C3 = _C[7], _C[6], _C[5], _C[4], _C[3]


def _exp64(x: Any, work: Any, n: int, shift: Any) -> None:
    bits = work.view(np.int64)
    for j in range(n):
        y = min(max(x[j] - shift, -708.0), 709.0)
        x[j] = y
        work[j] = y * _LOG2E64 + _MAGIC64
    for j in range(n):
        k = work[j] - _MAGIC64
        r = x[j] - k * _HIGH64
        r = r - k * _LOW64
        p = ((((_C13 * r + _C12) * r + _C11) * r + _C10) * r + _C9) * r + _C8
        p = ((((p * r + _C7) * r + _C6) * r + _C5) * r + _C4) * r + _C3
        x[j] = ((p * r + 0.5) * r) * r + r + 1.0
    for j in range(n):
        bits[j] = (bits[j] + np.int64(1023)) << np.int64(52)
    for j in range(n):
        x[j] = x[j] * work[j]


_exp32_compiled = helper(_exp32, {"contract"})
_exp64_compiled = helper(_exp64, {"contract"})


def exponentials(x: Any, work: Any, n: int, shift: Any) -> None:
    """x[j] ← exp(x[j] - shift) for j < n, within two units in the last place; ``work`` is scratch.

    Arguments are clamped to where the result is a normal number.
    """
    (_exp32 if x.dtype == np.float32 else _exp64)(x, work, n, shift)


@overload(exponentials, jit_options={"forceinline": True})
def _exponentials(x: Any, work: Any, n: int, shift: Any) -> Any:
    chosen = _exp32_compiled if x.dtype == numba.types.float32 else _exp64_compiled

    def call(x: Any, work: Any, n: int, shift: Any) -> None:
        chosen(x, work, n, shift)

    return call


def _largest(row: Any, n: int) -> Any:
    """The largest of the first n entries."""
    top = row[0]
    for j in range(n):
        top = max(top, row[j])
    return top


def _weighted_softmax(row: Any, work: Any, n: int, top: Any, weight: Any) -> None:
    """row ← weight · softmax(row), the gradient of weight · logsumexp; top is its largest entry."""
    exponentials(row, work, n, top)
    total = weight - weight
    for j in range(n):
        total += row[j]
    factor = weight / total
    for j in range(n):
        row[j] *= factor


largest, weighted_softmax = helper(_largest), helper(_weighted_softmax)


class Optimiser(NamedTuple):
    """Flat parameters, their gradient, both moments of Adam, and β₁, 1-β₁, β₂, 1-β₂, ε.

    Where the optimiser is not Adam alone, ``hyper`` goes on: 1 for SGD, its weight decay and its
    momentum, whose buffer is the first moment.
    """

    p: Any
    g: Any
    m: Any
    v: Any
    hyper: Any


ADAM = 5  # numbers of Adam without weight decay


class Schedule(NamedTuple):
    """Of every step: lr/(1-β₁ᵗ), √(1-β₂ᵗ), and a row of sample numbers (no columns: all of them).

    ``rates`` is lr for SGD, and ``kept`` is the share 1-lr·λ of the weights that a decay leaves.
    The share of the samples that are right by argmax is written to ``right`` where it is known.
    """

    rates: Any
    roots: Any
    chosen: Any
    right: Any
    kept: Any


def _adam(optimiser: Any, rate: Any, root: Any) -> None:
    """One step of Adam on flat arrays."""
    p, g, m, v, hyper = optimiser
    for j in range(p.size):
        m[j] = m[j] + hyper[1] * (g[j] - m[j])
        v[j] = hyper[2] * v[j] + hyper[3] * g[j] * g[j]
        p[j] = p[j] - rate * (m[j] / (np.sqrt(v[j]) / root + hyper[4]))


adam = helper(_adam)


def _update(optimiser: Any, schedule: Any, step: int) -> None:
    """A step of the optimiser that ``hyper`` names."""
    p, g, m, _, hyper = optimiser
    if hyper.size == ADAM:
        adam(optimiser, schedule.rates[step], schedule.roots[step])
    elif hyper[5] > 0:
        rate = schedule.rates[step]
        for j in range(p.size):
            m[j] = hyper[7] * m[j] + (g[j] + hyper[6] * p[j])
            p[j] = p[j] - rate * m[j]
    else:
        kept = schedule.kept[step]
        for j in range(p.size):
            p[j] = p[j] * kept
        adam(optimiser, schedule.rates[step], schedule.roots[step])


update = helper(_update)
