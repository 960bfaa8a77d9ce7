r"""Two-token attention for stacked models, forward and backward by hand.

Keys are G × K × p, queries G × Q × p. A softmax over two tokens is a sigmoid, so with
\(Y_h = X W_V^h W_O^h\) on both sides, all pairs at once have the output

.. math:: O_{kq} = \sum_h \sigma\big(s^h_{qk} - s^h_{qq}\big)\,\big(Y^h_k - Y^h_q\big)

on top of \(\sum_h Y^h_q\), the output of a query that attends to itself alone.
"""

from __future__ import annotations

import torch
from torch import Tensor


class PairAttention:
    """The tables of one forward pass; ``backward`` writes the gradients of the weights.

    ``W_QKV`` is G × H × p × (2 d_qk + d_vo) and ``W_O`` is G × H × d_vo × p; ``scale`` multiplies
    the scores (a number, or one for each model).
    """

    def __init__(self, d_qk: int, keys: int, scale: float | Tensor = 1.0) -> None:
        self.d_qk, self.keys, self.scale = d_qk, keys, scale

    def forward(self, X: Tensor, W_QKV: Tensor, W_O: Tensor) -> tuple[Tensor, Tensor]:
        """Σ_h Y (G × (K+Q) × p) and O (G × K × Q × p) for keys and queries one after another."""
        a, K = self.d_qk, self.keys
        self.X, self.W_QKV, self.W_O = X, W_QKV, W_O
        self.T = torch.matmul(X.unsqueeze(1), W_QKV)  # G × H × (K+Q) × c
        self.Q, self.Kk = self.T[:, :, K:, :a], self.T[:, :, :K, a : 2 * a]
        self.Kq, self.V = self.T[:, :, K:, a : 2 * a], self.T[:, :, :, 2 * a :]
        self.Y = torch.matmul(self.V, W_O)  # G × H × (K+Q) × p
        scores = torch.matmul(self.Q, self.Kk.transpose(2, 3))
        scores.sub_((self.Q * self.Kq).sum(-1, keepdim=True)).mul_(self.scale)
        self.alpha = scores.sigmoid_()  # G × H × Q × K
        self.by_key = self.alpha.permute(0, 3, 2, 1).contiguous()  # G × K × Q × H
        self.by_query = self.alpha.permute(0, 2, 3, 1).contiguous()  # G × Q × K × H
        self.Yk = self.Y[:, :, :K].transpose(1, 2).contiguous()  # G × K × H × p
        self.Yq = self.Y[:, :, K:].transpose(1, 2).contiguous()
        output = torch.matmul(self.by_key, self.Yk)
        output.sub_(torch.matmul(self.by_query, self.Yq).transpose(1, 2))
        return self.Y.sum(1), output

    def backward(self, dsum: Tensor, doutput: Tensor, dW_QKV: Tensor, dW_O: Tensor) -> Tensor:
        """The gradient of X; those of the weights are written in place."""
        a, K = self.d_qk, self.keys
        turned = doutput.transpose(1, 2).contiguous()  # G × Q × K × p
        dalpha = torch.matmul(doutput, self.Yk.transpose(2, 3)).permute(0, 3, 2, 1)
        dalpha = dalpha - torch.matmul(turned, self.Yq.transpose(2, 3)).permute(0, 3, 1, 2)
        dY = dsum.unsqueeze(1).repeat(1, self.Y.shape[1], 1, 1)
        dY[:, :, :K] += torch.matmul(self.by_key.transpose(2, 3), doutput).transpose(1, 2)
        dY[:, :, K:] -= torch.matmul(self.by_query.transpose(2, 3), turned).transpose(1, 2)
        ds = dalpha.mul_(self.alpha).mul_(1 - self.alpha).mul_(self.scale)
        total = ds.sum(-1, keepdim=True)
        dT = torch.zeros_like(self.T)
        dT[:, :, K:, :a] = torch.matmul(ds, self.Kk) - total * self.Kq
        dT[:, :, :K, a : 2 * a] = torch.matmul(ds.transpose(2, 3), self.Q)
        dT[:, :, K:, a : 2 * a] = -total * self.Q
        dT[:, :, :, 2 * a :] = torch.matmul(dY, self.W_O.transpose(2, 3))
        dW_O.copy_(torch.matmul(self.V.transpose(2, 3), dY))
        dW_QKV.copy_(torch.matmul(self.X.unsqueeze(1).transpose(2, 3), dT))
        return torch.matmul(dT, self.W_QKV.transpose(2, 3)).sum(1)
