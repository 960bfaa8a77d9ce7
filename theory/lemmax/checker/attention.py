"""One attention layer: how it is read, and its forward pass on two tokens (Wong 2025)."""

import functools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from .arithmetic import (
    Table,
    bits_of,
    classes,
    cleared_all,
    cleared_rows,
    dot,
    image,
    representatives,
    times,
)
from .enclosures import FIRST_PRECISION, Logits, precisions, probability_at_least, probably, sigmoid
from .limits import brief, foresee, keep, multiply, refuse, spend
from .planes import hull, plane
from .reading import Matrix, choice, fields, items, matrix

_NAMES = ("W_Q", "W_K", "W_V", "W_O")


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

    def integers(self) -> tuple[list[tuple[Table, Table, Table, Table]], int, int]:
        """W_Q, W_K, W_V, W_O of every head, and the scales of W_Q W_K and of W_V W_O."""
        parts = ([getattr(head, name) for head in self.heads] for name in _NAMES)
        (W_Q, q), (W_K, k), (W_V, v), (W_O, o) = map(cleared_all, parts)
        return list(zip(W_Q, W_K, W_V, W_O, strict=True)), q * k, v * o


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


@dataclass(frozen=True)
class Residual:
    """The last residual vector (base + Σ σ(s) delta_s) / denominator, all of it integers.

    The s > 0 are distinct rationals, times the unit; σ is the logistic function.
    """

    base: list[int]
    deltas: list[tuple[Fraction, list[int]]]
    denominator: int

    @functools.cached_property
    def bits(self) -> int:
        return bits_of((self.base, *(delta for _, delta in self.deltas)))


class Forward:
    """The forward pass of a layer on (k, q), at the last position (Wong 2025, equations 2 and 3).

    With rows x of W_E, the attention to the position of k is α = σ((x_q W_Q W_K (x_k - x_q)ᵀ)·unit)
    and the logits are y W_U with y = x_q + Σ_h (x_q + α_h (x_k - x_q)) W_V W_O.
    """

    def __init__(self, layer: Layer, questions: int) -> None:
        self.unit = layer.unit
        self.rows = cleared_rows(layer.W_E)
        self.heads, self.score_scale, self.value_scale = layer.integers()
        self.width = 2 * sum(len(W_K) for _, W_K, _, _ in self.heads)
        (W_U,), self.unembedding_scale = cleared_all([layer.W_U])
        # Tokens with one and the same column of W_U have the same logit on every input.
        self.column_of = classes(W_U.columns)
        self.columns = [W_U.columns[t] for t in representatives(self.column_of)]
        tally = Counter(self.column_of)
        self.counts = [tally[j] for j in range(len(self.columns))]
        self.coordinates = Table(map(list, zip(*self.columns, strict=True)))
        keep("The unembedding", 3 * len(self.columns), self.coordinates.bits)
        self.norms = [sum(map(abs, column)) for column in self.columns]
        self.parts = functools.cache(self._parts)
        self.hull = self._hull(questions)
        rivals = len(self.columns) if self.hull is None else 2
        foresee("The comparison of the logits", questions * rivals * len(layer.W_U))

    def _hull(self, questions: int) -> dict[int, list[int]] | None:
        """The vertices of the convex hull of the columns of W_U, where that is a polygon.

        There a column has the strictly largest logit iff it is a vertex and beats its neighbours.
        """
        if questions < 16:  # not worth while
            return None
        seen = plane(self.columns, "The columns of W_U")
        if seen is None:
            return None
        return hull([(u[seen[0]], u[seen[1]]) for u in self.columns], "The columns of W_U")

    def _parts(self, t: int) -> tuple[list[tuple[list[int], list[int], list[int]]], int]:
        """For each head x W_Q, x W_Kᵀ and x W_V W_O of token t, scaled to integers; the longest."""
        x = self.rows[t][0]
        parts = [
            (times(x, W_Q), image(W_K, x), times(times(x, W_V), W_O))
            for W_Q, W_K, W_V, W_O in self.heads
        ]
        bits = max([bits_of([x]), *map(bits_of, parts)])
        keep("The forward pass", sum(len(row) for part in parts for row in part), bits)
        return parts, bits

    def residual(self, k: int, q: int) -> Residual:
        d_k, (x_q, d_q) = self.rows[k][1], self.rows[q]
        (of_k, bits_k), (of_q, bits_q) = self.parts(k), self.parts(q)
        scale = d_q * d_q * d_k * self.score_scale
        factor = (d_k * d_q * self.value_scale).bit_length()
        long = max(bits_k, bits_q, factor)
        multiply("The attention scores", self.width, max(long, d_k.bit_length()))
        spend("The attention scores", 10 * len(of_q), scale.bit_length(), 2 * long)
        spend("The forward pass", (8 * len(of_q) + 4) * len(x_q), long, factor)
        base = [d_k * self.value_scale * x for x in x_q]
        terms: dict[str, tuple[Fraction, list[int]]] = {}
        for (_, key_k, value_k), (query, key_q, value_q) in zip(of_k, of_q, strict=True):
            score = d_q * dot(query, key_k) - d_k * dot(query, key_q)
            s = Fraction(score, scale)
            delta = [d_q * a - d_k * b for a, b in zip(value_k, value_q, strict=True)]
            base = [a + d_k * b for a, b in zip(base, value_q, strict=True)]
            if s < 0:  # σ(s) = 1 - σ(-s)
                base = [a + b for a, b in zip(base, delta, strict=True)]
                s, delta = -s, [-a for a in delta]
            name = f"{s.numerator:x}/{s.denominator:x}"
            if name in terms:
                delta = [a + b for a, b in zip(terms[name][1], delta, strict=True)]
            terms[name] = s, delta
        # Terms with a rational σ(s) = a / (a + 1) join the base over a common denominator.
        rational = [(1 << s.numerator, v) for s, v in terms.values() if self.rational(s)]
        common = math.lcm(*{a + 1 for a, _ in rational})
        if common > 1:
            size = 3 * (len(terms) + 1) * len(base)
            spend("The forward pass", size, common.bit_length(), 2 * long + 64)
            base = [common * x for x in base]
        for a, delta in rational:
            share = common // (a + 1) * a
            base = [x + share * y for x, y in zip(base, delta, strict=True)]
        deltas = [
            (s, [common * x for x in delta])
            for s, delta in terms.values()
            if any(delta) and not self.rational(s)
        ]
        return Residual(base, deltas, common * d_k * d_q * self.value_scale)

    def rational(self, s: Fraction) -> bool:
        """Whether σ(s·unit) is 2^s / (2^s + 1) with a short integer s."""
        return s == 0 or (self.unit == "ln2" and s.denominator == 1 and s <= 256)

    def enclosure(self, y: Residual, bits: int) -> tuple[list[int], int, int]:
        """Integers c_i, R, S > 0 with |S · y_i - c_i| <= R for every coordinate i."""
        spend("The forward pass", (4 * len(y.deltas) + 2) * len(y.base), y.bits, bits)
        center = [a << (bits + 1) for a in y.base]
        radius = [0] * len(center)
        for s, delta in y.deltas:
            low, high = sigmoid(s, self.unit, bits)
            center = [c + (low + high) * x for c, x in zip(center, delta, strict=True)]
            radius = [r + (high - low) * abs(x) for r, x in zip(radius, delta, strict=True)]
        return center, max(radius), y.denominator << (bits + 1)

    def highest(self, center: Sequence[int], r: int) -> list[int]:
        """center · u + r |u|_1 for every distinct column u of W_U (made integer)."""
        size = len(center) * len(self.norms)
        spend("The comparison of the logits", size, bits_of([center]), self.coordinates.bits)
        total = [r * n for n in self.norms]
        for c, coordinate in zip(center, self.coordinates, strict=True):
            if c:
                total = [t + c * x for t, x in zip(total, coordinate, strict=True)]
        return total

    def equal_logits(self, y: Residual, i: int, j: int) -> bool:
        """Whether columns i and j surely have equal logits (in unit "1" this is also necessary)."""
        size = (len(y.deltas) + 2) * len(y.base)
        spend("The comparison of the logits", size, y.bits, self.coordinates.bits)
        gap = [a - b for a, b in zip(self.columns[i], self.columns[j], strict=True)]
        return not any(dot(v, gap) for v in (y.base, *(delta for _, delta in y.deltas)))

    def strict_argmax(self, k: int, q: int, v: int) -> bool | None:
        """Whether the logit of v exceeds that of every other token; None: not decided."""
        wanted = self.column_of[v]
        if self.counts[wanted] > 1:
            return False
        if self.hull is not None and wanted not in self.hull:
            return False
        y = self.residual(k, q)
        rivals = [] if self.hull is None else self.hull[wanted]
        for bits in precisions():
            center, r, _ = self.enclosure(y, bits)
            own, error = dot(center, self.columns[wanted]), r * self.norms[wanted]
            if bits == FIRST_PRECISION and self.hull is None:
                highest = self.highest(center, r)
                highest[wanted] = own - error - 1
                if max(highest) < own - error:
                    return True
                rivals = [j for j, x in enumerate(highest) if x >= own - error]
            size = len(center) * len(rivals)
            spend("The comparison of the logits", size, bits_of([center]), self.coordinates.bits)
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
            highs, wide = self.highest(center, r), 2 * r
            lows = [x - wide * n for x, n in zip(highs, self.norms, strict=True)]
            z = Logits(lows, highs, scale, self.counts, wanted)
            if bits == FIRST_PRECISION:
                if probably(z, tau):
                    return True
                if all(self.equal_logits(y, wanted, j) for j in range(len(self.columns))):
                    return tau * len(self.column_of) <= 1
            decided = probability_at_least(z, tau, bits)
            if decided is not None:
                return decided
        return None

    def knows(self, k: int, q: int, v: int, tau: Fraction | None) -> bool | None:
        """Strict argmax if there is no τ, else probability at least τ; None: not decided."""
        return self.strict_argmax(k, q, v) if tau is None else self.probable(k, q, v, tau)
