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

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lemmax.numerics.engines.compiled.loops import adam, compiled, exponentials, helper
from lemmax.numerics.training.configurations import Arrays, Dana

_LANES = 8


def padded_heads(config: Dana) -> int:
    """The number of heads, rounded up to whole vectors when there are more than half of one."""
    if config.H <= _LANES // 2:
        return config.H
    return -(-config.H // _LANES) * _LANES


class Layout:
    """The parameters of one model in one flat array, and views of it in the kernel's shapes."""

    def __init__(self, config: Dana, dtype: str) -> None:
        self.config, self.dtype = config, dtype
        self.H = padded_heads(config)
        N, d, P, a, w = config.N, config.d, config.inner, config.d_h, config.width
        self.shapes: dict[str, tuple[int, ...]] = {
            "e": (N, d),
            "pos": (2, P),
            "W_QKV": (P, 3 * a * self.H),
            "W_O": (P, a * self.H),
            "U": (d, N),
            "W_1": (d, w),
            "W_2": (d, w),
            "b_1": (1, w),
        }
        if config.maps == "shared":
            self.shapes |= {"W_in": (d, P), "W_out": (d, P)}
        self.size = sum(int(np.prod(shape)) for shape in self.shapes.values())

    def views(self, flat: NDArray[Any]) -> Arrays:
        """Writable views; where the maps are not shared, the identity stands for them."""
        found, start = {}, 0
        for name, shape in self.shapes.items():
            size = int(np.prod(shape))
            found[name] = flat[start : start + size].reshape(shape)
            start += size
        if self.config.maps != "shared":
            found |= {n: np.eye(self.config.d, dtype=self.dtype) for n in ("W_in", "W_out")}
        return found

    def flatten(self, weights: Arrays) -> NDArray[Any]:
        """All parameters in one array."""
        config, flat = self.config, np.zeros(self.size, self.dtype)
        found, H = self.views(flat), config.H
        P, a = config.inner, config.d_h
        found["e"][:], found["pos"][:], found["U"][:] = (
            weights["e"],
            weights["pos"],
            weights["W_U"].T,
        )
        mixed = found["W_QKV"].reshape(P, 3, a, self.H)
        for number, name in enumerate(("W_Q", "W_K", "W_V")):
            mixed[:, number, :, :H] = weights[name].transpose(2, 1, 0)
        found["W_O"].reshape(P, a, self.H)[:, :, :H] = weights["W_O"].transpose(1, 2, 0)
        if config.maps == "shared":
            found["W_in"][:], found["W_out"][:] = weights["W_in"].T, weights["W_out"]
        if config.width:
            found["W_1"][:], found["W_2"][:] = weights["W_1"].T, weights["W_2"]
            found["b_1"][0] = weights["b_1"]
        return flat

    def unflatten(self, flat: NDArray[Any]) -> Arrays:
        """The parameters in their own shapes, copied."""
        config, found, H = self.config, self.views(flat), self.config.H
        P, a = config.inner, config.d_h
        weights = {"e": found["e"], "pos": found["pos"], "W_U": found["U"].T}
        mixed = found["W_QKV"].reshape(P, 3, a, self.H)
        for number, name in enumerate(("W_Q", "W_K", "W_V")):
            weights[name] = mixed[:, number, :, :H].transpose(2, 1, 0)
        weights["W_O"] = found["W_O"].reshape(P, a, self.H)[:, :, :H].transpose(2, 0, 1)
        weights |= {"W_in": found["W_in"].T, "W_out": found["W_out"]}
        weights |= {"W_1": found["W_1"].T, "W_2": found["W_2"], "b_1": found["b_1"][0]}
        return {name: np.ascontiguousarray(weights[name]).copy() for name in config.shapes()}


class Workspace:
    """The arguments of the kernel for one model: views of parameters, gradients and tables."""

    def __init__(self, layout: Layout, p: NDArray[Any]) -> None:
        config, H = layout.config, layout.H
        N, d, P, a = config.N, config.d, config.inner, config.d_h
        M, A, dtype = N + 2, config.d_h * H, layout.dtype

        def empty(*shape: int) -> NDArray[Any]:
            return np.zeros(shape, dtype)

        g = np.zeros_like(p)
        x, y = layout.views(p), layout.views(g)
        if config.maps != "shared":
            y |= {"W_in": empty(d, P), "W_out": empty(d, P)}  # of constants, never used
        base, dbase, qkv, dqkv = empty(M, P), empty(M, P), empty(M, 3 * A), empty(M, 3 * A)
        out, dout = empty(d, A), empty(d, A)
        self.g = g
        self.params = (x["e"], x["pos"], x["U"], x["W_1"], x["W_2"], x["b_1"])
        self.grads = (y["e"], y["pos"], y["U"], y["W_1"], y["W_2"], y["b_1"])
        # products in the order of the forward pass: W_out W_O, e W_in, base W_QKV
        self.lefts = (x["W_out"], x["e"], base)
        self.rights = (x["W_O"], x["W_in"], x["W_QKV"])
        self.products = (out, base, qkv)
        self.dlefts = (y["W_out"], y["e"], dbase)
        self.drights = (y["W_O"], y["W_in"], y["W_QKV"])
        self.dproducts = (dout, dbase, dqkv)
        self.tables = (qkv.reshape(M, 3, a, H), dqkv.reshape(M, 3, a, H))
        cubes = (out.reshape(d, a, H), dout.reshape(d, a, H))
        self.cubes = (*cubes, empty(M, d, H), empty(M, d, H), empty(N, d, H), empty(N, d, H))
        self.planes = (empty(N, H), empty(N, H), empty(N, d), empty(N, d))
        w = config.width
        lengths = (H, H, d, d, d, w, w, w, max(N, H, w), max(N, H, w))
        self.lines = tuple(empty(length) for length in lengths)
        scale = 1 / math.sqrt(a) if config.scaled else 1.0
        self.numbers = np.array([scale, float(not config.scaled)], dtype)


def pairs_of(config: Dana) -> tuple[NDArray[np.int64], ...]:
    """Samples in the order of their last tokens: number, first token, last token, target."""
    sequences, targets = config.data()
    order = np.argsort(sequences[:, 1], kind="stable")
    return order, sequences[order, 0].copy(), sequences[order, 1].copy(), targets[order].copy()


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


times = helper(_times)


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


times_back = helper(_times_back)


def _forward_pair(
    Q: Any, K: Any, b: Any, s: Any, work: Any, Y: Any, Z: Any, r0: Any, r: Any
) -> None:
    """Attention s ← σ(…) and residual r of one pair."""
    d_h, H = Q.shape
    one = r.dtype.type(1)
    zero = one - one
    for h in range(H):
        s[h] = -b[h]
    for a in range(d_h):
        for h in range(H):
            s[h] -= Q[a, h] * K[a, h]
    exponentials(s, work, H, zero)
    for h in range(H):
        s[h] = one / (one + s[h])
    for o in range(r.size):
        total = zero
        for h in range(H):
            total += s[h] * (Y[o, h] + Z[o, h])
        r[o] = r0[o] + total


forward_pair = helper(_forward_pair)


def _backward_pair(
    Q: Any,
    K: Any,
    s: Any,
    ds: Any,
    Y: Any,
    Z: Any,
    dr: Any,
    dQ: Any,
    dK: Any,
    db: Any,
    dY: Any,
    dZ: Any,
    dr0: Any,
) -> None:
    d_h, H = Q.shape
    one = dr.dtype.type(1)
    for h in range(H):
        ds[h] = one - one
    for o in range(dr.size):
        x = dr[o]
        dr0[o] += x
        for h in range(H):
            ds[h] += x * (Y[o, h] + Z[o, h])
            y = x * s[h]
            dY[o, h] += y
            dZ[o, h] += y
    for h in range(H):
        ds[h] *= s[h] * (one - s[h])
        db[h] += ds[h]
    for a in range(d_h):
        for h in range(H):
            dQ[a, h] += ds[h] * K[a, h]
            dK[a, h] += ds[h] * Q[a, h]


backward_pair = helper(_backward_pair)


def _mlp(r: Any, W1: Any, b1: Any, W2: Any, act: Any, slope: Any, work: Any, out: Any) -> None:
    """out ← r + W_2 gelu(W_1 r + b_1), with gelu and its derivative kept."""
    T = r.dtype.type
    w = act.size
    half, one, root, density = T(0.5), T(1), T(math.sqrt(0.5)), T(1 / math.sqrt(2 * math.pi))
    for k in range(w):
        act[k] = b1[0, k]
    for o in range(r.size):
        x = r[o]
        for k in range(w):
            act[k] += x * W1[o, k]
    for k in range(w):
        slope[k] = -half * act[k] * act[k]
    exponentials(slope, work, w, one - one)
    for k in range(w):
        u = act[k]
        share = half * (one + T(math.erf(u * root)))
        act[k] = u * share
        slope[k] = share + u * density * slope[k]
    for o in range(r.size):
        total = one - one
        for k in range(w):
            total += W2[o, k] * act[k]
        out[o] = r[o] + total


mlp = helper(_mlp)


def _mlp_back(
    r: Any, W1: Any, W2: Any, act: Any, slope: Any, du: Any, dr: Any, gW1: Any, gb1: Any, gW2: Any
) -> None:
    """dr ← dr + the gradient through the MLP."""
    w = act.size
    zero = r.dtype.type(0)
    for k in range(w):
        du[k] = zero
    for o in range(r.size):
        x = dr[o]
        for k in range(w):
            du[k] += W2[o, k] * x
            gW2[o, k] += act[k] * x
    for k in range(w):
        du[k] *= slope[k]
        gb1[0, k] += du[k]
    for o in range(r.size):
        x, total = r[o], zero
        for k in range(w):
            gW1[o, k] += x * du[k]
            total += W1[o, k] * du[k]
        dr[o] += total


mlp_back = helper(_mlp_back)


def _softmax_pair(
    r: Any, U: Any, gU: Any, row: Any, work: Any, target: int, weight: Any, dr: Any
) -> bool:
    """The gradient dr of weight · cross-entropy of one pair; whether its argmax is right."""
    d, N = U.shape
    zero = weight - weight
    for j in range(N):
        row[j] = zero
    for o in range(d):
        x = r[o]
        for j in range(N):
            row[j] += x * U[o, j]
    top = row[0]
    for j in range(N):
        top = max(top, row[j])
    right = row[target] == top
    exponentials(row, work, N, top)
    total = zero
    for j in range(N):
        total += row[j]
    factor = weight / total
    for j in range(N):
        row[j] *= factor
    row[target] -= weight
    for o in range(d):
        x, total = r[o], zero
        for j in range(N):
            total += row[j] * U[o, j]
            gU[o, j] += x * row[j]
        dr[o] = total
    return bool(right)


softmax_pair = helper(_softmax_pair)


def _tables(tables: Any, cubes: Any, planes: Any, params: Any, numbers: Any) -> None:
    """Y, Z, b and r⁰ from queries, keys, values and the outward maps; queries become Q."""
    qkv, out, Y, Z = tables[0], cubes[0], cubes[2], cubes[4]
    b, r0 = planes[0], planes[2]
    e, pos = params[0], params[1]
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


def _tables_back(tables: Any, cubes: Any, planes: Any, grads: Any, numbers: Any) -> None:
    """The gradient of :func:`_tables`."""
    qkv, dqkv = tables[0], tables[1]
    out, dout, dY, dZ = cubes[0], cubes[1], cubes[3], cubes[5]
    db, dr0 = planes[1], planes[3]
    ge, gpos = grads[0], grads[1]
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


tables_forward = helper(_tables)
tables_backward = helper(_tables_back)


def _train(
    p: Any,
    g: Any,
    m: Any,
    v: Any,
    params: Any,
    grads: Any,
    lefts: Any,
    rights: Any,
    products: Any,
    dlefts: Any,
    drights: Any,
    dproducts: Any,
    tables: Any,
    cubes: Any,
    planes: Any,
    lines: Any,
    numbers: Any,
    pairs: Any,
    chosen: Any,
    hyper: Any,
    rates: Any,
    roots: Any,
    right: Any,
) -> None:
    """Train; ``chosen`` has a row of sample numbers for each step, or no columns: all samples."""
    order, first, last, target = pairs
    qkv, dqkv = tables
    Y, dY, Z, dZ = cubes[2], cubes[3], cubes[4], cubes[5]
    b, db, r0, dr0 = planes
    s, ds, r, r2, dr, act, slope, du, row, work = lines
    U, W1, W2, b1 = params[2], params[3], params[4], params[5]
    gU, gW1, gW2, gb1 = grads[2], grads[3], grads[4], grads[5]
    N = r0.shape[0]
    T = p.dtype.type
    zero = T(0)
    counts = np.zeros(order.size, np.int64)
    B = chosen.shape[1] if chosen.shape[1] > 0 else order.size
    for step in range(rates.size):
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
                    products[1][N, o] = params[1][0, o]
                    products[1][N + 1, o] = params[1][1, o]
        tables_forward(tables, cubes, planes, params, numbers)
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
            forward_pair(qkv[j, 0], qkv[i, 1], b[j], s, work, Y[i], Z[j], r0[j], r)
            mlp(r, W1, b1, W2, act, slope, work, r2)
            if softmax_pair(r2, U, gU, row, work, target[x], T(count) / T(B), dr):
                hits += count
            mlp_back(r, W1, W2, act, slope, du, dr, gW1, gb1, gW2)
            backward_pair(
                qkv[j, 0], qkv[i, 1], s, ds, Y[i], Z[j], dr,
                dqkv[j, 0], dqkv[i, 1], db[j], dY[i], dZ[j], dr0[j],
            )  # fmt: skip
        right[step] = hits / B
        tables_backward(tables, cubes, planes, grads, numbers)
        for k in range(2, -1, -1):
            times_back(lefts[k], rights[k], dproducts[k], dlefts[k], drights[k])
        for o in range(products[1].shape[1]):
            grads[1][0, o] += dproducts[1][N, o]
            grads[1][1, o] += dproducts[1][N + 1, o]
        adam(p, g, m, v, hyper, rates[step], roots[step])


train_dana = compiled(_train)
