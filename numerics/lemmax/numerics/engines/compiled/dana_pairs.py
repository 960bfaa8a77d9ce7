"""One pair of tokens, compiled: attention, MLP and loss, forward and backward."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from lemmax.numerics.engines.compiled.loops import exponentials, helper, largest, weighted_softmax


class Pair(NamedTuple):
    """The rows of the tables that one pair reads, or those of their gradients."""

    Q: Any
    K: Any
    b: Any
    Y: Any
    Z: Any
    r0: Any


def _forward_pair(pair: Any, lines: Any) -> None:
    """Attention s ← σ(…) and residual r of one pair."""
    Q, K, b, Y, Z, r0 = pair
    s, r = lines.s, lines.r
    d_h, H = Q.shape
    one = r.dtype.type(1)
    zero = one - one
    for h in range(H):
        s[h] = -b[h]
    for a in range(d_h):
        for h in range(H):
            s[h] -= Q[a, h] * K[a, h]
    exponentials(s, lines.scratch, H, zero)
    for h in range(H):
        s[h] = one / (one + s[h])
    for o in range(r.size):
        total = zero
        for h in range(H):
            total += s[h] * (Y[o, h] + Z[o, h])
        r[o] = r0[o] + total


def _backward_pair(pair: Any, gradient: Any, lines: Any) -> None:
    """Add the gradient of one pair from that of its residual."""
    Q, K, _, Y, Z, _ = pair
    dQ, dK, db, dY, dZ, dr0 = gradient
    s, ds, dr = lines.s, lines.ds, lines.dr
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


def _mlp(weights: Any, lines: Any) -> None:
    """r2 ← r + W_2 gelu(W_1 r + b_1), with gelu and its derivative kept."""
    W1, b1, W2 = weights.W_1, weights.b_1, weights.W_2
    r, out, act, slope = lines.r, lines.r2, lines.act, lines.slope
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
    exponentials(slope, lines.scratch, w, one - one)
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


def _mlp_back(weights: Any, gradients: Any, lines: Any) -> None:
    """dr ← dr + the gradient through the MLP."""
    W1, W2 = weights.W_1, weights.W_2
    gW1, gb1, gW2 = gradients.W_1, gradients.b_1, gradients.W_2
    r, dr, act, slope, du = lines.r, lines.dr, lines.act, lines.slope, lines.du
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


def _softmax_pair(U: Any, gU: Any, lines: Any, target: int, weight: Any) -> bool:
    """The gradient dr of weight · cross-entropy of one pair; whether its argmax is right."""
    r, dr, row = lines.r2, lines.dr, lines.row
    d, N = U.shape
    zero = weight - weight
    for j in range(N):
        row[j] = zero
    for o in range(d):
        x = r[o]
        for j in range(N):
            row[j] += x * U[o, j]
    top = largest(row, N)
    right = row[target] == top
    weighted_softmax(row, lines.scratch, N, top, weight)
    row[target] -= weight
    for o in range(d):
        x, total = r[o], zero
        for j in range(N):
            total += row[j] * U[o, j]
            gU[o, j] += x * row[j]
        dr[o] = total
    return bool(right)


forward_pair, backward_pair = helper(_forward_pair), helper(_backward_pair)
mlp, mlp_back, softmax_pair = helper(_mlp), helper(_mlp_back), helper(_softmax_pair)
