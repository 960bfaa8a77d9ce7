"""Envelopes: the logit of a value is a linear form, and the forms cross in between their points.

A fact writes x (the key's own number) and y (its share of a number that several predicates use; 0
where there is none) to the outputs; the logit of v is p_v x + q_v y - r_v. Values with p_v < 0 are
mirrored, X = |x|. On either side, sorted by |p|, neighbours differ by

    D_j(X, y) = dp (X + rho_j y - t_j),   rho_j = dq/dp,   t_j = dr/dp,

rho_j and t_j increase, and so does t_j - rho_j Y with Y > y. So the signs of D_j change once along
j, and a value that beats its two neighbours beats its whole side. Logits of the other side, and of
tokens that are no values, are at most 0.

Floats: where all terms are multiples of one normal number U and add up to at most 2^p U, sums are
exact. Elsewhere their error is below 2n 2^-p T, T the sum of the absolute values of n terms, plus
what underflow costs, and the margin of groups of values that are far apart exceeds that.
"""

import itertools
from collections.abc import Iterator
from typing import NamedTuple

from ..limits import keep, refuse, spend
from ..steps import Step
from .codebooks import Layer
from .floats import SHIFT, exponent, trailing, values


class Line(NamedTuple):
    """A value: |p|, q and r, times 2^150."""

    token: int
    p: int
    q: int
    r: int

    def at(self, x: int, y: int) -> int:
        """The logit, times 2^300."""
        return self.p * x + self.q * y - (self.r << SHIFT)


class Group(NamedTuple):
    """Neighbouring values whose points have one exponent: ends, extremes, and their 2-adic units.

    ``p``, ``q`` and ``r`` bound the absolute values of the weights of a column.
    """

    first: Line
    last: Line
    small: int
    large: int
    unit_x: int
    p: int
    q: int
    r: int
    unit_p: int
    unit_q: int
    unit_r: int
    least_p: int
    least_r: int


NEVER = 10**6  # the 2-adic valuation of zero


def valuation(numbers: list[int]) -> int:
    return min((trailing(x) for x in numbers if x), default=NEVER)


class Envelope:
    """The values' columns of W_U and the points of the facts."""

    def __init__(self, layer: Layer, gain: int, known: list[int]) -> None:
        self.layer, self.gain, self.known = layer, gain, known
        place, size = layer.layout, layer.size
        keep("The lines", 30 * len(known), 300)
        spend("The lines", 400 * len(known))
        if (
            layer.factor != 1
            or layer.m > 2
            or 2 * layer.weights.significand > layer.sums.significand
        ):
            refuse("code", "of lines needs products that sums hold, and no factor")
        W_U = layer.arrays["W_U"].entries
        self.rows = [W_U[j * size : (j + 1) * size] for j in range(place.width)]
        self.value = values(W_U, layer.weights, "W_U")
        copies = len(place.outputs) // layer.m
        parts = [place.outputs[:copies], place.outputs[copies:], place.markers]
        self.parts: dict[int, list[list[int]]] = {
            v: [[self.value[self.rows[j][v]] for j in part] for part in parts] for v in known
        }
        self.terms = len(place.outputs) + len(place.markers)

    def steps(self) -> Iterator[Step]:
        """Columns, points, crossings, floats; every step ends the check where it fails."""
        yield self.columns()
        yield self.points()
        yield self.crossings()
        yield self.neighbours()
        yield self.grouped()
        yield self.margins()

    def columns(self) -> Step:
        """Values have weights at outputs and markers only, other tokens have none; two sides."""
        place = self.layer.layout
        inside = set(self.known)
        used = {*place.outputs, *place.markers}
        for j, row in enumerate(self.rows):
            if any(word and (j not in used or t not in inside) for t, word in enumerate(row)):
                return Step(False, f"coordinate {j} of W_U is not zero where it should be")
        self.sides: dict[int, list[Line]] = {1: [], -1: []}
        for v, (p, q, r) in self.parts.items():
            slope = sum(p)
            if not slope:
                return Step(False, f"the column of token {v} has no slope")
            side = 1 if slope > 0 else -1
            self.sides[side].append(Line(v, abs(slope), sum(q), -sum(r)))
        self.place: dict[int, tuple[int, int]] = {}
        for side, lines in self.sides.items():
            lines.sort(key=lambda line: line.p)
            for j, line in enumerate(lines):
                self.place[line.token] = side, j
                if j and (line.p == lines[j - 1].p or line.q < lines[j - 1].q):
                    return Step(False, "two values have the same slope, or shares decrease")
        return Step(True, f"{len(self.known)} columns of W_U are lines, the others are zero")

    def points(self) -> Step:
        """The points of every value: numbers on its side, of one exponent, shares not negative."""
        layer, place = self.layer, self.layer.layout
        facts, d = layer.arrays["facts"].entries, place.width
        keep("The facts", 12 * (len(facts) // 3))
        spend("The facts", 20 * (len(facts) // 3))
        W_E = layer.arrays["W_E"].entries
        held = values(W_E, layer.weights, "W_E")
        head = {q: h for h, q in enumerate(layer.queries)}
        found: dict[int, set[tuple[int, int]]] = {v: set() for v in self.known}
        for k, q, v in zip(facts[0::3], facts[1::3], facts[2::3], strict=True):
            h = head[q]
            y, i = 0, 0
            if layer.shared:
                g, i = divmod(h, layer.shared)
                y = W_E[k * d + len(layer.queries) + g]
            found[v].add((W_E[k * d + h], y << 8 | i))
        self.at: dict[int, list[tuple[int, int]]] = {}
        self.group_of: dict[int, int] = {}
        for v, points in found.items():
            side = self.place[v][0]
            self.at[v] = [(side * held[x], held[w >> 8] >> (w & 255)) for x, w in points]
            if any(x <= 0 or y < 0 for x, y in self.at[v]):
                return Step(False, f"a fact of token {v} is not on its side")
            if any(held[w >> 8] % (1 << (w & 255)) for _, w in points):
                return Step(False, "a share is not held")
            exponents = {exponent(x) for x, _ in self.at[v]}
            if len(exponents) != 1:
                return Step(False, f"the facts of token {v} differ in magnitude")
            self.group_of[v] = exponents.pop()
        shares = [y for points in self.at.values() for _, y in points]
        self.top, self.unit_y = max(shares), valuation(shares)
        reach = max(max(held.values()), -min(held.values()), 1 << SHIFT)
        self.off = ((len(layer.queries) + 1) * reach >> (23 * self.gain // 16)) + 1
        return Step(True, f"{len(facts) // 3} facts are points of their values' side")

    def crossings(self) -> Step:
        """t_j and rho_j increase, and so does t_j - rho_j Y, Y one more than the largest share."""
        Y = self.top + (1 << SHIFT)
        for lines in self.sides.values():
            before = None
            for a, b in itertools.pairwise(lines):
                dp, dq, dr = b.p - a.p, b.q - a.q, b.r - a.r
                if before is not None:
                    ep, eq, er = before
                    if eq * dp > dq * ep or er * dp >= dr * ep:
                        return Step(False, f"lines do not cross in order at token {a.token}")
                    if ((er << SHIFT) - eq * Y) * dp > ((dr << SHIFT) - dq * Y) * ep:
                        return Step(False, f"shares reorder the lines at token {a.token}")
                before = dp, dq, dr
        return Step(True, "neighbouring lines cross in their order, whatever the share")

    def neighbours(self) -> Step:
        """Every point lies above the lines of its neighbours, also where it is off by a little."""
        for v, points in self.at.items():
            side, j = self.place[v]
            lines = self.sides[side]
            own = lines[j]
            for other in lines[max(0, j - 1) : j] + lines[j + 1 : j + 2]:
                dp, dq = abs(own.p - other.p), abs(own.q - other.q)
                slack = (dp + dq) * self.off
                if any(own.at(x, y) - other.at(x, y) <= slack for x, y in points):
                    return Step(False, f"a fact of token {v} is answered by token {other.token}")
        return Step(True, "every fact lies between the crossings of its value")

    def grouped(self) -> Step:
        """Groups by the exponent of the points, in the order of the slopes; weights are normal."""
        normal = 1 << (max(self.layer.weights.least, self.layer.sums.least) + SHIFT)
        if self.layer.m * 2 != len(self.layer.layout.outputs):
            refuse("code", "of lines writes each number twice")
        self.groups: dict[int, list[Group]] = {1: [], -1: []}
        for side, lines in self.sides.items():
            order = [self.group_of[line.token] for line in lines]
            if order != sorted(order):
                return Step(False, "magnitudes do not grow with the slopes")
            bins: dict[int, list[Line]] = {}
            for line, key in zip(lines, order, strict=True):
                bins.setdefault(key, []).append(line)
            for members in bins.values():
                p, q, r = ([self.parts[line.token][n] for line in members] for n in range(3))
                x = [x for line in members for x, _ in self.at[line.token]]
                y = [y for line in members for _, y in self.at[line.token]]
                numbers = [w for part in (*p, *q, *r, x, y) for w in part]
                if any(0 < abs(w) < normal for w in numbers):
                    return Step(False, "a weight is not a normal number")
                size = [max(sum(map(abs, part)) for part in parts) for parts in (p, q, r)]
                units = [valuation([w for part in parts for w in part]) for parts in (p, q, r)]
                ends = (members[0], members[-1], min(x), max(x), valuation(x))
                least = (min(line.p for line in members), min(line.r for line in members))
                group = Group(*ends, *size, *units, *least)  # type: ignore[call-arg]
                self.groups[side].append(group)
        count = sum(map(len, self.groups.values()))
        if count > 600:
            refuse("The groups", "are more than a format has exponents")
        spend("The groups", 60 * count * count)
        return Step(True, f"{count} groups of values, by magnitude")

    def margins(self) -> Step:
        """Groups against groups: exact, or further apart than sums are off."""
        sums = self.layer.sums
        if sums.significand < 24 or self.layer.logits.significand < sums.significand:
            return Step(
                False, "logits must be stored as they are accumulated, with 24 bits at least"
            )
        exact = 0
        for side, groups in self.groups.items():
            for n, winner in enumerate(groups):
                low = winner.first.at(winner.small, 0)
                if low <= (winner.first.p + winner.first.q) * self.off:
                    return Step(False, "a value lies below the tokens that are no values")
                for m, group in enumerate(groups):
                    total, error = self.error(winner, group)
                    if total > sums.largest << SHIFT:
                        return Step(False, "the largest logit is not finite")
                    exact += not error
                    if not error:
                        continue
                    if m == n:
                        return Step(False, "values of one magnitude are not compared exactly")
                    if m < n:
                        x, y, a, b = winner.small, 0, winner.first, group.last
                    else:
                        x, y, a, b = winner.large, self.top, winner.last, group.first
                    if a.at(x, y) - b.at(x, y) <= error:
                        return Step(False, "two magnitudes are closer than sums are exact")
                for group in self.groups[-side]:
                    total, error = self.error(winner, group)
                    above = group.q * self.top - group.least_p * winner.small
                    if (
                        total > sums.largest << SHIFT
                        or above - (group.least_r << SHIFT) + error > 0
                    ):
                        return Step(False, "a value of the other sign may have a positive logit")
        count = sum(len(groups) ** 2 for groups in self.groups.values())
        return Step(True, f"{exact} of {count} pairs of groups exactly, the others far apart")

    def error(self, winner: Group, group: Group) -> tuple[int, int]:
        """Bounds of the sum of the absolute terms and of its error (0: exact), times 2^300."""
        sums = self.layer.sums
        total = group.p * winner.large + group.q * self.top + (group.r << SHIFT)
        unit = min(group.unit_p + winner.unit_x, group.unit_r + SHIFT)
        if group.q and self.top:
            unit = min(unit, group.unit_q + self.unit_y)
        least = sums.least + 2 * SHIFT
        if unit >= least and total <= 1 << (sums.significand + unit):
            return total, 0
        rounding = (2 * self.terms * total >> sums.significand) + 1
        return total, rounding + (2 * self.terms << least)
