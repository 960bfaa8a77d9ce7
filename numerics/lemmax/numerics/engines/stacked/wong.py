"""Wong's layers in stacked groups, with the gradient written by hand.

Rows of position 1 are grouped by their subject, and a two-token softmax is a sigmoid; what depends
on one token is computed once and gathered. The vocabulary is padded with columns whose logit is far
below all others: a constant coordinate of the hidden state meets a row of W_U that is -PADDING
there and zero elsewhere, and is never trained.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from lemmax.numerics.engines.stacked.stacks import StackedRun
from lemmax.numerics.engines.wong_rows import rows_of
from lemmax.numerics.training.configurations import Arrays, Wong

PADDING = 1e4


class StackedWong(StackedRun):
    """A group of layers with databases of similar size."""

    def prepare(self) -> None:
        self.configs = [job.config for job in self.jobs if isinstance(job.config, Wong)]
        self.V = max(c.tokens for c in self.configs)
        self.d = max(c.d_model for c in self.configs)
        self.a = max(c.d_qk for c in self.configs)
        self.b = max(c.d_vo for c in self.configs)
        self.H = max(c.heads for c in self.configs)
        self.data = [rows_of(config, self.recipe.both_positions) for config in self.configs]
        self.P = 1 + max(len(data.inputs) for data in self.data)  # one more for padded rows
        self.S = max(len(data.subject) for data in self.data)
        self.R = max(c.samples for c in self.configs)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {
            "W_E": (self.V + 1, self.d),  # the last row belongs to padding and stays zero
            "W_U": (self.d + 1, self.V),
            "W_QKV": (self.d, self.H * (2 * self.a + self.b)),
            "W_O": (self.H * self.b, self.d),
        }

    def inward(self, number: int, weights: Arrays) -> Arrays:
        config, H = self.configs[number], self.H
        h, d = config.heads, config.d_model
        parts = []
        for array, width in (
            (weights["W_Q"], self.a),
            (weights["W_K"].transpose(0, 2, 1), self.a),
            (weights["W_V"], self.b),
        ):
            block = np.zeros((d, H, width))
            block[:, :h, : array.shape[2]] = array.transpose(1, 0, 2)
            parts.append(block.reshape(d, H * width))
        unembedding = np.zeros((self.d + 1, self.V))
        unembedding[:d, : config.tokens] = weights["W_U"]
        unembedding[self.d, config.tokens :] = -PADDING
        output = np.zeros((H, self.b, d))
        output[:h, : config.d_vo] = weights["W_O"]
        return {
            "W_E": weights["W_E"],
            "W_U": unembedding,
            "W_QKV": np.concatenate(parts, axis=1),
            "W_O": output.reshape(H * self.b, d),
        }

    def outward(self, number: int, weights: dict[str, Tensor]) -> Arrays:
        config, H, a = self.configs[number], self.H, self.a
        w = {name: tensor.cpu().numpy() for name, tensor in weights.items()}
        h, d, d_qk, d_vo = config.heads, config.d_model, config.d_qk, config.d_vo

        def heads(
            start: int, width: int, wanted: int
        ) -> np.ndarray[tuple[int, ...], np.dtype[Any]]:
            block = w["W_QKV"][:d, start : start + H * width].reshape(d, H, width)
            return block[:, :h, :wanted].transpose(1, 0, 2)

        return {
            "W_E": w["W_E"][: config.tokens, :d].copy(),
            "W_U": w["W_U"][:d, : config.tokens].copy(),
            "W_Q": heads(0, a, d_qk).copy(),
            "W_K": heads(H * a, a, d_qk).transpose(0, 2, 1).copy(),
            "W_V": heads(2 * H * a, self.b, d_vo).copy(),
            "W_O": w["W_O"].reshape(H, self.b, -1)[:h, :d_vo, :d].copy(),
        }

    def constants(self) -> None:
        row = self.stack.parameters["W_U"][:, self.d]
        for number, config in enumerate(self.configs):
            row[number, config.tokens :] = -PADDING

    def load(self) -> None:
        G, P, S, R, V = len(self.jobs), self.P, self.S, self.R, self.V
        inputs = np.full((G, P), V)
        token, key = np.full((G, S + R), P - 1), np.full((G, R), P - 1)
        weight = np.zeros((G, S + R))
        places, shares = [], []
        for g, data in enumerate(self.data):
            facts, subjects = len(data.key), len(data.subject)
            inputs[g, : len(data.inputs)] = data.inputs
            token[g, :subjects], token[g, S : S + facts] = data.subject, data.query
            key[g, :facts] = data.key
            unit = 1 / facts / (2 if S else 1)
            totals = np.add.reduceat(data.counts, data.starts[:-1]) if S else data.counts
            weight[g, :subjects], weight[g, S : S + facts] = unit * totals, unit
            start = g * (S + R)
            places.append((start + S + np.arange(facts)) * V + data.value)
            shares.append(np.ones(facts))
            row = np.repeat(np.arange(subjects), np.diff(data.starts))
            places.append((start + row) * V + data.seconds)
            shares.append(data.counts / totals[row])
        tables = P * np.arange(G)[:, None]
        integer = torch.int64
        self.inputs = self.tensor((inputs + (V + 1) * np.arange(G)[:, None]).ravel(), integer)
        self.token = self.tensor((token + tables).ravel(), integer)
        self.key = self.tensor((key + tables).ravel(), integer)
        self.weight = self.tensor(weight)[..., None]
        self.place = self.tensor(np.concatenate(places), integer)
        self.share = self.tensor(-np.concatenate(shares))
        options = {"dtype": self.dtype, "device": self.device}
        self.hidden = torch.ones(G, S + R, self.d + 1, **options)
        self.logits = torch.empty(G, S + R, V, **options)
        C = self.H * (2 * self.a + self.b)
        self.table = torch.empty(G, P, C + self.d, **options)
        self.dtable = torch.empty(G * P, C + self.d, **options)
        self.drows = torch.zeros(G, S + R, C + self.d, **options)

    def gradient(self, step: int) -> None:
        p, g = self.stack.parameters, self.stack.gradients
        G, P, S, R, d, H = len(self.jobs), self.P, self.S, self.R, self.d, self.H
        A, C = self.H * self.a, self.H * (2 * self.a + self.b)
        # forward
        X = p["W_E"].view(-1, d).index_select(0, self.inputs).view(G, P, d)
        self.table[:, :, C:] = X
        self.table[:, :, :C] = torch.bmm(X, p["W_QKV"])
        flat = self.table.view(G * P, C + d)
        rows = flat.index_select(0, self.token).view(G, S + R, C + d)
        facts = rows[:, S:]
        gap = flat.index_select(0, self.key).view(G, R, C + d)[:, :, A:C] - facts[:, :, A:C]
        queries, keys = _heads(facts[:, :, :A], H), _heads(gap[:, :, :A], H)
        values = _heads(gap[:, :, A:], H)
        alpha = (queries * keys).sum(-1, keepdim=True).sigmoid_()  # G × R × H × 1
        mixed = rows[:, :, 2 * A : C].contiguous()
        mixed[:, S:] += (alpha * values).flatten(2)
        hidden = self.hidden
        hidden[:, :, :d] = torch.baddbmm(rows[:, :, C:], mixed, p["W_O"])
        torch.bmm(hidden, p["W_U"], out=self.logits)
        error = torch.softmax(self.logits, -1)
        error.view(-1).index_add_(0, self.place, self.share)
        # backward
        torch.bmm((hidden * self.weight).transpose(1, 2), error, out=g["W_U"])
        g["W_U"][:, d] = 0
        dhidden = torch.bmm(error, p["W_U"][:, :d].transpose(1, 2)).mul_(self.weight)
        torch.bmm(mixed.transpose(1, 2), dhidden, out=g["W_O"])
        dmixed = torch.bmm(dhidden, p["W_O"].transpose(1, 2))
        dfacts = _heads(dmixed[:, S:], H)
        ds = (dfacts * values).sum(-1, keepdim=True).mul_(alpha).mul_(1 - alpha)
        dgap = torch.cat([(ds * queries).flatten(2), (alpha * dfacts).flatten(2)], 2)
        drows = self.drows
        drows[:, :, C:], drows[:, :, 2 * A : C] = dhidden, dmixed
        drows[:, S:, :A] = (ds * keys).flatten(2)
        drows[:, S:, A : 2 * A] = -dgap[:, :, :A]
        drows[:, S:, 2 * A : C] -= dgap[:, :, A:]
        dtable = self.dtable.zero_()
        dtable.index_add_(0, self.token, drows.view(-1, C + d))
        dtable[:, A:C].index_add_(0, self.key, dgap.view(-1, C - A))
        dmaps = dtable.view(G, P, C + d)
        torch.bmm(X.transpose(1, 2), dmaps[:, :, :C], out=g["W_QKV"])
        dX = torch.baddbmm(dmaps[:, :, C:], dmaps[:, :, :C], p["W_QKV"].transpose(1, 2))
        g["W_E"].zero_()
        # distinct tokens, and padded ones whose gradient is zero
        g["W_E"].view(-1, d).index_copy_(0, self.inputs, dX.view(-1, d))


def _heads(rows: Tensor, heads: int) -> Tensor:
    """G × R × (H·a) as G × R × H × a."""
    return rows.reshape(*rows.shape[:2], heads, rows.shape[2] // max(1, heads))
