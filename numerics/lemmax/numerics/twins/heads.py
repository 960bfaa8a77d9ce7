"""The four weight matrices of a head as parameters of a torch module."""

from __future__ import annotations

from torch import Tensor, nn


class HeadWeights(nn.Module):
    """W_Q, W_K, W_V and W_O, from arrays whose names begin with a prefix."""

    def __init__(self, arrays: dict[str, Tensor], prefix: str) -> None:
        super().__init__()
        self.W_Q = nn.Parameter(arrays[prefix + "W_Q"])
        self.W_K = nn.Parameter(arrays[prefix + "W_K"])
        self.W_V = nn.Parameter(arrays[prefix + "W_V"])
        self.W_O = nn.Parameter(arrays[prefix + "W_O"])
