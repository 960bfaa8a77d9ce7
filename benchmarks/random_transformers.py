"""Random small transformers as certificates, and a second opinion on their logits in flint's balls.

Nothing here comes from the checker: the model is written as the papers write it, position by
position, every product in balls of 400 bits.
"""

from __future__ import annotations

import base64
import json
import random
import struct
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from benchmarks.attacks.more_words import number
from flint import arb, ctx, fmpq

Certificate = dict[str, Any]
_CODES = {"F32": ("f", 4), "F64": ("d", 8), "F16": ("e", 2)}


def packed(arrays: dict[str, tuple[list[int], list[float]]], kind: str = "F32") -> dict[str, str]:
    """Arrays in the safetensors format; BF16 keeps the upper half of a float32."""
    header: dict[str, Any] = {}
    body = b""
    for name, (shape, values) in arrays.items():
        code, _ = _CODES.get(kind, ("f", 4))
        data = struct.pack(f"<{len(values)}{code}", *values)
        if kind == "BF16":
            data = b"".join(data[i + 2 : i + 4] for i in range(0, len(data), 4))
        ends = [len(body), len(body) + len(data)]
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": ends}
        body += data
    text = json.dumps(header).encode()
    return {"base64": base64.b64encode(len(text).to_bytes(8, "little") + text + body).decode()}


def unpacked(certificate: Certificate) -> dict[str, tuple[list[int], list[Fraction]]]:
    """The arrays of a certificate, exactly."""
    data = base64.b64decode(certificate["arrays"]["base64"])
    size = int.from_bytes(data[:8], "little")
    found = {}
    for name, entry in json.loads(data[8 : 8 + size]).items():
        low, high = (8 + size + n for n in entry["data_offsets"])
        raw, kind = data[low:high], entry["dtype"]
        if kind == "BF16":
            raw = b"".join(b"\0\0" + raw[i : i + 2] for i in range(0, len(raw), 2))
        code, width = _CODES.get(kind, ("f", 4))
        values = struct.unpack(f"<{len(raw) // width}{code}", raw)
        found[name] = entry["shape"], [Fraction(x) for x in values]
    return found


def random_certificate(seed: int, kind: str = "F32", facts: int = 3) -> Certificate:
    """A model with one to three random steps; the answers are what the judge says, so it holds."""
    rng = random.Random(seed)
    d, tokens, places = rng.randint(1, 4), rng.randint(2, 6), rng.randint(1, 4)
    arrays: dict[str, tuple[list[int], list[float]]] = {}

    def array(name: str, *shape: int) -> None:
        size = 1
        for n in shape:
            size *= n
        arrays[name] = list(shape), [rng.gauss(0, 1) for _ in range(size)]

    array("W_E", tokens, d)
    learned, tied = rng.random() < 0.5, rng.random() < 0.3
    if learned:
        array("W_pos", places, d)
    if not tied:
        array("W_U", d, tokens)
    if rng.random() < 0.5:
        array("b_U", tokens)
    steps: list[dict[str, Any]] = []
    for i in range(rng.randint(1, 3)):
        step: dict[str, Any] = {"type": rng.choice(["attention", "mlp", "norm"])}
        step["norm"] = rng.choice(["none", "layer", "rms"])
        step["eps"] = rng.choice(["1/100000", "1/8"])
        if step["norm"] != "none":
            for name in ("gain", "bias"):
                if rng.random() < 0.6:
                    array(f"steps.{i}.{name}", d)
        if step["type"] == "attention":
            heads, k, v = rng.randint(1, 2), rng.randint(1, 3), rng.randint(1, 3)
            step |= {"heads": heads, "scale_squared": rng.choice(["1", "1/2", f"1/{k + 1}", "4"])}
            shapes = {"Q": (d, heads * k), "K": (d, heads * k), "V": (d, heads * v)}
            for letter, (m, n) in (shapes | {"O": (heads * v, d)}).items():
                array(f"steps.{i}.W_{letter}", m, n)
                if rng.random() < 0.5:
                    array(f"steps.{i}.b_{letter}", n)
        elif step["type"] == "mlp":
            m = rng.randint(1, 4)
            step["activation"] = rng.choice(["relu", "gelu", "gelu-tanh", "silu"])
            array(f"steps.{i}.W_in", d, m)
            array(f"steps.{i}.W_out", m, d)
            for name, n in (("b_in", m), ("b_out", d)):
                if rng.random() < 0.5:
                    array(f"steps.{i}.{name}", n)
        steps.append(step)
    model = {
        "mask": rng.choice(["causal", "none"]),
        "positions": "learned" if learned else "none",
        "unembedding": "tied" if tied else "own",
        "steps": steps,
    }
    certificate: Certificate = {
        "format": "lemmax-certificate",
        "version": 1,
        "kind": "transformer-memorization",
        "model": model,
        "arrays": packed(arrays, kind),
        "bits": 128,
        "margin": "0",
        "facts": [],
    }
    prompts = {
        tuple(rng.randrange(tokens) for _ in range(rng.randint(1, places))) for _ in range(facts)
    }
    for prompt in sorted(prompts):
        z = logits(certificate, prompt)
        certificate["facts"].append([list(prompt), max(range(tokens), key=lambda j: z[j].mid())])
    return certificate


@ctx.workprec(400)
def logits(certificate: Certificate, prompt: Sequence[int]) -> list[arb]:
    """The logits at the last position, by the definition."""
    model = certificate["model"]
    held = {
        name: (shape, [arb(fmpq(x.numerator, x.denominator)) for x in values])
        for name, (shape, values) in unpacked(certificate).items()
    }
    size, d = held["W_E"][0]

    def vector(name: str, n: int) -> list[arb]:
        return held[name][1] if name in held else [arb(0)] * n

    def times(x: list[arb], name: str, bias: str) -> list[arb]:
        (m, n), W = held[name]
        b = vector(bias, n)
        return [sum((x[i] * W[i * n + j] for i in range(m)), b[j]) for j in range(n)]

    def norm(x: list[arb], step: dict[str, Any], name: str) -> list[arb]:
        if step["norm"] == "none":
            return x
        eps, mean = number(step["eps"]), arb(0)
        if step["norm"] == "layer":
            mean = sum(x, arb(0)) / d
        centred = [a - mean for a in x]
        spread = sum((a * a for a in centred), arb(0)) / d + arb(fmpq(*eps.as_integer_ratio()))
        gain = held[f"{name}.gain"][1] if f"{name}.gain" in held else [arb(1)] * d
        bias = vector(f"{name}.bias", d)
        return [a / spread.sqrt() * g + b for a, g, b in zip(centred, gain, bias, strict=True)]

    def activation(x: arb, kind: str) -> arb:
        if kind == "relu":
            return x if x > 0 else arb(0)
        if kind == "gelu":
            return x * (1 + (x / arb(2).sqrt()).erf()) / 2
        if kind == "silu":
            return x / (1 + (-x).exp())
        bent = (2 / arb.pi()).sqrt() * (x + arb(fmpq(44715, 1000000)) * x * x * x)
        return x * (1 + bent.tanh()) / 2

    stream = [held["W_E"][1][t * d : t * d + d] for t in prompt]
    if model["positions"] == "learned":
        W_pos = held["W_pos"][1]
        stream = [
            [a + b for a, b in zip(x, W_pos[p * d : p * d + d], strict=True)]
            for p, x in enumerate(stream)
        ]
    for i, step in enumerate(model["steps"]):
        name = f"steps.{i}"
        seen = [norm(x, step, name) for x in stream]
        if step["type"] == "norm":
            stream = seen
            continue
        if step["type"] == "mlp":
            hidden = [times(x, f"{name}.W_in", f"{name}.b_in") for x in seen]
            hidden = [[activation(a, step["activation"]) for a in x] for x in hidden]
            out = [times(x, f"{name}.W_out", f"{name}.b_out") for x in hidden]
        else:
            q, k, v = (
                [times(x, f"{name}.W_{letter}", f"{name}.b_{letter}") for x in seen]
                for letter in "QKV"
            )
            square, heads = number(step["scale_squared"]), step["heads"]
            scale = arb(fmpq(square.numerator, square.denominator)).sqrt()
            a, b = len(k[0]) // heads, len(v[0]) // heads
            mixed = []
            for p in range(len(prompt)):
                last = p + 1 if model["mask"] == "causal" else len(prompt)
                row: list[arb] = []
                for h in range(heads):
                    scores = [
                        scale * sum((q[p][h * a + j] * k[s][h * a + j] for j in range(a)), arb(0))
                        for s in range(last)
                    ]
                    powers = [(s - scores[0]).exp() for s in scores]
                    total = sum(powers, arb(0))
                    row += [
                        sum((w * v[s][h * b + j] for s, w in enumerate(powers)), arb(0)) / total
                        for j in range(b)
                    ]
                mixed.append(row)
            out = [times(x, f"{name}.W_O", f"{name}.b_O") for x in mixed]
        stream = [
            [a + b for a, b in zip(x, y, strict=True)] for x, y in zip(stream, out, strict=True)
        ]
    if model["unembedding"] == "own":
        return times(stream[-1], "W_U", "b_U")
    W_E, b_U = held["W_E"][1], vector("b_U", size)
    return [sum((stream[-1][i] * W_E[j * d + i] for i in range(d)), b_U[j]) for j in range(size)]


def judged(certificate: Certificate) -> bool | None:
    """Whether every answer leads by more than the margin; None where balls overlap."""
    least = number(certificate["margin"])
    bound = arb(fmpq(least.numerator, least.denominator))
    sure = True
    for prompt, answer in certificate["facts"]:
        z = logits(certificate, prompt)
        leads = [z[answer] - x for j, x in enumerate(z) if j != answer]
        if any(lead <= bound for lead in leads):
            return False
        sure = sure and all(lead > bound for lead in leads)
    return True if sure else None
