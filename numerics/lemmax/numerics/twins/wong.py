"""Wong's attention layer as a torch module, the floating-point twin of ``AttentionLayer``."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from lemmax.numerics.twins.heads import HeadWeights
from lemmax.theory.wong.layer import AttentionLayer


class TorchHead(HeadWeights):
    """The four weight matrices of one head."""

    def forward(self, x: Tensor, masked: Tensor) -> Tensor:
        """What the head adds to the residual stream."""
        scores = (x @ self.W_Q) @ (self.W_K @ x.transpose(-1, -2))
        attention = scores.masked_fill(masked, float("-inf")).softmax(-1)
        return (attention @ (x @ self.W_V)) @ self.W_O


class TorchAttentionLayer(nn.Module):
    """A single attention layer without normalisation, biases or positions.

    Heads are kept apart because their dimensions may differ. The order of operations is the one
    that ``AttentionLayer.float64_error`` analyses.
    """

    def __init__(self, arrays: dict[str, Tensor], heads: int) -> None:
        super().__init__()
        self.W_E = nn.Parameter(arrays["W_E"])
        self.W_U = nn.Parameter(arrays["W_U"])
        self.heads = nn.ModuleList(TorchHead(arrays, f"heads.{h}.") for h in range(heads))

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
            logits = logits + head(x, masked) @ self.W_U
        return logits
