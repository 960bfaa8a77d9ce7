"""Modules of one's own, as a user would write them; found by name."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


def additions(p: int = 5, share: float = 1.0) -> tuple[Tensor, Tensor]:
    """Pairs of numbers and their sum modulo p; the first of them."""
    pairs = torch.cartesian_prod(torch.arange(p), torch.arange(p))
    count = int(share * len(pairs))
    return pairs[:count], (pairs.sum(1) % p)[:count]


class Net(nn.Module):
    """An embedding, a hidden layer and what must not be trained."""

    def __init__(self, p: int, d: int, extra: str = "") -> None:
        super().__init__()
        self.embedding = nn.Embedding(p, d)
        self.hidden = nn.Linear(2 * d, d)
        self.out = nn.Linear(d, p, bias=False)
        self.frozen = nn.Parameter(torch.ones(d), requires_grad=False)
        self.register_buffer("scale", torch.tensor(1.5))
        self.between: nn.Module = nn.Identity()
        if extra == "batchnorm":
            self.between = nn.BatchNorm1d(d)
        if extra == "dropout":
            self.between = nn.Dropout(0.2)
        if extra == "tied":
            self.out.weight = self.embedding.weight

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.hidden(self.embedding(x).flatten(1)).relu()
        out: Tensor = self.out(self.between(hidden) * self.frozen) * self.scale
        return out


def net(**options: Any) -> Net:
    """A net."""
    return Net(**options)


def regression() -> tuple[Tensor, Tensor]:
    """A sine."""
    x = torch.linspace(-1, 1, 16)[:, None]
    return x, x.sin()


def line(width: int) -> nn.Module:
    """Two layers."""
    return nn.Sequential(nn.Linear(1, width), nn.Tanh(), nn.Linear(width, 1))


def largest_error(outputs: Tensor, targets: Tensor) -> Tensor:
    """A loss of one's own."""
    return (outputs - targets).abs().max()
