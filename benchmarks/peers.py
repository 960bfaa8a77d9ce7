"""What the engines are measured against: the modules that one would write first.

They follow the papers' public code in structure: a list of ``MultiheadAttention``, attention rows
for every position, one model at a time, autograd, ``torch.optim.Adam``.
"""

from __future__ import annotations

import math
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from lemmax.numerics.training.configurations import Arrays, Dana, Mahdavi, Wong, sinusoids
from lemmax.numerics.twins.wong import TorchAttentionLayer


def wong_module(config: Wong, weights: Arrays) -> nn.Module:
    """Wong's layer with its heads in a list."""
    arrays = {name: torch.from_numpy(weights[name].copy()) for name in ("W_E", "W_U")}
    for h in range(config.heads):
        for name in ("W_Q", "W_K", "W_V", "W_O"):
            arrays[f"heads.{h}.{name}"] = torch.from_numpy(weights[name][h].copy())
    return TorchAttentionLayer(arrays, config.heads)


class ListOfHeads(nn.Module):
    """Dana's shared maps around a list of ``MultiheadAttention``, all positions."""

    def __init__(self, config: Dana, weights: Arrays) -> None:
        super().__init__()
        d, a = config.d, config.d_h
        self.e, self.pos = (nn.Parameter(torch.from_numpy(weights[n].copy())) for n in ("e", "pos"))
        self.inward, self.outward = nn.Linear(d, a, bias=False), nn.Linear(a, d, bias=False)
        self.unembedding = nn.Linear(d, config.N, bias=False)
        self.heads = nn.ModuleList(
            nn.MultiheadAttention(a, 1, bias=False, batch_first=True) for _ in range(config.H)
        )
        self.register_buffer("mask", torch.ones(2, 2, dtype=torch.bool).triu(1))
        with torch.no_grad():
            self.inward.weight.copy_(torch.from_numpy(weights["W_in"]))
            self.outward.weight.copy_(torch.from_numpy(weights["W_out"]))
            self.unembedding.weight.copy_(torch.from_numpy(weights["W_U"]))
            for h, module in enumerate(self.heads):
                head = cast(nn.MultiheadAttention, module)
                mixed = [torch.from_numpy(weights[n][h]) for n in ("W_Q", "W_K", "W_V")]
                cast(Tensor, head.in_proj_weight).copy_(torch.cat(mixed))
                head.out_proj.weight.copy_(torch.from_numpy(weights["W_O"][h]))

    def forward(self, sequences: Tensor) -> Tensor:
        residual = self.e[sequences]
        x = self.inward(residual) + self.pos
        mask = cast(Tensor, self.mask)
        total = torch.zeros_like(x)
        for head in self.heads:
            total = total + head(x, x, x, attn_mask=mask, need_weights=False)[0]
        logits: Tensor = self.unembedding(residual + self.outward(total))
        return logits[:, -1]


class AllPositions(nn.Module):
    """Mahdavi's layer as its public code computes it: queries, keys, values of every position."""

    def __init__(self, config: Mahdavi, weights: Arrays) -> None:
        super().__init__()
        self.config = config
        for name, array in weights.items():
            self.register_parameter(name, nn.Parameter(torch.from_numpy(array.copy())))
        self.register_buffer("table", torch.from_numpy(sinusoids(config.n + 1, config.d)).float())
        mask = torch.zeros(config.n + 1, config.n + 1)
        mask[:, 0] = float("-inf")  # nobody attends to the query
        self.register_buffer("mask", mask)

    def forward(self, queries: Tensor, contexts: Tensor) -> Tensor:
        p: Any = self
        tokens = torch.cat([queries[:, None], contexts.expand(len(queries), -1, -1)], 1)
        x = (tokens @ p.W_in + p.b_in + p.table)[:, None]
        scores = (x @ p.W_Q) @ (x @ p.W_K).transpose(2, 3) / math.sqrt(self.config.d)
        mixed = torch.softmax(scores + p.mask, -1) @ (x @ p.W_V)
        flat = mixed.transpose(1, 2).flatten(2)
        output = flat @ p.W_O.flatten(0, 1)
        logits: Tensor = output @ p.W_D + p.b_D
        return logits[:, 0]


class Loop:
    """The loop that one would write first."""

    def __init__(self, model: nn.Module, inputs: Any, targets: Tensor, rate: float) -> None:
        self.model, self.inputs, self.targets = model, inputs, targets
        self.optimiser = torch.optim.Adam(model.parameters(), lr=rate)

    def step(self, batch: Any = slice(None)) -> float:
        inputs = [x[batch] if len(x) > 1 else x for x in self.inputs]
        outputs = self.model(*inputs)
        wanted = self.targets[batch]
        if outputs.ndim == 3:
            outputs, wanted = outputs.flatten(0, 1), wanted.flatten()
        loss = functional.cross_entropy(outputs, wanted)
        self.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimiser.step()
        return float(loss.detach())
