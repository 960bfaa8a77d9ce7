"""The papers' models as torch modules, each with an exact twin.

Every module holds the parameters that ``config.shapes()`` names, heads stacked in front, so that
weights move freely between modules, engines and files. ``to_exact`` reads the floats as the dyadic
rationals they are, or rounds them to a common denominator first; ``from_exact`` loads a
construction, ready to be fine-tuned. Heads of unequal sizes are padded with zeros, which Adam
never moves: both factors of the padding have gradient zero.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from lemmax.numerics.training.configurations import Arrays, Config, Dana, Mahdavi, Wong, sinusoids
from lemmax.numerics.twins.exact_layers import exact_layer
from lemmax.theory.errors import LemmaxError, ShapeError
from lemmax.theory.numbers.matrices import Matrix
from lemmax.theory.wong.layer import AttentionLayer

if TYPE_CHECKING:
    from lemmax.theory.dana.transformer import AoT
    from lemmax.theory.mahdavi.layer import MultiHead

_HEAD = ("W_Q", "W_K", "W_V", "W_O")


class Model(nn.Module):
    """A module whose parameters are those of a configuration."""

    def __init__(self, config: Config, weights: Mapping[str, Any]) -> None:
        super().__init__()
        self.config = config
        for name, shape in config.shapes().items():
            value = torch.as_tensor(weights[name])
            if tuple(value.shape) != shape:
                raise ShapeError(f"{name} has shape {tuple(value.shape)}, but must be {shape}.")
            self.register_parameter(name, nn.Parameter(value.clone()))

    def arrays(self) -> Arrays:
        """The weights as numpy arrays."""
        return {
            name: getattr(self, name).detach().cpu().numpy().copy() for name in self.config.shapes()
        }


def _matrices(weights: Mapping[str, NDArray[Any]], denominator: int | None) -> Any:
    """A function that turns a two-dimensional array into an exact matrix."""
    from fractions import Fraction

    def exact(array: NDArray[Any]) -> Matrix:
        if denominator is None:
            return Matrix(array, floats=True)
        rows = [
            [Fraction(round(float(x) * denominator), denominator) for x in row] for row in array
        ]
        return Matrix(rows)

    return exact


class WongLayer(Model):
    """Wong's layer with equal heads; ``forward`` gives the logits of every position."""

    config: Wong
    W_E: Tensor
    W_U: Tensor
    W_Q: Tensor
    W_K: Tensor
    W_V: Tensor
    W_O: Tensor

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits (…, n, |T|) for token numbers (…, n)."""
        x = self.W_E[tokens]
        n = tokens.shape[-1]
        masked = torch.ones(n, n, dtype=torch.bool, device=x.device).triu(1)
        y = x.unsqueeze(-3)  # heads in front of positions
        scores = (y @ self.W_Q) @ (self.W_K @ y.transpose(-1, -2))
        attention = scores.masked_fill(masked, float("-inf")).softmax(-1)
        hidden = x + ((attention @ (y @ self.W_V)) @ self.W_O).sum(-3)
        return hidden @ self.W_U

    def to_exact(
        self, tokens: Sequence[Hashable] | None = None, denominator: int | None = None
    ) -> AttentionLayer:
        """The exact twin; without names the tokens are their numbers."""
        return exact_layer(self.arrays(), tokens, denominator, layout="wong")

    @classmethod
    def from_exact(
        cls,
        layer: AttentionLayer,
        facts: Iterable[tuple[Hashable, Hashable, Hashable]],
        dtype: torch.dtype = torch.float64,
    ) -> WongLayer:
        """The nearest module to an exact layer, on facts over its tokens."""
        index = layer.index
        triples = tuple((index[k], index[q], index[v]) for k, q, v in facts)
        arrays = layer.to_numpy()
        h, d = len(layer.heads), layer.d_model
        d_qk, d_vo = max(1, layer.d_qk), max(1, layer.d_vo)
        weights = {
            "W_E": arrays["W_E"],
            "W_U": arrays["W_U"],
            "W_Q": np.zeros((h, d, d_qk)),
            "W_K": np.zeros((h, d_qk, d)),
            "W_V": np.zeros((h, d, d_vo)),
            "W_O": np.zeros((h, d_vo, d)),
        }
        for number in range(h):
            for name in _HEAD:
                block = arrays[f"heads.{number}.{name}"]
                weights[name][number, : block.shape[0], : block.shape[1]] = block
        config = Wong(d, d_vo, d_qk, h, triples)
        if config.tokens != len(layer.tokens):
            # tokens after the last one in use still count in the softmax
            raise LemmaxError("The last token of the layer occurs in no fact; reorder the tokens.")
        return cls(config, {n: torch.from_numpy(w).to(dtype) for n, w in weights.items()})


class AoTModel(Model):
    """Dana's transformer in both variants, with or without an MLP."""

    config: Dana
    e: Tensor
    pos: Tensor
    W_Q: Tensor
    W_K: Tensor
    W_V: Tensor
    W_O: Tensor
    W_U: Tensor
    W_in: Tensor
    W_out: Tensor
    W_1: Tensor
    b_1: Tensor
    W_2: Tensor

    def forward(self, sequences: Tensor) -> Tensor:
        """Logits (B, N) at the last position of sequences (B, S)."""
        shared, scaled = self.config.maps == "shared", self.config.scaled
        e = self.e[sequences]
        x = e @ self.W_in.T + self.pos if shared else e + self.pos  # B × S × p
        queries = torch.einsum("hap,bp->bha", self.W_Q, x[:, -1])
        keys = torch.einsum("hap,bsp->bhsa", self.W_K, x)
        values = torch.einsum("hap,bsp->bhsa", self.W_V, x)
        scores = torch.einsum("bha,bhsa->bhs", queries, keys)
        if scaled:
            scores = scores / self.config.d_h**0.5
        mixed = torch.einsum("bhs,bhsa->bha", scores.softmax(-1), values)
        output = torch.einsum("hpa,bha->bp", self.W_O, mixed)
        if shared:
            output = output @ self.W_out.T
        residual = (e if scaled else x)[:, -1] + output
        if self.config.width:
            inner = nn.functional.gelu(residual @ self.W_1.T + self.b_1)
            residual = residual + inner @ self.W_2.T
        return residual @ self.W_U.T

    def to_exact(
        self, tokens: Sequence[Hashable] | None = None, denominator: int | None = None
    ) -> AoT:
        """The exact twin in the shapes of equation (1).

        The shared maps become part of every head: in dimension d + d_h the vector of a token is
        (e, W_in e), that of a position (0, pos), and heads read the second block and write to the
        first; without maps W_in and W_out are the identity. The factor 1/√d_h goes into W_Q before
        it is read as a rational.
        """
        if self.config.width:
            raise LemmaxError("An MLP with GELU has no exact twin.")
        from lemmax.theory.dana.transformer import AoT, AoTHead

        w = {name: array.astype(np.float64) for name, array in self.arrays().items()}
        e, pos, unembedding = w["e"], w["pos"], w["W_U"]
        W_Q, W_K, W_V, W_O = (w[name] for name in _HEAD)
        if self.config.scaled:
            d, d_h, h = self.config.d, self.config.d_h, self.config.H
            if self.config.maps == "direct":
                w |= {"W_in": np.eye(d), "W_out": np.eye(d)}
            blank = np.zeros((h, d_h, d))
            e = np.concatenate([e, e @ w["W_in"].T], axis=1)
            pos = np.concatenate([np.zeros((len(pos), d)), pos], axis=1)
            unembedding = np.concatenate([unembedding, np.zeros((self.config.N, d_h))], axis=1)
            W_Q = np.concatenate([blank, W_Q / d_h**0.5], axis=2)
            W_K, W_V = (np.concatenate([blank, m], axis=2) for m in (W_K, W_V))
            W_O = np.concatenate([w["W_out"] @ W_O, np.zeros((h, d_h, d_h))], axis=1)
        exact = _matrices(w, denominator)
        heads = tuple(
            AoTHead(exact(W_Q[h]), exact(W_K[h]), exact(W_V[h]), exact(W_O[h]))
            for h in range(self.config.H)
        )
        names = tuple(range(self.config.N)) if tokens is None else tuple(tokens)
        return AoT(names, exact(e), exact(pos), exact(unembedding), heads)

    @classmethod
    def from_exact(
        cls,
        model: AoT,
        pairs: Mapping[tuple[Hashable, ...], Hashable],
        dtype: torch.dtype = torch.float64,
    ) -> AoTModel:
        """The nearest module with per-head maps to an exact transformer, on associations."""
        index = model.index
        numbered = tuple((tuple(index[x] for x in t), index[y]) for t, y in pairs.items())
        arrays, d_h = model.to_numpy(), max(1, model.d_h)
        config = Dana(model.N, model.d, d_h, model.H, "per-head", pairs=numbered)
        weights: Arrays = {name: np.zeros(shape) for name, shape in config.shapes().items()}
        for name in ("e", "pos", "W_U"):
            weights[name] = arrays[name]
        for h in range(model.H):
            for name in _HEAD:
                block = arrays[f"heads.{h}.{name}"]
                weights[name][h, : block.shape[0], : block.shape[1]] = block
        return cls(config, {n: torch.from_numpy(w).to(dtype) for n, w in weights.items()})


class MultiHeadModel(Model):
    """Mahdavi's layer; only the query's row of the attention is ever needed."""

    config: Mahdavi
    W_Q: Tensor
    W_K: Tensor
    W_V: Tensor
    W_O: Tensor
    W_D: Tensor
    W_in: Tensor
    b_in: Tensor
    b_D: Tensor

    def embedded(self, queries: Tensor, contexts: Tensor) -> tuple[Tensor, Tensor]:
        """Queries and contexts as the heads see them."""
        if not self.config.embedding:
            return queries, contexts
        table = torch.from_numpy(sinusoids(self.config.n + 1, self.config.d)).to(queries)
        return (
            queries @ self.W_in + self.b_in + table[0],
            contexts @ self.W_in + self.b_in + table[1:],
        )

    def forward(self, queries: Tensor, contexts: Tensor) -> Tensor:
        """Outputs (B, classes) for queries (B, d) and contexts (B or 1, n, d)."""
        x, context = self.embedded(queries, contexts)
        context = context.expand(len(x), -1, -1)
        query = torch.einsum("bd,hda->bha", x, self.W_Q)
        keys = torch.einsum("bnd,hda->bhna", context, self.W_K)
        values = torch.einsum("bnd,hdv->bhnv", context, self.W_V)
        scores = torch.einsum("bha,bhna->bhn", query, keys) / self.config.d**0.5
        mixed = torch.einsum("bhn,bhnv->bhv", scores.softmax(-1), values)
        output = torch.einsum("bhv,hvd->bd", mixed, self.W_O) @ self.W_D
        return output + self.b_D if self.config.embedding else output

    def to_exact(
        self,
        queries: NDArray[Any],
        contexts: NDArray[Any],
        denominator: int | None = None,
    ) -> MultiHead:
        """The exact twin on given data, as the heads see them; its outputs are the layer's.

        Tokens gain a constant coordinate, through which the first head, whose attention weights
        add up to one, carries the bias. Contexts (n × d, or one for each query) and queries pass
        the embedding in float64 and are then read as rationals.
        """
        from lemmax.theory.mahdavi.layer import ContextHead, multi_head

        w = {name: array.astype(np.float64) for name, array in self.arrays().items()}
        exact = _matrices(w, denominator)
        with torch.no_grad():
            double = MultiHeadModel(self.config, {n: torch.from_numpy(a) for n, a in w.items()})
            x, keys = double.embedded(
                torch.as_tensor(queries, dtype=torch.float64),
                torch.as_tensor(contexts, dtype=torch.float64),
            )
        tokens = torch.nn.functional.pad(keys, (0, 1), value=1.0).numpy()
        heads = []
        for h in range(self.config.H):
            first = int(h == 0 and self.config.embedding)
            values = np.pad(w["W_V"][h], ((0, 1), (0, first)))
            outputs = w["W_O"][h] @ w["W_D"]
            if first:
                values[-1, -1] = 1.0
                outputs = np.concatenate([outputs, w["b_D"][None]])
            heads.append(
                ContextHead(
                    exact(np.pad(w["W_K"][h], ((0, 1), (0, 0)))),
                    exact(w["W_Q"][h]),
                    exact(values),
                    exact(outputs),
                )
            )
        each = [exact(E) for E in tokens] if tokens.ndim == 3 else exact(tokens)
        if tokens.ndim == 3 and len(tokens) == 1:
            each = each[0]
        return multi_head(each, exact(x.numpy()), heads, f"1/sqrt({self.config.d})")

    @classmethod
    def from_exact(cls, layer: MultiHead, dtype: torch.dtype = torch.float64) -> MultiHeadModel:
        """The nearest module to an exact layer; its data are ``layer.to_numpy()``'s."""
        arrays, d, h = layer.to_numpy(), layer.d, layer.H
        if "heads.0.W_V" not in arrays:
            raise LemmaxError("A layer without W_V and W_O has no outputs to train.")
        if arrays["queries"].shape[1] != d:
            raise ShapeError("Queries and tokens of a module have one dimension.")
        outputs = [arrays[f"heads.{n}.W_O"] for n in range(h)]
        d_out = outputs[0].shape[1]
        if d_out > d:
            raise ShapeError(f"{d_out} outputs do not pass through dimension {d}.")
        d_v = max(len(output) for output in outputs)
        shared = bool(layer.shared)
        config = Mahdavi(
            d, layer.n, h, layer.T, 0 if d_out == 1 else d_out, layer.d_h, d_v, shared, False
        )
        weights: Arrays = {name: np.zeros(shape) for name, shape in config.shapes().items()}
        weights["W_D"][:d_out, :d_out] = np.eye(d_out)
        for n in range(h):
            for name, factor in (("W_Q", d**0.5), ("W_K", 1.0), ("W_V", 1.0), ("W_O", 1.0)):
                block = factor * arrays[f"heads.{n}.{name}"]
                weights[name][n, : block.shape[0], : block.shape[1]] = block
        return cls(config, {n: torch.from_numpy(w).to(dtype) for n, w in weights.items()})


MODELS: Mapping[str, type[Model]] = {"wong": WongLayer, "dana": AoTModel, "mahdavi": MultiHeadModel}


def model_of(config: Config, weights: Mapping[str, Any]) -> Model:
    """The module of a configuration with given weights."""
    return MODELS[config.family](config, weights)
