"""Codebooks: columns of W_U that are 2c and -|c|^2, and the families whose margins floats keep."""

import itertools
from fractions import Fraction
from typing import NamedTuple

from ..limits import brief, keep, refuse, spend
from ..steps import Step
from .arrays import Table
from .floats import ONE, SHIFT, Format, exponent, length, trailing, values

FAMILIES = ("integers", "one-rounding", "octaves", "lattice", "envelope", "joined", "unmarked")
"""Sets of codes, each with a theorem that computed logits keep their order."""


class Layout(NamedTuple):
    """Where outputs, hot coordinates and markers stand; blocks come first."""

    width: int
    outputs: list[int]
    hot: list[int | None]
    markers: list[int]

    def intercepts(self, family: str) -> tuple[list[int], list[int]]:
        """Where the first and the second part of |c|^2 stand: on one of these at each predicate."""
        hot = [j for j in self.hot if j is not None]
        if family == "unmarked":
            return hot, self.markers
        if len(self.markers) > 1:
            return self.markers[:1], self.markers[1:2]
        return self.markers, hot if len(hot) == len(self.hot) else []


class Layer(NamedTuple):
    """The arrays of a certificate and what it says of them."""

    weights: Format
    sums: Format
    logits: Format
    residual: Format
    family: str
    m: int
    factor: int
    layout: Layout
    arrays: dict[str, Table]
    queries: list[int]
    shared: int  # predicates per number that they share, 0 for none

    @property
    def size(self) -> int:
        """How many tokens there are."""
        return self.arrays["W_E"].shape[0]


class Codes:
    """The values' columns of W_U, as integers over 2^150."""

    def __init__(self, layer: Layer, scale: int, gain: int, known: list[int]) -> None:
        self.layer, self.scale, self.gain, self.known = layer, scale, gain, known
        place, size = layer.layout, layer.size
        keep("The codes", len(known) * (layer.m + 3) * 3, 300)
        spend("The codes", 40 * len(known) * (layer.m + 3))
        W_U = layer.arrays["W_U"].entries
        self.rows = [W_U[j * size : (j + 1) * size] for j in range(place.width)]
        self.value = values(W_U, layer.weights, "W_U")
        self.points = [self.row(j) for j in place.outputs]
        self.first, self.second = place.intercepts(layer.family)
        self.hi = [scale * x for x in self.row(self.first[0])]
        self.lo = self.row(self.second[0]) if self.second else [0] * len(known)
        if layer.family == "unmarked":
            self.lo = [scale * x for x in self.lo]

    def row(self, j: int) -> list[int]:
        """The entries of one coordinate of W_U at the values."""
        return list(map(self.value.__getitem__, map(self.rows[j].__getitem__, self.known)))

    def columns(self) -> Step:
        """Each column is 2c on the outputs and -|c|^2 on the markers, times the factor."""
        place, layer = self.layer.layout, self.layer
        used = {*place.outputs, *place.markers, *self.first, *self.second}
        for j in range(place.width):
            words = list(map(self.rows[j].__getitem__, self.known))
            if j not in used and any(words):
                return Step(False, f"coordinate {j} of W_U is not zero at the values")
        for part in (self.first, self.second):
            if any(self.row(j) != self.row(part[0]) for j in part[1:]):
                return Step(False, "the coordinates of W_U that hold |c|^2 differ")
        four = 4 * layer.factor << SHIFT
        for v, (hi, lo, *c) in enumerate(zip(self.hi, self.lo, *self.points, strict=True)):
            if sum(x * x for x in c) != -four * (hi + lo):
                return Step(False, f"the column of token {self.known[v]} is not 2c and -|c|^2")
        return Step(True, f"{len(self.known)} columns of W_U are 2c and -|c|^2")

    def others(self) -> Step:
        """Tokens that are no values have the logit 0, or -1 times the factor."""
        unit = self.layer.factor << SHIFT
        outside = sorted(set(range(self.layer.size)) - set(self.known))
        for j, row in enumerate(self.rows):
            words = set(map(row.__getitem__, outside))
            found = {self.value[w] for w in words}
            allowed = {0, -unit // self.scale} if j in self.first else {0}
            if self.layer.family in ("integers", "joined", "unmarked") and j in self.first:
                allowed = {-unit // self.scale}
            if not found <= allowed:
                return Step(False, "a token that is no value has a column of its own")
        return Step(True, f"{len(outside)} other tokens lie below every value")

    def distinct(self) -> Step:
        # sorted, not put into a set: integers whose hashes collide are easily found
        codes = sorted(zip(*self.points, strict=True))
        if any(a == b for a, b in itertools.pairwise(codes)):
            return Step(False, "two values have the same code")
        return Step(True, f"{len(self.known)} codes are distinct")

    def margins(self) -> Step:
        """That computed logits differ as they should, by the family of the codes."""
        ok, text = {
            "integers": self.integers,
            "joined": self.integers,
            "unmarked": self.integers,
            "one-rounding": self.one_rounding,
            "octaves": self.octaves,
            "lattice": self.lattice,
        }[self.layer.family]()
        return Step(ok, text)

    def integers(self) -> tuple[bool, str]:
        """Every term is a multiple of the factor, and their absolute values add up to few bits."""
        layer, unit = self.layer, self.layer.factor << SHIFT
        if any(x % (2 * unit) for c in self.points for x in c):
            return False, "a code is not an integer"
        if any(x % unit for x in (*self.hi, *self.lo)):
            return False, "an intercept is not an integer"
        reach = [max(map(abs, c)) // (2 * unit) for c in self.points]
        most = max(
            abs(hi) + abs(lo) + sum(abs(x) * r for x, r in zip(c, reach, strict=True))
            for hi, lo, *c in zip(self.hi, self.lo, *self.points, strict=True)
        )
        bits = min(layer.sums.significand, layer.logits.significand)
        if most > unit << bits or max(most, unit) > min(layer.sums.largest, layer.logits.largest):
            return False, f"partial sums reach {most // unit}, beyond {bits} bits"
        return True, f"partial sums are integers up to {most // unit}, held by {bits} bits"

    def scalars(self) -> list[int]:
        """The codes of a family with m = 1, sorted, times 2^150; none is zero."""
        if self.layer.m != 1:
            refuse("code.coordinates", "must be 1 for this family")
        double = 2 * self.layer.factor
        if self.layer.factor != 1 or any(x % double for x in self.points[0]):
            refuse("code.factor", "must be 1 for this family")
        return sorted(x // double for x in self.points[0])

    def one_rounding(self) -> tuple[bool, str]:
        """Two exact products, one monotone rounding, and gaps as wide as logits are apart."""
        layer, codes = self.layer, self.scalars()
        p = min(layer.sums.significand, layer.logits.significand)
        least = max(layer.sums.least, layer.logits.least)
        if any(self.lo) or 0 in codes:
            return False, "a logit has three terms, or a code is zero"
        odd = max(abs(c) >> trailing(c) for c in codes)
        if (odd * odd).bit_length() > p:
            return False, f"products do not fit {p} bits"
        small, large = min(map(abs, codes)), max(map(abs, codes))
        if small * small < 1 << (least + 2 * SHIFT):
            return False, "the smallest square is not a normal number"
        if 3 * large * large > min(layer.sums.largest, layer.logits.largest) << SHIFT:
            return False, "the largest logit is not finite"
        for before, after in itertools.pairwise(codes):
            gap = (after - before) ** 2
            for c in (before, after):
                square = c * c  # over 2^300; the next logit below is 2^(e-p) or 2^(e-p+1) away
                power = square & (square - 1) == 0
                if gap << (p - 1 + power) < 1 << (square.bit_length() - 1):
                    return False, "two codes are closer than the logits of the format"
        return True, f"gaps between codes are those of {p} bits: one rounding keeps them"

    def octaves(self) -> tuple[bool, str]:
        """Codes of s bits, 2s + 2 <= p: exact among neighbouring octaves, far apart beyond."""
        layer, codes = self.layer, self.scalars()
        p = layer.sums.significand
        if p < 24 or layer.logits.significand < p:
            return False, "logits must be stored as they are accumulated, with 24 bits at least"
        if 0 in codes:
            return False, "a code is zero"
        s = max(8, *map(length, codes))
        if 2 * s + 2 > p:
            return False, f"codes of {s} bits have squares beyond {p} bits"
        low = exponent(min(map(abs, codes))) - s + 1
        high = exponent(max(map(abs, codes))) - s + 1
        if 2 * low < max(layer.sums.least, layer.logits.least):
            return False, f"terms are multiples of 4^{low}, which is not a normal number"
        if 2 * (s + high) + 2 > min(layer.sums.greatest, layer.logits.greatest) + 1:
            return False, "the largest logit is not finite"
        for x, hi, lo in zip(self.points[0], self.hi, self.lo, strict=True):
            unit = 2 * (exponent(abs(x) // 2) - s + 1) + SHIFT
            if any(part % (1 << unit) for part in (hi, lo)) or abs(lo) > 1 << (s + unit):
                return False, "an intercept is not split into multiples of the code's unit"
        return True, f"codes of {s} bits in octaves {low} to {high}: compared exactly, or far apart"

    def lattice(self) -> tuple[bool, str]:
        """Points 2^e a, a in a shell whose squares are held by the logits' p bits."""
        layer = self.layer
        p = layer.logits.significand
        least = {8: 76, 11: 545}.get(p)
        if least is None or not 2 <= layer.m <= 4 or layer.sums.significand < p + 13:
            return False, "lattice codes need 8 or 11 bits in a logit, and 13 more in a sum"
        if layer.factor != 1 or any(self.lo):
            return False, "a logit has a second intercept, or W_U a factor"
        low, high = 0, 0
        for square, *c in zip(self.hi, *self.points, strict=True):
            n = -square  # |c|^2 over 2^150, and c is twice the entry
            e = -((p - ((n - 1).bit_length() - SHIFT)) // 2)
            unit = 2 * e + SHIFT
            if unit < 0 or n % (1 << unit) or n >> unit < least:
                return False, f"a code lies outside of the shell from {least} to {1 << p}"
            if any(x % (2 << (e + SHIFT)) for x in c):
                return False, "a code is not a multiple of its power of two"
            low, high = min(low, 2 * e), max(high, 2 * e)
        if low < max(f.least for f in (layer.weights, layer.sums, layer.logits)):
            return False, "a square is not a normal number"
        if high + p + 2 > min(layer.sums.greatest, layer.logits.greatest) + 1:
            return False, "the largest logit is not finite"
        return True, f"codes lie in the shell {least} <= |a|^2 <= {1 << p}, up to powers of two"

    def off(self) -> tuple[int, int]:
        """How far x is from its code over the reals, and how far codes are apart, in one unit.

        exp(-g) < 2^(-23g/16), and no head reads more than the largest entry of a key.
        """
        double = 2 * self.layer.factor
        held = values(self.layer.arrays["W_E"].entries, self.layer.weights, "W_E").values()
        reach = double * self.layer.m * max(ONE, max(held), -min(held))
        apart = min((trailing(x) for c in self.points for x in c if x), default=SHIFT)
        two = self.layer.family in ("joined", "unmarked")  # heads read two tokens with blocks
        reach *= 2 if two else 1
        return 2 * (len(self.layer.queries) + 1) * reach, 1 << (apart + self.gain * 23 // 16)

    def real(self) -> Step:
        """Over the reals every hidden state is nearer to its code than half the way to another."""
        off, apart = self.off()
        if off >= apart:
            return Step(False, "over the reals attention is not sharp enough for these codes")
        return Step(True, "over the reals every hidden state is nearest to its code")

    def probability(self, tau: Fraction) -> Step:
        """Logits of integer codes differ by factor (1 - 2^-16) at least, and e^-x < 2^(-23x/16)."""
        off, apart = self.off()
        if self.layer.family not in ("integers", "joined", "unmarked") or off << 16 > apart:
            return Step(False, "only integer codes have margins for a probability")
        power = 23 * self.layer.factor * 65535 // (16 * 65536)
        if Fraction(self.layer.size, 1 << power) > 1 / tau - 1:
            return Step(False, f"the margin {self.layer.factor} is too small for the probability")
        return Step(True, f"over the reals every value has probability >= {brief(tau)}")
