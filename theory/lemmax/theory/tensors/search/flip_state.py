"""The state of a walk on the flip graph: written from terms, read as terms.

How it is laid out says :mod:`.flip_walk`, whose loops work on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lemmax.theory.tensors.search.flip_walk import (
    BEST,
    CHANCES,
    FACTORS,
    HEADER,
    LARGEST,
    LENGTH,
    LOOSE,
    MASK,
    ONE,
    RANDOM,
    ROOM,
    ROWS,
    SCALARS,
    SIZES,
    SPARE,
    SURE,
    WEYL,
    WIDTH,
    State,
)


def first_state(
    factors: Sequence[NDArray[Any]], scalars: NDArray[Any], margin: int, p: int, seed: int
) -> NDArray[np.int64]:
    """The state before the first step, from normalised factors (one row per term)."""
    length = len(scalars)
    room, width = length + margin + 1, max(f.shape[1] for f in factors) + 1
    random = np.random.default_rng([seed, p])
    saved = np.zeros((3, room, width), dtype=np.int64)
    for mode, f in enumerate(factors):
        saved[mode, :length, : f.shape[1]] = f
    heavy = np.zeros(room, dtype=np.int64)
    heavy[:length] = scalars
    regions = [
        np.zeros_like(saved),
        np.zeros_like(heavy),
        *(np.zeros(3 * room, dtype=np.int64) for _ in range(5)),
        random.integers(1, 2**48, width, dtype=np.int64),
        np.array([0] + [pow(x, -1, p) for x in range(1, p)], dtype=np.int64),
        np.full(2 * width, SURE, dtype=np.int64),
        np.zeros((3, width), dtype=np.int64),
        saved,
        heavy,
    ]
    header = np.zeros(HEADER, dtype=np.int64)
    header[[BEST, LOOSE, ROOM, WIDTH, ONE, LARGEST]] = length, length + 1, room, width, 1, 127
    header[RANDOM] = random.integers(1, MASK)
    header[WEYL] = random.integers(MASK)
    header[SIZES : SIZES + 3] = [f.shape[1] for f in factors]
    header[FACTORS:] = HEADER + np.cumsum([0] + [r.size for r in regions])[: HEADER - FACTORS]
    header[SPARE : SPARE + 3] = header[ROWS] + width * np.arange(3)
    return np.concatenate([header, *(r.ravel() for r in regions)])


def set_warmth(s: State, warmth: float) -> None:
    """Let a flip that adds n nonzero entries happen with the n-th power of ``warmth`` as chance."""
    first, size = int(s[CHANCES]), 2 * int(s[WIDTH])
    s[first : first + size] = [int(SURE * warmth**n) for n in range(size)]


def terms_of(s: State) -> tuple[list[NDArray[np.int64]], NDArray[np.int64]]:
    """The factors, one row per term, and the scalars of the present terms."""
    start, end, length = s[FACTORS], s[SCALARS], s[LENGTH]
    stored = np.array(s[start:end], dtype=np.int64).reshape(3, s[ROOM], s[WIDTH])
    factors = [stored[mode, :length, : s[SIZES + mode]] for mode in range(3)]
    return factors, np.array(s[end : end + length], dtype=np.int64)
