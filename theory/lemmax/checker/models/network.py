"""A transformer as a list of steps on the residual stream, and its logits after a prompt.

x_p = W_E[t_p] + W_pos[p]; a step adds attention or an MLP of the stream, normalised or not, or it
normalises the stream itself; the logits are x W_U + b_U at the last position. With a causal mask
what a position holds depends on the tokens up to it alone, so prompts share their beginnings.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any

from ..arithmetic import dot
from ..coded.arrays import Table
from ..limits import LIMITS, Undecided, keep, refuse, spend
from ..reading import choice, fields, integer, items, number, variant
from .functions import ACTIVATIONS, Functions
from .vectors import Affine, Ball, added, fixed, inner, times, upward

NORMS = ("none", "layer", "rms")
STEPS = {
    "attention": "heads scale_squared norm eps",
    "mlp": "activation norm eps",
    "norm": "norm eps",
}


class Arrays:
    """The arrays of a certificate, each to be asked for once, by name and shape."""

    def __init__(self, tables: Mapping[str, Table]) -> None:
        self.left = dict(tables)

    def __call__(self, name: str, *shape: int | None) -> Table:
        table = self.optional(name, *shape)
        if table is None:
            refuse("The arrays", f"lack {name}")
        return table

    def optional(self, name: str, *shape: int | None) -> Table | None:
        table = self.left.pop(name, None)
        if table is None:
            return None
        fits = len(table.shape) == len(shape) and all(
            n > 0 and m in (None, n) for n, m in zip(table.shape, shape, strict=True)
        )
        if not fits:
            wanted = " x ".join("any" if n is None else str(n) for n in shape)
            refuse(name, f"must have the shape {wanted}")
        return table


@dataclass(frozen=True)
class Norm:
    """A norm with its gain and its bias; the kind ``none`` leaves a vector as it is."""

    kind: str
    eps: Fraction
    functions: Functions
    gain: Ball | None
    bias: Ball | None

    def __call__(self, x: Ball) -> Ball:
        if self.kind == "none":
            return x
        x = self.functions.normalised(x, self.kind, self.eps)
        x = times(x, self.gain, self.functions.bits) if self.gain else x
        return added(x, self.bias) if self.bias else x


def _norm(data: Mapping[str, Any], arrays: Arrays, name: str, d: int, functions: Functions) -> Norm:
    kind = choice(data["norm"], f"{name}.norm", NORMS)
    eps = number(data["eps"], f"{name}.eps")
    if not 0 <= eps <= 1:
        refuse(f"{name}.eps", "must lie between 0 and 1")

    def vector(last: str) -> Ball | None:
        table = arrays.optional(f"{name}.{last}", d) if kind != "none" else None
        return Ball(*fixed(table, 0, d, functions.bits, f"{name}.{last}")) if table else None

    return Norm(kind, eps, functions, vector("gain"), vector("bias"))


class Attention:
    """Heads side by side: W_Q, W_K, W_V are d × (heads · width), W_O is (heads · width) × d."""

    def __init__(self, data: Mapping[str, Any], arrays: Arrays, name: str, d: int, f: Functions):
        self.norm, self.functions, bits = _norm(data, arrays, name, d, f), f, f.bits
        self.heads = integer(data["heads"], f"{name}.heads", 2**16)
        square = number(data["scale_squared"], f"{name}.scale_squared")
        if not 0 < square <= 2**40:
            refuse(f"{name}.scale_squared", "must be positive and at most 2^40")
        spend(name, 4, 2 * bits, 2 * bits)
        root = isqrt((square.numerator << 2 * bits) // square.denominator)
        exact = Fraction(root, 1 << bits) ** 2 == square
        self.scale = root, 0 if exact else 1

        def affine(letter: str, m: int | None, n: int | None) -> Affine:
            W = arrays(f"{name}.W_{letter}", m, n)
            b = arrays.optional(f"{name}.b_{letter}", W.shape[1])
            return Affine(W, b, bits, f"{name}.W_{letter}")

        self.W_Q = affine("Q", d, None)
        self.W_K = affine("K", d, self.W_Q.outputs)
        self.W_V = affine("V", d, None)
        self.W_O = affine("O", self.W_V.outputs, d)
        if not self.heads or self.W_Q.outputs % self.heads or self.W_V.outputs % self.heads:
            refuse(f"{name}.heads", "must divide the columns of W_Q and of W_V")
        self.numbers = self.W_K.outputs + self.W_V.outputs + d

    def kept(self, x: Ball) -> tuple[Ball, Ball]:
        """What others read of a position: keys and values."""
        y = self.norm(x)
        return self.W_K(y), self.W_V(y)

    def __call__(self, x: Ball, read: Sequence[tuple[Ball, Ball]]) -> Ball:
        """What is added to the stream x, given keys and values of the positions that it reads."""
        bits, (root, off) = self.functions.bits, self.scale
        query = self.W_Q(self.norm(x))
        spend("The scores", 2 * len(query.center), 2 * bits, bits)
        error = upward(query.radius * (root + off) + off * query.largest, bits) + 1
        query = Ball([c * root >> bits for c in query.center], error)
        n, m = self.W_Q.outputs // self.heads, self.W_V.outputs // self.heads
        mixed, radius = list[int](), 0
        for h in range(self.heads):
            own = query.part(h * n, n)
            scores = [inner(own, k.part(h * n, n), bits) for k, _ in read]
            shares = self.functions.softmax(scores)
            values = [v.part(h * m, m) for _, v in read]
            spend("The values", (2 * m + 10) * len(values) + 40, 2 * bits, bits)
            weights = [c for c, _ in shares]
            columns = zip(*(v.center for v in values), strict=True)
            mixed += [dot(weights, column) >> bits for column in columns]
            error = sum(
                (c + r) * v.radius + r * max(map(abs, v.center))
                for (c, r), v in zip(shares, values, strict=True)
            )
            radius = max(radius, upward(error, bits) + 1)
        return self.W_O(Ball(mixed, radius))


class MLP:
    """W_in, an activation, W_out."""

    def __init__(self, data: Mapping[str, Any], arrays: Arrays, name: str, d: int, f: Functions):
        self.norm, self.functions, bits = _norm(data, arrays, name, d, f), f, f.bits
        self.activation = ACTIVATIONS[
            choice(data["activation"], f"{name}.activation", tuple(ACTIVATIONS))
        ]
        W_in = arrays(f"{name}.W_in", d, None)
        m = W_in.shape[1]
        b_in, W_out = arrays.optional(f"{name}.b_in", m), arrays(f"{name}.W_out", m, d)
        self.W_in = Affine(W_in, b_in, bits, f"{name}.W_in")
        self.W_out = Affine(W_out, arrays.optional(f"{name}.b_out", d), bits, f"{name}.W_out")
        self.numbers = d

    def __call__(self, x: Ball) -> Ball:
        return self.W_out(self.activation(self.functions, self.W_in(self.norm(x))))


class Position:
    """A token at its place: the stream after each step, and what others read, made when asked."""

    def __init__(self, net: "Network", token: int, path: "list[Position]") -> None:
        self.net, self.token, self.path, self.place = net, token, path, len(path)
        self.streams = {0: net.embedded(token, self.place)}
        self.read = dict[int, tuple[Ball, Ball]]()

    def stream(self, step: int) -> Ball:
        if step not in self.streams:
            x, work = self.stream(step - 1), self.net.steps[step - 1]
            spend("The stream", 4 * len(x.center) + 30)
            if isinstance(work, Attention):
                seen = self.path[: self.place + 1] if self.net.causal else self.path
                x = added(x, work(x, [other.kept(step - 1) for other in seen]))
            elif isinstance(work, MLP):
                x = added(x, work(x))
            else:
                x = work(x)
            self.streams[step] = x
        return self.streams[step]

    def kept(self, step: int) -> tuple[Ball, Ball]:
        if step not in self.read:
            work = self.net.steps[step]
            assert isinstance(work, Attention)
            self.read[step] = work.kept(self.stream(step))
        return self.read[step]


class Network:
    """The model of a certificate, at so many bits after the point."""

    def __init__(self, data: object, arrays: Arrays, bits: int) -> None:
        model = fields(data, "model", "mask positions unembedding steps")
        self.bits, functions = bits, Functions(bits)
        self.causal = choice(model["mask"], "model.mask", ("causal", "none")) == "causal"
        self.W_E = arrays("W_E", None, None)
        self.size, self.d = self.W_E.shape
        learned = choice(model["positions"], "model.positions", ("none", "learned")) == "learned"
        self.W_pos = arrays("W_pos", None, self.d) if learned else None
        tied = choice(model["unembedding"], "model.unembedding", ("own", "tied")) == "tied"
        W_U = self.W_E if tied else arrays("W_U", self.d, self.size)
        self.W_U = Affine(W_U, arrays.optional("b_U", self.size), bits, "W_U", turned=tied)
        self.steps: list[Attention | MLP | Norm] = []
        for i, step in enumerate(items(model["steps"], "model.steps", 0)):
            name = f"steps.{i}"
            kind = variant(step, name, "type", STEPS)
            if kind == "norm":
                self.steps.append(_norm(step, arrays, name, self.d, functions))
            else:
                made = Attention if kind == "attention" else MLP
                self.steps.append(made(step, arrays, name, self.d, functions))
        if len(self.steps) > 100:
            refuse("model.steps", "are more than 100")
        for name in arrays.left:
            refuse("The arrays", f"have {name!a}, which the model has no place for")

    def embedded(self, token: int, place: int) -> Ball:
        x = Ball(*fixed(self.W_E, token * self.d, self.d, self.bits, "W_E"))
        if self.W_pos is None:
            return x
        return added(x, Ball(*fixed(self.W_pos, place * self.d, self.d, self.bits, "W_pos")))

    def prompts(self, value: Sequence[Any], where: str) -> list[list[int]]:
        """Nonempty distinct lists of tokens, none longer than there are positions."""
        longest = len(self.W_pos.entries) // self.d if self.W_pos else LIMITS["positions"]
        found = []
        for prompt in value:
            tokens = [integer(t, f"A token of {where}", self.size) for t in items(prompt, where)]
            if len(tokens) > longest:
                refuse(where, f"have a prompt of {len(tokens)} tokens, more than {longest} places")
            found.append(tokens)
        if len(set(map(str, found))) != len(found):
            refuse(where, "repeat a prompt")
        widths = sum(s.numbers if not isinstance(s, Norm) else self.d for s in self.steps) + self.d
        count = max(map(len, found), default=0)
        keep("The positions", count * widths, self.bits)
        keep("The positions", 20 * count)  # each of them holds other things than numbers
        return found

    def logits(self, prompts: Sequence[list[int]]) -> Iterator[tuple[int, Ball | Undecided]]:
        """The number of each prompt with the logits after it; common beginnings are shared.

        Where the precision does not suffice the reason stands in place of the logits.
        """
        path: list[Position] = []
        for i in sorted(range(len(prompts)), key=lambda i: prompts[i]):
            prompt, same = prompts[i], 0
            while self.causal and same < min(len(path), len(prompt)):
                if path[same].token != prompt[same]:
                    break
                same += 1
            del path[same:]
            for token in prompt[same:]:
                path.append(Position(self, token, path))
            spend("The logits", 8 * self.size + 100)
            try:
                logits: Ball | Undecided = self.W_U(path[-1].stream(len(self.steps)))
            except Undecided as reason:
                logits = reason
            yield i, logits
            if not self.causal:
                path = []
