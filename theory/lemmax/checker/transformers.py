"""Attention-only transformers on sequences (Dana, Pydi and Chevaleyre 2024)."""

import functools
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from .arithmetic import Table, cleared_all, dot, multiplied, ratio
from .attention import layer
from .limits import keep, refuse, spend
from .reading import integer, items, matrix


class Transformer:
    """A layer with positions added to its embeddings: row i of E plus row s of P, over ``scale``.

    For each head, ``queries[h]`` holds x W_Q W_K, for the tokens and for the last position apart:
    it is linear in x.
    """

    def __init__(self, data: Mapping[str, Any], inputs: Iterable[Any]) -> None:
        self.layer = layer(data["layer"], "layer")
        pos = matrix(data["pos"], "pos", columns=len(self.layer.W_E[0]))
        tokens = len(self.layer.tokens)
        self.inputs = [[integer(i, "A token", tokens) for i in items(t, "A row")] for t in inputs]
        if any(len(t) != len(pos) for t in self.inputs) or len(set(map(str, self.inputs))) < len(
            self.inputs
        ):
            refuse("The sequences", f"must be distinct and of length {len(pos)}")
        heads = self.layer.heads
        (self.E, self.P), self.scale = cleared_all([self.layer.W_E, pos])
        W_Q, d_q = cleared_all([head.W_Q for head in heads])
        W_K, d_k = cleared_all([head.W_K for head in heads])
        W_V, d_v = cleared_all([head.W_V for head in heads])
        W_O, d_o = cleared_all([head.W_O for head in heads])
        self.score_scale, self.value_scale = self.scale * self.scale * d_q * d_k, d_v * d_o
        self.moves = list(zip(W_V, W_O, strict=True))
        last = Table([self.P[-1]])
        self.queries = [
            [multiplied(multiplied(x, A), B) for x in (self.E, last)]
            for A, B in zip(W_Q, W_K, strict=True)
        ]

    @functools.cached_property
    def values(self) -> list[list[Table]]:
        """For each head x W_V W_O of the tokens and of the positions, times ``value_scale``."""
        return [[multiplied(multiplied(x, A), B) for x in (self.E, self.P)] for A, B in self.moves]

    @functools.cached_property
    def W_U(self) -> Table:
        """The unembedding, times a number that is left out."""
        return cleared_all([self.layer.W_U])[0][0]

    def keys(self, t: Sequence[int]) -> Table:
        """The embedded sequence, times scale."""
        bits = max(self.E.bits, self.P.bits) + 1
        spend("The sequence", 2 * len(t) * len(self.P[0]), bits)
        keep("The sequence", len(t) * len(self.P[0]), bits)
        return Table(
            [a + b for a, b in zip(self.E[i], p, strict=True)]
            for i, p in zip(t, self.P, strict=True)
        )

    def scores(self, t: Sequence[int], keys: Table) -> list[list[int]]:
        """For each head the scores x_S W_Q W_K x_sᵀ of the positions, times ``score_scale``."""
        found = []
        for tokens, (position,) in self.queries:
            query = [a + b for a, b in zip(tokens[t[-1]], position, strict=True)]
            bits = max(tokens.bits, max(map(int.bit_length, position))) + 1
            spend("The attention scores", len(keys) * len(query), bits, keys.bits)
            found.append([dot(query, key) for key in keys])
        return found

    def fractions(self, scores: Sequence[int]) -> list[Fraction]:
        return [ratio(x, self.score_scale) for x in scores]
