"""The least divergence of sequence encoders of a given dimension."""

import itertools
import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from ..arithmetic import height, product
from ..enclosures import exp_minus, log_bounds, x_log_x
from ..limits import Undecided, brief, keep, refuse, spend
from ..reading import Matrix, exactly, fields, indices, integer, items, matrix, number, numbers
from ..steps import Step

BITS = 96


def check(data: Mapping[str, Any]) -> Iterator[Step]:
    """lower <= inf over W (N × d) and E of Σ_t p_t KL(π_t || softmax(W E_t)) <= upper.

    If the lower end has "dual" instead of "blocks", the infimum is that over E alone, for the W of
    the upper end: distributions q_t with Wᵀq_t = Wᵀπ_t, whose entropies Gibbs' inequality compares.
    """
    fields(data, "The certificate", "prior table d lower upper")
    prior, table = distribution(data)
    d, n, total, gain = integer(data["d"], "d", 1001), len(table[0]), 0, 0
    upper, lower = (fields(data["upper"], "upper", "value W E"), data["lower"])
    bound, W = number(upper["value"], "upper.value"), matrix(upper["W"], "upper.W", n, d)
    logits = product(matrix(upper["E"], "upper.E", len(table), d), Matrix(zip(*W, strict=True)))
    short(logits, "A logit")
    for p, row, z in zip(prior, table, logits, strict=True):
        top = max(z)
        spend("The divergence", 60 * n, 3 * height((*row, *z)), height((*row, *z)))
        normaliser = Fraction(sum(exp_minus(top - v, BITS)[1] for v in z), 1 << BITS)
        linear = (top - Fraction(sum(map(operator.mul, row, z)))) * (1 << BITS)
        high = x_log_x(row, BITS)[1] + log_bounds(normaliser, BITS)[1]
        total += math.ceil(p * (high + linear))
    ok = total <= bound * (1 << BITS)
    yield Step(ok, f"the divergence of the encoder is {'' if ok else 'not '}at most {brief(bound)}")
    given = type(lower) is dict and "dual" in lower
    fields(lower, "lower", "value dual" if given else "value blocks")
    value = number(lower["value"], "lower.value")
    if given:
        Q = matrix(lower["dual"], "lower.dual", len(table), n)
        gain = gained(prior, table, Q, W)
        ok = value * (1 << BITS) <= max(gain, 0)
        shown = f"is {'' if ok else 'not shown to be '}at least {brief(value)}"
        yield Step(ok, f"for this W the infimum over E {shown}")
        return
    blocks = [fields(b, "A block", "tokens nodes") for b in items(lower["blocks"], "blocks", 0)]
    places = [indices(block["tokens"], "block.tokens", n) for block in blocks]
    used = [j for place in places for j in place]
    if len(set(used)) < len(used) or any(len(place) != d + 2 for place in places):
        refuse("blocks", f"must be disjoint sets of {d + 2} tokens")
    for place, block in zip(places, blocks, strict=True):
        nodes = items(block["nodes"], "block.nodes")
        gain += dual_bound(prior, [[row[j] for j in place] for row in table], nodes)
    ok = value * (1 << BITS) <= max(gain, 0)
    yield Step(ok, f"the infimum is {'' if ok else 'not shown to be '}at least {brief(value)}")


def distribution(data: Mapping[str, Any]) -> tuple[tuple[Fraction, ...], Matrix]:
    """The probabilities of contexts, and of the next token after each."""
    table = matrix(data["table"], "table")
    prior = numbers(data["prior"], "prior", len(table))
    short((prior, *table), "A probability")
    if any(min(row) < 0 or sum(row) != 1 for row in (prior, *table)):
        refuse("prior and table", "must be probabilities that sum to one")
    return prior, table


def short(rows: Sequence[Sequence[Fraction]], where: str) -> None:
    if max(map(height, rows)) > 8192:
        refuse(where, "has more than 8192 bits")
    for row in rows:  # what it takes to add, to compare and to multiply the numbers of a row
        spend(where, 40 * len(row), height(row) * len(row), height(row))


def gained(prior: Sequence[Fraction], table: Matrix, Q: Matrix, W: Matrix) -> int:
    """A lower bound, times 2^BITS, of Σ p_t (Ent(q_t) - Ent(π_t)); undecided if q is unfit."""
    short(Q, "A dual probability")
    if any(min(q) < 0 or sum(q) != 1 for q in Q):
        refuse("lower.dual", "must have probabilities that sum to one")
    if product(Q, W) != product(table, W):
        raise Undecided("a dual distribution has other moments than the table")
    gain = 0
    for p, row, q in zip(prior, table, Q, strict=True):
        bits = height((*row, *q))
        spend("The entropies", 120 * len(row), bits, bits)
        gain += math.floor(p * (x_log_x(row, BITS)[0] - x_log_x(q, BITS)[1]))
    return gain


def dual_bound(prior: Sequence[Fraction], table: list[list[Fraction]], nodes: Sequence[Any]) -> int:
    """A lower bound, times 2^BITS, for what one block of m = d + 2 tokens adds to the divergence.

    For every W there is c ≠ 0 on the block with Σ c = 0 and Wᵀc = 0. Then q_t = π_t + μ_t c >= 0
    has Wᵀq_t = Wᵀπ_t, and Gibbs' inequality gives KL(π_t || softmax(W E_t)) >= Ent(q_t) - Ent(π_t),
    which is concave in c. Up to scale and sign c lies in one of 2^(m-2) cones, spanned by vectors
    ±(u_i - u_m); ``nodes`` bisects them in preorder, [i, j] replacing generator i, then j, by their
    mean; a leaf {"mu": [...]} is checked at its generators, and concavity does the rest.
    """
    m, rest, gains = len(table[0]), iter(nodes), []
    if len(nodes) < 1 << m - 2:
        refuse("block.nodes", "has fewer nodes than there are cones")
    entropies = sum(math.floor(p * x_log_x(r, BITS)[0]) for p, r in zip(prior, table, strict=True))
    for signs in itertools.product((-1, 1), repeat=m - 2):
        spend("The cones", 20 * m * m)
        ends = [[Fraction((j == i) - (j == m - 1)) for j in range(m)] for i in range(m - 1)]
        stack = [[[a * x for x in v] for a, v in zip((1, *signs), ends, strict=True)]]
        while stack:
            cone, node = stack.pop(), next(rest, None)
            spend("The cones", 20 * m)
            if type(node) is list:
                i, j = exactly(2, indices(node, "A bisection", m - 1), "A bisection")
                bits = max(height(cone[i]), height(cone[j]))
                spend("The cones", 60 * m, bits, bits)
                keep("The cones", 4 * m, bits)
                middle = [(a + b) / 2 for a, b in zip(cone[i], cone[j], strict=True)]
                stack += [[middle if k == s else v for k, v in enumerate(cone)] for s in (j, i)]
                continue
            mu = numbers(fields(node, "A leaf", "mu")["mu"], "mu", len(prior))
            short([mu], "mu")
            gains += [entropies - leaf(prior, table, mu, c) for c in cone]
    if next(rest, None) is not None:
        refuse("block.nodes", "has more nodes than the bisection needs")
    return min(gains)


def leaf(
    prior: Sequence[Fraction],
    table: Sequence[Sequence[Fraction]],
    mu: Sequence[Fraction],
    c: Sequence[Fraction],
) -> int:
    """An upper bound, times 2^BITS, of -Σ p_t Ent(π_t + μ_t c); undecided outside the simplex."""
    total, bits = 0, height(c)
    for p, row, k in zip(prior, table, mu, strict=True):
        long = height((*row, k)) + bits
        spend("A leaf", 100 * len(row), long, long)
        q = [v + k * w for v, w in zip(row, c, strict=True)]
        if min(q) < 0:
            raise Undecided("a leaf of the lower bound leaves the simplex")
        total += math.ceil(p * x_log_x(q, BITS)[1])
    return total
