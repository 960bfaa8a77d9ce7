r"""Mahdavi's layers of one shape, stacked, with the gradient written by hand.

Only the query's row of the attention is needed, and W_Q, W_K enter through
\(M_h = W_Q^h W_K^{h\top} / \sqrt d\). The embedding of the context is never formed either: with
k = E W_in + b + pos, scores are \(E\,(W_{in} M_h^\top q) + (b + pos)\,M_h^\top q\) and values
\(E\,(W_{in} w) + (b + pos)\,w\). A context that all examples share becomes one n × d matrix.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from lemmax.numerics.engines.run import epoch_of
from lemmax.numerics.engines.stacks import StackedRun
from lemmax.numerics.jobs import Arrays, Mahdavi, batches, sinusoids


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

    def select(self) -> None:
        chosen = [self.data[number] for number in self.active]
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
            orders = [batches(self.jobs[n], self.recipe, epoch) for n in self.active]
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
        G, B, d, n, H, v = len(queries), queries.shape[1], c.d, c.n, c.H, c.d_v
        root = c.d**-0.5
        M = torch.matmul(p["W_Q"], p["W_K"].transpose(2, 3)).mul_(root)  # G × H × d × d
        if c.embedding:
            x = torch.baddbmm(p["b_in"] + self.position[0], queries, p["W_in"])
            fixed = p["b_in"] + self.position[1:]  # G × n × d
        else:
            x = queries
            fixed = torch.zeros(G, n, d, dtype=self.dtype, device=self.device)
        # the key of position j is E_j W_in + fixed_j: columns that act on E, and on the position
        values = p["W_V"].permute(0, 2, 1, 3).reshape(G, d, H * v)
        if c.shared_context:
            keys = fixed + torch.bmm(contexts[:, 0], p["W_in"]) if c.embedding else contexts[:, 0]
            S = torch.matmul(M, keys[:, None].transpose(2, 3))  # G × H × d × n
            maps = S.permute(0, 2, 1, 3).reshape(G, d, H * n)
            scores = torch.bmm(x, maps).view(G, B, H, n)
            V = torch.bmm(keys, values).view(G, 1, n, H, v)
        else:
            heads = M.transpose(1, 2).reshape(G, d, H * d)  # x ↦ M_hᵀ x for all heads
            if c.embedding:
                folded = torch.matmul(M, p["W_in"][:, None].transpose(2, 3))  # G × H × d × d_in
                P = torch.matmul(M, fixed[:, None].transpose(2, 3))  # G × H × d × n
                maps = torch.cat([folded, P], 3).transpose(1, 2).reshape(G, d, H * (d + n))
                U = torch.bmm(x, maps).view(G * B, H, d + n)
                u = U[:, :, :d]
                scores = torch.baddbmm(
                    U[:, :, d:], u, contexts.view(G * B, n, d).transpose(1, 2)
                ).view(G, B, H, n)
                inner = torch.bmm(p["W_in"], values)
                V = torch.bmm(contexts.view(G, B * n, d), inner).view(G, B, n, H * v)
                V = (V + torch.bmm(fixed, values)[:, None]).view(G, B, n, H, v)
            else:
                u = torch.bmm(x, heads).view(G * B, H, d)
                keys = contexts.view(G * B, n, d)
                scores = torch.bmm(u, keys.transpose(1, 2)).view(G, B, H, n)
                V = torch.bmm(contexts.view(G, B * n, d), values).view(G, B, n, H, v)
        A = torch.softmax(scores, -1)
        Vt = V.permute(0, 1, 3, 4, 2)  # G × B or 1 × H × v × n
        mixed = (A[:, :, :, None] * Vt).sum(-1)  # G × B × H × v
        flat = mixed.view(G, B, H * v)
        W_O = p["W_O"].view(G, H * v, d)
        output = torch.bmm(flat, W_O)
        if c.embedding:
            logits = torch.baddbmm(p["b_D"], output, p["W_D"])
        else:
            logits = torch.bmm(output, p["W_D"])
        if c.classes:
            dlogits = torch.softmax(logits, -1)
            dlogits.scatter_add_(2, labels[..., None], torch.full_like(logits[:, :, :1], -1.0))
            dlogits /= B
        else:
            dlogits = (logits - labels[..., None]).mul_(2 / B)
        if c.embedding:
            g["b_D"].copy_(dlogits.sum(1, keepdim=True))
        torch.bmm(output.transpose(1, 2), dlogits, out=g["W_D"])
        doutput = torch.bmm(dlogits, p["W_D"].transpose(1, 2))
        torch.bmm(flat.transpose(1, 2), doutput, out=g["W_O"].view(G, H * v, d))
        dmixed = torch.bmm(doutput, W_O.transpose(1, 2)).view(G, B, H, v, 1)
        dA = (dmixed * Vt).sum(3)  # G × B × H × n
        dscores = (dA - (dA * A).sum(-1, keepdim=True)).mul_(A)
        if c.shared_context:
            dV = torch.matmul(
                A.permute(0, 2, 3, 1), dmixed[..., 0].transpose(1, 2)
            )  # G × H × n × v
            dV = dV.transpose(1, 2).reshape(G, n, H * v)
            dvalues = torch.bmm(keys.transpose(1, 2), dV)
            ds = dscores.view(G, B, H * n)
            dS = torch.bmm(x.transpose(1, 2), ds).view(G, d, H, n).transpose(1, 2)
            dx = torch.bmm(ds, maps.transpose(1, 2))
            dM = torch.matmul(dS, keys[:, None])
            if c.embedding:
                dkeys = torch.matmul(dS.transpose(2, 3), M).sum(1)
                dkeys += torch.bmm(dV, values.transpose(1, 2))
                dW_in = torch.bmm(contexts[:, 0].transpose(1, 2), dkeys)
                db_in = dkeys.sum(1, keepdim=True)
        else:
            dV = (A[:, :, :, None] * dmixed).permute(0, 1, 4, 2, 3).reshape(G, B * n, H * v)
            dinner = torch.bmm(contexts.view(G, B * n, d).transpose(1, 2), dV)
            ds = dscores.view(G * B, H, n)
            du = torch.bmm(ds, contexts.view(G * B, n, d))
            if c.embedding:
                dU = torch.cat([du, ds], 2).view(G, B, H * (d + n))
                dx = torch.bmm(dU, maps.transpose(1, 2))
                dmaps = torch.bmm(x.transpose(1, 2), dU).view(G, d, H, d + n).transpose(1, 2)
                dfolded, dP = dmaps[..., :d], dmaps[..., d:]
                dM = torch.matmul(dfolded, p["W_in"][:, None]) + torch.matmul(dP, fixed[:, None])
                dfixed = torch.matmul(dP.transpose(2, 3), M).sum(1)
                dVfixed = dV.view(G, B, n, H * v).sum(1)
                dvalues = torch.bmm(p["W_in"].transpose(1, 2), dinner)
                dvalues += torch.bmm(fixed.transpose(1, 2), dVfixed)
                dfixed += torch.bmm(dVfixed, values.transpose(1, 2))
                dW_in = torch.matmul(dfolded.transpose(2, 3), M).sum(1)
                dW_in += torch.bmm(dinner, values.transpose(1, 2))
                db_in = dfixed.sum(1, keepdim=True)
            else:
                dvalues = dinner
                dx = None
                dM = torch.bmm(x.transpose(1, 2), du.view(G, B, H * d))
                dM = dM.view(G, d, H, d).transpose(1, 2)
        if c.embedding:
            assert dx is not None
            torch.baddbmm(dW_in, queries.transpose(1, 2), dx, out=g["W_in"])
            g["b_in"].copy_(db_in + dx.sum(1, keepdim=True))
        g["W_V"].copy_(dvalues.view(G, d, H, v).transpose(1, 2))
        dM = dM.mul(root)
        g["W_Q"].copy_(torch.matmul(dM, p["W_K"]))
        g["W_K"].copy_(torch.matmul(dM.transpose(2, 3), p["W_Q"]))
