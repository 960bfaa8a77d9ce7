"""Dana's attention-only transformer as a torch module, the floating-point twin of ``AoT``."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from lemmax.theory.aot import AoT

_HEAD = ("W_Q", "W_K", "W_V", "W_O")


class TorchAoT(nn.Module):
    """Equations (1) and (2) of Dana et al. (2024): only the last position is read."""

    def __init__(self, arrays: dict[str, Tensor], heads: int) -> None:
        super().__init__()
        self.e = nn.Parameter(arrays["e"])
        self.pos = nn.Parameter(arrays["pos"])
        self.W_U = nn.Parameter(arrays["W_U"])
        self.heads = nn.ModuleList(
            nn.ParameterDict({n: nn.Parameter(arrays[f"heads.{h}.{n}"]) for n in _HEAD})
            for h in range(heads)
        )

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
        last = x[..., -1, :]
        output = last
        for head in self.heads:
            query = last @ head["W_Q"].T
            scores = ((x @ head["W_K"].T) * query.unsqueeze(-2)).sum(-1)
            mean = (scores.softmax(-1).unsqueeze(-1) * x).sum(-2)
            output = output + (mean @ head["W_V"].T) @ head["W_O"].T
        return output @ self.W_U.T
