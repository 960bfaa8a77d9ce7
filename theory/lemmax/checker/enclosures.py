"""Real numbers between integers over a power of two, always rounded outwards."""

import functools
import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from .arithmetic import height, ratio
from .limits import LIMITS, multiply, spend

FIRST_PRECISION = 64


def precisions() -> Iterator[int]:
    bits = FIRST_PRECISION
    while bits <= LIMITS["precision bits"]:
        yield bits
        bits *= 2


def exp_minus(x: Fraction, bits: int, most: Fraction | None = None) -> tuple[int, int]:
    """Integers lo <= 2^bits · e^-t <= hi for a rational t = x >= 0, or for all x <= t <= most.

    e^y for y = t / 2^k < 1/2 is summed from its Taylor series, once rounding down and once
    rounding up; it is inverted and squared k times, rounding outwards.
    """
    most = x if most is None else most
    if x >= bits:
        return 0, 1  # e^-x <= 2^-x
    if not most:
        return 1 << bits, 1 << bits
    halvings = int(most).bit_length() + 2 + math.isqrt(bits) // 3
    guard = halvings + 16
    w = bits + guard
    terms = w // (2 + math.isqrt(bits) // 3)  # at most, and half as long in the mean
    multiply("An exponential", 50 + 3 * (terms // 2 + halvings), w)
    long = height((x, most))
    spend("An exponential", 4, max(long, w), max(long, w))
    one = 1 << w
    y_low = (x.numerator << w) // (x.denominator << halvings)
    y_high = (most.numerator << w) // (most.denominator << halvings) + 1
    low = high = sum_low = sum_high = one
    n = 0
    while high > 1:
        n += 1
        low = (low * y_low >> w) // n
        high = (high * y_high >> w) // n + 1
        sum_low += low
        sum_high += high
    sum_high += high  # the tail: each further term is less than half of the one before it
    low = (one << w) // sum_high
    high = (one << w) // sum_low + 1
    for _ in range(halvings):
        low = low * low >> w
        high = (high * high >> w) + 1
    return low >> guard, (high >> guard) + 1


@functools.lru_cache(maxsize=64)
def ln2(bits: int) -> tuple[Fraction, Fraction]:
    """Rationals lo <= ln 2 <= hi: ln 2 = Σ 1/(n 2^n), where the tail after n = N is below 2^-N."""
    low = sum((1 << 2 * bits - n) // n for n in range(1, bits + 1))
    return Fraction(low, 1 << 2 * bits), Fraction(low + bits + (1 << bits), 1 << 2 * bits)


def power(s: Fraction, unit: str, bits: int) -> tuple[int, int]:
    """Integers lo <= 2^bits · exp(-s·unit) <= hi for a rational s >= 0."""
    if unit == "1":
        return exp_minus(s, bits)
    if s > bits:
        return 0, 1
    low, high = ln2(bits + int(s).bit_length() + 8)
    long = height((s,)) + 2 * bits
    spend("A power of two", 8, long, long)
    return exp_minus(s * low, bits, s * high)


def sigmoid(s: Fraction, unit: str, bits: int) -> tuple[int, int]:
    """Integers lo <= 2^bits · 1/(1 + exp(-s·unit)) <= hi for a rational s >= 0."""
    low, high = power(s, unit, bits)
    one = 1 << bits
    return (one << bits) // (one + high), (one << bits) // (one + low) + 1


def weights(scores: Sequence[int], q: int, unit: str, bits: int) -> list[tuple[int, int]]:
    """Enclosures of 2^bits · exp((s - max s)·unit) for the scores s / q of one softmax."""
    top = max(scores)
    return [power(ratio(top - s, q), unit, bits) for s in scores]


def log_bounds(x: Fraction, bits: int) -> tuple[int, int]:
    """Integers lo <= 2^bits · ln x <= hi for a rational x > 0.

    ln(2^k y) = k ln 2 + ln y, 1 <= y < 2, and ln y = 2 Σ t^(2n+1)/(2n+1), t = (y-1)/(y+1) < 1/3;
    the sum is increasing in t and is taken once rounding down, once rounding up.
    """
    if x < 1:
        low, high = log_bounds(1 / x, bits)
        return -high, -low
    k = (x.numerator // x.denominator).bit_length() - 1
    guard = 16 + k.bit_length()
    w = bits + guard
    multiply("A logarithm", 100 + 3 * w, w)
    spend("A logarithm", 4, height((x,)) + w, height((x,)))

    def series(t: int, up: int) -> int:
        total, term, n, square = 0, t, 1, (t * t >> w) + up
        while term > up:
            total, term, n = total + term // n + up, (term * square >> w) + up, n + 2
        return 2 * (total + 2 * up)  # the tail is below 9/8 of the last term, which is at most 1

    a, b = x.numerator, x.denominator << k
    t, third = ((a - b) << w) // (a + b), (1 << w) // 3
    low, high = series(t, 0), series(t + 1, 1)
    if k:
        low, high = low + k * series(third, 0), high + k * series(third + 1, 1)
    return low >> guard, (high >> guard) + 1


def x_log_x(row: Iterable[Fraction], bits: int) -> tuple[int, int]:
    """Integers lo <= 2^bits · Σ x ln x <= hi for rationals x >= 0; 0 ln 0 = 0."""
    logs = [(x, log_bounds(x, bits)) for x in row if x]
    return sum(math.floor(x * a) for x, (a, _) in logs), sum(math.ceil(x * b) for x, (_, b) in logs)


# --- softmax against a threshold ----------------------------------------------------------------


class Logits(NamedTuple):
    """Distinct columns j with low_j <= scale · z_j <= high_j; counts_j tokens share z_j."""

    lows: Sequence[int]
    highs: Sequence[int]
    scale: int
    counts: Sequence[int]
    wanted: int

    def gap(self, top: int, bound: int) -> Fraction:
        """(top - bound) / scale, in lowest terms."""
        return ratio(top - bound, self.scale)


def probability_at_least(z: Logits, tau: Fraction, bits: int) -> bool | None:
    """Whether e^z_w / Σ_j counts_j e^z_j >= τ for the wanted w; None: not decided.

    With a logit besides z_w the condition reads
    (1 - τ counts_w) e^z_w >= τ Σ_{j ≠ w} counts_j e^z_j, and all z may be lowered by one constant.
    """
    own = tau.denominator - tau.numerator * z.counts[z.wanted]
    if len(z.highs) == 1 or own <= 0:
        return len(z.highs) == 1 and own >= 0
    top = max(z.highs)
    spend("The probability", 4 * len(z.highs), height((tau,)), bits, flat=30 * len(z.highs))
    low_gap = high_gap = 0  # of left side minus right side
    for j, (low, high) in enumerate(zip(z.lows, z.highs, strict=True)):
        most = None if low == high else z.gap(top, low)
        weight_low, weight_high = exp_minus(z.gap(top, high), bits, most)
        if j == z.wanted:
            low_gap, high_gap = low_gap + own * weight_low, high_gap + own * weight_high
        else:
            share = tau.numerator * z.counts[j]
            low_gap, high_gap = low_gap - share * weight_high, high_gap - share * weight_low
    return True if low_gap >= 0 else False if high_gap < 0 else None


def probably(z: Logits, tau: Fraction) -> bool:
    """A quick sufficient test: e^-a <= 2^-n where n <= 1477/1024 a, since log2(e) > 1.4426."""
    top, own = max(z.highs), z.counts[z.wanted]
    bits = max(top.bit_length(), min(z.highs).bit_length())
    spend("The probability", 6 * len(z.highs) + 4, bits + 11, z.scale.bit_length())
    unit = z.scale << 10
    powers = [(top - high) * 1477 // unit for high in z.highs]
    weights = [c << 64 - n if n < 64 else c for c, n in zip(z.counts, powers, strict=True)]
    spend("The probability", 4, height((tau,)), 128)
    share, others = tau.denominator - tau.numerator * own, sum(weights) - weights[z.wanted]
    lead = exp_minus(z.gap(top, z.lows[z.wanted]), 64)[0]
    return share > 0 and share * lead >= tau.numerator * others
