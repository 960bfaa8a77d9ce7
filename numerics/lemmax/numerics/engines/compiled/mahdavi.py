r"""Mahdavi's layer, compiled: only the query's row of the attention, heads folded.

Keys are \(k_j = E_j W_{in} + f_j\) with f = b + pos. With \(M_h = W_Q^h W_K^{h\top}/\sqrt d\), a
score is \(x F_h E_j^\top + x P_h\) for \(F_h = M_h W_{in}^\top\), \(P_h = M_h f^\top\), and a value
\(E_j I_h + f_j W_V^h\) for \(I_h = W_{in} W_V^h\). A shared context goes into f as a whole, and E
is empty. Without an embedding W_in is the identity and the biases are zero, all of them constants.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lemmax.numerics.engines.compiled.loops import adam, compiled, exponentials, helper
from lemmax.numerics.training.configurations import Arrays, Mahdavi, sinusoids


def views(config: Mahdavi, flat: NDArray[Any]) -> Arrays:
    """Views of the parameters in a flat array."""
    found, start = {}, 0
    for name, shape in config.shapes().items():
        size = int(np.prod(shape))
        found[name] = flat[start : start + size].reshape(shape)
        start += size
    return found


class Workspace:
    """The arguments of the kernel for one model."""

    def __init__(self, config: Mahdavi, flat: NDArray[Any], batch: int | None) -> None:
        d, n, h, v, dtype = config.d, config.n, config.H, config.d_v, flat.dtype
        rows = min(batch or config.T, config.T)
        free = 0 if config.shared_context else d  # coordinates of contexts that vary

        def empty(*shape: int) -> NDArray[Any]:
            return np.zeros(shape, dtype)

        self.g = np.zeros_like(flat)
        x, y = views(config, flat), views(config, self.g)
        if not config.embedding:
            x |= {"W_in": np.eye(d, dtype=dtype), "b_in": empty(d), "b_D": empty(config.outputs)}
            y |= {"W_in": empty(d, d), "b_in": empty(d), "b_D": empty(config.outputs)}
        heads = ("W_Q", "W_K", "W_V", "W_O")
        self.heads = (*(x[name] for name in heads), *(y[name] for name in heads))
        self.maps = (x["W_in"], x["W_D"], y["W_in"], y["W_D"])
        self.biases = (x["b_in"], x["b_D"], y["b_in"], y["b_D"])
        self.cubes = (
            *(empty(h, d, d), empty(h, d, free), empty(h, d, n), empty(rows, h, n)),
            *(empty(rows, h * v, n), empty(h, d, d), empty(h, d, free), empty(h, d, n)),
        )
        self.planes = (
            *(empty(n, d), empty(h * v, free), empty(h * v, n), empty(rows, d)),
            *(empty(rows, h * v), empty(n, d), empty(h * v, free), empty(h * v, n)),
            *(empty(rows, d), empty(rows, h * v)),
        )
        longest = max(d, n, config.outputs)
        self.lines = tuple(empty(longest) for _ in range(4))
        queries, contexts, labels = config.data()
        position = sinusoids(n + 1, d) if config.embedding else np.zeros((n + 1, d))
        shared = contexts[0] if config.shared_context else np.zeros((0, d))
        self.data = (queries.astype(dtype), position.astype(dtype), shared.astype(dtype))
        own = np.zeros((config.T, n, 0)) if config.shared_context else contexts
        self.contexts = np.ascontiguousarray(own.astype(dtype))
        self.classes = labels if config.classes else np.zeros(0, np.int64)
        self.values = np.zeros(0, dtype) if config.classes else labels.astype(dtype)


def _prepare(heads: Any, maps: Any, biases: Any, cubes: Any, planes: Any, data: Any) -> None:
    """f, M, F, P, I and f W_V from the weights."""
    WQ, WK, WV = heads[0], heads[1], heads[2]
    W_in, b_in, position, shared = maps[0], biases[0], data[1], data[2]
    M, F, P = cubes[0], cubes[1], cubes[2]
    f, inner, fixed = planes[0], planes[1], planes[2]
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


def _finish(heads: Any, maps: Any, biases: Any, cubes: Any, planes: Any, data: Any) -> None:
    """The gradient of :func:`_prepare`."""
    WQ, WK, WV, gQ, gK, gV = heads[0], heads[1], heads[2], heads[4], heads[5], heads[6]
    W_in, gW_in, gb_in, shared = maps[0], maps[2], biases[2], data[2]
    M, dM, dF, dP = cubes[0], cubes[5], cubes[6], cubes[7]
    f, df, dinner, dfixed = planes[0], planes[5], planes[6], planes[7]
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
    top = row[0]
    for j in range(n):
        top = max(top, row[j])
    exponentials(row, work, n, top)
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
    mixed: Any, out: Any, dout: Any, row: Any, work: Any, heads: Any, maps: Any, biases: Any,
    label: int, value: Any, classes: bool, weight: Any, dmixed: Any,
) -> None:  # fmt: skip
    """Outputs, loss and the gradient dmixed of one example."""
    WO, gO, W_D, gD, b_D, gb = heads[3], heads[7], maps[1], maps[3], biases[1], biases[3]
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
        top = row[0]
        for y in range(size):
            top = max(top, row[y])
        exponentials(row, work, size, top)
        total = zero
        for y in range(size):
            total += row[y]
        factor = weight / total
        for y in range(size):
            row[y] *= factor
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


def _train(
    p: Any, g: Any, m: Any, v: Any, heads: Any, maps: Any, biases: Any, cubes: Any, planes: Any,
    lines: Any, data: Any, contexts: Any, classes: Any, values: Any, chosen: Any, hyper: Any,
    rates: Any, roots: Any,
) -> None:  # fmt: skip
    """Train; ``chosen`` has a row of examples for each step, or no columns: all of them."""
    W_in, gW_in, b_in, gb_in = maps[0], maps[2], biases[0], biases[2]
    F, P, A, V = cubes[1], cubes[2], cubes[3], cubes[4]
    dF, dP = cubes[6], cubes[7]
    inner, fixed, X, mixed = planes[1], planes[2], planes[3], planes[4]
    dinner, dfixed, dX, dmixed = planes[6], planes[7], planes[8], planes[9]
    u, row, work, out = lines
    queries, position = data[0], data[1]
    H, v_size = heads[2].shape[0], heads[2].shape[2]
    d, free, n = W_in.shape[0], inner.shape[1], fixed.shape[1]
    T = p.dtype.type
    zero, one = T(0), T(1)
    B = chosen.shape[1] if chosen.shape[1] > 0 else queries.shape[0]
    weight = one / T(B)
    for step in range(rates.size):
        g.fill(zero)
        gW_in.fill(zero)
        gb_in.fill(zero)
        prepare(heads, maps, biases, cubes, planes, data)
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
                attend(X[b], contexts[t], F[h], P[h], u, row, work, A[b, h])
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
                mixed[b], out, u, row, work, heads, maps, biases, label, value,
                classes.size > 0, weight, dmixed[b],
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
        finish(heads, maps, biases, cubes, planes, data)
        adam(p, g, m, v, hyper, rates[step], roots[step])


train_mahdavi = compiled(_train)
