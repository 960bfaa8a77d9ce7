"""A transformer as a list of steps on the residual stream, with the weights it was trained to."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lemmax.theory.errors import LemmaxError

Floats = NDArray[np.float64]
Step = dict[str, Any]


@dataclass(frozen=True)
class Transformer:
    r"""x = W_E[t] + W_pos; then the steps; the logits are x W_U + b_U at the last position.

    A step is ``{"type": "attention", "heads": …, "scale_squared": …}``,
    ``{"type": "mlp", "activation": …}`` or ``{"type": "norm"}``, each with ``"norm"`` (none,
    layer, rms) and ``"eps"``; its arrays are ``steps.I.W_Q`` and so on. Attention and MLPs are
    added to the stream, a norm replaces it. These are the model and the arrays of a
    ``transformer-memorization`` certificate; ``assumed`` is what no array and nobody said of it.

    >>> arrays = {"W_E": np.eye(2), "W_U": np.array([[0.0, 1.0], [1.0, 0.0]])}
    >>> model = Transformer(arrays, ())
    >>> model.float_logits([[0], [1, 0]]).tolist()
    [[0.0, 1.0], [0.0, 1.0]]
    """

    arrays: Mapping[str, Floats] = field(repr=False)
    steps: tuple[Step, ...] = field(repr=False)
    mask: str = "causal"
    tied: bool = False
    ignored: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """How many tokens there are."""
        return len(self.arrays["W_E"])

    @property
    def places(self) -> int | None:
        """How long a prompt may be; None: as long as one likes."""
        return len(self.arrays["W_pos"]) if "W_pos" in self.arrays else None

    @property
    def parameters(self) -> int:
        """How many weights there are."""
        return sum(array.size for array in self.arrays.values())

    def summary(self) -> str:
        """What the model is taken to be, in one line per step."""
        W_E = self.arrays["W_E"]
        positions = f", {self.places} learned positions" if self.places else ""
        lines = [f"{W_E.shape[0]} tokens, width {W_E.shape[1]}{positions}, mask {self.mask}"]
        for i, step in enumerate(self.steps):
            norm = "" if step["norm"] == "none" else f"{step['norm']} norm, eps {step['eps']}"
            if step["type"] == "norm":
                lines.append(norm or "nothing")
                continue
            if step["type"] == "attention":
                width = self.arrays[f"steps.{i}.W_Q"].shape[1] // step["heads"]
                what = f"attention, {step['heads']} heads of width {width}, scale {_root(step)}"
            else:
                width = self.arrays[f"steps.{i}.W_in"].shape[1]
                what = f"MLP of width {width}, {step['activation']}"
            lines.append(f"{norm}; {what}" if norm else what)
        lines.append("tied unembedding" if self.tied else "unembedding")
        if self.assumed:
            lines.append(f"assumed: {', '.join(self.assumed)}")
        return "\n".join(lines)

    def checked_fields(self) -> dict[str, Any]:
        """The field ``model`` of a certificate."""
        return {
            "mask": self.mask,
            "positions": "none" if self.places is None else "learned",
            "unembedding": "tied" if self.tied else "own",
            "steps": [dict(step) for step in self.steps],
        }

    def safetensors(self) -> bytes:
        """The arrays in the safetensors format, each in the shortest type that holds it exactly."""
        header: dict[str, Any] = {}
        parts: list[bytes] = []
        end = 0
        for name, array in self.arrays.items():
            kind, data = shortest(array)
            header[name] = {
                "dtype": kind,
                "shape": list(array.shape),
                "data_offsets": [end, end + len(data)],
            }
            end += len(data)
            parts.append(data)
        text = json.dumps(header, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        return len(text).to_bytes(8, "little") + text + b"".join(parts)

    def float_logits(self, prompts: Sequence[Sequence[int]]) -> Floats:
        """The logits after prompts, in float64: a guess, which decides nothing.

        Cost: one pass per length of a prompt.
        """
        logits = np.empty((len(prompts), self.size))
        for length in sorted({len(prompt) for prompt in prompts}):
            rows = [i for i, prompt in enumerate(prompts) if len(prompt) == length]
            logits[rows] = self._pass(np.array([prompts[i] for i in rows]))
        return logits

    def _pass(self, tokens: NDArray[Any]) -> Floats:
        a = self.arrays
        x: Floats = a["W_E"][tokens]
        if "W_pos" in a:
            x = x + a["W_pos"][: tokens.shape[1]]
        for i, step in enumerate(self.steps):
            name = f"steps.{i}"
            y = self._normed(x, step, name)
            if step["type"] == "norm":
                x = y
            elif step["type"] == "mlp":
                hidden = activated(y @ a[f"{name}.W_in"] + a.get(f"{name}.b_in", 0.0), step)
                x = x + hidden @ a[f"{name}.W_out"] + a.get(f"{name}.b_out", 0.0)
            else:
                x = x + self._attended(y, step, name)
        W_U = a["W_E"].T if self.tied else a["W_U"]
        last: Floats = x[:, -1] @ W_U + a.get("b_U", 0.0)
        return last

    def _normed(self, x: Floats, step: Step, name: str) -> Floats:
        if step["norm"] == "none":
            return x
        if step["norm"] == "layer":
            x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + float(Fraction(step["eps"])))
        gained: Floats = x * self.arrays.get(f"{name}.gain", 1.0)
        return gained + self.arrays.get(f"{name}.bias", 0.0)

    def _attended(self, y: Floats, step: Step, name: str) -> Floats:
        a, heads, n = self.arrays, step["heads"], y.shape[1]

        def split(letter: str) -> Floats:
            z = y @ a[f"{name}.W_{letter}"] + a.get(f"{name}.b_{letter}", 0.0)
            parted: Floats = z.reshape(*z.shape[:2], heads, -1).transpose(0, 2, 1, 3)
            return parted

        q, k, v = map(split, "QKV")
        scores = math.sqrt(Fraction(step["scale_squared"])) * (q @ k.transpose(0, 1, 3, 2))
        if self.mask == "causal":
            scores = np.where(np.tri(n, dtype=bool), scores, -np.inf)
        powers = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = (powers / powers.sum(-1, keepdims=True)) @ v
        mixed = mixed.transpose(0, 2, 1, 3).reshape(*y.shape[:2], -1)
        out: Floats = mixed @ a[f"{name}.W_O"] + a.get(f"{name}.b_O", 0.0)
        return out


def activated(x: Floats, step: Step) -> Floats:
    """The activation of a step, in floats."""
    from scipy.special import erf, expit

    gates: dict[str, Any] = {
        "relu": lambda: x > 0,
        "gelu": lambda: (1 + erf(x / math.sqrt(2))) / 2,
        "gelu-tanh": lambda: expit(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)),
        "silu": lambda: expit(x),
    }
    gate: Floats = x * gates[step["activation"]]()
    return gate


def shortest(array: Floats) -> tuple[str, bytes]:
    """The entries in the shortest of BF16, F16, F32 and F64 that holds them all, and its name.

    >>> shortest(np.array([1.0, 3.0])), shortest(np.array([0.1]))[0]
    (('BF16', b'\\x80?@@'), 'F64')
    """
    flat = np.ascontiguousarray(array, dtype="<f8").ravel() + 0.0  # no -0
    with np.errstate(over="ignore"):
        single, half = flat.astype("<f4"), flat.astype("<f2")
    if not np.array_equal(single, flat):
        return "F64", flat.tobytes()
    words = single.view("<u4")
    if not (words & 0xFFFF).any():
        return "BF16", (words >> 16).astype("<u2").tobytes()
    return ("F16", half.tobytes()) if np.array_equal(half, flat) else ("F32", single.tobytes())


def sinusoidal(places: int, d: int) -> Floats:
    """The table of sines and cosines of Vaswani et al. (2017), as float32 modules hold it.

    sin(p / 10000^(2i/d)) stands in column 2i of row p, the cosine in column 2i + 1.

    >>> sinusoidal(2, 2).round(3).tolist()
    [[0.0, 1.0], [0.841, 0.54]]
    """
    if places < 1 or d < 1:
        raise LemmaxError(f"A table of positions has rows and columns, not {places} x {d}.")
    angles = np.arange(places)[:, None] * np.exp(-math.log(10_000) * np.arange(0, d, 2) / d)
    table = np.empty((places, d))
    table[:, 0::2], table[:, 1::2] = np.sin(angles), np.cos(angles)[:, : d // 2]
    return table.astype(np.float32).astype(np.float64)


def _root(step: Step) -> str:
    square = Fraction(step["scale_squared"])
    a, b = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if a * a == square.numerator and b * b == square.denominator:
        return str(Fraction(a, b))
    return f"1/√{square.denominator}" if square.numerator == 1 else f"√({square})"
