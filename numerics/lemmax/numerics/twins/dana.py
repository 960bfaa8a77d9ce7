"""Dana's attention-only transformer as a torch module, the floating-point twin of ``AoT``."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from lemmax.numerics.twins.heads import HeadWeights
from lemmax.theory.dana.transformer import AoT


class TorchAoTHead(HeadWeights):
    """One head: W_Q, W_K, W_V are d_h × d and W_O is d × d_h."""

    def forward(self, x: Tensor) -> Tensor:
        """W_O W_V A(t) for vectors x of shape (…, S, d)."""
        query = x[..., -1:, :] @ self.W_Q.T
        scores = ((x @ self.W_K.T) * query).sum(-1)
        mean = (scores.softmax(-1).unsqueeze(-1) * x).sum(-2)
        return (mean @ self.W_V.T) @ self.W_O.T


class TorchAoT(nn.Module):
    """Equations (1) and (2) of Dana et al. (2024): only the last position is read."""

    def __init__(self, arrays: dict[str, Tensor], heads: int) -> None:
        super().__init__()
        self.e = nn.Parameter(arrays["e"])
        self.pos = nn.Parameter(arrays["pos"])
        self.W_U = nn.Parameter(arrays["W_U"])
        self.heads = nn.ModuleList(TorchAoTHead(arrays, f"heads.{h}.") for h in range(heads))

    @classmethod
    def from_exact(cls, model: AoT, dtype: torch.dtype | None = None) -> TorchAoT:
        """The nearest floating-point transformer (float64 unless told otherwise)."""
        arrays = {
            name: torch.from_numpy(array).to(dtype or torch.float64)
            for name, array in model.to_numpy().items()
        }
        return cls(arrays, model.H)

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits of shape (…, N) for token numbers of shape (…, S)."""
        x = self.e[tokens] + self.pos
        output = x[..., -1, :]
        for head in self.heads:
            output = output + head(x)
        return output @ self.W_U.T
