"""The independent checker of lemmax certificates: one file, standard library only.

Usage: ``python checker.py CERTIFICATE...`` (``--json`` for machines, ``--limits`` for the sizes).
Exit status 0: every certificate holds; 1: one is well formed and does not hold, and the last line
says which step failed; 2: a file is not a certificate.

What is trusted
    Python's integers, ``fractions``, ``json``, ``re`` and ``ast``, this file, and these theorems:

    * a minor of an integer matrix that is nonzero mod a prime is nonzero, so it bounds the rank
      from below (a rank mod p never bounds it from above);
    * Miller-Rabin with the first thirteen primes as bases decides primality below
      3317044064679887385961981 (Sorenson and Webster 2015);
    * Hermite: e^(1/q) is transcendental; Lindemann: exponentials of distinct rationals are linearly
      independent over Q; Cauchy: the roots of an integer polynomial whose coefficients are at most
      A in absolute value are smaller than 1 + A;
    * 1 and σ(s) = 1/(1 + e^-s) for distinct rationals s > 0 are linearly independent over Q. With
      z = e^(1/q) and s = n/q, σ(s) = z^n/(z^n + 1) has a pole at exp(iπ/n); that pole is missing
      from every smaller n, so the coefficient of the largest n in a relation is zero, and so on;
    * Gibbs: Σ q ln s <= Σ q ln q for distributions q, s; and the entropy is concave;
    * Banach: a contraction of a closed ball has a fixed point in it.

What is not trusted
    The certificate and whoever made it. Floating point is not used at all: real numbers are
    enclosed between integers over a power of two, always rounded outwards. What cannot be decided
    within LIMITS does not hold, and the checker says so; it never counts as false either, so that
    a refutation cannot be built on a lack of precision.
"""

from __future__ import annotations

import argparse
import ast
import contextvars
import functools
import io
import itertools
import json
import math
import operator
import os
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, NoReturn

LIMITS: dict[str, int] = {
    "file bytes": 64_000_000,
    "nesting": 12,
    "decimal digits": 4_000,
    "hex digits": 400_000,
    "exponent": 1_000_000,
    "bits in memory": 2_000_000_000,  # of dyadic numbers, and of numbers over a common denominator
    "hex digits times exponents": 2_500_000_000_000,  # bounds the time to reduce dyadic numbers
    "prime": 3_317_044_064_679_887_385_961_981,
    "precision bits": 8_192,
    "comparison characters": 500,
    "equations": 400,  # of a real decomposition
    "work": 2_500_000_000,  # in units of one small multiplication, about 0.1 microseconds each
    "work in all": 10_000_000_000,  # the same, for all the steps of a certificate
}


class NotACertificate(ValueError):
    """The input is malformed, or too large to be checked; the message is one sentence."""


class Undecided(Exception):
    """A comparison of real numbers stayed open at the largest precision."""


class Step(NamedTuple):
    """One verified, or failed, step of a check."""

    ok: bool
    text: str


@dataclass(frozen=True)
class Verdict:
    """What the checker found: ``steps`` ends with the step that failed if ``holds`` is false."""

    kind: str
    holds: bool
    steps: tuple[str, ...]


class Matrix(tuple[tuple[Fraction, ...], ...]):
    """Rows of equal length, at least one row and one column."""


class Tensor(tuple[Matrix, ...]):
    """A nonempty list of matrices of equal shape; the first index selects the matrix."""


class Integers(tuple[int, ...]):
    """A list of integers."""


class Facts(tuple[tuple[str, str, str], ...]):
    """Triples (key, query, value) of token names, no (key, query) twice."""


@dataclass(frozen=True)
class Head:
    """W_Q: d × d_qk, W_K: d_qk × d, W_V: d × d_vo, W_O: d_vo × d."""

    W_Q: Matrix
    W_K: Matrix
    W_V: Matrix
    W_O: Matrix


@dataclass(frozen=True)
class Layer:
    """One attention layer; its attention scores are multiplied by ``unit`` ("1" or "ln2")."""

    tokens: tuple[str, ...]
    unit: str
    W_E: Matrix
    W_U: Matrix
    heads: tuple[Head, ...]


@dataclass(frozen=True)
class MultiHead:
    """Heads (W_K, W_Q, V or None) on contexts (n × d) and queries; logits are times ``scale``."""

    contexts: tuple[Matrix, ...]
    context_of: tuple[int, ...]
    queries: Matrix
    scale: str
    heads: tuple[tuple[Matrix, Matrix, Matrix | None], ...]


# --- reading ------------------------------------------------------------------------------------


def refuse(where: str, why: str) -> NoReturn:
    raise NotACertificate(f"{where} {why}.")


def brief(value: object) -> str:
    """A short harmless name for anything a certificate may contain."""
    if isinstance(value, str):
        return ascii(value if len(value) <= 48 else value[:48] + "...")
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, (int, Fraction)):
        number = Fraction(value)
        bits = max(number.numerator.bit_length(), number.denominator.bit_length())
        return str(number) if bits <= 400 else f"<a number of {bits} bits>"
    names = {list: "a list", dict: "an object", float: "a float"}
    return names.get(type(value), f"a {type(value).__name__}")


def screen(value: object, depth: int, spent: list[int]) -> None:
    """Refuse what no certificate contains, whatever its kind, before anything is computed."""
    if depth > LIMITS["nesting"]:
        refuse("The certificate", f"is nested more than {LIMITS['nesting']} deep")
    if type(value) is list:
        for item in value:
            screen(item, depth + 1, spent)
    elif type(value) is dict:
        for key, item in value.items():
            if type(key) is not str:
                refuse("A field name", "is not a string")
            screen(item, depth + 1, spent)
    elif type(value) is str:
        if dyadic := _HEX.fullmatch(value):
            exponent = abs(int(dyadic[3] or 0))
            spent[0] += exponent
            spent[1] += len(value) * exponent
        if spent[0] > LIMITS["bits in memory"] or spent[1] > LIMITS["hex digits times exponents"]:
            refuse("The certificate", "has too many dyadic numbers with large exponents")
        if len(value) > LIMITS["hex digits"] + 20:
            refuse("A string of the certificate", "is too long")
    elif type(value) is not int or abs(value) >= 2**53:
        refuse(brief(value), "is neither an object, a list, a string nor an integer below 2^53")


def fields(value: object, where: str, names: str) -> dict[str, Any]:
    """An object with exactly the named fields."""
    if type(value) is not dict:
        refuse(where, f"must be an object, not {brief(value)}")
    for name in names.split():
        if name not in value:
            refuse(where, f"lacks the field {name}")
    for name in value:
        if name not in names.split():
            refuse(where, f"has an unknown field {brief(name)}")
    return value


def items(value: object, where: str, least: int = 1) -> list[Any]:
    if type(value) is not list or len(value) < least:
        refuse(where, f"must be a {'nonempty ' * least}list, not {brief(value)}")
    return value


def choice(value: object, where: str, options: Sequence[str]) -> str:
    if type(value) is not str or value not in options:
        refuse(where, f"must be one of {', '.join(options)}, not {brief(value)}")
    return value


def variant(value: object, where: str, tag: str, options: Mapping[str, str]) -> str:
    """The tag of an object whose further fields depend on it, as ``options`` says."""
    if type(value) is not dict:
        refuse(where, f"must be an object, not {brief(value)}")
    found = choice(value.get(tag), f"{where}.{tag}", tuple(options))
    fields(value, where, f"{tag} {options[found]}")
    return found


def integer(value: object, where: str, below: int) -> int:
    """A JSON integer in 0..below-1."""
    if type(value) is not int or not 0 <= value < below:
        refuse(where, f"must be an integer in 0..{below - 1}, not {brief(value)}")
    return value


def indices(value: object, where: str, below: int) -> list[int]:
    """Distinct JSON integers in 0..below-1."""
    found = [integer(x, f"An entry of {where}", below) for x in items(value, where, 0)]
    if len(set(found)) != len(found):
        refuse(where, "repeats an index")
    return found


_DIGITS = f"[1-9][0-9]{{0,{LIMITS['decimal digits'] - 1}}}"
_HEX_DIGITS = f"[1-9a-f][0-9a-f]{{0,{LIMITS['hex digits'] - 1}}}"
_DECIMAL = re.compile(rf"(0|-?{_DIGITS})(?:/({_DIGITS}))?")
_HEX = re.compile(rf"(-?)0x(0|{_HEX_DIGITS})(?:p(0|-?[1-9][0-9]{{0,6}}))?")


def number(value: object, where: str = "The entry") -> Fraction:
    """An exact number: decimal integer, fraction in lowest terms, hex integer or hex dyadic."""
    if type(value) is not str:
        refuse(where, f"must be an exact number in a string, not {brief(value)}")
    if parts := _DECIMAL.fullmatch(value):
        if parts[2] is None:
            return Fraction(int(parts[1]))
        found = Fraction(int(parts[1]), int(parts[2]))
        if found.denominator != int(parts[2]) or found.denominator == 1:
            refuse(where, f"is the fraction {brief(value)}, which is not in lowest terms")
        return found
    if parts := _HEX.fullmatch(value):
        mantissa, exponent = int(parts[2], 16), int(parts[3] or 0)
        if abs(exponent) > LIMITS["exponent"]:
            refuse(where, f"has an exponent beyond {LIMITS['exponent']}")
        if parts[1] and not mantissa:
            refuse(where, "is a negative zero")
        mantissa = -mantissa if parts[1] else mantissa
        return Fraction(mantissa << max(exponent, 0), 1 << max(-exponent, 0))
    refuse(where, f"is {brief(value)}, which is not an exact number")


def whole(value: object, where: str) -> int:
    found = number(value, where)
    if found.denominator != 1:
        refuse(where, f"is {brief(found)}, which is not an integer")
    return found.numerator


def matrix(
    value: object, where: str, rows: int | None = None, columns: int | None = None
) -> Matrix:
    """A nonempty list of nonempty rows of exact numbers, all of one length."""
    table = items(value, where)
    width = columns if columns is not None else len(items(table[0], f"{where}[0]"))
    if rows is not None and len(table) != rows:
        refuse(where, f"must have {rows} rows, not {len(table)}")
    for i, row in enumerate(table):
        if len(items(row, f"{where}[{i}]")) != width:
            refuse(f"{where}[{i}]", f"must have {width} entries, not {len(row)}")
    return Matrix(tuple(number(x, f"An entry of {where}") for x in row) for row in table)


def prime(value: object, where: str) -> int:
    """A prime, which is proved to be one."""
    p = whole(value, where)
    if p >= LIMITS["prime"]:
        refuse(where, f"must be below {LIMITS['prime']}")
    if not is_prime(p):
        refuse(where, f"is {brief(p)}, which is not a prime")
    return p


def layer(value: object, where: str) -> Layer:
    data = fields(value, where, "tokens unit W_E W_U heads")
    tokens = items(data["tokens"], f"{where}.tokens")
    for token in tokens:
        if type(token) is not str or not token:
            refuse(f"{where}.tokens", f"must be nonempty strings, not {brief(token)}")
    if len(set(tokens)) != len(tokens):
        refuse(f"{where}.tokens", "repeats a token")
    unit = choice(data["unit"], f"{where}.unit", ("1", "ln2"))
    embedding = matrix(data["W_E"], f"{where}.W_E", rows=len(tokens))
    d = len(embedding[0])
    heads = []
    for i, head in enumerate(items(data["heads"], f"{where}.heads", 0)):
        here = f"{where}.heads[{i}]"
        part = fields(head, here, "W_Q W_K W_V W_O")
        W_Q = matrix(part["W_Q"], f"{here}.W_Q", rows=d)
        W_V = matrix(part["W_V"], f"{here}.W_V", rows=d)
        W_K = matrix(part["W_K"], f"{here}.W_K", rows=len(W_Q[0]), columns=d)
        W_O = matrix(part["W_O"], f"{here}.W_O", rows=len(W_V[0]), columns=d)
        heads.append(Head(W_Q, W_K, W_V, W_O))
    unembedding = matrix(data["W_U"], f"{where}.W_U", rows=d, columns=len(tokens))
    return Layer(tuple(tokens), unit, embedding, unembedding, tuple(heads))


def multi_head(value: object, where: str) -> MultiHead:
    data = fields(value, where, "contexts context_of queries scale heads")
    contexts = tensor_value(data["contexts"], f"{where}.contexts")
    of = [integer(c, "context_of", len(contexts)) for c in items(data["context_of"], "context_of")]
    queries = matrix(data["queries"], f"{where}.queries", rows=len(of))
    scale = data["scale"]
    if type(scale) is not str or not re.fullmatch(r"1|ln2|1/sqrt\([1-9][0-9]{0,8}\)", scale):
        refuse(f"{where}.scale", "must be 1, ln2 or 1/sqrt(N)")
    heads, outputs = [], set()
    for head in items(data["heads"], f"{where}.heads"):
        known = type(head) is dict and "V" in head
        part = fields(head, "A head", "W_K W_Q" + " V" * known)
        W_K = matrix(part["W_K"], "W_K", rows=len(contexts[0][0]))
        W_Q = matrix(part["W_Q"], "W_Q", rows=len(queries[0]), columns=len(W_K[0]))
        V = matrix(part["V"], "V", rows=len(W_K)) if known else None
        heads.append((W_K, W_Q, V))
        outputs.add(len(V[0]) if V else 0)
    if len(outputs) != 1:
        refuse(f"{where}.heads", "have different numbers of outputs")
    return MultiHead(tuple(contexts), tuple(of), queries, scale, tuple(heads))


def triples(value: object, where: str) -> list[list[Any]]:
    """A nonempty list of lists of three."""
    table = items(value, where)
    for i, fact in enumerate(table):
        if len(items(fact, f"{where}[{i}]")) != 3:
            refuse(f"{where}[{i}]", "must have three entries")
    return table


def no_repeated_question(facts: Iterable[tuple[object, object, object]], where: str) -> None:
    asked: set[tuple[object, object]] = set()
    for k, q, _ in facts:
        if (k, q) in asked:
            refuse(where, f"has two facts about ({brief(k)}, {brief(q)})")
        asked.add((k, q))


# --- integers, mod p, and over Q ----------------------------------------------------------------


_TALLY: contextvars.ContextVar[list[int]] = contextvars.ContextVar("tally")  # work in all so far


def affordable(operations: int, bits_a: int, bits_b: int, what: str) -> None:
    """Refuse a computation of so many products of numbers of so many bits if it is too long."""
    work = operations * (1 + bits_a * bits_b // 60_000)
    if work > LIMITS["work"]:
        refuse(what, f"would take {work:.1e} units of work, and the limit is {LIMITS['work']:.1e}")
    tally = _TALLY.get([0])
    tally[0] += work
    if tally[0] > LIMITS["work in all"]:
        refuse(what, f"brings the work to {tally[0]:.1e}, above {LIMITS['work in all']:.1e}")


def storable(count: int, bits: int, what: str) -> None:
    """Refuse to keep so many numbers of so many bits if they take too much memory."""
    if count * bits > LIMITS["bits in memory"]:
        refuse(what, f"leads to {count} numbers of about {bits} bits, which are too long")


def is_prime(n: int) -> bool:
    """Deterministic Miller-Rabin: exact for n below LIMITS["prime"]."""
    bases = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)
    if n < 2 or any(n % b == 0 for b in bases):
        return n in bases
    odd, twos = n - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for base in bases:
        x = pow(base, odd, n)
        if x == 1 or any(pow(x, 1 << i, n) == n - 1 for i in range(twos)):
            continue
        return False
    return True


def bits_of(rows: Iterable[Iterable[int]]) -> int:
    return max((x.bit_length() for row in rows for x in row), default=0)


def common_denominator(values: Collection[Fraction]) -> int:
    """The least d > 0 that makes all the values integers; refused if that takes too many bits."""
    d = 1
    for denominator in {x.denominator for x in values}:
        d = math.lcm(d, denominator)
        if d.bit_length() * len(values) > LIMITS["bits in memory"]:
            refuse("The common denominator", "would be too long")
    return d


def cleared(row: Sequence[Fraction]) -> tuple[list[int], int]:
    """Integers a and d > 0 with row = a / d."""
    d = common_denominator(row)
    return [x.numerator * (d // x.denominator) for x in row], d


def cleared_rows(rows: Iterable[Sequence[Fraction]]) -> list[tuple[list[int], int]]:
    """The rows, each cleared; refused if they take too many bits together."""
    found, spent = [], 0
    for row in rows:
        found.append(cleared(row))
        spent += found[-1][1].bit_length() * len(row)
        if spent > LIMITS["bits in memory"]:
            refuse("The common denominators", "would be too long")
    return found


def cleared_all(matrices: Sequence[Matrix]) -> tuple[list[list[list[int]]], int]:
    """Integer matrices A_i and one d > 0 with matrices_i = A_i / d."""
    d = common_denominator([x for M in matrices for row in M for x in row])
    return [[[x.numerator * (d // x.denominator) for x in row] for row in M] for M in matrices], d


def dot(a: Iterable[int], b: Iterable[int]) -> int:
    return sum(map(operator.mul, a, b))


def times(row: Sequence[int], rows: Sequence[Sequence[int]]) -> list[int]:
    """The row vector row · rows."""
    return [dot(row, column) for column in zip(*rows, strict=True)]


def nonsingular_mod(rows: Sequence[Sequence[int]], p: int) -> bool:
    """Whether a square integer matrix has a nonzero determinant mod the prime p."""
    affordable(len(rows) ** 3 // 3, p.bit_length(), p.bit_length(), "The elimination mod p")
    left = [[x % p for x in row] for row in rows]
    while left:
        found = next((i for i, row in enumerate(left) if row[0]), None)
        if found is None:
            return False
        pivot, *top = left.pop(found)
        inverse = pow(pivot, -1, p)
        for i, (first, *row) in enumerate(left):
            f = first * inverse % p
            left[i] = [(x - f * y) % p for x, y in zip(row, top, strict=True)] if f else row
    return True


def integer_rank(rows: Sequence[Sequence[int]], what: str) -> int:
    """The rank over Q of an integer matrix, by Bareiss' fraction-free elimination.

    After k pivots the entries are minors of order k + 1, up to sign, so each division by the
    previous pivot is exact and no entry exceeds the Hadamard bound.
    """
    m, n = len(rows), len(rows[0])
    hadamard = min(m, n) * (bits_of(rows) + n.bit_length())
    affordable(2 * m * n * min(m, n) // 3, hadamard, hadamard // 10, what)
    left, previous, rank = [list(row) for row in rows], 1, 0
    while left and left[0]:
        found = next((i for i, row in enumerate(left) if row[0]), None)
        if found is None:
            left = [row[1:] for row in left]
            continue
        pivot, *top = left.pop(found)
        left = [
            [(pivot * x - first * y) // previous for x, y in zip(row, top, strict=True)]
            for first, *row in left
        ]
        previous, rank = pivot, rank + 1
    return rank


# --- enclosures of real numbers -----------------------------------------------------------------


def exp_minus(x: Fraction, bits: int) -> tuple[int, int]:
    """Integers lo <= 2^bits · e^-x <= hi for a rational x >= 0.

    e^y for y = x / 2^k < 1/2 is summed from its Taylor series, once rounding down and once
    rounding up; it is inverted and squared k times, rounding outwards.
    """
    if x >= bits:
        return 0, 1  # e^-x <= 2^-x
    halvings = int(x).bit_length() + 2 + math.isqrt(bits) // 3
    guard = halvings + 16
    w = bits + guard
    one = 1 << w
    y_low = (x.numerator << w) // (x.denominator << halvings)
    y_high = y_low + 1
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
    return exp_minus(s * high, bits)[0], exp_minus(s * low, bits)[1]


def sigmoid(s: Fraction, unit: str, bits: int) -> tuple[int, int]:
    """Integers lo <= 2^bits · 1/(1 + exp(-s·unit)) <= hi for a rational s >= 0."""
    low, high = power(s, unit, bits)
    one = 1 << bits
    return (one << bits) // (one + high), (one << bits) // (one + low) + 1


class Logits(NamedTuple):
    """Distinct columns j with low_j <= scale · z_j <= high_j; counts_j tokens share z_j."""

    bounds: Sequence[tuple[int, int]]
    scale: int
    counts: Sequence[int]
    wanted: int


def probability_at_least(z: Logits, tau: Fraction, bits: int) -> bool | None:
    """Whether e^z_w / Σ_j counts_j e^z_j >= τ for the wanted w; None: not decided.

    With a logit besides z_w the condition reads
    (1 - τ counts_w) e^z_w >= τ Σ_{j ≠ w} counts_j e^z_j, and all z may be lowered by one constant.
    """
    own = tau.denominator - tau.numerator * z.counts[z.wanted]
    if len(z.bounds) == 1 or own <= 0:
        return len(z.bounds) == 1 and own >= 0
    top = max(high for _, high in z.bounds)
    low_gap = high_gap = 0  # of left side minus right side
    for j, (low, high) in enumerate(z.bounds):
        weight_low = exp_minus(Fraction(top - low, z.scale), bits)[0]
        weight_high = exp_minus(Fraction(top - high, z.scale), bits)[1]
        if j == z.wanted:
            low_gap, high_gap = low_gap + own * weight_low, high_gap + own * weight_high
        else:
            share = tau.numerator * z.counts[j]
            low_gap, high_gap = low_gap - share * weight_high, high_gap - share * weight_low
    return True if low_gap >= 0 else False if high_gap < 0 else None


@functools.cache
def _table(steps: int, size: int) -> list[int]:
    """Upper bounds of 2^64 · e^(-i/steps) for i < size."""
    return [exp_minus(Fraction(i, steps), 64)[1] for i in range(size)]


def probably(z: Logits, tau: Fraction) -> bool:
    """A quick sufficient test for the same: e^-a <= e^-n e^-(m/1024) if n + m/1024 <= a."""
    units, parts = _table(1, 65), _table(1024, 1024)
    top = max(high for _, high in z.bounds)
    total = 0
    for j, (_, high) in enumerate(z.bounds):
        if j != z.wanted:
            n = ((top - high) << 10) // z.scale
            weight = (units[n >> 10] * parts[n & 1023] >> 64) + 1 if n < 65_536 else 1
            total += z.counts[j] * weight
    share = tau.denominator - tau.numerator * z.counts[z.wanted]
    own = exp_minus(Fraction(top - z.bounds[z.wanted][0], z.scale), 64)[0]
    return share > 0 and share * own >= tau.numerator * total


FIRST_PRECISION = 64


def precisions() -> Iterator[int]:
    bits = FIRST_PRECISION
    while bits <= LIMITS["precision bits"]:
        yield bits
        bits *= 2


# --- the attention layer ------------------------------------------------------------------------


@dataclass(frozen=True)
class Residual:
    """The last residual vector (base + Σ σ(s) delta_s) / denominator, all of it integers.

    The s > 0 are distinct rationals, times the unit; σ is the logistic function.
    """

    base: list[int]
    deltas: dict[Fraction, list[int]]
    denominator: int


class Forward:
    """The forward pass of a layer on (k, q), at the last position (Wong 2025, equations 2 and 3).

    With rows x of W_E, the attention to the position of k is α = σ((x_q W_Q W_K (x_k - x_q)ᵀ)·unit)
    and the logits are y W_U with y = x_q + Σ_h (x_q + α_h (x_k - x_q)) W_V W_O.
    """

    def __init__(self, layer: Layer, facts: int) -> None:
        """Make the weights integers; refuse if so many facts would take too long."""
        self.unit = layer.unit
        self.rows = cleared_rows(layer.W_E)
        W_V, d_v = cleared_all([head.W_V for head in layer.heads])
        W_O, d_o = cleared_all([head.W_O for head in layer.heads])
        W_Q, d_q = cleared_all([head.W_Q for head in layer.heads])
        W_K, d_k = cleared_all([head.W_K for head in layer.heads])
        self.heads = list(zip(W_Q, W_K, W_V, W_O, strict=True))
        self.value_scale, self.score_scale = d_v * d_o, d_q * d_k
        (W_U,), self.unembedding_scale = cleared_all([layer.W_U])
        # Tokens with one and the same column of W_U have the same logit on every input.
        by_token = list(zip(*W_U, strict=True))
        self.columns = list(dict.fromkeys(by_token))
        place = {column: j for j, column in enumerate(self.columns)}
        self.column_of = [place[column] for column in by_token]
        tally = Counter(self.column_of)
        self.counts = [tally[j] for j in range(len(self.columns))]
        self.coordinates = list(zip(*self.columns, strict=True))
        self.norms = [sum(map(abs, column)) for column in self.columns]
        self.parts = functools.cache(self._parts)
        self.patience = LIMITS["work"] // 4  # for what the first precision leaves open
        d, inner = len(self.coordinates), sum(len(k) + len(o) for _, k, _, o in self.heads)
        x = max(bits_of([row]) + scale.bit_length() for row, scale in self.rows)
        w = max(map(bits_of, (*W_Q, *W_K, *W_V, *W_O)), default=0) + self.value_scale.bit_length()
        score = 2 * (x + w) + self.score_scale.bit_length()
        affordable(facts * len(self.heads), score, score, "The attention scores")
        known = min(2 * facts, len(self.rows))
        affordable(known * d * 2 * inner, x + w, w, "The forward pass")
        pairs = facts * (len(self.columns) * (d + 1) + len(self.heads) * (d + 150))
        affordable(pairs, 3 * x + 2 * w + 64, bits_of(W_U), "The comparison of the logits")

    def _parts(self, t: int) -> list[tuple[list[int], list[int], list[int]]]:
        """For each head x W_Q, x W_Kᵀ and x W_V W_O of token t, scaled to integers."""
        x = self.rows[t][0]
        return [
            (times(x, W_Q), [dot(x, row) for row in W_K], times(times(x, W_V), W_O))
            for W_Q, W_K, W_V, W_O in self.heads
        ]

    def residual(self, k: int, q: int) -> Residual:
        d_k, (x_q, d_q) = self.rows[k][1], self.rows[q]
        base = [d_k * self.value_scale * x for x in x_q]
        terms: dict[Fraction, list[int]] = {}
        for (_, key_k, value_k), (query, key_q, value_q) in zip(
            self.parts(k), self.parts(q), strict=True
        ):
            score = d_q * dot(query, key_k) - d_k * dot(query, key_q)
            s = Fraction(score, d_q * d_q * d_k * self.score_scale)
            delta = [d_q * a - d_k * b for a, b in zip(value_k, value_q, strict=True)]
            base = [a + d_k * b for a, b in zip(base, value_q, strict=True)]
            if s < 0:  # σ(s) = 1 - σ(-s)
                base = [a + b for a, b in zip(base, delta, strict=True)]
                delta = [-a for a in delta]
            known = terms.get(abs(s), [0] * len(base))
            terms[abs(s)] = [a + b for a, b in zip(known, delta, strict=True)]
        # Terms with a rational σ(s) = a / (a + 1) join the base over a common denominator.
        rational = {s: 1 << s.numerator for s in terms if self.rational(s)}
        common = math.lcm(*(a + 1 for a in rational.values()))
        base = [common * x for x in base]
        for s, a in rational.items():
            share = common // (a + 1) * a
            base = [x + share * y for x, y in zip(base, terms[s], strict=True)]
        deltas = {
            s: [common * x for x in delta]
            for s, delta in terms.items()
            if s not in rational and any(delta)
        }
        return Residual(base, deltas, common * d_k * d_q * self.value_scale)

    def rational(self, s: Fraction) -> bool:
        """Whether σ(s·unit) is 2^s / (2^s + 1) with a short integer s."""
        return s == 0 or (self.unit == "ln2" and s.denominator == 1 and s <= 256)

    def enclosure(self, y: Residual, bits: int) -> tuple[list[int], int, int]:
        """Integers c_i, R, S > 0 with |S · y_i - c_i| <= R for every coordinate i."""
        center = [a << (bits + 1) for a in y.base]
        radius = [0] * len(center)
        for s, delta in y.deltas.items():
            low, high = sigmoid(s, self.unit, bits)
            center = [c + (low + high) * x for c, x in zip(center, delta, strict=True)]
            radius = [r + (high - low) * abs(x) for r, x in zip(radius, delta, strict=True)]
        return center, max(radius), y.denominator << (bits + 1)

    def highest(self, center: Sequence[int], r: int) -> list[int]:
        """center · u + r |u|_1 for every distinct column u of W_U (made integer)."""
        total = [r * n for n in self.norms]
        for c, coordinate in zip(center, self.coordinates, strict=True):
            if c:
                total = [t + c * x for t, x in zip(total, coordinate, strict=True)]
        return total

    def equal_logits(self, y: Residual, i: int, j: int) -> bool:
        """Whether columns i and j surely have equal logits (in unit "1" this is also necessary)."""
        gap = [a - b for a, b in zip(self.columns[i], self.columns[j], strict=True)]
        return not any(dot(v, gap) for v in (y.base, *y.deltas.values()))

    def strict_argmax(self, k: int, q: int, v: int) -> bool | None:
        """Whether the logit of v exceeds that of every other token; None: not decided."""
        wanted = self.column_of[v]
        if self.counts[wanted] > 1:
            return False
        y = self.residual(k, q)
        rivals = [j for j in range(len(self.columns)) if j != wanted]
        for bits in precisions():
            center, r, _ = self.enclosure(y, bits)
            own, error = dot(center, self.columns[wanted]), r * self.norms[wanted]
            if bits == FIRST_PRECISION:
                highest = self.highest(center, r)
                highest[wanted] = own - error - 1
                if max(highest) < own - error:
                    return True
                rivals = [j for j, x in enumerate(highest) if x >= own - error]
            self.patience -= len(rivals) * bits // 8
            if self.patience <= 0:
                return None
            left = []
            for j in rivals:
                other, margin = dot(center, self.columns[j]), error + r * self.norms[j]
                if other - margin >= own or self.equal_logits(y, wanted, j):
                    return False
                if other + margin >= own:
                    left.append(j)
            if not left:
                return True
            rivals = left
        return None

    def probable(self, k: int, q: int, v: int, tau: Fraction) -> bool | None:
        """Whether softmax(logits)_v >= tau over the full vocabulary; None: not decided."""
        wanted, y = self.column_of[v], self.residual(k, q)
        for bits in precisions():
            center, r, scale = self.enclosure(y, bits)
            scale *= self.unembedding_scale
            bounds = [
                (x - 2 * r * n, x) for x, n in zip(self.highest(center, r), self.norms, strict=True)
            ]
            z = Logits(bounds, scale, self.counts, wanted)
            if bits == FIRST_PRECISION:
                if probably(z, tau):
                    return True
                if all(self.equal_logits(y, wanted, j) for j in range(len(self.columns))):
                    return tau * len(self.column_of) <= 1
            self.patience -= len(self.columns) * bits
            decided = probability_at_least(z, tau, bits) if self.patience > 0 else None
            if decided is not None or self.patience <= 0:
                return decided
        return None

    def knows(self, k: int, q: int, v: int, tau: Fraction | None) -> bool | None:
        """Strict argmax if there is no τ, else probability at least τ; None: not decided."""
        return self.strict_argmax(k, q, v) if tau is None else self.probable(k, q, v, tau)


# --- the kinds ----------------------------------------------------------------------------------


def check_minor(rows: Sequence[Sequence[int]], p: int, rank: int, name: str) -> Step:
    """The lower bound: a minor of order ``rank`` that is nonzero mod p."""
    if len(rows) != rank:
        return Step(False, f"the minor has order {len(rows)} and shows nothing about rank {rank}")
    if nonsingular_mod(rows, p):
        return Step(True, f"rank >= {rank}: a minor of {name} of order {rank} is nonzero mod {p}")
    return Step(False, f"the minor of {name} of order {rank} is zero mod {p}")


def minor_of(data: Mapping[str, Any], m: int, n: int) -> tuple[int, list[int], list[int]]:
    rows = indices(data["rows"], "lower.rows", m)
    columns = indices(data["columns"], "lower.columns", n)
    if len(rows) != len(columns):
        refuse("lower", "has different numbers of rows and columns")
    return prime(data["prime"], "lower.prime"), rows, columns


def size_bound(rank: int, m: int, n: int) -> Step:
    if rank == min(m, n):
        return Step(True, f"rank <= {rank}: the matrix is {m} x {n}")
    return Step(False, f"rank <= {rank} does not follow from the size {m} x {n}")


def check_matrix_rank(data: Mapping[str, Any]) -> Iterator[Step]:
    """rank(M) = r: a nonzero minor of order r, and r = min(m, n) or a factorisation through r."""
    fields(data, "The certificate", "matrix rank lower upper")
    M = matrix(data["matrix"], "matrix")
    m, n = len(M), len(M[0])
    rank = integer(data["rank"], "rank", min(m, n) + 1)
    p, rows, columns = minor_of(fields(data["lower"], "lower", "prime rows columns"), m, n)
    upper = data["upper"]
    method = variant(upper, "upper", "method", {"size": "", "factorisation": "left right"})
    factors: tuple[Matrix, Matrix] | None = None
    if method == "factorisation" and (rank or upper["left"] != [] or upper["right"] != []):
        left = matrix(upper["left"], "upper.left", rows=m)
        factors = left, matrix(upper["right"], "upper.right", rows=len(left[0]), columns=n)

    if any(x.denominator % p == 0 for row in M for x in row):
        yield Step(False, f"the prime {p} divides a denominator of the matrix")
    parts = [[M[i][j] for j in columns] for i in rows]
    residues = [[x.numerator * pow(x.denominator, -1, p) % p for x in part] for part in parts]
    yield check_minor(residues, p, rank, "M")
    if method == "size":
        yield size_bound(rank, m, n)
    elif factors is None:
        yield Step(not any(map(any, M)), "rank <= 0 by the factorisation [] · [], that is, M = 0")
    elif len(factors[1]) != rank:
        inner = len(factors[1])
        yield Step(False, f"a factorisation through dimension {inner} does not show rank {rank}")
    else:
        yield check_product(*factors, M)


def check_product(left: Matrix, right: Matrix, M: Matrix) -> Step:
    """left · right = M, exactly; the rows of left and the columns of right are made integers."""
    rows, columns = cleared_rows(left), cleared_rows(zip(*right, strict=True))
    cost = len(left) * len(right) * len(columns)
    affordable(cost, bits_of(a for a, _ in rows), bits_of(b for b, _ in columns), "The product")
    for i, (a, d) in enumerate(rows):
        for j, (b, e) in enumerate(columns):
            if dot(a, b) * M[i][j].denominator != M[i][j].numerator * d * e:
                return Step(False, f"left · right differs from M at row {i}, column {j}")
    return Step(True, f"rank <= {len(right)}: M = left · right through dimension {len(right)}")


def check_softmax_rank(data: Mapping[str, Any]) -> Iterator[Step]:
    """The rank over R of the row-softmax of M·unit, which is that of its entrywise exponential.

    In unit 1, exp(M_ij) = z^e_ij with z = e^(1/q) transcendental and integers e_ij: a minor is
    zero iff it is the zero polynomial (after shifting exponents). In unit ln2, z is the number 2.
    """
    fields(data, "The certificate", "logits unit rank lower upper")
    M = matrix(data["logits"], "logits")
    m, n = len(M), len(M[0])
    unit = choice(data["unit"], "unit", ("1", "ln2"))
    rank = integer(data["rank"], "rank", min(m, n) + 1)
    lower = fields(data["lower"], "lower", "prime rows columns" + " point" * (unit == "1"))
    p, rows, columns = minor_of(lower, m, n)
    point = whole(lower["point"], "lower.point") if unit == "1" else 2
    if not 2 <= point < p:
        refuse("lower", "must have 2 <= point < prime (in unit ln2 the point is 2)")
    exact = "specialisation" if unit == "1" else "exact"
    methods = {"size": "", "row-classes": "", "column-classes": "", exact: ""}
    method = variant(data["upper"], "upper", "method", methods)
    (exponents,), q = cleared_all([M])
    if unit == "ln2" and q != 1:
        refuse("logits", "must be integers in unit ln2")

    # z0^e is well defined mod p for negative e too, and depends on e mod p - 1 only
    minor = [[pow(point, exponents[i][j] % (p - 1), p) for j in columns] for i in rows]
    yield check_minor(minor, p, rank, "exp(M)" if unit == "ln2" else f"z^e_ij at z = {point}")
    if method == "size":
        yield size_bound(rank, m, n)
    elif method in ("row-classes", "column-classes"):
        lines = exponents if method == "row-classes" else list(zip(*exponents, strict=True))
        classes = len({tuple(x - line[0] for x in line) for line in lines})
        ok = classes == rank
        what = "rows" if method == "row-classes" else "columns"
        text = f"{classes} classes of {what} that are equal up to a constant"
        yield Step(ok, f"rank <= {rank}: {text}" if ok else f"{text}, not {rank}")
    else:
        yield check_exact_softmax_rank(exponents, rank, unit)


def check_exact_softmax_rank(exponents: list[list[int]], rank: int, unit: str) -> Step:
    """rank(z^e_ij) <= r, by the exact rank at an integer z.

    A minor of order r + 1 is, up to a power of z, a polynomial whose integer coefficients are at
    most (r + 1)! in absolute value: it vanishes at z = (r + 1)! + 1 only if it is zero (Cauchy).
    """
    z = 2 if unit == "ln2" else math.factorial(rank + 1) + 1
    for _ in range(2):  # multiply rows, then columns, by powers of z: exponents start from 0
        columns = zip(*exponents, strict=True)
        exponents = [[x - least for x in row] for row in columns for least in [min(row)]]
    bits = max(map(max, exponents)) * z.bit_length()
    affordable(sum(map(len, exponents)), bits, bits, "The matrix z^e_ij")
    found = integer_rank([[z**x for x in row] for row in exponents], "The elimination of z^e_ij")
    if found == rank:
        return Step(True, f"rank <= {rank}: the exact rank at z = {brief(z)} is {found}")
    return Step(False, f"the exact rank at z = {brief(z)} is {found}, not {rank}")


def check_memorization(data: Mapping[str, Any]) -> Iterator[Step]:
    """A layer answers every question (k, q) with v: by strict argmax, or with probability >= τ."""
    fields(data, "The certificate", "layer facts criterion")
    net = layer(data["layer"], "layer")
    count = len(net.tokens)
    facts = [
        (integer(k, "A key", count), integer(q, "A query", count), integer(v, "A value", count))
        for k, q, v in triples(data["facts"], "facts")
    ]
    no_repeated_question(facts, "facts")
    criterion = data["criterion"]
    kind = variant(criterion, "criterion", "type", {"argmax": "", "probability": "tau"})
    tau = number(criterion["tau"], "criterion.tau") if kind == "probability" else None
    if tau is not None and not 0 < tau < 1:
        refuse("criterion.tau", "must lie strictly between 0 and 1")

    forward = Forward(net, len(facts))
    says = "has the strictly largest logit" if tau is None else f"has probability >= {brief(tau)}"
    for i, (k, q, v) in enumerate(facts):
        answer = forward.knows(k, q, v, tau)
        if answer is not True:
            names = ", ".join(brief(net.tokens[t]) for t in (k, q, v))
            why = f"it does not hold that the value {says}"
            if answer is None:
                why = f"undecided within the limits whether the value {says}"
            yield Step(False, f"fact {i} ({names}): {why}")
    yield Step(True, f"the value {says} among {count} tokens, for all {len(facts)} facts")


# --- attention-only transformers and sequence encoders (Dana, Pydi and Chevaleyre 2024) ----------


class Transformer:
    """A layer with positions added to its embeddings: x[i][s] is token i at position s."""

    def __init__(self, data: Mapping[str, Any], inputs: Iterable[Any]) -> None:
        self.layer = layer(data["layer"], "layer")
        W_E, heads = self.layer.W_E, self.layer.heads
        pos = matrix(data["pos"], "pos", columns=len(W_E[0]))
        self.inputs = [[integer(i, "A token", len(W_E)) for i in items(t, "A row")] for t in inputs]
        if any(len(t) != len(pos) for t in self.inputs) or not distinct(map(tuple, self.inputs)):
            refuse("The sequences", f"must be distinct and of length {len(pos)}")
        bits = bits_of(x.as_integer_ratio() for M in (W_E, pos) for row in M for x in row)
        work = len(self.inputs) * len(pos) * len(heads) * (len(W_E) + 200)
        affordable(work, 2 * bits, 64, "The forward pass")
        self.x = [Matrix(tuple(map(operator.add, row, p)) for p in pos) for row in W_E]
        last = Matrix(x[-1] for x in self.x)
        self.queries = [product(product(last, head.W_Q), head.W_K) for head in heads]

    def scores(self, t: Sequence[int]) -> list[list[Fraction]]:
        """For each head the scores x_S W_Q W_K x_sᵀ of the positions, in units."""
        keys = [self.x[i][s] for s, i in enumerate(t)]
        return [[Fraction(sum(map(operator.mul, q[t[-1]], k))) for k in keys] for q in self.queries]


def distinct(values: Iterable[Any]) -> bool:
    return len(set(found := list(values))) == len(found)


def check_aot_memorization(data: Mapping[str, Any]) -> Iterator[Step]:
    """On each sequence the target's logit is the largest: (x_S + Σ_h Σ_s a_s x_s W_V W_O) W_U."""
    fields(data, "The certificate", "layer pos pairs")
    pairs = [items(pair, "A pair") for pair in items(data["pairs"], "pairs")]
    if any(len(pair) != 2 for pair in pairs):
        refuse("pairs", "must be pairs of a sequence and a token")
    net = Transformer(data, (t for t, _ in pairs))
    targets = [integer(g, "A target", len(net.x)) for _, g in pairs]
    moved = [product(x, product(h.W_V, h.W_O)) for h in net.layer.heads for x in net.x]
    tables, _ = cleared_all([*net.x, *moved])
    work = len(pairs) * len(net.x[0]) * max(len(moved), len(net.x)) * len(net.x[0][0])
    affordable(work, bits_of(row for M in tables for row in M), 128, "The forward pass")
    (W_U,), _ = cleared_all([Matrix(zip(*net.layer.W_U, strict=True))])
    for number, (t, g) in enumerate(zip(net.inputs, targets, strict=True)):
        rivals = [list(map(operator.sub, W_U[g], w)) for w in W_U if w is not W_U[g]]
        for bits in precisions():
            center = [x << bits + 1 for x in tables[t[-1]][-1]]
            radius = [0] * len(center)
            for h, scores in enumerate(net.scores(t), 1):
                top = max(scores)
                weights = [power(top - s, net.layer.unit, bits) for s in scores]
                low, high = (sum(w[i] for w in weights) for i in (0, 1))
                for s, (a, b) in enumerate(weights):
                    a, b = (a << bits) // high, -((-b << bits) // low)
                    value = tables[h * len(net.x) + t[s]][s]
                    center = [c + (a + b) * v for c, v in zip(center, value, strict=True)]
                    radius = [r + (b - a) * abs(v) for r, v in zip(radius, value, strict=True)]
            gaps = [(dot(gap, center), dot(map(abs, gap), radius)) for gap in rivals]
            if all(value > error for value, error in gaps):
                break
            if any(value < -error or value == error == 0 for value, error in gaps):
                yield Step(False, f"pair {number}: another token has a logit at least as large")
        else:
            yield Step(False, f"pair {number}: undecided at {LIMITS['precision bits']} bits")
    yield Step(True, f"the target has the strictly largest logit, for all {len(pairs)} sequences")


def check_aot_rank(data: Mapping[str, Any]) -> Iterator[Step]:
    """rank >= r for A, A' = [X_S; A] or W_V A' = [X_S; W_V A]; one row of the minor a sequence.

    With q a common denominator of the scores the entries are rational functions of z = e^(1/q),
    which is transcendental (in unit ln2 scores are integers and z = 2): a minor that is nonzero at
    one point mod p, where no denominator vanishes, is nonzero.
    """
    fields(data, "The certificate", "layer pos sequences matrix at_least prime point rows columns")
    net = Transformer(data, items(data["sequences"], "sequences"))
    kind = choice(data["matrix"], "matrix", ("A", "A'", "W_V A'"))
    d, heads, unit = len(net.x[0][0]), net.layer.heads, net.layer.unit
    width = d * (kind != "A") + sum(len(h.W_O) if kind == "W_V A'" else d for h in heads)
    p, rows, columns = minor_of(data, len(net.inputs), width)
    least, point = integer(data["at_least"], "at_least", width + 1), whole(data["point"], "point")
    scores = [net.scores(net.inputs[i]) for i in rows]
    q = common_denominator([s for row in scores for head in row for s in head])
    if not 2 <= point < p or (unit == "ln2" and (point, q) != (2, 1)):
        refuse("point", "must be in 2..prime-1; in unit ln2 it is 2 and the scores are integers")
    # weights are known mod p only, so p may divide no denominator that they are multiplied with
    if any(v.denominator % p == 0 for M in (*net.x, *(h.W_V for h in heads)) for r in M for v in r):
        yield Step(False, f"the prime {p} divides a denominator")
    minor = []
    for i, row in zip(rows, scores, strict=True):
        x = [net.x[token][s] for s, token in enumerate(net.inputs[i])]
        entries = [] if kind == "A" else list(x[-1])
        for head, exponents in zip(heads, row, strict=True):
            weights = [pow(point, int(s * q) % (p - 1), p) for s in exponents]
            if sum(weights) % p == 0:
                yield Step(False, f"a normalising sum is zero mod {p}")
            sums = (Fraction(dot(weights, column)) for column in zip(*x, strict=True))
            mean = Matrix([tuple(v / sum(weights) for v in sums)])
            entries += (product(mean, head.W_V) if kind == "W_V A'" else mean)[0]
        minor.append([entries[j] for j in columns])
    residues = [[v.numerator * pow(v.denominator, -1, p) for v in row] for row in minor]
    yield check_minor(residues, p, least, kind)


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

    def series(t: int, up: int) -> int:
        total, term, n, square = 0, t, 1, (t * t >> w) + up
        while term > up:
            total, term, n = total + term // n + up, (term * square >> w) + up, n + 2
        return 2 * (total + 2 * up)  # the tail is below 9/8 of the last term, which is at most 1

    a, b = x.numerator, x.denominator << k
    t, third = ((a - b) << w) // (a + b), (1 << w) // 3
    low = series(t, 0) + k * series(third, 0)
    high = series(t + 1, 1) + k * series(third + 1, 1)
    return low >> guard, (high >> guard) + 1


def short(rows: Iterable[Sequence[Fraction]], where: str) -> None:
    if bits_of(x.as_integer_ratio() for row in rows for x in row) > 8192:
        refuse(where, "has more than 8192 bits")


def x_log_x(row: Iterable[Fraction], bits: int) -> tuple[int, int]:
    """Integers lo <= 2^bits · Σ x ln x <= hi for rationals x >= 0; 0 ln 0 = 0."""
    logs = [(x, log_bounds(x, bits)) for x in row if x]
    return sum(math.floor(x * a) for x, (a, _) in logs), sum(math.ceil(x * b) for x, (_, b) in logs)


def check_kl_interval(data: Mapping[str, Any]) -> Iterator[Step]:
    """lower <= inf over W (N × d) and E of Σ_t p_t KL(π_t || softmax(W E_t)) <= upper."""
    fields(data, "The certificate", "prior table d lower upper")
    table = matrix(data["table"], "table")
    (prior,) = matrix([data["prior"]], "prior", columns=len(table))
    if any(min(row) < 0 or sum(row) != 1 for row in (prior, *table)):
        refuse("prior and table", "must be probabilities that sum to one")
    d, n, bits, total, gain = integer(data["d"], "d", 1001), len(table[0]), 96, 0, 0
    upper, lower = (fields(data["upper"], "upper", "value W E"), data["lower"])
    bound, W = number(upper["value"], "upper.value"), matrix(upper["W"], "upper.W", n, d)
    short((prior, *table), "A probability")
    logits = product(matrix(upper["E"], "upper.E", len(table), d), Matrix(zip(*W, strict=True)))
    short(logits, "A logit")
    for p, row, z in zip(prior, table, logits, strict=True):
        top = max(z)
        normaliser = Fraction(sum(exp_minus(top - v, bits)[1] for v in z), 1 << bits)
        linear = (top - Fraction(sum(map(operator.mul, row, z)))) * (1 << bits)
        high = x_log_x(row, bits)[1] + log_bounds(normaliser, bits)[1]
        total += math.ceil(p * (high + linear))
    ok = total <= bound * (1 << bits)
    yield Step(ok, f"the divergence of the encoder is {'' if ok else 'not '}at most {brief(bound)}")
    value = number(fields(lower, "lower", "value blocks")["value"], "lower.value")
    blocks = [fields(b, "A block", "tokens nodes") for b in items(lower["blocks"], "blocks", 0)]
    places = [indices(block["tokens"], "block.tokens", n) for block in blocks]
    if not distinct(j for b in places for j in b) or any(len(b) != d + 2 for b in places):
        refuse("blocks", f"must be disjoint sets of {d + 2} tokens")
    for place, block in zip(places, blocks, strict=True):
        nodes = items(block["nodes"], "block.nodes")
        work = len(nodes) * len(table) * (d + 2) ** 2 * 200  # generators have up to len(nodes) bits
        affordable(work, bits + len(nodes), bits, "The dual bound")
        gain += dual_bound(prior, [[row[j] for j in place] for row in table], nodes, bits)
    ok = value * (1 << bits) <= max(gain, 0)
    yield Step(ok, f"the infimum is {'' if ok else 'not shown to be '}at least {brief(value)}")


def dual_bound(
    prior: Sequence[Fraction], table: list[list[Fraction]], nodes: list[Any], bits: int
) -> int:
    """A lower bound, times 2^bits, for what one block of m = d + 2 tokens adds to the divergence.

    For every W there is c ≠ 0 on the block with Σ c = 0 and Wᵀc = 0. Then q_t = π_t + μ_t c >= 0
    has Wᵀq_t = Wᵀπ_t, and Gibbs' inequality gives KL(π_t || softmax(W E_t)) >= Ent(q_t) - Ent(π_t),
    which is concave in c. Up to scale and sign c lies in one of 2^(m-2) cones, spanned by vectors
    ±(u_i - u_m); ``nodes`` bisects them in preorder, [i, j] replacing generator i, then j, by their
    mean; a leaf {"mu": [...]} is checked at its generators, and concavity does the rest.
    """
    m, rest, gains = len(table[0]), iter(nodes), []
    if len(nodes) < 1 << m - 2:
        refuse("block.nodes", "has fewer nodes than there are cones")
    stack = []
    for signs in itertools.product((1, -1), repeat=m - 2):
        ends = [[Fraction((j == i) - (j == m - 1)) for j in range(m)] for i in range(m - 1)]
        stack.append([[a * x for x in v] for a, v in zip((1, *signs), ends, strict=True)])
    entropies = sum(math.floor(p * x_log_x(r, bits)[0]) for p, r in zip(prior, table, strict=True))
    while stack:
        cone, node = stack.pop(), next(rest, None)
        if type(node) is list:
            if len(pair := indices(node, "A bisection", m - 1)) != 2:
                refuse("A bisection", "names two generators")
            middle = [(a + b) / 2 for a, b in zip(cone[pair[0]], cone[pair[1]], strict=True)]
            stack += [[middle if k == s else v for k, v in enumerate(cone)] for s in pair[::-1]]
            continue
        (mu,) = matrix([fields(node, "A leaf", "mu")["mu"]], "mu", columns=len(prior))
        short([mu], "mu")
        for c, gain in ((c, entropies) for c in cone):
            for p, row, k in zip(prior, table, mu, strict=True):
                if min(q := [v + k * w for v, w in zip(row, c, strict=True)]) < 0:
                    raise Undecided("a leaf of the lower bound leaves the simplex")
                gain -= math.ceil(p * x_log_x(q, bits)[1])
            gains.append(gain)
    if next(rest, None) is not None:
        refuse("block.nodes", "has more nodes than the bisection needs")
    return min(gains)


# --- contexts and queries (Mahdavi, Liao and Thrampoulidis 2024) --------------------------------


def attention_logits(A: MultiHead) -> tuple[list[list[list[int]]], int]:
    """Integers a[t][h][j] and q > 0: head h has the logits a / q = E W_K W_Qᵀ e, times scale."""
    T, (n, d) = len(A.context_of), (len(A.contexts[0]), len(A.contexts[0][0]))
    contexts, d_c = cleared_all(A.contexts)
    (queries,), d_e = cleared_all([A.queries])
    keys, d_k = cleared_all([head[0] for head in A.heads])
    maps, d_q = cleared_all([head[1] for head in A.heads])
    bits = sum(max(map(bits_of, part)) for part in (contexts, [queries], keys, maps))
    width = sum(len(W[0]) for W in keys)
    affordable(T * (n * d * len(keys) + width * (d + len(maps[0]))), bits, bits // 2, "The logits")
    rows = [
        [
            [dot(x, direction) for x in contexts[c]]
            for W_K, W_Q in zip(keys, maps, strict=True)
            for direction in [times(times(e, W_Q), list(zip(*W_K, strict=True)))]
        ]
        for e, c in zip(queries, A.context_of, strict=True)
    ]
    q = d_c * d_e * d_k * d_q
    common = math.gcd(q, *(x for heads in rows for row in heads for x in row))
    return [[[x // common for x in row] for row in heads] for heads in rows], q // common


def rows_mod(A: MultiHead, p: int, z: int, jacobian: bool = False) -> list[list[int]]:
    """Z, or the Jacobian of the output in all W_K, W_Q, V, at z mod p, columns scaled.

    With u = E V and g_j = θ_j (u_j - θᵀu), the derivatives in W_K_ab, W_Q_ab and V_a are, up to
    the scale, (gᵀE)_a (W_Qᵀe)_b, e_a (gᵀE W_K)_b and (θᵀE)_a.
    """
    logits, q = attention_logits(A)
    if A.scale == "ln2" and q != 1:
        refuse("The logits", "must be integers in unit ln2")
    contexts, (queries,) = cleared_all(A.contexts)[0], cleared_all([A.queries])[0]
    weights = [[cleared_all([W])[0][0] if W else [] for W in head] for head in A.heads]
    found: list[list[int]] = []
    for e, c, rows in zip(queries, A.context_of, logits, strict=True):
        E, line = contexts[c], []
        for row, (W_K, W_Q, V) in zip(rows, weights, strict=True):
            powers = [pow(z, x % (p - 1), p) for x in row]
            if sum(powers) % p == 0:
                refuse("lower", "names a prime that divides a softmax denominator")
            inverse = pow(sum(powers), -1, p)
            theta = [x * inverse % p for x in powers]
            if jacobian:
                u = [dot(x, (v[0] for v in V)) for x in E]
                mean = dot(theta, u)
                gE = times([a * (b - mean) % p for a, b in zip(theta, u, strict=True)], E)
                line += [a * b for a in gE for b in times(e, W_Q)]
                line += [a * b for a in e for b in times(gE, W_K)]
            line += times(theta, E)
        found.append([x % p for x in line])
    return found


def spans(contexts: Sequence[Matrix]) -> tuple[int, int]:
    """The dimensions ρ of all tokens and δ of all differences of two tokens of one context."""
    steps = [tuple(map(operator.sub, x, E[0])) for E in contexts for x in E[1:]]
    return rank([x for E in contexts for x in E]) if contexts else 0, rank(steps) if steps else 0


def check_multi_head(data: Mapping[str, Any]) -> Iterator[Step]:
    """Bounds for rank Z or for the rank of the Jacobian, or outputs close to labels.

    Ceiling of rank Z for a set F of contexts: rows outside F, + ρ + (H - 1) δ, since after
    subtracting the first block of columns the rows of block h are Eᵀ(θ_h - θ_1), combinations of
    differences. Dimension: with one context the outputs depend on the weights only through a
    δ × κ matrix of rank <= r and δ numbers a head, and through one constant.
    """
    fields(data, "The certificate", "contexts context_of queries scale heads assertion")
    A = multi_head({k: v for k, v in data.items() if k != "assertion"}, "The certificate")
    claim, H, T = data["assertion"], len(A.heads), len(A.context_of)
    ranks = "lower upper"
    options = {"feature-rank": ranks, "jacobian-rank": ranks, "outputs": "labels error"}
    kind = variant(claim, "assertion", "type", options)
    if kind != "feature-rank" and A.heads[0][2] is None:
        refuse("The heads", "must have V")
    if kind == "outputs":
        yield check_outputs(A, claim)
        return
    lower, jacobian = claim["lower"], kind == "jacobian-rank"
    if jacobian and A.heads[0][2] and len(A.heads[0][2][0]) != 1:
        refuse("The Jacobian", "is that of one output")
    fields(lower, "lower", "bound prime rows columns" + " point" * (A.scale != "ln2"))
    p = prime(lower["prime"], "lower.prime")
    z = whole(lower["point"], "lower.point") if A.scale != "ln2" else 2
    if not 2 <= z < p:
        refuse("lower", "must have 2 <= point < prime (in unit ln2 the point is 2)")
    methods = (
        {"size": "bound", "dimension": "bound"} if jacobian else {"contexts": "bound contexts"}
    )
    method = variant(claim["upper"], "upper", "method", methods)
    top = integer(claim["upper"]["bound"], "upper.bound", 2**53)
    chosen = indices(claim["upper"].get("contexts", []), "upper.contexts", len(A.contexts))
    if method == "dimension" and len(set(A.context_of)) != 1:
        refuse("upper", "needs one context for all examples")
    table = rows_mod(A, p, z, jacobian)
    _, rows, columns = minor_of(lower, T, len(table[0]))
    minor, name = [[table[i][j] for j in columns] for i in rows], "J" if jacobian else "Z"
    yield check_minor(minor, p, integer(lower["bound"], "lower.bound", T + 1), name)
    bound, text = T, f"there are {T} rows"
    if method == "contexts":
        outside = sum(c not in chosen for c in A.context_of)
        rho, delta = spans([A.contexts[c] for c in chosen])
        bound = outside + rho + (H - 1) * delta
        text = f"{outside} rows outside + {rho} + {H - 1} * {delta}"
    elif method == "dimension":
        delta, kappa = spans([A.contexts[A.context_of[0]]])[1], rank(A.queries)
        r = min(max(len(W_K[0]) for W_K, _, _ in A.heads), delta, kappa)
        bound = H * (r * (delta + kappa - r) + delta) + 1
        text = f"{H} * ({r} * ({delta} + {kappa} - {r}) + {delta}) + 1"
    ok = bound == top
    yield Step(ok, f"rank {name} <= {top}: {text}" if ok else f"the bound is {bound}, not {top}")


def check_outputs(A: MultiHead, claim: Mapping[str, Any]) -> Step:
    """Every output Σ_h θᵀ E V is within ``error`` of its label; in unit ln2 also for error 0."""
    values = [V for _, _, V in A.heads if V is not None]
    labels = matrix(claim["labels"], "labels", len(A.context_of), len(values[0][0]))
    error = number(claim["error"], "error")
    if error < 0 or A.scale not in ("1", "ln2"):
        refuse("Outputs", "need an error >= 0 and the scale 1 or ln2")
    logits, q = attention_logits(A)
    weights = len(labels) * len(labels[0]) * len(values) * len(A.contexts[0])
    affordable(400 * weights, 99, 99, "The attention")
    reach = max(max(row) - min(row) for rows in logits for row in rows)
    exact = A.scale == "ln2" and q == 1 and reach <= LIMITS["precision bits"]
    tables = [[product(E, V) for V in values] for E in A.contexts]

    def enclosure(t: int, k: int, bits: int) -> tuple[Fraction, Fraction]:
        low = high = Fraction(0)
        for row, U in zip(logits[t], tables[A.context_of[t]], strict=True):
            top, u = max(row), [x[k] for x in U]
            gaps, least = [top - x for x in row], min(u)
            found = (
                [(1 << bits - x,) * 2 for x in gaps]
                if exact
                else [power(Fraction(x, q), A.scale, bits) for x in gaps]
            )
            lows, highs = zip(*found, strict=True)
            down, up = (
                sum(w * (x - least) for w, x in zip(ws, u, strict=True)) for ws in (lows, highs)
            )
            low, high = (
                low + least + Fraction(down, sum(highs)),
                high + least + Fraction(up, sum(lows)),
            )
        return low, high

    for (t, row), k in itertools.product(enumerate(labels), range(len(labels[0]))):
        for bits in [reach] if exact else precisions():
            low, high = enclosure(t, k, bits)
            if row[k] - error <= low and high <= row[k] + error:
                break
            if low > row[k] + error or high < row[k] - error:
                return Step(False, f"example {t}: output {k} is off by more than the error")
        else:
            raise Undecided(f"example {t}: output {k} is too close to the error")
    return Step(True, f"the outputs of all {len(labels)} examples are within {brief(error)}")


def normalised(v: Sequence[int], p: int) -> tuple[int, ...]:
    """The multiple of a nonzero vector mod p whose first nonzero entry is 1."""
    inverse = pow(next(filter(None, v)), -1, p)
    return tuple(x * inverse % p for x in v)


def quotient(vectors: Iterable[Sequence[int]], g: Sequence[int], p: int) -> list[list[int]]:
    """The vectors modulo the normalised vector g, in one coordinate less."""
    k = g.index(1)
    rest = [*g[:k], *g[k + 1 :]]
    parts = ((v[k], (*v[:k], *v[k + 1 :])) for v in vectors)
    return [[(x - a * y) % p for x, y in zip(v, rest, strict=True)] for a, v in parts]


def all_independent(vectors: Sequence[Sequence[int]], k: int, p: int) -> bool:
    """Whether any k >= 1 of the vectors are independent mod p; at k = 2 by comparing lines."""
    if k == 1 or not all(map(any, vectors)):
        return all(map(any, vectors))
    lines = [normalised(v, p) for v in vectors]
    if k == 2:
        return len(set(lines)) == len(lines)
    starts = range(len(lines) - k + 1)
    return all(all_independent(quotient(lines[i + 1 :], lines[i], p), k - 1, p) for i in starts)


def most_on_hyperplane(vectors: Sequence[Sequence[int]], m: int, p: int) -> int:
    """The largest number of the vectors of F_p^m, m >= 1, on one hyperplane through 0."""
    lines = Counter(normalised(v, p) for v in vectors if any(v))
    if m > 2:
        return max(most_on_hyperplane(quotient(vectors, g, p), m - 1, p) for g in lines)
    return len(vectors) - lines.total() + (max(lines.values()) if m == 2 else 0)


def dependencies(rows: Sequence[Sequence[int]], p: int) -> list[list[int]]:
    """A basis of the λ with λ · rows = 0 mod p: eliminate (rows | identity)."""
    T, d = len(rows), len(rows[0])
    affordable(T * min(T, d) * (T + d) // 2, p.bit_length(), p.bit_length(), "The elimination")
    left = [[x % p for x in row] + [int(i == j) for j in range(T)] for i, row in enumerate(rows)]
    for _ in range(d):
        found = next((i for i, row in enumerate(left) if row[0]), None)
        if found is None:
            left = [row[1:] for row in left]
        else:
            g = normalised(left.pop(found), p)
            left = quotient(left, g, p)
    return left


def check_kruskal_rank(data: Mapping[str, Any]) -> Iterator[Step]:
    """The largest k such that any k of the vectors are independent.

    Below, mod p. "search": all subsets of k vectors. "dual": a shortest dependency vanishes on as
    many vectors as one hyperplane of F_p^m holds dual vectors, the columns of a basis of the
    m-dimensional space of all dependencies.
    """
    fields(data, "The certificate", "vectors rank lower upper")
    M = matrix(data["vectors"], "vectors")
    T, d = len(M), len(M[0])
    k = integer(data["rank"], "rank", min(T, d) + 1)
    method = variant(data["lower"], "lower", "method", {"dual": "prime", "search": "prime"})
    p = prime(data["lower"]["prime"], "lower.prime")
    above = variant(data["upper"], "upper", "method", {"size": "", "subset": "indices"})
    subset = indices(data["upper"].get("indices", []), "upper.indices", T)
    rows = [[x % p for x in cleared(row)[0]] for row in M]
    if method == "search":
        affordable(math.comb(T, max(k - 1, 0)) * d, p.bit_length(), p.bit_length(), "The search")
        below = k if k == 0 or all_independent(rows, k, p) else k - 1
    else:
        basis = dependencies(rows, p)
        affordable(T ** max(len(basis), 1), p.bit_length(), p.bit_length(), "The hyperplanes")
        below = T
        if basis:
            below = T - 1 - most_on_hyperplane(list(zip(*basis, strict=True)), len(basis), p)
    ok = below >= k
    yield Step(ok, f"any {k} vectors are {'' if ok else 'not '}independent mod {p}")
    if above == "size":
        yield Step(k == min(T, d), f"the Kruskal rank is at most {min(T, d)}: {T} vectors in R^{d}")
    else:
        ok = len(subset) == k + 1 and rank([M[i] for i in subset]) <= k
        yield Step(ok, f"{len(subset)} vectors are {'' if ok else 'not known to be '}dependent")


# --- refutations: a small language of comparisons -----------------------------------------------


def as_index(value: Fraction, below: int) -> int:
    if value.denominator != 1 or not 0 <= value < below:
        refuse("An index", f"is {brief(value)}, outside 0..{below - 1}")
    return value.numerator


def rank(M: Iterable[Sequence[Fraction]]) -> int:
    return integer_rank([row for row, _ in cleared_rows(M)], "The rank")


def threshold(M: Matrix, tau: Fraction) -> Matrix:
    if not 0 < tau <= 1:
        refuse("The threshold", "must lie in (0, 1]")
    bits = bits_of(x.as_integer_ratio() for row in M for x in row)
    affordable(100 * len(M) * len(M[0]) ** 2, len(M[0]) * bits, bits, "The softmax")
    return Matrix(tuple(softmax_at_least(row, j, tau) for j in range(len(row))) for row in M)


def softmax_at_least(row: Sequence[Fraction], j: int, tau: Fraction) -> Fraction:
    """1 if softmax(row)_j >= τ for rational logits, else 0.

    Equality needs every logit to be equal, since exponentials of distinct rationals are linearly
    independent over Q; so unequal logits are decided at some finite precision.
    """
    integers, scale = cleared(row)
    tally = Counter(integers)
    bounds = [(x, x) for x in tally]
    z = Logits(bounds, scale, list(tally.values()), bounds.index((integers[j], integers[j])))
    for bits in precisions():
        found = probability_at_least(z, tau, bits)
        if found is not None:
            return Fraction(found)
    raise Undecided("a softmax probability is too close to the threshold to be told from it")


def product(A: Matrix, B: Matrix) -> Matrix:
    if len(A[0]) != len(B):
        refuse("A product", f"of a matrix with {len(A[0])} columns and one with {len(B)} rows")
    left, right = cleared_rows(A), cleared_rows(zip(*B, strict=True))
    cost = len(A) * len(B) * len(right)
    affordable(cost, bits_of(a for a, _ in left), bits_of(b for b, _ in right), "A product")
    return Matrix(tuple(Fraction(dot(a, b), d * e) for b, e in right) for a, d in left)


def identity(n: Fraction) -> Matrix:
    size = range(as_index(n - 1, 1000) + 1)
    return Matrix(tuple(Fraction(i == j) for j in size) for i in size)


def flattening_rank(T: Tensor, mode: Fraction) -> int:
    kept = as_index(mode, 3)
    sizes = (len(T), len(T[0]), len(T[0][0]))
    lines: list[list[Fraction]] = [[] for _ in range(sizes[kept])]
    for i, j, k in itertools.product(*map(range, sizes)):
        lines[(i, j, k)[kept]].append(T[i][j][k])
    return rank(lines)


def tensor(D: Facts) -> Tensor:
    keys, queries, values = (sorted(set(names)) for names in zip(*D, strict=True))
    affordable(10 * len(keys) * len(queries) * len(values), 1, 1, "The tensor")
    present = set(D)
    return Tensor(
        Matrix(tuple(Fraction((k, q, v) in present) for v in values) for q in queries) for k in keys
    )


def places(L: Layer, D: Facts) -> dict[str, int]:
    place = {token: i for i, token in enumerate(L.tokens)}
    for name in (name for fact in D for name in fact if name not in place):
        refuse(brief(name), "is named by a fact and is no token of the layer")
    return place


def layer_tensor(L: Layer, D: Facts, masked: bool) -> Tensor:
    """The logits of the values of D after (k, q); masked: without heads where D has no fact."""
    keys, queries, values = (sorted(set(names)) for names in zip(*D, strict=True))
    place, forward = places(L, D), Forward(L, len(keys) * len(queries))
    known = {(k, q) for k, q, _ in D}

    def fibre(k: str, q: str) -> tuple[Fraction, ...]:
        y = forward.residual(place[k], place[q])
        base, scale = y.base, y.denominator
        if masked and (k, q) not in known:
            base, scale = forward.rows[place[q]]
        elif y.deltas:
            refuse("The attention", "of the layer is irrational, so its tensor is not computed")
        columns = [forward.columns[forward.column_of[place[v]]] for v in values]
        return tuple(Fraction(dot(base, u), scale * forward.unembedding_scale) for u in columns)

    return Tensor(Matrix(fibre(k, q) for q in queries) for k in keys)


def fold(M: Matrix, n: Fraction) -> Tensor:
    size = as_index(n, len(M) + 1)
    if size == 0 or len(M) % size:
        refuse("fold(...)", f"cannot cut {len(M)} rows into slices of {size}")
    return Tensor(Matrix(M[i : i + size]) for i in range(0, len(M), size))


def row_gap(M: Matrix) -> Fraction:
    if len(M[0]) < 2:
        refuse("row_gap(...)", "needs two columns")
    return min(a - b for *_, b, a in map(sorted, M))


def answers(L: Layer, D: Facts, tau: Fraction | None = None) -> list[bool]:
    """For each fact whether the layer knows it; an open comparison is never counted either way."""
    place = places(L, D)
    if tau is not None and not 0 < tau <= 1:
        refuse("The threshold", "must lie in (0, 1]")
    forward = Forward(L, len(D))
    known = [forward.knows(place[k], place[q], place[v], tau) for k, q, v in D]
    if None in known:
        raise Undecided("a fact of the layer stays undecided at the largest precision")
    return [x is True for x in known]


def feature_rank_lower(A: MultiHead) -> int:
    p = 2**61 - 1
    if A.scale == "ln2":
        refuse("feature_rank_lower", "needs a transcendental scale")
    return len(A.context_of) - len(dependencies(rows_mod(A, p, 3**37), p))


def all_tokens(A: MultiHead) -> Matrix:
    if len(A.queries[0]) != len(A.contexts[0][0]):
        refuse("all_tokens", "needs tokens and queries of one dimension")
    return Matrix(itertools.chain(*A.contexts, A.queries))


def independent_share(M: Matrix, k: Fraction) -> Fraction:
    size = as_index(k, min(len(M), len(M[0])) + 1)
    bits = size * bits_of(cleared(row)[0] for row in M)
    affordable(math.comb(len(M), size) * (size + 1) ** 3, 99 + bits, 99 + bits // 10, "The subsets")
    parts = [rank(part) == size if size else True for part in itertools.combinations(M, size)]
    return Fraction(sum(parts), len(parts))


def kruskal_rank(M: Matrix) -> int:
    sizes = range(1, min(len(M), len(M[0])) + 1)
    return next((k - 1 for k in sizes if independent_share(M, Fraction(k)) < 1), sizes[-1])


class Word(NamedTuple):
    """A function of the language; Fraction stands for a number, and a bool counts as 0 or 1."""

    takes: tuple[type, ...]
    meaning: str
    function: Callable[..., Any]


_M, _D, _L, _N, _A = Matrix, Facts, Layer, Fraction, MultiHead
VOCABULARY: dict[str, Word] = {
    "rank": Word((_M,), "the rank over Q", rank),
    "argmax": Word(
        (_M,),
        "row by row, 1 at every largest entry and 0 elsewhere (Wong 2025, equation 11)",
        lambda M: Matrix(tuple(Fraction(x == top) for x in row) for row in M for top in [max(row)]),
    ),
    "threshold": Word((_M, _N), "1 where row softmax >= τ (Wong 2025, equation 13)", threshold),
    "rows": Word((_M,), "the number of rows", len),
    "columns": Word((_M,), "the number of columns", lambda M: len(M[0])),
    "entry": Word(
        (_M, _N, _N),
        "M_ij, indices from 0",
        lambda M, i, j: M[as_index(i, len(M))][as_index(j, len(M[0]))],
    ),
    "max_entry": Word((_M,), "the largest entry", lambda M: max(map(max, M))),
    "min_entry": Word((_M,), "the smallest entry", lambda M: min(map(min, M))),
    "transpose": Word((_M,), "Mᵀ", lambda M: Matrix(zip(*M, strict=True))),
    "product": Word((_M, _M), "A·B", product),
    "gram": Word((_M,), "P·Pᵀ", lambda P: product(P, Matrix(zip(*P, strict=True)))),
    "identity": Word((_N,), "the n × n identity matrix", identity),
    "equal": Word((_M, _M), "same shape and entries", lambda A, B: A == B),
    "distinct_rows": Word((_M,), "no two rows are equal", lambda P: len(set(P)) == len(P)),
    "unit_rows": Word(
        (_M,),
        "every row lies on the unit sphere",
        lambda P: all(dot(a, a) == d * d for a, d in map(cleared, P)),
    ),
    "flattening_rank": Word(
        (Tensor, _N),
        "the rank over Q when index 0, 1 or 2 is kept and the others are merged",
        flattening_rank,
    ),
    "tensor": Word((_D,), "0/1 over the sorted keys, queries, values (Wong 2025, eq. 1)", tensor),
    "layer_tensor": Word(
        (_L, _D),
        "L over the sorted keys, queries, values (Wong 2025, eq. 8), without heads off the facts",
        lambda L, D: layer_tensor(L, D, True),
    ),
    "logits_tensor": Word(
        (_L, _D),
        "the logits of the values after every (k, q)",
        lambda L, D: layer_tensor(L, D, False),
    ),
    "fibres": Word((Tensor,), "the matrix of all T_kq:", lambda T: Matrix(itertools.chain(*T))),
    "fold": Word((_M, _N), "the tensor whose slices are n consecutive rows each", fold),
    "row_gap": Word((_M,), "the least distance of largest and next entry in a row", row_gap),
    "slices_rank_sum": Word(
        (_D,),
        "min(Σ_k |V_k|, Σ_q |V_q|), the bound of Wong 2025, Proposition 2.1",
        lambda D: min(len({(k, v) for k, _, v in D}), len({(q, v) for _, q, v in D})),
    ),
    "size": Word((_D,), "the number of facts", len),
    "keys": Word((_D,), "|K|, the number of different keys", lambda D: len({f[0] for f in D})),
    "queries": Word(
        (_D,), "|Q|, the number of different queries", lambda D: len({f[1] for f in D})
    ),
    "values": Word((_D,), "|V|, the number of different values", lambda D: len({f[2] for f in D})),
    "tokens": Word((_L,), "|T|, the size of the vocabulary", lambda L: len(L.tokens)),
    "d_model": Word((_L,), "the dimension of the embedding", lambda L: len(L.W_E[0])),
    "heads": Word((_L,), "the number of heads", lambda L: len(L.heads)),
    "d_qk": Word(
        (_L,), "the largest query-key dimension", lambda L: max([0, *(len(h.W_K) for h in L.heads)])
    ),
    "d_vo": Word(
        (_L,),
        "the largest value-output dimension",
        lambda L: max([0, *(len(h.W_O) for h in L.heads)]),
    ),
    "memorizes": Word(
        (_L, _D),
        "for every fact (k, q, v) the logit of v is strictly largest over the full vocabulary",
        lambda L, D: all(answers(L, D)),
    ),
    "memorizes_at": Word(
        (_L, _D, _N),
        "for every fact (k, q, v) the probability of v over the full vocabulary is >= τ",
        lambda L, D, tau: all(answers(L, D, tau)),
    ),
    "accuracy": Word(
        (_L, _D), "the share of memorized facts", lambda L, D: Fraction(sum(answers(L, D)), len(D))
    ),
    "accuracy_at": Word(
        (_L, _D, _N),
        "the share of facts known with probability >= τ (Wong 2025, equation 14)",
        lambda L, D, tau: Fraction(sum(answers(L, D, tau)), len(D)),
    ),
    "length": Word((Integers,), "the length of a list of integers", len),
    "slice_rows": Word((Tensor,), "the number of rows of a slice", lambda T: len(T[0])),
    "slice_columns": Word((Tensor,), "the number of columns of a slice", lambda T: len(T[0][0])),
    "max_slice_rank": Word((Tensor,), "the largest rank of a slice", lambda T: max(map(rank, T))),
    "entry_sum": Word((_M,), "the sum of the entries", lambda M: sum(map(sum, M), Fraction(0))),
    "covering": Word(
        (_M, _N),
        "the least number of entries of the first row whose sum is greater than a level",
        lambda P, level: sum(s <= level for s in itertools.accumulate(sorted(P[0])[::-1])) + 1,
    ),
    "examples": Word((_A,), "the number T of examples", lambda A: len(A.context_of)),
    "context_length": Word((_A,), "n", lambda A: len(A.contexts[0])),
    "dimension": Word((_A,), "d, the dimension of the tokens", lambda A: len(A.contexts[0][0])),
    "head_count": Word((_A,), "H", lambda A: len(A.heads)),
    "head_dimension": Word((_A,), "d_h", lambda A: max(len(W_K[0]) for W_K, _, _ in A.heads)),
    "shared": Word((_A,), "one context for all examples", lambda A: len(set(A.context_of)) == 1),
    "least_context_rank": Word((_A,), "of all contexts", lambda A: min(map(rank, A.contexts))),
    "query_matrix": Word((_A,), "one query a row", lambda A: A.queries),
    "all_tokens": Word((_A,), "and queries", all_tokens),
    "feature_rank_lower": Word((_A,), "rank Z mod a prime, at most rank Z", feature_rank_lower),
    "independent_share": Word((_M, _N), "of the sets of k rows", independent_share),
    "kruskal_rank": Word((_M,), "any so many rows are independent", kruskal_rank),
}


@dataclass(frozen=True)
class Statement:
    """For every instance: if all the hypotheses hold, so does the conclusion."""

    instance: Mapping[str, type]
    hypotheses: tuple[str, ...]
    conclusion: str


def stated(names: str, text: str) -> Statement:
    """A statement written "hypothesis and hypothesis => conclusion"; the names tell the kinds."""
    kinds: dict[str, type] = {"L": Layer, "D": Facts, "tau0": Fraction, "tau": Fraction}
    given, conclusion = text.split(" => ")
    instance = {name: kinds.get(name, Matrix) for name in names.split()}
    return Statement(instance, tuple(given.split(" and ")), conclusion)


RESERVED = ("wong/", "dana/", "mahdavi/", "lemmax/")
_SHARED = ("shared(A) == 1", "least_context_rank(A) == context_length(A)")
STATEMENTS: dict[str, Statement] = {
    "wong/argmax-rank-one": Statement({"M": Matrix}, ("rank(M) == 1",), "rank(argmax(M)) <= 2"),
    "lemmax/argmax-rank-one-sharp": Statement(
        {"M": Matrix}, ("rank(M) == 1",), "rank(argmax(M)) <= 3"
    ),
    "wong/proposition-3.6-proof": Statement(
        {"P": Matrix},
        ("columns(P) >= 2", "rows(P) >= columns(P)", "distinct_rows(P)", "unit_rows(P)"),
        "rank(gram(P)) == columns(P)",
    ),
    # k = q: the one entry A_qqq is both softmax(S)_0 and the sum of its row, which is 1.
    "wong/equation-5-diagonal": stated(
        "S",
        "rows(S) == 1 and columns(S) == 2 and entry(S, 0, 0) == entry(S, 0, 1)"
        " => entry(threshold(S, 1), 0, 0) == 1",
    ),
    "wong/proposition-3.1": stated(
        "L D",
        "d_model(L) <= tokens(L) => equal(fibres(layer_tensor(L, D)), fibres(logits_tensor(L, D)))",
    ),
    # A rank is at most the product of two flattening ranks and at least each of them. If L = D,
    # then the value flattening of D factors through the d_model rows of W_U.
    "wong/remark-3.4": stated(
        "L D",
        "flattening_rank(layer_tensor(L, D), 0)"
        " > flattening_rank(tensor(D), 0) * flattening_rank(tensor(D), 1)"
        " => flattening_rank(tensor(D), 2) <= d_model(L)",
    ),
    # For all weights rank L <= d_model |Q|, since every slice L_:q: factors through W_U.
    "wong/equation-9": stated(
        "L D", "queries(D) == 1 => d_model(L) + heads(L) * d_vo(L) <= d_model(L) * queries(D)"
    ),
    # rank L >= rank D, where flattening ranks bound the one from above and the other from below.
    "wong/rank-hypothesis": stated(
        "L D",
        "memorizes(L, D) => flattening_rank(layer_tensor(L, D), 0)"
        " * flattening_rank(layer_tensor(L, D), 1) >= flattening_rank(tensor(D), 0)",
    ),
    "wong/precision": stated(
        "M",
        "rank(M) >= 2 and rank(M) < rows(M) and rows(M) == columns(M)"
        " and rank(argmax(M)) == rows(M) and max_entry(M) >= -min_entry(M)"
        " => max_entry(M) > rows(M) * rows(M) * row_gap(M)",
    ),
    # slices_rank_sum(D) >= rank D, and for a total D memorizing means argmax(L) = D.
    "wong/rank-conditions": stated(
        "L D",
        "size(D) == keys(D) * queries(D)"
        " and rank(argmax(fibres(layer_tensor(L, D)))) >= slices_rank_sum(D)"
        " => equal(argmax(fibres(layer_tensor(L, D))), fibres(tensor(D)))",
    ),
    "wong/threshold-largest": stated(
        "M tau",
        "rows(M) == 1 and 2 * tau >= 1 and entry(threshold(M, tau), 0, 0) == 1"
        " => entry(M, 0, 0) > entry(M, 0, 1)",
    ),
    # Probabilities over the full vocabulary are at most those over the values.
    "wong/tau-memorizes": stated(
        "L D tau",
        "2 * tau >= 1 and tau <= 1 and memorizes_at(L, D, tau)"
        " => equal(threshold(fibres(layer_tensor(L, D)), tau), fibres(tensor(D)))",
    ),
    # As for wong/rank-conditions; above 1/2 the threshold marks at most one value of a fibre.
    "wong/equation-15": stated(
        "L D tau",
        "2 * tau > 1 and tau <= 1 and size(D) == keys(D) * queries(D)"
        " and rank(threshold(fibres(layer_tensor(L, D)), tau)) >= slices_rank_sum(D)"
        " => equal(threshold(fibres(layer_tensor(L, D)), tau), fibres(tensor(D)))",
    ),
    # One row; odds(tau) = odds(tau0)^2, so the quotient of the log-odds is 2.
    "wong/large-tau-large-c": stated(
        "M C0 C tau0 tau",
        "rows(M) == 1 and 2 * tau0 > 1 and tau0 < tau and tau < 1"
        " and tau * (1 - tau0) * (1 - tau0) == (1 - tau) * tau0 * tau0"
        " and min_entry(C0) > 0 and min_entry(C) > 0"
        " and equal(threshold(product(C0, M), tau0), argmax(M))"
        " and equal(threshold(product(C, M), tau), argmax(M))"
        " => entry(C, 0, 0) > 2 * entry(C0, 0, 0)",
    ),
    # The rank of a tensor is at least one flattening rank and at most the product of two.
    "wong/tau-monotone": stated(
        "L D tau0 tau",
        "2 * tau0 >= 1 and tau0 <= tau and tau <= 1"
        " => flattening_rank(fold(threshold(fibres(layer_tensor(L, D)), tau), queries(D)), 0)"
        " <= flattening_rank(fold(threshold(fibres(layer_tensor(L, D)), tau0), queries(D)), 0)"
        " * flattening_rank(fold(threshold(fibres(layer_tensor(L, D)), tau0), queries(D)), 1)",
    ),
    "wong/tau-one": stated(
        "L D",
        "d_model(L) <= tokens(L) => rank(threshold(fibres(layer_tensor(L, D)), 1)) == 0",
    ),
    "wong/figure-3-tau-99": stated(
        "L D",
        "d_model(L) <= 6 and heads(L) <= 4 and d_vo(L) <= d_model(L) and d_qk(L) <= d_model(L)"
        " and memorizes_at(L, D, 99 / 100)"
        " => slices_rank_sum(D) < d_model(L) + heads(L) * d_vo(L)",
    ),
    "dana/t-epsilon": Statement(
        {"P": Matrix, "eps": Fraction},
        ("0 < eps", "eps < 1", "rows(P) == 1", "min_entry(P) >= 0", "entry_sum(P) == 1"),
        "covering(P, 1 - eps) < (1 - eps) * columns(P) + 1",
    ),
    "dana/lemma-2-increment": Statement(  # with B = 0
        {"F": Tensor},
        (
            "flattening_rank(F, 0) == slice_rows(F) * slice_columns(F)",
            "slice_rows(F) <= slice_columns(F)",
        ),
        "max_slice_rank(F) >= slice_rows(F)",
    ),
    "dana/skip-as-head": Statement(  # attention to position S needs a largest score there
        {"X": Matrix}, ("rows(X) >= 2",), "entry(argmax(gram(X)), rows(X) - 1, rows(X) - 1) == 1"
    ),
    "dana/value-map-keeps-rank": Statement(  # with H = 1 and S = 1, where A = X
        {"W": Matrix, "X": Matrix},
        ("rank(W) == rows(W)", "rank(X) == columns(X)", "columns(X) <= rows(W)"),
        "rank(product(W, X)) == rank(X)",
    ),
    "dana/figure-4-bound": Statement(
        {"N": Fraction, "T": Fraction, "d": Fraction, "d_h": Fraction, "H": Fraction},
        ("N == 10", "T == 100", "d == 2", "d_h == 5", "H == 20"),
        "1 / N + (1 - 1 / N) * (H * d_h + d) / T == 1",
    ),
    "mahdavi/theorem-1-parameters": Statement(
        {"A": MultiHead},
        (
            "context_length(A) >= 2",
            "examples(A) == head_count(A) * (context_length(A) - 1) + 1",
            "kruskal_rank(query_matrix(A)) >= context_length(A)",
            "least_context_rank(A) == context_length(A)",
            "feature_rank_lower(A) == examples(A)",
        ),
        "head_dimension(A) >= context_length(A)",
    ),
    "mahdavi/kruskal-weakening-tight": Statement(
        {"A": MultiHead},
        (*_SHARED, "kruskal_rank(query_matrix(A)) < context_length(A)"),
        "feature_rank_lower(A) <= head_count(A) * (kruskal_rank(query_matrix(A)) - 1) + 1",
    ),
    "mahdavi/head-dimension-rank": Statement(
        {"A": MultiHead},
        (*_SHARED, "head_dimension(A) <= context_length(A)"),
        "feature_rank_lower(A) <= head_count(A) * (head_dimension(A) - 1) + 1",
    ),
    "mahdavi/general-position-limit": Statement(
        {"A": MultiHead},
        ("kruskal_rank(all_tokens(A)) >= dimension(A)",),
        "feature_rank_lower(A) <= head_count(A) * (dimension(A) - 1) + 1",
    ),
    # softmax(ca) tends to the uniform distribution on the largest entries: one-hot iff there is one
    "mahdavi/one-hot": Statement(
        {"a": Matrix},
        ("rows(a) == 1", "min_entry(a) < max_entry(a)"),
        "entry(gram(argmax(a)), 0, 0) == 1",
    ),
    "mahdavi/saturation-lemma": Statement(
        {"E": Matrix, "W": Matrix, "e": Matrix},
        (
            "rank(E) == rows(E)",
            "columns(e) == 1",
            "min_entry(product(E, product(W, e))) < max_entry(product(E, product(W, e)))",
        ),
        "entry(gram(argmax(transpose(product(E, product(W, e))))), 0, 0) == 1",
    ),
    "mahdavi/similar-contexts": Statement(
        {"E": Matrix, "cv": Matrix},
        (
            "columns(E) == 2",
            "(entry(E, 0, 0) - entry(E, 1, 0)) * (entry(E, 0, 0) - entry(E, 1, 0))"
            " + (entry(E, 0, 1) - entry(E, 1, 1)) * (entry(E, 0, 1) - entry(E, 1, 1)) < 1/1000000",
            "columns(cv) == 1",
        ),
        "max_entry(threshold(transpose(product(E, cv)), 99/100)) == 0",
    ),
    # n = 1, d = 2: the encoding of position 0 is P = (sin 0, cos 0) = (0, 1), and X + P is not 0
    "mahdavi/encoding-makes-contexts-full-rank": Statement(
        {"X": Matrix},
        ("rows(X) == 1", "columns(X) == 2"),
        "entry(X, 0, 0) * entry(X, 0, 0) + (entry(X, 0, 1) + 1) * (entry(X, 0, 1) + 1) > 0",
    ),
    "mahdavi/approximate-kruskal": Statement(
        {"M": Matrix, "k": Fraction},
        ("independent_share(M, k) >= 99/100",),
        "kruskal_rank(M) >= k",
    ),
}

_OPERATORS: dict[type, tuple[str, str, Callable[[Any, Any], bool]]] = {
    ast.Eq: ("==", "!=", operator.eq),
    ast.NotEq: ("!=", "==", operator.ne),
    ast.Lt: ("<", ">=", operator.lt),
    ast.LtE: ("<=", ">", operator.le),
    ast.Gt: (">", "<=", operator.gt),
    ast.GtE: (">=", "<", operator.ge),
}
_ARITHMETIC: dict[type, Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def parse(text: object, where: str) -> ast.expr:
    """The syntax tree of a comparison; only the nodes of the language are let through."""
    if type(text) is not str or len(text) > LIMITS["comparison characters"]:
        refuse(where, f"must be a text of at most {LIMITS['comparison characters']} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        refuse(where, f"is {brief(text)}, which cannot be parsed")
    known = (ast.Compare, ast.Call, ast.Name, ast.Load, ast.Constant, ast.BinOp, ast.UnaryOp)
    allowed = (*known, ast.USub, *_OPERATORS, *_ARITHMETIC)
    for node in ast.walk(tree):
        bad = type(node) not in allowed
        bad |= isinstance(node, ast.Compare) and (node is not tree or len(node.ops) != 1)
        bad |= isinstance(node, ast.Constant) and type(node.value) is not int
        bad |= isinstance(node, ast.Call) and bool(
            node.keywords or not isinstance(node.func, ast.Name) or node.func.id not in VOCABULARY
        )
        if bad:
            refuse(where, f"is {brief(text)}, which is not in the language of comparisons")
    return tree


def names_in(tree: ast.expr) -> set[str]:
    """The instance entries that an expression speaks about."""
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and id(n) not in called}


def evaluate(node: ast.expr, instance: Mapping[str, Any]) -> Any:
    """The value of an expression: a number (0 or 1 for a predicate), or an object."""
    if isinstance(node, ast.Constant):
        return Fraction(int(str(node.value)))
    if isinstance(node, ast.Name):
        return instance[node.id]
    if isinstance(node, ast.UnaryOp):
        return -as_number(evaluate(node.operand, instance))
    if isinstance(node, ast.BinOp):
        left = as_number(evaluate(node.left, instance))
        right = as_number(evaluate(node.right, instance))
        if isinstance(node.op, ast.Div) and right == 0:
            refuse("A comparison", "divides by zero")
        affordable(
            1000,
            bits_of([left.as_integer_ratio()]),
            bits_of([right.as_integer_ratio()]),
            "A comparison",
        )
        return _ARITHMETIC[type(node.op)](left, right)
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Name)
    kinds, _, function = VOCABULARY[node.func.id]
    arguments = [evaluate(x, instance) for x in node.args]
    arguments = [Fraction(x) if type(x) in (int, bool) else x for x in arguments]
    if tuple(map(type, arguments)) != kinds:
        wanted = ", ".join("number" if k is Fraction else k.__name__.lower() for k in kinds)
        refuse(f"{node.func.id}(...)", f"takes ({wanted})")
    return function(*arguments)


def as_number(value: Any) -> Fraction:
    if type(value) not in (int, bool, Fraction):
        refuse("A comparison", f"uses {brief(value)} where a number is wanted")
    return Fraction(value)


def compare(tree: ast.expr, instance: Mapping[str, Any]) -> Step:
    """Whether a comparison is true, with its values: "rank(argmax(M)) = 3 > 2"."""
    if not isinstance(tree, ast.Compare):
        value = evaluate(tree, instance)
        if type(value) is not bool:
            refuse(brief(ast.unparse(tree)), "is no comparison")
        return Step(value, f"{ast.unparse(tree)} is {'true' if value else 'false'}")
    sides = [tree.left, *tree.comparators]
    left, right = (as_number(evaluate(side, instance)) for side in sides)
    symbol, negated, holds = _OPERATORS[type(tree.ops[0])]
    ok = holds(left, right)
    texts = [
        brief(v) if isinstance(side, ast.Constant) else f"{ast.unparse(side)} = {brief(v)}"
        for side, v in zip(sides, (left, right), strict=True)
    ]
    return Step(ok, f"{texts[0]} {symbol if ok else negated} {texts[1]}")


def instance_value(value: Any, where: str) -> Any:
    """A number, a matrix, a tensor or integers, bare or tagged; a layer or facts, tagged.

    Tagged means an object with one field that names the kind: {"layer": {...}}.
    """
    if type(value) is dict and len(value) == 1:
        kind, value = next(iter(value.items()))
    elif type(value) is list and value and type(value[0]) is int:
        kind = "integers"
    elif type(value) is list and value and type(value[0]) is list and value[0]:
        kind = "tensor" if type(value[0][0]) is list else "matrix"
    else:
        kind = "number"
    readers: dict[str, Callable[[object, str], Any]] = {
        "number": number,
        "matrix": matrix,
        "layer": layer,
        "multi-head": multi_head,
        "integers": lambda v, here: Integers(integer(x, here, 2**53) for x in items(v, here)),
        "tensor": tensor_value,
        "facts": facts_value,
    }
    return readers[choice(kind, f"The kind of {where}", tuple(readers))](value, where)


def tensor_value(value: object, where: str) -> Tensor:
    parts = [matrix(part, f"{where}[{i}]") for i, part in enumerate(items(value, where))]
    if len({(len(part), len(part[0])) for part in parts}) != 1:
        refuse(where, "has slices of different shapes")
    return Tensor(parts)


def facts_value(value: object, where: str) -> Facts:
    facts = Facts((k, q, v) for k, q, v in triples(value, where))
    if any(type(name) is not str or not name for fact in facts for name in fact):
        refuse(where, "must consist of token names")
    no_repeated_question(facts, where)
    return facts


def layer_of_the_paper(L: Layer, D: Collection[tuple[str, str, str]]) -> None:
    """Refuse what Wong 2025 does not speak of; smaller heads may be padded with zeros."""
    inner = [n for head in L.heads for n in (len(head.W_K), len(head.W_O))]
    if not inner or max(inner) > len(L.W_E[0]) or len(L.W_E[0]) > len(L.tokens):
        refuse("The layer", "must have heads, and d_qk, d_vo <= d_model <= the number of tokens")
    places(L, Facts(D))
    if any(k == q for k, q, _ in D):
        refuse("A fact", "has its query for its key, where equation (5) can be read in two ways")


def check_refutation(data: Mapping[str, Any]) -> Iterator[Step]:
    """An instance of a claim for which every hypothesis is true and the conclusion is false."""
    fields(data, "The certificate", "claim statement instance")
    claim = data["claim"]
    if type(claim) is not str or not re.fullmatch(r"[a-z0-9-]+/[a-z0-9.-]{1,100}", claim):
        refuse("claim", f"must be an id such as wong/argmax-rank-one, not {brief(claim)}")
    text = fields(data["statement"], "statement", "hypotheses conclusion")
    given = items(text["hypotheses"], "statement.hypotheses", 0)
    hypotheses = [parse(h, "A hypothesis") for h in given]
    conclusion = parse(text["conclusion"], "The conclusion")
    if type(data["instance"]) is not dict:
        refuse("instance", "must be an object")
    for name in data["instance"]:
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,30}", name):
            refuse("instance", f"has a name {brief(name)} that is not a short identifier")
    instance = {name: instance_value(v, f"instance.{name}") for name, v in data["instance"].items()}
    if set(instance) != set().union(*map(names_in, (*hypotheses, conclusion))):
        refuse("instance", "must name exactly what the statement speaks about")

    if claim.startswith(RESERVED):
        known = STATEMENTS.get(claim)
        if known is None:
            yield Step(False, f"{claim} is not among the statements that this checker knows")
            return
        shown = f"{' and '.join(known.hypotheses)} => {known.conclusion}"
        if (tuple(given), text["conclusion"]) != (known.hypotheses, known.conclusion):
            yield Step(False, f"the statement is not that of the claim {claim}: {shown}")
            return
        if {name: type(value) for name, value in instance.items()} != dict(known.instance):
            refuse("instance", f"has values of kinds that do not belong to {claim}")
        for L in (value for value in instance.values() if type(value) is Layer):
            layer_of_the_paper(L, instance.get("D", ()))
        yield Step(True, f"claim {claim}: {shown}")
    else:
        yield Step(True, f"claim {claim}: statement as given by the certificate")
    for hypothesis in hypotheses:
        ok, shown = compare(hypothesis, instance)
        yield Step(ok, f"hypothesis: {shown}" if ok else f"a hypothesis is false: {shown}")
    ok, shown = compare(conclusion, instance)
    yield Step(not ok, f"the conclusion holds: {shown}" if ok else f"the conclusion fails: {shown}")


# --- tensor rank --------------------------------------------------------------------------------

Polynomial = list[Fraction]  # coefficients, the constant one first
Cube = list[list[list[int]]]  # a tensor as nested lists


def check_tensor_rank(data: Mapping[str, Any]) -> Iterator[Step]:
    """lower <= R(T) <= upper over a field: a chain of lower-bound lemmas, and a decomposition.

    The proof is a list of steps. Each step but the last is a lemma of the form
    R(T) >= gain + R(S) where S is computed from T; the last step bounds R from below outright.
    The proofs of the lemmas are in docs/proofs/lemmax.
    """
    names = "tensor field lower upper proof terms families"
    fields(data, "The certificate", names + " ball" * ("ball" in data))
    T, scale = tensor_of(data["tensor"])
    field = choice(data["field"], "field", ("Q", "R", "C"))
    lower = integer(data["lower"], "lower", 2**53)
    upper = integer(data["upper"], "upper", 2**53)
    if lower > upper:
        refuse("lower", "is larger than upper")
    terms = [
        vectors(term, T, f"terms[{i}]") for i, term in enumerate(items(data["terms"], "terms", 0))
    ]
    families = [
        family(value, T, f"families[{i}]")
        for i, value in enumerate(items(data["families"], "families", 0))
    ]
    steps = items(data["proof"], "proof")

    ball = fields(data["ball"], "ball", "maps centre free radius") if "ball" in data else None
    length = len(terms) + sum(len(modulus) - 1 for modulus, _ in families)
    length += len(items(ball["centre"], "ball.centre")) if ball else 0
    if length != upper:
        yield Step(False, f"R <= {upper}: the decomposition has {length} terms")
    for i, (modulus, _) in enumerate(families):
        if field == "Q":
            yield Step(False, f"families[{i}] is irrational, and the field is Q")
        elif field == "R":
            real, distinct = roots_of(modulus)
            if not real == distinct == len(modulus) - 1:
                yield Step(False, f"families[{i}]: {real} of {len(modulus) - 1} roots are real")
    rest = remainder(T, scale, terms, families)
    if ball is None:
        yield check_zero(rest, length)
    elif field == "Q":
        yield Step(False, "the ball holds real terms, and the field is Q")
    else:
        yield from check_ball(ball, rest, length)

    bound, cube = 0, T
    for i, step in enumerate(steps):
        where, last = f"proof[{i}]", i == len(steps) - 1
        named = {name: lemma.fields for name, lemma in LEMMAS.items() if lemma.closes == last}
        lemma = variant(step, where, "lemma", named)
        gain, cube, text = LEMMAS[lemma].apply(step, cube, field, where)
        bound += gain
        yield Step(gain >= 0, f"{lemma}: {text}")
    yield Step(bound >= lower, f"{bound} >= {lower}: the proof gives R >= {bound} over {field}")


def tensor_of(value: object) -> tuple[Cube, int]:
    """The integer tensor scale · T of a tensor given by its shape and its nonzero entries."""
    data = fields(value, "tensor", "shape entries")
    shape = items(data["shape"], "tensor.shape")
    if len(shape) != 3:
        refuse("tensor.shape", "must have three entries")
    a, b, c = (integer(n, "An entry of tensor.shape", 10**6) for n in shape)
    if not a * b * c:
        refuse("tensor.shape", "must be positive")
    affordable(a * b * c * 100, 1, 1, "The tensor")
    found: dict[tuple[int, int, int], Fraction] = {}
    for n, entry in enumerate(items(data["entries"], "tensor.entries", 0)):
        where = f"tensor.entries[{n}]"
        if len(items(entry, where)) != 4:
            refuse(where, "must be three indices and a number")
        i, j, k = (integer(entry[m], where, shape[m]) for m in range(3))
        x = number(entry[3], where)
        if (i, j, k) in found or not x:
            refuse(where, "is zero or repeats a place")
        found[i, j, k] = x
    scale = common_denominator(found.values())
    T = [[[0] * c for _ in range(b)] for _ in range(a)]
    for (i, j, k), x in found.items():
        T[i][j][k] = int(x * scale)
    return T, scale


def sizes(T: Cube) -> tuple[int, int, int]:
    return len(T), len(T[0]), len(T[0][0])


def vectors(value: object, T: Cube, where: str) -> list[list[Fraction]]:
    """One term: a vector for each of the three modes."""
    parts = items(value, where)
    if len(parts) != 3 or tuple(len(items(p, where)) for p in parts) != sizes(T):
        refuse(where, "must have one vector for each mode of the tensor")
    return [[number(x, f"An entry of {where}") for x in part] for part in parts]


def family(value: object, T: Cube, where: str) -> tuple[Polynomial, list[list[Polynomial]]]:
    """The terms a(θ)⊗b(θ)⊗c(θ) for all roots θ of the monic modulus, with multiplicity."""
    data = fields(value, where, "modulus factors")
    modulus = monic(data["modulus"], f"{where}.modulus")
    parts = items(data["factors"], f"{where}.factors")
    if len(parts) != 3 or tuple(len(items(p, where)) for p in parts) != sizes(T):
        refuse(where, "must have one vector for each mode of the tensor")
    return modulus, [[residue(x, modulus, where) for x in part] for part in parts]


def monic(value: object, where: str) -> Polynomial:
    found = [number(x, where) for x in items(value, where)]
    if len(found) < 2 or found[-1] != 1:
        refuse(where, "must be a monic polynomial of positive degree, constant coefficient first")
    bits = len(found) * height(cleared(found)[0])  # of the remainders in Sturm's chain
    affordable(4 * len(found) ** 2, bits, bits, where)
    return found


def residue(value: object, modulus: Polynomial, where: str) -> Polynomial:
    """A polynomial of degree below that of the modulus."""
    found = [number(x, where) for x in items(value, where)]
    if len(found) != len(modulus) - 1:
        refuse(where, f"has a residue that is not given by {len(modulus) - 1} coefficients")
    return found


def reduce_modulo(f: Polynomial, modulus: Polynomial) -> Polynomial:
    f, d = list(f), len(modulus) - 1
    for n in range(len(f) - 1, d - 1, -1):
        lead = f[n] / modulus[-1]
        if lead:
            for m in range(d + 1):
                f[n - d + m] -= lead * modulus[m]
    return (f + [Fraction(0)] * d)[:d]


def multiply(f: Polynomial, g: Polynomial) -> Polynomial:
    out = [Fraction(0)] * (len(f) + len(g) - 1)
    for i, x in enumerate(f):
        if x:
            for j, y in enumerate(g):
                if y:
                    out[i + j] += x * y
    return out


def roots_of(f: Polynomial) -> tuple[int, int]:
    """The numbers of distinct real and of distinct complex roots, by Sturm's chain."""
    chain = [f, [n * x for n, x in enumerate(f)][1:]]
    while any(rest := reduce_modulo(chain[-2], chain[-1])):
        while not rest[-1]:
            rest.pop()
        integers, _ = cleared(rest)  # a positive multiple without common factors stays short
        common = math.gcd(*integers)
        chain.append([Fraction(-x // common) for x in integers])

    def changes(sign: int) -> int:
        signs = [(g[-1] > 0) == (sign > 0 or len(g) % 2 == 1) for g in chain]
        return sum(x != y for x, y in itertools.pairwise(signs))

    return changes(-1) - changes(1), len(f) - len(chain[-1])


def power_sums(f: Polynomial, count: int) -> list[Fraction]:
    """Newton: the sums over the roots of a monic f, with multiplicity, of their m-th powers."""
    n = len(f) - 1
    sums = [Fraction(n)]
    for m in range(1, count):
        known = sum((f[n - k] * sums[m - k] for k in range(1, min(m, n + 1))), Fraction(0))
        sums.append(-known - (m * f[n - m] if m <= n else 0))
    return sums


def remainder(
    T: Cube,
    scale: int,
    terms: Sequence[Sequence[Sequence[Fraction]]],
    families: Sequence[tuple[Polynomial, Sequence[Sequence[Polynomial]]]],
) -> list[list[list[Fraction]]]:
    """The sum of the terms and the families, minus T / scale, exactly."""
    a, b, c = sizes(T)
    work = sum(50 * a * b * len(f) * (2 * len(f) + c) for f, _ in families)
    numbers = (itertools.chain(f, *itertools.chain(*parts)) for f, parts in families)
    bits = max(
        (2 * len(f) * height(x) for (f, _), x in zip(families, numbers, strict=True)), default=0
    )
    affordable(work, bits, bits, "The families")
    clear = [[cleared(v) for v in term] for term in terms]
    d = math.lcm(scale, *(math.prod(e for _, e in term) for term in clear))
    affordable(a * b * c * (1 + len(terms)), d.bit_length(), d.bit_length(), "The decomposition")
    total = [[[-x * (d // scale) for x in row] for row in part] for part in T]
    for term in clear:
        (u, _), (v, _), (w, _) = term
        factor = d // math.prod(e for _, e in term)
        support = [(k, factor * z) for k, z in enumerate(w) if z]
        for i, x in enumerate(u):
            for j, y in enumerate(v):
                if xy := x * y:
                    row = total[i][j]
                    for k, z in support:
                        row[k] += xy * z
    rest = [[[Fraction(x, d) for x in row] for row in part] for part in total]
    for modulus, (first, second, third) in families:
        # the sum of g over the roots is linear in g, and Newton gives it for powers
        n = len(modulus) - 1
        sums = power_sums(modulus, 2 * n - 1)
        traced = [[sum(map(operator.mul, z, sums[m : m + n])) for m in range(n)] for z in third]
        for (i, f), (j, g) in itertools.product(enumerate(first), enumerate(second)):
            if any(f) and any(g):
                fg = reduce_modulo(multiply(f, g), modulus)
                rest[i][j] = [
                    x + sum(map(operator.mul, fg, z))
                    for x, z in zip(rest[i][j], traced, strict=True)
                ]
    return rest


def check_zero(rest: Sequence[Sequence[Sequence[Fraction]]], length: int) -> Step:
    """The terms add up to the tensor, exactly."""
    a, b, c = len(rest), len(rest[0]), len(rest[0][0])
    bad = next(
        ((i, j, k) for i in range(a) for j in range(b) for k in range(c) if rest[i][j][k]), None
    )
    if bad is not None:
        return Step(False, f"the sum of the {length} terms differs from the tensor at {bad}")
    return Step(True, f"R <= {length}: the {length} terms of rank one add up to the tensor")


def check_ball(
    ball: Mapping[str, Any], rest: Sequence[Sequence[Sequence[Fraction]]], length: int
) -> Iterator[Step]:
    """What the terms leave, -rest, is a sum of real terms near those of the centre.

    Integer maps of the modes that keep the ranks of the flattenings keep the tensor rank: they can
    be undone on the tensor S they give. Let x be the free entries of the terms, N in number, while
    the others stay as they are in the centre. F(x) = Σ a⊗b⊗c - S has to vanish where x does not
    occur, and N entries of F are left. With x0 from the centre, a matrix Y, ρ the radius,
    η = |Y F(x0)| and κ = |1 - Y F'(x0)| in the maximum norm, G(x) = x - Y F(x) has a derivative of
    norm at most s = κ + |Y| L on the ball of radius ρ, where L = 2ρ(α + β + γ) + 3Rρ² bounds the
    change of F' (α is the largest sum of |a(i)| over the R terms, β and γ likewise). If s < 1 and
    η + sρ <= ρ then G is a contraction of the ball, so it has a fixed point, where F = 0: Y is
    regular since κ < 1. Y is an approximate inverse of F'(x0) made here.
    """
    d = common_denominator([x for part in rest for row in part for x in row])
    S = [[[int(-x * d) for x in row] for row in part] for part in rest]
    for mode, part in enumerate(triple(ball["maps"], "ball.maps")):
        before = exact_rank(S, mode)
        S = mapped(part, S, mode, f"ball.maps[{mode}]")
        if (after := exact_rank(S, mode)) != before:
            yield Step(False, f"the map of mode {mode} lowers a rank from {before} to {after}")
    a, b, c = sizes(S)
    centre = [vectors(term, S, f"ball.centre[{r}]") for r, term in enumerate(ball["centre"])]
    stack = [
        [term[m][i] for term in centre] for m, size in enumerate((a, b, c)) for i in range(size)
    ]
    free = indices(ball["free"], "ball.free", len(stack) * len(centre))
    radius = number(ball["radius"], "ball.radius")
    if not 0 < len(free) <= LIMITS["equations"] or radius < 0:
        refuse("ball", f"must have 1..{LIMITS['equations']} free entries and a radius >= 0")
    h = common_denominator([x for row in stack for x in row])
    bits = h.bit_length() + d.bit_length() + height(x for row in stack for x in row)
    affordable(12 * len(centre) * (a * b * c + len(free) ** 2), 3 * bits, 3 * bits, "The centre")
    affordable(4 * len(free) ** 3, _INVERSE_BITS, _INVERSE_BITS, "The inverse")
    X = [[int(x * h) for x in row] for row in stack]
    column = {place: n for n, place in enumerate(free)}
    value: list[int] = []  # times h^3 d
    jacobian: list[dict[int, int]] = []  # times h^2
    for i, j, k in itertools.product(range(a), range(b), range(c)):
        total, occurs = -S[i][j][k] * h**3, False
        derivative: dict[int, int] = {}
        for r in range(len(centre)):
            x, y, z = X[i][r], X[a + j][r], X[a + b + k][r]
            at = [column.get(n * len(centre) + r) for n in (i, a + j, a + b + k)]
            total += x * y * z * d
            by = zip(at, (y * z, x * z, x * y), strict=True)
            derivative |= {n: w for n, w in by if n is not None}
            given = (w for n, w in zip(at, (x, y, z), strict=True) if n is None)
            occurs |= all(given) and at != [None] * 3
        if occurs:
            value.append(total)
            jacobian.append(derivative)
        elif total:
            yield Step(
                False, f"no free entry contributes to ({i}, {j}, {k}), where the sum is wrong"
            )
    N, one = len(free), h * h << _INVERSE_BITS
    if len(jacobian) != N:
        yield Step(False, f"there are {len(jacobian)} equations for {N} free entries")
    Y = approximate_inverse(
        [[(row.get(n, 0) << _INVERSE_BITS) // (h * h) for n in range(N)] for row in jacobian]
    )
    if Y is None:
        yield Step(False, "the derivative is singular, or nearly")
        return
    kappa = 0
    for i, line in enumerate(Y):
        product = [0] * N
        for w, row in zip(line, jacobian, strict=True):
            for n, x in row.items():
                product[n] += w * x
        product[i] -= one
        kappa = max(kappa, sum(map(abs, product)))
    eta = Fraction(max(abs(dot(line, value)) for line in Y), one * h * d)
    norm = Fraction(max(sum(map(abs, line)) for line in Y), 1 << _INVERSE_BITS)
    sums = [sum(map(abs, row)) for row in X]
    size = Fraction(max(sums[:a]) + max(sums[a : a + b]) + max(sums[a + b :]), h)
    slope = Fraction(kappa, one) + norm * (2 * radius * size + 3 * len(centre) * radius**2)
    ok = slope < 1 and eta + slope * radius <= radius
    text = f"s < 2^{magnitude(slope)}, eta < 2^{magnitude(eta)}, radius < 2^{magnitude(radius)}"
    if not ok:
        yield Step(False, f"Newton's method does not contract the ball: {text}")
    yield Step(True, f"R <= {length}: {len(centre)} real terms exist, Newton contracts: {text}")


_INVERSE_BITS = 96  # after the point, in the approximate inverse


def approximate_inverse(rows: list[list[int]]) -> list[list[int]] | None:
    """The inverse of a matrix, both in units of 2^-_INVERSE_BITS; no claim on its precision.

    None where a pivot is zero, or where the numbers grow so long that it would be useless.
    """
    swaps = []
    for c in range(len(rows)):
        found = max(range(c, len(rows)), key=lambda i: abs(rows[i][c]))
        swaps.append(found)
        rows[c], rows[found] = rows[found], rows[c]
        pivot, rows[c][c] = rows[c][c], 1 << _INVERSE_BITS
        if not pivot:
            return None
        top = rows[c] = [(x << _INVERSE_BITS) // pivot for x in rows[c]]
        if bits_of([top, [row[c] for row in rows]]) > 2 * _INVERSE_BITS:
            return None
        for i, row in enumerate(rows):
            if i != c and (f := row[c]):
                row[c] = 0
                rows[i] = [x - (f * y >> _INVERSE_BITS) for x, y in zip(row, top, strict=True)]
    for c in reversed(range(len(rows))):
        for row in rows:
            row[c], row[swaps[c]] = row[swaps[c]], row[c]
    return rows


def magnitude(x: Fraction) -> int:
    """An exponent e with x < 2^e."""
    return x.numerator.bit_length() - x.denominator.bit_length() + 1


def turned(T: Cube, mode: int) -> Cube:
    """The slices of a mode, as a list of matrices; the other modes keep their order."""
    if mode == 0:
        return T
    if mode == 1:
        return [[part[j] for part in T] for j in range(len(T[0]))]
    return [[[row[k] for row in part] for part in T] for k in range(len(T[0][0]))]


def flattened(T: Cube, mode: int) -> list[list[int]]:
    """The flattening that keeps a mode, without columns that repeat or vanish."""
    long = ([x for row in part for x in row] for part in turned(T, mode))
    columns = [column for column in dict.fromkeys(zip(*long, strict=True)) if any(column)]
    return [list(row) for row in zip(*columns, strict=True)]


def rank_mod(rows: Sequence[Sequence[int]], p: int) -> int:
    """The rank mod the prime p, which is at most the rank over Q, R and C."""
    a = [[x % p for x in row] for row in rows]
    width = len(a[0]) if a else 0
    affordable(len(a) * width * min(len(a), width), p.bit_length(), p.bit_length(), "A rank mod p")
    rank = 0
    for column in range(width):
        found = next((i for i in range(rank, len(a)) if a[i][column]), None)
        if found is None:
            continue
        a[rank], a[found] = a[found], a[rank]
        inverse = pow(a[rank][column], -1, p)
        top = a[rank][column:]
        for i in range(rank + 1, len(a)):
            if a[i][column]:
                f = a[i][column] * inverse % p
                a[i][column:] = [(x - f * y) % p for x, y in zip(a[i][column:], top, strict=True)]
        rank += 1
    return rank


def lower_rank(T: Cube, mode: int, p: int) -> int:
    return rank_mod(flattened(T, mode), p)


def exact_rank(T: Cube, mode: int) -> int:
    rows = flattened(T, mode)
    tall = rows if not rows or len(rows) >= len(rows[0]) else list(zip(*rows, strict=True))
    return integer_rank(tall, "A flattening rank") if rows else 0


def mapped(value: object, T: Cube, mode: int, where: str) -> Cube:
    """T with a mode mapped: [] leaves it, indices select slices, rows of integers combine them."""
    slices = turned(T, mode)
    entries = items(value, where, 0)
    if not entries:
        return T
    if type(entries[0]) is int:
        chosen = [slices[i] for i in indices(entries, where, len(slices))]
    else:
        rows = [[whole(x, where) for x in row] for row in matrix_rows(entries, where, len(slices))]
        bits = bits_of(row for part in slices for row in part)
        affordable(len(rows) * math.prod(sizes(T)), 64 + bits_of(rows), 64 + bits, where)
        storable(len(rows) * len(slices[0]) * len(slices[0][0]), bits + bits_of(rows), where)
        chosen = [
            [
                [sum(map(operator.mul, row, fibre)) for fibre in zip(*lines, strict=True)]
                for lines in zip(*slices, strict=True)
            ]
            for row in rows
        ]
    return turned_back(chosen, mode)


def turned_back(slices: Cube, mode: int) -> Cube:
    """The tensor with these slices: turned(turned_back(S, mode), mode) = S."""
    if mode == 0:
        return slices
    if mode == 1:
        return [[part[i] for part in slices] for i in range(len(slices[0]))]
    a, b = len(slices[0]), len(slices[0][0])
    return [[[part[i][j] for part in slices] for j in range(b)] for i in range(a)]


def matrix_rows(value: list[Any], where: str, width: int) -> list[list[Any]]:
    for row in value:
        if len(items(row, where)) != width:
            refuse(where, f"must have rows of {width} entries")
    return value


def restricted(value: object, T: Cube, where: str) -> Cube:
    """T with one map a mode applied."""
    for mode, part in enumerate(triple(value, f"{where}.maps")):
        T = mapped(part, T, mode, f"{where}.maps[{mode}]")
    return T


def triple(value: object, where: str) -> list[Any]:
    if len(items(value, where)) != 3:
        refuse(where, "must have three entries")
    return list(value)  # type: ignore[call-overload,no-any-return]


Bound = tuple[int, Cube, str]  # the gain, the tensor that remains, and the step in words


def by_restriction(step: Mapping[str, Any], T: Cube, field: str, where: str) -> Bound:
    """Applying a linear map to each mode never increases the rank."""
    rest = restricted(step["maps"], T, where)
    return 0, rest, f"R >= R of a {' x '.join(map(str, sizes(rest)))} restriction"


def by_substitution(step: Mapping[str, Any], T: Cube, field: str, where: str) -> Bound:
    """R(T) >= r(T) - r(T|) + R(T|), r the rank of the flattening that keeps the mode.

    T| is T with maps applied to the two other modes; a map of the mode itself comes after.
    """
    mode, p = integer(step["mode"], f"{where}.mode", 3), prime(step["prime"], f"{where}.prime")
    maps = triple(step["maps"], f"{where}.maps")
    other = restricted([[] if m == mode else part for m, part in enumerate(maps)], T, where)
    before, after = lower_rank(T, mode, p), exact_rank(other, mode)
    rest = mapped(maps[mode], other, mode, f"{where}.maps[{mode}]")
    shape = " x ".join(map(str, sizes(rest)))
    return before - after, rest, f"R >= {before} - {after} + R of a {shape} restriction"


def by_flattening(step: Mapping[str, Any], T: Cube, field: str, where: str) -> Bound:
    """R(T) >= the rank of a flattening."""
    mode, p = integer(step["mode"], f"{where}.mode", 3), prime(step["prime"], f"{where}.prime")
    found = lower_rank(T, mode, p)
    return found, T, f"R >= {found}, the rank mod {p} of the flattening of mode {mode}"


class LeftKernel(NamedTuple):
    """Slices A, B with m rows, a root x of the modulus, and Y: g independent rows, Y(A + xB) = 0.

    Y has a unit matrix in the columns named by the pivots, so its rows are independent at every
    root; hence A + xB has rank at most m - g at every root.
    """

    A: list[list[int]]
    B: list[list[int]]
    modulus: Polynomial
    Y: list[list[Polynomial]]
    holds: bool

    def times(self, row: list[Polynomial], M: list[list[int]]) -> list[Polynomial]:
        """The row vector row · M of residues."""
        out = [[Fraction(0)] * (len(self.modulus) - 1) for _ in M[0]]
        for y, entries in zip(row, M, strict=True):
            for j in (j for j, entry in enumerate(entries) if entry and any(y)):
                out[j] = [a + entries[j] * b for a, b in zip(out[j], y, strict=True)]
        return out

    def at_root(self, row: list[Polynomial]) -> list[Polynomial]:
        """The row vector row · (A + xB) of residues."""
        shifted = ([Fraction(0), *y] for y in self.times(row, self.B))
        products = zip(
            self.times(row, self.A), (reduce_modulo(y, self.modulus) for y in shifted), strict=True
        )
        return [[a + b for a, b in zip(u, v, strict=True)] for u, v in products]

    def bound(self, T: Cube, mode: int, p: int) -> tuple[int, str]:
        """R >= r + r' - (m - g), r and r' the ranks of the flattenings of the other modes."""
        r, s = (lower_rank(T, other, p) for other in range(3) if other != mode)
        drop, degree = len(self.A) - len(self.Y), len(self.modulus) - 1
        return r + s - drop, f"R >= {r} + {s} - {drop}, at a root of degree {degree}"


def left_kernel(step: Mapping[str, Any], T: Cube, mode: int, where: str) -> LeftKernel:
    slices = turned(T, mode)
    if len(slices) != 2:
        refuse(where, "needs a mode of size two")
    order = indices(step["order"], f"{where}.order", 2)
    if len(order) != 2:
        refuse(f"{where}.order", "must have two entries")
    A, B = (slices[i] for i in order)
    modulus = monic(step["modulus"], f"{where}.modulus")
    Y = residues(step["left"], modulus, T, len(A), f"{where}.left")
    pivots = indices(step["pivots"], f"{where}.pivots", len(A))
    if len(pivots) != len(Y):
        refuse(f"{where}.pivots", "must name one column for each row of left")
    one, zero = reduce_modulo([Fraction(1)], modulus), [Fraction(0)] * (len(modulus) - 1)
    unit = all(
        Y[i][k] == (one if i == j else zero) for i in range(len(Y)) for j, k in enumerate(pivots)
    )
    found = LeftKernel(A, B, modulus, Y, unit)
    return found._replace(holds=unit and not any(map(any, itertools.chain(*map(found.at_root, Y)))))


def residues(
    value: object, modulus: Polynomial, T: Cube, width: int, where: str
) -> list[list[Polynomial]]:
    """A matrix of residues modulo the modulus."""
    rows = matrix_rows(items(value, where), where, width)
    found = [[residue(x, modulus, where) for x in row] for row in rows]
    bits = height(c for row in found for x in row for c in x) + height(modulus)
    affordable(20 * len(found) * math.prod(sizes(T)) * len(modulus), bits, bits, where)
    return found


def height(values: Iterable[Fraction | int]) -> int:
    """The bits of the longest numerator or denominator."""
    return max(
        (max(x.numerator.bit_length(), x.denominator.bit_length()) for x in values), default=0
    )


def by_jet(step: Mapping[str, Any], T: Cube, field: str, where: str) -> Bound:
    """If Y(A + xB) = 0 and YB = W(A + xB) at some complex x then R >= r + r' - (m - g)."""
    mode, p = integer(step["mode"], f"{where}.mode", 3), prime(step["prime"], f"{where}.prime")
    at = left_kernel(step, T, mode, where)
    W = residues(step["jet"], at.modulus, T, len(at.A), f"{where}.jet")
    if not at.holds or [at.times(y, at.B) for y in at.Y] != [at.at_root(w) for w in W]:
        return -1, T, "the left kernel or the jet is not what the lemma needs"
    bound, text = at.bound(T, mode, p)
    return bound, T, f"{text}, with a jet"


def by_eigenvalue(step: Mapping[str, Any], T: Cube, field: str, where: str) -> Bound:
    """If Y(A + xB) = 0 at some x outside the field then R >= r + r' - (m - g).

    Some root of the modulus is not real if Sturm counts fewer real roots than roots; no root is
    rational if the modulus has none modulo some prime.
    """
    mode, p = integer(step["mode"], f"{where}.mode", 3), prime(step["prime"], f"{where}.prime")
    at = left_kernel(step, T, mode, where)
    if step["outside"] == "sturm":
        real, distinct = roots_of(at.modulus)
        outside, name = field != "C" and real < distinct, "that is not real"
    else:
        q, name = prime(step["outside"], f"{where}.outside"), "that is not rational"
        affordable(10 * q * len(at.modulus), 1, 1, f"{where}.outside")
        outside = field == "Q" and all(c.denominator % q for c in at.modulus)
        outside = outside and not has_root_mod(at.modulus, q)
    if not at.holds or not outside:
        return -1, T, "the left kernel or the root is not what the lemma needs"
    bound, text = at.bound(T, mode, p)
    return bound, T, f"{text} {name}"


def has_root_mod(f: Polynomial, q: int) -> bool:
    coefficients = [c.numerator * pow(c.denominator, -1, q) % q for c in reversed(f)]
    for x in range(q):
        value = 0
        for c in coefficients:
            value = (value * x + c) % q
        if value == 0:
            return True
    return False


def by_transversal(step: Mapping[str, Any], T: Cube, field: str, where: str) -> Bound:
    """R >= s + t, where s rank-one matrices lie in the span L of the slices of a mode.

    With N_q the vectors x for which e_q⊗x lies in L, s is the sum of the dim N_q, and t is the
    least size of a set that meets the support of every column q whose vectors are not all in N_q.
    """
    mode, other = (integer(step[n], f"{where}.{n}", 3) for n in ("mode", "columns"))
    hitting = integer(step["hitting"], f"{where}.hitting", 10**6)
    if mode == other:
        refuse(where, "needs two different modes")
    columns = turned(T, other)
    place = mode if mode < other else mode - 1  # where the mode stands in a column
    whole_rank, total, sets = exact_rank(T, mode), 0, []
    for q, column in enumerate(columns):
        rest = turned_back(columns[:q] + columns[q + 1 :], other) if len(columns) > 1 else []
        alone = whole_rank - (exact_rank(rest, mode) if rest else 0)
        total += alone
        rows = column if place == 0 else [list(row) for row in zip(*column, strict=True)]
        if integer_rank(rows, "A column") > alone:
            sets.append(frozenset(k for row in rows for k, x in enumerate(row) if x))
    if hits(sets, hitting - 1):
        return -1, T, f"{hitting - 1} indices meet all the supports"
    return total + hitting, T, f"R >= {total} + {hitting}, the least size of a transversal"


def hits(sets: Sequence[frozenset[int]], size: int) -> bool:
    """Whether some set of the given size meets all the sets."""
    affordable(100 * (1 + len(sets)), 1, 1, "The search for a transversal")
    if not sets:
        return size >= 0
    if size <= 0:
        return False
    smallest = min(sets, key=len)
    return any(hits([s for s in sets if x not in s], size - 1) for x in sorted(smallest))


class Quadrics(NamedTuple):
    """The symmetric matrices Z with Σ z_ij (X_i[u][w] X_j[v][x] - X_i[u][x] X_j[v][w]) = 0 always.

    X_1, ..., X_m are the slices of a mode, and independent. If R = m then the slices span the same
    space as m matrices of rank one, whose coordinate vectors y give the Z = y y^T; these are
    independent, so the Z have at least m dimensions. ``most`` bounds the dimension from above.
    """

    X: Cube
    most: int

    def minor(self, u: int, v: int, w: int, x: int) -> list[list[int]]:
        return [[P[u][w] * N[v][x] - P[u][x] * N[v][w] for N in self.X] for P in self.X]


def quadrics(step: Mapping[str, Any], T: Cube, where: str) -> Quadrics:
    mode, p = integer(step["mode"], f"{where}.mode", 3), prime(step["prime"], f"{where}.prime")
    found = Quadrics(turned(T, mode), 0)
    m, b, c = len(found.X), len(found.X[0]), len(found.X[0][0])
    if lower_rank(T, mode, p) < m:
        refuse(where, "needs slices that are independent mod the prime")
    pairs = [(i, j) for i in range(m) for j in range(i, m)]
    rows, small = [], Quadrics([[[x % p for x in row] for row in part] for part in found.X], 0)
    for n, minor in enumerate(items(step["minors"], f"{where}.minors", 0)):
        place = f"{where}.minors[{n}]"
        if len(items(minor, place)) != 4:
            refuse(place, "must have four indices")
        affordable(20 * len(pairs), 1, 1, where)
        u, v, w, x = (integer(e, place, size) for e, size in zip(minor, (b, b, c, c), strict=True))
        M = small.minor(u, v, w, x)
        rows.append([M[i][j] + M[j][i] if i < j else M[i][i] for i, j in pairs])
    return found._replace(most=len(pairs) - rank_mod(rows, p))


def by_quadrics(step: Mapping[str, Any], T: Cube, field: str, where: str) -> Bound:
    """R >= m + 1 if the quadrics have fewer than m dimensions."""
    found = quadrics(step, T, where)
    m = len(found.X)
    shown = f"R >= {m + 1}: at most {found.most} dimensions of quadrics for {m} slices"
    return (m + 1 if found.most < m else -1), T, shown


def by_quadric_pencil(step: Mapping[str, Any], T: Cube, field: str, where: str) -> Bound:
    """R >= m + 1 if the quadrics have m dimensions and two of them form a pencil of rank > m.

    If R = m they are the Σ λ_i y_i y_i^T, and two of them would form a pencil of rank at most m.
    """
    found = quadrics(step, T, where)
    m, b, c = len(found.X), len(found.X[0]), len(found.X[0][0])
    pair = [
        [[whole(x, where) for x in row] for row in matrix_rows(items(Z, where), where, m)]
        for Z in items(step["kernel"], f"{where}.kernel")
    ]
    if len(pair) != 2 or any(len(Z) != m for Z in pair):
        refuse(f"{where}.kernel", f"must be two {m} x {m} matrices")
    bits = bits_of(row for part in found.X for row in part)
    affordable(b * b * c * c * m * m, bits_of(itertools.chain(*pair)) + bits, 64 + bits, where)
    places = itertools.product(range(b), range(b), range(c), range(c))
    minors = (found.minor(u, v, w, x) for u, v, w, x in places if u < v and w < x)
    inside = all(list(map(list, zip(*Z, strict=True))) == Z for Z in pair)
    inside = inside and not any(sum(map(dot, Z, M)) for M in minors for Z in pair)
    if found.most > m or not inside:
        return -1, T, "the two matrices, or the minors, are not what the lemma needs"
    options = {name: LEMMAS[name].fields for name in ("jet", "eigenvalue")}
    lemma = variant(step["pencil"], f"{where}.pencil", "lemma", options)
    bound, _, text = LEMMAS[lemma].apply(step["pencil"], pair, field, f"{where}.pencil")
    return (m + 1 if bound > m else -1), T, f"R >= {m + 1}: two quadrics with {text}"


def by_contraction(step: Mapping[str, Any], T: Cube, field: str, where: str) -> Bound:
    """R >= m + 1: contracting all rank-one matrices in the span L of the m slices gives zero.

    With h a functional and G the span of the vectors Mh, M in L, a matrix x⊗y in L has h(y) = 0 or
    x in G. If Mh = 0 on L ∩ (G⊗C), that is dim(L + G⊗C) = dim(L + G⊗ker h) + dim G, then L is not
    spanned by matrices of rank one.
    """
    mode, other = (integer(step[n], f"{where}.{n}", 3) for n in ("mode", "columns"))
    p = prime(step["prime"], f"{where}.prime")
    if mode == other:
        refuse(where, "needs two different modes")
    X = turned(T, mode)
    if other > 3 - mode - other:  # rows of each matrix belong to the mode of the columns
        X = [[list(row) for row in zip(*part, strict=True)] for part in X]
    m, b, c = len(X), len(X[0]), len(X[0][0])
    h = [whole(x, where) for x in matrix_rows([items(step["functional"], where)], where, c)[0]]
    G = [
        [whole(x, where) for x in row]
        for row in matrix_rows(items(step["basis"], f"{where}.basis"), f"{where}.basis", b)
    ]
    bits = bits_of([h]) + bits_of(row for part in X for row in part)
    affordable((m + len(G) * c) ** 2 * b * c, bits + bits_of(G), 64, where)
    images = [[dot(row, h) for row in part] for part in X]
    if lower_rank(T, mode, p) < m or not any(map(any, images)):
        return -1, T, "the slices are dependent, or the contraction is zero"
    if rank_mod(G, p) < len(G) or integer_rank([*G, *images], f"{where}.basis") > len(G):
        return -1, T, "the basis is not one of the contracted matrices"
    lead = next(j for j, x in enumerate(h) if x)
    units = [[int(i == j) for i in range(c)] for j in range(c)]
    kernel = [
        [h[lead] * x - h[j] * y for x, y in zip(units[j], units[lead], strict=True)]
        for j in range(c)
        if j != lead
    ]
    L = flattened_slices(X)
    both, zero = ([[x * y for x in g for y in u] for g in G for u in U] for U in (units, kernel))
    tall = list(map(list, zip(*L, *zero, strict=True)))
    holds = rank_mod([*L, *both], p) == integer_rank(tall, where) + len(G)
    return (
        (m + 1 if holds else -1),
        T,
        f"R >= {m + 1}: the rank-one matrices in the span vanish on h",
    )


def by_square(step: Mapping[str, Any], T: Cube, field: str, where: str) -> Bound:
    """R >= m + 1 if the square of a form on the span L of the m slices is a sum of minors.

    With z the coordinates of L, a form whose square is a combination of the 2 x 2 minors of
    Σ z_i X_i vanishes on the matrices of rank one in L, so they do not span it.
    """
    mode, p = integer(step["mode"], f"{where}.mode", 3), prime(step["prime"], f"{where}.prime")
    found = Quadrics(turned(T, mode), 0)
    m, b, c = len(found.X), len(found.X[0]), len(found.X[0][0])
    form = [whole(x, where) for x in matrix_rows([items(step["form"], where)], where, m)[0]]
    minors, weights = (items(step[n], f"{where}.{n}") for n in ("minors", "weights"))
    if len(minors) != len(weights):
        refuse(where, "needs a weight for each minor")
    factors, scale = cleared([number(x, f"{where}.weights") for x in weights])
    if lower_rank(T, mode, p) < m or not any(form):
        return -1, T, "the slices are dependent, or the form is zero"
    entries = bits_of(row for part in found.X for row in part)
    bits = 2 * max(entries, bits_of([form])) + bits_of([factors, [scale]])
    affordable(20 * (len(minors) + 1) * m * m, bits, bits, where)
    total = [[0] * m for _ in range(m)]
    for n, (minor, factor) in enumerate(zip(minors, factors, strict=True)):
        place = f"{where}.minors[{n}]"
        if len(items(minor, place)) != 4:
            refuse(place, "must have four indices")
        u, v, w, x = (integer(e, place, size) for e, size in zip(minor, (b, b, c, c), strict=True))
        M = found.minor(u, v, w, x)
        for i, row in enumerate(total):
            for j in range(m):
                row[j] += factor * (M[i][j] + M[j][i])
    holds = all(
        row == [2 * scale * x * y for y in form] for x, row in zip(form, total, strict=True)
    )
    return (m + 1 if holds else -1), T, f"R >= {m + 1}: the rank-one matrices lie in a hyperplane"


def flattened_slices(X: Cube) -> list[list[int]]:
    return [[x for row in part for x in row] for part in X]


def by_koszul(step: Mapping[str, Any], T: Cube, field: str, where: str) -> Bound:
    """Landsberg and Ottaviani: 2p + 1 slices; R >= rank of the Koszul flattening / C(2p, p).

    For one term a⊗b⊗c it is the map x -> a∧x of p-vectors, of rank C(2p, p), times b c^T.
    """
    mode, q = integer(step["mode"], f"{where}.mode", 3), prime(step["prime"], f"{where}.prime")
    X = turned(T, mode)
    half, odd = divmod(len(X), 2)
    if not odd or half < 1:
        refuse(where, "needs an odd number of slices, at least three")
    affordable(math.comb(len(X), half) ** 2 * len(X[0]) * len(X[0][0]), 1, 1, where)
    rows = []
    for large in itertools.combinations(range(len(X)), half + 1):
        for k in range(len(X[0][0])):
            row: list[int] = []
            for small in itertools.combinations(range(len(X)), half):
                extra = [i for i in large if i not in small]
                sign = (-1) ** large.index(extra[0]) if len(extra) == 1 else 0
                row += [sign * part[k] for part in X[extra[0]]] if sign else [0] * len(X[0])
            rows.append(row)
    found, share = rank_mod(rows, q), math.comb(2 * half, half)
    return -(-found // share), T, f"R >= {found} / {share}, the rank of a Koszul flattening"


class Lemma(NamedTuple):
    """A lower-bound lemma: the fields of its step, whether it ends a proof, and what it gives."""

    fields: str
    closes: bool
    apply: Callable[[Mapping[str, Any], Cube, str, str], Bound]


_PENCIL = "mode prime order modulus left pivots"
LEMMAS: dict[str, Lemma] = {
    "restriction": Lemma("maps", False, by_restriction),
    "substitution": Lemma("mode prime maps", False, by_substitution),
    "flattening": Lemma("mode prime", True, by_flattening),
    "jet": Lemma(f"{_PENCIL} jet", True, by_jet),
    "eigenvalue": Lemma(f"{_PENCIL} outside", True, by_eigenvalue),
    "transversal": Lemma("mode columns hitting", True, by_transversal),
    "quadrics": Lemma("mode prime minors", True, by_quadrics),
    "quadric-pencil": Lemma("mode prime minors kernel pencil", True, by_quadric_pencil),
    "contraction": Lemma("mode columns functional basis prime", True, by_contraction),
    "square": Lemma("mode form minors weights prime", True, by_square),
    "koszul": Lemma("mode prime", True, by_koszul),
}
KINDS: dict[str, Callable[[Mapping[str, Any]], Iterator[Step]]] = {
    "matrix-rank": check_matrix_rank,
    "softmax-rank": check_softmax_rank,
    "memorization": check_memorization,
    "refutation": check_refutation,
    "tensor-rank": check_tensor_rank,
    "aot-memorization": check_aot_memorization,
    "aot-rank": check_aot_rank,
    "kl-interval": check_kl_interval,
    "multi-head": check_multi_head,
    "kruskal-rank": check_kruskal_rank,
}


# --- the checker --------------------------------------------------------------------------------


def check(certificate: object) -> Verdict:
    """Check a certificate, read from JSON; raise NotACertificate if it is malformed.

    >>> check({"format": "lemmax-certificate", "version": 1, "kind": "matrix-rank",
    ...        "matrix": [["1", "2"], ["3", "4"]], "rank": 2, "upper": {"method": "size"},
    ...        "lower": {"prime": "7", "rows": [0, 1], "columns": [0, 1]}}).holds
    True
    """
    if isinstance(certificate, dict):  # also one that knows how to print itself
        certificate = dict(certificate)
    before = _TALLY.set([0])
    try:
        screen(certificate, 0, [0, 0])
        if type(certificate) is not dict:
            refuse("A certificate", f"is an object, not {brief(certificate)}")
        data: dict[str, Any] = dict(certificate)
        for name, wanted in (("format", "lemmax-certificate"), ("version", 1)):
            if data.pop(name, None) != wanted:
                refuse(name, f"must be {brief(wanted)}")
        kind = choice(data.pop("kind", None), "kind", tuple(KINDS))
        note = data.pop("note", "")
        if type(note) is not str or len(note) > 2000:
            refuse("note", "must be a string of at most 2000 characters")
        steps = []
        try:
            for step in KINDS[kind](data):
                steps.append(step.text)
                if not step.ok:
                    return Verdict(kind, False, tuple(steps))
        except Undecided as reason:
            return Verdict(kind, False, (*steps, f"undecided: {reason}"))
        return Verdict(kind, bool(steps), tuple(steps))
    except (RecursionError, MemoryError, OverflowError) as error:
        raise NotACertificate(f"The certificate is too large: {type(error).__name__}.") from None
    finally:
        _TALLY.reset(before)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        refuse("An object of the file", "has a repeated field")
    return found


def _integer(text: str) -> int:
    if len(text) > 17:
        refuse("An integer of the file", "is 2^53 or larger and must be written as a string")
    return int(text)


def _no_float(text: str) -> NoReturn:
    refuse("The file", f"contains {brief(text)}, and exact numbers are strings")


def read(path: str | os.PathLike[str]) -> object:
    """The JSON value of a file, or NotACertificate."""
    limit = LIMITS["file bytes"]
    try:
        if not os.path.isfile(path):
            refuse("The file", "does not exist or is not a regular file")
        with open(path, "rb") as stream:
            raw = stream.read(limit + 1)
        if len(raw) > limit:
            refuse("The file", f"is larger than {limit} bytes")
        return json.loads(
            raw.decode("utf-8"),
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_float=_no_float,
            parse_constant=_no_float,
        )
    except NotACertificate:
        raise
    except OSError as error:
        raise NotACertificate(f"The file cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise NotACertificate(f"The file is not JSON in UTF-8: {error}.") from None
    except (RecursionError, MemoryError):
        raise NotACertificate("The file is nested too deep or too large.") from None


def check_file(path: str | os.PathLike[str]) -> Verdict:
    """Check the certificate in a file; raise NotACertificate if there is none."""
    return check(read(path))


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(description="Check lemmax certificates.", allow_abbrev=False)
    parser.add_argument("certificates", nargs="*", metavar="CERTIFICATE")
    parser.add_argument("--json", action="store_true", help="print the verdicts as JSON")
    parser.add_argument("--limits", action="store_true", help="print the largest sizes and stop")
    options = parser.parse_args(argv)
    if options.limits:
        print(json.dumps(LIMITS, indent=2))
        return 0
    if not options.certificates:
        parser.error("name at least one certificate")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # never fail over a letter the terminal lacks
            stream.reconfigure(errors="backslashreplace")
    status = 0
    report: list[dict[str, object]] = []
    for path in options.certificates:
        try:
            verdict = check_file(path)
        except NotACertificate as error:
            status = 2
            report.append({"file": path, "status": "not-a-certificate", "error": str(error)})
            if not options.json:
                print(f"{path}: not a certificate: {error}", file=sys.stderr)
            continue
        status = max(status, 0 if verdict.holds else 1)
        name = "holds" if verdict.holds else "does not hold"
        entry = {"file": path, "status": name.replace(" ", "-"), "kind": verdict.kind}
        report.append({**entry, "steps": list(verdict.steps)})
        if not options.json:
            *steps, last = verdict.steps
            last = last if verdict.holds else f"FAILED {last}"
            print("\n  ".join((f"{path}: {verdict.kind}: {name}", *steps, last)))
    if options.json:
        print(json.dumps(report, indent=2))
    return status


if __name__ == "__main__":
    sys.exit(main())
