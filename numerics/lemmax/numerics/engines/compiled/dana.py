r"""Dana's transformer on bigrams, compiled: one model at a time, heads innermost.

A minibatch is a count-weighted sum over the distinct pairs (i, j) in it. What depends on one token
is a table over the tokens and the two positions (maps are linear, so positions are two more rows),
and with δ the difference of the positions' rows,

.. math:: s_h = b_{jh} + \sum_a Q_{jah} K_{iah}, \quad
          r_o = r^0_{jo} + \sum_h \sigma(s_h)\,(Y_{ioh} + Z_{joh}), \quad Z_j = \delta Y - Y_j .

Weights are held with the heads innermost, padded with zero heads to full vectors; zero heads have
gradient zero. Without maps, and with per-head ones, the shared maps are the identity; with per-head
ones the last position also stays in the residual.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lemmax.numerics.engines.compiled.dana_pairs import (
    Pair,
    backward_pair,
    forward_pair,
    mlp,
    mlp_back,
    softmax_pair,
)
from lemmax.numerics.engines.compiled.loops import compiled, helper, update


def _times(A: Any, W: Any, out: Any) -> None:
    """out ← A W."""
    zero = A.dtype.type(0)
    for n in range(A.shape[0]):
        for x in range(W.shape[1]):
            out[n, x] = zero
        for i in range(A.shape[1]):
            y = A[n, i]
            for x in range(W.shape[1]):
                out[n, x] += y * W[i, x]


def _times_back(A: Any, W: Any, dout: Any, dA: Any, dW: Any) -> None:
    """dW += Aᵀ dout and dA += dout Wᵀ."""
    zero = A.dtype.type(0)
    for n in range(A.shape[0]):
        for i in range(A.shape[1]):
            y, total = A[n, i], zero
            for x in range(W.shape[1]):
                dW[i, x] += y * dout[n, x]
                total += W[i, x] * dout[n, x]
            dA[n, i] += total


def _tables(tables: Any, weights: Any, numbers: Any) -> None:
    """Y, Z, b and r⁰ from queries, keys, values and the outward maps; queries become Q."""
    qkv, out, Y, Z, b, r0 = tables.qkv, tables.out, tables.Y, tables.Z, tables.b, tables.r0
    e, pos = weights.e, weights.pos
    N, d, H = Z.shape
    a_size = qkv.shape[2]
    zero = numbers[0] - numbers[0]
    for n in range(N + 2):
        for o in range(d):
            for h in range(H):
                Y[n, o, h] = zero
            for a in range(a_size):
                for h in range(H):
                    Y[n, o, h] += out[o, a, h] * qkv[n, 2, a, h]
    for n in range(N):
        for h in range(H):
            b[n, h] = zero
        for a in range(a_size):
            for h in range(H):
                x = numbers[0] * (qkv[n, 0, a, h] + qkv[N + 1, 0, a, h])
                qkv[n, 0, a, h] = x
                b[n, h] += x * (qkv[N, 1, a, h] - qkv[N + 1, 1, a, h] - qkv[n, 1, a, h])
        for o in range(d):
            total = zero
            for h in range(H):
                total += Y[n, o, h] + Y[N + 1, o, h]
                Z[n, o, h] = Y[N, o, h] - Y[N + 1, o, h] - Y[n, o, h]
            r0[n, o] = e[n, o] + total
            if numbers[1] != zero:
                r0[n, o] += pos[1, o]


def _tables_back(tables: Any, gradients: Any, numbers: Any) -> None:
    """The gradient of :func:`_tables`."""
    qkv, dqkv, out, dout = tables.qkv, tables.dqkv, tables.out, tables.dout
    dY, dZ, db, dr0 = tables.dY, tables.dZ, tables.db, tables.dr0
    ge, gpos = gradients.e, gradients.pos
    N, d, H = dZ.shape
    a_size = qkv.shape[2]
    for n in range(N):
        for a in range(a_size):
            for h in range(H):
                x = db[n, h] * qkv[n, 0, a, h]
                gap = qkv[N, 1, a, h] - qkv[N + 1, 1, a, h] - qkv[n, 1, a, h]
                y = numbers[0] * (dqkv[n, 0, a, h] + db[n, h] * gap)
                dqkv[n, 0, a, h] = y
                dqkv[N + 1, 0, a, h] += y
                dqkv[n, 1, a, h] -= x
                dqkv[N, 1, a, h] += x
                dqkv[N + 1, 1, a, h] -= x
        for o in range(d):
            x = dr0[n, o]
            ge[n, o] += x
            if numbers[1] != x - x:
                gpos[1, o] += x
            for h in range(H):
                y = dZ[n, o, h]
                dY[n, o, h] += x - y
                dY[N, o, h] += y
                dY[N + 1, o, h] += x - y
    for n in range(N + 2):
        for o in range(d):
            for a in range(a_size):
                for h in range(H):
                    dout[o, a, h] += qkv[n, 2, a, h] * dY[n, o, h]
                    dqkv[n, 2, a, h] += out[o, a, h] * dY[n, o, h]


times, times_back = helper(_times), helper(_times_back)
tables_forward, tables_backward = helper(_tables), helper(_tables_back)


def _train(optimiser: Any, schedule: Any, model: Any) -> None:
    """Train on the chosen samples of every step."""
    weights, gradients, factors, tables, lines, numbers, samples = model
    lefts, rights, products, dlefts, drights, dproducts = factors
    order, first, last, target = samples
    qkv, dqkv, Y, dY, Z, dZ = tables.qkv, tables.dqkv, tables.Y, tables.dY, tables.Z, tables.dZ
    b, db, r0, dr0 = tables.b, tables.db, tables.r0, tables.dr0
    g, chosen = optimiser.g, schedule.chosen
    N = r0.shape[0]
    T = r0.dtype.type
    zero = T(0)
    counts = np.zeros(order.size, np.int64)
    B = chosen.shape[1] if chosen.shape[1] > 0 else order.size
    for step in range(schedule.rates.size):
        if chosen.shape[1] > 0:
            for x in range(B):
                counts[chosen[step, x]] += 1
        else:
            counts.fill(1)
        g.fill(zero)
        for k in range(3):
            times(lefts[k], rights[k], products[k])
            if k == 1:
                for o in range(products[1].shape[1]):
                    products[1][N, o] = weights.pos[0, o]
                    products[1][N + 1, o] = weights.pos[1, o]
        tables_forward(tables, weights, numbers)
        for k in range(3):
            dproducts[k].fill(zero)
        dY.fill(zero)
        dZ.fill(zero)
        db.fill(zero)
        dr0.fill(zero)
        hits = 0
        for x in range(order.size):
            count = counts[order[x]]
            if count == 0:
                continue
            counts[order[x]] = 0
            i, j = first[x], last[x]
            pair = Pair(qkv[j, 0], qkv[i, 1], b[j], Y[i], Z[j], r0[j])
            forward_pair(pair, lines)
            mlp(weights, lines)
            if softmax_pair(weights.U, gradients.U, lines, target[x], T(count) / T(B)):
                hits += count
            mlp_back(weights, gradients, lines)
            backward_pair(pair, Pair(dqkv[j, 0], dqkv[i, 1], db[j], dY[i], dZ[j], dr0[j]), lines)
        schedule.right[step] = hits / B
        tables_backward(tables, gradients, numbers)
        for k in range(2, -1, -1):
            times_back(lefts[k], rights[k], dproducts[k], dlefts[k], drights[k])
        for o in range(products[1].shape[1]):
            gradients.pos[0, o] += dproducts[1][N, o]
            gradients.pos[1, o] += dproducts[1][N + 1, o]
        update(optimiser, schedule, step)


train_dana = compiled(_train)
