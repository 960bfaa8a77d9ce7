r"""Envelopes: slopes that grow more slowly than codes, so that codes use all exponents of a format.

The logit of v is a line p_v x - r_v, and lines cross in between their codes. With p = 2c its
logits have squares for exponents, which halves the range of c. Here slopes double only once in g
octaves of c, and a slope takes two weights, which costs W_U rows and no coordinate of a key. In the
octave with exponent E, slopes in units of 2^a and intercepts in units of 2^(a+E-1), codes 128·2^E,
…, 254·2^E have slopes P, P+1, … and lines that cross in the middle; ρ_k, the intercept of the
first, is chosen so that the octaves' lines cross between them too.

**Shared numbers.** S predicates share one more number of the key, the integer Σ b_i·2^i, where b_i
is the last bit of what predicate i has to say. Predicate i reads the number times 2^-i as y; a
value is a half step n of its octave, and it is answered wherever n ≤ 2M + y < n+1, with the code
M·2^E. So what the higher bits add to y is taken off M, and the lower ones are a fraction below 1.
That holds more values than a format has numbers: 3 facts over 2^16 values in 4 bfloat16 weights.

That computed logits keep this order is decided by the checker (``coded/envelopes.py`` there), and
argued in ``docs/proofs/lemmax/float-envelope.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class Ladder:
    """Slopes double every ``doubling`` octaves; ``shared`` predicates have a number in common.

    ``lowest`` is E of the first octave, ``octaves`` their number. Weights are bfloat16, sums have
    24 bits.

    >>> ladder(0).capacity, ladder(3).capacity
    (58166, 77190)
    """

    doubling: int
    shared: int
    lowest: int
    octaves: int

    @property
    def half(self) -> int:
        """log₂ of the steps per unit of M."""
        return 1 if self.shared else 0

    @property
    def fraction(self) -> int:
        """Crossings are multiples of 2^-fraction steps."""
        return max(1, self.shared)

    @property
    def base(self) -> int:
        """The first step of an octave, 128 in units of M."""
        return 128 << self.half

    @property
    def steps(self) -> tuple[int, int]:
        """The first and the last step of an octave that is a value."""
        if self.shared:
            return self.base + (1 << self.shared) - 1, 2 * self.base - 1
        return self.base, 2 * self.base - 2

    @property
    def capacity(self) -> int:
        """How many values there are, of both signs."""
        low, high = self.steps
        return 2 * self.octaves * (high - low + 1)

    @property
    def shift(self) -> int:
        """The exponent of the first slopes' unit: the finest intercept is a normal number."""
        return -126 - self.lowest + self.half + self.fraction

    def rungs(self) -> tuple[tuple[int, int], ...]:
        """For each octave the intercept and the share of its first value, in their units."""
        return _rungs(self)

    def values(self, size: int) -> tuple[Integers, Integers, Integers]:
        """Sign, octave and step of the first values, the octaves nearest to 2^0 first."""
        low, high = self.steps
        order = sorted(range(self.octaves), key=lambda k: (abs(k + self.lowest + 7), k))
        per = high - low + 1
        number = np.arange(size, dtype=np.int64)
        octave = np.array(order, dtype=np.int64)[number // (2 * per)]
        sign = 1 - 2 * (number // per % 2)
        return sign, octave, low + number % per

    def lines(self, octave: Integers, step: Integers) -> tuple[Floats, Floats, Floats]:
        """|p|, q and r of values; float64 holds them."""
        P, q, r, a, E = self._integers(octave, step)
        unit = a + E - self.half
        return (
            np.ldexp(P.astype(np.float64), a),
            np.ldexp(q.astype(np.float64), unit),
            np.ldexp(r.astype(np.float64), unit - self.fraction),
        )

    def columns(self, sign: Integers, octave: Integers, step: Integers, parts: int) -> Floats:
        """Weights of W_U: p twice, q twice where it is shared, then -r in so many parts."""
        P, q, r, a, E = self._integers(octave, step)
        unit = a + E - self.half
        rows = [np.ldexp(sign * part, a) for part in split(P, 2)]
        if self.shared:
            rows += [np.ldexp(part, unit) for part in split(q, 2)]
        rows += [np.ldexp(-part, unit - self.fraction) for part in split(r, parts)]
        return np.array(rows) + 0.0  # no -0

    def codes(self, sign: Integers, octave: Integers, step: Integers, whole: Integers) -> Floats:
        """The own number of a key: the step less what the shared number adds in whole steps."""
        M = (step - whole) >> self.half
        codes: Floats = np.ldexp((sign * M).astype(np.float64), octave + self.lowest)
        return codes

    def _integers(
        self, octave: Integers, step: Integers
    ) -> tuple[Integers, Integers, Integers, Integers, Integers]:
        low, s = self.steps[0], self.fraction
        first = np.array([rung[0] for rung in self.rungs()], dtype=np.int64)[octave]
        share = np.array([rung[1] for rung in self.rungs()], dtype=np.int64)[octave]
        P = self.base * (self.doubling + octave % self.doubling) + step - self.base
        area = (step * (step + 1) - low * (low + 1)) // 2
        r = first + (area << s) - (step - low)  # lines cross at n + 1 - 2^-s
        return P, share + step - low, r, octave // self.doubling + self.shift, octave + self.lowest


@cache
def _rungs(ladder: Ladder) -> tuple[tuple[int, int], ...]:
    low, high = ladder.steps
    s, top = ladder.fraction, 2 * ladder.base
    room = 1 << ladder.shared if ladder.shared else 0  # shares lie below it
    r, q = 1 << (15 + s), 256 if ladder.shared else 0
    rungs = []
    for k in range(ladder.octaves):
        rungs.append((r, q))
        factor = 2 if (k + 1) % ladder.doubling else 4  # of the units of intercepts
        gap = top - high + (low - ladder.base) * (factor // 2)  # from the last slope to the next
        r += ((high * (high + 1) - low * (low + 1)) // 2 << s) - (high - low)
        dq = 0
        if ladder.shared:
            q += high - low
            dq = _nearest(q, factor, gap, 2 * gap)
            q = (q + dq) // factor
            below, above = gap * (high + 1 - room) + dq * room, gap * top + dq * (room - 1)
        else:
            below, above = gap * high, gap * top
        r = (r + _nearest(r, factor, (below << s) + 1, (above << s) - 1)) // factor
    return tuple(rungs)


def _nearest(number: int, factor: int, low: int, high: int) -> int:
    """What makes the number a multiple of the factor, low ≤ … ≤ high, near the middle."""
    middle = (low + high) // 2
    change = middle + (-(number + middle)) % factor
    change = change if change - middle <= factor // 2 else change - factor
    if not low <= change <= high:
        raise AssertionError("octaves do not meet")
    return change


def split(numbers: Integers, parts: int, p: int = 8) -> list[Floats]:
    """Integers as sums of so many numbers of p bits, each the nearest to what is left.

    >>> [part.tolist() for part in split(np.array([65535, 257]), 2)]
    [[65536.0, 258.0], [-1.0, -1.0]]
    """
    left, pieces = numbers, []
    for _ in range(parts):
        size = np.frexp(np.abs(left).astype(np.float64))[1].astype(np.int64)
        shift = np.maximum(size - p, 0)
        half = np.where(shift > 0, np.int64(1) << np.maximum(shift - 1, 0), 0)
        piece = np.sign(left) * (((np.abs(left) + half) >> shift) << shift)
        pieces.append(piece.astype(np.float64))
        left = left - piece
    if left.any():
        raise AssertionError("a weight needs more parts")
    return pieces


DOUBLING = {0: 64, 2: 4, 3: 2}
"""Octaves in which slopes double, by the number of predicates that share a number."""


@cache
def ladder(shared: int) -> Ladder:
    """The longest ladder whose largest logit is finite, from the smallest normal number on.

    >>> ladder(0)
    Ladder(doubling=64, shared=0, lowest=-133, octaves=229)
    """
    lowest, g = -133, DOUBLING[shared]
    for octaves in range(250, 0, -1):
        one = Ladder(g, shared, lowest, octaves)
        p, q, r = (
            float(x[0]) for x in one.lines(np.array([octaves - 1]), np.array([one.steps[1]]))
        )
        total = 1.01 * p * 2.0 ** (8 + lowest + octaves - 1) + q * 2.0**shared + 1.01 * r
        if total < 2.0**128 * (1 - 2.0**-24) and lowest + octaves - 1 + 8 <= 128:
            return one
    raise AssertionError("there is none")
