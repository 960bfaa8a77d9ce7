r"""Lower bounds for d_KL(π, L(N, S, d)) over all encoders, by the maximum-entropy dual.

For every W and E and every \(q \ge 0\) with \(\sum q = 1\), \(W^\top q = W^\top p\), Gibbs'
inequality gives \(KL(p\,\|\,\mathrm{softmax}(WE)) \ge \mathrm{Ent}(q) - \mathrm{Ent}(p)\), with
equality in the limit for the q of largest entropy. Any d + 2 tokens carry a vector c ≠ 0 with
Σ c = 0 and Wᵀc = 0; so \(q_t = π_t + μ_t c\) bounds the divergence below for every W that has this
c. The directions c form 2^d simplicial cones. On a simplex of directions the bound is concave in c
for fixed μ, hence at least its least value at the vertices: a bisection of the cones with one μ per
simplex is a proof for all W at once, and only vertices are evaluated. Disjoint blocks of d + 2
tokens add up.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from flint import arb, ctx, fmpq
from numpy.typing import NDArray

from lemmax.theory.certificates import writing as certificates
from lemmax.theory.dana.encoders import Table
from lemmax.theory.errors import LemmaxError
from lemmax.theory.numbers.balls import rational_below

Cone: TypeAlias = tuple[tuple[fmpq, ...], ...]

_SHIFT = 40  # μ is a multiple of 2^-40


def initial_cones(m: int) -> list[Cone]:
    """The cones spanned by u_1 - u_m and ±(u_i - u_m): up to sign they contain every c, Σ c = 0.

    >>> len(initial_cones(4))
    4
    """
    return [
        tuple(
            tuple(fmpq(sign * ((j == i) - (j == m - 1))) for j in range(m))
            for i, sign in enumerate((1, *signs))
        )
        for signs in itertools.product((1, -1), repeat=m - 2)
    ]


def bisected(cone: Cone, i: int, j: int) -> tuple[Cone, Cone]:
    """The cone with generator i, and with generator j, replaced by their mean."""
    middle = tuple((a + b) / 2 for a, b in zip(cone[i], cone[j], strict=True))
    first, second = (tuple(middle if k == s else v for k, v in enumerate(cone)) for s in (i, j))
    return first, second


@dataclass
class _Node:
    cone: Cone
    mu: list[fmpq] = field(default_factory=list)
    split: tuple[int, int] | None = None
    children: tuple[_Node, ...] = ()


@dataclass(frozen=True)
class BlockBound:
    """What one block of d + 2 tokens proves; ``nodes`` is the bisection in preorder."""

    tokens: tuple[int, ...]
    nodes: tuple[Any, ...]
    value: fmpq


def dual_gain(
    table: Table, tokens: Sequence[int], c: Sequence[fmpq], mu: Sequence[fmpq], precision: int = 96
) -> arb:
    """Σ_t p_t (Ent(π_t + μ_t c) - Ent(π_t)), c supported on the tokens; a lower bound for its W."""
    with ctx.workprec(precision):
        total = arb(0)
        for p, row, step in zip(table.prior, table.lists, mu, strict=True):
            for j, direction in zip(tokens, c, strict=True):
                q = row[j] + step * direction
                if q < 0:
                    raise LemmaxError("The dual point leaves the simplex.")
                total += arb(p) * (_x_log_x(row[j]) - _x_log_x(q))
        return total


def _x_log_x(x: fmpq) -> arb:
    return arb(0) if x == 0 else arb(x) * arb(x).log()


def block_bound(table: Table, tokens: Sequence[int], goal: float, leaves: int = 2000) -> BlockBound:
    """Bisect the directions of one block until ``goal`` is proved or the leaves are used up."""
    place = list(tokens)
    prior, rows = table.to_numpy()
    rows = rows[:, place]
    exact = [[row[j] for j in place] for row in table.lists]
    roots = [_Node(cone) for cone in initial_cones(len(place))]
    heap: list[tuple[float, int, _Node]] = []
    count = itertools.count()

    def push(node: _Node) -> None:
        value, node.mu = _leaf(prior, rows, exact, node.cone)
        heapq.heappush(heap, (value, next(count), node))

    for node in roots:
        push(node)
    while heap[0][0] < goal and len(heap) < leaves:
        _, _, node = heapq.heappop(heap)
        i, j = _longest_edge(node.cone)
        node.split, node.children = (i, j), tuple(_Node(c) for c in bisected(node.cone, i, j))
        for child in node.children:
            push(child)
    nodes: list[Any] = []
    lowest: arb | None = None
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node.split is not None:
            nodes.append(list(node.split))
            stack += reversed(node.children)
            continue
        nodes.append({"mu": [certificates.number(x) for x in node.mu]})
        for c in node.cone:
            gain = dual_gain(table, place, c, node.mu)
            lowest = gain if lowest is None else lowest.min(gain)
    if lowest is None:
        raise AssertionError("there is at least one cone")
    return BlockBound(tuple(place), tuple(nodes), rational_below(lowest, 48))


def _longest_edge(cone: Cone) -> tuple[int, int]:
    points = np.array([[float(x.p) / float(x.q) for x in v] for v in cone])
    gaps = ((points[:, None, :] - points[None, :, :]) ** 2).sum(axis=2)
    i, j = divmod(int(gaps.argmax()), len(cone))
    return (i, j) if i < j else (j, i)


def _leaf(
    prior: NDArray[np.float64],
    rows: NDArray[np.float64],
    exact: list[list[fmpq]],
    cone: Cone,
) -> tuple[float, list[fmpq]]:
    """The best μ_t for the centre of a simplex, made exact and feasible, and the value it proves.

    Floats choose μ; that the choice is feasible is made sure exactly, and its value is only used
    to steer the search.
    """
    corners = np.array([[float(x.p) / float(x.q) for x in v] for v in cone])
    centre = corners.mean(axis=0)
    # μ c >= -π at every corner
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = -rows[:, None, :] / corners[None, :, :]
    low = np.where(corners[None] > 0, ratio, -np.inf).max(axis=(1, 2))
    high = np.where(corners[None] < 0, ratio, np.inf).min(axis=(1, 2))
    low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)
    a, b = low.copy(), high.copy()
    for _ in range(48):  # the derivative of the entropy in μ decreases
        mu = (a + b) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(np.maximum(rows + mu[:, None] * centre, 1e-300))
        slope = -(logs * centre).sum(axis=1)
        a, b = np.where(slope > 0, mu, a), np.where(slope > 0, b, mu)
    shrunk = (a + b) / 2 * (1 - 2.0**-30)
    steps = [fmpq(int(x * 2**_SHIFT), 2**_SHIFT) for x in shrunk.tolist()]
    for t, row in enumerate(exact):
        while any(x + steps[t] * y < 0 for v in cone for x, y in zip(row, v, strict=True)):
            steps[t] = steps[t] / 2 if abs(steps[t]) > fmpq(1, 2**_SHIFT) else fmpq(0)
    mu = np.array([float(x.p) / float(x.q) for x in steps])
    q = rows[:, None, :] + mu[:, None, None] * corners[None]
    gain = (_entropy_terms(q) - _entropy_terms(rows)[:, None]) * prior[:, None]
    return float(gain.sum(axis=0).min()), steps


def _entropy_terms(q: NDArray[np.float64]) -> NDArray[np.float64]:
    safe = np.where(q > 0, q, 1.0)
    result: NDArray[np.float64] = -(np.where(q > 0, q, 0.0) * np.log(safe)).sum(axis=-1)
    return result
