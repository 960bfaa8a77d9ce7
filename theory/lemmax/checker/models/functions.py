"""Softmax, norms and activations of vectors in balls; every error is rounded up.

Besides :mod:`enclosures` they lean on: Φ' <= 2/5 for the normal distribution function Φ, and
σ' <= 1/4 for the logistic function σ, so that a ball around the argument becomes one around the
value; Φ(x) = 1/2 + φ(x) Σ x^(2n+1) / (1·3···(2n+1)); 1 - Φ(x) <= exp(-x²/2) / 2 for x >= 0;
Cauchy's estimate |φ^(n)(x)| / n! <= exp(ρ²/2) / ρ^n with ρ = 4; and Machin's formula for π.

A :class:`Functions` keeps exp and the Taylor coefficients of Φ at multiples of 1/16, so that most
values cost one short polynomial. It belongs to one certificate: what is charged must not depend on
what was checked before.
"""

import functools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from ..enclosures import exp_minus
from ..limits import Undecided, keep, multiply, spend
from .vectors import Ball, times, upward

_GUARD = 16


def pi(bits: int) -> tuple[int, int]:
    """Integers lo <= 2^bits π <= hi: π = 16 arctan(1/5) - 4 arctan(1/239)."""
    w = bits + 16
    multiply("π", w, w)

    def arctan(n: int) -> int:  # off by less than the number of terms, which is below w
        term, total, k = (1 << w) // n, 0, 0
        while term:
            total += (-1) ** k * (term // (2 * k + 1))
            term, k = term // (n * n), k + 1
        return total

    center = 16 * arctan(5) - 4 * arctan(239)
    return (center - 40 * w) >> 16, (center + 40 * w >> 16) + 1


class Functions:
    """Functions of real numbers with ``bits`` after the point."""

    def __init__(self, bits: int) -> None:
        self.bits, self.w = bits, bits + _GUARD
        self.pi = pi(self.w)
        # 1/n!, until h^n / n! < 2^-w for h <= 1/16; and as many terms of Φ, h <= 1/32, ρ = 4
        self.factorials = [1 << self.w]
        while self.factorials[-1] >> 4 * len(self.factorials):
            self.factorials.append(self.factorials[-1] // len(self.factorials))
        self.terms = (self.w + 12) // 7 + 2
        self.powers = functools.cache(self._power)
        self.expansions = functools.cache(self._expansion)

    def _power(self, k: int) -> tuple[int, int]:
        keep("An exponential", 4, self.w)
        return exp_minus(Fraction(k, 16), self.w)

    def exp(self, t: int) -> tuple[int, int]:
        """Integers lo <= 2^bits exp(-t / 2^bits) <= hi for t >= 0.

        exp(-h) for h < 1/16 is an alternating sum; by Horner's rule each term is off by at most two
        units, all of them together by four.
        """
        if t >> self.bits >= self.bits:
            return 0, 1
        w = self.w
        multiply("An exponential", 2 * len(self.factorials) + 20, w)
        k = t >> self.bits - 4
        h, total = t - (k << self.bits - 4) << _GUARD, 0
        for term in reversed(self.factorials):
            total = term - (total * h >> w)
        low, high = self.powers(k)
        return low * (total - 4) >> w + _GUARD, (high * (total + 4) >> w + _GUARD) + 1

    def logistic(self, y: int) -> tuple[int, int]:
        """Integers lo <= 2^bits / (1 + exp(-y / 2^bits)) <= hi."""
        one = 1 << self.bits
        low, high = self.exp(abs(y))
        spend("An activation", 4, 2 * self.bits, self.bits)
        low, high = (one << self.bits) // (one + high), (one << self.bits) // (one + low) + 1
        return (low, high) if y >= 0 else (one - high, one - low)

    def _expansion(self, k: int) -> tuple[list[int], int]:
        """Coefficients of Φ around k/16, lowest first, and what their errors come to, h <= 1/32.

        t_n = φ^(n) / n! satisfies (n + 1) t_(n+1) = -(x t_n + t_(n-1)), and Φ has t_n / (n + 1).
        """
        w, x = self.w, k << self.w - 4
        keep("An activation", self.terms, w)
        multiply("An activation", 4 * self.terms + 40, w)
        value = self._normal_series(k)
        low, high = exp_minus(Fraction(k * k, 512), w)
        density = (low << w) // (math.isqrt(2 * self.pi[1] << w) + 1)
        error = (high << w) // math.isqrt(2 * self.pi[0] << w) + 1 - density
        before, now, past, total = 0, density, 0, value[1] - value[0]
        coefficients = [value[0]]
        for n in range(self.terms):
            coefficients.append(now // (n + 1))
            total += (error >> 5 * (n + 1)) + 2
            before, now = now, -((x * now >> w) + before) // (n + 1)
            past, error = error, (((k >> 4) + 1) * error + past) // (n + 1) + 3
        return coefficients, total

    def _normal_series(self, k: int) -> tuple[int, int]:
        """Integers lo <= 2^w Φ(k / 16) <= hi, k >= 0: the series, rounded down and up."""
        guard = 18 + 3 * k * k // 1024  # the sum is about exp(y²/2) < 2^(3/4 y²)
        w = self.w + guard
        multiply("An activation", 6 * (w // 4 + 3 * (k * k >> 8) + 20), w)
        density = exp_minus(Fraction(k * k, 512), w)
        square = k * k << w - 8
        less = more = sum_less = sum_more = k << w - 4
        n = 1
        while more > 1 or 2 * square > n << w:
            n += 2
            less = less * square // (n << w)
            more = more * square // (n << w) + 1
            sum_less += less
            sum_more += more
        sum_more += more  # the tail: each further term is less than half of the one before it
        low = sum_less * density[0] // (math.isqrt(2 * self.pi[1] << w + guard) + 1)
        high = sum_more * density[1] // math.isqrt(2 * self.pi[0] << w + guard) + 1
        half = 1 << self.w - 1
        return half + (low >> guard), half + (high >> guard) + 1

    def normal(self, x: int) -> tuple[int, int]:
        """Integers lo <= 2^bits Φ(x / 2^bits) <= hi."""
        bits, w, one, y = self.bits, self.w, 1 << self.bits, abs(x)
        if y * y > 2 * bits << 2 * bits:  # then exp(-y²/2) < 2^-bits
            low, high = one - 1, one
        else:
            multiply("An activation", 2 * self.terms + 20, w)
            k = (y >> bits - 5) + 1 >> 1
            h, total = y - (k << bits - 4) << _GUARD, 0
            coefficients, error = self.expansions(k)
            for term in reversed(coefficients):
                total = term + (total * h >> w)
            error += 4  # Horner's rule rounds by less than two; by Cauchy the tail is below one
            low, high = total - error >> _GUARD, (total + error >> _GUARD) + 1
        return (low, high) if x >= 0 else (one - high, one - low)

    # --- of vectors -----------------------------------------------------------------------------

    def softmax(self, scores: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Centers and radii of exp(s_t) / Σ exp(s), for scores given by center and radius."""
        one, bits = 1 << self.bits, self.bits
        top = max(center + radius for center, radius in scores)
        lows = [self.exp(top - c + r)[0] for c, r in scores]
        highs = [self.exp(top - c - r)[1] for c, r in scores]
        least, most = sum(lows), sum(highs)
        if least <= 0:
            raise Undecided("the attention scores are not known well enough at this precision")
        spend("The softmax", 12 * len(scores) + 40, 2 * bits, bits)
        found = []
        for low, high in zip(lows, highs, strict=True):
            low, high = (low << bits) // most, min(-(-(high << bits) // least), one)
            found.append((low + high >> 1, (high - low >> 1) + 1))
        return found

    def normalised(self, x: Ball, kind: str, eps: Fraction) -> Ball:
        """(x - mean) / sqrt(variance + eps), or x / sqrt(mean square + eps) for the kind ``rms``.

        With u = d x - Σ x the first is u sqrt(d / (Σ u² + eps d³)); the second is
        x sqrt(d / (Σ x² + eps d)).
        """
        d, u, error, bits = len(x.center), x.center, x.radius, self.bits
        if kind == "layer":
            total = sum(u)
            u, error, eps = [d * c - total for c in u], 2 * d * error, eps * d * d
        spend("A norm", 4 * d + 60, 2 * bits, 2 * bits)
        squares = sum(map(operator.mul, u, u))
        wide = 2 * error * sum(map(abs, u)) + d * error * error
        shift = eps * d * (1 << 2 * bits)
        low, high = squares - wide + math.floor(shift), squares + wide + math.ceil(shift)
        if low <= 0:
            raise Undecided("the variance before a norm may be zero at this precision")
        k = bits + high.bit_length() // 2 + 8
        multiply("A norm", 4, 2 * k)
        least, most = math.isqrt((d << 2 * k) // high), math.isqrt((d << 2 * k) // low) + 1
        largest = max(map(abs, u))
        radius = upward(largest * (most - least) + error * most, k - bits) + 1
        return Ball([c * least >> k - bits for c in u], radius)

    def gated(self, x: Ball, gates: Sequence[tuple[int, int]], error: int) -> Ball:
        """x_i g_i for gates in [0, 1] that are off by at most ``error`` more."""
        radius = error + (max(high - low for low, high in gates) >> 1) + 1
        return times(x, Ball([low + high >> 1 for low, high in gates], radius), self.bits)

    def relu(self, x: Ball) -> Ball:
        """max(x, 0)."""
        return Ball([max(c, 0) for c in x.center], x.radius)

    def gelu(self, x: Ball) -> Ball:
        """x Φ(x)."""
        return self.gated(x, [self.normal(c) for c in x.center], -(-2 * x.radius // 5))

    def silu(self, x: Ball) -> Ball:
        """x σ(x)."""
        return self.gated(x, [self.logistic(c) for c in x.center], upward(x.radius, 2))

    def gelu_tanh(self, x: Ball) -> Ball:
        """x σ(2 sqrt(2/π) (x + 0.044715 x³)), the usual approximation of the former by tanh."""
        bits, (low, high) = self.bits, self.pi
        most = math.isqrt((8 << 2 * bits + self.w) // low) + 1
        root = Ball([most] * len(x.center), most - math.isqrt((8 << 2 * bits + self.w) // high))
        square = times(x, x, bits)
        bent = [(1 << bits) + c * 44_715 // 1_000_000 for c in square.center]
        y = times(root, times(x, Ball(bent, square.radius + 1), bits), bits)
        return self.gated(x, [self.logistic(c) for c in y.center], upward(y.radius, 2))


ACTIVATIONS: Mapping[str, Callable[[Functions, Ball], Ball]] = {
    "relu": Functions.relu,
    "gelu": Functions.gelu,
    "gelu-tanh": Functions.gelu_tanh,
    "silu": Functions.silu,
}
