"""How many bits and squarings a check of memorization needs: the kernel's computation, done before.

What is computed here is what ``theory/formal/reflect_memorization.v`` computes, with the same
rounding; the kernel does it again, and nothing here is trusted. The least precision that decides
every fact makes the proof fast.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lemmax.theory.proving.theorem import NotTranslated

LADDER = ((32, 10), (48, 16), (64, 20), (96, 36), (128, 48), (256, 96))
Enclosure = tuple[int, int]
Integers = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Circuits:
    """W_E W_U, and x W_Q, x W_K^T and W_VO of each head, in integers; and denominators."""

    EU: Integers
    heads: Sequence[tuple[Integers, Integers, Integers]]
    scores: int
    logits: int
    direct: int


def circuits(data: Mapping[str, Any]) -> Circuits:
    """The circuits of the weights dE, ..., O of a layer."""
    E, U = data["E"], data["U"]
    heads = [
        (_times(E, Q), _times(E, _turned(K)), _times(_times(_times(E, V), out), U))
        for Q, K, V, out in zip(*(data[x] for x in "QKVO"), strict=True)
    ]
    dE, dU, dQ, dK, dV, dO = (data[f"d{x}"] for x in "EUQKVO")
    return Circuits(_times(E, U), heads, dE * dQ * dK * dE, dE * dV * dO * dU, dV * dO)


def _turned(M: Integers) -> list[list[int]]:
    return [list(column) for column in zip(*M, strict=True)]


def _times(A: Integers, B: Integers) -> list[list[int]]:
    columns = _turned(B)
    return [[sum(x * y for x, y in zip(a, b, strict=True)) for b in columns] for a in A]


def needed(
    data: Mapping[str, Any],
    facts: Sequence[Sequence[int]],
    tau: Fraction | None = None,
    counts: Sequence[bool] | None = None,
) -> tuple[int, int]:
    """The least bits and squarings of the ladder that decide all facts.

    NotTranslated if none does: then a logit is too close to another, or a probability to τ.
    """
    C = circuits(data)
    tokens = counts or [True] * len(C.EU)
    for bits, squarings in LADDER:
        if all(_decides(C, bits, squarings, fact, tau, tokens) for fact in facts):
            return bits, squarings
    raise NotTranslated("A fact is too close to be decided by enclosures of 256 bits.")


def exp_low(z: int, w: int, k: int) -> int:
    """A number below 2^w exp(z / 2^w), by k squarings."""
    b = (1 << w) + (min(z, w << w) >> k)
    if b < 0:
        return 0
    for _ in range(k):
        b = (b * b) >> w
    return b


def _rational(x: Fraction, w: int) -> Enclosure:
    low = (x.numerator << w) // x.denominator
    return (low, low) if x.denominator == 1 else (low, low + 1)


def _attention(x: Fraction, w: int, k: int) -> Enclosure | None:
    """1 / (1 + exp x), enclosed."""
    if x == 0:
        return _rational(Fraction(1, 2), w)
    P, (low, high) = 1 << w, _rational(x, w)
    below = exp_low(-high, w, k)
    if below <= 0:
        return None
    first, second = P + exp_low(low, w, k), P + P * P // below + 1
    return (P * P // second, P * P // first + 1) if first > 0 else None


def _decides(
    C: Circuits,
    w: int,
    k: int,
    fact: Sequence[int],
    tau: Fraction | None,
    counts: Sequence[bool],
) -> bool:
    P = 1 << w
    key, query, value = fact
    row = C.EU[query]
    highs = [P * C.direct * (x - row[value]) for x in row]
    for XQ, XK, VO in C.heads:
        s = sum(x * (a - b) for x, a, b in zip(XQ[query], XK[key], XK[query], strict=True))
        al = _attention(Fraction(-s, C.scores), w, k)
        if al is None:
            return False
        a, b = VO[key], VO[query]
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            rest = y - b[value]
            c = x - a[value] - rest
            highs[i] += P * rest + (al[1] if c >= 0 else al[0]) * c
    if tau is None:
        return all(high < 0 for i, high in enumerate(highs) if i != value)
    total, far = P, -((w << w) * C.logits)
    for i, high in enumerate(highs):
        if i == value or not counts[i]:
            continue
        if high <= far:
            total += 1
            continue
        low = exp_low(-high // C.logits, w, k)
        if low <= 0:
            return False
        total += P * P // low + 1
    return tau.numerator * total <= P * tau.denominator
