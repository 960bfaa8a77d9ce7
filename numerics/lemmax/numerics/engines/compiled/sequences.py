r"""Dana's transformer on sequences of any length, compiled: maps of each head's own, no MLP.

One sequence after another: with \(x_s = e(t_s) + pos_s\) and \(u = W_K^\top W_Q x_S\), a head has
scores \(x_s \cdot u\), attention a, and adds \(W_O W_V \sum_s a_s x_s\) to \(x_S\). Pairs have a
loop of their own, which is faster.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lemmax.numerics.engines.compiled.loops import compiled, exponentials, helper, largest, update
from lemmax.numerics.engines.flat import views
from lemmax.numerics.training.configurations import Dana


class Weights(NamedTuple):
    """The parameters, or their gradients, as views of a flat array."""

    e: Any
    pos: Any
    W_Q: Any
    W_K: Any
    W_V: Any
    W_O: Any
    W_U: Any


class Work(NamedTuple):
    """What a sequence needs.

    The vectors x and their gradient; queries, u, attention, means and values of every head; the
    residual stream at the last position and its gradient; three lines of scratch.
    """

    x: Any
    dx: Any
    query: Any
    folded: Any
    attention: Any
    mean: Any
    value: Any
    out: Any
    dout: Any
    row: Any
    scratch: Any
    spare: Any


class Model(NamedTuple):
    """All that the loop needs of one model."""

    weights: Weights
    gradients: Weights
    work: Work
    sequences: Any
    targets: Any


def model_of(config: Dana, p: NDArray[Any], g: NDArray[Any]) -> Model:
    """The views of flat parameters and gradients, room to work in, and the data."""
    d, d_h, H, S = config.d, config.d_h, config.H, config.S
    shapes = [(S, d), (S, d), (H, d_h), (H, d), (H, S), (H, d), (H, d_h)]
    lines = [(max(d, d_h, S, config.N),)] * 5
    work = Work(*(np.zeros(shape, p.dtype) for shape in (*shapes, *lines)))
    weights, gradients = (Weights(**views(config.shapes(), flat)) for flat in (p, g))
    sequences, targets = (np.ascontiguousarray(part) for part in config.data())
    return Model(weights, gradients, work, sequences, targets)


def _softmax(row: Any, work: Any, n: int) -> None:
    exponentials(row, work, n, largest(row, n))
    total = row[0] - row[0]
    for j in range(n):
        total += row[j]
    for j in range(n):
        row[j] /= total


softmax = helper(_softmax)


def _forward(weights: Any, work: Any) -> None:
    """The residual stream at the last position, from the vectors x of one sequence."""
    WQ, WK, WV, WO = weights.W_Q, weights.W_K, weights.W_V, weights.W_O
    x, query, folded, attention = work.x, work.query, work.folded, work.attention
    mean, value, out, row = work.mean, work.value, work.out, work.row
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
        softmax(row, work.scratch, S)
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


def _backward(weights: Any, gradients: Any, work: Any) -> None:
    """The gradients of the heads, and of x, from that of the residual stream."""
    WQ, WK, WV, WO = weights.W_Q, weights.W_K, weights.W_V, weights.W_O
    gQ, gK, gV, gO = gradients.W_Q, gradients.W_K, gradients.W_V, gradients.W_O
    x, dx, query, folded, attention = work.x, work.dx, work.query, work.folded, work.attention
    mean, value, dout, row = work.mean, work.value, work.dout, work.row
    dfolded, dmean = work.scratch, work.spare
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


def _train(optimiser: Any, schedule: Any, model: Any) -> None:
    """Train on the chosen samples of every step."""
    weights, gradients, work, sequences, targets = model
    e, pos, U = weights.e, weights.pos, weights.W_U
    ge, gpos, gU = gradients.e, gradients.pos, gradients.W_U
    x, dx, out, dout, row = work.x, work.dx, work.out, work.dout, work.row
    g, chosen = optimiser.g, schedule.chosen
    S, d, N = x.shape[0], x.shape[1], U.shape[0]
    T = e.dtype.type
    zero, one = T(0), T(1)
    B = chosen.shape[1] if chosen.shape[1] > 0 else sequences.shape[0]
    weight = one / T(B)
    for step in range(schedule.rates.size):
        g.fill(zero)
        hits = 0
        for b in range(B):
            t = chosen[step, b] if chosen.shape[1] > 0 else b
            for s in range(S):
                for i in range(d):
                    x[s, i] = e[sequences[t, s], i] + pos[s, i]
            forward(weights, work)
            best = 0
            for y in range(N):
                total = zero
                for i in range(d):
                    total += U[y, i] * out[i]
                row[y] = total
                if total > row[best]:
                    best = y
            hits += best == targets[t]
            softmax(row, work.scratch, N)
            row[targets[t]] -= one
            for i in range(d):
                dout[i] = zero
            for y in range(N):
                scaled = weight * row[y]
                for i in range(d):
                    dout[i] += scaled * U[y, i]
                    gU[y, i] += scaled * out[i]
            backward(weights, gradients, work)
            for s in range(S):
                for i in range(d):
                    ge[sequences[t, s], i] += dx[s, i]
                    gpos[s, i] += dx[s, i]
        schedule.right[step] = hits / B
        update(optimiser, schedule, step)


train_sequences = compiled(_train)
