r"""Mahdavi's layer, compiled: only the query's row of the attention, heads folded.

Keys are \(k_j = E_j W_{in} + f_j\) with f = b + pos. With \(M_h = W_Q^h W_K^{h\top}/\sqrt d\), a
score is \(x F_h E_j^\top + x P_h\) for \(F_h = M_h W_{in}^\top\), \(P_h = M_h f^\top\), and a value
\(E_j I_h + f_j W_V^h\) for \(I_h = W_{in} W_V^h\). A shared context goes into f as a whole, and E
is empty. Without an embedding W_in is the identity and the biases are zero, all of them constants.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lemmax.numerics.engines.compiled.loops import (
    compiled,
    exponentials,
    helper,
    largest,
    update,
    weighted_softmax,
)


def _prepare(weights: Any, work: Any, data: Any) -> None:
    """f, M, F, P, I and f W_V from the weights."""
    WQ, WK, WV, W_in, b_in = weights.W_Q, weights.W_K, weights.W_V, weights.W_in, weights.b_in
    position, shared = data.position, data.shared
    M, F, P, f, inner, fixed = work.M, work.F, work.P, work.f, work.inner, work.fixed
    H, d, a_size = WQ.shape
    n, free, v_size = f.shape[0], inner.shape[1], WV.shape[2]
    T = f.dtype.type
    zero, root = T(0), T(1) / np.sqrt(T(d))
    for j in range(n):
        for e in range(d):
            f[j, e] = b_in[e] + position[j + 1, e]
    for j in range(shared.shape[0]):
        for i in range(d):
            x = shared[j, i]
            for e in range(d):
                f[j, e] += x * W_in[i, e]
    for h in range(H):
        for c in range(d):
            for e in range(d):
                total = zero
                for a in range(a_size):
                    total += WQ[h, c, a] * WK[h, e, a]
                M[h, c, e] = root * total
            for i in range(free):
                total = zero
                for e in range(d):
                    total += M[h, c, e] * W_in[i, e]
                F[h, c, i] = total
            for j in range(n):
                total = zero
                for e in range(d):
                    total += M[h, c, e] * f[j, e]
                P[h, c, j] = total
        for v in range(v_size):
            k = h * v_size + v
            for i in range(free):
                total = zero
                for e in range(d):
                    total += W_in[i, e] * WV[h, e, v]
                inner[k, i] = total
            for j in range(n):
                total = zero
                for e in range(d):
                    total += f[j, e] * WV[h, e, v]
                fixed[k, j] = total


def _finish(weights: Any, gradients: Any, work: Any, data: Any) -> None:
    """The gradient of :func:`_prepare`."""
    WQ, WK, WV, W_in = weights.W_Q, weights.W_K, weights.W_V, weights.W_in
    gQ, gK, gV = gradients.W_Q, gradients.W_K, gradients.W_V
    gW_in, gb_in, shared = gradients.W_in, gradients.b_in, data.shared
    M, dM, dF, dP = work.M, work.dM, work.dF, work.dP
    f, df, dinner, dfixed = work.f, work.df, work.dinner, work.dfixed
    H, d, a_size = WQ.shape
    n, free, v_size = f.shape[0], dinner.shape[1], WV.shape[2]
    T = f.dtype.type
    zero, root = T(0), T(1) / np.sqrt(T(d))
    df.fill(zero)
    dM.fill(zero)
    for h in range(H):
        for c in range(d):
            for i in range(free):
                x = dF[h, c, i]
                for e in range(d):
                    dM[h, c, e] += x * W_in[i, e]
                    gW_in[i, e] += x * M[h, c, e]
            for j in range(n):
                x = dP[h, c, j]
                for e in range(d):
                    dM[h, c, e] += x * f[j, e]
                    df[j, e] += x * M[h, c, e]
            for e in range(d):
                x = root * dM[h, c, e]
                for a in range(a_size):
                    gQ[h, c, a] += x * WK[h, e, a]
                    gK[h, e, a] += x * WQ[h, c, a]
        for v in range(v_size):
            k = h * v_size + v
            for e in range(d):
                y, total = WV[h, e, v], zero
                for i in range(free):
                    total += dinner[k, i] * W_in[i, e]
                    gW_in[i, e] += dinner[k, i] * y
                for j in range(n):
                    total += dfixed[k, j] * f[j, e]
                    df[j, e] += dfixed[k, j] * y
                gV[h, e, v] = total
    for j in range(n):
        for e in range(d):
            gb_in[e] += df[j, e]
    for j in range(shared.shape[0]):
        for i in range(d):
            x = shared[j, i]
            for e in range(d):
                gW_in[i, e] += x * df[j, e]


def _attend(x: Any, E: Any, F: Any, P: Any, u: Any, row: Any, work: Any, A: Any) -> None:
    """The attention A of one head on one example."""
    d, free, n = F.shape[0], F.shape[1], P.shape[1]
    zero = x[0] - x[0]
    for i in range(free):
        u[i] = zero
    for j in range(n):
        row[j] = zero
    for c in range(d):
        y = x[c]
        for i in range(free):
            u[i] += y * F[c, i]
        for j in range(n):
            row[j] += y * P[c, j]
    for j in range(n):
        total = zero
        for i in range(free):
            total += E[j, i] * u[i]
        row[j] += total
    exponentials(row, work, n, largest(row, n))
    total = zero
    for j in range(n):
        total += row[j]
    for j in range(n):
        A[j] = row[j] / total


def _attend_back(
    x: Any, E: Any, F: Any, P: Any, u: Any, ds: Any, dF: Any, dP: Any, dx: Any
) -> None:
    d, free, n = F.shape[0], F.shape[1], P.shape[1]
    zero = x[0] - x[0]
    for i in range(free):
        u[i] = zero
    for j in range(n):
        y = ds[j]
        for i in range(free):
            u[i] += y * E[j, i]
    for c in range(d):
        y, total = x[c], zero
        for i in range(free):
            total += F[c, i] * u[i]
            dF[c, i] += y * u[i]
        for j in range(n):
            total += P[c, j] * ds[j]
            dP[c, j] += y * ds[j]
        dx[c] += total


def _output(
    mixed: Any, dmixed: Any, weights: Any, gradients: Any, work: Any, label: int, value: Any,
    classes: bool, weight: Any,
) -> None:  # fmt: skip
    """Outputs, loss and the gradient dmixed of one example."""
    WO, W_D, b_D = weights.W_O, weights.W_D, weights.b_D
    gO, gD, gb = gradients.W_O, gradients.W_D, gradients.b_D
    out, dout, row = work.out, work.u, work.row
    H, v_size, d = WO.shape
    size = W_D.shape[1]
    zero = weight - weight
    for e in range(d):
        out[e] = zero
    for h in range(H):
        for v in range(v_size):
            x = mixed[h * v_size + v]
            for e in range(d):
                out[e] += x * WO[h, v, e]
    for y in range(size):
        row[y] = b_D[y]
    for e in range(d):
        x = out[e]
        for y in range(size):
            row[y] += x * W_D[e, y]
    if classes:
        weighted_softmax(row, work.scratch, size, largest(row, size), weight)
        row[label] -= weight
    else:
        row[0] = weight * (row[0] - value) + weight * (row[0] - value)
    for y in range(size):
        gb[y] += row[y]
    for e in range(d):
        x, total = out[e], zero
        for y in range(size):
            total += W_D[e, y] * row[y]
            gD[e, y] += x * row[y]
        dout[e] = total
    for h in range(H):
        for v in range(v_size):
            x, total = mixed[h * v_size + v], zero
            for e in range(d):
                total += WO[h, v, e] * dout[e]
                gO[h, v, e] += x * dout[e]
            dmixed[h * v_size + v] = total


prepare, finish = helper(_prepare), helper(_finish)
attend, attend_back, output = helper(_attend), helper(_attend_back), helper(_output)


def _train(optimiser: Any, schedule: Any, model: Any) -> None:
    """Train on the chosen examples of every step; the accuracy on them is not counted."""
    weights, gradients, work, data = model
    W_in, b_in, gW_in, gb_in = weights.W_in, weights.b_in, gradients.W_in, gradients.b_in
    F, P, A, V, dF, dP = work.F, work.P, work.A, work.V, work.dF, work.dP
    inner, fixed, X, mixed = work.inner, work.fixed, work.X, work.mixed
    dinner, dfixed, dX, dmixed = work.dinner, work.dfixed, work.dX, work.dmixed
    u, row, scratch = work.u, work.row, work.scratch
    queries, position, contexts = data.queries, data.position, data.contexts
    classes, values, chosen, g = data.classes, data.values, schedule.chosen, optimiser.g
    H, v_size = weights.W_V.shape[0], weights.W_V.shape[2]
    d, free, n = W_in.shape[0], inner.shape[1], fixed.shape[1]
    T = W_in.dtype.type
    zero, one = T(0), T(1)
    B = chosen.shape[1] if chosen.shape[1] > 0 else queries.shape[0]
    weight = one / T(B)
    for step in range(schedule.rates.size):
        g.fill(zero)
        gW_in.fill(zero)
        gb_in.fill(zero)
        prepare(weights, work, data)
        for b in range(B):
            t = chosen[step, b] if chosen.shape[1] > 0 else b
            for e in range(d):
                X[b, e] = b_in[e] + position[0, e]
                dX[b, e] = zero
            for i in range(d):
                x = queries[t, i]
                for e in range(d):
                    X[b, e] += x * W_in[i, e]
        for h in range(H):
            for b in range(B):
                t = chosen[step, b] if chosen.shape[1] > 0 else b
                attend(X[b], contexts[t], F[h], P[h], u, row, scratch, A[b, h])
                for k in range(h * v_size, (h + 1) * v_size):
                    total = zero
                    for j in range(n):
                        y = fixed[k, j]
                        for i in range(free):
                            y += contexts[t, j, i] * inner[k, i]
                        V[b, k, j] = y
                        total += A[b, h, j] * y
                    mixed[b, k] = total
        for b in range(B):
            t = chosen[step, b] if chosen.shape[1] > 0 else b
            label = classes[t] if classes.size > 0 else 0
            value = values[t] if values.size > 0 else zero
            output(
                mixed[b], dmixed[b], weights, gradients, work, label, value,
                classes.size > 0, weight,
            )  # fmt: skip
        dF.fill(zero)
        dP.fill(zero)
        dinner.fill(zero)
        dfixed.fill(zero)
        for h in range(H):
            for b in range(B):
                t = chosen[step, b] if chosen.shape[1] > 0 else b
                for j in range(n):
                    row[j] = zero
                for k in range(h * v_size, (h + 1) * v_size):
                    x = dmixed[b, k]
                    for j in range(n):
                        row[j] += x * V[b, k, j]
                        y = x * A[b, h, j]
                        dfixed[k, j] += y
                        for i in range(free):
                            dinner[k, i] += y * contexts[t, j, i]
                total = zero
                for j in range(n):
                    total += A[b, h, j] * row[j]
                for j in range(n):
                    row[j] = A[b, h, j] * (row[j] - total)
                attend_back(X[b], contexts[t], F[h], P[h], u, row, dF[h], dP[h], dX[b])
        for b in range(B):
            t = chosen[step, b] if chosen.shape[1] > 0 else b
            for e in range(d):
                gb_in[e] += dX[b, e]
            for i in range(d):
                x = queries[t, i]
                for e in range(d):
                    gW_in[i, e] += x * dX[b, e]
        finish(weights, gradients, work, data)
        update(optimiser, schedule, step)


train_mahdavi = compiled(_train)
