"""Layers by codes as a torch module, in the formats that their certificate speaks of."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from lemmax.constructions.compiler.coded.by_codes import CodedLayer
from lemmax.theory.errors import LemmaxError
from lemmax.theory.formats import FORMATS, number_format


class TorchCodedLayer(nn.Module):
    """Attention of all heads at once, one residual stream, one unembedding.

    Everything is computed and stored in the format of the weights, but for the logits, which are
    computed in ``logits``, and the residual stream, which is added up in ``stream``. ``fused``
    takes torch's own attention instead of the written-out one.
    """

    W_E: Tensor
    W_U: Tensor
    W_Q: Tensor
    W_K: Tensor
    W_V: Tensor
    W_O: Tensor

    def __init__(
        self,
        weights: dict[str, Tensor],
        logits: torch.dtype,
        stream: torch.dtype,
        fused: bool = False,
    ) -> None:
        super().__init__()
        for name, tensor in weights.items():
            self.register_buffer(name, tensor)
        self.logits, self.stream, self.fused = logits, stream, fused

    @classmethod
    def from_coded(
        cls, coded: CodedLayer, dtype: torch.dtype | None = None, fused: bool = False
    ) -> TorchCodedLayer:
        """The layer in its own formats, bit by bit, or with weights in a wider format.

        Up to the logits every number is held exactly, so a format that contains that of the weights
        holds the same ones; attention stays one-hot up to float32. Logits keep their format, for
        which they are proved, and so does the residual stream, unless the weights are wider. A
        narrower format, or float64, is refused.
        """
        own = coded.arithmetic
        wanted = own.weights if dtype is None else number_format(str(dtype))
        if not (wanted.contains(own.weights) and FORMATS["float32"].contains(wanted)):
            raise LemmaxError(
                f"This layer is proved with {own}, and not in {wanted.name}: compile_database(…, "
                "dtype=…) makes a layer for bfloat16, float16 or float32."
            )
        stream = max(own.residual, wanted, key=lambda form: form.significand)
        kind = getattr(torch, wanted.name)
        weights = {
            name: torch.from_numpy(array).to(kind) for name, array in coded.weights().items()
        }
        for name, array in coded.weights().items():
            if not bool((weights[name].double() == torch.from_numpy(array)).all()):
                raise LemmaxError(f"{kind} does not hold the weights {name} of this layer.")
        return cls(weights, getattr(torch, own.logits.name), getattr(torch, stream.name), fused)

    def residual(self, tokens: Tensor) -> Tensor:
        """The residual stream at every position, in its format."""
        x = self.W_E[tokens]
        stream = x.unsqueeze(-3)  # one more axis: heads
        query, key = stream @ self.W_Q, stream @ self.W_K.transpose(-1, -2)
        value = stream @ self.W_V
        if self.fused:
            mixed = nn.functional.scaled_dot_product_attention(
                query, key, value, is_causal=True, scale=1.0
            )
        else:
            n = tokens.shape[-1]
            future = torch.ones(n, n, dtype=torch.bool, device=x.device).triu(1)
            scores = (query @ key.transpose(-1, -2)).masked_fill(future, float("-inf"))
            mixed = scores.softmax(-1) @ value
        added: Tensor = x.to(self.stream) + (mixed.to(self.stream) @ self.W_O.to(self.stream)).sum(
            -3
        )
        return added

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits of the last position, (…, |T|), for token numbers of shape (…, n)."""
        last = self.residual(tokens)[..., -1, :]
        logits: Tensor = last.to(self.logits) @ self.W_U.to(self.logits)
        return logits

    def misses(self, facts: Tensor, batch: int = 256) -> int:
        """How many facts (rows of token numbers) do not get strictly the largest logit."""
        count = 0
        for start in range(0, len(facts), batch):
            part = facts[start : start + batch]
            top = self(part[:, :2]).topk(2, dim=-1)
            right = (top.indices[:, 0] == part[:, 2]) & (top.values[:, 0] > top.values[:, 1])
            count += int((~right).sum())
        return count
