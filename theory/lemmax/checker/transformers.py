"""Attention-only transformers on sequences (Dana, Pydi and Chevaleyre 2024)."""

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .arithmetic import Table, cleared_all, dot, multiplied
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
        distinct = len(set(map(str, self.inputs))) == len(self.inputs)
        if not distinct or any(len(t) != len(pos) for t in self.inputs):
            refuse("The sequences", f"must be distinct and of length {len(pos)}")
        (self.E, self.P), self.scale = cleared_all([self.layer.W_E, pos])
        self.heads, scale, self.value_scale = self.layer.integers()
        self.score_scale, last = self.scale * self.scale * scale, Table([self.P[-1]])
        self.queries = [
            [multiplied(multiplied(x, W_Q), W_K) for x in (self.E, last)]
            for W_Q, W_K, _, _ in self.heads
        ]

    @functools.cached_property
    def values(self) -> list[list[Table]]:
        """For each head x W_V W_O of the tokens and of the positions, times ``value_scale``."""
        both = self.E, self.P
        return [[multiplied(multiplied(x, A), B) for x in both] for _, _, A, B in self.heads]

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
