"""Wong's layer, compiled: one model at its exact shapes, from step to step without leaving.

The attention of two tokens is a sigmoid of s_qk - s_qq. Everything that depends on one token is a
table with the tokens innermost, and the logits of a row are made, turned into their gradient and
used up while they are in the cache.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lemmax.numerics.engines.compiled.loops import (
    compiled,
    exponentials,
    helper,
    largest,
    update,
    weighted_softmax,
)
from lemmax.numerics.engines.flat import views
from lemmax.numerics.engines.wong_rows import Rows, rows_of
from lemmax.numerics.training.configurations import Wong


class Weights(NamedTuple):
    """The parameters, or their gradients, as views of a flat array."""

    W_E: Any
    W_U: Any
    W_Q: Any
    W_K: Any
    W_V: Any
    W_O: Any


class Work(NamedTuple):
    """What a step computes.

    Tables over heads and input tokens: queries, keys, values, outputs Y, and their gradients. Then
    embeddings X and base = X + Σ_h Y with gradients; the attention, the hidden states of the
    facts and of the subjects with gradients; two lines of scratch.
    """

    XQ: Any
    XK: Any
    XV: Any
    Y: Any
    dXQ: Any
    dXK: Any
    dXV: Any
    dY: Any
    X: Any
    base: Any
    dX: Any
    dB: Any
    alpha: Any
    hidden: Any
    dH: Any
    hidden1: Any
    dH1: Any
    row: Any
    scratch: Any


class Model(NamedTuple):
    """All that the loop needs of one model."""

    weights: Weights
    gradients: Weights
    work: Work
    rows: Rows


def model_of(config: Wong, p: NDArray[Any], g: NDArray[Any], both: bool) -> Model:
    """The views of flat parameters and gradients, and room to work in."""
    d, h, d_qk, d_vo = config.d_model, config.heads, config.d_qk, config.d_vo
    rows = rows_of(config, both)
    tokens, facts, subjects = len(rows.inputs), config.samples, len(rows.subject)

    tables = [(h, a, tokens) for a in (d_qk, d_qk, d_vo, d) * 2]
    planes = [*[(d, tokens)] * 4, (h, facts), *((d, n) for n in (facts, facts, subjects, subjects))]
    lines = [(max(config.tokens, facts),)] * 2
    work = Work._make(np.zeros(shape, p.dtype) for shape in (*tables, *planes, *lines))
    weights, gradients = (Weights(**views(config.shapes(), flat)) for flat in (p, g))
    return Model(weights, gradients, work, rows)


def _row(row: Any, scratch: Any, hidden: Any, r: int, U: Any, weight: Any) -> None:
    """The gradient of weight · logsumexp with respect to the logits of row r."""
    d, V = U.shape
    for j in range(V):
        row[j] = hidden[0, r] * U[0, j]
    for i in range(1, d):
        x = hidden[i, r]
        for j in range(V):
            row[j] += x * U[i, j]
    weighted_softmax(row, scratch, V, largest(row, V), weight)


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


def _train(optimiser: Any, schedule: Any, model: Any) -> None:
    """Train on full batches; the accuracy on them is not counted."""
    weights, gradients, work, rows = model
    E, U, WQ, WK, WV, WO = weights
    gE, gU, gQ, gK, gV, gO = gradients
    XQ, XK, XV, Y, dXQ, dXK, dXV, dY = (
        work.XQ, work.XK, work.XV, work.Y, work.dXQ, work.dXK, work.dXV, work.dY,
    )  # fmt: skip
    X, base, dX, dB = work.X, work.base, work.dX, work.dB
    alpha, hidden, dH, hidden1, dH1 = work.alpha, work.hidden, work.dH, work.hidden1, work.dH1
    row, scratch = work.row, work.scratch
    inputs, key, query, value, subject, starts, seconds, counts = rows
    H, d, dq = WQ.shape
    dv = WV.shape[2]
    T = E.dtype.type
    zero, one = T(0), T(1)
    P, R, S = inputs.size, key.size, subject.size
    unit = one / T(2 * R) if S > 0 else one / T(R)
    for step in range(schedule.rates.size):
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
            exponentials(row, scratch, R, zero)
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
            _row_compiled(row, scratch, hidden1, r, U, unit * total)
            for c in range(starts[r], starts[r + 1]):
                row[seconds[c]] -= unit * T(counts[c])
            _back_compiled(row, hidden1, r, U, gU, dH1)
        for r in range(R):
            _row_compiled(row, scratch, hidden, r, U, unit)
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
        update(optimiser, schedule, step)


train_wong = compiled(_train)
