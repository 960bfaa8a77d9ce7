"""Words about layers, tensors and logarithms, for the second opinion on statements.

As in :mod:`benchmarks.second_judges` nothing comes from the checker: layers are run token by token,
ranks are flint's. What is known between bounds, or in balls, is compared only where these decide;
otherwise :class:`Unknown` ends the judgement.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from flint import arb, ctx, fmpq, fmpz, nmod_mat

Rows = Sequence[Sequence[Any]]
P, POINT = 2**61 - 1, 1_234_567_891_011


class Unknown(Exception):
    """The second judge cannot tell."""


def product(A: Rows, B: Rows) -> list[list[Any]]:
    columns = list(zip(*B, strict=True))
    return [
        [sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0)) for b in columns] for a in A
    ]


def number(text: str) -> Fraction:
    head, _, exponent = text.partition("p")
    return int(head, 16) * Fraction(2) ** int(exponent or 0) if "0x" in head else Fraction(head)


def table(rows: Any) -> list[list[Fraction]]:
    return [[number(x) for x in row] for row in rows]


# --- numbers that are not known exactly ---------------------------------------------------------


class Bounds:
    """A number between two others."""

    def __init__(self, low: Any, high: Any) -> None:
        self.low, self.high = low, high

    @staticmethod
    def of(x: Any) -> Bounds:
        return x if isinstance(x, Bounds) else Bounds(x, x)

    def __lt__(self, other: Any) -> bool:
        them = Bounds.of(other)
        if self.high < them.low:
            return True
        if self.low >= them.high:
            return False
        raise Unknown

    def __gt__(self, other: Any) -> bool:
        return Bounds.of(other) < self

    def __le__(self, other: Any) -> bool:
        return not Bounds.of(other) < self

    def __ge__(self, other: Any) -> bool:
        return not self < other

    def __eq__(self, other: object) -> bool:
        them = Bounds.of(other)
        if self.low == self.high == them.low == them.high:
            return True
        if self.high < them.low or them.high < self.low:
            return False
        raise Unknown

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Any) -> Bounds:
        them = Bounds.of(other)
        return Bounds(self.low + them.low, self.high + them.high)

    __radd__ = __add__

    def __neg__(self) -> Bounds:
        return Bounds(-self.high, -self.low)

    def __sub__(self, other: Any) -> Bounds:
        return self + -Bounds.of(other)

    def __rsub__(self, other: Any) -> Bounds:
        return Bounds.of(other) - self

    def __mul__(self, other: Any) -> Bounds:
        them = Bounds.of(other)
        ends = [a * b for a in (self.low, self.high) for b in (them.low, them.high)]
        return Bounds(min(ends), max(ends))

    __rmul__ = __mul__


class Logs:
    """A real number in a ball; also c_1 ln x_1 + ... exactly, where it is that."""

    def __init__(self, ball: arb, terms: dict[int, Fraction] | None) -> None:
        self.ball, self.terms = ball, terms  # of prime numbers, with rational coefficients

    @staticmethod
    def of(x: Any) -> Logs:
        if isinstance(x, Logs):
            return x
        value = Fraction(x)
        return Logs(arb(fmpq(value.numerator, value.denominator)), None if value else {})

    def __add__(self, other: Any) -> Logs:
        them, terms = Logs.of(other), None
        if self.terms is not None and them.terms is not None:
            terms = dict(self.terms)
            for p, c in them.terms.items():
                terms[p] = terms.get(p, Fraction(0)) + c
        return Logs(self.ball + them.ball, terms)

    __radd__ = __add__

    def __mul__(self, other: Any) -> Logs:
        them = Logs.of(other)
        terms: dict[int, Fraction] | None = None
        if not isinstance(other, Logs) and self.terms is not None:
            terms = {p: c * other for p, c in self.terms.items()}
        return Logs(self.ball * them.ball, terms)

    __rmul__ = __mul__

    def __neg__(self) -> Logs:
        return self * Fraction(-1)

    def __sub__(self, other: Any) -> Logs:
        return self + -Logs.of(other)

    def __rsub__(self, other: Any) -> Logs:
        return Logs.of(other) - self

    def sign(self) -> int:
        """Logarithms of primes are linearly independent over Q."""
        if self.terms is not None and not any(self.terms.values()):
            return 0
        if self.ball > 0 or self.ball < 0:
            return 1 if self.ball > 0 else -1
        raise Unknown

    def __lt__(self, other: Any) -> bool:
        return (self - Logs.of(other)).sign() < 0

    def __gt__(self, other: Any) -> bool:
        return (self - Logs.of(other)).sign() > 0

    def __le__(self, other: Any) -> bool:
        return (self - Logs.of(other)).sign() <= 0

    def __ge__(self, other: Any) -> bool:
        return (self - Logs.of(other)).sign() >= 0

    def __eq__(self, other: object) -> bool:
        return (self - Logs.of(other)).sign() == 0

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]


def log_odds(t: Fraction) -> Logs:
    ctx.prec = 2000
    odds = t / (1 - t)
    terms: dict[int, Fraction] = {}
    for part, sign in ((odds.numerator, 1), (odds.denominator, -1)):
        for p, e in fmpz(part).factor():
            terms[int(p)] = Fraction(sign * int(e))  # coprime, so each prime once
    return Logs(arb(fmpq(odds.numerator, odds.denominator)).log(), terms)


# --- tensors ------------------------------------------------------------------------------------


def slices(T: Any, mode: Any) -> list[Any]:
    if mode == 0:
        return [list(map(list, part)) for part in T]
    if mode == 1:
        return [[list(part[j]) for part in T] for j in range(len(T[0]))]
    return [[[row[k] for row in part] for part in T] for k in range(len(T[0][0]))]


def rank(rows: Rows) -> int:
    from benchmarks.second_judges import rank as of_rationals

    return of_rationals(rows)


def tree(parts: Sequence[Any]) -> int:
    """Ranks of differences along a shortest tree on 0 and the slices, by Kruskal's algorithm."""
    nodes = [[[Fraction(0)] * len(parts[0][0]) for _ in parts[0]], *parts]
    links = sorted(
        (
            rank([[x - y for x, y in zip(a, b, strict=True)] for a, b in zip(A, B, strict=True)]),
            i,
            j,
        )
        for (i, A), (j, B) in itertools.combinations(enumerate(nodes), 2)
    )
    group, total = list(range(len(nodes))), 0
    for cost, i, j in links:
        if group[i] != group[j]:
            total, old, new = total + cost, group[i], group[j]
            group = [new if g == old else g for g in group]
    return total


def tensor_rank(T: Any, _field: str = "R") -> Any:
    """At least the ranks of the flattenings, at most sums of ranks; over every field."""
    modes = range(3)
    flat = [rank([[x for row in part for x in row] for part in slices(T, m)]) for m in modes]
    low, high = max(flat), min(flat[0] * flat[1], flat[0] * flat[2], flat[1] * flat[2])
    for m in modes:
        if low < high:
            high = min(high, sum(map(rank, slices(T, m))), tree(slices(T, m)))
    return Fraction(low) if low == high else Bounds(Fraction(low), Fraction(high))


def powers(rows: Rows) -> list[list[int]]:
    """Softmax by rows mod a prime, at a point in the place of e^(1/q)."""
    q = math.lcm(*(Fraction(x).denominator for row in rows for x in row))
    found = []
    for row in rows:
        values = [pow(POINT, int(x * q) % (P - 1), P) for x in row]
        total = pow(sum(values) % P, -1, P)
        found.append([x * total % P for x in values])
    return found


def softmax_rank(rows: Rows) -> int:
    return int(nmod_mat(powers(rows), P).rank())


def softmax_tensor_rank(T: Any) -> Any:
    n = len(T[0])
    flat = powers([row for part in T for row in part])
    cube = [flat[i : i + n] for i in range(0, len(flat), n)]
    modes = [slices(cube, m) for m in range(3)]
    low = max(
        int(nmod_mat([list(itertools.chain(*part)) for part in own], P).rank()) for own in modes
    )
    high = min(sum(int(nmod_mat(part, P).rank()) for part in own) for own in modes)
    sizes = sorted((len(T), n, len(T[0][0])))
    high = min(high, sizes[0] * sizes[1])
    return Fraction(low) if low == high else Bounds(Fraction(low), Fraction(high))


def mode_product(A: Any, B: Any) -> list[Any]:
    return [
        [product([A[k][q]], [part[q] for part in B])[0] for q in range(len(A[0]))]
        for k in range(len(A))
    ]


# --- databases ----------------------------------------------------------------------------------


def names(D: Any) -> tuple[list[str], list[str], list[str]]:
    keys, queries, values = (sorted(set(part)) for part in zip(*D, strict=True))
    return keys, queries, values


def represents(X: Any, D: Any) -> bool:
    keys, queries, values = names(D)
    return all(
        list(X[keys.index(k)][queries.index(q)]) == [Fraction(v == w) for w in values]
        for k, q, v in D
    )


def same_table(D: Any, E: Any) -> bool:
    """All bijections of keys and of values; then the queries have to be the same columns."""
    if len(D) != len(E) or any(len(a) != len(b) for a, b in zip(names(D), names(E), strict=True)):
        return False
    (keys, _, values), (others, _, results) = names(D), names(E)
    if math.factorial(len(keys)) * math.factorial(len(values)) > 50_000:
        raise Unknown

    def columns(facts: Any, to: Any, into: Any) -> Counter[frozenset[tuple[str, str]]]:
        found: dict[str, set[tuple[str, str]]] = {}
        for k, q, v in facts:
            found.setdefault(q, set()).add((to[k], into[v]))
        return Counter(map(frozenset, found.values()))

    wanted = columns(E, {k: k for k in others}, {v: v for v in results})
    return any(
        columns(D, dict(zip(keys, a, strict=True)), dict(zip(values, b, strict=True))) == wanted
        for a in itertools.permutations(others)
        for b in itertools.permutations(results)
    )


# --- layers -------------------------------------------------------------------------------------


def share(s: Fraction, unit: str) -> Fraction:
    if s == 0:
        return Fraction(1, 2)
    if unit != "ln2" or s.denominator != 1 or abs(s) > 300:
        raise Unknown
    return Fraction(2) ** int(s) / (1 + Fraction(2) ** int(s))


def layer_tensor(L: Any, D: Any, masked: bool = True) -> list[Any]:
    keys, queries, values = names(D)
    place = {token: i for i, token in enumerate(L["tokens"])}
    E, W_U = table(L["W_E"]), table(L["W_U"])
    asked = {(k, q) for k, q, _ in D}

    def fibre(k: str, q: str) -> list[Fraction]:
        y = x = E[place[q]]
        for head in L["heads"] if not masked or (k, q) in asked else []:
            W_Q, W_K, W_V, W_O = (table(head[name]) for name in ("W_Q", "W_K", "W_V", "W_O"))
            query = product(product([x], W_Q), W_K)[0]
            z = E[place[k]]
            gap = sum((a * (b - c) for a, b, c in zip(query, z, x, strict=True)), Fraction(0))
            alpha = share(gap, L["unit"])
            mean = [alpha * b + (1 - alpha) * c for b, c in zip(z, x, strict=True)]
            out = product(product([mean], W_V), W_O)[0]
            y = [a + b for a, b in zip(y, out, strict=True)]
        logits = product([y], W_U)[0]
        return [logits[place[v]] for v in values]

    return [[fibre(k, q) for q in queries] for k in keys]


def circuit(L: Any, h: Any, first: str, second: str, last: Rows) -> list[list[Fraction]]:
    head = L["heads"][int(h)]
    return product(product(product(table(L["W_E"]), table(head[first])), table(head[second])), last)


def QK(L: Any, h: Any) -> list[list[Fraction]]:
    return circuit(L, h, "W_Q", "W_K", [list(c) for c in zip(*table(L["W_E"]), strict=True)])


def VO(L: Any, h: Any) -> list[list[Fraction]]:
    return circuit(L, h, "W_V", "W_O", table(L["W_U"]))


def at(M: Rows, L: Any, rows: Sequence[str], columns: Sequence[str]) -> list[list[Fraction]]:
    place = {token: i for i, token in enumerate(L["tokens"])}
    return [[M[place[a]][place[b]] for b in columns] for a in rows]


def asking(D: Any) -> list[str]:
    return sorted({name for k, q, _ in D for name in (k, q)})


def attention(L: Any, D: Any, h: Any) -> list[Any]:
    keys, queries, _ = names(D)
    both, scores, asked = asking(D), QK(L, h), {(k, q) for k, q, _ in D}
    place = {token: i for i, token in enumerate(L["tokens"])}
    found = []
    for k in keys:
        part = []
        for q in queries:
            line = dict.fromkeys(both, Fraction(0))
            if (k, q) in asked:
                row = scores[place[q]]
                alpha = share(row[place[k]] - row[place[q]], L["unit"])
                line[k] += alpha
                line[q] += 1 - alpha
            part.append([line[t] for t in both])
        found.append(part)
    return found


def value_tensor(L: Any, D: Any, h: Any) -> list[Any]:
    _, queries, values = names(D)
    return [[list(row) for _ in queries] for row in at(VO(L, h), L, asking(D), values)]


WORDS: dict[str, Callable[..., Any]] = {
    "log_odds": log_odds,
    "tensor_rank": tensor_rank,
    "softmax_rank": softmax_rank,
    "softmax_tensor_rank": softmax_tensor_rank,
    "mode_product": mode_product,
    "slice_ranks": lambda T, mode: [Fraction(rank(part)) for part in slices(T, mode)],
    "sum": sum,
    "union": lambda J, K: sorted({*J, *K}),
    "submatrix": lambda M, J, K: [[M[int(i)][int(j)] for j in K] for i in J],
    "represents": represents,
    "same_table": same_table,
    "layer_tensor": layer_tensor,
    "logits_tensor": lambda L, D: layer_tensor(L, D, False),
    "unmasked_tensor": lambda L, D: layer_tensor(L, D, False),
    "EU": lambda L: product(table(L["W_E"]), table(L["W_U"])),
    "QK": QK,
    "VO": VO,
    "score_block": lambda L, D, h: at(QK(L, h), L, names(D)[1], asking(D)),
    "value_block": lambda L, D, h: at(VO(L, h), L, asking(D), names(D)[2]),
    "attention": attention,
    "value_tensor": value_tensor,
    "d_qk": lambda L: max((len(head["W_K"]) for head in L["heads"]), default=0),
    "outcomes": lambda p: len(p["table"][0]),
    "deterministic": lambda p: all(max(map(number, row)) == 1 for row in p["table"]),
}
