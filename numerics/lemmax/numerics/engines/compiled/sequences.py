r"""Dana's transformer on sequences of any length, compiled: maps of each head's own, no MLP.

One sequence after another: with \(x_s = e(t_s) + pos_s\) and \(u = W_K^\top W_Q x_S\), a head has
scores \(x_s \cdot u\), attention a, and adds \(W_O W_V \sum_s a_s x_s\) to \(x_S\). Pairs have a
kernel of their own, which is faster.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lemmax.numerics.engines.compiled.loops import adam, compiled, exponentials, helper
from lemmax.numerics.training.configurations import Arrays, Dana


def views(config: Dana, flat: NDArray[Any]) -> Arrays:
    """Views of the parameters in a flat array."""
    found, start = {}, 0
    for name, shape in config.shapes().items():
        size = int(np.prod(shape))
        found[name] = flat[start : start + size].reshape(shape)
        start += size
    return found


class Workspace:
    """The arguments of the kernel for one model."""

    def __init__(self, config: Dana, flat: NDArray[Any]) -> None:
        d, d_h, H, S, dtype = config.d, config.d_h, config.H, config.S, flat.dtype

        def empty(*shape: int) -> NDArray[Any]:
            return np.zeros(shape, dtype)

        self.g = np.zeros_like(flat)
        x, y = views(config, flat), views(config, self.g)
        heads, tables = ("W_Q", "W_K", "W_V", "W_O"), ("e", "pos", "W_U")
        self.heads = (*(x[name] for name in heads), *(y[name] for name in heads))
        self.tables = (*(x[name] for name in tables), *(y[name] for name in tables))
        # x and its gradient; queries, u, attention, means and values of every head
        self.planes = (
            *(empty(S, d), empty(S, d), empty(H, d_h), empty(H, d)),
            *(empty(H, S), empty(H, d), empty(H, d_h)),
        )
        longest = max(d, d_h, S, config.N)
        self.lines = tuple(empty(longest) for _ in range(5))
        self.sequences, self.targets = (np.ascontiguousarray(part) for part in config.data())


def _softmax(row: Any, work: Any, n: int) -> None:
    top = row[0]
    for j in range(n):
        top = max(top, row[j])
    exponentials(row, work, n, top)
    total = top - top
    for j in range(n):
        total += row[j]
    for j in range(n):
        row[j] /= total


softmax = helper(_softmax)


def _forward(heads: Any, planes: Any, out: Any, row: Any, work: Any) -> None:
    """The residual stream at the last position, from the vectors x of one sequence."""
    WQ, WK, WV, WO = heads[0], heads[1], heads[2], heads[3]
    x, query, folded, attention, mean, value = (
        planes[0], planes[2], planes[3], planes[4], planes[5], planes[6],
    )  # fmt: skip
    H, a_size, d = WQ.shape
    S = x.shape[0]
    zero = x.dtype.type(0)
    for i in range(d):
        out[i] = x[S - 1, i]
    for h in range(H):
        for i in range(d):
            folded[h, i] = zero
            mean[h, i] = zero
        for a in range(a_size):
            total = zero
            for i in range(d):
                total += WQ[h, a, i] * x[S - 1, i]
            query[h, a] = total
            for i in range(d):
                folded[h, i] += WK[h, a, i] * total
        for s in range(S):
            total = zero
            for i in range(d):
                total += folded[h, i] * x[s, i]
            row[s] = total
        softmax(row, work, S)
        for s in range(S):
            attention[h, s] = row[s]
            for i in range(d):
                mean[h, i] += row[s] * x[s, i]
        for a in range(a_size):
            total = zero
            for i in range(d):
                total += WV[h, a, i] * mean[h, i]
            value[h, a] = total
            for i in range(d):
                out[i] += WO[h, i, a] * total


def _backward(heads: Any, planes: Any, dout: Any, row: Any, dfolded: Any, dmean: Any) -> None:
    """The gradients of the heads, and of x, from that of the residual stream."""
    WQ, WK, WV, WO = heads[0], heads[1], heads[2], heads[3]
    gQ, gK, gV, gO = heads[4], heads[5], heads[6], heads[7]
    x, dx, query, folded, attention, mean, value = planes
    H, a_size, d = WQ.shape
    S = x.shape[0]
    zero = x.dtype.type(0)
    for s in range(S):
        for i in range(d):
            dx[s, i] = zero
    for i in range(d):
        dx[S - 1, i] = dout[i]
    for h in range(H):
        for i in range(d):
            dmean[i] = zero
            dfolded[i] = zero
        for a in range(a_size):
            total = zero
            for i in range(d):
                total += WO[h, i, a] * dout[i]
                gO[h, i, a] += dout[i] * value[h, a]
            for i in range(d):
                dmean[i] += WV[h, a, i] * total
                gV[h, a, i] += mean[h, i] * total
        centre = zero
        for s in range(S):
            total = zero
            for i in range(d):
                total += dmean[i] * x[s, i]
            row[s] = total
            centre += attention[h, s] * total
        for s in range(S):
            weight = attention[h, s]
            score = weight * (row[s] - centre)
            for i in range(d):
                dx[s, i] += weight * dmean[i] + score * folded[h, i]
                dfolded[i] += score * x[s, i]
        for a in range(a_size):
            total = zero
            for i in range(d):
                total += WK[h, a, i] * dfolded[i]
                gK[h, a, i] += query[h, a] * dfolded[i]
            for i in range(d):
                gQ[h, a, i] += total * x[S - 1, i]
                dx[S - 1, i] += total * WQ[h, a, i]


forward, backward = helper(_forward), helper(_backward)


def _train(
    p: Any, g: Any, m: Any, v: Any, heads: Any, tables: Any, planes: Any, lines: Any,
    sequences: Any, targets: Any, chosen: Any, hyper: Any, rates: Any, roots: Any, right: Any,
) -> None:  # fmt: skip
    """Train; ``chosen`` has a row of samples for each step, or no columns: all of them."""
    e, pos, U, ge, gpos, gU = tables
    x, dx = planes[0], planes[1]
    out, dout, row, work, spare = lines
    S, d, N = x.shape[0], x.shape[1], U.shape[0]
    T = p.dtype.type
    zero, one = T(0), T(1)
    B = chosen.shape[1] if chosen.shape[1] > 0 else sequences.shape[0]
    weight = one / T(B)
    for step in range(rates.size):
        g.fill(zero)
        hits = 0
        for b in range(B):
            t = chosen[step, b] if chosen.shape[1] > 0 else b
            for s in range(S):
                for i in range(d):
                    x[s, i] = e[sequences[t, s], i] + pos[s, i]
            forward(heads, planes, out, row, work)
            best = 0
            for y in range(N):
                total = zero
                for i in range(d):
                    total += U[y, i] * out[i]
                row[y] = total
                if total > row[best]:
                    best = y
            hits += best == targets[t]
            softmax(row, work, N)
            row[targets[t]] -= one
            for i in range(d):
                dout[i] = zero
            for y in range(N):
                scaled = weight * row[y]
                for i in range(d):
                    dout[i] += scaled * U[y, i]
                    gU[y, i] += scaled * out[i]
            backward(heads, planes, dout, row, work, spare)
            for s in range(S):
                for i in range(d):
                    ge[sequences[t, s], i] += dx[s, i]
                    gpos[s, i] += dx[s, i]
        right[step] = hits / B
        adam(p, g, m, v, hyper, rates[step], roots[step])


train_sequences = compiled(_train)
