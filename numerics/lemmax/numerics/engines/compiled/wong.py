"""Wong's layer, compiled: one model at its exact shapes, from step to step without leaving.

A row of position 1 depends on its subject alone, so rows with one subject are one row with a
weight and several targets. The attention of two tokens is a sigmoid of s_qk - s_qq. Everything that
depends on one token is a table with the tokens innermost, and the logits of a row are made, turned
into their gradient and used up while they are in the cache.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lemmax.numerics.engines.compiled.loops import adam, compiled, exponentials, helper
from lemmax.numerics.training.configurations import Arrays, Wong


def rows_of(config: Wong, both: bool) -> dict[str, NDArray[np.int64]]:
    """The rows of a database: input tokens, pairs, targets and the grouped first position."""
    facts = np.array(config.facts)
    inputs = np.unique(facts[:, :2])
    local = np.full(config.tokens, -1)
    local[inputs] = np.arange(len(inputs))
    starts = [0]
    seconds: list[int] = []
    counts: list[int] = []
    subjects = np.unique(facts[:, 0]) if both else facts[:0, 0]
    for k in subjects:
        q, c = np.unique(facts[facts[:, 0] == k, 1], return_counts=True)
        seconds.extend(q)
        counts.extend(c)
        starts.append(len(seconds))
    return {
        "inputs": inputs,
        "key": local[facts[:, 0]],
        "query": local[facts[:, 1]],
        "value": facts[:, 2].copy(),
        "subject": local[subjects],
        "starts": np.array(starts),
        "seconds": np.array(seconds, dtype=np.int64),
        "counts": np.array(counts, dtype=np.int64),
    }


class Workspace:
    """The arguments of the kernel for one model: flat parameters, their views, tables, rows."""

    def __init__(self, config: Wong, flat: NDArray[Any], both: bool) -> None:
        d, h, d_qk, d_vo, dtype = config.d_model, config.heads, config.d_qk, config.d_vo, flat.dtype
        rows = rows_of(config, both)
        tokens, facts, subjects = len(rows["inputs"]), config.samples, len(rows["subject"])

        def empty(*shape: int) -> NDArray[Any]:
            return np.zeros(shape, dtype)

        self.g = np.zeros_like(flat)
        x, y = views(config, flat), views(config, self.g)
        self.matrices = (x["W_E"], x["W_U"], y["W_E"], y["W_U"])
        names = ("W_Q", "W_K", "W_V", "W_O")
        self.heads = (*(x[name] for name in names), *(y[name] for name in names))
        self.tables = tuple(empty(h, a, tokens) for a in (d_qk, d_qk, d_vo, d) * 2)
        self.planes = (
            *(empty(d, tokens) for _ in range(4)),
            empty(h, facts),
            *(empty(d, n) for n in (facts, facts, subjects, subjects)),
        )
        self.lines = (empty(max(config.tokens, facts)), empty(max(config.tokens, facts)))
        self.rows = tuple(rows[name] for name in ROWS)


ROWS = ("inputs", "key", "query", "value", "subject", "starts", "seconds", "counts")


def views(config: Wong, flat: NDArray[Any]) -> Arrays:
    """Views of the parameters in a flat array."""
    found, start = {}, 0
    for name, shape in config.shapes().items():
        size = int(np.prod(shape))
        found[name] = flat[start : start + size].reshape(shape)
        start += size
    return found


def _row(row: Any, work: Any, hidden: Any, r: int, U: Any, weight: Any) -> None:
    """The gradient of weight · logsumexp with respect to the logits of row r."""
    d, V = U.shape
    for j in range(V):
        row[j] = hidden[0, r] * U[0, j]
    for i in range(1, d):
        x = hidden[i, r]
        for j in range(V):
            row[j] += x * U[i, j]
    top = row[0]
    for j in range(V):
        top = max(top, row[j])
    exponentials(row, work, V, top)
    total = row[0] - row[0]
    for j in range(V):
        total += row[j]
    factor = weight / total
    for j in range(V):
        row[j] *= factor


_row_compiled = helper(_row)


def _back(row: Any, hidden: Any, r: int, U: Any, gU: Any, gH: Any) -> None:
    d, V = U.shape
    for i in range(d):
        x = hidden[i, r]
        total = x - x
        for j in range(V):
            total += row[j] * U[i, j]
            gU[i, j] += x * row[j]
        gH[i, r] = total


_back_compiled = helper(_back)


def _train(
    p: Any,
    g: Any,
    m: Any,
    v: Any,
    matrices: Any,
    heads: Any,
    tables: Any,
    planes: Any,
    lines: Any,
    rows: Any,
    hyper: Any,
    rates: Any,
    roots: Any,
) -> None:
    E, U, gE, gU = matrices
    WQ, WK, WV, WO, gQ, gK, gV, gO = heads
    XQ, XK, XV, Y, dXQ, dXK, dXV, dY = tables
    X, base, dX, dB, alpha, hidden, dH, hidden1, dH1 = planes
    row, work = lines
    inputs, key, query, value, subject, starts, seconds, counts = rows
    H, d, dq = WQ.shape
    dv = WV.shape[2]
    T = p.dtype.type
    zero, one = T(0), T(1)
    P, R, S = inputs.size, key.size, subject.size
    unit = one / T(2 * R) if S > 0 else one / T(R)
    for step in range(rates.size):
        # forward: tables over the input tokens
        for i in range(d):
            for t in range(P):
                X[i, t] = E[inputs[t], i]
                base[i, t] = X[i, t]
        for h in range(H):
            for a in range(dq):
                for t in range(P):
                    XQ[h, a, t] = zero
                    XK[h, a, t] = zero
                for i in range(d):
                    x, y = WQ[h, i, a], WK[h, a, i]
                    for t in range(P):
                        XQ[h, a, t] += x * X[i, t]
                        XK[h, a, t] += y * X[i, t]
            for a in range(dv):
                for t in range(P):
                    XV[h, a, t] = zero
                for i in range(d):
                    x = WV[h, i, a]
                    for t in range(P):
                        XV[h, a, t] += x * X[i, t]
            for i in range(d):
                for t in range(P):
                    Y[h, i, t] = zero
                for a in range(dv):
                    x = WO[h, a, i]
                    for t in range(P):
                        Y[h, i, t] += x * XV[h, a, t]
                for t in range(P):
                    base[i, t] += Y[h, i, t]
        # forward: rows
        for i in range(d):
            for r in range(S):
                hidden1[i, r] = base[i, subject[r]]
            for r in range(R):
                hidden[i, r] = base[i, query[r]]
        for h in range(H):
            for r in range(R):
                row[r] = zero
            for a in range(dq):
                for r in range(R):
                    row[r] -= XQ[h, a, query[r]] * (XK[h, a, key[r]] - XK[h, a, query[r]])
            exponentials(row, work, R, zero)
            for r in range(R):
                alpha[h, r] = one / (one + row[r])
            for i in range(d):
                for r in range(R):
                    hidden[i, r] += alpha[h, r] * (Y[h, i, key[r]] - Y[h, i, query[r]])
        # logits, loss and their gradients
        gU.fill(zero)
        for r in range(S):
            total = zero
            for c in range(starts[r], starts[r + 1]):
                total += T(counts[c])
            _row_compiled(row, work, hidden1, r, U, unit * total)
            for c in range(starts[r], starts[r + 1]):
                row[seconds[c]] -= unit * T(counts[c])
            _back_compiled(row, hidden1, r, U, gU, dH1)
        for r in range(R):
            _row_compiled(row, work, hidden, r, U, unit)
            row[value[r]] -= unit
            _back_compiled(row, hidden, r, U, gU, dH)
        # backward: rows
        for i in range(d):
            for t in range(P):
                dB[i, t] = zero
            for r in range(S):
                dB[i, subject[r]] += dH1[i, r]
            for r in range(R):
                dB[i, query[r]] += dH[i, r]
        for h in range(H):
            for r in range(R):
                row[r] = zero
            for i in range(d):
                for t in range(P):
                    dY[h, i, t] = dB[i, t]
                for r in range(R):
                    row[r] += dH[i, r] * (Y[h, i, key[r]] - Y[h, i, query[r]])
                for r in range(R):
                    x = alpha[h, r] * dH[i, r]
                    dY[h, i, key[r]] += x
                    dY[h, i, query[r]] -= x
            for r in range(R):
                row[r] *= alpha[h, r] * (one - alpha[h, r])
            for a in range(dq):
                for t in range(P):
                    dXQ[h, a, t] = zero
                    dXK[h, a, t] = zero
                for r in range(R):
                    x = row[r]
                    k, q = key[r], query[r]
                    y = x * XQ[h, a, q]
                    dXQ[h, a, q] += x * (XK[h, a, k] - XK[h, a, q])
                    dXK[h, a, k] += y
                    dXK[h, a, q] -= y
        # backward: tables
        for i in range(d):
            for t in range(P):
                dX[i, t] = dB[i, t]
        for h in range(H):
            for a in range(dv):
                for t in range(P):
                    dXV[h, a, t] = zero
                for i in range(d):
                    x, total = WO[h, a, i], zero
                    for t in range(P):
                        dXV[h, a, t] += x * dY[h, i, t]
                        total += XV[h, a, t] * dY[h, i, t]
                    gO[h, a, i] = total
                for i in range(d):
                    x, total = WV[h, i, a], zero
                    for t in range(P):
                        dX[i, t] += x * dXV[h, a, t]
                        total += X[i, t] * dXV[h, a, t]
                    gV[h, i, a] = total
            for a in range(dq):
                for i in range(d):
                    x, y, total, other = WQ[h, i, a], WK[h, a, i], zero, zero
                    for t in range(P):
                        dX[i, t] += x * dXQ[h, a, t] + y * dXK[h, a, t]
                        total += X[i, t] * dXQ[h, a, t]
                        other += X[i, t] * dXK[h, a, t]
                    gQ[h, i, a] = total
                    gK[h, a, i] = other
        for i in range(d):
            for t in range(P):
                gE[inputs[t], i] = dX[i, t]
        adam(p, g, m, v, hyper, rates[step], roots[step])


train_wong = compiled(_train)
