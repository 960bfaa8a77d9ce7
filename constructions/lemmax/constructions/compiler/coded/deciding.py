r"""Whether a layer by codes knows its facts: from its structure, in time linear in its size.

Over the reals head q pays the key all but e^{-g} of its attention and every other head at most
e^{-g}, so the last position holds x with

.. math:: \|x - c_w\| \le (|Q| + 1)\, e^{-g} \max(1, \max_v \|c_v\|), \qquad e^{-128} < 2^{-184}.

Distinct codes are multiples of one power of two δ, so they are at least δ apart, and the codebook
lemma gives w the strictly largest logit as soon as 2‖x - c_w‖ < δ. In floating point e^{-g} is 0
and x = c_w; the rest is what :mod:`~lemmax.constructions.compiler.coded.codes` says of each family.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from lemmax.constructions.compiler.coded.by_codes import CodedLayer
from lemmax.constructions.compiler.coded.codes import Code, Integers
from lemmax.theory.errors import LemmaxError
from lemmax.theory.formats import Format

Bits: TypeAlias = NDArray[Any]
Floats: TypeAlias = NDArray[np.float64]


def bits(array: NDArray[np.float64], format_: Format) -> Bits:
    """The bit patterns of an array in a format that holds it exactly, little-endian.

    >>> from lemmax.theory.formats import FORMATS
    >>> [hex(b) for b in bits(np.array([1.0, -256.0]), FORMATS["bfloat16"])]
    ['0x3f80', '0xc380']
    >>> bits(np.array([257.0]), FORMATS["bfloat16"])
    Traceback (most recent call last):
    ...
    lemmax.theory.errors.LemmaxError: bfloat16 does not hold 257.0.
    """
    kind = {"bfloat16": "<f4", "float16": "<f2", "float32": "<f4"}.get(format_.name)
    if kind is None:
        raise LemmaxError(f"Layers by codes are not stored in {format_.name}.")
    with np.errstate(over="ignore"):
        stored = array.astype(kind)
    held = stored == array
    words = stored.view(f"<u{stored.itemsize}")
    if format_.name == "bfloat16":
        held &= words & 0xFFFF == 0
        words = (words >> 16).astype("<u2")
    if not held.all():
        raise LemmaxError(f"{format_.name} does not hold {array[~held].flat[0]}.")
    return words


def known(coded: CodedLayer, facts: Integers) -> NDArray[np.bool_]:
    """Whether the layer recalls each fact (rows of token numbers), over the reals and in floats.

    Heads and predicates are as the builder makes them. What is looked at is what depends on the
    table: that values' columns of W_U are distinct, and that the block of a key is half the column
    of its value (or, for lines, that it lies in between). Cost: linear, but for one sort.
    """
    if coded.code.family == "envelope":
        return known_by_lines(coded, facts)
    code, columns = coded.code, coded.W_U[list(coded.layout.outputs)].T
    used = np.unique(facts[:, 2])
    if len(np.unique(columns[used], axis=0)) != len(used):
        raise AssertionError("two values have the same code")
    if not decides_over_the_reals(code, len(coded.queries)):
        raise AssertionError("attention is not sharp enough for this code")
    head = np.zeros(len(coded.tokens), dtype=np.int64)
    head[list(coded.queries)] = np.arange(len(coded.queries))
    blocks = head[facts[:, 1], None] * code.coordinates + np.arange(code.coordinates)
    held = 2 * coded.unembedding_scale * coded.W_E[facts[:, :1], blocks]
    same: NDArray[np.bool_] = (held == columns[facts[:, 2]]).all(axis=1)
    return same


def points(coded: CodedLayer, keys: Integers, heads: Integers) -> tuple[Floats, Floats]:
    """x and y that the outputs hold for so many facts of a layer with lines."""
    y = np.zeros(len(keys))
    if coded.code.shared:
        group, place = np.divmod(heads, coded.code.shared)
        y = np.ldexp(coded.W_E[keys, len(coded.queries) + group], -place)
    return coded.W_E[keys, heads], y


def lines(coded: CodedLayer) -> tuple[Floats, Floats, Floats]:
    """p, q and r of every token, the sums of their weights."""
    outputs, markers = coded.layout.outputs, coded.layout.markers
    p, q = (coded.W_U[list(part)].sum(axis=0) for part in (outputs[:2], outputs[2:]))
    return p, q, -coded.W_U[list(markers)].sum(axis=0)


def known_by_lines(coded: CodedLayer, facts: Integers) -> NDArray[np.bool_]:
    """Whether each fact lies above the lines of its neighbours in the order of the slopes.

    Neighbours lie in the same or in neighbouring octaves, so float64 holds what is compared:
    multiples of one unit, of at most 45 bits. That no others need be asked follows from the order
    in which lines cross, and that floats agree is decided by the checker.
    """
    p, q, r = lines(coded)
    order = np.unique(facts[:, 2])
    order = order[np.argsort(p[order], kind="stable")]
    at = np.zeros(len(coded.tokens), dtype=np.int64)
    at[order] = np.arange(len(order))
    head = np.zeros(len(coded.tokens), dtype=np.int64)
    head[list(coded.queries)] = np.arange(len(coded.queries))
    x, y = points(coded, facts[:, 0], head[facts[:, 1]])
    own = facts[:, 2]
    right: NDArray[np.bool_] = np.sign(x) == np.sign(p[own])
    for step in (-1, 1):
        there = at[own] + step
        inside = (there >= 0) & (there < len(order))
        other = order[np.where(inside, there, at[own])]
        gap = (p[own] - p[other]) * x + (q[own] - q[other]) * y - (r[own] - r[other])
        right &= (gap > 0) | ~inside
    return right


def decides_over_the_reals(code: Code, heads: int) -> bool:
    """Whether 2(|Q|+1)·2^-184·max(1, max‖c‖) < δ, in integers: all codes are multiples of δ."""
    largest = max(abs(x) for x in code.mantissas)
    if code.family == "lattice":
        largest = math.isqrt(largest) + 1
    norm = (code.coordinates * largest).bit_length() + max(0, code.exponents[1])
    return (heads + 1).bit_length() + 1 - 184 + norm < code.exponents[0]


def scale_for(tau: fmpq, tokens: int) -> int:
    """A power of two s: gaps of s(1 - 2^-16) give a fact probability τ, as e^-x < 2^(-23x/16).

    >>> scale_for(fmpq(99, 100), 1000)
    16
    """
    scale = 1
    while fmpq(tokens, 1 << (23 * scale * 65535 // (16 * 65536))) > 1 / tau - 1:
        scale *= 2
    return scale
