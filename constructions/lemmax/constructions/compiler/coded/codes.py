r"""Codes: distinct points c_v of a number format, one per value, that logits tell apart.

With the codebook unembedding the logit of v at x = c_w is

.. math:: 2\langle c_v, x\rangle - \|c_v\|^2 = \|c_w\|^2 - \|c_w - c_v\|^2,

strictly largest at v = w over the reals. A family of codes is a set of points for which the same
holds for what a computer makes of these sums, in whatever order it adds the terms, fused or not:

``integers``
    Integer points. Every partial sum is an integer below 2^p, p the fewest significant bits of
    accumulation and logits, so nothing is ever rounded.
``one-rounding`` (m = 1)
    ±M·2^e with few bits. Both products are exact, their sum is rounded once, rounding is monotone,
    and (c_w - c_v)² is at least the distance from c_w² to the next logit below it.
``octaves`` (m = 1, logits as wide as the accumulator)
    ±M·2^e, 2^(s-1) ≤ M < 2^s, 2s + 2 ≤ p, p ≥ 24. Codes in the same octave or in neighbouring
    ones are compared exactly; those further apart differ by a quarter of the larger square.
``lattice`` (m ≥ 2)
    2^e·a with integer points a in a shell. The winner's logit ‖a‖² is held exactly, and every other
    lies below its predecessor.
``unmarked`` (m ≥ 2, |Q| ≥ 3)
    Integers without a marker: :mod:`~lemmax.constructions.compiler.coded.unmarked`.
``envelope`` (bfloat16, logits as wide as the accumulator of 24 bits)
    Lines instead of the codebook: :mod:`~lemmax.constructions.compiler.coded.envelopes`.

The proofs are in ``docs/proofs/lemmax/float-codes.md`` and ``float-envelope.md``; capacities follow
from the ranges of the exponents, in which nothing overflows and nothing becomes subnormal (but see
:func:`_smallest`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lemmax.constructions.compiler.coded.arithmetic import Arithmetic
from lemmax.constructions.compiler.coded.envelopes import DOUBLING, ladder
from lemmax.theory.errors import LemmaxError
from lemmax.theory.formats import Format

Family = Literal["integers", "one-rounding", "octaves", "lattice", "envelope", "joined", "unmarked"]
Integers: TypeAlias = NDArray[np.int64]

MOST_COORDINATES = 64
"""Coordinates of a code, at most."""


@dataclass(frozen=True)
class Code:
    """A family of codes with its sizes; ``table`` lists the first of its points.

    ``coordinates`` is m, ``intercepts`` the number of weights that hold ‖c‖², ``scale`` the value
    of the coordinate that the first of them is multiplied with.
    """

    family: Family
    coordinates: int
    capacity: int
    intercepts: int = 1
    scale: int = 1
    mantissas: tuple[int, int] = (0, 0)  # least and greatest |M| or ‖a‖², the integers, or steps
    exponents: tuple[int, int] = (0, 0)
    shared: int = 0  # predicates that have a number in common; envelopes alone

    @property
    def zero(self) -> bool:
        """Whether the zero vector is one of the points."""
        return self.family in ("integers", "joined", "unmarked")

    def width(self, queries: int) -> int:
        """d_model of a layer with this code."""
        if self.family == "joined":
            return queries * (self.coordinates + 1) + self.coordinates + 1
        if self.family == "envelope":
            common = -(-queries // self.shared) if self.shared else 0
            return queries + common + self.coordinates + self.intercepts
        if self.family == "unmarked":
            return queries * self.coordinates
        extra = self.intercepts if self.coordinates == 1 or queries == 1 else 1
        return queries * self.coordinates + extra

    def table(self, size: int) -> tuple[Integers, Integers]:
        """The first points as M·2^e: mantissas (size × m) and exponents (size).

        >>> code = cheapest_code(4, 2, Arithmetic.named("bfloat16"))
        >>> code.family, code.table(4)[0].tolist()
        ('integers', [[-2], [-1], [0], [1]])
        """
        if size > self.capacity:
            raise LemmaxError(f"{self.family} have {self.capacity} codes, not {size}.")
        if self.zero:
            low, high = self.mantissas
            base = high - low + 1
            digits = np.arange(size, dtype=np.int64)[:, None] // np.array(
                [base**j for j in range(self.coordinates)], dtype=np.int64
            )
            return digits % base + low, np.zeros(size, dtype=np.int64)
        if self.family == "envelope":
            raise LemmaxError("Values of an envelope are lines, not points.")
        points = self._octave()
        least, greatest = self.exponents
        order = sorted(range(least, greatest + 1), key=lambda e: (abs(e), e))
        octaves = -(-size // len(points))
        exponents = np.repeat(np.array(order[:octaves], dtype=np.int64), len(points))[:size]
        return np.tile(points, (octaves, 1))[:size], exponents

    def _octave(self) -> Integers:
        """The points with exponent 0."""
        low, high = self.mantissas
        if self.coordinates == 1:
            positive = np.arange(low, high + 1, dtype=np.int64)
            return np.concatenate([positive, -positive])[:, None]
        return _shell(self.coordinates, low, high)


@cache
def _shell(m: int, low: int, high: int) -> Integers:
    """The integer points with low ≤ ‖a‖² ≤ high."""
    radius = math.isqrt(high)
    axis = np.arange(-radius, radius + 1, dtype=np.int64)
    points = axis[:, None]
    for _ in range(m - 1):
        grid = np.repeat(points, len(axis), axis=0)
        points = np.column_stack([grid, np.tile(axis, len(points))])
        points = points[(points**2).sum(axis=1) <= high]
    shell: Integers = points[(points**2).sum(axis=1) >= low]
    return shell


def _shell_size(m: int, low: int, high: int) -> int:
    """How many integer points have low ≤ ‖a‖² ≤ high, without listing them."""
    squares = [0] * (high + 1)
    for a in range(-math.isqrt(high), math.isqrt(high) + 1):
        squares[a * a] += 1
    counts = [1] + [0] * high
    for _ in range(m):
        counts = [
            sum(counts[n - a * a] * (1 if a == 0 else 2) for a in range(math.isqrt(n) + 1))
            for n in range(high + 1)
        ]
    return sum(counts[low:])


def _smallest(format_: Format) -> int:
    """The exponent of the smallest number that may occur.

    Subnormal numbers are left out where hardware may flush them to zero (float32, and bfloat16,
    which is computed there). float16 has so few exponents that its subnormal numbers are used as
    weights: products with them are computed in float32, where they are normal.
    """
    subnormal = format_.name == "float16"
    return format_.least - format_.significand + 1 if subnormal else format_.least


def cheapest_code(
    size: int, queries: int, arithmetic: Arithmetic, factor: int | None = None
) -> Code:
    """The code for ``size`` values with the smallest d_model; of equals, the widest margins.

    With a ``factor`` by which W_U will be multiplied (a power of two, for the sake of
    probabilities) only integers serve, because the margins of the others are not bounded below.

    >>> cheapest_code(30_000, 16, Arithmetic.named("bfloat16", logits="float32")).family
    'octaves'
    >>> cheapest_code(30_000, 16, Arithmetic.named("bfloat16")).family
    'lattice'
    """
    best: Code | None = None
    most = 0
    for m in range(1, MOST_COORDINATES + 1):
        if best is not None and queries * (m if m < 2 else m - 1) >= best.width(queries):
            return best  # envelopes with two coordinates have one and a part per predicate
        bare = _unmarked(m, size, queries, arithmetic, factor or 1)
        for code in (*families(m, size, arithmetic, factor), *bare):
            most = max(most, code.capacity)
            if code.capacity >= size and (
                best is None or code.width(queries) < best.width(queries)
            ):
                best = code
    if best is None:
        lacking = math.log2(size) - math.log2(max(1, most))
        raise LemmaxError(
            f"With {arithmetic} no code holds {size} values: the largest has {most}, "
            f"which is {lacking:.2f} bits too few."
        )
    return best


def families(
    m: int, size: int, arithmetic: Arithmetic, factor: int | None = None
) -> Iterator[Code]:
    """The codes with m coordinates, widest margins first.

    The integers are those that ``size`` values need, where these are exact; the other families do
    not depend on it.
    """
    integers = _integers(m, size, arithmetic, factor or 1)
    if integers is not None:
        yield integers
    if factor is not None:
        return
    if m == 1:
        yield from (_one_rounding(arithmetic), *_octaves(arithmetic))
    else:
        yield from _lattice(m, arithmetic)
    yield from _envelopes(m, arithmetic)


def joined_code(size: int, queries: int, arithmetic: Arithmetic, factor: int | None = None) -> Code:
    """The integers of fewest coordinates whose sums over all heads the weights' format holds.

    For tables in which a predicate is a subject too: the heads' outputs cancel, and their partial
    sums, (2|Q| - 1) times the largest integer at most, are stored in the format of the weights.

    >>> joined_code(100, 3, Arithmetic.named("bfloat16")).width(3)
    12
    """
    weights = arithmetic.weights
    most = 1
    for m in range(1, MOST_COORDINATES + 1):
        code = _integers(m, size, arithmetic, factor or 1)
        room = 1 << weights.significand
        if code is not None:
            reach = max(abs(x) for x in code.mantissas)
            held = (2 * queries - 1) * reach <= room
            most = max(most, code.capacity) if held else most
            if code.capacity >= size and held and code.scale == 1:
                return replace(code, family="joined")
    raise LemmaxError(
        f"With {arithmetic} and a predicate that is a subject, no code holds {size} values: the "
        f"largest has {most}, which is {math.log2(size) - math.log2(most):.2f} bits too few."
    )


def _split_error(square: int, p: int) -> int:
    """A bound of |lo| for integers hi + lo ≤ square, hi rounded to p bits."""
    return 0 if square <= 1 << p else 1 << ((square - 1).bit_length() - p - 1)


def _integers(m: int, size: int, arithmetic: Arithmetic, factor: int) -> Code | None:
    """The smallest cube around 0 with ``size`` integer points, or the largest exact one."""
    base = max(2, _root(size, m))
    code = _cube(m, base, arithmetic, factor)
    if code is None:  # the largest cube that is exact, so that a refusal can name it
        low, high = 1, base
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if _cube(m, middle, arithmetic, factor) else (low, middle)
        code = _cube(m, low, arithmetic, factor) if low > 1 else None
    return code


def _unmarked(
    m: int, size: int, queries: int, arithmetic: Arithmetic, factor: int
) -> Iterator[Code]:
    """The integers of :func:`_integers`, and S such that attention and all sums are as proved."""
    code = _integers(m, size, arithmetic, factor)
    if code is None or m < 2 or queries < 3:
        return
    reach, square = -code.mantissas[0], m * code.mantissas[0] ** 2
    scale = 1 << max(4, (max(m, 2 * queries * reach) - 1).bit_length())  # S²/2 ≥ 128
    sums, residual, weights = arithmetic.accumulate, arithmetic.residual, arithmetic.weights
    held = 2 * scale + reach <= 1 << min(sums.significand, residual.significand)
    finite = max(scale * scale, factor * 2 * square // scale + 1) <= weights.largest
    if held and finite and scale <= Fraction(2) ** -weights.least:
        yield replace(code, family="unmarked", intercepts=2, scale=scale)


def _root(size: int, m: int) -> int:
    """The least n with n^m ≥ size."""
    low, high = 0, 1 << -(-size.bit_length() // m)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if middle**m >= size else (middle, high)
    return high


def _cube(m: int, base: int, arithmetic: Arithmetic, factor: int) -> Code | None:
    """The points {-⌊base/2⌋, …}^m if all their partial sums are exact, W_U times the factor."""
    p = arithmetic.weights.significand
    reach = base // 2
    square = m * reach * reach
    low = _split_error(square, p)
    intercepts = 1 if square <= 1 << p else 2
    scale = 1 << p if intercepts == 2 and arithmetic.weights.name == "float16" else 1
    bits = min(arithmetic.accumulate.significand, arithmetic.logits.significand)
    held = arithmetic.weights.largest
    largest = max(2 * reach, 2 * square // scale, low, 1)
    if reach > 1 << p or low > 1 << p or factor * largest > held:
        return None
    # Σ|terms| ≤ 2Σ|c_v c_w| + hi + |lo|; the tokens outside V have the single term -1.
    total = 3 * square + 2 * low
    if total > 1 << bits or factor * max(1, total) > min(
        arithmetic.logits.largest, arithmetic.accumulate.largest
    ):
        return None
    return Code("integers", m, base**m, intercepts, scale, (-reach, base - 1 - reach))


def _one_rounding(arithmetic: Arithmetic) -> Code:
    """M·2^e with M² < 2^p in all three formats, squares normal, 3c² finite."""
    formats = (arithmetic.weights, arithmetic.accumulate, arithmetic.logits)
    p = min(f.significand for f in formats)
    high = math.isqrt((1 << p) - 1)
    low = high // 2 + 1
    while not _apart(low, high, p):
        low += 1
    least = max(f.least for f in formats)
    e_low = -((math.floor(math.log2(low * low)) - least) // 2)
    while low * low * Fraction(4) ** e_low < Fraction(2) ** least:
        e_low += 1
    e_high = e_low
    largest = min(f.largest for f in formats)
    while 3 * high * high * Fraction(4) ** (e_high + 1) <= largest:
        e_high += 1
    count = 2 * (high - low + 1) * (e_high - e_low + 1)
    return Code("one-rounding", 1, count, 1, 1, (low, high), (e_low, e_high))


def _apart(low: int, high: int, p: int) -> bool:
    """Whether the squared gap from low to the next octave below is as wide as logits are apart."""
    logits = Format("", p, -(1 << 20), 1 << 20)
    gap = Fraction(low) - Fraction(high, 2)
    square = Fraction(low * low)
    return gap * gap >= square - logits.below(square)


def _octaves(arithmetic: Arithmetic) -> Iterator[Code]:
    """±M·2^e with s bits, 2s + 2 ≤ p, where logits are stored as they are accumulated."""
    weights, sums, logits = arithmetic.weights, arithmetic.accumulate, arithmetic.logits
    s = min(weights.significand, (sums.significand - 2) // 2)
    if logits.significand < sums.significand or sums.significand < 24:
        return
    intercepts = 1 if 2 * s <= weights.significand else 2
    shift = s if intercepts == 2 and weights.name == "float16" else 0
    # the smallest terms are multiples of 4^e, the largest weights 2^(2s+2e) before scaling
    low = -(-max(_smallest(weights), sums.least, logits.least) // 2)
    high = min(
        (weights.greatest + shift - 2 * s) // 2,
        weights.greatest - s - 1,
        (min(sums.greatest, logits.greatest) - 1 - 2 * s) // 2,
    )
    count = (1 << s) * (high - low + 1)
    mantissas = (1 << (s - 1), (1 << s) - 1)
    if count > 0:
        yield Code("octaves", 1, count, intercepts, 1 << shift, mantissas, (low, high))


def _lattice(m: int, arithmetic: Arithmetic) -> Iterator[Code]:
    """2^e·a, least ≤ ‖a‖² ≤ 2^p, p the bits of a logit; sums need 14 bits more."""
    weights, sums, logits = arithmetic.weights, arithmetic.accumulate, arithmetic.logits
    p = logits.significand
    if m > 4 or weights.significand < p or sums.significand < p + 13 or p > 11:
        return
    least = _shell_least(p)
    low = -(-max(f.least for f in (weights, sums, logits)) // 2)
    high = (min(f.greatest for f in (weights, sums, logits)) - 1 - p) // 2
    count = _shell_size(m, least, 1 << p) * (high - low + 1)
    yield Code("lattice", m, count, 1, 1, (least, 1 << p), (low, high))


def _envelopes(m: int, arithmetic: Arithmetic) -> Iterator[Code]:
    """Lines whose slopes take two weights, in bfloat16 with sums and logits of 24 bits."""
    wide = (arithmetic.accumulate.name, arithmetic.logits.name) == ("float32", "float32")
    if arithmetic.weights.name != "bfloat16" or not wide:
        return
    for shared in DOUBLING:
        if m == (2 if shared else 1):
            rungs = ladder(shared)
            ends = (rungs.lowest, rungs.lowest + rungs.octaves - 1)
            parts = 3 if shared else 2
            yield Code("envelope", m, rungs.capacity, parts, 1, rungs.steps, ends, shared)


@cache
def _shell_least(p: int) -> int:
    """The least N with (√N' - 2^(p/2-1))² > N' - (the logit below N') for all N ≤ N' ≤ 2^p."""
    logits = Format("", p, -(1 << 20), 1 << 20)

    def clear(n: int) -> bool:
        # √n - r > √t  iff  n > r² + t + 2r√t, with r² = 2^(p-2) and t the gap below n
        t = Fraction(n) - logits.below(Fraction(n))
        rest = n - Fraction(1 << p, 4) - t
        return rest > 0 and rest * rest > (1 << p) * t

    least = 1 << p
    while clear(least - 1):
        least -= 1
    return least
