r"""Mahdavi's layers of one shape, stacked, with the gradient written by hand.

Only the query's row of the attention is needed, and W_Q, W_K enter through
\(M_h = W_Q^h W_K^{h\top} / \sqrt d\). The embedding of the context is never formed either: with
k = E W_in + b + pos, scores are \(E\,(W_{in} M_h^\top q) + (b + pos)\,M_h^\top q\) and values
\(E\,(W_{in} w) + (b + pos)\,w\). A context that all examples share becomes one n × d matrix.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from lemmax.numerics.engines.run import epoch_of
from lemmax.numerics.engines.stacked.stacks import StackedRun
from lemmax.numerics.training.configurations import Arrays, Mahdavi, sinusoids
from lemmax.numerics.training.jobs import batches


class StackedMahdavi(StackedRun):
    """A group of layers of exactly the same shape."""

    def prepare(self) -> None:
        self.configs = [job.config for job in self.jobs if isinstance(job.config, Mahdavi)]
        self.config = self.configs[0]
        self.data = [config.data() for config in self.configs]
        self.epoch = -1

    def shapes(self) -> dict[str, tuple[int, ...]]:
        shapes = self.config.shapes()
        return {name: shape if len(shape) > 1 else (1, *shape) for name, shape in shapes.items()}

    def inward(self, number: int, weights: Arrays) -> Arrays:
        return {name: a if a.ndim > 1 else a[None] for name, a in weights.items()}

    def outward(self, number: int, weights: dict[str, Tensor]) -> Arrays:
        shapes = self.config.shapes()
        return {n: weights[n].reshape(shape).cpu().numpy().copy() for n, shape in shapes.items()}

    def load(self) -> None:
        chosen = self.data
        self.queries = torch.stack([self.tensor(queries) for queries, _, _ in chosen])
        self.contexts = torch.stack([self.tensor(contexts) for _, contexts, _ in chosen])
        kind = torch.int64 if self.config.classes else self.dtype
        self.labels = torch.stack([self.tensor(labels, kind) for _, _, labels in chosen])
        table = np.zeros((self.config.n + 1, self.config.d))
        if self.config.embedding:
            table = sinusoids(self.config.n + 1, self.config.d)
        self.position = self.tensor(table)
        self.epoch = -1

    def _batch(self, step: int) -> tuple[Tensor, Tensor, Tensor]:
        if self.recipe.batch is None:
            return self.queries, self.contexts, self.labels
        epoch, number = epoch_of(self.jobs[0], self.recipe, step)
        if epoch != self.epoch:
            self.epoch = epoch
            orders = [batches(job, self.recipe, epoch) for job in self.jobs]
            self.order = self.tensor(np.stack([o for o in orders if o is not None]), torch.int64)
        chosen = self.order[:, number]

        def pick(data: Tensor) -> Tensor:
            flat = chosen + data.shape[1] * torch.arange(len(data), device=data.device)[:, None]
            return (
                data.flatten(0, 1)
                .index_select(0, flat.flatten())
                .view(*chosen.shape, *data.shape[2:])
            )

        contexts = self.contexts if self.config.shared_context else pick(self.contexts)
        return pick(self.queries), contexts, pick(self.labels)

    def gradient(self, step: int) -> None:
        queries, contexts, labels = self._batch(step)
        p, g, c = self.stack.parameters, self.stack.gradients, self.config
        G, B, d, H, v = len(queries), queries.shape[1], c.d, c.H, c.d_v
        root = c.d**-0.5
        M = torch.matmul(p["W_Q"], p["W_K"].transpose(2, 3)).mul_(root)  # G × H × d × d
        x = queries
        fixed = self.position[1:].expand(G, -1, -1)
        if c.embedding:
            x = torch.baddbmm(p["b_in"] + self.position[0], queries, p["W_in"])
            fixed = p["b_in"] + fixed
        values = p["W_V"].transpose(1, 2).reshape(G, d, H * v)
        kind = _Shared if c.shared_context else _Own
        scores = kind(x, contexts, fixed, M, values, p["W_in"] if c.embedding else None)
        A = torch.softmax(scores.scores, -1)  # G × B × H × n
        n = A.shape[3]
        V = scores.values.view(G, -1, n, H, v).permute(0, 1, 3, 4, 2)  # G × B or 1 × H × v × n
        mixed = (A[:, :, :, None] * V).sum(-1)  # G × B × H × v
        flat = mixed.view(G, B, H * v)
        W_O = p["W_O"].view(G, H * v, d)
        output = torch.bmm(flat, W_O)
        logits = torch.bmm(output, p["W_D"])
        if c.embedding:
            logits += p["b_D"]
        if c.classes:
            dlogits = torch.softmax(logits, -1)
            dlogits.scatter_add_(2, labels[..., None], torch.full_like(logits[:, :, :1], -1.0))
            dlogits /= B
        else:
            dlogits = (logits - labels[..., None]).mul_(2 / B)
        torch.bmm(output.transpose(1, 2), dlogits, out=g["W_D"])
        doutput = torch.bmm(dlogits, p["W_D"].transpose(1, 2))
        torch.bmm(flat.transpose(1, 2), doutput, out=g["W_O"].view(G, H * v, d))
        dmixed = torch.bmm(doutput, W_O.transpose(1, 2)).view(G, B, H, v, 1)
        dA = (dmixed * V).sum(3)
        dscores = (dA - (dA * A).sum(-1, keepdim=True)).mul_(A)
        back = scores.backward(dscores, A, dmixed)
        if c.embedding:
            g["b_D"].copy_(dlogits.sum(1, keepdim=True))
            torch.baddbmm(back.W_in, queries.transpose(1, 2), back.x, out=g["W_in"])
            g["b_in"].copy_(back.fixed.sum(1, keepdim=True) + back.x.sum(1, keepdim=True))
        g["W_V"].copy_(back.values.view(G, d, H, v).transpose(1, 2))
        dM = back.M.mul(root)
        g["W_Q"].copy_(torch.matmul(dM, p["W_K"]))
        g["W_K"].copy_(torch.matmul(dM.transpose(2, 3), p["W_Q"]))


class _Gradients(NamedTuple):
    """Gradients of the embedded queries, the circuits, the value maps, W_in and the fixed part."""

    x: Tensor
    M: Tensor
    values: Tensor
    W_in: Tensor
    fixed: Tensor


class _Shared:
    """One context for all examples of a model: its keys are one n × d matrix."""

    def __init__(
        self,
        x: Tensor,
        contexts: Tensor,
        fixed: Tensor,
        M: Tensor,
        values: Tensor,
        W_in: Tensor | None,
    ) -> None:
        (G, B, d), (H, n) = x.shape, (M.shape[1], fixed.shape[1])
        self.x, self.M, self.value_maps, self.context = x, M, values, contexts[:, 0]
        self.embedded = W_in is not None
        self.keys = self.context if W_in is None else torch.baddbmm(fixed, self.context, W_in)
        S = torch.matmul(M, self.keys[:, None].transpose(2, 3))  # G × H × d × n
        self.maps = S.transpose(1, 2).reshape(G, d, H * n)
        self.scores = torch.bmm(x, self.maps).view(G, B, H, n)
        self.values = torch.bmm(self.keys, values)[:, None]  # G × 1 × n × Hv

    def backward(self, dscores: Tensor, A: Tensor, dmixed: Tensor) -> _Gradients:
        G, B, H, n = dscores.shape
        d = self.x.shape[2]
        dV = torch.matmul(A.permute(0, 2, 3, 1), dmixed[..., 0].transpose(1, 2))  # G × H × n × v
        dV = dV.transpose(1, 2).reshape(G, n, -1)
        ds = dscores.view(G, B, H * n)
        dS = torch.bmm(self.x.transpose(1, 2), ds).view(G, d, H, n).transpose(1, 2)
        dx, dkeys = self.x, self.keys
        if self.embedded:
            dx = torch.bmm(ds, self.maps.transpose(1, 2))
            dkeys = torch.matmul(dS.transpose(2, 3), self.M).sum(1)
            dkeys += torch.bmm(dV, self.value_maps.transpose(1, 2))
        dM = torch.matmul(dS, self.keys[:, None])
        dvalues = torch.bmm(self.keys.transpose(1, 2), dV)
        return _Gradients(dx, dM, dvalues, torch.bmm(self.context.transpose(1, 2), dkeys), dkeys)


class _Own:
    """A context for every example, never embedded itself."""

    def __init__(
        self,
        x: Tensor,
        contexts: Tensor,
        fixed: Tensor,
        M: Tensor,
        values: Tensor,
        W_in: Tensor | None,
    ) -> None:
        (G, B, d), (H, n) = x.shape, (M.shape[1], fixed.shape[1])
        self.x, self.M, self.value_maps, self.fixed, self.W_in = x, M, values, fixed, W_in
        self.contexts = contexts.reshape(G * B, n, d)
        self.rows = contexts.reshape(G, B * n, d)
        maps, inner = M, values
        if W_in is not None:
            folded = torch.matmul(M, W_in[:, None].transpose(2, 3))  # G × H × d × d
            P = torch.matmul(M, fixed[:, None].transpose(2, 3))  # G × H × d × n
            maps, inner = torch.cat([folded, P], 3), torch.bmm(W_in, values)
        self.maps = maps.transpose(1, 2).reshape(G, d, H * maps.shape[3])
        U = torch.bmm(x, self.maps).view(G * B, H, maps.shape[3])
        scores = torch.bmm(U[:, :, :d], self.contexts.transpose(1, 2))
        self.values = torch.bmm(self.rows, inner).view(G, B, n, -1)
        if W_in is not None:
            scores += U[:, :, d:]
            self.values += torch.bmm(fixed, values)[:, None]
        self.scores = scores.view(G, B, H, n)

    def backward(self, dscores: Tensor, A: Tensor, dmixed: Tensor) -> _Gradients:
        G, B, H, n = dscores.shape
        d = self.x.shape[2]
        dV = (A[:, :, :, None] * dmixed).permute(0, 1, 4, 2, 3).reshape(G, B * n, -1)
        dinner = torch.bmm(self.rows.transpose(1, 2), dV)
        ds = dscores.view(G * B, H, n)
        dU = torch.bmm(ds, self.contexts)
        if self.W_in is None:
            dM = torch.bmm(self.x.transpose(1, 2), dU.view(G, B, H * d))
            dM = dM.view(G, d, H, d).transpose(1, 2)
            return _Gradients(self.x, dM, dinner, dinner, dinner)
        dU = torch.cat([dU, ds], 2).view(G, B, H * (d + n))
        dmaps = torch.bmm(self.x.transpose(1, 2), dU).view(G, d, H, d + n).transpose(1, 2)
        dfolded, dP = dmaps[..., :d], dmaps[..., d:]
        dM = torch.matmul(dfolded, self.W_in[:, None]) + torch.matmul(dP, self.fixed[:, None])
        dfixed_values = dV.view(G, B, n, -1).sum(1)
        dvalues = torch.bmm(self.W_in.transpose(1, 2), dinner)
        dvalues += torch.bmm(self.fixed.transpose(1, 2), dfixed_values)
        dfixed = torch.matmul(dP.transpose(2, 3), self.M).sum(1)
        dfixed += torch.bmm(dfixed_values, self.value_maps.transpose(1, 2))
        dW_in = torch.matmul(dfolded.transpose(2, 3), self.M).sum(1)
        dW_in += torch.bmm(dinner, self.value_maps.transpose(1, 2))
        dx = torch.bmm(dU, self.maps.transpose(1, 2))
        return _Gradients(dx, dM, dvalues, dW_in, dfixed)
