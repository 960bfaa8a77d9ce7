r"""Margins of facts bounded from below in float64: fast, and certain up to what is assumed.

Every vector carries a radius per coordinate. A product of n terms is off by at most γ = n u / (1 -
n u) times the product of absolute values, u = 2^-53, in whatever order it is summed. Assumed
besides IEEE arithmetic: exp, erf and the logistic function are off by at most 8 units in the last
place. Nothing here earns a certificate: :func:`~lemmax.numerics.certify` does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lemmax.numerics.certifying.transformer import Floats, Step, Transformer, activated

UNIT = 2.0**-53
_UP = 1 + 2.0**-30  # radii are sums of fewer than 2^20 terms, rounded themselves
_LEAST = 2.0**-1000  # what underflow takes away


class Around(NamedTuple):
    """Real numbers that are off from ``center`` by at most ``radius``, entry by entry."""

    center: Floats
    radius: Floats

    @property
    def largest(self) -> Floats:
        """Bounds of the absolute values."""
        return np.abs(self.center) + self.radius


def gamma(n: int) -> float:
    """The relative error of a sum of n products."""
    return (n + 4) * UNIT * _UP


def margin_bounds(
    model: Transformer, prompts: Sequence[Sequence[int]], answers: Sequence[int]
) -> tuple[Floats, Floats]:
    """For each prompt the margin in float64, and a lower bound of the true one.

    The margin is the answer's logit minus the largest other one. Cost: about three passes of the
    model in float64, one per length of a prompt.

    >>> net = Transformer({"W_E": np.eye(2), "W_U": np.array([[0.5, 0.25], [1.0, 3.0]])}, ())
    >>> near, low = margin_bounds(net, [[0], [1]], [0, 0])
    >>> near.tolist(), bool((low < near).all() and (low > near - 1e-12).all())
    ([0.25, -2.0], True)
    """
    near, low = np.empty(len(prompts)), np.empty(len(prompts))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for length in sorted({len(prompt) for prompt in prompts}):
            rows = [i for i, prompt in enumerate(prompts) if len(prompt) == length]
            z = logit_bounds(model, np.array([prompts[i] for i in rows]))
            wanted = [answers[i] for i in rows]
            near[rows], low[rows] = _margins(z, wanted)
    return near, np.where(np.isfinite(low), low, -np.inf)


def _margins(z: Around, wanted: Sequence[int]) -> tuple[Floats, Floats]:
    places = np.arange(len(wanted)), np.array(wanted)
    own, least = z.center[places], (z.center - z.radius)[places]
    others, most = z.center.copy(), z.center + z.radius
    others[places] = most[places] = -np.inf
    return own - others.max(-1), least - most.max(-1) - 8 * UNIT * z.largest.max(-1)


def logit_bounds(model: Transformer, tokens: NDArray[Any]) -> Around:
    """The logits after prompts of one length, a row each."""
    a = model.arrays
    x = Around(a["W_E"][tokens], np.zeros((*tokens.shape, a["W_E"].shape[1])))
    if "W_pos" in a:
        x = _sum(x, Around(a["W_pos"][: tokens.shape[1]], np.zeros(())))
    for i, step in enumerate(model.steps):
        name = f"steps.{i}"
        y = _normed(model, x, step, name)
        if step["type"] == "norm":
            x = y
        elif step["type"] == "mlp":
            hidden = _activated(_affine(y, a, f"{name}.W_in", f"{name}.b_in"), step)
            x = _sum(x, _affine(hidden, a, f"{name}.W_out", f"{name}.b_out"))
        else:
            x = _sum(x, _attended(model, y, step, name))
    last = Around(x.center[:, -1], x.radius[:, -1])
    if model.tied:
        return _affine(last, {**a, "W_U": a["W_E"].T}, "W_U", "b_U")
    return _affine(last, a, "W_U", "b_U")


def _sum(x: Around, y: Around) -> Around:
    center = x.center + y.center
    return Around(center, (x.radius + y.radius + UNIT * np.abs(center)) * _UP)


def _affine(x: Around, arrays: Any, weight: str, bias: str) -> Around:
    W, b = arrays[weight], arrays.get(bias, 0.0)
    center = x.center @ W + b
    error = gamma(len(W))
    radius = (x.radius + error * x.largest) @ np.abs(W) + error * np.abs(b) + _LEAST
    return Around(center, radius * _UP)


def _normed(model: Transformer, x: Around, step: Step, name: str) -> Around:
    if step["norm"] == "none":
        return x
    center, radius = x
    d = center.shape[-1]
    error = gamma(d)
    if step["norm"] == "layer":
        mean = center.mean(-1, keepdims=True)
        spread = radius.mean(-1, keepdims=True) + error * np.abs(center).mean(-1, keepdims=True)
        center = center - mean
        radius = (radius + spread + UNIT * np.abs(center)) * _UP
    square = (center * center).mean(-1, keepdims=True) + float(Fraction(step["eps"]))
    wide = (radius * (2 * np.abs(center) + radius)).mean(-1, keepdims=True) * _UP
    low = square - wide - error * square
    low = np.where(low > 0, low, np.nan)  # not known to be positive: no bound
    least, root = 1 / np.sqrt(low), 1 / np.sqrt(square)
    off = (least - 1 / np.sqrt(square + wide + error * square)) * _UP + 8 * UNIT * least
    scaled = Around(
        center * root,
        (radius * least * _UP + np.abs(center) * off + 4 * UNIT * np.abs(center) * root) * _UP,
    )
    gain, bias = model.arrays.get(f"{name}.gain", 1.0), model.arrays.get(f"{name}.bias", 0.0)
    out = scaled.center * gain + bias
    error = 4 * UNIT
    radius = scaled.radius * np.abs(gain) + error * (scaled.largest * np.abs(gain) + np.abs(bias))
    return Around(out, radius * _UP)


def _activated(x: Around, step: Step) -> Around:
    """x g(x) with a gate g in [0, 1] whose slope is bounded; relu only shrinks distances."""
    center = activated(x.center, step)
    if step["activation"] == "relu":
        return Around(center, x.radius)
    largest = x.largest
    slope: Any = {"gelu": 0.4, "silu": 0.25}.get(step["activation"])
    if slope is None:  # σ' <= 1/4 times the slope of 2 sqrt(2/π) (x + 0.044715 x³)
        slope = 0.25 * math.sqrt(8 / math.pi) * (1 + 0.13415 * largest * largest)
        rounding = 64 * UNIT * (1 + largest * largest) * (1 + largest)
    else:
        rounding = 64 * UNIT * (1 + largest)
    return Around(center, (x.radius * (1 + slope * largest) + rounding * largest) * _UP + _LEAST)


def _attended(model: Transformer, y: Around, step: Step, name: str) -> Around:
    a, heads, n = model.arrays, step["heads"], y.center.shape[1]

    def split(letter: str) -> Around:
        z = _affine(y, a, f"{name}.W_{letter}", f"{name}.b_{letter}")
        shape = (*z.center.shape[:2], heads, -1)
        return Around(*(part.reshape(shape).transpose(0, 2, 1, 3) for part in z))

    q, k, v = map(split, "QKV")
    scale, error = math.sqrt(Fraction(step["scale_squared"])), gamma(q.center.shape[-1])
    turned = np.swapaxes(np.abs(k.center), -1, -2)
    products = q.radius @ turned + q.largest @ np.swapaxes(k.radius + error * k.largest, -1, -2)
    scores = scale * (q.center @ np.swapaxes(k.center, -1, -2))
    wide = scale * products * _UP + 8 * UNIT * np.abs(scores) + _LEAST
    if model.mask == "causal":
        seen = np.tri(n, dtype=bool)
        scores, wide = np.where(seen, scores, -np.inf), np.where(seen, wide, 0.0)
    top = scores.max(-1, keepdims=True)
    powers = np.exp(scores - top)
    shares = powers / powers.sum(-1, keepdims=True)
    # scores that are off by δ change every share by a factor of at most exp(2 δ)
    reach = np.where(np.isfinite(scores), np.abs(scores - top), 0.0).max(-1, keepdims=True)
    delta = wide.max(-1, keepdims=True) + 4 * UNIT * (np.abs(top) + reach)
    factor = np.expm1(2 * delta) * _UP + 64 * UNIT + 2 * gamma(n)
    mixed = shares @ v.center
    radius = (shares * (1 + factor)) @ v.radius + (shares * (factor + gamma(n))) @ v.largest
    radius = radius * _UP + n * _LEAST * v.largest.max(-2, keepdims=True) + _LEAST

    def joined(part: Floats) -> Floats:
        return part.transpose(0, 2, 1, 3).reshape(*part.shape[0:1], n, -1)

    return _affine(Around(joined(mixed), joined(radius)), a, f"{name}.W_O", f"{name}.b_O")
