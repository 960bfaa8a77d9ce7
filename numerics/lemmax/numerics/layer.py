"""Wong's attention layer as a torch module, the floating-point twin of ``AttentionLayer``."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from lemmax.theory.attention import AttentionLayer


class TorchAttentionLayer(nn.Module):
    """A single attention layer without normalisation, biases or positions.

    Heads are kept apart because their dimensions may differ. The order of operations is the one
    that ``AttentionLayer.float64_error`` analyses.
    """

    def __init__(self, arrays: dict[str, Tensor], heads: int) -> None:
        super().__init__()
        self.W_E = nn.Parameter(arrays["W_E"])
        self.W_U = nn.Parameter(arrays["W_U"])
        self.heads = nn.ModuleList(
            nn.ParameterDict({n: nn.Parameter(arrays[f"heads.{h}.{n}"]) for n in _HEAD})
            for h in range(heads)
        )

    @classmethod
    def from_exact(
        cls, layer: AttentionLayer, dtype: torch.dtype | None = None
    ) -> TorchAttentionLayer:
        """The nearest floating-point layer (float64 unless told otherwise)."""
        arrays = {
            name: torch.from_numpy(array).to(dtype or torch.float64)
            for name, array in layer.to_numpy().items()
        }
        return cls(arrays, len(layer.heads))

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits of shape (…, n, |T|) for token numbers of shape (…, n)."""
        x = self.W_E[tokens]
        n = tokens.shape[-1]
        masked = torch.ones(n, n, dtype=torch.bool, device=x.device).triu(1)
        logits = x @ self.W_U
        for head in self.heads:
            scores = (x @ head["W_Q"]) @ (head["W_K"] @ x.transpose(-1, -2))
            attention = scores.masked_fill(masked, float("-inf")).softmax(-1)
            logits = logits + ((attention @ (x @ head["W_V"])) @ head["W_O"]) @ self.W_U
        return logits


_HEAD = ("W_Q", "W_K", "W_V", "W_O")
